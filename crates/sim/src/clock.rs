//! Time that passes when it is looked at.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use palisade_base::clock::Clock;

/// A clock that advances by a millisecond with every look.
#[derive(Debug, Default)]
pub struct SimClock {
    looks: AtomicU64,
}

impl SimClock {
    fn look(&self) -> u64 {
        self.looks.fetch_add(1, Ordering::Relaxed)
    }
}

impl Clock for SimClock {
    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.look())
    }

    fn unix_micros(&self) -> i64 {
        1_700_000_000_000_000 + self.look() as i64 * 1000
    }
}
