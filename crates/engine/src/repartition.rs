//! How partitions of a table come, go and change places: ADD, DROP, TRUNCATE, REORGANIZE, REBUILD, COALESCE
//! and EXCHANGE PARTITION, PARTITION BY and REMOVE PARTITIONING.
//!
//! The table keeps its number and its row in the dictionary; the row gets another list of partitions. In the
//! order of events nothing is new (see `definition`): files and trees of the new partitions, with the rows
//! that they get; the row of the dictionary, durably; what statements see; the files of those that are gone.
//! Until the row is there no definition names the new files, afterwards none names the old ones, and the next
//! start removes what no definition names. Partitions that stay keep their files and trees, which undo goes
//! on to name.
//!
//! ```text
//!   REORGANIZE PARTITION p1, p2 INTO (a, b)     before: p0 p1 p2 p3      after: p0 a b p3
//!      sources: Some(0), None, None, Some(3)            │  └──┴─ rows, routed ─► a b   │
//!                                                       └──────── kept ────────────────┘
//! ```
//!
//! The counters of a table are in the file of its first partition. If another one takes its place, it gets
//! the numbers before the row of the dictionary is changed: in a file that is not the first they say nothing.

use std::sync::Arc;

use palisade_base::PageNo;
use palisade_base::event::{retry, retry_blocking};
use palisade_catalog::descriptor::MAX_PARTITIONS;
use palisade_catalog::{Index, IndexTree, PartitionDef, PartitionSet, RowView, TableDef};

use crate::build::{Copying, build_index, counter_value, rows_of};
use crate::build_work::BuildStage;
use crate::ddl::RowRouter;
use crate::definition::{RowEdit, Unborn, check_partitioned, drop_of, place, places_of};
use crate::dictionary::{Change, table_key};
use crate::engine::Engine;
use crate::info::{self, Counter, Field};
use crate::metadata::{ExclusiveLock, TableName};
use crate::rows::{damaged, name_table};
use crate::table::{Runtime, Table};
use crate::{AccessMode, Direction, Error, IsolationLevel, KeyRange, ReadMode, RowBatch, Scan, compression};

/// A definition with other partitions of a table.
struct Repartition {
    /// What is to be; partitions that are new have no space and no trees yet.
    def: TableDef,
    /// Partitions of `def` that are new.
    new: PartitionSet,
    /// Partitions of the table that are gone.
    gone: PartitionSet,
}

impl Repartition {
    /// `sources` says of each partition of `def` which one of the table's it is.
    fn of(old: &Table, def: TableDef, sources: &[Option<usize>]) -> Result<Repartition, Error> {
        let refused = |what: &str| Error::Definition(format!("table '{}': {what}", old.name));
        if sources.is_empty() || sources.len() != def.partitions.len() || sources.len() > MAX_PARTITIONS {
            return Err(refused("each of its partitions is new or an old one"));
        }
        check_partitioned(&def)?;
        if (&def.schema, &def.name, &def.columns) != (&old.schema, &old.name, &old.columns)
            || !alike(&def.indexes, &old.indexes)
        {
            return Err(refused("its columns and indexes stay as they are when its partitions change"));
        }
        let (mut new, mut gone) = (PartitionSet::none(), old.all_partitions());
        let mut def = TableDef {
            id: old.id,
            indexes: old.indexes.clone(),
            dropped: old.dropped.clone(),
            versions: old.versions,
            created_us: old.created_us,
            ..def
        };
        for (place, source) in sources.iter().enumerate() {
            match source {
                None => new.insert(place),
                Some(number) if gone.contains(*number) => gone.remove(*number),
                Some(_) => return Err(refused("a partition becomes one partition")),
            }
        }
        for (partition, number) in def.partitions.iter_mut().zip(sources) {
            partition.space = number.map_or_else(Default::default, |number| old.partitions[number].space);
        }
        for (index, before) in def.indexes.iter_mut().zip(&old.indexes) {
            let none = IndexTree { id: 0, root: PageNo::NONE };
            let tree = |number: &Option<usize>| number.map_or(none, |number| before.trees[number]);
            index.trees = sources.iter().map(tree).collect();
        }
        palisade_catalog::Table::new(def.clone())?;
        Ok(Repartition { def, new, gone })
    }
}

