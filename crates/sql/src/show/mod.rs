//! SHOW, DESCRIBE and information_schema, made from the dictionary.
//!
//! | module | what it holds |
//! |---|---|
//! | [`information_schema`] | the tables that describe the dictionary |
//! | [`create`] | SHOW CREATE TABLE and SHOW CREATE DATABASE |
//! | [`storage`] | those that describe storage, and what there is none of |
//! | `innodb_columns`, `units` | two of those |
//! | `absent` | what there is none of |
//! | [`privileges`] | SHOW PRIVILEGES |
//! | [`schema`] | virtual tables as FROM sees them |
//! | [`answer`] | filtering and sending listings |
//!
//! [`Shower::listing`] answers a SHOW with a table of values; LIKE is applied here, WHERE by the front door, which can bind
//! expressions.

mod absent;
pub mod answer;
pub mod create;
pub mod information_schema;
mod innodb_columns;
pub mod privileges;
pub mod schema;
pub mod storage;
mod units;

use palisade_base::error_catalogue::{ER_BAD_DB_ERROR, ER_NO_BINARY_LOGGING, ER_NO_DB_ERROR};
use palisade_base::mysql_error;
use palisade_catalog::{CollationId, Schema, SqlType, Value};
use palisade_engine::{Engine, Table};
use palisade_expr::place::At;
use palisade_expr::warning::Level;
use palisade_parser::ast::{Limit, ObjectName, ShowWhat};
use std::sync::Arc;

use self::information_schema::{ServerTable, Source};
use crate::profile;
use crate::{Host, Scope, SessionView, SqlError, SqlResult, VirtualTable};

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

/// Picks columns of a virtual table by name, under new names.
fn picked(
    table: VirtualTable,
    picks: &[(&str, &str)],
    keep: impl Fn(&[Value]) -> bool,
) -> SqlResult<Listing> {
    let (mut places, mut columns) = (Vec::with_capacity(picks.len()), Vec::with_capacity(picks.len()));
    for (from, name) in picks {
        let mut known = table.columns.iter().enumerate();
        let found = known.find(|(_, (known, _))| known.eq_ignore_ascii_case(from));
        let Some((place, (_, ty))) = found else {
            return Err(SqlError::internal(&format!("the virtual table has no column {from}")));
        };
        places.push(place);
        columns.push(((*name).to_owned(), ty.clone()));
    }
    let kept = table.rows.into_iter().filter(|row| keep(row));
    let rows = kept.map(|row| at_places(&row, &places)).collect::<SqlResult<_>>()?;
    Ok(Listing { columns, rows, like_column: 0 })
}

