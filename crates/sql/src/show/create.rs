//! SHOW CREATE: definitions as the statements that make them.

use std::fmt::Write as _;

use palisade_catalog::descriptor::{
    Check, Column, DefaultValue, ForeignKey, Index, Schema, TableDef, ViewCheck, Visibility,
};
use palisade_catalog::{CollationId, SqlType, Timestamp, Value, ValueRef, ViewDef};
use palisade_engine::Table;
use palisade_expr::convert::display_text;
use palisade_plan::bind::quoted;
use palisade_schema::{ColumnDecl, TableDecl};
use palisade_session::virtual_tables::{PERFORMANCE_SCHEMA, StoredQuery};

use super::information_schema::views::DEFINER;
use super::information_schema::{listed_columns, listed_indexes};
use super::performance_keys;
use crate::ddl::generated_key::GeneratedKey;
use crate::ddl::view::frozen::without_schema;

/// `text` as a string literal.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("''"),
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

/// CURRENT_TIMESTAMP with a column's digits.
pub fn current_timestamp(column: &Column) -> String {
    match column.sql_type.wire_decimals() {
        0 => "CURRENT_TIMESTAMP".to_owned(),
        digits => format!("CURRENT_TIMESTAMP({digits})"),
    }
}

/// A value of a column as a constant that the column takes.
pub fn value_literal(value: &Value, column: &Column) -> String {
    match value {
        Value::Bit { bits, .. } => format!("b'{bits:b}'"),
        Value::Bytes(bytes) => literal(&String::from_utf8_lossy(bytes)),
        value => literal(&value_text(value, column)),
    }
}

/// A default value as SHOW COLUMNS and COLUMN_DEFAULT show it; `None` is NULL or none.
pub fn default_text(column: &Column) -> Option<String> {
    match &column.default {
        DefaultValue::None | DefaultValue::Removed | DefaultValue::Literal(Value::Null) => None,
        DefaultValue::Literal(value) => Some(value_text(value, column)),
        DefaultValue::CurrentTimestamp => Some(current_timestamp(column)),
        DefaultValue::Expression(expression) => Some(expression.clone()),
    }
}

/// A value of a column as text.
pub(crate) fn value_text(value: &Value, column: &Column) -> String {
    match value {
        Value::Bit { bits, .. } => format!("b'{bits:b}'"),
        // defaults of TIMESTAMP columns are shown in UTC, whatever the session's zone
        Value::Timestamp(at @ Timestamp(_)) => {
            let local = at.to_datetime(&palisade_catalog::Zone::UTC);
            display_text(ValueRef::DateTime(local), &column.sql_type)
        }
        Value::Bytes(bytes) if !column.sql_type.is_text() => {
            format!("0x{}", bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>())
        }
        value => display_text(value.as_ref(), &column.sql_type),
    }
}

/// The CREATE TABLE statement of a table; `key` says whether a generated key is part of it.
pub fn table(table: &Table, key: GeneratedKey) -> String {
    let def = table.descriptor().def();
    let mut lines: Vec<String> =
        listed_columns(table, key).map(|(_, column)| column_line(def, column)).collect();
    lines.extend(listed_indexes(table, key).map(|(_, index)| index_line(def, index)));
    let mut keys: Vec<&ForeignKey> = def.foreign_keys.iter().collect();
    keys.sort_by(|left, right| left.name.cmp(&right.name));
    lines.extend(keys.into_iter().map(|key| foreign_key_line(def, key)));
    let mut checks: Vec<&Check> = def.checks.iter().collect();
    checks.sort_by(|left, right| left.name.cmp(&right.name));
    lines.extend(checks.into_iter().map(check_line));
    let kind = if table.is_temporary() { "TEMPORARY " } else { "" };
    let mut out = format!("CREATE {kind}TABLE {} (\n  {}\n)", quoted(&def.name), lines.join(",\n  "));
    if let Some(size) = def.option("AUTOEXTEND_SIZE").filter(|size| *size != "0") {
        write_to(&mut out, format_args!(" /*!80023 AUTOEXTEND_SIZE={size} */"));
    }
    out.push_str(" ENGINE=InnoDB");
    let counter = table.auto_increment();
    let is_counted = |place: usize| !key.hides_column(def, place);
    if def.auto_increment_column().is_some_and(is_counted) && counter > 1 {
        write_to(&mut out, format_args!(" AUTO_INCREMENT={counter}"));
    }
    let collation = def.collation.get();
    write_to(&mut out, format_args!(" DEFAULT CHARSET={}", collation.charset.name()));
    if !collation.is_default || def.collation == CollationId::UTF8MB4_0900_AI_CI {
        write_to(&mut out, format_args!(" COLLATE={}", collation.name));
    }
    for (name, value) in options(def, &OPTIONS) {
        write_to(&mut out, format_args!(" {name}={value}"));
    }
    let texts = ["PAGE_SINK", "COMPRESSION", "COMMENT", "CONNECTION"];
    for name in texts {
        let text = if name == "COMMENT" { Some(def.comment.as_str()) } else { def.option(name) };
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            write_to(&mut out, format_args!(" {name}={}", literal(text)));
        }
        if name == "COMPRESSION"
            && let Some(level) = def.option("PAGE_COMPRESSION_LEVEL")
        {
            write_to(&mut out, format_args!(" PAGE_COMPRESSION_LEVEL={level}"));
        }
    }
    if let Some(engine) = def.option("SECONDARY_ENGINE") {
        write_to(&mut out, format_args!(" SECONDARY_ENGINE={engine}"));
    }
    if let Some(text) = def.option("SECONDARY_ENGINE_ATTRIBUTE").filter(|text| !text.is_empty()) {
        write_to(&mut out, format_args!(" /*!80021 SECONDARY_ENGINE_ATTRIBUTE={} */", literal(text)));
    }
    out + &super::partition::comment(def)
}

