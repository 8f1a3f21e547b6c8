//! Kills the real server while it recovers, and while it rolls back a large transaction, again and again.
//!
//! One transaction changes, deletes and inserts so much that its undo and redo are many times the buffer pool and the log of
//! this server; the server is killed (SIGKILL) before it commits. Then it is started and killed at random moments: some before
//! it is ready, some while it serves and rolls back in the background. Whenever it is ready, others are served: what they
//! insert is acknowledged and stays; and what the transaction changed is locked, or as it was before. When it is left in
//! peace at last, everything is as it was, in each index, and the undo pages are given back.

use crate::Outcome;
use crate::client::{Answer, Client, execute, expect, one_value, until};
use crate::server::Server;
use std::time::Duration;

/// Rows that are there before.
const KEPT: u64 = 2_000;
/// What the kept rows' n sum up to.
const SUM: u64 = KEPT * (KEPT - 1) / 2;

/// The transaction inserts `rows` rows; the server is killed `kills` times after that.
pub fn run(kills: u32, rows: u32, seed: u64) -> Outcome {
    let options = ["--innodb-buffer-pool-size=24M", "--innodb-redo-log-capacity=16M"];
    let mut server = Server::start("rollback", &options)?;
    let mut client = connect(&server)?;
    let series = |from: u64, to: u64| {
        format!(
            "WITH RECURSIVE s AS (SELECT {from} AS i UNION ALL SELECT i + 1 FROM s WHERE i + 1 < {to}) SELECT"
        )
    };
    for statement in [
        "CREATE DATABASE test",
        "CREATE TABLE test.t (id INT NOT NULL PRIMARY KEY, n INT NOT NULL, pad VARCHAR(200) NOT NULL, KEY by_n (n))",
        "CREATE TABLE test.served (id INT NOT NULL PRIMARY KEY)",
        "SET cte_max_recursion_depth = 100000000",
        &format!("INSERT INTO test.t {} i, i, 'kept' FROM s", series(0, KEPT)),
        "BEGIN",
        "UPDATE test.t SET n = n + 1000000, pad = REPEAT('u', 150) WHERE id % 2 = 0",
        "DELETE FROM test.t WHERE id % 2 = 1",
        &format!(
            "INSERT INTO test.t {} i, i % 1000, REPEAT('i', 100) FROM s",
            series(KEPT, KEPT + u64::from(rows))
        ),
        "UPDATE test.t SET pad = 'twice' WHERE id % 3 = 0",
    ] {
        execute(&mut client, statement)?;
    }
    server.kill();
    let mut random = seed;
    let mut served = 0;
    for kill in 1..=kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = Duration::from_millis((random >> 33) % 400);
        if kill % 2 == 0 {
            server.start_and_kill(moment)?;
            continue;
        }
        server.restart()?;
        look(&server, served).map_err(|message| format!("start {kill} of seed {seed}: {message}"))?;
        served += 1;
        std::thread::sleep(moment);
        server.kill();
    }
    server.restart()?;
    look(&server, served).map_err(|message| format!("the last start of seed {seed}: {message}"))?;
    let mut client = connect(&server)?;
    until(&mut client, "SELECT COUNT(*) FROM information_schema.INNODB_TRX", |count| count == 0)?;
    for index in ["PRIMARY", "by_n"] {
        let state = format!(
            "SELECT CONCAT_WS(' ', COUNT(*), SUM(n), SUM(pad = 'kept')) FROM test.t FORCE INDEX ({index})"
        );
        expect(&mut client, &state, &format!("{KEPT} {SUM} {KEPT}"))?;
    }
    match client.query("CHECK TABLE test.t").map_err(|error| error.to_string())? {
        Answer::Rows(rows)
            if rows.iter().all(|row| row.last().is_some_and(|text| text.as_deref() == Some("OK"))) => {}
        answer => return Err(format!("CHECK TABLE: {answer}")),
    }
    let metric = |name| format!("SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = '{name}'");
    until(&mut client, &metric("trx_rseg_history_len"), |length| length == 0)?;
    // Each segment keeps the page that it writes to.
    until(&mut client, &metric("trx_undo_pages"), |pages| pages < 32)?;
    println!("killed {kills} times in recovery and rollback of {rows} rows: nothing is left of them");
    Ok(())
}

/// What must hold whenever the server is ready; adds the row `served` to the table of those.
fn look(server: &Server, served: u32) -> Outcome {
    let mut client = connect(server)?;
    expect(&mut client, "SELECT COUNT(*) FROM test.served", &served.to_string())?;
    execute(&mut client, &format!("INSERT INTO test.served VALUES ({served})"))?;
    expect(&mut client, "SELECT CONCAT_WS(' ', COUNT(*), SUM(n)) FROM test.t", &format!("{KEPT} {SUM}"))?;
    for id in [0, 1] {
        let lock = format!("SELECT CONCAT_WS(' ', n, pad) FROM test.t WHERE id = {id} FOR UPDATE NOWAIT");
        match client.query(&lock).map_err(|error| error.to_string())? {
            Answer::Failed(3572, ..) => {}
            answer if answer == one_value(&format!("{id} kept")) => {}
            answer => return Err(format!("{lock}: {answer}")),
        }
    }
    Ok(())
}

fn connect(server: &Server) -> Result<Client, String> {
    Client::connect(server.port).map_err(|error| error.to_string())
}
