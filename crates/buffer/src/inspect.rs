//! What is in each frame, for those who look at the pool: `information_schema.INNODB_BUFFER_PAGE`.
//!
//! A frame is looked at by itself, under its page's shared latch for as long as a few numbers are copied, and
//! that is no access to the page. The pool is in use meanwhile: what all looks together show is no moment's
//! state.

use std::sync::atomic::Ordering::Relaxed;

use palisade_base::{Lsn, PageId};

use crate::frames::SCRATCH;
use crate::page::Page;
use crate::pool::BufferPool;
use crate::table::HOT;

/// A page in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResidentPage {
    /// Which it is.
    pub id: PageId,
    /// Start of its first change that is not on its way to the disk.
    pub oldest: Option<Lsn>,
    /// A cleaner has a copy on its way to the disk.
    pub is_writing: bool,
    /// It has been accessed again since the eviction's sweep passed.
    pub is_hot: bool,
    /// It is being changed, and was not looked at.
    pub is_latched: bool,
}

impl BufferPool {
    /// The page in a frame, and what `look` reads of it: nothing if it is being changed. `look` must not use
    /// the pool.
    pub fn inspect<T>(&self, frame: u32, look: impl FnOnce(&Page) -> T) -> Option<(ResidentPage, Option<T>)> {
        if frame as usize >= self.frames() {
            return None;
        }
        let (id, space) = self.page_in(frame)?;
        let entry = space.owned_entry(id.page);
        let is_latched = !entry.latch.try_lock_shared();
        let mut seen = None;
        let mut is_there = entry.frame() == Some(frame);
        if !is_latched {
            if is_there {
                // SAFETY: a frame is a page of initialised bytes; the shared latch keeps writers away.
                seen = Some(look(unsafe { self.core().frames.memory.page(frame).as_ref() }));
            }
            entry.latch.unlock_shared();
        } else {
            is_there &= self.core().frames.owner(frame) == Some(id);
        }
        let oldest = self.core().frames.oldest(frame);
        let page = ResidentPage {
            id,
            oldest: (oldest < SCRATCH).then_some(Lsn(oldest)),
            is_writing: self.core().frames.is_writing(frame),
            is_hot: entry.heat() == HOT,
            is_latched,
        };
        is_there.then_some((page, seen))
    }

    /// The frame at which the eviction's sweep will go on.
    pub fn sweep_position(&self) -> u32 {
        (self.core().hand.load(Relaxed) % self.frames().max(1)) as u32
    }
}
