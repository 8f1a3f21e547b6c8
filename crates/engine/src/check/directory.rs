//! A whole data directory, offline. The order of things is in [the module above](super).
//!
//! Which level of force the directory is opened with, in memory, says what can be told:
//!
//! | opens at | what is known |
//! |---|---|
//! | 4 (`ReadOnly`) | everything |
//! | 5 (`NoUndo`) | all but undo; what had not ended counts as committed, so indexes may differ for that reason |
//! | 6 (`AcceptLogDamage`) | the same, and pages may be of different times |
//! | not at all | each page for itself |

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::clock::Clock;
use palisade_base::event::retry_blocking;
use palisade_base::{Lsn, PageNo, SpaceId};
use palisade_btree::{PageSet, alloc, verify};
use palisade_buffer::{PageSize, PlaceStore, Space, doublewrite};
use palisade_catalog::Schema;
use palisade_io::{DirLock, FileSystem, IoPool, OpenMode, ScratchFileSystem, Waiting};
use palisade_txn::undo::segment::UNDO_SPACE;
use palisade_txn::undo::verify::{UndoReport, verify_undo};

use super::finding::{Finding, Kind, Owner, Place, Severity};
use super::log::{LogSummary, capacity, check_log};
use super::pages::{self, Expected, FileSummary, Suspect, What};
use super::stale::StaleRows;
use super::table::{self, TableCheck, TableCheckOptions, UndoKnown, is_leak};
use super::{Progress, Watch};
use crate::definition_copy::DefinitionCopy;
use crate::files::{Files, Found};
use crate::info::INFO_PAGE;
use crate::open::{SYSTEM_SPACE, check_page};
use crate::{
    AccessMode, Engine, EngineConfig, Error, FlushMethod, ForceRecovery, IsolationLevel, Table,
    definition_copy,
};

/// What is checked, and with how much memory.
#[derive(Clone)]
pub struct CheckConfig {
    /// The data directory.
    pub datadir: PathBuf,
    /// Bytes that pages may take: half for reading, half for what recovery changes.
    pub memory: u64,
    /// Reads under way at once.
    pub io_threads: usize,
    /// Only tables of this schema.
    pub schema: Option<String>,
    /// Only tables of this name.
    pub table: Option<String>,
    /// How far tables are checked.
    pub options: TableCheckOptions,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// A table, as it was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableReport {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub table: String,
    /// The space it is in.
    pub space: SpaceId,
    /// What its check has found; the findings are in the directory's.
    pub check: TableCheck,
}

/// Undo, as it was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndoSummary {
    /// Segments.
    pub segments: u32,
    /// Pages, those of the directory of segments among them.
    pub pages: u64,
    /// Records.
    pub records: u64,
    /// Transactions that had not ended; the next start rolls them back.
    pub active: u64,
    /// Prepared XA transactions.
    pub prepared: u64,
    /// Committed transactions that are not noted as purged.
    pub history: u64,
}

/// What a check of a directory has found.
#[derive(Debug, Clone, Default)]
pub struct DirectoryReport {
    /// The worst first.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more_findings: u64,
    /// The redo log.
    pub log: LogSummary,
    /// Whether a start redoes something.
    pub needs_recovery: bool,
    /// Why a start without force fails; `None` if it does not.
    pub start_error: Option<String>,
    /// The level of `innodb_force_recovery` with which the directory was read; `None` if no level opens it.
    pub level: Option<u8>,
    /// Files of pages.
    pub files: Vec<FileSummary>,
    /// Tables; none if the directory could not be opened.
    pub tables: Vec<TableReport>,
    /// Undo; `None` if it could not be opened.
    pub undo: Option<UndoSummary>,
    /// Whether something was not checked.
    pub is_partial: bool,
}

/// A directory that was checked, still locked.
pub struct CheckedDirectory {
    /// What was found.
    pub report: DirectoryReport,
    /// The engine that was opened on it, in memory, for who wants to look at rows.
    pub engine: Option<Arc<Engine>>,
    _lock: DirLock,
}

