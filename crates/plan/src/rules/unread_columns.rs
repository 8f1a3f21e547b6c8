//! What a derived table would compute for columns that are not read is left out.
//!
//! ```text
//!  SELECT d.a FROM (SELECT a, b, SUM(c) AS s, RANK() OVER (ORDER BY a) AS r FROM t GROUP BY a, b) d
//!     ──►  SELECT d.a FROM (SELECT a, NULL AS b, NULL AS s, NULL AS r FROM t GROUP BY a, b) d
//! ```
//!
//! A column keeps its position and is NULL, so nothing that reads the table is changed. What only computed
//! the column goes with it: aggregates, functions over windows and their sorts, subqueries, values of a
//! projection, and what these read of derived tables within. Of a UNION ALL this is so of each of its
//! queries. Columns by which rows are told apart (DISTINCT, UNION, EXCEPT, INTERSECT) are read by that, and
//! groups by GROUP BY.
//!
//! MySQL computes such columns, so what may fail or warn stays: only what is [quiet](super::quiet) goes. So
//! do functions over windows where a LIMIT without an order takes the first rows, which come in the order of
//! the window.

use std::collections::HashSet;

use palisade_catalog::Value;
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::{Expr, Node};

use super::quiet::{has_quiet_keys, is_quiet, is_quiet_aggregate, is_quiet_call};
use super::substitute::{change_block, each_expr};
use super::window_reuse::share_sorts;
use super::{Block, Rule, Statement};
use crate::SetStep;
use crate::logical::{Body, Combination, Distinct, Leaf, LogicalQuery};

/// The rule.
pub(super) struct UnreadColumns;

impl Rule for UnreadColumns {
    fn apply(&self, block: &mut Block, output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        drop_of_tables(block, output, statement);
    }
}

/// Columns that are read, as slots and positions.
#[derive(Default)]
struct Reads(HashSet<(usize, usize)>);

impl Reads {
    fn has(&self, slot: usize, column: usize) -> bool {
        self.0.contains(&(slot, column))
    }

    fn add(&mut self, expr: &Expr) {
        expr.walk(&mut |part| {
            if let Node::Column { slot, column, .. } = part.node {
                self.0.insert((slot, column));
            }
        });
    }

    /// What a block and its output read, by the block's own expressions.
    fn of(block: &Block, output: &[Expr]) -> Reads {
        let mut reads = Reads::default();
        block.exprs(&mut |expr| reads.add(expr));
        output.iter().for_each(|expr| reads.add(expr));
        reads
    }

    /// Adds what other queries read of these slots: subqueries in expressions, and tables of the block.
    fn add_queries(&mut self, slots: &[usize], block: &Block, statement: &Statement<'_, '_>) {
        for query in statement.subqueries.iter().flatten() {
            if query.outer_slots.iter().any(|slot| slots.contains(slot)) {
                each_expr(query, &mut |expr| self.add(expr));
            }
        }
        if let Some(tree) = &block.tree {
            tree.leaves(&mut |leaf| match leaf {
                Leaf::Derived { query, .. } => each_expr(query, &mut |expr| self.add(expr)),
                Leaf::Recursive { recursion, .. } => {
                    let queries = std::iter::once(&recursion.seed).chain(&recursion.steps);
                    queries.into_iter().for_each(|query| each_expr(query, &mut |expr| self.add(expr)));
                }
                Leaf::Table(_) | Leaf::Virtual(_) | Leaf::Working { .. } => {}
            });
        }
    }
}

/// Drops the columns of a block's derived tables that are not read.
fn drop_of_tables(block: &mut Block, output: &[Expr], statement: &mut Statement<'_, '_>) {
    let mut slots = Vec::new();
    if let Some(tree) = block.tree.as_ref().filter(|_| !block.whole_rows) {
        tree.leaves(&mut |leaf| {
            if let Leaf::Derived { slot, .. } = leaf {
                slots.push(*slot);
            }
        });
    }
    if slots.is_empty() {
        return;
    }
    let mut reads = Reads::of(block, output);
    reads.add_queries(&slots, block, statement);
    let Some(mut tree) = block.tree.take() else { return };
    tree.leaves_mut(&mut |leaf| {
        if let Leaf::Derived { slot, query, .. } = leaf {
            let slot = *slot;
            drop_columns(query, &|column| reads.has(slot, column), statement);
        }
    });
    block.tree = Some(tree);
}

