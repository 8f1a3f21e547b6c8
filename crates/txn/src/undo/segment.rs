//! The undo space and its segments.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::cycle::CycleGuard;
use palisade_base::event::retry_blocking;
use palisade_base::{Blocked, Lsn, PageId, PageNo, SpaceId, TrxId};
use palisade_btree::alloc::{self, Reservation};
use palisade_btree::mtr::{MAX_ALLOCATION_BYTES, OP_OVERHEAD, max_op_bytes};
use palisade_btree::{Handle, Mtr, PageOp};
use palisade_buffer::{Page, PageRead, PageSize, Space};
use palisade_log::Log;
use parking_lot::{Mutex, RwLock};

use crate::entry::UndoPtr;
use crate::error::{Attempt, Error};
use crate::metrics;
use crate::sessions::thread_shard;
use crate::undo::held::{HeldLock, unpack};
use crate::undo::history::{HistoryEntry, Purged, SegmentShared};
use crate::undo::page::*;
use crate::undo::record::{RECORD_HEADER, Undo, UndoRecord, max_locks_record, max_record};
use crate::undo::reserve::{Purpose, Reserve};
use crate::undo::trim::Trim;

/// The space that undo lives in.
pub const UNDO_SPACE: SpaceId = SpaceId(1);
/// What is wrong with undo records of which one leads back to a newer one.
pub(crate) const IN_A_CIRCLE: &str = "undo records lead in a circle";
/// Ids fit into 48 bits, and not all of them have been given.
const MOST_IDS: u64 = (1 << 48) - (1 << 32);
/// Ids made known as given at once.
const ID_STEP: u64 = 1 << 16;
/// Most bytes of redo of appending undo records, moving on to a new page included.
#[inline]
pub const fn max_append_bytes(size: PageSize) -> usize {
    max_record(size) + MAX_ALLOCATION_BYTES + 10 * OP_OVERHEAD
}

/// The same of a record about locks.
pub(crate) const fn max_append_locks_bytes(size: PageSize) -> usize {
    max_locks_record(size) + MAX_ALLOCATION_BYTES + 10 * OP_OVERHEAD
}

/// Space 1.
pub struct UndoSpace {
    log: Arc<Log>,
    space: Arc<Space>,
    id_limit: AtomicU64,
    free: [Mutex<Vec<Segment>>; 16],
    all: RwLock<Vec<Arc<SegmentShared>>>,
    /// Pages that have become free; those that were at the start among them.
    pub(crate) freed: AtomicU64,
    pub(crate) trim: Trim,
    pub(crate) reserve: Reserve,
}

/// A segment as its present user has it.
pub struct Segment {
    shared: Arc<SegmentShared>,
    tail: PageNo,
    used: u16,
}

/// Room for undo records of one mini-transaction, on a page that it holds.
#[must_use]
pub struct UndoPlace {
    tail: Handle,
    /// A new page, if the tail is full, and the directory.
    fresh: Option<(Reservation, Handle)>,
}

/// A transaction that had not ended at a crash.
pub(crate) struct InFlight {
    pub(crate) id: TrxId,
    /// Its newest record.
    pub(crate) last: UndoPtr,
    pub(crate) segment: Segment,
    /// Whether that record says that it is prepared.
    pub(crate) is_prepared: bool,
}

/// What recovery finds in the undo space.
pub(crate) struct Found {
    /// Those that had not ended.
    pub(crate) in_flight: Vec<InFlight>,
    /// The next id.
    pub(crate) next_id: TrxId,
}

