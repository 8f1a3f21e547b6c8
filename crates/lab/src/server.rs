//! A server under measurement: started or found, asked, set, and left as it was found.
//!
//! What an experiment changes - global variables, a schema - is put back by [`Server::close`], which dropping calls as
//! well. Refusing a variable is an [`Answer`], not an error: servers differ, and the report says how. A server that does not
//! answer has refused nothing: that is [`Error::Lost`].
//!
//! Nothing here waits for ever. A server that the lab starts must be ready within [`Nursery::patience`]: it says so on its standard
//! error, or, where a script sends that elsewhere, it lets root in at its port. Every statement must be answered within
//! [`ANSWER_LIMIT`], and a server that does not shut down is killed. It runs in a process
//! group of its own, so that an interruption from the terminal reaches the lab alone, and the [`Guardian`] knows of it.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::connection::{ANSWER_LIMIT, Connection};
use crate::error::{Error, Result, tail};
use crate::guardian::Guardian;
use crate::results::ServerFacts;
use crate::spec::{Address, Place, ServerSpec};
use crate::{process, tool};

/// The schema of the lab's own tables. mysqlslap, which drops its schema, has another.
pub const DATABASE: &str = "palisade_lab";

/// The schema of mysqlslap.
pub const SLAP_DATABASE: &str = "palisade_lab_slap";

/// Variables that decide a comparison: shown side by side in the report.
const SETTINGS: &[&str] = &[
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_doublewrite",
    "palisade_page_sink",
    "innodb_redo_log_capacity",
    "innodb_log_file_size",
    "innodb_log_buffer_size",
    "innodb_log_writer_threads",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_page_size",
    "innodb_lock_wait_timeout",
    "innodb_deadlock_detect",
    "log_bin",
    "sync_binlog",
    "transaction_isolation",
    "tx_isolation",
    "performance_schema",
    "max_connections",
    "thread_handling",
];

/// Those among them that must be equal for a comparison of writes to mean anything.
pub const DECISIVE: &[&str] =
    &["innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit", "innodb_doublewrite", "log_bin"];

/// How long a server that the lab starts may take until it is ready. It makes its files first, on whatever disk there is.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// What a server says to a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Answer {
    /// It is so.
    Done,
    /// It has no such variable, or will not have this value; in its own words.
    Refused(String),
}

/// A value as a statement has it. Servers refuse a quoted number and a word without quotes, and some values are words that
/// look like numbers: a list of one processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Literal<'a> {
    /// A number, not quoted.
    Number(&'a str),
    /// Quoted.
    Text(&'a str),
}

/// A server that was started here. Dropping it kills it and removes its data.
struct Spawned<'a> {
    child: Child,
    folder: PathBuf,
    guardian: &'a Guardian,
}

/// A server.
pub struct Server<'a> {
    /// What the report calls it.
    pub name: String,
    /// Where it listens.
    pub address: Address,
    origin: String,
    connection: Connection,
    spawned: Option<Spawned<'a>>,
    pid: Option<u32>,
    /// Variables that were set.
    changed: BTreeMap<String, Change>,
    /// Statements that undo what was done, the latest last.
    undo: Vec<String>,
    closed: bool,
}

/// What was done to a variable.
#[derive(Debug, Default)]
struct Change {
    /// The statement that set it last.
    statement: String,
    /// The values that it had since, each once, in the order in which they came.
    values: Vec<String>,
}

/// Where the lab's servers live and what they are made of.
#[derive(Debug)]
pub struct Nursery<'a> {
    /// The folder for their data.
    pub folder: &'a Path,
    /// The program, where the specification names none.
    pub program: Option<&'a Path>,
    /// Settings that the experiment wants.
    pub settings: &'a [(&'static str, &'static str)],
    /// Who stops them and removes the folder should the lab not get to it.
    pub guardian: &'a Guardian,
    /// How long they may take until they are ready: [`PATIENCE`].
    pub patience: Duration,
}

