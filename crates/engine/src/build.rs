//! Building indexes and rebuilding tables, under an exclusive metadata lock: no other session reads or
//! writes the table.
//!
//! Entries go into the new trees without undo, and with no writer: a later user of the table sees
//! them. What keeps this crash-atomic is that no definition names the trees before they are complete. A new
//! index is a *loose tree* (see [`info`]) of the table's space until then, a rebuilt table a file without a
//! dictionary row.
//!
//! Entries are sorted in memory in runs, and each run is inserted in order.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use palisade_base::event::yield_now;
use palisade_base::event::{retry, retry_blocking};
use palisade_base::{Blocked, PageNo, TrxId};
use palisade_btree::mtr::max_entry_change_bytes;
use palisade_btree::{Direction, MOST_AHEAD, Mtr, ScanEnd, Tree, overflow};
use palisade_buffer::Space;
use palisade_catalog::{Index, IndexTree, PartitionSet, RowView, TableDef, Value, key, row};
use palisade_log::Log;
use palisade_txn::{ClusteredHeader, EXTERNAL, Gaps, SecondaryHeader, UndoPtr};

use crate::build_work::{BuildStage, BuildWork};
use crate::ddl::{RowMapper, RowRouter};
use crate::definition::in_place_of;
use crate::engine::Engine;
use crate::info::{self, LooseTree};
use crate::metadata::{ExclusiveLock, TableName};
use crate::rows::name_table;
use crate::store::{How, ReadProgress, RowStore, is_external};
use crate::table::{Partition, Table};
use crate::temporary_table::TemporaryTable;
use crate::{Attempt, Error};

/// What becomes of rows that are copied into a table being built.
pub(crate) struct Copying<'a, 'm, 'r> {
    /// Makes a row of the new table; `None` if they stay as they are.
    pub(crate) map: Option<&'a mut RowMapper<'m>>,
    /// Says in which partition of the new table a row belongs ...
    pub(crate) router: &'a mut RowRouter<'r>,
    /// ... which is one of these.
    pub(crate) to: &'a PartitionSet,
    pub(crate) work: &'a BuildWork,
}

/// Bytes of entries sorted at once.
const RUN_BYTES: usize = 32 << 20;

impl Engine {
    /// Adds secondary indexes to a table and builds them. [`Error::DuplicateKey`] (index: its number in the
    /// new definition) if a unique one finds duplicates.
    pub async fn add_indexes(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        name: &TableName,
        indexes: Vec<Index>,
    ) -> Result<Arc<Table>, Error> {
        let mut def = self.settled_table(lock, name)?.def().clone();
        for index in &indexes {
            if def.index_number(&index.name).is_some() {
                return Err(Error::IndexExists(index.name.clone()));
            }
            def.indexes.push(Index { trees: Vec::new(), ..index.clone() });
        }
        self.change_indexes(lock, name, def).await
    }

    /// Replaces a definition, as [`alter_definition`](Self::alter_definition) does, and the secondary indexes
    /// with it: those of `def` that have no trees are built, those that it has no more go. Errors
    /// as of [`add_indexes`](Self::add_indexes).
    pub async fn change_indexes(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        name: &TableName,
        mut def: TableDef,
    ) -> Result<Arc<Table>, Error> {
        let is_new = |index: &Index| index.trees.is_empty();
        let old = match def.indexes.iter().any(is_new) {
            true => self.settled_table(lock, name)?,
            false => self.usable_table(lock, name)?,
        };
        def = in_place_of(def, &old);
        let work = lock.work().clone();
        let numbered = def.indexes.iter().enumerate();
        let new: Vec<usize> = numbered.filter(|(_, index)| is_new(index)).map(|(number, _)| number).collect();
        self.under(lock, move |engine| {
            if def.auto_increment > 1 {
                retry_blocking(|| old.note_auto_increment(def.auto_increment - 1))?;
            }
            let partitions = def.partitions.len();
            let first = engine.new_ids((new.len() * partitions) as u64)?;
            let mut ids = (first..).map(|id| IndexTree { id, root: PageNo::NONE });
            for number in &new {
                def.indexes[*number].trees = ids.by_ref().take(partitions).collect();
            }
            palisade_catalog::Table::new(def.clone())?;
            work.expect(new.len() as u64 * 2 * rows_of(&old, &old.all_partitions()));
            let def = engine.build_indexes(&old, def, &new, &work)?;
            if !new.is_empty() {
                work.begin(BuildStage::End);
            }
            let changed = engine.exchange_indexes(&old, def);
            work.end();
            changed
        })
        .await
    }

