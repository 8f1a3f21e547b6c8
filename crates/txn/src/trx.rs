//! One transaction.
//!
//! A transaction that only reads touches nothing but its session's snapshot cell. At its first change it gets an id and an
//! undo segment; from then on each change of a tree entry is one mini-transaction that also appends the undo record.
//! The changes are in [`change`](crate::change), taking them back is in [`rollback`](crate::rollback), reading older
//! versions in [`version`](crate::version).

use std::collections::VecDeque;
use std::sync::Arc;

use palisade_base::cycle::CycleGuard;
use palisade_base::{Blocked, Lsn, TrxId};
use palisade_btree::Mtr;
use palisade_btree::mtr::OP_OVERHEAD;

use crate::emptied::EmptiedLeaf;
use crate::entry::UndoPtr;
use crate::error::{Attempt, Error};
use crate::locks::{Heed, Mode, Request};
use crate::metrics;
use crate::sequence::Snapshot;
use crate::sessions::SessionNo;
use crate::system::TrxSystem;
use crate::undo::held::pack;
use crate::undo::page::Occupancy;
use crate::undo::record::RECORD_HEADER;
use crate::undo::reserve::Purpose;
use crate::undo::segment::{InFlight, max_append_bytes, max_append_locks_bytes};
use crate::undo::{Segment, Undo, UndoRecord};
use crate::version::Walks;

/// A transaction. When one has ended, the next can begin in the same object, with its buffers.
pub struct Trx {
    pub(crate) system: Arc<TrxSystem>,
    pub(crate) state: State,
}

/// What a transaction knows of itself.
pub(crate) struct State {
    pub(crate) session: SessionNo,
    /// The session whose snapshot it reads with: its own, or the one that it [reads for](Trx::read_for).
    viewer: SessionNo,
    pub(crate) id: TrxId,
    pub(crate) snapshot: Option<Snapshot>,
    /// Whether it has had one, and goes on without.
    rests: bool,
    /// Reads with that snapshot that had to wait.
    pub(crate) walks: Walks,
    pub(crate) segment: Option<Segment>,
    /// Its newest undo record.
    pub(crate) last: UndoPtr,
    /// Undo records that have not been undone.
    pub(crate) changes: u64,
    pub(crate) needs_purge: bool,
    /// Whether the lock table may know of it.
    pub(crate) locks: bool,
    pub(crate) recovered: bool,
    /// While it is being prepared: the locks that are not written down yet, as Locks records have them.
    unsaved_locks: Option<VecDeque<Vec<u8>>>,
    /// What its Prepare record says, once it is prepared.
    pub(crate) prepared: Option<Box<[u8]>>,
    /// Where its commit record ends, once there is one: it then waits for the log's tail to get there.
    pub(crate) committed: Option<Lsn>,
    /// When it was said to begin, or 0.
    begun_us: i64,
    /// Whether what has changed since its snapshot is an error to lock.
    pub(crate) first_committer_wins: bool,
    /// Of the records that it has undone since it is being rolled back as a whole.
    pub(crate) undone: CycleGuard,
    /// A leaf that its rollback has emptied and is to merge before it goes on.
    pub(crate) emptied: EmptiedLeaf,
    /// What the undo of its present change is wanted for.
    pub(crate) purpose: Purpose,
    /// The same of changes that are no deletes.
    pub(crate) usual_purpose: Purpose,
    /// An undo record being made or used.
    pub(crate) record: Vec<u8>,
    /// An entry's value being made.
    pub(crate) value: Vec<u8>,
}

/// Most bytes of what a transaction is prepared with.
pub const MAX_NOTE: usize = 1024;

/// A point to roll back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SavePoint {
    /// Changes made until then.
    pub changes: u64,
}

