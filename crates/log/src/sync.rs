//! Atomics and locks, from `std` or, under `cfg(loom)`, from the model checker.
//!
//! Two protocols here depend on one total order: "I store, then look at yours; you store, then look at mine; one of
//! us sees the other". They use [`store_ordered`], [`load_ordered`] and [`compare_exchange_ordered`], which are
//! sequentially consistent accesses. loom models those as acquire and release only, but models fences in full, so
//! under loom each is flanked by one.

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[cfg(not(loom))]
pub(crate) use std::thread;

#[cfg(loom)]
pub(crate) use loom::thread;

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[cfg(not(loom))]
pub(crate) fn store_ordered(atom: &AtomicU64, value: u64) {
    atom.store(value, Ordering::SeqCst);
}

#[cfg(not(loom))]
pub(crate) fn load_ordered(atom: &AtomicU64) -> u64 {
    atom.load(Ordering::SeqCst)
}

#[cfg(not(loom))]
pub(crate) fn compare_exchange_ordered(atom: &AtomicU64, current: u64, new: u64) -> bool {
    atom.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

#[cfg(loom)]
pub(crate) fn store_ordered(atom: &AtomicU64, value: u64) {
    loom::sync::atomic::fence(Ordering::SeqCst);
    atom.store(value, Ordering::Release);
    loom::sync::atomic::fence(Ordering::SeqCst);
}

#[cfg(loom)]
pub(crate) fn load_ordered(atom: &AtomicU64) -> u64 {
    loom::sync::atomic::fence(Ordering::SeqCst);
    atom.load(Ordering::Acquire)
}

#[cfg(loom)]
pub(crate) fn compare_exchange_ordered(atom: &AtomicU64, current: u64, new: u64) -> bool {
    let exchanged = atom.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire).is_ok();
    loom::sync::atomic::fence(Ordering::SeqCst);
    exchanged
}

/// A mutex that cannot be poisoned.
pub(crate) struct Mutex<T>(#[cfg(not(loom))] parking_lot::Mutex<T>, #[cfg(loom)] loom::sync::Mutex<T>);

#[cfg(not(loom))]
pub(crate) type MutexGuard<'a, T> = parking_lot::MutexGuard<'a, T>;
#[cfg(loom)]
pub(crate) type MutexGuard<'a, T> = loom::sync::MutexGuard<'a, T>;

impl<T> Mutex<T> {
    #[cfg(not(loom))]
    pub(crate) fn new(value: T) -> Self {
        Mutex(parking_lot::Mutex::new(value))
    }

    #[cfg(loom)]
    pub(crate) fn new(value: T) -> Self {
        Mutex(loom::sync::Mutex::new(value))
    }

    #[cfg(not(loom))]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock()
    }

    #[cfg(loom)]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("no model panics with the lock held")
    }
}

/// A value with cache lines of its own.
#[repr(align(128))]
pub(crate) struct CachePadded<T>(pub(crate) T);
