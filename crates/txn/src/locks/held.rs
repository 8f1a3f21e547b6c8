//! All locks of one session, to be written down and taken again: a prepared transaction has them for longer than the process
//! lives.
//!
//! What is written is what the table says while the transaction, which asks for nothing any more, has itself written down. A lock
//! that is made explicit on its behalf afterwards follows from one of these, or from its id in a row, and will be made
//! explicit again when somebody asks.
//!
//! They are taken again before anybody else can ask, so none is in the way: two that are prepared may both have a key that is not
//! there, since both may have the gap. And whatever the limit is now: whoever has them had them within the limit there was.

use std::collections::hash_map::Entry;
use std::sync::atomic::Ordering;

use super::listing::Locked;
use super::memory::queue_bytes;
use super::queue::Queue;
use super::{LockTable, Mode, lock_key};
use crate::sessions::SessionNo;
use crate::undo::held::HeldLock;

impl LockTable {
    /// What the session has, besides the rows that it has written: locks, in the order in which it got them, and ranges.
    pub(crate) fn held(&self, session: SessionNo) -> Vec<HeldLock> {
        let (owned, indexes) = {
            let state = self.cells.cell(session).state.lock();
            (state.owned.clone(), state.ranges.clone())
        };
        let mut locks = Vec::with_capacity(owned.len());
        for owned in owned {
            let Some((index, key)) = owned.split_first_chunk::<8>() else { continue };
            let queues = self.shard_of(&owned).queues.lock();
            let held = queues.get(&owned).and_then(|queue| queue.held(session));
            // What it was given and never looked at may be taken back meanwhile.
            let Some(mode) = held else { continue };
            let index = u64::from_le_bytes(*index);
            locks.push(HeldLock { index, mode, what: Locked::Key(key.into()) });
        }
        for index in indexes {
            let ranges = self.ranges.read(index);
            if let Some(ranges) = ranges.get(index) {
                ranges.visit_session(session, |mode, from, to| {
                    let what = Locked::Range(from.clone(), to.clone());
                    locks.push(HeldLock { index, mode, what });
                });
            }
        }
        locks
    }

    /// Gives the session a lock that nobody can be in the way of, even if that is more than the limit.
    pub(crate) fn reinstate(&self, session: SessionNo, lock: HeldLock) {
        let HeldLock { index, mode, what } = lock;
        match what {
            Locked::Range(from, to) => self.begin_range(session, index, mode).put(from, to),
            Locked::Key(key) => self.reinstate_key(session, index, &key, mode),
        }
    }

    fn reinstate_key(&self, session: SessionNo, index: u64, key: &[u8], mode: Mode) {
        let shard = self.shard(index, key);
        let key = lock_key(index, key);
        let mut queues = shard.queues.lock();
        let before = queue_bytes(&key, queues.get(&key));
        let queue = match queues.by_key.entry(key.clone()) {
            Entry::Occupied(queue) => queue.into_mut(),
            Entry::Vacant(place) => {
                shard.count.fetch_add(1, Ordering::AcqRel);
                place.insert(Queue::default())
            }
        };
        self.grant(queue, &key, session, mode);
        let now = queue_bytes(&key, Some(queue));
        queues.account.settle(&self.budget, before, now);
    }
}
