//! Scans that lock what they read.
//!
//! While the leaf is latched each row is either locked, left out, or in the way: then the scan has come to
//! just before it, gives what it has so far, waits with no latch held, and goes on with that very row. At
//! REPEATABLE READ and above what has been passed over is locked as a range ([`palisade_txn::RangeGuard`]),
//! rows and gaps alike, before the latch is given back; below, each row has a lock of its own, and the caller
//! may give back those that it does not want. What lies before a row that SKIP LOCKED leaves out stays open,
//! unless rows in it were taken: as in InnoDB, and a worker of a queue has one range however many rows the
//! others have taken.
//!
//! A secondary index has no row locks. Its range keeps others from inserting; the rows are locked in the
//! clustered index when they are looked up. That may have to wait, so where gaps are locked one entry is
//! visited at a time: while it waits no session is kept from inserting beyond the row that is waited for.
//!
//! What is locked ahead of the caller grows with what he has taken, unless he said that he
//! [may stop](Scan::that_may_stop): then nothing is.

use std::cell::RefCell;
use std::ops::ControlFlow;

use palisade_base::{Blocked, TrxId};
use palisade_btree::ScanEnd;
use palisade_txn::{
    ClusteredHeader, Cut, EXTERNAL, Gaps, LockWait, Locking, RangeGuard, SecondaryHeader, Trx, TryLock,
};

use super::{Bound, Direction, Pending, RowBatch, RowKeys, Scan, Wanted, damaged};
use crate::stamp::RowStamp;
use crate::store::parse_reference;
use crate::{Attempt, Error};

/// A row that somebody else has locked.
pub(super) struct Obstacle {
    key: Vec<u8>,
    /// Who is writing it, if anybody.
    writer: TrxId,
    /// Whether it is locked by this transaction already, in a weaker mode.
    upgrade: bool,
}

/// Rows of a locking batch at most: what is locked ahead of the caller.
const MAX_AHEAD: usize = 128;

/// Why the visit of a leaf ended before the leaf did.
enum Stop {
    PassedEnd,
    /// The batch has as many rows as wanted, or as much, this one the last.
    Full(Vec<u8>),
    Obstacle(Vec<u8>, TrxId),
    Failed(Error),
    Damaged,
}

struct Visit<'a, 't> {
    trx: &'t Trx,
    index_id: u64,
    is_clustered: bool,
    locking: Locking,
    end: &'a Bound,
    direction: Direction,
    most: usize,
    /// Bytes of rows that are off the leaf after which the batch is full.
    longest: usize,
    /// The row that was waited for, and that was not locked before.
    waited: Option<&'a [u8]>,
    batch: &'a mut RowBatch,
    /// Notes the keys of the rows.
    keys: Option<&'a mut RowKeys>,
    pending: &'a mut Pending,
    range: Option<RangeGuard<'t>>,
    /// Up to here what was passed over is locked, or was left out.
    edge: Cut,
    /// Rows or entries behind the edge that must be locked.
    taken: usize,
    /// Bytes of the rows that are off the leaf.
    long: usize,
    stop: Option<Stop>,
}

