//! What the last flushes were like: the longest, the average, and bytes made durable in a second.
//!
//! "The last" are those of the last `innodb_flushing_avg_loops` seconds, kept as two halves: the one being filled and the
//! one before it, which is forgotten as a whole. The time of all flushes together is counted in milliseconds, as MySQL does, and what
//! is less than one is kept until it is. Whoever flushes writes, and there is one flush at a time; readers read
//! meanwhile, so every number is an atomic, and a reading may be off by the flush that ends just then.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

#[derive(Default)]
pub(crate) struct Averages {
    halves: [Half; 2],
    /// Which one is being filled.
    current: AtomicUsize,
    /// Length of a half.
    half_us: AtomicU64,
    /// What flushes took beyond whole milliseconds.
    rest_us: AtomicU64,
}

#[derive(Default)]
struct Half {
    began_us: AtomicU64,
    flushes: AtomicU64,
    total_us: AtomicU64,
    longest_us: AtomicU64,
    bytes: AtomicU64,
}

/// What the last flushes came to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recent {
    pub(crate) average_us: u64,
    pub(crate) longest_us: u64,
    pub(crate) bytes_a_second: u64,
}

impl Averages {
    pub(crate) fn new(seconds: u64) -> Averages {
        let averages = Averages::default();
        averages.set_window(seconds);
        averages
    }

    /// Takes the last so many seconds into account from now on.
    pub(crate) fn set_window(&self, seconds: u64) {
        self.half_us.store(seconds.max(1) * 500_000, Relaxed);
    }

    /// A flush has made `bytes` durable and took `took` to sync. Gives the milliseconds that have become full. Called by one thread
    /// at a time.
    pub(crate) fn note(&self, now: Duration, took: Duration, bytes: u64) -> u64 {
        let now_us = now.as_micros() as u64;
        let current = self.current.load(Relaxed);
        let half = &self.halves[current % 2];
        let half = if now_us.saturating_sub(half.began_us.load(Relaxed)) >= self.half_us.load(Relaxed) {
            let next = &self.halves[(current + 1) % 2];
            for number in [&next.flushes, &next.total_us, &next.longest_us, &next.bytes] {
                number.store(0, Relaxed);
            }
            next.began_us.store(now_us, Relaxed);
            self.current.store(current + 1, Relaxed);
            next
        } else {
            half
        };
        let took_us = took.as_micros() as u64;
        let add = |number: &AtomicU64, amount| number.store(number.load(Relaxed) + amount, Relaxed);
        add(&half.flushes, 1);
        add(&half.total_us, took_us);
        add(&half.bytes, bytes);
        half.longest_us.store(half.longest_us.load(Relaxed).max(took_us), Relaxed);
        let rest_us = self.rest_us.load(Relaxed) + took_us;
        self.rest_us.store(rest_us % 1000, Relaxed);
        rest_us / 1000
    }

    /// The last flushes as of `now`.
    pub(crate) fn recent(&self, now: Duration) -> Recent {
        let now_us = now.as_micros() as u64;
        let window_us = 2 * self.half_us.load(Relaxed);
        let age = |half: &Half| now_us.saturating_sub(half.began_us.load(Relaxed));
        let (mut flushes, mut total_us, mut bytes, mut since_us) = (0, 0, 0, 0);
        let mut recent = Recent::default();
        for half in self.halves.iter().filter(|half| half.flushes.load(Relaxed) > 0 && age(half) <= window_us)
        {
            flushes += half.flushes.load(Relaxed);
            total_us += half.total_us.load(Relaxed);
            bytes += half.bytes.load(Relaxed);
            since_us = since_us.max(age(half));
            recent.longest_us = recent.longest_us.max(half.longest_us.load(Relaxed));
        }
        recent.average_us = total_us.checked_div(flushes).unwrap_or(0);
        // The first second of a load is not extrapolated.
        recent.bytes_a_second = (u128::from(bytes) * 1_000_000 / u128::from(since_us.max(1_000_000))) as u64;
        recent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_seconds_count_and_what_was_before_is_forgotten() {
        let averages = Averages::new(10);
        let note = |second: u64, took_us: u64, bytes: u64| {
            averages.note(Duration::from_secs(second), Duration::from_micros(took_us), bytes);
        };
        let recent = |second: u64| averages.recent(Duration::from_secs(second));
        assert_eq!(recent(3), Recent::default());
        note(100, 900, 5000);
        for second in 101..105 {
            note(second, 100, 5000);
        }
        let first = Recent { average_us: 260, longest_us: 900, bytes_a_second: 25_000 / 4 };
        assert_eq!(recent(104), first);
        note(105, 300, 1000);
        let both = Recent { average_us: 1600 / 6, longest_us: 900, bytes_a_second: 26_000 / 6 };
        assert_eq!(recent(106), both);
        note(111, 500, 1000);
        let later = Recent { average_us: 400, longest_us: 500, bytes_a_second: 2000 / 6 };
        assert_eq!(recent(111), later, "the long flush is more than ten seconds ago");
        assert_eq!(recent(200), Recent::default(), "nothing has happened for long");
        averages.set_window(1000);
        assert_eq!(recent(200).longest_us, 500);
    }

    #[test]
    fn no_part_of_a_millisecond_is_lost() {
        let averages = Averages::new(10);
        let note = |took_us: u64| averages.note(Duration::from_secs(1), Duration::from_micros(took_us), 0);
        assert_eq!([400, 400, 400, 2900, 899, 1].map(note), [0, 0, 1, 3, 0, 1]);
    }
}
