//! Parts of a range that are read side by side, while others change the table.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::event::retry_blocking;
use palisade_base::prng::{Prng, test_seed};

use super::harness::*;
use crate::{Bound, Direction, Engine, Error, IsolationLevel, KeyRange, ReadMode, Table};

const ROWS: i64 = 3000;

fn some_row(id: i64, prng: &mut Prng) -> Row {
    let bytes = vec![prng.next_u64() as u8; prng.below(500) as usize];
    Row::new(id, prng.below(40) as i64, None, &bytes)
}

/// Inserts, changes and deletes rows, a few hundred neighbours at a time, so that leaves are divided and
/// merged.
fn change(engine: Arc<Engine>, table: Arc<Table>, seed: u64, stop: Arc<AtomicBool>) {
    let mut prng = Prng::new(seed);
    let mut client = Client::new(&engine, &table);
    while !stop.load(Ordering::Relaxed) {
        let first = prng.below(ROWS as u64) as i64;
        let removes = prng.one_in(2);
        for id in first..(first + 200).min(ROWS) {
            let row = some_row(id, &mut prng);
            let done = match removes {
                true => client.delete(id).map(|_| ()),
                false => match client.insert(&row) {
                    Err(Error::DuplicateKey { .. }) => {
                        client.update(id, |old| old.c.clone_from(&row.c)).map(|_| ())
                    }
                    done => done,
                },
            };
            match done {
                Ok(()) => {}
                Err(Error::Deadlock) => break,
                Err(error) => panic!("{error}"),
            }
        }
        if prng.one_in(4) { client.rollback() } else { client.commit() }
    }
}

/// The rows of a range, whose parts are read by as many threads.
fn read_in_parts(client: &mut Client, index: usize, range: KeyRange, parts: usize) -> Vec<Row> {
    let table = client.table.clone();
    let divided = retry_blocking(|| client.tx.divide(&table, index, range.clone(), parts)).unwrap();
    assert!(divided.len() <= parts);
    std::thread::scope(|scope| {
        let read = divided.into_iter().map(|part| {
            let tx = retry_blocking(|| client.tx.reader(&[&table])).unwrap().unwrap();
            let table = table.clone();
            scope.spawn(move || {
                let mut reader = Client { tx, table };
                reader.scan_range(index, part, Direction::Forward, ReadMode::Snapshot).unwrap()
            })
        });
        let read: Vec<_> = read.collect();
        read.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

#[test]
fn parts_have_every_row_of_the_snapshot_once_while_leaves_are_divided_and_merged() {
    let seed = test_seed(111);
    let engine = Engine::open(config(), memory()).unwrap();
    create_schema(&engine);
    let table = create_table(&engine, definition("t"));
    let mut prng = Prng::new(seed);
    let mut client = Client::new(&engine, &table);
    for id in (0..ROWS).step_by(2) {
        client.insert(&some_row(id, &mut prng)).unwrap();
    }
    client.commit();
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (engine, table, stop) = (engine.clone(), table.clone(), stop.clone());
            scope.spawn(move || change(engine, table, seed + writer, stop));
        }
        let mut largest = 0;
        for round in 0..30 {
            let isolation = *prng.pick(&[IsolationLevel::RepeatableRead, IsolationLevel::ReadCommitted]);
            let mut client = Client::with(&engine, &table, isolation);
            client.tx.start_statement();
            client.tx.open_snapshot();
            let (index, parts) = (round % 2, prng.below(9) as usize + 1);
            let from = prng.below(ROWS as u64) as i64 - 100;
            let wanted = match (index, round % 3) {
                (0, 0) => range(&table, 0, from.max(0), from + 1500),
                (0, 1) => {
                    KeyRange { lower: Bound::Excluded(key(&table, 0, from.max(0))), ..KeyRange::default() }
                }
                _ => KeyRange::default(),
            };
            let read = read_in_parts(&mut client, index, wanted.clone(), parts);
            let mode = ReadMode::Snapshot;
            let expected = client.scan_range(index, wanted, Direction::Forward, mode).unwrap();
            assert_eq!(
                read.len(),
                expected.len(),
                "seed {seed}, round {round}, index {index}, {parts} parts"
            );
            assert_eq!(read, expected);
            largest = largest.max(expected.len());
            client.commit();
        }
        assert!(largest > 500, "{largest} rows");
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn there_is_no_reader_for_what_locks_or_has_changed_something() {
    let (_, engine, table) = new_engine();
    for isolation in [IsolationLevel::ReadUncommitted, IsolationLevel::Serializable] {
        let mut client = Client::with(&engine, &table, isolation);
        assert!(retry_blocking(|| client.tx.reader(&[&table])).unwrap().is_none());
    }
    let mut client = Client::new(&engine, &table);
    let reader = retry_blocking(|| client.tx.reader(&[&table])).unwrap();
    assert!(reader.is_some());
    drop(reader);
    client.insert(&Row::new(1, 1, None, b"")).unwrap();
    assert!(retry_blocking(|| client.tx.reader(&[&table])).unwrap().is_none());
    client.commit();
}

#[test]
fn a_redefinition_waits_for_the_statement_and_not_for_its_readers() {
    let (_, engine, table) = new_engine();
    let mut client = Client::new(&engine, &table);
    client.insert(&Row::new(1, 1, None, b"")).unwrap();
    client.commit();
    let tx = retry_blocking(|| client.tx.reader(&[&table])).unwrap().unwrap();
    let name = crate::TableName::new("test", "t");
    let mut lock = crate::ExclusiveLock::new(&engine, [name]);
    assert!(matches!(lock.acquire(), Err(palisade_base::Blocked::Wait(_))));
    let mut reader = Client { tx, table: table.clone() };
    assert_eq!(reader.scan(0).len(), 1, "it does not wait for the lock");
    drop(reader);
    assert!(matches!(lock.acquire(), Err(palisade_base::Blocked::Wait(_))), "the statement has not ended");
    client.commit();
    retry_blocking(|| lock.acquire()).unwrap();
}
