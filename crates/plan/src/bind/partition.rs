//! From the text of a PARTITION BY to what it does.

use std::cmp::Ordering;

use palisade_base::error_catalogue::ER_FIELD_NOT_FOUND_PART_ERROR;
use palisade_base::mysql_error;
use palisade_catalog::partition_hash::KeyAlgorithm;
use palisade_catalog::store::{self, StoreContext};
use palisade_catalog::temporal::{TemporalMode, Timestamp};
use palisade_catalog::{CollationId, Column, SqlType, TableDef, Value, Zone};
use palisade_expr::place::At;
use palisade_expr::{SqlError, SqlResult};
use palisade_parser::ast::{
    self, Expr, Literal, PartitionMethod, PartitionValues, Partitioning, StringLiteral, UnaryOp,
};

use super::scope::{Scope, Source};
use super::{Binder, parse_error};
use crate::partition::function::{Function, number_of};
use crate::partition::{Method, PartitionScheme, SchemeColumn, Spread, order};

/// The PARTITION BY of a definition; `None` if it has none.
pub fn clause_of(def: &TableDef) -> SqlResult<Option<Partitioning>> {
    let Some(text) = &def.partitioning else { return Ok(None) };
    let options = palisade_parser::ParseOptions::default();
    palisade_parser::parse_partitioning(text.as_bytes(), options).map(Some).map_err(parse_error)
}

/// The columns that a PARTITION BY names; those of the key by which it partitions if it says KEY().
pub fn columns_read(def: &TableDef, clause: &Partitioning) -> SqlResult<Vec<usize>> {
    let mut columns = Vec::new();
    let mut methods = vec![&clause.method];
    methods.extend(&clause.subpartition);
    for method in methods {
        match method {
            PartitionMethod::Hash { expr, .. }
            | PartitionMethod::Range(expr)
            | PartitionMethod::List(expr) => {
                let mut found = Vec::new();
                expr.clone().walk_mut(&mut |part| {
                    if let Expr::Column(column) = part {
                        found.push(std::mem::take(&mut column.column));
                    }
                });
                for name in found {
                    columns.push(column_of(def, &name)?);
                }
            }
            PartitionMethod::Key { columns: names, .. } if names.is_empty() => columns.extend(key_of(def)?),
            PartitionMethod::Key { columns: names, .. }
            | PartitionMethod::RangeColumns(names)
            | PartitionMethod::ListColumns(names) => {
                for name in names {
                    columns.push(column_of(def, name)?);
                }
            }
        }
    }
    columns.sort_unstable();
    columns.dedup();
    Ok(columns)
}

fn column_of(def: &TableDef, name: &str) -> SqlResult<usize> {
    let found = def.column_index(name).filter(|place| Some(*place) != def.row_id_column());
    found.ok_or_else(|| mysql_error!(ER_FIELD_NOT_FOUND_PART_ERROR))
}

/// The columns of KEY(): of the primary key, or of the first unique key that has no NULL.
fn key_of(def: &TableDef) -> SqlResult<Vec<usize>> {
    let key = def.clustering_index().ok_or_else(|| mysql_error!(ER_FIELD_NOT_FOUND_PART_ERROR))?;
    Ok(key.parts.iter().map(|part| usize::from(part.column)).collect())
}

