//! Comparisons and their negations, as the binder makes them.

use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::types::IntWidth;
use palisade_catalog::{Collation, CollationId, SqlType, Value};
use palisade_parser::ast::{self, BinaryOp};

use super::json::json_as_integer;
use super::types::{as_number, chosen_as_number, transcode_beside_document, transcode_to};
use crate::SqlResult;
use crate::expr::bits;
use crate::expr::compare::domain_of;
use crate::expr::{BitOp, CastTarget, Comparison, Domain, Expr, Node, SubqueryUse};

/// Reads a literal text as a date and time once for all, if it is one without doubt.
pub(super) fn literal_date(expr: &mut Expr) {
    let strict = TemporalMode { no_zero_date: true, no_zero_in_date: true, ..TemporalMode::default() };
    if let Node::Literal(Value::Bytes(text)) = &expr.node
        && let Some((parsed, None)) = palisade_catalog::DateTime::parse(text, strict)
        && !parsed.truncated
    {
        *expr = Expr::literal(Value::DateTime(parsed.value), SqlType::DateTime { fsp: 6 });
    }
}

/// A constant text that is compared with a value of type `with`: it must be a date and time, or the statement fails.
fn constant_date(expr: &mut Expr, with: &SqlType, column: bool) {
    let wanted = match with {
        SqlType::Date => "DATE",
        SqlType::Timestamp { .. } => "TIMESTAMP",
        SqlType::DateTime { .. } => "DATETIME",
        _ => return,
    };
    literal_date(expr);
    if expr.ty.is_string() && matches!(expr.node, Node::Literal(_) | Node::Parameter(_)) {
        let constant = std::mem::replace(expr, Expr::null());
        let (operand, target) = (Box::new(constant), CastTarget::ComparedDate { wanted, column });
        *expr = Expr::computed(Node::Cast { operand, target }, SqlType::DateTime { fsp: 6 }, true);
    }
}

/// A text that is no constant, beside a DATE: only its date counts.
fn day_of_text(expr: &mut Expr, with: &SqlType) {
    if *with == SqlType::Date && expr.ty.is_string() && !expr.is_constant() {
        let text = std::mem::replace(expr, Expr::null());
        let (operand, target) = (Box::new(text), CastTarget::ComparedDay);
        *expr = Expr::computed(Node::Cast { operand, target }, SqlType::Date, true);
    }
}

/// A constant that is compared with the column `with`: MySQL reads it as a column of type BIGINT, YEAR, TIME
/// or DATETIME would keep it.
pub(super) fn constant_as_column(expr: &mut Expr, with: &Expr) {
    if !with.is_field() || !expr.is_constant() {
        return;
    }
    let target = match (&with.ty, &expr.ty) {
        (SqlType::Int { width: IntWidth::Big, .. }, ty)
            if ty.is_string() || matches!(ty, SqlType::Double { .. }) =>
        {
            CastTarget::ComparedInteger
        }
        (SqlType::Year, ty) if ty.is_string() || ty.is_numeric() || is_date(ty) => CastTarget::ComparedYear,
        (SqlType::Time { fsp }, ty) if ty.is_text() || ty.is_numeric() => {
            CastTarget::ComparedTime { fsp: *fsp }
        }
        (SqlType::DateTime { fsp } | SqlType::Timestamp { fsp }, ty) if ty.is_numeric() => {
            CastTarget::ComparedMoment { fsp: *fsp }
        }
        _ => return,
    };
    read_as(target, expr);
}

fn is_date(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. })
}

/// The same for a column of type FLOAT(M,D), where it is compared with one value and not in IN or BETWEEN.
fn constant_as_float(expr: &mut Expr, with: &Expr) {
    if let SqlType::Float { digits: Some((_, scale)), .. } = &with.ty
        && with.is_field()
        && (expr.ty.is_string() || expr.ty.is_numeric())
        && expr.is_constant()
    {
        read_as(CastTarget::ComparedFloat { scale: *scale }, expr);
    }
}

fn read_as(target: CastTarget, expr: &mut Expr) {
    if matches!(expr.node, Node::Literal(Value::Bit { .. })) {
        return;
    }
    let constant = std::mem::replace(expr, Expr::null());
    let (ty, nullable) = (target.result_type(&constant.ty), constant.nullable);
    *expr = Expr::computed(Node::Cast { operand: Box::new(constant), target }, ty, nullable);
}

/// The constant `right` of NULLIF, which is compared with `left` as the operator `=` does it.
pub(super) fn constant_beside(right: &mut Expr, left: &Expr) -> SqlResult<()> {
    if domain_of(left, right, "nullif")? == Domain::DateTime {
        constant_date(right, &left.ty, left.is_field());
    }
    constant_as_column(right, left);
    constant_as_float(right, left);
    Ok(())
}

/// `left <comparison> right` in the domain MySQL compares them in.
pub fn compare(comparison: Comparison, mut left: Expr, mut right: Expr) -> SqlResult<Expr> {
    if domain_of(&left, &right, comparison.symbol())? == Domain::DateTime {
        constant_date(&mut left, &right.ty.clone(), right.is_field());
        constant_date(&mut right, &left.ty, left.is_field());
    }
    constant_as_column(&mut left, &right);
    constant_as_column(&mut right, &left);
    constant_as_float(&mut left, &right);
    constant_as_float(&mut right, &left);
    compare_leniently(comparison, left, right)
}

