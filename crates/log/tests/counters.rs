//! Every counter of the log moves when what it counts happens, but for those that say why they do not. Alone in its process,
//! because the counters are the process's.
#![cfg(not(loom))]

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use palisade_base::event::retry_blocking;
use palisade_base::metric::Kind;
use palisade_base::{Blocked, Event};
use palisade_io::{File, FileSystem, MemFileSystem, Overlay, OverlayFileSystem};
use palisade_log::{Log, LogConfig, Lsn, LsnRange, METRICS, WriterThreads};

/// Counters that this test leaves where they are: what they count happens only when two threads meet by chance, or is over
/// when somebody looks.
const BY_CHANCE: [&str; 3] = ["log_on_file_space_no_waits", "os_log_pending_fsyncs", "os_log_pending_writes"];

/// Enough time for what a writer does to fall behind what it is asked for.
struct Slow;

impl Overlay for Slow {
    fn write_at(&self, _: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::thread::sleep(Duration::from_micros(300));
        file.write_at(bytes, offset)
    }

    fn sync(&self, _: &Path, file: &dyn File) -> io::Result<()> {
        std::thread::sleep(Duration::from_micros(500));
        file.sync()
    }
}

/// The names of those that are not 0.
fn moved() -> BTreeSet<&'static str> {
    METRICS.iter().filter(|metric| metric.value() > 0).map(|metric| metric.name).collect()
}

fn small(background: bool, writer_threads: WriterThreads) -> LogConfig {
    LogConfig {
        capacity: 256 << 10,
        segment_size: 16 << 10,
        buffer_size: 16 << 10,
        block_size: 512,
        background,
        writer_threads,
        ..LogConfig::default()
    }
}

fn create(config: LogConfig) -> Arc<Log> {
    let disk: Arc<dyn FileSystem> = Arc::new(OverlayFileSystem::new(Arc::new(MemFileSystem::new()), Slow));
    Log::create(disk, Path::new("redo"), config, Lsn(8192)).unwrap()
}

fn append(log: &Log, bytes: usize) -> LsnRange {
    let mut credit = retry_blocking(|| log.admit(bytes)).unwrap();
    log.append(&mut credit, &vec![1; bytes], |range| log.register_dirty(range.start))
}

/// One thread, which flushes by itself.
fn alone() {
    let log = create(small(false, WriterThreads::Off));
    let first = append(&log, 100);
    log.write_out(first.end).unwrap();
    log.write_out(first.end).unwrap();
    log.flush_blocking(first.end).unwrap();
    // Header, frame and payload are a whole block.
    let whole = append(&log, 512 - 48 - 8);
    log.flush_blocking(whole.end).unwrap();
    for range in [first, whole] {
        log.unregister_dirty(range.start);
    }
    log.write_checkpoint(log.tail()).unwrap();
    // The buffer is full; whoever asks writes it, and finds room on the second look. In the end the files are full.
    loop {
        match log.admit(900) {
            Ok(mut credit) => {
                log.append(&mut credit, &[2; 900], |_| {});
            }
            Err(Blocked::Wait(_)) => break,
            Err(Blocked::Error(error)) => panic!("{error}"),
        }
    }
    log.write_checkpoint(log.tail()).unwrap();
    log.shutdown().unwrap();
}

async fn session(log: Arc<Log>) {
    for _ in 0..20 {
        let mut credit = palisade_base::event::retry(|| log.admit(64)).await.unwrap();
        let range = log.append(&mut credit, &[1; 64], |_| {});
        drop(credit);
        log.wait_durable(range.end).await.unwrap();
        log.wait_durable(range.end).await.unwrap();
    }
}

fn worker(log: &Arc<Log>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let inbox = log.register_worker();
    runtime.spawn(async move { inbox.pump(tokio::task::yield_now).await });
    runtime.block_on(async {
        let sessions: Vec<_> = (0..8).map(|_| tokio::spawn(session(log.clone()))).collect();
        for session in sessions {
            session.await.unwrap();
        }
    });
}

/// Workers whose sessions wait for the log's threads, a thread that appends more than the buffer holds, and an append that
/// is late.
fn together() {
    let log = create(LogConfig { capacity: 4 << 20, ..small(true, WriterThreads::On) });
    std::thread::scope(|scope| {
        scope.spawn(|| worker(&log));
        scope.spawn(|| worker(&log));
        scope.spawn(|| {
            for _ in 0..100 {
                append(&log, 900);
            }
        });
    });
    let (reserved, may_link) = (Event::new(), Event::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut credit = retry_blocking(|| log.admit(8)).unwrap();
            log.append(&mut credit, &[1; 8], |_| {
                reserved.complete();
                may_link.wait_blocking();
            });
        });
        reserved.wait_blocking();
        let mut wait = pin!(log.wait_tail(log.reserved()));
        assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        may_link.complete();
    });
    log.publish_metrics();
    log.shutdown().unwrap();
}

#[test]
fn every_counter_moves_or_says_why_it_does_not() {
    let wanted: BTreeSet<&str> = METRICS
        .iter()
        .filter(|metric| metric.kind != Kind::Absent && !BY_CHANCE.contains(&metric.name))
        .map(|metric| metric.name)
        .collect();
    alone();
    let limit = Instant::now() + Duration::from_secs(120);
    loop {
        together();
        let left: Vec<_> = wanted.difference(&moved()).copied().collect();
        if left.is_empty() {
            break;
        }
        assert!(Instant::now() < limit, "{left:?} stay 0");
    }
    for metric in METRICS {
        let says_why = metric.comment.starts_with("Always 0: ");
        assert_eq!(says_why, metric.kind == Kind::Absent, "{}: {}", metric.name, metric.comment);
        if says_why {
            assert_eq!(metric.value(), 0, "{}", metric.name);
        }
    }
    assert!(BY_CHANCE.iter().all(|name| METRICS.iter().any(|metric| metric.name == *name)));
}
