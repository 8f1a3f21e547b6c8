//! Rows, ranges and inserts in the lock table, against a naive one that keeps lists and looks through them.
//!
//! Even keys are rows, odd ones are not there: only inserts ask for them.

use palisade_base::prng::{Prng, test_seed};

use crate::locks::ranges::Cut;
use crate::locks::{Heed, LockTable, Mode, Request, TryLock};
use crate::sessions::SessionNo;

const SESSIONS: u32 = 5;
const KEYS: u8 = 12;
const INDEX: u64 = 7;

#[derive(Default, Clone)]
struct Queue {
    granted: Vec<(u32, Mode)>,
    waiting: Vec<(u32, Mode)>,
}

#[derive(Default)]
struct Naive {
    queues: [Queue; KEYS as usize],
    /// Session, first and last key, mode.
    ranges: Vec<(u32, u8, u8, Mode)>,
}

fn waits_for(mode: Mode, other: Mode) -> bool {
    match (mode, other) {
        (Mode::Insert, Mode::Shared | Mode::Exclusive) => true,
        (Mode::Shared, Mode::Exclusive) | (Mode::Exclusive, Mode::Shared | Mode::Exclusive) => true,
        (Mode::Shared, Mode::Shared) | (_, Mode::Insert) => false,
    }
}

impl Queue {
    fn held(&self, session: u32) -> Option<Mode> {
        self.granted.iter().filter(|(owner, _)| *owner == session).map(|(_, mode)| *mode).max()
    }

    fn grant(&mut self, session: u32, mode: Mode) {
        let mode = self.held(session).map_or(mode, |held| held.max(mode));
        self.granted.retain(|(owner, _)| *owner != session);
        self.granted.push((session, mode));
    }

    fn blockers(&self, session: u32, mode: Mode, ahead: usize) -> Vec<u32> {
        let all = self.granted.iter().chain(&self.waiting[..ahead]);
        let others = all.filter(|(other, held)| *other != session && waits_for(mode, *held));
        others.map(|(other, _)| *other).collect()
    }

    fn lets_pass(&self, session: u32, mode: Mode) -> bool {
        let ahead = if self.held(session).is_some() { 0 } else { self.waiting.len() };
        self.blockers(session, mode, ahead).is_empty()
    }
}

impl Naive {
    fn queue(&mut self, key: u8) -> &mut Queue {
        &mut self.queues[usize::from(key)]
    }

    fn in_the_way(&self, session: u32, key: u8, mode: Mode) -> Vec<(u32, Mode)> {
        let covering = self.ranges.iter().filter(|(_, first, last, _)| (*first..=*last).contains(&key));
        let mut found: Vec<(u32, Mode)> = Vec::new();
        for (owner, .., held) in covering.filter(|(owner, ..)| *owner != session) {
            match found.iter_mut().find(|(known, _)| known == owner) {
                Some((_, mode)) => *mode = (*mode).max(*held),
                None => found.push((*owner, *held)),
            }
        }
        found.retain(|(_, held)| waits_for(mode, *held));
        found
    }

    fn has(&self, session: u32, key: u8, mode: Mode) -> bool {
        self.ranges.iter().any(|(owner, first, last, held)| {
            *owner == session && (*first..=*last).contains(&key) && *held >= mode
        })
    }

    fn may(&self, session: u32, key: u8, mode: Mode) -> bool {
        self.in_the_way(session, key, mode).is_empty()
            && self.queues[usize::from(key)].lets_pass(session, mode)
    }

    fn waiting_at(&self, session: u32) -> Option<(u8, usize)> {
        (0..KEYS).find_map(|key| {
            let waiting = &self.queues[usize::from(key)].waiting;
            waiting.iter().position(|(waiter, _)| *waiter == session).map(|position| (key, position))
        })
    }

