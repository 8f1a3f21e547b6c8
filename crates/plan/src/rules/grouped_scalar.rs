//! A correlated subquery that gives one aggregate becomes a join with a derived table of all its groups.
//!
//! ```text
//!  SELECT * FROM t WHERE t.a > (SELECT AVG(s.b) FROM s WHERE s.c = t.c)
//!     ──►  SELECT t.* FROM t JOIN (SELECT s.c, AVG(s.b) AS b FROM s GROUP BY s.c) d ON t.c = d.c
//!          WHERE t.a > d.b
//! ```
//!
//! Groups differ in what they are grouped by, so a row finds one of them at most, if the comparison tells
//! apart what grouping does. A row that finds none has NULL for the aggregates, as the subquery has without
//! rows, and 0 for COUNT; the join is an outer one then, unless a condition throws such rows away. What is
//! computed of the aggregates is computed outside, where it may see the row as well.
//!
//! All groups are added up, those included that no row asks for. That pays where the subquery would be run
//! often and reads much each time, so the two are weighed: how often it is run is known of the joins of the
//! block, planned without it, and what it costs of a plan of its own. It has to pay clearly; a subquery that
//! takes no time stays what it is. With `subquery_to_derived` it is always done.
//!
//! Nothing that may fail is computed for rows that are not asked for.

use std::sync::Arc;

use palisade_engine::ReadMode;
use palisade_expr::func::control::COALESCE;
use palisade_expr::{Comparison, Domain, Expr, Node, Numeric, SqlResult, SubqueryUse};
use palisade_parser::ast::AggregateKind;
use palisade_session::sink::ColumnMeta;

use super::grouped_in::tells_apart;
use super::substitute::{change_block, columns_of, is_movable, is_repeatable, slots_of, substitute};
use super::trial::{joins_of, trial};
use super::{Block, Rule, Statement};
use crate::conditions::rejects_null;
use crate::cost;
use crate::logical::{
    Body, Distinct, Grouping, JoinTree, Leaf, LogicalQuery, MAX_TABLES, Order, Projection, TableLeaf,
};
use crate::lower::Planner;
use crate::remembered::deciding_columns;

/// Values that a subquery's memo holds at least.
const REMEMBERED: f64 = 8000.0;
/// What running a subquery for all rows costs at least where it becomes a join, and how many times as much as
/// that.
const LEAST_COST: f64 = 1e6;
const LEAST_GAIN: f64 = 2.0;

/// The rule.
pub(super) struct GroupedScalar;

impl Rule for GroupedScalar {
    fn apply(&self, block: &mut Block, output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        if block.whole_rows || block.straight {
            return;
        }
        for (number, place) in scalars(block, output) {
            let tables = block.tree.as_ref().map_or(MAX_TABLES, JoinTree::count);
            if tables >= MAX_TABLES {
                return;
            }
            let Some(grouped) = Grouped::of(number, block, statement) else { continue };
            // A number is taken in any case, so that those of later tables do not depend on costs.
            let slot = statement.slots;
            statement.slots += 1;
            match is_wanted(&grouped, place, (block, slot), statement) {
                Ok(true) => grouped.join(block, output, slot, statement),
                Ok(false) => {}
                // The statement is to end, and says so at the next checkpoint.
                Err(_) => return,
            }
        }
    }
}

/// Where the value of a subquery is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Of each row of the joins.
    Condition,
    /// Of each row that is given.
    Output,
}

/// The correlated scalar subqueries of a block whose values are wanted of rows of its joins and of nothing
/// else, in order.
fn scalars(block: &Block, output: &[Expr]) -> Vec<(usize, Place)> {
    let mut found: Vec<(usize, Place)> = Vec::new();
    let mut all = Vec::new();
    for condition in &block.conditions {
        numbers(condition, &mut |number| found.push((number, Place::Condition)));
    }
    if block.grouping.is_none() && block.windows.is_empty() {
        let projected = block.projection.iter().flat_map(|Projection { values, .. }| values);
        let ordered = block.order.keys.iter().map(|key| &key.expr);
        for value in output.iter().chain(projected).chain(ordered) {
            numbers(value, &mut |number| found.push((number, Place::Output)));
        }
    }
    output.iter().for_each(|value| numbers(value, &mut |number| all.push(number)));
    block.exprs(&mut |expr| numbers(expr, &mut |number| all.push(number)));
    let count = |number: usize| found.iter().filter(|(known, _)| *known == number).count();
    let mut wanted: Vec<(usize, Place)> = Vec::new();
    for (number, place) in &found {
        let is_known = wanted.iter().any(|(known, _)| known == number);
        if !is_known && all.iter().filter(|known| *known == number).count() == count(*number) {
            wanted.push((*number, *place));
        }
    }
    wanted
}

