//! Rows, their indexes and who sees them.

use super::harness::*;
use palisade_base::Blocked;
use palisade_base::event::retry_blocking;

use crate::{Direction, Error, IsolationLevel, KeyRange, ReadMode, RowBatch, Scan};

#[test]
pub(super) fn rows_are_inserted_read_updated_and_deleted_through_every_index() {
    let (_fs, engine, table) = new_engine();
    let mut client = Client::new(&engine, &table);
    for id in 0..500 {
        client.insert(&Row::new(id, id % 7, Some(1000 - id), b"some text")).unwrap();
    }
    client.commit();
    assert_eq!(client.read(123), Some(Row::new(123, 123 % 7, Some(877), b"some text")));
    assert_eq!(client.read(500), None);
    assert_eq!(client.read_unique(877).unwrap().id, 123);
    assert_eq!(client.scan(0).len(), 500);
    assert_eq!(client.scan_equal(1, 3).len(), 71);
    let backward =
        client.scan_range(2, KeyRange::default(), Direction::Backward, ReadMode::Snapshot).unwrap();
    assert_eq!(backward.iter().map(|row| row.id).collect::<Vec<_>>(), (0..500).collect::<Vec<_>>());
    client.commit();

    assert!(client.update(123, |row| row.k = Some(100)).unwrap());
    assert!(client.delete(124).unwrap());
    assert!(client.update(125, |row| row.id = 9999).unwrap());
    assert_eq!(client.scan_equal(1, 100).len(), 1);
    assert_eq!(client.read(124), None);
    assert_eq!(client.read(125), None);
    assert_eq!(client.read_unique(875).unwrap().id, 9999);
    client.commit();
    assert_eq!(client.scan(0).len(), 499);
    assert_eq!(client.scan(1).len(), 499);
    client.commit();
    while engine.purge_step().unwrap() {}
    assert_eq!(engine.history_length(), 0);
    assert_eq!(client.scan(2).len(), 499);
}

#[test]
pub(super) fn a_rollback_leaves_nothing_and_a_savepoint_leaves_what_was_before() {
    let (_fs, engine, table) = new_engine();
    let mut client = Client::new(&engine, &table);
    client.insert(&Row::new(1, 1, Some(1), b"one")).unwrap();
    client.commit();
    client.update(1, |row| row.k = Some(2)).unwrap();
    let savepoint = client.tx.savepoint();
    client.insert(&Row::new(2, 2, Some(2), b"two")).unwrap();
    client.delete(1).unwrap();
    palisade_base::event::retry_blocking(|| client.tx.rollback_to(savepoint)).unwrap();
    assert_eq!(client.scan(1), [Row::new(1, 2, Some(1), b"one")]);
    client.rollback();
    assert_eq!(client.scan(0), [Row::new(1, 1, Some(1), b"one")]);
    assert_eq!(client.scan_equal(1, 1).len(), 1);
    assert_eq!(client.scan_equal(1, 2).len(), 0);
}

/// Calls until it no longer asks to wait; how often it asked for a turn of others.
fn turns<T>(mut attempt: impl FnMut() -> crate::Attempt<T>) -> usize {
    let mut turns = 0;
    retry_blocking(|| {
        let attempted = attempt();
        if let Err(Blocked::Wait(event)) = &attempted {
            turns += usize::from(event.is_complete());
        }
        attempted
    })
    .unwrap();
    turns
}

#[test]
pub(super) fn a_long_rollback_and_a_long_row_let_others_have_turns() {
    let (_fs, engine, table) = new_engine();
    let mut client = Client::new(&engine, &table);
    let savepoint = client.tx.savepoint();
    for id in 0..1000 {
        client.insert(&Row::new(id, 1, None, b"")).unwrap();
    }
    assert!(turns(|| client.tx.rollback_to(savepoint)) >= 1000 * table.indexes.len() / 200);
    assert!(client.scan(0).is_empty());
    // of 130 pages
    let row = Row::new(1, 1, None, &vec![7; 2 << 20]).encode(&table);
    // the file has the pages then, and the insert that is counted waits for nothing
    retry_blocking(|| client.tx.insert(&table, &row)).unwrap();
    retry_blocking(|| client.tx.rollback_to(savepoint)).unwrap();
    let inserted = turns(|| client.tx.insert(&table, &row));
    // A wait for something else begins the time between two turns anew.
    assert!(inserted >= 2, "{inserted} turns");
    assert_eq!(client.scan(0).len(), 1);
    assert!(turns(|| client.tx.rollback_to(savepoint)) >= 1);
    assert!(client.scan(0).is_empty());
}

