//! Many clients, few rows: what does waiting for a row lock cost, and is the lock handed on at once?

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
pub struct HotRows;

const SCRIPT: &str = include_str!("../../lua/hot_rows.lua");

fn load(bench: &Bench, clients: u32) -> Result<Load> {
    Ok(Load {
        script: tool::script(bench.scripts, "hot_rows.lua", SCRIPT)?.display().to_string(),
        database: DATABASE.to_owned(),
        options: vec![format!("rows={}", bench.scale.rows.unwrap_or(1))],
        clients,
        seconds: bench.scale.run_seconds(),
        by_second: false,
        cpus: None,
    })
}

fn changes(server: &mut Server) -> Result<f64> {
    let sum = server.value(&format!("SELECT SUM(changes) FROM {DATABASE}.hot_rows"))?;
    Ok(sum.and_then(|sum| sum.parse().ok()).unwrap_or_default())
}

impl Experiment for HotRows {
    fn description(&self) -> Description {
        Description {
            name: "hot-rows".to_owned(),
            title: "Many clients update few rows".to_owned(),
            question: "Every transaction is one UPDATE of one of a few rows, so that clients wait for each other's row \
                       locks. How many updates per second are left, and how long does the unlucky one wait? After each run \
                       the rows' own counts must add up to the transactions that were answered."
                .to_owned(),
            factors: vec![factor(CLIENTS, "clients")],
            measures: sysbench_measures(),
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
        let full = Scale::new(5, &[64]).seconds(10).rows(10);
        if quick { full.quick(2).seconds(1) } else { full }
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        clients_and(scale, None)
    }

    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>> {
        server.database(DATABASE)?;
        load(bench, 1)?.prepare(&server.address)?;
        Ok(Vec::new())
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        let load = load(bench, clients(levels)?)?;
        let before = changes(server)?;
        let (measured, measurement) = run_sysbench(server, &load)?;
        let changed = changes(server)? - before;
        if changed != measured.transactions {
            let answered = measured.transactions;
            let found = format!("{answered} updates were answered, but the rows count {changed}");
            return Err(Error::check(&server.name, found));
        }
        Ok(Attempt::Measured(measurement))
    }
}
