//! What the planner of joins works with: sets of tables, conditions, and parts of a join that are planned.
//!
//! A part that is planned is a tree of shared [`Shape`]s, because one and the same part may be weighed in
//! many places. Operators, which own their expressions, are made of it once, at the end
//! ([`Planned::operator`]).

use std::rc::Rc;

use super::Planning;
use super::intersection::Entries;
use super::union::Branch;
use crate::conditions::expr_slots;
use crate::cost::{self, selectivity};
use crate::logical::{Leaf, MAX_TABLES, TableLeaf, VirtualLeaf};
use crate::lower::PlannedTable;
use crate::note::{self, Estimate, Reading};
use crate::virtual_read::VirtualRead;
use crate::{Access, JoinKind, Merge, Operator};
use palisade_catalog::SqlType;
use palisade_engine::ReadMode;
use palisade_expr::func::Purity;
use palisade_expr::{Comparison, Domain, Expr, Node};

/// Some of a query block's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct TableSet(u64);

const _: () = assert!(MAX_TABLES <= u64::BITS as usize, "a block's tables are bits of a word");

impl TableSet {
    /// The table at this place among the block's.
    pub(super) fn of(place: usize) -> TableSet {
        TableSet(1 << place)
    }

    pub(super) fn with(self, other: TableSet) -> TableSet {
        TableSet(self.0 | other.0)
    }

    pub(super) fn common(self, other: TableSet) -> TableSet {
        TableSet(self.0 & other.0)
    }

    pub(super) fn is_within(self, other: TableSet) -> bool {
        self.0 & !other.0 == 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// A bit for each, by its place.
    pub(super) fn bits(self) -> u64 {
        self.0
    }

    /// Whether they have a table in common.
    pub(super) fn meets(self, other: TableSet) -> bool {
        self.0 & other.0 != 0
    }
}

/// A condition, and the tables of the query block that it reads.
#[derive(Debug)]
pub(super) struct Conjunct {
    /// Tells it apart from the other conditions of the block.
    pub(super) number: usize,
    pub(super) expr: Expr,
    pub(super) tables: TableSet,
    /// It reads nothing but the block's tables, and has no effect: of the same rows it says the same each
    /// time.
    pub(super) is_free: bool,
    /// It has an effect or another value each time, as where it reads a user variable that the statement
    /// sets: as in MySQL it is decided for each row that comes out of the block's joins.
    pub(super) is_late: bool,
    /// It runs a subquery for each row.
    pub(super) is_expensive: bool,
    /// What these runs cost for a row.
    runs: f64,
    /// See [`is_of_texts`].
    is_of_texts: bool,
    /// Of an equality: how it is compared, and the tables that each side reads.
    pub(super) sides: Option<(Domain, TableSet, TableSet)>,
}

/// Conditions that are known of rows.
pub(super) type Pool = Vec<Rc<Conjunct>>;

/// All of them as one expression: those that compute something of texts behind the others, and last those
/// that run subqueries for each row.
fn all_of(pool: &[Rc<Conjunct>]) -> Option<Expr> {
    let mut ordered: Vec<&Rc<Conjunct>> = pool.iter().collect();
    ordered.sort_by_key(|conjunct| (conjunct.is_expensive, conjunct.is_of_texts));
    Expr::all_of(ordered.into_iter().map(|conjunct| conjunct.expr.clone()).collect())
}

/// Functions of texts that have nothing to warn of.
const SILENT: &[&str] = &["left", "lower", "right", "substring", "upper"];

/// Whether a condition compares texts, or what is computed of them, and has nothing to warn of: it can be
/// decided for fewer rows than MySQL does, and nothing shows.
fn is_of_texts(expr: &Expr) -> bool {
    let mut is_of_texts = false;
    let mut is_silent = true;
    expr.walk(&mut |part| {
        is_silent &= match &part.node {
            Node::Compare { domain, .. } | Node::Between { domain, .. } => matches!(domain, Domain::Text(_)),
            Node::In { list, .. } => list.iter().all(|(domain, _)| matches!(domain, Domain::Text(_))),
            Node::Call { function, arguments } => {
                let lengths = arguments.iter().skip(1);
                SILENT.contains(&function.name)
                    && lengths.into_iter().all(|length| matches!(length.ty, SqlType::Int { .. }))
            }
            Node::Column { .. } | Node::Literal(_) | Node::Parameter(_) | Node::Transcode { .. } => true,
            Node::Like { .. } | Node::And(_) | Node::Or(_) | Node::Not(_) => true,
            _ => false,
        };
        is_of_texts |= matches!(part.node, Node::Call { .. } | Node::Like { .. } | Node::In { .. });
    });
    is_silent && is_of_texts
}

/// What it costs to decide conditions for so many rows, in so far as they run subqueries for each, and how
/// many times as many rows there are before these as behind them.
pub(super) fn filtering(pool: &[Rc<Conjunct>]) -> (f64, f64) {
    let expensive = || pool.iter().filter(|conjunct| conjunct.is_expensive);
    let left: f64 = expensive().map(|conjunct| selectivity(&conjunct.expr)).product();
    (expensive().map(|conjunct| conjunct.runs).sum(), 1.0 / left.max(f64::MIN_POSITIVE))
}

/// The part of rows for which all of them hold.
pub(super) fn product_of(pool: &[Rc<Conjunct>]) -> f64 {
    pool.iter().map(|conjunct| selectivity(&conjunct.expr)).product()
}

/// Takes the conditions out of the pool that can be decided once these tables are in place.
pub(super) fn take_within(pool: &mut Pool, tables: TableSet) -> Pool {
    let (taken, kept) =
        std::mem::take(pool).into_iter().partition(|conjunct| conjunct.tables.is_within(tables));
    *pool = kept;
    taken
}

/// An equality between the two sides of a join.
#[derive(Debug, Clone)]
pub(super) struct Equality {
    pub(super) conjunct: Rc<Conjunct>,
    domain: Domain,
    /// Its left side is of the join's right side.
    is_turned: bool,
}

impl Equality {
    /// The expressions of the join's left and right side, and how they are compared.
    fn key(&self) -> Option<(Expr, Expr, Domain)> {
        let Node::Compare { left, right, .. } = &self.conjunct.expr.node else { return None };
        let (left, right) = if self.is_turned { (right, left) } else { (left, right) };
        Some(((**left).clone(), (**right).clone(), self.domain))
    }
}

impl Conjunct {
    /// Whether a path to a table's rows may use it once the rows of these tables are in place: a scan
    /// evaluates its ends once, and the condition says the same as long as those rows are.
    pub(super) fn is_usable(&self, bound: TableSet) -> bool {
        !self.is_late && self.tables.is_within(bound)
    }

