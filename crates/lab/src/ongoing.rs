//! A load that goes on while a setting of its server is changed, and what the server counts meanwhile.
//!
//! The runs of one setting differ from each other by more than the settings do, because each brings a load of its own:
//! connections, interpreters, data. Runs that take turns under one load have all that in common.
//!
//! ```text
//!   start        begun    warm                                      end
//!     |-- connect --|------|-- ON ---|-- OFF --|- AUTO --|-- ... ---|  killed, connections gone
//!                          |..=======|..=======|..=======|
//!                           settling, then counted by the server itself
//! ```
//!
//! Loads of several servers, or of several numbers of clients, can go on at once as well: all of them are halted but the one whose
//! turn it is.
//!
//! A tool says little while it runs, so the server is asked: its counters tell when the load has begun and what was done in a
//! turn, and its list of processes that the connections are all there at the end of it. Each load has a schema of its own, by
//! which its connections are told from those of the others.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::error::{Error, Result};
use crate::guardian::Guardian;
use crate::process;
use crate::server::Server;
use crate::tool::{self, Invocation, Running};

/// How a server shows that a load has begun: its connections are all there, and a status variable has grown by more than the
/// tool's preparations make it grow.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// The schema that the load's connections are in, and those of no other load.
    pub schema: String,
    /// How many these are: one for each client, and those that the tool has for itself.
    pub connections: u32,
    /// The status variable.
    pub counter: &'static str,
    /// What the preparations add to it.
    pub beyond: u64,
}

/// How long a load may take until it has begun.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long the connections of a killed load may take to go. Some other client's may stay.
const PARTING: Duration = Duration::from_secs(20);

/// How often the server is asked meanwhile.
const STEP: Duration = Duration::from_millis(50);

/// A load that goes on. Dropping it ends it.
pub struct Ongoing<'a> {
    /// What was done for it, as one would type it.
    pub commands: Vec<String>,
    running: Running,
    guardian: &'a Guardian,
    members: Members,
}

/// The connections of a load.
#[derive(Debug)]
struct Members {
    /// Where they are.
    schema: String,
    /// How many they must be.
    whole: u64,
    /// Those in the schema before the load came: somebody else's.
    others: u64,
}

impl Members {
    /// Those that are there now.
    fn count(&self, server: &mut Server) -> Result<u64> {
        Ok(connections_in(server, &self.schema)?.saturating_sub(self.others))
    }
}

impl<'a> Ongoing<'a> {
    /// Starts the load, which must not end by itself, and waits until it has begun.
    pub fn start(
        invocation: &Invocation,
        beginning: Beginning,
        server: &mut Server,
        guardian: &'a Guardian,
    ) -> Result<Ongoing<'a>> {
        let Beginning { schema, connections, counter, beyond } = beginning;
        let others = connections_in(server, &schema)?;
        let members = Members { schema, whole: connections.into(), others };
        let [before] = status(server, [counter])?;
        let running = invocation.start()?;
        guardian.watch(running.group())?;
        let commands = vec![invocation.shown()];
        let mut load = Ongoing { commands, running, guardian, members };
        let end = Instant::now() + PATIENCE;
        loop {
            tool::pause(STEP)?;
            load.running.check()?;
            let [now] = status(server, [counter])?;
            let there = load.members.count(server)?;
            if there >= load.members.whole && now.saturating_sub(before) > beyond {
                return Ok(load);
            }
            if Instant::now() > end {
                return Err(load.running.give_up(format!(
                    "did not begin within {} s: of {connections} connections {there} were there, and {counter} had grown by {}",
                    PATIENCE.as_secs(),
                    now.saturating_sub(before)
                )));
            }
        }
    }

    /// Stops it where it is, its connections with it. What it has sent is still answered. A lock that it holds stays held, so that
    /// loads of which one is halted must have tables of their own.
    pub fn halt(&self) -> Result<()> {
        self.running.signal(Signal::STOP)
    }

    /// Has it go on.
    pub fn go_on(&self) -> Result<()> {
        self.running.signal(Signal::CONT)
    }

    /// Fails unless the load is as it was: what was counted until now would be of something else.
    pub fn check(&mut self, server: &mut Server) -> Result<()> {
        self.running.check()?;
        let (left, whole) = (self.members.count(server)?, self.members.whole);
        if left >= whole {
            return Ok(());
        }
        Err(Error::check(&server.name, format!("of {whole} connections of the load {left} are left")))
    }

    /// Ends the load and waits until its connections have gone. A server that has gone with them is the next run's to find.
    pub fn end(mut self, server: &mut Server) -> Result<()> {
        self.running.stop();
        let end = Instant::now() + PARTING;
        while let Ok(1..) = self.members.count(server)
            && Instant::now() < end
        {
            tool::pause(STEP)?;
        }
        Ok(())
    }
}

