//! Data definition: from the parse tree to descriptors, and from there to the engine.
//!
//! | module | what it holds |
//! |---|---|
//! | [`types`] | column types, character sets and collations as declared |
//! | [`mod@column`] | columns and their default values |
//! | [`table`] | CREATE TABLE: columns, indexes, options |
//! | [`expression`] | CHECK conditions and generated columns, as the dictionary keeps them |
//! | [`foreign`] | foreign keys |
//! | [`alter`] | ALTER TABLE: the new definition, and the cheapest way to it |
//! | [`conversion`] | types that change under rows |
//! | [`rows`] | the rows of a table whose definition changes |
//! | `from_query` | CREATE TABLE ... SELECT |
//! | `numbering` | AUTO_INCREMENT of rows that ALTER TABLE writes |
//! | [`partition`] | PARTITION BY, and ALTER TABLE of partitions |
//! | `question` | what a statement asks of the tables it has locked |
//! | `histogram` | ANALYZE TABLE ... HISTOGRAM |
//! | [`maintain`] | ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE |
//! | `temporary` | tables of the session alone |
//! | `truncate` | TRUNCATE TABLE, and of what is only counted |
//! | `view` | CREATE, ALTER and DROP VIEW |
//! | `stored` | DROP of stored programs |
//!
//! Each statement takes the exclusive metadata locks of the names it touches, reads the dictionary under
//! them, and asks the engine for one crash-atomic change. The caller has committed the session's transaction
//! before.

pub mod alter;
mod attribute;
mod check_table;
mod checksum;
pub mod column;
mod compression;
pub mod conversion;
pub mod expression;
pub mod foreign;
mod from_query;
pub(crate) mod histogram;
mod log_tables;
pub mod maintain;
mod numbering;
mod page_sink;
pub(crate) mod partition;
mod question;
pub mod rows;
mod stored;
pub mod table;
mod temporary;
mod truncate;
pub mod types;
pub(crate) mod view;

use std::borrow::Cow;
use std::sync::Arc;

use palisade_base::error_catalogue::{
    ER_BAD_DB_ERROR, ER_BAD_TABLE_ERROR, ER_CHECK_CONSTRAINT_DUP_NAME, ER_DB_CREATE_EXISTS,
    ER_DB_DROP_EXISTS, ER_DBACCESS_DENIED_ERROR, ER_FORBID_SCHEMA_CHANGE, ER_ILLEGAL_HA, ER_NO_DB_ERROR,
    ER_NO_REFERENCED_ROW_2, ER_NO_SYSTEM_SCHEMA_ACCESS, ER_NONUNIQ_TABLE,
    ER_PARTITION_MGMT_ON_NONPARTITIONED, ER_TABLE_EXISTS_ERROR, ER_TABLE_WITHOUT_PK, ER_WRONG_DB_NAME,
    ER_WRONG_TABLE_NAME,
};
use palisade_base::mysql_error;
use palisade_catalog::descriptor::Schema;
use palisade_catalog::{CollationId, DateTime, RowView, TableDef, Timestamp, Value, Zone};
use palisade_engine::{Engine, ExclusiveLock, Table, TableName};
use palisade_expr::mode::SqlMode;
use palisade_parser::ast::{
    AlterAction, AlterTable, CreateDatabase, CreateTable, DatabaseOptions, DropTable, Expr, ObjectName,
    Partitioning, Query, Statement, TableConstraint,
};
use palisade_plan::bind::row_rules::RowRules;
use palisade_plan::premise::Looker;
use palisade_session::virtual_tables::{SYS, is_virtual_name};

use self::alter::online::{Effort, Reason, Request};
use self::alter::{Draft, Plan};
use self::foreign::{FOREIGN_KEYS_NOT_STANDARD, FOREIGN_KEYS_NOT_STANDARD_AT, Terms};
use self::from_query::MadeColumn;
use crate::show::create;
use crate::{Completion, Host, Session, SessionState, SqlError, SqlResult};

/// 1235: the construct is known and not there yet.
pub fn unsupported<T>(construct: &str) -> SqlResult<T> {
    Err(palisade_expr::error::not_supported(construct))
}

