//! Several MIN and MAX over a whole table, each of the first column of some index, become one block for each
//! of them: `SELECT MIN(k), MAX(k) FROM t` reads two rows (`plan::extremes`).

use palisade_engine::ReadMode;
use palisade_parser::ast::{self, AggregateKind, QueryBody, SelectItem, TableReference};

use super::Binder;
use super::scope::same_name;

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
        let table = self.seen_table(&schema, &factor.name.name).ok()?;
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
