//! The query of a view, frozen: with it the view means the same whatever becomes of the session that made it.
//!
//! ```text
//! SELECT a.*, b FROM t a JOIN s USING (id) WHERE x > 1
//!   ──►  select `a`.`id` AS `id`,`a`.`x` AS `x`,`d`.`s`.`b` AS `b`
//!        from (`d`.`t` `a` join `d`.`s` on((`a`.`id` = `d`.`s`.`id`))) where (`a`.`x` > 1)
//! ```
//!
//! Tables get their schema, columns their table, items of select lists the names that they have; `*` becomes
//! the columns that there are now; USING and NATURAL become conditions. The parse tree is changed and then
//! printed (`display` of `palisade_parser`), in the default modes of SQL, and reads back as the same tree.
//! The query has been bound before, so what is not found here is left as it is: an alias, or nothing that
//! exists.
//!
//! Which table a name means is decided as [binding](palisade_plan::bind) decides it.

use palisade_catalog::CollationId;
use palisade_engine::Dictionary;
use palisade_expr::SqlResult;
use palisade_expr::place::At;
use palisade_parser::ast::{
    self, ColumnName, Expr, Join, JoinCondition, JoinKind, OrderItem, Query, QueryBody, Select, SelectItem,
    TableFactor, TableReference,
};
use palisade_plan::bind::scope::same_name;
use palisade_session::environment::VirtualTables;
use palisade_session::virtual_tables::find;

use super::words;
use crate::show::information_schema::{InformationSchema, shown_columns};

/// The longest name of a column.
const LONGEST_NAME: usize = 64;

/// What is known where a view is made.
pub(super) struct Freezer<'a> {
    dictionary: &'a Dictionary,
    host: &'a dyn VirtualTables,
    database: Option<&'a str>,
    /// The character set of the connection.
    charset: &'static str,
    /// The collation of the connection.
    collation: &'static str,
    /// Common table expressions in sight: name and columns.
    common: Vec<(String, Vec<String>)>,
    blocks: Vec<Block>,
    /// The tables and views that it has met: schema and name.
    pub(super) tables: Vec<(String, String)>,
    /// The aliases of tables that it has met.
    pub(super) aliases: Vec<String>,
    /// It has met a variable or a parameter.
    pub(super) has_variables: bool,
}

/// What stands in FROM under one name.
struct Source {
    /// The schema that its columns are written with; none for an alias.
    schema: Option<String>,
    /// The schema that may stand before it.
    named_schema: Option<String>,
    alias: String,
    columns: Vec<String>,
}

/// A query block, as far as names go.
#[derive(Default)]
struct Block {
    sources: Vec<Source>,
    /// Columns that USING and NATURAL have made one with others.
    merged: Vec<(usize, usize)>,
    /// The order of `*`.
    star: Vec<(usize, usize)>,
    /// Aliases of its select list.
    aliases: Vec<String>,
}

/// Where a name stands: which of tables and aliases come first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Tables only.
    Tables,
    /// Tables, then aliases.
    TablesFirst,
    /// Aliases, then tables.
    AliasesFirst,
}

/// What a query is for: how the items of its select list are named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Its columns have names.
    Table,
    /// It is a value: aliases stay, and no names are given.
    Value,
}

impl Source {
    fn is_named_by(&self, schema: Option<&String>, table: Option<&String>) -> bool {
        let Some(table) = table else { return true };
        let schema_differs = schema.is_some_and(|schema| self.named_schema.as_ref() != Some(schema));
        !schema_differs && (*table == self.alias || self.alias.eq_ignore_ascii_case(table))
    }

    fn name_of(&self, column: &str) -> ColumnName {
        let table = Some(self.alias.clone());
        ColumnName { schema: self.schema.clone(), table, column: column.to_owned() }
    }
}

impl Block {
    fn find(&self, name: &ColumnName) -> Option<(usize, usize)> {
        let sources = self.sources.iter().enumerate();
        sources.filter(|(_, source)| source.is_named_by(name.schema.as_ref(), name.table.as_ref())).find_map(
            |(at, source)| {
                let column = source.columns.iter().position(|known| same_name(known, &name.column))?;
                let is_hidden = name.table.is_none() && self.merged.contains(&(at, column));
                (!is_hidden).then_some((at, column))
            },
        )
    }

