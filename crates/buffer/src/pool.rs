//! The pool: spaces attached to frames and a log.
//!
//! ```text
//!  BufferPool ── spaces ──► Space (page table, file, sink) ──┐
//!      │                                                     ▼
//!      ├── cleaners ────────────────────────────────────► Core (frames, log, I/O threads)
//! ```
//!
//! # Detaching a space
//!
//! [`BufferPool::detach_space`] is for tables that were dropped: their pages leave memory unwritten. First
//! the space is marked, under its mutex: from then on no read is published and no page created. Then each of
//! its pages that is in memory is taken out of the page table under the page's exclusive latch; a dirty one
//! is unregistered from the log. They are looked for in the page table, or in all frames where those are
//! fewer: dropping a small table costs the same whatever the pool's size. A frame whose copy a cleaner is
//! writing is freed by that cleaner, and so is not given to another page while the cleaner still looks after
//! it; the write itself goes to a file that no thread will read. Spaces' ids are never reused.
//!
//! # Lock order
//!
//! the state of a resize, then the map of spaces, then a space's mutex, then the free list. Page latches: see
//! [`guard`].

use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use palisade_base::clock::{Clock, SystemClock};
use palisade_base::{Event, Lsn, PageNo, SpaceId};
use palisade_io::{File, IoPool};
use palisade_log::Log;
use parking_lot::{Condvar, Mutex, RwLock};

use crate::cleaner::{Cleaner, Coordinator};
use crate::error::Error;
use crate::flush_list::FlushList;
use crate::frames::{Frames, SCRATCH};
use crate::hints::Hints;
use crate::kept::ApplyChanges;
use crate::pacing::FlushSettings;
use crate::page::Page;
use crate::page_size::PageSize;
use crate::places::{OutOfPlace, PlaceStore};
use crate::resize::Resize;
use crate::sink::{PageSink, Unsynced};
use crate::space::{Durability, ReadAhead, Space};
use crate::{guard, metrics, pacing, requests};

/// Between two attempts to write while the disk is full.
const DISK_FULL_PAUSE: Duration = Duration::from_millis(500);

/// Between two reports that the disk is full: one that is nearly so can be full again and again.
const FULL_DISK_REPORTS: Duration = Duration::from_secs(60);

/// Whether it has been reported that the disk is full, and not yet that it has room again.
enum FullDiskTold {
    Yes,
    No { not_before: Duration },
}

/// What is done when the disk has failed in a way after which nothing more may be written. Gets the reason.
pub type FatalHook = Arc<dyn Fn(&str) + Send + Sync>;

/// See [`BufferConfig::check`].
pub type PageCheck = fn(&Page) -> Result<(), &'static str>;

/// See [`BufferConfig::blank`].
pub type PageBlank = fn(&mut Page);

/// Settings of the pool.
#[derive(Clone)]
pub struct BufferConfig {
    /// Bytes of a page, of all spaces.
    pub page_size: PageSize,
    /// Frames: `innodb_buffer_pool_size` divided by the page size.
    pub frames: usize,
    /// Frames that it can be [resized](BufferPool::resize) to at most: addresses are set aside for so many.
    pub most_frames: usize,
    /// Frames to keep free (`innodb_lru_scan_depth`); at most a quarter of all.
    pub lru_scan_depth: u32,
    /// Cleaner threads (`innodb_page_cleaners`): one writes what the log wants written, the others keep
    /// frames free and help it when it is behind.
    pub page_cleaners: usize,
    /// When pages are written back.
    pub flushing: FlushSettings,
    /// When pages are read that no session has asked for yet.
    pub read_ahead: ReadAhead,
    /// Looks at every page that was read, its checksum being right: whether what is in it can be. What it
    /// lets through may be wrong, but must be such that no operation of the floors above breaks their own
    /// invariants on it.
    pub check: PageCheck,
    /// Zeros what a page does not use, in the copy of one that is about to be compressed. What is read again
    /// must mean the same as the page in memory.
    pub blank: PageBlank,
    /// Applies what was [recorded](crate::ExclusivePage::record) of changes of a page; `None` if no change is
    /// ever kept.
    pub apply: Option<ApplyChanges>,
    /// Percent of the pool for changes of pages that have left memory unwritten.
    pub kept_share: u32,
    /// Whether look-ups guess where keys are (`innodb_adaptive_hash_index`).
    pub has_hints: bool,
    /// In how many parts the guesses are judged.
    pub hint_parts: usize,
    /// Pages that a cleaner writes in one batch at most.
    pub batch_pages: usize,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// What to do when a write or fsync fails. Aborts the process unless a simulation replaces it.
    pub on_fatal: FatalHook,
}

