//! Purge by several threads at once.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::event::retry_blocking;
use palisade_btree::{Direction, ScanEnd, verify};
use palisade_io::FaultFileSystem;

use super::harness::Store;
use crate::purge::TURN_RECORDS;
use crate::{RowChange, RowOutcome, Stamp, Trx};

fn insert(store: &Store, trx: &mut Trx, key: &[u8]) -> Stamp {
    let insert = RowChange::Insert { flags: 0, row: b"row" };
    match retry_blocking(|| trx.change_row(&store.clustered, key, insert)).unwrap() {
        RowOutcome::Done(stamp) => stamp,
        other => panic!("{other:?}"),
    }
}

fn delete(store: &Store, trx: &mut Trx, key: &[u8], expected: Stamp) {
    let delete = RowChange::Delete { expected, released: None };
    let outcome = retry_blocking(|| trx.change_row(&store.clustered, key, delete)).unwrap();
    assert!(matches!(outcome, RowOutcome::Done(_)));
}

/// A transaction that inserts a row, and one that deletes it.
fn come_and_go(store: &Store, trx: &mut Trx, key: &[u8]) {
    let stamp = insert(store, trx, key);
    retry_blocking(|| trx.commit()).unwrap();
    delete(store, trx, key, stamp);
}

fn entries(store: &Store) -> usize {
    let (mut count, mut from) = (0, Bound::Unbounded);
    loop {
        let end = store.clustered.scan(from.as_ref().map(Vec::as_slice), Direction::Forward, |_, _| {
            count += 1;
            ControlFlow::Continue(())
        });
        match end.unwrap_or_else(|error| panic!("{error:?}")) {
            ScanEnd::Continue { separator, .. } => from = Bound::Included(separator.to_vec()),
            ScanEnd::Exhausted | ScanEnd::Stopped => return count,
        }
    }
}

/// What one thread works at, the others leave alone, and they purge the rest.
#[test]
fn a_segment_being_purged_does_not_stop_the_others() {
    let store = Store::create(&Arc::new(FaultFileSystem::new(1)));
    let mut writers: Vec<Trx> = (0..4).map(|_| store.system.begin()).collect();
    for (number, trx) in writers.iter_mut().enumerate() {
        come_and_go(&store, trx, &[number as u8]);
    }
    // All four were open together, so each has a segment of its own.
    for trx in &mut writers {
        retry_blocking(|| trx.commit()).unwrap();
    }
    drop(writers);
    store.flush();
    let segments = store.system.undo().segments();
    assert_eq!(segments.len(), 4);
    let busy = segments[0].purged.lock();
    let left = segments[0].history_length();
    assert!(left > 0);
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    assert_eq!(store.system.history_length(), left);
    assert_eq!(entries(&store), 1);
    drop(busy);
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    assert_eq!((store.system.history_length(), entries(&store)), (0, 0));
}

/// However the oldest transactions are noted: by themselves, in runs, or as what a restart has left.
#[test]
fn what_is_purged_is_known_by_the_lowest_id_that_is_not() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let purge = |store: &Store| while retry_blocking(|| store.system.purge_step()).unwrap() {};
    assert_eq!(store.system.purged_below(), store.system.sequence().next());
    let mut reader = store.system.begin();
    reader.open_snapshot();
    let (mut trx, mut ids) = (store.system.begin(), Vec::new());
    for number in 0..30 {
        come_and_go(&store, &mut trx, &[number]);
        ids.push(trx.id().unwrap());
        assert!(store.system.purged_below() <= ids[0], "its id is not purged while it is open");
        retry_blocking(|| trx.commit()).unwrap();
    }
    store.flush();
    purge(&store);
    let below = store.system.purged_below();
    assert!(below <= ids[0], "{below:?} while {:?} is to be seen", ids[0]);
    drop((reader, trx));
    drop(store);
    let (store, in_flight) = Store::recover(&fs);
    assert!(in_flight.is_empty());
    assert!(store.system.purged_below() <= ids[0], "nothing is known yet");
    store.flush();
    purge(&store);
    assert_eq!(store.system.purged_below(), store.system.sequence().next());
}

#[test]
fn threads_that_purge_while_others_write_leave_nothing_behind() {
    let store = Store::create(&Arc::new(FaultFileSystem::new(1)));
    let has_written = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !has_written.load(Ordering::Acquire) || store.system.history_length() > 0 {
                    retry_blocking(|| store.system.purge_step()).unwrap();
                    std::thread::yield_now();
                }
            });
        }
        let writers: Vec<_> = (0..3u8)
            .map(|writer| {
                let store = &store;
                scope.spawn(move || {
                    let mut trx = store.system.begin();
                    for number in 0..200u8 {
                        come_and_go(store, &mut trx, &[writer, number]);
                        retry_blocking(|| trx.commit()).unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        store.flush();
        has_written.store(true, Ordering::Release);
    });
    assert_eq!(entries(&store), 0);
    let report = verify::verify_tree(&store.clustered).unwrap();
    assert!(report.damage.is_empty(), "{:?}", report.damage);
}

/// One that has deleted more rows than are purged in a turn.
#[test]
fn a_large_transaction_takes_turns_with_the_others() {
    const ROWS: usize = 3 * TURN_RECORDS;
    let store = Store::create(&Arc::new(FaultFileSystem::new(1)));
    let keys: Vec<_> = (0..ROWS as u32).map(u32::to_be_bytes).collect();
    let (mut large, mut small) = (store.system.begin(), store.system.begin());
    let stamps: Vec<_> = keys.iter().map(|key| insert(&store, &mut large, key)).collect();
    retry_blocking(|| large.commit()).unwrap();
    store.flush();
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    for (key, stamp) in keys.iter().zip(stamps) {
        delete(&store, &mut large, key, stamp);
    }
    come_and_go(&store, &mut small, b"small");
    retry_blocking(|| small.commit()).unwrap();
    retry_blocking(|| large.commit()).unwrap();
    store.flush();
    assert_eq!((store.system.undo().segments().len(), store.system.history_length()), (2, 3));
    assert!(retry_blocking(|| store.system.purge_step()).unwrap());
    assert_eq!(store.system.history_length(), 1, "only the large one is left");
    assert!((1..ROWS).contains(&entries(&store)), "some of it is done");
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    assert_eq!((store.system.history_length(), entries(&store)), (0, 0));
}
