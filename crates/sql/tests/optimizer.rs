//! What the planner expects of data, and what it makes of it: estimates against rows that are counted, orders
//! of joins, and plans that are made anew when the data they were chosen by is another.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

#[path = "client/mod.rs"]
mod client;

use std::sync::{Arc, Mutex, PoisonError};

use client::{Client, processor};
use palisade_base::prng::Prng;
use palisade_sql::plan_cache::PLANS_MADE;

/// Plans that are made are counted for all sessions of the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn database() -> Client {
    let mut client = Client::new(&processor(Arc::default()), 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client
}

/// Runs a statement that must not fail.
fn done(client: &mut Client, text: &str) {
    client.answer(text).unwrap_or_else(|error| panic!("{text}: {error}"));
}

/// Inserts rows of a table, many at once.
fn insert(client: &mut Client, table: &str, rows: impl Iterator<Item = String>) {
    let rows: Vec<String> = rows.collect();
    for rows in rows.chunks(1000) {
        done(client, &format!("INSERT INTO {table} VALUES {}", rows.join(",")));
    }
}

/// A table of skewed values: half of the rows of `k` are 1, the others spread.
fn skewed(client: &mut Client, rows: u64) {
    done(client, "CREATE TABLE s (id INT PRIMARY KEY, k INT, v INT, d DATE, KEY (k), KEY (d))");
    let mut prng = Prng::new(5);
    let row = move |id: u64| {
        let k = if prng.next_u64().is_multiple_of(2) { 1 } else { 2 + prng.next_u64() % 5000 };
        format!("({id},{k},{},'2020-01-01' + INTERVAL {} DAY)", id % 7, id % 1000)
    };
    insert(client, "s", (0..rows).map(row));
}

/// The rows that EXPLAIN expects of the only table of a query.
fn expected(client: &mut Client, condition: &str) -> f64 {
    let tree = client.run(&format!("EXPLAIN FORMAT=TREE SELECT v FROM s WHERE {condition}"));
    let rows = tree.split_once(" rows=").and_then(|(_, rest)| rest.split_once(')'));
    rows.and_then(|(rows, _)| rows.parse().ok()).unwrap_or_else(|| panic!("{tree}"))
}

#[test]
fn rows_in_ranges_are_expected_about_as_they_are() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    skewed(&mut client, 20_000);
    let mut prng = Prng::new(8);
    let mut conditions = vec![
        "k = 1".to_owned(),
        "k <= 1".to_owned(),
        "k > 1".to_owned(),
        "k IN (1, 17, 400)".to_owned(),
        "d < '2020-03-01' + INTERVAL 1 MONTH".to_owned(),
        "d >= DATE '2022-09-01'".to_owned(),
    ];
    for _ in 0..20 {
        let low = prng.next_u64() % 5000;
        conditions.push(format!("k BETWEEN {low} AND {}", low + prng.next_u64() % 2000));
        conditions.push(format!("id BETWEEN {low} AND {}", low + prng.next_u64() % 10_000));
    }
    for condition in conditions {
        let counted: f64 = client.run(&format!("SELECT COUNT(*) FROM s WHERE {condition}")).parse().unwrap();
        let expected = expected(&mut client, &condition);
        let factor = (expected.max(20.0) / counted.max(20.0)).max(counted.max(20.0) / expected.max(20.0));
        assert!(factor < 2.0, "{condition}: {expected} rows are expected, and there are {counted}");
    }
}

/// A table without indexes: half of the rows of `k` are 1.
fn unindexed(client: &mut Client, rows: u64) {
    let columns = "id INT PRIMARY KEY, k INT, v INT, u INT, c VARCHAR(30), n INT";
    done(client, &format!("CREATE TABLE s ({columns})"));
    let mut prng = Prng::new(6);
    let row = move |id: u64| {
        let k = if prng.next_u64().is_multiple_of(2) { 1 } else { 2 + prng.next_u64() % 5000 };
        let n = if id.is_multiple_of(3) { "NULL".to_owned() } else { (id % 40).to_string() };
        format!("({id},{k},{},{},'{} word {}',{n})", id % 150, prng.next_u64() % 1000, id % 9, id % 100)
    };
    insert(client, "s", (0..rows).map(row));
}

