//! The log buffer: a ring of words into which appends are copied concurrently, and from which they are written.
//!
//! ```text
//!            written                tail               next
//!   ....0000 |AAAA|BBBBBB|CC|DDDDDDD|0.....|EEEE|0.....|0000....
//!            └ complete, to be written ┘    └ linked   └ free: all zero
//!                                    └ reserved, being copied
//! ```
//!
//! * **reserve** - one `fetch_add` on `next`;
//! * **copy** - the payload, everything but the frame's header;
//! * **link** - the header word is stored last. A zero word where a frame should begin means "not yet", so the headers
//!   are the link ring, and there is no second array;
//! * **tail** - whoever links also advances `tail` over the frames that are linked without a gap.
//!
//! Why nobody is forgotten: a linker stores its header and then looks at `tail`; an advancer stores `tail` and then
//! looks at the header there. Both in one total order ([`store_ordered`], [`load_ordered`]), so either the linker
//! finds `tail` at its own frame or the advancer finds the header.
//!
//! Why a header is never a leftover of the lap before: [`Ring::clear`] zeroes what was written before `written` is
//! published, and [admission](crate::admission) keeps `next` strictly below `written` + capacity. A slow advancer may
//! read a word that meanwhile belongs to the next lap, but then `tail` has moved and its exchange fails.
//!
//! The words are exchanged for others, more or fewer, by [`Ring::replace`], while no append is under way: then nothing is in
//! them, and nobody who looks at them holds an LSN of theirs.
//!
//! Every word is an atomic, also those of payloads: that slow advancer's read would otherwise be a data race. A
//! relaxed store costs what a store costs.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use palisade_base::Lsn;

use crate::frame;
use crate::sync::{AtomicU64, CachePadded, Ordering, compare_exchange_ordered, load_ordered, store_ordered};

const WORD: usize = 8;

/// The memory of a ring: a power of two of words.
pub(crate) struct Words(Box<[AtomicU64]>);

impl Words {
    /// `bytes`, a power of two, all zero and all touched.
    pub(crate) fn new(bytes: usize) -> Words {
        assert!(bytes.is_power_of_two() && bytes >= WORD, "the ring is addressed by masking");
        Words((0..bytes / WORD).map(|_| AtomicU64::new(0)).collect())
    }

    fn at(&self, lsn: u64) -> &AtomicU64 {
        &self.0[(lsn / WORD as u64) as usize & (self.0.len() - 1)]
    }

    /// The words of `[lsn, lsn + count words)`: up to the end of the ring, and from its start.
    fn span(&self, lsn: u64, count: usize) -> (&[AtomicU64], &[AtomicU64]) {
        let first = (lsn / WORD as u64) as usize & (self.0.len() - 1);
        let to_end = count.min(self.0.len() - first);
        (&self.0[first..first + to_end], &self.0[..count - to_end])
    }
}

pub(crate) struct Ring {
    words: ArcSwap<Words>,
    /// Bytes of the words.
    capacity: AtomicU64,
    next: CachePadded<AtomicU64>,
    tail: CachePadded<AtomicU64>,
}

impl Ring {
    /// A ring of `bytes`, a power of two, with all its memory touched.
    pub(crate) fn new(bytes: usize) -> Ring {
        Ring {
            words: ArcSwap::from_pointee(Words::new(bytes)),
            capacity: AtomicU64::new(bytes as u64),
            next: CachePadded(AtomicU64::new(0)),
            tail: CachePadded(AtomicU64::new(0)),
        }
    }

    /// Goes on in `words`. Everything appended has been written and cleared, and nobody appends meanwhile.
    pub(crate) fn replace(&self, words: Words) {
        assert!(self.next() == self.tail(), "an append is under way");
        self.capacity.store((words.0.len() * WORD) as u64, Ordering::SeqCst);
        self.words.store(Arc::new(words));
    }

    /// Starts the empty ring at `lsn`. Nobody appends meanwhile.
    pub(crate) fn reset(&self, lsn: Lsn) {
        assert!(lsn.0.is_multiple_of(frame::ALIGNMENT as u64), "{lsn:?} is not where a frame can begin");
        store_ordered(&self.next.0, lsn.0);
        store_ordered(&self.tail.0, lsn.0);
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity.load(Ordering::SeqCst)
    }

