//! The queue of one key: who holds it, and who waits, first come, first served.

use std::collections::VecDeque;

use palisade_base::Event;

use super::Mode;
use super::deadlock::Wait;
use crate::sessions::SessionNo;

/// Holders, compatible with each other, and waiters.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) granted: Vec<(SessionNo, Mode)>,
    pub(super) waiting: VecDeque<Waiter>,
}

/// A request that could not be granted. Its event is its own: whoever finds the same event again finds the same wait.
pub(super) struct Waiter {
    pub(super) session: SessionNo,
    pub(super) mode: Mode,
    pub(super) event: Event,
    /// Chosen to give way: it waits no longer, and will find out.
    pub(super) victim: bool,
}

impl Queue {
    pub(super) fn held(&self, session: SessionNo) -> Option<Mode> {
        self.granted.iter().find(|(owner, _)| *owner == session).map(|(_, mode)| *mode)
    }

    pub(super) fn is_compatible(&self, session: SessionNo, mode: Mode) -> bool {
        self.granted.iter().all(|(owner, held)| *owner == session || !mode.waits_for(*held))
    }

    /// Whether a request need not wait: nobody holds what is in its way, and nobody came earlier who would be overtaken.
    /// Who holds a lock already overtakes: the others wait for it in any case.
    pub(super) fn lets_pass(&self, session: SessionNo, mode: Mode) -> bool {
        let overtakes = self.held(session).is_some();
        self.is_compatible(session, mode) && (overtakes || !self.is_behind(session, mode, self.waiting.len()))
    }

    /// Whether the waiter at `position` has nobody left to wait for.
    pub(super) fn may_be_granted(&self, position: usize) -> bool {
        let Waiter { session, mode, .. } = self.waiting[position];
        self.is_compatible(session, mode) && !self.is_behind(session, mode, position)
    }

    /// Whether one of the first `count` waiters is in the way of a request.
    fn is_behind(&self, session: SessionNo, mode: Mode, count: usize) -> bool {
        self.waiting.iter().take(count).any(|ahead| ahead.session != session && mode.waits_for(ahead.mode))
    }

    pub(super) fn grant(&mut self, session: SessionNo, mode: Mode) {
        match self.granted.iter_mut().find(|(owner, _)| *owner == session) {
            Some((_, held)) => *held = mode.max(*held),
            None => self.granted.push((session, mode)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.granted.is_empty() && self.waiting.is_empty()
    }

    pub(super) fn position(&self, session: SessionNo) -> Option<usize> {
        self.waiting.iter().position(|waiter| waiter.session == session)
    }

    /// All waits in it.
    pub(super) fn waits(&self) -> impl Iterator<Item = Wait> {
        self.waiting.iter().map(|waiter| Wait { session: waiter.session, event: waiter.event.clone() })
    }

    /// Whom the request at `position` waits for: holders first.
    pub(super) fn blockers(&self, position: usize) -> Vec<SessionNo> {
        self.in_the_way(position).map(|(owner, _)| owner).collect()
    }

    /// The same, and whether each has the lock.
    pub(super) fn in_the_way(&self, position: usize) -> impl Iterator<Item = (SessionNo, bool)> {
        let waiter = &self.waiting[position];
        let granted = self.granted.iter().map(|(owner, mode)| (*owner, *mode, true));
        let ahead = self.waiting.iter().take(position).map(|ahead| (ahead.session, ahead.mode, false));
        granted
            .chain(ahead)
            .filter(|(owner, mode, _)| *owner != waiter.session && waiter.mode.waits_for(*mode))
            .map(|(owner, _, has_it)| (owner, has_it))
    }
}
