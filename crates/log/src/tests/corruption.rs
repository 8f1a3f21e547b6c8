//! Flipped bits and leftovers: a bad byte is an error or was never promised, and never data.

use super::*;
use crate::checkpoint;
use crate::group::{self, GroupHeader};
use crate::planted::{self, Planted};
use palisade_base::prng::test_seed;
use palisade_io::{CrashKeeps, FaultFileSystem, OpenMode};

fn segment(number: u64) -> std::path::PathBuf {
    dir().join(format!("log.{number:012}"))
}

/// The groups of a log that lies in its first segment: position and header.
fn groups(fs: &FaultFileSystem) -> Vec<(u64, GroupHeader)> {
    let file = fs.open(&segment(0), OpenMode::EXISTING).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    let headers = bytes.chunks(512).zip((0..).step_by(512)).filter_map(|(block, at)| {
        let (header, _) = GroupHeader::parse(block).ok()??;
        (header.position == at && header.log_id == 77).then_some((at, header))
    });
    headers.collect()
}

/// Ten appends, each flushed, in the first segment.
fn ten_commits(fs: &Arc<FaultFileSystem>) -> (Arc<Log>, Vec<(LsnRange, Vec<u8>)>) {
    let log = create(fs, quiet());
    let appended = (0..10u8).map(|number| {
        let bytes = vec![number; 100 + usize::from(number)];
        let range = append(&log, &bytes).unwrap();
        log.flush_blocking(range.end).unwrap();
        (range, bytes)
    });
    let appended = appended.collect();
    (log, appended)
}

#[test]
fn a_flipped_bit_below_the_known_durable_lsn_is_corruption() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (_, appended) = ten_commits(&fs);
    let groups = groups(&fs);
    assert_eq!(groups.len(), 10);
    let mut random = Prng::new(test_seed(4));
    for round in 0..400 {
        // The last group has no witness behind it.
        let (position, header) = groups[(round % 9) as usize];
        let bit = position * 8 + random.below((group::HEADER as u64 + u64::from(header.len)) * 8);
        fs.flip_bit(&segment(0), bit);
        let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
        match read_all(&mut reader) {
            Err(Error::Corrupted { lsn, position: at, .. }) => {
                assert_eq!((lsn, at), (header.start, position))
            }
            other => panic!("bit {bit}: {other:?}"),
        }
        fs.flip_bit(&segment(0), bit);
    }
    let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), appended);
}

/// With `innodb_flush_log_at_trx_commit` = 2 a second's commits are written before the sync that the next group tells of.
#[test]
fn a_witness_behind_much_that_was_written_without_a_sync_is_found() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let large = LogConfig { capacity: 96 << 20, segment_size: 8 << 20, buffer_size: 16 << 20, ..quiet() };
    let log = create(&fs, large.clone());
    let payload = vec![1; 900 << 10];
    for _ in 0..80 {
        let range = append(&log, &payload).unwrap();
        log.write_out(range.end).unwrap();
    }
    log.flush_blocking(log.tail()).unwrap();
    let witness = append(&log, b"witness").unwrap();
    log.write_out(witness.end).unwrap();
    assert_eq!(log.durable_lsn(), witness.start);
    fs.flip_bit(&segment(0), 100 * 8);
    let (_, mut reader) = Log::open(fs, dir(), large).unwrap();
    match read_all(&mut reader) {
        Err(Error::Corrupted { reason, .. }) => assert!(reason.contains("durable"), "{reason}"),
        other => panic!("{} mini-transactions", other.unwrap().len()),
    }
}

#[test]
fn a_bad_last_group_ends_the_log_unless_the_checkpoint_knows_better() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (log, appended) = ten_commits(&fs);
    let (position, header) = groups(&fs)[9];
    let bit = position * 8 + 8 * (group::HEADER as u64 + u64::from(header.len) / 2);
    fs.flip_bit(&segment(0), bit);
    let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), appended[..9], "as if torn");
    fs.flip_bit(&segment(0), bit);

    log.shutdown().unwrap();
    fs.flip_bit(&segment(0), bit);
    let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
    assert!(matches!(read_all(&mut reader), Err(Error::Corrupted { .. })));
}

