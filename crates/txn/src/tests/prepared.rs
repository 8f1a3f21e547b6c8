//! Transactions that are prepared: they stay as they are until somebody ends them.

use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::event::retry_blocking;
use palisade_io::{CrashKeeps, FaultFileSystem};

use super::harness::Store;
use crate::{ClusteredHeader, Gaps, RowChange, RowOutcome, Trx};

fn change(store: &Store, trx: &mut Trx, key: &[u8], row: Option<&[u8]>) {
    let mut old = Vec::new();
    let found = retry_blocking(|| trx.read_current(&store.clustered, key, Gaps::Open, &mut old)).unwrap();
    let change = match (found.map(|header| header.stamp()), row) {
        (None, row) => RowChange::Insert { flags: 0, row: row.unwrap() },
        (Some(expected), Some(row)) => RowChange::Update { expected, flags: 0, row, released: None },
        (Some(expected), None) => RowChange::Delete { expected, released: None },
    };
    let outcome = retry_blocking(|| trx.change_row(&store.clustered, key, change)).unwrap();
    assert!(matches!(outcome, RowOutcome::Done(_)));
}

fn read(store: &Store, key: &[u8]) -> Option<Vec<u8>> {
    let mut reader = store.system.begin();
    let mut row = Vec::new();
    let found = retry_blocking(|| reader.read_snapshot(&store.clustered, key, &mut row)).unwrap();
    found.map(|_| row)
}

/// Whether somebody keeps others from changing the row.
fn is_locked(store: &Store, key: &[u8]) -> bool {
    let mut other = store.system.begin();
    let outcome = other.read_current(&store.clustered, key, Gaps::Open, &mut Vec::new());
    matches!(outcome, Err(Blocked::Wait(_)))
}

/// Rows a, b, c; then a transaction that changes a, deletes b, inserts d, and is prepared; then a crash.
fn crashed(fs: &Arc<FaultFileSystem>) -> (Store, Trx) {
    let store = Store::create(fs);
    let mut trx = store.system.begin();
    for key in [b"a", b"b", b"c"] {
        change(&store, &mut trx, key, Some(b"old"));
    }
    retry_blocking(|| trx.commit()).unwrap();
    change(&store, &mut trx, b"a", Some(b"new"));
    change(&store, &mut trx, b"b", None);
    change(&store, &mut trx, b"d", Some(b"new"));
    let lsn = retry_blocking(|| trx.prepare(b"what it is about")).unwrap();
    store.log.flush_blocking(lsn).unwrap();
    drop(trx);
    restart(fs, store)
}

fn restart(fs: &Arc<FaultFileSystem>, store: Store) -> (Store, Trx) {
    drop(store);
    fs.crash(CrashKeeps::Synced);
    let (store, mut in_flight) = Store::recover(fs);
    assert_eq!(in_flight.len(), 1);
    (store, in_flight.pop().unwrap())
}

#[test]
fn it_is_found_again_and_commits_as_if_nothing_had_happened() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (store, trx) = crashed(&fs);
    assert_eq!(trx.prepared(), Some(&b"what it is about"[..]));
    drop(trx);
    // Recovery has not made it anything else.
    let (store, mut trx) = restart(&fs, store);
    assert_eq!(trx.prepared(), Some(&b"what it is about"[..]));
    for key in [b"a", b"b", b"d"] {
        assert!(is_locked(&store, key), "{}", key.escape_ascii());
    }
    assert!(!is_locked(&store, b"c"));
    assert_eq!(read(&store, b"a"), Some(b"old".to_vec()));
    assert_eq!(read(&store, b"b"), Some(b"old".to_vec()));
    assert_eq!(read(&store, b"d"), None);
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    assert_eq!(store.system.active().len(), 1, "purge does not pass it");
    assert!(retry_blocking(|| trx.commit()).unwrap().is_some());
    assert_eq!(trx.prepared(), None);
    assert_eq!(read(&store, b"a"), Some(b"new".to_vec()));
    assert_eq!(read(&store, b"b"), None);
    assert_eq!(read(&store, b"d"), Some(b"new".to_vec()));
    assert!(!is_locked(&store, b"a"));
    // Its delete mark is purged, though the restart has not read what it did.
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    let entry = |value: Option<&[u8]>| value.map(|value| ClusteredHeader::split(value).is_some());
    assert_eq!(retry_blocking(|| store.clustered.get(b"b", entry)).unwrap(), None);
}

#[test]
fn the_first_step_of_a_rollback_takes_the_promise_back() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (store, mut trx) = crashed(&fs);
    assert!(retry_blocking(|| trx.rollback_step()).unwrap());
    assert_eq!(trx.prepared(), None);
    assert_eq!(read(&store, b"d"), None);
    store.flush();
    drop(trx);
    // From here on it is like any other that was in flight.
    let (store, mut trx) = restart(&fs, store);
    assert_eq!(trx.prepared(), None);
    assert!(is_locked(&store, b"a"));
    retry_blocking(|| trx.rollback()).unwrap();
    assert_eq!(read(&store, b"a"), Some(b"old".to_vec()));
    assert_eq!(read(&store, b"b"), Some(b"old".to_vec()));
    assert!(!is_locked(&store, b"a"));
    assert!(store.system.active().is_empty());
}

#[test]
fn one_that_has_changed_nothing_is_kept_as_well() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let mut trx = store.system.begin();
    trx.open_snapshot();
    let lsn = retry_blocking(|| trx.prepare(b"")).unwrap();
    assert_eq!(trx.snapshot(), None, "it holds purge up no longer");
    store.log.flush_blocking(lsn).unwrap();
    drop(trx);
    let (store, mut trx) = restart(&fs, store);
    assert_eq!(trx.prepared(), Some(&b""[..]));
    retry_blocking(|| trx.rollback()).unwrap();
    store.flush();
    drop((trx, store));
    fs.crash(CrashKeeps::Synced);
    assert!(Store::recover(&fs).1.is_empty());
}
