//! How long the texts are at most that functions of text make: the type of a column of CREATE TABLE ...
//! SELECT.
//!
//! Where a literal says how long a text becomes, that is its length; else the length depends on a value, and
//! the type is LONGTEXT.

use palisade_catalog::{CollationId, Value};

use super::string::collation_of;
use super::{Typed, characters, text_of_length, text_type};
use crate::SqlResult;
use crate::place::At;
use crate::{Expr, Node};

/// The length of a text of which nothing is known.
const UNKNOWN: u64 = u32::MAX as u64;

/// A count that is written as a literal; a negative one counts nothing.
fn literal_count(expr: &Expr) -> Option<u64> {
    match &expr.node {
        Node::Literal(Value::Int(count)) => Some(u64::try_from(*count).unwrap_or(0)),
        _ => None,
    }
}

fn edited(arguments: &[Expr], length: Option<u64>, connection: CollationId) -> SqlResult<Typed> {
    let collation = collation_of(arguments.at(0)?, connection);
    Ok(Typed::nullable(text_of_length(length.unwrap_or(UNKNOWN), collation)))
}

/// LPAD and RPAD.
pub(super) fn padded(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    edited(arguments, literal_count(arguments.at(1)?), connection)
}

pub(super) fn repeated(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let length = characters(arguments.at(0)?);
    let times = literal_count(arguments.at(1)?);
    edited(arguments, times.map(|times| length.saturating_mul(times)), connection)
}

/// REPLACE: every part may become longer by as much as what it becomes is longer than it.
pub(super) fn replaced(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let [text, from, to] = [0, 1, 2].map(|place| arguments.at(place).map(characters));
    let (text, from, to) = (text?, from?, to?);
    let parts = text.checked_div(from).unwrap_or(0);
    // Only a literal is as long as its type says.
    let is_literal = matches!(arguments.at(1)?.node, Node::Literal(_));
    let length = is_literal.then(|| text.saturating_add(parts.saturating_mul(to.saturating_sub(from))));
    edited(arguments, length, connection)
}

pub(super) fn spaces(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let length = literal_count(arguments.at(0)?).unwrap_or(UNKNOWN);
    Ok(Typed::nullable(text_of_length(length, connection)))
}

/// LEFT, RIGHT and SUBSTRING: as long as the text, or as the literal that is the last argument.
pub(super) fn part(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let whole = characters(arguments.at(0)?);
    let wanted = arguments.last().and_then(literal_count).unwrap_or(whole);
    let ty = text_type("substr", arguments.part(0..1)?, whole.min(wanted), connection)?;
    Ok(Typed::strict(ty, arguments))
}

/// FORMAT: the digits, a separator for three of them, a sign, a point, and 30 digits behind it.
pub(super) fn formatted(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let digits = characters(arguments.at(0)?);
    Ok(Typed::nullable(text_of_length(digits + digits / 3 + 2 + 30, connection)))
}
