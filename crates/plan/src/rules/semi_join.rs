//! IN and EXISTS in WHERE become joins.
//!
//! ```text
//!  SELECT * FROM t WHERE t.a IN (SELECT s.b FROM s WHERE s.c = t.c)
//!     ──►  SELECT * FROM t SEMI JOIN s ON t.a = s.b AND s.c = t.c
//!
//!  SELECT * FROM t WHERE NOT EXISTS (SELECT * FROM s WHERE s.c = t.c)
//!     ──►  SELECT * FROM t ANTI JOIN s ON s.c = t.c
//! ```
//!
//! A subquery becomes a join if it is a plain block: tables and conditions, and no groups, windows or LIMIT;
//! what it is ordered by and whether its rows are distinct does not matter. Its conditions become those of
//! the join, since a column is named alike in all blocks of a statement.
//!
//! WHERE keeps the rows for which its conditions are true; so IN may be false where it would be unknown. NOT
//! IN may not: it is an anti-join only where neither side can be NULL.
//!
//! The join is put as deep as its conditions allow: at the one table that they read, if they read one and no
//! outer join makes NULLs of it.

use palisade_expr::{Comparison, Domain, Expr, Node, Subquery, SubqueryUse};

use super::substitute::{is_repeatable, slots_of, substitute};
use super::{Block, Rule, Statement};
use crate::hints::BlockHints;
use crate::logical::{Body, Distinct, JoinTree, Leaf, LogicalQuery, MAX_TABLES};

/// The rule.
pub(super) struct SemiJoin;

impl Rule for SemiJoin {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        if block.whole_rows || block.straight {
            return;
        }
        let Some(mut tree) = block.tree.take() else { return };
        let mut conditions = Vec::with_capacity(block.conditions.len());
        for condition in std::mem::take(&mut block.conditions) {
            match joined(&condition, &tree, statement) {
                Some(mut join) => {
                    block.hints.extend(std::mem::take(&mut join.hints));
                    tree = placed(tree, join, statement);
                }
                None => conditions.push(condition),
            }
        }
        block.tree = Some(tree);
        block.conditions = conditions;
    }
}

/// What a subquery has become.
struct Join {
    right: JoinTree,
    on: Vec<Expr>,
    anti: bool,
    number: usize,
    hints: BlockHints,
}

/// The join that a condition is, if it is one. The subquery is taken from the statement then.
fn joined(condition: &Expr, tree: &JoinTree, statement: &mut Statement<'_, '_>) -> Option<Join> {
    let (subquery, turned) = match &condition.node {
        Node::Subquery(subquery) => (subquery, false),
        Node::Not(operand) => match &operand.node {
            Node::Subquery(subquery) => (subquery, true),
            _ => return None,
        },
        _ => return None,
    };
    let query = statement.own_subquery(subquery.number)?;
    let anti = kind(subquery, query)? != turned;
    // What is unknown is not true, and neither is its opposite.
    if anti && may_be_unknown(subquery, query) {
        return None;
    }
    let hinted = match &query.body {
        Body::Block(block) => block.hints.semi_join,
        _ => None,
    };
    if !hinted.unwrap_or(statement.switches.semijoin)
        || !is_joinable(query)
        || tree.count() + query.table_count() > MAX_TABLES
    {
        return None;
    }
    let mut slots = Vec::new();
    tree.slots(&mut slots);
    if !depends_by_conditions(query, &slots, statement) || !is_joined(subquery, query, &slots, statement) {
        return None;
    }
    let query = statement.subqueries.get_mut(subquery.number)?.take()?;
    let mut on = equalities(subquery, &query);
    let Body::Block(block) = query.body else { return None };
    let mut right = block.tree?;
    on.extend(block.conditions);
    take_correlated(&mut right, &slots, statement, &mut on);
    Some(Join { right, on, anti, number: subquery.number, hints: block.hints })
}

/// Whether a subquery asks for rows that are not there; `None` if it asks for something else.
fn kind(subquery: &Subquery, query: &LogicalQuery) -> Option<bool> {
    match &subquery.usage {
        SubqueryUse::Exists { negated } => Some(*negated),
        SubqueryUse::Quantified { left, comparison, domains, all, negated } => {
            let has_keys = domains.iter().all(|domain| !matches!(domain, Domain::Fixed(_)));
            let is_pure = left.iter().chain(&query.output).all(is_repeatable);
            match (comparison, all) {
                _ if !has_keys || !is_pure => None,
                (Comparison::Equal, false) => Some(*negated),
                (Comparison::NotEqual, true) => Some(!*negated),
                _ => None,
            }
        }
        SubqueryUse::Scalar => None,
    }
}

fn may_be_unknown(subquery: &Subquery, query: &LogicalQuery) -> bool {
    match &subquery.usage {
        SubqueryUse::Quantified { left, .. } => left.iter().chain(&query.output).any(|expr| expr.nullable),
        SubqueryUse::Exists { .. } | SubqueryUse::Scalar => false,
    }
}

/// Whether a query is a plain block, but for an order, and for leaving out rows that look alike.
fn is_joinable(query: &LogicalQuery) -> bool {
    let Body::Block(block) = &query.body else { return false };
    let is_plain = block.only_joins()
        && (block.projection.is_none() || matches!(block.distinct, Distinct::Projected(_)));
    let values = block.projection.iter().flat_map(|projection| &projection.values);
    let mut repeatable = block.conditions.iter().chain(values).all(is_repeatable);
    if let Some(tree) = &block.tree {
        tree.conditions(&mut |on| repeatable &= is_repeatable(on));
    }
    is_plain && repeatable
}

