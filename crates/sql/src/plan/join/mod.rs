//! The order of joins, and how each is done.
//!
//! Inner joins are ordered greedily: next comes the table that costs least given those already joined. A
//! table that can be reached by an index from what is joined so far becomes the inner side of a nested loop;
//! else, where there is an equality, a hash join. Outer joins stay where they are, unless a condition makes
//! them inner ones.
//!
//! # Each part is planned once
//!
//! A part of the tree is weighed in many places: alone and under what is joined so far, as the first of an
//! inner join and as the next one. If it has an outer join whose right side has one, and so on, the ways to
//! arrive at the innermost multiply. But what comes out depends on three things alone: the part, the
//! conditions that are known of its rows, and which tables that *these conditions* read are in place. So that
//! is what planned parts are remembered by:
//!
//! ```text
//! t0 LEFT JOIN (t1 LEFT JOIN (t2 LEFT JOIN (t3 ...) ON t3.a = t2.a) ON t2.a = t1.a) ON t1.a = t0.a
//!
//!  (t2 ...) as inner side of a loop over t1:   conditions {t2.a = t1.a}, in place {t1}    however t0 is
//!  (t2 ...) alone, to be hashed:               conditions {},            in place {}
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | `path` | how one table is read |
//! | `planned` | conditions, and parts that are planned |

mod path;
mod planned;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use self::planned::{Equality, Planned, Pool, Shape, TableSet, product_of, take_within};
use palisade_expr::Expr;

use super::conditions::rejects_null;
use super::logical::{JoinTree, Leaf};
use super::lower::Planner;
use super::{JoinKind, Operator};
use crate::bind::pace::UNITS_AN_ACCESS;

/// What looking at a condition for a way to read a table counts as, in units of a nanosecond.
const UNITS_A_CONDITION: usize = 512;
/// What weighing a part that is planned counts as, and telling for a condition where it belongs.
const UNITS_A_CANDIDATE: usize = 256;
const UNITS_A_LOOK: usize = 8;

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

/// Plans the joins of one query block.
pub struct JoinPlanner<'p, 'a> {
    /// The statement's planner, for what is planned already, and for statistics.
    pub planner: &'p Planner<'a>,
    /// The joins.
    pub joining: Joining,
}

/// The joins of one query block, but for their tables and conditions.
#[derive(Debug)]
pub struct Joining {
    /// Slots of the block's own tables.
    pub local: Vec<usize>,
    /// Columns read, by slot; `None` is all of them.
    pub used: Vec<(usize, Option<Vec<usize>>)>,
    /// The order that would be welcome.
    pub order: Option<WantedOrder>,
    /// Tables are joined as written.
    pub straight: bool,
}

/// The joins of a query block, planned.
#[derive(Debug)]
pub struct Joined {
    /// What finds the rows.
    pub operator: Operator,
    /// How many they are.
    pub rows: f64,
    /// They come in the wanted order.
    pub ordered: bool,
}

impl JoinPlanner<'_, '_> {
    /// Plans a tree of joins under conditions.
    ///
    /// Once the statement is to end what comes out is nothing: the caller asks
    /// [`checkpoint`](crate::bind::pace::Pace::checkpoint), which fails.
    pub fn plan(&self, tree: &JoinTree, conditions: Vec<Expr>) -> Joined {
        let planning = Planning {
            planner: self,
            conjuncts: Cell::new(0),
            known: RefCell::default(),
            on: RefCell::default(),
        };
        let pool = conditions.into_iter().map(|condition| planning.conjunct(condition)).collect();
        let planned = planning.tree(tree, pool, TableSet::default());
        Joined { operator: planned.operator(), rows: planned.rows, ordered: planned.ordered }
    }
}

/// What a planned part is remembered by: the address of its tree, the numbers of the conditions, and which
/// tables that these read are in place.
type Key = (*const JoinTree, Vec<usize>, TableSet);

/// The planning of one tree of joins.
struct Planning<'p, 'a, 't> {
    planner: &'p JoinPlanner<'p, 'a>,
    /// How many conditions there are.
    conjuncts: Cell<usize>,
    /// The parts that have been planned.
    known: RefCell<HashMap<Key, Planned<'t>>>,
    /// The conditions of each ON, by the address of the first.
    on: RefCell<HashMap<*const Expr, Pool>>,
}

