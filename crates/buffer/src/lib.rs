//! The buffer pool: pages in memory.
//!
//! | module | its story |
//! |---|---|
//! | [`page`] | what a page is, its checksum, and [`PageRead`], the way a search reads one |
//! | [`stored`] | the form in which a page is stored: as it is, or compressed |
//! | [`packing`] | which pages are compressed, and the holes that are left by them |
//! | `latch` | the latch: one word, three modes |
//! | `table`, [`space`] | from page number to page by arithmetic; misses, creation, growth of the file |
//! | [`guard`] | pages under latches |
//! | `frames`, `memory` | the memory and what is known of each piece of it |
//! | [`cleaner`], `flush_list`, `pacing` | eviction, writing back, checkpoints, and how fast |
//! | [`sink`], [`doublewrite`], `atomic` | how pages reach disk and survive torn writes |
//! | `kept`, `merging` | dirty pages that leave memory unwritten, and their changes that stay |
//! | [`places`] | spaces whose pages are never overwritten: where each of them is |
//! | `resize` | more or fewer frames while the pool is in use |
//! | `warm` | which pages are in memory, for a later start to load |
//! | [`pool`] | all of it together |
//!
//! A session that needs a page asks its [`Space`]: a page in memory costs an array index and the latch. One
//! that is not is read by an I/O thread while the session is parked on an event. Cleaners, in the background,
//! keep frames free and write changed pages back at the pace the log asks for; a session never writes a page.
//!
//! Deliberately absent: any knowledge of what the body of a page means.

mod atomic;
pub mod cleaner;
pub mod doublewrite;
mod error;
mod flush_list;
mod frames;
pub mod guard;
pub mod hints;
mod inspect;
mod kept;
mod latch;
mod memory;
mod merging;
pub mod metrics;
mod neighbours;
mod pacing;
pub mod packing;
pub mod page;
mod page_size;
pub mod places;
mod planted;
pub mod pool;
mod racy;
mod requests;
mod resize;
pub mod sink;
pub mod space;
pub mod stored;
mod sync;
mod table;
#[cfg(all(test, not(loom)))]
mod tests;
mod warm;

pub use atomic::Atomic;
pub use cleaner::StepReport;
pub use doublewrite::{AreaConfig, Doublewrite, Keeps, Repaired};
pub use error::{Corruption, Error};
pub use guard::{ExclusivePage, OptimisticPage, SharedPage};
pub use hints::{Hint, Hints};
pub use inspect::ResidentPage;
pub use kept::ApplyChanges;
pub use latch::{LatchWaits, latch_waits};
pub use neighbours::Neighbours;
pub use pacing::{FlushSettings, IoCapacity};
pub use packing::Packing;
pub use page::{PAGE_HEADER, Page, PageRead};
pub use page_size::PageSize;
pub use places::{OutOfPlace, PlaceStore};
pub use pool::{BufferConfig, BufferPool, FatalHook, PageCheck};
pub use resize::{ResizeError, Resizing};
pub use sink::{Off, PageSink};
pub use space::{ReadAhead, Space};
pub use stored::Codec;
pub use warm::Loaded;
