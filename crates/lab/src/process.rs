//! A server's process as the operating system sees it, where the server runs on this machine.
//!
//! Everything comes from /proc; what cannot be read (another machine, another user's process) is `None`.

use std::fs;
use std::path::Path;

use rustix::process::{Signal, kill_process_group};
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

/// The process that listens on a TCP port of this machine.
pub fn listener(port: u16) -> Option<u32> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
    let socket = tables.iter().find_map(|table| listening_socket(table, port))?;
    let link = format!("socket:[{socket}]");
    numbers(Path::new("/proc")).into_iter().find(|pid| {
        let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        files.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|target| target == Path::new(&link)))
    })
}

/// Whether a process has a file open in `folder` or below: a server has in its data directory, and a program
/// that passes on its connections (docker-proxy, ssh) has not. A folder that is not absolute is meant from
/// where the process works.
pub fn has_file_below(pid: u32, folder: &str) -> bool {
    let Ok(directory) = fs::read_link(format!("/proc/{pid}/cwd")) else { return false };
    let said = directory.join(folder);
    // A process in a container has files where there are none for others.
    let real = fs::canonicalize(&said).unwrap_or_else(|_| said.clone());
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    files
        .filter_map(|file| fs::read_link(file.path()).ok())
        .any(|file| file.starts_with(&said) || file.starts_with(&real))
}

/// The inode of the socket that listens on `port`, in a table with the layout of /proc/net/tcp.
fn listening_socket(table: &str, port: u16) -> Option<u64> {
    const LISTEN: &str = "0A";
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
        let same = u16::from_str_radix(local_port, 16).ok()? == port;
        if same && *fields.get(3)? == LISTEN { fields.get(9)?.parse().ok() } else { None }
    })
}

/// The entries of a folder whose names are numbers.
fn numbers(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// User and system time of a process so far, in microseconds.
pub fn cpu_us(pid: u32) -> Option<f64> {
    cpu_times_us(pid).map(|(user, kernel)| user + kernel)
}

/// What of it was spent in the program, and what in the kernel.
pub fn cpu_times_us(pid: u32) -> Option<(f64, f64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let us = |ticks: f64| ticks * 1e6 / rustix::param::clock_ticks_per_second() as f64;
    cpu_ticks(&stat).map(|(user, kernel)| (us(user), us(kernel)))
}

fn cpu_ticks(stat: &str) -> Option<(f64, f64)> {
    // the program's name stands in parentheses and may hold spaces and parentheses
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.get(11)?.parse().ok()?, fields.get(12)?.parse().ok()?))
}

/// Memory of a process that is in RAM.
pub fn resident_mib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}

/// Bytes that a process has had read from disks and written to them so far. What the system writes later for
/// it counts when the process hands it over.
pub fn disk_bytes(pid: u32) -> Option<(f64, f64)> {
    disk_numbers(&fs::read_to_string(format!("/proc/{pid}/io")).ok()?)
}

fn disk_numbers(io: &str) -> Option<(f64, f64)> {
    let of = |label: &str| io.lines().find_map(|line| line.strip_prefix(label)?.trim().parse::<f64>().ok());
    Some((of("read_bytes:")?, of("write_bytes:")?))
}

/// The program of a process.
pub fn program(pid: u32) -> Option<String> {
    fs::read_link(format!("/proc/{pid}/exe")).ok().map(|path| path.display().to_string())
}

/// Sends a signal to all processes of a group.
pub fn signal_group(group: u32, signal: Signal) -> std::io::Result<()> {
    Ok(kill_process_group(pid(group)?, signal)?)
}

/// Whether a process runs. One that has ended and waits for its parent to ask does not.
pub fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| !["Z", "X"].contains(&state))
}

/// The processors of some threads before they were moved: dropping it moves them back.
#[derive(Debug, Default)]
pub struct Moved {
    threads: Vec<(u32, CpuSet)>,
    /// Processes moved as a whole, with what their first thread had: threads that they start later inherit
    /// the new processors, and stay (a server keeps the threads of closed connections for the next ones).
    processes: Vec<(u32, CpuSet)>,
}

impl Moved {
    /// Confines a thread to `cpus`.
    pub fn thread(&mut self, thread: u32, cpus: &CpuSet) -> std::io::Result<()> {
        let pid = pid(thread)?;
        let before = sched_getaffinity(Some(pid))?;
        sched_setaffinity(Some(pid), cpus)?;
        self.threads.push((thread, before));
        Ok(())
    }

