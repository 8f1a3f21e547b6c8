//! Statements from text to rows, over an engine in memory.

#[path = "client/mod.rs"]
mod client;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use client::{Bench, Client, block_on, processor};
use palisade_base::prng::{Prng, test_seed};
use palisade_catalog::descriptor::{Column, Index, IndexPart, TableDef};
use palisade_catalog::{CollationId, SqlType};
use palisade_engine::{ExclusiveLock, TableName};

fn in_database() -> Client {
    in_database_on(Arc::default())
}

fn in_database_on(bench: Arc<Bench>) -> Client {
    let mut client = Client::new(&processor(bench), 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client
}

#[track_caller]
fn check(client: &mut Client, text: &str, expected: &str) {
    assert_eq!(client.run(text), expected, "{text}");
}

fn with_rows() -> Client {
    let mut client = in_database();
    client.run("CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a), UNIQUE KEY (b))");
    check(&mut client, "INSERT INTO t VALUES (1,1,'x'),(2,2,'y'),(3,2,NULL),(4,NULL,'Z')", "4 affected");
    client
}

#[test]
fn every_access_path_finds_the_same_rows() {
    let mut client = with_rows();
    for hint in ["", "FORCE INDEX (a)", "FORCE INDEX (b)", "FORCE INDEX (PRIMARY)"] {
        let mut query =
            |condition: &str| client.run(&format!("SELECT id FROM t {hint} WHERE {condition} ORDER BY id"));
        assert_eq!(query("id = 3"), "3");
        assert_eq!(query("id IN (4, 2, 9)"), "2; 4");
        assert_eq!(query("id BETWEEN 2 AND 3.5"), "2; 3");
        assert_eq!(query("a = 2"), "2; 3");
        assert_eq!(query("a < 2"), "1");
        assert_eq!(query("a IS NULL"), "4");
        assert_eq!(query("a > 1 OR a < 1"), "2; 3");
        assert_eq!(query("b = 'z'"), "4");
        assert_eq!(query("b LIKE 'Y%'"), "2");
        assert_eq!(query("a = NULL"), "");
    }
}

#[test]
fn a_range_of_the_primary_key_behind_a_value_of_a_secondary_one() {
    let mut client = with_rows();
    check(
        &mut client,
        "CREATE TABLE u (k INT, j INT, tag INT, v INT, PRIMARY KEY (k, j DESC), KEY (tag))",
        "0 affected",
    );
    let rows = "(1,1,7,1), (2,1,7,2), (2,2,7,3), (3,1,7,4), (3,5,8,5), (4,1,7,6)";
    check(&mut client, &format!("INSERT INTO u VALUES {rows}"), "6 affected");
    for (filter, expected) in [
        ("k BETWEEN 2 AND 3", "2; 3; 4"),
        ("k > 2", "4; 6"),
        ("k IN (1, 4)", "1; 6"),
        ("k = 2 AND j > 1", "3"),
        ("k = 2 AND j < 2", "2"),
    ] {
        let query = format!("SELECT v FROM u FORCE INDEX (tag) WHERE tag = 7 AND {filter} ORDER BY v");
        check(&mut client, &query, expected);
    }
}

#[test]
fn a_unique_key_and_a_part_of_the_primary_key_behind_it() {
    let mut client = in_database();
    client.run("CREATE TABLE u (a INT, id INT, v INT, PRIMARY KEY (a, id), UNIQUE KEY (v))");
    check(&mut client, "INSERT INTO u VALUES (1,1,1), (1,2,2), (2,1,3)", "3 affected");
    for (filter, expected) in [
        ("v = 2 AND a = 1", "2"),
        ("v = 2 AND a = 2", ""),
        ("v = 2 AND a = 1 AND id = 1", ""),
        ("v = 2 AND a > 1", ""),
        ("v <=> 2 AND a = 2", ""),
    ] {
        check(&mut client, &format!("SELECT id FROM u FORCE INDEX (v) WHERE {filter}"), expected);
    }
    check(&mut client, "SELECT u.v FROM u w STRAIGHT_JOIN u ON u.v = w.v AND u.a = 2", "3");
}

#[test]
fn a_prefix_in_the_primary_key_is_a_part_of_its_own() {
    let mut client = in_database();
    for (number, keys) in [
        "PRIMARY KEY (c(2) DESC, id), KEY k (c DESC)",
        "PRIMARY KEY (c, id), KEY k (c(1))",
        "PRIMARY KEY (c(1), id), KEY k (c(2), id)",
    ]
    .iter()
    .enumerate()
    {
        client.run(&format!("CREATE TABLE p{number} (id INT, c VARCHAR(8), {keys})"));
        let rows = "(1,''), (2,''), (3,'abc'), (1,'abd'), (2,'abd'), (9,'b')";
        check(&mut client, &format!("INSERT INTO p{number} VALUES {rows}"), "6 affected");
        for (filter, expected) in [
            ("c = '' AND id < 2", "1"),
            ("c = '' AND id = 2", "2"),
            ("c = 'abd' AND id >= 1", "1; 2"),
            ("c = 'abc' AND id IN (1, 2, 3)", "3"),
        ] {
            let query = format!("SELECT id FROM p{number} FORCE INDEX (k) WHERE {filter}");
            check(&mut client, &format!("{query} ORDER BY id"), expected);
        }
        check(
            &mut client,
            &format!("SELECT id FROM p{number} FORCE INDEX (k) ORDER BY c DESC, id DESC"),
            "9; 2; 1; 3; 2; 1",
        );
    }
}

#[test]
fn an_enum_finds_its_text_in_an_index_of_bytes() {
    let mut client = in_database();
    client.run("CREATE TABLE e (c ENUM('b','a'), s SET('b','x'), v VARBINARY(6), w INT, KEY (v, w))");
    check(&mut client, "INSERT INTO e VALUES ('b', 'b', 'b', 1), ('a', 'x', 'n', 2)", "2 affected");
    for column in ["c", "s"] {
        for comparison in ["=", "<=>"] {
            let query = format!(
                "SELECT x.w FROM e x JOIN e y ON x.{column} {comparison} y.v \
                 WHERE (x.c, y.c) IN (('c', 3), (3, 'c')) OR TRUE"
            );
            check(&mut client, &query, "1");
        }
    }
}

#[test]
fn a_statement_that_fails_leaves_nothing_behind() {
    let mut client = with_rows();
    let error = "ERROR 1062 (23000): Duplicate entry 'x' for key 't.b'";
    check(&mut client, "INSERT INTO t VALUES (7,7,'n'),(8,8,'x')", error);
    check(&mut client, "SELECT COUNT(*) FROM t", "4");
    check(&mut client, "BEGIN", "0 affected");
    check(&mut client, "UPDATE t SET a = 9 WHERE id = 1", "1 affected");
    check(&mut client, "UPDATE t SET b = 'same'", "ERROR 1062 (23000): Duplicate entry 'same' for key 't.b'");
    check(&mut client, "SELECT a, b FROM t WHERE id < 3", "9 x; 2 y");
    check(&mut client, "ROLLBACK", "0 affected");
    check(&mut client, "SELECT a FROM t WHERE id = 1", "1");
}

#[test]
fn an_update_does_not_meet_the_rows_it_moved() {
    let mut client = with_rows();
    check(&mut client, "UPDATE t FORCE INDEX (a) SET a = a + 1 WHERE a > 0", "3 affected");
    check(&mut client, "UPDATE t SET id = id + 1 ORDER BY id DESC", "4 affected");
    check(&mut client, "SELECT id, a FROM t ORDER BY id", "2 2; 3 3; 4 3; 5 NULL");
}

#[test]
fn joins_groups_and_subqueries() {
    let mut client = with_rows();
    check(
        &mut client,
        "SELECT a.id, b.id FROM t a LEFT JOIN t b ON a.a = b.id ORDER BY 1",
        "1 1; 2 2; 3 2; 4 NULL",
    );
    check(&mut client, "SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY a", "NULL 1; 1 1; 2 2");
    check(&mut client, "SELECT id FROM t WHERE a = (SELECT MAX(a) FROM t) ORDER BY id DESC", "3; 2");
    check(&mut client, "SELECT id FROM t o WHERE EXISTS (SELECT 1 FROM t WHERE a = o.id)", "1; 2");
    check(&mut client, "SELECT 1 UNION SELECT 1 UNION ALL SELECT 2", "1; 2");
    check(&mut client, "SELECT 7 / 3, 1 / 3 * 3", "2.3333 0.9999");
}

/// A row of the test below: id; a text that begins like most others; a number, or none; seconds of a moment.
type Sortable = (i64, String, Option<i64>, i64);

fn sortable_rows(random: &mut Prng) -> Vec<Sortable> {
    let text = |random: &mut Prng| match random.below(4) {
        0 => String::new(),
        1 => format!("the same beginning {}", random.below(5)),
        _ => format!("{}", random.below(30)),
    };
    let row = |id| {
        let text = text(random);
        let number = if random.one_in(4) { None } else { Some(random.below(7) as i64 - 3) };
        (id, text, number, random.below(9) as i64)
    };
    (1..=400).map(row).collect()
}

fn insert_sortable_rows(client: &mut Client, rows: &[Sortable]) {
    client.run(
        "CREATE TABLE s (id INT PRIMARY KEY, a VARCHAR(40) COLLATE utf8mb4_0900_bin, b BIGINT, c TIMESTAMP)",
    );
    let tuple = |(id, a, b, c): &Sortable| {
        let b = b.map_or("NULL".to_owned(), |b| b.to_string());
        format!("({id}, '{a}', {b}, '2026-01-01 00:00:0{c}')")
    };
    let tuples = rows.iter().map(tuple).collect::<Vec<_>>().join(", ");
    check(client, &format!("INSERT INTO s VALUES {tuples}"), "400 affected");
}

#[test]
fn sorting_as_a_model_sorts() {
    let mut random = Prng::new(test_seed(83));
    let mut client = in_database();
    let mut rows = sortable_rows(&mut random);
    insert_sortable_rows(&mut client, &rows);
    for _ in 0..60 {
        let mut keys: Vec<(usize, bool)> = Vec::new();
        for _ in 0..1 + random.below(3) {
            keys.push((random.below(5) as usize, random.one_in(2)));
        }
        // What is equal stays in order of the key that the rows are read by.
        rows.sort_by_key(|row| row.0);
        rows.sort_by(|left, right| {
            let by = |&(key, descending): &(usize, bool)| {
                let ordering = match key {
                    0 => left.1.cmp(&right.1),
                    1 => left.2.cmp(&right.2),
                    2 => left.3.cmp(&right.3),
                    3 => left.2.map(|b| b * b).cmp(&right.2.map(|b| b * b)),
                    _ => left.1.len().cmp(&right.1.len()),
                };
                if descending { ordering.reverse() } else { ordering }
            };
            keys.iter().map(by).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
        });
        let named = keys.iter().map(|(key, descending)| {
            let name = ["a", "b", "c", "b * b", "LENGTH(a)"][*key];
            format!("{name} {}", if *descending { "DESC" } else { "ASC" })
        });
        let mut query = format!("SELECT id FROM s ORDER BY {}", named.collect::<Vec<_>>().join(", "));
        let wanted = if random.one_in(2) { 1 + random.below(120) as usize } else { rows.len() };
        if wanted < rows.len() {
            query.push_str(&format!(" LIMIT {wanted}"));
        }
        let expected: Vec<String> = rows[..wanted].iter().map(|row| row.0.to_string()).collect();
        check(&mut client, &query, &expected.join("; "));
    }
}

#[test]
fn distinct_rows_and_sums_as_a_model_has_them() {
    let mut random = Prng::new(test_seed(84));
    let mut client = in_database();
    let rows = sortable_rows(&mut random);
    insert_sortable_rows(&mut client, &rows);
    for _ in 0..20 {
        let first = 1 + random.below(400) as i64;
        let last = first + random.below(200) as i64;
        let range: Vec<&Sortable> = rows.iter().filter(|row| (first..=last).contains(&row.0)).collect();
        let texts: BTreeSet<&str> = range.iter().map(|row| &row.1[..]).collect();
        let expected = texts.into_iter().rev().collect::<Vec<_>>().join("; ");
        let of = format!("FROM s WHERE id BETWEEN {first} AND {last}");
        check(&mut client, &format!("SELECT DISTINCT a {of} ORDER BY a DESC"), &expected);
        let numbers: Vec<i64> = range.iter().filter_map(|row| row.2).collect();
        let sum = match numbers.len() {
            0 => "NULL".to_owned(),
            _ => numbers.iter().sum::<i64>().to_string(),
        };
        let expected = format!("{sum} {} {}", numbers.len(), range.len());
        check(&mut client, &format!("SELECT SUM(b), COUNT(b), COUNT(*) {of}"), &expected);
        // One of them is not a number as it is.
        let lengths: usize = range.iter().map(|row| row.1.len()).sum();
        check(&mut client, &format!("SELECT SUM(b), SUM(LENGTH(a)) {of}"), &format!("{sum} {lengths}"));
    }
}

/// More rows than a statement handles without letting others run: a subquery over them is interrupted and goes on.
fn with_many_rows() -> Client {
    with_many_rows_on(Arc::default())
}

fn with_many_rows_on(bench: Arc<Bench>) -> Client {
    let mut client = in_database_on(bench);
    client.run("CREATE TABLE few (id INT PRIMARY KEY)");
    check(&mut client, "INSERT INTO few VALUES (1),(2),(3),(4),(5),(6),(7),(8)", "8 affected");
    client.run("CREATE TABLE many (id INT PRIMARY KEY)");
    let digits = "a.id + 8 * b.id + 64 * c.id + 512 * d.id";
    check(
        &mut client,
        &format!("INSERT INTO many SELECT {digits} FROM few a, few b, few c, few d"),
        "4096 affected",
    );
    let digits = "a.id + 8 * b.id + 64 * c.id + 10000";
    check(&mut client, &format!("INSERT INTO many SELECT {digits} FROM few a, few b, few c"), "512 affected");
    client
}

#[test]
fn a_subquery_loses_no_row_where_one_within_it_is_interrupted() {
    let mut client = with_many_rows();
    let within = "(SELECT COUNT(*) FROM many WHERE many.id > 0 * few.id)";
    for (condition, expected) in [
        (format!("IN (SELECT few.id + {within} - 4608 FROM few)"), "1; 2; 3; 4; 5; 6; 7; 8"),
        (
            format!("<= ALL (SELECT {within} - 4600 FROM few WHERE few.id < outside.id + 9)"),
            "1; 2; 3; 4; 5; 6; 7; 8",
        ),
        (
            format!("= (SELECT few.id + {within} - 4608 FROM few WHERE few.id = outside.id)"),
            "1; 2; 3; 4; 5; 6; 7; 8",
        ),
        (
            format!("> ANY (SELECT few.id + {within} - 4608 FROM few WHERE few.id > outside.id - 2)"),
            "2; 3; 4; 5; 6; 7; 8",
        ),
    ] {
        check(&mut client, &format!("SELECT id FROM few outside WHERE id {condition} ORDER BY id"), expected);
    }
    let left = "(SELECT COUNT(*) FROM many WHERE many.id > 0 * outside.id) - 4607";
    let query = format!(
        "SELECT id FROM few outside WHERE {left} IN (SELECT few.id FROM few WHERE few.id <= outside.id)"
    );
    check(&mut client, &query, "1; 2; 3; 4; 5; 6; 7; 8");
}

#[test]
fn a_recursion_with_an_offset_can_be_read_again() {
    let mut client = with_rows();
    let numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2 OFFSET 3)";
    check(&mut client, &format!("{numbers} SELECT i FROM n"), "4; 5");
    let query = format!("{numbers} SELECT (SELECT COUNT(*) FROM n WHERE i > t.id) FROM t ORDER BY id");
    check(&mut client, &query, "2; 2; 2; 1");
    let query = format!("{numbers} SELECT id, i FROM t STRAIGHT_JOIN n ON i >= id + 3 ORDER BY id, i");
    check(&mut client, &query, "1 4; 1 5; 2 5");
}

