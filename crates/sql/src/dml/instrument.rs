//! INSERT, UPDATE and DELETE of the tables of performance_schema: of those that set up what is collected.
//!
//! The rows that a change is about are found by a query over the table, which also computes the new values:
//!
//! ```text
//!   UPDATE setup_consumers SET ENABLED = 'NO' WHERE NAME LIKE 'events%'
//!     -> SELECT NAME, ENABLED, 'NO' FROM setup_consumers WHERE NAME LIKE 'events%'
//! ```
//!
//! The server then changes row by row.

use std::sync::Arc;

use palisade_base::error_catalogue::{
    ER_BAD_FIELD_ERROR, ER_DUP_ENTRY, ER_NO_SUCH_TABLE, ER_TABLEACCESS_DENIED_ERROR,
    ER_WRONG_PERFSCHEMA_USAGE, ER_WRONG_VALUE_COUNT_ON_ROW, WARN_DATA_TRUNCATED,
};
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_expr::convert::text_of;
use palisade_expr::error::not_supported;
use palisade_parser::ast::{
    self, ColumnName, DeleteTarget, Expr, InsertSource, ObjectName, Query, QueryBody, Select, SelectItem,
    Statement, TableFactor, TableReference,
};
use palisade_schema::{Change, ChangeKind, Changed, ColumnDecl, ColumnType, TableDecl};
use palisade_session::sink::Collected;

use crate::show::information_schema;
use crate::sql::Sql;
use crate::{Access, Completion, Session, SqlError, SqlResult};

const PERFORMANCE_SCHEMA: &str = "performance_schema";

/// The table of performance_schema that a statement changes, if it is one.
pub(crate) fn target<'s>(session: &Session, statement: &'s Statement) -> Option<&'s ObjectName> {
    let name = match statement {
        Statement::Insert(insert) => &insert.table,
        Statement::Update(update) => match update.tables.as_slice() {
            [TableReference::Table(factor)] => &factor.name,
            _ => return None,
        },
        Statement::Delete(delete) => match &delete.target {
            DeleteTarget::Single(TableReference::Table(factor)) => &factor.name,
            _ => return None,
        },
        _ => return None,
    };
    let schema = name.schema.as_deref().or(session.state.database.as_deref())?;
    schema.eq_ignore_ascii_case(PERFORMANCE_SCHEMA).then_some(name)
}

/// Rows of a table and values beside them.
fn query_of(
    table: &TableDecl,
    factor: &TableFactor,
    (filter, order_by, limit): (&Option<Expr>, &[ast::OrderItem], &Option<ast::Limit>),
    values: impl IntoIterator<Item = Expr>,
) -> Query {
    let column = |column: &ColumnDecl| {
        SelectItem::column(ColumnName { schema: None, table: None, column: column.name.to_owned() })
    };
    let items = table.columns.iter().map(column).chain(values.into_iter().map(item)).collect();
    let from = vec![TableReference::Table(factor.clone())];
    let select = Select { items, from, filter: filter.clone(), ..Select::default() };
    let body = QueryBody::Select(Box::new(select));
    Query { order_by: order_by.to_vec(), limit: limit.clone(), ..Query::of(body) }
}

fn item(expr: Expr) -> SelectItem {
    SelectItem::Expr { expr, alias: None, text: String::new() }
}

/// A value as a column keeps it: 1265 for one that is no member of an ENUM.
fn kept(column: &ColumnDecl, value: &Value, row: usize) -> SqlResult<Value> {
    let text = match value {
        Value::Null => return Ok(Value::Null),
        Value::Bytes(text) => text.to_vec(),
        Value::Enum(member) => member.text.to_vec(),
        other => text_of(other, &column.column_type.sql_type()).to_vec(),
    };
    if let ColumnType::Enum { members, .. } = column.column_type {
        let member = members.iter().find(|member| member.as_bytes().eq_ignore_ascii_case(&text));
        let member = member.ok_or_else(|| mysql_error!(WARN_DATA_TRUNCATED, column.name, row))?;
        return Ok(column.column_type.kept(Value::bytes(*member)));
    }
    Ok(column.column_type.kept(Value::bytes(text)))
}

