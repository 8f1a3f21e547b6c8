//! Time zones: fixed offsets, and named ones from the system's zone database.

use jiff::tz::{AmbiguousOffset, TimeZone};

use super::calendar::{DAY_US, EPOCH_DAYS};
use super::{DateTime, Timestamp};

/// A time zone.
#[derive(Debug, Clone, PartialEq)]
pub enum Zone {
    /// Seconds east of UTC.
    Fixed(i32),
    /// A named zone with its rules.
    Named(Box<TimeZone>),
}

impl Zone {
    /// UTC.
    pub const UTC: Zone = Zone::Fixed(0);

    /// `+02:00`, `-05:30`, `UTC`, or a name of the zone database. `SYSTEM` is the caller's business.
    pub fn parse(text: &str) -> Option<Zone> {
        if text.eq_ignore_ascii_case("UTC") {
            return Some(Zone::UTC);
        }
        match text.as_bytes().first()? {
            b'+' | b'-' => parse_offset(text.as_bytes()).map(Zone::Fixed),
            _ => Some(Zone::Named(Box::new(TimeZone::get(text).ok()?))),
        }
    }

    /// Its name as @@time_zone shows it.
    pub fn name(&self) -> String {
        match self {
            Zone::Fixed(seconds) => {
                let minutes = seconds.unsigned_abs() / 60;
                let sign = if *seconds < 0 { '-' } else { '+' };
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Zone::Named(zone) => zone.iana_name().unwrap_or("SYSTEM").to_owned(),
        }
    }

    /// Local date and time; zero for the zero timestamp.
    pub fn to_local(&self, timestamp: Timestamp) -> DateTime {
        if timestamp == Timestamp::ZERO {
            return DateTime::ZERO;
        }
        let offset = match self {
            Zone::Fixed(seconds) => *seconds,
            Zone::Named(zone) => match jiff::Timestamp::from_microsecond(timestamp.0) {
                Ok(point) => zone.to_offset(point).seconds(),
                Err(_) => return DateTime::ZERO,
            },
        };
        let local = timestamp.0.checked_add(i64::from(offset) * 1_000_000 + EPOCH_DAYS * DAY_US);
        local.and_then(DateTime::from_micros).unwrap_or(DateTime::ZERO)
    }

    /// A date and time at an offset from UTC, in seconds, in this zone; as it is before 1970 and after 3001.
    pub fn at_offset(&self, there: DateTime, seconds: i32) -> DateTime {
        let micros = Zone::Fixed(seconds).to_unix_micros(there);
        micros.map_or(there, |micros| self.to_local(Timestamp(micros)))
    }

    /// The point in time that is `local` here; `None` outside TIMESTAMP's range or for an impossible date. The zero
    /// date is the zero timestamp. A local time that a clock change skips becomes the moment of the change, as in
    /// MySQL; of one that comes twice the earlier is taken.
    pub fn to_timestamp(&self, local: DateTime) -> Option<Timestamp> {
        if local == DateTime::ZERO {
            return Some(Timestamp::ZERO);
        }
        self.to_unix_micros(local).map(Timestamp).filter(|timestamp| *timestamp <= Timestamp::MAX)
    }

    /// The same in microseconds since 1970, for expressions, which reach further than the type TIMESTAMP:
    /// from the first second of 1970 to 3001-01-18 23:59:59.999999 UTC. `None` for the zero date.
    pub fn to_unix_micros(&self, local: DateTime) -> Option<i64> {
        const LAST: i64 = 32_536_771_199_999_999;
        if !local.date().is_valid() {
            return None;
        }
        let as_utc = local.to_micros()? - EPOCH_DAYS * DAY_US;
        let micros = match self {
            Zone::Fixed(seconds) => as_utc - i64::from(*seconds) * 1_000_000,
            Zone::Named(zone) => named_to_utc(zone, local, as_utc)?,
        };
        (1_000_000..=LAST).contains(&micros).then_some(micros)
    }
}

fn named_to_utc(zone: &TimeZone, local: DateTime, as_utc: i64) -> Option<i64> {
    let date = local.date();
    let civil = jiff::civil::DateTime::new(
        date.year() as i16,
        date.month() as i8,
        date.day() as i8,
        local.hour() as i8,
        local.minute() as i8,
        local.second() as i8,
        0,
    );
    Some(match zone.to_ambiguous_timestamp(civil.ok()?).offset() {
        AmbiguousOffset::Unambiguous { offset } => as_utc - i64::from(offset.seconds()) * 1_000_000,
        AmbiguousOffset::Fold { before, .. } => as_utc - i64::from(before.seconds()) * 1_000_000,
        AmbiguousOffset::Gap { before, .. } => {
            // By the clock before the change it is this much past the change: look back for it.
            let past =
                jiff::Timestamp::from_microsecond(as_utc - i64::from(before.seconds()) * 1_000_000 + 1)
                    .ok()?;
            zone.preceding(past).next()?.timestamp().as_microsecond()
        }
    })
}

/// `+HH:MM`, from -13:59 to +14:00: seconds.
fn parse_offset(text: &[u8]) -> Option<i32> {
    let (sign, rest) = match text.split_first()? {
        (b'+', rest) => (1, rest),
        (b'-', rest) => (-1, rest),
        _ => return None,
    };
    let mut halves = rest.splitn(2, |byte| *byte == b':');
    let number = |digits: &[u8]| -> Option<i32> {
        let sound = (1..=2).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
        sound.then(|| digits.iter().fold(0, |value, digit| value * 10 + i32::from(digit - b'0')))
    };
    let (hours, minutes) = (number(halves.next()?)?, number(halves.next()?)?);
    let seconds = sign * (hours * 3600 + minutes * 60);
    let in_range = minutes < 60 && (-(13 * 3600 + 59 * 60)..=14 * 3600).contains(&seconds);
    in_range.then_some(seconds)
}
