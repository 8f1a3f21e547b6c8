//! Comparisons and their negations, as the binder makes them.

use palisade_catalog::types::IntWidth;
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_expr::arithmetic::{UNFIXED, double_of_scale, double_scale};
use palisade_expr::beforehand::Standing;
use palisade_expr::compare::{domain_of, domain_of_operands};
use palisade_expr::convert::text_of;
use palisade_expr::{BitOp, CastTarget, Comparison, Domain, Expr, Node, SqlResult, SubqueryUse, bits};
use palisade_parser::ast::{self, BinaryOp};

use super::Binder;
use super::beforehand::{Part, text_beside_date};
use super::json::json_as_integer;
use super::scope::Clause;
use super::types::{
    as_number, chosen_as_number, chosen_date_as_number, computed_as_integer, date_text_as_integer,
    text_column_as_integer, transcode_beside_document, transcode_to, variable_as_integer,
};

/// A constant that is compared with the column `with`: MySQL reads it as a column of type BIGINT, YEAR, TIME,
/// DATE or DATETIME would keep it.
pub(super) fn constant_as_column(expr: &mut Expr, with: &Expr) {
    // A number is one as a document, too.
    if let (SqlType::Year, Node::Cast { operand, target: CastTarget::Json }) = (&with.ty, &expr.node)
        && operand.ty.is_numeric()
        && operand.is_constant()
        && with.is_field()
    {
        *expr = (**operand).clone();
    }
    let is_folded = match with.ty {
        SqlType::Year => expr.ty != SqlType::Json && expr.is_same_for_all_rows(),
        _ => is_date(&with.ty) && expr.ty.is_numeric() && expr.is_computed_beforehand(),
    };
    let is_constant = expr.is_constant() || is_folded;
    if !with.is_field() || !is_constant {
        return;
    }
    let target = match (&with.ty, &expr.ty) {
        (SqlType::Int { width: IntWidth::Big, .. }, ty)
            if ty.is_string() || matches!(ty, SqlType::Double { .. }) =>
        {
            CastTarget::ComparedInteger
        }
        (SqlType::Year, ty) if ty.is_string() || ty.is_numeric() || ty.is_temporal() => {
            CastTarget::ComparedYear
        }
        (SqlType::Time { fsp }, ty) if ty.is_text() || ty.is_numeric() || is_bits(expr) => {
            CastTarget::ComparedTime { fsp: *fsp }
        }
        (SqlType::DateTime { fsp } | SqlType::Timestamp { fsp }, ty) if ty.is_numeric() => {
            CastTarget::ComparedMoment { fsp: *fsp, any_day: matches!(with.ty, SqlType::DateTime { .. }) }
        }
        (SqlType::Date, ty) if ty.is_numeric() => CastTarget::ComparedDay,
        _ => return,
    };
    read_as(target, expr);
}

pub(super) fn is_bits(expr: &Expr) -> bool {
    matches!(expr.node, Node::Literal(Value::Bit { .. }))
}

fn is_date(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. })
}

/// A date that no column changes, where it is compared with one column of type TIME: its time of day counts.
pub(super) fn moment_as_time(expr: &mut Expr, with: &Expr) {
    if let SqlType::Time { fsp } = with.ty
        && with.is_field()
        && is_date(&expr.ty)
        && expr.is_same_for_all_rows()
    {
        read_as(CastTarget::ComparedTime { fsp }, expr);
    }
}

/// The same for a column of type FLOAT(M,D) in a condition that rows have to meet, where it is compared with
/// one value and not in IN or BETWEEN.
fn constant_as_float(expr: &mut Expr, with: &Expr) {
    if let SqlType::Float { digits: Some((_, scale)), .. } = &with.ty
        && with.is_field()
        && (expr.ty.is_string() || expr.ty.is_numeric())
        && expr.is_constant()
    {
        // A number shows its digits all the same.
        let shown = double_scale(&expr.ty);
        read_as(CastTarget::ComparedFloat { scale: *scale }, expr);
        if shown < UNFIXED {
            expr.ty = double_of_scale(shown.max(*scale));
        }
    }
}

