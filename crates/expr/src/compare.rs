//! Comparison: in which domain two expressions are compared, and comparing there.

use std::cmp::Ordering;

use palisade_base::error_catalogue::{
    ER_CANT_AGGREGATE_2COLLATIONS, ER_CANT_AGGREGATE_3COLLATIONS, ER_CANT_AGGREGATE_NCOLLATIONS,
};
use palisade_base::mysql_error;
use palisade_catalog::json::{Json, compare_texts_watched};
use palisade_catalog::watch::PIECE;
use palisade_catalog::{Charset, Collation, CollationId, Date, DateTime, SqlType, Time, ValueRef, Watch};

use super::arithmetic::{UNFIXED, double_scale};
use super::{Coercibility, Context, Expr, Node};
use crate::SqlResult;
use crate::func::Purity;
use crate::func::json::convert::{Form, is_truth, to_json};

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// `<=>`
    NullSafeEqual,
}

impl Comparison {
    /// Whether it holds for operands in this order.
    pub fn holds(self, ordering: Ordering) -> bool {
        match self {
            Comparison::Equal | Comparison::NullSafeEqual => ordering == Ordering::Equal,
            Comparison::NotEqual => ordering != Ordering::Equal,
            Comparison::Less => ordering == Ordering::Less,
            Comparison::LessEqual => ordering != Ordering::Greater,
            Comparison::Greater => ordering == Ordering::Greater,
            Comparison::GreaterEqual => ordering != Ordering::Less,
        }
    }

    /// The same comparison with its operands exchanged.
    pub fn flipped(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessEqual => Comparison::GreaterEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterEqual => Comparison::LessEqual,
            same => same,
        }
    }

    /// The comparison that holds when this one is false.
    pub fn negated(self) -> Option<Comparison> {
        Some(match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::GreaterEqual,
            Comparison::LessEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessEqual,
            Comparison::GreaterEqual => Comparison::Less,
            Comparison::NullSafeEqual => return None,
        })
    }

    /// As SQL writes it.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
            Comparison::NullSafeEqual => "<=>",
        }
    }
}

/// As what two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Domain {
    /// Signed and unsigned, by value.
    Integer,
    Decimal,
    Double,
    /// As doubles that both show a fixed number of digits behind the point, this many at most: they are equal
    /// if they differ by less than half of the last one.
    Fixed(u8),
    Text(CollationId),
    DateTime,
    /// A year and a date, as dates: the year is before the first of its months.
    YearOrDate,
    /// As dates, in a list that has dates among texts: a text that is none is equal to nothing.
    DateOrNone,
    Time,
    /// As times, in a list that has times among texts: as much of a text as is one.
    TimeOrNone,
    /// By JSON's order, at least one of them being JSON; the other is taken for a scalar.
    Json(JsonSide, JsonSide),
}

/// What one side of a comparison of JSON values is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonSide {
    /// A value of type JSON, as normal text.
    Document,
    /// TRUE or FALSE.
    Truth,
    /// A text in UTF-8, or a value of another type.
    Scalar,
    /// A date, a time or bytes: above everything that a document has, these by their number and then by their
    /// text.
    Above(u8),
}

impl JsonSide {
    fn of(expr: &Expr) -> JsonSide {
        match &expr.ty {
            SqlType::Json => JsonSide::Document,
            _ if is_truth(expr) => JsonSide::Truth,
            SqlType::Date => JsonSide::Above(0),
            SqlType::Time { .. } => JsonSide::Above(1),
            SqlType::DateTime { .. } | SqlType::Timestamp { .. } => JsonSide::Above(2),
            SqlType::Bit { .. } => JsonSide::Above(3),
            ty if ty.is_string() && ty.collation() == CollationId::BINARY => JsonSide::Above(4),
            _ => JsonSide::Scalar,
        }
    }