#[test]
fn rows_of_conditions_without_index_are_expected_about_as_they_are() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    unindexed(&mut client, 20_000);
    let conditions = [
        "k = 1",
        "k <> 1",
        "k > 1",
        "k >= 1",
        "k > 2500",
        "v = 17",
        "v IN (1, 2, 30, 140)",
        "v NOT IN (1, 2, 30)",
        "v BETWEEN 20 AND 50",
        "u < 100",
        "u >= 900",
        "n IS NULL",
        "n IS NOT NULL",
        "n <=> NULL",
        "n = 7",
        "n < 10 AND v > 100",
        "n < 10 OR v > 100",
        "c LIKE '3 word%'",
        "c LIKE '%word 9_'",
        "c NOT LIKE '3%'",
        "v % 2 = 0",
        "v > u",
        "LEFT(c, 1) = '5'",
        "id > 15000 AND k = 1",
    ];
    for has_histograms in [false, true] {
        if has_histograms {
            done(&mut client, "ANALYZE TABLE s UPDATE HISTOGRAM ON k, v, u, c, n");
        }
        for condition in conditions {
            let counted = client.run(&format!("SELECT COUNT(*) FROM s WHERE {condition}"));
            let counted: f64 = counted.parse().unwrap();
            let expected = expected(&mut client, condition);
            let factor = (expected.max(20.0) / counted.max(20.0)).max(counted.max(20.0) / expected.max(20.0));
            let most = if has_histograms { 2.0 } else { 3.0 };
            assert!(factor < most, "{condition}: {expected} rows are expected, and there are {counted}");
        }
    }
}

#[test]
fn a_plan_is_made_anew_when_a_histogram_tells_of_far_fewer_rows() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    unindexed(&mut client, 20_000);
    done(&mut client, "ANALYZE TABLE s UPDATE HISTOGRAM ON k");
    done(&mut client, "CREATE TABLE o (id INT PRIMARY KEY, s INT, KEY (s))");
    insert(&mut client, "o", (0..5000).map(|id| format!("({id},{id})")));
    let join = |k: u64| format!("SELECT SUM(o.id) FROM s JOIN o ON o.s = s.id WHERE s.k = {k}");
    assert_eq!(plans_made(&mut client, &join(1)), 1);
    assert_eq!(plans_made(&mut client, &join(1)), 0);
    assert_eq!(plans_made(&mut client, &join(777)), 1);
    assert_eq!(plans_made(&mut client, &join(778)), 0);
}

/// How many plans an execution makes.
fn plans_made(client: &mut Client, text: &str) -> u64 {
    let before = PLANS_MADE.value();
    done(client, text);
    PLANS_MADE.value() - before
}

#[test]
fn a_plan_is_made_anew_when_other_values_find_far_fewer_rows() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    skewed(&mut client, 20_000);
    let all = "EXPLAIN FORMAT=TREE SELECT SUM(v) FROM s WHERE k > 0";
    assert!(client.run(all).contains("Table scan"), "{}", client.run(all));
    let few = "EXPLAIN FORMAT=TREE SELECT SUM(v) FROM s WHERE k > 4990";
    assert!(client.run(few).contains("using k"), "{}", client.run(few));

    assert_eq!(plans_made(&mut client, "SELECT SUM(v) FROM s WHERE k > 0"), 1);
    assert_eq!(plans_made(&mut client, "SELECT SUM(v) FROM s WHERE k > 1"), 0);
    assert_eq!(plans_made(&mut client, "SELECT SUM(v) FROM s WHERE k > 4990"), 1);
    assert_eq!(plans_made(&mut client, "SELECT SUM(v) FROM s WHERE k > 4980"), 0);
    // What finds a row by a unique key does so whatever the values are.
    assert_eq!(plans_made(&mut client, "SELECT v FROM s WHERE id = 5"), 1);
    assert_eq!(plans_made(&mut client, "SELECT v FROM s WHERE id = 19000"), 0);
}

