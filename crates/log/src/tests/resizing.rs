//! The log's files grow and shrink while appends go on.

use super::*;
use palisade_base::Blocked;
use palisade_base::prng::test_seed;
use palisade_io::{
    Call, CrashKeeps, Fault, FaultFileSystem, File, MemFileSystem, Overlay, OverlayFileSystem,
};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A log whose segments are a 32nd of its capacity.
fn resizable(capacity: u64) -> LogConfig {
    LogConfig { capacity, segment_size: 0, buffer_size: 16 << 10, ..quiet() }
}

fn file_bytes(fs: &dyn FileSystem) -> u64 {
    let files = fs.list(dir()).unwrap().into_iter().filter(|path| !path.ends_with("checkpoint"));
    files.map(|path| fs.open(&path, palisade_io::OpenMode::EXISTING).unwrap().len().unwrap()).sum()
}

/// Appends, with checkpoints written when there is no room; how often that was.
fn append_with_checkpoints(log: &Log, payload: &[u8]) -> u32 {
    let mut refused = 0;
    loop {
        match log.admit(payload.len()) {
            Ok(mut credit) => {
                log.append(&mut credit, payload, |_| {});
                return refused;
            }
            Err(Blocked::Error(error)) => panic!("{error}"),
            Err(Blocked::Wait(_)) => {
                refused += 1;
                assert!(refused < 4, "a checkpoint makes room");
                log.write_checkpoint(log.tail()).unwrap();
                log.adjust_capacity().unwrap();
            }
        }
    }
}

/// Appends `bytes` with a checkpoint close behind, as a pool that keeps up would have it.
fn pass_through(log: &Log, bytes: u64, random: &mut Prng) {
    let end = log.tail().advance(bytes);
    while log.tail() < end {
        append_with_checkpoints(log, &vec![7; random.below(900) as usize]);
        if random.one_in(20) {
            log.write_checkpoint(log.tail()).unwrap();
            log.adjust_capacity().unwrap();
        }
    }
}

#[test]
fn a_log_grows_at_once_and_shrinks_as_its_files_become_free() {
    let fs = Arc::new(MemFileSystem::new());
    let log = create(&fs, resizable(512 << 10));
    let mut random = Prng::new(test_seed(1));
    assert_eq!(log.file_sizes(), (512 << 10, 512 << 10));
    for capacity in [4 << 20, 300 << 10, 40 << 20, 1 << 20, 64 << 10] {
        log.resize(capacity);
        assert_eq!(log.file_sizes().1, capacity);
        while log.adjust_capacity().unwrap() {}
        pass_through(&log, 3 << 20, &mut random);
        log.write_checkpoint(log.tail()).unwrap();
        while log.adjust_capacity().unwrap() {}
        let (total, wanted) = log.file_sizes();
        let segment = (capacity / 32).next_multiple_of(4096).max(8192);
        assert!(total <= wanted && total + segment > wanted, "{total} bytes of {wanted}");
        assert_eq!(file_bytes(&*fs), total, "there are no other files");
        assert!(log.usable_capacity() < wanted && log.usable_capacity() > wanted / 3);
    }
    log.shutdown().unwrap();
    let (_, mut reader) = Log::open(fs, dir(), resizable(512 << 10)).unwrap();
    read_all(&mut reader).unwrap();
}

/// The log is nearly full when it is told to be a fourth as large: what is in it stays, and appends are not refused for
/// longer than it takes to write a checkpoint.
#[test]
fn a_full_log_that_shrinks_keeps_what_is_needed() {
    let fs = Arc::new(MemFileSystem::new());
    let config = resizable(1 << 20);
    let log = create(&fs, config.clone());
    let mut appended = Vec::new();
    while log.capacity_used() < 0.9 {
        appended.push((append(&log, &[5; 700]).unwrap(), vec![5; 700]));
        log.flush_blocking(log.tail()).unwrap();
    }
    log.resize(256 << 10);
    log.adjust_capacity().unwrap();
    assert!(log.capacity_used() > 1.0, "the pool is told to hurry");
    drop(log);
    let (log, mut reader) = Log::open(fs.clone(), dir(), resizable(256 << 10)).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), appended);
    log.start_after_recovery(reader).unwrap();
    let refused: u32 = (0..2000).map(|_| append_with_checkpoints(&log, &[6; 700])).sum();
    assert!(refused < 100, "appends were refused {refused} times");
    log.write_checkpoint(log.tail()).unwrap();
    while log.adjust_capacity().unwrap() {}
    assert!(log.file_sizes().0 <= 256 << 10, "{:?}", log.file_sizes());
}

