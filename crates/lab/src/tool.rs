//! The load tools: finding them, running them, stopping them.
//!
//! A tool runs to its end, to a time limit, until the lab is interrupted, or until it has done its service; in all but the
//! first case it is killed, with whatever it has started: it is in a process group of its own. What it printed comes back as text. Its command line is kept
//! for the report as one could type it, without the password.
//!
//! A tool may lose a client, go on with the others and end with status 0: only its standard error tells. What it says there
//! stands in every error, and [`Said::complaints`] has what is more than a warning.

use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::{Error, Result, tail};
use crate::process;

/// A program that makes a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub program: &'static str,
    /// The command that installs it on Debian and its kin.
    pub install: &'static str,
}

/// Scriptable load of prepared statements.
pub const SYSBENCH: Tool = Tool { program: "sysbench", install: "sudo apt-get install -y sysbench" };

/// Generated load of text statements.
pub const MYSQLSLAP: Tool = Tool { program: "mysqlslap", install: "sudo apt-get install -y mariadb-client" };

impl Tool {
    /// Where it lies, by PATH.
    pub fn find(&self) -> Result<PathBuf> {
        self.find_in(&std::env::var_os("PATH").unwrap_or_default())
    }

    /// Where it lies among the folders of `path`, which is written like PATH.
    pub fn find_in(&self, path: &std::ffi::OsStr) -> Result<PathBuf> {
        std::env::split_paths(path)
            .map(|folder| folder.join(self.program))
            .find(|candidate| candidate.is_file())
            .ok_or(Error::MissingTool { program: self.program, install: self.install })
    }

    /// What it says of its version.
    pub fn version(&self) -> Result<String> {
        let said = Invocation::new(self).arg("--version").run(Duration::from_secs(10))?;
        Ok(said.printed.trim().to_owned())
    }
}

/// The flag that SIGINT, SIGTERM and SIGHUP raise, once [`catch_signals`] was called.
fn interrupted() -> &'static Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(Arc::default)
}

/// From now on SIGINT, SIGTERM and SIGHUP end the running tool, and with [`Error::Interrupted`] the experiment, in good order;
/// a second one ends the process at once, and the [`Guardian`](crate::guardian::Guardian) does what is left to do.
pub fn catch_signals() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // in this order: the first signal finds the flag down and raises it, the second finds it up
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(interrupted()))?;
        signal_hook::flag::register(signal, Arc::clone(interrupted()))?;
    }
    Ok(())
}

