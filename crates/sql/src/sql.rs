//! The front door: a statement's text goes in, rows and a completion come out.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::{SqlType, Value};
use palisade_engine::Engine;
use palisade_expr::beforehand::Beforehand;
use palisade_expr::mode::SqlMode;
use palisade_expr::place::At;
use palisade_parser::ast::{self, Statement};
use palisade_parser::{Deprecated, First, Hint, ParseError, ParseOptions};
use palisade_plan::bind::{Binder, parse_error};
use palisade_plan::{Plan, premise};
use palisade_session::command::Command;
use palisade_session::sink::ColumnMeta;
use palisade_session::work::Work;

use crate::bindings::Bindings;
use crate::plan_cache::{CachedStatement, Prepared};
use crate::stability::{KeptPlans, Trial};
use crate::{Host, ResultSink, Session, SqlError, SqlResult, deprecated, hints, preparable};

/// A statement to be executed.
struct Run<'s> {
    statement: &'s Statement,
    parameters: &'s [Value],
    /// Where its plan is kept.
    prepared: Option<&'s Arc<Prepared>>,
    /// What in its text is deprecated.
    deprecated: &'s [Deprecated],
    hints: &'s [Hint],
    /// It comes with its text, of which its sender is warned.
    is_text: bool,
}

/// What a statement that succeeded tells the client at its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completion {
    /// Whether a result set was sent: the end is an EOF rather than an OK.
    pub rows: bool,
    /// Rows affected.
    pub affected_rows: u64,
    /// First AUTO_INCREMENT value generated, or what LAST_INSERT_ID(x) set.
    pub last_insert_id: u64,
    /// Human-readable: `Rows matched: 1  Changed: 1  Warnings: 0`.
    pub info: String,
    /// The statement changed the default database.
    pub database_changed: bool,
    /// The statement only looked at the conditions of the one before: its own end reports none.
    pub diagnostic: bool,
    /// Conditions that such a statement has added to those all the same.
    pub conditions: u16,
}

impl Completion {
    /// A result set was sent.
    pub fn of_rows() -> Completion {
        Completion { rows: true, ..Completion::default() }
    }
}

/// The query processor of one server: the engine and the host.
pub struct Sql {
    engine: Arc<Engine>,
    host: Arc<dyn Host>,
    pub(crate) bindings: Bindings,
    kept_plans: Arc<KeptPlans>,
}

impl Sql {
    /// A query processor over `engine`.
    pub fn new(engine: Arc<Engine>, host: Arc<dyn Host>) -> Arc<Self> {
        Arc::new(Sql { engine, host, bindings: Bindings::default(), kept_plans: Arc::default() })
    }

    /// The engine below.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The plans that statements keep.
    pub fn kept_plans(&self) -> &Arc<KeptPlans> {
        &self.kept_plans
    }

    /// The server around.
    pub fn host(&self) -> &Arc<dyn Host> {
        &self.host
    }

