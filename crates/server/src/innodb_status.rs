//! SHOW ENGINE INNODB STATUS: what the storage engine does and has done, as one text.
//!
//! People read it, and tools (innotop, pt-deadlock-logger, monitoring agents) cut it apart at InnoDB's
//! headings and find numbers by the words around them. So headings, their order and the shapes of lines are
//! InnoDB's:
//!
//! ```text
//! BACKGROUND THREAD · SEMAPHORES · LATEST FOREIGN KEY ERROR · LATEST DETECTED DEADLOCK · TRANSACTIONS · FILE I/O ·
//! INSERT BUFFER AND ADAPTIVE HASH INDEX · LOG · BUFFER POOL AND MEMORY · ROW OPERATIONS
//!                                                            (the two latest ones only if there was one)
//! ```
//!
//! What stands in them is true of this server, or is left out. There is no insert buffer: its section
//! tells of the adaptive hash index alone, whose non-hash searches are those made while it is on. A session
//! is no thread of the operating system: the number beside a time is its connection's, and `query id` counts
//! the connection's commands. A lock is of a key and not of a record on a page: `page no` and `n bits` are
//! there for those who look for them and always 0, and the key's values follow. Inserted, updated, deleted
//! and read rows are those of `Handler_write`,
//! `Handler_update`, `Handler_delete` and `Handler_read_...`.
//!
//! Nothing is counted for this text alone. The latest deadlock is put into words when it is found
//! ([`watch_deadlocks`]), the latest foreign key error when a statement fails by it
//! ([`note_foreign_key_failure`]); the rest is read when it is asked for. Averages are of the time since the
//! text was asked for last, by whomever.

mod latest;
mod transactions;

use std::collections::HashMap;
use std::time::Instant;

use palisade_catalog::{SqlType, Timestamp, Value};
use palisade_engine::{AdaptiveHashIndex, PageSize};
use palisade_expr::convert::text_of;
use palisade_session::work;
use palisade_sql::{Services as _, Session};
use parking_lot::Mutex;

use crate::host::ServerHost;
use crate::time_zone;
pub(crate) use latest::{note_foreign_key_failure, watch_deadlocks};

/// What is told of the past.
#[derive(Default)]
pub(crate) struct Latest {
    foreign_key_error: Mutex<Option<String>>,
    deadlock: Mutex<Option<String>>,
    reading: Mutex<Option<Reading>>,
}

/// The text, as the session asks for it.
pub(crate) fn text(host: &ServerHost, session: &Session) -> String {
    let now = Reading::new(host);
    let before = host.latest.reading.lock().replace(now.clone());
    let period = Period::between(before, now, host.started);
    let rule = "=".repeat(37);
    let mut text = format!(
        "\n{rule}\n{} {} INNODB MONITOR OUTPUT\n{rule}\nPer second averages calculated from the last {} seconds\n",
        shown_time(host.unix_micros()),
        session.state.connection_id,
        period.seconds as u64
    );
    let mut section = |title: &str, content: &str| {
        let rule = "-".repeat(title.len());
        text.push_str(&format!("{rule}\n{title}\n{rule}\n{content}"));
    };
    section("BACKGROUND THREAD", &background(host, &period));
    section("SEMAPHORES", &semaphores(&period));
    if let Some(error) = &*host.latest.foreign_key_error.lock() {
        section("LATEST FOREIGN KEY ERROR", error);
    }
    if let Some(deadlock) = &*host.latest.deadlock.lock() {
        section("LATEST DETECTED DEADLOCK", deadlock);
    }
    section("TRANSACTIONS", &transactions::all(host));
    section("FILE I/O", &files(&period));
    section("INSERT BUFFER AND ADAPTIVE HASH INDEX", &adaptive_hash_index(host, &period));
    section("LOG", &log(host, &period));
    section("BUFFER POOL AND MEMORY", &buffer_pool(&period, host.engine.page_size()));
    section("ROW OPERATIONS", &row_operations(host, &period));
    text.push_str(&format!("{}\nEND OF INNODB MONITOR OUTPUT\n{}\n", "-".repeat(28), "=".repeat(28)));
    text
}

/// A time as the server's clock on the wall has it.
pub(crate) fn shown_time(micros: i64) -> String {
    let zone = &time_zone::system().zone;
    let time = Value::DateTime(Timestamp(micros).to_datetime(zone));
    String::from_utf8_lossy(&text_of(&time, &SqlType::DateTime { fsp: 0 })).into_owned()
}

