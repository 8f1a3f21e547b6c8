//! ORDER BY and LIMIT of a block whose last window gives its rows in that order anyway: they are not sorted
//! again, and the window keeps the first ones only.
//!
//! ```text
//!  SELECT a, ROW_NUMBER() OVER (ORDER BY x, a) AS r FROM t ORDER BY x LIMIT 10        x is the first key
//!  SELECT a, RANK() OVER (ORDER BY x) AS r FROM t ORDER BY r LIMIT 10                 r grows with x
//! ```
//!
//! The rows of a window come in the order of PARTITION BY and ORDER BY, those that are alike in the order in
//! which they came, as a sort gives them.

use palisade_expr::order::SortKey;
use palisade_expr::{Expr, Node};

use super::logical::{Block, Distinct};
use super::rules::has_no_effects;
use super::window::{FirstRows, WindowFunction, WindowPlan};

/// The rows of a block's last window come in the order of its ORDER BY.
#[derive(Debug)]
pub struct WindowOrder {
    /// Those that the window has to give, if not all.
    pub wanted: Option<FirstRows>,
}

impl WindowOrder {
    /// Of a block with a LIMIT, of which `output` is computed; `None` if its rows have to be sorted.
    pub fn of(block: &Block, output: &[Expr]) -> Option<WindowOrder> {
        let (Some(limit), Some(window)) = (&block.order.limit, block.windows.last()) else { return None };
        let gives_each_row = matches!(block.distinct, Distinct::No) && !block.counts_all && !block.whole_rows;
        if !gives_each_row || !follows(block, window) {
            return None;
        }
        // Without keys, reading ends with the last row that is wanted.
        let has_keys = !window.partition.is_empty() || !window.order.is_empty();
        let may_stop = window.looks_back(false) && (has_keys || has_no_effects(block, output));
        Some(WindowOrder { wanted: may_stop.then(|| FirstRows::Limited(limit.clone())) })
    }
}

/// Whether rows in the order of a window of a block are in that of its ORDER BY.
fn follows(block: &Block, window: &WindowPlan) -> bool {
    let mut own = window.partition.iter().chain(&window.order);
    let mut keys = block.order.keys.iter();
    while let Some(key) = keys.next() {
        let expr = projected(block, &key.expr);
        match rank(window, expr) {
            Some(WindowFunction::RowNumber) if !key.descending => return true,
            // Of rows with one rank the others decide.
            Some(WindowFunction::Rank | WindowFunction::DenseRank) if !key.descending => {
                return keys.next().is_none();
            }
            _ => {}
        }
        let is_next = |own: &SortKey| own.expr == *expr && own.descending == key.descending;
        if !own.next().is_some_and(is_next) {
            return false;
        }
    }
    true
}

/// What a column of a block's projection is computed of.
fn projected<'b>(block: &'b Block, expr: &'b Expr) -> &'b Expr {
    match (&block.projection, &expr.node) {
        (Some(projection), Node::Column { slot, column, .. }) if *slot == projection.slot => {
            projection.values.get(*column).unwrap_or(expr)
        }
        _ => expr,
    }
}

/// The function of a window that an expression is the value of, where it does not begin anew in each
/// partition.
fn rank<'w>(window: &'w WindowPlan, expr: &Expr) -> Option<&'w WindowFunction> {
    match expr.node {
        Node::Column { slot, column, .. } if slot == window.slot && window.partition.is_empty() => {
            window.calls.get(column).map(|call| &call.function)
        }
        _ => None,
    }
}
