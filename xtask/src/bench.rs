//! Side-by-side benchmarks: `cargo xtask bench [OPTIONS] NAME=PORT ...`.
//!
//! The same load runs against several MySQL-protocol servers in turn, round by round, so that a drift of the machine
//! falls on all of them alike; printed is the median of the rounds, and the first server's rate over each other's.
//! `palisade=spawn` builds and starts this server with a 1 GiB buffer pool. The other servers run already, on
//! 127.0.0.1, with `root` and no password; start them with equal settings (durable commit, 1 GiB buffer pool,
//! binary log off).
//!
//! A load needs some seconds to come to its rate: 600 interpreters have to compile, connections and caches to grow. `--warm-up`
//! leaves them out of the rate (sysbench only; CPU and percentile are of the whole run).
//!
//! Loads are the field's own tools, run and read by the lab's library: any sysbench script, or `slap-LOAD` for
//! mysqlslap's generated load. `palisade-lab` is the thorough form, with repeats, spread and report; this one is a table.

use palisade_lab::spec::Address;
use palisade_lab::{mysqlslap, process, stats, sysbench};

use crate::process::{command, output};
use crate::server::{Purpose, Server};
use crate::{Outcome, install};

const USAGE: &str =
    "usage: cargo xtask bench [--tests LIST] [--threads LIST] [--seconds N] [--warm-up N] [--rounds N]
       [--tables N] [--rows N] [--skip-prepare] NAME=PORT|palisade=spawn ...";

/// Statements of each mysqlslap client.
const SLAP_STATEMENTS: u32 = 200;

struct Options {
    tests: Vec<String>,
    threads: Vec<u32>,
    seconds: u32,
    /// Seconds of sysbench that come before and do not count.
    warm_up: u32,
    rounds: usize,
    tables: u32,
    rows: u32,
    prepare: bool,
    /// Names and ports; [`SPAWN`] is a server to start.
    servers: Vec<(String, u16)>,
}

/// Not a port.
const SPAWN: u16 = 0;

/// What one run measured.
#[derive(Clone, Copy, Default)]
struct Measured {
    /// Transactions per second; of mysqlslap: statements per second.
    rate: f64,
    /// Server CPU per statement, microseconds.
    cpu_us: f64,
    /// 95th percentile of the latency, milliseconds; 0 where the tool does not say.
    p95_ms: f64,
}

