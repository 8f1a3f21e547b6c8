//! What the planner wants to know: how large an index is, and how much of it a range covers.
//!
//! Both are estimates from a few descents. A range is measured by the two descents to its ends: on each level, the
//! children between the two paths are counted, and each taken to be as large as up to three inside the range. The size is
//! measured by descents that choose each child at random: if such a descent has met fan-outs `f1, f2, ..` and a leaf with
//! `n` entries, then `f1 * f2 * ..` is an unbiased estimate of the number of leaves and `f1 * f2 * .. * n` of the
//! number of entries (Knuth, *Estimating the Efficiency of Backtrack Programs*, 1975).

use std::ops::Bound;

use palisade_base::Blocked;

use super::Tree;
use super::descent::{Descent, Restarts, Seek, Step};
use crate::error::Attempt;
use crate::node::{Key, NodeView};

/// The size of a tree, estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Levels; a tree of one leaf has one.
    pub levels: u16,
    /// Leaves.
    pub leaf_pages: u64,
    /// Entries, delete-marked ones included.
    pub entries: u64,
}

/// One end of a range: the way there, and where on the leaf it is.
struct End {
    steps: Vec<Step>,
    leaf: palisade_base::PageNo,
    slot: usize,
    slots: usize,
}

impl Tree {
    /// About how many entries lie between two bounds; exact if they are on one leaf. Waits for: pages to be read.
    pub fn records_in_range(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Attempt<u64> {
        let low = self.range_end(lower, Seek::First)?;
        let high = self.range_end(upper, Seek::Last)?;
        if low.leaf == high.leaf {
            return Ok(high.slot.saturating_sub(low.slot) as u64);
        }
        let parts = |(a, b): (&Step, &Step)| a.page == b.page && a.position != b.position;
        let Some(fork) = low.steps.iter().zip(&high.steps).position(parts) else { return Ok(1) };
        let (from, to) = (low.steps[fork].position, high.steps[fork].position);
        if low.steps.len() != high.steps.len() || from > to {
            return Ok(0);
        }
        let mut inner = Vec::new();
        let between = to - from - 1;
        for quarter in 1..=between.min(3) {
            let position = from + (between * quarter / between.min(3)).max(1);
            if let Some(end) = self.child_end(low.steps[fork].page, position)? {
                inner.push(end);
            }
        }
        inner.retain(|end| end.steps.len() == low.steps.len());
        Ok(estimate(&low, &high, fork, &inner))
    }

    /// The way to the first leaf below a child of an inner node. `None` if the node has changed.
    fn child_end(&self, page: palisade_base::PageNo, position: usize) -> Attempt<Option<End>> {
        let mut key = Key::new();
        let node = self.space().optimistic(page).map_err(Blocked::up)?;
        let read = NodeView::new(&node).read_key(position - 1, &mut key);
        if !read || !node.validate() {
            return Ok(None);
        }
        self.range_end(Bound::Included(&key), Seek::First).map(Some)
    }

    fn range_end(&self, bound: Bound<&[u8]>, unbounded: Seek<'_>) -> Attempt<End> {
        let is_lower = matches!(unbounded, Seek::First);
        let seek = match bound {
            Bound::Included(key) | Bound::Excluded(key) => Seek::Key(key),
            Bound::Unbounded => unbounded,
        };
        let mut steps = Vec::new();
        let mut restarts = Restarts::new();
        loop {
            let Descent { page, .. } = self.path(seek, &mut steps)?;
            let node = NodeView::new(&page);
            let slots = node.slot_count();
            let slot = match bound {
                Bound::Unbounded => {
                    if is_lower {
                        0
                    } else {
                        slots
                    }
                }
                Bound::Included(key) | Bound::Excluded(key) => {
                    let at = node.search(key);
                    let passes = at.found && matches!(bound, Bound::Excluded(_)) == is_lower;
                    at.slot + usize::from(passes)
                }
            };
            if page.validate() {
                return Ok(End { steps, leaf: page.id().page, slot, slots });
            }
            restarts.pause();
        }
    }

    /// Replaces the content of `key` by the key of a random entry, which `choice` determines; entries on sparse leaves are
    /// more likely. False, and empty, if the leaf it came to has none. Waits for: pages to be read.
    pub fn random_key(&self, choice: u64, key: &mut Vec<u8>) -> Attempt<bool> {
        let mut restarts = Restarts::new();
        loop {
            let found = self.descend(Seek::Random(choice), 0, None)?;
            let Some(leaf) = found.page.upgrade_shared() else {
                restarts.pause();
                continue;
            };
            key.clear();
            let node = NodeView::new(&*leaf);
            let slots = node.slot_count() as u64;
            if slots == 0 {
                return Ok(false);
            }
            let mut full = crate::Key::new();
            node.read_key((choice.rotate_left(32) % slots) as usize, &mut full);
            key.extend_from_slice(&full);
            return Ok(true);
        }
    }

    /// The size of the tree, from `samples` random descents. The same `seed` takes the same ways. Waits for: pages to be
    /// read.
    pub fn statistics(&self, samples: u32, seed: u64) -> Attempt<Statistics> {
        let mut prng = palisade_base::prng::Prng::new(seed);
        let (mut leaf_pages, mut entries, mut levels) = (0.0, 0.0, 1);
        let samples = samples.max(1);
        let mut steps = Vec::new();
        for _ in 0..samples {
            let choice = prng.next_u64();
            let found = self.path(Seek::Random(choice), &mut steps)?;
            let slots = NodeView::new(&found.page).slot_count();
            let leaves: f64 = steps.iter().map(|step| (step.slots + 1) as f64).product();
            leaf_pages += leaves;
            entries += leaves * slots as f64;
            levels = steps.len() as u16 + 1;
        }
        let mean = |sum: f64| (sum / f64::from(samples)).round() as u64;
        Ok(Statistics { levels, leaf_pages: mean(leaf_pages), entries: mean(entries) })
    }
}

/// What is known of the nodes on one level, to take the mean of.
#[derive(Default, Clone, Copy)]
struct Sampled {
    sum: f64,
    count: f64,
}

impl Sampled {
    fn add(&mut self, size: usize) {
        self.sum += size as f64;
        self.count += 1.0;
    }

    fn mean(&self) -> f64 {
        if self.count > 0.0 { self.sum / self.count } else { 1.0 }
    }
}

/// Entries between two ends that part at the step `fork`.
fn estimate(low: &End, high: &End, fork: usize, inner: &[End]) -> u64 {
    let depth = low.steps.len();
    let mut leaves = Sampled::default();
    let mut fan_outs = vec![Sampled::default(); depth];
    // The ends may lie at the edge of the tree, where nodes are emptier than others: they count if there is nothing else.
    let ends = [low, high];
    let samples: Vec<&End> = if inner.is_empty() { ends.to_vec() } else { inner.iter().collect() };
    for end in samples {
        leaves.add(end.slots);
        for (fan_out, step) in fan_outs.iter_mut().zip(&end.steps) {
            fan_out.add(step.slots + 1);
        }
    }
    let mut sum = (low.slots - low.slot.min(low.slots) + high.slot) as f64;
    // Entries below a child of the step at `level`, from the bottom up.
    let mut below_child = leaves.mean();
    for level in (fork..depth).rev() {
        let (left, right) = (low.steps[level], high.steps[level]);
        let children = if level == fork {
            right.position - left.position - 1
        } else {
            left.slots.saturating_sub(left.position) + right.position
        };
        sum += children as f64 * below_child;
        below_child *= fan_outs[level].mean();
    }
    sum.round() as u64
}
