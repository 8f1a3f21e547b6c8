//! What the join planner reads off conditions: which slots they need, which keys and ranges they give, how
//! many rows they let through.

use palisade_catalog::{SqlType, Value};
use palisade_expr::{Comparison, Domain, Expr, Node, SubqueryUse, Truth};

use super::access::{Access, RangeSpec, index_columns, index_parts};

/// Knows the subqueries in a statement's expressions.
pub trait OuterSlots {
    /// Slots of enclosing queries that a subquery reads.
    fn outer_slots(&self, subquery: usize) -> &[usize];
}

/// Slots an expression reads, those its subqueries read included.
pub fn expr_slots(subqueries: &dyn OuterSlots, expr: &Expr, out: &mut Vec<usize>) {
    expr.walk(&mut |expr| match &expr.node {
        Node::Column { slot, .. } if !out.contains(slot) => out.push(*slot),
        Node::Subquery(subquery) => {
            for slot in subqueries.outer_slots(subquery.number) {
                if !out.contains(slot) {
                    out.push(*slot);
                }
            }
        }
        _ => {}
    });
}

pub(super) fn reads_slot(subqueries: &dyn OuterSlots, expr: &Expr, slot: usize) -> bool {
    let mut slots = Vec::new();
    expr_slots(subqueries, expr, &mut slots);
    slots.contains(&slot)
}

