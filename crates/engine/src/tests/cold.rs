//! Reading a table that is not in memory: many pages are read at once, and the rows come in the order of the
//! index all the same.

use std::sync::{Arc, mpsc};

use palisade_base::Event;
use palisade_base::event::retry_blocking;

use super::harness::{Client, Row, create_schema, create_table, definition, memory, open, table};
use crate::{Direction, Engine, KeyRange, LockMode, LockWait, ReadMode, RowBatch, Scan, Table};

const ROWS: i64 = 128;
/// The index on `k`, in which neighbours are rows of other leaves.
const BY_K: usize = 1;

fn rows() -> Vec<Row> {
    (0..ROWS).map(|id| Row::new(id, id * 37 % ROWS, None, &[id as u8; 3500])).collect()
}

/// An engine that has read of its table what leads to the rows, and no rows.
fn with_a_cold_table() -> (Arc<Engine>, Arc<Table>) {
    let fs = memory();
    let engine = open(&fs);
    create_schema(&engine);
    let written = create_table(&engine, definition("t"));
    let mut client = Client::new(&engine, &written);
    rows().iter().for_each(|row| client.insert(row).unwrap());
    client.commit();
    drop(client);
    engine.shutdown().unwrap();
    drop((engine, written));
    let engine = open(&fs);
    let table = table(&engine, "t");
    let mut client = Client::new(&engine, &table);
    assert!(client.read(0).is_some(), "the root is in memory");
    let mut covered =
        Scan::new(table.clone(), BY_K, KeyRange::default(), Direction::Forward, ReadMode::Snapshot, true);
    let mut batch = RowBatch::new();
    while retry_blocking(|| client.tx.scan_next(&mut covered, &mut batch)).unwrap() {}
    client.commit();
    (engine, table)
}

/// What has been asked for is read, and then the disk stands still until it is told to go on.
fn stop_the_disk(engine: &Arc<Engine>) -> mpsc::Sender<()> {
    let (go_on, wait) = mpsc::channel::<()>();
    let stopped = Event::new();
    let reached = stopped.clone();
    engine.io.submit(move || {
        reached.complete();
        wait.recv().unwrap();
    });
    stopped.wait_blocking();
    go_on
}

/// Scans the index while the disk stands still, then lets it go on: how many reads were asked for, and the
/// rows.
fn scan(engine: &Arc<Engine>, table: &Arc<Table>, mode: ReadMode) -> (usize, Vec<Row>) {
    let go_on = stop_the_disk(engine);
    let mut client = Client::new(engine, table);
    let mut scan = Scan::new(table.clone(), BY_K, KeyRange::default(), Direction::Forward, mode, false);
    let mut batch = RowBatch::new();
    let mut found = Vec::new();
    let mut add = |batch: &RowBatch| found.extend(batch.iter().map(|row| Row::decode(table, row.row)));
    // What is on the leaf that is in memory comes at once.
    while let Ok(more) = client.tx.scan_next(&mut scan, &mut batch) {
        assert!(more, "most rows are on disk");
        add(&batch);
    }
    let reads = engine.io.queued();
    go_on.send(()).unwrap();
    while retry_blocking(|| client.tx.scan_next(&mut scan, &mut batch)).unwrap() {
        add(&batch);
    }
    client.commit();
    (reads, found)
}

fn in_order_of_k() -> Vec<Row> {
    let mut rows = rows();
    rows.sort_by_key(|row| row.k);
    rows
}

#[test]
fn a_read_without_locks_waits_for_many_pages_at_once() {
    let (engine, table) = with_a_cold_table();
    let (reads, found) = scan(&engine, &table, ReadMode::Snapshot);
    assert!(reads > 8, "{reads} reads at once");
    assert!(found == in_order_of_k());
}

#[test]
fn a_locking_read_locks_one_row_after_the_other() {
    let (engine, table) = with_a_cold_table();
    let (reads, found) = scan(&engine, &table, ReadMode::Locked(LockMode::Shared, LockWait::Wait));
    assert!(reads <= 2, "{reads} reads at once");
    assert!(found == in_order_of_k());
}

