//! Statements from text to rows, over an engine in memory.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

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
