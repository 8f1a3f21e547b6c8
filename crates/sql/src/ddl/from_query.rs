//! CREATE TABLE ... SELECT.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_parser::ast::{self, Statement};

use crate::bind::Binder;
use crate::sql::Sql;
use crate::{Completion, Session, SqlResult};

impl Sql {
    /// CREATE TABLE ... SELECT: the query's columns are added to the definition, then its rows are inserted.
    pub(crate) async fn create_from_query(
        &self,
        session: &mut Session,
        create: &ast::CreateTable,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let Some(query) = &create.query else { return Ok(Completion::default()) };
        let Some(schema) = create.name.schema.clone().or_else(|| session.state.database.clone()) else {
            return Err(mysql_error!(ER_NO_DB_ERROR));
        };
        let exists = self.engine().dictionary().table(&schema, &create.name.name).is_ok();
        let mut plain = ast::CreateTable { query: None, duplicates: None, ..create.clone() };
        let bind = |mut binder: Binder<'_>| {
            let bound = binder.query(query)?;
            let dictionary = binder.dictionary;
            let default =
                dictionary.schema(&schema).map_or(CollationId::default(), |schema| schema.collation);
            let default = crate::ddl::table::table_collation(&create.options, default)?;
            let names_collation = |meta: &crate::ColumnMeta| {
                let table = dictionary.table(&meta.schema, &meta.org_table).ok();
                let column = table.and_then(|table| {
                    let place = table.column_index(&meta.org_name)?;
                    table.columns.get(place)
                });
                column.is_some_and(|column| column.names_collation)
            };
            let declared: Vec<String> = bound
                .columns
                .iter()
                .zip(&bound.output)
                .filter(|(meta, _)| {
                    !create.columns.iter().any(|known| known.name.eq_ignore_ascii_case(&meta.name))
                })
                .map(|(meta, expr)| {
                    let says_collation = expr.ty.collation() != default || names_collation(meta);
                    column_text(meta, expr, says_collation)
                })
                .collect();
            let columns: Vec<String> = bound.columns.iter().map(|meta| meta.name.clone()).collect();
            Ok((declared, columns, std::mem::take(&mut binder.beforehand)))
        };
        let (declared, columns, constants) = self.bound(session, parameters, bind).await?;
        self.check_constants(session, &constants, parameters)?;
        if !declared.is_empty() {
            let text = format!("CREATE TABLE t ({})", declared.join(", "));
            let options = palisade_parser::ParseOptions::default();
            let parsed = palisade_parser::parse_one(text.as_bytes(), options, &mut || true);
            let parsed = parsed.map_err(crate::sql::parse_error)?;
            if let Some(Statement::CreateTable(made)) = parsed.statement {
                plain.columns.extend(made.columns);
            }
            if !exists {
                crate::deprecated::warn(session, &parsed.deprecated);
            }
        }
        let table = ast::ObjectName { schema: Some(schema), name: create.name.name.clone() };
        plain.name = table.clone();
        let definition = Statement::CreateTable(Box::new(plain));
        let made = crate::ddl::execute(self.engine(), &**self.host(), session, &definition).await?;
        if exists {
            return Ok(made.unwrap_or_default());
        }
        let insert = ast::Insert {
            replace: create.duplicates == Some(ast::LoadDuplicates::Replace),
            priority: None,
            ignore: create.duplicates == Some(ast::LoadDuplicates::Ignore),
            table: table.clone(),
            partitions: Vec::new(),
            columns: columns
                .into_iter()
                .map(|column| ast::ColumnName { schema: None, table: None, column })
                .collect(),
            source: ast::InsertSource::Query(query.clone()),
            row_alias: None,
            on_duplicate: Vec::new(),
        };
        let filled = self.fill(session, &insert, parameters).await;
        if filled.is_err() {
            let drop = ast::DropTable { temporary: false, if_exists: true, tables: vec![table] };
            let drop = Statement::DropTable(drop);
            crate::ddl::execute(self.engine(), &**self.host(), session, &drop).await?;
        }
        filled
    }

    /// Inserts the rows of the query that a table was made from.
    async fn fill(
        &self,
        session: &mut Session,
        insert: &ast::Insert,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let plan = self.bound(session, parameters, |binder| binder.insert(insert)).await?;
        self.insert(session, &plan, parameters).await
    }
}

/// A column of CREATE TABLE ... SELECT as CREATE TABLE declares it.
fn column_text(meta: &crate::ColumnMeta, expr: &palisade_expr::Expr, says_collation: bool) -> String {
    let ty = match &expr.ty {
        SqlType::Null => SqlType::Binary { length: 0 },
        // a short constant is an INT, as in MySQL
        SqlType::Int { .. } if is_short(expr) => SqlType::INT,
        other => other.clone(),
    };
    let mut text = format!("`{}` {}", meta.name.replace('`', "``"), ty.declaration());
    if ty.is_text() && says_collation {
        let collation = ty.collation().get();
        text.push_str(&format!(" CHARACTER SET {} COLLATE {}", collation.charset.name(), collation.name));
    }
    if !expr.nullable {
        text.push_str(" NOT NULL");
        if ty.is_numeric() && !matches!(ty, SqlType::Bit { .. }) {
            text.push_str(" DEFAULT '0'");
        } else if ty.is_string() && !ty.is_lob() && !matches!(ty, SqlType::Enum { .. } | SqlType::Set { .. })
        {
            text.push_str(" DEFAULT ''");
        }
    }
    text
}

/// Whether an expression is an integer constant of at most eight digits.
fn is_short(expr: &palisade_expr::Expr) -> bool {
    match &expr.node {
        palisade_expr::Node::Literal(Value::Int(value)) => value.unsigned_abs() < 100_000_000,
        _ => false,
    }
}