/// The log of [`ten_commits`] once its flusher has found it idle.
fn idle_after_ten_commits(fs: &Arc<FaultFileSystem>) -> (Arc<Log>, Vec<(LsnRange, Vec<u8>)>) {
    let config = LogConfig { background_flush_interval_ms: 10, ..threaded(WriterThreads::Auto) };
    let log = create(fs, config);
    let appended: Vec<(LsnRange, Vec<u8>)> = (0..10u8)
        .map(|number| {
            let bytes = vec![number; 100 + usize::from(number)];
            let range = append(&log, &bytes).unwrap();
            log.flush_blocking(range.end).unwrap();
            (range, bytes)
        })
        .collect();
    let end = appended.last().unwrap().0.end;
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while log.vouched_lsn() < end {
        assert!(std::time::Instant::now() < limit, "an idle log gets its witness");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    (log, appended)
}

#[test]
fn a_flipped_bit_in_the_last_group_of_a_log_that_went_idle_is_corruption() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (log, appended) = idle_after_ten_commits(&fs);
    log.abandon();
    let mut random = Prng::new(test_seed(5));
    let (position, header) = *groups(&fs).last().unwrap();
    for _ in 0..100 {
        let bit = position * 8 + random.below((group::HEADER as u64 + u64::from(header.len)) * 8);
        fs.flip_bit(&segment(0), bit);
        let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
        assert!(matches!(read_all(&mut reader), Err(Error::Corrupted { .. })), "bit {bit}");
        fs.flip_bit(&segment(0), bit);
    }
    let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), appended);
}

/// Whatever is lost, the log reads up to the damage, says from where to where, and takes appends.
#[test]
fn damage_that_is_accepted_ends_the_log() {
    for damaged in 0..10 {
        let fs = Arc::new(FaultFileSystem::new(1));
        let (log, appended) = ten_commits(&fs);
        log.shutdown().unwrap();
        let (position, _) = groups(&fs)[damaged];
        fs.flip_bit(&segment(0), position * 8 + 8 * group::HEADER as u64);
        let (log, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
        reader.accept_damage();
        assert_eq!(read_all(&mut reader).unwrap(), appended[..damaged]);
        let loss = reader.loss().unwrap();
        assert_eq!((loss.from, loss.known_to), (appended[damaged].0.start, appended[9].0.end));
        log.start_after_recovery(reader).unwrap();
        let range = append(&log, b"goes on").unwrap();
        assert_eq!(range.start, appended[damaged].0.start);
        log.flush_blocking(range.end).unwrap();
    }
}

#[test]
fn an_idle_log_gets_one_witness_and_is_then_left_alone() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (log, _) = idle_after_ten_commits(&fs);
    let sequence = log.checkpoint.lock().current().sequence;
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(log.checkpoint.lock().current().sequence, sequence, "nothing has happened since");
    assert_eq!(log.checkpoint_lsn(), Lsn(1000), "a witness is no checkpoint");
    log.shutdown().unwrap();
}

/// Numbers that are wrong under right checksums: memory for a mini-transaction is not taken on its word, and
/// positions that no log has are no record.
#[test]
fn lengths_and_positions_that_cannot_be_are_corruption() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (log, _) = ten_commits(&fs);
    drop(log);
    let (position, header) = groups(&fs)[3];
    let file = fs.open(&segment(0), OpenMode::EXISTING).unwrap();
    let mut group = vec![0; group::HEADER + header.len as usize];
    file.read_at(&mut group, position).unwrap();
    group[group::HEADER..][..4].copy_from_slice(&u32::MAX.to_le_bytes());
    header.seal(&mut group);
    file.write_at(&group, position).unwrap();
    let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
    match read_all(&mut reader) {
        Err(Error::Corrupted { lsn, reason, .. }) => {
            assert_eq!(lsn, header.start);
            assert!(reason.contains("more than the log has"), "{reason}");
        }
        other => panic!("{other:?}"),
    }

    let path = checkpoint::path(dir());
    let file = fs.open(&path, OpenMode::EXISTING).unwrap();
    for (at, bytes) in [(24, 8), (32, 4), (40, 8), (48, 8), (56, 8), (64, 8), (72, 8)] {
        let mut whole = vec![0; 2 * checkpoint::SLOT];
        let len = file.len().unwrap().min(whole.len() as u64) as usize;
        file.read_at(&mut whole[..len], 0).unwrap();
        let mut damaged = whole.clone();
        for slot in damaged.chunks_mut(checkpoint::SLOT) {
            slot[at..at + bytes].copy_from_slice(&(u64::MAX << 9).to_le_bytes()[8 - bytes..]);
            let checksum = palisade_base::checksum::crc32c(&slot[4..checkpoint::RECORD]);
            slot[..4].copy_from_slice(&checksum.to_le_bytes());
        }
        file.write_at(&damaged[..len], 0).unwrap();
        // An epoch may be as high as that; then no group is of it.
        let opened = Log::open(fs.clone(), dir(), quiet()).map(|(_, mut reader)| read_all(&mut reader));
        assert!(!matches!(opened, Ok(Ok(_))), "at {at}: {opened:?}");
        file.write_at(&whole[..len], 0).unwrap();
    }
}

