//! The servers side by side, in turns under loads that go on.

use std::time::Duration;

use crate::error::Result;
use crate::experiment::endless::{self, LOAD, Schemas};
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Scale, SharedLoad, Start, clients_and, factor,
};
use crate::results::Description;
use crate::server::{DATABASE, SLAP_DATABASE, Server};
use crate::tool::{MYSQLSLAP, SYSBENCH, Tool};

/// See the module.
#[derive(Debug)]
pub struct ServerTurns;

/// A halted client may hold locks, so that each number of clients has tables of its own.
fn schemas(clients: &str) -> Schemas {
    Schemas { slap: format!("{SLAP_DATABASE}_{clients}"), oltp: format!("{DATABASE}_{clients}") }
}

impl Experiment for ServerTurns {
    fn description(&self) -> Description {
        Description {
            name: "server-turns".to_owned(),
            title: "Servers in turns under loads that go on".to_owned(),
            question: "How much faster is one server than another, and how much of its throughput does it keep with many clients? \
                       A run of a few seconds is to a good part its own beginning: hundreds of connections and interpreters, \
                       cold caches, tables that have just been filled. Here the loads of all servers and of all numbers of clients \
                       go on at once, each on tables of its own, and all of them are halted but the one whose turn it \
                       is. The server counts its statements itself, in the second half of a turn: in the first one the load comes back to \
                       its rate. mysqlslap's mixed load as in log-writer-threads, begun anew every now and then because its \
                       tables grow, and sysbench oltp_write_only, uniform."
                .to_owned(),
            factors: vec![endless::load_factor(), factor(CLIENTS, "clients")],
            measures: endless::measures(),
            x: CLIENTS.to_owned(),
            within: None,
            turning: None,
            chooser: None,
            sums: false,
        }
    }

    fn tools(&self) -> &'static [Tool] {
        &[MYSQLSLAP, SYSBENCH]
    }

    fn scale(&self, quick: bool) -> Scale {
        let full = Scale::new(12, &[1, 16, 64, 128, 600]).turn(Duration::from_secs(3));
        let full = full.tables(8).rows(25_000);
        if quick {
            full.quick(2).clients(&[1, 4]).turn(Duration::from_secs(1)).tables(1).rows(1000)
        } else {
            full
        }
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        endless::each_load(&clients_and(scale, None))
    }

    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>> {
        for clients in &bench.scale.clients {
            endless::prepare(server, &schemas(&clients.to_string()), bench)?;
        }
        Ok(Vec::new())
    }

    fn shared_load(&self) -> Option<&dyn SharedLoad> {
        Some(self)
    }

    fn run(&self, server: &mut Server, _levels: &Levels, bench: &Bench) -> Result<Attempt> {
        endless::take_turn(server, bench)
    }
}

impl SharedLoad for ServerTurns {
    fn repeats(&self, levels: &Levels, scale: &Scale) -> u32 {
        endless::repeats(levels, scale)
    }

    fn company(&self, levels: &Levels) -> Option<String> {
        Some(levels[LOAD].clone())
    }

    fn start<'a>(&self, server: &mut Server, levels: &Levels, bench: &Bench<'a>) -> Result<Start<'a>> {
        endless::start(server, levels, &schemas(&levels[CLIENTS]), bench).map(Start::Goes)
    }
}
