//! Scanning: one leaf per call.
//!
//! A scan does not hold its place by a latch. Each call descends to a leaf, visits its entries under a shared latch, and
//! says where the next call should start: at the separator next to the leaf, which the descent has read on its way. So
//! whatever splits and merges happen between two calls, no entry is missed and none is visited twice.
//!
//! A scan that has come far has the next leaves read before it gets there: their parent, which the descent has passed, knows them.
//!
//! Which slots of a leaf belong to a range is found by searching for its two ends. So the visitor compares no keys, and as
//! most visitors look at values only, a key is put together when it is asked for.

use std::ops::{Bound, ControlFlow};

use palisade_base::{Blocked, PageNo};
use palisade_buffer::{OptimisticPage, Page};
use smallvec::SmallVec;

use super::Tree;
use super::descent::{Fence, MAX_LEVEL, Restarts, Seek};
use crate::error::Attempt;
use crate::layout::node::HEAD_SIZE;
use crate::node::{Key, NodeView, Slot};

/// Leaves that a scan has read ahead, at most: an extent, 1 MiB in pages of 16 KiB.
pub const MOST_AHEAD: usize = 64;

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

/// Entries of a latched leaf.
struct Entries<'p> {
    node: NodeView<'p, Page>,
    /// The leaf's prefix, and behind it what the last key that was asked for has of its own.
    key: Key,
    prefix_len: usize,
}

impl<'p> Entries<'p> {
    fn new(page: &'p Page) -> Self {
        let node = NodeView::new(page);
        let (key, prefix_len) = (Key::from_slice(node.prefix()), node.prefix_len());
        Entries { node, key, prefix_len }
    }

    /// Passes over the entries that the visitor takes by their values, to the first one that it does not
    /// take. What most entries come down to: a function of its own, so that what it needs is in registers.
    #[inline(never)]
    fn pass(&self, slots: &mut Slots, direction: Direction, visitor: &mut impl Visitor) -> Option<usize> {
        let (node, visited) = (self.node, slots.visited.clone());
        // Damage is told when an entry is visited.
        let Some(all) = node.slots(visited.clone()) else { return slots.next(direction) };
        let passed =
            |(index, slot): (usize, Slot)| Passed { index, value: node.value_of(&slot), at: slot.value() };
        match direction {
            Direction::Forward => {
                let next = visitor.take(visited.clone().zip(all).map(passed));
                slots.visited.start = next.map_or(visited.end, |next| next + 1);
                next
            }
            Direction::Backward => {
                let next = visitor.take(visited.clone().zip(all).rev().map(passed));
                slots.visited.end = next.unwrap_or(visited.start);
                next
            }
        }
    }
}

/// Entries of a leaf that are about to be visited.
pub struct Coming<'p> {
    node: NodeView<'p, Page>,
    slots: std::ops::Range<usize>,
}

/// An entry that a visitor may take by its value.
pub struct Passed<'p> {
    /// Its number on the leaf.
    pub index: usize,
    /// Its value; `None` if it lies outside the page, which is told when the entry is visited.
    pub value: Option<&'p [u8]>,
    /// Where on the page the value begins.
    pub at: usize,
}

/// Entries that are not worth being copied together, if there are no more of them.
const FEW: usize = 8;

impl<'p> Coming<'p> {
    /// How many they are.
    #[inline]
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Length of the first one's value.
    #[inline]
    pub fn first_len(&self) -> usize {
        self.node.value_len(&self.node.slot(self.slots.start))
    }

    /// Where on the page they lie, and the bytes there, if these are hardly more than the entries. Some may
    /// lie elsewhere all the same.
    ///
    /// Keys that were inserted in their order, and pages that were compacted, have each entry right before
    /// the one with the key before it; otherwise a range that is most of a leaf is most of its heap.
    pub fn bytes(&self) -> Option<(usize, &'p [u8])> {
        let (node, count) = (&self.node, self.count());
        if count <= FEW {
            return None;
        }
        let place = |index: usize| {
            let slot = node.slot(index);
            (slot.offset, slot.value() + node.value_len(&slot))
        };
        let (first, last) = (place(self.slots.start), place(self.slots.end - 1));
        let middle = place(self.slots.start + count / 2);
        let (from, to) = (last.0, first.1);
        let about = count * ((first.1 - first.0) + (middle.1 - middle.0) + (last.1 - last.0)) / 3;
        if from <= middle.0 && middle.1 <= to && to - from <= about + about / 4 {
            return Some((from, node.bytes(from..to)?));
        }
        let (from, to) = (node.heap_top(), node.heap_end());
        let is_most = 4 * count >= 3 * node.slot_count() && 4 * node.garbage() <= to.saturating_sub(from);
        is_most.then(|| Some((from, node.bytes(from..to)?))).flatten()
    }
}