impl<'a> Server<'a> {
    /// Starts the server or connects to it.
    pub fn open(spec: &ServerSpec, nursery: &Nursery<'a>) -> Result<Server<'a>> {
        match &spec.place {
            Place::At(address) => Server::at(&spec.name, address.clone()),
            Place::Spawn { program, settings } => {
                let program = match program.as_deref().or(nursery.program) {
                    // a name without a folder would be looked for in PATH
                    Some(program) => {
                        std::path::absolute(program).map_err(|error| Error::file(program, error))?
                    }
                    None => beside_us()?,
                };
                if !program.is_file() {
                    return Err(Error::MissingServer { path: program });
                }
                let own = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                let options: Vec<String> = nursery
                    .settings
                    .iter()
                    .copied()
                    .chain(own)
                    .map(|(name, value)| format!("--{}={value}", name.replace('_', "-")))
                    .collect();
                let folder = nursery.folder.join(&spec.name);
                let address = Address {
                    user: "root".to_owned(),
                    password: String::new(),
                    host: "127.0.0.1".to_owned(),
                    port: free_port().map_err(|error| Error::file(&folder, error))?,
                };
                let spawned = Spawned::start(&spec.name, &program, folder, &address, &options, nursery)?;
                // the program may be a script that has started the server
                let pid = process::listener(address.port).unwrap_or(spawned.child.id());
                let origin = format!("started as {} {}", program.display(), options.join(" "));
                Server::connect(&spec.name, address, origin, Some(spawned), Some(pid))
            }
        }
    }

    /// Connects to a server that runs.
    pub fn at(name: &str, address: Address) -> Result<Server<'a>> {
        let origin = format!("running at {address}");
        let listener = local(&address.host).then(|| process::listener(address.port)).flatten();
        let mut server = Server::connect(name, address, origin, None, None)?;
        // What listens may only pass on what it hears, to a container or another machine.
        let datadir = server.query("SELECT @@datadir")?;
        let datadir = datadir.first().and_then(|row| row.first()?.as_deref()).unwrap_or_default();
        server.pid = listener.filter(|pid| process::has_file_below(*pid, datadir));
        Ok(server)
    }

