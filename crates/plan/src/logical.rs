//! The logical plan: what a query asks for, with every name resolved and every type known, before anything
//! says how it is done.
//!
//! Binding makes it of the parse tree, rules rewrite it, and [`Planner`](super::lower::Planner) makes
//! operators of it: join orders, access paths, which sorts are needed.
//!
//! ```text
//!  parse tree ── bind ──► LogicalQuery ── rules ──► LogicalQuery ── lower ──► Query (operators)
//! ```
//!
//! A query is a block (FROM, WHERE, GROUP BY, HAVING, windows, DISTINCT, ORDER BY, LIMIT), rows written in
//! the statement, a combination of queries (UNION and its kin), or a query that is ordered and limited from
//! outside.
//!
//! # Slots
//!
//! Every source of columns in a statement - a table, a derived table, the groups of a block, the values of a
//! window's functions - has a number of its own, its *slot*, and a column is named by slot and position.
//! Numbers are not used twice in a statement. So an expression can be moved between blocks as it is: a
//! subquery whose block becomes part of the one around it needs no renaming.

use std::sync::Arc;

use palisade_catalog::SqlType;
use palisade_engine::{ReadMode, Table};
use palisade_expr::Expr;
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::order::SortKey;
use palisade_parser::ast::IndexHint;
use palisade_schema::TableDecl;
use palisade_session::sink::ColumnMeta;

use super::hints::BlockHints;
use super::json_table::JsonTable;
use super::partition::RowPartitions;
use super::window::WindowPlan;
use super::{KeptKey, Limit, SetStep};

/// A column of an enclosing block that a block reads.
#[derive(Debug, Clone)]
pub struct OuterColumn {
    /// Its table's slot.
    pub slot: usize,
    /// Its position.
    pub column: usize,
    /// Its name as it prints.
    pub name: Arc<str>,
}

/// Tables of one join, as in MySQL.
pub const MAX_TABLES: usize = 61;

/// A query.
#[derive(Debug, Clone)]
pub struct LogicalQuery {
    /// What it consists of.
    pub body: Body,
    /// One expression per column of the result, computed from each row of the body.
    pub output: Vec<Expr>,
    /// Names and types of the result's columns.
    pub columns: Vec<ColumnMeta>,
    /// Slots of enclosing queries that it reads.
    pub outer_slots: Vec<usize>,
    /// Columns of enclosing queries that it reads.
    pub outer_columns: Vec<OuterColumn>,
}

/// What a query consists of.
#[derive(Debug, Clone)]
pub enum Body {
    /// SELECT.
    Block(Box<Block>),
    /// VALUES ROW(): rows of a slot.
    Values {
        /// Where the rows are.
        slot: usize,
        /// The rows.
        rows: Vec<Vec<Expr>>,
        /// The table function that makes the rows, of the document that is the one value of the one row.
        function: Option<Arc<JsonTable>>,
    },
    /// UNION and its kin.
    Combination(Box<Combination>),
    /// A query in parentheses, with ORDER BY or LIMIT behind them.
    Arranged {
        /// The query in parentheses, whose output is put into `slot`.
        inner: Box<LogicalQuery>,
        /// Where its output is.
        slot: usize,
        /// What is done with it.
        order: Order,
    },
}

/// ORDER BY and LIMIT.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// Sort keys.
    pub keys: Vec<SortKey>,
    /// LIMIT.
    pub limit: Option<Limit>,
}

/// A query block, in the order in which its parts take effect.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// Its number among the blocks of the statement, in the order of the text; 0 if no text has it.
    pub number: u32,
    /// FROM; none is one row without columns.
    pub tree: Option<JoinTree>,
    /// WHERE: all must hold.
    pub conditions: Vec<Expr>,
    /// GROUP BY, or aggregates without it.
    pub grouping: Option<Grouping>,
    /// HAVING, in terms of the groups.
    pub having: Option<Expr>,
    /// Windows, in the order in which they are computed.
    pub windows: Vec<WindowPlan>,
    /// The values that rows consist of from here on, if they are put into a slot: what is to be distinct, or
    /// must be computed once.
    pub projection: Option<Projection>,
    /// DISTINCT.
    pub distinct: Distinct,
    /// ORDER BY and LIMIT.
    pub order: Order,
    /// SQL_CALC_FOUND_ROWS: of the statement's outermost block all rows are found, and LIMIT is about those
    /// that are sent.
    pub counts_all: bool,
    /// STRAIGHT_JOIN: tables are joined as written.
    pub straight: bool,
    /// What hints say of it.
    pub hints: BlockHints,
    /// More is read of its tables than its expressions say: by an enclosing statement that changes rows.
    pub whole_rows: bool,
}

