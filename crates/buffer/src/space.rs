//! A space: one file of pages, and the ways to a page.
//!
//! A hit is arithmetic: bounds check, page table entry, latch. Everything else is here:
//!
//! ```text
//! miss:    frame from the free list ─► read job on an I/O thread ─► verify ─► publish: X latch, frame index, version+1
//!          every caller meanwhile gets the same event and is called again after it
//! failure: the error is kept for as many calls as were waiting, but not for long, then forgotten: the next call reads again
//! ```
//!
//! A file grows by room that is taken from the disk before anything is written, so that a full disk is told
//! to the caller that wants a page and not to the cleaner. Of a space that gives the room of unused pages
//! back to the disk the same holds for taking them into use again ([`Space::ensure_backed`]).
//!
//! # Why it is right
//!
//! `slow` (a mutex per space) guards which reads are under way and whether the space is attached. A frame
//! enters the page table only under it, so a page is never read twice at once, never read while it is
//! created, and never enters a detached space. Under `slow` only the latch of a page that is *not* in memory
//! is taken: such a latch is held by others for a few instructions (they find no frame, or have just removed
//! it) and never while they want `slow`, so that this cannot deadlock. No thread waits for I/O under it.
//!
//! A page's image on disk is current whenever the page is not in memory, because only clean pages leave
//! ([`cleaner`](crate::cleaner)), or, with changes that are kept in memory (`kept`), becomes so when it
//! is read; a read that begins after the frame index was found empty therefore reads the newest.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use palisade_base::{Attempt, Blocked, Event, PageId, PageNo, SpaceId};
use palisade_io::File;
use parking_lot::{Mutex, RwLock};
use smallvec::SmallVec;

use crate::error::{Corruption, Error};
use crate::guard::{ExclusivePage, OptimisticPage, Place, SharedPage};
use crate::hints::Hints;
use crate::kept::KeptPages;
use crate::packing::Packing;
use crate::page::Page;
use crate::page_size::PageSize;
use crate::places::PlaceStore;
use crate::planted::{Planted, makes};
use crate::pool::Core;
use crate::sink::PageSink;
use crate::stored::Codec;
use crate::table::{Entry, LOADED, PageTable};
use crate::{metrics, requests};

mod ahead;
mod keeping;
mod promises;
mod reading;

pub(crate) use ahead::EXTENT;
pub use ahead::ReadAhead;

/// A file begins with so many bytes and is doubled ...
const FIRST_BYTES: u64 = 64 << 10;
/// ... until it has so many; from then on an extension adds at least as many ...
const MIN_EXTENSION: u64 = 1 << 20;
/// ... and, as the file grows, 1/32 of it up to this many.
const MAX_EXTENSION: u64 = 16 << 20;

/// So long a failure is kept for those who have waited. Some may have given up, and others that come later
/// must not be told of it.
const FAILURE_KEPT: Duration = Duration::from_secs(10);

/// Pages to be read, and the frames they are read into.
type Run = SmallVec<[(PageNo, u32); 1]>;

/// How a space's pages are compressed.
#[derive(Default)]
struct Chosen {
    packing: Option<Arc<Packing>>,
    /// Whether [`Space::set_packing`] has said so; else it is what pages that were read have shown.
    is_said: bool,
}

/// What becomes of a space's pages when the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The log tells of every change.
    Logged,
    /// Nothing does, and nothing is left.
    Scratch,
}

/// One file of pages, attached to the pool.
pub struct Space {
    id: SpaceId,
    durability: Durability,
    table: PageTable,
    /// Pages the file has room for; 0 once detached.
    pages: AtomicU32,
    /// Pages from here on have never had content.
    unused_from: AtomicU32,
    /// Whether `empty` may have members.
    has_empty: AtomicBool,
    /// Whether there may be pages below the end of the file that have no room on the disk.
    has_holes: AtomicBool,
    file: Arc<dyn File>,
    /// Where its pages are, if that is not by their numbers.
    places: Option<Arc<PlaceStore>>,
    /// Writes its pages.
    sink: RwLock<Arc<dyn PageSink>>,
    /// Whether and how its pages are compressed when they are written.
    packing: RwLock<Chosen>,
    /// Pages that are kept, those included that are being read.
    kept: AtomicUsize,
    core: Arc<Core>,
    slow: Mutex<Slow>,
    this: Weak<Space>,
}

