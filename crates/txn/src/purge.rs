//! Purge: forgetting what no snapshot can see any more.
//!
//! Each segment keeps the transactions that ended in it, in order. When every snapshot sees the oldest one, purge walks its
//! records: entries that it marked as deleted, and that nobody has changed since, are removed; overflow chains that it
//! released are freed. Then the pages before its end are given back. Live rows are never touched. Segments take turns, also
//! within a transaction, so that one that has changed millions of rows keeps neither the others' history nor a shutdown waiting.
//!
//! The order among segments does not matter: a record names exactly the version it is about, and whoever finds another one
//! leaves it alone. For the same reason purge may do a transaction again after a crash; only freeing a chain may not happen
//! twice, so it marks its record in the same mini-transaction.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use palisade_base::cycle::CycleGuard;
use palisade_base::{Blocked, Lsn, PageNo, SpaceId};
use palisade_btree::mtr::{OP_OVERHEAD, max_entry_change_bytes};
use palisade_btree::{Mtr, overflow};
use palisade_buffer::PageRead;

use crate::emptied::EmptiedLeaf;
use crate::entry::{ClusteredHeader, SecondaryHeader, Stamp, UndoPtr};
use crate::error::{Attempt, Error};
use crate::metrics;
use crate::rollback::free_links;
use crate::system::TrxSystem;
use crate::undo::history::{HistoryEntry, Purged, SegmentShared};
use crate::undo::record::CHAIN_FIRST;
use crate::undo::segment::IN_A_CIRCLE;
use crate::undo::{Undo, UndoRecord};

/// Transactions of a segment that are purged before the next segment gets its turn.
const TURN_TRANSACTIONS: usize = 64;
/// Records of them, and pages given back: one transaction may have millions, and the server may be told to stop.
pub(crate) const TURN_RECORDS: usize = if cfg!(test) { 100 } else { 4096 };
/// Pages read of what a restart has left, or of a run, before the next segment gets its turn.
const TURN_PAGES: usize = 64;

/// What entry a record marked as deleted.
enum Marked {
    Row(Stamp),
    Entry(palisade_base::TrxId),
}

impl TrxSystem {
    /// Purges the oldest transactions of every segment that nobody else is purging, if they may go. False if there was
    /// nothing to do. Waits for: pages, log credit, if nothing else can be done meanwhile.
    ///
    /// A segment that has to wait for a page is left for the others: as many pages are read at once as there are segments,
    /// which is as many as the sessions read that have filled them. One that fails does not hold up the others either.
    pub fn purge_step(&self) -> Attempt<bool> {
        let horizon = self.advance();
        let mut worked = false;
        let (mut wait, mut failure) = (None, None);
        for segment in self.undo.segments() {
            let Some(mut purged) = segment.purged.try_lock() else { continue };
            match self.purge_segment(&segment, &mut purged, horizon, &mut worked) {
                Ok(()) => {}
                Err(Blocked::Wait(event)) => drop(wait.get_or_insert(event)),
                Err(Blocked::Error(error)) => drop(failure.get_or_insert(error)),
            }
        }
        if worked {
            metrics::PURGE_INVOKED.increment();
        }
        match (failure, wait) {
            (Some(error), _) if !worked => Err(error.into()),
            (_, Some(event)) if !worked => Err(Blocked::Wait(event)),
            _ => Ok(worked),
        }
    }

    /// Waits for: pages, log credit.
    fn purge_segment(
        &self,
        segment: &SegmentShared,
        purged: &mut Purged,
        horizon: Lsn,
        worked: &mut bool,
    ) -> Attempt<()> {
        if !segment.read_on(&self.undo, purged, TURN_PAGES)? {
            *worked = true;
            return Ok(());
        }
        let (mut bytes, mut records) = (Vec::new(), TURN_RECORDS);
        for _ in 0..TURN_TRANSACTIONS {
            let oldest = segment.oldest().filter(|entry| self.may_forget(entry, horizon));
            let Some(oldest) = oldest else { return Ok(()) };
            if oldest.count > 1 && !oldest.last.is_none() {
                segment.open_run(purged);
                *worked = true;
                return Ok(());
            }
            if oldest.needs_purge && !self.purge_transaction(oldest, purged, &mut bytes, &mut records)? {
                *worked = true;
                return Ok(());
            }
            // From here on nobody comes back to these records: the pages can go.
            if !oldest.last.is_none() {
                purged.last = oldest.last;
            }
            while purged.head != oldest.end_page {
                if records == 0 {
                    *worked = true;
                    return Ok(());
                }
                records -= 1;
                self.undo.free_head(segment, purged)?;
            }
            (purged.under_way, purged.cycle) = (None, CycleGuard::default());
            segment.pop();
            metrics::PURGE_TRANSACTIONS.add(oldest.count.into());
            *worked = true;
        }
        Ok(())
    }

    /// Whether nobody will follow a roll pointer to the transaction's records. Of one that was rolled back somebody with a
    /// snapshot as old as its end may have seen a version: the tail, which dates both, may have stood still. In a run there may be
    /// one of those.
    fn may_forget(&self, trx: &HistoryEntry, horizon: Lsn) -> bool {
        let was_rolled_back = trx.last.is_none() || trx.count > 1;
        trx.csn < horizon
            || trx.csn == horizon && !(was_rolled_back && self.sequence.is_snapshot_open_at(trx.csn))
    }