impl<'a, 't> Planning<'_, 'a, 't> {
    /// The planner of the statement.
    fn statement(&self) -> &Planner<'a> {
        self.planner.planner
    }

    fn is_over(&self, units: usize) -> bool {
        self.statement().pace.is_over(units)
    }

    /// The conditions of an ON: the same each time.
    fn on(&self, on: &'t [Expr]) -> Pool {
        let mut known = self.on.borrow_mut();
        let conjuncts = || on.iter().map(|expr| self.conjunct(expr.clone())).collect();
        known.entry(on.as_ptr()).or_insert_with(conjuncts).clone()
    }

    fn tables(&self, tree: &JoinTree) -> TableSet {
        let mut slots = Vec::new();
        tree.slots(&mut slots);
        self.in_slots(&slots)
    }

    /// Plans a tree of joins under conditions; `bound` are the tables whose rows are in place already.
    fn tree(&self, tree: &'t JoinTree, mut pool: Pool, bound: TableSet) -> Planned<'t> {
        let read = pool.iter().fold(TableSet::default(), |read, conjunct| read.with(conjunct.tables));
        let numbers = pool.iter().map(|conjunct| conjunct.number).collect();
        let key: Key = (std::ptr::from_ref(tree), numbers, bound.common(read));
        if let Some(planned) = self.known.borrow().get(&key) {
            return planned.clone();
        }
        if self.is_over(UNITS_AN_ACCESS + UNITS_A_CONDITION * pool.len()) {
            return Planned::nothing();
        }
        let joined = self.joined_inner(tree, &mut pool);
        let planned = match joined.as_slice() {
            [JoinTree::Leaf(Leaf::Table(leaf))] => self.table(leaf, pool, bound),
            [JoinTree::Leaf(Leaf::Virtual(leaf))] => self.virtual_table(leaf, pool, bound),
            [JoinTree::Leaf(leaf)] => self.whole(leaf, pool),
            [JoinTree::Left(left, right, on)] => self.left(left, right, on, pool, bound),
            joined => self.inner_of(joined, pool, bound),
        };
        self.known.borrow_mut().insert(key, planned.clone());
        planned
    }

    /// The parts of a tree between which there are only inner joins, however they are nested, and whose
    /// conditions are put into the pool. An outer join is an inner one where a condition cannot be true
    /// without its right side.
    fn joined_inner(&self, tree: &'t JoinTree, pool: &mut Pool) -> Vec<&'t JoinTree> {
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
            pool.extend(self.on(on));
            joined.splice(at..=at, parts);
            if is_new {
                // It may need what an outer join before it has on its right side.
                at = 0;
            }
            if self.is_over(UNITS_A_CANDIDATE * joined.len()) {
                break;
            }
        }
        joined
    }

    /// Whether one of these conditions cannot be true where `right` has no row.
    fn is_needed(&self, right: &JoinTree, pool: &Pool) -> bool {
        let mut slots = Vec::new();
        right.slots(&mut slots);
        pool.iter().any(|conjunct| rejects_null(&conjunct.expr, &slots))
    }

    fn left(
        &self,
        left: &'t JoinTree,
        right: &'t JoinTree,
        on: &'t [Expr],
        pool: Pool,
        bound: TableSet,
    ) -> Planned<'t> {
        let tables = self.tables(left);
        let mut above = pool;
        let below = take_within(&mut above, tables.with(bound));
        let planned = self.tree(left, below, bound);
        self.attach(planned, tables, right, self.on(on), JoinKind::Left, bound).filtered(above)
    }

    fn inner_of(&self, children: &[&'t JoinTree], mut pool: Pool, bound: TableSet) -> Planned<'t> {
        let mut remaining: Vec<(&JoinTree, TableSet)> =
            children.iter().map(|child| (*child, self.tables(child))).collect();
        let first = self.first_of(&remaining, &pool, bound);
        let (child, mut joined) = remaining.remove(first);
        let own = take_within(&mut pool, joined.with(bound));
        let mut planned = self.tree(child, own, bound);
        while !remaining.is_empty() {
            let next = match self.planner.joining.straight {
                true => 0,
                false => self.next_of(&remaining, &planned, &pool, bound.with(joined)),
            };
            let (child, tables) = remaining.remove(next);
            let given = take_within(&mut pool, tables.with(joined).with(bound));
            planned = self.attach(planned, joined, child, given, JoinKind::Inner, bound);
            joined = joined.with(tables);
        }
        planned.filtered(pool)
    }

    /// Which part comes first: the one with the fewest rows, or the one that gives the wanted order at no
    /// extra cost.
    fn first_of(&self, parts: &[(&'t JoinTree, TableSet)], pool: &Pool, bound: TableSet) -> usize {
        let (mut first, mut best) = (0, f64::INFINITY);
        for (position, (child, tables)) in parts.iter().enumerate() {
            let own = take_within(&mut pool.clone(), tables.with(bound));
            let planned = self.tree(child, own, bound);
            let cost = planned.cost + planned.rows * parts.len() as f64;
            if cost < best {
                (first, best) = (position, cost);
            }
            if self.planner.joining.straight || self.is_over(UNITS_A_CANDIDATE + UNITS_A_LOOK * pool.len()) {
                break;
            }
        }
        first
    }

    /// Which part comes next after what is `planned`; `bound` are its tables and those in place before it.
    fn next_of(
        &self,
        parts: &[(&'t JoinTree, TableSet)],
        planned: &Planned<'t>,
        pool: &Pool,
        bound: TableSet,
    ) -> usize {
        let (mut next, mut best) = (0, f64::INFINITY);
        for (position, (child, tables)) in parts.iter().enumerate() {
            if self.is_over(UNITS_A_CANDIDATE + UNITS_A_LOOK * pool.len()) {
                break;
            }
            let given = take_within(&mut pool.clone(), tables.with(bound));
            let is_connected = given.iter().any(|conjunct| conjunct.tables.is_several());
            let inner = self.tree(child, given, bound);
            let cost = match inner.parameterised {
                true => planned.rows.max(1.0) * inner.cost,
                false => inner.cost.max(1.0) + planned.rows,
            };
            let result = planned.rows.max(1.0) * inner.rows;
            let penalty = if is_connected { 1.0 } else { 100.0 };
            let total = cost + result * penalty;
            if total < best {
                (next, best) = (position, total);
            }
        }
        next
    }

    /// Joins `right` to what is planned already, which has the tables `tables`.
    fn attach(
        &self,
        left: Planned<'t>,
        tables: TableSet,
        right: &'t JoinTree,
        conditions: Pool,
        kind: JoinKind,
        bound: TableSet,
    ) -> Planned<'t> {
        let right_tables = self.tables(right);
        let equality = |conjunct| planned::Conjunct::equality(conjunct, tables, right_tables, bound);
        let keys: Vec<Equality> = conditions.iter().filter_map(equality).collect();
        // As the inner side of a nested loop it sees the left row.
        let nested = self.tree(right, conditions.clone(), bound.with(tables));
        let nested_cost = left.rows.max(1.0) * nested.cost.max(1.0);
        if !keys.is_empty() {
            let mut rest = conditions;
            let own = take_within(&mut rest, right_tables.with(bound));
            let alone = self.tree(right, own, bound);
            let hash_cost = alone.cost + alone.rows + left.rows;
            if hash_cost < nested_cost {
                rest.retain(|conjunct| !keys.iter().any(|key| Rc::ptr_eq(&key.conjunct, conjunct)));
                return Planned {
                    rows: join_rows(&left, alone.rows * 0.1, kind),
                    cost: left.cost + hash_cost,
                    parameterised: left.parameterised || alone.parameterised,
                    ordered: left.ordered,
                    shape: Rc::new(Shape::Hash { left, right: alone, kind, keys, rest }),
                };
            }
        }
        Planned {
            rows: join_rows(&left, nested.rows, kind),
            cost: left.cost + nested_cost,
            parameterised: left.parameterised,
            ordered: left.ordered,
            shape: Rc::new(Shape::Nested { left, right: nested, kind }),
        }
    }
}

fn join_rows(left: &Planned<'_>, each: f64, kind: JoinKind) -> f64 {
    match kind {
        JoinKind::Inner => left.rows * each.max(0.01),
        JoinKind::Left => left.rows * each.max(1.0),
        JoinKind::Semi | JoinKind::Anti => left.rows * 0.5,
    }
}