#[derive(Default)]
struct Slow {
    detached: bool,
    reads: HashMap<PageNo, Pending>,
    extension: Option<Pending>,
    /// Runs of pages that are being given room again, by their first page; and those that have it since they
    /// were asked about.
    backing: HashMap<PageNo, Pending>,
    backed: HashSet<PageNo>,
    /// Pages that were read in order to be created, and hold nothing that is whole.
    empty: HashSet<PageNo>,
    /// Pages that are on disk but for changes in memory.
    kept: KeptPages,
    watch: ahead::Watch,
}

/// Something an I/O thread does or did for callers that will come again.
enum Pending {
    UnderWay { event: Event, callers: u32 },
    Failed { error: Error, callers: u32, at: Duration },
}

impl Pending {
    fn begin() -> (Self, Event) {
        let event = Event::new();
        (Pending::UnderWay { event: event.clone(), callers: 1 }, event)
    }

    /// Whether it is a failure that nobody is to be told of any more.
    fn is_over(&self, now: Duration) -> bool {
        match self {
            Pending::UnderWay { .. } => false,
            Pending::Failed { callers, at, .. } => *callers == 0 || now.saturating_sub(*at) > FAILURE_KEPT,
        }
    }

    /// What one more caller is told; nothing if it [is over](Self::is_over).
    fn ask(&mut self, now: Duration) -> Option<Blocked<Error>> {
        if self.is_over(now) {
            return None;
        }
        Some(match self {
            Pending::UnderWay { event, callers } => {
                *callers += 1;
                Blocked::Wait(event.clone())
            }
            Pending::Failed { error, callers, .. } => {
                *callers -= 1;
                Blocked::Error(error.clone())
            }
        })
    }
}

/// What one more caller is told of what is pending for pages from `first` on, if anything is.
fn ask(all: &mut HashMap<PageNo, Pending>, first: PageNo, now: Duration) -> Option<Blocked<Error>> {
    let pending = all.get_mut(&first)?;
    let answer = pending.ask(now);
    if pending.is_over(now) {
        all.remove(&first);
    }
    answer
}

/// The latch of a page is held for so long that its holder may want something that the caller holds: the
/// caller is to give that back and to come again.
#[cold]
fn come_again() -> Blocked<Error> {
    Blocked::yielding()
}

impl Space {
    pub(crate) fn new(
        id: SpaceId,
        file: Arc<dyn File>,
        (places, sink): (Option<Arc<PlaceStore>>, Arc<dyn PageSink>),
        durability: Durability,
        core: Arc<Core>,
    ) -> io::Result<Arc<Self>> {
        let pages = match &places {
            Some(places) => places.pages(),
            None => core.frames.memory.size().pages_in(file.len()?),
        };
        Ok(Arc::new_cyclic(|this| Space {
            id,
            durability,
            table: PageTable::new(),
            pages: AtomicU32::new(pages),
            unused_from: AtomicU32::new(pages),
            has_empty: AtomicBool::new(false),
            has_holes: AtomicBool::new(false),
            file,
            places,
            sink: RwLock::new(sink),
            packing: RwLock::default(),
            kept: AtomicUsize::new(0),
            core,
            slow: Mutex::default(),
            this: this.clone(),
        }))
    }

    /// The space's id.
    pub fn id(&self) -> SpaceId {
        self.id
    }

    /// Whether its pages are changed without log records, and are gone with the process; see
    /// [`BufferPool::attach_scratch`](crate::BufferPool::attach_scratch).
    #[inline]
    pub fn is_scratch(&self) -> bool {
        self.durability == Durability::Scratch
    }

    /// How many files it has open.
    pub(crate) fn open_files(&self) -> usize {
        1 + usize::from(self.places.is_some())
    }

