//! Flipped bits and leftovers: a bad byte is an error or was never promised, and never data.

use super::*;
use crate::group::{self, GroupHeader};
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
