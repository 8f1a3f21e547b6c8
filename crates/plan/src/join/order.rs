//! The order of inner joins.
//!
//! The parts of a join are nodes of a graph, and conditions between them its edges. Up to [`MOST_PARTS`]
//! connected parts are ordered by dynamic programming (Selinger et al., 1979; over connected subgraphs,
//! Moerkotte and Neumann, 2006): the cheapest plan of a set of parts is made of the cheapest plans of two
//! sets that it falls into, each of which is connected. So trees may be bushy, and parts between which there
//! is no condition are joined last:
//!
//! ```text
//!   a - b - c     {a} {b} {c}   {a b} {b c}   {a b c} = {a b} + {c}  or  {a} + {b c},  either side first
//! ```
//!
//! How many rows a set gives depends on the set alone, so that the plans of a set can be compared. Two sets
//! are joined by a nested loop, if the right one is one part - it is then read by what the left row gives -,
//! or by a hash table that is built of the right side; sides of an inner join may change places.
//!
//! More parts are ordered greedily, from each of a few that may come first.
//!
//! Where an order is wanted, the part that gives it comes first of all, since both joins keep the order of
//! their left sides.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::planned::{Conjunct, Equality, Planned, Pool, Shape, TableSet, take_within};
use super::recorded::Weighing;
use super::{Hashing, Planning, UNITS_A_CANDIDATE, Want, cost, hash_cost, hash_startup, hashed, nested_cost};
use crate::JoinKind;
use crate::logical::JoinTree;
use palisade_expr::Expr;

/// Parts that are ordered by dynamic programming at most.
const MOST_PARTS: u32 = 10;
/// Parts that a greedy order is begun with.
const FIRST_PARTS: usize = 3;

/// Some of the parts of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct PartSet(u64);

impl PartSet {
    pub(super) fn of(part: usize) -> PartSet {
        PartSet(1 << part)
    }

    pub(super) fn with(self, other: PartSet) -> PartSet {
        PartSet(self.0 | other.0)
    }

    fn without(self, other: PartSet) -> PartSet {
        PartSet(self.0 & !other.0)
    }

    fn is_within(self, other: PartSet) -> bool {
        self.0 & !other.0 == 0
    }

    fn meets(self, other: PartSet) -> bool {
        self.0 & other.0 != 0
    }

    fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// A bit for each part.
    #[cfg(test)]
    pub(super) fn bits(self) -> u64 {
        self.0
    }

    /// The part that it is, if it is one.
    fn sole(self) -> Option<usize> {
        (self.count() == 1).then(|| self.0.trailing_zeros() as usize)
    }

    /// Its parts.
    fn parts(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let part = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(part)
        })
    }
}

/// One of the parts.
pub(super) struct Part<'t> {
    tree: &'t JoinTree,
    pub(super) tables: TableSet,
    /// Conditions on it alone.
    pub(super) own: Pool,
    /// Planned under these.
    pub(super) alone: Planned<'t>,
}

/// What is joined.
struct Graph<'g, 'p, 'a, 't> {
    planning: &'g Planning<'p, 'a, 't>,
    parts: Vec<Part<'t>>,
    /// For each part those that a condition joins it to, and itself.
    near: Vec<PartSet>,
    /// Conditions between parts.
    edges: Vec<(PartSet, Rc<Conjunct>)>,
    /// What the conditions between the same parts let through, the fewest first.
    selectivity: Vec<Together>,
    /// Tables whose rows are in place.
    bound: TableSet,
    /// The part that gives the order that is wanted: it comes first.
    first: Option<PartSet>,
    /// Which plan is looked for.
    want: Want,
    /// For each part those that hints say are joined before it; empty if they say nothing.
    before: Vec<PartSet>,
    /// Parts as inner sides of a nested loop, by which of those near are on its left side.
    inners: RefCell<HashMap<(usize, PartSet), Planned<'t>>>,
}

