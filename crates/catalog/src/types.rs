//! MySQL's column types: what a column or expression may hold, and how it presents itself on the wire.

use std::sync::Arc;

use crate::charset::{Charset, convert};
use crate::collation::CollationId;
use crate::value::Bytes;

/// Type codes of the protocol (`MYSQL_TYPE_*`).
#[allow(missing_docs)]
pub mod wire {
    pub const DECIMAL: u8 = 0;
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const VARCHAR: u8 = 15;
    pub const BIT: u8 = 16;
    pub const JSON: u8 = 245;
    pub const NEWDECIMAL: u8 = 246;
    pub const ENUM: u8 = 247;
    pub const SET: u8 = 248;
    pub const TINY_BLOB: u8 = 249;
    pub const MEDIUM_BLOB: u8 = 250;
    pub const LONG_BLOB: u8 = 251;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
    pub const STRING: u8 = 254;
    pub const GEOMETRY: u8 = 255;
}

/// Column flags of the protocol.
#[allow(missing_docs)]
pub mod flags {
    pub const NOT_NULL: u16 = 1;
    pub const PRI_KEY: u16 = 2;
    pub const UNIQUE_KEY: u16 = 4;
    pub const MULTIPLE_KEY: u16 = 8;
    pub const BLOB: u16 = 16;
    pub const UNSIGNED: u16 = 32;
    pub const ZEROFILL: u16 = 64;
    pub const BINARY: u16 = 128;
    pub const ENUM: u16 = 256;
    pub const AUTO_INCREMENT: u16 = 512;
    pub const TIMESTAMP: u16 = 1024;
    pub const SET: u16 = 2048;
    pub const NO_DEFAULT_VALUE: u16 = 4096;
    pub const ON_UPDATE_NOW: u16 = 8192;
    pub const NUM: u16 = 32768;
}

/// Width of an integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum IntWidth {
    Tiny,
    Small,
    Medium,
    Int,
    Big,
}

impl IntWidth {
    /// Bytes of storage: 1, 2, 3, 4 or 8.
    pub const fn bytes(self) -> usize {
        match self {
            IntWidth::Tiny => 1,
            IntWidth::Small => 2,
            IntWidth::Medium => 3,
            IntWidth::Int => 4,
            IntWidth::Big => 8,
        }
    }

    /// MySQL's name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            IntWidth::Tiny => "tinyint",
            IntWidth::Small => "smallint",
            IntWidth::Medium => "mediumint",
            IntWidth::Int => "int",
            IntWidth::Big => "bigint",
        }
    }

    /// Smallest and largest signed value.
    pub const fn signed_range(self) -> (i64, i64) {
        let shift = 64 - 8 * self.bytes() as u32;
        (i64::MIN >> shift, i64::MAX >> shift)
    }

    /// Largest unsigned value.
    pub const fn unsigned_max(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes() as u32)
    }
}

/// Size class of TEXT and BLOB types, by the bytes of their length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum LobSize {
    Tiny,
    Normal,
    Medium,
    Long,
}

impl LobSize {
    /// Longest value, in bytes.
    pub const fn max_bytes(self) -> u64 {
        match self {
            LobSize::Tiny => 0xff,
            LobSize::Normal => 0xffff,
            LobSize::Medium => 0xff_ffff,
            LobSize::Long => 0xffff_ffff,
        }
    }
}

/// A column's or expression's type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SqlType {
    /// The type of a bare NULL; no column has it.
    Null,
    Int {
        width: IntWidth,
        unsigned: bool,
    },
    Decimal {
        precision: u8,
        scale: u8,
        unsigned: bool,
    },
    /// `digits`: the (M,D) of the deprecated FLOAT(M,D).
    Float {
        unsigned: bool,
        digits: Option<(u8, u8)>,
    },
    Double {
        unsigned: bool,
        digits: Option<(u8, u8)>,
    },
    /// `width` bits, 1..=64.
    Bit {
        width: u8,
    },
    Date,
    /// `fsp`: digits of the second's fraction, 0..=6; so below.
    Time {
        fsp: u8,
    },
    DateTime {
        fsp: u8,
    },
    Timestamp {
        fsp: u8,
    },
    Year,
    /// `length` in characters.
    Char {
        length: u32,
        collation: CollationId,
    },
    /// `length` in characters.
    VarChar {
        length: u32,
        collation: CollationId,
    },
    /// `length` in bytes.
    Binary {
        length: u32,
    },
    /// `length` in bytes.
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
    Enum {
        members: Arc<[Bytes]>,
        collation: CollationId,
    },
    Set {
        members: Arc<[Bytes]>,
        collation: CollationId,
    },
    Json,
}

