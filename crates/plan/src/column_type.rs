//! Column types: from the words of CREATE TABLE and JSON_TABLE to a [`SqlType`].

use palisade_base::error_catalogue::{
    ER_COLLATION_CHARSET_MISMATCH, ER_DUPLICATED_VALUE_IN_TYPE, ER_ILLEGAL_VALUE_FOR_TYPE,
    ER_INVALID_YEAR_COLUMN_LENGTH, ER_M_BIGGER_THAN_D, ER_TOO_BIG_DISPLAYWIDTH, ER_TOO_BIG_FIELDLENGTH,
    ER_TOO_BIG_PRECISION, ER_TOO_BIG_SCALE, ER_TOO_BIG_SET, ER_TOO_LONG_SET_ENUM_VALUE,
};
use palisade_base::mysql_error;
use palisade_catalog::types::{IntWidth, LobSize};
use palisade_catalog::{Bytes, Charset, Collation, CollationId, SqlType, charset};
use palisade_parser::ast::{DataType, TypeKind};

use palisade_expr::error::not_supported;

use palisade_expr::SqlResult;

/// A column's type and what of its declaration is not in the type.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredType {
    /// The type.
    pub sql_type: SqlType,
    /// ZEROFILL.
    pub zerofill: bool,
    /// Display width of an integer, if declared.
    pub display_width: Option<u8>,
}

/// The collation that CHARACTER SET and COLLATE name; `inherited` if neither does.
pub fn collation_of(
    charset: Option<&str>,
    collation: Option<&str>,
    inherited: CollationId,
) -> SqlResult<CollationId> {
    let charset = match charset {
        Some(name) => {
            Some(Charset::by_name(name).ok_or_else(|| palisade_expr::error::unknown_charset(name))?)
        }
        None => None,
    };
    let Some(name) = collation else {
        return Ok(charset.map_or(inherited, |charset| Collation::default_of(charset).id));
    };
    let collation = Collation::by_name(name).ok_or_else(|| palisade_expr::error::unknown_collation(name))?;
    match charset {
        Some(charset) if charset != collation.charset => {
            Err(mysql_error!(ER_COLLATION_CHARSET_MISMATCH, name, charset.name()))
        }
        _ => Ok(collation.id),
    }
}

/// Longest fraction of a second.
const MOST_FRACTION_DIGITS: u64 = 6;

fn fraction(column: &str, digits: Option<u64>) -> SqlResult<u8> {
    let digits = digits.unwrap_or(0);
    if digits > MOST_FRACTION_DIGITS {
        return Err(mysql_error!(ER_TOO_BIG_PRECISION, digits, column, MOST_FRACTION_DIGITS));
    }
    Ok(digits as u8)
}

fn length(column: &str, length: u64, most: u64) -> SqlResult<u32> {
    if length > most {
        return Err(mysql_error!(ER_TOO_BIG_FIELDLENGTH, column, most));
    }
    Ok(length as u32)
}

