//! What is in a document.

use palisade_catalog::Value;
use palisade_catalog::json::Json;

use super::convert::to_json;
use super::{Arguments, bigint, json, truth, written};
use crate::func::{Evaluation, Function, MANY, function};
use crate::place::At;
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlResult};
use Evaluation::Lazy;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("json_contains", (2, 3), bigint, Lazy(contains)),
    function("json_contains_path", (3, MANY), bigint, Lazy(contains_path)),
    function("json_depth", (1, 1), bigint, Lazy(depth)),
    function("json_extract", (2, MANY), json, Lazy(extract)),
    function("json_keys", (1, 2), json, Lazy(keys)),
    function("json_length", (1, 2), bigint, Lazy(length)),
    function("json_storage_free", (1, 1), bigint, Lazy(storage_free)),
    function("json_storage_size", (1, 1), bigint, Lazy(storage_size)),
    function("json_overlaps", (2, 2), truth, Lazy(overlaps)),
    // value MEMBER OF (array) is bound as this
    function("member of", (2, 2), truth, Lazy(member_of)),
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
fn extract(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let arguments = Arguments { function: "json_extract", exprs };
    let Some(document) = arguments.document(cx, 0)? else { return Ok(Value::Null) };
    let mut several = exprs.len() > 2;
    let mut found = Vec::new();
    for position in 1..exprs.len() {
        let Some(path) = arguments.path(cx, position)? else { return Ok(Value::Null) };
        several |= path.is_wild();
        let locations = super::found(cx, &path, &document, true)?;
        found.extend(locations.into_iter().map(|location| location.value));
    }
    match found.as_slice() {
        [] => Ok(Value::Null),
        [one] if !several => written(cx, "json_extract", one),
        found => super::written_array(cx, "json_extract", found.iter().copied()),
    }
}

/// A path may find several values here: then it is their number. Errors know of it as an extraction, as
/// MySQL's do.
fn length(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let function = if exprs.len() < 2 { "json_length" } else { "json_extract" };
    let arguments = Arguments { function, exprs };
    let Some(document) = arguments.document(cx, 0)? else { return Ok(Value::Null) };
    if exprs.len() < 2 {
        return Ok(int(document.length()));
    }
    let Some(path) = arguments.path(cx, 1)? else { return Ok(Value::Null) };
    Ok(match super::found(cx, &path, &document, true)?.as_slice() {
        [] => Value::Null,
        [one] => int(one.value.length()),
        several => int(several.len()),
    })
}

/// To its path a value that is no array has no element `[0]`, unlike elsewhere.
fn keys(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let arguments = Arguments { function: "json_keys", exprs };
    let Some(document) = arguments.document(cx, 0)? else { return Ok(Value::Null) };
    let mut part = Some(&document);
    if exprs.len() > 1 {
        let Some(path) = arguments.plain_path(cx, 1)? else { return Ok(Value::Null) };
        part = super::found(cx, &path, &document, false)?.first().map(|location| location.value);
    }
    let Some(Json::Object(members)) = part else { return Ok(Value::Null) };
    let names = members.keys().map(|name| Json::String(name.0.clone())).collect();
    written(cx, "json_keys", &Json::Array(names))
}

fn depth(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let document = Arguments { function: "json_depth", exprs }.document(cx, 0)?;
    Ok(document.map_or(Value::Null, |document| int(document.depth())))
}

/// Bytes in MySQL's binary form.
fn storage_size(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let document = Arguments { function: "json_storage_size", exprs }.document(cx, 0)?;
    let Some(document) = document else { return Ok(Value::Null) };
    let size = document.binary_size(&mut |units| cx.checkpoint(units));
    Ok(int(cx.attempt(size)?))
}

/// Bytes that changes in place have freed: none, because a document is written as a whole.
fn storage_free(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let document = Arguments { function: "json_storage_free", exprs }.document(cx, 0)?;
    Ok(document.map_or(Value::Null, |_| int(0)))
}

