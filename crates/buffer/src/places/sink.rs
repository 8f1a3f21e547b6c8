//! The sink that writes pages to free runs.
//!
//! ```text
//!   take runs ─► write them, neighbours as one ─► sync the files
//!     ├─► record into the log, log durable ─┬─► places set, old runs free
//!     └─► places into the map, map durable ─┘
//! ```
//!
//! A page that is blank takes no run and is not written: the record says so. Beside the map, which would not
//! tell since when it is blank, it is written as any other.
//!
//! The lower way is for a log that takes no record: one that recovery is still reading, or one that is full
//! and will be until pages have been written. No cleaner ever waits for room in the log.
//!
//! A page for which there is no whole run, nor room for one on the disk, is compressed whatever its space
//! says: beside the header there is room for a page that becomes short enough. Its old run is the free one
//! that the next page needs.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use palisade_base::{Lsn, PageId, PageNo, SpaceId};
use palisade_io::counts::FileUse;
use palisade_io::{AlignedBuf, Extent, File, IoPool, Write, WriteQueue};
use palisade_log::{Credit, Log};
use parking_lot::{Mutex, RwLock};

use super::place::Place;
use super::record::{self, MOST_PAGES, Placed};
use super::store::{LogView, PlaceStore};
use crate::error::Error;
use crate::metrics;
use crate::page_size::PageSize;
use crate::planted::{Planted, makes};
use crate::sink::{self, BatchPage, BatchPart, PageSink};
use crate::space::is_no_space;
use crate::stored::{Codec, Encoder};

/// Maps of so many spaces are written several at a time.
const ABREAST: usize = 4;
/// So many are handed to the I/O threads, which then do what else has come.
const AT_ONCE: usize = 16;

/// Out of place: a page is written to a free run, and its old run becomes free when that is known for good.
pub struct OutOfPlace {
    log: Arc<Log>,
    /// The end of the log that recovery has found; 0 for a log that is new.
    recovered_to: AtomicU64,
    stores: RwLock<HashMap<SpaceId, Arc<PlaceStore>>>,
    /// In which pages that are neighbours in a file become neighbours in memory: one for each cleaner that
    /// has had such pages.
    buffers: Mutex<Vec<AlignedBuf>>,
}

/// Pages of one space that are written together.
struct Round<'a> {
    store: Arc<PlaceStore>,
    batch: &'a [BatchPage],
    pages: Vec<Placed>,
    bytes: RoundBytes<'a>,
}

/// The stored forms of a round's pages, a page's bytes for each.
enum RoundBytes<'a> {
    OfBatch(&'a [u8]),
    /// Of the one page that was compressed to find a run.
    Own(AlignedBuf),
}

impl std::ops::Deref for RoundBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            RoundBytes::OfBatch(bytes) => bytes,
            RoundBytes::Own(bytes) => bytes,
        }
    }
}

impl OutOfPlace {
    /// For spaces whose changes are in `log`.
    pub fn new(log: Arc<Log>) -> Arc<Self> {
        Arc::new(OutOfPlace {
            log,
            recovered_to: AtomicU64::new(0),
            stores: RwLock::default(),
            buffers: Mutex::default(),
        })
    }

    /// Recovery has read all place records of the log, which ends at `end`.
    pub(crate) fn recovered(&self, end: Lsn) {
        self.recovered_to.store(end.0, Ordering::Relaxed);
    }

    /// Pages of the store's space are to be written into it.
    pub(crate) fn attach(&self, store: &Arc<PlaceStore>) {
        let before = self.stores.write().insert(store.space(), store.clone());
        assert!(before.is_none(), "space {} is attached already", store.space().0);
    }

    /// The space is gone.
    pub(crate) fn detach(&self, space: SpaceId) {
        let store = self.stores.write().remove(&space);
        store.into_iter().for_each(|store| store.detach(&self.log));
    }

