//! What data_locks, data_lock_waits and INNODB_TRX say of a waiter and its blocker.

mod client;

use client::{Answer, CAPABILITIES, Client, TestServer, run, until, until_somebody_waits};

fn list(client: &mut Client, text: &str) -> Vec<String> {
    let cell = |cell: Option<String>| cell.unwrap_or_else(|| "NULL".to_owned());
    match client.query(text) {
        Answer::Rows(rows) => {
            rows.into_iter().map(|row| row.into_iter().map(cell).collect::<Vec<_>>().join(" ")).collect()
        }
        other => panic!("{text}: {other:?}"),
    }
}

fn world() -> (TestServer, Client) {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "CREATE TABLE test.t (id INT PRIMARY KEY, n INT, v VARCHAR(20), KEY by_n (n), KEY by_v (v))",
            "INSERT INTO test.t VALUES (10, 1, 'a'), (20, 2, 'b'), (30, 3, 'c')",
        ],
    );
    (server, client)
}

const LOCKS: &str = "SELECT THREAD_ID, OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, LOCK_TYPE, LOCK_MODE, LOCK_STATUS, \
                     LOCK_DATA FROM performance_schema.data_locks ORDER BY LOCK_STATUS, LOCK_DATA, THREAD_ID";

#[test]
fn a_waiter_and_the_row_that_its_blocker_has_changed() {
    let (server, mut client) = world();
    let (mut holder, mut waiter) = (server.connect(), server.connect());
    let (holder_id, waiter_id) =
        (holder.value("SELECT CONNECTION_ID()"), waiter.value("SELECT CONNECTION_ID()"));
    run(&mut holder, &["BEGIN", "UPDATE test.t SET n = 9 WHERE id = 20"]);
    assert_eq!(list(&mut client, LOCKS), Vec::<String>::new(), "the change itself is the lock");
    let update = "UPDATE test.t SET n = 8 WHERE id = 20";
    let waiting = std::thread::spawn(move || {
        run(&mut waiter, &["BEGIN", "INSERT INTO test.t VALUES (40, 4, '')", update]);
        waiter
    });
    until_somebody_waits(&mut client);
    assert_eq!(
        list(&mut client, LOCKS),
        [
            format!("{holder_id} test t PRIMARY RECORD X,REC_NOT_GAP GRANTED 20"),
            format!("{waiter_id} test t PRIMARY RECORD X,REC_NOT_GAP WAITING 20"),
        ]
    );
    let joined = "SELECT r.THREAD_ID, r.LOCK_STATUS, b.THREAD_ID, b.LOCK_STATUS, \
                  r.ENGINE_TRANSACTION_ID = w.REQUESTING_ENGINE_TRANSACTION_ID, \
                  b.ENGINE_TRANSACTION_ID = w.BLOCKING_ENGINE_TRANSACTION_ID, \
                  w.REQUESTING_THREAD_ID, w.BLOCKING_THREAD_ID \
                  FROM performance_schema.data_lock_waits AS w \
                  JOIN performance_schema.data_locks AS r ON r.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID \
                  JOIN performance_schema.data_locks AS b ON b.ENGINE_LOCK_ID = w.BLOCKING_ENGINE_LOCK_ID";
    assert_eq!(
        list(&mut client, joined),
        [format!("{waiter_id} WAITING {holder_id} GRANTED 1 1 {waiter_id} {holder_id}")]
    );
    let transactions = "SELECT trx_mysql_thread_id, trx_state, trx_rows_modified, trx_tables_locked, trx_query, \
                        trx_wait_started IS NOT NULL, trx_requested_lock_id = (SELECT ENGINE_LOCK_ID FROM \
                        performance_schema.data_locks WHERE LOCK_STATUS = 'WAITING') \
                        FROM information_schema.INNODB_TRX ORDER BY trx_mysql_thread_id";
    assert_eq!(
        list(&mut client, transactions),
        [format!("{holder_id} RUNNING 3 1 NULL 0 NULL"), format!("{waiter_id} LOCK WAIT 3 1 {update} 1 1")]
    );
    run(&mut holder, &["ROLLBACK"]);
    run(&mut waiting.join().unwrap(), &["COMMIT"]);
    assert_eq!(list(&mut client, LOCKS), Vec::<String>::new());
    assert_eq!(list(&mut client, transactions), Vec::<String>::new());
}

