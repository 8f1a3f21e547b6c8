//! Functions that choose and compare.

use std::cmp::Ordering;

use palisade_base::error_catalogue::ER_WRONG_ARGUMENTS;
use palisade_base::mysql_error;
use palisade_catalog::{Charset, CollationId, DateTime, SqlType, Value};

use super::temporal::datetime_digits_of;
use super::{Evaluation, Function, MANY, Typed, function};
use crate::common::{common, varying};
use crate::compare::{domain_of, domain_of_operands};
use crate::convert::{refuse_loss, text_of, year_as_number};
use crate::place::At;
use crate::{Context, Domain, Expr, Node};
use crate::{SqlAttempt, SqlResult};
use Evaluation::{Lazy, Nullable, Strict};

/// Gives its argument; in a grouped query that of any row of the group.
pub const ANY_VALUE: &str = "any_value";

/// Which of its arguments, expressions of GROUP BY, a row of WITH ROLLUP sums up: a bit for each, the last
/// one's the lowest. The plan makes them the row's level and the arguments' places in GROUP BY.
pub const GROUPING: &str = "grouping";

/// Its second argument if the first is true, else the third.
pub const IF: &str = "if";

/// Its first argument, or NULL if that equals the second.
pub const NULLIF: &str = "nullif";

/// The first of its arguments that is not NULL, in the type of the call.
pub const COALESCE: &Function = &function("coalesce", (1, MANY), coalesce_type, Lazy(coalesce));

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function(ANY_VALUE, (1, 1), coalesce_type, Lazy(coalesce)),
    *COALESCE,
    function("greatest", (2, MANY), greatest_type, Strict(greatest)),
    function(GROUPING, (1, MANY), grouping_type, Strict(grouping)),
    function(IF, (3, 3), if_type, Lazy(if_)),
    function("ifnull", (2, 2), ifnull_type, Lazy(coalesce)),
    function("interval", (2, MANY), interval_type, Lazy(interval)),
    function("isnull", (1, 1), isnull_type, Nullable(isnull)),
    function("least", (2, MANY), least_type, Strict(least)),
    function(NULLIF, (2, 2), nullif_type, Lazy(nullif)),
];

fn common_type(operation: &str, arguments: &[Expr], connection: CollationId) -> SqlResult<SqlType> {
    Ok(common(&arguments.iter().collect::<Vec<_>>(), connection, operation)?.ty)
}

fn coalesce_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    first_type("coalesce", arguments, connection)
}

fn ifnull_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    first_type("ifnull", arguments, connection)
}

fn first_type(operation: &str, arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let ty = match common_type(operation, arguments, connection)? {
        SqlType::Bit { .. } => SqlType::BIGINT_UNSIGNED,
        ty => ty,
    };
    Ok(Typed { ty, nullable: arguments.iter().all(|argument| argument.nullable) })
}

fn if_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let ty = common_type("if", arguments.tail(1)?, connection)?;
    Ok(Typed { ty, nullable: arguments.at(1)?.nullable || arguments.at(2)?.nullable })
}

fn nullif_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    domain_of(arguments.at(0)?, arguments.at(1)?, "nullif")?;
    let _ = connection;
    Ok(Typed::nullable(varying(&arguments.at(0)?.ty)))
}

fn greatest_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed::strict(common_type("greatest", arguments, connection)?, arguments))
}

fn least_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed::strict(common_type("least", arguments, connection)?, arguments))
}

fn isnull_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(SqlType::INT))
}

fn grouping_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    // MySQL takes no integer, though it may be one that is grouped by.
    if arguments.iter().any(|argument| matches!(argument.node, Node::Literal(Value::Int(_)))) {
        return Err(mysql_error!(ER_WRONG_ARGUMENTS, "GROUPING function"));
    }
    Ok(Typed::nullable(SqlType::BIGINT))
}

fn interval_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(SqlType::BIGINT))
}

fn coalesce(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    for argument in arguments {
        let value = argument.eval(cx)?;
        if !value.is_null() {
            return Ok(year_as_number(cx.adapt(value, &argument.ty, &call.ty)?));
        }
    }
    Ok(Value::Null)
}

fn if_(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let chosen = if arguments.at(0)?.test(cx)? == Some(true) { arguments.at(1)? } else { arguments.at(2)? };
    let value = chosen.eval(cx)?;
    Ok(cx.adapt_chosen(value, &chosen.ty, &call.ty)?)
}

fn nullif(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let (left, right) = (arguments.at(0)?.eval(cx)?, arguments.at(1)?.eval(cx)?);
    let domain = domain_of_operands(arguments.at(0)?, arguments.at(1)?, "nullif")?;
    let equal = match domain {
        Domain::Text(collation) if !left.is_null() && !right.is_null() => {
            let left = text_to_compare(cx, &left, arguments.at(0)?, collation)?;
            let right = text_to_compare(cx, &right, arguments.at(1)?, collation)?;
            cx.compare(left.as_ref(), right.as_ref(), domain)?
        }
        _ => cx.compare(left.as_ref(), right.as_ref(), domain)?,
    };
    Ok(if equal == Some(Ordering::Equal) { Value::Null } else { left })
}