    /// Goes on with a transaction from where `purged` says, for as many records as are left of a turn. Says whether it is through.
    /// Waits for: pages, log credit.
    fn purge_transaction(
        &self,
        trx: HistoryEntry,
        purged: &mut Purged,
        bytes: &mut Vec<u8>,
        records: &mut usize,
    ) -> Attempt<bool> {
        let mut place = purged.under_way.unwrap_or(trx.last);
        self.merge_noted(purged)?;
        while !place.is_none() {
            if *records == 0 {
                return Ok(false);
            }
            *records -= 1;
            self.undo.copy_record(place, bytes)?;
            let page = self.undo.page_id(place.page());
            let record = UndoRecord::decode(bytes)
                .map_err(|_| Error::Corrupted { page, what: "not an undo record" })?;
            let gate = self.gate.read();
            self.purge_record(place, &record, &mut purged.emptied)?;
            drop(gate);
            place = record.previous;
            if !place.is_none() && purged.cycle.returns_to(place.to_u64()) {
                return Err(Error::Corrupted { page, what: IN_A_CIRCLE }.into());
            }
            purged.under_way = Some(place);
            self.merge_noted(purged)?;
        }
        Ok(true)
    }

    /// Waits for: log credit, pages.
    fn merge_noted(&self, purged: &mut Purged) -> Attempt<()> {
        if !purged.emptied.is_noted() {
            return Ok(());
        }
        let _gate = self.gate.read();
        purged.emptied.merge_noted(self.trees())
    }

    /// Waits for: pages, log credit. Nothing is left to do for a tree that has been dropped; and what is on a damaged page
    /// stays, as it would if the damage had come later.
    fn purge_record(
        &self,
        place: UndoPtr,
        record: &UndoRecord<'_>,
        emptied: &mut EmptiedLeaf,
    ) -> Attempt<()> {
        let writer = record.writer;
        let outcome = match record.undo {
            Undo::Modify { index, key, deletes: true, .. } => {
                self.remove_marked(index, key, Marked::Row(Stamp { writer, roll: place }), emptied)
            }
            Undo::Secondary { index, key, deletes: true, .. } => {
                self.remove_marked(index, key, Marked::Entry(writer), emptied)
            }
            Undo::ChainReleased { space, first } if first != PageNo::NONE => {
                self.free_chain(place, space, first)
            }
            _ => Ok(()),
        };
        match outcome {
            Err(Blocked::Error(error)) if is_detached(&error) => Ok(()),
            Err(Blocked::Error(error)) if is_damage(&error) => {
                metrics::PURGE_SKIPPED.increment();
                Ok(())
            }
            other => other,
        }
    }

    fn remove_marked(
        &self,
        index: u64,
        key: &[u8],
        marked: Marked,
        emptied: &mut EmptiedLeaf,
    ) -> Attempt<()> {
        let Some(tree) = self.trees().tree(index) else { return Ok(()) };
        let bytes = max_entry_change_bytes(tree.space().page_size()) + OP_OVERHEAD;
        let mut mtr = Mtr::begin(&self.log, bytes).map_err(Blocked::up)?;
        let position = tree.acquire_existing(&mut mtr, key).map_err(Blocked::up)?;
        let is_it = mtr.entry(&position).is_some_and(|value| match marked {
            Marked::Row(stamp) => ClusteredHeader::split(value)
                .is_some_and(|(header, _)| header.is_deleted() && header.stamp() == stamp),
            Marked::Entry(writer) => SecondaryHeader::split(value)
                .is_some_and(|(header, _)| header.is_deleted() && header.writer == writer),
        });
        if !is_it {
            return Ok(());
        }
        let is_due = tree.is_due_to_shrink(&mtr, &position);
        tree.remove(&mut mtr, position);
        mtr.commit(|_| {});
        metrics::PURGE_DEL_MARK_RECORDS.increment();
        if is_due {
            emptied.merge_or_note(&tree, key);
        }
        Ok(())
    }

    fn free_chain(&self, place: UndoPtr, space: SpaceId, first: PageNo) -> Attempt<()> {
        let Some(space) = self.trees().space(space) else { return Ok(()) };
        free_links(self, &space, first)?;
        let bytes = overflow::MAX_FREE_BYTES + 4 * OP_OVERHEAD;
        let mut mtr = Mtr::begin(&self.log, bytes).map_err(Blocked::up)?;
        let undo = mtr.exclusive(self.undo.space(), place.page()).map_err(Blocked::up)?;
        let at = usize::from(place.offset()) + CHAIN_FIRST;
        if mtr.page(undo).u32_at(at) != first.0 {
            return Ok(());
        }
        overflow::free_first(&mut mtr, &space, first).map_err(Blocked::up)?;
        mtr.write(undo, at, &0u32.to_le_bytes());
        mtr.commit(|_| {});
        Ok(())
    }
}

/// The space has been dropped while we looked.
fn is_detached(error: &Error) -> bool {
    use palisade_buffer::Error::Detached;
    matches!(error, Error::Store(palisade_btree::Error::Buffer(Detached { .. })))
}

fn is_damage(error: &Error) -> bool {
    use palisade_btree::Error::{Buffer, Corrupted};
    match error {
        Error::Corrupted { .. } | Error::Store(Corrupted { .. }) => true,
        Error::Store(Buffer(error)) => matches!(error, palisade_buffer::Error::Corrupted { .. }),
        _ => false,
    }
}
