//! Transactions that are prepared keep over a restart what they have locked without changing it.

use std::ops::Bound;
use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::event::retry_blocking;
use palisade_io::{CrashKeeps, FaultFileSystem};

use super::harness::{CLUSTERED, Store};
use crate::{
    Cut, Gaps, LockInfo, LockWait, Locked, LockedRow, Locking, Mode, Places, RowChange, RowOutcome, Trx,
};

fn insert(store: &Store, trx: &mut Trx, key: &[u8]) {
    let change = RowChange::Insert { flags: 0, row: b"row" };
    let outcome = retry_blocking(|| trx.change_row(&store.clustered, key, change)).unwrap();
    assert!(matches!(outcome, RowOutcome::Done(_)));
}

fn lock(store: &Store, trx: &mut Trx, key: &[u8], mode: Mode, gaps: Gaps) {
    let locking = Locking { mode, gaps, wait: LockWait::Wait };
    let read = || trx.read_locked(&store.clustered, key, locking, &mut Vec::new());
    assert!(!matches!(retry_blocking(read).unwrap(), LockedRow::Skipped));
}

/// Locks a range of the clustered index, as a scan does.
fn lock_range(trx: &mut Trx, mode: Mode, from: Bound<&[u8]>, to: Bound<&[u8]>) {
    trx.expect_locks();
    trx.begin_range(CLUSTERED, mode).add(Cut::lower(from), Cut::upper(to)).unwrap();
}

/// Whether an insert of the key has to wait for a lock. It may have to wait for a page before.
fn keeps_out(store: &Store, key: &[u8]) -> bool {
    let mut other = store.system.begin();
    let change = RowChange::Insert { flags: 0, row: b"other" };
    let waits = loop {
        match other.change_row(&store.clustered, key, change) {
            Ok(_) => break false,
            Err(Blocked::Wait(event)) => {
                if store.system.locks().list().iter().any(|lock| !lock.granted) {
                    break true;
                }
                event.wait_blocking();
            }
            Err(Blocked::Error(error)) => panic!("{error}"),
        }
    };
    retry_blocking(|| other.rollback()).unwrap();
    waits
}

/// Whether a lock of the row has to wait.
fn is_locked(store: &Store, key: &[u8], mode: Mode) -> bool {
    let mut other = store.system.begin();
    let locking = Locking { mode, gaps: Gaps::Open, wait: LockWait::Wait };
    let outcome = other.read_locked(&store.clustered, key, locking, &mut Vec::new());
    let waits = matches!(outcome, Err(Blocked::Wait(_)));
    retry_blocking(|| other.rollback()).unwrap();
    waits
}

/// What transactions have locked, whatever their sessions are called.
fn locks(store: &Store) -> Vec<(u64, u64, Locked, Mode)> {
    let known = |lock: LockInfo| {
        assert!(lock.granted);
        (lock.trx.0, lock.index, lock.what, lock.mode)
    };
    let mut locks: Vec<_> = store.system.locks().list().into_iter().map(known).collect();
    locks.sort_by_key(|lock| format!("{lock:?}"));
    locks
}

fn restart(fs: &Arc<FaultFileSystem>, store: Store) -> (Store, Vec<Trx>) {
    drop(store);
    fs.crash(CrashKeeps::Synced);
    Store::recover(fs)
}

fn prepare(store: &Store, trx: &mut Trx) {
    let lsn = retry_blocking(|| trx.prepare(b"")).unwrap();
    store.log.flush_blocking(lsn).unwrap();
}

/// Rows b, d, f, h, committed.
fn with_rows(fs: &Arc<FaultFileSystem>) -> Store {
    let store = Store::create(fs);
    let mut trx = store.system.begin();
    for key in [b"b", b"d", b"f", b"h"] {
        insert(&store, &mut trx, key);
    }
    retry_blocking(|| trx.commit()).unwrap();
    store
}

