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
//! A tool says little while it runs, so the server is asked: its counters tell when the load has begun, what was done in a turn,
//! and that the connections are all there at the end of it.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::error::{Error, Result};
use crate::guardian::Guardian;
use crate::process;
use crate::server::Server;
use crate::tool::{self, Invocation, Running};

/// How a server shows that a load has begun: a status variable has grown by more than the tool's preparations make it grow.
#[derive(Debug, Clone, Copy)]
pub struct Beginning {
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
    /// The server's connections before the load came.
    others: u64,
    clients: u32,
}

impl<'a> Ongoing<'a> {
    /// Starts the load of so many clients, which must not end by itself, and waits until it has begun.
    pub fn start(
        invocation: &Invocation,
        clients: u32,
        beginning: Beginning,
        server: &mut Server,
        guardian: &'a Guardian,
    ) -> Result<Ongoing<'a>> {
        let asked = [CONNECTIONS, beginning.counter];
        let [others, before] = status(server, asked)?;
        let running = invocation.start()?;
        guardian.watch(running.group())?;
        let commands = vec![invocation.shown()];
        let mut load = Ongoing { commands, running, guardian, others, clients };
        let end = Instant::now() + PATIENCE;
        loop {
            tool::pause(STEP)?;
            load.running.check()?;
            let [connections, now] = status(server, asked)?;
            if load.complete(connections) && now.saturating_sub(before) > beginning.beyond {
                return Ok(load);
            }
            if Instant::now() > end {
                let limit = PATIENCE.as_secs();
                return Err(Error::check(&server.name, format!("the load did not begin within {limit} s")));
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
        let [connections] = status(server, [CONNECTIONS])?;
        if self.complete(connections) {
            return Ok(());
        }
        let left = connections.saturating_sub(self.others);
        Err(Error::check(
            &server.name,
            format!("of {} connections of the load {left} are left", self.clients),
        ))
    }

    fn complete(&self, connections: u64) -> bool {
        connections >= self.others + u64::from(self.clients)
    }

    /// Ends the load and waits until its connections have gone. A server that has gone with them is the next run's to find.
    pub fn end(mut self, server: &mut Server) -> Result<()> {
        self.running.stop();
        let end = Instant::now() + PARTING;
        while let Ok([connections]) = status(server, [CONNECTIONS])
            && connections > self.others
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

/// Connections, the lab's own included.
const CONNECTIONS: &str = "Threads_connected";

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
    use super::*;

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
    fn a_status_variable_is_found_by_its_name() {
        let row = |name: &str, value: Option<&str>| vec![Some(name.to_owned()), value.map(str::to_owned)];
        let rows = [row("Queries", Some("8")), row("QUESTIONS", Some("7")), row("Uptime", Some("long"))];
        assert_eq!(find(&rows, "Questions"), Some(7));
        assert_eq!((find(&rows, "Uptime"), find(&rows, "Threads_connected")), (None, None));
    }
}
