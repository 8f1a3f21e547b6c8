//! The engine as a whole: what it is made of, and what is asked of it from outside.
//!
//! Opening and recovering are in `open`, threads in `background`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use palisade_base::event::retry_after;
use palisade_base::metric::Metric;
use palisade_base::monitor::{Monitors, Operation, Reading, Unknown};
use palisade_base::{Event, Lsn, SpaceId, TrxId};
use palisade_btree::node::NodeView;
use palisade_btree::{Tree, page_type};
use palisade_buffer::{
    BufferPool, FlushSettings, PageRead as _, PageSize, ReadAhead, ResizeError, Resizing, Space,
};
use palisade_io::{DirLock, IoPool};
use palisade_log::{FileRange, LEAST_BUFFER, WorkerInbox, WriterThreads};
use palisade_txn::{ActiveTrx, Changed, Trees, TrxSystem};
use parking_lot::RwLock;

use crate::Error;
use crate::background::{self, Background};
use crate::config::{DoublewriteMode, EngineConfig, FlushAtCommit, LogWriterThreads, PageSinkKind};
use crate::deadlocks::Observer;
use crate::dictionary::Dictionary;
use crate::error::longest_key;
use crate::files::Files;
use crate::info::Counter;
use crate::lost_maps::RemadeMaps;
use crate::metadata::MetadataLocks;
use crate::open::{OwnLog, frames_of, lock_memory, wait_or_step};
use crate::pool_dump::PoolDump;
use crate::purge_lag::PurgeLag;
use crate::removal::Removals;
use crate::sinks::{PageSinkStatus, Sinks};
use crate::table::Table;
use crate::temporary::TemporaryFiles;
use crate::temporary_table::TemporaryTables;
use crate::transaction::{AccessMode, IsolationLevel, Traits, Transaction};
use crate::xa::XaTable;

/// A status counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusValue {
    /// Name as in SHOW STATUS: `Innodb_buffer_pool_pages_total`.
    pub name: &'static str,
    /// Value.
    pub value: u64,
}

/// What is known of places of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdaptiveHashIndex {
    /// How many places there is room for.
    pub words: usize,
    /// How many are known.
    pub known: usize,
    /// Its parts.
    pub parts: usize,
    /// How many of them are left alone for now, because their guesses came true too seldom.
    pub left_alone: usize,
}

/// The redo log's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedoLog {
    /// Tells the log from others.
    pub id: u64,
    /// Bytes that the files take.
    pub size: u64,
    /// Bytes that they are to take.
    pub capacity: u64,
}

/// How far the redo log has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPositions {
    /// Where recovery would begin.
    pub checkpoint: Lsn,
    /// Pages changed before this are on disk.
    pub clean: Lsn,
    /// Everything below survives a crash.
    pub durable: Lsn,
    /// Everything below has been given to the operating system.
    pub written: Lsn,
    /// Everything below is in the log buffer completely.
    pub complete: Lsn,
    /// What is being appended ends here.
    pub assigned: Lsn,
}

/// An open transaction, for INNODB_TRX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveTransaction {
    /// Its id, if it has changed something.
    pub id: Option<TrxId>,
    /// A number that no other transaction has that is open.
    pub session: u32,
    /// What [`Transaction::set_owner`](crate::Transaction::set_owner) said: a connection. 0 if that is gone.
    pub owner: u64,
    /// When it began, or at least first changed something, microseconds since 1970; 0 if that is not known.
    pub started_us: i64,
    /// Undo records it has written.
    pub changes: u64,
    /// Explicit row locks it holds.
    pub row_locks: u64,
    /// Bytes that they take.
    pub lock_bytes: u64,
    /// Whether it waits for a row lock.
    pub waiting: bool,
    /// Since when, microseconds since 1970, if that is known.
    pub wait_started_us: Option<i64>,
    /// Whether it is being rolled back, or is to be.
    pub rolling_back: bool,
    /// Tables that it uses.
    pub tables: usize,
    /// Of those, the ones that it writes to or locks rows of.
    pub tables_locked: usize,
    /// What it is like.
    pub traits: Traits,
}

