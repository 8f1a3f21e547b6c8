//! Locking reads: rows, the gaps between them, and who waits for whom.

use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::prng::{Prng, test_seed};

use super::harness::*;
use crate::{
    Direction, Engine, EngineConfig, Error, IsolationLevel, KeyRange, LockMode, LockWait, ReadMode, RowBatch,
    Scan, Table, UpdateOutcome,
};

const FOR_UPDATE: ReadMode = ReadMode::Locked(LockMode::Exclusive, LockWait::Wait);
const FOR_SHARE: ReadMode = ReadMode::Locked(LockMode::Shared, LockWait::Wait);
const NOWAIT: ReadMode = ReadMode::Locked(LockMode::Exclusive, LockWait::NoWait);
const SKIP_LOCKED: ReadMode = ReadMode::Locked(LockMode::Exclusive, LockWait::SkipLocked);

/// Rows 10, 20, ... 90; k is the tens.
fn world() -> (Arc<Engine>, Arc<Table>) {
    let (_, engine, t) = new_engine();
    let mut client = Client::new(&engine, &t);
    for n in 1..10 {
        client.insert(&row(n * 10)).unwrap();
    }
    client.commit();
    (engine, t)
}

fn row(id: i64) -> Row {
    Row::new(id, id / 10, Some(id), b"")
}

impl Client {
    fn lock_range(&mut self, index: usize, from: i64, to: i64, mode: ReadMode) -> Result<Vec<i64>, Error> {
        let range = range(&self.table, index, from, to);
        let rows = self.scan_range(index, range, Direction::Forward, mode)?;
        Ok(rows.into_iter().map(|row| row.id).collect())
    }

    /// Whether inserting has to wait. It is given up then, and taken back otherwise.
    fn waits_to_insert(&mut self, row: &Row) -> bool {
        let bytes = row.encode(&self.table);
        let start = self.tx.savepoint();
        let outcome = self.tx.insert(&self.table, &bytes);
        let waits = match outcome {
            Ok(()) => false,
            Err(Blocked::Wait(event)) => !event.is_complete(),
            Err(Blocked::Error(error)) => panic!("{error}"),
        };
        self.tx.cancel_wait();
        palisade_base::event::retry_blocking(|| self.tx.rollback_to(start)).unwrap();
        waits
    }

    /// Whether updating has to wait.
    fn waits_to_update(&mut self, id: i64, change: impl Fn(&mut Row)) -> bool {
        let Some((old, stamp)) = self.read_as(id, ReadMode::Current).unwrap() else { panic!("row {id}") };
        let mut new = old.clone();
        change(&mut new);
        let (old, new) = (old.encode(&self.table), new.encode(&self.table));
        let start = self.tx.savepoint();
        let outcome = self.tx.update(&self.table, stamp, &old, &new);
        let waits = match outcome {
            Ok(UpdateOutcome::Done) => false,
            Err(Blocked::Wait(event)) => !event.is_complete(),
            other => panic!("{other:?}"),
        };
        self.tx.cancel_wait();
        palisade_base::event::retry_blocking(|| self.tx.rollback_to(start)).unwrap();
        waits
    }

    fn locks(&self) -> u64 {
        let own = self.tx.id();
        let active = self.tx.engine().active_transactions();
        active.iter().find(|trx| trx.id == own && own.is_some()).map_or(0, |trx| trx.row_locks)
    }
}

#[test]
fn nothing_is_inserted_into_a_range_that_was_read_locked_and_anything_beside_it() {
    let (engine, t) = world();
    for mode in [FOR_UPDATE, FOR_SHARE] {
        for direction in [Direction::Forward, Direction::Backward] {
            let (mut reader, mut writer) = (Client::new(&engine, &t), Client::new(&engine, &t));
            let mut found = reader.scan_range(0, range(&t, 0, 25, 55), direction, mode).unwrap();
            found.sort();
            assert_eq!(found.iter().map(|row| row.id).collect::<Vec<_>>(), [30, 40, 50]);
            for id in [25, 31, 49, 55] {
                assert!(writer.waits_to_insert(&row(id)), "{id} in {mode:?} {direction:?}");
            }
            for id in [5, 24, 56, 95] {
                assert!(!writer.waits_to_insert(&row(id)), "{id} beside {mode:?} {direction:?}");
            }
            assert!(writer.waits_to_update(40, |row| row.c = b"x".to_vec()));
            assert!(!writer.waits_to_update(60, |row| row.c = b"x".to_vec()));
            reader.commit();
            assert!(!writer.waits_to_insert(&row(31)));
            writer.rollback();
        }
    }
}

