//! Reading bytes that another thread may be writing.
//!
//! An optimistic reader reads a frame while a writer may change it, and throws away what it read when the latch's
//! version says so. Every access is a relaxed atomic load of an aligned word; a value that straddles two words is put
//! together from both and may be torn, which validation finds out. On x86-64 and AArch64 these are plain loads.
//!
//! The writer's stores are not atomic (it writes through `&mut Page`), so by the letter of the memory model the race
//! is undefined, as it is for every seqlock over plain data (crossbeam's, the kernel's). What keeps it harmless is that
//! the loads are atomic - the compiler may neither repeat nor invent them - and that nothing read is used for anything
//! but comparisons, range-checked offsets and copies until it is validated.

use std::cmp::Ordering;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::page::PageRead;
use crate::page_size::PageSize;

const WORD: usize = 8;

/// The bytes of a frame, to be read as described at the head of this module.
#[derive(Clone, Copy)]
pub(crate) struct RacyBytes {
    words: NonNull<u64>,
    /// Bytes of the frame.
    len: usize,
}

macro_rules! read {
    ($name:ident, $type:ty) => {
        #[inline]
        fn $name(self, offset: usize) -> $type {
            // A read at a constant offset near the front needs no comparison then. SAFETY: `new`'s caller
            // said so.
            unsafe { std::hint::assert_unchecked(self.len >= PageSize::LEAST.bytes()) };
            if offset > self.len - size_of::<$type>() {
                return 0;
            }
            let (index, shift) = (offset / WORD, (offset % WORD) * 8);
            let low = self.word(index) >> shift;
            if shift + <$type>::BITS as usize <= 64 {
                low as $type
            } else {
                (low | self.word(index + 1) << (64 - shift)) as $type
            }
        }
    };
}

impl RacyBytes {
    /// # Safety
    /// `frame` must be valid for reads of `len` bytes, as many as a page has, aligned to 8, for as long as
    /// the result and its copies are used.
    #[inline]
    pub(crate) unsafe fn new(frame: NonNull<u8>, len: usize) -> Self {
        RacyBytes { words: frame.cast(), len }
    }

    #[inline]
    fn word(self, index: usize) -> u64 {
        debug_assert!(index < self.len / WORD);
        // SAFETY: the callers keep `index` within the page (each checks its last byte against `len`), and
        // `new`'s caller promised an aligned page that stays valid. The word may be written to meanwhile; see
        // the module head.
        u64::from_le(unsafe { AtomicU64::from_ptr(self.words.add(index).as_ptr()) }.load(Relaxed))
    }

    read!(byte, u8);
    read!(short, u16);
    read!(int, u32);
    read!(long, u64);

    pub(crate) fn copy_to(self, offset: usize, out: &mut [u8]) {
        let available = self.len.saturating_sub(offset).min(out.len());
        let (inside, outside) = out.split_at_mut(available);
        outside.fill(0);
        let mut at = offset;
        let mut chunks = inside.chunks_exact_mut(WORD);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&self.long(at).to_le_bytes());
            at += WORD;
        }
        for byte in chunks.into_remainder() {
            *byte = self.byte(at);
            at += 1;
        }
    }

    #[inline]
    pub(crate) fn compare_with(self, offset: usize, len: usize, key: &[u8]) -> Ordering {
        let len = len.min(self.len.saturating_sub(offset));
        let common = len.min(key.len());
        let mut at = 0;
        while at + WORD <= common {
            let ours = self.long(offset + at).swap_bytes();
            let theirs = u64::from_be_bytes(std::array::from_fn(|i| key[at + i]));
            if ours != theirs {
                return ours.cmp(&theirs);
            }
            at += WORD;
        }
        for (i, &theirs) in key[at..common].iter().enumerate() {
            let ours = self.byte(offset + at + i);
            if ours != theirs {
                return ours.cmp(&theirs);
            }
        }
        len.cmp(&key.len())
    }
}

impl PageRead for RacyBytes {
    #[inline]
    fn reader(&self) -> impl PageRead + Copy {
        *self
    }

    #[inline]
    fn size(&self) -> usize {
        self.len
    }

    #[inline]
    fn u8_at(&self, offset: usize) -> u8 {
        self.byte(offset)
    }

    #[inline]
    fn u16_at(&self, offset: usize) -> u16 {
        self.short(offset)
    }

    #[inline]
    fn u32_at(&self, offset: usize) -> u32 {
        self.int(offset)
    }

    #[inline]
    fn u64_at(&self, offset: usize) -> u64 {
        self.long(offset)
    }

    fn copy(&self, offset: usize, out: &mut [u8]) {
        self.copy_to(offset, out);
    }

    #[inline]
    fn compare(&self, offset: usize, len: usize, key: &[u8]) -> Ordering {
        self.compare_with(offset, len, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Page;
    use palisade_base::prng::{Prng, test_seed};

    /// Every racy read agrees with the plain one, in range and out of it.
    #[test]
    fn racy_reads_agree_with_plain_reads() {
        let mut random = Prng::new(test_seed(1));
        let size = *random.pick(&PageSize::ALL);
        let mut bytes = palisade_io::AlignedBuf::zeroed(size.bytes());
        random.fill(&mut bytes);
        let page = Page::of(&bytes);
        let mut shared = palisade_io::AlignedBuf::zeroed(size.bytes());
        shared.copy_from_slice(&bytes);
        // SAFETY: the buffer outlives `racy`, is an aligned page, and nothing else refers to it.
        let racy = unsafe { RacyBytes::new(NonNull::from(&mut *shared).cast(), size.bytes()) };
        for round in 0..if cfg!(miri) { 60 } else { 20_000 } {
            let offset = match round % 3 {
                0 => random.below(size.bytes() as u64 + 20) as usize,
                1 => size.bytes() - random.below(20) as usize,
                _ => usize::MAX - random.below(20) as usize,
            };
            assert_eq!(racy.u8_at(offset), page.u8_at(offset));
            assert_eq!(racy.u16_at(offset), page.u16_at(offset));
            assert_eq!(racy.u32_at(offset), page.u32_at(offset));
            assert_eq!(racy.u64_at(offset), page.u64_at(offset));
            let len = random.below(40) as usize;
            let (mut ours, mut theirs) = (vec![1; len], vec![2; len]);
            racy.copy_to(offset, &mut ours);
            page.copy(offset, &mut theirs);
            assert_eq!(ours, theirs);
            if len > 0 && random.one_in(2) {
                ours[random.below(len as u64) as usize] ^= 1 << random.below(8);
            }
            ours.truncate(random.below(len as u64 + 1) as usize);
            assert_eq!(racy.compare_with(offset, len, &ours), page.compare(offset, len, &ours));
        }
    }
}
