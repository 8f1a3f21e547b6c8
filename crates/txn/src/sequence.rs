//! Who committed when, and who may see it.
//!
//! Transaction ids are given in order of first writes. Each id has a slot in a ring, which says whether the transaction
//! is active, committing, or committed and with which *commit sequence number* (csn): the LSN at which its commit
//! record ends. A [`Snapshot`] is the log's tail at one moment: it sees a transaction if its csn is not beyond.
//!
//! ```text
//!  ids:     ......low_water.............next.......prepared
//!            all ended,      some active  not yet    slots below are free for new ids, unless an
//!            visible to all               given      old transaction still sits in them: such an id is skipped
//! ```
//!
//! # Commit, without spinning
//!
//! The committer sets its slot to COMMITTING, appends its commit record, stores the csn *before the record is
//! linked*, and links. A reader whose tail is beyond the csn therefore finds the csn; one that finds COMMITTING has an
//! older tail, and must not see the transaction: nobody ever waits.
//!
//! Whoever finds a version by a lock may open a snapshot next, or tell somebody who does, and that snapshot must not be
//! older. So a transaction has ended for those who lock only when the tail has reached its csn, and keeps its locks until
//! then: a moment, if somebody has reserved a part of the log before it and is still copying.
//!
//! # Recycling, without stalling
//!
//! Before ids of a block are given, the slots they will take are emptied, each for its id. An old occupant that is still active
//! stays: the id that would have had its slot is skipped, which costs nothing but a number. For one that has ended, every
//! snapshot that must not see it (its id is neither below the snapshot's low-water mark nor beyond its limit, its csn is beyond the
//! snapshot's LSN) gets the id into its *spill set*. An id found neither in the ring nor in the spill set has ended before the
//! snapshot.
//!
//! # A snapshot and those who clean up
//!
//! Purge and recycling ask "is there a snapshot older than x?" while sessions begin snapshots without a lock. Both
//! sides announce first and look afterwards (Dekker's way): the session stores its LSN, fences, and begins again if
//! `proposed` has passed it; the cleaner raises `proposed` to a tail it has read, fences, and walks
//! the sessions. One of the two sees the other.

use std::sync::atomic::Ordering;

use palisade_base::{Lsn, TrxId};

use crate::sessions::{SessionArray, SessionNo, SessionNumbers};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex, fence};

/// csn of an active transaction.
const ACTIVE: u64 = u64::MAX;
/// With an id: a slot is free for that one, and no other.
const FREE: u64 = 1 << 63;
/// csn of a transaction whose commit record is being appended.
const COMMITTING: u64 = u64::MAX - 1;
/// csn of a transaction that has been rolled back: nobody sees it. Not even who read one of its versions before that and
/// only now asks.
const ROLLED_BACK: u64 = u64::MAX - 2;
/// LSN of a cell without a snapshot.
const NO_SNAPSHOT: u64 = u64::MAX;
/// Slots in the ring of a server.
pub(crate) const RING_SLOTS: u64 = 1 << 16;
/// Ids whose slots are emptied together.
pub(crate) const BLOCK: u64 = 1 << 10;
/// Ids that the low-water mark passes at once. Behind a transaction that was open for hours there are millions.
pub(crate) const LOW_WATER_STEP: u64 = 1 << 14;

struct Slot {
    /// The occupant's id, or [`FREE`] and the id that may take it, or 0 if it has never been emptied.
    id: AtomicU64,
    csn: AtomicU64,
    /// The occupant's session.
    owner: AtomicU32,
}

/// A session's snapshot, for others to see. Two cache lines of its own.
#[repr(align(128))]
pub(crate) struct SnapshotCell {
    lsn: AtomicU64,
    limit: AtomicU64,
    low_water: AtomicU64,
    spilled: AtomicBool,
    /// There is none, but its transaction goes on and will open others.
    rests: AtomicBool,
    /// Ids and csns.
    spill: Mutex<Vec<(u64, u64)>>,
}

impl Default for SnapshotCell {
    fn default() -> Self {
        SnapshotCell {
            lsn: AtomicU64::new(NO_SNAPSHOT),
            limit: AtomicU64::new(0),
            low_water: AtomicU64::new(0),
            spilled: AtomicBool::new(false),
            rests: AtomicBool::new(false),
            spill: Mutex::new(Vec::new()),
        }
    }
}

