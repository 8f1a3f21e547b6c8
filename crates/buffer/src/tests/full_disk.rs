//! A disk that becomes full while pages are written. Nothing that was on it may be lost by that, nor may
//! anything stand still that needs no room.

use super::*;
use crate::page;
use palisade_io::{Call, CrashKeeps, Fault, Overlay, OverlayFileSystem};
use std::io;

/// A second space, on a disk that can be made full.
const OTHER: SpaceId = SpaceId(4);
const PATH: &str = "data/other";

/// While told to, writes half of what it is given, and is full.
#[derive(Default)]
struct HalfFull(AtomicBool);

impl HalfFull {
    fn set(&self, is_full: bool) {
        self.0.store(is_full, Ordering::Relaxed);
    }
}

impl Overlay for HalfFull {
    fn write_at(&self, _: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) {
            file.write_at(&bytes[..bytes.len() / 2], offset)?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.write_at(bytes, offset)
    }
}

/// A world, and a second space in it with two pages that are on disk.
fn two_spaces(sink: Sink) -> (World, OverlayFileSystem<HalfFull>, Arc<Space>) {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 16, sink);
    let disk = OverlayFileSystem::new(world.fs.clone(), HalfFull::default());
    let file = disk.open(Path::new(PATH), OpenMode::CREATE).unwrap();
    let space = world.pool.attach_space(OTHER, file, world.sink.clone()).unwrap();
    world.retry(|| space.ensure_allocated(2)).unwrap();
    for page in [0, 1] {
        change(&world, &space, page, true);
    }
    world.pool.checkpoint_sharply().unwrap();
    (world, disk, space)
}

#[test]
fn a_page_that_a_full_disk_has_torn_is_restored_whatever_was_written_since() {
    let (world, disk, space) = two_spaces(Sink::Doublewrite);
    change(&world, &space, 0, false);
    disk.overlay().set(true);
    for _ in 0..3 {
        assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Full { .. })));
    }
    disk.overlay().set(false);
    change(&world, &space, 1, false);
    // Nobody can copy page 0 just now; page 1 is written.
    let held = world.retry(|| space.exclusive(PageNo(0))).unwrap();
    for _ in 0..2 {
        world.clock.advance(Duration::from_secs(2));
        world.pool.step().unwrap();
    }
    drop(held);
    let fs = world.fs.clone();
    fs.crash(CrashKeeps::Everything);
    let (world, _) = World::open(fs.clone(), 16, Sink::Doublewrite).unwrap();
    let file = fs.open(Path::new(PATH), OpenMode::EXISTING).unwrap();
    world.repair(|space| (space == OTHER).then(|| file.clone())).unwrap();
    let mut bytes = vec![0; page_bytes()];
    for page in [0, 1] {
        file.read_at(&mut bytes, u64::from(page) * page_bytes() as u64).unwrap();
        let id = PageId { space: OTHER, page: PageNo(page) };
        assert_eq!(page::verify(id, &bytes), Ok(()), "page {id}");
    }
}

#[test]
fn what_the_disk_was_too_full_for_is_written_when_there_is_room() {
    let (world, disk, space) = two_spaces(Sink::Off);
    change(&world, &space, 0, false);
    disk.overlay().set(true);
    assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Full { .. })));
    assert!(!world.fatal.load(Ordering::Relaxed));
    world.clock.advance(Duration::from_secs(2));
    assert!(matches!(world.pool.step(), Err(Error::Full { .. })));
    assert!(world.log.checkpoint_candidate() < world.log.tail(), "no checkpoint passes an unwritten page");
    disk.overlay().set(false);
    // No sweep chooses it, and nobody wants its frame.
    assert_eq!(world.pool.step().unwrap().written, 1);
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
}

#[test]
fn a_space_may_be_dropped_while_the_disk_is_too_full_for_its_pages() {
    let (world, disk, space) = two_spaces(Sink::Doublewrite);
    let created = Change { page: PageNo(0), create: true, offset: 100, value: 1 };
    world.change(created).unwrap();
    change(&world, &space, 0, false);
    change(&world, &space, 1, false);
    disk.overlay().set(true);
    assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Full { .. })));
    world.pool.detach_space(OTHER);
    let file = Arc::downgrade(space.file());
    drop(space);
    world.pool.checkpoint_sharply().unwrap();
    assert!(file.upgrade().is_none(), "dropping it makes room");
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
    assert_eq!((world.pool.frames() - world.pool.free_frames(), world.pool.dirty_pages()), (1, 0));
}

#[test]
fn clean_pages_leave_memory_and_checkpoints_are_written_while_the_disk_is_full() {
    let (world, _, space) = two_spaces(Sink::Off);
    world.retry(|| space.ensure_allocated(16)).unwrap();
    (2..16).for_each(|page| change(&world, &space, page, true));
    world.pool.checkpoint_sharply().unwrap();
    assert_eq!(world.pool.free_frames(), 0);
    // So much that a checkpoint can be written between the last one and the change.
    for _ in 0..40 {
        let mut credit = world.log.admit(3000).unwrap();
        world.log.append(&mut credit, &[0; 3000], |_| {});
        world.log.flush_blocking(world.log.tail()).unwrap();
    }
    change(&world, &space, 15, false);
    world.log.flush_blocking(world.log.tail()).unwrap();
    // As often as the page is tried here; a log that finds the disk full is another matter.
    for nth in 1..=3 {
        world.fs.fail(Call::Write, nth, Fault::NoSpace);
    }
    assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Full { .. })));
    let before = world.log.checkpoint_lsn();
    world.clock.advance(Duration::from_secs(2));
    assert!(matches!(world.pool.step(), Err(Error::Full { .. })));
    assert!(world.pool.free_frames() > 0);
    assert!(world.log.checkpoint_lsn() > before);
    world.pool.step().unwrap();
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
}

