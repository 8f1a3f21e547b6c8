//! A long run with little log and little memory: does anything stall, grow or get left behind?
//!
//! With `snapshot=n` a reader keeps a snapshot open for the first n seconds and reads the whole table by it, first by
//! the last index and then by the primary key: it must find the same rows each time, while nothing can be purged. (By another
//! index that takes long in the end: each old entry leads to its row, and from there back through all versions.)

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use palisade_base::event::retry_blocking;
use palisade_engine::{
    AccessMode, Direction, Engine, FlushAtCommit, IsolationLevel, KeyRange, ReadMode, RowBatch, Scan, Table,
};

use crate::sessions::{Totals, run_loops};
use crate::table::{load, open_table};
use crate::{Options, metric};

/// Resident memory of the process, MiB.
fn resident_mib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|field| field.parse().ok()).unwrap_or(0);
    pages / 256
}

fn watch(engine: &Arc<Engine>, totals: &Totals, seconds: u64) {
    println!(
        "{:>5} {:>9} {:>9} {:>9} {:>10} {:>10} {:>9} {:>9} {:>9}",
        "s", "per s", "max ms", "history", "undo pages", "age MiB", "dirty", "log waits", "rss MiB"
    );
    let begun = Instant::now();
    let mut last = 0;
    let step = (seconds / 24).max(1);
    while begun.elapsed().as_secs() < seconds {
        std::thread::sleep(Duration::from_secs(step));
        let commits = totals.commits.load(Ordering::Relaxed);
        println!(
            "{:>5} {:>9} {:>9.1} {:>9} {:>10} {:>10} {:>9} {:>9} {:>9}",
            begun.elapsed().as_secs(),
            (commits - last) / step,
            totals.longest_us.swap(0, Ordering::Relaxed) as f64 / 1000.0,
            engine.history_length(),
            metric(engine, "trx_undo_pages"),
            metric(engine, "log_lsn_checkpoint_age") >> 20,
            metric(engine, "buffer_pool_pages_dirty"),
            metric(engine, "log_waits"),
            resident_mib(),
        );
        last = commits;
    }
}

/// Reads all rows by one snapshot again and again for `seconds`.
fn keep_snapshot(engine: &Arc<Engine>, table: &Arc<Table>, seconds: u64) {
    let begun = Instant::now();
    let mut tx = engine.begin(IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
    let mut batch = RowBatch::new();
    let mut rounds = 0;
    let mut first = None;
    while begun.elapsed().as_secs() < seconds {
        let mut rows = HashMap::new();
        let index = if rounds == 0 { table.indexes.len() - 1 } else { 0 };
        let range = KeyRange::default();
        let mut scan = Scan::new(table.clone(), index, range, Direction::Forward, ReadMode::Snapshot, false);
        while retry_blocking(|| tx.scan_next(&mut scan, &mut batch)).expect("the snapshot can be read") {
            for row in batch.iter() {
                *rows.entry(row.row.to_vec()).or_insert(0) += 1;
            }
        }
        let first = first.get_or_insert_with(|| rows.clone());
        assert!(rows == *first, "a snapshot sees the same in round {rounds}, by index {index}");
        rounds += 1;
    }
    println!(
        "a snapshot of {:.0?} read its {} rows {rounds} times",
        begun.elapsed(),
        first.map_or(0, |r| r.len())
    );
}

/// The long run.
pub fn run(options: &Options) {
    let engine = options.fresh_engine();
    let rows = options.get("rows", 100_000i64);
    let flush = options.get("flush", 1);
    engine.set_flush_at_commit(FlushAtCommit::Written);
    let table = load(&engine, rows);
    engine.set_flush_at_commit(FlushAtCommit::from_number(flush).expect("0, 1 or 2"));
    let (stop, totals) = (Arc::new(AtomicBool::new(false)), Arc::<Totals>::default());
    let (loops, sessions) = (options.get("loops", 2u64), options.get("sessions", 64u64));
    let writers = {
        let (engine, table, stop, totals) = (engine.clone(), table.clone(), stop.clone(), totals.clone());
        std::thread::spawn(move || {
            run_loops(&engine, &table, rows, loops, sessions.div_ceil(loops), &stop, &totals);
        })
    };
    let snapshot = options.get("snapshot", 0);
    let reader = (snapshot > 0).then(|| {
        let (engine, table) = (engine.clone(), table.clone());
        std::thread::spawn(move || keep_snapshot(&engine, &table, snapshot))
    });
    watch(&engine, &totals, options.get("seconds", 120));
    if let Some(reader) = reader {
        reader.join().expect("the snapshot is what it was");
    }
    stop.store(true, Ordering::Relaxed);
    writers.join().expect("the sessions end");
    let begun = Instant::now();
    while engine.history_length() > 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    println!(
        "everything purged after {:.2?}; undo pages {}",
        begun.elapsed(),
        metric(&engine, "trx_undo_pages")
    );
    let begun = Instant::now();
    drop(table);
    engine.shutdown().expect("the engine shuts down");
    drop(engine);
    println!("shut down in {:.2?}", begun.elapsed());
    let begun = Instant::now();
    let engine = options.open_engine();
    println!("opened in {:.2?}", begun.elapsed());
    let table = open_table(&engine, "sbtest1");
    let begun = Instant::now();
    let report = engine.check_table(&table).expect("the table can be read");
    println!("checked {} rows in {:.2?}", report.rows, begun.elapsed());
    assert!(report.damage.is_empty(), "{:#?}", report.damage);
    assert_eq!(report.rows, rows as u64, "every row is there");
    drop(table);
    options.finish(&engine);
}
