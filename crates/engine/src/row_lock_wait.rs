//! How long sessions wait for row locks: `Innodb_row_lock_time` and its like.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use palisade_base::clock::Clock;
use palisade_txn::metrics;

/// Microseconds of all waits.
static TOTAL_US: AtomicU64 = AtomicU64::new(0);

/// A wait for another transaction's row lock; it ends when this is dropped.
pub struct RowLockWait {
    clock: Arc<dyn Clock>,
    begun: Duration,
}

impl RowLockWait {
    pub(crate) fn begin(clock: &Arc<dyn Clock>) -> Self {
        metrics::LOCK_ROW_LOCK_WAITS.increment();
        metrics::LOCK_ROW_LOCK_CURRENT_WAITS.add(1);
        RowLockWait { clock: clock.clone(), begun: clock.monotonic() }
    }

    /// It took too long.
    pub fn time_out(self) {
        metrics::LOCK_TIMEOUTS.increment();
    }
}

impl Drop for RowLockWait {
    fn drop(&mut self) {
        let us = self.clock.monotonic().saturating_sub(self.begun).as_micros() as u64;
        let total_us = TOTAL_US.fetch_add(us, Ordering::Relaxed) + us;
        let waits = metrics::LOCK_ROW_LOCK_WAITS.value().max(1);
        metrics::LOCK_ROW_LOCK_CURRENT_WAITS.subtract(1);
        metrics::LOCK_ROW_LOCK_TIME.set(total_us / 1000);
        metrics::LOCK_ROW_LOCK_TIME_AVG.set(total_us / waits / 1000);
        metrics::LOCK_ROW_LOCK_TIME_MAX.raise_to(us / 1000);
    }
}
