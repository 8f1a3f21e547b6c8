//! Functions of dates and times.
//!
//! A unit (`INTERVAL n unit`, `EXTRACT(unit FROM d)`, `TIMESTAMPDIFF(unit, a, b)`) arrives as a string
//! literal in lower case.

mod types;

use palisade_base::error_catalogue::{ER_DATETIME_FUNCTION_OVERFLOW, ER_VALUE_OUT_OF_RANGE};
use palisade_base::mysql_error;
use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::temporal::calendar::Interval;
use palisade_catalog::{Date, DateTime, Decimal, SqlType, Time, Timestamp, Value, Zone};

use self::types::{
    date_add_type, date_never_null, date_type, datetime_type, format_name_type, format_type,
    from_unixtime_type, int, make_time_type, name_type, now_time_type, now_type, sec_to_time_type, time_type,
    timestamp_type, timestampadd_type, unix_timestamp_type, year_type,
};
use super::date_format::{self, Moment};
use super::string::keyword;
use super::time_sum::{long_time, moment_in_place};
use super::turns::{OnNull, Read, Turn};
use super::unit::Unit;
use super::{Evaluation, Function, function, volatile};
use crate::cast;
use crate::convert::text_of;
use crate::place::At;
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlResult};
use Evaluation::{Lazy, Nullable, Strict};

pub use types::{datetime_digits_of, time_digits_of};

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("convert_tz", (3, 3), datetime_type, Lazy(convert_tz)),
    volatile("curdate", (0, 0), date_never_null, Strict(curdate)),
    volatile("current_date", (0, 0), date_never_null, Strict(curdate)),
    volatile("current_time", (0, 1), now_time_type, Strict(curtime)),
    volatile("current_timestamp", (0, 1), now_type, Strict(now)),
    volatile("curtime", (0, 1), now_time_type, Strict(curtime)),
    function("date", (1, 1), date_type, Strict(date)),
    function("date_add", (3, 3), date_add_type, Lazy(|cx, a, call| added(cx, a, call, [0, 1, 2], false))),
    function("date_format", (2, 2), format_type, Strict(format_date)).in_turns(DATE_FORMAT),
    function("date_sub", (3, 3), date_add_type, Lazy(|cx, a, call| added(cx, a, call, [0, 1, 2], true))),
    function("datediff", (2, 2), int, Strict(datediff)).in_turns(DATEDIFF),
    function("day", (1, 1), int, Strict(|cx, v, _, _| of_date(cx, v, |d| Some(d.day().into())))),
    function("dayname", (1, 1), name_type, Strict(dayname)),
    function("dayofmonth", (1, 1), int, Strict(|cx, v, _, _| of_date(cx, v, |d| Some(d.day().into())))),
    function(
        "dayofweek",
        (1, 1),
        int,
        Strict(|cx, v, _, _| of_day(cx, v, |d| Some((i64::from(d.weekday()?) + 1) % 7 + 1))),
    ),
    function(
        "dayofyear",
        (1, 1),
        int,
        Strict(|cx, v, _, _| of_day(cx, v, |d| d.day_of_year().map(i64::from))),
    ),
    function("extract", (2, 2), int, Strict(extract)),
    function("from_days", (1, 1), date_type, Strict(from_days)),
    function("from_unixtime", (1, 2), from_unixtime_type, Strict(from_unixtime)).in_turns(FROM_UNIXTIME),
    function("get_format", (2, 2), format_name_type, Strict(get_format)),
    function("hour", (1, 1), int, Strict(|cx, v, _, _| of_time(cx, v, |(_, hour, ..)| hour.into()))),
    function("last_day", (1, 1), date_type, Strict(last_day)),
    volatile("localtime", (0, 1), now_type, Strict(now)),
    volatile("localtimestamp", (0, 1), now_type, Strict(now)),
    function("makedate", (2, 2), date_type, Strict(makedate)).in_turns(MAKEDATE),
    function("maketime", (3, 3), make_time_type, Strict(maketime)).in_turns(MAKETIME),
    function("microsecond", (1, 1), int, Strict(|cx, v, _, _| of_time(cx, v, |(.., micros)| micros.into()))),
    function("minute", (1, 1), int, Strict(|cx, v, _, _| of_time(cx, v, |(_, _, minute, ..)| minute.into()))),
    function("month", (1, 1), int, Strict(|cx, v, _, _| of_date(cx, v, |d| Some(d.month().into())))),
    function("monthname", (1, 1), name_type, Strict(monthname)),
    volatile("now", (0, 1), now_type, Strict(now)),
    function("period_add", (2, 2), int, Strict(period_add)).in_turns(INTEGERS),
    function("period_diff", (2, 2), int, Strict(period_diff)).in_turns(INTEGERS),
    function(
        "quarter",
        (1, 1),
        int,
        Strict(|cx, v, _, _| of_date(cx, v, |d| Some((i64::from(d.month()) + 2) / 3))),
    ),
    function("sec_to_time", (1, 1), sec_to_time_type, Strict(sec_to_time)),
    function(
        "second",
        (1, 1),
        int,
        Strict(|cx, v, _, _| of_time(cx, v, |(_, _, _, second, _)| second.into())),
    ),
    volatile("sysdate", (0, 1), now_type, Strict(sysdate)),
    function("time", (1, 1), time_type, Strict(time)),
    function("time_format", (2, 2), format_type, Lazy(format_time)),
    function("time_to_sec", (1, 1), int, Strict(time_to_sec)),
    function("timestamp", (1, 2), timestamp_type, Strict(timestamp)).in_turns(TIMESTAMP),
    function(
        "timestampadd",
        (3, 3),
        timestampadd_type,
        Lazy(|cx, a, call| added(cx, a, call, [2, 1, 0], false)),
    ),
    function("timestampdiff", (3, 3), int, Strict(timestampdiff)).in_turns(TIMESTAMPDIFF),
    function("to_days", (1, 1), int, Strict(to_days)),
    function("to_seconds", (1, 1), int, Strict(to_seconds)),
    volatile("unix_timestamp", (0, 1), unix_timestamp_type, Strict(unix_timestamp)),
    volatile("utc_date", (0, 0), date_never_null, Strict(utc_date)),
    volatile("utc_time", (0, 1), now_time_type, Strict(utc_time)),
    volatile("utc_timestamp", (0, 1), now_type, Strict(utc_timestamp)),
    function("week", (1, 2), int, Nullable(week)).in_turns(WEEK),
    function("weekday", (1, 1), int, Strict(|cx, v, _, _| of_day(cx, v, |d| d.weekday().map(i64::from)))),
    function("weekofyear", (1, 1), int, Strict(|cx, v, _, _| of_day(cx, v, |d| Some(d.week(3)?.0.into())))),
    function("year", (1, 1), year_type, Strict(|cx, v, _, _| of_date(cx, v, |d| Some(d.year().into())))),
    function("yearweek", (1, 2), int, Nullable(yearweek)).in_turns(WEEK),
];

