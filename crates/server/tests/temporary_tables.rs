//! Temporary tables belong to one session: what others see, what an account may do, and when they go.

mod client;

use client::{Client, TestServer, connect_as, fails, run};

/// COM_RESET_CONNECTION.
const RESET: u8 = 0x1f;

const COUNT: &str = "SELECT COUNT(*) FROM information_schema.INNODB_TEMP_TABLE_INFO";

fn world() -> (TestServer, Client) {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "CREATE TABLE test.t (id INT PRIMARY KEY)",
            "INSERT INTO test.t VALUES (1), (2)",
        ],
    );
    (server, client)
}

#[test]
fn each_session_has_its_own() {
    let (server, mut one) = world();
    let mut two = server.connect();
    let text = "SELECT COUNT(*) FROM test.t";
    run(&mut one, &["CREATE TEMPORARY TABLE test.t (a INT, b INT)", "INSERT INTO test.t VALUES (1, 1)"]);
    assert_eq!((one.value(text), two.value(text)), ("1".to_owned(), "2".to_owned()));
    run(&mut two, &["CREATE TEMPORARY TABLE test.t (x INT)", "INSERT INTO test.t VALUES (1), (2), (3)"]);
    assert_eq!((one.value(text), two.value(text)), ("1".to_owned(), "3".to_owned()));
    // Nothing of one keeps the other, nor a definition of the table that they hide, waiting.
    let mut third = server.connect();
    run(&mut one, &["BEGIN", "UPDATE test.t SET a = 2"]);
    run(
        &mut third,
        &["SET lock_wait_timeout = 1", "ALTER TABLE test.t ADD y INT", "INSERT INTO test.t VALUES (3, 3)"],
    );
    assert_eq!(third.value(COUNT), "2");
    run(&mut two, &["DROP TEMPORARY TABLE test.t"]);
    assert_eq!((two.value(text), third.value(COUNT)), ("3".to_owned(), "1".to_owned()));
    let spaces =
        "SELECT COUNT(*) FROM information_schema.INNODB_SESSION_TEMP_TABLESPACES WHERE ID = CONNECTION_ID()";
    assert_eq!((one.value(spaces), two.value(spaces)), ("1".to_owned(), "0".to_owned()));
}

#[test]
fn they_go_with_the_session_and_when_it_is_reset() {
    let (server, mut watcher) = world();
    let mut client = server.connect();
    run(&mut client, &["BEGIN", "CREATE TEMPORARY TABLE test.t (a INT)", "INSERT INTO test.t VALUES (7)"]);
    assert_eq!(watcher.value(COUNT), "1");
    assert_eq!(client.command(&[RESET]).unwrap()[0], 0);
    assert_eq!(
        (client.value("SELECT COUNT(*) FROM test.t"), watcher.value(COUNT)),
        ("2".to_owned(), "0".to_owned())
    );
    run(&mut client, &["CREATE TEMPORARY TABLE test.u (a INT)"]);
    drop(client);
    client::until(&mut watcher, COUNT, &client::Answer::Rows(vec![vec![Some("0".to_owned())]]));
}

#[test]
fn an_account_may_do_everything_with_its_own() {
    let (server, mut root) = world();
    run(
        &mut root,
        &[
            "CREATE USER maker",
            "CREATE USER reader",
            "GRANT CREATE TEMPORARY TABLES ON test.* TO maker",
            "GRANT SELECT ON test.* TO reader",
        ],
    );
    let mut maker = connect_as(&server, "maker");
    run(
        &mut maker,
        &[
            "CREATE TEMPORARY TABLE test.own (id INT PRIMARY KEY, v INT)",
            "INSERT INTO test.own VALUES (1, 1), (2, 2)",
            "UPDATE test.own SET v = 3 WHERE id = 1",
            "DELETE FROM test.own WHERE id = 2",
            "ALTER TABLE test.own ADD w INT, ADD INDEX (v)",
            "CREATE INDEX w ON test.own (w)",
            "TRUNCATE TABLE test.own",
            "SHOW CREATE TABLE test.own",
            "DESCRIBE test.own",
            "DROP TABLE test.own",
        ],
    );
    assert_eq!(fails(&mut maker, "SELECT * FROM test.t").0, 1142);
    let mut reader = connect_as(&server, "reader");
    assert_eq!(fails(&mut reader, "CREATE TEMPORARY TABLE test.own (id INT)").0, 1044);
}

#[test]
fn a_read_only_server_lets_them_be_changed() {
    let (server, mut root) = world();
    let mut client = server.connect();
    run(&mut root, &["SET GLOBAL super_read_only = ON"]);
    run(
        &mut client,
        &[
            "CREATE TEMPORARY TABLE test.own SELECT id FROM test.t",
            "BEGIN",
            "INSERT INTO test.own VALUES (8)",
            "COMMIT",
            "ALTER TABLE test.own ADD k INT",
            "TRUNCATE TABLE test.own",
            "DROP TABLE test.own",
        ],
    );
    assert_eq!(fails(&mut client, "INSERT INTO test.t VALUES (9)").0, 1290);
    run(&mut root, &["SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF"]);
}