    fn connect(
        name: &str,
        address: Address,
        origin: String,
        spawned: Option<Spawned<'a>>,
        pid: Option<u32>,
    ) -> Result<Server<'a>> {
        let connection = Connection::open(name, &address, ANSWER_LIMIT)?;
        Ok(Server {
            name: name.to_owned(),
            address,
            origin,
            connection,
            spawned,
            pid,
            changed: BTreeMap::new(),
            undo: Vec::new(),
            closed: false,
        })
    }

    /// Its process, where it runs on this machine and we may see it.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Whether the lab started it.
    pub fn is_spawned(&self) -> bool {
        self.spawned.is_some()
    }

    /// Sends a statement; its rows as text.
    pub fn query(&mut self, statement: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.connection.query(statement)
    }

    /// The one value that a statement answers; `None` if it is NULL or there is none.
    pub fn value(&mut self, statement: &str) -> Result<Option<String>> {
        Ok(self.query(statement)?.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }

    /// A global variable's value; `None` where the server has no such variable.
    pub fn variable(&mut self, name: &str) -> Result<Option<String>> {
        match self.value(&format!("SELECT @@GLOBAL.{name}")) {
            Err(Error::Statement { .. }) => Ok(None),
            answer => answer,
        }
    }

    /// Why nothing more can be measured here, after something went wrong; `None` if the server goes on answering.
    pub fn gone(&mut self) -> Option<String> {
        if let Some(spawned) = &mut self.spawned
            && let Ok(Some(status)) = spawned.child.try_wait()
        {
            return Some(format!("the server ended while the experiment ran: {status}\n{}", spawned.log()));
        }
        match self.query("SELECT 1") {
            Err(Error::Lost { reason, .. }) => Some(format!("the server does not answer any more: {reason}")),
            _ => None,
        }
    }

    /// Sets a global variable until [`Server::close`].
    pub fn set(&mut self, name: &str, value: Literal) -> Result<Answer> {
        let selected = match self.value(&format!("SELECT @@GLOBAL.{name}")) {
            Ok(selected) => selected,
            Err(Error::Statement { reason, .. }) => return Ok(Answer::Refused(reason)),
            Err(other) => return Err(other),
        };
        // of several changes the first one's undoing leads back to how the server was found
        let undo = if self.changed.contains_key(name) {
            None
        } else {
            // MySQL selects 1 for what is ON, and refuses '1'
            let before = self.shown(name)?.or(selected).unwrap_or_default();
            Some(match value {
                Literal::Number(_) => set_statement(name, Literal::Number(&before)),
                Literal::Text(_) => set_statement(name, Literal::Text(&before)),
            })
        };
        let statement = set_statement(name, value);
        let answer = self.execute(&statement)?;
        if answer != Answer::Done {
            return Ok(answer);
        }
        self.undo.extend(undo);
        let now = self.variable(name)?;
        let change = self.changed.entry(name.to_owned()).or_default();
        change.statement = statement;
        if let Some(now) = now.filter(|now| !change.values.contains(now)) {
            change.values.push(now);
        }
        Ok(Answer::Done)
    }

    /// A global variable's value as it can be set again.
    fn shown(&mut self, name: &str) -> Result<Option<String>> {
        let rows = self.query(&format!("SHOW GLOBAL VARIABLES WHERE Variable_name = '{name}'"))?;
        Ok(rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten())
    }

    /// The statements by which its variables got the values that they have now.
    pub fn set_statements(&self) -> Vec<String> {
        self.changed.values().map(|change| change.statement.clone()).collect()
    }

    /// Has the facts say what its variables were set to, where the experiment has set them: with commas between them if it was to
    /// several values.
    pub fn note_changes(&self, facts: &mut ServerFacts) {
        for (name, change) in &self.changed {
            if let Some(value) = facts.settings.get_mut(name) {
                *value = Some(change.values.join(", "));
            }
        }
    }

    /// Executes a statement that a server may refuse.
    pub fn execute(&mut self, statement: &str) -> Result<Answer> {
        match self.query(statement) {
            Ok(_) => Ok(Answer::Done),
            Err(Error::Statement { reason, .. }) => Ok(Answer::Refused(reason)),
            Err(other) => Err(other),
        }
    }

    /// Has a statement executed at [`Server::close`].
    pub fn undo_later(&mut self, statement: String) {
        self.undo.push(statement);
    }

    /// Makes an empty schema, which goes at [`Server::close`].
    pub fn database(&mut self, name: &str) -> Result<()> {
        self.query(&format!("DROP DATABASE IF EXISTS {name}"))?;
        self.query(&format!("CREATE DATABASE {name}"))?;
        self.undo_later(format!("DROP DATABASE IF EXISTS {name}"));
        Ok(())
    }

    /// What the report says of it, as it is before the experiment: see [`Server::note_changes`].
    pub fn facts(&mut self) -> Result<ServerFacts> {
        let version = self.value("SELECT CONCAT(@@version, ' ', @@version_comment)")?.unwrap_or_default();
        let mut settings = BTreeMap::new();
        for name in SETTINGS {
            settings.insert((*name).to_owned(), self.variable(name)?);
        }
        Ok(ServerFacts {
            name: self.name.clone(),
            origin: self.origin.clone(),
            version,
            settings,
            resident_mib: self.pid.and_then(process::resident_mib),
        })
    }

    /// Puts everything back and stops it if it was started here. What could not be put back is told.
    pub fn close(mut self) -> Vec<String> {
        self.put_back()
    }

    fn put_back(&mut self) -> Vec<String> {
        if std::mem::replace(&mut self.closed, true) {
            return Vec::new();
        }
        if let Some(mut spawned) = self.spawned.take() {
            let problem = spawned.stop().err();
            return problem.map(|problem| format!("{problem}\n{}", spawned.log())).into_iter().collect();
        }
        let mut problems = Vec::new();
        for statement in std::mem::take(&mut self.undo).into_iter().rev() {
            if let Err(error) = self.query(&statement) {
                problems.push(format!("not put back: {error}"));
            }
        }
        problems
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        for problem in self.put_back() {
            crate::tell!("palisade-lab: {}: {problem}", self.name);
        }
    }
}

fn set_statement(name: &str, value: Literal) -> String {
    match value {
        Literal::Number(number) => format!("SET GLOBAL {name} = {number}"),
        Literal::Text(text) => format!("SET GLOBAL {name} = '{}'", text.replace('\'', "''")),
    }
}