/// The conditions between the same parts.
struct Together {
    parts: PartSet,
    /// The part of all combinations for which they hold.
    part: f64,
    /// If all of them are equalities of columns: the classes of columns that are equal. They tell nothing
    /// where other conditions say of each class that the parts are equal.
    classes: Vec<usize>,
}

/// For each part those that are joined before it, because it is made of their rows or hints say so, itself and
/// what is beyond aside; nothing if there are none.
fn orders<'t>(planning: &Planning<'_, '_, 't>, parts: &[Part<'t>]) -> Vec<PartSet> {
    let hinted = &planning.planner.joining.hints.before;
    if hinted.is_empty() && planning.laterals.is_empty() {
        return Vec::new();
    }
    let mut needed = vec![PartSet::default(); parts.len()];
    for lateral in &planning.laterals {
        let own = parts.iter().position(|part| lateral.own.is_within(part.tables));
        for (number, part) in parts.iter().enumerate() {
            if let Some(own) = own.filter(|own| *own != number && part.tables.meets(lateral.reads))
                && let Some(before) = needed.get_mut(own)
            {
                *before = before.with(PartSet::of(number));
            }
        }
    }
    let mut before = needed.clone();
    let part_of = |slot: usize| {
        let table = planning.in_slots(&[slot]);
        parts.iter().position(|part| !table.is_empty() && table.is_within(part.tables))
    };
    for (first, second) in hinted.iter().filter(|_| !planning.planner.joining.straight) {
        if let (Some(first), Some(second)) = (part_of(*first), part_of(*second))
            && first != second
            && let Some(before) = before.get_mut(second)
        {
            *before = before.with(PartSet::of(first));
        }
    }
    // Hints give way to what is needed.
    [before, needed].into_iter().find_map(closed).unwrap_or_default()
}

/// The same with what is before those before; `None` if parts are before each other, and nothing if none is
/// before another.
fn closed(mut before: Vec<PartSet>) -> Option<Vec<PartSet>> {
    // What is before a part is before those behind it, too; parts that are before each other have no order.
    for _ in 0..before.len() {
        let next: Vec<PartSet> = before
            .iter()
            .map(|own| {
                own.parts().filter_map(|part| before.get(part)).fold(*own, |all, more| all.with(*more))
            })
            .collect();
        before = next;
    }
    let is_cyclic = before.iter().enumerate().any(|(part, before)| before.meets(PartSet::of(part)));
    let is_empty = before.iter().all(|before| before.count() == 0);
    (!is_cyclic).then(|| if is_empty { Vec::new() } else { before })
}

/// How two sets are joined.
enum Way<'t> {
    /// The right side is read by what the left row gives.
    Nested(Planned<'t>),
    /// It is hashed.
    Hashed,
    /// It is read as it is for each left row.
    Repeated,
}

impl<'t> Planning<'_, '_, 't> {
    /// Plans inner joins of parts under conditions. What a part must match, and conditions that run a
    /// subquery for each row, come before the joins, or after all of them if that is cheaper: they may leave
    /// few rows.
    pub(super) fn inner_of(
        &self,
        children: &[&'t JoinTree],
        pool: Pool,
        bound: TableSet,
        want: Want,
    ) -> Planned<'t> {
        let mut bare = Vec::with_capacity(children.len());
        let mut matches = Vec::new();
        for tree in children {
            bare.push(without_matches(tree, &mut matches));
        }
        let early = self.joined(children, pool.clone(), bound, want);
        let has_expensive = pool.iter().any(|conjunct| conjunct.is_expensive);
        if matches.is_empty() && !has_expensive || self.planner.joining.straight {
            return early;
        }
        let (last, pool): (Pool, Pool) = pool.into_iter().partition(|conjunct| conjunct.is_late);
        let (expensive, pool): (Pool, Pool) = pool.into_iter().partition(|conjunct| conjunct.is_expensive);
        let tables = bare.iter().fold(TableSet::default(), |all, tree| all.with(self.tables(tree)));
        let mut late = self.joined(&bare, pool, bound, want);
        // The innermost comes first, as before the joins.
        while let Some(Match { right, on, kind }) = matches.pop() {
            late = self.attach((late, want), tables, right, self.on(on), kind, bound);
        }
        let late = late.filtered(expensive).filtered(last);
        let is_cheaper = self.weight(&late, want) < self.weight(&early, want);
        let is_better = is_cheaper && (late.ordered || !early.ordered);
        if is_better { late } else { early }
    }

