//! The page store: changes to several pages at once, space for pages, and B+trees.
//!
//! | module | its story |
//! |---|---|
//! | [`mtr`] | mini-transactions: changes of several pages that are in the log all or not at all |
//! | [`op`] | what can be done to a page: declared once, for doing and redoing |
//! | [`layout`], [`node`] | where everything is on a page; the slotted page |
//! | [`alloc`] | extents, and which pages are in use |
//! | [`tree`] | B+trees: reading without latches, changing one leaf, splitting and merging |
//! | [`overflow`] | chains of pages for large values |
//! | [`recovery`] | redo after a crash, page by page |
//! | [`verify`] | the checker of trees and spaces |
//!
//! An operation acquires before it applies ([`Attempt`]): it says what to wait for and is called again, holding nothing in
//! between. So wherever a function here "waits for" something, it returns
//! [`Blocked::Wait`](palisade_base::Blocked::Wait).
//!
//! Deliberately absent: transactions. Whoever changes an entry here has decided that it may.

#![forbid(unsafe_code)]

pub mod alloc;
pub mod blank;
mod error;
pub mod layout;
pub mod metrics;
pub mod mtr;
pub mod node;
pub mod op;
pub mod overflow;
mod page_set;
pub mod recovery;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod verify;

pub use error::{Attempt, Error};
pub use layout::{max_entry, max_key, page_type};
pub use metrics::METRICS;
pub use mtr::{Handle, Mtr};
pub use node::Key;
pub use op::PageOp;
pub use page_set::PageSet;
pub use tree::Tree;
pub use tree::change::Position;
pub use tree::scan::{Coming, Direction, Entry, MOST_AHEAD, Passed, ScanEnd, Visitor};
