//! The order of joins, and how each is done.
//!
//! The parts between which there are inner joins are ordered by dynamic programming over their subsets, or
//! greedily if they are many (`order`). A part that can be reached by an index from what is joined so far
//! becomes the inner side of a nested loop; else, where there is an equality, one of two sides is hashed.
//! Outer joins, semi-joins and anti-joins stay where they are.
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
//! | `equal` | equalities that tell nothing new |
//! | `estimate` | how many rows there are |
//! | `intersection` | AND over different indexes |
//! | `order` | the order of inner joins |
//! | `path` | how one table is read |
//! | `planned` | conditions, and parts that are planned |
//! | `recorded` | what is told of all that, if the session asks |
//! | `skip` | ranges behind parts of an index of which nothing is known |
//! | `spread` | for which part of a table's rows a condition holds |
//! | `union` | OR over different indexes |

mod equal;
mod estimate;
mod intersection;
mod order;
mod path;
mod planned;
mod recorded;
mod skip;
mod spread;
#[cfg(test)]
mod tests;
mod union;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use self::estimate::{Looks, Sizes};
use self::planned::{Equality, Planned, Pool, Shape, TableSet, take_within};
use self::recorded::Weighing;
use palisade_expr::Expr;

use super::cost;
use super::grouped::WantedGroups;
use super::hints::BlockHints;
use super::logical::{JoinTree, Leaf};
use super::lower::Planner;
use super::{JoinKind, Operator};
use crate::pace::UNITS_AN_ACCESS;

/// What looking at a condition for a way to read a table counts as, in units of a nanosecond.
const UNITS_A_CONDITION: usize = 512;
/// What weighing a join of two planned parts counts as.
const UNITS_A_CANDIDATE: usize = 256;

/// An order that would be welcome: columns of one slot.
#[derive(Debug, Clone)]
pub struct WantedOrder {
    /// The slot.
    pub slot: usize,
    /// Columns, and whether descending.
    pub keys: Vec<(usize, bool)>,
    /// How many rows are wanted, if known; of groups, how many groups.
    pub limit: Option<f64>,
    /// The rows are to come in groups; the keys are then some of the columns that make the groups.
    pub groups: Option<WantedGroups>,
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
    /// How many rows are wanted in whatever order, if known.
    pub limit: Option<f64>,
    /// What the rows are grouped by, if that is columns; none for one group of all.
    pub group: Option<Vec<(usize, usize)>>,
    /// Tables are joined as written.
    pub straight: bool,
    /// What hints say.
    pub hints: BlockHints,
}

/// The joins of a query block, planned.
#[derive(Debug)]
pub struct Joined {
    /// What finds the rows.
    pub operator: Operator,
    /// How many they are.
    pub rows: f64,
    /// What finding them [costs](crate::cost).
    pub cost: f64,
    /// They come in the wanted order.
    pub ordered: bool,
    /// How many groups they make, if that is known.
    pub groups: Option<f64>,
}

impl JoinPlanner<'_, '_> {
    /// Plans a tree of joins under conditions.
    ///
    /// Once the statement is to end what comes out is nothing: the caller asks
    /// [`checkpoint`](crate::pace::Pace::checkpoint), which fails.
    pub fn plan(&self, tree: &JoinTree, conditions: Vec<Expr>) -> Joined {
        let mut planning = Planning {
            planner: self,
            conjuncts: Cell::new(0),
            known: RefCell::default(),
            on: RefCell::default(),
            sizes: Sizes::of(tree, self.joining.group.is_some()),
            looks: Looks::default(),
            part: Cell::new(1.0),
            outlined: None,
            laterals: Vec::new(),
        };
        planning.laterals = planning.laterals_of(tree);
        planning.outlined = planning.outlined_joins();
        planning.record_begin(tree);
        let pool = conditions.into_iter().map(|condition| planning.conjunct(condition)).collect();
        let planned = planning.whole(tree, pool);
        planning.record_end(&planned);
        let groups = self.joining.group.as_deref().map(|columns| planning.groups(columns, planned.rows));
        let operator = match self.planner.notes {
            true => planned.noted_operator(),
            false => planned.operator(),
        };
        Joined { operator, rows: planned.rows, cost: planned.cost, ordered: planned.ordered, groups }
    }
}

