//! XA across sessions and crashes.

mod client;

use client::process::Process;
use client::{Answer, CAPABILITIES, Client, TestServer, number, run};

const TIMEOUT: u16 = 1205;
const DEADLOCK: u16 = 1213;

fn list(client: &mut Client, text: &str) -> Vec<String> {
    match client.query(text) {
        Answer::Rows(rows) => {
            rows.into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>().join(" ")).collect()
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_killed_server_keeps_what_was_prepared_with_its_locks() {
    let dir = tempfile::tempdir().unwrap();
    let datadir = dir.path().join("data");
    let mut server = Process::start(&datadir, &["--innodb-lock-wait-timeout=1"]);
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "CREATE TABLE test.t (id INT PRIMARY KEY, n INT, KEY (n))",
            "INSERT INTO test.t VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
            "XA START 'kept'",
            "UPDATE test.t SET n = 10 WHERE id = 1",
            "DELETE FROM test.t WHERE id = 2",
            "XA END 'kept'",
            "XA PREPARE 'kept'",
            "XA START 'undone', 'branch', 3",
            "UPDATE test.t SET n = 30 WHERE id = 3",
            "INSERT INTO test.t VALUES (5, 5)",
            "XA END 'undone', 'branch', 3",
            "XA PREPARE 'undone', 'branch', 3",
            "XA START 'forgotten'",
            "UPDATE test.t SET n = 40 WHERE id = 4",
            "XA END 'forgotten'",
        ],
    );
    // Twice: recovery itself changes nothing about it.
    for _ in 0..2 {
        server.kill();
        server = Process::start(&datadir, &["--innodb-lock-wait-timeout=1"]);
    }
    let mut client = server.connect();
    assert_eq!(list(&mut client, "XA RECOVER"), ["1 4 0 kept", "3 6 6 undonebranch"]);
    assert_eq!(list(&mut client, "SELECT * FROM test.t ORDER BY id"), ["1 1", "2 2", "3 3", "4 4"]);
    for change in [
        "UPDATE test.t SET n = 0 WHERE id = 1",
        "DELETE FROM test.t WHERE id = 2",
        "UPDATE test.t SET n = 0 WHERE n = 3",
        "INSERT INTO test.t VALUES (5, 0)",
    ] {
        assert_eq!(number(&client.query(change)), TIMEOUT, "{change}");
    }
    run(&mut client, &["SET lock_wait_timeout = 1"]);
    assert_eq!(number(&client.query("ALTER TABLE test.t ADD m INT")), TIMEOUT);
    run(&mut client, &["CREATE TABLE test.free (id INT)", "DROP TABLE test.free"]);
    run(&mut client, &["XA COMMIT 'kept'", "XA ROLLBACK 'undone', 'branch', 3"]);
    let expected = ["1 10", "3 3", "4 4"];
    assert_eq!(list(&mut client, "SELECT * FROM test.t ORDER BY id"), expected);
    // What was answered about the end of both is durable.
    server.kill();
    let server = Process::start(&datadir, &["--innodb-lock-wait-timeout=1"]);
    let mut client = server.connect();
    assert!(list(&mut client, "XA RECOVER").is_empty());
    assert_eq!(list(&mut client, "SELECT id, n FROM test.t FORCE INDEX (n) ORDER BY id"), expected);
    assert_eq!(number(&client.query("XA COMMIT 'kept'")), 1397);
    run(&mut client, &["UPDATE test.t SET n = n + 1", "ALTER TABLE test.t ADD m INT"]);
    server.kill();
}

