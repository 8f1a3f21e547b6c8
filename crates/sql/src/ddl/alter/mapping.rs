//! Rows of the old definition as rows of the new one, where a table is written anew.

use palisade_base::error_catalogue::{ER_INVALID_USE_OF_NULL, WARN_DATA_TRUNCATED};
use palisade_base::mysql_error;
use palisade_catalog::descriptor::{Column, DefaultValue};
use palisade_catalog::store::{StoreError, StoreErrorKind};
use palisade_catalog::{RowView, Value, ValueRef};
use palisade_engine::ddl::RowMapper;
use palisade_expr::place::At;

use super::Draft;
use crate::ddl::Definer;
use crate::ddl::numbering::Numbering;
use crate::ddl::rows::{RowCompleter, Source, converted, new_value};
use crate::{SqlError, SqlResult};

impl Draft {
    /// The numbers of rows that have none yet; `counter` is where that of the old table is.
    pub fn numbering(&self, definer: &Definer<'_>, counter: u64) -> Numbering {
        let next = counter.max(self.def.auto_increment);
        match self.copies() {
            true => Numbering::copying(next, definer),
            false => Numbering::in_place(next, definer),
        }
    }

    /// Makes rows of the new definition from rows of the old one. Rows are counted in `rows`.
    pub fn mapper<'a, 's>(
        &'a self,
        definer: &'a Definer<'_>,
        mut completer: RowCompleter<'a, 's>,
        (mut numbering, rows): (Numbering, &'a mut u64),
    ) -> SqlResult<Box<RowMapper<'a>>> {
        let sources = self.sources(definer)?;
        Ok(Box::new(move |row: &RowView<'_>, out: &mut Vec<Value>| {
            if let Some(refused) = &self.refused {
                return Err(refused.clone().into());
            }
            *rows += 1;
            for (column, source) in self.def.columns.iter().zip(&sources) {
                let old = |old: usize| {
                    converted(definer, row.column(old), self.old_types.at(old)?, column)
                        .map_err(|error| self.not_kept(&error, column, *rows))
                };
                out.push(match source {
                    Source::Expression => Value::Null,
                    Source::Value(value) => value.clone(),
                    Source::RowNumber if column.auto_increment => numbering.next(&column.sql_type)?,
                    Source::RowNumber => Value::UInt(*rows),
                    Source::Numbered(from) => match row.column(*from) {
                        ValueRef::Null => numbering.next(&column.sql_type)?,
                        _ => numbering.given(&column.sql_type, old(*from)?)?,
                    },
                    Source::Old(from) => old(*from)?,
                });
            }
            for (place, _) in
                sources.iter().enumerate().filter(|(_, source)| matches!(source, Source::Expression))
            {
                *out.at_mut(place)? = completer.default(place, self.def.columns.at(place)?, out, *rows)?;
            }
            Ok(completer.complete(&self.def, out, *rows)?)
        }))
    }

    fn sources(&self, definer: &Definer<'_>) -> SqlResult<Vec<Source>> {
        let mut sources = Vec::with_capacity(self.def.columns.len());
        for (column, origin) in self.def.columns.iter().zip(&self.origins) {
            sources.push(match origin {
                _ if column.generated.is_some() => Source::Value(Value::Null),
                Some(old) if column.auto_increment && self.old_counted != Some(*old) => {
                    Source::Numbered(*old)
                }
                Some(old) => Source::Old(*old),
                None if matches!(column.default, DefaultValue::Expression(_)) => Source::Expression,
                None => new_value(definer, column)?,
            });
        }
        Ok(sources)
    }

    /// The error of a value that a column in its new form cannot hold; `row` is the number of its row.
    fn not_kept(&self, error: &StoreError, column: &Column, row: u64) -> SqlError {
        match error.kind {
            // MySQL's two ways to write rows anew differ in this.
            StoreErrorKind::NullNotAllowed | StoreErrorKind::TooLong if self.copies() => {
                mysql_error!(WARN_DATA_TRUNCATED, column.name, row)
            }
            StoreErrorKind::NullNotAllowed => mysql_error!(ER_INVALID_USE_OF_NULL),
            _ => error.to_mysql(&column.name, row),
        }
    }
}
