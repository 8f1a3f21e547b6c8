//! Opening a data directory: making a new one, or recovering what a crash or a shutdown has left.
//!
//! ```text
//! lock the directory ─► repair torn pages ─► redo ─► undo space: who was in flight, what is history
//!     ─► dictionary, as committed ─► remove files that no row names ─► serve; roll back and purge meanwhile
//! ```

use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use palisade_base::event::retry_blocking;
use palisade_base::monitor::Monitors;
use palisade_base::{Blocked, Event, Lsn, PageId, PageNo, SpaceId};
use palisade_btree::mtr::{MAX_ALLOCATION_BYTES, OP_OVERHEAD};
use palisade_btree::recovery::OnDamage;
use palisade_btree::{Mtr, Tree, alloc, recovery};
use palisade_buffer::places::{self, RecoverError};
use palisade_buffer::{BufferConfig, BufferPool, Corruption, Page, PageRead, PageSize, Space};
use palisade_catalog::{Schema, TableDef, ViewDef};
use palisade_io::{FileSystem, IoPool, ScratchFileSystem, Waiting};
use palisade_log::{Log, LogConfig, LogReader};
use palisade_txn::undo::segment::UNDO_SPACE;
use palisade_txn::{Trx, TrxSystem};

use crate::background::Background;
use crate::build::free_loose_trees;
use crate::config::EngineConfig;
use crate::dictionary::{Change, DICTIONARY_INDEX, Dictionary, RowKind, row_kind};
use crate::engine::{Engine, Finder, Registry, all_metrics, log_buffer_bytes, writer_threads};
use crate::files::{Files, Found};
use crate::info::{self, Counter, Field};
use crate::lost_maps::{RemadeMaps, open_with_map};
use crate::metadata::MetadataLocks;
use crate::missing::{MissingFile, Orphaned};
use crate::pool_dump::PoolDump;
use crate::purge_lag::PurgeLag;
use crate::rebuild::{self, Rebuilt};
use crate::removal::Removals;
use crate::sinks::{Sinks, repair_torn};
use crate::store::RowStore;
use crate::table::{Damage, Runtime, Table};
use crate::temporary::TemporaryFiles;
use crate::temporary_table::TemporaryTables;
use crate::xa::XaTable;
use crate::{Error, FlushMethod, ForceRecovery, compression, temporary};

/// The space of the dictionary.
pub(crate) const SYSTEM_SPACE: SpaceId = SpaceId(0);
/// Ids below belong to the engine itself.
pub(crate) const FIRST_ID: u64 = 16;
/// Statements of data definition that can run at once.
const DDL_THREADS: usize = 4;
/// The buffer pool's size, in multiples of what the lock table may take.
const POOL_PER_LOCKS: u64 = 2;
/// The fewest frames of a buffer pool.
const LEAST_FRAMES: u64 = 64;
/// Tables whose first pages are read while those of as many others are looked at.
const TABLES_AHEAD: usize = 32;
/// Where the log begins.
const FIRST_LSN: Lsn = Lsn(8192);
/// Where a log begins that takes the place of one of which nothing is known: no page has been stamped with
/// such an LSN.
const BEYOND_THE_LOG: Lsn = Lsn(1 << 60);

/// The floors below, running. Dropped in this order: whoever writes pages has ended when the log does.
pub(crate) struct Base {
    pub(crate) config: EngineConfig,
    pub(crate) files: Files,
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) sinks: Sinks,
    /// Spaces of which it cannot be known where their pages are.
    lost_places: HashMap<SpaceId, palisade_buffer::Error>,
    remade_maps: RemadeMaps,
    io: Arc<IoPool>,
    pub(crate) log: OwnLog,
}

impl Base {
    /// Makes the file of a space, durably, and attaches it.
    pub(crate) fn create_space(&self, space: SpaceId) -> Result<Arc<Space>, Error> {
        let file = self.files.create_space(space)?;
        Ok(self.sinks.attach(&self.pool, space, file)?)
    }
}

/// The log, whose threads end with its owner.
pub(crate) struct OwnLog(Arc<Log>);