#[test]
fn a_plan_is_made_anew_when_a_table_has_grown() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    done(&mut client, "CREATE TABLE a (id INT PRIMARY KEY, g INT, KEY (g))");
    done(&mut client, "CREATE TABLE b (id INT PRIMARY KEY, a INT, KEY (a))");
    insert(&mut client, "a", (0..10).map(|id| format!("({id},{})", id % 3)));
    insert(&mut client, "b", (0..10).map(|id| format!("({id},{id})")));
    let join = "SELECT COUNT(*) FROM a JOIN b ON b.a = a.id WHERE a.g = 1";
    assert_eq!(plans_made(&mut client, join), 1);
    assert_eq!(plans_made(&mut client, join), 0);
    insert(&mut client, "b", (10..5000).map(|id| format!("({id},{id})")));
    assert_eq!(plans_made(&mut client, join), 1);
    assert_eq!(plans_made(&mut client, join), 0);
}

/// A chain of tables, each with a foreign key to the one before, and a condition on the first.
#[test]
fn joins_begin_where_few_rows_are() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    done(&mut client, "CREATE TABLE region (id INT PRIMARY KEY, name VARCHAR(20))");
    done(&mut client, "CREATE TABLE nation (id INT PRIMARY KEY, region INT, KEY (region))");
    done(&mut client, "CREATE TABLE customer (id INT PRIMARY KEY, nation INT, KEY (nation))");
    done(&mut client, "CREATE TABLE orders (id INT PRIMARY KEY, customer INT, day INT, KEY (customer))");
    done(&mut client, "CREATE TABLE item (orders INT, line INT, price INT, PRIMARY KEY (orders, line))");
    insert(&mut client, "region", (0..5).map(|id| format!("({id},'r{id}')")));
    insert(&mut client, "nation", (0..25).map(|id| format!("({id},{})", id % 5)));
    insert(&mut client, "customer", (0..500).map(|id| format!("({id},{})", id % 25)));
    insert(&mut client, "orders", (0..3000).map(|id| format!("({id},{},{})", id % 500, id % 400)));
    insert(&mut client, "item", (0..9000).map(|id| format!("({},{},{id})", id / 3, id % 3)));
    let from = "item JOIN orders ON orders.id = item.orders JOIN customer ON customer.id = orders.customer \
                JOIN nation ON nation.id = customer.nation JOIN region ON region.id = nation.region";
    let tree =
        client.run(&format!("EXPLAIN FORMAT=TREE SELECT SUM(price) FROM {from} WHERE customer.id = 7"));
    let place = |table: &str| tree.find(&format!(" on {table} ")).unwrap_or_else(|| panic!("{tree}"));
    assert!(place("customer") < place("item") && place("orders") < place("item"), "{tree}");
    let straight = client.run(&format!(
        "EXPLAIN FORMAT=TREE SELECT STRAIGHT_JOIN SUM(price) FROM {from} WHERE customer.id = 7"
    ));
    let place = |table: &str| straight.find(&format!(" on {table} ")).unwrap_or_else(|| panic!("{straight}"));
    assert!(place("item") < place("orders") && place("orders") < place("customer"), "{straight}");
    let answer = format!("SELECT SUM(price) FROM {from} WHERE customer.id = 7");
    let straight = format!("SELECT STRAIGHT_JOIN SUM(price) FROM {from} WHERE customer.id = 7");
    assert_eq!(client.run(&answer), client.run(&straight));
}

#[test]
fn hints_for_indexes_are_obeyed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    skewed(&mut client, 2000);
    let mut tree = |text: &str| client.run(&format!("EXPLAIN FORMAT=TREE {text}"));
    let forced = tree("SELECT v FROM s FORCE INDEX (k) WHERE id = 5 AND k = 1");
    assert!(forced.contains("using k"), "{forced}");
    let ignored = tree("SELECT v FROM s IGNORE INDEX (k) WHERE k = 17");
    assert!(ignored.contains("Table scan"), "{ignored}");
    let used = tree("SELECT v FROM s USE INDEX (k) WHERE k > 0");
    assert!(used.contains("using k"), "{used}");
}

/// A table that is scanned under locks keeps others from rows that are not wanted.
#[test]
fn rows_that_are_locked_are_found_by_an_index() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    done(&mut client, "CREATE TABLE q (id INT PRIMARY KEY, state INT, v INT, KEY (state))");
    insert(&mut client, "q", (0..20).map(|id| format!("({id},{},0)", id % 2)));
    for text in ["UPDATE q SET v = 1 WHERE state = 1", "SELECT v FROM q WHERE state = 1 FOR UPDATE"] {
        let tree = client.run(&format!("EXPLAIN FORMAT=TREE {text}"));
        assert!(tree.contains("using state"), "{tree}");
    }
}

