//! `palisade_durable_reads`: an answer waits until all that its statement can have read is durable.
//!
//! The test holds the log's syncs back: a commit is then in the log's memory, and its rows can be read, but
//! it is not acknowledged, and a crash would take it back.

mod client;

use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use client::{Answer, TestServer, number, run, until};
use palisade_io::{File, OsFileSystem, Overlay, OverlayFileSystem};

/// A disk whose syncs of the log wait while it is closed.
#[derive(Default)]
struct Gate {
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn close(&self) {
        *self.is_closed.lock().unwrap() = true;
    }

    fn open(&self) {
        *self.is_closed.lock().unwrap() = false;
        self.opened.notify_all();
    }
}

impl Overlay for Gate {
    fn sync(&self, path: &Path, file: &dyn File) -> io::Result<()> {
        if path.parent().is_some_and(|dir| dir.ends_with("#log")) {
            let closed = self.is_closed.lock().unwrap();
            drop(self.opened.wait_while(closed, |closed| *closed).unwrap());
        }
        file.sync()
    }
}

fn rows(value: &str) -> Answer {
    Answer::Rows(vec![vec![Some(value.to_owned())]])
}

/// So long an answer that waits is looked for. One that does not wait comes within a few milliseconds.
const WHILE: Duration = Duration::from_millis(300);

#[test]
fn an_answer_waits_for_the_log_and_only_where_it_is_asked_to() {
    let disk = Arc::new(OverlayFileSystem::new(Arc::new(OsFileSystem::new()), Gate::default()));
    // The log's own threads sync: a worker that synced itself would stand still with the gate closed.
    let options = [("innodb_log_writer_threads", "ON"), ("innodb_flush_method", "fsync")];
    let server = TestServer::start_on(disk.clone(), &options);
    let (mut writer, mut careless) = (server.connect(), server.connect());
    run(&mut writer, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)"]);
    run(&mut writer, &["INSERT INTO d.t VALUES (1, 10)"]);
    let on = "SET SESSION palisade_durable_reads = ON";
    let careful = [
        ("SELECT n FROM d.t WHERE id = 1", rows("11")),
        ("SELECT n FROM d.t WHERE id = 1 FOR SHARE", rows("11")),
        ("START TRANSACTION WITH CONSISTENT SNAPSHOT; SELECT n FROM d.t", Answer::Ok(0)),
    ]
    .map(|(text, expected)| {
        let mut client = server.connect();
        run(&mut client, &[on]);
        (client, text, expected)
    });
    let mut duplicate = server.connect();
    run(&mut duplicate, &[on]);
    let mut in_one_packet = server.connect();

    disk.overlay().close();
    writer.send("UPDATE d.t SET n = 11 WHERE id = 1");
    // InnoDB's behaviour: the row can be read though the commit is not acknowledged.
    until(&mut careless, "SELECT n FROM d.t WHERE id = 1", &rows("11"));
    let mut waiting = careful;
    for (client, text, _) in &mut waiting {
        client.send(text);
    }
    // The error tells of a row, too.
    duplicate.send("INSERT INTO d.t VALUES (1, 12)");
    in_one_packet.send("SET palisade_durable_reads = ON; SELECT n FROM d.t WHERE id = 1");
    std::thread::sleep(WHILE);
    assert!(!writer.has_answer(), "the commit is not acknowledged");
    for (client, text, _) in &waiting {
        assert!(!client.has_answer(), "{text}");
    }
    assert!(!duplicate.has_answer() && !in_one_packet.has_answer());
    assert_eq!(careless.query("SELECT n FROM d.t WHERE id = 1"), rows("11"), "the others go on");

    disk.overlay().open();
    assert_eq!(writer.answer(), Answer::Ok(1));
    for (client, text, expected) in &mut waiting {
        assert_eq!(client.answer(), *expected, "{text}");
    }
    assert_eq!(number(&duplicate.answer()), 1062);
    assert_eq!((in_one_packet.answer(), in_one_packet.answer()), (Answer::Ok(0), rows("11")));
}

#[test]
fn a_session_that_waits_for_the_log_can_be_killed() {
    let disk = Arc::new(OverlayFileSystem::new(Arc::new(OsFileSystem::new()), Gate::default()));
    let options = [("innodb_log_writer_threads", "ON"), ("innodb_flush_method", "fsync")];
    let server = TestServer::start_on(disk.clone(), &options);
    let (mut writer, mut reader, mut killer) = (server.connect(), server.connect(), server.connect());
    run(&mut writer, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    run(&mut reader, &["SET palisade_durable_reads = ON"]);
    let id = reader.value("SELECT CONNECTION_ID()");
    disk.overlay().close();
    writer.send("INSERT INTO d.t VALUES (1)");
    until(&mut killer, "SELECT id FROM d.t", &rows("1"));
    reader.send("SELECT id FROM d.t");
    std::thread::sleep(WHILE);
    assert_eq!(killer.query(&format!("KILL {id}")), Answer::Ok(0));
    assert_eq!(reader.read(), None, "the connection ends without an answer");
    disk.overlay().open();
    assert_eq!(writer.answer(), Answer::Ok(1));
}
