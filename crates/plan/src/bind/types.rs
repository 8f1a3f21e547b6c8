//! Types of results: lengths of texts, conversions between character sets, targets of CAST.

use palisade_base::error_catalogue::{
    ER_M_BIGGER_THAN_D, ER_TOO_BIG_DISPLAYWIDTH, ER_TOO_BIG_PRECISION, ER_TOO_BIG_SCALE,
};
use palisade_base::mysql_error;
use palisade_catalog::watch::PIECE;
use palisade_catalog::{Charset, CollationId, SqlType, Value};
use palisade_expr::common::text_of;
use palisade_expr::compare::binary_collation;
use palisade_expr::convert::{is_chosen, refuse_loss, text_of as value_text};
use palisade_expr::func::control::IF;
use palisade_expr::{CastTarget, Expr, Loss, Node, SqlResult};
use palisade_parser::ast::{CastCharset, CastType};

use super::literal::charset_collation;
use super::{Binder, not_supported};

/// Most characters an expression's text can have.
pub fn text_length(expr: &Expr) -> u32 {
    match &expr.ty {
        SqlType::Char { length, .. } | SqlType::VarChar { length, .. } => *length,
        SqlType::Binary { length } | SqlType::VarBinary { length } => *length,
        SqlType::Text { .. } | SqlType::Blob { .. } | SqlType::Json => expr.ty.wire_length(1),
        SqlType::Null => 0,
        other => other.wire_length(1),
    }
}

/// Wraps a text in a conversion to another character set, if it needs one. Characters that this one does not
/// have, and bytes that are no text there, are refused (3854): those of a constant at once, others when they
/// are met.
pub fn transcode_to(argument: &mut Expr, collation: CollationId) -> SqlResult<()> {
    transcode(argument, collation, true, Loss::Refused)
}

/// The same for what a column of UNION keeps: constants are refused when they are met, too.
pub fn transcode_for_column(argument: &mut Expr, collation: CollationId) -> SqlResult<()> {
    transcode(argument, collation, false, Loss::RefusedByColumn)
}

/// The same, but constants are refused when they are met, too.
pub fn transcode_when_met(argument: &mut Expr, collation: CollationId) -> SqlResult<()> {
    transcode(argument, collation, false, Loss::Refused)
}

fn transcode(argument: &mut Expr, collation: CollationId, at_once: bool, loss: Loss) -> SqlResult<()> {
    if !argument.ty.is_string() {
        return Ok(());
    }
    let (from, to) = (argument.ty.collation().get().charset, collation.get().charset);
    if from == to || to == Charset::Binary {
        return Ok(());
    }
    let ty = text_of(u64::from(text_length(argument)), collation);
    // A long one is looked at when it is met, where the statement can give way to others.
    if let Node::Literal(value @ (Value::Bytes(_) | Value::Bit { .. })) = &argument.node
        && at_once
        && text_length(argument) as usize <= PIECE
    {
        let text = value_text(value, &argument.ty);
        refuse_loss(&text, from, to, &mut |_| true)?;
        if from == Charset::Binary {
            (argument.node, argument.ty) = (Node::Literal(Value::Bytes(text)), ty);
            return Ok(());
        }
    }
    let inner = std::mem::replace(argument, Expr::null());
    let (nullable, coercibility) = (inner.nullable, inner.coercibility);
    *argument = Expr {
        node: Node::Transcode { operand: Box::new(inner), to: collation, loss },
        ty,
        nullable,
        coercibility,
    };
    Ok(())
}

/// [`transcode_to`] for what IF and CASE choose: a binary literal stays one below the conversion, so that it
/// is its bits where a number is wanted.
pub fn transcode_choice(choice: &mut Expr, collation: CollationId) -> SqlResult<()> {
    let is_bits = matches!(choice.node, Node::Literal(Value::Bit { .. }));
    let literal = is_bits.then(|| choice.clone());
    transcode_to(choice, collation)?;
    if let (Some(literal), Node::Literal(Value::Bytes(_))) = (literal, &choice.node) {
        choice.node = Node::Transcode { operand: Box::new(literal), to: collation, loss: Loss::Refused };
    }
    Ok(())
}