#[test]
fn what_is_prepared_outlives_its_session_and_what_is_not_does_not() {
    let server = TestServer::start(&[("innodb_lock_wait_timeout", "1")]);
    let mut client = server.connect();
    run(
        &mut client,
        &["CREATE DATABASE test", "CREATE TABLE test.t (id INT PRIMARY KEY, n INT)", "USE test"],
    );
    run(&mut client, &["INSERT INTO t VALUES (1, 1), (2, 2)"]);
    let mut first = server.connect();
    run(&mut first, &["USE test", "XA START 'x'", "UPDATE t SET n = 10 WHERE id = 1", "XA END 'x'"]);
    assert_eq!(number(&client.query("XA START 'x'")), 1440);
    assert_eq!(number(&client.query("XA COMMIT 'x'")), 1397, "it is its session's");
    run(&mut first, &["XA PREPARE 'x'", "XA START 'y'", "UPDATE t SET n = 20 WHERE id = 2", "XA END 'y'"]);
    drop(first);
    // 'y' ends with its session, in its own time.
    while number(&client.query("XA START 'y'")) == 1440 {}
    run(&mut client, &["UPDATE t SET n = n + 1 WHERE id = 2", "XA END 'y'", "XA COMMIT 'y' ONE PHASE"]);
    assert_eq!(number(&client.query("UPDATE t SET n = 0 WHERE id = 1")), TIMEOUT);
    assert_eq!(number(&client.query("XA START 'x'")), 1440);
    assert_eq!(list(&mut client, "SELECT * FROM t"), ["1 1", "2 3"]);
    run(&mut client, &["XA COMMIT 'x'"]);
    assert_eq!(list(&mut client, "SELECT * FROM t"), ["1 10", "2 3"]);
}

#[test]
fn a_branch_that_a_deadlock_has_rolled_back_says_so_until_it_is_given_up() {
    for (then, last) in [
        (&[("SELECT * FROM t", 1614), ("XA PREPARE 'a'", 1399), ("XA END 'a'", 1614)][..], "XA ROLLBACK 'a'"),
        (&[("XA ROLLBACK 'a'", 1399), ("BEGIN", 1399), ("XA COMMIT 'a'", 1614)][..], "XA START 'a'"),
        (&[("XA END 'b'", 1397), ("XA END 'a'", 1614), ("SELECT * FROM t", 1614)][..], "XA ROLLBACK 'a'"),
    ] {
        let server = TestServer::start(&[]);
        let (mut client, mut other) = (server.connect(), server.connect());
        run(&mut client, &["CREATE DATABASE test", "CREATE TABLE test.t (id INT PRIMARY KEY, n INT)"]);
        run(&mut client, &["USE test", "INSERT INTO t VALUES (1, 1), (2, 2)"]);
        run(&mut other, &["USE test", "BEGIN", "UPDATE t SET n = 20 WHERE id = 2"]);
        run(&mut other, &["INSERT INTO t VALUES (3, 3), (4, 4)"]);
        run(&mut client, &["XA START 'a'", "UPDATE t SET n = 10 WHERE id = 1"]);
        let waiting = std::thread::spawn(move || {
            run(&mut other, &["UPDATE t SET n = 11 WHERE id = 1", "COMMIT"]);
        });
        assert_eq!(number(&client.query("UPDATE t SET n = 21 WHERE id = 2")), DEADLOCK);
        waiting.join().unwrap();
        assert_eq!(client.query("SELECT 1"), Answer::Rows(vec![vec![Some("1".to_owned())]]));
        for (statement, expected) in then {
            assert_eq!(number(&client.query(statement)), *expected, "{statement}");
        }
        run(&mut client, &[last]);
        assert_eq!(list(&mut client, "SELECT n FROM t WHERE id < 3"), ["11", "20"]);
    }
}

