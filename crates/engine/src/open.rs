//! Opening a data directory: making a new one, or recovering what a crash or a shutdown has left.
//!
//! ```text
//! lock the directory ─► repair torn pages ─► redo ─► undo space: who was in flight, what is history
//!     ─► dictionary, as committed ─► remove files that no row names ─► serve; roll back and purge meanwhile
//! ```

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use palisade_base::event::retry_blocking;
use palisade_base::monitor::Monitors;
use palisade_base::{Blocked, Event, Lsn, PageNo, SpaceId};
use palisade_btree::mtr::{MAX_ALLOCATION_BYTES, OP_OVERHEAD};
use palisade_btree::{Mtr, Tree, alloc, recovery};
use palisade_buffer::{BufferConfig, BufferPool, Doublewrite, Off, PAGE_SIZE, PageSink, Space};
use palisade_catalog::{Schema, TableDef};
use palisade_io::{FileSystem, IoPool};
use palisade_log::{Log, LogConfig};
use palisade_txn::undo::segment::UNDO_SPACE;
use palisade_txn::{Trx, TrxSystem};

use crate::background::Background;
use crate::build::free_loose_trees;
use crate::config::EngineConfig;
use crate::dictionary::{Change, DICTIONARY_INDEX, Dictionary, RowKind, row_kind};
use crate::engine::{Engine, Finder, Registry, all_metrics, log_buffer_bytes, writer_threads};
use crate::files::{Files, Found};
use crate::info::{self, Counter, Field};
use crate::metadata::MetadataLocks;
use crate::missing::{MissingFile, Orphaned};
use crate::purge_lag::PurgeLag;
use crate::store::RowStore;
use crate::table::{Damage, Runtime, Table};
use crate::xa::XaTable;
use crate::{Error, FlushMethod};

/// The space of the dictionary.
pub(crate) const SYSTEM_SPACE: SpaceId = SpaceId(0);
/// Ids below belong to the engine itself.
const FIRST_ID: u64 = 16;
/// Pages that a cleaner writes in one batch (`innodb_doublewrite_pages`).
const DOUBLEWRITE_PAGES: usize = 128;
/// Statements of data definition that can run at once.
const DDL_THREADS: usize = 4;
/// The buffer pool's size, in multiples of what the lock table may take.
const POOL_PER_LOCKS: u64 = 2;
/// Where the log begins.
const FIRST_LSN: Lsn = Lsn(8192);