impl UndoSpace {
    /// Makes an attached, formatted, otherwise empty space the undo space. Blocks.
    pub(crate) fn create(log: Arc<Log>, space: Arc<Space>) -> Result<Self, Error> {
        let pages = directory_pages(space.page_size());
        retry_blocking(|| {
            let mut mtr = Mtr::begin(&log, (pages as usize + 1) * MAX_ALLOCATION_BYTES)?;
            let mut reservation = alloc::reserve(&mut mtr, &space, PageNo::NONE, pages)?;
            for number in 0..pages {
                let format = PageOp::Format { page_type: DIRECTORY_TYPE };
                let (page, handle) = reservation.allocate(&mut mtr, format);
                assert!(page.0 == DIRECTORY.0 + number, "the directory comes right after the header");
                if page == DIRECTORY {
                    mtr.write(handle, ID_LIMIT, &1u64.to_le_bytes());
                }
            }
            mtr.commit(|_| {});
            Ok::<(), Blocked<palisade_btree::Error>>(())
        })?;
        Ok(Self::new(log, space, 1))
    }

    fn new(log: Arc<Log>, space: Arc<Space>, id_limit: u64) -> Self {
        space.expect_holes();
        UndoSpace {
            log,
            space,
            id_limit: AtomicU64::new(id_limit),
            free: std::array::from_fn(|_| Mutex::default()),
            all: RwLock::default(),
            freed: AtomicU64::new(0),
            trim: Trim::default(),
            reserve: Reserve::default(),
        }
    }

    /// Opens the undo space after redo. Reads the directory and a page of each segment, however much undo there is. Blocks.
    pub(crate) fn open(log: Arc<Log>, space: Arc<Space>) -> Result<(Self, Found), Error> {
        let directory = |page: PageNo| -> Attempt<_> {
            let page = space.shared(page).map_err(Blocked::up::<Error>)?;
            if page.page_type() != DIRECTORY_TYPE {
                return Err(corrupted(page.id(), "not an undo directory").into());
            }
            Ok(page)
        };
        let (id_limit, count) = retry_blocking(|| {
            let page = directory(DIRECTORY)?;
            Ok::<_, Blocked<Error>>((
                page.u64_at(ID_LIMIT),
                page.u32_at(SEGMENT_COUNT).min(max_segments(space.page_size())) as u16,
            ))
        })?;
        if id_limit > MOST_IDS {
            return Err(corrupted(space.page_id(DIRECTORY), "impossible limit of transaction ids"));
        }
        let chain = |number: u16| {
            retry_blocking(|| {
                let (page, at) = directory_place(space.page_size().bytes(), number);
                let page = directory(page)?;
                let last = UndoPtr::from_u64(page.u64_at(at + 8));
                let purged = Purged { last, ..Purged::nothing(PageNo(page.u32_at(at))) };
                Ok::<_, Blocked<Error>>((purged, PageNo(page.u32_at(at + 4))))
            })
        };
        let chains = (0..count).map(chain).collect::<Result<Vec<_>, Error>>()?;
        let this = Self::new(log, space, id_limit);
        let mut found = Found { in_flight: Vec::new(), next_id: TrxId(id_limit) };
        for (number, (purged, tail)) in chains.into_iter().enumerate() {
            this.open_segment(number as u16, purged, tail, &mut found)?;
        }
        let usage = retry_blocking(|| alloc::usage(&this.space).map_err(Blocked::up::<Error>))?;
        this.freed.store(usage.free.into(), Ordering::Relaxed);
        metrics::TRX_UNDO_PAGES
            .add(usage.in_use().saturating_sub(directory_pages(this.space.page_size())).into());
        Ok((this, found))
    }

