//! Changing rows: the clustered entry first, then every index.
//!
//! A row operation is several mini-transactions, and between any two it may have to wait. What it has done so
//! far is kept in [`RowWork`] - a count of steps - and the call that comes after the wait skips them. If a
//! later step fails, the earlier ones are undone before the error is returned, which may have to wait too.

use std::sync::Arc;

use palisade_base::{Blocked, PageNo, SpaceId};
use palisade_catalog::row::RowError;
use palisade_catalog::{RowView, key};
use palisade_txn::{EXTERNAL, EntryChange, Gaps, Mode, RowChange, RowOutcome, SavePoint, Stamp, Trx};

use crate::metadata::Use;
use crate::stamp::RowStamp;
use crate::store::{ChainProgress, RowStore, is_external, write_chain};
use crate::table::{Partition, SYSTEM_ROWS_DELETED, SYSTEM_ROWS_INSERTED, SYSTEM_ROWS_UPDATED, Table};
use crate::transaction::{Transaction, UpdateOutcome};
use crate::unlogged::RowEdit;
use crate::{Attempt, Error};

/// How far a row operation has come, and its buffers.
#[derive(Default)]
pub(crate) struct RowWork {
    /// Where the transaction was when the operation began; `None` if none is under way.
    start: Option<SavePoint>,
    /// Steps done.
    done: usize,
    chain: ChainProgress,
    /// Why the operation is being undone.
    failure: Option<Failure>,
    buffers: Buffers,
}

#[derive(Default)]
struct Buffers {
    /// Key of the old and of the new version, in whatever index.
    old_key: Vec<u8>,
    new_key: Vec<u8>,
    old_payload: Vec<u8>,
    new_payload: Vec<u8>,
}

/// How an operation ends that must first be undone.
enum Failure {
    Error(Error),
    Changed,
}

impl RowWork {
    /// Forgets the operation under way: the caller undoes it.
    pub(crate) fn reset(&mut self) {
        self.start = None;
        self.done = 0;
        self.chain = ChainProgress::default();
        self.failure = None;
    }
}

/// What the steps of an operation end with.
type Steps = Attempt<UpdateOutcome>;

/// While pages cannot be written because the disk is full, rows are inserted and updated up to this part of
/// the log and of the frames ...
const GROWTH: f64 = 0.6;
/// ... rows are deleted up to this one ...
const DELETES: f64 = 0.8;
/// ... and purged up to this one; the rest is for rollbacks and for statements that make room.
pub(crate) const PURGE: f64 = 0.85;

/// One row operation under way.
struct Operation<'a> {
    trx: &'a mut Trx,
    table: &'a Table,
    /// Where the row is that is changed or deleted.
    from: &'a Partition,
    /// Where the new one belongs.
    to: &'a Partition,
    done: &'a mut usize,
    chain: &'a mut ChainProgress,
    buffers: &'a mut Buffers,
    /// The step that the next call of `due` is about.
    next: usize,
}

impl Transaction {
    /// Inserts a row (encoded by [`palisade_catalog::row`]) and its entries in all indexes. On
    /// [`Error::DuplicateKey`] nothing is inserted. A hidden row id column holds [`Table::next_row_id`]. For
    /// a table of one partition, [`Error::Inconsistent`] of others; see [`insert_into`](Self::insert_into).
    pub fn insert(&mut self, table: &Arc<Table>, row: &[u8]) -> Attempt<()> {
        if table.partition_count() != 1 {
            return Err(needs_a_partition(table).into());
        }
        self.insert_into(table, 0, row)
    }

    /// The same into the partition of this number. Duplicates are looked for in that partition: a unique key
    /// has all columns that say where a row belongs.
    pub fn insert_into(&mut self, table: &Arc<Table>, partition: usize, row: &[u8]) -> Attempt<()> {
        if table.is_temporary() {
            return self.change_unlogged(table, RowEdit::Insert(row)).map(drop);
        }
        let place = (partition, partition);
        let outcome = self.row_operation(table, place, GROWTH, |operation| operation.insert(row))?;
        assert!(outcome == UpdateOutcome::Done, "an insert expects no version");
        if table.is_system() {
            SYSTEM_ROWS_INSERTED.increment();
        }
        Ok(())
    }

    /// Replaces the row that was read as `old` with `stamp` by `new`. If the primary key changes, the row
    /// moves in its partition.
    pub fn update(
        &mut self,
        table: &Arc<Table>,
        stamp: RowStamp,
        old: &[u8],
        new: &[u8],
    ) -> Attempt<UpdateOutcome> {
        self.update_into(table, stamp, old, new, stamp.partition())
    }