/// What was committed at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// Commits up to here are seen.
    pub lsn: Lsn,
    /// Ids from here on are not seen.
    pub limit: TrxId,
    /// Ids below this are seen.
    pub low_water: TrxId,
}

/// Whether a transaction has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It runs, in this session.
    Active(SessionNo),
    /// It has ended.
    Ended,
}

/// Ids, their slots, and the snapshots that are open.
pub struct Sequence {
    slots: Box<[Slot]>,
    block: u64,
    next: AtomicU64,
    prepared: AtomicU64,
    low_water: AtomicU64,
    proposed: AtomicU64,
    horizon: AtomicU64,
    horizon_id: AtomicU64,
    preparing: Mutex<()>,
    advancing: Mutex<()>,
    pub(crate) numbers: SessionNumbers,
    cells: SessionArray<SnapshotCell>,
}

impl Sequence {
    /// A ring of `slots` slots whose first id is `first`. `slots` and `block` are powers of two.
    pub(crate) fn new(slots: u64, block: u64, first: TrxId) -> Self {
        assert!(
            slots.is_power_of_two() && block.is_power_of_two() && block < slots,
            "ring of {slots}, block {block}"
        );
        let slot = |_| Slot { id: AtomicU64::new(0), csn: AtomicU64::new(ACTIVE), owner: AtomicU32::new(0) };
        Sequence {
            slots: (0..slots).map(slot).collect(),
            block,
            next: AtomicU64::new(first.0),
            prepared: AtomicU64::new(first.0),
            low_water: AtomicU64::new(first.0),
            proposed: AtomicU64::new(0),
            horizon: AtomicU64::new(0),
            horizon_id: AtomicU64::new(0),
            preparing: Mutex::new(()),
            advancing: Mutex::new(()),
            numbers: SessionNumbers::default(),
            cells: SessionArray::default(),
        }
    }

    fn slot(&self, id: u64) -> &Slot {
        &self.slots[(id & (self.slots.len() as u64 - 1)) as usize]
    }

    /// The next id to be given.
    pub fn next(&self) -> TrxId {
        TrxId(self.next.load(Ordering::Acquire))
    }

    /// All ids below have ended, for every snapshot.
    pub fn low_water(&self) -> TrxId {
        TrxId(self.low_water.load(Ordering::Acquire))
    }

    /// Gives the next id to `owner`; `None` if slots must be prepared first ([`prepare`](Self::prepare)).
    pub(crate) fn allocate(&self, owner: SessionNo) -> Option<TrxId> {
        loop {
            let id = self.next.load(Ordering::Acquire);
            if id >= self.prepared.load(Ordering::Acquire) {
                return None;
            }
            let slot = self.slot(id);
            // The slot is taken before `next` passes the id, so that whoever sees `next` beyond an id finds either its
            // slot or that it was skipped. Should others give all ids of a turn of the ring meanwhile, the slot is free again, but
            // not for this id.
            let claimed =
                slot.id.compare_exchange(FREE | id, id, Ordering::AcqRel, Ordering::Acquire).is_ok();
            if claimed {
                slot.owner.store(owner.0, Ordering::Release);
            }
            let _ = self.next.compare_exchange(id, id + 1, Ordering::AcqRel, Ordering::Acquire);
            if claimed {
                return Some(TrxId(id));
            }
        }
    }

    /// Where the block that [`prepare`](Self::prepare) would empty next ends: ids below must be known never to be
    /// given again after a restart.
    pub(crate) fn next_block_end(&self) -> TrxId {
        TrxId(self.prepared.load(Ordering::Acquire) / self.block * self.block + self.block)
    }

