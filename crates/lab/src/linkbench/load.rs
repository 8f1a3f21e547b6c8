//! The load phase: threads take ids in chunks and insert nodes, links and counts, many rows a statement.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use mysql::prelude::Queryable as _;
use rand::SeedableRng as _;
use rand::rngs::SmallRng;

use crate::connection::{self, ANSWER_LIMIT};
use crate::error::{Error, Result};
use crate::linkbench::Workload;
use crate::linkbench::graph::{Graph, LINK_TYPES, Payload, link_type};
use crate::linkbench::requests::{NODE_TYPE, VISIBLE, literal, milliseconds, seconds};
use crate::linkbench::tables::note_loaded;
use crate::server::Server;
use crate::tool;

/// Connections that load.
const LOADERS: u64 = 4;

/// Ids that a loader takes at once.
const CHUNK: u64 = 1024;

/// Rows of a statement.
const BATCH: usize = 1024;

/// How often the lab looks at how far they are.
const STEP: Duration = Duration::from_millis(200);

/// Fills the tables, which are empty. Says how far it is after each quarter. Waits for: the loaders.
pub fn load(server: &mut Server, workload: &Workload) -> Result<()> {
    let graph = Graph::new(workload.ids);
    let (next, stop) = (AtomicU64::new(1), AtomicBool::new(false));
    let loaded = thread::scope(|scope| {
        let loaders: Vec<_> = (0..LOADERS)
            .map(|number| {
                let (next, stop, address, name) = (&next, &stop, &server.address, &server.name);
                scope.spawn(move || {
                    let options = connection::options(address, ANSWER_LIMIT).db_name(Some(&workload.schema));
                    let rng =
                        SmallRng::seed_from_u64(workload.seed.wrapping_mul(LOADERS).wrapping_add(number));
                    let loaded = mysql::Conn::new(options)
                        .and_then(|connection| Loader::new(connection, rng, graph).all(next, stop));
                    // the others cannot make up for it
                    stop.fetch_or(loaded.is_err(), Ordering::Relaxed);
                    loaded.map_err(|error| Error::check(name, connection::reason(&error)))
                })
            })
            .collect();
        let waited = wait(&workload.schema, &server.name, &next, graph.ids(), || {
            loaders.iter().all(|loader| loader.is_finished())
        });
        stop.fetch_or(waited.is_err(), Ordering::Relaxed);
        let ended = loaders
            .into_iter()
            .map(|loader| loader.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)));
        let ended: Result<Vec<()>> = ended.collect();
        waited.and(ended)
    });
    loaded?;
    note_loaded(server, &workload.schema)
}

/// Until the loaders have ended.
fn wait(schema: &str, name: &str, next: &AtomicU64, ids: u64, ended: impl Fn() -> bool) -> Result<()> {
    let mut said = 0;
    while !ended() {
        tool::pause(STEP)?;
        let quarters = 4 * next.load(Ordering::Relaxed).saturating_sub(1).min(ids) / ids;
        if quarters > said {
            said = quarters;
            crate::tell!("{name}: {} % of {ids} ids are loaded into {schema}", 25 * quarters);
        }
    }
    Ok(())
}

struct Loader {
    connection: mysql::Conn,
    rng: SmallRng,
    graph: Graph,
    link: Payload,
    node: Payload,
}

impl Loader {
    fn new(connection: mysql::Conn, mut rng: SmallRng, graph: Graph) -> Loader {
        let (link, node) = (Payload::of_link(&mut rng), Payload::of_node(&mut rng));
        Loader { connection, rng, graph, link, node }
    }

    fn all(mut self, next: &AtomicU64, stop: &AtomicBool) -> mysql::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let from = next.fetch_add(CHUNK, Ordering::Relaxed);
            if from > self.graph.ids() {
                break;
            }
            self.chunk(from..(from + CHUNK).min(self.graph.ids() + 1))?;
        }
        Ok(())
    }

    fn chunk(&mut self, ids: std::ops::Range<u64>) -> mysql::Result<()> {
        let now = milliseconds();
        let (mut nodes, mut links, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for id in ids {
            let data = literal(&self.node.next(&mut self.rng));
            nodes.push(format!("({id},{NODE_TYPE},1,{},{data})", seconds()));
            for kind in 0..LINK_TYPES {
                let (count, link_type) = (self.graph.loaded(id, kind), link_type(kind));
                for other in id..id + count {
                    let data = literal(&self.link.next(&mut self.rng));
                    links.push(format!("({id},{other},{link_type},{VISIBLE},{data},{now},0)"));
                    if links.len() == BATCH {
                        self.insert(
                            "linktable (id1, id2, link_type, visibility, data, time, version)",
                            &mut links,
                        )?;
                    }
                }
                if count > 0 {
                    counts.push(format!("({id},{link_type},{count},{now},0)"));
                }
            }
        }
        self.insert("nodetable (id, type, version, time, data)", &mut nodes)?;
        self.insert("linktable (id1, id2, link_type, visibility, data, time, version)", &mut links)?;
        self.insert("counttable (id, link_type, count, time, version)", &mut counts)
    }

    fn insert(&mut self, into: &str, rows: &mut Vec<String>) -> mysql::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        self.connection.query_drop(format!("INSERT INTO {into} VALUES {}", rows.join(",")))?;
        rows.clear();
        Ok(())
    }
}
