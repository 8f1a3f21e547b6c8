//! Deadlocks: cycles of sessions that wait for each other.
//!
//! Only the beginning of a wait can close a cycle, so only then is one looked for, from the session that begins to wait,
//! along "waits for" edges, breadth first: of the cycles through it the shortest is found. If its request has made somebody's
//! lock explicit, those who wait at that key already have a new edge as well: the search is made from them, too. Searches
//! are serialised by `detector`; queues change meanwhile, shard by shard.
//!
//! # Why an edge is looked at twice
//!
//! The search reads one queue after the other. A session that held a lock when the first was read may have released it,
//! and begun to wait for something else, when its own queue is read: two edges that were never there at the same time
//! look like a cycle. (With one hot row: A waits for B; B commits and asks for the row again, behind A.) So a cycle that
//! was found is *confirmed*: each wait is named by its event, each edge is read again, and after that each wait must
//! still be there. A session that waits all the time neither releases nor acquires anything, so an edge between two
//! such waits, seen once, was there all the time: at the moment when the last wait was first seen, all of them were.
//!
//! # When no search is needed
//!
//! A session that holds nothing is waited for only by those behind it in the same queue. Each of them began to wait after
//! it, so a cycle through both is found by the search of the one that came last and does hold something. Single-statement
//! transactions at a hot row therefore never search.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;

use palisade_base::Event;

use super::{LockKey, LockTable, Mode};
use crate::metrics;
use crate::sessions::SessionNo;
use crate::system::ActiveTrx;

/// A transaction in a cycle of waits: each waits for the next, the last for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlockMember {
    /// The transaction, as it was then.
    pub trx: ActiveTrx,
    /// What it waits for.
    pub awaited: KeyLock,
    /// What it has of that which the one before it waits for; `None` if it only came earlier.
    pub held: Option<KeyLock>,
    /// Whether it is the one that gives way.
    pub is_victim: bool,
}

/// A lock of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLock {
    /// The index.
    pub index: u64,
    /// The key.
    pub key: Box<[u8]>,
    /// How strong.
    pub mode: Mode,
}

impl KeyLock {
    fn new(key: &LockKey, mode: Mode) -> KeyLock {
        let (index, key) = key.split_first_chunk::<8>().expect("a lock key begins with the index");
        KeyLock { index: u64::from_le_bytes(*index), key: key.into(), mode }
    }
}

/// What is told of deadlocks, when they are found.
pub(crate) type DeadlockReport = Box<dyn Fn(&[DeadlockMember]) + Send + Sync>;

/// A session that waits, and the event that names the wait.
#[derive(Debug, Clone)]
pub(super) struct Wait {
    pub(super) session: SessionNo,
    pub(super) event: Event,
}

impl LockTable {
    /// Looks for cycles through `starts`, waits that have just got an edge because of a request of `asking`; the cheapest
    /// transaction of each cycle is made its victim. Whether that was `asking` itself, whose wait is then withdrawn.
    pub(super) fn is_deadlock_victim(&self, asking: SessionNo, starts: &[Wait]) -> bool {
        if starts.is_empty() {
            return false;
        }
        let _alone = self.detector.lock();
        for start in starts {
            while let Some(cycle) = self.find_cycle(start) {
                if !self.is_confirmed(&cycle) {
                    continue;
                }
                let weight = |wait: &&Wait| (self.weight(wait.session), wait.session != asking);
                let victim = cycle.iter().min_by_key(weight).expect("a cycle has members");
                metrics::LOCK_DEADLOCKS.increment();
                self.report(&cycle, victim);
                if victim.session == asking {
                    // It may have been granted since: a mishap elsewhere has broken the cycle.
                    return self.cancel_wait(asking);
                }
                self.make_victim(victim);
            }
        }
        false
    }