#[test]
fn a_flipped_bit_in_padding_changes_nothing() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (_, appended) = ten_commits(&fs);
    for (position, _) in groups(&fs) {
        fs.flip_bit(&segment(0), (position + 511) * 8);
    }
    let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), appended);
}

#[test]
fn a_missing_segment_is_corruption_and_other_files_are_ignored() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (_, appended) = ten_commits(&fs);
    fs.open(&dir().join("log.README"), OpenMode::CREATE).unwrap();
    let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
    assert_eq!(read_all(&mut reader).unwrap().len(), appended.len());
    let (log, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
    read_all(&mut reader).unwrap();
    log.start_after_recovery(reader).unwrap();
    log.shutdown().unwrap();
    fs.remove(&segment(0)).unwrap();
    let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
    assert!(matches!(read_all(&mut reader), Err(Error::Corrupted { .. })));
}

/// Without a clean shutdown nothing but the files themselves says how far the log went.
#[test]
fn a_segment_missing_in_the_middle_is_corruption() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let log = create(&fs, quiet());
    for number in 0..60 {
        let range = append(&log, &[number; 1000]).unwrap();
        log.flush_blocking(range.end).unwrap();
    }
    fs.crash(CrashKeeps::Synced);
    for missing in [1, 0] {
        fs.remove(&segment(missing)).unwrap();
        let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
        match read_all(&mut reader) {
            Err(Error::Corrupted { reason, .. }) => assert!(reason.contains("missing"), "{reason}"),
            other => panic!("without segment {missing}: {other:?}"),
        }
    }
}

/// With the newest checkpoint record unreadable the one before it counts: if the log is still there from that on, all is
/// well; and otherwise nothing is said to be the log that is not all of it.
#[test]
fn a_flipped_bit_in_the_newest_checkpoint_record_loses_nothing_silently() {
    let mut random = Prng::new(test_seed(12));
    for (between, behind, is_there) in [(1, 0, true), (1, 5, true), (70, 0, false), (70, 5, false)] {
        let fs = Arc::new(FaultFileSystem::new(1));
        let log = create(&fs, quiet());
        let mut appended = Vec::new();
        let mut commit = |count: u8| {
            for number in 0..count {
                let range = append(&log, &[number; 1000]).unwrap();
                log.flush_blocking(range.end).unwrap();
                appended.push((range, vec![number; 1000]));
            }
        };
        for count in [20, between] {
            commit(count);
            log.write_checkpoint(log.tail()).unwrap();
        }
        commit(behind);
        fs.crash(CrashKeeps::Synced);
        // The third record, in the second slot.
        for _ in 0..30 {
            let bit = (checkpoint::SLOT * 8) as u64 + random.below(checkpoint::RECORD as u64 * 8);
            fs.flip_bit(&dir().join("checkpoint"), bit);
            let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
            let from = reader.checkpoint_lsn();
            match read_all(&mut reader) {
                Ok(read) => {
                    let expected = appended.partition_point(|(range, _)| range.start < from);
                    assert!(is_there && expected == 20, "{between} commits between checkpoints");
                    assert_eq!(read, appended[expected..]);
                }
                Err(Error::Corrupted { .. }) => assert!(!is_there),
                Err(other) => panic!("{other}"),
            }
            fs.flip_bit(&dir().join("checkpoint"), bit);
        }
    }
}

