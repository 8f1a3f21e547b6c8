//! A table as the engine runs it.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use palisade_base::{Lsn, SpaceId};
use palisade_btree::Tree;
use palisade_buffer::Space;
use palisade_catalog::{Index, IndexTree, PartitionSet, key};
use palisade_log::Log;
use parking_lot::Mutex;

use crate::info::{Counter, Field};
use crate::metadata::Gate;
use crate::sample::TableSample;
use crate::statistics::{Analysis, Sampler, TableStatistics};
use crate::usage::TableUsage;
use crate::{Attempt, Error, PageSinkKind};

/// A descriptor (to which it derefs) with its partitions, counters and statistics. ALTER makes a new one; the
/// old one then answers every operation with [`Error::TableChanged`].
pub struct Table {
    descriptor: palisade_catalog::Table,
    partitions: Box<[Partition]>,
    /// Of several partitions: the ids of all trees with the numbers of their indexes, in order. Made at first
    /// use.
    numbered: OnceLock<Box<[(u64, usize)]>>,
    runtime: Arc<Runtime>,
    current: AtomicBool,
    /// Whether CHECK TABLE ... FOR UPGRADE has found it to be of this version.
    is_version_checked: AtomicBool,
    /// Who keeps others from using it.
    gate: Arc<Gate>,
    /// Snapshots from before do not find in it what they should see.
    readable_since: Lsn,
    /// It is one of the server's own.
    is_system: bool,
    /// It is one of a session's own: see [`TemporaryTable`](crate::TemporaryTable).
    is_temporary: bool,
    usage: TableUsage,
}

/// A part of a table's rows: a space of its own, and in it a tree of each index.
pub(crate) struct Partition {
    space: Arc<Space>,
    trees: Box<[Tree]>,
}

impl Partition {
    /// The space that holds it.
    #[inline]
    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Its tree of index `number`.
    #[inline]
    pub(crate) fn tree(&self, number: usize) -> &Tree {
        &self.trees[number]
    }

    /// Its trees, in the order of the indexes.
    pub(crate) fn trees(&self) -> &[Tree] {
        &self.trees
    }
}

/// What stays the same when only the definition changes.
pub(crate) struct Runtime {
    pub(crate) log: Arc<Log>,
    /// The spaces of the partitions.
    spaces: Box<[Arc<Space>]>,
    pub(crate) auto_increment: Counter,
    /// Held by who reserves AUTO_INCREMENT values because the counter is not locked.
    pub(crate) reserving: Mutex<()>,
    pub(crate) row_id: Counter,
    pub(crate) sampler: Sampler,
    /// What is wrong with partitions, with their numbers.
    damage: Vec<(usize, Damage)>,
    /// Whether rows are read all the same: no page of a tree is damaged by that.
    reads_damaged: bool,
}

/// Why a table cannot be used.
pub(crate) enum Damage {
    /// It has no file.
    Missing,
    /// Its first pages are not what they should be.
    Unreadable(Error),
}

