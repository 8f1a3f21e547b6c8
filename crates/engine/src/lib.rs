//! The embeddable storage engine: tables, rows, transactions, recovery. No SQL, no network, no runtime.
//!
//! | module | what it holds |
//! |---|---|
//! | `build_work` | how far a statement has come that reads or writes all rows of a table |
//! | [`engine`] | [`Engine`]: open or create a data directory, recover it, shut it down |
//! | [`config`] | [`EngineConfig`], and the settings that change while the engine runs |
//! | [`dictionary`] | [`Dictionary`]: an immutable snapshot of schemas and tables |
//! | [`table`] | [`Table`]: a descriptor with its trees, counters and statistics |
//! | [`transaction`] | [`Transaction`]: begin, savepoints, reading and changing rows, commit |
//! | [`scan`] | [`Scan`] and [`RowBatch`]: reading ranges, a leaf's worth at a time |
//! | [`check`] | CHECK TABLE |
//! | [`temporary`] | temporary files of statements |
//! | [`temporary_table`], `unlogged` | tables of one session; changes of their rows, and undoing these |
//! | [`metadata`] | metadata locks: a table in use is not dropped |
//! | `usage`, `open_files` | how often rows of a table, and files, are accessed |
//! | [`ddl`] | what changes the dictionary, each change crash-atomic |
//! | [`xa`] | XA: prepared transactions |
//! | [`statistics`], `sample` | row counts, selectivities and some rows for the planner |
//! | [`error`] | [`Error`], and what MySQL calls it |
//!
//! Operations come in two kinds. Those that return [`Attempt`](palisade_base::Attempt) are synchronous: they
//! do all of their work, or give back the event after which they must be called again *with the same
//! arguments*. Row changes keep their progress in the transaction between the calls; to give up instead, call
//! [`Transaction::cancel_wait`] and roll back to a savepoint. Those that are `async` are such calls in a
//! loop.
//!
//! # Example
//!
//! A program with one thread calls the first kind through
//! [`retry_blocking`](palisade_base::event::retry_blocking), the second through
//! [`block_on`](palisade_base::event::block_on); one with an event loop awaits
//! [`retry`](palisade_base::event::retry).
//!
//! ```
//! use std::sync::Arc;
//!
//! use palisade_base::event::{block_on, retry_blocking};
//! use palisade_catalog::{
//!     CollationId, Column, Index, IndexPart, RowView, Schema, SqlType, TableDef, Value, ValueRef, key, row,
//! };
//! use palisade_engine::{
//!     AccessMode, Engine, EngineConfig, ExclusiveLock, IsolationLevel, ReadMode, RowBuf, TableName,
//! };
//! use palisade_io::OsFileSystem;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Open: an empty directory becomes a data directory; one that was not shut down is recovered.
//! let datadir = std::env::temp_dir().join(format!("palisade-example-{}", std::process::id()));
//! let config =
//!     EngineConfig { datadir: datadir.clone(), buffer_pool_size: 16 << 20, ..EngineConfig::default() };
//! let engine = Engine::open(config, Arc::new(OsFileSystem::new()))?;
//!
//! // Create a table. Nothing else uses its name meanwhile.
//! let schema = Schema { name: "shop".to_owned(), collation: CollationId::default() };
//! block_on(engine.create_schema(schema))?;
//! let definition = TableDef {
//!     schema: "shop".to_owned(),
//!     name: "item".to_owned(),
//!     columns: vec![
//!         Column::new("id", SqlType::BIGINT, 0).not_null(),
//!         Column::new("name", SqlType::VarBinary { length: 40 }, 1),
//!     ],
//!     indexes: vec![Index::primary(vec![IndexPart::of(0)])],
//!     ..TableDef::default()
//! };
//! let mut lock = ExclusiveLock::new(&engine, [TableName::new("shop", "item")]);
//! retry_blocking(|| lock.acquire())?;
//! let table = block_on(engine.create_table(&lock, definition))?;
//! drop(lock);
//!
//! // Insert a row and commit. It is durable when `commit` returns.
//! let mut transaction = engine.begin(IsolationLevel::RepeatableRead, AccessMode::ReadWrite);
//! let lamp = row::encode(&table, &[Value::Int(1), Value::Bytes("lamp".into())])?;
//! retry_blocking(|| transaction.insert(&table, &lamp))?;
//! block_on(transaction.commit())?;
//!
//! // Read it by its primary key.
//! transaction.restart(IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
//! let (mut search, mut found) = (Vec::new(), RowBuf::new());
//! key::search_key(&table, 0, &[ValueRef::Int(1)], &mut search)?;
//! let is_there =
//!     retry_blocking(|| transaction.point_read(&table, 0, &search, ReadMode::Snapshot, &mut found))?;
//! assert!(is_there);
//! let values = RowView::new(&table, found.row())?.to_values();
//! assert_eq!(values[1], Value::Bytes("lamp".into()));
//! block_on(transaction.commit())?;
//!
//! // Close: pages are written back. Without it, the next open recovers.
//! drop(transaction);
//! engine.shutdown()?;
//! # std::fs::remove_dir_all(datadir)?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod auto_increment;
mod background;
mod build;
mod build_work;
pub mod check;
mod compression;
pub mod config;
pub mod ddl;
mod deadlocks;
mod definition;
mod definition_copy;
pub mod dictionary;
pub mod engine;
pub mod error;
mod files;
mod info;
mod lost_maps;
pub mod metadata;
mod missing;
mod open;
mod open_files;
mod planted;
mod point_read;
mod pool_dump;
pub mod pool_view;
mod purge_lag;
mod reader;
mod rebuild;
mod removal;
mod repartition;
mod row_lock_wait;
mod row_locks;
mod rows;
mod sample;
mod sampling;
pub mod scan;
mod shown_metrics;
mod sinks;
mod stamp;
pub mod statistics;
mod store;
pub mod table;
pub mod temporary;
pub mod temporary_table;
pub mod transaction;
mod uncounted;
mod unlogged;
mod usage;
mod views;
pub mod xa;