/// The number by which a transaction is shown. One that has only locked something, or read, has no id; it
/// gets a number beyond all ids.
pub fn shown_number(id: Option<TrxId>, session: u32) -> u64 {
    id.map_or((1 << 48) + u64::from(session), |id| id.0)
}

/// The storage engine. One per data directory.
pub struct Engine {
    pub(crate) config: EngineConfig,
    pub(crate) files: Files,
    pub(crate) log: OwnLog,
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) sinks: Sinks,
    /// Maps that were made again when the engine was opened, by force.
    pub(crate) remade_maps: RemadeMaps,
    pub(crate) io: Arc<IoPool>,
    /// Runs the blocking parts of data definition.
    pub(crate) ddl: IoPool,
    pub(crate) removals: Removals,
    pub(crate) trx: Arc<TrxSystem>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) dictionary: ArcSwap<Dictionary>,
    pub(crate) dictionary_tree: Tree,
    /// Ids of spaces, tables and indexes.
    pub(crate) ids: Counter,
    pub(crate) metadata: Arc<MetadataLocks>,
    pub(crate) flush_at_commit: AtomicU8,
    pub(crate) background: Background,
    pub(crate) xa: XaTable,
    pub(crate) pool_dump: PoolDump,
    pub(crate) purge_lag: PurgeLag,
    pub(crate) temporary: TemporaryFiles,
    pub(crate) temporary_tables: TemporaryTables,
    pub(crate) deadlock_observer: OnceLock<Observer>,
    pub(crate) monitors: Monitors,
    /// A change of the dictionary has been committed and may or may not be durable: no file may be removed.
    pub(crate) is_dictionary_doubtful: AtomicBool,
    /// The dictionary was made again when this engine was opened.
    pub(crate) is_dictionary_rebuilt: bool,
    /// Whether scans pass over what is damaged.
    pub(crate) passes_damage: AtomicBool,
    /// How often one has.
    pub(crate) damage_passed: AtomicU64,
    /// Held as long as the engine lives.
    pub(crate) _directory: DirLock,
}

impl Drop for Engine {
    /// As in a crash, unless it has been shut down: what is not durable is lost. Nothing of the engine runs
    /// any more afterwards, so that its files may be opened again.
    fn drop(&mut self) {
        self.background.stop();
        self.pool_dump.stop();
        self.pool.abandon();
    }
}

/// Finds the trees that undo records name.
pub(crate) struct Registry {
    /// By index, with the id of the table; the dictionary's is 0.
    trees: RwLock<HashMap<u64, (u64, Tree)>>,
    pool: Arc<BufferPool>,
}

impl Registry {
    pub(crate) fn new(pool: Arc<BufferPool>) -> Arc<Self> {
        Arc::new(Registry { trees: RwLock::default(), pool })
    }

    /// The tree of an index, and the id of its table.
    pub(crate) fn find(&self, index: u64) -> Option<(u64, Tree)> {
        self.trees.read().get(&index).cloned()
    }

    pub(crate) fn add<'a>(&self, table: u64, trees: impl IntoIterator<Item = &'a Tree>) {
        let mut known = self.trees.write();
        known.extend(trees.into_iter().map(|tree| (tree.index_id(), (table, tree.clone()))));
    }

    /// The table that was changed and the space it is in, if it is still there.
    pub(crate) fn table_of(&self, changed: Changed) -> Option<(u64, SpaceId)> {
        let known = self.trees.read();
        let found = match changed {
            Changed::Index(index) => known.get(&index),
            Changed::Chain(space) => known.values().find(|(_, tree)| tree.space().id() == space),
        };
        found.map(|(table, tree)| (*table, tree.space().id()))
    }

    /// Forgets the trees of a table.
    pub(crate) fn remove_table(&self, table: u64) {
        self.trees.write().retain(|_, (owner, _)| *owner != table);
    }

    pub(crate) fn remove<'a>(&self, trees: impl IntoIterator<Item = &'a Tree>) {
        let mut known = self.trees.write();
        for tree in trees {
            known.remove(&tree.index_id());
        }
    }
}

/// What the transaction system holds of the registry.
pub(crate) struct Finder(pub(crate) Arc<Registry>);