/// The arguments of STRCMP: a constant beside a column of type BIGINT, YEAR or TIME is read as for a
/// comparison.
pub(super) fn constants_to_order(left: &mut Expr, right: &mut Expr) {
    let reads = |ty: &SqlType| matches!(ty, SqlType::Int { .. } | SqlType::Year | SqlType::Time { .. });
    if reads(&left.ty) || reads(&right.ty) {
        written_as_column(left, right);
        written_as_column(right, left);
        bits_beside_bigint(left, right);
        bits_beside_bigint(right, left);
    }
}

/// A constant of which the text is compared with that of a column: beside a BIGINT one that is no whole
/// number stays as it is written.
fn written_as_column(expr: &mut Expr, with: &Expr) {
    let is_bigint = matches!(with.ty, SqlType::Int { width: IntWidth::Big, .. }) && with.is_field();
    if !is_bigint {
        return constant_as_column(expr, with);
    }
    let is_constant = match &expr.node {
        Node::Negate(operand) => operand.is_constant(),
        _ => expr.is_constant(),
    };
    let is_read = expr.ty.is_string() || matches!(expr.ty, SqlType::Double { .. } | SqlType::Decimal { .. });
    if is_constant && is_read {
        read_as(CastTarget::WrittenInteger, expr);
    }
}

/// A binary literal beside a column of type BIGINT, as the number that it is.
fn bits_beside_bigint(expr: &mut Expr, with: &Expr) {
    let is_bigint = matches!(with.ty, SqlType::Int { width: IntWidth::Big, .. }) && with.is_field();
    if is_bigint && is_bits(expr) {
        bits_as_number(expr);
    }
}

/// A binary literal as the number that it is.
pub(super) fn bits_as_number(expr: &mut Expr) {
    let (operand, target) = (std::mem::replace(expr, Expr::null()), CastTarget::Unsigned);
    let (ty, nullable) = (target.result_type(&operand.ty), operand.nullable);
    *expr = Expr::computed(Node::Cast { operand: Box::new(operand), target }, ty, nullable);
}

fn constants_as_columns(left: &mut Expr, right: &mut Expr) {
    constant_as_column(left, right);
    constant_as_column(right, left);
}

fn read_as(target: CastTarget, expr: &mut Expr) {
    // A binary literal is a number already, which YEAR alone reads otherwise; beside a TIME it is a text.
    match (&target, &expr.node) {
        (CastTarget::ComparedYear, _) => {}
        (CastTarget::ComparedTime { .. }, Node::Literal(value @ Value::Bit { .. })) => {
            expr.node = Node::Literal(Value::Bytes(text_of(value, &expr.ty)));
        }
        (_, Node::Literal(Value::Bit { .. })) => return,
        _ => {}
    }
    let constant = std::mem::replace(expr, Expr::null());
    let (ty, nullable) = (target.result_type(&constant.ty), constant.nullable);
    *expr = Expr::computed(Node::Cast { operand: Box::new(constant), target }, ty, nullable);
}