/// A group beyond a torn one must not come back when later writes happen to end where it begins: its epoch is over.
#[test]
fn a_leftover_of_an_earlier_epoch_is_not_taken_for_the_log() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let log = create(&fs, quiet());
    let commit = |log: &Log, byte: u8| {
        let range = append(log, &[byte; 200]).unwrap();
        log.flush_blocking(range.end).unwrap();
        (range, vec![byte; 200])
    };
    let first = commit(&log, b'A');
    // Two writes that no sync covers: the power cut loses the first and keeps the second.
    let lost = append(&log, &[b'B'; 200]).unwrap();
    log.writer.lock().write(&log.ring, log.durable_lsn()).unwrap();
    let leftover = append(&log, &[b'C'; 200]).unwrap();
    log.writer.lock().write(&log.ring, log.durable_lsn()).unwrap();
    let written = groups(&fs);
    assert_eq!(written.len(), 3);
    fs.crash(CrashKeeps::Everything);
    fs.flip_bit(&segment(0), (written[1].0 + 100) * 8);

    let (log, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), std::slice::from_ref(&first));
    log.start_after_recovery(reader).unwrap();
    let again = commit(&log, b'b');
    assert_eq!(again.0, lost, "the same place, the same length");
    fs.crash(CrashKeeps::Everything);
    let header = groups(&fs)[2].1;
    assert_eq!((header.start, header.epoch), (leftover.start, 1), "the leftover fits but for its epoch");

    let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
    assert_eq!(read_all(&mut reader).unwrap(), [first, again]);
}

