//! The lab: experiments that compare servers which speak MySQL's protocol, and reports that show their
//! spread.
//!
//! The picture, from left to right:
//!
//! ```text
//!   ServerSpec --> Server ---.                                    .--> results.json
//!   (spec)         (server)   >--> runner --> Results --(results)-<
//!   Experiment ---------------'   in rounds,                      '--> report.html
//!   (experiment)  calls mysqlslap,  alternating                         made from the JSON alone (report)
//!                 sysbench (tool)
//! ```
//!
//! - An [`experiment`] says what varies (its factors: clients, a setting, a placement), what is measured, and
//!   how one run is made. The load itself comes from the field's own tools ([`sysbench`], [`mysqlslap`]);
//!   ours are the Lua scripts of loads that sysbench has not, and a load like LinkBench's ([`linkbench`]).
//! - A [`suite`] is a data set of ours with statements over it: TPC-H, joins, and others that have a fast
//!   way.
//! - The [`runner`] repeats every run, the servers next to each other in time and every other round
//!   backwards, so that a drift of the machine falls on all alike.
//! - [`gauges`] look at a server second by second while a load runs.
//! - [`results`] holds what was measured, run by run, with everything needed to read it: settings, machine,
//!   commands.
//! - [`stats`], [`compare`] and [`standing`] say what follows from it, and [`report`] shows it. No number goes
//!   without its spread when there is one.
//! - Whatever happens to the lab, the servers that it started go with it: the [`guardian`] sees to that.
//!
//! The lab knows servers from the outside only and uses no other crate of the house.

#![forbid(unsafe_code)]

pub mod compare;
pub mod connection;
pub mod error;
pub mod experiment;
#[cfg(test)]
mod fake;
pub mod gauges;
pub mod guardian;
pub mod linkbench;
pub mod machine;
pub mod metrics;
pub mod mysqlslap;
pub mod notes;
pub mod ongoing;
pub mod process;
pub mod report;
pub mod results;
pub mod runner;
pub mod say;
pub mod server;
pub mod spec;
pub mod standing;
pub mod stats;
pub mod steal;
pub mod suite;
pub mod sysbench;
pub mod tool;

pub use error::{Error, Result};
