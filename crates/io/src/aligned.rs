//! Memory that direct I/O accepts.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// An alignment every block device accepts for direct I/O, in bytes.
pub const DIRECT_IO_ALIGNMENT: usize = 4096;

/// A zero-initialised byte buffer whose address is a multiple of [`DIRECT_IO_ALIGNMENT`].
pub struct AlignedBuf {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: an AlignedBuf owns its allocation exactly as a Vec<u8> does; the pointer is never shared.
unsafe impl Send for AlignedBuf {}
// SAFETY: through `&AlignedBuf` the bytes can only be read.
unsafe impl Sync for AlignedBuf {}

impl AlignedBuf {
    /// `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        if len == 0 {
            return AlignedBuf { start: Self::layout(1).dangling_ptr(), len };
        }
        let layout = Self::layout(len);
        // SAFETY: the layout's size is not 0, which is what alloc_zeroed requires.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        AlignedBuf { start, len }
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len, DIRECT_IO_ALIGNMENT).expect("a buffer is smaller than the address space")
    }
}

impl Drop for AlignedBuf {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: `start` came from alloc_zeroed with this very layout (len > 0), and is freed only here.
            unsafe { dealloc(self.start.as_ptr(), Self::layout(self.len)) }
        }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` is non-null, aligned, and valid for `len` initialised bytes (zeroed at allocation; with
        // len 0 any non-null pointer will do); the borrow of self keeps them from being freed or written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; the exclusive borrow of self makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl std::fmt::Debug for AlignedBuf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AlignedBuf({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_aligned_zero_and_writable() {
        for len in [0, 1, 512, 16384, 5000] {
            let mut buf = AlignedBuf::zeroed(len);
            assert_eq!(buf.as_ptr() as usize % DIRECT_IO_ALIGNMENT, 0);
            assert_eq!(buf.len(), len);
            assert!(buf.iter().all(|byte| *byte == 0));
            buf.fill(7);
            assert!(buf.iter().all(|byte| *byte == 7));
        }
    }
}
