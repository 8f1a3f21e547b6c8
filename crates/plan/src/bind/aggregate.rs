//! Aggregates: bound where they stand, computed by the block's grouping.

use std::sync::Arc;

use palisade_base::error_catalogue::{
    ER_INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE, ER_INVALID_GROUP_FUNC_USE, ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT,
};
use palisade_base::mysql_error;
use palisade_catalog::types::LobSize;
use palisade_catalog::{SqlType, Value};
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::arithmetic::{decimal_shape, double_of_scale, double_scale};
use palisade_expr::common::text_of;
use palisade_expr::compare::{incompatible, result_collation};
use palisade_expr::convert::is_chosen;
use palisade_expr::func::control::{ANY_VALUE, COALESCE, IF, NULLIF};
use palisade_expr::order::SortKey;
use palisade_expr::place::At;
use palisade_expr::{CastTarget, Coercibility, Expr, Node, SqlResult, Truth, bits};
use palisade_parser::ast::{self, AggregateKind};

use super::Binder;
use super::scope::Scope;
use super::types::{
    Member, as_number, date_text_as_integer, member_as_text, text_column_as_integer, transcode_to,
};
use crate::conditions::expr_slots;
use crate::logical::OuterColumn;

/// Bytes that an operand of BIT_AND and its like has at most.
const LONGEST_BIT_STRING: u32 = 511;

/// MIN and MAX of what COALESCE or IFNULL takes among bits are bits; others as they are.
fn as_bits(argument: Expr) -> Expr {
    let choices = match &argument.node {
        Node::Call { function, arguments } if matches!(function.name, "coalesce" | "ifnull") => arguments,
        _ => return argument,
    };
    let width = |choice: &Expr| match choice.ty {
        SqlType::Bit { width } => Some(width),
        _ => None,
    };
    let known = || choices.iter().filter(|choice| choice.ty != SqlType::Null);
    let Some(widest) = known().filter_map(width).max().filter(|_| known().all(|one| width(one).is_some()))
    else {
        return argument;
    };
    let branch = |choice: &Expr| {
        let operand = Box::new(choice.clone());
        (Expr::truth(Node::Is { operand, truth: Truth::Null, negated: true }, false), choice.clone())
    };
    let node = Node::Case { branches: known().map(branch).collect(), otherwise: None };
    Expr::computed(node, SqlType::Bit { width: widest }, true)
}

