//! Implicit conversions, with MySQL's warnings.

use palisade_base::error_catalogue::{
    ER_CANNOT_CONVERT_STRING, ER_DATETIME_FUNCTION_OVERFLOW, ER_TRUNCATED_WRONG_VALUE,
};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::charset::convert_watched;
use palisade_catalog::decimal::ParseEnd;
use palisade_catalog::temporal::{Parsed, TemporalMode};
use palisade_catalog::value::SetText;
use palisade_catalog::{
    Bytes, Charset, Date, DateTime, Decimal, SqlType, Time, Value, ValueRef, Watch, number,
};

use super::{Context, Expr, Node};
use crate::SqlResult;
use crate::func::control::{IF, NULLIF};

/// `value` as text, owned.
pub fn text_of(value: &Value, ty: &SqlType) -> Bytes {
    match value {
        Value::Bytes(bytes) => bytes.clone(),
        _ => {
            let mut out = Vec::with_capacity(24);
            value.as_ref().append_text(ty, &mut out);
            if let Value::Double(number) = value
                && out.len() > LONGEST_DOUBLE
                && ty.wire_decimals() >= 31
            {
                return format!("{number:e}").into_bytes().into();
            }
            out.into()
        }
    }
}

/// Characters of the longest double that is a text without an exponent.
const LONGEST_DOUBLE: usize = 22;

/// A FLOAT as an integer: MySQL gives the least one for what is none of 64 bits, whatever its sign.
fn float_integer(value: f64) -> i128 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match (-LIMIT..LIMIT).contains(&value) {
        true => clamp_f64(value),
        false => i64::MIN.into(),
    }
}

/// 3854 if a text has characters that another character set does not have, or bytes are no text there.
pub fn refuse_loss(text: &[u8], from: Charset, to: Charset, watch: Watch<'_>) -> SqlResult<()> {
    let is_kept = if from == Charset::Binary {
        to.valid_len_watched(text, watch) == text.len()
    } else if from == Charset::Ascii && !text.is_ascii() {
        to == from
    } else if from.has_the_bytes_of(to, text) || to.is_utf8() {
        true
    } else {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        convert_watched(text, from, to, &mut there, watch);
        convert_watched(&there, to, from, &mut back, watch);
        back == text
    };
    if is_kept {
        return Ok(());
    }
    // MySQL shows six bytes.
    let mut shown = String::new();
    for byte in text.iter().take(6) {
        match byte {
            b' '..=b'~' => shown.push(char::from(*byte)),
            _ => shown.push_str(&format!("\\x{byte:02X}")),
        }
    }
    if text.len() > 6 {
        shown.push_str("...");
    }
    Err(mysql_error!(ER_CANNOT_CONVERT_STRING, shown, from.name(), to.name()))
}

/// A value as it leaves its expression: a DECIMAL has no more digits than its type says. A binary literal is
/// a string from here on.
pub fn settled(value: Value, ty: &SqlType) -> Value {
    match (&value, ty) {
        (Value::Bit { .. }, ty) if ty.is_string() => Value::Bytes(text_of(&value, ty)),
        (Value::Decimal(decimal), SqlType::Decimal { scale, .. }) if decimal.scale() != *scale => {
            decimal.round(i32::from(*scale)).map_or(value, Value::Decimal)
        }
        _ => value,
    }
}

/// A value that functions compute with: a YEAR is a number from here on, so that the year 0 is written 0 and
/// 1999 is no date.
pub fn year_as_number(value: Value) -> Value {
    match value {
        Value::Year(year) => Value::UInt(year.into()),
        value => value,
    }
}

/// A value as it is sent: [`settled`], but what IF or CASE took and what a user variable has keeps its digits
/// behind the point, and a YEAR that is no column's is a number.
pub fn sent(value: Value, expr: &Expr) -> Value {
    match (&value, &expr.ty) {
        (Value::Decimal(number), SqlType::Decimal { scale, .. })
            if number.scale() < *scale && is_chosen(expr) =>
        {
            value
        }
        (Value::Year(_), _) if !expr.is_field() => year_as_number(value),
        _ => settled(value, &expr.ty),
    }
}