/// The type of column `column` as declared; `inherited` is the table's collation, members are in the
/// character set of `client`.
pub fn declared(
    column: &str,
    ty: &DataType,
    inherited: CollationId,
    client: CollationId,
) -> SqlResult<DeclaredType> {
    let unsigned = ty.unsigned;
    let integer = |width, display: Option<u64>| -> SqlResult<DeclaredType> {
        let display_width = match display {
            Some(display) if display > 255 => {
                return Err(mysql_error!(ER_TOO_BIG_DISPLAYWIDTH, column, 255));
            }
            display => display.map(|display| display as u8),
        };
        Ok(DeclaredType { sql_type: SqlType::Int { width, unsigned }, zerofill: ty.zerofill, display_width })
    };
    match &ty.kind {
        TypeKind::TinyInt(display) => return integer(IntWidth::Tiny, *display),
        TypeKind::SmallInt(display) => return integer(IntWidth::Small, *display),
        TypeKind::MediumInt(display) => return integer(IntWidth::Medium, *display),
        TypeKind::Int(display) => return integer(IntWidth::Int, *display),
        TypeKind::BigInt(display) => return integer(IntWidth::Big, *display),
        TypeKind::Bool => return integer(IntWidth::Tiny, Some(1)),
        TypeKind::Serial => {
            let sql_type = SqlType::BIGINT_UNSIGNED;
            return Ok(DeclaredType { sql_type, zerofill: false, display_width: None });
        }
        _ => {}
    }
    let sql_type = match &ty.kind {
        TypeKind::Decimal(precision, scale) => decimal(column, *precision, *scale, unsigned)?,
        TypeKind::Float(Some(precision), None) => match precision {
            0..=24 => SqlType::Float { unsigned, digits: None },
            25..=53 => SqlType::Double { unsigned, digits: None },
            _ => return Err(mysql_error!(ER_TOO_BIG_PRECISION, precision, column, 53)),
        },
        TypeKind::Float(precision, scale) => {
            SqlType::Float { unsigned, digits: shown_digits(column, precision.zip(*scale))? }
        }
        TypeKind::Double(digits) | TypeKind::Real(digits) => {
            SqlType::Double { unsigned, digits: shown_digits(column, *digits)? }
        }
        TypeKind::Bit(width) => match width.unwrap_or(1) {
            width @ 1..=64 => SqlType::Bit { width: width as u8 },
            _ => return Err(mysql_error!(ER_TOO_BIG_DISPLAYWIDTH, column, 64)),
        },
        TypeKind::Date => SqlType::Date,
        TypeKind::Time(digits) => SqlType::Time { fsp: fraction(column, *digits)? },
        TypeKind::DateTime(digits) => SqlType::DateTime { fsp: fraction(column, *digits)? },
        TypeKind::Timestamp(digits) => SqlType::Timestamp { fsp: fraction(column, *digits)? },
        TypeKind::Year(Some(width)) if *width != 4 => {
            return Err(mysql_error!(ER_INVALID_YEAR_COLUMN_LENGTH));
        }
        TypeKind::Year(_) => SqlType::Year,
        TypeKind::Binary(bytes) => SqlType::Binary { length: length(column, bytes.unwrap_or(1), 255)? },
        TypeKind::VarBinary(bytes) => SqlType::VarBinary { length: length(column, *bytes, 65_535)? },
        TypeKind::TinyBlob => SqlType::Blob { size: LobSize::Tiny },
        TypeKind::Blob(bytes) => SqlType::Blob { size: lob_size(*bytes) },
        TypeKind::MediumBlob => SqlType::Blob { size: LobSize::Medium },
        TypeKind::LongBlob => SqlType::Blob { size: LobSize::Long },
        TypeKind::Json => SqlType::Json,
        TypeKind::Geometry(name) => {
            return Err(not_supported(format_args!("the type {}", name.to_ascii_uppercase())));
        }
        TypeKind::Vector(_) => return Err(not_supported("the type VECTOR")),
        _ => text(column, ty, inherited, client)?,
    };
    Ok(DeclaredType { sql_type, zerofill: ty.zerofill, display_width: None })
}

/// 1074 if a type that a query has given is longer than the same type may be declared.
pub fn check_length(column: &str, ty: &SqlType) -> SqlResult<()> {
    let (asked, most) = match ty {
        SqlType::Char { length, .. } | SqlType::Binary { length } => (*length, 255),
        SqlType::VarChar { length, collation } => {
            (*length, 65_535 / u64::from(collation.get().charset.max_bytes()))
        }
        SqlType::VarBinary { length } => (*length, 65_535),
        _ => return Ok(()),
    };
    length(column, asked.into(), most).map(drop)
}

/// Character types, ENUM and SET.
fn text(column: &str, ty: &DataType, inherited: CollationId, client: CollationId) -> SqlResult<SqlType> {
    let mut collation = collation_of(ty.charset.as_deref(), ty.collation.as_deref(), inherited)?;
    if ty.binary {
        collation = Collation::binary_of(collation.get().charset).id;
    }
    let binary = collation == CollationId::BINARY;
    let per_character = u64::from(collation.get().charset.max_bytes());
    Ok(match &ty.kind {
        TypeKind::Char(characters) => {
            let length = length(column, characters.unwrap_or(1), 255)?;
            if binary { SqlType::Binary { length } } else { SqlType::Char { length, collation } }
        }
        TypeKind::VarChar(characters) => {
            let length = length(column, *characters, 65_535 / per_character)?;
            if binary { SqlType::VarBinary { length } } else { SqlType::VarChar { length, collation } }
        }
        TypeKind::Enum(members) => SqlType::Enum {
            members: checked_members(column, "ENUM", members, 65_535, collation, client)?,
            collation,
        },
        TypeKind::Set(members) => SqlType::Set {
            members: checked_members(column, "SET", members, 64, collation, client)?,
            collation,
        },
        kind => {
            let size = match kind {
                TypeKind::TinyText => LobSize::Tiny,
                TypeKind::MediumText => LobSize::Medium,
                TypeKind::LongText => LobSize::Long,
                TypeKind::Text(characters) => {
                    lob_size(characters.map(|count| count.saturating_mul(per_character)))
                }
                other => unreachable!("{other:?} is no character type"),
            };
            if binary { SqlType::Blob { size } } else { SqlType::Text { size, collation } }
        }
    })
}

