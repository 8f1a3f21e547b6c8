//! Changing entries: one mini-transaction each, undo record included.
//!
//! The order within one: log credit; the leaf, exclusively; a look at who wrote the entry and at the lock table; the undo
//! page; and then, with everything at hand, undo record and entry. Whatever has to be waited for is waited for with
//! nothing held, and the operation begins again.

use palisade_base::{Blocked, PageNo, SpaceId, TrxId};
use palisade_btree::mtr::{OP_OVERHEAD, max_entry_change_bytes};
use palisade_btree::{Handle, Mtr, Position, Tree, overflow};
use palisade_buffer::{PageSize, Space};

use crate::entry::{
    CLUSTERED_HEADER, ClusteredHeader, DELETED, SECONDARY_HEADER, SecondaryHeader, Stamp, UndoPtr,
};
use crate::error::{Attempt, Error};
use crate::locks::{Heed, Mode};
use crate::sequence::Outcome;
use crate::sessions::SessionNo;
use crate::system::TrxSystem;
use crate::trx::{State, Trx};
use crate::undo::page::Occupancy;
use crate::undo::reserve::Purpose;
use crate::undo::segment::{UndoPlace, max_append_bytes};
use crate::undo::{Delta, Prior, Undo, UndoRecord};

/// Most bytes of redo of changing an entry with its undo.
const fn max_change_bytes(size: PageSize) -> usize {
    max_entry_change_bytes(size) + max_append_bytes(size) + 64
}

/// A row's new version.
#[derive(Debug, Clone, Copy)]
pub enum RowChange<'a> {
    /// A row where there is none.
    Insert {
        /// Flags besides [`DELETED`].
        flags: u8,
        /// Its bytes.
        row: &'a [u8],
    },
    /// Other bytes for the version that was read.
    Update {
        /// That version.
        expected: Stamp,
        /// Flags besides [`DELETED`].
        flags: u8,
        /// Its new bytes.
        row: &'a [u8],
        /// An overflow chain that only the old version needs.
        released: Option<(SpaceId, PageNo)>,
    },
    /// A delete mark for the version that was read.
    Delete {
        /// That version.
        expected: Stamp,
        /// An overflow chain that only the old version needs.
        released: Option<(SpaceId, PageNo)>,
    },
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum RowOutcome {
    /// Done: the new version is this one.
    Done(Stamp),
    /// There is a row already.
    Duplicate,
    /// The row is no longer the version that was read.
    Changed,
}

/// What a secondary entry is to become.
#[derive(Debug, Clone, Copy)]
pub enum EntryChange<'a> {
    /// There, with this payload.
    Put(&'a [u8]),
    /// Marked as deleted.
    Delete,
}

/// What was found under the latch, before anything was changed.
enum Found {
    Nothing,
    Deleted(ClusteredHeader),
    Live(ClusteredHeader),
}

/// Why an entry cannot be changed now.
enum Obstacle {
    /// An active transaction wrote it.
    Writer(SessionNo, TrxId),
    /// Somebody holds a lock, or came earlier.
    Lock(Mode, Heed),
}

impl Trx {
    /// Changes the row at `key` of a clustered index. Waits for: the row's lock, pages, log credit.
    pub fn change_row(&mut self, tree: &Tree, key: &[u8], change: RowChange<'_>) -> Attempt<RowOutcome> {
        // It will be the newest version that this transaction sees.
        self.state.walks.clear();
        loop {
            match self.state.change_row(&self.system, tree, key, change)? {
                Ok(outcome) => return Ok(outcome),
                Err(obstacle) => self.state.wait_for(&self.system, tree, key, obstacle)?,
            }
        }
    }

    /// Changes the entry at `key` of a secondary index, whose row this transaction has changed. Waits for: pages, log
    /// credit; the entry's lock, if a reading transaction holds it.
    pub fn change_entry(&mut self, tree: &Tree, key: &[u8], change: EntryChange<'_>) -> Attempt<()> {
        loop {
            match self.state.change_entry(&self.system, tree, key, change)? {
                Ok(()) => return Ok(()),
                Err(obstacle) => self.state.wait_for(&self.system, tree, key, obstacle)?,
            }
        }
    }

