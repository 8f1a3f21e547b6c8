//! What a server does while a load runs, second by second: from its status variables, and from the operating
//! system where its process can be seen.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::process;
use crate::server::{Answer, Server};

/// Something that is read every second.
struct Gauge {
    /// For the report.
    title: &'static str,
    /// The status variables that tell it, of which a server has one.
    status: &'static [&'static str],
    /// Whether it counts, so that the difference of two readings is shown.
    counts: bool,
}

const GAUGES: &[Gauge] = &[
    Gauge {
        title: "free pages of the buffer pool",
        status: &["Innodb_buffer_pool_pages_free"],
        counts: false,
    },
    Gauge { title: "dirty pages", status: &["Innodb_buffer_pool_pages_dirty"], counts: false },
    Gauge {
        title: "history length",
        status: &["Innodb_history_list_length", "trx_rseg_history_len"],
        counts: false,
    },
    Gauge { title: "undo log pages purged per second", status: &["purge_undo_log_pages"], counts: true },
    Gauge {
        title: "flushes per second (Palisade: of data files)",
        status: &["Innodb_data_fsyncs"],
        counts: true,
    },
    Gauge { title: "flushes of the log per second", status: &["Innodb_os_log_fsyncs"], counts: true },
];

const READ: &str = "MiB read per second";
const WRITTEN: &str = "MiB written per second";
const MIB: f64 = 1024.0 * 1024.0;

/// Counters of information_schema.INNODB_METRICS that are read, and of which MySQL counts some only when told
/// to.
const METRICS: [&str; 2] = ["trx_rseg_history_len", "purge_undo_log_pages"];

/// Has the server count them until it is closed. One that has not got them shows nothing.
pub fn enable(server: &mut Server) -> Result<()> {
    for name in METRICS {
        if server.execute(&format!("SET GLOBAL innodb_monitor_enable = '{name}'"))? == Answer::Done {
            server.undo_later(format!("SET GLOBAL innodb_monitor_disable = '{name}'"));
        }
    }
    Ok(())
}

/// A reading: what each gauge shows, by its title.
type Reading = BTreeMap<&'static str, f64>;

/// Readings of a run, and the lines that follow from them.
pub struct Gauges {
    /// Whether flushes of data files are counted without those of the log: MySQL and MariaDB count all of
    /// them there.
    apart: bool,
    first: Reading,
    last: Reading,
    lines: BTreeMap<String, Vec<f64>>,
}

impl Gauges {
    /// Takes the first reading.
    pub fn begin(server: &mut Server) -> Result<Gauges> {
        let apart =
            server.value("SELECT @@version_comment")?.is_some_and(|comment| comment.contains("Palisade"));
        let first = read(server)?;
        Ok(Gauges { apart, last: first.clone(), first, lines: BTreeMap::new() })
    }

    /// Takes the next reading.
    pub fn second(&mut self, server: &mut Server) -> Result<()> {
        let now = read(server)?;
        for (title, value) in &now {
            let shown =
                if counts(title) { self.last.get(title).map(|last| value - last) } else { Some(*value) };
            if let Some(shown) = shown {
                self.lines.entry((*title).to_owned()).or_default().push(shown.max(0.0));
            }
        }
        self.last = now;
        Ok(())
    }

    /// MiB that were written to disks since the first reading, where that is known.
    pub fn written_mib(&self) -> Option<f64> {
        self.since(WRITTEN)
    }

    /// MiB that were read from disks.
    pub fn read_mib(&self) -> Option<f64> {
        self.since(READ)
    }

    /// Flushes of data files and of the log, where the server counts them.
    pub fn flushes(&self) -> Option<f64> {
        let of = |part: &str| {
            let gauge = GAUGES.iter().find(|gauge| gauge.status.contains(&part))?;
            self.since(gauge.title)
        };
        let log = if self.apart { of("Innodb_os_log_fsyncs")? } else { 0.0 };
        Some(of("Innodb_data_fsyncs")? + log)
    }

    fn since(&self, title: &str) -> Option<f64> {
        Some(self.last.get(title)? - self.first.get(title)?)
    }

    /// Line by line, a value a second.
    pub fn lines(self) -> BTreeMap<String, Vec<f64>> {
        self.lines
    }
}

fn counts(title: &str) -> bool {
    GAUGES.iter().find(|gauge| gauge.title == title).is_none_or(|gauge| gauge.counts)
}

fn read(server: &mut Server) -> Result<Reading> {
    let mut known: Vec<Vec<Option<String>>> = server.query("SHOW GLOBAL STATUS LIKE 'Innodb%'")?;
    // a server without the table, or the right to it, has no such counters
    let names = METRICS.map(|name| format!("'{name}'")).join(", ");
    let metrics =
        format!("SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME IN ({names})");
    known.extend(server.query(&metrics).unwrap_or_default());
    let mut reading = Reading::new();
    for gauge in GAUGES {
        if let Some(value) = gauge.status.iter().find_map(|name| value(&known, name)) {
            reading.insert(gauge.title, value);
        }
    }
    if let Some((read, written)) = server.pid().and_then(process::disk_bytes) {
        reading.insert(READ, read / MIB);
        reading.insert(WRITTEN, written / MIB);
    }
    Ok(reading)
}

fn value(rows: &[Vec<Option<String>>], name: &str) -> Option<f64> {
    rows.iter().find_map(|row| match row.as_slice() {
        [Some(known), Some(value)] if known.eq_ignore_ascii_case(name) => value.parse().ok(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Reply};
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn what_counts_is_shown_by_its_differences_and_states_as_they_are() {
        let asked = AtomicU64::new(0);
        let fake = Fake::new(move |statement| match statement {
            "SHOW GLOBAL STATUS LIKE 'Innodb%'" => {
                let time = asked.fetch_add(1, Ordering::Relaxed);
                let rows = [
                    ("Innodb_data_fsyncs", 100 + 7 * time),
                    ("Innodb_os_log_fsyncs", 50 + time),
                    ("Innodb_buffer_pool_pages_free", 40 - time),
                ];
                Reply::Rows(rows.map(|(name, value)| vec![name.to_owned(), value.to_string()]).to_vec())
            }
            "SELECT @@version_comment" => Reply::value("Palisade"),
            _ => Reply::Refused(1109, "Unknown table"),
        });
        let mut server = Server::at("a", fake.address()).expect("it lets the lab in");
        let mut gauges = Gauges::begin(&mut server).expect("an answer");
        for _ in 0..3 {
            gauges.second(&mut server).expect("an answer");
        }
        assert_eq!(gauges.flushes(), Some(24.0));
        let lines = gauges.lines();
        assert_eq!(lines["flushes per second (Palisade: of data files)"], [7.0, 7.0, 7.0]);
        assert_eq!(lines["free pages of the buffer pool"], [39.0, 38.0, 37.0]);
        assert!(!lines.contains_key("history length"), "the server does not tell");
    }
}
