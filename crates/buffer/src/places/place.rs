//! Where a page is in the file of its space.

use std::fmt;

use crate::page_size::PageSize;

/// Blocks that a place can name: 4 TiB of them, with pages of 16 KiB or less.
pub const MAX_BLOCKS: u32 = 1 << 30;
/// Blocks of a page at most.
const MAX_PAGE_BLOCKS: u32 = 4;

impl PageSize {
    /// Bytes of a block, in which room in a file is counted: a quarter of a page, but at least 4096.
    pub const fn block(self) -> usize {
        let quarter = self.bytes() / MAX_PAGE_BLOCKS as usize;
        if quarter > PageSize::LEAST.bytes() { quarter } else { PageSize::LEAST.bytes() }
    }

    /// Blocks of a page that is stored as it is: 1, 2 or 4.
    pub const fn blocks(self) -> u32 {
        (self.bytes() / self.block()) as u32
    }
}

/// A run of one to four blocks: 30 bits for the first block, 2 bits for their number less one.
///
/// Block 0 is the file's header, so that the places 0 and 1 are no page's: they say that there is no run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Place(u32);

impl Place {
    /// Of a page that was never written.
    pub const NONE: Place = Place(0);
    /// Of a page that is [blank](crate::page::Page::is_blank), and that needs no run for that.
    pub const BLANK: Place = Place(1);

    /// The `blocks` blocks from `block` on.
    pub fn new(block: u32, blocks: u32) -> Place {
        assert!(
            (1..MAX_BLOCKS).contains(&block) && (1..=MAX_PAGE_BLOCKS).contains(&blocks),
            "a run of blocks"
        );
        Place(block << 2 | (blocks - 1))
    }

    /// The place that `bits` say, which come from a file: it may lie anywhere.
    pub fn from_bits(bits: u32) -> Place {
        Place(bits)
    }

    /// How the place is stored.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether there is no run.
    pub fn is_none(self) -> bool {
        self.0 <= Place::BLANK.0
    }

    /// Whether there is none because the page is blank.
    pub fn is_blank(self) -> bool {
        self == Place::BLANK
    }

    /// The first block.
    pub fn block(self) -> u32 {
        self.0 >> 2
    }

    /// Blocks of the run, if there is one.
    pub fn blocks(self) -> u32 {
        if self.is_none() { 0 } else { (self.0 & 3) + 1 }
    }

    /// Whether it is of a page of `size` that is compressed.
    pub fn is_short(self, size: PageSize) -> bool {
        !self.is_none() && self.blocks() < size.blocks()
    }

    /// The block behind the run.
    pub fn end(self) -> u32 {
        self.block() + self.blocks()
    }

    /// Bytes of the run, in a file of pages of `size`.
    pub fn bytes(self, size: PageSize) -> usize {
        self.blocks() as usize * size.block()
    }

    /// The run's first byte in the file, of pages of `size`.
    pub fn offset(self, size: PageSize) -> u64 {
        u64::from(self.block()) * size.block() as u64
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Place::NONE => f.write_str("nowhere"),
            Place::BLANK => f.write_str("blank"),
            _ => write!(f, "{}+{}", self.block(), self.blocks()),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_four_bytes_and_says_block_and_length() {
        for (block, blocks) in [(1, 1), (4, 4), (MAX_BLOCKS - 1, 3), (12345, 2)] {
            let place = Place::from_bits(Place::new(block, blocks).bits());
            assert_eq!((place.block(), place.blocks(), place.end()), (block, blocks, block + blocks));
            assert_eq!(place.offset(PageSize::DEFAULT), u64::from(block) * 4096);
            assert_eq!(place.offset(PageSize::MOST), u64::from(block) * 16384);
            assert!(!place.is_none());
        }
        assert!(Place::default().is_none() && !Place::default().is_blank());
        for place in [Place::NONE, Place::BLANK].map(|place| Place::from_bits(place.bits())) {
            assert_eq!((place.is_none(), place.blocks(), place.block(), place.end()), (true, 0, 0, 0));
        }
        let all = [Place::new(8, 4), Place::NONE, Place::BLANK];
        assert_eq!(format!("{all:?}"), "[8+4, nowhere, blank]");
    }
}