#[test]
fn dirty_pages_of_before_a_resize_still_hold_the_checkpoint_back() {
    let fs = Arc::new(MemFileSystem::new());
    let log = create(&fs, LogConfig { buffer_size: 1 << 20, ..resizable(32 << 20) });
    let mut dirty = Vec::new();
    let change = |dirty: &mut Vec<Lsn>| {
        let mut credit = log.admit(2000).expect("there is room for all of them");
        log.append(&mut credit, &[1; 2000], |range| {
            log.register_dirty(range.start);
            dirty.push(range.start);
        });
        log.flush_blocking(log.tail()).unwrap();
    };
    for capacity in [32 << 20, 512 << 20, 16 << 20, 64 << 20] {
        log.resize(capacity);
        (0..1000).for_each(|_| change(&mut dirty));
    }
    let mut random = Prng::new(test_seed(3));
    while !dirty.is_empty() {
        let oldest = *dirty.iter().min().unwrap();
        let candidate = log.checkpoint_candidate();
        assert!(candidate <= oldest && oldest.since(candidate) <= 1 << 20, "{candidate:?}, {oldest:?}");
        log.write_checkpoint(candidate).unwrap();
        for _ in 0..50 {
            if dirty.is_empty() {
                break;
            }
            let page = dirty.swap_remove(random.below(dirty.len().min(200) as u64) as usize);
            log.unregister_dirty(page);
        }
    }
    assert_eq!(log.checkpoint_candidate(), log.tail());
}

/// Threads append and wait for durability, in every mode, one resizes, one writes checkpoints; then the power fails, after
/// more and more changes to the disk. Nothing that was answered is lost.
#[test]
fn a_power_cut_during_a_resize_under_load_loses_nothing_durable() {
    let seed = test_seed(70);
    for round in 0..60 {
        let fs = Arc::new(FaultFileSystem::new(seed + round));
        let modes = [WriterThreads::Auto, WriterThreads::On, WriterThreads::Off];
        let writer_threads = modes[round as usize % modes.len()];
        let log = create(&fs, LogConfig { background: true, writer_threads, ..resizable(256 << 10) });
        let answered = AtomicU64::new(0);
        let failed = AtomicBool::new(false);
        fs.fail(Call::Change, 40 + round * 5, Fault::Crash);
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let (log, answered, failed) = (&log, &answered, &failed);
                scope.spawn(move || {
                    let mut random = Prng::new(seed + round * 10 + thread);
                    while let Ok(range) = append(log, &vec![thread as u8; random.below(600) as usize]) {
                        if log.flush_blocking(range.end).is_err() {
                            break;
                        }
                        answered.fetch_max(range.end.0, Ordering::SeqCst);
                    }
                    failed.store(true, Ordering::SeqCst);
                });
            }
            let mut random = Prng::new(seed + round);
            while !failed.load(Ordering::SeqCst) {
                if random.one_in(10) {
                    log.resize((64 + random.below(1000)) << 10);
                }
                // After the cut everything fails; what is answered until then is what counts.
                let _ = log.write_checkpoint(log.tail()).and_then(|()| log.adjust_capacity());
            }
        });
        assert!(log.shutdown().is_err(), "the power did not fail");
        fs.crash(CrashKeeps::Random);
        let (log, mut reader) = Log::open(fs.clone(), dir(), resizable(256 << 10)).unwrap();
        let records = read_all(&mut reader).unwrap_or_else(|error| panic!("seed {}: {error}", seed + round));
        let end = records.last().map_or(reader.checkpoint_lsn(), |(range, _)| range.end);
        let answered = Lsn(answered.into_inner());
        assert!(end >= answered, "seed {}: the log ends at {end:?}, {answered:?} was answered", seed + round);
        log.start_after_recovery(reader).unwrap();
        append(&log, b"next life").unwrap();
        log.write_checkpoint(log.tail()).unwrap();
        log.shutdown().unwrap();
    }
}