impl Sql {
    /// Executes a statement that changes a table of performance_schema: 1142 if that table is none of those
    /// that may be changed so.
    pub(crate) async fn change_instrument(
        &self,
        session: &mut Session,
        statement: &Statement,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let Some(name) = target(session, statement) else {
            return Err(not_supported(statement.name()));
        };
        let returns = match statement {
            Statement::Insert(insert) => !insert.returning.is_empty(),
            Statement::Update(update) => !update.returning.is_empty(),
            Statement::Delete(delete) => !delete.returning.is_empty(),
            _ => false,
        };
        if returns {
            return Err(not_supported("RETURNING of a table of performance_schema"));
        }
        let table = information_schema::find_virtual(&**self.host(), PERFORMANCE_SCHEMA, &name.name)
            .ok_or_else(|| mysql_error!(ER_NO_SUCH_TABLE, PERFORMANCE_SCHEMA, name.name))?;
        let (kind, access, verb) = match statement {
            Statement::Insert(_) => (ChangeKind::Insert, Access::Insert, "INSERT"),
            Statement::Update(_) => (ChangeKind::Update, Access::Update, "UPDATE"),
            _ => (ChangeKind::Delete, Access::Delete, "DELETE"),
        };
        if session.state.is_restricted() {
            self.host().check_table(&session.state, PERFORMANCE_SCHEMA, table.name, access)?;
        }
        if !self.host().allows_virtual_change(table, kind) {
            let state = &session.state;
            return Err(mysql_error!(
                ER_TABLEACCESS_DENIED_ERROR,
                verb,
                state.user,
                state.client_host,
                table.name
            ));
        }
        match statement {
            Statement::Insert(insert) => self.insert_instruments(session, table, insert, parameters).await,
            Statement::Update(update) => self.update_instruments(session, table, update, parameters).await,
            Statement::Delete(delete) => self.delete_instruments(session, table, delete, parameters).await,
            other => Err(not_supported(other.name())),
        }
    }

    async fn rows_of(
        &self,
        session: &mut Session,
        query: &Query,
        parameters: &[Value],
    ) -> SqlResult<Vec<Vec<Value>>> {
        let plan = loop {
            match self.plan_query(session, query, parameters, None) {
                Err(_) if session.takes_giving_way() => {
                    palisade_exec::run::pause(&session.state, &**self.host()).await?
                }
                planned => break planned?,
            }
        };
        let mut collected = Collected::default();
        self.run_query(session, Arc::new(plan), parameters, &mut collected).await?;
        Ok(collected.rows)
    }

    /// Makes a change; whether there was anything to change.
    fn make_change(&self, session: &Session, table: &TableDecl, change: &Change<'_>) -> SqlResult<bool> {
        match self.host().change_virtual_row(session.view(), table, change) {
            Changed::Yes => Ok(true),
            Changed::No => Ok(false),
            Changed::Refused => Err(mysql_error!(ER_WRONG_PERFSCHEMA_USAGE)),
        }
    }

    async fn update_instruments(
        &self,
        session: &mut Session,
        table: &TableDecl,
        update: &ast::Update,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let [TableReference::Table(factor)] = update.tables.as_slice() else {
            return Err(not_supported("UPDATE of several tables"));
        };
        let places = update.assignments.iter().map(|assignment| place_of(table, &assignment.column));
        let places: Vec<usize> = places.collect::<SqlResult<_>>()?;
        let values = update.assignments.iter().map(|assignment| assignment.value.clone());
        let clauses = (&update.filter, update.order_by.as_slice(), &update.limit);
        let query = query_of(table, factor, clauses, values);
        let rows = self.rows_of(session, &query, parameters).await?;
        let mut changed = 0;
        for (number, row) in rows.iter().enumerate() {
            let (old, new) = row.split_at_checked(table.columns.len()).unwrap_or((row, &[]));
            let mut is_changed = false;
            for (place, value) in places.iter().zip(new) {
                let Some(column) = table.columns.get(*place) else { continue };
                let value = kept(column, value, number + 1)?;
                let change = Change::Update { row: old, column: *place, value: &value };
                is_changed |= self.make_change(session, table, &change)?;
            }
            changed += u64::from(is_changed);
        }
        let warnings = session.state.warnings.count();
        Ok(Completion {
            affected_rows: if session.client_found_rows { rows.len() as u64 } else { changed },
            info: format!("Rows matched: {}  Changed: {changed}  Warnings: {warnings}", rows.len()),
            ..Completion::default()
        })
    }