impl Deref for OwnLog {
    type Target = Arc<Log>;

    fn deref(&self) -> &Arc<Log> {
        &self.0
    }
}

impl Drop for OwnLog {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Engine {
    /// Opens the data directory, creating or recovering it. Blocks. Transactions that were in flight at a
    /// crash are rolled back in the background afterwards, except those that are [prepared](crate::xa).
    /// Refuses a directory that another engine has open.
    pub fn open(config: EngineConfig, fs: Arc<dyn FileSystem>) -> Result<Arc<Engine>, Error> {
        fs.create_dir_all(&config.datadir)?;
        let directory = fs.lock_dir(&config.datadir).map_err(|error| {
            Error::Unusable(format!("cannot use data directory {}: {error}", config.datadir.display()))
        })?;
        let force = config.force_recovery;
        let disk = fs.clone();
        let fs: Arc<dyn FileSystem> = match force >= ForceRecovery::ReadOnly {
            true => Arc::new(ScratchFileSystem::without_lock(fs)),
            false => fs,
        };
        let mut files = Files::new(fs, &config.datadir, config.flush_method);
        files.disk = disk;
        let (base, trx, in_flight, orphaned) = match files.look()? {
            Found::Data(size) => {
                check_page_size(&config, &files, size)?;
                recover(config, files)?
            }
            Found::Foreign if force.is_on() && files.looks_like_data()? => {
                tracing::warn!(
                    "{} does not say that it is a data directory, and is taken for one",
                    files.datadir.display()
                );
                let Some(size) = files.page_size_of_pages()? else {
                    return Err(Error::Unusable(format!(
                        "{} does not say what size its pages have, nor do the first pages of the dictionary",
                        files.datadir.display()
                    )));
                };
                check_page_size(&config, &files, size)?;
                files.write_marker(size)?;
                recover(config, files)?
            }
            Found::Nothing => {
                let (base, trx) = create(config, files)?;
                (base, trx, Vec::new(), Orphaned::default())
            }
            Found::Format(format) => return Err(files.is_of_format(format)),
            Found::Foreign => {
                return Err(Error::Unusable(format!(
                    "{} holds something else than a data directory of this version",
                    config.datadir.display()
                )));
            }
        };
        let registry = Registry::new(base.pool.clone());
        trx.set_trees(Box::new(Finder(registry.clone())));
        trx.locks().set_memory_limit(lock_memory(base.config.buffer_pool_size));
        let found = find_dictionary(&base, &trx, &registry)?;
        let FoundDictionary { system, tree: dictionary_tree, schemas, defs, views, is_rebuilt } = found;
        let (first_id, had_redo) = (rebuild::first_unused_id(&defs), orphaned.had_redo);
        orphaned.settle(&defs, &base.files, &base.lost_places, force.is_on())?;
        let dictionary = open_tables(&base, schemas, defs, views, &registry)?;
        if !force.is_on() {
            remove_orphans(&base, &dictionary, had_redo)?;
        }

        if let Err(error) = temporary::sweep(&base.files) {
            tracing::warn!("temporary files of the last run cannot be removed: {error}");
        }
        let metadata = Arc::new(MetadataLocks::default());
        let monitors = Monitors::new(all_metrics(), base.config.clock.unix_micros() / 1_000_000);
        let engine = Arc::new(Engine {
            monitors,
            flush_at_commit: AtomicU8::new(base.config.flush_at_commit as u8),
            // The page may be wrong: what has an id keeps it for itself.
            ids: Counter::open(&system, Field::NextId, first_id)?,
            removals: Removals::default(),
            ddl: if base.config.background {
                IoPool::new(DDL_THREADS, Waiting::Threads)?
            } else {
                IoPool::inline()
            },
            config: base.config,
            files: base.files,
            log: base.log,
            pool: base.pool,
            sinks: base.sinks,
            remade_maps: base.remade_maps,
            io: base.io,
            trx,
            background: Background::new(metadata.clone(), registry.clone()),
            registry,
            dictionary: ArcSwap::from_pointee(dictionary),
            dictionary_tree,
            metadata,
            deadlock_observer: OnceLock::new(),
            xa: XaTable::default(),
            pool_dump: PoolDump::default(),
            purge_lag: PurgeLag::default(),
            temporary: TemporaryFiles::default(),
            temporary_tables: TemporaryTables::default(),
            is_dictionary_doubtful: AtomicBool::new(false),
            is_dictionary_rebuilt: is_rebuilt,
            passes_damage: AtomicBool::new(force.is_on()),
            damage_passed: AtomicU64::new(0),
            _directory: directory,
        });
        engine.watch_deadlocks();
        for trx in in_flight {
            if trx.prepared().is_some() {
                engine.adopt_prepared(trx)?;
                continue;
            }
            if force < ForceRecovery::NoRollback {
                engine.metadata.pin_any(trx.session());
            }
            engine.background.abandon(trx);
        }
        engine.set_undo_kept(engine.config.undo_kept);
        engine.set_undo_reserve(engine.config.undo_reserve);
        engine.start_background()?;
        if !force.is_on() {
            engine.refresh_copies();
            engine.refill_reserve();
        }
        Ok(engine)
    }

