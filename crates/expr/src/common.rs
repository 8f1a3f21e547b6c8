//! The type that the values of several expressions have in common: of CASE, IF, COALESCE, GREATEST and UNION.
//!
//! Numbers go through three steps, as in MySQL. Their kinds are merged one after the other (`Kind::merge`);
//! FLOAT stays FLOAT before a BIGINT and becomes DOUBLE behind one, so the order of the expressions counts.
//! Where signed and unsigned numbers meet, an integer kind that an unsigned one fills is widened. Last,
//! digits: a DECIMAL gets the most digits before and the most behind the point; FLOAT and DOUBLE have a fixed
//! number of digits behind the point if all operands do, as FLOAT(10,5), PI() and integers.
//!
//! Dates make dates, JSON values JSON, and whatever else meets makes text: binary if one of them is, BIT
//! included.

use palisade_catalog::types::{IntWidth, LobSize};
use palisade_catalog::{CollationId, SqlType, Value};

use super::arithmetic::decimal_shape;
use super::compare::result_collation;
use super::{Coercibility, Expr, Node};
use crate::SqlResult;
use crate::func::json::convert::is_truth;

/// What [`common`] finds.
#[derive(Debug, Clone)]
pub struct Common {
    /// The type that holds all values.
    pub ty: SqlType,
    /// Whether one can be NULL.
    pub nullable: bool,
    /// How strongly the result insists on its collation.
    pub coercibility: Coercibility,
}

/// The type that can hold every operand's values. `operation` is named where their collations do not go
/// together; `connection` is the collation of text made of numbers.
pub fn common(operands: &[&Expr], connection: CollationId, operation: &str) -> SqlResult<Common> {
    let nullable = operands.iter().any(|operand| operand.nullable);
    let known: Vec<&Expr> =
        operands.iter().copied().filter(|operand| !matches!(operand.ty, SqlType::Null)).collect();
    let Some(first) = known.first() else {
        return Ok(Common { ty: SqlType::Null, nullable: true, coercibility: Coercibility::Null });
    };
    let all = |test: fn(&SqlType) -> bool| known.iter().all(|operand| test(&operand.ty));
    let plain = |ty| Ok(Common { ty, nullable, coercibility: Coercibility::Numeric });
    if all(SqlType::is_numeric) {
        return plain(common_number(&known));
    }
    if all(SqlType::is_temporal) {
        return plain(common_date(&known));
    }
    if all(|ty| matches!(ty, SqlType::Json)) {
        return plain(SqlType::Json);
    }
    let (collation, coercibility) = match result_collation(operands, operation)? {
        (_, Coercibility::Numeric) => (connection, Coercibility::Literal),
        // A user variable insists more on its collation than a literal, a number's too.
        (CollationId::BINARY, Coercibility::Literal)
            if known.iter().any(|operand| operand.is_numeric_variable()) =>
        {
            (connection, Coercibility::Implicit)
        }
        // Numbers and dates beside the text that a function makes of NULL.
        (CollationId::BINARY, Coercibility::Null)
            if known.iter().any(|operand| operand.is_written_as_text()) =>
        {
            (connection, Coercibility::Literal)
        }
        found => found,
    };
    let ty = match &first.ty {
        ty if known.iter().all(|operand| operand.ty == *ty) && ty.collation() == collation => text_like(ty),
        _ => common_text(&known, collation),
    };
    Ok(Common { ty, nullable, coercibility })
}

