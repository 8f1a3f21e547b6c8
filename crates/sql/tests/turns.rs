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
    ("SELECT DISTINCT s FROM n ORDER BY s LIMIT 1", 15),
    ("SELECT MAX(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY g ORDER BY s) r FROM n) x", 50),
    (
        "SELECT MAX(r) FROM (SELECT SUM(a) OVER (ORDER BY a ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) r FROM n WHERE a < 500) x",
        20,
    ),
    ("SELECT COUNT(*) FROM n WHERE a NOT IN (SELECT a + 9000 FROM n)", 20),
    ("SELECT COUNT(*) FROM n WHERE a > 8990 AND a < ANY (SELECT -a FROM n)", 15),
    ("SELECT COUNT(*) FROM (SELECT s FROM n UNION SELECT s FROM n) x", 40),
    ("SELECT COUNT(*) FROM (SELECT s FROM n EXCEPT SELECT s FROM n) x", 40),
    ("SELECT COUNT(*) FROM (SELECT s FROM n INTERSECT ALL SELECT s FROM n) x", 50),
    ("SELECT a, COUNT(*) FROM n GROUP BY a WITH ROLLUP LIMIT 1", 40),
    ("SELECT COUNT(DISTINCT s), GROUP_CONCAT(DISTINCT g) FROM n", 20),
    ("SELECT COUNT(*) FROM n x JOIN n y ON x.s = y.s", 40),
    ("SELECT COUNT(*) FROM (SELECT s FROM n LIMIT 8000) x", 15),
    (
        "SELECT COUNT(*), SUM(v) FROM JSON_TABLE(CONCAT('[', REPEAT('[1, 2],', 9000), '[3]]'), '$[*]' COLUMNS \
         (o FOR ORDINALITY, NESTED PATH '$[*]' COLUMNS (v INT PATH '$'))) x",
        20,
    ),
    ("SELECT SUM(v) FROM n, JSON_TABLE(JSON_ARRAY(a, g), '$[*]' COLUMNS (v INT PATH '$')) x", 15),
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
            *bench.killed.lock().unwrap() = Some((client.session.state.kill.clone(), at));
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

/// Tables joined two by two, and pairs of them, and so on, `depth` times.
fn nested(depth: usize, next: &mut usize) -> String {
    if depth == 0 {
        *next += 1;
        return format!("n t{}", *next - 1);
    }
    let (left, right) = (nested(depth - 1, next), nested(depth - 1, next));
    format!("({left} JOIN {right})")
}

/// Parentheses around inner joins say nothing: the joins are planned together, and not again for each level.
#[test]
fn nested_inner_joins_are_planned_as_flat_ones() {
    let (bench, mut client) = world();
    let equal: Vec<String> = (1..32).map(|number| format!("t{number}.a = t0.a")).collect();
    let flat: Vec<String> = (0..32).map(|number| format!("n t{number}")).collect();
    let condition = format!("{} AND t0.a < 3", equal.join(" AND "));
    let mut explained = |tables: &str| {
        let before = bench.questions.load(Relaxed);
        let plan =
            client.run(&format!("EXPLAIN FORMAT=TREE SELECT COUNT(*) FROM {tables} WHERE {condition}"));
        (plan, bench.questions.load(Relaxed) - before)
    };
    let (plan, questions) = explained(&flat.join(" JOIN "));
    let (nested, nested_questions) = explained(&nested(5, &mut 0));
    assert!(plan.contains("t31"), "{plan}");
    assert_eq!(nested, plan);
    assert!(nested_questions <= 2 * questions + 2, "{nested_questions} {questions}");
    // ... and so are outer joins that a condition makes inner ones
    let outer: Vec<String> = (1..32).map(|number| format!("LEFT JOIN n t{number} ON TRUE")).collect();
    let (plan, questions_of_outer) = explained(&format!("n t0 {}", outer.join(" ")));
    assert!(plan.contains("t31") && !plan.contains("left join"), "{plan}");
    assert!(questions_of_outer <= 4 * questions + 2, "{questions_of_outer} {questions}");
}

/// Outer joins within the right sides of outer joins are planned once, not twice at each level: forty levels
/// would never end.
#[test]
fn outer_joins_in_right_sides_are_planned_once() {
    let (bench, mut client) = world();
    for (depth, with_inner) in [(58, false), (28, true)] {
        let mut from = format!("n t{depth}");
        for level in (0..depth).rev() {
            let below = format!("t{}", level + 1);
            from = match with_inner {
                false => format!("n t{level} LEFT JOIN ({from}) ON {below}.a = t{level}.g"),
                true => format!(
                    "n t{level} JOIN n u{level} ON u{level}.a = t{level}.a \
                     LEFT JOIN ({from}) ON {below}.a = u{level}.g"
                ),
            };
        }
        let before = bench.questions.load(Relaxed);
        let plan = client.run(&format!("EXPLAIN FORMAT=TREE SELECT COUNT(*) FROM {from} WHERE t0.a = 5"));
        assert!(plan.contains(&format!("t{depth}")), "{plan}");
        let asked = bench.questions.load(Relaxed) - before;
        assert!(asked <= 4, "{from}: asks {asked} times");
        assert_eq!(client.run(&format!("SELECT COUNT(*) FROM {from} WHERE t0.a = 5")), "1");
    }
}

/// EXPLAIN, and what is bound as a part of other statements, gives way as queries do.
#[test]
fn planning_gives_way_whatever_it_is_for() {
    let bench = Arc::new(Bench { interrupts: true, ..Bench::default() });
    let mut client = Client::new(&processor(bench.clone()), 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run("CREATE TABLE n (a INT PRIMARY KEY, c INT, KEY (c))");
    let tables: Vec<String> = (0..60).map(|number| format!("n t{number}")).collect();
    let equal: Vec<String> =
        (0..60).map(|number| format!("t{number}.a = t{}.c", (number * 7 + 1) % 60)).collect();
    let join = format!("SELECT COUNT(*) FROM {} WHERE {}", tables.join(" JOIN "), equal.join(" AND "));
    for statement in [
        format!("EXPLAIN {join}"),
        format!("CREATE TABLE m AS {join}"),
        format!("SET @count = ({join})"),
        format!("DO ({join})"),
        format!("SHOW TABLES WHERE ({join}) = 1"),
    ] {
        bench.patience.store(0, Relaxed);
        let (refused, pauses) = (bench.refused.load(Relaxed), bench.pauses.load(Relaxed));
        let answer = client.answer(&statement);
        assert!(answer.is_ok(), "{statement}: {answer:?}");
        let refused = bench.refused.load(Relaxed) - refused;
        assert!(refused > 0, "{statement}: it is never asked to give way");
        assert!(bench.pauses.load(Relaxed) - pauses >= refused, "{statement}: it did not give way");
    }
}