    async fn delete_instruments(
        &self,
        session: &mut Session,
        table: &TableDecl,
        delete: &ast::Delete,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let DeleteTarget::Single(TableReference::Table(factor)) = &delete.target else {
            return Err(not_supported("DELETE from several tables"));
        };
        let clauses = (&delete.filter, delete.order_by.as_slice(), &delete.limit);
        let rows = self.rows_of(session, &query_of(table, factor, clauses, []), parameters).await?;
        let mut deleted = 0;
        for row in &rows {
            deleted += u64::from(self.make_change(session, table, &Change::Delete(row))?);
        }
        Ok(Completion { affected_rows: deleted, ..Completion::default() })
    }

    async fn insert_instruments(
        &self,
        session: &mut Session,
        table: &TableDecl,
        insert: &ast::Insert,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let InsertSource::Values(given) = &insert.source else {
            return Err(not_supported("INSERT ... SELECT into performance_schema"));
        };
        if insert.replace || !insert.on_duplicate.is_empty() {
            return Err(not_supported("REPLACE and ON DUPLICATE KEY UPDATE in performance_schema"));
        }
        let places = match insert.columns.is_empty() {
            true => (0..table.columns.len()).collect(),
            false => {
                let places = insert.columns.iter().map(|column| place_of(table, column));
                places.collect::<SqlResult<Vec<usize>>>()?
            }
        };
        let mut inserted = 0;
        for (number, exprs) in given.iter().enumerate() {
            if exprs.len() != places.len() && !exprs.is_empty() {
                return Err(mysql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, number + 1));
            }
            let default = |column: &ColumnDecl| column.default.map_or(Value::Null, Value::bytes);
            let mut row: Vec<Value> =
                table.columns.iter().map(|column| column.column_type.kept(default(column))).collect();
            // DEFAULT is what the row has already.
            let set = places.iter().zip(exprs).filter(|(_, expr)| **expr != Expr::Default);
            let (set_places, exprs): (Vec<usize>, Vec<Expr>) =
                set.map(|(place, expr)| (*place, expr.clone())).unzip();
            if !exprs.is_empty() {
                let select = Select { items: exprs.into_iter().map(item).collect(), ..Select::default() };
                let query = Query::of(QueryBody::Select(Box::new(select)));
                let values = self.rows_of(session, &query, parameters).await?.pop().unwrap_or_default();
                for (place, value) in set_places.iter().zip(values) {
                    if let (Some(to), Some(column)) = (row.get_mut(*place), table.columns.get(*place)) {
                        *to = kept(column, &value, number + 1)?;
                    }
                }
            }
            if !self.make_change(session, table, &Change::Insert(&row))? {
                return Err(duplicate(table, &row));
            }
            inserted += 1;
        }
        Ok(Completion { affected_rows: inserted, ..Completion::default() })
    }
}

/// 1062, with the values of the key.
fn duplicate(table: &TableDecl, row: &[Value]) -> SqlError {
    let keys = table.columns.iter().zip(row).filter(|(column, _)| column.key == "PRI");
    let text = |value: &Value| match value {
        Value::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    };
    let values: Vec<String> = keys.map(|(_, value)| text(value)).collect();
    mysql_error!(ER_DUP_ENTRY, values.join("-"), format!("{}.PRIMARY", table.name))
}

fn place_of(table: &TableDecl, column: &ColumnName) -> SqlResult<usize> {
    table.place(&column.column).ok_or_else(|| mysql_error!(ER_BAD_FIELD_ERROR, column.column, "field list"))
}
