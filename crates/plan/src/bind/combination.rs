//! Queries over queries: UNION and its kin, and what orders and limits them.

use palisade_base::error_catalogue::{
    ER_AGGREGATE_ORDER_FOR_UNION, ER_CANT_AGGREGATE_NCOLLATIONS, ER_INVALID_GROUP_FUNC_USE,
    ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
};
use palisade_base::mysql_error;
use palisade_catalog::SqlType;
use palisade_expr::common::common_column;
use palisade_expr::func::control::COALESCE;
use palisade_expr::order::SortKey;
use palisade_expr::place::At;
use palisade_expr::{CastTarget, Coercibility, Expr, Node, SqlResult};
use palisade_parser::ast::{self, QueryBody, SetOperator};
use palisade_session::sink::ColumnMeta;

use super::Binder;
use super::scope::{Clause, Scope};
use super::select::slot_column;
use super::types::transcode_for_column;
use crate::SetStep;
use crate::logical::{Body, Combination, LogicalQuery, Order};

impl Binder<'_> {
    /// ORDER BY and LIMIT over a finished query: only its own columns can be ordered by.
    pub(super) fn over(
        &mut self,
        inner: LogicalQuery,
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
    ) -> SqlResult<LogicalQuery> {
        let slot = self.new_slot();
        let column = |(position, (expr, meta)): (usize, (&Expr, &ColumnMeta))| {
            slot_column(slot, position, &meta.name, expr.ty.clone(), expr.nullable)
        };
        let output: Vec<Expr> = inner.output.iter().zip(&inner.columns).enumerate().map(column).collect();
        let columns = inner.columns.clone();
        let order = self.order_over(&columns, &output, order_by, limit)?;
        let (outer_slots, outer_columns) = (inner.outer_slots.clone(), inner.outer_columns.clone());
        let body = Body::Arranged { inner: Box::new(inner), slot, order };
        Ok(LogicalQuery { body, output, columns, outer_slots, outer_columns })
    }

    /// Binds a combination: each query is projected into one slot, in the types that hold the values of all.
    pub(super) fn combination(
        &mut self,
        first: &QueryBody,
        rest: &[ast::CombinationTerm],
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
    ) -> SqlResult<LogicalQuery> {
        let mut parts = vec![self.body(first, &[], None)?];
        let mut steps = Vec::with_capacity(rest.len());
        for term in rest {
            let part = self.body(&term.body, &[], None)?;
            if part.output.len() != parts.at(0)?.output.len() {
                return Err(mysql_error!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
            }
            parts.push(part);
            steps.push(match (term.operator, term.all) {
                (SetOperator::Union, true) => SetStep::UnionAll,
                (SetOperator::Union, false) => SetStep::Union,
                (SetOperator::Except, all) => SetStep::Except { all },
                (SetOperator::Intersect, all) => SetStep::Intersect { all },
            });
        }
        let slot = self.new_slot();
        let connection = self.collation_connection();
        let mut columns = Vec::new();
        let mut output = Vec::new();
        let mut types = Vec::new();
        for position in 0..parts.at(0)?.output.len() {
            let values = parts.iter().map(|part| part.output.at(position));
            let values: Vec<&Expr> = values.collect::<SqlResult<_>>()?;
            let shape = common_column(&values, connection, "UNION")?;
            if shape.coercibility == Coercibility::Conflict {
                return Err(mysql_error!(ER_CANT_AGGREGATE_NCOLLATIONS, "UNION"));
            }
            let ty = match shape.ty {
                SqlType::Null => SqlType::Binary { length: 0 },
                ty => ty,
            };
            let name = parts.at(0)?.columns.at(position)?.name.clone();
            let mut expr = slot_column(slot, position, &name, ty.clone(), shape.nullable);
            expr.coercibility = shape.coercibility;
            let mut meta = ColumnMeta::computed(name, ty.clone());
            if !shape.nullable {
                meta.flags |= palisade_catalog::types::flags::NOT_NULL;
            }
            columns.push(meta);
            output.push(expr);
            types.push(ty);
        }
        let mut outer_slots: Vec<usize> = parts.iter().flat_map(|part| part.outer_slots.clone()).collect();
        outer_slots.dedup();
        let outer_columns = parts.iter().flat_map(|part| part.outer_columns.clone()).collect();
        self.last_derived = None;
        for part in &mut parts {
            let output = std::mem::take(&mut part.output).into_iter().zip(&types);
            part.output = output.map(|(expr, ty)| converted(expr, ty)).collect::<SqlResult<_>>()?;
        }
        let order = self.order_over(&columns, &output, order_by, limit)?;
        let body = Body::Combination(Box::new(Combination { inputs: parts, steps, slot, types, order }));
        Ok(LogicalQuery { body, output, columns, outer_slots, outer_columns })
    }

    /// ORDER BY's keys over a combination, which aggregates nothing: 3028.
    fn combined_keys(&mut self, order_by: &[ast::OrderItem]) -> SqlResult<Vec<SortKey>> {
        let mut keys = Vec::with_capacity(order_by.len());
        for (number, item) in order_by.iter().enumerate() {
            keys.extend(self.order_keys(std::slice::from_ref(item)).map_err(|error| {
                match error.number() == ER_INVALID_GROUP_FUNC_USE.number {
                    true => mysql_error!(ER_AGGREGATE_ORDER_FOR_UNION, number + 1),
                    false => error,
                }
            })?);
        }
        Ok(keys)
    }

    /// ORDER BY and LIMIT over a query's columns, which are those of one slot.
    fn order_over(
        &mut self,
        columns: &[ColumnMeta],
        output: &[Expr],
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
    ) -> SqlResult<Order> {
        if order_by.is_empty() && limit.is_none() {
            return Ok(Order::default());
        }
        self.scopes.push(Scope {
            items: columns.iter().map(|meta| meta.name.clone()).zip(output.iter().cloned()).collect(),
            clause: Clause::Order,
            ..Scope::default()
        });
        let keys = self.combined_keys(order_by);
        self.scopes.pop();
        Ok(Order { keys: keys?, limit: self.limit(limit)? })
    }
}