impl Trees for Finder {
    fn tree(&self, index: u64) -> Option<Tree> {
        self.0.trees.read().get(&index).map(|(_, tree)| tree.clone())
    }

    fn space(&self, space: SpaceId) -> Option<Arc<Space>> {
        self.0.pool.space(space)
    }
}

impl Engine {
    /// Writes everything back and stops the background threads. Blocks. No transaction may be running. The
    /// engine can also just be dropped - as in a crash: the next open recovers.
    pub fn shutdown(&self) -> Result<(), Error> {
        self.background.stop();
        self.pool_dump.stop();
        for table in self.dictionary().all_tables() {
            let runtime = table.runtime();
            if !runtime.is_usable() {
                continue;
            }
            let wait = |event: &Event| wait_or_step(&self.config, &self.pool, event);
            retry_after(|| runtime.auto_increment.save(&self.log, runtime.first_space()), wait)?;
            retry_after(|| runtime.row_id.save(&self.log, runtime.first_space()), wait)?;
        }
        self.pool.shutdown()?;
        self.log.shutdown()?;
        self.ddl.shutdown();
        self.io.shutdown();
        Ok(())
    }

    /// How it was set up.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// The dictionary as of now.
    pub fn dictionary(&self) -> Arc<Dictionary> {
        self.dictionary.load_full()
    }

    /// The dictionary's version, without touching anything shared but one word: while it is the same, so is
    /// the dictionary.
    pub fn dictionary_version(&self) -> u64 {
        self.dictionary.load().version()
    }

    /// Begins a transaction. Cheap; [`Transaction::restart`] is cheaper.
    pub fn begin(self: &Arc<Self>, isolation: IsolationLevel, access: AccessMode) -> Transaction {
        Transaction::new(self.clone(), isolation, access)
    }

    /// What a transaction may do that wants to do `access`: with [`ForceRecovery`](crate::ForceRecovery) none
    /// changes rows.
    #[inline]
    pub(crate) fn permitted(&self, access: AccessMode) -> AccessMode {
        match self.config.force_recovery.is_on() {
            false => access,
            true => AccessMode::ReadOnly,
        }
    }

    /// Whether scans that take no locks pass over what is damaged, as they do with
    /// [`ForceRecovery`](crate::ForceRecovery): rows on damaged pages are then missing from their results.
    pub fn passes_damage(&self) -> bool {
        self.passes_damage.load(Ordering::Relaxed)
    }

    /// Has scans pass over damage, or not. For who reads what is left of a table and knows that it may not be
    /// all.
    pub fn set_passes_damage(&self, on: bool) {
        self.passes_damage.store(on, Ordering::Relaxed);
    }

    /// How often a scan has passed over damage since the engine was opened.
    pub fn damage_passed(&self) -> u64 {
        self.damage_passed.load(Ordering::Relaxed)
    }

    /// A scan of `table` passes over what `error` tells of.
    #[cold]
    pub(crate) fn note_damage_passed(&self, table: &Table, index: &str, error: &Error) {
        self.damage_passed.fetch_add(1, Ordering::Relaxed);
        tracing::error!(
            "rows of `{}`.`{}` (index {index}) are passed over: {error}",
            table.schema,
            table.name
        );
    }

    /// Makes the calling thread a worker: [`Engine::worker_inbox`], [entered](WorkerInbox::enter) by it.
    pub fn register_worker(&self) -> WorkerInbox {
        self.log.register_worker()
    }

    /// An inbox for a worker: commits that wait for durability on the threads that
    /// [enter](WorkerInbox::enter) it are completed by its [pump](WorkerInbox::pump), which must run as a
    /// task of the worker for as long as it lives.
    pub fn worker_inbox(&self) -> WorkerInbox {
        self.log.worker_inbox()
    }

    /// `innodb_flush_log_at_trx_commit`.
    #[inline]
    pub fn flush_at_commit(&self) -> FlushAtCommit {
        match self.flush_at_commit.load(Ordering::Relaxed) {
            0 => FlushAtCommit::Lazy,
            2 => FlushAtCommit::Written,
            _ => FlushAtCommit::Durable,
        }
    }

    /// Sets `innodb_flush_log_at_trx_commit`, at once and for everyone.
    pub fn set_flush_at_commit(&self, value: FlushAtCommit) {
        self.flush_at_commit.store(value as u8, Ordering::Relaxed);
    }

