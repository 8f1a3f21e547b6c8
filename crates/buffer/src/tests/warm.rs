//! The content of a pool is had again by another.

use std::ops::ControlFlow;

use super::*;
use crate::{Loaded, PageRead as _};
use palisade_base::PageId;

const PAGES: u32 = 40;

fn id(page: u32) -> PageId {
    PageId { space: SPACE, page: PageNo(page) }
}

/// A space of [`PAGES`] pages on disk, and a pool of so many frames that has none of them.
fn cold_world(frames: usize) -> World {
    let fs = Arc::new(FaultFileSystem::new(7));
    let before = World::create(fs.clone(), 64, Sink::Off);
    for page in 0..PAGES {
        let page = PageNo(page);
        before.change(Change { page, create: true, offset: 100, value: 7 }).unwrap();
    }
    before.pool.checkpoint_sharply().unwrap();
    drop(before);
    let (world, mut reader) = World::open(fs, frames, Sink::Off).unwrap();
    world.redo(&mut reader).unwrap();
    world.log.start_after_recovery(reader).unwrap();
    world
}

#[test]
fn pages_accessed_again_are_remembered_first() {
    let world = cold_world(64);
    for page in 0..10 {
        world.body(PageNo(page)).unwrap();
    }
    for page in [3, 5, 7] {
        world.body(PageNo(page)).unwrap();
        world.body(PageNo(page)).unwrap();
    }
    assert_eq!(world.pool.resident_pages(3), [3, 5, 7].map(id));
    assert_eq!(world.pool.resident_pages(2).len(), 2);
    let five = world.pool.resident_pages(5);
    assert!(five.len() == 5 && [3, 5, 7].iter().all(|hot| five.contains(&id(*hot))), "{five:?}");
    assert_eq!(world.pool.resident_pages(100), (0..10).map(id).collect::<Vec<_>>());
}

#[test]
fn looking_at_the_pages_in_memory_is_no_access_and_passes_over_those_being_changed() {
    let world = cold_world(64);
    for page in 0..6 {
        world.body(PageNo(page)).unwrap();
    }
    let look = || {
        let mut seen = Vec::new();
        world.pool.for_each_resident(|id, page| seen.push((id, page.page_no())));
        seen.sort_unstable();
        seen
    };
    let all: Vec<_> = (0..6).map(|page| (id(page), PageNo(page))).collect();
    assert_eq!((look(), look()), (all.clone(), all.clone()));
    assert!((0..6).all(|page| world.space.owned_entry(PageNo(page)).heat() == crate::table::COLD));
    let changing = world.space.exclusive(PageNo(3)).unwrap();
    assert_eq!(look(), [0, 1, 2, 4, 5].map(|page| all[page]));
    drop(changing);
    assert_eq!(look(), all);
}

#[test]
fn what_was_in_memory_is_read_again_and_what_is_gone_passed_over() {
    let world = cold_world(64);
    let gone = [PageId { space: SpaceId(77), page: PageNo(1) }];
    let wanted: Vec<PageId> = [2, 3, 4, 30, 4711].map(id).into_iter().chain(gone).collect();
    let mut told = Vec::new();
    let loaded = world.pool.load(&wanted, |done| {
        told.push(done);
        ControlFlow::Continue(())
    });
    assert_eq!((loaded, told), (Loaded::All, vec![0, 5, 6]));
    assert_eq!(world.pool.resident_pages(100), [2, 3, 4, 30].map(id));
    let stopped = world.pool.load(&[id(9)], |_| ControlFlow::Break(()));
    assert_eq!((stopped, world.space.has(PageNo(9))), (Loaded::UntilStopped, false));
}

#[test]
fn loading_ends_when_frames_run_short() {
    let world = cold_world(8);
    let all: Vec<PageId> =
        (0..PAGES).flat_map(|page| [id(page), PageId { space: OTHER, page: PageNo(0) }]).collect();
    assert_eq!(world.pool.load(&all, |_| ControlFlow::Continue(())), Loaded::UntilFull);
    assert!(world.pool.free_frames() > 0, "none had to make way");
    assert!(world.space.has(PageNo(0)), "some are there");
}

/// A space that is not there, so that each page of the other is a run of its own.
const OTHER: SpaceId = SpaceId(99);
