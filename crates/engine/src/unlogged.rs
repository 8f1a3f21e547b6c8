//! Changes of rows of [temporary tables](crate::TemporaryTable), and undoing them.
//!
//! One session alone reads and changes such a table, and nothing of it is to be there after a crash. So a row
//! has one version and no lock, a change is a mini-transaction without redo for each index, and an entry that
//! is deleted is removed at once. What is left of a transaction is that it can be undone, in part or as a
//! whole: for each change of an entry the session notes what was there before.
//!
//! ```text
//!   file of the transaction          memory
//!  | block | block | block | ──────► | block being filled |      a record: table, index, key, value before
//!                                        ▲ the newest record
//! ```
//!
//! The notes are no pages and have no redo. Those that do not fit into a block are in a
//! [temporary file](crate::TemporaryFile), and are read from there, the newest first, if the transaction is
//! rolled back. COMMIT forgets them.
//!
//! # Versions
//!
//! An entry says that no transaction has written it, which every reader takes for the version to be read. In
//! the place of a roll pointer a row has a number that each change makes another one, so that a change of a
//! row that was read before its last change is [told](UpdateOutcome::Changed), as with other tables.
//!
//! # Waiting
//!
//! As in [`rows`](crate::rows): an operation counts its steps, and the call after a wait passes over those
//! that are done; one that fails is undone before its error is given. If a block cannot be written, what was
//! changed can no longer be undone: each call says so, and the tables are lost to the session.

mod records;

use std::sync::Arc;

use palisade_base::{Blocked, PageNo, TrxId};
use palisade_btree::{Mtr, Tree, overflow};
use palisade_catalog::{RowView, key};
use palisade_log::Log;
use palisade_txn::{ClusteredHeader, EXTERNAL, SecondaryHeader, Stamp, UndoPtr};

use crate::build::begins_with;
use crate::engine::Engine;
use crate::rows::{damaged, name_table, view};
use crate::store::{is_external, parse_reference};
use crate::table::{Partition, Table};
use crate::transaction::{Transaction, UpdateOutcome};
use crate::{Attempt, Error};

use records::{Before, UndoRecord, UndoRecords, free_chain};

/// Records undone, or chains freed, before others have their turn.
const UNDONE_AT_ONCE: usize = 128;

/// A change of a row.
#[derive(Clone, Copy)]
pub(crate) enum RowEdit<'a> {
    /// A row that is new.
    Insert(&'a [u8]),
    /// Another row in the place of the one that was read.
    Update {
        /// Its version.
        stamp: Stamp,
        /// What was read.
        old: &'a [u8],
        /// What is to be.
        new: &'a [u8],
    },
    /// The row that was read goes.
    Delete {
        /// Its version.
        stamp: Stamp,
        /// What was read.
        old: &'a [u8],
    },
}

/// What a transaction has done to rows of temporary tables.
#[derive(Default)]
pub(crate) struct Unlogged {
    undo: UndoRecords,
    /// The tables that records name, by their places here.
    tables: Vec<Arc<Table>>,
    /// Numbers of versions that have been given.
    versions: u64,
    operation: Operation,
    buffers: Buffers,
    emptied: Emptied,
    /// Overflow chains that only versions before have, and how many changes there were with the one that
    /// released them.
    released: Vec<(u64, Arc<Table>, PageNo)>,
    /// Those that no version has any more.
    garbage: Vec<(Arc<Table>, PageNo)>,
}

/// How far a row operation has come.
#[derive(Default)]
struct Operation {
    /// How many changes there were when it began; `None` if none is under way.
    start: Option<u64>,
    /// Steps done.
    done: usize,
    /// First and last page of the chain that is being written, and bytes that are in it.
    chain: Option<(PageNo, PageNo, usize)>,
    /// Why it is being undone.
    failure: Option<Failure>,
}

enum Failure {
    Error(Error),
    Changed,
}

#[derive(Default)]
struct Buffers {
    old_key: Vec<u8>,
    new_key: Vec<u8>,
    old_payload: Vec<u8>,
    new_payload: Vec<u8>,
    value: Vec<u8>,
}

/// A leaf that a removal has left nearly empty, and that could not be merged yet: a key that it had.
#[derive(Default)]
struct Emptied(Option<Box<(Tree, Vec<u8>)>>);

