//! Who writes the log: dedicated threads, or the session that commits? mysqlslap's mixed load, at many clients.

use crate::compare::Chooser;
use crate::error::Result;
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Measurement, Scale, clients, clients_and, factor, measure,
    room, with_cpu,
};
use crate::mysqlslap::{Load, PlainText};
use crate::ongoing::Reading;
use crate::results::{Better, Description};
use crate::server::{Answer, Literal, SLAP_DATABASE, Server};
use crate::tool::{MYSQLSLAP, Tool};

/// See the module.
#[derive(Debug)]
pub struct LogWriterThreads;

pub(super) const VARIABLE: &str = "innodb_log_writer_threads";

/// The level of servers that do not have the variable.
const AS_IT_IS: &str = "(no such variable)";

pub(super) const LEVELS: &[&str] = &["ON", "OFF", "AUTO", AS_IT_IS];

/// AUTO is to be as good as the better of the other two.
pub(super) fn chooser() -> Chooser {
    Chooser { level: "AUTO".to_owned(), among: vec!["ON".to_owned(), "OFF".to_owned()] }
}

/// Whether a server is asked for these levels: those without the variable are measured as they are.
pub(super) fn concerns(server: &mut Server, levels: &Levels) -> Result<bool> {
    Ok(levels[VARIABLE] != AS_IT_IS || server.variable(VARIABLE)?.is_none())
}

/// Gives the variable the value of these levels.
pub(super) fn set(server: &mut Server, levels: &Levels) -> Result<Answer> {
    match levels[VARIABLE].as_str() {
        AS_IT_IS => Ok(Answer::Done),
        setting => server.set(VARIABLE, Literal::Text(setting)),
    }
}

impl Experiment for LogWriterThreads {
    fn description(&self) -> Description {
        Description {
            name: "log-writer-threads".to_owned(),
            title: "innodb_log_writer_threads under mysqlslap".to_owned(),
            question: "Dedicated threads that write and flush the redo log help where there are many processors and hurt where \
                       there are few. How much is it here, at each number of clients, and does a server that chooses by \
                       itself (AUTO) choose right? mysqlslap's generated mixed load: half INSERT, half SELECT of one row \
                       by a GUID primary key, 20 integer and 20 character columns, 2000 rows to begin with."
                .to_owned(),
            factors: vec![factor(CLIENTS, "clients"), factor(VARIABLE, VARIABLE)],
            measures: vec![
                measure("statements_per_s", "statements per second", "/s", Better::Higher),
                measure("seconds", "time until all clients had finished", "s", Better::Lower),
                measure("cpu_us", "server CPU per statement, those before the time was taken included", "µs", Better::Lower),
            ],
            x: CLIENTS.to_owned(),
            within: Some(VARIABLE.to_owned()),
            turning: None,
            chooser: Some(chooser()),
            sums: false,
        }
    }

    fn tools(&self) -> &'static [Tool] {
        &[MYSQLSLAP]
    }

    fn scale(&self, quick: bool) -> Scale {
        let full = Scale::new(3, &[150, 300, 450, 600]).statements(200).rows(2000);
        if quick { full.quick(4).clients(&[20]).statements(100).rows(200) } else { full }
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        clients_and(scale, Some((VARIABLE, LEVELS)))
    }

    fn concerns(&self, server: &mut Server, levels: &Levels) -> Result<bool> {
        concerns(server, levels)
    }

    fn prepare(&self, server: &mut Server, _bench: &Bench) -> Result<Vec<String>> {
        server.database(SLAP_DATABASE)?;
        Ok(Vec::new())
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        if let Answer::Refused(reason) = set(server, levels)? {
            return Ok(Attempt::NotAvailable(reason));
        }
        let load = Load {
            kind: "mixed".to_owned(),
            database: SLAP_DATABASE.to_owned(),
            clients: clients(levels)?,
            statements: bench.scale.statements.unwrap_or(1),
            preloaded: bench.scale.rows.unwrap_or(1),
        };
        let plain_text = PlainText::detect()?;
        room(server, load.clients)?;
        let before = Reading::take(server)?;
        let (seconds, cpu_us) = with_cpu(server, |address| load.run(address, plain_text))?;
        Reading::take(server)?.check_since(&before, load.total(), &server.name)?;
        let commands = vec![load.invocation(&server.address, plain_text).shown()];
        let mut measurement = Measurement { commands, ..Measurement::default() };
        measurement.values.insert("statements_per_s".to_owned(), load.total() / seconds);
        measurement.values.insert("seconds".to_owned(), seconds);
        if let Some(cpu_us) = cpu_us {
            let statements = load.total() + f64::from(load.preloaded);
            measurement.values.insert("cpu_us".to_owned(), cpu_us / statements);
        }
        Ok(Attempt::Measured(measurement))
    }
}
