//! Where everything is on a page: the numbers of docs/format-pages.md, checked against it by a test.
//!
//! The first 32 bytes of every page belong to the buffer pool (checksum, page number, space, type,
//! `page_lsn`); what follows is laid out here, for pages of any size; `page` is a page's bytes wherever it
//! matters. Integers are little-endian.
//!
//! A *node* - leaf or inner page of a B+tree - is a slotted page:
//!
//! ```text
//! 0        32           64                                                    end - prefix
//! | common | node header | slot 0 | slot 1 | .. | free ...... | heap: entries | prefix |
//!                          head u32, offset u16, key length u16  ^ heap top
//! ```
//!
//! `prefix` is a common prefix of all keys on the page, kept once at the very end; what a key has beyond it is its
//! *suffix*. A slot's head is the first four bytes of the suffix as a big-endian number (shorter ones padded with
//! zeros), so that most comparisons end in the slot array. The entry in the heap holds the rest.

use palisade_buffer::PageSize;

/// First byte after the common page header.
pub const BODY: usize = palisade_buffer::PAGE_HEADER;

/// What a page is for; kept in the common header by the operation that formats the page. Values from
/// [`page_type::FIRST_FOREIGN`] on belong to the crates above.
pub mod page_type {
    /// Never used, or given back.
    pub const FREE: u16 = 0;
    /// Page 0 of a space: size, extent groups, and the extent map of the first group.
    pub const SPACE_HEADER: u16 = 1;
    /// First page of every later extent group: the group's extent map.
    pub const EXTENT_MAP: u16 = 2;
    /// A B+tree node.
    pub const NODE: u16 = 3;
    /// A link of an overflow chain.
    pub const OVERFLOW: u16 = 4;
    /// A page that redo did not fit, given up with `innodb_force_recovery`. Only formatting it makes it
    /// usable again.
    pub const GIVEN_UP: u16 = 15;
    /// First value for page types that this crate does not know.
    pub const FIRST_FOREIGN: u16 = 16;
}

/// Node header and entries.
pub mod node {
    /// `u64`: the index the node belongs to.
    pub const INDEX_ID: usize = 32;
    /// `u16`: 0 is a leaf.
    pub const LEVEL: usize = 40;
    /// `u16`: entries on the page.
    pub const SLOT_COUNT: usize = 42;
    /// `u16`: lowest byte of the heap; 0 stands for 65536.
    pub const HEAP_TOP: usize = 44;
    /// `u16`: bytes of the heap that no slot refers to.
    pub const GARBAGE: usize = 46;
    /// `u32`: right sibling on the same level, or 0.
    pub const NEXT: usize = 48;
    /// `u32`: inner nodes: child with the keys below slot 0's key.
    pub const LEFTMOST_CHILD: usize = 52;
    /// `u16`: length of the common prefix.
    pub const PREFIX_LEN: usize = 56;
    /// `u16`: slot of the last insert.
    pub const LAST_INSERT: usize = 58;
    /// `u16`: how many inserts in a row each went right behind the one before.
    pub const ASCENDING_RUN: usize = 60;
    /// The slot array.
    pub const SLOTS: usize = 64;
    /// Bytes of a slot: head `u32`, offset `u16`, suffix length `u16`.
    pub const SLOT_SIZE: usize = 8;
    /// Bytes of a suffix that live in the slot.
    pub const HEAD_SIZE: usize = 4;
    /// Bytes in front of an entry in the heap: value length `u16`.
    pub const ENTRY_HEADER: usize = 2;
    /// Bytes of an inner entry's value: the child's page number.
    pub const CHILD_SIZE: usize = 4;
    /// Bytes for slots, entries and prefix.
    #[inline]
    pub const fn capacity(page: usize) -> usize {
        page - SLOTS
    }
}