/// Whether a query depends on the tables in `slots` by nothing but conditions that can be those of a join:
/// not by derived tables, and not by the conditions of its outer joins.
fn depends_by_conditions(query: &LogicalQuery, slots: &[usize], statement: &Statement<'_, '_>) -> bool {
    let Body::Block(block) = &query.body else { return false };
    let Some(tree) = &block.tree else { return false };
    let mut free = true;
    tree.leaves(&mut |leaf| {
        let outer = match leaf {
            Leaf::Derived { query, .. } => &query.outer_slots[..],
            Leaf::Recursive { recursion, .. } => &recursion.outer_slots[..],
            // Rows of a recursion's last round are there while it goes on.
            Leaf::Working { .. } => {
                free = false;
                &[]
            }
            Leaf::Table(_) | Leaf::Virtual(_) => &[],
        };
        free &= !outer.iter().any(|slot| slots.contains(slot));
    });
    let mut reads = |expr: &Expr| {
        free &= !slots_of(expr, statement).iter().any(|slot| slots.contains(slot));
    };
    outer_conditions(tree, &mut reads);
    free
}

/// Whether a condition reads both a table in `slots` and one of the query's. Otherwise the subquery says the
/// same for all rows, and is asked once.
fn is_joined(
    subquery: &Subquery,
    query: &LogicalQuery,
    slots: &[usize],
    statement: &Statement<'_, '_>,
) -> bool {
    let Body::Block(block) = &query.body else { return false };
    let own = block.slots();
    let joins = |condition: &Expr| {
        let read = slots_of(condition, statement);
        read.iter().any(|slot| own.contains(slot)) && read.iter().any(|slot| slots.contains(slot))
    };
    let mut found = equalities(subquery, query).iter().chain(&block.conditions).any(joins);
    if let Some(tree) = &block.tree {
        tree.conditions(&mut |condition| found |= joins(condition));
    }
    found
}

/// Visits the conditions of outer joins and semi-joins, and all below them.
fn outer_conditions(tree: &JoinTree, visit: &mut dyn FnMut(&Expr)) {
    match tree {
        JoinTree::Leaf(_) => {}
        JoinTree::Inner(parts, _) => parts.iter().for_each(|part| outer_conditions(part, visit)),
        JoinTree::Left(..) | JoinTree::Semi { .. } => tree.conditions(visit),
    }
}

/// Takes the conditions of inner joins that read the tables in `slots`.
fn take_correlated(tree: &mut JoinTree, slots: &[usize], statement: &Statement<'_, '_>, out: &mut Vec<Expr>) {
    if let JoinTree::Inner(parts, on) = tree {
        let (taken, own) = std::mem::take(on).into_iter().partition(|condition: &Expr| {
            slots_of(condition, statement).iter().any(|slot| slots.contains(slot))
        });
        *on = own;
        out.extend::<Vec<Expr>>(taken);
        parts.iter_mut().for_each(|part| take_correlated(part, slots, statement, out));
    }
}

/// `left IN (output)` as equalities.
fn equalities(subquery: &Subquery, query: &LogicalQuery) -> Vec<Expr> {
    let SubqueryUse::Quantified { left, domains, .. } = &subquery.usage else { return Vec::new() };
    let projection = match &query.body {
        Body::Block(block) => block.projection.as_ref(),
        _ => None,
    };
    let equality = |((left, output), domain): ((&Expr, &Expr), &Domain)| {
        let mut right = output.clone();
        if let Some(projection) = projection {
            substitute(&mut right, projection.slot, &projection.values);
        }
        let nullable = left.nullable || right.nullable;
        let (left, right) = (Box::new(left.clone()), Box::new(right));
        let node = Node::Compare { comparison: Comparison::Equal, domain: *domain, left, right };
        Expr::truth(node, nullable)
    };
    left.iter().zip(&query.output).zip(domains).map(equality).collect()
}

/// The tree with a join, as deep as the join's conditions allow.
fn placed(tree: JoinTree, join: Join, statement: &Statement<'_, '_>) -> JoinTree {
    let mut own = Vec::new();
    join.right.slots(&mut own);
    let mut read: Vec<usize> = join.on.iter().flat_map(|on| slots_of(on, statement)).collect();
    read.retain(|slot| !own.contains(slot));
    read.sort_unstable();
    read.dedup();
    let mut local = Vec::new();
    tree.slots(&mut local);
    read.retain(|slot| local.contains(slot));
    let mut tree = tree;
    let mut join = Some(join);
    if let [slot] = read[..] {
        at_table(&mut tree, slot, &mut join);
    }
    match join {
        Some(join) => join.over(tree),
        None => tree,
    }
}

impl Join {
    fn over(self, left: JoinTree) -> JoinTree {
        let Join { right, on, anti, number, .. } = self;
        JoinTree::Semi { left: Box::new(left), right: Box::new(right), on, anti, number }
    }
}

/// Puts the join at the table in `slot`, if no outer join makes NULLs of it.
fn at_table(tree: &mut JoinTree, slot: usize, join: &mut Option<Join>) {
    match tree {
        JoinTree::Leaf(leaf) => {
            if leaf.slot() == slot
                && let Some(join) = join.take()
            {
                let left = std::mem::replace(tree, JoinTree::Inner(Vec::new(), Vec::new()));
                *tree = join.over(left);
            }
        }
        JoinTree::Inner(parts, _) => parts.iter_mut().for_each(|part| at_table(part, slot, join)),
        JoinTree::Left(left, _, _) | JoinTree::Semi { left, .. } => at_table(left, slot, join),
    }
}