const DATE_FORMAT: &[Turn] = &[Turn::of(0).read(Read::PartialDateTime), Turn::of(1)];
/// Both are looked at.
const DATEDIFF: &[Turn] = &[
    Turn::of(0).read(Read::CountedDate).null(OnNull::Waits),
    Turn::of(1).read(Read::CountedDate).null(OnNull::Waits),
];
const FROM_UNIXTIME: &[Turn] = &[Turn::of(0).read(Read::Decimal), Turn::of(1)];
const MAKEDATE: &[Turn] = &[Turn::of(1).read(Read::Integer), Turn::of(0).read(Read::Integer)];
const MAKETIME: &[Turn] =
    &[Turn::of(0).read(Read::Integer), Turn::of(1).read(Read::Integer), Turn::of(2).read(Read::Decimal)];
const INTEGERS: &[Turn] = &[Turn::of(0).read(Read::Integer), Turn::of(1).read(Read::Integer)];
const TIMESTAMP: &[Turn] = &[Turn::of(0).read(Read::DateTime), Turn::of(1)];
const TIMESTAMPDIFF: &[Turn] = &[Turn::of(1).read(Read::DateTime), Turn::of(2).read(Read::DateTime)];
/// A mode that is NULL is one.
const WEEK: &[Turn] = &[Turn::of(0).read(Read::Date)];

fn number_or_null(number: Option<i64>) -> SqlResult<Value> {
    Ok(number.map_or(Value::Null, Value::Int))
}

fn of_date(cx: &mut Context<'_>, values: &[Value], part: fn(Date) -> Option<i64>) -> SqlResult<Value> {
    let datetime = cx.to_partial_date(values.at(0)?.as_ref())?;
    number_or_null(datetime.and_then(|datetime| part(datetime.date())))
}

