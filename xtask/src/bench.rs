//! Side-by-side benchmarks: `cargo xtask bench [OPTIONS] NAME=PORT ...`.
//!
//! The same load runs against several MySQL-protocol servers in turn, round by round, so that a drift of the machine
//! falls on all of them alike; printed is the median of the rounds, and the first server's rate over each other's.
//! `palisade=spawn` builds and starts this server with a 1 GiB buffer pool. The other servers run already, on
//! 127.0.0.1, with `root` and no password; start them with equal settings (durable commit, 1 GiB buffer pool,
//! binary log off).
//!
//! Loads are the field's own tools: any sysbench script, or `slap-LOAD` for mysqlslap's generated load.

use crate::process::{command, output};
use crate::server::Server;
use crate::{Outcome, install};

const USAGE: &str = "usage: cargo xtask bench [--tests LIST] [--threads LIST] [--seconds N] [--rounds N]
       [--tables N] [--rows N] [--skip-prepare] NAME=PORT|palisade=spawn ...";

/// Statements of each mysqlslap client.
const SLAP_STATEMENTS: u64 = 200;

struct Options {
    tests: Vec<String>,
    threads: Vec<String>,
    seconds: String,
    rounds: usize,
    tables: String,
    rows: String,
    prepare: bool,
    servers: Vec<(String, String)>,
}

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
        if port == "spawn" {
            let settings = [
                "--innodb-buffer-pool-size=1G",
                "--innodb-redo-log-capacity=1G",
                "--max-connections=2000",
                "--max-prepared-stmt-count=1000000",
            ];
            let server = Server::start(&format!("bench-{name}"), &settings)?;
            *port = server.port.to_string();
            spawned.push(server);
        }
    }
    for (name, port) in &options.servers {
        let mut client =
            command("mariadb", &["--no-defaults", "-uroot", "-h127.0.0.1", &format!("-P{port}")]);
        output(client.args(["-e", "CREATE DATABASE IF NOT EXISTS sbtest"]))?;
        if options.prepare {
            // there may be nothing to clean up
            let _ = output(&mut sysbench(&options, port, "oltp_read_write", "4", "cleanup"));
            output(&mut sysbench(&options, port, "oltp_read_write", "4", "prepare"))
                .map_err(|error| format!("{name}: {error}"))?;
        }
    }
    let names: Vec<&str> = options.servers.iter().map(|(name, _)| name.as_str()).collect();
    println!("| load | clients | {} | ratio |", names.join(" | "));
    println!("|---|---|{}---|", "---|".repeat(names.len()));
    for test in &options.tests {
        for threads in &options.threads {
            println!("| {test} | {threads} | {} |", row(&options, test, threads)?);
        }
    }
    for (name, port) in &options.servers {
        if let Some(resident) = process(port).and_then(|pid| resident_mib(&pid)) {
            println!("\n{name}: {resident} MiB resident");
        }
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let list = |text: &str| text.split(',').map(str::to_string).collect();
    let mut options = Options {
        tests: list("oltp_point_select,oltp_read_only,oltp_write_only"),
        threads: list("1,16,128"),
        seconds: "8".into(),
        rounds: 3,
        tables: "25".into(),
        rows: "25000".into(),
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
                "--threads" => options.threads = list(value),
                "--seconds" => options.seconds = value.clone(),
                "--rounds" => options.rounds = value.parse().map_err(|_| USAGE)?,
                "--tables" => options.tables = value.clone(),
                "--rows" => options.rows = value.clone(),
                _ => return Err(USAGE.into()),
            }
        } else {
            let (name, port) = argument.split_once('=').ok_or(USAGE)?;
            options.servers.push((name.into(), port.into()));
        }
    }
    if options.servers.is_empty() { Err(USAGE.into()) } else { Ok(options) }
}