    /// Confines all threads of a process to `cpus`; those that it starts later inherit it.
    pub fn process(&mut self, process: u32, cpus: &CpuSet) -> std::io::Result<()> {
        let before = sched_getaffinity(Some(pid(process)?))?;
        self.processes.push((process, before));
        for thread in threads(process) {
            match self.thread(thread, cpus) {
                // it ended in between
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {}
                other => other?,
            }
        }
        Ok(())
    }
}

impl Drop for Moved {
    fn drop(&mut self) {
        // a thread that has ended needs no processor
        let back =
            |thread: u32, cpus: &CpuSet| pid(thread).map(|pid| sched_setaffinity(Some(pid), cpus).is_ok());
        for (process, before) in &self.processes {
            for thread in threads(*process) {
                let _ = back(thread, before);
            }
        }
        // backwards, since a thread may have been moved twice
        for (thread, before) in self.threads.iter().rev() {
            let _ = back(*thread, before);
        }
    }
}

/// The threads of a process.
pub fn threads(process: u32) -> Vec<u32> {
    numbers(Path::new(&format!("/proc/{process}/task")))
}

fn pid(number: u32) -> std::io::Result<Pid> {
    let pid = i32::try_from(number).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| std::io::Error::other(format!("{number} is not a process or thread")))
}

/// The processors this process may use.
pub fn own_cpus() -> Vec<usize> {
    let own = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|cpu| own.is_set(*cpu)).collect()
}

/// A set of processors.
pub fn cpu_set(cpus: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu);
    }
    set
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;

    use super::*;

    #[test]
    fn bytes_of_disks_are_not_those_of_system_calls() {
        let io = "rchar: 9\nwchar: 8\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 5\n";
        assert_eq!(disk_numbers(io), Some((4096.0, 8192.0)));
        assert_eq!(disk_numbers("rchar: 9\n"), None);
    }

    #[test]
    fn the_listener_of_a_port_is_found() {
        let listener_socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener_socket.local_addr().expect("an address").port();
        assert_eq!(listener(port), Some(std::process::id()));
        // Not the same port after the socket has gone: another process, or test, may have it by then.
        assert_eq!(listener(0), None, "nobody can listen there");
    }

    #[test]
    fn a_process_has_files_where_it_has_opened_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let below = folder.path().join("data/redo");
        fs::create_dir_all(&below).expect("a folder");
        let has = |folder: &Path| has_file_below(std::process::id(), &folder.display().to_string());
        assert!(!has(folder.path()));
        let file = fs::File::create(below.join("log.0")).expect("a file");
        assert!(has(folder.path()) && has(&folder.path().join("data/")) && has(&below));
        let from_here =
            std::env::current_dir().expect("a folder").ancestors().skip(1).map(|_| "../").collect::<String>();
        assert!(has_file_below(
            std::process::id(),
            &format!("{from_here}{}", &below.display().to_string()[1..])
        ));
        drop(file);
        assert!(!has(&below) && !has_file_below(u32::MAX, "/"));
    }

    #[test]
    fn only_a_listening_socket_counts() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0CEA 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 11 1 0 20 4 30 10 -1
   1: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 22 1 0 100 0 0 10 0
   2: malformed
";
        assert_eq!(listening_socket(table, 0x0CEA), Some(22));
        assert_eq!(listening_socket(table, 0x0CEB), None);
    }

    #[test]
    fn times_are_read_after_the_last_parenthesis() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 1 0 0 0 120 34 0 0 20 0 1 0 5 6 7";
        assert_eq!(cpu_ticks(stat), Some((120.0, 34.0)));
        assert_eq!(cpu_ticks("7 (a"), None);
        assert!(cpu_us(std::process::id()).is_some());
        assert!(resident_mib(std::process::id()).is_some());
    }

    #[test]
    fn who_has_ended_does_not_live_even_before_anybody_asks() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("a process");
        assert!(lives(child.id()) && lives(std::process::id()) && !lives(u32::MAX));
        signal_group(child.id(), Signal::KILL).expect("it is ours");
        while lives(child.id()) {
            std::thread::yield_now();
        }
        child.wait().expect("it ended");
        assert!(signal_group(u32::MAX, Signal::KILL).is_err());
    }

    #[test]
    fn moved_threads_move_back() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("a process");
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
        let before = sched_getaffinity(pid).expect("its processors");
        let one = cpu_set(&own_cpus()[..1]);
        let mut moved = Moved::default();
        moved.process(child.id(), &one).expect("it is ours");
        assert_eq!(sched_getaffinity(pid).expect("its processors"), one);
        drop(moved);
        assert_eq!(sched_getaffinity(pid).expect("its processors"), before);
        child.kill().expect("it runs");
        child.wait().expect("it ended");
    }
}