#[test]
fn a_range_of_a_secondary_index_keeps_rows_from_coming_into_it() {
    let (engine, t) = world();
    let (mut reader, mut writer) = (Client::new(&engine, &t), Client::new(&engine, &t));
    assert_eq!(reader.lock_range(1, 3, 5, FOR_UPDATE).unwrap(), [30, 40, 50]);
    assert!(writer.waits_to_insert(&Row::new(1, 4, None, b"")), "a new row with k = 4");
    assert!(writer.waits_to_update(90, |row| row.k = Some(3)), "a row that moves in");
    assert!(!writer.waits_to_insert(&Row::new(1, 6, None, b"")));
    assert!(!writer.waits_to_update(90, |row| row.k = Some(2)));
    assert!(!writer.waits_to_insert(&Row::new(45, 8, None, b"")), "the clustered gap is open");
    // The rows themselves are locked.
    assert!(writer.waits_to_update(40, |row| row.c = b"x".to_vec()));
    reader.commit();
    assert!(!writer.waits_to_insert(&Row::new(1, 4, None, b"")));
}

#[test]
fn a_key_that_is_not_there_is_kept_absent() {
    let (engine, t) = world();
    let (mut reader, mut writer) = (Client::new(&engine, &t), Client::new(&engine, &t));
    for mode in [FOR_UPDATE, ReadMode::Change] {
        assert!(reader.read_as(33, mode).unwrap().is_none());
        assert!(writer.waits_to_insert(&row(33)), "{mode:?}");
        assert!(!writer.waits_to_insert(&row(34)), "{mode:?}");
        reader.commit();
        assert!(!writer.waits_to_insert(&row(33)), "{mode:?}");
        writer.rollback();
    }
    // Two may keep it absent; the first of them to insert waits for the other.
    let mut other = Client::new(&engine, &t);
    assert!(reader.read_as(33, FOR_UPDATE).unwrap().is_none());
    assert!(other.read_as(33, FOR_UPDATE).unwrap().is_none());
    assert!(reader.waits_to_insert(&row(33)));
    other.commit();
    reader.insert(&row(33)).unwrap();
    reader.commit();
}

/// That a row is there is all that a duplicate key says of it.
#[test]
fn an_insert_that_finds_its_row_there_does_not_wait_for_its_readers() {
    for mode in [FOR_SHARE, FOR_UPDATE] {
        let (engine, t) = world();
        let (mut reader, mut writer) = (Client::new(&engine, &t), Client::new(&engine, &t));
        assert_eq!(reader.lock_range(0, 25, 35, mode).unwrap(), [30]);
        assert!(reader.read_as(60, mode).unwrap().is_some());
        for id in [30, 60] {
            let start = writer.tx.savepoint();
            let bytes = row(id).encode(&t);
            match (mode, writer.tx.insert(&t, &bytes)) {
                (FOR_SHARE, Err(Blocked::Error(Error::DuplicateKey { index: 0 })))
                | (FOR_UPDATE, Err(Blocked::Wait(_))) => {}
                (_, outcome) => panic!("{id}, {mode:?}: {outcome:?}"),
            }
            palisade_base::event::retry_blocking(|| writer.tx.rollback_to(start)).unwrap();
        }
    }
}

#[test]
fn read_committed_locks_rows_only_and_gives_back_what_is_not_wanted() {
    let (engine, t) = world();
    let mut reader = Client::with(&engine, &t, IsolationLevel::ReadCommitted);
    let mut writer = Client::new(&engine, &t);
    assert_eq!(reader.lock_range(0, 25, 55, FOR_UPDATE).unwrap(), [30, 40, 50]);
    assert!(reader.read_as(33, FOR_UPDATE).unwrap().is_none());
    for id in [33, 31, 49] {
        assert!(!writer.waits_to_insert(&row(id)));
    }
    assert!(writer.waits_to_update(40, |row| row.c = b"x".to_vec()));
    reader.tx.unlock_row(&t, crate::RowStamp::default(), &key(&t, 0, 40));
    assert!(!writer.waits_to_update(40, |row| row.c = b"x".to_vec()));
    assert!(writer.waits_to_update(50, |row| row.c = b"x".to_vec()));
    // A second read of a locked row does not lock it anew: it is not the second's to give back.
    assert_eq!(scanned_for_update(&mut reader, &t, 50, 60), [(50, false), (60, true)]);
}