    /// Plans inner joins of parts as they are.
    fn joined(&self, children: &[&'t JoinTree], pool: Pool, bound: TableSet, want: Want) -> Planned<'t> {
        let (late, early): (Pool, Pool) = pool.into_iter().partition(|conjunct| conjunct.is_late);
        let mut pool = early;
        let guards = take_within(&mut pool, bound);
        let mut parts: Vec<Part<'t>> = Vec::with_capacity(children.len());
        for tree in children {
            let tables = self.tables(tree);
            let own = take_within(&mut pool, tables.with(bound));
            let alone = self.tree(tree, own.clone(), bound, want);
            parts.push(Part { tree, tables, own, alone });
        }
        let all = parts.iter().fold(bound, |all, part| all.with(part.tables));
        let between = take_within(&mut pool, all);
        let graph = Graph::new(self, parts, between, (bound, want));
        let planned = match self.planner.joining.straight {
            true => graph.as_written(),
            false => graph.cheapest(),
        };
        match planned {
            Some(planned) => planned.guarded(guards).filtered(pool).filtered(late),
            None => Planned::nothing(),
        }
    }
}

impl<'g, 'p, 'a, 't> Graph<'g, 'p, 'a, 't> {
    fn new(
        planning: &'g Planning<'p, 'a, 't>,
        parts: Vec<Part<'t>>,
        between: Pool,
        (bound, want): (TableSet, Want),
    ) -> Self {
        let numbered = || parts.iter().enumerate();
        let met = |conjunct: &Conjunct| {
            let met = numbered().filter(|(_, part)| part.tables.meets(conjunct.tables));
            met.fold(PartSet::default(), |set, (number, _)| set.with(PartSet::of(number)))
        };
        let edges: Vec<(PartSet, Rc<Conjunct>)> =
            between.into_iter().map(|conjunct| (met(&conjunct), conjunct)).collect();
        let mut near: Vec<PartSet> = (0..parts.len()).map(PartSet::of).collect();
        let mut selectivity: Vec<Together> = Vec::new();
        let classes = planning.equal_columns(edges.iter().map(|(_, conjunct)| conjunct));
        for (set, _) in &edges {
            for (number, near) in near.iter_mut().enumerate() {
                if set.meets(PartSet::of(number)) {
                    *near = near.with(*set);
                }
            }
            if selectivity.iter().all(|known| known.parts != *set) {
                let same = edges.iter().filter(|(other, _)| other == set);
                let same: Pool = same.map(|(_, conjunct)| conjunct.clone()).collect();
                let of_each: Option<Vec<usize>> = same.iter().map(|conjunct| classes.of(conjunct)).collect();
                let is_open = |conjunct: &Rc<Conjunct>| !planning.is_fixed(conjunct, &parts);
                let open: Pool = same.into_iter().filter(is_open).collect();
                let narrowed = planning.narrowed_alike(&open, &parts);
                let part = (planning.selectivity_of(&open) / narrowed).min(1.0);
                selectivity.push(Together { parts: *set, part, classes: of_each.unwrap_or_default() });
            }
        }
        selectivity.sort_by(|one, other| one.part.total_cmp(&other.part));
        let before = orders(planning, &parts);
        if !before.is_empty() {
            // An order that is asked for may join parts that no condition connects.
            let all = (0..parts.len()).fold(PartSet::default(), |all, part| all.with(PartSet::of(part)));
            near.iter_mut().for_each(|near| *near = all);
        }
        let leads = |number: &usize| before.get(*number).is_none_or(|before| before.count() == 0);
        let mut ordered = numbered().filter(|(_, part)| part.alone.ordered).map(|(number, _)| number);
        let first = ordered.find(leads).map(PartSet::of);
        let inners = RefCell::default();
        Graph { planning, parts, near, edges, selectivity, bound, first, want, before, inners }
    }

    /// The joins in the order in which they are written.
    fn as_written(&self) -> Option<Planned<'t>> {
        let mut parts = self.parts.iter().enumerate();
        let (_, first) = parts.next()?;
        let (mut joined, mut set) = (first.alone.clone(), PartSet::of(0));
        for (number, part) in parts {
            let right = PartSet::of(number);
            joined = self.join((set, &joined), (right, &part.alone), f64::INFINITY)?;
            set = set.with(right);
        }
        Some(joined)
    }

    /// The cheapest order. `None` once the statement is to end.
    fn cheapest(&self) -> Option<Planned<'t>> {
        let mut remaining: PartSet =
            (0..self.parts.len()).fold(PartSet::default(), |all, part| all.with(PartSet::of(part)));
        let mut joined: Vec<(PartSet, Planned<'t>)> = Vec::new();
        while let Some(part) = remaining.parts().next() {
            let set = connected(&self.near, PartSet::of(part), remaining);
            remaining = remaining.without(set);
            let planned = match set.count() <= MOST_PARTS {
                true => self.by_subsets(set),
                false => self.greedily(set),
            };
            joined.push((set, planned?));
        }
        // Parts that no condition connects: few rows first.
        joined.sort_by(|(_, one), (_, other)| one.rows.total_cmp(&other.rows));
        let mut joined = joined.into_iter();
        let (mut set, mut planned) = joined.next()?;
        for (other, right) in joined {
            let (left, right) = ((set, &planned), (other, &right));
            let both = [self.join(left, right, f64::INFINITY), self.join(right, left, f64::INFINITY)];
            planned = self.cheaper(both)?;
            set = set.with(other);
        }
        Some(planned)
    }

    fn by_subsets(&self, set: PartSet) -> Option<Planned<'t>> {
        let members: Vec<usize> = set.parts().collect();
        let alone = members.iter().filter_map(|part| self.parts.get(*part)).map(|part| part.alone.clone());
        let near: Vec<PartSet> = members
            .iter()
            .map(|part| {
                let near = self.near.get(*part).copied().unwrap_or_default();
                let local = members.iter().enumerate().filter(|(_, other)| near.meets(PartSet::of(**other)));
                local.fold(PartSet::default(), |set, (number, _)| set.with(PartSet::of(number)))
            })
            .collect();
        let global = |local: PartSet| {
            let parts = local.parts().filter_map(|number| members.get(number));
            parts.fold(PartSet::default(), |set, part| set.with(PartSet::of(*part)))
        };
        let alone = alone.map(|planned| Weighed { weight: self.weight(&planned), planned });
        let best = cheapest_tree(alone.collect(), &near, &mut |(left, one), (right, other), least| {
            if self.planning.is_over(UNITS_A_CANDIDATE) {
                return None;
            }
            let (left, right) = ((global(left), &one.planned), (global(right), &other.planned));
            let planned = self.join(left, right, least)?;
            Some(Weighed { weight: self.weight(&planned), planned })
        });
        best.map(|best| best.planned)
    }