    /// How two values are ordered of which one is above all documents; `None` if neither is.
    fn ordered_above(
        self,
        other: JsonSide,
        [left, right]: [ValueRef<'_>; 2],
        watch: Watch<'_>,
    ) -> Option<Ordering> {
        match (self, other) {
            (JsonSide::Above(own), JsonSide::Above(other)) => Some(
                own.cmp(&other).then_with(|| compare_text(left, right, CollationId::BINARY.get(), watch)),
            ),
            (JsonSide::Above(_), _) => Some(Ordering::Greater),
            (_, JsonSide::Above(_)) => Some(Ordering::Less),
            _ => None,
        }
    }

    /// The value of that side as JSON.
    pub fn json(self, cx: &mut Context<'_>, value: ValueRef<'_>) -> SqlResult<Json> {
        match (self, value) {
            (JsonSide::Document, ValueRef::Bytes(text)) => {
                Ok(cx.read_json(text, Form::Normal)?.unwrap_or(Json::Null))
            }
            (JsonSide::Truth, ValueRef::Int(truth)) => Ok(Json::Bool(truth != 0)),
            (_, value) => {
                let ty = SqlType::VarChar { length: 0, collation: CollationId::UTF8MB4_BIN };
                to_json(cx, &value.to_owned(), &Expr::literal(palisade_catalog::Value::Null, ty))
            }
        }
    }
}

fn is_exact_integer(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Int { .. } | SqlType::Year | SqlType::Bit { .. })
}

/// The domain in which two values are compared as documents.
pub fn json_domain(left: &Expr, right: &Expr) -> Domain {
    Domain::Json(JsonSide::of(left), JsonSide::of(right))
}

/// The domain in which MySQL compares two expressions. Fails if their collations cannot be reconciled.
pub fn domain_of(left: &Expr, right: &Expr, operation: &str) -> SqlResult<Domain> {
    let (l, r) = (&left.ty, &right.ty);
    if matches!(l, SqlType::Null) || matches!(r, SqlType::Null) {
        return Ok(Domain::Integer);
    }
    if matches!(l, SqlType::Json) || matches!(r, SqlType::Json) {
        return Ok(json_domain(left, right));
    }
    if l.is_temporal() || r.is_temporal() {
        let time = |ty: &SqlType| matches!(ty, SqlType::Time { .. });
        if time(l) && time(r) {
            return Ok(Domain::Time);
        }
        // A TIME and a text are texts, unless the text is a constant that a column of type TIME can hold.
        if time(l) && r.is_string() || time(r) && l.is_string() {
            let (temporal, other) = if time(l) { (left, right) } else { (right, left) };
            if is_constant(other) && temporal.is_field() {
                return Ok(Domain::Time);
            }
            return Ok(Domain::Text(other.ty.collation()));
        }
        // A year and a time are numbers.
        if (*l == SqlType::Year || *r == SqlType::Year) && (time(l) || time(r)) {
            return Ok(Domain::Double);
        }
        if *l == SqlType::Year || *r == SqlType::Year {
            return Ok(Domain::YearOrDate);
        }
        if l.is_temporal() && (r.is_temporal() || r.is_string()) || r.is_temporal() && l.is_string() {
            return Ok(Domain::DateTime);
        }
        // A temporal column against a number constant is compared as a date, else as numbers.
        let (temporal, other) = if l.is_temporal() { (left, right) } else { (right, left) };
        if is_constant(other) && temporal.is_field() {
            return Ok(if time(&temporal.ty) { Domain::Time } else { Domain::DateTime });
        }
        return Ok(if is_exact_integer(l) || is_exact_integer(r) { Domain::Decimal } else { Domain::Double });
    }
    if matches!(l, SqlType::Year) && r.is_string() || matches!(r, SqlType::Year) && l.is_string() {
        return Ok(Domain::Double);
    }
    if l.is_string() && r.is_string() {
        // FIND_IN_SET takes it that a collation which is written may not know all characters.
        let refuses = |known, other| operation != "find_in_set" && refuses(known, other);
        if is_unsettled(left, right) || refuses(left, right) || refuses(right, left) {
            return Err(incompatible(&[left, right], operation));
        }
        let (collation, _) = aggregate_collations(&[left, right], operation)?;
        return Ok(Domain::Text(collation));
    }
    if is_exact_integer(l) && is_exact_integer(r) {
        return Ok(Domain::Integer);
    }
    let exact = |ty: &SqlType| is_exact_integer(ty) || matches!(ty, SqlType::Decimal { .. });
    if exact(l) && exact(r) {
        return Ok(Domain::Decimal);
    }
    Ok(Domain::Double)
}

