//! The frames: memory for pages, and what is known of each frame.
//!
//! Of every frame three things are kept, each in its own array so that sweeps over one of them are
//! sequential:
//!
//! | array | meaning | who changes it |
//! |---|---|---|
//! | `owner` | the page in the frame, or none | whoever holds that page's exclusive latch |
//! | `oldest` | start of the first change not yet on its way to disk, or [`CLEAN`] | made dirty under the exclusive latch; taken by a cleaner under the shared latch |
//! | `io` | [`WRITING`]: a cleaner has a copy on its way; [`DISCARDED`]: its space is gone, free the frame after the write | the cleaner; detaching a space |
//!
//! A frame is *free* (in the free list, no owner), *reserved* (taken from it, a read under way), *resident*,
//! or, while the pool becomes smaller, *withdrawn* (no owner, and not to be used again).
//!
//! # Growing and shrinking
//!
//! The arrays and the address space are made once, for as many frames as there may ever be; the kernel gives
//! memory to what is touched. A pool that grows makes more of them known. One that shrinks first sets the
//! *size* that it is to have: a frame beyond it that is free, or given back from then on, is withdrawn. When
//! all are, the *count* becomes the size, and the kernel gets the memory back. Until then sweeps go over all
//! of the count. See [`resize`](crate::resize).
//!
//! # Waiting for frames
//!
//! An operation that needs several frames and gets only some gives them back before it waits. They are no
//! reason for it to try again: so it waits for as many as it had and one more, and who needs fewer waits for
//! fewer.
//!
//! # Dirty pages and the checkpoint
//!
//! The first change of a clean page registers the change's start in the log's LSN buckets, before the log's
//! tail can pass it; a cleaner takes the mark (`oldest` becomes CLEAN) together with the copy it will write,
//! under the shared latch, and unregisters it once the copy is durable. A change after that moment finds
//! CLEAN and registers anew: so at every moment each change that is not durable in its page lies at or after
//! a registered LSN, and the checkpoint, which is below all registered ones, never passes a change that is
//! not on disk.
//!
//! A page of a scratch space has the mark [`SCRATCH`], which is registered nowhere and counted nowhere: it is
//! written only when its frame is wanted for another page.

