//! One table: whether its trees are sound, whether every index tells the same rows, and whether its file's
//! space is accounted for. CHECK TABLE, and the greater part of a check of the whole directory.
//!
//! Trees are walked page by page and rows are read by a snapshot. Where a server runs, what others change
//! meanwhile may look like damage: a caller that finds some locks the table against changes and checks it
//! once more. Purge goes on all the same, so damage of a tree counts only if two walks in a row have found
//! it. Space can only be accounted for when nothing waits for purge or when all of undo has been read,
//! because an overflow chain that only an old version refers to is known to undo alone. It is left out
//! otherwise.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::event::retry_blocking;
use palisade_base::{Event, PageNo, SpaceId};
use palisade_btree::verify::{self, Damage, TreeReport};
use palisade_btree::{PageSet, ScanEnd, Tree};
use palisade_catalog::PartitionSet;
use palisade_txn::{ClusteredHeader, EXTERNAL};
use parking_lot::Mutex;

use super::directory::file_name;
use super::finding::{Finding, Kind, Owner, Place, Severity};
use super::{Progress, Watch, rows};
use crate::engine::Engine;
use crate::info::INFO_PAGE;
use crate::metadata::Use;
use crate::store::parse_reference;
use crate::table::Partition;
use crate::{AccessMode, Attempt, Error, IsolationLevel, Table, TableLocks, Transaction, definition_copy};

/// What a check of a table looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableCheckOptions {
    /// Rows are counted by every index, and the trees are not walked: CHECK TABLE ... QUICK.
    pub quick: bool,
    /// Every row is looked up by every index, and the other way round.
    pub deep: bool,
    /// Only these partitions: CHECK TABLE ... PARTITION.
    pub partitions: Option<PartitionSet>,
}

/// What a check has found of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexCheck {
    /// Its name.
    pub name: String,
    /// Rows by a snapshot; 0 if they were not read.
    pub rows: u64,
    /// Entries on its leaves, delete-marked ones among them.
    pub entries: u64,
    /// Pages.
    pub pages: u64,
    /// Levels.
    pub levels: u16,
}

/// What [`Engine::check_table`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableCheck {
    /// Rows.
    pub rows: u64,
    /// Its indexes, the clustered one first.
    pub indexes: Vec<IndexCheck>,
    /// Pages of overflow chains.
    pub overflow_pages: u64,
    /// Pages of the file that are free; `None` if space was not accounted for.
    pub free_pages: Option<u64>,
    /// What is wrong, the worst kinds first; empty if nothing is.
    pub damage: Vec<Finding>,
    /// How much more is wrong.
    pub more_damage: u64,
    /// Whether the check was ended before it was through.
    pub is_stopped: bool,
}

/// Findings that are kept of one table.
const MOST_FINDINGS: usize = 1000;

/// What is known of undo when a table is checked.
pub(super) enum UndoKnown<'a> {
    /// Nothing, but that a server purges meanwhile.
    Running,
    /// These chains are referred to by undo, in each space.
    Chains(&'a BTreeMap<SpaceId, Vec<PageNo>>),
    /// Not all of undo could be read.
    Partly,
}

/// A check of a table that goes on.
pub(super) struct Report<'t> {
    table: &'t Arc<Table>,
    /// The partition that is looked at, and its number.
    partition: &'t Partition,
    pub(super) number: usize,
    /// Whether findings name the file.
    names_file: bool,
    pub(super) check: TableCheck,
}

impl Report<'_> {
    pub(super) fn place(&self, index: Option<usize>) -> Place {
        let index = index.and_then(|index| self.table.indexes.get(index));
        Place {
            file: self.names_file.then(|| file_name(self.partition.space().id())),
            space: Some(self.partition.space().id()),
            schema: Some(self.table.schema.clone()),
            table: Some(self.table.name.clone()),
            index: index.map(|index| index.name.clone()),
            ..Place::default()
        }
    }

    fn place_at(&self, index: Option<usize>, page: PageNo) -> Place {
        self.place(index).at(page, self.partition.space().page_size())
    }

    pub(super) fn found(&mut self, finding: Finding) {
        match self.check.damage.len() < MOST_FINDINGS {
            true => self.check.damage.push(finding),
            false => self.check.more_damage += 1,
        }
    }

    /// Damage that is not of one page.
    pub(super) fn damage(&mut self, kind: Kind, index: Option<usize>, owner: Owner, what: impl Into<String>) {
        let place = self.place(index);
        self.found(Finding::damage(kind, place, owner, what));
    }

    /// Damage of a page.
    fn page(&mut self, kind: Kind, index: Option<usize>, owner: Owner, damage: &Damage) {
        let place = self.place_at(index, damage.page.page);
        self.found(Finding::damage(kind, place, owner, damage.what));
    }

    /// An error that tells of damage; others are the caller's.
    fn error(&mut self, kind: Kind, index: Option<usize>, owner: Owner, error: Error) -> Result<(), Error> {
        let place = match &error {
            Error::Corrupted { page, .. } => self.place_at(index, *page),
            error if error.is_damage() => self.place(index),
            _ => return Err(error),
        };
        self.found(Finding::damage(kind, place, owner, error.to_string()));
        Ok(())
    }
}