    /// The equality that it is between `left` and `right`; `bound` are tables whose rows are in place
    /// already.
    pub(super) fn equality(
        self: &Rc<Self>,
        left: TableSet,
        right: TableSet,
        bound: TableSet,
    ) -> Option<Equality> {
        let (domain, one, other) = self.sides?;
        let is_left = |side: TableSet| !side.is_empty() && side.is_within(left.with(bound));
        let is_right = |side: TableSet| !side.is_empty() && side.is_within(right);
        let is_turned = if is_left(one) && is_right(other) {
            false
        } else if is_left(other) && is_right(one) {
            true
        } else {
            return None;
        };
        Some(Equality { conjunct: self.clone(), domain, is_turned })
    }
}

impl<'t> Planning<'_, '_, 't> {
    /// A condition with the tables that it reads.
    pub(super) fn conjunct(&self, expr: Expr) -> Rc<Conjunct> {
        let sides = match &expr.node {
            // What is nearly equal has no key.
            Node::Compare { comparison: Comparison::Equal, domain, left, right }
                if !matches!(domain, Domain::Fixed(_)) =>
            {
                Some((*domain, self.tables_of(left), self.tables_of(right)))
            }
            _ => None,
        };
        let number = self.conjuncts.get();
        self.conjuncts.set(number + 1);
        let mut slots = Vec::new();
        expr_slots(self.statement(), &expr, &mut slots);
        let mut is_free = slots.iter().all(|slot| self.planner.joining.local.contains(slot));
        let (mut is_late, mut is_expensive, mut runs) = (false, false, 0.0);
        // A statement that is to end needs no good plan, and the list of an IN may be long.
        if !self.is_over(0) {
            expr.walk(&mut |part| match &part.node {
                Node::UserVariable(name) => {
                    is_free = false;
                    is_late |= self.statement().assigned.contains(name);
                }
                Node::AssignUserVariable(..) => is_late = true,
                Node::Call { function, .. } => is_late |= function.purity != Purity::Pure,
                Node::Subquery(subquery) => {
                    is_free = false;
                    is_expensive |= subquery.correlated;
                    runs += if subquery.correlated { self.statement().run_of(subquery.number) } else { 0.0 };
                }
                _ => {}
            });
        }
        is_free &= !is_late;
        Rc::new(Conjunct {
            number,
            tables: self.in_slots(&slots),
            is_of_texts: !self.is_over(0) && is_of_texts(&expr),
            expr,
            is_free,
            is_late,
            is_expensive,
            runs,
            sides,
        })
    }