    /// Where the next frame will begin.
    pub(crate) fn next(&self) -> Lsn {
        Lsn(load_ordered(&self.next.0))
    }

    /// Every frame below is complete.
    pub(crate) fn tail(&self) -> Lsn {
        Lsn(self.tail.0.load(Ordering::Acquire))
    }

    /// [`Ring::tail`], in the total order of waiting.
    pub(crate) fn tail_ordered(&self) -> Lsn {
        Lsn(load_ordered(&self.tail.0))
    }

    /// Takes `bytes`, a whole number of frames' alignment, for a frame. There must be credit.
    pub(crate) fn reserve(&self, bytes: u64) -> Lsn {
        Lsn(self.next.0.fetch_add(bytes, Ordering::SeqCst))
    }

    /// The ring for an append, whose credit sees to it that the memory is not exchanged meanwhile.
    pub(crate) fn pin(&self) -> Pinned<'_> {
        Pinned { ring: self, words: self.words.load() }
    }

    /// Copies `[from, from + out.len())`, below the tail and not cleared, out of the ring.
    pub(crate) fn copy_out(&self, from: Lsn, out: &mut [u8]) {
        assert!(out.len().is_multiple_of(WORD), "the log consists of whole words");
        let words = self.words.load();
        let (head, rest) = words.span(from.0, out.len() / WORD);
        let (for_head, for_rest) = out.split_at_mut(head.len() * WORD);
        for (words, bytes) in [(head, for_head), (rest, for_rest)] {
            for (chunk, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
                *chunk = word.load(Ordering::Relaxed).to_le_bytes();
            }
        }
    }

    /// Zeroes `[from, to)`, which has been written, so that the next lap finds no links there.
    pub(crate) fn clear(&self, from: Lsn, to: Lsn) {
        let words = self.words.load();
        let (head, rest) = words.span(from.0, (to.since(from) as usize) / WORD);
        for word in head.iter().chain(rest) {
            word.store(0, Ordering::Relaxed);
        }
    }
}

/// A ring and its memory, looked up once.
pub(crate) struct Pinned<'a> {
    ring: &'a Ring,
    words: Guard<Arc<Words>>,
}

impl Pinned<'_> {
    /// Copies the payload of the frame reserved at `start`.
    pub(crate) fn copy_in(&self, start: Lsn, payload: &[u8]) {
        let (head, rest) = self.words.span(start.0 + frame::HEADER as u64, payload.len().div_ceil(WORD));
        let (for_head, for_rest) = payload.split_at(payload.len().min(head.len() * WORD));
        for (words, bytes) in [(head, for_head), (rest, for_rest)] {
            let (chunks, last) = bytes.as_chunks();
            for (word, chunk) in words.iter().zip(chunks) {
                word.store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
            }
            if !last.is_empty() {
                let mut padded = [0; WORD];
                padded[..last.len()].copy_from_slice(last);
                words[words.len() - 1].store(u64::from_le_bytes(padded), Ordering::Relaxed);
            }
        }
    }

    /// Publishes the frame reserved at `start`, copied before.
    pub(crate) fn link(&self, start: Lsn, payload_len: usize) {
        store_ordered(self.words.at(start.0), frame::header(start, payload_len));
    }

    /// Advances the tail as far as it goes; whether it moved.
    pub(crate) fn advance_tail(&self) -> bool {
        let mut moved = false;
        loop {
            let tail = load_ordered(&self.ring.tail.0);
            let header = load_ordered(self.words.at(tail));
            if header == 0 {
                return moved;
            }
            if compare_exchange_ordered(&self.ring.tail.0, tail, tail + frame::size_in(header)) {
                assert!(
                    frame::payload_len(header, Lsn(tail)).is_some(),
                    "the header at lsn {tail} is another's"
                );
                moved = true;
            }
        }
    }
}

#[cfg(test)]
mod tests;