impl Binder<'_> {
    /// How the rows of a table are partitioned, if they are; the table is the one in the innermost scope.
    pub fn partition_scheme(&mut self, def: &TableDef) -> SqlResult<Option<PartitionScheme>> {
        let Some(clause) = clause_of(def)? else { return Ok(None) };
        self.scheme_of(def, &clause).map(Some)
    }

    /// What a clause does whose values are literals.
    pub fn scheme_of(&mut self, def: &TableDef, clause: &Partitioning) -> SqlResult<PartitionScheme> {
        let listed = clause.partitions.len();
        let parts = if listed > 0 { listed } else { clause.count.unwrap_or(1) as usize };
        let method = match &clause.method {
            PartitionMethod::Hash { .. } | PartitionMethod::Key { .. } => {
                Method::Spread(self.spread(def, &clause.method)?, parts)
            }
            PartitionMethod::Range(expr) => {
                let function = Function::new(self.expr(expr)?);
                let mut bounds = Vec::with_capacity(listed);
                for values in bounds_of(clause) {
                    bounds.push(match values.first() {
                        Some(Some(value)) => number_of(constant(value)?.0.as_ref()),
                        _ => None,
                    });
                }
                Method::Range(function, bounds)
            }
            PartitionMethod::List(expr) => {
                let function = Function::new(self.expr(expr)?);
                let (mut members, mut null) = (Vec::new(), None);
                for (part, value) in members_of(clause) {
                    let Some(value) = value.first() else { continue };
                    match number_of(constant(value)?.0.as_ref()) {
                        Some(number) => members.push((number, part)),
                        None => null = Some(part),
                    }
                }
                members.sort_unstable();
                Method::List(function, members, null)
            }
            PartitionMethod::RangeColumns(names) => {
                let columns = columns_of(def, names)?;
                let mut bounds = Vec::with_capacity(listed);
                for values in bounds_of(clause) {
                    let bound = columns.iter().zip(values).map(|(column, value)| match value {
                        Some(value) => kept(def, column, value).map(Some),
                        None => Ok(None),
                    });
                    bounds.push(bound.collect::<SqlResult<Vec<_>>>()?);
                }
                Method::RangeColumns(columns, bounds)
            }
            PartitionMethod::ListColumns(names) => {
                let columns = columns_of(def, names)?;
                let mut members: Vec<(Vec<Value>, usize)> = Vec::new();
                for (part, values) in members_of(clause) {
                    let row = columns.iter().zip(values).map(|(column, value)| kept(def, column, value));
                    members.push((row.collect::<SqlResult<Vec<_>>>()?, part));
                }
                let compare = |one: &[Value], other: &[Value]| {
                    let pairs = columns.iter().zip(one.iter().zip(other));
                    let orders =
                        pairs.map(|(column, (one, other))| order(&column.ty, one.as_ref(), other.as_ref()));
                    orders.fold(Ordering::Equal, Ordering::then)
                };
                members.sort_by(|(one, _), (other, _)| compare(one, other));
                Method::ListColumns(columns, members)
            }
        };
        let subpartitions = match &clause.subpartition {
            Some(method) => Some((self.spread(def, method)?, subpartition_count(clause))),
            None => None,
        };
        Ok(PartitionScheme::new(method, subpartitions, parts))
    }

    /// The same of a definition that is no table yet.
    pub fn scheme_of_definition(
        &mut self,
        def: &TableDef,
        clause: &Partitioning,
    ) -> SqlResult<PartitionScheme> {
        self.over_definition(def, |binder| binder.scheme_of(def, clause))
    }

    /// An expression over the columns of a definition.
    pub fn expr_of_definition(&mut self, def: &TableDef, expr: &Expr) -> SqlResult<palisade_expr::Expr> {
        self.over_definition(def, |binder| binder.expr(expr))
    }

    fn over_definition<T>(
        &mut self,
        def: &TableDef,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let slot = self.new_slot();
        self.scopes.push(Scope { sources: vec![Source::of_definition(slot, def)], ..Scope::default() });
        let bound = bind(self);
        self.scopes.pop();
        bound
    }

    fn spread(&mut self, def: &TableDef, method: &PartitionMethod) -> SqlResult<Spread> {
        match method {
            PartitionMethod::Key { linear, algorithm, columns } => {
                let columns = match columns.is_empty() {
                    true => key_of(def)?.into_iter().map(|place| column_at(def, place)).collect(),
                    false => columns_of(def, columns),
                };
                let algorithm =
                    if *algorithm == Some(1) { KeyAlgorithm::First } else { KeyAlgorithm::Second };
                Ok(Spread::Key { columns: columns?, algorithm, linear: *linear })
            }
            PartitionMethod::Hash { linear, expr } => {
                Ok(Spread::Value { function: Function::new(self.expr(expr)?), linear: *linear })
            }
            _ => Err(SqlError::internal("rows are spread by HASH or KEY")),
        }
    }
}

