//! Who has found a row locked asks for the lock when the leaf's latch is given back. If the lock is gone by then, and a third has
//! written the row, he gets it, and has not seen the row yet. The same if he waits behind somebody who gives up, while who holds the
//! row in share mode has written it.

use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::event::retry_blocking;
use palisade_io::FaultFileSystem;

use super::harness::{CLUSTERED, Store};
use crate::{
    Error, Gaps, LockWait, LockedRow, Locking, Mode, Places, RowChange, RowOutcome, SavePoint, Stamp, Trx,
};

const KEY: &[u8] = b"row";

fn update(store: &Store, trx: &mut Trx, expected: Stamp, row: &[u8]) -> Stamp {
    let change = RowChange::Update { expected, flags: 0, row, released: None };
    match trx.change_row(&store.clustered, KEY, change) {
        Ok(RowOutcome::Done(stamp)) => stamp,
        other => panic!("nobody is in the way: {other:?}"),
    }
}

/// A row, a transaction that has written it since the savepoint, and one that has been given the row's lock without having
/// looked.
fn given_unseen(mode: Mode) -> (Store, Trx, SavePoint, Stamp, Trx) {
    let store = Store::create(&Arc::new(FaultFileSystem::new(1)));
    let mut writer = store.system.begin();
    let insert = RowChange::Insert { flags: 0, row: b"old" };
    let outcome = retry_blocking(|| writer.change_row(&store.clustered, KEY, insert)).unwrap();
    let RowOutcome::Done(stamp) = outcome else { panic!("{outcome:?}") };
    retry_blocking(|| writer.commit()).unwrap();
    store.flush();
    let insert = RowChange::Insert { flags: 0, row: b"other" };
    let _ = retry_blocking(|| writer.change_row(&store.clustered, b"other", insert)).unwrap();
    let savepoint = writer.savepoint();
    let stamp = update(&store, &mut writer, stamp, b"new");
    let mut other = store.system.begin();
    other.lock(CLUSTERED, KEY, mode).expect("nobody has told the lock table of the writer");
    (store, writer, savepoint, stamp, other)
}

fn locking(mode: Mode, wait: LockWait) -> Locking {
    Locking { mode, gaps: Gaps::Open, wait }
}

fn is_refused(store: &Store, trx: &mut Trx) -> bool {
    let mut row = Vec::new();
    let nowait = locking(Mode::Shared, LockWait::NoWait);
    let read = trx.read_locked(&store.clustered, KEY, nowait, &mut row);
    matches!(read, Err(Blocked::Error(Error::NotAvailable)))
}

#[test]
fn the_writer_keeps_a_row_that_it_restores() {
    for mode in [Mode::Shared, Mode::Exclusive] {
        let (store, mut writer, savepoint, _, mut other) = given_unseen(mode);
        retry_blocking(|| writer.rollback_to(savepoint, Places::Open)).unwrap();
        assert!(is_refused(&store, &mut other), "it is the writer's");
        let wait = locking(mode, LockWait::Wait);
        let mut row = Vec::new();
        let Err(Blocked::Wait(event)) = other.read_locked(&store.clustered, KEY, wait, &mut row) else {
            panic!("it is the writer's");
        };
        retry_blocking(|| writer.commit()).unwrap();
        assert!(event.is_complete());
        let read = other.read_locked(&store.clustered, KEY, wait, &mut row).expect("its turn has come");
        assert!(matches!(read, LockedRow::Row { .. }) && row == b"old", "{read:?}");
        retry_blocking(|| other.commit()).unwrap();
        assert_eq!(store.system.all_open().len(), 0);
        assert!(store.system.locks().is_surely_free(CLUSTERED, KEY), "nothing is left");
    }
}

#[test]
fn the_writer_keeps_it_although_others_wait_behind_who_has_been_given_it() {
    let (store, mut writer, savepoint, _, mut other) = given_unseen(Mode::Exclusive);
    let mut third = store.system.begin();
    let wait = locking(Mode::Exclusive, LockWait::Wait);
    assert!(matches!(third.lock(CLUSTERED, KEY, Mode::Exclusive), Err(Blocked::Wait(_))));
    retry_blocking(|| writer.rollback_to(savepoint, Places::Open)).unwrap();
    assert!(is_refused(&store, &mut other));
    assert!(matches!(third.lock(CLUSTERED, KEY, Mode::Exclusive), Err(Blocked::Wait(_))));
    retry_blocking(|| writer.rollback()).unwrap();
    third.lock(CLUSTERED, KEY, Mode::Exclusive).expect("it came first");
    let mut row = Vec::new();
    assert!(matches!(other.read_locked(&store.clustered, KEY, wait, &mut row), Err(Blocked::Wait(_))));
    retry_blocking(|| third.commit()).unwrap();
    other.read_locked(&store.clustered, KEY, wait, &mut row).expect("its turn has come");
    retry_blocking(|| other.commit()).unwrap();
    assert!(store.system.locks().is_surely_free(CLUSTERED, KEY), "nothing is left");
}