    /// Begins an overflow chain with its first link; it is freed if the transaction is rolled back. The other links are
    /// appended with [`extend_chain`](Self::extend_chain). Waits for: pages, log credit, the file to be extended.
    pub fn begin_chain(&mut self, space: &Space, data: &[u8]) -> Attempt<PageNo> {
        self.state.begin_chain(&self.system, space, data)
    }

    /// Appends a link to a chain whose last one is `previous`. Waits for: pages, log credit, the file to be extended.
    pub fn extend_chain(&mut self, space: &Space, previous: PageNo, data: &[u8]) -> Attempt<PageNo> {
        let mut mtr = Mtr::begin(&self.system.log, overflow::max_write_bytes(space.page_size()))
            .map_err(Blocked::up)?;
        let page = overflow::write_chunk(&mut mtr, space, Some(previous), data).map_err(Blocked::up)?;
        mtr.commit(|_| {});
        Ok(page)
    }
}

impl State {
    fn wait_for(&mut self, system: &TrxSystem, tree: &Tree, key: &[u8], obstacle: Obstacle) -> Attempt<()> {
        let (mode, heed, writer) = match obstacle {
            Obstacle::Writer(session, id) => (Mode::Exclusive, Heed::Queues, Some((session, id))),
            Obstacle::Lock(mode, heed) => (mode, heed, None),
        };
        self.lock(system, tree.index_id(), key, mode, heed, writer)
    }

    /// Whether somebody else stands in the way of changing an entry that `writer` wrote. Under the leaf's latch.
    #[inline]
    fn obstacle(
        &self,
        system: &TrxSystem,
        tree: &Tree,
        key: &[u8],
        writer: TrxId,
        mode: Mode,
        heed: Heed,
    ) -> Option<Obstacle> {
        if writer != self.id
            && let Outcome::Active(session) = system.sequence.outcome(writer, || system.log.tail())
        {
            return Some(Obstacle::Writer(session, writer));
        }
        let index = tree.index_id();
        let locks = &system.locks;
        if locks.is_surely_free(index, key) || locks.may_write(self.session, index, key, mode, heed) {
            return None;
        }
        Some(Obstacle::Lock(mode, heed))
    }