impl Scan {
    /// Visits one leaf, or goes on behind the row that had to be waited for. Waits for: that row, pages.
    pub(super) fn read_leaf_locking(&mut self, trx: &mut Trx, locking: Locking) -> Attempt<()> {
        let table = self.table.clone();
        let tree = table.partitions()[self.partition].tree(self.index);
        if let Some(obstacle) = &self.obstacle {
            let Obstacle { key, writer, .. } = obstacle;
            trx.wait_for_row(tree.index_id(), key, locking.mode, *writer).map_err(Blocked::up)?;
        }
        let waited = self.obstacle.take().filter(|obstacle| !obstacle.upgrade);
        let Some(from) = self.from.clone() else { return Ok(()) };
        self.start_batch();
        trx.expect_locks();
        let visit = RefCell::new(Visit {
            trx,
            index_id: tree.index_id(),
            is_clustered: self.index == 0,
            locking,
            end: &self.end,
            direction: self.direction,
            longest: self.longest,
            most: match self.index > 0 && locking.gaps == Gaps::Locked {
                true => 1,
                false => self.rows_wanted.unwrap_or(usize::MAX).min(self.ahead).min(self.most),
            },
            waited: waited.as_ref().map(|obstacle| &obstacle.key[..]),
            batch: &mut self.batch,
            keys: self.keys.as_deref_mut(),
            pending: &mut self.pending,
            range: None,
            edge: match self.direction {
                Direction::Forward => Cut::lower(from.as_ops()),
                Direction::Backward => Cut::upper(from.as_ops()),
            },
            taken: 0,
            long: 0,
            stop: None,
        });
        let outcome = tree.scan_then(
            from.as_ops(),
            self.direction.into(),
            |key, value| visit.borrow_mut().entry(key, value),
            |end| visit.borrow_mut().finish(end),
        );
        let Visit { stop, waited, .. } = visit.into_inner();
        let gone = waited.filter(|_| outcome.is_ok()).map(<[u8]>::to_vec);
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(blocked) => {
                // The row that was waited for is looked at when this is called again.
                self.obstacle = waited_again(waited);
                return Err(blocked.up());
            }
        };
        if let (Some(key), Gaps::Open) = (gone, locking.gaps) {
            trx.unlock(tree.index_id(), &key);
        }
        if locking.wait == LockWait::Wait && !self.may_stop {
            self.ahead = (self.ahead * 2).min(MAX_AHEAD);
        }
        self.from = match stop {
            Some(Stop::PassedEnd) => None,
            Some(Stop::Full(key)) => Some(Bound::Excluded(key)),
            Some(Stop::Obstacle(key, writer)) => {
                let upgrade = trx.has_lock(tree.index_id(), &key);
                self.obstacle = Some(Obstacle { key: key.clone(), writer, upgrade });
                Some(Bound::Included(key))
            }
            Some(Stop::Failed(error)) => return Err(error.into()),
            Some(Stop::Damaged) => return Err(damaged(tree).into()),
            None => self.after_leaf(outcome),
        };
        Ok(())
    }
}

fn waited_again(waited: Option<&[u8]>) -> Option<Obstacle> {
    waited.map(|key| Obstacle { key: key.to_vec(), writer: TrxId::NONE, upgrade: false })
}

