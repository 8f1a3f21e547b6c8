//! Power cuts at every change of the disk.
//!
//! A workload runs until the power is cut at its n-th write, sync or resize; on the way the disk is full now
//! and then. What it then holds - synced bytes, and any sectors of the rest - must give back every change up
//! to the end of the log that survived, after repair and redo. With compression, pages become smaller and
//! larger again, so that holes are punched and filled.

use super::*;
use crate::Codec;
use crate::planted::{self, Planted};
use palisade_base::planted::rounds_that_find;
use palisade_base::prng::{Prng, test_seed};
use palisade_io::{Call, CrashKeeps, Fault};

const PAGES: u64 = 12;
const FRAMES: usize = 6;
const LIVES: usize = 3;
/// Changes in a life, if it is not cut short.
const CHANGES: usize = 150;

/// Random changes, with steps of the cleaner in between, until the power fails or `changes` are made. What
/// was changed, and up to where it is known to be durable.
fn run(world: &World, random: &mut Prng, stride: u32, history: &mut Vec<(Lsn, Change)>) -> Lsn {
    let mut durable = Lsn::ZERO;
    for _ in 0..CHANGES {
        let page = PageNo(random.below(PAGES) as u32 * stride);
        let last = history.iter().rev().find(|(_, change)| change.page == page);
        let exists = last.is_some_and(|(_, change)| change.offset != BLANK);
        let offset = match random.below(8) {
            0 if world.space.packing().is_some() => NOISE.into(),
            1 if world.space.packing().is_some() => CALM.into(),
            _ => PAGE_HEADER as u64 + random.below((page_bytes() - PAGE_HEADER - 7) as u64),
        };
        let mut create = !exists || random.one_in(40);
        let mut offset = offset as u16;
        if world.has_blanks && exists && random.one_in(6) {
            (create, offset) = (false, BLANK);
        }
        let change = Change { page, create, offset, value: random.next_u64() };
        match random.below(60) {
            0 => world.fs.fail(Call::Write, 1 + random.below(4), Fault::NoSpace),
            // For a while the disk takes nothing for the pages, and the log goes on.
            1 => world.fs.set_full_for(Some(Path::new(SPACE_FILE))),
            2..8 => world.fs.set_full_for(None),
            _ => {}
        }
        if world.space.packing().is_some() && random.one_in(30) {
            // Also a hole may need room, for what the file system knows of it.
            world.fs.fail(Call::Resize, 1 + random.below(4), Fault::NoSpace);
        }
        match world.change(change) {
            Ok(end) => history.push((end, change)),
            Err(Error::Full { .. } | Error::NoSpace { .. }) => {}
            Err(_) => break,
        }
        world.clock.advance(Duration::from_millis(random.below(200)));
        if random.one_in(3) && has_stopped(world.pool.step()) {
            break;
        }
        if random.one_in(20) {
            // One that is under way goes on.
            let _ = world.pool.resize(FRAMES / 2 + random.below(2 * FRAMES as u64) as usize);
        }
        if random.one_in(25) && has_stopped(world.pool.checkpoint_sharply()) {
            break;
        }
        if random.one_in(4) && world.log.flush_blocking(world.log.tail()).is_err() {
            break;
        }
        durable = durable.max(world.log.durable_lsn());
    }
    durable
}

/// Whether it is over. A full disk is not the end.
fn has_stopped<T>(outcome: Result<T, Error>) -> bool {
    outcome.is_err_and(|error| !matches!(error, Error::Full { .. }))
}

/// Lives of one world: in each, it is crashed at its `nth` change and recovered. How many torn pages were
/// repaired; an error if a page cannot be read, a panic if one is wrong.
pub(super) fn crash_and_recover(seed: u64, nth: u64, sink: Sink, codecs: &[Codec]) -> Result<usize, Error> {
    crash_and_recover_keeping(0, seed, nth, sink, codecs)
}

/// The same, with so many percent of the pool for changes of pages that leave memory unwritten.
pub(super) fn crash_and_recover_keeping(
    kept_share: u32,
    seed: u64,
    nth: u64,
    sink: Sink,
    codecs: &[Codec],
) -> Result<usize, Error> {
    // Compressed pages need no room in front of them: they are in all parts of a chunk, and of the next.
    let stride = if sink.is_placed() && !codecs.is_empty() { 97 } else { 1 };
    crash_and_recover_apart(stride, kept_share, seed, nth, sink, codecs)
}

