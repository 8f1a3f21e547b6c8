//! Selects by primary key at a ladder of rates: what a read costs, and what it shares.

use crate::error::Result;
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Measurement, Scale, clients, factor, measure, oltp, room,
};
use crate::process;
use crate::results::{Better, Counter, Description};
use crate::server::{Answer, DATABASE, Literal, Server};
use crate::tool::{SYSBENCH, Tool};

/// See the module.
#[derive(Debug)]
pub struct ReadOnly;

const RATE: &str = "rate";
const HASH: &str = "adaptive_hash";
/// The rate of clients that ask as fast as they are answered.
const UNLIMITED: &str = "unlimited";
const RATES: [&str; 5] = ["2000", "5000", "10000", "20000", UNLIMITED];
const VARIABLE: &str = "innodb_adaptive_hash_index";
/// Warning of a variable that is there for those who set it.
const NO_EFFECT: &str = "1618";
const SCRIPT: &str = "oltp_point_select";

/// Calls of mutexes and locks of threads so far, as performance_schema counts them: `None` where it does not,
/// because the server was started without the instruments.
fn latch_calls(server: &mut Server) -> Result<Option<f64>> {
    const INSTRUMENTED: &str = "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME LIKE 'wait/synch/%' AND ENABLED = 'YES'";
    const CALLS: &str = "SELECT SUM(COUNT_STAR) FROM performance_schema.events_waits_summary_global_by_event_name WHERE EVENT_NAME LIKE 'wait/synch/%'";
    let number = |server: &mut Server, question: &str| match server.value(question) {
        Ok(answer) => Ok(answer.and_then(|answer| answer.parse::<f64>().ok())),
        // It has no such table.
        Err(crate::error::Error::Statement { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    // More than a handful: some are on by default, which tells nothing of the others.
    match number(server, INSTRUMENTED)? {
        Some(count) if count >= 20.0 => number(server, CALLS),
        _ => Ok(None),
    }
}

/// What the server says if the variable, which has that value, does nothing in it.
fn has_no_effect(server: &mut Server, value: &str) -> Result<Option<String>> {
    server.query(&format!("SET GLOBAL {VARIABLE} = {value}"))?;
    let warnings = server.query("SHOW WARNINGS")?.into_iter();
    let mut said = warnings.filter(|row| matches!(row.get(1), Some(Some(code)) if code == NO_EFFECT));
    Ok(said.next().and_then(|row| row.into_iter().nth(2).flatten()))
}

impl Experiment for ReadOnly {
    fn description(&self) -> Description {
        Description {
            name: "read-only".to_owned(),
            title: "Selects by primary key at a ladder of rates".to_owned(),
            question: "Every statement is a SELECT of one row by its primary key, prepared, in a transaction of its own; \
                       all rows are in memory. At the same rate, how much processor time does a query take, in the program and \
                       in the kernel, and how long does it take? How many are there without a rate, and what becomes of that with \
                       many clients? Does an adaptive hash index help? Where the server was started with its instruments for \
                       mutexes and locks of threads (performance-schema-instrument='wait/synch/%=on'), their calls are counted, \
                       which costs it time: compare its rates in another run."
                .to_owned(),
            factors: vec![factor(RATE, "queries a second"), factor(CLIENTS, "clients"), factor(HASH, "adaptive hash index")],
            measures: vec![
                measure("tps", "queries per second", "/s", Better::Higher),
                measure("user_us", "server CPU per query in the program", "µs", Better::Lower),
                measure("kernel_us", "server CPU per query in the kernel", "µs", Better::Lower),
                measure("p50_ms", "median of a query's time", "ms", Better::Lower),
                measure("p95_ms", "95th percentile", "ms", Better::Lower),
                measure("p99_ms", "99th percentile", "ms", Better::Lower),
                measure("latches", "calls of mutexes and locks of threads per query", "", Better::Lower),
            ],
            x: CLIENTS.to_owned(),
            within: None,
            turning: None,
            chooser: None,
            sums: false,
        }
    }

    fn tools(&self) -> &'static [Tool] {
        &[SYSBENCH]
    }

    fn scale(&self, quick: bool) -> Scale {
        let full = Scale::new(3, &[16, 64, 256, 600]).seconds(10).tables(8).rows(25_000);
        if quick { full.quick(1).clients(&[4]).seconds(1).tables(1).rows(1000) } else { full }
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        let mut all = Vec::new();
        for rate in RATES {
            for clients in &scale.clients {
                for hash in ["OFF", "ON"] {
                    let levels =
                        [(RATE, rate.to_owned()), (CLIENTS, clients.to_string()), (HASH, hash.to_owned())];
                    all.push(levels.map(|(key, level)| (key.to_owned(), level)).into());
                }
            }
        }
        all
    }

    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>> {
        server.database(DATABASE)?;
        oltp(SCRIPT, bench.scale, 1).prepare(&server.address)?;
        Ok(Vec::new())
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        let clients = clients(levels)?;
        room(server, clients)?;
        if let Answer::Refused(reason) = server.set(VARIABLE, Literal::Text(&levels[HASH]))? {
            return Ok(Attempt::NotAvailable(reason));
        }
        if let Some(reason) = has_no_effect(server, &levels[HASH])? {
            return Ok(Attempt::NotAvailable(reason));
        }
        let mut load = oltp(SCRIPT, bench.scale, clients);
        load.options.push("histogram=on".to_owned());
        if levels[RATE] != UNLIMITED {
            load.options.push(format!("rate={}", levels[RATE]));
        }
        let cpu = |server: &Server| server.pid().and_then(process::cpu_times_us);
        let before = (latch_calls(server)?, cpu(server));
        let measured = load.run(&server.address)?;
        let after = (latch_calls(server)?, cpu(server));
        let of_each = |sum: f64| (measured.queries > 0.0).then(|| sum / measured.queries);
        let cpu = before.1.zip(after.1).map(|(before, after)| (after.0 - before.0, after.1 - before.1));
        let latches = before.0.zip(after.0).map(|(before, after)| after - before);
        let quantile = |share: f64| measured.quantile_ms(share);
        let values = [
            ("tps", Some(measured.query_rate)),
            ("user_us", cpu.and_then(|(user, _)| of_each(user))),
            ("kernel_us", cpu.and_then(|(_, kernel)| of_each(kernel))),
            ("p50_ms", quantile(0.5)),
            ("p95_ms", quantile(0.95)),
            ("p99_ms", quantile(0.99)),
            ("latches", latches.and_then(of_each)),
        ];
        let values = values.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        let counters = before.0.zip(after.0).map(|(before, after)| {
            ("performance_schema: calls of wait/synch/%".to_owned(), Counter { before, after, counts: true })
        });
        let commands =
            ["prepare", "run"].map(|action| load.invocation(&server.address, action).shown()).into();
        Ok(Attempt::Measured(Measurement {
            values,
            commands,
            counters: counters.into_iter().collect(),
            ..Measurement::default()
        }))
    }
}
