//! The ranges of all sessions in one order: who lies over a key.
//!
//! A treap, ordered by where a range begins. Each node knows which range of its subtree ends last; a subtree in which all have
//! ended before the key is passed by. So finding one that lies over a key, or that there is none, looks at a path or two, however many
//! sessions there are, and finding all of them at as many paths as there are. Unlike a map of the pieces into
//! which all ranges cut each other, it never holds more than the ranges themselves.
//!
//! ```text
//!                 [f, m) last m
//!               /               \
//!      [b, k) last k          [p, q) last q
//!      /          \
//! [a, c) last c   [d, e) last e
//! ```
//!
//! C. Aragon and R. Seidel, Randomized search trees, 1989; the pruning is the interval tree's of Cormen, Leiserson, Rivest and
//! Stein. Priorities come from a sequence of its own, so that the same calls make the same tree.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use super::ranges::Cut;
use crate::sessions::SessionNo;

/// What a node takes.
pub(super) const NODE_BYTES: usize = size_of::<Node>();
/// No node.
const NONE: u32 = u32::MAX;

/// Ranges, each of a session. Those of one session begin at different cuts.
pub(super) struct IntervalTree {
    nodes: Vec<Node>,
    free: Vec<u32>,
    root: u32,
    random: u32,
}

struct Node {
    from: Cut,
    to: Cut,
    session: SessionNo,
    priority: u32,
    left: u32,
    right: u32,
    /// The node of the subtree whose range ends last.
    last: u32,
}

impl Default for IntervalTree {
    fn default() -> Self {
        IntervalTree { nodes: Vec::new(), free: Vec::new(), root: NONE, random: 0x9e37_79b9 }
    }
}

impl IntervalTree {
    /// Adds a range that is not empty.
    pub(super) fn insert(&mut self, session: SessionNo, from: Cut, to: Cut) {
        assert!(from < to, "a range that holds nothing");
        // Marsaglia's xorshift.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        let (left, right) = self.split(self.root, &from, session);
        let node = Node { from, to, session, priority: self.random, left: NONE, right: NONE, last: NONE };
        let number = match self.free.pop() {
            Some(number) => {
                self.nodes[number as usize] = node;
                number
            }
            None => {
                self.nodes.push(node);
                u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 ranges")
            }
        };
        self.update(number);
        let left = self.merge(left, number);
        self.root = self.merge(left, right);
    }