    fn has_alias(&self, name: &ColumnName) -> bool {
        name.table.is_none() && self.aliases.iter().any(|alias| same_name(alias, &name.column))
    }

    fn name_at(&self, (source, column): (usize, usize)) -> Option<(ColumnName, String)> {
        let source = self.sources.get(source)?;
        let column = source.columns.get(column)?;
        Some((source.name_of(column), column.clone()))
    }

    fn push(&mut self, source: Source, visible: usize) {
        let at = self.sources.len();
        self.star.extend((0..visible).map(|column| (at, column)));
        self.sources.push(source);
    }
}

impl<'a> Freezer<'a> {
    pub(super) fn new(
        dictionary: &'a Dictionary,
        host: &'a dyn VirtualTables,
        database: Option<&'a str>,
        connection: CollationId,
    ) -> Freezer<'a> {
        let (common, blocks, tables, aliases) = Default::default();
        let (charset, collation) = (connection.get().charset.name(), connection.get().name);
        Freezer {
            dictionary,
            host,
            database,
            charset,
            collation,
            common,
            blocks,
            tables,
            aliases,
            has_variables: false,
        }
    }

    /// Freezes the query of a view; gives the names of its columns.
    pub(super) fn view(&mut self, query: &mut Query) -> SqlResult<Vec<String>> {
        self.query(query, Purpose::Table)
    }

    fn query(&mut self, query: &mut Query, purpose: Purpose) -> SqlResult<Vec<String>> {
        let common = self.common.len();
        if let Some(with) = &mut query.with {
            let recursive = with.recursive;
            for table in &mut with.tables {
                let at = self.common.len();
                if recursive {
                    let columns = match table.columns.is_empty() {
                        true => self.seed_names(&table.query)?,
                        false => table.columns.clone(),
                    };
                    self.common.push((table.name.clone(), columns));
                }
                let blocks = std::mem::take(&mut self.blocks);
                let names = self.query(&mut table.query, Purpose::Table)?;
                self.blocks = blocks;
                self.common.truncate(at);
                let columns = if table.columns.is_empty() { names } else { table.columns.clone() };
                self.common.push((table.name.clone(), columns));
            }
        }
        let names = self.body(&mut query.body, &mut query.order_by, purpose)?;
        self.common.truncate(common);
        Ok(names)
    }

    /// The names of the columns of what a recursive table begins with.
    fn seed_names(&mut self, query: &Query) -> SqlResult<Vec<String>> {
        let seed = match &query.body {
            QueryBody::Combination { first, .. } => (**first).clone(),
            other => other.clone(),
        };
        let tables = self.tables.len();
        let names = self.query(&mut Query::of(seed), Purpose::Table);
        self.tables.truncate(tables);
        names
    }

    fn body(
        &mut self,
        body: &mut QueryBody,
        order_by: &mut [OrderItem],
        purpose: Purpose,
    ) -> SqlResult<Vec<String>> {
        match body {
            QueryBody::Select(select) => self.select(select, order_by, purpose),
            QueryBody::Table(name) => {
                let factor = TableFactor { name: std::mem::take(name), ..TableFactor::default() };
                let mut select = Box::new(Select {
                    items: vec![SelectItem::Wildcard],
                    from: vec![TableReference::Table(factor)],
                    ..Select::default()
                });
                let names = self.select(&mut select, order_by, purpose);
                *body = QueryBody::Select(select);
                names
            }
            QueryBody::Values(rows) => {
                let width = rows.first().map_or(0, Vec::len);
                for value in rows.iter_mut().flatten() {
                    self.expr(value, Place::Tables)?;
                }
                Ok((0..width).map(|column| format!("column_{column}")).collect())
            }
            QueryBody::Nested(query) => self.query(query, purpose),
            QueryBody::Combination { first, rest } => {
                let names = self.body(first, &mut [], purpose)?;
                for term in rest {
                    self.body(&mut term.body, &mut [], purpose)?;
                }
                Ok(names)
            }
        }
    }

    fn select(
        &mut self,
        select: &mut Select,
        order_by: &mut [OrderItem],
        purpose: Purpose,
    ) -> SqlResult<Vec<String>> {
        self.blocks.push(Block::default());
        for reference in &mut select.from {
            self.reference(reference)?;
        }
        joined(&mut select.from);
        let names = self.items(&mut select.items, purpose)?;
        if let Some(filter) = &mut select.filter {
            self.expr(filter, Place::Tables)?;
            words::truth(filter);
        }
        for item in &mut select.group_by {
            self.expr(&mut item.expr, Place::TablesFirst)?;
        }
        if let Some(having) = &mut select.having {
            self.expr(having, Place::AliasesFirst)?;
            words::truth(having);
        }
        for (_, window) in &mut select.windows {
            self.window(window)?;
        }
        for item in select.group_by.iter_mut().chain(&mut *order_by) {
            by_name(item, &select.items);
        }
        for item in order_by {
            let is_whole = matches!(item.expr, Expr::Column(_));
            let place = if is_whole { Place::AliasesFirst } else { Place::TablesFirst };
            self.expr(&mut item.expr, place)?;
        }
        self.blocks.pop();
        Ok(names)
    }

    /// Names the items of a select list, and puts columns in the place of `*`.
    fn items(&mut self, items: &mut Vec<SelectItem>, purpose: Purpose) -> SqlResult<Vec<String>> {
        let mut names = Vec::new();
        let mut named = Vec::with_capacity(items.len());
        for item in std::mem::take(items) {
            match item {
                SelectItem::Wildcard => {
                    let star = self.block()?.star.clone();
                    self.spread(star, &mut named, &mut names)?;
                }
                SelectItem::TableWildcard(table) => {
                    let block = self.block()?;
                    let is_it =
                        |source: &Source| source.is_named_by(table.schema.as_ref(), Some(&table.name));
                    let found = block.sources.iter().position(is_it);
                    let star = block.star.iter().copied().filter(|(source, _)| Some(*source) == found);
                    let star = star.collect();
                    self.spread(star, &mut named, &mut names)?;
                }
                SelectItem::Expr { mut expr, alias, text } => {
                    let written = match &expr {
                        Expr::Column(column) => column.column.clone(),
                        _ => text.clone(),
                    };
                    self.expr(&mut expr, Place::Tables)?;
                    let name = match &alias {
                        Some(alias) => alias.clone(),
                        None if written.chars().count() > LONGEST_NAME => {
                            format!("Name_exp_{}", named.len() + 1)
                        }
                        None => written,
                    };
                    self.block()?.aliases.extend(alias.clone());
                    names.push(name.clone());
                    let alias = if purpose == Purpose::Table { Some(name) } else { alias };
                    named.push(SelectItem::Expr { expr, alias, text });
                }
            }
        }
        *items = named;
        Ok(names)
    }

    fn spread(
        &mut self,
        star: Vec<(usize, usize)>,
        items: &mut Vec<SelectItem>,
        names: &mut Vec<String>,
    ) -> SqlResult<()> {
        for at in star {
            let Some((column, name)) = self.block()?.name_at(at) else { continue };
            names.push(name.clone());
            items.push(SelectItem::Expr {
                expr: Expr::Column(column),
                alias: Some(name),
                text: String::new(),
            });
        }
        Ok(())
    }

    fn block(&mut self) -> SqlResult<&mut Block> {
        let innermost = self.blocks.len().wrapping_sub(1);
        self.blocks.at_mut(innermost)
    }

    fn reference(&mut self, reference: &mut TableReference) -> SqlResult<()> {
        match reference {
            TableReference::Table(factor) => self.factor(factor),
            TableReference::Derived(derived) => {
                let own = self.blocks.pop();
                let names = self.query(&mut derived.query, Purpose::Table)?;
                self.blocks.extend(own);
                let columns = if derived.columns.is_empty() { names } else { derived.columns.clone() };
                self.add(derived.alias.clone().unwrap_or_default(), columns)
            }
            TableReference::JsonTable(table) => {
                self.expr(&mut table.document, Place::Tables)?;
                let mut columns = Vec::new();
                self.json_columns(&mut table.columns, &mut columns);
                self.add(table.alias.clone().unwrap_or_default(), columns)
            }
            TableReference::List(list) => {
                list.iter_mut().try_for_each(|reference| self.reference(reference))?;
                joined(list);
                if let [_] = list.as_slice()
                    && let Some(only) = list.pop()
                {
                    *reference = only;
                }
                Ok(())
            }
            TableReference::Join(join) => self.join(join),
        }
    }

    /// A source without a schema.
    fn add(&mut self, alias: String, columns: Vec<String>) -> SqlResult<()> {
        let visible = columns.len();
        self.aliases.push(alias.clone());
        self.block()?.push(Source { schema: None, named_schema: None, alias, columns }, visible);
        Ok(())
    }

    fn factor(&mut self, factor: &mut TableFactor) -> SqlResult<()> {
        let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
        if factor.name.schema.is_none()
            && let Some((_, columns)) = self.common.iter().rev().find(|(name, _)| *name == factor.name.name)
        {
            let columns = columns.clone();
            return self.add(alias, columns);
        }
        let schema = factor.name.schema.clone().or_else(|| self.database.map(str::to_owned));
        let Some(schema) = schema else { return Ok(()) };
        let name = factor.name.name.clone();
        let (columns, visible) = self.columns_of(&schema, &name);
        if !self.tables.iter().any(|known| (&known.0, &known.1) == (&schema, &name)) {
            self.tables.push((schema.clone(), name.clone()));
        }
        factor.name.schema = Some(schema.clone());
        if factor.alias.as_ref() == Some(&name) {
            factor.alias = None;
        }
        self.aliases.extend(factor.alias.clone());
        let written = factor.alias.is_none().then(|| schema.clone());
        let source = Source { schema: written, named_schema: Some(schema), alias, columns };
        self.block()?.push(source, visible);
        Ok(())
    }

    /// The columns of a table or view, and how many of them, the first, `*` shows.
    fn columns_of(&self, schema: &str, name: &str) -> (Vec<String>, usize) {
        if let Ok(table) = self.dictionary.table(schema, name) {
            let is_visible = |column: &palisade_catalog::Column| {
                column.visibility == palisade_catalog::descriptor::Visibility::Visible
            };
            let (shown, hidden): (Vec<_>, Vec<_>) =
                shown_columns(table).map(|(_, column)| column).partition(|column| is_visible(column));
            let visible = shown.len();
            return (shown.into_iter().chain(hidden).map(|column| column.name.clone()).collect(), visible);
        }
        let columns: Vec<String> = match self.dictionary.view(schema, name) {
            Some(view) => view.columns.clone(),
            None => {
                let found = find(&InformationSchema, self.host, schema, name);
                let columns = found.map_or(&[][..], |table| table.columns);
                columns.iter().map(|column| column.name.to_owned()).collect()
            }
        };
        let visible = columns.len();
        (columns, visible)
    }

    fn join(&mut self, join: &mut Join) -> SqlResult<()> {
        let first = (self.block()?.sources.len(), self.block()?.star.len());
        self.reference(&mut join.left)?;
        let middle = (self.block()?.sources.len(), self.block()?.star.len());
        self.reference(&mut join.right)?;
        let names = match &mut join.condition {
            JoinCondition::None => return Ok(()),
            JoinCondition::On(condition) => {
                self.expr(condition, Place::Tables)?;
                words::truth(condition);
                swap_right(join);
                return Ok(());
            }
            JoinCondition::Using(names) => std::mem::take(names),
            JoinCondition::Natural => self.common_names(first.1, middle.1)?,
        };
        let condition = self.merge(&names, first, middle, join.kind)?;
        join.condition = condition.map_or(JoinCondition::None, JoinCondition::On);
        swap_right(join);
        Ok(())
    }

    /// The names that both operands of a NATURAL JOIN have.
    fn common_names(&mut self, first: usize, middle: usize) -> SqlResult<Vec<String>> {
        let block = self.block()?;
        let name = |at: &(usize, usize)| block.name_at(*at).map(|(_, name)| name);
        let (left, right) = block.star.tail(first)?.split_at(middle - first);
        let right: Vec<String> = right.iter().filter_map(name).collect();
        let mut names: Vec<String> = Vec::new();
        for candidate in left.iter().filter_map(name) {
            let is_known = names.iter().any(|known| same_name(known, &candidate));
            if !is_known && right.iter().any(|name| same_name(name, &candidate)) {
                names.push(candidate);
            }
        }
        Ok(names)
    }

    /// What USING means: the condition. `*` and unqualified names see one of each pair from here on.
    fn merge(
        &mut self,
        names: &[String],
        first: (usize, usize),
        middle: (usize, usize),
        kind: JoinKind,
    ) -> SqlResult<Option<Expr>> {
        let block = self.block()?;
        let find = |name: &String, range: std::ops::Range<usize>| {
            let mut found = range.filter_map(|at| {
                let columns = &block.sources.get(at)?.columns;
                Some((at, columns.iter().position(|known| same_name(known, name))?))
            });
            found.find(|at| !block.merged.contains(at))
        };
        let mut pairs = Vec::new();
        for name in names {
            let left = find(name, first.0..middle.0);
            let right = find(name, middle.0..block.sources.len());
            let (Some(left), Some(right)) = (left, right) else { continue };
            pairs.push((left, right));
        }
        let mut terms = Vec::new();
        for (left, right) in &pairs {
            let (Some((left, _)), Some((right, _))) = (block.name_at(*left), block.name_at(*right)) else {
                continue;
            };
            let (left, right) = (Box::new(Expr::Column(left)), Box::new(Expr::Column(right)));
            terms.push(Expr::Binary(ast::BinaryOp::Equal, left, right));
        }
        if kind == JoinKind::Right {
            pairs.iter_mut().for_each(|(left, right)| std::mem::swap(left, right));
        }
        let (left, right) = block.star.tail(first.1)?.split_at(middle.1 - first.1);
        let [shown, other] = if kind == JoinKind::Right { [right, left] } else { [left, right] };
        let is_shown = |at: &&(usize, usize)| pairs.iter().any(|(shown, _)| shown == *at);
        let is_hidden = |at: &&(usize, usize)| pairs.iter().any(|(_, hidden)| hidden == *at);
        let mut order: Vec<(usize, usize)> = shown.iter().filter(is_shown).copied().collect();
        order.extend(shown.iter().filter(|at| !is_shown(at)));
        order.extend(other.iter().filter(|at| !is_hidden(at)));
        block.merged.extend(pairs.iter().map(|(_, hidden)| *hidden));
        block.star.truncate(first.1);
        block.star.extend(order);
        Ok(match terms.len() {
            0 | 1 => terms.pop(),
            _ => Some(Expr::And(terms)),
        })
    }

    fn window(&mut self, window: &mut ast::WindowSpec) -> SqlResult<()> {
        words::bounded(window);
        for expr in &mut window.partition_by {
            self.expr(expr, Place::Tables)?;
        }
        window.order_by.iter_mut().try_for_each(|item| self.expr(&mut item.expr, Place::Tables))
    }

    fn expr(&mut self, expr: &mut Expr, place: Place) -> SqlResult<()> {
        match expr {
            Expr::Column(name)
            | Expr::JsonPath { column: name, .. }
            | Expr::DefaultOf(name)
            | Expr::Values(name) => self.column(name, place),
            Expr::Subquery(query) | Expr::Exists(query) => {
                self.query(query, Purpose::Value)?;
            }
            Expr::Quantified(_, _, _, query) | Expr::InSubquery { query, .. } => {
                self.query(query, Purpose::Value)?;
            }
            Expr::UserVariable(_)
            | Expr::SystemVariable(_)
            | Expr::AssignUserVariable(..)
            | Expr::Placeholder(_) => self.has_variables = true,
            Expr::Match(search) => search.columns.iter_mut().for_each(|name| self.column(name, place)),
            _ => {}
        }
        // What is inside of an aggregate is about the tables' rows.
        let inner = match (&*expr, place) {
            (Expr::Aggregate(_), Place::AliasesFirst) => Place::TablesFirst,
            _ => place,
        };
        let mut result = Ok(());
        expr.children_mut(&mut |child| {
            if result.is_ok() {
                result = self.expr(child, inner);
            }
        });
        result?;
        words::canonical(expr, self.charset);
        Ok(())
    }

    /// Writes out which table's column a name means, if it is a table's.
    fn column(&self, name: &mut ColumnName, place: Place) {
        for (depth, block) in self.blocks.iter().rev().enumerate() {
            let place = match (depth, place) {
                (0, place) => place,
                _ => Place::TablesFirst,
            };
            if place == Place::AliasesFirst && block.has_alias(name) {
                return;
            }
            let found = block.find(name).and_then(|(source, column)| {
                let source = block.sources.get(source)?;
                Some(source.name_of(source.columns.get(column)?))
            });
            if let Some(found) = found {
                *name = found;
                return;
            }
            if place == Place::TablesFirst && block.has_alias(name) {
                return;
            }
        }
    }
}

