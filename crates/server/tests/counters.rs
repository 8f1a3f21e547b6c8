//! Counters of the whole process. One test in a process of its own: others would count meanwhile.

mod client;

use client::{Answer, Client, TestServer, error, run, until};

#[test]
fn what_connections_count() {
    flush_status_lets_every_session_count_from_zero();
    clients_that_go_without_a_word_are_counted();
}

fn status(client: &mut Client, name: &str) -> u64 {
    match client.query(name) {
        Answer::Rows(rows) => rows[0][1].as_ref().unwrap().parse().unwrap(),
        other => panic!("{name}: {other:?}"),
    }
}

fn flush_status_lets_every_session_count_from_zero() {
    let server = TestServer::start(&[]);
    let (mut client, mut other) = (server.connect(), server.connect());
    drop(server.connect());
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "CREATE TABLE test.t (a INT PRIMARY KEY)",
            "INSERT INTO test.t VALUES (1), (2)",
        ],
    );
    let selects = "SHOW SESSION STATUS LIKE 'Com_select'";
    let writes = "SHOW SESSION STATUS LIKE 'Handler_write'";
    for _ in 0..3 {
        client.query("SELECT * FROM test.t");
        other.query("SELECT * FROM test.t");
    }
    assert_eq!((status(&mut client, selects), status(&mut client, writes)), (3, 2));
    let everywhere = status(&mut client, "SHOW GLOBAL STATUS LIKE 'Com_select'");
    let gone = Answer::Rows(vec![vec![Some("Threads_connected".into()), Some("2".into())]]);
    until(&mut client, "SHOW STATUS LIKE 'Threads_connected'", &gone);
    assert_eq!(status(&mut client, "SHOW STATUS LIKE 'Max_used_connections'"), 3);
    assert_eq!(client.query("FLUSH STATUS"), Answer::Ok(0));
    assert_eq!((status(&mut client, selects), status(&mut client, writes)), (0, 0));
    assert_eq!(status(&mut other, selects), 0);
    other.query("SELECT * FROM test.t");
    assert_eq!(status(&mut other, selects), 1);
    assert_eq!(status(&mut client, "SHOW GLOBAL STATUS LIKE 'Com_select'"), everywhere + 1);
    assert_eq!(status(&mut client, "SHOW STATUS LIKE 'Max_used_connections'"), 2);
    other.query("SELECT * FROM test.t");
    assert_eq!(client.command(b"\x07\x10").unwrap()[0], 0, "COM_REFRESH");
    assert_eq!(status(&mut other, selects), 0);
}

fn clients_that_go_without_a_word_are_counted() {
    let server = TestServer::start(&[("wait_timeout", "1")]);
    let mut watcher = server.connect();
    watcher.query("SET wait_timeout = 600");
    let aborted = "SHOW STATUS LIKE 'Aborted_clients'";
    let before = status(&mut watcher, aborted);
    let counted = |more: u64| {
        Answer::Rows(vec![vec![Some("Aborted_clients".into()), Some((before + more).to_string())]])
    };
    drop(server.connect());
    until(&mut watcher, aborted, &counted(1));
    let mut silent = server.connect();
    silent.sequence = 0;
    assert!(silent.read().is_some(), "told why it is cut off");
    until(&mut watcher, aborted, &counted(2));
    let mut polite = server.connect();
    polite.sequence = 0;
    polite.write(b"\x01");
    let mut killed = server.connect();
    let id = killed.value("SELECT CONNECTION_ID()");
    watcher.query(&format!("KILL {id}"));
    let alone = Answer::Rows(vec![vec![Some("Threads_connected".into()), Some("1".into())]]);
    until(&mut watcher, "SHOW STATUS LIKE 'Threads_connected'", &alone);
    assert_eq!(watcher.query(aborted), counted(2), "neither who says so nor who is killed");
    // a failed change of user is a failed login
    assert_eq!(
        error(&server.connect().command(b"\x11root\0\x03abc\0").unwrap()),
        Answer::Error(1045, "Access denied for user 'root'@'localhost' (using password: YES)".into())
    );
    until(&mut watcher, "SHOW STATUS LIKE 'Threads_connected'", &alone);
    assert_eq!(watcher.query(aborted), counted(2));
    assert_eq!(status(&mut watcher, "SHOW STATUS LIKE 'Com_admin_commands'"), 0, "its own");
    assert_eq!(status(&mut watcher, "SHOW GLOBAL STATUS LIKE 'Com_admin_commands'"), 1);
}
