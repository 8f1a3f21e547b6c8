//! LinkBench's load over tables whose pages are compressed, each codec on tables of its own.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::experiment::{
    Attempt, Bench, CLIENTS, Experiment, Levels, Measurement, Scale, clients, clients_and, factor, measure,
    room,
};
use crate::gauges::{self, Gauges};
use crate::linkbench::{self, Codec, MIX, Sizes, TABLES, Workload};
use crate::process;
use crate::results::{Better, Description, Measure};
use crate::server::{DATABASE, Server};
use crate::steal::{self, Watch};
use crate::tool::Tool;

/// See the module.
#[derive(Debug)]
pub struct PageCompression;

/// The factor.
const COMPRESSION: &str = "compression";

const CODECS: &[&str] = &["none", "lz4", "zlib", "zstd"];

/// Of servers that the lab starts: a fifth or less of what 300,000 ids take.
const POOL: (&str, &str) = ("innodb_buffer_pool_size", "128M");

const MIB: f64 = 1024.0 * 1024.0;

fn schema(codec: &str) -> String {
    format!("{DATABASE}_linkbench_{codec}")
}

/// Keys and titles of a table's sizes.
fn size_measures(table: &str) -> [Measure; 4] {
    let size = |when: &str, what: &str, title: &str| {
        measure(
            &format!("{table}_{what}_{when}_mib"),
            &format!("{table}, {title} {when} the run"),
            "MiB",
            Better::Lower,
        )
    };
    [
        size("before", "allocated", "on the disk"),
        size("after", "allocated", "on the disk"),
        size("before", "apparent", "length of the file"),
        size("after", "apparent", "length of the file"),
    ]
}

fn put_sizes(values: &mut BTreeMap<String, f64>, when: &str, sizes: &BTreeMap<&'static str, Sizes>) {
    for (table, size) in sizes {
        values.insert(format!("{table}_allocated_{when}_mib"), size.allocated / MIB);
        values.insert(format!("{table}_apparent_{when}_mib"), size.apparent / MIB);
    }
    if sizes.len() == TABLES.len() {
        let all: f64 = sizes.values().map(|size| size.allocated).sum();
        values.insert(format!("allocated_{when}_mib"), all / MIB);
    }
}

fn seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Fills the tables of a codec once; what the server refuses is told.
fn loaded(server: &mut Server, workload: &Workload, codec: Codec) -> Result<std::result::Result<(), String>> {
    if linkbench::is_loaded(server, &workload.schema)? {
        return linkbench::select(server, codec);
    }
    server.query(&format!("DROP DATABASE IF EXISTS {}", workload.schema))?;
    server.query(&format!("CREATE DATABASE {}", workload.schema))?;
    if let Err(refusal) = linkbench::create(server, &workload.schema, codec)? {
        return Ok(Err(refusal));
    }
    linkbench::load(server, workload)?;
    Ok(Ok(()))
}

/// What of a run's requests and gauges is a measure.
fn put_rates(
    values: &mut BTreeMap<String, f64>,
    measured: &linkbench::Measured,
    gauges: &Gauges,
    cpu_us: Option<f64>,
) {
    values.insert("requests_per_s".to_owned(), measured.requests / measured.seconds);
    values.insert("ignored_errors".to_owned(), measured.refused);
    if measured.requests > 0.0 {
        let each = |whole: Option<f64>| whole.map(|whole| whole / measured.requests);
        let kib = |mib: Option<f64>| each(mib).map(|mib| 1024.0 * mib);
        let of_each = [
            ("cpu_us", each(cpu_us)),
            ("written_kib", kib(gauges.written_mib())),
            ("read_kib", kib(gauges.read_mib())),
            ("flushes", each(gauges.flushes())),
        ];
        values.extend(of_each.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    }
    for (kind, _) in MIX {
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            if let Some(time) = measured.quantile_ms(kind, share) {
                values.insert(format!("{}_{name}_ms", kind.name()), time);
            }
        }
    }
}

impl Experiment for PageCompression {
    fn description(&self) -> Description {
        let mut measures = vec![
            measure("requests_per_s", "requests per second", "/s", Better::Higher),
            measure("cpu_us", "server CPU per request", "µs", Better::Lower),
            measure(
                "allocated_before_mib",
                "all three tables on the disk before the run",
                "MiB",
                Better::Lower,
            ),
            measure(
                "allocated_after_mib",
                "all three tables on the disk after the run",
                "MiB",
                Better::Lower,
            ),
            measure("written_kib", "written to the disk per request", "KiB", Better::Lower),
            measure("read_kib", "read from the disk per request", "KiB", Better::Lower),
            measure("flushes", "flushes per request", "", Better::Lower),
            measure("worst_share", "worst second, of the median second", "%", Better::Higher),
            measure("median_rps", "median second", "/s", Better::Higher),
            measure("load_s", "seconds to load the tables", "s", Better::Lower),
            measure("ignored_errors", "requests ended by locks", "", Better::Lower),
        ];
        measures.extend(steal::calm_measures());
        for (kind, _) in MIX {
            for (key, title) in [("p50", "median"), ("p99", "99th percentile")] {
                let key = format!("{}_{key}_ms", kind.name());
                measures.push(measure(&key, &format!("{title} of {}", kind.title()), "ms", Better::Lower));
            }
        }
        measures.extend(TABLES.iter().flat_map(|table| size_measures(table)));
        Description {
            name: "page-compression".to_owned(),
            title: "Page compression under LinkBench's load".to_owned(),
            question: "What does it cost to compress pages, and what space is left after the data has been changed for a while? \
                       Facebook's model of its social graph, in its published mix and distributions, over three tables that are \
                       larger than the buffer pool. Each codec has tables of its own, loaded before its first run. A punched hole \
                       costs the system work; it shows in the lines of free pages, flushes and purge."
                .to_owned(),
            factors: vec![factor(COMPRESSION, "compression"), factor(CLIENTS, "requesters")],
            measures,
            x: CLIENTS.to_owned(),
            within: Some(COMPRESSION.to_owned()),
            turning: None,
            chooser: None,
            sums: false,
        }
    }

