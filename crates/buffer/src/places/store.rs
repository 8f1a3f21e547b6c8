//! A space whose pages lie anywhere in their file: which block is whose.
//!
//! ```text
//!   NNNNNN.pal   block 0: header | pages, each in a run of blocks | free runs
//!   NNNNNN.map   the places, chunk by chunk, as they were at some time: see `chunk`
//! ```
//!
//! All places are in memory, four bytes a page. How they survive is said in the [module](super).
//!
//! # A file keeps free runs
//!
//! A page is written to a free run before its old one becomes free, so that a file with none could write
//! nothing any more. Room is therefore taken for more pages than there are ([`slots_for`]); a cleaner that
//! finds fewer free runs than it wants makes the file larger, up to a part of what is in it. When the disk
//! has no room either it goes on with the runs that there are, some pages at a time: each page that is
//! written gives back the run that the next one needs.
//!
//! A *small* file, of the first [few](small_pages) pages, has no such runs: most tables that small are empty
//! and stay so, and header, pages and free run would take half as much again. Its room is for the header and
//! all but the last of its pages, which such a table does not use yet. The first page that is written again
//! has the cleaner make the file larger; the flush that this takes is that of any pages in new blocks. If the
//! disk is full just then, the page is compressed to a block, for which there is room beside the header; only
//! one that does not become so short waits for room, as that of a compressed table does. The rest of the
//! header's place takes room from the disk when a compressed page is written there.
//!
//! Pages that are compressed take runs of one to three blocks, and the file has room for what has been
//! written, not for what each page could become: a disk that is full is then told to the cleaner. Runs of
//! several lengths leave gaps that are too short for some. A file grows for their sake, too, but never beyond
//! [twice](State::room_wanted) what its pages would take as they are: a page's run touches at most two of the
//! quarters of sixteen blocks in which a whole page is stored.
//!
//! What is free beyond that, because pages have become shorter or blank, gives its [room] back to the disk.
//!
//! # Blank pages
//!
//! A page that the floor above has given up is [blank](crate::page::Page::is_blank): there is nothing in it to
//! be written. It gets no run, and the one that it had is free when a record says that the page is blank. That
//! record goes with those of the batch, so that it costs no write and no flush. Who reads the page gets what
//! it was.
//!
//! # Marks
//!
//! A *mark* is an LSN registered in the log, which no checkpoint passes. A place record has one from its
//! append until its places are set here; then each of its chunks has one, unless it has an older one already,
//! until a state of the chunk with these places is durable in the map. So at any time the log behind the
//! checkpoint has every place that the map lacks.
//!
//! # Lock order
//!
//! `growth` or the [map](MapFile::lock), then `state`. Nothing blocks under `state`.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use palisade_base::{Lsn, PageId, PageNo, SpaceId};
use palisade_io::{File, WriteQueue};
use palisade_log::Log;
use parking_lot::{Condvar, Mutex, MutexGuard};
use smallvec::SmallVec;

use super::blocks::Blocks;
use super::chunk::{self, CHUNK_PLACES, ChunkImage};
use super::map::{MapFile, OpenedMap, Written};
use super::place::{MAX_BLOCKS, Place};
use super::record::Placed;
use crate::error::{Corruption, Error};
use crate::metrics;
use crate::page_size::PageSize;
use crate::planted::{Planted, makes};

mod opening;
mod room;

/// A file has a free run for each so many pages: the more of them, the more are neighbours and one write.
const PAGES_PER_SPARE: u32 = 10;
/// What a file has at least that earlier builds have made.
const PAGES_PER_SPARE_BEFORE: u32 = 12;
/// Chunks that are written together: their copies take 1 MiB.
const CHUNKS_AT_ONCE: usize = 256;
/// Between two looks at whether a run has become free.
const RUN_PAUSE: Duration = Duration::from_millis(100);

