//! Shifting: a full leaf gives entries to a neighbour that has room, instead of being split.
//!
//! ```text
//!   parent  [.. | a | ..]               [.. | b | ..]      latched: parent, leaf, one neighbour
//!                |   |           =>          |   |
//!   leaves  [k0]->[k1 k2 k3]            [k0 k1]->[k2 k3]   b: shortest key with k1 < b <= k2
//! ```
//!
//! A split leaves two leaves that are half full, and where inserts go on elsewhere - several connections that
//! each load keys of their own, or keys that ascend in groups only - they stay so. A leaf that asks its
//! neighbours first is split only when they are nearly full as well: random inserts fill leaves to 0.81 and
//! not to 0.68, and four connections that load ascending ranges to 0.9.
//!
//! # When
//!
//! The left neighbour is asked first, then the right one, if it has 3/16 of a page free and is in memory: a
//! read takes longer than what it could save. Half of the room is filled, so that both have some; where
//! inserts ascend, the left neighbour gets no more of them and is filled. Ascending inserts leave the right
//! neighbour alone: what is behind them would be moved again and again.
//!
//! No leaf is shifted unless the incoming entry then has room on whichever side it belongs to. So a shift is
//! followed by the insert, and not by another shift back.

use palisade_base::bytes::common_prefix;
use palisade_base::codec;
use palisade_buffer::Page;

use super::Tree;
use super::change::{entry_cost, has_room, insert_entry};
use super::split::encode_entries;
use crate::error::Attempt;
use crate::layout::node::*;
use crate::metrics;
use crate::mtr::{Handle, Mtr};
use crate::node::edit::Mismatch;
use crate::node::{Key, NodeView, separator};
use crate::op::PageOp;
use palisade_base::PageNo;

/// A neighbour with less room than this gets nothing.
fn least_room(capacity: usize) -> usize {
    capacity / 16 * 3
}

/// Which neighbour.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// The entry that needs room.
#[derive(Clone, Copy)]
pub(super) struct Incoming<'k> {
    pub(super) key: &'k [u8],
    pub(super) value_len: usize,
}

/// What goes to a neighbour.
struct Shift {
    /// Slots of the leaf.
    slots: std::ops::Range<usize>,
    /// What separates the two from then on.
    separator: Key,
    /// Length of the neighbour's prefix from then on.
    prefix_len: usize,
}