/// Findings that are kept.
const MOST_FINDINGS: usize = 10_000;
/// Overflow chains of undo that are remembered.
const MOST_CHAINS: usize = 4 << 20;

impl DirectoryReport {
    /// How bad the worst is; `None` if there is nothing to say.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Adds a finding.
    pub fn found(&mut self, finding: Finding) {
        match self.findings.len() < MOST_FINDINGS {
            true => self.findings.push(finding),
            false => self.more_findings += 1,
        }
    }

    fn not_checked(&mut self, what: impl Into<String>, advice: &'static str) {
        self.is_partial = true;
        self.found(Finding::warning(Kind::NotChecked, Place::default(), what, advice));
    }
}

/// Checks a directory. Blocks. An error means that nothing could be checked: it is no data directory, or a
/// server has it.
pub fn check_directory(
    config: CheckConfig,
    fs: Arc<dyn FileSystem>,
    watch: &mut Watch<'_>,
) -> Result<CheckedDirectory, Error> {
    let datadir = config.datadir.display().to_string();
    let lock = fs.lock_dir_unchanged(&config.datadir);
    let lock = lock.map_err(|error| Error::Unusable(format!("cannot check {datadir}: {error}")))?;
    let files = Files::new(fs.clone(), &config.datadir, FlushMethod::Fsync);
    let mut report = DirectoryReport::default();
    let found = files.look()?;
    let page_size = match found {
        Found::Data(size) => size,
        _ => files.page_size_of_pages()?.unwrap_or(PageSize::DEFAULT),
    };
    match found {
        Found::Data(_) => {}
        Found::Format(format) => return Err(files.is_of_format(format)),
        _ if files.looks_like_data()? => report.found(Finding {
            severity: Severity::Damage,
            kind: Kind::Marker,
            place: Place { file: Some("palisade.data".to_owned()), ..Place::default() },
            what: "the file does not say that this is a data directory".to_owned(),
            lost: "nothing",
            advice: "start with innodb_force_recovery=1, which writes the file again",
        }),
        _ => return Err(Error::Unusable(format!("{datadir} is not a data directory of this version"))),
    }
    let log = check_log(&fs, &files.log_dir(), watch)?;
    report.log = log.summary;
    report.findings.extend(log.findings);
    report.needs_recovery = report.log.pages_to_redo > 0;
    let mut check = Check { config, fs, files, page_size, report, engine: None, named: BTreeSet::new() };
    check.open()?;
    check.structures(&log.spaces, watch)?;
    check.pages(watch)?;
    let Check { mut report, engine, .. } = check;
    report.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(CheckedDirectory { report, engine, _lock: lock })
}

struct Check {
    config: CheckConfig,
    fs: Arc<dyn FileSystem>,
    files: Files,
    page_size: PageSize,
    report: DirectoryReport,
    engine: Option<Arc<Engine>>,
    /// Pages that a finding names.
    named: BTreeSet<(SpaceId, PageNo)>,
}

impl Check {
    fn found(&mut self, mut finding: Finding) {
        if let Some(space) = finding.place.space.and_then(|space| self.engine.as_ref()?.pool.space(space))
            && let Some(store) = space.places()
        {
            let place = finding.place.page.map(|page| store.place(page));
            finding.place.offset =
                place.filter(|place| !place.is_none()).map(|place| place.offset(self.page_size));
        }
        if let (Some(space), Some(page)) = (finding.place.space, finding.place.page) {
            self.named.insert((space, page));
        }
        self.report.found(finding);
    }

    fn engine_config(&self, level: ForceRecovery) -> Result<EngineConfig, Error> {
        let log = palisade_log::inspect(&*self.fs, &self.files.log_dir())?;
        Ok(EngineConfig {
            datadir: self.config.datadir.clone(),
            page_size: self.page_size,
            buffer_pool_size: self.config.memory / 2,
            redo_log_capacity: capacity(&log),
            force_recovery: level,
            log_buffer_size: 1 << 20,
            io_threads: self.config.io_threads,
            page_cleaners: 1,
            purge_threads: 0,
            undo_kept: None,
            clock: self.config.clock.clone(),
            ..EngineConfig::default()
        })
    }