#[test]
fn groups_are_joined_where_a_subquery_would_read_much_for_many_rows() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    done(&mut client, "CREATE TABLE o (id INT PRIMARY KEY, k INT, g INT, x INT, KEY (k))");
    insert(&mut client, "o", (0..800).map(|id| format!("({id},{},{},{})", id % 200, id % 200, id % 77)));
    let text = |condition: &str| {
        format!("SELECT COUNT(*) FROM o WHERE {condition} > (SELECT AVG(x) FROM o AS i WHERE i.g = o.g)")
    };
    let mut explained = |text: &str| client.run(&format!("EXPLAIN FORMAT=TREE {text}"));
    // 200 groups, each by reading all rows: once instead.
    let many = explained(&text("x"));
    assert!(many.contains("Materialize") && !many.contains("subquery in condition"), "{many}");
    // One row asks once.
    let one = explained(&text("id = 17 AND x"));
    assert!(one.contains("dependent"), "{one}");
    // An index finds the few rows of a group.
    let few = text("x").replace("i.g = o.g", "i.k = o.k") + " AND id < 50";
    let few = explained(&few);
    assert!(few.contains("dependent"), "{few}");
    assert_eq!(
        client.run(&text("x")),
        client.run(&text("x").replace("i.g = o.g", "i.g <=> o.g")),
        "the groups tell what the subquery does"
    );
}

#[test]
fn a_semi_join_begins_with_the_few_values_that_are_looked_for() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    done(&mut client, "CREATE TABLE big (id INT PRIMARY KEY, k INT, x INT, KEY (k))");
    insert(&mut client, "big", (0..8000).map(|id| format!("({id},{},{})", id % 800, id % 77)));
    done(&mut client, "CREATE TABLE small (id INT PRIMARY KEY, k INT, g INT)");
    insert(&mut client, "small", (0..400).map(|id| format!("({id},{},{})", id % 30, id % 9)));
    let text = "SELECT COUNT(*), SUM(x) FROM big WHERE k IN (SELECT k FROM small WHERE g = 4)";
    let tree = client.run(&format!("EXPLAIN FORMAT=TREE {text}"));
    let at = |what: &str| tree.find(what).unwrap_or_else(|| panic!("no {what} in {tree}"));
    assert!(at("Materialize") < at("Index lookup on big using k"), "{tree}");
    let own =
        "SELECT COUNT(*), SUM(x) FROM big, (SELECT DISTINCT k FROM small WHERE g = 4) AS d WHERE d.k = big.k";
    assert_eq!(client.run(text), client.run(own));
    client.session.state.variables.optimizer.materialization = false;
    let tree = client.run(&format!("EXPLAIN FORMAT=TREE {text} AND 1 = 1"));
    assert!(tree.contains("semijoin"), "{tree}");
}

#[test]
fn a_range_behind_few_values_is_read_by_a_skip_scan() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    done(&mut client, "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT, KEY abc (a, b, c))");
    insert(&mut client, "t", (0..8000).map(|id| format!("({id},{},{},{})", id % 4, id / 4, id % 3)));
    let mut explained = |text: &str| client.run(&format!("EXPLAIN FORMAT=TREE {text}"));
    let tree = explained("SELECT a, b FROM t WHERE b > 1990");
    assert!(tree.contains("Covering index skip scan on t using abc over 1990 < b"), "{tree}");
    let tree = explained("SELECT a, b FROM t WHERE a = 3 AND c = 1");
    assert!(!tree.contains("skip scan"), "2000 values behind one: {tree}");
    let tree = explained("SELECT /*+ NO_SKIP_SCAN(t abc) */ a, b FROM t WHERE b > 1990");
    assert!(tree.contains("Covering index scan on t using abc"), "{tree}");
    let tree = explained("SELECT a, b FROM t WHERE b > 10");
    assert!(tree.contains("Covering index scan on t using abc"), "nearly all rows: {tree}");
    let tree = explained("SELECT /*+ SKIP_SCAN(t abc) */ a, b, id FROM t WHERE b = 7");
    assert!(tree.contains("skip scan on t using abc over b = 7"), "{tree}");
    let table = client.run("EXPLAIN FORMAT=TRADITIONAL SELECT a, b FROM t WHERE b > 1990");
    assert!(table.contains("Using where; Using index for skip scan"), "{table}");
    client.session.state.variables.optimizer.skip_scan = false;
    let tree = client.run("EXPLAIN FORMAT=TREE SELECT a, b FROM t WHERE b > 1991");
    assert!(tree.contains("Covering index scan on t using abc"), "{tree}");
}