/// The binary literal that a choice was before it became a text.
fn bits_of_choice(choice: &Expr) -> Option<&Expr> {
    match &choice.node {
        Node::Transcode { operand, .. } if matches!(operand.node, Node::Literal(Value::Bit { .. })) => {
            Some(operand)
        }
        _ => None,
    }
}

/// [`transcode_to`] for what is compared with a document: bytes stay bytes there.
pub fn transcode_beside_document(argument: &mut Expr) -> SqlResult<()> {
    match argument.ty.collation() {
        CollationId::BINARY => Ok(()),
        _ => transcode_to(argument, CollationId::UTF8MB4_BIN),
    }
}

/// An expression where a number is wanted. A JSON value is the number that it says. What IF and CASE choose,
/// among texts, is the number that it was before it became a text, and a date that is a text, which functions
/// make, is the number of that date.
pub fn as_number(mut expr: Expr) -> Expr {
    let nullable = expr.nullable;
    match &expr.node {
        _ if expr.ty.is_temporal() => chosen_date_as_number(expr),
        _ if !expr.ty.is_string() => expr,
        _ if is_extreme_of_numbers(&expr) => {
            expr.children_mut(&mut |choice| make_number(choice));
            Expr::computed(expr.node, SqlType::DOUBLE, nullable)
        }
        _ if is_least_of_moments(&expr) => double(least_moment(expr), CastTarget::Double),
        _ if is_choice(&expr) => {
            choices(&mut expr).into_iter().for_each(make_number);
            Expr::computed(expr.node, SqlType::DOUBLE, nullable)
        }
        _ if expr.ty == SqlType::Json => double(expr, CastTarget::Double),
        Node::Call { function, arguments } if makes_dates(function.name, arguments) => {
            double(expr, CastTarget::DateNumber)
        }
        _ => expr,
    }
}

/// What gives a member of an ENUM or SET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    /// MIN and MAX, but not OVER a window.
    OfAggregate,
    /// A window function or a subquery.
    OfOther,
}

/// A member of an ENUM or SET that an aggregate, a window function or a subquery gives: what computes with it
/// gets its text, so that the number of `MAX(e)` is the one that the text says. Others as they are.
pub fn member_as_text(expr: Expr, source: Member) -> Expr {
    if !matches!(expr.ty, SqlType::Enum { .. } | SqlType::Set { .. }) {
        return expr;
    }
    let target = CastTarget::MemberText { of_aggregate: source == Member::OfAggregate };
    let (ty, nullable, coercibility) = (target.result_type(&expr.ty), expr.nullable, expr.coercibility);
    Expr { node: Node::Cast { operand: Box::new(expr), target }, ty, nullable, coercibility }
}

/// The member that an aggregate gives, where it is a column of the result or its order is asked.
pub fn member_itself(expr: Expr) -> Expr {
    match expr.node {
        Node::Cast { operand, target: CastTarget::MemberText { of_aggregate: true } } => *operand,
        _ => expr,
    }
}

/// A user variable that holds a double, where a whole number is wanted; others as they are.
pub fn variable_as_integer(expr: Expr) -> Expr {
    if !matches!(expr.node, Node::UserVariable(_)) || !matches!(expr.ty, SqlType::Double { .. }) {
        return expr;
    }
    let (target, nullable) = (CastTarget::WholePart, expr.nullable);
    Expr::computed(Node::Cast { operand: Box::new(expr), target }, SqlType::BIGINT, nullable)
}

/// A double that is computed and not chosen, where a whole number is wanted; others as they are.
pub fn computed_as_integer(expr: Expr) -> Expr {
    let is_computed = match &expr.node {
        Node::Call { .. } | Node::Arithmetic { .. } | Node::Negate(_) => !is_chosen(&expr),
        Node::Literal(Value::Double(number)) => *number < 0.0,
        _ => false,
    };
    if !is_computed || !matches!(expr.ty, SqlType::Double { .. }) {
        return expr;
    }
    let (target, nullable) = (CastTarget::ComputedInteger, expr.nullable);
    Expr::computed(Node::Cast { operand: Box::new(expr), target }, SqlType::BIGINT, nullable)
}