/// The domain in which an operator compares two expressions: as [`domain_of`], but of numbers and texts MySQL
/// makes more here than in CASE and in lists.
pub fn domain_of_operands(left: &Expr, right: &Expr, operation: &str) -> SqlResult<Domain> {
    let domain = domain_of(left, right, operation)?;
    if domain != Domain::Double {
        return Ok(domain);
    }
    // A DECIMAL that depends on the row beside a text that does not: the text is read as a DECIMAL.
    let is_exact = |number: &Expr, text: &Expr| {
        matches!(number.ty, SqlType::Decimal { .. })
            && text.ty.is_text()
            && !number.is_same_for_all_rows()
            && text.is_same_for_all_rows()
    };
    if is_exact(left, right) || is_exact(right, left) {
        return Ok(Domain::Decimal);
    }
    let digits = double_scale(&left.ty).max(double_scale(&right.ty));
    let is_fixed = left.ty.is_numeric() && right.ty.is_numeric() && digits < UNFIXED;
    Ok(if is_fixed { Domain::Fixed(digits) } else { domain })
}

/// Whether two texts are not compared because the collation of the first, which is that of the other, is
/// nothing that was chosen. The other way round MySQL compares them.
fn is_unsettled(left: &Expr, right: &Expr) -> bool {
    left.coercibility == Coercibility::Conflict
        && matches!(right.coercibility, Coercibility::Explicit | Coercibility::Implicit)
        && left.ty.collation() == right.ty.collation()
}

/// Whether two texts are not compared though the collation of the first is written: the other, which is no
/// constant, may have characters which that collation does not know.
fn refuses(known: &Expr, other: &Expr) -> bool {
    let (wanted, had) = (known.ty.collation(), other.ty.collation());
    match (known.coercibility, other.coercibility) {
        (Coercibility::Explicit, Coercibility::Implicit) => {
            let is_kept = matches!(had.get().charset, Charset::Ascii | Charset::Binary);
            wanted.get().charset != had.get().charset
                && !wanted.get().charset.is_utf8()
                && wanted != CollationId::BINARY
                && !is_kept
                && !is_written(other)
        }
        _ => false,
    }
}

fn is_constant(expr: &Expr) -> bool {
    match &expr.node {
        Node::Literal(_) | Node::Parameter(_) => true,
        Node::Cast { operand, target } if target.is_comparison() && operand.is_computed_beforehand() => true,
        Node::Negate(operand) | Node::Cast { operand, .. } => is_constant(operand),
        _ => false,
    }
}

/// The collation in which texts are compared, and how strongly it is insisted on.
pub fn aggregate_collations(operands: &[&Expr], operation: &str) -> SqlResult<(CollationId, Coercibility)> {
    let texts = operands.iter().filter(|operand| operand.ty.is_string()).count();
    let is_settled = |found: &(_, Coercibility)| texts < 2 || found.1 != Coercibility::Conflict;
    // A collation that is written settles what columns before it do not.
    let is_written =
        |operand: &&&Expr| operand.ty.is_string() && operand.coercibility == Coercibility::Explicit;
    let found = match operands.iter().find(is_written) {
        Some(_) => aggregate(operands, conflicting),
        None => aggregate(operands, |_, _, _| None),
    };
    let found = found.filter(is_settled);
    found.ok_or_else(|| incompatible(operands, operation))
}

/// The collation in which FIND_IN_SET looks for a text: that of both if they have the same one, however it
/// came about.
pub fn collation_of_search(text: &Expr, list: &Expr) -> SqlResult<CollationId> {
    let is_same = text.ty.is_string() && list.ty.is_string() && text.ty.collation() == list.ty.collation();
    match is_same {
        true => Ok(text.ty.collation()),
        false => aggregate_collations(&[text, list], "find_in_set").map(|(collation, _)| collation),
    }
}

/// The collation of a text that is made of others, and how strongly it insists on it. Of two collations of
/// one character set that do not go together comes its binary one, which gives way to every other but cannot
/// be compared with itself.
pub fn result_collation(operands: &[&Expr], operation: &str) -> SqlResult<(CollationId, Coercibility)> {
    aggregate(operands, conflicting).ok_or_else(|| incompatible(operands, operation))
}