/// The same of a part that only a day of the calendar has.
fn of_day(cx: &mut Context<'_>, values: &[Value], part: fn(Date) -> Option<i64>) -> SqlResult<Value> {
    let mode = TemporalMode { no_zero_in_date: false, ..cx.reading_mode() };
    let datetime = cx.read_date(values.at(0)?.as_ref(), mode)?;
    number_or_null(datetime.and_then(|datetime| part(datetime.date())))
}

fn to_days(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let datetime = cx.to_counted_date(values.at(0)?.as_ref())?;
    number_or_null(datetime.and_then(|datetime| datetime.date().to_days()))
}

type Parts = (bool, u16, u8, u8, u32);

/// The time of day of a date and time, or a TIME itself: text is either.
fn clock(cx: &mut Context<'_>, value: &Value) -> SqlResult<Option<Time>> {
    match value {
        Value::Date(_) | Value::DateTime(_) | Value::Timestamp(_) => {
            Ok(cx.to_datetime(value.as_ref())?.map(DateTime::time))
        }
        value => cx.to_time(value.as_ref()),
    }
}

fn of_time(cx: &mut Context<'_>, values: &[Value], part: fn(Parts) -> i64) -> SqlResult<Value> {
    let time = clock(cx, values.at(0)?)?;
    number_or_null(time.map(|time| part(time.parts())))
}

fn date(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let datetime = cx.to_date(values.at(0)?.as_ref())?;
    let date = datetime.map(DateTime::date).filter(|date| cx.reading_mode().allows(*date));
    Ok(date.map_or(Value::Null, Value::Date))
}

fn time(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(clock(cx, values.at(0)?)?.map_or(Value::Null, Value::Time))
}

fn timestamp(cx: &mut Context<'_>, values: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    let mode = cx.reading_mode();
    let start = cx.to_datetime(values.at(0)?.as_ref())?.filter(|start| mode.allows(start.date()));
    let Some(start) = start else { return Ok(Value::Null) };
    let Some(added) = values.get(1) else { return Ok(Value::DateTime(start)) };
    let Some(added) = cx.to_time(added.as_ref())? else { return Ok(Value::Null) };
    shifted(cx, start, added.micros(), call)
}

/// `start` and so many microseconds; NULL with warning 6527 beyond the calendar.
fn shifted(cx: &mut Context<'_>, start: DateTime, micros: i64, call: &Expr) -> SqlResult<Value> {
    let end = start.to_micros().and_then(|at| at.checked_add(micros)).and_then(DateTime::from_micros);
    match end {
        Some(end) => Ok(Value::DateTime(end)),
        None => {
            cx.warn_or_fail(mysql_error!(ER_VALUE_OUT_OF_RANGE, "DATETIME", call))?;
            Ok(Value::Null)
        }
    }
}

/// NULL with a warning: 6527 where the call is a DATE or TIME, else 1441.
fn overflow(cx: &mut Context<'_>, call: &Expr) -> SqlResult<Value> {
    cx.warn_or_fail(match &call.ty {
        SqlType::Date => mysql_error!(ER_VALUE_OUT_OF_RANGE, "DATE", call),
        SqlType::Time { .. } => mysql_error!(ER_VALUE_OUT_OF_RANGE, "TIME", call),
        _ => mysql_error!(ER_DATETIME_FUNCTION_OVERFLOW, "datetime"),
    })?;
    Ok(Value::Null)
}

fn curdate(cx: &mut Context<'_>, _: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(Value::Date(cx.now().date()))
}

/// Fractions beyond the result's digits are cut, not rounded: NOW() never lies in the future.
fn cut_datetime(datetime: DateTime, call: &Expr) -> Value {
    let unit = 10u32.pow(6 - u32::from(call.ty.fraction_digits()));
    let micros = datetime.micros() / unit * unit;
    let cut = DateTime::new(datetime.date(), datetime.hour(), datetime.minute(), datetime.second(), micros);
    Value::DateTime(cut.unwrap_or(datetime))
}

fn cut_time(datetime: DateTime, call: &Expr) -> Value {
    match cut_datetime(datetime, call) {
        Value::DateTime(cut) => Value::Time(cut.time()),
        other => other,
    }
}

fn now(cx: &mut Context<'_>, _: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    Ok(cut_datetime(cx.now(), call))
}

fn sysdate(cx: &mut Context<'_>, _: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    let now = Timestamp(cx.host.unix_micros()).to_datetime(cx.zone());
    Ok(cut_datetime(now, call))
}

fn curtime(cx: &mut Context<'_>, _: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    Ok(cut_time(cx.now(), call))
}

