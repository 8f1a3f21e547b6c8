//! The order of joins, and how each is done.
//!
//! Inner joins are ordered greedily: next comes the table that costs least given those already joined. A table that
//! can be reached by an index from what is joined so far becomes the inner side of a nested loop; else, where there is
//! an equality, a hash join. Outer joins stay where they are, unless a condition makes them inner ones.

use palisade_engine::{ReadMode, Table, TableStatistics};
use palisade_parser::ast::{IndexHint, IndexHintKind};

use super::access::{Access, KeyPart, RangeSpec, index_parts};
use super::conditions::{
    equality, exact, expr_slots, order_of, range_specs, reads_slot, rejects_null, selectivity, spec_exprs,
};
use super::{JoinKind, Operator};
use crate::bind::Binder;
use crate::bind::from::{JoinTree, Leaf, TableLeaf};
use crate::bind::pace::UNITS_AN_ACCESS;
use crate::expr::{Comparison, Domain, Expr, Node};
use palisade_catalog::{Column, Index, SqlType, Value};

/// What looking at a condition, and copying it, counts as, in units of a nanosecond.
const UNITS_A_CONDITION: usize = 512;

/// A condition, and the slots of the query block that it reads.
#[derive(Debug, Clone)]
pub struct Conjunct {
    /// The condition.
    pub expr: Expr,
    /// Slots it reads.
    pub slots: Vec<usize>,
}

/// An order that would be welcome: columns of one slot.
#[derive(Debug, Clone)]
pub struct WantedOrder {
    /// The slot.
    pub slot: usize,
    /// Columns, and whether descending.
    pub keys: Vec<(usize, bool)>,
    /// How many rows are wanted, if known.
    pub limit: Option<f64>,
}

/// A planned part of a join.
#[derive(Debug)]
pub struct Planned {
    /// The operators.
    pub operator: Operator,
    /// Rows it gives each time it is opened.
    pub rows: f64,
    /// What opening and reading it costs, in rows read.
    pub cost: f64,
    /// It reads slots from outside.
    pub parameterised: bool,
    /// It comes in the wanted order.
    pub ordered: bool,
}

/// Plans the joins of one query block.
pub struct JoinPlanner<'p, 'a> {
    /// The binder, for subqueries and statistics.
    pub binder: &'p Binder<'a>,
    /// Slots of the block's own tables.
    pub local: Vec<usize>,
    /// Columns read, by slot; `None` is all of them.
    pub used: Vec<(usize, Option<Vec<usize>>)>,
    /// The order that would be welcome.
    pub order: Option<WantedOrder>,
    /// Tables are joined as written.
    pub straight: bool,
}

impl JoinPlanner<'_, '_> {
    /// A condition with the local slots it reads.
    pub fn conjunct(&self, expr: Expr) -> Conjunct {
        let mut slots = Vec::new();
        expr_slots(self.binder, &expr, &mut slots);
        slots.retain(|slot| self.local.contains(slot));
        Conjunct { expr, slots }
    }

    /// Plans a tree of joins under conditions; `bound` are the slots whose rows are in place already.
    ///
    /// What is below an outer join is planned again for each place that it may have, so that the work may
    /// multiply with each outer join that lies within the right side of another. Once the statement is to end
    /// what comes out is nothing: the caller asks [`checkpoint`](Binder::checkpoint), which fails.
    pub fn tree(&self, tree: &JoinTree, mut pool: Vec<Conjunct>, bound: &[usize]) -> Planned {
        if self.binder.is_over(UNITS_AN_ACCESS) {
            let operator = Operator::Dual;
            return Planned { operator, rows: 0.0, cost: 0.0, parameterised: false, ordered: false };
        }
        let joined = self.joined_inner(tree, &mut pool);
        match joined.as_slice() {
            [JoinTree::Leaf(leaf)] => self.leaf(leaf, pool, bound),
            [JoinTree::Left(left, right, on)] => self.left(left, right, on, pool, bound),
            joined => self.inner_of(joined, pool, bound),
        }
    }

