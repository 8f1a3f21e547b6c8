//! One or two threads, one kind of operation at a time: rate, processor time and log bytes of each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use palisade_engine::{Engine, FlushAtCommit, Table};

use crate::table::{Session, block_on, load};
use crate::{Options, metric};

/// Nanoseconds for which the calling thread has had a processor.
fn thread_cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|field| field.parse().ok()).unwrap_or(0)
}

type Operation = fn(&mut Session);

fn write(session: &mut Session, kind: impl AsyncFn(&mut Session) -> Result<(), palisade_engine::Error>) {
    block_on(async {
        let result = kind(session).await;
        session.end(result).await;
    });
}

const OPERATIONS: &[(&str, bool, Operation)] = &[
    ("point_read", false, Session::point_read),
    ("range_read_100", false, Session::range_read),
    ("update_index", true, |session| write(session, async |s| s.update_index().await)),
    ("update_non_index", true, |session| write(session, async |s| s.update_non_index().await)),
    ("delete_insert", true, |session| write(session, async |s| s.delete_insert().await)),
    ("write_only", true, |session| write(session, async |s| s.write_only().await)),
];

/// Calls `operation` on `threads` threads for `time`; gives calls, and their processor time in nanoseconds.
fn repeat(
    engine: &Arc<Engine>,
    table: &Arc<Table>,
    rows: i64,
    threads: u64,
    time: Duration,
    operation: Operation,
) -> (u64, u64) {
    let stop = Arc::new(AtomicBool::new(false));
    let run = |number: u64| {
        let (engine, table, stop) = (engine.clone(), table.clone(), stop.clone());
        std::thread::spawn(move || {
            let mut session = Session::new(&engine, &table, rows, 100 + number);
            let before = thread_cpu_ns();
            let mut calls = 0;
            while !stop.load(Ordering::Relaxed) {
                for _ in 0..16 {
                    operation(&mut session);
                }
                calls += 16;
            }
            (calls, thread_cpu_ns() - before)
        })
    };
    let running: Vec<_> = (0..threads).map(run).collect();
    std::thread::sleep(time);
    stop.store(true, Ordering::Relaxed);
    let ended = running.into_iter().map(|thread| thread.join().expect("a session ends"));
    ended.fold((0, 0), |(calls, cpu), (more, time)| (calls + more, cpu + time))
}

/// The benchmark.
pub fn run(options: &Options) {
    let engine = options.fresh_engine();
    let rows = options.get("rows", 100_000i64);
    let begun = Instant::now();
    engine.set_flush_at_commit(FlushAtCommit::Written);
    let table = load(&engine, rows);
    println!("loaded {rows} rows in {:.2?}", begun.elapsed());
    let time = Duration::from_secs_f64(options.get("seconds", 2.0));
    let only: String = options.get("only", String::new());
    println!("{:18} flush threads {:>10} {:>10} {:>10}", "", "per s", "us cpu", "log bytes");
    for &(name, writes, operation) in OPERATIONS {
        if !only.is_empty() && name != only {
            continue;
        }
        for flush in [2, 1] {
            if !writes && flush == 1 || options.get("flush", flush) != flush {
                continue;
            }
            for threads in [1, 2] {
                if options.get("threads", threads) != threads {
                    continue;
                }
                engine.set_flush_at_commit(FlushAtCommit::from_number(flush).expect("a known value"));
                let redo = metric(&engine, "mtr_redo_bytes");
                let (calls, cpu) = repeat(&engine, &table, rows, threads, time, operation);
                let redo = metric(&engine, "mtr_redo_bytes") - redo;
                println!(
                    "{name:18} {:>5} {threads:>7} {:>10.0} {:>10.2} {:>10}",
                    if writes { flush.to_string() } else { "-".to_owned() },
                    calls as f64 / time.as_secs_f64(),
                    cpu as f64 / calls as f64 / 1000.0,
                    redo / calls,
                );
            }
        }
    }
    options.finish(&engine);
}