    fn open_segment(
        &self,
        number: u16,
        purged: Purged,
        tail: PageNo,
        found: &mut Found,
    ) -> Result<(), Error> {
        let state = self.read_page(tail, |page| TailState::read(page, number))?;
        let is_free = state.occupancy == Occupancy::Free;
        let is_known = |other: &InFlight| other.id == state.writer;
        if !is_free && (state.writer >= found.next_id || found.in_flight.iter().any(is_known)) {
            return Err(corrupted(self.page_id(tail), "a transaction with an id that it cannot have"));
        }
        let in_flight = if is_free { None } else { Some(state.writer) };
        let shared = SegmentShared::found(number, purged.clone(), tail, &state, in_flight);
        if purged.head == tail {
            // It is in memory.
            retry_blocking(|| shared.read_on(self, &purged, 1))?;
        }
        let shared = Arc::new(shared);
        self.all.write().push(shared.clone());
        let segment = Segment { shared, tail, used: state.used };
        if is_free {
            self.free_list(usize::from(number)).lock().push(segment);
        } else {
            let is_prepared = state.occupancy == Occupancy::Prepared;
            found.in_flight.push(InFlight { id: state.writer, last: state.last, segment, is_prepared });
        }
        Ok(())
    }

    fn read_page<R>(
        &self,
        page: PageNo,
        mut read: impl FnMut(&Page) -> Result<R, &'static str>,
    ) -> Result<R, Error> {
        retry_blocking(|| {
            let page = self.space.shared(page).map_err(Blocked::up::<Error>)?;
            read(&page).map_err(|what| corrupted(page.id(), what).into())
        })
    }

