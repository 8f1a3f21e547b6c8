//! Statements that compute, one on every worker at once, beside sessions that ask short questions; and the
//! end of a server in which every worker computes.
//!
//! That a worker's other sessions are served while a step does not come back is shown without a clock in the
//! tests of `worker.rs`. Here are the true statements. The limits of the tests that always run are wide,
//! because these run beside others on few processors; `soak` has the figures that are promised, and is a part
//! of the long tests (`cargo xtask soak --part waits`, which builds with optimisation).

mod client;

use std::io::Write;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use client::process::Process;
use client::{Answer, Client, TestServer, error, run};

/// Values over long texts, computed for each row of `d.n`, whose number is `i`: a statement over all rows
/// takes minutes, and is nearly always within one of them.
const LONG: &[(&str, &str)] = &[
    ("REGEXP", "REPEAT('a', 3000000 + i) REGEXP '(a|b)*c'"),
    ("JSON_SEARCH", "JSON_SEARCH(CONCAT('[', REPEAT('\"a\",', 400000), i, ']'), 'all', 'a')"),
    ("REPLACE", "REPLACE(REPLACE(REPEAT('a', 8000000 + i), 'a', 'bb'), 'b', 'aa')"),
    ("SHA2", "SHA2(REPEAT('x', 60000000 + i), 512)"),
    ("EXPORT_SET", "EXPORT_SET(5 + i, REPEAT('y', 300000), REPEAT('n', 300000), ',', 64)"),
    ("HEX", "HEX(HEX(HEX(REPEAT('a', 2000000 + i))))"),
    ("UNHEX", "UNHEX(REPEAT('61', 10000000 + i))"),
    ("TO_BASE64", "FROM_BASE64(TO_BASE64(REPEAT('a', 10000000 + i)))"),
    ("COMPRESS", "UNCOMPRESS(COMPRESS(REPEAT('abcdefgh', 2000000 + i)))"),
    ("REVERSE", "REVERSE(REPEAT('\u{e9}', 10000000 + i))"),
    ("QUOTE", "QUOTE(REPEAT(CHAR(39), 10000000 + i))"),
    ("SOUNDEX", "SOUNDEX(REPEAT('ab', 10000000 + i))"),
    ("LPAD", "LPAD('x', 10000000 + i, REPEAT('\u{e9}', 1000))"),
    ("INSERT", "INSERT(REPEAT('\u{e9}', 10000000 + i), 9000000, 3, 'x')"),
    ("TRIM", "TRIM(LEADING 'ab' FROM REPEAT('ab', 10000000 + i))"),
    ("SUBSTRING_INDEX", "SUBSTRING_INDEX(REPEAT('a,', 10000000 + i), ',', -5)"),
    ("CHAR_LENGTH", "CHAR_LENGTH(REPEAT('\u{e9}', 30000000 + i))"),
    ("LOCATE", "LOCATE('x', REPEAT('\u{e9}', 10000000 + i))"),
    ("FIND_IN_SET", "FIND_IN_SET('b', REPEAT('a,', 10000000 + i))"),
    ("case", "UPPER(LOWER(REPEAT('\u{e9}', 10000000 + i)))"),
    ("character set", "CONVERT(CONVERT(REPEAT('\u{e9}', 10000000 + i) USING latin1) USING utf8mb4)"),
    ("comparison", "REPEAT('\u{e9}', 20000000) = CONCAT(REPEAT('\u{c9}', 19999999), i)"),
    (
        "comparison by utf8mb4_general_ci",
        "REPEAT('a', 20000000) COLLATE utf8mb4_general_ci < CONCAT(REPEAT('A', 19999999), i)",
    ),
    ("STRCMP", "STRCMP(REPEAT('\u{e9}', 20000000), CONCAT(REPEAT('\u{c9}', 19999999), i))"),
    ("IN", "REPEAT('\u{e9}', 20000000) IN (CONCAT(REPEAT('\u{c9}', 19999999), i), 'x')"),
    ("GREATEST", "GREATEST(REPEAT('\u{e9}', 10000000 + i), REPEAT('\u{c9}', 10000000))"),
    ("LIKE", "REPEAT('ab', 10000000 + i) LIKE '%b%c%'"),
    (
        "bits",
        "CAST(REPEAT('a', 10000000) AS BINARY) & ~CAST(REPEAT('b', 10000000) AS BINARY) << (i DIV 9999)",
    ),
    ("CAST", "CAST(REPEAT('\u{e9}', 20000000 + i) AS CHAR(15000000))"),
    ("REGEXP_REPLACE", "REGEXP_REPLACE(REPEAT('ab', 500000 + i), 'b', 'c')"),
    ("REGEXP_INSTR", "REGEXP_INSTR(REPEAT('ab', 500000 + i), 'b', 1, 400000)"),
    ("JSON_LENGTH", "JSON_LENGTH(CONCAT('[', REPEAT('\"abcdefgh\",', 1000000), i, ']'))"),
    ("JSON_SET", "JSON_SET(CONCAT('[', REPEAT('\"abcdefgh\",', 1000000), '1]'), '$[0]', i)"),
    ("JSON_PRETTY", "JSON_PRETTY(CONCAT('[', REPEAT('{\"a\": 1},', 300000), i, ']'))"),
    ("JSON_QUOTE", "JSON_QUOTE(REPEAT('a', 10000000 + i))"),
    ("JSON_EXTRACT", "JSON_EXTRACT(CONCAT('[', REPEAT('{\"a\": 1},', 300000), i, ']'), '$[*].a')"),
    (
        "JSON compared",
        "CAST(CONCAT('[', REPEAT('1,', 500000), i, ']') AS JSON) = CAST(CONCAT('[', REPEAT('1,', 500000), '0]') AS JSON)",
    ),
    ("BENCHMARK", "BENCHMARK(100000000, SHA1(i))"),
];

