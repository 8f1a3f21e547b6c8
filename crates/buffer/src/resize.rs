//! Changing the number of frames while the pool is in use (`innodb_buffer_pool_size`).
//!
//! ```text
//!  growing:    memory for all (refused if there is none) ─► frames become known, STEP after STEP
//!  shrinking:  size ─► free frames beyond it are withdrawn ─► the others are vacated, some in each step
//!                                                        ─► all withdrawn: memory back to the kernel
//! ```
//!
//! [`BufferPool::resize`] says what is wanted and returns; the cleaner that follows the log carries it out, a
//! little in each of its rounds.
//!
//! # Vacating a frame
//!
//! Which pages lose their place is not to follow from where they are: a cold clean page leaves memory, any
//! other moves to a free frame, dirty or not. The frames for that come from the sweep for cold pages, which
//! goes on as ever, so that what remains in a smaller pool is what was used last. A page that is latched or
//! being written keeps its frame until the next round.
//!
//! # Why it is right
//!
//! *A page moves under its exclusive latch*, and its version grows: to others it has left memory and come
//! back. *Its dirty mark moves with it:* the log knows the mark by its LSN alone, and no cleaner takes it
//! without the latch. *A space that is detached loses all its pages:* a page is moved while the map of spaces
//! is held for reading, and detaching takes the space out of it first; so no page moves behind a search
//! through the frames. *No frame is forgotten that is used:* a frame is withdrawn by whoever gives it back,
//! and the memory goes when as many are withdrawn as there are beyond the size. Nothing is read into such a
//! frame any more; an optimistic reader that still looks at the page that was there finds its version grown.

use std::fmt;

use palisade_base::PageId;

use crate::frames::CLEAN;
use crate::metrics;
use crate::pool::{BufferPool, Core};
use crate::space::Space;

/// Frames that become known, or are looked at to be vacated, in one step.
const STEP: usize = 8192;

/// Why [`BufferPool::resize`] does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResizeError {
    /// The one before has not ended.
    UnderWay,
    /// There are no addresses for so many frames, or the kernel does not promise the memory.
    Memory,
}

impl fmt::Display for ResizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ResizeError::UnderWay => "the buffer pool is being resized",
            ResizeError::Memory => "there is no memory for so large a buffer pool",
        })
    }
}

impl std::error::Error for ResizeError {}

/// How far a [resize](BufferPool::resize) is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Resizing {
    /// There was none.
    #[default]
    Never,
    /// It goes on.
    UnderWay {
        /// Frames before.
        from: usize,
        /// Frames to come.
        to: usize,
        /// Of the frames to be added or withdrawn, those that are.
        done: usize,
    },
    /// The last one is done.
    Done {
        /// Frames before.
        from: usize,
        /// Frames since.
        to: usize,
        /// When it was done.
        unix_micros: i64,
    },
}

/// What is to be done.
#[derive(Default)]
pub(crate) struct Resize {
    state: Resizing,
    /// Of a pool that shrinks: the frame to be looked at next.
    next: usize,
}

/// What became of a frame that is to be vacated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vacated {
    /// It holds no page, or none any more.
    Yes,
    /// Its page is in use.
    Later,
    /// There is no frame that the page could move to.
    NoRoom,
}

impl BufferPool {
    /// Has the pool become one of `frames` frames, at least one. Does not wait: see
    /// [`resizing`](Self::resizing).
    pub fn resize(&self, frames: usize) -> Result<(), ResizeError> {
        let core = self.core();
        let (mut resize, to) = (self.resize.lock(), frames.max(1));
        if matches!(resize.state, Resizing::UnderWay { .. }) {
            return Err(ResizeError::UnderWay);
        }
        let from = core.frames.count();
        if to == from {
            return Ok(());
        }
        if to > from {
            core.frames.memory.supply(to).map_err(|_| ResizeError::Memory)?;
        } else {
            core.frames.withdraw(to);
        }
        *resize = Resize { state: Resizing::UnderWay { from, to, done: 0 }, next: to };
        core.frames.keeping.set_size(to * core.frames.memory.size().bytes());
        drop(resize);
        core.wake_cleaners();
        Ok(())
    }