    fn start_background(&self) -> Result<(), Error> {
        let EngineConfig { purge_threads, force_recovery: force, .. } = self.config;
        let purgers = if force < ForceRecovery::NoPurge { purge_threads } else { 0 };
        let rolls_back = purge_threads > 0 && force < ForceRecovery::NoRollback;
        self.background.start(&self.trx, &self.pool, purgers, rolls_back)
    }
}

/// Whether the content of a page can be, whichever floor it belongs to.
pub(crate) fn check_page(page: &Page) -> Result<(), &'static str> {
    palisade_btree::verify::check_page(page).or_else(|| palisade_txn::undo::page::check_page(page)).unwrap_or(
        match page.page_type() {
            info::INFO_TYPE => Ok(()),
            _ => Err("unknown type of page"),
        },
    )
}

/// The dictionary, as it is stored.
struct FoundDictionary {
    system: Arc<Space>,
    tree: Tree,
    schemas: Vec<Schema>,
    defs: Vec<TableDef>,
    views: Vec<ViewDef>,
    is_rebuilt: bool,
}

/// Reads the dictionary, or makes it again if it is damaged and that may be.
fn find_dictionary(base: &Base, trx: &Arc<TrxSystem>, registry: &Registry) -> Result<FoundDictionary, Error> {
    let read = || {
        let system = attached(base, SYSTEM_SPACE)?;
        retry_blocking(|| alloc::open_space(&system))?;
        let tree = Tree::open(base.log.clone(), system.clone(), rebuild::root_of(&system)?, DICTIONARY_INDEX);
        registry.add(0, [&tree]);
        let DictionaryRows { schemas, tables: defs, views } = read_dictionary(trx, &tree)?;
        Ok::<_, Error>(FoundDictionary { system, tree, schemas, defs, views, is_rebuilt: false })
    };
    match read() {
        Err(error) if error.is_damage() && base.config.force_recovery.is_on() => {
            tracing::error!("the dictionary cannot be read: {error}");
            registry.remove_table(0);
            let Rebuilt { system, tree, schemas, tables: defs } = rebuild::dictionary(base)?;
            Ok(FoundDictionary { system, tree, schemas, defs, views: Vec::new(), is_rebuilt: true })
        }
        Err(error) if error.is_damage() => Err(Error::Unusable(format!(
            "the dictionary ({}) cannot be read: {error}; innodb_force_recovery=1 makes it again from the tables' own files",
            base.files.space_path(SYSTEM_SPACE).display()
        ))),
        found => found,
    }
}

/// Refuses a directory whose pages have `found` bytes if others are asked for.
fn check_page_size(config: &EngineConfig, files: &Files, found: PageSize) -> Result<(), Error> {
    match found == config.page_size {
        true => Ok(()),
        false => Err(Error::Unusable(format!(
            "Data file '{}' uses page size {found}, but the innodb_page_size start-up parameter is {}",
            files.space_path(SYSTEM_SPACE).display(),
            config.page_size
        ))),
    }
}

