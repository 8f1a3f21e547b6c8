//! JSON_SEARCH: where in a document a text is.

use palisade_base::error_catalogue::ER_WRONG_ARGUMENTS;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_catalog::json::Json;
use palisade_catalog::json::path::{Path, Step, path_text};

use super::{Arguments, COLLATION, json, written};
use crate::SqlResult;
use crate::expr::{Context, Expr};
use crate::func::{Evaluation, Function, MANY, function};

/// Its declaration.
pub static FUNCTIONS: &[Function] = &[function("json_search", (3, MANY), json, Evaluation::Nullable(search))];

/// What strings are compared with, and the paths of those that are like it.
struct Search {
    pattern: String,
    escape: String,
    all: bool,
    found: Vec<String>,
}

impl Search {
    fn is_done(&self) -> bool {
        !self.all && !self.found.is_empty()
    }

    fn look(&mut self, value: &Json, steps: &mut Vec<Step>) {
        if self.is_done() {
            return;
        }
        match value {
            Json::String(text) => {
                let collation = COLLATION.get();
                if collation.like(text.as_bytes(), self.pattern.as_bytes(), self.escape.as_bytes()) {
                    let path = path_text(steps);
                    if !self.found.contains(&path) {
                        self.found.push(path);
                    }
                }
            }
            Json::Array(items) => {
                for (position, item) in items.iter().enumerate() {
                    steps.push(Step::Element(position));
                    self.look(item, steps);
                    steps.pop();
                }
            }
            Json::Object(members) => {
                for (name, member) in members {
                    steps.push(Step::Member(name.0.clone()));
                    self.look(member, steps);
                    steps.pop();
                }
            }
            _ => {}
        }
    }
}

/// JSON_SEARCH(document, 'one' | 'all', pattern [, escape [, path ...]]): the path of the string that is like the
/// pattern, or those of several in an array.
fn search(_: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    let arguments = Arguments { function: "json_search", values, exprs };
    let Some(document) = arguments.document(0)? else { return Ok(Value::Null) };
    let Some(all) = arguments.all(1)? else { return Ok(Value::Null) };
    let escape = match values.get(3) {
        None | Some(Value::Null) => String::new(),
        Some(_) => arguments.utf8(3)?,
    };
    if escape.chars().count() > 1 {
        return Err(mysql_error!(ER_WRONG_ARGUMENTS, "ESCAPE"));
    }
    let mut paths = Vec::new();
    for position in 4..values.len() {
        let Some(path) = arguments.path(position)? else { return Ok(Value::Null) };
        paths.push(path);
    }
    if arguments.is_null(2) {
        return Ok(Value::Null);
    }
    if paths.is_empty() {
        paths.push(Path { legs: Vec::new() });
    }
    let escape = if escape.is_empty() { "\\".to_owned() } else { escape };
    let mut search = Search { pattern: arguments.utf8(2)?, escape, all, found: Vec::new() };
    for location in paths.iter().flat_map(|path| path.find_elements(&document)) {
        search.look(location.value, &mut location.steps.clone());
    }
    let mut found = search.found.into_iter().map(Json::String);
    match (found.next(), found.len()) {
        (None, _) => Ok(Value::Null),
        (Some(one), 0) => written(&one),
        (Some(first), _) => written(&Json::Array(std::iter::once(first).chain(found).collect())),
    }
}
