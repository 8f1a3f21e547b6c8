//! Frames that come and go while the pool is in use.

use super::*;
use crate::{Off, PageRead, ResizeError, Resizing};
use palisade_base::prng::{Prng, test_seed};

const PAGES: u64 = 40;

fn created(page: u32) -> Change {
    Change { page: PageNo(page), create: true, offset: 100, value: u64::from(page) + 1 }
}

/// A pool of `frames` frames and a space of `pages` pages in it, each accessed once.
fn filled(frames: usize, pages: u32) -> World {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), frames, Sink::Off);
    for page in 0..pages {
        world.change(created(page)).unwrap();
    }
    world
}

fn is_resident(world: &World, page: u32) -> bool {
    world.space.owned_entry(PageNo(page)).frame().is_some()
}

/// Steps until the resize is done. How many it took.
fn finish(world: &World) -> usize {
    for steps in 0..200 {
        if !matches!(world.pool.resizing(), Resizing::UnderWay { .. }) {
            return steps;
        }
        world.clock.advance(Duration::from_millis(1));
        world.pool.step().unwrap();
    }
    panic!("a resize takes for ever: {:?}", world.pool.resizing());
}

#[test]
fn pages_are_what_they_are_however_many_frames_there_are() {
    let mut random = Prng::new(test_seed(41));
    let world = World::create(Arc::new(FaultFileSystem::new(random.next_u64())), 8, Sink::Doublewrite);
    world.pool.set_kept_share(50);
    let (mut history, mut resizes) = (Vec::new(), 0);
    for _ in 0..4000 {
        world.clock.advance(Duration::from_millis(random.below(30)));
        let page = PageNo(random.below(PAGES) as u32);
        match random.below(12) {
            0..5 => {
                let create = replay(&history, page, Lsn::MAX).is_none() || random.one_in(30);
                let offset = PAGE_HEADER as u64 + random.below((page_bytes() - PAGE_HEADER - 7) as u64);
                let change = Change { page, create, offset: offset as u16, value: random.next_u64() };
                history.push((world.change(change).unwrap(), change));
            }
            5..9 => {
                if let Some(expected) = replay(&history, page, Lsn::MAX) {
                    assert!(world.body(page).unwrap() == expected, "page {}", page.0);
                }
            }
            9 => resizes += u32::from(world.pool.resize(4 + random.below(28) as usize).is_ok()),
            10 => world.space.read_ahead([page]),
            _ => drop(world.pool.step().unwrap()),
        }
        assert!(world.pool.free_frames() + world.pool.dirty_pages() <= world.pool.frames());
    }
    assert!(resizes > 100, "{resizes}");
    finish(&world);
    assert_eq!(world.pool.frames(), world.pool.size());
    world.pool.shutdown().unwrap();
    let resident = (0..PAGES as u32).filter(|&page| is_resident(&world, page)).count();
    assert_eq!(world.pool.free_frames() + resident, world.pool.frames(), "no frame is lost");
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
}

#[test]
fn a_pool_that_grows_has_room_for_more_pages() {
    let world = filled(8, 20);
    world.pool.resize(32).unwrap();
    assert_eq!((world.pool.frames(), world.pool.size()), (8, 32));
    assert_eq!(finish(&world), 1);
    let micros = world.clock.unix_micros();
    assert_eq!(world.pool.resizing(), Resizing::Done { from: 8, to: 32, unix_micros: micros });
    (0..20).for_each(|page| drop(world.body(PageNo(page)).unwrap()));
    world.pool.step().unwrap();
    assert!((0..20).all(|page| is_resident(&world, page)));
}

