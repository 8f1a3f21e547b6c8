//! information_schema, as far as it describes the dictionary. Its rows are made when a statement reads them.
//!
//! Each table is declared once: its columns with their types, and the function that makes its rows. Tables
//! for which there is nothing to tell (views, triggers, ...) have their columns and no rows.

use std::sync::Arc;

use palisade_catalog::descriptor::{Column, DefaultValue, Index, Schema, Visibility};
use palisade_catalog::types::{IntWidth, LobSize};
use palisade_catalog::{Charset, Collation, CollationId, SqlType, Timestamp, Value, Zone};
use palisade_engine::{Dictionary, Engine, Table};

use super::create;
use crate::VirtualTable;
use crate::ddl::foreign::parent_index;
use crate::profile::Profiles;

pub(super) type Rows = Vec<Vec<Value>>;

/// What rows are made from.
pub struct Source<'a> {
    /// The dictionary.
    pub dictionary: &'a Dictionary,
    /// The session's zone, for creation times.
    pub zone: &'a Zone,
    /// The server's own virtual tables.
    pub server_tables: &'a [ServerTable],
    /// The engine.
    pub engine: &'a Engine,
    /// The session's profiles.
    pub profiles: Option<&'a Profiles>,
}

/// A virtual table of the server.
pub struct ServerTable {
    /// Where it is.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its columns; none if what is asked for does not tell of them.
    pub columns: Vec<(&'static str, SqlType)>,
}

/// A table of information_schema.
pub(super) struct Definition {
    /// Its name, in upper case.
    pub(super) name: &'static str,
    /// `NAME type` pairs: `s64` VARCHAR(64), `t` LONGTEXT, `x` TEXT, `i` BIGINT, `j` INT, `u` INT UNSIGNED,
    /// `n` BIGINT UNSIGNED, `b` TINYINT, `d` DATETIME, `m` DECIMAL(9,6), `f` DOUBLE.
    pub(super) columns: &'static str,
    /// How its rows are made.
    pub(super) rows: fn(&Source<'_>) -> Rows,
}

pub(super) fn none(_: &Source<'_>) -> Rows {
    Vec::new()
}

static TABLES: &[Definition] = &[
    Definition {
        name: "CHARACTER_SETS",
        columns: "CHARACTER_SET_NAME s64,DEFAULT_COLLATE_NAME s64,DESCRIPTION s2048,MAXLEN n",
        rows: character_sets,
    },
    Definition {
        name: "CHECK_CONSTRAINTS",
        columns: "CONSTRAINT_CATALOG s64,CONSTRAINT_SCHEMA s64,CONSTRAINT_NAME s64,CHECK_CLAUSE t",
        rows: check_constraints,
    },
    Definition {
        name: "COLLATIONS",
        columns: "COLLATION_NAME s64,CHARACTER_SET_NAME s64,ID n,IS_DEFAULT s3,IS_COMPILED s3,SORTLEN n,PAD_ATTRIBUTE s9",
        rows: collations,
    },
    Definition {
        name: "COLLATION_CHARACTER_SET_APPLICABILITY",
        columns: "COLLATION_NAME s64,CHARACTER_SET_NAME s64",
        rows: applicability,
    },
    Definition {
        name: "COLUMNS",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,COLUMN_NAME s64,ORDINAL_POSITION n,COLUMN_DEFAULT t,IS_NULLABLE s3,DATA_TYPE t,CHARACTER_MAXIMUM_LENGTH i,CHARACTER_OCTET_LENGTH i,NUMERIC_PRECISION n,NUMERIC_SCALE n,DATETIME_PRECISION n,CHARACTER_SET_NAME s64,COLLATION_NAME s64,COLUMN_TYPE t,COLUMN_KEY s3,EXTRA s256,PRIVILEGES s154,COLUMN_COMMENT t,GENERATION_EXPRESSION t,SRS_ID n",
        rows: columns,
    },
    Definition {
        name: "COLUMN_PRIVILEGES",
        columns: "GRANTEE s292,TABLE_CATALOG s512,TABLE_SCHEMA s64,TABLE_NAME s64,COLUMN_NAME s64,PRIVILEGE_TYPE s64,IS_GRANTABLE s3",
        rows: none,
    },
    Definition {
        name: "COLUMN_STATISTICS",
        columns: "SCHEMA_NAME s64,TABLE_NAME s64,COLUMN_NAME s64,HISTOGRAM t",
        rows: none,
    },
    Definition {
        name: "ENGINES",
        columns: "ENGINE s64,SUPPORT s8,COMMENT s80,TRANSACTIONS s3,XA s3,SAVEPOINTS s3",
        rows: engines,
    },
    Definition {
        name: "EVENTS",
        columns: "EVENT_CATALOG s64,EVENT_SCHEMA s64,EVENT_NAME s64,DEFINER s288,TIME_ZONE s64,EVENT_BODY s3,EVENT_DEFINITION t,EVENT_TYPE s9,EXECUTE_AT d,INTERVAL_VALUE s256,INTERVAL_FIELD s18,SQL_MODE t,STARTS d,ENDS d,STATUS s21,ON_COMPLETION s12,CREATED d,LAST_ALTERED d,LAST_EXECUTED d,EVENT_COMMENT t,ORIGINATOR n,CHARACTER_SET_CLIENT s64,COLLATION_CONNECTION s64,DATABASE_COLLATION s64",
        rows: none,
    },
    Definition { name: "KEYWORDS", columns: "WORD s128,RESERVED j", rows: keywords },
    Definition {
        name: "KEY_COLUMN_USAGE",
        columns: "CONSTRAINT_CATALOG s64,CONSTRAINT_SCHEMA s64,CONSTRAINT_NAME s64,TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,COLUMN_NAME s64,ORDINAL_POSITION n,POSITION_IN_UNIQUE_CONSTRAINT n,REFERENCED_TABLE_SCHEMA s64,REFERENCED_TABLE_NAME s64,REFERENCED_COLUMN_NAME s64",
        rows: key_column_usage,
    },
    Definition {
        name: "PARAMETERS",
        columns: "SPECIFIC_CATALOG s64,SPECIFIC_SCHEMA s64,SPECIFIC_NAME s64,ORDINAL_POSITION n,PARAMETER_MODE s5,PARAMETER_NAME s64,DATA_TYPE t,CHARACTER_MAXIMUM_LENGTH i,CHARACTER_OCTET_LENGTH i,NUMERIC_PRECISION n,NUMERIC_SCALE i,DATETIME_PRECISION n,CHARACTER_SET_NAME s64,COLLATION_NAME s64,DTD_IDENTIFIER t,ROUTINE_TYPE s9",
        rows: none,
    },
    Definition {
        name: "PARTITIONS",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,PARTITION_NAME s64,SUBPARTITION_NAME s64,PARTITION_ORDINAL_POSITION u,SUBPARTITION_ORDINAL_POSITION u,SECONDARY_LOAD s1,PARTITION_METHOD s13,SUBPARTITION_METHOD s13,PARTITION_EXPRESSION s2048,SUBPARTITION_EXPRESSION s2048,PARTITION_DESCRIPTION t,TABLE_ROWS n,AVG_ROW_LENGTH n,DATA_LENGTH n,MAX_DATA_LENGTH n,INDEX_LENGTH n,DATA_FREE n,CREATE_TIME d,UPDATE_TIME d,CHECK_TIME d,CHECKSUM i,PARTITION_COMMENT t,NODEGROUP s256,TABLESPACE_NAME s268",
        rows: partitions,
    },
    Definition {
        name: "PLUGINS",
        columns: "PLUGIN_NAME s64,PLUGIN_VERSION s20,PLUGIN_STATUS s10,PLUGIN_TYPE s80,PLUGIN_TYPE_VERSION s20,PLUGIN_LIBRARY s64,PLUGIN_LIBRARY_VERSION s20,PLUGIN_AUTHOR s64,PLUGIN_DESCRIPTION s2048,PLUGIN_LICENSE s80,LOAD_OPTION s64",
        rows: plugins,
    },
    Definition {
        name: "PROFILING",
        columns: "QUERY_ID j,SEQ j,STATE s30,DURATION m,CPU_USER m,CPU_SYSTEM m,CONTEXT_VOLUNTARY j,CONTEXT_INVOLUNTARY j,BLOCK_OPS_IN j,BLOCK_OPS_OUT j,MESSAGES_SENT j,MESSAGES_RECEIVED j,PAGE_FAULTS_MAJOR j,PAGE_FAULTS_MINOR j,SWAPS j,SOURCE_FUNCTION s30,SOURCE_FILE s20,SOURCE_LINE j",
        rows: |source| source.profiles.map_or(Vec::new(), Profiles::rows),
    },
    Definition {
        name: "REFERENTIAL_CONSTRAINTS",
        columns: "CONSTRAINT_CATALOG s64,CONSTRAINT_SCHEMA s64,CONSTRAINT_NAME s64,UNIQUE_CONSTRAINT_CATALOG s64,UNIQUE_CONSTRAINT_SCHEMA s64,UNIQUE_CONSTRAINT_NAME s64,MATCH_OPTION s7,UPDATE_RULE s11,DELETE_RULE s11,TABLE_NAME s64,REFERENCED_TABLE_NAME s64",
        rows: referential_constraints,
    },
    Definition {
        name: "ROUTINES",
        columns: "SPECIFIC_NAME s64,ROUTINE_CATALOG s64,ROUTINE_SCHEMA s64,ROUTINE_NAME s64,ROUTINE_TYPE s9,DATA_TYPE t,CHARACTER_MAXIMUM_LENGTH i,CHARACTER_OCTET_LENGTH i,NUMERIC_PRECISION n,NUMERIC_SCALE n,DATETIME_PRECISION n,CHARACTER_SET_NAME s64,COLLATION_NAME s64,DTD_IDENTIFIER t,ROUTINE_BODY s8,ROUTINE_DEFINITION t,EXTERNAL_NAME s64,EXTERNAL_LANGUAGE s64,PARAMETER_STYLE s3,IS_DETERMINISTIC s3,SQL_DATA_ACCESS s17,SQL_PATH s64,SECURITY_TYPE s7,CREATED d,LAST_ALTERED d,SQL_MODE t,ROUTINE_COMMENT t,DEFINER s288,CHARACTER_SET_CLIENT s64,COLLATION_CONNECTION s64,DATABASE_COLLATION s64",
        rows: none,
    },
    Definition {
        name: "SCHEMATA",
        columns: "CATALOG_NAME s64,SCHEMA_NAME s64,DEFAULT_CHARACTER_SET_NAME s64,DEFAULT_COLLATION_NAME s64,SQL_PATH s1,DEFAULT_ENCRYPTION s3",
        rows: schemata,
    },
    Definition {
        name: "STATISTICS",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,NON_UNIQUE i,INDEX_SCHEMA s64,INDEX_NAME s64,SEQ_IN_INDEX n,COLUMN_NAME s64,COLLATION s1,CARDINALITY i,SUB_PART i,PACKED s1,NULLABLE s3,INDEX_TYPE s11,COMMENT s8,INDEX_COMMENT s2048,IS_VISIBLE s3,EXPRESSION t",
        rows: statistics,
    },
    Definition {
        name: "TABLES",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,TABLE_TYPE s11,ENGINE s64,VERSION i,ROW_FORMAT s10,TABLE_ROWS n,AVG_ROW_LENGTH n,DATA_LENGTH n,MAX_DATA_LENGTH n,INDEX_LENGTH n,DATA_FREE n,AUTO_INCREMENT n,CREATE_TIME d,UPDATE_TIME d,CHECK_TIME d,TABLE_COLLATION s64,CHECKSUM i,CREATE_OPTIONS s256,TABLE_COMMENT t",
        rows: tables,
    },
    Definition {
        name: "TABLE_CONSTRAINTS",
        columns: "CONSTRAINT_CATALOG s64,CONSTRAINT_SCHEMA s64,CONSTRAINT_NAME s64,TABLE_SCHEMA s64,TABLE_NAME s64,CONSTRAINT_TYPE s11,ENFORCED s3",
        rows: table_constraints,
    },
    Definition {
        name: "TRIGGERS",
        columns: "TRIGGER_CATALOG s64,TRIGGER_SCHEMA s64,TRIGGER_NAME s64,EVENT_MANIPULATION s6,EVENT_OBJECT_CATALOG s64,EVENT_OBJECT_SCHEMA s64,EVENT_OBJECT_TABLE s64,ACTION_ORDER n,ACTION_CONDITION s1,ACTION_STATEMENT t,ACTION_ORIENTATION s3,ACTION_TIMING s6,ACTION_REFERENCE_OLD_TABLE s1,ACTION_REFERENCE_NEW_TABLE s1,ACTION_REFERENCE_OLD_ROW s3,ACTION_REFERENCE_NEW_ROW s3,CREATED d,SQL_MODE t,DEFINER s288,CHARACTER_SET_CLIENT s64,COLLATION_CONNECTION s64,DATABASE_COLLATION s64",
        rows: none,
    },
    Definition {
        name: "VIEWS",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,VIEW_DEFINITION t,CHECK_OPTION s8,IS_UPDATABLE s3,DEFINER s288,SECURITY_TYPE s7,CHARACTER_SET_CLIENT s64,COLLATION_CONNECTION s64",
        rows: none,
    },
];

/// Collation of the columns of information_schema: names compare without regard to case.
const NAMES: CollationId = CollationId::UTF8MB3_GENERAL_CI;

fn column_type(code: &str) -> SqlType {
    match code {
        "i" => SqlType::BIGINT,
        "j" => SqlType::INT,
        "b" => SqlType::Int { width: IntWidth::Tiny, unsigned: false },
        "u" => SqlType::Int { width: IntWidth::Int, unsigned: true },
        "n" => SqlType::BIGINT_UNSIGNED,
        "d" => SqlType::DateTime { fsp: 0 },
        "x" => SqlType::Text { size: LobSize::Normal, collation: NAMES },
        "f" => SqlType::DOUBLE,
        "m" => SqlType::Decimal { precision: 9, scale: 6, unsigned: false },
        "t" => SqlType::Text { size: LobSize::Long, collation: NAMES },
        text => {
            #[expect(
                clippy::expect_used,
                reason = "the declarations hold such numbers: a test reads them all"
            )]
            let length = text.strip_prefix('s').and_then(|length| length.parse().ok()).expect("a length");
            SqlType::VarChar { length, collation: NAMES }
        }
    }
}

