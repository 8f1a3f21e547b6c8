//! Readers beside a transaction that ends, while the log's tail stands still.

use std::sync::{Arc, mpsc};

use palisade_base::event::retry_blocking;
use palisade_base::{Blocked, Lsn};
use palisade_btree::Mtr;
use palisade_btree::mtr::max_entry_change_bytes;
use palisade_buffer::PageSize;
use palisade_io::FaultFileSystem;

use super::harness::{Store, put};
use crate::{ClusteredHeader, Error, Gaps, LockWait, LockedRow, Locking, Mode, Trx};

/// The log's tail stands still while somebody has reserved a range and not linked it. A rollback that ends then must not
/// look as old as the snapshot that has just read one of its versions.
#[test]
fn the_undo_of_a_rollback_outlives_a_reader_that_has_seen_its_version_while_the_tail_stands_still() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let mut trx = store.system.begin();
    put(&store, &mut trx, b"row", b"old");
    retry_blocking(|| trx.commit()).unwrap();

    let mut writer = store.system.begin();
    put(&store, &mut writer, b"row", b"new");
    // The record of that is on a page that the segment leaves behind.
    for number in 0..20u8 {
        for filling in [1, 2] {
            put(&store, &mut writer, &[b'x', number], &[filling; 3000]);
        }
    }

    std::thread::scope(|scope| {
        let (reserved_tx, reserved) = mpsc::channel::<Lsn>();
        let (go_on, wait) = mpsc::channel::<()>();
        let (log, secondary) = (&store.log, &store.secondary);
        scope.spawn(move || {
            // Nobody else needs the leaf that stays latched meanwhile.
            let mut mtr =
                retry_blocking(|| Mtr::begin(log, max_entry_change_bytes(PageSize::DEFAULT))).unwrap();
            let position = retry_blocking(|| secondary.acquire(&mut mtr, b"entry", 10)).unwrap();
            secondary.insert(&mut mtr, position, b"");
            mtr.commit(|range| {
                reserved_tx.send(range.start).unwrap();
                wait.recv().unwrap();
            });
        });
        let stands_still_at = reserved.recv().unwrap();
        let mut reader = store.system.begin();
        assert!(reader.open_snapshot().lsn <= stands_still_at);
        let mut row = Vec::new();
        let seen: Option<ClusteredHeader> =
            retry_blocking(|| reader.read_latest(&store.clustered, b"row", &mut row)).unwrap();
        let mut header = seen.expect("the row is there");
        assert_eq!((header.writer, &row[..]), (writer.id().unwrap(), &b"new"[..]));

        retry_blocking(|| writer.rollback()).unwrap();
        assert!(store.log.tail() <= stands_still_at, "the tail stands still");
        while retry_blocking(|| store.system.purge_step()).unwrap() {}
        let found = retry_blocking(|| reader.older_version(&mut header, &mut row));
        assert!(found.unwrap(), "the version before is found");
        assert_eq!(row, b"old");
        drop(reader);
        while retry_blocking(|| store.system.purge_step()).unwrap() {}
        assert_eq!(store.system.history_length(), 0, "nobody can see it now, wherever the tail is");
        go_on.send(()).unwrap();
    });
}

/// Whoever finds a committed version by a lock must see it in every snapshot that is opened from then on, its own or
/// another's, although the tail has not reached the commit record yet.
#[test]
fn what_a_locking_read_finds_is_seen_by_later_snapshots_while_the_tail_stands_still() {
    const SHARED: Locking = Locking { mode: Mode::Shared, gaps: Gaps::Open, wait: LockWait::NoWait };
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let mut trx = store.system.begin();
    put(&store, &mut trx, b"row", b"old");
    retry_blocking(|| trx.commit()).unwrap();
    let mut writer = store.system.begin();
    put(&store, &mut writer, b"row", b"new");

    std::thread::scope(|scope| {
        let (reserved_tx, reserved) = mpsc::channel::<Lsn>();
        let (go_on, wait) = mpsc::channel::<()>();
        let (log, secondary) = (&store.log, &store.secondary);
        let stalled = scope.spawn(move || {
            let mut mtr =
                retry_blocking(|| Mtr::begin(log, max_entry_change_bytes(PageSize::DEFAULT))).unwrap();
            let position = retry_blocking(|| secondary.acquire(&mut mtr, b"entry", 10)).unwrap();
            secondary.insert(&mut mtr, position, b"");
            mtr.commit(|range| {
                reserved_tx.send(range.start).unwrap();
                wait.recv().unwrap();
            });
        });
        reserved.recv().unwrap();
        let early = writer.commit();
        let mut row = Vec::new();
        let mut locker = store.system.begin();
        match locker.read_locked(&store.clustered, b"row", SHARED, &mut row) {
            Ok(LockedRow::Row { .. }) => {
                let locked = row.clone();
                retry_blocking(|| locker.read_snapshot(&store.clustered, b"row", &mut row)).unwrap();
                assert_eq!(row, locked, "the snapshot is older than what was locked before");
            }
            Ok(found) => panic!("{found:?}"),
            Err(Blocked::Error(Error::NotAvailable)) => {}
            Err(_) => panic!("the row is there"),
        }
        go_on.send(()).unwrap();
        stalled.join().unwrap();
        if let Err(Blocked::Wait(event)) = early {
            assert!(event.is_complete(), "the tail has reached the commit record");
            retry_blocking(|| writer.commit()).unwrap().expect("it has changed something");
        }
        let found =
            retry_blocking(|| locker.read_locked(&store.clustered, b"row", SHARED, &mut row)).unwrap();
        assert!(matches!(found, LockedRow::Row { .. }) && row == b"new", "{found:?}");
        retry_blocking(|| locker.read_snapshot(&store.clustered, b"row", &mut row)).unwrap();
        assert_eq!(row, b"new");
    });
}