    fn change_row<'a>(
        &mut self,
        system: &'a TrxSystem,
        tree: &'a Tree,
        key: &[u8],
        change: RowChange<'_>,
    ) -> Attempt<Result<RowOutcome, Obstacle>> {
        // The entries of a row that is deleted follow it.
        self.purpose = match change {
            RowChange::Delete { .. } => Purpose::Relief,
            _ => self.usual_purpose,
        };
        self.begin_writing(system)?;
        let mut mtr =
            Mtr::begin(&system.log, max_change_bytes(tree.space().page_size())).map_err(Blocked::up)?;
        let position = match change {
            RowChange::Insert { row, .. } | RowChange::Update { row, .. } => {
                tree.acquire(&mut mtr, key, CLUSTERED_HEADER + row.len())
            }
            RowChange::Delete { .. } => tree.acquire_existing(&mut mtr, key),
        }
        .map_err(Blocked::up)?;
        let found = find(&mtr, &position)?;
        let writer = match &found {
            Found::Nothing => TrxId::NONE,
            Found::Deleted(header) | Found::Live(header) => header.writer,
        };
        let mode = match (&change, &found) {
            (RowChange::Insert { .. }, Found::Nothing | Found::Deleted(_)) => Mode::Insert,
            // It will not be changed: who reads the row too need not be waited for.
            (RowChange::Insert { .. }, Found::Live(_)) => Mode::Shared,
            (RowChange::Update { .. } | RowChange::Delete { .. }, _) => Mode::Exclusive,
        };
        if let Some(obstacle) = self.obstacle(system, tree, key, writer, mode, Heed::Ranges) {
            return Ok(Err(obstacle));
        }
        let (flags, row, released) = match (change, &found) {
            (RowChange::Insert { flags, row }, Found::Nothing | Found::Deleted(_)) => {
                (flags, Some(row), None)
            }
            (RowChange::Insert { .. }, Found::Live(_)) => return Ok(Ok(RowOutcome::Duplicate)),
            (RowChange::Update { expected, flags, row, released }, Found::Live(header))
                if header.stamp() == expected =>
            {
                (flags, Some(row), released)
            }
            (RowChange::Delete { expected, released }, Found::Live(header)) if header.stamp() == expected => {
                (header.flags | DELETED, None, released)
            }
            _ => return Ok(Ok(RowOutcome::Changed)),
        };
        let stamp = self.apply_row(system, tree, mtr, position, found, flags, row, released)?;
        Ok(Ok(RowOutcome::Done(stamp)))
    }

    /// Writes the version; `row` is `None` for a delete mark, which keeps the bytes.
    #[allow(clippy::too_many_arguments)]
    fn apply_row<'a>(
        &mut self,
        system: &'a TrxSystem,
        tree: &'a Tree,
        mut mtr: Mtr<'a>,
        position: Position<'_>,
        found: Found,
        flags: u8,
        row: Option<&[u8]>,
        released: Option<(SpaceId, PageNo)>,
    ) -> Attempt<Stamp> {
        let (index, key, id) = (tree.index_id(), position.key(), self.id);
        let mut record = std::mem::take(&mut self.record);
        let undo = match found {
            Found::Nothing => Undo::Insert { index, key },
            Found::Deleted(old) | Found::Live(old) => {
                let old_row = &mtr.entry(&position).expect("an entry that was found")[CLUSTERED_HEADER..];
                let row = Delta::between(old_row, row.unwrap_or(old_row));
                Undo::Modify { index, key, deletes: flags & DELETED != 0, old, row }
            }
        };
        UndoRecord { writer: id, previous: self.last, undo }.encode(&mut record);
        let needs_purge = undo.needs_purge() || released.is_some();
        let room = self.undo_room(system, &mut mtr, record.len() + released.map_or(0, |_| CHAIN_RECORD));
        let mut place = match room {
            Ok(place) => place,
            Err(blocked) => {
                self.record = record;
                return Err(blocked);
            }
        };
        if let Some((space, first)) = released {
            let mut chain = Vec::new();
            UndoRecord { writer: id, previous: self.last, undo: Undo::ChainReleased { space, first } }
                .encode(&mut chain);
            self.append(&mut mtr, &mut place, &chain);
            // The row's record now follows the chain's.
            let previous = self.last.to_u64().to_le_bytes();
            record[crate::undo::record::PREVIOUS..][..6].copy_from_slice(&previous[..6]);
        }
        let roll = self.append(&mut mtr, &mut place, &record);
        self.record = record;
        self.needs_purge |= needs_purge;

        let header = ClusteredHeader { writer: id, roll, flags };
        self.value.clear();
        header.put(&mut self.value);
        match (row, mtr.entry(&position)) {
            (Some(row), _) => self.value.extend_from_slice(row),
            (None, Some(old)) => self.value.extend_from_slice(&old[CLUSTERED_HEADER..]),
            (None, None) => unreachable!("a delete mark needs a row"),
        }
        match position.exists() {
            true => tree.replace(&mut mtr, position, &self.value),
            false => tree.insert(&mut mtr, position, &self.value),
        }
        mtr.commit(|_| {});
        system.locks.set_weight(self.session, self.changes);
        Ok(header.stamp())
    }

    fn change_entry<'a>(
        &mut self,
        system: &'a TrxSystem,
        tree: &'a Tree,
        key: &[u8],
        change: EntryChange<'_>,
    ) -> Attempt<Result<(), Obstacle>> {
        self.begin_writing(system)?;
        let mut mtr =
            Mtr::begin(&system.log, max_change_bytes(tree.space().page_size())).map_err(Blocked::up)?;
        let position = match change {
            EntryChange::Put(payload) => tree.acquire(&mut mtr, key, SECONDARY_HEADER + payload.len()),
            EntryChange::Delete => tree.acquire_existing(&mut mtr, key),
        }
        .map_err(Blocked::up)?;
        let old = match mtr.entry(&position) {
            Some(value) => {
                Some(SecondaryHeader::split(value).ok_or_else(|| bad_value(&mtr, position.leaf()))?)
            }
            None => None,
        };
        let writer = old.map_or(TrxId::NONE, |(header, _)| header.writer);
        let is_new = old.is_none_or(|(header, _)| header.is_deleted());
        let (mode, heed) = match change {
            EntryChange::Put(_) if is_new => (Mode::Insert, Heed::Ranges),
            _ => (Mode::Exclusive, Heed::Queues),
        };
        if let Some(obstacle) = self.obstacle(system, tree, key, writer, mode, heed) {
            return Ok(Err(obstacle));
        }
        if old.is_none() && matches!(change, EntryChange::Delete) {
            return Err(Error::Disagreement { index: tree.index_id(), writer: self.id }.into());
        }
        let (flags, payload) = match (change, old) {
            (EntryChange::Put(payload), _) => (0, payload),
            (EntryChange::Delete, Some((_, payload))) => (DELETED, payload),
            (EntryChange::Delete, None) => (DELETED, &[][..]),
        };
        self.value.clear();
        SecondaryHeader { writer: self.id, flags }.put(&mut self.value);
        self.value.extend_from_slice(payload);
        let prior = old.map(|(header, old_payload)| Prior {
            writer: header.writer,
            flags: header.flags,
            payload: Delta::between(old_payload, payload),
        });
        let undo = Undo::Secondary { index: tree.index_id(), key, deletes: flags & DELETED != 0, prior };
        let needs_purge = undo.needs_purge();
        let mut record = std::mem::take(&mut self.record);
        UndoRecord { writer: self.id, previous: self.last, undo }.encode(&mut record);
        let place = self.undo_room(system, &mut mtr, record.len());
        self.record = record;
        let mut place = place?;
        let record = std::mem::take(&mut self.record);
        self.append(&mut mtr, &mut place, &record);
        self.record = record;
        self.needs_purge |= needs_purge;
        match position.exists() {
            true => tree.replace(&mut mtr, position, &self.value),
            false => tree.insert(&mut mtr, position, &self.value),
        }
        mtr.commit(|_| {});
        system.locks.set_weight(self.session, self.changes);
        Ok(Ok(()))
    }

    fn begin_chain<'a>(&mut self, system: &'a TrxSystem, space: &'a Space, data: &[u8]) -> Attempt<PageNo> {
        self.purpose = self.usual_purpose;
        self.begin_writing(system)?;
        let bytes = overflow::max_write_bytes(space.page_size()) + max_append_bytes(space.page_size());
        let mut mtr = Mtr::begin(&system.log, bytes).map_err(Blocked::up)?;
        let mut place = self.undo_room(system, &mut mtr, CHAIN_RECORD)?;
        let first = overflow::write_chunk(&mut mtr, space, None, data).map_err(Blocked::up)?;
        let undo = Undo::ChainAllocated { space: space.id(), first };
        let mut record = std::mem::take(&mut self.record);
        UndoRecord { writer: self.id, previous: self.last, undo }.encode(&mut record);
        self.append(&mut mtr, &mut place, &record);
        self.record = record;
        mtr.commit(|_| {});
        Ok(first)
    }

    /// Room for undo records of `len` bytes.
    pub(crate) fn undo_room<'a>(
        &mut self,
        system: &'a TrxSystem,
        mtr: &mut Mtr<'a>,
        len: usize,
    ) -> Attempt<UndoPlace> {
        let segment = self.segment.as_ref().expect("a writing transaction has a segment");
        let tail = segment.latch(&system.undo, mtr)?;
        segment.place(&system.undo, mtr, tail, len, self.purpose)
    }

    /// Appends an undo record whose `previous` is the last one.
    fn append(&mut self, mtr: &mut Mtr<'_>, place: &mut UndoPlace, record: &[u8]) -> UndoPtr {
        assert!(self.prepared.is_none(), "a prepared transaction changes nothing more");
        let segment = self.segment.as_mut().expect("a writing transaction has a segment");
        self.last = segment.append(mtr, place, self.id, record, Occupancy::Active);
        self.changes += 1;
        self.last
    }
}

/// Most bytes of an undo record about a chain.
const CHAIN_RECORD: usize = crate::undo::record::CHAIN_FIRST + 4 + 5;

const _: () = assert!(OP_OVERHEAD > 0 && CHAIN_RECORD < 64);

fn find(mtr: &Mtr<'_>, position: &Position<'_>) -> Result<Found, Error> {
    let Some(value) = mtr.entry(position) else { return Ok(Found::Nothing) };
    let (header, _) = ClusteredHeader::split(value).ok_or_else(|| bad_value(mtr, position.leaf()))?;
    Ok(if header.is_deleted() { Found::Deleted(header) } else { Found::Live(header) })
}

pub(crate) fn bad_value(mtr: &Mtr<'_>, leaf: Handle) -> Error {
    Error::Corrupted { page: mtr.page_id(leaf), what: "an entry too short for its header" }
}
