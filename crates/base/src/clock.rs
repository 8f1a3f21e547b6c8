//! The seam through which time enters.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of time. The server uses [`SystemClock`]; simulations use one that they step.
pub trait Clock: Send + Sync {
    /// Time since some fixed point; never goes back.
    fn monotonic(&self) -> Duration;

    /// Microseconds since 1970-01-01 00:00:00 UTC.
    fn unix_micros(&self) -> i64;
}

/// The operating system's clocks.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn unix_micros(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_micros() as i64,
            Err(before) => -(before.duration().as_micros() as i64),
        }
    }
}