/// The rows of a range, locked for update, and whether each was not locked before.
fn scanned_for_update(reader: &mut Client, t: &Arc<Table>, from: i64, to: i64) -> Vec<(i64, bool)> {
    let mut scan = Scan::new(t.clone(), 0, range(t, 0, from, to), Direction::Forward, FOR_UPDATE, false);
    let (mut batch, mut newly) = (RowBatch::new(), Vec::new());
    while palisade_base::event::retry_blocking(|| reader.tx.scan_next(&mut scan, &mut batch)).unwrap() {
        newly.extend(batch.iter().map(|row| (Row::decode(t, row.row).id, row.newly_locked)));
    }
    newly
}

/// A transaction that has locked a row in share mode has read it; that it looked again, to change it, and
/// did not want to, gives no transaction the right to.
#[test]
fn a_lock_that_was_made_stronger_is_not_the_second_readers_to_give_back() {
    let (engine, t) = world();
    let mut reader = Client::with(&engine, &t, IsolationLevel::ReadCommitted);
    let mut writer = Client::new(&engine, &t);
    for id in [40, 50] {
        assert!(reader.read_as(id, FOR_SHARE).unwrap().is_some());
    }
    assert_eq!(scanned_for_update(&mut reader, &t, 50, 60), [(50, false), (60, true)]);
    let mut by_key = |id| {
        let (key, mut out) = (key(&t, 0, id), crate::RowBuf::new());
        let read = || reader.tx.point_read(&t, 0, &key, FOR_UPDATE, &mut out);
        assert!(palisade_base::event::retry_blocking(read).unwrap());
        out.is_newly_locked()
    };
    assert!(!by_key(40) && by_key(70));
    for id in [40, 50] {
        assert!(writer.waits_to_update(id, |row| row.c = b"x".to_vec()), "{id}");
    }
}

/// A row that had to be waited for is locked like any other, and given back like any other if it is not what
/// was looked for.
#[test]
fn a_lock_that_was_waited_for_is_given_back_too() {
    for mode in [FOR_UPDATE, ReadMode::Change] {
        for goes in [false, true] {
            let (engine, t) = world();
            let (mut holder, mut writer) = (Client::new(&engine, &t), Client::new(&engine, &t));
            let mut reader = Client::with(&engine, &t, IsolationLevel::ReadCommitted);
            match goes {
                true => assert!(holder.delete(50).unwrap()),
                false => assert!(holder.update(50, |row| row.k = Some(7)).unwrap()),
            }
            let mut scan = Scan::new(t.clone(), 1, range(&t, 1, 5, 5), Direction::Forward, mode, false);
            let mut batch = RowBatch::new();
            let mut next = || reader.tx.scan_next(&mut scan, &mut batch);
            assert!(matches!(next(), Err(Blocked::Wait(_))));
            holder.commit();
            assert!(!palisade_base::event::retry_blocking(next).unwrap(), "it has left the range");
            let is_kept = match goes {
                true => writer.waits_to_insert(&row(50)),
                false => writer.waits_to_update(50, |row| row.c = b"x".to_vec()),
            };
            assert!(!is_kept, "{mode:?}, goes: {goes}");
        }
    }

    let (engine, t) = world();
    let (mut holder, mut writer) = (Client::new(&engine, &t), Client::new(&engine, &t));
    let mut reader = Client::with(&engine, &t, IsolationLevel::ReadCommitted);
    for is_shared in [false, true] {
        if is_shared {
            assert!(reader.read_as(50, FOR_SHARE).unwrap().is_some());
        }
        assert!(holder.read_as(50, if is_shared { FOR_SHARE } else { FOR_UPDATE }).unwrap().is_some());
        let (key, mut out) = (key(&t, 0, 50), crate::RowBuf::new());
        let mut read = || reader.tx.point_read(&t, 0, &key, FOR_UPDATE, &mut out);
        assert!(matches!(read(), Err(Blocked::Wait(_))));
        holder.commit();
        assert!(palisade_base::event::retry_blocking(read).unwrap());
        assert_eq!(out.is_newly_locked(), !is_shared, "what is shared was locked before");
        if !is_shared {
            reader.tx.unlock_row(&t, out.stamp(), &key);
            assert!(!writer.waits_to_update(50, |row| row.c = b"x".to_vec()));
            writer.rollback();
        }
    }
}

