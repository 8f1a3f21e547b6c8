//! Loads without end, and the turns under them: mysqlslap's mixed load, as in log-writer-threads, and sysbench oltp_write_only,
//! uniform.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::experiment::{Attempt, Bench, Levels, Measurement, Scale, clients, factor, measure, oltp, room};
use crate::mysqlslap::{self, PlainText};
use crate::ongoing::{Beginning, Ongoing, Reading};
use crate::results::{Better, Factor, Measure};
use crate::server::Server;
use crate::sysbench;
use crate::tool::{self, Invocation};

/// The factor's key.
pub const LOAD: &str = "load";

/// mysqlslap's mixed load.
const SLAP: &str = "slap-mixed";

/// sysbench's.
const OLTP: &str = "oltp_write_only";

const LOADS: &[&str] = &[SLAP, OLTP];

/// Rows of mysqlslap's table before its clients begin.
const PRELOADED: u32 = 2000;

/// Connections that fill sysbench's tables.
const PREPARING: u32 = 4;

/// Statements that a client of mysqlslap does not come to the end of.
const NO_END: u32 = 1_000_000_000;

/// How long a load goes on before the first turn: connections and an empty table's first pages are not what is asked about.
const WARM_UP: Duration = Duration::from_secs(3);

/// How long each of three settings has the load in a repeat of the [`repeats`] below.
const TURN: Duration = Duration::from_secs(2);

/// Statements of each client of sysbench before the first turn that counts. Each has an interpreter of its own, which compiles what it has
/// run often enough, and gives up at what it cannot compile; hundreds of them take minutes to come to that.
const COMPILED: u64 = 5000;

/// How long that may take.
const WARM_UP_LIMIT: Duration = Duration::from_secs(1800);

/// How often the server is asked meanwhile.
const STEP: Duration = Duration::from_millis(250);

/// The schemas of a load.
pub struct Schemas {
    /// mysqlslap's, which drops and makes it.
    pub slap: String,
    /// sysbench's.
    pub oltp: String,
}

/// The factor.
pub fn load_factor() -> Factor {
    factor(LOAD, "load")
}

/// What a turn yields.
pub fn measures() -> Vec<Measure> {
    vec![
        measure("statements_per_s", "statements per second", "/s", Better::Higher),
        measure("cpu_us", "server CPU per statement", "µs", Better::Lower),
    ]
}

/// Each of the loads with each of these levels.
pub fn each_load(levels: &[Levels]) -> Vec<Levels> {
    let with = |load: &&str| {
        let mut all = levels.to_vec();
        all.iter_mut().for_each(|levels| drop(levels.insert(LOAD.to_owned(), (*load).to_owned())));
        all
    };
    LOADS.iter().flat_map(with).collect()
}

/// For how many repeats a load lasts.
pub fn repeats(levels: &Levels, scale: &Scale) -> u32 {
    // each of three settings in each place, once or both ways round, twice; mysqlslap's table would outgrow the buffer pool
    let at_least: u32 = if levels[LOAD] == SLAP { 3 } else { 12 };
    let short_turns = TURN.as_nanos() / scale.turn_length().as_nanos().max(1);
    at_least.saturating_mul(u32::try_from(short_turns).unwrap_or(u32::MAX).max(1))
}

/// Makes the schemas and fills sysbench's.
pub fn prepare(server: &mut Server, schemas: &Schemas, bench: &Bench) -> Result<()> {
    server.database(&schemas.slap)?;
    server.database(&schemas.oltp)?;
    sysbench_load(schemas, bench, PREPARING).prepare(&server.address)
}

/// Starts a load and warms it up.
pub fn start<'a>(
    server: &mut Server,
    levels: &Levels,
    schemas: &Schemas,
    bench: &Bench<'a>,
) -> Result<Ongoing<'a>> {
    // the table that the last load of mysqlslap has left
    server.query(&format!("DROP DATABASE IF EXISTS {}", schemas.slap))?;
    let clients = clients(levels)?;
    room(server, clients)?;
    let (invocation, beginning) = load(server, levels, clients, schemas, bench)?;
    let mut ongoing = Ongoing::start(&invocation, beginning, server, bench.guardian)?;
    if levels[LOAD] == OLTP {
        let prepared = sysbench_load(schemas, bench, PREPARING).invocation(&server.address, "prepare");
        ongoing.commands.insert(0, prepared.shown());
    }
    tool::pause(WARM_UP)?;
    if levels[LOAD] == OLTP {
        warm_up(&mut ongoing, server, u64::from(clients) * COMPILED)?;
    }
    Ok(ongoing)
}

/// Waits until the server has been sent so many statements.
fn warm_up(ongoing: &mut Ongoing, server: &mut Server, statements: u64) -> Result<()> {
    let (start, end) = (Reading::take(server)?, Instant::now() + WARM_UP_LIMIT);
    while Reading::take(server)?.since(&start).is_none_or(|work| work.statements < statements as f64) {
        if Instant::now() > end {
            let limit = WARM_UP_LIMIT.as_secs();
            return Err(Error::check(
                &server.name,
                format!("the load did not come to its rate within {limit} s"),
            ));
        }
        tool::pause(STEP)?;
        ongoing.check(server)?;
    }
    Ok(())
}

/// The load of these levels, without end, and how its beginning shows.
fn load(
    server: &Server,
    levels: &Levels,
    clients: u32,
    schemas: &Schemas,
    bench: &Bench,
) -> Result<(Invocation, Beginning)> {
    if levels[LOAD] == SLAP {
        let load = mysqlslap::Load {
            kind: "mixed".to_owned(),
            database: schemas.slap.clone(),
            clients,
            statements: NO_END,
            preloaded: PRELOADED,
        };
        let invocation = load.invocation(&server.address, PlainText::detect()?);
        let beginning = Beginning {
            schema: schemas.slap.clone(),
            // the one that has filled the table stays in the schema
            connections: clients + 1,
            counter: "Com_insert",
            beyond: PRELOADED.into(),
        };
        return Ok((invocation, beginning));
    }
    let load = sysbench::Load { seconds: sysbench::NO_END, ..sysbench_load(schemas, bench, clients) };
    let beginning =
        Beginning { schema: schemas.oltp.clone(), connections: clients, counter: "Com_commit", beyond: 0 };
    Ok((load.invocation(&server.address, "run"), beginning))
}

fn sysbench_load(schemas: &Schemas, bench: &Bench, clients: u32) -> sysbench::Load {
    sysbench::Load { database: schemas.oltp.clone(), ..oltp(OLTP, bench.scale, clients) }
}

/// A turn: its first half lets things settle, the second one is counted by the server.
pub fn take_turn(server: &mut Server, bench: &Bench) -> Result<Attempt> {
    let half = bench.scale.turn_length() / 2;
    tool::pause(half)?;
    let before = Reading::take(server)?;
    tool::pause(half)?;
    let after = Reading::take(server)?;
    let Some(work) = after.since(&before) else {
        return Err(Error::check(&server.name, "the load stood still"));
    };
    let mut measurement = Measurement::default();
    measurement.values.insert("statements_per_s".to_owned(), work.statements / work.seconds);
    if let Some(cpu_us) = work.cpu_us {
        measurement.values.insert("cpu_us".to_owned(), cpu_us / work.statements);
    }
    Ok(Attempt::Measured(measurement))
}