/// Space header (page 0) and extent maps.
pub mod space {
    /// `u64`: magic number.
    pub const MAGIC: usize = 32;
    /// `u32`: format version.
    pub const VERSION: usize = 40;
    /// `u32`: pages below this have been used at some time; the file is never shorter.
    pub const HIGH_WATER: usize = 44;
    /// `u32`: no group before this one has a free page below the high-water mark.
    pub const FIRST_FREE_GROUP: usize = 48;
    /// Per group: free pages below the high-water mark `u16`, wholly free extents among them `u16`.
    pub const GROUPS: usize = 64;
    /// Bytes per group in the header.
    pub const GROUP_SIZE: usize = 4;
    /// Pages of an extent.
    pub const EXTENT_PAGES: u32 = 64;

    /// Extents of a group: their map takes up to half of a page, and the pages of a group are counted in 16
    /// bits.
    #[inline]
    pub const fn group_extents(page: usize) -> u32 {
        let extents = page as u32 / 16;
        if extents < 1024 { extents - 1 } else { 1023 }
    }

    /// Pages of a group.
    #[inline]
    pub const fn group_pages(page: usize) -> u32 {
        EXTENT_PAGES * group_extents(page)
    }

    /// Bytes of an extent map.
    #[inline]
    pub const fn map_bytes(page: usize) -> usize {
        group_extents(page) as usize * 8
    }

    /// Where the extent map is, on page 0 and on the first page of every later group: a bit per page, set if
    /// it is in use.
    #[inline]
    pub const fn extent_map(page: usize) -> usize {
        page - map_bytes(page)
    }

    /// Groups a space can have.
    #[inline]
    pub const fn max_groups(page: usize) -> u32 {
        ((extent_map(page) - GROUPS) / GROUP_SIZE) as u32
    }

    /// Pages a space can have.
    #[inline]
    pub const fn max_pages(page: usize) -> u32 {
        max_groups(page) * group_pages(page)
    }
}

/// A link of an overflow chain.
pub mod overflow {
    /// `u32`: next link, or 0.
    pub const NEXT: usize = 32;
    /// `u16`: bytes of data here.
    pub const LENGTH: usize = 36;
    /// The data.
    pub const DATA: usize = 40;
    /// Bytes of data that fit.
    #[inline]
    pub const fn capacity(page: usize) -> usize {
        page - DATA
    }
}

/// Longest key of an entry: 4000 bytes, 8000 on pages of more than 16 KiB; less if an entry would have no
/// room for a few more.
#[inline]
pub const fn max_key(page: usize) -> usize {
    let most = if page > PageSize::DEFAULT.bytes() { 8000 } else { 4000 };
    if most < max_entry(page) - 24 { most } else { max_entry(page) - 24 }
}

/// Most bytes that key and value of an entry may have together: four entries fit on a page.
#[inline]
pub const fn max_entry(page: usize) -> usize {
    node::capacity(page) / 4 - node::SLOT_SIZE - node::ENTRY_HEADER
}

const fn check(page: usize) {
    assert!(max_key(page) + node::CHILD_SIZE <= max_entry(page) && max_key(page) < page / 4);
    let groups = space::max_groups(page) as usize * space::GROUP_SIZE;
    assert!(space::extent_map(page) >= space::GROUPS + groups);
    assert!(space::group_pages(page) <= u16::MAX as u32 && space::max_groups(page) <= u16::MAX as u32);
    assert!(space::max_groups(page).checked_mul(space::group_pages(page)).is_some());
    assert!(node::capacity(page) / (node::SLOT_SIZE + node::ENTRY_HEADER) <= u16::MAX as usize);
    assert!(overflow::capacity(page) <= u16::MAX as usize);
}

const _: () = {
    let mut at = 0;
    while at < PageSize::ALL.len() {
        check(PageSize::ALL[at].bytes());
        at += 1;
    }
    assert!(BODY == node::INDEX_ID);
    assert!(BODY == space::MAGIC);
    assert!(BODY == overflow::NEXT);
    assert!(node::ASCENDING_RUN + 2 <= node::SLOTS);
};

#[cfg(test)]
mod tests;