    /// Sets `innodb_log_writer_threads`.
    pub fn set_log_writer_threads(&self, value: LogWriterThreads) {
        self.log.set_writer_threads(writer_threads(value));
    }

    /// Sets `innodb_redo_log_capacity`. Does not wait: the log's files follow, in the background.
    pub fn resize_redo_log(&self, bytes: u64) {
        self.log.resize(bytes);
    }

    /// Sets `innodb_log_write_ahead_size`, in bytes.
    pub fn set_log_write_ahead_size(&self, bytes: u64) {
        self.log.set_write_ahead(bytes as usize);
    }

    /// Sets `innodb_log_buffer_size`. Does not wait: the buffer is exchanged in the background.
    pub fn resize_log_buffer(&self, bytes: u64) {
        self.log.resize_buffer(log_buffer_bytes(bytes));
    }

    /// Sets `innodb_flush_log_at_timeout`.
    pub fn set_flush_log_at_timeout(&self, timeout: Duration) {
        self.log.set_background_flush_interval(timeout);
    }

    /// Waits until everything that was committed before is durable, whatever `innodb_flush_log_at_trx_commit`
    /// says.
    pub async fn flush_log(&self) -> Result<(), Error> {
        Ok(self.log.wait_durable(self.log.tail()).await?)
    }

    /// Waits until all that any statement can have read by now is durable, whatever
    /// `innodb_flush_log_at_trx_commit` says: also changes whose log another session has reserved but not yet
    /// linked. Costs two loads where that is so already.
    pub async fn wait_reads_durable(&self) -> Result<(), Error> {
        let seen = self.log.reserved();
        if self.log.durable_lsn() < seen {
            self.log.wait_durable(seen).await?;
        }
        Ok(())
    }

    /// The redo log's files.
    pub fn redo_log(&self) -> RedoLog {
        let (size, capacity) = self.log.file_sizes();
        RedoLog { id: self.log.id(), size, capacity }
    }

    /// The files that hold the redo log, and the LSNs of each. Blocks: after a restart, for a small read of
    /// each.
    pub fn redo_log_files(&self) -> Result<Vec<FileRange>, Error> {
        Ok(self.log.file_ranges()?)
    }

    /// How far the redo log has come.
    pub fn log_positions(&self) -> LogPositions {
        let checkpoint = self.log.checkpoint_lsn();
        let clean = self.log.oldest_dirty().max(checkpoint);
        // Each is at least as far as the one before it, whatever happens meanwhile.
        let durable = self.log.durable_lsn();
        let written = self.log.written_lsn().max(durable);
        let complete = self.log.tail().max(written);
        LogPositions {
            checkpoint,
            clean,
            durable,
            written,
            complete,
            assigned: self.log.reserved().max(complete),
        }
    }

    /// Sets `innodb_io_capacity`, `innodb_max_dirty_pages_pct` and their like.
    pub fn set_flushing(&self, settings: FlushSettings) {
        self.pool.set_flushing(settings);
    }

    /// Sets `innodb_adaptive_hash_index`.
    pub fn set_adaptive_hash_index(&self, on: bool) {
        self.pool.set_hints(on);
    }

    /// The adaptive hash index, as it is now. Reads all of it.
    pub fn adaptive_hash_index(&self) -> AdaptiveHashIndex {
        let hints = self.pool.hints();
        let ((words, known), (parts, left_alone)) = (hints.fill(), hints.parts());
        AdaptiveHashIndex { words, known, parts, left_alone }
    }

    /// Sets `innodb_change_buffer_max_size`, percent of the buffer pool; 0 where `innodb_change_buffering` is
    /// none.
    pub fn set_kept_share(&self, percent: u32) {
        self.pool.set_kept_share(percent);
    }

    /// How many nodes of each index, by its space and its number, are in memory, but for those that are being
    /// changed now. Looks at all frames of the buffer pool.
    pub fn cached_pages(&self) -> HashMap<(SpaceId, u64), u64> {
        let mut pages = HashMap::new();
        self.pool.for_each_resident(|id, page| {
            if page.page_type() == page_type::NODE {
                *pages.entry((id.space, NodeView::new(page).index_id())).or_default() += 1;
            }
        });
        pages
    }

