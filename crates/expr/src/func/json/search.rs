//! JSON_SEARCH: where in a document a text is.

use std::collections::HashSet;

use palisade_base::error_catalogue::ER_WRONG_ARGUMENTS;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_catalog::json::Json;
use palisade_catalog::json::path::{Path, Step, path_text};

use super::{Arguments, COLLATION, json, written};
use crate::SqlAttempt;
use crate::func::{Evaluation, Function, MANY, function};
use crate::{Context, Expr};

/// Its declaration.
pub static FUNCTIONS: &[Function] = &[function("json_search", (3, MANY), json, Evaluation::Lazy(search))];

/// What strings are compared with, and the paths of those that are like it.
struct Search<'a> {
    arguments: Arguments<'a>,
    /// The pattern, once there is a string to compare with it: before that MySQL does not compute it. Nothing
    /// is like NULL.
    pattern: Option<Option<String>>,
    escape: String,
    all: bool,
    found: Vec<String>,
    /// The same paths: a string may be below several of the locations that are looked at.
    known: HashSet<String>,
    /// Bytes of the paths.
    length: usize,
}

impl Search<'_> {
    fn is_done(&self) -> bool {
        !self.all && !self.found.is_empty()
    }

    fn look(&mut self, cx: &mut Context<'_>, value: &Json, steps: &mut Vec<Step>) -> SqlAttempt<()> {
        cx.checkpoint(UNITS_A_VALUE)?;
        if self.is_done() || self.length > cx.packet_limit() {
            return Ok(());
        }
        match value {
            Json::String(text) => {
                let collation = COLLATION.get();
                let pattern = match &mut self.pattern {
                    Some(pattern) => pattern,
                    unknown => unknown.insert(self.arguments.utf8(cx, PATTERN)?),
                };
                let Some(pattern) = pattern else { return Ok(()) };
                let (pattern, escape) = (pattern.as_bytes(), self.escape.as_bytes());
                if collation.like_counted(text.as_bytes(), pattern, escape, |units| cx.checkpoint(units))? {
                    let path = path_text(steps);
                    cx.checkpoint(path.len().saturating_mul(UNITS_A_BYTE))?;
                    if self.known.insert(path.clone()) {
                        self.length += path.len();
                        self.found.push(path);
                    }
                }
            }
            Json::Array(items) => {
                for (position, item) in items.iter().enumerate() {
                    steps.push(Step::Element(position));
                    self.look(cx, item, steps)?;
                    steps.pop();
                }
            }
            Json::Object(members) => {
                for (name, member) in members {
                    steps.push(Step::Member(name.0.clone()));
                    self.look(cx, member, steps)?;
                    steps.pop();
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Where the pattern is among the arguments.
const PATTERN: usize = 2;
/// What a value that is looked at counts as, in units of a nanosecond.
const UNITS_A_VALUE: usize = 16;
/// What a byte of a path that is written counts as.
const UNITS_A_BYTE: usize = 8;

/// JSON_SEARCH(document, 'one' | 'all', pattern [, escape [, path ...]]): the path of the string that is like
/// the pattern, or those of several in an array.
fn search(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let arguments = Arguments { function: "json_search", exprs };
    // A constant, which MySQL looks at before the first row.
    let escape = match exprs.get(3) {
        None => String::new(),
        Some(_) => arguments.utf8(cx, 3)?.unwrap_or_default(),
    };
    if escape.chars().count() > 1 {
        return Err(mysql_error!(ER_WRONG_ARGUMENTS, "ESCAPE").into());
    }
    let Some(document) = arguments.document(cx, 0)? else { return Ok(Value::Null) };
    let Some(all) = arguments.all(cx, 1)? else { return Ok(Value::Null) };
    let mut paths = Vec::new();
    for position in 4..exprs.len() {
        let Some(path) = arguments.path(cx, position)? else { return Ok(Value::Null) };
        paths.push(path);
    }
    if paths.is_empty() {
        paths.push(Path { legs: Vec::new() });
    }
    let escape = if escape.is_empty() { "\\".to_owned() } else { escape };
    let (found, known) = (Vec::new(), HashSet::new());
    let mut search = Search { arguments, pattern: None, escape, all, found, known, length: 0 };
    for path in &paths {
        for location in super::found(cx, path, &document, false)? {
            let mut steps = location.steps;
            search.look(cx, location.value, &mut steps)?;
        }
    }
    if search.length > cx.packet_limit() {
        return Ok(cx.too_large("json_search"));
    }
    let mut found = search.found.into_iter().map(Json::String);
    match (found.next(), found.len()) {
        (None, _) => Ok(Value::Null),
        (Some(one), 0) => written(cx, "json_search", &one),
        (Some(first), _) => {
            written(cx, "json_search", &Json::Array(std::iter::once(first).chain(found).collect()))
        }
    }
}
