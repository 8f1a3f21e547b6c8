//! STR_TO_DATE: a text read by a format, the specifiers of which [`date_format`](super::date_format) writes.
//!
//! The format says what the call is: a date, a time, or both. White space between two parts counts for
//! nothing, and a text may end before its format does.

use palisade_base::error_catalogue::ER_WRONG_VALUE_FOR_TYPE;
use palisade_base::mysql_error;
use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::{CollationId, Date, DateTime, SqlType, Time, Value};

use super::date_format::{MONTHS, WEEKDAYS};
use super::{Evaluation, Function, Typed, function};
use crate::SqlResult;
use crate::convert::text_of;
use crate::place::At;
use crate::{Context, Expr, Node};
use Evaluation::Strict;

/// Its declaration.
pub static FUNCTIONS: &[Function] = &[function("str_to_date", (2, 2), str_to_date_type, Strict(str_to_date))];

fn str_to_date_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    // The format, in the character set of the text.
    let mut format = arguments.at(1)?;
    while let Node::Transcode { operand, .. } = &format.node {
        format = operand;
    }
    let (kind, fraction) = match &format.node {
        Node::Literal(Value::Bytes(format)) => kind_of(format),
        _ => (FormatKind::DateTime, true),
    };
    let fsp = if fraction { 6 } else { 0 };
    Ok(Typed::nullable(match kind {
        FormatKind::Date => SqlType::Date,
        FormatKind::Time => SqlType::Time { fsp },
        FormatKind::DateTime => SqlType::DateTime { fsp },
    }))
}

fn str_to_date(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    let format = text_of(values.at(1)?, &arguments.at(1)?.ty);
    let mode = cx.reading_mode();
    // A time has no date that might be incomplete.
    let is_time = matches!(call.ty, SqlType::Time { .. });
    let is_complete = |date: Date| date.year() > 0 && date.month() > 0 && date.day() > 0;
    let parsed = parse(&text, &format, mode).and_then(|parsed| {
        let is_let_through = is_time || !mode.no_zero_date || is_complete(parsed.date);
        if is_let_through { Ok(parsed) } else { Err(Unread::Moment) }
    });
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(unread) => {
            let kind = if unread == Unread::Clock { "time" } else { "datetime" };
            let shown = String::from_utf8_lossy(&text).into_owned();
            cx.warn_or_fail(mysql_error!(ER_WRONG_VALUE_FOR_TYPE, kind, shown, "str_to_date"))?;
            return Ok(Value::Null);
        }
    };
    if parsed.trailing {
        let kind = match &call.ty {
            SqlType::Date => "date",
            SqlType::Time { .. } => "time",
            _ => "datetime",
        };
        cx.truncated(kind, &text)?;
    }
    Ok(match &call.ty {
        SqlType::Date => Value::Date(parsed.date),
        SqlType::Time { .. } => {
            const DAY: i64 = 86_400_000_000;
            let days = i64::from(parsed.date.day()) * DAY;
            Time::from_micros(days + parsed.time.micros()).map_or(Value::Null, Value::Time)
        }
        _ => {
            let (_, hour, minute, second, micros) = parsed.time.parts();
            let datetime = DateTime::new(parsed.date, hour as u8, minute, second, micros);
            datetime.map_or(Value::Null, Value::DateTime)
        }
    })
}

/// Which parts a STR_TO_DATE format holds; they make the result's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormatKind {
    /// No time specifiers.
    Date,
    /// No date specifiers, but for a day of the month.
    Time,
    /// Both.
    DateTime,
}

/// What a format makes, and whether it reads fractions of a second. The day of a month is part of a date and
/// of a time, and AM says nothing by itself.
fn kind_of(format: &[u8]) -> (FormatKind, bool) {
    let (mut date, mut time, mut fraction) = (false, false, false);
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'%' {
            match bytes.next() {
                Some(b'f') => (time, fraction) = (true, true),
                Some(b'H' | b'h' | b'I' | b'i' | b'k' | b'l' | b'r' | b'S' | b's' | b'T') => time = true,
                Some(
                    b'a' | b'b' | b'c' | b'j' | b'M' | b'm' | b'U' | b'u' | b'V' | b'v' | b'W' | b'w' | b'X'
                    | b'x' | b'Y' | b'y',
                ) => date = true,
                _ => {}
            }
        }
    }
    let kind = match (date, time) {
        (true, true) => FormatKind::DateTime,
        (false, true) => FormatKind::Time,
        (_, false) => FormatKind::Date,
    };
    (kind, fraction)
}

