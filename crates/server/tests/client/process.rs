//! The server as a process of its own, which can be killed.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

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

    /// Bytes of it that lie in memory.
    pub fn resident(&self) -> u64 {
        self.memory("VmRSS:")
    }

    /// The most that they have been.
    pub fn most_resident(&self) -> u64 {
        self.memory("VmHWM:")
    }

    fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// Starts it over `datadir` with the options of a file and no others that say more than where it is
    /// reached; and what it prints before it is ready.
    pub fn start_with_file(file: &Path, datadir: &Path) -> (Process, Vec<String>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
        command.arg(format!("--defaults-file={}", file.display()));
        command.arg(format!("--datadir={}", datadir.display())).args(["--port=0", "--socket="]);
        Process::spawn(command)
    }

    fn run(mut command: Command, datadir: &Path, options: &[&str], environment: &[(&str, &str)]) -> Process {
        command
            .arg("--no-defaults")
            .arg(format!("--datadir={}", datadir.display()))
            .args(["--port=0", "--socket=", "--innodb-buffer-pool-size=16M"])
            .args(options)
            .envs(environment.iter().copied());
        Process::spawn(command).0
    }

    /// It, and what it has printed before it was ready.
    fn spawn(mut command: Command) -> (Process, Vec<String>) {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut printed = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut before = Vec::new();
        let address = loop {
            let line = printed.next().expect("the server says that it is ready").unwrap();
            if let Some((_, listeners)) = line.split_once("ready for connections: ") {
                let words = listeners.split(|c: char| c.is_whitespace() || c == ',');
                break words.filter_map(|word| word.parse().ok()).next().expect("an address in the line");
            }
            before.push(line);
        };
        let (sender, lines) = channel();
        // Also where no test reads it: a full pipe must not stop the server.
        std::thread::spawn(move || printed.map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        (Process { child, address, lines }, before)
    }

    /// A file as the server sees it, whatever is mounted for it alone.
    pub fn path(&self, path: &Path) -> PathBuf {
        let root = format!("/proc/{}/root", self.child.id());
        Path::new(&root).join(path.strip_prefix("/").unwrap_or(path))
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

    /// SIGHUP.
    pub fn hang_up(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    }

    /// Starts it over `datadir` with an error log in a file: waits until it accepts connections.
    pub fn start_with_error_log(datadir: &Path, error_log: &Path, options: &[&str]) -> Process {
        let free =
            std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_palisade"))
            .arg("--no-defaults")
            .arg(format!("--datadir={}", datadir.display()))
            .arg(format!("--port={}", free.port()))
            .arg(format!("--log-error={}", error_log.display()))
            .args(["--socket=", "--innodb-buffer-pool-size=16M"])
            .args(options)
            .spawn()
            .unwrap();
        let process = Process { child, address: free, lines: channel().1 };
        let give_up = Instant::now() + Duration::from_secs(60);
        while std::net::TcpStream::connect(free).is_err() {
            assert!(Instant::now() < give_up, "it does not start: {}", error_log.display());
            std::thread::sleep(Duration::from_millis(20));
        }
        process
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

impl Drop for Process {
    /// A test that fails leaves no server behind.
    fn drop(&mut self) {
        // it may have ended: then there is nothing to kill
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A real file system, on a loop device over a file.
pub struct LoopDisk {
    image: PathBuf,
    mount: PathBuf,
    free_mib: u64,
}

/// Mounts the image for the program that follows alone, makes all but some KiB of it a file once, and becomes
/// that program. The device goes with the mount.
const MOUNT: &str = r#"
image=$1 mount=$2 free=$3
shift 3
mount -o loop "$image" "$mount"
if [ ! -e "$mount/data" ]; then
    all=$(df -k --output=avail "$mount" | tail -1)
    fallocate -l "$((all - free))KiB" "$mount/ballast"
    mkdir "$mount/data"
fi
exec "$@"
"#;

impl LoopDisk {
    /// A file system of this kind, `ext4` or `xfs`, with so many MiB free. Its file and where it is mounted
    /// are in `dir`. An error says why the machine has no such thing.
    pub fn new(kind: &str, dir: &Path, free_mib: u64) -> Result<LoopDisk, String> {
        let disk = LoopDisk { image: dir.join("image"), mount: dir.join("mount"), free_mib };
        std::fs::create_dir(&disk.mount).unwrap();
        // XFS has at least 300 MiB.
        std::fs::File::create(&disk.image).and_then(|image| image.set_len(400 << 20)).unwrap();
        let mut make = Command::new(format!("mkfs.{kind}"));
        succeeds(make.arg("-q").arg(&disk.image), &format!("{kind} cannot be made"))?;
        succeeds(disk.mounted().arg("true"), "no file system can be mounted on a loop device")?;
        Ok(disk)
    }

    /// Where the data directory is, for the server.
    pub fn datadir(&self) -> PathBuf {
        self.mount.join("data")
    }

    fn mounted(&self) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-e", "-c", MOUNT, "sh"]).args([&self.image, &self.mount]);
        command.arg((self.free_mib << 10).to_string());
        command
    }

    /// Starts the server over it.
    pub fn start(&self, options: &[&str]) -> Process {
        let mut command = self.mounted();
        command.arg(env!("CARGO_BIN_EXE_palisade"));
        Process::run(command, &self.datadir(), options, &[])
    }
}

/// An error with what the program has printed, if it fails.
fn succeeds(command: &mut Command, what: &str) -> Result<(), String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{what}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
