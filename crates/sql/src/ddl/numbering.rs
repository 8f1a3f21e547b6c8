//! AUTO_INCREMENT values of rows that ALTER TABLE writes anew.
//!
//! A column that is added has a number in each row, in the order of the clustered index. One that was there
//! and becomes AUTO_INCREMENT keeps its values; a row with NULL, or with 0 unless `sql_mode` has
//! NO_AUTO_VALUE_ON_ZERO, gets the next number when its turn comes, as if it were inserted then, so that a
//! later row may have that number already (1062).
//!
//! MySQL adds a column in place, where the first number is one step beyond the counter if the session has a
//! step or an offset of its own, and one beyond the type is 1467; what it copies row by row is numbered as
//! INSERT does.

use palisade_base::error_catalogue::ER_AUTOINC_READ_FAILED;
use palisade_base::mysql_error;
use palisade_catalog::{SqlType, Value};
use palisade_expr::mode::SqlMode;

use super::Definer;
use crate::SqlResult;
use crate::dml::insert::numbers::{numbered, positive};

/// The numbers that one statement gives.
pub struct Numbering {
    /// The counter: no number below it is given.
    next: u64,
    increment: u64,
    offset: u64,
    in_place: bool,
    keeps_zero: bool,
}

impl Numbering {
    /// As INSERT numbers rows, beginning with `next`.
    pub fn copying(next: u64, definer: &Definer<'_>) -> Numbering {
        let (increment, offset) = definer.series;
        Numbering {
            next: next.max(1),
            increment,
            // MySQL ignores an offset that is larger than the increment.
            offset: if offset > increment { 1 } else { offset },
            in_place: false,
            keeps_zero: definer.mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO),
        }
    }

    /// As MySQL numbers rows where it adds a column in place.
    pub fn in_place(next: u64, definer: &Definer<'_>) -> Numbering {
        let (increment, offset) = definer.series;
        let mut numbering = Numbering { in_place: true, ..Numbering::copying(next, definer) };
        if increment > 1 || offset > 1 {
            let offset = if offset > increment { 0 } else { offset };
            let steps = numbering.next.abs_diff(offset) / increment + 1;
            numbering.next = steps.saturating_mul(increment).saturating_add(offset);
        }
        numbering
    }

    /// The next number, for a column of type `ty`.
    pub fn next(&mut self, ty: &SqlType) -> SqlResult<Value> {
        let value = match self.in_place {
            true => self.next,
            false => self.of_series().ok_or_else(|| mysql_error!(ER_AUTOINC_READ_FAILED))?,
        };
        self.next = value.saturating_add(self.increment);
        let stored = numbered(ty, value)?;
        if self.in_place && positive(&stored) != Some(value) {
            return Err(mysql_error!(ER_AUTOINC_READ_FAILED));
        }
        Ok(stored)
    }

    /// What a row has that comes with `value`.
    pub fn given(&mut self, ty: &SqlType, value: Value) -> SqlResult<Value> {
        match (&value, positive(&value)) {
            (Value::Int(0) | Value::UInt(0), _) if !self.keeps_zero => self.next(ty),
            (_, Some(number)) => {
                self.next = self.next.max(number.saturating_add(1));
                Ok(value)
            }
            _ => Ok(value),
        }
    }

    /// The first number of the series that is not below the counter.
    fn of_series(&self) -> Option<u64> {
        let steps = self.next.saturating_sub(self.offset).div_ceil(self.increment);
        steps.checked_mul(self.increment)?.checked_add(self.offset)
    }
}