impl SqlType {
    /// INT.
    pub const INT: SqlType = SqlType::Int { width: IntWidth::Int, unsigned: false };
    /// BIGINT.
    pub const BIGINT: SqlType = SqlType::Int { width: IntWidth::Big, unsigned: false };
    /// BIGINT UNSIGNED.
    pub const BIGINT_UNSIGNED: SqlType = SqlType::Int { width: IntWidth::Big, unsigned: true };
    /// DOUBLE.
    pub const DOUBLE: SqlType = SqlType::Double { unsigned: false, digits: None };

    /// Code of the protocol; see [`wire`].
    pub fn wire_code(&self) -> u8 {
        match self {
            SqlType::Null => wire::NULL,
            SqlType::Int { width, .. } => match width {
                IntWidth::Tiny => wire::TINY,
                IntWidth::Small => wire::SHORT,
                IntWidth::Medium => wire::INT24,
                IntWidth::Int => wire::LONG,
                IntWidth::Big => wire::LONGLONG,
            },
            SqlType::Decimal { .. } => wire::NEWDECIMAL,
            SqlType::Float { .. } => wire::FLOAT,
            SqlType::Double { .. } => wire::DOUBLE,
            SqlType::Bit { .. } => wire::BIT,
            SqlType::Date => wire::DATE,
            SqlType::Time { .. } => wire::TIME,
            SqlType::DateTime { .. } => wire::DATETIME,
            SqlType::Timestamp { .. } => wire::TIMESTAMP,
            SqlType::Year => wire::YEAR,
            SqlType::VarChar { .. } | SqlType::VarBinary { .. } => wire::VAR_STRING,
            SqlType::Text { .. } | SqlType::Blob { .. } => wire::BLOB,
            SqlType::Char { .. } | SqlType::Binary { .. } | SqlType::Enum { .. } | SqlType::Set { .. } => {
                wire::STRING
            }
            SqlType::Json => wire::JSON,
        }
    }

    /// Flags of the protocol that follow from the type alone; see [`flags`].
    pub fn wire_flags(&self) -> u16 {
        let number = |unsigned: bool| flags::NUM | if unsigned { flags::UNSIGNED } else { 0 };
        match self {
            SqlType::Null => flags::BINARY | flags::NUM,
            SqlType::Int { unsigned, .. }
            | SqlType::Decimal { unsigned, .. }
            | SqlType::Float { unsigned, .. }
            | SqlType::Double { unsigned, .. } => flags::BINARY | number(*unsigned),
            SqlType::Bit { .. } => flags::UNSIGNED,
            SqlType::Year => flags::UNSIGNED | flags::ZEROFILL | flags::NUM,
            SqlType::Date | SqlType::Time { .. } | SqlType::DateTime { .. } => flags::BINARY,
            SqlType::Timestamp { .. } => flags::BINARY | flags::TIMESTAMP,
            SqlType::Char { collation, .. } | SqlType::VarChar { collation, .. } => binary_flag(*collation),
            SqlType::Binary { .. } | SqlType::VarBinary { .. } => flags::BINARY,
            SqlType::Text { collation, .. } => flags::BLOB | binary_flag(*collation),
            SqlType::Blob { .. } | SqlType::Json => flags::BLOB | flags::BINARY,
            SqlType::Enum { collation, .. } => flags::ENUM | binary_flag(*collation),
            SqlType::Set { collation, .. } => flags::SET | binary_flag(*collation),
        }
    }

    /// The collation of a text type; BINARY for everything else.
    pub fn collation(&self) -> CollationId {
        match self {
            SqlType::Char { collation, .. }
            | SqlType::VarChar { collation, .. }
            | SqlType::Text { collation, .. }
            | SqlType::Enum { collation, .. }
            | SqlType::Set { collation, .. } => *collation,
            SqlType::Json => CollationId::UTF8MB4_BIN,
            _ => CollationId::BINARY,
        }
    }

    /// The collation of a text type, to be changed.
    pub(crate) fn collation_mut(&mut self) -> Option<&mut CollationId> {
        match self {
            SqlType::Char { collation, .. }
            | SqlType::VarChar { collation, .. }
            | SqlType::Text { collation, .. }
            | SqlType::Enum { collation, .. }
            | SqlType::Set { collation, .. } => Some(collation),
            _ => None,
        }
    }

    /// Digits after the decimal point as the protocol states them: scale, fsp, or 31 where not fixed.
    pub fn wire_decimals(&self) -> u8 {
        match self {
            SqlType::Decimal { scale, .. } => *scale,
            SqlType::Float { digits, .. } | SqlType::Double { digits, .. } => {
                digits.map_or(31, |(_, scale)| scale)
            }
            SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => *fsp,
            _ => 0,
        }
    }

