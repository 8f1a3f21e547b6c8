//! From a query's parse tree to its logical plan: blocks with every name resolved.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::SqlType;
use palisade_expr::common::common_column;
use palisade_expr::mode::SqlMode;
use palisade_expr::order::SortKey;
use palisade_expr::place::At;
use palisade_expr::{Coercibility, Expr, Node, SqlError, SqlResult};
use palisade_parser::ast::{self, QueryBody, SelectItem};
use palisade_session::sink::ColumnMeta;

use super::arrange::Arrangement;
use super::dependence::{Dependence, Derived, Undetermined, in_message};
use super::grouping::{Above, Finish, reads_aggregate};
use super::scope::{Clause, Scope, same_name};
use super::types::{chosen_as_number, member_itself};
use super::{Binder, CommonTable};
use crate::Limit;
use crate::logical::{Block, Body, Grouping, LogicalQuery, Order};
use crate::rules::substitute;

/// Bytes of the name of a column that was given none, at most.
const LONGEST_NAME: usize = 255;
/// Deepest nesting of queries.
const MAX_DEPTH: usize = 61;

impl Binder<'_> {
    /// Binds a query.
    pub fn query(&mut self, query: &ast::Query) -> SqlResult<LogicalQuery> {
        if self.depth >= MAX_DEPTH {
            return Err(mysql_error!(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT));
        }
        self.depth += 1;
        let common = self.common_tables.len();
        if let Some(with) = &query.with {
            self.common_tables.extend(CommonTable::all(with));
        }
        let planned = self.locking(&query.locking, |binder| {
            binder.body(&query.body, &query.order_by, query.limit.as_ref())
        });
        self.common_tables.truncate(common);
        self.depth -= 1;
        planned
    }

    pub(super) fn body(
        &mut self,
        body: &QueryBody,
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
    ) -> SqlResult<LogicalQuery> {
        match body {
            QueryBody::Select(select) => self.select(select, order_by, limit),
            QueryBody::Table(name) => {
                let select = ast::Select {
                    items: vec![SelectItem::Wildcard],
                    from: vec![ast::TableReference::Table(ast::TableFactor {
                        name: name.clone(),
                        ..ast::TableFactor::default()
                    })],
                    ..ast::Select::default()
                };
                self.select(&select, order_by, limit)
            }
            QueryBody::Nested(query) if order_by.is_empty() && limit.is_none() => self.query(query),
            QueryBody::Nested(query) => {
                let inner = self.query(query)?;
                self.over(inner, order_by, limit)
            }
            QueryBody::Values(rows) => {
                self.last_derived = None;
                let mut bound = Vec::with_capacity(rows.len());
                for row in rows {
                    self.scopes.push(Scope::default());
                    let row = self.all(row);
                    self.scopes.pop();
                    bound.push(row?);
                }
                let width = bound.first().map_or(0, Vec::len);
                if width == 0 {
                    return Err(mysql_error!(ER_TABLE_VALUE_CONSTRUCTOR_MUST_HAVE_COLUMNS));
                }
                if let Some(row) = bound.iter().position(|row| row.len() != width) {
                    return Err(mysql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, row + 1));
                }
                let slot = self.new_slot();
                let mut output = Vec::with_capacity(width);
                for column in 0..width {
                    let values: Vec<&Expr> =
                        bound.iter().map(|row| row.at(column)).collect::<SqlResult<_>>()?;
                    let shape = common_column(&values, self.collation_connection(), "values")?;
                    output.push(slot_column(
                        slot,
                        column,
                        &format!("column_{column}"),
                        shape.ty,
                        shape.nullable,
                    ));
                }
                let computed = |(at, expr): (usize, &Expr)| {
                    ColumnMeta::computed(format!("column_{at}"), expr.ty.clone())
                };
                let columns = output.iter().enumerate().map(computed).collect();
                let query =
                    LogicalQuery::new(Body::Values { slot, rows: bound, function: None }, output, columns);
                if order_by.is_empty() && limit.is_none() {
                    Ok(query)
                } else {
                    self.over(query, order_by, limit)
                }
            }
            QueryBody::Combination { first, rest } => self.combination(first, rest, order_by, limit),
        }
    }

    /// LIMIT's expressions.
    pub fn limit(&mut self, limit: Option<&ast::Limit>) -> SqlResult<Option<Limit>> {
        let Some(limit) = limit else { return Ok(None) };
        let count = self.expr(&limit.count)?;
        let offset = match &limit.offset {
            Some(offset) => Some(self.expr(offset)?),
            None => None,
        };
        Ok(Some(Limit { count, offset, is_widened: false }))
    }

    /// ORDER BY's keys; a number is a position in the select list.
    pub fn order_keys(&mut self, order_by: &[ast::OrderItem]) -> SqlResult<Vec<SortKey>> {
        let mut keys = Vec::with_capacity(order_by.len());
        for item in order_by {
            let expr = member_itself(self.order_item(&item.expr)?);
            // A constant that is grouped by is NULL where WITH ROLLUP sums it up.
            let is_constant = matches!(expr.node, Node::Literal(_) | Node::Parameter(_));
            if !is_constant || self.scope().group.contains(&expr) {
                keys.push(SortKey { expr, descending: item.descending });
            }
        }
        Ok(keys)
    }

    fn select(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
    ) -> SqlResult<LogicalQuery> {
        self.scopes.push(Scope::default());
        let planned = self.select_in_scope(select, order_by, limit);
        self.scopes.pop();
        planned
    }

    fn select_in_scope(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
    ) -> SqlResult<LogicalQuery> {
        if order_by.is_empty()
            && let Some(split) = self.split_extremes(select)
        {
            return self.select(&split, order_by, limit);
        }
        for (position, (name, _)) in select.windows.iter().enumerate() {
            if select.windows.part(0..position)?.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                return Err(mysql_error!(ER_WINDOW_DUPLICATE_NAME, name));
            }
        }
        let keeps_sources = std::mem::take(&mut self.keeps_sources);
        self.scope().block = select.number;
        self.scope().named_windows.clone_from(&select.windows);
        self.scope().group_width = select.group_by.len();
        self.scope().is_summed_up = select.rollup;
        self.scope().lends_items = true;
        self.scope().is_distinct = select.distinct;
        let tree = self.from(&select.from)?;
        if self.hints.is_some() {
            self.note_hinted_tables(select.number);
        }
        let conditions = match &select.filter {
            Some(filter) => self.filter(filter)?,
            None => Vec::new(),
        };
        self.scope().clause = Clause::Fields;
        self.scope().aggregates_allowed = true;
        self.scope().is_grouped = !select.group_by.is_empty();
        let columns = self.items(&select.items)?;

        let group = self.group_by(&select.group_by)?;
        if select.rollup {
            self.note_group_items(&select.group_by);
        }
        self.scope().aggregates_allowed = true;
        let having = match &select.having {
            Some(having) => {
                self.scope().clause = Clause::Having;
                Some(chosen_as_number(self.expr(having)?))
            }
            None => None,
        };
        self.scope().clause = Clause::Order;
        let keys = self.block_keys(order_by, group.is_empty())?;
        let limit = self.limit(limit)?;

        let local: Vec<usize> = self.scope().sources.iter().map(|source| source.slot).collect();
        let (mut hints, is_straight) = match self.hints.is_some() {
            true => self.block_hints(select.number, &local),
            false => Default::default(),
        };
        let mut scope = std::mem::take(self.scope());
        hints.unmerged.append(&mut scope.unmerged);
        let items = std::mem::take(&mut scope.items).into_iter().map(|(_, expr)| expr);
        let (lent, mut output): (Vec<Expr>, Vec<Expr>) = match scope.item_slot {
            Some(_) => items.map(|expr| (expr.clone(), member_itself(expr))).unzip(),
            None => (Vec::new(), items.map(member_itself).collect()),
        };
        let grouped = !group.is_empty() || !scope.aggregates.is_empty();
        let windows = std::mem::take(&mut scope.windows);
        let mut finish = Finish {
            having,
            keys,
            group,
            slot: scope.group_slot,
            keep: Vec::new(),
            kept_keys: Vec::new(),
            windows,
            lent,
        };
        if grouped && finish.group.is_empty() {
            // One row has no order.
            finish.keys.clear();
        }
        let whole_rows = keeps_sources && !grouped;
        if whole_rows {
            self.kept_sources.clone_from(&scope.sources);
        }
        let is_derived = self.derived_depth > 0;
        let mut dependence = match grouped || is_derived {
            true => Dependence::of(&scope, tree.as_ref(), &conditions),
            false => Dependence::default(),
        };
        // What DISTINCT is checked by, before grouping replaces it.
        let (shown, sorted) = match select.distinct {
            true => (output.clone(), finish.keys.clone()),
            false => (Vec::new(), Vec::new()),
        };
        if grouped {
            let slot = scope.group_slot.unwrap_or_else(|| self.new_slot());
            finish.slot = Some(slot);
            let above =
                Above { scope: &scope, dependence: &dependence, local: &local, rollup: select.rollup };
            self.regroup(above, &mut output, &mut finish)?;
            dependence.add_groups(slot, &finish.group);
        }
        if select.distinct {
            self.check_distinct(&local, &shown, &sorted)?;
        }
        if let Some(slot) = scope.item_slot {
            self.give_items(slot, &finish.lent)?;
            finish.keys.iter_mut().for_each(|key| substitute(&mut key.expr, slot, &finish.lent));
        }
        let is_known = is_derived && !select.rollup;
        self.last_derived = is_known.then(|| Arc::new(Derived::new(dependence, output.clone())));

        let grouping = match (grouped, finish.slot) {
            (false, _) => None,
            (true, None) => return Err(SqlError::internal("a grouped query has a slot for its groups")),
            (true, Some(slot)) => Some(Grouping {
                slot,
                group: finish.group,
                aggregates: std::mem::take(&mut scope.aggregates),
                rollup: select.rollup,
                keep: finish.keep,
                kept_keys: finish.kept_keys,
            }),
        };
        let mut arrangement = Arrangement { output, columns: &columns, keys: finish.keys };
        let (projection, distinct) = arrangement.arrange(self, select.distinct);
        let Arrangement { output, keys, .. } = arrangement;
        let outer_slots = std::mem::take(&mut scope.outer_slots);
        let outer_columns = std::mem::take(&mut scope.outer_columns);
        *self.scope() = scope;
        let body = Body::Block(Box::new(Block {
            number: select.number,
            tree,
            conditions,
            grouping,
            having: finish.having,
            windows: finish.windows,
            projection,
            distinct,
            order: Order { keys, limit },
            counts_all: select.options.calc_found_rows,
            straight: select.options.straight_join || is_straight,
            whole_rows,
            hints,
        }));
        Ok(LogicalQuery { body, output, columns, outer_slots, outer_columns })
    }

    /// Binds GROUP BY.
    fn group_by(&mut self, items: &[ast::OrderItem]) -> SqlResult<Vec<Expr>> {
        self.scope().clause = Clause::Group;
        self.scope().aggregates_allowed = false;
        let mut group = Vec::with_capacity(items.len());
        let mut aliases = Vec::with_capacity(items.len());
        for item in items {
            let (expr, alias) = self.group_item(&item.expr)?;
            let scope = self.scope();
            if reads_aggregate(&expr, scope.group_slot) || scope.reads_window(&expr) {
                let name = alias.unwrap_or_else(|| format!("{expr}"));
                return Err(mysql_error!(ER_WRONG_GROUP_FIELD, name));
            }
            group.push(member_itself(expr));
            aliases.push(alias);
        }
        self.scope().group.clone_from(&group);
        self.scope().group_aliases = aliases;
        Ok(group)
    }

    /// Notes which select items the expressions of GROUP BY are: by position, by name, or as equal ones. A
    /// name that is also the alias of another expression means no item.
    fn note_group_items(&mut self, items: &[ast::OrderItem]) {
        let slot = self.scope().group_slot.unwrap_or_else(|| self.new_slot());
        let scope = self.scope();
        scope.group_slot = Some(slot);
        let item_of = |(item, expr): (&ast::OrderItem, &Expr)| {
            let equal = || scope.items.iter().position(|(_, known)| known == expr);
            match &item.expr {
                ast::Expr::Literal(ast::Literal::Integer(position)) => {
                    usize::try_from(*position).ok()?.checked_sub(1)
                }
                ast::Expr::Column(name) if name.table.is_none() => {
                    let mut named =
                        scope.items.iter().enumerate().filter(|item| same_name(&item.1.0, &name.column));
                    match named.clone().next() {
                        Some(_) => named.find(|item| item.1.1 == *expr).map(|item| item.0),
                        None => equal(),
                    }
                }
                _ => equal(),
            }
        };
        let first_alike = |item: &(String, Expr)| {
            scope.items.iter().position(|known| same_name(&known.0, &item.0) && known.1 == item.1)
        };
        let alike: Vec<Option<usize>> = scope.items.iter().map(first_alike).collect();
        let of_group: Vec<Option<usize>> = items.iter().zip(&scope.group).map(item_of).collect();
        let group_of = |number: &Option<usize>| {
            of_group.iter().position(|item| {
                number.is_some() && item.and_then(|item| alike.get(item).copied().flatten()) == *number
            })
        };
        scope.item_groups = alike.iter().map(group_of).collect();
    }

    /// Binds a block's ORDER BY. An aggregate there makes no grouping of a block that is none: 3029.
    fn block_keys(&mut self, order_by: &[ast::OrderItem], no_group: bool) -> SqlResult<Vec<SortKey>> {
        let is_grouped = !no_group || !self.scope().aggregates.is_empty();
        let mut keys = Vec::with_capacity(order_by.len());
        for (number, item) in order_by.iter().enumerate() {
            keys.extend(self.order_keys(std::slice::from_ref(item))?);
            if !is_grouped && !self.scope().aggregates.is_empty() {
                return Err(mysql_error!(ER_AGGREGATE_ORDER_NON_AGG_QUERY, number + 1));
            }
        }
        Ok(keys)
    }

    /// Under ONLY_FULL_GROUP_BY rows without duplicates are ordered only by what they show (3065).
    fn check_distinct(&self, local: &[usize], shown: &[Expr], keys: &[SortKey]) -> SqlResult<()> {
        if !self.session.variables.sql_mode.has(SqlMode::ONLY_FULL_GROUP_BY) {
            return Ok(());
        }
        let is_shown = |slot: usize, column: usize| {
            shown.iter().any(
                |expr| matches!(&expr.node, Node::Column { slot: s, column: c, .. } if (*s, *c) == (slot, column)),
            )
        };
        let undetermined =
            Undetermined { binder: self, local, is_determined: &is_shown, whole: &[], windows: &[] };
        for (number, key) in keys.iter().enumerate() {
            if shown.contains(&key.expr) {
                continue;
            }
            if let Some(name) = undetermined.find(&key.expr) {
                return Err(mysql_error!(
                    ER_FIELD_IN_ORDER_NOT_SELECT,
                    number + 1,
                    in_message(&name),
                    "DISTINCT"
                ));
            }
        }
        Ok(())
    }

    /// Binds the list of RETURNING over the tables of the innermost scope: its expressions, and what the client
    /// is told of each.
    pub fn returning(&mut self, items: &[SelectItem]) -> SqlResult<(Vec<Expr>, Vec<ColumnMeta>)> {
        self.scope().clause = Clause::Returning;
        let columns = self.items(items)?;
        let items = std::mem::take(&mut self.scope().items).into_iter();
        Ok((items.map(|(_, expr)| member_itself(expr)).collect(), columns))
    }

    /// Binds the select list; gives what the client is told of each column.
    fn items(&mut self, items: &[SelectItem]) -> SqlResult<Vec<ColumnMeta>> {
        let mut columns = Vec::with_capacity(items.len());
        for item in items {
            match item {
                SelectItem::Wildcard => {
                    if self.scope().sources.is_empty() {
                        return Err(mysql_error!(ER_NO_TABLES_USED));
                    }
                    for at in self.scope().star.clone() {
                        self.star_column(at, &mut columns)?;
                    }
                }
                SelectItem::TableWildcard(name) => {
                    let scope = self.scope();
                    let found = scope.sources.iter().position(|source| {
                        source.alias == name.name
                            && name.schema.as_ref().is_none_or(|schema| *schema == source.schema)
                    });
                    let Some(source) = found else { return Err(unknown_table(name)) };
                    let count = scope.sources.at(source)?.columns.len();
                    for column in 0..count {
                        if !self.scope().sources.at(source)?.columns.at(column)?.hidden {
                            self.star_column((source, column), &mut columns)?;
                        }
                    }
                }
                SelectItem::Expr { expr, alias, text } => {
                    let bound = self.expr(expr)?;
                    let name = match (alias, expr) {
                        (Some(alias), _) => alias.clone(),
                        (None, ast::Expr::Column(column)) => {
                            // Columns of information_schema are shown in the case they are declared in.
                            let meta = self.meta_of(&bound);
                            if meta.schema == "information_schema" {
                                meta.org_name
                            } else {
                                column.column.clone()
                            }
                        }
                        (None, _) => {
                            let end = text.floor_char_boundary(LONGEST_NAME);
                            text.get(..end).unwrap_or(text).to_owned()
                        }
                    };
                    let mut meta = self.meta_of(&bound);
                    meta.name.clone_from(&name);
                    columns.push(meta);
                    self.scope().items.push((name, bound));
                }
            }
        }
        Ok(columns)
    }

    fn star_column(
        &mut self,
        (source, column): (usize, usize),
        columns: &mut Vec<ColumnMeta>,
    ) -> SqlResult<()> {
        let expr = self.scope().sources.at(source)?.expr(column)?;
        let name = self.scope().sources.at(source)?.columns.at(column)?.name.clone();
        let mut meta = self.meta_of(&expr);
        meta.name.clone_from(&name);
        columns.push(meta);
        self.scope().items.push((name, expr));
        Ok(())
    }

    /// What the client is told of a column: a table's column keeps its origin.
    fn meta_of(&mut self, expr: &Expr) -> ColumnMeta {
        use palisade_catalog::types::flags;
        if let Node::Column { slot, column, .. } = &expr.node {
            let source =
                self.scopes.iter().flat_map(|scope| &scope.sources).find(|source| source.slot == *slot);
            if let Some(source) = source
                && let Some(meta) = source.columns.get(*column).and_then(|column| column.meta.clone())
            {
                let mut meta = meta;
                if expr.nullable {
                    meta.flags &= !flags::NOT_NULL;
                }
                return meta;
            }
        }
        let mut meta = ColumnMeta::computed(String::new(), expr.ty.clone());
        if !expr.nullable {
            meta.flags |= flags::NOT_NULL;
        }
        if let Node::Literal(value) = &expr.node
            && matches!(expr.ty, SqlType::Int { .. })
        {
            meta.display_width =
                Some(palisade_expr::convert::display_text(value.as_ref(), &expr.ty).len() as u32);
        }
        meta
    }
}

