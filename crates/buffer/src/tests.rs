//! The pool against a model, on a disk that can be made to fail.
//!
//! A [`World`] is a pool of a few frames over a log and one space, all in the fault-injecting file system.
//! Changes are `(page, offset, eight bytes)`, logged as such; the history of them is the model: what a page
//! must hold at an LSN is the replay of all changes that end at or before it.

mod ahead;
mod blank;
mod crash;
mod full_disk;
mod kept;
mod model;
mod neighbours;
mod out_of_place;
mod packed;
mod parts;
mod resize;
mod room;
mod slices;
mod threads;
mod torn;
mod warm;

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use palisade_base::clock::Clock;
use palisade_base::prng::Prng;
use palisade_base::{Attempt, Blocked, Lsn, PageId, PageNo, SpaceId};
use palisade_io::{FaultFileSystem, File, FileSystem, IoPool, OpenMode, Syncing};
use palisade_log::{Log, LogConfig, LogReader, LsnRange};

use crate::doublewrite::{Directories, Repaired, repair};
use crate::{
    AreaConfig, Atomic, BufferConfig, BufferPool, Doublewrite, Error, ExclusivePage, Keeps, Off, OutOfPlace,
    PAGE_HEADER, Page, PageSink, PageSize, PlaceStore, Space, places,
};

const PAGE_SIZE: usize = PageSize::DEFAULT.bytes();

thread_local! {
    /// The size of pages of the worlds that this thread makes.
    static SIZE: Cell<PageSize> = const { Cell::new(PageSize::DEFAULT) };
}

thread_local! {
    /// Whether pages become blank in the worlds that this thread makes.
    static HAS_BLANKS: Cell<bool> = const { Cell::new(false) };
}

/// Runs a test in worlds in which pages become blank.
pub(super) fn with_blanks<T>(test: impl FnOnce() -> T) -> T {
    HAS_BLANKS.set(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
    HAS_BLANKS.set(false);
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs a test in worlds of the smallest pages, and of the largest.
pub(super) fn at_other_sizes(test: impl Fn()) {
    for size in [PageSize::LEAST, PageSize::MOST] {
        SIZE.set(size);
        test();
    }
    SIZE.set(PageSize::DEFAULT);
}

/// Bytes of a page of the worlds of this thread.
pub(super) fn page_bytes() -> usize {
    SIZE.get().bytes()
}

const SPACE: SpaceId = SpaceId(3);
/// Pages of a batch.
const BATCH_PAGES: usize = 4;

/// Bytes of a change in the log.
const CHANGE_BYTES: usize = 15;

/// The offset of a change that fills the body of a page with what no codec makes smaller.
const NOISE: u16 = u16::MAX;
/// The offset of a change that fills the body of a page with one byte, which is no zero.
const CALM: u16 = u16::MAX - 1;
/// The offset of a change after which the page is blank. The next one creates it again.
const BLANK: u16 = u16::MAX - 2;

/// A clock that tests move.
#[derive(Default)]
pub(super) struct StepClock(AtomicU64);

impl StepClock {
    pub(super) fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_micros() as u64, Ordering::Relaxed);
    }
}

impl Clock for StepClock {
    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }

    fn unix_micros(&self) -> i64 {
        self.0.load(Ordering::Relaxed) as i64
    }
}

/// One change of one page, as logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) page: PageNo,
    /// The page is created: zeros, then the value.
    pub(super) create: bool,
    pub(super) offset: u16,
    pub(super) value: u64,
}

impl Change {
    fn encode(self) -> Vec<u8> {
        // As a page operation, it does not begin as a place record does.
        let mut payload = vec![u8::from(self.create)];
        payload.extend(self.page.0.to_le_bytes());
        payload.extend(self.offset.to_le_bytes());
        payload.extend(self.value.to_le_bytes());
        payload
    }

    fn decode(payload: &[u8]) -> Self {
        let mut reader = palisade_base::codec::Reader::new(payload);
        Change {
            create: reader.u8().unwrap() == 1,
            page: PageNo(reader.u32().unwrap()),
            offset: reader.u16().unwrap(),
            value: reader.u64().unwrap(),
        }
    }