/// The CREATE TABLE statement of a virtual table, which no session may execute. Those of information_schema
/// are shown as MySQL shows the ones that it fills when they are read; most others are views there.
pub fn virtual_table(table: &TableDecl) -> String {
    let is_performance = table.schema == PERFORMANCE_SCHEMA;
    let usual =
        if is_performance { CollationId::UTF8MB4_0900_AI_CI } else { CollationId::UTF8MB3_GENERAL_CI };
    let mut lines: Vec<String> =
        table.columns.iter().map(|column| virtual_column_line(column, usual)).collect();
    let keys = if is_performance { performance_keys::of(table.name) } else { &[] };
    lines.extend(keys.iter().map(|key| (*key).to_owned()));
    let has_long = table.columns.iter().any(|column| is_long(&column.column_type.sql_type()));
    let (kind, end) = match (is_performance, has_long) {
        (true, _) => ("", "ENGINE=PERFORMANCE_SCHEMA DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci"),
        (false, true) => ("TEMPORARY ", "ENGINE=InnoDB DEFAULT CHARSET=utf8mb3"),
        (false, false) => ("TEMPORARY ", "ENGINE=MEMORY DEFAULT CHARSET=utf8mb3"),
    };
    format!("CREATE {kind}TABLE {} (\n  {}\n) {end}", quoted(table.name), lines.join(",\n  "))
}

fn is_long(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::Text { .. } | SqlType::Blob { .. } | SqlType::Json)
}

fn virtual_column_line(declared: &ColumnDecl, usual: CollationId) -> String {
    let column = declared.column();
    let mut out = format!("{} {}", quoted(&column.name), column.type_text());
    if column.sql_type.is_text() && column.sql_type.collation() != usual {
        let collation = column.sql_type.collation().get();
        let charset = collation.charset.name();
        write_to(&mut out, format_args!(" CHARACTER SET {charset} COLLATE {}", collation.name));
    }
    if !column.nullable {
        out.push_str(" NOT NULL");
    } else if matches!(column.sql_type, SqlType::Timestamp { .. }) {
        out.push_str(" NULL");
    }
    match declared.default {
        None if column.nullable && !is_long(&column.sql_type) => out.push_str(" DEFAULT NULL"),
        None => {}
        Some("") if column.nullable => out.push_str(" DEFAULT NULL"),
        Some("") if matches!(column.sql_type, SqlType::DateTime { .. }) => {
            out.push_str(" DEFAULT '0000-00-00 00:00:00'");
        }
        Some("") if !column.sql_type.is_string() => out.push_str(" DEFAULT '0'"),
        Some(text) => write_to(&mut out, format_args!(" DEFAULT {}", literal(text))),
    }
    out
}

/// Table options that are numbers or words, in the order in which SHOW CREATE TABLE has them.
const OPTIONS: [&str; 10] = [
    "MIN_ROWS",
    "MAX_ROWS",
    "AVG_ROW_LENGTH",
    "PACK_KEYS",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "CHECKSUM",
    "DELAY_KEY_WRITE",
    "ROW_FORMAT",
];

