//! information_schema.INNODB_COLUMNS and INNODB_VIRTUAL: the columns as InnoDB would keep them.
//!
//! A column has InnoDB's own type (`MTYPE`), and a word (`PRTYPE`) that holds MySQL's type in its lowest
//! byte, flags above it, and the collation from bit 16 on where the type is a string to InnoDB. To InnoDB
//! decimal numbers and times are such strings, too.

use std::sync::Arc;

use palisade_catalog::descriptor::Column;
use palisade_catalog::row::fixed_field;
use palisade_catalog::types::{IntWidth, LobSize};
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_engine::Table;
use palisade_schema::{Row, Wanted, virtual_table};

use super::{Definition, Tables, by_table, number, shown_columns, text};
use crate::ddl::expression::columns_read;

pub(super) static TABLES: Tables = &[
    Definition::new(&columns::DECL, |source, wanted| by_table(source, wanted, columns_of)),
    Definition::new(&virtual_columns::DECL, |source, wanted| by_table(source, wanted, bases_of)),
];

/// InnoDB's types.
mod main_type {
    pub const VARCHAR: i64 = 1;
    pub const CHAR: i64 = 2;
    pub const FIXED_BINARY: i64 = 3;
    pub const BINARY: i64 = 4;
    pub const BLOB: i64 = 5;
    pub const INT: i64 = 6;
    pub const FLOAT: i64 = 9;
    pub const DOUBLE: i64 = 10;
    pub const VAR_MYSQL: i64 = 12;
    pub const MYSQL: i64 = 13;
}

const NOT_NULL: i64 = 256;
const UNSIGNED: i64 = 512;
const BINARY_TYPE: i64 = 1024;
const LONG_TRUE_VARCHAR: i64 = 4096;
const VIRTUAL: i64 = 8192;

/// The collation that MySQL gives numbers and times: latin1_swedish_ci. CHAR and VARCHAR of it have types
/// of their own.
const NUMERIC: CollationId = CollationId(8);
/// MYSQL_TYPE_VARCHAR, which no result set has.
const VARCHAR_CODE: i64 = 15;

/// MTYPE.
fn main_type(ty: &SqlType) -> i64 {
    match ty {
        SqlType::VarChar { collation, .. } if *collation == NUMERIC => main_type::VARCHAR,
        SqlType::Char { collation, .. } if *collation == NUMERIC => main_type::CHAR,
        SqlType::VarChar { .. } => main_type::VAR_MYSQL,
        SqlType::Char { .. } => main_type::MYSQL,
        SqlType::VarBinary { .. } => main_type::BINARY,
        SqlType::Text { .. } | SqlType::Blob { .. } | SqlType::Json => main_type::BLOB,
        SqlType::Float { .. } => main_type::FLOAT,
        SqlType::Double { .. } => main_type::DOUBLE,
        SqlType::Decimal { .. }
        | SqlType::Bit { .. }
        | SqlType::Time { .. }
        | SqlType::DateTime { .. }
        | SqlType::Timestamp { .. }
        | SqlType::Binary { .. } => main_type::FIXED_BINARY,
        SqlType::Null
        | SqlType::Int { .. }
        | SqlType::Date
        | SqlType::Year
        | SqlType::Enum { .. }
        | SqlType::Set { .. } => main_type::INT,
    }
}

/// The collation in PRTYPE.
fn collation(ty: &SqlType) -> CollationId {
    match ty {
        SqlType::Decimal { .. }
        | SqlType::Time { .. }
        | SqlType::DateTime { .. }
        | SqlType::Timestamp { .. } => NUMERIC,
        other if matches!(main_type(other), main_type::INT | main_type::FLOAT | main_type::DOUBLE) => {
            CollationId(0)
        }
        other => other.collation(),
    }
}

/// LEN, in bytes.
fn length(ty: &SqlType) -> i64 {
    let fraction = |fsp: &u8| i64::from(fsp.div_ceil(2));
    let characters = |length: &u32, collation: &CollationId| {
        i64::from(*length) * i64::from(collation.get().charset.max_bytes())
    };
    let blob = |size: &LobSize| match size {
        LobSize::Tiny => 9,
        LobSize::Normal => 10,
        LobSize::Medium => 11,
        LobSize::Long => 12,
    };
    match ty {
        SqlType::Null => 0,
        SqlType::Int { width, .. } => match width {
            IntWidth::Tiny => 1,
            IntWidth::Small => 2,
            IntWidth::Medium => 3,
            IntWidth::Int => 4,
            IntWidth::Big => 8,
        },
        SqlType::Decimal { precision, scale, .. } => {
            decimal_bytes(precision.saturating_sub(*scale)) + decimal_bytes(*scale)
        }
        SqlType::Float { .. } => 4,
        SqlType::Double { .. } => 8,
        SqlType::Bit { width } => i64::from(width.div_ceil(8)),
        SqlType::Date => 3,
        SqlType::Time { fsp } => 3 + fraction(fsp),
        SqlType::DateTime { fsp } => 5 + fraction(fsp),
        SqlType::Timestamp { fsp } => 4 + fraction(fsp),
        SqlType::Year => 1,
        SqlType::Char { length, collation } | SqlType::VarChar { length, collation } => {
            characters(length, collation)
        }
        SqlType::Binary { length } | SqlType::VarBinary { length } => i64::from(*length),
        SqlType::Text { size, .. } | SqlType::Blob { size } => blob(size),
        SqlType::Json => blob(&LobSize::Long),
        SqlType::Enum { members, .. } => 1 + i64::from(members.len() > 255),
        SqlType::Set { members, .. } => match members.len().div_ceil(8) {
            bytes @ 0..=4 => bytes.max(1) as i64,
            _ => 8,
        },
    }
}

