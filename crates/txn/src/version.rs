//! Reading: the version a snapshot sees, the latest one, the locked one.

use std::ops::{Bound, ControlFlow};

use palisade_btree::{Direction, ScanEnd, Tree};

use crate::entry::{ClusteredHeader, SecondaryHeader};
use crate::error::{Attempt, Error};
use crate::locks::ranges::{Cut, RangeGuard};
use crate::locks::{Heed, Mode, TryLock};
use crate::metrics;
use crate::sequence::Outcome;
use crate::sessions::SessionNo;
use crate::trx::Trx;
use crate::undo::Undo;
use crate::undo::segment::IN_A_CIRCLE;
use palisade_base::cycle::CycleGuard;
use palisade_base::{Blocked, TrxId};

/// What a locking read does about a row that somebody else has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LockWait {
    /// It waits.
    #[default]
    Wait,
    /// It fails.
    NoWait,
    /// It goes on without the row.
    SkipLocked,
}

/// Whether a read keeps others from inserting where it has found nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// It does, until the transaction ends.
    Locked,
    /// It does not.
    Open,
}

/// How a read locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locking {
    /// Shared or exclusive.
    pub mode: Mode,
    /// What is between the rows.
    pub gaps: Gaps,
    /// Locked rows of others.
    pub wait: LockWait,
}

impl Locking {
    /// Exclusive locks on rows only, waited for.
    pub const ROWS: Locking = Locking { mode: Mode::Exclusive, gaps: Gaps::Open, wait: LockWait::Wait };
}

/// What a locking read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockedRow {
    /// No row.
    Absent,
    /// A row.
    Row {
        /// Its version.
        header: ClusteredHeader,
        /// Whether it was not locked before.
        newly: bool,
    },
    /// A row that somebody else has locked.
    Skipped,
}

/// Whether looking at a row locks it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    Locked,
    Unlocked,
}

/// What a look at a row under its leaf's latch found.
enum Look {
    Absent,
    Row(ClusteredHeader, TryLock),
    /// Written by a transaction that is active.
    Writer(TrxId),
    /// Somebody else's lock is in the way.
    Lock,
}

/// Versions gone back before others have their turn: some tenths of a millisecond.
const STEPS_AT_ONCE: usize = if cfg!(test) { 3 } else { 1024 };

/// How far back reads that had to wait have followed the versions of rows. There may be millions of a row, and who began with
/// the newest after each wait would not come to the oldest.
///
/// What has been passed by stays so while the snapshot is open, which keeps the undo, and the transaction itself changes nothing.
#[derive(Default)]
pub(crate) struct Walks(Vec<Walk>);

struct Walk {
    index: u64,
    key: Vec<u8>,
    /// The version that has been reached.
    header: ClusteredHeader,
    row: Vec<u8>,
}

impl Walks {
    /// More reads of a transaction are not under way at once; the oldest was given up, and would begin anew.
    const MOST: usize = 32;

    /// Takes the walk of a row up again: gives the version that it has reached, whose bytes replace the content of `row`.
    #[inline]
    fn resume(&mut self, index: u64, key: &[u8], row: &mut Vec<u8>) -> Option<ClusteredHeader> {
        let place = self.0.iter().position(|walk| walk.index == index && walk.key == key)?;
        let walk = self.0.remove(place);
        *row = walk.row;
        Some(walk.header)
    }

    fn keep(&mut self, walk: Walk) {
        if self.0.len() == Self::MOST {
            self.0.remove(0);
        }
        self.0.push(walk);
    }

