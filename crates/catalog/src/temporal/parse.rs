//! Lenient reading of dates and times, as MySQL does it.
//!
//! Text is read as fields of digits. Delimited: any punctuation between them, white space or `T` between date
//! and time. Undelimited, where the text or all before its first point is digits: two digits a field, four
//! for the year if there are 4, 8 or at least 14 digits. A year of two digits is 2000..2069 or 1970..1999. A
//! fraction may follow the second; after that an offset from UTC.

use super::{Date, DateTime, Time};
use crate::part::from;

/// Which incomplete or impossible dates are let through (from sql_mode).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TemporalMode {
    /// `0000-00-00` is refused (NO_ZERO_DATE).
    pub no_zero_date: bool,
    /// A zero month or day is refused (NO_ZERO_IN_DATE).
    pub no_zero_in_date: bool,
    /// Any day up to 31 is let through (ALLOW_INVALID_DATES).
    pub allow_invalid_dates: bool,
    /// Fractions beyond the wanted digits are cut, not rounded (TIME_TRUNCATE_FRACTIONAL).
    pub truncate_fractional: bool,
}

/// What reading a text gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parsed<T> {
    /// The value.
    pub value: T,
    /// Something followed that was ignored, or the value was clamped: warning 1292 or note 1265.
    pub truncated: bool,
}

impl TemporalMode {
    /// Whether this mode lets a date through.
    pub fn allows(self, date: Date) -> bool {
        if date == Date::ZERO {
            return !self.no_zero_date;
        }
        if date.month() == 0 || date.day() == 0 {
            return !self.no_zero_in_date;
        }
        self.allow_invalid_dates || date.is_valid()
    }
}

/// A position in a text.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) -> usize {
        let count = self.rest.iter().take_while(|byte| wanted(**byte)).count();
        self.skip_bytes(count);
        count
    }

    fn skip_bytes(&mut self, count: usize) {
        self.rest = from(self.rest, count);
    }

    fn digits_ahead(&self) -> usize {
        self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    /// The number in the next digits, at most `most` of them; a large one stays large.
    fn number(&mut self, most: usize) -> u32 {
        let count = self.digits_ahead().min(most);
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        digits
            .iter()
            .fold(0u32, |value, digit| value.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
    }

    /// A point and the fraction after it, if they are there: microseconds, rounded from the seventh digit
    /// unless `truncate`, 1000000 if they round up to a second; and how many digits the fraction has, at most
    /// 6.
    fn fraction(&mut self, truncate: bool) -> (u32, u8) {
        if self.peek() != Some(b'.') {
            return (0, 0);
        }
        self.skip_bytes(1);
        let count = self.digits_ahead();
        let kept = count.min(6);
        let micros = self.number(kept) * 10u32.pow(6 - kept as u32);
        let next = self.peek().filter(|_| count > 6).unwrap_or(b'0');
        self.skip(|byte| byte.is_ascii_digit());
        (micros + u32::from(!truncate && next >= b'5'), kept as u8)
    }

    /// Whether an exponent follows, as in `1.5e-3`.
    fn is_at_exponent(&self) -> bool {
        match self.rest {
            [b'e' | b'E', b'+' | b'-', digit, ..] | [b'e' | b'E', digit, ..] => digit.is_ascii_digit(),
            _ => false,
        }
    }
}

/// What [`Time::read`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadTime {
    /// The value, within its range.
    pub value: Time,
    /// Digits of the fraction, at most 6.
    pub digits: u8,
    /// Something followed that was ignored.
    pub trailing: bool,
    /// The text says more than a TIME can keep.
    pub clamped: bool,
    /// A date was before it.
    pub dated: bool,
    /// The date and time that it is part of, and how many seconds that is ahead of UTC, if the text says so.
    pub elsewhere: Option<(DateTime, i32)>,
}

/// Why a text is no time. Stored into a column, each says something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoTime {
    /// Nothing, or a sign alone.
    Empty,
    /// A number with an exponent.
    Exponent,
    /// A minute or second beyond 59.
    OutOfRange,
    /// Anything else.
    Unreadable,
}

/// A year of two digits in full.
fn full_year(year: u32) -> u32 {
    match year {
        0..=69 => 2000 + year,
        70..=99 => 1900 + year,
        _ => year,
    }
}