/// See the module.
pub struct PlaceStore {
    space: SpaceId,
    file: Arc<dyn File>,
    map: MapFile,
    /// Chunks whose slots differed when the map was opened.
    uneven: Vec<usize>,
    page_size: PageSize,
    state: Mutex<State>,
    /// A run has become free, or the places of a record have been set.
    changed: Condvar,
    /// Held while files become larger.
    growth: Mutex<()>,
}

struct State {
    page_size: PageSize,
    blocks: Blocks,
    /// `None`: no page of the chunk has ever had a place.
    chunks: Vec<Option<Chunk>>,
    /// Pages that have a place, and those of them that are compressed.
    placed: u32,
    compressed: u32,
    /// Pages that there shall be room for although the file has none for them, because they are compressed
    /// or an earlier build took less room for free runs.
    promised: u32,
    /// Blocks of the runs that cleaners have taken and not yet made places.
    in_flight: u32,
    is_detached: bool,
    /// No page has ever been written, nor has the header, which comes before.
    lacks_header: bool,
    /// The file system makes no holes.
    keeps_room: bool,
    /// Pages that are to get a run: see [room].
    awaited: u32,
    /// While the log is redone: up to where there is nothing to be done to pages that are blank.
    blank_since: HashMap<PageNo, Lsn>,
    /// Places were found in the file, because the map had been lost.
    was_remade: bool,
}

#[derive(Default)]
struct Chunk {
    image: ChunkImage,
    /// Places set since the map was written are in the log from here on.
    mark: Option<Lsn>,
    /// Records about the chunk that have been appended, or are about to be, and whose places are not set yet.
    records: u32,
    /// Runs that one slot of the chunk may still name: free when both have been written again.
    limbo: Vec<Place>,
    /// Pages that are to get a run, a bit each.
    awaited: [u64; CHUNK_PLACES.div_ceil(64)],
}

impl Chunk {
    /// Whether the log is needed for it below `below`.
    fn is_due(&self, below: Lsn) -> bool {
        self.mark.is_some_and(|mark| mark < below)
    }
}

/// Room for pages, in pages: the header, the pages, and the free runs that are kept.
fn slots_for(pages: u32) -> u32 {
    slots_with(pages, PAGES_PER_SPARE)
}

fn slots_with(pages: u32, pages_per_spare: u32) -> u32 {
    pages.saturating_add((pages / pages_per_spare).max(1)).saturating_add(1)
}

/// Pages of a file that has no free runs yet, at most: 64 KiB, and what a table with one index begins with.
fn small_pages(size: PageSize) -> u32 {
    size.pages_in(64 << 10).max(4)
}

/// Pages that so much room is enough for, with a free run for each `pages_per_spare` of them.
fn pages_for(slots: u32, pages_per_spare: u32) -> u32 {
    let mut pages = (u64::from(slots) * u64::from(pages_per_spare) / u64::from(pages_per_spare + 1)) as u32;
    while pages > 0 && slots_with(pages, pages_per_spare) > slots {
        pages -= 1;
    }
    pages
}

impl State {
    fn new(page_size: PageSize, end: u32) -> State {
        State {
            page_size,
            blocks: Blocks::new(end, page_size.blocks()),
            chunks: Vec::new(),
            placed: 0,
            compressed: 0,
            promised: 0,
            in_flight: 0,
            is_detached: false,
            lacks_header: false,
            keeps_room: false,
            awaited: 0,
            blank_since: HashMap::new(),
            was_remade: false,
        }
    }

    fn chunk(&mut self, number: usize) -> &mut Chunk {
        if self.chunks.len() <= number {
            self.chunks.resize_with(number + 1, || None);
        }
        self.chunks[number].get_or_insert_with(Chunk::default)
    }

    fn place(&self, page: PageNo) -> Place {
        let (number, at) = chunk::locate(page);
        self.chunks.get(number).and_then(Option::as_ref).map_or(Place::NONE, |chunk| chunk.image.places[at])
    }

