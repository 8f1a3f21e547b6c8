//! Splitting: one node per mini-transaction.
//!
//! ```text
//!   parent  [.. | a | ..]              [.. | a | s | ..]       latched: parent, node, then the space's header
//!                 |            =>            |   |
//!   node    [k0 k1 k2 k3] -> n         [k0 k1]->[k2 k3] -> n   s: shortest key with k1 < s <= k2
//! ```
//!
//! A leaf is split only if no neighbour takes entries of it ([`shift`](super::shift)).
//!
//! The right half goes to a new page, so that the log needs to carry only that half. Where to split:
//!
//! - at the right edge of the tree, when the new key is beyond all others: the left node keeps 15/16;
//! - where inserts have been ascending inside the tree: at that place;
//! - where the new key lacks the prefix that all others share: there, so that the others keep it;
//! - else in the middle, by bytes.

use palisade_base::bytes::common_prefix;
use palisade_base::{PageNo, codec};
use palisade_buffer::{ExclusivePage, Page};

use super::Tree;
use super::change::{has_room, insert_entry};
use super::descent::{Descent, Restarts, Seek};
use super::shift::Incoming;
use crate::alloc::{self, Reservation};
use crate::error::Attempt;
use crate::layout::node::*;
use crate::metrics;
use crate::mtr::{Handle, Mtr, max_structure_bytes};
use crate::node::edit::Mismatch;
use crate::node::{Key, NodeView, separator};
use crate::op::PageOp;

/// How a node is to be split.
struct Plan {
    /// What goes up.
    separator: Key,
    /// First slot that leaves the node; for inner nodes the one whose key goes up.
    slot: usize,
    /// First slot that the right node gets.
    first_moved: usize,
    /// Inner nodes: leftmost child of the right node.
    leftmost: PageNo,
    /// Prefix of the right node.
    right_prefix: Key,
    /// Length of the left node's prefix from now on.
    left_prefix: usize,
}

/// What came of trying to split a node.
enum Outcome {
    Done,
    /// The parent has no room for this separator: it must be split first.
    ParentFull(Key),
    /// Something changed meanwhile.
    Restart,
}

impl Tree {
    /// Makes room in the direction of an entry: splits the leaf of `key`, or an inner node above it, or raises the root.
    /// The caller looks again. Waits for: log credit, pages, the file to be extended.
    pub(crate) fn split_leaf(&self, key: &[u8], value_len: usize) -> Attempt<()> {
        let mut incoming = Key::from_slice(key);
        let mut incoming_value = value_len;
        let mut level = 0;
        let mut restarts = Restarts::new();
        loop {
            let mut mtr = Mtr::begin_in(&self.space, &self.log, max_structure_bytes(self.space.page_size()))?;
            let found = self.descend(Seek::Key(key), level, None)?;
            match self.try_split(&mut mtr, &found, key, &incoming, incoming_value)? {
                Outcome::Done => {
                    if mtr.is_changed() {
                        mtr.commit(|_| {});
                    }
                    return Ok(());
                }
                Outcome::ParentFull(separator) => {
                    incoming = separator;
                    incoming_value = CHILD_SIZE;
                    level += 1;
                }
                Outcome::Restart => restarts.pause(),
            }
        }
    }

