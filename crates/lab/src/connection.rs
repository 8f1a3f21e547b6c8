//! The lab's own connection to a server: one statement after the other, and never the answer of another one.
//!
//! ```text
//!   none --- statement: opens one ---> open --- answer, or refusal ---> open
//!     ^                                  |
//!     '------- no answer in time, -------'
//!              connection lost
//! ```
//!
//! A statement that was not answered in time may be answered later, and the next one would take that for its
//! own answer: the connection is given up. Between statements hours may pass in which a load runs, so that
//! the server is asked to wait for the lab longer than it does for others.

use std::time::{Duration, Instant};

use mysql::prelude::Queryable as _;
use mysql::{Conn, OptsBuilder, Value};

use crate::error::{Error, Result};
use crate::spec::Address;

/// How long a statement of the lab's own may take. The longest ones drop the tables of a load.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(300);

/// How long such a statement waits for the tables of a load that was killed: shorter, so that the server says
/// what it was.
const TABLE_LIMIT: Duration = Duration::from_secs(120);

/// How long a server keeps the connection though nothing is asked: a week.
const IDLE_LIMIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long it may take until a server has taken a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Errors with which a server closes a connection: it shuts down, the connection was idle, an account killed
/// it (MariaDB).
const PARTING: &[u16] = &[1053, 4031, 1927];

/// A connection, opened when it is needed.
pub struct Connection {
    server: String,
    address: Address,
    answer_limit: Duration,
    /// None of whose statements lacks its answer.
    open: Option<Conn>,
}

impl Connection {
    /// Connects.
    pub fn open(server: &str, address: &Address, answer_limit: Duration) -> Result<Connection> {
        let (server, address) = (server.to_owned(), address.clone());
        let mut connection = Connection { server, address, answer_limit, open: None };
        connection.open = Some(connection.new_one().map_err(|error| Error::Unreachable {
            server: connection.server.clone(),
            address: Box::new(connection.address.clone()),
            reason: reason(&error),
        })?);
        Ok(connection)
    }

    fn new_one(&self) -> mysql::Result<Conn> {
        let init = [
            format!("SET SESSION lock_wait_timeout = {}", TABLE_LIMIT.as_secs()),
            format!("SET SESSION wait_timeout = {}", IDLE_LIMIT.as_secs()),
        ];
        Conn::new(options(&self.address, self.answer_limit).init(init.to_vec()))
    }

    /// Sends a statement; its rows as text.
    pub fn query(&mut self, statement: &str) -> Result<Vec<Vec<Option<String>>>> {
        let (server, statement) = (self.server.clone(), statement.to_owned());
        let asked = Instant::now();
        let mut open = match self.open.take() {
            Some(open) => open,
            None => match self.new_one() {
                Ok(open) => open,
                Err(error) => return Err(Error::Lost { server, statement, reason: reason(&error) }),
            },
        };
        let answer: mysql::Result<Vec<mysql::Row>> = open.query(&statement);
        match answer {
            Ok(rows) => {
                self.open = Some(open);
                Ok(rows.into_iter().map(|row| row.unwrap().into_iter().map(text).collect()).collect())
            }
            Err(mysql::Error::MySqlError(refusal)) if !PARTING.contains(&refusal.code) => {
                self.open = Some(open);
                let reason = reason(&mysql::Error::MySqlError(refusal));
                Err(Error::Statement { server, statement, reason })
            }
            Err(_) if asked.elapsed() >= self.answer_limit => {
                let reason = format!("no answer within {} s", self.answer_limit.as_secs_f64());
                Err(Error::Lost { server, statement, reason })
            }
            Err(error) => Err(Error::Lost { server, statement, reason: reason(&error) }),
        }
    }
}

/// How to reach a server over TCP, if it answers each statement within `answer_limit`.
pub fn options(address: &Address, answer_limit: Duration) -> OptsBuilder {
    let Address { user, password, host, port } = address;
    OptsBuilder::new()
        .ip_or_hostname(Some(host.clone()))
        .tcp_port(*port)
        .user(Some(user.clone()))
        .pass((!password.is_empty()).then(|| password.clone()))
        .prefer_socket(false)
        .tcp_connect_timeout(Some(CONNECT_LIMIT))
        .read_timeout(Some(answer_limit))
        .write_timeout(Some(answer_limit))
}

/// What a server or the client library says went wrong.
pub fn reason(error: &mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(error) => format!("{} ({}): {}", error.code, error.state, error.message),
        other => other.to_string(),
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Reply};

    fn open(fake: &Fake, answer_limit: Duration) -> Connection {
        Connection::open("a", &fake.address(), answer_limit).expect("it lets everybody in")
    }

    fn number(connection: &mut Connection, statement: &str) -> Result<Option<String>> {
        Ok(connection.query(statement)?.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }

    #[test]
    fn a_late_answer_is_nobodys() {
        // However slow the machine is, one of the limits leaves it the time to answer what is not late.
        let answer = (0..).find_map(|power| {
            let limit = Duration::from_millis(100 << power);
            let fake = Fake::new(move |statement| match statement {
                "SELECT 1" => Reply::Late(3 * limit, "1"),
                _ => Reply::value("2"),
            });
            let mut connection = Connection::open("a", &fake.address(), limit).ok()?;
            let error = connection.query("SELECT 1").expect_err("it is late").to_string();
            assert!(error.contains(&format!("no answer within {} s", limit.as_secs_f64())), "{error}");
            std::thread::sleep(3 * limit);
            number(&mut connection, "SELECT 2").ok()
        });
        assert_eq!(answer.flatten().as_deref(), Some("2"));
    }

    #[test]
    fn a_lost_connection_is_replaced_and_a_refusal_is_none() {
        let fake = Fake::new(|statement| match statement {
            "SELECT 1" => Reply::Gone,
            "SELECT 2" => Reply::Refused(1193, "Unknown system variable"),
            "SELECT 3" => Reply::Refused(4031, "The client was disconnected because of inactivity"),
            _ => Reply::value("4"),
        });
        let mut connection = open(&fake, ANSWER_LIMIT);
        assert!(matches!(connection.query("SELECT 1"), Err(Error::Lost { .. })));
        assert!(matches!(connection.query("SELECT 2"), Err(Error::Statement { .. })));
        assert_eq!(fake.connections(), 2, "a refusal is an answer");
        assert!(matches!(connection.query("SELECT 3"), Err(Error::Lost { .. })), "the server says goodbye");
        assert_eq!(number(&mut connection, "SELECT 4").expect("a new one").as_deref(), Some("4"));
        assert_eq!(fake.connections(), 3);
    }

    #[test]
    fn the_server_is_asked_to_wait_for_the_lab() {
        let fake = Fake::new(|_| Reply::Done);
        let mut connection = open(&fake, ANSWER_LIMIT);
        connection.query("DO 1").expect("an answer");
        assert!(fake.heard().contains(&"SET SESSION wait_timeout = 604800".to_owned()), "{:?}", fake.heard());
    }
}
