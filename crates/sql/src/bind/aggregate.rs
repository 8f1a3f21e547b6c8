//! Aggregates: bound where they stand, computed by the block's grouping.

use palisade_base::error_catalogue::{
    ER_INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE, ER_INVALID_GROUP_FUNC_USE, ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT,
};
use palisade_base::mysql_error;
use palisade_catalog::SqlType;
use palisade_catalog::types::LobSize;
use palisade_parser::ast::{self, AggregateKind};

use super::Binder;
use super::types::{json_as_number, text_type, transcode_to};
use crate::SqlResult;
use crate::exec::aggregate::AggregateSpec;
use crate::expr::arithmetic::decimal_shape;
use crate::expr::bits;
use crate::expr::compare::aggregate_collations;
use crate::expr::{Coercibility, Expr, Node};
use crate::plan::SortKey;

/// Columns from here on of the groups' slot are aggregates, until the number of group expressions is known.
pub const AGGREGATES: usize = 1 << 20;

/// Bytes that an operand of BIT_AND and its like has at most.
const LONGEST_BIT_STRING: u32 = 511;

impl Binder<'_> {
    /// An aggregate as a column of the groups' slot.
    pub fn aggregate(&mut self, aggregate: &ast::Aggregate) -> SqlResult<Expr> {
        if let Some(over) = &aggregate.over {
            return self.window_aggregate(aggregate, over);
        }
        let Some(scope) = self.scopes.last() else { return Err(mysql_error!(ER_INVALID_GROUP_FUNC_USE)) };
        if !scope.aggregates_allowed || scope.in_aggregate {
            return Err(mysql_error!(ER_INVALID_GROUP_FUNC_USE));
        }
        if scope.group_slot.is_none() {
            let slot = self.new_slot();
            self.scope().group_slot = Some(slot);
        }
        self.scope().in_aggregate = true;
        let bound = self.aggregate_parts(aggregate);
        self.scope().in_aggregate = false;
        let (arguments, order_by) = bound?;
        let (spec, nullable) = self.aggregate_spec(aggregate, arguments, order_by)?;
        let ty = spec.ty.clone();
        let name = spec_text(&spec);
        let scope = self.scope();
        let slot = scope.group_slot.expect("it was made above");
        let position = match scope.aggregates.iter().position(|known| spec_text(known) == name) {
            Some(position) => position,
            None => {
                scope.aggregates.push(spec);
                scope.aggregates.len() - 1
            }
        };
        let coercibility = if ty.is_string() { Coercibility::Implicit } else { Coercibility::Numeric };
        let node = Node::Column { slot, column: AGGREGATES + position, name: name.into() };
        Ok(Expr { node, ty, nullable, coercibility })
    }

    /// What an aggregate of bound arguments computes, and whether it can be NULL.
    pub(super) fn aggregate_spec(
        &mut self,
        aggregate: &ast::Aggregate,
        mut arguments: Vec<Expr>,
        order_by: Vec<SortKey>,
    ) -> SqlResult<(AggregateSpec, bool)> {
        let connection = self.session.variables.collation_connection;
        use AggregateKind::*;
        if !matches!(aggregate.kind, Count | Min | Max | GroupConcat | JsonArrayAgg | JsonObjectAgg) {
            arguments = arguments.into_iter().map(json_as_number).collect();
        }
        let first = arguments.first().map(|argument| argument.ty.clone()).unwrap_or(SqlType::Null);
        let number = arguments.first().map(|argument| argument.numeric_type()).unwrap_or(&SqlType::Null);
        let exact = matches!(
            number,
            SqlType::Int { .. }
                | SqlType::Decimal { .. }
                | SqlType::Year
                | SqlType::Bit { .. }
                | SqlType::Null
        ) || number.is_temporal();
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
            AggregateKind::Sum
            | AggregateKind::Avg
            | AggregateKind::StdDevPop
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
            AggregateKind::Min | AggregateKind::Max => (first.clone(), true),
            AggregateKind::GroupConcat => {
                let operands: Vec<&Expr> = arguments.iter().collect();
                let (collation, strength) = aggregate_collations(&operands, "group_concat")?;
                let collation = if strength == Coercibility::Numeric { connection } else { collation };
                for argument in &mut arguments {
                    transcode_to(argument, collation);
                }
                let length = self.session.variables.group_concat_max_len;
                let characters = length / u64::from(collation.get().charset.max_bytes());
                let ty = match text_type(characters, collation) {
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

/// An aggregate as text; equal for equal aggregates.
fn spec_text(spec: &AggregateSpec) -> String {
    let name = spec.kind.name();
    let arguments: Vec<String> = spec.arguments.iter().map(Expr::to_string).collect();
    let arguments = if arguments.is_empty() { "0".to_owned() } else { arguments.join(",") };
    let distinct = if spec.distinct { "distinct " } else { "" };
    let order: Vec<String> = spec
        .order_by
        .iter()
        .map(|key| format!(" order by {}{}", key.expr, if key.descending { " desc" } else { "" }))
        .collect();
    let separator = if spec.kind == AggregateKind::GroupConcat {
        format!(" separator '{}'", String::from_utf8_lossy(&spec.separator))
    } else {
        String::new()
    };
    format!("{name}({distinct}{arguments}{}{separator})", order.join(","))
}
