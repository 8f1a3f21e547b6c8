//! The rows of a batch that could not be read on the leaf.
//!
//! Each is looked up by itself, with no latch held, and may have to wait for pages: of the clustered index,
//! of overflow chains, and of the undo log, one for each version that it goes back to. A read that takes no
//! locks looks for several rows at once, so that as many pages are read at once; what one of them has found
//! is not looked for again when it has waited. One that locks rows does so in their order, one after the
//! other.
//!
//! A leaf may lead to hundreds of rows, of any length. When those that have been read are long enough
//! together, the batch ends with them, and the scan goes on with the first that is not being looked for yet.

use palisade_base::{Blocked, Event};
use palisade_catalog::{RowView, key};
use palisade_txn::{ClusteredHeader, EXTERNAL, Trx};

use super::{BatchedRow, Bound, GONE, LEAF_ROOM, MOST_LONG, RowBatch, Scan, damaged, write_entry};
use crate::stamp::RowStamp;
use crate::store::{FoundRow, How, ReadProgress, RowStore};
use crate::table::{Partition, Table};
use crate::{Attempt, Engine};

/// Rows that are looked for at once, at most.
const LOOKS: usize = 16;

/// A batch with so many bytes of rows, those that are being read among them, is long enough. Rows that a scan
/// of the clustered index has locked are never more than that: they stay in the batch. (A scan that is merged
/// with others stops locking earlier.)
pub(super) const ENOUGH: usize = MOST_LONG + 2 * LEAF_ROOM;

/// Rows of the batch being made that need a second look.
#[derive(Default)]
pub(super) struct Pending {
    rows: Vec<PendingRow>,
    /// How many of them are being looked for, or have been.
    begun: usize,
    /// Their keys.
    keys: Vec<u8>,
    /// The first `under_way` are; the others lend their buffers to those that will be.
    looks: Vec<Look>,
    under_way: usize,
}

#[derive(Clone, Copy)]
struct PendingRow {
    /// Its place in the batch.
    place: usize,
    /// Its key in `keys`.
    key: (u32, u32),
    wanted: Wanted,
}

/// What is left to do for a row.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    /// The row at this clustered key.
    Row,
    /// The row of which this version, whose bytes are at hand, is the latest: it is off its leaf, or an older
    /// version is wanted.
    Version(ClusteredHeader),
    /// The last committed version before this one, whose bytes are at hand.
    Committed(ClusteredHeader),
    /// The row that belongs to this secondary entry; whether it must be made sure that it does.
    Entry { verify: bool },
}

/// A row that is being looked for.
struct Look {
    row: PendingRow,
    /// What it had to wait for.
    event: Option<Event>,
    /// Of a version: its bytes.
    bytes: Vec<u8>,
    /// What its read keeps while it waits.
    progress: ReadProgress,
    /// The clustered key of an entry's row.
    row_key: Vec<u8>,
    /// The entry that the row found has in the index.
    entry: Vec<u8>,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether none is left to be looked for.
    pub(super) fn is_done(&self) -> bool {
        self.begun == self.rows.len() && self.under_way == 0
    }

    pub(super) fn push(&mut self, place: usize, key: &[u8], wanted: Wanted) {
        let from = self.keys.len() as u32;
        self.keys.extend_from_slice(key);
        self.rows.push(PendingRow { place, key: (from, self.keys.len() as u32), wanted });
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.keys.clear();
        (self.begun, self.under_way) = (0, 0);
    }

    /// Begins to look for the next row; false if there is none, or the batch is long enough without it.
    fn begin(&mut self, batch: &RowBatch, enough: usize) -> bool {
        let Some(&row) = self.rows.get(self.begun) else { return false };
        let being_read: usize = self.looks[..self.under_way].iter().map(|look| look.progress.row_len()).sum();
        if self.begun > 0 && batch.bytes.len() + being_read >= enough {
            return false;
        }
        self.begun += 1;
        if self.under_way == self.looks.len() {
            self.looks.push(Look::new(row));
        }
        let look = &mut self.looks[self.under_way];
        self.under_way += 1;
        let BatchedRow { from, to, .. } = batch.rows[row.place];
        (look.row, look.event) = (row, None);
        look.progress.clear();
        look.bytes.clear();
        look.bytes.extend_from_slice(&batch.bytes[from as usize..to as usize]);
        true
    }

    /// The row of the look with this number has been found, or is not there.
    fn end(&mut self, number: usize) {
        let bytes = &mut self.looks[number].bytes;
        if bytes.capacity() > LEAF_ROOM {
            *bytes = Vec::new();
        }
        self.under_way -= 1;
        self.looks.swap(number, self.under_way);
    }

    /// Gives up those that nobody has begun to look for: the place of the first in the batch, and its key.
    fn give_up_rest(&mut self) -> Option<(usize, &[u8])> {
        let PendingRow { place, key: (from, to), .. } = *self.rows.get(self.begun)?;
        self.begun = self.rows.len();
        Some((place, &self.keys[from as usize..to as usize]))
    }
}