#[test]
fn what_a_transaction_is_like_is_told_as_it_is() {
    let (server, mut client) = world();
    let mut other = server.connect();
    let id = other.value("SELECT CONNECTION_ID()");
    let seen = format!(
        "SELECT trx_is_read_only, trx_unique_checks, trx_foreign_key_checks, trx_isolation_level, \
         trx_autocommit_non_locking FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = {id}"
    );
    run(&mut other, &["START TRANSACTION READ ONLY", "SELECT * FROM test.t"]);
    assert_eq!(list(&mut client, &seen), ["1 1 1 REPEATABLE READ 0"]);
    run(&mut other, &["COMMIT", "SET unique_checks = 0", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"]);
    run(&mut other, &["BEGIN", "UPDATE test.t SET n = 9 WHERE id = 20"]);
    assert_eq!(list(&mut client, &seen), ["0 0 1 READ COMMITTED 0"]);
    // Of the statement that it runs, as in MySQL.
    run(&mut other, &["SET foreign_key_checks = 0", "SELECT * FROM test.t"]);
    assert_eq!(list(&mut client, &seen), ["0 0 0 READ COMMITTED 0"]);
    run(&mut other, &["COMMIT", "SET unique_checks = 1, foreign_key_checks = 1"]);
    other.send("SELECT SLEEP(1000) FROM test.t");
    let row = ["0", "1", "1", "REPEATABLE READ", "1"].map(|cell| Some(cell.to_owned())).to_vec();
    until(&mut client, &seen, &Answer::Rows(vec![row]));
}

#[test]
fn ranges_inserts_and_locks_of_readers() {
    let (server, mut client) = world();
    let (mut reader, mut waiter) = (server.connect(), server.connect());
    let reader_id = reader.value("SELECT CONNECTION_ID()");
    run(&mut reader, &["SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"]);
    run(&mut reader, &["BEGIN", "SELECT * FROM test.t WHERE id = 10 FOR SHARE"]);
    run(&mut reader, &["SELECT * FROM test.t WHERE id BETWEEN 15 AND 25 FOR UPDATE"]);
    let waiting = std::thread::spawn(move || run(&mut waiter, &["INSERT INTO test.t VALUES (17, 4, '')"]));
    until_somebody_waits(&mut client);
    let seen = "SELECT LOCK_MODE, LOCK_STATUS, LOCK_DATA FROM performance_schema.data_locks \
                ORDER BY LOCK_STATUS, LOCK_DATA, LOCK_MODE";
    assert_eq!(
        list(&mut client, seen),
        [
            "X GRANTED [15, 26)",
            "S,REC_NOT_GAP GRANTED 10",
            "X,REC_NOT_GAP GRANTED 17",
            "X,GAP,INSERT_INTENTION WAITING 17",
        ]
    );
    // The reader has changed nothing: it has no id, and is listed all the same.
    let id = "SELECT trx_id > (1 << 40), trx_isolation_level FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = ";
    assert_eq!(list(&mut client, &format!("{id}{reader_id}")), ["1 SERIALIZABLE"]);
    run(&mut reader, &["COMMIT"]);
    waiting.join().unwrap();
}

#[test]
fn a_prepared_transaction_is_nobodys_and_only_those_with_the_privilege_see_locks() {
    let (server, mut client) = world();
    run(
        &mut client,
        &["XA START 'x'", "UPDATE test.t SET n = 9 WHERE id = 20", "XA END 'x'", "XA PREPARE 'x'"],
    );
    let all = "SELECT trx_state, trx_mysql_thread_id, trx_query FROM information_schema.INNODB_TRX";
    assert_eq!(list(&mut client, all), ["RUNNING 0 NULL"]);
    run(&mut client, &["XA ROLLBACK 'x'", "CREATE USER joe IDENTIFIED WITH mysql_native_password BY ''"]);
    let mut joe = server.connect_raw();
    assert_eq!(joe.login("joe", b"", CAPABILITIES)[0], 0);
    for table in ["data_locks", "data_lock_waits"] {
        let answer = joe.query(&format!("SELECT * FROM performance_schema.{table}"));
        assert!(matches!(answer, Answer::Error(1142, _)), "{answer:?}");
    }
}