/// What IF and CASE choose, among texts, where a number or a truth value is wanted; others as they are.
pub fn choice_as_number(expr: Expr) -> Expr {
    let is_number = is_choice(&expr) && expr.ty != SqlType::Json || is_extreme_of_numbers(&expr);
    if is_number { as_number(expr) } else { expr }
}

/// The same, and the text that a function has made of a date or time.
pub fn chosen_as_number(expr: Expr) -> Expr {
    choice_as_number(date_text_as_number(expr))
}

/// What GREATEST or LEAST takes a text from.
fn extremes(expr: &Expr) -> Option<(&'static str, &[Expr])> {
    match &expr.node {
        Node::Call { function, arguments } if matches!(function.name, "greatest" | "least") => {
            expr.ty.is_string().then_some((function.name, arguments.as_slice()))
        }
        _ => None,
    }
}

fn is_dated(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. })
}

/// Whether it is the greatest or least of years or times, and of texts or numbers: where a number is wanted
/// all of them are numbers.
fn is_extreme_of_numbers(expr: &Expr) -> bool {
    let Some((_, arguments)) = extremes(expr) else { return false };
    arguments.iter().any(|argument| argument.ty == SqlType::Year || argument.ty.is_temporal())
        && !arguments.iter().any(|argument| is_dated(&argument.ty))
}

/// Whether it is the least of dates with times of day, and of texts or numbers: where a number is wanted what
/// is no date is the zero date among them.
fn is_least_of_moments(expr: &Expr) -> bool {
    let is_moment = |ty: &SqlType| matches!(ty, SqlType::DateTime { .. } | SqlType::Timestamp { .. });
    let of = extremes(expr).filter(|(function, _)| *function == "least");
    of.is_some_and(|(_, arguments)| arguments.iter().any(|argument| is_moment(&argument.ty)))
}

fn least_moment(mut expr: Expr) -> Expr {
    let (nullable, ty) = (expr.nullable, SqlType::DateTime { fsp: 6 });
    expr.children_mut(&mut |choice| {
        if !choice.ty.is_temporal() {
            let operand = Box::new(std::mem::replace(choice, Expr::null()));
            let nullable = operand.nullable;
            *choice = Expr::computed(
                Node::Cast { operand, target: CastTarget::MomentOrZero },
                ty.clone(),
                nullable,
            );
        }
    });
    Expr::computed(expr.node, ty, nullable)
}

/// A text that a function has made of a date or time, as its number, where bits are wanted; others as they
/// are.
pub fn date_text_as_number(expr: Expr) -> Expr {
    match is_date_text(&expr) {
        true if is_least_of_moments(&expr) => as_number(expr),
        true => double(expr, CastTarget::DateNumber),
        false => expr,
    }
}

/// The greatest or least of dates, where CAST makes a whole number of it; others as they are.
pub fn extreme_date_as_integer(expr: Expr) -> Expr {
    let is_extreme = extremes(&expr).is_some() && is_date_text(&expr);
    if is_extreme { date_text_as_integer(expr) } else { expr }
}

/// The same as a whole number, where one is wanted; the least or greatest of years, times and texts is that
/// of whole numbers there, and a binary literal that IF or CASE chooses among texts is its bits.
pub fn date_text_as_integer(mut expr: Expr) -> Expr {
    let nullable = expr.nullable;
    if is_extreme_of_numbers(&expr) {
        expr.children_mut(&mut |choice| {
            if choice.ty.is_string() {
                *choice = integer(std::mem::replace(choice, Expr::null()), CastTarget::Signed);
            }
        });
        return Expr::computed(expr.node, SqlType::BIGINT, nullable);
    }
    if expr.ty.is_text() && choices(&mut expr).into_iter().any(|choice| bits_of_choice(choice).is_some()) {
        for choice in choices(&mut expr) {
            let taken = bits_of_choice(choice).cloned();
            let taken = taken.unwrap_or_else(|| std::mem::replace(choice, Expr::null()));
            *choice = integer(taken, CastTarget::Signed);
        }
        return Expr::computed(expr.node, SqlType::BIGINT, nullable);
    }
    match is_date_text(&expr) {
        true if is_least_of_moments(&expr) => integer(least_moment(expr), CastTarget::Signed),
        true => integer(expr, CastTarget::DateInteger),
        false => expr,
    }
}