/// An entry that is visited while its leaf is latched.
pub struct Entry<'e, 'p> {
    entries: &'e mut Entries<'p>,
    index: usize,
    value: &'p [u8],
    at: usize,
    ahead: usize,
}

impl<'p> Entry<'_, 'p> {
    /// Where on the page its value begins.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Its value.
    #[inline]
    pub fn value(&self) -> &'p [u8] {
        self.value
    }

    /// Its key, put together.
    pub fn key(&mut self) -> &[u8] {
        let Entries { node, key, prefix_len } = &mut *self.entries;
        let slot = node.slot(self.index);
        key.truncate(*prefix_len);
        key.extend_from_slice(&slot.head.to_be_bytes()[..slot.key_len.min(HEAD_SIZE)]);
        key.extend_from_slice(node.tail(&slot).expect("it lies before the value, which is on the page"));
        key
    }

    /// How many more entries of the range the leaf has.
    #[inline]
    pub fn ahead(&self) -> usize {
        self.ahead
    }
}

/// Who visits the entries of a leaf, while it is latched: uses no tree and does not wait.
pub trait Visitor {
    /// Is told which entries come, once for a leaf. Whether [`take`](Self::take) is worth being asked.
    #[inline]
    fn begin(&mut self, _coming: &Coming<'_>) -> bool {
        false
    }

    /// Takes entries as long as their values tell all there is to know. Gives the number of the first one
    /// that is to be visited.
    #[inline]
    fn take<'p>(&mut self, mut entries: impl Iterator<Item = Passed<'p>>) -> Option<usize> {
        entries.next().map(|first| first.index)
    }

    /// Visits an entry, and says whether to go on.
    fn visit(&mut self, entry: Entry<'_, '_>) -> ControlFlow<()>;
}

impl<F: FnMut(Entry<'_, '_>) -> ControlFlow<()>> Visitor for F {
    #[inline]
    fn visit(&mut self, entry: Entry<'_, '_>) -> ControlFlow<()> {
        self(entry)
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
        let mut visitor = |mut entry: Entry<'_, '_>| {
            let value = entry.value();
            visit(entry.key(), value)
        };
        self.visit_leaf((from, Bound::Unbounded), direction, 0, &mut visitor, then)
    }

    /// As [`scan`](Tree::scan), up to `until` in `direction`: beyond it nothing is visited, and once nothing is left before
    /// it the scan is exhausted. Has about as many of the following leaves read as `ahead` says, [`MOST_AHEAD`] at most.
    pub fn scan_range(
        &self,
        from: Bound<&[u8]>,
        until: Bound<&[u8]>,
        direction: Direction,
        ahead: usize,
        mut visit: impl FnMut(Entry<'_, '_>) -> ControlFlow<()>,
    ) -> Attempt<ScanEnd> {
        self.visit_range(from, until, direction, ahead, &mut visit)
    }

    /// As [`scan_range`](Tree::scan_range), with a visitor.
    pub fn visit_range(
        &self,
        from: Bound<&[u8]>,
        until: Bound<&[u8]>,
        direction: Direction,
        ahead: usize,
        visitor: &mut impl Visitor,
    ) -> Attempt<ScanEnd> {
        self.visit_leaf((from, until), direction, ahead.min(MOST_AHEAD), visitor, |_| {})
    }