/// The names and types of a table's columns.
fn declared_columns(definition: &Definition) -> impl Iterator<Item = (&'static str, SqlType)> + use<> {
    definition.columns.split(',').map(|column| {
        #[expect(clippy::expect_used, reason = "the declarations hold such pairs: a test reads them all")]
        let (name, code) = column.split_once(' ').expect("a name and a type");
        (name, column_type(code))
    })
}

/// All tables.
fn definitions() -> impl Iterator<Item = &'static Definition> {
    TABLES.iter().chain(super::storage::TABLES)
}

/// What MySQL 5.7 and MariaDB call tables that have other names since: they are found by these, and listed by
/// the others.
const FORMER_NAMES: [(&str, &str); 4] = [
    ("INNODB_SYS_DATAFILES", "INNODB_DATAFILES"),
    ("INNODB_SYS_TABLES", "INNODB_TABLES"),
    ("INNODB_SYS_TABLESPACES", "INNODB_TABLESPACES"),
    ("INNODB_SYS_TABLESTATS", "INNODB_TABLESTATS"),
];

/// The table of that name (in any case), with its rows if asked for.
pub fn table(source: &Source<'_>, name: &str, with_rows: bool) -> Option<VirtualTable> {
    let former = FORMER_NAMES.into_iter().find(|(former, _)| former.eq_ignore_ascii_case(name));
    let name = former.map_or(name, |(_, now)| now);
    let definition = definitions().find(|definition| definition.name.eq_ignore_ascii_case(name))?;
    let columns = declared_columns(definition);
    let rows = if with_rows { (definition.rows)(source) } else { Vec::new() };
    Some(VirtualTable { columns: columns.collect(), rows })
}