/// What [`parse`] has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ParsedMoment {
    /// The date; parts that were not read are 0.
    date: Date,
    /// The time of day.
    time: Time,
    /// Whether text was left over, which deserves a warning.
    trailing: bool,
}

/// Why a text is not read by a format: it does not match it, or says no date or time. Within `%r` and `%T`
/// MySQL calls it a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unread {
    /// Outside of them, and what was read within them.
    Moment,
    /// Within them.
    Clock,
}

/// A week of a year.
#[derive(Clone, Copy)]
struct Week {
    number: u32,
    sunday_first: bool,
    /// Of `%V` and `%v`, which need the year of `%X` or `%x`; the others need that of `%Y`.
    has_own_year: bool,
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
    day_of_year: u32,
    /// 1 is Monday, 7 Sunday.
    weekday: Option<u32>,
    week: Option<Week>,
    /// The year that a week belongs to, and whether that week begins on Sunday.
    week_year: Option<(u32, bool)>,
}

/// Reads `text` by `format`. The date must be one that `mode` lets through, except that nothing is said of
/// the zero date.
fn parse(text: &[u8], format: &[u8], mode: TemporalMode) -> Result<ParsedMoment, Unread> {
    let mut fields = Fields::default();
    let rest = read(text, format, &mut fields)?;
    let trailing = !rest.iter().all(u8::is_ascii_whitespace);
    let date = resolve_date(&fields, mode).ok_or(Unread::Moment)?;
    if fields.minute > 59 || fields.second > 59 || fields.hour > 23 {
        return Err(Unread::Moment);
    }
    let seconds = i64::from(fields.hour) * 3600 + i64::from(fields.minute) * 60 + i64::from(fields.second);
    let time = Time::from_micros(seconds * 1_000_000 + i64::from(fields.micros)).ok_or(Unread::Moment)?;
    Ok(ParsedMoment { date, time, trailing })
}

fn resolve_date(fields: &Fields, mode: TemporalMode) -> Option<Date> {
    let mut date = None;
    if fields.day_of_year > 0 {
        let first = Date::new(fields.year as u16, 1, 1)?.to_days()?;
        date = Some(Date::from_days(first + i64::from(fields.day_of_year) - 1)?);
    }
    if let (Some(week), Some(weekday)) = (fields.week, fields.weekday) {
        let year = match (week.has_own_year, fields.week_year) {
            (true, Some((year, sunday_first))) if sunday_first == week.sunday_first => year,
            (false, None) => date.map_or(fields.year, |date| date.year().into()),
            _ => return None,
        };
        let first = Date::new(year as u16, 1, 1)?;
        let past = (i64::from(first.weekday()?) + i64::from(week.sunday_first)) % 7;
        // Week 1 is the first with a Sunday, or the first with four days of the year that begins on Monday.
        let is_week_one = past == 0 || !week.sunday_first && past <= 3;
        let begin = first.to_days()? - past + if is_week_one { 0 } else { 7 };
        let day = if week.sunday_first { weekday % 7 } else { weekday - 1 };
        date = Some(Date::from_days(begin + (i64::from(week.number) - 1) * 7 + i64::from(day))?);
    }
    let date = match date {
        Some(date) => date,
        None => Date::new(fields.year as u16, u8::try_from(fields.month).ok()?, fields.day as u8)?,
    };
    (date == Date::ZERO || mode.allows(date)).then_some(date)
}

