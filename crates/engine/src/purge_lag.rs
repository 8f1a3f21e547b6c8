//! Holding up those who write when purge cannot follow: `innodb_max_purge_lag`.
//!
//! A writer makes history faster than purge forgets it if it keeps a processor busy for which purge would need more. When
//! the history is longer than allowed, statements that change rows are held up, the longer the further it is beyond; the
//! formula is InnoDB's, and so are the limits: without `innodb_max_purge_lag_delay` nobody is held up at all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use palisade_txn::metrics::PURGE_DML_DELAY_USEC;

use crate::engine::Engine;

/// The settings.
#[derive(Default)]
pub(crate) struct PurgeLag {
    allowed: AtomicU64,
    most_us: AtomicU64,
}

impl Engine {
    /// Sets `innodb_max_purge_lag`: how many committed transactions may await purge; 0 for any number.
    pub fn set_max_purge_lag(&self, transactions: u64) {
        self.purge_lag.allowed.store(transactions, Ordering::Relaxed);
    }

    /// Sets `innodb_max_purge_lag_delay`, the longest delay in microseconds.
    pub fn set_max_purge_lag_delay(&self, most_us: u64) {
        self.purge_lag.most_us.store(most_us, Ordering::Relaxed);
    }

    /// For how long a statement that changes rows is to be held up.
    pub fn purge_delay(&self) -> Duration {
        Duration::from_micros(self.purge_lag.delay_us(|| self.history_length()))
    }

    /// Works out the gauge.
    pub(crate) fn publish_purge_delay(&self) {
        PURGE_DML_DELAY_USEC.set(self.purge_lag.delay_us(|| self.history_length()));
    }
}

impl PurgeLag {
    fn delay_us(&self, history: impl FnOnce() -> u64) -> u64 {
        match self.allowed.load(Ordering::Relaxed) {
            0 => 0,
            allowed => delay_us(history(), allowed, self.most_us.load(Ordering::Relaxed)),
        }
    }
}

fn delay_us(history: u64, allowed: u64, most_us: u64) -> u64 {
    let ratio = history as f64 / allowed as f64;
    if ratio > 1.0 { (((ratio - 0.5) * 10_000.0) as u64).min(most_us) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::delay_us;

    #[test]
    fn the_delay_grows_with_the_history_beyond_what_is_allowed() {
        assert_eq!(delay_us(0, 100, 1_000_000), 0);
        assert_eq!(delay_us(100, 100, 1_000_000), 0);
        assert_eq!(delay_us(150, 100, 1_000_000), 10_000);
        assert_eq!(delay_us(1050, 100, 1_000_000), 100_000);
        assert_eq!(delay_us(1050, 100, 20_000), 20_000);
        assert_eq!(delay_us(1050, 100, 0), 0);
    }
}