#[test]
fn a_full_disk_leaves_the_log_as_large_as_it_is() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let log = create(&fs, resizable(256 << 10));
    log.resize(1 << 20);
    fs.fail(Call::Write, 5, Fault::NoSpace);
    assert!(matches!(log.adjust_capacity(), Err(Error::Io { .. })));
    let (total, wanted) = log.file_sizes();
    assert!(total == wanted && total < 1 << 20, "{total} of {wanted}");
    assert_eq!(file_bytes(&*fs), total, "what was half made takes no space");
    let mut random = Prng::new(test_seed(2));
    pass_through(&log, 1 << 20, &mut random);
    log.resize(1 << 20);
    while log.adjust_capacity().unwrap() {}
    assert_eq!(log.file_sizes(), (1 << 20, 1 << 20));
}

/// Writes end at multiples of a size that changes on the way, and what was written is read back.
#[test]
fn blocks_of_any_size_are_read_back() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let log = create(&fs, LogConfig { capacity: 4 << 20, ..quiet() });
    let mut random = Prng::new(test_seed(6));
    let mut appended = Vec::new();
    for number in 0..200 {
        let block = 512 << random.below(6);
        log.set_write_ahead(block as usize);
        fs.start_trace();
        let bytes = payload(number, &mut random);
        let range = append(&log, &bytes).unwrap();
        appended.push((range, bytes));
        log.flush_blocking(range.end).unwrap();
        let trace = fs.take_trace();
        let written = trace.lines().rfind(|line| line.starts_with("write")).unwrap();
        let (at, len) = written.rsplit(' ').next().unwrap().split_once('+').unwrap();
        let end = at.parse::<u64>().unwrap() + len.parse::<u64>().unwrap();
        assert!(end.is_multiple_of(block.min(16384)), "{written} with blocks of {block}");
    }
    fs.crash(CrashKeeps::Synced);
    let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), appended);
}

/// A disk with large blocks, whose log files are written past the page cache.
struct LargeBlocks;

impl Overlay for LargeBlocks {
    fn write_at(&self, path: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        let block = self.alignment(path, file) as u64;
        if !offset.is_multiple_of(block) || !(bytes.len() as u64).is_multiple_of(block) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        file.write_at(bytes, offset)
    }

    fn alignment(&self, path: &Path, file: &dyn File) -> usize {
        let is_segment = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log."));
        if is_segment { 4096 } else { file.alignment() }
    }
}

#[test]
fn writes_are_as_large_as_the_files_want_after_a_restart_too() {
    let disk = Arc::new(OverlayFileSystem::new(Arc::new(MemFileSystem::new()), LargeBlocks));
    let log = create(&disk, quiet());
    // More than a lap: the first file is not there any more.
    pass_through(&log, 1 << 20, &mut Prng::new(test_seed(4)));
    log.shutdown().unwrap();
    let (log, reader) = Log::open(disk, dir(), quiet()).unwrap();
    log.start_after_recovery(reader).unwrap();
    for block in [512, 16384, 512] {
        append(&log, b"next life").unwrap();
        log.flush_blocking(log.tail()).unwrap();
        log.set_write_ahead(block);
    }
    log.shutdown().unwrap();
}

/// Of two files that the log is to have more, one has got its name when the disk is full, and it is not in use yet; just then the
/// writer has come to the end of the last one that is.
#[test]
fn a_checkpoint_at_the_end_of_the_files_is_right_although_one_could_not_be_made() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let log = create(&fs, quiet());
    while log.writer.lock().position() < 256 << 10 {
        log.admission.allow_until(u64::MAX);
        append(&log, b"a block").unwrap();
        log.flush_blocking(log.tail()).unwrap();
    }
    log.resize(288 << 10);
    fs.fail(Call::Write, 2, Fault::NoSpace);
    assert!(matches!(log.adjust_capacity(), Err(Error::Io { .. })));
    log.write_checkpoint(log.tail()).unwrap();
    assert_eq!(log.checkpoint_lsn(), log.tail());
    let range = append(&log, b"next file").unwrap();
    log.flush_blocking(range.end).unwrap();
    fs.crash(CrashKeeps::Synced);
    let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), [(range, b"next file".to_vec())]);
}