#[test]
fn a_pool_that_shrinks_keeps_what_was_accessed_again_wherever_it_is() {
    let world = filled(32, 24);
    world.pool.checkpoint_sharply().unwrap();
    let hot: Vec<u32> = (0..24).filter(|page| page % 4 == 3).collect();
    for page in (0..24).map(PageNo) {
        world.space.owned_entry(page).set_heat(crate::table::COLD);
    }
    for &page in &hot {
        world.body(PageNo(page)).unwrap();
        world.body(PageNo(page)).unwrap();
    }
    world.pool.resize(12).unwrap();
    finish(&world);
    assert_eq!((world.pool.frames(), world.pool.dirty_pages()), (12, 0));
    assert!(hot.iter().all(|&page| is_resident(&world, page)));
    for page in 0..24 {
        assert_eq!(
            world.body(PageNo(page)).unwrap(),
            replay(&[(Lsn(1), created(page))], PageNo(page), Lsn(1)).unwrap()
        );
    }
}

#[test]
fn a_dirty_page_moves_unwritten_and_stays_dirty() {
    let world = filled(32, 8);
    // The lowest frames become free.
    let other = world.fs.open(Path::new("data/other"), OpenMode::CREATE).unwrap();
    let other = world.pool.attach_space(SpaceId(9), other, Arc::new(Off)).unwrap();
    world.retry(|| other.ensure_allocated(8)).unwrap();
    (0..8).for_each(|page| change(&world, &other, page, true));
    world.pool.detach_space(SPACE);
    let frames = |space: &Space| -> Vec<u32> {
        (0..8).map(|page| space.owned_entry(PageNo(page)).frame().unwrap()).collect()
    };
    assert!(frames(&other).iter().all(|&frame| frame >= 8));
    let candidate = world.log.checkpoint_candidate();
    world.fs.start_trace();
    world.pool.resize(12).unwrap();
    assert_eq!(finish(&world), 1);
    assert_eq!(world.fs.take_trace(), "");
    assert!(frames(&other).iter().all(|&frame| frame < 12));
    assert_eq!((world.pool.dirty_pages(), world.pool.free_frames()), (8, 4));
    assert_eq!(world.log.checkpoint_candidate(), candidate, "the log waits for what it waited for");
    world.pool.checkpoint_sharply().unwrap();
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
}

#[test]
fn a_latched_page_keeps_its_frame_until_it_is_free() {
    let world = filled(16, 12);
    let page = (0..12).find(|&page| world.space.owned_entry(PageNo(page)).frame() >= Some(8)).unwrap();
    let latched = world.space.shared(PageNo(page)).unwrap();
    world.pool.resize(8).unwrap();
    for _ in 0..20 {
        world.clock.advance(Duration::from_millis(100));
        world.pool.step().unwrap();
    }
    assert_eq!(world.pool.resizing(), Resizing::UnderWay { from: 16, to: 8, done: 7 });
    assert_eq!(latched.u64_at(100), u64::from(page) + 1);
    drop(latched);
    finish(&world);
    assert_eq!(world.pool.frames(), 8);
}

#[test]
fn one_resize_at_a_time_and_none_beyond_the_addresses() {
    let world = filled(16, 12);
    assert_eq!(world.pool.resizing(), Resizing::Never);
    world.pool.resize(16).unwrap();
    assert_eq!(world.pool.resizing(), Resizing::Never, "nothing to do");
    assert_eq!(world.pool.resize(1 << 20), Err(ResizeError::Memory));
    world.pool.resize(4).unwrap();
    assert_eq!(world.pool.resize(16), Err(ResizeError::UnderWay));
    finish(&world);
    world.pool.resize(16).unwrap();
    finish(&world);
    assert_eq!(world.pool.frames(), 16);
}

#[test]
fn a_full_disk_keeps_no_pool_from_shrinking_to_what_is_dirty() {
    let world = filled(32, 20);
    world.log.flush_blocking(world.log.tail()).unwrap();
    world.fs.limit_space(Some(world.fs.used_space()));
    assert_eq!(world.pool.dirty_pages(), 20);
    world.pool.resize(24).unwrap();
    finish(&world);
    assert_eq!(world.pool.frames(), 24);
}