    fn report(&self, cycle: &[Wait], victim: &Wait) {
        let Some(report) = self.on_deadlock.get() else { return };
        // A wait may have ended since by a mishap elsewhere: its session is left out.
        let member = |(position, wait): (usize, &Wait)| {
            let before = &cycle[(position + cycle.len() - 1) % cycle.len()];
            let (key, mode) = self.awaited(wait.session)?;
            let held = self.awaited(before.session).and_then(|(key, _)| {
                let mode = self.shard_of(&key).queues.lock().get(&key)?.held(wait.session)?;
                Some(KeyLock::new(&key, mode))
            });
            Some(DeadlockMember {
                trx: self.look(wait.session),
                awaited: KeyLock::new(&key, mode),
                held,
                is_victim: wait.session == victim.session,
            })
        };
        let members: Vec<_> = cycle.iter().enumerate().filter_map(member).collect();
        report(&members);
    }

    /// What the session waits for, and how it wants it.
    fn awaited(&self, session: SessionNo) -> Option<(LockKey, Mode)> {
        let key = self.cells.cell(session).state.lock().waiting_for.clone()?;
        let mode = {
            let queues = self.shard_of(&key).queues.lock();
            let queue = queues.get(&key)?;
            queue.waiting[queue.position(session)?].mode
        };
        Some((key, mode))
    }

    /// What rolling the session's transaction back would cost: its changes and locks.
    fn weight(&self, session: SessionNo) -> u64 {
        let cell = self.cells.cell(session);
        let (locks, _) = self.session_locks(session);
        cell.weight.load(Ordering::Relaxed).saturating_add(locks as u64)
    }

    /// The shortest cycle of waits through `start`, in order, as far as queues read one after the other can tell.
    fn find_cycle(&self, start: &Wait) -> Option<Vec<Wait>> {
        let mut waits: HashMap<SessionNo, (Event, Option<SessionNo>)> = HashMap::new();
        let mut todo = VecDeque::from([(start.session, None)]);
        while let Some((session, from)) = todo.pop_front() {
            if waits.contains_key(&session) {
                continue;
            }
            let Some((event, blockers)) = self.wait_of(session) else { continue };
            if from.is_none() && !event.same_as(&start.event) {
                return None;
            }
            waits.insert(session, (event, from));
            if blockers.contains(&start.session) {
                return Some(path(&waits, session));
            }
            todo.extend(blockers.into_iter().map(|blocker| (blocker, Some(session))));
        }
        None
    }

    /// Whether all of the cycle is there at one moment.
    fn is_confirmed(&self, cycle: &[Wait]) -> bool {
        let next = |position: usize| cycle[(position + 1) % cycle.len()].session;
        let is_edge = |(position, wait): (usize, &Wait)| {
            self.wait_of(wait.session).is_some_and(|(event, blockers)| {
                event.same_as(&wait.event) && blockers.contains(&next(position))
            })
        };
        let is_there =
            |wait: &Wait| self.wait_of(wait.session).is_some_and(|(event, _)| event.same_as(&wait.event));
        cycle.iter().enumerate().all(is_edge) && cycle.iter().all(is_there)
    }

    /// The session's wait and whom it waits for; `None` if it does not wait or is to give way.
    fn wait_of(&self, session: SessionNo) -> Option<(Event, Vec<SessionNo>)> {
        let key = self.cells.cell(session).state.lock().waiting_for.clone()?;
        let queues = self.shard_of(&key).queues.lock();
        let queue = queues.get(&key)?;
        let position = queue.position(session)?;
        let waiter = &queue.waiting[position];
        (!waiter.victim).then(|| (waiter.event.clone(), queue.blockers(position)))
    }

    fn make_victim(&self, victim: &Wait) {
        let waiting_for = self.cells.cell(victim.session).state.lock().waiting_for.clone();
        let Some(key) = waiting_for else { return };
        let mut queues = self.shard_of(&key).queues.lock();
        let Some(queue) = queues.by_key.get_mut(&key) else { return };
        if let Some(waiter) = queue.waiting.iter_mut().find(|waiter| waiter.event.same_as(&victim.event)) {
            waiter.victim = true;
            waiter.event.complete();
        }
    }
}

/// The way from the search's start to `last`.
fn path(waits: &HashMap<SessionNo, (Event, Option<SessionNo>)>, last: SessionNo) -> Vec<Wait> {
    let mut path = Vec::new();
    let mut next = Some(last);
    while let Some(session) = next {
        let (event, from) = &waits[&session];
        path.push(Wait { session, event: event.clone() });
        next = *from;
    }
    path.reverse();
    path
}
