//! Fixed-width fields: every type but strings, in the one form that rows and keys share.
//!
//! The form is memcomparable, so that building a key from a row and a row from a covering key is copying bytes:
//!
//! | type | bytes |
//! |---|---|
//! | integers, TIME | big-endian, sign bit flipped if signed |
//! | DECIMAL | see [`Decimal::pack`] |
//! | FLOAT, DOUBLE | IEEE bits; negative ones inverted, others with the sign bit set; -0 is 0 |
//! | DATE | 3 |
//! | DATETIME, TIMESTAMP, TIME | 5, 4, 3 and half as many as there are digits after the second |
//! | BIT, ENUM, SET, YEAR | as few as hold them |

use crate::decimal::Decimal;
use crate::part::from;
use crate::temporal::{Date, DateTime, Time, Timestamp};
use crate::types::SqlType;
use crate::value::{SetText, ValueRef};

/// Bytes of a field of this type; `None` for strings, which are of variable width.
pub(crate) fn fixed_len(sql_type: &SqlType) -> Option<usize> {
    Some(match sql_type {
        SqlType::Int { width, .. } => width.bytes(),
        SqlType::Decimal { precision, .. } => Decimal::packed_len(*precision),
        SqlType::Float { .. } => 4,
        SqlType::Double { .. } => 8,
        SqlType::Bit { width } => usize::from(*width).div_ceil(8),
        SqlType::Date => 3,
        SqlType::Time { fsp } => 3 + fraction_len(*fsp),
        SqlType::DateTime { fsp } => 5 + fraction_len(*fsp),
        SqlType::Timestamp { fsp } => 4 + fraction_len(*fsp),
        SqlType::Year => 1,
        SqlType::Enum { members, .. } => 1 + usize::from(members.len() > 255),
        SqlType::Set { members, .. } => match members.len().div_ceil(8) {
            0 => 1,
            bytes @ 1..=4 => bytes,
            _ => 8,
        },
        SqlType::Null => 0,
        SqlType::Char { .. }
        | SqlType::VarChar { .. }
        | SqlType::Binary { .. }
        | SqlType::VarBinary { .. }
        | SqlType::Text { .. }
        | SqlType::Blob { .. }
        | SqlType::Json => return None,
    })
}

fn fraction_len(fsp: u8) -> usize {
    usize::from(fsp).div_ceil(2)
}

/// 10 to the power of the digits that are not kept.
fn fraction_unit(fsp: u8) -> u32 {
    10u32.pow(6 - u32::from(fsp.min(6)))
}

/// Appends the low `length` bytes. The common lengths are written out, so that each is one store.
fn put(value: u64, length: usize, out: &mut Vec<u8>) {
    match length {
        1 => out.push(value as u8),
        4 => out.extend_from_slice(&(value as u32).to_be_bytes()),
        8 => out.extend_from_slice(&value.to_be_bytes()),
        _ => out.extend_from_slice(from(&value.to_be_bytes(), 8 - length)),
    }
}

fn get(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => u64::from(a),
        [a, b, c, d] => u64::from(u32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)),
    }
}

fn sign_bit(length: usize) -> u64 {
    1 << (8 * length - 1)
}

/// Sign extension of a field whose sign bit is flipped.
fn get_signed(bytes: &[u8]) -> i64 {
    let shift = 64 - 8 * bytes.len() as u32;
    ((get(bytes) ^ sign_bit(bytes.len())) << shift) as i64 >> shift
}

