//! How tables come into being, change and go: the part of data definition that blocks.
//!
//! Order of events when a table comes into being: its file, durably; its pages, logged; the dictionary row,
//! committed and durable; the snapshot that statements see. When one goes: the row, durably; the snapshot;
//! its pages in memory; its file. In whatever place a crash falls, the row decides, and a file without one is
//! removed at the next open.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use palisade_base::event::retry_blocking;
use palisade_base::{Blocked, PageNo, SpaceId};
use palisade_btree::alloc;
use palisade_buffer::Space;
use palisade_catalog::descriptor::MAX_PARTITIONS;
use palisade_catalog::{IndexTree, PartitionDef, PartitionSet, Schema, TableDef};
use palisade_txn::{EXTERNAL, Gaps, RowChange, RowOutcome, Stamp, Trx};

use crate::dictionary::{Change, table_key};
use crate::engine::Engine;
use crate::files::SpaceFile;
use crate::info;
use crate::metadata::TableName;
use crate::open::create_tree;
use crate::planted::{Planted, makes};
use crate::store::{ChainProgress, How, ReadProgress, RowStore, is_external, write_chain};
use crate::table::{Runtime, Table};
use crate::{Attempt, Error, ForceRecovery, compression, definition_copy};

/// A change of a stored row.
pub(crate) enum RowEdit {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
}

/// Free pages that the dictionary's file is to have before anything is added to it, so that a table can be
/// truncated while the disk is full: that takes a new row before the old one is purged.
const DICTIONARY_RESERVE: u32 = 64;

/// A new definition of a table that keeps its number and where its rows are.
pub(crate) fn in_place_of(def: TableDef, old: &Table) -> TableDef {
    TableDef { id: old.id, partitions: old.partitions.clone(), created_us: old.created_us, ..def }
}

/// [`Error::Definition`] of several partitions without PARTITION BY: the next start would refuse the
/// directory.
pub(crate) fn check_partitioned(def: &TableDef) -> Result<(), Error> {
    match def.partitions.len() > 1 && !def.is_partitioned() {
        true => Err(Error::Definition(format!("table '{}' has partitions without PARTITION BY", def.name))),
        false => Ok(()),
    }
}

/// How many numbers the spaces and trees of some partitions of a table take.
pub(crate) fn places_of(def: &TableDef, new: &PartitionSet) -> u64 {
    (new.len() * (1 + def.indexes.len())) as u64
}

/// Gives the partitions `new` of a table numbers of spaces and trees, from `first` on. Each index gets a
/// place for a tree in each partition, if it has not.
pub(crate) fn place(def: &mut TableDef, new: &PartitionSet, first: u64) -> Result<(), Error> {
    let count = def.partitions.len();
    let none = IndexTree { id: 0, root: PageNo::NONE };
    def.indexes.iter_mut().for_each(|index| index.trees.resize(count, none));
    for (number, ids) in new.iter().zip((first..).step_by(1 + def.indexes.len())) {
        let space = u32::try_from(ids).map_err(|_| Error::Definition("no space ids left".into()))?;
        def.partitions[number].space = SpaceId(space);
        for (index, id) in def.indexes.iter_mut().zip(ids + 1..) {
            index.trees[number] = IndexTree { id, root: PageNo::NONE };
        }
    }
    Ok(())
}

/// A table leaves the snapshot.
pub(crate) fn drop_of(table: &Table) -> Change {
    Change::DropTable(table.schema.clone(), table.name.clone())
}

impl Engine {
    /// Writes the new definition of a table that keeps its space. Gives the table.
    pub(crate) fn redefine(self: &Arc<Self>, old: &Arc<Table>, def: TableDef) -> Result<Arc<Table>, Error> {
        let row = RowEdit::Put(table_key(def.id), def.to_bytes());
        // As in MySQL, older snapshots do not read rows by other columns.
        let is_readable = def.trees().eq(old.def().trees()) && def.versions == old.versions;
        let new = Table::new(palisade_catalog::Table::new(def)?, old.runtime().clone());
        let since = if is_readable { old.readable_since() } else { self.log.tail() };
        let new = Arc::new(new.readable_from(since).in_place_of(old));
        self.registry.add(new.id, new.trees());
        self.change_dictionary(&[row], &[drop_of(old), Change::PutTable(new.clone())])?;
        old.retire();
        new.runtime().spaces().iter().for_each(|space| compression::follow(space, new.def()));
        Ok(new)
    }

