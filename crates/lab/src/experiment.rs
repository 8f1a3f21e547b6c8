//! The experiments: what varies, what is measured, how one run is made.
//!
//! | name | load | what varies |
//! |---|---|---|
//! | `log-writer-threads` | mysqlslap mixed | clients, `innodb_log_writer_threads` |
//! | `log-writer-threads-oltp` | sysbench oltp_write_only | clients, `innodb_log_writer_threads` |
//! | `log-writer-turns` | both | the same, in turns under one load |
//! | `server-turns` | both | clients, and which server's turn it is |
//! | `redo-pipeline` | sysbench oltp_write_only | which processors the log's threads have to themselves |
//! | `hot-rows` | `hot_rows.lua` | clients |
//! | `queue` | `queue.lua` | clients, isolation level |
//! | `read-only` | sysbench oltp_point_select at a rate | rate, clients, `innodb_adaptive_hash_index` |
//! | `checkpoint` | sysbench oltp_update_index, small redo log | time |
//! | `doublewrite` | mysqlslap mixed and write, sysbench oltp_update_non_index | load, clients |
//! | `page-compression` | LinkBench's | codec, clients |
//! | `tpch`, `joins`, `statements` | the suite's statements, each by itself | statement |
//!
//! A new one implements [`Experiment`], stands in [`ALL`] and has its lines in docs/lab.md.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::guardian::Guardian;
use crate::ongoing::Ongoing;
use crate::process;
use crate::results::{Better, Counter, Description, Factor, Measure};
use crate::server::Server;
use crate::spec::Address;
use crate::suite;
use crate::sysbench;
use crate::tool::Tool;

mod checkpoint;
mod doublewrite;
mod endless;
mod hot_rows;
mod log_writer_threads;
mod log_writer_threads_oltp;
mod log_writer_turns;
mod page_compression;
mod placement;
mod queue;
mod read_only;
mod redo_pipeline;
mod server_turns;
mod suites;

/// The level of each factor.
pub type Levels = BTreeMap<String, String>;

/// An experiment.
pub trait Experiment {
    /// What it asks and how its results are laid out.
    fn description(&self) -> Description;

    /// The tools it needs.
    fn tools(&self) -> &'static [Tool];

    /// Its sizes, in the full and in the short form.
    fn scale(&self, quick: bool) -> Scale;

    /// Fails if these sizes do not go together.
    fn check(&self, _scale: &Scale) -> Result<()> {
        Ok(())
    }

    /// Settings of the servers that the lab starts.
    fn settings(&self) -> Vec<(&'static str, &'static str)> {
        BASE_SETTINGS.to_vec()
    }

    /// All levels that some server might have, in the order in which they run.
    fn levels(&self, scale: &Scale) -> Vec<Levels>;

    /// Whether a server is asked for these levels at all.
    fn concerns(&self, _server: &mut Server, _levels: &Levels) -> Result<bool> {
        Ok(true)
    }

    /// Loads what the runs need. Returns notes for the report.
    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>>;

    /// The load under which the levels of [`Description::turning`] take turns, or one of those that do;
    /// `None` if every run brings its own.
    fn shared_load(&self) -> Option<&dyn SharedLoad> {
        None
    }

    /// One run: with a load of its own, or a turn under the one that goes on.
    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt>;
}

/// A load that goes on, and of which a run is a turn: while the levels of one factor, a setting of the
/// server, take turns, or while all others are halted.
pub trait SharedLoad {
    /// For how many repeats one load lasts.
    fn repeats(&self, levels: &Levels, scale: &Scale) -> u32;

    /// The loads that go on at once are those of which this is the same; `None` if the load goes on alone.
    fn company(&self, _levels: &Levels) -> Option<String> {
        None
    }

    /// Starts the load, whatever the level of the factor, and warms it up.
    fn start<'a>(&self, server: &mut Server, levels: &Levels, bench: &Bench<'a>) -> Result<Start<'a>>;
}

