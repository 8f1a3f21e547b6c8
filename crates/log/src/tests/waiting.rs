//! Durability waits on real threads, in every mode.

use super::*;
use crate::durability::{FEW_WAITS, Lead};
use crate::yield_once;
use palisade_base::Event;
use palisade_io::{Call, Fault, FaultFileSystem, MemFileSystem};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const MODES: [WriterThreads; 3] = [WriterThreads::Off, WriterThreads::On, WriterThreads::Auto];

/// Runs `worker` on threads that are each a current-thread runtime with a registered inbox and its pump.
fn on_workers<F: Future<Output = ()>>(
    log: &Arc<Log>,
    workers: usize,
    worker: impl Fn(Arc<Log>, usize) -> F + Send + Sync,
) {
    std::thread::scope(|scope| {
        for number in 0..workers {
            let (log, worker) = (log.clone(), &worker);
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                let inbox = log.register_worker();
                runtime.spawn(async move { inbox.pump(yield_once).await });
                let limit = Duration::from_secs(60);
                let done = runtime.block_on(async { tokio::time::timeout(limit, worker(log, number)).await });
                done.expect("no wait is forgotten");
            });
        }
    });
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < limit, "not {what} after two minutes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// An append that has reserved its place, on a thread of its own, and links when this is dropped.
struct LateAppend {
    may_link: Event,
    thread: Option<JoinHandle<()>>,
}

impl LateAppend {
    fn reserve(log: &Arc<Log>) -> LateAppend {
        let (reserved, may_link) = (Event::new(), Event::new());
        let thread = {
            let (log, reserved, may_link) = (log.clone(), reserved.clone(), may_link.clone());
            std::thread::spawn(move || {
                let mut credit = retry_blocking(|| log.admit(8)).unwrap();
                log.append(&mut credit, &[1; 8], |_| {
                    reserved.complete();
                    may_link.wait_blocking();
                });
            })
        };
        reserved.wait_blocking();
        LateAppend { may_link, thread: Some(thread) }
    }

    fn link(self) {}
}

impl Drop for LateAppend {
    fn drop(&mut self) {
        self.may_link.complete();
        let ended = self.thread.take().map_or(Ok(()), JoinHandle::join);
        assert!(ended.is_ok() || std::thread::panicking(), "the late append has failed");
    }
}

async fn commits(log: Arc<Log>, session: usize, count: usize) {
    for number in 0..count {
        let mut credit = palisade_base::event::retry(|| log.admit(100)).await.unwrap();
        let range = log.append(&mut credit, &[number as u8; 100], |_| {});
        drop(credit);
        if (session + number) % 10 == 9 {
            log.wait_tail(range.end).await.unwrap();
            assert!(log.tail() >= range.end);
        } else {
            log.wait_durable(range.end).await.unwrap();
            assert!(log.durable_lsn() >= range.end);
        }
    }
}

async fn sessions(log: Arc<Log>, sessions: usize, count: usize) {
    let local = tokio::task::LocalSet::new();
    for session in 0..sessions {
        local.spawn_local(commits(log.clone(), session, count));
    }
    local.await;
}

fn roomy(writer_threads: WriterThreads) -> LogConfig {
    LogConfig { capacity: 16 << 20, segment_size: 1 << 20, buffer_size: 1 << 20, ..threaded(writer_threads) }
}

#[test]
fn every_commit_is_answered_in_every_mode() {
    for mode in MODES {
        let log = create(&Arc::new(MemFileSystem::new()), roomy(mode));
        on_workers(&log, 2, |log, _| sessions(log, 20, 40));
        assert_eq!(log.tail().since(Lsn(1000)), 2 * 20 * 40 * 112);
        log.shutdown().unwrap();
    }
}

#[test]
fn the_mode_may_change_at_any_time() {
    let log = create(&Arc::new(MemFileSystem::new()), roomy(WriterThreads::Auto));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Prng::new(1);
            while !done.load(Ordering::Relaxed) {
                log.set_writer_threads(*random.pick(&MODES));
                std::thread::sleep(Duration::from_micros(random.below(300)));
            }
        });
        on_workers(&log, 3, |log, _| sessions(log, 8, 150));
        done.store(true, Ordering::Relaxed);
    });
    log.shutdown().unwrap();
}

#[test]
fn threads_that_are_no_workers_flush_in_every_mode() {
    for mode in MODES {
        let log = create(&Arc::new(MemFileSystem::new()), roomy(mode));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let range = append(&log, &[1; 40]).unwrap();
                        log.flush_blocking(range.end).unwrap();
                        assert!(log.durable_lsn() >= range.end);
                    }
                });
            }
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                runtime.block_on(sessions(log.clone(), 5, 40));
            });
        });
        log.shutdown().unwrap();
    }
}

