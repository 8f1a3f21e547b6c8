//! The last events of all sessions.

use std::collections::VecDeque;

use parking_lot::Mutex;

/// The last events of one kind, with the numbers of their connections.
pub struct Long<E> {
    events: Mutex<VecDeque<(u64, E)>>,
    most: usize,
}

impl<E: Clone> Long<E> {
    /// None yet, and never more than `most`.
    pub fn of(most: usize) -> Long<E> {
        Long { events: Mutex::default(), most }
    }

    /// Keeps one.
    pub fn keep(&self, connection: u64, event: E) {
        let mut events = self.events.lock();
        while events.len() >= self.most.max(1) {
            events.pop_front();
        }
        if self.most > 0 {
            events.push_back((connection, event));
        }
    }

    /// All of them, the oldest first.
    pub fn all(&self) -> Vec<(u64, E)> {
        self.events.lock().iter().cloned().collect()
    }

    /// TRUNCATE.
    pub fn truncate(&self) {
        self.events.lock().clear();
    }
}
