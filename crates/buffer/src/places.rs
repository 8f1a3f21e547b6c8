//! Out of place: a page is written to a free place of its file, never over what it was.
//!
//! | module | its story |
//! |---|---|
//! | `place`, `blocks` | a run of blocks, and which of them are free |
//! | `header` | the block that says what file it is |
//! | `store` | the files of one space, and the places of its pages |
//! | `chunk` | the slots of the map file, and why a bad one is no lost place |
//! | `map` | the map file: what has been written into it, and zeros that must not be there |
//! | `record` | places in the redo log |
//! | `sink` | how a batch is written |
//! | `recovery` | the places at the end of the log |
//! | `rebuild` | a map that is lost, made again from the pages |
//!
//! docs/format-places.md shows the formats.
//!
//! # Why a torn write is nothing
//!
//! A write goes to a run that no page has. If the power fails in the middle of it, the page is where it was.
//! Only when the run is whole on the disk does anything say that the page is there now: a *place record* in
//! the redo log, or the map. And only when that is durable is the old run given to another page. So a page
//! costs one write, and no flush but those of the data and the log.
//!
//! ```text
//!   A at 4, B at 8, 12 free
//!   write A: 12 is written ─► synced ─► record {A: 12} durable ─► 4 is free
//!   write B: 4 is written: whatever a crash makes of it, A is at 12 and B at 8
//! ```
//!
//! # Recovery
//!
//! In two passes. The first reads the log for place records only: after it, each page's place is that of the
//! last durable record. The second is the redo of pages, which reads and writes them there. One pass would
//! not do: at an earlier record's place there may be another page by now.

mod blocks;
pub mod chunk;
mod header;
mod map;
mod place;
mod rebuild;
pub mod record;
mod recovery;
mod sink;
mod store;

pub use header::header_of;
pub use place::{MAX_BLOCKS, Place};
pub use rebuild::{FoundPages, rebuild_map};
pub use recovery::{RecoverError, recover};
pub use sink::OutOfPlace;
pub use store::PlaceStore;
