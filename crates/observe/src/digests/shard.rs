//! A thread's part of the rows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::{DigestRow, Epochs, Sample, SampleRule, locked};
use crate::histogram::{BucketPlace, Histogram};
use crate::sums::{Done, SharedSums};

/// What one thread at a time adds to, and any thread reads.
#[derive(Default)]
pub(super) struct Shard {
    rows: Mutex<Arc<Rows>>,
    all: Mutex<Arc<All>>,
}

/// The rows of an epoch.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) epoch: u32,
    rows: Box<[OnceLock<Box<Row>>]>,
}

/// The times of all statements of an epoch.
#[derive(Default)]
pub(super) struct All {
    pub(super) epoch: u32,
    pub(super) histogram: Histogram,
}

#[derive(Default)]
struct Row {
    sums: SharedSums,
    histogram: Histogram,
    /// Locked by the writer when it replaces the sample, and by readers.
    sample: Mutex<Sample>,
    /// The same sample's, for the writer: how long it took, and when it is too old.
    sample_wait_ns: AtomicU64,
    sample_expires_ns: AtomicU64,
}

impl Shard {
    /// What the thread adds to in these epochs.
    pub(super) fn of_epochs(&self, epochs: Epochs, capacity: u32) -> (Arc<Rows>, Arc<All>) {
        let mut rows = locked(&self.rows);
        if rows.epoch != epochs.rows || rows.rows.is_empty() {
            // Row 0 is for those that find no room.
            let empty = (0..=capacity).map(|_| OnceLock::new());
            *rows = Arc::new(Rows { epoch: epochs.rows, rows: empty.collect() });
        }
        let mut all = locked(&self.all);
        if all.epoch != epochs.all {
            *all = Arc::new(All { epoch: epochs.all, ..All::default() });
        }
        (rows.clone(), all.clone())
    }

    pub(super) fn rows(&self) -> Arc<Rows> {
        locked(&self.rows).clone()
    }

    pub(super) fn all(&self) -> Arc<All> {
        locked(&self.all).clone()
    }
}

impl Rows {
    /// Counts a statement. The caller is the only writer.
    #[inline]
    pub(super) fn add(
        &self,
        index: u32,
        done: &Done,
        bucket: BucketPlace,
        text: &[u8],
        rule: impl FnOnce() -> SampleRule,
    ) {
        let Some(row) = self.rows.get(index as usize) else { return };
        let row = row.get_or_init(Box::default);
        row.add(done, bucket, text, rule);
    }

    /// Adds what this part has of a row.
    pub(super) fn add_to(&self, index: usize, sum: &mut DigestRow) {
        let Some(row) = self.rows.get(index).and_then(OnceLock::get) else { return };
        sum.sums.merge(&row.sums.read());
        row.histogram.add_to(&mut sum.counts);
        let sample = locked(&row.sample);
        // Of the samples of several threads the slowest.
        let is_slower = sum.sample.as_ref().is_none_or(|known| known.wait_ns < sample.wait_ns);
        if !sample.text.is_empty() && is_slower {
            sum.sample = Some(sample.clone());
        }
    }
}

impl Row {
    #[inline]
    fn add(&self, done: &Done, bucket: BucketPlace, text: &[u8], rule: impl FnOnce() -> SampleRule) {
        self.sums.add(done);
        self.histogram.add(bucket);
        // Without a sample none is too young.
        if done.wait_ns > self.sample_wait_ns.load(Ordering::Relaxed)
            || done.ended_ns >= self.sample_expires_ns.load(Ordering::Relaxed)
        {
            self.take_sample(done, text, rule());
        }
    }

    #[cold]
    fn take_sample(&self, done: &Done, text: &[u8], rule: SampleRule) {
        let expires_ns = done.ended_ns.saturating_add(rule.age_ns);
        self.sample_wait_ns.store(done.wait_ns, Ordering::Relaxed);
        self.sample_expires_ns.store(expires_ns, Ordering::Relaxed);
        let mut sample = locked(&self.sample);
        sample.text.clear();
        sample.text.extend_from_slice(text.get(..rule.text).unwrap_or(text));
        sample.ended_ns = done.ended_ns;
        sample.wait_ns = done.wait_ns;
    }
}
