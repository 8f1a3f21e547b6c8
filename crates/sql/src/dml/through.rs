//! Changes of rows through views: which table's column a view's column is, and what CHECK OPTION demands.
//!
//! The views of an UPDATE or DELETE, and the one of an INSERT, are bound in place: their tables are tables of
//! the statement, and their columns expressions over these ([`Through`]). From there on the statement is one
//! about tables, whose rows have one rule more if the view has a CHECK OPTION.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_engine::Table;
use palisade_expr::place::At;
use palisade_expr::{Expr, Node};
use palisade_parser::ast;
use palisade_plan::bind::row_rules::{BoundCheck, ColumnDefault, RowRules};
use palisade_plan::bind::scope::{Scope, Source, Through, same_name};

use crate::{SqlError, SqlResult};

/// What CHECK OPTION demands of a row of the table in a slot. The other tables of a join have the rows there
/// that were found with it; beside a row that is inserted they have none, and all their columns are NULL.
pub(super) fn view_checks(scope: &Scope, slot: usize) -> Vec<BoundCheck> {
    let Some(through) = scope.view_over(slot).and_then(|source| source.through.clone()) else {
        return Vec::new();
    };
    let check = |condition: &Expr| BoundCheck {
        name: String::new(),
        condition: condition.clone(),
        view: Some((through.schema.clone(), through.name.clone())),
    };
    through.checks.iter().map(check).collect()
}

/// Whether an error says that a row breaks a CHECK constraint or the CHECK OPTION of a view: IGNORE passes it
/// over.
pub(super) fn is_refused(violation: &SqlError) -> bool {
    [ER_CHECK_CONSTRAINT_VIOLATED.number, ER_VIEW_CHECK_FAILED.number].contains(&violation.number())
}

/// A view that rows are inserted into.
pub(super) struct Inserted {
    pub(super) through: Arc<Through>,
    pub(super) source: Source,
    /// The table below it, and its slot.
    pub(super) table: Arc<Table>,
    pub(super) slot: usize,
}

impl Inserted {
    /// The view in the innermost scope: 1471 if it takes no rows, 1394 for a join without a list of columns,
    /// 1393 for columns of two tables.
    pub(super) fn of(scope: &Scope, named: &[ast::ColumnName]) -> SqlResult<Inserted> {
        let source = scope.sources.first();
        let through = source.and_then(|source| Some((source.clone(), source.through.clone()?)));
        let Some((source, through)) = through else {
            let alias = source.map(|source| source.alias.clone()).unwrap_or_default();
            return Err(mysql_error!(ER_NON_INSERTABLE_TABLE, alias, "INSERT"));
        };
        if through.slots.len() > 1 && named.is_empty() {
            return Err(mysql_error!(ER_VIEW_NO_INSERT_FIELD_LIST, through.schema, through.name));
        }
        let is_column = |expr: &Expr| matches!(expr.node, Node::Column { .. });
        for name in named {
            if !column_of(&source, &through, name)?.is_some_and(is_column) {
                return Err(mysql_error!(ER_NONUPDATEABLE_COLUMN, name.column));
            }
        }
        if !through.columns.iter().all(is_column) || has_twice(&through.columns) {
            return Err(mysql_error!(ER_NON_INSERTABLE_TABLE, source.alias, "INSERT"));
        }
        let mut slots = Vec::new();
        for name in named {
            if let Some(Node::Column { slot, .. }) =
                column_of(&source, &through, name)?.map(|expr| &expr.node)
                && !slots.contains(slot)
            {
                slots.push(*slot);
            }
        }
        let slot = match (slots.as_slice(), through.slots.as_slice()) {
            ([], [only]) => *only,
            ([only], _) => *only,
            _ => return Err(mysql_error!(ER_VIEW_MULTIUPDATE, through.schema, through.name)),
        };
        let found = scope.table_in(slot).and_then(|source| source.table.clone());
        match found {
            Some(table) => Ok(Inserted { through, source, table, slot }),
            None => Err(mysql_error!(ER_NON_INSERTABLE_TABLE, source.alias, "INSERT")),
        }
    }