/// `expr` in the type that a UNION gives its column.
fn converted(mut expr: Expr, ty: &SqlType) -> SqlResult<Expr> {
    if ty.is_text() {
        transcode_for_column(&mut expr, ty.collation())?;
    }
    let is_number = expr.ty == SqlType::Year && !expr.is_field();
    if expr.ty == *ty && !is_number || matches!(expr.ty, SqlType::Null) {
        return Ok(expr);
    }
    let (nullable, coercibility) = (expr.nullable, expr.coercibility);
    // A BIT or YEAR among texts is its number; but among those of a TEXT or BLOB a BIT is its bytes, and a
    // FLOAT is written as itself.
    let is_lob = matches!(ty, SqlType::Text { .. } | SqlType::Blob { .. });
    let expr = match expr.ty {
        SqlType::Bit { .. } | SqlType::Float { .. } if is_lob => expr,
        SqlType::Year if *ty == SqlType::Year => {
            let node = Node::Cast { operand: Box::new(expr), target: CastTarget::KeptYear };
            return Ok(Expr { node, ty: SqlType::Year, nullable, coercibility });
        }
        SqlType::Bit { .. } | SqlType::Year if ty.is_string() => {
            let node = Node::Cast { operand: Box::new(expr), target: CastTarget::Unsigned };
            Expr::computed(node, SqlType::BIGINT_UNSIGNED, nullable)
        }
        // The digits that it is shown with say nothing of it among texts.
        SqlType::Float { .. } | SqlType::Double { digits: Some(_), .. } if ty.is_string() => {
            let is_narrow = matches!((&expr.ty, &expr.node), (SqlType::Float { .. }, Node::Column { .. }));
            let width = match ty {
                SqlType::Char { length, .. }
                | SqlType::VarChar { length, .. }
                | SqlType::Binary { length }
                | SqlType::VarBinary { length }
                    if is_narrow =>
                {
                    Some(*length)
                }
                _ => None,
            };
            let target = CastTarget::ColumnText { width };
            let node = Node::Cast { operand: Box::new(expr), target };
            Expr::computed(node, ty.clone(), nullable)
        }
        _ => expr,
    };
    let node = match ty {
        SqlType::Binary { length } => {
            let target = CastTarget::Binary { length: Some(u64::from(*length)) };
            Node::Cast { operand: Box::new(expr), target }
        }
        _ => Node::Call { function: COALESCE, arguments: vec![expr] },
    };
    Ok(Expr { node, ty: ty.clone(), nullable, coercibility })
}
