//! The values of a prepared statement's parameters, as COM_STMT_EXECUTE brings them.
//!
//! ```text
//! null bitmap, one bit per parameter │ types follow? │ [type 1, flags 1] per parameter │ values
//! ```
//!
//! Types are sent with the first execution and whenever they change; the statement remembers them. A parameter that
//! was sent with COM_STMT_SEND_LONG_DATA has no value here.

use palisade_base::codec::Reader;
use palisade_catalog::types::wire;
use palisade_catalog::{Date, DateTime, Decimal, Time, Value};
use smallvec::SmallVec;

use crate::Malformed;
use crate::wire::ReadWire;

/// The type of a parameter's value, as the client sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterType {
    /// Type code.
    pub code: u8,
    /// Whether an integer is unsigned.
    pub unsigned: bool,
}

/// The types of a statement's parameters, kept with the statement as long as there are few of them.
pub type ParameterTypes = SmallVec<[ParameterType; 8]>;

/// Reads the values of `count` parameters into `values`. `types` are those of the last execution, replaced if the
/// client sends new ones; `long_data(i)` takes what was sent in advance for parameter `i`.
pub fn decode_parameters(
    body: &[u8],
    count: usize,
    types: &mut ParameterTypes,
    mut long_data: impl FnMut(usize) -> Option<Vec<u8>>,
    values: &mut Vec<Value>,
) -> Result<(), Malformed> {
    values.clear();
    if count == 0 {
        return Ok(());
    }
    let mut reader = Reader::new(body);
    let nulls = reader.bytes(count.div_ceil(8))?;
    if reader.u8()? == 1 {
        types.clear();
        for _ in 0..count {
            let [code, flags] = reader.array()?;
            types.push(ParameterType { code, unsigned: flags & 0x80 != 0 });
        }
    }
    if types.len() != count {
        return Err(Malformed);
    }
    for (position, ty) in types.iter().enumerate() {
        let value = match long_data(position) {
            Some(data) => Value::bytes(data),
            None if nulls.get(position / 8).is_some_and(|bits| bits >> (position % 8) & 1 == 1) => {
                Value::Null
            }
            None => value(*ty, &mut reader)?,
        };
        values.push(value);
    }
    Ok(())
}

fn value(ty: ParameterType, reader: &mut Reader<'_>) -> Result<Value, Malformed> {
    let integer = |signed: i64, unsigned: u64| {
        if ty.unsigned { Value::UInt(unsigned) } else { Value::Int(signed) }
    };
    Ok(match ty.code {
        wire::NULL => Value::Null,
        wire::TINY => {
            let byte = reader.u8()?;
            integer(i64::from(byte as i8), u64::from(byte))
        }
        wire::SHORT | wire::YEAR => {
            let number = reader.u16()?;
            integer(i64::from(number as i16), u64::from(number))
        }
        wire::LONG | wire::INT24 => {
            let number = reader.u32()?;
            integer(i64::from(number as i32), u64::from(number))
        }
        wire::LONGLONG => {
            let number = reader.u64()?;
            integer(number as i64, number)
        }
        wire::FLOAT => Value::Float(f32::from_bits(reader.u32()?)),
        wire::DOUBLE => Value::Double(f64::from_bits(reader.u64()?)),
        wire::DATE => Value::Date(datetime(reader)?.date()),
        wire::DATETIME | wire::TIMESTAMP => Value::DateTime(datetime(reader)?),
        wire::TIME => Value::Time(time(reader)?),
        wire::DECIMAL | wire::NEWDECIMAL => Value::Decimal(Decimal::parse(reader.lenenc_bytes()?).0),
        wire::VARCHAR
        | wire::BIT
        | wire::JSON
        | wire::ENUM
        | wire::SET
        | wire::TINY_BLOB
        | wire::MEDIUM_BLOB
        | wire::LONG_BLOB
        | wire::BLOB
        | wire::VAR_STRING
        | wire::STRING
        | wire::GEOMETRY => Value::bytes(reader.lenenc_bytes()?),
        _ => return Err(Malformed),
    })
}

fn datetime(reader: &mut Reader<'_>) -> Result<DateTime, Malformed> {
    let length = reader.u8()?;
    let mut fields = Reader::new(reader.bytes(usize::from(length))?);
    let (mut date, mut clock, mut micros) = (Date::ZERO, [0; 3], 0);
    if length >= 4 {
        let (year, [month, day]) = (fields.u16()?, fields.array()?);
        date = Date::new(year, month, day).ok_or(Malformed)?;
    }
    if length >= 7 {
        clock = fields.array()?;
    }
    if length >= 11 {
        micros = fields.u32()?;
    }
    let [hour, minute, second] = clock;
    match length {
        0 | 4 | 7 | 11 => DateTime::new(date, hour, minute, second, micros).ok_or(Malformed),
        _ => Err(Malformed),
    }
}

