//! Constants that are compared with a column, read as the column would keep them.
//!
//! MySQL stores such a constant into the column's type once, before the first row, and compares with what
//! that gives: `year_column = 99` asks for 1999, `time_column = '12:34:56.79'` for 12:34:57, and
//! `float_column = 0.3` finds what was stored as 0.3 in a FLOAT(7,2). The binder wraps the constant in a CAST
//! to one of [`CastTarget`]'s `Compared...`; a constant that the column cannot keep is compared as it is.
//!
//! [`CastTarget`]: super::CastTarget

use palisade_catalog::decimal::ParseEnd;
use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::{DateTime, Decimal, SqlType, Time, Value, number};

use super::beforehand::{ANY_DAY, Beside, Unfit, no_date};
use super::convert::text_of;
use super::{Context, Expr, Node};
use crate::SqlResult;

impl Context<'_> {
    /// The date and time that a text says which is compared with a date: one that is none is the zero date.
    pub(super) fn compared_date(
        &mut self,
        text: &[u8],
        operand: &Expr,
        beside: &Beside,
        unfit: Unfit,
    ) -> SqlResult<Option<DateTime>> {
        let mode = if unfit == Unfit::AnyDay { ANY_DAY } else { self.reading_mode() };
        let parsed = DateTime::parse(text, mode);
        // A constant of the statement's text has the same node as a value for `?`, which comes too late for
        // an error.
        let is_parameter =
            matches!(operand.node, Node::Parameter(_)) && !self.session.constants_are_parameters;
        let is_whole = parsed.is_some_and(|(parsed, _)| !parsed.truncated);
        match (unfit, parsed) {
            _ if is_whole => {}
            (Unfit::Fails, _) if is_parameter => self.truncated(beside.lower_name(), text)?,
            (Unfit::Fails, None) => return Err(no_date(beside, text)),
            (Unfit::Fails, Some(_)) | (Unfit::Said, _) => {}
            (Unfit::Warns | Unfit::AnyDay, _) => self.unfit(text, &operand.ty, beside)?,
        }
        Ok(match parsed {
            Some((parsed, Some(seconds))) => Some(self.at_offset(parsed.value, seconds)),
            Some((parsed, None)) => Some(parsed.value),
            None if unfit == Unfit::Fails && beside.column.is_some() => None,
            None => Some(DateTime::ZERO),
        })
    }

    /// The time that a constant of a list says, as much of it as says one: midnight for a text that says
    /// none. A number that is none stays one, and is no time's.
    pub(super) fn listed_time(&mut self, value: Value, ty: &SqlType) -> SqlResult<Value> {
        if let Value::Bytes(_) | Value::Bit { .. } = value {
            let parsed = self.time_of_text(&text_of(&value, ty));
            return Ok(Value::Time(parsed.map_or(Time::default(), |parsed| parsed.value)));
        }
        Ok(self.number_as_time(value.as_ref())?.map_or(value, Value::Time))
    }

    /// The whole number that a constant says, however it says it; else the constant as a double.
    pub(super) fn compared_integer(&mut self, value: Value) -> SqlResult<Value> {
        let number = match &value {
            Value::Bytes(text) => match Decimal::parse(text) {
                (number, ParseEnd::Complete) => Some(number),
                _ => None,
            },
            Value::Double(number) => Decimal::from_f64(*number).ok(),
            _ => return Ok(value),
        };
        match number {
            Some(number) if number.round(0).is_ok_and(|whole| whole == number) => Ok(match number.to_i64() {
                Ok(whole) => Value::Int(whole),
                Err(_) => Value::Decimal(number),
            }),
            _ => Ok(Value::Double(self.to_f64(value.as_ref())?)),
        }
    }

    /// The whole number that a constant says or begins with, 0 if it says none; the constant as it is if the
    /// number has a fraction, or is beyond BIGINT.
    pub(super) fn written_integer(&mut self, value: Value) -> SqlResult<Value> {
        let number = match &value {
            Value::Bytes(text) => Some(Decimal::parse(text).0),
            Value::Decimal(number) => Some(*number),
            Value::Double(number) => Decimal::from_f64(*number).ok(),
            _ => None,
        };
        let whole = number.filter(|number| number.round(0).is_ok_and(|whole| whole == *number));
        Ok(whole.and_then(|whole| whole.to_i64().ok()).map_or(value, Value::Int))
    }

    /// The year that a column of type YEAR keeps for a constant, or the constant itself if that is none. It
    /// is a whole number if the constant is one.
    pub(super) fn compared_year(&mut self, value: Value) -> SqlResult<Value> {
        if let Value::Date(_) | Value::DateTime(_) | Value::Time(_) = value {
            // A time is of the statement's day.
            let date = self.to_datetime(value.as_ref())?;
            return Ok(date.map_or(Value::Null, |date| Value::Year(date.date().year())));
        }
        // A text whose beginning is a year is one, whatever follows.
        let number = match &value {
            Value::Bytes(text) => number::parse_f64(text).value,
            _ => self.to_f64(value.as_ref())?,
        };
        let whole = number.round();
        let year = match &value {
            Value::Bytes(text) if number::parse_f64(text).used == 0 => self.to_f64(value.as_ref())?,
            // `0000`, and any other four characters whose number is 0.
            Value::Bytes(text) if whole == 0.0 && text.len() == 4 => 0.0,
            Value::Bytes(_) if whole == 0.0 => 2000.0,
            _ if (1.0..=69.0).contains(&whole) => 2000.0 + whole,
            _ if (70.0..=99.0).contains(&whole) => 1900.0 + whole,
            _ if (1901.0..=2155.0).contains(&whole) => whole,
            Value::Bytes(_) => self.to_f64(value.as_ref())?,
            _ => number,
        };
        Ok(match value {
            Value::Int(_) => Value::Int(year as i64),
            Value::UInt(_) if (1901.0..=2155.0).contains(&year) => Value::UInt(year as u64),
            Value::UInt(_) => value,
            _ => Value::Double(year),
        })
    }

    /// The number that FLOAT(M,`scale`) keeps for a constant, or the constant itself if that has more digits.
    pub(super) fn compared_float(&mut self, value: &Value, scale: u8) -> SqlResult<Value> {
        let constant = self.to_f64(value.as_ref())?;
        let mut text = Vec::new();
        number::format_fixed(constant, scale, &mut text);
        let kept = f64::from(constant as f32);
        let exact = number::parse_f64(&text).value == constant && kept.is_finite();
        Ok(Value::Double(if exact { kept } else { constant }))
    }

    /// The time that TIME(`fsp`) keeps for a constant, or the constant itself if it is no time.
    pub(super) fn compared_time(&mut self, value: Value, fsp: u8) -> SqlResult<Value> {
        let (parsed, negative) = match &value {
            Value::Bytes(text) => (self.time_of_text(text), false),
            Value::Date(_) | Value::DateTime(_) | Value::Timestamp(_) => {
                let time = self.to_time(value.as_ref())?;
                return Ok(time.map_or(value, |time| Value::Time(self.time_of_digits(time, fsp))));
            }
            _ => {
                let number = self.to_decimal(value.as_ref())?;
                let (whole, micros) = self.whole_and_micros(&value)?;
                // A number between -1 and 0 has no whole part to carry its sign.
                (Time::from_number(whole, micros), whole == 0 && number.is_negative())
            }
        };
        let time = match parsed {
            Some(parsed) if negative => Time::from_micros(-parsed.value.micros()),
            Some(parsed) if !parsed.truncated => Some(parsed.value),
            _ => None,
        };
        Ok(time.map_or(value, |time| Value::Time(self.time_of_digits(time, fsp))))
    }

    /// The date and time that DATETIME(`fsp`) keeps for a number, or the number itself if it is none.
    /// `any_day`: be it no day of the calendar.
    pub(super) fn compared_moment(&mut self, value: Value, fsp: u8, any_day: bool) -> SqlResult<Value> {
        let (whole, micros) = self.whole_and_micros(&value)?;
        let mode = self.reading_mode();
        let mode = TemporalMode { allow_invalid_dates: mode.allow_invalid_dates || any_day, ..mode };
        Ok(match DateTime::from_number(whole, micros, mode) {
            Some(parsed) => Value::DateTime(self.datetime_of_digits(parsed.value, fsp)),
            None => value,
        })
    }

    /// A number with a time of day, rounded to seconds, as its day; any other as it is.
    pub(super) fn compared_day(&mut self, value: Value) -> SqlResult<Value> {
        Ok(match self.compared_moment(value, 0, true)? {
            Value::DateTime(moment) => Value::DateTime(moment.date().at_midnight()),
            value => value,
        })
    }

    /// A number's whole part, and its fraction in microseconds.
    pub(super) fn whole_and_micros(&mut self, value: &Value) -> SqlResult<(i64, u32)> {
        let number = self.to_decimal(value.as_ref())?;
        let whole = number.truncate(0).unwrap_or(number).to_i64().unwrap_or(i64::MAX);
        let micros = self.fraction_micros(&number).unsigned_abs().min(999_999);
        Ok((whole, micros as u32))
    }
}
