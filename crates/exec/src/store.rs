//! What happens to a value on its way into a column: defaults, conversion, generated columns, checks, MySQL's
//! errors.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::store::{self, Level, StoreContext};
use palisade_catalog::temporal::{TemporalMode, Timestamp};
use palisade_catalog::watch::PIECE;
use palisade_catalog::{CollationId, Column, SqlType, TableDef, Value, ValueRef, row};
use palisade_expr::convert::display_text;
use palisade_expr::mode::SqlMode;
use palisade_expr::place::At;
use palisade_expr::{CastTarget, Expr, Node, Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::bind::row_rules::{ColumnDefault, GeneratedValue, RowRules};
use palisade_plan::partition::{RowPartitions, RowValues};

use super::ExecContext;

impl ExecContext<'_, '_> {
    /// Which dates may be stored.
    pub fn storing_mode(&self) -> TemporalMode {
        let mode = self.session.variables.sql_mode;
        TemporalMode {
            no_zero_date: mode.has(SqlMode::NO_ZERO_DATE),
            no_zero_in_date: mode.has(SqlMode::NO_ZERO_IN_DATE),
            allow_invalid_dates: mode.has(SqlMode::ALLOW_INVALID_DATES),
            truncate_fractional: mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL),
        }
    }

    /// `value`, which is of type `ty`, as `column` stores it. `row` is the number of the row, for messages.
    /// Storing a long one may give way.
    pub fn store(
        &mut self,
        value: ValueRef<'_>,
        ty: &SqlType,
        column: &Column,
        row: u64,
    ) -> SqlResult<Value> {
        if let ValueRef::Bytes(text) = value
            && text.len() > PIECE
        {
            return self.store_long(value, ty, column, row);
        }
        let (temporal, began) = (self.storing_mode(), Timestamp(self.state.now_micros()));
        let strict_mode = self.session.variables.sql_mode.is_strict();
        let session = &mut *self.session;
        let context = StoreContext {
            strict: self.state.strict,
            strict_mode,
            temporal,
            zone: &session.variables.time_zone,
            source: ty,
            began,
        };
        let warnings = &mut session.warnings;
        let mut warn = |warning: store::Warning| {
            let error = warning.error.to_mysql(&column.name, row);
            match warning.level {
                Level::Note => warnings.note(error),
                Level::Warning => warnings.warn(error),
            }
        };
        store::coerce(value, column, &context, &mut warn).map_err(|error| error.to_mysql(&column.name, row))
    }

    #[cold]
    fn store_long(
        &mut self,
        value: ValueRef<'_>,
        ty: &SqlType,
        column: &Column,
        row: u64,
    ) -> SqlResult<Value> {
        let (strict, temporal, began) =
            (self.state.strict, self.storing_mode(), Timestamp(self.state.now_micros()));
        let (zone, strict_mode) =
            (self.session.variables.time_zone.clone(), self.session.variables.sql_mode.is_strict());
        let context = StoreContext { strict, strict_mode, temporal, zone: &zone, source: ty, began };
        let mut warnings = Vec::new();
        let mut warn = |warning| warnings.push(warning);
        let stored =
            self.lend().watched(|watch| store::coerce_watched(value, column, &context, &mut warn, watch))?;
        for store::Warning { level, error } in warnings {
            let error = error.to_mysql(&column.name, row);
            match level {
                Level::Note => self.session.warnings.note(error),
                Level::Warning => self.session.warnings.warn(error),
            }
        }
        stored.map_err(|error| error.to_mysql(&column.name, row))
    }

    /// [`store`](Self::store) of what an expression gives. A JSON value becomes a number or a date as CAST
    /// makes it one, and warnings name the expression. A column's time is a number for YEAR and BIT, unlike
    /// another time. A FLOAT is a DOUBLE for texts.
    #[inline]
    pub fn store_of(
        &mut self,
        value: ValueRef<'_>,
        expr: &Expr,
        column: &Column,
        row: u64,
    ) -> SqlResult<Value> {
        if matches!(expr.ty, SqlType::Json) || matches!(column.sql_type, SqlType::Json) {
            return self.store_with_json(value, expr, column, row);
        }
        if matches!(column.sql_type, SqlType::Year | SqlType::Bit { .. })
            && matches!(expr.node, Node::Column { .. })
            && let Some(number) = self.number_of_moment(value)
        {
            return self.store(number.as_ref(), &SqlType::BIGINT, column, row);
        }
        match value {
            ValueRef::Float(number) if is_copied_as_double(expr, &column.sql_type) => {
                return self.store(ValueRef::Double(number.into()), &SqlType::DOUBLE, column, row);
            }
            // The fraction of a second is cut of what is a column's, and of nothing else.
            ValueRef::Time(time)
                if matches!(column.sql_type, SqlType::Int { .. })
                    && !matches!(expr.node, Node::Column { .. }) =>
            {
                return self.store(ValueRef::Time(time.round(0)), &SqlType::Time { fsp: 0 }, column, row);
            }
            ValueRef::DateTime(moment)
                if matches!(column.sql_type, SqlType::Int { .. })
                    && !matches!(expr.node, Node::Column { .. }) =>
            {
                let whole = moment.round(0).unwrap_or(moment);
                return self.store(ValueRef::DateTime(whole), &SqlType::DateTime { fsp: 0 }, column, row);
            }
            _ => {}
        }
        self.store(value, &expr.ty, column, row).map_err(|error| too_long_for_copy(error, expr, column, row))
    }

    /// A time, or date and time, rounded to seconds, as a number: 20260131235959.
    #[cold]
    fn number_of_moment(&self, value: ValueRef<'_>) -> Option<Value> {
        let cuts = self.session.variables.sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL);
        let moment = match value {
            ValueRef::Time(time) => {
                let whole = if cuts { time.truncate(0) } else { time.round(0) };
                return Some(Value::Int(whole.to_number()));
            }
            ValueRef::DateTime(moment) => moment,
            ValueRef::Timestamp(point) => point.to_datetime(&self.session.variables.time_zone),
            _ => return None,
        };
        let whole = if cuts { moment.truncate(0) } else { moment.round(0)? };
        Some(Value::Int(whole.to_number() as i64))
    }

    #[cold]
    fn store_with_json(
        &mut self,
        value: ValueRef<'_>,
        expr: &Expr,
        column: &Column,
        row: u64,
    ) -> SqlResult<Value> {
        if let (SqlType::Json, ValueRef::Bytes(text)) = (&expr.ty, value) {
            let target = match column.sql_type {
                SqlType::Int { .. } => CastTarget::Signed,
                // only a column's document is a number for YEAR
                SqlType::Year if matches!(expr.node, Node::Column { .. }) => CastTarget::Signed,
                SqlType::Decimal { .. } => CastTarget::Decimal { precision: 65, scale: 30 },
                SqlType::Float { .. } | SqlType::Double { .. } => CastTarget::Double,
                SqlType::Date => CastTarget::Date,
                SqlType::Time { .. } => CastTarget::Time { fsp: 6 },
                SqlType::DateTime { .. } | SqlType::Timestamp { .. } => CastTarget::DateTime { fsp: 6 },
                _ => return self.store(value, &expr.ty, column, row),
            };
            let (scalar, ty) = self.lend().json_scalar(text, expr, &target, row)?;
            // What an expression leaves NULL is zero from a column.
            if scalar.is_null() && matches!(expr.node, Node::Column { .. }) {
                let is_refused = match column.sql_type {
                    SqlType::Time { .. } => false,
                    SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. } => {
                        self.session.variables.sql_mode.has(SqlMode::NO_ZERO_DATE)
                    }
                    _ => self.session.variables.sql_mode.is_strict(),
                };
                if is_refused && !self.state.strict {
                    self.session.warnings.warn(mysql_error!(ER_WARN_DATA_OUT_OF_RANGE, column.name, row));
                }
                return Ok(store::implicit_default(column));
            }
            return self.store(scalar.as_ref(), &ty, column, row);
        }
        // MySQL reads the text of a date that comes from a column.
        if matches!(expr.node, Node::Column { .. }) && expr.ty.is_temporal() && !value.is_null() {
            let text = display_text(value, &expr.ty);
            let ty = SqlType::VarChar { length: 26, collation: CollationId::UTF8MB4_BIN };
            return self.store(ValueRef::Bytes(text.as_bytes()), &ty, column, row);
        }
        self.store(value, &expr.ty, column, row)
    }

    /// The default of a column.
    pub fn default_value(&mut self, default: &ColumnDefault, column: &Column, row: u64) -> SqlAttempt<Value> {
        match default {
            ColumnDefault::Value(value) => Ok(value.clone()),
            ColumnDefault::Now => Ok(self.store_now(column, row)?),
            ColumnDefault::Expr(expr) => {
                let value = expr.eval(&mut self.lend())?;
                Ok(self.store(value.as_ref(), &expr.ty, column, row)?)
            }
            ColumnDefault::Missing => {
                let error = mysql_error!(ER_NO_DEFAULT_FOR_FIELD, column.name);
                if self.state.strict {
                    return Err(error.into());
                }
                self.session.warnings.warn(error);
                Ok(if column.nullable { Value::Null } else { store::implicit_default(column) })
            }
        }
    }

    /// The number of the partition where a row belongs: 1526 if there is none, 1748 if the statement has
    /// chosen others.
    pub fn partition_of(&mut self, partitions: &RowPartitions, row: &RowValues<'_>) -> SqlAttempt<usize> {
        let Some(number) = partitions.scheme.find(&mut self.lend(), row)? else {
            return Err(partitions.scheme.unplaced(&mut self.lend(), row).into());
        };
        match &partitions.chosen {
            Some(chosen) if !chosen.contains(number) => {
                Err(mysql_error!(ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET).into())
            }
            _ => Ok(number),
        }
    }

    /// CURRENT_TIMESTAMP with the column's digits.
    pub fn store_now(&mut self, column: &Column, row: u64) -> SqlResult<Value> {
        let now = ValueRef::DateTime(palisade_expr::cast::cut_datetime(
            self.lend().now(),
            column.sql_type.fraction_digits(),
        ));
        self.store(now, &SqlType::DateTime { fsp: 6 }, column, row)
    }

    /// Computes the generated columns of a row that is otherwise complete; `slot` is where their expressions
    /// see it.
    pub fn generate(
        &mut self,
        rules: &RowRules,
        table: &TableDef,
        slot: usize,
        values: &mut [Value],
        row: u64,
    ) -> SqlAttempt<()> {
        let before = std::mem::take(self.state.frame.slots.at_mut(slot)?);
        let result = rules.generated.iter().try_for_each(|generated| {
            *self.state.frame.slots.at_mut(slot)? = Slot::Values((&*values).into());
            let column = table.columns.at(generated.column)?;
            let value = self.generated_value(generated, column, row);
            *values.at_mut(generated.column)? =
                value.map_err(|blocked| blocked.map_err(|error| in_table(error, table, column)))?;
            Ok(())
        });
        *self.state.frame.slots.at_mut(slot)? = before;
        result
    }

    fn generated_value(
        &mut self,
        generated: &GeneratedValue,
        column: &Column,
        row: u64,
    ) -> SqlAttempt<Value> {
        let compute = |cx: &mut Self| -> SqlAttempt<Value> {
            let value = generated.expr.eval(&mut cx.lend())?;
            if value.is_null() {
                return match column.nullable {
                    true => Ok(Value::Null),
                    false => Err(mysql_error!(ER_BAD_NULL_ERROR, column.name).into()),
                };
            }
            Ok(cx.store(value.as_ref(), &generated.expr.ty, column, row)?)
        };
        if generated.strict {
            return compute(self);
        }
        // What MySQL computes when it is read cannot fail a statement that writes.
        let (strict, warnings) = (std::mem::take(&mut self.state.strict), self.session.warnings.clone());
        let value = compute(self);
        (self.state.strict, self.session.warnings) = (strict, warnings);
        value
    }

    /// Fails with 3819 if a check is false for a row; `slot` is where the conditions see it.
    pub fn check_row(&mut self, rules: &RowRules, slot: usize, values: &[Value]) -> SqlAttempt<()> {
        let checks = &rules.checks;
        if checks.is_empty() {
            return Ok(());
        }
        let before = std::mem::replace(self.state.frame.slots.at_mut(slot)?, Slot::Values(values.into()));
        let mut result = Ok(());
        for check in checks {
            match check.condition.test(&mut self.lend()) {
                Ok(truth) => {
                    let violated = match &check.view {
                        None if truth == Some(false) => {
                            mysql_error!(ER_CHECK_CONSTRAINT_VIOLATED, check.name)
                        }
                        Some((schema, name)) if truth != Some(true) => {
                            mysql_error!(ER_VIEW_CHECK_FAILED, schema, name)
                        }
                        _ => continue,
                    };
                    result = Err(violated.into());
                    break;
                }
                Err(blocked) => {
                    result = Err(blocked);
                    break;
                }
            }
        }
        *self.state.frame.slots.at_mut(slot)? = before;
        result
    }
}