    /// Bytes of a page (`innodb_page_size`).
    pub fn page_size(&self) -> PageSize {
        self.pool.page_size()
    }

    /// How long a key may be declared, in bytes: less on pages of 4 or 8 KiB.
    pub fn longest_key(&self) -> u32 {
        longest_key(self.page_size().bytes())
    }

    /// Sets `innodb_lru_scan_depth`, frames.
    pub fn set_lru_scan_depth(&self, frames: u32) {
        self.pool.set_lru_scan_depth(frames);
    }

    /// Sets `innodb_read_ahead_threshold` and `innodb_random_read_ahead`.
    pub fn set_read_ahead(&self, settings: ReadAhead) {
        self.pool.set_read_ahead(settings);
    }

    /// Sets `innodb_buffer_pool_size`. Does not wait: the pool grows or shrinks in the background, and tells [how
    /// far](Self::buffer_pool_resizing) it is.
    pub fn resize_buffer_pool(&self, bytes: u64) -> Result<(), ResizeError> {
        self.pool.resize(frames_of(bytes, self.page_size()))?;
        self.trx.locks().set_memory_limit(lock_memory(bytes));
        Ok(())
    }

    /// How far the last [resize](Self::resize_buffer_pool) is.
    pub fn buffer_pool_resizing(&self) -> Resizing {
        self.pool.resizing()
    }

    /// Sets `innodb_doublewrite`, which is not to become or cease to be OFF.
    pub fn set_doublewrite(&self, mode: DoublewriteMode) {
        self.sinks.set_mode(mode, &self.pool);
    }

    /// Sets `palisade_page_sink`: where the pages of tables go that are made, or made anew, from now on.
    pub fn set_page_sink(&self, kind: PageSinkKind) {
        self.sinks.set_kind(kind);
    }

    /// What writes the pages of tables, and what is known of atomic writes.
    pub fn page_sink_status(&self) -> PageSinkStatus {
        self.sinks.status()
    }

    /// Whether the kernel waits for reads and writes of pages, by io_uring; else threads do.
    pub fn uses_io_uring(&self) -> bool {
        self.io.uses_rings()
    }

    /// Sets `innodb_compression_level`.
    pub fn set_compression_level(&self, level: u8) {
        self.pool.set_compression_level(level);
    }

    /// Works out the gauges.
    fn publish_metrics(&self) {
        self.pool.publish_metrics();
        self.log.publish_metrics();
        self.trx.publish_metrics();
        self.publish_purge_delay();
        crate::shown_metrics::publish(
            self.pool.frames(),
            self.pool.page_size().bytes(),
            self.pool.open_files(),
        );
    }

