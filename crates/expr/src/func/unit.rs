//! Units of INTERVAL, EXTRACT and TIMESTAMPDIFF.

use palisade_base::MysqlError;
use palisade_catalog::temporal::calendar::Interval;
use palisade_catalog::{DateTime, Decimal, SqlType, Time, Value};
use palisade_parser::ast::IntervalUnit;
use palisade_parser::ast::IntervalUnit::*;

use crate::SqlResult;
use crate::convert::text_of;
use crate::{Context, Expr};

const SECOND: i128 = 1_000_000;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;

/// A unit: simple, or a run of fields such as `DAY_SECOND`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit(pub IntervalUnit);

impl Unit {
    /// That of an argument which the binder has made of it.
    pub fn of(argument: &Expr) -> SqlResult<Unit> {
        let unit = IntervalUnit::of_keyword(super::string::keyword(argument)?);
        unit.map(Unit).ok_or_else(|| MysqlError::internal("an argument is no unit"))
    }

    /// Whether it counts microseconds.
    pub fn has_micros(self) -> bool {
        matches!(
            self.0,
            Microsecond | SecondMicrosecond | MinuteMicrosecond | HourMicrosecond | DayMicrosecond
        )
    }

    /// Whether it is SECOND, whose amounts may have a fraction.
    pub fn is_seconds(self) -> bool {
        self.0 == Second
    }

    /// Whether an amount of it is one number.
    pub fn is_single(self) -> bool {
        matches!(self.0, Microsecond | Second | Minute | Hour | Day | Week | Month | Quarter | Year)
    }

    /// Whether it counts whole days or more.
    pub fn is_days(self) -> bool {
        matches!(self.0, Day | Week | Month | Quarter | Year | YearMonth)
    }

    /// Whether EXTRACT of it needs a date; the others work on a TIME.
    pub fn needs_date(self) -> bool {
        self.is_days() || matches!(self.0, DayMicrosecond | DaySecond | DayMinute | DayHour)
    }

