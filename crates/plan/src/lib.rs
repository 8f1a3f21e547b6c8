//! From a parse tree to a plan: what the operators of a statement do, decided once and shared by all its
//! executions.
//!
//! | module | what it holds |
//! |---|---|
//! | [`bind`] | names resolved, types decided: from the parse tree to the logical plan |
//! | [`logical`] | what a query asks for, before anything says how it is done |
//! | [`rules`] | rewritings of it |
//! | `print` | it as text |
//! | [`lower`] | from it to operators: grouping, order, limit |
//! | [`access`] | which index, which ranges: the access path of one table |
//! | [`conditions`] | what conditions tell the planner |
//! | [`cost`] | what plans cost, and what is guessed |
//! | [`hints`] | what hints say of a query block |
//! | `extremes` | MIN and MAX at an index's end |
//! | `grouped` | groups, and rows without duplicates, in the order of an index |
//! | [`join`] | the order of joins, and how each is done |
//! | [`premise`] | what of the data a plan that is kept was chosen by |
//! | [`point`] | the short path of reading one row by its key |
//! | [`virtual_read`] | which columns and rows of a virtual table are made |
//! | [`window`] | windows and their functions |
//! | `window_order` | rows that a window gives in the order of ORDER BY |
//! | [`reads`] | how tables are read, as `Select_...` counts it |
//! | [`pace`] | how long planning may compute before it lets others run |
//! | [`partition`] | in which partition a row belongs, and which partitions conditions leave |
//! | `remembered` | which subqueries' values are remembered |
//! | [`parallel`] | groupings whose rows can be added up in parts |
//! | `examined` | how many rows a plan would examine |
//! | [`note`] | what EXPLAIN tells of operators |
//! | [`rewritten`] | the statement as rules have rewritten it, as SQL |
//! | [`outline`] | what was decided of a plan, to decide it again |
//! | [`purpose`] | what is done with the rows, as EXPLAIN tells it |
//! | [`shown`] | a plan that is being executed, to be shown |
//!
//! A plan holds no value of a parameter and no state of an execution: ranges are expressions, evaluated when
//! a scan opens.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

pub mod access;
pub mod bind;
pub mod column_type;
pub mod conditions;
pub mod cost;
pub mod decisions;
mod examined;
mod extremes;
mod grouped;
pub mod hints;
pub mod join;
pub mod json_table;
pub mod logical;
pub mod lower;
pub mod note;
pub mod outline;
pub mod pace;
pub mod parallel;
pub mod partition;
pub mod point;
pub mod premise;
mod print;
pub mod purpose;
pub mod reads;
mod remembered;
pub mod rewritten;
pub mod rules;
pub mod shown;
pub mod virtual_read;
pub mod window;
mod window_order;

use std::sync::Arc;
use std::time::Duration;

use palisade_catalog::row::RowExcerpt;
use palisade_engine::{ReadMode, Table};
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::beforehand::Beforehand;
use palisade_expr::order::SortKey;
use palisade_expr::{Domain, Expr};
use palisade_schema::TableDecl;
use palisade_session::sink::ResultColumns;
use palisade_session::work::Work;
use smallvec::{SmallVec, smallvec};

use self::logical::OuterColumn;

pub use access::{Access, IndexAccess, RangeSpec};

/// A statement's plan.
#[derive(Debug, Default)]
pub struct Plan {
    /// The query; for statements that change rows, what finds them.
    pub query: Option<Query>,
    /// Tables of the frame.
    pub slots: usize,
    /// Subqueries in expressions, by number; `None` for one that has become part of another query.
    pub subqueries: Vec<Option<Arc<Query>>>,
    /// Stored tables it uses; it is right while these are current.
    pub tables: Vec<Arc<Table>>,
    /// What it does to which tables: what a restricted session is asked for.
    pub accesses: Vec<(palisade_session::environment::Access, palisade_parser::ast::ObjectName)>,
    /// What the definers of views do to which tables.
    pub definers: Vec<(Arc<str>, palisade_session::environment::Access, palisade_parser::ast::ObjectName)>,
    /// Version of the dictionary it was made under.
    pub dictionary_version: u64,
    /// The query's short path, if it has one.
    pub point: Option<point::PointPlan>,
    /// Whether it may be kept: nothing in it depends on the session beyond the cache's key.
    pub cacheable: bool,
    /// Whether its query locks rows exclusively.
    pub locks_rows: bool,
    /// Whether an expression has an effect beside its value.
    pub has_effects: bool,
    /// Constants that each execution converts before the first row.
    pub beforehand: Vec<Beforehand>,
    /// The hint MAX_EXECUTION_TIME of a SELECT.
    pub max_execution_time: Option<Duration>,
    /// How an execution reads its tables, as it is counted.
    pub reads: SmallVec<[(Work, u64); 1]>,
    /// Warnings that making it gave; a plan with any is not kept.
    pub warnings: Vec<palisade_expr::SqlError>,
    /// What EXPLAIN says of the statement beside its operators.
    pub told: Option<Box<rewritten::Told>>,
    /// What was decided when it was made, if the session has asked for that.
    pub decided: Option<Box<decisions::Decided>>,
    /// What is done with its rows.
    pub purpose: purpose::Purpose,
    /// What of the data it was chosen by: where one of these does not hold for an execution it is made anew.
    pub premises: Vec<premise::Premise>,
    /// About how many bytes it takes.
    pub weight: usize,
}

