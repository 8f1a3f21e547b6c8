//! What a name of a column means, clause by clause.
//!
//! Aliases of the select list and columns of the tables share one space of names, and each clause searches it
//! in its own order (MySQL's, which is the standard's where the standard has one):
//!
//! | where | searched first | then | a name that means both |
//! |---|---|---|---|
//! | SELECT, WHERE, ON, arguments of aggregates | tables | enclosing blocks | |
//! | GROUP BY, the whole expression | select list | tables | the table's column, warning 1052 |
//! | ORDER BY, the whole expression | select list | tables | the select list's |
//! | GROUP BY, ORDER BY, within an expression | tables | select list | the table's column |
//! | HAVING | select list and GROUP BY | enclosing blocks | GROUP BY's column, warning 1052 |
//! | HAVING, arguments of aggregates | tables | select list | the table's column |
//! | a subquery, of its enclosing block | tables | select list | the table's column |
//!
//! "In the select list" is an item with that alias or, failing that, a column with that name of its own. Two
//! items that differ are ambiguous (1052) if they are columns; of expressions the first is taken.

use palisade_base::error_catalogue::{
    ER_BAD_FIELD_ERROR, ER_NON_UNIQ_ERROR, ER_UNKNOWN_TABLE, ER_WARN_FIELD_RESOLVED,
};
use palisade_base::mysql_error;
use palisade_expr::place::At;
use palisade_expr::{Expr, Node, SqlError, SqlResult};
use palisade_parser::ast::{self, ColumnName};

use super::Binder;
use super::scope::{Clause, Scope, Source, same_name, written};

impl Source {
    /// Whether a name's qualifiers, if there are any, mean this table.
    fn is_named_by(&self, name: &ColumnName) -> bool {
        let Some(table) = &name.table else { return true };
        let schema_differs = name.schema.as_ref().is_some_and(|schema| *schema != self.schema);
        !schema_differs && (*table == self.alias || self.alias.eq_ignore_ascii_case(table))
    }
}

impl Scope {
    /// Looks a column up among the tables: `None` if it is not there, 1052 if it is there twice.
    fn find(&self, name: &ColumnName) -> SqlResult<Option<(usize, usize)>> {
        let mut found: Option<(usize, usize)> = None;
        for (position, source) in self.sources.iter().enumerate() {
            if !source.is_named_by(name) || self.unseen.iter().any(|range| range.contains(&position)) {
                continue;
            }
            let Some(column) = source.column(&name.column) else { continue };
            if name.table.is_none() && self.merged.contains(&(position, column)) {
                continue;
            }
            if found.is_some() {
                return Err(self.ambiguous(name));
            }
            found = Some((position, column));
        }
        Ok(found)
    }

    fn ambiguous(&self, name: &ColumnName) -> palisade_expr::SqlError {
        mysql_error!(ER_NON_UNIQ_ERROR, written(name), self.clause.name())
    }

    /// Whether an expression is a column of one of the tables with that name of its own.
    fn is_column_named(&self, expr: &Expr, name: &ColumnName) -> bool {
        let Node::Column { slot, column, .. } = &expr.node else { return false };
        self.sources.iter().any(|source| {
            source.slot == *slot
                && source.is_named_by(name)
                && source.columns.get(*column).is_some_and(|known| same_name(&known.name, &name.column))
        })
    }

    fn is_column(&self, expr: &Expr) -> bool {
        matches!(&expr.node, Node::Column { slot, .. } if self.sources.iter().any(|source| source.slot == *slot))
    }

    /// The select item that a name means: by its alias or, failing that, as a column of that name. 1052 if it
    /// means two.
    pub(super) fn item(&self, name: &ColumnName) -> SqlResult<Option<&Expr>> {
        let mut by_alias: Option<&Expr> = None;
        let mut by_name: Option<&Expr> = None;
        let mut is_ambiguous = false;
        for (alias, expr) in &self.items {
            let has_alias = name.table.is_none() && same_name(alias, &name.column);
            if !self.is_column(expr) {
                if has_alias {
                    by_alias = Some(expr);
                    break;
                }
            } else if has_alias {
                if by_alias.is_some_and(|known| known != expr) {
                    return Err(self.ambiguous(name));
                }
                by_alias = Some(expr);
            } else if self.is_column_named(expr, name) {
                is_ambiguous |= by_name.is_some_and(|known| known != expr);
                by_name = by_name.or(Some(expr));
            }
        }
        match by_alias {
            Some(found) => Ok(Some(found)),
            None if is_ambiguous => Err(self.ambiguous(name)),
            None => Ok(by_name),
        }
    }

