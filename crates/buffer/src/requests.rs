//! Counting page accesses without making them cost anything.
//!
//! An access is the one thing that happens too often for a shared counter. Each thread counts into a cache line of its
//! own, with a plain load and store; whoever asks adds them up. The lines are never freed: threads are as few as
//! workers.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

#[derive(Default)]
#[repr(align(64))]
struct Counter(AtomicU64);

static COUNTERS: Mutex<Vec<&'static Counter>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: Cell<Option<&'static Counter>> = const { Cell::new(None) };
}

/// One more page access by this thread.
#[inline]
pub(crate) fn count() {
    let counter = OWN.with(Cell::get).unwrap_or_else(register);
    counter.0.store(counter.0.load(Relaxed) + 1, Relaxed);
}

#[cold]
fn register() -> &'static Counter {
    let counter: &'static Counter = Box::leak(Box::default());
    COUNTERS.lock().push(counter);
    OWN.with(|own| own.set(Some(counter)));
    counter
}

/// Page accesses of all threads since the process began.
pub(crate) fn total() -> u64 {
    COUNTERS.lock().iter().map(|counter| counter.0.load(Relaxed)).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_access_of_every_thread_is_counted() {
        let before = super::total();
        let threads: Vec<_> =
            (0..4).map(|_| std::thread::spawn(|| (0..100).for_each(|_| super::count()))).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(super::total() >= before + 400);
    }
}