    /// One after the other, next the one that adds least to costs and rows, from each of a few that may come
    /// first.
    fn greedily(&self, set: PartSet) -> Option<Planned<'t>> {
        let mut first: Vec<usize> = match self.first.filter(|first| first.is_within(set)) {
            Some(first) => first.parts().collect(),
            None => set.parts().filter(|part| !self.before(*part).meets(set)).collect(),
        };
        let promise = |part: &usize| {
            let alone = self.parts.get(*part).map(|part| &part.alone);
            alone.map_or(f64::INFINITY, |alone| alone.cost + alone.rows * cost::ROW_BY_ENTRY)
        };
        first.sort_by(|one, other| promise(one).total_cmp(&promise(other)));
        // An outline may begin with any of them.
        let count = if self.planning.outlined.is_some() { first.len() } else { FIRST_PARTS };
        let begun = first.into_iter().take(count);
        self.cheaper(begun.map(|part| self.greedily_from(part, set)))
    }

    fn greedily_from(&self, first: usize, set: PartSet) -> Option<Planned<'t>> {
        let mut joined = PartSet::of(first);
        let mut planned = self.parts.get(first)?.alone.clone();
        while joined != set {
            let mut best: Option<(f64, PartSet, Planned<'t>)> = None;
            for number in set.without(joined).parts() {
                let near = self.near.get(number).copied().unwrap_or_default();
                let is_next = !self.before(number).meets(set.without(joined));
                if !near.meets(joined) || !is_next {
                    continue;
                }
                if self.planning.is_over(UNITS_A_CANDIDATE) {
                    return None;
                }
                let (right, part) = (PartSet::of(number), self.parts.get(number)?);
                let next = self.join((joined, &planned), (right, &part.alone), f64::INFINITY)?;
                let weight = self.weight(&next) + next.rows * cost::ROW_BY_ENTRY;
                if best.as_ref().is_none_or(|(least, ..)| weight < *least) {
                    best = Some((weight, right, next));
                }
            }
            let (_, right, next) = best?;
            (joined, planned) = (joined.with(right), next);
        }
        Some(planned)
    }

    /// The parts that hints say are joined before this one.
    fn before(&self, part: usize) -> PartSet {
        self.before.get(part).copied().unwrap_or_default()
    }

    /// What a plan is compared by.
    fn weight(&self, planned: &Planned<'_>) -> f64 {
        self.planning.weight(planned, self.want)
    }

    /// Of several plans the one that costs least.
    fn cheaper(&self, plans: impl IntoIterator<Item = Option<Planned<'t>>>) -> Option<Planned<'t>> {
        plans.into_iter().flatten().min_by(|one, other| self.weight(one).total_cmp(&self.weight(other)))
    }

    /// Rows of a set of parts.
    fn rows(&self, set: PartSet) -> f64 {
        let rows = || {
            let parts = set.parts().filter_map(|part| self.parts.get(part));
            parts.map(|part| part.alone.rows.max(cost::FEWEST))
        };
        let within = || self.telling(set).map(|part| part.max(f64::MIN_POSITIVE));
        let all: f64 = rows().product();
        let estimate = match all.is_finite() {
            true => all * within().product::<f64>(),
            // Of many tables the product is no number before conditions have made it one.
            false => (rows().map(f64::ln).sum::<f64>() + within().map(f64::ln).sum::<f64>()).exp(),
        };
        estimate.clamp(cost::FEWEST, cost::MOST)
    }

    /// What the conditions within a set let through. Equalities that follow from others are left out: of a
    /// class of equal columns each part is connected once.
    fn telling(&self, set: PartSet) -> impl Iterator<Item = f64> {
        let mut connected: Vec<(usize, PartSet)> = Vec::new();
        self.selectivity.iter().filter(move |together| together.parts.is_within(set)).filter_map(
            move |Together { parts, part, classes }| {
                let is_told = |class: &usize| {
                    connected.iter().any(|(known, among)| known == class && parts.is_within(*among))
                };
                if !classes.is_empty() && classes.iter().all(is_told) {
                    return None;
                }
                for class in classes {
                    let mut among = *parts;
                    connected.retain(|(known, other)| {
                        let meets = known == class && other.meets(among);
                        if meets {
                            among = among.with(*other);
                        }
                        !meets
                    });
                    connected.push((*class, among));
                }
                Some(*part)
            },
        )
    }

    /// Whether the rows of a set depend on nothing but its tables.
    fn is_free(&self, set: PartSet) -> bool {
        let own = self.tables(set);
        let is_own = |conjunct: &Rc<Conjunct>| conjunct.is_free && conjunct.tables.is_within(own);
        let mut within = self.edges.iter().filter(|(edge, _)| edge.is_within(set));
        let mut parts = set.parts().filter_map(|part| self.parts.get(part));
        within.all(|(_, conjunct)| is_own(conjunct))
            && parts.all(|part| part.own.iter().all(is_own) && self.planning.is_free(part.tree, part.tables))
    }

    fn tables(&self, set: PartSet) -> TableSet {
        let parts = set.parts().filter_map(|part| self.parts.get(part));
        parts.fold(TableSet::default(), |tables, part| tables.with(part.tables))
    }

    /// A part as the inner side of a nested loop, whose left side is this.
    fn inner(&self, part: usize, left: PartSet) -> Option<Planned<'t>> {
        let near = self.near.get(part).copied().unwrap_or_default();
        let left = PartSet(left.0 & near.0);
        if let Some(known) = self.inners.borrow().get(&(part, left)) {
            return Some(known.clone());
        }
        let Part { tree, own, .. } = self.parts.get(part)?;
        let set = PartSet::of(part);
        let given = self.edges.iter().filter(|(edge, _)| edge.meets(set) && edge.is_within(left.with(set)));
        let pool: Pool = own.iter().chain(given.map(|(_, conjunct)| conjunct)).cloned().collect();
        let bound = self.bound.with(self.tables(left));
        let planned = self.planning.tree(tree, pool, bound, Want::Cheapest);
        self.inners.borrow_mut().insert((part, left), planned.clone());
        Some(planned)
    }

    /// The cheapest join of two sets, if it costs less than `least`.
    fn join(
        &self,
        (left_set, left): (PartSet, &Planned<'t>),
        (right_set, right): (PartSet, &Planned<'t>),
        least: f64,
    ) -> Option<Planned<'t>> {
        let both = left_set.with(right_set);
        if !self.before.is_empty() && left_set.parts().any(|part| self.before(part).meets(right_set)) {
            return None;
        }
        if self.first.is_some_and(|first| first.is_within(right_set))
            && !self.planning.planner.joining.straight
        {
            return None;
        }
        let is_new =
            |edge: PartSet| edge.is_within(both) && !edge.is_within(left_set) && !edge.is_within(right_set);
        let edges = || self.edges.iter().filter(|(edge, _)| is_new(*edge)).map(|(_, conjunct)| conjunct);
        let (left_tables, right_tables) = (self.tables(left_set), self.tables(right_set));
        let equality = |edge: &Rc<Conjunct>| edge.equality(left_tables, right_tables, self.bound);
        let rows = self.rows(both);
        let inner = right_set.sole().and_then(|part| self.inner(part, left_set));
        let weigh = |startup: f64, cost: f64| self.planning.weighed(startup, cost, self.want);
        let departure = |hashes| self.planning.departure(left_tables, right_tables, hashes);
        let (cost, startup, way) = match inner {
            Some(inner) => {
                let startup = left.startup + inner.startup;
                (nested_cost(left, &inner, right, rows), startup, Way::Nested(inner))
            }
            None => (nested_cost(left, right, right, rows), left.startup + right.startup, Way::Repeated),
        };
        let cost = cost + departure(false);
        let mut best = (weigh(startup, cost), way);
        let may_hash = self.planning.may_hash(left_tables, right_tables);
        let may_hash = may_hash && edges().any(|edge| equality(edge).is_some());
        if may_hash {
            let hashed = weigh(hash_startup(left, right), hash_cost(left, right, rows) + departure(true));
            if hashed < best.0 {
                best = (hashed, Way::Hashed);
            }
        }
        let (weight, way) = best;
        self.planning.record_join(|| Weighing {
            left: left_tables,
            right: right_tables,
            kind: JoinKind::Inner,
            rows,
            nested_cost: cost,
            hash_cost: may_hash.then(|| hash_cost(left, right, rows) + departure(true)),
            hashes: matches!(way, Way::Hashed),
            is_dearer: weight >= least,
        });
        if weight >= least {
            return None;
        }
        let nested = |right: Planned<'t>| Planned {
            rows,
            cost,
            again: cost - left.cost + left.again - right.cost + right.again,
            startup: left.startup + right.startup,
            ordered: left.ordered,
            shape: Rc::new(Shape::Nested { left: left.clone(), right, kind: JoinKind::Inner }),
        };
        Some(match way {
            Way::Nested(inner) => nested(inner),
            Way::Repeated => Planned { rows, ..nested(right.clone()).filtered(edges().cloned().collect()) },
            Way::Hashed => {
                let keys: Vec<Equality> = edges().filter_map(equality).collect();
                let is_key = |edge: &&Rc<Conjunct>| keys.iter().any(|key| Rc::ptr_eq(&key.conjunct, *edge));
                let rest: Pool = edges().filter(|edge| !is_key(edge)).cloned().collect();
                let keeps = keys.iter().all(|key| key.conjunct.is_free) && self.is_free(right_set);
                let departure = departure(true);
                let join = Hashing { kind: JoinKind::Inner, keys, rest, keeps, departure };
                hashed(left.clone(), right.clone(), join, rows)
            }
        })
    }
}

