//! Many sessions as tasks of few event loops, as the server runs them: write transactions per second by who writes the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use palisade_base::Event;
use palisade_engine::{Engine, FlushAtCommit, LogWriterThreads, Table};

use crate::table::{Session, load};
use crate::{Options, metric};

/// What the sessions of all loops have done.
#[derive(Default)]
pub struct Totals {
    /// Transactions committed.
    pub commits: AtomicU64,
    /// Transactions rolled back.
    pub rollbacks: AtomicU64,
    /// The longest transaction, microseconds.
    pub longest_us: AtomicU64,
}

/// Runs `per_loop` sessions on each of `loops` event loops until `stop`; blocks.
pub fn run_loops(
    engine: &Arc<Engine>,
    table: &Arc<Table>,
    rows: i64,
    loops: u64,
    per_loop: u64,
    stop: &Arc<AtomicBool>,
    totals: &Arc<Totals>,
) {
    let run = |number: u64| {
        let (engine, table, stop, totals) = (engine.clone(), table.clone(), stop.clone(), totals.clone());
        std::thread::spawn(move || {
            let sessions = (0..per_loop)
                .map(|session| Session::new(&engine, &table, rows, 1000 + number * per_loop + session));
            event_loop(&engine, sessions, |session| write_until(session, stop.clone(), totals.clone()));
        })
    };
    for thread in (0..loops).map(run).collect::<Vec<_>>() {
        thread.join().expect("an event loop ends");
    }
}

/// Runs a task for each of `sessions` on the calling thread, made a worker of `engine` as the server's are, until all have
/// ended.
pub fn event_loop<S, F: Future<Output = ()> + Send + 'static>(
    engine: &Arc<Engine>,
    sessions: impl Iterator<Item = S>,
    task: impl Fn(S) -> F,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let local = tokio::task::LocalSet::new();
    let inbox = engine.register_worker();
    let ended = Event::new();
    let left = Arc::new(AtomicUsize::new(0));
    for session in sessions {
        left.fetch_add(1, Ordering::Relaxed);
        let (left, ended) = (left.clone(), ended.clone());
        let work = task(session);
        runtime.handle().spawn(async move {
            work.await;
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                ended.complete();
            }
        });
    }
    local.spawn_local(async move { inbox.pump(tokio::task::yield_now).await });
    local.block_on(&runtime, ended);
}

async fn write_until(mut session: Session, stop: Arc<AtomicBool>, totals: Arc<Totals>) {
    while !stop.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let result = session.write_only().await;
        let committed = session.end(result).await;
        let count = if committed { &totals.commits } else { &totals.rollbacks };
        count.fetch_add(1, Ordering::Relaxed);
        totals.longest_us.fetch_max(begun.elapsed().as_micros() as u64, Ordering::Relaxed);
        // As if the next request came by way of the event loop.
        tokio::task::yield_now().await;
    }
}

/// Processor time of the whole process, microseconds.
pub fn process_cpu_us() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(") ").next().unwrap_or_default();
    let ticks: u64 =
        after_name.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks * 10_000
}

/// One measurement.
struct Sample {
    per_second: f64,
    cpu_us: f64,
    syncs: f64,
    per_flush: f64,
    wakeups: f64,
    rollbacks: u64,
    longest_ms: f64,
}

fn measure(
    engine: &Arc<Engine>,
    table: &Arc<Table>,
    rows: i64,
    loops: u64,
    sessions: u64,
    time: Duration,
) -> Sample {
    let (stop, totals) = (Arc::new(AtomicBool::new(false)), Arc::<Totals>::default());
    let counters = ["os_log_fsyncs", "log_flush_total", "log_wakeups"];
    let before = counters.map(|name| metric(engine, name));
    let cpu = process_cpu_us();
    let timer = {
        let stop = stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(time);
            stop.store(true, Ordering::Relaxed);
        })
    };
    let begun = Instant::now();
    run_loops(engine, table, rows, loops.min(sessions), sessions.div_ceil(loops), &stop, &totals);
    let elapsed = begun.elapsed().as_secs_f64();
    timer.join().expect("the timer ends");
    let cpu = process_cpu_us() - cpu;
    let after = counters.map(|name| metric(engine, name));
    let [syncs, flushes, wakeups] = std::array::from_fn(|i| (after[i] - before[i]) as f64);
    let commits = totals.commits.load(Ordering::Relaxed) as f64;
    Sample {
        per_second: commits / elapsed,
        cpu_us: cpu as f64 / commits,
        syncs: syncs / elapsed,
        per_flush: commits / flushes.max(1.0),
        wakeups: wakeups / elapsed,
        rollbacks: totals.rollbacks.load(Ordering::Relaxed),
        longest_ms: totals.longest_us.load(Ordering::Relaxed) as f64 / 1000.0,
    }
}

/// The benchmark. The modes take turns, and of each the median of several measurements is shown: other work on the machine
/// comes and goes.
pub fn run(options: &Options) {
    let engine = options.fresh_engine();
    let rows = options.get("rows", 100_000i64);
    engine.set_flush_at_commit(FlushAtCommit::Written);
    let table = load(&engine, rows);
    let time = Duration::from_secs_f64(options.get("seconds", 1.0));
    let (loops, turns) = (options.get("loops", 2u64), options.get("turns", 5usize));
    let flush = options.get("flush", 1);
    engine.set_flush_at_commit(FlushAtCommit::from_number(flush).expect("0, 1 or 2"));
    let only: String = options.get("mode", String::new());
    let mut modes =
        vec![("auto", LogWriterThreads::Auto), ("on", LogWriterThreads::On), ("off", LogWriterThreads::Off)];
    modes.retain(|(name, _)| only.is_empty() || only == *name);
    println!(
        "{:8} {:5} {:5} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>10} {:>8} {:>7}",
        "sessions",
        "flush",
        "mode",
        "per s",
        "least",
        "most",
        "us cpu",
        "fsyncs/s",
        "per flush",
        "wake-ups/s",
        "aborts",
        "max ms"
    );
    let counts: String = options.get("sessions", "1,8,64,256".to_owned());
    for sessions in counts.split(',').map(|count| count.parse::<u64>().expect("a number of sessions")) {
        let mut samples: Vec<Vec<Sample>> = modes.iter().map(|_| Vec::new()).collect();
        for _ in 0..turns {
            for ((_, mode), samples) in modes.iter().zip(&mut samples) {
                engine.set_log_writer_threads(*mode);
                samples.push(measure(&engine, &table, rows, loops, sessions, time));
            }
        }
        for ((name, _), mut samples) in modes.iter().zip(samples) {
            samples.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
            let median = &samples[samples.len() / 2];
            println!(
                "{sessions:8} {flush:5} {name:5} {:>8.0} {:>8.0} {:>8.0} {:>8.1} {:>8.0} {:>9.1} {:>10.0} {:>8} {:>7.1}",
                median.per_second,
                samples[0].per_second,
                samples[samples.len() - 1].per_second,
                median.cpu_us,
                median.syncs,
                median.per_flush,
                median.wakeups,
                median.rollbacks,
                median.longest_ms,
            );
        }
    }
    options.finish(&engine);
}
