//! `innodb_autoinc_lock_mode`: whose AUTO_INCREMENT values lie between whose.

mod client;

use client::{Answer, Client, TestServer, number, run, until, until_somebody_waits};

fn rows(list: &[&str]) -> Answer {
    Answer::Rows(list.iter().map(|text| vec![Some((*text).to_owned())]).collect())
}

fn world(mode: &str) -> (TestServer, Client) {
    let server =
        TestServer::start(&[("innodb_autoinc_lock_mode", mode), ("innodb_lock_wait_timeout", "100000")]);
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "USE test",
            "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20) NOT NULL)",
            "CREATE TABLE source (i INT PRIMARY KEY, v VARCHAR(20) NOT NULL)",
            "INSERT INTO source VALUES (1, 'bulk'), (2, 'bulk'), (3, 'bulk'), (4, 'bulk')",
        ],
    );
    (server, client)
}

fn connect(server: &TestServer) -> Client {
    let mut client = server.connect();
    run(&mut client, &["USE test"]);
    client
}

/// An INSERT ... SELECT stops at its second row, and an INSERT of a row comes.
#[test]
fn what_a_query_gives_has_others_between_it_in_mode_2_only() {
    for (mode, ids, single) in [("0", "1,2,3,4", "5"), ("1", "1,2,3,4", "8"), ("2", "1,3,4,5", "2")] {
        let (server, mut holder) = world(mode);
        run(&mut holder, &["BEGIN", "UPDATE source SET v = 'later' WHERE i = 2"]);
        let (mut bulk, mut other, mut watcher) = (connect(&server), connect(&server), connect(&server));
        run(&mut bulk, &["BEGIN"]);
        bulk.send("INSERT INTO t (v) SELECT v FROM source");
        until_somebody_waits(&mut watcher);
        other.send("INSERT INTO t (v) VALUES ('single')");
        if mode == "2" {
            assert_eq!(other.answer(), Answer::Ok(1));
        } else {
            let waiting = "SELECT CONCAT_WS('|', COUNT(*), MAX(w.REQUESTING_THREAD_ID IS NOT NULL)) \
                           FROM performance_schema.data_locks AS l \
                           JOIN performance_schema.data_lock_waits AS w ON w.REQUESTING_ENGINE_LOCK_ID = l.ENGINE_LOCK_ID \
                           WHERE l.LOCK_TYPE = 'TABLE' AND l.LOCK_MODE = 'AUTO_INC' AND l.LOCK_STATUS = 'WAITING' \
                           AND l.OBJECT_NAME = 't' AND l.INDEX_NAME IS NULL AND l.LOCK_DATA IS NULL";
            until(&mut watcher, waiting, &rows(&["1|1"]));
        }
        run(&mut holder, &["COMMIT"]);
        assert_eq!(bulk.answer(), Answer::Ok(4), "mode {mode}");
        if mode != "2" {
            // The statement has ended: its transaction is still open.
            assert_eq!(other.answer(), Answer::Ok(1));
        }
        run(&mut bulk, &["COMMIT"]);
        let of = |what: &str| format!("SELECT GROUP_CONCAT(id ORDER BY id) FROM t WHERE v {what} 'single'");
        assert_eq!(watcher.value(&of("<>")), ids, "mode {mode}");
        assert_eq!(watcher.value(&of("=")), single, "mode {mode}");
    }
}

#[test]
fn a_statement_that_waits_for_values_times_out_is_killed_and_lets_go() {
    let (server, mut holder) = world("1");
    run(&mut holder, &["BEGIN", "UPDATE source SET v = 'later' WHERE i = 2"]);
    let (mut bulk, mut other, mut watcher) = (connect(&server), connect(&server), connect(&server));
    bulk.send("INSERT INTO t (v) SELECT v FROM source");
    until_somebody_waits(&mut watcher);
    run(&mut other, &["BEGIN", "INSERT INTO source VALUES (9, 'own')", "SET innodb_lock_wait_timeout = 1"]);
    assert_eq!(number(&other.query("INSERT INTO t (v) VALUES ('single')")), 1205);
    assert_eq!(other.value("SELECT COUNT(*) FROM source WHERE i = 9"), "1", "the statement alone is gone");
    run(&mut other, &["ROLLBACK", "SET innodb_lock_wait_timeout = 100000"]);
    let id = other.value("SELECT CONNECTION_ID()");
    other.send("INSERT INTO t (v) VALUES ('single')");
    let state =
        format!("SELECT trx_state FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = {id}");
    until(&mut watcher, &state, &rows(&["LOCK WAIT"]));
    run(&mut watcher, &[&format!("KILL QUERY {id}")]);
    assert_eq!(number(&other.answer()), 1317);
    // Whoever locked the counter goes away in its statement: nobody waits for it any more.
    other.send("INSERT INTO t (v) VALUES ('single')");
    until(&mut watcher, &state, &rows(&["LOCK WAIT"]));
    drop(bulk);
    assert_eq!(other.answer(), Answer::Ok(1));
    assert_eq!(watcher.query("SELECT v FROM t"), rows(&["single"]));
}
