//! JSON_TABLE in FROM: a table of one row whose document becomes rows, so that it is planned as a derived
//! table that may read the tables before it (LATERAL).

use std::sync::Arc;

use palisade_base::error_catalogue::{
    ER_DUP_FIELDNAME, ER_INVALID_DEFAULT, ER_JT_MAX_NESTED_PATH, ER_TF_MUST_HAVE_ALIAS, ER_WRONG_ARGUMENTS,
    ER_WRONG_COLUMN_NAME,
};
use palisade_base::mysql_error;
use palisade_catalog::json::{Json, parse};
use palisade_catalog::{CollationId, Column, SqlType};
use palisade_expr::func::json::{document_error, read_path};
use palisade_expr::{Expr, SqlError, SqlResult};
use palisade_parser::ast::{self, JsonOn, JsonTableColumn};
use palisade_session::sink::ColumnMeta;

use super::from::derived_columns;
use super::scope::{Clause, Scope, Source, same_name};
use super::select::slot_column;
use super::{Binder, not_supported};
use crate::column_type;
use crate::json_table::{
    JsonAnswer, JsonColumn, JsonLevel, JsonPart, JsonPath, JsonTable, JsonValue, MOST_NESTED,
};
use crate::logical::{Body, JoinTree, Leaf, LogicalQuery};

/// The columns of a table while they are bound.
struct Columns<'a> {
    /// Of texts that name no collation.
    collation: CollationId,
    table: &'a str,
    all: Vec<JsonColumn>,
    nested: usize,
}

impl Binder<'_> {
    /// Binds `JSON_TABLE(...) AS alias`.
    pub(super) fn json_table(&mut self, table: &ast::JsonTable) -> SqlResult<JoinTree> {
        let Some(alias) = &table.alias else { return Err(mysql_error!(ER_TF_MUST_HAVE_ALIAS)) };
        self.locking.check_unnamed(alias)?;
        let mut columns =
            Columns { collation: self.collation_connection(), table: alias, all: Vec::new(), nested: 0 };
        let root = columns.level(&table.path, &table.columns)?;
        let function = JsonTable { root, columns: columns.all };
        let (document, scope) = self.document(&table.document)?;
        let slot = self.new_slot();
        let of_column = |(place, column): (usize, &JsonColumn)| {
            let Column { name, sql_type, .. } = &column.column;
            slot_column(slot, place, name, sql_type.clone(), true)
        };
        let output: Vec<Expr> = function.columns.iter().enumerate().map(of_column).collect();
        let meta = |column: &JsonColumn| {
            let Column { name, sql_type, .. } = &column.column;
            ColumnMeta::computed(name.clone(), sql_type.clone())
        };
        let metas = function.columns.iter().map(meta).collect();
        let body = Body::Values { slot, rows: vec![vec![document]], function: Some(Arc::new(function)) };
        let query = LogicalQuery {
            outer_slots: scope.outer_slots,
            outer_columns: scope.outer_columns,
            ..LogicalQuery::new(body, output, metas)
        };
        let slot = self.new_slot();
        self.add_source(Source {
            slot,
            alias: alias.clone(),
            schema: String::new(),
            table: None,
            columns: derived_columns(&query, alias, &[])?,
            outer: false,
            through: None,
        })?;
        Ok(JoinTree::Leaf(Leaf::Derived {
            slot,
            query: Box::new(query),
            alias: alias.clone(),
            subquery: None,
        }))
    }

    /// The document, and what it reads of the tables before it: the scope in which it is bound.
    fn document(&mut self, document: &ast::Expr) -> SqlResult<(Expr, Scope)> {
        let before = self.subqueries.len();
        let block = self.scope().block;
        self.scopes.push(Scope { block, clause: Clause::TableFunction, ..Scope::default() });
        let bound = self.expr(document);
        let scope = self.take_scope()?;
        let bound = bound?;
        if self.subqueries.len() > before {
            return Err(mysql_error!(ER_WRONG_ARGUMENTS, "JSON_TABLE"));
        }
        Ok((bound, scope))
    }
}

