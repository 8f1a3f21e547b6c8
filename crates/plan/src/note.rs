//! What EXPLAIN tells of operators beside what they do: what each is thought to cost, and what it has been
//! measured to do.
//!
//! Only the plan that EXPLAIN makes has notes. A [`Operator::Noted`] stands above every other operator there:
//!
//! ```text
//!   executed:    Sort ── Scan          explained:   Noted ── Sort ── Noted ── Scan
//! ```
//!
//! so that a plan that is executed has no place for them, and an operator does not know whether it is
//! measured. The joins of a block are noted where they are planned, which knows their costs; what stands
//! above them is noted at the end ([`add_to`]), from what is below.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use palisade_engine::ReadMode;

use super::{JoinKind, Operator, Query, cost};

/// What an operator is thought to give, and to cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Rows, each time it is read.
    pub rows: f64,
    /// What reading it [costs](super::cost).
    pub cost: f64,
    /// The part of it before the first row, where that is nearly all.
    pub startup: Option<f64>,
}

/// How a table was thought to be read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Rows that its path reads each time, before its filter.
    pub examined: f64,
    /// The indexes that conditions would have narrowed, a bit for each.
    pub possible: u64,
}

/// What is told of an operator.
#[derive(Debug)]
pub struct Note {
    /// What was thought of it.
    pub estimate: Estimate,
    /// Of a table.
    pub reading: Option<Reading>,
    /// What it has done.
    pub measured: Measured,
}

/// What an operator has done in all executions of the plan, of which EXPLAIN ANALYZE has one.
#[derive(Debug, Default)]
pub struct Measured {
    loops: AtomicU64,
    rows: AtomicU64,
    first_nanos: AtomicU64,
    nanos: AtomicU64,
}

/// [`Measured`], read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Actual {
    /// How many times it has been read from its beginning.
    pub loops: u64,
    /// Rows that it gave, each time.
    pub rows: f64,
    /// Milliseconds until the first row, or until there was none, each time.
    pub first_ms: f64,
    /// Milliseconds in all, each time.
    pub last_ms: f64,
}