#[test]
fn nowait_fails_and_skip_locked_goes_on() {
    let (engine, t) = world();
    for isolation in [IsolationLevel::ReadCommitted, IsolationLevel::RepeatableRead] {
        let mut holder = Client::new(&engine, &t);
        assert!(holder.update(30, |row| row.c = b"written".to_vec()).unwrap());
        assert!(holder.read_as(50, FOR_SHARE).unwrap().is_some());
        let mut reader = Client::with(&engine, &t, isolation);
        assert_eq!(reader.read_as(30, NOWAIT).unwrap_err(), Error::LockNotAvailable);
        assert_eq!(reader.lock_range(0, 40, 60, NOWAIT).unwrap_err(), Error::LockNotAvailable);
        assert_eq!(reader.lock_range(0, 20, 60, SKIP_LOCKED).unwrap(), [20, 40, 60]);
        assert_eq!(reader.lock_range(1, 2, 6, SKIP_LOCKED).unwrap(), [20, 40, 60]);
        assert!(reader.read_as(50, SKIP_LOCKED).unwrap().is_none());
        assert!(reader.read_as(70, NOWAIT).unwrap().is_some());
        // What was skipped is not locked: the holder goes on with it.
        assert!(!holder.waits_to_update(50, |row| row.c = b"x".to_vec()));
        assert!(holder.waits_to_update(40, |row| row.c = b"x".to_vec()));
        // Workers that take one row each do not stand in each other's way.
        let mut other = Client::with(&engine, &t, isolation);
        let everything = KeyRange::default();
        let scan = Scan::new(t.clone(), 0, everything, Direction::Forward, SKIP_LOCKED, false);
        let (mut scan, mut batch) = (scan.with_rows_wanted(1), RowBatch::new());
        assert!(palisade_base::event::retry_blocking(|| other.tx.scan_next(&mut scan, &mut batch)).unwrap());
        assert_eq!(Row::decode(&t, batch.row(0).row).id, 10);
        for client in [&mut holder, &mut reader, &mut other] {
            client.rollback();
        }
    }
}

/// As in InnoDB, where a lock that is not taken does not cover the gap before its row either. Many workers of
/// a queue would otherwise each hold a range for every row that the others have taken.
#[test]
fn the_gap_before_a_row_that_was_skipped_stays_open() {
    for (direction, skipped, taken, open, locked) in [
        (Direction::Forward, [10, 20, 30], 40, [5, 15, 25], 35),
        (Direction::Backward, [90, 80, 70], 60, [95, 85, 75], 65),
    ] {
        let (engine, t) = world();
        let [mut holder, mut worker, mut writer] = [(); 3].map(|()| Client::new(&engine, &t));
        for id in skipped {
            assert!(holder.read_as(id, FOR_UPDATE).unwrap().is_some());
        }
        let scan = Scan::new(t.clone(), 0, KeyRange::default(), direction, SKIP_LOCKED, false);
        let (mut scan, mut batch) = (scan.with_rows_wanted(1), RowBatch::new());
        assert!(palisade_base::event::retry_blocking(|| worker.tx.scan_next(&mut scan, &mut batch)).unwrap());
        assert_eq!(Row::decode(&t, batch.row(0).row).id, taken);
        for id in open {
            assert!(!writer.waits_to_insert(&row(id)), "{id} {direction:?}");
        }
        assert!(writer.waits_to_insert(&row(locked)), "{direction:?}");
        assert!(writer.waits_to_update(taken, |row| row.c = b"x".to_vec()), "{direction:?}");
    }
}

/// A statement that is killed while it waits is not gone on with: the next one reads what it asks for.
#[test]
fn a_read_that_was_given_up_is_forgotten() {
    let (engine, t) = world();
    let mut holder = Client::new(&engine, &t);
    assert!(holder.update(30, |row| row.c = b"x".to_vec()).unwrap());
    let mut reader = Client::new(&engine, &t);
    let read = |reader: &mut Client, u| {
        let mut out = crate::RowBuf::new();
        let found = reader.tx.point_read(&t, 2, &key(&t, 2, u), FOR_UPDATE, &mut out)?;
        Ok::<_, Blocked<Error>>(found.then(|| Row::decode(&t, out.row()).id))
    };
    let start = reader.tx.savepoint();
    assert!(matches!(read(&mut reader, 30), Err(Blocked::Wait(_))));
    palisade_base::event::retry_blocking(|| reader.tx.rollback_to(start)).unwrap();
    holder.commit();
    assert_eq!(palisade_base::event::retry_blocking(|| read(&mut reader, 40)), Ok(Some(40)));
}