/// Most characters of a member of an ENUM or SET.
const LONGEST_MEMBER: usize = 255;

fn checked_members(
    column: &str,
    type_name: &str,
    members: &[Vec<u8>],
    most: usize,
    collation: CollationId,
    client: CollationId,
) -> SqlResult<std::sync::Arc<[Bytes]>> {
    if members.len() > most {
        return Err(mysql_error!(ER_TOO_BIG_SET, column));
    }
    // trailing spaces of members are dropped, as in MySQL
    let in_column_set = |member: &Vec<u8>| {
        let mut converted = Vec::new();
        charset::convert(trim_end(member), client.get().charset, collation.get().charset, &mut converted);
        Bytes::from(converted)
    };
    let members: Vec<Bytes> = members.iter().map(in_column_set).collect();
    for (place, member) in members.iter().enumerate() {
        if collation.get().charset.prefix_len(member, LONGEST_MEMBER) < member.len() {
            return Err(mysql_error!(ER_TOO_LONG_SET_ENUM_VALUE, column));
        }
        if type_name == "SET" && member.contains(&b',') {
            let member = String::from_utf8_lossy(member).into_owned();
            return Err(mysql_error!(ER_ILLEGAL_VALUE_FOR_TYPE, "set", member));
        }
        if let Some(twice) = members.iter().take(place).find(|other| collation.get().equal(other, member)) {
            let member = String::from_utf8_lossy(twice).into_owned();
            return Err(mysql_error!(ER_DUPLICATED_VALUE_IN_TYPE, column, member, type_name));
        }
    }
    Ok(members.into())
}

fn trim_end(text: &[u8]) -> &[u8] {
    let mut kept = text;
    while let [rest @ .., b' '] = kept {
        kept = rest;
    }
    kept
}

/// The smallest LOB that holds so many bytes; without a length, the ordinary one.
fn lob_size(bytes: Option<u64>) -> LobSize {
    match bytes {
        None => LobSize::Normal,
        Some(0..=0xff) => LobSize::Tiny,
        Some(0x100..=0xffff) => LobSize::Normal,
        Some(0x1_0000..=0xff_ffff) => LobSize::Medium,
        Some(_) => LobSize::Long,
    }
}

fn decimal(column: &str, precision: Option<u64>, scale: Option<u64>, unsigned: bool) -> SqlResult<SqlType> {
    // DECIMAL(0) is DECIMAL(10)
    let precision = precision.filter(|precision| *precision > 0).unwrap_or(10);
    let scale = scale.unwrap_or(0);
    if scale > 30 {
        return Err(mysql_error!(ER_TOO_BIG_SCALE, scale, column, 30));
    }
    if precision > 65 {
        return Err(mysql_error!(ER_TOO_BIG_PRECISION, precision, column, 65));
    }
    if precision < scale {
        return Err(mysql_error!(ER_M_BIGGER_THAN_D, column));
    }
    Ok(SqlType::Decimal { precision: precision as u8, scale: scale as u8, unsigned })
}

fn shown_digits(column: &str, digits: Option<(u64, u64)>) -> SqlResult<Option<(u8, u8)>> {
    let Some((width, scale)) = digits else { return Ok(None) };
    if scale > 30 {
        return Err(mysql_error!(ER_TOO_BIG_SCALE, scale, column, 30));
    }
    if width > 255 {
        return Err(mysql_error!(ER_TOO_BIG_DISPLAYWIDTH, column, 255));
    }
    if width < scale {
        return Err(mysql_error!(ER_M_BIGGER_THAN_D, column));
    }
    Ok(Some((width as u8, scale as u8)))
}