/// One line of the table: the servers take turns within each round.
fn row(options: &Options, test: &str, threads: &str) -> Result<String, String> {
    let mut measured = vec![Vec::new(); options.servers.len()];
    for _ in 0..options.rounds {
        for ((name, port), runs) in options.servers.iter().zip(&mut measured) {
            runs.push(measure(options, test, port, threads).map_err(|error| format!("{name}: {error}"))?);
        }
    }
    let medians: Vec<Measured> = measured.iter().map(|runs| median(runs)).collect();
    let cells = medians.iter().map(|m| format!("{:.0}/s {:.1}us p95 {:.1}", m.rate, m.cpu_us, m.p95_ms));
    let ratios = medians[1..].iter().map(|other| format!("{:.2}", medians[0].rate / other.rate));
    Ok(format!("{} | {}", cells.collect::<Vec<_>>().join(" | "), ratios.collect::<Vec<_>>().join(" ")))
}

fn median(runs: &[Measured]) -> Measured {
    let middle = |value: fn(&Measured) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Measured { rate: middle(|m| m.rate), cpu_us: middle(|m| m.cpu_us), p95_ms: middle(|m| m.p95_ms) }
}

fn sysbench(
    options: &Options,
    port: &str,
    script: &str,
    threads: &str,
    action: &str,
) -> std::process::Command {
    let mut sysbench = command("sysbench", &[script, "--db-driver=mysql", "--mysql-host=127.0.0.1"]);
    sysbench.args(["--mysql-user=root", "--mysql-db=sbtest", "--rand-type=uniform"]);
    for (name, value) in [
        ("mysql-port", port),
        ("tables", &options.tables),
        ("table-size", &options.rows),
        ("threads", threads),
        ("time", &options.seconds),
    ] {
        sysbench.arg(format!("--{name}={value}"));
    }
    sysbench.arg(action);
    sysbench
}

fn measure(options: &Options, test: &str, port: &str, threads: &str) -> Result<Measured, String> {
    let pid = process(port);
    let before = pid.as_deref().and_then(cpu_us).unwrap_or_default();
    let spent = || pid.as_deref().and_then(cpu_us).unwrap_or_default() - before;
    if let Some(load) = test.strip_prefix("slap-") {
        let clients: u64 = threads.parse().map_err(|_| USAGE)?;
        let mut slap = command(
            "mysqlslap",
            &["--no-defaults", "-uroot", "-h127.0.0.1", "--skip-ssl", "--auto-generate-sql"],
        );
        slap.arg(format!("-P{port}")).args(["--auto-generate-sql-guid-primary", "--engine=innodb"]);
        slap.args(["--number-int-cols=20", "--number-char-cols=20", "--auto-generate-sql-write-number=2000"]);
        slap.arg(format!("--auto-generate-sql-execute-number={SLAP_STATEMENTS}"));
        slap.arg(format!("--auto-generate-sql-load-type={load}")).arg(format!("--concurrency={threads}"));
        let printed = output(&mut slap)?;
        let seconds = number_after(&printed, "Average number of seconds to run all queries:")?;
        let statements = (clients * SLAP_STATEMENTS) as f64;
        return Ok(Measured { rate: statements / seconds, cpu_us: spent() / statements, p95_ms: 0.0 });
    }
    let printed = output(&mut sysbench(options, port, test, threads, "run"))?;
    let statements = number_after(&printed, "queries:")?;
    Ok(Measured {
        rate: number_after(after(&printed, "transactions:")?, "(")?,
        cpu_us: spent() / statements.max(1.0),
        p95_ms: number_after(&printed, "95th percentile:")?,
    })
}

fn after<'a>(text: &'a str, label: &str) -> Result<&'a str, String> {
    text.split_once(label).map(|(_, rest)| rest).ok_or_else(|| format!("no '{label}' in:\n{text}"))
}

fn number_after(text: &str, label: &str) -> Result<f64, String> {
    let rest = after(text, label)?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().map_err(|_| format!("no number after '{label}' in:\n{text}"))
}

/// The process that listens on a port.
fn process(port: &str) -> Option<String> {
    let listeners = output(&mut command("ss", &["-ltnpH", &format!("sport = :{port}")])).ok()?;
    let pid = listeners.split_once("pid=")?.1;
    Some(pid[..pid.find(',')?].to_string())
}

/// User and system time of a process so far.
fn cpu_us(pid: &str) -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks * 1e6 / TICKS_PER_SECOND)
}

fn resident_mib(pid: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}
