//! The server as a process of its own, which can be killed.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use super::{CAPABILITIES, Client};

/// See the module.
pub struct Process {
    child: Child,
    address: SocketAddr,
    /// What it prints after it is ready.
    lines: Receiver<String>,
}

impl Process {
    /// Starts it over `datadir` with these options.
    pub fn start(datadir: &Path, options: &[&str]) -> Process {
        Process::start_in(datadir, options, &[])
    }

    /// The same, with variables of its environment.
    pub fn start_in(datadir: &Path, options: &[&str], environment: &[(&str, &str)]) -> Process {
        Process::run(Command::new(env!("CARGO_BIN_EXE_palisade")), datadir, options, environment)
    }

    /// Starts it over an empty disk of `mib` MiB that is mounted at `datadir` for it alone and is gone when
    /// it ends. `None` where the machine does not allow that.
    pub fn start_on_small_disk(datadir: &Path, mib: u32, options: &[&str]) -> Option<Process> {
        let mount = format!("mount -t tmpfs -o size={mib}m none \"$0\"");
        let unshared = |script: &str| {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(datadir);
            command
        };
        let probe = unshared(&mount).stderr(Stdio::null()).status();
        if !probe.is_ok_and(|status| status.success()) {
            return None;
        }
        let mut command = unshared(&format!("{mount} && exec \"$@\""));
        command.arg(env!("CARGO_BIN_EXE_palisade"));
        Some(Process::run(command, datadir, options, &[]))
    }

    fn run(mut command: Command, datadir: &Path, options: &[&str], environment: &[(&str, &str)]) -> Process {
        let mut child = command
            .arg("--no-defaults")
            .arg(format!("--datadir={}", datadir.display()))
            .args(["--port=0", "--socket=", "--innodb-buffer-pool-size=16M"])
            .args(options)
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut printed = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = printed.next().expect("the server says that it is ready").unwrap();
            if let Some((_, listeners)) = line.split_once("ready for connections: ") {
                let words = listeners.split(|c: char| c.is_whitespace() || c == ',');
                break words.filter_map(|word| word.parse().ok()).next().expect("an address in the line");
            }
        };
        let (sender, lines) = channel();
        // Also where no test reads it: a full pipe must not stop the server.
        std::thread::spawn(move || printed.map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        Process { child, address, lines }
    }

    /// A connection, logged in as root.
    pub fn connect(&self) -> Client {
        let mut client = Client::connect(self.address);
        assert_eq!(client.login("root", b"", CAPABILITIES)[0], 0);
        client
    }

    /// kill -9.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM; how it ended, and what it printed.
    pub fn terminate(mut self) -> (ExitStatus, Vec<String>) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = self.child.wait().unwrap();
        (status, self.lines.iter().collect())
    }

    /// Waits until it ends by itself; how, and what it printed.
    pub fn wait(mut self) -> (ExitStatus, Vec<String>) {
        let status = self.child.wait().unwrap();
        (status, self.lines.iter().collect())
    }
}
