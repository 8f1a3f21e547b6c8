//! Guards: a page under a latch.
//!
//! | guard | may | gives back |
//! |---|---|---|
//! | [`OptimisticPage`] | read through [`PageRead`], unvalidated; become another guard if nothing changed | nothing: it holds nothing |
//! | [`SharedPage`] | read as [`Page`] | on drop |
//! | [`ExclusivePage`] | change | on drop; optimistic readers restart if it was changed |
//!
//! Guards borrow their space and are `!Send`: a future that holds one across an `.await` is not `Send` and cannot be
//! spawned, so a latch is never held across a wait.
//!
//! ```compile_fail
//! fn spawnable<T: Send>() {}
//! spawnable::<palisade_buffer::ExclusivePage<'static>>();
//! ```
//!
//! # Lock order
//!
//! Whoever holds a latch may take the pool's mutexes (a miss, a new frame), but nobody takes a latch of a page in memory
//! while holding one of them. Latches among each other are ordered by the B+tree: parent before child, left before right.
//!
//! # Changing a page
//!
//! A change becomes part of the page only with its log record: [`ExclusivePage::stamp`] records the record's LSN range
//! in the page and registers the page as dirty, and must be called from inside the log's append, before the record is
//! linked. Dropping a changed page unstamped would lose the change at the next eviction, so that aborts.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use palisade_base::{Lsn, PageId};
use palisade_log::LsnRange;

use crate::latch::Version;
use crate::memory::page_at;
use crate::metrics;
use crate::page::{Page, PageRead};
use crate::racy::RacyBytes;
use crate::space::Space;
use crate::table::Entry;

/// Which page, and where it is: common to all guards.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) space: &'a Space,
    pub(crate) entry: &'a Entry,
    pub(crate) id: PageId,
    pub(crate) frame: u32,
    /// Bytes of the page.
    pub(crate) size: u32,
    /// Start of the frame's memory. Makes the guards `!Send`.
    pub(crate) bytes: NonNull<u8>,
}

impl Place<'_> {
    #[inline]
    fn page(&self) -> NonNull<Page> {
        page_at(self.bytes, self.size as usize)
    }
}

/// A page that others may be changing. Nothing read from it means anything before [`validate`](Self::validate)
/// has said so; until then only `Copy` data may leave, and it must be used as if it were random.
#[derive(Clone, Copy)]
pub struct OptimisticPage<'a> {
    place: Place<'a>,
    version: Version,
}

/// A page that nobody changes meanwhile.
pub struct SharedPage<'a> {
    place: Place<'a>,
}

/// What an exclusive holder has done to its page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Nothing.
    Unchanged,
    /// Created and not yet written: reads as zeros; the frame still holds what the page was before.
    Recreated,
    /// Created in a frame that holds no page yet.
    New,
    /// Changed, with no log record yet.
    Changed,
    /// Changed, and all changes are stamped.
    Stamped,
}

/// A page that nobody else sees.
pub struct ExclusivePage<'a> {
    place: Place<'a>,
    content: Content,
    /// The page's LSN before it was stamped.
    before: Lsn,
}

impl<'a> OptimisticPage<'a> {
    pub(crate) fn new(place: Place<'a>, version: Version) -> Self {
        OptimisticPage { place, version }
    }

    /// The page's id: known, not read.
    pub fn id(&self) -> PageId {
        self.place.id
    }

    /// Whether everything read so far is one consistent state of the page.
    #[inline]
    #[must_use]
    pub fn validate(&self) -> bool {
        self.place.entry.latch.validate(self.version)
    }

    /// The same state of the page under a shared latch; `None` if it has changed.
    #[inline]
    #[must_use]
    pub fn upgrade_shared(&self) -> Option<SharedPage<'a>> {
        let place = self.place;
        place.entry.latch.upgrade_shared(self.version).then(|| SharedPage { place })
    }

    /// The same state of the page under the exclusive latch; `None` if it has changed.
    #[inline]
    #[must_use]
    pub fn upgrade_exclusive(&self) -> Option<ExclusivePage<'a>> {
        let place = self.place;
        place.entry.latch.upgrade_exclusive(self.version).then(|| ExclusivePage::existing(place))
    }

    #[inline]
    fn racy(&self) -> RacyBytes {
        // SAFETY: frames are page-aligned and live as long as the pool, which the space borrowed by `self` keeps.
        unsafe { RacyBytes::new(self.place.bytes, self.place.size as usize) }
    }
}