/// A text of the statement.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn path_of(bytes: &[u8]) -> SqlResult<JsonPath> {
    let text = text_of(bytes);
    Ok(JsonPath { path: read_path(&text)?, text })
}

impl Columns<'_> {
    fn level(&mut self, path: &[u8], columns: &[JsonTableColumn]) -> SqlResult<JsonLevel> {
        let path = path_of(path)?;
        let mut parts = Vec::with_capacity(columns.len());
        for column in columns {
            parts.push(match column {
                JsonTableColumn::Nested { path, columns } => {
                    self.nested += 1;
                    if self.nested > MOST_NESTED {
                        return Err(mysql_error!(ER_JT_MAX_NESTED_PATH, MOST_NESTED, self.table));
                    }
                    JsonPart::Nested(self.level(path, columns)?)
                }
                column => {
                    let column = self.column(column)?;
                    if self.all.iter().any(|known| same_name(&known.column.name, &column.column.name)) {
                        return Err(mysql_error!(ER_DUP_FIELDNAME, column.column.name));
                    }
                    self.all.push(column);
                    JsonPart::Column(self.all.len() - 1)
                }
            });
        }
        Ok(JsonLevel { path, parts })
    }

    fn column(&self, column: &JsonTableColumn) -> SqlResult<JsonColumn> {
        Ok(match column {
            JsonTableColumn::Ordinality(name) => {
                let column = typed(name, SqlType::BIGINT)?;
                JsonColumn { column, value: JsonValue::Ordinality }
            }
            JsonTableColumn::Exists { name, data_type, path } => JsonColumn {
                column: self.declared(name, data_type)?,
                value: JsonValue::Exists(path_of(path)?),
            },
            JsonTableColumn::Path { name, data_type, path, on_empty, on_error } => {
                let column = self.declared(name, data_type)?;
                let on_empty = answer(on_empty.as_ref(), &column)?;
                let on_error = answer(on_error.as_ref(), &column)?;
                JsonColumn { column, value: JsonValue::Path { path: path_of(path)?, on_empty, on_error } }
            }
            JsonTableColumn::Nested { .. } => return Err(SqlError::internal("a nested path is no column")),
        })
    }

    fn declared(&self, name: &str, ty: &ast::DataType) -> SqlResult<Column> {
        let declared = column_type::declared(name, ty, self.collation, self.collation)?;
        let mut column = typed(name, declared.sql_type)?;
        column.zerofill = declared.zerofill;
        column.display_width = declared.display_width;
        Ok(column)
    }
}

fn typed(name: &str, ty: SqlType) -> SqlResult<Column> {
    if name.is_empty() || name.ends_with(' ') {
        return Err(mysql_error!(ER_WRONG_COLUMN_NAME, name));
    }
    let mut column = Column::new(name.to_owned(), ty, 0);
    column.nullable = true;
    Ok(column)
}

/// ON EMPTY or ON ERROR of a column: 1235 for a default that is no text, 3141 for one that is no document,
/// 1067 for one that is more than a value where the column has one.
fn answer(clause: Option<&JsonOn>, column: &Column) -> SqlResult<Option<JsonAnswer>> {
    let default = match clause {
        None => return Ok(None),
        Some(JsonOn::Null) => return Ok(Some(JsonAnswer::Null)),
        Some(JsonOn::Error) => return Ok(Some(JsonAnswer::Error)),
        Some(JsonOn::Default(default)) => default,
    };
    let ast::Expr::Literal(ast::Literal::String(text)) = &**default else {
        return Err(not_supported("non-string DEFAULT value for a column in a JSON_TABLE expression"));
    };
    let document = parse::document(&text.value).map_err(|error| document_error(error, 1, "JSON_TABLE"))?;
    if column.sql_type != SqlType::Json && !document.is_scalar() && document != Json::Null {
        return Err(mysql_error!(ER_INVALID_DEFAULT, column.name));
    }
    Ok(Some(JsonAnswer::Default(document, text_of(&text.value))))
}
