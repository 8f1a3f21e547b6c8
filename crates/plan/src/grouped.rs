//! Grouping, and leaving out rows that look alike, in the order of an index.
//!
//! Where the leading parts of an index are what rows are grouped by, in whatever order, the rows of a group
//! come one after the other: no hash table is needed, the groups come in the order of the index, and a LIMIT
//! ends the scan. DISTINCT is the same with the columns that are shown.
//!
//! Where besides a few rows of each group tell what is asked, the others are not read at all
//! ([loose scan](super::access::Loose)):
//!
//! | asked | index | read of each group |
//! |---|---|---|
//! | `SELECT a, b ... GROUP BY a, b`, `SELECT DISTINCT a, b` | (b, a) | a row of each (b, a) |
//! | `SELECT a, MIN(b), MAX(b) ... GROUP BY a` | (a, b) | the first and the last row |
//! | `SELECT a, COUNT(DISTINCT b) ... GROUP BY a` | (a, b) | a row of each (a, b) |
//!
//! Equal texts may differ in bytes; a group shows those of its first row in the index, like in MySQL.

use palisade_catalog::SqlType;
use palisade_engine::{ReadMode, Table};
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::order::SortKey;
use palisade_expr::{Expr, Node};
use palisade_parser::ast::AggregateKind;

use super::Operator;
use super::access::{Access, Loose, index_columns, index_parts};
use super::conditions::order_of;
use super::join::WantedOrder;
use super::logical::{Block, Distinct, Grouping, JoinTree, Leaf};

/// Groups in which rows are to come, one group after the other.
#[derive(Debug, Clone)]
pub struct WantedGroups {
    /// Columns of the order's slot by which rows are grouped.
    pub columns: Vec<usize>,
    /// The order is that of ORDER BY: groups that come in it need not be sorted.
    pub sorts: bool,
    /// Rows that tell all that is asked.
    pub few: Option<FewRows>,
}

/// Rows of a table that tell what is asked of its groups.
#[derive(Debug, Clone)]
pub struct FewRows {
    /// One of each combination of values of these columns.
    pub values: Vec<usize>,
    /// And of those with the least or, if it is true, with the greatest value of this column.
    pub extremes: Vec<(usize, bool)>,
}

/// What a block that groups, or leaves out rows that look alike, wants of its rows.
pub(super) fn wanted(block: &Block) -> Option<WantedOrder> {
    let order = match (&block.grouping, &block.distinct) {
        (Some(grouping), _) => of_grouping(block, grouping),
        (None, Distinct::No) => None,
        (None, distinct) => of_distinct(block, distinct),
    }?;
    // A locking read locks what it looks at, whatever it needs of that.
    let mut locks = false;
    block.tree.as_ref()?.leaves(&mut |leaf| {
        locks |= matches!(leaf, Leaf::Table(table) if table.mode != ReadMode::Snapshot);
    });
    (!locks && block.slots().contains(&order.slot)).then_some(order)
}

/// Slot and column of an expression whose equal values lie side by side in an index over the column.
fn group_column(expr: &Expr) -> Option<(usize, usize)> {
    // Of numbers that are equal not all have the same key.
    let has_many_keys = matches!(expr.ty, SqlType::Float { .. } | SqlType::Double { .. } | SqlType::Json);
    expr.as_plain_column().filter(|_| !has_many_keys && !expr.has_own_collation())
}

