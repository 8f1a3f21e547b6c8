//! WEIGHT_STRING: the bytes that values are sorted by.
//!
//! A text has the weights that its collation gives it; integers, and dates and times as MySQL packs them,
//! have eight bytes that order as they do. Numbers with a fraction have none: NULL.

use super::{Evaluation, Function, Typed, function};
use crate::SqlResult;
use crate::convert::text_of;
use crate::place::At;
use crate::{Context, Expr, Node};
use Evaluation::Strict;
use palisade_catalog::types::LobSize;
use palisade_catalog::{CollationId, Date, DateTime, SqlType, Time, Value, Zone};

/// Their declarations: the second argument is how many characters a text is cut or padded to.
pub static FUNCTIONS: &[Function] = &[function("weight_string", (1, 2), weight_type, Strict(weight_string))];

/// Of eight bytes the first bit, which negative numbers do not have.
const SIGN: u64 = 1 << 63;

fn weight_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let operand = arguments.at(0)?;
    let characters = match arguments.get(1).map(|count| &count.node) {
        Some(Node::Literal(Value::Int(count))) => u32::try_from(*count).unwrap_or(u32::MAX),
        _ => 0,
    };
    let is_lob = matches!(operand.ty, SqlType::Text { .. } | SqlType::Blob { .. } | SqlType::Json);
    Ok(Typed::nullable(if is_lob {
        SqlType::Blob { size: LobSize::Long }
    } else if !operand.ty.is_text() {
        SqlType::VarBinary { length: operand.ty.wire_length(1).max(8) }
    } else {
        let collation = operand.ty.collation().get();
        let most = collation.charset.max_bytes();
        let bytes = operand.ty.wire_length(most).max(characters);
        match collation.most_weight_bytes() {
            Some(weight) => SqlType::VarBinary { length: bytes.saturating_mul(weight).clamp(8, 65_535) },
            None => SqlType::Blob { size: LobSize::Normal },
        }
    }))
}

fn weight_string(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let (value, ty) = (values.at(0)?, &arguments.at(0)?.ty);
    let key = match value {
        Value::Bytes(_) => return text_weights(cx, values, ty),
        Value::Bit { .. } if ty.is_string() => return text_weights(cx, values, ty),
        Value::Int(_) | Value::Enum(_) | Value::Set(_) => cx.to_i64(value.as_ref())? as u64 ^ SIGN,
        Value::UInt(number) => *number,
        Value::Year(year) => u64::from(*year),
        Value::Bit { bits, .. } => *bits,
        Value::Date(date) => SIGN | packed_date(*date),
        Value::Time(time) => packed_time(*time),
        // A moment is ordered as it is in UTC.
        Value::DateTime(local) if matches!(ty, SqlType::Timestamp { .. }) => {
            let moment = cx.zone().to_timestamp(*local).map(|moment| moment.to_datetime(&Zone::UTC));
            SIGN | packed_moment(moment.unwrap_or(*local))
        }
        Value::DateTime(moment) => SIGN | packed_moment(*moment),
        Value::Timestamp(moment) => SIGN | packed_moment(moment.to_datetime(&Zone::UTC)),
        _ => return Ok(Value::Null),
    };
    Ok(Value::bytes(key.to_be_bytes().to_vec()))
}

fn text_weights(cx: &mut Context<'_>, values: &[Value], ty: &SqlType) -> SqlResult<Value> {
    let collation = if *ty == SqlType::Json { CollationId::UTF8MB4_BIN } else { ty.collation() }.get();
    let mut text = text_of(values.at(0)?, ty).into_vec();
    if let Some(count) = values.get(1) {
        let count = usize::try_from(cx.to_i64(count.as_ref())?).unwrap_or(0);
        if cx.exceeds(count)? {
            return Ok(cx.too_large("weight_string"));
        }
        let has = collation.charset.char_count(&text);
        if has > count {
            let end = collation.charset.prefix_len(&text, count);
            text.truncate(end);
        } else if collation.pad_space {
            text.resize(text.len() + count - has, b' ');
        }
    }
    let most = cx.packet_limit();
    match cx.watched(|watch| collation.weight_string(&text, most, watch))? {
        Some(weights) => Ok(Value::bytes(weights)),
        None => Ok(cx.too_large("weight_string")),
    }
}

fn packed_date(date: Date) -> u64 {
    u64::from(date.year()) << 9 | u64::from(date.month()) << 5 | u64::from(date.day())
}

/// Hours, minutes and seconds in 12, 6 and 6 bits, and microseconds in 24.
fn packed_clock(hours: u64, minutes: u8, seconds: u8, micros: u32) -> u64 {
    (hours << 12 | u64::from(minutes) << 6 | u64::from(seconds)) << 24 | u64::from(micros)
}

fn packed_time(time: Time) -> u64 {
    const MIDNIGHT: u64 = SIGN | 1 << 47;
    let (negative, hours, minutes, seconds, micros) = time.parts();
    let packed = packed_clock(hours.into(), minutes, seconds, micros);
    if negative { MIDNIGHT - packed - 1 } else { MIDNIGHT + packed }
}

fn packed_moment(moment: DateTime) -> u64 {
    let date = moment.date();
    let day = (u64::from(date.year()) * 13 + u64::from(date.month())) << 5 | u64::from(date.day());
    let clock = packed_clock(moment.hour().into(), moment.minute(), moment.second(), moment.micros());
    day << 41 | clock
}