impl Plan {
    /// Whether a FROM in it names tables, stored or not.
    pub fn names_tables(&self) -> bool {
        let queries = self.query.iter().chain(self.subqueries.iter().flatten().map(|subquery| &**subquery));
        !self.tables.is_empty() || queries.into_iter().any(|query| query.root.names_tables())
    }
}

/// A query: operators that find rows, and what is computed from each.
#[derive(Debug, Clone)]
pub struct Query {
    /// What finds the rows.
    pub root: Operator,
    /// One expression per column of the result.
    pub output: Vec<Expr>,
    /// Names and types of the result's columns.
    pub columns: ResultColumns,
    /// Estimated rows.
    pub rows: f64,
    /// What finding them once [costs](cost), what is kept from one time to the next aside.
    pub cost: f64,
    /// Slots of enclosing queries that it reads.
    pub outer_slots: Vec<usize>,
    /// Columns of enclosing queries that it reads.
    pub outer_columns: Vec<OuterColumn>,
    /// Columns of enclosing queries whose values decide what it gives, if that may be remembered; see
    /// `remembered`.
    pub deciding_columns: Option<Vec<(usize, usize)>>,
    /// LIMIT under SQL_CALC_FOUND_ROWS: applied only when rows are sent.
    pub counted_limit: Option<Limit>,
}

/// Kinds of join after RIGHT has become LEFT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum JoinKind {
    Inner,
    Left,
    /// Left rows that have a match, once each.
    Semi,
    /// Left rows that have none.
    Anti,
}

/// A column by which rows are grouped, in the row that is kept of a group: where WITH ROLLUP sums it up it is
/// NULL there, too, for subqueries that read it.
#[derive(Debug, Clone, Copy)]
pub struct KeptKey {
    /// Slot of its table.
    pub slot: usize,
    /// Its position there.
    pub column: usize,
    /// Its position in GROUP BY.
    pub position: usize,
}