impl Binder<'_> {
    /// An aggregate as a column of the groups' slot.
    pub fn aggregate(&mut self, aggregate: &ast::Aggregate) -> SqlResult<Expr> {
        if let Some(over) = &aggregate.over {
            return self.window_aggregate(aggregate, over);
        }
        let Some(home) = self.scopes.len().checked_sub(1) else {
            return Err(mysql_error!(ER_INVALID_GROUP_FUNC_USE));
        };
        // What the arguments read of enclosing blocks is read by the block that computes the aggregate.
        let reads: Vec<_> = self
            .scopes
            .iter()
            .map(|scope| (scope.outer_slots.clone(), scope.outer_columns.clone()))
            .collect();
        let was_in_aggregate = std::mem::replace(&mut self.scope().in_aggregate, true);
        let bound = self.aggregate_parts(aggregate);
        self.scope().in_aggregate = was_in_aggregate;
        let (arguments, order_by) = bound?;
        let level = self.computing_block(&arguments, &order_by)?;
        for (scope, (slots, columns)) in self.scopes.iter_mut().zip(reads).skip(level + 1) {
            (scope.outer_slots, scope.outer_columns) = (slots, columns);
        }
        let (spec, nullable) = self.aggregate_spec(aggregate, arguments, order_by)?;
        let ty = spec.ty.clone();
        let name: Arc<str> = format!("{spec}").into();
        let slot = match self.scopes.at(level)?.group_slot {
            Some(slot) => slot,
            None => self.new_slot(),
        };
        let scope = self.scopes.at_mut(level)?;
        scope.group_slot = Some(slot);
        let column = scope.group_width + scope.aggregate_of(spec);
        if level < home {
            let read = [OuterColumn { slot, column, name: name.clone() }];
            self.scopes.iter_mut().skip(level + 1).for_each(|inner| inner.read_outside(&read));
        }
        let coercibility = if ty.is_string() { Coercibility::Implicit } else { Coercibility::Numeric };
        let node = Node::Column { slot, column, name, computed: true };
        Ok(member_as_text(Expr { node, ty, nullable, coercibility }, Member::OfAggregate))
    }

    /// The block that computes an aggregate: the innermost one whose columns the arguments read, be it an
    /// enclosing one. Of arguments that read no column it is the block where the aggregate stands, if
    /// aggregates may stand there, else the nearest enclosing one where they may. 1111 if there is none, and
    /// for an aggregate of aggregates.
    fn computing_block(&self, arguments: &[Expr], order_by: &[SortKey]) -> SqlResult<usize> {
        let invalid = || mysql_error!(ER_INVALID_GROUP_FUNC_USE);
        let home = self.scopes.len() - 1;
        let mut slots = Vec::new();
        for expr in arguments.iter().chain(order_by.iter().map(|key| &key.expr)) {
            expr_slots(self, expr, &mut slots);
        }
        let block_of = |slot: &usize| {
            self.scopes.iter().rposition(|scope| {
                scope.group_slot == Some(*slot) || scope.sources.iter().any(|source| source.slot == *slot)
            })
        };
        let read = slots.iter().filter_map(block_of).max();
        let allows = |block: usize| {
            let scope: Option<&Scope> = self.scopes.get(block);
            scope.is_some_and(|scope| scope.aggregates_allowed && !scope.in_aggregate)
        };
        let block = match read {
            Some(read) if allows(read) => read,
            Some(read) if read == home || self.scopes.at(read)?.in_aggregate => return Err(invalid()),
            None if allows(home) => home,
            read => {
                let enclosing = (read.map_or(0, |read| read + 1)..home).rev().find(|block| allows(*block));
                enclosing.or(allows(home).then_some(home)).ok_or_else(invalid)?
            }
        };
        // Aggregates of a block are finished before what is computed of them is there.
        let nested = self.scopes.iter().enumerate().any(|(depth, scope)| {
            depth >= block && scope.group_slot.is_some_and(|groups| slots.contains(&groups))
        });
        if nested { Err(invalid()) } else { Ok(block) }
    }

    /// What an aggregate of bound arguments computes, and whether it can be NULL.
    pub(super) fn aggregate_spec(
        &mut self,
        aggregate: &ast::Aggregate,
        mut arguments: Vec<Expr>,
        order_by: Vec<SortKey>,
    ) -> SqlResult<(AggregateSpec, bool)> {
        let connection = self.collation_connection();
        use AggregateKind::*;
        if aggregate.distinct && matches!(aggregate.kind, Sum | Avg) {
            arguments = arguments.into_iter().map(as_summed).collect();
        }
        if !matches!(aggregate.kind, Count | Min | Max | GroupConcat | JsonArrayAgg | JsonObjectAgg) {
            let is_of_bits = matches!(aggregate.kind, BitAnd | BitOr | BitXor);
            let as_whole = |argument| match is_of_bits {
                true => text_column_as_integer(date_text_as_integer(argument)),
                false => argument,
            };
            arguments = arguments.into_iter().map(as_whole).map(as_number).collect();
        }
        if aggregate.kind == Count && !aggregate.distinct && arguments.iter().all(|value| !value.nullable) {
            // As in MySQL nothing is computed that cannot be NULL.
            arguments.clear();
        }
        if matches!(aggregate.kind, Min | Max) {
            arguments = arguments.into_iter().map(as_bits).collect();
        }
        arguments = arguments.into_iter().map(in_its_type).collect();
        let first = arguments.first().map(|argument| argument.ty.clone()).unwrap_or(SqlType::Null);
        let number = &arguments.first().map_or(SqlType::Null, |argument| argument.numeric_type().clone());
        let exact = matches!(
            number,
            SqlType::Int { .. }
                | SqlType::Decimal { .. }
                | SqlType::Year
                | SqlType::Bit { .. }
                | SqlType::Null
        ) || number.is_temporal();
        if aggregate.distinct && matches!(aggregate.kind, Sum | Avg) && !exact {
            // What is summed up are numbers, so it is numbers that are distinct.
            arguments = arguments.into_iter().map(as_double).collect();
        }
        let (ty, nullable) = match aggregate.kind {
            AggregateKind::Count => (SqlType::BIGINT, false),
            AggregateKind::Sum if exact => {
                let (precision, scale) = decimal_shape(number);
                (SqlType::Decimal { precision: (precision + 22).min(65), scale, unsigned: false }, true)
            }
            AggregateKind::Avg if exact => {
                let (precision, scale) = decimal_shape(number);
                let increment = self.session.variables.div_precision_increment;
                let scale_now = scale.saturating_add(increment).min(30);
                let precision = (precision + increment).min(65);
                (SqlType::Decimal { precision, scale: scale_now, unsigned: false }, true)
            }
            AggregateKind::Sum => (double_of_scale(double_scale(number)), true),
            AggregateKind::Avg => {
                let increment = self.session.variables.div_precision_increment;
                (double_of_scale(double_scale(number).saturating_add(increment)), true)
            }
            AggregateKind::StdDevPop
            | AggregateKind::StdDevSamp
            | AggregateKind::VarPop
            | AggregateKind::VarSamp => (SqlType::DOUBLE, true),
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => match arguments.first() {
                Some(argument) if bits::is_bit_string(argument) => {
                    if bits::length(argument) > LONGEST_BIT_STRING {
                        return Err(mysql_error!(ER_INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE));
                    }
                    (SqlType::VarBinary { length: bits::length(argument) }, false)
                }
                _ => (SqlType::BIGINT_UNSIGNED, false),
            },
            kind @ (AggregateKind::Min | AggregateKind::Max) => {
                if let Some(argument) = arguments.first()
                    && argument.coercibility == Coercibility::Conflict
                {
                    let operation = if kind == AggregateKind::Min { "min" } else { "max" };
                    return Err(incompatible(&[argument, argument], operation));
                }
                (first.clone(), true)
            }
            AggregateKind::GroupConcat => {
                let operands: Vec<&Expr> = arguments.iter().collect();
                let (collation, strength) = result_collation(&operands, "group_concat")?;
                let collation = if strength == Coercibility::Numeric { connection } else { collation };
                for argument in &mut arguments {
                    year_as_unsigned(argument);
                    transcode_to(argument, collation)?;
                }
                let length = self.session.variables.group_concat_max_len;
                let characters = length / u64::from(collation.get().charset.max_bytes());
                let ty = match text_of(characters, collation) {
                    // MySQL makes a TEXT of more than 512 characters.
                    SqlType::VarChar { length, collation } if length > 512 => {
                        SqlType::Text { size: LobSize::Normal, collation }
                    }
                    other => other,
                };
                (ty, true)
            }
            AggregateKind::JsonArrayAgg | AggregateKind::JsonObjectAgg => (SqlType::Json, true),
        };
        let wanted = match aggregate.kind {
            AggregateKind::Count | AggregateKind::GroupConcat => None,
            AggregateKind::JsonObjectAgg => Some(2),
            _ => Some(1),
        };
        if wanted.is_some_and(|wanted| arguments.len() != wanted) {
            return Err(mysql_error!(
                ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT,
                format!("{:?}", aggregate.kind).to_uppercase()
            ));
        }
        let spec = AggregateSpec {
            kind: aggregate.kind,
            distinct: aggregate.distinct,
            arguments,
            order_by,
            separator: aggregate.separator.clone().unwrap_or_else(|| b",".to_vec()),
            ty,
        };
        Ok((spec, nullable))
    }

    fn aggregate_parts(&mut self, aggregate: &ast::Aggregate) -> SqlResult<(Vec<Expr>, Vec<SortKey>)> {
        let arguments = self.all(&aggregate.arguments)?;
        let mut order_by = Vec::with_capacity(aggregate.order_by.len());
        for item in &aggregate.order_by {
            let expr = match &item.expr {
                ast::Expr::Literal(ast::Literal::Integer(position)) => {
                    let position = usize::try_from(*position).unwrap_or(0);
                    match position.checked_sub(1).and_then(|at| arguments.get(at)) {
                        Some(argument) => argument.clone(),
                        None => self.expr(&item.expr)?,
                    }
                }
                other => self.expr(other)?,
            };
            order_by.push(SortKey { expr, descending: item.descending });
        }
        Ok((arguments, order_by))
    }
}

