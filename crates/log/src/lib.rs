//! The redo log: an endless stream of bytes, addressed by [`Lsn`], that survives.
//!
//! A mini-transaction appends its records with [`Log::append`]; a commit awaits [`Log::wait_durable`]; after a crash
//! [`LogReader`] gives back everything that was ever reported durable, in order.
//!
//! ```text
//!   LSN ──>      checkpoint        durable      written       tail          next
//!   ──────────────┼─────────────────┼────────────┼─────────────┼─────────────┼──
//!     recycled    │ read at recovery│ not synced │ in the ring,│ reserved,   │
//!                 │                 │ yet        │ complete    │ being copied│
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | `log` | [`Log`]: setting up, appending, checkpoints, shutting down |
//! | `ring` | the log buffer: reserve, copy, link, tail |
//! | `admission` | log credit, so that an append never waits |
//! | `frame`, `group`, `checkpoint` | the three formats: an append, a write, where to start; docs/format-log.md shows them |
//! | `writer`, `segments` | from the ring to the files |
//! | `durability`, `threads`, `waits` | who flushes, who waits, and who is woken |
//! | `metrics`, `averages` | what is counted, and what the last flushes were like |
//! | `dirty` | from where on the log is needed |
//! | `reader` | recovery's view |
//! | `ranges` | which LSNs each file holds |
//! | `inspect` | the files from outside, for the offline check |
//!
//! Invariants: an LSN is a logical position, where its bytes lie on disk is the writer's business. Nothing durable is
//! rewritten. `checkpoint <= durable <= written <= tail <= next`, and none of them ever goes back. A bad group below
//! the known durable LSN is corruption, never the end of the log. After a failed write or sync nothing is promised.
//!
//! Deliberately absent: any knowledge of what a record means, and of an async runtime.

#![forbid(unsafe_code)]

mod admission;
mod averages;
mod caller;
mod checkpoint;
mod config;
mod dirty;
mod durability;
mod error;
mod frame;
mod group;
mod inspect;
mod log;
mod metrics;
mod planted;
mod ranges;
mod reader;
mod ring;
mod segments;
mod sync;
mod threads;
mod waits;
mod writer;

pub use config::{FailureHook, LogConfig, WriterThreads};
pub use durability::{WaitDurable, WaitTail, WorkerInbox, yield_once};
pub use error::Error;
pub use inspect::{CheckpointSlot, LogFiles, SegmentFile, checkpoint_path, inspect};
pub use log::{Credit, LEAST_BUFFER, Log, LsnRange};
pub use metrics::METRICS;
pub use ranges::FileRange;
pub use reader::{LogEnd, LogReader, Loss, MtrRecord};

pub use palisade_base::Lsn;

#[cfg(all(test, not(loom)))]
mod tests;
