//! Keys for hashing: bytes that are equal where values are, for groups, duplicates, joins and IN.

use palisade_catalog::{Decimal, SqlType, Value, Watch};

use super::{Context, Domain, JsonSide};
use crate::SqlResult;

/// Appends bytes that are equal for equal values of a type: for hashing groups and duplicates. Long values
/// are [watched](palisade_catalog::watch).
pub fn append_hash_key(value: &Value, ty: &SqlType, out: &mut Vec<u8>, watch: Watch<'_>) {
    match value {
        Value::Null => out.push(0),
        Value::Int(v) => {
            out.push(1);
            out.extend_from_slice(&i128::from(*v).to_le_bytes());
        }
        Value::UInt(v) => {
            out.push(1);
            out.extend_from_slice(&i128::from(*v).to_le_bytes());
        }
        Value::Decimal(v) => {
            out.push(2);
            append_decimal(v, out);
        }
        Value::Float(v) => {
            out.push(3);
            out.extend_from_slice(&(f64::from(*v) + 0.0).to_le_bytes());
        }
        Value::Double(v) => {
            out.push(3);
            out.extend_from_slice(&(*v + 0.0).to_le_bytes());
        }
        Value::Bytes(v) => {
            out.push(4);
            if *ty == SqlType::Json {
                return palisade_catalog::json::put_key_watched(v, out, watch);
            }
            ty.collation().get().sort_key_watched(v, out, watch);
        }
        Value::Date(v) => {
            out.push(5);
            out.extend_from_slice(&v.packed().to_le_bytes());
        }
        Value::Time(v) => {
            out.push(6);
            out.extend_from_slice(&v.micros().to_le_bytes());
        }
        Value::DateTime(v) => {
            out.push(7);
            out.extend_from_slice(&v.packed().to_le_bytes());
        }
        Value::Timestamp(v) => {
            out.push(8);
            out.extend_from_slice(&v.0.to_le_bytes());
        }
        Value::Year(v) => {
            out.push(9);
            out.extend_from_slice(&v.to_le_bytes());
        }
        Value::Bit { bits, .. } => {
            out.push(10);
            out.extend_from_slice(&bits.to_le_bytes());
        }
        Value::Enum(v) => {
            out.push(11);
            out.extend_from_slice(&v.index.to_le_bytes());
        }
        Value::Set(v) => {
            out.push(12);
            out.extend_from_slice(&v.bits.to_le_bytes());
        }
    }
}

/// Sign, scale and words of a number, 1.0 and 1.00 being one: how many words, and those.
fn append_decimal(number: &Decimal, out: &mut Vec<u8>) {
    let (words, scale, is_negative) = number.normalized().to_words();
    let used = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
    out.extend_from_slice(&[u8::from(is_negative), scale, used as u8]);
    words.iter().take(used).for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// What [`append_domain_key`] appends of a number in [`Domain::Integer`].
pub fn append_integer_key(number: i128, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Appends bytes that are equal for values that compare equal in `domain`; false if the value is NULL there.
pub fn append_domain_key(
    cx: &mut Context<'_>,
    value: &Value,
    ty: &SqlType,
    domain: Domain,
    out: &mut Vec<u8>,
) -> SqlResult<bool> {
    match domain {
        Domain::Integer => append_integer_key(cx.to_integer(value.as_ref())?, out),
        Domain::Decimal => {
            let decimal = cx.to_decimal(value.as_ref())?;
            append_decimal(&decimal, out);
        }
        // Numbers that may be equal without being the same are not looked for by keys.
        Domain::Double | Domain::Fixed(_) => {
            out.extend_from_slice(&(cx.to_f64(value.as_ref())? + 0.0).to_le_bytes());
        }
        Domain::Text(collation) => {
            let text = super::convert::text_of(value, ty);
            cx.watched(|watch| collation.get().sort_key_watched(&text, out, watch))?;
        }
        Domain::DateTime => match cx.datetime_to_compare(value.as_ref())? {
            Some(datetime) => out.extend_from_slice(&datetime.packed().to_le_bytes()),
            None => return Ok(false),
        },
        Domain::YearOrDate => {
            let date = cx.year_to_compare(value.as_ref())?;
            out.extend_from_slice(&date.packed().to_le_bytes());
        }
        Domain::DateOrNone => match cx.to_datetime(value.as_ref())? {
            Some(datetime) => out.extend_from_slice(&datetime.packed().to_le_bytes()),
            None => return Ok(false),
        },
        Domain::Time | Domain::TimeOrNone => match cx.to_time(value.as_ref())? {
            Some(time) => out.extend_from_slice(&time.micros().to_le_bytes()),
            None => return Ok(false),
        },
        // one key serves both sides: a document is told by its type
        Domain::Json(left, right) => {
            let other = if left == JsonSide::Document { right } else { left };
            let side = if *ty == SqlType::Json { JsonSide::Document } else { other };
            if let JsonSide::Above(rank) = side {
                out.extend_from_slice(&[u8::MAX, rank]);
                value.as_ref().append_text(ty, out);
                return Ok(true);
            }
            let text = side.json(cx, value.as_ref())?.to_text();
            cx.watched(|watch| palisade_catalog::json::put_key_watched(&text, out, watch))?;
        }
    }
    Ok(true)
}