/// An append that is late to link holds up those behind it, and nobody is forgotten when it does.
#[test]
fn a_wait_behind_an_unlinked_append_ends_when_it_links() {
    for mode in MODES {
        let log = create(&Arc::new(MemFileSystem::new()), roomy(mode));
        let late = LateAppend::reserve(&log);
        let ended = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let behind = append(&log, &[2; 8]).unwrap();
            assert_eq!(log.tail(), Lsn(1000));
            let (log, ended) = (&log, &ended);
            let flushed = scope.spawn(move || log.flush_blocking(behind.end));
            let workers = scope.spawn(move || {
                on_workers(log, 2, |log, number| async move {
                    match number {
                        0 => log.wait_durable(behind.end).await.unwrap(),
                        _ => log.wait_tail(behind.end).await.unwrap(),
                    }
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            });
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(ended.load(Ordering::Relaxed), 0);
            assert_eq!(log.tail(), Lsn(1000));
            late.link();
            flushed.join().unwrap().unwrap();
            workers.join().unwrap();
            assert!(log.durable_lsn() >= behind.end);
        });
        log.shutdown().unwrap();
    }
}

#[test]
fn what_nobody_waits_for_is_durable_after_a_while() {
    for mode in MODES {
        let config = LogConfig { background_flush_interval_ms: 10, ..roomy(mode) };
        let log = create(&Arc::new(MemFileSystem::new()), config);
        let range = append(&log, b"no hurry").unwrap();
        wait_until(&format!("flushed with {mode:?}"), || log.durable_lsn() >= range.end);
        log.shutdown().unwrap();
    }
}

/// More than the ring holds, with nobody waiting for durability: the log's threads make room.
#[test]
fn a_full_buffer_is_written_without_being_asked() {
    for mode in MODES {
        let log = create(&Arc::new(MemFileSystem::new()), LogConfig { buffer_size: 32 << 10, ..roomy(mode) });
        for _ in 0..2000 {
            append(&log, &[1; 1000]).unwrap();
        }
        assert!(log.written_lsn().0 > 1000 + 1_900_000);
        log.shutdown().unwrap();
    }
}

/// More than a quarter of the ring, less than what makes appends wait, behind a commit that has left nothing over to be written.
#[test]
fn a_buffer_that_fills_up_is_written_before_appends_have_to_wait() {
    for mode in MODES {
        let config = LogConfig { background_flush_interval_ms: 3_600_000, ..roomy(mode) };
        let log = create(&Arc::new(MemFileSystem::new()), config);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for _ in 0..3 {
            let committed = append(&log, b"commit").unwrap();
            runtime.block_on(log.wait_durable(committed.end)).unwrap();
            let begin = log.tail();
            while log.tail().since(begin) < log.buffer_size() * 3 / 8 {
                append(&log, &[1; 1000]).unwrap();
            }
            wait_until(&format!("written with {mode:?}"), || log.written_lsn() > begin);
        }
        log.shutdown().unwrap();
    }
}

/// With AUTO, after a flush that has not covered everyone: while few wait, the flusher goes on without being asked; with
/// more, the workers are to see to it.
#[test]
fn the_flusher_goes_on_by_itself_while_few_wait() {
    for waits in [FEW_WAITS, FEW_WAITS + 1] {
        let config = LogConfig { background_flush_interval_ms: 3_600_000, ..roomy(WriterThreads::Auto) };
        let log = create(&Arc::new(MemFileSystem::new()), config);
        let inbox = log.register_worker();
        let covered = append(&log, &[1; 8]).unwrap();
        let late = LateAppend::reserve(&log);
        let behind: Vec<LsnRange> = (1..waits).map(|_| append(&log, &[3; 8]).unwrap()).collect();
        let ends: Vec<Lsn> = [covered].iter().chain(&behind).map(|range| range.end).collect();
        let mut all: Vec<_> = ends.iter().map(|end| Box::pin(log.wait_durable(*end))).collect();
        // Nobody pumps: whom the waits have called does nothing.
        let mut context = Context::from_waker(Waker::noop());
        assert!(all.iter_mut().all(|wait| wait.as_mut().poll(&mut context).is_pending()));
        let is_few = waits == FEW_WAITS;
        assert_eq!(log.lead_after_thread(), if is_few { Lead::Taken } else { Lead::Sought });
        log.ask(covered.end);
        wait_until("flushed", || log.durable_lsn() == covered.end);
        late.link();
        if is_few {
            wait_until("flushed by itself", || log.durable_lsn() == *ends.last().unwrap());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.spawn(async move { inbox.pump(yield_once).await });
        let ended = async {
            for wait in all {
                wait.await.unwrap();
            }
        };
        runtime.block_on(async { tokio::time::timeout(Duration::from_secs(120), ended).await }).unwrap();
        log.shutdown().unwrap();
    }
}

/// Whoever writes takes along what others wait for; somebody must sync it.
#[test]
fn what_another_session_has_written_is_synced_for_those_who_wait_for_that() {
    for mode in MODES {
        let config = LogConfig { background_flush_interval_ms: 3_600_000, ..roomy(mode) };
        let log = create(&Arc::new(MemFileSystem::new()), config);
        let (done, flushes) = (AtomicBool::new(false), AtomicUsize::new(0));
        let limit = Instant::now() + Duration::from_secs(120);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut written = 0;
                while !done.load(Ordering::Relaxed) {
                    // Not so far ahead that the log is full: nobody checkpoints.
                    if written <= 30 * flushes.load(Ordering::Relaxed) {
                        let Ok(range) = append(&log, &[1; 40]) else { break };
                        log.write_out(range.end).unwrap();
                        written += 1;
                    } else {
                        std::thread::yield_now();
                    }
                    if Instant::now() > limit {
                        // Lets those who wait see that nobody syncs.
                        log.fail("wait any longer", std::io::Error::other("nobody syncs"));
                    }
                }
            });
            for _ in 0..500 {
                let range = append(&log, &[2; 40]).unwrap();
                let waited = log.flush_blocking(range.end);
                if waited.is_err() {
                    done.store(true, Ordering::Relaxed);
                }
                waited.unwrap_or_else(|error| panic!("{mode:?}: {error}"));
                flushes.fetch_add(1, Ordering::Relaxed);
            }
            done.store(true, Ordering::Relaxed);
        });
        log.shutdown().unwrap();
    }
}

