//! Statements that compute, one on every worker at once, beside sessions that ask short questions; and the
//! end of a server in which every worker computes.
//!
//! That a worker's other sessions are served while a step does not come back is shown without a clock in the
//! tests of `worker.rs`. Here are the true statements. The limits of the tests that always run are wide,
//! because these run beside others on few processors; `soak` has the figures that are promised, and is a part
//! of the long tests (`cargo xtask soak --part waits`, which builds with optimisation).

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
    ("JSON", "SELECT JSON_LENGTH(CONCAT('[', REPEAT('\"abcdefgh\",', 4000000), '1]'))"),
    (
        "JSON written",
        "SELECT LENGTH(JSON_SET(CONCAT('[', REPEAT('\"abcdefgh\",', 4000000), '1]'), '$[0]', 1))",
    ),
    ("case", "SELECT CRC32(UPPER(LOWER(UPPER(LOWER(REPEAT('\u{e9}', 30000000))))))"),
    ("character set", "SELECT CRC32(CONVERT(CONVERT(REPEAT('\u{e9}', 30000000) USING utf16) USING utf8mb4))"),
    ("comparison", "SELECT REPEAT('\u{e9}', 30000000) = CONCAT(REPEAT('\u{c9}', 29999999), 'x')"),
    ("weight string", "SELECT LENGTH(WEIGHT_STRING(REPEAT('a', 30000000)))"),
];

/// Statements whose texts are too long to be written here.
fn long_texts() -> Vec<(&'static str, String)> {
    let list =
        |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    let join = |count: usize| {
        let tables = (0..count).map(|number| format!("d.j t{number}")).collect::<Vec<_>>().join(" JOIN ");
        let equal = |number: usize| format!("t{number}.a = t{}.c", (number * 7 + 1) % count);
        format!("{tables} ON {}", (0..count).map(equal).collect::<Vec<_>>().join(" AND "))
    };
    let rows = list(500_000, &|row| format!("({row},'abc{row}')"));
    let items = list(1_000_000, &|item| item.to_string());
    let values = list(500_000, &|row| format!("ROW({row})"));
    vec![
        ("rows to insert", format!("INSERT INTO d.w VALUES {rows}")),
        ("IN list", format!("SELECT COUNT(*) FROM d.n WHERE i + 0 IN ({items})")),
        ("rows of VALUES", format!("SELECT COUNT(*) FROM (VALUES {values}) v")),
        ("join of 60 tables", format!("SELECT COUNT(*) FROM {}", join(60))),
        ("EXPLAIN of a join", format!("EXPLAIN SELECT COUNT(*) FROM {}", join(60))),
        ("columns of a table", format!("CREATE TABLE d.x ({})", list(500_000, &|at| format!("c{at} INT")))),
        ("names of users", format!("CREATE USER {}", list(300_000, &|user| format!("u{user}")))),
    ]
}

/// All of them.
fn long() -> impl Iterator<Item = (&'static str, String)> {
    LONG.iter().map(|(kind, statement)| (*kind, (*statement).to_owned())).chain(long_texts())
}

fn start() -> TestServer {
    let server = TestServer::start_settled(&[("max_allowed_packet", "1G"), ("worker_threads", "2")]);
    let mut client = server.connect();
    run(&mut client, &["CREATE DATABASE d", "CREATE TABLE d.n (i INT)", "INSERT INTO d.n VALUES (0), (1)"]);
    run(&mut client, &["CREATE TABLE d.j (a INT PRIMARY KEY, c INT, KEY (c))"]);
    run(&mut client, &["CREATE TABLE d.w (a INT, t VARCHAR(20))"]);
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

/// Kinds that `soak` alone looks at, by KILL.
const ONLY_KILLED: [&str; 4] =
    ["join of 60 tables", "EXPLAIN of a join", "columns of a table", "names of users"];

/// Nothing is left of a statement soon after its client has gone, however it computes.
#[test]
fn a_statement_ends_with_its_client() {
    let server = start();
    let mut watcher = server.connect();
    let kinds = long().filter(|(kind, _)| !ONLY_KILLED.contains(kind));
    for (kind, statement) in kinds {
        let (client, id) = begin(&server, &statement);
        let of_client = format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {id}");
        while watcher.value(&format!("{of_client} AND COMMAND = 'Query'")) == "0" && !client.has_answer() {
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(client);
        let dropped = Instant::now();
        while watcher.value(&of_client) != "0" {
            assert!(dropped.elapsed() < Duration::from_secs(30), "{kind} goes on without its client");
            std::thread::sleep(Duration::from_millis(5));
        }
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
#[ignore = "measures times; `cargo xtask soak --part waits` runs it"]
fn soak() {
    let server = start();
    let mut failed = Vec::new();
    println!("| statement | SELECT 1 waits at most | login | KILL |\n|---|---|---|---|");
    for (kind, statement) in long() {
        let Seen { wait, login, kill } = observe(&server, &statement, 4, Duration::from_secs(3));
        println!("| {kind} | {wait:.1?} | {login:.1?} | {kill:.1?} |");
        let limit = Duration::from_millis(50);
        if wait > limit || login > 4 * limit || kill > 2 * limit {
            failed.push(kind);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