    /// What is neither a stored nor a virtual table is read from one end to the other.
    pub(super) fn read_whole(&self, leaf: &'t Leaf, filter: Pool) -> Planned<'t> {
        let table = self.statement().table(leaf.slot());
        let rows = match (leaf, table) {
            (_, Some(PlannedTable::Derived(query))) => query.rows.max(1.0),
            (Leaf::Working { .. }, _) => cost::WORKING_ROWS,
            _ => cost::UNKNOWN_ROWS,
        };
        // What is made of outer rows is made anew for each of them.
        let made = match table {
            Some(PlannedTable::Derived(query)) if !query.outer_slots.is_empty() => query.cost,
            _ => 0.0,
        };
        let cost = made + rows * cost::KEPT_ROW;
        let rows = (rows * product_of(&filter)).max(cost::FEWEST);
        let shape = Rc::new(Shape::Whole { leaf, table: table.cloned(), filter });
        Planned { shape, rows, cost, again: cost, startup: 0.0, ordered: false }
    }

    /// The block's tables that an expression reads.
    fn tables_of(&self, expr: &Expr) -> TableSet {
        let mut slots = Vec::new();
        expr_slots(self.statement(), expr, &mut slots);
        self.in_slots(&slots)
    }

    /// The block's tables that are in these slots.
    pub(super) fn in_slots(&self, slots: &[usize]) -> TableSet {
        let places =
            slots.iter().filter_map(|slot| self.planner.joining.local.iter().position(|own| own == slot));
        places.fold(TableSet::default(), |set, place| set.with(TableSet::of(place)))
    }
}

/// A planned part of a join.
#[derive(Debug, Clone)]
pub(super) struct Planned<'t> {
    pub(super) shape: Rc<Shape<'t>>,
    /// Rows it gives each time it is opened.
    pub(super) rows: f64,
    /// What opening and reading it [costs](crate::cost).
    pub(super) cost: f64,
    /// What opening and reading it once more costs, for other rows in place: what is kept of before is not
    /// made again.
    pub(super) again: f64,
    /// The part of it before the first row.
    pub(super) startup: f64,
    /// It comes in the wanted order.
    pub(super) ordered: bool,
}

/// What its operators will be.
#[derive(Debug)]
pub(super) enum Shape<'t> {
    /// The statement is to end, and will not be executed.
    Nothing,
    Table {
        leaf: &'t TableLeaf,
        access: Access,
        filter: Pool,
        rows: f64,
        reading: Reading,
    },
    /// A table that is read by several indexes, one after the other.
    Union {
        leaf: &'t TableLeaf,
        branches: Vec<Branch>,
        rows: f64,
    },
    /// A table whose rows are read that several indexes have entries of.
    Intersection {
        leaf: &'t TableLeaf,
        inputs: Vec<Entries>,
        filter: Pool,
        rows: f64,
    },
    Virtual {
        leaf: &'t VirtualLeaf,
        filter: Pool,
        read: VirtualRead,
    },
    Whole {
        leaf: &'t Leaf,
        /// What is planned of it, if it is a query.
        table: Option<PlannedTable>,
        filter: Pool,
    },
    Filter {
        input: Planned<'t>,
        conditions: Pool,
    },
    Hash {
        left: Planned<'t>,
        right: Planned<'t>,
        kind: JoinKind,
        keys: Vec<Equality>,
        rest: Pool,
        keeps: bool,
    },
    Nested {
        left: Planned<'t>,
        right: Planned<'t>,
        kind: JoinKind,
    },
}

