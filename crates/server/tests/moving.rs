//! Sessions that go from worker to worker: the server of these tests moves one after every command if it can, and all that it
//! has goes with it. (So do the servers of the other tests here; this says what is meant.)

mod client;

use client::{Answer, Client, TestServer, error, run};

fn moved(client: &mut Client) -> u64 {
    match client.query("SHOW GLOBAL STATUS LIKE 'Worker_sessions_moved'") {
        Answer::Rows(rows) => rows[0][1].as_deref().unwrap().parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn server() -> (TestServer, Client) {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    run(&mut client, &["CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))"]);
    (server, client)
}

#[test]
fn what_a_session_has_goes_with_it() {
    let (server, mut client) = server();
    let before = moved(&mut client);
    run(&mut client, &["SET @a = 'mine', sql_mode = '', autocommit = 0", "INSERT INTO t VALUES (1, 'one')"]);
    run(
        &mut client,
        &["SAVEPOINT s", "INSERT INTO t VALUES (2, 'two')", "PREPARE p FROM 'SELECT v FROM t WHERE id = ?'"],
    );
    run(&mut client, &["SET @id = 2"]);
    assert_eq!(client.value("EXECUTE p USING @id"), "two");
    run(&mut client, &["ROLLBACK TO s", "COMMIT"]);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
    assert_eq!(
        client.value("SELECT CONCAT(@a, DATABASE(), @@sql_mode, @@autocommit, CONNECTION_ID() > 0)"),
        "mined01"
    );
    run(&mut client, &["LOCK TABLES t WRITE"]);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "1");
    assert!(matches!(client.query("SELECT * FROM mysql.user"), Answer::Error(1100, _)), "not locked");
    let mut other = server.connect();
    run(&mut other, &["SET lock_wait_timeout = 1"]);
    assert!(matches!(other.query("SELECT * FROM d.t"), Answer::Error(1205, _)));
    run(&mut client, &["UNLOCK TABLES"]);
    assert_eq!(other.value("SELECT v FROM d.t"), "one");
    assert!(moved(&mut client) >= before + 5, "it was moved");
}

#[test]
fn a_cursor_goes_on_where_it_was() {
    let (_server, mut client) = server();
    run(&mut client, &["INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')"]);
    let id = client.prepare("SELECT v FROM t ORDER BY id").unwrap();
    // read-only cursor
    let execute = [&[0x17][..], &id.to_le_bytes(), &[1, 1, 0, 0, 0]].concat();
    assert_eq!(client.command(&execute).unwrap(), [1], "one column");
    client.read().unwrap();
    assert_eq!(client.read().unwrap()[0], 0xfe);
    let fetch = [&[0x1c][..], &id.to_le_bytes(), &1u32.to_le_bytes()].concat();
    for expected in [b"a", b"b", b"c"] {
        let row = client.command(&fetch).unwrap();
        assert_eq!(row, [b"\0\0\x01", &expected[..]].concat());
        assert_eq!(client.read().unwrap()[0], 0xfe);
    }
}

#[test]
fn a_session_is_killed_wherever_it_is() {
    let (server, mut client) = server();
    for _ in 0..20 {
        let mut victim = server.connect();
        let id = victim.value("SELECT CONNECTION_ID()");
        assert_eq!(client.query(&format!("KILL {id}")), Answer::Ok(0));
        // It may have been about to move.
        assert!(victim.read().is_none(), "closed");
        client::until(
            &mut client,
            &format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {id}"),
            &Answer::Rows(vec![vec![Some("0".to_owned())]]),
        );
    }
}

#[test]
fn what_a_client_sends_ahead_of_its_answers_arrives() {
    let (_server, mut client) = server();
    client.sequence = 0;
    for number in 0..50 {
        client.sequence = 0;
        client.write(format!("\x03INSERT INTO t VALUES ({number}, '')").as_bytes());
    }
    for _ in 0..50 {
        client.sequence = 1;
        assert_eq!(client.answer(), Answer::Ok(1));
    }
    client.sequence = 0;
    client.write(&[0xee]);
    assert!(matches!(error(&client.read().unwrap()), Answer::Error(1047, _)));
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "50");
}

#[test]
fn sessions_stay_whole_where_the_operating_system_leads_them() {
    let server = TestServer::start_settled(&[]);
    let mut client = server.connect();
    run(&mut client, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)"]);
    let threads: Vec<_> = (0..6)
        .map(|row| {
            let mut own = server.connect();
            std::thread::spawn(move || {
                run(&mut own, &[&format!("INSERT INTO d.t VALUES ({row}, 0)")]);
                for _ in 0..200 {
                    run(&mut own, &[&format!("UPDATE d.t SET n = n + 1 WHERE id = {row}")]);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(client.value("SELECT COUNT(*) FROM d.t WHERE n = 200"), "6");
}
