//! Kept changes: a dirty page leaves memory without being written, and what was done to it stays.
//!
//! A page that is read to change one row, and is cold afterwards, costs a read and a write for some hundred
//! bytes. The write can wait: the page on disk and those bytes are the page.
//!
//! ```text
//!                 stamp: a change of a clean page begins a list, further ones are appended
//!   clean page ──────────────────────────────────────────────► dirty page with a list ──┐
//!       ▲                                                          ▲                    │ evicted
//!       │ written: the list goes                 read, applied:    │                    ▼
//!       └──────────────────────────── the same mark and list as before ──── kept: {oldest, list}, no frame
//! ```
//!
//! The list has the operations themselves, as the floor above encodes them for the log; that floor applies
//! them ([`ApplyChanges`]), by the code that recovery uses.
//!
//! # Why it is right
//!
//! *The checkpoint waits.* A dirty page's mark is registered in the log's buckets by its LSN alone. It stays
//! registered while the page is kept, and is the page's mark again when it comes back: for the log, and so
//! for recovery, a kept page is a dirty page.
//!
//! *No change is missing from a list.* Each list knows the page LSN of the page that is on disk or on its way
//! there ([`Changes::base`]), and that after its last change. A change is appended only if the page had just
//! that LSN before it, and a page is kept only if it has it: so a change that was not recorded, for whatever
//! reason, ends the list, and the page is written. The page that is read must have the LSN of the base; a
//! write that the disk has lost is found by that.
//!
//! *A page is kept or in memory.* Both the table of kept pages and the frame index change under the mutex of
//! the space's reads; a read takes the page out of the table and publishes it, or puts it back.
//!
//! # Room
//!
//! All lists, of pages in memory and of kept ones, share `innodb_change_buffer_max_size` percent of the pool.
//! The more of that is used, the shorter the list of a page must be for the page to be kept
//! ([`Keeping::longest`]): so the pages that are written are those that have gathered the most. As much
//! memory of frames is given back to the kernel as the lists take
//! ([`Frames::charge`](crate::frames::Frames::charge)).
//!
//! Nothing is recorded while no dirty page has had to make way for some time.

use std::collections::{BTreeSet, HashMap};
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
    Ordering::Release,
};
use std::time::Duration;

use palisade_base::{Lsn, PageNo};

use crate::page::Page;
use crate::sync::AtomicPtr;

#[cfg(all(test, loom))]
mod loom_tests;

/// Applies to a page what was recorded for it; an error if it does not fit the page.
pub type ApplyChanges = fn(&mut Page, &[u8]) -> Result<(), &'static str>;

/// Bytes of a list at most.
const LONGEST: usize = 2048;
/// What a list takes beside its bytes: its head, and its share of the tables of kept pages.
const OVERHEAD: usize = 128;
/// So long after the last dirty page that had to make way, nothing is recorded any more.
const RECORDS_FOR: Duration = Duration::from_secs(10);

/// What was done to a page since it was written last, or copied to be written.
#[derive(Debug)]
pub(crate) struct Changes {
    /// The page LSN before the first of them.
    pub(crate) base: Lsn,
    /// The page LSN after the last of them.
    pub(crate) last: Lsn,
    pub(crate) ops: Vec<u8>,
}

impl Changes {
    fn bytes(&self) -> usize {
        OVERHEAD + self.ops.capacity()
    }
}

/// What the pool knows of changes that are kept, and the lists of the pages in its frames.
pub(crate) struct Keeping {
    pub(crate) apply: Option<ApplyChanges>,
    /// The list of the page in each frame; null if there is none or it is not whole. That of a clean page is
    /// null. Used under the page's exclusive latch, or by the one cleaner that takes its dirty mark.
    lists: Box<[AtomicPtr<Changes>]>,
    /// Bytes of all lists.
    bytes: AtomicUsize,
    /// Bytes that they may come to.
    limit: AtomicUsize,
    /// Percent of the pool.
    share: AtomicU32,
    is_recording: AtomicBool,
    /// When a dirty page last had to make way, in milliseconds.
    wanted_at: AtomicU64,
    /// Pages whose first change lies before this LSN are written and not kept.
    floor: AtomicU64,
    /// Pages that are kept.
    pages: AtomicUsize,
    /// Lists of pages in frames.
    in_frames: AtomicUsize,
}

