//! SHOW, DESCRIBE and information_schema, made from the dictionary.
//!
//! | module | what it holds |
//! |---|---|
//! | [`information_schema`] | the tables that describe the dictionary and storage |
//! | `profile` | SHOW PROFILE |
//! | `picks` | SHOW over tables of information_schema |
//! | [`create`] | SHOW CREATE TABLE and SHOW CREATE DATABASE |
//! | `absent` | SHOW about what there is none of |
//! | [`privileges`] | SHOW PRIVILEGES |
//! | [`answer`] | filtering and sending listings |
//!
//! [`Shower::listing`] answers a SHOW with a table of values; LIKE is applied here, WHERE by the front door,
//! which can bind expressions.

mod absent;
pub mod answer;
pub mod create;
pub mod information_schema;
pub(crate) mod partition;
mod performance_keys;
mod picks;
pub mod privileges;
pub(crate) mod profile;

use palisade_base::error_catalogue::{
    ER_BAD_DB_ERROR, ER_NO_BINARY_LOGGING, ER_NO_DB_ERROR, ER_NO_SUCH_TABLE,
};
use palisade_base::mysql_error;
use palisade_catalog::{CollationId, Schema, SqlType, Value, ViewDef};
use palisade_engine::{Engine, Table};
use palisade_expr::services::Question;
use palisade_expr::warning::Level;
use palisade_parser::ast::{Limit, ObjectName, ShowWhat};
use palisade_schema::{TableDecl, Wanted};
use palisade_session::virtual_tables::{
    self, PERFORMANCE_SCHEMA, RowSource, SYS, SYSTEM_SCHEMA, StoredQuery,
};
use std::sync::Arc;

use self::picks::About;
use crate::ddl::generated_key::GeneratedKey;
use crate::{Access, Host, Scope, SessionView, SqlError, SqlResult, sys};

/// What programs call themselves that dump all databases they are told of.
const DUMP_PROGRAMS: [&str; 2] = ["mysqldump", "mariadb-dump"];

/// What a SHOW answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Columns: name and type.
    pub columns: Vec<(String, SqlType)>,
    /// One value per column.
    pub rows: Vec<Vec<Value>>,
    /// The column that LIKE is about.
    pub like_column: usize,
}

/// What a listing is made from.
pub struct Shower<'a> {
    /// The engine.
    pub engine: &'a Arc<Engine>,
    /// The server.
    pub host: &'a dyn Host,
    /// The session that asks.
    pub session: SessionView<'a>,
    /// Its temporary tables.
    pub temporary: Option<&'a crate::temporary::SessionTables>,
}

fn text_type() -> SqlType {
    SqlType::VarChar { length: 1024, collation: CollationId::UTF8MB3_GENERAL_CI }
}

/// Columns of a listing: names, those that begin with `#` being numbers.
fn columns(names: &[&str]) -> Vec<(String, SqlType)> {
    let column = |name: &&str| match name.strip_prefix('#') {
        Some(name) => (name.to_owned(), SqlType::BIGINT),
        None => ((*name).to_owned(), text_type()),
    };
    names.iter().map(column).collect()
}

fn listing_of(names: &[&str], rows: Vec<Vec<Value>>) -> Listing {
    Listing { columns: columns(names), rows, like_column: 0 }
}

/// An answer of SHOW about something that there is none of.
fn empty(names: &[&str]) -> SqlResult<Option<Listing>> {
    Ok(Some(listing_of(names, Vec::new())))
}

fn text(value: impl AsRef<str>) -> Value {
    Value::bytes(value.as_ref())
}

/// A listing in the order of its first column, a name.
fn by_first_column(mut listing: Listing) -> Listing {
    let name = |row: &Vec<Value>| match row.first() {
        Some(Value::Bytes(name)) => name.to_vec(),
        _ => Vec::new(),
    };
    listing.rows.sort_by_cached_key(name);
    listing
}

