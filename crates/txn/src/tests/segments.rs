//! Many transactions that write at once.

use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_btree::alloc;
use palisade_io::{CrashKeeps, FaultFileSystem};

use super::harness::Store;
use crate::undo::history::{RUN, SINGLES};
use crate::{RowChange, RowOutcome, Trx};

/// More writers than a page of the undo directory has room for, half of them committed when the power is cut.
#[test]
fn every_one_of_many_writers_has_a_segment_and_is_found_again() {
    const WRITERS: u32 = 1100;
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let key = |number: u32| number.to_be_bytes();
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        if number % 50 == 0 {
            // Each has an undo page of its own.
            store.clean();
        }
        let mut trx = store.system.begin();
        let change = RowChange::Insert { flags: 0, row: b"row" };
        let outcome = retry_blocking(|| trx.change_row(&store.clustered, &key(number), change)).unwrap();
        assert!(matches!(outcome, RowOutcome::Done(_)));
        writers.push(trx);
    }
    assert_eq!(store.system.active().len(), WRITERS as usize);
    for (number, trx) in writers.iter_mut().step_by(2).enumerate() {
        if number % 50 == 0 {
            store.clean();
        }
        retry_blocking(|| trx.commit()).unwrap();
    }
    store.flush();
    drop(writers);
    fs.crash(CrashKeeps::Synced);
    let (store, in_flight) = Store::recover(&fs);
    assert_eq!(in_flight.len(), WRITERS as usize / 2);
    for (number, mut trx) in in_flight.into_iter().enumerate() {
        if number % 50 == 0 {
            store.clean();
        }
        retry_blocking(|| trx.rollback()).unwrap();
    }
    let mut reader = store.system.begin();
    let mut row = Vec::new();
    for number in 0..WRITERS {
        let found =
            retry_blocking(|| reader.read_snapshot(&store.clustered, &key(number), &mut row)).unwrap();
        assert_eq!(found.is_some(), number % 2 == 0, "row {number}");
    }
}

/// Pages of undo.
fn undo_pages(store: &Store) -> u32 {
    let usage = retry_blocking(|| alloc::usage(store.system.undo().space())).unwrap();
    usage.in_use() - crate::undo::page::directory_pages(palisade_buffer::PageSize::DEFAULT)
}

fn insert(store: &Store, trx: &mut Trx, key: &[u8]) -> crate::Stamp {
    let change = RowChange::Insert { flags: 0, row: &[0; 1000] };
    match retry_blocking(|| trx.change_row(&store.clustered, key, change)).unwrap() {
        RowOutcome::Done(stamp) => stamp,
        other => panic!("{other:?}"),
    }
}

fn delete(store: &Store, trx: &mut Trx, key: &[u8], expected: crate::Stamp) {
    let change = RowChange::Delete { expected, released: None };
    let outcome = retry_blocking(|| trx.change_row(&store.clustered, key, change)).unwrap();
    assert!(matches!(outcome, RowOutcome::Done(_)), "{outcome:?}");
}

/// Changes a row so often that its undo takes more than `pages` pages.
fn fill(store: &Store, trx: &mut Trx, key: &[u8], mut expected: crate::Stamp, pages: u32) {
    let mut fill = 0;
    while undo_pages(store) <= pages {
        fill = 1 - fill;
        let change = RowChange::Update { expected, flags: 0, row: &[1 + fill; 1000], released: None };
        match retry_blocking(|| trx.change_row(&store.clustered, key, change)).unwrap() {
            RowOutcome::Done(stamp) => expected = stamp,
            other => panic!("{other:?}"),
        }
    }
}

fn row(store: &Store, key: &[u8]) -> Option<u8> {
    row_seen(store, &mut store.system.begin(), key)
}

fn row_seen(store: &Store, reader: &mut Trx, key: &[u8]) -> Option<u8> {
    let mut row = Vec::new();
    let found = retry_blocking(|| reader.read_snapshot(&store.clustered, key, &mut row)).unwrap();
    found.map(|_| *row.last().unwrap())
}

fn exists(store: &Store, key: &[u8]) -> bool {
    retry_blocking(|| store.clustered.get(key, |value| value.is_some())).unwrap()
}

fn purge_all(store: &Store) {
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    assert_eq!(store.system.history_length(), 0);
}

/// All pages are written, and the power is cut.
fn crash(fs: &Arc<FaultFileSystem>, store: Store) -> (Store, Vec<Trx>) {
    store.flush();
    store.pool.checkpoint_sharply().unwrap();
    drop(store);
    fs.crash(CrashKeeps::Synced);
    Store::recover(fs)
}

const PAGES: u32 = 100;

