//! Instruments: what statements did and how long it took, kept in memory so that those who ask for it can
//! tell which statements cost what.
//!
//! | module | what it holds |
//! |---|---|
//! | [`class`] | the classes of statements: `statement/sql/select` |
//! | [`sums`] | the numbers of one statement, and of many |
//! | [`digests`] | statements by their digest, in shards of which each has one writer |
//! | [`prepared`] | prepared statements, and what their executions have done |
//! | [`session`] | a session's last statements and transactions, and its sums |
//! | [`transaction`] | transactions: what a session notes of them, and what they are as events |
//! | [`stage`] | the stages of statements |
//! | [`tally`] | what sessions have counted, in families that begin anew apart |
//! | [`histogram`] | times in MySQL's buckets, and their quantiles |
//! | `ring` | the last events, in memory that is used again |
//! | `versioned` | numbers that one thread changes and any thread reads |
//!
//! # The life of an event
//!
//! ```text
//!  session                     thread's shard                   those who ask
//!  ───────                     ──────────────                   ─────────────
//!  counts while it executes
//!  statement ends: Done ──┬──▶ digest's row, histogram ───────▶ added up over shards
//!                         └──▶ the session's sums, history ───▶ copied behind the session's lock
//! ```
//!
//! What may never happen: that a session waits for one who reads a shard, or that two sessions on different
//! threads write to the same cache line because both execute the same statement.
//!
//! Absent here: a clock, SQL, and who reads. Times are nanoseconds since a moment that the caller chooses.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used))]

pub mod class;
pub mod digests;
pub mod histogram;
pub mod prepared;
mod ring;
pub mod session;
pub mod stage;
pub mod sums;
mod sync;
pub mod tally;
pub mod transaction;
mod versioned;
