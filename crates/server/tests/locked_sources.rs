//! What statements that change rows lock besides: what they read, what they collide with, what they look at in vain.

mod client;

use std::time::{Duration, Instant};

use client::{Answer, Client, PATIENCE, TestServer, number, run, until_somebody_waits};

const INTERRUPTED: u16 = 1317;
const DUPLICATE: u16 = 1062;

/// t has rows 10, 20, 30, 40 with n = 1, 2, 3, 4 and u the same; o the same ids. Nobody gives up waiting for a lock.
fn world() -> TestServer {
    let server = TestServer::start(&[("innodb_lock_wait_timeout", "100000")]);
    run(
        &mut server.connect(),
        &[
            "CREATE DATABASE test",
            "CREATE TABLE test.t (id INT PRIMARY KEY, n INT, u INT, v VARCHAR(20), KEY (n), UNIQUE KEY (u))",
            "CREATE TABLE test.o (id INT PRIMARY KEY, n INT)",
            "CREATE TABLE test.copy (id INT PRIMARY KEY, n INT)",
            "INSERT INTO test.t VALUES (10, 1, 1, ''), (20, 2, 2, ''), (30, 3, 3, ''), (40, 4, 4, '')",
            "INSERT INTO test.o VALUES (10, 1), (20, 2), (30, 3)",
        ],
    );
    server
}