fn log_config(config: &EngineConfig) -> LogConfig {
    let default = LogConfig::default();
    LogConfig {
        background: config.background,
        on_failure: config.on_fatal.clone().unwrap_or(default.on_failure.clone()),
        log_id: config.clock.unix_micros() as u64,
        capacity: config.redo_log_capacity,
        buffer_size: log_buffer_bytes(config.log_buffer_size),
        block_size: config.log_write_ahead_size as usize,
        background_flush_interval_ms: config.flush_log_at_timeout.as_millis() as u64,
        writer_placement: config.log_writer_placement.clone(),
        flusher_placement: config.log_flusher_placement.clone(),
        direct: config.flush_method.is_direct(),
        syncing: config.flush_method.log_syncing(),
        syncs_before_checkpoint: config.flush_method == FlushMethod::ODirectNoFsync,
        writer_threads: writer_threads(config.log_writer_threads),
        clock: config.clock.clone(),
        ..default
    }
}

/// Bytes that the lock table may take beside a buffer pool of so many.
pub(crate) fn lock_memory(buffer_pool_size: u64) -> u64 {
    buffer_pool_size / POOL_PER_LOCKS
}

/// Frames of a pool of so many bytes.
pub(crate) fn frames_of(bytes: u64, size: PageSize) -> usize {
    (bytes / size.bytes() as u64).max(LEAST_FRAMES) as usize
}

fn start_pool(
    config: &EngineConfig,
    sinks: &Sinks,
    log: &Arc<Log>,
) -> Result<(Arc<BufferPool>, Arc<IoPool>), Error> {
    let io = Arc::new(match config.background {
        true => IoPool::with_writers(config.io_threads.max(1), config.write_io_threads, config.io_waiting)?,
        false => IoPool::inline(),
    });
    let mut pool = BufferConfig::new(frames_of(config.buffer_pool_size, config.page_size));
    pool.page_size = config.page_size;
    pool.most_frames = frames_of(config.buffer_pool_most, config.page_size).max(pool.frames);
    pool.lru_scan_depth = config.lru_scan_depth as u32;
    pool.page_cleaners = config.page_cleaners.max(1);
    pool.batch_pages = sinks.batch_pages();
    pool.flushing = config.flushing;
    pool.read_ahead = config.read_ahead;
    pool.check = check_page;
    pool.blank = palisade_btree::blank::blank_unused;
    pool.apply = Some(palisade_btree::op::apply_all);
    pool.kept_share = config.kept_share;
    pool.has_hints = config.adaptive_hash_index;
    pool.hint_parts = config.adaptive_hash_index_parts;
    pool.clock = config.clock.clone();
    if let Some(on_fatal) = &config.on_fatal {
        pool.on_fatal = on_fatal.clone();
    }
    Ok((BufferPool::new(pool, log.clone(), io.clone())?, io))
}

fn attached(base: &Base, space: SpaceId) -> Result<Arc<Space>, Error> {
    let path = base.files.space_path(space);
    base.pool.space(space).ok_or_else(|| Error::Unusable(format!("the file {} is missing", path.display())))
}

/// Makes a new data directory.
fn create(config: EngineConfig, files: Files) -> Result<(Base, Arc<TrxSystem>), Error> {
    files.make_directories()?;
    let log = OwnLog(Log::create(files.fs.clone(), &files.log_dir(), log_config(&config), FIRST_LSN)?);
    let sinks = Sinks::open(&config, &files, &log)?;
    let (pool, io) = start_pool(&config, &sinks, &log)?;
    if config.background {
        pool.start()?;
    }
    let attach =
        |space| -> Result<Arc<Space>, Error> { Ok(sinks.attach(&pool, space, files.create_space(space)?)?) };
    let system = attach(SYSTEM_SPACE)?;
    info::format(&log, &system)?;
    let root = create_tree(&log, &system, DICTIONARY_INDEX)?;
    retry_blocking(|| info::write(&log, &system, Field::DictionaryRoot, root.0.into()))?;
    let undo = attach(UNDO_SPACE)?;
    retry_blocking(|| alloc::format_space(&log, &undo))?;
    let trx = TrxSystem::create(log.clone(), undo, config.clock.clone())?;
    log.flush_blocking(log.tail())?;
    files.write_marker(config.page_size)?;
    let (lost_places, remade_maps) = Default::default();
    Ok((Base { config, files, pool, sinks, lost_places, remade_maps, io, log }, trx))
}