impl BufferConfig {
    /// MySQL's defaults, for a pool of `frames` frames.
    pub fn new(frames: usize) -> Self {
        BufferConfig {
            page_size: PageSize::DEFAULT,
            frames,
            most_frames: frames,
            lru_scan_depth: 1024,
            page_cleaners: 4,
            flushing: FlushSettings::default(),
            read_ahead: ReadAhead::default(),
            check: |_| Ok(()),
            blank: |_| {},
            apply: None,
            kept_share: 0,
            has_hints: false,
            hint_parts: 8,
            batch_pages: 128,
            clock: Arc::new(SystemClock::default()),
            on_fatal: Arc::new(abort),
        }
    }
}

/// The last words go to standard error; if even that fails, there is nobody left to tell.
fn abort(reason: &str) {
    let words = format!("palisade: {reason}; aborting, because what is on disk is no longer known\n");
    let _ = std::io::stderr().write_all(words.as_bytes());
    std::process::abort();
}

/// MySQL's default of `innodb_compression_level`.
const DEFAULT_COMPRESSION_LEVEL: u32 = 6;

/// Settings that may change while the server runs.
pub(crate) struct Tuning {
    pub(crate) lru_scan_depth: AtomicU32,
    flushing: Mutex<FlushSettings>,
    read_ahead_threshold: AtomicU32,
    is_random_read_ahead: AtomicBool,
    compression_level: AtomicU32,
}

impl Tuning {
    fn new(config: &BufferConfig) -> Tuning {
        Tuning {
            lru_scan_depth: AtomicU32::new(config.lru_scan_depth),
            flushing: Mutex::new(config.flushing),
            read_ahead_threshold: AtomicU32::new(config.read_ahead.threshold),
            is_random_read_ahead: AtomicBool::new(config.read_ahead.is_random),
            compression_level: AtomicU32::new(DEFAULT_COMPRESSION_LEVEL),
        }
    }

    /// Level at which zlib compresses pages.
    pub(crate) fn compression_level(&self) -> u8 {
        self.compression_level.load(Ordering::Relaxed) as u8
    }

    pub(crate) fn flushing(&self) -> FlushSettings {
        *self.flushing.lock()
    }

    pub(crate) fn read_ahead(&self) -> ReadAhead {
        ReadAhead {
            threshold: self.read_ahead_threshold.load(Ordering::Relaxed),
            is_random: self.is_random_read_ahead.load(Ordering::Relaxed),
        }
    }
}

/// What spaces and cleaners share.
pub(crate) struct Core {
    pub(crate) frames: Frames,
    pub(crate) log: Arc<Log>,
    pub(crate) io: Arc<IoPool>,
    pub(crate) check: PageCheck,
    pub(crate) blank: PageBlank,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tuning: Tuning,
    pub(crate) on_fatal: FatalHook,
    /// A write has failed: nothing is written any more.
    stopped: AtomicBool,
    /// Pages of batches that the disk is too full for.
    stuck: AtomicUsize,
    full_disk_told: Mutex<FullDiskTold>,
    /// Where the eviction sweep is.
    pub(crate) hand: AtomicUsize,
    wanted: Wanted,
    /// Guesses of where keys are.
    pub(crate) hints: Hints,
}

/// Wakes the cleaners when frames run short.
#[derive(Default)]
struct Wanted {
    /// Set while a call for frames has not been answered, so that calls cost nothing until it is.
    called: AtomicBool,
    ending: Mutex<bool>,
    /// Frames were called for, or the pool shuts down.
    changed: Condvar,
    /// The pool shuts down, or the cleaner that follows the log is to look round.
    ended: Condvar,
}

