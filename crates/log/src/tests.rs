//! Tests of the log as a whole, by subject.

mod checkpointing;
mod corruption;
mod crash;
mod failing_disk;
mod ranges;
mod resizing;
mod waiting;

use std::path::Path;
use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_base::prng::Prng;
use palisade_io::FileSystem;

use crate::{Error, Log, LogConfig, LogReader, Lsn, LsnRange, WriterThreads};

const DIR: &str = "redo";

fn dir() -> &'static Path {
    Path::new(DIR)
}

/// A small log without threads: its caller flushes. A failure is noted in the log's state and not fatal.
fn quiet() -> LogConfig {
    LogConfig {
        log_id: 77,
        capacity: 256 << 10,
        segment_size: 16 << 10,
        buffer_size: 32 << 10,
        block_size: 512,
        background: false,
        on_failure: Arc::new(|_| {}),
        ..LogConfig::default()
    }
}

/// The same with threads.
fn threaded(writer_threads: WriterThreads) -> LogConfig {
    LogConfig { background: true, writer_threads, ..quiet() }
}

fn create(fs: &Arc<impl FileSystem + 'static>, config: LogConfig) -> Arc<Log> {
    Log::create(fs.clone(), dir(), config, Lsn(1000)).unwrap()
}

fn append(log: &Log, payload: &[u8]) -> Result<LsnRange, Error> {
    let mut credit = retry_blocking(|| log.admit(payload.len()))?;
    Ok(log.append(&mut credit, payload, |_| {}))
}

/// A payload that says which it is: `number`, then as many bytes as it likes.
fn payload(number: u64, random: &mut Prng) -> Vec<u8> {
    let len = if random.one_in(20) { random.below(1500) } else { random.below(120) };
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.resize(8 + len as usize, number as u8);
    bytes
}

fn read_all(reader: &mut LogReader) -> Result<Vec<(LsnRange, Vec<u8>)>, Error> {
    let mut records = Vec::new();
    while let Some(record) = reader.next()? {
        records.push((LsnRange { start: record.start, end: record.end }, record.payload.to_vec()));
    }
    Ok(records)
}

mod round_trip {
    use super::*;
    use palisade_io::MemFileSystem;

    #[test]
    fn what_was_appended_is_read_back_at_its_lsn() {
        let fs = Arc::new(MemFileSystem::new());
        let log = create(&fs, quiet());
        let mut random = Prng::new(1);
        let mut appended = Vec::new();
        for number in 0..500 {
            let bytes = payload(number, &mut random);
            let range = append(&log, &bytes).unwrap();
            appended.push((range, bytes));
            if random.one_in(10) {
                log.flush_blocking(range.end).unwrap();
                assert!(log.durable_lsn() >= range.end);
            }
        }
        assert_eq!(log.tail(), appended.last().unwrap().0.end);
        log.shutdown().unwrap();
        assert!(matches!(append(&log, b"late"), Err(Error::NotRunning)));

        let (log, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
        assert_eq!(reader.checkpoint_lsn(), Lsn(1000));
        assert_eq!(read_all(&mut reader).unwrap(), appended);
        log.start_after_recovery(reader).unwrap();
        let range = append(&log, b"next life").unwrap();
        assert_eq!(range.start, appended.last().unwrap().0.end);
        log.shutdown().unwrap();

        let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
        let again = read_all(&mut reader).unwrap();
        assert_eq!(again[..appended.len()], appended);
        assert_eq!(again[appended.len()..], [(range, b"next life".to_vec())]);
    }

    #[test]
    fn a_log_works_on_the_operating_system_with_and_without_direct_io() {
        for direct in [false, true] {
            let place = tempfile::tempdir().unwrap();
            let fs = Arc::new(palisade_io::OsFileSystem);
            let config = LogConfig { direct, capacity: 1 << 20, ..threaded(WriterThreads::Auto) };
            let log = Log::create(fs.clone(), place.path(), config.clone(), Lsn(8)).unwrap();
            let ranges: Vec<LsnRange> = (0..50u8)
                .map(|number| {
                    let range = append(&log, &[number; 100]).unwrap();
                    log.flush_blocking(range.end).unwrap();
                    range
                })
                .collect();
            log.shutdown().unwrap();
            let (_, mut reader) = Log::open(fs, place.path(), config).unwrap();
            let read = read_all(&mut reader).unwrap();
            assert_eq!(read.iter().map(|(range, _)| *range).collect::<Vec<_>>(), ranges);
        }
    }

    #[test]
    fn what_was_written_out_is_there_after_the_process_without_having_been_synced() {
        let fs = Arc::new(MemFileSystem::new());
        let log = create(&fs, quiet());
        let (first, second) = (append(&log, b"first").unwrap(), append(&log, b"second").unwrap());
        log.write_out(first.end).unwrap();
        assert!(log.written_lsn() >= second.end, "one write takes all there is");
        assert!(log.durable_lsn() <= first.start, "nothing was synced");
        // The process ends here; the operating system keeps what it was given.
        let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
        assert_eq!(read_all(&mut reader).unwrap().len(), 2);
    }

    #[test]
    fn there_is_no_log_where_none_was_created() {
        let fs = Arc::new(MemFileSystem::new());
        assert!(!Log::exists(&*fs, dir()).unwrap());
        assert!(matches!(Log::open(fs.clone(), dir(), quiet()), Err(Error::Missing(_))));
        create(&fs, quiet());
        assert!(Log::exists(&*fs, dir()).unwrap());
    }
}
