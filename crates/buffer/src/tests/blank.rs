//! Pages of a space out of place that are blank: they are not written, their runs become free, and what is
//! free gives its room back, also of a space that is not compressed.

use super::crash::{crash_and_recover, crash_and_recover_apart, recover};
use super::*;
use crate::places::Place;
use crate::planted::{self, Planted};
use crate::{Codec, metrics};
use palisade_base::planted::rounds_that_find;
use palisade_base::prng::test_seed;
use palisade_io::{Call, CrashKeeps, Fault};

/// So many that the room of most of them is worth giving back.
const PAGES: u32 = 400;
const FRAMES: usize = 24;
/// Changes between two steps of the cleaner.
const PAUSE: usize = 50;

type History = Vec<(Lsn, Change)>;

fn new_world(seed: u64, sink: Sink) -> World {
    with_blanks(|| World::create(Arc::new(FaultFileSystem::new(seed)), FRAMES, sink))
}

fn codecs_of(round: u64) -> &'static [Codec] {
    if round.is_multiple_of(2) { &[] } else { &Codec::ALL }
}

/// Changes pages, and lets the cleaner look now and then.
fn change_all(
    world: &World,
    pages: impl IntoIterator<Item = u32>,
    offset: u16,
    history: &mut History,
) -> Result<(), Error> {
    for page in pages {
        let value = history.len() as u64 + 1;
        let change = Change { page: PageNo(page), create: offset != BLANK, offset, value };
        history.push((world.change(change)?, change));
        if history.len().is_multiple_of(PAUSE) {
            look(world)?;
        }
    }
    world.pool.checkpoint_sharply()?;
    (0..4).try_for_each(|_| look(world))
}

/// The cleaner has its turn, a checkpoint and a look at what is free included.
fn look(world: &World) -> Result<(), Error> {
    world.clock.advance(Duration::from_secs(2));
    world.pool.step().map(drop)
}

fn check(world: &World, history: &[(Lsn, Change)], end: Lsn) {
    world.space.places().unwrap().assert_sound();
    for page in (0..PAGES).map(PageNo) {
        if let Some(expected) = replay(history, page, end) {
            assert!(world.body(page).unwrap() == expected, "page {}", page.0);
        }
    }
}

fn room(world: &World) -> u64 {
    world.space.file().allocated().unwrap()
}

#[test]
fn blank_pages_give_their_room_back_and_take_it_again() {
    let (world, mut history) = (new_world(1, Sink::OutOfPlace), History::new());
    change_all(&world, 0..PAGES, NOISE, &mut history).unwrap();
    let (all, len) = (room(&world), world.space.file().len().unwrap());
    assert!(all >= u64::from(PAGES) * page_bytes() as u64);
    for turn in 0..4 {
        // All but a tenth, at the beginning, at the end, or in between.
        let kept = [0..40, 360..400, 200..240, 100..140][turn].clone();
        let gone: Vec<u32> = (0..PAGES).filter(|page| !kept.contains(page)).collect();
        change_all(&world, gone.iter().copied(), BLANK, &mut history).unwrap();
        assert!(room(&world) * 2 < all, "turn {turn}: {} of {all}", room(&world));
        assert_eq!(world.space.places().unwrap().place(PageNo(gone[0])), Place::BLANK);
        check(&world, &history, Lsn::MAX);
        change_all(&world, gone, NOISE, &mut history).unwrap();
        assert!(world.space.file().len().unwrap() <= len, "turn {turn}: the file grows");
        assert!(room(&world) <= len, "turn {turn}");
        check(&world, &history, Lsn::MAX);
    }
}

#[test]
fn a_blank_page_is_not_written_and_has_no_flush_of_its_own() {
    let (world, mut history) = (new_world(2, Sink::OneFlush), History::new());
    change_all(&world, 0..8, NOISE, &mut history).unwrap();
    let before = metrics::PAGES_BLANK.value();
    for page in (0..8).map(PageNo) {
        let change = Change { page, create: false, offset: BLANK, value: 1 };
        history.push((world.change(change).unwrap(), change));
    }
    world.fs.start_trace();
    while world.pool.dirty_pages() > 0 {
        look(&world).unwrap();
    }
    let trace = world.fs.take_trace();
    assert!(!trace.contains(SPACE_FILE), "{trace}");
    assert!(metrics::PAGES_BLANK.value() >= before + 8);
    check(&world, &history, Lsn::MAX);
}

/// Rows come and go for ever, as those of a queue do.
#[test]
fn a_steady_load_keeps_the_file_and_its_room_bounded() {
    let (world, mut history) = (new_world(3, Sink::OutOfPlace), History::new());
    change_all(&world, 0..PAGES, NOISE, &mut history).unwrap();
    let (len, mut random) = (world.space.file().len().unwrap(), Prng::new(test_seed(33)));
    for _ in 0..30 {
        let mut some: Vec<u32> = (0..120).map(|_| random.below(PAGES.into()) as u32).collect();
        some.sort_unstable();
        some.dedup();
        let is_there = |page: &u32| {
            let last = history.iter().rfind(|(_, change)| change.page.0 == *page);
            last.is_some_and(|(_, change)| change.offset != BLANK)
        };
        let (there, gone): (Vec<u32>, Vec<u32>) = some.into_iter().partition(is_there);
        change_all(&world, there, BLANK, &mut history).unwrap();
        change_all(&world, gone, NOISE, &mut history).unwrap();
        assert!(world.space.file().len().unwrap() <= len);
        check(&world, &history, Lsn::MAX);
    }
}

