//! What is added up in parts, side by side, is answered as if it had been added up by one: to the order of
//! the groups, the warnings and the counters.

// a part of it is used
#[allow(dead_code)]
mod client;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use client::{Bench, Client, processor};
use palisade_base::prng::{Prng, test_seed};
use palisade_session::work::COUNT;
use palisade_sql::Sql;

const ROWS: u64 = 4000;

/// A server that runs parts, and a client of it.
fn world(seed: u64) -> (Arc<Bench>, Arc<Sql>, Client) {
    let bench = Arc::new(Bench::default());
    bench.beside.set((4, Arc::downgrade(&bench))).unwrap();
    let sql = processor(bench.clone());
    let mut client = Client::new(&sql, 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run(
        "CREATE TABLE n (a INT PRIMARY KEY, g INT, s VARCHAR(20), u INT UNSIGNED, m DECIMAL(12,2), f DOUBLE, \
         d DATE, b BIGINT, pad VARCHAR(200), KEY (g, u))",
    );
    let mut prng = Prng::new(seed);
    for first in (0..ROWS).step_by(500) {
        let rows: Vec<String> = (first..first + 500).map(|a| row(a, &mut prng)).collect();
        assert_eq!(client.run(&format!("INSERT INTO n VALUES {}", rows.join(", "))), "500 affected");
    }
    (bench, sql, client)
}

fn row(a: u64, prng: &mut Prng) -> String {
    let or_null = |prng: &mut Prng, text: String| if prng.one_in(9) { "NULL".to_owned() } else { text };
    let g = prng.below(40).to_string();
    let s = format!("'{}{}'", prng.pick(&["a", "A", "b", "\u{e4}", "B"]), prng.below(4));
    let (u, m) = (prng.below(1000), format!("{}.{:02}", prng.below(100_000), prng.below(100)));
    let (d, b) =
        (format!("'2020-{:02}-{:02}'", prng.below(12) + 1, prng.below(28) + 1), prng.next_u64() as i64 >> 4);
    let pad = "p".repeat(prng.below(200) as usize);
    let (g, s) = (or_null(prng, g), or_null(prng, s));
    let (m, d) = (or_null(prng, m), or_null(prng, d));
    format!("({a}, {g}, {s}, {u}, {m}, {u}.5, {d}, {b}, '{pad}')")
}

/// A grouping that can be added up in parts.
fn statement(prng: &mut Prng) -> String {
    let aggregates = [
        "COUNT(*)",
        "COUNT(g)",
        "SUM(u)",
        "SUM(m)",
        "AVG(m)",
        "AVG(u)",
        "MIN(m)",
        "MAX(d)",
        "MIN(u)",
        "MAX(b)",
        "BIT_XOR(u)",
        "BIT_OR(g)",
        "BIT_AND(u)",
        "SUM(m * (1 - u / 1000))",
        "SUM(u + g)",
        "COUNT(s)",
        "SUM(b)",
        "SUM(CASE WHEN s LIKE 'a%' THEN 1 ELSE 0 END)",
        "AVG(LENGTH(pad))",
        "SUM(u DIV g)",
        "MIN(d)",
    ];
    let conditions = [
        "u > 300",
        "m BETWEEN 1000 AND 50000",
        "s LIKE 'a%'",
        "d < '2020-07-01'",
        "g IN (1, 2, 3, 5, 8, 13)",
        "g IS NULL",
        "u / g > 20",
        "s = 'B1' OR u < 100",
        "a > 1000",
        "a BETWEEN 500 AND 4500",
        "a < 9 OR a > 3000",
        "LENGTH(pad) % 3 = 1",
        "UPPER(s) <> 'A2'",
    ];
    let keys = ["g", "s", "d", "u", "g, s", "MONTH(d)", "u % 7", "s, d", "LEFT(s, 1)", "g + 1"];
    let some = |prng: &mut Prng, from: &[&str], most: u64| -> Vec<String> {
        (0..=prng.below(most)).map(|_| (*prng.pick(from)).to_owned()).collect()
    };
    let list = some(prng, &aggregates, 4).join(", ");
    let filter = match prng.one_in(4) {
        true => String::new(),
        false => format!(" WHERE {}", some(prng, &conditions, 2).join(" AND ")),
    };
    let from = if prng.one_in(5) { "n IGNORE INDEX (g)" } else { "n" };
    match prng.below(4) {
        0 => format!("SELECT {list} FROM {from}{filter}"),
        _ => {
            let key = *prng.pick(&keys);
            let having = if prng.one_in(4) { " HAVING COUNT(*) > 2" } else { "" };
            format!("SELECT {key}, {list} FROM {from}{filter} GROUP BY {key}{having}")
        }
    }
}

/// A grouping of a join that can be added up in parts.
fn statement_of_join(prng: &mut Prng) -> String {
    let (aggregates, keys) = (
        ["COUNT(*)", "SUM(n.u + k.v)", "AVG(n.m)", "MIN(k.v)", "SUM(n.b DIV k.v)", "COUNT(k.t)", "MAX(n.d)"],
        ["k.g", "k.t", "n.s, k.t", "MONTH(n.d)", "k.v % 3"],
    );
    let joins = [
        "n JOIN k ON k.g = n.g",
        "n JOIN k ON k.v = n.u",
        "n JOIN k ON k.v = n.u AND k.g < n.g",
        "n LEFT JOIN k ON k.g = n.g AND k.v > 5",
        "n LEFT JOIN k ON k.v = n.g",
        "n JOIN k ON k.t = n.s",
        "k STRAIGHT_JOIN n ON n.a = k.v * 3",
        "n STRAIGHT_JOIN k ON k.v = n.u STRAIGHT_JOIN k l ON l.g = k.v % 9",
    ];
    let conditions = ["n.u > 100", "k.v % 3 <> 1", "n.s LIKE 'a%'", "n.a BETWEEN 100 AND 3500", "n.m > k.v"];
    let some = |prng: &mut Prng, from: &[&str], most: u64| -> Vec<String> {
        (0..=prng.below(most)).map(|_| (*prng.pick(from)).to_owned()).collect()
    };
    let list = some(prng, &aggregates, 3).join(", ");
    let mut filter = some(prng, &conditions, 2);
    if prng.one_in(4) {
        let not = if prng.one_in(2) { "NOT " } else { "" };
        filter.push(format!("{not}EXISTS (SELECT 1 FROM k x WHERE x.v = n.u AND x.g <> n.a)"));
    }
    let (join, filter) = (*prng.pick(&joins), filter.join(" AND "));
    match prng.below(4) {
        0 => format!("SELECT {list} FROM {join} WHERE {filter}"),
        _ => {
            let key = *prng.pick(&keys);
            format!("SELECT {key}, {list} FROM {join} WHERE {filter} GROUP BY {key}")
        }
    }
}

/// What a statement answers, warns of, counts and examines.
fn outcome(client: &mut Client, text: &str) -> (String, String, [u64; COUNT], u64) {
    let (before, examined) = (client.session.work.counts(), client.session.work.rows_examined);
    let answer = client.run(text);
    let mut counts = client.session.work.counts();
    counts.iter_mut().zip(before).for_each(|(count, before)| *count -= before);
    let examined = client.session.work.rows_examined - examined;
    (answer, client.run("SHOW WARNINGS"), counts, examined)
}

fn in_parts(client: &mut Client, threads: usize) {
    let variables = &mut client.session.state.variables;
    (variables.parallel_cost, variables.parallel_threads, variables.parallel_read_threads) =
        (0, threads, threads);
}

#[test]
fn parts_answer_as_one() {
    let seed = test_seed(12);
    let (bench, _, mut client) = world(seed);
    let mut prng = Prng::new(seed + 1);
    for number in 0..100 {
        let text = statement(&mut prng);
        in_parts(&mut client, 1);
        let expected = outcome(&mut client, &text);
        in_parts(&mut client, 2 + number % 3);
        assert_eq!(outcome(&mut client, &text), expected, "seed {seed}: {text}");
    }
    let parts = bench.parts.load(Ordering::Relaxed);
    assert!(parts > 130, "{parts} parts were run");
}

#[test]
fn parts_of_joins_answer_as_one() {
    let seed = test_seed(22);
    let (bench, _, mut client) = world(seed);
    client.run("CREATE TABLE k (g INT PRIMARY KEY, v INT NOT NULL, t VARCHAR(5), KEY (t))");
    let rows: Vec<String> = (0..60)
        .map(|g| format!("({g}, {}, '{}{}')", g * 37 % 101, if g % 3 == 0 { "A" } else { "b" }, g % 5))
        .collect();
    client.run(&format!("INSERT INTO k VALUES {}", rows.join(", ")));
    let mut prng = Prng::new(seed + 1);
    for number in 0..100 {
        let text = statement_of_join(&mut prng);
        in_parts(&mut client, 1);
        let expected = outcome(&mut client, &text);
        in_parts(&mut client, 2 + number % 3);
        let answered = outcome(&mut client, &text);
        assert_eq!(
            answered,
            expected,
            "seed {seed}: {text}\n{}",
            client.run(&format!("EXPLAIN FORMAT=TREE {text}"))
        );
    }
    let parts = bench.parts.load(Ordering::Relaxed);
    assert!(parts > 100, "{parts} parts were run");
    in_parts(&mut client, 4);
    let text = "SELECT n.s, COUNT(*), SUM(l.v) FROM n JOIN k ON k.g = n.g JOIN k l ON l.v = n.u GROUP BY n.s";
    in_parts(&mut client, 1);
    let expected = client.run(text);
    in_parts(&mut client, 4);
    let variables = &mut client.session.state.variables;
    (variables.operator_memory, variables.join_buffer_size) = (0, 1);
    assert_eq!(client.run(text), expected, "hash tables for which parts have no memory");
}

#[test]
fn parts_see_one_snapshot_while_others_write() {
    let seed = test_seed(13);
    let (_, sql, mut client) = world(seed);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sql, stop) = (&sql, &stop);
        scope.spawn(move || {
            let (mut writer, mut prng) = (Client::new(sql, 2), Prng::new(seed));
            writer.run("USE d");
            while !stop.load(Ordering::Relaxed) {
                let from = prng.below(ROWS);
                writer.run(&format!("DELETE FROM n WHERE a BETWEEN {from} AND {}", from + 200));
                writer.run(&format!(
                    "UPDATE n SET u = u + 1, g = g + 1 WHERE a BETWEEN {} AND {}",
                    from / 2,
                    from / 2 + 99
                ));
                let rows: Vec<String> = (from..from + 200).map(|a| row(a, &mut prng)).collect();
                writer.run(&format!("REPLACE INTO n VALUES {}", rows.join(", ")));
            }
        });
        let mut prng = Prng::new(seed + 1);
        for _ in 0..60 {
            let text = statement(&mut prng);
            client.run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
            in_parts(&mut client, 4);
            let in_parts_of_it = client.run(&text);
            in_parts(&mut client, 1);
            assert_eq!(in_parts_of_it, client.run(&text), "seed {seed}: {text}");
            client.run("COMMIT");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn of_several_errors_the_first_ends_the_statement() {
    let (bench, _, mut client) = world(test_seed(14));
    client.run("UPDATE n SET b = 9223372036854775807 - a WHERE a % 997 = 3");
    for text in ["SELECT SUM(b + 5000) FROM n", "SELECT g, MAX(b * (a + 1)) FROM n GROUP BY g"] {
        in_parts(&mut client, 1);
        let expected = client.run(text);
        assert!(expected.contains("out of range"), "{expected}");
        in_parts(&mut client, 4);
        for _ in 0..5 {
            assert_eq!(client.run(text), expected);
        }
    }
    assert!(bench.parts.load(Ordering::Relaxed) >= 40);
    assert_eq!(client.run("SELECT COUNT(*) FROM n"), ROWS.to_string());
}

#[test]
fn groups_for_which_parts_have_no_memory_are_added_up_by_the_statement() {
    let (bench, _, mut client) = world(test_seed(15));
    let text = "SELECT a + 0 k, COUNT(*), SUM(m) FROM n IGNORE INDEX (g) GROUP BY k";
    in_parts(&mut client, 1);
    let expected = client.run(text);
    in_parts(&mut client, 4);
    let variables = &mut client.session.state.variables;
    (variables.operator_memory, variables.tmp_table_size) = (0, 64 << 10);
    let answer = client.run(text);
    let sorted = |answer: &str| {
        let mut rows: Vec<String> = answer.split("; ").map(str::to_owned).collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(sorted(&answer), sorted(&expected));
    assert!(bench.parts.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_statement_that_is_killed_ends_its_parts() {
    let (bench, _, mut client) = world(test_seed(16));
    in_parts(&mut client, 3);
    for pause in 1..6 {
        *bench.killed.lock().unwrap() = Some((client.session.state.kill.clone(), pause));
        let answer = client.run("SELECT s, SUM(m), SUM(LENGTH(REPEAT(pad, 50))) FROM n GROUP BY s");
        assert!(answer.contains("interrupted") || answer.contains("; "), "{answer}");
    }
    *bench.killed.lock().unwrap() = None;
    let answer = client.run("SELECT COUNT(*), SUM(u) > 0 FROM n");
    assert_eq!(answer, format!("{ROWS} 1"));
}

#[test]
fn what_only_the_session_sees_is_not_divided() {
    let (bench, _, mut client) = world(test_seed(17));
    in_parts(&mut client, 4);
    client.run("SET @x = 0");
    for text in [
        "SELECT SUM(f) FROM n",
        "SELECT MAX(s) FROM n",
        "SELECT GROUP_CONCAT(u) FROM n WHERE a < 9",
        "SELECT COUNT(DISTINCT u) FROM n",
        "SELECT SUM(u * RAND(3)) FROM n",
        "SELECT SUM(@x := @x + 1) FROM n",
        "SELECT COUNT(*) FROM n WHERE u > @x",
        "SELECT COUNT(*) FROM n WHERE u > (SELECT MIN(g) FROM n x WHERE x.a = n.a)",
        "SELECT g, COUNT(*) FROM n IGNORE INDEX (g) GROUP BY g WITH ROLLUP",
        "SELECT SUM(u) FROM n IGNORE INDEX (g) FOR UPDATE",
    ] {
        let before = bench.parts.load(Ordering::Relaxed);
        client.run(text);
        assert_eq!(bench.parts.load(Ordering::Relaxed), before, "{text}");
    }
    client.run("BEGIN");
    client.run("UPDATE n SET u = u + 1 WHERE a = 5");
    let before = bench.parts.load(Ordering::Relaxed);
    client.run("SELECT SUM(u) FROM n IGNORE INDEX (g)");
    assert_eq!(bench.parts.load(Ordering::Relaxed), before, "it has changed something");
    client.run("ROLLBACK");
    client.run("SELECT SUM(u) FROM n IGNORE INDEX (g)");
    assert!(bench.parts.load(Ordering::Relaxed) > before);
}

#[test]
fn parts_read_under_the_table_locks_of_their_session() {
    let (bench, _, mut client) = world(test_seed(19));
    let text = "SELECT s, COUNT(*), SUM(m) FROM n GROUP BY s";
    in_parts(&mut client, 1);
    let expected = client.run(text);
    in_parts(&mut client, 4);
    for how in ["WRITE", "READ"] {
        client.run(&format!("LOCK TABLES n {how}"));
        let before = bench.parts.load(Ordering::Relaxed);
        assert_eq!(client.run(text), expected, "{how}");
        assert!(bench.parts.load(Ordering::Relaxed) > before);
        client.run("UNLOCK TABLES");
    }
}

#[test]
fn explain_tells_of_parts() {
    let (_, _, mut client) = world(test_seed(18));
    in_parts(&mut client, 4);
    let text = "EXPLAIN FORMAT=TREE SELECT s, COUNT(*) FROM n GROUP BY s";
    assert!(
        client.run(text).contains("Aggregate using temporary table (in parallel)"),
        "{}",
        client.run(text)
    );
    let text = "EXPLAIN FORMAT=TREE SELECT SUM(m) FROM n";
    assert!(client.run(text).contains("Aggregate (in parallel): sum(n.m)"), "{}", client.run(text));
    let count = "EXPLAIN FORMAT=TREE SELECT COUNT(*) FROM n";
    assert!(client.run(count).contains("(in parallel)"), "{}", client.run(count));
    client.session.state.variables.parallel_read_threads = 1;
    assert!(!client.run(count).contains("(in parallel)"));
    assert!(client.run(text).contains("(in parallel)"));
    client.session.state.variables.parallel_cost = 1_000_000;
    assert!(!client.run(text).contains("parallel"));
    in_parts(&mut client, 1);
    assert!(!client.run(text).contains("parallel"));
}