    /// The type as COLUMN_TYPE and SHOW COLUMNS state it, e.g. `int unsigned`, `varchar(20)`, `enum('a','b')`; without
    /// character set. ZEROFILL and a display width are the column's to add (see
    /// [`Column::type_text`](crate::Column::type_text)).
    pub fn declaration(&self) -> String {
        let unsigned = if self.is_unsigned() { " unsigned" } else { "" };
        let fraction =
            |name: &str, fsp: u8| if fsp == 0 { name.to_owned() } else { format!("{name}({fsp})") };
        let digits = |name: &str, digits: &Option<(u8, u8)>| match digits {
            Some((precision, scale)) => format!("{name}({precision},{scale}){unsigned}"),
            None => format!("{name}{unsigned}"),
        };
        let size = |size: &LobSize, kind: &str| {
            let prefix = match size {
                LobSize::Tiny => "tiny",
                LobSize::Normal => "",
                LobSize::Medium => "medium",
                LobSize::Long => "long",
            };
            format!("{prefix}{kind}")
        };
        match self {
            SqlType::Null => "null".to_owned(),
            SqlType::Int { width, .. } => format!("{}{unsigned}", width.name()),
            SqlType::Decimal { precision, scale, .. } => format!("decimal({precision},{scale}){unsigned}"),
            SqlType::Float { digits: shown, .. } => digits("float", shown),
            SqlType::Double { digits: shown, .. } => digits("double", shown),
            SqlType::Bit { width } => format!("bit({width})"),
            SqlType::Date => "date".to_owned(),
            SqlType::Time { fsp } => fraction("time", *fsp),
            SqlType::DateTime { fsp } => fraction("datetime", *fsp),
            SqlType::Timestamp { fsp } => fraction("timestamp", *fsp),
            SqlType::Year => "year".to_owned(),
            SqlType::Char { length, .. } => format!("char({length})"),
            SqlType::VarChar { length, .. } => format!("varchar({length})"),
            SqlType::Binary { length } => format!("binary({length})"),
            SqlType::VarBinary { length } => format!("varbinary({length})"),
            SqlType::Text { size: class, .. } => size(class, "text"),
            SqlType::Blob { size: class } => size(class, "blob"),
            SqlType::Enum { members, collation } => format!("enum({})", members_text(members, *collation)),
            SqlType::Set { members, collation } => format!("set({})", members_text(members, *collation)),
            SqlType::Json => "json".to_owned(),
        }
    }

    /// Digits of the second's fraction that values show; 0 for types that have none.
    pub fn fraction_digits(&self) -> u8 {
        match self {
            SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => *fsp,
            _ => 0,
        }
    }

    /// Longest text of a value in bytes when sent in a character set of `bytes_per_char` bytes per character: the
    /// column length of the protocol. Pass the result charset's; the protocol's own default is 4 (utf8mb4).
    pub fn wire_length(&self, bytes_per_char: u32) -> u32 {
        let fraction = |fsp: u8| if fsp == 0 { 0 } else { u32::from(fsp) + 1 };
        match self {
            SqlType::Null => 0,
            SqlType::Int { width, unsigned } => self::display_width(*width, *unsigned),
            SqlType::Decimal { precision, scale, unsigned } => {
                u32::from(*precision)
                    + u32::from(*scale > 0)
                    + u32::from(!*unsigned)
                    + u32::from(precision == scale)
            }
            SqlType::Float { digits, .. } => digits.map_or(12, |(precision, _)| u32::from(precision)),
            SqlType::Double { digits, .. } => digits.map_or(22, |(precision, _)| u32::from(precision)),
            SqlType::Bit { width } => u32::from(*width),
            SqlType::Date => 10,
            SqlType::Time { fsp } => 10 + fraction(*fsp),
            SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => 19 + fraction(*fsp),
            SqlType::Year => 4,
            SqlType::Char { length, .. } | SqlType::VarChar { length, .. } => {
                length.saturating_mul(bytes_per_char)
            }
            SqlType::Binary { length } | SqlType::VarBinary { length } => *length,
            SqlType::Text { size, .. } => (size.max_bytes() as u32).saturating_mul(match size {
                LobSize::Long => 1,
                _ => bytes_per_char,
            }),
            SqlType::Blob { size } => size.max_bytes() as u32,
            SqlType::Enum { members, .. } => {
                (members.iter().map(|m| m.len()).max().unwrap_or(0) as u32).saturating_mul(bytes_per_char)
            }
            SqlType::Set { members, .. } => {
                let text: usize = members.iter().map(|m| m.len() + 1).sum();
                (text.saturating_sub(1) as u32).saturating_mul(bytes_per_char)
            }
            SqlType::Json => u32::MAX,
        }
    }