#[test]
fn rows_that_two_indexes_have_in_common_are_read_by_both() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    done(
        &mut client,
        "CREATE TABLE m (id INT PRIMARY KEY, a INT, b INT, c INT, v INT, KEY ka (a), KEY kb (b), KEY kc (c))",
    );
    insert(
        &mut client,
        "m",
        (0..8000).map(|id| format!("({id},{},{},{},{id})", id % 20, id / 11 % 20, id % 800)),
    );
    let mut explained = |text: &str| client.run(&format!("EXPLAIN FORMAT=TREE {text}"));
    let tree = explained("SELECT v FROM m WHERE a = 5 AND b = 7");
    assert!(tree.contains("Filter: ((m.a = 5) and (m.b = 7))"), "{tree}");
    assert!(tree.contains("Intersect rows sorted by row ID"), "{tree}");
    assert!(tree.contains("on m using ka (a = 5)") && tree.contains("on m using kb (b = 7)"), "{tree}");
    let tree = explained("SELECT v FROM m WHERE a = 5 AND c = 7");
    assert!(!tree.contains("Intersect"), "one index finds ten rows: {tree}");
    let tree = explained("SELECT v FROM m WHERE a = 5 AND b > 7");
    assert!(!tree.contains("Intersect"), "a range is not in the order of the rows: {tree}");
    let tree = explained("SELECT v FROM m WHERE a = 5 AND b = 7 FOR UPDATE");
    assert!(!tree.contains("Intersect"), "locks are taken along one index: {tree}");
    let tree = explained("SELECT /*+ NO_INDEX_MERGE(m kb) */ v FROM m WHERE a = 5 AND b = 7");
    assert!(!tree.contains("Intersect"), "{tree}");
    let table = client.run("EXPLAIN FORMAT=TRADITIONAL SELECT v FROM m WHERE a = 5 AND b = 7");
    assert!(table.contains("Using intersect(k"), "{table}");
    let measured = client.run("EXPLAIN ANALYZE SELECT v FROM m WHERE a = 5 AND b = 7");
    assert!(measured.contains("Intersect") && measured.contains("rows=36"), "{measured}");
    for condition in ["a = 5 AND b = 7", "a = 5 AND b = 7 AND id > 4000", "a = 5 AND b = 7 AND c = 5"] {
        let both = client.run(&format!("SELECT id FROM m WHERE {condition} ORDER BY id"));
        let one = client.run(&format!("SELECT id FROM m IGNORE INDEX (ka) WHERE {condition} ORDER BY id"));
        assert_eq!(both, one, "{condition}");
    }
    client.session.state.variables.optimizer.index_merge_intersection = false;
    let tree = client.run("EXPLAIN FORMAT=TREE SELECT v FROM m WHERE a = 6 AND b = 7");
    assert!(!tree.contains("Intersect"), "{tree}");
}