/// The same in the order of CREATE_OPTIONS.
pub const CREATE_OPTIONS: [&str; 13] = [
    "MAX_ROWS",
    "MIN_ROWS",
    "AVG_ROW_LENGTH",
    "ROW_FORMAT",
    "PAGE_SINK",
    "COMPRESSION",
    "PAGE_COMPRESSION_LEVEL",
    "STATS_SAMPLE_PAGES",
    "STATS_AUTO_RECALC",
    "STATS_PERSISTENT",
    "PACK_KEYS",
    "CHECKSUM",
    "DELAY_KEY_WRITE",
];

/// Those of the named options that say something: 0 is what most of them are without being said.
pub fn options<'a>(
    def: &'a TableDef,
    names: &'a [&'static str],
) -> impl Iterator<Item = (&'static str, &'a str)> {
    let says = |name: &str, value: &str| match name {
        "ROW_FORMAT" => value != "DEFAULT",
        "PACK_KEYS" | "STATS_PERSISTENT" | "STATS_AUTO_RECALC" => true,
        _ => value != "0",
    };
    let found = names.iter().filter_map(|name| Some((*name, def.option(name)?)));
    found.filter(move |(name, value)| says(name, value))
}

fn write_to(out: &mut String, text: std::fmt::Arguments<'_>) {
    #[expect(clippy::expect_used, reason = "a String takes all that is written to it")]
    out.write_fmt(text).expect("writing to a String does not fail");
}

fn column_line(def: &TableDef, column: &Column) -> String {
    let mut out = format!("{} {}", quoted(&column.name), column.type_text());
    if column.sql_type.is_text() {
        let collation = column.sql_type.collation().get();
        let is_other = collation.id != def.collation;
        if is_other || column.names_collation {
            write_to(&mut out, format_args!(" CHARACTER SET {}", collation.charset.name()));
        }
        // A server whose utf8mb4 has another default collation must be told the usual one, too.
        let is_ambiguous = is_other && collation.id == CollationId::UTF8MB4_0900_AI_CI;
        if !collation.is_default || column.names_collation || is_ambiguous {
            write_to(&mut out, format_args!(" COLLATE {}", collation.name));
        }
    }
    if let Some(generated) = &column.generated {
        let kind = if generated.stored { "STORED" } else { "VIRTUAL" };
        write_to(&mut out, format_args!(" GENERATED ALWAYS AS ({}) {kind}", generated.expression));
    }
    if !column.nullable {
        out.push_str(" NOT NULL");
    } else if matches!(column.sql_type, SqlType::Timestamp { .. }) {
        out.push_str(" NULL");
    }
    match &column.default {
        DefaultValue::Removed => {}
        DefaultValue::None | DefaultValue::Literal(Value::Null) => {
            let implicit = column.nullable
                && !column.auto_increment
                && !matches!(column.sql_type, SqlType::Text { .. } | SqlType::Blob { .. })
                && column.generated.is_none();
            if implicit {
                out.push_str(" DEFAULT NULL");
            }
        }
        DefaultValue::Literal(value) => {
            write_to(&mut out, format_args!(" DEFAULT {}", value_literal(value, column)));
        }
        DefaultValue::CurrentTimestamp => {
            write_to(&mut out, format_args!(" DEFAULT {}", current_timestamp(column)))
        }
        DefaultValue::Expression(expression) => write_to(&mut out, format_args!(" DEFAULT ({expression})")),
    }
    if column.on_update_now {
        write_to(&mut out, format_args!(" ON UPDATE {}", current_timestamp(column)));
    }
    if column.auto_increment {
        out.push_str(" AUTO_INCREMENT");
    }
    if column.visibility == Visibility::Invisible {
        out.push_str(" /*!80023 INVISIBLE */");
    }
    if !column.comment.is_empty() {
        write_to(&mut out, format_args!(" COMMENT {}", literal(&column.comment)));
    }
    out
}

