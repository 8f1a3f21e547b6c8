//! What a snapshot that stays open costs the others: `cargo xtask snapshot [--seconds N] [--rounds N] [--turns N]`.
//!
//! The same load of updates runs in turn without a snapshot and beside one that is open all the time, so that a drift of the
//! machine falls on both alike; `--turns` lets several runs follow one another beside the same snapshot, so that it grows old.
//! Printed are each run's rate, server CPU per update and 95th percentile, how long the history and the undo have become, and
//! the server's memory. A snapshot must read what it read at first; and when it is closed, all of the history is
//! forgotten, the undo pages are given back, and what the undo takes on the disk beyond 192 MiB is given back, too.

use std::time::{Duration, Instant};

use palisade_lab::spec::Address;
use palisade_lab::{process, sysbench};

use crate::client::{Client, execute, expect, until};
use crate::server::{Purpose, Server};
use crate::undo_room::UNDO;
use crate::{Outcome, install};

/// The long form.
pub fn soak() -> Outcome {
    measure(120, 5, 1)
}

/// Measures as the arguments say.
pub fn run(arguments: &[String]) -> Outcome {
    const USAGE: &str = "usage: cargo xtask snapshot [--seconds N] [--rounds N] [--turns N]";
    let (mut seconds, mut rounds, mut turns) = (20, 3, 1);
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return Err(USAGE.into()) };
        let value = value.parse().map_err(|_| USAGE)?;
        match name.as_str() {
            "--seconds" => seconds = value,
            "--rounds" => rounds = value,
            "--turns" => turns = value,
            _ => return Err(USAGE.into()),
        }
    }
    measure(seconds, rounds, turns)
}

fn measure(seconds: u32, rounds: u32, turns: u32) -> Outcome {
    install::packages()?;
    let options = ["--innodb-buffer-pool-size=1G", "--innodb-redo-log-capacity=1G"];
    let server = Server::start_for(Purpose::Measurements, "snapshot", &options)?;
    let connect = || Client::connect(server.port).map_err(|error| error.to_string());
    let (mut watcher, mut reader) = (connect()?, connect()?);
    execute(&mut watcher, "CREATE DATABASE sbtest")?;
    let address =
        Address { user: "root".into(), password: String::new(), host: "127.0.0.1".into(), port: server.port };
    let load = sysbench::Load {
        script: "oltp_update_non_index".into(),
        database: "sbtest".into(),
        options: ["tables=4", "table-size=50000", "rand-type=uniform"].map(str::to_owned).into(),
        clients: 8,
        seconds,
        by_second: false,
        cpus: None,
    };
    load.prepare(&address).map_err(|error| error.to_string())?;
    // Of few rows: each may be behind hundreds of versions on the disk.
    let checksum = "SELECT SUM(CRC32(c)) FROM sbtest.sbtest1 WHERE id <= 100";
    println!("| snapshot | updates/s | CPU per update | p95 | history | undo pages | memory |");
    println!("|---|---|---|---|---|---|---|");
    for _ in 0..rounds {
        row("none", &load, &address, &mut watcher)?;
        execute(&mut reader, "START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
        let seen = value(&mut reader, checksum)?;
        for _ in 0..turns {
            row("open", &load, &address, &mut watcher)?;
        }
        let again = Instant::now();
        expect(&mut reader, checksum, &seen)?;
        println!("| read again in {:.2} s | | | | | | |", again.elapsed().as_secs_f64());
        execute(&mut reader, "COMMIT")?;
        let mib_of_undo = || server.bytes_on_disk(UNDO).map(|bytes| bytes >> 20);
        let (closed, most) = (Instant::now(), mib_of_undo()?);
        until(&mut watcher, &metric("trx_rseg_history_len"), |length| length == 0)?;
        // Each segment keeps the page that it writes to, and so many sessions write at most.
        until(&mut watcher, &metric("trx_undo_pages"), |pages| pages <= 2 * u64::from(load.clients))?;
        println!("| given back after {:.1} s | | | | | | |", closed.elapsed().as_secs_f64());
        // Some is kept, and some may have become free since it was looked at.
        while mib_of_undo()? > 192 {
            if closed.elapsed() > Duration::from_secs(600) {
                return Err(format!("the undo still takes {} MiB on the disk", mib_of_undo()?));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let (seconds, now) = (closed.elapsed().as_secs_f64(), mib_of_undo()?);
        println!("| {now} MiB of {most} left on the disk after {seconds:.1} s | | | | | | |");
    }
    row("none", &load, &address, &mut watcher)
}

fn metric(name: &str) -> String {
    format!("SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = '{name}'")
}

fn value(client: &mut Client, query: &str) -> Result<String, String> {
    client.value(query).map_err(|error| format!("{query}: {error}"))
}

fn row(snapshot: &str, load: &sysbench::Load, address: &Address, watcher: &mut Client) -> Outcome {
    let process = process::listener(address.port).ok_or("nothing listens at the server's port")?;
    let cpu_us = || process::cpu_us(process).unwrap_or_default();
    let before = cpu_us();
    let measured = load.run(address).map_err(|error| error.to_string())?;
    println!(
        "| {snapshot} | {:.0} | {:.1} us | {:.2} ms | {} | {} | {} MiB |",
        measured.transaction_rate,
        (cpu_us() - before) / measured.queries.max(1.0),
        measured.p95_ms,
        value(watcher, &metric("trx_rseg_history_len"))?,
        value(watcher, &metric("trx_undo_pages"))?,
        process::resident_mib(process).unwrap_or_default(),
    );
    Ok(())
}
