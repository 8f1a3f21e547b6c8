//! The information page of a space: numbers that must never be given twice.
//!
//! Page 1 of space 0 and of every table's space:
//!
//! ```text
//! @32 next id for spaces, tables and indexes u64 (space 0)   @40 AUTO_INCREMENT limit u64   @48 row id limit u64
//! @56 root of the dictionary u32 (space 0)
//! @64 loose trees: count u32, then root u32 and index id u64 of each
//! ```
//!
//! A *loose tree* is one that the table's definition does not name yet, or soon no longer does: an index being built or
//! dropped. Noted here before the definition changes, it is found and freed at the next open if a crash comes between.
//!
//! A counter is kept in memory; on the page is a limit that it has not reached. When it is about to, the limit is moved
//! ahead in a mini-transaction of its own, *before* a number beyond the old one is used. So after a crash the counter goes on
//! at the limit: no number is given again. A clean shutdown writes the counter itself.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::event::retry_blocking;
use palisade_base::{Blocked, PageId, PageNo};
use palisade_btree::alloc;
use palisade_btree::mtr::{MAX_ALLOCATION_BYTES, OP_OVERHEAD};
use palisade_btree::{Handle, Mtr, PageOp, Tree};
use palisade_buffer::{Page, PageRead, Space};
use palisade_log::Log;

use crate::{Attempt, Error};

/// The page.
pub(crate) const INFO_PAGE: PageNo = PageNo(1);
/// Its type; the two before are undo's.
pub(crate) const INFO_TYPE: u16 = palisade_btree::page_type::FIRST_FOREIGN + 2;

/// Where the loose trees are.
const LOOSE_TREES: usize = 64;
/// Bytes of one.
const LOOSE_TREE: usize = 12;
/// Loose trees there can be at once.
pub(crate) const MAX_LOOSE_TREES: usize = 128;

const _: () =
    assert!(LOOSE_TREES + 4 + MAX_LOOSE_TREES * LOOSE_TREE <= palisade_buffer::PageSize::LEAST.bytes());

/// A tree that no definition names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LooseTree {
    pub(crate) root: PageNo,
    pub(crate) index: u64,
}

fn encode_loose(trees: &[LooseTree]) -> Vec<u8> {
    let mut bytes = (trees.len() as u32).to_le_bytes().to_vec();
    for tree in trees {
        bytes.extend_from_slice(&tree.root.0.to_le_bytes());
        bytes.extend_from_slice(&tree.index.to_le_bytes());
    }
    bytes
}

fn decode_loose(page: &Page) -> Vec<LooseTree> {
    let count = (page.u32_at(LOOSE_TREES) as usize).min(MAX_LOOSE_TREES);
    let tree = |number: usize| {
        let at = LOOSE_TREES + 4 + number * LOOSE_TREE;
        LooseTree { root: PageNo(page.u32_at(at)), index: page.u64_at(at + 4) }
    };
    (0..count).map(tree).collect()
}

/// Checks that a page is an information page.
fn check(page: &Page, PageId { space, page: number }: PageId) -> Result<(), Error> {
    match page.page_type() {
        INFO_TYPE => Ok(()),
        _ => Err(Error::Corrupted { space, page: number, what: "not an information page".to_owned() }),
    }
}

/// Holds the information page of a space. Waits for: it to be read.
pub(crate) fn hold<'a>(mtr: &mut Mtr<'a>, space: &'a Space) -> Attempt<Handle> {
    let page = mtr.exclusive(space, INFO_PAGE).map_err(Blocked::up)?;
    check(mtr.page(page), mtr.page_id(page))?;
    Ok(page)
}

/// The loose trees of a space. Waits for: the page.
pub(crate) fn loose_trees(space: &Space) -> Attempt<Vec<LooseTree>> {
    let page = space.shared(INFO_PAGE).map_err(Blocked::up)?;
    check(&page, page.id())?;
    Ok(decode_loose(&page))
}

/// Notes trees as loose, besides those that are. Waits for: the page, log credit.
pub(crate) fn note_loose(log: &Arc<Log>, space: &Space, trees: &[LooseTree]) -> Attempt<()> {
    let mut mtr = Mtr::begin(log, MAX_LOOSE_TREES * LOOSE_TREE + 2 * OP_OVERHEAD).map_err(Blocked::up)?;
    let page = hold(&mut mtr, space)?;
    let mut all = decode_loose(mtr.page(page));
    check_loose(all.len() + trees.len())?;
    all.extend_from_slice(trees);
    mtr.write(page, LOOSE_TREES, &encode_loose(&all));
    mtr.commit(|_| {});
    Ok(())
}