/// The floors below, running. Dropped in this order: whoever writes pages has ended when the log does.
struct Base {
    config: EngineConfig,
    files: Files,
    pool: Arc<BufferPool>,
    io: Arc<IoPool>,
    log: OwnLog,
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
    /// Opens the data directory, creating or recovering it. Blocks. Transactions that were in flight at a crash are
    /// rolled back in the background afterwards, except those that are [prepared](crate::xa). Refuses a directory that another engine has open.
    pub fn open(config: EngineConfig, fs: Arc<dyn FileSystem>) -> Result<Arc<Engine>, Error> {
        fs.create_dir_all(&config.datadir)?;
        let directory = fs.lock_dir(&config.datadir).map_err(|error| {
            Error::Unusable(format!("cannot use data directory {}: {error}", config.datadir.display()))
        })?;
        let files = Files::new(fs, &config.datadir, config.flush_method);
        let (base, trx, in_flight, orphaned) = match files.look()? {
            Found::Data => recover(config, files)?,
            Found::Nothing => {
                let (base, trx) = create(config, files)?;
                (base, trx, Vec::new(), Orphaned::default())
            }
            Found::Foreign => {
                return Err(Error::Unusable(format!(
                    "{} holds something else than a data directory of this version",
                    config.datadir.display()
                )));
            }
        };
        let registry = Registry::new(base.pool.clone());
        trx.set_trees(Box::new(Finder(registry.clone())));
        trx.locks().set_memory_limit(base.config.buffer_pool_size / POOL_PER_LOCKS);
        let system = attached(&base, SYSTEM_SPACE)?;
        let root = retry_blocking(|| info::read(&system, Field::DictionaryRoot))? as u32;
        let dictionary_tree = Tree::open(base.log.clone(), system.clone(), PageNo(root), DICTIONARY_INDEX);
        registry.add(0, [&dictionary_tree]);
        let (schemas, defs) = read_dictionary(&trx, &dictionary_tree)?;
        orphaned.settle(&defs, &base.files, base.config.gives_missing_up)?;
        let dictionary = open_tables(&base, schemas, defs, &registry)?;
        remove_orphans(&base, &dictionary)?;

        let metadata = Arc::new(MetadataLocks::default());
        let monitors = Monitors::new(all_metrics(), base.config.clock.unix_micros() / 1_000_000);
        let engine = Arc::new(Engine {
            monitors,
            flush_at_commit: AtomicU8::new(base.config.flush_at_commit as u8),
            ids: Counter::open(&system, Field::NextId, FIRST_ID)?,
            ddl: if base.config.background { IoPool::new(DDL_THREADS)? } else { IoPool::inline() },
            config: base.config,
            files: base.files,
            log: base.log,
            pool: base.pool,
            io: base.io,
            trx,
            background: Background::new(metadata.clone(), registry.clone()),
            registry,
            dictionary: ArcSwap::from_pointee(dictionary),
            dictionary_tree,
            metadata,
            deadlock_observer: OnceLock::new(),
            xa: XaTable::default(),
            purge_lag: PurgeLag::default(),
            is_dictionary_doubtful: AtomicBool::new(false),
            _directory: directory,
        });
        engine.watch_deadlocks();
        for trx in in_flight {
            if trx.prepared().is_some() {
                engine.adopt_prepared(trx)?;
                continue;
            }
            engine.metadata.pin_any(trx.session());
            engine.background.abandon(trx);
        }
        engine.set_undo_kept(engine.config.undo_kept);
        engine.background.start(&engine.trx, engine.config.purge_threads)?;
        Ok(engine)
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

fn start_pool(
    config: &EngineConfig,
    files: &Files,
    log: &Arc<Log>,
) -> Result<(Arc<BufferPool>, Arc<IoPool>), Error> {
    let io = Arc::new(match config.background {
        true => IoPool::new(config.io_threads.max(1))?,
        false => IoPool::inline(),
    });
    let cleaners = config.page_cleaners.max(1);
    let sink: Arc<dyn PageSink> = match config.doublewrite {
        true => {
            let syncing = config.flush_method.data_syncing();
            Arc::new(Doublewrite::open(&files.fs, &files.datadir, cleaners, DOUBLEWRITE_PAGES, syncing)?)
        }
        false => Arc::new(Off),
    };
    let frames = (config.buffer_pool_size / PAGE_SIZE as u64).max(64) as usize;
    let mut pool = BufferConfig::new(frames, sink);
    pool.lru_scan_depth = config.lru_scan_depth as u32;
    pool.page_cleaners = cleaners;
    pool.io_capacity = config.io_capacity;
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
    let (pool, io) = start_pool(&config, &files, &log)?;
    if config.background {
        pool.start()?;
    }
    let system = pool.attach_space(SYSTEM_SPACE, files.create_space(SYSTEM_SPACE)?)?;
    info::format(&log, &system)?;
    let root = create_tree(&log, &system, DICTIONARY_INDEX)?;
    retry_blocking(|| info::write(&log, &system, Field::DictionaryRoot, root.0.into()))?;
    let undo = pool.attach_space(UNDO_SPACE, files.create_space(UNDO_SPACE)?)?;
    retry_blocking(|| alloc::format_space(&log, &undo))?;
    let trx = TrxSystem::create(log.clone(), undo, config.clock.clone())?;
    log.flush_blocking(log.tail())?;
    files.write_marker()?;
    Ok((Base { config, files, pool, io, log }, trx))
}

/// Makes an empty tree. Blocks.
pub(crate) fn create_tree(log: &Arc<Log>, space: &Arc<Space>, index: u64) -> Result<PageNo, Error> {
    let root = retry_blocking(|| {
        let mut mtr = Mtr::begin(log, MAX_ALLOCATION_BYTES + OP_OVERHEAD)?;
        let mut reservation = alloc::reserve(&mut mtr, space, PageNo::NONE, 1)?;
        let root = Tree::create(&mut mtr, &mut reservation, index);
        mtr.commit(|_| {});
        Ok::<_, Blocked<palisade_btree::Error>>(root)
    })?;
    Ok(root)
}

/// Brings a data directory to the state of the end of its log.
fn recover(config: EngineConfig, files: Files) -> Result<(Base, Arc<TrxSystem>, Vec<Trx>, Orphaned), Error> {
    let (log, mut reader) = Log::open(files.fs.clone(), &files.log_dir(), log_config(&config))?;
    let log = OwnLog(log);
    let (pool, io) = start_pool(&config, &files, &log)?;
    let mut open_files = HashMap::new();
    for space in files.list_spaces()? {
        if let Some(file) = files.open_space(space)? {
            open_files.insert(space, file);
        }
    }
    pool.repair_torn_pages(&mut |space| open_files.get(&space).cloned())?;
    if config.background {
        pool.start()?;
    }
    for (space, file) in open_files {
        pool.attach_space(space, file)?;
    }
    let threads = match config.background {
        true => std::thread::available_parallelism().map_or(1, usize::from),
        false => 1,
    };
    let wait = |event: &Event| {
        match config.background {
            true => event.wait_blocking(),
            // nobody else makes room
            false => {
                pool.step()?;
            }
        }
        Ok(())
    };
    let mut orphaned = Orphaned::default();
    let mut find = |space| {
        let found = pool.space(space);
        if found.is_none() {
            orphaned.note(space, &log);
        }
        Ok(found)
    };
    recovery::apply(&mut reader, threads, &mut find, &wait).map_err(|error| match error.into() {
        Error::Corrupted { space, page, what } => {
            let path = files.space_path(space);
            let number = page.0;
            Error::Unusable(format!(
                "the redo log cannot be applied to page {number} of {}: {what}",
                path.display()
            ))
        }
        other => other,
    })?;
    if !config.background {
        pool.step()?;
    }
    log.start_after_recovery(reader)?;
    let base = Base { config, files, pool, io, log };
    let undo = attached(&base, UNDO_SPACE)?;
    restore_length(&undo)?;
    restore_length(&attached(&base, SYSTEM_SPACE)?)?;
    let (trx, in_flight) = TrxSystem::open(base.log.clone(), undo, base.config.clock.clone())?;
    Ok((base, trx, in_flight, orphaned))
}

/// What has been committed. Nothing is written.
fn read_dictionary(system: &Arc<TrxSystem>, tree: &Tree) -> Result<(Vec<Schema>, Vec<TableDef>), Error> {
    let rows = RowStore::new(tree).read_all(system)?;
    let (mut schemas, mut tables) = (Vec::new(), Vec::new());
    for (key, row) in rows {
        match row_kind(&key) {
            Some(RowKind::Schema) => schemas.push(Schema::from_bytes(&row)?),
            Some(RowKind::Table) => tables.push(TableDef::from_bytes(&row)?),
            None => return Err(Error::Inconsistent("a dictionary row of unknown kind".to_owned())),
        }
    }
    Ok((schemas, tables))
}

fn open_tables(
    base: &Base,
    schemas: Vec<Schema>,
    defs: Vec<TableDef>,
    registry: &Registry,
) -> Result<Dictionary, Error> {
    let schemas: Vec<_> = schemas.into_iter().map(|schema| Change::PutSchema(Arc::new(schema))).collect();
    let mut tables = Vec::new();
    for def in defs {
        let table = open_table(base, def)?;
        registry.add(table.id, table.trees());
        tables.push(Change::PutTable(Arc::new(table)));
    }
    Ok(Dictionary::default().with(&schemas).with(&tables))
}

/// Gives a file the length back that its header speaks of. A power cut may have taken pages from its end that were
/// allocated and never written; recovery makes only those again that the log speaks of.
fn restore_length(space: &Arc<Space>) -> Result<(), Error> {
    let usage = retry_blocking(|| alloc::usage(space))?;
    retry_blocking(|| space.ensure_allocated(usage.high_water))?;
    Ok(())
}

/// Opens a table. One whose file is missing, or whose first pages are damaged, is opened all the same: the others must be
/// served, and it can be dropped. Every other use of it is answered with what is wrong.
fn open_table(base: &Base, def: TableDef) -> Result<Table, Error> {
    let (space, damage) = match base.pool.space(def.space) {
        None => (base.pool.attach_space(def.space, Arc::new(MissingFile))?, Damage::Missing),
        Some(space) => match open_runtime(base, &space, &def) {
            Ok(runtime) => return Ok(Table::new(palisade_catalog::Table::new(def)?, Arc::new(runtime))),
            Err(error @ (Error::Corrupted { .. } | Error::Io(_) | Error::Inconsistent(_))) => {
                (space, Damage::Unreadable(error))
            }
            Err(other) => return Err(other),
        },
    };
    let what = match &damage {
        Damage::Missing => "is missing".to_owned(),
        Damage::Unreadable(error) => format!("is damaged: {error}"),
    };
    let path = base.files.space_path(def.space);
    tracing::error!(
        "table `{}`.`{}` cannot be used: its file {} {what}",
        def.schema,
        def.name,
        path.display()
    );
    let runtime = Runtime::damaged(base.log.clone(), space, damage);
    Ok(Table::new(palisade_catalog::Table::new(def)?, Arc::new(runtime)))
}

fn open_runtime(base: &Base, space: &Arc<Space>, def: &TableDef) -> Result<Runtime, Error> {
    if !base.config.background {
        // Nobody else makes room for the pages that are read now.
        base.pool.step()?;
    }
    retry_blocking(|| alloc::open_space(space))?;
    restore_length(space)?;
    free_loose_trees(&base.log, space, def)?;
    Runtime::open(base.log.clone(), space.clone(), def.auto_increment)
}

/// Removes the files of tables whose creation did not, or whose dropping did commit.
fn remove_orphans(base: &Base, dictionary: &Dictionary) -> Result<(), Error> {
    for space in base.files.list_spaces()? {
        let owned = space == SYSTEM_SPACE || space == UNDO_SPACE;
        if !owned && !dictionary.all_tables().any(|table| table.space == space) {
            base.pool.detach_space(space);
            base.files.remove_space(space)?;
        }
    }
    Ok(())
}