    fn view(&self) -> LogView<'_> {
        LogView { log: &self.log, recovered_to: Lsn(self.recovered_to.load(Ordering::Relaxed)) }
    }

    /// Writes into the maps what the log is needed for below `below`. How many chunks.
    pub(crate) fn checkpoint(&self, below: Lsn, queue: &mut WriteQueue) -> io::Result<usize> {
        let stores: Vec<_> =
            self.stores.read().values().filter(|store| store.is_due(below)).cloned().collect();
        let (count, failed) = (AtomicUsize::new(0), Mutex::new(None::<io::Error>));
        // Each is tried: others' marks keep the log as well as those of one whose disk is full.
        let write =
            |store: &PlaceStore, queue: &mut WriteQueue| match store.checkpoint(below, &self.view(), queue) {
                Ok(chunks) => drop(count.fetch_add(chunks, Ordering::Relaxed)),
                // A full disk can be waited for, anything else cannot.
                Err(error) => {
                    let mut failed = failed.lock();
                    if failed.as_ref().is_none_or(is_no_space) {
                        *failed = Some(error);
                    }
                }
            };
        match stores.len() {
            // The queue's depth is for the chunks of each.
            ..ABREAST => stores.iter().for_each(|store| write(store, queue)),
            // Most are small, and wait for two flushes of a chunk each: several wait at once.
            _ => stores.chunks(AT_ONCE).try_for_each(|some| {
                queue.for_each(some.len(), &|at| {
                    write(&some[at], &mut WriteQueue::new(Arc::new(IoPool::inline())));
                    Ok(())
                })
            })?,
        }
        failed.into_inner().map_or(Ok(count.into_inner()), Err)
    }

    /// Gives room that no page needs back to the disk.
    pub(crate) fn give_room_back(&self) {
        let stores: Vec<_> =
            self.stores.read().values().filter(|store| store.has_surplus()).cloned().collect();
        stores.iter().for_each(|store| store.give_room_back());
    }

    /// The log has been redone: what pages were before they were blank is of no interest any more.
    pub fn redone(&self) {
        self.stores.read().values().for_each(|store| store.redone());
    }

    /// Pages of a space are in no use, and the log has nothing of them but that: they are blank from now on.
    /// For one whose map [was made again](PlaceStore::was_remade), before any of them is accessed. Blocks.
    pub fn forget(&self, store: &PlaceStore, pages: &[PageNo]) -> Result<(), Error> {
        let failed = |source| Error::Extend { space: store.space(), source: Arc::new(source) };
        let due: Vec<PageNo> = pages.iter().copied().filter(|page| !store.place(*page).is_blank()).collect();
        for some in due.chunks(MOST_PAGES) {
            let full = || failed(io::Error::other("the redo log is full"));
            let credit = self.credit(some.len()).ok_or_else(full)?;
            let lsn = self.log.tail();
            let blank = |&page: &PageNo| {
                let page = PageId { space: store.space(), page };
                Placed { page, place: Place::BLANK, lsn }
            };
            let said: Vec<Placed> = some.iter().map(blank).collect();
            self.record(&[(store, &said)], credit).map_err(failed)?;
        }
        Ok(())
    }

    /// Writes the chunks of a store that recovery has marked into its map, with everything that they say.
    pub(crate) fn settle(&self, store: &PlaceStore) -> Result<(), Error> {
        if makes(Planted::DoubtIsForgotten) {
            return Ok(());
        }
        let mut queue = WriteQueue::new(Arc::new(IoPool::inline()));
        let synced = store.file().sync_contents();
        let settled = synced.and_then(|()| store.checkpoint(Lsn::MAX, &self.view(), &mut queue));
        settled.map(drop).map_err(|source| Error::Extend { space: store.space(), source: Arc::new(source) })
    }

    /// Takes runs for as many of the first pages of the part as there are runs for, and gives the others
    /// back. `with_blanks`, those that are blank need none. Those of a space that has no runs, nor room for some
    /// on the disk, are passed over; `stuck` is why.
    fn take_round<'a>(
        &self,
        part: BatchPart<'a>,
        with_blanks: bool,
        stuck: &mut Option<io::Error>,
    ) -> io::Result<(Vec<Round<'a>>, Option<BatchPart<'a>>)> {
        let mut rounds: Vec<Round<'a>> = Vec::new();
        let mut rest = part;
        while let Some(first) = rest.pages().first() {
            let space = first.id.space;
            let is_alike = |page: &&BatchPage| page.id.space == space && page.is_due() == first.is_due();
            let count = rest.pages().iter().take_while(is_alike).count();
            let store = first.is_due().then(|| self.stores.read().get(&space).cloned()).flatten();
            let Some(store) = store else {
                rest = rest.split_at(count).1;
                continue;
            };
            let blocks = |page: &BatchPage| match with_blanks && page.is_blank {
                true => 0,
                false => page.stored.div_ceil(part.page_size().block()) as u32,
            };
            let wanted: Vec<u32> = rest.pages()[..count].iter().map(blocks).collect();
            let runs = match store.take_runs(&wanted, rounds.is_empty()) {
                Ok(runs) => runs,
                Err(error) if rounds.is_empty() && is_no_space(&error) => {
                    let (own, others) = rest.split_at(count);
                    if let Some(blanks) = wanted.iter().position(|blocks| *blocks == 0) {
                        return Ok((vec![Round::of_blanks(store, own, blanks)], Some(rest)));
                    }
                    match Round::squeezed(store, own)? {
                        Some(round) => return Ok((vec![round], Some(rest))),
                        None => *stuck = Some(error),
                    }
                    rest = others;
                    continue;
                }
                Err(error) => {
                    rounds.iter().for_each(Round::give_up);
                    return Err(error);
                }
            };
            let (own, others) = rest.split_at(runs.len());
            let placed = own.pages().iter().zip(&runs).map(|(page, &place)| page.placed(place));
            if !runs.is_empty() {
                let pages = placed.collect();
                let (batch, bytes) = (own.pages(), RoundBytes::OfBatch(own.bytes()));
                rounds.push(Round { store, batch, pages, bytes });
            }
            rest = others;
            if runs.len() < count {
                return Ok((rounds, Some(rest)));
            }
        }
        Ok((rounds, None))
    }

    fn write_round(
        &self,
        rounds: &[Round<'_>],
        credit: Option<Credit<'_>>,
        queue: &mut WriteQueue,
    ) -> io::Result<()> {
        if rounds.is_empty() {
            return Ok(());
        }
        let all = || rounds.iter().flat_map(|round| &round.pages);
        let pages = all().filter(|placed| !placed.place.is_none()).count() as u64;
        let blanks = all().filter(|placed| placed.place.is_blank()).count() as u64;
        if let Err(error) = self.write_runs(rounds, credit.is_some(), queue) {
            rounds.iter().for_each(Round::give_up);
            return Err(error);
        }
        match credit {
            Some(credit) => {
                let said: Vec<_> = rounds.iter().map(|round| (&*round.store, &round.pages[..])).collect();
                self.record(&said, credit)?;
            }
            None => {
                metrics::PAGES_PLACED_BY_MAP.add(pages);
                let place = |round: &Round<'_>| round.store.write_places(&round.pages, &self.view(), queue);
                // Each is tried: what fails keeps its old runs, and what is not tried would lose the new
                // ones.
                rounds.iter().map(place).fold(Ok(()), io::Result::and)?;
            }
        }
        metrics::PAGES_PLACED.add(pages);
        metrics::PAGES_BLANK.add(blanks);
        metrics::BUFFER_PAGES_WRITTEN.add(pages);
        metrics::BUFFER_DATA_WRITTEN.add(rounds.iter().map(Round::stored).sum());
        Ok(())
    }

    /// Writes the pages into their runs: neighbours are one write. They are durable afterwards, or,
    /// `with_log`, when the log is: where a file leaves it to the device, the log's next flush covers it.
    fn write_runs(&self, rounds: &[Round<'_>], with_log: bool, queue: &mut WriteQueue) -> io::Result<()> {
        let mut gathered = Gathered::default();
        if rounds.iter().flat_map(Round::neighbours).any(|run| run.is_scattered) {
            gathered.bytes = self.buffers.lock().pop();
            rounds.iter().for_each(|round| round.gather(&mut gathered));
        }
        let mut rest = gathered.bytes.as_deref().unwrap_or_default();
        let writes: Vec<Write<'_>> = rounds.iter().flat_map(|round| round.writes(&mut rest)).collect();
        let written = rounds.iter().filter(|round| round.stored() > 0);
        let files: Vec<Arc<dyn File>> = written.map(|round| round.store.file().clone()).collect();
        sink::write(queue, &writes)?;
        self.buffers.lock().extend(gathered.bytes);
        match with_log {
            _ if makes(Planted::DataIsNotSynced) => Ok(()),
            true => sink::sync(queue, &files, FileUse::Data),
            // The map says it next, which nothing else vouches for.
            false => files.iter().try_for_each(|file| file.sync_contents()).map_err(sink::sync_failed),
        }
    }

    /// Room in the log for a record of so many pages, if there is some now.
    fn credit(&self, pages: usize) -> Option<Credit<'_>> {
        if makes(Planted::NoCredit) {
            return None;
        }
        let bytes = record::most_bytes(pages);
        // It may be short of room only until it has written what it has.
        self.log.admit(bytes).ok().or_else(|| {
            self.log.flush_blocking(self.log.tail()).ok()?;
            self.log.admit(bytes).ok()
        })
    }

    /// Makes the places that are said of pages durable by a record.
    fn record(&self, said: &[(&PlaceStore, &[Placed])], mut credit: Credit<'_>) -> io::Result<()> {
        let all: Vec<Placed> = said.iter().flat_map(|(_, pages)| pages.iter().copied()).collect();
        let mut payload = Vec::with_capacity(record::most_bytes(all.len()));
        record::encode(&all, &mut payload);
        said.iter().for_each(|(store, pages)| store.begin_record(pages));
        let range = self.log.append(&mut credit, &payload, |range| self.log.register_dirty(range.start));
        drop(credit);
        if !makes(Planted::RecordIsNotFlushed) {
            let durable = self.log.flush_blocking(range.end);
            if let Err(error) = durable {
                // What is on disk is unknown; but no one is to wait for this record.
                said.iter().for_each(|(store, pages)| store.give_record_up(pages));
                return Err(io::Error::other(format!("the log is not durable: {error}")));
            }
        }
        said.iter().for_each(|(store, pages)| store.end_record(pages, range.start, &self.log));
        self.log.unregister_dirty(range.start);
        Ok(())
    }
}

