//! All transactions together.

use std::sync::{Arc, OnceLock};

use palisade_base::clock::Clock;
use palisade_base::{Lsn, SpaceId, TrxId};
use palisade_btree::Tree;
use palisade_buffer::Space;
use palisade_log::Log;
use parking_lot::RwLock;

use crate::error::{Attempt, Error};
use crate::locks::LockTable;
use crate::metrics;
use crate::sequence::{BLOCK, RING_SLOTS, Sequence};
use crate::sessions::SessionNo;
use crate::trx::Trx;
use crate::undo::UndoSpace;

/// No server has given so many ids, and half of those that fit into a row's header are left.
const BEYOND_THE_PAST: TrxId = TrxId(1 << 47);

/// How transactions find the trees that undo records name. Answers `None` for what has been dropped.
pub trait Trees: Send + Sync {
    /// The tree of an index.
    fn tree(&self, index: u64) -> Option<Tree>;

    /// A space.
    fn space(&self, space: SpaceId) -> Option<Arc<Space>>;
}

/// An open transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveTrx {
    /// Its id, if it has changed something.
    pub id: Option<TrxId>,
    /// Its session.
    pub session: SessionNo,
    /// What [`Trx::set_owner`] said.
    pub owner: u64,
    /// When it began, or at least first changed something, microseconds since 1970; 0 if that is not known.
    pub started_us: i64,
    /// How many changes it has made.
    pub changes: u64,
    /// Explicit locks it holds.
    pub locks: usize,
    /// Bytes that they take.
    pub lock_bytes: usize,
    /// Whether it waits for a lock.
    pub waiting: bool,
    /// Since when, microseconds since 1970, or 0.
    pub wait_started_us: i64,
    /// What its owner wants to be told of it; 0 if it has said nothing.
    pub label: u32,
    /// Whether it is being rolled back, or is to be.
    pub rolls_back: bool,
}

/// Ids, undo, locks and what is known about them.
pub struct TrxSystem {
    pub(crate) log: Arc<Log>,
    pub(crate) undo: UndoSpace,
    pub(crate) sequence: Sequence,
    pub(crate) locks: LockTable,
    trees: OnceLock<Box<dyn Trees>>,
    /// Held shared while undo records are being used to change trees, so that a dropped tree can be waited for.
    pub(crate) gate: RwLock<()>,
    clock: Arc<dyn Clock>,
}

impl TrxSystem {
    /// Makes an attached, formatted, otherwise empty space the undo space. Blocks.
    pub fn create(log: Arc<Log>, undo: Arc<Space>, clock: Arc<dyn Clock>) -> Result<Arc<Self>, Error> {
        let undo = UndoSpace::create(log.clone(), undo)?;
        Ok(Arc::new(Self::new(log, undo, TrxId(1), clock)))
    }

