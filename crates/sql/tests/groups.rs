//! What is read in the order of an index, by a loose scan, or by several indexes gives what reading all rows
//! gives; and a snapshot sees no change of other sessions on any of these ways.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

#[path = "client/mod.rs"]
mod client;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use client::{Bench, Client, processor};
use palisade_base::prng::Prng;

const COLUMNS: [&str; 5] = ["a", "b", "c", "s", "d"];

/// Index hints for a table that is to be read whole.
const NO_INDEX: &str = "USE INDEX ()";

/// A table with few different values, and indexes over them.
fn table(client: &mut Client, prng: &mut Prng) {
    for text in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT NOT NULL, s VARCHAR(5), d DATE, KEY (a, b), \
         KEY (b DESC, c), KEY (c, a DESC), KEY (s, d), KEY (d))",
    ] {
        client.answer(text).unwrap();
    }
    let mut one = |of: &[&str]| of[(prng.next_u64() % of.len() as u64) as usize].to_owned();
    let rows: Vec<String> = (0..3000)
        .map(|id| {
            let numbers = ["NULL", "1", "2", "3", "4", "5", "-1"];
            let (a, b, c) = (one(&numbers), one(&numbers), one(&numbers[1..]));
            let s = one(&["NULL", "'a'", "'A'", "'b'", "''"]);
            format!("({id}, {a}, {b}, {c}, {s}, {})", one(&["NULL", "'2024-01-01'", "'2025-02-03'"]))
        })
        .collect();
    client.answer(&format!("INSERT INTO t VALUES {}", rows.join(","))).unwrap();
    client.answer("ANALYZE TABLE t").unwrap();
}

/// Statements about the table `t`, which `hint` follows.
fn statements(hint: &str) -> Vec<String> {
    let mut all = Vec::new();
    for one in COLUMNS {
        for condition in ["1 = 1", "a = 2", "c IN (1, 3)", "a > 1 AND b < 4"] {
            let from = format!("FROM t {hint} WHERE {condition}");
            all.push(format!("SELECT {one}, COUNT(*), SUM(id) {from} GROUP BY {one} ORDER BY {one}"));
            all.push(format!("SELECT DISTINCT {one} {from} ORDER BY {one} DESC"));
            all.push(format!("SELECT COUNT(DISTINCT {one}) {from}"));
            all.push(format!("SELECT MIN(id), COUNT(*) {from} GROUP BY {one} ORDER BY {one} LIMIT 2"));
            for other in COLUMNS {
                let group = format!("{from} GROUP BY {one}");
                all.push(format!("SELECT {one}, MIN({other}), MAX({other}) {group} ORDER BY {one} DESC"));
                all.push(format!("SELECT MAX({other}) {group} ORDER BY {one} LIMIT 3"));
                all.push(format!("SELECT {one}, COUNT(DISTINCT {other}) {group} ORDER BY {one}"));
                all.push(format!("SELECT DISTINCT {one}, {other} {from} ORDER BY {other}, {one}"));
                let pair = format!("{from} GROUP BY {one}, {other}");
                all.push(format!("SELECT COUNT(*), SUM(id) {pair} ORDER BY {other} DESC, {one} DESC"));
            }
        }
    }
    for (one, other) in
        [("a = 1", "c = 2"), ("a = 3 AND b = 1", "id < 9"), ("s = 'a'", "d IS NULL AND c = 1")]
    {
        for rest in ["1 = 1", "c > 1", "(b = 2 OR id % 2 = 0)"] {
            let condition = format!("({one} OR {other} OR b = 5 AND c = 4) AND {rest}");
            all.push(format!("SELECT COUNT(*), SUM(id), SUM(b) FROM t {hint} WHERE {condition}"));
            all.push(format!("SELECT id FROM t {hint} WHERE {condition} ORDER BY id LIMIT 9"));
        }
    }
    all
}

/// Texts that are equal may differ in bytes: which one is shown does not matter here.
fn folded(answer: &str) -> String {
    answer.to_lowercase()
}