/// Names of the tables here.
pub fn names() -> impl Iterator<Item = &'static str> {
    definitions().map(|definition| definition.name)
}

/// A text value.
pub(super) fn text(value: impl AsRef<str>) -> Value {
    Value::bytes(value.as_ref())
}

pub(super) fn number(value: impl TryInto<u64>) -> Value {
    value.try_into().map_or(Value::Null, Value::UInt)
}

fn yes_no(yes: bool) -> Value {
    text(if yes { "YES" } else { "NO" })
}

pub(super) fn catalog() -> Value {
    text("def")
}

/// Every stored table with its schema.
pub(super) fn each_table<'a>(source: &Source<'a>) -> impl Iterator<Item = (&'a Arc<Schema>, &'a Arc<Table>)> {
    let dictionary = source.dictionary;
    dictionary
        .schemas()
        .flat_map(move |schema| dictionary.tables(&schema.name).map(move |table| (schema, table)))
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

fn character_sets(_: &Source<'_>) -> Rows {
    let row = |charset: Charset| {
        let collation = Collation::default_of(charset).name;
        vec![text(charset.name()), text(collation), text(charset.description()), number(charset.max_bytes())]
    };
    Charset::ALL.into_iter().map(row).collect()
}

fn collations(_: &Source<'_>) -> Rows {
    let row = |collation: &Collation| {
        let default = if collation.is_default { "Yes" } else { "" };
        let pad = if collation.pad_space { "PAD SPACE" } else { "NO PAD" };
        vec![
            text(collation.name),
            text(collation.charset.name()),
            number(collation.id.0),
            text(default),
            text("Yes"),
            number(collation.sort_length()),
            text(pad),
        ]
    };
    by_character_set().into_iter().map(row).collect()
}

fn keywords(_: &Source<'_>) -> Rows {
    let row = |(word, is_reserved): (&str, bool)| vec![text(word), Value::Int(i64::from(is_reserved))];
    palisade_parser::lexer::Keyword::listed().into_iter().map(row).collect()
}

/// The collations by the name of their character set, then by number.
fn by_character_set() -> Vec<&'static Collation> {
    let mut sorted: Vec<&Collation> = Collation::all().iter().collect();
    sorted.sort_by_key(|collation| (collation.charset.name(), collation.id));
    sorted
}

