//! Many transactions that write at once.

use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_io::{CrashKeeps, FaultFileSystem};

use super::harness::Store;
use crate::{RowChange, RowOutcome};

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
