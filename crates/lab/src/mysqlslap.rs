//! mysqlslap: its command line, and what it prints.
//!
//! It makes a table with `--number-int-cols` and `--number-char-cols` columns, fills it, and has each client send so many
//! generated statements; measured is the time until all have finished. MariaDB's uses TLS by itself where the server
//! offers it, MySQL's as well: here it is told not to, since a comparison of TLS with plain text compares nothing.
//!
//! A client that cannot connect, after ten tries, or whose statement fails, says so on standard error and is missing; the others
//! go on, and the report is the usual one. A run that complained has therefore failed.

use std::time::Duration;

use crate::error::{Error, Result, tail};
use crate::spec::Address;
use crate::tool::{self, Invocation, MYSQLSLAP, Said};

/// A load of mysqlslap against one server.
#[derive(Debug, Clone)]
pub struct Load {
    /// `mixed`, `write`, `read`, `key` or `update`.
    pub kind: String,
    /// The schema, which it drops before and after.
    pub database: String,
    /// Connections.
    pub clients: u32,
    /// Statements of each connection.
    pub statements: u32,
    /// Rows written before the time is taken.
    pub preloaded: u32,
}

/// How this machine's mysqlslap is told to send plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainText {
    /// MariaDB's, and MySQL's up to 5.7.
    SkipSsl,
    /// MySQL's since 8.0.
    SslMode,
}

impl PlainText {
    /// Asks the tool.
    pub fn detect() -> Result<PlainText> {
        let help =
            Invocation::new(&MYSQLSLAP).args(["--no-defaults", "--help"]).run(Duration::from_secs(10))?;
        Ok(PlainText::by_help(&help.printed))
    }

    fn by_help(help: &str) -> PlainText {
        if help.contains("--ssl-mode") { PlainText::SslMode } else { PlainText::SkipSsl }
    }

    fn argument(self) -> &'static str {
        match self {
            PlainText::SkipSsl => "--skip-ssl",
            PlainText::SslMode => "--ssl-mode=DISABLED",
        }
    }
}

/// What a run may take; with 600 clients on two cores it takes minutes.
const LIMIT: Duration = Duration::from_secs(1800);

impl Load {
    /// The command line.
    pub fn invocation(&self, address: &Address, plain_text: PlainText) -> Invocation {
        let mut invocation = Invocation::new(&MYSQLSLAP)
            .arg("--no-defaults")
            .arg(format!("--host={}", address.host))
            .arg(format!("--port={}", address.port))
            .arg("--protocol=tcp")
            .arg(format!("--user={}", address.user))
            .arg(plain_text.argument())
            .arg(format!("--create-schema={}", self.database))
            .args(["--engine=innodb", "--auto-generate-sql", "--auto-generate-sql-guid-primary"])
            .args(["--number-int-cols=20", "--number-char-cols=20"])
            .arg(format!("--auto-generate-sql-load-type={}", self.kind))
            .arg(format!("--auto-generate-sql-write-number={}", self.preloaded))
            .arg(format!("--auto-generate-sql-execute-number={}", self.statements))
            .arg(format!("--concurrency={}", self.clients));
        if !address.password.is_empty() {
            invocation = invocation.env("MYSQL_PWD", address.password.clone());
        }
        invocation
    }

    /// Runs the load; returns the seconds until all clients had finished. Fails if one of them may not have.
    pub fn run(&self, address: &Address, plain_text: PlainText) -> Result<f64> {
        let invocation = self.invocation(address, plain_text);
        measured(&invocation.shown(), &invocation.run(LIMIT)?)
    }

    /// Statements of a run.
    pub fn total(&self) -> f64 {
        f64::from(self.clients) * f64::from(self.statements)
    }
}

/// Reads what a run said, unless it complained.
fn measured(command: &str, said: &Said) -> Result<f64> {
    match said.complaints() {
        None => parse(&said.all()),
        Some(complaints) => Err(Error::Tool {
            command: command.to_owned(),
            problem: tool::COMPLAINED.to_owned(),
            printed: tail(&complaints),
        }),
    }
}

/// Reads what a run of one iteration printed.
pub fn parse(printed: &str) -> Result<f64> {
    const LABEL: &str = "Average number of seconds to run all queries:";
    let lacks =
        |what: &str| Error::Output { tool: MYSQLSLAP.program, what: what.to_owned(), printed: tail(printed) };
    let rest = printed.split_once(LABEL).ok_or_else(|| lacks(LABEL))?.1.trim_start();
    let number = rest.split_whitespace().next().and_then(|text| text.parse::<f64>().ok());
    number
        .filter(|seconds| seconds.is_finite() && *seconds > 0.0)
        .ok_or_else(|| lacks("positive number of seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "Benchmark
\tRunning for engine innodb
\tAverage number of seconds to run all queries: 1.234 seconds
\tMinimum number of seconds to run all queries: 1.234 seconds
\tMaximum number of seconds to run all queries: 1.234 seconds
\tNumber of clients running queries: 150
\tAverage number of queries per client: 0

";

    #[test]
    fn a_run() {
        assert_eq!(parse(PRINTED).expect("a whole report"), 1.234);
    }

    #[test]
    fn a_run_that_lost_clients_is_no_run_however_usual_its_report_is() {
        let refused = "mysqlslap: Error when connecting to server: 1040 Too many connections\n";
        let said = |complained: &str| Said { printed: PRINTED.to_owned(), complained: complained.to_owned() };
        let error = measured("mysqlslap --concurrency=300", &said(refused)).expect_err("clients are missing");
        assert!(error.to_string().contains("1040 Too many connections"), "{error}");
        let warned = said("mysqlslap: [Warning] it is late\n");
        assert_eq!(measured("mysqlslap", &warned).expect("all were there"), 1.234);
        let warned = Said { printed: String::new(), ..warned };
        let error = measured("mysqlslap", &warned).expect_err("there is no report").to_string();
        assert!(error.contains("it is late"), "what it said may say why: {error}");
    }

    #[test]
    fn what_is_malformed_is_refused() {
        for bad in ["", "-1.0 seconds", "0.000 seconds", "nan seconds", "soon"] {
            let error = parse(&PRINTED.replacen("1.234 seconds", bad, 1));
            // an empty place is followed by the next line's words
            let error = error.expect_err(bad).to_string();
            assert!(error.contains("no positive number of seconds"), "{bad}: {error}");
        }
        let error =
            parse("mysqlslap: Error when connecting to server: Too many connections").expect_err("an error");
        assert!(error.to_string().contains("Too many connections"), "{error}");
    }

    #[test]
    fn both_families_are_told_to_use_plain_text() {
        let mariadb =
            "  --ssl               Enable SSL for connection\n (Defaults to on; use --skip-ssl to disable.)";
        assert_eq!(PlainText::by_help(mariadb).argument(), "--skip-ssl");
        assert_eq!(
            PlainText::by_help("  --ssl-mode=name     SSL connection mode.").argument(),
            "--ssl-mode=DISABLED"
        );
    }

    #[test]
    fn the_password_is_not_on_the_command_line() {
        let load =
            Load { kind: "mixed".into(), database: "d".into(), clients: 2, statements: 3, preloaded: 4 };
        let address = Address { user: "u".into(), password: "secret".into(), host: "h".into(), port: 1 };
        let shown = load.invocation(&address, PlainText::SkipSsl).shown();
        assert!(!shown.contains("secret"), "{shown}");
        assert!(
            shown.ends_with("write-number=4 --auto-generate-sql-execute-number=3 --concurrency=2"),
            "{shown}"
        );
        assert_eq!(load.total(), 6.0);
    }
}
