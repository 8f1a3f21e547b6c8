//! Undo pages that lose their room on the disk, and get it again.

use std::sync::Arc;

use palisade_base::PageNo;
use palisade_base::event::retry_blocking;
use palisade_base::prng::{Prng, test_seed};
use palisade_btree::alloc;
use palisade_buffer::PageSize;
use palisade_io::{Call, CrashKeeps, Fault, FaultFileSystem};

use super::harness::{Store, put};
use crate::planted::{self, Planted};

/// Pages of an extent.
const EXTENT: u32 = 64;

/// A transaction whose undo takes some five extents. The row is what `last` says then.
fn change_often(store: &Store, last: u8) {
    let mut trx = store.system.begin();
    for number in 0..1600u32 {
        put(store, &mut trx, b"row", &[number as u8 ^ (number >> 8) as u8; 3000]);
        if number % 100 == 0 {
            store.flush();
        }
    }
    put(store, &mut trx, b"row", &[last; 3000]);
    retry_blocking(|| trx.commit()).unwrap();
    store.flush();
}

fn forget(store: &Store) {
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    store.flush();
}

/// Gives back what can be; whether that was anything.
fn trim(store: &Store) -> bool {
    let mut worked = false;
    while retry_blocking(|| store.system.trim_undo_step()).unwrap() {
        worked = true;
    }
    worked
}

/// Extents of the undo space of which nothing is on the disk.
fn holes(store: &Store) -> u32 {
    let space = store.system.undo().space();
    let usage = retry_blocking(|| alloc::usage(space)).unwrap();
    let is_hole = |extent: &u32| {
        let mut bytes = vec![0; PageSize::DEFAULT.bytes()];
        (0..EXTENT).all(|page| {
            let page = u64::from(extent * EXTENT + page);
            space.file().read_at(&mut bytes, page * PageSize::DEFAULT.bytes() as u64).unwrap();
            bytes.iter().all(|byte| *byte == 0)
        })
    };
    (0..usage.high_water / EXTENT).filter(is_hole).count() as u32
}

fn row(store: &Store) -> u8 {
    let mut row = Vec::new();
    let mut reader = store.system.begin();
    let found = retry_blocking(|| reader.read_snapshot(&store.clustered, b"row", &mut row)).unwrap();
    assert!(found.is_some() && row.iter().all(|byte| *byte == row[0]));
    row[0]
}

#[test]
fn extents_that_nobody_needs_lose_their_room_after_a_checkpoint() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    change_often(&store, 1);
    store.pool.checkpoint_sharply().unwrap();
    forget(&store);
    assert!(!trim(&store), "recovery would still write to them");
    assert_eq!(holes(&store), 0);
    store.pool.checkpoint_sharply().unwrap();
    assert!(trim(&store));
    let given_back = holes(&store);
    assert!(given_back >= 3, "{given_back} extents");
    assert!(!trim(&store), "that is all");

    // Used again, they have room before anybody writes to them: a full disk is told when it is asked for.
    let mut reader = store.system.begin();
    reader.open_snapshot();
    fs.fail(Call::Resize, 1, Fault::NoSpace);
    change_often(&store, 2);
    store.pool.checkpoint_sharply().unwrap();
    assert!(holes(&store) < given_back);
    let mut old = Vec::new();
    retry_blocking(|| reader.read_snapshot(&store.clustered, b"row", &mut old)).unwrap();
    assert_eq!((old[0], row(&store)), (1, 2));
    drop(reader);
    forget(&store);
    store.pool.checkpoint_sharply().unwrap();
    assert!(trim(&store), "and again");
}

/// An extent is seen to be free, used, and free again before anything is given back; and the last checkpoint is from the middle of
/// its use, so that recovery needs what was on its pages then.
#[test]
fn an_extent_that_was_used_meanwhile_keeps_its_room() {
    // Wherever the page is that is being written to then.
    for checkpoint_at in (100..1600).step_by(150) {
        let fs = Arc::new(FaultFileSystem::new(1));
        let store = Store::create(&fs);
        change_often(&store, 1);
        store.pool.checkpoint_sharply().unwrap();
        forget(&store);
        assert!(!trim(&store), "it has seen what is free");
        let mut writer = store.system.begin();
        for number in 0..1700u32 {
            put(&store, &mut writer, b"row", &[number as u8 ^ (number >> 8) as u8; 3000]);
            if number % 100 == 0 {
                store.flush();
            }
            if number == checkpoint_at {
                store.pool.checkpoint_sharply().unwrap();
            }
        }
        put(&store, &mut writer, b"row", &[2; 3000]);
        retry_blocking(|| writer.commit()).unwrap();
        store.flush();
        drop(writer);
        forget(&store);
        trim(&store);
        drop(store);
        fs.crash(CrashKeeps::Everything);
        let (store, _) = Store::recover(&fs);
        assert_eq!(row(&store), 2);
    }
}

#[test]
fn a_power_cut_finds_undo_wherever_it_is_needed() {
    let mut random = Prng::new(test_seed(1));
    for _ in 0..12 {
        power_cuts(&mut random);
    }
}

/// The canary of the test before: it finds a mistake.
#[test]
fn room_that_goes_too_early_is_found() {
    planted::plant(&[Planted::RoomGoesBeforeCheckpoint]);
    let found = (0..40).find(|round| {
        let mut random = Prng::new(test_seed(2) + round);
        std::panic::catch_unwind(move || power_cuts(&mut random)).is_err()
    });
    planted::plant(&[]);
    assert!(found.is_some(), "undo pages lose their room too early, and no power cut shows it");
}

/// Lives of a store that ends in a power cut, of which each finds the row as it was.
fn power_cuts(random: &mut Prng) {
    let fs = Arc::new(FaultFileSystem::new(random.next_u64()));
    let mut store = Store::create(&fs);
    let mut last = 1;
    change_often(&store, last);
    for _ in 0..3 {
        for step in [0, 1, 0, 2, 1, 3, 0, 2, 3, 1] {
            if random.one_in(3) {
                continue;
            }
            match step {
                0 => {
                    last += 1;
                    change_often(&store, last);
                }
                1 if random.one_in(3) => store.clean(),
                1 => store.pool.checkpoint_sharply().unwrap(),
                2 => forget(&store),
                _ => drop(trim(&store)),
            }
            if random.one_in(8) {
                break;
            }
        }
        let keeps = *random.pick(&[CrashKeeps::Synced, CrashKeeps::Random, CrashKeeps::Everything]);
        drop(store);
        fs.crash(keeps);
        let (found, in_flight) = Store::recover(&fs);
        assert!(in_flight.is_empty());
        assert_eq!(row(&found), last);
        store = found;
    }
    forget(&store);
    let usage = retry_blocking(|| alloc::usage(store.system.undo().space())).unwrap();
    let segments = store.system.undo().segments().len() as u32;
    assert_eq!(usage.in_use(), segments + crate::undo::page::directory_pages(PageSize::DEFAULT));
    assert!(PageNo(usage.high_water) > PageNo(EXTENT), "the test means nothing otherwise");
}