/// Bytes of so many digits on one side of the point: four for nine, and fewer for the rest.
fn decimal_bytes(digits: u8) -> i64 {
    i64::from(digits / 9) * 4 + i64::from((digits % 9).div_ceil(2))
}

/// PRTYPE.
fn precise_type(column: &Column) -> i64 {
    let ty = &column.sql_type;
    let mut word = match ty {
        SqlType::VarChar { .. } | SqlType::VarBinary { .. } => VARCHAR_CODE,
        other => i64::from(other.wire_code()),
    };
    let is_choice = matches!(ty, SqlType::Enum { .. } | SqlType::Set { .. });
    let is_text = matches!(ty, SqlType::Char { .. } | SqlType::VarChar { .. } | SqlType::Text { .. });
    let is_unsigned = ty.is_unsigned() || is_choice || matches!(ty, SqlType::Year | SqlType::Bit { .. });
    let is_long = word == VARCHAR_CODE && length(ty) > 255;
    let flags = [
        (!column.nullable, NOT_NULL),
        (is_unsigned, UNSIGNED),
        (!is_choice && !is_text, BINARY_TYPE),
        (is_long, LONG_TRUE_VARCHAR),
        (is_virtual(column), VIRTUAL),
    ];
    for (_, flag) in flags.iter().filter(|(is_set, _)| *is_set) {
        word |= flag;
    }
    word | i64::from(collation(ty).0) << 16
}

pub(super) fn is_virtual(column: &Column) -> bool {
    column.generated.as_ref().is_some_and(|generated| !generated.stored)
}

/// Columns of a table with their POS: first those that InnoDB keeps, then the virtual ones, whose number
/// among themselves is above the one among all.
fn positions(table: &Table) -> Vec<(i64, &Column)> {
    let columns: Vec<&Column> = shown_columns(table).map(|(_, column)| column).collect();
    let kept = columns.iter().filter(|column| !is_virtual(column)).copied();
    let mut placed: Vec<(i64, &Column)> = (0..).zip(kept).collect();
    let made = (0i64..).zip(columns.iter().copied()).filter(|(_, column)| is_virtual(column));
    placed.extend((1i64..).zip(made).map(|(nth, (place, column))| (nth << 16 | place, column)));
    placed
}

/// A column, and its POS.
struct PlacedColumn<'a> {
    table: u64,
    column: &'a Column,
    position: i64,
    /// There may be rows from before it.
    is_added: bool,
}

virtual_table! {
    mod columns = "information_schema"."INNODB_COLUMNS" of |it: PlacedColumn<'_>| {
        TABLE_ID: bigint_unsigned not null default "" => number(it.table),
        NAME: varchar(193) not null default "" => text(&it.column.name),
        POS: bigint_unsigned not null default "" => number(it.position),
        MTYPE: int not null default "" => Value::Int(main_type(&it.column.sql_type)),
        PRTYPE: int not null default "" => Value::Int(precise_type(it.column)),
        LEN: int not null default "" => Value::Int(length(&it.column.sql_type)),
        HAS_DEFAULT: int not null default "" => number(u64::from(it.is_added)),
        DEFAULT_VALUE: text default "" => if it.is_added { first_value(it.column) } else { Value::Null },
    }
}

/// What a column has in rows from before it was added: the bytes that InnoDB has of it, as hexadecimal
/// digits.
fn first_value(column: &Column) -> Value {
    let mut bytes = match (&column.instant_default, &column.sql_type) {
        (Value::Null, _) => return Value::Null,
        (Value::Bytes(text), _) => text.to_vec(),
        (Value::Float(number), _) => number.to_le_bytes().to_vec(),
        (Value::Double(number), _) => number.to_le_bytes().to_vec(),
        (value, ty) => fixed_field(ty, value.as_ref()).unwrap_or_default(),
    };
    if let SqlType::Char { length, .. } = &column.sql_type {
        bytes.resize(bytes.len().max(*length as usize), b' ');
    }
    text(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn columns_of(table: &Arc<Table>, wanted: &Wanted) -> Vec<Row> {
    let def = table.descriptor().def();
    let subjects = positions(table).into_iter();
    let subjects = subjects.map(|(position, column)| PlacedColumn {
        table: def.id,
        column,
        position,
        is_added: def.is_added_to_rows(column) && !is_virtual(column),
    });
    subjects.map(|subject| columns::row(&subject, wanted)).collect()
}

virtual_table! {
    mod virtual_columns = "information_schema"."INNODB_VIRTUAL" of |it: (u64, i64, i64)| {
        TABLE_ID: bigint_unsigned not null default "" => number(it.0),
        POS: int_unsigned not null default "" => number(it.1),
        BASE_POS: int_unsigned not null default "" => number(it.2),
    }
}

/// The kept columns that each virtual column is made from.
fn bases_of(table: &Arc<Table>, wanted: &Wanted) -> Vec<Row> {
    let (id, positions) = (table.descriptor().def().id, positions(table));
    let mut rows = Vec::new();
    for (position, column) in &positions {
        let Some(generated) = column.generated.as_ref().filter(|generated| !generated.stored) else {
            continue;
        };
        let read = columns_read(&generated.expression).unwrap_or_default();
        let bases = positions.iter().filter(|(_, base)| !is_virtual(base));
        for (base, _) in bases.filter(|(_, base)| read.iter().any(|name| base.is_called(name))) {
            rows.push(virtual_columns::row(&(id, *position, *base), wanted));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_decimals_are_those_of_their_digits() {
        let bytes = |precision, scale| length(&SqlType::Decimal { precision, scale, unsigned: false });
        assert_eq!([bytes(10, 2), bytes(1, 0), bytes(18, 9), bytes(65, 30), bytes(7, 7)], [5, 1, 8, 30, 4]);
    }
}
