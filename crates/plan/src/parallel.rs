//! Groupings whose rows can be read and added up in parts, side by side.
//!
//! The rows are those of one table, or of a join that begins with one, whose [driving] scan is divided. This
//! module decides which groupings those are and what they cost. Whether one is executed so is decided when it
//! is executed: by `palisade_parallel_cost` and `palisade_parallel_threads` as they are then, and by whether
//! the transaction reads with a snapshot and has changed nothing. See
//! docs/decisions/111-parts-side-by-side.md.

use std::sync::Arc;

use palisade_engine::{ReadMode, Table};
use palisade_expr::aggregate::{AggregateKind, AggregateSpec};
use palisade_expr::func::Purity;
use palisade_expr::session_variables::SessionVariables;
use palisade_expr::{Expr, Node};

use super::examined::fetched;
use super::reads::is_countable;
use super::{Merge, Operator, cost};
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

/// How much of what a grouping costs may be done again because it is done in parts, at most: putting groups
/// together, which costs for each about what adding a row to it does, and hash tables, of which each part has
/// its own.
const DONE_AGAIN_AT_MOST: f64 = 0.125;

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
        driving(input)?;
        let mut slots = Vec::new();
        input.slots(&mut slots);
        let arguments = aggregates.iter().flat_map(|spec| &spec.arguments);
        if *rollup
            || !keep.is_empty()
            || !group.iter().chain(arguments).all(|expr| is_of_rows(expr, &slots))
            || !aggregates.iter().all(AggregateSpec::is_of_parts)
            || !are_rows_free(input, &slots, Side::Driving)
        {
            return None;
        }
        let groups = groups.filter(|_| !group.is_empty());
        let of_group = if group.is_empty() { 0.0 } else { cost::HASHED_GROUP };
        let of_row = of_group + cost::ADDED_VALUE * aggregates.len() as f64;
        let cost = of_rows + rows * of_row;
        let done_again = groups.map_or(0.0, |groups| groups * of_row) + cost_of_tables(input);
        if done_again > cost * DONE_AGAIN_AT_MOST {
            return None;
        }
        let plain = match input {
            Operator::Noted { input, .. } => input,
            input => input,
        };
        Some(InParts { cost, is_count: is_count(plain, group, aggregates), groups })
    }
}

/// The scan that drives what finds rows: for each of its rows in turn those of the other tables are found, so
/// that pieces of it can be read by different threads.
pub fn driving(input: &Operator) -> Option<&Operator> {
    match input {
        Operator::Scan { access, mode: ReadMode::Snapshot, .. } => {
            (access.loose.is_none() && access.skipped == 0 && !access.backward).then_some(input)
        }
        Operator::Filter { input, .. } | Operator::Noted { input, .. } => driving(input),
        Operator::NestedLoop { left, .. } | Operator::HashJoin { left, .. } => driving(left),
        _ => None,
    }
}

/// The stored tables that are read.
pub fn tables(input: &Operator) -> Vec<&Arc<Table>> {
    match input {
        Operator::Scan { table, .. } => vec![table],
        _ => input.inputs().into_iter().flat_map(tables).collect(),
    }
}

/// Which rows an operator finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Those that are divided. The ranges in which they lie are found by the statement itself.
    Driving,
    /// Those that belong to one of these.
    Found,
}

/// Whether finding rows of these slots depends on nothing but other rows of them, and does nothing else.
fn are_rows_free(input: &Operator, slots: &[usize], side: Side) -> bool {
    let of_rows = |expr: &Expr| is_of_rows(expr, slots);
    match input {
        Operator::Scan { access, filter, mode: ReadMode::Snapshot, .. } => {
            let mut keys = Vec::new();
            if side == Side::Found {
                access.each_expr(&mut |expr| keys.push(expr));
            }
            access.loose.is_none() && access.skipped == 0 && filter.iter().chain(keys).all(of_rows)
        }
        Operator::IndexMerge { inputs, kind: Merge::Union, .. } => {
            inputs.iter().all(|input| are_rows_free(input, slots, side))
        }
        Operator::Noted { input, .. } => are_rows_free(input, slots, side),
        Operator::Filter { input, condition } => of_rows(condition) && are_rows_free(input, slots, side),
        Operator::NestedLoop { left, right, condition, .. } => {
            condition.iter().all(of_rows)
                && are_rows_free(left, slots, side)
                && are_rows_free(right, slots, Side::Found)
        }
        Operator::HashJoin { left, right, keys, condition, keeps, .. } => {
            *keeps
                && keys.iter().flat_map(|(left, right, _)| [left, right]).chain(condition).all(of_rows)
                && are_rows_free(left, slots, side)
                && are_rows_free(right, slots, Side::Found)
        }
        _ => false,
    }
}

/// What making the hash tables of joins costs, which each part does for itself.
fn cost_of_tables(input: &Operator) -> f64 {
    let of_inputs: f64 = input.inputs().into_iter().map(cost_of_tables).sum();
    match input {
        Operator::HashJoin { right, .. } => of_inputs + cost_of_table(right),
        _ => of_inputs,
    }
}

fn cost_of_table(right: &Operator) -> f64 {
    match right {
        Operator::Scan { table, access, rows, .. } => {
            fetched(table, access, *rows) * cost::ROW_IN_ORDER + rows * cost::HASHED_ROW
        }
        _ => right.inputs().into_iter().map(cost_of_table).sum(),
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

/// Whether its value depends on nothing but the rows in these slots, and evaluating it does nothing else: any
/// thread that evaluates it, at any time of the statement, gets the same.
fn is_of_rows(expr: &Expr, slots: &[usize]) -> bool {
    let mut is_free = true;
    expr.walk(&mut |expr| {
        is_free &= match &expr.node {
            Node::Column { slot, .. } => slots.contains(slot),
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