#[test]
fn what_a_statement_keeps_of_its_rows_is_limited() {
    let mut client = with_many_rows();
    client.session.state.variables.statement_memory = 512 << 20;
    client.run("CREATE TABLE one (id INT PRIMARY KEY, b LONGTEXT)");
    check(&mut client, "INSERT INTO one VALUES (1, REPEAT('x', 9000000))", "1 affected");
    // 64 rows: together they are more than a statement may keep.
    let rows = "FROM one STRAIGHT_JOIN few f STRAIGHT_JOIN few g";
    let text = "COALESCE(one.b, f.id)";
    for query in [
        format!("SELECT LENGTH(LEAD(one.b) OVER (ORDER BY f.id)) {rows}"),
        format!("SELECT 'y' IN (SELECT one.b {rows})"),
        format!("SELECT GROUP_CONCAT(f.id ORDER BY {text}) {rows}"),
    ] {
        let answer = client.run(&query);
        assert!(answer.contains("Out of memory"), "{query}: {}", &answer[..answer.len().min(80)]);
    }
    check(&mut client, "SELECT COUNT(*) FROM one", "1");
    // What waits to be inserted goes to a file, as what is sorted does.
    let inserted = format!("INSERT INTO one SELECT f.id + 10 * g.id, one.b {rows}");
    check(&mut client, &inserted, "64 affected");
    check(&mut client, "DELETE FROM one WHERE id > 1", "64 affected");
    let sorted = format!("SELECT f.id FROM one STRAIGHT_JOIN few f ORDER BY {text}, f.id DESC LIMIT 3");
    check(&mut client, &sorted, "8; 7; 6");
    // So are groups that are summed up.
    let summed =
        format!("SELECT SUM(l) FROM (SELECT LENGTH(MAX(one.b)) l {rows} GROUP BY f.id, g.id WITH ROLLUP) s");
    check(&mut client, &summed, "657000000");
    // What is cut off is not kept.
    check(&mut client, &format!("SELECT LENGTH(GROUP_CONCAT({text})) {rows}"), "1024");
}

