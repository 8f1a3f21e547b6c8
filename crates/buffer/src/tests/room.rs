//! Free runs of a space that is compressed give their room back to the disk, and get it again.

use super::crash::recover;
use super::*;
use crate::Codec;
use palisade_base::prng::test_seed;
use palisade_io::{Call, CrashKeeps, Fault};

/// So many that the room of some of their blocks is worth giving back.
const PAGES: u32 = 300;
const FRAMES: usize = 16;
/// Changes between two looks at what is free.
const PAUSE: u32 = 40;

fn world(seed: u64, sink: Sink) -> World {
    World::create(Arc::new(FaultFileSystem::new(seed)), FRAMES, sink)
}

/// Pages are compressed from now on, whatever those before them were like.
fn pack(world: &World) {
    world.space.set_packing(None);
    world.space.set_packing(Some((Codec::Lz4, None)));
}

/// Fills every page with something of this kind, and lets the cleaner look now and then.
fn fill(world: &World, with: u16, create: bool, history: &mut Vec<(Lsn, Change)>) -> Result<(), Error> {
    pack(world);
    for page in 0..PAGES {
        let value = history.len() as u64 + 1;
        let change = Change { page: PageNo(page), create, offset: with, value };
        history.push((world.change(change)?, change));
        if page % PAUSE == 0 {
            world.clock.advance(Duration::from_secs(2));
            world.pool.step()?;
        }
    }
    world.pool.checkpoint_sharply()?;
    world.clock.advance(Duration::from_secs(2));
    world.pool.step()?;
    Ok(())
}

fn check(world: &World, history: &[(Lsn, Change)], end: Lsn) {
    for page in (0..PAGES).map(PageNo) {
        if let Some(expected) = replay(history, page, end) {
            assert!(world.body(page).unwrap() == expected, "page {}", page.0);
        }
    }
}

#[test]
fn room_that_pages_need_no_more_goes_back_to_the_disk_and_is_taken_again() {
    let (world, mut history) = (world(1, Sink::OutOfPlace), Vec::new());
    let room = |world: &World| world.space.file().allocated().unwrap();
    fill(&world, NOISE, true, &mut history).unwrap();
    let all = room(&world);
    assert!(all >= u64::from(PAGES) * page_bytes() as u64);
    for turn in 0..3 {
        fill(&world, CALM, false, &mut history).unwrap();
        let len = world.space.file().len().unwrap();
        assert!(room(&world) * 10 < all * 7, "turn {turn}: {} of {all}", room(&world));
        assert!(len >= all, "turn {turn}: the file is as long as it was");
        check(&world, &history, Lsn::MAX);
        fill(&world, NOISE, false, &mut history).unwrap();
        check(&world, &history, Lsn::MAX);
        let grown = world.space.file().len().unwrap();
        assert!(grown * 10 <= len * 11, "turn {turn}: holes come before more file: {grown} after {len}");
        world.space.places().unwrap().assert_sound();
    }
}

#[test]
fn a_power_cut_while_room_goes_and_comes_loses_nothing() {
    let seed = test_seed(31);
    for round in 0..48 {
        let sink = [Sink::OutOfPlace, Sink::OneFlush, Sink::LostMap][round as usize % 3];
        let (world, mut history) = (world(seed + round, sink), Vec::new());
        fill(&world, NOISE, true, &mut history).unwrap();
        fill(&world, CALM, false, &mut history).unwrap();
        let fs = world.fs.clone();
        fs.fail(Call::Change, 1 + Prng::new(seed ^ round).below(300), Fault::Crash);
        let file = world.space.file();
        assert!(file.allocated().unwrap() < file.len().unwrap(), "there are holes before");
        // It may also end before the power fails.
        let _ =
            fill(&world, NOISE, false, &mut history).and_then(|()| fill(&world, CALM, false, &mut history));
        let durable = world.log.durable_lsn();
        drop(world);
        fs.crash(if round % 4 == 3 { CrashKeeps::Everything } else { CrashKeeps::Random });
        let (world, end, _) = recover(fs, FRAMES, sink).unwrap();
        assert!(end >= durable);
        history.retain(|(change_end, _)| *change_end <= end);
        world.space.places().unwrap().assert_sound();
        check(&world, &history, end);
        fill(&world, CALM, false, &mut history).unwrap();
        fill(&world, NOISE, false, &mut history).unwrap();
        check(&world, &history, Lsn::MAX);
    }
}

#[test]
fn a_file_system_that_makes_no_hole_keeps_the_room_and_is_asked_once() {
    let (world, mut history) = (world(2, Sink::OutOfPlace), Vec::new());
    fill(&world, NOISE, true, &mut history).unwrap();
    pack(&world);
    for page in 0..PAGES {
        let change = Change { page: PageNo(page), create: false, offset: CALM, value: 3 };
        history.push((world.change(change).unwrap(), change));
    }
    world.pool.checkpoint_sharply().unwrap();
    world.fs.fail(Call::Resize, 1, Fault::Io);
    world.fs.start_trace();
    for _ in 0..3 {
        world.clock.advance(Duration::from_secs(2));
        world.pool.step().unwrap();
    }
    let trace = world.fs.take_trace();
    assert_eq!(trace.matches("punch_hole").count(), 1, "{trace}");
    let file = world.space.file();
    assert_eq!(file.allocated().unwrap(), file.len().unwrap());
    check(&world, &history, Lsn::MAX);
}

/// Room for what was given back may be gone: pages then wait for it, and nothing is lost.
#[test]
fn a_disk_that_is_full_when_room_is_wanted_again_is_told() {
    let (world, mut history) = (world(3, Sink::OutOfPlace), Vec::new());
    fill(&world, NOISE, true, &mut history).unwrap();
    fill(&world, CALM, false, &mut history).unwrap();
    world.fs.set_full_for(Some(Path::new(SPACE_FILE)));
    let full = fill(&world, NOISE, false, &mut history);
    assert!(matches!(full, Err(Error::Full { .. })), "{full:?}");
    world.fs.set_full_for(None);
    fill(&world, NOISE, false, &mut history).unwrap();
    check(&world, &history, Lsn::MAX);
    world.space.places().unwrap().assert_sound();
}
