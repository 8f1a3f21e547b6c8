//! Documents with changes.
//!
//! The functions take pairs of a path and a value, and make one change after the other: a later path sees
//! what an earlier one has done.

use palisade_base::error_catalogue::{ER_INVALID_JSON_PATH_ARRAY_CELL, ER_JSON_VACUOUS_PATH};
use palisade_base::mysql_error;
use palisade_catalog::json::path::{Index, Leg, Path, Step};
use palisade_catalog::json::{Json, Name};
use palisade_catalog::{CollationId, Value};

use super::{Arguments, json, written, wrong_count};
use crate::func::{Evaluation, Function, MANY, Typed, function};
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlResult};
use Evaluation::Lazy;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("json_array_append", (3, MANY), |a, c| pairs("json_array_append", a, c), Lazy(array_append)),
    function("json_array_insert", (3, MANY), |a, c| pairs("json_array_insert", a, c), Lazy(array_insert)),
    function("json_insert", (3, MANY), |a, c| pairs("json_insert", a, c), Lazy(insert)),
    function("json_merge", (2, MANY), json, Lazy(|cx, a, _| merge_preserve(cx, "json_merge", a))),
    function("json_merge_patch", (2, MANY), json, Lazy(merge_patch)),
    function(
        "json_merge_preserve",
        (2, MANY),
        json,
        Lazy(|cx, a, _| merge_preserve(cx, "json_merge_preserve", a)),
    ),
    function("json_remove", (2, MANY), json, Lazy(remove)),
    function("json_replace", (3, MANY), |a, c| pairs("json_replace", a, c), Lazy(replace)),
    function("json_set", (3, MANY), |a, c| pairs("json_set", a, c), Lazy(set)),
];

/// JSON, of a document and pairs.
fn pairs(function: &'static str, arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    if arguments.len().is_multiple_of(2) {
        return wrong_count(function);
    }
    json(arguments, connection)
}

/// Makes the change for each pair; NULL if the document or a path is. The value of a pair is asked for where
/// it is needed.
fn for_each_pair(
    cx: &mut Context<'_>,
    function: &'static str,
    exprs: &[Expr],
    change: impl Fn(&mut Json, &Path, &mut dyn FnMut() -> SqlAttempt<Json>) -> SqlAttempt<()>,
) -> SqlAttempt<Value> {
    let arguments = Arguments { function, exprs };
    let Some(mut document) = arguments.document(cx, 0)? else { return Ok(Value::Null) };
    for position in (1..exprs.len()).step_by(2) {
        let Some(path) = arguments.plain_path(cx, position)? else { return Ok(Value::Null) };
        change(&mut document, &path, &mut || arguments.value(cx, position + 1))?;
    }
    written(cx, function, &document)
}

/// The steps to what a path finds.
fn steps_to(document: &Json, path: &Path) -> Option<Vec<Step>> {
    path.first(document).map(|location| location.steps)
}

/// What a path finds, to be changed.
fn find_mut<'a>(document: &'a mut Json, path: &Path) -> Option<&'a mut Json> {
    let steps = steps_to(document, path)?;
    document.at_mut(&steps)
}

/// The path to what the last leg goes on from, and that leg; `None` of `$`.
fn parent(path: &Path) -> Option<(Path, &Leg)> {
    let (last, before) = path.legs.split_last()?;
    Some((Path { legs: before.to_vec() }, last))
}

/// Adds a value where a path finds nothing: a member of an object, or an element before the first or behind
/// the last. What is no array becomes one. If there is nothing that it could become a part of, nothing
/// happens.
fn add(document: &mut Json, path: &Path, value: Json) {
    let Some((above, leg)) = parent(path) else { return };
    match (find_mut(document, &above), leg) {
        (Some(Json::Object(members)), Leg::Member(name)) => {
            members.insert(Name(name.clone()), value);
        }
        (Some(target), Leg::Cell(index)) => {
            if !matches!(target, Json::Array(_)) {
                *target = Json::Array(vec![std::mem::replace(target, Json::Null)]);
            }
            if let Json::Array(items) = target {
                let place = if matches!(index, Index::FromStart(_)) { items.len() } else { 0 };
                items.insert(place, value);
            }
        }
        _ => {}
    }
}

fn set(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    for_each_pair(cx, "json_set", exprs, |document, path, value| {
        let value = value()?;
        match find_mut(document, path) {
            Some(found) => *found = value,
            None => add(document, path, value),
        }
        Ok(())
    })
}