    /// Makes `def`, whose trees are there, the table's definition. Trees that it does without go. Blocks.
    fn exchange_indexes(self: &Arc<Self>, old: &Arc<Table>, def: TableDef) -> Result<Arc<Table>, Error> {
        let mut noted = Ok(());
        for partition in old.partitions() {
            let gone = partition.trees().iter().filter(|tree| !has_tree(&def, tree.index_id()));
            let loose: Vec<_> =
                gone.map(|tree| LooseTree { root: tree.root(), index: tree.index_id() }).collect();
            if noted.is_ok() && !loose.is_empty() {
                noted = retry_blocking(|| info::note_loose(&self.log, partition.space(), &loose));
            }
        }
        let new = noted.and_then(|()| self.redefine(old, def));
        let table = new.as_ref().unwrap_or(old);
        let gone: Vec<_> = old.trees().filter(|tree| !has_tree(table, tree.index_id())).collect();
        if !gone.is_empty() {
            self.registry.remove(gone);
            self.trx.wait_for_undo_users();
        }
        old.partitions()
            .iter()
            .try_for_each(|partition| free_loose_trees(&self.log, partition.space(), table))?;
        new
    }

    /// Builds the trees of the indexes of these numbers. Blocks.
    fn build_indexes(
        &self,
        table: &Table,
        mut def: TableDef,
        numbers: &[usize],
        work: &BuildWork,
    ) -> Result<TableDef, Error> {
        let spaces = table.runtime().spaces();
        let built: Result<(), Error> = (|| {
            for number in numbers {
                for (tree, space) in def.indexes[*number].trees.iter_mut().zip(spaces) {
                    tree.root = retry_blocking(|| info::create_loose(&self.log, space, tree.id))?;
                }
            }
            let new = Table::new(palisade_catalog::Table::new(def.clone())?, table.runtime().clone());
            let new = Arc::new(new);
            let all = new.all_partitions();
            numbers.iter().try_for_each(|number| build_index(&self.log, &new, &all, *number, work))
        })();
        if built.is_err() {
            work.end();
            spaces.iter().try_for_each(|space| free_loose_trees(&self.log, space, table))?;
        }
        built.map(|()| def).map_err(|error| name_table(error, table))
    }

    /// Drops secondary indexes by name. The clustered one needs [`rebuild_table`](Self::rebuild_table).
    pub async fn drop_indexes(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        name: &TableName,
        indexes: &[String],
    ) -> Result<Arc<Table>, Error> {
        let mut def = self.usable_table(lock, name)?.def().clone();
        for name in indexes {
            let number = def.index_number(name).filter(|number| *number > 0);
            def.indexes.remove(number.ok_or_else(|| Error::UnknownIndex(name.clone()))?);
        }
        self.change_indexes(lock, name, def).await
    }

    /// Writes all rows of a table, mapped, into a new one of definition `def`, which takes its place. `def`
    /// may have another name (the lock then covers both). It has one partition ([`Error::Definition`]
    /// otherwise); see [`rebuild_partitioned_table`](Self::rebuild_partitioned_table).
    pub async fn rebuild_table(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        name: &TableName,
        def: TableDef,
        map: &mut RowMapper<'_>,
    ) -> Result<Arc<Table>, Error> {
        if def.partitions.len() > 1 {
            let what =
                format!("table '{}' has partitions, and rows have to be told where they belong", def.name);
            return Err(Error::Definition(what));
        }
        self.rebuild_partitioned_table(lock, name, def, map, &mut |_| Ok(0)).await
    }

