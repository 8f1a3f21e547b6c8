//! Storing into DATE, TIME, DATETIME and TIMESTAMP columns.

use super::{Result, Store, StoreError, StoreErrorKind};
use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, NoTime, Parsed, TemporalMode, Time, Timestamp, Zone};
use crate::value::{Value, ValueRef};

/// Why there is no datetime.
enum Reason {
    /// It reads as none, or as a number that is none.
    Unreadable,
    /// It reads as one that sql_mode or the calendar refuses; it is a negative number, or one that no date
    /// has the digits of.
    OutOfRange,
}

/// What storing into a TIME column made of a value.
struct Taken {
    value: Time,
    /// It had a date.
    dated: bool,
    /// Something that is no part of the time was left out.
    truncated: bool,
    /// The value is the nearest that a TIME can keep, or zero for want of one.
    out_of_range: bool,
}

impl Taken {
    fn whole(value: Time) -> Taken {
        Taken { value, dated: false, truncated: false, out_of_range: false }
    }

    fn beyond(value: Time) -> Taken {
        Taken { out_of_range: true, ..Taken::whole(value) }
    }
}

impl Store<'_> {
    /// The integer and the microseconds of a numeric value: 20260131235959.25.
    fn whole_and_micros(&self) -> Option<(i64, u32)> {
        let number = match self.value {
            ValueRef::Int(value) => return Some((value, 0)),
            ValueRef::UInt(value) => return Some((i64::try_from(value).unwrap_or(i64::MAX), 0)),
            ValueRef::Year(value) => return Some((value.into(), 0)),
            ValueRef::Bit { bits, .. } => return Some((i64::try_from(bits).unwrap_or(i64::MAX), 0)),
            ValueRef::Decimal(value) => value,
            ValueRef::Float(value) => Decimal::from_f64(value.into()).ok()?,
            ValueRef::Double(value) => Decimal::from_f64(value).ok()?,
            _ => return None,
        };
        let whole = number.truncate(0).ok()?;
        let fraction = number.subtract(&whole).ok()?.abs().multiply(&Decimal::from(1_000_000u64)).ok()?;
        Some((whole.to_i64().ok()?, fraction.to_u64().ok()? as u32))
    }

    /// The value as a local datetime, fraction not yet rounded.
    fn local_datetime(&mut self, mode: TemporalMode) -> std::result::Result<Parsed<DateTime>, Reason> {
        let exactly = |value| Ok(Parsed { value, truncated: false });
        let allowed = |value: DateTime| {
            if mode.allows(value.date()) {
                Ok(Parsed { value, truncated: false })
            } else {
                Err(Reason::OutOfRange)
            }
        };
        match self.value {
            ValueRef::Date(value) => allowed(value.at_midnight()),
            ValueRef::DateTime(value) => allowed(value),
            ValueRef::Timestamp(value) => exactly(value.to_datetime(self.context.zone)),
            ValueRef::Time(value) => {
                let today = self.context.today().at_midnight().to_micros();
                let moved = today.and_then(|today| DateTime::from_micros(today + value.micros()));
                moved.map_or(Err(Reason::Unreadable), exactly)
            }
            ValueRef::Bytes(_) | ValueRef::Enum { .. } | ValueRef::Set { .. } => self.parse_datetime(mode),
            _ => {
                let (whole, micros) = self.whole_and_micros().ok_or(Reason::OutOfRange)?;
                if whole < 0 || self.is_negative_fraction() {
                    return Err(Reason::OutOfRange);
                }
                match DateTime::from_number(whole, micros, mode) {
                    Some(parsed) => Ok(parsed),
                    None if whole == 0 || whole == i64::MAX => Err(Reason::OutOfRange),
                    None => Err(Reason::Unreadable),
                }
            }
        }
    }

    fn parse_datetime(&mut self, mode: TemporalMode) -> std::result::Result<Parsed<DateTime>, Reason> {
        let text = self.text();
        let any = TemporalMode { allow_invalid_dates: true, ..TemporalMode::default() };
        let Some((mut parsed, offset)) = DateTime::parse(&text, mode) else {
            return Err(match DateTime::parse(&text, any) {
                Some(_) => Reason::OutOfRange,
                None if is_part_of_zero_date(&text) => Reason::OutOfRange,
                None => Reason::Unreadable,
            });
        };
        if let Some(seconds) = offset {
            parsed.value = self.brought_home(parsed.value, seconds).ok_or(Reason::OutOfRange)?;
        }
        Ok(parsed)
    }

    /// A date and time at an offset from UTC, in the session's zone.
    fn brought_home(&self, there: DateTime, seconds: i32) -> Option<DateTime> {
        let utc = there.to_micros()? - i64::from(seconds) * 1_000_000;
        match self.context.zone {
            Zone::Fixed(own) => DateTime::from_micros(utc + i64::from(*own) * 1_000_000),
            Zone::Named(_) => {
                let point = Zone::UTC.to_timestamp(DateTime::from_micros(utc)?)?;
                Some(self.context.zone.to_local(point))
            }
        }
    }

    /// The value as a local datetime, or the zero one with the problem reported.
    fn datetime_or_zero(&mut self, mode: TemporalMode, type_name: &'static str) -> Result<DateTime> {
        let incorrect = StoreErrorKind::IncorrectTemporal(type_name);
        match self.local_datetime(mode) {
            Ok(Parsed { value, truncated: false }) => Ok(value),
            Ok(Parsed { value, truncated: true }) => {
                self.problem_or(incorrect, StoreErrorKind::Truncated, value)
            }
            Err(Reason::OutOfRange) => self.problem_or(incorrect, StoreErrorKind::OutOfRange, DateTime::ZERO),
            Err(Reason::Unreadable) => self.problem_or(incorrect, StoreErrorKind::Truncated, DateTime::ZERO),
        }
    }

    fn at_fsp(&mut self, value: DateTime, fsp: u8, type_name: &'static str) -> Result<DateTime> {
        if self.context.temporal.truncate_fractional {
            return Ok(value.truncate(fsp));
        }
        let carries = |rounded: &DateTime| rounded.truncate(0) != value.truncate(0);
        let has_no_day = value.date().month() == 0 || value.date().day() == 0;
        // No second is added to what is no day.
        match value.round(fsp).filter(|rounded| !has_no_day || !carries(rounded)) {
            Some(rounded) => Ok(rounded),
            None => {
                let incorrect = StoreErrorKind::IncorrectTemporal(type_name);
                self.problem_or(incorrect, StoreErrorKind::OutOfRange, DateTime::ZERO)
            }
        }
    }

    pub(super) fn date(&mut self) -> Result<Value> {
        // The fraction of the day's last second carries into the date.
        let value = self.datetime_or_zero(self.context.temporal, "date")?;
        let value = self.at_fsp(value, 0, "date")?;
        if value.time() != Time::default() {
            self.note_part("date");
        }
        Ok(Value::Date(value.date()))
    }

    pub(super) fn datetime(&mut self, fsp: u8) -> Result<Value> {
        let value = self.datetime_or_zero(self.context.temporal, "datetime")?;
        Ok(Value::DateTime(self.at_fsp(value, fsp, "datetime")?))
    }

    pub(super) fn timestamp(&mut self, fsp: u8) -> Result<Value> {
        if let ValueRef::Timestamp(value) = self.value
            && fsp == 6
        {
            return Ok(Value::Timestamp(value));
        }
        // A timestamp is always a real point in time.
        let mode =
            TemporalMode { no_zero_in_date: true, allow_invalid_dates: false, ..self.context.temporal };
        let local = self.datetime_or_zero(mode, "datetime")?;
        let local = self.at_fsp(local, fsp, "datetime")?;
        match self.context.zone.to_timestamp(local) {
            Some(point) => Ok(Value::Timestamp(point)),
            None => {
                // What has a time of day but no day is no point in time at all, unless a text says so.
                let is_text =
                    matches!(self.value, ValueRef::Bytes(_) | ValueRef::Enum { .. } | ValueRef::Set { .. });
                let lax = match local.date() == Date::ZERO && !is_text {
                    true => StoreErrorKind::Truncated,
                    false => StoreErrorKind::OutOfRange,
                };
                // A date and time is shown with the column's digits.
                if let ValueRef::DateTime(_) = self.value {
                    return self.beyond_timestamp(local, fsp, lax);
                }
                let incorrect = StoreErrorKind::IncorrectTemporal("datetime");
                self.problem_or(incorrect, lax, Value::Timestamp(Timestamp::ZERO))
            }
        }
    }

    fn beyond_timestamp(&mut self, local: DateTime, fsp: u8, lax: StoreErrorKind) -> Result<Value> {
        let mut shown = Vec::new();
        local.format(fsp, &mut shown);
        let value = String::from_utf8_lossy(&shown).into_owned();
        match self.context.strict {
            true => Err(StoreError { kind: StoreErrorKind::IncorrectTemporal("datetime"), value }),
            false => self.problem(lax, Value::Timestamp(Timestamp::ZERO)),
        }
    }

    /// A number between -1 and 0, whose sign its whole part cannot carry; as one that is nearer to zero than
    /// a thousandth of a microsecond counts for nothing.
    fn is_negative_fraction(&self) -> bool {
        let least = Decimal::new(-1, 9);
        match self.value {
            ValueRef::Decimal(value) => value <= least && value > Decimal::from(-1i64),
            ValueRef::Double(value) => value <= -1e-9 && value > -1.0,
            ValueRef::Float(value) => value <= -1e-9 && value > -1.0,
            _ => false,
        }
    }

    /// The time of a number.
    fn time_of_number(&self) -> Taken {
        /// 838:59:59, the last.
        const LAST: i64 = 8_385_959;
        let Some((whole, micros)) = self.whole_and_micros() else {
            let negative = match self.value {
                ValueRef::Decimal(value) => value.is_negative(),
                ValueRef::Double(value) => value < 0.0,
                ValueRef::Float(value) => value < 0.0,
                _ => false,
            };
            return Taken::beyond(if negative { Time::MIN } else { Time::MAX });
        };
        match Time::from_number(whole, micros) {
            Some(Parsed { value, truncated: false }) if self.is_negative_fraction() => {
                Taken::whole(Time::from_micros(-value.micros()).unwrap_or(value))
            }
            Some(Parsed { value, truncated: false }) => Taken { dated: whole > LAST, ..Taken::whole(value) },
            Some(Parsed { value, truncated: true }) => Taken::beyond(value),
            None => Taken::beyond(if whole > LAST { Time::MAX } else { Time::default() }),
        }
    }

    /// The time of a text.
    fn time_of_text(&mut self) -> Taken {
        let zero = Taken::whole(Time::default());
        match Time::read(&self.text(), self.context.temporal) {
            Ok(read) => Taken {
                value: match read.elsewhere {
                    Some((there, seconds)) => self.brought_home(there, seconds).unwrap_or(there).time(),
                    None => read.value,
                },
                dated: read.dated,
                truncated: read.trailing,
                out_of_range: read.clamped,
            },
            Err(NoTime::Empty | NoTime::Exponent) => zero,
            Err(NoTime::OutOfRange) => Taken { out_of_range: true, ..zero },
            Err(NoTime::Unreadable) => Taken { truncated: true, ..zero },
        }
    }

    pub(super) fn time(&mut self, fsp: u8) -> Result<Value> {
        let taken = match self.value {
            ValueRef::Time(value) => Taken::whole(value),
            ValueRef::Date(_) => Taken::whole(Time::default()),
            ValueRef::DateTime(value) => Taken::whole(value.time()),
            ValueRef::Timestamp(value) => Taken::whole(value.to_datetime(self.context.zone).time()),
            ValueRef::Bytes(_) | ValueRef::Enum { .. } | ValueRef::Set { .. } => self.time_of_text(),
            _ => self.time_of_number(),
        };
        let incorrect = StoreErrorKind::IncorrectTemporal("time");
        let value = taken.value;
        if taken.truncated {
            self.problem_or(incorrect, StoreErrorKind::Truncated, value)?;
        }
        if taken.out_of_range {
            self.problem_or(incorrect, StoreErrorKind::OutOfRange, value)?;
        }
        if taken.dated && !taken.truncated {
            self.note_part("time");
        }
        let cut = self.context.temporal.truncate_fractional;
        Ok(Value::Time(if cut { value.truncate(fsp) } else { value.round(fsp) }))
    }
}

/// Whether a text that is no date is one of zeros that breaks off, such as `0` and `00-0`.
fn is_part_of_zero_date(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.first() == Some(&b'0') && text.iter().all(|byte| *byte == b'0' || byte.is_ascii_punctuation())
}