    /// How far it is.
    pub fn resizing(&self) -> Resizing {
        self.resize.lock().state
    }

    /// The frames that the pool has, or is to have.
    pub fn size(&self) -> usize {
        let resize = self.resize.lock();
        match resize.state {
            Resizing::UnderWay { to, .. } => to,
            _ => self.core().frames.count(),
        }
    }

    /// A step of what [`resize`](Self::resize) asked for. Whether it goes on.
    pub(crate) fn step_resize(&self) -> bool {
        let core = self.core();
        let frames = &core.frames;
        let mut resize = self.resize.lock();
        let Resizing::UnderWay { from, to, .. } = resize.state else { return false };
        let done = if to > from {
            frames.make_known((frames.count() + STEP).min(to));
            frames.count() - from
        } else {
            resize.next = self.vacate_some(resize.next);
            frames.withdrawn()
        };
        let goes_on = done < from.abs_diff(to);
        resize.state = match goes_on {
            true => Resizing::UnderWay { from, to, done },
            false => Resizing::Done { from, to, unix_micros: core.clock.unix_micros() },
        };
        if !goes_on && to < from {
            frames.forget_withdrawn();
        }
        goes_on
    }

    /// Vacates frames beyond the size, from `start` on and round. The frame to go on with.
    fn vacate_some(&self, start: usize) -> usize {
        let core = self.core();
        let (size, count) = (core.frames.size(), core.frames.count());
        let mut frame = start;
        for _ in 0..STEP.min(count - size) {
            if frame >= count {
                frame = size;
            }
            if self.vacate(frame as u32) == Vacated::NoRoom {
                core.call_cleaners();
                break;
            }
            frame += 1;
        }
        frame
    }

    fn vacate(&self, frame: u32) -> Vacated {
        let core = self.core();
        let Some(id) = core.frames.owner(frame) else { return Vacated::Yes };
        // Held while the page moves: see the module's head.
        let spaces = self.spaces.read();
        let Some(space) = spaces.get(&id.space) else { return Vacated::Later };
        let entry = space.owned_entry(id.page);
        if !entry.latch.try_lock_exclusive() {
            return Vacated::Later;
        }
        let is_movable = entry.frame() == Some(frame) && !core.frames.is_writing(frame);
        let vacated = if is_movable { move_page(core, space, id, frame) } else { Vacated::Later };
        let is_changed = vacated == Vacated::Yes;
        entry.latch.unlock_exclusive(is_changed);
        drop(spaces);
        if is_changed {
            core.frames.give_free(frame);
        }
        vacated
    }
}

/// Moves a page, whose exclusive latch the caller holds and that is not being written, or takes it out of
/// memory if it is cold and clean.
fn move_page(core: &Core, space: &Space, id: PageId, from: u32) -> Vacated {
    let (frames, entry) = (&core.frames, space.owned_entry(id.page));
    if entry.is_cold() && frames.oldest(from) == CLEAN {
        entry.set_frame(None);
        metrics::BUFFER_LRU_EVICTED.add(1);
    } else {
        let Some(to) = frames.take_spare(core.free_target() / 2) else { return Vacated::NoRoom };
        // SAFETY: both are frames of a page's bytes of which there is memory, and not the same. The latch
        // keeps others from the page in `from`; `to` came from the free list, and optimistic readers of what
        // it held find that page's version grown.
        unsafe {
            let source = frames.memory.frame(from).as_ptr();
            let size = frames.memory.size().bytes();
            std::ptr::copy_nonoverlapping(source, frames.memory.frame(to).as_ptr(), size);
        }
        frames.move_mark(from, to);
        frames.set_owner(to, Some(id));
        entry.set_frame(Some(to));
    }
    frames.set_owner(from, None);
    Vacated::Yes
}