/// What is asked of the rows of a part: that there is a match, or none.
struct Match<'t> {
    right: &'t JoinTree,
    on: &'t [Expr],
    kind: JoinKind,
}

/// A part without what its rows must match, which is added to `matches`, the outermost first.
fn without_matches<'t>(tree: &'t JoinTree, matches: &mut Vec<Match<'t>>) -> &'t JoinTree {
    let mut bare = tree;
    while let JoinTree::Semi { left, right, on, anti, .. } = bare {
        let kind = if *anti { JoinKind::Anti } else { JoinKind::Semi };
        matches.push(Match { right, on, kind });
        bare = left;
    }
    bare
}

/// The parts of `among` that are connected with `set`, itself among them.
fn connected(near: &[PartSet], set: PartSet, among: PartSet) -> PartSet {
    let mut all = set;
    loop {
        let of_each = all.parts().filter_map(|part| near.get(part));
        let next = of_each.fold(all, |next, near| PartSet(next.0 | near.0 & among.0));
        if next == all {
            return all;
        }
        all = next;
    }
}

/// What has a cost.
pub(super) trait Costed: Clone {
    fn cost(&self) -> f64;
}

/// A plan with what it is compared by.
#[derive(Clone)]
struct Weighed<'t> {
    weight: f64,
    planned: Planned<'t>,
}

