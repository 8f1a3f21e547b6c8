//! LOAD DATA LOCAL: the client is asked for a file, sends it, and hears what has become of it.

mod client;

use client::{Answer, CAPABILITIES, Client, TestServer, error, run, until};

/// CLIENT_LOCAL_FILES.
const LOCAL_FILES: u32 = 1 << 7;
const LOAD: &str = "LOAD DATA LOCAL INFILE 'wanted' INTO TABLE test.t";

fn connect(server: &TestServer) -> Client {
    let mut client = server.connect_raw();
    assert_eq!(client.login("root", b"", CAPABILITIES | LOCAL_FILES)[0], 0);
    client
}

fn prepared(server: &TestServer) -> Client {
    let mut client = connect(server);
    run(&mut client, &["CREATE DATABASE test", "CREATE TABLE test.t (a INT PRIMARY KEY, b TEXT)"]);
    client
}

/// Sends the statement; the client is asked for the file.
fn ask(client: &mut Client, statement: &str) {
    client.send(statement);
    assert_eq!(client.read().unwrap(), b"\xfbwanted");
}

#[test]
fn a_file_comes_in_as_many_packets_as_the_client_likes() {
    let server = TestServer::start(&[("local_infile", "ON")]);
    let mut client = prepared(&server);
    ask(&mut client, LOAD);
    for part in ["1\to", "ne\n2\ttwo\n", "3\tth", "ree"] {
        client.write(part.as_bytes());
    }
    client.write(b"");
    assert_eq!(client.answer(), Answer::Ok(3));
    assert_eq!(client.value("SELECT GROUP_CONCAT(a, b ORDER BY a) FROM test.t"), "1one,2two,3three");
    // one that it cannot read is empty
    ask(&mut client, LOAD);
    client.write(b"");
    assert_eq!(client.answer(), Answer::Ok(0));
    // an error is told when all of the file has come; what is wrong with a row is a warning
    ask(&mut client, &LOAD.replace("INTO", "REPLACE INTO"));
    client.write(b"4\tfour\n");
    client.write(b"x\tbad\n");
    client.write(b"5\tfive\n");
    client.write(b"");
    assert!(matches!(client.answer(), Answer::Error(1366, _)));
    ask(&mut client, LOAD);
    client.write(b"1\tagain\nx\tbad\n");
    client.write(b"");
    assert_eq!(client.answer(), Answer::Ok(1));
    assert_eq!(client.value("SELECT GROUP_CONCAT(a ORDER BY a) FROM test.t"), "0,1,2,3");
}

#[test]
fn nothing_is_asked_for_unless_both_sides_allow_it() {
    let server = TestServer::start(&[]);
    let mut client = prepared(&server);
    let refused = "Loading local data is disabled; this must be enabled on both the client and server sides";
    assert_eq!(client.query(LOAD), Answer::Error(3948, refused.into()));
    run(&mut client, &["SET GLOBAL local_infile = ON"]);
    assert_eq!(
        server.connect().query(LOAD),
        Answer::Error(3948, refused.into()),
        "the client did not say so"
    );
    assert!(matches!(client.query(&LOAD.replace("test.t", "test.u")), Answer::Error(1146, _)));
    ask(&mut client, LOAD);
    client.write(b"");
    assert_eq!(client.answer(), Answer::Ok(0));
}

#[test]
fn a_client_that_goes_or_is_killed_leaves_nothing() {
    let server = TestServer::start(&[("local_infile", "ON"), ("net_read_timeout", "1")]);
    let mut watcher = prepared(&server);
    let alone = Answer::Rows(vec![vec![Some("Threads_connected".into()), Some("1".into())]]);
    let count = |watcher: &mut Client| watcher.value("SELECT COUNT(*) FROM test.t");
    let mut gone = connect(&server);
    ask(&mut gone, LOAD);
    gone.write(b"1\tone\n");
    drop(gone);
    until(&mut watcher, "SHOW STATUS LIKE 'Threads_connected'", &alone);
    assert_eq!(count(&mut watcher), "0");
    let mut silent = connect(&server);
    ask(&mut silent, LOAD);
    silent.write(b"1\tone\n");
    until(&mut watcher, "SHOW STATUS LIKE 'Threads_connected'", &alone);
    assert_eq!(count(&mut watcher), "0", "one that says nothing for net_read_timeout");
    let mut killed = connect(&server);
    let id = killed.value("SELECT CONNECTION_ID()");
    ask(&mut killed, LOAD);
    killed.write(b"1\tone\n");
    run(&mut watcher, &[&format!("KILL {id}")]);
    until(&mut watcher, "SHOW STATUS LIKE 'Threads_connected'", &alone);
    assert_eq!(count(&mut watcher), "0");
    let mut hasty = connect(&server);
    ask(&mut hasty, LOAD);
    hasty.write(b"1\tone\n");
    hasty.sequence = 99;
    hasty.write(b"out of order");
    until(&mut watcher, "SHOW STATUS LIKE 'Threads_connected'", &alone);
    assert_eq!(count(&mut watcher), "0");
    assert_eq!(error(&watcher.command(b"\x63").unwrap()), Answer::Error(1047, "Unknown command".into()));
}