/// Gives the numbers of the correlated scalar subqueries in an expression.
fn numbers(expr: &Expr, found: &mut dyn FnMut(usize)) {
    expr.walk(&mut |part| match &part.node {
        Node::Subquery(subquery) if subquery.correlated && subquery.usage == SubqueryUse::Scalar => {
            found(subquery.number);
        }
        _ => {}
    });
}

/// A subquery with all its groups.
struct Grouped {
    number: usize,
    /// Gives what the rows are grouped by, then the aggregates.
    query: LogicalQuery,
    /// What is equal: the row's, the group's.
    keys: Vec<(Expr, Expr, Domain)>,
    /// The slot of the aggregates in what the subquery gives.
    groups: usize,
    /// What the subquery gives, of the aggregates.
    value: Expr,
    /// The number of its block.
    block: u32,
}

impl Grouped {
    /// That of a subquery of a block, if it is such a one.
    fn of(number: usize, around: &Block, statement: &Statement<'_, '_>) -> Option<Grouped> {
        let query = statement.own_subquery(number)?;
        let Body::Block(block) = &query.body else { return None };
        let [value] = &query.output[..] else { return None };
        if !is_plain(block) || !is_movable(value) {
            return None;
        }
        let mut block = (**block).clone();
        block.order = Order::default();
        let (local, own) = (around.slots(), block.slots());
        let keys = take_correlation(&mut block, &local, &own, statement)?;
        let Grouping { slot: groups, aggregates, .. } = block.grouping.as_ref()?;
        let groups = *groups;
        let mut is_closed = aggregates.iter().flat_map(|spec| &spec.arguments).all(cannot_fail);
        block.exprs(&mut |expr| {
            is_closed &= is_repeatable(expr);
            is_closed &= slots_of(expr, statement).iter().all(|slot| own.contains(slot));
        });
        let read = slots_of(value, statement);
        is_closed &= read.iter().all(|slot| *slot == groups || local.contains(slot));
        if !is_closed || keys.is_empty() {
            return None;
        }
        let (value, block_number) = (value.clone(), block.number);
        let query = grouped_query(block, &keys, &value)?;
        Some(Grouped { number, query, keys, groups, value, block: block_number })
    }

    /// Joins it with the tables of the block, and has its columns take the subquery's place.
    fn join(self, block: &mut Block, output: &mut [Expr], slot: usize, statement: &mut Statement<'_, '_>) {
        let Some(tree) = block.tree.take() else { return };
        if let Some(place) = statement.subqueries.get_mut(self.number) {
            *place = None;
        }
        let columns = columns_of(&self.query, slot);
        let (group, aggregates) = columns.split_at_checked(self.keys.len()).unwrap_or_default();
        let mut value = self.value;
        substitute(&mut value, self.groups, &aggregates.iter().map(of_no_rows).collect::<Vec<_>>());
        let mut put = |expr: &mut Expr| replace(expr, self.number, &value);
        output.iter_mut().for_each(&mut put);
        change_block(block, &mut put);
        let equality = |((left, _, domain), right): (&(Expr, Expr, Domain), &Expr)| {
            let nullable = left.nullable || right.nullable;
            let (left, right) = (Box::new(left.clone()), Box::new(right.clone()));
            let node = Node::Compare { comparison: Comparison::Equal, domain: *domain, left, right };
            Expr::truth(node, nullable)
        };
        let on = self.keys.iter().zip(group).map(equality).collect();
        let alias = format!("derived_{}_{}", block.number.max(1), self.block);
        let query = Box::new(self.query);
        let groups = JoinTree::Leaf(Leaf::Derived { slot, query, alias, subquery: None });
        let is_inner = block.conditions.iter().any(|condition| rejects_null(condition, &[slot]));
        block.tree = Some(match is_inner {
            true => JoinTree::Inner(vec![tree, groups], on),
            false => JoinTree::Left(Box::new(tree), Box::new(groups), on),
        });
    }
}