impl<'t> Planned<'t> {
    pub(super) fn nothing() -> Planned<'t> {
        Planned {
            shape: Rc::new(Shape::Nothing),
            rows: 0.0,
            cost: 0.0,
            again: 0.0,
            startup: 0.0,
            ordered: false,
        }
    }

    /// Whether it gives one row at most, whatever the data are: each of its tables is read by a unique key.
    pub(super) fn is_one_row(&self) -> bool {
        match &*self.shape {
            Shape::Table { access, .. } => access.unique,
            Shape::Filter { input, .. } => input.is_one_row(),
            Shape::Nested { left, right, .. } | Shape::Hash { left, right, .. } => {
                left.is_one_row() && right.is_one_row()
            }
            Shape::Nothing
            | Shape::Union { .. }
            | Shape::Intersection { .. }
            | Shape::Virtual { .. }
            | Shape::Whole { .. } => false,
        }
    }

    /// What it costs if it is read until there is a row.
    pub(super) fn until_first(&self) -> Planned<'t> {
        let of_first = |cost: f64| {
            let startup = self.startup.min(cost);
            startup + (cost - startup) / self.rows.max(1.0)
        };
        Planned { cost: of_first(self.cost), again: of_first(self.again), ..self.clone() }
    }

    /// Its rows for which these conditions hold.
    pub(super) fn filtered(self, conditions: Pool) -> Planned<'t> {
        if conditions.is_empty() {
            return self;
        }
        let Planned { startup, .. } = self;
        let (each, before) = filtering(&conditions);
        let rows = self.rows * product_of(&conditions);
        let filtering = (rows * before).min(self.rows) * each;
        let (cost, again) = (self.cost + filtering, self.again + filtering);
        let ordered = self.ordered;
        let shape = Rc::new(Shape::Filter { input: self, conditions });
        Planned { shape, rows, cost, again, startup, ordered }
    }

    /// With conditions that read none of its tables: they are decided where its first row is read.
    pub(super) fn guarded(self, conditions: Pool) -> Planned<'t> {
        if conditions.is_empty() {
            return self;
        }
        let part = product_of(&conditions);
        let shape = match &*self.shape {
            Shape::Hash { left, right, kind, keys, rest, keeps } => Shape::Hash {
                left: left.clone().guarded(conditions),
                right: right.clone(),
                kind: *kind,
                keys: keys.clone(),
                rest: rest.clone(),
                keeps: *keeps,
            },
            Shape::Nested { left, right, kind } => {
                Shape::Nested { left: left.clone().guarded(conditions), right: right.clone(), kind: *kind }
            }
            Shape::Filter { input, conditions: others } => {
                Shape::Filter { input: input.clone().guarded(conditions), conditions: others.clone() }
            }
            Shape::Table { leaf, access, filter, rows, reading } => {
                let filter = conditions.iter().chain(filter).cloned().collect();
                Shape::Table { leaf, access: access.clone(), filter, rows: rows * part, reading: *reading }
            }
            _ => return self.filtered(conditions),
        };
        Planned { rows: self.rows * part, shape: Rc::new(shape), ..self }
    }

    /// Adds the stored tables that it reads, and how.
    pub(super) fn accesses<'p>(&'p self, out: &mut Vec<(&'t TableLeaf, &'p Access)>) {
        match &*self.shape {
            Shape::Table { leaf, access, .. } => out.push((leaf, access)),
            Shape::Union { leaf, branches, .. } => {
                out.extend(branches.iter().map(|branch| (*leaf, &branch.access)));
            }
            Shape::Intersection { leaf, inputs, .. } => {
                out.extend(inputs.iter().map(|entries| (*leaf, &entries.access)));
            }
            Shape::Nothing | Shape::Virtual { .. } | Shape::Whole { .. } => {}
            Shape::Filter { input, .. } => input.accesses(out),
            Shape::Hash { left, right, .. } | Shape::Nested { left, right, .. } => {
                left.accesses(out);
                right.accesses(out);
            }
        }
    }

    /// Its operators, noted.
    pub(super) fn noted_operator(&self) -> Operator {
        let noted = &|planned: &Planned<'t>, operator| {
            let reading = match &*planned.shape {
                Shape::Table { reading, .. } => Some(*reading),
                _ => None,
            };
            let Planned { rows, cost, .. } = *planned;
            match operator {
                // What is read whole is thought of by what it is made of.
                whole @ (Operator::Derived { .. } | Operator::Recursive { .. }) => whole,
                operator => note::noted(operator, Estimate { rows, cost, startup: None }, reading),
            }
        };
        self.operator_by(noted)
    }

    /// Its operators.
    pub(super) fn operator(&self) -> Operator {
        self.operator_by(&|_, operator| operator)
    }

    /// Its operators, each as `make` makes it of what it would be.
    fn operator_by(&self, make: &dyn Fn(&Planned<'t>, Operator) -> Operator) -> Operator {
        let operator = match &*self.shape {
            Shape::Nothing => Operator::Dual,
            Shape::Table { leaf, access, filter, rows, .. } => scan(leaf, access, filter, *rows),
            Shape::Union { leaf, branches, rows } => {
                let of_branch = |branch: &Branch| scan(leaf, &branch.access, &branch.filter, branch.rows);
                let inputs = branches.iter().map(of_branch).collect();
                let kind = match leaf.mode {
                    ReadMode::Snapshot => Merge::Union,
                    _ => Merge::LockedUnion,
                };
                Operator::IndexMerge { inputs, kind, rows: *rows }
            }
            Shape::Intersection { leaf, inputs, filter, rows } => {
                let of_entries = |entries: &Entries| {
                    let Entries { slot, access, rows } = entries;
                    scan(&TableLeaf { slot: *slot, ..TableLeaf::clone(leaf) }, access, &[], *rows)
                };
                let by_key = Access { unique: true, ..Access::default() };
                let row = scan(leaf, &by_key, filter, *rows);
                let inputs = inputs.iter().map(of_entries).chain([row]).collect();
                Operator::IndexMerge { inputs, kind: Merge::Intersection, rows: *rows }
            }
            Shape::Virtual { leaf, filter, read } => Operator::Virtual {
                slot: leaf.slot,
                table: leaf.table,
                alias: leaf.alias.clone(),
                filter: all_of(filter),
                read: read.clone(),
            },
            Shape::Whole { leaf, table, filter } => whole_operator(leaf, table.clone(), all_of(filter)),
            Shape::Filter { input, conditions } => match all_of(conditions) {
                Some(condition) => Operator::Filter { input: Box::new(input.operator_by(make)), condition },
                None => input.operator_by(make),
            },
            Shape::Hash { left, right, kind, keys, rest, keeps } => {
                let (left, right) = (left.operator_by(make), right.operator_by(make));
                let mut right_slots = Vec::new();
                // Whether there is a match is all that is asked where no condition is left.
                if !matches!(kind, JoinKind::Semi | JoinKind::Anti) || !rest.is_empty() {
                    right.slots(&mut right_slots);
                }
                Operator::HashJoin {
                    left: Box::new(left),
                    right: Box::new(right),
                    kind: *kind,
                    keys: keys.iter().filter_map(Equality::key).collect(),
                    condition: all_of(rest),
                    right_slots,
                    keeps: *keeps,
                    in_order: false,
                }
            }
            Shape::Nested { left, right, kind } => Operator::NestedLoop {
                left: Box::new(left.operator_by(make)),
                right: Box::new(right.operator_by(make)),
                kind: *kind,
                condition: None,
            },
        };
        make(self, operator)
    }
}