    /// The fields of a composite unit in microseconds each, the largest first; empty for simple units.
    fn fields(self) -> &'static [i128] {
        match self.0 {
            SecondMicrosecond => &[SECOND, 1],
            MinuteMicrosecond => &[MINUTE, SECOND, 1],
            MinuteSecond => &[MINUTE, SECOND],
            HourMicrosecond => &[HOUR, MINUTE, SECOND, 1],
            HourSecond => &[HOUR, MINUTE, SECOND],
            HourMinute => &[HOUR, MINUTE],
            DayMicrosecond => &[DAY, HOUR, MINUTE, SECOND, 1],
            DaySecond => &[DAY, HOUR, MINUTE, SECOND],
            DayMinute => &[DAY, HOUR, MINUTE],
            DayHour => &[DAY, HOUR],
            _ => &[],
        }
    }

    /// The interval of `amount` units; `None` for more units than a unit has, and beyond what MySQL counts.
    pub fn interval(self, cx: &mut Context<'_>, amount: &Value, expr: &Expr) -> SqlResult<Option<Interval>> {
        if self.0 == YearMonth {
            let Some([years, months]) = composite::<2>(&text_of(amount, &expr.ty), 2, false) else {
                return Ok(None);
            };
            return Ok(months_interval(years.saturating_mul(12).saturating_add(months)));
        }
        let fields = self.fields();
        if !fields.is_empty() {
            let text = text_of(amount, &expr.ty);
            let Some(values) = composite::<5>(&text, fields.len(), self.has_micros()) else {
                return Ok(None);
            };
            // missing fields are the large ones: '10' MINUTE_SECOND is ten seconds
            let used = values.iter().rev().take(fields.len()).rev();
            let micros = fields.iter().zip(used).map(|(unit, value)| unit * i128::from(*value)).sum();
            return Ok(Some(Interval { months: 0, micros }));
        }
        if self.0 == Second {
            return seconds(cx, amount, expr);
        }
        // Beyond the signed numbers it is the negative number of the same bits.
        let has_bits = matches!(amount, Value::UInt(_) | Value::Bytes(_));
        let count = match has_bits || matches!(expr.ty, SqlType::Decimal { unsigned: true, .. }) {
            true => cx.to_integer(amount.as_ref())? as i64,
            false => cx.to_i64(amount.as_ref())?,
        };
        let is_counted = match self.0 {
            Week => count.checked_mul(7).is_some_and(|days| i32::try_from(days).is_ok()),
            // Its months are counted in 32 bits.
            Quarter => {
                count.checked_mul(3).is_some_and(|months| months.unsigned_abs() <= u64::from(u32::MAX))
            }
            _ => true,
        };
        if count == i64::MIN || !is_counted {
            return Ok(None);
        }
        let units = |unit: i128| Some(Interval { months: 0, micros: unit * i128::from(count) });
        Ok(match self.0 {
            Microsecond => units(1),
            Minute => units(MINUTE),
            Hour => units(HOUR),
            Day => units(DAY),
            Week => units(7 * DAY),
            Month => months_interval(count),
            Quarter => months_interval(count.saturating_mul(3)),
            _ => months_interval(count.saturating_mul(12)),
        })
    }

    /// TIMESTAMPDIFF: whole units from `from` to `to`.
    pub fn between(self, from: DateTime, to: DateTime) -> Option<i64> {
        let micros = i128::from(to.to_micros()?) - i128::from(from.to_micros()?);
        let months = || {
            let number =
                |value: DateTime| i64::from(value.date().year()) * 12 + i64::from(value.date().month());
            let rest = |value: DateTime| (value.date().day(), value.time());
            let difference = number(to) - number(from);
            // an incomplete last month does not count
            match difference {
                1.. if rest(to) < rest(from) => difference - 1,
                ..=-1 if rest(to) > rest(from) => difference + 1,
                _ => difference,
            }
        };
        let whole = |unit: i128| i64::try_from(micros / unit).ok();
        match self.0 {
            Microsecond => whole(1),
            Second => whole(SECOND),
            Minute => whole(MINUTE),
            Hour => whole(HOUR),
            Day => whole(DAY),
            Week => whole(7 * DAY),
            Month => Some(months()),
            Quarter => Some(months() / 3),
            Year => Some(months() / 12),
            _ => None,
        }
    }

    /// EXTRACT of units that need a date.
    pub fn extract(self, from: DateTime) -> Option<i64> {
        let date = from.date();
        let (year, month, day) = (i64::from(date.year()), i64::from(date.month()), i64::from(date.day()));
        let (hour, minute) = (i64::from(from.hour()), i64::from(from.minute()));
        Some(match self.0 {
            Day => day,
            Week => i64::from(date.week(0)?.0),
            Month => month,
            Quarter => (month + 2) / 3,
            Year => year,
            YearMonth => year * 100 + month,
            DayHour => day * 100 + hour,
            DayMinute => (day * 100 + hour) * 100 + minute,
            DaySecond => ((day * 100 + hour) * 100 + minute) * 100 + i64::from(from.second()),
            _ => {
                let seconds = ((day * 100 + hour) * 100 + minute) * 100 + i64::from(from.second());
                seconds * 1_000_000 + i64::from(from.micros())
            }
        })
    }

    /// EXTRACT of units within a day.
    pub fn extract_time(self, from: Time) -> i64 {
        let (negative, hour, minute, second, micros) = from.parts();
        let (hour, minute, second, micros) =
            (i64::from(hour), i64::from(minute), i64::from(second), i64::from(micros));
        let value = match self.0 {
            Hour => hour,
            Minute => minute,
            Second => second,
            Microsecond => micros,
            HourMinute => hour * 100 + minute,
            HourSecond => (hour * 100 + minute) * 100 + second,
            MinuteSecond => minute * 100 + second,
            SecondMicrosecond => second * 1_000_000 + micros,
            MinuteMicrosecond => (minute * 100 + second) * 1_000_000 + micros,
            // A TIME has no days, but may have more than 24 hours.
            DayHour => hour,
            DayMinute => hour * 100 + minute,
            DaySecond => (hour * 100 + minute) * 100 + second,
            _ => ((hour * 100 + minute) * 100 + second) * 1_000_000 + micros,
        };
        if negative { -value } else { value }
    }
}

fn months_interval(months: i64) -> Option<Interval> {
    Some(Interval { months, micros: 0 })
}