fn local(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn beside_us() -> Result<PathBuf> {
    let own = std::env::current_exe().map_err(|error| Error::file(Path::new("palisade-lab"), error))?;
    Ok(own.with_file_name("palisade"))
}

fn free_port() -> std::io::Result<u16> {
    TcpListener::bind("127.0.0.1:0")?.local_addr().map(|address| address.port())
}

/// How long a server may take to shut down before it is killed.
const SHUTDOWN: Duration = Duration::from_secs(60);

/// How often a server is looked at that starts or stops.
const STEP: Duration = Duration::from_millis(10);

/// How often it is tried whether one that starts lets somebody in, and how long each try may take.
const LOGIN_STEP: Duration = Duration::from_secs(1);

impl<'a> Spawned<'a> {
    /// Starts `program` and waits until it is ready.
    fn start(
        name: &str,
        program: &Path,
        folder: PathBuf,
        address: &Address,
        options: &[String],
        nursery: &Nursery<'a>,
    ) -> Result<Spawned<'a>> {
        std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
        let log = folder.join(LOG);
        let log = std::fs::File::create(&log).map_err(|error| Error::file(&log, error))?;
        let child = Command::new(program)
            .arg(format!("--datadir={}", folder.join("data").display()))
            .arg(format!("--socket={}", folder.join("mysql.sock").display()))
            .arg(format!("--port={}", address.port))
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .process_group(0)
            .spawn()
            .map_err(|error| Error::file(program, error))?;
        let mut spawned = Spawned { child, folder, guardian: nursery.guardian };
        nursery.guardian.watch(spawned.child.id())?;
        spawned.become_ready(address, nursery.patience)?.map_err(|problem| Error::NotReady {
            server: name.to_owned(),
            problem,
            printed: spawned.log(),
        })?;
        Ok(spawned)
    }

    /// Waits until the server is ready, has ended, or has taken too long. The inner error says which of the latter two.
    fn become_ready(
        &mut self,
        address: &Address,
        patience: Duration,
    ) -> Result<std::result::Result<(), String>> {
        let end = Instant::now() + patience;
        let mut next_login = Instant::now() + LOGIN_STEP;
        loop {
            // in this order: what it said before it ended is all there
            let ended = self.child.try_wait();
            let said = std::fs::read(self.folder.join(LOG)).unwrap_or_default();
            match ended {
                Ok(None) if said.windows(READY.len()).any(|part| part == READY) => return Ok(Ok(())),
                Ok(None) if Instant::now() > end => {
                    return Ok(Err(format!(
                        "the server did not say '{}' within {} s, nor was {address} let in, and was killed; it has said:",
                        String::from_utf8_lossy(READY),
                        patience.as_secs_f64()
                    )));
                }
                Ok(None) if Instant::now() > next_login => {
                    // had another server taken the port meanwhile, this one would end
                    if Connection::open("", address, LOGIN_STEP).is_ok() {
                        return Ok(Ok(()));
                    }
                    next_login = Instant::now() + LOGIN_STEP;
                }
                Ok(None) => tool::pause(STEP)?,
                Ok(Some(status)) => return Ok(Err(format!("the server did not start: {status}"))),
                Err(error) => return Ok(Err(error.to_string())),
            }
        }
    }

    /// The end of what the server has said.
    fn log(&self) -> String {
        let said = std::fs::read(self.folder.join(LOG)).unwrap_or_default();
        tail(&String::from_utf8_lossy(&said))
    }

    /// Stops the server in good order; tells if it did not go so.
    fn stop(&mut self) -> std::result::Result<(), String> {
        let ended = |child: &mut Child| -> std::result::Result<Option<ExitStatus>, String> {
            child.try_wait().map_err(|error| error.to_string())
        };
        if let Some(status) = ended(&mut self.child)? {
            return Err(format!("the server ended while the experiment ran: {status}"));
        }
        process::signal_group(self.child.id(), Signal::TERM).map_err(|error| error.to_string())?;
        let end = Instant::now() + SHUTDOWN;
        while Instant::now() < end {
            match ended(&mut self.child)? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server shut down with {status}")),
                None => std::thread::sleep(STEP),
            }
        }
        Err(format!("the server did not shut down within {} s and was killed", SHUTDOWN.as_secs()))
    }
}