impl Costed for Weighed<'_> {
    fn cost(&self) -> f64 {
        self.weight
    }
}

/// Joins two sets, if that costs less than what is given.
type Joining<'f, P> = dyn FnMut((PartSet, &P), (PartSet, &P), f64) -> Option<P> + 'f;

/// The cheapest tree of joins of all parts, given each part `alone`, which parts are `near` each other, and
/// what joins two sets. `None` if the parts are not connected, or the two cannot be joined.
pub(super) fn cheapest_tree<P: Costed>(
    alone: Vec<P>,
    near: &[PartSet],
    join: &mut Joining<'_, P>,
) -> Option<P> {
    let all = 1usize << alone.len();
    let mut best: Vec<Option<P>> = vec![None; all];
    for (part, plan) in alone.into_iter().enumerate() {
        *best.get_mut(1 << part)? = Some(plan);
    }
    for set in 1..all {
        let whole = PartSet(set as u64);
        let lowest = PartSet(whole.0 & whole.0.wrapping_neg());
        if whole == lowest || connected(near, lowest, whole) != whole {
            continue;
        }
        let mut cheapest: Option<P> = None;
        // Each way to part it once: one side has the lowest part.
        let mut rest = (set - 1) & set;
        while rest > 0 {
            let side = PartSet(rest as u64);
            let other = whole.without(side);
            let plans = (best.get(rest), best.get(other.0 as usize));
            if let (true, (Some(Some(one)), Some(Some(two)))) = (lowest.is_within(side), plans) {
                let least = cheapest.as_ref().map_or(f64::INFINITY, P::cost);
                cheapest = join((side, one), (other, two), least).or(cheapest);
                let least = cheapest.as_ref().map_or(f64::INFINITY, P::cost);
                cheapest = join((other, two), (side, one), least).or(cheapest);
            }
            rest = (rest - 1) & set;
        }
        *best.get_mut(set)? = cheapest;
    }
    best.pop().flatten()
}