#[test]
pub(super) fn a_duplicate_in_a_later_index_takes_the_whole_row_back() {
    let (_fs, engine, table) = new_engine();
    let mut client = Client::new(&engine, &table);
    client.insert(&Row::new(1, 1, Some(1), b"one")).unwrap();
    assert_eq!(client.insert(&Row::new(1, 1, Some(2), b"")), Err(Error::DuplicateKey { index: 0 }));
    assert_eq!(client.insert(&Row::new(2, 1, Some(1), b"")), Err(Error::DuplicateKey { index: 2 }));
    assert_eq!(client.scan(0).len(), 1);
    assert_eq!(client.scan(1).len(), 1);
    client.insert(&Row::new(2, 1, None, b"")).unwrap();
    client.insert(&Row::new(3, 1, None, b"")).unwrap();
    let error = client.update(3, |row| row.u = Some(1)).unwrap_err();
    assert_eq!(error, Error::DuplicateKey { index: 2 });
    client.commit();
    assert_eq!(client.scan(2).len(), 3);
}

#[test]
pub(super) fn snapshots_see_what_was_committed_when_they_were_taken() {
    let (_fs, engine, table) = new_engine();
    let mut writer = Client::new(&engine, &table);
    for id in 0..50 {
        writer.insert(&Row::new(id, 0, Some(id), b"old")).unwrap();
    }
    writer.commit();
    let mut repeatable = Client::new(&engine, &table);
    let mut committed = Client::with(&engine, &table, IsolationLevel::ReadCommitted);
    let mut dirty = Client::with(&engine, &table, IsolationLevel::ReadUncommitted);
    let before = repeatable.scan(0);
    for id in 0..50 {
        match id % 3 {
            0 => writer.update(id, |row| row.k = Some(1)).unwrap(),
            1 => writer.delete(id).unwrap(),
            _ => writer.update(id, |row| row.u = Some(id + 100)).unwrap(),
        };
    }
    writer.insert(&Row::new(1000, 5, None, b"new")).unwrap();
    for index in 0..3 {
        assert_eq!(repeatable.scan(index).len(), 50, "index {index}");
        committed.tx.start_statement();
        assert_eq!(committed.scan(index).len(), 50, "index {index}");
        dirty.tx.start_statement();
        assert_eq!(dirty.scan(index).len(), 34, "index {index}");
        assert_eq!(writer.scan(index).len(), 34, "index {index}");
    }
    writer.commit();
    while engine.purge_step().unwrap() {}
    assert_eq!(repeatable.scan(0), before);
    assert_eq!(repeatable.scan_equal(1, 0).len(), 50);
    assert_eq!(repeatable.read_unique(5).unwrap().id, 5);
    committed.tx.start_statement();
    assert_eq!(committed.scan(1).len(), 34);
    assert!(engine.history_length() > 0);
    repeatable.commit();
    while engine.purge_step().unwrap() {}
    assert!(engine.history_length() == 0);
    assert_eq!(committed.scan(2).len(), 34);
}

#[test]
pub(super) fn rows_of_any_length_are_kept_and_their_chains_go_with_them() {
    let (_fs, engine, table) = new_engine();
    let mut client = Client::new(&engine, &table);
    let long = |id: i64, len: usize| Row::new(id, 1, Some(id), &vec![id as u8; len]);
    for (id, len) in [(1, 3000), (2, 5000), (3, 16_344), (4, 16_400), (5, 90_000)] {
        client.insert(&long(id, len)).unwrap();
    }
    client.commit();
    let mut reader = Client::new(&engine, &table);
    assert_eq!(reader.read(5).unwrap().c.len(), 90_000);
    client.update(5, |row| row.c = vec![9; 50_000]).unwrap();
    client.update(4, |row| row.c = vec![9; 5]).unwrap();
    client.update(1, |row| row.c = vec![9; 20_000]).unwrap();
    client.delete(3).unwrap();
    client.commit();
    while engine.purge_step().unwrap() {}
    assert_eq!(
        reader.scan(0).iter().map(|row| row.c.len()).collect::<Vec<_>>(),
        [3000, 5000, 16_344, 16_400, 90_000]
    );
    reader.commit();
    client.update(2, |row| row.c = vec![8; 70_000]).unwrap();
    client.insert(&long(6, 80_000)).unwrap();
    client.rollback();
    while engine.purge_step().unwrap() {}
    assert_eq!(client.scan(0).iter().map(|row| row.c.len()).collect::<Vec<_>>(), [20_000, 5000, 5, 50_000]);
    check(&engine, &table);
}