    fn tools(&self) -> &'static [Tool] {
        &[]
    }

    fn scale(&self, quick: bool) -> Scale {
        let full = Scale::new(2, &[32]).seconds(300).rows(300_000).pause(Duration::from_secs(5));
        if quick { full.quick(1).clients(&[4]).seconds(2).rows(2000) } else { full }
    }

    fn settings(&self) -> Vec<(&'static str, &'static str)> {
        super::base_settings_with(&[POOL])
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        clients_and(scale, Some((COMPRESSION, CODECS)))
    }

    fn prepare(&self, server: &mut Server, _bench: &Bench) -> Result<Vec<String>> {
        gauges::enable(server)?;
        for codec in CODECS {
            server.query(&format!("DROP DATABASE IF EXISTS {}", schema(codec)))?;
            server.undo_later(format!("DROP DATABASE IF EXISTS {}", schema(codec)));
        }
        Ok(Vec::new())
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        let requesters = clients(levels)?;
        room(server, requesters)?;
        let codec = levels.get(COMPRESSION).map_or("none", String::as_str);
        let ids = u64::from(bench.scale.rows.unwrap_or(1));
        let workload = Workload { schema: schema(codec), ids, requesters, seed: seed() };
        let mut values = BTreeMap::new();
        let was_loaded = linkbench::is_loaded(server, &workload.schema)?;
        let begun = Instant::now();
        if let Err(refusal) = loaded(server, &workload, Codec(codec))? {
            return Ok(Attempt::NotAvailable(refusal));
        }
        if !was_loaded {
            values.insert("load_s".to_owned(), begun.elapsed().as_secs_f64());
        }
        put_sizes(&mut values, "before", &linkbench::sizes(server, &workload.schema)?);
        let watch = Watch::begin();
        let mut run = Counted::begin(server, &workload, bench.scale.run_seconds())?;
        put_rates(&mut values, &run.measured, &run.gauges, run.cpu_us);
        put_sizes(&mut values, "after", &linkbench::sizes(server, &workload.schema)?);
        let by_second = std::mem::take(&mut run.measured.by_second);
        let stolen_by_second = watch.end(run.start, by_second.len());
        let Some(seconds) = crate::stats::summary(&by_second).filter(|seconds| seconds.median > 0.0) else {
            return Err(Error::check(&server.name, "no second had a request in half of them; use --seconds"));
        };
        values.insert("worst_share".to_owned(), 100.0 * seconds.min / seconds.median);
        values.insert("median_rps".to_owned(), seconds.median);
        steal::put_calm(&mut values, &by_second, &stolen_by_second);
        let (lines, commands) = (run.gauges.lines(), vec![workload.shown()]);
        Ok(Attempt::Measured(Measurement {
            values,
            by_second,
            stolen_by_second,
            lines,
            commands,
            ..Measurement::default()
        }))
    }
}

/// A run with what it cost the server in the seconds that count.
struct Counted {
    /// When they began.
    start: Instant,
    measured: linkbench::Measured,
    gauges: Gauges,
    cpu_us: Option<f64>,
}

impl Counted {
    fn begin(server: &mut Server, workload: &Workload, seconds: u32) -> Result<Counted> {
        let cpu = |server: &Server| server.pid().and_then(process::cpu_us);
        let mut begun = None;
        let mut ended = None;
        let measured = linkbench::run(server, workload, seconds, |server| {
            match &mut begun {
                None => begun = Some((Instant::now(), Gauges::begin(server)?, cpu(server))),
                Some((_, gauges, _)) => gauges.second(server)?,
            }
            ended = cpu(server);
            Ok(())
        })?;
        let Some((start, gauges, first)) = begun else {
            return Err(Error::check(&server.name, "a run has too few seconds; use --seconds"));
        };
        Ok(Counted { start, measured, gauges, cpu_us: ended.zip(first).map(|(last, first)| last - first) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_measure() {
        let keys: Vec<String> =
            PageCompression.description().measures.into_iter().map(|measure| measure.key).collect();
        let mut values = BTreeMap::new();
        let sizes =
            TABLES.iter().map(|table| (*table, Sizes { apparent: MIB, allocated: 2.0 * MIB })).collect();
        for when in ["before", "after"] {
            put_sizes(&mut values, when, &sizes);
        }
        assert_eq!(values["allocated_after_mib"], 6.0);
        assert_eq!(values["linktable_apparent_before_mib"], 1.0);
        for (kind, _) in MIX {
            values.insert(format!("{}_p99_ms", kind.name()), 1.0);
        }
        let unknown: Vec<&String> = values.keys().filter(|key| !keys.contains(key)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        let kinds = keys.iter().filter(|key| key.ends_with("_p50_ms")).count();
        assert_eq!(kinds, MIX.len());
    }
}
