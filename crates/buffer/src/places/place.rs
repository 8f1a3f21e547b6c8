//! Where a page is in the file of its space.

use std::fmt;

use crate::page::PAGE_SIZE;

/// Bytes of a block, in which room in a file is counted.
pub const BLOCK: usize = 4096;
/// Blocks of a page that is stored as it is.
pub const PAGE_BLOCKS: u32 = (PAGE_SIZE / BLOCK) as u32;
/// Blocks that a place can name: 4 TiB of them.
pub const MAX_BLOCKS: u32 = 1 << 30;

/// A run of one to four blocks: 30 bits for the first block, 2 bits for their number less one.
///
/// Block 0 is the file's header, so that the place 0 is no page's and says that there is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Place(u32);

impl Place {
    /// Of a page that was never written.
    pub const NONE: Place = Place(0);

    /// The `blocks` blocks from `block` on.
    pub fn new(block: u32, blocks: u32) -> Place {
        assert!((1..MAX_BLOCKS).contains(&block) && (1..=PAGE_BLOCKS).contains(&blocks), "a run of blocks");
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

    /// Whether there is none.
    pub fn is_none(self) -> bool {
        self == Place::NONE
    }

    /// The first block.
    pub fn block(self) -> u32 {
        self.0 >> 2
    }

    /// Blocks of the run.
    pub fn blocks(self) -> u32 {
        (self.0 & 3) + 1
    }

    /// Whether it is of a page that is compressed.
    pub fn is_short(self) -> bool {
        !self.is_none() && self.blocks() < PAGE_BLOCKS
    }

    /// The block behind the run.
    pub fn end(self) -> u32 {
        self.block() + self.blocks()
    }

    /// Bytes of the run.
    pub fn bytes(self) -> usize {
        self.blocks() as usize * BLOCK
    }

    /// The run's first byte in the file.
    pub fn offset(self) -> u64 {
        u64::from(self.block()) * BLOCK as u64
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_none() {
            true => f.write_str("nowhere"),
            false => write!(f, "{}+{}", self.block(), self.blocks()),
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
            assert_eq!(place.offset(), u64::from(block) * 4096);
            assert!(!place.is_none());
        }
        assert!(Place::default().is_none());
        assert_eq!(format!("{:?} {:?}", Place::new(8, 4), Place::NONE), "8+4 nowhere");
    }
}
