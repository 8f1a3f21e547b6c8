//! A client that goes away while its statement computes.

mod client;

use std::io::Write;

use client::{Answer, Client, TestServer, run, until};

/// Statements that compute for years, and touch no row that they would have to wait for.
const ENDLESS: [&str; 4] = [
    "/* endless */ SELECT COUNT(*) FROM n a, n b, n c, n d, n e, n f WHERE a.i + b.i + c.i + d.i + e.i + f.i = -1",
    "/* endless */ INSERT INTO sink SELECT 1 FROM n a, n b, n c, n d, n e, n f WHERE a.i + b.i + c.i + d.i + e.i + f.i = -1",
    "/* endless */ UPDATE n a, n b, n c, n d, n e, n f SET a.i = 0 WHERE a.i + b.i + c.i + d.i + e.i + f.i = -1",
    "/* endless */ WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i % 7 FROM r) SELECT MAX(i) FROM r",
];

const RUNNING: &str = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '/* endless %'";

fn send(client: &mut Client, text: &str) {
    let mut packet = ((text.len() + 1) as u32).to_le_bytes();
    packet[3] = 0;
    client.stream.write_all(&[&packet[..], b"\x03", text.as_bytes()].concat()).unwrap();
}

#[test]
fn a_statement_that_computes_ends_with_its_client_and_lets_go_of_its_locks() {
    let server = TestServer::start(&[("cte_max_recursion_depth", "4294967295")]);
    let mut watcher = server.connect();
    let numbers: Vec<_> = (0..1000).map(|number| format!("({number})")).collect();
    run(
        &mut watcher,
        &[
            "CREATE DATABASE test",
            "USE test",
            "CREATE TABLE n (i INT)",
            "CREATE TABLE sink (i INT)",
            "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
            "INSERT INTO t VALUES (1, 0)",
            &format!("INSERT INTO n VALUES {}", numbers.join(", ")),
            "SET innodb_lock_wait_timeout = 600",
        ],
    );
    for (number, statement) in ENDLESS.into_iter().enumerate() {
        // What was sent after it, and is waiting to be read, hides nothing.
        for follower in ["", "SELECT 1"] {
            let mut client = server.connect();
            run(&mut client, &["USE test", "BEGIN", "UPDATE t SET v = v + 1 WHERE id = 1"]);
            send(&mut client, statement);
            until(&mut watcher, RUNNING, &Answer::Rows(vec![vec![Some("1".to_owned())]]));
            if !follower.is_empty() {
                send(&mut client, follower);
            }
            drop(client);
            // Waits for the lock, if it is still there, and finds what was there before.
            run(&mut watcher, &["BEGIN"]);
            let value = watcher.value("SELECT v FROM t WHERE id = 1 FOR UPDATE");
            assert_eq!(value, "0", "statement {number}");
            run(&mut watcher, &["COMMIT"]);
            until(&mut watcher, RUNNING, &Answer::Rows(vec![vec![Some("0".to_owned())]]));
        }
    }
}
