//! Types of the results of functions of dates and times.

use palisade_base::error_catalogue::ER_TOO_BIG_PRECISION;
use palisade_base::mysql_error;
use palisade_catalog::{CollationId, DateTime, SqlType, Time, Value};

use crate::func::unit::Unit;
use crate::func::{Typed, characters, text_of_length};
use crate::place::At;
use crate::{Expr, Node, SqlResult};

pub(super) fn int(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::BIGINT))
}

pub(super) fn year_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::Year))
}

pub(super) fn name_type(_: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(9, connection)))
}

pub(super) fn format_name_type(_: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(17, connection)))
}

pub(super) fn format_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let format = arguments.at(1)?;
    let length = match &format.node {
        Node::Literal(Value::Bytes(text)) => length_in_format(text),
        _ => characters(format) * 10,
    };
    Ok(Typed::nullable(text_of_length(length, connection)))
}

/// Characters that a date has at most which a format writes, as MySQL counts them.
fn length_in_format(format: &[u8]) -> u64 {
    let mut length = 0;
    let mut rest = format.iter();
    while let Some(byte) = rest.next() {
        length += match byte {
            b'%' => match rest.next() {
                Some(b'M' | b'W') => 64,
                Some(b'a' | b'b') => 32,
                Some(b'r') => 11,
                Some(b'T') => 8,
                Some(b'H' | b'k') => 7,
                Some(b'f') => 6,
                Some(b'D' | b'Y' | b'x' | b'X') => 4,
                Some(b'j') => 3,
                Some(
                    b'U' | b'u' | b'V' | b'v' | b'y' | b'm' | b'd' | b'h' | b'i' | b'I' | b'l' | b'p' | b'S'
                    | b's' | b'c' | b'e',
                ) => 2,
                _ => 1,
            },
            _ => 1,
        };
    }
    length
}

pub(super) fn date_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::Date))
}

pub(super) fn date_never_null(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(SqlType::Date))
}

/// Digits of the second's fraction that values of an expression have, if it is a text or a number: 6 of text,
/// whose values can have any.
pub(super) fn digits_of(argument: &Expr) -> u8 {
    match argument.numeric_type() {
        SqlType::Decimal { scale, .. } => (*scale).min(6),
        SqlType::Double { .. } | SqlType::Float { .. } => 6,
        ty if ty.is_string() => 6,
        ty => ty.fraction_digits(),
    }
}

/// The same of an expression that is read as a date and time: a literal's digits can be counted.
pub fn datetime_digits_of(argument: &Expr) -> u8 {
    match &argument.node {
        Node::Literal(Value::Bytes(text)) if argument.ty.is_string() => {
            DateTime::fraction_digits(text).unwrap_or(6)
        }
        _ => digits_of(argument),
    }
}

/// The same of one that is read as a time.
pub fn time_digits_of(argument: &Expr) -> u8 {
    match &argument.node {
        Node::Literal(Value::Bytes(text)) if argument.ty.is_string() => {
            Time::fraction_digits(text).unwrap_or(6)
        }
        _ => digits_of(argument),
    }
}

pub(super) fn time_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::Time { fsp: time_digits_of(arguments.at(0)?) }))
}

pub(super) fn make_time_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::Time { fsp: digits_of(arguments.at(2)?) }))
}

pub(super) fn sec_to_time_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::Time { fsp: digits_of(arguments.at(0)?) }))
}

pub(super) fn datetime_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::DateTime { fsp: datetime_digits_of(arguments.at(0)?) }))
}

pub(super) fn timestamp_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let added = arguments.get(1).map_or(0, time_digits_of);
    Ok(Typed::nullable(SqlType::DateTime { fsp: datetime_digits_of(arguments.at(0)?).max(added) }))
}

/// The constant number of digits of NOW(6): of what is written MySQL takes the last eight bits.
pub(super) fn constant_digits(arguments: &[Expr]) -> u8 {
    match arguments.first().map(|argument| &argument.node) {
        Some(Node::Literal(Value::Int(digits))) => (digits & 0xff) as u8,
        Some(Node::Literal(Value::UInt(digits))) => (digits & 0xff) as u8,
        _ => 0,
    }
}

/// 1426 for more than six digits.
pub(super) fn check_digits(arguments: &[Expr], function: &str) -> SqlResult<()> {
    match constant_digits(arguments) {
        digits @ 7.. => Err(mysql_error!(ER_TOO_BIG_PRECISION, digits, function, 6)),
        _ => Ok(()),
    }
}

pub(super) fn now_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    check_digits(arguments, "now")?;
    Ok(Typed::never_null(SqlType::DateTime { fsp: constant_digits(arguments) }))
}

pub(super) fn now_time_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    check_digits(arguments, "curtime")?;
    Ok(Typed::never_null(SqlType::Time { fsp: constant_digits(arguments) }))
}

/// DATE stays a DATE when whole days are added; TIME stays a TIME when the unit has no days, else it is one
/// of today; text stays text.
pub(super) fn added_type(operand: &Expr, amount: &Expr, unit: Unit, connection: CollationId) -> SqlType {
    let fraction = if unit.has_micros() {
        6
    } else if unit.is_seconds() {
        digits_of(amount)
    } else {
        0
    };
    match &operand.ty {
        SqlType::Date if unit.is_days() => SqlType::Date,
        SqlType::Date => SqlType::DateTime { fsp: fraction },
        SqlType::Time { fsp } if !unit.needs_date() => SqlType::Time { fsp: fraction.max(*fsp) },
        SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => {
            SqlType::DateTime { fsp: fraction.max(*fsp) }
        }
        _ => text_of_length(29, connection),
    }
}

pub(super) fn date_add_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let unit = Unit::of(arguments.at(2)?)?;
    Ok(Typed::nullable(added_type(arguments.at(0)?, arguments.at(1)?, unit, connection)))
}

pub(super) fn timestampadd_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let unit = Unit::of(arguments.at(0)?)?;
    Ok(Typed::nullable(added_type(arguments.at(2)?, arguments.at(1)?, unit, connection)))
}

pub(super) fn from_unixtime_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    if arguments.len() == 2 {
        return format_type(arguments, connection);
    }
    Ok(Typed::nullable(SqlType::DateTime { fsp: digits_of(arguments.at(0)?) }))
}

pub(super) fn unix_timestamp_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let Some(argument) = arguments.first() else { return Ok(Typed::never_null(SqlType::BIGINT)) };
    Ok(Typed::strict(
        match datetime_digits_of(argument) {
            0 => SqlType::BIGINT,
            scale => SqlType::Decimal { precision: 12 + scale, scale, unsigned: false },
        },
        arguments,
    ))
}
