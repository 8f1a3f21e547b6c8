//! The calendar: day numbers, weeks, intervals.
//!
//! Days are numbered as TO_DAYS() does: 1 is 0000-01-01, 719528 is 1970-01-01. The calendar is the Gregorian one all
//! the way back, except that MySQL's year 0 is no leap year.

use super::{Date, DateTime};

/// TO_DAYS('1970-01-01').
pub const EPOCH_DAYS: i64 = 719_528;
/// TO_DAYS('9999-12-31').
pub const LAST_DAY: i64 = 3_652_424;
/// Microseconds of a day.
pub const DAY_US: i64 = 86_400_000_000;

/// An amount of time to add: months and then microseconds. `INTERVAL '1-2' YEAR_MONTH` is 14 months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// Months, years included.
    pub months: i64,
    /// Microseconds, days and weeks included.
    pub micros: i128,
}

/// Whether February has 29 days.
pub fn is_leap_year(year: u16) -> bool {
    year != 0 && year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Days of a month; 0 for month 0.
pub fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        2 => 28 + u8::from(is_leap_year(year)),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

/// Days before the first of each month, in a year that is no leap year.
const DAYS_BEFORE: [u16; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/// Days before the first of a month, 1 to 12.
fn days_before(month: u16) -> u16 {
    DAYS_BEFORE.get(usize::from(month) - 1).copied().unwrap_or_default()
}

/// TO_DAYS of the first day of a year.
fn first_day_of(year: u16) -> i64 {
    let past = i64::from(year) - 1;
    if year == 0 {
        return 1;
    }
    // Leap years before this one; year 0 is none.
    365 * i64::from(year) + past / 4 - past / 100 + past / 400 + 1
}

impl Date {
    /// Days as TO_DAYS() counts them; `None` for dates with a zero month or day. A day beyond its month's end (which
    /// ALLOW_INVALID_DATES lets through) counts into the next month.
    pub fn to_days(self) -> Option<i64> {
        if self.month() == 0 || self.day() == 0 {
            return None;
        }
        Some(first_day_of(self.year()) + i64::from(self.day_in_year()) - 1)
    }

    fn day_in_year(self) -> u16 {
        let leap_day = u16::from(self.month() > 2 && is_leap_year(self.year()));
        days_before(self.month().into()) + leap_day + u16::from(self.day())
    }

    /// The day with this number; `None` before 0000-01-01 and after year 9999.
    pub fn from_days(days: i64) -> Option<Date> {
        if !(1..=LAST_DAY).contains(&days) {
            return None;
        }
        // A year has 365.2425 days: the guess is the year or the one after it.
        let mut year = ((days - 1) * 400 / 146_097) as u16;
        while first_day_of(year) > days {
            year -= 1;
        }
        while year < 9999 && first_day_of(year + 1) <= days {
            year += 1;
        }
        Date::of_day(year, (days - first_day_of(year)) as u16 + 1)
    }

    /// The `day`th day of a year.
    fn of_day(year: u16, day: u16) -> Option<Date> {
        let leap_day = u16::from(is_leap_year(year));
        let before = |month: u16| days_before(month + 1) + if month > 1 { leap_day } else { 0 };
        // No month has more than 31 days, and all together lack fewer than 31 of that: it is this one or the
        // next.
        let guess = (day - 1) / 31;
        let month = if guess < 11 && day > before(guess + 1) { guess + 1 } else { guess };
        Date::new(year, month as u8 + 1, (day - before(month)) as u8)
    }

    /// Whether it is a day of the calendar.
    pub fn is_valid(self) -> bool {
        (1..=days_in_month(self.year(), self.month())).contains(&self.day())
    }

    /// 0 = Monday (WEEKDAY).
    pub fn weekday(self) -> Option<u8> {
        Some(((self.to_days()? + 5) % 7) as u8)
    }

    /// 1..=366 (DAYOFYEAR).
    pub fn day_of_year(self) -> Option<u16> {
        self.to_days().map(|_| self.day_in_year())
    }

    /// WEEK(date, mode): the week's number and the year it belongs to (for YEARWEEK, use `mode | 2`).
    ///
    /// The modes, as the manual has them: weeks begin on Monday if `mode` is odd, else on Sunday; week 1 is the
    /// first with four days in the year (1, 3, 4, 6) or the first that begins in it (0, 2, 5, 7); days before it are
    /// in week 0 (0, 1, 4, 5) or in the last week of the year before (2, 3, 6, 7).
    pub fn week(self, mode: u8) -> Option<(u8, u16)> {
        let day = self.to_days()?;
        let monday_first = mode & 1 != 0;
        let no_week_zero = mode & 2 != 0;
        let four_days = (mode & 4 != 0) != monday_first;
        let week_one = |year: u16| {
            let first = first_day_of(year);
            // Days of the week that are past on January 1st.
            let past = (first + if monday_first { 5 } else { 6 }) % 7;
            if past == 0 || (four_days && past <= 3) { first - past } else { first - past + 7 }
        };
        let year = self.year();
        let start = week_one(year);
        let number = |start: i64| ((day - start) / 7 + 1) as u8;
        if day < start {
            return Some(match year.checked_sub(1) {
                Some(before) if no_week_zero => (number(week_one(before)), before),
                _ => (0, year),
            });
        }
        if no_week_zero && day >= week_one(year + 1) {
            return Some((1, year + 1));
        }
        Some((number(start), year))
    }

    /// The last day of its month (LAST_DAY); `None` for a zero month.
    pub fn last_day(self) -> Option<Date> {
        match days_in_month(self.year(), self.month()) {
            0 => None,
            last => Date::new(self.year(), self.month(), last),
        }
    }
}

impl DateTime {
    /// The value `interval` later (earlier if `negative`); `None` before 0000-01-01, beyond year 9999, and
    /// for dates with a zero month or day. Adding months to the 31st gives the last day of a shorter month.
    pub fn add(self, interval: Interval, negative: bool) -> Option<DateTime> {
        let signed = |amount: i64| if negative { amount.checked_neg() } else { Some(amount) };
        let mut date = self.date();
        if date.month() == 0 || date.day() == 0 {
            return None;
        }
        if interval.months != 0 {
            let months = (i64::from(date.year()) * 12 + i64::from(date.month()) - 1)
                .checked_add(signed(interval.months)?)
                .filter(|months| (0..10_000 * 12).contains(months))?;
            let (year, month) = ((months / 12) as u16, (months % 12) as u8 + 1);
            date = Date::new(year, month, date.day().min(days_in_month(year, month)))?;
        }
        let moved = DateTime::new(date, self.hour(), self.minute(), self.second(), self.micros())?;
        if interval.micros == 0 {
            return Some(moved);
        }
        DateTime::from_micros(moved.to_micros()?.checked_add(signed(i64::try_from(interval.micros).ok()?)?)?)
    }

    /// Microseconds from the beginning of day 0; `None` for dates with a zero month or day.
    pub fn to_micros(self) -> Option<i64> {
        Some(self.date().to_days()? * DAY_US + self.time().micros())
    }

    /// From microseconds since the beginning of day 0; `None` before 0000-01-01 and after year 9999.
    pub fn from_micros(micros: i64) -> Option<DateTime> {
        let date = Date::from_days(micros.div_euclid(DAY_US))?;
        let rest = micros.rem_euclid(DAY_US);
        let seconds = rest / 1_000_000;
        DateTime::new(
            date,
            (seconds / 3600) as u8,
            (seconds / 60 % 60) as u8,
            (seconds % 60) as u8,
            (rest % 1_000_000) as u32,
        )
    }
}
