//! Isolation scenarios: a few sessions step through statements, and each level's answers are written down.
//!
//! `tests/isolation/NAME.steps` is a scenario. Its head, lines that begin with `#`, says what the anomaly is and why each
//! level shows it or not. A line `SESSION: STATEMENT` is a step; those of the session `setup` make the rows, with
//! automatic commit, before each level's run. Every level runs the same steps, and `NAME.out` holds what came of each,
//! the levels of one outcome together:
//!
//! ```text
//! two: UPDATE stock SET n = 12 WHERE id = 1
//!     all: waits
//! one: COMMIT
//!     RU RC RR SZ: ok; two goes on: 1 row changed
//!     SI: ok; two goes on: ERROR 1020 (HY000): Record has changed since last read in table 'stock'
//! ```
//!
//! A step is over when every session either has its answer or is shown to wait for a lock, by
//! `information_schema.INNODB_TRX`; so nothing depends on how long anything takes. A session that waits takes its further
//! steps later, when it has got its answer ("postponed"); one whose transaction an error has ended takes them not at all,
//! up to its next BEGIN ("gone"): a program would start over. What came of a step is told of its own session first, then of the
//! others in the order in which they first appear.
//!
//! MySQL 9.7 answers every scenario the same at the four levels that it has, except g2-missing-row, which says why. With
//! `PEER_PORT` another server, which has no `innodb_snapshot_isolation`, is asked instead, and the difference shown.
//! `UPDATE_EXPECT=1` writes what Palisade answers, for reading the difference with git.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::client::{Answer, Client};
use crate::process::{command, output, root, target};
use crate::server::Server;

/// An isolation level: its name in the files, and what sets it.
struct Level {
    name: &'static str,
    isolation: &'static str,
    snapshot_isolation: bool,
}

const LEVELS: &[Level] = &[
    Level { name: "RU", isolation: "READ UNCOMMITTED", snapshot_isolation: false },
    Level { name: "RC", isolation: "READ COMMITTED", snapshot_isolation: false },
    Level { name: "RR", isolation: "REPEATABLE READ", snapshot_isolation: false },
    Level { name: "SI", isolation: "REPEATABLE READ", snapshot_isolation: true },
    Level { name: "SZ", isolation: "SERIALIZABLE", snapshot_isolation: false },
];

/// The session whose steps make the rows.
const SETUP: &str = "setup";
/// Errors that end the transaction, not only the statement: a deadlock, a row newer than the snapshot.
const ENDS_TRANSACTION: &[u16] = &[1213, 1020];

/// Runs every scenario at every level.
pub fn run() -> Outcome {
    let folder = root().join("tests/isolation");
    let peer = match std::env::var("PEER_PORT") {
        Ok(text) => Some(text.parse().map_err(|_| format!("PEER_PORT is not a number: {text}"))?),
        Err(_) => None,
    };
    // kept until the end: dropping it stops the server
    let server = if peer.is_none() { Some(Server::start("scenarios", &[])?) } else { None };
    let port = peer.or(server.as_ref().map(|server| server.port)).expect("one of the two");
    // InnoDB shows its transactions from a cache, renewed only when nobody has looked for 100 ms
    let look_every = Duration::from_millis(if peer.is_some() { 120 } else { 4 });
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "steps"))
        .collect();
    files.sort();
    let mut failed = 0;
    for file in &files {
        let name = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
        let scenario = Scenario::parse(&text).map_err(|message| format!("{name}: {message}"))?;
        let levels: Vec<&Level> =
            LEVELS.iter().filter(|level| peer.is_none() || !level.snapshot_isolation).collect();
        let mut outcomes = Vec::new();
        for level in &levels {
            let outcome = Run::new(port, level, look_every, &scenario)
                .and_then(|run| run.play(&scenario))
                .map_err(|error| format!("{name}: {}: {error}", level.name))?;
            outcomes.push(outcome);
        }
        failed += usize::from(!is_as_expected(file, &scenario.show(&levels, &outcomes), peer.is_some())?);
    }
    println!("isolation scenarios: {} passed, {failed} failed", files.len() - failed);
    if failed == 0 || peer.is_some() { Ok(()) } else { Err(format!("{failed} scenarios went differently")) }
}

/// Compares with the file of expectations and prints the difference.
fn is_as_expected(file: &Path, printed: &str, is_peer: bool) -> Result<bool, String> {
    let expected = file.with_extension("out");
    let expectations = if is_peer {
        let text = std::fs::read_to_string(&expected).map_err(|error| error.to_string())?;
        let path = target().join("scenario.expected");
        std::fs::write(&path, without_snapshot_isolation(&text)).map_err(|error| error.to_string())?;
        path
    } else {
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected, printed).map_err(|error| error.to_string())?;
        }
        expected
    };
    let actual = target().join("scenario.actual");
    std::fs::write(&actual, printed).map_err(|error| error.to_string())?;
    let [expected, actual] = [&expectations, &actual].map(|path| path.to_str().expect("UTF-8"));
    match output(&mut command("diff", &["-U2", expected, actual])) {
        Ok(_) => Ok(true),
        Err(difference) => {
            println!("{}\n{difference}", file.display());
            Ok(false)
        }
    }
}

