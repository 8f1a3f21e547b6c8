//! How fast the log takes appends and answers commits.
//!
//! ```text
//! cargo run --release -p palisade-log --example append_bench -- [payload bytes] [directory]
//! ```
//!
//! Appends go to a disk that takes everything and keeps nothing, so that the log buffer is measured: by 1, 2, 4 and 8
//! threads, of 200 bytes each unless told otherwise. With a directory, durable commits there follow, with each setting of
//! `innodb_log_writer_threads`.
//!
//! Instructions of one append, its admission included (the profile wants symbols):
//!
//! ```text
//! CARGO_PROFILE_RELEASE_DEBUG=1 cargo build --release -p palisade-log --example append_bench
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect='*one_append*' \
//!     target/release/examples/append_bench count
//! ```
//!
//! prints how many appends that were; the instructions are what valgrind collected.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use palisade_base::event::{retry, retry_blocking};
use palisade_io::{File, FileSystem, MemFileSystem, OsFileSystem, Overlay, OverlayFileSystem};
use palisade_log::{Log, LogConfig, Lsn, METRICS, WriterThreads};

const SECONDS: u64 = 2;
const PAYLOAD: usize = 200;
/// Appends that are counted; fewer than the log buffer holds, so that nothing else is.
const COUNTED: usize = 10_000;
/// Workers for durable commits.
const WORKERS: usize = 2;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("count") {
        return count();
    }
    let payload = first.and_then(|text| text.parse().ok()).unwrap_or(PAYLOAD);
    for threads in [1, 2, 4, 8] {
        appends(threads, payload);
    }
    let Some(directory) = arguments.next() else { return };
    for sessions in [1, 16, 128] {
        for writer_threads in [WriterThreads::Off, WriterThreads::On, WriterThreads::Auto] {
            commits(Path::new(&directory), writer_threads, WORKERS, sessions, payload);
        }
    }
}

/// A disk whose segments take everything and keep nothing.
struct Forgetful;

impl Overlay for Forgetful {
    fn write_at(&self, path: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        let is_segment = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log."));
        if is_segment { Ok(()) } else { file.write_at(bytes, offset) }
    }

    fn sync(&self, _: &Path, _: &dyn File) -> io::Result<()> {
        Ok(())
    }
}

fn forgetful() -> Arc<dyn FileSystem> {
    Arc::new(OverlayFileSystem::new(Arc::new(MemFileSystem::new()), Forgetful))
}

fn create(fs: Arc<dyn FileSystem>, directory: &Path, writer_threads: WriterThreads) -> Arc<Log> {
    let config = LogConfig { writer_threads, capacity: 1 << 30, ..LogConfig::default() };
    Log::create(fs, directory, config, Lsn(8)).expect("the log can be created")
}

/// One admission and one append: what a mini-transaction does.
#[inline(never)]
fn one_append(log: &Log, bytes: &[u8]) -> bool {
    let (mut credit, waited) = match log.admit(bytes.len()) {
        Ok(credit) => (credit, false),
        Err(_) => (retry_blocking(|| log.admit(bytes.len())).expect("the log runs"), true),
    };
    log.append(&mut credit, bytes, |_| {});
    waited
}

/// Appends for a profiler to count.
fn count() {
    let log = create(forgetful(), Path::new("redo"), WriterThreads::Auto);
    let bytes = vec![7; PAYLOAD];
    for _ in 0..COUNTED {
        assert!(!one_append(&log, &bytes), "the log buffer has room");
    }
    println!("{COUNTED} appends of {PAYLOAD} bytes");
    log.shutdown().expect("the log shuts down");
}

/// Appends from `threads` threads while another keeps the checkpoint moving.
fn appends(threads: usize, payload: usize) {
    let log = create(forgetful(), Path::new("redo"), WriterThreads::Auto);
    let (count, waits) = (AtomicU64::new(0), AtomicU64::new(0));
    let end = Instant::now() + Duration::from_secs(SECONDS);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let bytes = vec![7; payload];
                while Instant::now() < end {
                    let waited = (0..1000).filter(|_| one_append(&log, &bytes)).count();
                    waits.fetch_add(waited as u64, Ordering::Relaxed);
                    count.fetch_add(1000, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| {
            while Instant::now() < end + Duration::from_millis(100) {
                std::thread::sleep(Duration::from_millis(5));
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
                runtime.spawn(async move { inbox.pump(tokio::task::yield_now).await });
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