    /// Holds a page of the directory. Waits for: it to be read.
    fn directory<'a>(&'a self, mtr: &mut Mtr<'a>, page: PageNo) -> Attempt<Handle> {
        let handle = mtr.exclusive(&self.space, page).map_err(Blocked::up)?;
        match mtr.page(handle).page_type() {
            DIRECTORY_TYPE => Ok(handle),
            _ => Err(corrupted(mtr.page_id(handle), "not an undo directory").into()),
        }
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// The space.
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }

    pub(crate) fn segments(&self) -> Vec<Arc<SegmentShared>> {
        self.all.read().clone()
    }

    /// Ended transactions whose undo is still there, in all segments. Waits for nobody who purges.
    pub(crate) fn history_length(&self) -> u64 {
        self.all.read().iter().map(|segment| segment.history_length()).sum()
    }

    pub(crate) fn page_id(&self, page: PageNo) -> PageId {
        PageId { space: self.space.id(), page }
    }

    /// Notes durably, before any of them is used, that ids below `until` may be given. Waits for: log credit, the
    /// directory to be read.
    pub(crate) fn ensure_id_limit(&self, until: TrxId) -> Attempt<()> {
        if until.0 <= self.id_limit.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut mtr = Mtr::begin(&self.log, 2 * OP_OVERHEAD).map_err(Blocked::up)?;
        let directory = self.directory(&mut mtr, DIRECTORY)?;
        let limit = mtr.page(directory).u64_at(ID_LIMIT).max(until.0) + ID_STEP;
        mtr.write(directory, ID_LIMIT, &limit.to_le_bytes());
        mtr.commit(|_| {});
        self.id_limit.fetch_max(limit, Ordering::AcqRel);
        Ok(())
    }

    /// A segment that no transaction uses: one this thread has used before, if possible. Waits for: what
    /// making a new one takes.
    pub(crate) fn take_segment(&self, purpose: Purpose) -> Attempt<Segment> {
        let own = thread_shard();
        for shard in (own..self.free.len()).chain(0..own) {
            if let Some(segment) = self.free_list(shard).lock().pop() {
                return Ok(segment);
            }
        }
        self.create_segment(purpose)
    }

    #[expect(clippy::indexing_slicing, reason = "the remainder is below the length")]
    fn free_list(&self, shard: usize) -> &Mutex<Vec<Segment>> {
        &self.free[shard % self.free.len()]
    }

    /// Gives a segment back.
    pub(crate) fn give_back(&self, segment: Segment) {
        self.free_list(thread_shard()).lock().push(segment);
    }

    fn create_segment(&self, purpose: Purpose) -> Attempt<Segment> {
        let mut mtr = Mtr::begin(&self.log, MAX_ALLOCATION_BYTES + 8 * OP_OVERHEAD).map_err(Blocked::up)?;
        let directory = self.directory(&mut mtr, DIRECTORY)?;
        let number = mtr.page(directory).u32_at(SEGMENT_COUNT);
        if number >= max_segments(self.space.page_size()) {
            return Err(Error::TooManyTransactions.into());
        }
        let (place, at) = directory_place(self.space.page_size().bytes(), number as u16);
        let place = self.directory(&mut mtr, place)?;
        let kept = self.reserve.kept(purpose);
        let mut reservation =
            alloc::reserve_beyond(&mut mtr, &self.space, PageNo::NONE, 1, kept).map_err(Blocked::up)?;
        let (page, handle) = reservation.allocate(&mut mtr, PageOp::Format { page_type: UNDO_TYPE });
        let number = number as u16;
        mtr.write(handle, SEGMENT, &number.to_le_bytes());
        let used = RECORDS as u16;
        let state = TailState { occupancy: Occupancy::Free, last: UndoPtr::NONE, writer: TrxId::NONE, used };
        mtr.write(handle, STATE, &state.encode());
        mtr.write(place, at, &[page.0.to_le_bytes(), page.0.to_le_bytes()].concat());
        mtr.write(directory, SEGMENT_COUNT, &(u32::from(number) + 1).to_le_bytes());
        mtr.commit(|_| {});
        metrics::TRX_UNDO_PAGES.increment();
        let shared = Arc::new(SegmentShared::new(number, page));
        self.all.write().push(shared.clone());
        Ok(Segment { shared, tail: page, used })
    }

    /// Calls `read` with the record at `place`, and with its bytes. Waits for: the page to be read.
    pub(crate) fn read<R>(
        &self,
        place: UndoPtr,
        read: impl FnOnce(UndoRecord<'_>, &[u8]) -> R,
    ) -> Attempt<R> {
        let page = self.space.shared(place.page()).map_err(Blocked::up)?;
        let start = usize::from(place.offset());
        match UndoRecord::read(&page, start) {
            Ok((record, len)) if page.page_type() == UNDO_TYPE => {
                Ok(read(record, page.slice(start, len).unwrap_or_default()))
            }
            _ => Err(corrupted(page.id(), "not an undo record").into()),
        }
    }

    /// Copies the bytes of the record at `place`. Waits for: the page to be read.
    pub(crate) fn copy_record(&self, place: UndoPtr, out: &mut Vec<u8>) -> Attempt<()> {
        self.read(place, |_, bytes| {
            out.clear();
            out.extend_from_slice(bytes);
        })
    }

    /// What the Prepare record at `place`, of `writer`, says; calls `has` with the locks that the records in front of it
    /// speak of. Blocks.
    pub(crate) fn read_promise(
        &self,
        mut place: UndoPtr,
        writer: TrxId,
        mut has: impl FnMut(HeldLock),
    ) -> Result<Box<[u8]>, Error> {
        let mut note = None;
        let mut bytes = Vec::new();
        let mut cycle = CycleGuard::default();
        while !place.is_none() {
            retry_blocking(|| self.copy_record(place, &mut bytes))?;
            let wrong = |what| corrupted(self.page_id(place.page()), what);
            let record = UndoRecord::decode(&bytes).map_err(|_| wrong("not an undo record"))?;
            if record.writer != writer {
                return Err(wrong("the undo record of another transaction"));
            }
            if cycle.returns_to(place.to_u64()) {
                return Err(wrong(IN_A_CIRCLE));
            }
            match (record.undo, &note) {
                (Undo::Prepare { note: found }, None) => note = Some(found.into()),
                (_, None) => return Err(wrong("a prepared transaction without its record")),
                (Undo::Locks { locks }, Some(_)) => {
                    unpack(locks).map_err(|_| wrong("locks that cannot be"))?.into_iter().for_each(&mut has);
                }
                (_, Some(_)) => break,
            }
            place = record.previous;
        }
        note.ok_or_else(|| corrupted(self.page_id(DIRECTORY), "a prepared transaction without records"))
    }

    /// Gives back the first page of a segment, which is not its tail, in one mini-transaction, and notes
    /// that. Waits for: pages.
    pub(crate) fn free_head(&self, segment: &SegmentShared, purged: &mut Purged) -> Attempt<()> {
        let mut mtr = Mtr::begin(&self.log, MAX_ALLOCATION_BYTES + 2 * OP_OVERHEAD).map_err(Blocked::up)?;
        let page = mtr.exclusive(&self.space, purged.head).map_err(Blocked::up)?;
        let next = PageNo(mtr.page(page).u32_at(NEXT));
        if next == PageNo::NONE || mtr.page(page).u16_at(SEGMENT) != segment.number {
            return Err(corrupted(mtr.page_id(page), "an undo segment ends before its tail").into());
        }
        let (directory, at) = directory_place(self.space.page_size().bytes(), segment.number);
        let directory = self.directory(&mut mtr, directory)?;
        let freeing = alloc::prepare_free(&mut mtr, &self.space, purged.head).map_err(Blocked::up)?;
        alloc::free(&mut mtr, freeing);
        let last = if purged.last.page() == purged.head { UndoPtr::NONE } else { purged.last };
        mtr.write(directory, at, &next.0.to_le_bytes());
        mtr.write(directory, at + 8, &last.to_u64().to_le_bytes());
        mtr.commit(|_| {});
        self.freed.fetch_add(1, Ordering::Relaxed);
        metrics::TRX_UNDO_PAGES.subtract(1);
        metrics::PURGE_UNDO_LOG_PAGES.increment();
        (purged.head, purged.last) = (next, last);
        Ok(())
    }
}

