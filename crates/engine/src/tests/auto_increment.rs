//! Which statements wait for which others' AUTO_INCREMENT values.

use std::sync::Arc;

use palisade_base::Blocked;

use super::harness::*;
use crate::{AutoIncrementLockMode, Engine, EngineConfig, Error, ReadMode, RowsToCome, Table};

const KNOWN: RowsToCome = RowsToCome::Known(1);
const UNKNOWN: RowsToCome = RowsToCome::Unknown;

fn world(mode: AutoIncrementLockMode) -> (Arc<Engine>, Arc<Table>) {
    let config = EngineConfig { auto_increment_lock_mode: mode, ..quiet() };
    let engine = Engine::open(config, memory()).unwrap();
    create_schema(&engine);
    let table = create_table(&engine, definition("t"));
    (engine, table)
}

/// The value that a statement gets; `None` if it has to wait.
fn take(client: &mut Client, rows: RowsToCome) -> Option<u64> {
    match client.tx.reserve_auto_increment(&client.table, rows, 1, (1, 1)) {
        Ok(value) => Some(value),
        Err(Blocked::Wait(_)) => None,
        Err(Blocked::Error(error)) => panic!("{error}"),
    }
}

#[test]
fn a_statement_waits_for_others_as_the_mode_says() {
    use AutoIncrementLockMode::{Consecutive, Interleaved, Traditional};
    for (mode, first, second, waits) in [
        (Traditional, KNOWN, KNOWN, true),
        (Traditional, UNKNOWN, KNOWN, true),
        (Traditional, KNOWN, UNKNOWN, true),
        (Consecutive, KNOWN, KNOWN, false),
        (Consecutive, UNKNOWN, KNOWN, true),
        (Consecutive, UNKNOWN, UNKNOWN, true),
        (Interleaved, UNKNOWN, UNKNOWN, false),
    ] {
        let told = format!("{mode:?}: {first:?}, {second:?}");
        let (engine, table) = world(mode);
        let (mut one, mut two) = (Client::new(&engine, &table), Client::new(&engine, &table));
        assert_eq!(take(&mut one, first), Some(1), "{told}");
        assert_eq!(take(&mut two, second), if waits { None } else { Some(2) }, "{told}");
        let next = if waits { 2 } else { 3 };
        assert_eq!(take(&mut one, first), Some(next), "{told}");
        // The statement ends, its transaction does not.
        one.tx.release_auto_increment();
        assert_eq!(take(&mut two, second), Some(next + 1), "{told}");
        two.commit();
        assert_eq!(take(&mut one, first), Some(next + 2), "{told}");
        one.commit();
    }
}

#[test]
fn who_could_go_on_without_the_lock_stands_in_line_with_those_who_want_it() {
    let (engine, table) = world(AutoIncrementLockMode::Consecutive);
    let mut clients: Vec<Client> = (0..3).map(|_| Client::new(&engine, &table)).collect();
    assert_eq!(take(&mut clients[0], UNKNOWN), Some(1));
    assert_eq!(take(&mut clients[1], UNKNOWN), None);
    assert_eq!(take(&mut clients[2], KNOWN), None);
    clients[0].tx.release_auto_increment();
    assert_eq!(take(&mut clients[2], KNOWN), None, "the second came first");
    assert_eq!(take(&mut clients[1], UNKNOWN), Some(2));
    clients[1].rollback();
    assert_eq!(take(&mut clients[2], KNOWN), Some(3));
}

#[test]
fn a_value_that_moves_the_counter_waits_and_one_that_does_not_goes_on() {
    let (engine, table) = world(AutoIncrementLockMode::Consecutive);
    table.note_auto_increment(100).unwrap();
    let (mut one, mut two) = (Client::new(&engine, &table), Client::new(&engine, &table));
    assert_eq!(take(&mut one, UNKNOWN), Some(101));
    assert!(two.tx.note_auto_increment(&table, KNOWN, 50).is_ok());
    assert!(matches!(two.tx.note_auto_increment(&table, KNOWN, 500), Err(Blocked::Wait(_))));
    assert_eq!(take(&mut one, UNKNOWN), Some(102));
    one.tx.release_auto_increment();
    two.tx.note_auto_increment(&table, KNOWN, 500).unwrap();
    assert_eq!(take(&mut one, KNOWN), None, "it has the lock in its turn");
    two.tx.release_auto_increment();
    assert_eq!(take(&mut one, KNOWN), Some(501));
}

