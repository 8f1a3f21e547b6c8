//! The page latch: one 64-bit word.
//!
//! ```text
//!   63          62..48          47..0
//!   exclusive   shared holders  version
//! ```
//!
//! | mode | taking it | giving it back |
//! |---|---|---|
//! | optimistic | one load | one load that finds the same version: nothing was changed in between |
//! | shared | one CAS: holders + 1 | one `fetch_sub` |
//! | exclusive | one CAS: no holder becomes the exclusive one | one store; the version grows if the page changed |
//!
//! A latch is held for microseconds and never across a wait (guards are `!Send`), so whoever finds it taken spins a
//! little, then yields the processor to the holder.
//!
//! Threads that latch several pages do so in an order that rules deadlocks out, as long as pages say of each
//! other what is true. A damaged page can lead two threads to each other's pages. So a thread that may hold
//! other latches waits *patiently*: not for ever. It then gives back what it holds, and comes again.
//!
//! # Why it is right
//!
//! Shared and exclusive exclude each other because every transition is a compare-and-swap of the whole word, taken
//! with Acquire and given back with Release.
//!
//! An optimistic reader is a seqlock reader. It loads the word (Acquire) and then the page with relaxed loads; its
//! validation is an Acquire fence followed by a load of the word. The writer sets the exclusive bit, then a Release
//! fence, then writes; it gives back with a Release store of a grown version. If the reader saw any byte of that
//! write, its fence synchronises with the writer's, so its second load sees the exclusive bit or a later version and
//! the validation fails. If the reader saw the word after the writer's store, Acquire makes it see the whole write.
//! The version has 48 bits: at a million changes a second of one page it comes round after nine years, and a reader
//! would have to be asleep between its two loads for exactly that long.
//!
//! The frame index of a page is changed only under its exclusive latch with a grown version, so what holds for the
//! bytes holds for the question "in which frame are they".

// Counts are no part of what loom looks at.
use std::sync::atomic::AtomicU64 as Count;

use crate::sync::{AtomicU64, Ordering, fence, yield_now};

const EXCLUSIVE: u64 = 1 << 63;
const SHARED_ONE: u64 = 1 << 48;
const SHARED_MASK: u64 = 0x7fff << 48;
const VERSION_MASK: u64 = SHARED_ONE - 1;

/// What an optimistic reader saw, to be validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version(u64);

/// The latch word of one page.
#[derive(Debug, Default)]
pub(crate) struct Latch(AtomicU64);

/// Spins shortly, then yields.
pub(crate) struct Backoff {
    rounds: u32,
}

/// Rounds of doubling spins before the first yield: 2^6 - 1 pauses, about a microsecond or two.
const SPIN_ROUNDS: u32 = 6;
/// So many rounds a caller waits that can give back what it holds and come again: some ten milliseconds of
/// yields. A holder that has its processor needs microseconds.
#[cfg(not(loom))]
const PATIENT_ROUNDS: u32 = 1 << 16;
#[cfg(loom)]
const PATIENT_ROUNDS: u32 = u32::MAX;
/// In debug builds: so many yields mean that the holder will never give back (usually the same thread, twice).
#[cfg(all(debug_assertions, not(loom)))]
const HOPELESS_ROUNDS: u32 = 5_000_000;

/// Waits for latches since the start.
static WAITS: Count = Count::new(0);
/// Rounds that these waits took: tries after the first.
static ROUNDS: Count = Count::new(0);

/// How often a latch was not free, and how often it was tried again until it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatchWaits {
    /// Waits.
    pub waits: u64,
    /// Tries after the first.
    pub spins: u64,
}

/// The waits of all pages' latches since the start. Taking a latch that is free is not counted.
pub fn latch_waits() -> LatchWaits {
    LatchWaits { waits: WAITS.load(Ordering::Relaxed), spins: ROUNDS.load(Ordering::Relaxed) }
}