/// The collation of an expression where a text is wanted, if it has one: that of a text, of bits, which are
/// bytes then, and of the number that a function finds by looking into a text: MySQL gives it the collation
/// in which it has looked.
pub fn text_collation(operand: &Expr) -> Option<CollationId> {
    match (&operand.node, &operand.ty) {
        (_, SqlType::Bit { .. }) => Some(CollationId::BINARY),
        (_, ty) if ty.is_string() => Some(ty.collation()),
        (Node::Call { function, arguments }, _) => match function.name {
            "instr" => arguments.first().and_then(text_collation),
            "locate" | "position" => arguments.get(1).and_then(text_collation),
            "field" if operand.coercibility != Coercibility::Numeric => {
                arguments.first().and_then(text_collation)
            }
            "regexp_instr" | "regexp_like" if operand.coercibility != Coercibility::Numeric => {
                let texts: Vec<&Expr> = arguments.iter().take(2).collect();
                aggregate(&texts, |_, _, _| None).map(|(collation, _)| collation)
            }
            _ => None,
        },
        _ => None,
    }
}

/// What two collations of one character set are together that do not go together.
fn conflicting(
    left: CollationId,
    right: CollationId,
    strength: Coercibility,
) -> Option<(CollationId, Coercibility)> {
    let one_set = left.get().charset == right.get().charset && strength != Coercibility::Explicit;
    let are_binary = left.get().is_binary_order() && right.get().is_binary_order();
    (one_set && !are_binary).then(|| (binary_collation(left), Coercibility::Conflict))
}

/// The collation that operands agree on; `unsettled` decides where two of equal strength do not.
fn aggregate(
    operands: &[&Expr],
    unsettled: impl Fn(CollationId, CollationId, Coercibility) -> Option<(CollationId, Coercibility)>,
) -> Option<(CollationId, Coercibility)> {
    let mut found = operands.iter().filter_map(|operand| {
        let strength = match &operand.ty {
            SqlType::Bit { .. } => Coercibility::Implicit,
            _ => operand.coercibility,
        };
        Some((text_collation(operand)?, strength))
    });
    let Some(first) = found.next() else { return Some((CollationId::default(), Coercibility::Numeric)) };
    found.try_fold(first, |current, next| {
        reconcile(current, next).or_else(|| unsettled(current.0, next.0, current.1.min(next.1)))
    })
}

fn reconcile(
    left: (CollationId, Coercibility),
    right: (CollationId, Coercibility),
) -> Option<(CollationId, Coercibility)> {
    if left.0 == right.0 {
        return Some((left.0, left.1.min(right.1)));
    }
    if left.0.wire_number() == right.0.wire_number() {
        // One of them is as it was before: the other is what the name means now.
        return Some((left.0.min(right.0), left.1.min(right.1)));
    }
    let (strong, weak) = if left.1 <= right.1 { (left, right) } else { (right, left) };
    let (strong_collation, weak_collation) = (strong.0.get(), weak.0.get());
    if strong.0 == CollationId::BINARY {
        return Some(strong);
    }
    if weak.0 == CollationId::BINARY {
        return Some(if strong.1 == weak.1 { weak } else { strong });
    }
    if strong.1 < weak.1 {
        let unicode_lost = weak_collation.charset.is_utf8()
            && !strong_collation.charset.is_utf8()
            && weak.1 <= Coercibility::Implicit
            && strong.1 != Coercibility::Explicit;
        return Some(if unicode_lost { weak } else { strong });
    }
    if strong.1 == Coercibility::Explicit {
        return None;
    }
    if strong_collation.charset == weak_collation.charset {
        match (strong_collation.is_binary_order(), weak_collation.is_binary_order()) {
            // Both are the binary one of their set.
            (true, true) => return None,
            (true, false) => return Some(strong),
            (false, true) => return Some(weak),
            (false, false) => {}
        }
        // Two collations of one character set: neither is better, unless both are only literals.
        if strong.1 >= Coercibility::Literal {
            return Some(strong);
        }
        return None;
    }
    let rank = |charset: Charset| match charset {
        Charset::Utf8mb4 => 3,
        Charset::Utf8mb3 => 2,
        Charset::Ascii => 0,
        _ => 1,
    };
    let (l, r) = (rank(strong_collation.charset), rank(weak_collation.charset));
    match l.cmp(&r) {
        std::cmp::Ordering::Less => Some(weak),
        std::cmp::Ordering::Greater => Some(strong),
        // Neither of two sets of some alphabet has the other's characters.
        std::cmp::Ordering::Equal => None,
    }
}

