//! XA: what is prepared stays as it is, with its locks, until somebody names it.

use std::sync::Arc;

use palisade_base::Blocked;

use super::harness::*;
use crate::{Engine, ExclusiveLock, LockMode, LockWait, ReadMode, Table, TableName, XaEnd, Xid};

const NOWAIT: ReadMode = ReadMode::Locked(LockMode::Exclusive, LockWait::NoWait);

fn xid(gtrid: &str, bqual: &str, format: u64) -> Xid {
    Xid { format, gtrid: gtrid.as_bytes().to_vec(), bqual: bqual.as_bytes().to_vec() }
}

/// Changes row 1, deletes row 2 and inserts row 4.
fn prepare(engine: &Arc<Engine>, table: &Arc<Table>, name: &Xid) {
    let branch = engine.xa_start(name.clone()).unwrap();
    let mut client = Client::new(engine, table);
    client.update(1, |row| row.k = Some(100)).unwrap();
    client.delete(2).unwrap();
    client.insert(&Row::new(4, 4, None, &[4; 50_000])).unwrap();
    wait(client.tx.prepare(branch)).unwrap();
}

fn ids(client: &mut Client, index: usize) -> Vec<(i64, Option<i64>)> {
    client.scan(index).into_iter().map(|row| (row.id, row.k)).collect()
}

fn is_locked(engine: &Arc<Engine>, table: &Arc<Table>, id: i64) -> bool {
    Client::new(engine, table).read_as(id, NOWAIT).is_err()
}

fn may_be_redefined(engine: &Arc<Engine>, table: &str) -> bool {
    let mut lock = ExclusiveLock::new(engine, [TableName::new("test", table)]);
    !matches!(lock.acquire(), Err(Blocked::Wait(_)))
}

#[test]
fn a_prepared_transaction_survives_crashes_and_ends_as_it_is_told_to() {
    for (how, expected) in [
        (XaEnd::Commit, vec![(1, Some(100)), (3, Some(3)), (4, Some(4))]),
        (XaEnd::Rollback, vec![(1, Some(1)), (2, Some(2)), (3, Some(3))]),
    ] {
        let (fs, engine, t) = new_engine();
        create_table(&engine, definition("other"));
        let mut client = Client::new(&engine, &t);
        for id in 1..4 {
            client.insert(&Row::new(id, id, Some(id), b"")).unwrap();
        }
        client.commit();
        let before = ids(&mut client, 0);
        drop(client);
        let name = xid("global", "branch", 7);
        prepare(&engine, &t, &name);
        crash(engine);
        drop(t);
        for _ in 0..2 {
            let engine = open(&fs);
            let t = table(&engine, "t");
            assert_eq!(engine.xa_prepared(), std::slice::from_ref(&name));
            assert_eq!(engine.rollback_step().unwrap(), 0, "it is not rolled back by itself");
            while engine.purge_step().unwrap() {}
            assert_eq!(ids(&mut Client::new(&engine, &t), 0), before);
            for id in [1, 2, 4] {
                assert!(is_locked(&engine, &t, id), "row {id}");
            }
            assert!(!is_locked(&engine, &t, 3));
            assert!(!may_be_redefined(&engine, "t"));
            assert!(may_be_redefined(&engine, "other"), "only what it uses is kept from others");
            engine.shutdown().unwrap();
        }
        let engine = open(&fs);
        let t = table(&engine, "t");
        assert!(!wait(engine.xa_end(&xid("global", "branch", 8), how)).unwrap());
        assert!(!wait(engine.xa_end(&xid("global", "", 7), how)).unwrap());
        assert!(wait(engine.xa_end(&name, how)).unwrap());
        assert!(!wait(engine.xa_end(&name, how)).unwrap(), "once");
        assert!(engine.xa_prepared().is_empty());
        assert!(may_be_redefined(&engine, "t"));
        crash(engine);
        drop(t);
        let engine = open(&fs);
        let t = table(&engine, "t");
        assert!(engine.xa_prepared().is_empty(), "that it has ended is durable");
        assert_eq!(engine.rollback_step().unwrap(), 0);
        let mut client = Client::new(&engine, &t);
        for index in 0..3 {
            let mut found = ids(&mut client, index);
            found.sort();
            assert_eq!(found, expected, "{how:?}, index {index}");
        }
        drop(client);
        while engine.purge_step().unwrap() {}
        check(&engine, &t);
    }
}

#[test]
fn a_name_is_taken_until_its_transaction_has_ended() {
    let (_, engine, t) = new_engine();
    let mut client = Client::new(&engine, &t);
    for id in 1..4 {
        client.insert(&Row::new(id, id, None, b"")).unwrap();
    }
    client.commit();
    let name = xid("a", "b", 1);
    let branch = engine.xa_start(name.clone()).unwrap();
    assert!(engine.xa_start(name.clone()).is_none());
    assert!(engine.xa_start(xid("a", "b", 2)).is_none(), "whatever the format");
    let other = engine.xa_start(xid("ab", "", 1)).unwrap();
    assert!(engine.xa_prepared().is_empty());
    assert!(!wait(engine.xa_end(&name, XaEnd::Rollback)).unwrap(), "it is its session's");
    drop((branch, other));
    prepare(&engine, &t, &name);
    assert!(engine.xa_start(name.clone()).is_none());
    assert_eq!(engine.xa_prepared(), std::slice::from_ref(&name));
    assert!(wait(engine.xa_end(&name, XaEnd::Commit)).unwrap());
    drop(engine.xa_start(name).unwrap());
}

#[test]
fn one_that_uses_more_tables_than_are_noted_keeps_all_of_them() {
    let (fs, engine, t) = new_engine();
    let name = xid("many", "", 1);
    let branch = engine.xa_start(name.clone()).unwrap();
    let mut client = Client::new(&engine, &t);
    for number in 0..20 {
        client.table = create_table(&engine, definition(&format!("t{number}")));
        client.insert(&Row::new(1, 1, None, b"")).unwrap();
    }
    wait(client.tx.prepare(branch)).unwrap();
    crash(engine);
    drop((t, client.table));
    let engine = open(&fs);
    assert!(!may_be_redefined(&engine, "t19") && !may_be_redefined(&engine, "t0"));
    assert!(wait(engine.xa_end(&name, XaEnd::Commit)).unwrap());
    assert!(may_be_redefined(&engine, "t19"));
    assert_eq!(Client::new(&engine, &table(&engine, "t19")).scan(0).len(), 1);
}
