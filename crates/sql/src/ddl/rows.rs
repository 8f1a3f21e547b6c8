//! The rows of a table whose definition changes: where the values of its columns come from.

use palisade_base::Blocked;
use palisade_catalog::descriptor::{Column, DefaultValue, TableDef, Visibility};
use palisade_catalog::store::{StoreError, coerce, implicit_default};
use palisade_catalog::types::LobSize;
use palisade_catalog::{RowView, SqlType, Value, ValueRef};
use palisade_exec::ExecContext;
use palisade_expr::Slot;
use palisade_expr::place::At;
use palisade_plan::bind::row_rules::RowRules;

use super::Definer;
use crate::dml::store::{duplicate_entry, resequenced_entry};
use crate::{SqlAttempt, SqlError, SqlResult};

/// Computes what of a row is an expression, and checks the row.
pub struct RowCompleter<'x, 'a> {
    /// Where expressions are evaluated.
    pub cx: ExecContext<'x, 'a>,
    /// The new definition's.
    pub rules: RowRules,
    /// Where they see the row.
    pub slot: usize,
}

impl RowCompleter<'_, '_> {
    pub(super) fn default(
        &mut self,
        place: usize,
        column: &Column,
        values: &[Value],
        row: u64,
    ) -> SqlResult<Value> {
        *self.cx.state.frame.slots.at_mut(self.slot)? = Slot::Values(values.into());
        let default = self.rules.defaults.at(place)?;
        at_once(self.cx.in_one_go(|cx| cx.default_value(default, column, row)))
    }

    pub(super) fn complete(&mut self, def: &TableDef, values: &mut [Value], row: u64) -> SqlResult<()> {
        let (rules, slot) = (&self.rules, self.slot);
        if rules.generates() {
            at_once(self.cx.in_one_go(|cx| cx.generate(rules, def, slot, values, row)))?;
        }
        at_once(self.cx.in_one_go(|cx| cx.check_row(rules, slot, values)))
    }
}

/// Expressions of a definition hold no queries, so there is nothing they could wait for; and what is done
/// [in one go](ExecContext::in_one_go) does not give way.
fn at_once<T>(attempt: SqlAttempt<T>) -> SqlResult<T> {
    attempt.map_err(|blocked| match blocked {
        Blocked::Error(error) => error,
        Blocked::Wait(_) => unreachable!("an expression of a definition reads its row only"),
    })
}

/// Where the values of a new column come from.
pub(super) enum Source {
    Old(usize),
    /// The old column, which was not AUTO_INCREMENT: what is no number yet gets one.
    Numbered(usize),
    Value(Value),
    /// A number, from the first row on.
    RowNumber,
    /// The column's default, an expression.
    Expression,
}

/// The value of an old column, of type `old`, in its new form. A number or a date becomes JSON by its text
/// here, which a statement that writes rows refuses.
pub(super) fn converted(
    definer: &Definer<'_>,
    value: ValueRef<'_>,
    old: &SqlType,
    column: &Column,
) -> Result<Value, StoreError> {
    let is_text =
        matches!(value, ValueRef::Null | ValueRef::Bytes(_) | ValueRef::Enum { .. } | ValueRef::Set { .. });
    if is_text || column.sql_type != SqlType::Json {
        return coerce(value, column, &definer.store_context(old), &mut |_| {});
    }
    let ty = match value {
        ValueRef::Bit { .. } => SqlType::Blob { size: LobSize::Tiny },
        _ => SqlType::Text { size: LobSize::Long, collation: SqlType::Json.collation() },
    };
    let mut text = Vec::new();
    value.append_text(old, &mut text);
    coerce(ValueRef::Bytes(&text), column, &definer.store_context(&ty), &mut |_| {})
}

/// The value of an added column in rows that are there already.
pub(super) fn new_value(definer: &Definer<'_>, column: &Column) -> SqlResult<Source> {
    if column.visibility == Visibility::System || column.auto_increment {
        return Ok(Source::RowNumber);
    }
    let now_type = SqlType::DateTime { fsp: 6 };
    let context = definer.store_context(&now_type);
    let stored = |value: Value| {
        let stored = coerce(value.as_ref(), column, &context, &mut |_| {});
        stored.map(Source::Value).map_err(|error| error.to_mysql(&column.name, 1))
    };
    match &column.default {
        DefaultValue::Literal(value) => Ok(Source::Value(value.clone())),
        DefaultValue::CurrentTimestamp => {
            let digits = column.sql_type.fraction_digits();
            stored(Value::DateTime(palisade_expr::cast::cut_datetime(definer.now, digits)))
        }
        DefaultValue::Expression(_) => Ok(Source::Expression),
        DefaultValue::None | DefaultValue::Removed if column.nullable => Ok(Source::Value(Value::Null)),
        DefaultValue::None | DefaultValue::Removed => Ok(Source::Value(implicit_default(column))),
    }
}

/// 1062 for existing rows that collide in an index that is to be unique.
pub(super) fn duplicates(error: palisade_engine::Error) -> SqlError {
    duplicates_of_copy(error, false)
}

/// The same of a statement that writes rows anew; `copies` says that MySQL does so one by one, and tells then
/// of numbers.
pub(super) fn duplicates_of_copy(error: palisade_engine::Error, copies: bool) -> SqlError {
    let palisade_engine::Error::DuplicateRow { index, table, row } = &error else { return error.into() };
    let Ok(row) = RowView::new(table.descriptor(), row) else { return error.into() };
    let value = |column| Ok(row.column(column).to_owned());
    let first = table.indexes.first().and_then(|index| index.parts.first());
    let counted = table.auto_increment_column().is_some()
        && first.map(|part| usize::from(part.column)) == table.auto_increment_column();
    match copies && *index == 0 && counted {
        true => resequenced_entry(table, *index, value),
        false => duplicate_entry(table, *index, value),
    }
}