#[test]
fn serializable_reads_lock_unless_the_statement_is_alone() {
    let (engine, t) = world();
    let mut reader = Client::with(&engine, &t, IsolationLevel::Serializable);
    let mut writer = Client::new(&engine, &t);
    assert_eq!(reader.lock_range(0, 25, 45, ReadMode::Snapshot).unwrap(), [30, 40]);
    assert!(writer.waits_to_insert(&row(35)) && writer.waits_to_update(30, |row| row.c = b"x".to_vec()));
    assert!(reader.read(77).is_none());
    assert!(writer.waits_to_insert(&row(77)));
    reader.commit();
    reader.tx.set_single_statement(true);
    assert!(writer.update(30, |row| row.c = b"x".to_vec()).unwrap());
    assert_eq!(reader.lock_range(0, 25, 45, ReadMode::Snapshot).unwrap(), [30, 40]);
    assert_eq!(reader.read(30).unwrap().c, b"");
}

#[test]
fn an_uncontended_update_by_primary_key_takes_no_lock_table_entry() {
    let (engine, t) = world();
    let mut client = Client::new(&engine, &t);
    for id in [20, 30] {
        let (old, stamp) = client.read_as(id, ReadMode::Change).unwrap().unwrap();
        let new = Row { c: b"new".to_vec(), k: Some(77), ..old.clone() };
        let (old, new) = (old.encode(&t), new.encode(&t));
        let done = palisade_base::event::retry_blocking(|| client.tx.update(&t, stamp, &old, &new)).unwrap();
        assert_eq!(done, UpdateOutcome::Done);
    }
    assert_eq!(client.locks(), 0);
    // The writer's id is the lock; who comes makes it explicit.
    let mut other = Client::new(&engine, &t);
    assert_eq!(other.read_as(20, NOWAIT).unwrap_err(), Error::LockNotAvailable);
    let mut out = crate::RowBuf::new();
    let waits = other.tx.point_read(&t, 0, &key(&t, 0, 20), FOR_UPDATE, &mut out);
    assert!(matches!(waits, Err(Blocked::Wait(_))));
    assert_eq!(client.locks(), 1);
    client.commit();
    assert_eq!(other.read_as(20, FOR_UPDATE).unwrap().unwrap().0.c, b"new");
}

/// A transaction that goes on has seen the rows that it has changed, and its changes are undone, not its
/// knowledge.
#[test]
fn rows_that_a_partial_rollback_restores_stay_locked_and_inserted_ones_are_gone() {
    for isolation in [IsolationLevel::ReadCommitted, IsolationLevel::Serializable] {
        let (engine, t) = world();
        let (mut client, mut other) = (Client::with(&engine, &t, isolation), Client::new(&engine, &t));
        assert!(client.update(10, |row| row.c = b"kept".to_vec()).unwrap());
        let savepoint = client.tx.savepoint();
        for _ in 0..2 {
            assert!(client.update(10, |row| row.c = b"again".to_vec()).unwrap());
            assert!(client.update(20, |row| row.c = b"gone".to_vec()).unwrap());
        }
        assert!(client.update(30, |row| row.id = 35).unwrap());
        assert!(client.delete(40).unwrap());
        client.insert(&row(55)).unwrap();
        palisade_base::event::retry_blocking(|| client.tx.rollback_to(savepoint)).unwrap();
        assert_eq!(client.read(10).unwrap().c, b"kept");
        // 10 has its id; there are ranges in two indexes for what was inserted.
        let locks_gaps = isolation == IsolationLevel::Serializable;
        assert_eq!(client.locks(), if locks_gaps { 5 } else { 3 });
        for id in [10, 20, 30, 40] {
            assert_eq!(other.read_as(id, NOWAIT).unwrap_err(), Error::LockNotAvailable, "row {id}");
        }
        for id in [20, 30, 40] {
            assert!(other.waits_to_update(id, |row| row.c = b"x".to_vec()));
        }
        for id in [35, 55] {
            assert_eq!(other.waits_to_insert(&row(id)), locks_gaps);
        }
        assert!(other.read_as(50, NOWAIT).unwrap().is_some());
        client.commit();
        for id in [10, 20, 30, 40] {
            assert!(other.read_as(id, NOWAIT).unwrap().is_some(), "row {id}");
        }
    }
}

