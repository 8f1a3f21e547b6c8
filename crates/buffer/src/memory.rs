//! The memory of the frames: one range of addresses for all that there may be, memory for those that there
//! are, in huge pages where the kernel has them.

use std::io;
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
        {
            use rustix::mm::{Advice, madvise};
            let own = rustix::param::page_size();
            let start = (from * self.size.bytes()).next_multiple_of(own);
            let end = to * self.size.bytes() / own * own;
            if start >= end {
                return;
            }
            // A refusal leaves the memory where it is, which wastes it and harms nothing. SAFETY: the range
            // lies within the mapping and no page of it is in use; private anonymous memory is zero
            // afterwards.
            let _ =
                unsafe { madvise(self.base.add(start).as_ptr().cast(), end - start, Advice::LinuxDontNeed) };
        }
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