/// An error of storing a value; 3140 names the table, too.
pub fn in_table(error: SqlError, table: &TableDef, column: &Column) -> SqlError {
    if error.number() != ER_INVALID_JSON_TEXT.number {
        return error;
    }
    let own = format!("'{}'.", column.name);
    let full = format!("'{}.{}'.", table.name, column.name);
    let message = match error.message.strip_suffix(&own) {
        Some(start) => format!("{start}{full}"),
        None => error.message.clone(),
    };
    SqlError::with_message(&ER_INVALID_JSON_TEXT, message)
}

/// A row that cannot be encoded.
pub fn row_error(error: row::RowError) -> SqlError {
    match error {
        row::RowError::TooLong => mysql_error!(ER_TOO_BIG_ROWSIZE, 65_535),
        other => SqlError::with_message(&ER_UNKNOWN_ERROR, other.to_string()),
    }
}

/// Whether a text column is given the digits of a FLOAT that the same number has as a DOUBLE; a TEXT or BLOB
/// is so only by what is computed.
#[cold]
fn is_copied_as_double(expr: &Expr, ty: &SqlType) -> bool {
    match ty {
        SqlType::Text { .. } | SqlType::Blob { .. } => !expr.is_field(),
        ty => ty.is_string() && !matches!(ty, SqlType::Enum { .. } | SqlType::Set { .. } | SqlType::Json),
    }
}

/// A text too long for a column (1406), where it comes from another column of that type and collation whose
/// lengths are kept in as many bytes: MySQL copies it without a look at its type (1265).
#[cold]
fn too_long_for_copy(error: SqlError, expr: &Expr, column: &Column, row: u64) -> SqlError {
    let length_bytes = |ty: &SqlType| match ty {
        SqlType::VarChar { length, collation } => {
            let bytes = u64::from(*length) * u64::from(collation.get().charset.max_bytes());
            Some((bytes < 256, *collation))
        }
        SqlType::VarBinary { length } => Some((*length < 256, CollationId::BINARY)),
        _ => None,
    };
    let kept = length_bytes(&column.sql_type);
    match error.number() == ER_DATA_TOO_LONG.number && expr.is_field() && kept.is_some() {
        true if length_bytes(&expr.ty) == kept => mysql_error!(WARN_DATA_TRUNCATED, column.name, row),
        _ => error,
    }
}
