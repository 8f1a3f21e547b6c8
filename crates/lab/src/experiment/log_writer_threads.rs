//! Who writes the log: dedicated threads, or the session that commits? mysqlslap's mixed load, at many clients.

use crate::error::Result;
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Measurement, Scale, clients, clients_and, factor, measure,
    with_cpu,
};
use crate::mysqlslap::{Load, PlainText};
use crate::results::{Better, Description};
use crate::server::{Answer, Literal, SLAP_DATABASE, Server};
use crate::tool::{MYSQLSLAP, Tool};
use std::time::Duration;

/// See the module.
#[derive(Debug)]
pub struct LogWriterThreads;

const VARIABLE: &str = "innodb_log_writer_threads";

/// The level of servers that do not have the variable.
const AS_IT_IS: &str = "(no such variable)";

const LEVELS: &[&str] = &["ON", "OFF", "AUTO", AS_IT_IS];

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
                measure("cpu_us", "server CPU per statement", "µs", Better::Lower),
            ],
            x: CLIENTS.to_owned(),
            within: Some(VARIABLE.to_owned()),
        }
    }

    fn tools(&self) -> &'static [Tool] {
        &[MYSQLSLAP]
    }

    fn scale(&self, quick: bool) -> Scale {
        let full = Scale {
            repeats: 3,
            clients: vec![150, 300, 450, 600],
            seconds: None,
            statements: Some(200),
            tables: None,
            rows: Some(2000),
            pause: Duration::from_secs(1),
        };
        if quick {
            let pause = Duration::ZERO;
            Scale { repeats: 2, clients: vec![20], statements: Some(100), rows: Some(200), pause, ..full }
        } else {
            full
        }
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        clients_and(scale, Some((VARIABLE, LEVELS)))
    }

    fn concerns(&self, server: &mut Server, levels: &Levels) -> bool {
        levels[VARIABLE] != AS_IT_IS || server.variable(VARIABLE).is_none()
    }

    fn prepare(&self, server: &mut Server, _bench: &Bench) -> Result<Vec<String>> {
        server.database(SLAP_DATABASE)?;
        Ok(Vec::new())
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        let setting = levels[VARIABLE].as_str();
        if setting != AS_IT_IS
            && let Answer::Refused(reason) = server.set(VARIABLE, Literal::Text(setting))?
        {
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
        let (seconds, cpu_us) = with_cpu(server, |address| load.run(address, plain_text))?;
        let commands = vec![load.invocation(&server.address, plain_text).shown()];
        let mut measurement = Measurement { commands, ..Measurement::default() };
        measurement.values.insert("statements_per_s".to_owned(), load.total() / seconds);
        measurement.values.insert("seconds".to_owned(), seconds);
        if let Some(cpu_us) = cpu_us {
            measurement.values.insert("cpu_us".to_owned(), cpu_us / load.total());
        }
        Ok(Attempt::Measured(measurement))
    }
}