use std::sync::atomic::{
    AtomicU8, AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use palisade_base::{Event, Lsn, PageId, PageNo, SpaceId};
use parking_lot::{Mutex, MutexGuard};

use crate::kept::{ApplyChanges, Keeping};
use crate::memory::FrameMemory;
use crate::page_size::PageSize;

/// `oldest` of a page whose changes are all on disk or on their way there.
pub(crate) const CLEAN: u64 = u64::MAX;
/// `oldest` of a page of a [scratch space](crate::BufferPool::attach_scratch) that differs from what is on
/// disk: no log record tells of the change, so that neither the log nor a checkpoint waits for the page.
pub(crate) const SCRATCH: u64 = u64::MAX - 1;
const NO_OWNER: u64 = u64::MAX;

/// A cleaner has a copy of the frame on its way to disk.
pub(crate) const WRITING: u8 = 1;
/// The page's space is gone: the cleaner that is writing frees the frame.
pub(crate) const DISCARDED: u8 = 2;

struct FreeList {
    frames: Vec<u32>,
    /// Frames whose memory is used for something else.
    charged: Vec<u32>,
    /// Frames from the size on that hold nothing and are in neither list.
    withdrawn: usize,
    /// Completed when so many frames are free.
    waiting: Vec<(usize, Event)>,
}

/// All frames of the pool.
pub(crate) struct Frames {
    pub(crate) memory: FrameMemory,
    owner: Box<[AtomicU64]>,
    oldest: Box<[AtomicU64]>,
    io: Box<[AtomicU8]>,
    /// What was done to dirty pages, in frames and elsewhere.
    pub(crate) keeping: Keeping,
    free: Mutex<FreeList>,
    free_count: AtomicUsize,
    charged_count: AtomicUsize,
    /// Frames that may hold pages.
    count: AtomicUsize,
    /// Frames that the pool is to have: fewer than the count while it shrinks. Changed under the free list's
    /// mutex.
    size: AtomicUsize,
    /// The most frames that anybody waits for.
    awaited: AtomicUsize,
    unsaved_count: AtomicUsize,
}

impl Frames {
    /// `count` frames of pages of `size`, of which there may be up to `most` one day; `apply` applies kept
    /// changes.
    pub(crate) fn new(
        count: usize,
        most: usize,
        size: PageSize,
        apply: Option<ApplyChanges>,
    ) -> std::io::Result<Self> {
        let most = most.max(count);
        let memory = FrameMemory::reserve(most, size)?;
        memory.supply(count)?;
        // SAFETY: zeros are valid atomic integers.
        let (owner, oldest, io) = unsafe {
            (
                Box::<[AtomicU64]>::new_zeroed_slice(most).assume_init(),
                Box::<[AtomicU64]>::new_zeroed_slice(most).assume_init(),
                Box::<[AtomicU8]>::new_zeroed_slice(most).assume_init(),
            )
        };
        let frames = Frames {
            memory,
            owner,
            oldest,
            io,
            keeping: Keeping::new(most, apply),
            free: Mutex::new(FreeList {
                frames: Vec::new(),
                charged: Vec::new(),
                withdrawn: 0,
                waiting: Vec::new(),
            }),
            awaited: AtomicUsize::new(0),
            free_count: AtomicUsize::new(0),
            charged_count: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            size: AtomicUsize::new(0),
            unsaved_count: AtomicUsize::new(0),
        };
        frames.make_known(count);
        Ok(frames)
    }

    /// Frames that may hold pages.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Frames that the pool is to have: fewer than there are while it shrinks.
    pub(crate) fn size(&self) -> usize {
        self.size.load(Relaxed)
    }

    /// Adds frames up to `count`, for which there is memory. Not while the pool shrinks.
    pub(crate) fn make_known(&self, count: usize) {
        let before = self.count();
        debug_assert!(before <= count && before == self.size());
        for frame in before..count {
            self.owner[frame].store(NO_OWNER, Relaxed);
            self.oldest[frame].store(CLEAN, Relaxed);
        }
        let mut free = self.free.lock();
        self.count.store(count, Release);
        self.size.store(count, Relaxed);
        // Low frames are used first.
        free.frames.splice(0..0, (before as u32..count as u32).rev());
        self.changed(free);
    }

    /// Withdraws the frames from `size` on: those that are free at once, the others when they are given back.
    pub(crate) fn withdraw(&self, size: usize) {
        let mut free = self.free.lock();
        self.size.store(size, Relaxed);
        let before = free.frames.len();
        free.frames.retain(|&frame| (frame as usize) < size);
        free.withdrawn = before - free.frames.len();
        let charged = free.charged.len();
        free.charged.retain(|&frame| (frame as usize) < size);
        free.withdrawn += charged - free.charged.len();
        self.charged_count.store(free.charged.len(), Relaxed);
        self.free_count.store(free.frames.len(), Relaxed);
    }

    /// Frames whose memory is used for something else.
    pub(crate) fn charged_count(&self) -> usize {
        self.charged_count.load(Relaxed)
    }

    /// The memory of `wanted` frames is to be used for something else: it is given back to the kernel. Free
    /// frames from `from` on are taken for that as they come, so that huge pages elsewhere stay whole. Of
    /// those that there are, `slack` may be too many.
    pub(crate) fn charge(&self, wanted: usize, slack: usize, from: usize) {
        let have = self.charged_count();
        if have == wanted || (wanted < have && have - wanted <= slack) {
            return;
        }
        let mut free = self.free.lock();
        let FreeList { frames, charged, .. } = &mut *free;
        if wanted > charged.len() {
            let missing = wanted - charged.len();
            let before = charged.len();
            charged.extend(frames.extract_if(.., |frame| *frame as usize >= from).take(missing));
            charged[before..].iter().for_each(|&frame| {
                self.memory.give_back(frame as usize, frame as usize + 1);
            });
        } else {
            frames.extend(charged.drain(wanted..));
        }
        self.charged_count.store(charged.len(), Relaxed);
        self.changed(free);
    }

    /// Frames that are withdrawn.
    pub(crate) fn withdrawn(&self) -> usize {
        self.free.lock().withdrawn
    }

    /// All frames from the size on are withdrawn: they are no longer known, and their memory is given back.
    pub(crate) fn forget_withdrawn(&self) {
        let mut free = self.free.lock();
        let (before, size) = (self.count(), self.size());
        assert_eq!(free.withdrawn, before - size, "a frame that is forgotten holds nothing");
        free.withdrawn = 0;
        self.count.store(size, Relaxed);
        drop(free);
        self.memory.give_back(size, before);
    }

    /// A free frame for a page that moves, unless so few are free that others need them.
    pub(crate) fn take_spare(&self, kept: usize) -> Option<u32> {
        let mut free = self.free.lock();
        let frame = if free.frames.len() > kept { free.frames.pop() } else { None };
        self.free_count.store(free.frames.len(), Relaxed);
        frame
    }

    pub(crate) fn free_count(&self) -> usize {
        self.free_count.load(Relaxed)
    }

    /// Dirty pages in frames. Beside pages that leave memory unwritten it may be too low for a moment;
    /// whether all is on disk is said by [`unsaved_count`](Self::unsaved_count) alone.
    pub(crate) fn dirty_count(&self) -> usize {
        self.unsaved_count().saturating_sub(self.keeping.pages())
    }

    /// Pages that are not on disk, nor on their way there: dirty in a frame, or kept. One count for both, so
    /// that a page that goes from one to the other is missing from it at no time.
    pub(crate) fn unsaved_count(&self) -> usize {
        self.unsaved_count.load(Acquire)
    }

    /// How many frames somebody waits for who needs so many at once; 0 if nobody does.
    pub(crate) fn awaited(&self) -> usize {
        self.awaited.load(Relaxed)
    }

    /// A free frame; else the event that there is one more than the caller `held` and is going to give back.
    pub(crate) fn take_free(&self, held: usize) -> Result<u32, Event> {
        let mut free = self.free.lock();
        let Some(frame) = free.frames.pop() else {
            let needed = held + 1;
            if let Some((_, event)) = free.waiting.iter().find(|(number, _)| *number == needed) {
                return Err(event.clone());
            }
            let event = Event::new();
            free.waiting.push((needed, event.clone()));
            self.awaited.fetch_max(needed, Relaxed);
            return Err(event);
        };
        self.free_count.store(free.frames.len(), Relaxed);
        Ok(frame)
    }

    /// Gives a frame without owner back.
    pub(crate) fn give_free(&self, frame: u32) {
        debug_assert!(self.owner(frame).is_none() && self.oldest(frame) == CLEAN);
        let mut free = self.free.lock();
        if frame as usize >= self.size() {
            free.withdrawn += 1;
            return;
        }
        free.frames.push(frame);
        self.changed(free);
    }

    /// There are more free frames: tells those who have waited for so many.
    fn changed(&self, mut free: MutexGuard<'_, FreeList>) {
        let count = free.frames.len();
        self.free_count.store(count, Relaxed);
        if free.waiting.is_empty() {
            return;
        }
        let enough: Vec<(usize, Event)> =
            free.waiting.extract_if(.., |(needed, _)| *needed <= count).collect();
        let awaited = free.waiting.iter().map(|(needed, _)| *needed).max();
        self.awaited.store(awaited.unwrap_or(0), Relaxed);
        drop(free);
        enough.iter().for_each(|(_, event)| event.complete());
    }

    /// Completes the events of all that wait for frames.
    pub(crate) fn wake_waiters(&self) {
        let waiting = {
            let mut free = self.free.lock();
            self.awaited.store(0, Relaxed);
            std::mem::take(&mut free.waiting)
        };
        waiting.iter().for_each(|(_, event)| event.complete());
    }

    /// The page in the frame. To be trusted only under that page's latch.
    pub(crate) fn owner(&self, frame: u32) -> Option<PageId> {
        let packed = self.owner[frame as usize].load(Relaxed);
        let id = PageId { space: SpaceId((packed >> 32) as u32), page: PageNo(packed as u32) };
        (packed != NO_OWNER).then_some(id)
    }

    pub(crate) fn set_owner(&self, frame: u32, owner: Option<PageId>) {
        let packed = owner.map_or(NO_OWNER, |id| u64::from(id.space.0) << 32 | u64::from(id.page.0));
        self.owner[frame as usize].store(packed, Relaxed);
    }

    /// Start of the oldest change not on its way to disk, or [`CLEAN`].
    pub(crate) fn oldest(&self, frame: u32) -> u64 {
        self.oldest[frame as usize].load(Relaxed)
    }

    /// A change that starts at `start` was made, under the exclusive latch. Whether the page was clean: then
    /// the caller registers `start` in the log.
    pub(crate) fn make_dirty(&self, frame: u32, start: Lsn) -> bool {
        let oldest = &self.oldest[frame as usize];
        debug_assert!(start.0 != CLEAN);
        let was_clean = oldest.load(Relaxed) == CLEAN;
        if was_clean {
            oldest.store(start.0, Relaxed);
            self.unsaved_count.fetch_add(1, Relaxed);
        }
        was_clean
    }

    /// A page of a scratch space was changed, under the exclusive latch.
    pub(crate) fn make_scratch_dirty(&self, frame: u32) {
        let before = self.oldest[frame as usize].swap(SCRATCH, Relaxed);
        debug_assert!(before >= SCRATCH, "no change of a scratch space is logged");
    }

    /// Takes the mark of a dirty page, under its shared or exclusive latch: from here on it counts as clean.
    pub(crate) fn take_dirty(&self, frame: u32) -> Option<Lsn> {
        let oldest = self.oldest[frame as usize].swap(CLEAN, Relaxed);
        if oldest == CLEAN {
            return None;
        }
        if oldest == SCRATCH {
            return Some(Lsn(SCRATCH));
        }
        self.keeping.forget(frame);
        self.unsaved_count.fetch_sub(1, Release);
        Some(Lsn(oldest))
    }

    /// Takes the mark of a dirty page that is kept, under its exclusive latch.
    pub(crate) fn take_dirty_to_keep(&self, frame: u32) -> Lsn {
        let oldest = self.oldest[frame as usize].swap(CLEAN, Relaxed);
        assert!(oldest != CLEAN, "a list of changes is one of a dirty page");
        self.keeping.count_kept();
        Lsn(oldest)
    }

    /// A page that was kept, and has just been read into the frame, is dirty again, under its exclusive
    /// latch.
    pub(crate) fn make_dirty_again(&self, frame: u32, oldest: Lsn) {
        let before = self.oldest[frame as usize].swap(oldest.0, Relaxed);
        assert!(before == CLEAN, "a page that was just read is clean");
        self.keeping.count_gone();
    }

    /// A kept page's space is gone, and its changes with it.
    pub(crate) fn drop_kept(&self) {
        self.keeping.count_gone();
        self.unsaved_count.fetch_sub(1, Release);
    }

    /// The page in frame `from` moves to `to`, and its dirty mark with it. The caller holds its exclusive
    /// latch.
    pub(crate) fn move_mark(&self, from: u32, to: u32) {
        let oldest = self.oldest[from as usize].swap(CLEAN, Relaxed);
        self.oldest[to as usize].store(oldest, Relaxed);
        self.keeping.move_list(from, to);
    }

    /// Whether a cleaner has a copy on its way to disk.
    pub(crate) fn is_writing(&self, frame: u32) -> bool {
        self.io[frame as usize].load(Acquire) != 0
    }

    /// Reserves the right to write the frame; one cleaner has it.
    pub(crate) fn begin_write(&self, frame: u32) -> bool {
        self.io[frame as usize].compare_exchange(0, WRITING, Acquire, Relaxed).is_ok()
    }

    /// The write is over. Whether the frame was discarded meanwhile: then it is the caller's to free.
    #[must_use]
    pub(crate) fn end_write(&self, frame: u32) -> bool {
        self.io[frame as usize].swap(0, Release) & DISCARDED != 0
    }

    /// The frame lost its page with its space. Whether a write is under way, so that its cleaner frees the
    /// frame.
    #[must_use]
    pub(crate) fn discard(&self, frame: u32) -> bool {
        self.io[frame as usize].compare_exchange(WRITING, WRITING | DISCARDED, Acquire, Acquire).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_frame_taken_makes_the_next_caller_wait_until_one_is_given_back() {
        let frames = Frames::new(2, 2, PageSize::DEFAULT, None).unwrap();
        let first = frames.take_free(0).unwrap();
        let second = frames.take_free(0).unwrap();
        assert_ne!(first, second);
        let event = frames.take_free(0).unwrap_err();
        assert!(event.same_as(&frames.take_free(0).unwrap_err()));
        assert!(!event.is_complete());
        frames.give_free(first);
        assert!(event.is_complete());
        assert_eq!(frames.take_free(0).unwrap(), first);
    }

    #[test]
    fn who_needs_two_frames_waits_for_two_and_who_needs_one_for_one() {
        let frames = Frames::new(3, 3, PageSize::DEFAULT, None).unwrap();
        let taken: Vec<u32> = (0..3).map(|_| frames.take_free(0).unwrap()).collect();
        let two = frames.take_free(1).unwrap_err();
        assert_eq!(frames.awaited(), 2);
        let one = frames.take_free(0).unwrap_err();
        frames.give_free(taken[0]);
        assert!(one.is_complete() && !two.is_complete());
        assert_eq!(frames.awaited(), 2);
        frames.give_free(taken[1]);
        assert!(two.is_complete());
        assert_eq!(frames.awaited(), 0);
    }

    #[test]
    fn a_page_changed_again_while_it_is_written_is_dirty_again() {
        let frames = Frames::new(1, 1, PageSize::DEFAULT, None).unwrap();
        assert!(frames.make_dirty(0, Lsn(100)));
        assert!(!frames.make_dirty(0, Lsn(200)));
        assert!(frames.begin_write(0));
        assert!(!frames.begin_write(0), "one write at a time");
        assert_eq!(frames.take_dirty(0), Some(Lsn(100)));
        assert!(frames.make_dirty(0, Lsn(300)));
        assert!(!frames.end_write(0));
        assert_eq!((frames.oldest(0), frames.dirty_count()), (300, 1));
    }

    #[test]
    fn a_frame_discarded_while_it_is_written_is_freed_by_the_writer() {
        let frames = Frames::new(1, 1, PageSize::DEFAULT, None).unwrap();
        assert!(!frames.discard(0));
        assert!(frames.begin_write(0));
        assert!(frames.discard(0));
        assert!(frames.end_write(0));
        assert!(!frames.is_writing(0));
    }

    #[test]
    fn a_pool_that_grows_has_more_frames_and_those_who_waited_get_them() {
        let frames = Frames::new(1, 3, PageSize::DEFAULT, None).unwrap();
        let first = frames.take_free(0).unwrap();
        let two = frames.take_free(1).unwrap_err();
        frames.memory.supply(3).unwrap();
        frames.make_known(3);
        assert!(two.is_complete());
        assert_eq!((frames.count(), frames.size(), frames.free_count()), (3, 3, 2));
        frames.give_free(first);
        let mut taken: Vec<u32> = (0..3).map(|_| frames.take_free(0).unwrap()).collect();
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2]);
        assert!(taken.iter().all(|&frame| frames.owner(frame).is_none() && frames.oldest(frame) == CLEAN));
    }

    #[test]
    fn a_pool_that_shrinks_withdraws_frames_as_they_become_free() {
        let frames = Frames::new(4, 4, PageSize::DEFAULT, None).unwrap();
        let taken: Vec<u32> = (0..3).map(|_| frames.take_free(0).unwrap()).collect();
        assert_eq!(taken, [0, 1, 2]);
        frames.withdraw(2);
        assert_eq!((frames.count(), frames.size(), frames.withdrawn(), frames.free_count()), (4, 2, 1, 0));
        let one = frames.take_free(0).unwrap_err();
        frames.give_free(2);
        assert!(!one.is_complete(), "it is withdrawn");
        assert_eq!(frames.withdrawn(), 2);
        frames.forget_withdrawn();
        assert_eq!((frames.count(), frames.size(), frames.withdrawn()), (2, 2, 0));
        frames.give_free(1);
        assert!(one.is_complete());
        assert_eq!((frames.take_spare(1), frames.take_spare(0)), (None, Some(1)));
        frames.memory.supply(4).unwrap();
        frames.make_known(4);
        assert_eq!(frames.free_count(), 2);
    }
}
