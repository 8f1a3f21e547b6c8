//! Dirty pages that are to be written now, in the order of the files, and the cleaners that share them.
//!
//! ```text
//!  frames ─ sweep ─► candidates ─ sort by page ─► [ batch | batch | batch | ... ]
//!                                                     ▲       ▲
//!                                            coordinator   other cleaners, while they have enough free frames
//! ```
//!
//! Sorted, the pages of a space are in one batch or in a few that follow one another, so that its file is
//! synced as often as it has batches; in the order of the frames each batch has pages of all spaces. The
//! cleaner that follows the log makes the list. If it was cut short the time before, the others are called to
//! help: how many cleaners write is what the load asks for, and no setting.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use palisade_base::PageId;
use palisade_base::metric::Metric;

use crate::cleaner::Cleaner;
use crate::error::Error;
use crate::pool::BufferPool;

/// A page chosen to be written, by what the sweep saw without a latch, and its frame.
pub(crate) type Candidate = (PageId, u32);

/// Pages to be written, taken batch by batch by whichever cleaner is free.
pub(crate) struct FlushList {
    candidates: Vec<Candidate>,
    /// The first that no cleaner has taken.
    next: AtomicUsize,
    written: AtomicUsize,
    /// When no further batch is begun, by the pool's clock.
    until: Option<Duration>,
    metric: &'static Metric,
}

impl FlushList {
    pub(crate) fn new(
        mut candidates: Vec<Candidate>,
        until: Option<Duration>,
        metric: &'static Metric,
    ) -> FlushList {
        candidates.sort_unstable();
        FlushList { candidates, next: AtomicUsize::new(0), written: AtomicUsize::new(0), until, metric }
    }

    /// Pages chosen.
    pub(crate) fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Pages written so far. Those of a batch under way are not counted.
    pub(crate) fn written(&self) -> usize {
        self.written.load(Ordering::Relaxed)
    }

    /// Whether candidates are left that no cleaner has taken.
    pub(crate) fn has_rest(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.len()
    }

    /// Writes batches until none is left, or the time is over, or `goes_on` says no, which is asked between
    /// two batches. The first batch is begun in any case.
    pub(crate) fn carry_out(
        &self,
        pool: &BufferPool,
        cleaner: &mut Cleaner,
        mut goes_on: impl FnMut(&mut Cleaner) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let pages = cleaner.batch_pages();
        loop {
            let start = self.next.fetch_add(pages, Ordering::Relaxed);
            let Some(rest) = self.candidates.get(start..).filter(|rest| !rest.is_empty()) else { break };
            let written = cleaner.write(pool, &rest[..rest.len().min(pages)])?;
            self.written.fetch_add(written, Ordering::Relaxed);
            self.metric.add(written as u64);
            let is_over = self.until.is_some_and(|until| pool.core().clock.monotonic() >= until);
            if is_over || !self.has_rest() || !goes_on(cleaner)? {
                break;
            }
        }
        Ok(())
    }
}