#[test]
fn a_transaction_whose_commit_waits_for_the_tail_is_committed_even_if_it_is_then_rolled_back() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let mut writer = store.system.begin();
    put(&store, &mut writer, b"row", b"new");
    std::thread::scope(|scope| {
        let (reserved_tx, reserved) = mpsc::channel::<Lsn>();
        let (go_on, wait) = mpsc::channel::<()>();
        let (log, secondary) = (&store.log, &store.secondary);
        scope.spawn(move || {
            let mut mtr =
                retry_blocking(|| Mtr::begin(log, max_entry_change_bytes(PageSize::DEFAULT))).unwrap();
            let position = retry_blocking(|| secondary.acquire(&mut mtr, b"entry", 10)).unwrap();
            secondary.insert(&mut mtr, position, b"");
            mtr.commit(|range| {
                reserved_tx.send(range.start).unwrap();
                wait.recv().unwrap();
            });
        });
        reserved.recv().unwrap();
        assert!(matches!(writer.commit(), Err(Blocked::Wait(_))), "the tail stands still");
        assert!(writer.has_committed());
        // as when the client of a session that waits for its commit has gone
        assert!(matches!(writer.rollback(), Err(Blocked::Wait(_))));
        go_on.send(()).unwrap();
        retry_blocking(|| writer.rollback()).unwrap();
    });
    assert!(!writer.is_open());
    let mut row = Vec::new();
    let mut reader = store.system.begin();
    retry_blocking(|| reader.read_snapshot(&store.clustered, b"row", &mut row))
        .unwrap()
        .expect("it is there");
    assert_eq!(row, b"new");
}

/// A reader has copied a version whose writer was active then, and asks without the leaf's latch for the committed one.
#[test]
fn a_version_that_is_rolled_back_before_the_reader_asks_is_not_taken_for_committed() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let mut trx = store.system.begin();
    put(&store, &mut trx, b"row", b"old");
    put(&store, &mut trx, b"taken", b"old");
    retry_blocking(|| trx.commit()).unwrap();
    store.flush();
    let (mut writer, mut committer) = (store.system.begin(), store.system.begin());
    let mut reader = store.system.begin();
    reader.open_snapshot();
    put(&store, &mut writer, b"row", b"new");
    put(&store, &mut committer, b"taken", b"new");
    let copy = |key: &[u8]| {
        let mut row = Vec::new();
        let header = retry_blocking(|| store.system.begin().read_latest(&store.clustered, key, &mut row));
        (header.unwrap().expect("the row is there"), row)
    };
    let committed = |reader: &Trx, (mut header, mut row): (ClusteredHeader, Vec<u8>)| {
        assert!(retry_blocking(|| reader.committed_version(&mut header, &mut row)).unwrap());
        row
    };
    let (rolled_back, taken) = (copy(b"row"), copy(b"taken"));
    assert_eq!(committed(&reader, rolled_back.clone()), b"old", "its writer is active");
    retry_blocking(|| writer.rollback()).unwrap();
    retry_blocking(|| committer.commit()).unwrap();
    store.flush();
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    assert_eq!(committed(&reader, rolled_back), b"old", "its writer was rolled back");
    assert_eq!(committed(&reader, taken), b"new", "its writer has committed");
}