    /// Empties slots for the ids up to `until`, a result of [`next_block_end`](Self::next_block_end).
    pub(crate) fn prepare(&self, until: TrxId, tail: impl Fn() -> Lsn) {
        let _alone = self.preparing.lock();
        let from = self.prepared.load(Ordering::Acquire);
        if from >= until.0 {
            return;
        }
        let tail = tail();
        let mut snapshots = None;
        for id in from..until.0 {
            let slot = self.slot(id);
            let occupant = slot.id.load(Ordering::Acquire);
            if occupant == 0 || occupant & FREE != 0 {
                slot.id.store(FREE | id, Ordering::Release);
                continue;
            }
            let csn = slot.csn.load(Ordering::Acquire);
            if !has_ended(csn, tail) {
                continue;
            }
            if csn > self.horizon.load(Ordering::Acquire) {
                let open: &Vec<_> = snapshots.get_or_insert_with(|| self.open_snapshots(tail));
                for &(number, lsn, limit) in open {
                    let cell = self.cells.cell(number);
                    let may_ask = || occupant >= cell.low_water.load(Ordering::Acquire);
                    if csn > lsn && occupant < limit && may_ask() {
                        // With the csn: this snapshot may be closed meanwhile and another one opened.
                        cell.spill.lock().push((occupant, csn));
                        cell.spilled.store(true, Ordering::Release);
                    }
                }
            }
            // A reader that sees the new csn also sees that the id is gone.
            slot.id.store(FREE | id, Ordering::Release);
            slot.csn.store(ACTIVE, Ordering::Release);
        }
        self.prepared.store(until.0, Ordering::Release);
    }

    /// Puts a transaction that was in flight at a crash back into its slot, before anything else runs. False if that
    /// cannot be: two transactions in flight never had the same slot.
    pub(crate) fn resurrect(&self, id: TrxId, owner: SessionNo) -> bool {
        let slot = self.slot(id.0);
        if slot.id.load(Ordering::Relaxed) != 0
            || id.0 >= self.next.load(Ordering::Relaxed)
            || id == TrxId::NONE
        {
            return false;
        }
        slot.id.store(id.0, Ordering::Release);
        slot.csn.store(ACTIVE, Ordering::Release);
        slot.owner.store(owner.0, Ordering::Release);
        self.low_water.fetch_min(id.0, Ordering::AcqRel);
        true
    }

    /// The commit record of `id` is about to be appended.
    pub(crate) fn set_committing(&self, id: TrxId) {
        self.own_slot(id).csn.store(COMMITTING, Ordering::Release);
    }

    /// The commit record of `id` ends at `csn` and is not linked yet.
    pub(crate) fn set_committed(&self, id: TrxId, csn: Lsn) {
        self.own_slot(id).csn.store(csn.0, Ordering::Release);
    }

    /// All of `id` has been undone.
    pub(crate) fn set_rolled_back(&self, id: TrxId) {
        self.own_slot(id).csn.store(ROLLED_BACK, Ordering::Release);
    }

    fn own_slot(&self, id: TrxId) -> &Slot {
        let slot = self.slot(id.0);
        assert!(slot.id.load(Ordering::Relaxed) == id.0, "an active transaction keeps its slot");
        slot
    }

    /// The csn of `id`, or ACTIVE or COMMITTING; `None` if it is not in the ring.
    fn csn(&self, id: TrxId) -> Option<u64> {
        let slot = self.slot(id.0);
        if slot.id.load(Ordering::Acquire) != id.0 {
            return None;
        }
        let csn = slot.csn.load(Ordering::Acquire);
        (slot.id.load(Ordering::Acquire) == id.0).then_some(csn)
    }

    /// Whether `id`, which has written something the caller has seen, has ended: every snapshot opened from now on knows
    /// of it.
    #[inline]
    pub fn outcome(&self, id: TrxId, tail: impl Fn() -> Lsn) -> Outcome {
        if id.0 < self.low_water.load(Ordering::Acquire) {
            return Outcome::Ended;
        }
        match self.csn(id) {
            Some(csn) if !has_ended(csn, tail()) => {
                Outcome::Active(SessionNo(self.slot(id.0).owner.load(Ordering::Acquire)))
            }
            _ => Outcome::Ended,
        }
    }

    /// Whether `id` is known to have committed before the log's `tail`. If its slot has been recycled since, it is not.
    pub(crate) fn has_committed(&self, id: TrxId, tail: impl Fn() -> Lsn) -> bool {
        self.csn(id).is_some_and(|csn| csn <= tail().0)
    }