/// What happens to rows.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Operator {
    /// One row without columns.
    Dual,
    /// No row: a condition that is never true.
    Nothing,
    /// Rows of a stored table.
    Scan {
        slot: usize,
        table: Arc<Table>,
        /// As the statement calls it.
        alias: String,
        access: Access,
        filter: Option<Expr>,
        mode: ReadMode,
        rows: f64,
        /// Which part of its rows is read, if it is not all, where an operator sets rows aside.
        excerpt: Option<Arc<RowExcerpt>>,
    },
    /// Rows of a stored table by several scans of it.
    IndexMerge {
        inputs: Vec<Operator>,
        kind: Merge,
        rows: f64,
    },
    /// Rows of a virtual table.
    Virtual {
        slot: usize,
        table: &'static TableDecl,
        /// As the statement calls it.
        alias: String,
        filter: Option<Expr>,
        read: virtual_read::VirtualRead,
    },
    /// Rows written in the statement: VALUES ROW().
    Values {
        slot: usize,
        rows: Vec<Vec<Expr>>,
        /// The table function that makes the rows, of the document that is the one value of the one row.
        function: Option<Arc<json_table::JsonTable>>,
    },
    /// For each left row, the right rows.
    NestedLoop {
        left: Box<Operator>,
        right: Box<Operator>,
        kind: JoinKind,
        condition: Option<Expr>,
    },
    /// For each left row, the right rows with equal keys, from a hash table built once.
    HashJoin {
        left: Box<Operator>,
        right: Box<Operator>,
        kind: JoinKind,
        /// Left expression, right expression, and how they compare.
        keys: Vec<(Expr, Expr, Domain)>,
        condition: Option<Expr>,
        /// Slots that the right side fills.
        right_slots: Vec<usize>,
        /// The right side depends on nothing outside of it: when the join is read again its hash table is
        /// right as it is.
        keeps: bool,
        /// What is above relies on the order of the left side.
        in_order: bool,
    },
    Filter {
        input: Box<Operator>,
        condition: Expr,
    },
    /// Groups: the output slot holds the group's expressions, then the aggregates.
    Aggregate {
        input: Box<Operator>,
        group: Vec<Expr>,
        aggregates: Vec<AggregateSpec>,
        slot: usize,
        rollup: bool,
        /// Slots of the input of which one row is kept per group, for columns that depend on the group.
        keep: Vec<usize>,
        /// With ROLLUP: which columns of those are grouped by.
        kept_keys: Vec<KeptKey>,
        /// Rows of a group come one after the other: a group is given when the next one begins.
        in_groups: bool,
        /// How, if its rows can be [added up in parts](parallel).
        in_parts: Option<parallel::InParts>,
    },
    /// Of rows that come one after the other with equal keys, the first.
    FirstOfEach {
        input: Box<Operator>,
        keys: Vec<Expr>,
    },
    /// Sorted; `slots` are those whose rows are kept. At most `limit` rows are needed. With `distinct`, of
    /// rows with equal keys only the first.
    Sort {
        input: Box<Operator>,
        keys: Vec<SortKey>,
        slots: Vec<usize>,
        limit: Option<Limit>,
        distinct: bool,
    },
    /// Computes values into a slot.
    Project {
        input: Box<Operator>,
        output: Vec<Expr>,
        slot: usize,
    },
    /// Rows of a slot without duplicates.
    Distinct {
        input: Box<Operator>,
        slot: usize,
        types: Vec<palisade_catalog::SqlType>,
    },
    Limit {
        input: Box<Operator>,
        limit: Limit,
    },
    /// One input after the other, each projected into the slot, combined step by step.
    Union {
        inputs: Vec<Operator>,
        slot: usize,
        steps: Vec<SetStep>,
        types: Vec<palisade_catalog::SqlType>,
    },
    /// The rows of a recursive common table expression, kept to be read more than once.
    Recursive {
        slot: usize,
        recursion: Arc<Recursion>,
        filter: Option<Expr>,
        alias: String,
    },
    /// What the last round of a recursion gave.
    Working {
        slot: usize,
        table: usize,
        filter: Option<Expr>,
        alias: String,
    },
    /// Each row with the values of window functions, in order of the window.
    Window {
        input: Box<Operator>,
        window: window::WindowPlan,
    },
    /// What EXPLAIN tells of an operator.
    Noted {
        input: Box<Operator>,
        note: Arc<note::Note>,
    },
    /// A derived table: the rows of a query, kept to be read more than once.
    Derived {
        slot: usize,
        query: Arc<Query>,
        filter: Option<Expr>,
        alias: String,
        /// The number of the subquery in an expression that it has been.
        subquery: Option<usize>,
    },
}

/// How a table is read by several indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The rows of one scan after those of the other; none is in two of them.
    Union,
    /// The same of scans that lock what they find: a row that is in several of them is given once.
    LockedUnion,
    /// The rows that all scans but the last have entries of, each of these in a slot of its own and in the
    /// order of the primary key. The last one reads a row by that key.
    Intersection,
}

/// A recursive common table expression.
#[derive(Debug, Clone)]
pub struct Recursion {
    /// The rows to begin with.
    pub seed: Query,
    /// What makes rows of the rows of the round before.
    pub steps: Vec<Query>,
    /// Number of the working table.
    pub table: usize,
    /// UNION rather than UNION ALL: rows that are there already are dropped.
    pub distinct: bool,
    /// It ends when it has so many rows.
    pub limit: Option<Limit>,
    /// Types of the columns: the seed's.
    pub types: Vec<palisade_catalog::SqlType>,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Slots of enclosing queries that it reads.
    pub outer_slots: Vec<usize>,
}

impl Recursion {
    /// The seed, then the steps.
    pub fn queries(&self) -> impl Iterator<Item = &Query> {
        std::iter::once(&self.seed).chain(&self.steps)
    }
}

/// How an input of a combination is combined with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SetStep {
    UnionAll,
    Union,
    Except { all: bool },
    Intersect { all: bool },
}

/// LIMIT.
#[derive(Debug, Clone)]
pub struct Limit {
    /// How many rows.
    pub count: Expr,
    /// After how many.
    pub offset: Option<Expr>,
    /// Those before are given as well: a limit above passes over them.
    pub is_widened: bool,
}

impl Limit {
    /// What is wanted of the rows in which this limit looks for its own: those that it passes over, too.
    pub fn widened(&self) -> Limit {
        Limit { is_widened: self.is_widened || self.offset.is_some(), ..self.clone() }
    }
}

