//! Windows: what an operator computes for each row from the rows around it.

use palisade_catalog::SqlType;
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::order::SortKey;
use palisade_expr::{Domain, Expr};

use crate::Limit;

/// Rows are divided, ordered, and each is given the values of the functions.
#[derive(Debug, Clone)]
pub struct WindowPlan {
    /// Where the values go.
    pub slot: usize,
    /// PARTITION BY.
    pub partition: Vec<SortKey>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// Rows come in this order: another window has sorted them by these keys, or by more.
    pub comes_sorted: bool,
    /// One per column of the slot.
    pub calls: Vec<WindowCall>,
    /// Rows that are wanted, if not all. Others may be missing, or have other values of which the same can be
    /// told: that they are not among the first.
    pub wanted: Option<FirstRows>,
}

/// The first of the rows that a window gives.
#[derive(Debug, Clone)]
pub enum FirstRows {
    /// In each partition those to which a call of ROW_NUMBER, RANK or DENSE_RANK gives no more than a number.
    Ranked {
        /// The number of the call.
        call: usize,
        /// A constant. If it is no number, all rows are wanted.
        most: Expr,
    },
    /// Of all of them those that a LIMIT gives, and those that it passes over.
    Limited(Limit),
}

/// A function and its frame.
#[derive(Debug, Clone)]
pub struct WindowCall {
    /// Which.
    pub function: WindowFunction,
    /// Computed for every row before any is called.
    pub arguments: Vec<Expr>,
    /// The rows it is about, for those that look at a frame.
    pub frame: Frame,
    /// Type of the value.
    pub ty: SqlType,
}

/// The functions. Constants are expressions evaluated once.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "named after the function")]
pub enum WindowFunction {
    RowNumber,
    Rank,
    DenseRank,
    CumeDist,
    PercentRank,
    Ntile(Expr),
    /// LEAD, or LAG: arguments are the value and maybe a default.
    Shifted {
        ahead: bool,
        offset: Expr,
    },
    First,
    Last,
    Nth(Expr),
    Aggregate(Box<AggregateSpec>),
}

/// Which rows of its partition a row's function is about.
#[derive(Debug, Clone)]
pub struct Frame {
    /// ROWS rather than RANGE: the current row is itself, not all its peers.
    pub by_rows: bool,
    /// The first.
    pub start: Edge,
    /// The last.
    pub end: Edge,
}

impl Frame {
    /// Whether it has rows alone that come before the current row, the row itself, and, if `with_peers`,
    /// those that have its key.
    fn looks_back(&self, with_peers: bool) -> bool {
        let begins = matches!(self.start, Edge::First | Edge::Current | Edge::Rows { following: false, .. });
        let ends = match &self.end {
            Edge::Current => self.by_rows || with_peers,
            Edge::Rows { following, .. } => !following,
            Edge::First | Edge::Last | Edge::Value { .. } => false,
        };
        begins && ends
    }
}

/// An end of a frame.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "named after what it is")]
pub enum Edge {
    First,
    Last,
    Current,
    /// So many rows before or after.
    Rows {
        amount: Expr,
        following: bool,
    },
    /// Where the key has this value, which depends on the row.
    Value {
        bound: Expr,
        domain: Domain,
    },
}

impl WindowPlan {
    /// Whether it sorts its rows.
    pub fn sorts(&self) -> bool {
        !self.comes_sorted && (!self.partition.is_empty() || !self.order.is_empty())
    }

    /// Whether its partitions come one after the other.
    pub fn comes_in_partitions(&self) -> bool {
        self.comes_sorted && !self.partition.is_empty()
    }

    /// Visits every expression that depends on rows.
    pub fn exprs(&self, visit: &mut dyn FnMut(&Expr)) {
        self.partition.iter().chain(&self.order).for_each(|key| visit(&key.expr));
        for call in &self.calls {
            call.arguments.iter().for_each(&mut *visit);
            if let WindowFunction::Aggregate(spec) = &call.function {
                spec.arguments.iter().for_each(&mut *visit);
            }
            for edge in [&call.frame.start, &call.frame.end] {
                if let Edge::Value { bound, .. } = edge {
                    visit(bound);
                }
            }
        }
    }

    /// Whether what the calls give for a row depends on rows alone that come before it in its partition, and,
    /// if `with_peers`, on those that have its key.
    pub fn looks_back(&self, with_peers: bool) -> bool {
        self.calls.iter().all(|call| match &call.function {
            WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank => true,
            WindowFunction::CumeDist | WindowFunction::PercentRank | WindowFunction::Ntile(_) => false,
            WindowFunction::Shifted { ahead, .. } => !ahead,
            WindowFunction::First
            | WindowFunction::Last
            | WindowFunction::Nth(_)
            | WindowFunction::Aggregate(_) => call.frame.looks_back(with_peers),
        })
    }

    /// Calls `visit` on every expression.
    pub fn exprs_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.partition.iter_mut().chain(&mut self.order).for_each(|key| visit(&mut key.expr));
        for call in &mut self.calls {
            call.arguments.iter_mut().for_each(&mut *visit);
            if let WindowFunction::Aggregate(spec) = &mut call.function {
                spec.arguments.iter_mut().for_each(&mut *visit);
            }
            for edge in [&mut call.frame.start, &mut call.frame.end] {
                if let Edge::Value { bound, .. } = edge {
                    visit(bound);
                }
            }
        }
    }
}