/// What came of starting a load.
pub enum Start<'a> {
    /// It goes on.
    Goes(Ongoing<'a>),
    /// The server has none of the levels.
    NotAvailable(String),
}

/// All experiments.
pub const ALL: &[&dyn Experiment] = &[
    &log_writer_threads::LogWriterThreads,
    &log_writer_threads_oltp::LogWriterThreadsOltp,
    &log_writer_turns::LogWriterTurns,
    &server_turns::ServerTurns,
    &redo_pipeline::RedoPipeline,
    &hot_rows::HotRows,
    &queue::Queue,
    &read_only::ReadOnly,
    &checkpoint::Checkpoint,
    &doublewrite::Doublewrite,
    &page_compression::PageCompression,
    &suites::OfSuite(&suite::tpch::SUITE),
    &suites::OfSuite(&suite::joins::SUITE),
    &suites::OfSuite(&suite::statements::SUITE),
];

/// The experiment of that name.
pub fn find(name: &str) -> Result<&'static dyn Experiment> {
    let found = ALL.iter().find(|experiment| experiment.description().name == name);
    found.copied().ok_or_else(|| {
        let names: Vec<String> = ALL.iter().map(|experiment| experiment.description().name).collect();
        Error::Usage(format!("there is no experiment '{name}'; there are: {}", names.join(", ")))
    })
}

/// Equal to what a comparison usually gives the other servers: see docs/lab.md.
const BASE_SETTINGS: &[(&str, &str)] = &[
    ("innodb_buffer_pool_size", "1G"),
    ("innodb_redo_log_capacity", "1G"),
    ("max_connections", "2000"),
    ("max_prepared_stmt_count", "1000000"),
];

/// The same with some settings of an experiment's own.
fn base_settings_with(own: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let others = BASE_SETTINGS.iter().filter(|(name, _)| own.iter().all(|(other, _)| other != name));
    others.chain(own).copied().collect()
}

/// How large an experiment is. A size that it does not have is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// How often everything runs.
    pub repeats: u32,
    /// Connections; each number is a level.
    pub clients: Vec<u32>,
    /// How long a run takes, unless that is for its load to say.
    pub length: Option<Length>,
    /// Statements of each client of mysqlslap.
    pub statements: Option<u32>,
    /// Tables of sysbench.
    pub tables: Option<u32>,
    /// Rows of each table.
    pub rows: Option<u32>,
    /// The scale of a suite's data.
    pub factor: Option<f64>,
    /// How long a statement of a suite may take.
    pub limit: Option<Duration>,
    /// Rest between runs, so that one server's aftermath falls less on the next.
    pub pause: Duration,
}

impl Scale {
    /// Has no sizes but these yet; runs are a second apart.
    fn new(repeats: u32, clients: &[u32]) -> Scale {
        Scale {
            repeats,
            clients: clients.to_vec(),
            length: None,
            statements: None,
            tables: None,
            rows: None,
            factor: None,
            limit: None,
            pause: Duration::from_secs(1),
        }
    }

    /// The short form: so many repeats, and no rest.
    fn quick(self, repeats: u32) -> Scale {
        Scale { repeats, pause: Duration::ZERO, ..self }
    }

    fn clients(self, clients: &[u32]) -> Scale {
        Scale { clients: clients.to_vec(), ..self }
    }

    fn seconds(self, seconds: u32) -> Scale {
        Scale { length: Some(Length::Run(seconds)), ..self }
    }

    fn turn(self, turn: Duration) -> Scale {
        Scale { length: Some(Length::Turn(turn)), ..self }
    }

    fn statements(self, statements: u32) -> Scale {
        Scale { statements: Some(statements), ..self }
    }

    fn tables(self, tables: u32) -> Scale {
        Scale { tables: Some(tables), ..self }
    }

    fn rows(self, rows: u32) -> Scale {
        Scale { rows: Some(rows), ..self }
    }

    fn factor(self, factor: f64) -> Scale {
        Scale { factor: Some(factor), ..self }
    }

    fn limit(self, limit: Duration) -> Scale {
        Scale { limit: Some(limit), ..self }
    }

