//! Functions of JSON.
//!
//! | module | what it holds |
//! |---|---|
//! | [`convert`] | SQL values to JSON and back |
//! | [`make`] | values made of others: JSON_ARRAY, JSON_OBJECT, JSON_QUOTE, ... |
//! | [`read`] | what is in a document: JSON_EXTRACT, JSON_KEYS, JSON_CONTAINS, ... |
//! | [`mod@search`] | JSON_SEARCH |
//! | [`value`] | JSON_VALUE |
//! | [`change`] | documents with changes: JSON_SET, JSON_REMOVE, JSON_MERGE_PATCH, ... |
//!
//! A document is an argument of type JSON, whose text is in normal form, or a text, which is read and may be
//! wrong (3141). A function reads its documents into trees, works on them, and writes its result as normal
//! text ([`palisade_catalog::json`]).

pub mod change;
pub mod convert;
pub mod make;
pub mod read;
pub mod search;
pub mod value;

use palisade_base::error_catalogue::{
    ER_INVALID_JSON_CHARSET, ER_INVALID_JSON_PATH, ER_INVALID_JSON_PATH_WILDCARD,
    ER_INVALID_JSON_TEXT_IN_PARAM, ER_INVALID_TYPE_FOR_JSON, ER_JSON_BAD_ONE_OR_ALL_ARG,
    ER_JSON_DOCUMENT_TOO_DEEP, ER_QUERY_INTERRUPTED, ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT,
};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::json::path::{Location, Path};
use palisade_catalog::json::{Json, JsonError, MAX_DEPTH};
use palisade_catalog::types::LobSize;
use palisade_catalog::{CollationId, SqlType, Value};

use super::{Typed, text_of_length};
use crate::place::At;
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlResult};
use convert::{Form, utf8_text};

/// The collation of text that comes out of JSON.
const COLLATION: CollationId = CollationId::UTF8MB4_BIN;

fn json(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::Json))
}

fn truth(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::INT))
}

fn bigint(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::BIGINT))
}

fn text(length: u64) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(length, COLLATION)))
}

fn long_text(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::Text { size: LobSize::Long, collation: COLLATION }))
}

/// 1582.
fn wrong_count<T>(function: &str) -> SqlResult<T> {
    Err(mysql_error!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, function))
}

/// The arguments of one call, and what errors call it. Each is computed when it is asked for: a call that a
/// NULL ends does not look at those behind it.
#[derive(Clone, Copy)]
struct Arguments<'a> {
    function: &'static str,
    exprs: &'a [Expr],
}

/// 3140 and 3157 of an argument.
pub fn document_error(error: JsonError, number: usize, function: &str) -> MysqlError {
    match error {
        JsonError::Syntax { reason, position } => MysqlError::with_message(
            &ER_INVALID_JSON_TEXT_IN_PARAM,
            format!(
                "Invalid JSON text in argument {number} to function {function}: \"{reason}\" at position {position}."
            ),
        ),
        JsonError::TooDeep => mysql_error!(ER_JSON_DOCUMENT_TOO_DEEP),
        JsonError::Stopped => mysql_error!(ER_QUERY_INTERRUPTED),
    }
}

impl Arguments<'_> {
    /// The value of an argument: its bytes are work.
    fn eval(&self, cx: &mut Context<'_>, position: usize) -> SqlAttempt<Value> {
        let value = self.exprs.at(position)?.eval(cx)?;
        if let Value::Bytes(text) = &value {
            cx.checkpoint(text.len())?;
        }
        Ok(value)
    }

    /// The document that an argument is; `None` if it is NULL.
    fn document(&self, cx: &mut Context<'_>, position: usize) -> SqlAttempt<Option<Json>> {
        let value = self.eval(cx, position)?;
        let read = read_document(cx, &value, self.exprs.at(position)?, position + 1, self.function)?;
        Ok(read.map_err(|error| document_error(error, position + 1, self.function))?)
    }

    /// An argument's text in UTF-8, `None` if it is NULL; 3144 of a binary string.
    fn utf8(&self, cx: &mut Context<'_>, position: usize) -> SqlAttempt<Option<String>> {
        match self.eval(cx, position)? {
            Value::Null => Ok(None),
            value => Ok(Some(utf8(cx, &value, self.exprs.at(position)?)?)),
        }
    }

    /// The path that an argument is; `None` if it is NULL.
    fn path(&self, cx: &mut Context<'_>, position: usize) -> SqlAttempt<Option<Path>> {
        match self.utf8(cx, position)? {
            Some(text) => Ok(Some(read_path(&text)?)),
            None => Ok(None),
        }
    }

    /// A path that finds one value at most; `None` if it is NULL.
    fn plain_path(&self, cx: &mut Context<'_>, position: usize) -> SqlAttempt<Option<Path>> {
        match self.path(cx, position)? {
            Some(path) if path.is_wild() => Err(mysql_error!(ER_INVALID_JSON_PATH_WILDCARD).into()),
            path => Ok(path),
        }
    }

    /// Whether an argument says 'all', not 'one'; `None` if it is NULL.
    fn all(&self, cx: &mut Context<'_>, position: usize) -> SqlAttempt<Option<bool>> {
        let Some(text) = self.utf8(cx, position)? else { return Ok(None) };
        match text.to_ascii_lowercase().as_str() {
            "all" => Ok(Some(true)),
            "one" => Ok(Some(false)),
            _ => Err(mysql_error!(ER_JSON_BAD_ONE_OR_ALL_ARG, self.function).into()),
        }
    }

    /// An argument as JSON: NULL is `null`, a text is a string.
    fn value(&self, cx: &mut Context<'_>, position: usize) -> SqlAttempt<Json> {
        let value = self.eval(cx, position)?;
        Ok(convert::to_json(cx, &value, self.exprs.at(position)?)?)
    }
}