    /// Executes the first statement of `text`. Also says where the next one begins, if there is one: call again with
    /// the rest. On error the statement's effects are undone and the session can go on.
    pub async fn query(
        &self,
        session: &mut Session,
        text: &[u8],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<(Completion, Option<usize>)> {
        session.state.kill.clear_statement();
        session.state.memory.begin();
        if text.len() > LONG_TEXT {
            Box::pin(self.settle_to_compute(session)).await.map_err(|error| self.fail(session, error))?;
        }
        let is_traced = session.state.variables.traces_optimizer;
        if !is_traced
            && let Some((prepared, parameters, next)) = session.plans.clone().of_text(session, text)
            && (next.is_none() || session.multi_statements)
        {
            let run = Run {
                statement: &prepared.statement,
                parameters: &parameters,
                prepared: Some(&prepared),
                deprecated: &prepared.deprecated,
                hints: &prepared.hints,
                is_text: true,
            };
            let result = self.run(session, run, sink).await;
            session.executed = Some(prepared);
            return Ok((result?, next));
        }
        let mut guard = Guard::new(session, &*self.host);
        let parsed = palisade_parser::parse_one(text, parse_options(session), &mut || guard.allows());
        let parsed = parsed.map_err(|error| guard.failure(error));
        let (statement, next, deprecated, hints) = match parsed {
            Ok(First { statement: Some(statement), next, next_is_comment, deprecated, hints }) => {
                let next = next.filter(|_| session.multi_statements || !next_is_comment);
                (statement, next, deprecated, hints)
            }
            Ok(_) => return Err(self.fail(session, mysql_error!(ER_EMPTY_QUERY))),
            Err(error) => return Err(self.fail(session, error)),
        };
        // What follows a semicolon may be nothing but space.
        let next = next.filter(|at| !text.iter().skip(*at).all(u8::is_ascii_whitespace));
        if next.is_some() && !session.multi_statements {
            let at = next.unwrap_or(0);
            let near =
                String::from_utf8_lossy(text.tail(at)?).trim_start().chars().take(80).collect::<String>();
            let line = 1 + text.part(0..at)?.iter().filter(|byte| **byte == b'\n').count();
            let error = ParseError::Syntax { near, line: line as u32 };
            return Err(self.fail(session, parse_error(error)));
        }
        let run = Run {
            statement: &statement,
            parameters: &[],
            prepared: None,
            deprecated: &deprecated,
            hints: &hints,
            is_text: true,
        };
        let has_own_plans = self.bindings.has_any() || self.kept_plans.is_on();
        session.own_text = has_own_plans.then(|| text.into());
        let result = self.run(session, run, sink).await;
        session.own_text = None;
        if session.state.variables.traces_optimizer {
            session.keep_trace(&statement, next.and_then(|next| text.get(..next)).unwrap_or(text));
        }
        Ok((result?, next))
    }

    /// Prepares the one statement of `text`. Also gives the columns of its result set; none if it has none.
    pub async fn prepare(
        &self,
        session: &mut Session,
        text: &[u8],
    ) -> SqlResult<(Arc<Prepared>, Vec<ColumnMeta>)> {
        session.state.warnings.clear(session.state.variables.max_error_count);
        session.state.memory.begin();
        let prepared = self.prepare_giving_way(session, text).await;
        session.state.memory.end();
        prepared.map_err(|error| self.fail(session, error))
    }

    /// [`prepare_statement`](Self::prepare_statement), on a thread that serves no other sessions if it takes
    /// long.
    pub(crate) async fn prepare_giving_way(
        &self,
        session: &mut Session,
        text: &[u8],
    ) -> SqlResult<(Arc<Prepared>, Vec<ColumnMeta>)> {
        if text.len() > LONG_TEXT {
            Box::pin(self.settle_to_compute(session)).await?;
        }
        loop {
            match self.prepare_statement(session, text) {
                Err(_) if session.takes_giving_way() => {
                    palisade_exec::run::pause(&session.state, &*self.host).await?
                }
                prepared => {
                    if session.state.variables.traces_optimizer
                        && let Ok((prepared, _)) = &prepared
                    {
                        session.keep_trace(&prepared.statement, text);
                    }
                    return prepared;
                }
            }
        }
    }

    /// Binds and plans what is a part of a statement of another kind. What takes long is done by a thread
    /// that serves no other sessions.
    pub(crate) async fn bound<T>(
        &self,
        session: &mut Session,
        parameters: &[Value],
        bind: impl Fn(Binder<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        loop {
            let dictionary = session.dictionary(&self.engine);
            let mut binder = session.binder(&*self.host, &self.engine, &dictionary, parameters);
            binder.pace.may_give_way();
            let bound = bind(binder);
            drop(dictionary);
            match bound {
                Err(_) if session.takes_giving_way() => {
                    palisade_exec::run::pause(&session.state, &*self.host).await?
                }
                bound => return bound,
            }
        }
    }

    /// The logical plan of a query as text: as it was bound, and as [rules](palisade_plan::rules) have
    /// rewritten it. 1064 for what is no query.
    pub async fn rewriting(&self, session: &mut Session, text: &[u8]) -> SqlResult<[String; 2]> {
        let statement = palisade_parser::parse(text, parse_options(session)).map_err(parse_error)?;
        let Statement::Query(query) = statement else {
            return Err(mysql_error!(ER_WRONG_ARGUMENTS, "EXPLAIN"));
        };
        let bind = |mut binder: Binder<'_>| {
            let bound = binder.query(&query)?;
            binder.rewritten(bound)
        };
        self.bound(session, &[], bind).await
    }

    /// Has the session's task polled by a thread that serves no others, where that has not been so: much is
    /// to be computed in one go.
    async fn settle_to_compute(&self, session: &Session) -> SqlResult<()> {
        while !self.host.may_compute(session.state.connection_id) {
            palisade_exec::run::pause(&session.state, &*self.host).await?;
        }
        Ok(())
    }

    /// Prepares a statement, whose sender is warned now of what in its text is deprecated, and not when it is executed.
    fn prepare_statement(
        &self,
        session: &mut Session,
        text: &[u8],
    ) -> SqlResult<(Arc<Prepared>, Vec<ColumnMeta>)> {
        let plans = session.plans.clone();
        let prepared =
            plans.statement(text, parse_options(session), &mut Guard::new(session, &*self.host))?;
        // The protocol has two bytes for their number.
        if prepared.parameters > usize::from(u16::MAX) {
            return Err(mysql_error!(ER_PS_MANY_PARAM));
        }
        deprecated::warn_preparing(session, &prepared.deprecated);
        hints::warn(&*self.host, session, &prepared.hints);
        hints::apply(&*self.host, session, &prepared.hints);
        let columns = self.prepared_columns(session, &prepared);
        hints::restore(session);
        Ok((prepared, columns?))
    }

    /// The columns of the result set that a prepared statement will have. Plans it as far as that does not
    /// depend on the values of its parameters.
    fn prepared_columns(
        &self,
        session: &mut Session,
        prepared: &Arc<Prepared>,
    ) -> SqlResult<Vec<ColumnMeta>> {
        Ok(match &*prepared.statement {
            Statement::Query(query) if query.into.is_some() => Vec::new(),
            statement if !preparable::is_preparable(statement) => {
                return Err(mysql_error!(ER_UNSUPPORTED_PS));
            }
            statement => {
                // Whether names and types are right; and the plan, as far as it does not depend on values.
                let unknown = vec![Value::Null; prepared.parameters];
                let planned = self.plan(session, statement, &unknown, Some(prepared))?;
                if let Some(planned) = &planned {
                    self.check_constants(session, &planned.plan().beforehand, &unknown)?;
                }
                match planned.as_deref() {
                    Some(CachedStatement::Query(plan, ..)) => {
                        session.check_branch_for(plan)?;
                        plan.query.as_ref().map_or(Vec::new(), |query| query.columns.to_vec())
                    }
                    Some(planned) => {
                        session.check_branch()?;
                        planned.returning().map_or(Vec::new(), |returning| returning.columns().to_vec())
                    }
                    None => self.listing_columns(session, statement),
                }
            }
        })
    }

    /// Fails if a constant of a statement that is not executed now [does not
    /// convert](palisade_expr::beforehand).
    pub(crate) fn check_constants(
        &self,
        session: &mut Session,
        constants: &[Beforehand],
        parameters: &[Value],
    ) -> SqlResult<()> {
        if constants.is_empty() {
            return Ok(());
        }
        let mut context = session.context(&*self.host, &self.engine, parameters, None);
        match context.view().lend().convert_beforehand(constants) {
            Err(Blocked::Error(error)) => Err(error),
            // What it would wait for is said when the statement is executed.
            Err(Blocked::Wait(_)) | Ok(()) => Ok(()),
        }
    }

    /// Executes a prepared statement; one value per parameter.
    pub async fn execute(
        &self,
        session: &mut Session,
        prepared: &Arc<Prepared>,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        session.state.kill.clear_statement();
        session.state.memory.begin();
        if parameters.len() != prepared.parameters {
            return Err(self.fail(session, mysql_error!(ER_WRONG_ARGUMENTS, "EXECUTE")));
        }
        let run = Run {
            statement: &prepared.statement,
            parameters,
            prepared: Some(prepared),
            deprecated: &prepared.deprecated,
            hints: &prepared.hints,
            is_text: false,
        };
        let result = self.run(session, run, sink).await;
        if session.state.variables.traces_optimizer {
            session.keep_trace(&prepared.statement, prepared.text());
        }
        result
    }

    /// Makes `name` the default database (COM_INIT_DB, USE): 1049 if there is none.
    pub fn use_database(&self, session: &mut Session, name: &str) -> SqlResult<()> {
        if session.state.is_restricted() && !self.host.may_enter(&session.state, name) {
            return Err(mysql_error!(
                ER_DBACCESS_DENIED_ERROR,
                session.state.user,
                session.state.client_host,
                name
            ));
        }
        if name.is_empty() {
            return Err(mysql_error!(ER_NO_DB_ERROR));
        }
        if name.ends_with(' ') {
            return Err(mysql_error!(ER_WRONG_DB_NAME, name));
        }
        crate::ddl::column::check_name(name)?;
        let known = self.engine.dictionary().schema(name).is_some();
        if known || palisade_session::virtual_tables::is_virtual_schema(&*self.host, name) {
            session.state.database = Some(if known { name.to_owned() } else { name.to_ascii_lowercase() });
            return Ok(());
        }
        Err(mysql_error!(ER_BAD_DB_ERROR, name))
    }

    /// The columns of a table of the session's default database, as a client sees them that has asked for its
    /// definition (COM_FIELD_LIST).
    pub async fn table_columns(&self, session: &mut Session, table: &str) -> SqlResult<Vec<ColumnMeta>> {
        session.state.kill.clear_statement();
        session.state.memory.begin();
        session.state.warnings.clear(session.state.variables.max_error_count);
        let name = ast::ObjectName { schema: None, name: table.to_owned() };
        let query = ast::Query::of(ast::QueryBody::Table(name));
        let columns = self.bound(session, &[], |mut binder| Ok(binder.query(&query)?.columns.to_vec())).await;
        session.state.memory.end();
        columns.map_err(|error| self.fail(session, error))
    }

    /// Rolls back what is open: the connection ends or is reset.
    pub async fn abandon(&self, session: &mut Session) {
        // The client is gone or begins anew: there is nobody to tell of an error.
        let _ = self.rollback(session).await;
        session.xa = None;
        session.temporary = None;
        session.release_locks();
        self.host.named_locks().release_all(session.state.connection_id);
    }

    /// A statement of the session has ended in the middle, by a panic: rolls back what is open. Everything
    /// else of the session stays.
    pub async fn recover(&self, session: &mut Session) {
        hints::restore(session);
        // It is told of the panic.
        let _ = self.rollback(session).await;
        // Should the panic have come between two changes of the session's state: the background undoes what
        // is left.
        session.transaction = None;
        session.drop_lost_tables();
        session.xa = None;
        session.own_text = None;
        session.block_hints = None;
    }

    /// Records an error for SHOW WARNINGS.
    pub(crate) fn fail(&self, session: &mut Session, error: SqlError) -> SqlError {
        session.state.warnings.clear(session.state.variables.max_error_count);
        session.state.warnings.push(palisade_expr::warning::Level::Error, error.clone());
        session.state.row_count = -1;
        session.begin_stage(&*self.host, "freeing items");
        session.state.memory.end();
        error
    }

    async fn run(
        &self,
        session: &mut Session,
        Run { statement, parameters, prepared, deprecated, hints, is_text }: Run<'_>,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        // The server's own statements are not counted among those of clients.
        let is_counted = !session.state.is_internal();
        if is_counted {
            session.commands.add(Command::of(statement));
        }
        let diagnostic = crate::show::answer::is_diagnostic(statement);
        if !diagnostic {
            session.state.warnings.clear(session.state.variables.max_error_count);
            if is_text {
                deprecated::warn(session, deprecated);
                hints::warn(&*self.host, session, hints);
            } else if !deprecated.is_empty() {
                deprecated::warn_executing(session, deprecated);
            }
        }
        hints::apply(&*self.host, session, hints);
        session.state.constants_are_parameters = prepared.is_some_and(|prepared| prepared.is_of_text());
        let mut attempts = 0;
        let result = loop {
            let result = self.statement(session, statement, parameters, prepared, sink).await;
            // The definition of a table changed between planning and running: plan again.
            match &result {
                Err(error)
                    if error.number() == ER_TABLE_DEF_CHANGED.number
                        && attempts < 10
                        && !session.in_transaction =>
                {
                    attempts += 1;
                }
                _ => break result,
            }
        };
        hints::restore(session);
        if result.as_ref().is_err_and(|error| error.number() == ER_QUERY_TIMEOUT.number) {
            session.work.add(Work::MaxExecutionTimeExceeded, 1);
        }
        session.reach_end(&*self.host);
        session.begin_stage(&*self.host, "freeing items");
        if is_counted {
            session.work.publish();
        }
        session.state.memory.end();
        match result {
            Ok(mut completion) => {
                completion.diagnostic = diagnostic;
                if !diagnostic {
                    session.state.row_count =
                        if completion.rows { -1 } else { completion.affected_rows as i64 };
                }
                Ok(completion)
            }
            Err(error) => {
                if !diagnostic {
                    session.state.warnings.push(palisade_expr::warning::Level::Error, error.clone());
                }
                session.state.row_count = -1;
                Err(error)
            }
        }
    }

    async fn statement(
        &self,
        session: &mut Session,
        statement: &Statement,
        parameters: &[Value],
        prepared: Option<&Arc<Prepared>>,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        session.begin_stage(&*self.host, "Opening tables");
        let planned = loop {
            match self.plan(session, statement, parameters, prepared) {
                Err(_) if session.takes_giving_way() => {
                    palisade_exec::run::pause(&session.state, &*self.host).await?
                }
                planned => break planned?,
            }
        };
        if let (Some(most), Some(planned)) = (session.state.variables.max_join_size, &planned) {
            check_size(planned, most)?;
        }
        session.begin_stage(&*self.host, stage_of(planned.as_deref(), statement));
        match planned.as_deref() {
            Some(CachedStatement::Query(plan, into, trial)) => {
                let (into, trial) = (into.as_ref(), trial.as_deref());
                self.select(session, plan, (into, trial), parameters, sink).await
            }
            Some(CachedStatement::Insert(plan)) => self.insert(session, plan, parameters, sink).await,
            Some(CachedStatement::Change(plan)) => self.change(session, plan, parameters, sink).await,
            None => Box::pin(self.other(session, statement, parameters, sink)).await,
        }
    }

    /// The plan of a query or of a change of rows: one kept with the statement, or made now. Other statements have none.
    fn plan(
        &self,
        session: &mut Session,
        statement: &Statement,
        parameters: &[Value],
        prepared: Option<&Arc<Prepared>>,
    ) -> SqlResult<Option<Arc<CachedStatement>>> {
        if !is_planned(statement) {
            return Ok(None);
        }
        // What LOCK TABLES forbids is found out by planning.
        let is_traced = session.state.variables.traces_optimizer;
        let kept = prepared.filter(|_| session.locks.is_none() && !is_traced);
        let version = self.engine.dictionary_version();
        let found = kept.and_then(|prepared| prepared.plan(version, session, parameters));
        if let Some(found) = found.filter(|found| self.is_right_for(found.plan(), session, parameters))
            // Binding tells what is denied.
            && self.check_accesses(session, found.plan()).is_ok()
        {
            return Ok(Some(found));
        }
        let planned = self.plan_anew(session, statement, parameters, prepared)?;
        if let Some(planned) = planned.as_ref().filter(|_| is_traced) {
            session.take_decided(planned.plan());
        }
        Ok(planned)
    }

    /// Whether a plan that was made for an execution with other values is right for this one, too.
    fn is_right_for(&self, plan: &Plan, session: &Session, parameters: &[Value]) -> bool {
        plan.premises.is_empty() || premise::hold(&plan.premises, &session.state, &*self.host, parameters)
    }

    /// Whether a restricted session may execute a plan that another one may have made.
    pub(crate) fn check_accesses(&self, session: &Session, plan: &Plan) -> SqlResult<()> {
        plan.definers.iter().try_for_each(|(definer, access, name)| {
            let schema = name.schema.as_deref().unwrap_or_default();
            self.host.check_definer(&session.state, definer, schema, &name.name, *access)
        })?;
        if !session.state.is_restricted() {
            return Ok(());
        }
        plan.accesses.iter().try_for_each(|(access, name)| {
            let schema = name.schema.as_deref().unwrap_or_default();
            self.host.check_table(&session.state, schema, &name.name, *access)
        })
    }

    async fn select(
        &self,
        session: &mut Session,
        plan: &Arc<Plan>,
        (into, trial): (Option<&ast::Into>, Option<&Trial>),
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        session.check_tables_of_branch(plan)?;
        if let (Some(point), Some(planned), None) = (&plan.point, &plan.query, into)
            && plan.beforehand.is_empty()
            && let Some(completion) = self.point_select(session, point, planned, parameters, sink).await?
        {
            return Ok(completion);
        }
        match into {
            None => match trial {
                None => self.run_query(session, plan.clone(), parameters, sink).await,
                Some(trial) => Box::pin(self.run_trial(session, plan, trial, parameters, sink)).await,
            },
            Some(ast::Into::Variables(variables)) => {
                self.select_into(session, plan, parameters, variables).await
            }
            Some(file) => Box::pin(self.select_into_file(session, plan, parameters, file)).await,
        }
    }

    /// Runs a query's plan in the session's transaction.
    pub(crate) async fn run_query(
        &self,
        session: &mut Session,
        plan: Arc<Plan>,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        session.check_branch_for(&plan)?;
        if plan.locks_rows {
            session.check_writable()?;
        }
        let savepoint = match plan.tables.is_empty() {
            true => None,
            false => Some(self.begin_statement(session)?),
        };
        let mut context = session.context(&*self.host, &self.engine, parameters, Some(plan.clone()));
        let mut cx = context.view();
        let limit = plan.max_execution_time.unwrap_or(cx.session.variables.max_execution_time);
        if !limit.is_zero() {
            cx.execution.work.add(Work::MaxExecutionTimeSet, 1);
            cx.state.deadline = Some(self.host.unix_micros().saturating_add(limit.as_micros() as i64));
        }
        let query = plan.query.as_ref().ok_or_else(|| SqlError::internal("a SELECT has a query"))?;
        let counted = query.counted_limit.is_some();
        let result = match palisade_exec::run::convert_beforehand(&mut cx, &plan).await {
            Ok(()) => palisade_exec::run::send_rows(&mut cx, query, sink).await,
            Err(error) => Err(error),
        };
        drop(context);
        if let Some(savepoint) = savepoint {
            self.end_statement(session, savepoint, result.as_ref().err()).await?;
        }
        let (sent, found) = result?;
        session.state.found_rows = if counted { found } else { sent };
        Ok(Completion::of_rows())
    }

    async fn select_into(
        &self,
        session: &mut Session,
        plan: &Arc<Plan>,
        parameters: &[Value],
        variables: &[ast::IntoVariable],
    ) -> SqlResult<Completion> {
        self.check_declared(variables)?;
        let query = plan.query.as_ref().ok_or_else(|| SqlError::internal("a SELECT has a query"))?;
        if query.output.len() != variables.len() {
            return Err(mysql_error!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
        }
        let types: Vec<_> = query.output.iter().map(|expr| expr.ty.clone()).collect();
        let mut collected = palisade_session::sink::Collected::default();
        self.run_query(session, plan.clone(), parameters, &mut collected).await?;
        if collected.rows.len() > 1 {
            return Err(mysql_error!(ER_TOO_MANY_ROWS));
        }
        let Some(row) = collected.rows.pop() else {
            session.state.warnings.warn(mysql_error!(ER_SP_FETCH_NO_DATA));
            return Ok(Completion::default());
        };
        self.assign_variables(
            session,
            variables.iter().zip(row).zip(types).map(|((v, value), ty)| (v, value, ty)),
        )?;
        Ok(Completion { affected_rows: 1, ..Completion::default() })
    }

    /// 1327 unless all are variables of the user's: others would be of a stored program.
    pub(crate) fn check_declared<'v>(
        &self,
        variables: impl IntoIterator<Item = &'v ast::IntoVariable>,
    ) -> SqlResult<()> {
        variables.into_iter().try_for_each(|variable| match variable {
            ast::IntoVariable::Local(name) => Err(mysql_error!(ER_SP_UNDECLARED_VAR, name)),
            ast::IntoVariable::User(_) => Ok(()),
        })
    }

    /// Gives variables of the user's their values.
    pub(crate) fn assign_variables<'v>(
        &self,
        session: &mut Session,
        given: impl Iterator<Item = (&'v ast::IntoVariable, Value, SqlType)>,
    ) -> SqlResult<()> {
        let mut context = session.context(&*self.host, &self.engine, &[], None);
        let mut cx = context.view();
        for (variable, value, ty) in given {
            let ast::IntoVariable::User(name) = variable else { continue };
            palisade_expr::eval::assign(&mut cx.lend(), &name.to_lowercase().into(), value, &ty)?;
        }
        Ok(())
    }
}

/// Bytes of a text from which on it is read, bound and planned by a thread that serves no other sessions.
const LONG_TEXT: usize = 1 << 16;

/// Watches over the reading of a text: it ends when the statement is killed, or holds too much.
pub(crate) struct Guard<'s> {
    session: &'s Session,
    host: &'s dyn Host,
    failure: Option<SqlError>,
}