    /// How many blocks the file should have, so that there are free runs for `missing` blocks more than were
    /// found; `None` if it has enough, and the runs are with other cleaners.
    fn room_wanted(&self, missing: u32) -> Option<u32> {
        let (end, page, used) = (self.blocks.end(), self.page_size.blocks(), self.used());
        if self.blocks.holes() > 0 {
            // They come first.
            return Some(end);
        }
        let spare = (used / PAGES_PER_SPARE).max(self.in_flight + missing);
        let wanted = used.saturating_add(spare).saturating_add(page).next_multiple_of(page);
        if wanted > end {
            return Some(wanted);
        }
        // What is free lies scattered.
        let more = (end + missing).next_multiple_of(page);
        let most = slots_for(self.placed).saturating_mul(2 * page).saturating_add(missing);
        (self.in_flight == 0 && more <= most).then_some(more)
    }

    /// Sets the place of a page. Its old run.
    fn set(&mut self, placed: &Placed) -> Option<Place> {
        let (number, at) = chunk::locate(placed.page.page);
        let old = std::mem::replace(&mut self.chunk(number).image.places[at], placed.place);
        if !placed.place.is_blank() {
            self.await_run(placed.page.page, false);
        }
        self.in_flight -= placed.place.blocks();
        self.placed += u32::from(!placed.place.is_none());
        self.placed -= u32::from(!old.is_none());
        self.compressed += u32::from(placed.place.is_short(self.page_size));
        self.compressed -= u32::from(old.is_short(self.page_size));
        (!old.is_none()).then_some(old)
    }

    /// Sets the places of pages; their old runs are free from now on.
    fn set_all(&mut self, pages: &[Placed]) {
        for placed in pages {
            self.set(placed).into_iter().for_each(|old| self.blocks.give_back(old));
        }
    }

    /// The chunk's places from `lsn` on are in the log: registered there, unless the store is detached.
    fn mark(&mut self, number: usize, lsn: Lsn, log: &Log) {
        if self.is_detached || makes(Planted::NoMarks) {
            return;
        }
        let chunk = self.chunk(number);
        match chunk.mark {
            Some(mark) if mark <= lsn => {}
            later => {
                log.register_dirty(lsn);
                chunk.mark = Some(lsn);
                later.into_iter().for_each(|later| log.unregister_dirty(later));
            }
        }
    }
}

/// The chunks of pages in ascending order.
fn chunks_of(pages: &[Placed]) -> impl Iterator<Item = (usize, &[Placed])> {
    let number = |placed: &Placed| chunk::locate(placed.page.page).0;
    pages.chunk_by(move |a, b| number(a) == number(b)).map(move |pages| (number(&pages[0]), pages))
}

impl PlaceStore {
    fn new(space: SpaceId, file: Arc<dyn File>, map: MapFile, page_size: PageSize, end: u32) -> Self {
        PlaceStore {
            space,
            file,
            map,
            uneven: Vec::new(),
            page_size,
            state: Mutex::new(State::new(page_size, end)),
            changed: Condvar::new(),
            growth: Mutex::default(),
        }
    }

    /// Makes two empty files a space without pages, of which each will have `page_size` bytes. Nothing is
    /// written before the first page is.
    pub fn create(space: SpaceId, file: Arc<dyn File>, map: Arc<dyn File>, page_size: PageSize) -> Arc<Self> {
        let map = MapFile::create(space, file.clone(), map);
        let store = PlaceStore::new(space, file, map, page_size, 1);
        store.state.lock().lacks_header = true;
        Arc::new(store)
    }

    /// Opens the files of a space of pages of `page_size`, with the places that its map has. What the log has
    /// to say about them comes next ([`recover`](super::recover)).
    pub fn open(
        space: SpaceId,
        file: Arc<dyn File>,
        map: Arc<dyn File>,
        page_size: PageSize,
    ) -> Result<Arc<Self>, Error> {
        let OpenedMap { map, chunks, uneven, is_new } = MapFile::open(space, file.clone(), map)?;
        let store = PlaceStore { uneven, ..PlaceStore::new(space, file, map, page_size, 0) };
        let mut state = store.state.lock();
        chunks.into_iter().for_each(|(number, image)| state.chunk(number).image = image);
        state.lacks_header = is_new;
        drop(state);
        Ok(Arc::new(store))
    }

