//! Changing entries: acquire, then apply.

use palisade_base::bytes::{common_ends, common_prefix};
use palisade_buffer::Page;

use super::Tree;
use super::descent::{Restarts, Seek};
use crate::error::{Attempt, Error};
use crate::layout::{max_entry, max_key, node::*};
use crate::mtr::{Handle, Mtr};
use crate::node::NodeView;
use crate::node::edit::Mismatch;
use crate::op::PageOp;

/// Where a key's entry is or will be: on a leaf that the mini-transaction holds exclusively, with room for the change.
/// Good for one change; see [`Tree::acquire`].
#[derive(Debug)]
#[must_use]
pub struct Position<'k> {
    leaf: Handle,
    slot: usize,
    found: bool,
    key: &'k [u8],
    max_value_len: usize,
}

impl<'k> Position<'k> {
    /// The key.
    pub fn key(&self) -> &'k [u8] {
        self.key
    }

    /// Whether the key has an entry.
    pub fn exists(&self) -> bool {
        self.found
    }

    /// The leaf.
    pub fn leaf(&self) -> Handle {
        self.leaf
    }
}

/// Room for an entry of `key` with a value of `value_len` bytes on a node where `key` is not. Checks whatever the insert
/// will rely on.
pub(crate) fn has_room(page: &Page, key: &[u8], value_len: usize) -> Result<bool, Mismatch> {
    let node = NodeView::new(page);
    node.check_header()?;
    let kept = kept_prefix(&node, key);
    let size = entry_cost(key.len() - kept, value_len);
    if kept == node.prefix_len() {
        if size <= node.contiguous_free() {
            return Ok(true);
        }
        if size > node.free() {
            return Ok(false);
        }
        return node.check().map(|()| true);
    }
    node.check()?;
    Ok(node.used_with_prefix(kept) + size <= node.capacity())
}

/// Bytes of a node's capacity for an entry.
pub(crate) fn entry_cost(suffix_len: usize, value_len: usize) -> usize {
    SLOT_SIZE + ENTRY_HEADER + suffix_len.saturating_sub(HEAD_SIZE) + value_len
}

/// How much of the node's prefix `key` shares.
fn kept_prefix(node: &NodeView<'_, Page>, key: &[u8]) -> usize {
    match node.compare_prefix(key) {
        std::cmp::Ordering::Equal => node.prefix_len(),
        _ => common_prefix(node.prefix(), key),
    }
}

/// Inserts an entry before `slot` of a node that [`has_room`].
pub(crate) fn insert_entry(mtr: &mut Mtr<'_>, node: Handle, slot: usize, key: &[u8], value: &[u8]) {
    let view = NodeView::new(mtr.page(node));
    let kept = kept_prefix(&view, key);
    if kept < view.prefix_len() {
        mtr.apply(node, PageOp::SetPrefix { length: kept as u16 });
    }
    mtr.apply(node, PageOp::Insert { slot: slot as u16, key: &key[kept..], value });
}