impl PageRead for OptimisticPage<'_> {
    #[inline]
    fn reader(&self) -> impl PageRead + Copy {
        self.racy()
    }

    #[inline]
    fn size(&self) -> usize {
        self.place.size as usize
    }

    #[inline]
    fn u8_at(&self, offset: usize) -> u8 {
        self.racy().u8_at(offset)
    }

    #[inline]
    fn u16_at(&self, offset: usize) -> u16 {
        self.racy().u16_at(offset)
    }

    #[inline]
    fn u32_at(&self, offset: usize) -> u32 {
        self.racy().u32_at(offset)
    }

    #[inline]
    fn u64_at(&self, offset: usize) -> u64 {
        self.racy().u64_at(offset)
    }

    fn copy(&self, offset: usize, out: &mut [u8]) {
        self.racy().copy_to(offset, out);
    }

    #[inline]
    fn compare(&self, offset: usize, len: usize, key: &[u8]) -> Ordering {
        self.racy().compare_with(offset, len, key)
    }
}

thread_local! {
    /// Guards of this thread on pages in frames that hold nothing yet. Guards stay with their thread.
    static NEW_PAGES: Cell<usize> = const { Cell::new(0) };
}

/// How many frames this thread holds that it gives back if it has to wait.
pub(crate) fn new_pages() -> usize {
    NEW_PAGES.with(Cell::get)
}

fn no_longer_new() {
    NEW_PAGES.with(|held| held.set(held.get() - 1));
}

impl<'a> SharedPage<'a> {
    /// The caller has taken the shared latch of `place`.
    pub(crate) fn new(place: Place<'a>) -> Self {
        SharedPage { place }
    }

    /// The page's id.
    pub fn id(&self) -> PageId {
        self.place.id
    }
}

impl Deref for SharedPage<'_> {
    type Target = Page;

    #[inline]
    fn deref(&self) -> &Page {
        // SAFETY: a frame is an aligned page of initialised bytes that lives as long as the pool; the shared latch
        // keeps every `&mut Page` to it away while `self` lives.
        unsafe { self.place.page().as_ref() }
    }
}

impl Drop for SharedPage<'_> {
    #[inline]
    fn drop(&mut self) {
        self.place.entry.latch.unlock_shared();
    }
}

impl<'a> ExclusivePage<'a> {
    /// The caller has taken the exclusive latch of `place`, a page in memory.
    pub(crate) fn existing(place: Place<'a>) -> Self {
        ExclusivePage { place, content: Content::Unchanged, before: Lsn::ZERO }
    }

    /// As [`existing`](Self::existing), for a page whose content is to be forgotten.
    pub(crate) fn recreated(place: Place<'a>) -> Self {
        ExclusivePage { place, content: Content::Recreated, before: Lsn::ZERO }
    }

    /// The content of a page that nothing was done to is to be forgotten.
    pub(crate) fn recreate(mut self) -> Self {
        assert!(self.content == Content::Unchanged, "what was changed is not forgotten");
        self.content = Content::Recreated;
        self
    }

    /// As [`existing`](Self::existing), for a page in a frame that holds nothing yet.
    pub(crate) fn new(place: Place<'a>) -> Self {
        NEW_PAGES.with(|held| held.set(held.get() + 1));
        ExclusivePage { place, content: Content::New, before: Lsn::ZERO }
    }

    /// The page's id.
    pub fn id(&self) -> PageId {
        self.place.id
    }

    /// Every change made so far is described by the log record at `range`: the page's LSN becomes its end, and the page
    /// is dirty from its start on. To be called before the record is linked, so that no checkpoint can pass it.
    pub fn stamp(&mut self, range: LsnRange) {
        self.before = self.page_lsn();
        self.deref_mut().set_page_lsn(range.end);
        self.content = Content::Stamped;
        let core = self.place.space.core();
        if core.frames.make_dirty(self.place.frame, range.start) {
            core.log.register_dirty(range.start);
        }
        metrics::BUFFER_POOL_WRITE_REQUESTS.increment();
    }