/// A column of a slot of values.
pub fn slot_column(slot: usize, column: usize, name: &str, ty: SqlType, nullable: bool) -> Expr {
    let coercibility = if ty.is_string() { Coercibility::Implicit } else { Coercibility::Numeric };
    let node = Node::Column { slot, column, name: format!("`{name}`").into(), computed: false };
    Expr { node, ty, nullable, coercibility }
}

/// Whether a query reads a table of that name, as recursion does.
pub fn mentions(query: &ast::Query, name: &str) -> bool {
    body_mentions(&query.body, name)
}

/// [`mentions`] of a part of a query.
pub fn body_mentions(body: &QueryBody, name: &str) -> bool {
    match body {
        QueryBody::Select(select) => {
            let items = select.items.iter().filter_map(|item| match item {
                SelectItem::Expr { expr, .. } => Some(expr),
                _ => None,
            });
            let mut exprs = items.chain(&select.filter).chain(&select.having);
            select.from.iter().any(|reference| reference_mentions(reference, name))
                || exprs.any(|expr| expr_mentions(expr, name))
        }
        QueryBody::Table(table) => table.schema.is_none() && table.name == name,
        QueryBody::Nested(query) => mentions(query, name),
        QueryBody::Values(_) => false,
        QueryBody::Combination { first, rest } => {
            body_mentions(first, name) || rest.iter().any(|term| body_mentions(&term.body, name))
        }
    }
}

