//! AUTO_INCREMENT values for statements: what `innodb_autoinc_lock_mode` asks for.
//!
//! A table's counter gives values without a lock ([`Table::reserve_auto_increment`]). A statement of which nobody knows how many
//! rows it will insert reserves again and again, so others' values come to lie between its own. Whoever must not have that
//! locks the counter until the statement has ended:
//!
//! | mode | rows whose number is known (VALUES) | of a query, of a file |
//! |---|---|---|
//! | [`Traditional`](AutoIncrementLockMode::Traditional) | locks | locks |
//! | [`Consecutive`](AutoIncrementLockMode::Consecutive) | locks if others have or want the lock | locks |
//! | [`Interleaved`](AutoIncrementLockMode::Interleaved) | - | - |
//!
//! The lock is one of the lock table's: an exclusive one on the empty key of the index that has the table's id. Ids of tables and
//! indexes are one series, so there is no such index. So it is waited for as rows are: first come, first served, up to a
//! timeout, and in deadlocks.
//!
//! Who does not lock in mode 1 looks at the lock table and reserves under [`Runtime::reserving`]; who has just got the lock goes
//! through that mutex once, and so begins behind all who have looked before.
//!
//! [`Runtime::reserving`]: crate::table::Runtime::reserving

use std::sync::Arc;

use palisade_base::Blocked;
use palisade_txn::Mode;
use parking_lot::MutexGuard;

use crate::Attempt;
use crate::config::AutoIncrementLockMode;
use crate::table::Table;
use crate::transaction::Transaction;

/// Whether the rows that a statement inserts are counted before the first is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsToCome {
    /// So many.
    Known(u64),
    /// Those of a query or of a file.
    Unknown,
}

impl Transaction {
    /// `innodb_autoinc_lock_mode`.
    pub fn auto_increment_lock_mode(&self) -> AutoIncrementLockMode {
        self.engine.config.auto_increment_lock_mode
    }

    /// As [`Table::reserve_auto_increment`], for a statement that inserts `rows`. Waits for others' statements if the mode says so.
    pub fn reserve_auto_increment(
        &mut self,
        table: &Arc<Table>,
        rows: RowsToCome,
        count: u64,
        (increment, offset): (u64, u64),
    ) -> Attempt<u64> {
        let _reserving = self.enter_counter(table, rows)?;
        table.reserve_auto_increment(count, increment, offset)
    }

    /// As [`Table::note_auto_increment`], for a statement that inserts `rows`. Waits for others' statements if the counter is
    /// to be moved and the mode says so.
    pub fn note_auto_increment(&mut self, table: &Arc<Table>, rows: RowsToCome, value: u64) -> Attempt<()> {
        let _reserving = match value < table.auto_increment() {
            true => None,
            false => self.enter_counter(table, rows)?,
        };
        table.note_auto_increment(value)
    }

    /// A statement has ended: others get at the counter that it has locked, whatever becomes of the transaction.
    pub fn release_auto_increment(&mut self) {
        if let Some(table) = self.locked_counter.take() {
            self.trx().unlock(table, b"");
        }
    }

    fn enter_counter<'t>(
        &mut self,
        table: &'t Arc<Table>,
        rows: RowsToCome,
    ) -> Attempt<Option<MutexGuard<'t, ()>>> {
        if table.is_temporary() {
            return Ok(None);
        }
        let reserving = &table.runtime().reserving;
        match (self.auto_increment_lock_mode(), rows) {
            (AutoIncrementLockMode::Interleaved, _) => return Ok(None),
            (AutoIncrementLockMode::Consecutive, RowsToCome::Known(_)) if self.locked_counter.is_none() => {
                let alone = reserving.lock();
                if !self.trx().system().locks().is_locked(table.id, b"") {
                    return Ok(Some(alone));
                }
            }
            _ => {}
        }
        // Noted before it is there: a wait that is given up may have been granted.
        self.locked_counter = Some(table.id);
        self.trx().lock(table.id, b"", Mode::Exclusive).map_err(Blocked::up)?;
        drop(reserving.lock());
        Ok(None)
    }
}
