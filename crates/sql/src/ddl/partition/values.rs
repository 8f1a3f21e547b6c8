//! Bounds and members of partitions: constant expressions, folded to literals that mean the same whatever the
//! session is.

use std::cmp::Ordering;
use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::{Charset, SqlType, TableDef, Value, charset};
use palisade_expr::Expr as Bound;
use palisade_expr::convert::display_text;
use palisade_expr::place::At;
use palisade_parser::ast::{
    Expr, Literal, Name, PartitionMethod, PartitionValues, Partitioning, StringLiteral, UnaryOp,
};
use palisade_plan::bind::partition::{as_kept, constant};
use palisade_plan::bind::scope::Scope;
use palisade_plan::partition::order;

use super::function::is_allowed;
use super::{Ddl, kind_of};
use crate::SqlResult;

impl Ddl<'_> {
    /// Puts literals in the place of what a clause says of its partitions, and checks that these differ.
    pub(super) fn fold_values(&mut self, def: &TableDef, clause: &mut Partitioning) -> SqlResult<()> {
        let method = clause.method.clone();
        match &method {
            PartitionMethod::Hash { .. } | PartitionMethod::Key { .. } => Ok(()),
            PartitionMethod::Range(expr) | PartitionMethod::List(expr) => {
                let is_unsigned = is_unsigned(&self.bound(def, expr)?);
                self.fold_numbers(clause, is_unsigned)?;
                check_numbers(clause)
            }
            PartitionMethod::RangeColumns(columns) | PartitionMethod::ListColumns(columns) => {
                self.fold_columns(def, clause, columns)?;
                check_rows(def, clause, columns)
            }
        }
    }

    fn fold_numbers(&mut self, clause: &mut Partitioning, is_unsigned: bool) -> SqlResult<()> {
        let kind = kind_of(&clause.method);
        let is_range = kind == "RANGE";
        let last = clause.partitions.len().saturating_sub(1);
        for (number, partition) in clause.partitions.iter_mut().enumerate() {
            let name = partition.name.clone();
            match &mut partition.values {
                PartitionValues::None => {}
                PartitionValues::LessThan(bounds) => {
                    let [bound] = bounds.as_mut_slice() else {
                        return Err(mysql_error!(ER_TOO_MANY_VALUES_ERROR, kind));
                    };
                    match bound {
                        Some(expr) => *expr = self.number(expr, &name, (is_unsigned, is_range))?,
                        None if number != last => return Err(mysql_error!(ER_PARTITION_MAXVALUE_ERROR)),
                        None => {}
                    }
                }
                PartitionValues::In(rows) => {
                    for row in rows.iter_mut() {
                        let [value] = row.as_mut_slice() else {
                            return Err(mysql_error!(ER_TOO_MANY_VALUES_ERROR, kind));
                        };
                        *value = self.number(value, &name, (is_unsigned, is_range))?;
                    }
                    // As MySQL shows it.
                    rows.sort_by_key(|row| !matches!(row.as_slice(), [Expr::Literal(Literal::Null)]));
                }
            }
        }
        Ok(())
    }

    /// A bound or member of a partition of RANGE or LIST.
    fn number(
        &mut self,
        expr: &Expr,
        partition: &Name,
        (is_unsigned, is_range): (bool, bool),
    ) -> SqlResult<Expr> {
        let (value, _) = self.constant(expr)?;
        match value {
            Value::Null if is_range => Err(mysql_error!(ER_NULL_IN_VALUES_LESS_THAN)),
            Value::Int(number) if is_unsigned && number < 0 => {
                Err(mysql_error!(ER_PARTITION_CONST_DOMAIN_ERROR))
            }
            Value::Null | Value::Int(_) | Value::UInt(_) => Ok(literal_of(&value)),
            _ => Err(mysql_error!(ER_VALUES_IS_NOT_INT_TYPE_ERROR, partition)),
        }
    }

    fn fold_columns(&mut self, def: &TableDef, clause: &mut Partitioning, columns: &[Name]) -> SqlResult<()> {
        for partition in &mut clause.partitions {
            match &mut partition.values {
                PartitionValues::None => {}
                PartitionValues::LessThan(bounds) => {
                    check_width(bounds.len(), columns)?;
                    for (bound, column) in bounds.iter_mut().zip(columns) {
                        if let Some(expr) = bound {
                            *expr = self.column_value(def, expr, column, true)?;
                        }
                    }
                }
                PartitionValues::In(rows) => {
                    for row in rows {
                        check_width(row.len(), columns)?;
                        for (value, column) in row.iter_mut().zip(columns) {
                            *value = self.column_value(def, value, column, false)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A value of a column by which rows are partitioned.
    fn column_value(&mut self, def: &TableDef, expr: &Expr, name: &Name, is_range: bool) -> SqlResult<Expr> {
        let place = def.column_index(name).ok_or_else(|| mysql_error!(ER_FIELD_NOT_FOUND_PART_ERROR))?;
        let column = def.columns.at(place)?;
        let wrong = || mysql_error!(ER_WRONG_TYPE_COLUMN_VALUE_ERROR);
        let (value, ty) = self.constant(expr)?;
        let folded = match (&column.sql_type, value) {
            (_, Value::Null) if is_range => return Err(mysql_error!(ER_NULL_IN_VALUES_LESS_THAN)),
            (_, Value::Null) => return Ok(Expr::Literal(Literal::Null)),
            (SqlType::Int { .. }, value @ (Value::Int(_) | Value::UInt(_))) => literal_of(&value),
            (SqlType::Int { .. }, _) | (_, Value::Int(_) | Value::UInt(_)) => return Err(wrong()),
            (SqlType::Binary { .. } | SqlType::VarBinary { .. }, Value::Bytes(bytes)) => {
                Expr::Literal(Literal::Hex(bytes.to_vec(), Some("binary".to_owned())))
            }
            (SqlType::Binary { .. } | SqlType::VarBinary { .. }, Value::Bit { bits, width }) => {
                Expr::Literal(Literal::Hex(bytes_of(bits, width), Some("binary".to_owned())))
            }
            (_, Value::Bytes(bytes)) => {
                let own = ty.collation().get().charset;
                let mut text = Vec::new();
                match own {
                    Charset::Binary | Charset::Utf8mb4 => text.extend_from_slice(&bytes),
                    own => drop(charset::convert(&bytes, own, Charset::Utf8mb4, &mut text)),
                }
                string(text)
            }
            (_, value) if ty.is_temporal() => string(display_text(value.as_ref(), &ty).into_bytes()),
            _ => return Err(wrong()),
        };
        let (value, ty) = constant(&folded)?;
        match as_kept(column, &value, &ty) {
            Some(_) => Ok(folded),
            None => Err(wrong()),
        }
    }

    /// The value of a constant expression, and its type.
    fn constant(&mut self, expr: &Expr) -> SqlResult<(Value, SqlType)> {
        if matches!(expr, Expr::Literal(Literal::Null | Literal::Integer(_))) {
            return constant(expr);
        }
        let (mut allowed, mut column) = (true, None);
        expr.clone().walk_mut(&mut |part| {
            allowed &= is_allowed(part);
            if let Expr::Column(found) = part {
                column.get_or_insert_with(|| found.column.clone());
            }
        });
        if let Some(column) = column {
            return Err(mysql_error!(ER_BAD_FIELD_ERROR, column, "partition function"));
        }
        if !allowed {
            return Err(mysql_error!(ER_PARTITION_FUNCTION_IS_NOT_ALLOWED));
        }
        let (bound, plan) = {
            let dictionary = self.engine.dictionary();
            let mut binder = self.session.binder(self.host, self.engine, &dictionary, &[]);
            binder.scopes.push(Scope::default());
            let bound = binder.expr(expr)?;
            binder.scopes.pop();
            (bound, binder.finish(None)?)
        };
        let mut context = self.session.context(self.host, self.engine, &[], Some(Arc::new(plan)));
        let cx = &mut context.view();
        let value = cx.in_one_go(|cx| bound.eval(&mut cx.lend())).map_err(|blocked| match blocked {
            Blocked::Error(error) => error,
            Blocked::Wait(_) => mysql_error!(ER_PARTITION_FUNCTION_IS_NOT_ALLOWED),
        })?;
        Ok((value, bound.ty))
    }
}

fn check_width(values: usize, columns: &[Name]) -> SqlResult<()> {
    match values == columns.len() {
        true => Ok(()),
        false => Err(mysql_error!(ER_PARTITION_COLUMN_LIST_ERROR)),
    }
}

fn bytes_of(bits: u64, width: u8) -> Vec<u8> {
    let bytes = bits.to_be_bytes();
    let skipped = bytes.len().saturating_sub(usize::from(width).div_ceil(8));
    bytes.get(skipped..).unwrap_or_default().to_vec()
}

fn string(value: Vec<u8>) -> Expr {
    Expr::Literal(Literal::String(StringLiteral { value, charset: None }))
}

/// A number, or NULL, as a literal.
fn literal_of(value: &Value) -> Expr {
    match value {
        Value::Int(number) if *number < 0 => {
            let positive = Expr::Literal(Literal::Integer(number.unsigned_abs()));
            Expr::Unary(UnaryOp::Minus, Box::new(positive))
        }
        Value::Int(number) => Expr::Literal(Literal::Integer(number.unsigned_abs())),
        Value::UInt(number) => Expr::Literal(Literal::Integer(*number)),
        _ => Expr::Literal(Literal::Null),
    }
}

fn is_unsigned(expr: &Bound) -> bool {
    matches!(expr.ty, SqlType::Int { unsigned: true, .. } | SqlType::Bit { .. })
}

fn number_of(expr: &Expr) -> SqlResult<Option<i128>> {
    Ok(match constant(expr)?.0 {
        Value::Int(number) => Some(number.into()),
        Value::UInt(number) => Some(number.into()),
        _ => None,
    })
}

/// 1493 for bounds that do not rise, 1495 for a member of two lists.
fn check_numbers(clause: &Partitioning) -> SqlResult<()> {
    let mut before: Option<i128> = None;
    let mut members: Vec<Option<i128>> = Vec::new();
    for partition in &clause.partitions {
        match &partition.values {
            PartitionValues::None => {}
            PartitionValues::LessThan(bounds) => {
                let Some(Some(bound)) = bounds.first() else { continue };
                let bound = number_of(bound)?;
                if before.is_some() && bound <= before {
                    return Err(mysql_error!(ER_RANGE_NOT_INCREASING_ERROR));
                }
                before = bound;
            }
            PartitionValues::In(rows) => {
                for row in rows {
                    let Some(value) = row.first() else { continue };
                    members.push(number_of(value)?);
                }
            }
        }
    }
    members.sort_unstable();
    match members.windows(2).any(|pair| matches!(pair, [one, other] if one == other)) {
        true => Err(mysql_error!(ER_MULTIPLE_DEF_CONST_IN_LIST_PART_ERROR)),
        false => Ok(()),
    }
}

/// The same of RANGE COLUMNS and LIST COLUMNS.
fn check_rows(def: &TableDef, clause: &Partitioning, columns: &[Name]) -> SqlResult<()> {
    let mut known = Vec::with_capacity(columns.len());
    for name in columns {
        let place = def.column_index(name).ok_or_else(|| mysql_error!(ER_FIELD_NOT_FOUND_PART_ERROR))?;
        known.push(def.columns.at(place)?);
    }
    let kept = |exprs: &mut dyn Iterator<Item = Option<&Expr>>| -> SqlResult<Vec<Option<Value>>> {
        let mut row = Vec::with_capacity(known.len());
        for (expr, column) in exprs.zip(&known) {
            row.push(match expr {
                Some(expr) => {
                    let (value, ty) = constant(expr)?;
                    as_kept(column, &value, &ty)
                }
                None => None,
            });
        }
        Ok(row)
    };
    // MAXVALUE is above all values.
    let compare = |one: &[Option<Value>], other: &[Option<Value>]| {
        for ((one, other), column) in one.iter().zip(other).zip(&known) {
            let found = match (one, other) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(one), Some(other)) => order(&column.sql_type, one.as_ref(), other.as_ref()),
            };
            // Behind MAXVALUE nothing is compared.
            if found != Ordering::Equal || one.is_none() {
                return found;
            }
        }
        Ordering::Equal
    };
    let mut before: Option<Vec<Option<Value>>> = None;
    let mut members: Vec<Vec<Option<Value>>> = Vec::new();
    for partition in &clause.partitions {
        match &partition.values {
            PartitionValues::None => {}
            PartitionValues::LessThan(bounds) => {
                let bound = kept(&mut bounds.iter().map(Option::as_ref))?;
                if before.as_ref().is_some_and(|before| compare(&bound, before) != Ordering::Greater) {
                    return Err(mysql_error!(ER_RANGE_NOT_INCREASING_ERROR));
                }
                before = Some(bound);
            }
            PartitionValues::In(rows) => {
                for row in rows {
                    members.push(kept(&mut row.iter().map(Some))?);
                }
            }
        }
    }
    members.sort_by(|one, other| compare(one, other));
    let is_same =
        |pair: &[Vec<Option<Value>>]| matches!(pair, [one, other] if compare(one, other) == Ordering::Equal);
    match members.windows(2).any(is_same) {
        true => Err(mysql_error!(ER_MULTIPLE_DEF_CONST_IN_LIST_PART_ERROR)),
        false => Ok(()),
    }
}