impl Trx {
    pub(crate) fn new(system: Arc<TrxSystem>, session: SessionNo) -> Self {
        let state = State {
            session,
            viewer: session,
            id: TrxId::NONE,
            snapshot: None,
            rests: false,
            walks: Walks::default(),
            segment: None,
            last: UndoPtr::NONE,
            changes: 0,
            needs_purge: false,
            locks: false,
            recovered: false,
            unsaved_locks: None,
            prepared: None,
            committed: None,
            begun_us: 0,
            first_committer_wins: false,
            undone: CycleGuard::default(),
            emptied: EmptiedLeaf::default(),
            purpose: Purpose::default(),
            usual_purpose: Purpose::default(),
            record: Vec::new(),
            value: Vec::new(),
        };
        Trx { system, state }
    }

    /// A transaction that was in flight at a crash. If it is prepared it has its locks, whose records are read.
    pub(crate) fn resurrect(system: Arc<TrxSystem>, found: InFlight) -> Result<Self, Error> {
        let InFlight { id, last, segment, is_prepared } = found;
        let session = system.sequence.numbers.take();
        let prepared = match is_prepared {
            true => Some(system.undo.read_promise(last, id, |lock| system.locks.reinstate(session, lock))?),
            false => None,
        };
        if !system.sequence.resurrect(id, session) {
            return Err(Error::Disagreement { index: 0, writer: id });
        }
        system.locks.begin_writing(session, id, system.now_us());
        let mut trx = Trx::new(system, session);
        trx.state.id = id;
        trx.state.last = last;
        trx.state.segment = Some(segment);
        trx.state.changes = u64::MAX;
        trx.state.locks = true;
        trx.state.recovered = true;
        trx.state.prepared = prepared;
        // What its records say is known to purge only.
        trx.state.needs_purge = true;
        Ok(trx)
    }

    /// All its changes, and those of the ones that begin after it in the same object, serve to free room:
    /// they may take the [reserve](TrxSystem::set_undo_reserve) of undo, as deletes do.
    pub fn set_relief(&mut self) {
        self.state.usual_purpose = Purpose::Relief;
    }

    /// Says what is to be told of it, and of those that begin after it in the same object, to those who look.
    pub fn set_label(&self, label: u32) {
        self.system.locks.set_label(self.state.session, label);
    }

    /// Says that it is being rolled back, or is to be, for those who look; without changes and locks there is nothing to see.
    pub fn note_rollback(&self) {
        if self.state.locks {
            self.system.locks.note_rollback(self.state.session);
        }
    }

    /// The system it belongs to.
    pub fn system(&self) -> &Arc<TrxSystem> {
        &self.system
    }

    /// Its session's number.
    pub fn session(&self) -> SessionNo {
        self.state.session
    }

    /// Its id, once it has begun to change something.
    pub fn id(&self) -> Option<TrxId> {
        (self.state.id != TrxId::NONE).then_some(self.state.id)
    }

    /// Whether it was in flight at a crash.
    pub fn is_recovered(&self) -> bool {
        self.state.recovered
    }

    /// What it was [prepared](Self::prepare) with, if it is.
    pub fn prepared(&self) -> Option<&[u8]> {
        self.state.prepared.as_deref()
    }

    /// Whether its commit record is written, and it only waits for snapshots to see it: nothing undoes it any more.
    pub fn has_committed(&self) -> bool {
        self.state.committed.is_some()
    }

    /// Whether it has anything that must be ended: changes, locks or a snapshot.
    pub fn is_open(&self) -> bool {
        self.id().is_some() || self.state.locks || self.state.snapshot.is_some()
    }

    /// Says whose it and those that follow in the same object are, for who looks at open transactions.
    pub fn set_owner(&mut self, owner: u64) {
        self.system.locks.set_owner(self.state.session, owner);
    }

    /// It begins now, for who looks at open transactions. Otherwise it begins with its first change.
    pub fn note_begin(&mut self) {
        self.state.begun_us = self.system.now_us();
        self.system.locks.set_started(self.state.session, self.state.begun_us);
    }

    /// Opens its snapshot, if none is open.
    #[inline]
    pub fn open_snapshot(&mut self) -> Snapshot {
        match self.state.snapshot {
            Some(snapshot) => snapshot,
            None => {
                let log = &self.system.log;
                let snapshot = self.system.sequence.open_snapshot(self.state.session, || log.tail());
                self.state.snapshot = Some(snapshot);
                snapshot
            }
        }
    }