/// 1267, 1270 or 1271: the collations of these do not go together.
pub fn incompatible(operands: &[&Expr], operation: &str) -> crate::SqlError {
    let is_text = |expr: &Expr| expr.ty.is_string() || expr.ty == SqlType::Null;
    let name = |expr: &Expr| match is_text(expr) {
        true => expr.ty.collation().get().name,
        false => CollationId::LATIN1_SWEDISH_CI.get().name,
    };
    let strength = |expr: &Expr| match expr.coercibility {
        _ if !is_text(expr) => "NUMERIC",
        Coercibility::Explicit => "EXPLICIT",
        Coercibility::Conflict => "NONE",
        Coercibility::Implicit => "IMPLICIT",
        Coercibility::SystemConstant => "SYSCONST",
        Coercibility::Literal => "COERCIBLE",
        Coercibility::Numeric => "NUMERIC",
        Coercibility::Null => "NULL",
    };
    match operands {
        [left, right] => mysql_error!(
            ER_CANT_AGGREGATE_2COLLATIONS,
            name(left),
            strength(left),
            name(right),
            strength(right),
            operation
        ),
        [first, second, third] => mysql_error!(
            ER_CANT_AGGREGATE_3COLLATIONS,
            name(first),
            strength(first),
            name(second),
            strength(second),
            name(third),
            strength(third),
            operation
        ),
        _ => mysql_error!(ER_CANT_AGGREGATE_NCOLLATIONS, operation),
    }
}

impl Context<'_> {
    /// Compares two values in a domain; `None` if one is NULL (or no date where dates are compared).
    pub fn compare(
        &mut self,
        left: ValueRef<'_>,
        right: ValueRef<'_>,
        domain: Domain,
    ) -> SqlResult<Option<Ordering>> {
        if left.is_null() || right.is_null() {
            return Ok(None);
        }
        Ok(match domain {
            Domain::Integer => match (left, right) {
                (ValueRef::Int(l), ValueRef::Int(r)) => Some(l.cmp(&r)),
                (ValueRef::UInt(l), ValueRef::UInt(r)) => Some(l.cmp(&r)),
                _ => Some(self.to_integer(left)?.cmp(&self.to_integer(right)?)),
            },
            Domain::Decimal if let (ValueRef::Int(l), ValueRef::Int(r)) = (left, right) => Some(l.cmp(&r)),
            Domain::Decimal => Some(self.to_decimal(left)?.cmp(&self.to_decimal(right)?)),
            Domain::Double => {
                let (l, r) = (self.to_f64(left)?, self.to_f64(right)?);
                Some(l.partial_cmp(&r).unwrap_or(Ordering::Equal))
            }
            Domain::Fixed(digits) => {
                let (l, r) = (self.to_f64(left)?, self.to_f64(right)?);
                let is_same = (l - r).abs() < 5.0 / 10f64.powi(i32::from(digits) + 1);
                Some(if is_same { Ordering::Equal } else { l.partial_cmp(&r).unwrap_or(Ordering::Equal) })
            }
            Domain::Text(collation) => {
                if let (ValueRef::Bytes(left), ValueRef::Bytes(right)) = (left, right)
                    && left.len().max(right.len()) <= PIECE
                {
                    return Ok(Some(collation.get().compare(left, right)));
                }
                Some(self.watched(|watch| compare_text(left, right, collation.get(), watch))?)
            }
            Domain::DateTime => {
                match (self.datetime_to_compare(left)?, self.datetime_to_compare(right)?) {
                    (Some(l), Some(r)) => Some(l.cmp(&r)),
                    // A number that is no date: so the date is a number, too.
                    _ => return self.compare(left, right, Domain::Double),
                }
            }
            Domain::YearOrDate => {
                let (l, r) = (self.year_to_compare(left)?, self.year_to_compare(right)?);
                Some(l.cmp(&r))
            }
            Domain::DateOrNone => {
                let (l, r) = (self.to_datetime(left)?, self.to_datetime(right)?);
                Some(l.zip(r).map_or(Ordering::Less, |(l, r)| l.cmp(&r)))
            }
            Domain::TimeOrNone => {
                let (l, r) = (self.to_time(left)?, self.to_time(right)?);
                Some(l.zip(r).map_or(Ordering::Less, |(l, r)| l.cmp(&r)))
            }
            Domain::Time => match (self.time_to_compare(left)?, self.time_to_compare(right)?) {
                (Some(l), Some(r)) => Some(l.cmp(&r)),
                _ if is_text(left) || is_text(right) => {
                    let collation = CollationId::default().get();
                    Some(self.watched(|watch| compare_text(left, right, collation, watch))?)
                }
                _ => return self.compare(left, right, Domain::Double),
            },
            Domain::Json(l, r) => {
                if let Some(ordering) = self.watched(|watch| l.ordered_above(r, [left, right], watch))? {
                    return Ok(Some(ordering));
                }
                let (left, right) = (l.json(self, left)?, r.json(self, right)?);
                Some(left.compare(&right))
            }
        })
    }
}

