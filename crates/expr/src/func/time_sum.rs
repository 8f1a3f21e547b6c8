//! Sums and differences of times: ADDTIME, SUBTIME, TIMEDIFF.
//!
//! Their first operand is a time or a date with a time. The type of a column or of a typed literal decides
//! which; a text or a number is read as what it looks like (see `moment`).

use palisade_base::error_catalogue::ER_VALUE_OUT_OF_RANGE;
use palisade_base::mysql_error;
use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::{CollationId, Date, DateTime, SqlType, Time, Value};

use super::date_format::Moment;
use super::temporal::time_digits_of;
use super::{Evaluation, Function, Typed, function, text_of_length};
use crate::convert::text_of;
use crate::place::At;
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlResult};
use Evaluation::Lazy;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("addtime", (2, 2), sum_type, Lazy(|cx, a, call| sum(cx, a, call, 1))),
    function("subtime", (2, 2), sum_type, Lazy(|cx, a, call| sum(cx, a, call, -1))),
    function("timediff", (2, 2), difference_type, Lazy(difference)),
];

/// Numbers from here on are dates; the greatest time is 8385959.
const FIRST_DATE_NUMBER: f64 = 1e7;

fn sum_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let fsp = time_digits_of(arguments.at(0)?).max(time_digits_of(arguments.at(1)?));
    Ok(Typed::nullable(match &arguments.at(0)?.ty {
        SqlType::Time { .. } => SqlType::Time { fsp },
        SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. } => SqlType::DateTime { fsp },
        _ => text_of_length(29, connection),
    }))
}

fn difference_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let fsp = time_digits_of(arguments.at(0)?).max(time_digits_of(arguments.at(1)?));
    Ok(Typed::nullable(SqlType::Time { fsp }))
}

/// A time, if that is all that a text says, and it has a colon. `10:11:12x`, `10:11:12 ` and `900:00:00` are
/// dates then, as are `101112` and `10:11:12 10:10`.
fn whole_time(text: &[u8], mode: TemporalMode) -> Option<Time> {
    let is_spaced = [text.first(), text.last()].into_iter().flatten().any(u8::is_ascii_whitespace);
    // That of the zero date counts as one.
    let has_date = text.iter().skip(1).any(|byte| *byte == b'-');
    let read = Time::read(text, mode).ok().filter(|_| !is_spaced && !has_date && text.contains(&b':'))?;
    (!read.dated && !read.trailing && !read.clamped).then_some(read.value)
}

/// Whether a text is three digits, a point and digits: a time here, though CAST reads `123.5` as 2012-03-05.
fn is_short_number(text: &[u8]) -> bool {
    let mut parts = text.split(|byte| *byte == b'.');
    let is_digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(whole), Some(fraction), None) => whole.len() == 3 && is_digits(whole) && is_digits(fraction),
        _ => false,
    }
}

/// An operand as a time or as a date and time; `None` with a warning if it is neither, and without one if it
/// is NULL. The date may be no day of the calendar. An offset from UTC counts.
fn moment(cx: &mut Context<'_>, value: &Value, operand: &Expr) -> SqlResult<Option<Moment>> {
    if value.is_null() {
        return Ok(None);
    }
    let (moment, offset) = read_moment(cx, value, operand)?;
    Ok(match (moment, offset) {
        (Some(Moment::DateTime(there)), Some(seconds)) => {
            Some(Moment::DateTime(cx.at_offset(there, seconds)))
        }
        (moment, _) => moment,
    })
}

/// The same; an offset from UTC does not count.
pub fn moment_in_place(cx: &mut Context<'_>, value: &Value, operand: &Expr) -> SqlResult<Option<Moment>> {
    Ok(read_moment(cx, value, operand)?.0)
}

