//! Taking changes back, newest first.
//!
//! One undo record is one step: a mini-transaction that restores the entry and moves the segment's pointer to the record
//! before. The pointer on disk always says what is still to be done, so a rollback needs no compensation records: a crash
//! in the middle leaves a transaction in flight that has fewer changes.
//!
//! # What becomes of the locks
//!
//! A row is locked by the id in it, and a step takes the id out. If the whole transaction is rolled back, that is as it should
//! be: the row has its last committed version again, the transaction will not look at it any more, and it will have read
//! nothing and written nothing when it has ended; whoever gets the row early sees what he would see later. It is the shrinking
//! phase of two-phase locking, row by row. (A row that was changed twice has the id until its first change is undone.)
//!
//! A transaction that goes on after a partial rollback is another matter: it has read the row that it changed - in order to
//! change it, or afterwards and without another lock, since the row was its own - and it may act upon that. So the row stays
//! locked, as in InnoDB, by an entry in the lock table, made under the leaf's latch before the id goes. Where the transaction
//! has a range over the row there is no need.
//!
//! Of a row that it has inserted and that is gone again it knows that there was none before: otherwise the insert would have
//! failed. So where gaps are locked at all ([`Places::Locked`]), the place of the row stays locked as a range, and so does that of
//! an entry of a unique index: all that begins with what must be unique in it ([`UniquePart`]). Places that follow each
//! other mostly take one range together.
//!
//! Those locks take memory; if there is none, the partial rollback fails with [`Error::LockTableFull`], and the whole
//! transaction is to be rolled back instead.

use palisade_base::cycle::CycleGuard;
use palisade_base::{Blocked, PageNo, SpaceId, TrxId};
use palisade_btree::mtr::{OP_OVERHEAD, max_entry_change_bytes};
use palisade_btree::{Mtr, overflow};

use crate::change::bad_value;
use crate::entry::{CLUSTERED_HEADER, ClusteredHeader, DELETED, SECONDARY_HEADER, SecondaryHeader, UndoPtr};
use crate::error::{Attempt, Error};
use crate::locks::ranges::Cut;
use crate::locks::{Mode, TryLock};
use crate::metrics;
use crate::system::TrxSystem;
use crate::trx::{SavePoint, State, Trx};
use crate::undo::segment::IN_A_CIRCLE;
use crate::undo::{Delta, Prior, Undo, UndoRecord};

/// Most bytes of redo of a step that restores an entry.
fn max_restore_bytes(tree: &palisade_btree::Tree) -> usize {
    max_entry_change_bytes(tree.space().page_size()) + 4 * OP_OVERHEAD
}

/// Changes undone before others have their turn: less than a millisecond.
const STEPS_AT_ONCE: u64 = 128;
/// Mini-transactions that free links of a chain, before others have their turn.
const FREED_AT_ONCE: u64 = 4;

/// With how many bytes of this entry's key in this index no other entry may begin; `None` if others may have the same, as in an
/// index that is not unique, or if nobody chooses what they are.
pub type UniquePart<'a> = &'a dyn Fn(u64, &[u8]) -> Option<usize>;

/// What becomes, in a partial rollback, of the places of rows and entries that are gone again.
#[derive(Clone, Copy)]
pub enum Places<'a> {
    /// Others may insert there.
    Open,
    /// Nobody else does until the transaction ends.
    Locked(UniquePart<'a>),
}

/// What becomes of the locks on what is restored.
#[derive(Clone, Copy)]
enum Locks<'a> {
    /// The transaction goes on.
    Kept(Places<'a>),
    /// It ends.
    Released,
}

/// Where a change was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// In an index.
    Index(u64),
    /// In an overflow chain of a space.
    Chain(SpaceId),
}

/// How far somebody has gone through the changes of a transaction.
#[derive(Debug, Default)]
pub struct ChangesLeft(Option<UndoPtr>, CycleGuard);