    /// Puts `new` in the place of `old`, which goes. Gives the table.
    pub(crate) fn replace_table(
        self: &Arc<Self>,
        old: &Arc<Table>,
        mut new: Unborn,
        name: &TableName,
    ) -> Result<Arc<Table>, Error> {
        let made = new.table();
        let def = TableDef { schema: name.schema.clone(), name: name.table.clone(), ..made.def().clone() };
        let table = Table::new(palisade_catalog::Table::new(def)?, made.runtime().clone());
        let table = Arc::new(table.readable_from(self.log.tail()).in_place_of(old));
        let rows = [RowEdit::Delete(table_key(old.id)), RowEdit::Put(table_key(table.id), table.to_bytes())];
        self.change_dictionary(&rows, &[drop_of(old), Change::PutTable(table.clone())])?;
        new.is_born();
        self.forget_table(old)?;
        Ok(table)
    }

    /// Numbers for spaces, tables and indexes, never given again.
    pub(crate) fn new_ids(&self, count: u64) -> Result<u64, Error> {
        let system = self.dictionary_tree.space();
        retry_blocking(|| self.ids.take(&self.log, system, count, Some))
    }

    /// Makes files, spaces and trees of a new table, which is in no dictionary yet: a partition for each that
    /// `def` names, one if it names none.
    pub(crate) fn make_table(self: &Arc<Self>, def: TableDef) -> Result<Unborn, Error> {
        self.make_table_for(def, false)
    }

    /// [`make_table`](Self::make_table); the reserve may be used if another table's file goes for it and so
    /// `frees_room`.
    pub(crate) fn make_table_for(
        self: &Arc<Self>,
        mut def: TableDef,
        frees_room: bool,
    ) -> Result<Unborn, Error> {
        if !def.indexes.first().is_some_and(|index| index.hidden) {
            def.choose_clustered_index();
        }
        if def.partitions.is_empty() {
            def.partitions.push(PartitionDef::default());
        }
        check_partitioned(&def)?;
        let all = PartitionSet::all(def.partitions.len().min(MAX_PARTITIONS));
        def.indexes.iter_mut().for_each(|index| index.trees.clear());
        let first = self.new_ids(1 + places_of(&def, &all))?;
        (def.id, def.created_us) = (first, self.config.clock.unix_micros());
        place(&mut def, &all, first + 1)?;
        // Checked before anything is made of it.
        palisade_catalog::Table::new(def.clone())?;
        let name = def.name.clone();
        let made = match self.make_spaces(&mut def, &all) {
            // In place whatever was asked for: there is no room for the files of the other.
            Err(Error::DiskFull) if frees_room && all.len() == 1 => {
                let space = def.partitions[0].space;
                match self.files.create_space_from_reserve(space)? {
                    Some(file) => self.fill_spaces(&mut def, &all, Ok(vec![SpaceFile::in_place(file)])),
                    None => Err(Error::DiskFull),
                }
            }
            outcome => outcome,
        };
        let spaces = made.map_err(|error| match error {
            Error::DiskFull => Error::TableFull(name),
            other => other,
        })?;
        let runtime = Runtime::open(self.log.clone(), &spaces, def.auto_increment);
        if runtime.is_err() {
            self.remove_spaces(&def, &all)?;
        }
        let table = Table::new(palisade_catalog::Table::new(def)?, Arc::new(runtime?));
        self.registry.add(table.id, table.trees());
        Ok(Unborn::new(self, Arc::new(table), all))
    }

    /// Makes the file that is kept for truncating a table while the disk is full, if it is missing. Blocks.
    pub(crate) fn refill_reserve(&self) {
        if let Err(error) = self.files.ensure_reserve() {
            tracing::warn!(
                "there is no room for the file that TRUNCATE TABLE needs while the disk is full; it is tried again when \
                 a table has been dropped, and at the next start: {error}"
            );
        }
    }