/// Date and time as read, before it is known whether they make sense.
struct Fields {
    /// Year, month, day, hour, minute, second.
    values: [u32; 6],
    /// How many of them the text has.
    count: usize,
    /// 1000000 if the fraction rounds up to a second.
    micros: u32,
    /// Digits of the fraction, at most 6.
    digits: u8,
    offset: Option<i32>,
    trailing: bool,
    /// Punctuation or white space stands between fields.
    delimited: bool,
    /// White space follows the day.
    spaced: bool,
    /// The text ends with what is neither a field nor white space.
    garbled: bool,
    /// Nothing but `-`, one space or `T`, and `:` stands between fields, and no white space around them.
    plain: bool,
}

impl Fields {
    /// What this is to a reader of times: a text with delimiters has white space between date and time.
    fn is_time_with_date(&self) -> bool {
        let begins_with_year = self.values.first().is_some_and(|year| *year <= 9999);
        self.spaced
            || !self.delimited && (self.count > 3 || self.count < 3 && self.garbled && begins_with_year)
    }
}

fn is_punctuation(byte: u8) -> bool {
    byte.is_ascii_punctuation()
}

fn read_fields(text: &[u8], truncate: bool) -> Option<Fields> {
    let mut cursor = Cursor { rest: text };
    cursor.skip(|byte| byte.is_ascii_whitespace());
    if cursor.digits_ahead() == 0 {
        return None;
    }
    // Fields need no delimiters if the text, or as much of it as is before a point, has none.
    let leading = cursor.rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'T')).count();
    let undelimited = matches!(cursor.rest.get(leading), None | Some(b'.'));
    // A digit and a point, as in `1.2.3.4`, make any delimiter a usual one.
    let is_short = undelimited && leading == 1 && cursor.rest.len() > 1;
    let mut fields = Fields {
        values: [0; 6],
        count: 0,
        micros: 0,
        digits: 0,
        offset: None,
        trailing: false,
        delimited: false,
        spaced: false,
        garbled: false,
        plain: cursor.rest.len() == text.len(),
    };
    let year_digits = match (undelimited, leading) {
        (true, 4 | 8 | 14..) => 4,
        (true, _) => 2,
        (false, _) => usize::MAX,
    };
    let mut two_digit_year = false;
    let mut values = [0; 6];
    for (field, place) in values.iter_mut().enumerate() {
        let before = cursor.digits_ahead();
        if before == 0 {
            break;
        }
        let most = match (undelimited, field) {
            (_, 0) => year_digits,
            (true, _) => 2,
            (false, _) => usize::MAX,
        };
        let value = cursor.number(most);
        if field == 0 {
            two_digit_year = if undelimited { year_digits == 2 } else { before == 2 };
        }
        *place = value;
        fields.count = field + 1;
        if field == 5 {
            break;
        }
        if undelimited && cursor.digits_ahead() > 0 {
            continue;
        }
        if field == 2 {
            // Between date and time.
            if cursor.peek() == Some(b'T') && cursor.rest.get(1).is_some_and(u8::is_ascii_digit) {
                cursor.skip_bytes(1);
            } else if !cursor.rest.is_empty() {
                let mut lookahead = Cursor { rest: cursor.rest };
                let skipped = lookahead.skip(|byte| byte.is_ascii_whitespace() || is_punctuation(byte));
                let between = cursor.rest.get(..skipped).unwrap_or_default();
                fields.delimited |= skipped > 0;
                fields.spaced = between.iter().any(u8::is_ascii_whitespace);
                fields.plain &= between == b" " || is_short && between != b":";
                // Delimiters may end a text.
                cursor = lookahead;
                if cursor.digits_ahead() == 0 {
                    fields.plain = false;
                    break;
                }
            }
            continue;
        }
        // A fraction belongs to the second alone; elsewhere the point is a delimiter.
        let delimiters = cursor.rest;
        let mut lookahead = Cursor { rest: cursor.rest };
        let skipped = lookahead.skip(is_punctuation);
        // White space stands behind the day and the second alone.
        if lookahead.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            return None;
        }
        fields.delimited |= skipped > 0;
        let usual = if field < 2 { b"-" } else { b":" };
        let is_usual = is_short || delimiters.get(..skipped) == Some(usual);
        let is_last = skipped == 0 || lookahead.digits_ahead() == 0;
        if !is_last || field > 2 {
            // Delimiters may end a text.
            fields.plain &= skipped == 0 || is_usual && !is_last;
            cursor = lookahead;
        }
        if is_last {
            break;
        }
    }
    fields.values = values;
    if fields.count == 6 {
        (fields.micros, fields.digits) = cursor.fraction(truncate);
    }
    if fields.count == 6 && matches!(cursor.peek(), Some(b'+' | b'-')) {
        fields.offset = Some(offset_in_text(cursor.rest.trim_ascii_end())?);
        cursor.rest = &[];
    }
    fields.plain &= cursor.rest.is_empty();
    fields.garbled = cursor.peek().is_some_and(|byte| !byte.is_ascii_whitespace());
    cursor.skip(|byte| byte.is_ascii_whitespace());
    fields.trailing = !cursor.rest.is_empty();
    if two_digit_year && (fields.micros > 0 || fields.values.iter().any(|value| *value != 0)) {
        let [year, ..] = &mut fields.values;
        *year = full_year(*year);
    }
    Some(fields)
}