impl Transaction {
    /// Changes a row of a temporary table. Waits for: pages, the file to be extended, a block of what is
    /// noted to be written.
    pub(crate) fn change_unlogged(
        &mut self,
        table: &Arc<Table>,
        edit: RowEdit<'_>,
    ) -> Attempt<UpdateOutcome> {
        if !table.is_current() {
            return Err(Error::TableChanged.into());
        }
        let (engine, work) = (&*self.engine, &mut **self.unlogged.get_or_insert_default());
        if work.operation.failure.is_none() {
            work.free_garbage(&engine.log)?;
            let start = *work.operation.start.get_or_insert(work.undo.count);
            let outcome =
                Change { engine, table, partition: table.sole_partition(), work, next: 0 }.run(edit);
            let failure = match outcome {
                Ok(UpdateOutcome::Done) => {
                    work.operation = Operation::default();
                    table.runtime().sampler.note_change();
                    return Ok(UpdateOutcome::Done);
                }
                Err(Blocked::Wait(event)) => return Err(Blocked::Wait(event)),
                Ok(UpdateOutcome::Changed) => Failure::Changed,
                Err(Blocked::Error(error)) => Failure::Error(name_table(error, table)),
            };
            work.operation = Operation { start: Some(start), failure: Some(failure), ..Operation::default() };
        }
        let start = work.operation.start.unwrap_or(work.undo.count);
        work.undo_to(engine, start)?;
        match std::mem::take(&mut work.operation).failure {
            Some(Failure::Error(error)) => Err(error.into()),
            Some(Failure::Changed) | None => Ok(UpdateOutcome::Changed),
        }
    }

    /// Undoes the changes of rows of temporary tables after the first `changes`. Waits for: pages, and now
    /// and then for nothing, so that others have their turn.
    pub(crate) fn undo_unlogged(&mut self, changes: u64) -> Attempt<()> {
        match &mut self.unlogged {
            Some(unlogged) if unlogged.undo.count > changes => unlogged.undo_to(&self.engine, changes),
            _ => Ok(()),
        }
    }

    /// How many entries of temporary tables it has changed.
    #[inline]
    pub(crate) fn unlogged_changes(&self) -> u64 {
        self.unlogged.as_ref().map_or(0, |unlogged| unlogged.undo.count)
    }
}

impl Unlogged {
    /// The operation under way, if one is, will not be called again: the caller undoes it.
    pub(crate) fn forget_operation(&mut self) {
        self.operation = Operation::default();
    }

    /// The transaction has been committed: nothing will be undone.
    #[inline]
    pub(crate) fn keep(&mut self) {
        if self.undo.count > 0 {
            self.forget_undo();
        }
    }

    fn forget_undo(&mut self) {
        self.undo = UndoRecords::default();
        self.tables.clear();
        self.garbage.extend(self.released.drain(..).map(|(_, table, first)| (table, first)));
    }

    /// Nothing will be undone, although the transaction was not committed: its tables are not what they
    /// should be.
    pub(crate) fn abandon(&mut self) {
        self.tables.drain(..).for_each(|table| table.retire());
        self.undo = UndoRecords::default();
    }

    /// The number by which records name a table.
    fn number_of(&mut self, table: &Arc<Table>) -> u32 {
        let known = self.tables.iter().rposition(|known| Arc::ptr_eq(known, table));
        let number = known.unwrap_or_else(|| {
            self.tables.push(table.clone());
            self.tables.len() - 1
        });
        number as u32
    }

    /// Frees chains that no version has any more. Waits for: pages, and now and then for nothing, so that
    /// others have their turn.
    fn free_garbage(&mut self, log: &Arc<Log>) -> Attempt<()> {
        let mut freed = 0;
        while let Some((table, first)) = self.garbage.last() {
            if freed == UNDONE_AT_ONCE {
                return Err(Blocked::yielding());
            }
            freed += 1;
            if table.is_current() {
                free_chain(log, table.sole_partition().space(), *first)?;
            }
            self.garbage.pop();
        }
        Ok(())
    }