/// Forgets all loose trees. Waits for: the page, log credit.
pub(crate) fn forget_loose(log: &Arc<Log>, space: &Space) -> Attempt<()> {
    let mut mtr = Mtr::begin(log, 2 * OP_OVERHEAD).map_err(Blocked::up)?;
    let page = hold(&mut mtr, space)?;
    mtr.write(page, LOOSE_TREES, &encode_loose(&[]));
    mtr.commit(|_| {});
    Ok(())
}

fn check_loose(count: usize) -> Result<(), Error> {
    match count <= MAX_LOOSE_TREES {
        true => Ok(()),
        false => Err(Error::Definition("too many indexes at once".to_owned())),
    }
}

/// Makes an empty tree and adds it to the loose ones. Waits for: pages, log credit, the file to be extended.
pub(crate) fn create_loose(log: &Arc<Log>, space: &Space, index: u64) -> Attempt<PageNo> {
    let bytes = MAX_ALLOCATION_BYTES + MAX_LOOSE_TREES * LOOSE_TREE + 4 * OP_OVERHEAD;
    let mut mtr = Mtr::begin(log, bytes).map_err(Blocked::up)?;
    let page = hold(&mut mtr, space)?;
    let mut reservation = alloc::reserve(&mut mtr, space, PageNo::NONE, 1).map_err(Blocked::up)?;
    let mut trees = decode_loose(mtr.page(page));
    check_loose(trees.len() + 1)?;
    let root = Tree::create(&mut mtr, &mut reservation, index);
    trees.push(LooseTree { root, index });
    mtr.write(page, LOOSE_TREES, &encode_loose(&trees));
    mtr.commit(|_| {});
    Ok(root)
}

/// Frees the root of a loose tree that is empty, and forgets it. Waits for: pages, log credit.
pub(crate) fn free_loose_root(log: &Arc<Log>, space: &Space, tree: LooseTree) -> Attempt<()> {
    let bytes = MAX_ALLOCATION_BYTES + MAX_LOOSE_TREES * LOOSE_TREE + 4 * OP_OVERHEAD;
    let mut mtr = Mtr::begin(log, bytes).map_err(Blocked::up)?;
    let page = hold(&mut mtr, space)?;
    let freeing = alloc::prepare_free(&mut mtr, space, tree.root).map_err(Blocked::up)?;
    let mut trees = decode_loose(mtr.page(page));
    trees.retain(|other| *other != tree);
    alloc::free(&mut mtr, freeing);
    mtr.write(page, LOOSE_TREES, &encode_loose(&trees));
    mtr.commit(|_| {});
    Ok(())
}

/// A number on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Field {
    NextId = 32,
    AutoIncrement = 40,
    RowId = 48,
    DictionaryRoot = 56,
}

/// Formats an attached, empty file as a space with an information page. Blocks.
pub(crate) fn format(log: &Arc<Log>, space: &Space) -> Result<(), Error> {
    retry_blocking(|| alloc::format_space(log, space))?;
    retry_blocking(|| {
        let mut mtr = Mtr::begin_in(space, log, MAX_ALLOCATION_BYTES + 4 * OP_OVERHEAD)?;
        let mut reservation = alloc::reserve(&mut mtr, space, PageNo::NONE, 1)?;
        let (page, handle) = reservation.allocate(&mut mtr, PageOp::Format { page_type: INFO_TYPE });
        assert!(page == INFO_PAGE, "the information page is the first after the header");
        for field in [Field::NextId, Field::AutoIncrement, Field::RowId] {
            mtr.write(handle, field as usize, &1u64.to_le_bytes());
        }
        mtr.commit(|_| {});
        Ok::<(), Blocked<palisade_btree::Error>>(())
    })?;
    Ok(())
}

/// Reads a number. Waits for: the page.
pub(crate) fn read(space: &Space, field: Field) -> Attempt<u64> {
    let page = space.shared(INFO_PAGE).map_err(Blocked::up)?;
    check(&page, page.id())?;
    Ok(page.u64_at(field as usize))
}

/// Writes a number. Waits for: the page, log credit.
pub(crate) fn write(log: &Arc<Log>, space: &Space, field: Field, value: u64) -> Attempt<()> {
    write_with(log, space, field, |_| Some(value)).map(|_| ())
}

/// Makes sure that a number is not below `least`. Waits for: the page, log credit.
pub(crate) fn raise(log: &Arc<Log>, space: &Space, field: Field, least: u64) -> Attempt<()> {
    write_with(log, space, field, |old| (old < least).then_some(least)).map(|_| ())
}

