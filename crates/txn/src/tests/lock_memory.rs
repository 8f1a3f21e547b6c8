//! The lock table within its limit: who is refused, who goes on, and that what was released can be had again.

use crate::error::Error;
use crate::locks::ranges::Cut;
use crate::locks::{Heed, LockTable, Mode, Request, TryLock};
use crate::sessions::SessionNo;

const INDEX: u64 = 7;
const LIMIT: u64 = 1 << 20;
const LARGE: SessionNo = SessionNo(1);
const SMALL: SessionNo = SessionNo(2);
const LATE: SessionNo = SessionNo(3);

fn table() -> LockTable {
    let table = LockTable::default();
    table.set_memory_limit(LIMIT);
    table
}

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

/// Locks rows from `first` on, as many as there is room for.
fn fill(table: &LockTable, session: SessionNo, first: u32) -> u32 {
    let refused = (first..first + 1_000_000).find(|number| {
        let answer = table.try_lock_row(session, INDEX, &key(*number), Mode::Exclusive);
        assert_ne!(answer, TryLock::No, "row {number}");
        answer == TryLock::Full
    });
    let refused = refused.expect("there is a limit");
    assert_eq!(table.try_lock_row(session, INDEX, &key(refused), Mode::Exclusive), TryLock::Full);
    refused - first
}

fn lock_range(table: &LockTable, session: SessionNo, number: u32) -> Result<(), Error> {
    table.begin_range(session, INDEX, Mode::Shared).add(Cut::before(&key(number)), Cut::after(&key(number)))
}

#[test]
fn a_session_with_many_rows_is_refused_and_one_with_few_goes_on() {
    let table = table();
    let rows = fill(&table, LARGE, 0);
    assert!(rows > 2000, "{rows} rows in {LIMIT} bytes");
    assert!(table.memory() <= LIMIT && table.memory() > LIMIT * 3 / 4, "{}", table.memory());
    table.check_memory();
    // What it has it may ask for again.
    assert_eq!(table.try_lock_row(LARGE, INDEX, &key(0), Mode::Exclusive), TryLock::Already);
    let again = table.lock(LARGE, INDEX, &key(0), Mode::Exclusive, None);
    assert!(matches!(again, Request::Granted));

    let few = fill(&table, SMALL, 2_000_000);
    assert!((10..200).contains(&few), "{few} rows");
    assert!(matches!(table.lock(LATE, INDEX, &key(1), Mode::Shared, None), Request::Wait(_)));
    assert!(matches!(table.lock(LARGE, INDEX, b"one more", Mode::Shared, None), Request::Full));
    table.check_memory();

    table.release_all(LARGE);
    assert_eq!(table.session_locks(LATE), (1, false), "it has what it waited for");
    table.check_memory();
    let next = fill(&table, LATE, 0);
    assert!(next > rows * 3 / 4, "{next} rows after {rows}");
    table.release_all(SMALL);
    table.release_all(LATE);
    assert_eq!(table.memory(), 0);
}

#[test]
fn ranges_count_and_one_that_grows_is_one() {
    let table = table();
    let refused = (0..1_000_000).find(|number| lock_range(&table, LARGE, 2 * number).is_err());
    let refused = refused.expect("there is a limit");
    assert!(refused > 1000, "{refused} ranges in {LIMIT} bytes");
    table.check_memory();
    assert!(matches!(lock_range(&table, LARGE, 2 * refused), Err(Error::LockTableFull)));
    assert!(lock_range(&table, SMALL, 0).is_ok());
    assert!(matches!(table.lock(LARGE, INDEX, b"row", Mode::Shared, None), Request::Full));
    table.release_all(LARGE);
    // A million rows, leaf by leaf.
    for number in 0..10_000 {
        let (from, to) = (Cut::before(&key(number * 100)), Cut::before(&key(number * 100 + 100)));
        table.begin_range(LARGE, INDEX, Mode::Exclusive).add(from, to).unwrap();
    }
    assert!(table.memory() < 8192, "{}", table.memory());
    table.check_memory();
    table.release_all(LARGE);
    table.release_all(SMALL);
    assert_eq!(table.memory(), 0);
}

/// Whoever meets ranges makes them explicit: each of many inserts one more lock of the range's owner, whose number is not his doing.
#[test]
fn locks_made_explicit_for_others_are_paid_by_who_asks() {
    let table = table();
    let whole = |session| table.begin_range(session, INDEX, Mode::Shared).add(Cut::start(), Cut::End);
    whole(SMALL).unwrap();
    let mut asked = 0;
    loop {
        let insert = table.lock_heeding(LATE, INDEX, &key(asked), Mode::Insert, Heed::Ranges, None);
        if matches!(insert, Request::Full) {
            break;
        }
        assert!(matches!(insert, Request::Wait(_)));
        assert!(table.cancel_wait(LATE));
        // Which of the two meets the limit depends on what their shards have left.
        match table.try_lock_row(LATE, INDEX + 1, &key(asked), Mode::Shared) {
            TryLock::Full => break,
            answer => assert_eq!(answer, TryLock::Newly),
        }
        asked += 1;
        assert!(asked < 100_000, "there is a limit");
    }
    table.check_memory();
    assert!(table.memory() < LIMIT + 2 * 8192, "{}", table.memory());
    table.release_all(LATE);
    table.release_all(SMALL);
    assert_eq!(table.memory(), 0);
}
