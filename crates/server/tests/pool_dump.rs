//! The buffer pool's content is had again after a restart.

mod client;

use std::path::Path;
use std::time::{Duration, Instant};

use client::{Answer, Client, PATIENCE, TestServer, run};

fn status(client: &mut Client, name: &str) -> String {
    let select = "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME";
    client.value(&format!("{select} = '{name}'"))
}

fn wait_for(client: &mut Client, name: &str, words: &str) {
    let begin = Instant::now();
    loop {
        let now = status(client, name);
        if now.contains(words) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{name} is '{now}' and not '{words}'");
        std::thread::sleep(Duration::from_millis(5));
    }
}

const LOAD: &str = "Innodb_buffer_pool_load_status";
const DUMP: &str = "Innodb_buffer_pool_dump_status";

fn start(directory: &Path, more: &[(&str, &str)]) -> TestServer {
    let datadir = ("datadir", directory.to_str().unwrap());
    TestServer::start(&[&[datadir], more].concat())
}

#[test]
fn a_start_reads_what_was_in_memory_and_a_query_finds_it() {
    let directory = tempfile::tempdir().unwrap();
    let server = start(directory.path(), &[("innodb_buffer_pool_dump_pct", "100")]);
    let mut client = server.connect();
    wait_for(&mut client, LOAD, "Cannot open '");
    assert_eq!(status(&mut client, DUMP), "Dumping of buffer pool not started");
    run(&mut client, &["CREATE DATABASE d"]);
    run(&mut client, &["CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(1000))"]);
    for _ in 0..20 {
        run(
            &mut client,
            &["INSERT INTO d.t (v) VALUES (REPEAT('x', 1000)), (REPEAT('y', 1000)), (REPEAT('z', 1000))"],
        );
    }
    drop(client);
    server.stop().unwrap();
    let dump = std::fs::read_to_string(directory.path().join("ib_buffer_pool")).unwrap();
    assert!(dump.lines().count() > 8, "{dump}");

    let server = start(directory.path(), &[]);
    let mut client = server.connect();
    wait_for(&mut client, LOAD, "Buffer pool(s) load completed at ");
    let reads = status(&mut client, "Innodb_buffer_pool_reads");
    assert_eq!(client.value("SELECT SUM(LENGTH(v)) FROM d.t"), "60000");
    assert_eq!(status(&mut client, "Innodb_buffer_pool_reads"), reads, "every page was there");
    drop(client);
    server.stop().unwrap();

    let server = start(directory.path(), &[("innodb_buffer_pool_load_at_startup", "OFF")]);
    let mut client = server.connect();
    let reads = status(&mut client, "Innodb_buffer_pool_reads");
    assert_eq!(client.value("SELECT SUM(LENGTH(v)) FROM d.t"), "60000");
    assert_ne!(status(&mut client, "Innodb_buffer_pool_reads"), reads, "they were to be read");
    assert_eq!(status(&mut client, LOAD), "Loading of buffer pool not started");
}

#[test]
fn dumps_and_loads_are_ordered_and_a_file_that_is_no_dump_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let off = ("innodb_buffer_pool_dump_at_shutdown", "OFF");
    let server = start(directory.path(), &[off]);
    let mut client = server.connect();
    run(&mut client, &["SET GLOBAL innodb_buffer_pool_filename = 'first'"]);
    run(&mut client, &["SET GLOBAL innodb_buffer_pool_dump_now = ON"]);
    assert_eq!(client.value("SELECT @@innodb_buffer_pool_dump_now"), "0");
    wait_for(&mut client, DUMP, "Buffer pool(s) dump completed at ");
    run(&mut client, &["SET GLOBAL innodb_buffer_pool_load_now = ON"]);
    wait_for(&mut client, LOAD, "Buffer pool(s) load completed at ");
    run(&mut client, &["SET GLOBAL innodb_buffer_pool_load_abort = ON"]);
    for name in ["'../first'", "'/tmp/first'", "''", "'.'"] {
        let answer = client.query(&format!("SET GLOBAL innodb_buffer_pool_filename = {name}"));
        assert!(matches!(&answer, Answer::Error(1231, _)), "{name}: {answer:?}");
    }
    let marker = directory.path().join("palisade.data");
    let before = std::fs::read(&marker).unwrap();
    run(&mut client, &["SET GLOBAL innodb_buffer_pool_filename = 'palisade.data'"]);
    run(&mut client, &["SET GLOBAL innodb_buffer_pool_dump_now = ON"]);
    wait_for(&mut client, DUMP, "palisade.data is not replaced: ");
    run(&mut client, &["SET GLOBAL innodb_buffer_pool_load_now = ON"]);
    wait_for(&mut client, LOAD, "Error parsing '");
    drop(client);
    server.stop().unwrap();
    assert_eq!(std::fs::read(&marker).unwrap(), before);
    assert!(directory.path().join("first").exists() && !directory.path().join("ib_buffer_pool").exists());
}
