//! However the lab ends, it leaves no process and no data behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use palisade_lab::process::lives;
use rustix::process::{Pid, Signal, kill_process};

/// Waits for something that will be, however long this machine takes.
fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        match look() {
            Some(found) => return found,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// A lab that waits for a server which never gets ready.
struct Waiting {
    lab: Child,
    /// The process that the server's program has started.
    grandchild: u32,
    folder: tempfile::TempDir,
}

impl Waiting {
    fn new() -> Waiting {
        let folder = tempfile::tempdir().expect("a folder");
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let mut path = vec![fixtures.join("tools")];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let said = fs::File::create(folder.path().join("said")).expect("a file");
        let work = folder.path().join("work");
        fs::create_dir(&work).expect("a folder");
        let lab = Command::new(env!("CARGO_BIN_EXE_palisade-lab"))
            .args(["run", "hot-rows", "--server", "a=spawn", "--palisade-binary"])
            .arg(fixtures.join("never-ready"))
            .arg("--work-dir")
            .arg(&work)
            .arg("--output")
            .arg(folder.path().join("output"))
            .env("PATH", std::env::join_paths(path).expect("a path"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .expect("the lab starts");
        let grandchild = eventually(|| {
            let own = entries(&work).into_iter().next()?;
            let log = fs::read_to_string(own.join("a/error.log")).ok()?;
            log.split_once("sleeping as ")?.1.split_once(';')?.0.parse().ok()
        });
        assert!(lives(grandchild));
        Waiting { lab, grandchild, folder }
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.lab.id()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, signal).expect("it runs");
    }

    /// Waits until the lab has ended, and everything else with it; what the lab said.
    fn end(mut self) -> String {
        assert!(!self.lab.wait().expect("it was started here").success());
        eventually(|| (!lives(self.grandchild)).then_some(()));
        eventually(|| entries(&self.folder.path().join("work")).is_empty().then_some(()));
        fs::read_to_string(self.folder.path().join("said")).expect("what it said")
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect()
}

#[test]
fn an_interrupted_lab_stops_a_server_that_it_waits_for() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let waiting = Waiting::new();
        waiting.signal(signal);
        let output = waiting.folder.path().join("output");
        let said = waiting.end();
        assert!(said.contains("palisade-lab: interrupted"), "{said}");
        assert!(!output.exists(), "nothing was measured");
    }
}

#[test]
fn what_a_killed_lab_has_started_goes_with_it() {
    let waiting = Waiting::new();
    waiting.signal(Signal::KILL);
    assert_eq!(waiting.end(), "");
}