    /// Whether `id`, which has committed, is seen by every snapshot that is or will be open.
    pub fn is_visible_to_all(&self, id: TrxId) -> bool {
        if id.0 < self.horizon_id.load(Ordering::Acquire) {
            return true;
        }
        let csn = self.csn(id);
        let horizon = self.horizon.load(Ordering::Acquire);
        match csn {
            Some(csn) => csn <= horizon,
            // Its slot has been recycled: whoever must not see it began before it, or has been told. Who is behind the horizon has
            // come too late to be waited for, and is about to begin again.
            None => self.numbers.all().all(|number| {
                let cell = self.cells.cell(number);
                let lsn = cell.lsn.load(Ordering::Acquire);
                let is_spilled =
                    || cell.spill.lock().iter().any(|&(spilled, csn)| spilled == id.0 && csn > lsn);
                let is_open = horizon <= lsn && lsn < NO_SNAPSHOT;
                !is_open || id.0 < cell.limit.load(Ordering::Acquire) && !is_spilled()
            }),
        }
    }

    /// Opens the snapshot of session `number`, which has none open. `tail` is the log's.
    #[inline]
    pub fn open_snapshot(&self, number: SessionNo, tail: impl Fn() -> Lsn) -> Snapshot {
        let cell = self.cells.cell(number);
        loop {
            let low_water = TrxId(self.low_water.load(Ordering::Acquire));
            let lsn = tail();
            cell.limit.store(u64::MAX, Ordering::Relaxed);
            cell.low_water.store(low_water.0, Ordering::Relaxed);
            cell.lsn.store(lsn.0, Ordering::Release);
            fence(Ordering::SeqCst);
            if self.proposed.load(Ordering::Acquire) <= lsn.0 {
                let limit = TrxId(self.next.load(Ordering::Acquire));
                cell.limit.store(limit.0, Ordering::Release);
                return Snapshot { lsn, limit, low_water };
            }
        }
    }

    /// Whether session `number` has an open snapshot.
    pub(crate) fn has_snapshot(&self, number: SessionNo) -> bool {
        self.cells.cell(number).lsn.load(Ordering::Acquire) != NO_SNAPSHOT
    }

    /// Whether session `number` has an open snapshot, or its transaction had one and goes on.
    pub(crate) fn has_had_snapshot(&self, number: SessionNo) -> bool {
        self.has_snapshot(number) || self.cells.cell(number).rests.load(Ordering::Relaxed)
    }

    /// Says whether the transaction of session `number`, which has no snapshot open now, had one and goes on.
    pub(crate) fn set_resting(&self, number: SessionNo, rests: bool) {
        self.cells.cell(number).rests.store(rests, Ordering::Relaxed);
    }

    /// Closes the snapshot of session `number`.
    #[inline]
    pub fn close_snapshot(&self, number: SessionNo) {
        let cell = self.cells.cell(number);
        cell.lsn.store(NO_SNAPSHOT, Ordering::Release);
        if cell.spilled.load(Ordering::Acquire) {
            let mut spill = cell.spill.lock();
            cell.spilled.store(false, Ordering::Release);
            spill.clear();
        }
    }

    /// Whether the open `snapshot` of session `number` sees `id`.
    #[inline]
    pub fn sees(&self, number: SessionNo, snapshot: &Snapshot, id: TrxId) -> bool {
        if id < snapshot.low_water {
            return true;
        }
        if id >= snapshot.limit {
            return false;
        }
        match self.csn(id) {
            Some(csn) => csn <= snapshot.lsn.0,
            None => !self.is_spilled(number, snapshot, id),
        }
    }

    #[cold]
    fn is_spilled(&self, number: SessionNo, snapshot: &Snapshot, id: TrxId) -> bool {
        let cell = self.cells.cell(number);
        cell.spilled.load(Ordering::Acquire)
            && cell.spill.lock().iter().any(|&(spilled, csn)| spilled == id.0 && csn > snapshot.lsn.0)
    }