fn time(reader: &mut Reader<'_>) -> Result<Time, Malformed> {
    let length = reader.u8()?;
    let mut fields = Reader::new(reader.bytes(usize::from(length))?);
    if length == 0 {
        return Ok(Time::default());
    }
    if !matches!(length, 8 | 12) {
        return Err(Malformed);
    }
    let (negative, days, [hour, minute, second]) = (fields.u8()? != 0, fields.u32()?, fields.array()?);
    let micros = if length == 12 { fields.u32()? } else { 0 };
    if hour > 23 || minute > 59 || second > 59 || micros > 999_999 {
        return Err(Malformed);
    }
    // A TIME has less than 35 days; microseconds of as many as may be sent do not fit.
    let hours = i64::from(days.min(100)) * 24 + i64::from(hour);
    let total = ((hours * 60 + i64::from(minute)) * 60 + i64::from(second)) * 1_000_000 + i64::from(micros);
    let total = total.min(Time::MAX.micros());
    Time::from_micros(if negative { -total } else { total }).ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    fn decode(body: &[u8], count: usize) -> Result<Vec<Value>, Malformed> {
        let mut values = Vec::new();
        decode_parameters(body, count, &mut ParameterTypes::new(), |_| None, &mut values)?;
        Ok(values)
    }

    #[test]
    fn values_of_every_type_are_read() {
        let types = [
            (wire::TINY, 0, vec![0xff], Value::Int(-1)),
            (wire::TINY, 0x80, vec![0xff], Value::UInt(255)),
            (wire::SHORT, 0, vec![1, 0], Value::Int(1)),
            (wire::LONG, 0, (-5i32).to_le_bytes().to_vec(), Value::Int(-5)),
            (wire::LONGLONG, 0x80, u64::MAX.to_le_bytes().to_vec(), Value::UInt(u64::MAX)),
            (wire::DOUBLE, 0, 1.5f64.to_le_bytes().to_vec(), Value::Double(1.5)),
            (wire::VAR_STRING, 0, b"\x02hi".to_vec(), Value::bytes("hi")),
            (wire::NEWDECIMAL, 0, b"\x031.5".to_vec(), Value::Decimal(Decimal::parse(b"1.5").0)),
            (wire::DATE, 0, vec![4, 0xea, 7, 11, 21], Value::Date(Date::new(2026, 11, 21).unwrap())),
            (wire::DATETIME, 0, vec![0], Value::DateTime(DateTime::ZERO)),
            (
                wire::TIME,
                0,
                vec![8, 1, 1, 0, 0, 0, 1, 1, 1],
                Value::Time(Time::from_micros(-90_061_000_000).unwrap()),
            ),
            (wire::NULL, 0, vec![], Value::Null),
        ];
        let mut body = vec![0; types.len().div_ceil(8)];
        body.push(1);
        for (code, flags, ..) in &types {
            body.extend([*code, *flags]);
        }
        for (.., bytes, _) in &types {
            body.extend(bytes);
        }
        let expected: Vec<Value> = types.iter().map(|(.., value)| value.clone()).collect();
        assert_eq!(decode(&body, types.len()), Ok(expected));
    }

    #[test]
    fn types_are_remembered_and_nulls_and_long_data_have_no_value() {
        let (mut types, mut values) = (ParameterTypes::new(), Vec::new());
        decode_parameters(b"\0\x01\x08\0\xfd\0\x05\0\0\0\0\0\0\0\x01a", 2, &mut types, |_| None, &mut values)
            .unwrap();
        assert_eq!(values, [Value::Int(5), Value::bytes("a")]);
        decode_parameters(b"\x01\0\x01b", 2, &mut types, |_| None, &mut values).unwrap();
        assert_eq!(values, [Value::Null, Value::bytes("b")]);
        let long = |position| (position == 1).then(|| b"long".to_vec());
        decode_parameters(b"\x01\0", 2, &mut types, long, &mut values).unwrap();
        assert_eq!(values, [Value::Null, Value::bytes("long")]);
    }

    #[test]
    fn a_time_of_more_days_than_there_can_be_is_the_longest() {
        for (sign, longest) in [(0, Time::MAX.micros()), (1, -Time::MAX.micros())] {
            for days in [35, 1 << 16, u32::MAX] {
                let days = days.to_le_bytes();
                let body = [&b"\0\x01\x0b\0\x08"[..], &[sign], &days, &[23, 59, 59]].concat();
                let expected = Value::Time(Time::from_micros(longest).unwrap());
                assert_eq!(decode(&body, 1), Ok(vec![expected]), "{days:?}");
            }
        }
    }

    #[test]
    fn what_is_missing_or_impossible_is_malformed() {
        assert_eq!(decode(b"\0\0", 1), Err(Malformed), "no types were ever sent");
        assert_eq!(decode(b"\0\x01\x08\0\x01", 1), Err(Malformed));
        assert_eq!(decode(b"\0\x01\x0c\0\x04\xea\x07\x0d\x01", 1), Err(Malformed), "month 13");
        assert_eq!(decode(b"\0\x01\xfd\0\xfe\xff\xff\xff\xff\xff\xff\xff\xff", 1), Err(Malformed));
        assert_eq!(decode(b"", 1), Err(Malformed));
        let mut prng = Prng::new(test_seed(5));
        for _ in 0..50_000 {
            let mut body = vec![0; prng.below(60) as usize];
            prng.fill(&mut body);
            if body.len() > 1 {
                body[1] = 1;
            }
            let _ = decode(&body, 1 + prng.below(8) as usize);
        }
    }
}
