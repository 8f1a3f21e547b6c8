//! The lock table against a naive one.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use palisade_base::TrxId;
use palisade_base::prng::{Prng, test_seed};

use crate::locks::{Heed, LockTable, Mode, Request};
use crate::sessions::SessionNo;

/// Granted and waiting, in order.
type Queue = (Vec<(u32, Mode)>, Vec<(u32, Mode)>);

#[derive(Default)]
struct Naive {
    queues: BTreeMap<u8, Queue>,
    /// What each session waits for.
    waiting: HashMap<u32, (u8, Mode)>,
}

fn conflict(a: Mode, b: Mode) -> bool {
    a == Mode::Exclusive || b == Mode::Exclusive
}

impl Naive {
    fn compatible(queue: &Queue, session: u32, mode: Mode) -> bool {
        queue.0.iter().all(|(owner, held)| *owner == session || !conflict(*held, mode))
    }

    fn grant(queue: &mut Queue, session: u32, mode: Mode) {
        match queue.0.iter_mut().find(|(owner, _)| *owner == session) {
            Some((_, held)) => *held = mode.max(*held),
            None => queue.0.push((session, mode)),
        }
    }

    fn promote(&mut self) {
        for queue in self.queues.values_mut() {
            while let Some(&(session, mode)) = queue.1.first() {
                if !Self::compatible(queue, session, mode) {
                    break;
                }
                queue.1.remove(0);
                Self::grant(queue, session, mode);
                self.waiting.remove(&session);
            }
        }
    }

    fn leave(&mut self, session: u32, granted_too: bool) {
        for queue in self.queues.values_mut() {
            queue.1.retain(|(other, _)| *other != session);
            if granted_too {
                queue.0.retain(|(other, _)| *other != session);
            }
        }
        self.waiting.remove(&session);
        self.promote();
    }

    fn blockers(&self, session: u32) -> Vec<u32> {
        let Some(&(key, mode)) = self.waiting.get(&session) else { return Vec::new() };
        let queue = &self.queues[&key];
        let position = queue.1.iter().position(|(other, _)| *other == session).unwrap();
        let ahead = queue.1[..position].iter();
        let all = queue.0.iter().chain(ahead);
        all.filter(|(other, held)| *other != session && conflict(mode, *held))
            .map(|(other, _)| *other)
            .collect()
    }

    fn closes_a_cycle(&self, session: u32) -> bool {
        let mut todo = self.blockers(session);
        let mut seen = Vec::new();
        while let Some(next) = todo.pop() {
            if next == session {
                return true;
            }
            if !seen.contains(&next) {
                seen.push(next);
                todo.extend(self.blockers(next));
            }
        }
        false
    }
}

#[test]
fn grants_queues_and_deadlocks_agree_with_a_naive_table() {
    let mut prng = Prng::new(test_seed(9));
    for _ in 0..40 {
        let table = LockTable::default();
        let mut naive = Naive::default();
        for _ in 0..400 {
            let session = prng.below(6) as u32;
            let number = SessionNo(session);
            match prng.below(10) {
                0..7 => {
                    let (key, mode) = match naive.waiting.get(&session) {
                        // Who waits can only ask for the same again.
                        Some(waiting) => *waiting,
                        None => (prng.below(4) as u8, *prng.pick(&[Mode::Shared, Mode::Exclusive])),
                    };
                    request(&table, &mut naive, session, key, mode);
                }
                7 => {
                    table.cancel_wait(number);
                    naive.leave(session, false);
                }
                _ if !naive.waiting.contains_key(&session) => {
                    table.release_all(number);
                    naive.leave(session, true);
                }
                _ => {}
            }
            for session in 0..6 {
                let held =
                    naive.queues.values().filter(|queue| queue.0.iter().any(|(o, _)| *o == session)).count();
                let waits = naive.waiting.contains_key(&session);
                assert_eq!(table.session_locks(SessionNo(session)), (held, waits), "session {session}");
            }
        }
        for session in 0..6 {
            table.cancel_wait(SessionNo(session));
            table.release_all(SessionNo(session));
        }
        for key in 0..4u8 {
            assert!(table.is_surely_free(1, &[key]), "nothing is left");
        }
    }
}

fn request(table: &LockTable, naive: &mut Naive, session: u32, key: u8, mode: Mode) {
    // Whoever asks is the cheapest, and so gives way if it closes a cycle.
    for other in 0..6 {
        table.set_weight(SessionNo(other), if other == session { 0 } else { 1000 });
    }
    let answer = table.lock(SessionNo(session), 1, &[key], mode, None);
    let queue = naive.queues.entry(key).or_default();
    let held = queue.0.iter().find(|(owner, _)| *owner == session).map(|(_, held)| *held);
    let already = held.is_some_and(|held| held >= mode);
    if already || Naive::compatible(queue, session, mode) && (held.is_some() || queue.1.is_empty()) {
        assert!(matches!(answer, Request::Granted), "session {session} gets {key} {mode:?}");
        Naive::grant(queue, session, mode);
        return;
    }
    if let Entry::Vacant(waiting) = naive.waiting.entry(session) {
        waiting.insert((key, mode));
        match held {
            Some(_) => queue.1.insert(0, (session, mode)),
            None => queue.1.push((session, mode)),
        }
    }
    if naive.closes_a_cycle(session) {
        assert!(matches!(answer, Request::Deadlock), "session {session} closes a cycle at {key}");
        naive.leave(session, false);
    } else {
        assert!(matches!(answer, Request::Wait(_)), "session {session} waits for {key} {mode:?}");
    }
}

