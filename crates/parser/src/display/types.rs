//! Types.

use super::{Quoted, Text};
use crate::ast::{CastCharset, CastType, DataType, TypeKind};
use std::fmt::{self, Display, Formatter};

/// `[(n)]`.
struct Length(Option<u64>);

impl Display for Length {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(length) => write!(f, "({length})"),
            None => Ok(()),
        }
    }
}

impl Display for CastType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            CastType::Binary(length) => write!(f, "binary{}", Length(*length)),
            CastType::Char { length, charset } => {
                write!(f, "char{}", Length(*length))?;
                match charset {
                    None => Ok(()),
                    Some(CastCharset::Named(name)) => write!(f, " charset {name}"),
                    Some(CastCharset::BinaryCollation) => f.write_str(" binary"),
                }
            }
            CastType::Signed => f.write_str("signed"),
            CastType::Unsigned => f.write_str("unsigned"),
            CastType::Date => f.write_str("date"),
            CastType::Time(digits) => write!(f, "time{}", Length(digits.map(u64::from))),
            CastType::DateTime(digits) => write!(f, "datetime{}", Length(digits.map(u64::from))),
            CastType::Year => f.write_str("year"),
            CastType::Decimal(precision, scale) => write!(f, "decimal({precision},{scale})"),
            CastType::Float => f.write_str("float"),
            CastType::Double => f.write_str("double"),
            CastType::Real => f.write_str("real"),
            CastType::Json => f.write_str("json"),
            CastType::Geometry(name) => f.write_str(name),
        }
    }
}

/// A name that is quoted only if it is not a word.
struct Plain<'a>(&'a str);

impl Display for Plain<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match is_word(self.0) && self.0.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => f.write_str(self.0),
            false => Quoted(self.0).fmt(f),
        }
    }
}

impl Display for DataType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        if self.unsigned {
            f.write_str(" unsigned")?;
        }
        if self.zerofill {
            f.write_str(" zerofill")?;
        }
        if let Some(charset) = &self.charset {
            write!(f, " character set {}", Plain(charset))?;
        }
        if self.binary {
            f.write_str(" binary")?;
        }
        if let Some(collation) = &self.collation {
            write!(f, " collate {}", Plain(collation))?;
        }
        Ok(())
    }
}

impl Display for TypeKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TypeKind::TinyInt(width) => write!(f, "tinyint{}", Length(*width)),
            TypeKind::SmallInt(width) => write!(f, "smallint{}", Length(*width)),
            TypeKind::MediumInt(width) => write!(f, "mediumint{}", Length(*width)),
            TypeKind::Int(width) => write!(f, "int{}", Length(*width)),
            TypeKind::BigInt(width) => write!(f, "bigint{}", Length(*width)),
            TypeKind::Bool => f.write_str("bool"),
            TypeKind::Serial => f.write_str("serial"),
            TypeKind::Decimal(precision, scale) => numeric(f, "decimal", *precision, *scale),
            TypeKind::Float(precision, scale) => numeric(f, "float", *precision, *scale),
            TypeKind::Double(size) => numeric(f, "double", size.map(|s| s.0), size.map(|s| s.1)),
            TypeKind::Real(size) => numeric(f, "real", size.map(|s| s.0), size.map(|s| s.1)),
            TypeKind::Bit(width) => write!(f, "bit{}", Length(*width)),
            TypeKind::Char(length) => write!(f, "char{}", Length(*length)),
            TypeKind::VarChar(length) => write!(f, "varchar({length})"),
            TypeKind::Binary(length) => write!(f, "binary{}", Length(*length)),
            TypeKind::VarBinary(length) => write!(f, "varbinary({length})"),
            TypeKind::TinyBlob => f.write_str("tinyblob"),
            TypeKind::Blob(length) => write!(f, "blob{}", Length(*length)),
            TypeKind::MediumBlob => f.write_str("mediumblob"),
            TypeKind::LongBlob => f.write_str("longblob"),
            TypeKind::TinyText => f.write_str("tinytext"),
            TypeKind::Text(length) => write!(f, "text{}", Length(*length)),
            TypeKind::MediumText => f.write_str("mediumtext"),
            TypeKind::LongText => f.write_str("longtext"),
            TypeKind::Date => f.write_str("date"),
            TypeKind::Time(digits) => write!(f, "time{}", Length(*digits)),
            TypeKind::DateTime(digits) => write!(f, "datetime{}", Length(*digits)),
            TypeKind::Timestamp(digits) => write!(f, "timestamp{}", Length(*digits)),
            TypeKind::Year(_) => f.write_str("year"),
            TypeKind::Enum(values) => members(f, "enum", values),
            TypeKind::Set(values) => members(f, "set", values),
            TypeKind::Json => f.write_str("json"),
            TypeKind::Geometry(name) => f.write_str(name),
            TypeKind::Vector(length) => write!(f, "vector{}", Length(*length)),
        }
    }
}

fn numeric(f: &mut Formatter<'_>, name: &str, precision: Option<u64>, scale: Option<u64>) -> fmt::Result {
    match (precision, scale) {
        (Some(precision), Some(scale)) => write!(f, "{name}({precision},{scale})"),
        (Some(precision), None) => write!(f, "{name}({precision})"),
        _ => f.write_str(name),
    }
}

fn members(f: &mut Formatter<'_>, name: &str, values: &[Vec<u8>]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (index, value) in values.iter().enumerate() {
        write!(f, "{}{}", if index > 0 { "," } else { "" }, Text(value))?;
    }
    f.write_str(")")
}