impl Keeping {
    /// For up to `most` frames.
    pub(crate) fn new(most: usize, apply: Option<ApplyChanges>) -> Keeping {
        #[cfg(loom)]
        let lists = (0..most).map(|_| AtomicPtr::new(null_mut())).collect();
        #[cfg(not(loom))]
        // SAFETY: null is a valid atomic pointer, and is all zeros.
        let lists = unsafe { Box::<[AtomicPtr<Changes>]>::new_zeroed_slice(most).assume_init() };
        Keeping {
            apply,
            lists,
            bytes: AtomicUsize::new(0),
            limit: AtomicUsize::new(0),
            share: AtomicU32::new(0),
            is_recording: AtomicBool::new(false),
            wanted_at: AtomicU64::new(0),
            floor: AtomicU64::new(0),
            pages: AtomicUsize::new(0),
            in_frames: AtomicUsize::new(0),
        }
    }

    /// Lists may take `percent` of the pool.
    pub(crate) fn set_share(&self, percent: u32) {
        self.share.store(percent.min(50), Relaxed);
    }

    /// The pool has frames of so many bytes.
    pub(crate) fn set_size(&self, pool_bytes: usize) {
        let share = if self.apply.is_some() { self.share.load(Relaxed) as usize } else { 0 };
        let limit = pool_bytes / 100 * share;
        self.limit.store(limit, Relaxed);
        if limit == 0 {
            self.is_recording.store(false, Relaxed);
        }
    }

    /// Bytes of all lists, and how many there may be.
    pub(crate) fn used(&self) -> (usize, usize) {
        (self.bytes.load(Relaxed), self.limit.load(Relaxed))
    }

    /// Pages that are kept.
    pub(crate) fn pages(&self) -> usize {
        self.pages.load(Acquire)
    }

    /// Dirty pages in frames that can leave memory unwritten.
    pub(crate) fn keepable(&self) -> usize {
        if self.is_recording() { self.in_frames.load(Relaxed) } else { 0 }
    }

    /// A page has been kept.
    pub(crate) fn count_kept(&self) {
        self.pages.fetch_add(1, AcqRel);
    }

    /// A page that was kept is dirty in a frame, or its space is gone.
    pub(crate) fn count_gone(&self) {
        self.pages.fetch_sub(1, AcqRel);
    }