    /// Whether values are text with a character set (not binary strings, not JSON).
    pub fn is_text(&self) -> bool {
        matches!(
            self,
            SqlType::Char { .. }
                | SqlType::VarChar { .. }
                | SqlType::Text { .. }
                | SqlType::Enum { .. }
                | SqlType::Set { .. }
        )
    }

    /// Whether values are strings of any kind: text, binary strings, ENUM, SET, JSON.
    pub fn is_string(&self) -> bool {
        self.is_text()
            || matches!(
                self,
                SqlType::Binary { .. } | SqlType::VarBinary { .. } | SqlType::Blob { .. } | SqlType::Json
            )
    }

    /// Whether values are numbers, BIT and YEAR included.
    pub fn is_numeric(&self) -> bool {
        matches!(
            self,
            SqlType::Int { .. }
                | SqlType::Decimal { .. }
                | SqlType::Float { .. }
                | SqlType::Double { .. }
                | SqlType::Bit { .. }
                | SqlType::Year
        )
    }

    /// Whether values are dates or times (not YEAR).
    pub fn is_temporal(&self) -> bool {
        matches!(
            self,
            SqlType::Date | SqlType::Time { .. } | SqlType::DateTime { .. } | SqlType::Timestamp { .. }
        )
    }

    /// Whether it is declared UNSIGNED.
    pub fn is_unsigned(&self) -> bool {
        match self {
            SqlType::Int { unsigned, .. }
            | SqlType::Decimal { unsigned, .. }
            | SqlType::Float { unsigned, .. }
            | SqlType::Double { unsigned, .. } => *unsigned,
            SqlType::Bit { .. } | SqlType::Year => true,
            _ => false,
        }
    }

    /// Whether it is TEXT, BLOB or JSON: no default literal, index needs a prefix.
    pub fn is_lob(&self) -> bool {
        matches!(self, SqlType::Text { .. } | SqlType::Blob { .. } | SqlType::Json)
    }
}

/// `'a','b'`, in UTF-8.
fn members_text(members: &[Bytes], collation: CollationId) -> String {
    let mut out = String::new();
    for member in members {
        let mut utf8 = Vec::new();
        convert(member, collation.get().charset, Charset::Utf8mb4, &mut utf8);
        let text = String::from_utf8_lossy(&utf8).replace('\'', "''");
        let separator = if out.is_empty() { "" } else { "," };
        out.push_str(&format!("{separator}'{text}'"));
    }
    out
}

fn binary_flag(collation: CollationId) -> u16 {
    if collation.get().is_binary_order() { flags::BINARY } else { 0 }
}

/// The display width MySQL 8 reports for an integer type without an explicit one.
pub fn display_width(width: IntWidth, unsigned: bool) -> u32 {
    match (width, unsigned) {
        (IntWidth::Tiny, false) => 4,
        (IntWidth::Tiny, true) => 3,
        (IntWidth::Small, false) => 6,
        (IntWidth::Small, true) => 5,
        (IntWidth::Medium, false) => 9,
        (IntWidth::Medium, true) => 8,
        (IntWidth::Int, false) => 11,
        (IntWidth::Int, true) => 10,
        (IntWidth::Big, _) => 20,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_mysqls() {
        let members: Arc<[Bytes]> = ["a", "it's"].map(Bytes::from).to_vec().into();
        let collation = CollationId::default();
        for (sql_type, text) in [
            (SqlType::INT, "int"),
            (SqlType::BIGINT_UNSIGNED, "bigint unsigned"),
            (SqlType::Decimal { precision: 10, scale: 2, unsigned: true }, "decimal(10,2) unsigned"),
            (SqlType::Float { unsigned: false, digits: Some((7, 3)) }, "float(7,3)"),
            (SqlType::DateTime { fsp: 6 }, "datetime(6)"),
            (SqlType::Timestamp { fsp: 0 }, "timestamp"),
            (SqlType::Text { size: LobSize::Medium, collation }, "mediumtext"),
            (SqlType::Blob { size: LobSize::Normal }, "blob"),
            (SqlType::VarChar { length: 255, collation }, "varchar(255)"),
            (SqlType::Enum { members, collation }, "enum('a','it''s')"),
        ] {
            assert_eq!(sql_type.declaration(), text);
        }
    }

    #[test]
    fn ranges_are_those_of_the_width() {
        assert_eq!(IntWidth::Tiny.signed_range(), (-128, 127));
        assert_eq!(IntWidth::Medium.signed_range(), (-8_388_608, 8_388_607));
        assert_eq!(IntWidth::Big.signed_range(), (i64::MIN, i64::MAX));
        assert_eq!(IntWidth::Medium.unsigned_max(), 16_777_215);
        assert_eq!(IntWidth::Big.unsigned_max(), u64::MAX);
    }
}