impl Runtime {
    /// For spaces that have their information pages, one of each partition. Blocks.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn open(log: Arc<Log>, spaces: &[Arc<Space>], auto_increment: u64) -> Result<Self, Error> {
        let first = spaces.first().expect("a table has a partition");
        Ok(Runtime {
            auto_increment: Counter::open(first, Field::AutoIncrement, auto_increment.max(1))?,
            reserving: Mutex::default(),
            row_id: Counter::open(first, Field::RowId, 1)?,
            sampler: Sampler::default(),
            damage: Vec::new(),
            reads_damaged: false,
            log,
            spaces: spaces.into(),
        })
    }

    /// The same of a table that has other partitions now, in these spaces. The first has to get the counters.
    pub(crate) fn with_spaces(&self, spaces: Vec<Arc<Space>>) -> Self {
        Runtime {
            log: self.log.clone(),
            spaces: spaces.into(),
            auto_increment: self.auto_increment.moved(),
            reserving: Mutex::default(),
            row_id: self.row_id.moved(),
            sampler: Sampler::default(),
            damage: Vec::new(),
            reads_damaged: false,
        }
    }

    /// For spaces of which some cannot be used because of `damage`, which is not empty; but for reading if it
    /// is only that first pages are damaged, and no row is changed (`changes_nothing`). Blocks.
    pub(crate) fn damaged(
        log: Arc<Log>,
        spaces: Vec<Arc<Space>>,
        damage: Vec<(usize, Damage)>,
        changes_nothing: bool,
        auto_increment: u64,
    ) -> Self {
        let are_readable = damage.iter().all(|(_, damage)| matches!(damage, Damage::Unreadable(_)));
        let reads_damaged = changes_nothing && are_readable;
        let first = spaces.first().filter(|_| damage.iter().all(|(number, _)| *number > 0));
        let counter = |field, least| match first.map(|first| Counter::open(first, field, least)) {
            Some(Ok(counter)) => counter,
            // What SHOW CREATE TABLE tells a dump of a counter that is not known is that it is as in a new
            // table.
            _ => Counter::at(field, if reads_damaged { 1 } else { u64::MAX }),
        };
        Runtime {
            auto_increment: counter(Field::AutoIncrement, auto_increment.max(1)),
            reserving: Mutex::default(),
            row_id: counter(Field::RowId, 1),
            sampler: Sampler::default(),
            damage,
            reads_damaged,
            log,
            spaces: spaces.into(),
        }
    }

    /// The space of the first partition, which keeps the table's counters and the copy of its definition.
    #[inline]
    pub(crate) fn first_space(&self) -> &Arc<Space> {
        &self.spaces[0]
    }

    /// The spaces of the partitions.
    pub(crate) fn spaces(&self) -> &[Arc<Space>] {
        &self.spaces
    }

    /// What is wrong with the first pages of a space.
    pub(crate) fn first_pages_error(&self) -> Option<&Error> {
        self.damage.iter().find_map(|(_, damage)| match damage {
            Damage::Unreadable(error) => Some(error),
            Damage::Missing => None,
        })
    }

    /// Whether nothing is wrong with the spaces.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        self.damage.is_empty()
    }
}

palisade_base::metrics! {
    /// Tables that were opened: all when the server starts, then each that is made or defined anew.
    pub static OPENED_TABLES: Counter = "Opened_tables", "server", "Tables that were opened";
    /// Rows read in the server's own tables.
    pub static SYSTEM_ROWS_READ: Counter = "Innodb_system_rows_read", "server", "Rows read in tables of the schema mysql";
    /// Rows inserted into them.
    pub static SYSTEM_ROWS_INSERTED: Counter = "Innodb_system_rows_inserted", "server", "Rows inserted into tables of the schema mysql";
    /// Rows updated in them.
    pub static SYSTEM_ROWS_UPDATED: Counter = "Innodb_system_rows_updated", "server", "Rows updated in tables of the schema mysql";
    /// Rows deleted from them.
    pub static SYSTEM_ROWS_DELETED: Counter = "Innodb_system_rows_deleted", "server", "Rows deleted from tables of the schema mysql";
}

/// The schema of the server's own tables.
const SYSTEM_SCHEMA: &str = "mysql";

impl Table {
    pub(crate) fn new(descriptor: palisade_catalog::Table, runtime: Arc<Runtime>) -> Self {
        OPENED_TABLES.increment();
        let partition = |(number, space): (usize, &Arc<Space>)| {
            let tree = |index: &Index| {
                let IndexTree { id, root } = index.trees[number];
                Tree::open(runtime.log.clone(), space.clone(), root, id)
            };
            Partition { space: space.clone(), trees: descriptor.indexes.iter().map(tree).collect() }
        };
        let is_system = descriptor.schema == SYSTEM_SCHEMA;
        let partitions = runtime.spaces.iter().enumerate().map(partition).collect();
        let usage = TableUsage::new(descriptor.indexes.len());
        let runtime_is_scratch = runtime.spaces.iter().any(|space| space.is_scratch());
        Table {
            descriptor,
            partitions,
            numbered: OnceLock::new(),
            runtime,
            current: AtomicBool::new(true),
            is_version_checked: AtomicBool::new(false),
            gate: Arc::default(),
            readable_since: Lsn::ZERO,
            is_system,
            is_temporary: runtime_is_scratch,
            usage,
        }
    }