/// Who looks finds the writer and waits for it. The lock that it had been given is in nobody's way any more.
#[test]
fn the_writer_changes_its_row_again_while_who_has_been_given_it_waits() {
    let (store, mut writer, _, stamp, mut other) = given_unseen(Mode::Exclusive);
    let wait = locking(Mode::Exclusive, LockWait::Wait);
    let mut row = Vec::new();
    let Err(Blocked::Wait(event)) = other.read_locked(&store.clustered, KEY, wait, &mut row) else {
        panic!("the writer was first");
    };
    update(&store, &mut writer, stamp, b"newer");
    assert!(!event.is_complete());
    retry_blocking(|| writer.commit()).unwrap();
    store.flush();
    assert!(event.is_complete());
    let read = other.read_locked(&store.clustered, KEY, wait, &mut row).expect("its turn has come");
    assert!(matches!(read, LockedRow::Row { .. }) && row == b"newer", "{read:?}");
}

/// A third makes the writer's lock explicit; who has been given it has still not looked when the writer's id goes.
#[test]
fn what_was_given_unseen_is_worth_nothing_once_the_writers_lock_is_explicit() {
    let (store, mut writer, savepoint, _, mut other) = given_unseen(Mode::Exclusive);
    let mut third = store.system.begin();
    let wait = locking(Mode::Exclusive, LockWait::Wait);
    let mut row = Vec::new();
    assert!(matches!(third.read_locked(&store.clustered, KEY, wait, &mut row), Err(Blocked::Wait(_))));
    retry_blocking(|| writer.rollback_to(savepoint, Places::Open)).unwrap();
    assert!(is_refused(&store, &mut other), "it is the writer's");
    retry_blocking(|| writer.commit()).unwrap();
}

/// The holder of a shared lock writes the row past those who wait; the first of them gives up, and the second is given what is
/// compatible with what the lock table knows.
fn given_behind_who_gives_up() -> (Store, Trx, SavePoint, Stamp, Trx) {
    let (store, mut writer, _, _, mut other) = given_unseen(Mode::Shared);
    retry_blocking(|| writer.commit()).unwrap();
    retry_blocking(|| other.commit()).unwrap();
    let mut row = Vec::new();
    let mut read = |trx: &mut Trx, mode| {
        let read = trx.read_locked(&store.clustered, KEY, locking(mode, LockWait::Wait), &mut row);
        match read {
            Ok(LockedRow::Row { header, .. }) => Some(header.stamp()),
            Ok(found) => panic!("{found:?}"),
            Err(Blocked::Wait(_)) => None,
            Err(Blocked::Error(error)) => panic!("{error}"),
        }
    };
    let stamp = read(&mut writer, Mode::Shared).expect("it is free");
    let mut first = store.system.begin();
    assert_eq!(read(&mut first, Mode::Exclusive), None);
    assert_eq!(read(&mut other, Mode::Shared), None);
    let insert = RowChange::Insert { flags: 0, row: b"another" };
    let _ = retry_blocking(|| writer.change_row(&store.clustered, b"another", insert)).unwrap();
    let savepoint = writer.savepoint();
    let stamp = update(&store, &mut writer, stamp, b"newer");
    first.cancel_wait();
    assert!(!other.awaits_lock(), "it has been given the lock");
    (store, writer, savepoint, stamp, other)
}

#[test]
fn the_holder_of_a_shared_lock_changes_its_row_again_whoever_waits_for_it() {
    let (store, mut writer, _, stamp, mut other) = given_behind_who_gives_up();
    assert!(is_refused(&store, &mut other), "the row has been written");
    let mut row = Vec::new();
    let wait = locking(Mode::Shared, LockWait::Wait);
    assert!(matches!(other.read_locked(&store.clustered, KEY, wait, &mut row), Err(Blocked::Wait(_))));
    update(&store, &mut writer, stamp, b"newest");
    retry_blocking(|| writer.commit()).unwrap();
    store.flush();
    other.read_locked(&store.clustered, KEY, wait, &mut row).expect("its turn has come");
    assert_eq!(row, b"newest");
}

#[test]
fn the_holder_of_a_shared_lock_keeps_a_row_that_it_restores() {
    let (store, mut writer, savepoint, _, mut other) = given_behind_who_gives_up();
    retry_blocking(|| writer.rollback_to(savepoint, Places::Open)).unwrap();
    assert!(is_refused(&store, &mut other), "the writer has an exclusive lock on it");
    retry_blocking(|| writer.commit()).unwrap();
    let mut row = Vec::new();
    let wait = locking(Mode::Shared, LockWait::Wait);
    other.read_locked(&store.clustered, KEY, wait, &mut row).expect("its turn has come");
    assert_eq!(row, b"new", "as it was committed before");
}