impl Binder<'_> {
    /// The operands of NULLIF, which are compared as the operator `=` does it. The first is also its value.
    pub(super) fn constant_beside(&mut self, right: &mut Expr, left: &Expr) -> SqlResult<()> {
        self.convert_beforehand(left, right, Standing::Alone);
        self.convert_beforehand(right, left, Standing::Alone);
        if domain_of(left, right, "nullif")? == Domain::DateTime {
            self.text_beside_one_date(right, left, Comparison::Equal, Part::Moment);
        }
        moment_as_time(right, left);
        constant_as_column(right, left);
        Ok(())
    }

    /// `left <comparison> right` in the domain MySQL compares them in.
    pub fn compare(&mut self, comparison: Comparison, mut left: Expr, mut right: Expr) -> SqlResult<Expr> {
        let is_dated = self.note_constants(comparison, &left, &right)?;
        if is_dated {
            let beside = left.clone();
            self.text_beside_one_date(&mut left, &right, comparison, Part::beside(&right));
            self.text_beside_one_date(&mut right, &beside, comparison, Part::beside(&beside));
        }
        moment_as_time(&mut left, &right);
        moment_as_time(&mut right, &left);
        constants_as_columns(&mut left, &mut right);
        let clause = self.scopes.last().map(|scope| scope.clause);
        if matches!(clause, Some(Clause::Where | Clause::On | Clause::Having)) {
            constant_as_float(&mut left, &right);
            constant_as_float(&mut right, &left);
        }
        compare_leniently(comparison, left, right)
    }

    /// Notes which of two operands is converted before the first row; whether they are compared as dates.
    fn note_constants(&mut self, comparison: Comparison, left: &Expr, right: &Expr) -> SqlResult<bool> {
        let domain = domain_of(left, right, comparison.symbol())?;
        self.convert_beforehand(left, right, Standing::Alone);
        self.convert_beforehand(right, left, Standing::Alone);
        Ok(domain == Domain::DateTime)
    }

    /// As [`compare`](Self::compare), for the parts of rows of which the order is asked: none is read as a
    /// column's type.
    pub(super) fn compare_in_row(
        &mut self,
        comparison: Comparison,
        left: Expr,
        right: Expr,
    ) -> SqlResult<Expr> {
        self.note_constants(comparison, &left, &right)?;
        compare_leniently(comparison, left, right)
    }

    /// `left = right` as the simple CASE compares, whose values may be no times.
    pub(super) fn compare_case(&mut self, left: Expr, right: Expr) -> SqlResult<Expr> {
        let mut right = right;
        let is_timed = matches!(left.ty, SqlType::Time { .. });
        if is_timed && right.ty == SqlType::Date && right.is_same_for_all_rows() {
            // A day is no time.
            moment_as_text(&mut right, self.collation_connection());
        }
        if is_timed && is_date(&right.ty) && right.is_same_for_all_rows() {
            read_as(CastTarget::ComparedTime { fsp: 6 }, &mut right);
        }
        compare_case(left, right)
    }
}