    /// Whether pages have been written, and a part of the map reads as if it never had been: the log has all
    /// that is to be known of it, or something has made it zeros.
    pub fn has_blank_chunks(&self) -> io::Result<bool> {
        self.map.has_blank_chunks()
    }

    fn corrupted(&self, page: PageNo, reason: Corruption) -> Error {
        Error::Corrupted { page: PageId { space: self.space, page }, reason }
    }

    /// The space's id.
    pub fn space(&self) -> SpaceId {
        self.space
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// The file that the pages are in.
    pub fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// Makes what is in both files durable, whichever process has written it.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_contents()?;
        self.map.sync()
    }

    /// Where a page is.
    pub fn place(&self, page: PageNo) -> Place {
        self.state.lock().place(page)
    }

    /// Where pages are.
    pub(crate) fn places(&self, pages: impl Iterator<Item = PageNo>) -> SmallVec<[Place; 1]> {
        let state = self.state.lock();
        pages.map(|page| state.place(page)).collect()
    }

    /// Pages that there is room for.
    pub fn pages(&self) -> u32 {
        let state = self.state.lock();
        let highest = state.chunks.iter().enumerate().rev().find_map(|(number, chunk)| {
            let at = chunk.as_ref()?.image.places.iter().rposition(|place| *place != Place::NONE)?;
            Some((number * CHUNK_PLACES + at) as u32 + 1)
        });
        let slots = state.blocks.end() / self.page_size.blocks();
        let small = if slots < 2 { 0 } else { slots.min(small_pages(self.page_size)) };
        pages_for(slots, PAGES_PER_SPARE).max(small).max(highest.unwrap_or(0)).max(state.promised)
    }

    /// Makes room for at least `pages` pages, and for their places in the map; for the places only if the
    /// pages [are to be compressed](self), or some are already. How many there is room for.
    pub(crate) fn extend(&self, pages: u32, is_packed: bool) -> io::Result<u32> {
        let growth = self.growth.lock();
        let is_packed = is_packed || self.state.lock().is_packed();
        let is_small = pages <= small_pages(self.page_size);
        let blocks = self.blocks_of(if is_small { pages.max(2) } else { slots_for(pages) })?;
        // The map first: a page that the file has room for has a place to be noted.
        self.map.make_room((pages as usize).div_ceil(CHUNK_PLACES))?;
        if is_packed {
            let mut state = self.state.lock();
            state.promised = state.promised.max(pages);
        } else {
            while self.fill_hole(u32::MAX, &growth)? {}
            self.grow(blocks, &growth)?;
        }
        drop(growth);
        Ok(self.pages())
    }

    /// Blocks of room for so many pages, if a file may have them.
    fn blocks_of(&self, slots: u32) -> io::Result<u32> {
        let blocks = slots.checked_mul(self.page_size.blocks()).ok_or(io::ErrorKind::FileTooLarge)?;
        blocks_in_range(blocks).map(|()| blocks)
    }

    fn blocks_in(&self, bytes: u64) -> u32 {
        (bytes / self.page_size.block() as u64).min(u64::from(MAX_BLOCKS)) as u32
    }