/// Fails if the lab was interrupted.
pub fn check_interrupted() -> Result<()> {
    if interrupted().load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// Sleeps, unless interrupted.
pub fn pause(length: Duration) -> Result<()> {
    let end = Instant::now() + length;
    while Instant::now() < end {
        check_interrupted()?;
        std::thread::sleep(STEP.min(end.saturating_duration_since(Instant::now())));
    }
    check_interrupted()
}

/// How often a running program is looked at.
const STEP: Duration = Duration::from_millis(10);

/// A command line.
#[derive(Debug, Clone)]
pub struct Invocation {
    program: String,
    arguments: Vec<String>,
    /// Arguments that only the program sees, each with what is shown in its place.
    secrets: Vec<(String, String)>,
    environment: Vec<(&'static str, String)>,
    cpus: Option<CpuSet>,
}

impl Invocation {
    /// A tool without arguments.
    pub fn new(tool: &Tool) -> Invocation {
        Invocation {
            program: tool.program.to_owned(),
            arguments: Vec::new(),
            secrets: Vec::new(),
            environment: Vec::new(),
            cpus: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Invocation {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Invocation {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Adds an argument that holds a password; `shown` stands in its place where people look.
    #[must_use]
    pub fn secret(mut self, argument: String, shown: &str) -> Invocation {
        self.secrets.push((argument, shown.to_owned()));
        self
    }

    /// Sets an environment variable, which is not shown.
    #[must_use]
    pub fn env(mut self, name: &'static str, value: impl Into<String>) -> Invocation {
        self.environment.push((name, value.into()));
        self
    }

    /// Runs on these processors only.
    #[must_use]
    pub fn on(mut self, cpus: Option<CpuSet>) -> Invocation {
        self.cpus = cpus;
        self
    }

    /// The command line as one would type it.
    pub fn shown(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let words = words.chain(self.secrets.iter().map(|(_, shown)| shown));
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// Runs it and returns what it said. Fails if it fails or takes longer than `limit`.
    pub fn run(&self, limit: Duration) -> Result<Said> {
        self.start()?.finish(limit)
    }

    /// Starts it.
    pub fn start(&self) -> Result<Running> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(self.secrets.iter().map(|(argument, _)| argument));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let started = match &self.cpus {
            None => command.spawn(),
            Some(cpus) => confined(cpus, || command.spawn()),
        };
        let shown = self.shown();
        let mut child = started.map_err(|error| failed(&shown, error.to_string(), ""))?;
        let printed = Collected::new(child.stdout.take());
        let complained = Collected::new(child.stderr.take());
        Ok(Running { child, ended: None, shown, printed, complained })
    }
}

fn failed(command: &str, problem: String, printed: &str) -> Error {
    Error::Tool { command: command.to_owned(), problem, printed: tail(printed) }
}

/// What a tool has said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// To standard output.
    pub printed: String,
    /// To standard error.
    pub complained: String,
}

impl Said {
    /// Both, the complaints last.
    pub fn all(&self) -> String {
        [self.printed.as_str(), self.complained.as_str()].concat()
    }

    /// The lines of standard error that are neither a warning nor that the program has a newer name; `None` without any. A
    /// client that could not connect or whose statement failed is among them.
    pub fn complaints(&self) -> Option<String> {
        const HARMLESS: &[&str] = &["[warning]", "warning", "deprecated program name"];
        let harmless = |line: &str| {
            let words = line.trim_start().to_lowercase();
            let after_name = words.split_once(": ").map_or("", |(_, rest)| rest);
            HARMLESS.iter().any(|start| words.starts_with(start) || after_name.starts_with(start))
        };
        let complaints = self.complained.lines().filter(|line| !line.trim().is_empty() && !harmless(line));
        Some(complaints.collect::<Vec<_>>().join("\n")).filter(|complaints| !complaints.is_empty())
    }
}

/// A tool that was started. Dropping it kills it, with whatever it has started.
pub struct Running {
    child: Child,
    /// How it ended, once that is known.
    ended: Option<ExitStatus>,
    shown: String,
    printed: Collected,
    complained: Collected,
}

impl Running {
    /// Its process group.
    pub fn group(&self) -> u32 {
        self.child.id()
    }

    /// Fails if it has ended, in whatever way, or complained.
    pub fn check(&mut self) -> Result<()> {
        match self.status()? {
            None => match self.said().complaints() {
                None => Ok(()),
                Some(complaints) => Err(failed(&self.shown, COMPLAINED.to_owned(), &complaints)),
            },
            Some(_) if check_interrupted().is_err() => Err(Error::Interrupted),
            Some(status) => {
                Err(failed(&self.shown, format!("ended before its time: {status}"), &self.last().all()))
            }
        }
    }

    /// Sends it a signal, and whatever it has started.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let sent = process::signal_group(self.group(), signal);
        sent.map_err(|error| failed(&self.shown, format!("a signal did not reach it: {error}"), ""))
    }

    /// Kills it because of a problem, which the error says with what it has said.
    pub fn give_up(&mut self, problem: String) -> Error {
        self.stop();
        failed(&self.shown, problem, &self.last().all())
    }

    /// Kills it, with whatever it has started.
    pub fn stop(&mut self) {
        if self.ended.is_none() {
            // it may have ended meanwhile
            let _ = process::signal_group(self.child.id(), Signal::KILL);
            self.ended = self.child.wait().ok();
        }
    }

    /// Waits for its end and returns what it said.
    fn finish(mut self, limit: Duration) -> Result<Said> {
        let end = Instant::now() + limit;
        loop {
            if let Some(status) = self.status()? {
                return match self.last() {
                    said if status.success() => Ok(said),
                    // whoever interrupted the lab may have ended the tool as well
                    _ if check_interrupted().is_err() => Err(Error::Interrupted),
                    said => Err(failed(&self.shown, status.to_string(), &said.all())),
                };
            }
            check_interrupted()?;
            if Instant::now() > end {
                return Err(self.give_up(format!("did not end within {} s and was killed", limit.as_secs())));
            }
            std::thread::sleep(STEP);
        }
    }

    fn status(&mut self) -> Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            let status = self.child.try_wait();
            self.ended = status.map_err(|error| failed(&self.shown, error.to_string(), ""))?;
        }
        Ok(self.ended)
    }

    /// What it has said until now.
    fn said(&self) -> Said {
        Said { printed: self.printed.text(), complained: self.complained.text() }
    }

    /// All that it said, once it has ended.
    fn last(&self) -> Said {
        self.printed.wait();
        self.complained.wait();
        self.said()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts something that inherits a set of processors from this thread.
fn confined<T>(cpus: &CpuSet, start: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
    let before = sched_getaffinity(None)?;
    sched_setaffinity(None, cpus)?;
    let started = start();
    sched_setaffinity(None, &before)?;
    started
}

/// What a program prints, read while it runs so that it never waits for a reader.
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Disconnected when there is nothing more to come.
    end: mpsc::Receiver<()>,
}

impl Collected {
    fn new<R: Read + Send + 'static>(stream: Option<R>) -> Collected {
        let bytes = Arc::<Mutex<Vec<u8>>>::default();
        let (open, end) = mpsc::channel::<()>();
        let own = Arc::clone(&bytes);
        std::thread::spawn(move || {
            let _open = open;
            let mut part = [0; 8192];
            let Some(mut stream) = stream else { return };
            // what was read before an error is still worth showing
            loop {
                match stream.read(&mut part) {
                    Ok(0) => return,
                    Ok(read) => {
                        own.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&part[..read]);
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        });
        Collected { bytes, end }
    }

    /// Waits for the last of it, once the program has ended. Something that the program left behind may hold the stream open: it
    /// is not waited for.
    fn wait(&self) {
        let _ = self.end.recv_timeout(REST);
    }

    /// What has come until now.
    fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Whose client has gone does less than it was told.
pub const COMPLAINED: &str = "complained, so that some of its clients may not have done their work:";

/// How long the last of what an ended program printed may take to arrive.
const REST: Duration = Duration::from_secs(5);

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A Lua script of ours, written where sysbench can read it.
pub fn script(folder: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| Error::file(&path, error))?;
    // sysbench takes a name without a folder for one of its own scripts
    path.canonicalize().map_err(|error| Error::file(&path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELL: Tool = Tool { program: "sh", install: "it is everywhere" };

    fn shell(line: &str) -> Invocation {
        Invocation::new(&SHELL).args(["-c", line])
    }

    #[test]
    fn a_missing_tool_is_named_with_the_command_that_installs_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = SYSBENCH.find_in(folder.path().as_os_str()).expect_err("an empty folder");
        assert_eq!(
            error.to_string(),
            "sysbench is not installed (looked in PATH); install it with: sudo apt-get install -y sysbench"
        );
        std::fs::write(folder.path().join("sysbench"), "").expect("a file");
        assert!(SYSBENCH.find_in(folder.path().as_os_str()).is_ok());
    }

    #[test]
    fn output_and_failure() {
        assert_eq!(
            shell("echo out; echo err >&2").run(Duration::from_secs(10)).expect("it succeeds"),
            Said { printed: "out\n".to_owned(), complained: "err\n".to_owned() }
        );
        let error =
            shell("echo out; echo err >&2; exit 3").run(Duration::from_secs(10)).expect_err("it fails");
        let text = error.to_string();
        assert!(text.contains("exit status: 3") && text.contains("out\nerr"), "{text}");
    }

    #[test]
    fn a_tool_that_is_to_go_on_fails_by_ending_and_not_by_being_ended() {
        let mut running = shell("exec sleep 1000").start().expect("it starts");
        running.check().expect("it runs");
        running.stop();
        assert!(!process::lives(running.group()));
        let mut running = shell("echo out; echo err >&2").start().expect("it starts");
        let error = (0..).find_map(|_| {
            std::thread::sleep(STEP);
            running.check().err()
        });
        let text = error.expect("the search ends by finding it").to_string();
        assert!(text.contains("ended before its time: exit status: 0\nout\nerr"), "{text}");
    }

    #[test]
    fn a_tool_that_is_to_go_on_fails_by_complaining() {
        let mut warned = shell("echo 'WARNING: no end' >&2; exec sleep 1000").start().expect("it starts");
        while warned.said().complained.is_empty() {
            std::thread::sleep(STEP);
        }
        warned.check().expect("a warning is no complaint");
        let line = "echo 'WARNING: no end' >&2; echo 'slap: Error when connecting' >&2; exec sleep 1000";
        let mut complaining = shell(line).start().expect("it starts");
        let error = (0..).find_map(|_| {
            std::thread::sleep(STEP);
            complaining.check().err()
        });
        let text = error.expect("the search ends by finding it").to_string();
        assert!(text.ends_with("their work:\nslap: Error when connecting"), "{text}");
    }

    #[test]
    fn complaints_are_what_is_more_than_a_warning() {
        let complaints = |text: &str| Said { complained: text.to_owned(), ..Said::default() }.complaints();
        for harmless in [
            "",
            "\n",
            "mysqlslap: [Warning] Using a password on the command line interface can be insecure.\n",
            "mysqlslap: Deprecated program name. It will be removed in a future release\n",
            "WARNING: Both event and time limits are disabled, running an endless test\n",
        ] {
            assert_eq!(complaints(harmless), None, "{harmless}");
        }
        let refused = "mysqlslap: Error when connecting to server: 1040 Too many connections";
        assert_eq!(complaints(&format!("WARNING: a\n{refused}\n")).as_deref(), Some(refused));
        assert!(complaints("mysqlslap: Cannot run query INSERT INTO t1 ERROR : Lost connection").is_some());
    }

    #[test]
    fn a_tool_that_was_stopped_goes_on_when_told_to_and_can_be_killed_before() {
        let state = |running: &Running| {
            let stat =
                std::fs::read_to_string(format!("/proc/{}/stat", running.group())).expect("it is there");
            stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next())
        };
        let until = |running: &Running, stopped: bool| {
            while (state(running) == Some('T')) != stopped {
                std::thread::yield_now();
            }
        };
        let mut running = shell("exec sleep 1000").start().expect("it starts");
        for signal in [Signal::STOP, Signal::CONT, Signal::STOP] {
            running.signal(signal).expect("it is ours");
            until(&running, signal == Signal::STOP);
        }
        running.check().expect("a stopped one has not ended");
        running.stop();
        let error = running.signal(Signal::CONT).expect_err("it has gone").to_string();
        assert!(error.contains("a signal did not reach it"), "{error}");
    }

    #[test]
    fn what_takes_too_long_is_killed() {
        let start = Instant::now();
        let error = shell("exec sleep 60").run(Duration::from_millis(50)).expect_err("too long");
        assert!(error.to_string().contains("was killed"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(30));
        // However slow the machine is, one of the limits leaves the shell the time to say it.
        (0..)
            .map(|power| Duration::from_millis(50 << power))
            .find(|limit| {
                let error = shell("echo why >&2; exec sleep 1000").run(*limit).expect_err("too long");
                error.to_string().ends_with("was killed\nwhy")
            })
            .expect("the search ends by finding it");
    }

    #[test]
    fn what_a_tool_has_started_is_not_waited_for_and_does_not_outlive_it() {
        let limit = Duration::from_millis(50);
        // However slow the machine is, one of the limits leaves the shell the time to say who its child is.
        let child = (0..).find_map(|power| {
            let folder = tempfile::tempdir().expect("a folder");
            let said = folder.path().join("child");
            let line = format!("sleep 1000 & echo $! >'{}'; wait", said.display());
            let error = shell(&line).run(limit * (1 << power)).expect_err("too long");
            assert!(error.to_string().contains("was killed"), "{error}");
            let said = std::fs::read_to_string(said).ok()?;
            said.strip_suffix('\n')?.parse::<u32>().ok()
        });
        let child = child.expect("the search ends by finding it");
        while process::lives(child) {
            std::thread::sleep(STEP);
        }
    }

    #[test]
    fn words_are_quoted_as_a_shell_takes_them() {
        let words = ["plain", "two words", "it's", "", "$HOME"];
        let line = words.map(quoted).join(" ");
        let line = format!("printf '%s|' {line}");
        let said = shell(&line).run(Duration::from_secs(10)).expect("it succeeds");
        assert_eq!(said.printed, "plain|two words|it's||$HOME|");
    }

    #[test]
    fn long_output_does_not_block_the_tool() {
        let said = shell("head -c 1000000 /dev/zero | tr '\\0' x").run(Duration::from_secs(30));
        assert_eq!(said.expect("it succeeds").printed.len(), 1_000_000);
    }

    #[test]
    fn a_password_is_given_and_not_shown() {
        let invocation = Invocation::new(&SHELL).args(["-c", "echo $0"]).secret("hidden".into(), "***");
        assert_eq!(invocation.shown(), "sh -c 'echo $0' '***'");
        assert_eq!(invocation.run(Duration::from_secs(10)).expect("it succeeds").printed, "hidden\n");
    }

    #[test]
    fn a_tool_can_be_confined_to_processors() {
        let own = sched_getaffinity(None).expect("our processors");
        let one = (0..CpuSet::MAX_CPU).find(|cpu| own.is_set(*cpu)).expect("a processor");
        let mut cpus = CpuSet::new();
        cpus.set(one);
        let line = "grep Cpus_allowed_list /proc/self/status";
        let said = shell(line).on(Some(cpus)).run(Duration::from_secs(10)).expect("it succeeds");
        assert_eq!(said.printed.split_whitespace().last(), Some(one.to_string().as_str()));
        assert_eq!(sched_getaffinity(None).expect("our processors"), own);
    }
}