/// An array contains what one of its elements contains, and an array each element of which it contains; an
/// object contains one whose members' values are contained in its own of these names; a scalar contains its
/// equals.
///
/// Each element is looked for among all, so that the work is the product of the sizes, and counted.
fn is_contained(cx: &mut Context<'_>, candidate: &Json, target: &Json) -> SqlResult<bool> {
    cx.checkpoint(UNITS_A_COMPARISON)?;
    match (target, candidate) {
        (Json::Array(_), Json::Array(wanted)) => {
            for wanted in wanted {
                if !is_contained(cx, wanted, target)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Json::Array(items), candidate) => {
            for item in items {
                if is_contained(cx, candidate, item)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (Json::Object(members), Json::Object(wanted)) => {
            for (name, wanted) in wanted {
                let Some(member) = members.get(name) else { return Ok(false) };
                if !is_contained(cx, wanted, member)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (target, candidate) => {
            Ok(target.is_scalar() && candidate.is_scalar() && is_equal_counted(cx, target, candidate)?)
        }
    }
}

/// What a comparison of two values counts as, beside the length of the texts that they are.
const UNITS_A_COMPARISON: usize = 32;

fn is_equal_counted(cx: &mut Context<'_>, left: &Json, right: &Json) -> SqlResult<bool> {
    let length = |value: &Json| match value {
        Json::String(text) => text.len(),
        value => value.length().saturating_mul(UNITS_A_COMPARISON),
    };
    cx.checkpoint(UNITS_A_COMPARISON + length(left).min(length(right)))?;
    Ok(is_equal(left, right))
}

/// Whether one of these is equal to what is wanted.
fn any_equal(cx: &mut Context<'_>, items: &[Json], wanted: &Json) -> SqlResult<bool> {
    for item in items {
        if is_equal_counted(cx, item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn contains(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let arguments = Arguments { function: "json_contains", exprs };
    let Some(target) = arguments.document(cx, 0)? else { return Ok(Value::Null) };
    let Some(candidate) = arguments.document(cx, 1)? else { return Ok(Value::Null) };
    if exprs.len() < 3 {
        return Ok(boolean(is_contained(cx, &candidate, &target)?));
    }
    let Some(path) = arguments.plain_path(cx, 2)? else { return Ok(Value::Null) };
    Ok(match path.first(&target) {
        Some(location) => boolean(is_contained(cx, &candidate, location.value)?),
        None => Value::Null,
    })
}

/// Whether one path finds something, or all do. Looks no further than it must.
fn contains_path(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let arguments = Arguments { function: "json_contains_path", exprs };
    let Some(document) = arguments.document(cx, 0)? else { return Ok(Value::Null) };
    let Some(all) = arguments.all(cx, 1)? else { return Ok(Value::Null) };
    for position in 2..exprs.len() {
        let Some(path) = arguments.path(cx, position)? else { return Ok(Value::Null) };
        if super::found(cx, &path, &document, true)?.is_empty() == all {
            return Ok(boolean(!all));
        }
    }
    Ok(boolean(all))
}

fn overlaps(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let arguments = Arguments { function: "json_overlaps", exprs };
    let Some(left) = arguments.document(cx, 0)? else { return Ok(Value::Null) };
    let Some(right) = arguments.document(cx, 1)? else { return Ok(Value::Null) };
    Ok(boolean(match (&left, &right) {
        (Json::Array(left), Json::Array(right)) => share_an_element(cx, left, right)?,
        (Json::Array(items), other) | (other, Json::Array(items)) => any_equal(cx, items, other)?,
        (Json::Object(left), Json::Object(right)) => {
            left.iter().any(|(name, value)| right.get(name).is_some_and(|other| is_equal(value, other)))
        }
        (left, right) => is_equal(left, right),
    }))
}

/// Whether two arrays have an element in common: one is sorted, the other's elements are looked for.
fn share_an_element(cx: &mut Context<'_>, left: &[Json], right: &[Json]) -> SqlResult<bool> {
    let (few, many) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let mut sorted: Vec<&Json> = few.iter().collect();
    let steps = usize::BITS as usize - few.len().leading_zeros() as usize;
    cx.checkpoint(few.len().saturating_mul(steps).saturating_mul(UNITS_A_COMPARISON))?;
    sorted.sort_unstable_by(|left, right| left.compare(right));
    for wanted in many {
        cx.checkpoint((steps + 1) * UNITS_A_COMPARISON)?;
        if sorted.binary_search_by(|item| item.compare(wanted)).is_ok() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn member_of(cx: &mut Context<'_>, exprs: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let arguments = Arguments { function: "member of", exprs };
    let wanted = match arguments.eval(cx, 0)? {
        Value::Null => return Ok(Value::Null),
        wanted => wanted,
    };
    let Some(array) = arguments.document(cx, 1)? else { return Ok(Value::Null) };
    let wanted = to_json(cx, &wanted, exprs.at(0)?)?;
    Ok(boolean(match &array {
        Json::Array(items) => any_equal(cx, items, &wanted)?,
        other => is_equal(other, &wanted),
    }))
}