/// GROUP BY and aggregates.
#[derive(Debug, Clone)]
pub struct Grouping {
    /// Where the groups are: the expressions of `group`, then the aggregates.
    pub slot: usize,
    /// GROUP BY; empty for one group of all rows.
    pub group: Vec<Expr>,
    /// The aggregates.
    pub aggregates: Vec<AggregateSpec>,
    /// WITH ROLLUP.
    pub rollup: bool,
    /// Slots of the block's tables of which one row is kept per group, for columns that depend on the group.
    pub keep: Vec<usize>,
    /// With ROLLUP: which columns of those are grouped by.
    pub kept_keys: Vec<KeptKey>,
}

/// Values that are put into a slot.
#[derive(Debug, Clone)]
pub struct Projection {
    /// The slot.
    pub slot: usize,
    /// The values.
    pub values: Vec<Expr>,
}

/// How rows that look alike are left out.
#[derive(Debug, Clone, Default)]
pub enum Distinct {
    /// They are not.
    #[default]
    No,
    /// By the first columns of the projection, of these types.
    Projected(Vec<SqlType>),
    /// By sorting: they are sorted by all that they show.
    Sorted,
}

/// UNION and its kin: each query is projected into one slot, in the types that hold the values of all.
#[derive(Debug, Clone)]
pub struct Combination {
    /// The queries, whose outputs have been converted into `types`.
    pub inputs: Vec<LogicalQuery>,
    /// How each input is combined with those before it; one less than there are inputs.
    pub steps: Vec<SetStep>,
    /// Where the rows are.
    pub slot: usize,
    /// Types of the columns.
    pub types: Vec<SqlType>,
    /// ORDER BY and LIMIT of all.
    pub order: Order,
}

/// Tables and how they are joined.
#[derive(Debug, Clone)]
pub enum JoinTree {
    /// One table.
    Leaf(Leaf),
    /// All of these, under conditions.
    Inner(Vec<JoinTree>, Vec<Expr>),
    /// Every left row, with the right rows that match or with NULLs.
    Left(Box<JoinTree>, Box<JoinTree>, Vec<Expr>),
    /// The left rows that have a match, or none of them; columns of the right side are read by `on` alone.
    Semi {
        /// What gives the rows.
        left: Box<JoinTree>,
        /// What is looked for.
        right: Box<JoinTree>,
        /// All must hold for a match.
        on: Vec<Expr>,
        /// The rows that have no match.
        anti: bool,
        /// The number of the subquery that it has been.
        number: usize,
    },
}

/// A table.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Leaf {
    Table(TableLeaf),
    Virtual(VirtualLeaf),
    Derived {
        slot: usize,
        query: Box<LogicalQuery>,
        alias: String,
        /// The number of the subquery in an expression that it has been.
        subquery: Option<usize>,
    },
    Recursive {
        slot: usize,
        recursion: Box<LogicalRecursion>,
        alias: String,
    },
    Working {
        slot: usize,
        table: usize,
        alias: String,
    },
}

/// A virtual table.
#[derive(Debug, Clone)]
pub struct VirtualLeaf {
    /// Where its rows are placed.
    pub slot: usize,
    /// Which.
    pub table: &'static TableDecl,
    /// As the statement calls it.
    pub alias: String,
}

/// A stored table.
#[derive(Debug, Clone)]
pub struct TableLeaf {
    /// Where its rows are placed.
    pub slot: usize,
    /// Which.
    pub table: Arc<Table>,
    /// As the statement calls it.
    pub alias: String,
    /// USE INDEX and its kin.
    pub hints: Vec<IndexHint>,
    /// How its rows are read.
    pub mode: ReadMode,
    /// How it is partitioned, if it is.
    pub partitions: Option<Arc<RowPartitions>>,
}

/// A recursive common table expression.
#[derive(Debug, Clone)]
pub struct LogicalRecursion {
    /// The rows to begin with.
    pub seed: LogicalQuery,
    /// What makes rows of the rows of the round before.
    pub steps: Vec<LogicalQuery>,
    /// Number of the working table.
    pub table: usize,
    /// UNION rather than UNION ALL: rows that are there already are dropped.
    pub distinct: bool,
    /// It ends when it has so many rows.
    pub limit: Option<Limit>,
    /// Types of the columns: the seed's.
    pub types: Vec<SqlType>,
    /// Names of the columns.
    pub names: Vec<String>,
    /// Slots of enclosing queries that it reads.
    pub outer_slots: Vec<usize>,
}