    /// Makes the file large enough for so many blocks.
    fn grow(&self, blocks: u32, _growth: &MutexGuard<'_, ()>) -> io::Result<()> {
        if self.state.lock().is_detached {
            // Its file is being removed: what it took again, no one would give back.
            return Err(io::ErrorKind::StorageFull.into());
        }
        let (want, have) = (u64::from(blocks) * self.page_size.block() as u64, self.file.len()?);
        if want > have {
            self.make_room(have, want)?;
        }
        let end = self.blocks_in(self.file.len()?);
        let mut state = self.state.lock();
        if end > state.blocks.end() {
            state.blocks.grow(end);
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Takes room from the disk, so that the file has `want` bytes instead of `have`: of the header's place,
    /// if it has none yet, only for the header and one block.
    fn make_room(&self, have: u64, want: u64) -> io::Result<()> {
        let [block, page] = [self.page_size.block(), self.page_size.bytes()].map(|bytes| bytes as u64);
        let first = 2 * block;
        if have > 0 || want <= page || page <= first {
            return self.file.allocate(have, want - have);
        }
        self.file.allocate(0, first)?;
        self.file.allocate(page, want - page)
    }

    /// Writes the header if the file has none.
    fn ensure_header(&self) -> io::Result<()> {
        if self.state.lock().lacks_header {
            self.map.ensure_header()?;
            self.state.lock().lacks_header = false;
        }
        Ok(())
    }

    /// Takes free runs of as many blocks as `wanted` says, for the first of them at least, in ascending order
    /// as far as that goes; for none the place of a blank page. Makes the file larger if it lacks some and the
    /// disk has room. If there is none it waits for another cleaner's, where `may_wait` says so; the caller has
    /// no runs then.
    pub(crate) fn take_runs(&self, wanted: &[u32], may_wait: bool) -> io::Result<Vec<Place>> {
        let mut runs = Vec::with_capacity(wanted.len());
        let mut is_full = false;
        self.ensure_header()?;
        loop {
            let mut state = self.state.lock();
            while let Some(&blocks) = wanted.get(runs.len())
                && let Some(run) =
                    if blocks == 0 { Some(Place::BLANK) } else { state.blocks.allocate(blocks) }
            {
                state.in_flight += blocks;
                runs.push(run);
            }
            let missing: u32 = wanted[runs.len()..].iter().sum();
            if missing == 0 {
                return Ok(runs);
            }
            match state.room_wanted(missing) {
                Some(blocks) if !is_full => {
                    drop(state);
                    let grown = blocks_in_range(blocks).and_then(|()| self.take_room(missing, blocks));
                    match grown {
                        Ok(()) => {}
                        Err(error) if crate::space::is_no_space(&error) => is_full = true,
                        Err(error) => {
                            self.give_up(&runs);
                            return Err(error);
                        }
                    }
                }
                _ if !runs.is_empty() || !may_wait => return Ok(runs),
                _ if state.in_flight == 0 => return Err(io::ErrorKind::StorageFull.into()),
                _ => {
                    metrics::PLACE_WAITS.increment();
                    self.changed.wait_for(&mut state, RUN_PAUSE);
                    is_full = false;
                }
            }
        }
    }

    /// Gives runs back that have not become places.
    pub(crate) fn give_up(&self, runs: &[Place]) {
        let mut state = self.state.lock();
        for run in runs.iter().filter(|run| !run.is_none()) {
            state.in_flight -= run.blocks();
            state.blocks.give_back(*run);
        }
        self.changed.notify_all();
    }

    /// A record about these pages is about to be appended.
    pub(crate) fn begin_record(&self, pages: &[Placed]) {
        let mut state = self.state.lock();
        chunks_of(pages).for_each(|(number, _)| state.chunk(number).records += 1);
    }

    /// Nothing is known of the record: its runs stay taken, and the places what they were.
    pub(crate) fn give_record_up(&self, pages: &[Placed]) {
        let mut state = self.state.lock();
        for (number, pages) in chunks_of(pages) {
            state.chunk(number).records -= 1;
            state.in_flight -= pages.iter().map(|placed| placed.place.blocks()).sum::<u32>();
        }
        self.changed.notify_all();
    }

    /// The record, which begins at `start` and has a mark of its own, is durable: its places are where the
    /// pages are, and their old runs are free.
    pub(crate) fn end_record(&self, pages: &[Placed], start: Lsn, log: &Log) {
        let mut state = self.state.lock();
        for (number, pages) in chunks_of(pages) {
            state.set_all(pages);
            state.chunk(number).records -= 1;
            state.mark(number, start, log);
        }
        self.changed.notify_all();
    }

    /// Makes the places of pages durable by writing them into the map, without a record: for when the log
    /// takes none. After an error nothing may be given up: one slot may name the new runs, the other the old.
    pub(crate) fn write_places(
        &self,
        pages: &[Placed],
        log: &LogView<'_>,
        queue: &mut WriteQueue,
    ) -> io::Result<()> {
        let mut map = self.map.lock();
        let last = pages.last().map_or(0, |placed| chunk::locate(placed.page.page).0);
        // Those of the pages among them, so that no chunk is there before an earlier one is.
        let mut lacking: Vec<usize> = (0..=last).filter(|number| lacks(&map, *number)).collect();
        if lacking.iter().all(|lacking| chunks_of(pages).any(|(number, _)| number == *lacking)) {
            lacking.clear();
        }
        let written = self.write_chunks(&lacking, &mut map, log, queue).and_then(|()| {
            let images = self.snapshots_with(pages, log);
            self.write_images(images, &mut map, log.log, queue)
        });
        let mut state = self.state.lock();
        match written {
            Ok(()) => state.set_all(pages),
            Err(_) => pages.iter().for_each(|placed| {
                let old = state.set(placed);
                state.chunk(chunk::locate(placed.page.page).0).limbo.extend(old);
            }),
        }
        self.changed.notify_all();
        written
    }

    /// The chunks of pages as they will be with these places, when no record about them is under way.
    fn snapshots_with(&self, pages: &[Placed], log: &LogView<'_>) -> Vec<Snapshot> {
        let mut state = self.state.lock();
        let has_records = |state: &State, number: usize| {
            state.chunks.get(number).and_then(Option::as_ref).is_some_and(|chunk| chunk.records > 0)
        };
        while chunks_of(pages).any(|(number, _)| has_records(&state, number)) {
            self.changed.wait_for(&mut state, RUN_PAUSE);
        }
        let images = chunks_of(pages).map(|(number, pages)| {
            let mut image = state.snapshot(number, log);
            for placed in pages {
                image.image.places[chunk::locate(placed.page.page).1] = placed.place;
            }
            image
        });
        images.collect()
    }

    /// Whether the log is needed for a chunk below `below`.
    pub(crate) fn is_due(&self, below: Lsn) -> bool {
        self.state.lock().chunks.iter().flatten().any(|chunk| chunk.is_due(below))
    }

    /// Writes the chunks whose mark is below `below` into the map, durably, and takes their marks back. So it
    /// does those before them that the map lacks. How many they were.
    pub(crate) fn checkpoint(
        &self,
        below: Lsn,
        log: &LogView<'_>,
        queue: &mut WriteQueue,
    ) -> io::Result<usize> {
        let is_due = |chunk: &Option<Chunk>| chunk.as_ref().is_some_and(|chunk| chunk.is_due(below));
        if !self.is_due(below) {
            return Ok(0);
        }
        let mut map = self.map.lock();
        let state = self.state.lock();
        let end = state.chunks.iter().rposition(is_due).map_or(0, |last| last + 1);
        let is_due = |number: &usize| is_due(&state.chunks[*number]) || lacks(&map, *number);
        let due: Vec<usize> = (0..end).filter(is_due).collect();
        drop(state);
        self.write_chunks(&due, &mut map, log, queue)?;
        Ok(due.len())
    }

    /// Writes chunks as they are, in ascending order.
    fn write_chunks(
        &self,
        numbers: &[usize],
        map: &mut Written,
        log: &LogView<'_>,
        queue: &mut WriteQueue,
    ) -> io::Result<()> {
        numbers.chunks(CHUNKS_AT_ONCE).try_for_each(|some| {
            let mut state = self.state.lock();
            let images: Vec<_> = some.iter().map(|number| state.snapshot(*number, log)).collect();
            drop(state);
            self.write_images(images, map, log.log, queue)
        })
    }

    /// Writes chunks durably; then takes their marks back. If the disk is too full for it the marks stay.
    fn write_images(
        &self,
        images: Vec<Snapshot>,
        map: &mut Written,
        log: &Log,
        queue: &mut WriteQueue,
    ) -> io::Result<()> {
        let chunks: Vec<_> = images.iter().map(|snapshot| (snapshot.number, &snapshot.image)).collect();
        let written = self.map.write(map, &chunks, queue);
        metrics::MAP_CHUNKS_WRITTEN.add(images.len() as u64);
        let mut state = self.state.lock();
        for Snapshot { number, mark, limbo, .. } in images {
            match &written {
                Ok(()) => limbo.into_iter().for_each(|run| state.blocks.give_back(run)),
                Err(_) => {
                    state.chunk(number).limbo.extend(limbo);
                    mark.into_iter().for_each(|mark| state.mark(number, mark, log));
                }
            }
            mark.into_iter().for_each(|mark| log.unregister_dirty(mark));
        }
        written
    }

    /// The space is gone: no checkpoint waits for its places any more.
    pub(crate) fn detach(&self, log: &Log) {
        let mut state = self.state.lock();
        state.is_detached = true;
        let marks = state.chunks.iter_mut().flatten().filter_map(|chunk| chunk.mark.take());
        marks.for_each(|mark| log.unregister_dirty(mark));
    }

    /// Asserts what holds between two batches: runs do not overlap, and exactly those that no page has are
    /// free.
    #[cfg(test)]
    pub(crate) fn assert_sound(&self) {
        let state = self.state.lock();
        assert_eq!(state.in_flight, 0, "no cleaner is writing");
        let awaited = state.chunks.iter().flatten().flat_map(|chunk| chunk.awaited);
        assert_eq!(awaited.map(u64::count_ones).sum::<u32>(), state.awaited);
        let mut again = Blocks::new(state.blocks.end(), self.page_size.blocks());
        let places = state.chunks.iter().flatten().flat_map(|chunk| chunk.image.places.iter());
        let places: Vec<_> = places.filter(|place| !place.is_none()).collect();
        places.iter().for_each(|place| again.take(**place).expect("runs do not overlap"));
        let free = state.blocks.free() + state.blocks.holes();
        assert_eq!((again.free(), places.len() as u32), (free, state.placed));
        assert_eq!(
            places.iter().filter(|place| place.is_short(self.page_size)).count() as u32,
            state.compressed
        );
    }
}

/// Whether a chunk must be written because a later one is.
fn lacks(map: &Written, number: usize) -> bool {
    map.lacks(number) && !makes(Planted::GapsStay)
}

/// The log, and up to where recovery has read it.
pub(crate) struct LogView<'a> {
    pub(crate) log: &'a Log,
    pub(crate) recovered_to: Lsn,
}

impl LogView<'_> {
    /// Every record below has been settled, for a chunk about which none is under way.
    fn settled(&self) -> Lsn {
        // What is not durable may be lost, and its LSNs given to other records.
        if makes(Planted::LsnBeyondDurable) {
            return self.log.reserved().advance(1 << 20);
        }
        self.log.durable_lsn().max(self.recovered_to)
    }
}

