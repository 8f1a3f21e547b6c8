//! Executes the statements of a suite and tells what they took.

use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::process;
use crate::server::Server;

/// Rows of an answer; a value that is NULL is `None`.
pub type Answer = Vec<Vec<Option<String>>>;

/// What a statement took, and what it answered.
#[derive(Debug)]
pub struct Taken {
    /// Elapsed seconds of one execution.
    pub elapsed_s: f64,
    /// The server's processor time for one execution, in seconds, where the lab can see it.
    pub cpu_s: Option<f64>,
    /// How often it was executed.
    pub executions: u32,
    /// The answer.
    pub answer: Answer,
}

/// The processor time of a process is told in hundredths of a second: a statement is executed until so much
/// has passed, unless it takes that long by itself.
const LONG_ENOUGH: Duration = Duration::from_millis(400);

/// What takes less has been executed once before it counts, so that caches are filled.
const SHORT: Duration = Duration::from_millis(250);

/// How often a statement is executed at most.
const EXECUTIONS: u32 = 10_000;

/// How long a statement that was given up may go on after it was killed.
const KILLED: Duration = Duration::from_secs(60);

/// A connection to a schema, each of whose statements must be answered within a limit.
pub struct Client {
    connection: Connection,
    id: String,
    limit: Duration,
}

impl Client {
    /// Connects. `limit` is for one execution.
    pub fn open(server: &Server, schema: &str, limit: Duration) -> Result<Client> {
        let mut connection = Connection::open(&server.name, &server.address, limit)?;
        connection.query(&format!("USE {schema}"))?;
        let id = connection.query("SELECT CONNECTION_ID()")?;
        let id = id.into_iter().flatten().next().flatten();
        let id = id.ok_or_else(|| Error::check(&server.name, "a connection has no number"))?;
        Ok(Client { connection, id, limit })
    }

    /// The answer to a statement. Of one that does not come in time the server is told to end it, and it has
    /// ended it when this returns.
    pub fn answer(&mut self, server: &mut Server, sql: &str) -> Result<Answer> {
        let begun = Instant::now();
        let answer = self.connection.query(sql);
        if matches!(answer, Err(Error::Lost { .. })) && begun.elapsed() >= self.limit {
            self.kill(server)?;
        }
        answer
    }

    fn kill(&self, server: &mut Server) -> Result<()> {
        // refused where it has just ended
        let _ = server.execute(&format!("KILL {}", self.id))?;
        let still = format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {}", self.id);
        let begun = Instant::now();
        while server.value(&still)?.is_some_and(|count| count != "0") {
            if begun.elapsed() > KILLED {
                let found = format!("a statement goes on {} s after it was killed", KILLED.as_secs());
                return Err(Error::check(&server.name, found));
            }
            crate::tool::pause(Duration::from_millis(100))?;
        }
        Ok(())
    }

    /// Executes a statement as often as it takes to tell its cost.
    pub fn measure(&mut self, server: &mut Server, sql: &str) -> Result<Taken> {
        let mut cpu = server.pid().and_then(process::cpu_us);
        let mut begun = Instant::now();
        let mut answer = self.answer(server, sql)?;
        let mut executions = 1;
        if begun.elapsed() < SHORT {
            cpu = server.pid().and_then(process::cpu_us);
            begun = Instant::now();
            executions = 0;
            while executions < EXECUTIONS && begun.elapsed() < LONG_ENOUGH {
                answer = self.answer(server, sql)?;
                executions += 1;
            }
        }
        let elapsed_s = begun.elapsed().as_secs_f64() / f64::from(executions);
        let now = server.pid().and_then(process::cpu_us);
        let cpu_s = now.zip(cpu).map(|(now, before)| (now - before) / 1e6 / f64::from(executions));
        Ok(Taken { elapsed_s, cpu_s, executions, answer })
    }
}

/// What an answer is recognised by: its number of rows and a hash of them, whatever their order. Numbers with
/// a fraction count as they are printed.
pub fn fingerprint(answer: &Answer) -> String {
    let mut sum = 0u64;
    for row in answer {
        let mut hash = Fnv::default();
        for value in row {
            match value {
                Some(text) => {
                    hash.bytes(text.as_bytes());
                    hash.bytes(&[0xFF]);
                }
                None => hash.bytes(&[0xFE]),
            }
        }
        sum = sum.wrapping_add(hash.0);
    }
    format!("{} rows, {sum:016x}", answer.len())
}

/// FNV-1a of 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xCBF2_9CE4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Reply};

    #[test]
    fn answers_are_the_same_in_any_order_and_differ_by_any_value() {
        let row = |values: &[Option<&str>]| values.iter().map(|value| value.map(str::to_owned)).collect();
        let (one, two): (Vec<_>, Vec<_>) = (row(&[Some("1"), None]), row(&[Some("2"), Some("b")]));
        let print =
            |rows: &[&Vec<Option<String>>]| fingerprint(&rows.iter().map(|row| (*row).clone()).collect());
        assert_eq!(print(&[&one, &two]), print(&[&two, &one]));
        assert_ne!(print(&[&one, &two]), print(&[&one, &one]));
        assert_ne!(print(&[&row(&[Some("ab"), Some("c")])]), print(&[&row(&[Some("a"), Some("bc")])]));
        assert!(print(&[&one]).starts_with("1 rows, "));
    }

    #[test]
    fn what_is_not_answered_in_time_is_killed() {
        let limit = Duration::from_millis(300);
        let fake = Fake::new(move |statement| match statement {
            "SELECT slow" => Reply::Late(4 * limit, "1"),
            "SELECT CONNECTION_ID()" => Reply::value("17"),
            _ => Reply::value("0"),
        });
        let mut server = Server::at("a", fake.address()).expect("it answers");
        let mut client = Client::open(&server, "s", limit).expect("it answers");
        let error = client.measure(&mut server, "SELECT slow").expect_err("it is late").to_string();
        assert!(error.contains("no answer within 0.3 s"), "{error}");
        assert!(fake.heard().contains(&"KILL 17".to_owned()), "{:?}", fake.heard());
    }
}
