//! What group commit costs, counted. Alone in its process, because the counters are the process's.
#![cfg(not(loom))]

use std::path::Path;
use std::sync::Arc;

use palisade_io::MemFileSystem;
use palisade_log::{Log, LogConfig, Lsn, METRICS, OtherWork, WriterThreads};

const SESSIONS: u64 = 64;
const COMMITS: u64 = 50;

fn metric(name: &str) -> u64 {
    METRICS.iter().find(|metric| metric.name == name).expect("a declared metric").value()
}

async fn session(log: Arc<Log>) {
    for _ in 0..COMMITS {
        let mut credit = palisade_base::event::retry(|| log.admit(64)).await.unwrap();
        let range = log.append(&mut credit, &[1; 64], |_| {});
        drop(credit);
        log.wait_durable(range.end).await.unwrap();
    }
}

fn worker(log: Arc<Log>, other_work: OtherWork) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let inbox = log.register_worker();
    runtime.spawn(async move { inbox.pump(tokio::task::yield_now, || other_work).await });
    runtime.block_on(async {
        let sessions: Vec<_> = (0..SESSIONS).map(|_| tokio::spawn(session(log.clone()))).collect();
        for session in sessions {
            session.await.unwrap();
        }
    });
}

/// Runs the sessions on `workers` workers; (flushes, wakeups).
fn run(workers: u64, writer_threads: WriterThreads, other_work: OtherWork) -> (u64, u64) {
    let (flushes, wakeups) = (metric("log_flush_total"), metric("log_wakeups"));
    let config = LogConfig { writer_threads, ..LogConfig::default() };
    let log = Log::create(Arc::new(MemFileSystem::new()), Path::new("redo"), config, Lsn(8)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| worker(log.clone(), other_work));
        }
    });
    log.shutdown().unwrap();
    let (flushes, wakeups) = (metric("log_flush_total") - flushes, metric("log_wakeups") - wakeups);
    let commits = workers * SESSIONS * COMMITS;
    println!(
        "{workers} workers, {writer_threads:?}, {other_work:?}: {commits} commits, {flushes} flushes, {wakeups} wakeups"
    );
    (flushes, wakeups)
}

#[test]
fn a_flush_wakes_a_worker_at_most_once_however_many_sessions_it_covers() {
    let modes = [
        (WriterThreads::Off, OtherWork::None),
        (WriterThreads::On, OtherWork::None),
        (WriterThreads::Auto, OtherWork::None),
        (WriterThreads::Auto, OtherWork::Runnable),
    ];
    for (writer_threads, other_work) in modes {
        for workers in [1, 2] {
            let (flushes, wakeups) = run(workers, writer_threads, other_work);
            assert!(wakeups <= (flushes + 2) * workers, "{wakeups} wakeups for {flushes} flushes");
            // With AUTO the log's threads are tried, too.
            if writer_threads == WriterThreads::Off && workers == 1 {
                assert!(
                    flushes <= 2 * COMMITS,
                    "a leader lets everyone who is ready commit first: {flushes}"
                );
                assert!(wakeups <= 2, "a leader need not be woken: {wakeups}");
            }
        }
    }
}
