//! The queue of one key: who holds it, and who waits, first come, first served.

use std::collections::VecDeque;

use palisade_base::Event;

use super::Mode;
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
        self.granted.iter().all(|(owner, held)| *owner == session || !mode.conflicts_with(*held))
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

    /// Whom the request at `position` waits for: holders first.
    pub(super) fn blockers(&self, position: usize) -> Vec<SessionNo> {
        let waiter = &self.waiting[position];
        let granted = self.granted.iter().copied();
        let ahead = self.waiting.iter().take(position).map(|ahead| (ahead.session, ahead.mode));
        granted
            .chain(ahead)
            .filter(|(owner, mode)| *owner != waiter.session && waiter.mode.conflicts_with(*mode))
            .map(|(owner, _)| owner)
            .collect()
    }
}