    fn try_split<'a>(
        &'a self,
        mtr: &mut Mtr<'a>,
        found: &Descent<'a>,
        key: &[u8],
        incoming: &[u8],
        value_len: usize,
    ) -> Attempt<Outcome> {
        let Some((parent, _)) = &found.parent else {
            let Some(root) = found.page.upgrade_exclusive() else { return Ok(Outcome::Restart) };
            return self.raise_root(mtr, root, incoming, value_len);
        };
        let Some(parent) = parent.upgrade_exclusive() else { return Ok(Outcome::Restart) };
        let Some(node) = found.page.upgrade_exclusive() else { return Ok(Outcome::Restart) };
        let corrupted = |page: &ExclusivePage<'_>, what| self.corrupted(page.id().page, what);
        if self.fits(&node, incoming, value_len).map_err(|what| corrupted(&node, what))? {
            return Ok(Outcome::Done);
        }
        let position = NodeView::new(&*parent).child_position(key);
        let (parent, node) = (mtr.hold(parent), mtr.hold(node));
        if self.try_shift(mtr, (parent, position), node, Incoming { key: incoming, value_len })? {
            return Ok(Outcome::Done);
        }
        let plan = plan(mtr.page(node), incoming).map_err(|what| mtr.corrupted(node, what))?;
        let room = has_room(mtr.page(parent), &plan.separator, CHILD_SIZE);
        if !room.map_err(|what| mtr.corrupted(parent, what))? {
            return Ok(Outcome::ParentFull(plan.separator));
        }
        let near = mtr.page_id(node).page;
        let mut reservation = alloc::reserve(mtr, self.space(), near, 1)?;
        apply_split(mtr, parent, position, node, &plan, &mut reservation);
        metrics::INDEX_PAGE_SPLITS.increment();
        Ok(Outcome::Done)
    }

    /// Whether somebody else has made room meanwhile.
    fn fits(&self, node: &Page, incoming: &[u8], value_len: usize) -> Result<bool, Mismatch> {
        match NodeView::new(node).level() {
            0 => Ok(self.check_leaf(node, incoming, Some(value_len))?.is_some()),
            _ => has_room(node, incoming, value_len),
        }
    }

    /// Moves the root's content to a new child, to be split then.
    fn raise_root<'a>(
        &'a self,
        mtr: &mut Mtr<'a>,
        root: ExclusivePage<'a>,
        incoming: &[u8],
        value_len: usize,
    ) -> Attempt<Outcome> {
        let corrupted = |what| self.corrupted(root.id().page, what);
        NodeView::new(&*root).check().map_err(corrupted)?;
        if self.fits(&root, incoming, value_len).map_err(corrupted)? {
            return Ok(Outcome::Done);
        }
        let root = mtr.hold(root);
        let mut reservation = alloc::reserve(mtr, self.space(), PageNo::NONE, 1)?;
        let node = NodeView::new(mtr.page(root));
        let (level, leftmost, count) = (node.level(), node.leftmost_child(), node.slot_count());
        let prefix = Key::from_slice(node.prefix());
        let entries = encode_entries(&node, 0..count, prefix.len());
        let index_id = self.index_id();
        let format = PageOp::FormatNode { index_id, level, next: PageNo::NONE, leftmost, prefix: &prefix };
        let (child_no, child) = reservation.allocate(mtr, format);
        mtr.apply(child, PageOp::Append { count: count as u16, entries: &entries });
        let format = PageOp::FormatNode {
            index_id,
            level: level + 1,
            next: PageNo::NONE,
            leftmost: child_no,
            prefix: b"",
        };
        mtr.apply(root, format);
        metrics::INDEX_ROOT_RAISES.increment();
        Ok(Outcome::Done)
    }
}

/// Suffix and value of the entries in `slots`, for [`PageOp::Append`] to a node with a prefix of `prefix_len` bytes.
pub(super) fn encode_entries(
    node: &NodeView<'_, Page>,
    slots: std::ops::Range<usize>,
    prefix_len: usize,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(node.used());
    let mut key = Key::new();
    for slot in slots {
        let readable = node.read_key(slot, &mut key);
        let value = node.value(slot).filter(|_| readable).expect("the node was checked");
        codec::put_bytes(&mut out, &key[prefix_len..]);
        codec::put_bytes(&mut out, value);
    }
    out
}

fn apply_split(
    mtr: &mut Mtr<'_>,
    parent: Handle,
    position: usize,
    node: Handle,
    plan: &Plan,
    reservation: &mut Reservation,
) {
    let view = NodeView::new(mtr.page(node));
    let (level, next, count, old_prefix) = (view.level(), view.next(), view.slot_count(), view.prefix_len());
    let index_id = view.index_id();
    let entries = encode_entries(&view, plan.first_moved..count, plan.right_prefix.len());
    let format =
        PageOp::FormatNode { index_id, level, next, leftmost: plan.leftmost, prefix: &plan.right_prefix };
    let (right_no, right) = reservation.allocate(mtr, format);
    if plan.first_moved < count {
        mtr.apply(right, PageOp::Append { count: (count - plan.first_moved) as u16, entries: &entries });
    }
    if plan.slot < count {
        mtr.apply(node, PageOp::Truncate { slots: plan.slot as u16 });
    }
    if plan.slot > 0 && plan.left_prefix > old_prefix {
        mtr.apply(node, PageOp::SetPrefix { length: plan.left_prefix as u16 });
    }
    mtr.apply(node, PageOp::SetNext { next: right_no });
    insert_entry(mtr, parent, position, &plan.separator, &right_no.0.to_le_bytes());
}

