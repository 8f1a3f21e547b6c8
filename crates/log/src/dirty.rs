//! From where on the log is needed: dirty pages counted by LSN.
//!
//! A page that becomes dirty at `lsn` is counted in the bucket of that LSN, before the frame that dirties it is linked.
//! So whoever has seen a tail beyond a frame also sees its page counted, and
//! `min(start of the first non-empty bucket, tail)` is a safe checkpoint. Buckets below the tail's only drain: no
//! list to keep sorted, no mutex. The price is that a checkpoint lies up to a bucket further back; a bucket is a small
//! part of the log, 1 MiB at most.

use std::sync::atomic::{AtomicU32, Ordering};

use palisade_base::Lsn;

/// Buckets that a log's capacity is divided into.
const DIVISION: u64 = 4096;

pub(crate) struct DirtyBuckets {
    counts: Box<[AtomicU32]>,
    /// Log bytes per bucket, as a power of two.
    bits: u32,
}

impl DirtyBuckets {
    /// For logs of `capacity` whose live part spans at most `span` bytes.
    pub(crate) fn new(span: u64, capacity: u64) -> DirtyBuckets {
        let bits = (capacity / DIVISION).max(1).ilog2().clamp(12, 20);
        let buckets = ((span >> bits) + 2).next_power_of_two();
        DirtyBuckets { counts: (0..buckets).map(|_| AtomicU32::new(0)).collect(), bits }
    }

    fn count(&self, bucket: u64) -> &AtomicU32 {
        &self.counts[bucket as usize & (self.counts.len() - 1)]
    }

    pub(crate) fn register(&self, lsn: Lsn) {
        self.count(lsn.0 >> self.bits).fetch_add(1, Ordering::Release);
    }

    pub(crate) fn unregister(&self, lsn: Lsn) {
        let before = self.count(lsn.0 >> self.bits).fetch_sub(1, Ordering::AcqRel);
        assert!(before > 0, "a page dirty from {lsn:?} on was unregistered more often than registered");
    }

    /// The furthest safe checkpoint, given one that is safe and a tail loaded after it, before the call. `None` if they
    /// are further apart than the log is ever long: the first is not the last checkpoint any more.
    pub(crate) fn candidate(&self, safe: Lsn, tail: Lsn) -> Option<Lsn> {
        let (first, last) = (safe.0 >> self.bits, tail.0 >> self.bits);
        if last - first >= self.counts.len() as u64 {
            return None;
        }
        let dirty = (first..=last).find(|bucket| self.count(*bucket).load(Ordering::Acquire) > 0);
        Some(dirty.map_or(tail, |bucket| Lsn(bucket << self.bits).max(safe)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    #[test]
    fn the_candidate_never_passes_a_dirty_page_and_follows_when_it_is_clean() {
        let mut random = Prng::new(test_seed(7));
        let buckets = DirtyBuckets::new(64 << 20, 32 << 20);
        let (mut safe, mut tail) = (Lsn(5000), Lsn(5000));
        let mut dirty: Vec<Lsn> = Vec::new();
        for _ in 0..20_000 {
            if random.one_in(2) && tail.since(safe) < 60 << 20 {
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
            assert!(oldest.since(candidate) <= 1 << buckets.bits);
            safe = candidate;
        }
    }
}