    /// The same of a row that belongs into the partition of this number now. If it was in another one, it is
    /// deleted there and inserted here, with its entries in all indexes.
    pub fn update_into(
        &mut self,
        table: &Arc<Table>,
        stamp: RowStamp,
        old: &[u8],
        new: &[u8],
        partition: usize,
    ) -> Attempt<UpdateOutcome> {
        if table.is_temporary() {
            return self.change_unlogged(table, RowEdit::Update { stamp: stamp.into(), old, new });
        }
        let place = (stamp.partition(), partition);
        let outcome =
            self.row_operation(table, place, GROWTH, |operation| operation.update(stamp.into(), old, new))?;
        if table.is_system() && outcome == UpdateOutcome::Done {
            SYSTEM_ROWS_UPDATED.increment();
        }
        Ok(outcome)
    }

    /// Deletes the row that was read as `old` with `stamp`.
    pub fn delete(&mut self, table: &Arc<Table>, stamp: RowStamp, old: &[u8]) -> Attempt<UpdateOutcome> {
        if table.is_temporary() {
            return self.change_unlogged(table, RowEdit::Delete { stamp: stamp.into(), old });
        }
        let place = (stamp.partition(), stamp.partition());
        let outcome =
            self.row_operation(table, place, DELETES, |operation| operation.delete(stamp.into(), old))?;
        if table.is_system() && outcome == UpdateOutcome::Done {
            SYSTEM_ROWS_DELETED.increment();
        }
        Ok(outcome)
    }

    /// Carries out an operation on a row that is in one partition and belongs into another, or the same; on a
    /// disk that is too full for pages, only up to a `pressure` of
    /// [`BufferPool::full_disk_pressure`](palisade_buffer::BufferPool::full_disk_pressure).
    fn row_operation(
        &mut self,
        table: &Arc<Table>,
        (from, to): (usize, usize),
        pressure: f64,
        run: impl FnOnce(&mut Operation<'_>) -> Steps,
    ) -> Steps {
        self.check_writable()?;
        self.use_table_for(table, Use::Write)?;
        if self.work.failure.is_some() {
            return self.undo_operation(table);
        }
        let (from, to) = (table.partition(from)?, table.partition(to)?);
        let is_full = self.engine().pool.full_disk_pressure().is_some_and(|used| used > pressure);
        let (trx, work) = self.parts();
        let start = *work.start.get_or_insert_with(|| trx.savepoint());
        let RowWork { done, chain, buffers, .. } = work;
        let mut operation = Operation { trx, table, from, to, done, chain, buffers, next: 0 };
        let outcome = match is_full {
            true => Err(Error::DiskFull.into()),
            false => run(&mut operation),
        };
        let outcome = outcome.map_err(|blocked| blocked.map_err(|error| name_table(error, table)));
        match outcome {
            Ok(UpdateOutcome::Done) => {
                self.work.reset();
                table.runtime().sampler.note_change();
                Ok(UpdateOutcome::Done)
            }
            Err(Blocked::Wait(event)) => Err(Blocked::Wait(event)),
            // The whole transaction will be rolled back.
            Err(Blocked::Error(error @ (Error::Deadlock | Error::LockTableFull))) => {
                self.work.reset();
                Err(error.into())
            }
            Ok(UpdateOutcome::Changed) => self.fail(table, start, Failure::Changed),
            Err(Blocked::Error(error)) => self.fail(table, start, Failure::Error(error)),
        }
    }

    fn fail(&mut self, table: &Table, start: SavePoint, failure: Failure) -> Steps {
        if self.trx().savepoint() == start {
            self.work.reset();
            return failure.into_steps();
        }
        self.work.failure = Some(failure);
        self.undo_operation(table)
    }

    fn undo_operation(&mut self, table: &Table) -> Steps {
        let start = self.work.start.expect("an operation is under way");
        if self.gaps() == Gaps::Locked {
            table.prepare_number_of();
        }
        let unique = |index, key: &[u8]| table.unique_part(table.number_of(index)?, key);
        let places = self.places(&unique);
        match self.trx().rollback_to(start, places) {
            Err(Blocked::Wait(event)) => return Err(Blocked::Wait(event)),
            Err(Blocked::Error(error)) => {
                self.work.reset();
                return Err(Error::from(error).into());
            }
            Ok(()) => {}
        }
        let failure = self.work.failure.take().expect("an operation has failed");
        self.work.reset();
        failure.into_steps()
    }
}

impl Failure {
    fn into_steps(self) -> Steps {
        match self {
            Failure::Error(error) => Err(error.into()),
            Failure::Changed => Ok(UpdateOutcome::Changed),
        }
    }
}

/// A full disk is told as a full table; a row that has changed, as one of this table.
pub(crate) fn name_table(error: Error, table: &Table) -> Error {
    match error {
        Error::RecordChanged(_) => Error::RecordChanged(table.name.clone()),
        Error::DiskFull => Error::TableFull(table.name.clone()),
        other => other,
    }
}

pub(crate) fn view<'a>(table: &'a Table, row: &'a [u8]) -> Result<RowView<'a>, Error> {
    RowView::new(table, row).map_err(|error| damaged(table, error))
}

/// A row is inserted without saying into which of several partitions.
#[cold]
fn needs_a_partition(table: &Table) -> Error {
    Error::Inconsistent(format!("a row of table '{}' belongs in one of its partitions", table.name))
}

/// A row of a table is damaged.
#[cold]
pub(crate) fn damaged(table: &Table, error: RowError) -> Error {
    Error::Inconsistent(format!("table '{}': {error}", table.name))
}

impl Operation<'_> {
    /// Whether the next step is due. Steps are counted as they come, in every call alike.
    fn due(&mut self) -> bool {
        self.next += 1;
        *self.done == self.next - 1
    }

