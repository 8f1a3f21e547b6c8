//! MIN and MAX at an index's end.
//!
//! A block without GROUP BY whose only aggregate is MIN or MAX of a column needs one row: the first one in
//! the column's order that is not NULL. If an index gives that order, the row is at its end, or at the end of
//! the range that WHERE leaves.
//!
//! ```text
//!  SELECT MAX(k) FROM t WHERE g = 3       index (g, k), backward from the end of g = 3
//!
//!  Aggregate MAX(k)                       Aggregate MAX(k)
//!    Scan t, filter g = 3          ──►      Limit 1
//!                                             Scan t by (g, k) backward, filter g = 3 AND k IS NOT NULL
//! ```
//!
//! A block of several such aggregates over a whole table, each of the first column of some index, becomes one
//! block for each of them: `SELECT MIN(k), MAX(k) FROM t` reads two rows.

use palisade_catalog::SqlType;
use palisade_engine::ReadMode;
use palisade_expr::{Expr, Node, Truth};
use palisade_parser::ast::{self, AggregateKind, QueryBody, SelectItem, TableReference};

use super::grouping::Finish;
use super::join::WantedOrder;
use super::{Limit, Operator};
use crate::bind::Binder;
use crate::bind::scope::{Scope, same_name};

/// The order in which the first row of a block decides its only aggregate, and the condition that the row
/// must fulfil besides.
pub(super) struct Extreme {
    pub(super) order: WantedOrder,
    pub(super) is_not_null: Option<Expr>,
}

impl Extreme {
    /// That of a block, if it is such a one.
    pub(super) fn of(scope: &Scope, finish: &Finish) -> Option<Extreme> {
        let [aggregate] = &scope.aggregates[..] else { return None };
        let descending = match aggregate.kind {
            AggregateKind::Min => false,
            AggregateKind::Max => true,
            _ => return None,
        };
        let ([source], [argument]) = (&scope.sources[..], &aggregate.arguments[..]) else { return None };
        let (slot, column) = argument.as_plain_column()?;
        // Columns beside the aggregate are of the first row that fulfils WHERE, as if all were read.
        let shows_columns = !finish.keep.is_empty();
        // An ENUM's least value is its least text, not its first member.
        let has_own_order = matches!(argument.ty, SqlType::Enum { .. } | SqlType::Set { .. } | SqlType::Json);
        let has_own_order = has_own_order || argument.has_own_collation();
        let is_other = shows_columns || has_own_order || !finish.group.is_empty();
        if is_other || slot != source.slot || source.table.is_none() {
            return None;
        }
        let order = WantedOrder { slot, keys: vec![(column, descending)], limit: Some(1.0) };
        let operand = Box::new(argument.clone());
        let node = Node::Is { operand, truth: Truth::Null, negated: true };
        let is_not_null = argument.nullable.then(|| Expr::computed(node, SqlType::BIGINT, false));
        Some(Extreme { order, is_not_null })
    }
}

/// Only the first row of `input`.
pub(super) fn first_row(input: Operator) -> Operator {
    Operator::Limit { input: Box::new(input), limit: Limit { count: Expr::int(1), offset: None } }
}

impl Binder<'_> {
    /// The block that has a block for each of its aggregates instead of one for all, if each of these reads
    /// one row.
    pub(super) fn split_extremes(&self, select: &ast::Select) -> Option<ast::Select> {
        let has_more = select.filter.is_some()
            || !select.group_by.is_empty()
            || select.having.is_some()
            || select.distinct
            || !select.windows.is_empty()
            || self.locking.is_some()
            || self.read_mode != ReadMode::Snapshot;
        let [TableReference::Table(factor)] = &select.from[..] else { return None };
        let is_plain = factor.partitions.is_empty() && factor.index_hints.is_empty();
        let names_common = factor.name.schema.is_none()
            && self.common_tables.iter().any(|common| common.name == factor.name.name);
        if has_more || select.items.len() < 2 || !is_plain || names_common {
            return None;
        }
        let schema = self.schema_of(&factor.name).ok()?;
        let table = self.dictionary.table(&schema, &factor.name.name).ok()?;
        let leads_an_index = |name: &str| {
            table.indexes.iter().filter(|index| !index.hidden && !index.invisible).any(|index| {
                let first = index.parts.first().filter(|part| part.prefix.is_none());
                let column = first.and_then(|part| table.columns.get(usize::from(part.column)));
                column.is_some_and(|column| same_name(&column.name, name))
            })
        };
        let block = |item: &SelectItem| {
            let SelectItem::Expr { expr, alias, text } = item else { return None };
            let ast::Expr::Aggregate(aggregate) = expr else { return None };
            let [ast::Expr::Column(column)] = &aggregate.arguments[..] else { return None };
            let is_extreme = matches!(aggregate.kind, AggregateKind::Min | AggregateKind::Max);
            if !is_extreme || aggregate.over.is_some() || !leads_an_index(&column.column) {
                return None;
            }
            let own = ast::Select { items: vec![item.clone()], ..select.clone() };
            let query = ast::Query {
                with: None,
                body: QueryBody::Select(Box::new(own)),
                order_by: Vec::new(),
                limit: None,
                locking: Vec::new(),
                into: None,
            };
            let expr = ast::Expr::Subquery(Box::new(query));
            Some(SelectItem::Expr { expr, alias: alias.clone(), text: text.clone() })
        };
        let items = select.items.iter().map(block).collect::<Option<Vec<_>>>()?;
        Some(ast::Select { items, from: Vec::new(), ..select.clone() })
    }
}