    fn try_open(&self, level: ForceRecovery) -> Result<Arc<Engine>, Error> {
        let scratch = ScratchFileSystem::without_lock(self.fs.clone());
        Engine::open(self.engine_config(level)?, Arc::new(scratch))
    }

    /// Opens the directory as a start would, in memory; then with as little force as possible.
    fn open(&mut self) -> Result<(), Error> {
        let (pages, memory) = (self.report.log.pages_to_redo, self.config.memory / 2);
        if self.page_size.bytes_of(pages) > memory {
            self.report.not_checked(
                format!(
                    "the directory was not shut down, and recovery changes {pages} pages, for which {} MiB of memory are \
                     needed: only single pages and the redo log were checked",
                    self.page_size.bytes_of(2 * pages) / (1 << 20) + 1
                ),
                "give the check more memory (--memory), or start the server and stop it",
            );
            return Ok(());
        }
        if let Err(error) = self.try_open(ForceRecovery::Off) {
            self.report.start_error = Some(error.to_string());
        }
        let levels = [ForceRecovery::ReadOnly, ForceRecovery::NoUndo, ForceRecovery::AcceptLogDamage];
        let mut reason = String::new();
        for level in levels {
            match self.try_open(level) {
                Ok(engine) => {
                    engine.set_passes_damage(false);
                    self.report.level = Some(level as u8);
                    self.engine = Some(engine);
                    break;
                }
                Err(error) if error.is_damage() => reason = error.to_string(),
                Err(error) => return Err(error),
            }
        }
        self.tell_level(&reason);
        Ok(())
    }

    /// Says what the level with which the directory could be opened means.
    fn tell_level(&mut self, reason: &str) {
        match self.report.level {
            None => self.report.not_checked(
                format!("the directory cannot be opened with any level of force: {reason}"),
                "restore it from a backup",
            ),
            Some(4) => {}
            Some(level) if level == 5 || !self.report.log.is_damaged => {
                let place =
                    Place { file: Some(file_name(UNDO_SPACE)), space: Some(UNDO_SPACE), ..Place::default() };
                let what = format!("undo cannot be opened: {reason}");
                self.found(Finding::damage(Kind::Undo, place, Owner::Undo, what));
            }
            Some(_) => self.report.not_checked(
                "undo was not checked, because the redo log is damaged",
                "see what is said of the redo log",
            ),
        }
    }

    /// Says that the directory was not shut down, if so.
    fn tell_recovery(&mut self) {
        let active = self.report.undo.map_or(0, |undo| undo.active);
        self.report.needs_recovery |= active > 0;
        if self.report.needs_recovery && self.engine.is_some() {
            let LogSummary { checkpoint_lsn, end_lsn, pages_to_redo, .. } = self.report.log;
            let what = format!(
                "the directory was not shut down: the next start redoes what is between LSN {checkpoint_lsn} and \
                 {end_lsn}, on {pages_to_redo} pages, which the check has done in memory, and rolls back {active} \
                 transactions"
            );
            self.report.found(Finding::note(Kind::NeedsRecovery, Place::default(), what));
        }
    }