/// An item of ORDER BY or GROUP BY that is a position in the select list, as what stands there: by its alias
/// if it has one that its table does not give it.
fn by_name(item: &mut OrderItem, items: &[SelectItem]) {
    let Expr::Literal(ast::Literal::Integer(position)) = &item.expr else { return };
    let number = usize::try_from(*position).ok().and_then(|position| position.checked_sub(1));
    let Some(SelectItem::Expr { expr, alias, .. }) = number.and_then(|number| items.get(number)) else {
        return;
    };
    let is_own_name = |alias: &&String| {
        matches!(expr, Expr::Column(column) if same_name(&column.column, alias)) || alias.is_empty()
    };
    item.expr = match alias.as_ref().filter(|alias| !is_own_name(alias)) {
        Some(alias) => Expr::Column(ColumnName { column: alias.clone(), ..ColumnName::default() }),
        None => expr.clone(),
    };
}

/// `a RIGHT JOIN b` as `b LEFT JOIN a`.
fn swap_right(join: &mut Join) {
    if join.kind == JoinKind::Right {
        std::mem::swap(&mut join.left, &mut join.right);
        join.kind = JoinKind::Left;
    }
}

/// Tables with commas between them, as joins.
fn joined(list: &mut Vec<TableReference>) {
    let mut tables = std::mem::take(list).into_iter();
    let Some(first) = tables.next() else { return };
    list.push(tables.fold(first, |left, right| {
        let (kind, condition) = (JoinKind::Inner, JoinCondition::None);
        TableReference::Join(Box::new(Join { left, right, kind, condition }))
    }));
}

