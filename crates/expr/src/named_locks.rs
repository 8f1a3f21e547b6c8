//! Named locks: GET_LOCK and its like.
//!
//! A name is locked by one session, as often as that one likes, until it has released it as often or ends;
//! transactions have no part in it. Who finds a name taken queues, and gets it in order of arrival:
//!
//! ```text
//! name ─► holder, how often │ waiting: [session, event]...
//! ```
//!
//! A lock that is released passes at once to the first who waits: no other session takes it before that one
//! has woken up. The wait is a value, [`Wait`]: it leaves the queue when it is dropped, and gives back what
//! it was handed and no session took, so a statement that is killed or fails while it waits leaves nothing
//! behind.
//!
//! All of it is behind one mutex, held for a few steps in a hash table: these locks are for what happens
//! seldom and takes long, and with one mutex the search for deadlocks sees one moment.
//!
//! # Deadlocks
//!
//! A session waits for at most one name, and a name has one holder: "waits for the holder of" leads from each
//! session to at most one other. (Those before it in the queue wait for the same holder.) Only a request can
//! close a cycle, not a lock that is handed on: who gets it waits for nothing then. So a request that would
//! have to wait follows the way from its name's holder, and is refused if that comes back to its own session.
//! Cycles of which a part is another kind of lock - a row, a table - end when one of their waits has lasted
//! too long.

#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use palisade_base::Event;
use parking_lot::Mutex;

/// A name, as locks of it are compared.
pub type Name = Arc<str>;

/// A session, by its `CONNECTION_ID()`.
pub type SessionId = u64;

/// All named locks of a server.
#[derive(Debug, Default)]
pub struct NamedLocks {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    locks: HashMap<Name, Lock>,
    /// Those who hold or wait for something.
    sessions: HashMap<SessionId, Part>,
}

/// A name that is locked.
#[derive(Debug)]
struct Lock {
    holder: SessionId,
    /// How often its holder has locked it.
    count: u64,
    waiting: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    session: SessionId,
    /// Completed when it has got the lock.
    granted: Event,
}

/// What a session has to do with locks.
#[derive(Debug, Default)]
struct Part {
    holds: Vec<Name>,
    waits_for: Option<Name>,
}

/// How a request ends.
#[derive(Debug)]
#[must_use]
pub enum Request {
    /// The session has it, once more.
    Granted,
    /// Somebody else has it.
    Wait(Wait),
    /// Waiting would never end.
    Deadlock,
}

/// A place in a name's queue. Dropping it gives up.
#[derive(Debug)]
#[must_use]
pub struct Wait {
    locks: Arc<NamedLocks>,
    session: SessionId,
    name: Name,
    granted: Event,
    /// It has been decided what becomes of the lock.
    settled: bool,
}

impl Wait {
    /// Happens when the session has got the lock.
    pub fn event(&self) -> Event {
        self.granted.clone()
    }

    /// Whether the session has the lock, which it keeps then; it leaves the queue in any case.
    pub fn settle(mut self) -> bool {
        self.settled = true;
        self.locks.state.lock().leave_queue(self.session, &self.name)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if !self.settled {
            let mut state = self.locks.state.lock();
            if state.leave_queue(self.session, &self.name) {
                state.release(self.session, &self.name);
            }
        }
    }
}

impl NamedLocks {
    /// Asks for a name on behalf of a session, which waits for nothing.
    pub fn request(self: &Arc<Self>, session: SessionId, name: &Name) -> Request {
        let mut state = self.state.lock();
        let State { locks, sessions } = &mut *state;
        let lock = match locks.entry(name.clone()) {
            Entry::Vacant(free) => {
                free.insert(Lock { holder: session, count: 1, waiting: VecDeque::new() });
                sessions.entry(session).or_default().holds.push(name.clone());
                return Request::Granted;
            }
            Entry::Occupied(taken) => taken.into_mut(),
        };
        if lock.holder == session {
            lock.count += 1;
            return Request::Granted;
        }
        if state.leads_to(name, session) {
            return Request::Deadlock;
        }
        let granted = Event::new();
        let part = state.sessions.entry(session).or_default();
        assert!(part.waits_for.is_none(), "a session waits for one name");
        part.waits_for = Some(name.clone());
        let waiter = Waiter { session, granted: granted.clone() };
        if let Some(lock) = state.locks.get_mut(name) {
            lock.waiting.push_back(waiter);
        }
        Request::Wait(Wait { locks: self.clone(), session, name: name.clone(), granted, settled: false })
    }