/// As MySQL 9.7 answers.
#[test]
fn what_uses_tables_is_refused_in_a_branch_that_was_rolled_back_or_ended() {
    let server = TestServer::start(&[]);
    let (mut client, mut other) = (server.connect(), server.connect());
    run(&mut client, &["CREATE DATABASE test", "CREATE TABLE test.t (id INT PRIMARY KEY, n INT)"]);
    run(&mut client, &["USE test", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"]);
    run(&mut other, &["USE test"]);
    for (statement, rolled_back, ended) in [
        ("SHOW TABLES", 1614, 1399),
        ("SHOW COLUMNS FROM t", 1614, 1399),
        ("SHOW CREATE TABLE t", 1614, 1399),
        ("SHOW VARIABLES LIKE 'port'", 1614, 1399),
        ("DESCRIBE t", 1614, 1399),
        ("SHOW WARNINGS", 0, 0),
        ("SHOW PROCESSLIST", 0, 0),
        ("SHOW CREATE DATABASE test", 0, 0),
        ("SELECT COUNT(*) FROM information_schema.processlist", 1614, 1399),
        ("SELECT COUNT(*) FROM performance_schema.data_locks", 1614, 1399),
        ("WITH a AS (SELECT 1) SELECT * FROM a", 1614, 1399),
        ("SET @x = (SELECT MAX(n) FROM t)", 1614, 1399),
        ("SELECT COUNT(*)", 0, 0),
        ("VALUES ROW(1)", 0, 0),
        ("DO (SELECT 1)", 0, 0),
        ("EXPLAIN SELECT * FROM t", 1614, 1399),
        ("EXPLAIN UPDATE t SET n = 1", 1614, 1399),
        ("EXPLAIN SELECT 1", 0, 0),
        ("PREPARE p FROM 'SELECT * FROM t'", 1614, 1399),
        ("PREPARE p FROM 'UPDATE t SET n = 1'", 1614, 1399),
        ("PREPARE p FROM 'SELECT 1'", 0, 0),
        ("SAVEPOINT s", 0, 1399),
        ("ROLLBACK TO s", 1305, 1305),
        ("RELEASE SAVEPOINT s", 1305, 1305),
    ] {
        run(&mut client, &["XA START 'a'", "UPDATE t SET n = 10 WHERE id = 1", "XA END 'a'"]);
        assert_eq!(number(&client.query(statement)), ended, "ended: {statement}");
        run(&mut client, &["XA ROLLBACK 'a'"]);

        run(&mut other, &["BEGIN", "UPDATE t SET n = 20 WHERE id = 2", "UPDATE t SET n = 30 WHERE id = 3"]);
        run(&mut client, &["XA START 'a'", "UPDATE t SET n = 10 WHERE id = 1"]);
        let waiting = std::thread::spawn(move || {
            run(&mut other, &["UPDATE t SET n = 11 WHERE id = 1", "ROLLBACK"]);
            other
        });
        assert_eq!(number(&client.query("UPDATE t SET n = 21 WHERE id = 2")), DEADLOCK);
        other = waiting.join().unwrap();
        assert_eq!(number(&client.query(statement)), rolled_back, "rolled back: {statement}");
        assert_eq!(number(&client.query("XA END 'a'")), 1614, "{statement}");
        run(&mut client, &["XA ROLLBACK 'a'"]);
    }
}

#[test]
fn xa_recover_needs_its_privilege() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    run(&mut root, &["CREATE USER joe IDENTIFIED WITH mysql_native_password BY ''"]);
    run(&mut root, &["XA START 'x'", "XA END 'x'", "XA PREPARE 'x'"]);
    let mut joe = server.connect_raw();
    assert_eq!(joe.login("joe", b"", CAPABILITIES)[0], 0);
    assert_eq!(number(&joe.query("XA RECOVER")), 1401);
    let warnings = list(&mut joe, "SHOW WARNINGS");
    assert!(warnings.iter().any(|line| line.contains("XA_RECOVER_ADMIN")), "{warnings:?}");
    run(&mut joe, &["XA START 'j'", "XA END 'j'", "XA ROLLBACK 'j'"]);
    run(&mut root, &["GRANT XA_RECOVER_ADMIN ON *.* TO joe"]);
    assert_eq!(list(&mut joe, "XA RECOVER"), ["1 1 0 x"]);
    run(&mut joe, &["XA ROLLBACK 'x'"]);
}