/// Counts a round of a wait.
#[cold]
fn count_wait(rounds_before: u32) {
    if rounds_before == 0 {
        WAITS.fetch_add(1, Ordering::Relaxed);
    }
    ROUNDS.fetch_add(1, Ordering::Relaxed);
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Backoff { rounds: 0 }
    }

    /// As [`wait`](Self::wait), until it is not worth it to wait on; then false.
    pub(crate) fn wait_patiently(&mut self) -> bool {
        if self.rounds >= PATIENT_ROUNDS {
            return false;
        }
        self.wait();
        true
    }

    pub(crate) fn wait(&mut self) {
        count_wait(self.rounds);
        if self.rounds < SPIN_ROUNDS && cfg!(not(loom)) {
            for _ in 0..1u32 << self.rounds {
                std::hint::spin_loop();
            }
        } else {
            yield_now();
        }
        self.rounds += 1;
        #[cfg(all(debug_assertions, not(loom)))]
        assert!(
            self.rounds < HOPELESS_ROUNDS,
            "a page latch is never given back; does this thread hold it already?"
        );
    }
}

/// Tries again until it is done; false if it is not worth it to wait on.
#[cold]
fn patiently(done: impl Fn() -> bool) -> bool {
    let mut backoff = Backoff::new();
    while backoff.wait_patiently() {
        if done() {
            return true;
        }
    }
    false
}

impl Latch {
    /// The version to read under, once no other thread holds the latch exclusively; `None` if it is not worth
    /// it to wait on.
    #[inline]
    pub(crate) fn optimistic(&self) -> Option<Version> {
        let word = self.0.load(Ordering::Acquire);
        if word & EXCLUSIVE == 0 { Some(Version(word & VERSION_MASK)) } else { self.optimistic_slow() }
    }

    #[cold]
    fn optimistic_slow(&self) -> Option<Version> {
        let mut backoff = Backoff::new();
        while backoff.wait_patiently() {
            let word = self.0.load(Ordering::Acquire);
            if word & EXCLUSIVE == 0 {
                return Some(Version(word & VERSION_MASK));
            }
        }
        None
    }

    /// The word, about to be compared and swapped.
    #[inline]
    fn peek(&self) -> u64 {
        #[cfg(not(loom))]
        return self.0.load(Ordering::Relaxed);
        // loom forgets another thread's earlier load of a word when this thread loads it before it stores, and then does
        // not try the two the other way round. A compare-and-swap, even one that cannot succeed, it does not forget.
        #[cfg(loom)]
        return self
            .0
            .compare_exchange(u64::MAX, u64::MAX, Ordering::Relaxed, Ordering::Relaxed)
            .unwrap_err();
    }

    /// Whether everything read since [`optimistic`](Self::optimistic) gave `version` is one consistent state.
    #[inline]
    pub(crate) fn validate(&self, version: Version) -> bool {
        fence(Ordering::Acquire);
        self.0.load(Ordering::Relaxed) & (EXCLUSIVE | VERSION_MASK) == version.0
    }

