//! Groupings whose rows can be read and added up in parts, side by side.
//!
//! This module decides which those are and what they cost. Whether one is executed so is decided when it is
//! executed: by `palisade_parallel_cost` and `palisade_parallel_threads` as they are then, and by whether the
//! transaction reads with a snapshot and has changed nothing. See docs/decisions/111-parts-side-by-side.md.

use palisade_engine::ReadMode;
use palisade_expr::aggregate::{AggregateKind, AggregateSpec};
use palisade_expr::func::Purity;
use palisade_expr::session_variables::SessionVariables;
use palisade_expr::{Expr, Node};

use super::reads::is_countable;
use super::{Operator, cost};
use crate::logical::Grouping;

/// Of a grouping whose rows can be added up in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct InParts {
    /// What it costs, in nanoseconds.
    pub cost: f64,
    /// It [only counts](is_count) the rows of a table.
    pub is_count: bool,
    /// How many groups there are, if that is known.
    pub groups: Option<f64>,
}

/// Putting parts' groups together is done by one thread, and costs for each group about what adding a row to
/// it does. So much of all that the grouping costs it may be at most.
const MERGED_AT_MOST: f64 = 0.125;

impl InParts {
    /// Of the grouping of what `input` gives, `rows` rows that cost `of_rows`, which makes so many groups if
    /// that is known; `None` if it cannot be done in parts, or would gain nothing.
    pub fn new(
        input: &Operator,
        grouping: &Grouping,
        (rows, of_rows): (f64, f64),
        groups: Option<f64>,
    ) -> Option<InParts> {
        let Grouping { group, aggregates, rollup, keep, .. } = grouping;
        let scan = match input {
            Operator::Noted { input, .. } => &**input,
            scan => scan,
        };
        let Operator::Scan { slot, access, filter, mode: ReadMode::Snapshot, .. } = scan else { return None };
        let is_plain = access.loose.is_none() && !access.backward && !*rollup && keep.is_empty();
        let arguments = aggregates.iter().flat_map(|spec| &spec.arguments);
        let are_of_row = filter.iter().chain(group).chain(arguments).all(|expr| is_of_row(expr, *slot));
        if !is_plain || !are_of_row || !aggregates.iter().all(AggregateSpec::is_of_parts) {
            return None;
        }
        let groups = groups.filter(|_| !group.is_empty());
        let of_group = if group.is_empty() { 0.0 } else { cost::HASHED_GROUP };
        let of_row = of_group + cost::ADDED_VALUE * aggregates.len() as f64;
        let cost = of_rows + rows * of_row;
        if groups.is_some_and(|groups| groups * of_row > cost * MERGED_AT_MOST) {
            return None;
        }
        Some(InParts { cost, is_count: is_count(scan, group, aggregates), groups })
    }
}

/// What groupings cost at least that are added up in parts, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DividedFrom {
    groupings: f64,
    counts: f64,
}

impl DividedFrom {
    /// None is.
    pub const NEVER: DividedFrom = DividedFrom { groupings: f64::INFINITY, counts: f64::INFINITY };

    /// With these variables, where so many threads are worth having.
    pub fn new(variables: &SessionVariables, threads: usize) -> DividedFrom {
        let from = |wanted: usize| match wanted.min(threads) {
            0 | 1 => f64::INFINITY,
            _ => variables.parallel_cost as f64 * 1e3,
        };
        DividedFrom {
            groupings: from(variables.parallel_threads),
            counts: from(variables.parallel_read_threads),
        }
    }

    /// Whether a grouping costs so much.
    pub fn is_reached(&self, by: &InParts) -> bool {
        by.cost >= if by.is_count { self.counts } else { self.groupings }
    }
}

/// Whether all that is asked of the rows of `input` is how many a table has.
pub fn is_count(input: &Operator, group: &[Expr], aggregates: &[AggregateSpec]) -> bool {
    let is_never_null = |argument: &Expr| match &argument.node {
        Node::Literal(value) => !value.is_null(),
        _ => !argument.nullable && argument.as_plain_column().is_some(),
    };
    let is_of_all = |spec: &AggregateSpec| {
        spec.kind == AggregateKind::Count && !spec.distinct && spec.arguments.iter().all(is_never_null)
    };
    group.is_empty() && !aggregates.is_empty() && aggregates.iter().all(is_of_all) && is_countable(input)
}

/// Whether its value depends on nothing but the row in a slot, and evaluating it does nothing else: any thread
/// that evaluates it, at any time of the statement, gets the same.
fn is_of_row(expr: &Expr, slot: usize) -> bool {
    let mut is_free = true;
    expr.walk(&mut |expr| {
        is_free &= match &expr.node {
            Node::Column { slot: of, .. } => *of == slot,
            Node::Call { function, .. } => function.purity == Purity::Pure,
            Node::UserVariable(_)
            | Node::AssignUserVariable(..)
            | Node::SystemVariable { .. }
            | Node::Subquery(_) => false,
            Node::Literal(_)
            | Node::Parameter(_)
            | Node::Negate(_)
            | Node::BitNot(_)
            | Node::Arithmetic { .. }
            | Node::Bits { .. }
            | Node::Compare { .. }
            | Node::And(_)
            | Node::Or(_)
            | Node::Xor(..)
            | Node::Not(_)
            | Node::Is { .. }
            | Node::In { .. }
            | Node::Between { .. }
            | Node::Like { .. }
            | Node::Case { .. }
            | Node::Cast { .. }
            | Node::Transcode { .. } => true,
        };
    });
    is_free
}
