//! Out of place: power cuts at any change, with mistakes planted that they must find.

use super::crash::{crash_and_recover, crash_and_recover_apart};
use super::*;
use crate::Codec;
use crate::places::chunk::{self, ChunkImage, SLOT};
use crate::planted::{self, Planted};
use palisade_base::planted::rounds_that_find;
use palisade_base::prng::test_seed;
use palisade_io::CrashKeeps;

/// Every other round is one of compressed pages.
fn codecs_of(round: u64) -> &'static [Codec] {
    if round.is_multiple_of(2) { &[] } else { &Codec::ALL }
}

#[test]
fn a_power_cut_at_any_change_tears_nothing() {
    let seed = test_seed(22);
    for round in 0..140 {
        let sink = if round % 4 < 2 { Sink::OutOfPlace } else { Sink::OneFlush };
        let outcome = crash_and_recover(seed + round, 1 + round % 149, sink, codecs_of(round));
        outcome.unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
}

/// Where the pages are can be told from the pages alone, at any moment.
#[test]
fn a_map_made_again_after_a_power_cut_loses_nothing() {
    let seed = test_seed(23);
    for round in 0..90 {
        let outcome = crash_and_recover(seed + round, 1 + round % 149, Sink::LostMap, codecs_of(round));
        outcome.unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
}

/// Pages that are so far apart that most parts of the map come into being without a page.
const FAR_APART: u32 = 1500;

/// The map grows, and parts of it are written for the first time, at any time before and after a power cut.
#[test]
fn a_power_cut_while_the_map_grows_leaves_no_part_of_it_in_doubt() {
    let seed = test_seed(24);
    for planted in [&[][..], &[Planted::NoCredit]] {
        planted::plant(planted);
        for round in 0..60 {
            let sink = [Sink::OutOfPlace, Sink::OneFlush, Sink::LostMap][round as usize % 3];
            let nth = 1 + round * 7 % 149;
            let outcome = crash_and_recover_apart(FAR_APART, 0, seed + round, nth, sink, &Codec::ALL);
            outcome.unwrap_or_else(|error| panic!("{planted:?}, round {round}: {error}"));
        }
    }
    planted::plant(&[]);
}

/// Nothing changes after a power cut that has torn the second slot of a part: it is written again all the
/// same, and the log waits for that.
#[test]
fn a_part_of_the_map_whose_slots_differ_is_written_again() {
    let fs = Arc::new(FaultFileSystem::new(4));
    let world = World::create(fs.clone(), 16, Sink::OutOfPlace);
    world.change(Change { page: PageNo(0), create: true, offset: 100, value: 7 }).unwrap();
    world.pool.checkpoint_sharply().unwrap();
    drop(world);
    fs.crash(CrashKeeps::Everything);
    let map = map_file(&fs).unwrap();
    let second = || {
        let mut slot = vec![0; SLOT];
        map_file(&fs).unwrap().read_at(&mut slot, chunk::slot_offset(0, 1)).unwrap();
        ChunkImage::decode(SPACE, 0, &slot)
    };
    let before = second().unwrap();
    map.write_at(&[0xa5; 100], chunk::slot_offset(0, 1) + 1000).unwrap();
    map.sync().unwrap();
    assert_eq!(second(), None);
    let (world, mut reader) = World::open(fs.clone(), 16, Sink::OutOfPlace).unwrap();
    world.redo(&mut reader).unwrap();
    world.log.start_after_recovery(reader).unwrap();
    world.pool.checkpoint_sharply().unwrap();
    assert_eq!(second().unwrap().places, before.places);
}

/// One round; whether something was lost.
fn is_found(sink: Sink, seed: u64, nth: u64) -> bool {
    let outcome = std::panic::catch_unwind(|| crash_and_recover(seed, nth, sink, codecs_of(nth)));
    !matches!(outcome, Ok(Ok(_)))
}

/// The same, of pages that are far apart.
fn is_found_apart(sink: Sink, seed: u64, nth: u64) -> bool {
    let lives = || crash_and_recover_apart(FAR_APART, 0, seed, nth, sink, &Codec::ALL);
    !matches!(std::panic::catch_unwind(lives), Ok(Ok(_)))
}

/// The canary of the test before: it finds each mistake.
#[test]
fn power_cuts_find_planted_mistakes() {
    let seed = test_seed(22);
    // With the round at which the first seed finds each, where the search begins.
    let by_record = [
        (Planted::DataIsNotSynced, 2),
        (Planted::RecordIsNotFlushed, 53),
        (Planted::NoMarks, 2),
        (Planted::MarksGoEarly, 441),
        (Planted::OneSlot, 18),
        (Planted::SlotsAreNotSynced, 259),
        (Planted::LsnBeyondDurable, 27),
        (Planted::NoFirstPass, 15),
        (Planted::RecordsAreRedone, 434),
    ];
    let by_map = [
        (Planted::DataIsNotSynced, 2),
        (Planted::OneSlot, 74),
        (Planted::SlotsAreNotSynced, 82),
        (Planted::MapIsNotSynced, 8),
    ];
    let with_one_flush = [(Planted::DoubtfulRecordsCount, 85), (Planted::DoubtIsForgotten, 220)];
    let without_map = [(Planted::OldCopyIsTaken, 22)];
    let apart = [(Planted::CountIsEarly, 12), (Planted::GapsStay, 1), (Planted::WholeSlotGoes, 218)];
    type IsFound = fn(Sink, u64, u64) -> bool;
    let groups: [(_, &[_], _, IsFound); 5] = [
        (Sink::OutOfPlace, &by_record, vec![], is_found),
        (Sink::OutOfPlace, &by_map, vec![Planted::NoCredit], is_found),
        (Sink::OneFlush, &with_one_flush, vec![], is_found),
        (Sink::LostMap, &without_map, vec![], is_found),
        (Sink::OutOfPlace, &apart, vec![], is_found_apart),
    ];
    for (sink, mistakes, others, is_found) in groups {
        let is_found = |_, round: u64| is_found(sink, seed + round, 1 + round % 149);
        eprintln!("{others:?}: {:?}", rounds_that_find(planted::plant, mistakes, &others, is_found));
    }
}

/// The canary: what is left to the log's flush is lost on a device where that covers nothing else.
#[test]
fn one_flush_on_two_devices_loses_pages() {
    let seed = test_seed(22);
    assert!((0..500).any(|round| is_found(Sink::TwoCaches, seed + round, 1 + round % 149)));
}

#[test]
fn a_log_that_takes_no_records_is_not_needed() {
    planted::plant(&[Planted::NoCredit]);
    let seed = test_seed(23);
    for round in 0..100 {
        let outcome = crash_and_recover(seed + round, 1 + round % 149, Sink::OutOfPlace, codecs_of(round));
        outcome.unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
    planted::plant(&[]);
}