/// The rows that LIKE lets through. The column's name shows the pattern where MySQL does.
pub fn filter_like(listing: &mut Listing, what: &ShowWhat, pattern: &[u8]) {
    let collation = CollationId::UTF8MB4_GENERAL_CI.get();
    let at = listing.like_column;
    listing.rows.retain(|row| match row.get(at) {
        Some(Value::Bytes(name)) => collation.like(name, pattern, b"\\"),
        _ => false,
    });
    if matches!(what, ShowWhat::Databases | ShowWhat::Tables { .. }) {
        let shown = String::from_utf8_lossy(pattern);
        if let Some((name, _)) = listing.columns.get_mut(at) {
            *name = format!("{name} ({shown})");
        }
    }
}

impl Shower<'_> {
    fn database(&self, name: Option<&str>) -> SqlResult<String> {
        let name = match name {
            Some(name) => name.to_owned(),
            None => self.session.state.database.clone().ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))?,
        };
        if virtual_tables::is_virtual_name(&name) || self.engine.dictionary().schema(&name).is_some() {
            return Ok(name);
        }
        Err(mysql_error!(ER_BAD_DB_ERROR, name))
    }

    fn table(&self, name: &ObjectName) -> SqlResult<Arc<Table>> {
        let schema = match &name.schema {
            Some(schema) => schema.clone(),
            None => self.session.state.database.clone().ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))?,
        };
        let dictionary = match self.temporary {
            Some(tables) => tables.over(self.engine),
            None => self.engine.dictionary(),
        };
        Ok(dictionary.table(&schema, &name.name)?.clone())
    }

    fn generated_key(&self) -> GeneratedKey {
        GeneratedKey::of(self.session.state.variables.shows_generated_keys)
    }

    /// What a SHOW answers; `None` for those that are the host's business or not supported.
    pub fn listing(&self, what: &ShowWhat) -> SqlResult<Option<Listing>> {
        Ok(Some(match what {
            ShowWhat::Databases => self.databases()?,
            ShowWhat::Tables { full, database, .. } => self.tables(*full, database.as_deref())?,
            ShowWhat::TableStatus { database } => self.table_status(database.as_deref())?,
            ShowWhat::Columns { full, table, .. } => self.columns(table, *full)?,
            ShowWhat::Index { table, .. } => self.indexes(table)?,
            ShowWhat::CreateTable(name) if self.visible_view(name).is_some() => {
                self.create_stored_view(name)?
            }
            ShowWhat::CreateView(name) if self.stored_view(name).is_some() => {
                self.create_stored_view(name)?
            }
            ShowWhat::CreateTable(name) | ShowWhat::CreateView(name) if self.view(name).is_some() => {
                self.create_view(name)
            }
            ShowWhat::CreateTable(name) => {
                let row = match self.shown_virtual_table(name)? {
                    Some(table) => vec![text(table.name), text(create::virtual_table(table))],
                    None => {
                        let table = self.table(name)?;
                        vec![text(&table.name), text(create::table(&table, self.generated_key()))]
                    }
                };
                listing_of(&["Table", "Create Table"], vec![row])
            }
            ShowWhat::CreateDatabase { name, if_not_exists } => self.create_database(name, *if_not_exists)?,
            ShowWhat::Variables { global } => {
                self.pairs(self.host.variables(self.session.state, scope(*global)))
            }
            ShowWhat::Status { global } => self.pairs(self.host.status(self.session, scope(*global))),
            ShowWhat::Warnings { limit } => self.warnings(limit.as_ref(), false),
            ShowWhat::Errors { limit } => self.warnings(limit.as_ref(), true),
            ShowWhat::CountWarnings => {
                let count = self.session.state.warnings.list().len();
                listing_of(&["#@@session.warning_count"], vec![vec![Value::Int(count as i64)]])
            }
            ShowWhat::CountErrors => {
                let count = self.session.state.warnings.error_count();
                listing_of(&["#@@session.error_count"], vec![vec![Value::Int(count as i64)]])
            }
            ShowWhat::ProcessList { full } => self.processes(*full)?,
            ShowWhat::Privileges => privileges::listing(self.host.dynamic_privileges()),
            ShowWhat::Engines => self.picked("ENGINES", picks::ENGINES, About::default())?,
            ShowWhat::Plugins => self.picked("PLUGINS", picks::PLUGINS, About::default())?,
            ShowWhat::CharacterSet => {
                self.picked("CHARACTER_SETS", picks::CHARACTER_SETS, About::default())?
            }
            ShowWhat::Collation => {
                by_first_column(self.picked("COLLATIONS", picks::COLLATIONS, About::default())?)
            }
            ShowWhat::OpenTables { database } => self.open_tables(database.as_deref()),
            ShowWhat::Triggers { .. } => self.picked("TRIGGERS", picks::TRIGGERS, About::default())?,
            ShowWhat::Events { .. } => self.picked("EVENTS", picks::EVENTS, About::default())?,
            ShowWhat::ProcedureStatus | ShowWhat::FunctionStatus => {
                let listing = self.picked("ROUTINES", picks::ROUTINES, About::default())?;
                Listing { like_column: 1, ..listing }
            }
            ShowWhat::BinaryLogs => return Err(mysql_error!(ER_NO_BINARY_LOGGING)),
            ShowWhat::BinaryLogStatus => {
                return empty(&[
                    "File",
                    "#Position",
                    "Binlog_Do_DB",
                    "Binlog_Ignore_DB",
                    "Executed_Gtid_Set",
                ]);
            }
            ShowWhat::Replicas => {
                return empty(&["#Server_Id", "Host", "#Port", "#Source_Id", "Replica_UUID"]);
            }
            ShowWhat::ReplicaStatus { .. } => {
                return empty(&["Replica_IO_State", "Source_Host", "Source_User"]);
            }
            ShowWhat::Profiles => {
                let rows = self.session.profiles.map_or(Vec::new(), |profiles| profiles.listed());
                let mut listing = listing_of(&["#Query_ID", "#Duration", "Query"], rows);
                if let Some((_, ty)) = listing.columns.get_mut(1) {
                    *ty = SqlType::Decimal { precision: 20, scale: 8, unsigned: false };
                }
                listing
            }
            ShowWhat::Profile { types, query, limit } => self.profile((types, *query, limit.as_ref()))?,
            _ => return absent::listing(self, what),
        }))
    }

    /// SHOW DATABASES. A program that dumps what it lists is not told of the schema sys, which cannot be made
    /// from a dump: MySQL's leaves it out by itself, MariaDB's does so only where the server says that it is
    /// a MariaDB.
    fn databases(&self) -> SqlResult<Listing> {
        let mut listing = self.picked("SCHEMATA", &[("SCHEMA_NAME", "Database")], About::default())?;
        let program = self.host.performance(self.session.state, Question::Program);
        let dumps = DUMP_PROGRAMS.iter().any(|known| program == text(known));
        if dumps && self.engine.dictionary().schema(SYS).is_none() {
            listing.rows.retain(|row| row.first() != Some(&text(SYS)));
        }
        Ok(by_first_column(listing))
    }

    fn tables(&self, full: bool, database: Option<&str>) -> SqlResult<Listing> {
        let database = self.database(database)?;
        let title = format!("Tables_in_{database}");
        let mut picks = vec![("TABLE_NAME", title.as_str())];
        if full {
            picks.push(("TABLE_TYPE", "Table_type"));
        }
        let about = About { schema: Some(known_case(&database)), table: None };
        Ok(by_first_column(self.picked("TABLES", &picks, about)?))
    }

    /// All tables are open, from when they are made or the server starts until they are dropped.
    fn open_tables(&self, database: Option<&str>) -> Listing {
        let dictionary = self.engine.dictionary();
        let in_use = self.engine.tables_in_use();
        let tables = dictionary.all_tables().filter(|table| {
            database.is_none_or(|database| table.schema == database)
                && (!self.session.state.is_restricted()
                    || self.host.may_see(self.session.state, &table.schema, Some(&table.name)))
        });
        let row = |table: &Arc<Table>| {
            let users = in_use.get(&table.id).copied().unwrap_or_default();
            vec![text(&table.schema), text(&table.name), Value::Int(users as i64), Value::Int(0)]
        };
        let rows = tables.map(row).collect();
        Listing { like_column: 1, ..listing_of(&["Database", "Table", "#In_use", "#Name_locked"], rows) }
    }

    fn table_status(&self, database: Option<&str>) -> SqlResult<Listing> {
        let database = self.database(database)?;
        let about = About { schema: Some(known_case(&database)), table: None };
        Ok(by_first_column(self.picked("TABLES", picks::TABLE_STATUS, about)?))
    }

    /// SHOW COLUMNS and DESCRIBE.
    pub fn columns(&self, name: &ObjectName, full: bool) -> SqlResult<Listing> {
        let picks = if full { picks::FULL_COLUMNS } else { picks::COLUMNS };
        let (schema, name) = match self.virtual_table(name)? {
            Some(table) if table.schema == SYSTEM_SCHEMA => {
                return self.unlisted_columns(table, picks);
            }
            Some(table) => (table.schema.to_owned(), table.name.to_owned()),
            None => match self.visible_view(name) {
                Some(view) => {
                    let source = RowSource { engine: self.engine, host: self.host, session: self.session };
                    information_schema::views::check(&source, &view)?;
                    (view.schema.clone(), view.name.clone())
                }
                None => {
                    let table = self.table(name)?;
                    if table.is_temporary() {
                        let rows = |wanted: &Wanted| {
                            information_schema::columns::rows_of(&table, self.generated_key(), wanted)
                        };
                        return self.picked_of_own("COLUMNS", picks, &rows);
                    }
                    (table.schema.clone(), table.name.clone())
                }
            },
        };
        self.picked("COLUMNS", picks, About { schema: Some(&schema), table: Some(&name) })
    }

    /// The virtual table that a statement names; `None` if it names a stored one, or the schema is ordinary.
    fn virtual_table(&self, name: &ObjectName) -> SqlResult<Option<&'static TableDecl>> {
        let Some(schema) = name.schema.as_ref().or(self.session.state.database.as_ref()) else {
            return Ok(None);
        };
        let dictionary = self.engine.dictionary();
        let found = information_schema::find_virtual(self.host, schema, &name.name);
        if schema == SYSTEM_SCHEMA {
            return Ok(found.filter(|_| dictionary.table(schema, &name.name).is_err()));
        }
        match found {
            None if virtual_tables::is_virtual_name(schema) => {
                Err(virtual_tables::unknown(schema, &name.name))
            }
            found => Ok(found),
        }
    }

    /// The view that a statement names.
    fn view(&self, name: &ObjectName) -> Option<StoredQuery> {
        let schema = name.schema.as_ref().or(self.session.state.database.as_ref())?;
        sys::view(schema, &name.name)
    }

    /// The view of the dictionary that a statement names.
    pub(crate) fn stored_view(&self, name: &ObjectName) -> Option<Arc<ViewDef>> {
        let schema = name.schema.as_ref().or(self.session.state.database.as_ref())?;
        self.engine.dictionary().view(schema, &name.name).cloned()
    }

    /// The same, unless a temporary table hides it.
    fn visible_view(&self, name: &ObjectName) -> Option<Arc<ViewDef>> {
        let is_hidden = self.table(name).is_ok_and(|table| table.is_temporary());
        if is_hidden { None } else { self.stored_view(name) }
    }

    /// Warnings of the views in a listing that are not valid any more, where SHOW warns of them.
    fn invalid(&self, what: &ShowWhat, listing: &Listing) -> Vec<SqlError> {
        let views: Vec<Arc<ViewDef>> = match what {
            ShowWhat::CreateTable(name) | ShowWhat::CreateView(name) => {
                self.stored_view(name).into_iter().collect()
            }
            ShowWhat::TableStatus { database } => {
                let Ok(database) = self.database(database.as_deref()) else { return Vec::new() };
                let is_listed = |view: &&Arc<ViewDef>| {
                    listing.rows.iter().any(|row| row.first() == Some(&text(&view.name)))
                };
                self.engine.dictionary().views(&database).filter(is_listed).cloned().collect()
            }
            _ => return Vec::new(),
        };
        let source = RowSource { engine: self.engine, host: self.host, session: self.session };
        views.iter().filter_map(|view| information_schema::views::check(&source, view).err()).collect()
    }

    /// SHOW CREATE VIEW of such a one.
    fn create_stored_view(&self, name: &ObjectName) -> SqlResult<Listing> {
        let mut rows = Vec::new();
        if let Some(view) = self.stored_view(name) {
            let state = self.session.state;
            if state.is_restricted() {
                self.host.check_table(state, &view.schema, &view.name, Access::Read)?;
                self.host.check_table(state, &view.schema, &view.name, Access::ShowView)?;
            }
            let statement = create::stored_view(&view, state.database.as_deref());
            let (client, connection) = (view.client_collation.get(), view.connection_collation.get());
            rows.push(vec![
                text(&view.name),
                text(statement),
                text(client.charset.name()),
                text(connection.name),
            ]);
        }
        let names = ["View", "Create View", "character_set_client", "collation_connection"];
        Ok(listing_of(&names, rows))
    }

    /// SHOW CREATE VIEW.
    fn create_view(&self, name: &ObjectName) -> Listing {
        let rows = self.view(name).into_iter().map(|view| {
            let statement = text(create::view(&view, self.session.state.database.as_deref()));
            let (charset, collation) = information_schema::views::MADE_IN;
            vec![text(&view.name), statement, text(charset), text(collation)]
        });
        listing_of(&["View", "Create View", "character_set_client", "collation_connection"], rows.collect())
    }

    /// The same of one that SHOW CREATE TABLE shows.
    fn shown_virtual_table(&self, name: &ObjectName) -> SqlResult<Option<&'static TableDecl>> {
        let schema = name.schema.as_ref().or(self.session.state.database.as_ref());
        match self.virtual_table(name) {
            Ok(found) => Ok(found.filter(|table| table.schema != SYSTEM_SCHEMA)),
            Err(_) if schema.is_some_and(|schema| schema.eq_ignore_ascii_case(PERFORMANCE_SCHEMA)) => {
                Err(mysql_error!(ER_NO_SUCH_TABLE, PERFORMANCE_SCHEMA, name.name))
            }
            Err(error) => Err(error),
        }
    }

    /// The columns of a table that information_schema does not list.
    fn unlisted_columns(&self, table: &'static TableDecl, picks: &[picks::Pick]) -> SqlResult<Listing> {
        let rows = information_schema::columns::rows_of_virtual(table, &Wanted::everything());
        picks::listing(&information_schema::columns::columns_view::DECL, picks, rows)
    }

    /// SHOW INDEX.
    fn indexes(&self, name: &ObjectName) -> SqlResult<Listing> {
        let (schema, name) = match self.virtual_table(name)? {
            Some(table) => (table.schema.to_owned(), table.name.to_owned()),
            None => match self.visible_view(name) {
                Some(view) => (view.schema.clone(), view.name.clone()),
                None => {
                    let table = self.table(name)?;
                    if table.is_temporary() {
                        let rows = |wanted: &Wanted| {
                            information_schema::indexes::rows_of(&table, self.generated_key(), wanted)
                        };
                        return self.picked_of_own("STATISTICS", picks::INDEXES, &rows);
                    }
                    (table.schema.clone(), table.name.clone())
                }
            },
        };
        self.picked("STATISTICS", picks::INDEXES, About { schema: Some(&schema), table: Some(&name) })
    }

    fn create_database(&self, name: &str, if_not_exists: bool) -> SqlResult<Listing> {
        let dictionary = self.engine.dictionary();
        let made_up = |known: &&str| Schema { name: (*known).to_owned(), collation: CollationId::default() };
        let schema = match dictionary.schema(name) {
            Some(schema) => Some((**schema).clone()),
            None => {
                virtual_tables::VIRTUAL.iter().find(|known| known.eq_ignore_ascii_case(name)).map(made_up)
            }
        };
        let schema = schema.ok_or_else(|| mysql_error!(ER_BAD_DB_ERROR, name))?;
        let row = vec![text(name), text(create::schema(&schema, if_not_exists))];
        Ok(listing_of(&["Database", "Create Database"], vec![row]))
    }

    fn pairs(&self, pairs: Vec<(String, String)>) -> Listing {
        let rows = pairs.into_iter().map(|(name, value)| vec![text(name), text(value)]).collect();
        listing_of(&["Variable_name", "Value"], rows)
    }

    fn warnings(&self, limit: Option<&Limit>, errors_only: bool) -> Listing {
        let (skip, count) = limit.map_or((0, usize::MAX), bounds);
        let listed = self.session.state.warnings.list().iter();
        let rows = listed
            .filter(|condition| !errors_only || condition.level == Level::Error)
            .skip(skip)
            .take(count)
            .map(|condition| {
                vec![
                    text(condition.level.name()),
                    Value::Int(i64::from(condition.code)),
                    text(&condition.message),
                ]
            })
            .collect();
        listing_of(&["Level", "#Code", "Message"], rows)
    }

    fn profile(&self, (types, query, limit): profile::Asked<'_>) -> SqlResult<Listing> {
        let id = self.session.profiles.map_or(0, |profiles| profiles.asked_for(query));
        let columns = profile::columns_of(types);
        let condition = Some(("QUERY_ID", Value::Int(id)));
        let mut listing = self.picked_where("PROFILING", &columns, About::default(), condition)?;
        let (skip, count) = limit.map_or((0, usize::MAX), bounds);
        listing.rows = listing.rows.into_iter().skip(skip).take(count).collect();
        Ok(listing)
    }

    fn processes(&self, full: bool) -> SqlResult<Listing> {
        let mut listing = self.picked("PROCESSLIST", picks::PROCESSES, About::default())?;
        if !full {
            for row in &mut listing.rows {
                if let Some(Value::Bytes(statement)) = row.get_mut(7) {
                    statement.truncate(100);
                }
            }
        }
        Ok(listing)
    }
}

fn scope(global: bool) -> Scope {
    if global { Scope::Global } else { Scope::Session }
}

/// Rows to skip and to take. Anything but numbers (a parameter) takes all.
fn bounds(limit: &Limit) -> (usize, usize) {
    let number = |expr: &palisade_parser::ast::Expr| match expr {
        palisade_parser::ast::Expr::Literal(palisade_parser::ast::Literal::Integer(value)) => {
            Some(usize::try_from(*value).unwrap_or(usize::MAX))
        }
        _ => None,
    };
    let skip = limit.offset.as_ref().and_then(number).unwrap_or(0);
    (skip, number(&limit.count).unwrap_or(usize::MAX))
}

/// A schema's name as it is kept: that of a virtual one is found in any case.
fn known_case(name: &str) -> &str {
    virtual_tables::VIRTUAL.into_iter().find(|known| known.eq_ignore_ascii_case(name)).unwrap_or(name)
}