impl Engine {
    /// Checks a table, which should be locked against changes. Blocks, for as long as reading all of it
    /// takes.
    pub fn check_table(self: &Arc<Self>, table: &Arc<Table>) -> Result<TableCheck, Error> {
        self.check_table_with(table, TableCheckOptions::default(), &mut |_| true)
    }

    /// The same as `options` say; `watch` is told how far it is, and may end it.
    pub fn check_table_with(
        self: &Arc<Self>,
        table: &Arc<Table>,
        options: TableCheckOptions,
        watch: &mut Watch<'_>,
    ) -> Result<TableCheck, Error> {
        let mut tx = self.begin(IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
        check(self, table, &mut tx, (&options, &UndoKnown::Running, false), watch)
    }

    /// The same, to be run on a thread of the engine's. The session that asks for it may hold `locks`.
    pub fn prepare_table_check(
        self: &Arc<Self>,
        table: Arc<Table>,
        options: TableCheckOptions,
        locks: Option<&TableLocks>,
    ) -> PreparedCheck {
        let mut tx = self.begin(IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
        tx.hold(locks);
        PreparedCheck { engine: self.clone(), table, options, tx }
    }
}

/// A check of a table that has not begun.
pub struct PreparedCheck {
    engine: Arc<Engine>,
    table: Arc<Table>,
    options: TableCheckOptions,
    tx: Transaction,
}

impl PreparedCheck {
    /// Keeps the table from being redefined until the check is through. Waits for: a lock to be given up that
    /// another session has on the table.
    pub fn acquire(&mut self) -> Attempt<()> {
        self.tx.use_table_for(&self.table, Use::Read)
    }

    /// Begins. The table has been [acquired](Self::acquire): a thread that others need is not to wait for a
    /// lock.
    pub fn start(self) -> RunningCheck {
        let running = RunningCheck::default();
        let check = running.clone();
        let PreparedCheck { engine, table, options, mut tx } = self;
        engine.clone().ddl.submit(move || {
            let mut watch = |_: Progress<'_>| !check.stop.load(Ordering::Relaxed);
            let how = (&options, &UndoKnown::Running, false);
            let result = self::check(&engine, &table, &mut tx, how, &mut watch);
            drop((tx, table));
            *check.result.lock() = Some(result);
            check.done.complete();
        });
        running
    }
}

/// A check of a table that goes on on another thread.
#[derive(Clone, Default)]
pub struct RunningCheck {
    stop: Arc<AtomicBool>,
    done: Event,
    result: Arc<Mutex<Option<Result<TableCheck, Error>>>>,
}

impl RunningCheck {
    /// Happens when it is through.
    pub fn done(&self) -> Event {
        self.done.clone()
    }

    /// Has it end soon, whether it is through or not.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// What it has found, once it is [done](Self::done); given once.
    pub fn take(&self) -> Result<TableCheck, Error> {
        let result = self.result.lock().take();
        result.unwrap_or_else(|| Err(Error::Inconsistent("a check of a table did not finish".to_owned())))
    }
}

/// Checks a table as a part of a directory, or of a running server.
pub(super) fn check(
    engine: &Arc<Engine>,
    table: &Arc<Table>,
    tx: &mut Transaction,
    (options, undo, names_file): (&TableCheckOptions, &UndoKnown<'_>, bool),
    watch: &mut Watch<'_>,
) -> Result<TableCheck, Error> {
    let partition = &table.partitions()[0];
    let mut report = Report { table, partition, number: 0, names_file, check: TableCheck::default() };
    let mut is_stopped = false;
    let name = format!("{}.{}", table.schema, table.name);
    let mut watch = |progress: Progress<'_>| {
        is_stopped |= !watch(Progress { what: &name, ..progress });
        !is_stopped
    };
    let is_whole_at_first = table.runtime().is_usable();
    if let Some(error) = table.runtime().first_pages_error() {
        let what = format!("the first pages of the file cannot be used: {error}");
        report.damage(Kind::FirstPages, None, Owner::FirstPages, what);
    }
    let is_usable = match table.check_usable() {
        Ok(()) => true,
        Err(error @ Error::FileMissing { .. }) if matches!(undo, UndoKnown::Running) => return Err(error),
        Err(Error::FileMissing { .. }) => {
            let place = report.place(None);
            let what = "the table's file is missing";
            report.found(Finding {
                lost: "the table",
                advice: "put the file back, or DROP the table and load it from a backup",
                ..Finding::damage(Kind::FileMissing, place, Owner::Unknown, what)
            });
            return Ok(report.check);
        }
        Err(_) => false,
    };
    let indexes = table.indexes.iter();
    report.check.indexes =
        indexes.map(|index| IndexCheck { name: index.name.clone(), ..IndexCheck::default() }).collect();
    let mut used = Vec::new();
    let is_wanted = |number| options.partitions.as_ref().is_none_or(|wanted| wanted.contains(number));
    let wanted = || table.partitions().iter().enumerate().filter(|(number, _)| is_wanted(*number));
    for (number, partition) in wanted() {
        (report.partition, report.number) = (partition, number);
        let mut is_sound = vec![true; table.indexes.len()];
        let mut pages = trees(&mut report, &mut is_sound, options, undo, &mut watch)?;
        let are_chains_sound = options.quick || chains(&mut report, is_sound[0], &mut pages, &mut watch)?;
        used.push(pages);
        if is_usable
            && are_chains_sound
            && let Err(error) = rows::compare(tx, table, &is_sound, options, &mut report, &mut watch)
        {
            report.error(Kind::Row, None, Owner::Clustered(0), error)?;
        }
    }
    let may_account = match undo {
        UndoKnown::Running => engine.history_length() == 0 && engine.active_transactions().is_empty(),
        UndoKnown::Chains(_) => true,
        UndoKnown::Partly => false,
    };
    let is_whole = is_whole_at_first && report.check.damage.is_empty();
    if !options.quick && is_whole && may_account && watch(Progress { what: "", pages: 0 }) {
        for ((number, partition), used) in wanted().zip(used) {
            (report.partition, report.number) = (partition, number);
            account_for_space(&mut report, undo, used)?;
        }
    }
    report.check.is_stopped = is_stopped;
    report.check.damage.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(report.check)
}

/// Walks the trees of a partition, and notes which is not sound. Gives the pages that they use.
fn trees(
    report: &mut Report<'_>,
    is_sound: &mut [bool],
    options: &TableCheckOptions,
    undo: &UndoKnown<'_>,
    watch: &mut Watch<'_>,
) -> Result<PageSet, Error> {
    let mut used = PageSet::from_iter([INFO_PAGE]);
    if options.quick {
        return Ok(used);
    }
    let partition = report.partition;
    for (number, (tree, is_sound)) in partition.trees().iter().zip(is_sound).enumerate() {
        let moves = matches!(undo, UndoKnown::Running);
        let found = walk(tree, moves, watch)?;
        for damage in &found.damage {
            let owner = match number {
                0 => Owner::Clustered(damage.level.unwrap_or(0)),
                _ => Owner::Secondary,
            };
            report.page(Kind::Tree, Some(number), owner, damage);
        }
        report.check.more_damage += found.more_damage;
        let counted = &mut report.check.indexes[number];
        counted.pages += found.pages.len();
        counted.levels = counted.levels.max(found.levels);
        counted.entries += found.entries;
        *is_sound &= found.damage.is_empty();
        used.insert_all(&found.pages);
    }
    Ok(used)
}

/// Walks a tree. What purge has moved meanwhile is no damage: if the tree may be `moving`, only what a second
/// walk finds as well counts.
fn walk(tree: &Tree, moving: bool, watch: &mut Watch<'_>) -> Result<TreeReport, Error> {
    let mut walk = || {
        let mut on_pages = |pages| watch(Progress { what: "", pages });
        verify::verify_tree_with(tree, &mut on_pages)
    };
    let first = walk()?;
    if first.damage.is_empty() || !moving {
        return Ok(first);
    }
    let mut second = walk()?;
    second.damage.retain(|damage| first.damage.contains(damage));
    Ok(second)
}

/// Follows the overflow chains of all rows of a partition, and adds their pages to the used ones. Whether all
/// are sound.
fn chains(
    report: &mut Report<'_>,
    is_sound: bool,
    used: &mut PageSet,
    watch: &mut Watch<'_>,
) -> Result<bool, Error> {
    if !is_sound {
        return Ok(false);
    }
    let tree = report.partition.tree(0);
    let space = tree.space();
    let before = report.check.damage.len();
    let mut leaves = ExternalRows { from: Some(Bound::Unbounded), tree };
    while watch(Progress { what: "", pages: 0 }) {
        let Some((found, is_readable)) = leaves.next()? else { break };
        if !is_readable {
            report.damage(Kind::Row, Some(0), Owner::Clustered(0), "an entry of the index makes no sense");
        }
        for (first, len) in found {
            let chain = verify::verify_chain(space, first, Some(len as u64))?;
            watch(Progress { what: "", pages: chain.pages.len() as u64 });
            if let Some(damage) = &chain.damage {
                report.page(Kind::OverflowChain, Some(0), Owner::Chain, damage);
            }
            report.check.overflow_pages += chain.pages.len() as u64;
            for page in chain.pages {
                if !used.insert(page) {
                    let id = space.page_id(page);
                    let what = "a page of an overflow chain that something else uses, too";
                    let damage = Damage { page: id, what, level: None, is_lost: false };
                    report.page(Kind::OverflowChain, Some(0), Owner::Chain, &damage);
                }
            }
        }
    }
    Ok(report.check.damage.len() == before)
}

/// The rows of a clustered tree that are in overflow chains, a leaf's at a time.
struct ExternalRows<'t> {
    from: Option<Bound<Vec<u8>>>,
    tree: &'t Tree,
}

/// First page and length of each row of a leaf, and whether all entries make sense.
type LeafChains = (Vec<(PageNo, usize)>, bool);

impl ExternalRows<'_> {
    fn next(&mut self) -> Result<Option<LeafChains>, Error> {
        let Some(from) = self.from.take() else { return Ok(None) };
        let (mut found, mut is_readable) = (Vec::new(), true);
        let end = retry_blocking(|| {
            found.clear();
            let from = from.as_ref().map(Vec::as_slice);
            self.tree.scan(from, palisade_btree::Direction::Forward, |_, value| {
                match ClusteredHeader::split(value) {
                    Some((header, row)) if header.flags & EXTERNAL != 0 => match parse_reference(row) {
                        Some(reference) => found.push(reference),
                        None => is_readable = false,
                    },
                    Some(_) => {}
                    None => is_readable = false,
                }
                ControlFlow::Continue(())
            })
        })?;
        if let ScanEnd::Continue { separator, .. } = end {
            self.from = Some(Bound::Included(separator.to_vec()));
        }
        Ok(Some((found, is_readable)))
    }
}

