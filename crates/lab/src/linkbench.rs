//! A load like LinkBench's, which is Facebook's model of its social graph: three tables, ten kinds of
//! requests in the published mix, ids by the published distributions (Armstrong and others, LinkBench: a
//! database benchmark based on the Facebook social graph, SIGMOD 2013; the figures are those of its
//! configuration FBWorkload). The program is ours.
//!
//! ```text
//!   graph: who has how many links, who is asked for, payloads
//!     |                                   |
//!   load: threads, ids in chunks ---> tables <--- requests: threads, as fast as answers come
//!                                     (schema)        run: starts and ends them, counts
//! ```
//!
//! - A transaction is a request; its last statement is sent together with COMMIT, as LinkBench does it.
//! - A deadlock or a lock that is not had in time ends a request. It is counted, and the requester goes on.
//! - Differences: ids are spread by a multiplication modulo their number; the curve of links per node is
//!   straight between some forty of the published points; of a list that was cut off, the rest is asked for
//!   by the same requester only.

mod graph;
mod load;
mod requests;
mod run;
mod tables;

pub use load::load;
pub use requests::{Kind, MIX};
pub use run::{Measured, run};
pub use tables::{Codec, Sizes, TABLES, create, is_loaded, select, sizes};

/// Which load.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The schema of its tables.
    pub schema: String,
    /// Nodes to begin with.
    pub ids: u64,
    /// Connections that send requests.
    pub requesters: u32,
    /// What random numbers are made from: the same seed makes the same graph.
    pub seed: u64,
}

impl Workload {
    /// For the report: there is no command that does the same.
    pub fn shown(&self) -> String {
        let Workload { schema, ids, requesters, seed } = self;
        format!("linkbench in {schema}: {ids} ids, {requesters} requesters, seed {seed}")
    }
}