    /// The expression of GROUP BY that a name means: a select item that was grouped by, by its alias, or a
    /// column. 1052 if it means two.
    fn grouped(&self, name: &ColumnName) -> SqlResult<Option<&Expr>> {
        let mut found: Option<&Expr> = None;
        for (expr, alias) in self.group.iter().zip(&self.group_aliases) {
            let has_alias =
                name.table.is_none() && alias.as_ref().is_some_and(|alias| same_name(alias, &name.column));
            if !has_alias && !self.is_column_named(expr, name) {
                continue;
            }
            if found.is_some_and(|known| known != expr) {
                return Err(self.ambiguous(name));
            }
            found = Some(expr);
        }
        Ok(found)
    }

    /// The select item `item` of that alias as the column of the groups' slot that it is, with ROLLUP.
    fn named_item(&self, name: &ColumnName, item: &Expr) -> Option<Expr> {
        let is_named = |known: &(String, Expr)| same_name(&known.0, &name.column) && known.1 == *item;
        let number = self.items.iter().position(|known| name.table.is_none() && is_named(known))?;
        self.summed_up(number, item)
    }

    /// What a name in an expression above the groups means: of several equal keys of ROLLUP, each NULL where
    /// it is summed up itself, the one of that alias, or else the one that GROUP BY names so.
    fn key_of_name(&self, name: &ColumnName, item: &Expr) -> Expr {
        let is_repeated = self.is_summed_up && self.group.iter().filter(|key| *key == item).count() > 1;
        if !is_repeated {
            return item.clone();
        }
        let written = || {
            let mut keys = self.group.iter().zip(&self.group_aliases);
            let column = keys.position(|(key, alias)| key == item && alias.is_none())?;
            self.is_column_named(item, name).then(|| self.group_column(column, item)).flatten()
        };
        self.named_item(name, item).or_else(written).unwrap_or_else(|| item.clone())
    }

    /// Whether a subquery may use an alias of this block that is being bound.
    fn lends_aliases(&self) -> bool {
        matches!(self.clause, Clause::Fields | Clause::Group | Clause::Having | Clause::Order)
    }
}

