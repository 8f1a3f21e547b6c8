//! Statements that are neither queries nor changes of rows: transactions, the session, and the way to DDL and SHOW.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_engine::{AccessMode, IsolationLevel};
use palisade_expr::convert::text_of;
use palisade_expr::error::not_supported;
use palisade_expr::place::At;
use palisade_expr::services;
use palisade_parser::ast::{self, Assignment, PrepareSource, Statement, TransactionScope};

use crate::bind::Binder;
use crate::bind::scope::Scope;
use crate::command::Command;
use crate::exec::StatementContext;
use crate::run::{convert_beforehand, drive};
use crate::session::{CompletionType, NamedStatement};
use crate::sql::Sql;
use crate::work::Work;
use crate::{Completion, ResultSink, Session, SqlResult};

impl Sql {
    /// Statements other than queries and changes of rows.
    pub(crate) async fn other(
        &self,
        session: &mut Session,
        statement: &Statement,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        if session.state.restricted {
            let allowed = self.host().check_statement(&session.state, statement);
            if let (Err(denied), Statement::Xa(_)) = (&allowed, statement) {
                // The reason follows in SHOW WARNINGS.
                session.state.warnings.push(palisade_expr::warning::Level::Error, denied.clone());
                return Err(mysql_error!(ER_XAER_RMERR));
            }
            allowed?;
        }
        match statement {
            Statement::Comment => Ok(Completion::default()),
            Statement::StartTransaction(start) => self.start_transaction(session, start).await,
            Statement::Commit(completion) => {
                let characteristics = self.characteristics(session);
                self.commit(session).await?;
                self.chain(session, completion, characteristics)
            }
            Statement::Rollback(completion) => {
                session.refuse_in_branch()?;
                let characteristics = self.characteristics(session);
                self.rollback(session).await?;
                self.chain(session, completion, characteristics)
            }
            Statement::Xa(xa) => self.xa(session, xa, sink).await,
            Statement::Savepoint(name) => self.savepoint(session, name),
            Statement::RollbackToSavepoint(name) => self.rollback_to_savepoint(session, name).await,
            Statement::ReleaseSavepoint(name) => {
                let position = find_savepoint(session, name)?;
                session.check_branch_state()?;
                session.savepoints.truncate(position);
                Ok(Completion::default())
            }
            Statement::SetTransaction(set) => self.set_transaction(session, set),
            Statement::Set(assignments) => self.set(session, assignments, parameters).await,
            Statement::Use(name) => {
                self.use_database(session, name)?;
                Ok(Completion { database_changed: true, ..Completion::default() })
            }
            Statement::Do(exprs) => {
                self.values(session, exprs, parameters).await?;
                Ok(Completion::default())
            }
            Statement::Prepare(prepare) => self.prepare_named(session, prepare).await,
            Statement::Execute(execute) => self.execute_named(session, execute, sink).await,
            Statement::Deallocate(name) => match session.prepared.remove(&name.to_lowercase()) {
                Some(gone) => {
                    session.commands.add(Command::StmtClose);
                    session.state.memory.let_go(gone.kept);
                    Ok(Completion::default())
                }
                None => Err(mysql_error!(ER_UNKNOWN_STMT_HANDLER, name, "DEALLOCATE PREPARE")),
            },
            Statement::Kill(kill) => {
                let values = self.values(session, std::slice::from_ref(&kill.id), parameters).await?;
                let id = match values.first() {
                    Some((Value::Int(id), _)) => u64::try_from(*id).unwrap_or(0),
                    Some((Value::UInt(id), _)) => *id,
                    _ => 0,
                };
                self.host().kill(&session.state, id, kill.query_only)?;
                Ok(Completion::default())
            }
            Statement::LoadData(load) => self.load_data(session, load, sink).await,
            Statement::LockTables(wanted) => self.lock_tables(session, wanted).await,
            Statement::UnlockTables => self.unlock_tables(session).await,
            Statement::UnlockInstance => Ok(Completion::default()),
            Statement::Show(show) => self.show(session, show, sink).await,
            Statement::Describe(describe) => self.describe(session, describe, sink),
            Statement::Explain(explain) => self.explain(session, explain, parameters, sink).await,
            Statement::TableMaintenance(maintenance) => self.maintain(session, maintenance, sink).await,
            Statement::DropView(drop) if drop.if_exists => {
                self.commit(session).await?;
                for view in &drop.views {
                    let schema = view.schema.clone().or(session.state.database.clone()).unwrap_or_default();
                    session
                        .state
                        .warnings
                        .note(mysql_error!(ER_BAD_TABLE_ERROR, format!("{schema}.{}", view.name)));
                }
                Ok(Completion::default())
            }
            Statement::DropStored(drop) => {
                self.commit(session).await?;
                self.drop_stored(session, drop)
            }
            Statement::Signal(signal) => self.signal(session, signal, parameters).await,
            Statement::CreateTable(create) if create.query.is_some() => {
                self.host().check_read_only(&session.state)?;
                self.commit(session).await?;
                session.check_writable()?;
                self.create_from_query(session, create, parameters).await
            }
            other if is_definition(other) => {
                self.host().check_read_only(&session.state)?;
                // It ends the transaction that is open.
                self.commit(session).await?;
                session.check_writable()?;
                match crate::ddl::execute(self.engine(), &**self.host(), session, other).await? {
                    Some(completion) => Ok(completion),
                    None => Err(not_supported(other.name())),
                }
            }
            Statement::Flush(flush) => {
                self.commit(session).await?;
                match self.flush_tables(session, &flush.what).await? {
                    Some(completion) => Ok(completion),
                    None => self.administer(session, statement, sink).await,
                }
            }
            other => self.administer(session, other, sink).await,
        }
    }