/// Drops the columns of a query that are not read.
fn drop_columns(
    query: &mut LogicalQuery,
    is_read: &dyn Fn(usize) -> bool,
    statement: &mut Statement<'_, '_>,
) {
    let LogicalQuery { body, output, .. } = query;
    let mut gone = Gone::default();
    let unread = output.iter_mut().enumerate().filter(|(column, _)| !is_read(*column));
    unread.for_each(|(_, value)| gone.forget(value, statement));
    if !gone.is_any {
        return;
    }
    match body {
        Body::Block(block) => {
            drop_of_block(block, output, &mut gone, statement);
            gone.drop_subqueries(block, output, statement);
            drop_of_tables(block, output, statement);
        }
        Body::Combination(combination) => drop_of_inputs(combination, output, statement),
        Body::Arranged { inner, slot, order } => {
            let mut reads = Reads::default();
            output.iter().chain(order.keys.iter().map(|key| &key.expr)).for_each(|expr| reads.add(expr));
            drop_columns(inner, &|column| reads.has(*slot, column), statement);
        }
        Body::Values { .. } => {}
    }
}

/// Drops the columns that are not read of the queries that UNION ALL puts one behind the other.
fn drop_of_inputs(combination: &mut Combination, output: &[Expr], statement: &mut Statement<'_, '_>) {
    let Combination { inputs, steps, slot, order, .. } = combination;
    if steps.iter().any(|step| *step != SetStep::UnionAll) {
        return;
    }
    let mut reads = Reads::default();
    output.iter().chain(order.keys.iter().map(|key| &key.expr)).for_each(|expr| reads.add(expr));
    inputs.iter_mut().for_each(|input| drop_columns(input, &|column| reads.has(*slot, column), statement));
}

/// Drops what a block computes that neither it nor its output reads.
fn drop_of_block(block: &mut Block, output: &mut [Expr], gone: &mut Gone, statement: &Statement<'_, '_>) {
    if block.whole_rows {
        return;
    }
    let reads = Reads::of(block, output);
    if let Some(projection) = block.projection.as_mut().filter(|own| !is_read_within(own.slot, statement)) {
        let told_apart = match &block.distinct {
            Distinct::Projected(types) => types.len(),
            Distinct::No | Distinct::Sorted => 0,
        };
        let values = projection.values.iter_mut().enumerate().skip(told_apart);
        let unread = values.filter(|(column, _)| !reads.has(projection.slot, *column));
        unread.for_each(|(_, value)| gone.forget(value, statement));
    }
    if block.order.limit.is_none() || !block.order.keys.is_empty() {
        drop_window_functions(block, output, gone, statement);
        drop_aggregates(block, output, gone, statement);
    }
}

/// Whether a subquery in an expression reads a slot.
fn is_read_within(slot: usize, statement: &Statement<'_, '_>) -> bool {
    statement.subqueries.iter().flatten().any(|query| query.outer_slots.contains(&slot))
}

/// Drops the functions over windows that are not read, and windows without functions.
fn drop_window_functions(
    block: &mut Block,
    output: &mut [Expr],
    gone: &mut Gone,
    statement: &Statement<'_, '_>,
) {
    let reads = Reads::of(block, output);
    let mut windows = std::mem::take(&mut block.windows);
    windows.retain_mut(|window| {
        if is_read_within(window.slot, statement) {
            return true;
        }
        let is_kept: Vec<bool> = window
            .calls
            .iter()
            .enumerate()
            .map(|(column, call)| reads.has(window.slot, column) || !is_quiet_call(call, statement))
            .collect();
        if !is_kept.contains(&true) {
            let is_quiet = has_quiet_keys(window, statement);
            if is_quiet {
                window.exprs(&mut |expr| gone.note(expr));
            }
            return !is_quiet;
        }
        let mut kept = is_kept.iter();
        window.calls.retain(|call| {
            let is_kept = kept.next() != Some(&false);
            if !is_kept {
                call.arguments.iter().for_each(|argument| gone.note(argument));
            }
            is_kept
        });
        move_columns(block, output, window.slot, &is_kept);
        true
    });
    // A window may have had its rows in order by one that is gone.
    share_sorts(&mut windows);
    block.windows = windows;
}