/// Reads by a format; what is left of the text. Twelve hours become those of the day at the format's end, and
/// that of `%r` has its own.
fn read<'a>(mut text: &'a [u8], format: &[u8], fields: &mut Fields) -> Result<&'a [u8], Unread> {
    let mut pattern = format.iter().copied();
    let (mut has_twelve_hours, mut is_afternoon) = (false, false);
    while let Some(byte) = pattern.next() {
        text = text.trim_ascii_start();
        if text.is_empty() {
            break;
        }
        if byte.is_ascii_whitespace() {
            continue;
        }
        // A percent sign at the end stands for itself.
        let specifier = if byte == b'%' { pattern.next() } else { None };
        match specifier {
            None => text = text.strip_prefix(&[byte]).ok_or(Unread::Moment)?,
            Some(b'p') => {
                let (half, rest) = text.split_at_checked(2).ok_or(Unread::Moment)?;
                is_afternoon = half.eq_ignore_ascii_case(b"PM");
                if !has_twelve_hours || !is_afternoon && !half.eq_ignore_ascii_case(b"AM") {
                    return Err(Unread::Moment);
                }
                text = rest;
            }
            Some(specifier @ (b'r' | b'T')) => {
                let clock: &[u8] = if specifier == b'r' { b"%I:%i:%S %p" } else { b"%H:%i:%S" };
                text = read(text, clock, fields).map_err(|_| Unread::Clock)?;
            }
            Some(specifier) => {
                has_twelve_hours |= matches!(specifier, b'h' | b'I' | b'l');
                read_part(&mut text, specifier, fields).ok_or(Unread::Moment)?;
            }
        }
    }
    if has_twelve_hours {
        if !(1..=12).contains(&fields.hour) {
            return Err(Unread::Moment);
        }
        fields.hour = fields.hour % 12 + if is_afternoon { 12 } else { 0 };
    }
    Ok(text)
}