/// What a server prints on its standard error when it takes connections.
const READY: &[u8] = b"ready for connections";

/// What a server has printed, in its folder.
const LOG: &str = "error.log";

impl Drop for Spawned<'_> {
    fn drop(&mut self) {
        // whatever is left of it: the program may be a script that has started the server. That nothing is left is as well.
        let group = self.child.id();
        let _ = process::signal_group(group, Signal::KILL);
        let _ = self.child.wait();
        // a guardian that has gone has done it
        let _ = self.guardian.forget(group);
        // the temporary folder it lies in goes with the experiment
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::fake::{Fake, Reply};

    #[test]
    fn words_are_quoted_and_numbers_are_not() {
        assert_eq!(set_statement("a", Literal::Number("67108864")), "SET GLOBAL a = 67108864");
        assert_eq!(set_statement("a", Literal::Text("1")), "SET GLOBAL a = '1'");
        assert_eq!(set_statement("a", Literal::Text("it's")), "SET GLOBAL a = 'it''s'");
        assert_eq!(set_statement("a", Literal::Text("")), "SET GLOBAL a = ''");
    }

    #[test]
    fn only_loopback_is_this_machine() {
        assert!(local("127.0.0.1") && local("localhost") && local("::1") && local("127.0.0.2"));
        assert!(!local("10.0.0.1") && !local("db.example"));
    }

    #[test]
    fn a_server_that_does_not_answer_is_named_with_how_to_reach_it() {
        let port = free_port().expect("a port");
        let spec: ServerSpec =
            format!("mysql=root:secret@127.0.0.1:{port}").parse().expect("a specification");
        let folder = tempfile::tempdir().expect("a folder");
        let guardian = Guardian::new(folder.path()).expect("a shell");
        let nursery = nursery(folder.path(), None, &guardian);
        let Err(error) = Server::open(&spec, &nursery) else { panic!("nobody listens there") };
        let text = error.to_string();
        assert!(text.contains(&format!("mysql: cannot connect to root@127.0.0.1:{port}")), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }

    fn nursery<'a>(folder: &'a Path, program: Option<&'a Path>, guardian: &'a Guardian) -> Nursery<'a> {
        Nursery { folder, program, settings: &[], guardian, patience: PATIENCE }
    }

    #[test]
    fn a_program_that_is_missing_or_no_server_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let guardian = Guardian::new(folder.path()).expect("a shell");
        let spec: ServerSpec = "palisade=spawn".parse().expect("a specification");
        let missing = folder.path().join("palisade");
        let Err(error) = Server::open(&spec, &nursery(folder.path(), Some(&missing), &guardian)) else {
            panic!("there is no program")
        };
        assert!(error.to_string().contains("cargo build --release -p palisade-server"), "{error}");
        let Err(error) = Server::open(&spec, &nursery(folder.path(), Some(Path::new("/bin/ls")), &guardian))
        else {
            panic!("ls is no server")
        };
        assert!(error.to_string().contains("palisade: the server did not start: exit status: 2"), "{error}");
    }

    #[test]
    fn a_server_whose_words_go_elsewhere_is_ready_when_it_lets_root_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let guardian = Guardian::new(folder.path()).expect("a shell");
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/never-ready");
        let fake = Fake::new(|_| Reply::Done);
        let nursery = nursery(folder.path(), None, &guardian);
        let data = folder.path().join("a");
        let started = Spawned::start("a", &program, data, &fake.address(), &[], &nursery);
        started.expect("its port lets root in");
    }

    #[test]
    fn what_is_selected_as_a_number_and_set_as_a_word_is_put_back_as_a_word() {
        let fake = Fake::new(|statement| match statement {
            "SELECT @@GLOBAL.x" => Reply::value("1"),
            "SHOW GLOBAL VARIABLES WHERE Variable_name = 'x'" => {
                Reply::Rows(vec![vec!["x".to_owned(), "ON".to_owned()]])
            }
            "SET GLOBAL x = 'ON'" | "SET GLOBAL x = 'OFF'" => Reply::Done,
            _ => Reply::Refused(1231, "Variable 'x' can't be set to that value"),
        });
        let mut server = Server::at("a", fake.address()).expect("it lets everybody in");
        assert_eq!(server.set("x", Literal::Text("OFF")).expect("an answer"), Answer::Done);
        let refused = server.set("x", Literal::Text("AUTO")).expect("an answer");
        assert!(matches!(refused, Answer::Refused(_)), "{refused:?}");
        assert_eq!(server.close(), [""; 0]);
        assert_eq!(fake.heard().last().map(String::as_str), Some("SET GLOBAL x = 'ON'"));
    }

    #[test]
    fn the_facts_have_the_values_that_the_runs_had() {
        let value = Mutex::new("1073741824".to_owned());
        let fake = Fake::new(move |statement| {
            let mut value = value.lock().expect("nobody fails with it");
            match statement.strip_prefix("SET GLOBAL innodb_redo_log_capacity = ") {
                Some(new) => value.replace_range(.., new),
                None if statement.ends_with("innodb_redo_log_capacity") => return Reply::value(&value),
                None if statement.starts_with("SHOW") => {
                    return Reply::Rows(vec![vec!["innodb_redo_log_capacity".to_owned(), value.clone()]]);
                }
                None => return Reply::value("7"),
            }
            Reply::Done
        });
        let mut server = Server::at("a", fake.address()).expect("it lets everybody in");
        let mut facts = server.facts().expect("it answers");
        let capacity = |facts: &ServerFacts| facts.settings["innodb_redo_log_capacity"].clone();
        assert_eq!(capacity(&facts).as_deref(), Some("1073741824"));
        for bytes in ["67108864", "67108864", "8388608"] {
            let answer = server.set("innodb_redo_log_capacity", Literal::Number(bytes)).expect("an answer");
            assert_eq!(answer, Answer::Done);
        }
        server.note_changes(&mut facts);
        assert_eq!(capacity(&facts).as_deref(), Some("67108864, 8388608"));
        assert_eq!(facts.settings["log_bin"].as_deref(), Some("7"), "what was not set is as it was");
        assert_eq!(server.close(), [""; 0]);
        let undone = "SET GLOBAL innodb_redo_log_capacity = 1073741824";
        assert_eq!(fake.heard().last().map(String::as_str), Some(undone));
    }

    #[test]
    fn a_program_named_without_a_folder_is_the_one_that_was_looked_at() {
        let folder = tempfile::tempdir().expect("a folder");
        let guardian = Guardian::new(folder.path()).expect("a shell");
        // the tests run in the crate's folder, where no program of PATH is called so
        let spec: ServerSpec = "a=spawn:Cargo.toml".parse().expect("a specification");
        let Err(error) = Server::open(&spec, &nursery(folder.path(), None, &guardian)) else {
            panic!("it is no program")
        };
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(error.to_string().starts_with(&format!("{}: ", program.display())), "{error}");
    }

    #[test]
    fn a_program_that_neither_ends_nor_says_it_is_ready_is_killed_after_a_while() {
        let folder = tempfile::tempdir().expect("a folder");
        let guardian = Guardian::new(folder.path()).expect("a shell");
        let spec: ServerSpec = "palisade=spawn".parse().expect("a specification");
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/never-ready");
        // However slow the machine is, one of the limits leaves the shell the time to say it.
        let said = (0..).map(|power| Duration::from_millis(50 << power)).find_map(|patience| {
            let nursery = Nursery { patience, ..nursery(folder.path(), Some(&program), &guardian) };
            let Err(error) = Server::open(&spec, &nursery) else { panic!("it is no server") };
            let text = error.to_string();
            let limit = format!("did not say 'ready for connections' within {} s", patience.as_secs_f64());
            assert!(text.contains(&limit) && text.contains("nor was root@127.0.0.1:"), "{text}");
            text.split_once("sleeping as ")?.1.split_once(';')?.0.parse::<u32>().ok()
        });
        let child = said.expect("the search ends by finding it");
        while process::lives(child) {
            std::thread::sleep(STEP);
        }
    }
}