pub(crate) fn corrupted(page: PageId, what: &'static str) -> Error {
    Error::Corrupted { page, what }
}

impl Segment {
    /// Takes the tail into the mini-transaction. After tree pages, before space headers. Waits for: the page to be read.
    pub fn latch<'a>(&self, undo: &'a UndoSpace, mtr: &mut Mtr<'a>) -> Attempt<Handle> {
        let tail = mtr.exclusive(&undo.space, self.tail).map_err(Blocked::up)?;
        match TailState::read(mtr.page(tail), self.shared.number) {
            Ok(state) if state.used == self.used => Ok(tail),
            Ok(_) => {
                Err(corrupted(mtr.page_id(tail), "the undo page has another end than it was given").into())
            }
            Err(what) => Err(corrupted(mtr.page_id(tail), what).into()),
        }
    }

    /// Makes sure that records of together `len` bytes can be appended, on one page, and a Commit record after them: to commit
    /// takes no page, so that a full disk cannot keep anybody from it who has promised to be able to. Waits for: what a new page
    /// takes.
    #[inline]
    pub(crate) fn place<'a>(
        &self,
        undo: &'a UndoSpace,
        mtr: &mut Mtr<'a>,
        tail: Handle,
        len: usize,
        purpose: Purpose,
    ) -> Attempt<UndoPlace> {
        self.room(undo, mtr, tail, len + RECORD_HEADER, purpose)
    }

    /// Makes sure that a Commit record can be appended. Waits for: what a new page takes, if an earlier version has left no room.
    pub fn commit_place<'a>(
        &self,
        undo: &'a UndoSpace,
        mtr: &mut Mtr<'a>,
        tail: Handle,
    ) -> Attempt<UndoPlace> {
        self.room(undo, mtr, tail, RECORD_HEADER, Purpose::Relief)
    }

    fn room<'a>(
        &self,
        undo: &'a UndoSpace,
        mtr: &mut Mtr<'a>,
        tail: Handle,
        len: usize,
        purpose: Purpose,
    ) -> Attempt<UndoPlace> {
        let size = undo.space.page_size().bytes();
        if usize::from(self.used) + len <= records_end(size) {
            return Ok(UndoPlace { tail, fresh: None });
        }
        let (directory, _) = directory_place(size, self.shared.number);
        let directory = undo.directory(mtr, directory)?;
        let kept = undo.reserve.kept(purpose);
        let reservation = alloc::reserve_beyond(mtr, &undo.space, self.tail, 1, kept).map_err(Blocked::up)?;
        Ok(UndoPlace { tail, fresh: Some((reservation, directory)) })
    }

    /// Appends a record of `writer`, which becomes its newest, and after which the segment is in the state `occupancy`: free
    /// with a Commit record. Cannot fail. Gives the record's place.
    pub fn append(
        &mut self,
        mtr: &mut Mtr<'_>,
        place: &mut UndoPlace,
        writer: TrxId,
        record: &[u8],
        occupancy: Occupancy,
    ) -> UndoPtr {
        if let Some((reservation, directory)) = place.fresh.take() {
            self.move_on(mtr, place, reservation, directory);
        }
        let offset = self.used;
        mtr.write(place.tail, usize::from(offset), record);
        self.used += record.len() as u16;
        let committed = if occupancy == Occupancy::Free { 0 } else { RECORD_HEADER };
        let end = records_end(mtr.page(place.tail).size());
        assert!(usize::from(self.used) + committed <= end, "room for a commit");
        let ptr = UndoPtr::new(self.tail, offset);
        let last = if occupancy == Occupancy::Free { UndoPtr::NONE } else { ptr };
        self.set_state(mtr, place.tail, occupancy, last, writer);
        metrics::TRX_UNDO_RECORDS.increment();
        ptr
    }

    fn move_on(
        &mut self,
        mtr: &mut Mtr<'_>,
        place: &mut UndoPlace,
        mut reservation: Reservation,
        directory: Handle,
    ) {
        let (page, handle) = reservation.allocate(mtr, PageOp::Format { page_type: UNDO_TYPE });
        mtr.write(handle, SEGMENT, &self.shared.number.to_le_bytes());
        mtr.write(place.tail, NEXT, &page.0.to_le_bytes());
        let (_, at) = directory_place(mtr.page(directory).size(), self.shared.number);
        mtr.write(directory, at + 4, &page.0.to_le_bytes());
        metrics::TRX_UNDO_PAGES.increment();
        place.tail = handle;
        self.tail = page;
        self.used = RECORDS as u16;
    }

    /// Moves the pointer to the newest record of `writer`, which is being rolled back, to `last`; the segment is free if
    /// there is none.
    pub fn set_last(&self, mtr: &mut Mtr<'_>, tail: Handle, last: UndoPtr, writer: TrxId) {
        let occupancy = if last.is_none() { Occupancy::Free } else { Occupancy::Active };
        self.set_state(mtr, tail, occupancy, last, writer);
    }

    fn set_state(&self, mtr: &mut Mtr<'_>, tail: Handle, occupancy: Occupancy, last: UndoPtr, writer: TrxId) {
        let state = TailState { occupancy, last, writer, used: self.used };
        mtr.write(tail, STATE, &state.encode());
    }

    /// The transaction has ended.
    pub(crate) fn push_history(&self, id: TrxId, csn: Lsn, last: UndoPtr, needs_purge: bool) {
        self.shared.push(match last.is_none() {
            true => HistoryEntry::rolled_back(id, csn, self.tail),
            false => HistoryEntry::committed(id, csn, last, self.tail, needs_purge),
        });
    }
}

const fn check_appends(size: PageSize) {
    assert!(max_append_bytes(size) < max_op_bytes(size) && max_append_locks_bytes(size) < max_op_bytes(size));
}

const _: () = {
    let [a, b, c, d, e] = PageSize::ALL;
    check_appends(a);
    check_appends(b);
    check_appends(c);
    check_appends(d);
    check_appends(e);
};