fn applicability(_: &Source<'_>) -> Rows {
    by_character_set()
        .into_iter()
        .map(|collation| vec![text(collation.name), text(collation.charset.name())])
        .collect()
}

fn engines(_: &Source<'_>) -> Rows {
    // those of MySQL; a statement that names one of the others may be given InnoDB
    const OTHERS: [(&str, &str); 9] = [
        ("ndbcluster", "Clustered, fault-tolerant tables"),
        ("MEMORY", "Hash based, stored in memory, useful for temporary tables"),
        ("MyISAM", "MyISAM storage engine"),
        ("FEDERATED", "Federated MySQL storage engine"),
        ("ndbinfo", "MySQL Cluster system information storage engine"),
        ("MRG_MYISAM", "Collection of identical MyISAM tables"),
        ("BLACKHOLE", "/dev/null storage engine (anything you write to it disappears)"),
        ("CSV", "CSV storage engine"),
        ("ARCHIVE", "Archive storage engine"),
    ];
    let row = |name, support, comment, transactions| {
        let yes_or_no = match transactions {
            Some(true) => text("YES"),
            Some(false) => text("NO"),
            None => Value::Null,
        };
        vec![text(name), text(support), text(comment), yes_or_no.clone(), yes_or_no.clone(), yes_or_no]
    };
    let comment = "Supports transactions, row-level locking, and foreign keys";
    let mut rows = vec![
        row("InnoDB", "DEFAULT", comment, Some(true)),
        row("PERFORMANCE_SCHEMA", "YES", "Performance Schema", Some(false)),
    ];
    rows.extend(OTHERS.iter().map(|(name, comment)| row(name, "NO", comment, None)));
    rows
}

