//! Moving expressions between blocks: what may be moved, and columns in terms of what they are computed of.

use std::sync::Arc;

use palisade_expr::{Expr, Node};

use crate::conditions::{OuterSlots, expr_slots};
use crate::logical::{Block, Body, Leaf, LogicalQuery};
use crate::window::{FirstRows, WindowFunction};

/// The slots that an expression reads, in order.
pub(super) fn slots_of(expr: &Expr, subqueries: &dyn OuterSlots) -> Vec<usize> {
    let mut slots = Vec::new();
    expr_slots(subqueries, expr, &mut slots);
    slots.sort_unstable();
    slots
}

/// Whether an expression has no effect and gives the same value each time, so that it may be evaluated
/// elsewhere, more often or more rarely.
pub(super) fn is_repeatable(expr: &Expr) -> bool {
    let mut repeatable = !expr.is_impure();
    expr.walk(&mut |part| repeatable &= !matches!(part.node, Node::UserVariable(_)));
    repeatable
}

/// Whether an expression may be copied: it is repeatable, and has no subquery, of which a statement has one
/// only.
pub(super) fn is_movable(expr: &Expr) -> bool {
    let mut movable = is_repeatable(expr);
    expr.walk(&mut |part| movable &= !matches!(part.node, Node::Subquery(_)));
    movable
}

/// How many operations and operands an expression consists of.
pub(super) fn size(expr: &Expr) -> usize {
    let mut size = 0;
    expr.walk(&mut |_| size += 1);
    size
}

/// Replaces the columns of `slot` by the expressions that they are.
pub(crate) fn substitute(expr: &mut Expr, slot: usize, values: &[Expr]) {
    if let Node::Column { slot: own, column, .. } = expr.node
        && own == slot
        && let Some(value) = values.get(column)
    {
        *expr = value.clone();
        return;
    }
    expr.children_mut(&mut |child| substitute(child, slot, values));
}

/// The columns of a query's output, where they are those of `slot`.
pub(super) fn columns_of(query: &LogicalQuery, slot: usize) -> Vec<Expr> {
    let column = |(column, output): (usize, &Expr)| {
        let name = query.columns.get(column).map_or("", |meta| &meta.name);
        let name: Arc<str> = format!("`{name}`").into();
        let node = Node::Column { slot, column, name, computed: false };
        Expr { node, ..output.clone() }
    };
    query.output.iter().enumerate().map(column).collect()
}

/// Visits the expressions of a query and of the queries in it, subqueries in expressions aside.
pub(crate) fn each_expr(query: &LogicalQuery, visit: &mut dyn FnMut(&Expr)) {
    query.output.iter().for_each(&mut *visit);
    match &query.body {
        Body::Block(block) => {
            block.exprs(visit);
            if let Some(tree) = &block.tree {
                tree.leaves(&mut |leaf| match leaf {
                    Leaf::Derived { query, .. } => each_expr(query, visit),
                    Leaf::Recursive { recursion, .. } => {
                        each_expr(&recursion.seed, visit);
                        recursion.steps.iter().for_each(|step| each_expr(step, visit));
                    }
                    Leaf::Table(_) | Leaf::Virtual(_) | Leaf::Working { .. } => {}
                });
            }
        }
        Body::Values { rows, .. } => rows.iter().flatten().for_each(visit),
        Body::Combination(combination) => {
            combination.inputs.iter().for_each(|input| each_expr(input, visit));
            combination.order.keys.iter().for_each(|key| visit(&key.expr));
        }
        Body::Arranged { inner, order, .. } => {
            each_expr(inner, visit);
            order.keys.iter().for_each(|key| visit(&key.expr));
        }
    }
}

/// Calls `change` on the expressions of a query and of the queries in it, subqueries in expressions aside.
pub(crate) fn change_exprs(query: &mut LogicalQuery, change: &mut dyn FnMut(&mut Expr)) {
    query.output.iter_mut().for_each(&mut *change);
    match &mut query.body {
        Body::Block(block) => change_block(block, change),
        Body::Values { rows, .. } => rows.iter_mut().flatten().for_each(change),
        Body::Combination(combination) => {
            combination.inputs.iter_mut().for_each(|input| change_exprs(input, change));
            combination.order.keys.iter_mut().for_each(|key| change(&mut key.expr));
        }
        Body::Arranged { inner, order, .. } => {
            change_exprs(inner, change);
            order.keys.iter_mut().for_each(|key| change(&mut key.expr));
        }
    }
}

/// As [`change_exprs`], for a block without its output.
pub(super) fn change_block(block: &mut Block, change: &mut dyn FnMut(&mut Expr)) {
    if let Some(tree) = &mut block.tree {
        tree.conditions_mut(change);
        tree.leaves_mut(&mut |leaf| match leaf {
            Leaf::Derived { query, .. } => change_exprs(query, change),
            Leaf::Recursive { recursion, .. } => {
                change_exprs(&mut recursion.seed, change);
                recursion.steps.iter_mut().for_each(|step| change_exprs(step, change));
            }
            Leaf::Table(_) | Leaf::Virtual(_) | Leaf::Working { .. } => {}
        });
    }
    block.conditions.iter_mut().for_each(&mut *change);
    if let Some(grouping) = &mut block.grouping {
        grouping.group.iter_mut().for_each(&mut *change);
        for spec in &mut grouping.aggregates {
            spec.arguments.iter_mut().for_each(&mut *change);
            spec.order_by.iter_mut().for_each(|key| change(&mut key.expr));
        }
    }
    block.having.iter_mut().for_each(&mut *change);
    for window in &mut block.windows {
        window.exprs_mut(change);
        if let Some(FirstRows::Ranked { most, .. }) = &mut window.wanted {
            change(most);
        }
        for call in &mut window.calls {
            match &mut call.function {
                WindowFunction::Ntile(expr) | WindowFunction::Nth(expr) => change(expr),
                WindowFunction::Shifted { offset, .. } => change(offset),
                _ => {}
            }
        }
    }
    block.projection.iter_mut().flat_map(|projection| &mut projection.values).for_each(&mut *change);
    block.order.keys.iter_mut().for_each(|key| change(&mut key.expr));
}