/// The columns of expressions, if all are of one slot.
fn columns_of<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Option<(usize, Vec<usize>)> {
    let mut slot = None;
    let mut columns = Vec::new();
    for expr in exprs {
        let (own, column) = group_column(expr)?;
        if *slot.get_or_insert(own) != own {
            return None;
        }
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Some((slot?, columns))
}

/// Sort keys as columns, where `column` tells which of the table's columns an expression shows. ENUM and SET
/// are sorted as numbers, which an index over them does, too, but not if they have become texts.
fn keys_of(keys: &[SortKey], column: impl Fn(usize, usize) -> Option<usize>) -> Option<Vec<(usize, bool)>> {
    let one = |key: &SortKey| {
        let (slot, own) = key.expr.as_plain_column()?;
        let is_other = matches!(key.expr.ty, SqlType::Enum { .. } | SqlType::Set { .. });
        let column = column(slot, own).filter(|_| !is_other && !key.expr.has_own_collation())?;
        Some((column, key.descending))
    };
    keys.iter().map(one).collect()
}

fn of_grouping(block: &Block, grouping: &Grouping) -> Option<WantedOrder> {
    if grouping.rollup {
        return None;
    }
    let few_of = |slot: usize, columns: &[usize]| {
        let is_all = grouping.keep.is_empty() && is_one_table(block, slot);
        few_rows(slot, columns, &grouping.aggregates).filter(|_| is_all)
    };
    if grouping.group.is_empty() {
        let counted = grouping.aggregates.iter().filter(|aggregate| aggregate.distinct);
        let (slot, _) = columns_of(counted.flat_map(|aggregate| &aggregate.arguments))?;
        let few = Some(few_of(slot, &[])?);
        let groups = Some(WantedGroups { columns: Vec::new(), sorts: false, few });
        return Some(WantedOrder { slot, keys: Vec::new(), limit: None, groups });
    }
    let (slot, columns) = columns_of(grouping.group.iter())?;
    let shown = |of: usize, column: usize| match of == grouping.slot {
        true => grouping.group.get(column).and_then(|expr| Some(expr.as_plain_column()?.1)),
        false => (of == slot && columns.contains(&column)).then_some(column),
    };
    let keys = keys_of(&block.order.keys, shown);
    let few = few_of(slot, &columns);
    let groups = Some(WantedGroups { columns, sorts: keys.is_some(), few });
    Some(WantedOrder { slot, keys: keys.unwrap_or_default(), limit: None, groups })
}

fn of_distinct(block: &Block, distinct: &Distinct) -> Option<WantedOrder> {
    let (shown, from, hides) = match (distinct, &block.projection) {
        (Distinct::Projected(types), Some(projection)) => {
            let shown: Vec<&Expr> = projection.values.iter().take(types.len()).collect();
            let hides = projection.values.len() > types.len();
            (shown, Some(projection.slot), hides)
        }
        (Distinct::Sorted, None) => (block.order.keys.iter().map(|key| &key.expr).collect(), None, false),
        _ => return None,
    };
    let (slot, columns) = columns_of(shown.iter().copied())?;
    let column = |of: usize, column: usize| match from {
        Some(from) if of == from => shown.get(column).and_then(|expr| Some(expr.as_plain_column()?.1)),
        Some(_) => None,
        None => (of == slot && columns.contains(&column)).then_some(column),
    };
    let keys = keys_of(&block.order.keys, column);
    let is_all = !hides && is_one_table(block, slot);
    let few = is_all.then(|| FewRows { values: columns.clone(), extremes: Vec::new() });
    let groups = Some(WantedGroups { columns, sorts: keys.is_some(), few });
    Some(WantedOrder { slot, keys: keys.unwrap_or_default(), limit: None, groups })
}

/// Whether the block reads one stored table, in this slot.
fn is_one_table(block: &Block, slot: usize) -> bool {
    matches!(&block.tree, Some(JoinTree::Leaf(Leaf::Table(table))) if table.slot == slot) && !block.whole_rows
}

/// The rows that tell these aggregates of groups of these columns.
fn few_rows(slot: usize, columns: &[usize], aggregates: &[AggregateSpec]) -> Option<FewRows> {
    let mut values = columns.to_vec();
    let mut extremes = Vec::new();
    for aggregate in aggregates {
        let of_numbers = || {
            let argument = aggregate.arguments.first();
            argument
                .is_some_and(|argument| matches!(argument.ty, SqlType::Int { .. } | SqlType::Decimal { .. }))
        };
        match aggregate.kind {
            AggregateKind::Min | AggregateKind::Max => {
                let [argument] = &aggregate.arguments[..] else { return None };
                // An ENUM's least value is its least text, not its first member.
                let has_own_order = matches!(argument.ty, SqlType::Enum { .. } | SqlType::Set { .. });
                let (of, column) = group_column(argument).filter(|_| !has_own_order)?;
                if of != slot {
                    return None;
                }
                extremes.push((column, aggregate.kind == AggregateKind::Max));
            }
            AggregateKind::Count if aggregate.distinct => {
                let (of, counted) = columns_of(aggregate.arguments.iter())?;
                if of != slot {
                    return None;
                }
                values.extend(counted);
            }
            AggregateKind::Sum | AggregateKind::Avg if aggregate.distinct && of_numbers() => {
                let (of, counted) = columns_of(aggregate.arguments.iter())?;
                if of != slot {
                    return None;
                }
                values.extend(counted);
            }
            _ => return None,
        }
    }
    values.sort_unstable();
    values.dedup();
    extremes.retain(|(column, _)| !values.contains(column));
    (!values.is_empty()).then_some(FewRows { values, extremes })
}

/// Whether rows that are read so come in a wanted order or in wanted groups, and if so whether the index must
/// be read backward.
pub(super) fn comes_in(table: &Table, access: &Access, order: &WantedOrder) -> Option<bool> {
    let Some(groups) = &order.groups else { return order_of(table, access, &order.keys) };
    if access.unique {
        return Some(false);
    }
    leading_parts(table, access, &groups.columns)?;
    Some(order_of(table, access, &order.keys).unwrap_or(false))
}

/// How many leading parts of an index have the same values where these columns have, and nowhere else.
pub(super) fn leading_parts(table: &Table, access: &Access, columns: &[usize]) -> Option<usize> {
    let fixed: Vec<usize> = index_columns(table, access.index).take(access.equals.len()).collect();
    let rest: Vec<usize> = columns.iter().copied().filter(|column| !fixed.contains(column)).collect();
    let parts = index_parts(table, access.index).skip(access.equals.len()).take(rest.len());
    let mut own = Vec::with_capacity(rest.len());
    for part in parts {
        let column = usize::from(part.column);
        if part.prefix.is_some() || !rest.contains(&column) || own.contains(&column) {
            return None;
        }
        own.push(column);
    }
    (own.len() == rest.len()).then_some(access.equals.len() + rest.len())
}

/// The loose scan that a path becomes if only these rows are read; `None` if the index does not lead to them.
pub(super) fn loose(table: &Table, access: &Access, few: &FewRows) -> Option<Loose> {
    if access.unique {
        return None;
    }
    let parts = leading_parts(table, access, &few.values)?;
    let (mut lowest, mut highest) = (false, false);
    for (column, greatest) in &few.extremes {
        let next = index_parts(table, access.index).nth(parts)?;
        if usize::from(next.column) != *column || next.prefix.is_some() {
            return None;
        }
        let is_high = *greatest != next.descending;
        lowest |= !is_high;
        highest |= is_high;
    }
    Some(Loose { parts, lowest, highest })
}

/// Whether a condition says the same of all rows with the same values in these columns of a slot: it reads
/// nothing else, and no texts, which may differ in bytes.
pub(super) fn is_about(condition: &Expr, slot: usize, columns: &[usize]) -> bool {
    let mut is_about = true;
    condition.walk(&mut |part| {
        is_about &= match &part.node {
            Node::Column { slot: of, column, .. } => {
                *of == slot && columns.contains(column) && !part.ty.is_string()
            }
            Node::Subquery(_) | Node::UserVariable(_) => false,
            _ => true,
        };
    });
    is_about && !condition.is_impure()
}

/// Whether the rows of an operator come in the order of these keys of a slot: joins keep the order of their
/// left sides.
pub(super) fn is_sorted(operator: &Operator, slot: usize, keys: &[(usize, bool)]) -> bool {
    match operator {
        Operator::Scan { slot: own, table, access, .. } => {
            let backward = order_of(table, access, keys);
            let fixed: Vec<usize> = index_columns(table, access.index).take(access.equals.len()).collect();
            let is_one = access.unique || keys.iter().all(|(column, _)| fixed.contains(column));
            *own == slot && backward.is_some_and(|backward| is_one || backward == access.backward)
        }
        Operator::NestedLoop { left, .. } | Operator::HashJoin { left, .. } => is_sorted(left, slot, keys),
        Operator::Filter { input, .. } | Operator::Noted { input, .. } => is_sorted(input, slot, keys),
        _ => false,
    }
}

/// What is above an operator relies on the order of its rows: joins through files are to keep it.
pub(super) fn keep_order(operator: &mut Operator) {
    match operator {
        Operator::HashJoin { left, in_order, .. } => {
            *in_order = true;
            keep_order(left);
        }
        Operator::NestedLoop { left, .. } => keep_order(left),
        Operator::Filter { input, .. } | Operator::Noted { input, .. } | Operator::Limit { input, .. } => {
            keep_order(input);
        }
        _ => {}
    }
}