/// As before, and then a checkpoint says that reading begins just where the leftover lies: nothing was written there yet.
#[test]
fn a_leftover_of_an_earlier_epoch_is_not_taken_for_the_log_after_a_checkpoint() {
    for ends_in_order in [false, true] {
        let fs = Arc::new(FaultFileSystem::new(1));
        let log = create(&fs, quiet());
        let write = |log: &Log, byte: u8| {
            let range = append(log, &[byte; 200]).unwrap();
            log.writer.lock().write(&log.ring, log.durable_lsn()).unwrap();
            range
        };
        // The power cut loses the first of two writes that no sync covers.
        write(&log, b'B');
        let leftover = write(&log, b'C');
        let lost = groups(&fs)[0].0;
        fs.crash(CrashKeeps::Everything);
        fs.flip_bit(&segment(0), (lost + 100) * 8);

        let (log, reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
        log.start_after_recovery(reader).unwrap();
        let again = append(&log, &[b'b'; 200]).unwrap();
        log.write_checkpoint(again.end).unwrap();
        assert_eq!(log.checkpoint_lsn(), leftover.start, "reading begins where the leftover does");
        if ends_in_order {
            log.shutdown().unwrap();
        }
        fs.crash(CrashKeeps::Everything);

        let (log, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
        let read = read_all(&mut reader).unwrap();
        assert!(read.is_empty(), "nothing was appended behind the checkpoint: {read:?}");
        log.start_after_recovery(reader).unwrap();
        let next = append(&log, b"next life").unwrap();
        assert_eq!(next.start, again.end);
        log.flush_blocking(next.end).unwrap();
        fs.crash(CrashKeeps::Synced);
        let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
        assert_eq!(read_all(&mut reader).unwrap(), [(next, b"next life".to_vec())]);
    }
}

/// The canary of the two tests before.
#[test]
fn a_life_that_goes_on_in_the_epoch_before_is_found_out() {
    planted::plant(&[Planted::EpochStays]);
    let found = [
        a_leftover_of_an_earlier_epoch_is_not_taken_for_the_log as fn(),
        a_leftover_of_an_earlier_epoch_is_not_taken_for_the_log_after_a_checkpoint,
    ]
    .map(|test| std::panic::catch_unwind(test).is_err());
    planted::plant(&[]);
    assert_eq!(found, [true, true]);
}

/// A write of several groups of which only the first arrived leaves half a mini-transaction: it is dropped, and the
/// next epoch begins in its place.
#[test]
fn half_a_mini_transaction_is_dropped_and_its_place_taken() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let log = create(&fs, LogConfig { buffer_size: 64 << 10, ..quiet() });
    for number in 0..90 {
        append(&log, &[number; 250]).unwrap();
    }
    log.writer.lock().write(&log.ring, log.durable_lsn()).unwrap();
    // The write crosses from segment 0 to 1; lose the part in 1.
    fs.crash(CrashKeeps::Everything);
    fs.flip_bit(&segment(1), 100 * 8);
    let (log, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
    let kept = read_all(&mut reader).unwrap();
    assert!(kept.len() > 30 && kept.len() < 90);
    log.start_after_recovery(reader).unwrap();
    let range = append(&log, b"in its place").unwrap();
    assert_eq!(range.start, kept.last().unwrap().0.end);
    log.shutdown().unwrap();
    let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
    let read = read_all(&mut reader).unwrap();
    assert_eq!(read[..kept.len()], kept);
    assert_eq!(read[kept.len()..], [(range, b"in its place".to_vec())]);
}

/// The same where reading begins at the half: all of the log before it is behind the checkpoint.
#[test]
fn half_a_mini_transaction_at_the_checkpoint_is_dropped_and_its_place_taken() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let log = create(&fs, LogConfig { buffer_size: 64 << 10, ..quiet() });
    // Up to the end of the segment but for the room of half of what follows.
    while log.writer.lock().position() < 15 << 10 {
        append(&log, &[1; 400]).unwrap();
        log.flush_blocking(log.tail()).unwrap();
    }
    log.write_checkpoint(log.tail()).unwrap();
    let begin = log.checkpoint_lsn();
    assert_eq!(begin, log.tail());
    append(&log, &[2; 1800]).unwrap();
    log.writer.lock().write(&log.ring, log.durable_lsn()).unwrap();
    fs.crash(CrashKeeps::Everything);
    fs.flip_bit(&segment(1), 100 * 8);
    for life in 0..3u8 {
        let (log, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
        assert_eq!(reader.checkpoint_lsn(), begin);
        let expected: Vec<Vec<u8>> = (0..life).map(|life| vec![life; 100]).collect();
        let read: Vec<Vec<u8>> = read_all(&mut reader).unwrap().into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(read, expected);
        log.start_after_recovery(reader).unwrap();
        let range = append(&log, &[life; 100]).unwrap();
        log.flush_blocking(range.end).unwrap();
        if life > 0 {
            log.write_checkpoint(begin).unwrap();
        }
        fs.crash(CrashKeeps::Synced);
    }
}

/// Random bytes in place of a segment are never data and never a panic.
#[test]
fn garbage_is_an_error_or_the_end() {
    let mut random = Prng::new(test_seed(8));
    for _ in 0..200 {
        let fs = Arc::new(FaultFileSystem::new(1));
        let (_, appended) = ten_commits(&fs);
        let file = fs.open(&segment(0), OpenMode::EXISTING).unwrap();
        let mut garbage = vec![0; random.below(600) as usize + 1];
        random.fill(&mut garbage);
        file.write_at(&garbage, random.below(6000)).unwrap();
        let (_, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
        match read_all(&mut reader) {
            Ok(read) => assert_eq!(read, appended[..read.len()]),
            Err(Error::Corrupted { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

/// What the offline check tells of the end: a group that was begun and is not whole, or nothing.
#[test]
fn a_torn_end_is_told_from_a_clean_one() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (_, appended) = ten_commits(&fs);
    let end_of = || {
        let (_, mut reader) = Log::open(fs.clone(), dir(), quiet()).unwrap();
        reader.accept_damage();
        read_all(&mut reader).unwrap();
        (reader.end_found().unwrap(), reader.loss().cloned())
    };
    let (end, loss) = end_of();
    assert_eq!((end.lsn, end.is_torn, loss), (appended[9].0.end, false, None));
    let (position, header) = groups(&fs)[9];
    fs.flip_bit(&segment(0), (position + group::HEADER as u64 + 20) * 8);
    let (end, loss) = end_of();
    assert_eq!((end.lsn, end.position, end.is_torn, loss), (header.start, position, true, None));
}

#[test]
fn the_files_are_described_from_outside() {
    use crate::{CheckpointSlot, inspect};
    let fs = Arc::new(FaultFileSystem::new(1));
    let (log, _) = ten_commits(&fs);
    let files = inspect(&*fs, dir()).unwrap();
    assert!(matches!(
        files.checkpoints[..],
        [CheckpointSlot::Empty, CheckpointSlot::Sound { sequence: 1, .. }]
    ));
    assert!(files.segments.iter().all(|segment| segment.is_sound));
    assert_eq!(files.size(), log.file_sizes().0);
    fs.flip_bit(&crate::checkpoint_path(dir()), (checkpoint::SLOT as u64 + 30) * 8);
    let files = inspect(&*fs, dir()).unwrap();
    assert_eq!(files.checkpoints[1], CheckpointSlot::Damaged);
    assert_eq!(inspect(&*fs, Path::new("elsewhere")).unwrap(), crate::LogFiles::default());
}
