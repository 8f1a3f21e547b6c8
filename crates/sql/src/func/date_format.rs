//! DATE_FORMAT and STR_TO_DATE: the specifiers of the manual's table, written and read.

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
    /// Of TIME_FORMAT.
    Time(Time),
}

impl Moment {
    fn date(self) -> Option<Date> {
        match self {
            Moment::DateTime(value) => Some(value.date()),
            Moment::Time(_) => None,
        }
    }

    /// Hours, minutes, seconds, microseconds.
    fn clock(self) -> (u32, u32, u32, u32) {
        match self {
            Moment::DateTime(value) => {
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

/// Appends `moment` by `format`. False if the format asks for what the moment does not have (the weekday of a date
/// with a zero month, say): the result is then NULL.
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
            | b'W' | b'w' | b'X' | b'x' | b'Y' | b'y' => match moment.date() {
                Some(date) => date_part(date, specifier, out),
                None => time_only(specifier, out),
            },
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

/// Date specifiers of TIME_FORMAT: zeros for numbers, NULL for names.
fn time_only(specifier: u8, out: &mut Vec<u8>) -> Option<()> {
    match specifier {
        b'c' | b'e' => out.push(b'0'),
        b'd' | b'm' | b'y' => out.extend_from_slice(b"00"),
        b'Y' => out.extend_from_slice(b"0000"),
        _ => return None,
    }
    Some(())
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

/// Which parts a STR_TO_DATE format holds; they make the result's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatKind {
    /// Date specifiers only.
    Date,
    /// Time specifiers only.
    Time,
    /// Both.
    DateTime,
}

/// What a format makes, and whether it reads fractions of a second.
pub fn kind_of(format: &[u8]) -> (FormatKind, bool) {
    let (mut date, mut time, mut fraction) = (false, false, false);
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'%' {
            match bytes.next() {
                Some(b'f') => (time, fraction) = (true, true),
                Some(b'H' | b'h' | b'I' | b'i' | b'k' | b'l' | b'p' | b'r' | b'S' | b's' | b'T') => {
                    time = true
                }
                Some(b'%') | None => {}
                Some(_) => date = true,
            }
        }
    }
    let kind = match (date, time) {
        (true, false) => FormatKind::Date,
        (false, true) => FormatKind::Time,
        _ => FormatKind::DateTime,
    };
    (kind, fraction)
}

/// What [`parse`] has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedMoment {
    /// The date; parts that were not read are 0.
    pub date: Date,
    /// The time of day.
    pub time: Time,
    /// Whether text was left over, which deserves a warning.
    pub trailing: bool,
}

#[derive(Default)]
struct Fields {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    micros: u32,
    afternoon: Option<bool>,
    twelve_hours: bool,
    day_of_year: Option<u32>,
    weekday: Option<u32>,
    /// Week number, the mode of WEEK() it is of, and its own year.
    week: Option<(u32, u8)>,
    week_year: Option<u32>,
}

/// Reads `text` by `format`. `None` if it does not match, or is no date or time.
pub fn parse(text: &[u8], format: &[u8]) -> Option<ParsedMoment> {
    let mut fields = Fields::default();
    let rest = read(text, format, &mut fields)?;
    let trailing = !rest.iter().all(u8::is_ascii_whitespace);
    if let Some(afternoon) = fields.afternoon {
        if fields.hour > 12 || fields.hour == 0 {
            return None;
        }
        fields.hour = fields.hour % 12 + if afternoon { 12 } else { 0 };
    } else if fields.twelve_hours && fields.hour > 12 {
        return None;
    }
    if fields.minute > 59 || fields.second > 59 || fields.hour > 23 {
        return None;
    }
    let date = resolve_date(&fields)?;
    let seconds = i64::from(fields.hour) * 3600 + i64::from(fields.minute) * 60 + i64::from(fields.second);
    let time = Time::from_micros(seconds * 1_000_000 + i64::from(fields.micros))?;
    Some(ParsedMoment { date, time, trailing })
}

fn resolve_date(fields: &Fields) -> Option<Date> {
    if let Some(day) = fields.day_of_year {
        let first = Date::new(fields.year as u16, 1, 1)?.to_days()?;
        return Date::from_days(first + i64::from(day) - 1);
    }
    if let (Some((week, mode)), Some(weekday)) = (fields.week, fields.weekday) {
        let year = fields.week_year.unwrap_or(fields.year);
        let first = Date::new(year as u16, 1, 1)?;
        let days = first.to_days()?;
        let sunday_first = mode % 2 == 0;
        let first_weekday = (i64::from(first.weekday()?) + i64::from(sunday_first)) % 7;
        let wanted = if sunday_first { weekday } else { (weekday + 6) % 7 };
        // week 1 is the first with a Sunday (Sunday first), or the first with four days of the year (Monday first)
        let start = match (sunday_first, first_weekday) {
            (_, 0) => days,
            (false, day) if day <= 3 => days - day,
            (_, day) => days + 7 - day,
        };
        return Date::from_days(start + (i64::from(week) - 1) * 7 + i64::from(wanted));
    }
    let date = Date::new(fields.year as u16, fields.month as u8, fields.day as u8)?;
    let complete = fields.month > 0 && fields.day > 0;
    if complete && !date.is_valid() { None } else { Some(date) }
}

fn read<'a>(mut text: &'a [u8], format: &[u8], fields: &mut Fields) -> Option<&'a [u8]> {
    let mut pattern = format.iter().copied().peekable();
    while let Some(byte) = pattern.next() {
        text = text.trim_ascii_start();
        if text.is_empty() {
            break;
        }
        if byte.is_ascii_whitespace() {
            continue;
        }
        if byte != b'%' {
            text = text.strip_prefix(&[byte])?;
            continue;
        }
        let specifier = pattern.next()?;
        match specifier {
            b'Y' => fields.year = year(number(&mut text, 4)?, 4),
            b'y' => fields.year = year(number(&mut text, 2)?, 2),
            b'm' | b'c' => fields.month = number(&mut text, 2)?.0,
            b'd' | b'e' => fields.day = number(&mut text, 2)?.0,
            b'D' => {
                fields.day = number(&mut text, 2)?.0;
                text = text.get(2..)?;
            }
            b'M' => fields.month = name(&mut text, &MONTHS, usize::MAX)? + 1,
            b'b' => fields.month = name(&mut text, &MONTHS, 3)? + 1,
            b'W' => fields.weekday = Some((name(&mut text, &WEEKDAYS, usize::MAX)? + 1) % 7),
            b'a' => fields.weekday = Some((name(&mut text, &WEEKDAYS, 3)? + 1) % 7),
            b'w' => fields.weekday = Some(number(&mut text, 1)?.0).filter(|day| *day < 7),
            b'j' => fields.day_of_year = Some(number(&mut text, 3)?.0).filter(|day| (1..=366).contains(day)),
            b'U' => fields.week = Some((number(&mut text, 2)?.0, 0)),
            b'u' => fields.week = Some((number(&mut text, 2)?.0, 1)),
            b'V' => fields.week = Some((number(&mut text, 2)?.0, 2)),
            b'v' => fields.week = Some((number(&mut text, 2)?.0, 3)),
            b'X' | b'x' => fields.week_year = Some(number(&mut text, 4)?.0),
            b'H' | b'k' => fields.hour = number(&mut text, 2)?.0,
            b'h' | b'I' | b'l' => {
                fields.hour = number(&mut text, 2)?.0;
                fields.twelve_hours = true;
            }
            b'i' => fields.minute = number(&mut text, 2)?.0,
            b's' | b'S' => fields.second = number(&mut text, 2)?.0,
            b'f' => {
                let (value, digits) = number(&mut text, 6)?;
                fields.micros = value * 10u32.pow(6 - digits);
            }
            b'p' => {
                let (half, rest) = text.split_at_checked(2)?;
                fields.afternoon = Some(match half.to_ascii_uppercase().as_slice() {
                    b"AM" => false,
                    b"PM" => true,
                    _ => return None,
                });
                text = rest;
            }
            b'r' => text = read(text, b"%I:%i:%S %p", fields)?,
            b'T' => text = read(text, b"%H:%i:%S", fields)?,
            b'%' => text = text.strip_prefix(b"%")?,
            b'.' => text = skip(text, |byte| byte.is_ascii_punctuation()),
            b'@' => text = skip(text, |byte| byte.is_ascii_alphabetic()),
            b'#' => text = skip(text, |byte| byte.is_ascii_digit()),
            _ => return None,
        }
    }
    Some(text)
}

