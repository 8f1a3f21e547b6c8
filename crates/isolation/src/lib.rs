//! Finds out from a history of transactions which isolation anomalies it shows. Tests only; no I/O.
//!
//! Clients append elements, each used once, to lists, and read lists. The lists themselves then say in which order their
//! versions were made, and so who depended on whom: this is the list-append workload of Elle (Kingsbury and Alvaro, 2020),
//! and the dependencies and anomalies are those of Adya's thesis (1999).
//!
//! | module | what it holds |
//! |---|---|
//! | [`history`] | what clients did and saw |
//! | [`branch`] | what the client of a two-phase commit knows of a transaction's end |
//! | [`versions`] | the order of each list's versions, and what single reads and commits show |
//! | [`graph`] | who depended on whom, and cycles of dependencies |
//! | [`mod@check`] | what each isolation level proscribes |
//! | [`workload`] | transactions at random, replayable from a seed |
//!
//! What a verdict means: every anomaly reported is one (the checker is sound, given that elements are used once). Silence
//! means that this history shows none, not that the server could not; docs/decisions/050 says more.

#![forbid(unsafe_code)]

pub mod branch;
pub mod check;
pub mod graph;
pub mod history;
pub mod versions;
pub mod workload;

pub use check::{Anomaly, Kind, Level, check};
pub use history::{Access, Element, Fate, History, Key, Length, Look, Op, Transaction};

#[cfg(test)]
mod tests;