    /// They are not taken up again.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// What a leaf said of a key.
enum Seen {
    Absent,
    /// This is the version; its bytes have been copied.
    Version(ClusteredHeader),
    /// This is a version; the wanted one is older.
    TooNew(ClusteredHeader),
    Damaged,
}

impl Trx {
    /// Replaces the content of `out` by the row at `key` as the snapshot sees it, opening one if none is open. `None` if it
    /// sees no row. Waits for: pages, its next turn.
    pub fn read_snapshot(
        &mut self,
        tree: &Tree,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Attempt<Option<ClusteredHeader>> {
        self.open_snapshot();
        let index = tree.index_id();
        let mut header = match self.state.walks.resume(index, key, out) {
            Some(reached) => reached,
            None => {
                out.clear();
                let seen = tree.get(key, |value| {
                    let Some(value) = value else { return Seen::Absent };
                    let Some((header, row)) = ClusteredHeader::split(value) else { return Seen::Damaged };
                    if !self.sees(header.writer) {
                        out.extend_from_slice(row);
                        return Seen::TooNew(header);
                    }
                    if header.is_deleted() {
                        return Seen::Absent;
                    }
                    out.extend_from_slice(row);
                    Seen::Version(header)
                });
                match seen.map_err(Blocked::up)? {
                    Seen::Absent => return Ok(None),
                    Seen::Version(header) => return Ok(Some(header)),
                    Seen::TooNew(header) => header,
                    Seen::Damaged => return Err(damaged(tree)),
                }
            }
        };
        let found = self.older_version(&mut header, out);
        if let Err(Blocked::Wait(_)) = &found {
            let (key, row) = (key.to_vec(), std::mem::take(out));
            self.state.walks.keep(Walk { index, key, header, row });
        }
        Ok(found?.then_some(header))
    }

    /// The snapshot sees this version of the row at `key`, and the read has to wait for more of it: its next call finds it at
    /// once. The way back to it may be longer than the buffer pool, and would drive out what was waited for.
    pub fn keep_version(&mut self, tree: &Tree, key: &[u8], header: ClusteredHeader, row: Vec<u8>) {
        self.state.walks.keep(Walk { index: tree.index_id(), key: key.to_vec(), header, row });
    }

    /// Goes back from the version `header`, `row` to the one that the open snapshot sees. False if it sees no row. To
    /// be called again after waiting with what it has left, from where it goes on. Waits for: undo pages, its next turn.
    pub fn older_version(&self, header: &mut ClusteredHeader, row: &mut Vec<u8>) -> Attempt<bool> {
        self.go_back(header, row, |writer| self.sees(writer))
    }

    /// Goes back to the version whose writer is `wanted`. False if that is no row. After waiting it goes on where it was.
    fn go_back(
        &self,
        header: &mut ClusteredHeader,
        row: &mut Vec<u8>,
        wanted: impl Fn(TrxId) -> bool,
    ) -> Attempt<bool> {
        let mut older = Vec::new();
        let mut steps = 0;
        let mut cycle = CycleGuard::default();
        while !wanted(header.writer) {
            if steps == STEPS_AT_ONCE {
                return Err(Blocked::yielding());
            }
            steps += 1;
            let writer = header.writer;
            if cycle.returns_to(header.roll.to_u64()) {
                let page = self.system.undo.page_id(header.roll.page());
                return Err(Error::Corrupted { page, what: IN_A_CIRCLE }.into());
            }
            let previous = self.system.undo.read(header.roll, |record, _| {
                if record.writer != writer {
                    return Err(());
                }
                match record.undo {
                    Undo::Insert { .. } => Ok(None),
                    Undo::Modify { old, row: delta, .. } => {
                        older.clear();
                        delta.apply(row, &mut older).map(|()| Some(old)).ok_or(())
                    }
                    _ => Err(()),
                }
            })?;
            match previous {
                Ok(Some(old)) => {
                    *header = old;
                    std::mem::swap(row, &mut older);
                    metrics::TRX_VERSIONS_BUILT.increment();
                }
                Ok(None) => return Ok(false),
                Err(()) => {
                    return Err(Error::Corrupted {
                        page: self.system.undo.page_id(header.roll.page()),
                        what: "the undo record of another change",
                    }
                    .into());
                }
            }
        }
        Ok(!header.is_deleted())
    }

    /// Goes back from the version `header`, `row` to the last committed one, or this transaction's own. False if there is
    /// none. A snapshot that was opened before the version was read must be open: it keeps the undo. To be called again after
    /// waiting with what it has left. Waits for: undo pages, its next turn.
    pub fn committed_version(&self, header: &mut ClusteredHeader, row: &mut Vec<u8>) -> Attempt<bool> {
        assert!(self.state.snapshot.is_some(), "undo is kept for those who have a snapshot");
        self.go_back(header, row, |writer| self.is_committed(writer))
    }

    /// Whether `writer`, of a version that was copied a moment ago, is known to have committed, or is this transaction. It may have
    /// been rolled back in that moment, and then its version never was one: to have ended is not enough.
    fn is_committed(&self, writer: TrxId) -> bool {
        self.sees(writer) || self.system.sequence.has_committed(writer, || self.system.log.tail())
    }

    /// Replaces the content of `out` by the latest version of the row at `key`, whoever wrote it, delete marks included.
    /// Waits for: pages.
    pub fn read_latest(
        &self,
        tree: &Tree,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Attempt<Option<ClusteredHeader>> {
        out.clear();
        let found = tree.get(key, |value| {
            let Some(value) = value else { return Ok(None) };
            let (header, row) = ClusteredHeader::split(value).ok_or(())?;
            out.extend_from_slice(row);
            Ok(Some(header))
        });
        found.map_err(Blocked::up)?.map_err(|()| damaged(tree))
    }

    /// The session of an active transaction, other than this one, that is `writer`.
    #[inline]
    pub fn other_writer(&self, writer: TrxId) -> Option<SessionNo> {
        if writer == self.state.id {
            return None;
        }
        match self.system.sequence.outcome(writer, || self.system.log.tail()) {
            Outcome::Active(session) => Some(session),
            Outcome::Ended => None,
        }
    }

    /// Replaces the content of `out` by the latest version of the row at `key`, once its writer has ended; takes no lock on
    /// it. `None` if there is no row: then nobody else inserts one, if `gaps` says so. Waits for: the row's writer, pages.
    pub fn read_current(
        &mut self,
        tree: &Tree,
        key: &[u8],
        gaps: Gaps,
        out: &mut Vec<u8>,
    ) -> Attempt<Option<ClusteredHeader>> {
        let locking = Locking { mode: Mode::Exclusive, gaps, wait: LockWait::Wait };
        loop {
            match self.look(tree, key, locking, Rows::Unlocked, out)? {
                Look::Absent => return Ok(None),
                Look::Row(header, _) => return Ok(Some(header)),
                Look::Writer(writer) => self.wait_for_row(tree.index_id(), key, locking.mode, writer)?,
                Look::Lock => unreachable!("no lock was asked for"),
            }
        }
    }

    /// As [`read_current`](Self::read_current), and the row is locked until the transaction ends. Waits for: conflicting
    /// locks, pages.
    pub fn read_locked(
        &mut self,
        tree: &Tree,
        key: &[u8],
        locking: Locking,
        out: &mut Vec<u8>,
    ) -> Attempt<LockedRow> {
        self.state.locks = true;
        loop {
            let writer = match self.look(tree, key, locking, Rows::Locked, out)? {
                Look::Absent => return Ok(LockedRow::Absent),
                Look::Row(header, lock) => {
                    return Ok(LockedRow::Row { header, newly: lock == TryLock::Newly });
                }
                Look::Writer(writer) => writer,
                Look::Lock => TrxId::NONE,
            };
            match locking.wait {
                LockWait::Wait => self.wait_for_row(tree.index_id(), key, locking.mode, writer)?,
                LockWait::NoWait => return Err(Error::NotAvailable.into()),
                LockWait::SkipLocked => return Ok(LockedRow::Skipped),
            }
        }
    }

    /// Looks at a row under its leaf's latch, and locks there what can be locked at once.
    fn look(
        &mut self,
        tree: &Tree,
        key: &[u8],
        locking: Locking,
        rows: Rows,
        out: &mut Vec<u8>,
    ) -> Attempt<Look> {
        let (index, session) = (tree.index_id(), self.state.session);
        self.state.locks |= locking.gaps == Gaps::Locked;
        let this = &*self;
        let lock_gap = || {
            if locking.gaps == Gaps::Locked {
                let mut range = this.system.locks.begin_range(session, index, locking.mode);
                range.add(Cut::before(key), Cut::after(key))?;
            }
            Ok(Look::Absent)
        };
        out.clear();
        let found = tree.get(key, |value| {
            let Some(value) = value else { return lock_gap() };
            let (header, row) = ClusteredHeader::split(value).ok_or_else(|| damaged(tree))?;
            let is_own = header.writer == this.state.id && this.state.id != TrxId::NONE;
            if !is_own && this.other_writer(header.writer).is_some() {
                return Ok(Look::Writer(header.writer));
            }
            if this.is_too_new(header.writer) {
                return Err(Error::RowChanged.into());
            }
            if header.is_deleted() {
                return lock_gap();
            }
            let lock = match rows {
                Rows::Locked if !is_own => this.system.locks.try_lock_row(session, index, key, locking.mode),
                _ => TryLock::Already,
            };
            match lock {
                TryLock::No => return Ok(Look::Lock),
                TryLock::Full => return Err(Error::LockTableFull.into()),
                TryLock::Already | TryLock::Newly => {}
            }
            out.extend_from_slice(row);
            Ok(Look::Row(header, lock))
        });
        found.map_err(Blocked::up)?
    }

    /// Waits until the row at `key`, a clustered index's, is this transaction's in `mode`: until `writer`, if it is an active
    /// transaction that has written it, and everybody else in the way have ended. Waits for: them.
    pub fn wait_for_row(&mut self, index: u64, key: &[u8], mode: Mode, writer: TrxId) -> Attempt<()> {
        let writer = self.other_writer(writer).map(|session| (session, writer));
        self.state.lock(&self.system, index, key, mode, Heed::Ranges, writer)
    }

    /// Waits until `writer`, an active transaction found in an entry of a secondary index, has ended. Waits for: that.
    fn wait_for_entry(&mut self, index: u64, key: &[u8], writer: TrxId) -> Attempt<()> {
        match self.other_writer(writer) {
            Some(session) => {
                let writer = Some((session, writer));
                self.state.lock(&self.system, index, key, Mode::Shared, Heed::Queues, writer)
            }
            None => Ok(()),
        }
    }

    /// Begins to lock what a scan finds on a leaf of `index`, whose latch the caller holds.
    pub fn begin_range(&self, index: u64, mode: Mode) -> RangeGuard<'_> {
        self.system.locks.begin_range(self.state.session, index, mode)
    }

    /// Says that locks will be taken with [`begin_range`](Self::begin_range) or [`try_lock_row`](Self::try_lock_row).
    pub fn expect_locks(&mut self) {
        self.state.locks = true;
    }

    /// Locks a row, found under the latch of its leaf with a writer that has ended, if nobody is in the way.
    pub fn try_lock_row(&self, index: u64, key: &[u8], mode: Mode) -> TryLock {
        self.system.locks.try_lock_row(self.state.session, index, key, mode)
    }

    /// Whether this transaction holds an explicit lock on the key, in whatever mode.
    pub fn has_lock(&self, index: u64, key: &[u8]) -> bool {
        self.system.locks.has_lock(self.state.session, index, key)
    }

    /// Whether a version, found with a writer that has ended, must not be locked: see
    /// [`set_first_committer_wins`](Self::set_first_committer_wins).
    pub fn check_age(&self, writer: TrxId) -> Result<(), Error> {
        if self.is_too_new(writer) { Err(Error::RowChanged) } else { Ok(()) }
    }

    /// Whether a unique secondary index has an entry that begins with `prefix`, all active transactions' outcomes
    /// known. The caller holds an exclusive lock on the prefix. Waits for: writers of such entries, pages.
    pub fn find_duplicate(&mut self, tree: &Tree, prefix: &[u8]) -> Attempt<bool> {
        let mut from = prefix.to_vec();
        loop {
            let mut duplicate = false;
            let mut in_the_way = None;
            let mut is_damaged = false;
            let end = tree.scan(Bound::Included(&from), Direction::Forward, |key, value| {
                if !key.starts_with(prefix) {
                    return ControlFlow::Break(());
                }
                let Some((header, _)) = SecondaryHeader::split(value) else {
                    is_damaged = true;
                    return ControlFlow::Break(());
                };
                if self.other_writer(header.writer).is_some() {
                    in_the_way = Some((key.to_vec(), header.writer));
                    return ControlFlow::Break(());
                }
                duplicate = !header.is_deleted();
                if duplicate { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let end = end.map_err(Blocked::up)?;
            if is_damaged {
                return Err(damaged(tree));
            }
            if duplicate {
                return Ok(true);
            }
            if let Some((key, writer)) = in_the_way {
                self.wait_for_entry(tree.index_id(), &key, writer)?;
                continue;
            }
            match end {
                ScanEnd::Continue { separator, .. } => from = separator.to_vec(),
                ScanEnd::Exhausted | ScanEnd::Stopped => return Ok(false),
            }
        }
    }
}

/// An entry of `tree` has a value too short for its header.
pub(crate) fn damaged(tree: &Tree) -> Blocked<Error> {
    let page = palisade_base::PageId { space: tree.space().id(), page: tree.root() };
    Error::Corrupted { page, what: "an entry of the index with this root is too short for its header" }.into()
}
