//! Checking what is on the disk: a table while the server runs (CHECK TABLE), and a whole data directory
//! while it does not (`palisade check`).
//!
//! ```text
//! directory ── lock ─► redo log: groups, end ─► open on a scratch disk, at the lowest level of force that opens
//!     ─► undo: segments, records ─► dictionary ─► every table: trees, chains, rows by every index, space
//!     ─► every file from its first page to its last: checksum, number, LSN, content
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | `finding` | what is found: where, what, what is lost, what to do |
//! | `table` | one table, for both |
//! | `rows` | every index against the rows |
//! | `directory` | the order of things, for a directory |
//! | `pages` | files from front to back, with deep reads |
//! | `log` | the redo log |
//!
//! A check of a directory changes nothing: recovery runs on a [scratch disk](palisade_io::ScratchFileSystem),
//! in memory, so that what a start would see is what is checked. Structures are checked by the code that
//! CHECK TABLE and the tests use ([`palisade_btree::verify`], [`palisade_txn::undo::verify`]), through a
//! buffer pool of a given size: memory is bounded by that, a bit for each page, and what recovery changes,
//! which is counted before it begins.

pub mod directory;
pub mod finding;
mod log;
mod pages;
mod rows;
mod stale;
mod table;

pub use directory::{CheckConfig, DirectoryReport, TableReport, check_directory};
pub use finding::{Finding, Kind, Place, Severity};
pub use log::LogSummary;
pub use pages::FileSummary;
pub use table::{IndexCheck, PreparedCheck, RunningCheck, TableCheck, TableCheckOptions};

/// How far a check is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// What is being checked: a file or a table.
    pub what: &'a str,
    /// Pages of it that have been read.
    pub pages: u64,
}

/// Is told how far a check is, and says whether it goes on.
pub type Watch<'a> = dyn FnMut(Progress<'_>) -> bool + 'a;