#[test]
fn every_way_gives_the_same_rows_to_a_snapshot() {
    let mut prng = Prng::new(116);
    let bench = Arc::<Bench>::default();
    let sql = processor(bench.clone());
    let mut client = Client::new(&sql, 1);
    table(&mut client, &mut prng);
    client.answer("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    let expected: Vec<String> = statements(NO_INDEX).iter().map(|text| folded(&client.run(text))).collect();
    let check = |client: &mut Client, when: &str| {
        for (text, expected) in statements("").iter().zip(&expected) {
            assert_eq!(folded(&client.run(text)), *expected, "{when}: {text}");
        }
    };
    let before = bench.pauses.load(Relaxed);
    check(&mut client, "alone");
    let pauses = bench.pauses.load(Relaxed) - before;
    assert!(pauses > 100, "they gave way {pauses} times");
    let mut writer = Client::new(&sql, 2);
    for text in [
        "USE d",
        "BEGIN",
        "DELETE FROM t WHERE a = 1",
        "UPDATE t SET a = b, b = a, c = c + 1 WHERE id % 3 = 0",
        "UPDATE t SET s = UPPER(s), d = d + INTERVAL 1 DAY WHERE id % 5 = 0",
        "DELETE FROM t WHERE b IS NULL AND id % 2 = 0",
        "INSERT INTO t SELECT id + 10000, a - 2, b + 1, c - 3, 'z', NULL FROM t",
    ] {
        writer.answer(text).unwrap();
    }
    check(&mut client, "beside a transaction");
    writer.answer("COMMIT").unwrap();
    check(&mut client, "after it has ended");
    client.answer("COMMIT").unwrap();
    for (text, whole) in statements("").iter().zip(statements(NO_INDEX)) {
        assert_eq!(folded(&client.run(text)), folded(&client.run(&whole)), "{text}");
    }
}

/// The plan of a statement.
fn plan(client: &mut Client, text: &str) -> String {
    client.run(&format!("EXPLAIN FORMAT=TREE {text}"))
}

#[test]
fn plans_jump_stop_and_merge_where_that_is_less() {
    let mut prng = Prng::new(7);
    let mut client = Client::new(&processor(Arc::default()), 1);
    table(&mut client, &mut prng);
    for text in [
        "SELECT DISTINCT a FROM t",
        "SELECT a, MIN(b), MAX(b) FROM t GROUP BY a",
        "SELECT COUNT(DISTINCT a), SUM(DISTINCT a) FROM t",
        "SELECT a, COUNT(DISTINCT b) FROM t GROUP BY a",
        "SELECT a, MAX(b) FROM t WHERE a > 2 GROUP BY a",
        "SELECT c, MIN(a) FROM t WHERE c % 2 = 0 GROUP BY c",
    ] {
        let plan = plan(&mut client, text);
        assert!(plan.contains("skip scan for grouping"), "{text}: {plan}");
    }
    for text in [
        // The filter is not about the groups alone, a text's bytes may differ, an aggregate needs all rows.
        "SELECT a, MIN(b) FROM t WHERE id % 2 = 0 GROUP BY a",
        "SELECT s, COUNT(*) FROM t GROUP BY s",
        "SELECT DISTINCT s FROM t WHERE s LIKE BINARY 'A%'",
        "SELECT a, SUM(b) FROM t GROUP BY a",
        "SELECT a, MIN(b) FROM t GROUP BY a FOR UPDATE",
        "SELECT a, MIN(b) FROM t GROUP BY a WITH ROLLUP",
    ] {
        let plan = plan(&mut client, text);
        assert!(!plan.contains("skip scan"), "{text}: {plan}");
    }
    for text in [
        "SELECT c, COUNT(*) FROM t GROUP BY c ORDER BY c LIMIT 2",
        "SELECT c, a, COUNT(*) FROM t GROUP BY a, c ORDER BY c DESC, a LIMIT 2",
    ] {
        let plan = plan(&mut client, text);
        assert!(plan.contains("Group aggregate") && !plan.contains("Sort"), "{text}: {plan}");
    }
    for (text, is_merged) in [
        ("SELECT * FROM t WHERE a = 1 AND b = 2 OR id = 3", true),
        ("SELECT * FROM t WHERE a = 1 AND b = 2 OR id = 3 FOR UPDATE", true),
        ("SELECT * FROM t WHERE a = 1 AND b = 2 OR id % 3 = 3", false),
    ] {
        let plan = plan(&mut client, text);
        assert_eq!(plan.contains("Index merge"), is_merged, "{text}: {plan}");
    }
}