/// The document that a value is, `None` if it is NULL; what is wrong with its text apart from what ends the
/// statement. Errors call it argument `number` of `function`.
pub fn read_document(
    cx: &mut Context<'_>,
    value: &Value,
    expr: &Expr,
    number: usize,
    function: &str,
) -> SqlResult<Result<Option<Json>, JsonError>> {
    match &expr.ty {
        SqlType::Null => {}
        SqlType::Enum { .. } | SqlType::Set { .. } => {
            return Err(mysql_error!(ER_INVALID_TYPE_FOR_JSON, number, function));
        }
        ty if ty.is_string() => {}
        _ => return Err(mysql_error!(ER_INVALID_TYPE_FOR_JSON, number, function)),
    }
    let parsed = match (&expr.ty, value) {
        (_, Value::Null) => return Ok(Ok(None)),
        (SqlType::Json, Value::Bytes(text)) => cx.read_json(text, Form::Normal)?,
        _ => {
            let text = utf8(cx, value, expr)?;
            cx.read_json(text.as_bytes(), Form::Any)?
        }
    };
    Ok(parsed.map(Some))
}

/// A value's text in UTF-8; 3144 of a binary string.
fn utf8(cx: &mut Context<'_>, value: &Value, expr: &Expr) -> SqlResult<String> {
    not_binary(expr)?;
    utf8_text(cx, value, expr)
}

/// 3144 of a binary string.
fn not_binary(expr: &Expr) -> SqlResult<()> {
    if expr.ty.is_string() && expr.ty.collation() == CollationId::BINARY {
        return Err(mysql_error!(ER_INVALID_JSON_CHARSET, "binary"));
    }
    Ok(())
}

/// A path, or 3143.
pub fn read_path(text: &str) -> SqlResult<Path> {
    Path::parse(text).map_err(|error| mysql_error!(ER_INVALID_JSON_PATH, error.0, ""))
}

/// What a path finds in a document, each value once; see [`Path::find_counted`].
pub fn found<'a>(
    cx: &mut Context<'_>,
    path: &Path,
    document: &'a Json,
    wraps: bool,
) -> SqlResult<Vec<Location<'a>>> {
    path.find_counted(document, wraps, |units| cx.checkpoint(units))
}

/// What an item that is written counts as, beside its text, in units of a nanosecond.
const UNITS_AN_ITEM: usize = 32;

/// An array of these values as a value of type JSON; NULL with 1301 if it is too long.
fn written_array<'a>(
    cx: &mut Context<'_>,
    function: &str,
    items: impl Iterator<Item = &'a Json>,
) -> SqlAttempt<Value> {
    let mut out = vec![b'['];
    for item in items {
        if item.nesting() >= MAX_DEPTH {
            return Err(mysql_error!(ER_JSON_DOCUMENT_TOO_DEEP).into());
        }
        if out.len() > 1 {
            out.extend_from_slice(b", ");
        }
        cx.checkpoint(UNITS_AN_ITEM)?;
        cx.watched(|watch| item.write_counted(&mut out, watch))?;
        if out.len() >= cx.packet_limit() {
            return Ok(cx.too_large(function));
        }
    }
    out.push(b']');
    Ok(Value::bytes(out))
}

/// A document as a value of type JSON; 3157 if it has grown too deep, NULL with 1301 if it is too long.
fn written(cx: &mut Context<'_>, function: &str, document: &Json) -> SqlAttempt<Value> {
    if document.is_too_deep() {
        return Err(mysql_error!(ER_JSON_DOCUMENT_TOO_DEEP).into());
    }
    Ok(match cx.write_json(document)? {
        Some(text) => Value::bytes(text),
        None => cx.too_large(function),
    })
}
