//! The cleaner that follows the log neither keeps frames from being freed nor the checkpoint from advancing,
//! however much it is to write.

use super::*;
use palisade_io::{Overlay, OverlayFileSystem};
use parking_lot::Mutex;
use std::io;

/// A second space, on the disk that is looked at.
const OTHER: SpaceId = SpaceId(4);
const PAGES: u32 = 64;

/// Called before each write.
type Hook = Box<dyn FnMut() + Send>;

/// A disk that calls a hook before each write of a page.
#[derive(Default)]
struct Hooked(Mutex<Option<Hook>>);

impl Overlay for Hooked {
    fn write_at(&self, _: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        if let Some(hook) = &mut *self.0.lock() {
            hook();
        }
        file.write_at(bytes, offset)
    }
}

/// A world of so many frames, and a space of [`PAGES`] pages that are on disk.
fn world_of(frames: usize) -> (World, OverlayFileSystem<Hooked>, Arc<Space>) {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), frames, Sink::Doublewrite);
    let disk = OverlayFileSystem::new(world.fs.clone(), Hooked::default());
    let file = disk.open(Path::new("data/other"), OpenMode::CREATE).unwrap();
    let space = world.pool.attach_space(OTHER, file).unwrap();
    world.retry(|| space.ensure_allocated(PAGES)).unwrap();
    (0..PAGES).for_each(|page| change(&world, &space, page, true));
    world.pool.checkpoint_sharply().unwrap();
    (world, disk, space)
}

/// Every other page, so that each is a write of its own.
fn dirty(world: &World, space: &Space, count: u32) {
    (0..count).for_each(|nth| change(world, space, 2 * nth, false));
    world.log.flush_blocking(world.log.tail()).unwrap();
}

#[test]
fn a_slow_disk_does_not_keep_the_coordinator_from_its_other_work() {
    let (world, disk, space) = world_of(128);
    dirty(&world, &space, 16);
    let clock = world.clock.clone();
    *disk.overlay().0.lock() = Some(Box::new(move || clock.advance(Duration::from_millis(40))));
    // Nothing is logged any more: all pages are to be written.
    world.pool.step_coordinator().unwrap();
    world.clock.advance(Duration::from_secs(2));
    let (mut left, mut steps) = (world.pool.dirty_pages(), 0);
    while left > 0 {
        let pause = world.pool.step_coordinator().unwrap();
        let now = world.pool.dirty_pages();
        assert!(now < left && left - now <= 4, "a slice is one batch of four here: {left}, then {now}");
        assert!(now == 0 || pause == Duration::ZERO, "the next slice follows at once: {pause:?}");
        (left, steps) = (now, steps + 1);
    }
    assert_eq!(steps, 4);
}

#[test]
fn a_cleaner_alone_frees_frames_between_two_batches() {
    let (world, disk, space) = world_of(32);
    dirty(&world, &space, 14);
    world.pool.step_coordinator().unwrap();
    let (reader, missed) = (space.clone(), Arc::new(AtomicU64::new(0)));
    let count = missed.clone();
    // A session reads a page that is not in memory while another is written: more of them than frames are
    // kept free.
    let mut next = PAGES - 1;
    *disk.overlay().0.lock() = Some(Box::new(move || {
        let waits = matches!(reader.shared(PageNo(next)), Err(Blocked::Wait(event)) if !event.is_complete());
        count.fetch_add(u64::from(waits), Ordering::Relaxed);
        next -= 2;
    }));
    world.clock.advance(Duration::from_secs(2));
    world.pool.step_coordinator().unwrap();
    assert_eq!(world.pool.dirty_pages(), 0, "it was one slice");
    assert_eq!(missed.load(Ordering::Relaxed), 0, "reads that found no frame");
}