impl Operator {
    /// What it takes its rows from, in the order in which they are read: operators below it, and the roots of
    /// the queries that it keeps the rows of. What is said of a whole plan is said by way of this.
    pub fn inputs(&self) -> SmallVec<[&Operator; 2]> {
        match self {
            Operator::Dual
            | Operator::Nothing
            | Operator::Scan { .. }
            | Operator::Virtual { .. }
            | Operator::Values { .. }
            | Operator::Working { .. } => SmallVec::new(),
            Operator::Filter { input, .. }
            | Operator::Aggregate { input, .. }
            | Operator::FirstOfEach { input, .. }
            | Operator::Sort { input, .. }
            | Operator::Project { input, .. }
            | Operator::Distinct { input, .. }
            | Operator::Window { input, .. }
            | Operator::Noted { input, .. }
            | Operator::Limit { input, .. } => smallvec![&**input],
            Operator::NestedLoop { left, right, .. } | Operator::HashJoin { left, right, .. } => {
                smallvec![&**left, &**right]
            }
            Operator::Union { inputs, .. } | Operator::IndexMerge { inputs, .. } => inputs.iter().collect(),
            Operator::Derived { query, .. } => smallvec![&query.root],
            Operator::Recursive { recursion, .. } => recursion.queries().map(|query| &query.root).collect(),
        }
    }

    /// Which part of the stored rows that it places in a slot is read, if it is not all.
    pub fn excerpt(&self, of: usize) -> Option<&Arc<RowExcerpt>> {
        match self {
            Operator::Scan { slot, excerpt, .. } => excerpt.as_ref().filter(|_| *slot == of),
            // What those place is made there.
            Operator::Derived { .. } | Operator::Recursive { .. } | Operator::Union { .. } => None,
            _ => self.inputs().iter().find_map(|input| input.excerpt(of)),
        }
    }

    /// Notes which part of the stored rows of each slot is read.
    fn set_excerpts(&mut self, used: &[(usize, Vec<usize>)]) {
        match self {
            Operator::Scan { slot, table, excerpt, .. } => {
                let columns = used.iter().find(|(known, _)| known == slot);
                *excerpt = columns
                    .and_then(|(_, columns)| RowExcerpt::new(table.descriptor(), columns.iter().copied()))
                    .map(Arc::new);
            }
            Operator::IndexMerge { inputs, .. } => {
                inputs.iter_mut().for_each(|input| input.set_excerpts(used));
            }
            Operator::NestedLoop { left, right, .. } | Operator::HashJoin { left, right, .. } => {
                left.set_excerpts(used);
                right.set_excerpts(used);
            }
            Operator::Filter { input, .. }
            | Operator::Noted { input, .. }
            | Operator::Limit { input, .. } => input.set_excerpts(used),
            _ => {}
        }
    }

    /// Adds the slots that it fills.
    pub fn slots(&self, out: &mut Vec<usize>) {
        match self {
            Operator::Dual | Operator::Nothing => {}
            Operator::Scan { slot, .. }
            | Operator::Virtual { slot, .. }
            | Operator::Values { slot, .. }
            | Operator::Project { slot, .. }
            | Operator::Distinct { slot, .. }
            | Operator::Union { slot, .. }
            | Operator::Recursive { slot, .. }
            | Operator::Working { slot, .. }
            | Operator::Derived { slot, .. } => out.push(*slot),
            Operator::Aggregate { slot, keep, .. } => {
                out.push(*slot);
                out.extend(keep);
            }
            Operator::NestedLoop { left, kind: JoinKind::Semi | JoinKind::Anti, .. }
            | Operator::HashJoin { left, kind: JoinKind::Semi | JoinKind::Anti, .. } => left.slots(out),
            Operator::NestedLoop { .. }
            | Operator::HashJoin { .. }
            | Operator::Filter { .. }
            | Operator::FirstOfEach { .. }
            | Operator::Sort { .. }
            | Operator::Noted { .. }
            | Operator::Limit { .. } => self.inputs().iter().for_each(|input| input.slots(out)),
            // In a union all are of one slot; in an intersection the last one places the rows.
            Operator::IndexMerge { inputs, .. } => {
                inputs.iter().rev().take(1).for_each(|input| input.slots(out))
            }
            Operator::Window { input, window } => {
                input.slots(out);
                out.push(window.slot);
            }
        }
    }

    /// Whether it reads what FROM names: tables, stored or not, and derived ones.
    pub fn names_tables(&self) -> bool {
        match self {
            Operator::Scan { .. }
            | Operator::Virtual { .. }
            | Operator::Derived { .. }
            | Operator::Recursive { .. }
            | Operator::Working { .. } => true,
            _ => self.inputs().iter().any(|input| input.names_tables()),
        }
    }

    /// Adds the stored tables that it reads.
    pub fn tables(&self, out: &mut Vec<Arc<Table>>) {
        if let Operator::Scan { table, .. } = self {
            out.push(table.clone());
        }
        self.inputs().iter().for_each(|input| input.tables(out));
    }

    /// Whether it reads the stored table `table`.
    pub fn reads(&self, table: &Arc<Table>) -> bool {
        match self {
            Operator::Scan { table: read, .. } => Arc::ptr_eq(read, table),
            _ => self.inputs().iter().any(|input| input.reads(table)),
        }
    }
}
