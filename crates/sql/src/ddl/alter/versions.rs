//! Columns that come and go while the rows stay as they are.
//!
//! A row says how many columns there were when it was written, so the definition alone can change
//! ([`palisade_catalog::descriptor::RowVersions`] has the picture): a column that is added is NULL in older
//! rows, or has the default that it was added with; one that is dropped stays in them unread; one that moves
//! is where it was. Rows are written anew where that is not enough: for values that differ from row to row,
//! and when rows have had as many versions as MySQL allows; and where the statement asks for it with
//! ALGORITHM=INPLACE or COPY, which is how MySQL adds and drops columns by writing rows anew.

use palisade_catalog::descriptor::{Column, DefaultValue, MAX_COLUMNS, MAX_ROW_VERSIONS};
use palisade_catalog::store::coerce;
use palisade_catalog::{CollationId, SqlType, ValueRef};
use palisade_expr::place::At;

use super::Draft;
use crate::ddl::Definer;
use crate::ddl::rows::{Source, new_value};
use crate::{SqlError, SqlResult};

/// Why rows cannot have what a column is to be in them: a date of zeros, which `sql_mode` refuses.
pub(super) fn refused_in_rows(definer: &Definer<'_>, column: &Column) -> Option<SqlError> {
    let is_implicit = !column.nullable && matches!(column.default, DefaultValue::None);
    let zero = match column.sql_type {
        SqlType::Date => "0000-00-00",
        SqlType::DateTime { .. } => "0000-00-00 00:00:00",
        _ => return None,
    };
    if !is_implicit || column.generated.is_some() || !definer.mode.is_strict() {
        return None;
    }
    let text = SqlType::VarChar { length: zero.len() as u32, collation: CollationId::default() };
    let stored = coerce(ValueRef::Bytes(zero.as_bytes()), column, &definer.store_context(&text), &mut |_| {});
    stored.err().map(|error| error.to_mysql(&column.name, 1))
}

impl Draft {
    /// Gives columns that come or go without a rebuild their row version, or has the table rebuilt.
    pub(super) fn version_rows(&mut self, definer: &Definer<'_>) -> SqlResult<()> {
        if !self.changed.columns {
            return Ok(());
        }
        let changes_stored = self.effects.changes_stored_columns();
        if changes_stored && self.def.versions.count >= MAX_ROW_VERSIONS {
            self.effects.out_of_versions = true;
        }
        if self.changed.rebuild || self.request.writes_rows() || !self.has_room_for_versions() {
            self.changed.rebuild = true;
            return Ok(());
        }
        for place in 0..self.def.columns.len() {
            if self.origins.at(place)?.is_some() {
                continue;
            }
            match new_value(definer, self.def.columns.at(place)?)? {
                Source::Value(value) => self.def.columns.at_mut(place)?.instant_default = value,
                Source::Old(_) | Source::Numbered(_) | Source::RowNumber | Source::Expression => {
                    self.changed.rebuild = true;
                    return Ok(());
                }
            }
        }
        if changes_stored {
            self.def.add_row_version(self.old_ordinals);
        }
        Ok(())
    }

    /// Whether rows may have a version more, and as many ordinals as the definition needs then.
    fn has_room_for_versions(&self) -> bool {
        !self.effects.out_of_versions && usize::from(self.def.next_ordinal()) <= MAX_COLUMNS
    }
}