    /// The same of a table of several partitions: `router` says where a row of the new one belongs.
    pub async fn rebuild_partitioned_table(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        name: &TableName,
        def: TableDef,
        map: &mut RowMapper<'_>,
        router: &mut RowRouter<'_>,
    ) -> Result<Arc<Table>, Error> {
        let old = self.settled_table(lock, name)?;
        let to = TableName::new(&def.schema, &def.name);
        lock.assert_covers(&to);
        if to != *name {
            self.check_absent(&to)?;
        }
        let auto_increment = old.auto_increment().max(def.auto_increment);
        let def = TableDef { auto_increment, ..def };
        let unborn = self.under(lock, move |engine| engine.make_table(def)).await?;
        let made = unborn.table();
        let work = lock.work().clone();
        work.expect((made.indexes.len() as u64 * 2).saturating_sub(1) * rows_of(&old, &old.all_partitions()));
        work.begin(BuildStage::Read);
        let mut copying = Copying { map: Some(map), router, to: unborn.made(), work: &work };
        let copied = self.copy_rows((&old, &old.all_partitions()), &made, &mut copying).await;
        if copied.is_err() {
            work.end();
        }
        let highest = copied.map_err(|error| name_table(error, &old))?;
        self.under(lock, move |engine| {
            let mut indexes = 1..made.indexes.len();
            let of = unborn.made();
            let built = indexes.try_for_each(|number| build_index(&engine.log, &made, of, number, &work));
            if built.is_err() {
                work.end();
            }
            built.map_err(|error| name_table(error, &old))?;
            work.begin(BuildStage::End);
            count_on(&made, auto_increment, highest)?;
            let replaced = engine.replace_table(&old, unborn, &to);
            work.end();
            replaced
        })
        .await
    }