/// One segment with a transaction that deleted a row, and behind it one in flight whose undo takes many pages.
fn with_a_large_transaction(fs: &Arc<FaultFileSystem>) -> (Store, Trx) {
    let store = Store::create(fs);
    let mut trx = store.system.begin();
    let stamps = [b"a", b"b"].map(|key| insert(&store, &mut trx, key));
    retry_blocking(|| trx.commit()).unwrap();
    delete(&store, &mut trx, b"a", stamps[0]);
    retry_blocking(|| trx.commit()).unwrap();
    fill(&store, &mut trx, b"b", stamps[1], PAGES);
    (store, trx)
}

#[test]
fn opening_reads_a_page_of_a_segment_however_large_the_transaction_in_flight() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (store, trx) = with_a_large_transaction(&fs);
    drop(trx);
    let (store, mut in_flight) = crash(&fs, store);
    assert!(undo_pages(&store) > PAGES);
    let read = store.pool.frames() - store.pool.free_frames();
    assert!(read < 20, "{read} pages were read to open");
    assert_eq!(store.system.history_length(), 1, "not counted yet");
    assert_eq!((row(&store, b"b"), exists(&store, b"a")), (Some(0), true));
    // Purge finds what was there before, and leaves the large transaction's pages to its rollback.
    let before = store.pool.free_frames();
    purge_all(&store);
    assert!(!exists(&store, b"a"));
    assert!(before - store.pool.free_frames() < 20);
    assert!(undo_pages(&store) > PAGES);
    retry_blocking(|| in_flight[0].rollback()).unwrap();
    purge_all(&store);
    assert_eq!((row(&store, b"b"), undo_pages(&store)), (Some(0), 1));
}

#[test]
fn pages_of_a_transaction_rolled_back_before_a_crash_are_given_back() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (store, mut trx) = with_a_large_transaction(&fs);
    retry_blocking(|| trx.rollback()).unwrap();
    drop(trx);
    let (store, in_flight) = crash(&fs, store);
    assert!(in_flight.is_empty() && undo_pages(&store) > PAGES);
    // Others write to the segment before purge gets there: twice in it, and on pages to come.
    let mut trx = store.system.begin();
    let stamp = insert(&store, &mut trx, b"c");
    retry_blocking(|| trx.commit()).unwrap();
    delete(&store, &mut trx, b"c", stamp);
    retry_blocking(|| trx.commit()).unwrap();
    assert_eq!(store.system.undo().segments().len(), 1);
    assert_eq!(store.system.history_length(), 3);
    purge_all(&store);
    assert_eq!([b"a", b"b", b"c"].map(|key| exists(&store, key)), [false, true, false]);
    assert_eq!((row(&store, b"b"), undo_pages(&store)), (Some(0), 1));
}

#[test]
fn history_of_many_pages_is_counted_and_purged_after_a_restart_and_a_second_one() {
    const ROWS: u16 = 3_000;
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let mut trx = store.system.begin();
    let stamps: Vec<_> = (0..ROWS).map(|key| insert(&store, &mut trx, &key.to_be_bytes())).collect();
    retry_blocking(|| trx.commit()).unwrap();
    for (key, stamp) in stamps.into_iter().enumerate() {
        delete(&store, &mut trx, &(key as u16).to_be_bytes(), stamp);
        retry_blocking(|| trx.commit()).unwrap();
    }
    drop(trx);
    let (store, _) = crash(&fs, store);
    let pages = undo_pages(&store);
    assert_eq!(store.system.history_length(), 1);
    while store.system.history_length() <= u64::from(ROWS) {
        assert!(retry_blocking(|| store.system.purge_step()).unwrap());
    }
    let notes: usize = store.system.undo().segments().iter().map(|segment| segment.notes()).sum();
    assert!(notes <= SINGLES + usize::from(ROWS) / RUN as usize + 2, "{notes} notes");
    // Half of it is purged when the power goes again.
    while store.system.history_length() > u64::from(ROWS) / 2 {
        assert!(retry_blocking(|| store.system.purge_step()).unwrap());
    }
    let (store, _) = crash(&fs, store);
    assert!(undo_pages(&store) < pages);
    purge_all(&store);
    assert!((0..ROWS).all(|key| !exists(&store, &key.to_be_bytes())));
    assert_eq!(undo_pages(&store), 1);
}