    /// How many ids its snapshot has been told of.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn spilled(&self, number: SessionNo) -> usize {
        self.cells.cell(number).spill.lock().len()
    }

    /// The snapshots open now: (session, LSN, limit). A snapshot that is opened meanwhile and is not among them is not
    /// older than `tail`.
    fn open_snapshots(&self, tail: Lsn) -> Vec<(SessionNo, u64, u64)> {
        self.proposed.fetch_max(tail.0, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        let cells = self.numbers.all().map(|number| (number, self.cells.cell(number)));
        let open = cells.filter_map(|(number, cell)| {
            let lsn = cell.lsn.load(Ordering::Acquire);
            (lsn != NO_SNAPSHOT).then(|| (number, lsn, cell.limit.load(Ordering::Acquire)))
        });
        open.collect()
    }

    /// Moves the purge horizon up: no snapshot that is or will be open is older. `tail` is the log's.
    pub(crate) fn advance_horizon(&self, tail: Lsn) -> Lsn {
        let low_water = self.low_water.load(Ordering::Acquire);
        let open = self.open_snapshots(tail);
        let oldest = open.iter().map(|(_, lsn, _)| *lsn).min();
        let lowest =
            open.iter().map(|(number, ..)| self.cells.cell(*number).low_water.load(Ordering::Acquire)).min();
        self.horizon.fetch_max(oldest.unwrap_or(tail.0).min(tail.0), Ordering::AcqRel);
        self.horizon_id.fetch_max(lowest.unwrap_or(low_water).min(low_water), Ordering::AcqRel);
        self.horizon()
    }

    /// The purge horizon: commits up to here are seen by all.
    pub fn horizon(&self) -> Lsn {
        Lsn(self.horizon.load(Ordering::Acquire))
    }

    /// How far the oldest open snapshot is behind `tail`, in bytes of log.
    pub fn oldest_snapshot(&self, tail: Lsn) -> Lsn {
        Lsn(self.open_snapshots(tail).into_iter().map(|(_, lsn, _)| lsn).min().unwrap_or(tail.0))
    }

    /// Whether a snapshot is open that is not younger than `lsn`, which the log's tail has reached.
    pub(crate) fn is_snapshot_open_at(&self, lsn: Lsn) -> bool {
        self.open_snapshots(lsn).iter().any(|(_, open, _)| *open <= lsn.0)
    }

    /// Moves the low-water mark past transactions that have ended before `tail`, the log's; past some of them, if they are many.
    pub(crate) fn advance_low_water(&self, tail: Lsn) {
        let Some(_alone) = self.advancing.try_lock() else { return };
        let start = self.low_water.load(Ordering::Acquire);
        let end = self.next.load(Ordering::Acquire).min(start + LOW_WATER_STEP);
        let mut mark = start;
        while mark < end && self.csn(TrxId(mark)).is_none_or(|csn| has_ended(csn, tail)) {
            mark += 1;
        }
        if mark > start {
            self.low_water.store(mark, Ordering::Release);
        }
    }
}

/// Whether a transaction with this csn has ended, as far as a reader of the log's `tail` can know.
fn has_ended(csn: u64, tail: Lsn) -> bool {
    csn <= tail.0 || csn == ROLLED_BACK
}

