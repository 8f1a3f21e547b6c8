//! Out of place: power cuts at any change, with mistakes planted that they must find.

use super::crash::crash_and_recover;
use super::*;
use crate::Codec;
use crate::places::planted::{self, Planted};
use palisade_base::prng::test_seed;

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

/// One round; whether something was lost.
fn is_found(sink: Sink, seed: u64, nth: u64) -> bool {
    let outcome = std::panic::catch_unwind(|| crash_and_recover(seed, nth, sink, codecs_of(nth)));
    !matches!(outcome, Ok(Ok(_)))
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
        (Planted::MarksGoEarly, 85),
        (Planted::OneSlot, 18),
        (Planted::SlotsAreNotSynced, 219),
        (Planted::LsnBeyondDurable, 23),
        (Planted::NoFirstPass, 15),
        (Planted::RecordsAreRedone, 128),
    ];
    let by_map = [
        (Planted::DataIsNotSynced, 2),
        (Planted::OneSlot, 74),
        (Planted::SlotsAreNotSynced, 62),
        (Planted::MapIsNotSynced, 2),
    ];
    let with_one_flush = [(Planted::DoubtfulRecordsCount, 63), (Planted::DoubtIsForgotten, 220)];
    let without_map = [(Planted::OldCopyIsTaken, 1)];
    let groups = [
        (Sink::OutOfPlace, &by_record[..], vec![]),
        (Sink::OutOfPlace, &by_map[..], vec![Planted::NoCredit]),
        (Sink::OneFlush, &with_one_flush[..], vec![]),
        (Sink::LostMap, &without_map[..], vec![]),
    ];
    let mut unfound = Vec::new();
    for (sink, mistakes, others) in groups {
        for &(mistake, first) in mistakes {
            planted::plant(&[vec![mistake], others.clone()].concat());
            let found = (first..first + 3000).find(|round| is_found(sink, seed + round, 1 + round % 149));
            eprintln!("{mistake:?} {others:?}: {found:?}");
            if found.is_none() {
                unfound.push((mistake, others.clone()));
            }
        }
    }
    planted::plant(&[]);
    assert!(unfound.is_empty(), "{unfound:?}");
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