/// The same, with the numbers of pages so far apart.
pub(super) fn crash_and_recover_apart(
    stride: u32,
    kept_share: u32,
    seed: u64,
    nth: u64,
    sink: Sink,
    codecs: &[Codec],
) -> Result<usize, Error> {
    // With all pages in memory recovery writes none, and the map stays what it was.
    let has_one_flush = matches!(sink, Sink::OneFlush | Sink::LostMap);
    let frames = if has_one_flush && seed.is_multiple_of(2) { 3 * FRAMES } else { FRAMES };
    let mut random = Prng::new(seed);
    let fs = Arc::new(FaultFileSystem::new(seed));
    let mut world = World::create(fs.clone(), frames, sink);
    let pack = |world: &World, random: &mut Prng| {
        world.pool.set_kept_share(kept_share);
        if !codecs.is_empty() {
            let codec = codecs[random.below(codecs.len() as u64) as usize];
            world.space.set_packing(Some((codec, None)));
        }
    };
    pack(&world, &mut random);
    let (mut history, mut repaired) = (Vec::new(), 0);
    for life in 0..LIVES {
        // Soon after a recovery, too, which may have passed records over.
        let is_soon = has_one_flush && life > 0 && random.one_in(2);
        let nth = if is_soon { 1 + random.below(12) } else { nth };
        fs.fail(Call::Change, nth, Fault::Crash);
        let durable = run(&world, &mut random, stride, &mut history);
        // In some lives it is the process that ends, and the power is cut in the next.
        let keeps = if (seed + life as u64) % 4 == 3 { CrashKeeps::Everything } else { CrashKeeps::Random };
        fs.crash(keeps);

        // The power may be cut again while recovery runs.
        if random.one_in(3) {
            fs.fail(Call::Change, 1 + random.below(20), Fault::Crash);
            let recovered = recover(fs.clone(), frames, sink);
            if !fs.is_down() {
                recovered?;
            }
            fs.crash(CrashKeeps::Random);
        }

        let (recovered, end, pages) = recover(fs.clone(), frames, sink)?;
        world = recovered;
        pack(&world, &mut random);
        repaired += pages;
        let blank = (0..PAGES as u32).map(|page| PageNo(page * stride)).filter(|page| {
            let last = history.iter().rfind(|(lsn, change)| change.page == *page && *lsn <= end);
            last.is_none_or(|(_, change)| change.offset == BLANK)
        });
        world.forget_blanks(&blank.collect::<Vec<_>>())?;
        world.space.places().into_iter().for_each(|places| places.assert_sound());
        assert!(end >= durable, "the log lost what was durable: it ends at {end:?}, {durable:?} was durable");
        history.retain(|(change_end, _)| *change_end <= end);
        for page in (0..PAGES as u32).map(|page| PageNo(page * stride)) {
            if let Some(expected) = replay(&history, page, end) {
                assert!(world.body(page)? == expected, "page {} is wrong after recovery to {end:?}", page.0);
            }
        }
        if random.one_in(2) {
            world.pool.checkpoint_sharply()?;
        }
    }
    Ok(repaired)
}

/// Repair and redo. The world, the end of its log, and how many pages were repaired.
pub(super) fn recover(
    fs: Arc<FaultFileSystem>,
    frames: usize,
    sink: Sink,
) -> Result<(World, Lsn, usize), Error> {
    let (world, mut reader) = World::open(fs, frames, sink)?;
    let repaired = world.repair(|space| (space == SPACE).then(|| world.space.file().clone()))?.pages.len();
    let end = world.redo(&mut reader)?;
    world.log.start_after_recovery(reader).map_err(|error| unless_down(&world.fs, error))?;
    Ok((world, end, repaired))
}

#[test]
fn after_a_power_cut_at_any_change_every_page_is_recovered() {
    let seed = test_seed(21);
    let repaired: usize = (0..70)
        .map(|round| {
            let outcome = crash_and_recover(seed + round, 1 + round % 97, Sink::Doublewrite, &[]);
            outcome.unwrap_or_else(|error| panic!("round {round}: {error}"))
        })
        .sum();
    assert!(repaired > 0, "the power cuts of this test tear no page");
}

#[test]
fn after_a_power_cut_at_any_change_every_compressed_page_is_recovered() {
    let seed = test_seed(22);
    let repaired: usize = (0..120)
        .map(|round| {
            let outcome = crash_and_recover(seed + round, 1 + round % 97, Sink::Doublewrite, &Codec::ALL);
            outcome.unwrap_or_else(|error| panic!("round {round}: {error}"))
        })
        .sum();
    assert!(repaired > 0, "the power cuts of this test tear no page");
}

