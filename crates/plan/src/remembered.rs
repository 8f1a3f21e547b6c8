//! Which subqueries give the same value for the same values of the columns of enclosing queries that they
//! read, so that it can be remembered: those of plain blocks over tables that are read by a snapshot, without
//! effects and without subqueries of their own.

use palisade_engine::ReadMode;
use palisade_expr::{Expr, Node};

use super::logical::{Body, Leaf, LogicalQuery};

/// The columns, as slots and positions; `None` of a query whose value is not to be remembered.
pub fn deciding_columns(query: &LogicalQuery) -> Option<Vec<(usize, usize)>> {
    let LogicalQuery { outer_slots, outer_columns, .. } = query;
    let is_told = |slot: &usize| outer_columns.iter().any(|column| column.slot == *slot);
    let is_decided = !outer_slots.is_empty() && outer_slots.iter().all(is_told) && is_steady(query);
    is_decided.then(|| outer_columns.iter().map(|column| (column.slot, column.column)).collect())
}

fn is_steady(query: &LogicalQuery) -> bool {
    let Body::Block(block) = &query.body else { return false };
    let mut steady = block.windows.is_empty() && query.output.iter().all(is_steady_expr);
    block.exprs(&mut |expr| steady &= is_steady_expr(expr));
    if let Some(tree) = &block.tree {
        tree.leaves(&mut |leaf| {
            steady &= match leaf {
                Leaf::Table(leaf) => leaf.mode == ReadMode::Snapshot,
                Leaf::Derived { query, .. } => is_steady(query),
                Leaf::Virtual(_) | Leaf::Recursive { .. } | Leaf::Working { .. } => false,
            };
        });
    }
    steady
}

fn is_steady_expr(expr: &Expr) -> bool {
    let mut steady = !expr.is_impure();
    expr.walk(&mut |part| steady &= !matches!(part.node, Node::UserVariable(_) | Node::Subquery(_)));
    steady
}
