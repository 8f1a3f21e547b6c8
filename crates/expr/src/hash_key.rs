//! Keys for hashing: bytes that are equal where values are, for groups, duplicates, joins and IN.

use palisade_catalog::{Decimal, SqlType, Value, ValueRef, Watch};

use super::{Context, Domain, JsonSide};
use crate::SqlResult;

/// Appends bytes that are equal for equal values of a type: for hashing groups and duplicates. Long values
/// are [watched](palisade_catalog::watch).
#[inline]
pub fn append_hash_key(value: &Value, ty: &SqlType, out: &mut Vec<u8>, watch: Watch<'_>) {
    append_hash_key_of(value.as_ref(), ty, out, watch);
}

/// The same of a value that is borrowed.
pub fn append_hash_key_of(value: ValueRef<'_>, ty: &SqlType, out: &mut Vec<u8>, watch: Watch<'_>) {
    match value {
        ValueRef::Null => out.push(0),
        ValueRef::Int(v) => append_signed(v, out),
        ValueRef::UInt(v) => append_integer_key(i128::from(v), out),
        ValueRef::Decimal(v) => {
            out.push(2);
            append_decimal(&v, out);
        }
        ValueRef::Float(v) => append_tagged(3, (f64::from(v) + 0.0).to_le_bytes(), out),
        ValueRef::Double(v) => append_tagged(3, (v + 0.0).to_le_bytes(), out),
        ValueRef::Bytes(v) => {
            out.push(4);
            if *ty == SqlType::Json {
                return palisade_catalog::json::put_key_watched(v, out, watch);
            }
            ty.collation().get().sort_key_watched(v, out, watch);
        }
        ValueRef::Date(v) => append_tagged(5, v.packed().to_le_bytes(), out),
        ValueRef::Time(v) => append_tagged(6, v.micros().to_le_bytes(), out),
        ValueRef::DateTime(v) => append_tagged(7, v.packed().to_le_bytes(), out),
        ValueRef::Timestamp(v) => append_tagged(8, v.0.to_le_bytes(), out),
        ValueRef::Year(v) => append_tagged(9, v.to_le_bytes(), out),
        ValueRef::Bit { bits, .. } => append_tagged(10, bits.to_le_bytes(), out),
        ValueRef::Enum { index, .. } => append_tagged(11, index.to_le_bytes(), out),
        ValueRef::Set { bits, .. } => append_tagged(12, bits.to_le_bytes(), out),
    }
}

/// Appends the bytes of a kind of values.
#[inline]
fn append_tagged<const LENGTH: usize>(kind: u8, bytes: [u8; LENGTH], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&bytes);
}

/// Sign, scale and words of a number, 1.0 and 1.00 being one: how many words, and those.
fn append_decimal(number: &Decimal, out: &mut Vec<u8>) {
    let (words, scale, is_negative) = number.normalized().to_words();
    let used = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
    out.extend_from_slice(&[u8::from(is_negative), scale, used as u8]);
    words.iter().take(used).for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// What [`append_domain_key`] appends of a number in [`Domain::Integer`].
#[inline]
pub fn append_integer_key(number: i128, out: &mut Vec<u8>) {
    match i64::try_from(number) {
        Ok(number) => append_signed(number, out),
        Err(_) => {
            out.push(WIDE_INTEGER);
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Begins an integer that 64 bits have no room for.
const WIDE_INTEGER: u8 = 13;
/// With the number of its bytes, begins any other one.
const INTEGER: u8 = 16;

/// Appends how many bytes an integer has, and these: a key of two or three has room in a
/// [`KeyIndex`](super::keys::KeyIndex)'s table.
#[inline]
fn append_signed(number: i64, out: &mut Vec<u8>) {
    // Small ones of either sign have few bytes.
    let folded = ((number << 1) ^ (number >> 63)) as u64;
    let used = 8 - folded.leading_zeros() / 8;
    out.push(INTEGER + used as u8);
    let end = out.len() + used as usize;
    out.extend_from_slice(&folded.to_le_bytes());
    out.truncate(end);
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