/// Whether indexes are the same but for their trees.
fn alike(left: &[Index], right: &[Index]) -> bool {
    let bare = |index: &Index| Index { trees: Vec::new(), ..index.clone() };
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| bare(left) == bare(right))
}

impl Engine {
    /// Gives a table other partitions: those of `def`, the definition with another
    /// [`partitioning`](TableDef::partitioning) and other [`partitions`](TableDef::partitions), whose spaces
    /// do not count. For each of them `sources` says which partition of the table it is, kept as it is but
    /// for its name; `None`: it is new. The rows of partitions that no source names go, or, with a `router`,
    /// are copied to the new partitions that it says. [`Error::DuplicateRow`] if that makes two of a unique
    /// key meet. Partitions that are damaged can go so, but for the first.
    ///
    /// With `def.auto_increment`, if not 0, the counter is raised. It begins anew where no row stays:
    /// TRUNCATE PARTITION ALL.
    pub async fn change_partitions(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        name: &TableName,
        def: TableDef,
        sources: &[Option<usize>],
        router: Option<&mut RowRouter<'_>>,
    ) -> Result<Arc<Table>, Error> {
        let old = match router {
            Some(_) => self.settled_table(lock, name)?,
            None => self.locked_table(lock, name)?,
        };
        let Repartition { def, new, gone } = Repartition::of(&old, def, sources)?;
        old.check_usable_without(&gone)?;
        let (before, copies) = (old.clone(), router.is_some());
        let begins_anew = !copies && gone.is_all(old.partition_count());
        let make = move |engine: &Arc<Engine>| engine.make_partitions(&before, def, (new, begins_anew));
        let unborn = self.under(lock, make).await?;
        let (made, work) = (unborn.table(), lock.work().clone());
        if let Some(router) = router {
            let steps = (made.indexes.len() as u64 * 2).saturating_sub(1);
            work.expect(steps * rows_of(&old, &gone));
            work.begin(BuildStage::Read);
            let mut copying = Copying { map: None, router, to: unborn.made(), work: &work };
            let copied = self.copy_rows((&old, &gone), &made, &mut copying).await;
            if copied.is_err() {
                work.end();
            }
            copied.map_err(|error| name_table(error, &old))?;
        }
        self.under(lock, move |engine| {
            let of = unborn.made();
            let mut indexes = 1..if copies { made.indexes.len() } else { 1 };
            let built = indexes.try_for_each(|number| build_index(&engine.log, &made, of, number, &work));
            if copies && built.is_ok() {
                work.begin(BuildStage::End);
            }
            let built = built.map_err(|error| name_table(error, &old));
            let changed = built.and_then(|()| engine.exchange_partitions(&old, unborn, gone));
            if copies {
                work.end();
            }
            changed
        })
        .await
    }

    /// Makes the partitions `new` of a definition of a table. Blocks.
    fn make_partitions(
        self: &Arc<Self>,
        old: &Table,
        mut def: TableDef,
        (new, begins_anew): (PartitionSet, bool),
    ) -> Result<Unborn, Error> {
        if def.auto_increment > 1 && !begins_anew {
            // By the counter itself: the table cannot be used while a partition that goes now is damaged.
            let (runtime, last) = (old.runtime(), def.auto_increment - 1);
            retry_blocking(|| runtime.auto_increment.pass(&self.log, runtime.first_space(), last))?;
        }
        let first = self.new_ids(places_of(&def, &new))?;
        place(&mut def, &new, first)?;
        palisade_catalog::Table::new(def.clone())?;
        let made = self.make_spaces(&mut def, &new).map_err(|error| name_table(error, old))?;
        let mut made = made.into_iter();
        let kept = |partition: &PartitionDef| {
            old.partitions().iter().map(|old| old.space()).find(|space| space.id() == partition.space)
        };
        let spaces: Option<Vec<_>> = def
            .partitions
            .iter()
            .enumerate()
            .map(|(number, partition)| match new.contains(number) {
                true => made.next(),
                false => kept(partition).cloned(),
            })
            .collect();
        let spaces = spaces.ok_or_else(|| Error::Inconsistent("a partition has no space".to_owned()))?;
        let runtime = match begins_anew {
            true => Runtime::open(self.log.clone(), &spaces, def.auto_increment),
            false => Ok(old.runtime().with_spaces(spaces)),
        };
        if runtime.is_err() {
            self.remove_spaces(&def, &new)?;
        }
        let runtime = runtime?;
        let table = Table::new(palisade_catalog::Table::new(def)?, Arc::new(runtime));
        let made = new.iter().flat_map(|number| table.partitions()[number].trees());
        self.registry.add(table.id, made);
        Ok(Unborn::new(self, Arc::new(table), new))
    }