    /// The file the pages live in.
    pub fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// Makes what is in its files durable, whichever process has written it: a process that was killed may
    /// have left it to the operating system, and recovery has relied on it.
    pub fn sync_found(&self) -> Result<(), Error> {
        if makes(Planted::FoundIsNotSynced) {
            return Ok(());
        }
        let synced = match &self.places {
            Some(places) => places.sync(),
            None => self.file.sync(),
        };
        synced.map_err(|source| Error::Sync { space: self.id, source: Arc::new(source) })
    }

    /// Where its pages are, if that is not by their numbers.
    pub fn places(&self) -> Option<&Arc<PlaceStore>> {
        self.places.as_ref()
    }

    /// What writes its pages.
    pub fn sink(&self) -> Arc<dyn PageSink> {
        self.sink.read().clone()
    }

    /// See [`BufferPool::set_sink`](crate::BufferPool::set_sink).
    pub(crate) fn set_sink(&self, sink: Arc<dyn PageSink>) {
        *self.sink.write() = sink;
    }

    /// How its pages are compressed when they are written; `None` if they are not.
    pub fn packing(&self) -> Option<Arc<Packing>> {
        self.packing.read().packing.clone()
    }

    /// Pages are compressed so from the next batch on: by a codec, at a level of zlib's if it has one of its
    /// own. What has been written before stays as it is.
    pub fn set_packing(&self, choice: Option<(Codec, Option<u8>)>) {
        let mut chosen = self.packing.write();
        chosen.is_said = true;
        if chosen.packing.as_ref().map(|packing| packing.choice()) != choice {
            chosen.packing = choice.map(|(codec, level)| Arc::new(Packing::new(codec, level)));
        }
    }

    /// A page that was stored by `codec` has been read. Recovery writes pages before anything says how: they
    /// stay compressed as they were.
    fn was_stored_by(&self, codec: Codec) {
        if self.packing.read().is_said {
            return;
        }
        let mut chosen = self.packing.write();
        if !chosen.is_said && chosen.packing.is_none() {
            chosen.packing = Some(Arc::new(Packing::new(codec, None)));
        }
    }

    /// The places of pages have got room on the disk, or lost it.
    fn room_changed(&self, first: PageNo, count: u32) {
        if let Some(packing) = &self.packing.read().packing {
            packing.forget(first, count);
        }
    }

    /// Bytes of a page.
    #[inline]
    pub fn page_size(&self) -> PageSize {
        self.core.frames.memory.size()
    }

    /// Pages the file has room for.
    pub fn pages(&self) -> u32 {
        self.pages.load(Ordering::Acquire)
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    /// The id of a page of this space.
    pub fn page_id(&self, page: PageNo) -> PageId {
        PageId { space: self.id, page }
    }

    /// The page without a latch, to be validated. Waits for: the page to be read.
    #[inline]
    pub fn optimistic(&self, page: PageNo) -> Attempt<OptimisticPage<'_>, Error> {
        let entry = self.entry(page)?;
        requests::count();
        loop {
            let version = entry.latch.optimistic().ok_or_else(come_again)?;
            if let Some(frame) = entry.frame() {
                if entry.touch() {
                    self.reach_mark(page);
                }
                return Ok(OptimisticPage::new(self.place(entry, page, frame), version));
            }
            self.miss(page, entry)?;
        }
    }

