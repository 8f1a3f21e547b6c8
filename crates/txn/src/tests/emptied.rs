//! Leaves that are emptied while their neighbours are not in memory.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_btree::{Direction, ScanEnd, verify};
use palisade_io::FaultFileSystem;

use super::harness::{Store, longest_value};
use crate::planted::{self, Planted};
use crate::{RowChange, RowOutcome, Stamp, Trx};

type Row = (Vec<u8>, Stamp);

fn insert(store: &Store, trx: &mut Trx, key: Vec<u8>) -> Row {
    let row = vec![7; longest_value()];
    let insert = RowChange::Insert { flags: 0, row: &row };
    match retry_blocking(|| trx.change_row(&store.clustered, &key, insert)).unwrap() {
        RowOutcome::Done(stamp) => (key, stamp),
        other => panic!("{other:?}"),
    }
}

fn delete(store: &Store, trx: &mut Trx, (key, expected): &Row) {
    let delete = RowChange::Delete { expected: *expected, released: None };
    let outcome = retry_blocking(|| trx.change_row(&store.clustered, key, delete)).unwrap();
    assert!(matches!(outcome, RowOutcome::Done(_)));
}

fn commit(store: &Store, trx: &mut Trx) {
    retry_blocking(|| trx.commit()).unwrap();
    store.flush();
}

fn purge(store: &Store) {
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    assert_eq!(store.system.history_length(), 0);
}

/// The keys of each leaf.
fn leaves(store: &Store) -> Vec<Vec<Vec<u8>>> {
    let (mut leaves, mut from) = (Vec::new(), Bound::Unbounded);
    loop {
        let mut keys = Vec::new();
        let end = retry_blocking(|| {
            keys.clear();
            store.clustered.scan(from.as_ref().map(Vec::as_slice), Direction::Forward, |key, _| {
                keys.push(key.to_vec());
                ControlFlow::Continue(())
            })
        });
        leaves.push(keys);
        match end.unwrap() {
            ScanEnd::Continue { separator, .. } => from = Bound::Included(separator.to_vec()),
            ScanEnd::Exhausted | ScanEnd::Stopped => return leaves,
        }
    }
}

/// A store whose every second leaf but one has one row, which is given, between full ones that it cannot be
/// merged with. Where `of_another` says so, that row has been added by a transaction that is given and open.
fn every_second_nearly_empty(fs: &Arc<FaultFileSystem>, of_another: bool) -> (Store, Trx, Vec<Row>) {
    let store = Store::create(fs);
    let (mut trx, mut other) = (store.system.begin(), store.system.begin());
    let rows: Vec<Row> =
        (0..160u32).map(|n| insert(&store, &mut trx, (8 * n).to_be_bytes().to_vec())).collect();
    commit(&store, &mut trx);
    let mut left = Vec::new();
    for leaf in leaves(&store).iter().skip(1).step_by(2) {
        let mut of_leaf: Vec<&Row> = rows.iter().filter(|(key, _)| leaf.contains(key)).collect();
        let first = of_leaf.remove(0);
        for row in of_leaf {
            delete(&store, &mut trx, row);
        }
        commit(&store, &mut trx);
        purge(&store);
        if of_another {
            left.push(insert(&store, &mut other, [&first.0[..], b"+"].concat()));
            delete(&store, &mut trx, first);
            commit(&store, &mut trx);
            purge(&store);
        } else {
            left.push(first.clone());
        }
    }
    let nearly_empty = leaves(&store).iter().filter(|leaf| leaf.len() == 1).count();
    assert!(nearly_empty >= left.len() && left.len() >= 15, "{nearly_empty} of {}", left.len());
    store.flush();
    store.pool.checkpoint_sharply().unwrap();
    (store, other, left)
}

/// Every leaf has rows, and the tree is sound.
fn assert_no_leaf_is_empty(store: &Store, expected_rows: usize) {
    let leaves = leaves(store);
    assert_eq!(leaves.iter().map(Vec::len).sum::<usize>(), expected_rows);
    let empty = leaves.iter().filter(|leaf| leaf.is_empty()).count();
    assert_eq!(empty, 0, "of {} leaves", leaves.len());
    let report = verify::verify_tree(&store.clustered).unwrap();
    assert!(report.damage.is_empty(), "{:?}", report.damage);
    assert_eq!(report.leaf_pages as usize, leaves.len());
}

/// A restart has nothing in memory: the neighbours are read when a leaf has been emptied.
#[test]
fn purge_merges_what_it_empties_although_the_neighbours_have_to_be_read() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (store, other, left) = every_second_nearly_empty(&fs, false);
    let rows = leaves(&store).iter().map(Vec::len).sum::<usize>();
    drop((store, other));
    let (store, in_flight) = Store::recover(&fs);
    assert!(in_flight.is_empty());
    let mut trx = store.system.begin();
    for row in &left {
        delete(&store, &mut trx, row);
    }
    commit(&store, &mut trx);
    purge(&store);
    assert_no_leaf_is_empty(&store, rows - left.len());
}

#[test]
fn rollback_merges_what_it_empties_although_the_neighbours_have_to_be_read() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let (store, other, left) = every_second_nearly_empty(&fs, true);
    let rows = leaves(&store).iter().map(Vec::len).sum::<usize>();
    drop((store, other));
    let (store, mut in_flight) = Store::recover(&fs);
    assert_eq!(in_flight.len(), 1);
    retry_blocking(|| in_flight[0].rollback()).unwrap();
    assert_no_leaf_is_empty(&store, rows - left.len());
}

/// The canary of both: what waits is forgotten.
#[test]
fn emptied_leaves_that_are_forgotten_are_found() {
    planted::plant(&[Planted::EmptiedLeafIsForgotten]);
    let tests = [
        purge_merges_what_it_empties_although_the_neighbours_have_to_be_read,
        rollback_merges_what_it_empties_although_the_neighbours_have_to_be_read,
    ];
    let found = tests.map(|test| std::panic::catch_unwind(test).is_err());
    planted::plant(&[]);
    assert_eq!(found, [true, true]);
}