/// 1051 for `t.*` where there is no `t`; 1096 where it has no name.
#[cold]
fn unknown_table(name: &ast::ObjectName) -> SqlError {
    match &name.schema {
        _ if name.name.is_empty() => mysql_error!(ER_NO_TABLES_USED),
        None => mysql_error!(ER_BAD_TABLE_ERROR, name.name),
        Some(schema) => mysql_error!(ER_BAD_TABLE_ERROR, format!("{schema}.{}", name.name)),
    }
}

fn reference_mentions(reference: &ast::TableReference, name: &str) -> bool {
    match reference {
        ast::TableReference::Table(factor) => {
            factor.name.schema.is_none() && same_name(&factor.name.name, name)
        }
        ast::TableReference::Derived(derived) => mentions(&derived.query, name),
        ast::TableReference::JsonTable(_) => false,
        ast::TableReference::List(list) => list.iter().any(|reference| reference_mentions(reference, name)),
        ast::TableReference::Join(join) => {
            reference_mentions(&join.left, name) || reference_mentions(&join.right, name)
        }
    }
}

fn expr_mentions(expr: &ast::Expr, name: &str) -> bool {
    let mut found = false;
    expr.clone().walk_mut(&mut |expr| {
        found |= match expr {
            ast::Expr::Subquery(query)
            | ast::Expr::Exists(query)
            | ast::Expr::Quantified(_, _, _, query)
            | ast::Expr::InSubquery { query, .. } => mentions(query, name),
            _ => false,
        };
    });
    found
}