/// What was admitted must have room in the files: a buffer for a larger log would let them grow beyond what they are to be.
#[test]
fn a_log_that_shrinks_takes_its_buffer_along_and_stays_within_its_files() {
    let fs = Arc::new(MemFileSystem::new());
    let log = create(&fs, LogConfig { buffer_size: 16 << 20, ..resizable(64 << 20) });
    assert_eq!(log.buffer_size(), 16 << 20);
    let mut random = Prng::new(test_seed(8));
    log.resize(8 << 20);
    while log.file_sizes().0 > 8 << 20 {
        pass_through(&log, 1 << 20, &mut random);
        log.write_checkpoint(log.tail()).unwrap();
        log.adjust_buffer().unwrap();
        log.adjust_capacity().unwrap();
    }
    let payload = vec![1; 60_000];
    while let Ok(mut credit) = log.admit(payload.len()) {
        log.append(&mut credit, &payload, |_| {});
    }
    log.flush_blocking(log.tail()).unwrap();
    assert!(log.file_sizes().0 <= 8 << 20, "{:?}", log.file_sizes());
    assert_eq!(log.buffer_size(), 2 << 20);

    log.write_checkpoint(log.tail()).unwrap();
    log.resize(64 << 20);
    while log.adjust_capacity().unwrap() {}
    assert!(log.adjust_buffer().unwrap());
    assert_eq!(log.buffer_size(), 16 << 20, "what was asked for");
}

/// Until it is exchanged, the buffer may hold more than the log is to.
#[test]
fn a_page_changed_long_ago_is_found_although_the_buffer_is_larger_than_the_log() {
    let fs = Arc::new(MemFileSystem::new());
    let log = create(&fs, LogConfig { buffer_size: 16 << 20, ..resizable(64 << 20) });
    let payload = vec![7; 100_000];
    for _ in 0..2 {
        log.resize(1 << 20);
        // Until the log has come to where the new size counts.
        for _ in 0..200 {
            append_with_checkpoints(&log, &payload);
            log.write_checkpoint(log.tail()).unwrap();
            log.adjust_capacity().unwrap();
        }
    }
    let mut changed = None;
    while let Ok(mut credit) = log.admit(payload.len()) {
        log.append(&mut credit, &payload, |range| {
            if changed.is_none() {
                log.register_dirty(range.start);
                changed = Some(range.start);
            }
        });
    }
    let (changed, candidate) = (changed.unwrap(), log.checkpoint_candidate());
    assert!(log.tail().since(changed) > 7 << 20, "there is more in the buffer than in the files");
    assert!(candidate <= changed && changed.since(candidate) <= 1 << 20, "{candidate:?}, {changed:?}");
}

#[test]
fn the_buffer_is_exchanged_when_nobody_appends() {
    let fs = Arc::new(MemFileSystem::new());
    let log = create(&fs, LogConfig { capacity: 1 << 20, ..quiet() });
    assert_eq!(log.buffer_size(), 32 << 10);
    log.resize_buffer(100_000);
    let mut credit = log.admit(2000).unwrap();
    assert!(!log.adjust_buffer().unwrap(), "an append may be under way");
    log.append(&mut credit, &[1; 2000], |_| {});
    assert!(!log.adjust_buffer().unwrap(), "it may not have ended, though all its credit is spent");
    drop(credit);
    let most = log.max_payload();
    append(&log, &vec![2; most]).unwrap();
    assert!(log.adjust_buffer().unwrap());
    assert_eq!(log.buffer_size(), 128 << 10);
    assert_eq!(log.written_lsn(), log.tail(), "what was in it has been written");
    append(&log, &vec![3; most * 4]).unwrap();
    log.resize_buffer(usize::MAX);
    assert!(log.adjust_buffer().unwrap());
    assert_eq!(log.buffer_size(), 256 << 10, "a quarter of the log's files at the most");
    log.resize(64 << 10);
    assert!(log.adjust_buffer().unwrap());
    assert_eq!(log.buffer_size(), 256 << 10, "mini-transactions are as large as before");
    log.resize(1 << 20);
    log.resize_buffer(0);
    assert!(log.adjust_buffer().unwrap());
    assert_eq!(log.buffer_size(), 4096);
    assert!(matches!(append(&log, &[4; 2000]), Err(Error::TooLarge { .. })));
    append(&log, &[5; 100]).unwrap();
    log.shutdown().unwrap();
    assert!(matches!(log.adjust_buffer(), Err(Error::NotRunning)));
    let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
    let lengths: Vec<usize> =
        read_all(&mut reader).unwrap().iter().map(|(_, payload)| payload.len()).collect();
    assert_eq!(lengths, [2000, most, most * 4, 100]);
}

