//! The page table of a space: from page number to latch and frame by arithmetic.
//!
//! An array that grows without moving: bucket `k` holds the `FIRST << k` entries that follow those of the
//! buckets before it, so that a look-up is one bit scan, one load of a bucket's address and one index. A
//! bucket is allocated when a page in it is first asked for (pages beyond the end of the space are refused
//! before that) and lives as long as the space. Its memory comes zeroed from the system and costs nothing
//! where no page was ever touched.
//!
//! ```text
//! entry, 16 bytes:  latch word u64 | frame u32 (0 = not in memory, else index + 1) | heat u32
//! ```
//!
//! *Heat* drives second-chance eviction. A page comes in [`LOADED`]; the access it was loaded for makes it
//! [`COLD`], a further one [`HOT`], and after that an access only reads. So a scan that touches each page
//! once leaves no trace. A page [`AHEAD`] of its readers may never be accessed: where the hand passes it, it
//! becomes [`UNASKED`].

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use palisade_base::PageNo;

use crate::latch::Latch;

/// Entries in the first bucket.
const FIRST: u32 = 64;
/// Enough for every page number.
const BUCKETS: usize = (32 - FIRST.ilog2() + 1) as usize;

/// Never accessed since the clock hand passed, or since the one access it was loaded for.
pub(crate) const COLD: u32 = 0;
/// Accessed again: spared once.
pub(crate) const HOT: u32 = 1;
/// Just read; spared once, so that those who waited for it find it.
pub(crate) const LOADED: u32 = 2;
/// As [`LOADED`], before any session wanted it.
pub(crate) const AHEAD: u32 = 3;
/// As [`AHEAD`]; the first access is to be told of.
pub(crate) const MARK: u32 = 4;
/// As [`COLD`], and never accessed since it was read ahead.
pub(crate) const UNASKED: u32 = 5;

/// What the pool knows of one page.
#[derive(Default)]
#[repr(C, align(16))]
pub(crate) struct Entry {
    pub(crate) latch: Latch,
    /// Changed only under the exclusive latch, with a grown version.
    frame: AtomicU32,
    heat: AtomicU32,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Entry>() == 16);

impl Entry {
    /// The frame the page is in. To be trusted only under a latch, or if validated afterwards.
    #[inline]
    pub(crate) fn frame(&self) -> Option<u32> {
        self.frame.load(Relaxed).checked_sub(1)
    }

    /// Sets the frame; the caller holds the exclusive latch and gives it back as changed.
    pub(crate) fn set_frame(&self, frame: Option<u32>) {
        self.frame.store(frame.map_or(0, |index| index + 1), Relaxed);
    }

    /// Marks the page as used. Whether it was a [`MARK`].
    #[inline]
    pub(crate) fn touch(&self) -> bool {
        let heat = self.heat.load(Relaxed);
        if heat == HOT {
            return false;
        }
        self.heat.store(if heat >= LOADED { COLD } else { HOT }, Relaxed);
        heat == MARK
    }

    /// The hand of the eviction passes: whether it spares the page, this once.
    pub(crate) fn spare(&self) -> bool {
        let colder = match self.heat() {
            COLD | UNASKED => return false,
            AHEAD | MARK => UNASKED,
            _ => COLD,
        };
        self.set_heat(colder);
        true
    }

    /// Whether the hand does not spare the page.
    pub(crate) fn is_cold(&self) -> bool {
        matches!(self.heat(), COLD | UNASKED)
    }

    pub(crate) fn heat(&self) -> u32 {
        self.heat.load(Relaxed)
    }

    pub(crate) fn set_heat(&self, heat: u32) {
        self.heat.store(heat, Relaxed);
    }
}

/// The entries of a space's pages.
pub(crate) struct PageTable {
    buckets: [AtomicPtr<Entry>; BUCKETS],
}

/// Bucket and position in it.
#[inline]
fn locate(page: PageNo) -> (usize, usize) {
    let index = u64::from(page.0) + u64::from(FIRST);
    let bucket = (index.ilog2() - FIRST.ilog2()) as usize;
    (bucket, (index - bucket_len(bucket) as u64) as usize)
}

#[inline]
fn bucket_len(bucket: usize) -> usize {
    (FIRST as usize) << bucket
}

impl PageTable {
    pub(crate) fn new() -> Self {
        PageTable { buckets: [const { AtomicPtr::new(null_mut()) }; BUCKETS] }
    }