/// The same, with an offset from UTC apart, in seconds.
fn read_moment(
    cx: &mut Context<'_>,
    value: &Value,
    operand: &Expr,
) -> SqlResult<(Option<Moment>, Option<i32>)> {
    let moment = match value {
        Value::Bytes(_) | Value::Enum(_) | Value::Set(_) => {
            return text_moment(cx, &text_of(value, &operand.ty));
        }
        Value::Date(_) | Value::DateTime(_) | Value::Timestamp(_) => {
            cx.to_any_datetime(value.as_ref())?.map(Moment::DateTime)
        }
        // That of a column, or of an aggregate: 2024 is 00:20:24.
        Value::Year(year) => cx.to_time(Value::Int((*year).into()).as_ref())?.map(Moment::Time),
        // A negative number to a reader of times.
        Value::UInt(0x8000_0000_0000_0000..) => cx.to_time(value.as_ref())?.map(Moment::Time),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_)
            if cx.to_f64(value.as_ref())? >= FIRST_DATE_NUMBER =>
        {
            cx.to_any_datetime(value.as_ref())?.map(Moment::DateTime)
        }
        value => cx.to_time(value.as_ref())?.map(Moment::Time),
    };
    Ok((moment, None))
}

fn text_moment(cx: &mut Context<'_>, text: &[u8]) -> SqlResult<(Option<Moment>, Option<i32>)> {
    let any = TemporalMode { allow_invalid_dates: true, ..TemporalMode::default() };
    if let Some(time) = whole_time(text, any) {
        return Ok((Some(Moment::Time(time)), None));
    }
    if let Some((parsed, offset)) = DateTime::parse(text, any).filter(|_| !is_short_number(text)) {
        return Ok((Some(Moment::DateTime(parsed.value)), offset));
    }
    match Time::parse(text, any, |there, _| there) {
        Some(parsed) => {
            if parsed.truncated {
                cx.truncated("time", text)?;
            }
            Ok((Some(Moment::Time(parsed.value)), None))
        }
        None => {
            cx.incorrect("datetime", text)?;
            Ok((None, None))
        }
    }
}

/// A date and time in microseconds. The month 0 is the December before, and its day 0 the one before the
/// last of November; the day 0 of another month is the one before its first. Day 0 is all of month 0 of the
/// year 0.
fn counted(moment: DateTime) -> Option<i64> {
    const DAY: i64 = 86_400_000_000;
    moment.to_micros().or_else(|| {
        let date = moment.date();
        let (month, back) = match date.month() {
            0 if date.year() > 0 => (1, 32 - i64::from(date.day())),
            0 => return Some(moment.time().micros()),
            month => (month, 1),
        };
        let first = Date::new(date.year(), month, 1).and_then(Date::to_days)?;
        Some((first - back) * DAY + moment.time().micros())
    })
}

/// Whether an operand that is a date may not be one, because it is no day of the calendar, whatever
/// `sql_mode` says: one that is not written as dates are may.
fn is_refused(date: Date, value: &Value) -> bool {
    let calendar = TemporalMode { no_zero_date: true, no_zero_in_date: true, ..TemporalMode::default() };
    let is_plain = match value {
        Value::Bytes(text) => DateTime::parse_plain(text, calendar).is_some(),
        _ => true,
    };
    is_plain && !calendar.allows(date)
}

/// Says of an operand that it is refused, unless it is a date by its type.
fn refuse(cx: &mut Context<'_>, value: &Value, operand: &Expr) -> SqlResult<()> {
    let text = text_of(value, &operand.ty);
    match value {
        Value::Date(_) | Value::DateTime(_) | Value::Timestamp(_) => Ok(()),
        Value::Bytes(_) if DateTime::has_clock(&text) => cx.truncated("datetime", &text),
        Value::Bytes(_) => cx.truncated("date", &text),
        _ => cx.incorrect("datetime", &text),
    }
}

fn out_of_range(cx: &mut Context<'_>, kind: &str, call: &Expr) -> SqlResult<()> {
    cx.warn_or_fail(mysql_error!(ER_VALUE_OUT_OF_RANGE, kind, call))
}

fn clamped(micros: i64) -> Time {
    Time::from_micros(micros).unwrap_or(if micros < 0 { Time::MIN } else { Time::MAX })
}