/// The expectations of the levels that MySQL has.
fn without_snapshot_isolation(text: &str) -> String {
    let mut kept = String::new();
    for line in text.lines() {
        let Some((levels, outcome)) = line.strip_prefix("    ").and_then(|line| line.split_once(": ")) else {
            kept.push_str(line);
            kept.push('\n');
            continue;
        };
        let others: Vec<&str> = levels.split(' ').filter(|level| *level != "SI").collect();
        match others.as_slice() {
            [] => {}
            ["RU", "RC", "RR", "SZ"] => _ = writeln!(kept, "    all: {outcome}"),
            others => _ = writeln!(kept, "    {}: {outcome}", others.join(" ")),
        }
    }
    kept
}

struct Scenario {
    setup: Vec<String>,
    /// Names of the sessions, in order of their first steps.
    sessions: Vec<String>,
    /// Session and statement.
    steps: Vec<(usize, String)>,
}

impl Scenario {
    fn parse(text: &str) -> Result<Scenario, String> {
        let mut scenario = Scenario { setup: Vec::new(), sessions: Vec::new(), steps: Vec::new() };
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, statement) = line.split_once(": ").ok_or_else(|| format!("no step: {line}"))?;
            if name == SETUP {
                scenario.setup.push(statement.to_owned());
                continue;
            }
            let session = scenario.sessions.iter().position(|known| known == name).unwrap_or_else(|| {
                scenario.sessions.push(name.to_owned());
                scenario.sessions.len() - 1
            });
            scenario.steps.push((session, statement.to_owned()));
        }
        Ok(scenario)
    }

    /// The steps with each level's outcome, equal ones together.
    fn show(&self, levels: &[&Level], outcomes: &[Vec<String>]) -> String {
        let mut shown = String::new();
        for (number, (session, statement)) in self.steps.iter().enumerate() {
            // writing to a String does not fail
            let _ = writeln!(shown, "{}: {statement}", self.sessions[*session]);
            let mut groups: Vec<(Vec<&str>, &str)> = Vec::new();
            for (level, outcome) in levels.iter().zip(outcomes) {
                let outcome = outcome[number].as_str();
                match groups.iter_mut().find(|(_, known)| *known == outcome) {
                    Some((names, _)) => names.push(level.name),
                    None => groups.push((vec![level.name], outcome)),
                }
            }
            for (names, outcome) in groups {
                let names = if names.len() == levels.len() { "all".to_owned() } else { names.join(" ") };
                let _ = writeln!(shown, "    {names}: {outcome}");
            }
        }
        shown
    }
}

/// A session of a run.
struct Session {
    client: Client,
    /// It has sent a statement and has no answer yet.
    busy: bool,
    /// An error has ended its transaction.
    gone: bool,
    postponed: VecDeque<String>,
}

/// One level's run of a scenario.
struct Run<'a> {
    watcher: Client,
    sessions: Vec<Session>,
    names: &'a [String],
    look_every: Duration,
}

type Result<T, E = std::io::Error> = std::result::Result<T, E>;

fn must(client: &mut Client, statement: &str) -> Result<Answer> {
    match client.query(statement)? {
        Answer::Failed(number, _, text) => {
            Err(std::io::Error::other(format!("{statement}: ERROR {number}: {text}")))
        }
        answer => Ok(answer),
    }
}