impl Measured {
    /// It has been asked for a row, which took so long; `is_first` of this reading.
    pub fn add(&self, took: Duration, is_first: bool, found: bool) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        if is_first {
            self.loops.fetch_add(1, Ordering::Relaxed);
            self.first_nanos.fetch_add(nanos, Ordering::Relaxed);
        }
        if found {
            self.rows.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What has been measured; `None` if it was never read.
    pub fn actual(&self) -> Option<Actual> {
        let loops = self.loops.load(Ordering::Relaxed);
        let each = |sum: &AtomicU64| sum.load(Ordering::Relaxed) as f64 / loops as f64;
        (loops > 0).then(|| Actual {
            loops,
            rows: each(&self.rows),
            first_ms: each(&self.first_nanos) / 1e6,
            last_ms: each(&self.nanos) / 1e6,
        })
    }
}

/// The operator with a note.
pub fn noted(input: Operator, estimate: Estimate, reading: Option<Reading>) -> Operator {
    let note = Arc::new(Note { estimate, reading, measured: Measured::default() });
    Operator::Noted { input: Box::new(input), note }
}

/// Adds notes to all operators of a query that have none.
pub fn add_to(query: &mut Query) {
    add(&mut query.root);
}

fn add(operator: &mut Operator) {
    if let Operator::Noted { input, .. } = operator {
        return each_input(input, &mut add);
    }
    each_input(operator, &mut add);
    let taken = std::mem::replace(operator, Operator::Nothing);
    let estimate = estimate(&taken);
    *operator = noted(taken, estimate, None);
}

/// Makes operators of their own of the filters of tables in a query that is measured: a scan and its filter
/// are one operator otherwise. A filter of rows that are locked stays where it is, since it decides which.
pub fn split_filters(query: &mut Query) {
    split(&mut query.root);
}

fn split(operator: &mut Operator) {
    let Operator::Noted { input, note } = operator else { return each_input(operator, &mut split) };
    let Operator::Scan { filter, rows, mode: ReadMode::Snapshot, .. } = &mut **input else {
        return each_input(input, &mut split);
    };
    let Some(condition) = filter.take() else { return };
    let examined = note.reading.map_or(*rows, |reading| reading.examined);
    *rows = examined;
    let estimate = Estimate { rows: examined, ..note.estimate };
    let scan = noted(std::mem::replace(&mut **input, Operator::Nothing), estimate, note.reading);
    **input = Operator::Filter { input: Box::new(scan), condition };
}

/// Calls `change` on what the operator takes its rows from. A query that more than one operator reads stays
/// as it is.
pub(super) fn each_input(operator: &mut Operator, change: &mut dyn FnMut(&mut Operator)) {
    match operator {
        Operator::Dual
        | Operator::Nothing
        | Operator::Scan { .. }
        | Operator::Virtual { .. }
        | Operator::Values { .. }
        | Operator::Working { .. } => {}
        Operator::Filter { input, .. }
        | Operator::Aggregate { input, .. }
        | Operator::FirstOfEach { input, .. }
        | Operator::Sort { input, .. }
        | Operator::Project { input, .. }
        | Operator::Distinct { input, .. }
        | Operator::Window { input, .. }
        | Operator::Noted { input, .. }
        | Operator::Limit { input, .. } => change(input),
        Operator::NestedLoop { left, right, .. } | Operator::HashJoin { left, right, .. } => {
            change(left);
            change(right);
        }
        Operator::Union { inputs, .. } | Operator::IndexMerge { inputs, .. } => {
            inputs.iter_mut().for_each(change);
        }
        Operator::Derived { query, .. } => {
            if let Some(query) = Arc::get_mut(query) {
                change(&mut query.root);
            }
        }
        Operator::Recursive { recursion, .. } => {
            if let Some(recursion) = Arc::get_mut(recursion) {
                change(&mut recursion.seed.root);
                recursion.steps.iter_mut().for_each(|step| change(&mut step.root));
            }
        }
    }
}

/// What is thought of an operator, by what is thought of those below it.
pub fn estimate(operator: &Operator) -> Estimate {
    let all = |rows: f64, cost: f64| Estimate { rows, cost, startup: None };
    match operator {
        Operator::Noted { note, .. } => note.estimate,
        Operator::Dual => all(1.0, 0.0),
        Operator::Nothing => all(0.0, 0.0),
        Operator::Values { function: Some(_), .. } => {
            all(crate::json_table::ROWS, crate::json_table::ROWS * cost::KEPT_ROW)
        }
        Operator::Values { rows, .. } => all(rows.len() as f64, 0.0),
        Operator::Scan { rows, .. } | Operator::IndexMerge { rows, .. } => all(*rows, 0.0),
        Operator::Virtual { .. } => all(cost::UNKNOWN_ROWS, cost::UNKNOWN_ROWS * cost::VIRTUAL_ROW),
        Operator::Working { .. } => all(cost::WORKING_ROWS, cost::WORKING_ROWS * cost::KEPT_ROW),
        Operator::NestedLoop { left, right, kind, .. } => {
            let (left, right) = (estimate(left), estimate(right));
            let rows = match kind {
                JoinKind::Semi | JoinKind::Anti => left.rows * cost::HAS_MATCH,
                JoinKind::Inner | JoinKind::Left => left.rows * right.rows,
            };
            all(rows, left.cost + left.rows * right.cost)
        }
        Operator::HashJoin { left, right, .. } => {
            let (left, right) = (estimate(left), estimate(right));
            all(left.rows, left.cost + right.cost + right.rows * cost::HASHED_ROW + left.rows * cost::PROBE)
        }
        Operator::Filter { input, condition } => {
            let input = estimate(input);
            Estimate { rows: input.rows * cost::selectivity(condition), ..input }
        }
        Operator::Project { input, .. } => estimate(input),
        Operator::Window { input, window } => {
            let input = estimate(input);
            let sorting = if window.sorts() { cost::sorting(input.rows, None) } else { 0.0 };
            all(input.rows, input.cost + sorting)
        }
        Operator::Aggregate { input, group, .. } if group.is_empty() => {
            let input = estimate(input);
            all(1.0, input.cost + input.rows * cost::JOINED_ROW)
        }
        Operator::Aggregate { input, in_groups: true, .. } | Operator::FirstOfEach { input, .. } => {
            let input = estimate(input);
            all((input.rows * 0.5).max(1.0), input.cost + input.rows * cost::GROUPED_ROW)
        }
        Operator::Aggregate { input, .. } => {
            let input = estimate(input);
            kept((input.rows * 0.5).max(1.0), input.cost + input.rows * cost::HASHED_ROW)
        }
        Operator::Distinct { input, .. } => {
            let input = estimate(input);
            kept(input.rows, input.cost + input.rows * cost::HASHED_ROW)
        }
        Operator::Sort { input, limit, .. } => {
            let input = estimate(input);
            let limit = limit.as_ref().and_then(|limit| number(&limit.count));
            kept(limit.map_or(input.rows, |limit| limit.min(input.rows)), {
                input.cost + cost::sorting(input.rows, limit)
            })
        }
        Operator::Limit { input, limit } => {
            let input = estimate(input);
            Estimate { rows: number(&limit.count).map_or(input.rows, |most| most.min(input.rows)), ..input }
        }
        Operator::Union { inputs, .. } => {
            let inputs = inputs.iter().map(estimate);
            inputs.fold(all(0.0, 0.0), |sum, one| all(sum.rows + one.rows, sum.cost + one.cost))
        }
        Operator::Derived { query, filter, .. } => {
            let inner = estimate(&query.root);
            let part = filter.as_ref().map_or(1.0, cost::selectivity);
            kept(inner.rows * part, inner.cost + inner.rows * cost::KEPT_ROW)
        }
        Operator::Recursive { recursion, .. } => {
            let inner = recursion.queries().map(|query| estimate(&query.root));
            let cost = inner.map(|inner| inner.cost).sum::<f64>();
            kept(cost::UNKNOWN_ROWS, cost + cost::UNKNOWN_ROWS * cost::KEPT_ROW)
        }
    }
}

/// Of what keeps its rows before it gives the first.
fn kept(rows: f64, cost: f64) -> Estimate {
    Estimate { rows, cost: cost + rows * cost::KEPT_ROW, startup: Some(cost) }
}

fn number(expr: &palisade_expr::Expr) -> Option<f64> {
    match &expr.node {
        palisade_expr::Node::Literal(palisade_catalog::Value::Int(value)) => Some(*value as f64),
        palisade_expr::Node::Literal(palisade_catalog::Value::UInt(value)) => Some(*value as f64),
        _ => None,
    }
}