pub use auto_increment::RowsToCome;
pub use build_work::{BuildStage, BuildWork, StageOfWork};
pub use check::TableCheck;
pub use config::{
    AutoIncrementLockMode, DoublewriteMode, EngineConfig, FlushAtCommit, FlushMethod, ForceRecovery,
    LogWriterThreads, MAX_UNDO_KEPT, PageSinkKind,
};
pub use ddl::{RowMapper, RowRouter};
pub use deadlocks::{Deadlock, DeadlockParty};
pub use dictionary::Dictionary;
pub use engine::{
    ActiveTransaction, AdaptiveHashIndex, Engine, LogPositions, RedoLog, StatusValue, shown_number,
};
pub use error::Error;
pub use files::{map_file_name, space_file_name};
pub use metadata::{ExclusiveLock, LockStrength, MetadataLock, MetadataObject, Share, TableLocks, TableName};
pub use open_files::{OpenFile, file_total, reset_file_totals};
pub use palisade_buffer::{
    Codec, FlushSettings, IoCapacity, LatchWaits, Neighbours, PageSize, ReadAhead, ResidentPage, ResizeError,
    Resizing, latch_waits,
};
pub use palisade_io::counts::{FileUse, FileWork};
pub use palisade_log::{FileRange, WorkerInbox};
pub use palisade_txn::{Cut, LockWait, Locked, Mode as RowLockMode};
pub use point_read::RowBuf;
pub use pool_dump::PoolTransfer;
pub use row_lock_wait::RowLockWait;
pub use row_locks::RowLock;
pub use sample::TableSample;
pub use scan::{Bound, Direction, KeyRange, RowBatch, Scan, ScannedRow};
pub use shown_metrics::RowCounts;
pub use sinks::PageSinkStatus;
pub use stamp::RowStamp;
pub use statistics::{Analysis, PartitionStatistics, TableStatistics};
pub use table::Table;
pub use temporary::{Block, BlockPlace, TemporaryFile, Transfer};
pub use temporary_table::TemporaryTable;
pub use transaction::{
    AccessMode, IsolationLevel, LockMode, ReadMode, Savepoint, Traits, Transaction, UpdateOutcome,
};
pub use usage::{AccessCounts, RowAccess, TableAccess, TableUsage, past_uses};
pub use xa::{XaBranch, XaEnd, Xid};

/// The result of an operation that may ask to be called again after an event.
pub type Attempt<T> = palisade_base::Attempt<T, Error>;

/// Panics, as a mistake in the engine does: for tests of what comes of it.
#[cfg(debug_assertions)]
#[inline(never)]
pub fn fail_on_demand() {
    panic!("a failure on demand");
}

#[cfg(test)]
mod tests;
