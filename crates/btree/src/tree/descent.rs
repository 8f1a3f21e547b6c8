//! Going down a tree without latching it.
//!
//! At each step the child's number is read from the parent, the parent is validated - so the number is real -, the
//! child's version is taken, and the parent is validated again: at that moment the child was the parent's child for the
//! key, and whatever is later found valid at the child's version still is. The separators around the child, which say
//! what keys it can hold, are read in the same breath.

use std::ops::Bound;

use palisade_base::prng::Prng;
use palisade_base::{Blocked, PageNo};
use palisade_buffer::{OptimisticPage, PageRead};

use super::Tree;
use super::scan::Direction;
use crate::error::Attempt;
use crate::metrics;
use crate::node::{Key, NodeView};

/// More levels than any tree has: four entries fit on a page, and there are less than 2^32 pages.
pub(crate) const MAX_LEVEL: u16 = 32;

/// What a descent looks for.
#[derive(Debug, Clone, Copy)]
pub enum Seek<'k> {
    /// The leaf that has, or would have, this key.
    Key(&'k [u8]),
    /// The leaf that has, or would have, the keys just below this one.
    Below(&'k [u8]),
    /// The first leaf.
    First,
    /// The last leaf.
    Last,
    /// A leaf chosen at random: the number decides on every level.
    Random(u64),
}

impl<'k> Seek<'k> {
    /// Where a scan from `from` begins.
    pub(crate) fn at(from: Bound<&'k [u8]>, direction: Direction) -> Seek<'k> {
        match (from, direction) {
            (Bound::Unbounded, Direction::Forward) => Seek::First,
            (Bound::Unbounded, Direction::Backward) => Seek::Last,
            (Bound::Excluded(key), Direction::Backward) => Seek::Below(key),
            (Bound::Included(key) | Bound::Excluded(key), _) => Seek::Key(key),
        }
    }

    /// Which child of an inner node to go to.
    #[inline]
    pub(crate) fn child_position<P: PageRead + ?Sized>(&self, node: &NodeView<'_, P>) -> usize {
        match self {
            Seek::Key(key) => node.child_position(key),
            Seek::Below(key) => node.child_position_below(key),
            Seek::First => 0,
            Seek::Last => node.slot_count(),
            Seek::Random(number) => {
                let mixed = Prng::new(number ^ u64::from(node.level()) << 56).next_u64();
                (mixed % (node.slot_count() as u64 + 1)) as usize
            }
        }
    }
}

/// Where a leaf's keys end, in one direction: found on the way down.
pub(crate) struct Fence {
    direction: Direction,
    key: Key,
    present: bool,
}

impl Fence {
    pub(crate) fn new(direction: Direction) -> Self {
        Fence { direction, key: Key::new(), present: false }
    }

    /// Forward: all keys of the leaf are below it. Backward: none is below it.
    pub(crate) fn key(self) -> Option<Key> {
        self.present.then_some(self.key)
    }

    /// The descent leaves `node` at `position`.
    pub(crate) fn note<P: PageRead + ?Sized>(&mut self, node: &NodeView<'_, P>, position: usize) {
        let slot = match self.direction {
            Direction::Forward => (position < node.slot_count()).then_some(position),
            Direction::Backward => position.checked_sub(1),
        };
        if let Some(slot) = slot {
            self.present = node.read_key(slot, &mut self.key);
        }
    }
}

/// Where a descent has arrived.
pub(crate) struct Descent<'a> {
    /// The node; whatever is read from it must be validated.
    pub(crate) page: OptimisticPage<'a>,
    /// Its parent and its position there, unless it is the root.
    pub(crate) parent: Option<(OptimisticPage<'a>, usize)>,
}

/// One step of a descent, for estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) page: PageNo,
    pub(crate) position: usize,
    pub(crate) slots: usize,
}

/// Waiting between restarts: shortly, then giving the processor to whoever is in the way.
pub(crate) struct Restarts(u32);

impl Restarts {
    pub(crate) fn new() -> Self {
        Restarts(0)
    }

    pub(crate) fn pause(&mut self) {
        self.0 += 1;
        metrics::INDEX_DESCENT_RESTARTS.increment();
        if self.0 <= 4 {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

impl Tree {
    /// The node on `level` that [`Seek`] leads to. If the tree has fewer levels: its root. Waits for: pages to be read.
    #[inline]
    pub(crate) fn descend(
        &self,
        seek: Seek<'_>,
        level: u16,
        mut fence: Option<&mut Fence>,
    ) -> Attempt<Descent<'_>> {
        let mut restarts = Restarts::new();
        loop {
            match self.try_descend(seek, level, fence.as_deref_mut(), None)? {
                Some(found) => return Ok(found),
                None => restarts.pause(),
            }
        }
    }

    /// The way to a leaf: a [`Step`] for every inner node, from the root down.
    pub(crate) fn path(&self, seek: Seek<'_>, steps: &mut Vec<Step>) -> Attempt<Descent<'_>> {
        let mut restarts = Restarts::new();
        loop {
            match self.try_descend(seek, 0, None, Some(steps))? {
                Some(found) => return Ok(found),
                None => restarts.pause(),
            }
        }
    }

    /// `None` if something changed on the way.
    #[inline]
    fn try_descend(
        &self,
        seek: Seek<'_>,
        target: u16,
        mut fence: Option<&mut Fence>,
        mut steps: Option<&mut Vec<Step>>,
    ) -> Attempt<Option<Descent<'_>>> {
        if let Some(fence) = fence.as_deref_mut() {
            fence.present = false;
        }
        if let Some(steps) = steps.as_deref_mut() {
            steps.clear();
        }
        let mut page = self.space().optimistic(self.root()).map_err(Blocked::up)?;
        let mut parent = None;
        let mut level = NodeView::new(&page).level();
        loop {
            let node = NodeView::new(&page);
            let is_expected = node.is(self.index_id(), level);
            if level <= target || !is_expected || level > MAX_LEVEL {
                if !page.validate() {
                    return Ok(None);
                }
                if !is_expected || level > MAX_LEVEL {
                    return Err(self.corrupted(page.id().page, "not the node that its parent promised"));
                }
                return Ok(Some(Descent { page, parent }));
            }
            let position = seek.child_position(&node);
            let child = node.child(position);
            if let Some(fence) = fence.as_deref_mut() {
                fence.note(&node, position);
            }
            if let Some(steps) = steps.as_deref_mut() {
                steps.push(Step { page: page.id().page, position, slots: node.slot_count() });
            }
            if !page.validate() {
                return Ok(None);
            }
            if child == PageNo::NONE {
                return Err(self.corrupted(page.id().page, "an inner node without a child"));
            }
            let next = self.space().optimistic(child);
            if !page.validate() {
                return Ok(None);
            }
            parent = Some((page, position));
            page = next.map_err(Blocked::up)?;
            level -= 1;
        }
    }
}