/// A small file has no free run: the first page that is written again is compressed to the block beside the
/// header, and its old run serves the others.
#[test]
fn a_small_file_out_of_place_is_written_again_and_again_on_a_full_disk() {
    for pages in 1..4 {
        let world = World::create(Arc::new(FaultFileSystem::new(2)), 16, Sink::OutOfPlace);
        let fs = world.fs.clone();
        for page in 0..pages {
            world.change(Change { page: PageNo(page), create: true, offset: 100, value: 1 }).unwrap();
        }
        world.retry(|| world.space.ensure_allocated(4)).unwrap();
        world.pool.checkpoint_sharply().unwrap();
        fs.limit_space(Some(fs.used_space()));
        for round in 0..20 {
            for page in (0..pages).filter(|page| round % (page + 1) == 0) {
                let change = Change { page: PageNo(page), create: false, offset: 200, value: round.into() };
                world.change(change).unwrap();
            }
            world.pool.checkpoint_sharply().unwrap();
            world.space.places().unwrap().assert_sound();
        }
        // With room it becomes one like any other.
        fs.limit_space(None);
        for page in 0..40 {
            let create = page >= pages;
            world.change(Change { page: PageNo(page), create, offset: 300, value: 9 }).unwrap();
        }
        world.pool.checkpoint_sharply().unwrap();
        world.space.places().unwrap().assert_sound();
        drop(world);
        fs.crash(CrashKeeps::Everything);
        let (world, mut reader) = World::open(fs, 16, Sink::OutOfPlace).unwrap();
        world.redo(&mut reader).unwrap();
        for page in 0..40 {
            let body = world.body(PageNo(page)).unwrap();
            assert_eq!(body[300 - PAGE_HEADER], 9);
        }
    }
}

/// A page that cannot be made short waits for room, and nothing is lost.
#[test]
fn a_page_of_a_small_file_that_does_not_compress_waits_for_room() {
    let world = World::create(Arc::new(FaultFileSystem::new(3)), 16, Sink::OutOfPlace);
    let change = |create, value| world.change(Change { page: PageNo(0), create, offset: NOISE, value });
    world.change(Change { page: PageNo(0), create: true, offset: 100, value: 1 }).unwrap();
    change(false, 1).unwrap();
    // The other runs are taken.
    for page in 1..3 {
        world.change(Change { page: PageNo(page), create: true, offset: NOISE, value: 1 }).unwrap();
    }
    world.pool.checkpoint_sharply().unwrap();
    world.fs.limit_space(Some(world.fs.used_space()));
    change(false, 2).unwrap();
    assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Full { .. })));
    world.fs.limit_space(None);
    world.pool.checkpoint_sharply().unwrap();
    world.space.places().unwrap().assert_sound();
}

/// Of a small file any page may be the one that becomes short enough: the others get its run.
#[test]
fn a_page_that_becomes_short_makes_room_for_the_one_before_it() {
    let world = small_and_full();
    for page in 0..2 {
        change_in(&world, page, NOISE, 2);
    }
    change_in(&world, 1, CALM, 0);
    world.pool.checkpoint_sharply().unwrap();
    world.space.places().unwrap().assert_sound();
}

/// A page that waits for room holds up no other space; nor are pages written, and places recorded, again and
/// again.
#[test]
fn pages_beside_one_that_waits_for_room_are_written_once() {
    let world = small_and_full();
    world.fs.limit_space(None);
    let file = |name| world.fs.open(Path::new(name), OpenMode::CREATE).unwrap();
    let store = PlaceStore::create(OTHER, file("data/other"), file("data/other.map"), SIZE.get());
    let sink = world.pool.out_of_place().unwrap();
    let other = world.pool.attach_places(store, sink).unwrap();
    world.retry(|| other.ensure_allocated(8)).unwrap();
    (0..8).for_each(|page| change(&world, &other, page, true));
    world.pool.checkpoint_sharply().unwrap();
    world.fs.limit_space(Some(world.fs.used_space()));
    change_in(&world, 0, NOISE, 2);
    change(&world, &other, 0, false);
    let checkpoint = || {
        let outcome = world.pool.checkpoint_sharply();
        assert!(matches!(outcome, Err(Error::Full { .. })));
        world.log.tail()
    };
    let before = world.log.tail();
    let recorded = checkpoint();
    assert!(recorded > before, "the other space's page has a new place");
    assert_eq!(checkpoint(), recorded);
    world.fs.limit_space(None);
    world.pool.checkpoint_sharply().unwrap();
    assert_eq!(world.pool.dirty_pages(), 0);
}

/// A world whose space is a small file with pages that do not compress, each in its run, on a full disk.
fn small_and_full() -> World {
    let world = World::create(Arc::new(FaultFileSystem::new(4)), 16, Sink::OutOfPlace);
    for page in 0..3 {
        world.change(Change { page: PageNo(page), create: true, offset: NOISE, value: 1 }).unwrap();
    }
    world.pool.checkpoint_sharply().unwrap();
    world.fs.limit_space(Some(world.fs.used_space()));
    world
}

fn change_in(world: &World, page: u32, offset: u16, value: u64) {
    world.change(Change { page: PageNo(page), create: false, offset, value }).unwrap();
}