    /// Makes files, spaces and trees of the partitions `new` of a table, which have their numbers. Gives the
    /// spaces; `def` gets the roots. If one cannot be made, none is left.
    pub(crate) fn make_spaces(
        &self,
        def: &mut TableDef,
        new: &PartitionSet,
    ) -> Result<Vec<Arc<Space>>, Error> {
        let spaces = new.iter().map(|number| def.partitions[number].space);
        let files = self.files.create_spaces(spaces, self.sinks.kind_for(def));
        self.fill_spaces(def, new, files)
    }

    fn fill_spaces(
        &self,
        def: &mut TableDef,
        new: &PartitionSet,
        files: io::Result<Vec<SpaceFile>>,
    ) -> Result<Vec<Arc<Space>>, Error> {
        let made = files.map_err(Error::from).and_then(|files| {
            let numbered = new.iter().zip(files);
            numbered.map(|(number, file)| self.format_partition(def, number, file)).collect()
        });
        if made.is_err() {
            self.remove_spaces(def, new)?;
        }
        made
    }

    /// Removes the files of partitions that have not been used.
    pub(crate) fn remove_spaces(&self, def: &TableDef, new: &PartitionSet) -> Result<(), Error> {
        let spaces: Vec<_> = new.iter().map(|number| def.partitions[number].space).collect();
        for space in &spaces {
            self.pool.detach_space(*space);
            self.files.remove_space(*space)?;
        }
        self.files.sync_spaces()?;
        Ok(spaces.into_iter().try_for_each(|space| self.files.remove_map(space))?)
    }

    /// Makes the space of a partition of this file, with its trees.
    fn format_partition(
        &self,
        def: &mut TableDef,
        number: usize,
        file: SpaceFile,
    ) -> Result<Arc<Space>, Error> {
        compression::check_page_size(self.page_size(), def)?;
        if file.map.is_none() {
            compression::check_holes(&*file.pages, def)?;
        }
        let space = self.sinks.create(&self.pool, def.partitions[number].space, file)?;
        compression::follow(&space, def);
        info::format(&self.log, &space)?;
        for tree in def.indexes.iter_mut().map(|index| &mut index.trees[number]) {
            tree.root = create_tree(&self.log, &space, tree.id)?;
        }
        Ok(space)
    }

    /// Removes what is left of a table that no dictionary names any more.
    pub(crate) fn forget_table(&self, table: &Arc<Table>) -> Result<(), Error> {
        self.forget_tables(std::slice::from_ref(table))
    }

    /// The same for many tables, whose names are made durable together. A file that cannot be removed does
    /// not keep the others: the first error is given when all have been tried.
    pub(crate) fn forget_tables(&self, tables: &[Arc<Table>]) -> Result<(), Error> {
        tables.iter().for_each(|table| table.retire());
        let gone: Vec<_> = tables.iter().map(|table| (&**table, table.all_partitions())).collect();
        self.forget_partitions(&gone)
    }

    /// The same of some partitions of tables.
    pub(crate) fn forget_partitions(&self, gone: &[(&Table, PartitionSet)]) -> Result<(), Error> {
        let partitions =
            || gone.iter().flat_map(|(table, set)| set.iter().map(|number| &table.partitions()[number]));
        partitions().for_each(|partition| self.registry.remove(partition.trees()));
        self.trx.wait_for_undo_users();
        let (mut files, mut forgotten) = (Vec::new(), Ok(()));
        for space in partitions().map(|partition| partition.space().id()) {
            let file = self.pool.space(space).map(|space| space.file().clone());
            self.pool.detach_space(space);
            match self.files.remove_space(space) {
                Ok(()) => files.extend(file.map(|file| (space, file))),
                Err(error) => forgotten = forgotten.and(Err(error)),
            }
        }
        if !files.is_empty() {
            // Plans and old snapshots of the dictionary may keep a file open for long: its room is freed all
            // the same. Not before its name is gone for good, since recovery expects a file's pages
            // in it.
            if !makes(Planted::DropsAreNotSynced) {
                self.files.sync_spaces()?;
            }
        }
        for (space, file) in files {
            forgotten = forgotten.and(self.files.remove_map(space));
            self.removals.free(self.files.space_path(space), file, self.config.background);
        }
        self.refill_reserve();
        Ok(forgotten?)
    }