    /// One more shared holder, if nobody holds it exclusively.
    #[inline]
    pub(crate) fn try_lock_shared(&self) -> bool {
        let mut word = self.peek();
        while word & EXCLUSIVE == 0 && word & SHARED_MASK != SHARED_MASK {
            match self.0.compare_exchange_weak(word, word + SHARED_ONE, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// One more shared holder; false if it is not worth it to wait on.
    #[inline]
    pub(crate) fn lock_shared_patiently(&self) -> bool {
        self.try_lock_shared() || patiently(|| self.try_lock_shared())
    }

    /// Gives a shared hold back.
    #[inline]
    pub(crate) fn unlock_shared(&self) {
        let before = self.0.fetch_sub(SHARED_ONE, Ordering::Release);
        debug_assert!(before & SHARED_MASK != 0, "a shared latch was given back that nobody held");
    }

    /// The exclusive holder, if nobody holds it at all.
    #[inline]
    pub(crate) fn try_lock_exclusive(&self) -> bool {
        let word = self.peek();
        word & (EXCLUSIVE | SHARED_MASK) == 0 && self.take_exclusive(word)
    }

    /// The exclusive holder; false if it is not worth it to wait on.
    #[inline]
    pub(crate) fn lock_exclusive_patiently(&self) -> bool {
        self.try_lock_exclusive() || patiently(|| self.try_lock_exclusive())
    }

    /// The exclusive holder, of a page that is not in memory: such a latch is held for a few instructions.
    #[inline]
    pub(crate) fn lock_exclusive(&self) {
        if !self.try_lock_exclusive() {
            let mut backoff = Backoff::new();
            while {
                backoff.wait();
                !self.try_lock_exclusive()
            } {}
        }
    }

    /// Gives the exclusive hold back; `changed` says whether optimistic readers must restart.
    #[inline]
    pub(crate) fn unlock_exclusive(&self, changed: bool) {
        // Nobody else changes the word while the exclusive bit is set, so load and store need not be one.
        let word = self.peek();
        debug_assert!(word & EXCLUSIVE != 0, "an exclusive latch was given back that nobody held");
        let version = (word & VERSION_MASK) + u64::from(changed);
        self.0.store(version & VERSION_MASK, Ordering::Release);
    }

    /// From optimistic to shared, if nothing has changed since `version`.
    #[inline]
    pub(crate) fn upgrade_shared(&self, version: Version) -> bool {
        let mut backoff = Backoff::new();
        loop {
            let word = self.peek();
            if word & (EXCLUSIVE | VERSION_MASK) != version.0 {
                return false;
            }
            if word & SHARED_MASK != SHARED_MASK
                && self
                    .0
                    .compare_exchange_weak(word, word + SHARED_ONE, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                return true;
            }
            if !backoff.wait_patiently() {
                return false;
            }
        }
    }

    /// From optimistic to exclusive, if nothing has changed since `version`; waits for shared holders to
    /// leave. False if something has, or it is not worth it to wait on.
    #[inline]
    pub(crate) fn upgrade_exclusive(&self, version: Version) -> bool {
        let mut backoff = Backoff::new();
        loop {
            let word = self.peek();
            if word & (EXCLUSIVE | VERSION_MASK) != version.0 {
                return false;
            }
            if word & SHARED_MASK == 0 && self.take_exclusive(word) {
                return true;
            }
            if !backoff.wait_patiently() {
                return false;
            }
        }
    }

    #[inline]
    fn take_exclusive(&self, word: u64) -> bool {
        let taken =
            self.0.compare_exchange(word, word | EXCLUSIVE, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if taken {
            // Orders the exclusive bit before the holder's writes, for optimistic readers.
            fence(Ordering::Release);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_exclude_each_other_and_only_changes_invalidate() {
        let latch = Latch::default();
        let version = latch.optimistic().unwrap();
        assert!(latch.lock_shared_patiently());
        assert!(latch.try_lock_shared() && !latch.try_lock_exclusive());
        assert!(latch.validate(version), "shared holders change nothing");
        latch.unlock_shared();
        latch.unlock_shared();
        assert!(latch.try_lock_exclusive());
        assert!(!latch.try_lock_shared() && !latch.try_lock_exclusive() && !latch.validate(version));
        latch.unlock_exclusive(false);
        assert!(latch.validate(version), "an exclusive holder that changed nothing disturbs nobody");
        assert!(latch.upgrade_exclusive(version));
        latch.unlock_exclusive(true);
        assert!(
            !latch.validate(version) && !latch.upgrade_shared(version) && !latch.upgrade_exclusive(version)
        );
        assert!(latch.upgrade_shared(latch.optimistic().unwrap()));
        latch.unlock_shared();
    }

    #[test]
    fn the_version_comes_round_without_touching_the_other_bits() {
        let latch = Latch(AtomicU64::new(VERSION_MASK | EXCLUSIVE));
        latch.unlock_exclusive(true);
        assert_eq!(latch.optimistic().unwrap(), Version(0));
        assert!(latch.try_lock_exclusive());
    }
}

/// Every interleaving of two or three threads: `RUSTFLAGS="--cfg loom" cargo test -p palisade-buffer --lib loom_`.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    fn model(test: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.max_branches = 100_000;
        builder.check(test);
    }

    /// A page of two words that must always be equal.
    #[derive(Default)]
    struct Page {
        latch: Latch,
        words: [AtomicU64; 2],
    }

    impl Page {
        fn read(&self) -> [u64; 2] {
            [self.words[0].load(Ordering::Relaxed), self.words[1].load(Ordering::Relaxed)]
        }

        fn increment(&self) {
            let [a, b] = self.read();
            self.words[0].store(a + 1, Ordering::Relaxed);
            self.words[1].store(b + 1, Ordering::Relaxed);
        }
    }

    #[test]
    fn loom_an_optimistic_reader_that_validates_saw_one_state() {
        model(|| {
            let page = Arc::new(Page::default());
            let writer = {
                let page = page.clone();
                thread::spawn(move || {
                    for _ in 0..2 {
                        assert!(page.latch.try_lock_exclusive());
                        page.increment();
                        page.latch.unlock_exclusive(true);
                    }
                })
            };
            let version = page.latch.optimistic().unwrap();
            let [a, b] = page.read();
            if page.latch.validate(version) {
                assert_eq!(a, b);
            }
            writer.join().unwrap();
        });
    }

    /// The canary: without validation the model does find the torn state.
    #[test]
    #[should_panic(expected = "torn")]
    fn loom_without_validation_torn_states_are_seen() {
        model(|| {
            let page = Arc::new(Page::default());
            let writer = {
                let page = page.clone();
                thread::spawn(move || {
                    page.latch.lock_exclusive();
                    page.increment();
                    page.latch.unlock_exclusive(true);
                })
            };
            let _ = page.latch.optimistic();
            let [a, b] = page.read();
            assert!(a == b, "torn");
            writer.join().unwrap();
        });
    }

    /// Loom would follow a spin loop for ever, so each thread tries a bounded number of times.
    #[test]
    fn loom_shared_and_exclusive_holders_exclude_each_other() {
        struct Guarded(Latch, UnsafeCell<u64>);
        // SAFETY: the cell is accessed only under the latch, which is what the model checks.
        unsafe impl Sync for Guarded {}
        // SAFETY: as above.
        unsafe impl Send for Guarded {}
        model(|| {
            let shared = Arc::new(Guarded(Latch::default(), UnsafeCell::new(0)));
            let try_increment = |shared: &Guarded| {
                let held = shared.0.try_lock_exclusive();
                if held {
                    // SAFETY: under the exclusive latch.
                    shared.1.with_mut(|value| unsafe { *value += 1 });
                    shared.0.unlock_exclusive(true);
                }
                u64::from(held)
            };
            let other = {
                let shared = shared.clone();
                thread::spawn(move || try_increment(&shared))
            };
            if shared.0.try_lock_shared() {
                // SAFETY: under the shared latch.
                let seen = shared.1.with(|value| unsafe { *value });
                shared.0.unlock_shared();
                assert!(seen <= 1);
            }
            let increments = try_increment(&shared) + other.join().unwrap();
            assert!(shared.0.try_lock_shared());
            // SAFETY: under the shared latch.
            assert_eq!(shared.1.with(|value| unsafe { *value }), increments);
        });
    }

    #[test]
    fn loom_an_upgrade_succeeds_only_on_the_state_that_was_read() {
        model(|| {
            let page = Arc::new(Page::default());
            let try_increment = |page: &Page| {
                let version = page.latch.optimistic().unwrap();
                let [seen, _] = page.read();
                let upgraded = page.latch.upgrade_exclusive(version);
                if upgraded {
                    assert_eq!(page.read(), [seen, seen]);
                    page.increment();
                    page.latch.unlock_exclusive(true);
                }
                u64::from(upgraded)
            };
            let other = {
                let page = page.clone();
                thread::spawn(move || try_increment(&page))
            };
            let increments = try_increment(&page) + other.join().unwrap();
            assert!(increments >= 1);
            assert_eq!(page.read(), [increments, increments]);
        });
    }

    #[test]
    fn loom_an_upgrade_to_shared_keeps_writers_out() {
        model(|| {
            let page = Arc::new(Page::default());
            let writer = {
                let page = page.clone();
                thread::spawn(move || {
                    page.latch.lock_exclusive();
                    page.increment();
                    page.latch.unlock_exclusive(true);
                })
            };
            let version = page.latch.optimistic().unwrap();
            let [seen, _] = page.read();
            if page.latch.upgrade_shared(version) {
                assert_eq!(page.read(), [seen, seen]);
                page.latch.unlock_shared();
            }
            writer.join().unwrap();
        });
    }
}