impl Freezer<'_> {
    /// Texts that name no character set are in the connection's.
    fn json_columns(&self, columns: &mut [ast::JsonTableColumn], names: &mut Vec<String>) {
        for column in columns {
            match column {
                ast::JsonTableColumn::Ordinality(name) => names.push(name.clone()),
                ast::JsonTableColumn::Path { name, data_type, .. }
                | ast::JsonTableColumn::Exists { name, data_type, .. } => {
                    names.push(name.clone());
                    let is_named = data_type.charset.is_some() || data_type.collation.is_some();
                    if is_text(&data_type.kind) && !is_named && !data_type.binary {
                        data_type.charset = Some(self.charset.to_owned());
                        data_type.collation = Some(self.collation.to_owned());
                    }
                }
                ast::JsonTableColumn::Nested { columns, .. } => self.json_columns(columns, names),
            }
        }
    }
}

/// Whether values of a type are texts of a character set.
fn is_text(kind: &ast::TypeKind) -> bool {
    matches!(
        kind,
        ast::TypeKind::Char(_)
            | ast::TypeKind::VarChar(_)
            | ast::TypeKind::TinyText
            | ast::TypeKind::Text(_)
            | ast::TypeKind::MediumText
            | ast::TypeKind::LongText
            | ast::TypeKind::Enum(_)
            | ast::TypeKind::Set(_)
    )
}

/// A frozen query without the schema in front of names, as it is shown where that schema is the default one.
/// `text` is one that this module has made; no alias in it is the schema's name.
pub(crate) fn without_schema(text: &str, schema: &str) -> String {
    let prefix = format!("`{}`.", schema.replace('`', "``"));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(&prefix) {
            rest = after;
            // The name behind it is no schema.
            let length = quoted_length(rest);
            let (name, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            out.push_str(name);
            rest = after;
            continue;
        }
        let length = if matches!(first, '`' | '\'') { quoted_length(rest) } else { first.len_utf8() };
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        out.push_str(taken);
        rest = after;
    }
    out
}

/// Bytes of the name or text in quotes that `text` begins with.
fn quoted_length(text: &str) -> usize {
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '`' | '\'')) else { return 0 };
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, next)| match next {
        _ if std::mem::take(&mut escaped) => false,
        '\\' if quote == '\'' => {
            escaped = true;
            false
        }
        next => *next == quote,
    });
    end.map_or(text.len(), |(at, quote)| at + quote.len_utf8())
}
