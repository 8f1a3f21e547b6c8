//! Values as bytes and back, exactly as they are: the scale of a DECIMAL, the sign of a zero, the width of a
//! BIT.
//!
//! Rows that wait in a temporary file while a statement goes on have this form. Nothing durable has it, so
//! that it may change with any version.
//!
//! A value is a tag of one byte and what the variant has: numbers little-endian, strings with their length
//! before them.

use palisade_base::codec::{Reader, Truncated, put_bytes, put_varint};

use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time, Timestamp};
use crate::value::{Bytes, EnumValue, SetValue, Value};

/// The bytes are of no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no value")]
pub struct NotAValue;

impl From<Truncated> for NotAValue {
    fn from(_: Truncated) -> Self {
        NotAValue
    }
}

const NULL: u8 = 0;
const INT: u8 = 1;
const UINT: u8 = 2;
const DECIMAL: u8 = 3;
const FLOAT: u8 = 4;
const DOUBLE: u8 = 5;
const BYTES: u8 = 6;
const DATE: u8 = 7;
const TIME: u8 = 8;
const DATETIME: u8 = 9;
const TIMESTAMP: u8 = 10;
const YEAR: u8 = 11;
const BIT: u8 = 12;
const ENUM: u8 = 13;
const SET: u8 = 14;

/// Appends a value.
pub fn append(value: &Value, out: &mut Vec<u8>) {
    let mut number = |tag: u8, bytes: &[u8]| {
        out.push(tag);
        out.extend_from_slice(bytes);
    };
    match value {
        Value::Null => out.push(NULL),
        Value::Int(value) => number(INT, &value.to_le_bytes()),
        Value::UInt(value) => number(UINT, &value.to_le_bytes()),
        Value::Float(value) => number(FLOAT, &value.to_bits().to_le_bytes()),
        Value::Double(value) => number(DOUBLE, &value.to_bits().to_le_bytes()),
        Value::Date(value) => number(DATE, &value.packed().to_le_bytes()),
        Value::Time(value) => number(TIME, &value.micros().to_le_bytes()),
        Value::DateTime(value) => number(DATETIME, &value.packed().to_le_bytes()),
        Value::Timestamp(value) => number(TIMESTAMP, &value.0.to_le_bytes()),
        Value::Year(value) => number(YEAR, &value.to_le_bytes()),
        Value::Bit { bits, width } => {
            number(BIT, &bits.to_le_bytes());
            out.push(*width);
        }
        Value::Decimal(value) => {
            let (coefficient, scale, is_negative) = value.to_words();
            number(DECIMAL, &[scale, u8::from(is_negative)]);
            coefficient.into_iter().for_each(|word| put_varint(out, word));
        }
        Value::Bytes(bytes) => {
            out.push(BYTES);
            put_bytes(out, bytes);
        }
        Value::Enum(value) => {
            number(ENUM, &value.index.to_le_bytes());
            put_bytes(out, &value.text);
        }
        Value::Set(value) => {
            number(SET, &value.bits.to_le_bytes());
            put_bytes(out, &value.text);
        }
    }
}

/// The next value.
pub fn read(reader: &mut Reader<'_>) -> Result<Value, NotAValue> {
    let signed = |reader: &mut Reader<'_>| reader.array().map(i64::from_le_bytes);
    Ok(match reader.u8()? {
        NULL => Value::Null,
        INT => Value::Int(signed(reader)?),
        UINT => Value::UInt(reader.u64()?),
        FLOAT => Value::Float(f32::from_bits(reader.u32()?)),
        DOUBLE => Value::Double(f64::from_bits(reader.u64()?)),
        DATE => Value::Date(Date::from_packed(reader.u32()?).ok_or(NotAValue)?),
        TIME => Value::Time(Time::from_micros(signed(reader)?).ok_or(NotAValue)?),
        DATETIME => Value::DateTime(DateTime::from_packed(reader.u64()?).ok_or(NotAValue)?),
        TIMESTAMP => Value::Timestamp(Timestamp(signed(reader)?)),
        YEAR => Value::Year(reader.u16()?),
        BIT => Value::Bit { bits: reader.u64()?, width: reader.u8()? },
        DECIMAL => {
            let (scale, is_negative) = (reader.u8()?, reader.u8()? != 0);
            let mut coefficient = [0; 4];
            for word in &mut coefficient {
                *word = reader.varint()?;
            }
            Value::Decimal(Decimal::from_words(coefficient, scale, is_negative).ok_or(NotAValue)?)
        }
        BYTES => Value::Bytes(text(reader)?),
        ENUM => Value::Enum(Box::new(EnumValue { index: reader.u16()?, text: text(reader)? })),
        SET => Value::Set(Box::new(SetValue { bits: reader.u64()?, text: text(reader)? })),
        _ => return Err(NotAValue),
    })
}

fn text(reader: &mut Reader<'_>) -> Result<Bytes, Truncated> {
    reader.prefixed_bytes().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    fn decimal(text: &str) -> Value {
        Value::Decimal(Decimal::parse(text.as_bytes()).0)
    }

    fn samples(random: &mut Prng) -> Vec<Value> {
        let mut bytes = vec![0; random.below(300) as usize];
        random.fill(&mut bytes);
        let text = Bytes::from(bytes);
        let date =
            Date::new(random.below(10_000) as u16, random.below(13) as u8, random.below(32) as u8).unwrap();
        let number = random.next_u64() >> random.below(64);
        vec![
            Value::Null,
            Value::Int(number as i64),
            Value::Int(-(number as i64 >> 1)),
            Value::UInt(number),
            decimal("0.00"),
            decimal("-1.50"),
            decimal(&"9".repeat(65)),
            decimal(&format!("-{number}.{number}")),
            Value::Float(f32::from_bits(number as u32)),
            Value::Double(-0.0),
            Value::Double(number as f64 / 3.0),
            Value::Bytes(text.clone()),
            Value::Date(date),
            Value::Time(Time::from_micros(number as i64 % 3_000_000_000_000).unwrap()),
            Value::DateTime(date.at_midnight()),
            Value::Timestamp(Timestamp(number as i64)),
            Value::Year(2155),
            Value::Bit { bits: number, width: 64 },
            Value::Enum(Box::new(EnumValue { index: number as u16, text: text.clone() })),
            Value::Set(Box::new(SetValue { bits: number, text })),
        ]
    }

    /// Compared as they print: values that are equal may be written differently, and NaN is not equal to
    /// itself.
    #[test]
    fn values_come_back_exactly_and_no_shorter_bytes_are_a_value() {
        let mut random = Prng::new(test_seed(20));
        for _ in 0..200 {
            for value in samples(&mut random) {
                let mut out = Vec::new();
                append(&value, &mut out);
                let mut reader = Reader::new(&out);
                let back = read(&mut reader).unwrap();
                assert!(reader.is_empty(), "{value:?}");
                assert_eq!(format!("{back:?}"), format!("{value:?}"));
                let cut = random.below(out.len() as u64) as usize;
                assert!(read(&mut Reader::new(&out[..cut])).is_err(), "{value:?}");
            }
        }
    }

    #[test]
    fn any_bytes_are_a_value_or_an_error() {
        let mut random = Prng::new(test_seed(21));
        for _ in 0..20_000 {
            let mut bytes = vec![0; random.below(40) as usize];
            random.fill(&mut bytes);
            if let Some(tag) = bytes.first_mut() {
                *tag %= 17;
            }
            let _ = read(&mut Reader::new(&bytes));
        }
    }
}