#[test]
fn a_power_cut_at_any_change_brings_no_page_back_that_is_blank() {
    let seed = test_seed(34);
    // Of a map that is made again the pages in no use are told by records.
    let without_records = [Sink::OutOfPlace, Sink::OneFlush, Sink::OneFlush];
    for (planted, sinks) in [
        (&[][..], [Sink::OutOfPlace, Sink::OneFlush, Sink::LostMap]),
        (&[Planted::NoCredit], without_records),
    ] {
        planted::plant(planted);
        for round in 0..90 {
            let sink = sinks[round as usize % 3];
            let nth = 1 + round * 5 % 149;
            let outcome = with_blanks(|| match round % 5 {
                0 => crash_and_recover_apart(1500, 20, seed + round, nth, sink, &Codec::ALL),
                _ => crash_and_recover(seed + round, nth, sink, codecs_of(round)),
            });
            outcome.unwrap_or_else(|error| panic!("{planted:?}, round {round}: {error}"));
        }
    }
    planted::plant(&[]);
}

/// The canary of the test before.
#[test]
fn power_cuts_find_mistakes_about_blank_pages() {
    let seed = test_seed(34);
    let by_map = [(Planted::BlanksGoToTheMap, 0)];
    let by_record = [(Planted::BlankSinceIsForgotten, 0), (Planted::RecordIsNotFlushed, 0)];
    let without_map = [(Planted::FoundCopyStays, 0)];
    let groups: [(_, &[_], _); 3] = [
        (Sink::OutOfPlace, &by_map, vec![Planted::NoCredit]),
        (Sink::OutOfPlace, &by_record, vec![]),
        (Sink::LostMap, &without_map, vec![]),
    ];
    for (sink, mistakes, others) in groups {
        let is_found = |_, round: u64| {
            let lives =
                || with_blanks(|| crash_and_recover(seed + round, 1 + round % 149, sink, codecs_of(round)));
            !matches!(std::panic::catch_unwind(lives), Ok(Ok(_)))
        };
        eprintln!("{others:?}: {:?}", rounds_that_find(planted::plant, mistakes, &others, is_found));
    }
}

#[test]
fn a_power_cut_while_room_of_blank_pages_goes_and_comes_loses_nothing() {
    let seed = test_seed(35);
    for round in 0..40 {
        let sink = [Sink::OutOfPlace, Sink::OneFlush][round as usize % 2];
        let (world, mut history) = (new_world(seed + round, sink), History::new());
        change_all(&world, 0..PAGES, NOISE, &mut history).unwrap();
        let fs = world.fs.clone();
        fs.fail(Call::Change, 1 + Prng::new(seed ^ round).below(400), Fault::Crash);
        // It may also end before the power fails.
        let _ = change_all(&world, 30..PAGES, BLANK, &mut history)
            .and_then(|()| change_all(&world, 30..PAGES, NOISE, &mut history));
        let durable = world.log.durable_lsn();
        drop(world);
        fs.crash(if round % 4 == 3 { CrashKeeps::Everything } else { CrashKeeps::Random });
        let (world, end, _) = with_blanks(|| recover(fs, FRAMES, sink)).unwrap();
        assert!(end >= durable);
        history.retain(|(change_end, _)| *change_end <= end);
        check(&world, &history, end);
        change_all(&world, 30..PAGES, NOISE, &mut history).unwrap();
        change_all(&world, 30..PAGES, BLANK, &mut history).unwrap();
        assert!(room(&world) * 2 < u64::from(PAGES) * page_bytes() as u64);
        check(&world, &history, Lsn::MAX);
    }
}

/// As long as there is room for all pages that there may be, and while there are holes, a full disk is told to
/// who wants a page. How many pages were created.
fn fill_a_full_disk() -> u32 {
    let (world, mut history) = (new_world(4, Sink::OutOfPlace), History::new());
    change_all(&world, 0..PAGES, NOISE, &mut history).unwrap();
    change_all(&world, 40..PAGES, BLANK, &mut history).unwrap();
    world.fs.limit_space(Some(world.fs.used_space() + 20 * page_bytes() as u64));
    let mut created = 0;
    for page in 40..PAGES {
        let value = u64::from(page);
        let change = Change { page: PageNo(page), create: true, offset: NOISE, value };
        match world.change(change) {
            Ok(end) => history.push((end, change)),
            Err(Error::NoSpace { .. }) => break,
            Err(error) => panic!("{error}"),
        }
        created += 1;
        look(&world).unwrap();
    }
    // Who has been given a page has it written.
    world.pool.checkpoint_sharply().unwrap();
    check(&world, &history, Lsn::MAX);
    // Pages that become blank make room for others.
    change_all(&world, 0..40, BLANK, &mut history).unwrap();
    change_all(&world, 0..20, NOISE, &mut history).unwrap();
    world.fs.limit_space(None);
    change_all(&world, 40..PAGES, NOISE, &mut history).unwrap();
    check(&world, &history, Lsn::MAX);
    created
}

#[test]
fn a_disk_that_is_full_is_told_to_who_wants_a_page() {
    let created = fill_a_full_disk();
    assert!((20..PAGES - 40).contains(&created), "{created}");
}

#[test]
fn promises_that_are_forgotten_are_found() {
    planted::plant(&[Planted::PromisesAreForgotten]);
    let found = std::panic::catch_unwind(fill_a_full_disk).is_err();
    planted::plant(&[]);
    assert!(found);
}