#[test]
fn a_wait_that_is_given_up_leaves_nothing() {
    let (engine, table) = world(AutoIncrementLockMode::Traditional);
    let mut clients: Vec<Client> = (0..3).map(|_| Client::new(&engine, &table)).collect();
    assert_eq!(take(&mut clients[0], KNOWN), Some(1));
    assert_eq!(take(&mut clients[1], KNOWN), None);
    assert_eq!(take(&mut clients[2], KNOWN), None);
    clients[1].tx.cancel_wait();
    clients[1].tx.release_auto_increment();
    clients[0].tx.release_auto_increment();
    // Granted, and given up without having been asked for again.
    clients[2].tx.cancel_wait();
    clients[2].tx.release_auto_increment();
    assert_eq!(take(&mut clients[1], KNOWN), Some(2));
}

#[test]
fn a_circle_through_a_counter_and_a_row_is_a_deadlock() {
    let (engine, table) = world(AutoIncrementLockMode::Consecutive);
    let mut bulk = Client::new(&engine, &table);
    for id in 1..=3 {
        bulk.insert(&Row::new(id, 1, None, b"")).unwrap();
    }
    bulk.commit();
    let mut other = Client::new(&engine, &table);
    // It has less to lose.
    other.update(1, |row| row.c = vec![7]).unwrap();
    bulk.update(2, |row| row.c = vec![7]).unwrap();
    bulk.update(3, |row| row.c = vec![7]).unwrap();
    assert_eq!(take(&mut bulk, UNKNOWN), Some(1));
    assert_eq!(take(&mut other, KNOWN), None);
    let told = Arc::new(std::sync::Mutex::new(None));
    let own = told.clone();
    engine.on_deadlock(move |deadlock| *own.lock().unwrap() = Some(deadlock.clone()));
    let row = key(&table, 0, 1);
    let attempt = bulk.tx.point_read(&table, 0, &row, ReadMode::Current, &mut crate::RowBuf::new());
    assert!(matches!(attempt, Err(Blocked::Wait(_))));
    let refused = other.tx.reserve_auto_increment(&table, KNOWN, 1, (1, 1));
    assert!(matches!(refused, Err(Blocked::Error(Error::Deadlock))));
    let deadlock = told.lock().unwrap().take().unwrap();
    let places = deadlock.parties.iter().map(|party| {
        let held = party.held.as_ref().unwrap();
        assert!(!party.awaited.granted && held.granted && party.awaited.table.as_ref().unwrap().name == "t");
        (party.is_victim, party.awaited.is_counter, held.is_counter)
    });
    // From the one that closed the circle.
    assert_eq!(places.collect::<Vec<_>>(), [(false, false, true), (true, true, false)]);
    other.rollback();
    assert_eq!(take(&mut bulk, UNKNOWN), Some(2));
}

/// Those who do not know how many rows come have values without gaps, whatever others do meanwhile.
#[test]
fn values_of_one_statement_follow_each_other_whoever_else_inserts() {
    const STATEMENTS: usize = 60;
    let (engine, table) = world(AutoIncrementLockMode::Consecutive);
    let work = |rows: RowsToCome| {
        let (engine, table) = (engine.clone(), table.clone());
        move || {
            let mut client = Client::new(&engine, &table);
            let mut taken = Vec::new();
            for _ in 0..STATEMENTS {
                let values: Vec<u64> = (0..if rows == UNKNOWN { 20 } else { 1 })
                    .map(|_| {
                        let take = || client.tx.reserve_auto_increment(&table, rows, 1, (1, 1));
                        palisade_base::event::retry_blocking(take).unwrap()
                    })
                    .collect();
                client.tx.release_auto_increment();
                assert!(values.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{values:?}");
                taken.extend(values);
            }
            client.commit();
            taken
        }
    };
    let threads: Vec<_> = [UNKNOWN, KNOWN, UNKNOWN, KNOWN].map(|rows| std::thread::spawn(work(rows))).into();
    let mut all: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "a value was given twice");
    assert_eq!(all.len(), 2 * STATEMENTS * 21);
}

/// A table that is only there costs neither log nor pages written when the engine is opened and shut down;
/// one whose values were taken in advance gives them back.
#[test]
fn a_shutdown_writes_the_counters_of_those_tables_only_that_do_not_say_them() {
    let fs = memory();
    let next = |engine: &Arc<Engine>| take(&mut Client::new(engine, &table(engine, "t")), KNOWN);
    let engine = open(&fs);
    create_schema(&engine);
    create_table(&engine, definition("t"));
    assert_eq!(next(&engine), Some(1));
    let shut_down = |engine: Arc<Engine>| {
        engine.shutdown().unwrap();
        engine.log.tail()
    };
    let first = shut_down(engine);
    assert_eq!(shut_down(open(&fs)), first, "nothing was taken");
    let engine = open(&fs);
    assert_eq!(next(&engine), Some(2), "what was taken in advance came back");
    assert!(shut_down(engine) > first);
}