    /// Whether changes are recorded now.
    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording.load(Relaxed)
    }

    /// A dirty page has to make way.
    pub(crate) fn is_wanted(&self, now: Duration) {
        self.wanted_at.store(now.as_millis() as u64, Relaxed);
        if !self.is_recording() && self.limit.load(Relaxed) > 0 {
            self.is_recording.store(true, Relaxed);
        }
    }

    /// Ends recording if no dirty page had to make way for some time.
    pub(crate) fn rest(&self, now: Duration) {
        let since = now.saturating_sub(Duration::from_millis(self.wanted_at.load(Relaxed)));
        if self.is_recording() && since > RECORDS_FOR {
            self.is_recording.store(false, Relaxed);
        }
    }

    /// Pages whose first change lies before `floor` are written and not kept from now on.
    pub(crate) fn set_floor(&self, floor: Lsn) {
        self.floor.store(floor.0, Relaxed);
    }

    /// Bytes that a page's list may have for the page to be kept: all that a list may have while a quarter of
    /// the limit is free, and less and less from there on.
    fn longest(&self) -> usize {
        let (used, limit) = self.used();
        (LONGEST * 4).saturating_mul(limit.saturating_sub(used)).checked_div(limit).unwrap_or(0).min(LONGEST)
    }

    /// Whether it is of use to record a change of the page in `frame`, which has just been stamped;
    /// `is_first` if it was clean before. Under its exclusive latch.
    pub(crate) fn is_recorded(&self, frame: u32, is_first: bool) -> bool {
        is_first || !self.list(frame).load(Relaxed).is_null()
    }

    /// Records a change of the page in `frame`, under its exclusive latch: the LSN of the page was `before`
    /// and is `last`. `None` is a change that cannot be part of a list. `is_first` if the page was clean.
    pub(crate) fn record(&self, frame: u32, is_first: bool, before: Lsn, last: Lsn, ops: Option<&[u8]>) {
        let mut changes = match self.take(frame) {
            Some(changes) => changes,
            None if is_first => {
                let new = Changes { base: before, last: before, ops: Vec::new() };
                self.bytes.fetch_add(new.bytes(), Relaxed);
                Box::new(new)
            }
            None => return,
        };
        let Some(ops) = ops.filter(|ops| changes.last == before && changes.ops.len() + ops.len() <= LONGEST)
        else {
            return self.give_up(*changes);
        };
        let had = changes.bytes();
        changes.ops.reserve_exact(ops.len());
        changes.ops.extend_from_slice(ops);
        changes.last = last;
        self.bytes.fetch_add(changes.bytes() - had, Relaxed);
        match changes.ops.len() <= self.longest() {
            true => self.put(frame, changes),
            false => self.give_up(*changes),
        }
    }

    fn list(&self, frame: u32) -> &AtomicPtr<Changes> {
        &self.lists[frame as usize]
    }

    fn take(&self, frame: u32) -> Option<Box<Changes>> {
        let list = self.list(frame);
        if list.load(Relaxed).is_null() {
            return None;
        }
        let list = list.swap(null_mut(), Acquire);
        if list.is_null() {
            return None;
        }
        self.in_frames.fetch_sub(1, Relaxed);
        // SAFETY: a pointer that is not null came from `Box::into_raw` in `put`, and the swap has taken it
        // out for this caller alone.
        Some(unsafe { Box::from_raw(list) })
    }

    /// Gives the page in `frame`, which is dirty and has no list, one. Under its exclusive latch.
    pub(crate) fn put(&self, frame: u32, changes: Box<Changes>) {
        let before = self.list(frame).swap(Box::into_raw(changes), Release);
        assert!(before.is_null(), "a page has one list of changes");
        self.in_frames.fetch_add(1, Relaxed);
    }

    /// The list goes.
    pub(crate) fn give_up(&self, changes: Changes) {
        self.bytes.fetch_sub(changes.bytes(), Relaxed);
    }

    /// The page in `frame` is clean now, or has left memory.
    #[inline]
    pub(crate) fn forget(&self, frame: u32) {
        if let Some(changes) = self.take(frame) {
            self.give_up(*changes);
        }
    }

    /// The page in frame `from` moves to `to`, under its exclusive latch.
    pub(crate) fn move_list(&self, from: u32, to: u32) {
        if let Some(changes) = self.take(from) {
            self.put(to, changes);
        }
    }

    /// Whether the page in `frame`, which has been dirty since `oldest`, may be worth keeping.
    pub(crate) fn may_keep(&self, frame: u32, oldest: u64) -> bool {
        oldest >= self.floor.load(Relaxed) && !self.list(frame).load(Relaxed).is_null()
    }

    /// Takes the list of the page in `frame` if the page is to be kept: whole up to `page_lsn`, and short
    /// enough. One that is not whole goes. Under the page's exclusive latch.
    pub(crate) fn take_to_keep(&self, frame: u32, page_lsn: Lsn) -> Option<Box<Changes>> {
        let changes = self.take(frame)?;
        if changes.last != page_lsn {
            self.give_up(*changes);
            return None;
        }
        if changes.ops.len() > self.longest() {
            self.put(frame, changes);
            return None;
        }
        Some(changes)
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        (0..self.lists.len() as u32).for_each(|frame| self.forget(frame));
    }
}

/// A page that is on disk but for some changes.
#[derive(Debug)]
pub(crate) struct KeptPage {
    /// Its dirty mark, which is registered in the log.
    pub(crate) oldest: Lsn,
    pub(crate) changes: Box<Changes>,
    /// Reads of it that have failed.
    pub(crate) failures: u32,
}

/// The kept pages of a space.
#[derive(Debug, Default)]
pub(crate) struct KeptPages {
    pages: HashMap<PageNo, KeptPage>,
    by_age: BTreeSet<(Lsn, PageNo)>,
}

impl KeptPages {
    pub(crate) fn contains(&self, page: PageNo) -> bool {
        self.pages.contains_key(&page)
    }

    pub(crate) fn insert(&mut self, page: PageNo, kept: KeptPage) {
        self.by_age.insert((kept.oldest, page));
        let before = self.pages.insert(page, kept);
        assert!(before.is_none(), "a page is kept once");
    }

    pub(crate) fn remove(&mut self, page: PageNo) -> Option<KeptPage> {
        let kept = self.pages.remove(&page)?;
        self.by_age.remove(&(kept.oldest, page));
        Some(kept)
    }

    /// The oldest ones whose first change lies before `below`, at most `most`: since when they are dirty, and
    /// how many reads of them have failed.
    pub(crate) fn before(&self, below: Lsn, most: usize) -> impl Iterator<Item = (Lsn, PageNo, u32)> {
        let due = self.by_age.iter().take_while(move |(oldest, _)| *oldest < below).take(most);
        due.filter_map(|&(oldest, page)| Some((oldest, page, self.pages.get(&page)?.failures)))
    }

    /// All of them, in no order.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = KeptPage> {
        self.by_age.clear();
        std::mem::take(&mut self.pages).into_values()
    }
}
