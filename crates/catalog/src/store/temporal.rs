//! Storing into DATE, TIME, DATETIME and TIMESTAMP columns.

use super::{Result, Store, StoreErrorKind};
use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Parsed, TemporalMode, Time, Timestamp, Zone};
use crate::value::{Value, ValueRef};

/// Why there is no datetime.
enum Reason {
    /// It reads as none.
    Unreadable,
    /// It reads as one that sql_mode or the calendar refuses.
    Refused,
    /// It is a negative number, or one that no date has the digits of.
    Beyond,
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
                Err(Reason::Refused)
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
                let any = TemporalMode { allow_invalid_dates: true, ..TemporalMode::default() };
                let (whole, micros) = self.whole_and_micros().ok_or(Reason::Beyond)?;
                if whole < 0 {
                    return Err(Reason::Beyond);
                }
                match DateTime::from_number(whole, micros, mode) {
                    Some(parsed) => Ok(parsed),
                    None if DateTime::from_number(whole, micros, any).is_some() => Err(Reason::Refused),
                    None if whole == i64::MAX => Err(Reason::Beyond),
                    None => Err(Reason::Unreadable),
                }
            }
        }
    }

    fn parse_datetime(&mut self, mode: TemporalMode) -> std::result::Result<Parsed<DateTime>, Reason> {
        let text = self.text();
        let any = TemporalMode { allow_invalid_dates: true, ..TemporalMode::default() };
        let Some((mut parsed, offset)) = DateTime::parse(&text, mode) else {
            return Err(if DateTime::parse(&text, any).is_some() {
                Reason::Refused
            } else {
                Reason::Unreadable
            });
        };
        if let Some(seconds) = offset {
            // The time elsewhere, brought to the session's zone.
            let there = parsed.value.to_micros().ok_or(Reason::Refused)?;
            let utc = DateTime::from_micros(there - i64::from(seconds) * 1_000_000).ok_or(Reason::Refused)?;
            let local = match self.context.zone {
                Zone::Fixed(own) => {
                    utc.to_micros().and_then(|utc| DateTime::from_micros(utc + i64::from(*own) * 1_000_000))
                }
                Zone::Named(_) => Zone::UTC.to_timestamp(utc).map(|point| self.context.zone.to_local(point)),
            };
            parsed.value = local.ok_or(Reason::Refused)?;
        }
        Ok(parsed)
    }

    /// The value as a local datetime, or the zero one with the problem reported.
    fn datetime_or_zero(&mut self, mode: TemporalMode, type_name: &'static str) -> Result<DateTime> {
        let incorrect = StoreErrorKind::IncorrectTemporal(type_name);
        match self.local_datetime(mode) {
            Ok(Parsed { value, truncated: false }) => Ok(value),
            Ok(Parsed { value, truncated: true }) => {
                self.problem_or(incorrect, StoreErrorKind::Truncated, value)
            }
            Err(Reason::Beyond) => self.problem_or(incorrect, StoreErrorKind::OutOfRange, DateTime::ZERO),
            Err(Reason::Unreadable) => self.problem_or(incorrect, StoreErrorKind::Truncated, DateTime::ZERO),
            Err(Reason::Refused) => {
                // Without strict mode, a zero date is refused in name only.
                let lax = TemporalMode { no_zero_date: false, no_zero_in_date: false, ..mode };
                let instead = match self.local_datetime(lax) {
                    Ok(parsed) if parsed.value.date() == Date::ZERO => parsed.value,
                    _ => DateTime::ZERO,
                };
                self.problem_or(incorrect, StoreErrorKind::OutOfRange, instead)
            }
        }
    }

    fn at_fsp(&mut self, value: DateTime, fsp: u8, type_name: &'static str) -> Result<DateTime> {
        if self.context.temporal.truncate_fractional {
            return Ok(value.truncate(fsp));
        }
        match value.round(fsp) {
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
        if value.time() != Time::default() && !matches!(self.value, ValueRef::Time(_)) {
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
            None => self.problem_or(
                StoreErrorKind::IncorrectTemporal("datetime"),
                StoreErrorKind::OutOfRange,
                Value::Timestamp(Timestamp::ZERO),
            ),
        }
    }

    fn is_number(&self) -> bool {
        use ValueRef::{Bit, Decimal, Double, Float, Int, UInt, Year};
        matches!(self.value, Int(_) | UInt(_) | Year(_) | Bit { .. } | Decimal(_) | Float(_) | Double(_))
    }

    /// Whether a number or a text that is a time has a date before it.
    fn has_date(&self) -> bool {
        /// The least number that has one.
        const DATED: i64 = 10_000_000_000;
        if let ValueRef::Bytes(text) = self.value {
            let text = text.trim_ascii();
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            return digits >= 12 || digits > 0 && text.get(digits) == Some(&b'-');
        }
        self.is_number() && self.whole_and_micros().is_some_and(|(whole, _)| whole >= DATED)
    }

    pub(super) fn time(&mut self, fsp: u8) -> Result<Value> {
        let incorrect = StoreErrorKind::IncorrectTemporal("time");
        let parsed = match self.value {
            ValueRef::Time(value) => Some(Parsed { value, truncated: false }),
            ValueRef::Date(_) => Some(Parsed { value: Time::default(), truncated: false }),
            ValueRef::DateTime(value) => Some(Parsed { value: value.time(), truncated: false }),
            ValueRef::Timestamp(value) => {
                Some(Parsed { value: value.to_datetime(self.context.zone).time(), truncated: false })
            }
            ValueRef::Bytes(b"") => Some(Parsed { value: Time::default(), truncated: false }),
            ValueRef::Bytes(_) | ValueRef::Enum { .. } | ValueRef::Set { .. } => {
                Time::parse(&self.text(), self.context.temporal)
            }
            _ => {
                let parsed =
                    self.whole_and_micros().and_then(|(whole, micros)| Time::from_number(whole, micros));
                // A number between -1 and 0 has no whole part to carry its sign.
                match (parsed, self.value) {
                    (Some(parsed), ValueRef::Decimal(number))
                        if number.is_negative() && parsed.value > Time::default() =>
                    {
                        Time::from_micros(-parsed.value.micros()).map(|value| Parsed { value, ..parsed })
                    }
                    (Some(parsed), ValueRef::Double(number))
                        if number < 0.0 && parsed.value > Time::default() =>
                    {
                        Time::from_micros(-parsed.value.micros()).map(|value| Parsed { value, ..parsed })
                    }
                    (parsed, _) => parsed,
                }
            }
        };
        let value = match parsed {
            None if self.is_number() => {
                self.problem_or(incorrect, StoreErrorKind::OutOfRange, Time::default())?
            }
            None => self.problem_or(incorrect, StoreErrorKind::Truncated, Time::default())?,
            Some(Parsed { value, truncated: false }) => value,
            Some(Parsed { value, truncated: true }) => {
                let clamped = value == Time::MAX || value == Time::MIN;
                let lax = if clamped { StoreErrorKind::OutOfRange } else { StoreErrorKind::Truncated };
                self.problem_or(incorrect, lax, value)?
            }
        };
        if self.has_date() {
            self.note_part("time");
        }
        let cut = self.context.temporal.truncate_fractional;
        Ok(Value::Time(if cut { value.truncate(fsp) } else { value.round(fsp) }))
    }
}