#[test]
fn rows_gaps_and_ranges_stay_locked_until_it_ends() {
    for commits in [true, false] {
        let fs = Arc::new(FaultFileSystem::new(1));
        let store = with_rows(&fs);
        let mut trx = store.system.begin();
        lock(&store, &mut trx, b"b", Mode::Shared, Gaps::Locked);
        lock(&store, &mut trx, b"c", Mode::Shared, Gaps::Locked);
        lock(&store, &mut trx, b"d", Mode::Exclusive, Gaps::Open);
        lock_range(&mut trx, Mode::Shared, Bound::Excluded(b"f"), Bound::Unbounded);
        insert(&store, &mut trx, b"e");
        prepare(&store, &mut trx);
        let held = locks(&store);
        assert_eq!(held.len(), 4);
        drop(trx);
        let (store, in_flight) = restart(&fs, store);
        assert_eq!(locks(&store), held);
        drop(in_flight);
        // Recovery has changed nothing about that.
        let (store, mut in_flight) = restart(&fs, store);
        assert_eq!(locks(&store), held);
        store.system.locks().check_memory();
        let mut trx = in_flight.pop().unwrap();
        assert_eq!(in_flight.len(), 0);
        for (key, shared, exclusive) in [
            (b"b", false, true),
            (b"d", true, true),
            (b"e", true, true),
            (b"f", false, false),
            (b"h", false, true),
        ] {
            assert_eq!(is_locked(&store, key, Mode::Shared), shared, "{}", key.escape_ascii());
            assert_eq!(is_locked(&store, key, Mode::Exclusive), exclusive, "{}", key.escape_ascii());
        }
        assert_eq!([b"a", b"c", b"g", b"i"].map(|key| keeps_out(&store, key)), [false, true, true, true]);
        let mut waiting = store.system.begin();
        let change = RowChange::Insert { flags: 0, row: b"later" };
        let Err(Blocked::Wait(event)) = waiting.change_row(&store.clustered, b"g", change) else {
            panic!("an insert into a range that is locked");
        };
        match commits {
            true => drop(retry_blocking(|| trx.commit()).unwrap()),
            false => retry_blocking(|| trx.rollback()).unwrap(),
        }
        assert!(event.is_complete(), "who waits is woken");
        insert(&store, &mut waiting, b"g");
        retry_blocking(|| waiting.rollback()).unwrap();
        assert_eq!(locks(&store), []);
        assert!(!is_locked(&store, b"d", Mode::Shared) && !keeps_out(&store, b"c"));
    }
}

#[test]
fn one_that_has_only_read_keeps_its_locks() {
    let fs = Arc::new(FaultFileSystem::new(2));
    let store = with_rows(&fs);
    let mut trx = store.system.begin();
    lock(&store, &mut trx, b"b", Mode::Shared, Gaps::Open);
    prepare(&store, &mut trx);
    drop(trx);
    let (store, mut in_flight) = restart(&fs, store);
    assert!(is_locked(&store, b"b", Mode::Exclusive));
    let mut trx = in_flight.pop().unwrap();
    retry_blocking(|| trx.rollback()).unwrap();
    assert!(!is_locked(&store, b"b", Mode::Exclusive));
    store.flush();
    drop(trx);
    assert!(restart(&fs, store).1.is_empty());
}

/// Both have the gap, and an insert that waits has made that explicit: two exclusive locks on one key.
#[test]
fn two_that_have_locked_the_same_gap_keep_it() {
    let fs = Arc::new(FaultFileSystem::new(3));
    let store = with_rows(&fs);
    let mut both = [store.system.begin(), store.system.begin()];
    for trx in &mut both {
        lock(&store, trx, b"c", Mode::Exclusive, Gaps::Locked);
    }
    let mut waiting = store.system.begin();
    let change = RowChange::Insert { flags: 0, row: b"" };
    assert!(matches!(waiting.change_row(&store.clustered, b"c", change), Err(Blocked::Wait(_))));
    both.iter_mut().for_each(|trx| prepare(&store, trx));
    retry_blocking(|| waiting.rollback()).unwrap();
    let held = locks(&store);
    assert_eq!(held.len(), 4, "{held:?}");
    drop((both, waiting));
    let (store, in_flight) = restart(&fs, store);
    assert_eq!(locks(&store), held);
    for (ended, mut trx) in in_flight.into_iter().enumerate() {
        assert!(keeps_out(&store, b"c"), "{ended} have ended");
        retry_blocking(|| trx.commit()).unwrap();
    }
    assert!(!keeps_out(&store, b"c"));
}