    /// From now on it sees what the snapshot of `other` sees, which is opened if none is open: both read at
    /// the same time, on threads of their own. That snapshot keeps the undo for both, so this transaction
    /// must have been dropped before it is closed; and it must change nothing, nor must `other` have.
    pub fn read_for(&mut self, other: &mut Trx) {
        assert!(!self.is_open() && other.id().is_none(), "both only read");
        self.state.snapshot = Some(other.open_snapshot());
        self.state.viewer = other.state.viewer;
    }

    /// Its snapshot, if one is open.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.state.snapshot
    }

    /// Closes its snapshot, if one is open.
    #[inline]
    pub fn close_snapshot(&mut self) {
        if self.state.snapshot.take().is_some() {
            self.state.walks.clear();
            self.system.sequence.close_snapshot(self.state.session);
        }
    }

    /// Closes its snapshot, if one is open, while the transaction goes on and will open others: nobody's undo is kept for it
    /// meanwhile.
    #[inline]
    pub fn rest(&mut self) {
        if self.state.snapshot.is_some() {
            self.close_snapshot();
            self.state.rests = true;
            self.system.sequence.set_resting(self.state.session, true);
        }
    }

    /// Whether its open snapshot sees what `writer` wrote.
    ///
    /// # Panics
    /// If no snapshot is open.
    #[inline]
    pub fn sees(&self, writer: TrxId) -> bool {
        let snapshot = self.state.snapshot.as_ref().expect("a snapshot is open");
        writer == self.state.id && writer != TrxId::NONE
            || self.system.sequence.sees(self.state.viewer, snapshot, writer)
    }

    /// Its open snapshot sees what all writers before this one wrote.
    ///
    /// # Panics
    /// If no snapshot is open.
    #[inline]
    pub fn sees_all_before(&self) -> TrxId {
        self.state.snapshot.as_ref().expect("a snapshot is open").low_water
    }

    /// Whether locking or changing a row that has changed since its snapshot fails ([`Error::RowChanged`]) instead of going
    /// on with the latest version: snapshot isolation proper.
    pub fn set_first_committer_wins(&mut self, wins: bool) {
        self.state.first_committer_wins = wins;
    }

    /// Whether a version, whose writer has ended, is one that the transaction must not build upon.
    #[inline]
    pub(crate) fn is_too_new(&self, writer: TrxId) -> bool {
        self.state.first_committer_wins && self.state.snapshot.is_some() && !self.sees(writer)
    }

    /// The point it has reached.
    pub fn savepoint(&self) -> SavePoint {
        SavePoint { changes: self.state.changes }
    }

    /// Asks for an explicit lock on a key of an index, kept until the transaction ends. Waits for: whoever has it.
    pub fn lock(&mut self, index: u64, key: &[u8], mode: Mode) -> Attempt<()> {
        self.state.lock(&self.system, index, key, mode, Heed::Queues, None)
    }

    /// Releases a lock before the transaction's end.
    pub fn unlock(&mut self, index: u64, key: &[u8]) {
        self.system.locks.unlock(self.state.session, index, key);
    }

    /// Whether it waits for a lock.
    pub fn awaits_lock(&self) -> bool {
        self.state.locks && self.system.locks.session_locks(self.state.session).1
    }

    /// Stops waiting: the operation that waited, for a lock or something else, will not be called again.
    pub fn cancel_wait(&mut self) {
        self.state.walks.clear();
        self.system.locks.cancel_wait(self.state.session);
    }

    /// Commits. Gives the LSN at which the commit record ends: durable means that the log is durable up to there. `None`
    /// if nothing had been changed. Call again after waiting. Waits for: log credit, the undo page to be read, the log's tail.
    pub fn commit(&mut self) -> Attempt<Option<Lsn>> {
        if self.state.id == TrxId::NONE {
            self.end();
            return Ok(None);
        }
        let lsn = match self.state.committed {
            Some(lsn) => lsn,
            None if self.state.last.is_none() => {
                self.end_rolled_back();
                return Ok(None);
            }
            None => {
                let lsn = self.state.append_commit(&self.system)?;
                metrics::TRX_RW_COMMITS.increment();
                self.state.committed = Some(lsn);
                lsn
            }
        };
        if self.system.log.tail() < lsn {
            // Its locks are kept until a snapshot of whoever gets them sees what they were for.
            return Err(Blocked::Wait(self.system.log.tail_event(lsn)));
        }
        let id = self.state.id;
        self.end();
        if id.0.is_multiple_of(32) {
            self.system.sequence.advance_low_water(self.system.log.tail());
        }
        Ok(Some(lsn))
    }

    /// Writes some more of its locks into its undo, so that it has them after a crash; false if they all are there. The first
    /// call settles which: from then on it must neither change nor lock anything. Waits for: log credit, what getting an id
    /// takes.
    pub fn save_locks(&mut self) -> Attempt<bool> {
        self.cancel_wait();
        self.state.save_locks(&self.system)
    }

    /// Promises that it can be committed or rolled back, also after a crash, and that neither happens by itself: recovery
    /// finds it with `note`, of at most [`MAX_NOTE`] bytes, and with its locks, which it keeps ([`save_locks`](Self::save_locks);
    /// those that are not saved yet are now). It must change nothing more. Gives the LSN up to which the log must be durable for
    /// the promise to hold. Waits for: log credit, what getting an id takes.
    pub fn prepare(&mut self, note: &[u8]) -> Attempt<Lsn> {
        assert!(note.len() <= MAX_NOTE, "a note of {} bytes", note.len());
        while self.save_locks()? {}
        let lsn = self.state.append_prepare(&self.system, note)?;
        self.close_snapshot();
        Ok(lsn)
    }

    /// Everything has been undone: gives the id, the segment and the locks back.
    pub(crate) fn end_rolled_back(&mut self) {
        let state = &mut self.state;
        self.system.sequence.set_rolled_back(state.id);
        if let Some(segment) = state.segment.take() {
            segment.push_history(state.id, self.system.log.tail(), UndoPtr::NONE, false);
            self.system.undo.give_back(segment);
        }
        self.end();
    }

    /// Back to the state of a transaction that has not begun.
    fn end(&mut self) {
        self.close_snapshot();
        let state = &mut self.state;
        if std::mem::take(&mut state.rests) {
            self.system.sequence.set_resting(state.session, false);
        }
        if let Some(segment) = state.segment.take() {
            // It never got the id that it needed to use it.
            self.system.undo.give_back(segment);
        }
        if state.locks {
            self.system.locks.release_all(state.session);
            state.locks = false;
        }
        if state.begun_us != 0 {
            self.system.locks.set_started(state.session, 0);
            state.begun_us = 0;
        }
        state.id = TrxId::NONE;
        state.last = UndoPtr::NONE;
        state.changes = 0;
        state.needs_purge = false;
        state.recovered = false;
        state.unsaved_locks = None;
        state.prepared = None;
        state.committed = None;
    }
}