impl Drop for Ongoing<'_> {
    fn drop(&mut self) {
        self.running.stop();
        // a guardian that has gone has done it
        let _ = self.guardian.forget(self.running.group());
    }
}

/// What a server has done until now.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    at: Instant,
    statements: u64,
    /// Processor time, where the lab can see it.
    cpu_us: Option<f64>,
}

/// What a server did between two readings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Statements that its clients sent.
    pub statements: f64,
    /// How long it took.
    pub seconds: f64,
    /// Processor time, where the lab can see it.
    pub cpu_us: Option<f64>,
}

impl Reading {
    /// Asks the server.
    pub fn take(server: &mut Server) -> Result<Reading> {
        let [statements] = status(server, [STATEMENTS])?;
        Ok(Reading { at: Instant::now(), statements, cpu_us: server.pid().and_then(process::cpu_us) })
    }

    /// Fails if fewer statements were sent since an earlier reading than a load claims to have sent.
    pub fn check_since(&self, earlier: &Reading, claimed: f64, server: &str) -> Result<()> {
        let counted = self.since(earlier).map_or(0.0, |work| work.statements);
        if counted >= claimed {
            return Ok(());
        }
        let found = format!(
            "the load has {claimed} statements, and the server counted {counted}: clients are missing"
        );
        Err(Error::check(server, found))
    }

    /// What was done since an earlier reading, if nothing else was asked of the server by the lab. `None` if it was nothing, or the
    /// server began to count anew.
    pub fn since(&self, earlier: &Reading) -> Option<Work> {
        // one of the two readings is among them
        let statements = self.statements.checked_sub(earlier.statements)?.checked_sub(1)?;
        (statements > 0).then(|| Work {
            statements: statements as f64,
            seconds: (self.at - earlier.at).as_secs_f64(),
            cpu_us: self.cpu_us.zip(earlier.cpu_us).map(|(now, then)| now - then),
        })
    }
}

/// Statements sent by clients, executions of prepared ones included: every server that is known here counts so.
const STATEMENTS: &str = "Questions";

/// The connections that are in a schema. All servers have this table, and show an account its own connections at least.
fn connections_in(server: &mut Server, schema: &str) -> Result<u64> {
    let statement = format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '{schema}'");
    let count = server.value(&statement)?.and_then(|count| count.parse().ok());
    count.ok_or_else(|| Error::check(&server.name, format!("no number answers {statement}")))
}