/// What a partial rollback has left locked is locked by nothing else.
#[test]
fn rows_restored_by_a_partial_rollback_stay_locked() {
    let fs = Arc::new(FaultFileSystem::new(4));
    let store = with_rows(&fs);
    let mut trx = store.system.begin();
    let savepoint = trx.savepoint();
    let mut row = Vec::new();
    let found = retry_blocking(|| trx.read_current(&store.clustered, b"d", Gaps::Open, &mut row)).unwrap();
    let expected = found.unwrap().stamp();
    let change = RowChange::Delete { expected, released: None };
    assert!(matches!(
        retry_blocking(|| trx.change_row(&store.clustered, b"d", change)).unwrap(),
        RowOutcome::Done(_)
    ));
    retry_blocking(|| trx.rollback_to(savepoint, Places::Open)).unwrap();
    prepare(&store, &mut trx);
    drop(trx);
    let (store, in_flight) = restart(&fs, store);
    assert!(is_locked(&store, b"d", Mode::Shared));
    drop(in_flight);
}

/// Many locks take several records, each a mini-transaction, and the power may be cut behind each.
#[test]
fn it_is_prepared_with_all_of_its_locks_or_not_at_all() {
    let key = |number: u32| [&number.to_be_bytes()[..], &[7; 500]].concat();
    const LOCKS: u32 = 100;
    let mut steps = 0;
    for cut in 0.. {
        let fs = Arc::new(FaultFileSystem::new(5));
        let store = with_rows(&fs);
        let mut trx = store.system.begin();
        insert(&store, &mut trx, b"c");
        for number in 0..LOCKS {
            lock(&store, &mut trx, &key(number), Mode::Shared, Gaps::Locked);
        }
        let held = locks(&store);
        assert_eq!(held.len(), LOCKS as usize);
        let mut saved = 0;
        while saved < cut && retry_blocking(|| trx.save_locks()).unwrap() {
            saved += 1;
        }
        let is_prepared = saved < cut;
        if is_prepared {
            retry_blocking(|| trx.prepare(b"note")).unwrap();
            steps = saved;
        }
        store.flush();
        drop(trx);
        let (store, mut in_flight) = restart(&fs, store);
        let mut trx = in_flight.pop().unwrap();
        assert_eq!(trx.prepared().is_some(), is_prepared, "{cut}");
        assert_eq!(locks(&store), if is_prepared { held } else { Vec::new() });
        assert!(is_locked(&store, b"c", Mode::Shared), "rows are locked by the id in them");
        // A rollback that another power cut interrupts goes on.
        for _ in 0..=cut / 2 {
            assert!(retry_blocking(|| trx.rollback_step()).unwrap());
        }
        store.flush();
        drop(trx);
        let (store, mut in_flight) = restart(&fs, store);
        if let Some(mut trx) = in_flight.pop() {
            assert_eq!(trx.prepared(), None);
            assert_eq!(locks(&store), [], "it ends, and will have read nothing");
            retry_blocking(|| trx.rollback()).unwrap();
        }
        assert!(!is_locked(&store, b"c", Mode::Shared));
        while retry_blocking(|| store.system.purge_step()).unwrap() {}
        assert_eq!(store.system.history_length(), 0);
        if is_prepared {
            break;
        }
    }
    assert!(steps > 4, "{steps} records: more than two pages");
}