/// What the server has counted so far.
#[derive(Clone)]
struct Reading {
    at: Instant,
    numbers: HashMap<&'static str, u64>,
}

impl Reading {
    fn new(host: &ServerHost) -> Reading {
        let engine = host.engine.metrics().into_iter();
        let numbers = engine.chain(work::METRICS.iter().copied()).map(|metric| (metric.name, metric.value()));
        Reading { at: Instant::now(), numbers: numbers.collect() }
    }
}

/// From one reading to the next.
struct Period {
    seconds: f64,
    before: HashMap<&'static str, u64>,
    now: HashMap<&'static str, u64>,
}

impl Period {
    /// If nothing was read before, since the server started.
    fn between(before: Option<Reading>, now: Reading, started: Instant) -> Period {
        let (since, before) =
            before.map_or_else(|| (started, HashMap::new()), |read| (read.at, read.numbers));
        Period { seconds: (now.at - since).as_secs_f64(), before, now: now.numbers }
    }

    /// What a counter or gauge says.
    fn value(&self, name: &str) -> u64 {
        debug_assert!(self.now.contains_key(name), "there is no metric {name}");
        self.now.get(name).copied().unwrap_or(0)
    }

    /// What was counted in the period.
    fn counted(&self, names: &[&str]) -> u64 {
        let of = |name: &&str| {
            self.value(name) - self.before.get(name).copied().unwrap_or(0).min(self.value(name))
        };
        names.iter().map(of).sum()
    }

    /// The same, in a second.
    fn rate(&self, names: &[&str]) -> String {
        let counted = self.counted(names);
        let rate = if counted == 0 { 0.0 } else { counted as f64 / self.seconds.max(1e-6) };
        format!("{rate:.2}")
    }
}

fn background(host: &ServerHost, period: &Period) -> String {
    let purge = host.engine.config().purge_threads;
    let written = |name: &str| period.value(&format!("buffer_{name}_total_pages"));
    format!(
        "purge threads: {purge}; there is no master thread\n\
         pages written in the background: {} adaptive, {} background, {} sync, {} to free frames\n",
        written("flush_adaptive"),
        written("flush_background"),
        written("flush_sync"),
        written("LRU_batch_flush")
    )
}

fn semaphores(period: &Period) -> String {
    let value = |name| period.value(name);
    format!(
        "index descents restarted after a concurrent change: {}\n\
         waits for a free frame: {}, for room in the log buffer: {}, for room in the log files: {}, for an earlier append: {}\n\
         waits for a row lock: {}, deadlocks: {}\n",
        value("index_descent_restarts"),
        value("buffer_pool_wait_free"),
        value("log_on_buffer_space_waits"),
        value("log_on_file_space_waits"),
        value("log_on_tail_waits"),
        value("lock_rec_lock_waits"),
        value("lock_deadlocks")
    )
}

fn files(period: &Period) -> String {
    /// A page is read by itself; neighbours are written together.
    const READS: &[&str] = &["buffer_pages_read"];
    const WRITES: &[&str] = &["os_data_writes", "log_writes"];
    const SYNCS: &[&str] = &["os_data_fsyncs", "os_log_fsyncs"];
    let value = |names: &[&str]| names.iter().map(|name| period.value(name)).sum::<u64>();
    let bytes = period.counted(&["buffer_data_reads"]);
    format!(
        "{} OS file reads, {} OS file writes, {} OS fsyncs\n\
         {} reads/s, {} avg bytes/read, {} writes/s, {} fsyncs/s\n",
        value(READS),
        value(WRITES),
        value(SYNCS),
        period.rate(READS),
        bytes.checked_div(period.counted(READS)).unwrap_or(0),
        period.rate(WRITES),
        period.rate(SYNCS)
    )
}

fn adaptive_hash_index(host: &ServerHost, period: &Period) -> String {
    let AdaptiveHashIndex { words, known, parts, left_alone } = host.engine.adaptive_hash_index();
    format!(
        "Hash table size {words}, node heap has 0 buffer(s), places known {known}, {left_alone} of {parts} parts left alone\n\
         {} hash searches/s, {} non-hash searches/s\n",
        period.rate(&["adaptive_hash_searches"]),
        period.rate(&["adaptive_hash_searches_btree"])
    )
}