/// A column of texts as the whole number that it says, where bits are wanted: a number of 64 bits with a
/// sign, unlike that of any other text. Others as they are.
pub fn text_column_as_integer(expr: Expr) -> Expr {
    let is_text = matches!(expr.ty, SqlType::Char { .. } | SqlType::VarChar { .. } | SqlType::Text { .. });
    if is_text && expr.is_field() { integer(expr, CastTarget::SignedText) } else { expr }
}

/// Such a text as the date or time that it says, where a DECIMAL or DOUBLE is wanted; others as they are.
pub fn date_text_as_moment(expr: Expr) -> Expr {
    match is_date_text(&expr) {
        _ if is_extreme_of_numbers(&expr) => as_number(expr),
        true if is_least_of_moments(&expr) => least_moment(expr),
        true => moment_of_text(expr),
        false => expr,
    }
}

/// Whether it is a text that a function has made of a date or time.
fn is_date_text(expr: &Expr) -> bool {
    match &expr.node {
        Node::Call { function, arguments } => expr.ty.is_string() && makes_dates(function.name, arguments),
        _ => false,
    }
}

fn moment_of_text(expr: Expr) -> Expr {
    let nullable = expr.nullable;
    let node = Node::Cast { operand: Box::new(expr), target: CastTarget::SumMoment };
    Expr::computed(node, SqlType::DateTime { fsp: 6 }, nullable)
}

/// The text that ADDTIME or SUBTIME has made, as the date or time that it says; others as they are.
pub fn sum_as_moment(expr: Expr) -> Expr {
    match &expr.node {
        Node::Call { function, .. }
            if expr.ty.is_string() && matches!(function.name, "addtime" | "subtime") =>
        {
            moment_of_text(expr)
        }
        _ => expr,
    }
}

/// What IF and CASE choose among dates and times of several types, where a number is wanted: MySQL asks the
/// one that is chosen for its number. Others as they are.
pub fn chosen_date_as_number(mut expr: Expr) -> Expr {
    if !expr.ty.is_temporal() || !chooses_among_types(&mut expr) {
        return expr;
    }
    for choice in choices(&mut expr) {
        let taken = chosen_date_as_number(std::mem::replace(choice, Expr::null()));
        *choice = match taken.ty {
            SqlType::Null => taken,
            _ => {
                let (nullable, target) = (taken.nullable, CastTarget::Chosen);
                Expr::computed(Node::Cast { operand: Box::new(taken), target }, SqlType::Null, nullable)
            }
        };
    }
    expr
}

/// Whether IF or CASE chooses, here or below, among values of which some are not of the type of all.
fn chooses_among_types(expr: &mut Expr) -> bool {
    let ty = expr.ty.clone();
    let mut choices = choices(expr).into_iter().filter(|choice| choice.ty != SqlType::Null);
    choices.any(|choice| choice.ty != ty || chooses_among_types(choice))
}

fn is_choice(expr: &Expr) -> bool {
    match &expr.node {
        Node::Case { .. } => true,
        Node::Call { function, .. } => function.name == IF,
        _ => false,
    }
}

/// What IF or CASE chooses among; nothing of other expressions.
fn choices(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.node {
        Node::Case { branches, otherwise } => {
            let chosen = branches.iter_mut().map(|(_, chosen)| chosen);
            chosen.chain(otherwise.as_deref_mut()).collect()
        }
        Node::Call { function, arguments } if function.name == IF => arguments.iter_mut().skip(1).collect(),
        _ => Vec::new(),
    }
}

