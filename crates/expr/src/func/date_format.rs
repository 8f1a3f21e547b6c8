//! Formats of dates and times: the specifiers of the manual's table, written. They are read by
//! [`str_to_date`](super::str_to_date).

use palisade_catalog::{Date, DateTime, Time};

/// Month names, January first.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Weekday names, Monday first.
pub const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// What is formatted: a date with a time of day, or a TIME, whose hours go beyond 23 and whose date parts are
/// unknown.
#[derive(Debug, Clone, Copy)]
pub enum Moment {
    /// Of DATE_FORMAT.
    DateTime(DateTime),
    /// Of TIME_FORMAT, for which a date has numbers and neither names nor weeks.
    Dated(DateTime),
    /// Of TIME_FORMAT.
    Time(Time),
}

impl Moment {
    /// What a specifier of a date stands for.
    fn date_part(self, specifier: u8, out: &mut Vec<u8>) -> Option<()> {
        let is_number = matches!(specifier, b'c' | b'd' | b'e' | b'm' | b'Y' | b'y');
        match self {
            Moment::DateTime(value) => date_part(value.date(), specifier, out),
            Moment::Dated(value) if is_number => date_part(value.date(), specifier, out),
            Moment::Time(_) if is_number => date_part(Date::ZERO, specifier, out),
            Moment::Dated(_) | Moment::Time(_) => None,
        }
    }

    /// Hours, minutes, seconds, microseconds.
    fn clock(self) -> (u32, u32, u32, u32) {
        match self {
            Moment::DateTime(value) | Moment::Dated(value) => {
                (value.hour().into(), value.minute().into(), value.second().into(), value.micros())
            }
            Moment::Time(value) => {
                let (_, hours, minutes, seconds, micros) = value.parts();
                (hours.into(), minutes.into(), seconds.into(), micros)
            }
        }
    }
}

fn padded(out: &mut Vec<u8>, value: u32, width: usize) {
    out.extend_from_slice(format!("{value:0width$}").as_bytes());
}

/// Appends `moment` by `format`. False if the format asks for what the moment does not have (the weekday of a
/// date with a zero month, say): the result is then NULL.
#[must_use]
pub fn format(moment: Moment, format: &[u8], out: &mut Vec<u8>) -> bool {
    let mut bytes = format.iter().copied();
    if let Moment::Time(time) = moment
        && time.micros() < 0
    {
        out.push(b'-');
    }
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let Some(specifier) = bytes.next() else {
            out.push(b'%');
            break;
        };
        let done = match specifier {
            b'f' | b'H' | b'h' | b'I' | b'i' | b'k' | b'l' | b'p' | b'r' | b'S' | b's' | b'T' => {
                clock_part(moment.clock(), specifier, out);
                Some(())
            }
            b'a' | b'b' | b'c' | b'D' | b'd' | b'e' | b'j' | b'M' | b'm' | b'U' | b'u' | b'V' | b'v'
            | b'W' | b'w' | b'X' | b'x' | b'Y' | b'y' => moment.date_part(specifier, out),
            other => {
                out.push(other);
                Some(())
            }
        };
        if done.is_none() {
            return false;
        }
    }
    true
}

fn clock_part((hours, minutes, seconds, micros): (u32, u32, u32, u32), specifier: u8, out: &mut Vec<u8>) {
    let twelve = (hours % 24 + 11) % 12 + 1;
    let half = if hours % 24 < 12 { "AM" } else { "PM" };
    match specifier {
        b'f' => padded(out, micros, 6),
        b'H' => padded(out, hours, 2),
        b'h' | b'I' => padded(out, twelve, 2),
        b'i' => padded(out, minutes, 2),
        b'k' => padded(out, hours, 1),
        b'l' => padded(out, twelve, 1),
        b'p' => out.extend_from_slice(half.as_bytes()),
        b'r' => out.extend_from_slice(format!("{twelve:02}:{minutes:02}:{seconds:02} {half}").as_bytes()),
        b'S' | b's' => padded(out, seconds, 2),
        _ => out.extend_from_slice(format!("{hours:02}:{minutes:02}:{seconds:02}").as_bytes()),
    }
}

fn date_part(date: Date, specifier: u8, out: &mut Vec<u8>) -> Option<()> {
    let (year, month, day) = (u32::from(date.year()), u32::from(date.month()), u32::from(date.day()));
    let month_name = || MONTHS.get((month as usize).checked_sub(1)?);
    let weekday_name = || WEEKDAYS.get(usize::from(date.weekday()?));
    match specifier {
        b'a' => out.extend(weekday_name()?.bytes().take(3)),
        b'b' => out.extend(month_name()?.bytes().take(3)),
        b'c' => padded(out, month, 1),
        b'D' => {
            padded(out, day, 1);
            let suffix = match (day % 100, day % 10) {
                (11..=13, _) => "th",
                (_, 1) => "st",
                (_, 2) => "nd",
                (_, 3) => "rd",
                _ => "th",
            };
            out.extend_from_slice(suffix.as_bytes());
        }
        b'd' => padded(out, day, 2),
        b'e' => padded(out, day, 1),
        b'j' => padded(out, date.day_of_year()?.into(), 3),
        b'M' => out.extend_from_slice(month_name()?.as_bytes()),
        b'm' => padded(out, month, 2),
        b'U' => padded(out, date.week(0)?.0.into(), 2),
        b'u' => padded(out, date.week(1)?.0.into(), 2),
        b'V' => padded(out, date.week(2)?.0.into(), 2),
        b'v' => padded(out, date.week(3)?.0.into(), 2),
        b'W' => out.extend_from_slice(weekday_name()?.as_bytes()),
        b'w' => padded(out, (u32::from(date.weekday()?) + 1) % 7, 1),
        b'X' => padded(out, date.week(2)?.1.into(), 4),
        b'x' => padded(out, date.week(3)?.1.into(), 4),
        b'Y' => padded(out, year, 4),
        _ => padded(out, year % 100, 2),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment() -> Moment {
        let date = Date::new(2026, 11, 21).unwrap();
        Moment::DateTime(DateTime::new(date, 8, 5, 9, 12_345).unwrap())
    }

    fn formatted(moment: Moment, by: &str) -> Option<String> {
        let mut out = Vec::new();
        format(moment, by.as_bytes(), &mut out).then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn every_specifier_is_written() {
        let text =
            formatted(moment(), "%Y-%m-%d %H:%i:%s.%f %W %M %a %b %e %j %y %c %k %l %p %r %T %D %w %%");
        let expected = "2026-11-21 08:05:09.012345 Saturday November Sat Nov 21 325 26 11 8 8 AM 08:05:09 AM \
                        08:05:09 21st 6 %";
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn a_weekday_of_a_zero_date_is_null() {
        assert_eq!(formatted(Moment::DateTime(DateTime::ZERO), "%W"), None);
        assert_eq!(formatted(Moment::DateTime(DateTime::ZERO), "%Y-%m"), Some("0000-00".into()));
    }
}