impl LogicalQuery {
    /// A query of a body, which reads nothing of enclosing queries.
    pub fn new(body: Body, output: Vec<Expr>, columns: Vec<ColumnMeta>) -> LogicalQuery {
        LogicalQuery { body, output, columns, outer_slots: Vec::new(), outer_columns: Vec::new() }
    }

    /// What stands where a query has been taken from.
    pub(super) fn nothing() -> LogicalQuery {
        LogicalQuery::new(Body::Block(Box::default()), Vec::new(), Vec::new())
    }

    /// How many tables its block joins; none if it is no block.
    pub(super) fn table_count(&self) -> usize {
        match &self.body {
            Body::Block(block) => block.tree.as_ref().map_or(0, JoinTree::count),
            Body::Values { .. } | Body::Combination(_) | Body::Arranged { .. } => 0,
        }
    }

    /// LIMIT of all that it gives.
    pub(super) fn limit(&self) -> Option<&Limit> {
        match &self.body {
            Body::Block(block) => block.order.limit.as_ref(),
            Body::Values { .. } => None,
            Body::Combination(combination) => combination.order.limit.as_ref(),
            Body::Arranged { order, .. } => order.limit.as_ref(),
        }
    }

    /// Whether a block of it computes window functions, those of its derived tables included.
    pub fn has_windows(&self) -> bool {
        match &self.body {
            Body::Block(block) => {
                let mut found = !block.windows.is_empty();
                if let Some(tree) = &block.tree {
                    tree.leaves(&mut |leaf| {
                        found |= matches!(leaf, Leaf::Derived { query, .. } if query.has_windows());
                    });
                }
                found
            }
            Body::Values { .. } => false,
            Body::Combination(combination) => combination.inputs.iter().any(LogicalQuery::has_windows),
            Body::Arranged { inner, .. } => inner.has_windows(),
        }
    }

    /// Whether it groups, or computes window functions.
    pub fn aggregates(&self) -> bool {
        match &self.body {
            Body::Block(block) => block.grouping.is_some() || !block.windows.is_empty(),
            Body::Values { .. } | Body::Combination(_) => false,
            Body::Arranged { inner, .. } => inner.aggregates(),
        }
    }
}

impl LogicalRecursion {
    /// What stands where a recursion has been taken from.
    pub(super) fn nothing() -> LogicalRecursion {
        LogicalRecursion {
            seed: LogicalQuery::nothing(),
            steps: Vec::new(),
            table: 0,
            distinct: false,
            limit: None,
            types: Vec::new(),
            names: Vec::new(),
            outer_slots: Vec::new(),
        }
    }
}

impl Leaf {
    /// Where its rows are placed.
    pub fn slot(&self) -> usize {
        match self {
            Leaf::Table(TableLeaf { slot, .. })
            | Leaf::Virtual(VirtualLeaf { slot, .. })
            | Leaf::Derived { slot, .. }
            | Leaf::Recursive { slot, .. }
            | Leaf::Working { slot, .. } => *slot,
        }
    }
}

impl JoinTree {
    /// The conditions that all rows meet because tables are joined.
    pub fn inner_conditions(&self, conditions: &mut Vec<Expr>) {
        match self {
            JoinTree::Inner(trees, on) => {
                trees.iter().for_each(|tree| tree.inner_conditions(conditions));
                conditions.extend(on.iter().cloned());
            }
            JoinTree::Left(left, ..) | JoinTree::Semi { left, .. } => left.inner_conditions(conditions),
            JoinTree::Leaf(_) => {}
        }
    }

    /// Says how the tables of a join are read whose rows are changed if they are in one of `slots`.
    pub fn change_joined(&mut self, slots: &[usize]) {
        self.leaves_mut(&mut |leaf| {
            if let Leaf::Table(leaf) = leaf {
                leaf.mode =
                    if slots.contains(&leaf.slot) { ReadMode::ChangeJoined } else { ReadMode::Source };
            }
        });
    }

    /// Adds the slots of its tables.
    pub fn slots(&self, out: &mut Vec<usize>) {
        self.leaves(&mut |leaf| out.push(leaf.slot()));
    }