/// `+HH:MM`, from -14:00 to +14:00, as it stands behind a second: seconds. A zone of a session is written
/// less strictly.
fn offset_in_text(text: &[u8]) -> Option<i32> {
    let [sign, tens, hours, b':', sixths, minutes] = text else { return None };
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i32::from(byte - b'0'));
    let hours = digit(tens)? * 10 + digit(hours)?;
    let minutes = digit(sixths)? * 10 + digit(minutes)?;
    let seconds = hours * 3600 + minutes * 60;
    if minutes > 59 || seconds > 14 * 3600 || text == b"-00:00" {
        return None;
    }
    Some(if *sign == b'-' { -seconds } else { seconds })
}

/// A datetime of its fields, if each is in range; a fraction of 1000000 microseconds carries.
fn from_fields(values: [u32; 6], micros: u32) -> Option<DateTime> {
    let small = |value: u32| u8::try_from(value).ok();
    let [year, month, day, hour, minute, second] = values;
    let date = Date::new(u16::try_from(year).ok()?, small(month)?, small(day)?)?;
    let value = DateTime::new(date, small(hour)?, small(minute)?, small(second)?, micros.min(999_999))?;
    if micros > 999_999 { value.round(0) } else { Some(value) }
}

impl Date {
    /// Reads a date. A time part is allowed and dropped: [`DateTime::parse`] tells whether there was one.
    pub fn parse(text: &[u8], mode: TemporalMode) -> Option<Parsed<Date>> {
        let (parsed, _) = DateTime::parse(text, TemporalMode { truncate_fractional: true, ..mode })?;
        Some(Parsed { value: parsed.value.date(), truncated: parsed.truncated })
    }

    /// From a number: 20260131, 260131, 20260131235959.
    pub fn from_number(number: i64, mode: TemporalMode) -> Option<Date> {
        DateTime::from_number(number, 0, mode).map(|parsed| parsed.value.date())
    }
}

impl DateTime {
    /// The day of a number where only that is wanted, whatever its time: 20240131996161 is of 2024-01-31. A
    /// year of two digits needs no month and no day, as in 700000.
    pub fn day_of_number(number: i64, mode: TemporalMode) -> Option<DateTime> {
        const CLOCK: i64 = 1_000_000;
        let day = match number {
            1..=99_999_999 => number,
            100_000_000..=99_991_231_999_999 => number / CLOCK,
            _ => return None,
        };
        let year = match day / 10_000 {
            year @ ..=69 => year + 2000,
            year @ 70..=99 => year + 1900,
            year => year,
        };
        let two = |number: i64| (number % 100) as u8;
        let date = Date::new(u16::try_from(year).ok()?, two(day / 100), two(day))?;
        mode.allows(date).then(|| date.at_midnight())
    }

    /// Reads a date and time; an offset (`+02:00`) is given back apart, in seconds. Microseconds are rounded
    /// from the seventh digit.
    pub fn parse(text: &[u8], mode: TemporalMode) -> Option<(Parsed<DateTime>, Option<i32>)> {
        let fields = read_fields(text, mode.truncate_fractional)?;
        if fields.count < 3 {
            return None;
        }
        let value = from_fields(fields.values, fields.micros)?;
        // The zero date with a time of day is one of which parts are zero.
        let is_partial = value.date() == Date::ZERO && value != DateTime::ZERO;
        let is_let_through = if is_partial { !mode.no_zero_in_date } else { mode.allows(value.date()) };
        if !is_let_through {
            return None;
        }
        Some((Parsed { value, truncated: fields.trailing }, fields.offset))
    }

    /// Reads a date and time that is written with the usual delimiters and nothing else; its offset comes
    /// apart, in seconds. It may be no day of the calendar.
    pub fn parse_plain(text: &[u8], mode: TemporalMode) -> Option<(DateTime, Option<i32>)> {
        let fields = read_fields(text, mode.truncate_fractional)?;
        if fields.count < 3 || !fields.plain {
            return None;
        }
        Some((from_fields(fields.values, fields.micros)?, fields.offset))
    }

