//! JSON values made of SQL values, and texts made of JSON values.

use palisade_base::error_catalogue::{ER_INCORRECT_TYPE, ER_INVALID_JSON_CHARSET, ER_JSON_DOCUMENT_NULL_KEY};
use palisade_base::mysql_error;
use palisade_catalog::json::{self, Json, Members, Name};
use palisade_catalog::{CollationId, SqlType, Value};

use super::convert::{Form, to_json, utf8_text};
use super::{Arguments, document_error, long_text, not_binary, text, written, wrong_count};
use crate::func::{Evaluation, Function, MANY, Typed, characters, function};
use crate::place::At;
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlResult};
use Evaluation::{Lazy, Strict};

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("json_array", (0, MANY), super::json, Lazy(array)),
    function("json_object", (0, MANY), object_type, Lazy(object)),
    function("json_pretty", (1, 1), long_text, Lazy(pretty)),
    function("json_quote", (1, 1), quote_type, Strict(quote)),
    function("json_type", (1, 1), |_, _| text(17), Lazy(type_of)),
    function("json_unquote", (1, 1), unquote_type, Strict(unquote)),
    function("json_valid", (1, 1), super::bigint, Lazy(valid)),
];

fn object_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    if arguments.len() % 2 == 1 {
        return wrong_count("json_object");
    }
    super::json(arguments, connection)
}

/// Every character may be written as `\u0001`, and there are the quotation marks.
fn quote_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    text(characters(arguments.at(0)?) * 6 + 2)
}

fn unquote_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    match &arguments.at(0)?.ty {
        SqlType::Json => long_text(arguments, connection),
        _ => text(characters(arguments.at(0)?)),
    }
}

/// 3064 of an argument that is no text, 3144 of a binary string.
fn require_text(argument: &Expr, function: &str) -> SqlResult<()> {
    if !argument.ty.is_string() {
        return Err(mysql_error!(ER_INCORRECT_TYPE, 1, function));
    }
    not_binary(argument)
}

/// Whether what is made of these values is too long whatever they are: no text becomes shorter in JSON.
fn is_too_long(cx: &Context<'_>, values: &[Value]) -> bool {
    let bytes = values.iter().map(|value| match value {
        Value::Bytes(text) => text.len(),
        _ => 0,
    });
    bytes.sum::<usize>() > cx.packet_limit()
}

/// The values of all arguments.
fn all(cx: &mut Context<'_>, exprs: &[Expr]) -> SqlAttempt<Vec<Value>> {
    exprs.iter().map(|expr| expr.eval(cx)).collect()
}

fn array(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let values = all(cx, exprs)?;
    if is_too_long(cx, &values) {
        return Ok(cx.too_large("json_array"));
    }
    let pairs = values.iter().zip(exprs);
    let items = pairs.map(|(value, expr)| to_json(cx, value, expr)).collect::<SqlResult<_>>()?;
    written(cx, "json_array", &Json::Array(items))
}

/// A member's name from a value that is not NULL.
pub fn member_name(cx: &mut Context<'_>, value: &Value, expr: &Expr) -> SqlResult<Name> {
    if value.is_null() {
        return Err(mysql_error!(ER_JSON_DOCUMENT_NULL_KEY));
    }
    not_binary(expr)?;
    if matches!(expr.ty, SqlType::Bit { .. }) {
        return Err(mysql_error!(ER_INVALID_JSON_CHARSET, "binary"));
    }
    Ok(Name(utf8_text(cx, value, expr)?))
}

fn object(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let values = all(cx, exprs)?;
    if is_too_long(cx, &values) {
        return Ok(cx.too_large("json_object"));
    }
    let mut members = Members::new();
    for position in (0..values.len()).step_by(2) {
        let name = member_name(cx, values.at(position)?, exprs.at(position)?)?;
        members.insert(name, to_json(cx, values.at(position + 1)?, exprs.at(position + 1)?)?);
    }
    written(cx, "json_object", &Json::Object(members))
}

fn pretty(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let Some(document) = (Arguments { function: "json_pretty", exprs }).document(cx, 0)? else {
        return Ok(Value::Null);
    };
    // each level indents each of its lines: the length is a product
    match cx.write_json_by(|out, watch| document.write_pretty(0, out, watch))? {
        Some(text) => Ok(Value::bytes(text)),
        None => Ok(cx.too_large("json_pretty")),
    }
}

fn type_of(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let document = Arguments { function: "json_type", exprs }.document(cx, 0)?;
    Ok(document.map_or(Value::Null, |document| Value::bytes(document.type_name())))
}

fn quote(cx: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    if exprs.at(0)?.ty == SqlType::Json {
        return Err(mysql_error!(ER_INCORRECT_TYPE, 1, "json_quote"));
    }
    require_text(exprs.at(0)?, "json_quote")?;
    let text = utf8_text(cx, values.at(0)?, exprs.at(0)?)?;
    match cx.write_json_by(|out, watch| json::quote_watched(&text, out, watch))? {
        Some(text) => Ok(Value::bytes(text)),
        None => Ok(cx.too_large("json_quote")),
    }
}

/// The text of a JSON string; other values and texts that are in no quotation marks stay as they are.
fn unquote(cx: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    require_text(exprs.at(0)?, "json_unquote")?;
    let text = utf8_text(cx, values.at(0)?, exprs.at(0)?)?;
    let quoted = text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
    if !quoted {
        return Ok(Value::bytes(text));
    }
    match cx.read_json(text.as_bytes(), Form::Any)? {
        Ok(Json::String(text)) => Ok(Value::bytes(text)),
        Ok(_) => Ok(Value::bytes(text)),
        Err(error) => Err(document_error(error, 1, "json_unquote")),
    }
}

/// What is neither a text nor a document is not computed.
fn valid(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let argument = exprs.at(0)?;
    let ty = &argument.ty;
    // A member of an ENUM or SET is no document, and neither is none of them.
    if matches!(ty, SqlType::Enum { .. } | SqlType::Set { .. }) || !ty.is_string() && *ty != SqlType::Null {
        return Ok(Value::Int(0));
    }
    let value = argument.eval(cx)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let valid =
        *ty == SqlType::Json || ty.collation() != CollationId::BINARY && is_document(cx, &value, argument)?;
    Ok(Value::Int(i64::from(valid)))
}

fn is_document(cx: &mut Context<'_>, value: &Value, expr: &Expr) -> SqlResult<bool> {
    let text = utf8_text(cx, value, expr)?;
    match cx.read_json(text.as_bytes(), Form::Any)? {
        Err(error @ json::JsonError::TooDeep) => Err(document_error(error, 1, "json_valid")),
        parsed => Ok(parsed.is_ok()),
    }
}