/// Reads what a specifier stands for.
fn read_part(text: &mut &[u8], specifier: u8, fields: &mut Fields) -> Option<()> {
    match specifier {
        b'Y' => fields.year = year(number(text, 4)?),
        b'y' => fields.year = year(number(text, 2)?),
        b'm' | b'c' => fields.month = number(text, 2)?.0,
        b'd' | b'e' => fields.day = number(text, 2)?.0,
        b'D' => {
            fields.day = number(text, 2)?.0;
            *text = text.get(2..).unwrap_or_default();
        }
        b'M' => fields.month = name(text, &MONTHS, usize::MAX)? + 1,
        b'b' => fields.month = name(text, &MONTHS, 3)? + 1,
        b'W' => fields.weekday = Some(name(text, &WEEKDAYS, usize::MAX)? + 1),
        b'a' => fields.weekday = Some(name(text, &WEEKDAYS, 3)? + 1),
        b'w' => {
            let day = number(text, 1)?.0;
            fields.weekday = Some(if day == 0 { 7 } else { day });
            return (day < 7).then_some(());
        }
        b'j' => fields.day_of_year = number(text, 3)?.0,
        b'U' | b'u' | b'V' | b'v' => {
            let (number, _) = number(text, 2)?;
            let has_own_year = matches!(specifier, b'V' | b'v');
            if number > 53 || number == 0 && has_own_year {
                return None;
            }
            let sunday_first = specifier.is_ascii_uppercase();
            fields.week = Some(Week { number, sunday_first, has_own_year });
        }
        b'X' | b'x' => fields.week_year = Some((number(text, 4)?.0, specifier == b'X')),
        b'H' | b'k' | b'h' | b'I' | b'l' => fields.hour = number(text, 2)?.0,
        b'i' => fields.minute = number(text, 2)?.0,
        b's' | b'S' => fields.second = number(text, 2)?.0,
        b'f' => {
            let (value, digits) = number(text, 6)?;
            fields.micros = value * 10u32.pow(6 - digits);
        }
        b'.' => *text = skip(text, |byte| byte.is_ascii_punctuation()),
        b'@' => *text = skip(text, |byte| byte.is_ascii_alphabetic()),
        b'#' => *text = skip(text, |byte| byte.is_ascii_digit()),
        _ => return None,
    }
    Some(())
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

/// Years of one or two digits are of 1970 to 2069.
fn year((value, digits): (u32, u32)) -> u32 {
    match value {
        0..=69 if digits <= 2 => value + 2000,
        70..=99 if digits <= 2 => value + 1900,
        value => value,
    }
}

/// The position of the name, of which the first `length` letters count, that the word is with which `text`
/// begins. A word may be the beginning of one name only.
fn name(text: &mut &[u8], names: &[&str], length: usize) -> Option<u32> {
    // Beyond ASCII it is no name, but may be a letter.
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte >= 0xc0).count();
    let (word, rest) = text.split_at(letters);
    let names = names.iter().map(|name| name.as_bytes().get(..length).unwrap_or(name.as_bytes()));
    let begins = |name: &[u8]| name.get(..letters).is_some_and(|head| head.eq_ignore_ascii_case(word));
    let mut found = names.enumerate().filter(|(_, name)| begins(name));
    let (position, _) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    *text = rest;
    Some(position as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, format: &str) -> Result<ParsedMoment, Unread> {
        parse(text.as_bytes(), format.as_bytes(), TemporalMode::default())
    }

    fn day(year: u16, month: u8, day: u8) -> Date {
        Date::new(year, month, day).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let parsed = read("21.11.2026 08:05:09.0123", "%d.%m.%Y %T.%f").unwrap();
        assert_eq!(parsed.date, day(2026, 11, 21));
        assert_eq!(parsed.time.parts(), (false, 8, 5, 9, 12_300));
        assert!(!parsed.trailing);
        let parsed = read("Nov 5th, 99 rest", "%b %D, %y").unwrap();
        assert_eq!((parsed.date, parsed.trailing), (day(1999, 11, 5), true));
        assert_eq!(read("12:30 AM", "%h:%i %p").unwrap().time.parts(), (false, 0, 30, 0, 0));
        assert_eq!(read("12:30", "%r").unwrap().time.parts(), (false, 0, 30, 0, 0));
        assert_eq!(read("2026 325", "%Y %j").unwrap().date, day(2026, 11, 21));
        assert_eq!(read("2024%", "%Y%").unwrap().date, day(2024, 0, 0));
    }

    #[test]
    fn weeks_begin_in_the_year_that_is_named_for_them() {
        for (text, format, expected) in [
            ("2023 53 1", "%Y %U %w", day(2024, 1, 1)),
            ("2023 53 1", "%X %V %w", day(2024, 1, 1)),
            ("2023 53 1", "%x %v %w", day(2024, 1, 1)),
            ("2023 0 0", "%Y %u %w", day(2023, 1, 1)),
            ("2023 1 sun", "%Y %u %a", day(2023, 1, 8)),
            ("2023 1 0", "%Y %U %w", day(2023, 1, 1)),
        ] {
            assert_eq!(read(text, format).unwrap().date, expected, "{text} by {format}");
        }
        for (text, format) in [("2023 1 1", "%Y %V %w"), ("2023 1 1", "%X %U %w"), ("2023 1 1", "%x %V %w")] {
            assert_eq!(read(text, format), Err(Unread::Moment), "{text} by {format}");
        }
    }

    #[test]
    fn a_word_is_the_beginning_of_one_name() {
        assert_eq!(read("Ja 3", "%b %d").unwrap().date, day(0, 1, 3));
        assert_eq!(read("D 3", "%M %d").unwrap().date, day(0, 12, 3));
        for (text, format) in [("Ju", "%M"), ("June", "%b"), ("Junes", "%M"), ("3", "%M"), ("Maybe", "%M")] {
            assert_eq!(read(text, format), Err(Unread::Moment), "{text} by {format}");
        }
    }

    #[test]
    fn what_does_not_match_is_nothing() {
        for (text, format) in [("x", "%Y"), ("2026-02-30", "%Y-%m-%d"), ("25:00", "%H:%i"), ("5PM", "%H%p")] {
            assert_eq!(read(text, format), Err(Unread::Moment), "{text} by {format}");
        }
        for (text, format) in [("13:00", "%r"), ("12:xx", "%T")] {
            assert_eq!(read(text, format), Err(Unread::Clock), "{text} by {format}");
        }
    }

    #[test]
    fn a_format_knows_its_type() {
        assert_eq!(kind_of(b"%Y-%m-%d"), (FormatKind::Date, false));
        assert_eq!(kind_of(b"%H:%i:%s.%f"), (FormatKind::Time, true));
        assert_eq!(kind_of(b"%Y %H"), (FormatKind::DateTime, false));
        assert_eq!(kind_of(b"%d %H"), (FormatKind::Time, false));
        assert_eq!(kind_of(b"%p"), (FormatKind::Date, false));
    }
}