/// Runs the benchmark and prints a Markdown table.
pub fn run(arguments: &[String]) -> Outcome {
    install::packages()?;
    let mut options = parse(arguments)?;
    let mut spawned = Vec::new();
    for (name, port) in &mut options.servers {
        if *port == SPAWN {
            let settings = [
                "--innodb-buffer-pool-size=1G",
                "--innodb-redo-log-capacity=1G",
                "--max-connections=2000",
                "--max-prepared-stmt-count=1000000",
            ];
            let server = Server::start_for(Purpose::Measurements, &format!("bench-{name}"), &settings)?;
            *port = server.port;
            spawned.push(server);
        }
    }
    for (name, port) in &options.servers {
        let mut client =
            command("mariadb", &["--no-defaults", "-uroot", "-h127.0.0.1", &format!("-P{port}")]);
        output(client.args(["-e", "CREATE DATABASE IF NOT EXISTS sbtest"]))?;
        if options.prepare {
            let load = load(&options, "oltp_read_write", 4);
            // there may be nothing to clean up
            let _ = load.cleanup(&local(*port));
            load.prepare(&local(*port)).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    let names: Vec<&str> = options.servers.iter().map(|(name, _)| name.as_str()).collect();
    println!("| load | clients | {} | ratio |", names.join(" | "));
    println!("|---|---|{}---|", "---|".repeat(names.len()));
    for test in &options.tests {
        for threads in &options.threads {
            println!("| {test} | {threads} | {} |", row(&options, test, *threads)?);
        }
    }
    for (name, port) in &options.servers {
        if let Some(resident) = process::listener(*port).and_then(process::resident_mib) {
            println!("\n{name}: {resident} MiB resident");
        }
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let list = |text: &str| text.split(',').map(str::to_string).collect();
    let number = |text: &str| text.parse().map_err(|_| format!("not a number: {text}"));
    let mut options = Options {
        tests: list("oltp_point_select,oltp_read_only,oltp_write_only"),
        threads: vec![1, 16, 128],
        seconds: 8,
        warm_up: 0,
        rounds: 3,
        tables: 25,
        rows: 25_000,
        prepare: true,
        servers: Vec::new(),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--skip-prepare" {
            options.prepare = false;
        } else if argument.starts_with("--") {
            let value = rest.next().ok_or(USAGE)?;
            match argument.as_str() {
                "--tests" => options.tests = list(value),
                "--threads" => options.threads = value.split(',').map(number).collect::<Result<_, _>>()?,
                "--seconds" => options.seconds = number(value)?,
                "--warm-up" => options.warm_up = number(value)?,
                "--rounds" => options.rounds = value.parse().map_err(|_| USAGE)?,
                "--tables" => options.tables = number(value)?,
                "--rows" => options.rows = number(value)?,
                _ => return Err(USAGE.into()),
            }
        } else {
            let (name, port) = argument.split_once('=').ok_or(USAGE)?;
            let port = if port == "spawn" { SPAWN } else { port.parse().map_err(|_| USAGE)? };
            options.servers.push((name.into(), port));
        }
    }
    if options.servers.is_empty() { Err(USAGE.into()) } else { Ok(options) }
}

/// One line of the table: the servers take turns within each round.
fn row(options: &Options, test: &str, threads: u32) -> Result<String, String> {
    let mut measured = vec![Vec::new(); options.servers.len()];
    for _ in 0..options.rounds {
        for ((name, port), runs) in options.servers.iter().zip(&mut measured) {
            runs.push(measure(options, test, *port, threads).map_err(|error| format!("{name}: {error}"))?);
        }
    }
    let medians: Vec<Measured> = measured.iter().map(|runs| median(runs)).collect();
    let cells = medians.iter().map(|m| format!("{:.0}/s {:.1}us p95 {:.1}", m.rate, m.cpu_us, m.p95_ms));
    let ratios = medians[1..].iter().map(|other| format!("{:.2}", medians[0].rate / other.rate));
    Ok(format!("{} | {}", cells.collect::<Vec<_>>().join(" | "), ratios.collect::<Vec<_>>().join(" ")))
}

fn median(runs: &[Measured]) -> Measured {
    let middle = |value: fn(&Measured) -> f64| {
        let values: Vec<f64> = runs.iter().map(value).collect();
        stats::summary(&values).map_or(0.0, |summary| summary.median)
    };
    Measured { rate: middle(|m| m.rate), cpu_us: middle(|m| m.cpu_us), p95_ms: middle(|m| m.p95_ms) }
}

fn local(port: u16) -> Address {
    Address { user: "root".into(), password: String::new(), host: "127.0.0.1".into(), port }
}

fn load(options: &Options, script: &str, clients: u32) -> sysbench::Load {
    sysbench::Load {
        script: script.into(),
        database: "sbtest".into(),
        options: vec![
            format!("tables={}", options.tables),
            format!("table-size={}", options.rows),
            "rand-type=uniform".into(),
        ],
        clients,
        seconds: options.warm_up + options.seconds,
        by_second: options.warm_up > 0,
        cpus: None,
    }
}

fn measure(options: &Options, test: &str, port: u16, threads: u32) -> Result<Measured, String> {
    let cpu_us = || process::listener(port).and_then(process::cpu_us).unwrap_or_default();
    let before = cpu_us();
    if let Some(kind) = test.strip_prefix("slap-") {
        let slap = mysqlslap::Load {
            kind: kind.into(),
            database: "mysqlslap".into(),
            clients: threads,
            statements: SLAP_STATEMENTS,
            preloaded: 2000,
        };
        let plain_text = mysqlslap::PlainText::detect().map_err(|error| error.to_string())?;
        let seconds = slap.run(&local(port), plain_text).map_err(|error| error.to_string())?;
        let total = slap.total();
        return Ok(Measured { rate: total / seconds, cpu_us: (cpu_us() - before) / total, p95_ms: 0.0 });
    }
    let measured = load(options, test, threads).run(&local(port)).map_err(|error| error.to_string())?;
    let rate = match options.warm_up {
        0 => measured.transaction_rate,
        seconds => {
            let counted = measured.by_second.get(seconds as usize..).and_then(stats::summary);
            counted.ok_or("sysbench has told the rate of no second after the warm-up")?.mean
        }
    };
    Ok(Measured { rate, cpu_us: (cpu_us() - before) / measured.queries.max(1.0), p95_ms: measured.p95_ms })
}
