//! Locks within their limit, as clients see it.
//!
//! Alone in its program: the counters are the process's.

mod client;

use client::{Answer, Client, TestServer, number, run};

const FULL: (u16, &str) = (1206, "The total number of locks exceeds the lock table size");
const NOT_AVAILABLE: u16 = 3572;
/// The pool is the smallest there is: there is room for half of these rows or so.
const OPTIONS: [(&str, &str); 2] = [("innodb_buffer_pool_size", "5M"), ("innodb_lock_wait_timeout", "600")];
const ROWS: u64 = 20_000;
const LIMIT: u64 = 5 << 19;

/// `t` and `s` with rows 1 to [`ROWS`], `far` with as many that are in neither, `u` with one row.
fn filled() -> TestServer {
    let server = TestServer::start(&OPTIONS);
    let mut client = server.connect();
    let first: Vec<_> = (1..=1000).map(|id| format!("({id}, {id}, 0)")).collect();
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "USE test",
            "CREATE TABLE t (id INT PRIMARY KEY, k INT, v INT, KEY (k))",
            "CREATE TABLE s (id INT PRIMARY KEY)",
            "CREATE TABLE far (id INT PRIMARY KEY)",
            "CREATE TABLE sink (v INT)",
            "CREATE TABLE u (id INT PRIMARY KEY, v INT)",
            "INSERT INTO u VALUES (1, 0)",
            &format!("INSERT INTO t VALUES {}", first.join(", ")),
        ],
    );
    for more in (1000..ROWS).step_by(1000) {
        let insert = format!("INSERT INTO t SELECT id + {more}, k + {more}, 0 FROM t WHERE id <= 1000");
        run(&mut client, &[&insert]);
    }
    run(&mut client, &["INSERT INTO s SELECT id FROM t", "INSERT INTO far SELECT 2 * id + 1000000 FROM t"]);
    server
}

