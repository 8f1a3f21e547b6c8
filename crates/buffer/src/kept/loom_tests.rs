//! One page that is changed, written, evicted and read by three threads, in every interleaving: no change is
//! lost, wherever the page is.
//!
//! The page's content is the number of its changes, and that is its LSN, too. The steps are those of
//! `Space::keep`, `Space::publish`, `copy_page` and `ExclusivePage`, over the real latch, lists and table of
//! kept pages.

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use loom::sync::{Arc, Mutex};
use loom::thread;
use palisade_base::{Lsn, PageNo};

use super::{Keeping, KeptPage, KeptPages};
use crate::frames::CLEAN;
use crate::latch::Latch;

const PAGE: PageNo = PageNo(0);

struct World {
    latch: Latch,
    is_in_frame: AtomicBool,
    is_writing: AtomicBool,
    oldest: AtomicU64,
    content: UnsafeCell<u64>,
    disk: Mutex<u64>,
    kept: Mutex<KeptPages>,
    keeping: Keeping,
}

// SAFETY: the content is accessed only under the latch, which is what the model checks.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

impl World {
    fn new() -> World {
        let keeping = Keeping::new(1, Some(|_, _| Ok(())));
        keeping.set_share(50);
        keeping.set_size(1000 * 16384);
        World {
            latch: Latch::default(),
            is_in_frame: AtomicBool::new(true),
            is_writing: AtomicBool::new(false),
            oldest: AtomicU64::new(CLEAN),
            content: UnsafeCell::new(0),
            disk: Mutex::new(0),
            kept: Mutex::default(),
            keeping,
        }
    }

    /// Changes the page, which is read if it is not in memory. Whether it did: the latch may be taken.
    fn change(&self) -> bool {
        for _ in 0..2 {
            if !self.latch.try_lock_exclusive() {
                return false;
            }
            if self.is_in_frame.load(Relaxed) {
                // SAFETY: under the exclusive latch.
                let before = self.content.with_mut(|content| unsafe {
                    *content += 1;
                    *content - 1
                });
                let is_first = self.oldest.load(Relaxed) == CLEAN;
                if is_first {
                    self.oldest.store(before, Relaxed);
                }
                self.keeping.record(0, is_first, Lsn(before), Lsn(before + 1), Some(&[1]));
                self.latch.unlock_exclusive(true);
                return true;
            }
            self.latch.unlock_exclusive(false);
            self.read();
        }
        false
    }

    fn read(&self) {
        let mut kept = self.kept.lock().unwrap();
        if self.is_in_frame.load(Relaxed) {
            return;
        }
        let mut content = *self.disk.lock().unwrap();
        let taken = kept.remove(PAGE);
        if let Some(kept) = &taken {
            assert_eq!(
                Lsn(content),
                kept.changes.base,
                "the page on disk is not the one that the list begins with"
            );
            content += kept.changes.ops.len() as u64;
            assert_eq!(Lsn(content), kept.changes.last);
        }
        self.latch.lock_exclusive();
        // SAFETY: under the exclusive latch.
        self.content.with_mut(|own| unsafe { *own = content });
        if let Some(kept) = taken {
            assert_eq!(self.oldest.swap(kept.oldest.0, Relaxed), CLEAN);
            self.keeping.put(0, kept.changes);
        }
        self.is_in_frame.store(true, Relaxed);
        self.latch.unlock_exclusive(true);
    }

    fn evict(&self) {
        if !self.latch.try_lock_exclusive() {
            return;
        }
        let mut leaves = false;
        if self.is_in_frame.load(Relaxed) && !self.is_writing.load(Acquire) {
            // SAFETY: under the exclusive latch.
            let content = self.content.with(|content| unsafe { *content });
            if self.oldest.load(Relaxed) == CLEAN {
                assert_eq!(*self.disk.lock().unwrap(), content, "a clean page is on disk");
                self.is_in_frame.store(false, Relaxed);
                leaves = true;
            } else if let Some(changes) = self.keeping.take_to_keep(0, Lsn(content)) {
                let mut kept = self.kept.lock().unwrap();
                let oldest = Lsn(self.oldest.swap(CLEAN, Relaxed));
                kept.insert(PAGE, KeptPage { oldest, changes, failures: 0 });
                self.is_in_frame.store(false, Relaxed);
                leaves = true;
            }
        }
        self.latch.unlock_exclusive(leaves);
    }

    fn clean(&self) {
        if !self.latch.try_lock_shared() {
            return;
        }
        let begins = self.is_in_frame.load(Relaxed)
            && self.is_writing.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        let is_dirty = begins && self.oldest.swap(CLEAN, Relaxed) != CLEAN;
        if is_dirty {
            self.keeping.forget(0);
            // SAFETY: under the shared latch.
            let copy = self.content.with(|content| unsafe { *content });
            self.latch.unlock_shared();
            *self.disk.lock().unwrap() = copy;
        } else {
            self.latch.unlock_shared();
        }
        if begins {
            self.is_writing.store(false, Release);
        }
    }
}

#[test]
fn loom_a_page_that_leaves_memory_unwritten_loses_no_change() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 100_000;
    builder.check(|| {
        let world = Arc::new(World::new());
        let evictor = {
            let world = world.clone();
            thread::spawn(move || {
                world.evict();
                world.evict();
            })
        };
        let cleaner = {
            let world = world.clone();
            thread::spawn(move || world.clean())
        };
        let changes = u64::from(world.change()) + u64::from(world.change());
        evictor.join().unwrap();
        cleaner.join().unwrap();
        world.read();
        // SAFETY: the other threads have ended.
        assert_eq!(world.content.with(|content| unsafe { *content }), changes);
        world.clean();
        assert_eq!(*world.disk.lock().unwrap(), changes);
        assert_eq!(world.keeping.used().0, 0);
    });
}
