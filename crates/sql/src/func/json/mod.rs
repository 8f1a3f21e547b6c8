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
//! A document is an argument of type JSON, whose text is in normal form, or a text, which is read and may be wrong
//! (3141). A function reads its documents into trees, works on them, and writes its result as normal text
//! ([`palisade_catalog::json`]).

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
use crate::SqlResult;
use crate::expr::{Context, Expr};
use crate::place::At;
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

/// The arguments of one call, and what errors call it.
#[derive(Clone, Copy)]
struct Arguments<'a> {
    function: &'static str,
    values: &'a [Value],
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
    fn is_null(&self, position: usize) -> SqlResult<bool> {
        Ok(self.values.at(position)?.is_null())
    }

    /// The document that an argument is; `None` if it is NULL.
    fn document(&self, cx: &mut Context<'_>, position: usize) -> SqlResult<Option<Json>> {
        self.read_document(cx, position)?.map_err(|error| document_error(error, position + 1, self.function))
    }

    /// The same, with what is wrong with the text apart from what ends the statement.
    fn read_document(
        &self,
        cx: &mut Context<'_>,
        position: usize,
    ) -> SqlResult<Result<Option<Json>, JsonError>> {
        let (value, expr) = (self.values.at(position)?, self.exprs.at(position)?);
        let number = position + 1;
        match &expr.ty {
            SqlType::Null => {}
            SqlType::Enum { .. } | SqlType::Set { .. } => {
                return Err(mysql_error!(ER_INVALID_TYPE_FOR_JSON, number, self.function));
            }
            ty if ty.is_string() => {}
            _ => return Err(mysql_error!(ER_INVALID_TYPE_FOR_JSON, number, self.function)),
        }
        if value.is_null() {
            return Ok(Ok(None));
        }
        let parsed = match (&expr.ty, value) {
            (SqlType::Json, Value::Bytes(text)) => cx.read_json(text, Form::Normal)?,
            _ => {
                let text = self.utf8(cx, position)?;
                cx.read_json(text.as_bytes(), Form::Any)?
            }
        };
        Ok(parsed.map(Some))
    }

    /// An argument's text in UTF-8; 3144 of a binary string.
    fn utf8(&self, cx: &mut Context<'_>, position: usize) -> SqlResult<String> {
        let expr = self.exprs.at(position)?;
        not_binary(expr)?;
        utf8_text(cx, self.values.at(position)?, expr)
    }

    /// The path that an argument is; `None` if it is NULL.
    fn path(&self, cx: &mut Context<'_>, position: usize) -> SqlResult<Option<Path>> {
        if self.is_null(position)? {
            return Ok(None);
        }
        read_path(&self.utf8(cx, position)?).map(Some)
    }

    /// A path that finds one value at most; `None` if it is NULL.
    fn plain_path(&self, cx: &mut Context<'_>, position: usize) -> SqlResult<Option<Path>> {
        match self.path(cx, position)? {
            Some(path) if path.is_wild() => Err(mysql_error!(ER_INVALID_JSON_PATH_WILDCARD)),
            path => Ok(path),
        }
    }

    /// Whether an argument says 'all', not 'one'; `None` if it is NULL.
    fn all(&self, cx: &mut Context<'_>, position: usize) -> SqlResult<Option<bool>> {
        if self.is_null(position)? {
            return Ok(None);
        }
        match self.utf8(cx, position)?.to_ascii_lowercase().as_str() {
            "all" => Ok(Some(true)),
            "one" => Ok(Some(false)),
            _ => Err(mysql_error!(ER_JSON_BAD_ONE_OR_ALL_ARG, self.function)),
        }
    }

    /// An argument as JSON: NULL is `null`, a text is a string.
    fn value(&self, cx: &mut Context<'_>, position: usize) -> SqlResult<Json> {
        convert::to_json(cx, self.values.at(position)?, self.exprs.at(position)?)
    }
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
fn found<'a>(
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
) -> SqlResult<Value> {
    let mut out = vec![b'['];
    for item in items {
        if item.nesting() >= MAX_DEPTH {
            return Err(mysql_error!(ER_JSON_DOCUMENT_TOO_DEEP));
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
fn written(cx: &mut Context<'_>, function: &str, document: &Json) -> SqlResult<Value> {
    if document.is_too_deep() {
        return Err(mysql_error!(ER_JSON_DOCUMENT_TOO_DEEP));
    }
    Ok(match cx.write_json(document)? {
        Some(text) => Value::bytes(text),
        None => cx.too_large(function),
    })
}
