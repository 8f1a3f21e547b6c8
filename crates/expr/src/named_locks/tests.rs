//! Named locks against a naive set of them, and under threads.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::prng::{Prng, test_seed};

use super::{Name, NamedLocks, Request, SessionId, Wait};

fn granted(locks: &Arc<NamedLocks>, session: SessionId, name: &Name) {
    match locks.request(session, name) {
        Request::Granted => {}
        other => panic!("{session} does not get {name}: {other:?}"),
    }
}

fn waits(locks: &Arc<NamedLocks>, session: SessionId, name: &Name) -> Wait {
    match locks.request(session, name) {
        Request::Wait(wait) => wait,
        other => panic!("{session} does not wait for {name}: {other:?}"),
    }
}

fn is_deadlock(locks: &Arc<NamedLocks>, session: SessionId, name: &Name) -> bool {
    matches!(locks.request(session, name), Request::Deadlock)
}

fn assert_nothing_is_left(locks: &NamedLocks) {
    let state = locks.state.lock();
    assert!(state.locks.is_empty() && state.sessions.is_empty(), "{state:?}");
}

#[test]
fn a_lock_is_held_until_it_is_released_as_often_as_it_was_taken() {
    let (locks, name) = (Arc::new(NamedLocks::default()), Name::from("a"));
    assert_eq!(locks.release(1, &name), None);
    granted(&locks, 1, &name);
    granted(&locks, 1, &name);
    assert_eq!(locks.holder(&name), Some(1));
    assert_eq!(locks.release(2, &name), Some(false));
    assert_eq!(locks.release(1, &name), Some(true));
    assert_eq!(locks.holder(&name), Some(1));
    assert_eq!(locks.release(1, &name), Some(true));
    assert_eq!(locks.holder(&name), None);
    assert_nothing_is_left(&locks);
}

#[test]
fn a_lock_passes_to_those_who_wait_in_order_of_arrival() {
    let (locks, name) = (Arc::new(NamedLocks::default()), Name::from("a"));
    granted(&locks, 1, &name);
    let [second, third, fourth] = [2, 3, 4].map(|session| waits(&locks, session, &name));
    drop(third);
    assert_eq!(locks.release_all(1), 1);
    assert!(second.event().is_complete() && !fourth.event().is_complete());
    assert_eq!(locks.holder(&name), Some(2));
    assert!(second.settle());
    assert!(!fourth.settle(), "its time is up");
    assert_eq!(locks.release(2, &name), Some(true));
    assert_nothing_is_left(&locks);
}

#[test]
fn what_was_handed_to_one_who_has_given_up_goes_to_the_next() {
    let (locks, name) = (Arc::new(NamedLocks::default()), Name::from("a"));
    granted(&locks, 1, &name);
    let (second, third) = (waits(&locks, 2, &name), waits(&locks, 3, &name));
    assert_eq!(locks.release(1, &name), Some(true));
    drop(second);
    assert_eq!(locks.holder(&name), Some(3));
    // A session ends between getting a lock and knowing of it.
    assert_eq!(locks.release_all(3), 1);
    drop(third);
    assert_nothing_is_left(&locks);
}

#[test]
fn a_request_that_closes_a_cycle_is_refused() {
    let locks = Arc::new(NamedLocks::default());
    let [a, b, c] = ["a", "b", "c"].map(Name::from);
    granted(&locks, 1, &a);
    granted(&locks, 2, &b);
    granted(&locks, 3, &c);
    let first = waits(&locks, 1, &b);
    let second = waits(&locks, 2, &c);
    assert!(is_deadlock(&locks, 3, &a));
    // Behind one who waits for the holder: the same cycle.
    assert!(is_deadlock(&locks, 3, &b));
    assert_eq!(locks.holder(&c), Some(3), "it keeps what it has");
    // Whoever holds nothing may wait for anybody.
    let fourth = waits(&locks, 4, &a);
    drop(second);
    let third = waits(&locks, 3, &a);
    drop((first, third, fourth));
    assert_eq!([1, 2, 3, 4].map(|session| locks.release_all(session)), [1, 1, 1, 0]);
    assert_nothing_is_left(&locks);
}

const SESSIONS: u64 = 6;
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// A name: who has locked it, how often, and who waits, in order.
#[derive(Default, Clone)]
struct Naive {
    held: Option<(SessionId, u64)>,
    waiting: Vec<SessionId>,
}

impl Naive {
    fn release(&mut self, session: SessionId) {
        match &mut self.held {
            Some((holder, count)) if *holder == session && *count > 1 => *count -= 1,
            Some((holder, _)) if *holder == session => {
                self.held = if self.waiting.is_empty() { None } else { Some((self.waiting.remove(0), 1)) };
            }
            _ => panic!("{session} does not hold it"),
        }
    }
}

/// Whether a wait of `session` for `name` closes a cycle, along all edges: to the holder and to those who
/// wait before.
fn closes_cycle(names: &[Naive], session: SessionId, name: usize) -> bool {
    let mut todo = vec![(name, names[name].waiting.len())];
    let mut seen = HashSet::new();
    while let Some((name, ahead)) = todo.pop() {
        let holder = names[name].held.map(|(holder, _)| holder);
        for blocker in holder.into_iter().chain(names[name].waiting[..ahead].iter().copied()) {
            if blocker == session {
                return true;
            }
            if !seen.insert(blocker) {
                continue;
            }
            for (other, of_it) in names.iter().enumerate() {
                todo.extend(of_it.waiting.iter().position(|waiter| *waiter == blocker).map(|at| (other, at)));
            }
        }
    }
    false
}