/// The first operand plus or minus the second, which is a time.
fn sum(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr, sign: i64) -> SqlAttempt<Value> {
    let first = arguments.at(0)?.eval(cx)?;
    let Some(start) = moment(cx, &first, arguments.at(0)?)? else { return Ok(Value::Null) };
    if let Moment::DateTime(start) = start
        && is_refused(start.date(), &first)
    {
        refuse(cx, &first, arguments.at(0)?)?;
        return Ok(Value::Null);
    }
    let second = arguments.at(1)?.eval(cx)?;
    let Some(amount) = cx.to_time(second.as_ref())? else { return Ok(Value::Null) };
    let amount = amount.micros() * sign;
    let (value, ty) = match start {
        // The zero date that is not written as dates are.
        Moment::DateTime(start) if start.date() == Date::ZERO => return Ok(Value::Null),
        Moment::DateTime(start) | Moment::Dated(start) => {
            let end = counted(start).and_then(|at| DateTime::from_micros(at + amount));
            let Some(end) = end else {
                out_of_range(cx, "DATETIME", call)?;
                return Ok(Value::Null);
            };
            (Value::DateTime(end), SqlType::DateTime { fsp: if end.micros() > 0 { 6 } else { 0 } })
        }
        Moment::Time(start) => {
            let micros = start.micros() + amount;
            let end = clamped(micros);
            if end.micros() != micros {
                out_of_range(cx, "TIME", call)?;
                // A text is the nearest time, a TIME is NULL.
                if !call.ty.is_string() {
                    return Ok(Value::Null);
                }
            }
            let fsp = if end.micros() % 1_000_000 == 0 { 0 } else { 6 };
            (Value::Time(end), SqlType::Time { fsp })
        }
    };
    Ok(if call.ty.is_string() { Value::Bytes(text_of(&value, &ty)) } else { value })
}

/// The time between two operands of the same kind; NULL for a time and a date.
fn difference(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let first = arguments.at(0)?.eval(cx)?;
    let Some(left) = moment(cx, &first, arguments.at(0)?)? else { return Ok(Value::Null) };
    let second = arguments.at(1)?.eval(cx)?;
    let Some(right) = moment(cx, &second, arguments.at(1)?)? else { return Ok(Value::Null) };
    let micros = match (left, right) {
        (Moment::DateTime(left), Moment::DateTime(right)) => {
            counted(left).zip(counted(right)).map(|(left, right)| left - right)
        }
        (Moment::Time(left), Moment::Time(right)) => Some(left.micros() - right.micros()),
        _ => None,
    };
    let Some(micros) = micros else { return Ok(Value::Null) };
    let time = clamped(micros);
    if time.micros() != micros {
        cx.truncated("time", long_time(micros, call.ty.fraction_digits()).as_bytes())?;
    }
    Ok(Value::Time(time))
}

/// A time of any length as text, with so many digits of the second's fraction.
pub fn long_time(micros: i64, fsp: u8) -> String {
    let (sign, magnitude) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    let seconds = magnitude / 1_000_000;
    let mut text = format!("{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fsp > 0 {
        let fraction = format!("{:06}", magnitude % 1_000_000);
        text.push('.');
        text.extend(fraction.chars().take(usize::from(fsp)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_time_says_nothing_else() {
        let mode = TemporalMode::default();
        for time in ["10:11:12", "-10:11", "838:59:58.5", "1:2", "1 10:11:12", "0010:11:12", "10:11.12"] {
            assert!(whole_time(time.as_bytes(), mode).is_some(), "{time}");
        }
        let others = [
            "2010:11:12",
            "10:11:12 10:10",
            "10-11-12",
            "101112",
            "10:11:12x",
            " 10:11:12",
            "900:00:00",
            "2024-01-31 10:11:12",
            "",
        ];
        for other in others {
            assert_eq!(whole_time(other.as_bytes(), mode), None, "{other}");
        }
    }

    #[test]
    fn long_times_have_as_many_hours_as_they_need() {
        assert_eq!(long_time(-1_677 * 3_600_000_000, 0), "-1677:00:00");
        assert_eq!(long_time(839 * 3_600_000_000 + 250_000, 2), "839:00:00.25");
    }
}