    /// Removes the range of `session` that begins at `from`.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn remove(&mut self, session: SessionNo, from: &Cut) {
        self.root = self.without(self.root, from, session);
    }

    /// Whether a range of another session than `session` lies over `key`.
    pub(super) fn has_other(&self, session: SessionNo, key: &[u8]) -> bool {
        let mut visit = |owner| match owner == session {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        self.visit_over(self.root, key, &mut visit).is_break()
    }

    /// The sessions other than `session` with ranges over `key`, each once.
    pub(super) fn others(&self, session: SessionNo, key: &[u8], out: &mut Vec<SessionNo>) {
        let mut visit = |owner| {
            if owner != session {
                out.push(owner);
            }
            ControlFlow::Continue(())
        };
        let _ = self.visit_over(self.root, key, &mut visit);
    }

    fn visit_over(
        &self,
        mut number: u32,
        key: &[u8],
        visit: &mut impl FnMut(SessionNo) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while number != NONE {
            let node = &self.nodes[number as usize];
            if self.nodes[node.last as usize].to.is_before(key) {
                break;
            }
            self.visit_over(node.left, key, visit)?;
            if !node.from.is_before(key) {
                break;
            }
            if !node.to.is_before(key) {
                visit(node.session)?;
            }
            number = node.right;
        }
        ControlFlow::Continue(())
    }

    fn compare(&self, number: u32, from: &Cut, session: SessionNo) -> Ordering {
        let node = &self.nodes[number as usize];
        node.from.cmp(from).then(node.session.cmp(&session))
    }

    /// Makes `last` of a node right, whose children's is.
    fn update(&mut self, number: u32) {
        let node = &self.nodes[number as usize];
        let mut last = number;
        for child in [node.left, node.right] {
            if child != NONE {
                let other = self.nodes[child as usize].last;
                if self.nodes[other as usize].to > self.nodes[last as usize].to {
                    last = other;
                }
            }
        }
        self.nodes[number as usize].last = last;
    }

    /// What is before the range of `session` that begins at `from`, and what is behind.
    fn split(&mut self, number: u32, from: &Cut, session: SessionNo) -> (u32, u32) {
        if number == NONE {
            return (NONE, NONE);
        }
        match self.compare(number, from, session) {
            Ordering::Less => {
                let (middle, behind) = self.split(self.nodes[number as usize].right, from, session);
                self.nodes[number as usize].right = middle;
                self.update(number);
                (number, behind)
            }
            Ordering::Greater => {
                let (before, middle) = self.split(self.nodes[number as usize].left, from, session);
                self.nodes[number as usize].left = middle;
                self.update(number);
                (before, number)
            }
            Ordering::Equal => panic!("a session's ranges begin at different cuts"),
        }
    }

    /// One tree of two, all of the first before all of the second.
    fn merge(&mut self, before: u32, behind: u32) -> u32 {
        if before == NONE || behind == NONE {
            return if before == NONE { behind } else { before };
        }
        if self.nodes[before as usize].priority >= self.nodes[behind as usize].priority {
            let right = self.merge(self.nodes[before as usize].right, behind);
            self.nodes[before as usize].right = right;
            self.update(before);
            before
        } else {
            let left = self.merge(before, self.nodes[behind as usize].left);
            self.nodes[behind as usize].left = left;
            self.update(behind);
            behind
        }
    }

    fn without(&mut self, number: u32, from: &Cut, session: SessionNo) -> u32 {
        assert!(number != NONE, "a range that is not there");
        let (left, right) = (self.nodes[number as usize].left, self.nodes[number as usize].right);
        match self.compare(number, from, session) {
            Ordering::Equal => {
                let node = &mut self.nodes[number as usize];
                // Its keys are not kept for whoever comes next.
                (node.from, node.to) = (Cut::End, Cut::End);
                self.free.push(number);
                return self.merge(left, right);
            }
            Ordering::Less => self.nodes[number as usize].right = self.without(right, from, session),
            Ordering::Greater => self.nodes[number as usize].left = self.without(left, from, session),
        }
        self.update(number);
        number
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    const KEYS: u8 = 30;

    fn cut(place: u64) -> Cut {
        match place {
            60 => Cut::End,
            _ if place.is_multiple_of(2) => Cut::before(&[place as u8 / 2]),
            _ => Cut::after(&[place as u8 / 2]),
        }
    }

    /// Checks order, priorities and `last` of a subtree; gives its depth.
    fn check(tree: &IntervalTree, number: u32) -> usize {
        if number == NONE {
            return 0;
        }
        let node = &tree.nodes[number as usize];
        let mut ends = vec![&node.to];
        for (child, order) in [(node.left, Ordering::Greater), (node.right, Ordering::Less)] {
            if child != NONE {
                let below = &tree.nodes[child as usize];
                assert!(below.priority <= node.priority);
                assert_eq!(tree.compare(number, &below.from, below.session), order);
                ends.push(&tree.nodes[below.last as usize].to);
            }
        }
        assert_eq!(Some(&&tree.nodes[node.last as usize].to), ends.iter().max());
        1 + check(tree, node.left).max(check(tree, node.right))
    }

    #[test]
    fn it_finds_what_a_list_has() {
        let mut prng = Prng::new(test_seed(22));
        let mut hits = 0;
        for round in 0..60 {
            let mut tree = IntervalTree::default();
            let mut list: Vec<(SessionNo, u64, u64)> = Vec::new();
            for _ in 0..200 {
                let session = SessionNo(prng.below(8) as u32);
                let (a, b) = (prng.below(61), prng.below(61));
                let (from, to) = (a.min(b), a.max(b));
                let is_new = list.iter().all(|(owner, start, _)| (*owner, *start) != (session, from));
                // Now it grows and now it shrinks.
                if from < to && is_new && prng.below(40) >= round % 20 {
                    tree.insert(session, cut(from), cut(to));
                    list.push((session, from, to));
                } else if !list.is_empty() {
                    let (owner, from, _) = list.swap_remove(prng.below(list.len() as u64) as usize);
                    tree.remove(owner, &cut(from));
                }
                check(&tree, tree.root);
                for key in 0..KEYS {
                    let place = u64::from(key) * 2;
                    let over = list.iter().filter(|(_, from, to)| (*from..*to).contains(&place));
                    let mut expected: Vec<_> =
                        over.map(|(owner, ..)| *owner).filter(|o| *o != session).collect();
                    let mut found = Vec::new();
                    tree.others(session, &[key], &mut found);
                    expected.sort();
                    found.sort();
                    assert_eq!(found, expected, "key {key} of {list:?}");
                    assert_eq!(tree.has_other(session, &[key]), !expected.is_empty());
                    hits += expected.len();
                }
            }
            assert!(tree.nodes.len() <= 200, "places are used again");
        }
        assert!(hits > 10_000, "{hits}");
    }

    #[test]
    fn a_tree_of_ranges_that_come_in_order_is_not_deep() {
        const RANGES: u32 = 10_000;
        let mut tree = IntervalTree::default();
        for number in 0..RANGES {
            let key = number.to_be_bytes();
            tree.insert(SessionNo(number), Cut::before(&key), Cut::after(&key));
        }
        let depth = check(&tree, tree.root);
        assert!(depth < 60, "{depth}");
        assert!(!tree.has_other(SessionNo(7), &7u32.to_be_bytes()));
        assert!(tree.has_other(SessionNo(7), &8u32.to_be_bytes()));
    }
}