/// Every schedule of a few steps.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU64, Ordering};
    use loom::thread;
    use palisade_base::{Lsn, TrxId};

    use super::{Outcome, Sequence};
    use crate::sessions::SessionNo;

    struct World {
        sequence: Sequence,
        tail: AtomicU64,
    }

    impl World {
        fn new(first_tail: u64) -> Arc<World> {
            let sequence = Sequence::new(4, 2, TrxId(1));
            // Makes the cells: loom does not see how OnceLock synchronises.
            sequence.close_snapshot(SessionNo(0));
            Arc::new(World { sequence, tail: AtomicU64::new(first_tail) })
        }

        fn tail(&self) -> Lsn {
            Lsn(self.tail.load(Ordering::Acquire))
        }

        fn allocate(&self) -> TrxId {
            loop {
                match self.sequence.allocate(SessionNo(9)) {
                    Some(id) => return id,
                    None => self.sequence.prepare(self.sequence.next_block_end(), || self.tail()),
                }
            }
        }

        fn commit(&self, id: TrxId, csn: u64) {
            self.sequence.set_committing(id);
            self.sequence.set_committed(id, Lsn(csn));
            self.tail.store(csn, Ordering::Release);
        }
    }

    #[test]
    fn loom_a_snapshot_sees_a_commit_exactly_if_its_tail_is_beyond() {
        loom::model(|| {
            let world = World::new(8);
            let session = world.sequence.numbers.take();
            let id = world.allocate();
            let writer = {
                let world = world.clone();
                thread::spawn(move || world.commit(id, 16))
            };
            let snapshot = world.sequence.open_snapshot(session, || world.tail());
            assert_eq!(world.sequence.sees(session, &snapshot, id), snapshot.lsn >= Lsn(16));
            writer.join().unwrap();
            assert_eq!(world.sequence.sees(session, &snapshot, id), snapshot.lsn >= Lsn(16));
        });
    }

    #[test]
    fn loom_recycling_a_slot_changes_nothing_for_an_older_snapshot() {
        loom::model(|| {
            let world = World::new(8);
            let session = world.sequence.numbers.take();
            let id = world.allocate();
            let snapshot = world.sequence.open_snapshot(session, || world.tail());
            world.commit(id, 16);
            let recycler = {
                let world = world.clone();
                thread::spawn(move || {
                    // Far enough to need the slot of `id`.
                    while world.sequence.next_block_end() < TrxId(7) {
                        world.sequence.prepare(world.sequence.next_block_end(), || world.tail());
                    }
                })
            };
            assert!(!world.sequence.sees(session, &snapshot, id));
            recycler.join().unwrap();
            assert!(!world.sequence.sees(session, &snapshot, id));
            assert_eq!(world.sequence.outcome(id, || world.tail()), Outcome::Ended);
        });
    }

    #[test]
    fn loom_recycling_a_slot_changes_nothing_for_a_snapshot_being_opened() {
        loom::model(|| {
            let world = World::new(8);
            let session = world.sequence.numbers.take();
            let id = world.allocate();
            let recycler = {
                let world = world.clone();
                thread::spawn(move || {
                    world.commit(id, 16);
                    while world.sequence.next_block_end() < TrxId(7) {
                        world.sequence.prepare(world.sequence.next_block_end(), || world.tail());
                    }
                })
            };
            let snapshot = world.sequence.open_snapshot(session, || world.tail());
            assert_eq!(world.sequence.sees(session, &snapshot, id), snapshot.lsn >= Lsn(16));
            recycler.join().unwrap();
            assert_eq!(world.sequence.sees(session, &snapshot, id), snapshot.lsn >= Lsn(16));
        });
    }

    #[test]
    fn loom_the_low_water_mark_shows_a_snapshot_nothing_that_its_tail_does_not() {
        loom::model(|| {
            let world = World::new(8);
            let session = world.sequence.numbers.take();
            let id = world.allocate();
            let writer = {
                let world = world.clone();
                thread::spawn(move || {
                    world.commit(id, 16);
                    world.sequence.advance_low_water(world.tail());
                })
            };
            let snapshot = world.sequence.open_snapshot(session, || world.tail());
            assert_eq!(world.sequence.sees(session, &snapshot, id), snapshot.lsn >= Lsn(16));
            writer.join().unwrap();
            assert_eq!(world.sequence.sees(session, &snapshot, id), snapshot.lsn >= Lsn(16));
        });
    }

    /// The commit's csn is known a moment before the tail is there; who finds the writer ended may open a snapshot at once.
    #[test]
    fn loom_who_finds_a_writer_ended_sees_it_in_the_next_snapshot() {
        loom::model(|| {
            let world = World::new(8);
            let session = world.sequence.numbers.take();
            let id = world.allocate();
            let writer = {
                let world = world.clone();
                thread::spawn(move || world.commit(id, 16))
            };
            let outcome = world.sequence.outcome(id, || world.tail());
            let snapshot = world.sequence.open_snapshot(session, || world.tail());
            if outcome == Outcome::Ended {
                assert!(world.sequence.sees(session, &snapshot, id));
            }
            writer.join().unwrap();
        });
    }

    /// What was rolled back is seen by nobody: not by who asks while that happens, nor once its slot is another's.
    #[test]
    fn loom_a_rolled_back_transaction_is_never_seen_by_who_was_there() {
        loom::model(|| {
            let world = World::new(8);
            let session = world.sequence.numbers.take();
            let id = world.allocate();
            let snapshot = world.sequence.open_snapshot(session, || world.tail());
            let writer = {
                let world = world.clone();
                thread::spawn(move || {
                    world.sequence.set_rolled_back(id);
                    while world.sequence.next_block_end() < TrxId(7) {
                        world.sequence.prepare(world.sequence.next_block_end(), || world.tail());
                    }
                })
            };
            assert!(!world.sequence.sees(session, &snapshot, id));
            writer.join().unwrap();
            assert!(!world.sequence.sees(session, &snapshot, id));
        });
    }

    #[test]
    fn loom_the_horizon_never_passes_a_snapshot_being_opened() {
        loom::model(|| {
            let world = World::new(8);
            let session = world.sequence.numbers.take();
            let purge = {
                let world = world.clone();
                thread::spawn(move || {
                    world.tail.store(16, Ordering::Release);
                    world.sequence.advance_horizon(world.tail());
                })
            };
            let snapshot = world.sequence.open_snapshot(session, || world.tail());
            assert!(snapshot.lsn >= world.sequence.horizon());
            purge.join().unwrap();
            assert!(snapshot.lsn >= world.sequence.horizon());
        });
    }

    /// Purge forgets what the horizon has passed; a reader that begins meanwhile must see all of that.
    #[test]
    fn loom_what_purge_may_forget_is_seen_by_every_reader() {
        loom::model(|| {
            let world = World::new(8);
            let session = world.sequence.numbers.take();
            let id = world.allocate();
            let purge = {
                let world = world.clone();
                thread::spawn(move || {
                    world.commit(id, 16);
                    let horizon = world.sequence.advance_horizon(world.tail());
                    // whether it forgets the versions before `id`'s
                    Lsn(16) <= horizon
                })
            };
            let snapshot = world.sequence.open_snapshot(session, || world.tail());
            let sees = world.sequence.sees(session, &snapshot, id);
            let forgets = purge.join().unwrap();
            assert!(sees || !forgets, "a reader looks for a version that purge has forgotten");
        });
    }

    /// Between a look at the next id and the taking of its slot others may take that, end, and see the slot emptied for an id
    /// of the ring's next turn.
    #[test]
    fn loom_an_id_is_given_once_although_its_slot_is_emptied_meanwhile() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let world = World::new(8);
            let slow = {
                let world = world.clone();
                thread::spawn(move || world.allocate())
            };
            let mut given = Vec::new();
            for _ in 0..4 {
                let id = world.allocate();
                world.sequence.set_rolled_back(id);
                given.push(id);
            }
            assert!(!given.contains(&slow.join().unwrap()));
        });
    }

    /// Whoever takes back a change of an entry that purge has passed, as it was not marked then, asks whether to restore the mark.
    #[test]
    fn loom_what_purge_has_passed_is_visible_to_all() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let world = World::new(8);
            let session = world.sequence.numbers.take();
            let id = world.allocate();
            let reader = {
                let world = world.clone();
                thread::spawn(move || world.sequence.open_snapshot(session, || world.tail()))
            };
            world.commit(id, 16);
            let recycler = {
                let world = world.clone();
                thread::spawn(move || {
                    while world.sequence.next_block_end() < TrxId(7) {
                        world.sequence.prepare(world.sequence.next_block_end(), || world.tail());
                    }
                })
            };
            let has_passed = world.sequence.advance_horizon(world.tail()) >= Lsn(16);
            assert!(!has_passed || world.sequence.is_visible_to_all(id));
            reader.join().unwrap();
            recycler.join().unwrap();
        });
    }

    #[test]
    fn loom_two_writers_get_two_ids() {
        loom::model(|| {
            let world = World::new(8);
            let other = {
                let world = world.clone();
                thread::spawn(move || world.allocate())
            };
            let mine = world.allocate();
            let theirs = other.join().unwrap();
            assert_ne!(mine, theirs);
            assert!(world.sequence.next() > mine && world.sequence.next() > theirs);
            for id in [mine, theirs] {
                assert_eq!(world.sequence.outcome(id, || world.tail()), Outcome::Active(SessionNo(9)));
            }
        });
    }
}