/// A value as the text in which it is compared: a time has the digits of its type.
fn text_to_compare(
    cx: &mut Context<'_>,
    value: &Value,
    argument: &Expr,
    collation: CollationId,
) -> SqlResult<Value> {
    let text = text_of(value, &argument.ty);
    if !argument.ty.is_string() {
        return Ok(Value::Bytes(text));
    }
    let (from, to) = (argument.ty.collation(), collation);
    let (known, wanted) = (from.get().charset, to.get().charset);
    if known != wanted && wanted != Charset::Binary {
        cx.watched(|watch| refuse_loss(&text, known, wanted, watch))??;
    }
    Ok(Value::Bytes(cx.transcode(text, from, to)?))
}

fn isnull(_: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(Value::Int(i64::from(values.at(0)?.is_null())))
}

fn grouping(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    // The plan puts a level before the arguments.
    let level = cx.to_i64(values.at(0)?.as_ref())?;
    let mut bits = 0;
    for place in values.tail(1)? {
        bits = bits << 1 | i64::from(cx.to_i64(place.as_ref())? >= level);
    }
    Ok(Value::Int(bits))
}

/// INTERVAL(n, a, b, ...): how many of the ascending a, b, ... are at most n. Looks no further than it must.
fn interval(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let wanted = match arguments.at(0)?.eval(cx)? {
        Value::Null => return Ok(Value::Int(-1)),
        value => cx.to_f64(value.as_ref())?,
    };
    let mut count = 0;
    for argument in arguments.tail(1)? {
        let value = argument.eval(cx)?;
        if !value.is_null() && cx.to_f64(value.as_ref())? > wanted {
            break;
        }
        count += 1;
    }
    Ok(Value::Int(count))
}

fn greatest(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    extreme(cx, values, arguments, call, Ordering::Greater)
}

fn least(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    extreme(cx, values, arguments, call, Ordering::Less)
}

fn is_dated(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. })
}

/// Dates among texts and numbers: the result is a text, but they are compared as dates.
fn compares_dates(arguments: &[Expr], result: &SqlType) -> bool {
    result.is_string() && arguments.iter().any(|argument| is_dated(&argument.ty))
}

/// The greatest or least of dates; what is none is passed over. But the least of what has times of day, too,
/// is the least text if one of them is no date or the zero date.
fn extreme_date(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    call: &Expr,
    wanted: Ordering,
) -> SqlResult<Value> {
    let dated = || arguments.iter().map(|argument| &argument.ty).filter(|ty| is_dated(ty));
    let are_days = dated().all(|ty| matches!(ty, SqlType::Date));
    let mut best: Option<DateTime> = None;
    let mut are_dates = true;
    for value in values {
        let found = match are_days {
            true => cx.to_partial_date(value.as_ref())?,
            false => cx.to_partial_datetime(value.as_ref())?,
        };
        are_dates &= found.is_some_and(|found| found != DateTime::ZERO);
        let Some(found) = found else { continue };
        if best.is_none_or(|best| found.cmp(&best) == wanted) {
            best = Some(found);
        }
    }
    if !are_days && !are_dates && wanted == Ordering::Less {
        return least_text(cx, values, arguments, call);
    }
    let Some(best) = best else { return Ok(Value::Null) };
    let mut text = Vec::new();
    if are_days {
        best.date().format(&mut text);
    } else {
        best.format(arguments.iter().map(datetime_digits_of).max().unwrap_or(0), &mut text);
    }
    Ok(Value::bytes(text))
}

/// The least of values as texts.
fn least_text(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let mut best: Option<Value> = None;
    for (value, argument) in values.iter().zip(arguments) {
        let text = Value::Bytes(cx.text(value, argument, &call.ty)?);
        let is_less = match &best {
            None => true,
            Some(best) => {
                let domain = Domain::Text(call.ty.collation());
                cx.compare(text.as_ref(), best.as_ref(), domain)? == Some(Ordering::Less)
            }
        };
        if is_less {
            best = Some(text);
        }
    }
    Ok(best.unwrap_or_default())
}

fn extreme(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    call: &Expr,
    wanted: Ordering,
) -> SqlResult<Value> {
    if compares_dates(arguments, &call.ty) {
        return extreme_date(cx, values, arguments, call, wanted);
    }
    // all are compared as values of the result's type
    let probe = Expr::literal(Value::Int(0), call.ty.clone());
    let domain = domain_of(&probe, &probe, "greatest")?;
    let mut best: Option<Value> = None;
    for (value, argument) in values.iter().zip(arguments) {
        let value = cx.adapt(value.clone(), &argument.ty, &call.ty)?;
        let better = match &best {
            None => true,
            // Of equal texts GREATEST gives the last, LEAST the first.
            Some(best) => match cx.compare(value.as_ref(), best.as_ref(), domain)? {
                Some(Ordering::Equal) => wanted == Ordering::Greater,
                found => found == Some(wanted),
            },
        };
        if better {
            best = Some(value);
        }
    }
    Ok(year_as_number(best.unwrap_or_default()))
}