fn connect(server: &TestServer, isolation: &str) -> Client {
    let mut client = server.connect();
    run(&mut client, &["USE test", &format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}")]);
    client
}

/// Whether a statement has to wait for somebody; nobody lets go meanwhile. What it does is undone.
fn waits(server: &TestServer, client: &mut Client, statement: &str) -> bool {
    run(client, &["BEGIN"]);
    let connection = client.value("SELECT CONNECTION_ID()");
    let mut watcher = server.connect();
    client.send(statement);
    let give_up = Instant::now() + PATIENCE;
    let waits = loop {
        if client.has_answer() {
            break false;
        }
        if watcher.value("SELECT COUNT(*) FROM performance_schema.data_lock_waits") != "0" {
            break true;
        }
        assert!(Instant::now() < give_up, "{statement}: neither answered nor waiting");
        std::thread::sleep(Duration::from_millis(1));
    };
    if waits {
        run(&mut watcher, &[&format!("KILL QUERY {connection}")]);
    }
    let answer = client.answer();
    run(client, &["ROLLBACK"]);
    assert_eq!(number(&answer), if waits { INTERRUPTED } else { 0 }, "{statement}: {answer:?}");
    waits
}

#[test]
fn at_read_committed_rows_that_do_not_match_are_not_waited_for() {
    let statement = "UPDATE t SET v = 'y' WHERE n + 0 = ";
    let server = world();
    let mut holder = connect(&server, "REPEATABLE READ");
    run(&mut holder, &["BEGIN", "UPDATE t SET n = 9 WHERE id = 20", "INSERT INTO t VALUES (25, 3, 5, '')"]);
    run(&mut holder, &["DELETE FROM t WHERE id = 40"]);
    let mut repeatable = connect(&server, "REPEATABLE READ");
    assert!(waits(&server, &mut repeatable, &format!("{statement} 3")), "{statement}");
    let mut committed = connect(&server, "READ COMMITTED");
    assert!(waits(&server, &mut committed, "DELETE FROM t WHERE n + 0 = 3"), "not so a DELETE");
    run(&mut committed, &["BEGIN"]);
    assert_eq!(committed.query(&format!("{statement} 3")), Answer::Ok(1), "{statement}");
    run(&mut committed, &["ROLLBACK"]);
    // What the last committed version says decides whether to wait.
    assert!(!waits(&server, &mut committed, &format!("{statement} 9")), "{statement}");
    assert!(waits(&server, &mut committed, &format!("{statement} 2")), "{statement}");
    assert!(waits(&server, &mut committed, &format!("{statement} 4")), "{statement}");
    // And the row as it is then, whether it is changed.
    let waiting = std::thread::spawn({
        let statement = format!("{statement} 2 OR n + 0 = 4");
        move || (committed.query(&statement), committed)
    });
    until_somebody_waits(&mut server.connect());
    run(&mut holder, &["COMMIT"]);
    let (answer, mut committed) = waiting.join().unwrap();
    assert_eq!(answer, Answer::Ok(0), "{statement}");
    assert_eq!(committed.value("SELECT GROUP_CONCAT(id, ':', n ORDER BY id) FROM t"), "10:1,20:9,25:3,30:3");
}

#[test]
fn a_row_that_is_changed_in_vain_is_found_again_when_the_other_gives_up() {
    let server = world();
    let mut holder = connect(&server, "REPEATABLE READ");
    run(&mut holder, &["BEGIN", "UPDATE t SET n = 9, v = REPEAT('z', 20) WHERE id = 20"]);
    let mut committed = connect(&server, "READ COMMITTED");
    let waiting =
        std::thread::spawn(move || (committed.query("UPDATE t SET n = n + 1 WHERE v = ''"), committed));
    until_somebody_waits(&mut server.connect());
    run(&mut holder, &["ROLLBACK"]);
    let (answer, mut committed) = waiting.join().unwrap();
    assert_eq!(answer, Answer::Ok(4));
    assert_eq!(committed.value("SELECT GROUP_CONCAT(n ORDER BY id) FROM t"), "2,3,4,5");
}

#[test]
fn what_insert_select_reads_is_share_locked_from_repeatable_read_on() {
    let server = world();
    for statement in [
        "INSERT INTO copy SELECT id, n FROM t WHERE id BETWEEN 15 AND 25",
        "REPLACE INTO copy SELECT id, n FROM t WHERE id BETWEEN 15 AND 25",
        "INSERT INTO copy SELECT * FROM (SELECT id, n FROM t WHERE id BETWEEN 15 AND 25) AS d",
        "INSERT INTO copy VALUES (20, (SELECT SUM(n) FROM t WHERE id BETWEEN 15 AND 25))",
        "UPDATE o SET n = 7 WHERE id = 20 AND EXISTS (SELECT * FROM t WHERE id BETWEEN 15 AND 25)",
    ] {
        for (isolation, locks) in
            [("READ COMMITTED", false), ("REPEATABLE READ", true), ("SERIALIZABLE", true)]
        {
            let mut reader = connect(&server, isolation);
            run(&mut reader, &["BEGIN", statement]);
            let mut other = connect(&server, "REPEATABLE READ");
            for (change, is_locked) in [
                ("UPDATE t SET v = 'x' WHERE id = 20", locks),
                ("INSERT INTO t VALUES (17, 9, 9, '')", locks),
                ("SELECT * FROM t WHERE id = 20 FOR SHARE", false),
                ("UPDATE t SET v = 'x' WHERE id = 30", false),
            ] {
                assert_eq!(
                    waits(&server, &mut other, change),
                    is_locked,
                    "{isolation}: {statement}; {change}"
                );
            }
            run(&mut reader, &["ROLLBACK"]);
        }
    }
}

#[test]
fn a_row_that_stops_an_insert_is_locked() {
    let server = world();
    for isolation in ["READ COMMITTED", "REPEATABLE READ"] {
        for (insert, error, shared) in [
            ("INSERT INTO t VALUES (20, 9, 9, '')", DUPLICATE, true),
            ("INSERT INTO t VALUES (29, 9, 2, '')", DUPLICATE, true),
            ("INSERT IGNORE INTO t VALUES (20, 9, 9, '')", 0, true),
            ("INSERT INTO t VALUES (20, 9, 9, '') ON DUPLICATE KEY UPDATE n = n", 0, false),
            ("INSERT INTO t VALUES (29, 9, 2, '') ON DUPLICATE KEY UPDATE n = n", 0, false),
            ("REPLACE INTO t VALUES (20, 2, 2, '')", 0, false),
        ] {
            let mut holder = connect(&server, isolation);
            run(&mut holder, &["BEGIN"]);
            assert_eq!(number(&holder.query(insert)), error, "{insert}");
            let mut other = connect(&server, isolation);
            assert!(waits(&server, &mut other, "DELETE FROM t WHERE id = 20"), "{isolation}: {insert}");
            let reads = waits(&server, &mut other, "SELECT * FROM t WHERE id = 20 FOR SHARE");
            assert_eq!(reads, !shared, "{isolation}: {insert}");
            assert!(!waits(&server, &mut other, "DELETE FROM t WHERE id = 30"), "{isolation}: {insert}");
            run(&mut holder, &["ROLLBACK"]);
        }
    }
}

#[test]
fn joined_changes_lock_what_they_change_exclusively_and_share_the_rest() {
    let server = world();
    for statement in [
        "UPDATE t JOIN o ON o.id = t.id SET t.v = 'x' WHERE o.id BETWEEN 15 AND 25",
        "DELETE t FROM t JOIN o ON o.id = t.id WHERE o.id BETWEEN 15 AND 25",
    ] {
        for (isolation, locks) in [("READ COMMITTED", false), ("REPEATABLE READ", true)] {
            let mut holder = connect(&server, isolation);
            run(&mut holder, &["BEGIN", statement]);
            let mut other = connect(&server, "REPEATABLE READ");
            for (second, is_locked) in [
                ("SELECT * FROM t WHERE id = 20 FOR SHARE", true),
                ("SELECT * FROM o WHERE id = 20 FOR SHARE", false),
                ("UPDATE o SET n = 9 WHERE id = 20", locks),
            ] {
                assert_eq!(
                    waits(&server, &mut other, second),
                    is_locked,
                    "{isolation}: {statement}; {second}"
                );
            }
            run(&mut holder, &["ROLLBACK"]);
        }
    }
}

#[test]
fn rows_beyond_a_limit_are_not_locked() {
    let server = world();
    let mut holder = connect(&server, "REPEATABLE READ");
    run(&mut holder, &["CREATE TABLE many (id INT PRIMARY KEY, n INT, KEY (n))"]);
    let rows: Vec<String> = (0..300).map(|id| format!("({id}, {})", id % 3)).collect();
    run(&mut holder, &[&format!("INSERT INTO many VALUES {}", rows.join(","))]);
    let mut other = connect(&server, "REPEATABLE READ");
    for isolation in ["READ COMMITTED", "REPEATABLE READ"] {
        run(&mut holder, &[&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}")]);
        for statement in [
            "SELECT id FROM many WHERE n + 0 = 2 LIMIT 20 FOR UPDATE",
            "UPDATE many SET n = n + 3 WHERE n % 3 = 2 LIMIT 20",
            "DELETE FROM many WHERE n + 0 = 2 LIMIT 20",
            "SELECT m.id FROM many AS m JOIN o ON o.id = 10 WHERE m.n + 0 = 2 LIMIT 20 FOR UPDATE",
        ] {
            run(&mut holder, &["BEGIN", statement]);
            // The twentieth is 59.
            run(&mut other, &["BEGIN"]);
            let first = other
                .value("SELECT MIN(id) FROM (SELECT id FROM many WHERE id > 40 FOR UPDATE SKIP LOCKED) AS d");
            let expected = if isolation == "READ COMMITTED" { "42" } else { "60" };
            assert_eq!(first, expected, "{isolation}: {statement}");
            run(&mut other, &["ROLLBACK"]);
            run(&mut holder, &["ROLLBACK"]);
        }
    }
}

#[test]
fn a_scan_that_waits_for_a_row_keeps_nobody_from_inserting_behind_it() {
    let server = world();
    let mut holder = connect(&server, "REPEATABLE READ");
    run(&mut holder, &["BEGIN", "SELECT * FROM t WHERE id = 20 FOR UPDATE"]);
    let mut scanning = connect(&server, "REPEATABLE READ");
    run(&mut scanning, &["BEGIN"]);
    let waiting = std::thread::spawn(move || {
        (scanning.query("UPDATE t FORCE INDEX (n) SET v = 'x' WHERE n BETWEEN 1 AND 4"), scanning)
    });
    let mut other = connect(&server, "REPEATABLE READ");
    until_somebody_waits(&mut other);
    assert_eq!(other.query("INSERT INTO t VALUES (25, 3, 9, '')"), Answer::Ok(1));
    run(&mut holder, &["COMMIT"]);
    let (answer, mut scanning) = waiting.join().unwrap();
    assert_eq!(answer, Answer::Ok(5), "the row that was inserted meanwhile is there, too");
    assert!(waits(&server, &mut other, "INSERT INTO t VALUES (26, 3, 8, '')"));
    run(&mut scanning, &["ROLLBACK"]);
}