/// Text, and dates that are chosen, among values of which the distinct ones are summed up.
fn as_summed(text: Expr) -> Expr {
    if text.ty.is_temporal() && chooses(&text) {
        let (precision, scale) = decimal_shape(&text.ty);
        let (target, nullable) = (CastTarget::SummedDate { precision, scale }, text.nullable);
        let ty = target.result_type(&text.ty);
        return Expr::computed(Node::Cast { operand: Box::new(text), target }, ty, nullable);
    }
    let is_number = matches!(text.node, Node::Literal(Value::Bit { .. }));
    if !text.ty.is_string() || text.ty == SqlType::Json || is_number {
        return text;
    }
    let nullable = text.nullable;
    let node = Node::Cast { operand: Box::new(text), target: CastTarget::SummedText };
    Expr::computed(node, SqlType::DOUBLE, nullable)
}

/// Whether a value is one of several, or another's, as it is.
fn chooses(expr: &Expr) -> bool {
    match &expr.node {
        Node::Case { .. } => true,
        Node::Call { function, .. } => {
            matches!(function.name, IF | NULLIF | ANY_VALUE | "coalesce" | "greatest" | "ifnull" | "least")
        }
        _ => false,
    }
}

/// Text as the number that an aggregate adds up.
fn as_double(expr: Expr) -> Expr {
    if !expr.ty.is_string() {
        return expr;
    }
    let nullable = expr.nullable;
    Expr::computed(
        Node::Cast { operand: Box::new(expr), target: CastTarget::Double },
        SqlType::DOUBLE,
        nullable,
    )
}

/// A year that is no column's is a number in GROUP_CONCAT, so that the year 0 is written 0.
fn year_as_unsigned(argument: &mut Expr) {
    if argument.ty == SqlType::Year && !argument.is_field() {
        let (year, target) = (std::mem::replace(argument, Expr::null()), CastTarget::Unsigned);
        let (ty, nullable) = (target.result_type(&year.ty), year.nullable);
        *argument = Expr::computed(Node::Cast { operand: Box::new(year), target }, ty, nullable);
    }
}

/// What IF or CASE took, with as many digits behind the point as its type has.
fn in_its_type(argument: Expr) -> Expr {
    if !is_chosen(&argument) || !matches!(argument.ty, SqlType::Decimal { .. }) {
        return argument;
    }
    let (ty, nullable) = (argument.ty.clone(), argument.nullable);
    Expr::computed(Node::Call { function: COALESCE, arguments: vec![argument] }, ty, nullable)
}
