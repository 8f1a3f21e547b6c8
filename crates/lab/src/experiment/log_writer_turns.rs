//! The question of [`log_writer_threads`], of both its loads and from one client on, where the settings take turns under one
//! load.

use crate::error::{Error, Result};
use crate::experiment::log_writer_threads::{self, VARIABLE};
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Measurement, Scale, SharedLoad, Start, clients, clients_and,
    factor, measure, oltp, turn,
};
use crate::mysqlslap::{self, PlainText};
use crate::ongoing::{Beginning, Ongoing, Reading};
use crate::results::{Better, Description};
use crate::server::{Answer, DATABASE, SLAP_DATABASE, Server};
use crate::sysbench;
use crate::tool::{self, Invocation, MYSQLSLAP, SYSBENCH, Tool};

/// See the module.
#[derive(Debug)]
pub struct LogWriterTurns;

const LOAD: &str = "load";

/// mysqlslap's mixed load.
const SLAP: &str = "slap-mixed";

/// sysbench's.
const OLTP: &str = "oltp_write_only";

const LOADS: &[&str] = &[SLAP, OLTP];

/// A server without the variable has nothing to take turns.
const SETTINGS: &[&str] = &["ON", "OFF", "AUTO"];

/// Rows of mysqlslap's table before its clients begin.
const PRELOADED: u32 = 2000;

/// Connections that fill sysbench's tables.
const PREPARING: u32 = 4;

/// Statements that a client of mysqlslap does not come to the end of.
const NO_END: u32 = 1_000_000_000;

/// Turns before the first that counts: connections, interpreters and an empty table's first pages are not what is asked about.
const WARM_UP: u32 = 2;

impl Experiment for LogWriterTurns {
    fn description(&self) -> Description {
        Description {
            name: "log-writer-turns".to_owned(),
            title: "innodb_log_writer_threads in turns under one load".to_owned(),
            question: "The question of log-writer-threads: does a server that chooses by itself (AUTO) choose right, at each \
                       number of clients? Here one load goes on while the settings take turns, in an order in which a drift \
                       cancels out, so that the runs of a repeat differ in little but the setting. The server counts its statements itself, in the second \
                       half of a turn: in the first one a setting takes effect. mysqlslap's mixed load \
                       as in log-writer-threads, begun anew for every third repeat because its table grows, and sysbench \
                       oltp_write_only, uniform."
                .to_owned(),
            factors: vec![factor(LOAD, "load"), factor(CLIENTS, "clients"), factor(VARIABLE, VARIABLE)],
            measures: vec![
                measure("statements_per_s", "statements per second", "/s", Better::Higher),
                measure("cpu_us", "server CPU per statement", "µs", Better::Lower),
            ],
            x: CLIENTS.to_owned(),
            within: Some(VARIABLE.to_owned()),
            turning: Some(VARIABLE.to_owned()),
            chooser: Some(log_writer_threads::chooser()),
        }
    }

    fn tools(&self) -> &'static [Tool] {
        &[MYSQLSLAP, SYSBENCH]
    }

    fn scale(&self, quick: bool) -> Scale {
        let full = Scale::new(12, &[1, 4, 16, 64, 150, 300, 600]).seconds(2).tables(8).rows(25_000);
        if quick { full.quick(2).clients(&[4]).seconds(1).tables(1).rows(1000) } else { full }
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        let with = |load: &&str| {
            let mut all = clients_and(scale, Some((VARIABLE, SETTINGS)));
            all.iter_mut().for_each(|levels| drop(levels.insert(LOAD.to_owned(), (*load).to_owned())));
            all
        };
        LOADS.iter().flat_map(with).collect()
    }

    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>> {
        server.database(SLAP_DATABASE)?;
        server.database(DATABASE)?;
        oltp(OLTP, bench.scale, PREPARING).prepare(&server.address)?;
        Ok(Vec::new())
    }

    fn shared_load(&self) -> Option<&dyn SharedLoad> {
        Some(self)
    }

    /// A turn.
    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        if let Answer::Refused(reason) = log_writer_threads::set(server, levels)? {
            return Ok(Attempt::NotAvailable(reason));
        }
        let half = turn(bench.scale) / 2;
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
}

impl SharedLoad for LogWriterTurns {
    fn repeats(&self, levels: &Levels) -> u32 {
        // each setting in each place, once or both ways round; mysqlslap's table would outgrow the buffer pool
        if levels[LOAD] == SLAP { 3 } else { 6 }
    }

    fn start<'a>(&self, server: &mut Server, levels: &Levels, bench: &Bench<'a>) -> Result<Start<'a>> {
        if server.variable(VARIABLE)?.is_none() {
            return Ok(Start::NotAvailable(format!("there is no variable {VARIABLE}")));
        }
        // the table that the last load of mysqlslap has left
        server.query(&format!("DROP DATABASE IF EXISTS {SLAP_DATABASE}"))?;
        let clients = clients(levels)?;
        let (invocation, beginning) = load(server, levels, clients, bench)?;
        let mut ongoing = Ongoing::start(&invocation, clients, beginning, server, bench.guardian)?;
        if levels[LOAD] == OLTP {
            let prepared = oltp(OLTP, bench.scale, PREPARING).invocation(&server.address, "prepare");
            ongoing.commands.insert(0, prepared.shown());
        }
        tool::pause(turn(bench.scale) * WARM_UP)?;
        Ok(Start::Goes(ongoing))
    }
}

/// The load of these levels, without end, and how its beginning shows.
fn load(server: &Server, levels: &Levels, clients: u32, bench: &Bench) -> Result<(Invocation, Beginning)> {
    if levels[LOAD] == SLAP {
        let load = mysqlslap::Load {
            kind: "mixed".to_owned(),
            database: SLAP_DATABASE.to_owned(),
            clients,
            statements: NO_END,
            preloaded: PRELOADED,
        };
        let invocation = load.invocation(&server.address, PlainText::detect()?);
        return Ok((invocation, Beginning { counter: "Com_insert", beyond: PRELOADED.into() }));
    }
    let mut load = oltp(OLTP, bench.scale, clients);
    load.seconds = sysbench::NO_END;
    Ok((load.invocation(&server.address, "run"), Beginning { counter: "Com_commit", beyond: 0 }))
}