#[test]
fn a_wait_that_is_given_up_hinders_nobody() {
    for mode in MODES {
        let log = create(&Arc::new(MemFileSystem::new()), roomy(mode));
        on_workers(&log, 2, |log, number| async move {
            let mut random = Prng::new(number as u64);
            for _ in 0..300 {
                let range = append(&log, &[1; 30]).unwrap();
                let limit = Duration::from_micros(random.below(50));
                let _ = tokio::time::timeout(limit, log.wait_durable(range.end)).await;
            }
            log.wait_durable(log.tail()).await.unwrap();
        });
        log.shutdown().unwrap();
    }
}

/// Whoever asks what the log's state is waits for nobody: not for a write, nor for a checkpoint or files that are being made.
#[test]
fn looking_at_the_log_waits_for_nobody() {
    let log = create(&Arc::new(MemFileSystem::new()), roomy(WriterThreads::Off));
    let (looked, has_looked) = std::sync::mpsc::channel();
    let held = (log.checkpoint.lock(), log.writer.lock());
    let looking = {
        let log = log.clone();
        std::thread::spawn(move || {
            log.publish_metrics();
            assert_eq!((log.id(), log.file_sizes()), (77, (16 << 20, 16 << 20)));
            assert!(log.capacity_used() < 0.1 && log.usable_capacity() > 1 << 20);
            assert_eq!((log.durable_lsn(), log.buffer_size()), (Lsn(1000), 1 << 20));
            looked.send(()).unwrap();
        })
    };
    has_looked.recv_timeout(Duration::from_secs(120)).expect("it waits for who writes or checkpoints");
    drop(held);
    looking.join().unwrap();
    log.shutdown().unwrap();
}

#[test]
fn a_worker_that_ends_leaves_its_waits_to_others() {
    let log = create(&Arc::new(MemFileSystem::new()), roomy(WriterThreads::Auto));
    let inbox = log.register_worker();
    let range = append(&log, b"x").unwrap();
    let mut wait = Box::pin(log.wait_durable(range.end));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        // Nobody pumps; then the worker is gone.
        let once =
            std::future::poll_fn(|context| std::task::Poll::Ready(wait.as_mut().poll(context).is_ready()));
        let _ = once.await;
        drop(inbox);
        wait.await.unwrap();
    });
    log.shutdown().unwrap();
}

#[test]
fn after_a_failed_sync_nothing_is_promised_and_everyone_is_told() {
    for mode in MODES {
        for call in [Call::Sync, Call::Write] {
            let fs = Arc::new(FaultFileSystem::new(1));
            let reasons = Arc::new(AtomicUsize::new(0));
            let seen = reasons.clone();
            let on_failure = Arc::new(move |reason: &str| {
                // A slow machine may have found the log idle before: then its witness fails.
                let is_named = reason.contains("the log") || reason.contains("the checkpoint file");
                assert!(is_named, "{reason}");
                seen.fetch_add(1, Ordering::Relaxed);
            });
            let log = create(&fs, LogConfig { on_failure, ..roomy(mode) });
            let durable = append(&log, b"before").unwrap();
            log.flush_blocking(durable.end).unwrap();
            fs.fail(call, 1, Fault::Io);
            on_workers(&log, 2, |log, _| async move {
                while let Ok(range) = append(&log, b"after") {
                    if log.wait_durable(range.end).await.is_err() {
                        break;
                    }
                }
            });
            assert!(matches!(log.flush_blocking(log.tail()), Err(Error::Failed)));
            assert!(matches!(append(&log, b"x"), Err(Error::Failed)));
            assert_eq!(log.durable_lsn(), durable.end);
            assert!(log.shutdown().is_err());
            // The log's threads have ended: whichever failed has said so.
            assert_eq!(reasons.load(Ordering::Relaxed), 1, "{mode:?}");
        }
    }
}
