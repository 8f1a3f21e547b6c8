//! The log's disk fails under a server: nobody is answered any more, the process ends, and the next one has all that was
//! acknowledged.
//!
//! The server that fails is in a process of its own: this program again, with [`FAULT`] set. Its clients tell what was
//! acknowledged on standard output.

mod client;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use client::{Answer, Client, PATIENCE, TestServer};
use palisade_io::{File, OsFileSystem, Overlay, OverlayFileSystem};

/// Which call fails, as `sync 3` or `write 5`: counted from when the clients begin.
const FAULT: &str = "PALISADE_TEST_FAULT";
/// Where the data of the server that fails is.
const DATA: &str = "PALISADE_TEST_DATA";
/// Its `innodb_log_writer_threads`.
const MODE: &str = "PALISADE_TEST_MODE";
const CLIENTS: u32 = 3;

/// A disk that fails one call for a file of the log, and loses what it was not made to keep before.
#[derive(Default)]
struct Failing(Mutex<State>);

#[derive(Default)]
struct State {
    /// Calls left until the one that fails.
    planned: Option<(&'static str, u32)>,
    /// Places written to since the last sync, by file.
    pending: BTreeMap<usize, Vec<(u64, usize)>>,
}

impl State {
    fn is_now(&mut self, call: &str) -> bool {
        match &mut self.planned {
            Some((planned, left)) if *planned == call => {
                *left -= 1;
                *left == 0
            }
            _ => false,
        }
    }
}

fn is_log(path: &Path) -> bool {
    path.parent().is_some_and(|dir| dir.ends_with("#log"))
}

fn address(file: &dyn File) -> usize {
    std::ptr::from_ref(file).cast::<()>() as usize
}

impl Overlay for Failing {
    fn write_at(&self, path: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        if is_log(path) {
            let mut state = self.0.lock().unwrap();
            if state.is_now("write") {
                return Err(io::Error::from_raw_os_error(5));
            }
            state.pending.entry(address(file)).or_default().push((offset, bytes.len()));
        }
        file.write_at(bytes, offset)
    }

    fn sync(&self, path: &Path, file: &dyn File) -> io::Result<()> {
        if is_log(path) {
            let mut state = self.0.lock().unwrap();
            let lost = state.pending.remove(&address(file)).unwrap_or_default();
            if state.is_now("sync") {
                for (offset, len) in lost {
                    file.write_at(&vec![0; len], offset)?;
                }
                return Err(io::Error::from_raw_os_error(5));
            }
        }
        file.sync()
    }
}

/// The server that fails; does nothing where no other process has asked for it.
#[test]
fn server_of_another_process() {
    let Ok(fault) = std::env::var(FAULT) else { return };
    let (call, nth) = fault.split_once(' ').unwrap();
    let call = ["sync", "write"].into_iter().find(|known| *known == call).unwrap();
    let variable = |name: &str| std::env::var(name).unwrap();
    let disk = Arc::new(OverlayFileSystem::new(Arc::new(OsFileSystem::new()), Failing::default()));
    let (data, mode) = (variable(DATA), variable(MODE));
    let options = [
        ("datadir", data.as_str()),
        ("innodb_flush_method", "fsync"),
        ("innodb_log_writer_threads", mode.as_str()),
    ];
    let server = TestServer::start_on(disk.clone(), &options);
    client::run(&mut server.connect(), &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    disk.overlay().0.lock().unwrap().planned = Some((call, nth.parse().unwrap()));
    for number in 0..CLIENTS {
        let mut client = server.connect();
        std::thread::spawn(move || {
            for id in (number..).step_by(CLIENTS as usize) {
                if client.query(&format!("INSERT INTO d.t VALUES ({id})")) != Answer::Ok(1) {
                    return;
                }
                println!("acknowledged {id}");
            }
        });
    }
    // Long before, the process should have ended.
    std::thread::sleep(3 * PATIENCE);
    std::process::exit(7);
}

/// What was acknowledged by a server that failed in this way.
fn fail(data: &Path, fault: &str, mode: &str) -> BTreeSet<u32> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "server_of_another_process", "--nocapture"])
        .envs([(FAULT, fault), (MODE, mode)])
        .env(DATA, data)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(6), "{fault}, {mode}: {:?}: {complaints}", output.status);
    let said = complaints.contains("palisade: redo log: cannot ") && complaints.contains("aborting");
    assert!(said, "{fault}, {mode}: {complaints}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let numbers = printed.lines().filter_map(|line| line.strip_prefix("acknowledged "));
    numbers.map(|number| number.parse().unwrap()).collect()
}

fn found(client: &mut Client) -> BTreeSet<u32> {
    match client.query("SELECT id FROM d.t") {
        Answer::Rows(rows) => rows.iter().map(|row| row[0].as_deref().unwrap().parse().unwrap()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failed_sync_or_write_of_the_log_ends_the_process_and_the_next_has_all_that_was_acknowledged() {
    for (fault, mode) in [
        ("sync 1", "OFF"),
        ("sync 1", "ON"),
        ("sync 12", "OFF"),
        ("sync 13", "ON"),
        ("sync 14", "AUTO"),
        ("write 9", "ON"),
        ("write 10", "OFF"),
    ] {
        let place = tempfile::tempdir().unwrap();
        let data: PathBuf = place.path().join("data");
        std::fs::create_dir_all(&data).unwrap();
        let acknowledged = fail(&data, fault, mode);
        assert!(fault.ends_with(" 1") || !acknowledged.is_empty(), "{fault}, {mode}: nothing was tested");
        let server = TestServer::start(&[("datadir", data.to_str().unwrap())]);
        let mut client = server.connect();
        let found = found(&mut client);
        let lost: Vec<_> = acknowledged.difference(&found).collect();
        assert!(lost.is_empty(), "{fault}, {mode}: {lost:?} of {acknowledged:?} are lost");
        assert_eq!(client.query("INSERT INTO d.t VALUES (-1)"), Answer::Ok(1), "the server goes on");
    }
}