    /// A statement that is the host's business.
    async fn administer(
        &self,
        session: &mut Session,
        statement: &Statement,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        match self.host().clone().administer(session, statement, sink).await {
            Some(result) => result,
            None => Err(not_supported(statement.name())),
        }
    }

    /// CREATE TABLE ... SELECT: the query's columns are added to the definition, then its rows are inserted.
    async fn create_from_query(
        &self,
        session: &mut Session,
        create: &ast::CreateTable,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let Some(query) = &create.query else { return Ok(Completion::default()) };
        let Some(schema) = create.name.schema.clone().or_else(|| session.state.database.clone()) else {
            return Err(mysql_error!(ER_NO_DB_ERROR));
        };
        let exists = self.engine().dictionary().table(&schema, &create.name.name).is_ok();
        let mut plain = ast::CreateTable { query: None, duplicates: None, ..create.clone() };
        let bind = |mut binder: Binder<'_>| {
            let bound = binder.query(query)?;
            let dictionary = binder.dictionary;
            let default =
                dictionary.schema(&schema).map_or(CollationId::default(), |schema| schema.collation);
            let default = crate::ddl::table::table_collation(&create.options, default)?;
            let names_collation = |meta: &crate::ColumnMeta| {
                let table = dictionary.table(&meta.schema, &meta.org_table).ok();
                let column = table.and_then(|table| {
                    let place = table.column_index(&meta.org_name)?;
                    table.columns.get(place)
                });
                column.is_some_and(|column| column.names_collation)
            };
            let declared: Vec<String> = bound
                .columns
                .iter()
                .zip(&bound.output)
                .filter(|(meta, _)| {
                    !create.columns.iter().any(|known| known.name.eq_ignore_ascii_case(&meta.name))
                })
                .map(|(meta, expr)| {
                    let says_collation = expr.ty.collation() != default || names_collation(meta);
                    column_text(meta, expr, says_collation)
                })
                .collect();
            let columns: Vec<String> = bound.columns.iter().map(|meta| meta.name.clone()).collect();
            Ok((declared, columns, std::mem::take(&mut binder.beforehand)))
        };
        let (declared, columns, constants) = self.bound(session, parameters, bind).await?;
        self.check_constants(session, &constants, parameters)?;
        if !declared.is_empty() {
            let text = format!("CREATE TABLE t ({})", declared.join(", "));
            let options = palisade_parser::ParseOptions::default();
            let parsed = palisade_parser::parse_one(text.as_bytes(), options, &mut || true);
            let parsed = parsed.map_err(crate::sql::parse_error)?;
            if let Some(Statement::CreateTable(made)) = parsed.statement {
                plain.columns.extend(made.columns);
            }
            if !exists {
                crate::deprecated::warn(session, &parsed.deprecated);
            }
        }
        let table = ast::ObjectName { schema: Some(schema), name: create.name.name.clone() };
        plain.name = table.clone();
        let definition = Statement::CreateTable(Box::new(plain));
        let made = crate::ddl::execute(self.engine(), &**self.host(), session, &definition).await?;
        if exists {
            return Ok(made.unwrap_or_default());
        }
        let insert = ast::Insert {
            replace: create.duplicates == Some(ast::LoadDuplicates::Replace),
            priority: None,
            ignore: create.duplicates == Some(ast::LoadDuplicates::Ignore),
            table: table.clone(),
            partitions: Vec::new(),
            columns: columns
                .into_iter()
                .map(|column| ast::ColumnName { schema: None, table: None, column })
                .collect(),
            source: ast::InsertSource::Query(query.clone()),
            row_alias: None,
            on_duplicate: Vec::new(),
        };
        let filled = self.fill(session, &insert, parameters).await;
        if filled.is_err() {
            let drop = ast::DropTable { temporary: false, if_exists: true, tables: vec![table] };
            let drop = Statement::DropTable(drop);
            crate::ddl::execute(self.engine(), &**self.host(), session, &drop).await?;
        }
        filled
    }

    /// Inserts the rows of the query that a table was made from.
    async fn fill(
        &self,
        session: &mut Session,
        insert: &ast::Insert,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let plan = self.bound(session, parameters, |binder| binder.insert(insert)).await?;
        self.insert(session, &plan, parameters).await
    }

    /// Values of expressions outside any table.
    pub(crate) async fn values(
        &self,
        session: &mut Session,
        exprs: &[ast::Expr],
        parameters: &[Value],
    ) -> SqlResult<Vec<(Value, SqlType)>> {
        let bind = |mut binder: Binder<'_>| {
            binder.scopes.push(Scope::default());
            let bound = binder.all(exprs)?;
            binder.scopes.pop();
            Ok((bound, Arc::new(binder.finish(None)?)))
        };
        let (bound, plan) = self.bound(session, parameters, bind).await?;
        session.check_branch_for(&plan)?;
        let savepoint = match plan.tables.is_empty() {
            true => None,
            false => Some(self.begin_statement(session)?),
        };
        let mut context =
            StatementContext::new(session, &**self.host(), self.engine(), parameters, Some(plan.clone()));
        let mut cx = context.view();
        let result = match convert_beforehand(&mut cx, &plan).await {
            Ok(()) => drive(&mut cx, |cx| crate::exec::evaluate_all(&bound, cx)).await,
            Err(error) => Err(error),
        };
        drop(context);
        if let Some(savepoint) = savepoint {
            self.end_statement(session, savepoint, result.as_ref().err()).await?;
        }
        Ok(result?.into_iter().zip(bound.into_iter().map(|expr| expr.ty)).collect())
    }

    async fn start_transaction(
        &self,
        session: &mut Session,
        start: &ast::StartTransaction,
    ) -> SqlResult<Completion> {
        let (isolation, usual) = session.characteristics_to_come();
        self.commit(session).await?;
        self.unlock_for_transaction(session);
        let access = match start.read_only {
            Some(true) => AccessMode::ReadOnly,
            Some(false) => AccessMode::ReadWrite,
            None => usual,
        };
        self.open_transaction(session, isolation, access);
        if start.consistent_snapshot
            && let Some(transaction) = &mut session.transaction
        {
            match isolation {
                IsolationLevel::RepeatableRead => transaction.open_snapshot(),
                _ => session.state.warnings.warn(mysql_error!(HA_ERR_UNSUPPORTED)),
            }
        }
        Ok(Completion::default())
    }

    fn open_transaction(&self, session: &mut Session, isolation: IsolationLevel, access: AccessMode) {
        session.start_transaction(self.engine(), isolation, access).note_begin();
        session.in_transaction = true;
    }

    fn characteristics(&self, session: &Session) -> (IsolationLevel, AccessMode) {
        match &session.transaction {
            Some(transaction) if session.active => (transaction.isolation(), transaction.access()),
            _ => session.characteristics_to_come(),
        }
    }

    fn chain(
        &self,
        session: &mut Session,
        completion: &ast::Completion,
        (isolation, access): (IsolationLevel, AccessMode),
    ) -> SqlResult<Completion> {
        let usual = session.state.variables.completion;
        if completion.chain.unwrap_or(usual == CompletionType::Chain) {
            self.open_transaction(session, isolation, access);
        }
        if completion.release.unwrap_or(usual == CompletionType::Release) {
            session.state.kill.kill_connection();
        }
        Ok(Completion::default())
    }

    fn savepoint(&self, session: &mut Session, name: &str) -> SqlResult<Completion> {
        if !session.active && session.state.variables.autocommit {
            return Ok(Completion::default());
        }
        session.check_branch_state()?;
        if !session.active {
            self.begin_statement(session)?;
        }
        let Some(transaction) = &session.transaction else { return Ok(Completion::default()) };
        let point = transaction.savepoint();
        session.work.add(Work::HandlerSavepoint, 1);
        session.savepoints.retain(|(known, _)| known.to_lowercase() != name.to_lowercase());
        session.savepoints.push((name.to_owned(), point));
        Ok(Completion::default())
    }

    async fn rollback_to_savepoint(&self, session: &mut Session, name: &str) -> SqlResult<Completion> {
        let position = find_savepoint(session, name)?;
        session.check_branch_state()?;
        let (_, point) = *session.savepoints.at(position)?;
        session.work.add(Work::HandlerSavepointRollback, 1);
        self.roll_back_to(session, point).await?;
        session.savepoints.truncate(position + 1);
        Ok(Completion::default())
    }

    fn set_transaction(&self, session: &mut Session, set: &ast::SetTransaction) -> SqlResult<Completion> {
        let level = set.isolation.map(|level| match level {
            ast::IsolationLevel::ReadUncommitted => (IsolationLevel::ReadUncommitted, "READ-UNCOMMITTED"),
            ast::IsolationLevel::ReadCommitted => (IsolationLevel::ReadCommitted, "READ-COMMITTED"),
            ast::IsolationLevel::RepeatableRead => (IsolationLevel::RepeatableRead, "REPEATABLE-READ"),
            ast::IsolationLevel::Serializable => (IsolationLevel::Serializable, "SERIALIZABLE"),
        });
        let scope = match set.scope {
            TransactionScope::Next => {
                if session.in_transaction && session.active {
                    return Err(mysql_error!(ER_CANT_CHANGE_TX_CHARACTERISTICS));
                }
                if let Some((level, _)) = level {
                    session.next_transaction.isolation = Some(level);
                }
                if let Some(read_only) = set.read_only {
                    let access = if read_only { AccessMode::ReadOnly } else { AccessMode::ReadWrite };
                    session.next_transaction.access = Some(access);
                }
                return Ok(Completion::default());
            }
            TransactionScope::Session => services::Scope::Session,
            TransactionScope::Global => services::Scope::Global,
        };
        if let Some((_, name)) = level {
            self.host().set_variable(session, scope, "transaction_isolation", Some(Value::bytes(name)))?;
        }
        if let Some(read_only) = set.read_only {
            let value = Value::Int(i64::from(read_only));
            self.host().set_variable(session, scope, "transaction_read_only", Some(value))?;
        }
        Ok(Completion::default())
    }

    async fn set(
        &self,
        session: &mut Session,
        assignments: &[Assignment],
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        for assignment in assignments {
            match assignment {
                Assignment::User(name, value) => {
                    let (value, ty) = self.value(session, value, parameters).await?;
                    let mut context =
                        StatementContext::new(session, &**self.host(), self.engine(), &[], None);
                    let mut cx = context.view();
                    palisade_expr::eval::assign(&mut cx.lend(), &name.to_lowercase().into(), value, &ty)?;
                }
                Assignment::System(variable, value) => {
                    let value = match value {
                        None => None,
                        Some(value) => Some(self.value(session, value, parameters).await?.0),
                    };
                    self.set_system(session, variable, value).await?;
                }
                Assignment::Names(names) => self.set_names(session, names.as_ref())?,
                Assignment::CharacterSet(charset) => self.set_charset(session, charset.as_deref())?,
            }
        }
        Ok(Completion::default())
    }

    async fn value(
        &self,
        session: &mut Session,
        expr: &ast::Expr,
        parameters: &[Value],
    ) -> SqlResult<(Value, SqlType)> {
        let mut values = self.values(session, std::slice::from_ref(expr), parameters).await?;
        values.pop().ok_or_else(|| mysql_error!(ER_EMPTY_QUERY))
    }

    async fn set_system(
        &self,
        session: &mut Session,
        variable: &ast::SystemVariable,
        value: Option<Value>,
    ) -> SqlResult<()> {
        let scope = match variable.scope {
            ast::VariableScope::Unspecified | ast::VariableScope::Session => services::Scope::Session,
            ast::VariableScope::Global => services::Scope::Global,
            ast::VariableScope::Persist | ast::VariableScope::PersistOnly => services::Scope::Global,
        };
        let name = match &variable.component {
            Some(component) => format!("{component}.{}", variable.name),
            None => variable.name.to_ascii_lowercase(),
        };
        // A date or a SET is text to a system variable.
        let value = value.map(|value| match value {
            Value::Null
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Decimal(_)
            | Value::Float(_)
            | Value::Double(_)
            | Value::Bytes(_) => value,
            other => Value::Bytes(text_of(&other, &SqlType::Null)),
        });
        let only = variable.scope == ast::VariableScope::PersistOnly;
        if only || variable.scope == ast::VariableScope::Persist {
            return self.host().persist_variable(session, &name, value, only).await;
        }
        if variable.scope == ast::VariableScope::Unspecified
            && ["transaction_isolation", "transaction_read_only"].contains(&&*name)
        {
            return self.set_for_next(session, &name, value);
        }
        let autocommit = session.state.variables.autocommit;
        self.host().set_variable(session, scope, &name, value)?;
        if session.state.variables.autocommit && !autocommit {
            // Turning it on commits.
            let committed = session.refuse_in_branch();
            if committed.is_err() {
                self.host().set_variable(session, scope, &name, Some(Value::Int(0)))?;
            }
            committed?;
            self.commit(session).await?;
        }
        Ok(())
    }

    /// `SET @@transaction_...` without a scope: of the next transaction only.
    fn set_for_next(&self, session: &mut Session, name: &str, value: Option<Value>) -> SqlResult<()> {
        if session.in_transaction && session.active {
            return Err(mysql_error!(ER_CANT_CHANGE_TX_CHARACTERISTICS));
        }
        // What the value means is the host's business: the session has it for a moment.
        let usual = self.host().variable(&session.state, Some(services::Scope::Session), name)?;
        self.host().set_variable(session, services::Scope::Session, name, value)?;
        if name == "transaction_isolation" {
            session.next_transaction.isolation = Some(session.state.variables.isolation);
        } else {
            let read_only = session.state.variables.read_only;
            session.next_transaction.access =
                Some(if read_only { AccessMode::ReadOnly } else { AccessMode::ReadWrite });
        }
        self.host().set_variable(session, services::Scope::Session, name, usual)
    }

    fn set_names(&self, session: &mut Session, names: Option<&(String, Option<String>)>) -> SqlResult<()> {
        let (charset, collation) = match names {
            None => ("utf8mb4".to_owned(), None),
            Some((charset, collation)) => (charset.clone(), collation.clone()),
        };
        let default = crate::bind::literal::charset_collation(&charset)?;
        let chosen = match &collation {
            None => default,
            Some(name) => {
                let found = palisade_catalog::Collation::by_name(name)
                    .ok_or_else(|| crate::bind::unknown_collation(name))?;
                if found.charset != default.get().charset {
                    return Err(mysql_error!(ER_COLLATION_CHARSET_MISMATCH, found.name, charset));
                }
                found.id
            }
        };
        let name = default.get().charset.name();
        for variable in ["character_set_client", "character_set_results", "character_set_connection"] {
            self.host().set_variable(
                session,
                services::Scope::Session,
                variable,
                Some(Value::bytes(name)),
            )?;
        }
        let collation = Value::bytes(chosen.get().name);
        self.host().set_variable(session, services::Scope::Session, "collation_connection", Some(collation))
    }

    fn set_charset(&self, session: &mut Session, charset: Option<&str>) -> SqlResult<()> {
        let default: CollationId = crate::bind::literal::charset_collation(charset.unwrap_or("utf8mb4"))?;
        let name = default.get().charset.name();
        for variable in ["character_set_client", "character_set_results"] {
            self.host().set_variable(
                session,
                services::Scope::Session,
                variable,
                Some(Value::bytes(name)),
            )?;
        }
        let dictionary = self.engine().dictionary();
        let database = session.state.database.as_deref().and_then(|name| dictionary.schema(name));
        let collation = database.map_or(CollationId::default(), |schema| schema.collation);
        let value = Value::bytes(collation.get().name);
        self.host().set_variable(session, services::Scope::Session, "collation_connection", Some(value))
    }

    async fn prepare_named(&self, session: &mut Session, prepare: &ast::Prepare) -> SqlResult<Completion> {
        let text = match &prepare.source {
            PrepareSource::Text(text) => text.clone(),
            PrepareSource::UserVariable(name) => match session.state.user_variables.get(&name.to_lowercase())
            {
                Some(variable) if !variable.value.is_null() => {
                    text_of(&variable.value, &variable.ty).to_vec()
                }
                _ => b"NULL".to_vec(),
            },
        };
        if let Some(gone) = session.prepared.remove(&prepare.name.to_lowercase()) {
            session.commands.add(Command::StmtClose);
            session.state.memory.let_go(gone.kept);
        }
        let counted = self.host().count_prepared()?;
        session.commands.add(Command::StmtPrepare);
        let (prepared, _) = self.prepare_giving_way(session, &text).await?;
        let kept = session.keep_prepared(&prepared)?;
        session.prepared.insert(prepare.name.to_lowercase(), NamedStatement { prepared, counted, kept });
        Ok(Completion { info: "Statement prepared".to_owned(), ..Completion::default() })
    }

    async fn execute_named(
        &self,
        session: &mut Session,
        execute: &ast::Execute,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let Some(named) = session.prepared.get(&execute.name.to_lowercase()) else {
            return Err(mysql_error!(ER_UNKNOWN_STMT_HANDLER, execute.name, "EXECUTE"));
        };
        let prepared = named.prepared.clone();
        if prepared.parameters != execute.variables.len() {
            return Err(mysql_error!(ER_WRONG_ARGUMENTS, "EXECUTE"));
        }
        let parameters: Vec<Value> = execute
            .variables
            .iter()
            .map(|name| {
                let variable = session.state.user_variables.get(&name.to_lowercase());
                variable.map_or(Value::Null, |variable| variable.value.clone())
            })
            .collect();
        session.commands.add(Command::StmtExecute);
        Box::pin(self.execute(session, &prepared, &parameters, sink)).await
    }

    fn drop_stored(&self, session: &mut Session, drop: &ast::DropStored) -> SqlResult<Completion> {
        let kind = match drop.kind {
            ast::StoredKind::Procedure => "PROCEDURE",
            ast::StoredKind::Function => "FUNCTION",
            ast::StoredKind::Trigger => {
                return if drop.if_exists {
                    session.state.warnings.note(mysql_error!(ER_TRG_DOES_NOT_EXIST));
                    Ok(Completion::default())
                } else {
                    Err(mysql_error!(ER_TRG_DOES_NOT_EXIST))
                };
            }
            ast::StoredKind::Event => "EVENT",
        };
        let schema = drop.name.schema.clone().or(session.state.database.clone()).unwrap_or_default();
        let name =
            if kind == "EVENT" { drop.name.name.clone() } else { format!("{schema}.{}", drop.name.name) };
        let error = if kind == "EVENT" {
            mysql_error!(ER_EVENT_DOES_NOT_EXIST, name)
        } else {
            mysql_error!(ER_SP_DOES_NOT_EXIST, kind, name)
        };
        if drop.if_exists {
            session.state.warnings.note(error);
            Ok(Completion::default())
        } else {
            Err(error)
        }
    }

    async fn signal(
        &self,
        session: &mut Session,
        signal: &ast::Signal,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        if signal.resignal {
            return Err(not_supported("RESIGNAL"));
        }
        let Some(ast::SignalCondition::SqlState(state)) = &signal.condition else {
            return Err(not_supported("SIGNAL of a condition by name"));
        };
        let mut message = "Unhandled user-defined exception condition".to_owned();
        for (item, value) in &signal.items {
            let (value, ty) = self.value(session, value, parameters).await?;
            if item == "MESSAGE_TEXT" {
                message = String::from_utf8_lossy(&text_of(&value, &ty)).into_owned();
            }
        }
        let own: Option<[u8; 5]> = state.as_slice().try_into().ok();
        let mut error = MysqlError::with_message(&ER_SIGNAL_EXCEPTION, message);
        error.own_sql_state = own;
        Err(error)
    }
}