impl<'a> Run<'a> {
    fn new(port: u16, level: &Level, look_every: Duration, scenario: &'a Scenario) -> Result<Run<'a>> {
        let mut watcher = Client::connect(port)?;
        for statement in ["DROP DATABASE IF EXISTS scenario", "CREATE DATABASE scenario", "USE scenario"] {
            must(&mut watcher, statement)?;
        }
        for statement in &scenario.setup {
            must(&mut watcher, statement)?;
        }
        let mut sessions = Vec::new();
        for _ in &scenario.sessions {
            let mut client = Client::connect(port)?;
            must(&mut client, "USE scenario")?;
            must(&mut client, &format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", level.isolation))?;
            if level.snapshot_isolation {
                must(&mut client, "SET innodb_snapshot_isolation = ON")?;
            }
            sessions.push(Session { client, busy: false, gone: false, postponed: VecDeque::new() });
        }
        Ok(Run { watcher, sessions, names: &scenario.sessions, look_every })
    }

    /// Takes all steps; gives what came of each.
    fn play(mut self, scenario: &Scenario) -> Result<Vec<String>> {
        let mut outcomes = Vec::new();
        for (session, statement) in &scenario.steps {
            let session = *session;
            let mut outcome = Vec::new();
            if self.sessions[session].busy {
                self.sessions[session].postponed.push_back(statement.clone());
                outcome.push("postponed".to_owned());
            } else if self.is_skipped(session, statement) {
                outcome.push("gone".to_owned());
            } else {
                self.send(session, statement)?;
                self.settle(session, &mut outcome)?;
            }
            outcomes.push(outcome.join("; "));
        }
        match self.sessions.iter().position(|session| session.busy) {
            Some(waits) => Err(std::io::Error::other(format!("{} waits at the end", self.names[waits]))),
            None => Ok(outcomes),
        }
    }

    /// Whether a step falls out because the session's transaction is gone.
    fn is_skipped(&mut self, session: usize, statement: &str) -> bool {
        let session = &mut self.sessions[session];
        session.gone &= statement != "BEGIN";
        session.gone
    }

    fn send(&mut self, session: usize, statement: &str) -> Result<()> {
        self.sessions[session].client.send(statement)?;
        self.sessions[session].busy = true;
        Ok(())
    }

    /// Waits until every session has its answer or waits for a lock, and says what came. `current` took a step.
    fn settle(&mut self, current: usize, outcome: &mut Vec<String>) -> Result<()> {
        /// A wait that is over may be shown for a moment more.
        const CALM_LOOKS: u32 = 4;
        let give_up = Instant::now() + Duration::from_secs(30);
        let mut own = None;
        let mut others = Vec::new();
        let mut calm_looks = 0;
        loop {
            let mut moved = false;
            for number in 0..self.sessions.len() {
                let session = &mut self.sessions[number];
                if !session.busy || !session.client.is_answered()? {
                    continue;
                }
                let answer = session.client.receive()?;
                session.busy = false;
                moved = true;
                if let Answer::Failed(error, ..) = answer {
                    session.gone |= ENDS_TRANSACTION.contains(&error);
                }
                if number == current && own.is_none() {
                    own = Some(answer.to_string());
                } else {
                    others.push((number, format!("{} goes on: {answer}", self.names[number])));
                }
                while let Some(statement) = self.sessions[number].postponed.pop_front() {
                    if !self.is_skipped(number, &statement) {
                        self.send(number, &statement)?;
                        break;
                    }
                    others.push((number, format!("{} gone: {statement}", self.names[number])));
                }
            }
            if self.sessions.iter().all(|session| !session.busy) {
                break;
            }
            calm_looks = if moved || !self.all_busy_wait()? { 0 } else { calm_looks + 1 };
            if calm_looks == CALM_LOOKS {
                break;
            }
            if Instant::now() > give_up {
                return Err(std::io::Error::other("a statement neither ends nor waits for a lock"));
            }
            std::thread::sleep(self.look_every);
        }
        outcome.push(own.unwrap_or_else(|| "waits".to_owned()));
        outcome.extend(by_session(others));
        Ok(())
    }

    /// Whether each session without an answer is shown as waiting for a lock.
    fn all_busy_wait(&mut self) -> Result<bool> {
        let waiting =
            "SELECT trx_mysql_thread_id FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
        let Answer::Rows(rows) = must(&mut self.watcher, waiting)? else { return Ok(false) };
        let waiting: Vec<String> = rows.into_iter().flatten().flatten().collect();
        let mut busy = self.sessions.iter().filter(|session| session.busy);
        Ok(busy.all(|session| waiting.contains(&session.client.id.to_string())))
    }
}

/// Says what came of a step session by session: whose answer comes first is chance where one ends and lets another go on.
fn by_session(mut said: Vec<(usize, String)>) -> impl Iterator<Item = String> {
    said.sort_by_key(|(session, _)| *session);
    said.into_iter().map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_told_session_by_session_each_in_its_own_order() {
        let said = [(1, "two goes on"), (0, "one goes on"), (1, "two gone"), (0, "one gone")];
        let told: Vec<String> =
            by_session(said.map(|(session, text)| (session, text.to_owned())).into()).collect();
        assert_eq!(told, ["one goes on", "one gone", "two goes on", "two gone"]);
    }

    #[test]
    fn what_a_peer_is_compared_with_leaves_the_level_out_that_it_lacks() {
        let text = "one: BEGIN\n    all: ok\ntwo: x\n    RU RC RR SZ: waits\n    SI: ERROR\none: y\n    RR SI: 1\n    RU RC SZ: 2\n";
        let expected =
            "one: BEGIN\n    all: ok\ntwo: x\n    all: waits\none: y\n    RR: 1\n    RU RC SZ: 2\n";
        assert_eq!(without_snapshot_isolation(text), expected);
    }

    #[test]
    fn levels_of_one_outcome_stand_together() {
        let scenario = Scenario::parse("# head\nsetup: CREATE\none: a\ntwo: b\n").unwrap();
        let outcomes = ["x", "y", "x"].map(|last| vec!["ok".to_owned(), last.to_owned()]);
        let levels: Vec<&Level> = LEVELS[..3].iter().collect();
        let shown = scenario.show(&levels, &outcomes);
        assert_eq!(shown, "one: a\n    all: ok\ntwo: b\n    RU RR: x\n    RC: y\n");
    }
}