impl<'s> Guard<'s> {
    pub(crate) fn new(session: &'s Session, host: &'s dyn Host) -> Self {
        Guard { session, host, failure: None }
    }

    /// Whether to read on.
    pub(crate) fn allows(&mut self) -> bool {
        let limit = self.session.state.variables.parser_max_mem_size;
        let held = self.session.state.memory.held().unsigned_abs();
        let checked = match self.session.state.check_statement(self.host) {
            Ok(()) if held > limit => {
                let what = ER_CAPACITY_EXCEEDED_IN_PARSER.format;
                Err(mysql_error!(ER_CAPACITY_EXCEEDED, limit, "parser_max_mem_size", what))
            }
            checked => checked,
        };
        self.failure = checked.err();
        self.failure.is_none()
    }

    /// What the client is told.
    pub(crate) fn failure(&mut self, error: ParseError) -> SqlError {
        match error {
            ParseError::Stopped => self.failure.take().unwrap_or_else(|| mysql_error!(ER_QUERY_INTERRUPTED)),
            error => parse_error(error),
        }
    }
}

/// 1104 if a SELECT, or an INSERT's, would examine more than `most` rows.
#[cold]
fn check_size(planned: &CachedStatement, most: u64) -> SqlResult<()> {
    match planned {
        CachedStatement::Query(..) | CachedStatement::Insert(_)
            if planned.plan().rows_examined() > most as f64 =>
        {
            Err(mysql_error!(ER_TOO_BIG_SELECT))
        }
        _ => Ok(()),
    }
}