    /// Gives a table the partitions that have been made, in the place of those that are gone. Blocks.
    fn exchange_partitions(
        self: &Arc<Self>,
        old: &Arc<Table>,
        mut unborn: Unborn,
        gone: PartitionSet,
    ) -> Result<Arc<Table>, Error> {
        let made = unborn.table();
        self.move_counters(old.runtime(), made.runtime())?;
        // What older snapshots see is all there still, if no partition is gone.
        let since = if gone.is_empty() { old.readable_since() } else { self.log.tail() };
        let descriptor = palisade_catalog::Table::new(made.def().clone())?;
        let table = Table::new(descriptor, made.runtime().clone()).readable_from(since).in_place_of(old);
        let table = Arc::new(table);
        self.registry.add(table.id, table.trees());
        let row = RowEdit::Put(table_key(table.id), table.to_bytes());
        self.change_dictionary(&[row], &[drop_of(old), Change::PutTable(table.clone())])?;
        unborn.is_born();
        old.retire();
        table.runtime().spaces().iter().for_each(|space| compression::follow(space, table.def()));
        self.forget_partitions(&[(old, gone)])?;
        Ok(table)
    }

    /// Writes counters to the first file of a table that had another one. Blocks.
    fn move_counters(&self, old: &Runtime, new: &Runtime) -> Result<(), Error> {
        let space = new.first_space();
        if space.id() == old.first_space().id() {
            return Ok(());
        }
        for (field, counter) in [(Field::AutoIncrement, &new.auto_increment), (Field::RowId, &new.row_id)] {
            retry_blocking(|| info::raise(&self.log, space, field, counter.next()))?;
        }
        Ok(())
    }

    /// ALTER TABLE ... EXCHANGE PARTITION: the partition `number` of a table and a table of one partition
    /// change their files. Their columns and indexes have to agree, and whether the rows belong is for the
    /// caller to have looked ([`Error::Definition`] otherwise, and of tables whose rows have hidden row ids).
    /// The lock covers both. AUTO_INCREMENT of the first goes on behind that of the other, and that of the
    /// other behind the highest value of the rows that it gets.
    pub async fn exchange_partition(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        name: &TableName,
        number: usize,
        other: &TableName,
    ) -> Result<(), Error> {
        let tables = [self.settled_table(lock, name)?, self.settled_table(lock, other)?];
        let defs = exchanged(&tables, number)?;
        let highest = self.highest_counted(lock, &tables[0], number).await?;
        self.under(lock, move |engine| engine.exchange_spaces(&tables, defs, (number, highest))).await
    }

    /// The highest AUTO_INCREMENT value of the rows of a partition; that of the table if no index tells.
    async fn highest_counted(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        table: &Arc<Table>,
        number: usize,
    ) -> Result<u64, Error> {
        let Some(column) = table.auto_increment_column() else { return Ok(0) };
        let begins = |index: &Index| {
            let first = index.parts.first();
            first.is_some_and(|part| usize::from(part.column) == column && !part.descending)
        };
        let Some(index) = table.indexes.iter().position(begins) else {
            return Ok(table.auto_increment().saturating_sub(1));
        };
        let mut tx = self.begin(IsolationLevel::ReadCommitted, AccessMode::ReadOnly);
        tx.hold_exclusive(lock);
        let (range, backward) = (KeyRange::default(), Direction::Backward);
        let scan = Scan::new(table.clone(), index, range, backward, ReadMode::Snapshot, false);
        let (mut scan, mut batch) = (scan.of_partition(number).with_rows_wanted(1), RowBatch::new());
        retry(|| tx.scan_next(&mut scan, &mut batch)).await?;
        let Some(row) = batch.bytes_of(0) else { return Ok(0) };
        let row = RowView::new(table, row).map_err(|error| damaged(table, error))?;
        Ok(row.to_values().get(column).map_or(0, counter_value))
    }