fn plugins(_: &Source<'_>) -> Rows {
    let row = |name: &str, kind: &str| {
        vec![
            text(name),
            text("1.0"),
            text("ACTIVE"),
            text(kind),
            text("1.0"),
            Value::Null,
            Value::Null,
            text("Palisade"),
            text(""),
            text("Apache-2.0"),
            text("FORCE"),
        ]
    };
    vec![
        row("mysql_native_password", "AUTHENTICATION"),
        row("caching_sha2_password", "AUTHENTICATION"),
        row("InnoDB", "STORAGE ENGINE"),
    ]
}

fn schemata(source: &Source<'_>) -> Rows {
    let row = |name: &str, collation: CollationId| {
        let collation = collation.get();
        vec![
            catalog(),
            text(name),
            text(collation.charset.name()),
            text(collation.name),
            Value::Null,
            yes_no(false),
        ]
    };
    let mut rows: Rows =
        source.dictionary.schemas().map(|schema| row(&schema.name, schema.collation)).collect();
    rows.push(row("information_schema", NAMES));
    rows.push(row("performance_schema", CollationId::default()));
    rows
}

fn tables(source: &Source<'_>) -> Rows {
    let mut rows: Rows = each_table(source).map(|(_, table)| table_row(source, table).into()).collect();
    let virtual_row = |schema: &str, name: &str| {
        let (is_table, none) = (schema == "performance_schema", Value::Null);
        let of_table = |value: &str| if is_table { text(value) } else { Value::Null };
        let mut row = vec![catalog(), text(schema), text(name)];
        row.push(text(if is_table { "BASE TABLE" } else { "SYSTEM VIEW" }));
        row.extend([of_table("PERFORMANCE_SCHEMA"), Value::Int(10), of_table("Dynamic")]);
        row.extend(std::iter::repeat_n(number(0u64), 6));
        row.extend(std::iter::repeat_n(none.clone(), 4));
        row.push(of_table(CollationId::default().get().name));
        row.extend([none, text(""), text("")]);
        row
    };
    rows.extend(names().map(|name| virtual_row("information_schema", name)));
    rows.extend(source.server_tables.iter().map(|table| virtual_row(&table.schema, &table.name)));
    rows
}

