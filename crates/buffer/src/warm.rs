//! Which pages are worth having in memory, and having them again: for a dump of the pool's content that a
//! later start loads (`innodb_buffer_pool_dump_at_shutdown`).
//!
//! Only page numbers are kept, never contents, so a list may be as old as it likes: what is no page any more
//! is passed over, and the rest is read as any page is.

use std::ops::ControlFlow;

use palisade_base::{Event, PageId, PageNo};

use crate::page::Page;
use crate::pool::BufferPool;
use crate::space::Space;
use crate::table::HOT;

/// Pages that are read at once.
const PAGES_AT_ONCE: usize = 64;

/// How [`BufferPool::load`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// With all pages asked for.
    All,
    /// When so few frames were free that others would have had to make way.
    UntilFull,
    /// When the caller said so.
    UntilStopped,
}

impl BufferPool {
    /// Pages in memory, `most` of them: those that have been accessed again lately before the others. In
    /// ascending order. The pool is in use meanwhile, so this is what it looks like, not a snapshot.
    pub fn resident_pages(&self, most: usize) -> Vec<PageId> {
        let (mut hot, mut cold) = (Vec::new(), Vec::new());
        for frame in 0..self.frames() as u32 {
            let Some((id, space)) = self.page_in(frame) else { continue };
            if space.is_scratch() {
                // It is gone with the process, and another one may have its number then.
                continue;
            }
            let is_hot = space.owned_entry(id.page).heat() == HOT;
            if is_hot { hot.push(id) } else { cold.push(id) }
        }
        hot.truncate(most);
        cold.truncate(most - hot.len());
        hot.append(&mut cold);
        hot.sort_unstable();
        hot
    }

    /// Shows `look` the pages in memory, but for those that are being changed. It must not use the pool. That
    /// is no access to them. The pool is in use meanwhile, so this is what it looks like, not a snapshot.
    pub fn for_each_resident(&self, mut look: impl FnMut(PageId, &Page)) {
        for frame in 0..self.frames() as u32 {
            let Some((id, space)) = self.page_in(frame) else { continue };
            let entry = space.owned_entry(id.page);
            if !entry.latch.try_lock_shared() {
                continue;
            }
            if entry.frame() == Some(frame) {
                // SAFETY: a frame is a page of initialised bytes; the shared latch keeps writers away.
                look(id, unsafe { self.core().frames.memory.page(frame).as_ref() });
            }
            entry.latch.unlock_shared();
        }
    }

    /// Has pages read that are not in memory, in the order given, as long as frames are free for them.
    /// `progress` is told how many have been dealt with, and may stop it. Pages that are gone, and those that
    /// cannot be read, are passed over. Blocks: for the reads.
    pub fn load(&self, pages: &[PageId], mut progress: impl FnMut(usize) -> ControlFlow<()>) -> Loaded {
        let mut done = 0;
        for of_space in pages.chunk_by(|a, b| a.space == b.space) {
            let space = self.space(of_space[0].space);
            for some in of_space.chunks(PAGES_AT_ONCE) {
                if progress(done).is_break() {
                    return Loaded::UntilStopped;
                }
                if self.core().runs_short() {
                    return Loaded::UntilFull;
                }
                if let Some(space) = &space {
                    space.read_and_wait(some.iter().map(|id| id.page));
                }
                done += some.len();
            }
        }
        match progress(done) {
            ControlFlow::Continue(()) => Loaded::All,
            ControlFlow::Break(()) => Loaded::UntilStopped,
        }
    }
}

impl Space {
    /// Reads [ahead](Self::read_ahead), without being counted as that, and waits for what is being read of
    /// `pages` then, whatever comes of it. Blocks.
    fn read_and_wait(&self, pages: impl Iterator<Item = PageNo> + Clone) {
        self.read_uncounted(pages.clone());
        let reads: Vec<Event> = pages.filter_map(|page| self.read_under_way(page)).collect();
        reads.iter().for_each(Event::wait_blocking);
    }
}