impl Trx {
    /// Where the next change was made that is still to be undone, newest first. Waits for: pages.
    pub fn next_change_left(&mut self, left: &mut ChangesLeft) -> Attempt<Option<Changed>> {
        let mut bytes = Vec::new();
        loop {
            let place = left.0.unwrap_or(self.state.last);
            if place.is_none() {
                return Ok(None);
            }
            self.system.undo.copy_record(place, &mut bytes)?;
            let page = self.system.undo.page_id(place.page());
            let record = UndoRecord::decode(&bytes)
                .map_err(|_| Error::Corrupted { page, what: "not an undo record" })?;
            if !record.previous.is_none() && left.1.returns_to(record.previous.to_u64()) {
                return Err(Error::Corrupted { page, what: IN_A_CIRCLE }.into());
            }
            left.0 = Some(record.previous);
            match record.undo {
                Undo::Insert { index, .. } | Undo::Modify { index, .. } | Undo::Secondary { index, .. } => {
                    return Ok(Some(Changed::Index(index)));
                }
                Undo::ChainAllocated { space, .. } => return Ok(Some(Changed::Chain(space))),
                Undo::ChainReleased { .. } | Undo::Prepare { .. } | Undo::Locks { .. } | Undo::Commit => {}
            }
        }
    }

    /// Undoes one change of a transaction that is to be rolled back as a whole; false if there is none. Waits for: pages, log
    /// credit.
    pub fn rollback_step(&mut self) -> Attempt<bool> {
        self.undo_step(Locks::Released)
    }

    fn undo_step(&mut self, locks: Locks<'_>) -> Attempt<bool> {
        self.merge_emptied()?;
        if self.state.last.is_none() || self.state.committed.is_some() {
            return Ok(false);
        }
        // Recursively: does not wait for a writer that waits for purge.
        let gate = self.system.gate.read_recursive();
        let mut bytes = std::mem::take(&mut self.state.record);
        let outcome = self.state.undo_last(&self.system, &mut bytes, locks);
        self.state.record = bytes;
        drop(gate);
        outcome.map(|()| true)
    }

    /// Merges the leaf that the last step has emptied, if it had to wait. Waits for: log credit, pages.
    fn merge_emptied(&mut self) -> Attempt<()> {
        if !self.state.emptied.is_noted() {
            return Ok(());
        }
        let _gate = self.system.gate.read_recursive();
        self.state.emptied.merge_noted(self.system.trees())
    }

    /// Undoes everything after `savepoint`; rows stay locked, and places as it is said. Call again after waiting. Waits for:
    /// pages, log credit, and after every some changes for nothing, so that others have their turn. After
    /// [`Error::LockTableFull`] the transaction must be rolled back.
    pub fn rollback_to(&mut self, savepoint: SavePoint, places: Places<'_>) -> Attempt<()> {
        self.cancel_wait();
        let mut steps = 0;
        while self.state.changes > savepoint.changes {
            if steps == STEPS_AT_ONCE {
                return Err(Blocked::yielding());
            }
            if !self.undo_step(Locks::Kept(places))? {
                break;
            }
            steps += 1;
        }
        self.merge_emptied()?;
        metrics::TRX_ROLLBACKS_SAVEPOINT.increment();
        Ok(())
    }

    /// Undoes everything and ends the transaction. Call again after waiting. Waits for: pages, log credit.
    pub fn rollback(&mut self) -> Attempt<()> {
        self.cancel_wait();
        while self.rollback_step()? {}
        if self.id().is_some() && self.state.committed.is_none() {
            metrics::TRX_ROLLBACKS.increment();
            self.end_rolled_back();
            return Ok(());
        }
        // Nothing was changed: ending is as cheap as a commit. Or it has committed, and nobody waits for that any more.
        self.commit().map(|_| ())
    }
}

impl State {
    fn undo_last(&mut self, system: &TrxSystem, bytes: &mut Vec<u8>, locks: Locks<'_>) -> Attempt<()> {
        let place = self.last;
        system.undo.copy_record(place, bytes)?;
        let page = system.undo.page_id(place.page());
        let record = UndoRecord::decode(bytes)
            .ok()
            .filter(|record| record.writer == self.id)
            .ok_or(Error::Corrupted { page, what: "the undo record of another transaction" })?;
        let before = record.previous;
        match record.undo {
            Undo::Insert { index, key } => self.undo_row(system, before, index, key, None, locks)?,
            Undo::Modify { index, key, old, row, .. } => {
                self.undo_row(system, before, index, key, Some((old, row)), locks)?;
            }
            Undo::Secondary { index, key, prior, .. } => {
                self.undo_entry(system, before, index, key, prior, locks)?
            }
            Undo::ChainAllocated { space, first } => self.undo_chain(system, before, space, first)?,
            Undo::ChainReleased { .. } | Undo::Prepare { .. } | Undo::Locks { .. } => {
                self.skip(system, before)?
            }
            Undo::Commit => {
                return Err(Error::Corrupted { page, what: "a commit record to be undone" }.into());
            }
        }
        self.prepared = None;
        self.last = before;
        self.changes = self.changes.saturating_sub(1);
        // A partial rollback ends after so many steps as there were changes, and may come to a place more
        // than once.
        let is_whole = matches!(locks, Locks::Released) && !before.is_none();
        match is_whole && self.undone.returns_to(before.to_u64()) {
            true => Err(Error::Corrupted { page, what: IN_A_CIRCLE }.into()),
            false => Ok(()),
        }
    }