/// What definitions depend on besides the statement.
pub struct Definer<'a> {
    /// `sql_mode`.
    pub mode: SqlMode,
    /// `palisade_substitute_engines`.
    pub substitute_engines: bool,
    /// `disabled_storage_engines`: names between commas.
    pub disabled_engines: String,
    /// How long an index key may be, in bytes.
    pub longest_key: u32,
    /// Collation of string literals.
    pub client_collation: CollationId,
    /// The session's zone.
    pub zone: Zone,
    /// When the statement began.
    pub began: Timestamp,
    /// The same in the session's zone.
    pub now: DateTime,
    /// `auto_increment_increment` and `auto_increment_offset`.
    pub series: (u64, u64),
    /// Conditions that are no errors.
    pub warnings: &'a mut Vec<SqlError>,
}

/// Executes a data definition statement; `None` if it is none.
pub async fn execute(
    engine: &Arc<Engine>,
    host: &dyn Host,
    session: &mut Session,
    statement: &Statement,
) -> SqlResult<Option<Completion>> {
    let mut ddl = Ddl { engine, host, session };
    let done = match statement {
        Statement::CreateDatabase(statement) => ddl.create_database(statement).await?,
        Statement::AlterDatabase(statement) => {
            ddl.alter_database(statement.name.as_deref(), &statement.options).await?
        }
        Statement::DropDatabase(statement) => ddl.drop_database(&statement.name, statement.if_exists).await?,
        Statement::CreateTable(statement) => ddl.create_table(statement, &[]).await?,
        Statement::AlterTable(statement) => ddl.alter_table(statement).await?,
        Statement::CreateIndex(statement) => ddl.alter_table(&alter::of_create_index(statement)).await?,
        Statement::DropIndex(statement) => ddl.alter_table(&alter::of_drop_index(statement)).await?,
        Statement::DropTable(statement) => ddl.drop_tables(statement).await?,
        Statement::TruncateTable(name) => ddl.truncate(name).await?,
        Statement::RenameTable(renames) => ddl.rename(renames).await?,
        Statement::CreateView(statement) => ddl.create_view(statement).await?,
        Statement::DropView(statement) => ddl.drop_views(statement).await?,
        Statement::CreateTrigger(_) => return unsupported("triggers"),
        Statement::CreateRoutine(_) | Statement::AlterRoutine(_) => return unsupported("stored routines"),
        Statement::CreateEvent(_) | Statement::AlterEvent(_) => return unsupported("events"),
        Statement::Tablespace(_) => return unsupported("general tablespaces"),
        Statement::CreateLoadableFunction(_) => return unsupported("loadable functions"),
        Statement::Server(_) => return unsupported("federated servers"),
        _ => return Ok(None),
    };
    Ok(Some(done))
}

/// CREATE TABLE without its query, which has made these columns.
async fn create_table(
    engine: &Arc<Engine>,
    host: &dyn Host,
    session: &mut Session,
    statement: &CreateTable,
    made: &[MadeColumn],
) -> SqlResult<Completion> {
    Ddl { engine, host, session }.create_table(statement, made).await
}

struct Ddl<'a> {
    engine: &'a Arc<Engine>,
    host: &'a dyn Host,
    session: &'a mut Session,
}

