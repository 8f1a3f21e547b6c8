//! What is in a document.

use palisade_catalog::Value;
use palisade_catalog::json::Json;

use super::{Arguments, bigint, json, truth, written};
use crate::SqlResult;
use crate::expr::{Context, Expr};
use crate::func::{Evaluation, Function, MANY, function};
use Evaluation::Nullable;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("json_contains", (2, 3), bigint, Nullable(contains)),
    function("json_contains_path", (3, MANY), bigint, Nullable(contains_path)),
    function("json_depth", (1, 1), bigint, Nullable(depth)),
    function("json_extract", (2, MANY), json, Nullable(extract)),
    function("json_keys", (1, 2), json, Nullable(keys)),
    function("json_length", (1, 2), bigint, Nullable(length)),
    function("json_overlaps", (2, 2), truth, Nullable(overlaps)),
    // value MEMBER OF (array) is bound as this
    function("member of", (2, 2), truth, Nullable(member_of)),
];

fn int(value: usize) -> Value {
    Value::Int(value as i64)
}

fn boolean(truth: bool) -> Value {
    Value::Int(i64::from(truth))
}

fn is_equal(left: &Json, right: &Json) -> bool {
    left.compare(right).is_eq()
}

/// What one path finds, or all that several do, or one that may find several: then in an array.
fn extract(_: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    let arguments = Arguments { function: "json_extract", values, exprs };
    let Some(document) = arguments.document(0)? else { return Ok(Value::Null) };
    let mut several = values.len() > 2;
    let mut found = Vec::new();
    for position in 1..values.len() {
        let Some(path) = arguments.path(position)? else { return Ok(Value::Null) };
        several |= path.is_wild();
        found.extend(path.find(&document).into_iter().map(|location| location.value));
    }
    match found.as_slice() {
        [] => Ok(Value::Null),
        [one] if !several => written(one),
        found => written(&Json::Array(found.iter().map(|value| (*value).clone()).collect())),
    }
}

/// Calls `answer` with what the path in the second argument finds, if there is one, else with the document.
fn with_part(arguments: Arguments<'_>, answer: impl FnOnce(&Json) -> SqlResult<Value>) -> SqlResult<Value> {
    let Some(document) = arguments.document(0)? else { return Ok(Value::Null) };
    if arguments.values.len() < 2 {
        return answer(&document);
    }
    let Some(path) = arguments.plain_path(1)? else { return Ok(Value::Null) };
    match path.first(&document) {
        Some(location) => answer(location.value),
        None => Ok(Value::Null),
    }
}

/// A path may find several values here: then it is their number. Errors know of it as an extraction, as MySQL's do.
fn length(_: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    let function = if values.len() < 2 { "json_length" } else { "json_extract" };
    let arguments = Arguments { function, values, exprs };
    let Some(document) = arguments.document(0)? else { return Ok(Value::Null) };
    if values.len() < 2 {
        return Ok(int(document.length()));
    }
    let Some(path) = arguments.path(1)? else { return Ok(Value::Null) };
    Ok(match path.find(&document).as_slice() {
        [] => Value::Null,
        [one] => int(one.value.length()),
        several => int(several.len()),
    })
}

fn keys(_: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    with_part(Arguments { function: "json_keys", values, exprs }, |part| match part {
        Json::Object(members) => {
            written(&Json::Array(members.keys().map(|name| Json::String(name.0.clone())).collect()))
        }
        _ => Ok(Value::Null),
    })
}

fn depth(_: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    let document = Arguments { function: "json_depth", values, exprs }.document(0)?;
    Ok(document.map_or(Value::Null, |document| int(document.depth())))
}

/// An array contains what one of its elements contains, and an array each element of which it contains; an object
/// contains one whose members' values are contained in its own of these names; a scalar contains its equals.
fn is_contained(candidate: &Json, target: &Json) -> bool {
    match (target, candidate) {
        (Json::Array(_), Json::Array(wanted)) => wanted.iter().all(|wanted| is_contained(wanted, target)),
        (Json::Array(items), candidate) => items.iter().any(|item| is_contained(candidate, item)),
        (Json::Object(members), Json::Object(wanted)) => wanted
            .iter()
            .all(|(name, wanted)| members.get(name).is_some_and(|member| is_contained(wanted, member))),
        (target, candidate) => target.is_scalar() && candidate.is_scalar() && is_equal(target, candidate),
    }
}

fn contains(_: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    let arguments = Arguments { function: "json_contains", values, exprs };
    let Some(target) = arguments.document(0)? else { return Ok(Value::Null) };
    let Some(candidate) = arguments.document(1)? else { return Ok(Value::Null) };
    if values.len() < 3 {
        return Ok(boolean(is_contained(&candidate, &target)));
    }
    let Some(path) = arguments.plain_path(2)? else { return Ok(Value::Null) };
    Ok(match path.first(&target) {
        Some(location) => boolean(is_contained(&candidate, location.value)),
        None => Value::Null,
    })
}

/// Whether one path finds something, or all do. Looks no further than it must, so that a NULL behind does not matter.
fn contains_path(_: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    let arguments = Arguments { function: "json_contains_path", values, exprs };
    let Some(document) = arguments.document(0)? else { return Ok(Value::Null) };
    let Some(all) = arguments.all(1)? else { return Ok(Value::Null) };
    for position in 2..values.len() {
        let Some(path) = arguments.path(position)? else { return Ok(Value::Null) };
        if path.first(&document).is_some() != all {
            return Ok(boolean(!all));
        }
    }
    Ok(boolean(all))
}

fn overlaps(_: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    let arguments = Arguments { function: "json_overlaps", values, exprs };
    let (Some(left), Some(right)) = (arguments.document(0)?, arguments.document(1)?) else {
        return Ok(Value::Null);
    };
    let any = |items: &[Json], wanted: &Json| items.iter().any(|item| is_equal(item, wanted));
    Ok(boolean(match (&left, &right) {
        (Json::Array(left), Json::Array(right)) => right.iter().any(|wanted| any(left, wanted)),
        (Json::Array(items), other) | (other, Json::Array(items)) => any(items, other),
        (Json::Object(left), Json::Object(right)) => {
            left.iter().any(|(name, value)| right.get(name).is_some_and(|other| is_equal(value, other)))
        }
        (left, right) => is_equal(left, right),
    }))
}

fn member_of(_: &mut Context<'_>, values: &[Value], exprs: &[Expr], _: &Expr) -> SqlResult<Value> {
    let arguments = Arguments { function: "member of", values, exprs };
    if arguments.is_null(0) {
        return Ok(Value::Null);
    }
    let Some(array) = arguments.document(1)? else { return Ok(Value::Null) };
    let wanted = arguments.value(0);
    Ok(boolean(match &array {
        Json::Array(items) => items.iter().any(|item| is_equal(item, &wanted)),
        other => is_equal(other, &wanted),
    }))
}