/// What MySQL calls the stage in which a statement does what it is for.
fn stage_of(planned: Option<&CachedStatement>, statement: &Statement) -> &'static str {
    match (planned, statement) {
        (Some(CachedStatement::Insert(_)), _) => "update",
        (Some(CachedStatement::Change(_)), Statement::Update(_)) => "updating",
        (Some(CachedStatement::Change(_)), _) => "deleting from main table",
        _ => "executing",
    }
}

/// Whether a statement has a plan.
fn is_planned(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_)
    )
}

/// How the session's sql_mode has text read.
pub fn parse_options(session: &Session) -> ParseOptions {
    parse_options_of(session.state.variables.sql_mode)
}

/// How a sql_mode has text read.
pub fn parse_options_of(mode: SqlMode) -> ParseOptions {
    ParseOptions {
        ansi_quotes: mode.has(SqlMode::ANSI_QUOTES),
        pipes_as_concat: mode.has(SqlMode::PIPES_AS_CONCAT),
        no_backslash_escapes: mode.has(SqlMode::NO_BACKSLASH_ESCAPES),
        ignore_space: mode.has(SqlMode::IGNORE_SPACE),
        high_not_precedence: mode.has(SqlMode::HIGH_NOT_PRECEDENCE),
        placeholders: false,
        ..ParseOptions::default()
    }
}
