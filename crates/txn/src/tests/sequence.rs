//! The slot ring: visibility against a naive list of commits, with a ring so small that it turns over all the time.

use std::collections::HashMap;

use palisade_base::prng::{Prng, test_seed};
use palisade_base::{Lsn, TrxId};

use crate::sequence::{LOW_WATER_STEP, Outcome, Sequence, Snapshot};
use crate::sessions::SessionNo;

/// What the naive side knows of a transaction.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Active,
    Committed(Lsn),
    RolledBack,
}

#[test]
fn visibility_agrees_with_a_list_of_commits_however_often_slots_are_recycled() {
    let mut prng = Prng::new(test_seed(5));
    for _ in 0..30 {
        let sequence = Sequence::new(16, 4, TrxId(1));
        let mut tail = Lsn(100);
        let mut all: HashMap<u64, State> = HashMap::new();
        let mut active: Vec<TrxId> = Vec::new();
        let mut snapshots: Vec<(SessionNo, Snapshot)> = Vec::new();
        let sessions: Vec<SessionNo> = (0..4).map(|_| sequence.numbers.take()).collect();
        for _ in 0..600 {
            match prng.below(10) {
                0..4 if active.len() < 10 => {
                    let id = loop {
                        match sequence.allocate(SessionNo(77)) {
                            Some(id) => break id,
                            None => sequence.prepare(sequence.next_block_end(), || tail),
                        }
                    };
                    assert!(!all.contains_key(&id.0), "an id is given once");
                    all.insert(id.0, State::Active);
                    active.push(id);
                }
                4..8 if !active.is_empty() => {
                    // Some stay active for long.
                    let oldest = if prng.one_in(8) { 0 } else { active.len() / 2 };
                    let position = oldest + prng.below((active.len() - oldest) as u64) as usize;
                    let id = active.swap_remove(position);
                    if prng.one_in(5) {
                        sequence.set_rolled_back(id);
                        all.insert(id.0, State::RolledBack);
                    } else {
                        sequence.set_committing(id);
                        tail = tail.advance(8);
                        sequence.set_committed(id, tail);
                        all.insert(id.0, State::Committed(tail));
                    }
                }
                8 => {
                    let session = *prng.pick(&sessions);
                    let before = snapshots.len();
                    snapshots.retain(|(other, _)| *other != session);
                    if snapshots.len() < before {
                        sequence.close_snapshot(session);
                    }
                    if prng.one_in(2) || before == 0 {
                        snapshots.push((session, sequence.open_snapshot(session, || tail)));
                    }
                }
                _ => {
                    sequence.advance_low_water(tail);
                    let horizon = sequence.advance_horizon(tail);
                    let oldest = snapshots.iter().map(|(_, snapshot)| snapshot.lsn).min();
                    assert_eq!(horizon, oldest.unwrap_or(tail));
                }
            }
            check(&sequence, tail, &all, &snapshots);
        }
    }
}

fn check(sequence: &Sequence, tail: Lsn, all: &HashMap<u64, State>, snapshots: &[(SessionNo, Snapshot)]) {
    for (&id, &state) in all {
        let outcome = sequence.outcome(TrxId(id), || tail);
        assert_eq!(outcome == Outcome::Ended, state != State::Active, "{id} is {state:?}");
        for (session, snapshot) in snapshots {
            let expected = match state {
                State::Active => false,
                State::Committed(csn) => csn <= snapshot.lsn,
                // Whoever could have met a version of it must not see it; later snapshots never meet one.
                State::RolledBack if TrxId(id) < snapshot.low_water => continue,
                State::RolledBack if TrxId(id) >= snapshot.limit => false,
                State::RolledBack => continue,
            };
            assert_eq!(
                sequence.sees(*session, snapshot, TrxId(id)),
                expected,
                "{id} is {state:?}, {snapshot:?}"
            );
        }
        if sequence.is_visible_to_all(TrxId(id)) {
            assert_ne!(state, State::Active);
            if let State::Committed(csn) = state {
                assert!(snapshots.iter().all(|(_, snapshot)| csn <= snapshot.lsn));
            }
        }
    }
}

#[test]
fn what_was_rolled_back_while_a_snapshot_was_open_stays_invisible_to_it() {
    let sequence = Sequence::new(8, 2, TrxId(1));
    let tail = || Lsn(100);
    let session = sequence.numbers.take();
    let allocate = || loop {
        match sequence.allocate(SessionNo(3)) {
            Some(id) => return id,
            None => sequence.prepare(sequence.next_block_end(), tail),
        }
    };
    let id = allocate();
    let snapshot = sequence.open_snapshot(session, tail);
    sequence.set_rolled_back(id);
    for _ in 0..50 {
        assert!(!sequence.sees(session, &snapshot, id));
        let other = allocate();
        sequence.set_rolled_back(other);
        sequence.advance_low_water(tail());
        sequence.advance_horizon(tail());
    }
    assert!(!sequence.sees(session, &snapshot, id));
}

/// The call that finds it ended may be a commit's, on a worker that others wait for.
#[test]
fn the_low_water_mark_passes_millions_of_ids_in_many_steps() {
    const FIRST: u64 = 40_000_000;
    let sequence = Sequence::new(16, 4, TrxId(FIRST));
    assert!(sequence.resurrect(TrxId(1), SessionNo(7)));
    sequence.advance_low_water(Lsn(100));
    assert_eq!(sequence.low_water(), TrxId(1));
    sequence.set_rolled_back(TrxId(1));
    sequence.advance_low_water(Lsn(100));
    assert_eq!(sequence.low_water(), TrxId(1 + LOW_WATER_STEP));
    for _ in 0..FIRST / LOW_WATER_STEP {
        sequence.advance_low_water(Lsn(100));
    }
    assert_eq!(sequence.low_water(), TrxId(FIRST));
}

#[test]
fn a_snapshot_is_not_told_of_what_was_rolled_back_long_before_it() {
    const SLOTS: u64 = 256;
    let sequence = Sequence::new(SLOTS, 4, TrxId(1));
    let tail = || Lsn(100);
    let session = sequence.numbers.take();
    let allocate = || loop {
        match sequence.allocate(SessionNo(3)) {
            Some(id) => return id,
            None => sequence.prepare(sequence.next_block_end(), tail),
        }
    };
    let roll_back_a_turn = || {
        for _ in 0..SLOTS {
            sequence.set_rolled_back(allocate());
        }
        sequence.advance_low_water(tail());
    };
    roll_back_a_turn();
    let (before, after) = (allocate(), allocate());
    let snapshot = sequence.open_snapshot(session, tail);
    sequence.set_rolled_back(before);
    sequence.set_rolled_back(after);
    roll_back_a_turn();
    roll_back_a_turn();
    assert_eq!(sequence.spilled(session), 2, "the two that were active when it was opened");
    assert!(!sequence.sees(session, &snapshot, before) && !sequence.sees(session, &snapshot, after));
}
