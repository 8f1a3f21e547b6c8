//! Kills the real server under load at random moments and compares it with a client-side ledger.
//!
//! The ledger (`tests/crash/ledger.py`) runs beside sysbench's oltp_write_only. Each round lets them work for a
//! random while, kills the server (SIGKILL), starts it again (recovery), and checks: every acknowledged commit
//! is there, no transaction is half there, every XA transaction that was prepared is still so unless it was
//! ended, the indexes agree, every change of a definition is there whole or not at all.
//! `innodb_flush_log_at_trx_commit` is 1 or 2, both of which survive a killed server. In the last round it is
//! 0 at times, and what is there must be whole. Some rounds kill the server again during recovery or while it
//! rolls back, and [`rollback`] makes that as long as can be; [`undo_room`] kills it while the disk gets
//! undo's room back.

use crate::Outcome;
use crate::process::{command, output, root};
use crate::server::Server;
use crate::{clients, install, rollback, undo_room};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Kills of one `cargo xtask crash`.
const ROUNDS: u32 = 30;
/// A load that has no answer for so long has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// [`ROUNDS`] kills.
pub fn run() -> Outcome {
    rounds(ROUNDS)
}

struct Ledger<'a> {
    python: &'a Path,
    port: String,
    file: &'a str,
}

impl Ledger<'_> {
    fn command(&self, verb: &str, rest: &[&str]) -> Command {
        let script = root().join("tests/crash/ledger.py");
        let mut command = command(self.python.to_str().expect("UTF-8"), &[]);
        command.arg(script).args([verb, "127.0.0.1", &self.port]).args(rest);
        command
    }
}

/// `count` kills, each followed by a check.
pub fn rounds(count: u32) -> Outcome {
    install::packages()?;
    let python = install::python()?;
    let seed: u64 = match std::env::var("PALISADE_SEED") {
        Ok(text) => text.parse().map_err(|_| format!("PALISADE_SEED is not a number: {text}"))?,
        Err(_) => u64::from(std::process::id()),
    };
    println!("PALISADE_SEED={seed}");
    // a small buffer pool and log, so that eviction, write-back and checkpoints happen all the time
    let options = ["--innodb-buffer-pool-size=24M", "--innodb-redo-log-capacity=16M"];
    let mut server = Server::start("crash", &options)?;
    let file = &crate::process::target().join("server/crash/ledger");
    let ledger =
        Ledger { python: &python, port: server.port.to_string(), file: file.to_str().expect("UTF-8") };
    output(&mut ledger.command("setup", &[]))?;
    output(&mut clients::sysbench(server.port, "oltp_write_only", &["--threads=4", "prepare"]))?;
    let mut moment = seed;
    for round in 1..=count {
        // a linear congruential step is random enough to choose a moment
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let is_lazy = round == count;
        let (load, check) = if is_lazy { ("lazy", "whole") } else { ("load", "check") };
        let load = ledger
            .command(load, &[ledger.file, &format!("{seed}.{round}")])
            .spawn()
            .map_err(|error| error.to_string())?;
        let sysbench =
            clients::sysbench(server.port, "oltp_write_only", &["--threads=8", "--time=60", "run"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map_err(|error| error.to_string())?;
        has_begun(file)?;
        std::thread::sleep(Duration::from_millis(300 + (moment >> 33) % 1500));
        server.kill();
        finish(load, "the ledger's load")?;
        stop(sysbench);
        if round % 5 == 0 {
            // a crash soon after the restart: recovery's and rollback's own work must survive it
            server.restart()?;
            server.kill();
        }
        server.restart()?;
        let verdict = output(&mut ledger.command(check, &[ledger.file]))
            .map_err(|message| format!("round {round} of seed {seed}: {message}"))?;
        println!("kill {round}: {}", verdict.trim());
    }
    let verdict = output(&mut ledger.command("canary", &[ledger.file]))?;
    println!("{}", verdict.lines().last().unwrap_or_default());
    drop(server);
    rollback::run(count.div_ceil(5), 2_000 * count, seed)?;
    undo_room::run(count.div_ceil(5), seed)
}

/// Waits until the ledger notes something more: a kill before the load's first answer, as on a machine that
/// is busy, would tell nothing.
fn has_begun(ledger: &Path) -> Outcome {
    let length = || ledger.metadata().map_or(0, |metadata| metadata.len());
    let (begun, before) = (Instant::now(), length());
    while length() <= before {
        if begun.elapsed() > PATIENCE {
            return Err("the ledger's load has no answer".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Waits for a load that ends by itself once the server is gone.
fn finish(mut load: Child, name: &str) -> Outcome {
    let status = load.wait().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}")) }
}

/// Ends a load that might go on trying.
fn stop(mut load: Child) {
    // it ends by itself when its connections break; then there is nothing to kill
    let _ = load.kill();
    let _ = load.wait();
}