    fn pause(self, pause: Duration) -> Scale {
        Scale { pause, ..self }
    }

    /// With those numbers of clients only that some of the levels have, where they vary.
    pub fn confined(&self, levels: &[Levels]) -> Scale {
        if levels.iter().all(|levels| !levels.contains_key(CLIENTS)) {
            return self.clone();
        }
        let has = |clients: &u32| {
            let clients = clients.to_string();
            levels.iter().any(|levels| levels.get(CLIENTS) == Some(&clients))
        };
        Scale { clients: self.clients.iter().copied().filter(has).collect(), ..self.clone() }
    }

    /// For the report.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        let clients: Vec<String> = self.clients.iter().map(u32::to_string).collect();
        let sizes = [
            ("repeats", Some(self.repeats)),
            ("statements", self.statements),
            ("tables", self.tables),
            ("rows", self.rows),
        ];
        let sizes = sizes.into_iter().filter_map(|(name, size)| Some((name.to_owned(), size?.to_string())));
        let more = [
            ("clients".to_owned(), clients.join(",")),
            ("pause_s".to_owned(), self.pause.as_secs_f64().to_string()),
        ];
        let factor = self.factor.map(|factor| ("scale".to_owned(), factor.to_string()));
        let limit = self.limit.map(|limit| ("limit_s".to_owned(), limit.as_secs_f64().to_string()));
        let more = more.into_iter().chain(factor).chain(limit);
        let length = self.length.map(|length| ("seconds".to_owned(), length.shown()));
        sizes.chain(more).chain(length).collect()
    }

    /// Seconds of a run of sysbench.
    fn run_seconds(&self) -> u32 {
        match self.length {
            Some(Length::Run(seconds)) => seconds,
            // what prepares a load that takes turns does not run
            Some(Length::Turn(_)) | None => 1,
        }
    }

    /// How long a turn takes.
    fn turn_length(&self) -> Duration {
        match self.length {
            Some(Length::Turn(turn)) => turn,
            Some(Length::Run(_)) | None => Duration::from_secs(self.run_seconds().into()),
        }
    }
}

/// How long a run takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Seconds of sysbench, which takes whole ones.
    Run(u32),
    /// A turn under a load that goes on.
    Turn(Duration),
}

impl Length {
    /// In seconds.
    fn shown(self) -> String {
        match self {
            Length::Run(seconds) => seconds.to_string(),
            Length::Turn(turn) => turn.as_secs_f64().to_string(),
        }
    }
}

/// What a run has at hand.
#[derive(Debug)]
pub struct Bench<'a> {
    /// The sizes.
    pub scale: &'a Scale,
    /// Where the scripts of loads go.
    pub scripts: &'a Path,
    /// Who ends a load should the lab not get to it.
    pub guardian: &'a Guardian,
}

/// What came of a run.
#[derive(Debug)]
pub enum Attempt {
    /// Numbers.
    Measured(Measurement),
    /// The server does not have what it takes.
    NotAvailable(String),
}

/// What one run measured.
#[derive(Debug, Default)]
pub struct Measurement {
    /// By the measures' keys.
    pub values: BTreeMap<String, f64>,
    /// The first measure second by second.
    pub by_second: Vec<f64>,
    /// The share of the processors' time that the machine's host took in those seconds.
    pub stolen_by_second: Vec<f64>,
    /// What else was looked at second by second, by its title.
    pub lines: BTreeMap<String, Vec<f64>>,
    /// The server's counters.
    pub counters: BTreeMap<String, Counter>,
    /// What the server answered, shortened so that the answers of servers can be compared.
    pub answer: Option<String>,
    /// What was done, as one would type it.
    pub commands: Vec<String>,
}

/// The factor that most experiments have.
const CLIENTS: &str = "clients";

fn factor(key: &str, title: &str) -> Factor {
    Factor { key: key.to_owned(), title: title.to_owned() }
}

/// A measure of an experiment.
pub(crate) fn measure(key: &str, title: &str, unit: &str, better: Better) -> Measure {
    Measure { key: key.to_owned(), title: title.to_owned(), unit: unit.to_owned(), better }
}

