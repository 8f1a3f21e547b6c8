//! Sorting in steps: a stable merge sort that can stop after any few comparisons and go on later.
//!
//! A statement that sorts a million rows shares its worker with other sessions, so a sort never runs to its
//! end in one go. Items are first sorted in short *runs*; then passes merge neighbouring runs, each pass from
//! one vector into the other:
//!
//! ```text
//!  items   5 3 | 8 1 | 4 7 | 2 6     runs of 2, each sorted as a whole
//!  pass 1  1 3 5 8 | 2 4 6 7         ──► the other vector; runs of 4
//!  pass 2  1 2 3 4 5 6 7 8           ──► back
//! ```
//!
//! The state between two steps is the pass's width, the pair of runs, and how far each of the two has come.
//! Equal items stay in the order in which they were put in, because the left run is taken first.

use std::cmp::Ordering;

use palisade_catalog::watch::PIECE;

/// Items being sorted.
#[derive(Debug)]
pub struct MergeSort<T> {
    /// What the pass reads; after the last pass the items in order.
    from: Vec<T>,
    /// What the pass has written.
    into: Vec<T>,
    /// Items of a run at the beginning.
    run: usize,
    phase: Phase,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Runs before this item are sorted.
    Runs {
        next: usize,
    },
    /// Runs of `width` items are merged. `left` and `right` are the next items of the current pair.
    Merging {
        width: usize,
        left: usize,
        right: usize,
    },
    Sorted,
}

/// Items of a run where comparing is cheap: sorting so many takes a fraction of a millisecond.
pub const RUN: usize = 1024;
/// So few items are sorted by insertion.
pub const FEW: usize = 16;

/// Items of a run of a sort whose longest key has so many bytes.
pub fn run_of(longest_key: usize) -> usize {
    if longest_key > PIECE { FEW } else { (RUN / (1 + longest_key / 256)).max(2) }
}

impl<T: Copy> MergeSort<T> {
    /// Sorts these items, in runs of `run` at first: fewer where each comparison takes long.
    pub fn new(items: Vec<T>, run: usize) -> MergeSort<T> {
        MergeSort { from: items, into: Vec::new(), run: run.max(1), phase: Phase::Runs { next: 0 } }
    }

    /// Bytes that the items take, twice while they are merged.
    pub fn size(&self) -> usize {
        (self.from.capacity() + self.into.capacity()) * size_of::<T>()
    }

    /// Goes on for about as long as sorting a run takes. True when everything is in order.
    pub fn step(&mut self, compare: &mut impl FnMut(&T, &T) -> Ordering) -> bool {
        match self.phase {
            Phase::Runs { next } => {
                let end = (next + self.run).min(self.from.len());
                self.from.get_mut(next..end).unwrap_or_default().sort_by(&mut *compare);
                self.phase = match end < self.from.len() {
                    true => Phase::Runs { next: end },
                    false => self.pass(self.run),
                };
            }
            Phase::Merging { width, left, right } => self.merge(width, left, right, compare),
            Phase::Sorted => {}
        }
        matches!(self.phase, Phase::Sorted)
    }

    /// The items, in order once [`step`](Self::step) has said so.
    pub fn into_items(self) -> Vec<T> {
        self.from
    }

    /// The pass that merges runs of `width`.
    fn pass(&mut self, width: usize) -> Phase {
        if width >= self.from.len() {
            return Phase::Sorted;
        }
        self.into.clear();
        self.into.reserve_exact(self.from.len());
        Phase::Merging { width, left: 0, right: width }
    }

    /// Merges as many items as a run has, or to the end of the pass.
    #[expect(
        clippy::indexing_slicing,
        reason = "left is not beyond its middle and right not beyond its end, and both are before them where they are compared"
    )]
    fn merge(
        &mut self,
        width: usize,
        mut left: usize,
        mut right: usize,
        compare: &mut impl FnMut(&T, &T) -> Ordering,
    ) {
        let (count, from) = (self.from.len(), &self.from);
        let mut most = self.run;
        while most > 0 {
            // The pair begins where the items written so far end, at a multiple of two runs.
            let pair = self.into.len() / (2 * width) * (2 * width);
            let middle = (pair + width).min(count);
            let end = (pair + 2 * width).min(count);
            while most > 0 && left < middle && right < end {
                let takes_left = compare(&from[left], &from[right]) != Ordering::Greater;
                let taken = if takes_left { &mut left } else { &mut right };
                self.into.push(from[*taken]);
                *taken += 1;
                most -= 1;
            }
            if left == middle || right == end {
                // One run has ended: the rest of the other is in order.
                let (rest, to) = if left < middle { (&mut left, middle) } else { (&mut right, end) };
                let taken = most.min(to - *rest);
                self.into.extend_from_slice(&from[*rest..*rest + taken]);
                *rest += taken;
                most -= taken;
            }
            if self.into.len() == count {
                std::mem::swap(&mut self.from, &mut self.into);
                self.phase = self.pass(2 * width);
                return;
            }
            if self.into.len() == end {
                (left, right) = (end, (end + width).min(count));
            }
        }
        self.phase = Phase::Merging { width, left, right };
    }
}

#[cfg(test)]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    #[test]
    fn it_sorts_as_a_stable_sort_does_and_in_short_steps() {
        let mut random = Prng::new(test_seed(12));
        for _ in 0..300 {
            let count = random.below(400) as usize;
            let kinds = 1 + random.below(50);
            let run = 1 + random.below(20) as usize;
            let items: Vec<(u64, usize)> = (0..count).map(|place| (random.below(kinds), place)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            let mut sort = MergeSort::new(items, run);
            loop {
                let mut comparisons = 0;
                let done = sort.step(&mut |left, right| {
                    comparisons += 1;
                    left.0.cmp(&right.0)
                });
                assert!(comparisons <= run * 8, "{comparisons} for a run of {run}");
                if done {
                    break;
                }
            }
            assert_eq!(sort.into_items(), expected);
        }
    }
}