    /// Whether a text that is read as a date and time says a time of day.
    pub fn has_clock(text: &[u8]) -> bool {
        read_fields(text, true).is_some_and(|fields| fields.count > 3)
    }

    /// How many digits the fraction of a text has that is read as a date and time, at most 6; `None` if it is
    /// none.
    pub fn fraction_digits(text: &[u8]) -> Option<u8> {
        let fields = read_fields(text, true).filter(|fields| fields.count >= 3)?;
        from_fields(fields.values, fields.micros).map(|_| fields.digits)
    }

    /// From a number: 20260131, 20260131235959; `micros` is the number's fraction (1000000 carries). It
    /// counts only where there is a time: `truncated` says that one was dropped.
    pub fn from_number(number: i64, micros: u32, mode: TemporalMode) -> Option<Parsed<DateTime>> {
        let is_date = (101..=99_991_231).contains(&number);
        let (mut date, time) = match number {
            0 => (0, 0),
            _ if is_date => (number, 0),
            101_000_000..=99_991_231_235_959 => (number / 1_000_000, number % 1_000_000),
            _ => return None,
        };
        let truncated = is_date && micros > 0;
        let micros = if is_date { 0 } else { micros };
        // A year of two digits.
        match date {
            101..=691_231 => date += 20_000_000,
            700_101..=991_231 => date += 19_000_000,
            0 | 1_000_000.. => {}
            _ => return None,
        }
        let two = |number: i64| (number % 100) as u32;
        let [year, month, day] = [(date / 10_000) as u32, two(date / 100), two(date)];
        let values = [year, month, day, two(time / 10_000), two(time / 100), two(time)];
        let value = from_fields(values, micros).filter(|value| mode.allows(value.date()))?;
        Some(Parsed { value, truncated })
    }
}

impl Time {
    fn from_parts(negative: bool, seconds: u64, micros: u32) -> Parsed<Time> {
        let magnitude = seconds.saturating_mul(1_000_000).saturating_add(micros.into());
        let truncated = magnitude > Time::MAX.0 as u64;
        let micros = magnitude.min(Time::MAX.0 as u64) as i64;
        Parsed { value: Time(if negative { -micros } else { micros }), truncated }
    }

    /// Reads a time: `[-][D ]HH:MM:SS[.ffffff]`, `HHMMSS`, or the time of a full datetime. Beyond the range
    /// it is clamped, and `truncated`. Of the mode only the rule for digits beyond the sixth is asked.
    /// `at_offset` says what a datetime at an offset from UTC, in seconds, is in the session's zone.
    pub fn parse(
        text: &[u8],
        mode: TemporalMode,
        at_offset: impl FnOnce(DateTime, i32) -> DateTime,
    ) -> Option<Parsed<Time>> {
        let read = Time::read(text, mode).ok()?;
        let home = read.elsewhere.map(|(there, seconds)| at_offset(there, seconds).time());
        Some(Parsed { value: home.unwrap_or(read.value), truncated: read.trailing || read.clamped })
    }

    /// Reads a time that has no date before it.
    pub fn parse_clock(text: &[u8], mode: TemporalMode) -> Option<Parsed<Time>> {
        let read = Time::read(text, mode).ok().filter(|read| !read.dated)?;
        Some(Parsed { value: read.value, truncated: read.trailing || read.clamped })
    }

    /// How many digits the fraction of a text has that is read as a time, at most 6; `None` if it is none.
    pub fn fraction_digits(text: &[u8]) -> Option<u8> {
        let mode = TemporalMode { truncate_fractional: true, ..TemporalMode::default() };
        Time::read(text, mode).ok().map(|read| read.digits)
    }

    /// [`parse`](Self::parse), which tells what was read and why there is no time.
    pub fn read(text: &[u8], mode: TemporalMode) -> Result<ReadTime, NoTime> {
        let truncate = mode.truncate_fractional;
        match Time::read_datetime(text.trim_ascii_start(), truncate) {
            Some(read) => read,
            None => Time::read_clock(text.trim_ascii(), truncate),
        }
    }