impl Binder<'_> {
    /// The innermost query block.
    pub fn scope(&mut self) -> &mut Scope {
        #[expect(clippy::expect_used, reason = "each statement begins its outermost block before it binds")]
        self.scopes.last_mut().expect("names are bound within a query block")
    }

    /// The innermost query block, taken off: the caller puts it back when what does not see it is bound.
    pub fn take_scope(&mut self) -> SqlResult<Scope> {
        self.scopes.pop().ok_or_else(|| SqlError::internal("no query block is being bound"))
    }

    /// Resolves a column: in the innermost block, then outward. 1054 if it is nowhere.
    pub fn resolve(&mut self, name: &ColumnName) -> SqlResult<Expr> {
        let innermost = self.scopes.len().saturating_sub(1);
        for depth in (0..self.scopes.len()).rev() {
            let found = if depth == innermost { self.at_home(name)? } else { self.lent(name, depth)? };
            if let Some(found) = found {
                // A table function reads the tables before it as the block itself does.
                let is_beside = depth + 1 == innermost
                    && self.scopes.last().is_some_and(|scope| scope.clause == Clause::TableFunction);
                if self.notes && depth < innermost && !is_beside {
                    self.note_outer_reference(name, depth)?;
                }
                return Ok(found);
            }
        }
        let clause = self.scopes.last().map_or(Clause::Fields, |scope| scope.clause);
        if let Some(table) = &name.table
            && clause == Clause::Fields
            && name.column == "*"
        {
            return Err(mysql_error!(ER_UNKNOWN_TABLE, table));
        }
        if let Some(table) = name.table.as_ref().filter(|_| clause == Clause::TableFunction)
            && !self.scopes.iter().any(|scope| scope.sees_table(table))
        {
            return Err(mysql_error!(ER_UNKNOWN_TABLE, table, clause.name()));
        }
        Err(mysql_error!(ER_BAD_FIELD_ERROR, written(name), clause.name()))
    }

    /// Notes for EXPLAIN that the innermost block reads a column of an enclosing one.
    fn note_outer_reference(&mut self, name: &ColumnName, depth: usize) -> SqlResult<()> {
        let home = self.scope().block.max(1);
        let scope = self.scopes.at(depth)?;
        let block = scope.block.max(1);
        let reference = match scope.find(name)? {
            Some((source, column)) => {
                let source = scope.sources.at(source)?;
                let dot = if source.schema.is_empty() { "" } else { "." };
                let column = &source.columns.at(column)?.name;
                mysql_error!(
                    ER_WARN_FIELD_RESOLVED,
                    source.schema,
                    dot,
                    source.alias,
                    ".",
                    column,
                    home,
                    block
                )
            }
            None => mysql_error!(ER_WARN_FIELD_RESOLVED, "", "", "", "", name.column, home, block),
        };
        self.outer_references.push(reference);
        Ok(())
    }

    /// A name within the innermost block.
    fn at_home(&mut self, name: &ColumnName) -> SqlResult<Option<Expr>> {
        let depth = self.scopes.len().saturating_sub(1);
        let scope = self.scope();
        if scope.clause == Clause::Having && !scope.in_aggregate {
            return self.in_having(name);
        }
        if let Some((source, column)) = scope.find(name)? {
            return scope.sources.at(source)?.expr(column).map(Some);
        }
        match scope.clause {
            // The value of a window function comes after those of groups.
            Clause::Group | Clause::Having => {
                let item = scope.item(name)?;
                item.map_or(Ok(()), |item| scope.check_window_alias(name, item))?;
                Ok(item.cloned())
            }
            Clause::Order => match scope.item(name)?.cloned() {
                Some(item) if scope.shows_value(&item) => self.item_column(name, item, depth).map(Some),
                item => Ok(item.map(|item| scope.key_of_name(name, &item))),
            },
            _ => Ok(None),
        }
    }

    /// A name in HAVING, outside of aggregates.
    fn in_having(&mut self, name: &ColumnName) -> SqlResult<Option<Expr>> {
        let scope = self.scope();
        let item = scope.item(name)?;
        let grouped = scope.grouped(name)?;
        item.map_or(Ok(()), |item| scope.check_window_alias(name, item))?;
        let found = grouped.or(item).map(|found| scope.key_of_name(name, found));
        if let (Some(item), Some(grouped)) = (item, grouped)
            && item != grouped
        {
            let warning = scope.ambiguous(name);
            self.warn(warning);
        }
        Ok(found)
    }

    /// A name that a block further in uses.
    fn lent(&mut self, name: &ColumnName, depth: usize) -> SqlResult<Option<Expr>> {
        let scope = self.scopes.at(depth)?;
        let is_summed_up = scope.is_summed_up;
        let found = match scope.find(name)? {
            Some((source, column)) => Some(scope.sources.at(source)?.expr(column)?),
            None if scope.lends_aliases() => self.lent_item(name, depth)?,
            None => None,
        };
        let Some(mut found) = found else { return Ok(None) };
        found.nullable |= is_summed_up;
        self.share_subqueries(&found);
        let (slots, columns) = self.read_by(&found);
        for inner in self.scopes.iter_mut().skip(depth + 1) {
            inner.read_slots_outside(&slots);
            inner.read_outside(&columns);
        }
        Ok(Some(found))
    }

    /// An item of GROUP BY, and the alias of the select item that it is, if it is one.
    pub fn group_item(&mut self, expr: &ast::Expr) -> SqlResult<(Expr, Option<String>)> {
        let at = match expr {
            ast::Expr::Literal(ast::Literal::Integer(_)) => self.position(expr)?,
            ast::Expr::Column(name) => {
                let scope = self.scope();
                let item = scope.item(name)?.cloned();
                // What the tables say about it matters only if they are sure.
                let column = scope.find(name).unwrap_or(None);
                let column =
                    column.map(|(source, column)| scope.sources.at(source)?.expr(column)).transpose()?;
                match (item, column) {
                    (Some(item), Some(column)) if item != column => {
                        let warning = mysql_error!(ER_NON_UNIQ_ERROR, name.column, scope.clause.name());
                        self.warn(warning);
                        return Ok((column, None));
                    }
                    (item, _) => item,
                }
            }
            _ => None,
        };
        match at {
            Some(item) => {
                // A column that is named as such has the alias of no item: that may be another column's name.
                let scope = self.scope();
                let is_own_name =
                    matches!(expr, ast::Expr::Column(name) if scope.is_column_named(&item, name));
                let alias = scope.items.iter().find(|(_, known)| !is_own_name && *known == item);
                let alias = alias.map(|(alias, _)| alias.clone());
                Ok((item, alias))
            }
            None => Ok((self.expr(expr)?, None)),
        }
    }

    /// An item of ORDER BY.
    pub fn order_item(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        let item = match expr {
            ast::Expr::Literal(ast::Literal::Integer(_)) => self.position(expr)?,
            ast::Expr::Column(name) => self.scope().item(name)?.cloned(),
            _ => None,
        };
        let Some(item) = item else { return self.expr(expr) };
        let scope = self.scope();
        Ok(match expr {
            ast::Expr::Literal(ast::Literal::Integer(position)) => {
                let number = usize::try_from(*position).ok().and_then(|position| position.checked_sub(1));
                number.and_then(|number| scope.summed_up(number, &item)).unwrap_or(item)
            }
            ast::Expr::Column(name) => scope.named_item(name, &item).unwrap_or(item),
            _ => item,
        })
    }

    /// The select item that a number stands for.
    fn position(&mut self, expr: &ast::Expr) -> SqlResult<Option<Expr>> {
        let ast::Expr::Literal(ast::Literal::Integer(position)) = expr else { return Ok(None) };
        let scope = self.scope();
        let at = usize::try_from(*position).ok().and_then(|position| position.checked_sub(1));
        match at.and_then(|at| scope.items.get(at)) {
            Some((_, item)) => Ok(Some(item.clone())),
            None => Err(mysql_error!(ER_BAD_FIELD_ERROR, position, scope.clause.name())),
        }
    }
}
