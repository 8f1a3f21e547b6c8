//! Views that statements have made: the query of one is bound in place of its name.
//!
//! The text is the one that was frozen when the view was made: its names are qualified, it is parsed in the
//! default modes of SQL, and its constants have the character set and collation of the session that made it.
//! What the tables below are asked for is asked of the definer, or of the account that names the view if it
//! is SQL SECURITY INVOKER; of a view within another one the account is that of the view around it. What is
//! wrong below a view is not told to the account that names it: 1356 is all that it is told.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::error_code::ErrorCode;
use palisade_base::mysql_error;
use palisade_catalog::descriptor::{ViewAlgorithm, ViewCheck, ViewDef};
use palisade_catalog::{CollationId, SqlType};
use palisade_engine::Table;
use palisade_expr::{Expr, Node, SqlError, SqlResult};
use palisade_parser::{ParseOptions, ast};
use palisade_session::environment::Access;

use super::from::Named;
use super::scope::{Beneath, Clause, Scope, Source, SourceColumn, Through};
use super::{Binder, parse_error};
use crate::logical::{Body, JoinTree, Leaf, LogicalQuery};

/// How deep views are bound within views.
const MOST_VIEWS: usize = 62;

/// What is not told of what is below a view.
static HIDDEN: [&ErrorCode; 9] = [
    &ER_BAD_FIELD_ERROR,
    &ER_NO_SUCH_TABLE,
    &ER_UNKNOWN_TABLE,
    &ER_BAD_DB_ERROR,
    &ER_SP_DOES_NOT_EXIST,
    &ER_TABLEACCESS_DENIED_ERROR,
    &ER_COLUMNACCESS_DENIED_ERROR,
    &ER_TABLE_NOT_LOCKED,
    &ER_VIEW_INVALID,
];

/// A view whose query is being bound.
#[derive(Debug, Clone)]
pub struct ViewInSight {
    def: Arc<ViewDef>,
    /// Whose privileges count: the account of the session if `None`.
    definer: Option<Arc<str>>,
}

/// A column of a view.
#[derive(Debug)]
pub struct ViewColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// The column of a stored table that it is.
    pub origin: Option<(Arc<Table>, usize)>,
}

/// The error of what is below a view, as the statement that names the view is told of it.
pub fn hide(error: SqlError, schema: &str, name: &str) -> SqlError {
    match HIDDEN.iter().any(|code| code.number == error.number()) {
        true => mysql_error!(ER_VIEW_INVALID, schema, name),
        false => error,
    }
}

/// The query of a view.
pub fn query_of(view: &ViewDef) -> SqlResult<Box<ast::Query>> {
    let parsed = palisade_parser::parse(view.query.as_bytes(), ParseOptions::default());
    match parsed.map_err(parse_error)? {
        ast::Statement::Query(query) => Ok(query),
        _ => Err(SqlError::internal("a view is no query")),
    }
}