    fn apply(self, page: &mut [u8]) {
        let offset = usize::from(self.offset);
        match self.offset {
            NOISE => return Prng::new(self.value).fill(&mut page[PAGE_HEADER..]),
            CALM => return page[PAGE_HEADER..].fill(self.value as u8 | 1),
            BLANK => return page[PAGE_HEADER..].fill(0),
            _ => {}
        }
        page[offset..offset + 8].copy_from_slice(&self.value.to_le_bytes());
    }
}

/// Applies what [`record`] has recorded.
fn apply_changes(page: &mut Page, mut changes: &[u8]) -> Result<(), &'static str> {
    while let Some((change, rest)) = changes.split_at_checked(CHANGE_BYTES) {
        Change::decode(change).apply(page);
        changes = rest;
    }
    if changes.is_empty() { Ok(()) } else { Err("half a change") }
}

/// Tells the pool of a change, as a mini-transaction does.
fn record(page: &mut ExclusivePage<'_>, range: LsnRange, change: Change) {
    if page.is_recorded(range) {
        let encoded = change.encode();
        page.record(range, (!change.create).then_some(&encoded));
    }
}

/// The body of `page` after the changes of `history` that end at or before `upto`; `None` before it is
/// created.
pub(super) fn replay(history: &[(Lsn, Change)], page: PageNo, upto: Lsn) -> Option<Vec<u8>> {
    let mut bytes = None;
    for (_, change) in history.iter().filter(|(end, change)| change.page == page && *end <= upto) {
        if change.create {
            bytes = Some(vec![0; page_bytes()]);
        }
        change.apply(bytes.as_mut().expect("a page is created before it is changed"));
    }
    bytes.map(|bytes| bytes[PAGE_HEADER..].to_vec())
}

/// Which sink a world writes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sink {
    Doublewrite,
    Ids,
    Atomic,
    Off,
    OutOfPlace,
    /// The same, on a device whose cache every sync empties.
    OneFlush,
    /// The same, where that is believed and not so.
    TwoCaches,
    /// As one flush; the map is made again from the pages before every recovery.
    LostMap,
}

impl Sink {
    fn is_placed(self) -> bool {
        matches!(self, Sink::OutOfPlace | Sink::OneFlush | Sink::TwoCaches | Sink::LostMap)
    }
}

pub(super) struct World {
    pub(super) fs: Arc<FaultFileSystem>,
    pub(super) log: Arc<Log>,
    pub(super) pool: Arc<BufferPool>,
    pub(super) space: Arc<Space>,
    /// What the spaces are written by.
    pub(super) sink: Arc<dyn PageSink>,
    pub(super) clock: Arc<StepClock>,
    /// The pool said that the disk has failed.
    pub(super) fatal: Arc<AtomicBool>,
    /// Pages become blank now and then.
    has_blanks: bool,
}

const LOG_ID: u64 = 1;

fn log_config() -> LogConfig {
    LogConfig {
        log_id: LOG_ID,
        capacity: 8 << 20,
        buffer_size: 64 << 10,
        block_size: 512,
        background: false,
        on_failure: Arc::new(|_| {}),
        ..LogConfig::default()
    }
}

/// Where the pages are.
const SPACE_FILE: &str = "data/space";

fn space_file(fs: &FaultFileSystem, sink: Sink) -> std::io::Result<Arc<dyn File>> {
    let mode = match sink {
        Sink::OneFlush | Sink::TwoCaches | Sink::LostMap => {
            OpenMode::CREATE.direct().syncing(Syncing::Metadata)
        }
        _ => OpenMode::CREATE,
    };
    fs.open(Path::new(SPACE_FILE), mode)
}

fn map_file(fs: &FaultFileSystem) -> std::io::Result<Arc<dyn File>> {
    fs.open(Path::new("data/map"), OpenMode::CREATE)
}

