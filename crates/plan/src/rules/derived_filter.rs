//! A condition on the columns of a derived table goes into it.
//!
//! ```text
//!  SELECT * FROM (SELECT g, SUM(a) AS s FROM t GROUP BY g) d WHERE d.g = 3 AND d.s > 10
//!     ──►  SELECT * FROM (SELECT g, SUM(a) AS s FROM t WHERE g = 3 GROUP BY g HAVING s > 10) d
//! ```
//!
//! What is said of columns that a block groups by is said of its rows; of other columns, of its groups. Of a
//! combination it is said of each of its queries. A block that limits its rows, computes windows or sums up
//! (WITH ROLLUP) is left alone.

use palisade_catalog::SqlType;
use palisade_expr::{Domain, Expr, Node, Truth};

use super::substitute::{is_movable, is_repeatable, slots_of, substitute};
use super::{Block, Rule, Statement};
use crate::SetStep;
use crate::logical::{Body, Distinct, JoinTree, Leaf, LogicalQuery};

/// The rule.
pub(super) struct DerivedFilter;

impl Rule for DerivedFilter {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        let Some(tree) = &mut block.tree else { return };
        let (conditions, hints) = (&mut block.conditions, &block.hints);
        preserved(tree, &mut |leaf| {
            let Leaf::Derived { slot, query, .. } = leaf else { return };
            let may_push = !hints.unpushed.contains(slot)
                && (statement.switches.derived_condition_pushdown || hints.pushed.contains(slot));
            if !may_push {
                return;
            }
            conditions.retain(|condition| {
                let is_about = slots_of(condition, statement) == [*slot]
                    && is_movable(condition)
                    && tells_alike(condition, *slot);
                !(is_about && push(query, *slot, condition))
            });
        });
    }
}

/// Visits the tables that no outer join makes NULLs of.
pub(super) fn preserved(tree: &mut JoinTree, visit: &mut dyn FnMut(&mut Leaf)) {
    match tree {
        JoinTree::Leaf(leaf) => visit(leaf),
        JoinTree::Inner(parts, _) => parts.iter_mut().for_each(|part| preserved(part, visit)),
        JoinTree::Left(left, _, _) | JoinTree::Semi { left, .. } => preserved(left, visit),
    }
}

/// Whether a condition holds for all values that are equal to each other in the collation of a column of
/// `slot`, or for none: which of them a group shows depends on the rows that are left.
pub(super) fn tells_alike(condition: &Expr, slot: usize) -> bool {
    // What is equal to each other is not the same for these.
    let is_vague = |expr: &Expr| {
        expr.ty.is_string()
            || matches!(expr.ty, SqlType::Json | SqlType::Float { .. } | SqlType::Double { .. })
    };
    let is_own = |expr: &Expr| matches!(expr.node, Node::Column { slot: own, .. } if own == slot);
    let is_alike = |expr: &Expr, domain: &Domain| {
        let is_number = expr.ty.is_numeric() && *domain == Domain::Double;
        !(is_own(expr) && is_vague(expr))
            || is_number
            || expr.ty != SqlType::Json && *domain == Domain::Text(expr.ty.collation())
    };
    let compared: Vec<&Expr> = match &condition.node {
        Node::Column { .. } => return !(is_own(condition) && is_vague(condition)),
        Node::Compare { domain, left, right, .. } if is_alike(left, domain) && is_alike(right, domain) => {
            vec![left, right]
        }
        Node::Between { operand, domain, low, high, .. }
            if [operand, low, high].iter().all(|part| is_alike(part, domain)) =>
        {
            vec![operand, low, high]
        }
        Node::In { operand, list, .. }
            if list.iter().all(|(domain, item)| is_alike(operand, domain) && is_alike(item, domain)) =>
        {
            let items = list.iter().map(|(_, item)| item);
            std::iter::once(&**operand).chain(items).collect()
        }
        Node::Is { operand, truth: Truth::Null, .. } => vec![operand],
        Node::Compare { .. } | Node::Between { .. } | Node::In { .. } => return false,
        _ => {
            let mut alike = true;
            condition.children(&mut |part| alike &= tells_alike(part, slot));
            return alike;
        }
    };
    compared.into_iter().all(|part| is_own(part) || tells_alike(part, slot))
}

/// Whether a condition can go into a query whose columns it knows as those of `slot`, with nothing left
/// outside.
fn takes(query: &LogicalQuery, slot: usize, condition: &Expr) -> bool {
    match &query.body {
        Body::Block(block) => {
            let is_closed = block.order.limit.is_some()
                || !block.windows.is_empty()
                || block.whole_rows
                || block
                    .grouping
                    .as_ref()
                    .is_some_and(|grouping| grouping.rollup || grouping.group.is_empty())
                || block.tree.is_none();
            // What numbers its rows by a variable counts those that are thrown away later.
            let mut is_repeatable_throughout = query.output.iter().all(is_repeatable);
            block.exprs(&mut |expr| is_repeatable_throughout &= is_repeatable(expr));
            !is_closed && is_repeatable_throughout && inner(query, block, slot, condition).is_some()
        }
        Body::Combination(combination) => {
            let is_union = |step: &SetStep| matches!(step, SetStep::Union | SetStep::UnionAll);
            combination.order.limit.is_none()
                && combination.steps.iter().all(is_union)
                && combination.inputs.iter().all(|input| takes(input, slot, condition))
        }
        Body::Values { .. } | Body::Arranged { .. } => false,
    }
}

/// The condition in terms of what a block's output is computed of: before its projection, in terms of its
/// groups if it has any.
fn inner(query: &LogicalQuery, block: &Block, slot: usize, condition: &Expr) -> Option<Expr> {
    let mut own = condition.clone();
    substitute(&mut own, slot, &query.output);
    if let (Some(projection), Distinct::Projected(_)) = (&block.projection, &block.distinct) {
        substitute(&mut own, projection.slot, &projection.values);
    } else if block.projection.is_some() {
        return None;
    }
    is_movable(&own).then_some(own)
}

/// Puts a condition into a query; false if it does not take it.
fn push(query: &mut LogicalQuery, slot: usize, condition: &Expr) -> bool {
    if !takes(query, slot, condition) {
        return false;
    }
    if let Body::Combination(combination) = &mut query.body {
        return combination.inputs.iter_mut().all(|input| push(input, slot, condition));
    }
    let own = match &query.body {
        Body::Block(block) => inner(query, block, slot, condition),
        _ => None,
    };
    let (Body::Block(block), Some(mut own)) = (&mut query.body, own) else { return false };
    match &block.grouping {
        None => block.conditions.push(own),
        Some(grouping) => {
            let mut of_group = true;
            own.walk(&mut |part| {
                if let Node::Column { slot, column, .. } = &part.node {
                    of_group &= *slot == grouping.slot && *column < grouping.group.len();
                }
            });
            if of_group && grouping.group.iter().all(is_movable) {
                substitute(&mut own, grouping.slot, &grouping.group);
                block.conditions.push(own);
            } else {
                block.having = Expr::all_of(block.having.take().into_iter().chain([own]).collect());
            }
        }
    }
    true
}