fn log(host: &ServerHost, period: &Period) -> String {
    let at = host.engine.log_positions();
    let lines = [
        ("Log sequence number", at.assigned),
        ("Log buffer assigned up to", at.assigned),
        ("Log buffer completed up to", at.complete),
        ("Log written up to", at.written),
        ("Log flushed up to", at.durable),
        ("Added dirty pages up to", at.complete),
        ("Pages flushed up to", at.clean),
        ("Last checkpoint at", at.checkpoint),
    ];
    let lines: String = lines.into_iter().map(|(what, lsn)| format!("{what:<28} {}\n", lsn.0)).collect();
    format!(
        "{lines}{} log i/o's done, {} log i/o's/second\n",
        period.value("log_writes"),
        period.rate(&["log_writes"])
    )
}

fn buffer_pool(period: &Period, size: PageSize) -> String {
    let value = |name| period.value(name);
    let pages = value("buffer_pool_pages_total");
    let (gets, reads) =
        (period.counted(&["buffer_pool_read_requests"]), period.counted(&["buffer_pool_reads"]));
    let hits = match gets {
        0 => "No buffer pool page gets since the last printout".to_owned(),
        _ => format!("Buffer pool hit rate {} / 1000", 1000 - (1000 * reads / gets).min(1000)),
    };
    format!(
        "Buffer pool size   {pages}\nBuffer pool size, bytes {}\nFree buffers       {}\nDatabase pages     {}\n\
         Modified db pages  {}\nPages read {}, created {}, written {}\n{} reads/s, {} creates/s, {} writes/s\n{hits}\n",
        size.bytes_of(pages),
        value("buffer_pool_pages_free"),
        value("buffer_pool_pages_data"),
        value("buffer_pool_pages_dirty"),
        value("buffer_pages_read"),
        value("buffer_pages_created"),
        value("buffer_pages_written"),
        period.rate(&["buffer_pages_read"]),
        period.rate(&["buffer_pages_created"]),
        period.rate(&["buffer_pages_written"])
    )
}

fn row_operations(host: &ServerHost, period: &Period) -> String {
    const READ: &[&str] = &[
        "Handler_read_first",
        "Handler_read_key",
        "Handler_read_last",
        "Handler_read_next",
        "Handler_read_prev",
        "Handler_read_rnd_next",
    ];
    let value = |name| period.value(name);
    format!(
        "{} queries inside InnoDB, 0 queries in queue\n{} read views open inside InnoDB\nProcess ID={}\n\
         Number of rows inserted {}, updated {}, deleted {}, read {}\n\
         {} inserts/s, {} updates/s, {} deletes/s, {} reads/s\n",
        host.connections.running(),
        host.engine.open_snapshots(),
        std::process::id(),
        value("Handler_write"),
        value("Handler_update"),
        value("Handler_delete"),
        READ.iter().map(|name| value(name)).sum::<u64>(),
        period.rate(&["Handler_write"]),
        period.rate(&["Handler_update"]),
        period.rate(&["Handler_delete"]),
        period.rate(READ)
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn reading(at: Instant, numbers: &[(&'static str, u64)]) -> Reading {
        Reading { at, numbers: numbers.iter().copied().collect() }
    }

    #[test]
    fn averages_are_of_the_time_since_the_last_reading() {
        let start = Instant::now();
        let later = |seconds| start + Duration::from_secs(seconds);
        let first = reading(later(10), &[("a", 40), ("b", 7)]);
        let period = Period::between(None, first.clone(), start);
        assert_eq!((period.seconds, period.value("a"), period.counted(&["a"])), (10.0, 40, 40));
        assert_eq!(period.rate(&["a", "b"]), "4.70");
        let period = Period::between(Some(first), reading(later(14), &[("a", 50), ("b", 3)]), start);
        assert_eq!(
            (period.seconds, period.counted(&["a"]), period.rate(&["a"])),
            (4.0, 10, "2.50".to_owned())
        );
        assert_eq!(period.counted(&["b"]), 0, "a gauge may fall");
        let period = Period::between(Some(reading(start, &[("a", 1)])), reading(start, &[("a", 1)]), start);
        assert_eq!(period.rate(&["a"]), "0.00", "no time at all");
    }
}
