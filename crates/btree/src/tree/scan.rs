//! Scanning: one leaf per call.
//!
//! A scan does not hold its place by a latch. Each call descends to a leaf, visits its entries under a shared latch, and
//! says where the next call should start: at the separator next to the leaf, which the descent has read on its way. So
//! whatever splits and merges happen between two calls, no entry is missed and none is visited twice.

use std::ops::{Bound, ControlFlow};

use palisade_buffer::Page;

use super::Tree;
use super::descent::{Fence, Restarts, Seek};
use crate::error::Attempt;
use crate::layout::node::HEAD_SIZE;
use crate::node::{Key, NodeView};

/// Which way to scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Backward,
}

/// How a call of [`Tree::scan`] ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanEnd {
    /// There is nothing more in this direction.
    Exhausted,
    /// The visitor has had enough.
    Stopped,
    /// The leaf is finished: [`next_bound`](ScanEnd::next_bound) is where to go on.
    Continue {
        /// The separator at the leaf's edge.
        separator: Key,
        /// The direction of the scan.
        direction: Direction,
    },
}

impl ScanEnd {
    /// The `from` of the call that goes on, if there is more.
    pub fn next_bound(&self) -> Option<Bound<&[u8]>> {
        match self {
            ScanEnd::Continue { separator, direction: Direction::Forward } => {
                Some(Bound::Included(separator))
            }
            ScanEnd::Continue { separator, direction: Direction::Backward } => {
                Some(Bound::Excluded(separator))
            }
            _ => None,
        }
    }
}

/// Entries of a latched leaf, their keys put together in one buffer.
struct Entries<'p> {
    node: NodeView<'p, Page>,
    key: Key,
    prefix_len: usize,
}

impl<'p> Entries<'p> {
    fn new(page: &'p Page) -> Self {
        let node = NodeView::new(page);
        let (key, prefix_len) = (Key::from_slice(node.prefix()), node.prefix_len());
        Entries { node, key, prefix_len }
    }

    #[inline]
    fn entry(&mut self, index: usize) -> Option<(&[u8], &'p [u8])> {
        let slot = self.node.slot(index);
        self.key.truncate(self.prefix_len);
        self.key.extend_from_slice(&slot.head.to_be_bytes()[..slot.key_len.min(HEAD_SIZE)]);
        self.key.extend_from_slice(self.node.tail(&slot)?);
        Some((&self.key, self.node.value(index)?))
    }
}

impl Tree {
    /// Visits the entries of one leaf, from `from` in `direction`, while it is latched. Waits for: pages to be read.
    ///
    /// The visitor gets key and value and says whether to go on. It must not use this tree or wait.
    pub fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Attempt<ScanEnd> {
        self.scan_then(from, direction, visit, |_| {})
    }

    /// As [`scan`](Tree::scan); `then` is told how it ends while the leaf is still latched.
    pub fn scan_then(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        mut visit: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        then: impl FnOnce(&ScanEnd),
    ) -> Attempt<ScanEnd> {
        let seek = match (from, direction) {
            (Bound::Unbounded, Direction::Forward) => Seek::First,
            (Bound::Unbounded, Direction::Backward) => Seek::Last,
            (Bound::Excluded(key), Direction::Backward) => Seek::Below(key),
            (Bound::Included(key) | Bound::Excluded(key), _) => Seek::Key(key),
        };
        let mut restarts = Restarts::new();
        let (leaf, fence) = loop {
            let mut fence = Fence::new(direction);
            let found = self.descend(seek, 0, Some(&mut fence))?;
            match found.page.upgrade_shared() {
                Some(leaf) => break (leaf, fence),
                None => restarts.pause(),
            }
        };
        let mut entries = Entries::new(&leaf);
        let mut slots = slots_from(&entries.node, from, direction);
        while let Some(index) = slots.next(direction) {
            let Some((key, value)) = entries.entry(index) else {
                return Err(self.corrupted(leaf.id().page, "entry outside the page"));
            };
            if visit(key, value).is_break() {
                then(&ScanEnd::Stopped);
                return Ok(ScanEnd::Stopped);
            }
        }
        let end = match fence.key() {
            Some(separator) => ScanEnd::Continue { separator, direction },
            None => ScanEnd::Exhausted,
        };
        then(&end);
        Ok(end)
    }
}

/// Slots still to visit.
struct Slots(std::ops::Range<usize>);

impl Slots {
    #[inline]
    fn next(&mut self, direction: Direction) -> Option<usize> {
        match direction {
            Direction::Forward => self.0.next(),
            Direction::Backward => self.0.next_back(),
        }
    }
}

fn slots_from(node: &NodeView<'_, Page>, from: Bound<&[u8]>, direction: Direction) -> Slots {
    let count = node.slot_count();
    let (before, after) = match from {
        Bound::Unbounded => return Slots(0..count),
        Bound::Included(key) | Bound::Excluded(key) => {
            let at = node.search(key);
            (at.slot, at.slot + usize::from(at.found))
        }
    };
    let included = matches!(from, Bound::Included(_));
    Slots(match direction {
        Direction::Forward => (if included { before } else { after })..count,
        Direction::Backward => 0..(if included { after } else { before }),
    })
}