/// Statements over many rows, or over rows with long values.
const MANY_ROWS: &[(&str, &str)] = &[
    (
        "sort of long values",
        "SELECT COUNT(*) FROM (SELECT REPEAT(i, 3000) AS v FROM d.n ORDER BY v DESC LIMIT 100000) s",
    ),
    (
        "MIN and MAX of long values",
        "SELECT LENGTH(MIN(v)), LENGTH(MAX(v)) FROM (SELECT CONCAT(REPEAT('\u{e9}', 20000), i) AS v FROM d.n) s",
    ),
    (
        "groups of long values",
        "SELECT COUNT(*) FROM (SELECT CONCAT(REPEAT('\u{e9}', 5000), i DIV 2) AS v FROM d.n GROUP BY v) s",
    ),
    ("NOT IN", "SELECT COUNT(*) FROM d.n x, d.n y WHERE x.i + y.i NOT IN (SELECT i + 100000 FROM d.n)"),
    ("join", "SELECT COUNT(*) FROM d.n x JOIN d.n y ON x.i < y.i JOIN d.n z ON z.i > y.i"),
    (
        "long values stored",
        "INSERT INTO d.long_text SELECT CONCAT(REPEAT('\u{e9}', 8000000), i) FROM d.n WHERE i < 100",
    ),
];

/// What a kind answers if it is left alone.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    Well,
    /// With this error.
    Badly(u16),
    /// Well; and if it is killed it takes back what it has done, which takes as long again.
    Undone,
}

/// A kind of statement that computes.
struct Kind {
    name: &'static str,
    statement: String,
    ends: Ends,
}

/// Statements whose texts are too long to be written here.
fn long_texts() -> Vec<Kind> {
    let list =
        |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    let equal = |number: usize| format!("t{number}.a = t{}.c", (number * 7 + 1) % 60);
    let tables = (0..60).map(|number| format!("d.j t{number}")).collect::<Vec<_>>().join(" JOIN ");
    // a condition less, so that there are 2 to the power of many rows
    let join = format!("{tables} ON {}", (0..30).map(equal).collect::<Vec<_>>().join(" AND "));
    let outer = (0..58).rev().fold("d.j t58".to_owned(), |from, at| {
        format!("d.j t{at} LEFT JOIN ({from}) ON t{}.a = t{at}.c", at + 1)
    });
    let plans = vec![format!("SELECT COUNT(*) FROM {join}"); 150].join(" UNION ALL ");
    let kind = |name, statement, ends| Kind { name, statement, ends };
    vec![
        kind(
            "rows to insert",
            format!("INSERT INTO d.w VALUES {}", list(500_000, &|row| format!("({row},'abc{row}')"))),
            Ends::Undone,
        ),
        kind(
            "rows that are there",
            format!("INSERT IGNORE INTO d.once VALUES {}", list(500_000, &|row| format!("(1,'abc{row}')"))),
            Ends::Well,
        ),
        kind(
            "rows of defaults",
            format!("INSERT IGNORE INTO d.once VALUES {}", list(500_000, &|_| "(1,DEFAULT)".to_owned())),
            Ends::Well,
        ),
        kind(
            "IN list",
            format!(
                "SELECT COUNT(*) FROM d.n WHERE i + 0 IN ({})",
                list(1_000_000, &|item| item.to_string())
            ),
            Ends::Well,
        ),
        kind(
            "rows of VALUES",
            format!("SELECT COUNT(*) FROM (VALUES {}) v", list(500_000, &|row| format!("ROW({row})"))),
            Ends::Well,
        ),
        kind("join of 60 tables", format!("SELECT COUNT(*) FROM {join}"), Ends::Well),
        kind(
            "outer join of 59 tables",
            format!("SELECT COUNT(*), BENCHMARK(100000000, SHA1('x')) FROM {outer}"),
            Ends::Well,
        ),
        kind("plans of joins", format!("EXPLAIN {plans}"), Ends::Well),
        kind(
            "columns of a table",
            format!("CREATE TABLE d.x ({})", list(700_000, &|at| format!("c{at} INT"))),
            Ends::Badly(1117),
        ),
        kind(
            "names of users",
            format!("CREATE USER IF NOT EXISTS {}", list(300_000, &|user| format!("u{user}"))),
            Ends::Undone,
        ),
    ]
}