    /// The step has been done.
    fn did(&mut self) {
        *self.done += 1;
    }

    fn insert(&mut self, row: &[u8]) -> Steps {
        let new = view(self.table, row)?;
        self.put_key(0, &new, Version::New)?;
        self.insert_row(row)?;
        for index in 1..self.table.indexes.len() {
            self.put_key(index, &new, Version::New)?;
            self.insert_entry(index)?;
        }
        Ok(UpdateOutcome::Done)
    }

    fn delete(&mut self, stamp: Stamp, old: &[u8]) -> Steps {
        let old_view = view(self.table, old)?;
        self.put_key(0, &old_view, Version::Old)?;
        if self.delete_row(stamp, old)? == UpdateOutcome::Changed {
            return Ok(UpdateOutcome::Changed);
        }
        for index in 1..self.table.indexes.len() {
            self.put_key(index, &old_view, Version::Old)?;
            self.delete_entry(index)?;
        }
        Ok(UpdateOutcome::Done)
    }

    fn update(&mut self, stamp: Stamp, old: &[u8], new: &[u8]) -> Steps {
        let (old_view, new_view) = (view(self.table, old)?, view(self.table, new)?);
        self.put_key(0, &old_view, Version::Old)?;
        self.put_key(0, &new_view, Version::New)?;
        let leaves = !std::ptr::eq(self.from, self.to);
        let moves = leaves || self.buffers.old_key != self.buffers.new_key;
        let outcome = match moves {
            true => self.move_row(stamp, old, new)?,
            false => self.update_row(stamp, old, new)?,
        };
        if outcome == UpdateOutcome::Changed {
            return Ok(UpdateOutcome::Changed);
        }
        for index in 1..self.table.indexes.len() {
            self.put_key(index, &old_view, Version::Old)?;
            self.put_key(index, &new_view, Version::New)?;
            if leaves || self.buffers.old_key != self.buffers.new_key {
                self.delete_entry(index)?;
                self.insert_entry(index)?;
            } else if self.buffers.old_payload != self.buffers.new_payload {
                self.put_entry(index)?;
            }
        }
        Ok(UpdateOutcome::Done)
    }

    /// Puts key and payload of `row` in `index` into the buffers.
    fn put_key(&mut self, index: usize, row: &RowView<'_>, version: Version) -> Result<(), Error> {
        let buffers = &mut *self.buffers;
        let (key, payload) = match version {
            Version::Old => (&mut buffers.old_key, &mut buffers.old_payload),
            Version::New => (&mut buffers.new_key, &mut buffers.new_payload),
        };
        key.clear();
        key::entry_key(self.table, index, row, key).map_err(|error| damaged(self.table, error))?;
        payload.clear();
        if index > 0 {
            key::entry_payload(self.table, index, row, payload);
        }
        Ok(())
    }

    /// Writes `row` off its leaf if it is too long for `key_len` more bytes. Gives flags and what the leaf
    /// gets instead.
    fn place_row(&mut self, key_len: usize, row: &[u8]) -> Attempt<(u8, Option<[u8; 8]>)> {
        let space = self.to.space();
        if !is_external(space.page_size(), key_len, row.len()) {
            return Ok((0, None));
        }
        let reference = write_chain(self.trx, space, row, self.chain)?;
        Ok((EXTERNAL, Some(reference)))
    }