/// Makes the map from the pages, unless none was ever written.
fn remake_map(fs: &FaultFileSystem) -> std::io::Result<()> {
    let new = Path::new("data/map.new");
    let map = fs.open(new, OpenMode::CREATE)?;
    map.set_len(0)?;
    match places::rebuild_map(SPACE, &*space_file(fs, Sink::LostMap)?, None, &*map, SIZE.get()) {
        Ok(_) => {
            map.sync()?;
            fs.rename(new, Path::new("data/map"))?;
            fs.sync_dir(Path::new("data"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Ok(()),
        Err(error) => Err(error),
    }
}

fn no_file(source: std::io::Error) -> Error {
    Error::Extend { space: SPACE, source: Arc::new(source) }
}

/// The places of the world's space at the end of the log.
fn open_places(
    fs: &FaultFileSystem,
    kind: Sink,
    log: &Arc<Log>,
    reader: &LogReader,
    sink: &OutOfPlace,
) -> Result<Arc<PlaceStore>, Error> {
    let store = PlaceStore::open(
        SPACE,
        space_file(fs, kind).map_err(no_file)?,
        map_file(fs).map_err(no_file)?,
        SIZE.get(),
    )?;
    let stores = HashMap::from([(SPACE, store.clone())]);
    match places::recover(Some(&mut reader.restarted()), log, &stores, sink) {
        Ok(mut lost) => lost.pop().map_or(Ok(store), |(_, error)| Err(error)),
        Err(places::RecoverError::Log(error)) => Err(unless_down(fs, error)),
        Err(error) => panic!("{error}"),
    }
}

/// A log that cannot be read because the machine is down is no news; anything else is.
fn unless_down(fs: &FaultFileSystem, error: palisade_log::Error) -> Error {
    assert!(fs.is_down(), "{error}");
    Error::Stopped
}

impl World {
    /// An empty log and an empty space, and one cleaner.
    pub(super) fn create(fs: Arc<FaultFileSystem>, frames: usize, sink: Sink) -> World {
        Self::create_with(fs, frames, sink, 1)
    }

    pub(super) fn create_with(fs: Arc<FaultFileSystem>, frames: usize, sink: Sink, cleaners: usize) -> World {
        fs.create_dir_all(Path::new("data")).unwrap();
        let (file, map) = (space_file(&fs, sink).unwrap(), map_file(&fs).unwrap());
        fs.set_one_cache(matches!(sink, Sink::OneFlush | Sink::LostMap));
        fs.sync_dir(Path::new("data")).unwrap();
        let log = Log::create(fs.clone(), Path::new("data"), log_config(), Lsn(4096)).unwrap();
        let places = sink
            .is_placed()
            .then(|| (PlaceStore::create(SPACE, file, map, SIZE.get()), OutOfPlace::new(log.clone())));
        Self::assemble(fs, log, frames, sink, cleaners, places).unwrap()
    }

    /// What is on disk, before redo.
    pub(super) fn open(
        fs: Arc<FaultFileSystem>,
        frames: usize,
        sink: Sink,
    ) -> Result<(World, LogReader), Error> {
        let opened = Log::open(fs.clone(), Path::new("data"), log_config());
        let (log, reader) = opened.map_err(|error| unless_down(&fs, error))?;
        let places = match sink {
            kind if kind.is_placed() => {
                if kind == Sink::LostMap {
                    remake_map(&fs).map_err(no_file)?;
                }
                let sink = OutOfPlace::new(log.clone());
                Some((open_places(&fs, kind, &log, &reader, &sink)?, sink))
            }
            _ => None,
        };
        Ok((Self::assemble(fs, log, frames, sink, 1, places)?, reader))
    }

    fn assemble(
        fs: Arc<FaultFileSystem>,
        log: Arc<Log>,
        frames: usize,
        sink: Sink,
        cleaners: usize,
        places: Option<(Arc<PlaceStore>, Arc<OutOfPlace>)>,
    ) -> Result<World, Error> {
        let directory: Arc<dyn FileSystem> = fs.clone();
        let copies = || {
            let config = AreaConfig {
                page_size: SIZE.get(),
                ..AreaConfig::new(Path::new("data"), cleaners, BATCH_PAGES, LOG_ID)
            };
            let opened = Doublewrite::open(&directory, &config);
            opened.map(Arc::new).map_err(|error| Error::Doublewrite(Arc::new(error)))
        };
        let kind = sink;
        let sink: Arc<dyn PageSink> = match (kind, &places) {
            (Sink::Doublewrite, _) => copies()?,
            (Sink::Ids, _) => Arc::new(copies()?.keeping(Keeps::Ids)),
            (Sink::Atomic, _) => Arc::new(Atomic::new(copies()?)),
            (_, Some((_, sink))) => sink.clone(),
            _ => Arc::new(Off),
        };
        let (clock, fatal) = (Arc::new(StepClock::default()), Arc::new(AtomicBool::new(false)));
        let hook = fatal.clone();
        let config = BufferConfig {
            page_size: SIZE.get(),
            page_cleaners: cleaners,
            clock: clock.clone(),
            on_fatal: Arc::new(move |_| hook.store(true, Ordering::Relaxed)),
            apply: Some(apply_changes),
            batch_pages: if places.is_some() { BATCH_PAGES } else { sink.batch_pages().min(128) },
            most_frames: 4 * frames,
            ..BufferConfig::new(frames)
        };
        let pool = BufferPool::new(config, log.clone(), Arc::new(IoPool::inline())).unwrap();
        let space = match &places {
            Some((store, sink)) => pool.attach_places(store.clone(), sink)?,
            None => pool.attach_space(SPACE, space_file(&fs, kind).map_err(no_file)?, sink.clone())?,
        };
        Ok(World { fs, log, pool, space, sink, clock, fatal, has_blanks: HAS_BLANKS.get() })
    }

    /// Restores torn pages. Which they were, and which could not be restored.
    pub(super) fn repair(
        &self,
        mut files: impl FnMut(SpaceId) -> Option<Arc<dyn File>>,
    ) -> Result<Repaired, Error> {
        let directories = Directories { home: Path::new("data"), others: &[], page_size: SIZE.get() };
        let repaired = repair(&*self.fs, directories, LOG_ID, self.log.checkpoint_lsn(), &mut files);
        repaired.map_err(|error| Error::Doublewrite(Arc::new(error)))
    }

    /// Calls `attempt` until it answers, letting the cleaner step while it waits.
    pub(super) fn retry<T>(&self, mut attempt: impl FnMut() -> Attempt<T, Error>) -> Result<T, Error> {
        for _ in 0..100 {
            match attempt() {
                Ok(value) => return Ok(value),
                Err(Blocked::Error(error)) => return Err(error),
                Err(Blocked::Wait(event)) if event.is_complete() => {}
                Err(Blocked::Wait(_)) => {
                    self.pool.step()?;
                }
            }
        }
        panic!("an operation waits for ever");
    }

    /// Makes a change, logged. Where its record ends.
    pub(super) fn change(&self, change: Change) -> Result<Lsn, Error> {
        self.change_at_length(change, 0)
    }

    /// The same with `more` bytes that mean nothing in its record.
    pub(super) fn change_at_length(&self, change: Change, more: usize) -> Result<Lsn, Error> {
        let mut payload = change.encode();
        payload.resize(payload.len() + more, 0);
        self.retry(|| self.space.ensure_allocated(change.page.0 + 1))?;
        self.retry(|| {
            let mut credit = match self.log.admit(payload.len()) {
                Ok(credit) => credit,
                Err(Blocked::Wait(event)) => return Err(Blocked::Wait(event)),
                Err(Blocked::Error(_)) => return Err(Error::Stopped.into()),
            };
            let mut page = self.latch(change)?;
            change.apply(&mut page);
            let range = self.log.append(&mut credit, &payload, |range| page.stamp(range));
            record(&mut page, range, change);
            Ok(range.end)
        })
    }

    fn latch(&self, change: Change) -> Attempt<ExclusivePage<'_>, Error> {
        match change.create {
            true if self.has_blanks => {
                let created = self.space.create_unused(change.page, |_| true)?;
                Ok(created.expect("any page may be created"))
            }
            true => self.space.create(change.page),
            false => self.space.exclusive(change.page),
        }
    }

    /// The body of a page.
    pub(super) fn body(&self, page: PageNo) -> Result<Vec<u8>, Error> {
        self.retry(|| self.space.shared(page).map(|page| page[PAGE_HEADER..].to_vec()))
    }

    /// If the map was made again: these pages are in no use.
    pub(super) fn forget_blanks(&self, blank: &[PageNo]) -> Result<(), Error> {
        match (self.pool.out_of_place(), self.space.places()) {
            (Some(sink), Some(places)) if self.has_blanks && places.was_remade() => {
                sink.forget(places, blank)?;
                // They may be those behind all that the file has copies of.
                let pages = blank.iter().map(|page| page.0 + 1).max().unwrap_or(0);
                self.retry(|| self.space.ensure_allocated(pages))
            }
            _ => Ok(()),
        }
    }

    /// Redoes what the log says, as recovery does. Where it ends.
    pub(super) fn redo(&self, reader: &mut LogReader) -> Result<Lsn, Error> {
        let mut last = reader.checkpoint_lsn();
        while let Some(record) = reader.next().map_err(|error| unless_down(&self.fs, error))? {
            last = record.end;
            if places::record::is_record(record.payload) {
                continue;
            }
            let (range, change) =
                (LsnRange { start: record.start, end: record.end }, Change::decode(record.payload));
            self.retry(|| self.space.ensure_allocated(change.page.0 + 1))?;
            self.retry(|| {
                let mut page = self.latch_to_redo(change, range.end)?;
                if let Some(page) = &mut page {
                    change.apply(page);
                    page.stamp(range);
                }
                Ok(())
            })?;
        }
        self.space.sync_found()?;
        self.pool.out_of_place().into_iter().for_each(|sink| sink.redone());
        Ok(last)
    }

    /// The page, if the change is not in it yet. A page about to be created may be anything on disk.
    fn latch_to_redo(&self, change: Change, end: Lsn) -> Attempt<Option<ExclusivePage<'_>>, Error> {
        use crate::PageRead;
        match self.space.exclusive(change.page) {
            Ok(page) if page.page_lsn() >= end => return Ok(None),
            Ok(page) if !change.create => {
                assert!(!self.has_blanks || !page.is_blank(), "a blank page is created before it is changed");
                return Ok(Some(page));
            }
            Err(Blocked::Wait(event)) => return Err(Blocked::Wait(event)),
            Err(Blocked::Error(error)) if !change.create => return Err(error.into()),
            Ok(_) | Err(Blocked::Error(_)) => {}
        }
        self.space.create(change.page).map(Some)
    }
}

/// Changes a page of any space of the world; `create` without reading what it was.
pub(super) fn change(world: &World, space: &Space, page: u32, create: bool) {
    let page = PageNo(page);
    let changed = world.retry(|| {
        let mut credit = world.log.admit(8).map_err(|blocked| blocked.map_err(|_| Error::Stopped))?;
        let mut latched = if create { space.create(page)? } else { space.exclusive(page)? };
        let value = world.log.tail().0;
        latched.put_u64(page_bytes() - 8, value);
        world.log.append(&mut credit, &[0; 8], |range| latched.stamp(range));
        Ok(())
    });
    changed.unwrap();
}

/// Two pages are to be created where one frame is free: the second attempt would go as the first did.
#[test]
fn who_gives_a_frame_back_because_it_is_not_enough_waits_for_more() {
    let world = World::create(Arc::new(FaultFileSystem::new(5)), 5, Sink::Off);
    for page in 0..4 {
        world.change(Change { page: PageNo(page), create: true, offset: 100, value: 7 }).unwrap();
    }
    world.retry(|| world.space.ensure_allocated(6)).unwrap();
    let create_two = || {
        let first = world.space.create(PageNo(4))?;
        let second = world.space.create(PageNo(5))?;
        Ok::<_, Blocked<Error>>((first, second))
    };
    let Err(Blocked::Wait(event)) = create_two() else { panic!("there are two frames") };
    assert_eq!(world.pool.free_frames(), 1);
    assert!(!event.is_complete(), "nothing has changed");
    // Who needs only one has it.
    drop(world.space.create(PageNo(4)).unwrap());
    assert!(!event.is_complete());
    let mut rounds = 0;
    while !event.is_complete() {
        rounds += 1;
        assert!(rounds < 10, "the cleaners do not know");
        world.pool.step().unwrap();
    }
    drop(create_two().unwrap());
    assert_eq!(crate::guard::new_pages(), 0);
}
