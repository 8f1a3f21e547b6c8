//! The redo log's threads on processors of their own: what does isolating them bring?

use crate::error::{Error, Result};
use crate::experiment::placement::{self, PLACEMENTS, Plan};
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Scale, clients, clients_and, factor, measure, oltp,
    run_sysbench,
};
use crate::metrics;
use crate::process;
use crate::results::{Better, Description};
use crate::server::{Answer, DATABASE, Literal, Server};
use crate::tool::{SYSBENCH, Tool};

/// See the module.
#[derive(Debug)]
pub struct RedoPipeline;

const PLACEMENT: &str = "placement";

impl Experiment for RedoPipeline {
    fn description(&self) -> Description {
        Description {
            name: "redo-pipeline".to_owned(),
            title: "The redo log's threads on processors of their own".to_owned(),
            question: "Where log writer and log flusher share processors with the sessions, they are not scheduled when \
                       they are needed. What do queries per second and the log's own counters say when both, one or none of \
                       them are isolated? sysbench oltp_write_only, uniform. Dedicated log threads are switched on where \
                       that is a choice."
                .to_owned(),
            factors: vec![factor(CLIENTS, "clients"), factor(PLACEMENT, "isolated")],
            measures: vec![
                measure("qps", "queries per second", "/s", Better::Higher),
                measure("tps", "transactions per second", "/s", Better::Higher),
                measure("p95_ms", "95th percentile of a transaction's time", "ms", Better::Lower),
                measure("cpu_us", "server CPU per transaction", "µs", Better::Lower),
                measure("seconds", "run time", "s", Better::Neutral),
                measure("lsn", "final LSN", "bytes", Better::Neutral),
                measure("redo_bytes", "redo per transaction", "bytes", Better::Lower),
            ],
            x: PLACEMENT.to_owned(),
            within: Some(PLACEMENT.to_owned()),
            turning: None,
            chooser: None,
            sums: false,
        }
    }

    fn tools(&self) -> &'static [Tool] {
        &[SYSBENCH]
    }

    fn scale(&self, quick: bool) -> Scale {
        let full = Scale::new(3, &[128]).seconds(20).tables(25).rows(25_000);
        if quick { full.quick(2).clients(&[16]).seconds(1).tables(2).rows(1000) } else { full }
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        let names: Vec<&str> = PLACEMENTS.iter().map(|(name, _)| *name).collect();
        clients_and(scale, Some((PLACEMENT, &names)))
    }

    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        server.database(DATABASE)?;
        oltp("oltp_write_only", bench.scale, 4).prepare(&server.address)?;
        if let Answer::Refused(reason) = server.set("innodb_log_writer_threads", Literal::Text("ON"))? {
            notes.push(format!("{}: dedicated log threads cannot be switched on: {reason}", server.name));
        }
        if let Answer::Refused(reason) = metrics::enable(server)? {
            notes.push(format!("{}: some log counters stay off: {reason}", server.name));
        }
        let absent = metrics::absent(&metrics::read(server));
        if !absent.is_empty() {
            let name = &server.name;
            notes.push(format!("{name}: information_schema.INNODB_METRICS lacks {}", absent.join(", ")));
        }
        let cpus = process::own_cpus();
        for (name, placement) in PLACEMENTS {
            let plan = Plan::new(*placement, &cpus);
            notes.push(match plan {
                Some(plan) => format!("Processors with '{name}': {}", plan.shown()),
                None => format!("Processors with '{name}': there are too few"),
            });
        }
        Ok(notes)
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        let wanted = &levels[PLACEMENT];
        let placement = PLACEMENTS.iter().find(|(name, _)| name == wanted).map(|(_, placement)| *placement);
        let placement = placement.ok_or_else(|| Error::Usage(format!("'{wanted}' is not a placement")))?;
        let applied = match placement::apply(server, placement)? {
            Ok(applied) => applied,
            Err(reason) => return Ok(Attempt::NotAvailable(reason)),
        };
        let mut load = oltp("oltp_write_only", bench.scale, clients(levels)?);
        load.cpus = applied.load_cpus;
        let before = metrics::read(server);
        let lsn_before = metrics::lsn(server, &before);
        let (measured, mut measurement) = run_sysbench(server, &load)?;
        let after = metrics::read(server);
        let lsn_after = metrics::lsn(server, &after);
        let values = &mut measurement.values;
        values.insert("qps".to_owned(), measured.query_rate);
        values.insert("seconds".to_owned(), measured.seconds);
        if let Some(lsn) = lsn_after {
            values.insert("lsn".to_owned(), lsn);
        }
        if let Some((after, before)) = lsn_after.zip(lsn_before).filter(|_| measured.transactions > 0.0) {
            values.insert("redo_bytes".to_owned(), (after - before) / measured.transactions);
        }
        measurement.commands.splice(0..0, applied.commands);
        measurement.counters = metrics::over(&before, &after);
        Ok(Attempt::Measured(measurement))
    }
}