    /// The same table, which snapshots from before `lsn` must not read.
    pub(crate) fn readable_from(mut self, lsn: Lsn) -> Self {
        self.readable_since = lsn;
        self
    }

    pub(crate) fn readable_since(&self) -> Lsn {
        self.readable_since
    }

    /// Whether it is one of the server's own, whose rows are counted.
    #[inline]
    pub(crate) fn is_system(&self) -> bool {
        self.is_system
    }

    /// Whether it is a session's own, and of no other session's business: see
    /// [`TemporaryTable`](crate::TemporaryTable).
    #[inline]
    pub fn is_temporary(&self) -> bool {
        self.is_temporary
    }

    /// How often its rows were accessed.
    #[inline]
    pub fn usage(&self) -> &TableUsage {
        &self.usage
    }

    /// The descriptor.
    pub fn descriptor(&self) -> &palisade_catalog::Table {
        &self.descriptor
    }

    /// Whether it is still the table of that name.
    #[inline]
    pub fn is_current(&self) -> bool {
        self.current.load(Ordering::Acquire)
    }

    /// Whether [`note_version_checked`](Self::note_version_checked) was called since this definition came
    /// into use.
    pub fn is_version_checked(&self) -> bool {
        self.is_version_checked.load(Ordering::Relaxed)
    }

    /// CHECK TABLE ... FOR UPGRADE has found nothing to upgrade.
    pub fn note_version_checked(&self) {
        self.is_version_checked.store(true, Ordering::Relaxed);
    }

    pub(crate) fn retire(&self) {
        self.current.store(false, Ordering::Release);
    }

    /// The same table as `old`, redefined: who keeps others from using that keeps them from this.
    pub(crate) fn in_place_of(mut self, old: &Table) -> Self {
        self.gate = old.gate.clone();
        self
    }

    #[inline]
    pub(crate) fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// Its partitions, in the order of the definition.
    pub(crate) fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// The partition of this number; [`Error::Inconsistent`] if there is none.
    #[inline]
    pub(crate) fn partition(&self, number: usize) -> Result<&Partition, Error> {
        self.partitions.get(number).ok_or_else(|| self.lacks_partition(number))
    }

    #[cold]
    fn lacks_partition(&self, number: usize) -> Error {
        Error::Inconsistent(format!("table '{}' has no partition {number}", self.name))
    }

    /// How many partitions it has: 1 of a table without PARTITION BY.
    #[inline]
    pub fn partition_count(&self) -> usize {
        self.partitions.len()
    }

    /// All its partitions.
    pub fn all_partitions(&self) -> PartitionSet {
        PartitionSet::all(self.partitions.len())
    }

    /// The space of the partition of this number.
    pub fn space_id_of(&self, number: usize) -> Option<SpaceId> {
        Some(self.partitions.get(number)?.space().id())
    }

    /// The partition of a temporary table, which has no other.
    #[inline]
    pub(crate) fn sole_partition(&self) -> &Partition {
        debug_assert!(self.partitions.len() == 1, "a row is in one partition of several");
        &self.partitions[0]
    }

