//! From where on the log is needed: dirty pages counted by LSN.
//!
//! A page that becomes dirty at `lsn` is counted in the bucket of that LSN, before the frame that dirties it is linked.
//! So whoever has seen a tail beyond a frame also sees its page counted, and
//! `min(start of the first non-empty bucket, tail)` is a safe checkpoint. Buckets below the tail's only drain: no
//! list to keep sorted, no mutex. The price is that a checkpoint lies up to a bucket further back; a bucket is a small
//! part of the log, 1 MiB at most.
//!
//! A log that is resized goes on with other buckets from an LSN that no append has reached yet:
//!
//! ```text
//!   generation 0: buckets of 16 KiB      │ generation 1: buckets of 256 KiB
//!   ──────────────────────────────tail───┼──────────────────────────────────> LSN
//! ```
//!
//! Which generation an LSN belongs to never changes, so who registered with an old list of generations and who unregisters
//! with a new one mean the same bucket. A generation goes when no checkpoint will lie in it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arc_swap::ArcSwap;
use palisade_base::Lsn;

/// Buckets that a log's capacity is divided into.
const DIVISION: u64 = 4096;
/// The largest bucket; generations begin at multiples of it.
const LARGEST: u64 = 1 << 20;

pub(crate) struct DirtyBuckets {
    /// In order of their LSNs; never empty.
    generations: ArcSwap<Vec<Generation>>,
}

#[derive(Clone)]
struct Generation {
    from: u64,
    buckets: Arc<Buckets>,
}

struct Buckets {
    counts: Box<[AtomicU32]>,
    /// Log bytes per bucket, as a power of two.
    bits: u32,
}

impl Buckets {
    /// For logs of `capacity` whose live part spans at most `span` bytes.
    fn new(span: u64, capacity: u64) -> Buckets {
        let bits = (capacity / DIVISION).max(1).ilog2().clamp(12, LARGEST.ilog2());
        let buckets = ((span >> bits) + 2).next_power_of_two();
        Buckets { counts: (0..buckets).map(|_| AtomicU32::new(0)).collect(), bits }
    }

    fn count(&self, bucket: u64) -> &AtomicU32 {
        &self.counts[bucket as usize & (self.counts.len() - 1)]
    }

    /// Start of the first bucket within `[from, to]` that counts anything, or `Ok(None)`; an error if they are further
    /// apart than there are buckets.
    fn first(&self, from: u64, to: u64) -> Result<Option<u64>, OutOfSpan> {
        let (first, last) = (from >> self.bits, to >> self.bits);
        if last - first >= self.counts.len() as u64 {
            return Err(OutOfSpan);
        }
        let dirty = (first..=last).find(|bucket| self.count(*bucket).load(Ordering::Acquire) > 0);
        Ok(dirty.map(|bucket| bucket << self.bits))
    }
}

struct OutOfSpan;

impl DirtyBuckets {
    /// For logs of `capacity` whose live part spans at most `span` bytes.
    pub(crate) fn new(span: u64, capacity: u64) -> DirtyBuckets {
        let buckets = Arc::new(Buckets::new(span, capacity));
        DirtyBuckets { generations: ArcSwap::from_pointee(vec![Generation { from: 0, buckets }]) }
    }

    /// Goes on with buckets for another capacity and span from an LSN at or after `unreached`, which no append may reach
    /// before this returns. One thread at a time.
    pub(crate) fn resize(&self, span: u64, capacity: u64, unreached: Lsn) {
        let mut generations = Vec::clone(&self.generations.load());
        let from = unreached.0.next_multiple_of(LARGEST);
        while generations.len() > 1 && generations.last().is_some_and(|last| last.from >= from) {
            generations.pop();
        }
        generations.push(Generation { from, buckets: Arc::new(Buckets::new(span, capacity)) });
        self.generations.store(Arc::new(generations));
    }

    /// Forgets generations that no checkpoint from `safe` on lies in. Not while another thread resizes.
    pub(crate) fn forget_before(&self, safe: Lsn) {
        let generations = self.generations.load();
        let begun = generations.partition_point(|generation| generation.from <= safe.0);
        if begun > 1 {
            self.generations.store(Arc::new(generations[begun - 1..].to_vec()));
        }
    }

    fn with<T>(&self, lsn: Lsn, work: impl FnOnce(&AtomicU32) -> T) -> T {
        let generations = self.generations.load();
        let own = generations.iter().rfind(|generation| generation.from <= lsn.0);
        let buckets = &own.expect("a page is clean before its generation is forgotten").buckets;
        work(buckets.count(lsn.0 >> buckets.bits))
    }

    pub(crate) fn register(&self, lsn: Lsn) {
        self.with(lsn, |count| count.fetch_add(1, Ordering::Release));
    }

    pub(crate) fn unregister(&self, lsn: Lsn) {
        let before = self.with(lsn, |count| count.fetch_sub(1, Ordering::AcqRel));
        assert!(before > 0, "a page dirty from {lsn:?} on was unregistered more often than registered");
    }

    /// The furthest safe checkpoint, given one that is safe and a tail loaded after it, before the call. `None` if they
    /// are further apart than the log is ever long: the first is not the last checkpoint any more.
    pub(crate) fn candidate(&self, safe: Lsn, tail: Lsn) -> Option<Lsn> {
        let generations = self.generations.load();
        for (generation, next) in generations.iter().zip(1..) {
            let end = generations.get(next).map_or(u64::MAX, |next: &Generation| next.from - 1);
            let (from, to) = (safe.0.max(generation.from), tail.0.min(end));
            if from <= to
                && let Some(dirty) = generation.buckets.first(from, to).ok()?
            {
                return Some(Lsn(dirty).max(safe));
            }
        }
        Some(tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    /// Against the set of dirty pages, with the log resized now and then.
    #[test]
    fn the_candidate_never_passes_a_dirty_page_and_follows_when_it_is_clean() {
        let mut random = Prng::new(test_seed(7));
        let buckets = DirtyBuckets::new(64 << 20, 32 << 20);
        let (mut safe, mut tail) = (Lsn(5000), Lsn(5000));
        let mut dirty: Vec<Lsn> = Vec::new();
        let mut most_generations = 0;
        for _ in 0..20_000 {
            if random.one_in(300) {
                let capacity = (8 << 20) << random.below(8);
                buckets.resize(capacity.max(128 << 20), capacity, tail.advance(random.below(4 << 20)));
            } else if random.one_in(2) && tail.since(safe) < 60 << 20 {
                dirty.push(tail);
                buckets.register(tail);
                tail = tail.advance(random.below(100_000));
            } else if !dirty.is_empty() {
                let clean = dirty.swap_remove(random.below(dirty.len() as u64) as usize);
                buckets.unregister(clean);
            }
            let candidate = buckets.candidate(safe, tail).unwrap();
            let oldest = dirty.iter().min().copied().unwrap_or(tail);
            assert!(candidate >= safe && candidate <= oldest, "{candidate:?} is beyond {oldest:?}");
            assert!(oldest.since(candidate) <= LARGEST);
            safe = candidate;
            buckets.forget_before(safe);
            most_generations = most_generations.max(buckets.generations.load().len());
        }
        assert!((2..50).contains(&most_generations), "{most_generations} generations");
    }

    #[test]
    fn what_is_further_apart_than_the_log_is_long_is_refused() {
        let buckets = DirtyBuckets::new(64 << 20, 32 << 20);
        assert_eq!(buckets.candidate(Lsn(8), Lsn(60 << 20)), Some(Lsn(60 << 20)));
        assert_eq!(buckets.candidate(Lsn(8), Lsn(600 << 20)), None);
    }
}