    /// The same with a temporary table.
    pub async fn rebuild_temporary_table(
        self: &Arc<Self>,
        old: &TemporaryTable,
        def: TableDef,
        map: &mut RowMapper<'_>,
    ) -> Result<TemporaryTable, Error> {
        let auto_increment = old.table().auto_increment().max(def.auto_increment);
        let new = self.create_temporary_table(old.owner(), TableDef { auto_increment, ..def }).await?;
        let work = BuildWork::new(self.config.clock.clone());
        let (one, router) = (PartitionSet::one(0), &mut |_: &RowView<'_>| Ok(0));
        let mut copying = Copying { map: Some(map), router, to: &one, work: &work };
        let copied = self.copy_rows((old.table(), &one), new.table(), &mut copying).await;
        let highest = copied.map_err(|error| name_table(error, old.table()))?;
        let (engine, made) = (self.clone(), new.table().clone());
        let built = move || {
            let mut indexes = 1..made.indexes.len();
            indexes.try_for_each(|number| build_index(&engine.log, &made, &one, number, &work))?;
            count_on(&made, auto_increment, highest)
        };
        self.blocking(built).await.map_err(|error| name_table(error, old.table()))?;
        Ok(new)
    }

    /// Copies the rows of some partitions of `old` to partitions of `new`. Gives the highest value of the
    /// AUTO_INCREMENT column, where rows are mapped.
    pub(crate) async fn copy_rows(
        self: &Arc<Self>,
        (old, from): (&Table, &PartitionSet),
        new: &Arc<Table>,
        copying: &mut Copying<'_, '_, '_>,
    ) -> Result<u64, Error> {
        let mut highest = 0;
        for number in from.iter() {
            let tree = old.partition(number)?.tree(0);
            highest = highest.max(self.copy_partition(old, tree, new, copying).await?);
        }
        Ok(highest)
    }

    /// The same of one of its partitions, by its clustered tree.
    async fn copy_partition(
        self: &Arc<Self>,
        old: &Table,
        tree: &Tree,
        new: &Arc<Table>,
        copying: &mut Copying<'_, '_, '_>,
    ) -> Result<u64, Error> {
        let mut cursor = Cursor::new();
        let mut values = Vec::new();
        let mut highest = 0;
        let counted = new.auto_increment_column();
        let row_id = new.row_id_column();
        let keeps_row_id = row_id.is_some() && old.row_id_column().is_some();
        while retry(|| cursor.next_leaf(tree)).await? {
            for number in 0..cursor.rows.len() {
                let bytes = retry(|| cursor.row(tree, number)).await?;
                let Some(map) = &mut copying.map else {
                    self.insert_built(new, copying, &bytes).await?;
                    continue;
                };
                let view = RowView::new(old, &bytes).map_err(|_| damaged_row(old))?;
                values.clear();
                map(&view, &mut values)?;
                highest = highest.max(counted.and_then(|column| values.get(column)).map_or(0, counter_value));
                if let (Some(column), false) = (row_id, keeps_row_id) {
                    let id = Value::UInt(retry(|| new.next_row_id()).await?);
                    match values.get_mut(column) {
                        Some(value) => *value = id,
                        None => values.push(id),
                    }
                } else if let Some(Value::UInt(id)) = row_id.and_then(|column| values.get(column)) {
                    let id = *id;
                    retry(|| new.note_row_id(id)).await?;
                }
                let row = row::encode(new, &values).map_err(|error| Error::Definition(error.to_string()))?;
                self.insert_built(new, copying, &row).await?;
            }
            copying.work.complete(cursor.rows.len() as u64);
            yield_now().await;
        }
        Ok(highest)
    }

    /// Puts a row into the clustered tree of the partition of a table being built where it belongs.
    async fn insert_built(
        &self,
        table: &Arc<Table>,
        copying: &mut Copying<'_, '_, '_>,
        row: &[u8],
    ) -> Result<(), Error> {
        let view = RowView::new(table, row).map_err(|_| damaged_row(table))?;
        let mut key = Vec::new();
        key::entry_key(table, 0, &view, &mut key).map_err(|_| damaged_row(table))?;
        let (mut flags, mut reference) = (0, None);
        let partition = (copying.router)(&view)?;
        if !copying.to.contains(partition) {
            let what =
                format!("a row of table '{}' belongs in partition {partition}, which is not new", table.name);
            return Err(Error::Inconsistent(what));
        }
        let tree = table.partition(partition)?.tree(0);
        let space = tree.space();
        if is_external(space.page_size(), key.len(), row.len()) {
            flags = EXTERNAL;
            reference = Some(self.write_built_chain(space, row).await?);
        }
        let mut value = Vec::new();
        ClusteredHeader { writer: TrxId::NONE, roll: UndoPtr::NONE, flags }.put(&mut value);
        value.extend_from_slice(reference.as_ref().map_or(row, |reference| reference));
        match retry(|| insert_new(&self.log, tree, &key, &value)).await? {
            true => Ok(()),
            false => Err(Error::DuplicateRow { index: 0, table: table.clone(), row: row.to_vec() }),
        }
    }

    async fn write_built_chain(&self, space: &Arc<Space>, row: &[u8]) -> Result<[u8; 8], Error> {
        let len = u32::try_from(row.len()).map_err(|_| Error::RowTooLarge)?;
        let (mut first, mut last) = (None, None);
        for chunk in row.chunks(overflow::chunk(space.page_size())) {
            let page = retry(|| write_link(&self.log, space, last, chunk)).await?;
            first = first.or(Some(page));
            last = Some(page);
        }
        let mut reference = [0; 8];
        reference[..4].copy_from_slice(&first.unwrap_or(PageNo::NONE).0.to_le_bytes());
        reference[4..].copy_from_slice(&len.to_le_bytes());
        Ok(reference)
    }
}

/// Puts a row into a clustered tree that no session uses yet, without undo and with no writer. Blocks.
pub(crate) fn insert_built_row(log: &Arc<Log>, tree: &Tree, key: &[u8], row: &[u8]) -> Result<(), Error> {
    let (mut flags, mut reference) = (0, None);
    let size = tree.space().page_size();
    if is_external(size, key.len(), row.len()) {
        let len = u32::try_from(row.len()).map_err(|_| Error::RowTooLarge)?;
        let (mut first, mut last) = (PageNo::NONE, None);
        for chunk in row.chunks(overflow::chunk(size)) {
            let page = retry_blocking(|| write_link(log, tree.space(), last, chunk))?;
            first = if last.is_none() { page } else { first };
            last = Some(page);
        }
        flags = EXTERNAL;
        reference = Some([first.0.to_le_bytes(), len.to_le_bytes()].concat());
    }
    let mut value = Vec::new();
    ClusteredHeader { writer: TrxId::NONE, roll: UndoPtr::NONE, flags }.put(&mut value);
    value.extend_from_slice(reference.as_deref().unwrap_or(row));
    match retry_blocking(|| insert_new(log, tree, key, &value))? {
        true => Ok(()),
        false => Err(Error::Inconsistent("two rows of one key".to_owned())),
    }
}

fn write_link(log: &Arc<Log>, space: &Space, last: Option<PageNo>, chunk: &[u8]) -> Attempt<PageNo> {
    let mut mtr =
        Mtr::begin_in(space, log, overflow::max_write_bytes(space.page_size())).map_err(Blocked::up)?;
    let page = overflow::write_chunk(&mut mtr, space, last, chunk).map_err(Blocked::up)?;
    mtr.commit(|_| {});
    Ok(page)
}

/// Inserts an entry; false if there is one.
fn insert_new(log: &Arc<Log>, tree: &Tree, key: &[u8], value: &[u8]) -> Attempt<bool> {
    let bytes = max_entry_change_bytes(tree.space().page_size());
    let mut mtr = Mtr::begin_in(tree.space(), log, bytes).map_err(Blocked::up)?;
    let position = tree.acquire(&mut mtr, key, value.len()).map_err(Blocked::up)?;
    if position.exists() {
        return Ok(false);
    }
    tree.insert(&mut mtr, position, value);
    mtr.commit(|_| {});
    Ok(true)
}

/// Fills the empty trees of index `number` in some partitions from their rows. Blocks.
pub(crate) fn build_index(
    log: &Arc<Log>,
    table: &Arc<Table>,
    partitions: &PartitionSet,
    number: usize,
    work: &BuildWork,
) -> Result<(), Error> {
    for partition in partitions.iter() {
        let partition = table.partition(partition)?;
        let mut cursor = Cursor::new();
        let mut run = Run::default();
        work.begin(BuildStage::Read);
        while retry_blocking(|| cursor.next_leaf(partition.tree(0)))? {
            for row in 0..cursor.rows.len() {
                let bytes = retry_blocking(|| cursor.row(partition.tree(0), row))?;
                let view = RowView::new(table, &bytes).map_err(|_| damaged_row(table))?;
                run.push(table, number, &view)?;
                if run.bytes.len() >= RUN_BYTES {
                    run.insert(log, (table, partition, number), work)?;
                    work.begin(BuildStage::Read);
                }
            }
            work.complete(cursor.rows.len() as u64);
        }
        run.insert(log, (table, partition, number), work)?;
    }
    Ok(())
}

/// A table that was built has the rows of another one: its AUTO_INCREMENT counter is at `next` at least, and
/// beyond `highest`, the highest value of its rows. Blocks.
fn count_on(made: &Table, next: u64, highest: u64) -> Result<(), Error> {
    let passed = highest.max(next.saturating_sub(1));
    if made.auto_increment_column().is_some() && passed > 0 {
        retry_blocking(|| made.note_auto_increment(passed))?;
    }
    Ok(())
}

/// A value of an AUTO_INCREMENT column as the counter sees it.
pub(crate) fn counter_value(value: &Value) -> u64 {
    match value {
        Value::Int(value) => u64::try_from(*value).unwrap_or(0),
        Value::UInt(value) => *value,
        _ => 0,
    }
}

/// About how many rows some partitions of a table have.
pub(crate) fn rows_of(table: &Table, partitions: &PartitionSet) -> u64 {
    let of = |partition: &Partition| partition.tree(0).records_in_range(Bound::Unbounded, Bound::Unbounded);
    let there = partitions.iter().filter_map(|number| table.partitions().get(number));
    there.filter_map(|partition| of(partition).ok()).sum()
}

/// Entries to be sorted.
#[derive(Default)]
struct Run {
    bytes: Vec<u8>,
    /// Where each key and value begin and end.
    entries: Vec<(u32, u32, u32)>,
}

impl Run {
    fn push(&mut self, table: &Table, number: usize, row: &RowView<'_>) -> Result<(), Error> {
        let start = self.bytes.len() as u32;
        key::entry_key(table, number, row, &mut self.bytes).map_err(|_| damaged_row(table))?;
        let middle = self.bytes.len() as u32;
        SecondaryHeader { writer: TrxId::NONE, flags: 0 }.put(&mut self.bytes);
        key::entry_payload(table, number, row, &mut self.bytes);
        self.entries.push((start, middle, self.bytes.len() as u32));
        Ok(())
    }

