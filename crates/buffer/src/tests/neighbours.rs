//! What is written with a page that is to be written.

use super::*;
use crate::{FlushSettings, IoCapacity, Neighbours};

/// Pages that are dirty, in two extents: a run of which the oldest page is one, others of its extent, and one
/// of the next extent.
const DIRTY: [u32; 8] = [10, 11, 12, 13, 20, 21, 63, 64];

/// The page that was changed first.
const OLDEST: u32 = 12;

/// A world whose dirty pages are [`DIRTY`], all of them cold, and [`OLDEST`] dirty before the others.
fn world_of(frames: usize, which: Neighbours) -> World {
    let world = World::create_with(Arc::new(FaultFileSystem::new(1)), frames, Sink::Off, 1);
    for page in 0..70 {
        world.change(Change { page: PageNo(page), create: true, offset: 100, value: 7 }).unwrap();
    }
    world.pool.checkpoint_sharply().unwrap();
    // One page a second.
    let io_capacity = IoCapacity { idle: 1, most: 1 };
    world.pool.set_flushing(FlushSettings { io_capacity, neighbours: which, ..FlushSettings::default() });
    for page in [OLDEST].into_iter().chain(DIRTY.into_iter().filter(|&page| page != OLDEST)) {
        world.change(Change { page: PageNo(page), create: false, offset: 200, value: 7 }).unwrap();
    }
    world.log.flush_blocking(world.log.tail()).unwrap();
    world
}

/// Those of [`DIRTY`] that are clean after the cleaner has written one page that it was to write.
fn written_with_one(world: &World) -> Vec<u32> {
    world.pool.step_coordinator().unwrap();
    for _ in 0..100 {
        world.clock.advance(Duration::from_millis(100));
        world.pool.step_coordinator().unwrap();
        if world.pool.dirty_pages() < DIRTY.len() {
            break;
        }
    }
    let pool = &world.pool;
    let is_dirty = |page: u32| {
        let frame = world.space.known_entry(PageNo(page)).unwrap().frame().unwrap();
        pool.core().frames.oldest(frame) != crate::frames::CLEAN
    };
    DIRTY.into_iter().filter(|&page| !is_dirty(page)).collect()
}

#[test]
fn a_page_takes_its_dirty_neighbours_along_as_the_setting_says() {
    // The sweep goes by frames, and so comes to the lowest page first: 10.
    assert_eq!(written_with_one(&world_of(128, Neighbours::None)), [10]);
    assert_eq!(written_with_one(&world_of(128, Neighbours::Adjacent)), [10, 11, 12, 13]);
    assert_eq!(written_with_one(&world_of(128, Neighbours::Extent)), [10, 11, 12, 13, 20, 21, 63]);
}

#[test]
fn a_page_that_makes_room_takes_its_neighbours_along_and_leaves_alone() {
    for (which, dirty) in [(Neighbours::None, 7), (Neighbours::Adjacent, 4)] {
        // One frame less is free than are kept.
        let world = world_of(92, which);
        let hold = |page: u32| world.space.known_entry(PageNo(page)).unwrap().set_heat(crate::table::HOT);
        // All but the oldest have been accessed lately: the hand passes them.
        (0..70).filter(|&page| page != OLDEST).for_each(hold);
        world.space.known_entry(PageNo(OLDEST)).unwrap().set_heat(crate::table::COLD);
        let report = world.pool.step().unwrap();
        assert_eq!((world.pool.dirty_pages(), report.written), (dirty, DIRTY.len() - dirty), "{which:?}");
        assert!(!world.space.has(PageNo(OLDEST)), "it has left");
        assert!(DIRTY.iter().filter(|&&page| page != OLDEST).all(|&page| world.space.has(PageNo(page))));
    }
}
