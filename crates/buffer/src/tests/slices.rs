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

/// A disk that calls a hook before each write of a page, and counts syncs.
#[derive(Default)]
struct Hooked(Mutex<Option<Hook>>, AtomicU64);

impl Overlay for Hooked {
    fn write_at(&self, _: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        // Whatever the hook itself writes does not call it again.
        let hook = self.0.lock().take();
        if let Some(mut hook) = hook {
            hook();
            *self.0.lock() = Some(hook);
        }
        file.write_at(bytes, offset)
    }

    fn sync(&self, _: &Path, file: &dyn File) -> io::Result<()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        file.sync()
    }
}

/// A world of so many frames, and a space of [`PAGES`] pages that are on disk.
fn world_of(frames: usize) -> (World, OverlayFileSystem<Hooked>, Arc<Space>) {
    world_with(frames, 1)
}

fn world_with(frames: usize, cleaners: usize) -> (World, OverlayFileSystem<Hooked>, Arc<Space>) {
    let fs = Arc::new(FaultFileSystem::new(1));
    let world = World::create_with(fs, frames, Sink::Doublewrite, cleaners);
    let disk = OverlayFileSystem::new(world.fs.clone(), Hooked::default());
    let file = disk.open(Path::new("data/other"), OpenMode::CREATE).unwrap();
    let space = world.pool.attach_space(OTHER, file, world.sink.clone()).unwrap();
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

/// Pages of two spaces, made dirty in turn, so that they lie side by side in the frames: each batch writes
/// one space and syncs one file.
#[test]
fn pages_are_written_in_the_order_of_the_files() {
    let (world, disk, space) = world_of(128);
    let second = disk.open(Path::new("data/second"), OpenMode::CREATE).unwrap();
    let second = world.pool.attach_space(SpaceId(5), second, world.sink.clone()).unwrap();
    world.retry(|| second.ensure_allocated(PAGES)).unwrap();
    world.pool.checkpoint_sharply().unwrap();
    let batch = BATCH_PAGES as u32;
    let dirty = |is_first| {
        for page in 0..2 * batch {
            change(&world, &space, 2 * page, false);
            change(&world, &second, 2 * page, is_first);
        }
        world.log.flush_blocking(world.log.tail()).unwrap();
        disk.overlay().1.store(0, Ordering::Relaxed);
    };
    let syncs = || disk.overlay().1.load(Ordering::Relaxed);

    dirty(true);
    world.pool.checkpoint_sharply().unwrap();
    assert_eq!((world.pool.dirty_pages(), syncs()), (0, 4), "four batches");

    dirty(false);
    world.pool.step_coordinator().unwrap();
    world.clock.advance(Duration::from_secs(2));
    world.pool.step_coordinator().unwrap();
    assert_eq!((world.pool.dirty_pages(), syncs()), (0, 4), "four batches");
}

#[test]
fn the_other_cleaners_help_once_the_coordinator_is_behind() {
    let (world, disk, space) = world_with(128, 2);
    dirty(&world, &space, 16);
    world.pool.step_coordinator().unwrap();
    world.clock.advance(Duration::from_secs(2));
    // While the coordinator writes, which takes a while, the other cleaner comes round.
    let (clock, pool) = (world.clock.clone(), Arc::downgrade(&world.pool));
    *disk.overlay().0.lock() = Some(Box::new(move || {
        clock.advance(Duration::from_millis(40));
        pool.upgrade().unwrap().step_evictor(1).unwrap();
    }));
    world.pool.step_coordinator().unwrap();
    assert_eq!(world.pool.dirty_pages(), 12, "a first slice: the coordinator alone writes a batch");
    world.pool.step_coordinator().unwrap();
    assert_eq!(world.pool.dirty_pages(), 0, "it was behind: the other has written the rest");
    assert_eq!(world.pool.step_coordinator().unwrap(), Duration::from_millis(500), "nothing is left to do");
    *disk.overlay().0.lock() = None;
}
