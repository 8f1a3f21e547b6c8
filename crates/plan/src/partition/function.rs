//! An expression over a table's columns whose value, a whole number, decides where a row belongs.
//!
//! Its columns are put into it as literals before it is evaluated, so that it needs no row in a slot. The
//! seconds of a TIMESTAMP column are put in instead of its UNIX_TIMESTAMP(): in any time zone a row has one
//! place.

use palisade_catalog::{SqlType, ValueRef};
use palisade_expr::{Context, Expr, Node, SqlAttempt};

use super::{RowValues, SchemeColumn};

/// The name of the function that a TIMESTAMP column may be the argument of.
const SECONDS: &str = "unix_timestamp";

/// How the value of a function of one column goes with the column's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// It is the column.
    Same,
    /// It never falls where the column rises.
    Rising {
        /// There are values of which it is NULL.
        may_be_null: bool,
    },
    /// Nothing is known.
    Any,
}

/// An expression, bound.
#[derive(Debug, Clone)]
pub struct Function {
    expr: Expr,
    columns: Vec<SchemeColumn>,
}

impl Function {
    /// The function that `expr` is, whose columns are all of one table.
    pub fn new(expr: Expr) -> Function {
        let mut columns: Vec<SchemeColumn> = Vec::new();
        expr.walk(&mut |part| {
            if let Node::Column { column, .. } = &part.node
                && !columns.iter().any(|known| known.position == *column)
            {
                columns.push(SchemeColumn { position: *column, ty: part.ty.clone() });
            }
        });
        Function { expr, columns }
    }

    /// The columns it reads, each once.
    pub fn columns(&self) -> &[SchemeColumn] {
        &self.columns
    }

    /// The expression.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// The column it is, if it is one.
    fn plain(&self) -> Option<usize> {
        match &self.expr.node {
            Node::Column { column, .. } => Some(*column),
            _ => None,
        }
    }

    /// How its value goes with that of its only column.
    pub fn course(&self) -> Course {
        if self.plain().is_some() {
            return Course::Same;
        }
        let Node::Call { function, arguments } = &self.expr.node else { return Course::Any };
        match (function.name, arguments.as_slice()) {
            ("year" | SECONDS, [Expr { node: Node::Column { .. }, .. }]) => {
                Course::Rising { may_be_null: false }
            }
            ("to_days" | "to_seconds", [Expr { node: Node::Column { .. }, .. }]) => {
                Course::Rising { may_be_null: true }
            }
            _ => Course::Any,
        }
    }

    /// Its value for a row.
    pub fn value(&self, cx: &mut Context<'_>, row: &RowValues<'_>) -> SqlAttempt<Option<i128>> {
        if let Some(column) = self.plain() {
            return Ok(number_of(row(column)));
        }
        let mut given = self.expr.clone();
        put_in(&mut given, row);
        Ok(number_of(given.eval(cx)?.as_ref()))
    }
}

/// Puts the values of a row in the place of its columns.
fn put_in(expr: &mut Expr, row: &RowValues<'_>) {
    let value = match &expr.node {
        Node::Column { column, .. } => row(*column),
        Node::Call { function, arguments } if function.name == SECONDS => match arguments.as_slice() {
            [Expr { node: Node::Column { column, .. }, .. }] => match row(*column) {
                ValueRef::Timestamp(at) => ValueRef::Int(at.0.div_euclid(1_000_000)),
                other => other,
            },
            _ => return,
        },
        _ => return expr.children_mut(&mut |child| put_in(child, row)),
    };
    let ty = match (&expr.node, &expr.ty) {
        (Node::Column { .. }, ty) => ty.clone(),
        (_, _) => SqlType::BIGINT,
    };
    *expr = Expr::literal(value.to_owned(), ty);
}

/// A value as a whole number; `None` of NULL, and of what is none.
pub fn number_of(value: ValueRef<'_>) -> Option<i128> {
    match value {
        ValueRef::Int(number) => Some(number.into()),
        ValueRef::UInt(number) => Some(number.into()),
        ValueRef::Year(year) => Some(year.into()),
        ValueRef::Bit { bits, .. } => Some(bits.into()),
        ValueRef::Decimal(decimal) => match (decimal.to_i64(), decimal.to_u64()) {
            (Ok(number), _) => Some(number.into()),
            (_, Ok(number)) => Some(number.into()),
            (Err(nearest), _) => Some(nearest.into()),
        },
        ValueRef::Double(number) => Some(number as i128),
        ValueRef::Float(number) => Some(number as i128),
        _ => None,
    }
}