/// Threads append and wait for durability while the buffer becomes larger and smaller all the time.
#[test]
fn an_exchange_of_the_buffer_loses_no_append_and_no_wait() {
    const EXCHANGES: u64 = 40;
    for mode in [WriterThreads::Off, WriterThreads::On, WriterThreads::Auto] {
        let fs = Arc::new(MemFileSystem::new());
        let log = create(&fs, LogConfig { capacity: 4 << 20, ..threaded(mode) });
        let exchanged = AtomicU64::new(0);
        let mut appended = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3u64)
                .map(|thread| {
                    let (log, exchanged) = (&log, &exchanged);
                    scope.spawn(move || {
                        let mut random = Prng::new(thread);
                        let (mut appended, mut number) = (Vec::new(), 0);
                        while exchanged.load(Ordering::Relaxed) < EXCHANGES {
                            let bytes = payload(number * 3 + thread, &mut random);
                            let range = append(log, &bytes).unwrap();
                            appended.push((range, bytes));
                            number += 1;
                            if random.one_in(4) {
                                log.flush_blocking(range.end).unwrap();
                            }
                        }
                        appended
                    })
                })
                .collect();
            scope.spawn(|| {
                let mut random = Prng::new(9);
                while exchanged.load(Ordering::Relaxed) < EXCHANGES {
                    let bytes = (32 << 10) << random.below(5);
                    if bytes as u64 != log.buffer_size() {
                        log.resize_buffer(bytes);
                        while !log.adjust_buffer().unwrap() {}
                        exchanged.fetch_add(1, Ordering::Relaxed);
                    }
                    if log.capacity_used() > 0.5 {
                        log.write_checkpoint(log.tail()).unwrap();
                    }
                }
            });
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        appended.sort_by_key(|(range, _)| range.start);
        log.shutdown().unwrap();
        let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
        appended.retain(|(range, _)| range.start >= reader.checkpoint_lsn());
        assert!(read_all(&mut reader).unwrap() == appended, "{mode:?}");
    }
}

/// Sets the capacity anew when a new segment has grown to so many bytes.
struct ChangesItsMind {
    log: std::sync::OnceLock<Arc<Log>>,
    at: u64,
    written: AtomicU64,
}

impl Overlay for ChangesItsMind {
    fn write_at(&self, path: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        if path.ends_with("log.new") && self.log.get().is_some() {
            let written = self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            if written == self.at
                && let Some(log) = self.log.get()
            {
                log.resize(512 << 10);
            }
        }
        file.write_at(bytes, offset)
    }
}

#[test]
fn a_segment_in_the_making_is_given_up_when_it_is_not_wanted_any_more() {
    let mind = ChangesItsMind { log: Default::default(), at: 20 << 20, written: AtomicU64::new(0) };
    let disk = Arc::new(OverlayFileSystem::new(Arc::new(MemFileSystem::new()), mind));
    let log = create(&disk, resizable(512 << 10));
    assert!(disk.overlay().log.set(log.clone()).is_ok());
    // Segments of 512 MiB.
    log.resize(16 << 30);
    while log.adjust_capacity().unwrap() {}
    assert_eq!(disk.overlay().written.load(Ordering::Relaxed), 32 << 20, "it is asked every 16 MiB");
    assert_eq!(log.file_sizes(), (512 << 10, 512 << 10));
    assert_eq!(file_bytes(&*disk), 512 << 10, "nothing of it is left");
    append_with_checkpoints(&log, b"goes on");
    log.shutdown().unwrap();
}

#[test]
fn segments_of_the_largest_log_are_of_bounded_size() {
    let fs = Arc::new(MemFileSystem::new());
    let log = create(&fs, resizable(512 << 10));
    log.resize(512 << 30);
    assert_eq!(log.file_sizes().1, 512 << 30);
    assert_eq!(log.writer.lock().segments.sizes().segment, 1 << 30);
    log.resize(512 << 10);
    log.shutdown().unwrap();
}