    fn blockers(&self, session: u32) -> Vec<u32> {
        let Some((key, position)) = self.waiting_at(session) else { return Vec::new() };
        let queue = &self.queues[usize::from(key)];
        queue.blockers(session, queue.waiting[position].1, position)
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

    fn leave(&mut self, session: u32, granted_too: bool) {
        if granted_too {
            self.ranges.retain(|(owner, ..)| *owner != session);
        }
        for queue in &mut self.queues {
            queue.waiting.retain(|(waiter, _)| *waiter != session);
            if granted_too {
                queue.granted.retain(|(owner, _)| *owner != session);
            }
            let mut position = 0;
            while position < queue.waiting.len() {
                let (waiter, mode) = queue.waiting[position];
                if !queue.blockers(waiter, mode, position).is_empty() {
                    position += 1;
                    continue;
                }
                queue.waiting.remove(position);
                if mode != Mode::Insert {
                    queue.grant(waiter, mode);
                }
            }
        }
    }

    fn locks(&self, session: u32) -> (usize, bool) {
        let rows = self.queues.iter().filter(|queue| queue.held(session).is_some()).count();
        let ranges = usize::from(self.ranges.iter().any(|(owner, ..)| *owner == session));
        (rows + ranges, self.waiting_at(session).is_some())
    }
}

struct World {
    table: LockTable,
    naive: Naive,
}

impl World {
    /// Waits for a lock that cannot be had at once.
    fn wait(&mut self, session: u32, key: u8, mode: Mode) {
        for other in 0..SESSIONS {
            self.table.set_weight(SessionNo(other), if other == session { 0 } else { 1000 });
        }
        let request = self.table.lock_heeding(SessionNo(session), INDEX, &[key], mode, Heed::Ranges, None);
        for (owner, held) in self.naive.in_the_way(session, key, mode) {
            self.naive.queue(key).grant(owner, held);
        }
        let queue = self.naive.queue(key);
        match queue.held(session) {
            Some(_) => queue.waiting.insert(0, (session, mode)),
            None => queue.waiting.push((session, mode)),
        }
        if self.naive.closes_a_cycle(session) {
            assert!(matches!(request, Request::Deadlock), "session {session} closes a cycle at {key}");
            self.naive.leave(session, false);
        } else {
            assert!(matches!(request, Request::Wait(_)), "session {session} waits at {key}: {request:?}");
        }
    }

    fn lock_row(&mut self, session: u32, key: u8, mode: Mode) {
        let naive = &mut self.naive;
        let expected = if naive.has(session, key, mode) {
            TryLock::Already
        } else if !naive.in_the_way(session, key, mode).is_empty() {
            TryLock::No
        } else if naive.queue(key).held(session).is_some_and(|held| held >= mode) {
            TryLock::Already
        } else if !naive.queue(key).lets_pass(session, mode) {
            TryLock::No
        } else {
            // It is the stronger one now, and not all of it is new.
            let held = naive.queue(key).held(session);
            naive.queue(key).grant(session, mode);
            if held.is_some() { TryLock::Already } else { TryLock::Newly }
        };
        let found = self.table.try_lock_row(SessionNo(session), INDEX, &[key], mode);
        assert_eq!(found, expected, "session {session}, row {key} {mode:?}");
        match found {
            TryLock::Already | TryLock::Newly => {}
            TryLock::No => self.wait(session, key, mode),
            TryLock::Full => panic!("there is no limit"),
        }
    }

    fn scan(&mut self, session: u32, first: u8, last: u8, mode: Mode) {
        let mut range = self.table.begin_range(SessionNo(session), INDEX, mode);
        let mut in_the_way = None;
        for key in (first..=last).filter(|key| key.is_multiple_of(2)) {
            let may = range.may_lock(&[key]);
            assert_eq!(may, self.naive.may(session, key, mode), "session {session} scans {key} {mode:?}");
            if !may {
                in_the_way = Some(key);
                break;
            }
        }
        let end = in_the_way.map_or(Cut::after(&[last]), |key| Cut::before(&[key]));
        range.add(Cut::before(&[first]), end).unwrap();
        drop(range);
        let seen = in_the_way.unwrap_or(last + 1);
        if first < seen {
            self.naive.ranges.push((session, first, seen - 1, mode));
        }
        if let Some(key) = in_the_way {
            self.wait(session, key, mode);
        }
    }

    fn insert(&mut self, session: u32, key: u8) {
        if !self.table.may_write(SessionNo(session), INDEX, &[key], Mode::Insert, Heed::Ranges) {
            self.wait(session, key, Mode::Insert);
        }
    }