/// Replaces a number by `next` of it, unless that is `None`. Gives the new one.
fn write_with(
    log: &Arc<Log>,
    space: &Space,
    field: Field,
    next: impl FnOnce(u64) -> Option<u64>,
) -> Attempt<u64> {
    let mut mtr = Mtr::begin_in(space, log, 2 * OP_OVERHEAD).map_err(Blocked::up)?;
    let page = hold(&mut mtr, space)?;
    let old = mtr.page(page).u64_at(field as usize);
    let Some(value) = next(old) else { return Ok(old) };
    mtr.write(page, field as usize, &value.to_le_bytes());
    mtr.commit(|_| {});
    Ok(value)
}

/// A counter of numbers that are never given twice.
#[derive(Debug)]
pub(crate) struct Counter {
    field: Field,
    next: AtomicU64,
    /// The number on the page, once a counter that is [known](Self::at) there is open.
    limit: AtomicU64,
}

impl Counter {
    /// A counter that goes on where the page says, or at `least`.
    pub(crate) fn open(space: &Space, field: Field, least: u64) -> Result<Self, Error> {
        let limit = retry_blocking(|| read(space, field))?;
        Ok(Counter { field, next: AtomicU64::new(limit.max(least)), limit: AtomicU64::new(limit) })
    }

    /// A counter of which nothing is known on disk.
    pub(crate) fn at(field: Field, next: u64) -> Self {
        Counter { field, next: AtomicU64::new(next), limit: AtomicU64::new(next) }
    }

    /// The same counter on the page of another space, which may have less than this.
    pub(crate) fn moved(&self) -> Self {
        Counter { field: self.field, next: AtomicU64::new(self.next()), limit: AtomicU64::new(0) }
    }

    /// The number that would be given next.
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Takes the number `first(next)` and the `span - 1` after it; `None` from it, or running past the last number, means
    /// that numbers are used up. Gives the first. Waits for: the page, log credit, when the limit must be moved.
    pub(crate) fn take(
        &self,
        log: &Arc<Log>,
        space: &Space,
        span: u64,
        first: impl Fn(u64) -> Option<u64>,
    ) -> Attempt<u64> {
        loop {
            let next = self.next.load(Ordering::Acquire);
            let taken = first(next).and_then(|first| Some((first, first.checked_add(span)?)));
            let Some((first, after)) = taken else { return Err(Error::AutoIncrementExhausted.into()) };
            self.ensure_limit(log, space, after)?;
            if self.next.compare_exchange(next, after, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return Ok(first);
            }
        }
    }

    /// Makes sure that numbers up to `last` will not be given. Waits as [`take`](Self::take) does.
    pub(crate) fn pass(&self, log: &Arc<Log>, space: &Space, last: u64) -> Attempt<()> {
        let after = last.saturating_add(1);
        if after > self.next.load(Ordering::Acquire) {
            self.ensure_limit(log, space, after)?;
            self.next.fetch_max(after, Ordering::AcqRel);
        }
        Ok(())
    }

    fn ensure_limit(&self, log: &Arc<Log>, space: &Space, after: u64) -> Attempt<()> {
        if after <= self.limit.load(Ordering::Acquire) {
            return Ok(());
        }
        // In steps that grow with the numbers, so that a small table does not jump far after a crash.
        let step = (after / 8).clamp(16, 8192);
        let limit =
            write_with(log, space, self.field, |old| (after > old).then(|| after.saturating_add(step)))?;
        self.limit.fetch_max(limit, Ordering::AcqRel);
        Ok(())
    }

    /// Writes the counter itself, unless the page says it already: nothing is taken any more before the next
    /// open.
    pub(crate) fn save(&self, log: &Arc<Log>, space: &Space) -> Attempt<()> {
        let next = self.next.load(Ordering::Acquire);
        match next == self.limit.load(Ordering::Acquire) {
            true => Ok(()),
            false => write(log, space, self.field, next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/format-undo.md says what the code does.
    #[test]
    fn the_document_has_the_numbers_of_the_code() {
        let doc = include_str!("../../../docs/format-undo.md");
        let (_, page) = doc.split_once("## Information page").unwrap();
        let fields = [
            (Field::NextId as usize, "ids of spaces"),
            (Field::AutoIncrement as usize, "AUTO_INCREMENT"),
            (Field::RowId as usize, "hidden row ids"),
            (Field::DictionaryRoot as usize, "root of the dictionary"),
            (LOOSE_TREES, "loose trees"),
        ];
        for (offset, words) in fields {
            let line = page.lines().find(|line| line.contains(words)).unwrap();
            assert!(line.starts_with(&format!("| {offset} |")), "{line}");
        }
        assert!(page.contains(&format!("Page type {INFO_TYPE}.")));
    }
}