/// First page and length of every row of a clustered tree that is in an overflow chain. For the dictionary.
pub(super) fn external_rows(tree: &Tree) -> Result<Vec<(PageNo, usize)>, Error> {
    let mut leaves = ExternalRows { from: Some(Bound::Unbounded), tree };
    let mut all = Vec::new();
    while let Some((found, _)) = leaves.next()? {
        all.extend(found);
    }
    Ok(all)
}

/// Compares what is used with the space's maps.
fn account_for_space(report: &mut Report<'_>, undo: &UndoKnown<'_>, mut used: PageSet) -> Result<(), Error> {
    let space = report.partition.space();
    used.extend(definition_copy::pages(space)?);
    let mut possible = PageSet::new();
    if let UndoKnown::Chains(firsts) = undo {
        let firsts = firsts.get(&space.id()).into_iter().flatten();
        for first in firsts.filter(|first| first.0 < space.pages() && !used.contains(**first)) {
            possible.extend(verify::verify_chain(space, *first, None)?.pages);
        }
    }
    let found = verify::verify_space_with(space, &used, &possible)?;
    *report.check.free_pages.get_or_insert(0) += found.free;
    for damage in found.damage.iter().filter(|damage| !is_leak(damage)) {
        report.page(Kind::SpaceMap, None, Owner::FirstPages, damage);
    }
    if found.leaked > 0 {
        let first =
            found.damage.iter().find(|damage| is_leak(damage)).map_or(INFO_PAGE, |leak| leak.page.page);
        let what = format!("{} pages are in use according to the maps, and nothing uses them", found.leaked);
        let advice = "OPTIMIZE TABLE gives the pages back";
        let place = report.place_at(None, first);
        report.found(Finding::warning(Kind::LeakedPages, place, what, advice));
    }
    report.check.more_damage += found.more_damage;
    Ok(())
}

/// Whether it is a page that nothing uses.
pub(super) fn is_leak(damage: &Damage) -> bool {
    damage.what == verify::LEAKED
}

impl TableCheck {
    /// How bad the worst is that was found; `None` if nothing is wrong.
    pub fn worst(&self) -> Option<Severity> {
        self.damage.iter().map(|finding| finding.severity).max()
    }
}