#[test]
fn a_segment_with_a_damaged_page_is_opened_and_does_not_hold_up_the_others() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (store, damaged) = with_a_large_transaction(&fs);
    let mut other = store.system.begin();
    let stamp = insert(&store, &mut other, b"x");
    retry_blocking(|| other.commit()).unwrap();
    delete(&store, &mut other, b"x", stamp);
    retry_blocking(|| other.commit()).unwrap();
    let head = store.system.undo().segments()[0].purged.lock().head;
    drop((damaged, other));
    store.flush();
    store.pool.checkpoint_sharply().unwrap();
    drop(store);
    fs.flip_bit(std::path::Path::new("/d/1"), (u64::from(head.0) * 16_384 + 9_000) * 8);
    fs.crash(CrashKeeps::Synced);
    let (store, in_flight) = Store::recover(&fs);
    assert_eq!(in_flight.len(), 1);
    while retry_blocking(|| store.system.purge_step()).is_ok_and(|worked| worked) {}
    let error = retry_blocking(|| store.system.purge_step()).unwrap_err();
    assert!(error.to_string().contains("checksum"), "{error}");
    assert_eq!([b"a", b"x"].map(|key| exists(&store, key)), [true, false]);
}

#[test]
fn an_open_snapshot_holds_back_transactions_but_not_a_note_of_each() {
    const TRANSACTIONS: u32 = 1_000;
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let (mut writer, mut reader) = (store.system.begin(), store.system.begin());
    let mut high_water = 0;
    for round in 0..3 {
        let mut stamp = insert(&store, &mut writer, b"hot");
        retry_blocking(|| writer.commit()).unwrap();
        store.flush();
        purge_all(&store);
        reader.open_snapshot();
        let mut kept = Vec::new();
        for number in 0..TRANSACTIONS {
            let key = number.to_be_bytes();
            let gone = insert(&store, &mut writer, &key);
            retry_blocking(|| writer.commit()).unwrap();
            delete(&store, &mut writer, &key, gone);
            let update = RowChange::Update { expected: stamp, flags: 0, row: &[1; 1000], released: None };
            match retry_blocking(|| writer.change_row(&store.clustered, b"hot", update)).unwrap() {
                RowOutcome::Done(next) if number % 4 > 0 => {
                    stamp = next;
                    retry_blocking(|| writer.commit()).unwrap();
                }
                RowOutcome::Done(_) => {
                    retry_blocking(|| writer.rollback()).unwrap();
                    kept.push((key, gone));
                }
                other => panic!("{other:?}"),
            }
            let _ = retry_blocking(|| store.system.purge_step()).unwrap();
        }
        store.flush();
        assert_eq!(store.system.history_length(), u64::from(2 * TRANSACTIONS));
        let notes: usize = store.system.undo().segments().iter().map(|segment| segment.notes()).sum();
        assert!(notes <= SINGLES + (2 * TRANSACTIONS / RUN) as usize + 1, "{notes} notes");
        assert_eq!(row_seen(&store, &mut reader, b"hot"), Some(0), "round {round}");
        assert_eq!(row_seen(&store, &mut reader, &5u32.to_be_bytes()), None);
        assert!(exists(&store, &5u32.to_be_bytes()));
        reader.close_snapshot();
        purge_all(&store);
        let left = (0..TRANSACTIONS).filter(|number| exists(&store, &number.to_be_bytes()));
        assert!(left.eq((0..TRANSACTIONS).step_by(4)), "only what was deleted is gone");
        for (key, stamp) in kept {
            delete(&store, &mut writer, &key, stamp);
        }
        delete(&store, &mut writer, b"hot", stamp);
        retry_blocking(|| writer.commit()).unwrap();
        store.flush();
        purge_all(&store);
        assert_eq!(undo_pages(&store), store.system.undo().segments().len() as u32);
        let usage = retry_blocking(|| alloc::usage(store.system.undo().space())).unwrap();
        assert!(round == 0 || usage.high_water == high_water, "undo pages are used again");
        high_water = usage.high_water;
        assert!(!exists(&store, b"hot"));
    }
}

/// So it cannot fail for want of room, which matters most to who has promised that it will not.
#[test]
fn a_commit_takes_no_undo_page_wherever_the_records_before_it_end() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let mut trx = store.system.begin();
    let mut expected = insert(&store, &mut trx, b"row");
    retry_blocking(|| trx.commit()).unwrap();
    let mut length = 0;
    while undo_pages(&store) < 40 {
        length = (length + 7) % 61;
        let row = vec![length as u8; length];
        let change = RowChange::Update { expected, flags: 0, row: &row, released: None };
        match retry_blocking(|| trx.change_row(&store.clustered, b"row", change)).unwrap() {
            RowOutcome::Done(stamp) => expected = stamp,
            other => panic!("{other:?}"),
        }
        if length.is_multiple_of(2) {
            retry_blocking(|| trx.prepare(b"promised")).unwrap();
        }
        let before = undo_pages(&store);
        retry_blocking(|| trx.commit()).unwrap();
        assert_eq!(undo_pages(&store), before, "behind a row of {length} bytes");
        store.flush();
    }
}
