//! A bound on a rank goes into the window that computes it.
//!
//! ```text
//!  SELECT * FROM (SELECT a, RANK() OVER (PARTITION BY g ORDER BY x) AS r FROM t) d WHERE r <= 3
//!     ──►  the window keeps of each partition the rows that may be among the first three
//! ```
//!
//! The condition stays where it is: the window may give other rows as well, whose rank is beyond the bound in
//! any case. Rows are left out that come behind all that are kept of their partition. So it is right where
//! the calls of the window look at nothing behind the row and its peers; for ROW_NUMBER, which tells peers
//! apart, at nothing behind the row. It has to be the last window of its block, and no LIMIT may count the
//! rows. Which rows are left out is seen by nothing else, as in [`limit_down`](super::limit_down).

use palisade_expr::compare::Comparison;
use palisade_expr::{Expr, Node};

use super::derived_filter::preserved;
use super::limit_down::has_no_effects;
use super::{Block, Rule, Statement};
use crate::logical::{Body, Leaf, LogicalQuery};
use crate::window::{FirstRows, WindowFunction};

/// The rule.
pub(super) struct FirstRanks;

impl Rule for FirstRanks {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        let Some(tree) = &mut block.tree else { return };
        let (conditions, hints) = (&block.conditions, &block.hints);
        preserved(tree, &mut |leaf| {
            let Leaf::Derived { slot, query, .. } = leaf else { return };
            let may_push = !hints.unpushed.contains(slot)
                && (statement.switches.derived_condition_pushdown || hints.pushed.contains(slot));
            if may_push {
                for (column, most) in conditions.iter().filter_map(|condition| bound(condition, *slot)) {
                    limit(query, column, most);
                }
            }
        });
    }
}

/// The column of `slot` that a condition bounds, and the constant that it is no more than.
fn bound(condition: &Expr, slot: usize) -> Option<(usize, &Expr)> {
    let (operand, most) = match &condition.node {
        Node::Compare { comparison, left, right, .. } => match comparison {
            Comparison::Equal | Comparison::NullSafeEqual if is_constant(left) => (right, left),
            Comparison::Equal | Comparison::NullSafeEqual => (left, right),
            Comparison::Less | Comparison::LessEqual => (left, right),
            Comparison::Greater | Comparison::GreaterEqual => (right, left),
            Comparison::NotEqual => return None,
        },
        Node::Between { operand, high, negated: false, .. } => (operand, high),
        _ => return None,
    };
    match operand.node {
        Node::Column { slot: own, column, .. } if own == slot && is_constant(most) => Some((column, &**most)),
        _ => None,
    }
}

/// Evaluating it warns of nothing.
fn is_constant(expr: &Expr) -> bool {
    matches!(expr.node, Node::Literal(_) | Node::Parameter(_))
}

/// Has the window of a query that computes the rank in its `column` leave out rows whose rank is larger.
fn limit(query: &mut LogicalQuery, column: usize, most: &Expr) {
    let LogicalQuery { output, body: Body::Block(block), .. } = query else { return };
    if block.order.limit.is_some() || !has_no_effects(block, output) {
        return;
    }
    let place = |expr: &Expr| match expr.node {
        Node::Column { slot, column, .. } => Some((slot, column)),
        _ => None,
    };
    let mut found = output.get(column).and_then(place);
    if let (Some((slot, column)), Some(projection)) = (found, &block.projection)
        && projection.slot == slot
    {
        found = projection.values.get(column).and_then(place);
    }
    let (Some((slot, call)), Some(window)) = (found, block.windows.last_mut()) else { return };
    if window.slot != slot || window.wanted.is_some() {
        return;
    }
    let keeps_peers = match window.calls.get(call).map(|call| &call.function) {
        Some(WindowFunction::RowNumber) => false,
        Some(WindowFunction::Rank | WindowFunction::DenseRank) => true,
        _ => return,
    };
    if window.looks_back(keeps_peers) {
        window.wanted = Some(FirstRows::Ranked { call, most: most.clone() });
    }
}
