//! Batches with pages of spaces whose sinks differ.

use super::*;
use palisade_io::{Call, Fault};

/// A world that writes through doublewrite, and a second space whose pages are written in place alone. Each
/// has two pages on disk.
fn world_of_two_sinks() -> (World, Arc<Space>) {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 16, Sink::Doublewrite);
    let file = world.fs.open(Path::new("data/plain"), OpenMode::CREATE).unwrap();
    // Its id is the lower one, so that the order of the parts is that of the pages.
    let plain = world.pool.attach_space(SpaceId(2), file, Arc::new(Off)).unwrap();
    for space in [&plain, &world.space] {
        world.retry(|| space.ensure_allocated(2)).unwrap();
        [0, 1].iter().for_each(|&page| change(&world, space, page, true));
    }
    world.pool.checkpoint_sharply().unwrap();
    (world, plain)
}

fn dirty_all(world: &World, plain: &Space) {
    for space in [plain, &world.space] {
        [0, 1].iter().for_each(|&page| change(world, space, page, false));
    }
    world.log.flush_blocking(world.log.tail()).unwrap();
}

const PLAIN: &str = "\
write data/plain 0+32768
sync data/plain
";
const DOUBLY: &str = "\
write data/doublewrite.0 32768+32768
sync data/doublewrite.0
write data/space 0+32768
sync data/space
";

#[test]
fn a_batch_is_divided_by_the_sinks_of_its_pages() {
    let (world, plain) = world_of_two_sinks();
    dirty_all(&world, &plain);
    world.fs.start_trace();
    world.pool.checkpoint_sharply().unwrap();
    let trace = world.fs.take_trace();
    assert!(trace.starts_with(&format!("{PLAIN}{DOUBLY}")), "{trace}");
}

#[test]
fn a_space_may_be_given_another_sink() {
    let (world, plain) = world_of_two_sinks();
    world.pool.set_sink(&plain, world.sink.clone());
    dirty_all(&world, &plain);
    world.fs.start_trace();
    world.pool.checkpoint_sharply().unwrap();
    let trace = world.fs.take_trace();
    let expected = "\
write data/doublewrite.0 32768+65536
sync data/doublewrite.0
write data/plain 0+32768
write data/space 0+32768
sync data/plain
sync data/space
";
    assert!(trace.starts_with(expected), "one sink, one part: {trace}");
}

#[test]
fn a_part_that_is_written_is_not_written_again_when_the_disk_was_too_full_for_the_next() {
    let (world, plain) = world_of_two_sinks();
    dirty_all(&world, &plain);
    // The copies have been written; the pages in place have not.
    world.fs.fail(Call::Write, 3, Fault::NoSpace);
    assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Full { .. })));
    let frame = |space: &Space| {
        let frame = space.owned_entry(PageNo(0)).frame().unwrap();
        world.pool.core().frames.is_writing(frame)
    };
    assert!(!frame(&plain) && frame(&world.space), "pages of a part that is written may leave");
    let file = Arc::downgrade(plain.file());
    world.pool.detach_space(plain.id());
    drop(plain);
    assert!(file.upgrade().is_none(), "the batch keeps no file of a part that is written");
    world.fs.start_trace();
    world.pool.checkpoint_sharply().unwrap();
    let trace = world.fs.take_trace();
    assert!(trace.starts_with(DOUBLY), "{trace}");
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
}

#[test]
fn the_parts_behind_one_that_the_disk_is_too_full_for_wait() {
    let (world, plain) = world_of_two_sinks();
    dirty_all(&world, &plain);
    world.fs.fail(Call::Write, 1, Fault::NoSpace);
    world.fs.start_trace();
    assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Full { .. })));
    assert_eq!(world.fs.take_trace(), "write data/plain 0+32768: ENOSPC\n");
    world.pool.step().unwrap();
    let trace = world.fs.take_trace();
    assert!(trace.starts_with(&format!("{PLAIN}{DOUBLY}")), "{trace}");
}