    /// The page under a shared latch. Waits for: the page to be read.
    #[inline]
    pub fn shared(&self, page: PageNo) -> Attempt<SharedPage<'_>, Error> {
        let entry = self.entry(page)?;
        requests::count();
        loop {
            if !entry.latch.lock_shared_patiently() {
                return Err(come_again());
            }
            if let Some(frame) = entry.frame() {
                if entry.touch() {
                    self.reach_mark(page);
                }
                return Ok(SharedPage::new(self.place(entry, page, frame)));
            }
            entry.latch.unlock_shared();
            self.miss(page, entry)?;
        }
    }

    /// The page under a shared latch, if it is in memory and not being changed. Waits for nothing.
    pub fn shared_if_here(&self, page: PageNo) -> Option<SharedPage<'_>> {
        let entry =
            if page.0 < self.pages.load(Ordering::Acquire) { self.known_entry(page)? } else { return None };
        if !entry.latch.try_lock_shared() {
            return None;
        }
        let Some(frame) = entry.frame() else {
            entry.latch.unlock_shared();
            return None;
        };
        requests::count();
        if entry.touch() {
            self.reach_mark(page);
        }
        Some(SharedPage::new(self.place(entry, page, frame)))
    }

    /// Guesses of where keys are, in all spaces of the pool.
    #[inline]
    pub fn hints(&self) -> &Hints {
        &self.core.hints
    }

    /// The page under the exclusive latch. Waits for: the page to be read.
    #[inline]
    pub fn exclusive(&self, page: PageNo) -> Attempt<ExclusivePage<'_>, Error> {
        let entry = self.entry(page)?;
        requests::count();
        loop {
            if !entry.latch.lock_exclusive_patiently() {
                return Err(come_again());
            }
            if let Some(frame) = entry.frame() {
                if entry.touch() {
                    self.reach_mark(page);
                }
                return Ok(ExclusivePage::existing(self.place(entry, page, frame)));
            }
            entry.latch.unlock_exclusive(false);
            self.miss(page, entry)?;
        }
    }

    /// The page under the exclusive latch, to be written anew: it reads as zeros, whatever it was before, and
    /// is not read from disk. Nothing happens to it if the guard is dropped before the first change. Waits
    /// for: a free frame.
    pub fn create(&self, page: PageNo) -> Attempt<ExclusivePage<'_>, Error> {
        let entry = self.entry(page)?;
        requests::count();
        loop {
            if !entry.latch.lock_exclusive_patiently() {
                return Err(come_again());
            }
            if let Some(frame) = entry.frame() {
                if entry.touch() {
                    self.reach_mark(page);
                }
                return Ok(ExclusivePage::recreated(self.place(entry, page, frame)));
            }
            entry.latch.unlock_exclusive(false);

            let mut slow = self.slow.lock();
            self.check_attached(&slow)?;
            match slow.reads.get(&page) {
                Some(Pending::UnderWay { event, .. }) => return Err(Blocked::Wait(event.clone())),
                // Of a page that is kept, the failure is the caller's: see below.
                Some(Pending::Failed { .. }) if !slow.kept.contains(page) => drop(slow.reads.remove(&page)),
                Some(Pending::Failed { .. }) | None => {}
            }
            if entry.frame().is_some() {
                continue;
            }
            if slow.kept.contains(page) {
                // Its mark must become the frame's, and its changes must still be there if nothing is done.
                drop(slow);
                self.miss(page, entry)?;
                continue;
            }
            let frame = self.core.take_frame().map_err(Blocked::Wait)?;
            entry.latch.lock_exclusive();
            self.core.frames.set_owner(frame, Some(self.page_id(page)));
            entry.set_frame(Some(frame));
            entry.set_heat(LOADED);
            return Ok(ExclusivePage::new(self.place(entry, page, frame)));
        }
    }

    /// As [`create`](Self::create), for a page that is said to be in no use: `None` if what it holds is not
    /// what `is_unused` expects. Waits for: a free frame; the page to be read, if it may ever have been
    /// written; room for it, if its space has holes.
    pub fn create_unused(
        &self,
        page: PageNo,
        is_unused: impl Fn(&Page) -> bool,
    ) -> Attempt<Option<ExclusivePage<'_>>, Error> {
        self.promise_run(page)?;
        if self.is_known_empty(page) {
            return self.create(page).map(Some);
        }
        match self.exclusive(page) {
            Ok(present) => Ok(is_unused(&present).then(|| present.recreate())),
            Err(blocked) => match self.is_empty(page, blocked)? {
                true => self.create(page).map(Some),
                false => Ok(None),
            },
        }
    }

    /// Whether a page has never had content, or none was found there.
    fn is_known_empty(&self, page: PageNo) -> bool {
        page.0 >= self.unused_from.load(Ordering::Acquire)
            || self.is_stored_nowhere(page)
            || self.has_empty.load(Ordering::Acquire) && self.slow.lock().empty.contains(&page)
    }

    /// Of a page that cannot be had: whether it holds nothing that is whole. That is remembered, because such
    /// a page does not stay in memory, and a caller that wants several would have them read by turns without
    /// end.
    fn is_empty(&self, page: PageNo, blocked: Blocked<Error>) -> Attempt<bool, Error> {
        match blocked {
            Blocked::Error(Error::Corrupted {
                reason: Corruption::Checksum { .. } | Corruption::WrongPage { .. } | Corruption::Zeroed,
                ..
            }) => {
                self.slow.lock().empty.insert(page);
                self.has_empty.store(true, Ordering::Release);
                Ok(true)
            }
            Blocked::Error(Error::Corrupted { reason: Corruption::Content(_), .. }) => Ok(false),
            blocked => Err(blocked),
        }
    }

    /// A page that was created gets its first content.
    pub(crate) fn gets_content(&self, page: PageNo) {
        self.places.iter().for_each(|places| places.expect(page));
        self.unused_from.fetch_max(page.0.saturating_add(1), Ordering::AcqRel);
        if self.has_empty.load(Ordering::Acquire) {
            self.slow.lock().empty.remove(&page);
        }
    }

    /// Makes room for at least `pages` pages in the file. Waits for: the file to be extended.
    pub fn ensure_allocated(&self, pages: u32) -> Attempt<(), Error> {
        if pages <= self.pages() {
            return Ok(());
        }
        let mut slow = self.slow.lock();
        self.check_attached(&slow)?;
        if pages <= self.pages() {
            return Ok(());
        }
        if let Some(answer) = slow.extension.as_mut().and_then(|extension| extension.ask(self.now())) {
            return Err(answer);
        }
        let (pending, event) = Pending::begin();
        slow.extension = Some(pending);
        drop(slow);
        let this = self.this();
        self.core.io.submit(move || this.extend(pages));
        Err(Blocked::Wait(event))
    }

    /// Room of unused pages is given back to the disk, or was in an earlier life:
    /// [`ensure_backed`](Self::ensure_backed) is to look after it.
    pub fn expect_holes(&self) {
        assert!(self.places.is_none(), "what a free page's room is, the space's places say");
        self.has_holes.store(true, Ordering::Relaxed);
    }

    /// No session uses the pages from `first` on now: [`give_back`](Self::give_back) will only do something
    /// if that stays so.
    pub fn note_unused(&self, first: PageNo) {
        self.slow.lock().backed.remove(&first);
    }

    /// Gives the room of `count` pages from `first` on back to the disk, unless somebody has
    /// [asked](Self::ensure_backed) for it since they were noted [unused](Self::note_unused). `latched` keeps
    /// others from asking; it is dropped as soon as they would have to wait. The pages then read as zeros, so
    /// the log must have nothing to do with them that does not begin by formatting them. Blocks: for the file
    /// system.
    pub fn give_back<L>(&self, first: PageNo, count: u32, latched: L) -> Result<(), Error> {
        assert!(self.has_holes.load(Ordering::Relaxed), "whoever is to look after holes knows of them");
        let mut slow = self.slow.lock();
        if slow.backed.contains(&first) || slow.backing.contains_key(&first) {
            return Ok(());
        }
        let event = Event::new();
        slow.backing.insert(first, Pending::UnderWay { event: event.clone(), callers: 0 });
        drop(slow);
        drop(latched);
        let (offset, len) = self.byte_range(first, count);
        let punched = self.file.punch_hole(offset, len);
        self.room_changed(first, count);
        self.slow.lock().backing.remove(&first);
        event.complete();
        punched.map_err(|error| Error::GiveBack { space: self.id, source: Arc::new(error) })
    }

    /// Makes sure that `count` pages from `first` on, within the file, have room on the disk; always asked
    /// about in the same runs. Waits for: that.
    pub fn ensure_backed(&self, first: PageNo, count: u32) -> Attempt<(), Error> {
        if !self.has_holes.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut slow = self.slow.lock();
        self.check_attached(&slow)?;
        if slow.backed.contains(&first) {
            return Ok(());
        }
        if let Some(answer) = ask(&mut slow.backing, first, self.now()) {
            return Err(answer);
        }
        let (pending, event) = Pending::begin();
        slow.backing.insert(first, pending);
        drop(slow);
        let this = self.this();
        self.core.io.submit(move || this.back(first, count));
        Err(Blocked::Wait(event))
    }

    /// Takes room for pages, on an I/O thread.
    fn back(&self, first: PageNo, count: u32) {
        let (offset, len) = self.byte_range(first, count);
        let outcome = self.file.allocate(offset, len);
        self.room_changed(first, count);
        let mut slow = self.slow.lock();
        let Some(Pending::UnderWay { event, callers }) = slow.backing.remove(&first) else {
            panic!("pages are given room only while somebody waits for it");
        };
        match outcome {
            Ok(()) => drop(slow.backed.insert(first)),
            Err(error) => {
                let error = self.no_room(first.0 + count, error);
                slow.backing.insert(first, Pending::Failed { error, callers, at: self.now() });
            }
        }
        drop(slow);
        event.complete();
    }

    /// Why the file cannot have room for `pages` pages.
    fn no_room(&self, pages: u32, error: io::Error) -> Error {
        match is_no_space(&error) {
            true => Error::NoSpace { space: self.id, pages },
            false => Error::Extend { space: self.id, source: Arc::new(error) },
        }
    }

    #[inline]
    fn entry(&self, page: PageNo) -> Result<&Entry, Error> {
        let pages = self.pages.load(Ordering::Acquire);
        if page.0 < pages { Ok(self.table.entry(page)) } else { Err(self.no_such_page(page, pages)) }
    }

    #[cold]
    fn no_such_page(&self, page: PageNo, pages: u32) -> Error {
        if self.slow.lock().detached {
            return Error::Detached { space: self.id };
        }
        Error::Corrupted { page: self.page_id(page), reason: Corruption::BeyondEnd { pages } }
    }

    /// The entry of a page; `None` if no page near it was ever asked for.
    pub(crate) fn known_entry(&self, page: PageNo) -> Option<&Entry> {
        self.table.known_entry(page)
    }

    /// The entry of a page that a frame claims to hold.
    pub(crate) fn owned_entry(&self, page: PageNo) -> &Entry {
        self.table.entry(page)
    }

    #[inline]
    pub(crate) fn place<'a>(&'a self, entry: &'a Entry, page: PageNo, frame: u32) -> Place<'a> {
        Place {
            space: self,
            entry,
            id: self.page_id(page),
            frame,
            size: self.page_size().bytes() as u32,
            bytes: self.core.frames.memory.frame(frame),
        }
    }

    /// Where pages are in their file: offset and length.
    fn byte_range(&self, first: PageNo, count: u32) -> (u64, u64) {
        (self.page_size().offset(first), self.page_size().bytes_of(count.into()))
    }

    fn now(&self) -> Duration {
        self.core.clock.monotonic()
    }

    fn this(&self) -> Arc<Space> {
        self.this.upgrade().expect("a borrowed space is alive")
    }

    fn check_attached(&self, slow: &Slow) -> Result<(), Error> {
        if slow.detached { Err(Error::Detached { space: self.id }) } else { Ok(()) }
    }

    /// The page is not in memory: has it read, and says what to wait for. `Ok` if it has come meanwhile.
    #[cold]
    fn miss(&self, page: PageNo, entry: &Entry) -> Attempt<(), Error> {
        let mut slow = self.slow.lock();
        self.check_attached(&slow)?;
        if let Some(answer) = ask(&mut slow.reads, page, self.now()) {
            return Err(answer);
        }
        if entry.frame().is_some() {
            return Ok(());
        }
        let frame = self.core.take_frame().map_err(Blocked::Wait)?;
        let (pending, event) = Pending::begin();
        slow.reads.insert(page, pending);
        let more = self.watch_miss(&mut slow, page);
        drop(slow);
        metrics::BUFFER_POOL_READS.increment();
        self.read(&[(page, frame)]);
        self.read_more(more);
        Err(Blocked::Wait(event))
    }

    /// Whether the page is in memory now.
    pub fn has(&self, page: PageNo) -> bool {
        self.entry(page).is_ok_and(|entry| entry.frame().is_some())
    }

    /// Whether the page is in memory, or a read of it is under way. What the answer is may have changed when
    /// the caller looks at it.
    pub fn is_coming(&self, page: PageNo) -> bool {
        self.has(page) || self.read_under_way(page).is_some()
    }

    /// What a read of `page` that is under way ends with.
    pub(crate) fn read_under_way(&self, page: PageNo) -> Option<Event> {
        match self.slow.lock().reads.get(&page)? {
            Pending::UnderWay { event, .. } => Some(event.clone()),
            Pending::Failed { .. } => None,
        }
    }

    /// Takes a page out of memory again that was created and never written, or whose changes no reader must
    /// see; the caller holds its exclusive latch. If it was dirty before, the log keeps that mark for ever:
    /// those changes are only there now.
    #[cold]
    pub(crate) fn abandon(&self, entry: &Entry, frame: u32) {
        let frames = &self.core.frames;
        let _mark = frames.take_dirty(frame);
        entry.set_frame(None);
        frames.set_owner(frame, None);
        let is_being_written = frames.discard(frame);
        entry.latch.unlock_exclusive(true);
        if !is_being_written {
            frames.give_free(frame);
        }
    }

    /// Extends the file, on an I/O thread.
    fn extend(&self, pages: u32) {
        let have = self.pages();
        let wanted = pages.max(have.saturating_add(extension(have, self.page_size())));
        let outcome = match self.allocate(wanted) {
            // A step does not fit; what was asked for may.
            Err(error) if is_no_space(&error) && wanted > pages => self.allocate(pages),
            outcome => outcome,
        };
        let mut slow = self.slow.lock();
        let Some(Pending::UnderWay { event, callers }) = slow.extension.take() else {
            panic!("a file is extended only while its extension is under way");
        };
        match outcome {
            Ok(now) => {
                if !slow.detached {
                    self.pages.store(now, Ordering::Release);
                }
            }
            Err(error) => {
                let error = self.no_room(pages, error);
                slow.extension = Some(Pending::Failed { error, callers, at: self.now() });
            }
        }
        drop(slow);
        event.complete();
    }

    fn allocate(&self, pages: u32) -> io::Result<u32> {
        if let Some(places) = &self.places {
            return places.extend(pages, self.packing.read().packing.is_some());
        }
        let (have, want) = (self.file.len()?, self.page_size().bytes_of(pages.into()));
        if want > have {
            self.file.allocate(have, want - have)?;
        }
        Ok(self.page_size().pages_in(self.file.len()?))
    }

    pub(crate) fn is_detached(&self) -> bool {
        self.slow.lock().detached
    }

    /// From now on no page enters memory, and every access fails. Pages in memory are the caller's to drop:
    /// their numbers are below what it gives.
    pub(crate) fn mark_detached(&self) -> u32 {
        let mut slow = self.slow.lock();
        slow.detached = true;
        self.pages.swap(0, Ordering::AcqRel)
    }
}

/// Pages that a file of `have` pages is extended by, unless more are asked for.
fn extension(have: u32, size: PageSize) -> u32 {
    let bytes = size.bytes_of(have.into());
    size.pages_in(match bytes {
        0..MIN_EXTENSION => bytes.max(FIRST_BYTES),
        _ => (bytes / 32).clamp(MIN_EXTENSION, MAX_EXTENSION),
    })
}

pub(crate) fn is_no_space(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}
