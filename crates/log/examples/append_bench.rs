//! How fast the log takes appends and answers commits.
//!
//! ```text
//! cargo run --release -p palisade-log --example append_bench -- [threads] [payload bytes] [directory]
//! ```
//!
//! Appends go to memory, so that the ring is measured and not the disk. With a directory, durable commits there
//! follow, with each setting of `innodb_log_writer_threads`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use palisade_base::event::{retry, retry_blocking};
use palisade_io::{FileSystem, MemFileSystem, OsFileSystem};
use palisade_log::{Log, LogConfig, Lsn, METRICS, OtherWork, WriterThreads};

const SECONDS: u64 = 2;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (threads, payload) = (number(2), number(120));
    let directory = arguments.next();

    for threads in [1, threads] {
        appends(threads, payload);
    }
    let Some(directory) = directory else { return };
    for sessions in [1, 16, 128] {
        for writer_threads in [WriterThreads::Off, WriterThreads::On, WriterThreads::Auto] {
            commits(Path::new(&directory), writer_threads, threads, sessions, payload);
        }
    }
}

fn create(fs: Arc<dyn FileSystem>, directory: &Path, writer_threads: WriterThreads) -> Arc<Log> {
    let config = LogConfig { writer_threads, ..LogConfig::default() };
    Log::create(fs, directory, config, Lsn(8)).expect("the log can be created")
}

/// Appends from `threads` threads while another keeps the checkpoint moving.
fn appends(threads: usize, payload: usize) {
    let log = create(Arc::new(MemFileSystem::new()), Path::new("redo"), WriterThreads::Auto);
    let (count, waits) = (AtomicU64::new(0), AtomicU64::new(0));
    let end = Instant::now() + Duration::from_secs(SECONDS);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let bytes = vec![7; payload];
                while Instant::now() < end {
                    for _ in 0..1000 {
                        let mut credit = match log.admit(payload) {
                            Ok(credit) => credit,
                            Err(_) => {
                                waits.fetch_add(1, Ordering::Relaxed);
                                retry_blocking(|| log.admit(payload)).expect("the log runs")
                            }
                        };
                        log.append(&mut credit, &bytes, |_| {});
                    }
                    count.fetch_add(1000, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| {
            while Instant::now() < end + Duration::from_millis(100) {
                log.write_checkpoint(log.tail()).expect("a checkpoint can be written");
            }
        });
    });
    let rate = count.into_inner() as f64 / SECONDS as f64;
    let bandwidth = rate * payload as f64 / 1e6;
    println!(
        "{threads} threads, {payload} bytes: {rate:.0} appends/s, {bandwidth:.0} MB/s, {} waits",
        waits.into_inner()
    );
    log.shutdown().expect("the log shuts down");
}

fn metric(name: &str) -> u64 {
    METRICS.iter().find(|metric| metric.name == name).map_or(0, |metric| metric.value())
}

/// Durable commits of `sessions` sessions on `threads` workers.
fn commits(directory: &Path, writer_threads: WriterThreads, threads: usize, sessions: usize, payload: usize) {
    let log = create(Arc::new(OsFileSystem), directory, writer_threads);
    let count = AtomicU64::new(0);
    let (flushes, wakeups) = (metric("log_flush_total"), metric("log_wakeups"));
    let end = Instant::now() + Duration::from_secs(SECONDS);
    std::thread::scope(|scope| {
        for worker in 0..threads {
            let (log, count) = (log.clone(), &count);
            let sessions = (worker..sessions).step_by(threads).count();
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
                let inbox = log.register_worker();
                runtime.spawn(async move { inbox.pump(tokio::task::yield_now, || OtherWork::None).await });
                runtime.block_on(async {
                    let session = |log: Arc<Log>| async move {
                        let (bytes, mut commits) = (vec![7; payload], 0);
                        while Instant::now() < end {
                            let mut credit = retry(|| log.admit(payload)).await.expect("the log runs");
                            let range = log.append(&mut credit, &bytes, |_| {});
                            drop(credit);
                            log.wait_durable(range.end).await.expect("the log runs");
                            commits += 1;
                        }
                        commits
                    };
                    let sessions: Vec<_> =
                        (0..sessions).map(|_| tokio::spawn(session(log.clone()))).collect();
                    for session in sessions {
                        count.fetch_add(session.await.expect("no session panics"), Ordering::Relaxed);
                    }
                });
            });
        }
        scope.spawn(|| {
            while Instant::now() < end {
                std::thread::sleep(Duration::from_millis(50));
                log.write_checkpoint(log.tail()).expect("a checkpoint can be written");
            }
        });
    });
    log.shutdown().expect("the log shuts down");
    let commits = count.into_inner();
    let per_flush = commits as f64 / (metric("log_flush_total") - flushes).max(1) as f64;
    let wakeups = (metric("log_wakeups") - wakeups) as f64 / commits.max(1) as f64;
    println!(
        "{writer_threads:?}, {sessions} sessions: {} commits/s, {per_flush:.1} commits per flush, {wakeups:.3} wakeups per commit",
        commits / SECONDS
    );
}