#[test]
fn a_long_scan_finds_the_next_leaves_in_memory() {
    for direction in [Direction::Forward, Direction::Backward] {
        let (engine, table) = with_a_cold_table();
        let mut client = Client::new(&engine, &table);
        let mut scan = Scan::new(table.clone(), 0, KeyRange::default(), direction, ReadMode::Snapshot, false);
        let mut batch = RowBatch::new();
        let mut found = Vec::new();
        let mut add = |batch: &RowBatch| found.extend(batch.iter().map(|row| Row::decode(&table, row.row)));
        for _ in 0..12 {
            assert!(retry_blocking(|| client.tx.scan_next(&mut scan, &mut batch)).unwrap());
            add(&batch);
        }
        let go_on = stop_the_disk(&engine);
        let mut leaves = 0;
        while let Ok(true) = client.tx.scan_next(&mut scan, &mut batch) {
            leaves += 1;
            add(&batch);
        }
        assert!(leaves >= 4, "{leaves} leaves had been read ahead");
        // Those that follow were asked for together, and are neighbours in the file.
        let reads = engine.io.queued();
        assert!((1..=2).contains(&reads), "{reads} reads for {leaves} leaves");
        go_on.send(()).unwrap();
        while retry_blocking(|| client.tx.scan_next(&mut scan, &mut batch)).unwrap() {
            add(&batch);
        }
        if direction == Direction::Backward {
            found.reverse();
        }
        assert!(found == rows());
    }
}

/// Leaves that are missing between others that are in memory are asked for before the scan gets there.
#[test]
fn a_long_scan_looks_for_missing_leaves_between_others() {
    let (engine, table) = with_a_cold_table();
    let mut client = Client::new(&engine, &table);
    // Four rows are on a leaf: the leaves 13 to 15 stay on disk.
    (0..ROWS).filter(|id| !(52..64).contains(id)).for_each(|id| drop(client.read(id)));
    let mut scan =
        Scan::new(table.clone(), 0, KeyRange::default(), Direction::Forward, ReadMode::Snapshot, false);
    let mut batch = RowBatch::new();
    let mut found = 0;
    for _ in 0..12 {
        assert!(retry_blocking(|| client.tx.scan_next(&mut scan, &mut batch)).unwrap());
        found += batch.iter().count();
    }
    let go_on = stop_the_disk(&engine);
    while let Ok(true) = client.tx.scan_next(&mut scan, &mut batch) {
        found += batch.iter().count();
    }
    go_on.send(()).unwrap();
    assert_eq!(found as i64, ROWS, "no leaf was waited for");
}

/// Before its pages have come the size of its file is all that is known of a table; ANALYZE TABLE waits for
/// them.
#[test]
fn statistics_of_a_table_that_is_not_in_memory() {
    let (engine, table) = with_a_cold_table();
    let go_on = stop_the_disk(&engine);
    let guessed = table.statistics();
    assert!(guessed.rows > 0 && guessed.rows_per_key.is_empty(), "{guessed:?}");
    assert!(table.sample().is_none());
    let mut analysis = table.analysis();
    assert!(analysis.go_on().is_err(), "its rows are on disk");
    go_on.send(()).unwrap();
    retry_blocking(|| analysis.go_on()).unwrap();
    let known = table.statistics();
    assert!((ROWS as u64 / 2..ROWS as u64 * 2).contains(&known.rows), "{known:?}");
    assert_eq!(known.rows_per_key[0], [1.0]);
    assert_eq!(known.values[0], [known.rows as f64]);
    assert!(table.sample().is_some());
}

/// Of a column of which half of the rows have one value and the others few each, and of one that is NULL in
/// half of the rows, the numbers of values are known, and how many rows share a row's value.
#[test]
fn statistics_of_skewed_columns() {
    const MANY: i64 = 12_000;
    let engine = open(&memory());
    create_schema(&engine);
    let table = create_table(&engine, definition("t"));
    let mut client = Client::new(&engine, &table);
    for id in 0..MANY {
        let k = if id % 2 == 0 { 0 } else { 1 + id / 10 };
        client.insert(&Row::new(id, k, (id % 2 == 0).then_some(id), b"")).unwrap();
    }
    client.commit();
    let mut analysis = table.analysis();
    retry_blocking(|| analysis.go_on()).unwrap();
    let known = table.statistics();
    let is_about = |known: f64, actual: f64| (actual / 1.7..actual * 1.7).contains(&known);
    // Half of the rows share their value with half of all, the others with four.
    assert!(is_about(known.rows_per_key[BY_K][0], MANY as f64 / 4.0), "{known:?}");
    assert!(is_about(known.values[BY_K][0], MANY as f64 / 10.0), "{known:?}");
    assert_eq!(known.rows_per_key[2], [1.0]);
    assert!(is_about(known.values[2][0], MANY as f64 / 2.0), "{known:?}");
}
