//! Checkpoints, the files they free, and what happens when there is no room.

use super::*;
use palisade_base::Blocked;
use palisade_io::{FaultFileSystem, MemFileSystem};

#[test]
fn a_log_of_many_laps_stays_within_its_files() {
    let fs = Arc::new(MemFileSystem::new());
    let log = create(&fs, quiet());
    let mut random = Prng::new(3);
    let mut appended = Vec::new();
    for number in 0..20_000 {
        let bytes = payload(number, &mut random);
        loop {
            match log.admit(bytes.len()) {
                Ok(mut credit) => {
                    appended.push((log.append(&mut credit, &bytes, |_| {}), bytes));
                    break;
                }
                Err(Blocked::Wait(event)) => {
                    assert!(
                        log.capacity_used() > 0.9,
                        "appends wait for a checkpoint only when it is needed"
                    );
                    log.write_checkpoint(log.tail()).unwrap();
                    assert!(event.is_complete(), "a checkpoint lets appends go on");
                    assert!(log.capacity_used() < 0.2);
                }
                Err(Blocked::Error(error)) => panic!("{error}"),
            }
        }
        if random.one_in(100) {
            log.flush_blocking(log.tail()).unwrap();
        }
    }
    assert_eq!(fs.list(dir()).unwrap().len(), 1 + 16, "the checkpoint file and the segments");
    log.shutdown().unwrap();
    let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
    let from = reader.checkpoint_lsn();
    assert!(from > Lsn(500_000));
    let expected = appended.partition_point(|(range, _)| range.start < from);
    assert_eq!(read_all(&mut reader).unwrap(), appended[expected..]);
}

#[test]
fn a_checkpoint_follows_the_oldest_dirty_page() {
    let fs = Arc::new(MemFileSystem::new());
    let config = LogConfig { capacity: 64 << 20, segment_size: 1 << 20, buffer_size: 1 << 20, ..quiet() };
    let log = Log::create(fs, dir(), config, Lsn(8)).unwrap();
    let mut dirty = Vec::new();
    for _ in 0..3000 {
        let mut credit = retry_blocking(|| log.admit(2000)).unwrap();
        log.append(&mut credit, &[1; 2000], |range| {
            log.register_dirty(range.start);
            dirty.push(range.start);
        });
    }
    assert_eq!(log.checkpoint_candidate(), Lsn(8));
    for page in dirty.drain(..1500) {
        log.unregister_dirty(page);
    }
    let candidate = log.checkpoint_candidate();
    assert!(candidate <= dirty[0] && dirty[0].since(candidate) <= 1 << 20);
    log.write_checkpoint(candidate).unwrap();
    assert!(log.checkpoint_lsn() <= candidate && candidate.since(log.checkpoint_lsn()) < 2 << 20);
    for page in dirty.drain(..) {
        log.unregister_dirty(page);
    }
    assert_eq!(log.checkpoint_candidate(), log.tail());
    log.write_checkpoint(log.tail()).unwrap();
    assert_eq!(log.checkpoint_lsn(), log.tail());
}

#[test]
fn a_larger_capacity_is_taken_up_when_the_log_is_opened() {
    let fs = Arc::new(MemFileSystem::new());
    create(&fs, quiet()).shutdown().unwrap();
    let larger = LogConfig { capacity: 512 << 10, ..quiet() };
    let (log, reader) = Log::open(fs.clone(), dir(), larger).unwrap();
    log.start_after_recovery(reader).unwrap();
    assert_eq!(fs.list(dir()).unwrap().len(), 1 + 32);
    log.shutdown().unwrap();
    let smaller = LogConfig { capacity: 128 << 10, ..quiet() };
    let (log, reader) = Log::open(fs.clone(), dir(), smaller).unwrap();
    log.start_after_recovery(reader).unwrap();
    for _ in 0..400 {
        append(&log, &[1; 1000]).unwrap();
        log.write_checkpoint(log.tail()).unwrap();
    }
    assert_eq!(fs.list(dir()).unwrap().len(), 1 + 8, "segments beyond the capacity go as they become free");
}

/// Admission keeps the writer within the files; should it get past them all the same, it makes new ones.
#[test]
fn the_writer_makes_a_segment_where_there_is_none() {
    let fs = Arc::new(MemFileSystem::new());
    let log = create(&fs, quiet());
    let mut appended = Vec::new();
    for number in 0..600u64 {
        log.admission.allow_until(u64::MAX);
        let bytes = vec![number as u8; 1000];
        appended.push((append(&log, &bytes).unwrap(), bytes));
        log.flush_blocking(log.tail()).unwrap();
    }
    assert!(fs.list(dir()).unwrap().len() > 1 + 16);
    let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), appended);
    log.write_checkpoint(log.tail()).unwrap();
    assert_eq!(fs.list(dir()).unwrap().len(), 1 + 16, "the log is back to its capacity");
    log.shutdown().unwrap();
}

/// What one commit and one checkpoint do to the disk, as text.
#[test]
fn golden_a_commit_is_one_write_and_one_sync() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let log = create(&fs, quiet());
    fs.start_trace();
    let range = append(&log, &[1; 100]).unwrap();
    log.flush_blocking(range.end).unwrap();
    append(&log, &[2; 600]).unwrap();
    append(&log, &[3; 600]).unwrap();
    log.flush_blocking(log.tail()).unwrap();
    log.write_checkpoint(log.tail()).unwrap();
    for _ in 0..16 {
        append(&log, &[4; 1000]).unwrap();
    }
    log.write_checkpoint(log.tail()).unwrap();
    let expected = "\
write redo/log.000000000000 0+512
sync redo/log.000000000000
write redo/log.000000000000 512+1536
sync redo/log.000000000000
write redo/checkpoint 0+16384
sync redo/checkpoint
write redo/log.000000000000 2048+14336
write redo/log.000000000001 0+2048
sync redo/log.000000000000
sync redo/log.000000000001
write redo/checkpoint 16384+16384
sync redo/checkpoint
rename redo/log.000000000000 redo/log.000000000016
sync_dir redo
";
    assert_eq!(fs.take_trace(), expected);
}