impl Scan {
    /// Looks for the rows that need it, from where the last call had to wait. Waits for: pages, and as `how`
    /// says for locks.
    pub(super) fn look_again(&mut self, engine: &Engine, trx: &mut Trx, how: How) -> Attempt<()> {
        let most = match how {
            How::Snapshot | How::Latest => LOOKS,
            How::Current(_) | How::Locked(_) => 1,
        };
        let Scan { table, index, partition, batch, pending, from: go_on_from, entries, enough, .. } = self;
        let partition = &table.partitions()[*partition];
        let mut wait = None;
        let mut number = 0;
        while number < pending.under_way || pending.under_way < most && pending.begin(batch, *enough) {
            let look = &mut pending.looks[number];
            // A lock that is waited for is asked for again whenever the statement is woken; a page need not
            // be.
            if most > 1
                && let Some(event) = &look.event
                && !event.is_complete()
            {
                wait.get_or_insert_with(|| event.clone());
                number += 1;
                continue;
            }
            let (from, to) = look.row.key;
            let key = &pending.keys[from as usize..to as usize];
            match look.go_on(trx, (table, partition), *index, key, how) {
                Ok(found) => {
                    if *entries && found.is_some() {
                        look.take_entry((table, partition), *index, key)?;
                    }
                    look.finish(batch, found);
                    pending.end(number);
                }
                // Others have their turn.
                Err(Blocked::Wait(event)) if event.is_complete() => return Err(Blocked::Wait(event)),
                Err(Blocked::Wait(event)) => {
                    look.event = Some(event.clone());
                    wait.get_or_insert(event);
                    number += 1;
                }
                Err(Blocked::Error(error)) if error.is_damage() && engine.passes_damage() => {
                    engine.note_damage_passed(table, &table.indexes[*index].name, &error);
                    look.finish(batch, None);
                    pending.end(number);
                }
                Err(failed) => return Err(failed),
            }
        }
        if let Some(event) = wait {
            return Err(Blocked::Wait(event));
        }
        if let Some((place, key)) = pending.give_up_rest() {
            batch.rows.truncate(place);
            *go_on_from = Some(Bound::Included(key.to_vec()));
        }
        Ok(())
    }
}

impl Look {
    fn new(row: PendingRow) -> Look {
        let (bytes, progress) = (Vec::new(), ReadProgress::default());
        Look { row, event: None, bytes, progress, row_key: Vec::new(), entry: Vec::new() }
    }

    /// Looks for the row, whose key in the index being scanned is `key`; its bytes are then in `bytes`.
    fn go_on(
        &mut self,
        trx: &mut Trx,
        (table, partition): (&Table, &Partition),
        index: usize,
        key: &[u8],
        how: How,
    ) -> Attempt<Option<FoundRow>> {
        let clustered = partition.tree(0);
        let store = RowStore::new(clustered);
        match &mut self.row.wanted {
            Wanted::Row => store.read(trx, key, how, &mut self.bytes, &mut self.progress),
            Wanted::Version(header) => {
                if how == How::Snapshot && !trx.older_version(header, &mut self.bytes).map_err(Blocked::up)? {
                    return Ok(None);
                }
                let header = *header;
                let (bytes, progress) = (&mut self.bytes, &mut self.progress);
                if header.flags & EXTERNAL == 0 || store.fetch(key, how, &header, bytes, progress)? {
                    return Ok(Some(FoundRow::unlocked(&header)));
                }
                self.row.wanted = Wanted::Row;
                store.read(trx, key, how, bytes, progress)
            }
            Wanted::Committed(header) => {
                if !trx.committed_version(header, &mut self.bytes).map_err(Blocked::up)? {
                    return Ok(None);
                }
                let header = *header;
                if header.flags & EXTERNAL != 0 {
                    // The snapshot keeps the chain, too.
                    store.fetch(key, How::Snapshot, &header, &mut self.bytes, &mut self.progress)?;
                }
                Ok(Some(FoundRow::unlocked(&header)))
            }
            Wanted::Entry { verify } => {
                let verify = *verify;
                self.row_key.clear();
                key::clustered_key(table, index, key, &mut self.row_key)
                    .map_err(|_| damaged(partition.tree(index)))?;
                let found =
                    store.read(trx, &self.row_key, how.of_rows(), &mut self.bytes, &mut self.progress)?;
                let Some(row) = found.filter(|_| verify) else { return Ok(found) };
                let view = RowView::new(table, &self.bytes).map_err(|_| damaged(clustered))?;
                self.entry.clear();
                key::entry_key(table, index, &view, &mut self.entry).map_err(|_| damaged(clustered))?;
                let belongs = self.entry == key;
                if !belongs && row.newly_locked {
                    trx.unlock(clustered.index_id(), &self.row_key);
                }
                Ok(found.filter(|_| belongs))
            }
        }
    }

    /// The entry that was looked for takes the place of its row, which has been found to belong to it.
    fn take_entry(
        &mut self,
        (table, partition): (&Table, &Partition),
        index: usize,
        key: &[u8],
    ) -> Attempt<()> {
        let view = RowView::new(table, &self.bytes).map_err(|_| damaged(partition.tree(0)))?;
        let (mut payload, mut entry) = (Vec::new(), Vec::new());
        key::entry_payload(table, index, &view, &mut payload);
        write_entry(key, &payload, &mut entry);
        self.bytes = entry;
        Ok(())
    }

    fn finish(&self, batch: &mut RowBatch, found: Option<FoundRow>) {
        let place = self.row.place;
        let Some(found) = found else { return batch.rows[place].from = GONE };
        let stamp = RowStamp::from(found.stamp);
        let stamp = match self.row.wanted {
            Wanted::Committed(_) => stamp.semi_consistent(),
            _ => stamp,
        };
        batch.replace(place, &self.bytes, stamp, found.newly_locked);
    }
}