/// A chunk as it is to be written, and what goes with that: its mark, and runs that become free.
struct Snapshot {
    number: usize,
    image: ChunkImage,
    mark: Option<Lsn>,
    limbo: Vec<Place>,
}

impl State {
    /// Takes the mark of a chunk and what it keeps from being free, and a copy of its places. The caller has
    /// the store's map to itself.
    fn snapshot(&mut self, number: usize, log: &LogView<'_>) -> Snapshot {
        let chunk = self.chunk(number);
        chunk.image.sequence += 1;
        if chunk.records == 0 {
            chunk.image.lsn = chunk.image.lsn.max(log.settled());
        }
        let (mut mark, limbo) = (chunk.mark.take(), std::mem::take(&mut chunk.limbo));
        if makes(Planted::MarksGoEarly) {
            mark.take().into_iter().for_each(|mark| log.log.unregister_dirty(mark));
        }
        Snapshot { number, image: chunk.image.clone(), mark, limbo }
    }
}

/// An error unless a file may have so many blocks.
fn blocks_in_range(blocks: u32) -> io::Result<()> {
    if blocks <= MAX_BLOCKS { Ok(()) } else { Err(io::ErrorKind::FileTooLarge.into()) }
}

#[cfg(all(test, not(loom)))]
mod tests;