impl Tree {
    /// Moves entries of the full leaf `node`, the child of `parent` at `position`, to a neighbour, if the
    /// incoming one has room then. Whether it did. Takes the neighbour into the mini-transaction. Waits for:
    /// latches only.
    pub(super) fn try_shift<'a>(
        &'a self,
        mtr: &mut Mtr<'a>,
        (parent, position): (Handle, usize),
        node: Handle,
        incoming: Incoming<'_>,
    ) -> Attempt<bool> {
        let view = NodeView::new(mtr.page(node));
        if view.level() > 0
            || view.slot_count() < 2
            || view.compare_prefix(incoming.key) != std::cmp::Ordering::Equal
        {
            return Ok(false);
        }
        view.check().map_err(|what| mtr.corrupted(node, what))?;
        let at = view.search(incoming.key).slot;
        let at_edge = at == view.slot_count() && view.next() == PageNo::NONE;
        let ascends = at_edge || view.ascending_slot() == Some(at);
        let family = NodeView::new(mtr.page(parent));
        family.check().map_err(|what| mtr.corrupted(parent, what))?;
        let left = position.checked_sub(1).map(|left| (Side::Left, family.child(left)));
        let right =
            (position < family.slot_count() && !ascends).then(|| (Side::Right, family.child(position + 1)));
        for (side, number) in left.into_iter().chain(right) {
            if !self.may_have_room(number) {
                continue;
            }
            let neighbour = mtr.exclusive(self.space(), number)?;
            let view = NodeView::new(mtr.page(neighbour));
            if neighbour == node || neighbour == parent || !view.is(self.index_id(), 0) {
                return Err(mtr.corrupted(neighbour, "not the node that its parent promised").into());
            }
            view.check().map_err(|what| mtr.corrupted(neighbour, what))?;
            let plan = plan(mtr.page(node), mtr.page(neighbour), side, incoming, ascends);
            let Some(shift) = plan.map_err(|what| mtr.corrupted(node, what))? else { continue };
            let room = has_room(mtr.page(parent), &shift.separator, CHILD_SIZE);
            if room.map_err(|what| mtr.corrupted(parent, what))? {
                let slot = if side == Side::Left { position - 1 } else { position };
                apply_shift(mtr, (parent, slot), node, neighbour, side, &shift);
                metrics::INDEX_PAGE_SHIFTS.increment();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a leaf is in memory and has room for others' entries, by a look at it without a latch.
    fn may_have_room(&self, number: PageNo) -> bool {
        if number == PageNo::NONE || !self.space().has(number) {
            return false;
        }
        let Ok(page) = self.space().optimistic(number) else { return false };
        let node = NodeView::new(&page);
        let (used, capacity) = (node.used(), node.capacity());
        page.validate() && used + least_room(capacity) <= capacity
    }
}

/// What to move. The nodes are checked.
fn plan(
    node: &Page,
    neighbour: &Page,
    side: Side,
    incoming: Incoming<'_>,
    ascends: bool,
) -> Result<Option<Shift>, Mismatch> {
    let (node, neighbour) = (NodeView::new(node), NodeView::new(neighbour));
    let count = node.slot_count();
    if neighbour.slot_count() == 0 {
        return Ok(None);
    }
    // All keys of both have this prefix, and what lies between them.
    let mut key = Key::new();
    node.read_key(if side == Side::Left { count - 1 } else { 0 }, &mut key);
    let shared = common_prefix(neighbour.prefix(), &key);
    neighbour.check_prefix(0..neighbour.slot_count(), shared)?;
    node.check_prefix(0..count, shared)?;
    // Its prefix will be this one or a longer one, which saves nothing of keys that fit into their slots.
    let used = neighbour.used_with_prefix(shared) + neighbour.prefix_len() - shared;
    let capacity = node.capacity();
    if used + least_room(capacity) > capacity {
        return Ok(None);
    }
    let at = node.search(incoming.key);
    let cost = |slot: usize| node.used_by(slot..slot + 1, shared) - shared;
    let slots = match side {
        Side::Left if ascends => 0..fitting((0..at.slot.min(count - 1)).map(cost), capacity - used),
        Side::Left => 0..fitting((0..count - 1).map(cost), (capacity - used) / 2),
        Side::Right => count - fitting((1..count).rev().map(cost), (capacity - used) / 2)..count,
    };
    let edge = if side == Side::Left { slots.end } else { slots.start };
    if slots.is_empty() {
        return Ok(None);
    }
    let own = |prefix_len| entry_cost(incoming.key.len().saturating_sub(prefix_len), incoming.value_len);
    let fits_there = used + slots.clone().map(cost).sum::<usize>() + own(shared) <= capacity;
    let gone: usize = slots.clone().map(|slot| node.used_by_entry(slot)).sum();
    let fits_here = node.used() + own(node.prefix_len()) <= capacity + gone;
    let (mut below, mut above) = (Key::new(), Key::new());
    if !node.read_key(edge - 1, &mut below) || !node.read_key(edge, &mut above) {
        return Err("entry outside the heap");
    }
    let prefix_len = common_prefix(neighbour.prefix(), if side == Side::Left { &below } else { &above });
    // Between the two, it goes where it has room; inserts that ascend go on there, and later on a leaf of
    // their own.
    if edge == at.slot && !at.found {
        let goes_left = fits_there == (side == Side::Left);
        *(if goes_left { &mut below } else { &mut above }) = Key::from_slice(incoming.key);
    }
    if below >= above {
        return Err("keys do not ascend");
    }
    let separator = Key::from_slice(separator(&below, &above));
    let goes_left = incoming.key < &separator[..];
    let has_room = if goes_left == (side == Side::Left) { fits_there } else { fits_here };
    node.check_prefix(slots.clone(), prefix_len)?;
    Ok(has_room.then_some(Shift { slots, separator, prefix_len }))
}

/// How many of the entries with these costs fit into `room`.
fn fitting(costs: impl Iterator<Item = usize>, room: usize) -> usize {
    costs
        .scan(0, |sum, cost| {
            *sum += cost;
            Some(*sum)
        })
        .take_while(|sum| *sum <= room)
        .count()
}

fn apply_shift(
    mtr: &mut Mtr<'_>,
    (parent, slot): (Handle, usize),
    node: Handle,
    neighbour: Handle,
    side: Side,
    shift: &Shift,
) {
    let view = NodeView::new(mtr.page(node));
    let count = shift.slots.len();
    let entries = encode_entries(&view, shift.slots.clone(), shift.prefix_len);
    if shift.prefix_len < NodeView::new(mtr.page(neighbour)).prefix_len() {
        mtr.apply(neighbour, PageOp::SetPrefix { length: shift.prefix_len as u16 });
    }
    match side {
        Side::Left => {
            mtr.apply(neighbour, PageOp::Append { count: count as u16, entries: &entries });
            for _ in 0..count {
                mtr.apply(node, PageOp::Remove { slot: 0 });
            }
        }
        Side::Right => {
            let mut reader = codec::Reader::new(&entries);
            let pairs: Vec<(&[u8], &[u8])> =
                std::iter::from_fn(|| Some((reader.prefixed_bytes().ok()?, reader.prefixed_bytes().ok()?)))
                    .collect();
            for (key, value) in pairs.into_iter().rev() {
                mtr.apply(neighbour, PageOp::Insert { slot: 0, key, value });
            }
            mtr.apply(node, PageOp::Truncate { slots: shift.slots.start as u16 });
        }
    }
    let child = mtr.page_id(if side == Side::Left { node } else { neighbour }).page;
    mtr.apply(parent, PageOp::Remove { slot: slot as u16 });
    insert_entry(mtr, parent, slot, &shift.separator, &child.0.to_le_bytes());
}
