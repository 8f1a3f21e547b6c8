//! JSON_VALUE: the scalar at a path, as a SQL value.

use palisade_base::error_catalogue::{ER_DATA_OUT_OF_RANGE, ER_MISSING_JSON_VALUE, ER_MULTIPLE_JSON_VALUES};
use palisade_base::mysql_error;
use palisade_catalog::json::Json;
use palisade_catalog::types::IntWidth;
use palisade_catalog::{SqlType, Value};

use super::{document_error, json, read_document, read_path, utf8};
use crate::convert::text_of;
use crate::func::{Evaluation, Function, function};
use crate::place::At;
use crate::{CastTarget, Context, Expr, Node};
use crate::{SqlAttempt, SqlError, SqlResult};

/// Its declaration. The binder gives the call its type.
pub static FUNCTIONS: &[Function] = &[function("json_value", (6, 6), json, Evaluation::Lazy(json_value))];

/// Characters of the result where no type is said.
pub const LONGEST: u64 = 512;

/// What an ON clause asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnProblem {
    /// `NULL ON ...`, or no clause.
    Null = 0,
    /// `ERROR ON ...`
    Error = 1,
    /// `DEFAULT ... ON ...`
    Default = 2,
}

/// The result where a problem has come up, of the clause in two arguments.
fn answer(cx: &mut Context<'_>, clause: &[Expr], problem: SqlError) -> SqlAttempt<Value> {
    match clause_of(clause)? {
        how if how == OnProblem::Null as i64 => Ok(Value::Null),
        how if how == OnProblem::Default as i64 => default(cx, clause),
        _ => Err(problem.into()),
    }
}

/// What a clause asks for: one of [`OnProblem`].
fn clause_of(clause: &[Expr]) -> SqlResult<i64> {
    match clause.at(0)?.node {
        Node::Literal(Value::Int(how)) => Ok(how),
        _ => Err(SqlError::internal("a clause of JSON_VALUE is no literal")),
    }
}

/// The default of a clause. One that is no value of the type is an error, and a year has four digits.
fn default(cx: &mut Context<'_>, clause: &[Expr]) -> SqlAttempt<Value> {
    let default = clause.at(1)?;
    if let Node::Cast { operand, target: CastTarget::Year } = &default.node
        && let Node::Literal(value) = &operand.node
    {
        let year = Json::String(String::from_utf8_lossy(&text_of(value, &operand.ty)).into_owned());
        if year_of(cx, &year)?.is_none() {
            return Err(mysql_error!(ER_DATA_OUT_OF_RANGE, "YEAR", "json_value").into());
        }
    }
    let strict = std::mem::replace(&mut cx.state.strict, true);
    let value = default.eval(cx);
    cx.state.strict = strict;
    value
}

fn json_value(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let (document, path) = (arguments.at(0)?.eval(cx)?, arguments.at(1)?.eval(cx)?);
    let (on_empty, on_error) = (arguments.part(2..4)?, arguments.part(4..6)?);
    for clause in [on_empty, on_error] {
        // As in MySQL a wrong default is an error where it is not needed, too.
        if clause_of(clause)? == OnProblem::Default as i64 {
            default(cx, clause)?;
        }
    }
    if arguments.at(0)?.ty != SqlType::Json && !document.is_null() {
        // a binary string is refused whatever the clauses say
        utf8(cx, &document, arguments.at(0)?)?;
    }
    let document = read_document(cx, &document, arguments.at(0)?, 1, "json_value");
    let document = match cx.attempt(document)? {
        Ok(Some(document)) => document,
        Ok(None) => return Ok(Value::Null),
        Err(error) => {
            let error = document_error(error, 1, "json_value");
            if clause_of(on_error)? != OnProblem::Error as i64 {
                cx.session.warnings.warn(error.clone());
            }
            return answer(cx, on_error, error);
        }
    };
    if path.is_null() {
        return Ok(Value::Null);
    }
    let path = read_path(&utf8(cx, &path, arguments.at(1)?)?)?;
    let found = super::found(cx, &path, &document, true);
    let found = cx.attempt(found)?;
    let value = match found.as_slice() {
        [] => return answer(cx, on_empty, mysql_error!(ER_MISSING_JSON_VALUE, "json_value")),
        [one] => one.value,
        _ => return answer(cx, on_error, mysql_error!(ER_MULTIPLE_JSON_VALUES, "json_value")),
    };
    if *value == Json::Null {
        return Ok(Value::Null);
    }
    match returned(cx, value, &call.ty)? {
        Some(value) => Ok(value),
        None => answer(cx, on_error, mysql_error!(ER_DATA_OUT_OF_RANGE, type_name(&call.ty), "json_value")),
    }
}

