//! A tournament of runs: which of them has the least row.
//!
//! Each inner node of a binary tree remembers the loser of the match that was played there; the winner of all
//! is on top. When the winner has moved on to its next row, only the matches on its way up are played again:
//! of `n` runs log2(n) comparisons a row (Knuth, The Art of Computer Programming, volume 3, section 5.4.1).
//!
//! ```text
//!              0 winner                 leaves 4..8 are the runs 0..4
//!              1
//!          2       3                    node k has the children 2k and 2k + 1
//!        4   5   6   7
//! ```

/// The tree. A run is known by its number.
#[derive(Debug, Default)]
pub struct Tournament {
    /// The loser at each inner node; at 0 the winner.
    losers: Vec<usize>,
}

impl Tournament {
    /// Plays all matches of `count` runs. `beats` says whether the first one's row comes before the second
    /// one's; two rows are never alike to it.
    pub fn new(count: usize, beats: &mut impl FnMut(usize, usize) -> bool) -> Tournament {
        let mut tree = Tournament { losers: vec![0; count.max(1)] };
        let mut winners: Vec<usize> = (0..2 * count).map(|node| node.saturating_sub(count)).collect();
        for node in (1..count).rev() {
            let pair = (winners.get(2 * node).copied(), winners.get(2 * node + 1).copied());
            let (Some(left), Some(right)) = pair else { continue };
            let (winner, loser) = if beats(left, right) { (left, right) } else { (right, left) };
            tree.put(node, loser);
            if let Some(place) = winners.get_mut(node) {
                *place = winner;
            }
        }
        tree.put(0, winners.get(1).copied().unwrap_or(0));
        tree
    }

    /// The run with the least row.
    #[inline]
    pub fn winner(&self) -> usize {
        self.losers.first().copied().unwrap_or(0)
    }

    /// The winner has another row.
    #[inline]
    pub fn replay(&mut self, beats: &mut impl FnMut(usize, usize) -> bool) {
        let mut winner = self.winner();
        let mut node = (winner + self.losers.len()) / 2;
        while let Some(place) = self.losers.get_mut(node).filter(|_| node > 0) {
            if beats(*place, winner) {
                std::mem::swap(place, &mut winner);
            }
            node /= 2;
        }
        self.put(0, winner);
    }

    fn put(&mut self, node: usize, run: usize) {
        if let Some(place) = self.losers.get_mut(node) {
            *place = run;
        }
    }
}

#[cfg(test)]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    #[test]
    fn it_gives_the_rows_of_all_runs_in_order() {
        let mut random = Prng::new(test_seed(20));
        for count in 1..40 {
            let mut runs: Vec<Vec<u64>> = (0..count)
                .map(|_| {
                    let mut run: Vec<u64> = (0..random.below(30)).map(|_| random.below(20)).collect();
                    run.sort_unstable();
                    run.reverse();
                    run
                })
                .collect();
            let mut expected: Vec<(u64, usize)> = runs
                .iter()
                .enumerate()
                .flat_map(|(run, rows)| rows.iter().map(move |row| (*row, run)))
                .collect();
            expected.sort_unstable();
            // An empty run comes last, and of equal rows that of the first run.
            let key =
                |runs: &[Vec<u64>], run: usize| (runs[run].last().is_none(), runs[run].last().copied(), run);
            let mut tree = Tournament::new(count, &mut |one, other| key(&runs, one) < key(&runs, other));
            let mut given = Vec::new();
            while let Some(row) = runs[tree.winner()].pop() {
                given.push((row, tree.winner()));
                tree.replay(&mut |one, other| key(&runs, one) < key(&runs, other));
            }
            assert_eq!(given, expected, "{count} runs");
        }
    }
}
