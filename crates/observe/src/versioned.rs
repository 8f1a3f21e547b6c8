//! Numbers that one thread changes and any thread reads, a statement's all at once.
//!
//! The writer makes the version odd, changes the numbers by plain stores, and makes the version even again.
//! It waits for no reader and retries nothing. A reader that saw an odd version, or two versions, reads
//! again:
//!
//! ```text
//!   writer   version 4 → 5   count 7 → 8   sum 70 → 82   version 5 → 6
//!   reader A   4, (7, 70), 4                                             whole
//!   reader B                  5: again ...                      6, (8, 82), 6
//!   reader C   4, (7,                      82), 5: again        6, (8, 82), 6
//! ```
//!
//! Why it is right: the writer's release fence stands between the odd version and the first number. A reader
//! that sees one of the numbers behind it, and then passes its own acquire fence, sees at least the odd
//! version (H.-J. Boehm, "Can seqlocks get along with programming language memory models?", 2012).
//!
//! That there is one writer at a time is the [shard](crate::digests)'s business.

use crate::sync::{AtomicU64, Ordering, fence};

/// How often a reader tries. A writer that is interrupted between its two versions, for milliseconds, must
/// not hold up who reads: what it then takes may lack a part of one statement's numbers.
const ATTEMPTS: usize = 1000;

/// So many numbers.
#[derive(Debug)]
pub(crate) struct Versioned<const N: usize> {
    version: AtomicU64,
    numbers: [AtomicU64; N],
}

impl<const N: usize> Default for Versioned<N> {
    fn default() -> Self {
        Versioned { version: AtomicU64::new(0), numbers: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

/// The numbers, while they change.
pub(crate) struct Changing<'a, const N: usize>(&'a [AtomicU64; N]);

impl<const N: usize> Changing<'_, N> {
    /// One of them; 0 of one that there is not.
    #[inline]
    pub(crate) fn get(&self, which: usize) -> u64 {
        self.0.get(which).map_or(0, |number| number.load(Ordering::Relaxed))
    }

    /// Sets one of them.
    #[inline]
    pub(crate) fn set(&self, which: usize, value: u64) {
        if let Some(number) = self.0.get(which) {
            number.store(value, Ordering::Relaxed);
        }
    }

    /// Adds to one of them.
    #[inline]
    pub(crate) fn add(&self, which: usize, amount: u64) {
        if let Some(number) = self.0.get(which) {
            number.store(number.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
        }
    }
}

impl<const N: usize> Versioned<N> {
    /// Changes the numbers. The caller is the only writer.
    #[inline]
    pub(crate) fn change(&self, change: impl FnOnce(&Changing<'_, N>)) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        change(&Changing(&self.numbers));
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// One attempt to read them, and whether nothing has changed meanwhile.
    fn attempt(&self) -> ([u64; N], bool) {
        let before = self.version.load(Ordering::Acquire);
        let numbers = std::array::from_fn(|which| Changing(&self.numbers).get(which));
        fence(Ordering::Acquire);
        (numbers, before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before)
    }

    /// The numbers after a whole number of changes; see [`ATTEMPTS`] for the exception.
    pub(crate) fn read(&self) -> [u64; N] {
        for _ in 1..ATTEMPTS {
            let (numbers, is_whole) = self.attempt();
            if is_whole {
                return numbers;
            }
            std::hint::spin_loop();
        }
        self.attempt().0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_was_added() {
        let numbers = Versioned::<3>::default();
        for amount in 1..=4 {
            numbers.change(|numbers| {
                numbers.add(0, 1);
                numbers.add(1, amount);
                numbers.set(2, amount);
                numbers.add(7, 1);
            });
        }
        assert_eq!(numbers.read(), [4, 10, 4]);
    }

    #[test]
    fn a_reader_beside_a_writer_sees_whole_changes() {
        let numbers = Versioned::<2>::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..100_000 {
                    numbers.change(|numbers| {
                        numbers.add(0, 1);
                        numbers.add(1, 3);
                    });
                }
            });
            for _ in 0..10_000 {
                let (seen, is_whole) = numbers.attempt();
                assert!(!is_whole || seen[1] == 3 * seen[0], "{seen:?}");
            }
        });
        assert_eq!(numbers.read(), [100_000, 300_000]);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;

    use super::*;

    #[test]
    fn loom_a_reader_that_believes_its_versions_has_read_whole_changes() {
        loom::model(|| {
            let numbers = Arc::new(Versioned::<2>::default());
            let writer = {
                let numbers = numbers.clone();
                loom::thread::spawn(move || {
                    for _ in 0..2 {
                        numbers.change(|numbers| {
                            numbers.add(0, 1);
                            numbers.add(1, 3);
                        });
                    }
                })
            };
            let (seen, is_whole) = numbers.attempt();
            assert!(!is_whole || seen[1] == 3 * seen[0], "{seen:?}");
            writer.join().unwrap();
            assert_eq!(numbers.attempt(), ([2, 6], true));
        });
    }
}
