//! The lock table takes no more memory than it counts.
//!
//! Alone in its program: what is measured is the process.

use palisade_txn::locks::LockTable;
use palisade_txn::{Cut, Mode, SessionNo, TryLock};

const MIB: u64 = 1 << 20;
const LIMIT: u64 = 24 * MIB;

/// Bytes of this process that lie in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

fn check_growth(before: u64, what: &str) {
    let grown = resident().saturating_sub(before);
    assert!(grown < LIMIT + 2 * MIB, "{grown} bytes for {what}");
    assert!(grown > LIMIT / 4, "{grown} bytes for {what}: it counts far too much");
}

#[test]
fn locks_take_what_is_counted() {
    let table = LockTable::default();
    table.set_memory_limit(LIMIT);
    // Few shards but all keys: the hash tables are of all fillings.
    let (rows, ranges) = (SessionNo(0), SessionNo(1));
    let before = resident();
    let full = (0u64..10_000_000)
        .find(|key| table.try_lock_row(rows, 1, &key.to_be_bytes(), Mode::Exclusive) == TryLock::Full);
    let full = full.expect("there is a limit");
    check_growth(before, &format!("{full} rows"));
    table.release_all(rows);
    assert_eq!(table.memory(), 0);

    let before = resident();
    let mut point = 0u64;
    loop {
        let (from, to) = (Cut::before(&point.to_be_bytes()), Cut::after(&point.to_be_bytes()));
        if table.begin_range(ranges, 2, Mode::Exclusive).add(from, to).is_err() {
            break;
        }
        point += 2;
        assert!(point < 10_000_000, "there is a limit");
    }
    // What the rows took may have been used again.
    let grown = resident().saturating_sub(before);
    assert!(grown < LIMIT + 2 * MIB, "{grown} bytes for {point} ranges");
    table.release_all(ranges);
    assert_eq!(table.memory(), 0);
}