    /// The chain of the old version, which the change releases.
    fn released(&mut self, stamp: Stamp, old: &[u8]) -> Attempt<Option<(SpaceId, PageNo)>> {
        let space = self.from.space();
        if !is_external(space.page_size(), self.buffers.old_key.len(), old.len()) {
            return Ok(None);
        }
        let chain = RowStore::new(self.from.tree(0)).chain_of(&self.buffers.old_key, stamp)?;
        Ok(chain.map(|first| (space.id(), first)))
    }

    fn insert_row(&mut self, row: &[u8]) -> Attempt<()> {
        if !self.due() {
            return Ok(());
        }
        let (flags, reference) = self.place_row(self.buffers.new_key.len(), row)?;
        let row = reference.as_ref().map_or(row, |reference| reference);
        let change = RowChange::Insert { flags, row };
        let outcome =
            self.trx.change_row(self.to.tree(0), &self.buffers.new_key, change).map_err(Blocked::up)?;
        if outcome == RowOutcome::Duplicate {
            return Err(Error::DuplicateKey { index: 0 }.into());
        }
        self.did();
        Ok(())
    }

    fn delete_row(&mut self, stamp: Stamp, old: &[u8]) -> Steps {
        if !self.due() {
            return Ok(UpdateOutcome::Done);
        }
        let released = self.released(stamp, old)?;
        let change = RowChange::Delete { expected: stamp, released };
        let outcome =
            self.trx.change_row(self.from.tree(0), &self.buffers.old_key, change).map_err(Blocked::up)?;
        self.finish_row(outcome)
    }

    fn update_row(&mut self, stamp: Stamp, old: &[u8], new: &[u8]) -> Steps {
        if !self.due() {
            return Ok(UpdateOutcome::Done);
        }
        let (flags, reference) = self.place_row(self.buffers.new_key.len(), new)?;
        let released = self.released(stamp, old)?;
        let row = reference.as_ref().map_or(new, |reference| reference);
        let change = RowChange::Update { expected: stamp, flags, row, released };
        let outcome =
            self.trx.change_row(self.from.tree(0), &self.buffers.old_key, change).map_err(Blocked::up)?;
        self.finish_row(outcome)
    }

    fn move_row(&mut self, stamp: Stamp, old: &[u8], new: &[u8]) -> Steps {
        if self.delete_row(stamp, old)? == UpdateOutcome::Changed {
            return Ok(UpdateOutcome::Changed);
        }
        self.insert_row(new)?;
        Ok(UpdateOutcome::Done)
    }

    fn finish_row(&mut self, outcome: RowOutcome) -> Steps {
        match outcome {
            RowOutcome::Done(_) => {
                self.did();
                Ok(UpdateOutcome::Done)
            }
            RowOutcome::Changed | RowOutcome::Duplicate => Ok(UpdateOutcome::Changed),
        }
    }

    /// Marks the entry of the old version as deleted.
    fn delete_entry(&mut self, index: usize) -> Attempt<()> {
        if self.due() {
            let tree = self.from.tree(index);
            self.trx.change_entry(tree, &self.buffers.old_key, EntryChange::Delete).map_err(Blocked::up)?;
            self.did();
        }
        Ok(())
    }

    /// Adds the entry of the new version, after making sure of its uniqueness.
    fn insert_entry(&mut self, index: usize) -> Attempt<()> {
        if !self.due() {
            return Ok(());
        }
        let tree = self.to.tree(index);
        let key = &self.buffers.new_key[..];
        let unique = self.table.unique_part(index, key);
        if let Some(length) = unique {
            let prefix = &key[..length];
            // Held from the look to the insert. From then on the entry itself is what others find.
            self.trx.lock(tree.index_id(), prefix, Mode::Exclusive).map_err(Blocked::up)?;
            if self.trx.find_duplicate(tree, prefix).map_err(Blocked::up)? {
                self.trx.unlock(tree.index_id(), prefix);
                return Err(Error::DuplicateKey { index }.into());
            }
        }
        let change = EntryChange::Put(&self.buffers.new_payload);
        self.trx.change_entry(tree, key, change).map_err(Blocked::up)?;
        if let Some(length) = unique {
            self.trx.unlock(tree.index_id(), &key[..length]);
        }
        self.did();
        Ok(())
    }

    /// Gives the entry, whose key stays the same, its new payload.
    fn put_entry(&mut self, index: usize) -> Attempt<()> {
        if self.due() {
            let change = EntryChange::Put(&self.buffers.new_payload);
            self.trx.change_entry(self.to.tree(index), &self.buffers.new_key, change).map_err(Blocked::up)?;
            self.did();
        }
        Ok(())
    }
}

/// Which of a row's versions.
#[derive(Clone, Copy)]
enum Version {
    Old,
    New,
}