/// Whether an expression's value comes from another one as it is: of IF, CASE, NULLIF, and user variables.
pub fn is_chosen(expr: &Expr) -> bool {
    match &expr.node {
        Node::Case { .. } | Node::UserVariable(_) => true,
        Node::Call { function, .. } if function.name == IF => true,
        Node::Call { function, arguments } => {
            function.name == NULLIF && arguments.first().is_some_and(is_chosen)
        }
        _ => false,
    }
}

/// A lossy `String` for messages.
pub fn display_text(value: ValueRef<'_>, ty: &SqlType) -> String {
    let mut out = Vec::new();
    value.append_text(ty, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// 20260131 of a date.
pub fn date_number(date: Date) -> i64 {
    i64::from(date.year()) * 10_000 + i64::from(date.month()) * 100 + i64::from(date.day())
}

/// (20260131235959, microseconds) of a date and time.
pub fn datetime_number(value: DateTime) -> (i64, u32) {
    let time = i64::from(value.hour()) * 10_000 + i64::from(value.minute()) * 100 + i64::from(value.second());
    (date_number(value.date()) * 1_000_000 + time, value.micros())
}

/// (235959, microseconds) of a time; the sign is the number's, and the microseconds have it too.
pub fn time_number(time: Time) -> (i64, i64) {
    let (negative, hours, minutes, seconds, micros) = time.parts();
    let magnitude = i64::from(hours) * 10_000 + i64::from(minutes) * 100 + i64::from(seconds);
    if negative { (-magnitude, -i64::from(micros)) } else { (magnitude, i64::from(micros)) }
}

impl Context<'_> {
    /// 1292 "Truncated incorrect ... value": an error while a strict statement changes data, else a warning.
    pub fn truncated(&mut self, type_name: &str, text: &[u8]) -> SqlResult<()> {
        let shown = String::from_utf8_lossy(text).into_owned();
        self.warn_or_fail(mysql_error!(ER_TRUNCATED_WRONG_VALUE, type_name, shown))
    }

    /// 1292 "Incorrect ... value".
    pub fn incorrect(&mut self, type_name: &str, text: &[u8]) -> SqlResult<()> {
        let message = format!("Incorrect {type_name} value: '{}'", String::from_utf8_lossy(text));
        self.warn_or_fail(MysqlError::with_message(&ER_TRUNCATED_WRONG_VALUE, message))
    }

    /// As a double. NULL must have been dealt with.
    pub fn to_f64(&mut self, value: ValueRef<'_>) -> SqlResult<f64> {
        Ok(match value {
            ValueRef::Null => 0.0,
            ValueRef::Int(v) => v as f64,
            ValueRef::UInt(v) => v as f64,
            ValueRef::Decimal(v) => v.to_f64(),
            ValueRef::Float(v) => f64::from(v),
            ValueRef::Double(v) => v,
            ValueRef::Bytes(text) => {
                let parsed = number::parse_f64(text);
                if !parsed.complete && !text.trim_ascii_start().is_empty() {
                    self.truncated("DOUBLE", text)?;
                }
                parsed.value
            }
            ValueRef::Date(v) => date_number(v) as f64,
            ValueRef::Time(v) => {
                let (number, micros) = time_number(v);
                number as f64 + micros as f64 / 1e6
            }
            ValueRef::DateTime(v) => {
                let (number, micros) = datetime_number(v);
                number as f64 + f64::from(micros) / 1e6
            }
            ValueRef::Timestamp(v) => {
                let (number, micros) = datetime_number(v.to_datetime(self.zone()));
                number as f64 + f64::from(micros) / 1e6
            }
            ValueRef::Year(v) => f64::from(v),
            ValueRef::Bit { bits, .. } => bits as f64,
            ValueRef::Enum { index, .. } => f64::from(index),
            ValueRef::Set { bits, .. } => bits as f64,
        })
    }

    /// As a decimal.
    pub fn to_decimal(&mut self, value: ValueRef<'_>) -> SqlResult<Decimal> {
        Ok(match value {
            ValueRef::Decimal(v) => v,
            ValueRef::Int(v) => Decimal::from(v),
            ValueRef::Float(v) => self.decimal_from_f64(f64::from(v))?,
            ValueRef::Double(v) => self.decimal_from_f64(v)?,
            ValueRef::Bytes(text) => {
                let (decimal, end) = Decimal::parse(text);
                if end != ParseEnd::Complete {
                    self.truncated("DECIMAL", text)?;
                }
                decimal
            }
            ValueRef::Time(v) => {
                let (number, micros) = time_number(v);
                decimal_with_micros(number, micros)
            }
            ValueRef::DateTime(v) => {
                let (number, micros) = datetime_number(v);
                decimal_with_micros(number, i64::from(micros))
            }
            ValueRef::Timestamp(v) => {
                let (number, micros) = datetime_number(v.to_datetime(self.zone()));
                decimal_with_micros(number, i64::from(micros))
            }
            other => match self.to_integer(other)? {
                wide if wide < 0 => Decimal::from(wide as i64),
                wide => Decimal::from(wide as u64),
            },
        })
    }

    fn decimal_from_f64(&mut self, value: f64) -> SqlResult<Decimal> {
        match Decimal::from_f64(value) {
            Ok(decimal) => Ok(decimal),
            Err(_) => {
                self.truncated("DECIMAL", value.to_string().as_bytes())?;
                let largest = Decimal::largest(65, 0);
                Ok(if value < 0.0 { largest.negate() } else { largest })
            }
        }
    }

    /// As an integer within `i64::MIN..=u64::MAX`, rounded where it has a fraction; text is cut at its first
    /// character that is no digit.
    pub fn to_integer(&mut self, value: ValueRef<'_>) -> SqlResult<i128> {
        Ok(match value {
            ValueRef::Null => 0,
            ValueRef::Int(v) => i128::from(v),
            ValueRef::UInt(v) => i128::from(v),
            ValueRef::Decimal(v) => {
                let wide = match v.is_negative() {
                    true => v.to_i64().map(i128::from).map_err(i128::from),
                    false => v.to_u64().map(i128::from).map_err(i128::from),
                };
                match wide {
                    Ok(wide) => wide,
                    Err(clamped) => {
                        self.truncated("DECIMAL", v.to_string().as_bytes())?;
                        clamped
                    }
                }
            }
            ValueRef::Float(v) => float_integer(f64::from(v)),
            ValueRef::Double(v) => clamp_f64(v),
            ValueRef::Bytes(text) => self.text_to_integer(text)?,
            ValueRef::Date(v) => i128::from(date_number(v)),
            ValueRef::Time(v) => i128::from(time_number(self.time_of_digits(v, 0)).0),
            ValueRef::DateTime(v) => self.datetime_to_integer(v)?,
            ValueRef::Timestamp(v) => self.datetime_to_integer(v.to_datetime(self.zone()))?,
            ValueRef::Year(v) => i128::from(v),
            ValueRef::Bit { bits, .. } => i128::from(bits),
            ValueRef::Enum { index, .. } => i128::from(index),
            ValueRef::Set { bits, .. } => i128::from(bits),
        })
    }

    /// 20260131235959 of a date and time; the day at midnight if that would be rounded up to the year 10000.
    fn datetime_to_integer(&mut self, value: DateTime) -> SqlResult<i128> {
        let rounded = match self.rounded(value, 0) {
            Some(rounded) => rounded,
            None => {
                self.warn_or_fail(mysql_error!(ER_DATETIME_FUNCTION_OVERFLOW, "datetime"))?;
                value.date().at_midnight()
            }
        };
        Ok(i128::from(datetime_number(rounded).0))
    }

    fn text_to_integer(&mut self, text: &[u8]) -> SqlResult<i128> {
        let negative = text.trim_ascii_start().first() == Some(&b'-');
        let (value, complete, overflow) = if negative {
            let parsed = number::parse_i64(text);
            (i128::from(parsed.value), parsed.complete, parsed.overflow)
        } else {
            let parsed = number::parse_u64(text);
            (i128::from(parsed.value), parsed.complete, parsed.overflow)
        };
        if !complete || overflow {
            self.truncated("INTEGER", text)?;
        }
        Ok(value)
    }

    /// As 64 bits, for bit operators. What has a fraction is a signed number: beyond those it is the greatest
    /// of them.
    pub fn to_bits(&mut self, value: ValueRef<'_>) -> SqlResult<u64> {
        let wide = self.to_integer(value)?;
        Ok(match value {
            ValueRef::Decimal(_) | ValueRef::Float(_) | ValueRef::Double(_) => {
                wide.min(i64::MAX.into()) as u64
            }
            _ => wide as u64,
        })
    }

    /// As 64 bits, where the type is at hand: an unsigned decimal is an unsigned number.
    pub fn to_bits_of(&mut self, value: ValueRef<'_>, ty: &SqlType) -> SqlResult<u64> {
        match ty {
            SqlType::Decimal { unsigned: true, .. } => Ok(self.to_integer(value)? as u64),
            _ => self.to_bits(value),
        }
    }

    /// As a signed integer, clamped.
    pub fn to_i64(&mut self, value: ValueRef<'_>) -> SqlResult<i64> {
        let wide = self.to_integer(value)?;
        Ok(wide.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }

    /// As a truth value: anything but 0. Text is read as a number.
    pub fn to_bool(&mut self, value: ValueRef<'_>) -> SqlResult<Option<bool>> {
        Ok(match value {
            ValueRef::Null => None,
            ValueRef::Int(v) => Some(v != 0),
            ValueRef::UInt(v) => Some(v != 0),
            ValueRef::Decimal(v) => Some(!v.is_zero()),
            other => Some(self.to_f64(other)? != 0.0),
        })
    }

    /// As a date and time; `None` (with a warning) if it is none. A TIME is of the statement's day.
    pub fn to_datetime(&mut self, value: ValueRef<'_>) -> SqlResult<Option<DateTime>> {
        self.read_datetime(value, self.reading_mode())
    }

    /// As a date, with a warning that says so. Numbers up to 100 are a month and a day of the year 2000, as
    /// in CAST(5 AS DATE), which is 2000-00-05.
    pub fn to_date(&mut self, value: ValueRef<'_>) -> SqlResult<Option<DateTime>> {
        self.read_date(value, self.reading_mode())
    }

    /// As a date of which only some parts are wanted, as YEAR() does: month and day may be 0 whatever the
    /// sql_mode.
    pub fn to_partial_date(&mut self, value: ValueRef<'_>) -> SqlResult<Option<DateTime>> {
        let mode = self.mode_of_parts(value);
        self.read_date(value, mode)
    }

    /// As a date of which the day is counted, as TO_DAYS() does: that of a number may be one too many for its
    /// month.
    pub fn to_counted_date(&mut self, value: ValueRef<'_>) -> SqlResult<Option<DateTime>> {
        let mode = self.reading_mode();
        let allow_invalid_dates = mode.allow_invalid_dates || is_number(value);
        self.read_date(value, TemporalMode { allow_invalid_dates, ..mode })
    }

    /// How a date is read of which only some parts are wanted: of a number it may be no day of the calendar.
    pub fn mode_of_parts(&self, value: ValueRef<'_>) -> TemporalMode {
        let mode = self.reading_mode();
        let allow_invalid_dates = mode.allow_invalid_dates || is_number(value);
        TemporalMode { no_zero_in_date: false, allow_invalid_dates, ..mode }
    }

    /// As a date, read in a mode.
    pub fn read_date(&mut self, value: ValueRef<'_>, mode: TemporalMode) -> SqlResult<Option<DateTime>> {
        let small = match value {
            ValueRef::Bytes(text) => return self.text_to_date(text, mode),
            ValueRef::Int(_) | ValueRef::UInt(_) | ValueRef::Double(_) | ValueRef::Float(_) => {
                self.to_f64(value)?
            }
            ValueRef::Decimal(number) => number.to_f64(),
            // A time of a day is one of today, any other is counted from now.
            ValueRef::Time(time) => {
                const DAY: i64 = 86_400_000_000;
                let now = self.now();
                let today = now.date().at_midnight();
                let from = if (0..DAY).contains(&time.micros()) { today } else { now };
                let moved = from.to_micros().and_then(|from| DateTime::from_micros(from + time.micros()));
                return Ok(moved.map(|moved| moved.date().at_midnight()));
            }
            _ => return self.read_datetime(value, mode),
        };
        // A fraction counts for nothing, that of a negative number neither.
        if small <= -1.0 || small >= 1.0 {
            let decimal = self.to_decimal(value)?;
            let whole = decimal.truncate(0).unwrap_or(decimal).to_i64().unwrap_or(0);
            return match DateTime::day_of_number(whole, mode) {
                None => self.read_datetime(value, mode),
                found => Ok(found),
            };
        }
        let date = Date::new(2000, 0, 0).filter(|date| mode.allows(*date));
        if date.is_none() {
            let mut text = Vec::new();
            value.append_text(&SqlType::Null, &mut text);
            self.incorrect("datetime", &text)?;
        }
        Ok(date.map(Date::at_midnight))
    }

    fn text_to_date(&mut self, text: &[u8], mode: TemporalMode) -> SqlResult<Option<DateTime>> {
        let parsed = DateTime::parse(text, mode);
        if parsed.is_none_or(|(parsed, _)| parsed.truncated) {
            self.truncated("date", text)?;
        }
        Ok(parsed.map(|(parsed, offset)| match offset {
            Some(seconds) => self.at_offset(parsed.value, seconds),
            None => parsed.value,
        }))
    }

    /// As a date and time of which only some parts are wanted, as DATE_FORMAT() does: month and day may be 0
    /// whatever the sql_mode, and the number 0 is the zero date.
    pub fn to_partial_datetime(&mut self, value: ValueRef<'_>) -> SqlResult<Option<DateTime>> {
        let is_zero = match value {
            ValueRef::Int(number) => number == 0,
            ValueRef::UInt(number) => number == 0,
            // Less than 1 is, too.
            ValueRef::Decimal(number) => {
                !number.is_negative() && number.truncate(0).is_ok_and(|whole| whole.is_zero())
            }
            ValueRef::Double(number) => (0.0..1.0).contains(&number),
            _ => false,
        };
        if is_zero {
            return Ok(Some(DateTime::ZERO));
        }
        let mode = self.mode_of_parts(value);
        self.read_datetime(value, mode)
    }

    /// As a date and time, read in a mode.
    pub fn read_datetime(&mut self, value: ValueRef<'_>, mode: TemporalMode) -> SqlResult<Option<DateTime>> {
        Ok(match value {
            ValueRef::Null => None,
            ValueRef::Date(v) => Some(v.at_midnight()),
            ValueRef::DateTime(v) => Some(v),
            ValueRef::Timestamp(v) => Some(v.to_datetime(self.zone())),
            // The first day of the year.
            ValueRef::Year(year) => Date::new(year, 1, 1).map(Date::at_midnight),
            ValueRef::Time(v) => {
                let midnight = self.now().date().at_midnight();
                midnight.to_micros().and_then(|micros| DateTime::from_micros(micros + v.micros()))
            }
            ValueRef::Bytes(text) => match DateTime::parse(text, mode) {
                Some((parsed, offset)) => {
                    if parsed.truncated {
                        self.truncated("datetime", text)?;
                    }
                    Some(match offset {
                        Some(seconds) => self.at_offset(parsed.value, seconds),
                        None => parsed.value,
                    })
                }
                None => {
                    self.incorrect("datetime", text)?;
                    None
                }
            },
            ValueRef::Enum { text, .. } | ValueRef::Set { text: SetText::Joined(text), .. } => {
                return self.read_datetime(ValueRef::Bytes(text), mode);
            }
            ValueRef::Bit { .. } => {
                let mut bytes = Vec::with_capacity(8);
                value.append_text(&SqlType::Null, &mut bytes);
                return self.read_datetime(ValueRef::Bytes(&bytes), mode);
            }
            other => match self.number_as_datetime(other, mode)? {
                None => {
                    let decimal = self.to_decimal(other)?;
                    self.incorrect("datetime", decimal.to_string().as_bytes())?;
                    None
                }
                found => found,
            },
        })
    }

    /// A number as a date and time, if it is one.
    pub fn number_as_datetime(
        &mut self,
        number: ValueRef<'_>,
        mode: TemporalMode,
    ) -> SqlResult<Option<DateTime>> {
        let decimal = self.to_decimal(number)?;
        let whole = decimal.truncate(0).unwrap_or(decimal).to_i64().unwrap_or(i64::MAX);
        let micros = self.fraction_micros(&decimal).clamp(0, 999_999) as u32;
        Ok(DateTime::from_number(whole, micros, mode).map(|parsed| parsed.value))
    }

    /// A number as a time, if it is one.
    pub(super) fn number_as_time(&mut self, number: ValueRef<'_>) -> SqlResult<Option<Time>> {
        let decimal = self.to_decimal(number)?;
        let whole = decimal.truncate(0).unwrap_or(decimal).to_i64().unwrap_or(i64::MAX);
        let micros = self.fraction_micros(&decimal).unsigned_abs() as u32;
        let parsed = Time::from_number(whole, micros).filter(|parsed| !parsed.truncated);
        Ok(match parsed {
            // A number between -1 and 0 has no whole part to carry its sign.
            Some(parsed) if decimal.is_negative() => Time::from_micros(-parsed.value.micros().abs()),
            parsed => parsed.map(|parsed| parsed.value),
        })
    }

    /// A value that is not NULL as any date and time, be it no day of the calendar; the caller decides what
    /// it takes.
    pub fn to_any_datetime(&mut self, value: ValueRef<'_>) -> SqlResult<Option<DateTime>> {
        let truncate_fractional = self.reading_mode().truncate_fractional;
        let any = TemporalMode { allow_invalid_dates: true, truncate_fractional, ..TemporalMode::default() };
        self.read_datetime(value, any)
    }

    /// A date and time at an offset from UTC, in the session's zone.
    pub fn at_offset(&self, local: DateTime, seconds: i32) -> DateTime {
        self.zone().at_offset(local, seconds)
    }

    /// The time that a text says: of one with an offset from UTC that in the session's zone.
    pub fn time_of_text(&self, text: &[u8]) -> Option<Parsed<Time>> {
        Time::parse(text, self.reading_mode(), |local, seconds| self.at_offset(local, seconds))
    }

    /// A number's fraction in microseconds, with the number's sign; what is less is rounded or cut as the
    /// sql_mode says.
    pub fn fraction_micros(&self, number: &Decimal) -> i64 {
        let whole = number.truncate(0).unwrap_or(*number);
        let micros = number
            .subtract(&whole)
            .and_then(|fraction| fraction.multiply(&Decimal::from(1_000_000i64)))
            .and_then(|micros| match self.reading_mode().truncate_fractional {
                true => micros.truncate(0),
                false => Ok(micros),
            });
        micros.map_or(0, |micros| micros.to_i64().unwrap_or(0))
    }

    /// As a time; `None` (with a warning) if it is none.
    pub fn to_time(&mut self, value: ValueRef<'_>) -> SqlResult<Option<Time>> {
        Ok(match value {
            ValueRef::Null => None,
            ValueRef::Time(v) => Some(v),
            ValueRef::Date(_) | ValueRef::Year(_) => Time::from_micros(0),
            ValueRef::DateTime(v) => Some(v.time()),
            ValueRef::Timestamp(v) => Some(v.to_datetime(self.zone()).time()),
            ValueRef::Bytes(text) => match self.time_of_text(text) {
                Some(parsed) => {
                    if parsed.truncated {
                        self.truncated("time", text)?;
                    }
                    Some(parsed.value)
                }
                None => {
                    self.truncated("time", text)?;
                    None
                }
            },
            ValueRef::Enum { text, .. } | ValueRef::Set { text: SetText::Joined(text), .. } => {
                return self.to_time(ValueRef::Bytes(text));
            }
            ValueRef::Bit { .. } => {
                let mut bytes = Vec::with_capacity(8);
                value.append_text(&SqlType::Null, &mut bytes);
                return self.to_time(ValueRef::Bytes(&bytes));
            }
            // One of more than 63 bits is the negative number that has the same bits.
            ValueRef::UInt(number @ 0x8000_0000_0000_0000..) => {
                return self.to_time(ValueRef::Int(number as i64));
            }
            other => match self.number_as_time(other)? {
                None => {
                    let decimal = match other {
                        ValueRef::UInt(number) => Decimal::from(number as i64),
                        other => self.to_decimal(other)?,
                    };
                    self.truncated("time", decimal.to_string().as_bytes())?;
                    None
                }
                found => found,
            },
        })
    }
}

fn is_number(value: ValueRef<'_>) -> bool {
    use ValueRef::{Decimal, Double, Float, Int, UInt};
    matches!(value, Int(_) | UInt(_) | Decimal(_) | Float(_) | Double(_))
}

fn clamp_f64(value: f64) -> i128 {
    let rounded = value.round_ties_even();
    if rounded.is_nan() { 0 } else { (rounded as i128).clamp(i128::from(i64::MIN), i128::from(u64::MAX)) }
}

fn decimal_with_micros(number: i64, micros: i64) -> Decimal {
    let sign = if number < 0 || micros < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:06}", number.unsigned_abs(), micros.unsigned_abs());
    Decimal::parse(text.as_bytes()).0
}