impl Core {
    /// The batch of a cleaner had `before` pages that the disk was too full for, and has `now`.
    pub(crate) fn count_stuck(&self, before: usize, now: usize) {
        let all_before = self.stuck.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
        let mut told = self.full_disk_told.lock();
        let time = self.clock.monotonic();
        match *told {
            FullDiskTold::No { not_before } if all_before == 0 && time >= not_before => {
                *told = FullDiskTold::Yes;
                eprintln!(
                    "palisade: the disk is full: {now} changed pages cannot be written, which is tried again; \
                     changes are refused if the redo log or the buffer pool runs full by that"
                );
            }
            FullDiskTold::Yes if all_before == before && now == 0 => {
                *told = FullDiskTold::No { not_before: time + FULL_DISK_REPORTS };
                eprintln!("palisade: the disk has room again for changed pages");
            }
            _ => {}
        }
    }

    /// Lets operations that wait for log or frames look again.
    pub(crate) fn wake_waiters(&self) {
        self.log.wake_waiters();
        self.frames.wake_waiters();
    }

    /// A page is on disk whose mark, taken by [`Frames::take_dirty`], was `oldest`; or its space is gone.
    pub(crate) fn unregister_dirty(&self, oldest: Lsn) {
        if oldest.0 != SCRATCH {
            self.log.unregister_dirty(oldest);
        }
    }

    #[cold]
    fn pressure(&self, stuck: usize) -> f64 {
        let held = (self.frames.dirty_count() + stuck) as f64 / self.frames.size() as f64;
        self.log.capacity_used().max(held)
    }

    /// A free frame; else the event that there are enough for what the caller does.
    pub(crate) fn take_frame(&self) -> Result<u32, Event> {
        let taken = self.frames.take_free(guard::new_pages());
        if taken.is_err() {
            metrics::BUFFER_POOL_WAIT_FREE.increment();
        }
        if self.runs_short() {
            self.call_cleaners();
        }
        taken
    }

    /// Fewer frames are free than half of what the cleaners keep.
    pub(crate) fn runs_short(&self) -> bool {
        self.frames.free_count() < self.free_target() / 2 + 1
    }

    /// Frames that the cleaners keep free.
    pub(crate) fn free_target(&self) -> usize {
        let depth = self.tuning.lru_scan_depth.load(Ordering::Relaxed) as usize;
        depth.min(self.frames.size() / 4).max(1).max(self.frames.awaited())
    }

    /// Gives as much memory of frames back as recorded changes take.
    pub(crate) fn charge_lists(&self) {
        let frames = &self.frames;
        let (used, limit) = frames.keeping.used();
        let page = frames.memory.size().bytes();
        let (size, wanted) = (frames.size(), used / page);
        frames.charge(wanted, size / 512, size.saturating_sub(2 * limit / page));
    }

    /// A write has failed: nothing is written any more, if the hook lets the process live at all.
    pub(crate) fn stop(&self, reason: &str) -> Error {
        self.stopped.store(true, Ordering::Relaxed);
        (self.on_fatal)(reason);
        Error::Stopped
    }

    /// Nothing is written after a write has failed.
    pub(crate) fn check_running(&self) -> Result<(), Error> {
        if self.stopped.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }

    pub(crate) fn call_cleaners(&self) {
        if !self.wanted.called.swap(true, Ordering::Relaxed) {
            drop(self.wanted.ending.lock());
            self.wanted.changed.notify_all();
        }
    }

    /// For a cleaner thread that frees frames: sleeps until it is called, at most for `longest`. `false` if
    /// the pool shuts down.
    fn sleep_until_called(&self, longest: Duration) -> bool {
        let mut ending = self.wanted.ending.lock();
        if !*ending && !self.wanted.called.swap(false, Ordering::Relaxed) {
            self.wanted.changed.wait_for(&mut ending, longest);
            self.wanted.called.store(false, Ordering::Relaxed);
        }
        !*ending
    }

    /// For a cleaner thread that does not: sleeps for `pause`. `false` if the pool shuts down.
    fn sleep(&self, pause: Duration) -> bool {
        let mut ending = self.wanted.ending.lock();
        if !*ending {
            self.wanted.ended.wait_for(&mut ending, pause);
        }
        !*ending
    }