/// Every number of clients with every level of another factor, if there is one.
fn clients_and(scale: &Scale, other: Option<(&str, &[&str])>) -> Vec<Levels> {
    let mut all = Vec::new();
    for clients in &scale.clients {
        let base: Levels = [(CLIENTS.to_owned(), clients.to_string())].into();
        match other {
            None => all.push(base),
            Some((key, levels)) => {
                for level in levels {
                    let mut both = base.clone();
                    both.insert(key.to_owned(), (*level).to_owned());
                    all.push(both);
                }
            }
        }
    }
    all
}

fn clients(levels: &Levels) -> Result<u32> {
    let text = levels.get(CLIENTS).map_or("", String::as_str);
    text.parse().map_err(|_| Error::Usage(format!("'{text}' is not a number of clients")))
}

/// Fails if a server does not let so many clients of a tool in, with the tool's own connection and the lab's:
/// mysqlslap goes on without those that it loses.
fn room(server: &mut Server, clients: u32) -> Result<()> {
    const VARIABLE: &str = "max_connections";
    let limit = server.variable(VARIABLE)?.and_then(|limit| limit.parse::<u32>().ok());
    match limit {
        Some(limit) if limit < clients.saturating_add(2) => Err(Error::check(
            &server.name,
            format!(
                "its {VARIABLE} is {limit}: too few for {clients} clients, the tool's own connection and the lab's"
            ),
        )),
        _ => Ok(()),
    }
}

/// Runs something and tells what it cost the server: processor time in microseconds, where the lab can see
/// it.
fn with_cpu<T>(server: &mut Server, run: impl FnOnce(&Address) -> Result<T>) -> Result<(T, Option<f64>)> {
    let now = |server: &Server| server.pid().and_then(process::cpu_us);
    let before = now(server);
    let done = run(&server.address)?;
    let cpu_us = now(server).zip(before).map(|(after, before)| after - before);
    Ok((done, cpu_us))
}

/// The measures of every load of sysbench.
fn sysbench_measures() -> Vec<Measure> {
    vec![
        measure("tps", "transactions per second", "/s", Better::Higher),
        measure("p95_ms", "95th percentile of a transaction's time", "ms", Better::Lower),
        measure("cpu_us", "server CPU per transaction", "µs", Better::Lower),
        measure(
            "ignored_errors",
            "errors that are part of the load (deadlocks, lock timeouts)",
            "",
            Better::Lower,
        ),
    ]
}

/// Runs a load of sysbench; gives what it printed, and the measurement that [`sysbench_measures`] describes.
fn run_sysbench(server: &mut Server, load: &sysbench::Load) -> Result<(sysbench::Measured, Measurement)> {
    let (measured, cpu_us) = with_cpu(server, |address| load.run(address))?;
    let values = sysbench_values(&measured, cpu_us);
    let commands = ["prepare", "run"].map(|action| load.invocation(&server.address, action).shown()).into();
    Ok((measured, Measurement { values, commands, ..Measurement::default() }))
}