    /// The entry of `page`. The caller has checked that the space has such a page: entries are memory.
    #[inline]
    pub(crate) fn entry(&self, page: PageNo) -> &Entry {
        let (bucket, position) = locate(page);
        let mut entries = self.buckets[bucket].load(Acquire);
        if entries.is_null() {
            entries = self.allocate(bucket);
        }
        // SAFETY: a bucket in place holds `bucket_len(bucket)` entries, `locate` answers a position below
        // that, and buckets are freed only by `drop`.
        unsafe { &*entries.add(position) }
    }

    /// The entry of `page` if its bucket is allocated; else none of the bucket's pages is in memory.
    pub(crate) fn known_entry(&self, page: PageNo) -> Option<&Entry> {
        let (bucket, _) = locate(page);
        let is_allocated = !self.buckets[bucket].load(Acquire).is_null();
        is_allocated.then(|| self.entry(page))
    }

    #[cold]
    fn allocate(&self, bucket: usize) -> *mut Entry {
        let len = bucket_len(bucket);
        #[cfg(not(loom))]
        // SAFETY: an entry is three atomic integers, for which zeros are valid.
        let entries = unsafe { Box::<[Entry]>::new_zeroed_slice(len).assume_init() };
        #[cfg(loom)]
        let entries: Box<[Entry]> = (0..len).map(|_| Entry::default()).collect();
        let ours = Box::into_raw(entries).cast::<Entry>();
        match self.buckets[bucket].compare_exchange(null_mut(), ours, Release, Acquire) {
            Ok(_) => ours,
            Err(theirs) => {
                // SAFETY: `ours` came from `Box::into_raw` above with this length and was not published.
                unsafe { free_bucket(ours, len) };
                theirs
            }
        }
    }
}

/// # Safety
/// `entries` must come from `Box::into_raw` of a slice of `len` entries that nobody uses any more.
unsafe fn free_bucket(entries: *mut Entry, len: usize) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(entries, len)) });
}

impl Drop for PageTable {
    fn drop(&mut self) {
        for (bucket, entries) in self.buckets.iter_mut().enumerate() {
            let entries = *entries.get_mut();
            if !entries.is_null() {
                // SAFETY: made by `allocate` with this length; `&mut self` says that nobody borrows an entry.
                unsafe { free_bucket(entries, bucket_len(bucket)) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_number_has_its_own_place() {
        let mut expected = (0, 0);
        for page in 0..100_000 {
            assert_eq!(locate(PageNo(page)), expected, "page {page}");
            expected.1 += 1;
            if expected.1 == bucket_len(expected.0) {
                expected = (expected.0 + 1, 0);
            }
        }
        let (bucket, position) = locate(PageNo(u32::MAX));
        assert!(bucket < BUCKETS && position < bucket_len(bucket));
    }

    #[test]
    fn entries_stay_where_they_are_and_remember() {
        let table = PageTable::new();
        let first = std::ptr::from_ref(table.entry(PageNo(0)));
        for page in 0..1000 {
            assert_eq!(table.entry(PageNo(page)).frame(), None);
            table.entry(PageNo(page)).set_frame(Some(page));
        }
        for page in 0..1000 {
            assert_eq!(table.entry(PageNo(page)).frame(), Some(page));
        }
        assert_eq!(first, std::ptr::from_ref(table.entry(PageNo(0))));
    }

    #[test]
    fn asking_whether_a_page_is_known_allocates_nothing() {
        let table = PageTable::new();
        table.entry(PageNo(3)).set_frame(Some(7));
        assert_eq!(table.known_entry(PageNo(3)).and_then(Entry::frame), Some(7));
        assert!(table.known_entry(PageNo(1 << 30)).is_none());
        assert!(table.buckets.iter().skip(1).all(|bucket| bucket.load(Relaxed).is_null()));
    }

    #[test]
    fn a_page_accessed_once_after_its_load_stays_cold() {
        for loaded in [LOADED, AHEAD, MARK, UNASKED] {
            let entry = Entry::default();
            entry.set_heat(loaded);
            assert_eq!(entry.touch(), loaded == MARK);
            assert_eq!(entry.heat(), COLD);
            for _ in 0..2 {
                assert!(!entry.touch());
                assert_eq!(entry.heat(), HOT);
            }
        }
    }

    #[test]
    fn the_hand_spares_a_page_once() {
        for (heat, colder) in [(HOT, COLD), (LOADED, COLD), (AHEAD, UNASKED), (MARK, UNASKED)] {
            let entry = Entry::default();
            entry.set_heat(heat);
            assert!(!entry.is_cold() && entry.spare());
            assert_eq!(entry.heat(), colder);
            assert!(entry.is_cold() && !entry.spare());
        }
    }
}
