//! Statements from text to rows, over an engine in memory.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use palisade_base::prng::{Prng, test_seed};
use palisade_base::{Event, MysqlError};
use palisade_catalog::{SqlType, Value};
use palisade_engine::{Engine, EngineConfig};
use palisade_io::MemFileSystem;
use palisade_parser::ast::Statement;
use palisade_sql::expr::convert::display_text;
use palisade_sql::sink::Collected;
use palisade_sql::*;

struct Bench;

impl Host for Bench {
    fn variable(&self, _: &Session, _: Option<Scope>, _: &str) -> SqlResult<Option<Value>> {
        Ok(None)
    }
    fn set_variable(&self, _: &mut Session, _: Scope, _: &str, _: Option<Value>) -> SqlResult<()> {
        Ok(())
    }
    fn variables(&self, _: &Session, _: Scope) -> Vec<(String, String)> {
        Vec::new()
    }
    fn status(&self, _: &Session, _: Scope) -> Vec<(String, String)> {
        Vec::new()
    }
    fn virtual_table(&self, _: &Session, _: &str, _: &str, _: bool) -> Option<VirtualTable> {
        None
    }
    fn virtual_table_names(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    fn kill(&self, _: &Session, _: u64, _: bool) -> SqlResult<()> {
        Ok(())
    }
    fn administer<'a>(
        &'a self,
        _: &'a mut Session,
        _: &'a Statement,
        _: &'a mut dyn ResultSink,
    ) -> BoxFuture<'a, Option<SqlResult<Completion>>> {
        Box::pin(async { None })
    }
    fn wait<'a>(
        &'a self,
        _: u64,
        event: Event,
        _: Awaited,
        _: Option<Duration>,
    ) -> BoxFuture<'a, WaitOutcome> {
        Box::pin(async {
            event.await;
            WaitOutcome::Happened
        })
    }
    fn unix_micros(&self) -> i64 {
        1_795_250_460_000_000
    }
    fn random(&self) -> u64 {
        7
    }
    fn version(&self) -> &str {
        "8.4.0-test"
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

struct Client {
    sql: Arc<Sql>,
    session: Session,
}

impl Client {
    fn new() -> Client {
        let config = EngineConfig { buffer_pool_size: 16 << 20, ..EngineConfig::default() };
        let engine = Engine::open(config, Arc::new(MemFileSystem::new())).unwrap();
        let sql = Sql::new(engine, Arc::new(Bench));
        let session = Session::new(1, "root", "localhost", SessionVariables::default(), 1);
        let mut client = Client { sql, session };
        client.run("CREATE DATABASE d");
        client.run("USE d");
        client
    }

    fn answer(&mut self, text: &str) -> Result<String, MysqlError> {
        let mut sink = Collected::default();
        let (completion, _) = block_on(self.sql.query(&mut self.session, text.as_bytes(), &mut sink))?;
        if !completion.rows {
            return Ok(format!("{} affected", completion.affected_rows));
        }
        let types: Vec<SqlType> = sink.columns.iter().map(|column| column.ty.clone()).collect();
        let line = |row: &Vec<Value>| {
            let shown = row.iter().zip(&types).map(|(value, ty)| match value {
                Value::Null => "NULL".to_owned(),
                value => display_text(value.as_ref(), ty),
            });
            shown.collect::<Vec<_>>().join(" ")
        };
        Ok(sink.rows.iter().map(line).collect::<Vec<_>>().join("; "))
    }

    fn run(&mut self, text: &str) -> String {
        self.answer(text).unwrap_or_else(|error| error.to_string())
    }
}

#[track_caller]
fn check(client: &mut Client, text: &str, expected: &str) {
    assert_eq!(client.run(text), expected, "{text}");
}

fn with_rows() -> Client {
    let mut client = Client::new();
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
    check(&mut client, "SELECT 7 / 3, 1 / 3 * 3", "2.3333 1.0000");
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
    let mut client = Client::new();
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
    let mut client = Client::new();
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