    fn undo_to(&mut self, engine: &Engine, changes: u64) -> Attempt<()> {
        let mut undone = 0;
        while self.undo.count > changes {
            if undone == UNDONE_AT_ONCE {
                return Err(Blocked::yielding());
            }
            undone += 1;
            self.undo.load()?;
            let record = self.undo.newest();
            let table = &self.tables[record.table as usize];
            // Of a table that was dropped there is nothing to undo.
            if table.is_current() {
                record.undo(&engine.log, table.sole_partition(), &mut self.emptied)?;
            }
            self.undo.pop();
        }
        self.released.retain(|(at, ..)| *at <= changes);
        if self.undo.count == 0 && !self.tables.is_empty() {
            // No record names a table any more: what fails from here on is none of them the worse for.
            self.tables.clear();
            self.undo = UndoRecords::default();
        }
        Ok(())
    }
}

/// A row operation under way.
struct Change<'a> {
    engine: &'a Engine,
    table: &'a Arc<Table>,
    partition: &'a Partition,
    work: &'a mut Unlogged,
    /// The step that the next call of `due` is about.
    next: usize,
}

/// What is to be at a key before it is changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Nothing,
    Version(Stamp),
    Entry,
}

/// What was found there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Expected,
    Other,
}

impl Change<'_> {
    /// Whether the next step is due. Steps are counted as they come, in every call alike.
    fn due(&mut self) -> bool {
        self.next += 1;
        self.work.operation.done == self.next - 1
    }

    fn did(&mut self) {
        self.work.operation.done += 1;
        self.work.operation.chain = None;
    }

    fn run(&mut self, edit: RowEdit<'_>) -> Attempt<UpdateOutcome> {
        let mut buffers = std::mem::take(&mut self.work.buffers);
        let outcome = match edit {
            RowEdit::Insert(row) => self.insert(row, &mut buffers),
            RowEdit::Update { stamp, old, new } => self.update(stamp, old, new, &mut buffers),
            RowEdit::Delete { stamp, old } => self.delete(stamp, old, &mut buffers),
        };
        self.work.buffers = buffers;
        outcome
    }

    fn insert(&mut self, row: &[u8], buffers: &mut Buffers) -> Attempt<UpdateOutcome> {
        let new = view(self.table, row)?;
        self.entry(0, &new, &mut buffers.new_key, &mut buffers.new_payload)?;
        self.put_row(&buffers.new_key, row, Expected::Nothing, &mut buffers.value)?;
        for index in 1..self.table.indexes.len() {
            self.entry(index, &new, &mut buffers.new_key, &mut buffers.new_payload)?;
            self.insert_entry(index, buffers)?;
        }
        Ok(UpdateOutcome::Done)
    }

    fn delete(&mut self, stamp: Stamp, old: &[u8], buffers: &mut Buffers) -> Attempt<UpdateOutcome> {
        let old = view(self.table, old)?;
        self.entry(0, &old, &mut buffers.old_key, &mut buffers.old_payload)?;
        if self.remove(0, &buffers.old_key, Expected::Version(stamp))? == Found::Other {
            return Ok(UpdateOutcome::Changed);
        }
        for index in 1..self.table.indexes.len() {
            self.entry(index, &old, &mut buffers.old_key, &mut buffers.old_payload)?;
            self.remove_entry(index, &buffers.old_key)?;
        }
        Ok(UpdateOutcome::Done)
    }

    fn update(
        &mut self,
        stamp: Stamp,
        old: &[u8],
        new: &[u8],
        buffers: &mut Buffers,
    ) -> Attempt<UpdateOutcome> {
        let (old_view, new_view) = (view(self.table, old)?, view(self.table, new)?);
        self.entry(0, &old_view, &mut buffers.old_key, &mut buffers.old_payload)?;
        self.entry(0, &new_view, &mut buffers.new_key, &mut buffers.new_payload)?;
        let expected = Expected::Version(stamp);
        let found = if buffers.old_key == buffers.new_key {
            self.put_row(&buffers.new_key, new, expected, &mut buffers.value)?
        } else {
            match self.remove(0, &buffers.old_key, expected)? {
                Found::Expected => {
                    self.put_row(&buffers.new_key, new, Expected::Nothing, &mut buffers.value)?
                }
                Found::Other => Found::Other,
            }
        };
        if found == Found::Other {
            return Ok(UpdateOutcome::Changed);
        }
        for index in 1..self.table.indexes.len() {
            self.entry(index, &old_view, &mut buffers.old_key, &mut buffers.old_payload)?;
            self.entry(index, &new_view, &mut buffers.new_key, &mut buffers.new_payload)?;
            if buffers.old_key != buffers.new_key {
                self.remove_entry(index, &buffers.old_key)?;
                self.insert_entry(index, buffers)?;
            } else if buffers.old_payload != buffers.new_payload {
                self.put_entry(index, Expected::Entry, buffers)?;
            }
        }
        Ok(UpdateOutcome::Done)
    }

    /// Key and payload of a row in an index.
    fn entry(
        &self,
        index: usize,
        row: &RowView<'_>,
        key: &mut Vec<u8>,
        payload: &mut Vec<u8>,
    ) -> Result<(), Error> {
        key.clear();
        key::entry_key(self.table, index, row, key).map_err(|error| damaged(self.table, error))?;
        payload.clear();
        if index > 0 {
            key::entry_payload(self.table, index, row, payload);
        }
        Ok(())
    }

    /// Writes a row at its key, and to an overflow chain what does not fit.
    fn put_row(&mut self, key: &[u8], row: &[u8], expected: Expected, value: &mut Vec<u8>) -> Attempt<Found> {
        if !self.due() {
            return Ok(Found::Expected);
        }
        let mut flags = 0;
        let mut reference = None;
        if is_external(self.partition.space().page_size(), key.len(), row.len()) {
            (flags, reference) = (EXTERNAL, Some(self.write_chain(row)?));
        }
        self.work.versions += 1;
        let roll = UndoPtr::from_u64(self.work.versions);
        value.clear();
        ClusteredHeader { writer: TrxId::NONE, roll, flags }.put(value);
        value.extend_from_slice(reference.as_ref().map_or(row, |reference| reference));
        let found = self.put(0, key, value, expected)?;
        match (found, expected) {
            (Found::Other, Expected::Nothing) => Err(Error::DuplicateKey { index: 0 }.into()),
            (Found::Other, _) => Ok(Found::Other),
            (Found::Expected, _) => {
                self.did();
                Ok(found)
            }
        }
    }

    /// Adds an entry, after making sure of its uniqueness.
    fn insert_entry(&mut self, index: usize, buffers: &mut Buffers) -> Attempt<()> {
        let is_due = self.work.operation.done == self.next;
        if is_due && let Some(length) = self.table.unique_part(index, &buffers.new_key) {
            let prefix = &buffers.new_key[..length];
            if begins_with(self.partition.tree(index), prefix)? {
                return Err(Error::DuplicateKey { index }.into());
            }
        }
        self.put_entry(index, Expected::Nothing, buffers)
    }

    fn put_entry(&mut self, index: usize, expected: Expected, buffers: &mut Buffers) -> Attempt<()> {
        if !self.due() {
            return Ok(());
        }
        let value = &mut buffers.value;
        value.clear();
        SecondaryHeader { writer: TrxId::NONE, flags: 0 }.put(value);
        value.extend_from_slice(&buffers.new_payload);
        match self.put(index, &buffers.new_key, value, expected)? {
            Found::Expected => {
                self.did();
                Ok(())
            }
            Found::Other => Err(self.disagreement(index).into()),
        }
    }

    fn remove_entry(&mut self, index: usize, key: &[u8]) -> Attempt<()> {
        match self.remove(index, key, Expected::Entry)? {
            Found::Expected => Ok(()),
            Found::Other => Err(self.disagreement(index).into()),
        }
    }

    fn disagreement(&self, index: usize) -> Error {
        let (table, index) = (&self.table.name, &self.table.indexes[index].name);
        Error::Inconsistent(format!("index '{index}' of the temporary table '{table}' is not of its rows"))
    }

    /// Gives the entry of a key its value, and notes what was there.
    fn put(&mut self, index: usize, key: &[u8], value: &[u8], expected: Expected) -> Attempt<Found> {
        self.work.undo.make_room(self.engine)?;
        let tree = self.partition.tree(index);
        let mut mtr = Mtr::begin_in(tree.space(), &self.engine.log, 0).map_err(Blocked::up)?;
        let position = tree.acquire(&mut mtr, key, value.len()).map_err(Blocked::up)?;
        let old = mtr.entry(&position);
        if !is_expected(old, expected) {
            return Ok(Found::Other);
        }
        self.note(index, key, old);
        match position.exists() {
            true => tree.replace(&mut mtr, position, value),
            false => tree.insert(&mut mtr, position, value),
        }
        if mtr.is_changed() {
            mtr.commit(|_| {});
        }
        Ok(Found::Expected)
    }

    /// Removes the entry of a key, as a step, and notes what it was.
    fn remove(&mut self, index: usize, key: &[u8], expected: Expected) -> Attempt<Found> {
        if !self.due() {
            return Ok(Found::Expected);
        }
        self.work.undo.make_room(self.engine)?;
        self.work.emptied.merge()?;
        let tree = self.partition.tree(index);
        let mut mtr = Mtr::begin_in(tree.space(), &self.engine.log, 0).map_err(Blocked::up)?;
        let position = tree.acquire_existing(&mut mtr, key).map_err(Blocked::up)?;
        let old = mtr.entry(&position);
        if old.is_none() || !is_expected(old, expected) {
            return Ok(Found::Other);
        }
        self.note(index, key, old);
        let shrinks = tree.is_due_to_shrink(&mtr, &position);
        tree.remove(&mut mtr, position);
        mtr.commit(|_| {});
        if shrinks {
            self.work.emptied.merge_or_note(tree, key);
        }
        self.did();
        Ok(Found::Expected)
    }

    /// Notes what an entry is before it is changed.
    fn note(&mut self, index: usize, key: &[u8], old: Option<&[u8]>) {
        let table = self.work.number_of(self.table);
        let before = old.map_or(Before::Nothing, Before::Value);
        self.work.undo.push(UndoRecord { table, index: index as u16, key, before });
        if index > 0 {
            return;
        }
        let header = old.and_then(ClusteredHeader::split);
        if let Some((ClusteredHeader { flags, .. }, reference)) = header
            && flags & EXTERNAL != 0
            && let Some((first, _)) = parse_reference(reference)
        {
            self.work.released.push((self.work.undo.count, self.table.clone(), first));
        }
    }

    /// Writes a row to a chain, from where the operation has come to. Gives what the entry holds.
    fn write_chain(&mut self, row: &[u8]) -> Attempt<[u8; 8]> {
        let len = u32::try_from(row.len()).map_err(|_| Error::RowTooLarge)?;
        let space = self.partition.space();
        let most = overflow::chunk(space.page_size());
        loop {
            let (last, written) = match self.work.operation.chain {
                None => (None, 0),
                Some((_, last, written)) => (Some(last), written),
            };
            if last.is_some() && written >= row.len() {
                break;
            }
            self.work.undo.make_room(self.engine)?;
            let chunk = &row[written..row.len().min(written + most)];
            let mut mtr = Mtr::begin_in(space, &self.engine.log, 0).map_err(Blocked::up)?;
            let page = overflow::write_chunk(&mut mtr, space, last, chunk).map_err(Blocked::up)?;
            mtr.commit(|_| {});
            let first = self.work.operation.chain.map_or(page, |(first, ..)| first);
            if last.is_none() {
                let table = self.work.number_of(self.table);
                let before = Before::Chain(page);
                self.work.undo.push(UndoRecord { table, index: 0, key: b"", before });
            }
            self.work.operation.chain = Some((first, page, written + chunk.len()));
        }
        let (first, ..) = self.work.operation.chain.unwrap_or((PageNo::NONE, PageNo::NONE, 0));
        let mut reference = [0; 8];
        reference[..4].copy_from_slice(&first.0.to_le_bytes());
        reference[4..].copy_from_slice(&len.to_le_bytes());
        Ok(reference)
    }
}

fn is_expected(found: Option<&[u8]>, expected: Expected) -> bool {
    match (found, expected) {
        (None, Expected::Nothing) | (Some(_), Expected::Entry) => true,
        (Some(value), Expected::Version(stamp)) => {
            ClusteredHeader::split(value).is_some_and(|(header, _)| header.stamp() == stamp)
        }
        _ => false,
    }
}

impl Emptied {
    /// Merges the leaf of `key`, from which an entry has just been removed, or notes it.
    fn merge_or_note(&mut self, tree: &Tree, key: &[u8]) {
        if let Err(Blocked::Wait(_)) = tree.shrink(key) {
            self.0 = Some(Box::new((tree.clone(), key.to_vec())));
        }
    }

    /// Merges the leaf that is noted. Waits for: pages.
    fn merge(&mut self) -> Attempt<()> {
        if let Some((tree, key)) = self.0.as_deref()
            && let Err(Blocked::Wait(event)) = tree.shrink(key)
        {
            return Err(Blocked::Wait(event));
        }
        self.0 = None;
        Ok(())
    }
}
