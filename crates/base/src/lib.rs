//! The ground floor: names of things, and nothing that acts.
//!
//! | module | what it holds |
//! |---|---|
//! | [`ids`] | [`Lsn`], [`SpaceId`], [`PageNo`], [`PageId`], [`TrxId`] |
//! | [`event`] | [`Event`], the one-shot future everything waits on, and [`Blocked`], "release everything and wait for this" |
//! | [`turn`] | [`Turn`](turn::Turn), the word by which many threads call something that one at a time serves |
//! | [`seats`] | [`Seats`](seats::Seats), in which tasks work for one that may leave at any time |
//! | [`codec`] | little-endian and variable-length integers in byte slices; reading never panics |
//! | [`bytes`] | what two strings of bytes have in common |
//! | [`checksum`] | CRC-32C |
//! | [`clock`], [`prng`] | the seams through which time and randomness enter, so that a simulation can replay a seed |
//! | [`error_code`], [`error_catalogue`] | the errors clients see: number, SQLSTATE and text, each declared once |
//! | [`sysvar`], [`sysvar_catalogue`] | system variables, each declared once: options, SET, SHOW and --help follow |
//! | [`metric`] | counters declared once, read by SHOW STATUS, INNODB_METRICS and Prometheus |
//! | [`monitor`] | the view of them that INNODB_METRICS gives: enabled, disabled, reset |
//!
//! Deliberately absent: I/O and threads.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

pub mod bytes;
pub mod checksum;
pub mod clock;
pub mod codec;
pub mod cycle;
pub mod error_catalogue;
pub mod error_code;
pub mod event;
pub mod ids;
pub mod metric;
pub mod monitor;
pub mod planted;
pub mod prng;
pub mod seats;
pub mod sysvar;
pub mod sysvar_catalogue;
pub mod turn;

pub use error_code::{ErrorCode, MysqlError};
pub use event::{Attempt, Blocked, Event};
pub use ids::{Lsn, PageId, PageNo, SpaceId, TrxId};