    /// Changes rows of the dictionary in one transaction, durably, and then what statements see. What removes
    /// a table may use the room that the others leave in the dictionary and in undo.
    pub(crate) fn change_dictionary(
        self: &Arc<Self>,
        rows: &[RowEdit],
        changes: &[Change],
    ) -> Result<(), Error> {
        if self.refuses_definitions() {
            return Err(Error::ForcedRecovery);
        }
        self.write_copies(changes)?;
        let mut change = DictionaryChange { engine: self, trx: Some(self.trx.begin()) };
        if rows.iter().any(|row| matches!(row, RowEdit::Delete(_))) {
            change.trx().set_relief();
        } else {
            let system = self.dictionary_tree.space();
            retry_blocking(|| alloc::ensure_free(system, DICTIONARY_RESERVE))?;
        }
        for row in rows {
            match row {
                RowEdit::Put(key, row) => change.put(key, row)?,
                RowEdit::Delete(key) => change.delete(key)?,
            }
        }
        change.commit()?;
        self.dictionary.rcu(|dictionary| dictionary.with(changes));
        Ok(())
    }
}

impl Engine {
    /// Has no plan used again that was made until now, although no definition has changed: what statements
    /// are planned by otherwise has.
    pub fn outdate_plans(&self) {
        self.dictionary.rcu(|dictionary| dictionary.with(&[]));
    }

    /// Whether the dictionary must stay as it is: nothing is written, or it was made again in this start, and
    /// what undo says of the old one must not be done to it.
    fn refuses_definitions(&self) -> bool {
        self.config.force_recovery >= ForceRecovery::ReadOnly || self.is_dictionary_rebuilt
    }

    /// Writes the copies that the files of changed tables carry of their definitions. Blocks.
    fn write_copies(&self, changes: &[Change]) -> Result<(), Error> {
        let dictionary = self.dictionary();
        let next = dictionary.with(changes);
        for change in changes {
            let Change::PutTable(table) = change else { continue };
            if let Some(schema) = next.schema(&table.schema) {
                self.write_copy(schema, table)?;
            }
        }
        Ok(())
    }

    /// Writes the copy that a table's file carries of its definition, if the file can be used. Blocks.
    fn write_copy(&self, schema: &Schema, table: &Table) -> Result<(), Error> {
        match table.runtime().is_usable() {
            true => {
                let spaces = table.runtime().spaces().iter();
                let mut copies = spaces.zip(definition_copy::encode_all(schema, table.def()));
                copies.try_for_each(|(space, bytes)| definition_copy::write(&self.log, space, &bytes))
            }
            false => Ok(()),
        }
    }

    /// Writes the copies that are missing or differ: of files from earlier versions, of what a crash has come
    /// between, and of tables whose schema has changed. One that cannot be written is reported, and tried
    /// again at the next start. Blocks.
    pub(crate) fn refresh_copies(&self) {
        let dictionary = self.dictionary();
        for table in dictionary.all_tables() {
            let Some(schema) = dictionary.schema(&table.schema) else { continue };
            if let Err(error) = self.write_copy(schema, table) {
                tracing::warn!(
                    "the file of `{}`.`{}` could not be given a copy of the table's definition: {error}",
                    table.schema,
                    table.name
                );
            }
        }
    }
}

/// Partitions of a table that have been made and that no dictionary names yet: removed again when dropped so.
pub(crate) struct Unborn {
    engine: Arc<Engine>,
    table: Option<Arc<Table>>,
    /// Which partitions of the table they are.
    made: PartitionSet,
}

impl Unborn {
    pub(crate) fn new(engine: &Arc<Engine>, table: Arc<Table>, made: PartitionSet) -> Unborn {
        Unborn { engine: engine.clone(), table: Some(table), made }
    }

    pub(crate) fn made(&self) -> &PartitionSet {
        &self.made
    }

    pub(crate) fn table(&self) -> Arc<Table> {
        self.table.clone().expect("not born yet")
    }

    /// The dictionary names it.
    pub(crate) fn is_born(&mut self) {
        self.table = None;
    }
}