fn index_line(def: &TableDef, index: &Index) -> String {
    let parts: Vec<String> = index
        .parts
        .iter()
        .map(|part| {
            let mut out = quoted(&def.key_column(part.column).name);
            if let Some(prefix) = part.prefix {
                write_to(&mut out, format_args!("({prefix})"));
            }
            if part.descending {
                out.push_str(" DESC");
            }
            out
        })
        .collect();
    let parts = parts.join(",");
    let mut out = match (index.primary, index.unique) {
        (true, _) => format!("PRIMARY KEY ({parts})"),
        (_, true) => format!("UNIQUE KEY {} ({parts})", quoted(&index.name)),
        _ => format!("KEY {} ({parts})", quoted(&index.name)),
    };
    if !index.comment.is_empty() {
        write_to(&mut out, format_args!(" COMMENT {}", literal(&index.comment)));
    }
    if index.invisible {
        out.push_str(" /*!80000 INVISIBLE */");
    }
    out
}

/// A foreign key of `def`.
pub fn foreign_key_line(def: &TableDef, key: &ForeignKey) -> String {
    let columns = key.columns.iter().map(|place| quoted(&def.key_column(*place).name));
    let columns = columns.collect::<Vec<_>>().join(", ");
    let referenced: Vec<String> = key.referenced_columns.iter().map(|column| quoted(column)).collect();
    let schema = match key.referenced_schema == def.schema {
        true => String::new(),
        false => format!("{}.", quoted(&key.referenced_schema)),
    };
    let mut out = format!(
        "CONSTRAINT {} FOREIGN KEY ({columns}) REFERENCES {schema}{} ({})",
        quoted(&key.name),
        quoted(&key.referenced_table),
        referenced.join(", ")
    );
    for (event, action) in [("DELETE", &key.on_delete), ("UPDATE", &key.on_update)] {
        if !action.is_empty() {
            write_to(&mut out, format_args!(" ON {event} {action}"));
        }
    }
    out
}

fn check_line(check: &Check) -> String {
    let enforced = if check.enforced { "" } else { " /*!80016 NOT ENFORCED */" };
    format!("CONSTRAINT {} CHECK ({}){enforced}", quoted(&check.name), check.expression)
}

/// The CREATE VIEW statement of a view, for a session with this default database.
pub fn stored_view(view: &ViewDef, database: Option<&str>) -> String {
    let is_default = database == Some(&view.schema);
    let schema = if is_default { String::new() } else { format!("{}.", quoted(&view.schema)) };
    let (user, host) = view.definer_parts();
    let columns = match view.lists_columns {
        true => {
            let names: Vec<String> = view.columns.iter().map(|name| quoted(name)).collect();
            format!(" ({})", names.join(","))
        }
        false => String::new(),
    };
    let query = match is_default && view.is_local {
        true => without_schema(&view.query, &view.schema),
        false => view.query.clone(),
    };
    let check = match view.check {
        ViewCheck::None => "",
        ViewCheck::Local => " WITH LOCAL CHECK OPTION",
        ViewCheck::Cascaded => " WITH CASCADED CHECK OPTION",
    };
    format!(
        "CREATE ALGORITHM={} DEFINER={}@{} SQL SECURITY {} VIEW {schema}{}{columns} AS {query}{check}",
        view.algorithm.name(),
        quoted(user),
        quoted(host),
        if view.is_invokers { "INVOKER" } else { "DEFINER" },
        quoted(&view.name),
    )
}

/// The CREATE VIEW statement of a view of the schema sys, for a session with this default database.
pub fn view(view: &StoredQuery, database: Option<&str>) -> String {
    let schema = match database == Some(&view.schema) {
        true => String::new(),
        false => format!("{}.", quoted(&view.schema)),
    };
    let (user, host) = DEFINER.split_once('@').unwrap_or((DEFINER, "%"));
    format!(
        "CREATE ALGORITHM=MERGE DEFINER={}@{} SQL SECURITY INVOKER VIEW {schema}{} AS {}",
        quoted(user),
        quoted(host),
        quoted(&view.name),
        view.text
    )
}

/// The CREATE DATABASE statement of a schema.
pub fn schema(schema: &Schema, if_not_exists: bool) -> String {
    let collation = schema.collation.get();
    let exists = if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" };
    let mut out = format!(
        "CREATE DATABASE {exists}{} /*!40100 DEFAULT CHARACTER SET {}",
        quoted(&schema.name),
        collation.charset.name()
    );
    if !collation.is_default || schema.collation == CollationId::UTF8MB4_0900_AI_CI {
        write_to(&mut out, format_args!(" COLLATE {}", collation.name));
    }
    out + " */ /*!80016 DEFAULT ENCRYPTION='N' */"
}
