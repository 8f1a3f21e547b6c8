//! What the form of a view's query allows.

use palisade_engine::Dictionary;
use palisade_parser::ast::{
    Expr, JoinKind, Query, QueryBody, Select, SelectItem, TableFactor, TableReference,
};

/// The one block of a query whose rows are rows of its tables: nothing groups, combines, numbers or leaves
/// out any of them.
pub(crate) fn plain_block(query: &Query) -> Option<&Select> {
    let QueryBody::Select(select) = &query.body else { return None };
    let computes = |expr: &Expr| {
        let mut found = false;
        expr.clone().walk_mut(&mut |expr| {
            found |= matches!(expr, Expr::Aggregate(_) | Expr::WindowFunction(_));
        });
        found
    };
    let items = select.items.iter().filter_map(|item| match item {
        SelectItem::Expr { expr, .. } => Some(expr),
        _ => None,
    });
    let is_plain = query.limit.is_none()
        && !select.distinct
        && select.group_by.is_empty()
        && select.having.is_none()
        && !select.from.is_empty()
        && !items.into_iter().any(computes);
    is_plain.then_some(select)
}

/// Whether a query can become part of the statement that names its view.
pub(crate) fn is_mergeable(query: &Query) -> bool {
    plain_block(query).is_some()
}

/// Whether rows can be changed through a view of this query.
pub(crate) fn is_updatable(dictionary: &Dictionary, query: &Query) -> bool {
    let Some(select) = plain_block(query) else { return false };
    let has_column = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => {
            let column = if let Expr::Collate(operand, _) = expr { &**operand } else { expr };
            matches!(column, Expr::Column(_))
        }
        _ => false,
    };
    query.with.is_none()
        && select.items.iter().any(has_column)
        && !select.from.iter().any(has_outer_join)
        && select.from.iter().any(|reference| has_updatable(dictionary, reference))
}

fn has_updatable(dictionary: &Dictionary, reference: &TableReference) -> bool {
    match reference {
        TableReference::Table(factor) => is_updatable_table(dictionary, factor),
        TableReference::Derived(derived) => is_updatable(dictionary, &derived.query),
        TableReference::JsonTable(_) => false,
        TableReference::List(list) => list.iter().any(|reference| has_updatable(dictionary, reference)),
        TableReference::Join(join) => {
            has_updatable(dictionary, &join.left) || has_updatable(dictionary, &join.right)
        }
    }
}

fn has_outer_join(reference: &TableReference) -> bool {
    match reference {
        TableReference::Join(join) => {
            matches!(join.kind, JoinKind::Left | JoinKind::Right)
                || has_outer_join(&join.left)
                || has_outer_join(&join.right)
        }
        TableReference::List(list) => list.iter().any(has_outer_join),
        TableReference::Table(_) | TableReference::Derived(_) | TableReference::JsonTable(_) => false,
    }
}

fn is_updatable_table(dictionary: &Dictionary, factor: &TableFactor) -> bool {
    let Some(schema) = &factor.name.schema else { return false };
    match dictionary.view(schema, &factor.name.name) {
        Some(view) => view.is_updatable,
        None => dictionary.table(schema, &factor.name.name).is_ok(),
    }
}
