//! A full disk, by SQL: DELETE, TRUNCATE TABLE and DROP TABLE make room, and what is inserted then uses it.

mod client;

use std::sync::Arc;
use std::time::{Duration, Instant};

use client::process::{LoopDisk, Process};
use client::{Answer, Client, PATIENCE, TestServer, number, run};
use palisade_io::FaultFileSystem;

/// Rows that a statement inserts or deletes.
const BATCH: u64 = 100;

/// Inserts until the table is full. Gives how many rows there are.
fn fill(client: &mut Client, most: u64) -> u64 {
    let rows: Vec<_> = (0..BATCH).map(|_| "(REPEAT('x', 3500), 1)").collect();
    let insert = format!("INSERT INTO d.t (v, k) VALUES {}", rows.join(","));
    let mut inserted = 0;
    loop {
        match client.query(&insert) {
            Answer::Ok(BATCH) => inserted += BATCH,
            Answer::Error(code, text) => {
                assert_eq!((code, &*text), (1114, "The table 't' is full"));
                return inserted;
            }
            other => panic!("{other:?}"),
        }
        assert!(inserted < most, "the disk is never full");
    }
}

/// Deletes all rows, some at a time.
fn delete_all(client: &mut Client) {
    let delete = format!("DELETE FROM d.t ORDER BY id LIMIT {BATCH}");
    while match client.query(&delete) {
        Answer::Ok(rows) => rows > 0,
        other => panic!("{other:?}"),
    } {}
}

/// Inserts so many rows as there were, as soon as purge has passed by.
fn fill_again(client: &mut Client, rows: u64) {
    let give_up = Instant::now() + PATIENCE;
    let mut inserted = 0;
    while inserted < rows {
        inserted += fill(client, u64::MAX);
        assert!(Instant::now() < give_up, "{inserted} of {rows} rows have room");
        std::thread::sleep(Duration::from_millis(20));
    }
}

const TABLES: [&str; 5] = [
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(4000), k INT, KEY (k))",
    "CREATE TABLE d.parent (id INT PRIMARY KEY)",
    "CREATE TABLE d.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.parent (id) ON DELETE CASCADE)",
    "CREATE TABLE d.other (id INT PRIMARY KEY, v LONGTEXT)",
];

#[test]
fn deletes_truncates_and_drops_go_on_and_their_room_is_used() {
    let disk = Arc::new(FaultFileSystem::new(83));
    let server = TestServer::start_on(disk.clone(), &[("palisade_undo_reserve_size", "4194304")]);
    let mut client = server.connect();
    run(&mut client, &TABLES);
    for id in 0..100 {
        run(
            &mut client,
            &[
                &format!("INSERT INTO d.parent VALUES ({id})"),
                &format!("INSERT INTO d.child VALUES ({id}, {id})"),
                &format!("INSERT INTO d.other VALUES ({id}, REPEAT('y', 40000))"),
            ],
        );
    }
    disk.limit_space(Some(disk.used_space() + (4 << 20)));
    let rows = fill(&mut client, 100_000);
    assert!(rows > 300, "{rows}");
    assert_eq!(client.query("DELETE FROM d.parent"), Answer::Ok(100));
    assert_eq!(client.value("SELECT COUNT(*) FROM d.child"), "0");
    assert_eq!(client.query("DELETE FROM d.other WHERE id < 50"), Answer::Ok(50));
    delete_all(&mut client);
    fill_again(&mut client, rows);

    // What is left of the disk would do for an empty table.
    disk.limit_space(Some(disk.used_space()));
    assert_eq!(number(&client.query("CREATE TABLE d.new (id INT)")), 1114);
    for table in ["d.child", "d.t", "d.other", "d.t"] {
        assert_eq!(client.query(&format!("TRUNCATE TABLE {table}")), Answer::Ok(0), "{table}");
    }
    assert!(fill(&mut client, 100_000) > 300);
    for table in ["d.child", "d.parent", "d.other", "d.t"] {
        assert_eq!(client.query(&format!("DROP TABLE {table}")), Answer::Ok(0), "{table}");
    }
    assert_eq!(client.query("CREATE TABLE d.new (id INT)"), Answer::Ok(0));
    assert_eq!(client.query("INSERT INTO d.new VALUES (1)"), Answer::Ok(1));
}

const OPTIONS: [&str; 3] = [
    "--innodb-page-cleaners=1",
    "--innodb-redo-log-capacity=8388608",
    "--palisade-undo-reserve-size=4194304",
];

/// Fills the server's disk, empties it by deleting, and again by truncating and dropping.
fn fill_and_empty(server: Process) {
    let mut client = server.connect();
    run(&mut client, &TABLES);
    let rows = fill(&mut client, 1_000_000);
    assert!(rows > 300, "{rows}");
    delete_all(&mut client);
    fill_again(&mut client, rows);
    assert_eq!(client.query("TRUNCATE TABLE d.t"), Answer::Ok(0));
    assert!(fill(&mut client, 1_000_000) > 300);
    assert_eq!(client.query("DROP TABLE d.t"), Answer::Ok(0));
    assert_eq!(client.query("CREATE TABLE d.new (id INT)"), Answer::Ok(0));
    let (status, lines) = server.terminate();
    assert!(status.success(), "{lines:?}");
}

#[test]
fn a_small_file_system_that_is_full_is_emptied_by_deleting() {
    let dir = tempfile::tempdir().unwrap();
    match Process::start_on_small_disk(dir.path(), 80, &OPTIONS) {
        Some(server) => fill_and_empty(server),
        None => println!("skipped: no file system can be mounted here"),
    }
}

#[test]
fn a_full_ext4_is_emptied_by_deleting() {
    on_loop_device("ext4");
}

#[test]
fn a_full_xfs_is_emptied_by_deleting() {
    on_loop_device("xfs");
}

fn on_loop_device(kind: &str) {
    let dir = tempfile::tempdir().unwrap();
    match LoopDisk::new(kind, dir.path(), 80) {
        Ok(disk) => fill_and_empty(disk.start(&OPTIONS)),
        Err(reason) => println!("skipped: {reason}"),
    }
}
