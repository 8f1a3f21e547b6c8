//! A row that is longer than there is memory for pages, and many long ones on one leaf.

use std::sync::Arc;

use palisade_base::Blocked;
use palisade_catalog::descriptor::{Index, IndexPart};

use super::harness::*;
use crate::{
    Attempt, Direction, Engine, EngineConfig, IsolationLevel, KeyRange, LockMode, LockWait, ReadMode,
    RowBatch, RowBuf, Scan, Table, TableName,
};

const FOR_UPDATE: ReadMode = ReadMode::Locked(LockMode::Exclusive, LockWait::Wait);
const FRAMES: u64 = 128;
/// Twice as many pages as there are frames.
const LENGTH: usize = 4 << 20;

/// Calls it until it need not wait, and not much more often than there are pages to be read.
fn in_time<T>(mut attempt: impl FnMut() -> Attempt<T>) -> T {
    for _ in 0..20 * LENGTH / 16_384 {
        match attempt() {
            Ok(value) => return value,
            Err(Blocked::Wait(event)) => event.wait_blocking(),
            Err(Blocked::Error(error)) => panic!("{error}"),
        }
    }
    panic!("it gets nowhere");
}

fn long_row() -> Row {
    let bytes: Vec<u8> = (0..LENGTH).map(|number| (number % 251) as u8).collect();
    Row::new(1, 1, Some(1), &bytes)
}

/// Reads the long row in every way.
fn is_read(client: &mut Client, mode: ReadMode) {
    let table = client.table.clone();
    for index in [0, 2] {
        let (key, mut out) = (key(&table, index, 1), RowBuf::new());
        let is_there = in_time(|| client.tx.point_read(&table, index, &key, mode, &mut out));
        assert!(
            is_there && Row::decode(&table, out.row()) == long_row(),
            "{mode:?} by the key of index {index}"
        );
        assert_eq!(out.is_newly_locked(), mode == FOR_UPDATE && index == 0);
    }
    for index in 0..3 {
        let mut scan = Scan::new(table.clone(), index, KeyRange::default(), Direction::Forward, mode, false);
        let mut batch = RowBatch::new();
        assert!(in_time(|| client.tx.scan_next(&mut scan, &mut batch)));
        assert_eq!(batch.len(), 1);
        assert!(Row::decode(&table, batch.row(0).row) == long_row(), "{mode:?} by a scan of index {index}");
        assert!(!in_time(|| client.tx.scan_next(&mut scan, &mut batch)));
    }
}

#[test]
fn a_row_that_has_more_pages_than_there_is_memory_for_is_read() {
    let config = EngineConfig { buffer_pool_size: FRAMES * 16_384, lru_scan_depth: 16, ..quiet() };
    let engine = Engine::open(config, memory()).unwrap();
    create_schema(&engine);
    let table = create_table(&engine, definition("t"));
    let mut writer = Client::new(&engine, &table);
    writer.insert(&long_row()).unwrap();
    writer.commit();
    for isolation in [IsolationLevel::ReadUncommitted, IsolationLevel::RepeatableRead] {
        for mode in [ReadMode::Snapshot, ReadMode::Current, FOR_UPDATE] {
            let mut reader = Client::with(&engine, &table, isolation);
            is_read(&mut reader, mode);
            reader.commit();
        }
    }
    let mut early = Client::new(&engine, &table);
    early.tx.open_snapshot();
    assert!(writer.update(1, |row| row.c = b"short".to_vec()).unwrap());
    writer.commit();
    is_read(&mut early, ReadMode::Snapshot);
    early.commit();
    assert!(writer.update(1, |row| *row = long_row()).unwrap());
    writer.commit();
    drop((early, writer));
    // Who builds an index reads all rows.
    let held = lock(&engine, &["t"]);
    let more = Index::new("more", vec![IndexPart::of(1), IndexPart::of(2)]);
    let table = wait(engine.add_indexes(&held, &TableName::new("test", "t"), vec![more])).unwrap();
    drop(held);
    assert_eq!(Client::new(&engine, &table).scan(3), [long_row()]);
}

const ROWS: i64 = 60;
const LONG: usize = 100_000;
/// What a batch has at most: a MiB, and what was being read when it had that.
const MOST: usize = 3 << 20;

fn many_long_rows() -> (Arc<Engine>, Arc<Table>) {
    let (_fs, engine, t) = new_engine();
    let mut client = Client::new(&engine, &t);
    for id in 0..ROWS {
        client.insert(&Row::new(id, id, None, &vec![id as u8; LONG])).unwrap();
    }
    client.commit();
    (engine, t)
}

#[test]
fn long_rows_come_in_batches_that_are_not_as_long_as_all_of_them() {
    let (engine, t) = many_long_rows();
    for (isolation, mode) in [
        (IsolationLevel::ReadUncommitted, ReadMode::Snapshot),
        (IsolationLevel::ReadCommitted, ReadMode::Change),
        (IsolationLevel::ReadCommitted, FOR_UPDATE),
        (IsolationLevel::RepeatableRead, ReadMode::Snapshot),
        (IsolationLevel::RepeatableRead, FOR_UPDATE),
    ] {
        for (index, direction) in
            [(0, Direction::Forward), (0, Direction::Backward), (1, Direction::Backward)]
        {
            let case = format!("{isolation:?} {mode:?}, index {index}, {direction:?}");
            let mut client = Client::with(&engine, &t, isolation);
            let mut scan = Scan::new(t.clone(), index, KeyRange::default(), direction, mode, false);
            let (mut batch, mut ids) = (RowBatch::new(), Vec::new());
            while palisade_base::event::retry_blocking(|| client.tx.scan_next(&mut scan, &mut batch)).unwrap()
            {
                let bytes: usize = batch.iter().map(|row| row.row.len()).sum();
                assert!(bytes <= MOST, "{bytes} bytes, {case}");
                for row in batch.iter() {
                    if isolation == IsolationLevel::ReadCommitted && mode == FOR_UPDATE {
                        assert!(row.newly_locked, "{case}");
                    }
                    let row = Row::decode(&t, row.row);
                    assert!(row.c == vec![row.id as u8; LONG], "{case}");
                    ids.push(row.id);
                }
            }
            if direction == Direction::Backward {
                ids.reverse();
            }
            assert_eq!(ids, (0..ROWS).collect::<Vec<_>>(), "{case}");
            client.commit();
        }
    }
}
