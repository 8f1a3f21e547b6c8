//! Statements that compute, one on every worker at once, beside sessions that ask short questions; and the
//! end of a server in which every worker computes.
//!
//! That a worker's other sessions are served while a step does not come back is shown without a clock in the
//! tests of `worker.rs`. Here are the true statements. The limits of the tests that always run are wide,
//! because these run beside others on few processors; `soak` has the figures that are promised:
//!
//! ```sh
//! cargo test -p palisade-server --test held_workers -- --ignored --nocapture
//! ```

mod client;

use std::time::{Duration, Instant};

use client::process::Process;
use client::{Answer, Client, TestServer, run};

/// What computes for seconds at least, each in its own way.
const LONG: &[(&str, &str)] = &[
    ("REGEXP", "SELECT REPEAT('a',200000) REGEXP REPEAT('a',70000)"),
    ("JSON_SEARCH", "SELECT LENGTH(JSON_SEARCH(CONCAT('[',REPEAT('\"a\",',400000),'\"a\"]'),'all','a'))"),
    ("REPLACE", "SELECT CRC32(REPLACE(REPLACE(REPLACE(REPEAT('a',8000000),'a','bb'),'b','aa'),'a','bb'))"),
    ("SHA2", "SELECT SHA2(REPEAT('x',60000000),512)"),
    ("EXPORT_SET", "SELECT LENGTH(EXPORT_SET(5,REPEAT('y',100000),REPEAT('n',100000),',',64))"),
    ("HEX", "SELECT LENGTH(HEX(HEX(HEX(HEX(REPEAT('a',2000000))))))"),
    (
        "sort of long values",
        "SELECT COUNT(*) FROM (SELECT REPEAT(i,3000) AS v FROM d.n ORDER BY v DESC LIMIT 100000) s",
    ),
    ("NOT IN", "SELECT COUNT(*) FROM d.n WHERE i NOT IN (SELECT i + 100000 FROM d.n)"),
    ("BENCHMARK", "SELECT BENCHMARK(100000000, SHA1('x'))"),
];

fn start() -> TestServer {
    let server = TestServer::start_settled(&[("max_allowed_packet", "1G"), ("worker_threads", "2")]);
    let mut client = server.connect();
    run(&mut client, &["CREATE DATABASE d", "CREATE TABLE d.n (i INT)", "INSERT INTO d.n VALUES (0), (1)"]);
    for step in 1..13 {
        run(&mut client, &[&format!("INSERT INTO d.n SELECT i + {} FROM d.n", 1 << step)]);
    }
    server
}

/// The longest that one of `clients` waited for an answer until `is_over`, each asking every 2 ms.
fn longest_wait(clients: &mut [Client], is_over: impl Fn() -> bool) -> Duration {
    let mut longest = Duration::ZERO;
    while !is_over() {
        for client in &mut *clients {
            let begun = Instant::now();
            assert_eq!(client.value("SELECT 1"), "1");
            longest = longest.max(begun.elapsed());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    longest
}

/// Sends a statement and does not wait for its answer.
fn begin(server: &TestServer, statement: &str) -> (Client, String) {
    let mut client = server.connect();
    let id = client.value("SELECT CONNECTION_ID()");
    client.send(statement);
    (client, id)
}

/// What came of a kind: the longest wait of `SELECT 1`, and of a login, while `busy` sessions executed the
/// statement; and how long it took until they had ended after a KILL.
struct Seen {
    wait: Duration,
    login: Duration,
    kill: Duration,
}

fn observe(server: &TestServer, statement: &str, busy: usize, time: Duration) -> Seen {
    let mut clients: Vec<_> = (0..6).map(|_| server.connect()).collect();
    let mut killer = server.connect();
    let held: Vec<_> = (0..busy).map(|_| begin(server, statement)).collect();
    let begun = Instant::now();
    let wait = longest_wait(&mut clients, || begun.elapsed() > time);
    let begun = Instant::now();
    drop(server.connect());
    let login = begun.elapsed();
    let begun = Instant::now();
    for (_, id) in &held {
        // it may have ended by itself, but its connection is there
        assert_eq!(killer.query(&format!("KILL {id}")), Answer::Ok(0));
    }
    for (mut client, _) in held {
        // an answer, an error or nothing, and then the end
        while client.read().is_some() {}
    }
    Seen { wait, login, kill: begun.elapsed() }
}

#[test]
fn short_questions_are_answered_while_every_worker_computes() {
    let server = start();
    for (kind, statement) in &LONG[..3] {
        let mut clients: Vec<_> = (0..4).map(|_| server.connect()).collect();
        let held: Vec<_> = (0..2).map(|_| begin(&server, statement)).collect();
        let begun = Instant::now();
        let wait = longest_wait(&mut clients, || begun.elapsed() > Duration::from_millis(400));
        assert!(wait < Duration::from_secs(3), "{kind}: {wait:?}");
        server.connect();
        drop(held);
    }
}

/// A server of its own process: threads that do not come back go with it.
#[test]
fn a_server_in_which_every_thread_computes_ends_when_it_is_told_to_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let options = ["--worker-threads=2", "--max-allowed-packet=1G", "--innodb-flush-log-at-trx-commit=0"];
    let server = Process::start(dir.path(), &options);
    let mut client = server.connect();
    run(&mut client, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "BEGIN"]);
    run(&mut client, &["INSERT INTO d.t VALUES (3)"]);
    let mut other = server.connect();
    let held: Vec<_> = (0..8)
        .map(|number| {
            let mut client = server.connect();
            client.send(LONG[number % 2].1);
            client
        })
        .collect();
    run(&mut other, &["INSERT INTO d.t VALUES (1), (2)"]);
    let begun = Instant::now();
    let (status, printed) = server.terminate();
    let took = begun.elapsed();
    assert!(status.success(), "{status}: {printed:#?}");
    assert!(took < Duration::from_secs(6), "{took:?}");
    drop(held);
    let again = Process::start(dir.path(), &options);
    assert_eq!(again.connect().value("SELECT GROUP_CONCAT(id ORDER BY id) FROM d.t"), "1,2");
    let (status, printed) = again.terminate();
    assert!(status.success() && printed.last().is_some_and(|line| line.contains("shutdown complete")));
}

#[test]
#[ignore = "measures times: for a machine that has nothing else to do"]
fn soak() {
    let server = start();
    let mut failed = Vec::new();
    println!("| statement | SELECT 1 waits at most | login | KILL |\n|---|---|---|---|");
    for (kind, statement) in LONG {
        let Seen { wait, login, kill } = observe(&server, statement, 4, Duration::from_secs(3));
        println!("| {kind} | {wait:.1?} | {login:.1?} | {kill:.1?} |");
        let limit = Duration::from_millis(50);
        if wait > limit || login > 4 * limit || kill > 2 * limit {
            failed.push(*kind);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