impl<'t> Visit<'_, 't> {
    fn entry(&mut self, key: &[u8], value: &[u8]) -> ControlFlow<()> {
        if self.end.is_passed_by(key, self.direction) {
            return self.stop(Stop::PassedEnd);
        }
        match self.is_clustered {
            true => self.row(key, value)?,
            false => self.secondary(key, value)?,
        }
        if let Some(keys) = &mut self.keys {
            keys.note(self.batch.len(), key);
        }
        if self.batch.len() >= self.most || self.long >= self.longest {
            return self.stop(Stop::Full(key.to_vec()));
        }
        ControlFlow::Continue(())
    }

    fn stop(&mut self, stop: Stop) -> ControlFlow<()> {
        self.stop = Some(stop);
        ControlFlow::Break(())
    }

    fn row(&mut self, key: &[u8], value: &[u8]) -> ControlFlow<()> {
        let Some((header, row)) = ClusteredHeader::split(value) else { return self.damaged() };
        if self.trx.other_writer(header.writer).is_some() {
            return self.in_the_way(key, header.writer);
        }
        if let Err(error) = self.trx.check_age(header.writer) {
            return self.stop(Stop::Failed(error.into()));
        }
        if header.is_deleted() {
            return ControlFlow::Continue(());
        }
        let mode = self.locking.mode;
        let lock = if self.trx.id() == Some(header.writer) {
            TryLock::Already
        } else {
            match self.locking.gaps {
                Gaps::Open => self.trx.try_lock_row(self.index_id, key, mode),
                Gaps::Locked => match self.range().may_lock(key) {
                    true => TryLock::Already,
                    false => TryLock::No,
                },
            }
        };
        match lock {
            TryLock::No => return self.in_the_way(key, TrxId::NONE),
            TryLock::Full => return self.stop(Stop::Failed(Error::LockTableFull)),
            TryLock::Already | TryLock::Newly => {}
        }
        let was_waited_for = self.waited.take_if(|waited| *waited == key).is_some();
        if header.flags & EXTERNAL != 0 {
            self.pending.push(self.batch.len(), key, Wanted::Version(header));
            self.long += parse_reference(row).map_or(0, |(_, len)| len);
        }
        self.taken += 1;
        self.batch.push_locked(row, header.stamp().into(), lock == TryLock::Newly || was_waited_for);
        ControlFlow::Continue(())
    }

    fn secondary(&mut self, key: &[u8], value: &[u8]) -> ControlFlow<()> {
        let Some((header, _)) = SecondaryHeader::split(value) else { return self.damaged() };
        if !header.is_deleted() || self.trx.other_writer(header.writer).is_some() {
            self.pending.push(self.batch.len(), key, Wanted::Entry { verify: true });
            self.taken += 1;
            self.batch.push(&[], RowStamp::default());
        }
        ControlFlow::Continue(())
    }

    fn damaged(&mut self) -> ControlFlow<()> {
        self.stop(Stop::Damaged)
    }

    fn in_the_way(&mut self, key: &[u8], writer: TrxId) -> ControlFlow<()> {
        match self.locking.wait {
            LockWait::Wait => self.stop(Stop::Obstacle(key.to_vec(), writer)),
            LockWait::NoWait => self.stop(Stop::Failed(Error::LockNotAvailable)),
            LockWait::SkipLocked => {
                let (before, after) = (Cut::before(key), Cut::after(key));
                let (cut, edge) = match self.direction {
                    Direction::Forward => (before, after),
                    Direction::Backward => (after, before),
                };
                match self.taken {
                    0 => self.edge = edge,
                    _ => self.lock_to(cut, edge),
                }
                match self.stop {
                    None => ControlFlow::Continue(()),
                    Some(_) => ControlFlow::Break(()),
                }
            }
        }
    }

    fn range(&mut self) -> &mut RangeGuard<'t> {
        let (trx, index, mode) = (self.trx, self.index_id, self.locking.mode);
        self.range.get_or_insert_with(|| trx.begin_range(index, mode))
    }

    /// Locks from the edge to `cut`; `edge` is the next edge. That may be too much, and the reason to stop.
    fn lock_to(&mut self, cut: Cut, edge: Cut) {
        let from = std::mem::replace(&mut self.edge, edge);
        self.taken = 0;
        if self.locking.gaps == Gaps::Locked {
            let (lower, upper) = match self.direction {
                Direction::Forward => (from, cut),
                Direction::Backward => (cut, from),
            };
            if let Err(error) = self.range().add(lower, upper) {
                self.stop = Some(Stop::Failed(error.into()));
            }
        }
    }

    /// The visit ends, and the leaf is still latched.
    fn finish(&mut self, end: &ScanEnd) {
        let forward = self.direction == Direction::Forward;
        let limit = match forward {
            true => Cut::upper(self.end.as_ops()),
            false => Cut::lower(self.end.as_ops()),
        };
        let cut = match (&self.stop, end) {
            (Some(Stop::Failed(_) | Stop::Damaged), _) => return,
            (Some(Stop::Full(key)), _) if forward => Cut::after(key),
            (Some(Stop::Full(key)), _) => Cut::before(key),
            (Some(Stop::Obstacle(key, _)), _) if forward => Cut::before(key),
            (Some(Stop::Obstacle(key, _)), _) => Cut::after(key),
            (None, ScanEnd::Continue { separator, .. }) if forward => Cut::before(separator).min(limit),
            (None, ScanEnd::Continue { separator, .. }) => Cut::before(separator).max(limit),
            (Some(Stop::PassedEnd), _) | (None, ScanEnd::Exhausted | ScanEnd::Stopped) => limit,
        };
        self.lock_to(cut.clone(), cut);
    }
}