    /// Every counter of the engine and the floors below, as of now.
    pub fn metrics(&self) -> Vec<&'static Metric> {
        self.publish_metrics();
        all_metrics().collect()
    }

    /// The rows of INNODB_METRICS.
    pub fn monitors(&self) -> Vec<Reading> {
        self.publish_metrics();
        self.monitors.read(self.now_seconds())
    }

    /// Does what one of the `innodb_monitor_...` variables is for to the metrics that `pattern` names. What
    /// could not be done is written to the error log, as MySQL does; a pattern that names nothing is the
    /// caller's error.
    pub fn monitor(&self, operation: Operation, pattern: &str) -> Result<(), Unknown> {
        self.publish_metrics();
        for note in self.monitors.apply(operation, pattern, self.now_seconds())? {
            tracing::warn!("{note}");
        }
        Ok(())
    }

    fn now_seconds(&self) -> i64 {
        self.config.clock.unix_micros() / 1_000_000
    }

    /// The counters of SHOW STATUS that come from the engine.
    pub fn status(&self) -> Vec<StatusValue> {
        let shown =
            |metric: &'static Metric| metric.status.map(|name| StatusValue { name, value: metric.value() });
        self.metrics().into_iter().filter_map(shown).collect()
    }

    /// Files of tables, of undo and of the dictionary that are open.
    pub fn open_files(&self) -> usize {
        self.pool.open_files()
    }

    /// Sets `innodb_flushing_avg_loops`, in seconds.
    pub fn set_flushing_avg_loops(&self, seconds: u64) {
        self.log.set_averaging(seconds);
    }

    /// Transactions that have changed something and have not ended, oldest first.
    pub fn active_transactions(&self) -> Vec<ActiveTransaction> {
        self.trx.active().into_iter().map(|trx| self.described(trx)).collect()
    }

    /// Transactions that have not ended: those that have changed something, hold locks, wait for one or have
    /// a snapshot.
    pub fn open_transactions(&self) -> Vec<ActiveTransaction> {
        self.trx.all_open().into_iter().map(|trx| self.described(trx)).collect()
    }

    /// How many transactions have a snapshot.
    pub fn open_snapshots(&self) -> usize {
        self.trx.open_snapshots()
    }

    pub(crate) fn described(&self, trx: ActiveTrx) -> ActiveTransaction {
        let tables = self.metadata.pinned(trx.session).tables;
        ActiveTransaction {
            id: trx.id,
            session: trx.session.0,
            owner: trx.owner,
            started_us: trx.started_us,
            changes: trx.changes,
            row_locks: trx.locks as u64,
            lock_bytes: trx.lock_bytes as u64,
            waiting: trx.waiting,
            wait_started_us: (trx.wait_started_us != 0).then_some(trx.wait_started_us),
            rolling_back: trx.rolls_back,
            tables: tables.len(),
            tables_locked: tables.iter().filter(|(_, writes)| *writes).count(),
            traits: Traits::labelled(trx.label),
        }
    }

    /// The id that the next transaction to change something gets, or a lower one.
    pub fn next_transaction_id(&self) -> TrxId {
        self.trx.sequence().next()
    }

    /// Transactions of lower ids have ended, and nothing of them is left to be purged. After a restart it is
    /// 0 until purge has read what was left.
    pub fn purged_transaction_id(&self) -> TrxId {
        self.trx.purged_below()
    }

    /// Committed transactions whose undo has not been purged: `trx_rseg_history_len`.
    pub fn history_length(&self) -> u64 {
        self.trx.history_length()
    }

    /// Sets how many bytes of free undo pages keep their room on the disk, at least an extent (1 MiB); the
    /// others lose it when that is worth while. `None`: all keep it.
    pub fn set_undo_kept(&self, bytes: Option<u64>) {
        self.trx.set_undo_kept(bytes);
    }

    /// Keeps so many bytes of undo pages, in whole extents (1 MiB), for deletes on a full disk; 0 for none.
    pub fn set_undo_reserve(&self, bytes: u64) {
        self.trx.set_undo_reserve(bytes);
    }

    /// Purges a little on the calling thread, or gives room of undo pages back; false if there was nothing to
    /// do. For tests without purge threads.
    pub fn purge_step(&self) -> Result<bool, Error> {
        Ok(self.wait_for_step(&mut || background::purge_step(&self.trx))?)
    }

    /// Rolls back, on the calling thread, the transactions that were in flight at a crash or have been
    /// dropped. For tests without background threads. Gives their number.
    pub fn rollback_step(&self) -> Result<usize, Error> {
        self.background.roll_back(&|step| self.wait_for_step(step))
    }
}

/// What this floor and those below count.
pub(crate) fn all_metrics() -> impl Iterator<Item = &'static Metric> {
    let lists = [
        palisade_buffer::metrics::METRICS,
        palisade_log::METRICS,
        palisade_btree::METRICS,
        palisade_txn::METRICS,
        crate::shown_metrics::METRICS,
        crate::uncounted::METRICS,
    ];
    lists.into_iter().flatten().copied()
}

/// The log buffer for a setting of `innodb_log_buffer_size`: large enough for every mini-transaction.
pub(crate) fn log_buffer_bytes(setting: u64) -> usize {
    (setting as usize).max(LEAST_BUFFER)
}

pub(crate) fn writer_threads(value: LogWriterThreads) -> WriterThreads {
    match value {
        LogWriterThreads::Auto => WriterThreads::Auto,
        LogWriterThreads::On => WriterThreads::On,
        LogWriterThreads::Off => WriterThreads::Off,
    }
}
