//! Counting page accesses without making them cost anything.
//!
//! An access is the one thing that happens too often for a shared counter. Each thread counts into a cache line of its
//! own, with a plain load and store; the reader adds them up. The lines are never freed, but the one of a
//! thread that has ended goes to the next that begins, which counts on.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

#[derive(Default)]
#[repr(align(64))]
struct Counter(AtomicU64);

static COUNTERS: Mutex<Vec<&'static Counter>> = Mutex::new(Vec::new());
/// Those of threads that have ended.
static VACANT: Mutex<Vec<&'static Counter>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: Cell<Option<&'static Counter>> = const { Cell::new(None) };
    /// Beside `OWN`, which is read at every access and therefore has nothing to drop.
    static LEASE: Cell<Option<Lease>> = const { Cell::new(None) };
}

/// A thread's right to its counter.
struct Lease(&'static Counter);

impl Drop for Lease {
    fn drop(&mut self) {
        // What the thread still drops may count as well: into a new one.
        let _ = OWN.try_with(|own| own.set(None));
        VACANT.lock().push(self.0);
    }
}

/// One more page access by this thread.
#[inline]
pub(crate) fn count() {
    let counter = OWN.with(Cell::get).unwrap_or_else(register);
    counter.0.store(counter.0.load(Relaxed) + 1, Relaxed);
}

#[cold]
fn register() -> &'static Counter {
    let vacant = VACANT.lock().pop();
    let counter = vacant.unwrap_or_else(|| {
        let counter: &'static Counter = Box::leak(Box::default());
        COUNTERS.lock().push(counter);
        counter
    });
    OWN.with(|own| own.set(Some(counter)));
    // without it, at the end of a thread, the counter stays unused
    let _ = LEASE.try_with(|lease| lease.set(Some(Lease(counter))));
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

    #[test]
    fn threads_that_come_and_go_take_no_more_memory_than_those_at_one_time() {
        for _ in 0..100 {
            std::thread::spawn(super::count).join().unwrap();
        }
        // other tests count too, on threads that live meanwhile
        assert!(super::COUNTERS.lock().len() < 80);
    }
}