impl Drop for Trx {
    fn drop(&mut self) {
        self.close_snapshot();
        if self.state.id == TrxId::NONE {
            self.end();
            self.set_owner(0);
            self.set_label(0);
            self.system.sequence.numbers.give_back(self.state.session);
        }
        // A transaction with changes that is dropped stays active, as after a crash: its rows stay locked, and the next
        // recovery rolls it back. Whoever wants it rolled back earlier does not drop it.
    }
}

impl State {
    /// Makes sure that it has an id and a segment. Waits for: what making new ones takes.
    #[inline]
    pub(crate) fn begin_writing(&mut self, system: &TrxSystem) -> Attempt<()> {
        if self.id != TrxId::NONE { Ok(()) } else { self.become_writer(system) }
    }

    fn become_writer(&mut self, system: &TrxSystem) -> Attempt<()> {
        if self.segment.is_none() {
            self.segment = Some(system.undo.take_segment(self.purpose)?);
        }
        let id = loop {
            match system.sequence.allocate(self.session) {
                Some(id) => break id,
                None => system.prepare_ids()?,
            }
        };
        let started_us = if self.begun_us == 0 { system.now_us() } else { self.begun_us };
        system.locks.begin_writing(self.session, id, started_us);
        self.id = id;
        self.undone = CycleGuard::default();
        self.locks = true;
        Ok(())
    }

