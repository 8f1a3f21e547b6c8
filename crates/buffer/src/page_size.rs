//! How many bytes a page has: one of five sizes, chosen when a data directory is made.
//!
//! A page carries its size (it is a slice), and so does everything that deals with pages it has not got in
//! memory: the frames, a batch, the doublewrite files, the map of a space that is written out of place.
//! Nothing is kept for a whole process, so that stores of several sizes can be open side by side.

use std::fmt;

use palisade_base::PageNo;

/// Bytes of a page (`innodb_page_size`): a power of two from 4096 to 65536.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageSize(u32);

impl PageSize {
    /// 4096 bytes, the least there is.
    pub const LEAST: PageSize = PageSize(4096);
    /// 65536 bytes, the most there is.
    pub const MOST: PageSize = PageSize(65536);
    /// 16384 bytes: what a data directory gets if nothing else is said.
    pub const DEFAULT: PageSize = PageSize(16384);
    /// All of them, in ascending order.
    pub const ALL: [PageSize; 5] =
        [PageSize::LEAST, PageSize(8192), PageSize::DEFAULT, PageSize(32768), PageSize::MOST];

    /// The size of so many bytes; `None` if no page has so many.
    pub const fn of(bytes: u64) -> Option<PageSize> {
        let is_one = bytes.is_power_of_two() && bytes >= 4096 && bytes <= 65536;
        if is_one { Some(PageSize(bytes as u32)) } else { None }
    }

    /// Bytes of a page.
    #[inline]
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }

    /// Bytes of `pages` pages.
    pub const fn bytes_of(self, pages: u64) -> u64 {
        pages.saturating_mul(self.0 as u64)
    }

    /// Where a page begins in a file in which pages lie in the order of their numbers.
    pub const fn offset(self, page: PageNo) -> u64 {
        page.0 as u64 * self.0 as u64
    }

    /// Whole pages in so many bytes.
    pub fn pages_in(self, bytes: u64) -> u32 {
        u32::try_from(bytes / u64::from(self.0)).unwrap_or(u32::MAX)
    }
}

impl fmt::Debug for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_one_of_five_sizes() {
        let found: Vec<u64> = (0..200_000).filter(|bytes| PageSize::of(*bytes).is_some()).collect();
        assert_eq!(found, PageSize::ALL.map(|size| size.bytes() as u64));
        assert_eq!(PageSize::MOST.offset(PageNo(u32::MAX)), 65536 * u64::from(u32::MAX));
        assert_eq!(PageSize::LEAST.pages_in(4096 * 7 + 4095), 7);
    }
}