impl Tree {
    /// Takes the leaf of `key` into the mini-transaction, which must hold nothing yet, with room for a value of
    /// `max_value_len` bytes: whether to insert, to replace or to remove can be decided then. Waits for: pages to be read,
    /// and if the leaf must be split, log credit and the file to be extended.
    ///
    /// No other page of a tree may be asked for while the position is held, by this thread; pages of other kinds, such as
    /// undo pages, may be taken into the same mini-transaction.
    pub fn acquire<'a, 'k>(
        &'a self,
        mtr: &mut Mtr<'a>,
        key: &'k [u8],
        max_value_len: usize,
    ) -> Attempt<Position<'k>> {
        let page = self.space().page_size().bytes();
        if key.len() > max_key(page) || key.len() + max_value_len > max_entry(page) {
            return Err(Error::EntryTooLarge { key: key.len(), value: max_value_len, page }.into());
        }
        self.acquire_with(mtr, key, Some(max_value_len))
    }

    /// As [`acquire`](Tree::acquire), for removing the entry of `key` or replacing its value by one not longer: needs no
    /// room, so splits nothing.
    pub fn acquire_existing<'a, 'k>(&'a self, mtr: &mut Mtr<'a>, key: &'k [u8]) -> Attempt<Position<'k>> {
        self.acquire_with(mtr, key, None)
    }

    fn acquire_with<'a, 'k>(
        &'a self,
        mtr: &mut Mtr<'a>,
        key: &'k [u8],
        value_len: Option<usize>,
    ) -> Attempt<Position<'k>> {
        assert!(mtr.is_empty(), "tree pages come first in the latch order");
        let mut restarts = Restarts::new();
        loop {
            let found = self.descend(Seek::Key(key), 0, None)?;
            let Some(leaf) = found.page.upgrade_exclusive() else {
                restarts.pause();
                continue;
            };
            let checked = self.check_leaf(&leaf, key, value_len);
            let ready = checked.map_err(|what| self.corrupted(leaf.id().page, what))?;
            let Some((slot, found, max_value_len)) = ready else {
                drop(leaf);
                self.split_leaf(key, value_len.unwrap_or(0))?;
                continue;
            };
            let leaf = mtr.hold(leaf);
            return Ok(Position { leaf, slot, found, key, max_value_len });
        }
    }

    /// Finds the key on its leaf: slot, whether it is there, and how long its value can become. `None` if there is no room.
    pub(super) fn check_leaf(
        &self,
        leaf: &Page,
        key: &[u8],
        value_len: Option<usize>,
    ) -> Result<Option<(usize, bool, usize)>, Mismatch> {
        let node = NodeView::new(leaf);
        node.check_header()?;
        let at = node.search(key);
        if !at.found {
            return match value_len {
                Some(len) if !has_room(leaf, key, len)? => Ok(None),
                _ => Ok(Some((at.slot, false, value_len.unwrap_or(0)))),
            };
        }
        node.check_entry(at.slot)?;
        node.check_discard(at.slot)?;
        let old_len = node.value_len(&node.slot(at.slot));
        let new_len = value_len.unwrap_or(0).max(old_len);
        if new_len > old_len {
            let size = node.entry_size(&node.slot(at.slot));
            if size - old_len + new_len > node.free() + size {
                return Ok(None);
            }
            node.check()?;
        }
        Ok(Some((at.slot, true, new_len)))
    }

    /// Inserts the entry that was not there.
    ///
    /// # Panics
    /// If it was there, or the value is longer than acquired for.
    pub fn insert(&self, mtr: &mut Mtr<'_>, position: Position<'_>, value: &[u8]) {
        assert!(!position.found, "an entry is inserted where there is none");
        assert!(value.len() <= position.max_value_len, "a longer value than was acquired for");
        insert_entry(mtr, position.leaf, position.slot, position.key, value);
    }

    /// Replaces the value; the log gets only what is between the common front and back.
    ///
    /// # Panics
    /// If there is no entry, or the value is longer than acquired for and than the old one.
    pub fn replace(&self, mtr: &mut Mtr<'_>, position: Position<'_>, value: &[u8]) {
        let old = mtr.entry(&position).expect("an entry is replaced where there is one");
        assert!(value.len() <= position.max_value_len, "a longer value than was acquired for");
        let (front, back) = common_ends(old, value);
        if front == value.len() && front == old.len() {
            return;
        }
        let middle = &value[front..value.len() - back];
        let slot = position.slot as u16;
        mtr.apply(position.leaf, PageOp::Replace { slot, front: front as u16, back: back as u16, middle });
    }

    /// Removes the entry.
    ///
    /// # Panics
    /// If there is none.
    pub fn remove(&self, mtr: &mut Mtr<'_>, position: Position<'_>) {
        assert!(position.found, "an entry is removed where there is one");
        mtr.apply(position.leaf, PageOp::Remove { slot: position.slot as u16 });
    }

    /// Whether [`shrink`](Tree::shrink) is due when the entry at a position has been removed: its leaf
    /// becomes underfull, or markedly emptier than that, or empty.
    pub fn is_due_to_shrink(&self, mtr: &Mtr<'_>, position: &Position<'_>) -> bool {
        let node = NodeView::new(mtr.page(position.leaf));
        let before = node.used();
        let after = before.saturating_sub(node.used_by_entry(position.slot));
        (super::shrink::is_due(node.capacity(), before, after) || node.slot_count() == 1)
            && mtr.page_id(position.leaf).page != self.root()
    }
}

impl Mtr<'_> {
    /// The value at a position.
    pub fn entry(&self, position: &Position<'_>) -> Option<&[u8]> {
        if !position.found {
            return None;
        }
        Some(NodeView::new(self.page(position.leaf)).value(position.slot).expect("checked when acquired"))
    }
}
