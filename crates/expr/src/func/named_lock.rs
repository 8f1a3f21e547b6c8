//! GET_LOCK() and its like, over the server's [named locks](crate::named_locks).

use palisade_base::Blocked;
use palisade_base::error_catalogue::{
    ER_USER_LOCK_DEADLOCK, ER_USER_LOCK_OVERLONG_NAME, ER_USER_LOCK_WRONG_NAME,
};
use palisade_base::mysql_error;
use palisade_catalog::{Charset, CollationId, SqlType, Value, charset};

use super::{Evaluation, Function, Typed, effect, volatile};
use crate::context::NamedWait;
use crate::convert::text_of;
use crate::named_locks::{Name, Request};
use crate::place::At;
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlError, SqlResult};
use Evaluation::Lazy;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    effect("get_lock", (2, 2), answer, Lazy(get_lock)),
    volatile("is_free_lock", (1, 1), answer, Lazy(is_free_lock)),
    volatile("is_used_lock", (1, 1), unsigned, Lazy(is_used_lock)),
    effect("release_all_locks", (0, 0), count, Lazy(release_all_locks)),
    effect("release_lock", (1, 1), answer, Lazy(release_lock)),
];

/// Characters of a name, at most.
const LONGEST_NAME: usize = 64;

/// How long a negative timeout lasts: a year.
const ENDLESS_SECONDS: i64 = 31_536_000;

fn answer(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::INT))
}

fn unsigned(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::BIGINT_UNSIGNED))
}

fn count(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(SqlType::BIGINT_UNSIGNED))
}

/// The name that an argument is: in utf8mb3, the case of its letters forgotten.
fn name(cx: &mut Context<'_>, argument: &Expr) -> SqlAttempt<Name> {
    let value = argument.eval(cx)?;
    if value.is_null() {
        return Err(mysql_error!(ER_USER_LOCK_WRONG_NAME, "NULL").into());
    }
    let text = text_of(&value, &argument.ty);
    let from = if argument.ty.is_string() { argument.ty.collation().get().charset } else { Charset::Ascii };
    Ok(name_of(&text, from)?)
}

fn name_of(text: &[u8], from: Charset) -> SqlResult<Name> {
    let wrong = || -> SqlError { mysql_error!(ER_USER_LOCK_WRONG_NAME, shown(text, from)) };
    let mut known = Vec::with_capacity(text.len());
    let said = charset::convert(text, from, Charset::Utf8mb3, &mut known);
    if known.is_empty() || !said || Charset::Utf8mb3.valid_len(&known) < known.len() {
        return Err(wrong());
    }
    if Charset::Utf8mb3.char_count(&known) > LONGEST_NAME {
        let shown = String::from_utf8_lossy(&known).into_owned();
        return Err(mysql_error!(ER_USER_LOCK_OVERLONG_NAME, shown, LONGEST_NAME));
    }
    let mut lower = Vec::with_capacity(known.len());
    CollationId::UTF8MB3_GENERAL_CI.get().to_lower(&known, &mut lower);
    String::from_utf8(lower).map(Name::from).map_err(|_| wrong())
}

/// A name that is none, as the error shows it: characters that utf8mb3 has not are question marks.
fn shown(text: &[u8], from: Charset) -> String {
    let from = if from == Charset::Binary { Charset::Utf8mb4 } else { from };
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (character, length) = from.decode(rest);
        let (bytes, after) = rest.split_at(length);
        match character {
            Some(character) if u32::from(character) <= 0xffff => out.push(character),
            Some(_) => out.push('?'),
            None => bytes.iter().for_each(|byte| out.push_str(&format!("\\x{byte:02X}"))),
        }
        rest = after;
    }
    out
}

/// GET_LOCK(name, seconds): where another session has the lock it asks to be called again when it has got it;
/// the front door wakes the statement then, or when its time is up. A statement that is killed while it waits
/// fails.
fn get_lock(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let place = std::ptr::from_ref(call) as usize;
    if let Some(NamedWait { wait, until, .. }) = cx.state.named_wait.take_if(|named| named.place == place) {
        let event = wait.event();
        if !event.is_complete() && cx.host.unix_micros() < until {
            cx.state.named_wait = Some(NamedWait { place, wait, until });
            return Err(Blocked::Wait(event));
        }
        return Ok(Value::Int(i64::from(wait.settle())));
    }
    let name = name(cx, arguments.at(0)?)?;
    let seconds = match arguments.at(1)?.eval(cx)? {
        Value::Null => 0,
        value => match cx.to_i64(value.as_ref())? {
            seconds if seconds < 0 => ENDLESS_SECONDS,
            seconds => seconds.min(ENDLESS_SECONDS),
        },
    };
    match cx.host.named_locks().request(cx.session.connection_id, &name) {
        Request::Granted => Ok(Value::Int(1)),
        // Who does not wait closes no cycle.
        Request::Deadlock if seconds == 0 => Ok(Value::Int(0)),
        Request::Deadlock => Err(mysql_error!(ER_USER_LOCK_DEADLOCK).into()),
        Request::Wait(wait) if seconds == 0 => Ok(Value::Int(i64::from(wait.settle()))),
        Request::Wait(wait) => {
            let event = wait.event();
            let until = cx.host.unix_micros().saturating_add(seconds * 1_000_000);
            cx.state.named_wait = Some(NamedWait { place, wait, until });
            Err(Blocked::Wait(event))
        }
    }
}

fn release_lock(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let name = name(cx, arguments.at(0)?)?;
    let released = cx.host.named_locks().release(cx.session.connection_id, &name);
    Ok(released.map_or(Value::Null, |released| Value::Int(i64::from(released))))
}

fn release_all_locks(cx: &mut Context<'_>, _: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    Ok(Value::UInt(cx.host.named_locks().release_all(cx.session.connection_id)))
}

fn is_free_lock(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let name = name(cx, arguments.at(0)?)?;
    Ok(Value::Int(i64::from(cx.host.named_locks().holder(&name).is_none())))
}

fn is_used_lock(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let name = name(cx, arguments.at(0)?)?;
    Ok(cx.host.named_locks().holder(&name).map_or(Value::Null, Value::UInt))
}