    /// The same for tables that have been written to already, by transactions of which nothing is known: all
    /// of them count as committed, and nothing of them can be rolled back or seen as it was before. Blocks.
    pub fn create_without_past(
        log: Arc<Log>,
        undo: Arc<Space>,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Self>, Error> {
        let undo = UndoSpace::create(log.clone(), undo)?;
        Ok(Arc::new(Self::new(log, undo, BEYOND_THE_PAST, clock)))
    }

    /// Opens the undo space after redo. Gives the transactions that were in flight: they hold their rows until they have
    /// been rolled back, or, if they are [prepared](Trx::prepared), have ended as somebody decides. Blocks.
    pub fn open(
        log: Arc<Log>,
        undo: Arc<Space>,
        clock: Arc<dyn Clock>,
    ) -> Result<(Arc<Self>, Vec<Trx>), Error> {
        let (undo, found) = UndoSpace::open(log.clone(), undo)?;
        let this = Arc::new(Self::new(log, undo, found.next_id, clock));
        let mut in_flight = Vec::new();
        for transaction in found.in_flight {
            in_flight.push(Trx::resurrect(this.clone(), transaction)?);
            metrics::TRX_RECOVERED.increment();
        }
        Ok((this, in_flight))
    }

    fn new(log: Arc<Log>, undo: UndoSpace, next: TrxId, clock: Arc<dyn Clock>) -> Self {
        TrxSystem {
            log,
            undo,
            sequence: Sequence::new(RING_SLOTS, BLOCK, next),
            locks: LockTable::default(),
            trees: OnceLock::new(),
            gate: RwLock::new(()),
            clock,
        }
    }

    /// Says how to find trees. Once, before anything is rolled back or purged.
    pub fn set_trees(&self, trees: Box<dyn Trees>) {
        assert!(self.trees.set(trees).is_ok(), "trees are set once");
    }

    pub(crate) fn trees(&self) -> &dyn Trees {
        &**self.trees.get().expect("trees are set before anything is rolled back or purged")
    }

    /// Begins a transaction.
    pub fn begin(self: &Arc<Self>) -> Trx {
        Trx::new(self.clone(), self.sequence.numbers.take())
    }

    /// The log.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// Ids and commits.
    pub fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// Row locks.
    pub fn locks(&self) -> &LockTable {
        &self.locks
    }

    /// Works out the gauges.
    pub fn publish_metrics(&self) {
        metrics::LOCK_MEMORY.set(self.locks.memory());
    }

    /// The undo space.
    pub fn undo(&self) -> &UndoSpace {
        &self.undo
    }

    pub(crate) fn now_us(&self) -> i64 {
        self.clock.unix_micros()
    }

    /// Makes more ids available. Waits for: log credit, the undo directory to be read.
    #[cold]
    pub(crate) fn prepare_ids(&self) -> Attempt<()> {
        let until = self.sequence.next_block_end();
        self.undo.ensure_id_limit(until)?;
        self.sequence.prepare(until, || self.log.tail());
        Ok(())
    }

    /// Returns when nobody is using a tree found before the call to purge or to roll back; call it after the tree
    /// can no longer be found. Blocks.
    pub fn wait_for_undo_users(&self) {
        drop(self.gate.write());
    }

    /// Transactions that have changed something and have not ended, in order of id.
    pub fn active(&self) -> Vec<ActiveTrx> {
        let mut active = self.looked_at(|trx| trx.id.is_some());
        active.sort_by_key(|trx| trx.id);
        active
    }

    /// Transactions that have not ended: those that have changed something, hold locks, wait for one or have had a snapshot.
    pub fn all_open(&self) -> Vec<ActiveTrx> {
        self.looked_at(|trx| {
            trx.id.is_some() || trx.locks > 0 || trx.waiting || self.sequence.has_had_snapshot(trx.session)
        })
    }

    /// How many transactions have a snapshot.
    pub fn open_snapshots(&self) -> usize {
        self.sequence.numbers.all().filter(|session| self.sequence.has_snapshot(*session)).count()
    }

    /// The session's transaction, whether it is open or not.
    pub fn look(&self, session: SessionNo) -> ActiveTrx {
        self.locks.look(session)
    }

    fn looked_at(&self, is_wanted: impl Fn(&ActiveTrx) -> bool) -> Vec<ActiveTrx> {
        self.sequence.numbers.all().map(|session| self.locks.look(session)).filter(is_wanted).collect()
    }

    /// Moves the low-water mark and the purge horizon up. Called by purge; cheap.
    pub fn advance(&self) -> Lsn {
        let tail = self.log.tail();
        self.sequence.advance_low_water(tail);
        self.sequence.advance_horizon(tail)
    }

    /// Transactions of lower ids have ended, and nothing of them is left to be purged. After a restart it is 0 until purge has
    /// read what was left.
    pub fn purged_below(&self) -> TrxId {
        // In this order: who ends meanwhile is in one of the lists.
        let next = self.sequence.next();
        let active = self.active().first().and_then(|trx| trx.id);
        let ended = self.undo.segments().iter().filter_map(|segment| segment.lowest_id()).min();
        [active, ended].into_iter().flatten().fold(next, TrxId::min)
    }

    /// Committed transactions whose undo is still there. After a restart purge counts them first: a segment that it has not
    /// read yet counts as one.
    pub fn history_length(&self) -> u64 {
        self.undo.history_length()
    }
}