/// Decides how to split a node for a key to be inserted there. The node is checked.
fn plan(page: &Page, incoming: &[u8]) -> Result<Plan, Mismatch> {
    let node = NodeView::new(page);
    node.check()?;
    let is_leaf = node.level() == 0;
    let count = node.slot_count();
    if count < if is_leaf { 1 } else { 2 } {
        return Err("a node of one entry is full");
    }
    let (mut first, mut last) = (Key::new(), Key::new());
    if !node.read_key(0, &mut first) || !node.read_key(count - 1, &mut last) || first > last {
        return Err("keys do not ascend");
    }
    let at = node.search(incoming).slot;
    let slot = choose_slot(&node, incoming, at);
    let (separator, first_moved, leftmost) = if is_leaf {
        (leaf_separator(&node, slot, incoming)?, slot, PageNo::NONE)
    } else {
        let mut key = Key::new();
        node.read_key(slot, &mut key);
        (key, slot + 1, node.child(slot + 1))
    };
    let goes_left = incoming < &separator[..];
    let whole = common_prefix(&first, &last);
    let side = |slots: std::ops::Range<usize>, gets_incoming: bool| {
        common_prefix_of(&node, slots, gets_incoming.then_some(incoming), whole)
    };
    let left_prefix = side(0..slot, goes_left);
    let right_prefix = side(first_moved..count, !goes_left);
    node.check_prefix(0..slot, left_prefix.len())?;
    node.check_prefix(first_moved..count, right_prefix.len())?;
    Ok(Plan { separator, slot, first_moved, leftmost, left_prefix: left_prefix.len(), right_prefix })
}

/// The separator between the slot before `slot` and `slot`, the incoming key standing in for either at the edges.
fn leaf_separator(node: &NodeView<'_, Page>, slot: usize, incoming: &[u8]) -> Result<Key, Mismatch> {
    let (mut left, mut right) = (Key::new(), Key::new());
    let count = node.slot_count();
    let at = node.search(incoming);
    let ascending_inside = slot > 0 && slot < count && at.slot == slot;
    // It goes where there is more room; ascending inserts that leave much behind them thus get a leaf of
    // their own.
    let goes_left = ascending_inside && !at.found && slot < count / 2;
    if slot > 0 && !goes_left {
        node.read_key(slot - 1, &mut left);
    } else {
        left.extend_from_slice(incoming);
    }
    if slot < count && (!ascending_inside || goes_left) {
        node.read_key(slot, &mut right);
    } else {
        right.extend_from_slice(incoming);
    }
    if left >= right {
        return Err("keys do not ascend");
    }
    Ok(Key::from_slice(separator(&left, &right)))
}

/// The prefix of a side: what its keys have in common. Of few keys that is too much, as the next key would show: there
/// it is no longer than what all keys of the node have in common. A side that keeps nearly all of a full node may have no
/// room for more than the node's prefix: of keys that fit into their slots it would save nothing.
fn common_prefix_of(
    node: &NodeView<'_, Page>,
    slots: std::ops::Range<usize>,
    incoming: Option<&[u8]>,
    whole: usize,
) -> Key {
    let (mut first, mut last) = (Key::new(), Key::new());
    let few = slots.len() < 4;
    match (slots.is_empty(), incoming) {
        (true, None) => return Key::new(),
        (true, Some(incoming)) => {
            node.read_key(0, &mut last);
            first.extend_from_slice(incoming);
        }
        (false, _) => {
            node.read_key(slots.start, &mut first);
            node.read_key(slots.end - 1, &mut last);
        }
    }
    let mut len = common_prefix(&first, &last);
    if let Some(incoming) = incoming {
        len = len.min(common_prefix(&first, incoming));
    }
    if few {
        len = len.min(whole);
    }
    if node.used_by(slots, len) > node.capacity() {
        len = node.prefix_len();
    }
    first.truncate(len.min(u16::MAX as usize));
    first
}

/// First slot to leave the node. A leaf may keep all (`count`) or give up all (0); an inner node sends the key of the slot
/// up, so it is always one of its slots.
fn choose_slot(node: &NodeView<'_, Page>, incoming: &[u8], at: usize) -> usize {
    let count = node.slot_count();
    let edge = if node.level() == 0 { count } else { count - 1 };
    let lacks_prefix = node.compare_prefix(incoming) != std::cmp::Ordering::Equal;
    if lacks_prefix || count == 1 {
        return if at == 0 { 0 } else { edge };
    }
    if at == count && node.next() == PageNo::NONE {
        return slot_after(node, node.used() / 16 * 15).clamp(1, edge);
    }
    if node.ascending_slot() == Some(at) {
        return at.clamp(1, edge);
    }
    slot_after(node, (node.used() - node.prefix_len()) / 2).clamp(1, count - 1)
}

/// The first slot before which there are at least `bytes` bytes.
fn slot_after(node: &NodeView<'_, Page>, bytes: usize) -> usize {
    let mut sum = 0;
    (0..node.slot_count())
        .find(|index| {
            let reached = sum >= bytes;
            sum += SLOT_SIZE + node.entry_size(&node.slot(*index));
            reached
        })
        .unwrap_or(node.slot_count())
}