/// What was locked by a scan needs no lock of its own.
#[test]
fn a_partial_rollback_makes_no_lock_where_there_is_a_range() {
    let (engine, t) = world();
    let (mut client, mut other) = (Client::new(&engine, &t), Client::new(&engine, &t));
    assert_eq!(client.lock_range(0, 10, 90, ReadMode::Change).unwrap().len(), 9);
    let savepoint = client.tx.savepoint();
    for id in 1..10 {
        assert!(client.update(id * 10, |row| row.c = b"gone".to_vec()).unwrap());
    }
    palisade_base::event::retry_blocking(|| client.tx.rollback_to(savepoint)).unwrap();
    assert_eq!(client.locks(), 1);
    assert_eq!(other.read_as(50, NOWAIT).unwrap_err(), Error::LockNotAvailable);
}

/// A transaction that will have done nothing gives each row back when it is restored: who gets it sees what
/// was committed.
#[test]
fn a_whole_rollback_gives_row_after_row_back() {
    let (engine, t) = world();
    let (mut client, mut other) = (Client::new(&engine, &t), Client::new(&engine, &t));
    for id in [10, 20] {
        assert!(client.update(id, |row| row.k = Some(1000)).unwrap());
    }
    assert!(client.update(20, |row| row.c = b"again".to_vec()).unwrap());
    let is_free = |other: &mut Client, id| match other.read_as(id, NOWAIT) {
        Ok(found) => {
            let found = found.expect("the row is there").0;
            assert_eq!((found.k, found.c), (Some(id / 10), Vec::new()), "as it was committed");
            true
        }
        Err(error) => {
            assert_eq!(error, Error::LockNotAvailable);
            false
        }
    };
    let mut seen = Vec::new();
    while palisade_base::event::retry_blocking(|| {
        client.tx.trx().rollback_step().map_err(Blocked::up::<Error>)
    })
    .unwrap()
    {
        seen.push((is_free(&mut other, 20), is_free(&mut other, 10)));
        other.commit();
    }
    assert_eq!(seen.last(), Some(&(true, true)));
    assert!(seen.contains(&(false, false)), "20 was changed twice: {seen:?}");
    assert!(seen.contains(&(true, false)), "before the rollback has ended: {seen:?}");
    client.rollback();
}

#[test]
fn a_partial_rollback_that_leaves_too_many_locks_fails_and_a_whole_one_does_not() {
    let fs = memory();
    let engine = Engine::open(EngineConfig { buffer_pool_size: 1 << 20, ..quiet() }, fs).unwrap();
    create_schema(&engine);
    let t = create_table(&engine, definition("t"));
    let mut client = Client::new(&engine, &t);
    const ROWS: i64 = 5000;
    for id in 0..ROWS {
        client.insert(&row(id)).unwrap();
    }
    client.commit();
    let savepoint = client.tx.savepoint();
    for id in 0..ROWS {
        assert!(client.update(id, |row| row.c = b"x".to_vec()).unwrap());
    }
    let undone = palisade_base::event::retry_blocking(|| client.tx.rollback_to(savepoint));
    assert_eq!(undone.unwrap_err(), Error::LockTableFull);
    client.rollback();
    let mut other = Client::new(&engine, &t);
    assert_eq!(other.lock_range(0, 0, ROWS, NOWAIT).unwrap().len(), ROWS as usize);
    assert!(other.scan(0).iter().all(|row| row.c.is_empty()));
}

#[test]
fn with_snapshot_isolation_a_row_that_has_changed_is_an_error() {
    let (engine, t) = world();
    let mut late = Client::new(&engine, &t);
    late.tx.set_snapshot_isolation(true);
    assert_eq!(late.read(30).unwrap().c, b"");
    let mut early = Client::new(&engine, &t);
    early.update(30, |row| row.c = b"early".to_vec()).unwrap();
    early.delete(40).unwrap();
    early.commit();
    let changed = Error::RecordChanged("t".to_owned());
    assert_eq!(late.read_as(30, ReadMode::Change).unwrap_err(), changed);
    assert_eq!(late.read_as(30, FOR_SHARE).unwrap_err(), changed);
    assert_eq!(late.read_as(40, FOR_UPDATE).unwrap_err(), changed);
    assert_eq!(late.lock_range(0, 20, 40, FOR_UPDATE).unwrap_err(), changed);
    assert_eq!(late.lock_range(1, 2, 4, FOR_UPDATE).unwrap_err(), changed);
    assert!(late.update(20, |row| row.c = b"late".to_vec()).unwrap(), "an unchanged row");
    late.rollback();
    late.tx.set_snapshot_isolation(false);
    assert_eq!(late.read(20).unwrap().c, b"");
    early.update(50, |row| row.c = b"early".to_vec()).unwrap();
    early.commit();
    assert!(late.update(50, |row| row.c.extend(b" and late")).unwrap());
    assert_eq!(late.read(50).unwrap().c, b"early and late");
}

