//! Reading: the version a snapshot sees, the latest one, the locked one.

use std::ops::{Bound, ControlFlow};

use palisade_btree::{Direction, ScanEnd, Tree};

use crate::entry::{ClusteredHeader, SecondaryHeader};
use crate::error::{Attempt, Error};
use crate::locks::Mode;
use crate::metrics;
use crate::sequence::Outcome;
use crate::sessions::SessionNo;
use crate::trx::Trx;
use crate::undo::Undo;
use palisade_base::{Blocked, TrxId};

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
    /// sees no row. Waits for: pages.
    pub fn read_snapshot(
        &mut self,
        tree: &Tree,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Attempt<Option<ClusteredHeader>> {
        self.open_snapshot();
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
            Seen::Absent => Ok(None),
            Seen::Version(header) => Ok(Some(header)),
            Seen::TooNew(mut header) => {
                let found = self.older_version(&mut header, out)?;
                Ok(found.then_some(header))
            }
            Seen::Damaged => Err(damaged(tree)),
        }
    }

    /// Goes back from the version `header`, `row` to the one that the open snapshot sees. False if it sees no row. To
    /// be called again with the same arguments after waiting. Waits for: undo pages.
    pub fn older_version(&self, header: &mut ClusteredHeader, row: &mut Vec<u8>) -> Attempt<bool> {
        let mut older = Vec::new();
        while !self.sees(header.writer) {
            let writer = header.writer;
            let previous = self.system.undo.read(header.roll, |record| {
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
        match self.system.sequence.outcome(writer) {
            Outcome::Active(session) => Some(session),
            Outcome::Ended => None,
        }
    }

    /// Waits until `writer`, an active transaction found in the row at `key`, has ended: the row is locked then. Waits for:
    /// that.
    pub fn wait_for_writer(&mut self, index: u64, key: &[u8], mode: Mode, writer: TrxId) -> Attempt<()> {
        match self.other_writer(writer) {
            Some(session) => self.state.lock(&self.system, index, key, mode, Some((session, writer))),
            None => Ok(()),
        }
    }

    /// Replaces the content of `out` by the latest version of the row at `key`, once its writer has ended. `None` if there
    /// is no row. Waits for: the row's writer, pages.
    pub fn read_current(
        &mut self,
        tree: &Tree,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Attempt<Option<ClusteredHeader>> {
        loop {
            let Some(header) = self.read_latest(tree, key, out)? else { return Ok(None) };
            if self.other_writer(header.writer).is_some() {
                self.wait_for_writer(tree.index_id(), key, Mode::Exclusive, header.writer)?;
                continue;
            }
            return Ok((!header.is_deleted()).then_some(header));
        }
    }

    /// As [`read_current`](Self::read_current), and the row is locked until the transaction ends. Waits for: conflicting
    /// locks, pages.
    pub fn read_locked(
        &mut self,
        tree: &Tree,
        key: &[u8],
        mode: Mode,
        out: &mut Vec<u8>,
    ) -> Attempt<Option<ClusteredHeader>> {
        let index = tree.index_id();
        let mut locked = false;
        loop {
            let Some(header) = self.read_latest(tree, key, out)? else { return Ok(None) };
            if self.other_writer(header.writer).is_some() {
                self.wait_for_writer(index, key, mode, header.writer)?;
                continue;
            }
            if header.is_deleted() && !locked {
                return Ok(None);
            }
            if locked || header.writer == self.state.id && self.state.id != TrxId::NONE {
                return Ok((!header.is_deleted()).then_some(header));
            }
            self.lock(index, key, mode)?;
            // What was read before the lock was granted may be old.
            locked = true;
        }
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
                self.wait_for_writer(tree.index_id(), &key, Mode::Shared, writer)?;
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
