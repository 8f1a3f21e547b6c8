//! A queue in a table: many workers take the oldest job with SELECT ... FOR UPDATE SKIP LOCKED.

use crate::error::{Error, Result};
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Scale, clients, clients_and, factor, run_sysbench,
    sysbench_measures,
};
use crate::results::Description;
use crate::server::{DATABASE, Server};
use crate::sysbench::Load;
use crate::tool::{self, SYSBENCH, Tool};

/// See the module.
#[derive(Debug)]
pub struct Queue;

const SCRIPT: &str = include_str!("../../lua/queue.lua");

const ISOLATION: &str = "isolation";

fn load(bench: &Bench, clients: u32, isolation: &str) -> Result<Load> {
    Ok(Load {
        script: tool::script(bench.scripts, "queue.lua", SCRIPT)?.display().to_string(),
        database: DATABASE.to_owned(),
        options: vec![format!("jobs={}", bench.scale.rows.unwrap_or(1)), format!("isolation={isolation}")],
        clients,
        seconds: bench.scale.run_seconds(),
        by_second: false,
        cpus: None,
    })
}

fn waiting(server: &mut Server) -> Result<String> {
    Ok(server.value(&format!("SELECT COUNT(*) FROM {DATABASE}.queue"))?.unwrap_or_default())
}

impl Experiment for Queue {
    fn description(&self) -> Description {
        Description {
            name: "queue".to_owned(),
            title: "A queue in a table: SELECT ... FOR UPDATE SKIP LOCKED".to_owned(),
            question: "Each worker takes the oldest job that nobody else holds, deletes it and posts a new one, in one \
                       transaction of five statements. The oldest end of the table is a crowd of locked rows and of \
                       deleted ones that are not purged yet: how many jobs per second get through? After each run the \
                       queue must be as long as before; a job taken twice would make it longer."
                .to_owned(),
            factors: vec![factor(CLIENTS, "workers"), factor(ISOLATION, "isolation level")],
            measures: sysbench_measures(),
            x: ISOLATION.to_owned(),
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
        let full = Scale::new(5, &[64]).seconds(10).rows(1000);
        if quick { full.quick(2).seconds(1) } else { full }
    }

    /// A worker that finds no job commits nothing all the faster.
    fn check(&self, scale: &Scale) -> Result<()> {
        let (most, rows) = (scale.clients.iter().copied().max().unwrap_or(1), scale.rows.unwrap_or(1));
        if rows >= most {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "a queue of {rows} rows has no job for each of {most} clients: use --rows or --clients"
        )))
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        clients_and(scale, Some((ISOLATION, &["REPEATABLE READ", "READ COMMITTED"])))
    }

    fn prepare(&self, server: &mut Server, _bench: &Bench) -> Result<Vec<String>> {
        server.database(DATABASE)?;
        Ok(Vec::new())
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        let load = load(bench, clients(levels)?, &levels[ISOLATION])?;
        // anew for each run: what the last one deleted is not this one's business
        load.prepare(&server.address)?;
        let before = waiting(server)?;
        let (_, measurement) = run_sysbench(server, &load)?;
        let after = waiting(server)?;
        if before != after {
            let found = format!("{before} jobs waited before the run, {after} after it");
            return Err(Error::check(&server.name, found));
        }
        Ok(Attempt::Measured(measurement))
    }
}