    /// Undo, the dictionary, and the tables.
    fn structures(&mut self, log_spaces: &BTreeSet<SpaceId>, watch: &mut Watch<'_>) -> Result<(), Error> {
        let Some(engine) = self.engine.clone() else { return Ok(()) };
        let (chains, is_undo_whole) = match self.report.level {
            Some(4) => self.undo(&engine, watch)?,
            _ => (BTreeMap::new(), false),
        };
        self.tell_recovery();
        if self.selects_all() {
            self.dictionary(&engine, &chains, is_undo_whole)?;
            self.unknown_files(&engine, log_spaces)?;
        }
        let dictionary = engine.dictionary();
        let selected = dictionary.all_tables().filter(|table| self.config.selects(table));
        let tables: Vec<Arc<Table>> = selected.cloned().collect();
        for table in tables {
            let known = match is_undo_whole {
                true => UndoKnown::Chains(&chains),
                false => UndoKnown::Partly,
            };
            let mut tx = engine.begin(IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
            let how = (&self.config.options, &known, true);
            let mut check = table::check(&engine, &table, &mut tx, how, watch)?;
            self.definition_copy(&engine, &table, &check)?;
            for mut finding in std::mem::take(&mut check.damage) {
                if self.report.level != Some(4) && finding.kind == Kind::IndexRows {
                    finding.severity = Severity::Warning;
                    finding.what.push_str(" (transactions that had not ended could not be told)");
                }
                self.found(finding);
            }
            self.report.more_findings += check.more_damage;
            self.report.is_partial |= check.is_stopped;
            let (schema, name) = (table.schema.clone(), table.name.clone());
            let space = table.first_space_id();
            self.report.tables.push(TableReport { schema, table: name, space, check });
        }
        Ok(())
    }

    fn selects_all(&self) -> bool {
        self.config.schema.is_none() && self.config.table.is_none()
    }

    /// Checks undo. Gives the overflow chains that it speaks of, by space, and whether that is all.
    fn undo(
        &mut self,
        engine: &Arc<Engine>,
        watch: &mut Watch<'_>,
    ) -> Result<(BTreeMap<SpaceId, Vec<PageNo>>, bool), Error> {
        let mut chains: BTreeMap<SpaceId, Vec<PageNo>> = BTreeMap::new();
        let mut count = 0;
        let mut on_chain = |space, first| {
            count += 1;
            if count <= MOST_CHAINS {
                chains.entry(space).or_default().push(first);
            }
        };
        let mut on_pages = |pages| watch(Progress { what: "undo", pages });
        let mut stale = StaleRows::new(self.config.options.deep);
        let mut on_change = |index, key: &[u8], before| stale.look(engine, index, key, before);
        let found = verify_undo(engine.trx.undo().space(), &mut on_chain, &mut on_change, &mut on_pages)?;
        stale.findings(engine).into_iter().for_each(|finding| self.found(finding));
        let UndoReport { segments, records, active, prepared, history, .. } = found;
        let pages = found.pages.len();
        self.report.undo = Some(UndoSummary { segments, pages, records, active, prepared, history });
        let place = Place { file: Some(file_name(UNDO_SPACE)), space: Some(UNDO_SPACE), ..Place::default() };
        for damage in &found.damage {
            let place = place.clone().at(damage.page.page, self.page_size);
            self.found(Finding::damage(Kind::Undo, place, Owner::Undo, damage.what));
        }
        let is_whole = found.damage.is_empty() && count <= MOST_CHAINS;
        self.space_map(&place, found.space.as_ref(), Owner::Undo);
        Ok((chains, is_whole))
    }

    /// What is wrong with the maps of a space that is no table's.
    fn space_map(&mut self, place: &Place, found: Option<&verify::SpaceReport>, owner: Owner) {
        let Some(found) = found else { return };
        for damage in &found.damage {
            let at = place.clone().at(damage.page.page, self.page_size);
            match is_leak(damage) {
                true => {
                    let advice = "nothing need be done: the pages are lost room";
                    self.found(Finding::warning(Kind::LeakedPages, at, damage.what, advice));
                }
                false => self.found(Finding::damage(Kind::SpaceMap, at, owner, damage.what)),
            }
        }
    }

    /// Checks the dictionary's tree and what its rows say.
    fn dictionary(
        &mut self,
        engine: &Arc<Engine>,
        chains: &BTreeMap<SpaceId, Vec<PageNo>>,
        is_undo_whole: bool,
    ) -> Result<(), Error> {
        let file = Some(file_name(SYSTEM_SPACE));
        let place = Place { file, space: Some(SYSTEM_SPACE), ..Place::default() };
        if engine.is_dictionary_rebuilt {
            let reason = self.report.start_error.clone().unwrap_or_default();
            let what = format!("the dictionary cannot be read: {reason}");
            self.found(Finding::damage(Kind::DictionaryUnreadable, place, Owner::Dictionary, what));
            return Ok(());
        }
        let tree = &engine.dictionary_tree;
        let found = verify::verify_tree(tree)?;
        for damage in &found.damage {
            let at = place.clone().at(damage.page.page, self.page_size);
            self.found(Finding::damage(Kind::Tree, at, Owner::Dictionary, damage.what));
        }
        let mut used = PageSet::from_iter([INFO_PAGE]);
        used.insert_all(&found.pages);
        if found.damage.is_empty() && is_undo_whole {
            let mut possible = PageSet::new();
            for (first, len) in table::external_rows(tree)? {
                let chain = verify::verify_chain(tree.space(), first, Some(len as u64))?;
                if let Some(damage) = &chain.damage {
                    let at = place.clone().at(damage.page.page, self.page_size);
                    self.found(Finding::damage(Kind::OverflowChain, at, Owner::Dictionary, damage.what));
                }
                used.extend(chain.pages);
            }
            for first in chains.get(&SYSTEM_SPACE).into_iter().flatten() {
                possible.extend(verify::verify_chain(tree.space(), *first, None)?.pages);
            }
            let space = verify::verify_space_with(tree.space(), &used, &possible)?;
            self.space_map(&place, Some(&space), Owner::Dictionary);
        }
        self.contradictions(engine, &place);
        Ok(())
    }

    /// Ids and spaces that two tables have, or that could be given again.
    fn contradictions(&mut self, engine: &Arc<Engine>, place: &Place) {
        let dictionary = engine.dictionary();
        let (mut ids, mut spaces) = (BTreeMap::new(), BTreeMap::new());
        let next = engine.ids.next();
        for table in dictionary.all_tables() {
            let name = format!("`{}`.`{}`", table.schema, table.name);
            let own = table.def().trees().map(|tree| tree.id).chain([table.id]);
            let own = own.chain(table.spaces().map(|space| u64::from(space.0)));
            for id in own.filter(|id| *id >= next) {
                let what = format!("{name} has the number {id}, which the dictionary would give again");
                self.found(Finding::damage(Kind::DictionaryEntry, place.clone(), Owner::Dictionary, what));
            }
            for id in table.def().trees().map(|tree| tree.id) {
                if let Some(other) = ids.insert(id, name.clone()) {
                    let what = format!("{name} and {other} have an index of the same number, {id}");
                    self.found(Finding::damage(
                        Kind::DictionaryEntry,
                        place.clone(),
                        Owner::Dictionary,
                        what,
                    ));
                }
            }
            for space in table.spaces() {
                let Some(other) = spaces.insert(space, name.clone()) else { continue };
                let what = format!("{name} and {other} are in the same file, {}", file_name(space));
                self.found(Finding::damage(Kind::DictionaryEntry, place.clone(), Owner::Dictionary, what));
            }
        }
    }

    /// Files that no table has.
    fn unknown_files(&mut self, engine: &Arc<Engine>, log_spaces: &BTreeSet<SpaceId>) -> Result<(), Error> {
        let dictionary = engine.dictionary();
        let known: BTreeSet<SpaceId> =
            dictionary.all_tables().flat_map(|table| table.spaces().collect::<Vec<_>>()).collect();
        let owned = |space: &SpaceId| *space == SYSTEM_SPACE || *space == UNDO_SPACE || known.contains(space);
        for space in self.files.list_spaces()?.into_iter().filter(|space| !owned(space)) {
            let place = Place { file: Some(file_name(space)), space: Some(space), ..Place::default() };
            match engine.is_dictionary_rebuilt {
                true => self.found(Finding {
                    lost: "the table in this file, as far as it is not known otherwise",
                    advice: "keep the file: a start with innodb_force_recovery renames it to .pal.damaged",
                    ..Finding::damage(
                        Kind::FileUnknown,
                        place,
                        Owner::Unknown,
                        "the file does not say which table it is",
                    )
                }),
                false => {
                    let when = match self.report.needs_recovery || log_spaces.contains(&space) {
                        true => "left over from a CREATE or DROP that the crash has cut off",
                        false => "belongs to no table",
                    };
                    let what = format!("the file is {when}; the next start removes it");
                    self.found(Finding::note(Kind::FileUnknown, place, what));
                }
            }
        }
        let aside = self.fs.list(&self.files.spaces_dir())?.into_iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            name.contains(".pal.damaged").then_some(name)
        });
        for name in aside.collect::<Vec<_>>() {
            let place = Place { file: Some(format!("spaces/{name}")), ..Place::default() };
            let what = "a damaged file that an earlier start has set aside; it was not checked";
            self.found(Finding::note(Kind::FileUnknown, place, what));
        }
        Ok(())
    }

    /// Compares the copy of the definition in a table's file with the dictionary's.
    fn definition_copy(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        check: &TableCheck,
    ) -> Result<(), Error> {
        let dictionary = engine.dictionary();
        let Some(schema) = dictionary.schema(&table.schema).filter(|_| table.runtime().is_usable()) else {
            return Ok(());
        };
        for number in 0..table.partition_count() {
            self.compare_copy(number, schema, table, check)?;
        }
        Ok(())
    }

    /// The same of the file of one of its partitions.
    fn compare_copy(
        &mut self,
        number: usize,
        schema: &Schema,
        table: &Arc<Table>,
        check: &TableCheck,
    ) -> Result<(), Error> {
        let space = table.partition(number)?.space();
        let what = match definition_copy::read(space) {
            // By what it says: earlier versions have written the same in other bytes.
            Ok(Some(bytes)) => match definition_copy::decode(&bytes) {
                Ok(found) if found == DefinitionCopy::of(schema, table.def(), number) => return Ok(()),
                _ => "the copy of the table's definition in its file is not the dictionary's".to_owned(),
            },
            Ok(None) => "the table's file has no copy of the table's definition".to_owned(),
            Err(error) if error.is_damage() => format!("the copy of the table's definition: {error}"),
            Err(error) => return Err(error),
        };
        let place = Place {
            file: Some(file_name(space.id())),
            space: Some(space.id()),
            schema: Some(table.schema.clone()),
            table: Some(table.name.clone()),
            ..Place::default()
        };
        let advice =
            "start the server, which writes it again; it is needed only if the dictionary is damaged";
        let mut finding =
            Finding::warning(Kind::DefinitionCopy, place.at(INFO_PAGE, self.page_size), what, advice);
        if self.report.needs_recovery && check.damage.is_empty() {
            finding.severity = Severity::Note;
        }
        self.found(finding);
        Ok(())
    }

    /// Reads every file from front to back.
    fn pages(&mut self, watch: &mut Watch<'_>) -> Result<(), Error> {
        let io = IoPool::new(self.config.io_threads.max(1), Waiting::Threads)?;
        let end_lsn = (!self.report.log.is_damaged && self.report.log.end_lsn > Lsn::ZERO)
            .then_some(self.report.log.end_lsn);
        let expected = Expected { end_lsn, check: check_page, size: self.page_size };
        let tables: BTreeMap<SpaceId, Arc<Table>> = match &self.engine {
            Some(engine) => {
                let dictionary = engine.dictionary();
                let of = |table: &Arc<Table>| {
                    table.spaces().map(|space| (space, table.clone())).collect::<Vec<_>>()
                };
                dictionary.all_tables().flat_map(of).collect()
            }
            None => BTreeMap::new(),
        };
        for space in self.files.list_spaces()? {
            let table = tables.get(&space);
            let is_selected = match table {
                Some(table) => self.config.selects(table),
                None => self.selects_all() || self.engine.is_none(),
            };
            if !is_selected {
                continue;
            }
            let mut summary = FileSummary {
                file: file_name(space),
                space,
                table: table.map(|table| (table.schema.clone(), table.name.clone())),
                ..FileSummary::default()
            };
            if let Some(error) =
                self.engine.as_ref().and_then(|engine| engine.remade_maps.get(&space)).cloned()
            {
                self.lost_map(space, table, &error);
            }
            let suspects = match self.places_of(space)? {
                None => {
                    let file = self.fs.open(&self.files.space_path(space), OpenMode::EXISTING.read_only())?;
                    pages::scan(&file, &io, expected, &mut summary, watch)?
                }
                Some(Ok(store)) => pages::scan_placed(&store, expected, &mut summary, watch),
                Some(Err(error)) => {
                    self.lost_map(space, table, &error);
                    continue;
                }
            };
            for suspect in suspects {
                self.suspect(space, table, suspect)?;
            }
            if summary.odd_bytes > 0 {
                let what = format!("{} bytes behind the last whole page", summary.odd_bytes);
                let place = Place { file: Some(file_name(space)), space: Some(space), ..Place::default() };
                self.found(Finding::note(Kind::FileLength, place, what));
            }
            self.report.files.push(summary);
        }
        self.doublewrite(&io)?;
        io.shutdown();
        Ok(())
    }

    /// Where the pages of a space are that is written out of place: as recovery has found, if the space could
    /// be opened, else as its map says.
    fn places_of(
        &self,
        space: SpaceId,
    ) -> Result<Option<Result<Arc<PlaceStore>, palisade_buffer::Error>>, Error> {
        let opened = self.engine.as_ref().and_then(|engine| engine.pool.space(space));
        if let Some(store) = opened.as_ref().and_then(|space| space.places()) {
            return Ok(Some(Ok(store.clone())));
        }
        let path = self.files.map_path(space);
        if !self.fs.exists(&path)? {
            return Ok(None);
        }
        let mode = OpenMode::EXISTING.read_only();
        let pages = self.fs.open(&self.files.space_path(space), mode)?;
        Ok(Some(PlaceStore::open(space, pages, self.fs.open(&path, mode)?, self.page_size)))
    }

    fn lost_map(&mut self, space: SpaceId, table: Option<&Arc<Table>>, error: &palisade_buffer::Error) {
        self.found(Finding::damage(Kind::Map, place_in(space, table), Owner::FirstPages, error.to_string()));
    }

    /// Says what a page that is not as it was written means.
    fn suspect(&mut self, space: SpaceId, table: Option<&Arc<Table>>, suspect: Suspect) -> Result<(), Error> {
        let place = place_in(space, table).at(suspect.page, self.page_size);
        let (kind, what) = match suspect.what {
            What::Bytes(what @ palisade_buffer::Corruption::WrongPage { .. }) => {
                (Kind::PageIdentity, what.to_string())
            }
            What::Bytes(what) => (Kind::PageChecksum, what.to_string()),
            What::Content(what) => (Kind::PageContent, what.to_owned()),
            What::Lsn(lsn) => (Kind::PageLsn, format!("was changed at LSN {lsn}, after the redo log's end")),
            What::Unreadable => (Kind::PageChecksum, "cannot be read from the disk".to_owned()),
        };
        if self.named.contains(&(space, suspect.page)) {
            self.explain(space, suspect.page, &what);
            return Ok(());
        }
        match self.state_of(space, suspect) {
            PageState::Free => {
                let advice =
                    "nothing is lost; but the disk has changed what was written to it: look after it";
                let what = format!("a page that nothing uses {what}");
                self.found(Finding::warning(Kind::FreePage, place, what, advice));
            }
            PageState::Restored => {
                let what = format!("the page {what}; recovery makes it whole");
                self.found(Finding::note(Kind::PageRestored, place, what));
            }
            PageState::Damaged => {
                let (owner, index) = owner_of(space, table, suspect);
                self.found(Finding::damage(kind, Place { index, ..place }, owner, what));
            }
        }
        Ok(())
    }

    /// Adds what is wrong with a page's bytes to the finding that says that it cannot be read.
    fn explain(&mut self, space: SpaceId, page: PageNo, what: &str) {
        let is_it = |finding: &&mut Finding| {
            finding.place.space == Some(space)
                && finding.place.page == Some(page)
                && finding.what.ends_with("unreadable")
        };
        if let Some(finding) = self.report.findings.iter_mut().find(is_it) {
            finding.what = format!("{}: {what}", finding.what);
        }
    }

    /// What a page is after recovery.
    fn state_of(&self, id: SpaceId, suspect: Suspect) -> PageState {
        let Some(engine) = &self.engine else { return PageState::Damaged };
        let is_replaced = id == SYSTEM_SPACE && engine.is_dictionary_rebuilt
            || id == UNDO_SPACE && self.report.level != Some(4);
        let Some(space) = engine.pool.space(id).filter(|_| !is_replaced) else { return PageState::Damaged };
        let is_in_use = retry_blocking(|| alloc::is_in_use(&space, suspect.page));
        if is_in_use.is_ok_and(|in_use| !in_use) {
            return PageState::Free;
        }
        let is_of_the_future = matches!(suspect.what, What::Lsn(_));
        match is_whole(&space, suspect.page) && !is_of_the_future {
            true => PageState::Restored,
            false => PageState::Damaged,
        }
    }

    /// Reads the doublewrite files of the data directory.
    fn doublewrite(&mut self, io: &IoPool) -> Result<(), Error> {
        for path in doublewrite::files_in(&*self.fs, &self.config.datadir)? {
            self.copies(&path, io)?;
        }
        Ok(())
    }

    fn copies(&mut self, path: &Path, io: &IoPool) -> Result<(), Error> {
        let file = self.fs.open(path, OpenMode::EXISTING.read_only())?;
        let Some(begin) = doublewrite::copies_begin(path, &*file, self.page_size)? else { return Ok(()) };
        let copies = pages::scan_copies(&file, begin, self.page_size, io)?;
        if copies.torn > 0 {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            let place = Place { file: name, ..Place::default() };
            let what = format!(
                "{} of {} copies are not whole; a copy is needed only while its page is being written",
                copies.torn, copies.written
            );
            self.found(Finding::note(Kind::DoublewriteCopy, place, what));
        }
        Ok(())
    }
}