fn connect(server: &TestServer, isolation: &str) -> Client {
    let mut client = server.connect();
    run(&mut client, &["USE test", &format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}")]);
    client
}

fn memory(client: &mut Client) -> u64 {
    let text = "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_memory_bytes'";
    client.value(text).parse().unwrap()
}

fn times_full(client: &mut Client) -> u64 {
    let text = "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_table_full'";
    client.value(text).parse().unwrap()
}

#[test]
fn a_transaction_with_too_many_locks_is_rolled_back_and_the_others_go_on() {
    let server = filled();
    let mut watcher = server.connect();
    run(&mut watcher, &["USE test"]);
    assert_eq!(memory(&mut watcher), 0);
    run(&mut watcher, &["SET GLOBAL innodb_monitor_enable = 'lock_table_full'"]);

    for (isolation, statement) in [
        ("READ COMMITTED", "SELECT id FROM t FOR UPDATE"),
        ("READ COMMITTED", "SELECT id FROM t FOR SHARE SKIP LOCKED"),
        ("REPEATABLE READ", "SELECT SUM(v) FROM t FORCE INDEX (k) WHERE k >= 0 FOR UPDATE"),
        ("REPEATABLE READ", "DELETE t FROM t FORCE INDEX (k) WHERE k >= 0 AND v = 1"),
        ("SERIALIZABLE", "SELECT SUM(v) FROM t FORCE INDEX (k) WHERE k >= 0"),
        ("REPEATABLE READ", "INSERT INTO sink SELECT t.v FROM s STRAIGHT_JOIN t ON t.id = s.id"),
        ("REPEATABLE READ", "SELECT COUNT(*) FROM far STRAIGHT_JOIN t ON t.id = far.id FOR SHARE"),
    ] {
        let before = times_full(&mut watcher);
        let mut client = connect(&server, isolation);
        run(&mut client, &["BEGIN", "UPDATE u SET v = v + 1"]);
        let answer = client.query(statement);
        assert_eq!(answer, Answer::Error(FULL.0, FULL.1.into()), "{isolation}: {statement}");
        assert!(times_full(&mut watcher) > before);
        // All of it is undone, and nothing is locked any more.
        assert_eq!(memory(&mut watcher), 0, "{statement}");
        assert_eq!(watcher.value("SELECT v FROM u FOR UPDATE NOWAIT"), "0", "{statement}");
        run(&mut client, &["UPDATE u SET v = 0", "ROLLBACK"]);
        assert_eq!(watcher.value("SELECT COUNT(*) FROM sink"), "0");
    }

    // Where rows are locked as one range, their number means nothing.
    let mut client = connect(&server, "REPEATABLE READ");
    run(&mut client, &["BEGIN"]);
    assert_eq!(client.value("SELECT COUNT(*) FROM (SELECT * FROM t FOR UPDATE) x"), ROWS.to_string());
    run(&mut client, &["INSERT INTO sink SELECT v FROM t", "ROLLBACK"]);

    let mut holder = connect(&server, "READ COMMITTED");
    run(&mut holder, &["BEGIN"]);
    let Answer::Rows(rows) = holder.query("SELECT id FROM t WHERE id <= 7000 FOR UPDATE") else { panic!() };
    assert_eq!(rows.len(), 7000);
    let taken = memory(&mut watcher);
    assert!((LIMIT / 4..LIMIT).contains(&taken), "{taken} of {LIMIT} bytes");
    let shown = watcher.value("SELECT MAX(trx_lock_memory_bytes) FROM information_schema.INNODB_TRX");
    assert!((taken / 2..=taken).contains(&shown.parse().unwrap()), "{shown} of {taken}");
    let mut second = connect(&server, "READ COMMITTED");
    run(&mut second, &["BEGIN", "UPDATE u SET v = 5"]);
    let many = "SELECT id FROM t WHERE id > 7000 FOR UPDATE";
    assert_eq!(number(&second.query(many)), FULL.0);
    assert_eq!(memory(&mut watcher), taken);
    let mut third = connect(&server, "REPEATABLE READ");
    run(&mut third, &["BEGIN", "SELECT * FROM t WHERE id BETWEEN 8000 AND 8100 FOR UPDATE"]);
    run(&mut third, &["UPDATE t SET v = 1 WHERE k = 9000", "INSERT INTO t VALUES (30000, 0, 0)", "COMMIT"]);
    assert_eq!(number(&third.query("SELECT * FROM t WHERE id = 7000 FOR UPDATE NOWAIT")), NOT_AVAILABLE);
    run(&mut holder, &["UPDATE t SET v = 7 WHERE id <= 7000", "COMMIT"]);
    assert_eq!(watcher.value("SELECT SUM(v) FROM t"), (7 * 7000 + 1).to_string());
    assert_eq!(memory(&mut watcher), 0);

    // To undo a part of it would leave a lock on each row.
    for undo in ["ROLLBACK TO a", "UPDATE t SET id = 2 WHERE id = 1"] {
        run(&mut holder, &["BEGIN", "UPDATE u SET v = 6", "SAVEPOINT a"]);
        run(
            &mut holder,
            &["SET @many = 'UPDATE t SET v = v + 1 WHERE id < 30000'", "PREPARE many FROM @many"],
        );
        run(&mut holder, &["EXECUTE many"]);
        if undo.starts_with("ROLLBACK") {
            assert_eq!(number(&holder.query(undo)), FULL.0);
            assert_eq!(watcher.value("SELECT v FROM u FOR UPDATE NOWAIT"), "0");
        } else {
            assert_eq!(number(&holder.query(undo)), 1062);
            run(&mut holder, &["ROLLBACK"]);
        }
        assert_eq!(watcher.value("SELECT SUM(v) FROM t"), (7 * 7000 + 1).to_string());
        assert_eq!(memory(&mut watcher), 0);
    }

    // An XA branch is good for nothing but its rollback then.
    run(&mut second, &["XA START 'x'", "UPDATE u SET v = 5"]);
    assert_eq!(number(&second.query("SELECT id FROM t FOR UPDATE")), FULL.0);
    assert_eq!(number(&second.query("XA END 'x'")), 1402);
    run(&mut second, &["XA ROLLBACK 'x'"]);
    assert_eq!(watcher.value("SELECT v FROM u FOR UPDATE NOWAIT"), "0");
}
