//! Many transactions at one row, each of which changes nothing else.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use palisade_base::event::retry_blocking;
use palisade_io::FaultFileSystem;

use super::harness::Store;
use crate::{Error, Gaps, LockedRow, Locking, RowChange, RowOutcome, TrxSystem};

const KEY: &[u8] = b"hot";

/// One transaction that adds one to the row. The error is a deadlock's.
fn add_one(system: &Arc<TrxSystem>, store: &Store) -> Result<(), Error> {
    let mut trx = system.begin();
    let mut row = Vec::new();
    // At first without a lock; who finds the row changed meanwhile queues for it.
    let mut contended = false;
    let outcome = loop {
        let header = match contended {
            false => retry_blocking(|| trx.read_current(&store.clustered, KEY, Gaps::Open, &mut row)),
            true => retry_blocking(|| trx.read_locked(&store.clustered, KEY, Locking::ROWS, &mut row)).map(
                |found| match found {
                    LockedRow::Row { header, .. } => Some(header),
                    _ => None,
                },
            ),
        };
        let expected = match header {
            Ok(header) => header.expect("the row is there").stamp(),
            Err(error) => break Err(error),
        };
        let next = u64::from_le_bytes(row[..].try_into().unwrap()) + 1;
        let row = next.to_le_bytes();
        let change = RowChange::Update { expected, flags: 0, row: &row, released: None };
        match retry_blocking(|| trx.change_row(&store.clustered, KEY, change)) {
            Ok(RowOutcome::Done(_)) => break Ok(()),
            Ok(RowOutcome::Changed) => contended = true,
            Ok(RowOutcome::Duplicate) => unreachable!("an update finds no duplicate"),
            Err(error) => break Err(error),
        }
    };
    match outcome {
        Ok(()) => {
            // Time for the others to come and queue.
            std::thread::yield_now();
            retry_blocking(|| trx.commit()).map(|_| ())
        }
        Err(error) => {
            retry_blocking(|| trx.rollback()).unwrap();
            Err(error)
        }
    }
}

#[test]
fn updates_of_one_row_wait_for_each_other_and_never_deadlock() {
    const SESSIONS: usize = 4;
    const ROUNDS: usize = 400;
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Arc::new(Store::create(&fs));
    let mut trx = store.system.begin();
    let change = RowChange::Insert { flags: 0, row: &0u64.to_le_bytes() };
    assert!(matches!(
        retry_blocking(|| trx.change_row(&store.clustered, KEY, change)),
        Ok(RowOutcome::Done(_))
    ));
    retry_blocking(|| trx.commit()).unwrap();
    let done: Arc<[AtomicUsize; SESSIONS]> = Arc::default();
    let all_there = Arc::new(Barrier::new(SESSIONS));
    let threads: Vec<_> = (0..SESSIONS)
        .map(|session| {
            let (store, done, all_there) = (store.clone(), done.clone(), all_there.clone());
            std::thread::spawn(move || {
                all_there.wait();
                // Until one has done its rounds, so that there are others at the row all the time.
                let mut deadlocks = 0;
                while done.iter().all(|done| done.load(Ordering::Relaxed) < ROUNDS) {
                    match add_one(&store.system, &store) {
                        Ok(()) => drop(done[session].fetch_add(1, Ordering::Relaxed)),
                        Err(Error::Deadlock) => deadlocks += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
                deadlocks
            })
        })
        .collect();
    let deadlocks: Vec<usize> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(deadlocks, [0; SESSIONS]);
    let done = done.each_ref().map(|done| done.load(Ordering::Relaxed));
    // How even they are is the threads' scheduling: who comes while nobody waits need not queue. The order of those who
    // do queue is model-checked in `locks`.
    let mut reader = store.system.begin();
    let mut row = Vec::new();
    let found = retry_blocking(|| reader.read_snapshot(&store.clustered, KEY, &mut row)).unwrap();
    assert!(found.is_some());
    assert_eq!(row, (done.iter().sum::<usize>() as u64).to_le_bytes(), "no update is lost");
}