fn utc_now(cx: &Context<'_>) -> DateTime {
    Timestamp(cx.now_micros()).to_datetime(&Zone::UTC)
}

fn utc_date(cx: &mut Context<'_>, _: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(Value::Date(utc_now(cx).date()))
}

fn utc_time(cx: &mut Context<'_>, _: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    Ok(cut_time(utc_now(cx), call))
}

fn utc_timestamp(cx: &mut Context<'_>, _: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    Ok(cut_datetime(utc_now(cx), call))
}

/// A date or time plus or minus an interval, as a value of the call's type. `places` are those of the date,
/// of the amount and of the unit among the arguments. A date that is none asks for no amount.
fn added(
    cx: &mut Context<'_>,
    arguments: &[Expr],
    call: &Expr,
    places: [usize; 3],
    negative: bool,
) -> SqlAttempt<Value> {
    let [date, amount, unit] = places;
    let unit = Unit::of(arguments.at(unit)?)?;
    let value = arguments.at(date)?.eval(cx)?;
    let Some(start) = moment_to_add_to(cx, &value, call)? else { return Ok(Value::Null) };
    let amount_expr = arguments.at(amount)?;
    let amount = amount_expr.eval(cx)?;
    if amount.is_null() {
        return Ok(Value::Null);
    }
    let Some(interval) = unit.interval(cx, &amount, amount_expr)? else {
        // Of a date or time alone MySQL says nothing.
        if !matches!(call.ty, SqlType::Date | SqlType::Time { .. }) {
            cx.warn_or_fail(mysql_error!(ER_VALUE_OUT_OF_RANGE, "DATETIME", call))?;
        }
        return Ok(Value::Null);
    };
    let sum = match start {
        Moment::Time(time) => sum_of_time(cx, time, interval, call, negative),
        Moment::DateTime(start) | Moment::Dated(start) => {
            sum_of_date(cx, &value, start, (interval, unit), call, negative)
        }
    };
    Ok(sum?)
}

/// What an interval is added to; `None` if it is NULL, or none with a warning.
fn moment_to_add_to(cx: &mut Context<'_>, value: &Value, call: &Expr) -> SqlResult<Option<Moment>> {
    if value.is_null() {
        return Ok(None);
    }
    if let SqlType::Time { .. } = call.ty {
        return Ok(cx.to_time(value.as_ref())?.map(Moment::Time));
    }
    let mode = cx.reading_mode();
    let start = cx.to_datetime(value.as_ref())?.filter(|start| mode.allows(start.date()));
    Ok(start.map(Moment::DateTime))
}

fn sum_of_time(
    cx: &mut Context<'_>,
    time: Time,
    interval: Interval,
    call: &Expr,
    negative: bool,
) -> SqlResult<Value> {
    let amount = if negative { -interval.micros } else { interval.micros };
    match i64::try_from(i128::from(time.micros()) + amount).ok().and_then(Time::from_micros) {
        Some(time) => Ok(Value::Time(time)),
        None => overflow(cx, call),
    }
}

/// A text that holds a date only stays a date, as long as whole days are added.
fn sum_of_date(
    cx: &mut Context<'_>,
    value: &Value,
    start: DateTime,
    (interval, unit): (Interval, Unit),
    call: &Expr,
    negative: bool,
) -> SqlResult<Value> {
    let Some(end) = start.add(interval, negative) else {
        return match (&call.ty, time_of_day_zero(start, interval, negative)) {
            (SqlType::Date, _) | (_, None) => overflow(cx, call),
            (_, Some(micros)) => {
                let shown = format!("0000-00-00 {}", long_time(micros, 6));
                cx.truncated("datetime", shown.as_bytes())?;
                Ok(Value::Null)
            }
        };
    };
    Ok(match &call.ty {
        SqlType::Date => Value::Date(end.date()),
        SqlType::DateTime { .. } => Value::DateTime(end),
        ty => {
            let date_only = match value {
                Value::Bytes(text) => {
                    let text = text.trim_ascii();
                    let delimited = text.iter().any(|byte| !byte.is_ascii_digit());
                    !DateTime::has_clock(text) && (delimited || text.len() <= 8)
                }
                Value::Year(_) => false,
                // 20200101 and 200101
                _ => cx.to_f64(value.as_ref())?.abs() < 1e8,
            };
            let (shown, shown_type) = if date_only && unit.is_days() {
                (Value::Date(end.date()), SqlType::Date)
            } else {
                (Value::DateTime(end), SqlType::DateTime { fsp: if end.micros() > 0 { 6 } else { 0 } })
            };
            debug_assert!(ty.is_string(), "text plus an interval is text");
            Value::Bytes(text_of(&shown, &shown_type))
        }
    })
}