    fn compare(&self) {
        self.table.check_memory();
        for session in 0..SESSIONS {
            let number = SessionNo(session);
            assert_eq!(self.table.session_locks(number), self.naive.locks(session), "session {session}");
            for key in 0..KEYS {
                for mode in [Mode::Insert, Mode::Exclusive] {
                    let may = self.table.may_write(number, INDEX, &[key], mode, Heed::Ranges);
                    assert_eq!(
                        may,
                        self.naive.may(session, key, mode),
                        "session {session} writes {key} {mode:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn rows_ranges_and_inserts_agree_with_a_naive_table() {
    let mut prng = Prng::new(test_seed(31));
    let (mut waits, mut ranges) = (0, 0);
    for _ in 0..60 {
        let mut world = World { table: LockTable::default(), naive: Naive::default() };
        for _ in 0..300 {
            let session = prng.below(SESSIONS.into()) as u32;
            let mode = *prng.pick(&[Mode::Shared, Mode::Exclusive]);
            let (a, b) = (prng.below(KEYS.into()) as u8, prng.below(KEYS.into()) as u8);
            let is_waiting = world.naive.waiting_at(session).is_some();
            waits += usize::from(is_waiting);
            match prng.below(12) {
                0..3 if !is_waiting => world.lock_row(session, a & !1, mode),
                3..6 if !is_waiting => {
                    world.scan(session, a.min(b), a.max(b), mode);
                    ranges += 1;
                }
                6..9 if !is_waiting => world.insert(session, a | 1),
                9 => {
                    let waited = world.table.cancel_wait(SessionNo(session));
                    assert_eq!(waited, is_waiting);
                    world.naive.leave(session, false);
                }
                10 if !is_waiting => {
                    world.table.release_all(SessionNo(session));
                    world.naive.leave(session, true);
                }
                _ => {}
            }
            world.compare();
        }
        for session in 0..SESSIONS {
            world.table.release_all(SessionNo(session));
        }
        assert!((0..KEYS).all(|key| world.table.is_surely_free(INDEX, &[key])), "nothing is left");
        world.table.check_memory();
        assert_eq!(world.table.memory(), 0);
    }
    assert!(waits > 500 && ranges > 500, "{waits} {ranges}");
}

/// Two that have locked the same gap both wait when they insert into it, and one of them gives way.
#[test]
fn gaps_are_shared_and_inserts_wait_for_the_others() {
    let table = LockTable::default();
    let [first, second] = [1, 2].map(SessionNo);
    for session in [first, second] {
        let mut range = table.begin_range(session, INDEX, Mode::Exclusive);
        range.add(Cut::before(b"k"), Cut::after(b"k")).unwrap();
    }
    let insert = |session| table.lock_heeding(session, INDEX, b"k", Mode::Insert, Heed::Ranges, None);
    let Request::Wait(event) = insert(first) else { panic!("the other has the gap") };
    assert!(matches!(insert(second), Request::Deadlock));
    table.release_all(second);
    assert!(event.is_complete());
    assert!(matches!(insert(first), Request::Granted));
    table.release_all(first);
    assert!(table.is_surely_free(INDEX, b"k"));
}

/// A third session's insert makes a range explicit where somebody waits: that closes a cycle it is no part of.
#[test]
fn a_cycle_closed_on_behalf_of_others_is_found() {
    let table = LockTable::default();
    let [holder, waiter, ranger, inserter] = [1, 2, 3, 4].map(SessionNo);
    let exclusive = |session, key: &[u8]| table.lock(session, INDEX, key, Mode::Exclusive, None);
    assert!(matches!(exclusive(holder, b"k"), Request::Granted));
    assert!(matches!(exclusive(waiter, b"j"), Request::Granted));
    let mut range = table.begin_range(ranger, INDEX, Mode::Exclusive);
    range.add(Cut::before(b"k"), Cut::after(b"k")).unwrap();
    drop(range);
    let Request::Wait(waits_for_k) = exclusive(waiter, b"k") else { panic!("the holder has it") };
    let Request::Wait(waits_for_j) = exclusive(ranger, b"j") else { panic!("the waiter has it") };
    assert!(!waits_for_k.is_complete() && !waits_for_j.is_complete(), "no cycle yet");
    let insert = table.lock_heeding(inserter, INDEX, b"k", Mode::Insert, Heed::Ranges, None);
    assert!(matches!(insert, Request::Wait(_)), "the inserter is no part of it");
    assert!(waits_for_k.is_complete() != waits_for_j.is_complete(), "one of the two gives way");
}