#[test]
fn the_set_does_what_a_naive_one_does() {
    let seed = test_seed(57);
    println!("seed {seed}");
    let mut random = Prng::new(seed);
    let known = NAMES.map(Name::from);
    let (mut deadlocks, mut handed_on, mut given_up) = (0, 0, 0);
    for _ in 0..300 {
        let locks = Arc::new(NamedLocks::default());
        let mut naive: Vec<Naive> = vec![Naive::default(); NAMES.len()];
        let mut waits: Vec<Option<(usize, Wait)>> = (0..SESSIONS).map(|_| None).collect();
        for _ in 0..200 {
            let session = random.below(SESSIONS);
            let name = random.below(NAMES.len() as u64) as usize;
            let own =
                |naive: &[Naive], name: usize| naive[name].held.is_some_and(|(holder, _)| holder == session);
            if let Some((name, wait)) = waits[session as usize].take() {
                // While it waits it can only look, give up, or end.
                let is_granted = own(&naive, name);
                assert_eq!(wait.event().is_complete(), is_granted);
                handed_on += u64::from(is_granted);
                match random.below(4) {
                    0 => {
                        drop(wait);
                        if is_granted {
                            naive[name].release(session);
                        }
                        given_up += 1;
                    }
                    1 => assert_eq!(wait.settle(), is_granted),
                    _ if is_granted => assert!(wait.settle()),
                    _ => {
                        waits[session as usize] = Some((name, wait));
                        continue;
                    }
                }
                naive[name].waiting.retain(|waiter| *waiter != session);
                continue;
            }
            match random.below(8) {
                0..4 => {
                    let free = naive[name].held.is_none_or(|(holder, _)| holder == session);
                    let closes = !free && closes_cycle(&naive, session, name);
                    match locks.request(session, &known[name]) {
                        Request::Granted => {
                            assert!(free);
                            naive[name].held.get_or_insert((session, 0)).1 += 1;
                        }
                        Request::Wait(wait) => {
                            assert!(!free && !closes);
                            naive[name].waiting.push(session);
                            waits[session as usize] = Some((name, wait));
                        }
                        Request::Deadlock => {
                            assert!(closes);
                            deadlocks += 1;
                        }
                    }
                }
                4..7 => {
                    let expected = naive[name].held.map(|(holder, _)| holder == session);
                    assert_eq!(locks.release(session, &known[name]), expected);
                    if expected == Some(true) {
                        naive[name].release(session);
                    }
                }
                _ => {
                    let mut released = 0;
                    for name in 0..NAMES.len() {
                        while own(&naive, name) {
                            naive[name].release(session);
                            released += 1;
                        }
                    }
                    assert_eq!(locks.release_all(session), released);
                }
            }
            for (name, naive) in known.iter().zip(&naive) {
                assert_eq!(locks.holder(name), naive.held.map(|(holder, _)| holder));
            }
        }
        drop(waits);
        (0..SESSIONS).for_each(|session| {
            locks.release_all(session);
        });
        assert_nothing_is_left(&locks);
    }
    assert!(deadlocks > 100 && handed_on > 100 && given_up > 100, "{deadlocks} {handed_on} {given_up}");
}

/// Threads that want two names at a time, in any order: each is alone with what it has, and all of them come
/// to an end.
#[test]
fn threads_exclude_each_other_and_none_is_left_waiting() {
    let seed = test_seed(58);
    println!("seed {seed}");
    let locks = Arc::new(NamedLocks::default());
    let known = NAMES.map(Name::from);
    // Who is at work under a name, or 0.
    let at_work: [AtomicU64; NAMES.len()] = Default::default();
    std::thread::scope(|scope| {
        for session in 1..=SESSIONS {
            let (locks, known, at_work) = (&locks, &known, &at_work);
            scope.spawn(move || {
                let mut random = Prng::new(seed + session);
                for _ in 0..2000 {
                    let mut held = Vec::new();
                    for _ in 0..2 {
                        let name = random.below(NAMES.len() as u64) as usize;
                        match locks.request(session, &known[name]) {
                            Request::Granted => {}
                            Request::Wait(wait) if random.one_in(8) => {
                                drop(wait);
                                continue;
                            }
                            Request::Wait(wait) => {
                                wait.event().wait_blocking();
                                assert!(wait.settle());
                            }
                            Request::Deadlock => break,
                        }
                        if !held.contains(&name) {
                            assert_eq!(at_work[name].swap(session, Ordering::Relaxed), 0);
                        }
                        held.push(name);
                    }
                    for (position, name) in held.iter().enumerate() {
                        if !held[position + 1..].contains(name) {
                            assert_eq!(at_work[*name].swap(0, Ordering::Relaxed), session);
                        }
                        assert_eq!(locks.release(session, &known[*name]), Some(true));
                    }
                }
            });
        }
    });
    assert_nothing_is_left(&locks);
}