fn table_row(source: &Source<'_>, table: &Table) -> [Value; 21] {
    let def = table.descriptor().def();
    let statistics = table.statistics();
    let row_format = def.option("ROW_FORMAT").filter(|format| *format != "DEFAULT").unwrap_or("DYNAMIC");
    let (first, rest) = row_format.split_at_checked(1).unwrap_or((row_format, ""));
    let row_format = format!("{first}{}", rest.to_ascii_lowercase());
    let counter = def.auto_increment_column().map(|_| table.auto_increment());
    let options: Vec<String> = super::create::options(def, &super::create::CREATE_OPTIONS)
        .map(|(name, value)| match name {
            "COMPRESSION" | "PAGE_SINK" => format!("{name}=\"{value}\""),
            _ => format!("{}={value}", name.to_ascii_lowercase()),
        })
        .collect();
    let created = Timestamp(def.created_us / 1_000_000 * 1_000_000).to_datetime(source.zone);
    [
        catalog(),
        text(&def.schema),
        text(&def.name),
        text("BASE TABLE"),
        text("InnoDB"),
        Value::Int(10),
        text(row_format),
        number(statistics.rows),
        number(statistics.row_bytes),
        number(statistics.data_bytes),
        number(0u64),
        number(statistics.index_bytes),
        number(0u64),
        counter.map_or(Value::Null, number),
        Value::DateTime(created),
        Value::Null,
        Value::Null,
        text(def.collation.get().name),
        Value::Null,
        text(options.join(" ")),
        text(&def.comment),
    ]
}

fn partitions(source: &Source<'_>) -> Rows {
    let row = |table: &Table| {
        let base = table_row(source, table);
        let mut row = [const { Value::Null }; 26];
        row[..3].clone_from_slice(&base[..3]);
        row[13..19].clone_from_slice(&base[7..13]);
        row[19] = base[14].clone();
        row[23..25].fill(text(""));
        row.into()
    };
    each_table(source).map(|(_, table)| row(table)).collect()
}

/// COLUMN_KEY: whether and how a column begins an index.
pub fn column_key(table: &Table, place: usize) -> &'static str {
    let def = table.descriptor().def();
    let mut key = "";
    for (_, index) in shown_indexes(table) {
        let at = index.parts.iter().position(|part| usize::from(part.column) == place);
        match at {
            Some(_) if index.primary => return "PRI",
            Some(0) if index.unique && index.parts.len() == 1 => {
                // a unique index without NULLs is shown as the primary key where there is none
                let primary = def.indexes.iter().any(|index| index.primary);
                if !primary && def.columns.get(place).is_some_and(|column| !column.nullable) {
                    return "PRI";
                }
                key = "UNI";
            }
            Some(0) if key.is_empty() => key = "MUL",
            _ => {}
        }
    }
    key
}

/// EXTRA of a column.
pub fn column_extra(column: &Column) -> String {
    let mut parts = Vec::new();
    if column.auto_increment {
        parts.push("auto_increment".to_owned());
    }
    if matches!(column.default, DefaultValue::CurrentTimestamp | DefaultValue::Expression(_)) {
        parts.push("DEFAULT_GENERATED".to_owned());
    }
    if let Some(generated) = &column.generated {
        parts.push(if generated.stored { "STORED GENERATED" } else { "VIRTUAL GENERATED" }.to_owned());
    }
    if column.on_update_now {
        parts.push(format!("on update {}", create::current_timestamp(column)));
    }
    if column.visibility == Visibility::Invisible {
        parts.push("INVISIBLE".to_owned());
    }
    parts.join(" ")
}

/// Rights of root on a column.
pub const COLUMN_PRIVILEGES: &str = "select,insert,update,references";

fn columns(source: &Source<'_>) -> Rows {
    let mut rows: Rows = Vec::new();
    for (_, table) in each_table(source) {
        for (number, (place, column)) in shown_columns(table).enumerate() {
            rows.push(column_row(table, place, column, number as u64 + 1));
        }
    }
    for definition in definitions() {
        rows.extend(virtual_rows("information_schema", definition.name, declared_columns(definition)));
    }
    for table in source.server_tables {
        rows.extend(virtual_rows(&table.schema, &table.name, table.columns.iter().cloned()));
    }
    rows
}

