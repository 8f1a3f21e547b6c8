//! Dates and times.
//!
//! [`Date`], [`Time`], [`DateTime`] and [`Timestamp`] are single integers that order as the values do.
//! Fractions are always kept as microseconds; how many digits are shown is the static type's business. Dates
//! may be zero (`0000-00-00`) or have a zero month or day, as in MySQL; sql_mode decides at the edges whether
//! they may.

pub mod calendar;
mod format;
mod parse;
mod zone;

pub use parse::{NoTime, Parsed, ReadTime, TemporalMode};
pub use zone::Zone;

/// A DATE: year 0..=9999, month 0..=12, day 0..=31. Not every combination is a day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date(u32);

/// A TIME: microseconds, -838:59:59.000000 ..= 838:59:59.000000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(i64);

/// A DATETIME: a [`Date`] with hour, minute, second and microsecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DateTime(u64);

/// A TIMESTAMP: microseconds since 1970-01-01 00:00:00 UTC, at most 2038-01-19 03:14:07.999999; 0 is
/// `0000-00-00 00:00:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

impl Date {
    /// `0000-00-00`.
    pub const ZERO: Date = Date(0);

    /// From its parts; `None` if one is beyond its range (month 12, day 31). Does not ask whether the month
    /// has that day.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Date> {
        (year <= 9999 && month <= 12 && day <= 31)
            .then(|| Date(u32::from(year) << 9 | u32::from(month) << 5 | u32::from(day)))
    }

    /// Year, 0..=9999.
    pub fn year(self) -> u16 {
        (self.0 >> 9) as u16
    }

    /// Month, 0..=12.
    pub fn month(self) -> u8 {
        (self.0 >> 5 & 15) as u8
    }

    /// Day, 0..=31.
    pub fn day(self) -> u8 {
        (self.0 & 31) as u8
    }

    /// The packed form: orders as the dates do, fits 3 bytes.
    pub fn packed(self) -> u32 {
        self.0
    }

    /// From the packed form; `None` if it is none.
    pub fn from_packed(packed: u32) -> Option<Date> {
        let date = Date(packed);
        (packed >> 9 <= 9999 && date.month() <= 12).then_some(date)
    }

    /// Midnight of that day.
    pub fn at_midnight(self) -> DateTime {
        DateTime(u64::from(self.0) << 37)
    }
}

impl DateTime {
    /// `0000-00-00 00:00:00`.
    pub const ZERO: DateTime = DateTime(0);

    /// From its parts; `None` if one is beyond its range.
    pub fn new(date: Date, hour: u8, minute: u8, second: u8, micros: u32) -> Option<DateTime> {
        (hour < 24 && minute < 60 && second < 60 && micros < 1_000_000).then(|| {
            let time = u64::from(hour) << 32 | u64::from(minute) << 26 | u64::from(second) << 20;
            DateTime(u64::from(date.0) << 37 | time | u64::from(micros))
        })
    }

    /// The date.
    pub fn date(self) -> Date {
        Date((self.0 >> 37) as u32)
    }

    /// Hour, 0..=23.
    pub fn hour(self) -> u8 {
        (self.0 >> 32 & 31) as u8
    }

    /// Minute.
    pub fn minute(self) -> u8 {
        (self.0 >> 26 & 63) as u8
    }

    /// Second.
    pub fn second(self) -> u8 {
        (self.0 >> 20 & 63) as u8
    }

    /// Microsecond.
    pub fn micros(self) -> u32 {
        (self.0 & 0xf_ffff) as u32
    }

    /// The time of day.
    pub fn time(self) -> Time {
        let seconds =
            i64::from(self.hour()) * 3600 + i64::from(self.minute()) * 60 + i64::from(self.second());
        Time(seconds * 1_000_000 + i64::from(self.micros()))
    }

    /// The packed form: orders as the values do.
    pub fn packed(self) -> u64 {
        self.0
    }

    /// From the packed form; `None` if it is none.
    pub fn from_packed(packed: u64) -> Option<DateTime> {
        let date = Date::from_packed(u32::try_from(packed >> 37).ok()?)?;
        let value = DateTime(packed);
        DateTime::new(date, value.hour(), value.minute(), value.second(), value.micros())
    }
}

impl Time {
    /// 838:59:59.
    pub const MAX: Time = Time(3_020_399_000_000);
    /// -838:59:59.
    pub const MIN: Time = Time(-3_020_399_000_000);

    /// From microseconds; `None` beyond the range.
    pub fn from_micros(micros: i64) -> Option<Time> {
        (Time::MIN.0..=Time::MAX.0).contains(&micros).then_some(Time(micros))
    }

    /// As microseconds.
    pub fn micros(self) -> i64 {
        self.0
    }

    /// Sign, hours, minutes, seconds, microseconds.
    pub fn parts(self) -> (bool, u16, u8, u8, u32) {
        let magnitude = self.0.unsigned_abs();
        let seconds = magnitude / 1_000_000;
        (
            self.0 < 0,
            (seconds / 3600) as u16,
            (seconds / 60 % 60) as u8,
            (seconds % 60) as u8,
            (magnitude % 1_000_000) as u32,
        )
    }
}

impl Timestamp {
    /// `0000-00-00 00:00:00`.
    pub const ZERO: Timestamp = Timestamp(0);
    /// 2038-01-19 03:14:07.999999 UTC.
    pub const MAX: Timestamp = Timestamp((1 << 31) * 1_000_000 - 1);

    /// The local date and time in `zone`.
    pub fn to_datetime(self, zone: &Zone) -> DateTime {
        zone.to_local(self)
    }
}

#[cfg(test)]
mod tests;
