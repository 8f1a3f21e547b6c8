//! Which pages are read that no session has asked for.

use super::*;
use crate::ReadAhead;

/// Of an extent.
const EXTENT: u32 = 64;
const PAGES: u32 = 4 * EXTENT;

/// A space of [`PAGES`] pages on disk, and a pool of so many frames that has none of them.
fn cold_world(frames: usize, threshold: u32, is_random: bool) -> World {
    let fs = Arc::new(FaultFileSystem::new(7));
    let before = World::create(fs.clone(), 512, Sink::Off);
    for page in 0..PAGES {
        before.change(Change { page: PageNo(page), create: true, offset: 100, value: 7 }).unwrap();
    }
    before.pool.checkpoint_sharply().unwrap();
    drop(before);
    let (world, mut reader) = World::open(fs, frames, Sink::Off).unwrap();
    world.redo(&mut reader).unwrap();
    world.log.start_after_recovery(reader).unwrap();
    world.pool.set_read_ahead(ReadAhead { threshold, is_random });
    world
}

/// Pages of each extent that are in memory.
fn in_memory(world: &World) -> [usize; 4] {
    std::array::from_fn(|extent| {
        let first = extent as u32 * EXTENT;
        (first..first + EXTENT).filter(|&page| world.space.has(PageNo(page))).count()
    })
}

fn access(world: &World, pages: impl IntoIterator<Item = u32>) {
    pages.into_iter().for_each(|page| drop(world.body(PageNo(page)).unwrap()));
}

#[test]
fn the_next_extent_is_read_once_enough_pages_were_missed_in_order() {
    let world = cold_world(512, 10, false);
    access(&world, 0..9);
    assert_eq!(in_memory(&world), [9, 0, 0, 0]);
    access(&world, [30]);
    assert_eq!(in_memory(&world), [10, 64, 0, 0], "some may lie between");
    // The reader goes on: in the extent that was read, nothing is missed.
    access(&world, 64..73);
    assert_eq!(in_memory(&world), [10, 64, 0, 0]);
    access(&world, [73]);
    assert_eq!(in_memory(&world), [10, 64, 64, 0], "its tenth page is the mark");
    access(&world, 74..PAGES);
    assert_eq!(in_memory(&world), [10, 64, 64, 64], "and so on to the end of the file");
}

#[test]
fn a_reader_may_come_from_above() {
    let world = cold_world(512, 10, false);
    access(&world, (PAGES - 9..PAGES).rev());
    assert_eq!(in_memory(&world), [0, 0, 0, 9]);
    access(&world, [PAGES - 10]);
    assert_eq!(in_memory(&world), [0, 0, 64, 10]);
    access(&world, (2 * EXTENT + 55..3 * EXTENT).rev());
    assert_eq!(in_memory(&world), [0, 0, 64, 10]);
    access(&world, (2 * EXTENT..2 * EXTENT + 55).rev());
    assert_eq!(in_memory(&world), [0, 64, 64, 10]);
    access(&world, (0..2 * EXTENT).rev());
    assert_eq!(in_memory(&world), [64, 64, 64, 10], "there is nothing below");
}

#[test]
fn pages_missed_in_no_order_are_no_reader_to_go_on() {
    let world = cold_world(512, 40, false);
    access(&world, (0..EXTENT).map(|nth| nth * 37 % EXTENT));
    assert_eq!(in_memory(&world), [64, 0, 0, 0]);
}

#[test]
fn several_readers_are_watched_at_once() {
    let world = cold_world(512, 10, false);
    for nth in 0..10 {
        access(&world, [nth, 2 * EXTENT + nth]);
    }
    assert_eq!(in_memory(&world), [10, 64, 10, 64]);
}

#[test]
fn the_threshold_may_be_the_whole_extent_or_its_first_page() {
    for (threshold, pages) in [(64, 64), (1, 1), (0, 1)] {
        let world = cold_world(512, threshold, false);
        access(&world, 0..pages - 1);
        assert_eq!(in_memory(&world), [pages as usize - 1, 0, 0, 0], "{threshold}");
        access(&world, [pages - 1]);
        assert_eq!(in_memory(&world), [pages as usize, 64, 0, 0], "{threshold}");
    }
}

#[test]
fn the_rest_of_an_extent_is_read_once_a_crowd_of_it_is_in_memory() {
    for is_random in [false, true] {
        let world = cold_world(512, 64, is_random);
        access(&world, (0..12).map(|nth| EXTENT + nth * 37 % EXTENT));
        assert_eq!(in_memory(&world), [0, 12, 0, 0]);
        access(&world, [5, EXTENT + 12 * 37 % EXTENT]);
        assert_eq!(in_memory(&world), [1, 13, 0, 0], "the thirteenth makes the crowd");
        access(&world, [EXTENT + 13 * 37 % EXTENT]);
        assert_eq!(in_memory(&world), [1, if is_random { 64 } else { 14 }, 0, 0]);
    }
}

#[test]
fn nothing_is_read_ahead_for_which_frames_are_scarce() {
    let world = cold_world(32, 10, true);
    access(&world, 0..10);
    let read: usize = in_memory(&world).iter().sum();
    assert!((10..32).contains(&read), "{read}");
    assert!(world.pool.free_frames() > 0);
    access(&world, 0..PAGES);
}

/// Room that a file has and no page was ever written to is no damage.
#[test]
fn pages_that_hold_nothing_are_read_for_none_but_those_that_want_them() {
    let fs = Arc::new(FaultFileSystem::new(7));
    let before = World::create(fs.clone(), 512, Sink::Off);
    for page in 0..EXTENT + 5 {
        before.change(Change { page: PageNo(page), create: true, offset: 100, value: 7 }).unwrap();
    }
    before.pool.checkpoint_sharply().unwrap();
    assert!(before.space.pages() > EXTENT + 5, "a file grows by more than a page");
    drop(before);
    let (world, mut reader) = World::open(fs, 512, Sink::Off).unwrap();
    world.redo(&mut reader).unwrap();
    world.pool.set_read_ahead(ReadAhead { threshold: 10, is_random: false });
    access(&world, 0..EXTENT);
    assert_eq!(in_memory(&world), [64, 5, 0, 0]);
    let empty = world.body(PageNo(EXTENT + 5));
    assert!(matches!(empty, Err(Error::Corrupted { .. })), "{empty:?}");
}
