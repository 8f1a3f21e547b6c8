//! A Palisade server of the tests: started on a free port with data in a temporary folder, killed at the end.

use crate::process::{self, cargo, target};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What a server is for.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// Being tested: it has every assertion.
    Tests,
    /// Being measured: it is as released.
    Measurements,
}

/// Builds the server and returns its program. `PALISADE_PROGRAM` names one to take instead: an older build, or one with
/// other settings.
pub fn build(purpose: Purpose) -> Result<PathBuf, String> {
    if let Some(program) = std::env::var_os("PALISADE_PROGRAM") {
        return Ok(program.into());
    }
    let profile = match purpose {
        Purpose::Tests => "tested",
        Purpose::Measurements => "release",
    };
    process::run(&mut cargo(&["build", "--profile", profile, "--quiet", "--package", "palisade-server"]))?;
    Ok(target().join(profile).join("palisade"))
}

/// A running server.
pub struct Server {
    program: PathBuf,
    folder: PathBuf,
    options: Vec<String>,
    environment: &'static [(&'static str, &'static str)],
    /// The TCP port it listens on.
    pub port: u16,
    child: Child,
}

/// A port of this machine that is free now.
pub fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

impl Server {
    /// Starts a server to be tested, with no data yet; returns when it is ready for connections.
    pub fn start(name: &str, options: &[&str]) -> Result<Server, String> {
        Server::start_for(Purpose::Tests, name, options)
    }

    /// Starts a server with no data yet; returns when it is ready for connections.
    pub fn start_for(purpose: Purpose, name: &str, options: &[&str]) -> Result<Server, String> {
        Server::start_in(purpose, name, options, &[])
    }

    /// The same, with more variables in its environment.
    pub fn start_in(
        purpose: Purpose,
        name: &str,
        options: &[&str],
        environment: &'static [(&'static str, &'static str)],
    ) -> Result<Server, String> {
        let program = build(purpose)?;
        let folder = target().join("server").join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        let port = free_port()?;
        let child = spawn(command(&program, &folder, port, &options, environment), &folder)?;
        Ok(Server { program, folder, options, environment, port, child })
    }

    /// The unix socket it listens on.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("mysql.sock")
    }

    /// Its data directory.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// What it is started with the next time.
    pub fn set_options(&mut self, options: &[&str]) {
        self.options = options.iter().map(ToString::to_string).collect();
    }

    /// Bytes that a file of its data directory takes on the disk; holes take none.
    pub fn bytes_on_disk(&self, file: &str) -> Result<u64, String> {
        let path = self.folder.join("data").join(file);
        let metadata = path.metadata().map_err(|error| format!("{}: {error}", path.display()))?;
        // The unit of `blocks`, whatever the file system's own.
        Ok(metadata.blocks() * 512)
    }

    /// How it has ended, if it has.
    pub fn ended(&mut self) -> Option<std::process::ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// What it has of the machine's memory.
    pub fn resident_bytes(&self) -> Result<u64, String> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let kilobytes =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        let kilobytes = kilobytes.and_then(|number| number.parse::<u64>().ok());
        kilobytes.map(|number| number << 10).ok_or_else(|| format!("{path} has no VmRSS"))
    }

    /// Its error log, since it was started for the first time.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.folder.join("error.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// SIGKILL, now.
    pub fn kill(&mut self) {
        // it may have ended by itself: then there is nothing to kill
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again on the same data and port; returns when it is ready.
    pub fn restart(&mut self) -> Result<(), String> {
        self.child = spawn(self.command(), &self.folder)?;
        Ok(())
    }

    /// Starts it again and kills it after a while, ready or not.
    pub fn start_and_kill(&mut self, after: std::time::Duration) -> Result<(), String> {
        let mut command = self.command();
        let child = command.stderr(Stdio::null()).spawn();
        self.child = child.map_err(|error| format!("{}: {error}", self.program.display()))?;
        std::thread::sleep(after);
        self.kill();
        Ok(())
    }

    fn command(&self) -> Command {
        command(&self.program, &self.folder, self.port, &self.options, self.environment)
    }

    /// Waits until it has ended by itself, as after a shutdown; fails if it ended badly.
    pub fn wait(&mut self) -> Result<(), String> {
        let status = self.child.wait().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}")) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(
    program: &Path,
    folder: &Path,
    port: u16,
    options: &[String],
    environment: &[(&str, &str)],
) -> Command {
    let mut command = Command::new(program);
    command
        .arg(format!("--datadir={}", folder.join("data").display()))
        .arg(format!("--socket={}", folder.join("mysql.sock").display()))
        .arg(format!("--port={port}"))
        .args(options)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

fn spawn(mut command: Command, folder: &Path) -> Result<Child, String> {
    let log = folder.join("error.log");
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    let mut lines = BufReader::new(child.stderr.take().expect("standard error is piped"));
    let mut seen = String::new();
    loop {
        let before = seen.len();
        let count = lines.read_line(&mut seen).map_err(|error| error.to_string())?;
        if count == 0 {
            return Err(format!("the server did not start:\n{seen}"));
        }
        if seen[before..].contains("ready for connections") {
            break;
        }
    }
    std::thread::spawn(move || {
        use std::io::Write as _;
        let Ok(mut file) = std::fs::File::options().create(true).append(true).open(log) else { return };
        // losing a log line of a test server loses nothing
        let _ = file.write_all(seen.as_bytes());
        let _ = std::io::copy(&mut lines, &mut file);
    });
    Ok(child)
}
