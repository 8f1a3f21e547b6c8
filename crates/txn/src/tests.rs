//! Transactions from outside: against a naive model, across crashes, and locks by themselves.

mod emptied;
mod format;
mod harness;
mod hot_row;
mod implicit_locks;
mod lock_memory;
mod locks;
mod model;
mod old_versions;
mod prepared;
mod prepared_locks;
mod purge;
mod ranges;
mod segments;
mod sequence;
mod trim;
mod undo_readers;
mod unseen_locks;
mod verify;