/// The time of day of a sum that is of the day before 0000-01-01, which MySQL takes for the zero date.
fn time_of_day_zero(start: DateTime, interval: Interval, negative: bool) -> Option<i64> {
    const DAY: i64 = 86_400_000_000;
    let amount = i64::try_from(interval.micros).ok().filter(|_| interval.months == 0)?;
    let end = start.to_micros()?.checked_add(if negative { amount.checked_neg()? } else { amount })?;
    (0..DAY).contains(&end).then_some(end)
}

fn datediff(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let left = cx.to_counted_date(values.at(0)?.as_ref())?;
    let right = cx.to_counted_date(values.at(1)?.as_ref())?;
    let days = |value: Option<DateTime>| value.and_then(|value| value.date().to_days());
    number_or_null(days(left).zip(days(right)).map(|(left, right)| left - right))
}

fn timestampdiff(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let unit = Unit::of(arguments.at(0)?)?;
    let (from, to) = (cx.to_datetime(values.at(1)?.as_ref())?, cx.to_datetime(values.at(2)?.as_ref())?);
    number_or_null(from.zip(to).and_then(|(from, to)| unit.between(from, to)))
}

fn extract(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let unit = Unit::of(arguments.at(0)?)?;
    let value = values.at(1)?;
    if unit.is_days() {
        let date = cx.to_partial_datetime(value.as_ref())?;
        return number_or_null(date.and_then(|date| unit.extract(date)));
    }
    let within = match value {
        Value::Date(_) | Value::DateTime(_) | Value::Timestamp(_) => {
            cx.to_datetime(value.as_ref())?.map_or(Within::Nothing, Within::Moment)
        }
        Value::Bytes(text) => moment_of_text(cx, text)?,
        value => moment_of_number(cx, value)?.map_or(Within::Time, Within::Moment),
    };
    let time = match within {
        Within::Nothing => None,
        Within::Moment(date) if unit.needs_date() => return number_or_null(unit.extract(date)),
        Within::Moment(date) => Some(date.time()),
        Within::Time => cx.to_time(value.as_ref())?,
    };
    number_or_null(time.map(|time| unit.extract_time(time)))
}

/// What EXTRACT takes the time of day from.
enum Within {
    /// A date and time.
    Moment(DateTime),
    /// A value that is to be read as a time.
    Time,
    /// A date that is none.
    Nothing,
}

/// A text as what EXTRACT takes the time of day from. It has a date if it is written as dates are, and
/// without anything that MySQL warns of.
fn moment_of_text(cx: &mut Context<'_>, text: &[u8]) -> SqlResult<Within> {
    let mode = TemporalMode { no_zero_in_date: false, ..cx.reading_mode() };
    let Some((moment, offset)) = DateTime::parse_plain(text, mode) else { return Ok(Within::Time) };
    if moment.date() == Date::ZERO && moment != DateTime::ZERO {
        return Ok(Within::Time);
    }
    if !mode.allows(moment.date()) {
        cx.incorrect("datetime", text)?;
        return Ok(Within::Nothing);
    }
    Ok(Within::Moment(offset.map_or(moment, |seconds| cx.at_offset(moment, seconds))))
}

/// The date and time that a number is from which EXTRACT takes the time of day; `None` if it is a time only.
/// One of five digits or more that can be a date is one, but of a year before 1000 only with a time of day,
/// and so a DECIMAL of twelve characters or more.
fn moment_of_number(cx: &mut Context<'_>, value: &Value) -> SqlResult<Option<DateTime>> {
    let number = match value {
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Float(_) => {
            cx.to_decimal(value.as_ref())?
        }
        _ => return Ok(None),
    };
    let is_long = matches!(value, Value::Decimal(number) if number.to_string().len() >= 12);
    let least = Decimal::from(if is_long { 10_000_000_000i64 } else { 10_000 });
    let is_early = number >= Decimal::from(1_000_000i64) && number < Decimal::from(10_000_000i64);
    if number < least || is_early {
        return Ok(None);
    }
    let mode = cx.mode_of_parts(value.as_ref());
    cx.number_as_datetime(value.as_ref(), mode)
}

fn dayname(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let datetime = cx.to_date(values.at(0)?.as_ref())?;
    let day = datetime.and_then(|datetime| datetime.date().weekday());
    let name = day.and_then(|day| date_format::WEEKDAYS.get(usize::from(day)));
    Ok(name.map_or(Value::Null, |name| Value::bytes(*name)))
}