/// Which plan of a part is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Want {
    /// The cheapest.
    Cheapest,
    /// The cheapest one whose rows come in the order that would be welcome, as far as they are wanted; the
    /// cheapest of all if there is no such plan.
    Ordered,
    /// The one whose first rows cost least.
    Early,
}

/// What a planned part is remembered by: the address of its tree, the numbers of the conditions, which
/// tables that these read are in place, and which plan it is.
type Key = (*const JoinTree, Vec<usize>, TableSet, Want);

/// An outer join, a semi-join or an anti-join.
struct Outer<'t> {
    left: &'t JoinTree,
    right: &'t JoinTree,
    on: &'t [Expr],
    kind: JoinKind,
}

/// The planning of one tree of joins.
struct Planning<'p, 'a, 't> {
    planner: &'p JoinPlanner<'p, 'a>,
    /// How many conditions there are.
    conjuncts: Cell<usize>,
    /// The parts that have been planned.
    known: RefCell<HashMap<Key, Planned<'t>>>,
    /// The conditions of each ON, by the address of the first.
    on: RefCell<HashMap<*const Expr, Pool>>,
    /// Sizes of the tables.
    sizes: Sizes,
    looks: Looks,
    /// Which part of the rows is wanted, where not all are.
    part: Cell<f64>,
    /// The joins of the block in the outline that the planner is held to, if there is one.
    outlined: Option<Vec<OutlinedJoin>>,
    /// Tables that are made anew for rows of others, and these.
    laterals: Vec<Lateral>,
}

/// A table that is made of rows of other tables of the block: LATERAL.
struct Lateral {
    own: TableSet,
    reads: TableSet,
}

/// A join of an outline.
struct OutlinedJoin {
    left: TableSet,
    right: TableSet,
    hashes: bool,
}