    fn exchange_spaces(
        self: &Arc<Self>,
        [table, other]: &[Arc<Table>; 2],
        [def, other_def]: [TableDef; 2],
        (number, highest): (usize, u64),
    ) -> Result<(), Error> {
        let mut spaces = table.runtime().spaces().to_vec();
        let single = other.runtime().first_space().clone();
        let part = std::mem::replace(&mut spaces[number], single);
        let last = |counter: &Counter| counter.next().saturating_sub(1);
        let (high, other_high) = (table.runtime(), other.runtime());
        retry_blocking(|| table.note_counted(last(&other_high.auto_increment), last(&other_high.row_id)))?;
        retry_blocking(|| other.note_counted(highest, last(&high.row_id)))?;
        let runtimes = [table.runtime().with_spaces(spaces), other.runtime().with_spaces(vec![part])];
        let (mut rows, mut changes) = (Vec::new(), Vec::new());
        for ((old, def), runtime) in [table, other].into_iter().zip([def, other_def]).zip(runtimes) {
            self.move_counters(old.runtime(), &runtime)?;
            let new = Table::new(palisade_catalog::Table::new(def)?, Arc::new(runtime));
            let new = Arc::new(new.readable_from(self.log.tail()).in_place_of(old));
            rows.push(RowEdit::Put(table_key(new.id), new.to_bytes()));
            changes.extend([drop_of(old), Change::PutTable(new)]);
        }
        self.change_dictionary(&rows, &changes)?;
        for change in &changes {
            if let Change::PutTable(new) = change {
                self.registry.add(new.id, new.trees());
                new.runtime().spaces().iter().for_each(|space| compression::follow(space, new.def()));
            }
        }
        [table, other].into_iter().for_each(|old| old.retire());
        Ok(())
    }
}

/// The definitions of a table and of one of one partition when partition `number` of the one and the other
/// have changed places. [`Error::Definition`] if their rows are not alike.
fn exchanged([table, other]: &[Arc<Table>; 2], number: usize) -> Result<[TableDef; 2], Error> {
    let refuse =
        |what: &str| Err(Error::Definition(format!("tables '{}' and '{}': {what}", table.name, other.name)));
    if table.id == other.id || !table.is_partitioned() || other.is_partitioned() {
        return refuse("a partition is exchanged with a table that has none");
    }
    // Each table counts its own, and rows of two partitions would have one key.
    if table.row_id_column().is_some() || other.row_id_column().is_some() {
        return refuse("rows that are told by hidden row ids stay in their table");
    }
    if other.is_temporary() || number >= table.partition_count() {
        return refuse("there is no such partition, or the other table is temporary");
    }
    let columns = |table: &Table| {
        let of =
            table.columns.iter().map(|column| (column.sql_type.clone(), column.ordinal, column.nullable));
        of.collect::<Vec<_>>()
    };
    let defaults = |table: &Table| {
        let of = table.columns.iter().map(|column| column.instant_default.clone());
        of.collect::<Vec<_>>()
    };
    let is_row_alike = columns(table) == columns(other)
        && table.dropped == other.dropped
        && table.versions == other.versions
        && (table.versions.count == 0 || defaults(table) == defaults(other));
    if !is_row_alike {
        return refuse("their columns differ");
    }
    let (mut def, mut single) = (table.def().clone(), other.def().clone());
    if def.indexes.len() != single.indexes.len() {
        return refuse("their indexes differ");
    }
    std::mem::swap(&mut def.partitions[number].space, &mut single.partitions[0].space);
    for (position, index) in def.indexes.iter_mut().enumerate() {
        let is_it = |(place, own): &(usize, &mut Index)| {
            own.parts == index.parts
                && own.unique == index.unique
                && own.hidden == index.hidden
                && own.name.to_lowercase() == index.name.to_lowercase()
                && (*place == 0) == (position == 0)
        };
        let Some((_, own)) = single.indexes.iter_mut().enumerate().find(is_it) else {
            return refuse("their indexes differ");
        };
        std::mem::swap(&mut index.trees[number], &mut own.trees[0]);
    }
    Ok([def, single])
}
