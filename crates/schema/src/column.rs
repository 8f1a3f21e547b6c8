//! A column's declaration.

use palisade_catalog::descriptor::Column;
use palisade_catalog::types::{IntWidth, LobSize};
use palisade_catalog::value::{Bytes, EnumValue, SetValue};
use palisade_catalog::{CollationId, SqlType, Value};

/// The collations that columns are declared with, under MySQL's names.
#[allow(non_upper_case_globals, missing_docs, reason = "named as MySQL names them")]
pub mod collation {
    use palisade_catalog::CollationId;

    pub const ascii_general_ci: CollationId = CollationId::ASCII_GENERAL_CI;
    pub const latin1_swedish_ci: CollationId = CollationId::LATIN1_SWEDISH_CI;
    pub const utf8mb3_bin: CollationId = CollationId::UTF8MB3_BIN;
    pub const utf8mb3_general_ci: CollationId = CollationId::UTF8MB3_GENERAL_CI;
    pub const utf8mb3_tolower_ci: CollationId = CollationId(76);
    pub const utf8mb4_0900_ai_ci: CollationId = CollationId::UTF8MB4_0900_AI_CI;
    pub const utf8mb4_bin: CollationId = CollationId::UTF8MB4_BIN;
}

/// A column's type, as a constant: the [`SqlType`] of ENUM and SET owns its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "as in SqlType")]
pub enum ColumnType {
    Int {
        width: IntWidth,
        unsigned: bool,
    },
    /// TINYINT(1).
    Bool,
    Decimal {
        precision: u8,
        scale: u8,
    },
    /// DECIMAL(M,D) UNSIGNED.
    UnsignedDecimal {
        precision: u8,
        scale: u8,
    },
    Float,
    Double,
    /// DOUBLE(M,D).
    DoubleDigits {
        precision: u8,
        scale: u8,
    },
    Date,
    Time,
    DateTime {
        fsp: u8,
    },
    Timestamp {
        fsp: u8,
    },
    Char {
        length: u32,
        collation: CollationId,
    },
    VarChar {
        length: u32,
        collation: CollationId,
    },
    VarBinary {
        length: u32,
    },
    Text {
        size: LobSize,
        collation: CollationId,
    },
    Blob {
        size: LobSize,
    },
    Json,
    Enum {
        members: &'static [&'static str],
        collation: CollationId,
    },
    Set {
        members: &'static [&'static str],
        collation: CollationId,
    },
}

impl ColumnType {
    /// The type of the column's values.
    pub fn sql_type(&self) -> SqlType {
        let owned = |members: &[&str]| members.iter().map(|member| Bytes::from(member.as_bytes())).collect();
        match *self {
            ColumnType::Int { width, unsigned } => SqlType::Int { width, unsigned },
            ColumnType::Bool => SqlType::Int { width: IntWidth::Tiny, unsigned: false },
            ColumnType::Decimal { precision, scale } => {
                SqlType::Decimal { precision, scale, unsigned: false }
            }
            ColumnType::UnsignedDecimal { precision, scale } => {
                SqlType::Decimal { precision, scale, unsigned: true }
            }
            ColumnType::Float => SqlType::Float { unsigned: false, digits: None },
            ColumnType::Double => SqlType::DOUBLE,
            ColumnType::DoubleDigits { precision, scale } => {
                SqlType::Double { unsigned: false, digits: Some((precision, scale)) }
            }
            ColumnType::Date => SqlType::Date,
            ColumnType::Time => SqlType::Time { fsp: 0 },
            ColumnType::DateTime { fsp } => SqlType::DateTime { fsp },
            ColumnType::Timestamp { fsp } => SqlType::Timestamp { fsp },
            ColumnType::Char { length, collation } => SqlType::Char { length, collation },
            ColumnType::VarChar { length, collation } => SqlType::VarChar { length, collation },
            ColumnType::VarBinary { length } => SqlType::VarBinary { length },
            ColumnType::Text { size, collation } => SqlType::Text { size, collation },
            ColumnType::Blob { size } => SqlType::Blob { size },
            ColumnType::Json => SqlType::Json,
            ColumnType::Enum { members, collation } => SqlType::Enum { members: owned(members), collation },
            ColumnType::Set { members, collation } => SqlType::Set { members: owned(members), collation },
        }
    }

    /// The value in the form that the type has: a text becomes the member of an ENUM or SET that it names, a
    /// number has the type's sign.
    #[inline]
    pub fn kept(&self, value: Value) -> Value {
        match (self, &value) {
            // Most columns of tables of sums.
            (ColumnType::Int { unsigned: true, .. }, Value::UInt(_)) => value,
            _ => self.converted(value),
        }
    }

    fn converted(&self, value: Value) -> Value {
        match (self, value) {
            (ColumnType::Enum { members, .. }, Value::Bytes(text)) => {
                let place = members.iter().position(|member| member.as_bytes() == &*text);
                match place.and_then(|place| u16::try_from(place + 1).ok()) {
                    Some(index) => Value::Enum(Box::new(EnumValue { index, text })),
                    None => Value::Enum(Box::new(EnumValue { index: 0, text: Bytes::new() })),
                }
            }
            (ColumnType::Set { members, .. }, Value::Bytes(text)) => {
                let is_named =
                    |member: &&str| text.split(|byte| *byte == b',').any(|part| part == member.as_bytes());
                let places = (0u32..).zip(members.iter()).filter(|(_, member)| is_named(member));
                let bits = places.fold(0, |bits, (place, _)| bits | 1u64.checked_shl(place).unwrap_or(0));
                Value::Set(Box::new(SetValue { bits, text }))
            }
            (ColumnType::Int { unsigned: true, .. }, Value::Int(number)) => {
                u64::try_from(number).map_or(Value::Int(number), Value::UInt)
            }
            (ColumnType::Int { unsigned: false, .. } | ColumnType::Bool, Value::UInt(number)) => {
                Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
            }
            (ColumnType::Float, Value::Double(number)) => Value::Float(number as f32),
            (_, value) => value,
        }
    }
}

/// What a column names, where it names something that statements look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// The schema that the row is about, or in which the table is that it is about.
    Schema,
    /// The table that the row is about.
    Table,
}

/// A column of a virtual table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDecl {
    /// Its name, as it is shown.
    pub name: &'static str,
    /// Its type.
    pub column_type: ColumnType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// COLUMN_DEFAULT.
    pub default: Option<&'static str>,
    /// COLUMN_KEY.
    pub key: &'static str,
}

impl ColumnDecl {
    /// The column as the dictionary describes one, without its default.
    pub fn column(&self) -> Column {
        let mut column = Column::new(self.name, self.column_type.sql_type(), 0);
        column.nullable = self.nullable;
        if self.column_type == ColumnType::Bool {
            column.display_width = Some(1);
        }
        column
    }

    /// What it names, by its name: MySQL's tables of information_schema and performance_schema are consistent
    /// in that.
    pub fn named(&self) -> Option<Named> {
        match self.name {
            "TABLE_SCHEMA" | "SCHEMA_NAME" | "CONSTRAINT_SCHEMA" | "INDEX_SCHEMA" | "OBJECT_SCHEMA" => {
                Some(Named::Schema)
            }
            "TABLE_NAME" | "OBJECT_NAME" => Some(Named::Table),
            _ => None,
        }
    }
}