    /// Reads a time without a date, trimmed.
    fn read_clock(trimmed: &[u8], truncate: bool) -> Result<ReadTime, NoTime> {
        let mut cursor = Cursor { rest: trimmed };
        let negative = cursor.peek() == Some(b'-');
        if negative {
            cursor.skip_bytes(1);
        }
        if cursor.rest.is_empty() {
            return Err(NoTime::Empty);
        }
        let (digits, first) = (cursor.digits_ahead(), cursor.number(usize::MAX));
        let spaces = cursor.rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let ahead = from(cursor.rest, spaces);
        let field_follows = |rest: &[u8]| matches!(rest, [b':', digit, ..] if digit.is_ascii_digit());
        // A digit alone behind the space is no hour.
        let day_part =
            digits > 0 && spaces > 0 && ahead.len() > 1 && ahead.first().is_some_and(u8::is_ascii_digit);
        if digits == 0 && cursor.peek() != Some(b'.') && !field_follows(ahead) {
            return Err(NoTime::Unreadable);
        }
        let (mut parts, mut days, mut fields) = ([first, 0, 0], 0, 1);
        if day_part {
            days = first;
            cursor.rest = ahead;
            parts[0] = cursor.number(usize::MAX);
        } else if field_follows(ahead) {
            cursor.rest = ahead;
        }
        for place in parts.iter_mut().skip(1) {
            if !field_follows(cursor.rest) {
                break;
            }
            cursor.skip_bytes(1);
            *place = cursor.number(usize::MAX);
            fields += 1;
        }
        if fields == 1 && !day_part {
            // Undelimited: HHMMSS.
            parts = [first / 10_000, first / 100 % 100, first % 100];
        }
        let (micros, digits) = cursor.fraction(truncate);
        if cursor.is_at_exponent() {
            return Err(NoTime::Exponent);
        }
        if parts[1] > 59 || parts[2] > 59 {
            return Err(NoTime::OutOfRange);
        }
        // More than 32 bits can say.
        if first == u32::MAX {
            return Err(NoTime::Unreadable);
        }
        let hours = u64::from(days) * 24 + u64::from(parts[0]);
        let seconds = hours * 3600 + u64::from(parts[1]) * 60 + u64::from(parts[2]);
        let Parsed { value, truncated: clamped } = Time::from_parts(negative, seconds, micros);
        Ok(ReadTime {
            value,
            digits,
            trailing: !cursor.rest.is_empty(),
            clamped,
            dated: false,
            elsewhere: None,
        })
    }

    /// The time of a text with a date before it; `None` if it has no date. With delimiters, there is a space
    /// between date and time; `01:02:03.004` is none, and the `T` of `2020-02-29T10:00:00` ends a text that
    /// is read as a time.
    fn read_datetime(trimmed: &[u8], truncate: bool) -> Option<Result<ReadTime, NoTime>> {
        let unsigned = trimmed.strip_prefix(b"-").unwrap_or(trimmed);
        if unsigned.len() < 12 || !unsigned.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let fields = read_fields(unsigned, truncate).filter(Fields::is_time_with_date)?;
        let moment = from_fields(fields.values, fields.micros);
        let is_whole = fields.count > 3 && unsigned.len() == trimmed.len();
        Some(moment.filter(|_| is_whole).ok_or(NoTime::Unreadable).map(|moment| ReadTime {
            // The fraction carries into the hour, and not into the day.
            value: match from_fields(fields.values, fields.micros.min(999_999)) {
                Some(cut) if fields.micros > 999_999 => Time(cut.time().0 + 1),
                _ => moment.time(),
            },
            digits: fields.digits,
            trailing: fields.trailing,
            clamped: false,
            dated: moment.date() != Date::ZERO,
            elsewhere: fields.offset.map(|seconds| (moment, seconds)),
        }))
    }

    /// From a number: 235959; `micros` is the number's fraction. Ten digits and more are a datetime's time.
    pub fn from_number(number: i64, micros: u32) -> Option<Parsed<Time>> {
        if number >= 10_000_000_000 {
            let mode = TemporalMode { allow_invalid_dates: true, ..TemporalMode::default() };
            let parsed = DateTime::from_number(number, micros, mode)?;
            return Some(Parsed { value: parsed.value.time(), truncated: false });
        }
        let magnitude = number.unsigned_abs();
        if magnitude > 8_385_959 {
            return Some(Time::from_parts(number < 0, u64::MAX, 0));
        }
        let (hours, minutes, seconds) = (magnitude / 10_000, magnitude / 100 % 100, magnitude % 100);
        if minutes > 59 || seconds > 59 {
            return None;
        }
        Some(Time::from_parts(number < 0, hours * 3600 + minutes * 60 + seconds, micros))
    }
}
