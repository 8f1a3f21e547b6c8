//! How much memory locks take, and how much they may.
//!
//! A lock table that grows with the rows a transaction locks must end somewhere. InnoDB's lives in the buffer pool, and gives up
//! when only a quarter of that is left; ours has a limit of its own ([`Budget`]). Who asks for a lock beyond it gets none
//! ([`Request::Full`](super::Request::Full)), and its transaction is rolled back, which makes room.
//!
//! ```text
//!  Budget: taken of limit ◄── chunks ──► Account of a shard: used + credit
//! ```
//!
//! What is counted is what the structures need at worst: hash tables and vectors that have just doubled, and allocations rounded up.
//!
//! # Nobody counts in one place
//!
//! Each shard of queues, and of ranges, has an [`Account`] under the mutex that it has anyway. It takes *credit* from the budget
//! in chunks, and gives back what it has too much of. So the one word that all share is written once in a hundred locks or so,
//! and never by who changes rows without asking for a lock. Unused credit is at most two chunks a shard: the limit may be felt that much
//! early.
//!
//! # Who is refused
//!
//! Only who has more than a few locks already ([`ALLOWANCE`]). While a large transaction that has met the limit is being rolled back,
//! which keeps its locks, the small ones beside it go on; and so the memory is bounded by the limit and an allowance for each session.
//! A lock made explicit on somebody else's behalf is never refused: who asked for his own has been asked for both.

use std::sync::atomic::Ordering;

use super::LockKey;
use super::queue::{Queue, Waiter};
use super::ranges::Cut;
use crate::sessions::SessionNo;
use crate::sync::AtomicU64;

/// What a session's locks may take when the limit has been reached: bytes.
pub(super) const ALLOWANCE: usize = 8 << 10;

/// What a hash table that has just doubled needs for a queue.
const QUEUE_BYTES: usize = 2 * (size_of::<(LockKey, Queue)>() + 2);
/// A holder's place in the queue, alone in it, and in the list of what its session owns.
const HOLDER_BYTES: usize = 4 * size_of::<(SessionNo, super::Mode)>() + 2 * size_of::<LockKey>();
/// A waiter's place in the queue, alone in it, and its event.
const WAITER_BYTES: usize = 4 * size_of::<Waiter>() + 128;
/// A range: in its session's map, whose nodes are half full, and in the tree of all sessions'.
pub(super) const RANGE_BYTES: usize = 3 * size_of::<(Cut, Cut)>() + 2 * super::interval_tree::NODE_BYTES;
/// A session's first range in an index: a node of the map.
pub(super) const FIRST_RANGE_BYTES: usize = 1024;

/// What an allocation takes.
fn allocated(bytes: usize) -> usize {
    bytes.next_multiple_of(16)
}

/// A key's copy in a queue's name, or in a list of what is owned.
fn key_bytes(key: &LockKey) -> usize {
    allocated(key.len())
}

/// What one more holder or waiter may add.
pub(super) fn entry_bytes(key: &LockKey) -> usize {
    key_bytes(key) + HOLDER_BYTES.max(WAITER_BYTES)
}

/// What a lock that nobody else asks for takes, its queue included.
pub(super) fn lock_bytes(key: &LockKey) -> usize {
    QUEUE_BYTES + HOLDER_BYTES + 2 * key_bytes(key)
}

/// What a queue takes.
pub(super) fn queue_bytes(key: &LockKey, queue: Option<&Queue>) -> usize {
    queue.map_or(0, |queue| {
        let holders = queue.granted.len() * (HOLDER_BYTES + key_bytes(key));
        let waiters = queue.waiting.len() * (WAITER_BYTES + key_bytes(key));
        QUEUE_BYTES + key_bytes(key) + holders + waiters
    })
}

/// What a range takes.
pub(super) fn range_bytes(from: &Cut, to: &Cut) -> usize {
    let key = |cut: &Cut| match cut {
        Cut::At { key, .. } => allocated(2 * size_of::<usize>() + key.len()),
        Cut::End => 0,
    };
    RANGE_BYTES + key(from) + key(to)
}

/// What all locks together may take.
#[repr(align(128))]
pub(super) struct Budget {
    limit: AtomicU64,
    /// By the accounts, their unused credit included.
    taken: AtomicU64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { limit: AtomicU64::new(u64::MAX), taken: AtomicU64::new(0) }
    }
}

impl Budget {
    pub(super) fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// What accounts take at once.
    fn chunk(&self) -> usize {
        (self.limit.load(Ordering::Relaxed) / 2048).clamp(512, 32 << 10) as usize
    }