fn skip(text: &[u8], what: impl Fn(&u8) -> bool) -> &[u8] {
    let skipped = text.iter().take_while(|byte| what(byte)).count();
    text.get(skipped..).unwrap_or_default()
}

/// A number of at most `most` digits, and how many it had.
fn number(text: &mut &[u8], most: usize) -> Option<(u32, u32)> {
    let digits = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let (head, rest) = text.split_at(digits);
    *text = rest;
    Some((head.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')), digits as u32))
}

/// Two-digit years are of 1970 to 2069.
fn year((value, digits): (u32, u32), wanted: u32) -> u32 {
    match value {
        0..=69 if digits <= 2 || wanted == 2 => value + 2000,
        70..=99 if digits <= 2 || wanted == 2 => value + 1900,
        value => value,
    }
}

/// The position of the name (its first `length` letters) with which `text` begins.
fn name(text: &mut &[u8], names: &[&str], length: usize) -> Option<u32> {
    let behind = |name: &str| {
        let wanted = name.as_bytes().get(..length).unwrap_or(name.as_bytes());
        let (head, rest) = text.split_at_checked(wanted.len())?;
        head.eq_ignore_ascii_case(wanted).then_some(rest)
    };
    let (position, rest) = names.iter().enumerate().find_map(|(at, name)| Some((at, behind(name)?)))?;
    *text = rest;
    Some(position as u32)
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

    #[test]
    fn what_is_written_is_read_back() {
        let parsed = parse(b"21.11.2026 08:05:09.0123", b"%d.%m.%Y %T.%f").unwrap();
        assert_eq!(parsed.date, Date::new(2026, 11, 21).unwrap());
        assert_eq!(parsed.time.parts(), (false, 8, 5, 9, 12_300));
        assert!(!parsed.trailing);
        let parsed = parse(b"Nov 5th, 99 rest", b"%b %D, %y").unwrap();
        assert_eq!((parsed.date, parsed.trailing), (Date::new(1999, 11, 5).unwrap(), true));
        assert_eq!(parse(b"12:30 AM", b"%h:%i %p").unwrap().time.parts(), (false, 0, 30, 0, 0));
        assert_eq!(parse(b"2026 325", b"%Y %j").unwrap().date, Date::new(2026, 11, 21).unwrap());
    }

    #[test]
    fn what_does_not_match_is_nothing() {
        assert_eq!(parse(b"x", b"%Y"), None);
        assert_eq!(parse(b"2026-02-30", b"%Y-%m-%d"), None);
        assert_eq!(parse(b"25:00", b"%H:%i"), None);
    }

    #[test]
    fn a_format_knows_its_type() {
        assert_eq!(kind_of(b"%Y-%m-%d"), (FormatKind::Date, false));
        assert_eq!(kind_of(b"%H:%i:%s.%f"), (FormatKind::Time, true));
        assert_eq!(kind_of(b"%Y %H"), (FormatKind::DateTime, false));
    }
}