/// What a transaction took cannot be told of a run that had none: sysbench prints 0, which would be the best
/// there is.
fn sysbench_values(measured: &sysbench::Measured, cpu_us: Option<f64>) -> BTreeMap<String, f64> {
    let some = measured.transactions > 0.0;
    let values = [
        ("tps", Some(measured.transaction_rate)),
        ("p95_ms", Some(measured.p95_ms).filter(|_| some)),
        ("cpu_us", cpu_us.filter(|_| some).map(|cpu_us| cpu_us / measured.transactions)),
        ("ignored_errors", Some(measured.ignored_errors)),
    ];
    values.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// The tables of sysbench's own scripts.
fn oltp(script: &str, scale: &Scale, clients: u32) -> sysbench::Load {
    sysbench::Load {
        script: script.to_owned(),
        database: crate::server::DATABASE.to_owned(),
        options: vec![
            format!("tables={}", scale.tables.unwrap_or(1)),
            format!("table-size={}", scale.rows.unwrap_or(1)),
            "rand-type=uniform".to_owned(),
        ],
        clients,
        seconds: scale.run_seconds(),
        by_second: false,
        cpus: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_name_what_they_use() {
        for experiment in ALL {
            let description = experiment.description();
            for quick in [false, true] {
                let scale = experiment.scale(quick);
                assert!(scale.repeats >= 1 && !scale.clients.is_empty(), "{}", description.name);
                for levels in experiment.levels(&scale) {
                    let keys: Vec<&str> =
                        description.factors.iter().map(|factor| factor.key.as_str()).collect();
                    assert_eq!(levels.len(), keys.len(), "{}", description.name);
                    assert!(levels.keys().all(|key| keys.contains(&key.as_str())), "{}", description.name);
                    assert!(keys.contains(&description.x.as_str()), "{}", description.name);
                }
            }
            assert!(!description.measures.is_empty());
            if let Some(turning) = &description.turning {
                assert!(description.factors.iter().any(|factor| factor.key == *turning), "{turning}");
                assert!(experiment.shared_load().is_some(), "{turning} takes turns under a load");
            }
            if let Some(chooser) = &description.chooser {
                let within = description.within.as_ref().expect("a chooser is a level of a server's setting");
                let levels = experiment.levels(&experiment.scale(true));
                let mut all = chooser.among.iter().chain([&chooser.level]);
                assert!(all.all(|level| levels.iter().any(|cell| cell[within] == *level)), "{chooser:?}");
            }
        }
    }

    #[test]
    fn a_run_without_transactions_has_no_time_of_one() {
        let measured = |transactions: f64| sysbench::Measured {
            transactions,
            transaction_rate: transactions / 2.0,
            queries: 0.0,
            query_rate: 0.0,
            ignored_errors: 1.0,
            seconds: 2.0,
            p95_ms: 0.0,
            by_second: Vec::new(),
            times: Vec::new(),
        };
        let keys = |transactions: f64| {
            sysbench_values(&measured(transactions), Some(8.0)).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(keys(0.0), ["ignored_errors", "tps"]);
        assert_eq!(keys(4.0), ["cpu_us", "ignored_errors", "p95_ms", "tps"]);
        assert_eq!(sysbench_values(&measured(4.0), Some(8.0))["cpu_us"], 2.0);
    }

    #[test]
    fn what_an_experiment_is_confined_to_is_all_that_it_prepares() {
        let experiment = find("server-turns").expect("it is there");
        let scale = experiment.scale(false).clients(&[1, 16, 64]);
        let mut levels = experiment.levels(&scale);
        assert_eq!(scale.confined(&levels), scale);
        levels.retain(|levels| levels[CLIENTS] == "16");
        assert_eq!(scale.confined(&levels).clients, [16]);
        assert_eq!(scale.confined(&levels).parameters()["clients"], "16");
    }

    #[test]
    fn a_queue_that_its_workers_can_empty_is_refused() {
        let queue = find("queue").expect("it is there");
        let scale = queue.scale(false);
        for quick in [false, true] {
            assert!(queue.check(&queue.scale(quick)).is_ok());
        }
        assert!(queue.check(&scale.clone().clients(&[8, 64]).rows(64)).is_ok());
        let error = queue.check(&scale.clients(&[8, 64]).rows(63)).expect_err("one finds none").to_string();
        assert_eq!(error, "a queue of 63 rows has no job for each of 64 clients: use --rows or --clients");
    }

    #[test]
    fn an_unknown_experiment_is_answered_with_those_there_are() {
        let Err(error) = find("hot-cakes") else { panic!("there is no such experiment") };
        assert_eq!(
            error.to_string(),
            "there is no experiment 'hot-cakes'; there are: log-writer-threads, log-writer-threads-oltp, log-writer-turns, server-turns, redo-pipeline, hot-rows, queue, read-only, checkpoint, doublewrite, page-compression, tpch, joins, statements"
        );
        assert!(find("hot-rows").is_ok());
    }
}