/// A reader locks ranges and counts; writers insert and delete everywhere, so that leaves split and merge and
/// purge passes by. Whatever was counted under a lock is counted again at its end.
#[test]
fn no_phantom_appears_in_a_locked_range() {
    let seed = test_seed(17);
    let fs = memory();
    let engine = Engine::open(config(), fs).unwrap();
    create_schema(&engine);
    let t = create_table(&engine, definition("t"));
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writers: Vec<_> = (0..2)
        .map(|number| {
            let (engine, t, stop) = (engine.clone(), t.clone(), stop.clone());
            std::thread::spawn(move || {
                let mut prng = Prng::new(seed + number);
                let mut done = 0;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let mut client = Client::new(&engine, &t);
                    let id = prng.below(400) as i64;
                    let text = vec![1; prng.below(400) as usize];
                    let outcome = match prng.below(3) {
                        0 => client.delete(id).map(drop),
                        1 => client.update(id, |row| row.k = Some(id % 40 + 1)).map(drop),
                        _ => client.insert(&Row::new(id, id % 40, None, &text)),
                    };
                    match outcome {
                        Ok(()) => {
                            client.commit();
                            done += 1;
                        }
                        Err(Error::Deadlock | Error::DuplicateKey { .. }) => client.rollback(),
                        Err(error) => panic!("{error}"),
                    }
                }
                done
            })
        })
        .collect();
    let mut prng = Prng::new(seed + 100);
    let mut compared = 0;
    for round in 0..150 {
        let isolation =
            if round % 2 == 0 { IsolationLevel::RepeatableRead } else { IsolationLevel::Serializable };
        let mut reader = Client::with(&engine, &t, isolation);
        let mode = match isolation {
            IsolationLevel::Serializable => ReadMode::Snapshot,
            _ => *prng.pick(&[FOR_UPDATE, FOR_SHARE, ReadMode::Change]),
        };
        let (index, most) = *prng.pick(&[(0, 400), (1, 40)]);
        let from = prng.below(most) as i64;
        let to = from + prng.below(most / 4) as i64;
        let direction = *prng.pick(&[Direction::Forward, Direction::Backward]);
        let first = reader.scan_range(index, range(&t, index, from, to), direction, mode);
        let Ok(first) = first else {
            assert_eq!(first.unwrap_err(), Error::Deadlock);
            reader.rollback();
            continue;
        };
        std::thread::sleep(std::time::Duration::from_micros(prng.below(2000)));
        let again = reader.scan_range(index, range(&t, index, from, to), direction, mode);
        assert_eq!(again.as_ref(), Ok(&first), "{isolation:?} {mode:?} index {index} {from}..={to}");
        compared += 1;
        reader.commit();
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let done: u64 = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
    assert!(done > 100 && compared > 50, "{done} changes, {compared} ranges");
    while engine.history_length() > 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    check(&engine, &t);
}

fn savepoint_rolled_back(client: &mut Client, change: impl FnOnce(&mut Client)) {
    // Something stays, so that the transaction goes on.
    assert!(client.read_as(90, FOR_SHARE).unwrap().is_some());
    let start = client.tx.savepoint();
    change(client);
    palisade_base::event::retry_blocking(|| client.tx.rollback_to(start)).unwrap();
}