#[test]
pub(super) fn a_writer_waits_for_the_row_and_finds_it_changed() {
    let (_fs, engine, table) = new_engine();
    let mut first = Client::new(&engine, &table);
    first.insert(&Row::new(1, 0, None, b"")).unwrap();
    first.commit();
    first.update(1, |row| row.k = Some(1)).unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (engine, table) = (engine.clone(), table.clone());
            std::thread::spawn(move || {
                let mut client = Client::new(&engine, &table);
                for _ in 0..20 {
                    client.update(1, |row| row.k = row.k.map(|k| k + 1)).unwrap();
                    client.commit();
                }
            })
        })
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(20));
    first.commit();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(first.read(1).unwrap().k, Some(81));
}

#[test]
pub(super) fn two_that_wait_for_each_other_are_told_apart() {
    let (_fs, engine, table) = new_engine();
    let mut first = Client::new(&engine, &table);
    for id in 1..=2 {
        first.insert(&Row::new(id, 0, None, b"")).unwrap();
    }
    first.commit();
    let mut second = Client::new(&engine, &table);
    first.update(1, |row| row.k = Some(1)).unwrap();
    second.update(2, |row| row.k = Some(2)).unwrap();
    let waiting = std::thread::spawn(move || {
        let outcome = first.update(2, |row| row.k = Some(1));
        if outcome.is_err() {
            first.rollback();
        } else {
            first.commit();
        }
        outcome
    });
    while engine.active_transactions().iter().all(|trx| !trx.waiting) {
        std::thread::yield_now();
    }
    let outcome = second.update(1, |row| row.k = Some(2));
    if outcome.is_err() {
        second.rollback();
    } else {
        second.commit();
    }
    let other = waiting.join().unwrap();
    assert!(matches!(
        (&outcome, &other),
        (Err(Error::Deadlock), Ok(true)) | (Ok(true), Err(Error::Deadlock))
    ));
}

/// The rows of a scan, and how many each of its batches has.
fn read_in_batches(client: &mut Client, mut scan: Scan) -> (Vec<Row>, Vec<usize>) {
    let (mut batch, mut rows, mut lengths) = (RowBatch::new(), Vec::new(), Vec::new());
    while retry_blocking(|| client.tx.scan_next(&mut scan, &mut batch)).unwrap() {
        rows.extend(batch.iter().map(|row| Row::decode(&client.table, row.row)));
        lengths.push(batch.len());
    }
    (rows, lengths)
}

#[test]
fn a_scan_that_may_stop_reads_few_rows_first_and_twice_as_many_each_time() {
    let (_fs, engine, table) = new_engine();
    let mut client = Client::new(&engine, &table);
    for id in 0..3000 {
        client.insert(&Row::new(id, id % 7, Some(5000 - id), b"some text")).unwrap();
    }
    client.commit();
    for (index, direction) in [(0, Direction::Forward), (0, Direction::Backward), (1, Direction::Forward)] {
        let scan = || {
            let range = KeyRange::default();
            Scan::new(table.clone(), index, range, direction, ReadMode::Snapshot, false)
        };
        let (expected, whole) = read_in_batches(&mut client, scan());
        assert!(expected.len() == 3000 && whole[0] > 128, "{whole:?}");
        let (rows, lengths) = read_in_batches(&mut client, scan().that_may_stop());
        assert!(rows == expected);
        assert_eq!(lengths[..2], [32, 64]);
        assert!(lengths.iter().enumerate().all(|(number, len)| *len <= 32 << number), "{lengths:?}");
        assert!(lengths.len() < whole.len() + 6, "{} and {}", lengths.len(), whole.len());
        // Where it is known how many are wanted, they come at once.
        let (rows, lengths) = read_in_batches(&mut client, scan().with_rows_wanted(100).that_may_stop());
        assert!(rows == expected[..100]);
        assert_eq!(lengths, [100]);
    }
}