/// The type of a column of UNION or VALUES: as [`common`], but texts of fixed length stay so, beside numbers
/// and dates, too.
pub fn common_column(operands: &[&Expr], connection: CollationId, operation: &str) -> SqlResult<Common> {
    let mut found = common(operands, connection, operation)?;
    let mut known = operands.iter().filter(|operand| operand.ty != SqlType::Null);
    if let (Some(only), None) = (known.next(), known.next())
        && matches!(only.ty, SqlType::Enum { .. } | SqlType::Set { .. })
    {
        found.ty = only.ty.clone();
        return Ok(found);
    }
    let lengths = operands.iter().filter_map(|operand| Length::of(operand));
    if lengths.reduce(Length::merge) == Some(Length::Fixed) {
        found.ty = match found.ty {
            SqlType::VarChar { length, collation } => SqlType::Char { length, collation },
            SqlType::VarBinary { length } => SqlType::Binary { length },
            other => other,
        };
    }
    found.ty = settled_column(found.ty);
    Ok(found)
}

/// The most characters that a text of a UNION's column has that is no TEXT, and the most bytes of one that is
/// no BLOB.
const LONGEST_IN_COLUMN: u32 = 512;

/// The type of a column of UNION: a TEXT or BLOB if it has room for more than a column of varying length does
/// there.
fn settled_column(ty: SqlType) -> SqlType {
    match ty {
        SqlType::VarChar { length, collation } if length > LONGEST_IN_COLUMN => {
            SqlType::Text { size: LobSize::Normal, collation }
        }
        SqlType::VarBinary { length } if length > LONGEST_IN_COLUMN => {
            SqlType::Blob { size: LobSize::Normal }
        }
        ty => ty,
    }
}

/// What the values of a type make of the length of texts beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// CHAR and BINARY.
    Fixed,
    Varying,
    Number,
    Date,
    /// ENUM and SET.
    Member,
}

impl Length {
    fn of(operand: &Expr) -> Option<Length> {
        match &operand.ty {
            SqlType::Null => None,
            // The text of a date that is moved.
            SqlType::VarChar { .. } if is_moved_date(operand) => Some(Length::Fixed),
            SqlType::Char { .. } | SqlType::Binary { .. } => Some(Length::Fixed),
            SqlType::Enum { .. } | SqlType::Set { .. } => Some(Length::Member),
            ty if ty.is_numeric() => Some(Length::Number),
            ty if ty.is_temporal() => Some(Length::Date),
            _ => Some(Length::Varying),
        }
    }

    fn merge(self, other: Length) -> Length {
        match (self, other) {
            (Length::Varying, _) | (_, Length::Varying) => Length::Varying,
            (Length::Fixed, _) | (_, Length::Fixed) => Length::Fixed,
            (Length::Number, Length::Number) | (Length::Date, Length::Date) => self,
            _ => Length::Varying,
        }
    }
}

/// Whether an interval or a time is added to it.
fn is_moved_date(operand: &Expr) -> bool {
    match &operand.node {
        Node::Call { function, .. } => {
            matches!(function.name, "addtime" | "date_add" | "date_sub" | "subtime" | "timestampadd")
        }
        _ => false,
    }
}

/// The type without a fixed length or members.
fn text_like(ty: &SqlType) -> SqlType {
    match ty {
        SqlType::Enum { collation, .. } | SqlType::Set { collation, .. } => {
            SqlType::VarChar { length: ty.wire_length(1), collation: *collation }
        }
        other => varying(other),
    }
}

/// The type without a fixed length.
pub fn varying(ty: &SqlType) -> SqlType {
    match ty {
        SqlType::Char { length, collation } => SqlType::VarChar { length: *length, collation: *collation },
        SqlType::Binary { length } => SqlType::VarBinary { length: *length },
        other => other.clone(),
    }
}

/// What a number is, without sign and digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int(IntWidth),
    Year,
    Bit,
    Decimal,
    Float,
    Double,
}

impl Kind {
    fn of(expr: &Expr) -> Kind {
        match &expr.ty {
            // TRUE, FALSE and comparisons are of type BIGINT, one digit long.
            SqlType::Int { .. } if is_truth(expr) => Kind::Int(IntWidth::Big),
            SqlType::Int { width, .. } => Kind::Int(*width),
            SqlType::Year => Kind::Year,
            SqlType::Bit { .. } => Kind::Bit,
            SqlType::Decimal { .. } => Kind::Decimal,
            SqlType::Float { .. } => Kind::Float,
            _ => Kind::Double,
        }
    }

