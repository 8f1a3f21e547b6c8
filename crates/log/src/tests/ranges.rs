//! Which LSNs each file holds.

use palisade_io::MemFileSystem;

use super::*;
use crate::FileRange;

/// What must hold of the files of any log: they follow one another, and the log's end is in the last.
fn checked(log: &Log) -> Vec<FileRange> {
    log.flush_blocking(log.tail()).unwrap();
    let ranges = log.file_ranges().unwrap();
    let (last, full) = ranges.split_last().unwrap();
    assert!(
        full.iter()
            .all(|file| file.is_full && file.size == 16 << 10 && file.end.0 - file.start.0 < file.size)
    );
    assert!(
        ranges.windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].number + 1 == pair[1].number)
    );
    assert!(
        !last.is_full && last.start <= log.tail() && log.tail() <= last.end,
        "{last:?}, {:?}",
        log.tail()
    );
    assert!(ranges[0].start <= log.checkpoint_lsn());
    ranges
}

#[test]
fn the_files_say_which_lsns_they_hold() {
    let fs = Arc::new(MemFileSystem::new());
    let log = create(&fs, quiet());
    let first = checked(&log);
    assert_eq!((first.len(), first[0].number, first[0].start), (1, 0, log.tail()));
    let mut random = Prng::new(5);
    for number in 0..1000 {
        append(&log, &payload(number, &mut random)).unwrap();
        if number % 10 == 0 {
            log.flush_blocking(log.tail()).unwrap();
        }
        if number % 100 == 99 && number > 200 {
            let lsn = Lsn(log.tail().0 - 20_000);
            checked(&log);
            log.write_checkpoint(lsn).unwrap();
        }
    }
    let before = checked(&log);
    assert!(
        before.len() > 2 && before[0].number > 0,
        "files before the checkpoint are used again: {before:?}"
    );
    log.shutdown().unwrap();
    drop(log);
    // Of files that were begun before the restart the same is told.
    let (log, mut reader) = Log::open(fs, dir(), quiet()).unwrap();
    read_all(&mut reader).unwrap();
    log.start_after_recovery(reader).unwrap();
    let after = checked(&log);
    let of = |number: u64| before.iter().find(|file| file.number == number).unwrap();
    for file in &after {
        let known = of(file.number);
        assert_eq!((file.start, &file.path, file.size), (known.start, &known.path, known.size));
    }
    assert_eq!(after, checked(&log), "the second time from memory");
}