/// How many subpartitions each partition of a clause has; 1 if it has none.
pub(super) fn subpartition_count(clause: &Partitioning) -> usize {
    if clause.subpartition.is_none() {
        return 1;
    }
    let listed = clause.partitions.first().map_or(0, |first| first.subpartitions.len());
    if listed > 0 { listed } else { clause.subpartition_count.unwrap_or(1).max(1) as usize }
}

fn bounds_of(clause: &Partitioning) -> impl Iterator<Item = &[Option<Expr>]> {
    clause.partitions.iter().map(|partition| match &partition.values {
        PartitionValues::LessThan(values) => values.as_slice(),
        _ => &[],
    })
}

/// The rows of values of all lists, each with the number of its part.
fn members_of(clause: &Partitioning) -> impl Iterator<Item = (usize, &[Expr])> {
    clause.partitions.iter().enumerate().flat_map(|(part, partition)| {
        let rows = match &partition.values {
            PartitionValues::In(rows) => rows.as_slice(),
            _ => &[],
        };
        rows.iter().map(move |row| (part, row.as_slice()))
    })
}

fn column_at(def: &TableDef, position: usize) -> SqlResult<SchemeColumn> {
    Ok(SchemeColumn { position, ty: def.columns.at(position)?.sql_type.clone() })
}

fn columns_of(def: &TableDef, names: &[String]) -> SqlResult<Vec<SchemeColumn>> {
    names.iter().map(|name| column_at(def, column_of(def, name)?)).collect()
}

/// The value that a literal of a kept clause is, and its type.
pub fn constant(expr: &Expr) -> SqlResult<(Value, SqlType)> {
    let negated = |number: u64| i64::try_from(-i128::from(number)).ok();
    Ok(match expr {
        Expr::Literal(Literal::Null) => (Value::Null, SqlType::Null),
        Expr::Literal(Literal::Integer(number)) => match i64::try_from(*number) {
            Ok(number) => (Value::Int(number), SqlType::BIGINT),
            Err(_) => (Value::UInt(*number), SqlType::BIGINT_UNSIGNED),
        },
        Expr::Literal(Literal::String(StringLiteral { value, .. })) => {
            let ty = SqlType::VarChar { length: value.len() as u32, collation: CollationId::UTF8MB4_BIN };
            (Value::bytes(value.as_slice()), ty)
        }
        Expr::Literal(Literal::Hex(bytes, _)) => {
            (Value::bytes(bytes.as_slice()), SqlType::VarBinary { length: bytes.len() as u32 })
        }
        Expr::Unary(UnaryOp::Minus, operand) => match &**operand {
            Expr::Literal(Literal::Integer(number)) => match negated(*number) {
                Some(number) => (Value::Int(number), SqlType::BIGINT),
                None => return Err(not_a_literal()),
            },
            _ => return Err(not_a_literal()),
        },
        _ => return Err(not_a_literal()),
    })
}

fn not_a_literal() -> SqlError {
    SqlError::internal("a kept PARTITION BY has literals as its values")
}

/// A literal as a column keeps it.
fn kept(def: &TableDef, column: &SchemeColumn, expr: &ast::Expr) -> SqlResult<Value> {
    let (value, ty) = constant(expr)?;
    as_kept(def.columns.at(column.position)?, &value, &ty).ok_or_else(not_a_literal)
}

/// A value as a column keeps it; `None` where it is changed by that.
pub fn as_kept(column: &Column, value: &Value, ty: &SqlType) -> Option<Value> {
    let context = StoreContext {
        strict: true,
        strict_mode: true,
        temporal: TemporalMode::default(),
        zone: &Zone::UTC,
        source: ty,
        began: Timestamp(0),
    };
    if value.is_null() {
        return Some(Value::Null);
    }
    let mut is_changed = false;
    let stored = store::coerce(value.as_ref(), column, &context, &mut |_| is_changed = true).ok()?;
    (!is_changed).then_some(stored)
}