impl Binder<'_> {
    /// Collation of constants: that of the session, or of the one that made the view that is being bound.
    pub(super) fn collation_connection(&self) -> CollationId {
        match self.views.last() {
            None => self.session.variables.collation_connection,
            Some(view) => view.def.connection_collation,
        }
    }

    /// The character set that constants are written in.
    pub(super) fn character_set_client(&self) -> CollationId {
        match self.views.last() {
            None => self.session.variables.character_set_client,
            // The text of a view is UTF-8.
            Some(_) => CollationId::UTF8MB4_0900_AI_CI,
        }
    }

    /// 1345 if a statement is explained that the account may execute, but not see what is below a view of it:
    /// that takes SHOW VIEW on views and what the definer does on tables.
    pub(super) fn check_explains(&self, schema: &str, table: &str, access: Access) -> SqlResult<()> {
        if !self.notes || !self.session.is_restricted() {
            return Ok(());
        }
        let seen = self.host.check_table(self.session, schema, table, access);
        seen.map_err(|_| mysql_error!(ER_VIEW_NO_EXPLAIN))
    }

    /// A view is bound while decisions are recorded: they are hidden from an account that may not see what
    /// the view is.
    pub(super) fn hide_decisions(&self, as_definer: bool, schema: &str, view: &str) {
        if let Some(decisions) = self.decisions.as_ref().filter(|_| self.session.is_restricted())
            && (as_definer || self.host.check_table(self.session, schema, view, Access::ShowView).is_err())
        {
            decisions.hide();
        }
    }

    /// Whose privileges count for what is being bound, if not those of the session's account.
    pub(super) fn definer(&self) -> Option<&Arc<str>> {
        self.views.last().and_then(|view| view.definer.as_ref())
    }

    /// Does something within a view: as its definer, its constants as they were when it was made.
    pub(super) fn within<T>(
        &mut self,
        view: &Arc<ViewDef>,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let (schema, name) = (&view.schema, &view.name);
        if self.views.iter().any(|outer| outer.def.schema == *schema && outer.def.name == *name) {
            return Err(mysql_error!(ER_VIEW_RECURSIVE, schema, name));
        }
        if self.views.len() >= MOST_VIEWS {
            return Err(mysql_error!(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT));
        }
        let definer = match view.is_invokers {
            true => self.definer().cloned(),
            false => Some(view.definer.as_str().into()),
        };
        let is_other = definer.as_ref().is_some_and(|definer| **definer != *self.session.security.account);
        self.hide_decisions(is_other, schema, name);
        self.views.push(ViewInSight { def: view.clone(), definer });
        let bound = self.apart(bind);
        self.views.pop();
        bound.map_err(|error| hide(error, schema, name))
    }

    /// Binds a view as a derived table.
    pub(super) fn view(&mut self, view: &Arc<ViewDef>, alias: &str) -> SqlResult<JoinTree> {
        self.check_explains(&view.schema, &view.name, Access::ShowView)?;
        let query = query_of(view)?;
        let named = Named { alias, schema: &view.schema, view: &view.name };
        let tree = self.within(view, |binder| binder.derived(&query, &named, &view.columns))?;
        if let (JoinTree::Leaf(Leaf::Derived { slot, .. }), ViewAlgorithm::TempTable) =
            (&tree, view.algorithm)
        {
            self.scope().unmerged.push(*slot);
        }
        Ok(tree)
    }

    /// The columns of a view.
    pub fn view_columns(&mut self, view: &Arc<ViewDef>) -> SqlResult<Vec<ViewColumn>> {
        let query = query_of(view)?;
        let bound = self.within(view, |binder| binder.query(&query))?;
        if bound.output.len() != view.columns.len() {
            return Err(mysql_error!(ER_VIEW_INVALID, view.schema, view.name));
        }
        let columns = view.columns.iter().zip(&bound.output);
        let column = |(name, expr): (&String, &Expr)| ViewColumn {
            name: name.clone(),
            ty: expr.ty.clone(),
            nullable: expr.nullable,
            origin: origin(&bound, expr),
        };
        Ok(columns.map(column).collect())
    }

    /// Does something with the privileges that count below these views.
    fn below<T>(&mut self, views: &[ViewInSight], bind: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.views, views.to_vec());
        let bound = bind(self);
        self.views = around;
        bound
    }

    /// The statement does `access` to a table in a slot: what it needs for that of the table, or of the view
    /// that FROM names, of the views below that one, and of the table.
    pub fn changes(&mut self, slot: usize, access: Access, names_it: bool) -> SqlResult<()> {
        let scope = self.scope();
        let Some(source) = scope.table_in(slot) else { return Ok(()) };
        let Some(table) = &source.table else { return Ok(()) };
        let (schema, table) = (source.schema.clone(), table.name.clone());
        let beneath = scope.beneath.iter().find(|beneath| beneath.source.slot == slot);
        let Some(views) = beneath.map(|beneath| beneath.views.clone()) else {
            return if names_it { Ok(()) } else { self.accesses(&schema, &table, access) };
        };
        for (depth, view) in views.iter().enumerate().skip(usize::from(names_it)) {
            let (schema, name) = (view.def.schema.clone(), view.def.name.clone());
            self.below(views.get(..depth).unwrap_or_default(), |binder| {
                binder.accesses(&schema, &name, access)
            })?;
        }
        let outermost = views.first().map(|view| (view.def.schema.clone(), view.def.name.clone()));
        let done = self.below(&views, |binder| binder.accesses(&schema, &table, access));
        done.map_err(|error| match &outermost {
            Some((schema, name)) => hide(error, schema, name),
            None => error,
        })
    }

    /// Binds a view whose tables the statement changes: they become tables of the statement itself, and the
    /// columns of the view expressions over them.
    pub(super) fn view_in_place(&mut self, view: &Arc<ViewDef>, alias: &str) -> SqlResult<JoinTree> {
        let query = query_of(view)?;
        let ast::QueryBody::Select(select) = &query.body else { return self.view(view, alias) };
        let is_outermost = self.views.is_empty();
        let around = self.cascades;
        let is_checked = around || view.check != ViewCheck::None;
        self.cascades = around || view.check == ViewCheck::Cascaded;
        // What its conditions and joins read is read, whatever the statement looks at.
        let blind = self.blind;
        self.blind &=
            select.filter.is_none() && matches!(select.from.as_slice(), [ast::TableReference::Table(_)]);
        let beside = std::mem::take(&mut self.view_joins);
        let own = self.take_scope()?;
        let depth = self.scopes.len();
        let bound = self.within(view, |binder| {
            binder.scopes.push(Scope { block: own.block, ..Scope::default() });
            let bound = binder.block_in_place(select);
            let scope = binder.take_scope()?;
            let views = binder.views.clone();
            bound.map(|bound| (bound, scope, views))
        });
        self.scopes.truncate(depth);
        self.scopes.push(own);
        self.cascades = around;
        self.blind = blind;
        let below = std::mem::replace(&mut self.view_joins, beside);
        let ((tree, columns, conditions), inner, views) = bound?;
        let mut joins = Vec::new();
        tree.inner_conditions(&mut joins);
        if is_checked {
            // The conditions of joins in views below are these views' own.
            let own_joins = joins.iter().filter(|condition| !below.contains(condition));
            for condition in conditions.iter().chain(own_joins) {
                self.share_subqueries(condition);
                self.view_checks.push(condition.clone());
            }
        }
        self.view_joins.extend(joins);
        let Scope { sources, beneath, view_conditions, .. } = inner;
        let scope = self.scope();
        scope.view_conditions.extend(view_conditions);
        scope.view_conditions.extend(conditions);
        let slots: Vec<usize> = sources
            .iter()
            .flat_map(|source| match &source.through {
                Some(through) => through.slots.clone(),
                None => vec![source.slot],
            })
            .collect();
        scope.beneath.extend(beneath);
        let tables = sources.into_iter().filter(|source| source.through.is_none());
        scope.beneath.extend(tables.map(|source| Beneath { source, views: views.clone() }));
        let checks = if is_outermost { std::mem::take(&mut self.view_checks) } else { Vec::new() };
        let (schema, name) = (view.schema.clone(), view.name.clone());
        let named = view.columns.iter().zip(&columns);
        let shown = named.map(|(name, expr)| SourceColumn {
            name: name.clone(),
            ty: expr.ty.clone(),
            nullable: expr.nullable,
            meta: None,
            hidden: false,
        });
        let shown = shown.collect();
        let through = Some(Arc::new(Through { schema, name, columns, slots, checks }));
        let slot = self.new_slot();
        self.add_source(Source {
            slot,
            alias: alias.to_owned(),
            schema: view.schema.clone(),
            table: None,
            columns: shown,
            outer: false,
            through,
        })?;
        Ok(tree)
    }

    /// The tables of a view's block, its items and its conditions.
    fn block_in_place(&mut self, select: &ast::Select) -> SqlResult<(JoinTree, Vec<Expr>, Vec<Expr>)> {
        let tree = self
            .from(&select.from)?
            .ok_or_else(|| SqlError::internal("a view that is changed has tables"))?;
        let mut columns = Vec::with_capacity(select.items.len());
        for item in &select.items {
            self.scope().clause = Clause::Fields;
            if let ast::SelectItem::Expr { expr, .. } = item {
                let bound = self.expr(expr)?;
                // It stands wherever the column is named.
                self.share_subqueries(&bound);
                columns.push(bound);
            }
        }
        let conditions = match &select.filter {
            Some(filter) => self.filter(filter)?,
            None => Vec::new(),
        };
        Ok((tree, columns, conditions))
    }
}

/// The column of a stored table that an expression over the tables of a query is.
fn origin(query: &LogicalQuery, expr: &Expr) -> Option<(Arc<Table>, usize)> {
    let Node::Column { slot, column, .. } = &expr.node else { return None };
    if expr.has_own_collation() {
        return None;
    }
    let Body::Block(block) = &query.body else { return None };
    let mut found = None;
    block.tree.as_ref()?.leaves(&mut |leaf| match leaf {
        Leaf::Table(leaf) if leaf.slot == *slot => found = Some((leaf.table.clone(), *column)),
        Leaf::Derived { slot: own, query, .. } if own == slot => {
            found = query.output.get(*column).and_then(|expr| origin(query, expr));
        }
        _ => {}
    });
    found
}