/// A column of CREATE TABLE ... SELECT as CREATE TABLE declares it.
fn column_text(meta: &crate::ColumnMeta, expr: &palisade_expr::Expr, says_collation: bool) -> String {
    let ty = match &expr.ty {
        SqlType::Null => SqlType::Binary { length: 0 },
        // a short constant is an INT, as in MySQL
        SqlType::Int { .. } if is_short(expr) => SqlType::INT,
        other => other.clone(),
    };
    let mut text = format!("`{}` {}", meta.name.replace('`', "``"), ty.declaration());
    if ty.is_text() && says_collation {
        let collation = ty.collation().get();
        text.push_str(&format!(" CHARACTER SET {} COLLATE {}", collation.charset.name(), collation.name));
    }
    if !expr.nullable {
        text.push_str(" NOT NULL");
        if ty.is_numeric() && !matches!(ty, SqlType::Bit { .. }) {
            text.push_str(" DEFAULT '0'");
        } else if ty.is_string() && !ty.is_lob() && !matches!(ty, SqlType::Enum { .. } | SqlType::Set { .. })
        {
            text.push_str(" DEFAULT ''");
        }
    }
    text
}

/// Whether an expression is an integer constant of at most eight digits.
fn is_short(expr: &palisade_expr::Expr) -> bool {
    match &expr.node {
        palisade_expr::Node::Literal(Value::Int(value)) => value.unsigned_abs() < 100_000_000,
        _ => false,
    }
}

fn find_savepoint(session: &Session, name: &str) -> SqlResult<usize> {
    session
        .savepoints
        .iter()
        .position(|(known, _)| known.to_lowercase() == name.to_lowercase())
        .ok_or_else(|| mysql_error!(ER_SP_DOES_NOT_EXIST, "SAVEPOINT", name))
}

/// Whether a statement changes the dictionary.
fn is_definition(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::CreateTable(_)
            | Statement::AlterTable(_)
            | Statement::DropTable(_)
            | Statement::RenameTable(_)
            | Statement::TruncateTable(_)
            | Statement::CreateIndex(_)
            | Statement::DropIndex(_)
            | Statement::CreateDatabase(_)
            | Statement::AlterDatabase(_)
            | Statement::DropDatabase(_)
            | Statement::CreateView(_)
            | Statement::DropView(_)
            | Statement::CreateTrigger(_)
            | Statement::CreateRoutine(_)
            | Statement::AlterRoutine(_)
            | Statement::CreateEvent(_)
            | Statement::AlterEvent(_)
            | Statement::Tablespace(_)
            | Statement::CreateLoadableFunction(_)
            | Statement::Server(_)
    )
}