/// Makes an empty tree. Blocks.
pub(crate) fn create_tree(log: &Arc<Log>, space: &Arc<Space>, index: u64) -> Result<PageNo, Error> {
    let root = retry_blocking(|| {
        let mut mtr = Mtr::begin_in(space, log, MAX_ALLOCATION_BYTES + OP_OVERHEAD)?;
        let mut reservation = alloc::reserve(&mut mtr, space, PageNo::NONE, 1)?;
        let root = Tree::create(&mut mtr, &mut reservation, index);
        mtr.commit(|_| {});
        Ok::<_, Blocked<palisade_btree::Error>>(root)
    })?;
    Ok(root)
}

/// Waits for an event, or brings it about where there are no threads that do.
pub(crate) fn wait_or_step<E: From<palisade_buffer::Error>>(
    config: &EngineConfig,
    pool: &BufferPool,
    event: &Event,
) -> Result<(), E> {
    match config.background {
        true => event.wait_blocking(),
        false => {
            pool.step()?;
        }
    }
    Ok(())
}

/// Brings a data directory to the state of the end of its log.
fn recover(config: EngineConfig, files: Files) -> Result<(Base, Arc<TrxSystem>, Vec<Trx>, Orphaned), Error> {
    let force = config.force_recovery;
    files.sync_names()?;
    let (log, reader) = open_log(&config, &files)?;
    let log = OwnLog(log);
    let mut open_files = HashMap::new();
    let reads_undo = force < ForceRecovery::NoUndo;
    let (mut placed, mut remade_maps) = (Vec::new(), RemadeMaps::new());
    for space in files.list_spaces()?.into_iter().filter(|space| reads_undo || *space != UNDO_SPACE) {
        let opened = match force.is_on() {
            true => open_with_map(&files, space, config.page_size, &mut remade_maps)?,
            false => files.open_space(space)?,
        };
        match opened {
            Some(file) if file.map.is_some() => placed.push((space, file)),
            Some(file) => drop(open_files.insert(space, file.pages)),
            None => {}
        }
    }
    repair_torn(&config, &files, &log, &mut |space| open_files.get(&space).cloned())?;
    let sinks = Sinks::open(&config, &files, &log)?;
    let (pool, io) = start_pool(&config, &sinks, &log)?;
    if config.background {
        pool.start()?;
    }
    for (space, file) in open_files {
        sinks.attach(&pool, space, file)?;
    }
    let mut lost_places =
        sinks.attach_placed(&pool, &log, reader.as_ref(), placed).map_err(|error| match error {
            RecoverError::Log(error) => name_level(error),
            error @ RecoverError::BadRecord { .. } => Error::Unusable(error.to_string()),
        })?;
    let threads = match config.background {
        true => std::thread::available_parallelism().map_or(1, usize::from),
        false => 1,
    };
    let wait = |event: &Event| wait_or_step(&config, &pool, event);
    let mut orphaned = Orphaned::default();
    if let Some(mut reader) = reader {
        let mut find = |space| {
            let mut found = pool.space(space);
            if found.as_deref().is_some_and(lacks_its_map) {
                pool.detach_space(space);
                let (page, reason) = (PageId { space, page: PageNo(0) }, Corruption::NoPlaces);
                lost_places.insert(space, palisade_buffer::Error::Corrupted { page, reason });
                found = None;
            }
            if found.is_none() && space != UNDO_SPACE {
                orphaned.note(space, &log);
            }
            Ok(found)
        };
        let on_damage = if force.is_on() { OnDamage::GiveUp } else { OnDamage::Fail };
        let applied = recovery::apply(&mut reader, threads, &mut find, on_damage, &wait);
        let recovered = applied.map_err(|error| match error {
            palisade_btree::Error::Log(error) => name_level(error),
            error => name_file(error.into(), &files),
        })?;
        orphaned.had_redo = recovered.mtrs > 0;
        if recovered.given_up > 0 {
            tracing::error!("damaged pages whose redo was given up: {}", recovered.given_up);
        }
        if let Some(loss) = reader.loss() {
            tracing::error!(
                "the redo log is damaged at LSN {}: what was changed from there on is lost, up to LSN {} at least ({})",
                loss.from,
                loss.known_to,
                loss.reason
            );
        }
        sinks.redone();
        if !config.background {
            pool.step()?;
        }
        log.start_after_recovery(reader)?;
    }
    let base = Base { config, files, pool, sinks, lost_places, remade_maps, io, log };
    let (trx, in_flight) = open_undo(&base)?;
    Ok((base, trx, in_flight, orphaned))
}