    /// Wakes all cleaners, the one that follows the log, too.
    pub(crate) fn wake_cleaners(&self) {
        self.call_cleaners();
        drop(self.wanted.ending.lock());
        self.wanted.ended.notify_all();
    }

    fn end_cleaners(&self) {
        *self.wanted.ending.lock() = true;
        self.wanted.changed.notify_all();
        self.wanted.ended.notify_all();
    }
}

/// The buffer pool.
pub struct BufferPool {
    core: Arc<Core>,
    pub(crate) spaces: RwLock<HashMap<SpaceId, Arc<Space>>>,
    /// What writes spaces that have places, if there are any.
    out_of_place: OnceLock<Arc<OutOfPlace>>,
    /// What writes scratch spaces: one for all, so that a batch has one part of them.
    scratch_sink: Arc<dyn PageSink>,
    pub(crate) coordinator: Mutex<Coordinator>,
    /// The cleaners that keep frames free.
    pub(crate) evictors: Vec<Mutex<Cleaner>>,
    /// What the coordinator writes and the others are to help with.
    shared: Mutex<Option<Arc<FlushList>>>,
    pub(crate) resize: Mutex<Resize>,
    /// Cleaners have been started.
    has_threads: AtomicBool,
    threads: Mutex<Vec<JoinHandle<()>>>,
    batch_pages: usize,
}

