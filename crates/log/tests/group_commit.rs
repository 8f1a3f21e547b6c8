//! What group commit costs, counted. Alone in its process, because the counters are the process's.
#![cfg(not(loom))]

use std::path::Path;
use std::sync::Arc;

use palisade_io::MemFileSystem;
use palisade_log::{Log, LogConfig, Lsn, METRICS, WriterThreads};

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

fn worker(log: Arc<Log>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let inbox = log.register_worker();
    runtime.spawn(async move { inbox.pump(tokio::task::yield_now).await });
    runtime.block_on(async {
        let sessions: Vec<_> = (0..SESSIONS).map(|_| tokio::spawn(session(log.clone()))).collect();
        for session in sessions {
            session.await.unwrap();
        }
    });
}

/// Runs the sessions on `workers` workers; (flushes, flushes done by workers, wakeups).
fn run(workers: u64, writer_threads: WriterThreads) -> (u64, u64, u64) {
    let counted = || (metric("log_flush_total"), metric("log_leader_flushes"), metric("log_wakeups"));
    let before = counted();
    let config = LogConfig { writer_threads, ..LogConfig::default() };
    let log = Log::create(Arc::new(MemFileSystem::new()), Path::new("redo"), config, Lsn(8)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| worker(log.clone()));
        }
    });
    log.shutdown().unwrap();
    let after = counted();
    let (flushes, led, wakeups) = (after.0 - before.0, after.1 - before.1, after.2 - before.2);
    let commits = workers * SESSIONS * COMMITS;
    println!(
        "{workers} workers, {writer_threads:?}: {commits} commits, {flushes} flushes, {wakeups} wakeups"
    );
    (flushes, led, wakeups)
}

#[test]
fn a_flush_wakes_a_worker_at_most_once_however_many_sessions_it_covers() {
    for writer_threads in [WriterThreads::Off, WriterThreads::On, WriterThreads::Auto] {
        for workers in [1, 2] {
            let (flushes, led, wakeups) = run(workers, writer_threads);
            assert!(wakeups <= (flushes + 2) * workers, "{wakeups} wakeups for {flushes} flushes");
            assert_eq!(led > 0, writer_threads == WriterThreads::Off, "workers flush with Off only");
            if writer_threads != WriterThreads::On && workers == 1 {
                assert!(flushes <= 2 * COMMITS, "everyone who is ready commits first: {flushes}");
            }
            if writer_threads == WriterThreads::Off && workers == 1 {
                assert!(wakeups <= 2, "a leader need not be woken: {wakeups}");
            }
        }
    }
}