/// The values of a row at `places`.
fn at_places(row: &[Value], places: &[usize]) -> SqlResult<Vec<Value>> {
    places.iter().map(|place| row.at(*place).cloned()).collect()
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
    /// A table of information_schema, the dictionary's or the server's own.
    pub fn information_schema(&self, name: &str, with_rows: bool) -> Option<VirtualTable> {
        let dictionary = self.engine.dictionary();
        let tells_of_columns = with_rows && name.eq_ignore_ascii_case("COLUMNS");
        let server_table = |(schema, name): (String, String)| {
            let table = match tells_of_columns {
                true => self.host.virtual_table(self.session, &schema, &name, false),
                false => None,
            };
            ServerTable { schema, name, columns: table.map_or(Vec::new(), |table| table.columns) }
        };
        let server_tables: Vec<_> = self.host.virtual_table_names().into_iter().map(server_table).collect();
        let source = Source {
            dictionary: &dictionary,
            zone: &self.session.state.variables.time_zone,
            server_tables: &server_tables,
            profiles: self.session.profiles,
            engine: self.engine,
        };
        let made = information_schema::table(&source, name, with_rows).or_else(|| {
            self.host.virtual_table(self.session, "information_schema", &name.to_ascii_uppercase(), with_rows)
        });
        made.map(|table| if self.session.state.restricted { self.visible(name, table) } else { table })
    }

    /// The rows about what the session's account may know of.
    fn visible(&self, of: &str, mut table: VirtualTable) -> VirtualTable {
        let place = |names: &[&str]| table.columns.iter().position(|(name, _)| names.contains(name));
        let Some(schema) = place(&["TABLE_SCHEMA", "SCHEMA_NAME", "CONSTRAINT_SCHEMA"]) else { return table };
        let name = place(&["TABLE_NAME"]);
        let text = |value: Option<&Value>| match value {
            Some(Value::Bytes(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        };
        let granted = place(&["PRIVILEGES"]);
        let tells_of_columns =
            ["COLUMNS", "KEY_COLUMN_USAGE"].iter().any(|known| known.eq_ignore_ascii_case(of));
        table.rows.retain_mut(|row| {
            let name = name.map(|place| text(row.get(place)));
            let database = text(row.get(schema));
            if !self.host.may_see(self.session.state, &database, name.as_deref()) {
                return false;
            }
            let Some(name) = name.filter(|_| tells_of_columns) else { return true };
            let Some(own) = self.host.column_privileges(self.session.state, &database, &name) else {
                return true;
            };
            let sees = !own.is_empty();
            if let Some(privileges) = granted.and_then(|place| row.get_mut(place)) {
                *privileges = Value::bytes(own);
            }
            sees
        });
        table
    }

    fn required(&self, name: &str) -> SqlResult<VirtualTable> {
        let table = self.information_schema(name, true);
        table.ok_or_else(|| SqlError::internal(&format!("there is no information_schema.{name}")))
    }

    fn database(&self, name: Option<&str>) -> SqlResult<String> {
        let name = match name {
            Some(name) => name.to_owned(),
            None => self.session.state.database.clone().ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))?,
        };
        if schema::is_virtual_name(&name) || self.engine.dictionary().schema(&name).is_some() {
            return Ok(name);
        }
        Err(mysql_error!(ER_BAD_DB_ERROR, name))
    }

    fn table(&self, name: &ObjectName) -> SqlResult<Arc<Table>> {
        let schema = match &name.schema {
            Some(schema) => schema.clone(),
            None => self.session.state.database.clone().ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))?,
        };
        Ok(self.engine.dictionary().table(&schema, &name.name)?.clone())
    }

    /// What a SHOW answers; `None` for those that are the host's business or not supported.
    pub fn listing(&self, what: &ShowWhat) -> SqlResult<Option<Listing>> {
        Ok(Some(match what {
            ShowWhat::Databases => self.databases(),
            ShowWhat::Tables { full, database, .. } => self.tables(*full, database.as_deref())?,
            ShowWhat::TableStatus { database } => self.table_status(database.as_deref())?,
            ShowWhat::Columns { full, table, .. } => self.columns(table, *full)?,
            ShowWhat::Index { table, .. } => self.indexes(table)?,
            ShowWhat::CreateTable(name) => {
                let table = self.table(name)?;
                listing_of(
                    &["Table", "Create Table"],
                    vec![vec![text(&table.name), text(create::table(&table))]],
                )
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
            ShowWhat::Engines => {
                let picks = [
                    ("ENGINE", "Engine"),
                    ("SUPPORT", "Support"),
                    ("COMMENT", "Comment"),
                    ("TRANSACTIONS", "Transactions"),
                    ("XA", "XA"),
                    ("SAVEPOINTS", "Savepoints"),
                ];
                picked(self.required("ENGINES")?, &picks, |_| true)?
            }
            ShowWhat::Plugins => {
                let picks = [
                    ("PLUGIN_NAME", "Name"),
                    ("PLUGIN_STATUS", "Status"),
                    ("PLUGIN_TYPE", "Type"),
                    ("PLUGIN_LIBRARY", "Library"),
                    ("PLUGIN_LICENSE", "License"),
                ];
                picked(self.required("PLUGINS")?, &picks, |_| true)?
            }
            ShowWhat::CharacterSet => {
                let picks = [
                    ("CHARACTER_SET_NAME", "Charset"),
                    ("DESCRIPTION", "Description"),
                    ("DEFAULT_COLLATE_NAME", "Default collation"),
                    ("MAXLEN", "Maxlen"),
                ];
                picked(self.required("CHARACTER_SETS")?, &picks, |_| true)?
            }
            ShowWhat::Collation => {
                let picks = [
                    ("COLLATION_NAME", "Collation"),
                    ("CHARACTER_SET_NAME", "Charset"),
                    ("ID", "Id"),
                    ("IS_DEFAULT", "Default"),
                    ("IS_COMPILED", "Compiled"),
                    ("SORTLEN", "Sortlen"),
                    ("PAD_ATTRIBUTE", "Pad_attribute"),
                ];
                by_first_column(picked(self.required("COLLATIONS")?, &picks, |_| true)?)
            }
            ShowWhat::OpenTables { database } => self.open_tables(database.as_deref()),
            ShowWhat::Triggers { .. } => {
                return empty(&[
                    "Trigger",
                    "Event",
                    "Table",
                    "Statement",
                    "Timing",
                    "Created",
                    "sql_mode",
                    "Definer",
                    "character_set_client",
                    "collation_connection",
                    "Database Collation",
                ]);
            }
            ShowWhat::Events { .. } => {
                return empty(&[
                    "Db",
                    "Name",
                    "Definer",
                    "Time zone",
                    "Type",
                    "Execute at",
                    "Interval value",
                    "Interval field",
                    "Starts",
                    "Ends",
                    "Status",
                    "#Originator",
                    "character_set_client",
                    "collation_connection",
                    "Database Collation",
                ]);
            }
            ShowWhat::ProcedureStatus | ShowWhat::FunctionStatus => {
                let mut none = listing_of(
                    &[
                        "Db",
                        "Name",
                        "Type",
                        "Language",
                        "Definer",
                        "Modified",
                        "Created",
                        "Security_type",
                        "Comment",
                        "character_set_client",
                        "collation_connection",
                        "Database Collation",
                    ],
                    Vec::new(),
                );
                none.like_column = 1;
                none
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

    fn databases(&self) -> Listing {
        let dictionary = self.engine.dictionary();
        let mut names: Vec<String> = dictionary.schemas().map(|schema| schema.name.clone()).collect();
        names.extend(schema::VIRTUAL.map(str::to_owned));
        names.retain(|name| {
            !self.session.state.restricted || self.host.may_see(self.session.state, name, None)
        });
        names.sort();
        listing_of(&["Database"], names.into_iter().map(|name| vec![text(name)]).collect())
    }

    fn tables(&self, full: bool, database: Option<&str>) -> SqlResult<Listing> {
        let database = self.database(database)?;
        let wanted = text(&database);
        let title = format!("Tables_in_{database}");
        let mut picks = vec![("TABLE_NAME", title.as_str())];
        if full {
            picks.push(("TABLE_TYPE", "Table_type"));
        }
        picked(self.required("TABLES")?, &picks, |row| row.get(1) == Some(&wanted))
    }

    /// All tables are open, from when they are made or the server starts until they are dropped.
    fn open_tables(&self, database: Option<&str>) -> Listing {
        let dictionary = self.engine.dictionary();
        let in_use = self.engine.tables_in_use();
        let tables = dictionary.all_tables().filter(|table| {
            database.is_none_or(|database| table.schema == database)
                && (!self.session.state.restricted
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
        let wanted = text(self.database(database)?);
        let picks = [
            ("TABLE_NAME", "Name"),
            ("ENGINE", "Engine"),
            ("VERSION", "Version"),
            ("ROW_FORMAT", "Row_format"),
            ("TABLE_ROWS", "Rows"),
            ("AVG_ROW_LENGTH", "Avg_row_length"),
            ("DATA_LENGTH", "Data_length"),
            ("MAX_DATA_LENGTH", "Max_data_length"),
            ("INDEX_LENGTH", "Index_length"),
            ("DATA_FREE", "Data_free"),
            ("AUTO_INCREMENT", "Auto_increment"),
            ("CREATE_TIME", "Create_time"),
            ("UPDATE_TIME", "Update_time"),
            ("CHECK_TIME", "Check_time"),
            ("TABLE_COLLATION", "Collation"),
            ("CHECKSUM", "Checksum"),
            ("CREATE_OPTIONS", "Create_options"),
            ("TABLE_COMMENT", "Comment"),
        ];
        picked(self.required("TABLES")?, &picks, |row| row.get(1) == Some(&wanted))
    }

    /// SHOW COLUMNS and DESCRIBE.
    pub fn columns(&self, name: &ObjectName, full: bool) -> SqlResult<Listing> {
        let schema = name.schema.clone().or_else(|| self.session.state.database.clone());
        let is_virtual = |schema: &String| {
            schema.eq_ignore_ascii_case("information_schema")
                || schema == crate::ddl::table::SYSTEM
                    && self.engine.dictionary().table(schema, &name.name).is_err()
                    && schema::find(self, schema, &name.name, false).is_some()
        };
        if let Some(schema) = schema.filter(is_virtual) {
            return self.virtual_columns(&schema, &name.name, full);
        }
        let table = self.table(name)?;
        let row = |(place, column): (usize, &palisade_catalog::Column)| {
            let collation = match column.sql_type.is_text() {
                true => text(column.sql_type.collation().get().name),
                false => Value::Null,
            };
            let default = create::default_text(column).map_or(Value::Null, text);
            column_values(
                full,
                [text(&column.name), text(column.type_text())],
                collation,
                column.nullable,
                text(information_schema::column_key(&table, place)),
                default,
                [text(information_schema::column_extra(column)), text(&column.comment)],
            )
        };
        let own = self.host.column_privileges(self.session.state, &table.schema, &table.name);
        let rows = match own {
            Some(own) if own.is_empty() => Vec::new(),
            _ => information_schema::shown_columns(&table).map(row).collect(),
        };
        Ok(listing_of(column_titles(full), rows))
    }

    fn virtual_columns(&self, schema: &str, name: &str, full: bool) -> SqlResult<Listing> {
        let Some(table) = schema::find(self, schema, name, false) else {
            return Err(mysql_error!(palisade_base::error_catalogue::ER_UNKNOWN_TABLE, name, schema));
        };
        let row = |(name, ty): &(&str, SqlType)| {
            let collation = if ty.is_text() { text(ty.collation().get().name) } else { Value::Null };
            let names = [text(name), text(ty.declaration())];
            column_values(full, names, collation, true, text(""), Value::Null, [text(""), text("")])
        };
        Ok(listing_of(column_titles(full), table.columns.iter().map(row).collect()))
    }

    fn indexes(&self, name: &ObjectName) -> SqlResult<Listing> {
        let table = self.table(name)?;
        let titles = [
            "Table",
            "#Non_unique",
            "Key_name",
            "#Seq_in_index",
            "Column_name",
            "Collation",
            "#Cardinality",
            "#Sub_part",
            "Packed",
            "Null",
            "Index_type",
            "Comment",
            "Index_comment",
            "Visible",
            "Expression",
        ];
        let places = [2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
        let rows = information_schema::index_rows(&table);
        let rows = rows.iter().map(|row| at_places(row, &places)).collect::<SqlResult<_>>()?;
        Ok(listing_of(&titles, rows))
    }

    fn create_database(&self, name: &str, if_not_exists: bool) -> SqlResult<Listing> {
        let dictionary = self.engine.dictionary();
        let made_up = |known: &&str| Schema { name: (*known).to_owned(), collation: CollationId::default() };
        let schema = match dictionary.schema(name) {
            Some(schema) => Some((**schema).clone()),
            None => schema::VIRTUAL.iter().find(|known| known.eq_ignore_ascii_case(name)).map(made_up),
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
        let is_asked_for = |row: &[Value]| row.first() == Some(&Value::Int(id));
        let mut listing = picked(self.required("PROFILING")?, &profile::columns_of(types), is_asked_for)?;
        let (skip, count) = limit.map_or((0, usize::MAX), bounds);
        listing.rows = listing.rows.into_iter().skip(skip).take(count).collect();
        Ok(listing)
    }

    fn processes(&self, full: bool) -> SqlResult<Listing> {
        let picks = [
            ("ID", "Id"),
            ("USER", "User"),
            ("HOST", "Host"),
            ("DB", "db"),
            ("COMMAND", "Command"),
            ("TIME", "Time"),
            ("STATE", "State"),
            ("INFO", "Info"),
        ];
        let mut listing = picked(self.required("PROCESSLIST")?, &picks, |_| true)?;
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

fn column_titles(full: bool) -> &'static [&'static str] {
    match full {
        true => &["Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"],
        false => &["Field", "Type", "Null", "Key", "Default", "Extra"],
    }
}

fn column_values(
    full: bool,
    [name, ty]: [Value; 2],
    collation: Value,
    nullable: bool,
    key: Value,
    default: Value,
    [extra, comment]: [Value; 2],
) -> Vec<Value> {
    let nullable = text(if nullable { "YES" } else { "NO" });
    match full {
        true => {
            let rights = text(information_schema::COLUMN_PRIVILEGES);
            vec![name, ty, collation, nullable, key, default, extra, rights, comment]
        }
        false => vec![name, ty, nullable, key, default, extra],
    }
}