    /// Inserts the entries in order, and empties the run. Blocks.
    fn insert(
        &mut self,
        log: &Arc<Log>,
        (table, partition, number): (&Arc<Table>, &Partition, usize),
        work: &BuildWork,
    ) -> Result<(), Error> {
        work.begin(BuildStage::Insert);
        let bytes = &self.bytes;
        let tree = partition.tree(number);
        let key = |entry: &(u32, u32, u32)| &bytes[entry.0 as usize..entry.1 as usize];
        self.entries.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        for entry in &self.entries {
            let (key, value) = (key(entry), &bytes[entry.1 as usize..entry.2 as usize]);
            if table.indexes[number].unique
                && let Some(prefix) = key::unique_prefix(table, number, key)
                && !prefix.has_null
                && retry_blocking(|| begins_with(tree, &key[..prefix.length]))?
            {
                let row = row_with(table, partition, number, &key[..prefix.length])?;
                return Err(Error::DuplicateRow { index: number, table: table.clone(), row });
            }
            if !retry_blocking(|| insert_new(log, tree, key, value))? {
                return Err(Error::Inconsistent(format!("two rows of '{}' have one key", table.name)));
            }
            work.complete(1);
        }
        self.bytes.clear();
        self.entries.clear();
        Ok(())
    }
}

/// A row of a partition whose key in index `number` begins with `prefix`. Blocks.
fn row_with(table: &Table, partition: &Partition, number: usize, prefix: &[u8]) -> Result<Vec<u8>, Error> {
    let mut cursor = Cursor::new();
    let mut key = Vec::new();
    while retry_blocking(|| cursor.next_leaf(partition.tree(0)))? {
        for row in 0..cursor.rows.len() {
            let bytes = retry_blocking(|| cursor.row(partition.tree(0), row))?;
            let view = RowView::new(table, &bytes).map_err(|_| damaged_row(table))?;
            key.clear();
            key::entry_key(table, number, &view, &mut key).map_err(|_| damaged_row(table))?;
            if key.starts_with(prefix) {
                return Ok(bytes);
            }
        }
    }
    Err(Error::Inconsistent(format!("an entry of '{}' has no row", table.name)))
}

/// Whether there is an entry whose key begins with `prefix`.
pub(crate) fn begins_with(tree: &Tree, prefix: &[u8]) -> Attempt<bool> {
    let mut from = prefix.to_vec();
    loop {
        let mut first = None;
        let end = tree.scan(Bound::Included(&from), Direction::Forward, |key, _| {
            first = Some(key.starts_with(prefix));
            ControlFlow::Break(())
        });
        match (first, end.map_err(Blocked::up)?) {
            (Some(begins), _) => return Ok(begins),
            (None, ScanEnd::Continue { separator, .. }) => from = separator.to_vec(),
            (None, _) => return Ok(false),
        }
    }
}

/// Reads the latest rows of a table that nobody changes, a leaf at a time.
struct Cursor {
    from: Option<Bound<Vec<u8>>>,
    /// Keys, and rows or references to them.
    rows: Vec<(Vec<u8>, ClusteredHeader, Vec<u8>)>,
    progress: ReadProgress,
}

impl Cursor {
    fn new() -> Self {
        Cursor { from: Some(Bound::Unbounded), rows: Vec::new(), progress: ReadProgress::default() }
    }

