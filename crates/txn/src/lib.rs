//! Transactions over byte keys and values: who wrote what, who may see it, and how to take it back.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sequence`] | transaction ids, commit sequence numbers, snapshots, visibility |
//! | [`sessions`] | a cell per session, without locks |
//! | [`entry`] | what transactions put in front of rows and index entries |
//! | [`undo`] | undo pages, records and segments |
//! | [`system`] | [`TrxSystem`]: all transactions together |
//! | [`trx`] | [`Trx`]: one transaction; its commit |
//! | [`change`] | changing entries, one mini-transaction each |
//! | `emptied` | leaves to be merged after removals |
//! | [`version`] | reading: by snapshot, latest, locked |
//! | [`rollback`] | taking changes back |
//! | [`purge`] | forgetting what nobody sees any more |
//! | [`locks`] | row locks that are waited for; deadlocks |
//!
//! Deliberately absent: SQL types. Rows and keys are bytes here, and nothing is known of tables.

#![forbid(unsafe_code)]

pub mod change;
mod emptied;
pub mod entry;
mod error;
pub mod locks;
pub mod metrics;
mod planted;
pub mod purge;
pub mod rollback;
pub mod sequence;
pub mod sessions;
mod sync;
pub mod system;
pub mod trx;
pub mod undo;
pub mod version;

pub use change::{EntryChange, RowChange, RowOutcome};
pub use entry::{ClusteredHeader, EXTERNAL, SecondaryHeader, Stamp, UndoPtr};
pub use error::{Attempt, Error};
pub use locks::deadlock::{DeadlockMember, KeyLock};
pub use locks::listing::{LockInfo, Locked};
pub use locks::ranges::{Cut, RangeGuard};
pub use locks::{Mode, TryLock};
pub use metrics::METRICS;
pub use rollback::{Changed, ChangesLeft, Places, UniquePart};
pub use sequence::Snapshot;
pub use sessions::{SessionArray, SessionNo};
pub use system::{ActiveTrx, Trees, TrxSystem};
pub use trx::{MAX_NOTE, SavePoint, Trx};
pub use version::{Gaps, LockWait, LockedRow, Locking};

#[cfg(all(test, not(loom)))]
mod tests;
