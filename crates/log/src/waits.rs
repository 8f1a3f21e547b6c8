//! Who waits for which LSN.
//!
//! A [`WaitList`] holds wakers ordered by LSN, and beside them, readable without the lock, the first LSN waited for.
//! The one who waits *registers, then looks at the LSN again*; the one who advances *publishes, then looks at the
//! list*. Both in one total order ([`store_ordered`], [`load_ordered`]), so a wakeup cannot be lost, and looking at
//! a list where nobody waits costs one load.
//!
//! An [`Inbox`] is a worker's list and the [`Signal`] by which a flusher calls the worker: once per flush, however
//! many of its sessions are covered. The worker itself then wakes those, which on its own thread costs no system
//! call.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use palisade_base::Lsn;

use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, load_ordered, store_ordered};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitId(u64);

struct Waiter {
    lsn: Lsn,
    id: WaitId,
    waker: Waker,
}

#[derive(Default)]
struct Queue {
    /// Ordered by LSN. Waits mostly come in that order, so insertion is mostly at the end.
    waiters: VecDeque<Waiter>,
    last_id: u64,
}

impl Queue {
    fn first(&self) -> u64 {
        self.waiters.front().map_or(u64::MAX, |waiter| waiter.lsn.0)
    }

    fn position(&self, lsn: Lsn, id: WaitId) -> Option<usize> {
        let from = self.waiters.partition_point(|waiter| waiter.lsn < lsn);
        let same = self.waiters.iter().skip(from).take_while(|waiter| waiter.lsn == lsn);
        same.zip(from..).find(|(waiter, _)| waiter.id == id).map(|(_, position)| position)
    }
}

pub(crate) struct WaitList {
    queue: Mutex<Queue>,
    first: AtomicU64,
    count: AtomicU64,
}

impl WaitList {
    pub(crate) fn new() -> WaitList {
        WaitList {
            queue: Mutex::new(Queue::default()),
            first: AtomicU64::new(u64::MAX),
            count: AtomicU64::new(0),
        }
    }

    /// The first LSN waited for; [`Lsn::MAX`] if nobody waits.
    pub(crate) fn first(&self) -> Lsn {
        Lsn(load_ordered(&self.first))
    }

    /// How many wait, or did a moment ago.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Lets who looks without the lock see what is in the queue now.
    fn publish(&self, queue: &Queue) {
        self.count.store(queue.waiters.len() as u64, Ordering::Relaxed);
        store_ordered(&self.first, queue.first());
    }

    /// Waits for `lsn`. The caller looks at the LSN again before it sleeps.
    pub(crate) fn register(&self, lsn: Lsn, waker: &Waker) -> WaitId {
        let mut queue = self.queue.lock();
        queue.last_id += 1;
        let id = WaitId(queue.last_id);
        let position = queue.waiters.partition_point(|waiter| waiter.lsn <= lsn);
        queue.waiters.insert(position, Waiter { lsn, id, waker: waker.clone() });
        self.publish(&queue);
        id
    }

    /// How many waits have been registered.
    pub(crate) fn registrations(&self) -> u64 {
        self.queue.lock().last_id
    }

    /// Whether the wait is still in the list; its waker is then `waker`.
    pub(crate) fn renew(&self, lsn: Lsn, id: WaitId, waker: &Waker) -> bool {
        let mut queue = self.queue.lock();
        let Some(position) = queue.position(lsn, id) else { return false };
        queue.waiters[position].waker.clone_from(waker);
        true
    }

    /// Ends a wait, if it is still in the list.
    pub(crate) fn cancel(&self, lsn: Lsn, id: WaitId) {
        let mut queue = self.queue.lock();
        if let Some(position) = queue.position(lsn, id) {
            queue.waiters.remove(position);
            self.publish(&queue);
        }
    }

    /// Removes the waits up to `lsn`; the caller wakes them.
    pub(crate) fn take_covered(&self, lsn: Lsn) -> Vec<Waker> {
        if self.first() > lsn {
            return Vec::new();
        }
        let mut queue = self.queue.lock();
        let covered = queue.waiters.partition_point(|waiter| waiter.lsn <= lsn);
        let wakers = queue.waiters.drain(..covered).map(|waiter| waiter.waker).collect();
        self.publish(&queue);
        wakers
    }

    /// Wakes the first waiter without removing it: it is to see what can be done.
    pub(crate) fn nominate_first(&self) {
        let waker = self.queue.lock().waiters.front().map(|waiter| waiter.waker.clone());
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Calls one task from any thread; calls before it listens are kept, several are one.
pub(crate) struct Signal {
    raised: AtomicBool,
    listener: Mutex<Option<Waker>>,
}

impl Signal {
    pub(crate) fn new() -> Signal {
        Signal { raised: AtomicBool::new(false), listener: Mutex::new(None) }
    }

    /// Calls; whether that woke the task.
    pub(crate) fn raise(&self) -> bool {
        if self.raised.swap(true, Ordering::SeqCst) {
            return false;
        }
        let listener = self.listener.lock().take();
        if let Some(waker) = listener {
            waker.wake();
            return true;
        }
        false
    }

    /// Ready once per call since the last time.
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        *self.listener.lock() = Some(context.waker().clone());
        if self.raised.swap(false, Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// A worker's waits for durability.
pub(crate) struct Inbox {
    pub(crate) waits: WaitList,
    pub(crate) signal: Signal,
    /// Whether a [pump](crate::WorkerInbox::pump) completes the waits; without, whoever flushes does.
    pub(crate) has_pump: AtomicBool,
}

impl Inbox {
    pub(crate) fn new() -> Inbox {
        Inbox { waits: WaitList::new(), signal: Signal::new(), has_pump: AtomicBool::new(false) }
    }
}

#[cfg(test)]
mod tests;
