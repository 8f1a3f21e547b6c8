//! Snapshots so old that the versions of a row since then do not fit into memory.

use palisade_base::Blocked;

use super::harness::*;
use crate::{Attempt, Direction, Engine, EngineConfig, KeyRange, ReadMode, RowBatch, RowBuf, Scan};

const FRAMES: u64 = 128;
/// Of 3000 bytes each in the undo: more than twice as many pages as there are frames.
const UPDATES: u32 = 1500;

/// Calls it until it need not wait, and not much more often than there are pages to be read.
fn in_time<T>(mut attempt: impl FnMut() -> Attempt<T>) -> T {
    for _ in 0..10 * UPDATES {
        match attempt() {
            Ok(value) => return value,
            Err(Blocked::Wait(event)) => event.wait_blocking(),
            Err(Blocked::Error(error)) => panic!("{error}"),
        }
    }
    panic!("it gets nowhere");
}

#[test]
fn a_row_with_more_versions_than_there_is_memory_for_is_read() {
    let config = EngineConfig { buffer_pool_size: FRAMES * 16_384, lru_scan_depth: 16, ..quiet() };
    let engine = Engine::open(config, memory()).unwrap();
    create_schema(&engine);
    let table = create_table(&engine, definition("t"));
    let mut writer = Client::new(&engine, &table);
    writer.insert(&Row::new(1, 1, None, &[0; 3000])).unwrap();
    writer.commit();
    let mut reader = Client::new(&engine, &table);
    reader.tx.open_snapshot();
    for number in 0..UPDATES {
        assert!(writer.update(1, |row| row.c = vec![1 + (number % 2) as u8; 3000]).unwrap());
        writer.commit();
    }
    let (key, mut out) = (key(&table, 0, 1), RowBuf::new());
    let is_there = in_time(|| reader.tx.point_read(&table, 0, &key, ReadMode::Snapshot, &mut out));
    assert!(is_there && Row::decode(&table, out.row()).c == [0; 3000], "by its key");
    for index in 0..2 {
        let (range, forward) = (KeyRange::default(), Direction::Forward);
        let mut scan = Scan::new(table.clone(), index, range, forward, ReadMode::Snapshot, false);
        let mut batch = RowBatch::new();
        assert!(in_time(|| reader.tx.scan_next(&mut scan, &mut batch)));
        assert_eq!(batch.len(), 1);
        assert_eq!(Row::decode(&table, batch.row(0).row).c, [0; 3000], "by index {index}");
    }
}