    #[inline]
    fn visit_leaf(
        &self,
        (from, until): (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
        ahead: usize,
        visitor: &mut impl Visitor,
        then: impl FnOnce(&ScanEnd),
    ) -> Attempt<ScanEnd> {
        let seek = Seek::at(from, direction);
        let mut restarts = Restarts::new();
        let (leaf, fence) = loop {
            let mut fence = Fence::new(direction);
            let found = self.descend(seek, 0, Some(&mut fence))?;
            if let Some((parent, position)) = found.parent.filter(|_| ahead > 0) {
                self.read_ahead(&parent, position, until, direction, ahead);
            }
            match found.page.upgrade_shared() {
                Some(leaf) => break (leaf, fence),
                None => restarts.pause(),
            }
        };
        let mut entries = Entries::new(&leaf);
        let mut slots = Slots::between(&entries.node, (from, until), direction);
        let takes = visitor.begin(&Coming { node: entries.node, slots: slots.visited.clone() });
        loop {
            let next = match takes {
                true => entries.pass(&mut slots, direction, visitor),
                false => slots.next(direction),
            };
            let Some(index) = next else { break };
            let slot = entries.node.slot(index);
            let Some(value) = entries.node.value_of(&slot) else {
                return Err(self.corrupted(leaf.id().page, "entry outside the page"));
            };
            let (at, ahead) = (slot.value(), slots.visited.len());
            let entry = Entry { entries: &mut entries, index, value, at, ahead };
            if visitor.visit(entry).is_break() {
                let mut key = Key::new();
                if !entries.node.read_key(index, &mut key) || !is_within(&key, from, direction) {
                    // The caller goes on behind this key. If keys do not ascend, that may be where it came
                    // from.
                    return Err(self.corrupted(leaf.id().page, "keys do not ascend"));
                }
                then(&ScanEnd::Stopped);
                return Ok(ScanEnd::Stopped);
            }
        }
        let fence = fence.key();
        if fence.as_deref().is_some_and(|separator| !is_ahead(separator, from, direction)) {
            // Separators that do not ascend from node to node would lead a scan round in a circle.
            return Err(self.corrupted(leaf.id().page, "keys outside the separators"));
        }
        let end = match fence {
            Some(separator) if !slots.end_reached && !is_beyond(&separator, until, direction) => {
                ScanEnd::Continue { separator, direction }
            }
            _ => ScanEnd::Exhausted,
        };
        then(&end);
        Ok(end)
    }
}

impl Tree {
    /// Where a scan goes on that came from `from` and could not read the page `damaged`: at the next
    /// separator on the way to that page. What lies before it is passed over, which is a leaf, or all that is
    /// below a damaged node. If the page is not on the way, the leaf itself is passed over. The root cannot
    /// be. Waits for: pages to be read.
    pub fn pass_damage(&self, from: Bound<&[u8]>, direction: Direction, damaged: PageNo) -> Attempt<ScanEnd> {
        let seek = Seek::at(from, direction);
        if damaged == self.root() && !self.space().has(damaged) {
            return Err(self.corrupted(damaged, "the root of the index cannot be read"));
        }
        let mut fence = Fence::new(direction);
        let mut page = self.space().shared(self.root()).map_err(Blocked::up)?;
        let mut level = NodeView::new(&*page).level();
        loop {
            let node = NodeView::new(&*page);
            if !node.is(self.index_id(), level) || level > MAX_LEVEL {
                return Err(self.corrupted(page.id().page, "not the node that its parent promised"));
            }
            if level == 0 {
                break;
            }
            let position = seek.child_position(&node);
            fence.note(&node, position);
            let child = node.child(position);
            if level == 1 || child == damaged {
                break;
            }
            page = self.space().shared(child).map_err(Blocked::up)?;
            level -= 1;
        }
        match fence.key() {
            Some(separator) if is_ahead(&separator, from, direction) => {
                Ok(ScanEnd::Continue { separator, direction })
            }
            Some(_) => Err(self.corrupted(page.id().page, "keys outside the separators")),
            None => Ok(ScanEnd::Exhausted),
        }
    }