/// Some numbers of SHOW GLOBAL STATUS, by one statement.
fn status<const N: usize>(server: &mut Server, names: [&str; N]) -> Result<[u64; N]> {
    let list: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let rows = server.query(&format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", list.join(", ")))?;
    let mut values = [0; N];
    for (value, name) in values.iter_mut().zip(names) {
        *value = find(&rows, name).ok_or_else(|| {
            Error::check(&server.name, format!("SHOW GLOBAL STATUS has no number '{name}'"))
        })?;
    }
    Ok(values)
}

fn find(rows: &[Vec<Option<String>>], name: &str) -> Option<u64> {
    rows.iter().find_map(|row| match row.as_slice() {
        [Some(known), Some(value)] if known.eq_ignore_ascii_case(name) => value.parse().ok(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex, MutexGuard};

    use super::*;
    use crate::fake::{Fake, Reply};
    use crate::tool::Tool;

    /// What a server has of loads.
    #[derive(Default)]
    struct Loads {
        /// Connections by schema.
        there: BTreeMap<&'static str, u64>,
        /// Those that are there from the next question for the status on.
        coming: Option<(&'static str, u64)>,
        inserts: u64,
    }

    impl Loads {
        fn answer(&mut self, statement: &str) -> Reply {
            if let Some((_, schema)) = statement.split_once("information_schema.PROCESSLIST WHERE DB = ") {
                let schema = schema.trim_matches('\'');
                return Reply::value(&self.there.get(schema).copied().unwrap_or_default().to_string());
            }
            self.there.extend(self.coming.take());
            self.inserts += 1;
            Reply::Rows(vec![vec!["Com_insert".to_owned(), self.inserts.to_string()]])
        }
    }

    /// A server, and a place for it.
    fn with_loads() -> (Fake, Arc<Mutex<Loads>>, tempfile::TempDir) {
        let loads = Arc::<Mutex<Loads>>::default();
        let own = Arc::clone(&loads);
        let fake = Fake::new(move |statement| locked(&own).answer(statement));
        (fake, loads, tempfile::tempdir().expect("a folder"))
    }

    fn locked(loads: &Mutex<Loads>) -> MutexGuard<'_, Loads> {
        loads.lock().expect("nobody fails with it")
    }

    fn shell(line: &str) -> Invocation {
        Invocation::new(&Tool { program: "sh", install: "it is everywhere" }).args(["-c", line])
    }

    fn beginning(schema: &str, connections: u32) -> Beginning {
        Beginning { schema: schema.to_owned(), connections, counter: "Com_insert", beyond: 0 }
    }

    #[test]
    fn a_load_has_its_own_connections_whoever_else_comes_and_goes() {
        let (fake, loads, folder) = with_loads();
        let guardian = Guardian::new(folder.path()).expect("a shell");
        let mut server = Server::at("a", fake.address()).expect("it lets everybody in");
        let mut start = |schema: &'static str, connections: u32| {
            locked(&loads).coming = Some((schema, connections.into()));
            let endless = shell("exec sleep 1000");
            let load = Ongoing::start(&endless, beginning(schema, connections), &mut server, &guardian);
            load.expect("its connections come")
        };
        let [mut first, mut second, third] = [start("first", 2), start("second", 3), start("third", 4)];
        locked(&loads).there.insert("second", 2);
        first.check(&mut server).expect("it has lost none");
        let error = second.check(&mut server).expect_err("it has lost one, though others came later");
        assert_eq!(error.to_string(), "a: of 3 connections of the load 2 are left");
        locked(&loads).there.insert("second", 0);
        let begun = Instant::now();
        second.end(&mut server).expect("it ends");
        assert!(begun.elapsed() < PARTING, "the connections of other loads are not waited for");
        first.check(&mut server).expect("it goes on");
        for load in [first, third] {
            locked(&loads).there.clear();
            load.end(&mut server).expect("it ends");
        }
    }

    #[test]
    fn a_load_that_cannot_connect_says_why() {
        let (fake, _loads, folder) = with_loads();
        let guardian = Guardian::new(folder.path()).expect("a shell");
        let mut server = Server::at("a", fake.address()).expect("it lets everybody in");
        let line = "echo 'slap: Error when connecting to server: 1040' >&2; exec sleep 1000";
        let Err(error) = Ongoing::start(&shell(line), beginning("d", 2), &mut server, &guardian) else {
            panic!("it has no connection")
        };
        assert!(error.to_string().ends_with("slap: Error when connecting to server: 1040"), "{error}");
    }

    fn reading(at: Instant, statements: u64, cpu_us: Option<f64>) -> Reading {
        Reading { at, statements, cpu_us }
    }

    #[test]
    fn work_is_a_difference_without_the_labs_own_statement() {
        let start = Instant::now();
        let before = reading(start, 100, Some(5.0));
        let after = reading(start + Duration::from_secs(2), 301, Some(45.0));
        let expected = Work { statements: 200.0, seconds: 2.0, cpu_us: Some(40.0) };
        assert_eq!(after.since(&before), Some(expected));
        let elsewhere = reading(start + Duration::from_secs(2), 301, None);
        assert_eq!(elsewhere.since(&before), Some(Work { cpu_us: None, ..expected }));
    }

    #[test]
    fn nothing_done_is_no_work() {
        let start = Instant::now();
        let before = reading(start, 100, None);
        for statements in [0, 99, 100, 101] {
            assert_eq!(reading(start, statements, None).since(&before), None, "{statements}");
        }
    }

    #[test]
    fn a_load_that_sent_less_than_it_claims_is_found_out() {
        let start = Instant::now();
        let [before, after] = [100, 301].map(|statements| reading(start, statements, None));
        after.check_since(&before, 200.0, "a").expect("200 and the lab's own one");
        let error = after.check_since(&before, 201.0, "a").expect_err("one is missing").to_string();
        assert_eq!(error, "a: the load has 201 statements, and the server counted 200: clients are missing");
        assert!(before.check_since(&before, 1.0, "a").is_err());
    }

    #[test]
    fn a_status_variable_is_found_by_its_name() {
        let row = |name: &str, value: Option<&str>| vec![Some(name.to_owned()), value.map(str::to_owned)];
        let rows = [row("Queries", Some("8")), row("QUESTIONS", Some("7")), row("Uptime", Some("long"))];
        assert_eq!(find(&rows, "Questions"), Some(7));
        assert_eq!((find(&rows, "Uptime"), find(&rows, "Threads_connected")), (None, None));
    }
}
