//! The memory of the frames: one range of addresses for all that there may be, memory for those that there
//! are, in huge pages where the kernel has them.

use std::io;
#[cfg(not(miri))]
use std::ops::Range;
use std::ptr::NonNull;

use crate::page::Page;
use crate::page_size::PageSize;

/// Room for a number of pages, aligned to the least page and never moved.
pub(crate) struct FrameMemory {
    base: NonNull<u8>,
    frames: usize,
    size: PageSize,
}

// SAFETY: `FrameMemory` only hands out addresses; who may touch the bytes there is decided by the latches.
unsafe impl Send for FrameMemory {}
// SAFETY: as above.
unsafe impl Sync for FrameMemory {}

impl FrameMemory {
    /// Addresses for `frames` pages, which may not be touched before memory is [supplied](Self::supply).
    pub(crate) fn reserve(frames: usize, size: PageSize) -> io::Result<Self> {
        let bytes =
            frames.checked_mul(size.bytes()).filter(|&bytes| bytes > 0).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(FrameMemory { base: Self::map_bytes(bytes)?, frames, size })
    }

    #[cfg(not(miri))]
    fn map_bytes(bytes: usize) -> io::Result<NonNull<u8>> {
        use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
        // SAFETY: an anonymous mapping at an address of the kernel's choice takes nothing from anybody.
        let base = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }?;
        // Huge pages are a hint: a kernel without them refuses it, and nothing is lost.
        // SAFETY: the range is the mapping just made; this advice does not change its contents.
        let _ = unsafe { madvise(base, bytes, Advice::LinuxHugepage) };
        // SAFETY: as above. Page frames in a core dump would be gigabytes of user data.
        let _ = unsafe { madvise(base, bytes, Advice::LinuxDontDump) };
        NonNull::new(base.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    /// Lets the first `frames` pages be touched, zeroed at first. The kernel supplies their memory then; an
    /// error if it does not promise so much.
    pub(crate) fn supply(&self, frames: usize) -> io::Result<()> {
        if frames > self.frames {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        #[cfg(not(miri))]
        {
            use rustix::mm::{MprotectFlags, mprotect};
            // SAFETY: the range begins where the mapping does and is no longer than it; what could be touched
            // there before can be touched afterwards.
            unsafe {
                mprotect(
                    self.base.as_ptr().cast(),
                    frames * self.size.bytes(),
                    MprotectFlags::READ | MprotectFlags::WRITE,
                )
            }?;
        }
        Ok(())
    }

    /// Gives the memory of pages that hold nothing back to the kernel, as far as it fills pages of the
    /// kernel's own, which may be larger. It may be touched all the same, by an optimistic reader of a page
    /// that was there: it is zero then.
    pub(crate) fn give_back(&self, from: usize, to: usize) {
        assert!(from <= to && to <= self.frames, "there are no such frames");
        #[cfg(not(miri))]
        self.give_back_in(rustix::param::page_size(), from, to);
    }

    /// The same, where the kernel has pages of `own` bytes.
    #[cfg(not(miri))]
    fn give_back_in(&self, own: usize, from: usize, to: usize) {
        use rustix::mm::{Advice, madvise};
        let bytes = whole_pages(own, from * self.size.bytes()..to * self.size.bytes());
        if bytes.is_empty() {
            return;
        }
        // A refusal leaves the memory where it is, which wastes it and harms nothing. SAFETY: the range lies
        // within the mapping and no page of it is in use; private anonymous memory is zero afterwards.
        let _ = unsafe {
            madvise(self.base.add(bytes.start).as_ptr().cast(), bytes.len(), Advice::LinuxDontNeed)
        };
    }

    #[cfg(miri)]
    fn map_bytes(bytes: usize) -> io::Result<NonNull<u8>> {
        // SAFETY: the layout is not empty.
        let base = unsafe { std::alloc::alloc_zeroed(Self::layout(bytes)) };
        NonNull::new(base).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    #[cfg(miri)]
    fn layout(bytes: usize) -> std::alloc::Layout {
        std::alloc::Layout::from_size_align(bytes, PageSize::LEAST.bytes()).expect("a valid layout")
    }

    /// Where frame `index` begins.
    #[inline]
    pub(crate) fn frame(&self, index: u32) -> NonNull<u8> {
        let index = index as usize;
        assert!(index < self.frames, "there is no such frame");
        // SAFETY: the offset lies within the mapping.
        unsafe { self.base.add(index * self.size.bytes()) }
    }

    /// Bytes of a frame.
    #[inline]
    pub(crate) fn size(&self) -> PageSize {
        self.size
    }

    /// Frame `index` as a page. A thread that makes a reference of it has the page's latch, or the frame to
    /// itself.
    #[inline]
    pub(crate) fn page(&self, index: u32) -> NonNull<Page> {
        page_at(self.frame(index), self.size.bytes())
    }
}

/// The pages of `own` bytes that lie wholly within `bytes`, which are counted from where a page begins.
#[cfg(not(miri))]
fn whole_pages(own: usize, bytes: Range<usize>) -> Range<usize> {
    bytes.start.next_multiple_of(own)..bytes.end / own * own
}

/// The `size` bytes from `bytes` on as a page, which is a slice of bytes and nothing else.
#[inline]
pub(crate) fn page_at(bytes: NonNull<u8>, size: usize) -> NonNull<Page> {
    let slice = NonNull::slice_from_raw_parts(bytes, size);
    // SAFETY: the pointer is not null.
    unsafe { NonNull::new_unchecked(slice.as_ptr() as *mut Page) }
}

impl Drop for FrameMemory {
    fn drop(&mut self) {
        let bytes = self.frames * self.size.bytes();
        #[cfg(not(miri))]
        // SAFETY: the mapping was made by `reserve` with this length, and guards borrow the pool that owns
        // it.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), bytes) };
        #[cfg(miri)]
        // SAFETY: allocated by `map_bytes` with this layout.
        unsafe {
            std::alloc::dealloc(self.base.as_ptr(), Self::layout(bytes))
        };
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;

    const FRAMES: usize = 80;

    /// Where the kernel's pages are larger than a frame, frames that share one with a frame in use keep their
    /// memory; the others lose it.
    #[test]
    fn memory_that_is_given_back_is_no_neighbours() {
        let size = PageSize::LEAST;
        for own in [4096, 16384, 65536] {
            for (from, to) in
                [(0, FRAMES), (1, FRAMES), (3, 4), (15, 33), (16, 32), (17, 31), (5, 5), (30, 79)]
            {
                let memory = FrameMemory::reserve(FRAMES, size).unwrap();
                memory.supply(FRAMES).unwrap();
                // SAFETY: the frames are this test's, and no one else knows of them.
                let page = |frame: usize| unsafe { memory.page(frame as u32).as_mut() };
                (0..FRAMES).for_each(|frame| page(frame).fill(7));
                memory.give_back_in(own, from, to);
                for frame in 0..FRAMES {
                    let (first, last) = (frame * size.bytes() / own, ((frame + 1) * size.bytes() - 1) / own);
                    let is_whole =
                        from * size.bytes() <= first * own && (last + 1) * own <= to * size.bytes();
                    let expected = if is_whole { 0 } else { 7 };
                    let is_so = page(frame).iter().all(|byte| *byte == expected);
                    assert!(is_so, "frame {frame} of {from}..{to}, the kernel's pages of {own}");
                }
            }
        }
    }
}