    /// Goes to the next leaf; false at the end.
    fn next_leaf(&mut self, tree: &Tree) -> Attempt<bool> {
        let Some(from) = &self.from else { return Ok(false) };
        let rows = &mut self.rows;
        rows.clear();
        let mut damaged = false;
        let from = from.as_ref().map(Vec::as_slice);
        let end = tree.scan_range(from, Bound::Unbounded, Direction::Forward, MOST_AHEAD, |mut entry| {
            match ClusteredHeader::split(entry.value()) {
                Some((header, row)) if !header.is_deleted() => {
                    rows.push((entry.key().to_vec(), header, row.to_vec()))
                }
                Some(_) => {}
                None => damaged = true,
            }
            ControlFlow::Continue(())
        });
        let end = end.map_err(Blocked::up)?;
        if damaged {
            return Err(Error::Inconsistent("an entry too short for its header".to_owned()).into());
        }
        self.from = match end {
            ScanEnd::Continue { separator, .. } => Some(Bound::Included(separator.to_vec())),
            ScanEnd::Exhausted | ScanEnd::Stopped => None,
        };
        Ok(true)
    }

    /// Row `number` of the leaf.
    fn row(&mut self, tree: &Tree, number: usize) -> Attempt<Vec<u8>> {
        let (key, header, row) = &self.rows[number];
        let mut row = row.clone();
        if header.flags & EXTERNAL != 0
            && !RowStore::new(tree).fetch(
                key,
                How::Current(Gaps::Open),
                header,
                &mut row,
                &mut self.progress,
            )?
        {
            return Err(Error::Inconsistent("a row changed under an exclusive lock".to_owned()).into());
        }
        Ok(row)
    }
}

/// Frees the trees of a space that `def` does not name. Blocks.
///
/// One that is damaged is forgotten, and its pages are lost to the space: that an index is damaged is a
/// reason to drop it, and the table goes on without.
pub(crate) fn free_loose_trees(log: &Arc<Log>, space: &Arc<Space>, def: &TableDef) -> Result<(), Error> {
    let loose = retry_blocking(|| info::loose_trees(space))?;
    if loose.is_empty() {
        return Ok(());
    }
    for tree in &loose {
        if !has_tree(def, tree.index) {
            match free_tree(log, space, *tree) {
                Err(error @ Error::Corrupted { .. }) => {
                    tracing::warn!("pages of an index of '{}' that was dropped are lost: {error}", def.name);
                }
                freed => freed?,
            }
        }
    }
    // The others have become parts of the definition.
    retry_blocking(|| info::forget_loose(log, space))
}

/// Whether a tree is one of a definition's.
fn has_tree(def: &TableDef, id: u64) -> bool {
    def.trees().any(|tree| tree.id == id)
}

fn free_tree(log: &Arc<Log>, space: &Arc<Space>, tree: LooseTree) -> Result<(), Error> {
    let dead = Tree::open(log.clone(), space.clone(), tree.root, tree.index);
    while retry_blocking(|| dead.clear_some())? {}
    retry_blocking(|| info::free_loose_root(log, space, tree))
}

fn damaged_row(table: &Table) -> Error {
    Error::Inconsistent(format!("a row of '{}' does not parse", table.name))
}