/// Rows about the columns of a virtual table, which can only be read.
fn virtual_rows(
    schema: &str,
    table: &str,
    columns: impl Iterator<Item = (&'static str, SqlType)>,
) -> impl Iterator<Item = Vec<Value>> {
    columns.enumerate().map(move |(place, (name, ty))| {
        let mut row = described(schema, table, &Column::new(name, ty, 0), place as u64 + 1);
        row[18] = text("select");
        row.into()
    })
}

fn column_row(table: &Table, place: usize, column: &Column, position: u64) -> Vec<Value> {
    let def = table.descriptor().def();
    let mut row = described(&def.schema, &def.name, column, position);
    row[5] = create::default_text(column).map_or(Value::Null, text);
    row[16] = text(column_key(table, place));
    row[17] = text(column_extra(column));
    if let Some(generated) = &column.generated {
        row[20] = text(escaped(&generated.expression));
    }
    row.into()
}

/// A row of COLUMNS without default, key and extra.
fn described(schema: &str, table: &str, column: &Column, position: u64) -> [Value; 22] {
    let ty = &column.sql_type;
    let declaration = column.type_text();
    let data_type = declaration.split(['(', ' ']).next().unwrap_or_default();
    let is_text = ty.is_text();
    let collation = ty.collation().get();
    let (characters, bytes) = match ty {
        SqlType::Binary { length } | SqlType::VarBinary { length } => (Some(*length), Some(*length)),
        SqlType::Blob { size } => {
            let most = u32::try_from(size.max_bytes()).unwrap_or(u32::MAX);
            (Some(most), Some(most))
        }
        SqlType::Text { size, .. } => {
            let most = u32::try_from(size.max_bytes()).unwrap_or(u32::MAX);
            (Some(most), Some(most))
        }
        _ if is_text => {
            let characters = ty.wire_length(1);
            (Some(characters), Some(characters.saturating_mul(collation.charset.max_bytes())))
        }
        _ => (None, None),
    };
    let (precision, scale) = match ty {
        SqlType::Int { width, unsigned } => {
            let digits = match width {
                IntWidth::Tiny => 3,
                IntWidth::Small => 5,
                IntWidth::Medium => 7,
                IntWidth::Int => 10,
                IntWidth::Big => 19 + u64::from(*unsigned),
            };
            (Some(digits), Some(0))
        }
        SqlType::Decimal { precision, scale, .. } => (Some(u64::from(*precision)), Some(u64::from(*scale))),
        SqlType::Float { digits, .. } => (
            Some(digits.map_or(12, |(width, _)| u64::from(width))),
            digits.map(|(_, scale)| u64::from(scale)),
        ),
        SqlType::Double { digits, .. } => (
            Some(digits.map_or(22, |(width, _)| u64::from(width))),
            digits.map(|(_, scale)| u64::from(scale)),
        ),
        SqlType::Bit { width } => (Some(u64::from(*width)), None),
        _ => (None, None),
    };
    let fraction = match ty {
        SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => number(*fsp),
        _ => Value::Null,
    };
    [
        catalog(),
        text(schema),
        text(table),
        text(&column.name),
        number(position),
        Value::Null,
        yes_no(column.nullable),
        text(data_type),
        characters.map_or(Value::Null, number),
        bytes.map_or(Value::Null, number),
        precision.map_or(Value::Null, number),
        scale.map_or(Value::Null, number),
        fraction,
        if is_text { text(collation.charset.name()) } else { Value::Null },
        if is_text { text(collation.name) } else { Value::Null },
        text(&declaration),
        text(""),
        text(""),
        text(COLUMN_PRIVILEGES),
        text(&column.comment),
        text(""),
        Value::Null,
    ]
}

fn statistics(source: &Source<'_>) -> Rows {
    each_table(source).flat_map(|(_, table)| index_rows(table)).collect()
}

/// The rows of STATISTICS for one table.
pub fn index_rows(table: &Table) -> Rows {
    let def = table.descriptor().def();
    let statistics = table.statistics();
    let mut rows = Vec::new();
    for (place, index) in shown_indexes(table) {
        for (sequence, part) in index.parts.iter().enumerate() {
            let column = def.key_column(part.column);
            let per_key = statistics.rows_per_key.get(place).and_then(|keys| keys.get(sequence)).copied();
            let cardinality = per_key.map_or(0.0, |per_key| statistics.rows as f64 / per_key.max(1.0));
            rows.push(vec![
                catalog(),
                text(&def.schema),
                text(&def.name),
                Value::Int(i64::from(!index.unique)),
                text(&def.schema),
                text(&index.name),
                number(sequence as u64 + 1),
                text(&column.name),
                text(if part.descending { "D" } else { "A" }),
                Value::Int(cardinality.round() as i64),
                part.prefix.map_or(Value::Null, |prefix| Value::Int(i64::from(prefix))),
                Value::Null,
                text(if column.nullable { "YES" } else { "" }),
                text("BTREE"),
                text(""),
                text(&index.comment),
                yes_no(!index.invisible),
                Value::Null,
            ]);
        }
    }
    rows
}

fn key_column_usage(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for (_, table) in each_table(source) {
        let def = table.descriptor().def();
        for (_, index) in shown_indexes(table).filter(|(_, index)| index.unique) {
            for (sequence, part) in index.parts.iter().enumerate() {
                rows.push(vec![
                    catalog(),
                    text(&def.schema),
                    text(&index.name),
                    catalog(),
                    text(&def.schema),
                    text(&def.name),
                    text(&def.key_column(part.column).name),
                    number(sequence as u64 + 1),
                    Value::Null,
                    Value::Null,
                    Value::Null,
                    Value::Null,
                ]);
            }
        }
        for key in &def.foreign_keys {
            for (sequence, (place, referenced)) in key.columns.iter().zip(&key.referenced_columns).enumerate()
            {
                rows.push(vec![
                    catalog(),
                    text(&def.schema),
                    text(&key.name),
                    catalog(),
                    text(&def.schema),
                    text(&def.name),
                    text(&def.key_column(*place).name),
                    number(sequence as u64 + 1),
                    number(sequence as u64 + 1),
                    text(&key.referenced_schema),
                    text(&key.referenced_table),
                    text(referenced),
                ]);
            }
        }
    }
    rows
}

fn referential_constraints(source: &Source<'_>) -> Rows {
    let rule = |action: &str| text(if action.is_empty() { "NO ACTION" } else { action });
    let mut rows = Vec::new();
    for (_, table) in each_table(source) {
        let def = table.descriptor().def();
        for key in &def.foreign_keys {
            let parent = source.dictionary.table(&key.referenced_schema, &key.referenced_table).ok();
            let index = parent.and_then(|parent| {
                let (index, _) = parent_index(parent, key)?;
                Some(parent.indexes.get(index)?.name.clone())
            });
            rows.push(vec![
                catalog(),
                text(&def.schema),
                text(&key.name),
                catalog(),
                text(&key.referenced_schema),
                index.map_or(Value::Null, text),
                text("NONE"),
                rule(&key.on_update),
                rule(&key.on_delete),
                text(&def.name),
                text(&key.referenced_table),
            ]);
        }
    }
    rows
}

/// An expression as information_schema shows it: quotes escaped once more.
fn escaped(expression: &str) -> String {
    expression.replace('\\', "\\\\").replace('\'', "\\'")
}

fn check_constraints(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for (_, table) in each_table(source) {
        let def = table.descriptor().def();
        for check in &def.checks {
            rows.push(vec![
                catalog(),
                text(&def.schema),
                text(&check.name),
                text(escaped(&check.expression)),
            ]);
        }
    }
    rows
}

fn table_constraints(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for (_, table) in each_table(source) {
        let def = table.descriptor().def();
        for (_, index) in shown_indexes(table).filter(|(_, index)| index.unique) {
            rows.push(vec![
                catalog(),
                text(&def.schema),
                text(&index.name),
                text(&def.schema),
                text(&def.name),
                text(if index.primary { "PRIMARY KEY" } else { "UNIQUE" }),
                yes_no(true),
            ]);
        }
        for key in &def.foreign_keys {
            rows.push(vec![
                catalog(),
                text(&def.schema),
                text(&key.name),
                text(&def.schema),
                text(&def.name),
                text("FOREIGN KEY"),
                yes_no(true),
            ]);
        }
        let mut checks: Vec<_> = def.checks.iter().collect();
        checks.sort_by(|left, right| left.name.cmp(&right.name));
        for check in checks {
            rows.push(vec![
                catalog(),
                text(&def.schema),
                text(&check.name),
                text(&def.schema),
                text(&def.name),
                text("CHECK"),
                yes_no(check.enforced),
            ]);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_declaration_is_read() {
        for definition in definitions() {
            let columns = declared_columns(definition).count();
            assert_eq!(columns, definition.columns.split(',').count(), "{}", definition.name);
        }
    }
}
