//! What a client sees when the disk fails.

mod client;

use client::{Answer, Client, TestServer};
use palisade_io::FaultFileSystem;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PAGE: usize = 16 << 10;

fn number(answer: &Answer) -> Option<u16> {
    match answer {
        Answer::Error(number, _) => Some(*number),
        _ => None,
    }
}

/// The files that pages are in.
fn spaces(datadir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(datadir.join("spaces")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|kind| kind == "pal")).collect()
}

/// A server with the table `d.good` and another one, a client of it, and the other table's file.
fn server_with_two_tables(other: &str) -> (TestServer, Client, PathBuf) {
    let server = TestServer::start(&[]);
    let datadir = server.dir.path().join("data");
    let mut client = server.connect();
    for statement in ["CREATE DATABASE d", "CREATE TABLE d.good (id INT PRIMARY KEY)"] {
        assert!(number(&client.query(statement)).is_none());
    }
    let before = spaces(&datadir);
    assert_eq!(client.query(&format!("CREATE TABLE {other}")), Answer::Ok(0));
    let own: Vec<PathBuf> = spaces(&datadir).into_iter().filter(|path| !before.contains(path)).collect();
    let [file] = own.as_slice() else { panic!("a table has one file of pages: {own:?}") };
    (server, client, file.clone())
}

/// Stops the server. Where its data directory is then, in a folder that is gone with the first value, and where `file` is.
fn stopped_and_moved(server: TestServer, file: &Path) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let datadir = server.dir.path().join("data");
    let kept = tempfile::tempdir().unwrap();
    let target = kept.path().join("data");
    let file = target.join(file.strip_prefix(&datadir).unwrap());
    assert_eq!(server.stop_and_move(&datadir, &target), Ok(()));
    (kept, target, file)
}

#[test]
fn a_flipped_bit_is_an_error_that_names_the_page_and_other_tables_work() {
    let (server, mut client, file) = server_with_two_tables("d.bad (id INT PRIMARY KEY, v VARCHAR(200))");
    for table in ["d.good (id)", "d.bad (id)"] {
        let rows: Vec<String> = (0..200).map(|id| format!("({id})")).collect();
        assert_eq!(client.query(&format!("INSERT INTO {table} VALUES {}", rows.join(","))), Answer::Ok(200));
    }
    drop(client);
    let (_kept, target, file) = stopped_and_moved(server, &file);
    let mut bytes = fs::read(&file).unwrap();
    // All pages but that with the number 0.
    for page in bytes.chunks_mut(PAGE).filter(|page| page[4..8] != [0; 4]) {
        page[PAGE / 2] ^= 4;
    }
    fs::write(&file, bytes).unwrap();

    let server = TestServer::start(&[("datadir", target.to_str().unwrap())]);
    let mut client = server.connect();
    match client.query("SELECT * FROM d.bad") {
        Answer::Error(_, text) => {
            assert!(
                text.starts_with("page ") && text.contains(":1 is corrupted"),
                "the space, the page: {text}"
            )
        }
        other => panic!("{other:?}"),
    }
    assert!(number(&client.query("INSERT INTO d.bad VALUES (1000, 'x')")).is_some());
    assert_eq!(client.value("SELECT COUNT(*) FROM d.good"), "200");
    assert_eq!(client.query("INSERT INTO d.good VALUES (1000)"), Answer::Ok(1));
}

#[test]
fn a_table_whose_file_is_missing_is_1812_and_can_be_dropped_and_other_tables_work() {
    let (server, mut client, file) = server_with_two_tables("d.lost (id INT PRIMARY KEY)");
    assert_eq!(client.query("INSERT INTO d.good VALUES (1)"), Answer::Ok(1));
    drop(client);
    let (_kept, target, file) = stopped_and_moved(server, &file);
    fs::remove_file(&file).unwrap();

    let server = TestServer::start(&[("datadir", target.to_str().unwrap())]);
    let mut client = server.connect();
    let missing = Answer::Error(1812, "Tablespace is missing for table `d`.`lost`.".to_owned());
    for statement in [
        "SELECT * FROM d.lost",
        "SELECT * FROM d.lost WHERE id = 1",
        "SELECT * FROM d.lost FOR UPDATE",
        "INSERT INTO d.lost VALUES (1)",
        "UPDATE d.lost SET id = 2",
        "DELETE FROM d.lost",
        "ALTER TABLE d.lost ADD COLUMN x INT",
        "ALTER TABLE d.lost ADD INDEX (id)",
        "CREATE TABLE d.copy SELECT * FROM d.lost",
    ] {
        assert_eq!(client.query(statement), missing, "{statement}");
    }
    let checked = format!("{:?}", client.query("CHECK TABLE d.lost"));
    assert!(checked.contains("Tablespace is missing for table `d`.`lost`."), "{checked}");
    let tables =
        "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd' AND table_rows >= 0";
    assert_eq!(client.value(tables), "2");
    assert_eq!(client.value("SELECT COUNT(*) FROM d.good"), "1");
    assert_eq!(client.query("DROP TABLE d.lost"), Answer::Ok(0));
    assert_eq!(client.query("CREATE TABLE d.lost (id INT PRIMARY KEY)"), Answer::Ok(0));
    assert_eq!(client.query("INSERT INTO d.lost VALUES (1)"), Answer::Ok(1));
}

