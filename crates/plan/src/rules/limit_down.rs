//! LIMIT goes into the queries that give the rows, with the order that it is about.
//!
//! ```text
//!  SELECT * FROM (SELECT a FROM t UNION ALL SELECT b FROM s) d ORDER BY a LIMIT 5 OFFSET 10
//!     ──►  SELECT * FROM (SELECT a FROM t ORDER BY a LIMIT 15
//!                         UNION ALL SELECT b FROM s ORDER BY b LIMIT 15
//!                         ORDER BY a LIMIT 15) d ORDER BY a LIMIT 5 OFFSET 10
//! ```
//!
//! Of each query only the rows that come first in the order can be among those that come first of all, as
//! many as are wanted and passed over together. A derived table then keeps few rows, and a query may read its
//! rows in the order of an index and end early.
//!
//! UNION counts rows that look alike as one. A query in it is limited if its rows differ from each other:
//! because they have all columns of a unique key, or because the query leaves duplicates out itself. Without
//! an order nothing is gained: UNION ends with the row that makes it enough.
//!
//! Which rows are left out is seen by nothing else: a query that has an effect, counts its rows by a
//! variable, or locks them stays as it is, and so does one that has a LIMIT of its own.

use palisade_engine::ReadMode;
use palisade_expr::order::SortKey;
use palisade_expr::{Expr, Node};

use super::substitute::{columns_of, is_movable, is_repeatable, slots_of, substitute};
use super::{Block, Rule, Statement};
use crate::logical::{Body, Combination, Distinct, JoinTree, Leaf, LogicalQuery, Order, Projection};
use crate::{Limit, SetStep};

/// The rule.
pub(super) struct LimitDown;

impl Rule for LimitDown {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        let gives_each_row = block.conditions.is_empty()
            && block.grouping.is_none()
            && block.having.is_none()
            && block.windows.is_empty()
            && matches!(block.distinct, Distinct::No)
            && !block.counts_all
            && !block.whole_rows;
        let Some(limit) = block.order.limit.as_ref().filter(|_| gives_each_row) else { return };
        let Some(JoinTree::Leaf(Leaf::Derived { slot, query, .. })) = &mut block.tree else { return };
        let (slot, mut keys) = (*slot, block.order.keys.clone());
        if let Some(projection) = &block.projection {
            keys.iter_mut().for_each(|key| substitute(&mut key.expr, projection.slot, &projection.values));
        }
        limit_query(query, Wanted { slot, keys: &keys, limit: &limit.widened() }, statement);
    }

    fn combine(&self, combination: &mut Combination, statement: &mut Statement<'_, '_>) {
        let order = Order { keys: combination.order.keys.clone(), limit: combination.order.limit.clone() };
        if let Some(limit) = &order.limit {
            limit_inputs(combination, &order.keys, &limit.widened(), statement);
        }
    }
}

/// The rows of a query that are wanted: the first in an order of its columns, which are known as those of a
/// slot.
struct Wanted<'w> {
    slot: usize,
    keys: &'w [SortKey],
    limit: &'w Limit,
}

impl Wanted<'_> {
    /// The keys in terms of a query's output; `None` if they cannot be moved there.
    fn keys_of(&self, query: &LogicalQuery, statement: &Statement<'_, '_>) -> Option<Vec<SortKey>> {
        let own = |key: &SortKey| {
            let mut expr = key.expr.clone();
            let is_own = slots_of(&expr, statement).iter().all(|slot| *slot == self.slot);
            substitute(&mut expr, self.slot, &query.output);
            (is_own && is_movable(&expr)).then_some(SortKey { expr, descending: key.descending })
        };
        self.keys.iter().map(own).collect()
    }
}

/// Limits a query to the rows that are wanted, if nothing sees which are left out.
fn limit_query(query: &mut LogicalQuery, wanted: Wanted<'_>, statement: &mut Statement<'_, '_>) {
    let Some(keys) = wanted.keys_of(query, statement) else { return };
    let may_limit = match &query.body {
        Body::Block(block) => {
            is_silent(block, &query.output)
                && (keys.is_empty() || !matches!(block.distinct, Distinct::Sorted))
        }
        Body::Combination(combination) => {
            combination.order.limit.is_none() && combination.inputs.iter().all(is_silent_query)
        }
        Body::Values { .. } | Body::Arranged { .. } => false,
    };
    if !may_limit {
        return;
    }
    match &mut query.body {
        Body::Block(block) => arrange(&mut block.order, keys, wanted.limit),
        Body::Combination(combination) => {
            arrange(&mut combination.order, keys, wanted.limit);
            let keys = combination.order.keys.clone();
            limit_inputs(combination, &keys, wanted.limit, statement);
        }
        Body::Values { .. } | Body::Arranged { .. } => {}
    }
}