    /// Slots that tables of it read which are queries: those of the tables before them, where they are LATERAL,
    /// and of enclosing queries.
    pub fn read_by_lateral(&self) -> Vec<usize> {
        let mut read = Vec::new();
        self.leaves(&mut |leaf| match leaf {
            Leaf::Derived { query, .. } => read.extend_from_slice(&query.outer_slots),
            Leaf::Recursive { recursion, .. } => read.extend_from_slice(&recursion.outer_slots),
            Leaf::Table(_) | Leaf::Virtual(_) | Leaf::Working { .. } => {}
        });
        read
    }

    /// Visits its tables, from left to right as they were written; the right side of a RIGHT JOIN comes
    /// first.
    pub fn leaves<'a>(&'a self, visit: &mut dyn FnMut(&'a Leaf)) {
        match self {
            JoinTree::Leaf(leaf) => visit(leaf),
            JoinTree::Inner(children, _) => children.iter().for_each(|child| child.leaves(visit)),
            JoinTree::Left(left, right, _) | JoinTree::Semi { left, right, .. } => {
                left.leaves(visit);
                right.leaves(visit);
            }
        }
    }

    /// As [`leaves`](Self::leaves), to change them.
    pub fn leaves_mut(&mut self, visit: &mut dyn FnMut(&mut Leaf)) {
        match self {
            JoinTree::Leaf(leaf) => visit(leaf),
            JoinTree::Inner(children, _) => children.iter_mut().for_each(|child| child.leaves_mut(visit)),
            JoinTree::Left(left, right, _) | JoinTree::Semi { left, right, .. } => {
                left.leaves_mut(visit);
                right.leaves_mut(visit);
            }
        }
    }

    /// Visits the conditions of its joins.
    pub fn conditions(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            JoinTree::Leaf(_) => {}
            JoinTree::Inner(children, on) => {
                on.iter().for_each(&mut *visit);
                children.iter().for_each(|child| child.conditions(visit));
            }
            JoinTree::Left(left, right, on) | JoinTree::Semi { left, right, on, .. } => {
                on.iter().for_each(&mut *visit);
                left.conditions(visit);
                right.conditions(visit);
            }
        }
    }

    /// As [`conditions`](Self::conditions), to change them.
    pub fn conditions_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            JoinTree::Leaf(_) => {}
            JoinTree::Inner(children, on) => {
                on.iter_mut().for_each(&mut *visit);
                children.iter_mut().for_each(|child| child.conditions_mut(visit));
            }
            JoinTree::Left(left, right, on) | JoinTree::Semi { left, right, on, .. } => {
                on.iter_mut().for_each(&mut *visit);
                left.conditions_mut(visit);
                right.conditions_mut(visit);
            }
        }
    }

    /// How many tables it has.
    pub fn count(&self) -> usize {
        let mut count = 0;
        self.leaves(&mut |_| count += 1);
        count
    }
}

impl Block {
    /// Whether it joins tables under conditions, and does nothing that a block around it could not do with
    /// the same rows: what it projects, leaves out as alike and orders by aside.
    pub(super) fn only_joins(&self) -> bool {
        self.tree.is_some()
            && self.grouping.is_none()
            && self.having.is_none()
            && self.windows.is_empty()
            && self.order.limit.is_none()
            && !self.straight
            && !self.whole_rows
    }

    /// Slots of its tables, in the order of FROM.
    pub fn slots(&self) -> Vec<usize> {
        let mut slots = Vec::new();
        if let Some(tree) = &self.tree {
            tree.slots(&mut slots);
        }
        slots
    }

    /// Visits its expressions but for those of its tables, and the output, which is the query's.
    pub fn exprs(&self, visit: &mut dyn FnMut(&Expr)) {
        if let Some(tree) = &self.tree {
            tree.conditions(visit);
        }
        self.conditions.iter().for_each(&mut *visit);
        if let Some(grouping) = &self.grouping {
            grouping.group.iter().for_each(&mut *visit);
            for spec in &grouping.aggregates {
                spec.arguments.iter().for_each(&mut *visit);
                spec.order_by.iter().for_each(|key| visit(&key.expr));
            }
        }
        self.having.iter().for_each(&mut *visit);
        self.windows.iter().for_each(|window| window.exprs(visit));
        self.projection.iter().flat_map(|projection| &projection.values).for_each(&mut *visit);
        self.order.keys.iter().for_each(|key| visit(&key.expr));
    }
}