/// What reads a stored table.
fn scan(leaf: &TableLeaf, access: &Access, filter: &[Rc<Conjunct>], rows: f64) -> Operator {
    Operator::Scan {
        slot: leaf.slot,
        table: leaf.table.clone(),
        alias: leaf.alias.clone(),
        access: access.clone(),
        filter: all_of(filter),
        mode: leaf.mode,
        rows,
        excerpt: None,
    }
}

/// What reads a table that is neither stored nor virtual.
fn whole_operator(leaf: &Leaf, table: Option<PlannedTable>, filter: Option<Expr>) -> Operator {
    let slot = leaf.slot();
    match (leaf, table) {
        (Leaf::Recursive { alias, .. }, Some(PlannedTable::Recursive(recursion))) => {
            Operator::Recursive { slot, recursion, filter, alias: alias.clone() }
        }
        (Leaf::Derived { alias, subquery, .. }, Some(PlannedTable::Derived(query))) => {
            Operator::Derived { slot, query, filter, alias: alias.clone(), subquery: *subquery }
        }
        (Leaf::Working { table, alias, .. }, _) => {
            Operator::Working { slot, table: *table, filter, alias: alias.clone() }
        }
        _ => unreachable!("queries are planned before the joins that read them, other tables have a path"),
    }
}