impl BufferPool {
    /// A pool without spaces, whose cleaners do not run yet.
    pub fn new(config: BufferConfig, log: Arc<Log>, io: Arc<IoPool>) -> Result<Arc<Self>, Error> {
        assert!(config.frames > 0, "a buffer pool has frames");
        let made = Frames::new(config.frames, config.most_frames, config.page_size, config.apply);
        let frames = made.map_err(|source| Error::Memory {
            bytes: config.frames.saturating_mul(config.page_size.bytes()),
            source: Arc::new(source),
        })?;
        frames.keeping.set_share(config.kept_share);
        frames.keeping.set_size(config.frames.saturating_mul(config.page_size.bytes()));
        let (cleaners, batch_pages) = (config.page_cleaners.max(1), config.batch_pages.max(1));
        let tuning = Tuning::new(&config);
        let core = Core {
            frames,
            log,
            io,
            check: config.check,
            blank: config.blank,
            clock: config.clock,
            tuning,
            on_fatal: config.on_fatal,
            stopped: AtomicBool::new(false),
            stuck: AtomicUsize::new(0),
            full_disk_told: Mutex::new(FullDiskTold::No { not_before: Duration::ZERO }),
            hand: AtomicUsize::new(0),
            wanted: Wanted::default(),
            hints: Hints::new(config.frames.saturating_mul(config.page_size.bytes()), config.hint_parts),
        };
        core.hints.switch(config.has_hints);
        let cleaner = |lane| Cleaner::new(lane, batch_pages, config.page_size, &core.io);
        let coordinator = Mutex::new(Coordinator::new(cleaner(0)));
        let evictors = (1..cleaners).map(|lane| Mutex::new(cleaner(lane))).collect();
        Ok(Arc::new(BufferPool {
            core: Arc::new(core),
            spaces: RwLock::default(),
            out_of_place: OnceLock::new(),
            scratch_sink: Arc::new(Unsynced),
            coordinator,
            evictors,
            shared: Mutex::default(),
            resize: Mutex::default(),
            has_threads: AtomicBool::new(false),
            threads: Mutex::default(),
            batch_pages,
        }))
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    /// Starts the cleaner threads. Without them, [`step`](Self::step) must be called for frames to become
    /// free.
    pub fn start(self: &Arc<Self>) -> std::io::Result<()> {
        let mut threads = self.threads.lock();
        assert!(threads.is_empty(), "cleaners are started once");
        self.has_threads.store(true, Ordering::Relaxed);
        let lanes = 1 + self.evictors.len();
        for lane in 0..lanes {
            let (pool, core) = (Arc::downgrade(self), self.core.clone());
            let thread = std::thread::Builder::new().name(format!("page-cleaner-{lane}"));
            threads.push(thread.spawn(move || run_cleaner(&pool, &core, lane, lanes))?);
        }
        Ok(())
    }

    /// Whether this pool may have more than one thread write.
    pub(crate) fn has_threads(&self) -> bool {
        self.has_threads.load(Ordering::Relaxed)
    }

    /// Calls the other cleaners to help with a list.
    pub(crate) fn share(&self, list: &Arc<FlushList>) {
        *self.shared.lock() = Some(list.clone());
        self.core.call_cleaners();
    }

    /// The list is done, or its time is over.
    pub(crate) fn unshare(&self) {
        *self.shared.lock() = None;
    }

    /// The list that the other cleaners are to help with, if there is one.
    pub(crate) fn shared(&self) -> Option<Arc<FlushList>> {
        self.shared.lock().clone()
    }

    /// A sharp checkpoint: ends the cleaner threads, writes every dirty page, and a checkpoint after them.
    /// No other thread uses the pool any more. Afterwards the log holds nothing that a restart would need.
    pub fn shutdown(&self) -> Result<(), Error> {
        self.join_cleaners();
        self.checkpoint_sharply()
    }

    /// Ends the cleaner threads, as a crash would: what is dirty is lost. Dropping the pool does it as well.
    pub fn abandon(&self) {
        self.join_cleaners();
    }

    fn join_cleaners(&self) {
        self.core.end_cleaners();
        for thread in self.threads.lock().drain(..) {
            // The last owner of the pool may be a cleaner in its step; that thread ends by itself.
            if thread.thread().id() != std::thread::current().id() {
                thread.join().expect("a cleaner does not panic");
            }
        }
    }

    /// Attaches the file of a space, whose length says how many pages it has. Its pages are written by
    /// `sink`.
    pub fn attach_space(
        &self,
        id: SpaceId,
        file: Arc<dyn File>,
        sink: Arc<dyn PageSink>,
    ) -> Result<Arc<Space>, Error> {
        self.attach(id, file, (None, sink), Durability::Logged)
    }

    /// Attaches an empty file as a *scratch space*: what is in it is gone with the process. Its pages are
    /// changed without log records ([`ExclusivePage::stamp_scratch`](crate::ExclusivePage::stamp_scratch)),
    /// are written only when their frames are wanted, and are never synced.
    pub fn attach_scratch(&self, id: SpaceId, file: Arc<dyn File>) -> Result<Arc<Space>, Error> {
        self.attach(id, file, (None, self.scratch_sink.clone()), Durability::Scratch)
    }

    /// Attaches a space whose pages are where `places` says. They are written by `sink`, the same for all
    /// such spaces.
    pub fn attach_places(
        &self,
        places: Arc<PlaceStore>,
        sink: &Arc<OutOfPlace>,
    ) -> Result<Arc<Space>, Error> {
        let own = self.out_of_place.get_or_init(|| sink.clone());
        assert!(Arc::ptr_eq(own, sink), "a pool has one sink for all spaces with places");
        sink.attach(&places);
        let file = places.file().clone();
        self.attach(places.space(), file, (Some(places.clone()), sink.clone()), Durability::Logged)
    }

    fn attach(
        &self,
        id: SpaceId,
        file: Arc<dyn File>,
        (places, sink): (Option<Arc<PlaceStore>>, Arc<dyn PageSink>),
        durability: Durability,
    ) -> Result<Arc<Space>, Error> {
        assert!(id.0 != u32::MAX, "space {} is reserved", id.0);
        self.check_sink(&*sink);
        let space = Space::new(id, file, (places, sink), durability, self.core.clone())
            .map_err(|source| Error::Extend { space: id, source: Arc::new(source) })?;
        let before = self.spaces.write().insert(id, space.clone());
        assert!(before.is_none(), "space {} is attached already", id.0);
        Ok(space)
    }

    /// Pages of `space` are written by `sink` from the next batch on.
    pub fn set_sink(&self, space: &Space, sink: Arc<dyn PageSink>) {
        assert!(space.places().is_none(), "a space keeps its places");
        self.check_sink(&*sink);
        space.set_sink(sink);
    }

    /// What writes spaces that have places, if there are any.
    pub(crate) fn out_of_place(&self) -> Option<&Arc<OutOfPlace>> {
        self.out_of_place.get()
    }

    fn check_sink(&self, sink: &dyn PageSink) {
        assert!(sink.lanes() > self.evictors.len(), "each cleaner has a lane");
        assert!(sink.batch_pages() >= self.batch_pages, "a batch fits a lane");
    }

    /// All spaces that are attached.
    pub fn spaces(&self) -> Vec<Arc<Space>> {
        self.spaces.read().values().cloned().collect()
    }

    /// Files of pages and of maps that are open.
    pub fn open_files(&self) -> usize {
        self.spaces.read().values().map(|space| space.open_files()).sum()
    }

    /// The files in which pages are, by space.
    pub fn files(&self) -> Vec<(SpaceId, Arc<dyn File>)> {
        let spaces = self.spaces.read();
        let mut files: Vec<_> = spaces.iter().map(|(id, space)| (*id, space.file().clone())).collect();
        files.sort_by_key(|(id, _)| *id);
        files
    }

    /// The space, if it is attached.
    pub fn space(&self, id: SpaceId) -> Option<Arc<Space>> {
        self.spaces.read().get(&id).cloned()
    }

    /// Drops the pages of a space without writing them, and the space; its file may then be removed. What
    /// made it superfluous must be durable: the checkpoint no longer waits for its pages. Accesses that come
    /// later fail with [`Error::Detached`]; no thread may hold a latch in it. Gives how many places it has
    /// looked at: the pages of the space's file, or the frames of the pool where those are fewer.
    pub fn detach_space(&self, id: SpaceId) -> usize {
        let Some(space) = self.spaces.write().remove(&id) else { return 0 };
        let pages = space.mark_detached() as usize;
        let frames = self.core.frames.count();
        if pages <= frames {
            let resident = |page| space.known_entry(page).is_some_and(|entry| entry.frame().is_some());
            let pages = (0..pages as u32).map(PageNo).filter(|page| resident(*page));
            pages.for_each(|page| self.drop_page(&space, page));
        } else {
            let owners = (0..frames as u32).filter_map(|frame| self.core.frames.owner(frame));
            owners.filter(|owner| owner.space == id).for_each(|owner| self.drop_page(&space, owner.page));
        }
        space.drop_kept();
        if space.places().is_some() {
            self.out_of_place().into_iter().for_each(|sink| sink.detach(id));
        }
        pages.min(frames)
    }

    /// Takes a page of a detached space out of memory, unwritten, if it is there still.
    fn drop_page(&self, space: &Space, page: PageNo) {
        let frames = &self.core.frames;
        let entry = space.owned_entry(page);
        entry.latch.lock_exclusive();
        let mut free = None;
        if let Some(frame) = entry.frame() {
            if let Some(oldest) = frames.take_dirty(frame) {
                self.core.unregister_dirty(oldest);
            }
            entry.set_frame(None);
            frames.set_owner(frame, None);
            free = (!frames.discard(frame)).then_some(frame);
        }
        entry.latch.unlock_exclusive(true);
        if let Some(frame) = free {
            frames.give_free(frame);
        }
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> PageSize {
        self.core.frames.memory.size()
    }

    /// Frames of the pool.
    pub fn frames(&self) -> usize {
        self.core.frames.count()
    }

    /// Frames that hold nothing.
    pub fn free_frames(&self) -> usize {
        self.core.frames.free_count()
    }

    /// Pages with changes that are not yet on their way to disk.
    pub fn dirty_pages(&self) -> usize {
        self.core.frames.dirty_count()
    }

    /// Pages that have left memory unwritten, their changes being kept.
    pub fn kept_pages(&self) -> usize {
        self.core.frames.keeping.pages()
    }

    /// Pages that are not on disk, nor on their way there: [dirty](Self::dirty_pages) ones and
    /// [kept](Self::kept_pages) ones, counted as one.
    pub fn unsaved_pages(&self) -> usize {
        self.core.frames.unsaved_count()
    }

    /// Whether look-ups guess where keys are, from now on.
    pub fn set_hints(&self, on: bool) {
        self.core.hints.switch(on);
    }

    /// Guesses of where keys are.
    pub fn hints(&self) -> &Hints {
        &self.core.hints
    }

    /// Changes which part of the pool, in percent up to 50, the changes of pages may take that leave memory
    /// unwritten. None leaves memory so with 0; those that have are read and written by and by.
    pub fn set_kept_share(&self, percent: u32) {
        let keeping = &self.core.frames.keeping;
        keeping.set_share(percent);
        keeping.set_size(self.core.frames.size() * self.page_size().bytes());
    }

    /// Nothing, unless pages cannot be written because the disk is too full for them, such as compressed ones
    /// that have become larger. Else which part is used up of what changes need until there is room: of the
    /// log, which no checkpoint can free, or of the frames, which no dirty page leaves.
    #[inline]
    pub fn full_disk_pressure(&self) -> Option<f64> {
        let stuck = self.core.stuck.load(Ordering::Relaxed);
        (stuck > 0).then(|| self.core.pressure(stuck))
    }

    /// Changes when pages are written back.
    pub fn set_flushing(&self, settings: FlushSettings) {
        *self.core.tuning.flushing.lock() = settings;
    }

    /// Changes when pages are read that no session has asked for yet.
    pub fn set_read_ahead(&self, settings: ReadAhead) {
        let tuning = &self.core.tuning;
        tuning.read_ahead_threshold.store(settings.threshold, Ordering::Relaxed);
        tuning.is_random_read_ahead.store(settings.is_random, Ordering::Relaxed);
    }

    /// Changes `innodb_compression_level`, 0 to 9: how hard zlib tries, for spaces without a level of their
    /// own.
    pub fn set_compression_level(&self, level: u8) {
        self.core.tuning.compression_level.store(level.min(9).into(), Ordering::Relaxed);
    }

    /// Changes `innodb_lru_scan_depth`.
    pub fn set_lru_scan_depth(&self, frames: u32) {
        self.core.tuning.lru_scan_depth.store(frames, Ordering::Relaxed);
    }

    /// Copies what the pool knows into the gauges of [`metrics`]. Whoever shows them calls this
    /// first; the cleaners do it now and then.
    pub fn publish_metrics(&self) {
        let bytes = self.page_size().bytes() as u64;
        let (total, free) = (self.frames() as u64, self.free_frames() as u64);
        let dirty = self.dirty_pages() as u64;
        metrics::BUFFER_POOL_PAGES_TOTAL.set(total);
        metrics::BUFFER_POOL_PAGES_FREE.set(free);
        let charged = self.core.frames.charged_count() as u64;
        metrics::BUFFER_POOL_PAGES_MISC.set(charged);
        let data = total.saturating_sub(free + charged);
        metrics::BUFFER_POOL_PAGES_DATA.set(data);
        metrics::BUFFER_POOL_BYTES_DATA.set(data * bytes);
        metrics::CHANGES_KEPT_PAGES.set(self.kept_pages() as u64);
        metrics::CHANGES_KEPT_BYTES.set(self.core.frames.keeping.used().0 as u64);
        metrics::BUFFER_POOL_PAGES_DIRTY.set(dirty);
        metrics::BUFFER_POOL_BYTES_DIRTY.set(dirty * bytes);
        metrics::BUFFER_POOL_READ_REQUESTS.set(requests::total());
        let log_capacity = self.core.log.usable_capacity() as f64;
        metrics::LOG_MAX_MODIFIED_AGE_ASYNC.set((log_capacity * pacing::HIGH_AGE) as u64);
        metrics::LOG_MAX_MODIFIED_AGE_SYNC.set((log_capacity * pacing::URGENT_AGE) as u64);
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        self.join_cleaners();
    }
}

/// A cleaner thread: steps until the pool shuts down or fails.
fn run_cleaner(pool: &Weak<BufferPool>, core: &Core, lane: usize, lanes: usize) {
    let frees_frames = lane > 0 || lanes == 1;
    let mut pause = Duration::ZERO;
    while if frees_frames { core.sleep_until_called(pause) } else { core.sleep(pause) } {
        let Some(pool) = pool.upgrade() else { return };
        let outcome = if lane == 0 { pool.step_coordinator() } else { pool.step_evictor(lane) };
        match outcome {
            Ok(next) => pause = next,
            Err(Error::Full { .. }) => pause = DISK_FULL_PAUSE,
            Err(_) => return,
        }
    }
}