/// Whether a block gives one row of aggregates, of tables that are read by a snapshot.
fn is_plain(block: &Block) -> bool {
    let Some(grouping) = &block.grouping else { return false };
    let is_single = grouping.group.is_empty() && !grouping.rollup && grouping.keep.is_empty();
    let are_known = grouping.aggregates.iter().all(|spec| {
        let is_known = matches!(
            spec.kind,
            AggregateKind::Count
                | AggregateKind::Sum
                | AggregateKind::Avg
                | AggregateKind::Min
                | AggregateKind::Max
        );
        is_known && spec.order_by.is_empty()
    });
    let mut is_snapshot = block.tree.is_some();
    if let Some(tree) = &block.tree {
        tree.leaves(&mut |leaf| {
            is_snapshot &= match leaf {
                Leaf::Table(TableLeaf { mode, .. }) => *mode == ReadMode::Snapshot,
                Leaf::Derived { query, .. } => query.outer_slots.is_empty(),
                Leaf::Virtual(_) | Leaf::Recursive { .. } | Leaf::Working { .. } => false,
            };
        });
    }
    is_single
        && are_known
        && is_snapshot
        && block.having.is_none()
        && block.windows.is_empty()
        && block.projection.is_none()
        && matches!(block.distinct, Distinct::No)
        && block.order.limit.is_none()
        && !block.whole_rows
        && !block.straight
}

/// Takes the equalities of a block with the tables in `local`. `None` if another condition reads these.
fn take_correlation(
    block: &mut Block,
    local: &[usize],
    own: &[usize],
    statement: &Statement<'_, '_>,
) -> Option<Vec<(Expr, Expr, Domain)>> {
    let mut keys = Vec::new();
    let mut is_known = true;
    let mut take = |conditions: &mut Vec<Expr>| {
        conditions.retain(|condition| {
            let is_own = slots_of(condition, statement).iter().all(|slot| own.contains(slot));
            if !is_own {
                match correlation(condition, local, own, statement) {
                    Some(key) => keys.push(key),
                    None => is_known = false,
                }
            }
            is_own
        });
    };
    take(&mut block.conditions);
    if let Some(tree) = &mut block.tree {
        inner_conditions(tree, &mut take);
    }
    is_known.then_some(keys)
}

/// Calls `visit` on the conditions of the inner joins that a tree consists of.
fn inner_conditions(tree: &mut JoinTree, visit: &mut dyn FnMut(&mut Vec<Expr>)) {
    if let JoinTree::Inner(parts, on) = tree {
        visit(on);
        parts.iter_mut().for_each(|part| inner_conditions(part, visit));
    }
}

/// The equality that a condition is between the tables in `local` and those in `own`.
fn correlation(
    condition: &Expr,
    local: &[usize],
    own: &[usize],
    statement: &Statement<'_, '_>,
) -> Option<(Expr, Expr, Domain)> {
    let Node::Compare { comparison: Comparison::Equal, domain, left, right } = &condition.node else {
        return None;
    };
    let is_of = |expr: &Expr, slots: &[usize]| {
        let read = slots_of(expr, statement);
        !read.is_empty() && read.iter().all(|slot| slots.contains(slot))
    };
    let (outer, inner) = if is_of(left, local) && is_of(right, own) {
        (left, right)
    } else if is_of(right, local) && is_of(left, own) {
        (right, left)
    } else {
        return None;
    };
    let is_told = tells_apart(&inner.ty, *domain) && tells_apart(&outer.ty, *domain);
    let is_simple = is_movable(outer) && is_movable(inner) && cannot_fail(inner);
    (is_told && is_simple).then(|| ((**outer).clone(), (**inner).clone(), *domain))
}

/// Whether an expression has a value for any row: no error comes of what it computes.
fn cannot_fail(expr: &Expr) -> bool {
    let mut can_not = true;
    expr.walk(&mut |part| {
        can_not &= match &part.node {
            Node::Column { .. } | Node::Literal(_) | Node::Parameter(_) => true,
            Node::Arithmetic { numeric, .. } => *numeric == Numeric::Decimal,
            Node::Compare { .. } | Node::And(_) | Node::Or(_) | Node::Not(_) | Node::Is { .. } => true,
            Node::In { .. } | Node::Between { .. } | Node::Case { .. } => true,
            _ => false,
        };
    });
    can_not
}