    /// The parts of a tree between which there are only inner joins, however they are nested, and whose
    /// conditions are put into the pool. An outer join is an inner one where a condition cannot be true
    /// without its right side.
    fn joined_inner<'t>(&self, tree: &'t JoinTree, pool: &mut Vec<Conjunct>) -> Vec<&'t JoinTree> {
        let mut joined = vec![tree];
        let mut at = 0;
        while let Some(part) = joined.get(at) {
            let (parts, on): (Vec<&JoinTree>, _) = match part {
                JoinTree::Inner(parts, on) => (parts.iter().collect(), on),
                JoinTree::Left(left, right, on) if self.is_needed(right, pool) => (vec![left, right], on),
                _ => {
                    at += 1;
                    continue;
                }
            };
            let is_new = !on.is_empty();
            pool.extend(on.iter().map(|expr| self.conjunct(expr.clone())));
            joined.splice(at..=at, parts);
            if is_new {
                // It may need what an outer join before it has on its right side.
                at = 0;
            }
        }
        joined
    }

    /// Whether one of these conditions cannot be true where `right` has no row.
    fn is_needed(&self, right: &JoinTree, pool: &[Conjunct]) -> bool {
        let mut slots = Vec::new();
        right.slots(&mut slots);
        pool.iter().any(|conjunct| rejects_null(&conjunct.expr, &slots))
    }

    fn left(
        &self,
        left: &JoinTree,
        right: &JoinTree,
        on: &[Expr],
        pool: Vec<Conjunct>,
        bound: &[usize],
    ) -> Planned {
        let on: Vec<Conjunct> = on.iter().map(|expr| self.conjunct(expr.clone())).collect();
        let mut left_slots = Vec::new();
        left.slots(&mut left_slots);
        let (below, above): (Vec<_>, Vec<_>) =
            pool.into_iter().partition(|conjunct| within(&conjunct.slots, &left_slots, bound));
        let planned = self.tree(left, below, bound);
        let joined = self.attach(planned, &left_slots, right, on, JoinKind::Left, bound);
        filtered(joined, above)
    }

    fn inner_of(&self, children: &[&JoinTree], mut pool: Vec<Conjunct>, bound: &[usize]) -> Planned {
        let mut remaining: Vec<&JoinTree> = children.to_vec();
        // The first: the one with the fewest rows, or the one that gives the wanted order at no extra cost.
        let mut first = 0;
        let mut best = f64::INFINITY;
        for (position, child) in remaining.iter().enumerate() {
            let mut slots = Vec::new();
            child.slots(&mut slots);
            let own = take_within(&mut pool.clone(), &slots, bound);
            let planned = self.tree(child, own, bound);
            let cost = planned.cost + planned.rows * remaining.len() as f64;
            if cost < best {
                (first, best) = (position, cost);
            }
            if self.straight || self.binder.is_over(UNITS_AN_ACCESS) {
                break;
            }
        }
        let child = remaining.remove(first);
        let mut joined_slots = Vec::new();
        child.slots(&mut joined_slots);
        let own = take_within(&mut pool, &joined_slots, bound);
        let mut planned = self.tree(child, own, bound);
        while !remaining.is_empty() {
            let mut next = 0;
            let mut best = f64::INFINITY;
            if !self.straight {
                for (position, child) in remaining.iter().enumerate() {
                    if self.binder.is_over(UNITS_AN_ACCESS + UNITS_A_CONDITION * pool.len()) {
                        break;
                    }
                    let mut slots = Vec::new();
                    child.slots(&mut slots);
                    let all: Vec<usize> = bound.iter().chain(&joined_slots).copied().collect();
                    let given = take_within(&mut pool.clone(), &slots, &all);
                    let connected = given.iter().any(|conjunct| conjunct.slots.len() > 1);
                    let inner = self.tree(child, given, &all);
                    let alone = inner.cost.max(1.0);
                    let cost = if inner.parameterised {
                        planned.rows.max(1.0) * inner.cost
                    } else {
                        alone + planned.rows
                    };
                    let result = planned.rows.max(1.0) * inner.rows;
                    let penalty = if connected { 1.0 } else { 100.0 };
                    let total = cost + result * penalty;
                    if total < best {
                        (next, best) = (position, total);
                    }
                }
            }
            let child = remaining.remove(next);
            let mut slots = Vec::new();
            child.slots(&mut slots);
            let all: Vec<usize> = bound.iter().chain(&joined_slots).copied().collect();
            let given = take_within(&mut pool, &slots, &all);
            planned = self.attach(planned, &joined_slots, child, given, JoinKind::Inner, bound);
            joined_slots.extend(slots);
        }
        filtered(planned, pool)
    }

    /// Joins `right` to what is planned already.
    fn attach(
        &self,
        left: Planned,
        left_slots: &[usize],
        right: &JoinTree,
        conditions: Vec<Conjunct>,
        kind: JoinKind,
        bound: &[usize],
    ) -> Planned {
        let mut right_slots = Vec::new();
        right.slots(&mut right_slots);
        let all: Vec<usize> = bound.iter().chain(left_slots).copied().collect();
        let keys = self.equalities(&conditions, &right_slots, left_slots, bound);
        // As the inner side of a nested loop it sees the left row.
        let nested = self.tree(right, conditions.clone(), &all);
        let nested_cost = left.rows.max(1.0) * nested.cost.max(1.0);
        if !keys.is_empty() {
            let own: Vec<Conjunct> = conditions
                .iter()
                .filter(|conjunct| within(&conjunct.slots, &right_slots, bound))
                .cloned()
                .collect();
            let alone = self.tree(right, own, bound);
            let hash_cost = alone.cost + alone.rows + left.rows;
            if hash_cost < nested_cost {
                let rest: Vec<Expr> = conditions
                    .into_iter()
                    .enumerate()
                    .filter(|(position, conjunct)| {
                        !within(&conjunct.slots, &right_slots, bound)
                            && !keys.iter().any(|key| key.condition == *position)
                    })
                    .map(|(_, conjunct)| conjunct.expr)
                    .collect();
                let rows = join_rows(&left, alone.rows * 0.1, kind);
                let mut kept = Vec::new();
                alone.operator.slots(&mut kept);
                return Planned {
                    rows,
                    cost: left.cost + hash_cost,
                    parameterised: left.parameterised || alone.parameterised,
                    ordered: left.ordered,
                    operator: Operator::HashJoin {
                        left: Box::new(left.operator),
                        right: Box::new(alone.operator),
                        kind,
                        keys: keys.into_iter().map(|key| (key.left, key.right, key.domain)).collect(),
                        condition: Expr::all_of(rest),
                        right_slots: kept,
                    },
                };
            }
        }
        Planned {
            rows: join_rows(&left, nested.rows, kind),
            cost: left.cost + nested_cost,
            parameterised: left.parameterised,
            ordered: left.ordered,
            operator: Operator::NestedLoop {
                left: Box::new(left.operator),
                right: Box::new(nested.operator),
                kind,
                condition: None,
            },
        }
    }

    /// The equalities between the two sides.
    fn equalities(
        &self,
        conditions: &[Conjunct],
        right_slots: &[usize],
        left_slots: &[usize],
        bound: &[usize],
    ) -> Vec<Equality> {
        let mut keys = Vec::new();
        for (condition, conjunct) in conditions.iter().enumerate() {
            let Node::Compare { comparison: Comparison::Equal, domain, left, right } = &conjunct.expr.node
            else {
                continue;
            };
            let (l, r) = (self.conjunct((**left).clone()), self.conjunct((**right).clone()));
            let is_right = |side: &Conjunct| !side.slots.is_empty() && within(&side.slots, right_slots, &[]);
            let is_left = |side: &Conjunct| !side.slots.is_empty() && within(&side.slots, left_slots, bound);
            if is_left(&l) && is_right(&r) {
                keys.push(Equality { condition, left: l.expr, right: r.expr, domain: *domain });
            } else if is_left(&r) && is_right(&l) {
                keys.push(Equality { condition, left: r.expr, right: l.expr, domain: *domain });
            }
        }
        keys
    }

    fn leaf(&self, leaf: &Leaf, pool: Vec<Conjunct>, bound: &[usize]) -> Planned {
        match leaf {
            Leaf::Table(leaf) => self.table(leaf, pool, bound),
            Leaf::Virtual { slot, schema, name, alias } => {
                let filter = Expr::all_of(pool.into_iter().map(|conjunct| conjunct.expr).collect());
                Planned {
                    operator: Operator::Virtual {
                        slot: *slot,
                        schema: schema.clone(),
                        name: name.clone(),
                        alias: alias.clone(),
                        filter,
                    },
                    rows: 100.0,
                    cost: 100.0,
                    parameterised: false,
                    ordered: false,
                }
            }
            Leaf::Recursive { slot, recursion, alias } => Planned {
                operator: Operator::Recursive {
                    slot: *slot,
                    recursion: recursion.clone(),
                    filter: Expr::all_of(pool.into_iter().map(|conjunct| conjunct.expr).collect()),
                    alias: alias.clone(),
                },
                rows: 100.0,
                cost: 100.0,
                parameterised: false,
                ordered: false,
            },
            Leaf::Working { slot, table, alias } => Planned {
                operator: Operator::Working {
                    slot: *slot,
                    table: *table,
                    filter: Expr::all_of(pool.into_iter().map(|conjunct| conjunct.expr).collect()),
                    alias: alias.clone(),
                },
                rows: 10.0,
                cost: 10.0,
                parameterised: false,
                ordered: false,
            },
            Leaf::Derived { slot, query, alias } => {
                let query = query.clone();
                let filter = Expr::all_of(pool.into_iter().map(|conjunct| conjunct.expr).collect());
                let rows = query.rows.max(1.0);
                Planned {
                    operator: Operator::Derived { slot: *slot, query, filter, alias: alias.clone() },
                    rows,
                    cost: rows,
                    parameterised: false,
                    ordered: false,
                }
            }
        }
    }

    fn table(&self, leaf: &TableLeaf, pool: Vec<Conjunct>, bound: &[usize]) -> Planned {
        let TableLeaf { slot, table, alias, hints, mode } = leaf;
        let (slot, mode) = (*slot, *mode);
        let reading = Reading { slot, table, statistics: &table.statistics(), pool: &pool, bound };
        let used = self.used.iter().find(|(known, _)| *known == slot).map(|(_, columns)| columns);
        let wanted = self.order.as_ref().filter(|order| order.slot == slot);
        let forced = hints.iter().any(|hint| hint.kind != IndexHintKind::Ignore && !hint.indexes.is_empty());
        let mut best: Option<(f64, Candidate)> = None;
        for (number, index) in table.indexes.iter().enumerate() {
            // The rows themselves can always be read, whatever the dictionary says of the index that they are
            // kept by.
            if number != 0 && (index.invisible || !allowed(hints, &index.name)) {
                continue;
            }
            let mut candidate = self.candidate(&reading, number, index);
            let whole_row = mode != ReadMode::Snapshot;
            candidate.access.covering = number > 0
                && !whole_row
                && match used {
                    Some(Some(columns)) => table.key_codec(number).covers(columns.iter().copied()),
                    Some(None) => false,
                    None => true,
                };
            let narrowed = !candidate.access.equals.is_empty() || !candidate.access.alternatives.is_empty();
            let ordered = wanted.and_then(|order| order_of(table, &candidate.access, &order.keys));
            let mut rows = candidate.rows;
            if let Some(backward) = ordered {
                candidate.ordered = true;
                candidate.access.backward = backward;
            }
            if !narrowed && number > 0 && !candidate.access.covering && !candidate.ordered {
                continue;
            }
            let residual = candidate.residual(&pool);
            if let (Some(limit), true, true) =
                (wanted.and_then(|order| order.limit), candidate.ordered, residual == 0)
            {
                rows = rows.min(limit);
            }
            let per_row = if number == 0 {
                1.0
            } else if candidate.access.covering {
                0.6
            } else {
                3.0
            };
            let mut cost = 1.0 + rows * per_row + if candidate.access.unique { 0.0 } else { 1.0 };
            if wanted.is_some() && !candidate.ordered {
                cost += candidate.rows * (1.0 + candidate.rows.max(2.0).log2() * 0.05);
            }
            if forced && (!narrowed && number == 0 || !allowed(hints, &index.name)) {
                cost += 1e12;
            }
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, candidate));
            }
        }
        #[expect(clippy::expect_used, reason = "a table has a clustered index, and that is never left out")]
        let (cost, candidate) = best.expect("the clustered index can always be read");
        let Candidate { access, taken, rows, ordered, parameterised } = candidate;
        let rest: Vec<Conjunct> = pool
            .into_iter()
            .enumerate()
            .filter(|(position, _)| !taken.contains(position))
            .map(|(_, c)| c)
            .collect();
        let selectivity: f64 = rest.iter().map(|conjunct| selectivity(&conjunct.expr)).product();
        let filter_parameterised = rest.iter().any(|conjunct| conjunct.slots.iter().any(|s| *s != slot));
        let filter = Expr::all_of(rest.into_iter().map(|conjunct| conjunct.expr).collect());
        let rows = (rows * selectivity).max(if access.unique { rows } else { 0.01 });
        Planned {
            operator: Operator::Scan {
                slot,
                table: table.clone(),
                alias: alias.clone(),
                access,
                filter,
                mode,
                rows,
            },
            rows,
            cost,
            parameterised: parameterised || filter_parameterised,
            ordered,
        }
    }

    /// How the index `number` would serve.
    fn candidate(&self, reading: &Reading<'_>, number: usize, index: &Index) -> Candidate {
        let Reading { slot, table, statistics, pool, bound } = *reading;
        // Plans outlive the moment they are made: a table that is small now is planned as one that may grow.
        let total = (statistics.rows as f64).max(1000.0);
        let mut access = Access { index: number, ..Access::default() };
        let mut taken = Vec::new();
        let mut parameterised = false;
        let usable = |conjunct: &Conjunct| conjunct.slots.iter().all(|s| *s == slot || bound.contains(s));
        let own = index.parts.len();
        for (position, part) in index_parts(table, number).enumerate() {
            let (column, prefix) = (usize::from(part.column), part.prefix.is_some());
            let Some(Column { sql_type, .. }) = table.columns.get(column) else { break };
            // The one row is found: what else there is about it stays in the filter.
            if position == own && finds_one(index, &access) {
                break;
            }
            let found = pool.iter().enumerate().filter(|(_, conjunct)| usable(conjunct)).find_map(
                |(at, conjunct)| {
                    equality(&conjunct.expr, slot, column, sql_type)
                        .filter(|(value, _)| !reads_slot(self.binder, value, slot))
                        .map(|(value, null_safe)| (at, conjunct, value, null_safe))
                },
            );
            let Some((at, conjunct, value, null_safe)) = found.filter(|_| !prefix) else {
                if position >= own && number > 0 && access.equals.is_empty() {
                    break;
                }
                if !prefix {
                    self.ranges(reading, (column, sql_type), &mut access, &mut taken);
                }
                break;
            };
            parameterised |= conjunct.slots.iter().any(|s| *s != slot);
            if exact(sql_type, &value) {
                taken.push(at);
            }
            access.equals.push(KeyPart { value, null_safe });
        }
        let equals = access.equals.len();
        access.unique = finds_one(index, &access);
        let per_key = |parts: usize| -> f64 {
            if parts == 0 {
                return total;
            }
            let known =
                statistics.rows_per_key.get(number).and_then(|keys| keys.get(parts.min(own) - 1)).copied();
            let guess =
                if index.unique && parts >= own { 1.0 } else { (total / 10f64.powi(parts as i32)).max(1.0) };
            known.filter(|rows| *rows > 0.0).unwrap_or(guess).min(total)
        };
        let rows = if access.unique {
            1.0
        } else if access.alternatives.is_empty() {
            per_key(equals)
        } else {
            let base = per_key(equals);
            let each = per_key(equals + 1);
            access
                .alternatives
                .iter()
                .map(|spec| match spec {
                    RangeSpec::Point(_) | RangeSpec::Null => each,
                    RangeSpec::Like(_) => base * 0.1,
                    RangeSpec::Between { lower, upper } => {
                        let guess = if lower.is_some() && upper.is_some() { base * 0.1 } else { base * 0.33 };
                        match (self.known(lower), self.known(upper)) {
                            (Some(low), Some(high)) => guess.min(((high - low + 1.0) * each).max(1.0)),
                            _ => guess,
                        }
                    }
                })
                .sum::<f64>()
                .min(base)
        };
        Candidate { access, taken, rows, ordered: false, parameterised }
    }

    /// Whether a LIKE pattern has no literal prefix, as far as its parameter shows now.
    fn starts_wild(&self, spec: &RangeSpec) -> bool {
        let RangeSpec::Like(Expr { node: Node::Parameter(number), .. }) = spec else { return false };
        match self.binder.parameters.get(*number) {
            Some(Value::Bytes(text)) => matches!(text.first(), None | Some(b'%' | b'_')),
            _ => true,
        }
    }

    fn known(&self, end: &Option<(Expr, bool)>) -> Option<f64> {
        let (expr, _) = end.as_ref()?;
        let value = match &expr.node {
            Node::Literal(value) => value,
            Node::Parameter(number) => self.binder.parameters.get(*number)?,
            _ => return None,
        };
        match value {
            Value::Int(value) => Some(*value as f64),
            Value::UInt(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// Adds the conditions on `column` that make ranges.
    fn ranges(
        &self,
        reading: &Reading<'_>,
        (column, ty): (usize, &SqlType),
        access: &mut Access,
        taken: &mut Vec<usize>,
    ) {
        let Reading { slot, pool, bound, .. } = *reading;
        let mut lower: Option<(Expr, bool)> = None;
        let mut upper: Option<(Expr, bool)> = None;
        for (at, conjunct) in pool.iter().enumerate() {
            if conjunct.slots.iter().any(|s| *s != slot && !bound.contains(s)) {
                continue;
            }
            let Some(specs) = range_specs(&conjunct.expr, slot, column, ty) else { continue };
            if specs.iter().any(|spec| self.starts_wild(spec)) {
                continue;
            }
            let mut dependent = false;
            for spec in &specs {
                spec_exprs(spec, &mut |expr| dependent |= reads_slot(self.binder, expr, slot));
            }
            if dependent {
                continue;
            }
            match specs.as_slice() {
                [RangeSpec::Between { lower: l, upper: u }] => {
                    let fits = (l.is_none() || lower.is_none()) && (u.is_none() || upper.is_none());
                    if fits {
                        let droppable = l.iter().chain(u).all(|(expr, _)| exact(ty, expr));
                        lower = lower.or_else(|| l.clone());
                        upper = upper.or_else(|| u.clone());
                        if droppable {
                            taken.push(at);
                        }
                    }
                }
                _ if access.alternatives.is_empty() => {
                    let points =
                        specs.iter().all(|spec| matches!(spec, RangeSpec::Point(expr) if exact(ty, expr)));
                    let listed = matches!(conjunct.expr.node, Node::In { .. });
                    access.alternatives = specs;
                    if points && listed {
                        taken.push(at);
                    }
                    // A list of values is better than any range; what else there is stays in the filter.
                    if lower.is_none() && upper.is_none() {
                        return;
                    }
                }
                _ => {}
            }
        }
        if lower.is_some() || upper.is_some() {
            if access.alternatives.is_empty() {
                access.alternatives = vec![RangeSpec::Between { lower, upper }];
            } else {
                // Both a list and a range: the list is read, so the range's conditions stay.
                let is_range = |at: &usize| {
                    matches!(
                        pool.get(*at).map(|conjunct| &conjunct.expr.node),
                        Some(
                            Node::Between { .. }
                                | Node::Compare {
                                    comparison: Comparison::Less
                                        | Comparison::LessEqual
                                        | Comparison::Greater
                                        | Comparison::GreaterEqual,
                                    ..
                                }
                        )
                    )
                };
                taken.retain(|at| !is_range(at));
            }
        }
    }
}

/// Whether all parts of a unique index are given, none of which may be NULL.
fn finds_one(index: &palisade_catalog::Index, access: &Access) -> bool {
    index.unique
        && access.equals.len() == index.parts.len()
        && access.equals.iter().all(|part| !part.null_safe)
}

/// An equality between the two sides of a join.
struct Equality {
    /// Its position among the conditions.
    condition: usize,
    left: Expr,
    right: Expr,
    domain: Domain,
}

/// A table whose access paths are weighed.
#[derive(Clone, Copy)]
struct Reading<'r> {
    slot: usize,
    table: &'r Table,
    statistics: &'r TableStatistics,
    /// What is known of its rows.
    pool: &'r [Conjunct],
    /// Slots that are filled when it is read.
    bound: &'r [usize],
}

/// An access path.
struct Candidate {
    access: Access,
    /// Conditions that the access decides alone.
    taken: Vec<usize>,
    rows: f64,
    ordered: bool,
    parameterised: bool,
}

impl Candidate {
    fn residual(&self, pool: &[Conjunct]) -> usize {
        pool.len() - self.taken.len()
    }
}

fn allowed(hints: &[IndexHint], name: &str) -> bool {
    let names = |hint: &IndexHint| hint.indexes.iter().any(|index| index.eq_ignore_ascii_case(name));
    let mut listed = hints.iter().filter(|hint| hint.kind != IndexHintKind::Ignore).peekable();
    if listed.peek().is_some() && !listed.any(names) {
        return false;
    }
    !hints.iter().any(|hint| hint.kind == IndexHintKind::Ignore && names(hint))
}

fn join_rows(left: &Planned, each: f64, kind: JoinKind) -> f64 {
    match kind {
        JoinKind::Inner => left.rows * each.max(0.01),
        JoinKind::Left => left.rows * each.max(1.0),
        JoinKind::Semi | JoinKind::Anti => left.rows * 0.5,
    }
}

fn filtered(planned: Planned, conditions: Vec<Conjunct>) -> Planned {
    match Expr::all_of(conditions.into_iter().map(|conjunct| conjunct.expr).collect()) {
        None => planned,
        Some(condition) => Planned {
            rows: planned.rows * selectivity(&condition),
            operator: Operator::Filter { input: Box::new(planned.operator), condition },
            ..planned
        },
    }
}

fn within(slots: &[usize], own: &[usize], bound: &[usize]) -> bool {
    slots.iter().all(|slot| own.contains(slot) || bound.contains(slot))
}

/// Takes the conditions out of the pool that can be decided once `own` and `bound` are in place.
fn take_within(pool: &mut Vec<Conjunct>, own: &[usize], bound: &[usize]) -> Vec<Conjunct> {
    let (taken, kept) =
        std::mem::take(pool).into_iter().partition(|conjunct| within(&conjunct.slots, own, bound));
    *pool = kept;
    taken
}