/// Says the order of rows of which the first are wanted. Without keys any will do.
fn arrange(order: &mut Order, keys: Vec<SortKey>, limit: &Limit) {
    if !keys.is_empty() {
        order.keys = keys;
    }
    order.limit = Some(limit.clone());
}

/// Limits the queries of a combination, of which `limit` rows in the order of `keys` are wanted.
fn limit_inputs(
    combination: &mut Combination,
    keys: &[SortKey],
    limit: &Limit,
    statement: &mut Statement<'_, '_>,
) {
    let Combination { inputs, steps, slot, .. } = combination;
    if !steps.iter().all(|step| matches!(step, SetStep::Union | SetStep::UnionAll)) {
        return;
    }
    // UNION leaves out duplicates of all that comes before it.
    let distinct = steps.iter().rposition(|step| *step == SetStep::Union).map_or(0, |last| last + 2);
    for (number, input) in inputs.iter_mut().enumerate() {
        let wanted = Wanted { slot: *slot, keys, limit };
        if number >= distinct {
            limit_query(input, wanted, statement);
        } else if !keys.is_empty() && wanted.keys_of(input, statement).is_some() {
            limit_distinct(input, wanted, statement);
        }
    }
}

/// Limits a query whose duplicates are left out.
fn limit_distinct(query: &mut LogicalQuery, wanted: Wanted<'_>, statement: &mut Statement<'_, '_>) {
    let Body::Block(block) = &query.body else { return };
    let is_distinct = !matches!(block.distinct, Distinct::No) || has_unique_rows(block, &query.output);
    if !is_distinct {
        if block.projection.is_some() || !is_silent(block, &query.output) {
            return;
        }
        let slot = statement.slots;
        statement.slots += 1;
        let columns = columns_of(query, slot);
        let values = std::mem::replace(&mut query.output, columns);
        if let Body::Block(block) = &mut query.body {
            block.distinct = Distinct::Projected(values.iter().map(|value| value.ty.clone()).collect());
            block.projection = Some(Projection { slot, values });
            // Of rows that look alike any one will do, so it does not matter how they are ordered.
            block.order.keys.clear();
        }
    }
    limit_query(query, wanted, statement);
}

/// Whether a block gives the row of one table with all columns of a key that tells its rows apart.
fn has_unique_rows(block: &Block, output: &[Expr]) -> bool {
    let Some(JoinTree::Leaf(Leaf::Table(leaf))) = &block.tree else { return false };
    let is_given = |wanted: usize| {
        output.iter().any(|expr| {
            matches!(expr.node, Node::Column { slot, column, .. } if slot == leaf.slot && column == wanted)
        })
    };
    block.grouping.is_none()
        && leaf.table.indexes.iter().any(|index| {
            index.unique
                && index.parts.iter().all(|part| {
                    let column = leaf.table.columns.get(usize::from(part.column));
                    part.prefix.is_none()
                        && column.is_some_and(|column| !column.nullable)
                        && is_given(usize::from(part.column))
                })
        })
}

/// Whether a block may give many rows, has no limit, and shows in nothing but these how many it has found.
fn is_silent(block: &Block, output: &[Expr]) -> bool {
    let gives_one = block.grouping.as_ref().is_some_and(|grouping| grouping.group.is_empty());
    let is_limited = block.order.limit.is_some() || block.tree.is_none() || gives_one;
    !is_limited && has_no_effects(block, output)
}

/// Whether it shows in nothing but its rows how much of a block is executed.
pub(crate) fn has_no_effects(block: &Block, output: &[Expr]) -> bool {
    let mut none = !block.counts_all && !block.whole_rows && output.iter().all(is_repeatable);
    block.exprs(&mut |expr| none &= is_repeatable(expr));
    if let Some(tree) = &block.tree {
        tree.leaves(&mut |leaf| {
            none &= match leaf {
                Leaf::Table(leaf) => leaf.mode == ReadMode::Snapshot,
                Leaf::Derived { query, .. } => is_silent_query(query),
                Leaf::Virtual(_) => true,
                Leaf::Recursive { .. } | Leaf::Working { .. } => false,
            };
        });
    }
    none
}

/// As [`has_no_effects`], of a query in another one.
fn is_silent_query(query: &LogicalQuery) -> bool {
    match &query.body {
        Body::Block(block) => has_no_effects(block, &query.output),
        Body::Values { rows, .. } => rows.iter().flatten().chain(&query.output).all(is_repeatable),
        Body::Combination(combination) => combination.inputs.iter().all(is_silent_query),
        Body::Arranged { inner, .. } => is_silent_query(inner),
    }
}