/// Whether the space is one that is written out of place, and its map is gone: nothing may be written to
/// where its pages would be if they were in order.
fn lacks_its_map(space: &Space) -> bool {
    space.places().is_none()
        && places::header_of(&**space.file()).is_ok_and(|found| found == Some(space.id()))
}

/// Opens the log. One that cannot be opened is replaced by an empty one, if damage of it is accepted: then
/// there is nothing to redo.
fn open_log(config: &EngineConfig, files: &Files) -> Result<(Arc<Log>, Option<LogReader>), Error> {
    let accepts_damage = config.force_recovery >= ForceRecovery::AcceptLogDamage;
    match Log::open(files.fs.clone(), &files.log_dir(), log_config(config)) {
        Ok((log, mut reader)) => {
            if accepts_damage {
                reader.accept_damage();
            }
            Ok((log, Some(reader)))
        }
        Err(error) if accepts_damage => {
            tracing::error!("nothing is redone, because the redo log cannot be opened: {error}");
            for file in files.fs.list(&files.log_dir())? {
                files.fs.remove(&file)?;
            }
            let log = Log::create(files.fs.clone(), &files.log_dir(), log_config(config), BEYOND_THE_LOG)?;
            Ok((log, None))
        }
        Err(error) => Err(name_level(error)),
    }
}

/// An error of the redo log, with what lets the server start if it is damage.
fn name_level(error: palisade_log::Error) -> Error {
    let is_damage = matches!(error, palisade_log::Error::Corrupted { .. });
    let error = Error::from(error);
    match is_damage {
        true => Error::Unusable(format!(
            "{error}; innodb_force_recovery=6 ends the redo log in front of the damage"
        )),
        false => error,
    }
}

/// Opens undo, or does without.
fn open_undo(base: &Base) -> Result<(Arc<TrxSystem>, Vec<Trx>), Error> {
    let clock = base.config.clock.clone();
    if base.config.force_recovery >= ForceRecovery::NoUndo {
        base.files.set_aside(UNDO_SPACE)?;
        let undo = base.create_space(UNDO_SPACE)?;
        retry_blocking(|| alloc::format_space(&base.log, &undo))?;
        return Ok((TrxSystem::create_without_past(base.log.clone(), undo, clock)?, Vec::new()));
    }
    let open = || {
        let undo = attached(base, UNDO_SPACE)?;
        retry_blocking(|| alloc::open_space(&undo))?;
        Ok(TrxSystem::open(base.log.clone(), undo, clock)?)
    };
    open().map_err(|error: Error| match error.is_damage() {
        true => Error::Unusable(format!(
            "the undo space ({}) cannot be read: {error}; innodb_force_recovery=5 lets the tables be read without it",
            base.files.space_path(UNDO_SPACE).display()
        )),
        false => error,
    })
}