fn insert(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    for_each_pair(cx, "json_insert", exprs, |document, path, value| {
        if find_mut(document, path).is_none() {
            add(document, path, value()?);
        }
        Ok(())
    })
}

fn replace(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    for_each_pair(cx, "json_replace", exprs, |document, path, value| {
        let value = value()?;
        if let Some(found) = find_mut(document, path) {
            *found = value;
        }
        Ok(())
    })
}

/// A value behind the last element of the array that is found; what is no array becomes one.
fn array_append(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    for_each_pair(cx, "json_array_append", exprs, |document, path, value| {
        match find_mut(document, path) {
            Some(Json::Array(items)) => items.push(value()?),
            Some(other) => *other = Json::Array(vec![std::mem::replace(other, Json::Null), value()?]),
            None => {}
        }
        Ok(())
    })
}

/// A value before an element of an array, whether or not there is such an element.
fn array_insert(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    for_each_pair(cx, "json_array_insert", exprs, |document, path, value| {
        let Some((above, Leg::Cell(index))) = parent(path) else {
            return Err(mysql_error!(ER_INVALID_JSON_PATH_ARRAY_CELL).into());
        };
        if let Some(Json::Array(items)) = find_mut(document, &above) {
            let place = match index {
                Index::FromStart(position) => (*position).min(items.len()),
                Index::FromEnd(_) => index.within(items.len()).unwrap_or(0),
            };
            items.insert(place, value()?);
        }
        Ok(())
    })
}

fn remove(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let arguments = Arguments { function: "json_remove", exprs };
    let Some(mut document) = arguments.document(cx, 0)? else { return Ok(Value::Null) };
    // Each path is read before one is refused that means the whole document.
    let mut paths = Vec::with_capacity(exprs.len());
    for position in 1..exprs.len() {
        let Some(path) = arguments.plain_path(cx, position)? else { return Ok(Value::Null) };
        paths.push(path);
    }
    for path in paths {
        if path.legs.is_empty() {
            return Err(mysql_error!(ER_JSON_VACUOUS_PATH).into());
        }
        let steps = steps_to(&document, &path).unwrap_or_default();
        let Some((last, above)) = steps.split_last() else { continue };
        match (document.at_mut(above), last) {
            (Some(Json::Object(members)), Step::Member(name)) => {
                members.remove(&Name(name.clone()));
            }
            (Some(Json::Array(items)), Step::Element(position)) => {
                items.remove(*position);
            }
            _ => {}
        }
    }
    written(cx, arguments.function, &document)
}

/// Arrays one behind the other, objects with the members of both; where both have a member, these are merged.
/// What is no array is merged with something else as an array of one.
fn preserved(left: Json, right: Json) -> Json {
    match (left, right) {
        (Json::Object(mut left), Json::Object(right)) => {
            for (name, value) in right {
                let merged = match left.remove(&name) {
                    Some(before) => preserved(before, value),
                    None => value,
                };
                left.insert(name, merged);
            }
            Json::Object(left)
        }
        (left, right) => {
            let mut items = left.into_items();
            items.extend(right.into_items());
            Json::Array(items)
        }
    }
}

fn merge_preserve(cx: &mut Context<'_>, function: &'static str, exprs: &[Expr]) -> SqlAttempt<Value> {
    let arguments = Arguments { function, exprs };
    let mut merged: Option<Json> = None;
    for position in 0..exprs.len() {
        let Some(next) = arguments.document(cx, position)? else { return Ok(Value::Null) };
        merged = Some(match merged {
            Some(before) => preserved(before, next),
            None => next,
        });
    }
    merged.map_or(Ok(Value::Null), |merged| written(cx, arguments.function, &merged))
}

/// A NULL makes the result unknown until something that is no object replaces it.
fn merge_patch(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let arguments = Arguments { function: "json_merge_patch", exprs };
    let mut merged = arguments.document(cx, 0)?;
    for position in 1..exprs.len() {
        let patch = arguments.document(cx, position)?;
        merged = match (merged, patch) {
            (_, None) | (None, Some(Json::Object(_))) => None,
            (None, Some(patch)) => Some(patch),
            (Some(target), Some(patch)) => Some(target.patched(patch)),
        };
    }
    merged.map_or(Ok(Value::Null), |merged| written(cx, arguments.function, &merged))
}
