//! Disks that fail or are slow while threads append.

use super::*;
use palisade_base::prng::test_seed;
use palisade_io::{Call, CrashKeeps, Fault, FaultFileSystem, File, Overlay, OverlayFileSystem};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// What threads were told is durable: end and payload's first byte.
type Answered = Mutex<Vec<(LsnRange, u8)>>;

/// Appends and waits for durability until the log fails or `most` have been answered.
fn commit(log: &Log, thread: u8, most: usize, answered: &Answered) {
    for number in 0..most {
        let payload = vec![thread; 20 + number % 300];
        let Ok(range) = append(log, &payload) else { return };
        match log.flush_blocking(range.end) {
            Ok(()) => answered.lock().unwrap().push((range, thread)),
            Err(_) => return,
        }
    }
}

/// EIO at each sync in turn, in every mode: nobody is answered by a flush that failed or came later, the failure is
/// reported (which ends a server), and whatever was answered is there after the power has failed, too.
#[test]
fn an_error_at_any_sync_is_answered_to_nobody_and_loses_nothing() {
    let seed = test_seed(31);
    let mut failures = 0;
    for mode in [WriterThreads::Off, WriterThreads::On, WriterThreads::Auto] {
        for nth in 1..30 {
            let fs = Arc::new(FaultFileSystem::new(seed + nth));
            let reports = Arc::new(AtomicUsize::new(0));
            let counted = reports.clone();
            let on_failure = Arc::new(move |_: &str| {
                counted.fetch_add(1, Ordering::SeqCst);
            });
            let log = create(&fs, LogConfig { on_failure, ..threaded(mode) });
            fs.fail(Call::Sync, nth, Fault::Io);
            let answered = Answered::default();
            std::thread::scope(|scope| {
                for thread in 0..3 {
                    let (log, answered) = (&log, &answered);
                    scope.spawn(move || commit(log, thread, 60, answered));
                }
            });
            let durable = log.durable_lsn();
            let has_failed = log.shutdown().is_err();
            assert_eq!(reports.load(Ordering::SeqCst), usize::from(has_failed), "reported once");
            failures += usize::from(has_failed);
            let answered = answered.into_inner().unwrap();
            for (range, _) in &answered {
                assert!(
                    range.end <= durable || !has_failed,
                    "seed {}: answered beyond {durable:?}",
                    seed + nth
                );
            }
            fs.crash(CrashKeeps::Random);
            let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
            let read = read_all(&mut reader).unwrap();
            for (range, thread) in answered {
                let found = read.iter().find(|(found, _)| *found == range);
                let payload = found.map(|(_, payload)| payload[0]);
                assert_eq!(payload, Some(thread), "seed {}, {mode:?}: {range:?} was answered", seed + nth);
            }
        }
    }
    assert!(failures > 30, "the disk failed in {failures} of the rounds only");
}

/// A disk that takes its time.
struct Slow;

impl Overlay for Slow {
    fn write_at(&self, _: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::thread::sleep(Duration::from_micros(200));
        file.write_at(bytes, offset)
    }

    fn sync(&self, _: &Path, file: &dyn File) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(3));
        file.sync()
    }

    fn sync_dir(&self, below: &dyn FileSystem, dir: &Path) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(3));
        below.sync_dir(dir)
    }
}

/// The log fills up again and again, because checkpoints come late: appends wait, none is lost or forgotten, and the log
/// stays within its files.
#[test]
fn a_full_log_on_a_slow_disk_waits_and_goes_on() {
    for mode in [WriterThreads::Off, WriterThreads::On, WriterThreads::Auto] {
        let disk = Arc::new(OverlayFileSystem::new(Arc::new(FaultFileSystem::new(1)), Slow));
        let log = create(&disk, LogConfig { capacity: 128 << 10, ..threaded(mode) });
        let (answered, done) = (Answered::default(), AtomicBool::new(false));
        let waits = || crate::metrics::FILE_SPACE_WAITS.value();
        let before = waits();
        std::thread::scope(|scope| {
            let committing: Vec<_> = (0..4)
                .map(|thread| {
                    let (log, answered) = (&log, &answered);
                    scope.spawn(move || commit(log, thread, 150, answered))
                })
                .collect();
            scope.spawn(|| {
                let (mut seen, mut polls) = (before, 0);
                while !done.load(Ordering::Relaxed) {
                    // As late as it can be: when somebody waits for it, or has for long.
                    let now = waits();
                    polls = if log.capacity_used() >= 0.9 { polls + 1 } else { 0 };
                    if polls > 0 && (now > seen || polls > 1000) {
                        log.write_checkpoint(log.tail()).unwrap();
                        (seen, polls) = (now, 0);
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            for thread in committing {
                thread.join().unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(answered.into_inner().unwrap().len(), 4 * 150);
        assert!(waits() > before, "the log was never full");
        assert!(log.file_sizes().0 <= 128 << 10);
        log.shutdown().unwrap();
    }
}
