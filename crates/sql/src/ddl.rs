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
//! | `alter_table` | ALTER TABLE, step by step |
//! | [`conversion`] | types that change under rows |
//! | [`rows`] | the rows of a table whose definition changes |
//! | `from_query` | CREATE TABLE ... SELECT |
//! | `numbering` | AUTO_INCREMENT of rows that ALTER TABLE writes |
//! | `partition` | PARTITION BY, and ALTER TABLE of partitions |
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
mod alter_table;
mod attribute;
mod check_table;
mod checksum;
pub mod column;
mod compression;
pub mod conversion;
pub mod expression;
pub mod foreign;
mod from_query;
pub mod generated_key;
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
pub(crate) mod view;

use std::sync::Arc;

use palisade_base::error_catalogue::{
    ER_BAD_DB_ERROR, ER_BAD_TABLE_ERROR, ER_DB_CREATE_EXISTS, ER_DB_DROP_EXISTS, ER_DBACCESS_DENIED_ERROR,
    ER_FORBID_SCHEMA_CHANGE, ER_NO_DB_ERROR, ER_NO_SYSTEM_SCHEMA_ACCESS, ER_TABLE_EXISTS_ERROR,
    ER_TABLE_WITHOUT_PK, ER_WRONG_DB_NAME, ER_WRONG_TABLE_NAME,
};
use palisade_base::mysql_error;
use palisade_catalog::descriptor::Schema;
use palisade_catalog::{CollationId, DateTime, TableDef, Timestamp, Value, Zone};
use palisade_engine::{Engine, ExclusiveLock, Table, TableName};
use palisade_expr::mode::SqlMode;
use palisade_parser::ast::{CreateDatabase, CreateTable, DatabaseOptions, DropTable, ObjectName, Statement};
use palisade_plan::column_type as types;
use palisade_session::virtual_tables::{SYS, is_virtual_name};

use self::foreign::{FOREIGN_KEYS_NOT_STANDARD, FOREIGN_KEYS_NOT_STANDARD_AT, Terms};
use self::from_query::MadeColumn;
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
    /// `sql_generate_invisible_primary_key`.
    pub generates_keys: bool,
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
            generates_keys: variables.generates_keys,
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
