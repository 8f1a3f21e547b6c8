//! A small redo log that fills again and again: does the server hold its pace while it makes room?

use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Scale, base_settings_with, clients, clients_and, factor,
    measure, oltp, run_sysbench,
};
use crate::results::{Better, Description};
use crate::server::{Answer, DATABASE, Literal, Server};
use crate::stats;
use crate::steal::{self, Watch};
use crate::tool::{self, SYSBENCH, Tool};

/// See the module.
#[derive(Debug)]
pub struct Checkpoint;

/// The redo log's size in bytes.
const CAPACITY: &str = "67108864";

/// The variables that set it: MySQL's, MariaDB's.
const VARIABLES: &[&str] = &["innodb_redo_log_capacity", "innodb_log_file_size"];

/// How long a server may take to change its log's size.
const RESIZE: Duration = Duration::from_secs(120);

/// Gives the server a small log; what stands in the way is told.
fn small_log(server: &mut Server) -> Result<std::result::Result<(), String>> {
    let mut refusals = Vec::new();
    for variable in VARIABLES {
        if server.variable(variable)?.as_deref() == Some(CAPACITY) {
            return Ok(Ok(()));
        }
        match server.set(variable, Literal::Number(CAPACITY))? {
            Answer::Done => {
                resized(server)?;
                return Ok(Ok(()));
            }
            Answer::Refused(reason) => refusals.push(reason),
        }
    }
    Ok(Err(format!("its log cannot be made {CAPACITY} bytes large while it runs: {}", refusals.join("; "))))
}

/// Waits until the log has its new size, where the server tells.
fn resized(server: &mut Server) -> Result<()> {
    let end = Instant::now() + RESIZE;
    loop {
        let rows = server.query("SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_resize_status'")?;
        let status = rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten();
        match status {
            Some(status) if status != "OK" && Instant::now() < end => {
                tool::pause(Duration::from_millis(100))?
            }
            Some(status) if status != "OK" => {
                return Err(Error::check(&server.name, format!("the log is still being resized: {status}")));
            }
            _ => return Ok(()),
        }
    }
}

impl Experiment for Checkpoint {
    fn description(&self) -> Description {
        let mut measures =
            vec![measure("worst_share", "worst second, of the median second", "%", Better::Higher)];
        measures.extend(steal::calm_measures());
        measures.extend([
            measure("median_tps", "median second", "/s", Better::Higher),
            measure("worst_tps", "worst second", "/s", Better::Higher),
            measure("tps", "transactions per second, all of the run", "/s", Better::Higher),
            measure("p95_ms", "95th percentile of a transaction's time", "ms", Better::Lower),
            measure("cpu_us", "server CPU per transaction", "µs", Better::Lower),
        ]);
        Description {
            name: "checkpoint".to_owned(),
            title: "Commits second by second with a 64 MiB redo log".to_owned(),
            question: "With a small redo log the server must write dirty pages as fast as the log fills. A server that \
                       does it too late stops everybody until there is room: a hole in the plot. sysbench oltp_update_index, \
                       uniform; the first second, in which clients connect, does not count."
                .to_owned(),
            factors: vec![factor(CLIENTS, "clients")],
            measures,
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
        let full = Scale::new(1, &[16]).seconds(600).tables(8).rows(100_000).pause(Duration::from_secs(5));
        if quick { full.quick(1).seconds(5).tables(1).rows(10_000) } else { full }
    }

    fn settings(&self) -> Vec<(&'static str, &'static str)> {
        base_settings_with(&[(VARIABLES[0], CAPACITY)])
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        clients_and(scale, None)
    }

    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>> {
        server.database(DATABASE)?;
        oltp("oltp_update_index", bench.scale, 4).prepare(&server.address)?;
        Ok(Vec::new())
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        if let Err(reason) = small_log(server)? {
            return Ok(Attempt::NotAvailable(reason));
        }
        let mut load = oltp("oltp_update_index", bench.scale, clients(levels)?);
        load.by_second = true;
        let watch = Watch::begin();
        let (measured, mut measurement) = run_sysbench(server, &load)?;
        let start = Instant::now().checked_sub(Duration::from_secs_f64(measured.seconds));
        // the last report may be of less than a second
        let length = measured.by_second.len().min(measured.seconds as usize);
        let stolen = start.map(|start| watch.end(start, length)).unwrap_or_default();
        let counted = measured.by_second.get(1..).unwrap_or_default();
        let Some(seconds) = stats::summary(counted).filter(|seconds| seconds.median > 0.0) else {
            let found = format!("a run of {} s has too few seconds to compare; use --seconds", load.seconds);
            return Err(Error::check(&server.name, found));
        };
        let values = &mut measurement.values;
        values.insert("median_tps".to_owned(), seconds.median);
        values.insert("worst_tps".to_owned(), seconds.min);
        values.insert("worst_share".to_owned(), 100.0 * seconds.min / seconds.median);
        steal::put_calm(values, counted, stolen.get(1..).unwrap_or_default());
        measurement.by_second = measured.by_second;
        measurement.stolen_by_second = stolen;
        Ok(Attempt::Measured(measurement))
    }
}