/// A value for each row of `d.n`.
fn of_rows(value: &str) -> String {
    format!("SELECT SUM(LENGTH({value})) FROM d.n")
}

/// All of them.
fn long() -> impl Iterator<Item = Kind> {
    let well = |name, statement| Kind { name, statement, ends: Ends::Well };
    let values = LONG.iter().map(move |(name, value)| well(*name, of_rows(value)));
    let rows = MANY_ROWS.iter().map(|(name, statement)| {
        let ends = if statement.starts_with("INSERT") { Ends::Undone } else { Ends::Well };
        Kind { name, statement: (*statement).to_owned(), ends }
    });
    values.chain(rows).chain(long_texts())
}

fn start() -> TestServer {
    let server = TestServer::start_settled(&[("max_allowed_packet", "1G"), ("worker_threads", "2")]);
    fill(&mut server.connect());
    server
}

/// Makes the tables that the statements are about.
fn fill(client: &mut Client) {
    run(client, &["CREATE DATABASE d", "CREATE TABLE d.n (i INT)", "INSERT INTO d.n VALUES (0), (1)"]);
    run(client, &["CREATE TABLE d.j (a INT PRIMARY KEY, c INT, KEY (c))"]);
    run(client, &["INSERT INTO d.j VALUES (1, 2), (2, 2)"]);
    run(client, &["CREATE TABLE d.w (a INT, t VARCHAR(20))"]);
    run(client, &["CREATE TABLE d.once (a INT PRIMARY KEY, t VARCHAR(20) DEFAULT 'x')"]);
    run(client, &["INSERT INTO d.once VALUES (1, 'abc')", "CREATE TABLE d.long_text (t LONGTEXT)"]);
    for step in 1..13 {
        run(client, &[&format!("INSERT INTO d.n SELECT i + {} FROM d.n", 1 << step)]);
    }
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

/// A session that executes a statement again and again, until its connection ends.
struct Busy {
    id: String,
    thread: JoinHandle<Result<(), String>>,
}

impl Busy {
    fn begin(server: &Process, kind: &Kind) -> Busy {
        let mut client = server.connect();
        let id = client.value("SELECT CONNECTION_ID()");
        let mut packet = (kind.statement.len() as u32 + 1).to_le_bytes().to_vec();
        packet[3] = 0;
        packet.push(3);
        packet.extend_from_slice(kind.statement.as_bytes());
        let ends = kind.ends;
        let thread = std::thread::spawn(move || {
            loop {
                let begun = Instant::now();
                if client.stream.write_all(&packet).is_err() {
                    return Ok(());
                }
                client.sequence = 1;
                let Some(first) = client.read() else { return Ok(()) };
                let took = begun.elapsed();
                match (first[0], ends) {
                    (0xff, ends) => match error(&first) {
                        Answer::Error(1317 | 1053, ..) => {}
                        Answer::Error(code, ..) if ends == Ends::Badly(code) => {}
                        wrong => return Err(format!("answers {wrong:?}")),
                    },
                    // the rest of a result set, up to its second EOF
                    (1.., _) => {
                        let mut ends = 0;
                        while ends < 2 {
                            let Some(packet) = client.read() else { return Ok(()) };
                            ends += usize::from(packet[0] == 0xfe && packet.len() < 9);
                        }
                    }
                    (0, _) => {}
                }
                if first[0] != 0xff && took < LEAST {
                    return Err(format!("ends after {took:.1?}: too soon to be judged"));
                }
            }
        });
        Busy { id, thread }
    }
}

/// A statement that takes less cannot be judged.
const LEAST: Duration = Duration::from_millis(100);

/// What came of a kind while `BUSY` sessions executed the statement, and what is promised of it.
#[derive(Default)]
struct Seen {
    /// The longest wait of `SELECT 1`.
    wait: Duration,
    /// The longest login.
    login: Duration,
    /// From KILL until the last of the sessions had ended.
    kill: Duration,
    /// From SIGTERM until the process had ended.
    end: Duration,
    wrong: Vec<String>,
}

/// Sessions that execute the statement, on two workers.
const BUSY: usize = 4;
/// How long they do until they are killed: each time the statement is at another place.
const TIMES: [Duration; 3] =
    [Duration::from_millis(70), Duration::from_millis(500), Duration::from_millis(2000)];

fn observe(kind: &Kind) -> Seen {
    let dir = tempfile::tempdir().unwrap();
    let options = ["--worker-threads=2", "--max-allowed-packet=1G", "--innodb-redo-log-capacity=1G"];
    let server = Process::start(dir.path(), &options);
    fill(&mut server.connect());
    let mut seen = Seen::default();
    let begin = || -> Vec<Busy> { (0..BUSY).map(|_| Busy::begin(&server, kind)).collect() };
    let mut clients: Vec<_> = (0..6).map(|_| server.connect()).collect();
    let mut killer = server.connect();
    for time in TIMES {
        let busy = begin();
        let begun = Instant::now();
        seen.wait = seen.wait.max(longest_wait(&mut clients, || begun.elapsed() > time));
        let begun = Instant::now();
        drop(server.connect());
        seen.login = seen.login.max(begun.elapsed());
        let begun = Instant::now();
        for session in &busy {
            let killed = killer.query(&format!("KILL {}", session.id));
            if killed != Answer::Ok(0) {
                seen.wrong.push(format!("KILL answers {killed:?}"));
            }
        }
        for session in busy {
            seen.wrong.extend(session.thread.join().unwrap().err());
        }
        let took = begun.elapsed();
        let undoing = if kind.ends == Ends::Undone { 2 * time } else { Duration::ZERO };
        seen.kill = seen.kill.max(took.saturating_sub(undoing));
    }
    let busy = begin();
    std::thread::sleep(TIMES[1]);
    let begun = Instant::now();
    let (status, printed) = server.terminate();
    seen.end = begun.elapsed();
    if !status.success() {
        seen.wrong.push(format!("{status}: {printed:?}"));
    }
    for session in busy {
        seen.wrong.extend(session.thread.join().unwrap().err());
    }
    seen
}

#[test]
fn short_questions_are_answered_while_every_worker_computes() {
    let server = start();
    for (kind, value) in &LONG[..3] {
        let statement = &of_rows(value);
        let mut clients: Vec<_> = (0..4).map(|_| server.connect()).collect();
        let held: Vec<_> = (0..2).map(|_| begin(&server, statement)).collect();
        let begun = Instant::now();
        let wait = longest_wait(&mut clients, || begun.elapsed() > Duration::from_millis(400));
        assert!(wait < Duration::from_secs(3), "{kind}: {wait:?}");
        server.connect();
        drop(held);
    }
}

/// Nothing is left of a statement soon after its client has gone, however it computes.
#[test]
fn a_statement_ends_with_its_client() {
    let server = start();
    let mut watcher = server.connect();
    // `soak` has the others, whose texts are long to make without optimisation.
    let values = LONG.iter().map(|(kind, value)| (*kind, of_rows(value)));
    let rows = MANY_ROWS.iter().map(|(kind, statement)| (*kind, (*statement).to_owned()));
    for (kind, statement) in values.chain(rows) {
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
    fill(&mut client);
    run(&mut client, &["CREATE TABLE d.t (id INT PRIMARY KEY)", "BEGIN"]);
    run(&mut client, &["INSERT INTO d.t VALUES (3)"]);
    let mut other = server.connect();
    let held: Vec<_> = (0..8)
        .map(|number| {
            let mut client = server.connect();
            client.send(&of_rows(LONG[number % 2].1));
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
    // PALISADE_KINDS=IN,LIKE: these alone
    let wanted = std::env::var("PALISADE_KINDS").unwrap_or_default();
    let wanted: Vec<&str> = wanted.split(',').filter(|name| !name.is_empty()).collect();
    let mut failed = Vec::new();
    println!("| statement | SELECT 1 waits at most | login | KILL | SIGTERM |\n|---|---|---|---|---|");
    for kind in long().filter(|kind| wanted.is_empty() || wanted.contains(&kind.name)) {
        let Seen { wait, login, kill, end, wrong } = observe(&kind);
        println!("| {} | {wait:.1?} | {login:.1?} | {kill:.1?} | {end:.1?} |", kind.name);
        let limit = Duration::from_millis(50);
        if wait > limit || login > 4 * limit || kill > 2 * limit || end > 40 * limit || !wrong.is_empty() {
            failed.push((kind.name, wrong));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