fn monthname(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let datetime = cx.to_partial_date(values.at(0)?.as_ref())?;
    let month = datetime.and_then(|datetime| datetime.date().month().checked_sub(1));
    let name = month.and_then(|month| date_format::MONTHS.get(usize::from(month)));
    Ok(name.map_or(Value::Null, |name| Value::bytes(*name)))
}

/// A mode of WEEK that a statement names; `None` if it is negative, which is mode 0. As in MySQL its lowest 32
/// bits decide both.
fn week_mode(cx: &mut Context<'_>, mode: &Value) -> SqlResult<Option<u8>> {
    let mode = cx.to_i64(mode.as_ref())? as i32;
    Ok((mode >= 0).then_some((mode & 7) as u8))
}

fn week(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    week_of(cx, values, |cx, mode| match mode {
        Some(mode) => Ok(week_mode(cx, mode)?.unwrap_or_default()),
        None => Ok(cx.session.variables.default_week_format & 7),
    })
    .map(|week| week.map_or(Value::Null, |(week, _)| Value::Int(week.into())))
}

fn yearweek(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    // Bit 1 of the mode: weeks count from 1, so that each belongs to one year. A negative mode does not get
    // it.
    week_of(cx, values, |cx, mode| match mode {
        Some(mode) => Ok(week_mode(cx, mode)?.map_or(0, |mode| mode | 2)),
        None => Ok(2),
    })
    .map(|week| week.map_or(Value::Null, |(week, year)| Value::Int(i64::from(year) * 100 + i64::from(week))))
}

/// The week of a date and its year; both 0 if the mode is NULL, `None` if the date is none.
fn week_of(
    cx: &mut Context<'_>,
    values: &[Value],
    mode: impl FnOnce(&mut Context<'_>, Option<&Value>) -> SqlResult<u8>,
) -> SqlResult<Option<(u8, u16)>> {
    let Some(datetime) = cx.to_date(values.at(0)?.as_ref())? else { return Ok(None) };
    if values.get(1).is_some_and(Value::is_null) {
        return Ok(Some((0, 0)));
    }
    let mode = mode(cx, values.get(1))?;
    Ok(datetime.date().week(mode))
}

fn last_day(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let Some(datetime) = cx.to_partial_date(values.at(0)?.as_ref())? else { return Ok(Value::Null) };
    let last = datetime.date().last_day();
    if last.is_none() {
        cx.truncated("date", datetime.date().to_string().as_bytes())?;
    }
    Ok(last.map_or(Value::Null, Value::Date))
}

fn from_days(cx: &mut Context<'_>, values: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    let days = cx.to_i64(values.at(0)?.as_ref())?;
    let date = Date::from_days(days);
    if date.is_none() {
        cx.warn_or_fail(mysql_error!(ER_VALUE_OUT_OF_RANGE, "DATE", call))?;
    }
    Ok(date.map_or(Value::Null, Value::Date))
}

fn to_seconds(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let value = values.at(0)?;
    let datetime = match value {
        // The time of day counts.
        Value::Time(_) => cx.to_datetime(value.as_ref())?,
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Float(_)
            if cx.to_f64(value.as_ref())? > 100.0 =>
        {
            cx.to_datetime(value.as_ref())?
        }
        value => cx.to_date(value.as_ref())?,
    };
    number_or_null(datetime.and_then(DateTime::to_micros).map(|micros| micros.div_euclid(1_000_000)))
}

fn makedate(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let (year, day) = (cx.to_i64(values.at(0)?.as_ref())?, cx.to_i64(values.at(1)?.as_ref())?);
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        year => year,
    };
    let first = u16::try_from(year).ok().and_then(|year| Date::new(year, 1, 1)).and_then(Date::to_days);
    let date = first.filter(|_| day > 0).and_then(|first| Date::from_days(first.checked_add(day - 1)?));
    Ok(date.map_or(Value::Null, Value::Date))
}

/// A time of so many microseconds; beyond the range the nearest, with a warning that shows `text`.
fn clamped_time(cx: &mut Context<'_>, micros: i64, text: &str) -> SqlResult<Value> {
    if let Some(time) = Time::from_micros(micros) {
        return Ok(Value::Time(time));
    }
    cx.truncated("time", text.as_bytes())?;
    Ok(Value::Time(if micros < 0 { Time::MIN } else { Time::MAX }))
}