/// Appends `value` as a field of `sql_type`; false (and nothing appended) if it is not of that type or beyond its
/// range.
#[must_use]
pub(crate) fn encode_fixed(sql_type: &SqlType, value: ValueRef<'_>, out: &mut Vec<u8>) -> bool {
    match (sql_type, value) {
        (SqlType::Int { width, unsigned: true }, ValueRef::UInt(_) | ValueRef::Int(_)) => {
            let number = match value {
                ValueRef::UInt(number) => number,
                ValueRef::Int(number) if number >= 0 => number as u64,
                _ => return false,
            };
            if number > width.unsigned_max() {
                return false;
            }
            put(number, width.bytes(), out);
        }
        (SqlType::Int { width, unsigned: false }, ValueRef::UInt(_) | ValueRef::Int(_)) => {
            let number = match value {
                ValueRef::Int(number) => number,
                ValueRef::UInt(number) if number <= i64::MAX as u64 => number as i64,
                _ => return false,
            };
            let (low, high) = width.signed_range();
            if !(low..=high).contains(&number) {
                return false;
            }
            put(number as u64 ^ sign_bit(width.bytes()), width.bytes(), out);
        }
        (SqlType::Decimal { precision, scale, .. }, ValueRef::Decimal(number)) => {
            if !number.fits(*precision, *scale) {
                return false;
            }
            number.pack(*precision, *scale, out);
        }
        (SqlType::Float { .. }, ValueRef::Float(number)) => {
            let bits = (number + 0.0).to_bits();
            let flipped = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
            out.extend_from_slice(&flipped.to_be_bytes());
        }
        (SqlType::Double { .. }, ValueRef::Double(number)) => {
            let bits = (number + 0.0).to_bits();
            let flipped = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
            out.extend_from_slice(&flipped.to_be_bytes());
        }
        (SqlType::Bit { width }, ValueRef::Bit { bits, .. }) => {
            if *width < 64 && bits >> width != 0 {
                return false;
            }
            put(bits, usize::from(*width).div_ceil(8), out);
        }
        (SqlType::Date, ValueRef::Date(date)) => put(date.packed().into(), 3, out),
        (SqlType::Time { fsp }, ValueRef::Time(time)) => {
            let length = 3 + fraction_len(*fsp);
            let units = time.micros() / i64::from(fraction_unit(*fsp));
            put(units as u64 ^ sign_bit(length), length, out);
        }
        (SqlType::DateTime { fsp }, ValueRef::DateTime(value)) => {
            put(value.packed() >> 20, 5, out);
            put((value.micros() / fraction_unit(*fsp)).into(), fraction_len(*fsp), out);
        }
        (SqlType::Timestamp { fsp }, ValueRef::Timestamp(Timestamp(micros))) => {
            if !(0..=Timestamp::MAX.0).contains(&micros) {
                return false;
            }
            let (seconds, fraction) = (micros as u64 / 1_000_000, micros as u64 % 1_000_000);
            put(seconds, 4, out);
            put(fraction / u64::from(fraction_unit(*fsp)), fraction_len(*fsp), out);
        }
        (SqlType::Year, ValueRef::Year(year)) => match year {
            0 => out.push(0),
            1901..=2155 => out.push((year - 1900) as u8),
            _ => return false,
        },
        (SqlType::Enum { members, .. }, ValueRef::Enum { index, .. }) => {
            if usize::from(index) > members.len() {
                return false;
            }
            put(index.into(), 1 + usize::from(members.len() > 255), out);
        }
        (SqlType::Set { members, .. }, ValueRef::Set { bits, .. }) => {
            let Some(length) = fixed_len(sql_type) else { return false };
            if members.len() < 64 && bits >> members.len() != 0 {
                return false;
            }
            put(bits, length, out);
        }
        (SqlType::Null, ValueRef::Null) => {}
        _ => return false,
    }
    true
}

/// Reads a field of `sql_type`, which has exactly [`fixed_len`] bytes; NULL if the bytes are no such field.
pub(crate) fn decode_fixed<'a>(sql_type: &'a SqlType, bytes: &[u8]) -> ValueRef<'a> {
    decode(sql_type, bytes).unwrap_or(ValueRef::Null)
}

fn decode<'a>(sql_type: &'a SqlType, bytes: &[u8]) -> Option<ValueRef<'a>> {
    Some(match sql_type {
        SqlType::Int { unsigned: false, .. } => ValueRef::Int(get_signed(bytes)),
        SqlType::Int { unsigned: true, .. } => ValueRef::UInt(get(bytes)),
        SqlType::Decimal { precision, scale, .. } => {
            ValueRef::Decimal(Decimal::unpack(bytes, *precision, *scale)?)
        }
        SqlType::Float { .. } => {
            let flipped = u32::from_be_bytes(bytes.try_into().ok()?);
            let bits = if flipped >> 31 == 0 { !flipped } else { flipped & !(1 << 31) };
            ValueRef::Float(f32::from_bits(bits))
        }
        SqlType::Double { .. } => {
            let flipped = u64::from_be_bytes(bytes.try_into().ok()?);
            let bits = if flipped >> 63 == 0 { !flipped } else { flipped & !(1 << 63) };
            ValueRef::Double(f64::from_bits(bits))
        }
        SqlType::Bit { width } => ValueRef::Bit { bits: get(bytes), width: *width },
        SqlType::Date => ValueRef::Date(Date::from_packed(get(bytes) as u32)?),
        SqlType::Time { fsp } => {
            ValueRef::Time(Time::from_micros(get_signed(bytes).checked_mul(fraction_unit(*fsp).into())?)?)
        }
        SqlType::DateTime { fsp } => {
            let (whole, fraction) = bytes.split_at_checked(5)?;
            let micros = get(fraction) * u64::from(fraction_unit(*fsp));
            (micros < 1_000_000).then_some(())?;
            ValueRef::DateTime(DateTime::from_packed(get(whole) << 20 | micros)?)
        }
        SqlType::Timestamp { fsp } => {
            let (whole, fraction) = bytes.split_at_checked(4)?;
            let micros = get(fraction) * u64::from(fraction_unit(*fsp));
            let value = get(whole) * 1_000_000 + micros;
            (micros < 1_000_000 && value <= Timestamp::MAX.0 as u64).then_some(())?;
            ValueRef::Timestamp(Timestamp(value as i64))
        }
        SqlType::Year => ValueRef::Year(match get(bytes) {
            0 => 0,
            year => 1900 + year as u16,
        }),
        SqlType::Enum { members, .. } => {
            let index = get(bytes) as u16;
            let text: &[u8] = match index {
                0 => &[],
                _ => members.get(usize::from(index) - 1)?,
            };
            ValueRef::Enum { index, text }
        }
        SqlType::Set { members, .. } => ValueRef::Set { bits: get(bytes), text: SetText::Members(members) },
        _ => return None,
    })
}
