//! The question of [`log_writer_threads`], of both its loads and from one client on, where the settings take turns under one
//! load.

use std::time::Duration;

use crate::error::Result;
use crate::experiment::endless::{self, Schemas};
use crate::experiment::log_writer_threads::{self, VARIABLE};
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Scale, SharedLoad, Start, clients_and, factor,
};
use crate::results::Description;
use crate::server::{Answer, DATABASE, SLAP_DATABASE, Server};
use crate::tool::{MYSQLSLAP, SYSBENCH, Tool};

/// See the module.
#[derive(Debug)]
pub struct LogWriterTurns;

/// A server without the variable has nothing to take turns.
const SETTINGS: &[&str] = &["ON", "OFF", "AUTO"];

fn schemas() -> Schemas {
    Schemas { slap: SLAP_DATABASE.to_owned(), oltp: DATABASE.to_owned() }
}

impl Experiment for LogWriterTurns {
    fn description(&self) -> Description {
        Description {
            name: "log-writer-turns".to_owned(),
            title: "innodb_log_writer_threads in turns under one load".to_owned(),
            question: "The question of log-writer-threads: does a server that chooses by itself (AUTO) choose right, at each \
                       number of clients? Here one load goes on while the settings take turns, in an order in which a drift \
                       cancels out, so that the runs of a repeat differ in little but the setting. The server counts its statements itself, in the second \
                       half of a turn: in the first one a setting takes effect. mysqlslap's mixed load \
                       as in log-writer-threads, begun anew every now and then because its table grows, and sysbench \
                       oltp_write_only, uniform."
                .to_owned(),
            factors: vec![endless::load_factor(), factor(CLIENTS, "clients"), factor(VARIABLE, VARIABLE)],
            measures: endless::measures(),
            x: CLIENTS.to_owned(),
            within: Some(VARIABLE.to_owned()),
            turning: Some(VARIABLE.to_owned()),
            chooser: Some(log_writer_threads::chooser()),
            sums: false,
        }
    }

    fn tools(&self) -> &'static [Tool] {
        &[MYSQLSLAP, SYSBENCH]
    }

    fn scale(&self, quick: bool) -> Scale {
        let full = Scale::new(12, &[1, 4, 16, 64, 150, 300, 600]);
        let full = full.turn(Duration::from_secs(2)).tables(8).rows(25_000);
        if quick {
            full.quick(2).clients(&[4]).turn(Duration::from_secs(1)).tables(1).rows(1000)
        } else {
            full
        }
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        endless::each_load(&clients_and(scale, Some((VARIABLE, SETTINGS))))
    }

    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>> {
        endless::prepare(server, &schemas(), bench)?;
        Ok(Vec::new())
    }

    fn shared_load(&self) -> Option<&dyn SharedLoad> {
        Some(self)
    }

    /// A turn.
    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        if let Answer::Refused(reason) = log_writer_threads::set(server, levels)? {
            return Ok(Attempt::NotAvailable(reason));
        }
        endless::take_turn(server, bench)
    }
}

impl SharedLoad for LogWriterTurns {
    fn repeats(&self, levels: &Levels, scale: &Scale) -> u32 {
        endless::repeats(levels, scale)
    }

    fn start<'a>(&self, server: &mut Server, levels: &Levels, bench: &Bench<'a>) -> Result<Start<'a>> {
        if server.variable(VARIABLE)?.is_none() {
            return Ok(Start::NotAvailable(format!("there is no variable {VARIABLE}")));
        }
        endless::start(server, levels, &schemas(), bench).map(Start::Goes)
    }
}
