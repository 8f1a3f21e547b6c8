//! What it costs that a torn page can be repaired: loads that write, on servers that differ in how they see
//! to it.

use std::time::Duration;

use crate::error::Result;
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Measurement, Scale, base_settings_with, clients, factor,
    measure, oltp, room, with_cpu,
};
use crate::gauges::Gauges;
use crate::mysqlslap::{self, PlainText};
use crate::results::{Better, Description};
use crate::server::{DATABASE, SLAP_DATABASE, Server};
use crate::spec::Address;
use crate::sysbench;
use crate::tool::{MYSQLSLAP, SYSBENCH, Tool};

/// See the module.
#[derive(Debug)]
pub struct Doublewrite;

/// The factor.
const LOAD: &str = "load";

const MIXED: &str = "slap-mixed";
const WRITE: &str = "slap-write";
const UPDATE: &str = "oltp_update_non_index";

/// Of servers that the lab starts: a fifth of what sysbench's tables take.
const POOL: (&str, &str) = ("innodb_buffer_pool_size", "128M");

/// Rows of mysqlslap's table before its clients begin.
const PRELOADED: u32 = 2000;

/// Connections of sysbench, whatever the numbers for mysqlslap.
const UPDATING: u32 = 32;

/// Connections that fill sysbench's tables.
const PREPARING: u32 = 4;

fn level(load: &str, clients: u32) -> Levels {
    [(LOAD.to_owned(), load.to_owned()), (CLIENTS.to_owned(), clients.to_string())].into()
}

/// What came of a load.
struct Done {
    /// Those of the time that a load needs to make its table as well.
    transactions: f64,
    per_second: f64,
    p95_ms: Option<f64>,
    command: String,
}

/// A load of mysqlslap.
fn slap(kind: &str, clients: u32, bench: &Bench, address: &Address) -> Result<Done> {
    let load = mysqlslap::Load {
        kind: kind.to_owned(),
        database: SLAP_DATABASE.to_owned(),
        clients,
        statements: bench.scale.statements.unwrap_or(1),
        preloaded: PRELOADED,
    };
    let plain_text = PlainText::detect()?;
    let seconds = load.run(address, plain_text)?;
    let command = load.invocation(address, plain_text).shown();
    let transactions = load.total() + f64::from(PRELOADED);
    Ok(Done { transactions, per_second: load.total() / seconds, p95_ms: None, command })
}

/// A load of sysbench.
fn update(clients: u32, bench: &Bench, address: &Address) -> Result<Done> {
    let load: sysbench::Load = oltp(UPDATE, bench.scale, clients);
    let measured = load.run(address)?;
    Ok(Done {
        transactions: measured.transactions,
        per_second: measured.transaction_rate,
        p95_ms: Some(measured.p95_ms).filter(|_| measured.transactions > 0.0),
        command: load.invocation(address, "run").shown(),
    })
}

impl Experiment for Doublewrite {
    fn description(&self) -> Description {
        Description {
            name: "doublewrite".to_owned(),
            title: "Safety from torn pages under loads that write".to_owned(),
            question: "A page is larger than what a disk writes whole. A server that writes each page twice pays bytes and flushes \
                       for that; one that does not is either unsafe or has another way. The servers are the modes: start the same \
                       program once with each, as --server on=spawn,palisade_page_sink=in-place,innodb_doublewrite=ON --server \
                       off=spawn,palisade_page_sink=in-place,innodb_doublewrite=OFF --server out-of-place=spawn, and others \
                       beside it. mysqlslap's mixed and write loads, which fit into \
                       the buffer pool, and sysbench oltp_update_non_index, uniform, on five times as much data as the buffer pool \
                       holds, so that nearly every transaction has a page written."
                .to_owned(),
            factors: vec![factor(LOAD, "load"), factor(CLIENTS, "clients")],
            measures: vec![
                measure("tps", "transactions per second", "/s", Better::Higher),
                measure("cpu_us", "server CPU per transaction", "µs", Better::Lower),
                measure("written_kib", "written to the disk per transaction", "KiB", Better::Lower),
                measure("flushes", "flushes per transaction", "", Better::Lower),
                measure("read_kib", "read from the disk per transaction", "KiB", Better::Lower),
                measure("p95_ms", "95th percentile of a transaction's time", "ms", Better::Lower),
            ],
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
        let full = Scale::new(6, &[150, 300, 450]).seconds(20).statements(100);
        let full = full.tables(8).rows(400_000).pause(Duration::from_secs(3));
        if quick { full.quick(1).clients(&[4]).seconds(1).statements(20).tables(1).rows(2000) } else { full }
    }

    fn settings(&self) -> Vec<(&'static str, &'static str)> {
        base_settings_with(&[POOL])
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        let mixed = scale.clients.iter().map(|clients| level(MIXED, *clients));
        let write = scale.clients.iter().max().map(|clients| level(WRITE, *clients));
        mixed.chain(write).chain([level(UPDATE, UPDATING)]).collect()
    }

    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>> {
        server.database(DATABASE)?;
        server.database(SLAP_DATABASE)?;
        oltp(UPDATE, bench.scale, PREPARING).prepare(&server.address)?;
        Ok(Vec::new())
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        let clients = clients(levels)?;
        room(server, clients)?;
        let load = levels.get(LOAD).map_or(UPDATE, String::as_str);
        // what the last run of mysqlslap has left
        server.query(&format!("DROP DATABASE IF EXISTS {SLAP_DATABASE}"))?;
        let mut gauges = Gauges::begin(server)?;
        let (done, cpu_us) = with_cpu(server, |address| match load {
            MIXED => slap("mixed", clients, bench, address),
            WRITE => slap("write", clients, bench, address),
            _ => update(clients, bench, address),
        })?;
        gauges.second(server)?;
        let each = |whole: Option<f64>| {
            whole.filter(|_| done.transactions > 0.0).map(|whole| whole / done.transactions)
        };
        let values = [
            ("tps", Some(done.per_second)),
            ("cpu_us", each(cpu_us)),
            ("written_kib", each(gauges.written_mib()).map(|mib| 1024.0 * mib)),
            ("read_kib", each(gauges.read_mib()).map(|mib| 1024.0 * mib)),
            ("flushes", each(gauges.flushes())),
            ("p95_ms", done.p95_ms),
        ];
        let values = values.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        Ok(Attempt::Measured(Measurement { values, commands: vec![done.command], ..Measurement::default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_greatest_number_of_clients_writes_and_updates_have_a_number_of_their_own() {
        let levels = Doublewrite.levels(&Doublewrite.scale(false));
        let of = |load: &str| -> Vec<&str> {
            levels
                .iter()
                .filter(|levels| levels[LOAD] == load)
                .map(|levels| levels[CLIENTS].as_str())
                .collect()
        };
        assert_eq!(of(MIXED), ["150", "300", "450"]);
        assert_eq!(of(WRITE), ["450"]);
        assert_eq!(of(UPDATE), ["32"]);
    }
}