impl Ddl<'_> {
    /// Schema and name of an object; 1046 without a default database.
    fn qualify(&self, name: &ObjectName) -> SqlResult<TableName> {
        let schema = match &name.schema {
            Some(schema) => schema.clone(),
            None => self.session.state.database.clone().ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))?,
        };
        if is_virtual_name(&schema) {
            return Err(mysql_error!(
                ER_DBACCESS_DENIED_ERROR,
                self.session.state.user,
                self.session.state.client_host,
                schema
            ));
        }
        Ok(TableName::new(schema, name.name.clone()))
    }

    /// Acquires exclusive locks, within `lock_wait_timeout`.
    async fn acquire(&self, mut lock: ExclusiveLock) -> SqlResult<ExclusiveLock> {
        lock.set_owner(self.session.state.connection_id);
        crate::locks::acquire_metadata(self.host, self.session, || lock.acquire()).await?;
        Ok(lock)
    }

    /// Locks the names for redefinition: anew, or under what LOCK TABLES has locked.
    async fn lock(&self, names: impl IntoIterator<Item = TableName>) -> SqlResult<ExclusiveLock> {
        let names: Vec<TableName> = names.into_iter().collect();
        let under_others = match &self.session.locks {
            Some(locks) => locks.exclusive(&names)?,
            None => None,
        };
        let lock = match under_others {
            Some(lock) => lock,
            None => self.acquire(ExclusiveLock::new(self.engine, names)).await?,
        };
        self.host.show_work(self.session.state.connection_id, lock.work());
        Ok(lock)
    }

    fn table(&self, name: &TableName) -> SqlResult<Arc<Table>> {
        Ok(self.engine.dictionary().table(&name.schema, &name.table)?.clone())
    }

    fn disabled_engines(&self) -> String {
        let scope = Some(crate::Scope::Global);
        match self.host.variable(&self.session.state, scope, "disabled_storage_engines") {
            Ok(Some(Value::Bytes(names))) => String::from_utf8_lossy(&names).into_owned(),
            _ => String::new(),
        }
    }

    fn definer<'w>(&self, warnings: &'w mut Vec<SqlError>) -> Definer<'w> {
        let variables = &self.session.state.variables;
        let began = Timestamp(variables.timestamp_micros.unwrap_or_else(|| self.host.unix_micros()));
        Definer {
            mode: variables.sql_mode,
            substitute_engines: variables.substitute_engines,
            disabled_engines: self.disabled_engines(),
            longest_key: self.engine.longest_key(),
            client_collation: variables.collation_connection,
            zone: variables.time_zone.clone(),
            began,
            now: began.to_datetime(&variables.time_zone),
            series: (variables.auto_increment_increment.max(1), variables.auto_increment_offset.max(1)),
            warnings,
        }
    }

    /// What the foreign keys of a new table are checked for.
    fn foreign_terms(&self) -> Terms<'static> {
        let variables = &self.session.state.variables;
        Terms {
            old: None,
            renamed: &[],
            moves_to: None,
            checked: variables.foreign_key_checks,
            restricted: variables.restrict_foreign_keys,
        }
    }

    fn warn(&mut self, warnings: Vec<SqlError>) {
        for warning in warnings {
            self.session.state.warnings.warn(warning);
        }
    }

    /// Warns of foreign keys that are not standard, and counts them.
    fn warn_of_keys(&mut self, warnings: Vec<SqlError>) {
        if !warnings.is_empty() {
            FOREIGN_KEYS_NOT_STANDARD.add(warnings.len() as u64);
            FOREIGN_KEYS_NOT_STANDARD_AT.set(self.host.unix_micros().unsigned_abs());
        }
        self.warn(warnings);
    }

    async fn create_database(&mut self, statement: &CreateDatabase) -> SqlResult<Completion> {
        let name = &statement.name;
        if name.is_empty() || name.ends_with(' ') {
            return Err(mysql_error!(ER_WRONG_DB_NAME, name));
        }
        column::check_name(name)?;
        let is_sys = name == SYS;
        if !is_sys && (!statement.if_not_exists || is_virtual_name(name)) {
            self.refuse_own_schema(name)?;
        }
        self.session.refuse_locked()?;
        let _lock = self.acquire(ExclusiveLock::of_schema(self.engine, name)).await?;
        let exists = mysql_error!(ER_DB_CREATE_EXISTS, name);
        if is_sys || self.engine.dictionary().schema(name).is_some() {
            if statement.if_not_exists {
                self.session.state.warnings.note(exists);
                return Ok(Completion { affected_rows: 1, ..Completion::default() });
            }
            return Err(exists);
        }
        let options = &statement.options;
        if options.encryption.as_deref().is_some_and(|value| !value.eq_ignore_ascii_case(b"n")) {
            return unsupported("schema encryption");
        }
        let collation = types::collation_of(
            options.charset.as_deref(),
            options.collation.as_deref(),
            self.server_collation()?,
        )?;
        self.engine.create_schema(Schema { name: name.clone(), collation }).await?;
        Ok(Completion { affected_rows: 1, ..Completion::default() })
    }

    /// `collation_server`.
    fn server_collation(&self) -> SqlResult<CollationId> {
        let value = self.host.variable(&self.session.state, None, "collation_server")?;
        let name = match value {
            Some(palisade_catalog::Value::Bytes(name)) => String::from_utf8_lossy(&name).into_owned(),
            _ => return Ok(CollationId::default()),
        };
        types::collation_of(None, Some(&name), CollationId::default())
    }

    async fn alter_database(
        &mut self,
        name: Option<&str>,
        options: &DatabaseOptions,
    ) -> SqlResult<Completion> {
        let name = match name {
            Some(name) => name.to_owned(),
            None => self.session.state.database.clone().ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))?,
        };
        self.refuse_own_schema(&name)?;
        if options.read_only == Some(true) {
            return unsupported("read-only schemas");
        }
        self.session.refuse_locked()?;
        let _lock = self.acquire(ExclusiveLock::of_schema(self.engine, &name)).await?;
        let dictionary = self.engine.dictionary();
        let schema = dictionary.schema(&name).ok_or_else(|| mysql_error!(ER_BAD_DB_ERROR, name))?;
        let collation =
            types::collation_of(options.charset.as_deref(), options.collation.as_deref(), schema.collation)?;
        self.engine.alter_schema(Schema { name, collation }).await?;
        Ok(Completion { affected_rows: 1, ..Completion::default() })
    }

    /// Refuses to change the schemas that are the server's own.
    fn refuse_own_schema(&self, name: &str) -> SqlResult<()> {
        if is_virtual_name(name) {
            let SessionState { user, client_host, .. } = &self.session.state;
            return Err(mysql_error!(ER_DBACCESS_DENIED_ERROR, user, client_host, name));
        }
        if name == table::SYSTEM {
            return Err(mysql_error!(ER_NO_SYSTEM_SCHEMA_ACCESS, name));
        }
        Ok(())
    }

    async fn drop_database(&mut self, name: &str, if_exists: bool) -> SqlResult<Completion> {
        self.refuse_own_schema(name)?;
        self.session.refuse_locked()?;
        let lock = self.acquire(ExclusiveLock::of_schema(self.engine, name)).await?;
        if self.engine.dictionary().schema(name).is_none() {
            let missing = mysql_error!(ER_DB_DROP_EXISTS, name);
            if if_exists {
                self.session.state.warnings.note(missing);
                return Ok(Completion::default());
            }
            return Err(missing);
        }
        if self.session.state.variables.foreign_key_checks {
            let dictionary = self.engine.dictionary();
            let names: Vec<_> =
                dictionary.tables(name).map(|table| TableName::new(name, &table.name)).collect();
            foreign::check_drop(&dictionary, &names)?;
        }
        let tables = self.engine.drop_schema(&lock, name).await?;
        let mut done = Completion { affected_rows: tables as u64, ..Completion::default() };
        if self.session.state.database.as_deref() == Some(name) {
            self.session.state.database = None;
            done.database_changed = true;
        }
        Ok(done)
    }

    /// 3750 for a table without a primary key, or a unique one in its place, under `sql_require_primary_key`.
    fn check_primary_key(&self, def: &TableDef) -> SqlResult<()> {
        let required = self.session.state.variables.sql_require_primary_key;
        let has_key = def.clustering_index().is_some();
        if required && !has_key { Err(mysql_error!(ER_TABLE_WITHOUT_PK)) } else { Ok(()) }
    }

    /// CREATE TABLE; `made` are the columns that a query adds.
    async fn create_table(&mut self, statement: &CreateTable, made: &[MadeColumn]) -> SqlResult<Completion> {
        if statement.query.is_some() {
            return unsupported("CREATE TABLE ... SELECT");
        }
        let name = self.qualify(&statement.name)?;
        column::check_name(&name.table)?;
        if name.table.is_empty() || name.table.ends_with(' ') {
            return Err(mysql_error!(ER_WRONG_TABLE_NAME, name.table));
        }
        if statement.temporary {
            return self.create_temporary(statement, made, &name).await;
        }
        let mut names = vec![name.clone()];
        let like = statement.like.as_ref().map(|like| self.qualify(like)).transpose()?;
        names.extend(like.clone());
        for constraint in &statement.constraints {
            names.extend(self.parent(&name, constraint)?);
        }
        let lock = self.lock(names).await?;
        let dictionary = self.engine.dictionary();
        let schema =
            dictionary.schema(&name.schema).ok_or_else(|| mysql_error!(ER_BAD_DB_ERROR, name.schema))?;
        let is_view = dictionary.view(&name.schema, &name.table).is_some();
        if is_view || dictionary.table(&name.schema, &name.table).is_ok() {
            let exists = mysql_error!(ER_TABLE_EXISTS_ERROR, name.table);
            if statement.if_not_exists {
                self.session.state.warnings.note(exists);
                return Ok(Completion::default());
            }
            return Err(exists);
        }
        let mut warnings = Vec::new();
        let mut def = match &like {
            Some(like) => {
                self.refuse_view(like)?;
                let source = self.session.dictionary(self.engine);
                temporary::like(source.table(&like.schema, &like.table)?, &name)
            }
            None => {
                let mut definer = self.definer(&mut warnings);
                let defined = table::define(&mut definer, statement, made, schema);
                if defined.is_err() {
                    self.warn(std::mem::take(&mut warnings));
                }
                defined?
            }
        };
        if let Some(clause) = &statement.partitioning {
            self.partition(&mut def, clause)?;
        }
        self.check_names(&def, &name)?;
        self.check_primary_key(&def)?;
        foreign::name_parent_columns(&self.engine.dictionary(), &mut def)?;
        let terms = self.foreign_terms();
        let key_warnings = foreign::check(&self.engine.dictionary(), &def, &name, terms)?;
        self.rules(&def)?;
        let def = TableDef { created_us: self.host.unix_micros(), ..def };
        self.engine.create_table(&lock, def).await?;
        self.warn(warnings);
        self.warn_of_keys(key_warnings);
        Ok(Completion::default())
    }

    async fn drop_tables(&mut self, statement: &DropTable) -> SqlResult<Completion> {
        let mut names = Vec::new();
        for table in &statement.tables {
            names.push(self.qualify(table)?);
        }
        let (own, names): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| self.session.temporary_table(name).is_some());
        if statement.temporary {
            if !names.is_empty() {
                self.missing_tables(&names, statement.if_exists)?;
            }
            self.drop_own(&own);
            return Ok(Completion::default());
        }
        if names.is_empty() {
            self.drop_own(&own);
            return Ok(Completion::default());
        }
        let lock = self.lock(names.clone()).await?;
        let dictionary = self.engine.dictionary();
        let (there, missing): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| dictionary.table(&name.schema, &name.table).is_ok());
        if !missing.is_empty() {
            self.missing_tables(&missing, statement.if_exists)?;
        }
        if self.session.state.variables.foreign_key_checks {
            foreign::check_drop(&dictionary, &there)?;
        }
        there.iter().try_for_each(|name| log_tables::check_definition(self.host, name, "DROP"))?;
        self.drop_own(&own);
        if !there.is_empty() {
            self.engine.drop_tables(&lock, &there).await?;
            self.session.forget_locked(&there);
        }
        Ok(Completion::default())
    }

    /// Drops temporary tables of the session.
    fn drop_own(&mut self, names: &[TableName]) {
        for name in names {
            self.session.take_temporary(name);
            self.session.note_temporary(|changes| changes.dropped = true);
        }
    }

    /// 1051, or notes of it.
    fn missing_tables(&mut self, names: &[TableName], if_exists: bool) -> SqlResult<Completion> {
        let shown: Vec<String> = names.iter().map(|name| format!("{}.{}", name.schema, name.table)).collect();
        if !if_exists {
            return Err(mysql_error!(ER_BAD_TABLE_ERROR, shown.join(",")));
        }
        for name in shown {
            self.session.state.warnings.note(mysql_error!(ER_BAD_TABLE_ERROR, name));
        }
        Ok(Completion::default())
    }

    async fn rename(&mut self, renames: &[(ObjectName, ObjectName)]) -> SqlResult<Completion> {
        self.session.refuse_locked()?;
        let mut pairs = Vec::new();
        for (from, to) in renames {
            column::check_name(&to.name)?;
            pairs.push((self.qualify(from)?, self.qualify(to)?));
        }
        let dictionary = self.engine.dictionary();
        let children = pairs.iter().flat_map(|(from, _)| foreign::children(&dictionary, from));
        let both = pairs.iter().flat_map(|(from, to)| [from.clone(), to.clone()]);
        let lock = self.lock(both.chain(children)).await?;
        let dictionary = self.engine.dictionary();
        for (_, to) in &pairs {
            if dictionary.schema(&to.schema).is_none() {
                return Err(mysql_error!(ER_BAD_DB_ERROR, to.schema));
            }
        }
        let moved = pairs.iter().find(|(from, to)| {
            from.schema != to.schema && dictionary.view(&from.schema, &from.table).is_some()
        });
        if let Some((from, to)) = moved {
            return Err(mysql_error!(ER_FORBID_SCHEMA_CHANGE, from.schema, to.schema));
        }
        log_tables::check_rename(self.host, &pairs)?;
        self.engine.rename_tables(&lock, &pairs).await?;
        Ok(Completion::default())
    }

    async fn alter_table(&mut self, statement: &AlterTable) -> SqlResult<Completion> {
        let request = Request::of(statement)?;
        let name = self.qualify(&statement.table)?;
        if let Some(own) = self.session.temporary_table(&name).cloned() {
            return self.alter_temporary(statement, &name, &own).await;
        }
        log_tables::check_definition(self.host, &name, "ALTER")?;
        let mut names = vec![name.clone()];
        for action in &statement.actions {
            if let AlterAction::ExchangePartition { table, .. } = action {
                let other = self.qualify(table)?;
                if other == name {
                    return Err(mysql_error!(ER_NONUNIQ_TABLE, name.table));
                }
                names.push(other);
            }
            if let AlterAction::RenameTo(target) = action {
                column::check_name(&target.name)?;
                self.session.refuse_locked()?;
                names.push(self.qualify(&self.in_schema_of(&name, target))?);
            }
        }
        for action in statement.all_actions() {
            match action {
                AlterAction::AddConstraint(constraint) => names.extend(self.parent(&name, constraint)?),
                AlterAction::RenameTo(_) | AlterAction::RenameColumn(..) | AlterAction::Change { .. } => {
                    names.extend(foreign::children(&self.engine.dictionary(), &name));
                }
                _ => {}
            }
        }
        let lock = self.lock(names).await?;
        self.refuse_view(&name)?;
        let table = self.table(&name)?;
        if let Some(action) = statement.actions.iter().find(|action| action.is_about_partitions()) {
            return self.alter_partitions(&lock, &name, action).await;
        }
        let repartitions = self.repartitions(statement, table.descriptor().def())?;
        let mut warnings = Vec::new();
        let statement = &*self.without_conditions(table.descriptor().def(), statement);
        let mut definer = self.definer(&mut warnings);
        let mut draft = match Draft::new(&mut definer, table.descriptor().def(), statement, request) {
            Ok(draft) => draft,
            Err(error) => {
                self.warn(warnings);
                return Err(error);
            }
        };
        let clause = statement.partitioning.as_deref();
        self.partition_altered(&mut draft.def, clause, repartitions)?;
        self.check_names(&draft.def, &name)?;
        let is_plain =
            |action: &AlterAction| matches!(action, AlterAction::RenameTo(_) | AlterAction::EnableKeys(_));
        if !statement.actions.iter().all(is_plain) {
            self.check_primary_key(&draft.def)?;
        }
        foreign::follow(&mut draft.def, &name, &draft.renamed_columns);
        let terms = self.foreign_terms();
        let key_warnings = {
            let (dictionary, old) = (self.engine.dictionary(), table.descriptor().def());
            for index in &draft.dropped_indexes {
                foreign::check_dropped_index(&dictionary, old, &draft.def, index, terms.restricted)?;
            }
            foreign::name_parent_columns(&dictionary, &mut draft.def)?;
            let moves_to = match &*statement.actions {
                [AlterAction::RenameTo(name)] => Some(name.name.as_str()),
                _ => None,
            };
            let terms = Terms { old: Some(old), renamed: &draft.renamed_columns, moves_to, ..terms };
            let key_warnings = foreign::check(&dictionary, &draft.def, &name, terms)?;
            if !draft.new_foreign_keys.is_empty() {
                // MySQL checks rows by copying them
                let checks = Effort::Copied(Reason::ForeignKeyChecks);
                draft.effects.note(if terms.checked { checks } else { Effort::Inplace });
            }
            draft.effects.renames_foreign = foreign::are_renamed(&dictionary, old, &draft.renamed_columns);
            draft.judge()?;
            key_warnings
        };
        self.find_orphans(&lock, &definer, table.descriptor().def(), &draft).await?;
        self.warn_of_keys(key_warnings);
        let target = match &draft.new_name {
            Some(target) => {
                Some(self.qualify(&self.in_schema_of(&name, target))?).filter(|target| *target != name)
            }
            None => None,
        };
        if let Some(target) = &target {
            let dictionary = self.engine.dictionary();
            if dictionary.schema(&target.schema).is_none() {
                return Err(mysql_error!(ER_BAD_DB_ERROR, target.schema));
            }
            let is_view = dictionary.view(&target.schema, &target.table).is_some();
            if is_view || dictionary.table(&target.schema, &target.table).is_ok() {
                return Err(mysql_error!(ER_TABLE_EXISTS_ERROR, target.table));
            }
        }
        if statement.actions.is_empty() && !repartitions {
            return Ok(Completion::default());
        }
        let keys = |action: &AlterAction| matches!(action, AlterAction::EnableKeys(_));
        if statement.actions.iter().any(keys) && draft.effects.is_name_only() {
            self.session.state.warnings.note(mysql_error!(ER_ILLEGAL_HA, name.table));
        }
        if repartitions {
            let says = |action: &AlterAction| !matches!(action, AlterAction::RemovePartitioning);
            if !statement.actions.iter().any(says) {
                let def = draft.def.clone();
                let rows = self.repartition_all(&lock, &name, def).await?;
                self.warn(warnings);
                return Ok(partition::changed(rows));
            }
            draft.rebuild();
        }
        let mut rows = match draft.copies() && draft.plan != Plan::Rebuild {
            true => self.count_rows(&lock, &name).await?,
            false => 0,
        };
        match std::mem::replace(&mut draft.plan, Plan::Nothing) {
            Plan::Nothing => {
                if let Some(target) = target {
                    self.engine.rename_tables(&lock, &[(name, target)]).await?;
                    return Ok(Completion::default());
                }
            }
            Plan::Definition => {
                if let Some(target) = &target {
                    draft.def.rename(&target.schema, &target.table);
                }
                self.engine.alter_definition(&lock, &name, draft.def.clone()).await?;
            }
            Plan::Indexes => {
                let changed = self.engine.change_indexes(&lock, &name, draft.def.clone()).await;
                changed.map_err(rows::duplicates)?;
            }
            Plan::Rebuild => {
                if let Some(target) = &target {
                    draft.def.rename(&target.schema, &target.table);
                }
                let def = draft.def.clone();
                let (rules, slot, plan) = self.rules(&def)?;
                let (engine, host) = (self.engine, self.host);
                let scheme = self.kept_scheme(&def)?;
                let mut placer = Looker::new(&self.session.state, host);
                let mut context = self.session.context(host, engine, &[], Some(Arc::new(plan)));
                let cx = context.view();
                cx.state.strict = true;
                let numbering = draft.numbering(&definer, table.auto_increment());
                let completer = rows::RowCompleter { cx, rules, slot };
                let mut map = draft.mapper(&definer, completer, (numbering, &mut rows))?;
                let rebuilt = match &scheme {
                    None => engine.rebuild_table(&lock, &name, def, &mut *map).await,
                    Some(scheme) => {
                        let mut router =
                            |row: &RowView<'_>| Ok(placer.route(host, scheme, &|column| row.column(column))?);
                        engine.rebuild_partitioned_table(&lock, &name, def, &mut *map, &mut router).await
                    }
                };
                drop(map);
                rebuilt.map_err(|error| rows::duplicates_of_copy(error, draft.copies()))?;
            }
        }
        self.bring_children(&lock, &name, target.as_ref(), &draft).await?;
        let affected_rows = if draft.copies() { rows } else { 0 };
        self.warn(warnings);
        if draft.effects.is_name_only() && !draft.copies() {
            return Ok(Completion::default());
        }
        let warnings = self.session.state.warnings.count();
        let info = format!("Records: {affected_rows}  Duplicates: 0  Warnings: {warnings}");
        Ok(Completion { affected_rows, info, ..Completion::default() })
    }

    /// Whether a statement partitions a table anew, or makes it one without partitions: 1505 if it has none.
    fn repartitions(&self, statement: &AlterTable, old: &TableDef) -> SqlResult<bool> {
        let removes =
            statement.actions.iter().any(|action| matches!(action, AlterAction::RemovePartitioning));
        if removes && old.partitioning.is_none() {
            return Err(mysql_error!(ER_PARTITION_MGMT_ON_NONPARTITIONED));
        }
        Ok(removes || statement.partitioning.is_some())
    }

    /// The partitions of the new definition of a table.
    fn partition_altered(
        &mut self,
        def: &mut TableDef,
        clause: Option<&Partitioning>,
        repartitions: bool,
    ) -> SqlResult<()> {
        match clause {
            Some(clause) => self.partition(def, clause),
            None if repartitions => {
                (def.partitioning, def.partitions) = (None, Vec::new());
                Ok(())
            }
            None => self.check_partitions(def),
        }
    }

    /// What IF EXISTS and IF NOT EXISTS leave of a statement.
    fn without_conditions<'s>(&mut self, old: &TableDef, statement: &'s AlterTable) -> Cow<'s, AlterTable> {
        let mut notes = Vec::new();
        let settled = alter::conditions::settled(old, statement, &mut notes);
        notes.into_iter().for_each(|note| self.session.state.warnings.note(note));
        settled
    }

    /// The rules of a definition, the slot in which their expressions see a row, and what they are evaluated
    /// with.
    fn rules(&self, def: &TableDef) -> SqlResult<(RowRules, usize, palisade_plan::Plan)> {
        let dictionary = self.engine.dictionary();
        let mut binder = self.session.binder(self.host, self.engine, &dictionary, &[]);
        let (rules, slot) = binder.rules_of_definition(def)?;
        Ok((rules, slot, binder.finish(None)?))
    }

    /// 3822 if another table of the schema has a check of the same name.
    fn check_names(&self, def: &TableDef, name: &TableName) -> SqlResult<()> {
        let dictionary = self.engine.dictionary();
        for other in dictionary.tables(&def.schema).filter(|other| other.name != name.table) {
            let taken = |check: &palisade_catalog::descriptor::Check| {
                other.checks.iter().any(|known| known.name.eq_ignore_ascii_case(&check.name))
            };
            if let Some(check) = def.checks.iter().find(|check| taken(check)) {
                return Err(mysql_error!(ER_CHECK_CONSTRAINT_DUP_NAME, check.name));
            }
        }
        Ok(())
    }

    /// The table that a foreign key refers to.
    fn parent(&self, name: &TableName, constraint: &TableConstraint) -> SqlResult<Option<TableName>> {
        match constraint {
            TableConstraint::ForeignKey(key) => {
                self.qualify(&self.in_schema_of(name, &key.references.table)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// 1452 if rows that are there have no parent by a new foreign key.
    async fn find_orphans(
        &mut self,
        lock: &ExclusiveLock,
        definer: &Definer<'_>,
        old: &TableDef,
        draft: &Draft,
    ) -> SqlResult<()> {
        if !self.session.state.variables.foreign_key_checks {
            return Ok(());
        }
        let new = draft.def.foreign_keys.iter().filter(|key| draft.new_foreign_keys.contains(&key.name));
        for key in new {
            let columns = key.columns.iter();
            let values = columns.map(|place| draft.value_of_rows(definer, old, usize::from(*place)));
            // With a NULL in it, it demands nothing.
            let Some(values) = values.collect::<SqlResult<Option<Vec<Expr>>>>()? else { continue };
            let orphans = question::orphans(&draft.def, key, &values);
            if !self.query(lock, &orphans).await?.is_empty() {
                let line = create::foreign_key_line(&draft.def, key);
                let shown = format!(" (`{}`.`{}`, {line})", draft.def.schema, draft.def.name);
                return Err(mysql_error!(ER_NO_REFERENCED_ROW_2, shown));
            }
        }
        Ok(())
    }

    /// How many rows a locked table has.
    async fn count_rows(&self, lock: &ExclusiveLock, name: &TableName) -> SqlResult<u64> {
        let rows = self.query(lock, &question::row_count(name)).await?;
        match rows.first().map(Vec::as_slice) {
            Some([Value::Int(rows)]) => Ok(*rows as u64),
            other => unreachable!("COUNT(*) is a whole number, not {other:?}"),
        }
    }

    /// The rows of a query over locked tables, which is the statement's own: neither LOCK TABLES nor
    /// privileges nor the session's variables are about it.
    async fn query(&self, lock: &ExclusiveLock, query: &Query) -> SqlResult<Vec<Vec<Value>>> {
        crate::internal::query_locked(self.engine, self.host, self.session, lock, query).await
    }

    /// The foreign keys of other tables follow a table's new name and its columns' new names.
    async fn bring_children(
        &mut self,
        lock: &ExclusiveLock,
        name: &TableName,
        target: Option<&TableName>,
        draft: &Draft,
    ) -> SqlResult<()> {
        if target.is_none() && draft.renamed_columns.is_empty() {
            return Ok(());
        }
        for child in foreign::children(&self.engine.dictionary(), name) {
            let mut def = self.table(&child)?.def().clone();
            foreign::follow(&mut def, name, &draft.renamed_columns);
            if let Some(target) = target {
                def.retarget((&name.schema, &name.table), (&target.schema, &target.table));
            }
            self.engine.alter_definition(lock, &child, def).await?;
        }
        Ok(())
    }

    /// RENAME TO without a schema stays in the table's own.
    fn in_schema_of(&self, name: &TableName, target: &ObjectName) -> ObjectName {
        let schema = target.schema.clone().unwrap_or_else(|| name.schema.clone());
        ObjectName { schema: Some(schema), name: target.name.clone() }
    }
}

/// Whether a statement changes the dictionary.
pub(crate) fn is_definition(statement: &Statement) -> bool {
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
