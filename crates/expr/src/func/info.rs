//! Functions that tell of the session, the server, and of values' types; and those that take time.

use palisade_base::error_catalogue::{ER_WRONG_ARGUMENTS, ER_WRONG_VALUE_FOR_TYPE};
use palisade_base::{Blocked, Event, mysql_error};
use palisade_catalog::{CollationId, SqlType, Value};

use super::{Evaluation, Function, Typed, effect, function, text_of_length, volatile};
use crate::context::Sleep;
use crate::place::At;
use crate::{Context, Expr};
use crate::{Scope, SqlAttempt, SqlResult};
use Evaluation::{Lazy, Nullable, Strict};

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    effect("benchmark", (2, 2), bigint, Lazy(benchmark)),
    // of what its argument is, not of its value
    function("charset", (1, 1), name, Lazy(charset)),
    function("coercibility", (1, 1), bigint, Lazy(|_, a, _| Ok(Value::Int(a.at(0)?.coercibility as i64)))),
    function("collation", (1, 1), name, Lazy(collation)),
    volatile(
        "connection_id",
        (0, 0),
        unsigned,
        Strict(|cx, _, _, _| Ok(Value::UInt(cx.session.connection_id))),
    ),
    volatile("current_role", (0, 0), name, Strict(|_, _, _, _| Ok(Value::bytes("NONE")))),
    volatile(
        "current_user",
        (0, 0),
        name,
        Strict(|cx, _, _, _| Ok(Value::bytes(cx.session.security.account.as_str()))),
    ),
    volatile("database", (0, 0), name, Strict(database)),
    volatile("found_rows", (0, 0), unsigned, Strict(|cx, _, _, _| Ok(Value::UInt(cx.session.found_rows)))),
    volatile("last_insert_id", (0, 1), unsigned, Nullable(last_insert_id)),
    volatile("row_count", (0, 0), bigint, Strict(|cx, _, _, _| Ok(Value::Int(cx.session.row_count)))),
    volatile("schema", (0, 0), name, Strict(database)),
    volatile("session_user", (0, 0), name, Strict(user)),
    effect("sleep", (1, 1), bigint, Lazy(sleep)),
    volatile("system_user", (0, 0), name, Strict(user)),
    volatile("user", (0, 0), name, Strict(user)),
    volatile("version", (0, 0), name, Strict(|cx, _, _, _| Ok(Value::bytes(cx.host.version())))),
    volatile("version_with_update", (0, 0), version_type, Strict(version_with_update)),
];

fn version_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(text_of_length(64, CollationId::UTF8MB3_GENERAL_CI)))
}

fn version_with_update(cx: &mut Context<'_>, _: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let version = cx.host.variable(cx.session, Some(Scope::Global), "version_with_update")?;
    Ok(version.unwrap_or(Value::Null))
}

/// A name as the server keeps names.
fn name(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(64, CollationId::UTF8MB3_GENERAL_CI)))
}

fn bigint(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(SqlType::BIGINT))
}

fn unsigned(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(SqlType::BIGINT_UNSIGNED))
}

fn charset(_: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    Ok(Value::bytes(arguments.at(0)?.ty.collation().get().charset.name()))
}

fn collation(_: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    Ok(Value::bytes(arguments.at(0)?.ty.collation().get().name))
}

fn database(cx: &mut Context<'_>, _: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(cx.session.database.as_deref().map_or(Value::Null, Value::bytes))
}

fn user(cx: &mut Context<'_>, _: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(Value::bytes(format!("{}@{}", cx.session.user, cx.session.client_host)))
}

fn last_insert_id(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    if let Some(value) = values.first() {
        if value.is_null() {
            cx.session.last_insert_id = 0;
            return Ok(Value::Null);
        }
        cx.session.last_insert_id = cx.to_bits(value.as_ref())?;
    }
    Ok(Value::UInt(cx.session.last_insert_id))
}

fn benchmark(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let count = match arguments.at(0)?.eval(cx)? {
        Value::Null => return Ok(Value::Null),
        Value::UInt(count) => count,
        value => {
            let count = cx.to_i64(value.as_ref())?;
            let Ok(count) = u64::try_from(count) else {
                cx.session.warnings.warn(mysql_error!(ER_WRONG_VALUE_FOR_TYPE, "count", count, "benchmark"));
                return Ok(Value::Null);
            };
            count
        }
    };
    let operand = arguments.at(1)?;
    cx.each_turn(call, count, |cx| operand.eval(cx).map(drop))?;
    Ok(Value::Int(0))
}

/// SLEEP(seconds): asks to be called again after an event that never happens; the front door wakes the
/// statement at [`Sleep::until`], or when it is to end. An interrupted SLEEP answers 1, and leaves it to the
/// next row to fail.
fn sleep(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let place = std::ptr::from_ref(call) as usize;
    let now = cx.host.unix_micros();
    if let Some(Sleep { until, .. }) = cx.state.sleep.filter(|sleep| sleep.place == place) {
        if cx.is_interrupted() {
            cx.state.sleep = None;
            cx.state.look_at_next_row();
            return Ok(Value::Int(1));
        }
        if now < until {
            return Err(Blocked::Wait(Event::new()));
        }
        cx.state.sleep = None;
        return Ok(Value::Int(0));
    }
    let value = arguments.at(0)?.eval(cx)?;
    let seconds = if value.is_null() { -1.0 } else { cx.to_f64(value.as_ref())? };
    if seconds < 0.0 {
        cx.warn_or_fail(mysql_error!(ER_WRONG_ARGUMENTS, "sleep."))?;
        return Ok(Value::Int(0));
    }
    if seconds == 0.0 {
        return Ok(Value::Int(0));
    }
    if cx.is_interrupted() {
        cx.state.look_at_next_row();
        return Ok(Value::Int(1));
    }
    cx.state.sleep = Some(Sleep { place, until: now.saturating_add((seconds * 1e6) as i64) });
    Err(Blocked::Wait(Event::new()))
}