    /// The trees of all partitions.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &Tree> {
        self.partitions.iter().flat_map(|partition| partition.trees())
    }

    /// The number of the index of which the tree with this id is, if it is one of the table's.
    pub(crate) fn number_of(&self, tree: u64) -> Option<usize> {
        if self.partitions.len() == 1 {
            return self.indexes.iter().position(|index| index.trees.iter().any(|known| known.id == tree));
        }
        let numbered = self.numbered_trees();
        let found = numbered.binary_search_by_key(&tree, |(id, _)| *id).ok()?;
        numbered.get(found).map(|(_, number)| *number)
    }

    /// Makes what [`number_of`](Self::number_of) looks in, which takes longer than a page should be latched.
    pub(crate) fn prepare_number_of(&self) {
        if self.partitions.len() > 1 {
            self.numbered_trees();
        }
    }

    fn numbered_trees(&self) -> &[(u64, usize)] {
        self.numbered.get_or_init(|| {
            let of = |(number, index)| {
                let index: &Index = index;
                index.trees.iter().map(move |tree| (tree.id, number))
            };
            let mut numbered: Box<[_]> = self.indexes.iter().enumerate().flat_map(of).collect();
            numbered.sort_unstable();
            numbered
        })
    }

    /// With how many bytes of its key no other entry of the index begins. `None` if others may have the same:
    /// in an index that is not unique, or because one of its parts is NULL; and if the key is a hidden row
    /// id, which no statement chooses.
    pub(crate) fn unique_part(&self, number: usize, key: &[u8]) -> Option<usize> {
        let is_unique = self.indexes[number].unique && (number > 0 || self.row_id_column().is_none());
        let prefix = is_unique.then(|| key::unique_prefix(self, number, key)).flatten();
        prefix.filter(|prefix| !prefix.has_null).map(|prefix| prefix.length)
    }

    pub(crate) fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// Why it cannot be used, if so.
    #[inline]
    pub(crate) fn check_usable(&self) -> Result<(), Error> {
        match self.runtime.damage.is_empty() {
            true => Ok(()),
            false => self.check_damage(),
        }
    }

    #[cold]
    fn check_damage(&self) -> Result<(), Error> {
        // Then no file is missing.
        match self.runtime.reads_damaged {
            true => Ok(()),
            false => self.check_undamaged(),
        }
    }

    /// The same if its rows are to be written, even where they can be read.
    fn check_undamaged(&self) -> Result<(), Error> {
        let damage = self.runtime.damage.iter().map(|(_, damage)| damage);
        match damage.max_by_key(|damage| matches!(damage, Damage::Missing)) {
            None => Ok(()),
            Some(Damage::Unreadable(error)) => Err(error.clone()),
            Some(Damage::Missing) => {
                Err(Error::FileMissing { schema: self.schema.clone(), table: self.name.clone() })
            }
        }
    }

    /// Why it cannot go on without these partitions, if so: another one is damaged, or it is the first, which
    /// has the counters.
    pub(crate) fn check_usable_without(&self, gone: &PartitionSet) -> Result<(), Error> {
        let damage = &self.runtime.damage;
        match damage.iter().all(|(number, _)| *number > 0 && gone.contains(*number)) {
            true => Ok(()),
            false => self.check_undamaged(),
        }
    }

    /// Reserves `count` consecutive AUTO_INCREMENT values of the series `offset + n * increment` and gives
    /// the first. They are never given again, whatever becomes of the transaction or the server.
    pub fn reserve_auto_increment(&self, count: u64, increment: u64, offset: u64) -> Attempt<u64> {
        self.check_usable()?;
        let Runtime { log, auto_increment, .. } = &*self.runtime;
        let increment = increment.max(1);
        // MySQL ignores an offset that is larger than the increment.
        let offset = if offset > increment { 1 } else { offset };
        // The next statement's are of the series at least, even if it has another one.
        let Some(span) = count.max(1).checked_mul(increment) else {
            return Err(Error::AutoIncrementExhausted.into());
        };
        let first = |next: u64| {
            let next = next.max(1);
            if next <= offset {
                return Some(offset.max(1));
            }
            let steps = (next - offset).div_ceil(increment);
            steps.checked_mul(increment)?.checked_add(offset)
        };
        auto_increment.take(log, self.runtime.first_space(), span, first)
    }

    /// A row with `value` in the AUTO_INCREMENT column is about to be inserted: later values will be greater.
    pub fn note_auto_increment(&self, value: u64) -> Attempt<()> {
        self.check_usable()?;
        let Runtime { log, auto_increment, .. } = &*self.runtime;
        auto_increment.pass(log, self.runtime.first_space(), value)
    }

    /// It gets rows with AUTO_INCREMENT values and hidden row ids up to these: its counters go on behind
    /// them. Waits as [`note_auto_increment`](Self::note_auto_increment) does.
    pub(crate) fn note_counted(&self, auto_increment: u64, row_id: u64) -> Attempt<()> {
        if self.auto_increment_column().is_some() && auto_increment > 0 {
            self.note_auto_increment(auto_increment)?;
        }
        if self.row_id_column().is_some() && row_id > 0 {
            self.note_row_id(row_id)?;
        }
        Ok(())
    }

    /// The next AUTO_INCREMENT value, without reserving it: for SHOW.
    pub fn auto_increment(&self) -> u64 {
        self.runtime.auto_increment.next()
    }

    /// The value of the hidden row id column for a new row of a table without a usable key
    /// ([`row_id_column`](palisade_catalog::TableDef::row_id_column)).
    pub fn next_row_id(&self) -> Attempt<u64> {
        self.check_usable()?;
        let Runtime { log, row_id, .. } = &*self.runtime;
        row_id.take(log, self.runtime.first_space(), 1, Some)
    }

    /// A row with this hidden row id is about to be inserted.
    pub(crate) fn note_row_id(&self, id: u64) -> Attempt<()> {
        self.check_usable()?;
        let Runtime { log, row_id, .. } = &*self.runtime;
        row_id.pass(log, self.runtime.first_space(), id)
    }

    /// The space of the first partition, by which a table is named where one space is.
    pub fn first_space_id(&self) -> SpaceId {
        self.runtime.first_space().id()
    }

    /// How the pages of the partition of this number reach the disk: those of partitions that were made at
    /// different times may do so in different ways. `None` if there is no such partition.
    pub fn page_sink_of(&self, number: usize) -> Option<PageSinkKind> {
        Some(match self.runtime.spaces.get(number)?.places() {
            Some(_) => PageSinkKind::OutOfPlace,
            None => PageSinkKind::InPlace,
        })
    }

    /// Bytes of its files, and bytes that these take on the disk; nothing of one that is missing.
    pub fn file_bytes(&self) -> (u64, u64) {
        let sum = |sum: (u64, u64), bytes: (u64, u64)| (sum.0 + bytes.0, sum.1 + bytes.1);
        (0..self.partition_count()).map(|number| self.partition_file_bytes(number)).fold((0, 0), sum)
    }

    /// The same of the partition of this number.
    pub fn partition_file_bytes(&self, number: usize) -> (u64, u64) {
        let Some(space) = self.runtime.spaces.get(number) else { return (0, 0) };
        let file = space.file();
        (file.len().unwrap_or(0), file.allocated().unwrap_or(0))
    }

    /// What is known of its size and keys. Never waits; sampled lazily and therefore possibly stale.
    pub fn statistics(&self) -> Arc<TableStatistics> {
        self.runtime.sampler.statistics(self)
    }

    /// What takes its [statistics](Self::statistics) and its [sample](Self::sample) anew.
    pub fn analysis(&self) -> Analysis<'_> {
        Analysis::new(self, &self.runtime.sampler)
    }

    /// Some of its rows; `None` if a page that is needed for it is not in memory. Never waits; taken lazily
    /// and therefore possibly stale.
    pub fn sample(&self) -> Option<Arc<TableSample>> {
        self.runtime.sampler.sample(self)
    }

    /// How many rows it has, to the order of magnitude; cheaper than [`statistics`](Self::statistics). Never
    /// waits.
    pub fn magnitude(&self) -> u64 {
        self.runtime.sampler.magnitude(self)
    }
}

impl Deref for Table {
    type Target = palisade_catalog::Table;

    fn deref(&self) -> &palisade_catalog::Table {
        &self.descriptor
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.descriptor == other.descriptor
    }
}

impl Eq for Table {}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({}.{}, id {})", self.schema, self.name, self.id)
    }
}
