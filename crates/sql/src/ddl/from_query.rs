//! CREATE TABLE ... SELECT.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::descriptor::Column;
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_engine::TableName;
use palisade_parser::Deprecated;
use palisade_parser::ast::{self, Statement};
use palisade_plan::bind::Binder;
use palisade_session::sink::Collected;

use super::{Definer, column, types};
use crate::dml::insert::bind_insert;
use crate::sql::Sql;
use crate::{ColumnMeta, Completion, Session, SqlResult};

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
        let own = TableName::new(&schema, &create.name.name);
        let exists = match (create.temporary, session.temporary_table(&own)) {
            (true, own) => own.is_some(),
            (false, None) => self.engine().dictionary().table(&schema, &create.name.name).is_ok(),
            // Its rows would go into the temporary one.
            (false, Some(_)) => {
                return super::unsupported("CREATE TABLE ... SELECT under the name of a temporary table");
            }
        };
        let mut plain = ast::CreateTable { query: None, duplicates: None, ..create.clone() };
        let bind = |mut binder: Binder<'_>| {
            let bound = binder.query(query)?;
            let dictionary = binder.dictionary;
            let default =
                dictionary.schema(&schema).map_or(CollationId::default(), |schema| schema.collation);
            let default = crate::ddl::table::table_collation(&create.options, default)?;
            let names_collation = |meta: &ColumnMeta| {
                let table = dictionary.table(&meta.schema, &meta.org_table).ok();
                let column = table.and_then(|table| {
                    let place = table.column_index(&meta.org_name)?;
                    table.columns.get(place)
                });
                column.is_some_and(|column| column.names_collation)
            };
            let made: Vec<MadeColumn> = bound
                .columns
                .iter()
                .zip(&bound.output)
                .filter(|(meta, _)| {
                    !create.columns.iter().any(|known| known.name.eq_ignore_ascii_case(&meta.name))
                })
                .map(|(meta, expr)| {
                    let names_collation = expr.ty.collation() != default || names_collation(meta);
                    MadeColumn::of(meta, expr, names_collation)
                })
                .collect();
            let columns: Vec<String> = bound.columns.iter().map(|meta| meta.name.clone()).collect();
            Ok((made, columns, std::mem::take(&mut binder.beforehand)))
        };
        let (made, columns, constants) = self.bound(session, parameters, bind).await?;
        self.check_constants(session, &constants, parameters)?;
        if !exists {
            let deprecated: Vec<Deprecated> = made.iter().flat_map(MadeColumn::deprecated).collect();
            crate::deprecated::warn(session, &deprecated);
        }
        let table = ast::ObjectName { schema: Some(schema), name: create.name.name.clone() };
        plain.name = table.clone();
        let done = super::create_table(self.engine(), &**self.host(), session, &plain, &made).await?;
        if exists {
            return Ok(done);
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
            returning: Vec::new(),
        };
        let filled = self.fill(session, &insert, parameters).await;
        if filled.is_err() {
            let drop = ast::DropTable { temporary: create.temporary, if_exists: true, tables: vec![table] };
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
        let bind = |mut binder: Binder<'_>| {
            binder.fills_new_table = true;
            bind_insert(binder, insert)
        };
        let plan = self.bound(session, parameters, bind).await?;
        self.insert(session, &plan, parameters, &mut Collected::default()).await
    }
}

/// A column that a table has because the query that it is made from has it.
pub(super) struct MadeColumn {
    column: Column,
    /// The literal of its DEFAULT.
    default: Option<&'static str>,
}

impl MadeColumn {
    fn of(meta: &ColumnMeta, expr: &palisade_expr::Expr, names_collation: bool) -> MadeColumn {
        let ty = match &expr.ty {
            SqlType::Null => SqlType::VarBinary { length: 0 },
            SqlType::Char { length, collation: CollationId::BINARY } => SqlType::Binary { length: *length },
            SqlType::VarChar { length, collation: CollationId::BINARY } => {
                SqlType::VarBinary { length: *length }
            }
            SqlType::Text { size, collation: CollationId::BINARY } => SqlType::Blob { size: *size },
            // a short constant is an INT, as in MySQL
            SqlType::Int { .. } if is_short(expr) => SqlType::INT,
            other => other.clone(),
        };
        let default = match &ty {
            _ if expr.nullable => None,
            SqlType::Bit { .. } | SqlType::Enum { .. } | SqlType::Set { .. } => None,
            ty if ty.is_numeric() => Some("0"),
            ty if ty.is_string() && !ty.is_lob() => Some(""),
            _ => None,
        };
        let mut column = Column::new(meta.name.clone(), ty, 0);
        column.nullable = expr.nullable;
        column.names_collation = names_collation && column.sql_type.is_text();
        MadeColumn { column, default }
    }

    /// The column as the table has it; its ordinal is still to be given.
    pub(super) fn define(&self, definer: &mut Definer<'_>) -> SqlResult<Column> {
        let mut column = self.column.clone();
        column::check_column_name(&column.name)?;
        types::check_length(&column.name, &column.sql_type)?;
        if let Some(text) = self.default {
            let literal = ast::StringLiteral { value: text.as_bytes().to_vec(), charset: None };
            let literal = ast::Expr::Literal(ast::Literal::String(literal));
            column::set_default(definer, &mut column, &ast::ColumnDefault::Literal(literal))?;
        }
        Ok(column)
    }

    /// What of its type is deprecated, as if it had been declared. MySQL says nothing of its character set.
    fn deprecated(&self) -> Vec<Deprecated> {
        let mut noted = Vec::new();
        let ty = &self.column.sql_type;
        if let SqlType::Float { digits: Some(_), .. } | SqlType::Double { digits: Some(_), .. } = ty {
            noted.push(Deprecated::FloatDigits);
        }
        if let SqlType::Float { unsigned: true, .. }
        | SqlType::Double { unsigned: true, .. }
        | SqlType::Decimal { unsigned: true, .. } = ty
        {
            noted.push(Deprecated::UnsignedFraction);
        }
        noted
    }
}

/// Whether an expression is an integer constant of at most eight digits.
fn is_short(expr: &palisade_expr::Expr) -> bool {
    match &expr.node {
        palisade_expr::Node::Literal(Value::Int(value)) => value.unsigned_abs() < 100_000_000,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use palisade_expr::Expr;

    use super::*;

    #[test]
    fn texts_of_bytes_are_made_columns_of_bytes() {
        let collation = CollationId::BINARY;
        for (ty, made) in [
            (SqlType::Char { length: 3, collation }, SqlType::Binary { length: 3 }),
            (SqlType::VarChar { length: 9, collation }, SqlType::VarBinary { length: 9 }),
        ] {
            let meta = ColumnMeta::computed("a", ty.clone());
            let column = MadeColumn::of(&meta, &Expr::literal(Value::Null, ty), false);
            assert_eq!(column.column.sql_type, made);
        }
    }
}