    /// The kind that holds the values of both. A FLOAT behind a BIGINT makes DOUBLE, before one it makes
    /// FLOAT.
    fn merge(self, other: Kind) -> Kind {
        match (self, other) {
            (same, other) if same == other => same,
            (Kind::Double, _) | (_, Kind::Double) => Kind::Double,
            (Kind::Int(IntWidth::Big), Kind::Float) => Kind::Double,
            (Kind::Float, other) | (other, Kind::Float) => match other {
                Kind::Int(IntWidth::Int) | Kind::Decimal | Kind::Bit => Kind::Double,
                _ => Kind::Float,
            },
            (Kind::Decimal, _) | (_, Kind::Decimal) => Kind::Decimal,
            (Kind::Bit, _) | (_, Kind::Bit) => Kind::Int(IntWidth::Big),
            (Kind::Year, Kind::Int(width)) | (Kind::Int(width), Kind::Year) => {
                Kind::Int(width.max(IntWidth::Small))
            }
            (Kind::Int(left), Kind::Int(right)) => Kind::Int(left.max(right)),
            (Kind::Year, Kind::Year) => Kind::Year,
        }
    }
}

fn common_number(operands: &[&Expr]) -> SqlType {
    let kinds = || operands.iter().map(|operand| Kind::of(operand));
    let unsigned = operands.iter().all(|operand| operand.ty.is_unsigned());
    let mixed = !unsigned && operands.iter().any(|operand| operand.ty.is_unsigned());
    let Some(kind) = kinds().reduce(Kind::merge) else { return SqlType::Null };
    match kind {
        Kind::Int(width) => {
            // Whether an unsigned operand may use all bits of that width.
            let filled = operands
                .iter()
                .zip(kinds())
                .any(|(operand, own)| operand.ty.is_unsigned() && (own == kind || own == Kind::Bit));
            let width = match width {
                width if !(mixed && filled) => width,
                IntWidth::Tiny => IntWidth::Small,
                IntWidth::Small => IntWidth::Medium,
                IntWidth::Medium => IntWidth::Int,
                IntWidth::Int => IntWidth::Big,
                IntWidth::Big => return common_decimal(operands),
            };
            let same = operands.iter().all(|operand| operand.ty == SqlType::INT);
            if same { SqlType::INT } else { SqlType::Int { width, unsigned } }
        }
        Kind::Year => SqlType::Year,
        Kind::Bit => {
            let width = operands.iter().map(|operand| digits(operand).0).max().unwrap_or(1);
            SqlType::Bit { width: width.clamp(1, 64) }
        }
        Kind::Decimal => common_decimal(operands),
        Kind::Float => SqlType::Float { unsigned: false, digits: fixed_digits(operands) },
        Kind::Double => SqlType::Double { unsigned: false, digits: fixed_digits(operands) },
    }
}

fn common_decimal(operands: &[&Expr]) -> SqlType {
    let digits = || operands.iter().map(|operand| digits(operand));
    let scale = digits().map(|(_, scale)| scale).max().unwrap_or(0);
    let whole = digits().map(|(precision, scale)| precision.saturating_sub(scale)).max().unwrap_or(0);
    SqlType::Decimal { precision: whole.saturating_add(scale).clamp(1, 65), scale, unsigned: false }
}

/// Digits of an exact number, and how many of them are behind the point. A BIT counts its bits.
fn digits(operand: &Expr) -> (u8, u8) {
    match (&operand.ty, &operand.node) {
        (SqlType::Bit { width }, _) => (*width, 0),
        (SqlType::Int { .. }, Node::Literal(Value::Int(number))) => {
            (decimal_digits(number.unsigned_abs()), 0)
        }
        (SqlType::Int { .. }, Node::Literal(Value::UInt(number))) => (decimal_digits(*number), 0),
        (SqlType::Int { .. }, _) if is_truth(operand) => (1, 0),
        (ty, _) => decimal_shape(ty),
    }
}

