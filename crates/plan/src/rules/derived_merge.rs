//! A derived table that is a plain block becomes part of the block around it.
//!
//! ```text
//!  SELECT d.x FROM (SELECT a + 1 AS x FROM t WHERE b = 2) d WHERE d.x > 5
//!     ──►  SELECT a + 1 FROM t WHERE b = 2 AND a + 1 > 5
//! ```
//!
//! A block is plain if it has tables and conditions and nothing else: it neither groups, nor orders, limits
//! or leaves out rows that look alike. Its columns are replaced by what they are computed of. Under an outer
//! join, whose other side makes them NULL, only columns of tables are.

use palisade_expr::{Expr, Node};

use super::substitute::{change_block, is_movable, is_repeatable, size, slots_of, substitute};
use super::{Block, Rule, Statement};
use crate::logical::{Body, Distinct, JoinTree, Leaf, LogicalQuery, MAX_TABLES};

/// The size of an expression beyond which it is not copied to where a column is read: of derived tables
/// within each other, whose columns are read more than once, expressions would grow with the power of their
/// depth.
const LARGEST: usize = 64;

/// The rule.
pub(super) struct DerivedMerge;

/// A derived table that has become part of the block around it.
struct Merged {
    slot: usize,
    /// What its columns are computed of.
    values: Vec<Expr>,
    /// The slots of its tables.
    own_slots: Vec<usize>,
}

impl Rule for DerivedMerge {
    fn apply(&self, block: &mut Block, output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        if block.whole_rows || block.straight {
            return;
        }
        let is_summed_up = block.grouping.as_ref().is_some_and(|grouping| grouping.rollup);
        let Some(mut tree) = block.tree.take() else { return };
        let mut tables = tree.count();
        let read_by_tables = tree.read_by_lateral();
        let mut beside = Vec::new();
        tree.slots(&mut beside);
        let mut merged = Vec::new();
        let mut conditions = Vec::new();
        let hints = &block.hints;
        let mut inner_hints = Vec::new();
        let mut merge = |tree: &mut JoinTree, is_inner: bool| {
            let JoinTree::Leaf(Leaf::Derived { slot, query, .. }) = tree else { return };
            let slot = *slot;
            let mut own_slots = Vec::new();
            if let Body::Block(inner) = &query.body
                && let Some(own) = &inner.tree
            {
                own.slots(&mut own_slots);
            }
            let is_read = read_by_tables.contains(&slot)
                || statement.subqueries.iter().flatten().any(|own| own.outer_slots.contains(&slot));
            // What the conditions of joins within it read must be in place.
            let is_lateral = query.outer_slots.iter().any(|slot| beside.contains(slot));
            let is_bound = is_lateral && !is_plain_join(query);
            let may_merge = !hints.unmerged.contains(&slot)
                && (statement.switches.derived_merge || hints.merged.contains(&slot));
            // Where WITH ROLLUP sums up, columns of a group's row are NULL by their places.
            if !may_merge
                || is_summed_up
                || is_read
                || is_bound
                || !is_mergeable(query, is_inner, &own_slots)
                || tables + query.table_count() > MAX_TABLES + 1
            {
                return;
            }
            let query = std::mem::replace(&mut **query, LogicalQuery::nothing());
            let Body::Block(inner) = query.body else { return };
            let Some(own) = inner.tree else { return };
            inner_hints.push(inner.hints);
            tables += own.count() - 1;
            *tree = match is_inner {
                true => {
                    conditions.extend(inner.conditions);
                    own
                }
                false if inner.conditions.is_empty() => own,
                false => JoinTree::Inner(vec![own], inner.conditions),
            };
            let mut values = query.output;
            // An outer join makes NULLs of them.
            values.iter_mut().for_each(|value| value.nullable |= !is_inner);
            merged.push(Merged { slot, values, own_slots });
        };
        visit(&mut tree, true, &mut merge);
        block.tree = Some(tree);
        inner_hints.into_iter().for_each(|hints| block.hints.extend(hints));
        for Merged { slot, values, own_slots } in &merged {
            change_block(block, &mut |expr| substitute(expr, *slot, values));
            output.iter_mut().for_each(|expr| substitute(expr, *slot, values));
            if let Some(grouping) = &mut block.grouping {
                let read = values.iter().flat_map(|value| slots_of(value, statement));
                keep_instead(&mut grouping.keep, *slot, read.filter(|read| own_slots.contains(read)));
            }
        }
        block.conditions.extend(conditions);
    }
}

/// Visits the parts of a tree of joins; whether no outer join makes NULLs of a part is said with it.
fn visit(tree: &mut JoinTree, is_inner: bool, merge: &mut dyn FnMut(&mut JoinTree, bool)) {
    match tree {
        JoinTree::Leaf(_) => merge(tree, is_inner),
        JoinTree::Inner(parts, _) => parts.iter_mut().for_each(|part| visit(part, is_inner, merge)),
        JoinTree::Left(left, right, _) => {
            visit(left, is_inner, merge);
            visit(right, false, merge);
        }
        // The conditions of an inner query's semi-join are about its own tables.
        JoinTree::Semi { left, .. } => visit(left, is_inner, merge),
    }
}

/// A row of each group is kept of the tables that are `read`, if one is kept of `slot`.
fn keep_instead(keep: &mut Vec<usize>, slot: usize, read: impl Iterator<Item = usize>) {
    if let Some(place) = keep.iter().position(|kept| *kept == slot) {
        keep.remove(place);
        for read in read {
            if !keep.contains(&read) {
                keep.push(read);
            }
        }
    }
}

/// Whether the tables of a block are joined by inner joins alone.
fn is_plain_join(query: &LogicalQuery) -> bool {
    fn is_inner(tree: &JoinTree) -> bool {
        match tree {
            JoinTree::Leaf(_) => true,
            JoinTree::Inner(parts, _) => parts.iter().all(is_inner),
            JoinTree::Left(..) | JoinTree::Semi { .. } => false,
        }
    }
    matches!(&query.body, Body::Block(block) if block.tree.as_ref().is_none_or(is_inner))
}

fn is_mergeable(query: &LogicalQuery, is_inner: bool, own_slots: &[usize]) -> bool {
    let Body::Block(block) = &query.body else { return false };
    let is_plain = block.only_joins()
        && block.projection.is_none()
        && matches!(block.distinct, Distinct::No)
        && block.order.keys.is_empty();
    let is_column = |expr: &Expr| matches!(expr.node, Node::Column { slot, .. } if own_slots.contains(&slot));
    let is_fit = |expr: &Expr| is_column(expr) || is_inner && is_movable(expr) && size(expr) <= LARGEST;
    is_plain && query.output.iter().all(is_fit) && block.conditions.iter().all(is_repeatable)
}