#[test]
fn a_full_disk_fails_the_statement_and_the_server_goes_on_when_there_is_space() {
    let disk = Arc::new(FaultFileSystem::new(81));
    let server = TestServer::start_on(disk.clone(), &[]);
    let mut client = server.connect();
    for statement in ["CREATE DATABASE d", "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v LONGTEXT)"]
    {
        assert!(number(&client.query(statement)).is_none());
    }
    let insert = "INSERT INTO d.t (v) VALUES (REPEAT('x', 200000))";
    assert_eq!(client.query(insert), Answer::Ok(1));
    disk.limit_space(Some(0));
    let mut inserted = 1;
    let failed = loop {
        match client.query(insert) {
            Answer::Ok(1) => inserted += 1,
            other => break number(&other),
        }
        assert!(inserted < 2000, "the disk is never full");
    };
    assert!(matches!(failed, Some(1114 | 1021)), "{failed:?}");
    // what does not need space works, and nothing of the failed row is there
    assert_eq!(client.value("SELECT COUNT(*) FROM d.t"), inserted.to_string());
    assert!(matches!(
        number(&client.query("CREATE TABLE d.u (id INT PRIMARY KEY)")),
        Some(1114 | 1021 | 1005)
    ));
    disk.limit_space(None);
    assert_eq!(client.query(insert), Answer::Ok(1));
    assert_eq!(client.query("CREATE TABLE d.u (id INT PRIMARY KEY)"), Answer::Ok(0));
    assert_eq!(client.value("SELECT COUNT(*) FROM d.t"), (inserted + 1).to_string());
}

/// A row that was made shorter has to grow again when that is undone, and others have taken its place meanwhile.
#[test]
fn a_rollback_that_finds_the_disk_full_is_finished_when_there_is_space() {
    const ROWS: u32 = 50;
    for undo in ["ROLLBACK", "ROLLBACK TO s"] {
        let disk = Arc::new(FaultFileSystem::new(82));
        let server = TestServer::start_on(disk.clone(), &[]);
        let (mut client, mut other) = (server.connect(), server.connect());
        for statement in ["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(3000))"] {
            assert!(number(&client.query(statement)).is_none());
        }
        for row in 0..ROWS {
            let insert = format!("INSERT INTO d.t VALUES ({}, REPEAT('x', 3000))", row * 100);
            assert_eq!(client.query(&insert), Answer::Ok(1));
        }
        let begin = ["SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN"];
        for statement in begin.into_iter().chain(["INSERT INTO d.t VALUES (-1, 'marker')", "SAVEPOINT s"]) {
            assert!(number(&client.query(statement)).is_none());
        }
        assert_eq!(client.query("UPDATE d.t SET v = '' WHERE id >= 0"), Answer::Ok(ROWS.into()));
        disk.limit_space(Some(0));
        let mut id = 0;
        let mut was_inserted = true;
        while std::mem::take(&mut was_inserted) {
            id += 1;
            assert!(id < 100, "the disk is never full");
            for row in 0..ROWS {
                let insert = format!("INSERT INTO d.t VALUES ({}, REPEAT('y', 500))", row * 100 + id);
                was_inserted |= other.query(&insert) == Answer::Ok(1);
            }
        }
        let failed = number(&client.query(undo));
        assert!(matches!(failed, Some(1114 | 1021)), "{undo}: {failed:?}");
        // The session has no transaction any more, and goes on.
        assert_eq!(client.query("COMMIT"), Answer::Ok(0));
        assert_eq!(client.value("SELECT COUNT(*) FROM d.t WHERE id = -1"), "0", "{undo}");
        let whole = "SELECT SUM(LENGTH(v)) FROM d.t WHERE id % 100 = 0";
        let expected = (ROWS * 3000).to_string();
        assert_eq!(client.value(whole), expected, "{undo}");
        disk.limit_space(None);
        // Its rows stay locked until it is undone.
        assert_eq!(client.value(&format!("{whole} FOR UPDATE")), expected, "{undo}");
        assert_eq!(client.query("DELETE FROM d.t WHERE id = 0"), Answer::Ok(1));
    }
}