/// An error of recovery, with the file's name.
fn name_file(error: Error, files: &Files) -> Error {
    match error {
        Error::Corrupted { space, page, what } => {
            let path = files.space_path(space);
            let number = page.0;
            Error::Unusable(format!(
                "the redo log cannot be applied to page {number} of {}: {what}; innodb_force_recovery=1 gives the page up",
                path.display()
            ))
        }
        other => other,
    }
}

/// The rows of the dictionary, by kind.
#[derive(Default)]
struct DictionaryRows {
    schemas: Vec<Schema>,
    tables: Vec<TableDef>,
    views: Vec<ViewDef>,
}

/// What has been committed. Nothing is written.
fn read_dictionary(system: &Arc<TrxSystem>, tree: &Tree) -> Result<DictionaryRows, Error> {
    let rows = RowStore::new(tree).read_all(system)?;
    let mut found = DictionaryRows::default();
    for (key, row) in rows {
        match row_kind(&key) {
            Some(RowKind::Schema) => found.schemas.push(Schema::from_bytes(&row)?),
            Some(RowKind::Table) => found.tables.push(TableDef::from_bytes(&row)?),
            Some(RowKind::View) => found.views.push(ViewDef::from_bytes(&row)?),
            None => return Err(Error::Inconsistent("a dictionary row of unknown kind".to_owned())),
        }
    }
    Ok(found)
}

fn open_tables(
    base: &Base,
    schemas: Vec<Schema>,
    defs: Vec<TableDef>,
    views: Vec<ViewDef>,
    registry: &Registry,
) -> Result<Dictionary, Error> {
    let schemas: Vec<_> = schemas.into_iter().map(|schema| Change::PutSchema(Arc::new(schema))).collect();
    let mut tables = Vec::new();
    let mut ahead = defs.iter().flat_map(TableDef::spaces).collect::<Vec<_>>().into_iter();
    for (number, def) in defs.into_iter().enumerate() {
        if number % TABLES_AHEAD == 0 {
            // For this round and the next one, when it is the first.
            let rounds = if number == 0 { 2 } else { 1 };
            read_first_pages(base, ahead.by_ref().take(rounds * TABLES_AHEAD));
        }
        let table = open_table(base, def)?;
        registry.add(table.id, table.trees());
        tables.push(Change::PutTable(Arc::new(table)));
    }
    let views: Vec<_> = views.into_iter().map(|view| Change::PutView(Arc::new(view))).collect();
    Ok(Dictionary::default().with(&schemas).with(&tables).with(&views))
}

/// Has the pages read that opening a table looks at, of many tables at once.
fn read_first_pages(base: &Base, spaces: impl Iterator<Item = SpaceId>) {
    for space in spaces.filter_map(|space| base.pool.space(space)) {
        space.read_ahead([alloc::HEADER, info::INFO_PAGE]);
    }
}

/// Opens a table. One whose file is missing, or whose first pages are damaged, is opened all the same: the
/// others must be served, and it can be dropped. Every other use of it is answered with what is wrong; but
/// with force its rows are read, which takes none of the first pages.
fn open_table(base: &Base, def: TableDef) -> Result<Table, Error> {
    check_placed(&def)?;
    let (mut spaces, mut damaged) = (Vec::new(), Vec::new());
    for (number, id) in def.spaces().enumerate() {
        let (space, damage) = open_partition(base, id, &def)?;
        spaces.push(space);
        damaged.extend(damage.map(|damage| (number, damage)));
    }
    let opened = match damaged.is_empty() {
        false => Err(damaged),
        true => match Runtime::open(base.log.clone(), &spaces, def.auto_increment) {
            Ok(runtime) => Ok(runtime),
            Err(error) => Err(vec![(0, damage_of(error)?)]),
        },
    };
    let runtime = match opened {
        Ok(runtime) => runtime,
        Err(damaged) => damaged_runtime(base, &def, spaces, damaged),
    };
    Ok(Table::new(palisade_catalog::Table::new(def)?, Arc::new(runtime)))
}