/// `left = right` as the simple CASE compares: a JSON value is its text there, or a number beside a number; a
/// date beside a number is its number, a text beside a time as much of it as is a time; and a constant is not
/// read as the column's type.
fn compare_case(mut left: Expr, mut right: Expr) -> SqlResult<Expr> {
    let (l, r) = (&left.ty, &right.ty);
    if *l == SqlType::Json && r.is_numeric() || *r == SqlType::Json && l.is_numeric() {
        return compare_leniently(Comparison::Equal, as_number(left), as_number(right));
    }
    let is_text = |ty: &SqlType| ty.is_string() && *ty != SqlType::Json;
    let is_time = |ty: &SqlType| matches!(ty, SqlType::Time { .. });
    if is_time(l) && is_text(r) {
        return Ok(equal_in(Domain::TimeOrNone, left, right));
    }
    if is_text(l) && is_moment(r) {
        // The operand of CASE decides: beside a text a date is its text.
        let collation = l.collation();
        moment_as_text(&mut right, collation);
        return Ok(equal_texts(left, right, collation));
    }
    if is_moment(l) && r.is_numeric() || is_moment(r) && l.is_numeric() {
        return Ok(equal_in(Domain::Double, left, right));
    }
    if *l != SqlType::Json && *r != SqlType::Json {
        let domain = domain_of(&left, &right, Comparison::Equal.symbol())?;
        return compare_in(domain, |_| Part::Moment, Comparison::Equal, left, right);
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
    equal_in(Domain::Text(collation), left, right)
}

pub(super) fn equal_in(domain: Domain, left: Expr, right: Expr) -> Expr {
    let nullable = left.nullable || right.nullable;
    let (left, right) = (Box::new(left), Box::new(right));
    Expr::truth(Node::Compare { comparison: Comparison::Equal, domain, left, right }, nullable)
}

/// `left = right` in a list of several rows: compared in the type of the left side, if it is a number or a
/// text.
pub(super) fn compare_listed(mut left: Expr, mut right: Expr) -> SqlResult<Expr> {
    let domain = match &left.ty {
        _ if right.ty == SqlType::Null || right.ty == SqlType::Json => None,
        SqlType::Int { .. } | SqlType::Bit { .. } | SqlType::Year => Some(Domain::Integer),
        SqlType::Decimal { .. } => Some(Domain::Decimal),
        SqlType::Float { .. } | SqlType::Double { .. } => Some(Domain::Double),
        ty if ty.is_string() && *ty != SqlType::Json && right.ty.is_numeric() => {
            Some(Domain::Text(ty.collation()))
        }
        _ => None,
    };
    if let Some(domain) = domain {
        let unsigned = left.ty.is_unsigned();
        let target = match domain {
            Domain::Integer if matches!(right.ty, SqlType::Int { .. }) => None,
            Domain::Integer if unsigned => Some(CastTarget::Unsigned),
            Domain::Integer => Some(CastTarget::Signed),
            Domain::Decimal if right.ty.is_string() => Some(CastTarget::ListedDecimal),
            _ => None,
        };
        // No constant, so that no index is asked for what its column cannot keep.
        let right = match target {
            Some(target) => {
                let (ty, nullable) = (target.result_type(&right.ty), right.nullable);
                Expr::computed(Node::Cast { operand: Box::new(right), target }, ty, nullable)
            }
            None => right,
        };
        return Ok(equal_in(domain, left, right));
    }
    moment_as_time(&mut left, &right);
    moment_as_time(&mut right, &left);
    constants_as_columns(&mut left, &mut right);
    compare_leniently(Comparison::Equal, left, right)
}

/// `left <comparison> right`, where a constant that is no date is no error.
pub(super) fn compare_leniently(comparison: Comparison, left: Expr, right: Expr) -> SqlResult<Expr> {
    let domain = domain_of_operands(&left, &right, comparison.symbol())?;
    compare_in(domain, Part::beside, comparison, left, right)
}

fn compare_in(
    domain: Domain,
    part: fn(&Expr) -> Part,
    comparison: Comparison,
    mut left: Expr,
    mut right: Expr,
) -> SqlResult<Expr> {
    match domain {
        Domain::Text(collation) => {
            for part in [&mut left, &mut right] {
                time_as_text(part, collation);
                transcode_to(part, collation)?;
            }
        }
        Domain::DateTime => {
            let beside = left.clone();
            let parts = [part(&right), part(&beside)];
            text_beside_date(&mut left, &right, parts[0]);
            text_beside_date(&mut right, &beside, parts[1]);
        }
        Domain::Json(..) => {
            transcode_beside_document(&mut left)?;
            transcode_beside_document(&mut right)?;
        }
        Domain::Integer | Domain::Decimal | Domain::Double | Domain::Fixed(_) => {
            (left, right) = (chosen_as_number(left), chosen_as_number(right));
        }
        _ => {}
    }
    let nullable = comparison != Comparison::NullSafeEqual
        && (left.nullable || right.nullable || domain == Domain::DateTime);
    let node = Node::Compare { comparison, domain, left: Box::new(left), right: Box::new(right) };
    Ok(Expr::truth(node, nullable))
}

/// A time that is compared with a text, as the text that it is: with the digits of its type.
pub(super) fn time_as_text(expr: &mut Expr, collation: CollationId) {
    if matches!(expr.ty, SqlType::Time { .. }) {
        moment_as_text(expr, collation);
    }
}

/// Whether values are dates or times, and no years.
pub(super) fn is_moment(ty: &SqlType) -> bool {
    ty.is_temporal() && *ty != SqlType::Year
}

/// A date or time as the text that it is.
pub(super) fn moment_as_text(expr: &mut Expr, collation: CollationId) {
    let moment = std::mem::replace(expr, Expr::null());
    let target = CastTarget::Char { length: None, collation };
    let (ty, nullable) = (target.result_type(&moment.ty), moment.nullable);
    *expr = Expr::computed(Node::Cast { operand: Box::new(moment), target }, ty, nullable);
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
    let as_integer = |operand| {
        let operand = computed_as_integer(variable_as_integer(operand));
        text_column_as_integer(chosen_date_as_number(json_as_integer(date_text_as_integer(operand))))
    };
    let [left, right] = [left, right].map(as_integer);
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
        Domain::Time | Domain::TimeOrNone => 3,
        Domain::DateTime | Domain::YearOrDate | Domain::DateOrNone => 4,
        Domain::Double | Domain::Fixed(_) => 5,
        Domain::Json(..) => 6,
    };
    if rank(left) >= rank(right) { left } else { right }
}