    /// The same of LOAD DATA: 1288 for a join. A column of the view that gets no field may be an expression.
    pub(super) fn loaded(scope: &Scope) -> SqlResult<Inserted> {
        let source = scope.sources.first().cloned();
        let found = source.and_then(|source| {
            let through = source.through.clone()?;
            let [slot] = *through.slots.as_slice() else { return None };
            let table = scope.table_in(slot)?.table.clone()?;
            Some(Inserted { through, source, table, slot })
        });
        found.ok_or_else(|| {
            let alias = scope.sources.first().map(|source| source.alias.clone()).unwrap_or_default();
            mysql_error!(ER_NON_UPDATABLE_TABLE, alias, "LOAD")
        })
    }

    /// The table's column that a column of the view is: 1054 if the view has none of that name.
    pub(super) fn column(&self, name: &ast::ColumnName) -> SqlResult<usize> {
        match column_of(&self.source, &self.through, name)?.map(|expr| &expr.node) {
            Some(Node::Column { slot, column, .. }) if *slot == self.slot => Ok(*column),
            Some(Node::Column { .. }) => {
                let Through { schema, name, .. } = &*self.through;
                Err(mysql_error!(ER_VIEW_MULTIUPDATE, schema, name))
            }
            _ => Err(mysql_error!(ER_NONUPDATEABLE_COLUMN, name.column)),
        }
    }

    /// The columns of the table that the statement gives values for.
    pub(super) fn columns(&self, named: &[ast::ColumnName]) -> SqlResult<Vec<usize>> {
        let mut columns = Vec::new();
        if named.is_empty() {
            for expr in &self.through.columns {
                if let Node::Column { column, .. } = &expr.node {
                    columns.push(*column);
                }
            }
        }
        for name in named {
            let column = self.column(name)?;
            if columns.contains(&column) {
                return Err(mysql_error!(ER_FIELD_SPECIFIED_TWICE, name.column));
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// 1423 for a column of the table that is given no value, has no default, and cannot be NULL.
    pub(super) fn check_defaults(&self, rules: &RowRules, columns: &[usize], strict: bool) -> SqlResult<()> {
        for (place, column) in self.table.columns.iter().enumerate() {
            let is_missing = matches!(rules.defaults.at(place)?, ColumnDefault::Missing);
            let is_made = column.auto_increment || column.generated.is_some();
            let is_system = column.visibility == palisade_catalog::descriptor::Visibility::System;
            if strict && is_missing && !is_made && !is_system && !columns.contains(&place) {
                let Through { schema, name, .. } = &*self.through;
                return Err(mysql_error!(ER_NO_DEFAULT_FOR_VIEW_FIELD, schema, name));
            }
        }
        Ok(())
    }
}

/// Whether two columns of a view are the same column of a table.
fn has_twice(columns: &[Expr]) -> bool {
    let is_same = |one: &Expr, other: &Expr| match (&one.node, &other.node) {
        (Node::Column { slot: a, column: b, .. }, Node::Column { slot: c, column: d, .. }) => {
            (a, b) == (c, d)
        }
        _ => false,
    };
    let mut rest = columns;
    while let Some((first, others)) = rest.split_first() {
        if others.iter().any(|other| is_same(first, other)) {
            return true;
        }
        rest = others;
    }
    false
}

fn column_of<'t>(
    source: &Source,
    through: &'t Through,
    name: &ast::ColumnName,
) -> SqlResult<Option<&'t Expr>> {
    let is_meant = name.table.as_ref().is_none_or(|wanted| same_name(wanted, &source.alias));
    match source.column(&name.column).filter(|_| is_meant) {
        Some(place) => Ok(through.columns.get(place)),
        None => {
            Err(mysql_error!(ER_BAD_FIELD_ERROR, palisade_plan::bind::scope::written(name), "field list"))
        }
    }
}
