//! Undo: what a transaction changed, so that it can be taken back and older versions can be made.
//!
//! Undo lives in pages of space 1, as *segments*: a chain of pages that one transaction at a time appends
//! records to, and the next one goes on where it ended. So a small transaction touches one page, which is in
//! memory because the one before touched it too. The page that records are appended to - the *tail* - also
//! says whether a transaction is active in the segment and where its newest record is; changing an entry,
//! writing its undo record and moving that pointer is one mini-transaction. That is all recovery needs: an
//! active segment is a transaction to be rolled back, and each step of a rollback restores an entry and moves
//! the pointer back in one mini-transaction too, so that it is never done twice.
//!
//! ```text
//! directory (pages 1 to 8): id limit, per segment: head page, tail page
//! segment:  head ──next──► page ──next──► tail
//!           ^ oldest history                ^ state, transaction, newest record; records are appended here
//! ```
//!
//! A transaction that is *prepared* (XA) has a Prepare record as its newest, and its segment's state says so:
//! recovery leaves it as it is, until a client decides. Then it is committed like any other, or the first
//! step of its rollback takes the Prepare record back, and with it the promise. In front of that record are
//! Locks records (`held`): what it has locked without changing it, which cannot be told from the rows.
//!
//! A committed transaction ends its records with a Commit record. Purge goes through the committed ones of a
//! segment in order, and gives back pages from the head; if that are many, the disk gets their room back
//! (`trim`). Some free pages are kept for deletes on a full disk (`reserve`). See docs/format-undo.md for the
//! bytes.

pub(crate) mod held;
pub(crate) mod history;
pub mod page;
pub mod record;
pub(crate) mod reserve;
pub mod segment;
pub(crate) mod trim;
pub mod verify;

pub use record::{Delta, Prior, Undo, UndoRecord};
pub use reserve::UndoReserve;
pub use segment::{Segment, UndoPlace, UndoSpace};
