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
    for round in 0..100 {
        let outcome = crash_and_recover(seed + round, 1 + round % 149, Sink::OutOfPlace, codecs_of(round));
        outcome.unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
}

/// One round; whether something was lost.
fn is_found(seed: u64, nth: u64) -> bool {
    let outcome = std::panic::catch_unwind(|| crash_and_recover(seed, nth, Sink::OutOfPlace, codecs_of(nth)));
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
    let mut unfound = Vec::new();
    for (mistakes, others) in [(&by_record[..], vec![]), (&by_map[..], vec![Planted::NoCredit])] {
        for &(mistake, first) in mistakes {
            planted::plant(&[vec![mistake], others.clone()].concat());
            let found = (first..first + 3000).find(|round| is_found(seed + round, 1 + round % 149));
            eprintln!("{mistake:?} {others:?}: {found:?}");
            if found.is_none() {
                unfound.push((mistake, others.clone()));
            }
        }
    }
    planted::plant(&[]);
    assert!(unfound.is_empty(), "{unfound:?}");
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