fn decimal_digits(number: u64) -> u8 {
    number.checked_ilog10().map_or(1, |log| log as u8 + 1)
}

/// Width and scale of a FLOAT or DOUBLE that holds them all; `None` if one has no fixed scale.
fn fixed_digits(operands: &[&Expr]) -> Option<(u8, u8)> {
    let scale = operands.iter().map(|operand| operand.ty.wire_decimals()).max()?;
    if scale >= 31 {
        return None;
    }
    let whole = |operand: &&Expr| shown_length(operand).saturating_sub(u32::from(operand.ty.wire_decimals()));
    let width = operands.iter().map(whole).max()? + u32::from(scale);
    Some((width.min(u32::from(u8::MAX)) as u8, scale))
}

fn common_date(operands: &[&Expr]) -> SqlType {
    let Some(first) = operands.first() else { return SqlType::Null };
    let fsp = operands.iter().map(|operand| operand.ty.fraction_digits()).max().unwrap_or(0);
    match &first.ty {
        ty if operands.iter().all(|operand| operand.ty == *ty) => ty.clone(),
        _ if operands.iter().all(|operand| matches!(operand.ty, SqlType::Time { .. })) => {
            SqlType::Time { fsp }
        }
        _ => SqlType::DateTime { fsp },
    }
}

/// Most characters that an operand's text has.
fn shown_length(operand: &Expr) -> u32 {
    let negative = matches!(operand.node, Node::Literal(Value::Int(number)) if number < 0);
    match (&operand.ty, &operand.node) {
        (SqlType::Int { .. }, Node::Literal(_)) => u32::from(digits(operand).0) + u32::from(negative),
        (SqlType::Int { .. }, _) if is_truth(operand) => 1,
        (ty, _) => ty.wire_length(1),
    }
}

fn common_text(operands: &[&Expr], collation: CollationId) -> SqlType {
    let lob = |operand: &&Expr| match &operand.ty {
        SqlType::Text { size, .. } | SqlType::Blob { size } => Some(*size),
        SqlType::Json => Some(LobSize::Long),
        _ => None,
    };
    let binary = collation == CollationId::BINARY;
    if let Some(size) = operands.iter().filter_map(lob).max() {
        return if binary { SqlType::Blob { size } } else { SqlType::Text { size, collation } };
    }
    let length = |operand: &&Expr| {
        let per_char = match &operand.ty {
            ty if binary && ty.is_text() => ty.collation().get().charset.max_bytes(),
            _ => 1,
        };
        // MySQL has room for the sign of a number that has none, too.
        let roomy = match operand.node {
            Node::Literal(Value::Int(number)) => number >= 0 && !is_truth(operand),
            Node::UserVariable(_) => matches!(operand.ty, SqlType::Int { .. }),
            _ => false,
        };
        u64::from(shown_length(operand) + u32::from(roomy)) * u64::from(per_char)
    };
    text_of(operands.iter().map(length).max().unwrap_or(0), collation)
}

/// A type of text for so many characters.
pub fn text_of(length: u64, collation: CollationId) -> SqlType {
    let binary = collation == CollationId::BINARY;
    let bytes = length.saturating_mul(u64::from(collation.get().charset.max_bytes()));
    match u32::try_from(length) {
        Ok(length) if bytes <= 65_535 => match binary {
            true => SqlType::VarBinary { length },
            false => SqlType::VarChar { length, collation },
        },
        _ => {
            let size = match bytes {
                0..=0xffff => LobSize::Normal,
                0x1_0000..=0xff_ffff => LobSize::Medium,
                _ => LobSize::Long,
            };
            if binary { SqlType::Blob { size } } else { SqlType::Text { size, collation } }
        }
    }
}