/// Greatest number that may stand in a composite amount.
const MOST_IN_A_FIELD: i64 = i64::MAX / 10 - 10;
/// So many seconds. More than 64 bits hold are warned of, and `None`; those of a DECIMAL without digits
/// behind the point are beyond the calendar.
fn seconds(cx: &mut Context<'_>, amount: &Value, expr: &Expr) -> SqlResult<Option<Interval>> {
    // Beyond the signed numbers it is the negative number of the same bits.
    let is_unsigned = matches!(expr.ty, SqlType::Decimal { unsigned: true, .. });
    let exact = match amount {
        Value::UInt(count) if *count as i64 == i64::MIN => return Ok(None),
        Value::UInt(count) => Decimal::from(*count as i64),
        Value::Decimal(number) if is_unsigned && number.to_i64().is_err() => {
            Decimal::from(cx.to_integer(amount.as_ref())? as i64)
        }
        _ => cx.to_decimal(amount.as_ref())?,
    };
    // What 64 bits cannot hold is beyond the calendar.
    let beyond = if exact.is_negative() { i128::MIN } else { i128::MAX } / 2;
    let whole = exact.truncate(0).unwrap_or(exact);
    if whole.to_i64().is_err() {
        cx.truncated("DECIMAL", exact.to_string().as_bytes())?;
        let is_whole = matches!(expr.ty, SqlType::Decimal { scale: 0, .. });
        return Ok(is_whole.then_some(Interval { months: 0, micros: beyond }));
    }
    let micros = exact.multiply(&Decimal::from(1_000_000i64)).and_then(|micros| micros.truncate(0));
    let micros = micros.ok().and_then(|micros| micros.to_i64().ok());
    Ok(Some(Interval { months: 0, micros: micros.map_or(beyond, i128::from) }))
}

/// The numbers of a composite amount such as `'-1 10:20'`, right aligned, each with the sign of the whole;
/// `None` if they are more than `most`, or one is too great. `fraction`: the last one is a fraction of a
/// second, `'1.5'` being half a second.
fn composite<const N: usize>(text: &[u8], most: usize, fraction: bool) -> Option<[i64; N]> {
    let text = text.trim_ascii();
    let negative = text.first() == Some(&b'-');
    let mut numbers: Vec<i64> = Vec::new();
    let groups = text.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let groups: Vec<&[u8]> = groups.take(N + 1).collect();
    if groups.len() > most.min(N) {
        return None;
    }
    for (place, digits) in groups.iter().enumerate() {
        let mut value = 0i64;
        for digit in *digits {
            value = value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
        }
        if value > MOST_IN_A_FIELD {
            return None;
        }
        if fraction && place + 1 == groups.len() && digits.len() < 6 {
            value = value.saturating_mul(10i64.pow(6 - digits.len() as u32));
        }
        numbers.push(if negative { -value } else { value });
    }
    let mut out = [0; N];
    out.iter_mut().rev().zip(numbers.iter().rev()).for_each(|(place, number)| *place = *number);
    Some(out)
}

#[cfg(test)]
mod tests {
    use palisade_catalog::Date;

    use super::*;

    fn at(year: u16, month: u8, day: u8, hour: u8) -> DateTime {
        DateTime::new(Date::new(year, month, day).unwrap(), hour, 0, 0, 0).unwrap()
    }

    #[test]
    fn incomplete_units_do_not_count() {
        assert_eq!(Unit(Month).between(at(2026, 1, 31, 0), at(2026, 11, 21, 0)), Some(9));
        assert_eq!(Unit(Year).between(at(2000, 2, 29, 0), at(2026, 2, 28, 0)), Some(25));
        assert_eq!(Unit(Month).between(at(2026, 3, 1, 0), at(2026, 1, 31, 0)), Some(-1));
        assert_eq!(Unit(Second).between(at(2026, 11, 21, 0), at(2026, 11, 22, 0)), Some(86_400));
        assert_eq!(Unit(Hour).between(at(2026, 11, 21, 5), at(2026, 11, 21, 3)), Some(-2));
    }

    #[test]
    fn composite_amounts_align_to_the_right() {
        assert_eq!(composite::<5>(b"1 10:20:30", 4, false), Some([0, 1, 10, 20, 30]));
        assert_eq!(composite::<5>(b"-1:10", 2, false), Some([0, 0, 0, -1, -10]));
        assert_eq!(composite::<5>(b"1.5", 2, true), Some([0, 0, 0, 1, 500_000]));
        assert_eq!(composite::<2>(b"1-2", 2, false), Some([1, 2]));
        assert_eq!(composite::<2>(b"", 2, false), Some([0, 0]));
        assert_eq!(composite::<5>(b"1:2:3", 2, false), None);
        assert_eq!(composite::<5>(b"1:922337203685477571", 2, false), None);
    }

    #[test]
    fn extraction_joins_fields() {
        let moment = DateTime::new(Date::new(2026, 11, 21).unwrap(), 8, 41, 9, 5).unwrap();
        assert_eq!(Unit(DayMinute).extract(moment), Some(210_841));
        assert_eq!(Unit(YearMonth).extract(moment), Some(202_611));
        assert_eq!(Unit(HourSecond).extract_time(moment.time()), 84_109);
        assert_eq!(Unit(SecondMicrosecond).extract_time(moment.time()), 9_000_005);
    }
}