#[test]
fn after_a_power_cut_at_any_change_every_page_of_another_size_is_recovered() {
    let seed = test_seed(23);
    at_other_sizes(|| {
        for round in 0..24 {
            let codecs: &[Codec] = if round % 2 == 0 { &[] } else { &Codec::ALL };
            let sink = [Sink::Doublewrite, Sink::OutOfPlace, Sink::OneFlush][round as usize / 2 % 3];
            let outcome = crash_and_recover(seed + round, 1 + round * 5, sink, codecs);
            outcome.unwrap_or_else(|error| panic!("pages of {} bytes, round {round}: {error}", page_bytes()));
        }
    });
}

/// The canary: without doublewrite the same power cuts tear pages for good, and the checksum says so.
#[test]
fn without_doublewrite_torn_pages_stay_torn_and_are_noticed() {
    let seed = test_seed(21);
    let torn = (0..1000).any(|round| match crash_and_recover(seed + round, 1 + round % 97, Sink::Off, &[]) {
        Ok(_) => false,
        Err(Error::Corrupted { .. }) => true,
        Err(error) => panic!("round {round}: {error}"),
    });
    assert!(torn, "the power cuts of this test tear no page: it proves nothing about doublewrite");
}

/// The canary of the tests before: in place, too, power cuts find each mistake.
#[test]
fn power_cuts_find_mistakes_planted_in_place() {
    let seed = test_seed(24);
    let is_found = |mistake: Planted, round: u64| {
        // Holes come about where pages are compressed.
        let is_packed = mistake == Planted::HoleIsTooLarge || round % 2 == 1;
        let codecs: &[Codec] = if is_packed { &Codec::ALL } else { &[] };
        let lives = || crash_and_recover(seed + round, 1 + round % 149, Sink::Doublewrite, codecs);
        !matches!(std::panic::catch_unwind(lives), Ok(Ok(_)))
    };
    // With the round at which the first seed finds each, where the search begins.
    let mistakes = [
        (Planted::CopiesAreNotSynced, 28),
        (Planted::CopiesComeLate, 24),
        (Planted::PlacesAreNotSynced, 3),
        (Planted::LogIsNotFirst, 10),
        (Planted::MarksOfPagesGoEarly, 118),
        (Planted::HoleIsTooLarge, 3),
        (Planted::FullDiskIsPassedOver, 34),
    ];
    eprintln!("{:?}", rounds_that_find(planted::plant, &mistakes, &[], is_found));
    // Either of the two syncs that recovery has for pages with copies would do.
    let syncs = [(Planted::RepairIsNotSynced, 59)];
    eprintln!("{:?}", rounds_that_find(planted::plant, &syncs, &[Planted::FoundIsNotSynced], is_found));
}

/// The power is cut in the life after one that was killed when it had written a page and not synced it.
#[test]
fn a_page_that_a_killed_process_has_written_is_kept() {
    let fs = Arc::new(FaultFileSystem::new(6));
    let world = World::create(fs.clone(), 16, Sink::Off);
    let change = |create, value| Change { page: PageNo(0), create, offset: 100, value };
    world.change(change(true, 1)).unwrap();
    world.pool.checkpoint_sharply().unwrap();
    world.change(change(false, 2)).unwrap();
    world.log.flush_blocking(world.log.tail()).unwrap();
    fs.fail(Call::Sync, 1, Fault::Crash);
    assert!(world.pool.checkpoint_sharply().is_err() && fs.is_down());
    let written = world.log.tail();
    drop(world);
    fs.crash(CrashKeeps::Everything);

    let (world, end, _) = recover(fs.clone(), 16, Sink::Off).unwrap();
    assert_eq!((end, world.pool.dirty_pages()), (written, 0), "the page is found as it was written");
    // The log goes on so far that a checkpoint passes the change.
    for _ in 0..40 {
        let mut credit = world.log.admit(3000).unwrap();
        world.log.append(&mut credit, &[0; 3000], |_| {});
        world.log.flush_blocking(world.log.tail()).unwrap();
    }
    world.pool.checkpoint_sharply().unwrap();
    assert!(world.log.checkpoint_lsn() >= written);
    drop(world);
    fs.crash(CrashKeeps::Synced);

    let (world, _) = World::open(fs, 16, Sink::Off).unwrap();
    let body = world.body(PageNo(0)).unwrap();
    let at = 100 - PAGE_HEADER;
    assert_eq!(body[at..at + 8], change(false, 2).value.to_le_bytes());
}

#[test]
fn a_page_that_is_not_synced_at_a_start_is_lost() {
    planted::plant(&[Planted::FoundIsNotSynced]);
    let found = std::panic::catch_unwind(a_page_that_a_killed_process_has_written_is_kept).is_err();
    planted::plant(&[]);
    assert!(found);
}
