//! The same question as [`log_writer_threads`], from one client on, asked of transactions of several statements.

use crate::error::Result;
use crate::experiment::log_writer_threads::{self, LEVELS, VARIABLE};
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Scale, clients, clients_and, factor, oltp, run_sysbench,
    sysbench_measures,
};
use crate::results::Description;
use crate::server::{Answer, DATABASE, Server};
use crate::tool::{SYSBENCH, Tool};

/// See the module.
#[derive(Debug)]
pub struct LogWriterThreadsOltp;

impl Experiment for LogWriterThreadsOltp {
    fn description(&self) -> Description {
        Description {
            name: "log-writer-threads-oltp".to_owned(),
            title: "innodb_log_writer_threads under sysbench oltp_write_only".to_owned(),
            question: "Dedicated threads that write and flush the redo log help where there are many processors and hurt where \
                       there are few, and with one client otherwise than with many. How much is it here, and does a server \
                       that chooses by itself (AUTO) choose right? Many short runs, because one server differs from run to run \
                       by more than the settings do."
                .to_owned(),
            factors: vec![factor(CLIENTS, "clients"), factor(VARIABLE, VARIABLE)],
            measures: sysbench_measures(),
            x: CLIENTS.to_owned(),
            within: Some(VARIABLE.to_owned()),
            turning: None,
            chooser: Some(log_writer_threads::chooser()),
            sums: false,
        }
    }

    fn tools(&self) -> &'static [Tool] {
        &[SYSBENCH]
    }

    fn scale(&self, quick: bool) -> Scale {
        let full = Scale::new(10, &[1, 4, 16, 64, 150, 300, 600]).seconds(2).tables(8).rows(25_000);
        if quick { full.quick(2).clients(&[2, 8]).seconds(1).tables(1).rows(1000) } else { full }
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        clients_and(scale, Some((VARIABLE, LEVELS)))
    }

    fn concerns(&self, server: &mut Server, levels: &Levels) -> Result<bool> {
        log_writer_threads::concerns(server, levels)
    }

    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>> {
        server.database(DATABASE)?;
        oltp("oltp_write_only", bench.scale, 4).prepare(&server.address)?;
        Ok(Vec::new())
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        if let Answer::Refused(reason) = log_writer_threads::set(server, levels)? {
            return Ok(Attempt::NotAvailable(reason));
        }
        let load = oltp("oltp_write_only", bench.scale, clients(levels)?);
        let (_, measurement) = run_sysbench(server, &load)?;
        Ok(Attempt::Measured(measurement))
    }
}