    pub(crate) fn lock(
        &mut self,
        system: &TrxSystem,
        index: u64,
        key: &[u8],
        mode: Mode,
        heed: Heed,
        writer: Option<(SessionNo, TrxId)>,
    ) -> Attempt<()> {
        self.locks = true;
        match system.locks.lock_heeding(self.session, index, key, mode, heed, writer) {
            Request::Granted => Ok(()),
            Request::Wait(event) => {
                system.locks.note_wait(self.session, system.now_us());
                Err(Blocked::Wait(event))
            }
            Request::Deadlock => Err(Error::Deadlock.into()),
            Request::Full => Err(Error::LockTableFull.into()),
        }
    }

    fn save_locks(&mut self, system: &TrxSystem) -> Attempt<bool> {
        let size = system.undo.space().page_size();
        let mut unsaved = match self.unsaved_locks.take() {
            Some(unsaved) => unsaved,
            None if self.locks => pack(size, system.locks.held(self.session)).into(),
            None => VecDeque::new(),
        };
        let outcome = match unsaved.front() {
            Some(locks) => {
                let undo = Undo::Locks { locks };
                self.append_alone(system, undo, max_append_locks_bytes(size), Occupancy::Active).map(|_| true)
            }
            None => Ok(false),
        };
        if let Ok(true) = outcome {
            unsaved.pop_front();
        }
        self.unsaved_locks = Some(unsaved);
        outcome
    }

    fn append_prepare(&mut self, system: &TrxSystem, note: &[u8]) -> Attempt<Lsn> {
        let undo = Undo::Prepare { note };
        let bytes = max_append_bytes(system.undo.space().page_size());
        let lsn = self.append_alone(system, undo, bytes, Occupancy::Prepared)?;
        self.prepared = Some(note.into());
        Ok(lsn)
    }

    /// Appends a record that is about no entry, in a mini-transaction of at most `bytes`. Gives the LSN behind it.
    fn append_alone(
        &mut self,
        system: &TrxSystem,
        undo: Undo<'_>,
        bytes: usize,
        occupancy: Occupancy,
    ) -> Attempt<Lsn> {
        self.begin_writing(system)?;
        UndoRecord { writer: self.id, previous: self.last, undo }.encode(&mut self.record);
        let mut mtr = Mtr::begin(&system.log, bytes).map_err(Blocked::up)?;
        let segment = self.segment.as_mut().expect("a writing transaction has a segment");
        let tail = segment.latch(&system.undo, &mut mtr)?;
        let mut place = segment.place(&system.undo, &mut mtr, tail, self.record.len(), self.purpose)?;
        self.last = segment.append(&mut mtr, &mut place, self.id, &self.record, occupancy);
        let range = mtr.commit(|_| {});
        self.changes += 1;
        Ok(range.end)
    }

    fn append_commit(&mut self, system: &TrxSystem) -> Attempt<Lsn> {
        let id = self.id;
        UndoRecord { writer: id, previous: self.last, undo: Undo::Commit }.encode(&mut self.record);
        let most = max_append_bytes(system.undo.space().page_size());
        let mut mtr =
            Mtr::begin(&system.log, most.min(RECORD_HEADER + 64 * OP_OVERHEAD)).map_err(Blocked::up)?;
        let segment = self.segment.as_mut().expect("a transaction with changes has a segment");
        let tail = segment.latch(&system.undo, &mut mtr)?;
        let mut place = segment.commit_place(&system.undo, &mut mtr, tail)?;
        let last = segment.append(&mut mtr, &mut place, id, &self.record, Occupancy::Free);
        system.sequence.set_committing(id);
        let range = mtr.commit(|range| system.sequence.set_committed(id, range.end));
        let segment = self.segment.take().expect("a transaction with changes has a segment");
        segment.push_history(id, range.end, last, self.needs_purge);
        system.undo.give_back(segment);
        Ok(range.end)
    }
}
