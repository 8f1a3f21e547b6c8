//! Merging what removals have left nearly empty, one node per mini-transaction.
//!
//! Latched: the parent, then two or three neighbouring children, then the space's header. Whoever latches two nodes of a
//! level latches their parent before, so among the children the order does not matter. The right node's entries move to the left
//! one, and its page is freed; an inner right node brings its leftmost child along under the separator from the parent.
//! A root with a single child takes that child's content.
//!
//! # When
//!
//! Asked for when a removal makes a leaf underfull, then each time it is emptier by a sixteenth of that,
//! and when its last entry goes; not for every removal. Where entries are removed in the order of their keys,
//! as when a transaction that inserted them is rolled back, the leaf's neighbour is full until the leaf is
//! all but empty: to latch and check three nodes only to find that out takes much longer than to remove an
//! entry.

use palisade_base::bytes::common_prefix;
use palisade_base::{PageNo, codec};
use palisade_buffer::Page;

use super::Tree;
use super::change::entry_cost;
use super::descent::{Restarts, Seek};
use super::split::encode_entries;
use crate::alloc;
use crate::error::Attempt;
use crate::layout::node::*;
use crate::metrics;
use crate::mtr::{Handle, Mtr, max_structure_bytes};
use crate::node::edit::Mismatch;
use crate::node::{Key, NodeView};
use crate::op::PageOp;

/// A node that uses less of its [capacity](NodeView::capacity) is worth merging.
fn underfull(capacity: usize) -> usize {
    capacity / 4
}

/// A leaf that is underfull is looked at again when it uses less by so much.
fn step(capacity: usize) -> usize {
    underfull(capacity) / 16
}

/// A merge does not fill a node beyond this, lest the next insert split it again; unless one of the two is empty.
fn merged_most(capacity: usize) -> usize {
    capacity / 4 * 3
}

/// What came of looking at one level.
enum Level {
    Merged,
    Kept,
    /// Underfull, and its parent has no other child.
    Alone,
    /// It is the root's, and nothing is above.
    Root,
}

/// How two neighbours become one.
struct Merge {
    /// The left node's prefix from then on.
    prefix: Key,
    /// The right node's entries, an inner one's leftmost child among them.
    entries: Vec<u8>,
    count: usize,
}

/// Whether a node of `capacity` that used `before` bytes and now uses `after` is to be looked at.
pub(super) fn is_due(capacity: usize, before: usize, after: usize) -> bool {
    let (least, step) = (underfull(capacity), step(capacity));
    after < least && (before >= least || after / step != before / step)
}

impl Tree {
    /// Merges the leaf of `key`, and the nodes above it, with a neighbour where they are underfull. Whether anything was
    /// merged. Waits for: log credit, pages to be read.
    pub fn shrink(&self, key: &[u8]) -> Attempt<bool> {
        let mut merged = false;
        let mut level = 0;
        // The lowest node without a neighbour: it has one when a node above it has been merged.
        let mut alone = None;
        let mut restarts = Restarts::new();
        loop {
            let mut mtr = Mtr::begin_in(&self.space, &self.log, max_structure_bytes(self.space.page_size()))?;
            let outcome = self.try_merge(&mut mtr, key, level)?;
            if mtr.is_changed() {
                mtr.commit(|_| {});
                merged = true;
            }
            match outcome {
                Some(Level::Merged) => level = alone.take().unwrap_or(level + 1),
                Some(Level::Kept) => level += 1,
                Some(Level::Alone) => {
                    alone.get_or_insert(level);
                    level += 1;
                }
                Some(Level::Root) => return Ok(merged),
                None => restarts.pause(),
            }
        }
    }