/// Whoever has inserted something knows that it was not there.
#[test]
fn what_was_inserted_and_taken_back_is_inserted_by_nobody_else() {
    for isolation in
        [IsolationLevel::ReadCommitted, IsolationLevel::RepeatableRead, IsolationLevel::Serializable]
    {
        let locks_gaps = isolation > IsolationLevel::ReadCommitted;
        let (engine, t) = world();
        let mut client = Client::with(&engine, &t, isolation);
        savepoint_rolled_back(&mut client, |client| client.insert(&Row::new(15, 1, Some(16), b"")).unwrap());
        // A statement that fails at its second row, or at its second index.
        savepoint_rolled_back(&mut client, |client| {
            client.insert(&Row::new(25, 2, None, b"")).unwrap();
            assert!(matches!(client.insert(&row(30)), Err(Error::DuplicateKey { index: 0 })));
        });
        assert!(matches!(
            client.insert(&Row::new(35, 3, Some(40), b"")),
            Err(Error::DuplicateKey { index: 2 })
        ));
        // A unique value that a row had for a while.
        savepoint_rolled_back(&mut client, |client| {
            assert!(client.update(50, |row| row.u = Some(55)).unwrap());
        });
        // A row and its unique value in the place of one deleted before and not purged.
        let mut deleting = Client::new(&engine, &t);
        assert!(deleting.delete(60).unwrap());
        deleting.commit();
        savepoint_rolled_back(&mut client, |client| client.insert(&row(60)).unwrap());

        let mut other = Client::new(&engine, &t);
        let taken = [
            (15, None),
            (115, Some(16)),
            (25, None),
            (35, None),
            (155, Some(55)),
            (60, None),
            (160, Some(60)),
        ];
        for (id, u) in taken {
            assert_eq!(
                other.waits_to_insert(&Row::new(id, 0, u, b"")),
                locks_gaps,
                "{isolation:?}: {id}, {u:?}"
            );
        }
        for (id, u) in
            [(14, Some(15)), (16, Some(17)), (24, None), (26, Some(25)), (36, Some(35)), (61, Some(61))]
        {
            assert!(!other.waits_to_insert(&Row::new(id, 1, u, b"")), "{isolation:?}: {id}, {u:?}");
        }
        other.rollback();
        // It may do that again, and then it is a row.
        client.insert(&Row::new(15, 1, Some(16), b"")).unwrap();
        client.rollback();
        for (id, u) in taken {
            assert!(!other.waits_to_insert(&Row::new(id, 0, u, b"")), "{isolation:?}: {id}, {u:?}");
        }
    }
}

#[test]
fn places_that_follow_each_other_take_few_ranges() {
    let (engine, t) = world();
    let mut client = Client::new(&engine, &t);
    savepoint_rolled_back(&mut client, |client| {
        (100..1000).for_each(|id| client.insert(&row(id)).unwrap());
    });
    let is_range = |what: &palisade_txn::Locked| matches!(what, palisade_txn::Locked::Range(..));
    let ranges = engine.row_locks().into_iter().filter(|lock| is_range(&lock.what));
    let ranges: Vec<_> = ranges.map(|lock| lock.index).collect();
    // One for each 256 numbers, which have all bytes but the last in common.
    assert_eq!(ranges, [0, 0, 0, 0, 2, 2, 2, 2], "of the primary key and of the unique index");
    let mut other = Client::new(&engine, &t);
    assert!(other.waits_to_insert(&Row::new(500, 1, None, b"")));
    assert!(other.waits_to_insert(&Row::new(5000, 1, Some(500), b"")));
    assert!(!other.waits_to_insert(&row(1000)) && !other.waits_to_insert(&row(99)));
}

#[test]
fn deadlocks_are_told_with_what_each_has_and_wants() {
    let (engine, t) = world();
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let own = told.clone();
    engine.on_deadlock(move |deadlock| own.lock().unwrap().push(deadlock.clone()));
    let (mut busy, mut idle) = (Client::new(&engine, &t), Client::new(&engine, &t));
    for id in [10, 20] {
        assert!(busy.update(id, |row| row.c = b"changed".to_vec()).unwrap());
    }
    assert!(idle.update(30, |row| row.c = b"changed".to_vec()).unwrap());
    let read = |client: &mut Client, id| {
        let key = key(&t, 0, id);
        client.tx.point_read(&t, 0, &key, ReadMode::Current, &mut crate::RowBuf::new())
    };
    assert!(matches!(read(&mut busy, 30), Err(Blocked::Wait(_))));
    assert!(told.lock().unwrap().is_empty(), "nobody waits for who waits");
    assert!(matches!(read(&mut idle, 10), Err(Blocked::Error(Error::Deadlock))));
    let told = std::mem::take(&mut *told.lock().unwrap());
    let [deadlock] = told.as_slice() else { panic!("{told:?}") };
    let seen = deadlock.parties.iter().map(|party| {
        let held = party.held.as_ref().unwrap();
        let ours = [&party.awaited, held].map(|lock| {
            assert_eq!(
                (lock.session, lock.table.as_ref().unwrap().name.as_str()),
                (party.transaction.session, "t")
            );
            assert_eq!((lock.index, lock.transaction), (0, party.transaction.id));
            lock.what.clone()
        });
        (party.is_victim, ours)
    });
    let row = |id| palisade_txn::Locked::Key(key(&t, 0, id).into());
    // From the one that closed the circle.
    let expected = [(true, [row(10), row(30)]), (false, [row(30), row(10)])];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
}