impl<'a, 't> Planning<'_, 'a, 't> {
    /// The planner of the statement.
    fn statement(&self) -> &Planner<'a> {
        self.planner.planner
    }

    /// The joins of the block in the outline that the planner is held to.
    fn outlined_joins(&self) -> Option<Vec<OutlinedJoin>> {
        let outline = self.statement().outline.as_ref()?;
        let joins = outline.joins().map(|join| OutlinedJoin {
            left: self.in_slots(&join.left),
            right: self.in_slots(&join.right),
            hashes: join.hashes,
        });
        Some(joins.filter(|join| !join.left.is_empty() && !join.right.is_empty()).collect())
    }

    /// The tables of a tree that are made of rows of others.
    fn laterals_of(&self, tree: &JoinTree) -> Vec<Lateral> {
        let mut laterals = Vec::new();
        tree.leaves(&mut |leaf| {
            let slot = leaf.slot();
            if let Some(table) = self.statement().table(slot) {
                let reads = self.in_slots(table.outer_slots());
                if !reads.is_empty() {
                    laterals.push(Lateral { own: self.in_slots(&[slot]), reads });
                }
            }
        });
        laterals
    }

    /// What a join costs in addition that an outline does not have.
    fn departure(&self, left: TableSet, right: TableSet, hashes: bool) -> f64 {
        let is_same = |join: &OutlinedJoin| join.left == left && join.right == right && join.hashes == hashes;
        match &self.outlined {
            Some(joins) if !joins.iter().any(is_same) => cost::EXCLUDED,
            _ => 0.0,
        }
    }

    fn is_over(&self, units: usize) -> bool {
        let pace = &self.statement().pace;
        pace.is_over(units) || pace.pass().is_err()
    }

    /// The conditions of an ON: the same each time.
    fn on(&self, on: &'t [Expr]) -> Pool {
        let mut known = self.on.borrow_mut();
        let conjuncts = || on.iter().map(|expr| self.conjunct(expr.clone())).collect();
        known.entry(on.as_ptr()).or_insert_with(conjuncts).clone()
    }

    /// Whether the rows of a tree depend on nothing but its tables, which are `own`: they are the same each
    /// time it is read.
    fn is_free(&self, tree: &'t JoinTree, own: TableSet) -> bool {
        let is_own = |on: &'t [Expr]| {
            self.on(on).iter().all(|conjunct| conjunct.is_free && conjunct.tables.is_within(own))
        };
        match tree {
            JoinTree::Leaf(Leaf::Table(_) | Leaf::Virtual(_)) => true,
            JoinTree::Leaf(Leaf::Derived { slot, .. } | Leaf::Recursive { slot, .. }) => {
                self.statement().table(*slot).is_some_and(|table| table.outer_slots().is_empty())
            }
            JoinTree::Leaf(Leaf::Working { .. }) => false,
            JoinTree::Inner(parts, on) => is_own(on) && parts.iter().all(|part| self.is_free(part, own)),
            JoinTree::Left(left, right, on) | JoinTree::Semi { left, right, on, .. } => {
                is_own(on) && self.is_free(left, own) && self.is_free(right, own)
            }
        }
    }

    fn tables(&self, tree: &JoinTree) -> TableSet {
        let mut slots = Vec::new();
        tree.slots(&mut slots);
        self.in_slots(&slots)
    }

    /// Whether the block reads one table.
    fn is_single(&self) -> bool {
        self.planner.joining.local.len() == 1
    }

    /// Plans the whole tree: by the order that would be welcome, if sorting costs more, and so that the first
    /// rows come early, if no more than these are wanted.
    fn whole(&self, tree: &'t JoinTree, pool: Pool) -> Planned<'t> {
        let nothing = TableSet::default();
        let Joining { order, limit, .. } = &self.planner.joining;
        if self.is_single() {
            let want = if order.is_some() { Want::Ordered } else { Want::Cheapest };
            return self.tree(tree, pool, nothing, want);
        }
        let cheapest = self.tree(tree, pool.clone(), nothing, Want::Cheapest);
        let planned = match (order, limit) {
            (Some(order), _) => self.whole_in_order(tree, pool, order, cheapest),
            (None, Some(limit)) if limit * cost::LATE_MATCHES < cheapest.rows => {
                self.part.set(limit * cost::LATE_MATCHES / cheapest.rows);
                let early = self.tree(tree, pool, nothing, Want::Early);
                let is_better = self.weight(&early, Want::Early) < self.weight(&cheapest, Want::Early);
                if is_better { early } else { cheapest }
            }
            (None, _) => cheapest,
        };
        self.premises_of_joins(&planned);
        planned
    }

    /// The better one of the cheapest plan, whose rows are sorted or grouped, and of one whose rows come in
    /// the wanted order or in groups.
    fn whole_in_order(
        &self,
        tree: &'t JoinTree,
        pool: Pool,
        order: &WantedOrder,
        cheapest: Planned<'t>,
    ) -> Planned<'t> {
        let rows = cheapest.rows.max(cost::FEWEST);
        let (arranged, wanted, of_row) = match &order.groups {
            None => (cost::sorting(rows, order.limit), order.limit, 0.0),
            Some(groups) => {
                let each = rows / self.values_of(&(order.slot, groups.columns.clone())).max(1.0);
                let wanted = order.limit.map(|limit| limit * each.max(1.0));
                (rows * cost::HASHED_GROUP, wanted, cost::GROUPED_ROW)
            }
        };
        self.part.set(wanted.map_or(1.0, |wanted| wanted * cost::LATE_MATCHES / rows).min(1.0));
        let ordered = self.tree(tree, pool, TableSet::default(), Want::Ordered);
        let in_order = self.weight(&ordered, Want::Ordered) + rows * of_row * self.part.get();
        if ordered.ordered && in_order < cheapest.cost + arranged { ordered } else { cheapest }
    }

    /// What a plan costs as far as its rows are read: where only the first rows are wanted, what is done
    /// before the first row counts whole, and the rest in part.
    fn weight(&self, planned: &Planned<'_>, want: Want) -> f64 {
        self.weighed(planned.startup, planned.cost, want)
    }

    fn weighed(&self, startup: f64, cost: f64, want: Want) -> f64 {
        match want {
            Want::Cheapest => cost,
            Want::Ordered | Want::Early => {
                let startup = startup.min(cost);
                startup + (cost - startup) * self.part.get()
            }
        }
    }

    /// Plans a tree of joins under conditions; `bound` are the tables whose rows are in place already.
    fn tree(&self, tree: &'t JoinTree, mut pool: Pool, bound: TableSet, want: Want) -> Planned<'t> {
        let read = pool.iter().fold(TableSet::default(), |read, conjunct| read.with(conjunct.tables));
        let numbers = pool.iter().map(|conjunct| conjunct.number).collect();
        let key: Key = (std::ptr::from_ref(tree), numbers, bound.common(read), want);
        if let Some(planned) = self.known.borrow().get(&key) {
            return planned.clone();
        }
        if self.is_over(UNITS_AN_ACCESS + UNITS_A_CONDITION * pool.len()) {
            return Planned::nothing();
        }
        let joined = self.joined_inner(tree, &mut pool);
        let planned = match joined.as_slice() {
            [JoinTree::Leaf(Leaf::Table(leaf))] => self.table(leaf, pool, bound, want),
            [JoinTree::Leaf(Leaf::Virtual(leaf))] => self.virtual_table(leaf, pool),
            [JoinTree::Leaf(leaf)] => self.read_whole(leaf, pool),
            [JoinTree::Left(left, right, on)] => {
                self.outer(Outer { left, right, on, kind: JoinKind::Left }, pool, (bound, want))
            }
            [JoinTree::Semi { left, right, on, anti, .. }] => {
                let kind = if *anti { JoinKind::Anti } else { JoinKind::Semi };
                self.outer(Outer { left, right, on, kind }, pool, (bound, want))
            }
            joined => self.inner_of(joined, pool, bound, want),
        };
        self.known.borrow_mut().insert(key, planned.clone());
        planned
    }

    /// The parts of a tree between which there are only inner joins, however they are nested, and whose
    /// conditions are put into the pool.
    fn joined_inner(&self, tree: &'t JoinTree, pool: &mut Pool) -> Vec<&'t JoinTree> {
        let mut joined = vec![tree];
        let mut at = 0;
        while let Some(part) = joined.get(at) {
            let JoinTree::Inner(parts, on) = part else {
                at += 1;
                continue;
            };
            pool.extend(self.on(on));
            joined.splice(at..=at, parts);
            if self.is_over(UNITS_A_CANDIDATE * joined.len()) {
                break;
            }
        }
        joined
    }

    /// A join whose sides stay where they are.
    fn outer(&self, join: Outer<'t>, pool: Pool, (bound, want): (TableSet, Want)) -> Planned<'t> {
        let Outer { left, right, on, kind } = join;
        let tables = self.tables(left);
        let mut above = pool;
        let mut below = take_within(&mut above, tables.with(bound));
        // A join that only leaves rows out comes before a condition that is dearer than looking for a match.
        let only_filters = kind != JoinKind::Left;
        let is_late =
            |conjunct: &Rc<planned::Conjunct>| conjunct.is_late || only_filters && conjunct.is_expensive;
        let (late, early): (Pool, Pool) = below.into_iter().partition(is_late);
        below = early;
        above.extend(late);
        let planned = self.tree(left, below, bound, want);
        self.attach((planned, want), tables, right, self.on(on), kind, bound).filtered(above)
    }

    /// Whether a hash table may join these tables.
    fn may_hash(&self, left: TableSet, right: TableSet) -> bool {
        let hints = &self.planner.joining.hints;
        let (unhashed, hashed) = (self.in_slots(&hints.unhashed), self.in_slots(&hints.hashed));
        // A hash table is made once, and not for each left row.
        let depends = |lateral: &Lateral| lateral.own.is_within(right) && lateral.reads.meets(left);
        let is_forbidden = unhashed.meets(right)
            || !left.is_empty() && left.is_within(unhashed)
            || self.laterals.iter().any(depends);
        !is_forbidden && (self.statement().switches.block_nested_loop || hashed.meets(right))
    }

    /// Joins `right` to what is planned already, which has the tables `tables`.
    fn attach(
        &self,
        (left, want): (Planned<'t>, Want),
        tables: TableSet,
        right: &'t JoinTree,
        conditions: Pool,
        kind: JoinKind,
        bound: TableSet,
    ) -> Planned<'t> {
        let right_tables = self.tables(right);
        let mut rest = conditions.clone();
        let own = take_within(&mut rest, right_tables.with(bound));
        let alone = self.tree(right, own.clone(), bound, Want::Cheapest);
        let rows = match kind {
            JoinKind::Inner | JoinKind::Left => {
                joined_rows(&left, alone.rows * self.selectivity_of(&rest), kind)
            }
            JoinKind::Semi | JoinKind::Anti => {
                left.rows * self.part_matched(&rest, (right_tables, alone.rows), kind)
            }
        };
        // As the inner side of a nested loop it sees the left row.
        let inner = self.tree(right, conditions, bound.with(tables), Want::Cheapest);
        let (inner, repeated) = match kind {
            JoinKind::Inner | JoinKind::Left => (inner, alone.clone()),
            JoinKind::Semi | JoinKind::Anti => (inner.until_first(), alone.until_first()),
        };
        let nested_cost =
            nested_cost(&left, &inner, &repeated, rows) + self.departure(tables, right_tables, false);
        let equality = |conjunct| planned::Conjunct::equality(conjunct, tables, right_tables, bound);
        let keys: Vec<Equality> = rest.iter().filter_map(equality).collect();
        let nested_weight = self.weighed(left.startup + inner.startup, nested_cost, want);
        let departure = self.departure(tables, right_tables, true);
        let (startup, cost) = (hash_startup(&left, &alone), hash_cost(&left, &alone, rows) + departure);
        let may_hash = !keys.is_empty() && self.may_hash(tables, right_tables);
        let hashes = may_hash && self.weighed(startup, cost, want) < nested_weight;
        self.record_join(|| Weighing {
            left: tables,
            right: right_tables,
            kind,
            rows,
            nested_cost,
            hash_cost: may_hash.then_some(cost),
            hashes,
            is_dearer: false,
        });
        if hashes {
            let keeps = keys.iter().all(|key| key.conjunct.is_free)
                && own.iter().all(|conjunct| conjunct.is_free && conjunct.tables.is_within(right_tables))
                && self.is_free(right, right_tables);
            rest.retain(|conjunct| !keys.iter().any(|key| Rc::ptr_eq(&key.conjunct, conjunct)));
            return hashed(left, alone, Hashing { kind, keys, rest, keeps, departure }, rows);
        }
        Planned {
            rows,
            cost: nested_cost,
            again: nested_cost - left.cost + left.again - inner.cost + inner.again,
            startup: left.startup + inner.startup,
            ordered: left.ordered,
            shape: Rc::new(Shape::Nested { left, right: inner, kind }),
        }
    }
}

/// What a hash join does.
struct Hashing {
    kind: JoinKind,
    keys: Vec<Equality>,
    /// Conditions on pairs of rows with equal keys.
    rest: Pool,
    /// See [`Operator::HashJoin`].
    keeps: bool,
    /// What it costs in addition, if an outline has no such join.
    departure: f64,
}

/// A hash join, which is built of its right side.
fn hashed<'t>(left: Planned<'t>, right: Planned<'t>, join: Hashing, rows: f64) -> Planned<'t> {
    let Hashing { kind, keys, rest, keeps, departure } = join;
    let cost = hash_cost(&left, &right, rows) + departure;
    let build = right.cost + right.rows * cost::HASHED_ROW;
    Planned {
        rows,
        cost,
        again: if keeps { cost - build - left.cost + left.again } else { cost },
        startup: hash_startup(&left, &right),
        ordered: left.ordered,
        shape: Rc::new(Shape::Hash { left, right, kind, keys, rest, keeps }),
    }
}

/// What a hash join does before its first row.
fn hash_startup(left: &Planned<'_>, right: &Planned<'_>) -> f64 {
    (left.startup + right.cost + right.rows * cost::HASHED_ROW).min(cost::DEAREST)
}

fn hash_cost(left: &Planned<'_>, right: &Planned<'_>, rows: f64) -> f64 {
    let build = right.cost + right.rows * cost::HASHED_ROW;
    (left.cost + build + left.rows * cost::PROBE + rows * cost::JOINED_ROW).min(cost::DEAREST)
}

/// What a nested loop costs, whose inner side would be `alone` if it did not see the left row.
fn nested_cost(left: &Planned<'_>, inner: &Planned<'_>, alone: &Planned<'_>, rows: f64) -> f64 {
    let is_aided = inner.cost < alone.cost || left.is_one_row();
    let loops = left.rows.max(if is_aided { 1.0 } else { cost::LEAST_LOOPS });
    let again = (loops - 1.0).max(0.0) * inner.again;
    (left.cost + inner.cost + again + rows * cost::JOINED_ROW).min(cost::DEAREST)
}

fn joined_rows(left: &Planned<'_>, each: f64, kind: JoinKind) -> f64 {
    match kind {
        JoinKind::Left => (left.rows * each.max(1.0)).min(cost::MOST),
        _ => (left.rows * each).clamp(cost::FEWEST, cost::MOST),
    }
}
