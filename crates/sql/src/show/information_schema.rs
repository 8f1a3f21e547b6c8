//! information_schema, as far as it describes the dictionary and storage. Its rows are made when a statement
//! pulls them; the tables about the server are the server's.
//!
//! | module | tables |
//! |---|---|
//! | `texts` | character sets, collations, keywords, engines, plugins |
//! | `schemas` | SCHEMATA and its extensions |
//! | [`tables`] | TABLES, PARTITIONS and their extensions |
//! | [`columns`] | COLUMNS and its extensions |
//! | [`indexes`] | STATISTICS |
//! | `constraints` | keys, foreign keys, CHECK |
//! | `optimizer_trace` | OPTIMIZER_TRACE |
//! | `profiling` | PROFILING |
//! | `storage`, `innodb_indexes`, `innodb_columns`, `compression` | INNODB_..., FILES |
//! | `units` | ST_UNITS_OF_MEASURE |
//! | `views` | VIEWS |
//! | `temporary` | temporary tables of all sessions |
//! | `absent`, `absent_views` | what there is none of: routines, triggers, events, roles |
//!
//! Rows that are about stored tables are made table by table (`by_table`): the rows of one table at once,
//! when the first of them is pulled. Of the schemas and tables only those are looked at that [`Wanted`] may
//! want.

mod absent;
mod absent_views;
pub mod columns;
mod compression;
mod constraints;
pub mod indexes;
mod innodb_columns;
mod innodb_indexes;
mod optimizer_trace;
mod profiling;
mod schemas;
mod storage;
pub mod tables;
mod temporary;
mod texts;
mod units;
pub mod views;

use std::sync::Arc;

use palisade_catalog::descriptor::{Column, Index, Schema, Visibility};
use palisade_catalog::{CollationId, Timestamp, Value};
use palisade_engine::{Dictionary, Table};
use palisade_schema::{Origin, Registry, Row, Rows, TableDecl, Wanted};
use palisade_session::virtual_tables::{self, DictionaryTables, RowSource, StoredQuery};

use crate::ddl::generated_key::GeneratedKey;
use crate::{VirtualTables, sys};

/// The dictionary as an origin of rows.
pub struct FromDictionary;

impl Origin for FromDictionary {
    type Source<'a> = RowSource<'a>;
}

type Definition = palisade_schema::Definition<FromDictionary>;
type Tables = &'static [Definition];

/// The tables that are defined here.
pub static REGISTRY: Registry<FromDictionary> = Registry {
    listed: &[
        texts::TABLES,
        schemas::TABLES,
        tables::TABLES,
        columns::TABLES,
        indexes::TABLES,
        constraints::TABLES,
        optimizer_trace::TABLES,
        profiling::TABLES,
        storage::TABLES,
        innodb_indexes::TABLES,
        innodb_columns::TABLES,
        compression::TABLES,
        units::TABLES,
        absent::TABLES,
        absent_views::TABLES,
        temporary::TABLES,
        views::TABLES,
        sys::TABLES,
    ],
    unlisted: &[],
};

/// Collation of the schema's own names.
const NAMES: CollationId = CollationId::UTF8MB3_GENERAL_CI;

/// What MySQL 5.7 and MariaDB call tables that have other names since: they are found by these, and listed by
/// the others.
const FORMER_NAMES: [(&str, &str); 4] = [
    ("INNODB_SYS_DATAFILES", "INNODB_DATAFILES"),
    ("INNODB_SYS_TABLES", "INNODB_TABLES"),
    ("INNODB_SYS_TABLESPACES", "INNODB_TABLESPACES"),
    ("INNODB_SYS_TABLESTATS", "INNODB_TABLESTATS"),
];

/// The table of that name, in any case.
pub fn find(schema: &str, name: &str) -> Option<&'static TableDecl> {
    let former = FORMER_NAMES.into_iter().find(|(former, _)| former.eq_ignore_ascii_case(name));
    REGISTRY.find(schema, former.map_or(name, |(_, now)| now)).or_else(|| sys::find(schema, name))
}

/// The tables that are defined here, for those who find and read virtual tables.
pub struct InformationSchema;

impl DictionaryTables for InformationSchema {
    fn find(&self, schema: &str, name: &str) -> Option<&'static TableDecl> {
        find(schema, name)
    }

    fn rows(&self, table: &TableDecl, source: &RowSource<'_>, wanted: &Wanted) -> Option<Rows> {
        REGISTRY.rows(table, source, wanted)
    }

    fn view(&self, schema: &str, name: &str) -> Option<StoredQuery> {
        sys::view(schema, name)
    }
}

/// The virtual table of that name, in any case: one of those here, or of the server's.
pub fn find_virtual(host: &dyn VirtualTables, schema: &str, name: &str) -> Option<&'static TableDecl> {
    virtual_tables::find(&InformationSchema, host, schema, name)
}