#[test]
fn rows_of_either_index_are_locked_and_changed_once() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    let rows = || (0..8000).map(|id| format!("({id},{},{},0)", id / 4, id % 2000));
    for table in ["u", "w"] {
        let keys = "KEY ka (a), KEY kb (b)";
        done(&mut client, &format!("CREATE TABLE {table} (id INT PRIMARY KEY, a INT, b INT, v INT, {keys})"));
        insert(&mut client, table, rows());
    }
    let explained =
        |client: &mut Client, text: &str| client.run(&format!("EXPLAIN FORMAT=TRADITIONAL {text}"));
    for (text, merge) in [
        ("UPDATE u SET v = 1 WHERE a = 5 OR b = 21", "Using union(ka,kb)"),
        ("UPDATE u SET a = 1 WHERE a = 5 OR b > 1998", "Using sort_union(ka,kb)"),
        ("DELETE FROM u WHERE a BETWEEN 3 AND 4 OR b = 21", "Using sort_union(ka,kb)"),
        ("SELECT v FROM u WHERE a = 5 OR b = 21 FOR UPDATE", "Using union(ka,kb)"),
        ("SELECT v FROM u WHERE (a = 5 OR b = 21) AND v < 9 FOR SHARE", "Using union(ka,kb)"),
    ] {
        let table = explained(&mut client, text);
        assert!(table.contains(merge), "{text}: {table}");
    }
    for change in [
        "UPDATE t SET v = v + 1 WHERE a = 5 OR b = 21",
        "UPDATE t SET a = a + 1, v = v + 10 WHERE a = 5 OR b = 21",
        "UPDATE t SET b = 21, v = v + 100 WHERE b = 21 OR a = 9",
        "UPDATE t SET id = id + 10000, v = 7 WHERE a = 11 OR b = 45 OR id = 7777",
        "UPDATE t SET v = 8 WHERE (a < 2 OR b IN (5, 6, 1999)) AND id % 2 = 1",
        "DELETE FROM t WHERE a BETWEEN 100 AND 101 OR b = 401",
        "DELETE FROM t WHERE a = 120 OR b = 481 ORDER BY id DESC LIMIT 3",
    ] {
        let by_indexes = client.run(&change.replace(" t ", " u "));
        let one_by_one = change.replacen(" t ", " w IGNORE INDEX (ka, kb) ", 1);
        // DELETE takes no such hint.
        let one_by_one = match change.starts_with("DELETE") {
            true => change.replace(" t ", " w "),
            false => one_by_one,
        };
        assert_eq!(by_indexes, client.run(&one_by_one), "{change}");
        let [all, others] = ["u", "w"].map(|table| client.run(&format!("SELECT * FROM {table} ORDER BY id")));
        assert_eq!(all, others, "{change}");
    }
    let locked = client.run("SELECT id FROM u WHERE a = 200 OR b = 801 ORDER BY id FOR UPDATE");
    assert_eq!(locked, client.run("SELECT id FROM u WHERE a = 200 OR b = 801 ORDER BY id"));
}

#[test]
fn a_condition_that_a_parameter_leaves_out_is_none() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut client = database();
    done(&mut client, "CREATE TABLE p (id INT PRIMARY KEY, k INT, v INT, KEY (k))");
    insert(&mut client, "p", (0..4000).map(|id| format!("({id},{},{})", id % 400, id % 7)));
    done(&mut client, "SET @none = NULL, @some = 17");
    let mut explained = |condition: &str, values: &str| {
        let text = format!("PREPARE e FROM 'EXPLAIN FORMAT=TREE SELECT v FROM p WHERE {condition}'");
        client.run(&text);
        client.run(&format!("EXECUTE e USING {values}"))
    };
    for condition in ["(? IS NULL OR k = ?)", "(? IS NOT NULL AND k = ?)", "NOT (? IS NULL) AND k = ?"] {
        let tree = explained(condition, "@some, @some");
        assert!(tree.contains("Index lookup on p using k") && !tree.contains("Filter"), "{tree}");
    }
    let tree = explained("(? IS NULL OR k = ?) AND v > 3", "@none, @none");
    assert!(tree.contains("Filter: (p.v > 3)") && tree.contains("Table scan"), "{tree}");
    let tree = explained("k = COALESCE(?, k)", "@some");
    assert!(tree.contains("Index lookup on p using k"), "{tree}");
    let tree = explained("k = ?", "@none");
    assert!(tree.contains("Impossible WHERE"), "{tree}");
    done(&mut client, "PREPARE q FROM 'SELECT COUNT(*) FROM p WHERE (? IS NULL OR k = ?)'");
    for (value, count) in [("@none", "4000"), ("@some", "10"), ("@none", "4000")] {
        let answer = client.run(&format!("EXECUTE q USING {value}, {value}"));
        assert!(answer.contains(count), "{value}: {answer}");
    }
}
