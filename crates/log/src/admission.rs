//! Log credit: who may append, decided before any latch is taken.
//!
//! The invariant is `next + outstanding credit < written + ring capacity`. It is kept without a shared counter:
//! outstanding credit is counted in [`SHARDS`] shards, each limited so that all together stay below half the ring,
//! and credit is given only while `next <= until`, where `until` is at most `written` + half the ring. An append moves
//! bytes from its shard to `next` - adding there first - so the sum never grows by it.
//!
//! `until` is also how the log's files say "full": it is then 0, and every admission waits for a checkpoint. And it is how
//! the ring is emptied of appends to be exchanged for another. For that every credit keeps [`HELD`] bytes until it is given back,
//! so that with nothing outstanding nobody is in the middle of an append.
//!
//! The one who waits registers and then tries again; the one who makes room publishes and then looks for those who
//! wait; all in one total order, so nobody sleeps through it.

use std::cell::Cell;

use palisade_base::Event;

use crate::sync::{AtomicBool, AtomicU64, CachePadded, Mutex, Ordering, load_ordered, store_ordered};

const SHARDS: usize = 8;

pub(crate) struct Admission {
    shards: [CachePadded<AtomicU64>; SHARDS],
    /// Credit of a shard at most.
    shard_limit: AtomicU64,
    until: CachePadded<AtomicU64>,
    has_waiters: AtomicBool,
    waiters: Mutex<Option<Event>>,
}

/// What a credit keeps for as long as it lives, in bytes.
pub(crate) const HELD: u64 = 8;
/// How often [`Admission::becomes_idle`] lets others run.
const PATIENCE: u32 = 1000;

/// Credit in a shard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Granted {
    shard: usize,
    pub(crate) bytes: u64,
}

thread_local! {
    static OWN_SHARD: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Threads get shards in turn.
fn own_shard() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    OWN_SHARD.with(|own| match own.get() {
        Some(shard) => shard,
        None => {
            let shard = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % SHARDS;
            own.set(Some(shard));
            shard
        }
    })
}

impl Admission {
    /// For a ring of `capacity` bytes; gives nothing until [`Admission::allow_until`].
    pub(crate) fn new(capacity: u64) -> Admission {
        Admission {
            shards: std::array::from_fn(|_| CachePadded(AtomicU64::new(0))),
            shard_limit: AtomicU64::new(Self::limit(capacity)),
            until: CachePadded(AtomicU64::new(0)),
            has_waiters: AtomicBool::new(false),
            waiters: Mutex::new(None),
        }
    }

    /// The largest credit with a ring of `capacity` bytes.
    pub(crate) const fn limit(capacity: u64) -> u64 {
        capacity / 2 / SHARDS as u64 - 8
    }

    /// How far ahead of what was written appends may begin.
    pub(crate) const fn lead(capacity: u64) -> u64 {
        capacity / 2
    }

    /// Takes `bytes` while `next`, read after the taking, is not beyond what is allowed.
    pub(crate) fn take(&self, bytes: u64, next: impl Fn() -> u64) -> Option<Granted> {
        let (own, limit) = (own_shard(), self.shard_limit.load(Ordering::Relaxed));
        let (shard, total) = (own..own + SHARDS).map(|shard| shard % SHARDS).find_map(|shard| {
            let counter = &self.shards[shard].0;
            let total = counter.fetch_add(bytes, Ordering::SeqCst) + bytes;
            if total <= limit {
                return Some((shard, total));
            }
            counter.fetch_sub(bytes, Ordering::SeqCst);
            None
        })?;
        // The ring may have been exchanged for a smaller one since the limit was looked at. Whoever finds what is allowed since
        // then also finds the limit of then; and whoever finds what was allowed before has kept it from being exchanged.
        if next() <= load_ordered(&self.until.0) && total <= self.shard_limit.load(Ordering::Relaxed) {
            return Some(Granted { shard, bytes });
        }
        self.shards[shard].0.fetch_sub(bytes, Ordering::SeqCst);
        None
    }

    /// Gives for a ring of `capacity` bytes from now on. There is no credit, and nothing is allowed until afterwards.
    pub(crate) fn set_capacity(&self, capacity: u64) {
        self.shard_limit.store(Self::limit(capacity), Ordering::SeqCst);
    }

    /// Moves `bytes` of the credit to an append, which has reserved them.
    pub(crate) fn spend(&self, granted: &mut Granted, bytes: u64) {
        granted.bytes =
            granted.bytes.checked_sub(bytes).expect("an append stays within the credit it was admitted with");
        self.shards[granted.shard].0.fetch_sub(bytes, Ordering::SeqCst);
    }

    /// Gives back what was not spent.
    pub(crate) fn give_back(&self, granted: Granted) {
        if granted.bytes > 0 {
            self.shards[granted.shard].0.fetch_sub(granted.bytes, Ordering::SeqCst);
        }
        self.wake();
    }

    /// Where appends may begin; see [`Admission::allow_until`].
    pub(crate) fn until(&self) -> u64 {
        self.until.0.load(Ordering::Relaxed)
    }

    /// Allows appends that begin up to `lsn`: at most what was written plus [`Admission::lead`], and 0 to stop.
    pub(crate) fn allow_until(&self, lsn: u64) {
        store_ordered(&self.until.0, lsn);
        self.wake();
    }

    /// An event completed when [`Admission::take`] may succeed. Registered first: take must be tried once more.
    pub(crate) fn wait(&self) -> Event {
        let event = self.waiters.lock().get_or_insert_with(Event::new).clone();
        self.has_waiters.store(true, Ordering::SeqCst);
        event
    }

    /// Lets everyone who waits try again.
    pub(crate) fn wake(&self) {
        if self.has_waiters.load(Ordering::SeqCst) {
            self.has_waiters.store(false, Ordering::SeqCst);
            let event = self.waiters.lock().take();
            if let Some(event) = event {
                event.complete();
            }
        }
    }

    /// No credit is given, because of [`Admission::allow_until`] 0: whether what was given before comes back soon. It may not,
    /// where its holder waits for the caller.
    pub(crate) fn becomes_idle(&self) -> bool {
        for _ in 0..PATIENCE {
            if self.outstanding() == 0 {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    pub(crate) fn outstanding(&self) -> u64 {
        self.shards.iter().map(|shard| load_ordered(&shard.0)).sum()
    }
}