enum PageState {
    /// Nothing uses it.
    Free,
    /// It is whole once recovery has run.
    Restored,
    Damaged,
}

fn is_whole(space: &Space, page: PageNo) -> bool {
    retry_blocking(|| space.shared(page).map(drop)).is_ok()
}

/// Whose a page is, as far as its table and its own header tell; and the index.
fn owner_of(space: SpaceId, table: Option<&Arc<Table>>, suspect: Suspect) -> (Owner, Option<String>) {
    let found = table.zip(suspect.node).and_then(|(table, (id, level))| {
        let number = table.number_of(id)?;
        let owner = if number == 0 { Owner::Clustered(level) } else { Owner::Secondary };
        Some((owner, table.indexes.get(number).map(|index| index.name.clone())))
    });
    match space {
        SYSTEM_SPACE => (Owner::Dictionary, None),
        UNDO_SPACE => (Owner::Undo, None),
        _ if suspect.page <= INFO_PAGE => (Owner::FirstPages, None),
        _ => found.unwrap_or((Owner::Unknown, None)),
    }
}

impl CheckConfig {
    fn selects(&self, table: &Table) -> bool {
        self.schema.as_ref().is_none_or(|schema| *schema == table.schema)
            && self.table.as_ref().is_none_or(|name| *name == table.name)
    }
}

/// A space's file, and its table if it has one.
fn place_in(space: SpaceId, table: Option<&Arc<Table>>) -> Place {
    Place {
        file: Some(file_name(space)),
        space: Some(space),
        schema: table.map(|table| table.schema.clone()),
        table: table.map(|table| table.name.clone()),
        ..Place::default()
    }
}

/// A space's file, relative to the data directory.
pub(super) fn file_name(space: SpaceId) -> String {
    format!("spaces/{:06}.pal", space.0)
}