    /// Has leaves read that follow the one at `position` of `parent`, as far as `parent` knows them: at most
    /// `ahead`, and none that begins beyond `until`.
    ///
    /// They are asked for at every half of `ahead`, so that the other half, in one read where leaves are
    /// neighbours, is under way while the scan is on this one:
    ///
    /// ```text
    ///  position   0       4       8       12          ahead = 8
    ///             |.......|.......|.......|
    ///             asks for 1 - 8, then at 4 for 9 - 12, at 8 for 13 - 16
    /// ```
    ///
    /// Elsewhere only a scan asks that comes to a leaf for which nothing has: its first one.
    fn read_ahead(
        &self,
        parent: &OptimisticPage<'_>,
        position: usize,
        until: Bound<&[u8]>,
        direction: Direction,
        ahead: usize,
    ) {
        let node = NodeView::new(parent);
        let known = match direction {
            Direction::Forward => node.slot_count().saturating_sub(position),
            Direction::Backward => position,
        };
        // A child, and the slot of the separator in front of it.
        let following = |step: usize| match direction {
            Direction::Forward => (node.child(position + step), position + step - 1),
            Direction::Backward => (node.child(position - step), position - step),
        };
        let space = self.space();
        let ahead = ahead.min(space.most_ahead());
        let half = 1_usize << (ahead / 2).max(1).ilog2();
        let ahead = ahead.min(known);
        let is_due = position.is_multiple_of(half);
        let all_are_here = || (1..=ahead).all(|step| space.has(following(step).0));
        if ahead == 0 || is_due && all_are_here() || !is_due && space.is_coming(following(1).0) {
            return;
        }
        let mut leaves = SmallVec::<[PageNo; MOST_AHEAD]>::new();
        let mut separator = Key::new();
        for (leaf, slot) in (1..=ahead).map(following) {
            if !node.read_key(slot, &mut separator) || is_beyond(&separator, until, direction) {
                break;
            }
            leaves.push(leaf);
        }
        // What an optimistic reader has read means something only if nobody has changed it meanwhile.
        if parent.validate() {
            space.read_ahead(leaves);
        }
    }
}

/// Whether a scan from `from` may come to `key`.
fn is_within(key: &[u8], from: Bound<&[u8]>, direction: Direction) -> bool {
    match (from, direction) {
        (Bound::Unbounded, _) => true,
        (Bound::Included(from), Direction::Forward) => key >= from,
        (Bound::Excluded(from), Direction::Forward) => key > from,
        (Bound::Included(from), Direction::Backward) => key <= from,
        (Bound::Excluded(from), Direction::Backward) => key < from,
    }
}

/// Whether a leaf's edge is further on than where the scan came from.
pub(super) fn is_ahead(separator: &[u8], from: Bound<&[u8]>, direction: Direction) -> bool {
    match (from, direction) {
        (Bound::Unbounded, _) => true,
        (Bound::Included(key) | Bound::Excluded(key), Direction::Forward) => separator > key,
        (Bound::Included(key), Direction::Backward) => separator <= key,
        (Bound::Excluded(key), Direction::Backward) => separator < key,
    }
}

/// Whether nothing before `until` lies on the other side of a leaf's edge.
pub(super) fn is_beyond(separator: &[u8], until: Bound<&[u8]>, direction: Direction) -> bool {
    match (until, direction) {
        (Bound::Unbounded, _) => false,
        (Bound::Included(end), Direction::Forward) => separator > end,
        (Bound::Excluded(end), Direction::Forward) => separator >= end,
        // What follows is below the separator.
        (Bound::Included(end) | Bound::Excluded(end), Direction::Backward) => separator <= end,
    }
}

/// Slots still to visit.
struct Slots {
    visited: std::ops::Range<usize>,
    /// The range ends before the leaf does.
    end_reached: bool,
}

impl Slots {
    fn between(
        node: &NodeView<'_, Page>,
        (from, until): (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
    ) -> Slots {
        let count = node.slot_count();
        // Slots before `key`, and it with them if wanted.
        let below = |key: &[u8], with_key: bool| {
            let at = node.search(key);
            at.slot + usize::from(at.found && with_key)
        };
        let (lower, upper) = match direction {
            Direction::Forward => (from, until),
            Direction::Backward => (until, from),
        };
        let first = match lower {
            Bound::Unbounded => 0,
            Bound::Included(key) => below(key, false),
            Bound::Excluded(key) => below(key, true),
        };
        let end = match upper {
            Bound::Unbounded => count,
            Bound::Included(key) => below(key, true),
            Bound::Excluded(key) => below(key, false),
        };
        let end_reached = match direction {
            Direction::Forward => end < count,
            Direction::Backward => first > 0,
        };
        Slots { visited: first..end.max(first), end_reached }
    }

    #[inline]
    fn next(&mut self, direction: Direction) -> Option<usize> {
        match direction {
            Direction::Forward => self.visited.next(),
            Direction::Backward => self.visited.next_back(),
        }
    }
}