/// `left = right` as the simple CASE compares: a JSON value is its text there, or a number beside a number;
/// and a constant is not read as the column's type.
pub fn compare_case(mut left: Expr, mut right: Expr) -> SqlResult<Expr> {
    let (l, r) = (&left.ty, &right.ty);
    if *l == SqlType::Json && r.is_numeric() || *r == SqlType::Json && l.is_numeric() {
        return compare_leniently(Comparison::Equal, as_number(left), as_number(right));
    }
    if *l != SqlType::Json && *r != SqlType::Json {
        return compare_leniently(Comparison::Equal, left, right);
    }
    transcode_beside_document(&mut left)?;
    transcode_beside_document(&mut right)?;
    Ok(equal_texts(left, right, CollationId::UTF8MB4_BIN))
}

/// `left = right` of texts in a collation.
pub fn compare_texts(mut left: Expr, mut right: Expr, collation: CollationId) -> SqlResult<Expr> {
    transcode_to(&mut left, collation)?;
    transcode_to(&mut right, collation)?;
    Ok(equal_texts(left, right, collation))
}

fn equal_texts(left: Expr, right: Expr, collation: CollationId) -> Expr {
    let nullable = left.nullable || right.nullable;
    let (left, right, domain) = (Box::new(left), Box::new(right), Domain::Text(collation));
    Expr::truth(Node::Compare { comparison: Comparison::Equal, domain, left, right }, nullable)
}

/// As [`compare`], for the parts of rows of which the order is asked: a constant that is no date is no error,
/// and none is read as a column's type.
pub(super) fn compare_in_row(comparison: Comparison, left: Expr, right: Expr) -> SqlResult<Expr> {
    compare_leniently(comparison, left, right)
}

fn compare_leniently(comparison: Comparison, mut left: Expr, mut right: Expr) -> SqlResult<Expr> {
    let domain = domain_of(&left, &right, comparison.symbol())?;
    match domain {
        Domain::Text(collation) => {
            transcode_to(&mut left, collation)?;
            transcode_to(&mut right, collation)?;
        }
        Domain::DateTime => {
            literal_date(&mut left);
            literal_date(&mut right);
            day_of_text(&mut left, &right.ty);
            day_of_text(&mut right, &left.ty);
        }
        Domain::Json(..) => {
            transcode_beside_document(&mut left)?;
            transcode_beside_document(&mut right)?;
        }
        Domain::Integer | Domain::Decimal | Domain::Double => {
            (left, right) = (chosen_as_number(left), chosen_as_number(right));
        }
        _ => {}
    }
    let nullable = comparison != Comparison::NullSafeEqual
        && (left.nullable || right.nullable || domain == Domain::DateTime);
    let node = Node::Compare { comparison, domain, left: Box::new(left), right: Box::new(right) };
    Ok(Expr::truth(node, nullable))
}

/// `NOT expr`, pushed into what knows its own negation.
pub fn negation(mut expr: Expr) -> Expr {
    let nullable = expr.nullable;
    match &mut expr.node {
        Node::Compare { comparison, .. } => {
            if let Some(negated) = comparison.negated() {
                *comparison = negated;
                return expr;
            }
        }
        Node::Is { negated, .. }
        | Node::In { negated, .. }
        | Node::Between { negated, .. }
        | Node::Like { negated, .. } => {
            *negated = !*negated;
            return expr;
        }
        Node::Subquery(subquery) => match &mut subquery.usage {
            SubqueryUse::Exists { negated } | SubqueryUse::Quantified { negated, .. } => {
                *negated = !*negated;
                return expr;
            }
            SubqueryUse::Scalar => {}
        },
        _ => {}
    }
    Expr::truth(Node::Not(Box::new(expr)), nullable)
}

pub(super) fn bit_operation(op: BitOp, left: Expr, right: Expr) -> Expr {
    let (left, right) = (json_as_integer(left), json_as_integer(right));
    let nullable = left.nullable || right.nullable;
    let ty = bits::result_type(op, &left, &right);
    Expr::computed(Node::Bits { op, left: Box::new(left), right: Box::new(right) }, ty, nullable)
}

pub(super) fn comparison(op: BinaryOp) -> Option<Comparison> {
    Some(match op {
        BinaryOp::Equal => Comparison::Equal,
        BinaryOp::NullSafeEqual => Comparison::NullSafeEqual,
        BinaryOp::NotEqual => Comparison::NotEqual,
        BinaryOp::Less => Comparison::Less,
        BinaryOp::LessEqual => Comparison::LessEqual,
        BinaryOp::Greater => Comparison::Greater,
        BinaryOp::GreaterEqual => Comparison::GreaterEqual,
        _ => return None,
    })
}

pub(super) fn row_parts(expr: &ast::Expr) -> Option<&[ast::Expr]> {
    match expr {
        ast::Expr::Row(parts) => Some(parts),
        _ => None,
    }
}

/// The domain in which both ends of a range can be compared.
pub(super) fn wider(left: Domain, right: Domain) -> Domain {
    let rank = |domain: Domain| match domain {
        Domain::Integer => 0,
        Domain::Decimal => 1,
        Domain::Text(_) => 2,
        Domain::Time => 3,
        Domain::DateTime | Domain::YearOrDate | Domain::DateOrNone => 4,
        Domain::Double => 5,
        Domain::Json(..) => 6,
    };
    if rank(left) >= rank(right) { left } else { right }
}

/// The `_bin` collation of a collation's character set.
pub fn binary_collation(collation: CollationId) -> CollationId {
    let charset = collation.get().charset;
    Collation::by_name(&format!("{}_bin", charset.name())).map_or(CollationId::BINARY, |found| found.id)
}