/// Seconds in microseconds, beyond the longest time somewhere beyond it.
fn second_micros(cx: &Context<'_>, seconds: &Decimal) -> i64 {
    const BEYOND: i64 = 1_000_000_000;
    let whole = seconds.truncate(0).ok().and_then(|whole| whole.to_i64().ok());
    let limit = if seconds.is_negative() { -BEYOND } else { BEYOND };
    whole.unwrap_or(limit).clamp(-BEYOND, BEYOND) * 1_000_000 + cx.fraction_micros(seconds)
}

fn maketime(cx: &mut Context<'_>, values: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (hour, minute) = (cx.to_i64(values.at(0)?.as_ref())?, cx.to_i64(values.at(1)?.as_ref())?);
    let second = cx.to_decimal(values.at(2)?.as_ref())?;
    // 59.9999999 is a second of the minute, though it may round up to the next.
    let whole = second.truncate(0).ok().and_then(|whole| whole.to_i64().ok());
    if !(0..60).contains(&minute) || second.is_negative() || whole.is_none_or(|whole| whole >= 60) {
        return Ok(Value::Null);
    }
    let micros = second_micros(cx, &second);
    let magnitude = hour.unsigned_abs().min(1_000_000) as i64 * 3_600_000_000 + minute * 60_000_000 + micros;
    let shown = long_time(magnitude, call.ty.fraction_digits());
    clamped_time(cx, if hour < 0 { -magnitude } else { magnitude }, &shown)
}

fn sec_to_time(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let seconds = cx.to_decimal(values.at(0)?.as_ref())?;
    let micros = second_micros(cx, &seconds);
    // The last second's fraction still is one of the longest time's.
    let longest = |sign: i64| sign * Time::MAX.micros();
    match micros {
        micros if micros.abs() >= Time::MAX.micros() + 1_000_000 => {
            clamped_time(cx, micros, &seconds.to_string())
        }
        micros => {
            let within = micros.clamp(longest(-1), longest(1));
            Ok(Time::from_micros(within).map_or(Value::Null, Value::Time))
        }
    }
}

fn time_to_sec(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let time = clock(cx, values.at(0)?)?;
    number_or_null(time.map(|time| time.micros() / 1_000_000))
}

fn format_date(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let Some(datetime) = cx.to_partial_datetime(values.at(0)?.as_ref())? else { return Ok(Value::Null) };
    Ok(formatted(Moment::DateTime(datetime), values.at(1)?, arguments.at(1)?))
}

fn format_time(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let (value, format) = (arguments.at(0)?.eval(cx)?, arguments.at(1)?);
    if value.is_null() {
        return Ok(Value::Null);
    }
    let moment = match moment_in_place(cx, &value, arguments.at(0)?)? {
        None => return Ok(Value::Null),
        Some(Moment::DateTime(value)) => Moment::Dated(value),
        Some(other) => other,
    };
    match format.eval(cx)? {
        Value::Null => Ok(Value::Null),
        value => Ok(formatted(moment, &value, format)),
    }
}

fn formatted(moment: Moment, format: &Value, argument: &Expr) -> Value {
    let (format, mut out) = (text_of(format, &argument.ty), Vec::new());
    let done = !format.is_empty() && date_format::format(moment, &format, &mut out);
    if done { Value::bytes(out) } else { Value::Null }
}

fn get_format(_: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let place = text_of(values.at(1)?, &arguments.at(1)?.ty).to_ascii_uppercase();
    let [date, datetime, time] = match place.as_slice() {
        b"USA" => ["%m.%d.%Y", "%Y-%m-%d %H.%i.%s", "%h:%i:%s %p"],
        b"JIS" | b"ISO" => ["%Y-%m-%d", "%Y-%m-%d %H:%i:%s", "%H:%i:%s"],
        b"EUR" => ["%d.%m.%Y", "%Y-%m-%d %H.%i.%s", "%H.%i.%s"],
        b"INTERNAL" => ["%Y%m%d", "%Y%m%d%H%i%s", "%H%i%s"],
        _ => return Ok(Value::Null),
    };
    Ok(Value::bytes(match keyword(arguments.at(0)?)? {
        b"date" => date,
        b"time" => time,
        _ => datetime,
    }))
}