fn make_number(choice: &mut Expr) {
    if let Some(bits) = bits_of_choice(choice).cloned() {
        *choice = bits;
    }
    let taken = as_number(std::mem::replace(choice, Expr::null()));
    *choice = if taken.ty == SqlType::DOUBLE { taken } else { double(taken, CastTarget::Double) };
}

fn integer(operand: Expr, target: CastTarget) -> Expr {
    let nullable = operand.nullable;
    Expr::computed(Node::Cast { operand: Box::new(operand), target }, SqlType::BIGINT, nullable)
}

fn double(operand: Expr, target: CastTarget) -> Expr {
    let nullable = operand.nullable;
    Expr::computed(Node::Cast { operand: Box::new(operand), target }, SqlType::DOUBLE, nullable)
}

/// Whether a function that gives a text gives dates or times.
fn makes_dates(function: &str, arguments: &[Expr]) -> bool {
    match function {
        "addtime" | "subtime" | "date_add" | "date_sub" | "timestampadd" => true,
        "greatest" | "least" => arguments.iter().any(|argument| is_dated(&argument.ty)),
        _ => false,
    }
}

impl Binder<'_> {
    /// What CAST casts to.
    pub fn cast_target(&self, target: &CastType) -> SqlResult<CastTarget> {
        let digits = |fsp: &Option<u8>, name: &str| match fsp.unwrap_or(0) {
            fsp @ 0..=6 => Ok(fsp),
            fsp => Err(mysql_error!(ER_TOO_BIG_PRECISION, fsp, name, 6)),
        };
        if let CastType::Binary(Some(length)) | CastType::Char { length: Some(length), .. } = target
            && *length > u64::from(u32::MAX)
        {
            return Err(mysql_error!(ER_TOO_BIG_DISPLAYWIDTH, "cast as char", u32::MAX));
        }
        Ok(match target {
            CastType::Binary(length) => CastTarget::Binary { length: *length },
            CastType::Char { length, charset } => {
                let collation = match charset {
                    None => self.collation_connection(),
                    Some(CastCharset::Named(name)) => charset_collation(name)?,
                    Some(CastCharset::BinaryCollation) => binary_collation(self.collation_connection()),
                };
                if collation == CollationId::BINARY {
                    CastTarget::Binary { length: *length }
                } else {
                    CastTarget::Char { length: *length, collation }
                }
            }
            CastType::Signed => CastTarget::Signed,
            CastType::Unsigned => CastTarget::Unsigned,
            CastType::Date => CastTarget::Date,
            CastType::Time(fsp) => CastTarget::Time { fsp: digits(fsp, "CAST")? },
            CastType::DateTime(fsp) => CastTarget::DateTime { fsp: digits(fsp, "CAST")? },
            CastType::Year => CastTarget::Year,
            CastType::Decimal(0, 0) => CastTarget::Decimal { precision: 10, scale: 0 },
            CastType::Decimal(precision, scale) => {
                let precision = if *precision == 0 { 10 } else { *precision };
                if precision > 65 {
                    return Err(mysql_error!(ER_TOO_BIG_PRECISION, precision, "CAST", 65));
                }
                if *scale > 30 {
                    return Err(mysql_error!(ER_TOO_BIG_SCALE, scale, "CAST", 30));
                }
                if *scale > precision {
                    return Err(mysql_error!(ER_M_BIGGER_THAN_D, ""));
                }
                CastTarget::Decimal { precision: precision as u8, scale: *scale as u8 }
            }
            CastType::Float => CastTarget::Float,
            CastType::Double => CastTarget::Double,
            CastType::Real
                if self.session.variables.sql_mode.has(palisade_expr::mode::SqlMode::REAL_AS_FLOAT) =>
            {
                CastTarget::Float
            }
            CastType::Real => CastTarget::Double,
            CastType::Json => CastTarget::Json,
            CastType::Geometry(name) => return Err(not_supported(name)),
        })
    }
}
