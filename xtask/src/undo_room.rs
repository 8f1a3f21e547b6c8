//! Kills the real server while undo gives its room back to the disk, and while it takes it again.
//!
//! In each round a snapshot keeps the undo of a few thousand large changes; when it has been closed, all of that is forgotten and
//! becomes holes, while others go on. At a random moment the server is killed (SIGKILL), with a transaction open. After the
//! restart every acknowledged change must be there and that transaction gone; and when the server is left in peace at last,
//! what the undo takes on the disk is small.

use crate::Outcome;
use crate::client::{Client, execute, expect, until};
use crate::server::Server;
use std::time::{Duration, Instant};

/// The undo space.
pub const UNDO: &str = "spaces/000001.pal";
/// Rows of the table.
const ROWS: u32 = 200;
/// Changes of all rows beside a snapshot: some 36 MiB of undo.
const CHANGES: u32 = 60;
/// Changes of all rows, the first of them 1.
const CHANGE: &str = "UPDATE test.t SET n = n + 1, pad = REPEAT(CHAR(65 + n % 26), 3000)";
/// How many rows there are, how often they were changed, and how many are as they should be.
const STATE: &str =
    "SELECT CONCAT_WS(' ', COUNT(*), MIN(n), MAX(n), SUM(pad = REPEAT(CHAR(65 + n % 26), 3000))) FROM test.t";
/// Most that may be left of the undo on the disk: what keeps its room, and what is not worth a look.
const LEFT: u64 = 32 << 20;

/// `rounds` kills.
pub fn run(rounds: u32, seed: u64) -> Outcome {
    // Without a reserve for a full disk, which is as large as what is to be seen to go.
    let options = [
        "--innodb-buffer-pool-size=24M",
        "--innodb-redo-log-capacity=16M",
        "--innodb-max-undo-log-size=10M",
        "--palisade-undo-reserve-size=0",
    ];
    let mut server = Server::start("undo_room", &options)?;
    let mut writer = connect(&server)?;
    for statement in [
        "CREATE DATABASE test",
        "CREATE TABLE test.t (id INT NOT NULL PRIMARY KEY, n INT NOT NULL, pad VARCHAR(4000) NOT NULL)",
        &format!(
            "INSERT INTO test.t WITH RECURSIVE s AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM s WHERE i < {ROWS}) SELECT i, 0, REPEAT('A', 3000) FROM s"
        ),
    ] {
        execute(&mut writer, statement)?;
    }
    let (mut random, mut changes, mut most) = (seed, 0, 0);
    for round in 1..=rounds {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut reader = connect(&server)?;
        execute(&mut reader, "START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
        let before = state(changes);
        for _ in 0..CHANGES {
            execute(&mut writer, CHANGE)?;
            changes += 1;
        }
        expect(&mut reader, STATE, &before)?;
        most = most.max(server.bytes_on_disk(UNDO)?);
        execute(&mut reader, "COMMIT")?;
        let (closed, moment) = (Instant::now(), Duration::from_millis((random >> 33) % 1500));
        while closed.elapsed() < moment {
            execute(&mut writer, CHANGE)?;
            changes += 1;
        }
        execute(&mut writer, "BEGIN")?;
        execute(&mut writer, CHANGE)?;
        server.kill();
        server.restart()?;
        writer = connect(&server)?;
        expect(&mut writer, STATE, &state(changes))
            .map_err(|message| format!("round {round} of seed {seed}: {message}"))?;
    }
    let metric = |name| format!("SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = '{name}'");
    until(&mut writer, &metric("trx_rseg_history_len"), |length| length == 0)?;
    // Each segment keeps the page that it writes to.
    until(&mut writer, &metric("trx_undo_pages"), |pages| pages < 32)?;
    let begun = Instant::now();
    while server.bytes_on_disk(UNDO)? > LEFT {
        if begun.elapsed() > Duration::from_secs(120) {
            return Err(format!(
                "the undo still takes {} MiB on the disk",
                server.bytes_on_disk(UNDO)? >> 20
            ));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    expect(&mut writer, STATE, &state(changes))?;
    println!(
        "killed {rounds} times while undo lost its room: {} of {} MiB are left, and {changes} changes of {ROWS} rows",
        server.bytes_on_disk(UNDO)? >> 20,
        most >> 20
    );
    if most <= LEFT {
        return Err("there was not enough undo to tell".to_owned());
    }
    Ok(())
}

/// What [`STATE`] says after so many changes.
fn state(changes: u32) -> String {
    format!("{ROWS} {changes} {changes} {ROWS}")
}

fn connect(server: &Server) -> Result<Client, String> {
    Client::connect(server.port).map_err(|error| error.to_string())
}