#[test]
fn a_statement_that_changes_many_rows_lets_others_run() {
    let bench = Arc::<Bench>::default();
    let mut client = with_many_rows_on(bench.clone());
    client.run("CREATE TABLE parent (id INT PRIMARY KEY)");
    client.run("CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE)");
    check(&mut client, "INSERT INTO parent VALUES (1)", "1 affected");
    check(&mut client, "INSERT INTO child SELECT id, 1 FROM many", "4608 affected");
    // Each finds its rows first and then changes them.
    for (statement, changed, least) in [
        ("INSERT INTO many SELECT id + 100000 FROM many", 4608, 2),
        ("UPDATE few STRAIGHT_JOIN many ON few.id = 1 SET many.id = many.id + 1000000", 9216, 4),
        ("DELETE FROM parent", 1, 1),
    ] {
        let before = bench.pauses.load(Relaxed);
        check(&mut client, statement, &format!("{changed} affected"));
        let pauses = bench.pauses.load(Relaxed) - before;
        assert!(pauses >= least, "{statement}: {pauses} pauses");
    }
    check(&mut client, "SELECT COUNT(*) FROM child", "0");
}

/// No statement makes such a table any more; an older server may have left one in the dictionary.
#[test]
fn a_table_kept_by_an_invisible_index_is_read_and_mended() {
    let mut client = in_database();
    let mut key = Index::new("k", vec![IndexPart::of(0)]);
    key.unique = true;
    key.invisible = true;
    let def = TableDef {
        schema: "d".to_owned(),
        name: "v".to_owned(),
        collation: CollationId::default(),
        columns: vec![Column::new("a", SqlType::INT, 0).not_null(), Column::new("b", SqlType::INT, 1)],
        indexes: vec![key],
        ..TableDef::default()
    };
    let engine = client.sql.engine().clone();
    let mut lock = ExclusiveLock::new(&engine, [TableName::new("d", "v")]);
    block_on(palisade_base::event::retry(|| lock.acquire())).unwrap();
    block_on(engine.create_table(&lock, def)).unwrap();
    drop(lock);
    check(&mut client, "INSERT INTO v VALUES (1,1),(2,2)", "2 affected");
    check(&mut client, "SELECT b FROM v WHERE b=2", "2");
    check(&mut client, "UPDATE v SET b=3 WHERE a=2", "1 affected");
    client.run("EXPLAIN SELECT b FROM v WHERE b=2");
    client.run("ALTER TABLE v ALTER INDEX k VISIBLE");
    check(&mut client, "SELECT a FROM v WHERE b=3", "2");
}