fn type_name(ty: &SqlType) -> &'static str {
    match ty {
        SqlType::Int { unsigned: false, .. } => "SIGNED",
        SqlType::Int { .. } => "UNSIGNED",
        SqlType::Decimal { .. } => "DECIMAL",
        SqlType::Float { .. } => "FLOAT",
        SqlType::Double { .. } => "DOUBLE",
        SqlType::Date => "DATE",
        SqlType::Time { .. } => "TIME",
        SqlType::DateTime { .. } => "DATETIME",
        SqlType::Year => "YEAR",
        _ => "STRING",
    }
}

/// The year that a number or the text of one is: 0 and 1901 to 2155 are years.
fn year_of(cx: &mut Context<'_>, value: &Json) -> SqlResult<Option<Value>> {
    let year = match value {
        Json::Int(number) => Some(*number),
        Json::Double(number) => Some(number.round_ties_even() as i64),
        Json::Decimal(number) => Some(cx.to_i64(Value::Decimal(*number).as_ref())?),
        Json::String(text) => text.parse().ok(),
        Json::Bool(truth) => Some(i64::from(*truth)),
        _ => None,
    };
    Ok(year.filter(|year| matches!(year, 0 | 1901..=2155)).map(Value::Int))
}

/// Whether a text has a date with delimiters and no space before a time: MySQL takes it for no DATETIME here.
fn is_date_alone(text: &str) -> bool {
    !text.contains(' ') && text.contains(|c: char| !c.is_ascii_digit())
}

/// The value as one of a type; `None` if it is none.
fn returned(cx: &mut Context<'_>, value: &Json, ty: &SqlType) -> SqlAttempt<Option<Value>> {
    let target = match ty {
        SqlType::Json => return Ok(Some(Value::bytes(value.to_text()))),
        SqlType::Int { width: IntWidth::Big, unsigned } => {
            let bounds = if *unsigned {
                (0.0, 18446744073709551616.0)
            } else {
                (-9223372036854775808.0, 9223372036854775808.0)
            };
            let most = if *unsigned { i128::from(u64::MAX) } else { i64::MAX.into() };
            let least = if *unsigned { 0 } else { i64::MIN.into() };
            let fits = match value {
                Json::String(text) => text.parse().is_ok_and(|number: i128| (least..=most).contains(&number)),
                Json::Int(number) => !*unsigned || *number >= 0,
                Json::UInt(_) => *unsigned,
                Json::Double(number) => number.round() >= bounds.0 && number.round() < bounds.1,
                Json::Decimal(number) => number.to_f64() >= bounds.0 && number.to_f64() < bounds.1,
                _ => true,
            };
            match (fits, unsigned) {
                (false, _) => return Ok(None),
                (true, true) => CastTarget::Unsigned,
                (true, false) => CastTarget::Signed,
            }
        }
        SqlType::Decimal { precision, scale, .. } => {
            CastTarget::Decimal { precision: *precision, scale: *scale }
        }
        SqlType::Float { .. } => CastTarget::Float,
        SqlType::Double { .. } => CastTarget::Double,
        SqlType::Date => CastTarget::Date,
        SqlType::Time { .. } => CastTarget::Time { fsp: 6 },
        SqlType::DateTime { .. } if matches!(value, Json::String(text) if is_date_alone(text)) => {
            return Ok(None);
        }
        SqlType::DateTime { .. } => CastTarget::DateTime { fsp: 6 },
        SqlType::Year => return Ok(year_of(cx, value)?),
        _ => {
            let text = match value {
                Json::String(text) => text.clone().into_bytes(),
                other => other.to_text(),
            };
            let length = String::from_utf8_lossy(&text).chars().count() as u64;
            return Ok((length <= u64::from(ty.wire_length(1))).then(|| Value::bytes(text)));
        }
    };
    if let (CastTarget::Float, Json::Double(number)) = (&target, value)
        && (*number as f32).is_infinite()
    {
        // Unlike CAST, which fails.
        return Ok(Some(Value::Float(0.0)));
    }
    // What CAST would warn of is an error here, and told by the clause.
    let warnings = cx.session.warnings.clone();
    let strict = std::mem::replace(&mut cx.state.strict, true);
    let operand = Expr { ty: SqlType::Json, ..Expr::null() };
    let cast = cx.cast_from_json(&value.to_text(), &operand, &target);
    cx.state.strict = strict;
    cx.session.warnings = warnings;
    let cast = cx.own_result(cast)?;
    // Unlike CAST, it cuts what the type has no digits for.
    Ok(cast.ok().filter(|value| !value.is_null()).map(|value| match value {
        Value::Time(time) => Value::Time(time.truncate(ty.fraction_digits())),
        Value::DateTime(moment) => Value::DateTime(moment.truncate(ty.fraction_digits())),
        value => value,
    }))
}
