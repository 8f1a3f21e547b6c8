//! Statements over many rows let the worker's other sessions run, and end wherever they do so when they are
//! killed.

mod client;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use client::{Bench, Client, processor};

const ROWS: usize = 9000;

/// Each with the part of its work that used to be done in one go, and how often it must pause at least.
const STATEMENTS: &[(&str, usize)] = &[
    // an order that only the keys decide, prefixes of which are alike
    ("SELECT a FROM n ORDER BY s LIMIT 8999, 1", 30),
    ("SELECT a FROM n ORDER BY s, a DESC LIMIT 3000, 2", 30),
    ("SELECT DISTINCT s FROM n ORDER BY s LIMIT 1", 20),
    ("SELECT MAX(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY g ORDER BY s) r FROM n) x", 50),
    (
        "SELECT MAX(r) FROM (SELECT SUM(a) OVER (ORDER BY a ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) r FROM n WHERE a < 500) x",
        20,
    ),
    ("SELECT COUNT(*) FROM n WHERE a NOT IN (SELECT a + 9000 FROM n)", 20),
    ("SELECT COUNT(*) FROM n WHERE a > 8990 AND a < ANY (SELECT -a FROM n)", 15),
    ("SELECT COUNT(*) FROM (SELECT s FROM n UNION SELECT s FROM n) x", 60),
    ("SELECT COUNT(*) FROM (SELECT s FROM n EXCEPT SELECT s FROM n) x", 50),
    ("SELECT COUNT(*) FROM (SELECT s FROM n INTERSECT ALL SELECT s FROM n) x", 50),
    ("SELECT a, COUNT(*) FROM n GROUP BY a WITH ROLLUP LIMIT 1", 40),
    ("SELECT COUNT(DISTINCT s), GROUP_CONCAT(DISTINCT g) FROM n", 20),
    ("SELECT COUNT(*) FROM n x JOIN n y ON x.s = y.s", 40),
    ("SELECT COUNT(*) FROM (SELECT s FROM n LIMIT 8000) x", 15),
];

fn world() -> (Arc<Bench>, Client) {
    let bench = Arc::new(Bench::default());
    let sql = processor(bench.clone());
    let mut client = Client::new(&sql, 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run("CREATE TABLE n (a INT PRIMARY KEY, g INT, s VARCHAR(60))");
    let rows: Vec<String> = (0..ROWS)
        .map(|a| format!("({a}, {}, 'texts that begin alike for a while {}')", a % 3, a * 7919 % 10007))
        .collect();
    assert_eq!(client.run(&format!("INSERT INTO n VALUES {}", rows.join(","))), format!("{ROWS} affected"));
    (bench, client)
}

#[test]
fn statements_over_many_rows_take_turns() {
    let (bench, mut client) = world();
    for (statement, least) in STATEMENTS {
        let before = bench.pauses.load(Relaxed);
        let answer = client.run(statement);
        let pauses = bench.pauses.load(Relaxed) - before;
        assert!(pauses >= *least, "{statement}: {pauses} pauses; {answer}");
    }
}

#[test]
fn a_statement_ends_at_whichever_pause_it_is_killed() {
    let (bench, mut client) = world();
    for (statement, least) in STATEMENTS {
        let answer = client.run(statement);
        for at in (1..=*least).step_by(7) {
            *bench.killed.lock().unwrap() = Some((client.session.kill.clone(), at));
            let before = bench.pauses.load(Relaxed);
            let killed = client.run(statement);
            let pauses = bench.pauses.load(Relaxed) - before;
            *bench.killed.lock().unwrap() = None;
            assert!(killed.contains("Query execution was interrupted"), "{statement}, {at}: {killed}");
            assert_eq!(pauses, at, "{statement}: it went on after it was killed");
        }
        assert_eq!(client.run(statement), answer, "{statement}: the next execution knows nothing of it");
    }
}