#[test]
fn a_writer_is_waited_for_until_it_ends_and_then_the_first_in_line_has_the_row() {
    let table = LockTable::default();
    let [writer, first, second] = [1, 2, 3].map(SessionNo);
    table.begin_writing(writer, TrxId(10), 0);
    let holder = Some((writer, TrxId(10)));
    let Request::Wait(first_event) = table.lock(first, 1, b"k", Mode::Exclusive, holder) else { panic!() };
    let Request::Wait(second_event) = table.lock(second, 1, b"k", Mode::Exclusive, holder) else { panic!() };
    assert!(
        !table.may_write(first, 1, b"k", Mode::Exclusive, Heed::Queues)
            && table.may_write(writer, 1, b"k", Mode::Exclusive, Heed::Queues)
    );
    table.release_all(writer);
    assert!(first_event.is_complete() && !second_event.is_complete());
    assert!(
        table.may_write(first, 1, b"k", Mode::Exclusive, Heed::Queues)
            && !table.may_write(second, 1, b"k", Mode::Exclusive, Heed::Queues)
    );
    assert!(matches!(table.lock(first, 1, b"k", Mode::Exclusive, holder), Request::Granted));
    table.release_all(first);
    assert!(second_event.is_complete());
    assert!(matches!(table.lock(second, 1, b"k", Mode::Exclusive, None), Request::Granted));
}

#[test]
fn the_cheaper_transaction_gives_way() {
    let table = LockTable::default();
    let [cheap, dear] = [1, 2].map(SessionNo);
    table.set_weight(dear, 100);
    assert!(matches!(table.lock(cheap, 1, b"a", Mode::Exclusive, None), Request::Granted));
    assert!(matches!(table.lock(dear, 1, b"b", Mode::Exclusive, None), Request::Granted));
    let Request::Wait(event) = table.lock(cheap, 1, b"b", Mode::Exclusive, None) else { panic!() };
    let Request::Wait(_) = table.lock(dear, 1, b"a", Mode::Exclusive, None) else { panic!() };
    assert!(event.is_complete(), "the victim is woken");
    assert!(matches!(table.lock(cheap, 1, b"b", Mode::Exclusive, None), Request::Deadlock));
    table.release_all(cheap);
    assert!(matches!(table.lock(dear, 1, b"a", Mode::Exclusive, None), Request::Granted));
}

/// A cycle takes two locks: whoever holds nothing while it waits can only be waited for by those behind it.
#[test]
fn sessions_that_hold_nothing_else_never_deadlock_at_one_key() {
    const SESSIONS: u32 = 4;
    const ROUNDS: usize = 5000;
    let table = Arc::new(LockTable::default());
    let counter = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let (table, counter) = (table.clone(), counter.clone());
            std::thread::spawn(move || {
                let session = SessionNo(number);
                let mut deadlocks = 0;
                for _ in 0..ROUNDS {
                    loop {
                        match table.lock(session, 1, b"hot", Mode::Exclusive, None) {
                            Request::Granted => break,
                            Request::Wait(event) => event.wait_blocking(),
                            Request::Deadlock | Request::Full => {
                                // Not a panic: the others would wait for ever.
                                deadlocks += 1;
                                table.release_all(session);
                            }
                        }
                    }
                    // Not atomic on purpose: the lock is what makes it right.
                    let seen = counter.load(Ordering::Relaxed);
                    std::thread::yield_now();
                    counter.store(seen + 1, Ordering::Relaxed);
                    table.release_all(session);
                }
                deadlocks
            })
        })
        .collect();
    let deadlocks: Vec<usize> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(deadlocks, [0; SESSIONS as usize]);
    assert_eq!(counter.load(Ordering::Relaxed), SESSIONS as usize * ROUNDS);
    assert!(table.is_surely_free(1, b"hot"), "nothing is left");
}

/// An operation that is called again after its wait need not ask again: its row may be somebody else's, or gone.
#[test]
fn a_wait_that_is_not_asked_for_again_is_given_up() {
    let table = LockTable::default();
    let [holder, session] = [1, 2].map(SessionNo);
    for key in [b"a", b"b"] {
        assert!(matches!(table.lock(holder, 1, key, Mode::Exclusive, None), Request::Granted));
    }
    assert!(matches!(table.lock(session, 1, b"a", Mode::Exclusive, None), Request::Wait(_)));
    assert!(matches!(table.lock(session, 1, b"b", Mode::Exclusive, None), Request::Wait(_)));
    table.unlock(holder, 1, b"a");
    assert_eq!(table.session_locks(session), (0, true), "it no longer waits for the first");
    table.release_all(session);
    assert_eq!(table.session_locks(session), (0, false), "its end ends the wait");
    table.release_all(holder);
    assert!([b"a", b"b"].iter().all(|key| table.is_surely_free(1, *key)), "nothing is left");
}