    fn take(&self, bytes: usize) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        let taken = self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        let is_within = taken.saturating_add(bytes as u64) <= limit;
        if !is_within {
            self.give_back(bytes);
        }
        is_within
    }

    fn overdraw(&self, bytes: usize) {
        self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}

/// What the locks of a shard take. Under its mutex.
#[derive(Default)]
pub(super) struct Account {
    used: usize,
    /// Taken from the budget and not used.
    credit: usize,
}

impl Account {
    /// Bytes used.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Makes sure that it can grow by `bytes`, or gives false: the limit has been reached.
    #[inline]
    pub(super) fn reserve(&mut self, budget: &Budget, bytes: usize) -> bool {
        self.credit >= bytes || self.take(budget, bytes - self.credit)
    }

    #[cold]
    fn take(&mut self, budget: &Budget, bytes: usize) -> bool {
        let taken = [bytes + budget.chunk(), bytes].into_iter().find(|bytes| budget.take(*bytes));
        self.credit += taken.unwrap_or(0);
        taken.is_some()
    }

    /// What took `before` bytes takes `now`. What has not been reserved is overdrawn.
    #[inline]
    pub(super) fn settle(&mut self, budget: &Budget, before: usize, now: usize) {
        self.used = self.used + now - before;
        if now > before {
            let grown = now - before;
            if self.credit < grown {
                budget.overdraw(grown - self.credit);
                self.credit = grown;
            }
            self.credit -= grown;
        } else {
            self.credit += before - now;
            let chunk = budget.chunk();
            if self.credit > 2 * chunk {
                budget.give_back(self.credit - chunk);
                self.credit = chunk;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::{HashMap, HashSet};

    use palisade_base::prng::{Prng, test_seed};

    use super::super::LockTable;
    use super::*;

    impl LockTable {
        /// Whether what is counted is what is there.
        pub(crate) fn check_memory(&self) {
            let mut total = 0;
            for shard in &self.shards {
                let queues = shard.queues.lock();
                let bytes = queues.by_key.iter().map(|(key, queue)| queue_bytes(key, Some(queue)));
                let bytes: usize = bytes.sum();
                assert_eq!(queues.account.used(), bytes);
                total += bytes;
            }
            let (mut owners, mut by_session) = (HashSet::new(), HashMap::<SessionNo, usize>::new());
            self.ranges.visit(|session, index, _, from, to| {
                let first = if owners.insert((session, index)) { FIRST_RANGE_BYTES } else { 0 };
                *by_session.entry(session).or_default() += first + range_bytes(from, to);
            });
            total += by_session.values().sum::<usize>();
            assert_eq!(self.memory(), total as u64);
            for session in (0..64).map(SessionNo) {
                let state = self.cells.cell(session).state.lock();
                let locks: usize = state.owned.iter().map(lock_bytes).sum();
                let ranges = by_session.get(&session).copied().unwrap_or_default();
                assert_eq!(state.bytes, locks + ranges, "{session:?}");
            }
        }
    }

    #[test]
    fn accounts_keep_to_the_budget_and_it_knows_what_they_have() {
        const LIMIT: u64 = 100_000;
        let mut prng = Prng::new(test_seed(23));
        let budget = Budget::default();
        budget.set_limit(LIMIT);
        let mut accounts: [Account; 8] = Default::default();
        let mut refused = 0;
        for _ in 0..20_000 {
            let account = &mut accounts[prng.below(8) as usize];
            let bytes = prng.below(3000) as usize;
            if prng.below(2) == 0 {
                let bytes = bytes.min(account.used);
                account.settle(&budget, bytes, 0);
            } else if account.reserve(&budget, bytes) {
                account.settle(&budget, 0, bytes);
            } else {
                refused += 1;
                let credit: usize = accounts.iter().map(|account| account.credit).sum();
                assert!(credit <= 8 * 2 * budget.chunk(), "{credit} bytes that nobody uses");
            }
            let taken: usize = accounts.iter().map(|account| account.used + account.credit).sum();
            assert_eq!(taken as u64, budget.taken.load(Ordering::Relaxed));
            assert!(taken as u64 <= LIMIT);
        }
        assert!(refused > 100, "{refused}");
    }

    #[test]
    fn what_is_not_reserved_is_overdrawn_and_paid_back() {
        let budget = Budget::default();
        budget.set_limit(1000);
        let mut account = Account::default();
        account.settle(&budget, 0, 5000);
        assert!(!account.reserve(&budget, 1));
        account.settle(&budget, 5000, 100);
        assert!(account.reserve(&budget, 100));
    }
}