fn unix_timestamp(cx: &mut Context<'_>, values: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    let Some(value) = values.first() else { return Ok(Value::Int(cx.now_micros() / 1_000_000)) };
    let mode = cx.mode_of_parts(value.as_ref());
    let local = cx.read_datetime(value.as_ref(), mode)?;
    // The day after the last one of a month is the first one of the next.
    let counted = local.and_then(DateTime::to_micros).and_then(DateTime::from_micros);
    // 0 is what MySQL answers for what is no date, and for times before 1970 and after 3001.
    let micros = counted.and_then(|local| cx.zone().to_unix_micros(local)).unwrap_or(0);
    match &call.ty {
        SqlType::Decimal { scale, .. } => {
            let exact = Decimal::new(i128::from(micros), 6);
            Ok(Value::Decimal(exact.truncate(i32::from(*scale)).unwrap_or(exact)))
        }
        _ => Ok(Value::Int(micros / 1_000_000)),
    }
}

fn from_unixtime(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    /// 3001-01-18 23:59:59 UTC, the last second FROM_UNIXTIME knows.
    const LATEST: i64 = 32_536_771_199;
    let seconds = cx.to_decimal(values.at(0)?.as_ref())?;
    let whole = seconds.truncate(0).ok().and_then(|whole| whole.to_i64().ok());
    let Some(whole) = whole.filter(|whole| (0..=LATEST).contains(whole) && !seconds.is_negative()) else {
        return Ok(Value::Null);
    };
    let micros = whole * 1_000_000 + cx.fraction_micros(&seconds);
    // The first instant is the zero date of a TIMESTAMP: one beside it tells where it is in the zone.
    let local = match micros {
        0 => cast::cut_datetime(Timestamp(1).to_datetime(cx.zone()), 0),
        micros => Timestamp(micros).to_datetime(cx.zone()),
    };
    match values.get(1) {
        Some(format) => Ok(formatted(Moment::DateTime(local), format, arguments.at(1)?)),
        None => Ok(Value::DateTime(local)),
    }
}

/// The zones are looked at first.
fn convert_tz(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let mut zone = |argument: &Expr| -> SqlAttempt<Option<Zone>> {
        let name = match argument.eval(cx)? {
            Value::Null => return Ok(None),
            value => text_of(&value, &argument.ty),
        };
        let name = String::from_utf8_lossy(&name);
        let is_system = name.eq_ignore_ascii_case("system");
        Ok(if is_system { Some(cx.zone().clone()) } else { Zone::parse(&name) })
    };
    let (from, to) = (zone(arguments.at(1)?)?, zone(arguments.at(2)?)?);
    let (Some(from), Some(to)) = (from, to) else { return Ok(Value::Null) };
    let value = arguments.at(0)?.eval(cx)?;
    let Some(local) = cx.to_datetime(value.as_ref())? else { return Ok(Value::Null) };
    // A time before 1970 or after 3001 stays as it is.
    Ok(Value::DateTime(match from.to_unix_micros(local) {
        Some(micros) => Timestamp(micros).to_datetime(&to),
        None => local,
    }))
}

/// Months since year 0 of a period YYMM or YYYYMM.
fn period_months(period: i64) -> i64 {
    let (year, month) = (period / 100, period % 100);
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        year => year,
    };
    year * 12 + month - 1
}

/// A number as a BIGINT: of an unsigned one the same bits.
fn wrapped(cx: &mut Context<'_>, value: &Value, argument: &Expr) -> SqlResult<i64> {
    match value {
        Value::UInt(number) => Ok(*number as i64),
        value if matches!(argument.ty, SqlType::Decimal { unsigned: true, .. }) => {
            Ok(cx.to_integer(value.as_ref())? as i64)
        }
        value => cx.to_i64(value.as_ref()),
    }
}

fn period_add(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let period = wrapped(cx, values.at(0)?, arguments.at(0)?)?;
    let months = wrapped(cx, values.at(1)?, arguments.at(1)?)?;
    if period <= 0 || !(1..=12).contains(&(period % 100)) {
        return super::string::wrong_arguments("period_add");
    }
    let months = period_months(period).wrapping_add(months);
    Ok(Value::Int(months.div_euclid(12).wrapping_mul(100).wrapping_add(months.rem_euclid(12) + 1)))
}

fn period_diff(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let left = wrapped(cx, values.at(0)?, arguments.at(0)?)?;
    let right = wrapped(cx, values.at(1)?, arguments.at(1)?)?;
    let valid = |period: i64| period > 0 && (1..=12).contains(&(period % 100));
    if !valid(left) || !valid(right) {
        return super::string::wrong_arguments("period_diff");
    }
    Ok(Value::Int(period_months(left) - period_months(right)))
}