    /// Moves the pointer only: there is nothing to restore.
    fn skip(&mut self, system: &TrxSystem, before: UndoPtr) -> Attempt<()> {
        let mut mtr = Mtr::begin(&system.log, 4 * OP_OVERHEAD).map_err(Blocked::up)?;
        self.move_pointer(system, &mut mtr, before)?;
        mtr.commit(|_| {});
        Ok(())
    }

    fn move_pointer<'a>(&mut self, system: &'a TrxSystem, mtr: &mut Mtr<'a>, before: UndoPtr) -> Attempt<()> {
        let segment = self.segment.as_ref().expect("a transaction with changes has a segment");
        let tail = segment.latch(&system.undo, mtr)?;
        segment.set_last(mtr, tail, before, self.id);
        Ok(())
    }

    fn undo_row(
        &mut self,
        system: &TrxSystem,
        before: UndoPtr,
        index: u64,
        key: &[u8],
        old: Option<(ClusteredHeader, Delta<'_>)>,
        locks: Locks<'_>,
    ) -> Attempt<()> {
        let Some(tree) = system.trees().tree(index) else { return self.skip(system, before) };
        let mut mtr = Mtr::begin(&system.log, max_restore_bytes(&tree)).map_err(Blocked::up)?;
        let position = match old {
            // The old row is at most as long as the record's and the present one's bytes together.
            Some((_, delta)) => {
                let len = delta.older_len().saturating_add(CLUSTERED_HEADER);
                tree.acquire(&mut mtr, key, len)
            }
            None => tree.acquire_existing(&mut mtr, key),
        }
        .map_err(Blocked::up)?;
        let disagreement = Error::Disagreement { index, writer: self.id };
        let Some(value) = mtr.entry(&position) else { return Err(disagreement.into()) };
        let (header, row) = ClusteredHeader::split(value).ok_or_else(|| bad_value(&mtr, position.leaf()))?;
        if header.writer != self.id || header.roll != self.last {
            return Err(disagreement.into());
        }
        let older = old.as_ref().map(|(old, _)| old);
        match (locks, older) {
            (Locks::Released, _) => {}
            (Locks::Kept(_), Some(old)) if old.writer == self.id => {}
            (Locks::Kept(_), Some(old)) if !old.is_deleted() => {
                if system.locks.keep_row(self.session, index, key) == TryLock::Full {
                    return Err(Error::LockTableFull.into());
                }
            }
            (Locks::Kept(places), _) => self.lock_place(system, places, index, key)?,
        }
        // A delete mark that everybody sees, and purge may have passed by while it was overwritten, need not come back.
        // Asked under the latch: if purge has not passed by now, it will find the mark.
        let old = old.filter(|(header, _)| !(header.is_deleted() && is_obsolete(system, header.writer)));
        if let Some((old_header, delta)) = old {
            self.value.clear();
            old_header.put(&mut self.value);
            if delta.apply(row, &mut self.value).is_none() {
                return Err(disagreement.into());
            }
        }
        self.restore(system, &tree, mtr, position, before, old.is_some())
    }

    fn undo_entry(
        &mut self,
        system: &TrxSystem,
        before: UndoPtr,
        index: u64,
        key: &[u8],
        prior: Option<Prior<'_>>,
        locks: Locks<'_>,
    ) -> Attempt<()> {
        let Some(tree) = system.trees().tree(index) else { return self.skip(system, before) };
        let mut mtr = Mtr::begin(&system.log, max_restore_bytes(&tree)).map_err(Blocked::up)?;
        let position = match prior {
            Some(Prior { payload, .. }) => {
                let len = payload.older_len().saturating_add(SECONDARY_HEADER);
                tree.acquire(&mut mtr, key, len)
            }
            None => tree.acquire_existing(&mut mtr, key),
        }
        .map_err(Blocked::up)?;
        let disagreement = Error::Disagreement { index, writer: self.id };
        let Some(value) = mtr.entry(&position) else { return Err(disagreement.into()) };
        let (header, payload) =
            SecondaryHeader::split(value).ok_or_else(|| bad_value(&mtr, position.leaf()))?;
        if header.writer != self.id {
            return Err(disagreement.into());
        }
        let was_free = prior.is_none_or(|prior| prior.flags & DELETED != 0 && prior.writer != self.id);
        if let Locks::Kept(places) = locks
            && was_free
            && !header.is_deleted()
        {
            self.lock_place(system, places, index, key)?;
        }
        // As with rows, and under the latch too.
        let prior = prior.filter(|prior| {
            let deleted = prior.flags & DELETED != 0;
            !(deleted && prior.writer != self.id && is_obsolete(system, prior.writer))
        });
        if let Some(prior) = prior {
            self.value.clear();
            SecondaryHeader { writer: prior.writer, flags: prior.flags }.put(&mut self.value);
            if prior.payload.apply(payload, &mut self.value).is_none() {
                return Err(disagreement.into());
            }
        }
        self.restore(system, &tree, mtr, position, before, prior.is_some())
    }

    /// Nobody else inserts what must not be there beside `key`, an entry that is about to go. Its leaf is latched; nobody else
    /// has anything there.
    fn lock_place(
        &self,
        system: &TrxSystem,
        places: Places<'_>,
        index: u64,
        key: &[u8],
    ) -> Result<(), Error> {
        let Places::Locked(unique) = places else { return Ok(()) };
        let Some(length) = unique(index, key) else { return Ok(()) };
        let prefix = key.get(..length).unwrap_or(key);
        let mut range = system.locks.begin_range(self.session, index, Mode::Shared);
        range.add(Cut::before(prefix), Cut::behind_prefix(prefix))
    }

    /// Puts `self.value` back, or removes the entry, and moves the pointer.
    fn restore<'a>(
        &mut self,
        system: &'a TrxSystem,
        tree: &'a palisade_btree::Tree,
        mut mtr: Mtr<'a>,
        position: palisade_btree::Position<'_>,
        before: UndoPtr,
        existed: bool,
    ) -> Attempt<()> {
        let key = position.key();
        self.move_pointer(system, &mut mtr, before)?;
        if existed {
            tree.replace(&mut mtr, position, &self.value);
            mtr.commit(|_| {});
            return Ok(());
        }
        let is_due = tree.is_due_to_shrink(&mtr, &position);
        tree.remove(&mut mtr, position);
        mtr.commit(|_| {});
        if is_due {
            self.emptied.merge_or_note(tree, key);
        }
        Ok(())
    }

    fn undo_chain(
        &mut self,
        system: &TrxSystem,
        before: UndoPtr,
        space: SpaceId,
        first: PageNo,
    ) -> Attempt<()> {
        let Some(space) = system.trees().space(space) else { return self.skip(system, before) };
        let mut freed = 0;
        while free_some_links(system, &space, first)? {
            freed += 1;
            if freed == FREED_AT_ONCE {
                return Err(Blocked::yielding());
            }
        }
        let bytes = overflow::MAX_FREE_BYTES + 4 * OP_OVERHEAD;
        let mut mtr = Mtr::begin(&system.log, bytes).map_err(Blocked::up)?;
        let segment = self.segment.as_ref().expect("a transaction with changes has a segment");
        let tail = segment.latch(&system.undo, &mut mtr)?;
        overflow::free_first(&mut mtr, &space, first).map_err(Blocked::up)?;
        segment.set_last(&mut mtr, tail, before, self.id);
        mtr.commit(|_| {});
        Ok(())
    }
}

/// Frees all links of a chain but the first.
pub(crate) fn free_links(system: &TrxSystem, space: &palisade_buffer::Space, first: PageNo) -> Attempt<()> {
    while free_some_links(system, space, first)? {}
    Ok(())
}

/// Frees some of a chain's links but the first. Whether there are more.
fn free_some_links(system: &TrxSystem, space: &palisade_buffer::Space, first: PageNo) -> Attempt<bool> {
    let mut mtr = Mtr::begin(&system.log, overflow::MAX_FREE_BYTES).map_err(Blocked::up)?;
    let more = overflow::free_links(&mut mtr, space, first).map_err(Blocked::up)?;
    if mtr.is_changed() {
        mtr.commit(|_| {});
    }
    Ok(more)
}

fn is_obsolete(system: &TrxSystem, writer: TrxId) -> bool {
    system.sequence.is_visible_to_all(writer)
}