    /// Releases a name once: whether the session had it; `None` if nobody has.
    pub fn release(&self, session: SessionId, name: &Name) -> Option<bool> {
        let mut state = self.state.lock();
        let holder = state.locks.get(name)?.holder;
        if holder == session {
            state.release(session, name);
        }
        Some(holder == session)
    }

    /// Releases all that a session has: how many times it had locked something.
    pub fn release_all(&self, session: SessionId) -> u64 {
        let mut state = self.state.lock();
        let Some(part) = state.sessions.get_mut(&session) else { return 0 };
        let held = std::mem::take(&mut part.holds);
        state.forget_if_idle(session);
        held.iter().map(|name| state.hand_on(name)).sum()
    }

    /// All that are held or waited for, in order of name, the holder of each first.
    pub fn all(&self) -> Vec<(Name, SessionId, bool)> {
        let state = self.state.lock();
        let mut locks: Vec<_> = state.locks.iter().collect();
        locks.sort_by_key(|(name, _)| *name);
        let of_lock = |(name, lock): (&Name, &Lock)| {
            let waiting = lock.waiting.iter().map(|waiter| (name.clone(), waiter.session, false));
            std::iter::once((name.clone(), lock.holder, true)).chain(waiting).collect::<Vec<_>>()
        };
        locks.into_iter().flat_map(of_lock).collect()
    }

    /// Who has locked a name.
    pub fn holder(&self, name: &Name) -> Option<SessionId> {
        self.state.lock().locks.get(name).map(|lock| lock.holder)
    }
}

#[expect(
    clippy::expect_used,
    reason = "a name that a session holds or waits for has a lock, and that session has a part: both are changed together here"
)]
impl State {
    /// Whether `session` is on the way from the holder of `name` along what each waits for.
    fn leads_to(&self, name: &Name, session: SessionId) -> bool {
        let mut next = Some(name);
        while let Some(name) = next {
            let holder = self.locks.get(name).expect("what is waited for is locked").holder;
            if holder == session {
                return true;
            }
            next = self.sessions.get(&holder).and_then(|part| part.waits_for.as_ref());
        }
        false
    }

    /// Releases once what the session holds.
    fn release(&mut self, session: SessionId, name: &Name) {
        let lock = self.locks.get_mut(name).expect("it is held");
        assert_eq!(lock.holder, session, "it is released by its holder");
        if lock.count > 1 {
            lock.count -= 1;
            return;
        }
        let part = self.sessions.get_mut(&session).expect("it holds something");
        part.holds.retain(|held| held != name);
        self.forget_if_idle(session);
        self.hand_on(name);
    }

    /// Gives a lock, which its holder no longer counts among its own, to the first who waits; how often it
    /// was locked.
    fn hand_on(&mut self, name: &Name) -> u64 {
        let lock = self.locks.get_mut(name).expect("it is held");
        let count = lock.count;
        match lock.waiting.pop_front() {
            Some(Waiter { session, granted }) => {
                (lock.holder, lock.count) = (session, 1);
                let part = self.sessions.get_mut(&session).expect("it waits");
                part.holds.push(name.clone());
                part.waits_for = None;
                granted.complete();
            }
            None => {
                self.locks.remove(name);
            }
        }
        count
    }

    /// The session's wait is over; whether it had got the lock before.
    fn leave_queue(&mut self, session: SessionId, name: &Name) -> bool {
        // What was handed to the session may be gone again: all that it had was released.
        let Some(lock) = self.locks.get_mut(name) else { return false };
        let Some(position) = lock.waiting.iter().position(|waiter| waiter.session == session) else {
            return lock.holder == session;
        };
        lock.waiting.remove(position);
        self.sessions.get_mut(&session).expect("it waits").waits_for = None;
        self.forget_if_idle(session);
        false
    }

    fn forget_if_idle(&mut self, session: SessionId) {
        if let Entry::Occupied(part) = self.sessions.entry(session)
            && part.get().holds.is_empty()
            && part.get().waits_for.is_none()
        {
            part.remove();
        }
    }
}