/// Drops the aggregates that are not read. One of those without GROUP BY stays.
fn drop_aggregates(block: &mut Block, output: &mut [Expr], gone: &mut Gone, statement: &Statement<'_, '_>) {
    let reads = Reads::of(block, output);
    let Some(grouping) = block.grouping.as_mut().filter(|grouping| !grouping.rollup) else { return };
    if is_read_within(grouping.slot, statement) {
        return;
    }
    let keys = grouping.group.len();
    let is_needed = |(number, spec): (usize, &AggregateSpec)| {
        reads.has(grouping.slot, keys + number) || !is_quiet_aggregate(spec, statement)
    };
    let mut is_kept: Vec<bool> = grouping.aggregates.iter().enumerate().map(is_needed).collect();
    if keys == 0 && !is_kept.contains(&true) {
        is_kept.iter_mut().take(1).for_each(|kept| *kept = true);
    }
    if !is_kept.contains(&false) {
        return;
    }
    let mut kept = is_kept.iter();
    grouping.aggregates.retain(|spec| {
        let is_kept = kept.next() != Some(&false);
        if !is_kept {
            spec.arguments.iter().for_each(|argument| gone.note(argument));
        }
        is_kept
    });
    let slot = grouping.slot;
    is_kept.splice(0..0, std::iter::repeat_n(true, keys));
    move_columns(block, output, slot, &is_kept);
}

/// Has the expressions of a block name the columns of a slot by their positions once only those of which it
/// `is_kept` are left.
fn move_columns(block: &mut Block, output: &mut [Expr], slot: usize, is_kept: &[bool]) {
    if !is_kept.contains(&false) {
        return;
    }
    let mut moved = |expr: &mut Expr| move_columns_of(expr, slot, is_kept);
    output.iter_mut().for_each(&mut moved);
    change_block(block, &mut moved);
}

fn move_columns_of(expr: &mut Expr, slot: usize, is_kept: &[bool]) {
    if let Node::Column { slot: own, column, .. } = &mut expr.node
        && *own == slot
    {
        *column = is_kept.iter().take(*column).filter(|is_kept| **is_kept).count();
        return;
    }
    expr.children_mut(&mut |child| move_columns_of(child, slot, is_kept));
}

/// What has been dropped of a block.
#[derive(Default)]
struct Gone {
    is_any: bool,
    /// The subqueries in it.
    subqueries: Vec<usize>,
}

impl Gone {
    /// Makes NULL of a value if it is quiet.
    fn forget(&mut self, value: &mut Expr, statement: &Statement<'_, '_>) {
        let is_null = matches!(&value.node, Node::Literal(Value::Null));
        if !is_null && is_quiet(value, statement) {
            self.note(value);
            self.is_any = true;
            *value = Expr::literal(Value::Null, value.ty.clone());
        }
    }

    /// An expression has been dropped, or is about to be.
    fn note(&mut self, expr: &Expr) {
        expr.walk(&mut |part| {
            if let Node::Subquery(subquery) = &part.node {
                self.subqueries.push(subquery.number);
            }
        });
    }

    /// Drops the subqueries that nothing in the block runs any more, and those within them.
    fn drop_subqueries(mut self, block: &Block, output: &[Expr], statement: &mut Statement<'_, '_>) {
        let mut left = Gone::default();
        if !self.subqueries.is_empty() {
            output.iter().for_each(|expr| left.note(expr));
            block.exprs(&mut |expr| left.note(expr));
        }
        while let Some(number) = self.subqueries.pop() {
            let is_left = left.subqueries.contains(&number);
            let place = statement.subqueries.get_mut(number).filter(|_| !is_left);
            if let Some(query) = place.and_then(Option::take) {
                each_expr(&query, &mut |expr| self.note(expr));
            }
        }
    }
}