impl Context<'_> {
    /// A value that is not NULL as a date to compare with: a text that is none is the zero date, which is
    /// before all others; `None` for a number that is none. Numbers are constants, of which [more has been
    /// said](super::beforehand).
    pub fn datetime_to_compare(&mut self, value: ValueRef<'_>) -> SqlResult<Option<DateTime>> {
        match value {
            ValueRef::Int(0) | ValueRef::UInt(0) => Ok(Some(DateTime::ZERO)),
            ValueRef::Int(_)
            | ValueRef::UInt(_)
            | ValueRef::Decimal(_)
            | ValueRef::Double(_)
            | ValueRef::Float(_) => self.number_as_datetime(value, self.reading_mode()),
            _ => self.datetime_of_text(value),
        }
    }

    fn datetime_of_text(&mut self, value: ValueRef<'_>) -> SqlResult<Option<DateTime>> {
        Ok(match self.to_datetime(value)? {
            None if is_text(value) => Some(DateTime::ZERO),
            found => found,
        })
    }

    /// A year or a date as a date: that of a year has neither month nor day.
    pub fn year_to_compare(&mut self, value: ValueRef<'_>) -> SqlResult<DateTime> {
        let year = match value {
            ValueRef::Year(_) | ValueRef::Int(_) | ValueRef::UInt(_) => self.to_integer(value)?,
            value => return Ok(self.datetime_of_text(value)?.unwrap_or(DateTime::ZERO)),
        };
        let first = u16::try_from(year).ok().and_then(|year| Date::new(year, 0, 0));
        Ok(first.map_or(DateTime::ZERO, Date::at_midnight))
    }

    /// A value that is not NULL as a time to compare with; `None` if a column of type TIME could not hold it
    /// as it is. What is none is a constant, of which [more has been said](super::beforehand).
    pub fn time_to_compare(&mut self, value: ValueRef<'_>) -> SqlResult<Option<Time>> {
        match value {
            ValueRef::Bytes(text) => {
                let parsed = self.time_of_text(text);
                Ok(parsed.filter(|parsed| !parsed.truncated).map(|parsed| parsed.value))
            }
            ValueRef::Int(_)
            | ValueRef::UInt(_)
            | ValueRef::Decimal(_)
            | ValueRef::Double(_)
            | ValueRef::Float(_) => self.number_as_time(value),
            _ => self.to_time(value),
        }
    }
}

fn is_text(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Bytes(_) | ValueRef::Enum { .. } | ValueRef::Set { .. } | ValueRef::Bit { .. })
}

fn compare_text(
    left: ValueRef<'_>,
    right: ValueRef<'_>,
    collation: &Collation,
    watch: Watch<'_>,
) -> Ordering {
    match (left, right) {
        (ValueRef::Bytes(l), ValueRef::Bytes(r)) => collation.compare_watched(l, r, watch),
        _ => {
            let (mut l, mut r) = (Vec::new(), Vec::new());
            left.append_text(&SqlType::Null, &mut l);
            right.append_text(&SqlType::Null, &mut r);
            collation.compare_watched(&l, &r, watch)
        }
    }
}