/// All virtual tables that are listed: those of here and the server's.
fn declarations(host: &dyn VirtualTables) -> Vec<&'static TableDecl> {
    REGISTRY.declarations().chain(host.virtual_tables()).chain(sys::declarations()).collect()
}

/// The virtual tables that are listed and may be wanted.
fn wanted_declarations(source: &RowSource<'_>, wanted: &Wanted) -> Vec<&'static TableDecl> {
    let mut listed = declarations(source.host);
    listed.retain(|table| wanted.admits(table.schema, table.name));
    listed
}

/// A text value.
pub(super) fn text(value: impl AsRef<str>) -> Value {
    Value::bytes(value.as_ref())
}

/// A number; NULL if it is none of 64 bits.
fn number(value: impl TryInto<u64>) -> Value {
    value.try_into().map_or(Value::Null, Value::UInt)
}

fn optional(value: Option<impl TryInto<u64>>) -> Value {
    value.map_or(Value::Null, number)
}

fn yes_no(yes: bool) -> Value {
    text(if yes { "YES" } else { "NO" })
}

fn optional_yes_no(yes: Option<bool>) -> Value {
    yes.map_or(Value::Null, yes_no)
}

fn catalog() -> Value {
    text("def")
}

/// A moment, without its fraction of a second.
fn second(micros: i64) -> Value {
    Value::Timestamp(Timestamp(micros / 1_000_000 * 1_000_000))
}

/// The columns SQL shows, with their positions.
pub fn shown_columns(table: &Table) -> impl Iterator<Item = (usize, &Column)> {
    let columns = table.descriptor().def().columns.iter().enumerate();
    columns.filter(|(_, column)| column.visibility != Visibility::System)
}

/// The indexes SQL shows, with their numbers.
pub fn shown_indexes(table: &Table) -> impl Iterator<Item = (usize, &Index)> {
    table.descriptor().def().indexes.iter().enumerate().filter(|(_, index)| !index.hidden)
}

/// The columns that are listed where a generated key may be hidden, with their places.
pub fn listed_columns(table: &Table, key: GeneratedKey) -> impl Iterator<Item = (usize, &Column)> {
    let def = table.descriptor().def();
    shown_columns(table).filter(move |(place, _)| !key.hides_column(def, *place))
}

/// The same of indexes.
pub fn listed_indexes(table: &Table, key: GeneratedKey) -> impl Iterator<Item = (usize, &Index)> {
    let def = table.descriptor().def();
    shown_indexes(table).filter(move |(_, index)| !key.hides_index(def, index.primary))
}

/// Whether the session has generated keys shown.
fn generated_key(source: &RowSource<'_>) -> GeneratedKey {
    GeneratedKey::of(source.session.state.variables.shows_generated_keys)
}

/// The stored schemas that may be wanted, in order of name.
fn wanted_schemas(dictionary: &Dictionary, wanted: &Wanted) -> Vec<Arc<Schema>> {
    match wanted.schemas.exact() {
        Some(names) => names.into_iter().filter_map(|name| dictionary.schema(name)).cloned().collect(),
        None => dictionary.schemas().filter(|schema| wanted.schemas.admits(&schema.name)).cloned().collect(),
    }
}

/// The stored tables of a schema that may be wanted, in order of name.
fn tables_in(dictionary: &Dictionary, schema: &str, wanted: &Wanted) -> Vec<Arc<Table>> {
    match wanted.tables.exact() {
        Some(names) => {
            names.into_iter().filter_map(|name| dictionary.table(schema, name).ok()).cloned().collect()
        }
        None => {
            dictionary.tables(schema).filter(|table| wanted.tables.admits(&table.name)).cloned().collect()
        }
    }
}

/// Rows about the stored tables that may be wanted; `rows` makes those of one table.
fn by_table(
    source: &RowSource<'_>,
    wanted: &Wanted,
    rows: impl Fn(&Arc<Table>, &Wanted) -> Vec<Row> + Send + 'static,
) -> Rows {
    let (dictionary, wanted) = (source.engine.dictionary(), wanted.clone());
    let schemas = wanted_schemas(&dictionary, &wanted);
    let of_schemas = wanted.clone();
    let tables =
        schemas.into_iter().flat_map(move |schema| tables_in(&dictionary, &schema.name, &of_schemas));
    Box::new(tables.flat_map(move |table| rows(&table, &wanted)))
}

/// Rows of subjects that live as long as the server.
fn of_static<S: 'static + Send + Copy>(
    subjects: impl IntoIterator<Item = S, IntoIter: Send + 'static>,
    row: fn(&S, &Wanted) -> Row,
    wanted: &Wanted,
) -> Rows {
    let wanted = wanted.clone();
    Box::new(subjects.into_iter().map(move |subject| row(&subject, &wanted)))
}
