//! One task of many parts, done by the caller and by threads that come to help.
//!
//! ```text
//!   caller:  invite helpers (jobs of a pool) ─► take parts until none is left ─► close ─► wait for those inside ─► return
//!   helper:  enter, unless closed ─► take parts until none is left ─► leave
//! ```
//!
//! A helper that comes late finds the door closed and touches nothing of the caller's, so that the caller
//! waits only for helpers that work, and never for a job that still stands in a queue behind others.

#[cfg(not(loom))]
use std::sync::{
    Condvar, Mutex,
    atomic::{AtomicUsize, Ordering},
};

#[cfg(loom)]
use loom::sync::{
    Condvar, Mutex,
    atomic::{AtomicUsize, Ordering},
};

/// Who is inside, and whether others may still enter.
#[derive(Default)]
struct Door {
    inside: usize,
    closed: bool,
    /// A helper has panicked, and what it had taken is not done.
    panicked: bool,
}

/// What caller and helpers share.
pub(crate) struct Crew {
    next: AtomicUsize,
    parts: usize,
    door: Mutex<Door>,
    left: Condvar,
}

impl Crew {
    pub(crate) fn new(parts: usize) -> Crew {
        Crew { next: AtomicUsize::new(0), parts, door: Mutex::new(Door::default()), left: Condvar::new() }
    }

    /// The next part, if one is left.
    pub(crate) fn take(&self) -> Option<usize> {
        let part = self.next.fetch_add(1, Ordering::Relaxed);
        (part < self.parts).then_some(part)
    }

    /// For a helper: runs `work` unless the door is closed, which then stays open for the caller until `work`
    /// has ended, also if it panics.
    pub(crate) fn help(&self, work: impl FnOnce()) {
        {
            let mut door = self.lock();
            if door.closed {
                return;
            }
            door.inside += 1;
        }
        let _inside = Inside(self);
        work();
    }

    /// For the caller, at its end: no helper enters any more. Waits for those inside. Whether all parts that
    /// helpers have taken are done: none of them has panicked.
    pub(crate) fn close(&self) -> bool {
        let mut door = self.lock();
        door.closed = true;
        while door.inside > 0 {
            door = self.left.wait(door).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        !door.panicked
    }

    #[cfg(not(loom))]
    fn lock(&self) -> std::sync::MutexGuard<'_, Door> {
        self.door.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    #[cfg(loom)]
    fn lock(&self) -> loom::sync::MutexGuard<'_, Door> {
        self.door.lock().expect("no model panics with the lock held")
    }
}

/// A helper's stay.
struct Inside<'a>(&'a Crew);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let mut door = self.0.lock();
        door.inside -= 1;
        door.panicked |= std::thread::panicking();
        drop(door);
        self.0.left.notify_all();
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicBool;

    /// While the caller has not left, helpers may touch what is the caller's; afterwards none does.
    #[test]
    fn loom_the_caller_leaves_after_the_last_helper_inside() {
        loom::model(|| {
            let crew = Arc::new(Crew::new(2));
            let (gone, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
            let helpers: Vec<_> = (0..2)
                .map(|_| {
                    let (crew, gone, done) = (crew.clone(), gone.clone(), done.clone());
                    loom::thread::spawn(move || {
                        crew.help(|| {
                            while crew.take().is_some() {
                                assert!(!gone.load(Ordering::Acquire), "the caller has left");
                                done.fetch_add(1, Ordering::AcqRel);
                            }
                        });
                    })
                })
                .collect();
            while crew.take().is_some() {
                done.fetch_add(1, Ordering::AcqRel);
            }
            assert!(crew.close(), "no helper has panicked");
            gone.store(true, Ordering::Release);
            assert_eq!(
                done.load(Ordering::Acquire),
                2,
                "each part is done once, and before the caller leaves"
            );
            helpers.into_iter().for_each(|helper| helper.join().unwrap());
        });
    }
}
