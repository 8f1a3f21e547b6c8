//! AUTO_INCREMENT in a statement that inserts.
//!
//! A statement whose rows are counted reserves as many values as it has rows, so that nobody else's lie between them. One that
//! inserts what comes from a query or a file reserves 1, then 2, 4, 8 and so on. As in MySQL, what is left over is lost; in lock
//! mode 0, in which the counter is the statement's until it ends, it takes one value at a time, and none is left over. A value that
//! is given moves it on: what is generated after it is greater, as long as the statement's own values reach. What a row was given
//! that was not inserted after all is given to the next one.

use std::sync::Arc;

use palisade_base::error_catalogue::ER_AUTOINC_READ_FAILED;
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::{SqlType, Value};
use palisade_engine::{AutoIncrementLockMode, RowsToCome, Table};
use palisade_exec::ExecContext;
use palisade_exec::run::drive;

use crate::SqlResult;

/// Most values that are reserved at once for rows that nobody has counted.
const MOST_AT_ONCE: u64 = (1 << 16) - 1;

/// The values of one statement.
#[derive(Debug)]
pub(in crate::dml) struct Numbers {
    /// The first one generated that a row has.
    pub(in crate::dml) generated: Option<u64>,
    /// The last one given.
    pub(in crate::dml) explicit: Option<u64>,
    /// Those that are not used yet: the next one, and how many.
    reserved: (u64, u64),
    /// The rows they are for.
    rows: RowsToCome,
    /// How often there have been reserved some.
    reservations: u32,
    /// Rows that had come with values of their own before the first was reserved.
    before: u64,
}

impl Numbers {
    /// Of a statement that inserts `rows`.
    pub(super) fn new(rows: RowsToCome) -> Self {
        Numbers { generated: None, explicit: None, reserved: (0, 0), rows, reservations: 0, before: 0 }
    }

    /// How many to reserve next.
    fn wanted(&mut self, mode: AutoIncrementLockMode, left: u64) -> u64 {
        let number = self.reservations;
        self.reservations += 1;
        match self.rows {
            _ if mode == AutoIncrementLockMode::Traditional => 1,
            RowsToCome::Known(total) => {
                if number == 0 {
                    self.before = total.saturating_sub(left);
                }
                (left + self.before).max(1)
            }
            RowsToCome::Unknown => (1 << number.min(16)).min(MOST_AT_ONCE),
        }
    }

    /// The next one, `left` rows being still to come with its own.
    pub(super) async fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        table: &Arc<Table>,
        left: u64,
    ) -> SqlResult<u64> {
        let increment = cx.session.variables.auto_increment_increment.max(1);
        let offset = cx.session.variables.auto_increment_offset.max(1);
        if let Some(value) = cx.session.insert_id.take() {
            let rows = self.rows;
            drive(cx, |cx| cx.transaction().note_auto_increment(table, rows, value).map_err(Blocked::up))
                .await?;
            self.reserved = (value, 1);
            // What follows it is reserved for the rows that are left.
            self.reservations += 1;
        }
        if self.reserved.1 == 0 {
            let count = self.wanted(cx.transaction().auto_increment_lock_mode(), left);
            let rows = self.rows;
            let first = drive(cx, |cx| {
                let transaction = cx.transaction();
                transaction
                    .reserve_auto_increment(table, rows, count, (increment, offset))
                    .map_err(Blocked::up)
            })
            .await?;
            self.reserved = (first, count);
        }
        let (value, count) = self.reserved;
        self.reserved = (value.saturating_add(increment), count - 1);
        Ok(value)
    }

    /// A row comes with this value.
    pub(super) async fn given(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        table: &Arc<Table>,
        value: &Value,
    ) -> SqlResult<()> {
        let Some(value) = positive(value) else { return Ok(()) };
        let rows = self.rows;
        drive(cx, |cx| cx.transaction().note_auto_increment(table, rows, value).map_err(Blocked::up)).await?;
        self.explicit = Some(value);
        let increment = cx.session.variables.auto_increment_increment.max(1);
        let (next, count) = self.reserved;
        if count > 0 && value >= next {
            let passed = ((value - next) / increment + 1).min(count);
            self.reserved = (next.saturating_add(passed.saturating_mul(increment)), count - passed);
        }
        Ok(())
    }

    /// A row has it.
    pub(super) fn taken(&mut self, generated: Option<u64>) {
        self.generated = self.generated.or(generated);
    }

    /// No row has it: the next one gets it.
    pub(super) fn give_back(&mut self, generated: Option<u64>) {
        if let Some(value) = generated {
            self.reserved = (value, self.reserved.1 + 1);
        }
    }
}

/// A generated value in a column of type `ty`. Beyond the greatest, rows get that one and collide, as in MySQL; there is no
/// greatest that an UNSIGNED BIGINT could be given again (1467).
pub(crate) fn numbered(ty: &SqlType, value: u64) -> SqlResult<Value> {
    match ty {
        SqlType::Int { unsigned: true, .. } if value == u64::MAX => Err(mysql_error!(ER_AUTOINC_READ_FAILED)),
        SqlType::Int { width, unsigned: true } => Ok(Value::UInt(value.min(width.unsigned_max()))),
        SqlType::Int { width, unsigned: false } => {
            let greatest = width.signed_range().1;
            Ok(Value::Int(i64::try_from(value).map_or(greatest, |value| value.min(greatest))))
        }
        _ => unreachable!("AUTO_INCREMENT is of integers"),
    }
}

/// Says to the table that an update has given a row this value, if it counts for anything there.
pub(in crate::dml) async fn note_given(
    cx: &mut ExecContext<'_, '_>,
    table: &Table,
    value: &Value,
) -> SqlResult<()> {
    match positive(value) {
        Some(value) => drive(cx, |_| table.note_auto_increment(value).map_err(Blocked::up)).await,
        None => Ok(()),
    }
}

/// A value of an AUTO_INCREMENT column as a number, if it is one that counts.
pub(crate) fn positive(value: &Value) -> Option<u64> {
    match value {
        Value::Int(value) => u64::try_from(*value).ok().filter(|value| *value > 0),
        Value::UInt(value) => Some(*value),
        _ => None,
    }
}