    /// `None` if something changed meanwhile.
    fn try_merge<'a>(&'a self, mtr: &mut Mtr<'a>, key: &[u8], level: u16) -> Attempt<Option<Level>> {
        let found = self.descend(Seek::Key(key), level, None)?;
        let Some((parent, _)) = found.parent else {
            return self.lower_root(mtr, level);
        };
        let node = NodeView::new(&found.page);
        let underfull = node.used() < underfull(node.capacity());
        if !found.page.validate() {
            return Ok(None);
        }
        if !underfull {
            return Ok(Some(Level::Kept));
        }
        let Some(parent) = parent.upgrade_exclusive() else { return Ok(None) };
        let parent = mtr.hold(parent);
        self.check(mtr, parent)?;
        let (position, count) = {
            let node = NodeView::new(mtr.page(parent));
            (node.child_position(key), node.slot_count())
        };
        if count == 0 {
            return Ok(Some(Level::Alone));
        }
        // The left one of the pair: first together with the right neighbour, then with the left one.
        let lefts = [Some(position).filter(|_| position < count), position.checked_sub(1)];
        for left in lefts.into_iter().flatten() {
            if self.merge_pair(mtr, parent, left)? {
                return Ok(Some(Level::Merged));
            }
        }
        Ok(Some(Level::Kept))
    }

    fn check(&self, mtr: &Mtr<'_>, handle: Handle) -> Attempt<()> {
        NodeView::new(mtr.page(handle)).check().map_err(|what| mtr.corrupted(handle, what).into())
    }

    /// Merges the children at `position` and `position + 1`, if they fit together.
    fn merge_pair<'a>(&'a self, mtr: &mut Mtr<'a>, parent: Handle, position: usize) -> Attempt<bool> {
        let view = NodeView::new(mtr.page(parent));
        let level = view.level();
        let (left_no, right_no) = (view.child(position), view.child(position + 1));
        let mut separator = Key::new();
        view.read_key(position, &mut separator);
        if left_no == right_no {
            return Err(mtr.corrupted(parent, "two separators lead to one child").into());
        }
        let left = mtr.exclusive(self.space(), left_no)?;
        let right = mtr.exclusive(self.space(), right_no)?;
        for node in [left, right] {
            if !NodeView::new(mtr.page(node)).is(self.index_id(), level - 1) {
                return Err(mtr.corrupted(node, "not the node that its parent promised").into());
            }
            self.check(mtr, node)?;
        }
        let merge = plan(mtr.page(left), mtr.page(right), &separator);
        let Some(merge) = merge.map_err(|what| mtr.corrupted(parent, what))? else { return Ok(false) };
        let freeing = alloc::prepare_free(mtr, self.space(), right_no)?;
        let next = NodeView::new(mtr.page(right)).next();
        let view = NodeView::new(mtr.page(left));
        let (left_count, left_prefix) = (view.slot_count(), view.prefix_len());
        if left_count == 0 {
            let (index_id, level, leftmost) = (view.index_id(), view.level(), view.leftmost_child());
            mtr.apply(left, PageOp::FormatNode { index_id, level, next, leftmost, prefix: &merge.prefix });
        } else {
            if merge.prefix.len() != left_prefix {
                mtr.apply(left, PageOp::SetPrefix { length: merge.prefix.len() as u16 });
            }
            mtr.apply(left, PageOp::SetNext { next });
        }
        mtr.apply(left, PageOp::Append { count: merge.count as u16, entries: &merge.entries });
        mtr.apply(parent, PageOp::Remove { slot: position as u16 });
        alloc::free(mtr, freeing);
        metrics::INDEX_PAGE_MERGES.increment();
        Ok(true)
    }

    /// If the root has one child only, moves that child's content to the root.
    fn lower_root<'a>(&'a self, mtr: &mut Mtr<'a>, level: u16) -> Attempt<Option<Level>> {
        let root = mtr.exclusive(self.space(), self.root())?;
        self.check(mtr, root)?;
        let view = NodeView::new(mtr.page(root));
        if view.level() > level {
            return Ok(None);
        }
        if view.level() == 0 || view.slot_count() > 0 {
            return Ok(Some(Level::Root));
        }
        let (child_no, level) = (view.leftmost_child(), view.level() - 1);
        let child = mtr.exclusive(self.space(), child_no)?;
        if !NodeView::new(mtr.page(child)).is(self.index_id(), level) {
            return Err(mtr.corrupted(child, "not the node that its parent promised").into());
        }
        self.check(mtr, child)?;
        let freeing = alloc::prepare_free(mtr, self.space(), child_no)?;
        let view = NodeView::new(mtr.page(child));
        let prefix = Key::from_slice(view.prefix());
        let (leftmost, count) = (view.leftmost_child(), view.slot_count());
        let entries = encode_entries(&view, 0..count, prefix.len());
        let index_id = self.index_id();
        let format = PageOp::FormatNode { index_id, level, next: PageNo::NONE, leftmost, prefix: &prefix };
        mtr.apply(root, format);
        mtr.apply(root, PageOp::Append { count: count as u16, entries: &entries });
        alloc::free(mtr, freeing);
        Ok(Some(Level::Root))
    }
}

/// How the nodes become one; `None` if they would fill it too much. Both are checked.
fn plan(left_page: &Page, right: &Page, separator: &[u8]) -> Result<Option<Merge>, Mismatch> {
    let (left, right) = (NodeView::new(left_page), NodeView::new(right));
    let is_leaf = left.level() == 0;
    let (mut first, mut last) = (Key::new(), Key::new());
    let empty_right = right.slot_count() == 0;
    if left.slot_count() > 0 {
        left.read_key(0, &mut first);
    } else if !is_leaf {
        first.extend_from_slice(separator);
    } else if !empty_right {
        right.read_key(0, &mut first);
    }
    if !empty_right {
        right.read_key(right.slot_count() - 1, &mut last);
    } else if !is_leaf {
        last.extend_from_slice(separator);
    } else if left.slot_count() > 0 {
        left.read_key(left.slot_count() - 1, &mut last);
    }
    let len = common_prefix(&first, &last).min(crate::layout::max_key(left_page.size()));
    first.truncate(len);
    left.check_prefix(0..left.slot_count(), len)?;
    right.check_prefix(0..right.slot_count(), len)?;
    if separator.len() < len && !is_leaf {
        return Err("keys do not ascend");
    }
    let bring_along = if is_leaf { 0 } else { entry_cost(separator.len() - len, CHILD_SIZE) };
    let is_one_empty = left.slot_count() == 0 || empty_right;
    let most = if is_one_empty { left.capacity() } else { merged_most(left.capacity()) };
    if left.used_with_prefix(len) + right.used_with_prefix(len) - len + bring_along > most {
        return Ok(None);
    }
    let mut entries = Vec::new();
    let mut count = right.slot_count();
    if !is_leaf {
        codec::put_bytes(&mut entries, &separator[len..]);
        codec::put_bytes(&mut entries, &right.leftmost_child().0.to_le_bytes());
        count += 1;
    }
    entries.extend(encode_entries(&right, 0..right.slot_count(), len));
    Ok(Some(Merge { prefix: first, entries, count }))
}
