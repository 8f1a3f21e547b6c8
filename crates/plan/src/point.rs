//! The short path: one row by its complete unique key, its columns sent as they are.
//!
//! `SELECT c FROM t WHERE id = ?` needs none of what operators are for. The key is made straight from the
//! parameters, the row is read into a buffer that the session keeps, and its columns go to the sink as views
//! of it.

use std::sync::Arc;

use palisade_catalog::types::IntWidth;
use palisade_catalog::{SqlType, Value, ValueRef, key};
use palisade_engine::{ReadMode, Table};
use palisade_expr::{Expr, Node};
use smallvec::SmallVec;

use super::{Operator, Query};

/// A query that reads one row by its key.
#[derive(Debug)]
pub struct PointPlan {
    /// The table.
    pub table: Arc<Table>,
    /// The index that `key` is of.
    pub index: usize,
    key: Vec<KeySource>,
    /// Columns of the result.
    pub columns: Vec<usize>,
}

/// Where a part of the key comes from, and what it must be.
#[derive(Debug)]
struct KeySource {
    value: Source,
    kind: KeyKind,
}

#[derive(Debug)]
enum Source {
    Parameter(usize),
    Literal(Value),
}

/// Which values are keys of the column as they are.
#[derive(Debug, Clone, Copy)]
enum KeyKind {
    Int { width: IntWidth, unsigned: bool },
    Text,
}

impl PointPlan {
    /// The short path for a query, if it has one.
    pub fn of(query: &Query) -> Option<PointPlan> {
        let Operator::Scan { slot, table, access, filter: None, mode: ReadMode::Snapshot, .. } = &query.root
        else {
            return None;
        };
        if !access.unique
            || access.pruning.is_some()
            || query.counted_limit.is_some()
            || !query.outer_slots.is_empty()
        {
            return None;
        }
        let parts = &table.indexes.get(access.index)?.parts;
        let mut key = Vec::with_capacity(parts.len());
        for (part, given) in parts.iter().zip(&access.equals) {
            let ty = &table.columns.get(usize::from(part.column))?.sql_type;
            key.push(KeySource { value: source(&given.value)?, kind: key_kind(ty)? });
        }
        let mut columns = Vec::with_capacity(query.output.len());
        for expr in &query.output {
            match expr.as_plain_column() {
                Some((from, column)) if from == *slot => columns.push(column),
                _ => return None,
            }
        }
        Some(PointPlan { table: table.clone(), index: access.index, key, columns })
    }

    /// Makes the key; false if a value is not one of the column's own kind, which is for the long path to
    /// judge.
    #[inline]
    pub fn make_key(&self, parameters: &[Value], out: &mut Vec<u8>) -> bool {
        let mut values = SmallVec::<[ValueRef<'_>; 4]>::new();
        for part in &self.key {
            let value = match &part.value {
                Source::Parameter(number) => match parameters.get(*number) {
                    Some(value) => value.as_ref(),
                    None => return false,
                },
                Source::Literal(value) => value.as_ref(),
            };
            match part.kind.exact(value) {
                Some(value) => values.push(value),
                None => return false,
            }
        }
        out.clear();
        key::search_key(&self.table, self.index, &values, out).is_ok()
    }
}

impl KeyKind {
    fn exact<'v>(self, value: ValueRef<'v>) -> Option<ValueRef<'v>> {
        match (self, value) {
            (KeyKind::Int { width, unsigned: false }, ValueRef::Int(number)) => {
                let (least, most) = width.signed_range();
                (least..=most).contains(&number).then_some(value)
            }
            (KeyKind::Int { width, unsigned: true }, ValueRef::Int(number)) => {
                let number = u64::try_from(number).ok()?;
                (number <= width.unsigned_max()).then_some(ValueRef::UInt(number))
            }
            (KeyKind::Int { width, unsigned: true }, ValueRef::UInt(number)) => {
                (number <= width.unsigned_max()).then_some(value)
            }
            (KeyKind::Text, ValueRef::Bytes(_)) => Some(value),
            _ => None,
        }
    }
}

fn source(expr: &Expr) -> Option<Source> {
    match &expr.node {
        Node::Parameter(number) => Some(Source::Parameter(*number)),
        Node::Literal(value) => Some(Source::Literal(value.clone())),
        _ => None,
    }
}

fn key_kind(ty: &SqlType) -> Option<KeyKind> {
    match ty {
        SqlType::Int { width, unsigned } => Some(KeyKind::Int { width: *width, unsigned: *unsigned }),
        SqlType::Char { .. } | SqlType::VarChar { .. } | SqlType::VarBinary { .. } => Some(KeyKind::Text),
        _ => None,
    }
}