/// Whether a table is where this version can find it.
pub(crate) fn check_placed(def: &TableDef) -> Result<(), Error> {
    let (schema, name) = (&def.schema, &def.name);
    match def.partitions.len() {
        2.. if !def.is_partitioned() => {
            let what = format!("table `{schema}`.`{name}` has several partitions, and nothing says of what");
            Err(Error::LaterVersion(what))
        }
        _ if def.is_placed() => Ok(()),
        _ => Err(Error::Inconsistent(format!("nothing says where table `{schema}`.`{name}` is"))),
    }
}

/// Opens the space of a partition: with what is wrong with it.
fn open_partition(base: &Base, id: SpaceId, def: &TableDef) -> Result<(Arc<Space>, Option<Damage>), Error> {
    let Some(space) = base.pool.space(id) else {
        let damage = base.lost_places.get(&id).cloned();
        let damage = damage.map_or(Damage::Missing, |error| Damage::Unreadable(error.into()));
        return Ok((base.sinks.attach(&base.pool, id, Arc::new(MissingFile))?, Some(damage)));
    };
    if !base.config.background {
        // No cleaner makes room for the pages that are read now.
        base.pool.step()?;
    }
    let forgotten = base.sinks.forget_free_pages(&space);
    let opened = forgotten.and_then(|()| Ok(retry_blocking(|| alloc::open_space(&space))?));
    let damage = match opened.and_then(|_| free_loose_trees(&base.log, &space, def)) {
        Ok(()) => None,
        Err(error) => Some(damage_of(error)?),
    };
    if damage.is_none() {
        compression::follow(&space, def);
    }
    Ok((space, damage))
}

/// What an error says of the first pages of a space, if it is about them.
fn damage_of(error: Error) -> Result<Damage, Error> {
    match error {
        Error::Corrupted { .. } | Error::Io(_) | Error::Inconsistent(_) => Ok(Damage::Unreadable(error)),
        other => Err(other),
    }
}

/// Reports what is wrong with spaces of a table, which is opened all the same.
fn damaged_runtime(
    base: &Base,
    def: &TableDef,
    spaces: Vec<Arc<Space>>,
    damage: Vec<(usize, Damage)>,
) -> Runtime {
    let changes_nothing = base.config.force_recovery.is_on();
    for (number, damage) in &damage {
        let what = match damage {
            Damage::Missing => "is missing".to_owned(),
            Damage::Unreadable(error) => format!("is damaged: {error}"),
        };
        let path = base.files.space_path(def.partitions[*number].space);
        let can = match changes_nothing && matches!(damage, Damage::Unreadable(_)) {
            true => "can only be read",
            false => "cannot be used",
        };
        tracing::error!("table `{}`.`{}` {can}: its file {} {what}", def.schema, def.name, path.display());
    }
    Runtime::damaged(base.log.clone(), spaces, damage, changes_nothing, def.auto_increment)
}

/// Removes the files of tables whose creation did not, or whose dropping did commit. Only a crash leaves such
/// files: if nothing was to be redone, it may be the dictionary that is wrong, and they are set aside.
fn remove_orphans(base: &Base, dictionary: &Dictionary, had_redo: bool) -> Result<(), Error> {
    let tables = dictionary.all_tables().flat_map(|table| table.spaces().collect::<Vec<_>>());
    let owned: HashSet<_> = tables.chain([SYSTEM_SPACE, UNDO_SPACE]).collect();
    for space in base.files.list_spaces()? {
        if !owned.contains(&space) {
            base.pool.detach_space(space);
            if had_redo {
                base.files.remove_space(space)?;
                continue;
            }
            let path = base.files.space_path(space);
            tracing::error!(
                "{} belongs to no table, though there was no crash: it is kept as *.pal.damaged",
                path.display()
            );
            base.files.set_aside(space)?;
        }
    }
    let maps: Vec<_> = base.files.list_maps()?.into_iter().filter(|space| !owned.contains(space)).collect();
    if had_redo || !maps.is_empty() {
        // A file that came back after a shutdown would look as if its table had been lost.
        base.files.sync_spaces()?;
    }
    maps.into_iter().try_for_each(|space| base.files.remove_map(space))?;
    Ok(())
}
