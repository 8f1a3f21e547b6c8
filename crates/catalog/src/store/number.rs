//! Storing into numeric columns.

use super::{Result, Store, StoreErrorKind};
use crate::decimal::{Decimal, ParseEnd};
use crate::number;
use crate::types::IntWidth;
use crate::value::{Value, ValueRef};

/// A value as a number, exact where it is.
enum Number {
    Int(i128),
    Decimal(Decimal),
    Double(f64),
}

/// What a text is in front of a numeric column.
enum TextEnd {
    Complete,
    Trailing,
    NoNumber,
}

impl Store<'_> {
    /// The value as a number; `None` for text, which each column reads in its own way.
    fn number(&self) -> Option<Number> {
        let fraction = |whole: i64, micros: u32| {
            if micros == 0 {
                return Number::Int(whole.into());
            }
            let magnitude = i128::from(whole.unsigned_abs()) * 1_000_000 + i128::from(micros);
            Number::Decimal(Decimal::new(if whole < 0 { -magnitude } else { magnitude }, 6))
        };
        let datetime = |value: crate::DateTime| {
            let rounded = value.round(self.context.source.fraction_digits()).unwrap_or(value);
            fraction(rounded.to_number() as i64, rounded.micros())
        };
        Some(match self.value {
            ValueRef::Null | ValueRef::Bytes(_) => return None,
            ValueRef::Int(value) => Number::Int(value.into()),
            ValueRef::UInt(value) => Number::Int(value.into()),
            ValueRef::Decimal(value) => Number::Decimal(value),
            ValueRef::Float(value) => Number::Double(value.into()),
            ValueRef::Double(value) => Number::Double(value),
            ValueRef::Date(value) => Number::Int(value.to_number().into()),
            ValueRef::Time(value) => {
                let (negative, _, _, _, micros) = value.parts();
                match value.to_number() {
                    0 if negative => Number::Decimal(Decimal::new(-i128::from(micros), 6)),
                    whole => fraction(whole, micros),
                }
            }
            ValueRef::DateTime(value) => datetime(value),
            ValueRef::Timestamp(value) => datetime(value.to_datetime(self.context.zone)),
            ValueRef::Year(value) => Number::Int(value.into()),
            ValueRef::Bit { bits, .. } => Number::Int(bits.into()),
            ValueRef::Enum { index, .. } => Number::Int(index.into()),
            ValueRef::Set { bits, .. } => Number::Int(bits.into()),
        })
    }

    fn text_problem<T>(&mut self, end: TextEnd, type_name: &'static str, instead: T) -> Result<T> {
        match end {
            TextEnd::Complete => Ok(instead),
            TextEnd::Trailing => self.problem(StoreErrorKind::Truncated, instead),
            TextEnd::NoNumber => self.problem(StoreErrorKind::IncorrectValue(type_name), instead),
        }
    }

    /// A date and time, or a time, rounded to seconds before it is a number, so that 23:59:59.9 is of the
    /// next day; cut under TIME_TRUNCATE_FRACTIONAL.
    fn whole_seconds(&self) -> Option<Number> {
        let cuts = self.context.temporal.truncate_fractional;
        let local = match self.value {
            ValueRef::DateTime(value) => value,
            ValueRef::Timestamp(value) => value.to_datetime(self.context.zone),
            ValueRef::Time(value) if cuts => return Some(Number::Int(value.truncate(0).to_number().into())),
            ValueRef::Time(value) => return Some(Number::Int(value.round(0).to_number().into())),
            _ => return None,
        };
        if cuts {
            return Some(Number::Int(local.truncate(0).to_number().into()));
        }
        local.round(0).map(|rounded| Number::Int(rounded.to_number().into()))
    }

    /// The value rounded to an integer, clamped far beyond every column's range; and what it is if it is a
    /// text.
    fn nearest_integer(&mut self) -> (i128, TextEnd) {
        let from_decimal = |value: Decimal| match (value.is_negative(), value.to_i64(), value.to_u64()) {
            (true, Ok(exact), _) => i128::from(exact),
            (true, Err(_), _) => i128::MIN,
            (false, _, Ok(exact)) => i128::from(exact),
            (false, _, Err(_)) => i128::MAX,
        };
        match self.whole_seconds().or_else(|| self.number()) {
            Some(Number::Int(value)) => (value, TextEnd::Complete),
            Some(Number::Decimal(value)) => (from_decimal(value), TextEnd::Complete),
            // A float cast saturates.
            Some(Number::Double(value)) => (value.round_ties_even() as i128, TextEnd::Complete),
            None => {
                let (value, end) = Decimal::parse(&self.text());
                let end = match end {
                    ParseEnd::Complete | ParseEnd::Overflow => TextEnd::Complete,
                    ParseEnd::Trailing => TextEnd::Trailing,
                    ParseEnd::NoNumber => TextEnd::NoNumber,
                };
                (from_decimal(value), end)
            }
        }
    }

    /// A DECIMAL below zero. That a column without a sign cannot keep it is seen before it is rounded.
    fn is_negative_decimal(&self) -> bool {
        matches!(self.value, ValueRef::Decimal(value) if value.is_negative() && !value.is_zero())
    }

    /// A DECIMAL that is no integer of eight bytes. MySQL says so before it says that the column is too
    /// small.
    fn is_huge_decimal(&self, unsigned: bool) -> bool {
        match self.value {
            ValueRef::Decimal(value) if unsigned => !value.is_negative() && value.to_u64().is_err(),
            ValueRef::Decimal(value) => value.to_i64().is_err(),
            _ => false,
        }
    }

    pub(super) fn integer(&mut self, width: IntWidth, unsigned: bool) -> Result<Value> {
        if unsigned && self.is_negative_decimal() {
            return self.problem(StoreErrorKind::OutOfRange, Value::UInt(0));
        }
        let (value, end) = self.nearest_integer();
        let (low, high) = match unsigned {
            true => (0, i128::from(width.unsigned_max())),
            false => (i128::from(width.signed_range().0), i128::from(width.signed_range().1)),
        };
        let clamped = value.clamp(low, high);
        let stored = if unsigned { Value::UInt(clamped as u64) } else { Value::Int(clamped as i64) };
        let is_double = matches!(self.value, ValueRef::Double(_) | ValueRef::Float(_));
        if width != IntWidth::Big && self.is_huge_decimal(unsigned)
            || is_double && unsigned && width == IntWidth::Int && value > high
        {
            self.also(StoreErrorKind::OutOfRange);
        }
        // That something follows a number which does not fit is not told.
        match clamped == value {
            true => self.text_problem(end, "integer", stored),
            false => self.problem(StoreErrorKind::OutOfRange, stored),
        }
    }

    pub(super) fn decimal(&mut self, precision: u8, scale: u8, unsigned: bool) -> Result<Value> {
        let largest = Decimal::largest(precision, scale);
        let beyond = |negative: bool| match (negative, unsigned) {
            (true, true) => Decimal::new(0, scale),
            (true, false) => largest.negate(),
            (false, _) => largest,
        };
        let number = match self.number() {
            Some(Number::Int(value)) => Decimal::new(value, 0),
            Some(Number::Decimal(value)) => value,
            Some(Number::Double(value)) => match Decimal::from_f64(value) {
                // It is less than all digits of a decimal.
                Ok(number) if number.is_zero() && value != 0.0 => {
                    self.note(StoreErrorKind::Truncated);
                    number
                }
                Ok(number) => number,
                Err(_) => {
                    return self.problem(StoreErrorKind::OutOfRange, Value::Decimal(beyond(value < 0.0)));
                }
            },
            None => match Decimal::parse(&self.text()) {
                (number, ParseEnd::Complete | ParseEnd::Overflow) => number,
                (number, ParseEnd::Trailing) if self.context.strict => {
                    self.problem(StoreErrorKind::IncorrectValue("decimal"), number)?
                }
                (number, ParseEnd::Trailing) => {
                    self.note(StoreErrorKind::Truncated);
                    number
                }
                (number, ParseEnd::NoNumber) => self.text_problem(TextEnd::NoNumber, "decimal", number)?,
            },
        };
        if !number.fits(precision, scale) || (unsigned && number.is_negative()) {
            return self.problem(StoreErrorKind::OutOfRange, Value::Decimal(beyond(number.is_negative())));
        }
        let rounded = number.round(scale.into()).unwrap_or(number);
        if rounded != number {
            self.note(StoreErrorKind::Truncated);
        }
        Ok(Value::Decimal(rounded))
    }

    /// The value as a double.
    fn approximate(&mut self, type_name: &'static str) -> Result<f64> {
        match self.number() {
            Some(Number::Int(value)) => Ok(value as f64),
            Some(Number::Decimal(value)) => Ok(value.to_f64()),
            Some(Number::Double(value)) => Ok(value),
            None => {
                let parsed = number::parse_f64(&self.text());
                if parsed.overflow {
                    return self.problem(StoreErrorKind::OutOfRange, parsed.value);
                }
                if parsed.complete {
                    Ok(parsed.value)
                } else {
                    self.problem(StoreErrorKind::IncorrectValue(type_name), parsed.value)
                }
            }
        }
    }

    /// Rounds to (M,D), and checks the range that it and UNSIGNED leave.
    fn bounded(&mut self, value: f64, unsigned: bool, digits: Option<(u8, u8)>, largest: f64) -> Result<f64> {
        let mut low = -largest;
        let mut high = largest;
        let mut rounded = value;
        if let Some((precision, scale)) = digits {
            let bound = Decimal::largest(precision, scale).to_f64();
            (low, high) = (low.max(-bound), high.min(bound));
            let mut text = Vec::new();
            number::format_fixed(value, scale, &mut text);
            rounded = number::parse_f64(&text).value;
        }
        if unsigned {
            low = 0.0;
        }
        if rounded.is_nan() {
            return self.problem(StoreErrorKind::OutOfRange, 0.0);
        }
        let clamped = rounded.clamp(low, high);
        if clamped == rounded { Ok(rounded) } else { self.problem(StoreErrorKind::OutOfRange, clamped) }
    }

    pub(super) fn float(&mut self, unsigned: bool, digits: Option<(u8, u8)>) -> Result<Value> {
        let value = self.approximate("FLOAT")?;
        // What rounds to the largest float is in range. FLOAT(M,D) rounds to its digits before.
        let value = match digits {
            None if (value as f32).is_finite() => f64::from(value as f32),
            _ => value,
        };
        Ok(Value::Float(self.bounded(value, unsigned, digits, f32::MAX.into())? as f32))
    }

    pub(super) fn double(&mut self, unsigned: bool, digits: Option<(u8, u8)>) -> Result<Value> {
        let value = self.approximate("DOUBLE")?;
        Ok(Value::Double(self.bounded(value, unsigned, digits, f64::MAX)?))
    }

    pub(super) fn bit(&mut self, width: u8) -> Result<Value> {
        let most = u64::MAX >> (64 - width);
        let bits = match self.value {
            // Text is a binary string here, not a number.
            ValueRef::Bytes(bytes) => {
                let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
                let significant = crate::part::from(bytes, start);
                (significant.len() <= 8)
                    .then(|| significant.iter().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte)))
            }
            _ if self.is_negative_decimal() => {
                return self.problem(StoreErrorKind::OutOfRange, Value::Bit { bits: 0, width });
            }
            ValueRef::Decimal(_) if self.is_huge_decimal(true) => {
                self.problem(StoreErrorKind::OutOfRange, Some(u64::MAX))?
            }
            // unlike other columns of numbers, this one cuts
            ValueRef::Double(value) => Some(value as i64 as u64),
            ValueRef::Float(value) => Some(value as i64 as u64),
            // the text of a time is longer than any BIT
            ValueRef::Time(_) | ValueRef::Date(_) | ValueRef::DateTime(_) | ValueRef::Timestamp(_) => None,
            _ => {
                let (value, _) = self.nearest_integer();
                i64::try_from(value).map(|value| value as u64).or_else(|_| u64::try_from(value)).ok()
            }
        };
        let kind = match self.context.strict_mode {
            true => StoreErrorKind::TooLong,
            false => StoreErrorKind::OutOfRange,
        };
        match bits.filter(|bits| *bits <= most) {
            Some(bits) => Ok(Value::Bit { bits, width }),
            None => self.problem(kind, Value::Bit { bits: most, width }),
        }
    }

    pub(super) fn year(&mut self) -> Result<Value> {
        if let ValueRef::Year(year) = self.value {
            return Ok(Value::Year(year));
        }
        let double = match self.value {
            ValueRef::Double(value) => value,
            ValueRef::Float(value) => value.into(),
            _ => 0.0,
        };
        // A number beyond the years is so before it loses its fraction.
        if self.is_negative_decimal() || !(0.0..=2155.0).contains(&double) {
            return self.problem(StoreErrorKind::OutOfRange, Value::Year(0));
        }
        if self.is_huge_decimal(true) {
            self.also(StoreErrorKind::OutOfRange);
        }
        let (year, end) = match self.value {
            ValueRef::Date(date) => (i128::from(date.year()), TextEnd::Complete),
            ValueRef::DateTime(value) => (i128::from(value.date().year()), TextEnd::Complete),
            ValueRef::Timestamp(value) => {
                (i128::from(value.to_datetime(self.context.zone).date().year()), TextEnd::Complete)
            }
            // a time of today
            ValueRef::Time(_) => (i128::from(self.context.today().year()), TextEnd::Complete),
            ValueRef::Double(_) | ValueRef::Float(_) => (double as i128, TextEnd::Complete),
            _ => self.nearest_integer(),
        };
        // The text '0' is 2000; the number 0, the text '0000' and one that is no number are the zero year.
        let zero_is_2000 = matches!(self.value, ValueRef::Bytes(text) if text.trim_ascii().len() != 4);
        let year = match year {
            _ if matches!(end, TextEnd::NoNumber) => Value::Year(0),
            0 if !zero_is_2000 => Value::Year(0),
            0..=69 => Value::Year(2000 + year as u16),
            70..=99 => Value::Year(1900 + year as u16),
            1901..=2155 => Value::Year(year as u16),
            _ => return self.problem(StoreErrorKind::OutOfRange, Value::Year(0)),
        };
        self.text_problem(end, "integer", year)
    }
}