/// The block as a query of all its groups.
fn grouped_query(mut block: Block, keys: &[(Expr, Expr, Domain)], value: &Expr) -> Option<LogicalQuery> {
    let grouping = block.grouping.as_mut()?;
    let name_of = |number: usize| -> Arc<str> {
        let mut name: Arc<str> = "".into();
        value.walk(&mut |part| match &part.node {
            Node::Column { slot, column, name: own, .. } if *slot == grouping.slot && *column == number => {
                name = own.clone();
            }
            _ => {}
        });
        name
    };
    let slot = grouping.slot;
    let column = |column: usize, name: Arc<str>| Node::Column { slot, column, name, computed: true };
    let of_keys = keys.iter().enumerate().map(|(number, (_, inner, _))| {
        let name = match &inner.node {
            Node::Column { name, .. } => name.clone(),
            _ => format!("{inner}").into(),
        };
        Expr { node: column(number, name), ..inner.clone() }
    });
    let of_aggregates = grouping.aggregates.iter().enumerate().map(|(number, spec)| {
        let nullable = spec.kind != AggregateKind::Count;
        Expr::computed(column(keys.len() + number, name_of(number)), spec.ty.clone(), nullable)
    });
    let output: Vec<Expr> = of_keys.chain(of_aggregates).collect();
    grouping.group = keys.iter().map(|(_, inner, _)| inner.clone()).collect();
    let named = |(number, expr): (usize, &Expr)| {
        ColumnMeta::computed(format!("Name_exp_{}", number + 1), expr.ty.clone())
    };
    let columns = output.iter().enumerate().map(named).collect();
    Some(LogicalQuery::new(Body::Block(Box::new(block)), output, columns))
}

/// A column of a group as it is where there are no rows: an aggregate is NULL then, but a COUNT, which is
/// none in a group, is 0.
fn of_no_rows(column: &Expr) -> Expr {
    let is_count = !column.nullable;
    let column = Expr { nullable: true, ..column.clone() };
    match is_count {
        true => {
            let (ty, arguments) = (column.ty.clone(), vec![column, Expr::int(0)]);
            Expr::computed(Node::Call { function: COALESCE, arguments }, ty, false)
        }
        false => column,
    }
}

/// Puts `value` where a subquery is.
fn replace(expr: &mut Expr, number: usize, value: &Expr) {
    if matches!(&expr.node, Node::Subquery(subquery) if subquery.number == number) {
        expr.node = value.node.clone();
        return;
    }
    expr.children_mut(&mut |child| replace(child, number, value));
}

/// Whether the groups are to be joined: as an outline says, or as costs do.
fn is_wanted(
    grouped: &Grouped,
    place: Place,
    (block, slot): (&Block, usize),
    statement: &mut Statement<'_, '_>,
) -> SqlResult<bool> {
    if statement.switches.subquery_to_derived {
        return Ok(true);
    }
    if let Some(outline) = &statement.outline {
        return Ok(outline.joins().any(|join| join.left.contains(&slot) || join.right.contains(&slot)));
    }
    trial(statement, |statement, planner| pays(grouped, place, block, statement, planner))
}

/// Whether adding up all groups and joining them costs less than running the subquery for the rows.
fn pays(
    grouped: &Grouped,
    place: Place,
    block: &Block,
    statement: &Statement<'_, '_>,
    planner: &mut Planner<'_>,
) -> SqlResult<bool> {
    let Some(Some(subquery)) = statement.subqueries.get(grouped.number) else { return Ok(false) };
    let Some(tree) = &block.tree else { return Ok(false) };
    let is_remembered = deciding_columns(subquery).is_some();
    let each = planner.query(subquery.clone())?.cost + cost::OPEN_SCAN;
    let all = planner.query(grouped.query.clone())?;
    let column = |(outer, ..): &(Expr, Expr, Domain)| match outer.node {
        Node::Column { slot, column, .. } => Some((slot, column)),
        _ => None,
    };
    let group: Option<Vec<(usize, usize)>> = grouped.keys.iter().map(column).collect();
    let joined = joins_of(planner, block, tree.clone(), group)?;
    let limit = block.order.limit.as_ref().and_then(|limit| planner.rows_of_limit(limit));
    let is_any = block.order.keys.is_empty() && matches!(block.distinct, Distinct::No);
    let rows = match (limit, place) {
        (Some(limit), Place::Output) if matches!(block.distinct, Distinct::No) => joined.rows.min(limit),
        (Some(limit), Place::Condition) if is_any => joined.rows.min(limit * cost::LATE_MATCHES),
        _ => joined.rows,
    };
    let values = joined.groups.filter(|values| is_remembered && *values <= REMEMBERED);
    let runs = values.map_or(rows, |values| rows.min(values));
    let as_it_is = runs * each + rows * cost::PROBE;
    let grouped = all.cost + all.rows * (cost::KEPT_ROW + cost::HASHED_ROW) + joined.rows * cost::PROBE;
    Ok(as_it_is > LEAST_COST && as_it_is > LEAST_GAIN * grouped)
}