/// Whether a condition cannot be true where one of these slots has no row.
pub(super) fn rejects_null(expr: &Expr, slots: &[usize]) -> bool {
    let column = |expr: &Expr| is_null_without(expr, slots);
    match &expr.node {
        Node::Compare { comparison, left, right, .. } => {
            *comparison != Comparison::NullSafeEqual && (column(left) || column(right))
        }
        Node::Between { operand, .. } | Node::Like { operand, .. } | Node::In { operand, .. } => {
            column(operand)
        }
        Node::Is { operand, truth: Truth::Null, negated: true } => column(operand),
        Node::Is { operand, truth: Truth::True, negated: false } => rejects_null(operand, slots),
        Node::And(parts) => parts.iter().any(|part| rejects_null(part, slots)),
        Node::Subquery(subquery) => match &subquery.usage {
            SubqueryUse::Quantified { left, negated: false, all: false, .. } => left.iter().any(column),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an expression is NULL where one of these slots has no row.
fn is_null_without(expr: &Expr, slots: &[usize]) -> bool {
    match &expr.node {
        Node::Column { slot, .. } => slots.contains(slot),
        Node::Negate(operand) => is_null_without(operand, slots),
        Node::Arithmetic { left, right, .. } => is_null_without(left, slots) || is_null_without(right, slots),
        _ => false,
    }
}

pub(super) fn is_column(expr: &Expr, slot: usize, column: usize) -> bool {
    matches!(&expr.node, Node::Column { slot: s, column: c, .. } if *s == slot && *c == column)
}

/// Whether an index over a column of this type finds what is equal in `domain` to `other`.
pub(super) fn usable(ty: &SqlType, domain: Domain, other: &Expr) -> bool {
    match ty {
        SqlType::Int { .. } => matches!(domain, Domain::Integer | Domain::Decimal | Domain::Double),
        SqlType::Decimal { .. } => {
            matches!(domain, Domain::Decimal | Domain::Integer) && !other.ty.is_string()
        }
        // No other number that the column keeps is as near to a constant of its digits as to be equal to it.
        SqlType::Double { .. } | SqlType::Float { .. } => match domain {
            Domain::Fixed(digits) => other.is_constant() && digits <= ty.wire_decimals(),
            domain => domain == Domain::Double,
        },
        SqlType::Char { collation, .. }
        | SqlType::VarChar { collation, .. }
        | SqlType::Text { collation, .. } => domain == Domain::Text(*collation) && is_text_value(&other.ty),
        SqlType::Binary { .. } | SqlType::VarBinary { .. } | SqlType::Blob { .. } => {
            domain == Domain::Text(palisade_catalog::CollationId::BINARY) && is_text_value(&other.ty)
        }
        SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. } => domain == Domain::DateTime,
        SqlType::Time { .. } => domain == Domain::Time,
        SqlType::Year => domain == Domain::Integer,
        _ => false,
    }
}

/// Whether values of the type are texts as they are; those of ENUM and SET are numbers.
fn is_text_value(ty: &SqlType) -> bool {
    ty.is_string() && !matches!(ty, SqlType::Enum { .. } | SqlType::Set { .. })
}

/// Whether the key of a value decides the condition alone.
pub(super) fn exact(ty: &SqlType, value: &Expr) -> bool {
    match ty {
        SqlType::Int { .. } => matches!(value.ty, SqlType::Int { .. }),
        SqlType::Char { .. } | SqlType::VarChar { .. } | SqlType::Text { .. } | SqlType::VarBinary { .. } => {
            true
        }
        _ => false,
    }
}

/// `column = value`: the value, and whether NULL counts as one.
pub(super) fn equality(expr: &Expr, slot: usize, column: usize, ty: &SqlType) -> Option<(Expr, bool)> {
    match &expr.node {
        Node::Compare {
            comparison: comparison @ (Comparison::Equal | Comparison::NullSafeEqual),
            domain,
            left,
            right,
        } => {
            let null_safe = *comparison == Comparison::NullSafeEqual;
            if is_column(left, slot, column) && usable(ty, *domain, right) {
                return Some(((**right).clone(), null_safe));
            }
            if is_column(right, slot, column) && usable(ty, *domain, left) {
                return Some(((**left).clone(), null_safe));
            }
            None
        }
        Node::Is { operand, truth: Truth::Null, negated: false } if is_column(operand, slot, column) => {
            Some((Expr::null(), true))
        }
        Node::In { operand, list, negated: false } if is_column(operand, slot, column) => {
            match list.as_slice() {
                [(domain, value)] if usable(ty, *domain, value) => Some((value.clone(), false)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The ranges of `column` that a condition allows, if it is one about that column.
pub(super) fn range_specs(expr: &Expr, slot: usize, column: usize, ty: &SqlType) -> Option<Vec<RangeSpec>> {
    match &expr.node {
        Node::Compare { comparison, domain, left, right } => {
            let (comparison, value) = if is_column(left, slot, column) {
                (*comparison, right)
            } else if is_column(right, slot, column) {
                (comparison.flipped(), left)
            } else {
                return None;
            };
            if !usable(ty, *domain, value) {
                return None;
            }
            let value = (**value).clone();
            Some(vec![match comparison {
                Comparison::Equal => RangeSpec::Point(value),
                Comparison::Less => RangeSpec::Between { lower: None, upper: Some((value, false)) },
                Comparison::LessEqual => RangeSpec::Between { lower: None, upper: Some((value, true)) },
                Comparison::Greater => RangeSpec::Between { lower: Some((value, false)), upper: None },
                Comparison::GreaterEqual => RangeSpec::Between { lower: Some((value, true)), upper: None },
                Comparison::NotEqual | Comparison::NullSafeEqual => return None,
            }])
        }
        Node::Between { operand, domain, low, high, negated: false } => {
            if !is_column(operand, slot, column) || !usable(ty, *domain, low) || !usable(ty, *domain, high) {
                return None;
            }
            let (lower, upper) = (Some(((**low).clone(), true)), Some(((**high).clone(), true)));
            Some(vec![RangeSpec::Between { lower, upper }])
        }
        Node::In { operand, list, negated: false } => {
            if !is_column(operand, slot, column)
                || !list.iter().all(|(domain, value)| usable(ty, *domain, value))
            {
                return None;
            }
            Some(list.iter().map(|(_, value)| RangeSpec::Point(value.clone())).collect())
        }
        Node::Like { operand, pattern, escape: None, collation, negated: false } => {
            let literal = match &pattern.node {
                Node::Literal(Value::Bytes(text)) => !matches!(text.first(), None | Some(b'%' | b'_')),
                Node::Parameter(_) => pattern.ty.is_string(),
                _ => false,
            };
            (is_column(operand, slot, column)
                && literal
                && ty.is_text()
                && ty.collation() == *collation
                && !matches!(ty, SqlType::Enum { .. } | SqlType::Set { .. }))
            .then(|| vec![RangeSpec::Like((**pattern).clone())])
        }
        Node::Is { operand, truth: Truth::Null, negated: false } if is_column(operand, slot, column) => {
            Some(vec![RangeSpec::Null])
        }
        Node::Is { operand, truth: Truth::Null, negated: true } if is_column(operand, slot, column) => None,
        Node::Or(parts) => {
            let mut all = Vec::new();
            for part in parts {
                match &part.node {
                    // Of a conjunction any one part that is about the column will do: the filter has the
                    // rest.
                    Node::And(terms) => {
                        all.extend(terms.iter().find_map(|term| range_specs(term, slot, column, ty))?);
                    }
                    _ => all.extend(range_specs(part, slot, column, ty)?),
                }
            }
            Some(all)
        }
        _ => None,
    }
}

pub(super) fn spec_exprs(spec: &RangeSpec, visit: &mut dyn FnMut(&Expr)) {
    match spec {
        RangeSpec::Point(expr) | RangeSpec::Like(expr) => visit(expr),
        RangeSpec::Null => {}
        RangeSpec::Between { lower, upper } => lower.iter().chain(upper).for_each(|(expr, _)| visit(expr)),
    }
}

/// Whether rows come in this order, and if so whether the index must be read backward.
pub(super) fn order_of(
    table: &palisade_engine::Table,
    access: &Access,
    keys: &[(usize, bool)],
) -> Option<bool> {
    if access.unique {
        return Some(false);
    }
    let fixed: Vec<usize> = index_columns(table, access.index).take(access.equals.len()).collect();
    let mut backward = None;
    let mut parts = index_parts(table, access.index).skip(access.equals.len());
    for (column, wanted) in keys {
        if fixed.contains(column) {
            continue;
        }
        let part = parts.next()?;
        if usize::from(part.column) != *column || part.prefix.is_some() {
            return None;
        }
        let turned = part.descending != *wanted;
        if *backward.get_or_insert(turned) != turned {
            return None;
        }
        // All parts of the clustered key are behind us: nothing is left to order by.
    }
    Some(backward.unwrap_or(false))
}