/// Copies of pages, one behind the other.
#[derive(Default)]
struct Gathered {
    bytes: Option<AlignedBuf>,
    len: usize,
}

impl Gathered {
    fn push(&mut self, page: &[u8], size: PageSize) {
        let bytes = self.bytes.get_or_insert_with(|| AlignedBuf::zeroed(MOST_PAGES * size.bytes()));
        bytes[self.len..self.len + page.len()].copy_from_slice(page);
        self.len += page.len();
    }
}

/// Pages of a round that are neighbours in the file.
struct Neighbours {
    /// Which ones.
    pages: Range<usize>,
    /// They are not neighbours in the batch, because some are compressed.
    is_scattered: bool,
}

impl<'a> Round<'a> {
    /// The first page of these that becomes a block by compression, if there is a run for it.
    fn squeezed(store: Arc<PlaceStore>, part: BatchPart<'a>) -> io::Result<Option<Round<'a>>> {
        let size = part.page_size();
        let pages = part.pages().iter().zip(part.bytes().chunks_exact(size.bytes()));
        for (page, plain) in pages.filter(|(page, _)| page.stored == size.bytes()) {
            let mut bytes = AlignedBuf::zeroed(size.bytes());
            bytes.copy_from_slice(plain);
            let stored = Encoder::default().encode(Codec::Lz4, 0, &mut bytes);
            if stored.is_none_or(|stored| stored > size.block()) {
                continue;
            }
            let runs = store.take_runs(&[1], false)?;
            let pages: Vec<Placed> = runs.iter().map(|run| page.placed(*run)).collect();
            let (batch, bytes) = (std::slice::from_ref(page), RoundBytes::Own(bytes));
            return Ok((!pages.is_empty()).then_some(Round { store, batch, pages, bytes }));
        }
        Ok(None)
    }

    /// The blank pages of these from the one at `first` on.
    fn of_blanks(store: Arc<PlaceStore>, part: BatchPart<'a>, first: usize) -> Round<'a> {
        let (_, rest) = part.split_at(first);
        let count = rest.pages().iter().take_while(|page| page.is_blank).count();
        let (blanks, _) = rest.split_at(count);
        let pages = blanks.pages().iter().map(|page| page.placed(Place::BLANK)).collect();
        Round { store, batch: blanks.pages(), pages, bytes: RoundBytes::OfBatch(blanks.bytes()) }
    }

    /// Pages that have runs, neighbours together.
    fn neighbours(&self) -> impl Iterator<Item = Neighbours> {
        let (mut end, size) = (0, self.store.page_size());
        self.pages.chunk_by(|a, b| a.place.end() == b.place.block()).filter_map(move |run| {
            let start = end;
            end += run.len();
            let is_scattered = run.iter().rev().skip(1).any(|page| page.place.is_short(size));
            (!run[0].place.is_none()).then_some(Neighbours { pages: start..end, is_scattered })
        })
    }

    /// A page in its stored form.
    fn bytes(&self, page: usize) -> &[u8] {
        let size = self.store.page_size();
        &self.bytes[page * size.bytes()..][..self.pages[page].place.bytes(size)]
    }

    /// Copies pages that are neighbours only in the file.
    fn gather(&self, gathered: &mut Gathered) {
        for run in self.neighbours().filter(|run| run.is_scattered) {
            run.pages.for_each(|page| gathered.push(self.bytes(page), self.store.page_size()));
        }
    }

    /// One write for neighbours; those that are so only in the file are the first ones in `gathered`.
    fn writes<'b>(&'b self, gathered: &mut &'b [u8]) -> Vec<Write<'b>> {
        let size = self.store.page_size();
        let write = move |Neighbours { pages, is_scattered }| {
            let first = pages.start;
            let len = self.pages[pages].iter().map(|page| page.place.bytes(size)).sum();
            let bytes = match is_scattered {
                true => {
                    let (own, rest) = gathered.split_at(len);
                    *gathered = rest;
                    own
                }
                false => &self.bytes[first * size.bytes()..][..len],
            };
            let offset = self.pages[first].place.offset(size);
            Write { file: self.store.file(), bytes, offset, extent: Extent::Any }
        };
        self.neighbours().map(write).collect()
    }

    /// Bytes of the stored forms.
    fn stored(&self) -> u64 {
        let size = self.store.page_size();
        self.pages.iter().map(|page| page.place.bytes(size) as u64).sum()
    }

    fn give_up(&self) {
        let runs: Vec<Place> = self.pages.iter().map(|page| page.place).collect();
        self.store.give_up(&runs);
    }
}

impl PageSink for OutOfPlace {
    fn name(&self) -> &'static str {
        "OUT_OF_PLACE"
    }

    fn batch_pages(&self) -> usize {
        usize::MAX
    }

    fn lanes(&self) -> usize {
        usize::MAX
    }

    fn write(&self, _lane: usize, part: BatchPart<'_>, queue: &mut WriteQueue) -> io::Result<()> {
        let (mut rest, mut stuck) = (Some(part), None);
        while let Some(part) = rest {
            let most = part.pages().len().min(MOST_PAGES);
            let (now, later) = part.split_at(most);
            let credit = self.credit(most);
            let with_blanks = credit.is_some() || makes(Planted::BlanksGoToTheMap);
            let (rounds, left) = self.take_round(now, with_blanks, &mut stuck)?;
            self.write_round(&rounds, credit, queue)?;
            // A part that fails is tried again: without these, which would fill the log with records.
            rounds.iter().flat_map(|round| round.batch).for_each(BatchPage::note_written);
            rest = match left {
                Some(left) => Some(part.split_at(most - left.pages().len()).1),
                None => (!later.pages().is_empty()).then_some(later),
            };
        }
        stuck.map_or(Ok(()), Err)
    }
}