/// Compares two values of one type for MIN and MAX: as [`compare_typed`], but an ENUM or SET by its text.
pub fn compare_extreme(left: ValueRef<'_>, right: ValueRef<'_>, ty: &SqlType, watch: Watch<'_>) -> Ordering {
    match (left, right) {
        (ValueRef::Enum { .. }, ValueRef::Enum { .. }) | (ValueRef::Set { .. }, ValueRef::Set { .. }) => {
            compare_text(left, right, ty.collation().get(), watch)
        }
        _ => compare_typed(left, right, ty, watch),
    }
}

/// Compares two values of one type for ORDER BY: NULL first, then by the type's own order. Long texts are
/// [watched](palisade_catalog::watch).
pub fn compare_typed(left: ValueRef<'_>, right: ValueRef<'_>, ty: &SqlType, watch: Watch<'_>) -> Ordering {
    match (left, right) {
        (ValueRef::Null, ValueRef::Null) => Ordering::Equal,
        (ValueRef::Null, _) => Ordering::Less,
        (_, ValueRef::Null) => Ordering::Greater,
        (ValueRef::Int(l), ValueRef::Int(r)) => l.cmp(&r),
        (ValueRef::UInt(l), ValueRef::UInt(r)) => l.cmp(&r),
        (ValueRef::Int(l), ValueRef::UInt(r)) => i128::from(l).cmp(&i128::from(r)),
        (ValueRef::UInt(l), ValueRef::Int(r)) => i128::from(l).cmp(&i128::from(r)),
        (ValueRef::Decimal(l), ValueRef::Decimal(r)) => l.cmp(&r),
        (ValueRef::Float(l), ValueRef::Float(r)) => l.total_cmp(&r),
        (ValueRef::Double(l), ValueRef::Double(r)) => l.partial_cmp(&r).unwrap_or(Ordering::Equal),
        (ValueRef::Date(l), ValueRef::Date(r)) => l.cmp(&r),
        (ValueRef::Time(l), ValueRef::Time(r)) => l.cmp(&r),
        (ValueRef::DateTime(l), ValueRef::DateTime(r)) => l.cmp(&r),
        (ValueRef::Timestamp(l), ValueRef::Timestamp(r)) => l.cmp(&r),
        (ValueRef::Year(l), ValueRef::Year(r)) => l.cmp(&r),
        (ValueRef::Bit { bits: l, .. }, ValueRef::Bit { bits: r, .. }) => l.cmp(&r),
        (ValueRef::Enum { index: l, .. }, ValueRef::Enum { index: r, .. }) => l.cmp(&r),
        (ValueRef::Set { bits: l, .. }, ValueRef::Set { bits: r, .. }) => l.cmp(&r),
        (ValueRef::Bytes(l), ValueRef::Bytes(r)) if *ty == SqlType::Json => {
            compare_texts_watched(l, r, watch)
        }
        (ValueRef::Bytes(l), ValueRef::Bytes(r)) => ty.collation().get().compare_watched(l, r, watch),
        // Values of different kinds meet only where a type is a mixture (UNION of numbers and texts is text).
        (l, r) => compare_text(l, r, ty.collation().get(), watch),
    }
}

/// The `_bin` collation of a collation's character set.
pub fn binary_collation(collation: CollationId) -> CollationId {
    let charset = collation.get().charset;
    Collation::by_name(&format!("{}_bin", charset.name())).map_or(CollationId::BINARY, |found| found.id)
}

/// Whether a value is in the statement itself: a literal, a parameter, or what is computed of those.
pub fn is_written(expr: &Expr) -> bool {
    let mut written = true;
    expr.walk(&mut |part| {
        written &= match &part.node {
            Node::Literal(_) | Node::Parameter(_) | Node::Cast { .. } | Node::Transcode { .. } => true,
            Node::Call { function, .. } => function.purity == Purity::Pure,
            _ => false,
        }
    });
    written
}