impl Drop for Unborn {
    fn drop(&mut self) {
        let Some(table) = self.table.take() else { return };
        if self.engine.is_dictionary_doubtful.load(Ordering::Acquire) {
            // The next open knows whether the dictionary names it.
            return;
        }
        let (engine, made) = (self.engine.clone(), std::mem::take(&mut self.made));
        self.engine.ddl.submit(move || {
            table.retire();
            // If it fails, the next open removes the files.
            let _ = engine.forget_partitions(&[(&*table, made)]);
        });
    }
}

/// A transaction on the dictionary's rows. Rolled back in the background if it is dropped before its end.
struct DictionaryChange<'a> {
    engine: &'a Arc<Engine>,
    trx: Option<Trx>,
}

impl DictionaryChange<'_> {
    fn trx(&mut self) -> &mut Trx {
        self.trx.as_mut().expect("there until dropped")
    }

    fn old(&mut self, key: &[u8]) -> Result<Option<(Stamp, Vec<u8>)>, Error> {
        let tree = &self.engine.dictionary_tree;
        let (mut row, mut progress) = (Vec::new(), ReadProgress::default());
        let found = retry_blocking(|| {
            RowStore::new(tree).read(self.trx(), key, How::Current(Gaps::Open), &mut row, &mut progress)
        })?;
        Ok(found.map(|found| (found.stamp, row)))
    }

    fn released(&self, key: &[u8], stamp: Stamp, old: &[u8]) -> Attempt<Option<(SpaceId, PageNo)>> {
        let tree = &self.engine.dictionary_tree;
        if !is_external(tree.space().page_size(), key.len(), old.len()) {
            return Ok(None);
        }
        let chain = RowStore::new(tree).chain_of(key, stamp)?;
        Ok(chain.map(|first| (tree.space().id(), first)))
    }

    fn put(&mut self, key: &[u8], row: &[u8]) -> Result<(), Error> {
        let tree = &self.engine.dictionary_tree;
        let mut progress = ChainProgress::default();
        let mut reference = None;
        if is_external(tree.space().page_size(), key.len(), row.len()) {
            reference = Some(retry_blocking(|| write_chain(self.trx(), tree.space(), row, &mut progress))?);
        }
        let flags = if reference.is_some() { EXTERNAL } else { 0 };
        let row = reference.as_ref().map_or(row, |reference| reference);
        let change = match self.old(key)? {
            Some((expected, old)) => {
                let released = retry_blocking(|| self.released(key, expected, &old))?;
                RowChange::Update { expected, flags, row, released }
            }
            None => RowChange::Insert { flags, row },
        };
        self.change(key, change)
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), Error> {
        let Some((expected, old)) = self.old(key)? else {
            return Err(Error::Inconsistent("a dictionary row is missing".to_owned()));
        };
        let released = retry_blocking(|| self.released(key, expected, &old))?;
        self.change(key, RowChange::Delete { expected, released })
    }

    fn change(&mut self, key: &[u8], change: RowChange<'_>) -> Result<(), Error> {
        let tree = &self.engine.dictionary_tree;
        let outcome =
            retry_blocking(|| self.trx().change_row(tree, key, change).map_err(Blocked::up::<Error>))?;
        match outcome {
            RowOutcome::Done(_) => Ok(()),
            RowOutcome::Duplicate | RowOutcome::Changed => {
                Err(Error::Inconsistent("a dictionary row was changed by two statements at once".to_owned()))
            }
        }
    }

    fn commit(&mut self) -> Result<(), Error> {
        let lsn = retry_blocking(|| self.trx().commit().map_err(Blocked::up::<Error>))?;
        if let Some(lsn) = lsn
            && !makes(Planted::RowsAreNotFlushed)
        {
            let flushed = self.engine.log.flush_blocking(lsn);
            if flushed.is_err() {
                self.engine.is_dictionary_doubtful.store(true, Ordering::Release);
            }
            flushed?;
        }
        Ok(())
    }
}

impl Drop for DictionaryChange<'_> {
    fn drop(&mut self) {
        if let Some(mut trx) = self.trx.take().filter(|trx| trx.id().is_some()) {
            trx.cancel_wait();
            self.engine.background.abandon(trx);
        }
    }
}