    /// Every change made so far is to a page of a scratch space, of which no log record tells.
    ///
    /// # Panics
    /// If the space is none.
    pub fn stamp_scratch(&mut self) {
        let space = self.place.space;
        assert!(space.is_scratch(), "a change of page {} has a log record", self.place.id);
        self.content = Content::Stamped;
        space.core().frames.make_scratch_dirty(self.place.frame);
        metrics::BUFFER_POOL_WRITE_REQUESTS.increment();
    }

    /// Whether it is of use to the pool to [know](Self::record) what the log record at `range` has done to
    /// the page, which has been stamped with it.
    #[inline]
    pub fn is_recorded(&self, range: LsnRange) -> bool {
        let keeping = &self.place.space.core().frames.keeping;
        keeping.is_recording() && keeping.is_recorded(self.place.frame, self.is_first(range))
    }

    /// Tells the pool what the log record at `range` has done to the page, which has been stamped with it:
    /// bytes that [`BufferConfig::apply`](crate::BufferConfig::apply) understands, to be applied to the page
    /// as it was before. `None` if that cannot be done.
    pub fn record(&mut self, range: LsnRange, ops: Option<&[u8]>) {
        assert!(self.content == Content::Stamped, "a change is stamped before it is recorded");
        let (frame, is_first) = (self.place.frame, self.is_first(range));
        self.place.space.core().frames.keeping.record(frame, is_first, self.before, range.end, ops);
    }

    /// Whether the page was clean before it was stamped with `range`.
    fn is_first(&self, range: LsnRange) -> bool {
        self.place.space.core().frames.oldest(self.place.frame) == range.start.0
    }

    /// Takes the page out of memory, with whatever was done to it under this latch, for which there is no log record: what is on
    /// disk stays as it is, and no checkpoint passes the changes before, if there were any that are not.
    pub fn discard(self) {
        let Place { space, entry, frame, .. } = self.place;
        if self.content == Content::New {
            no_longer_new();
        }
        std::mem::forget(self);
        space.abandon(entry, frame);
    }

    #[cold]
    fn format(&mut self) {
        if self.content == Content::New {
            no_longer_new();
            metrics::BUFFER_PAGES_CREATED.increment();
            self.place.space.gets_content(self.place.id.page);
        }
        let id = self.place.id;
        self.page_mut().format(id);
    }

    fn page_mut(&mut self) -> &mut Page {
        // SAFETY: a frame is an aligned page of initialised bytes that lives as long as the pool; the exclusive latch
        // keeps every other `&Page` and `&mut Page` to it away while `self` lives.
        unsafe { self.place.page().as_mut() }
    }
}

impl Deref for ExclusivePage<'_> {
    type Target = Page;

    #[inline]
    fn deref(&self) -> &Page {
        if matches!(self.content, Content::Recreated | Content::New) {
            return Page::zeros(self.place.size as usize);
        }
        // SAFETY: as in `page_mut`, with `&self`.
        unsafe { self.place.page().as_ref() }
    }
}

impl DerefMut for ExclusivePage<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Page {
        if matches!(self.content, Content::Recreated | Content::New) {
            self.format();
        }
        self.content = Content::Changed;
        self.page_mut()
    }
}

impl Drop for ExclusivePage<'_> {
    #[inline]
    fn drop(&mut self) {
        let entry = self.place.entry;
        match self.content {
            Content::Unchanged | Content::Recreated => entry.latch.unlock_exclusive(false),
            Content::Stamped => entry.latch.unlock_exclusive(true),
            Content::New => {
                no_longer_new();
                self.place.space.abandon(entry, self.place.frame);
            }
            Content::Changed => {
                entry.latch.unlock_exclusive(true);
                assert!(
                    std::thread::panicking(),
                    "page {} was changed and its latch given back without a log record",
                    self.place.id
                );
            }
        }
    }
}
