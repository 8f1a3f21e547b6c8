//! The order of joins against all orders there are.

use palisade_base::prng::Prng;

use super::order::{Costed, PartSet, cheapest_tree};

/// A tree of joins whose costs are made up.
#[derive(Debug, Clone)]
struct Tree {
    cost: f64,
}

impl Costed for Tree {
    fn cost(&self) -> f64 {
        self.cost
    }
}

/// A graph of parts, with rows and selectivities.
struct Parts {
    rows: Vec<f64>,
    edges: Vec<(usize, usize, f64)>,
}

impl Parts {
    /// A connected graph of random shape.
    fn random(count: usize, prng: &mut Prng) -> Parts {
        let mut between = |from: u64, to: u64| from + prng.next_u64() % (to - from);
        let rows = (0..count).map(|_| between(1, 100_000) as f64).collect();
        let mut edges = Vec::new();
        for part in 1..count {
            edges.push((between(0, part as u64) as usize, part, 1.0 / between(1, 10_000) as f64));
        }
        for _ in 0..between(0, count as u64) {
            let (one, other) = (between(0, count as u64) as usize, between(0, count as u64) as usize);
            if one != other {
                edges.push((one, other, 1.0 / between(1, 10_000) as f64));
            }
        }
        Parts { rows, edges }
    }

    fn near(&self) -> Vec<PartSet> {
        (0..self.rows.len())
            .map(|part| {
                let of = self.edges.iter().filter(|(one, other, _)| *one == part || *other == part);
                of.fold(PartSet::of(part), |set, (one, other, _)| {
                    set.with(PartSet::of(*one)).with(PartSet::of(*other))
                })
            })
            .collect()
    }

    fn rows_of(&self, set: u64) -> f64 {
        let is_in = |part: usize| set & 1 << part != 0;
        let all: f64 =
            self.rows.iter().enumerate().filter(|(part, _)| is_in(*part)).map(|(_, rows)| rows).product();
        let within = self.edges.iter().filter(|(one, other, _)| is_in(*one) && is_in(*other));
        all * within.map(|(_, _, part)| part).product::<f64>()
    }

    /// A hash join that costs more to build than to probe, or for some pairs a look-up of one part.
    fn join(&self, (left, one): (u64, f64), (right, other): (u64, f64)) -> f64 {
        let (left_rows, right_rows) = (self.rows_of(left), self.rows_of(right));
        let rows = self.rows_of(left | right);
        let hashed = one + other + left_rows + 3.0 * right_rows + rows;
        let has_index = right.count_ones() == 1 && right.trailing_zeros() % 2 == 0;
        let looked_up = if has_index { one + 10.0 * left_rows + rows } else { f64::INFINITY };
        hashed.min(looked_up)
    }

    fn is_connected(&self, left: u64, right: u64) -> bool {
        self.edges.iter().any(|(one, other, _)| {
            let ends = [(1u64 << one, 1u64 << other), (1 << other, 1 << one)];
            ends.iter().any(|(from, to)| left & from != 0 && right & to != 0)
        })
    }

    /// The least cost of all trees without cross products, by trying each.
    fn least(&self, set: u64) -> f64 {
        if set.count_ones() == 1 {
            return self.rows[set.trailing_zeros() as usize];
        }
        let mut least = f64::INFINITY;
        let mut side = (set - 1) & set;
        while side > 0 {
            let other = set & !side;
            if self.is_connected(side, other) {
                let (one, two) = (self.least(side), self.least(other));
                least = least.min(self.join((side, one), (other, two)));
            }
            side = (side - 1) & set;
        }
        least
    }
}

#[test]
fn dynamic_programming_finds_what_trying_all_trees_finds() {
    let mut prng = Prng::new(31);
    for round in 0..200 {
        let count = 2 + (round % 6);
        let parts = Parts::random(count, &mut prng);
        let alone = parts.rows.iter().map(|rows| Tree { cost: *rows }).collect();
        let found = cheapest_tree(alone, &parts.near(), &mut |(left, one), (right, other), least| {
            let cost = parts.join((left.bits(), one.cost), (right.bits(), other.cost));
            (cost < least).then_some(Tree { cost })
        });
        let least = parts.least((1 << count) - 1);
        let found = found.expect("the graph is connected").cost;
        assert!((found - least).abs() <= least * 1e-9, "round {round}: {found} is not {least}");
    }
}

#[test]
fn parts_that_are_not_connected_have_no_tree() {
    let alone = vec![Tree { cost: 1.0 }, Tree { cost: 1.0 }];
    let near = [PartSet::of(0), PartSet::of(1)];
    assert!(cheapest_tree(alone, &near, &mut |_, _, _| Some(Tree { cost: 1.0 })).is_none());
}
