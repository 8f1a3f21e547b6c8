//! Hashes, checksums, unique and random bytes.

use md5::{Digest as _, Md5};
use palisade_catalog::{CollationId, SqlType, Value};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::{Evaluation, Function, Typed, edit, function, string, text_of_length, volatile};
use crate::SqlResult;
use crate::expr::convert::text_of;
use crate::expr::{Context, Expr};
use Evaluation::Strict;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("crc32", (1, 1), unsigned, Strict(crc32)),
    function("md5", (1, 1), hash_type, Strict(|_, v, a, _| Ok(hex(&Md5::digest(text_of(&v[0], &a[0].ty)))))),
    volatile("random_bytes", (1, 1), random_type, Strict(random_bytes)),
    function("sha", (1, 1), hash_type, Strict(|_, v, a, _| Ok(hex(&Sha1::digest(text_of(&v[0], &a[0].ty)))))),
    function(
        "sha1",
        (1, 1),
        hash_type,
        Strict(|_, v, a, _| Ok(hex(&Sha1::digest(text_of(&v[0], &a[0].ty))))),
    ),
    function("sha2", (2, 2), hash_type, Strict(sha2_of)),
    volatile("uuid", (0, 0), uuid_type, Strict(uuid)),
    volatile("uuid_short", (0, 0), unsigned, Strict(uuid_short)),
];

fn unsigned(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::strict(SqlType::BIGINT_UNSIGNED, arguments))
}

fn hash_type(_: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(128, connection)))
}

fn uuid_type(_: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(text_of_length(36, connection)))
}

fn random_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::VarBinary { length: MOST_RANDOM_BYTES as u32 }))
}

const MOST_RANDOM_BYTES: i64 = 1024;

fn hex(bytes: &[u8]) -> Value {
    Value::bytes(edit::hex(bytes).to_ascii_lowercase())
}

fn crc32(_: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(Value::UInt(u64::from(crc32fast::hash(&text_of(&values[0], &arguments[0].ty)))))
}

fn sha2_of(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(&values[0], &arguments[0].ty);
    Ok(match cx.to_i64(values[1].as_ref())? {
        224 => hex(&Sha224::digest(text)),
        0 | 256 => hex(&Sha256::digest(text)),
        384 => hex(&Sha384::digest(text)),
        512 => hex(&Sha512::digest(text)),
        _ => Value::Null,
    })
}

fn random_bytes(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let count = cx.to_i64(values[0].as_ref())?;
    if !(1..=MOST_RANDOM_BYTES).contains(&count) {
        return string::wrong_arguments("random_bytes");
    }
    let mut out = Vec::with_capacity(count as usize + 8);
    while out.len() < count as usize {
        out.extend_from_slice(&cx.host.random().to_le_bytes());
    }
    out.truncate(count as usize);
    Ok(Value::bytes(out))
}

/// A version 1 layout from the time and random bits in place of the network address (RFC 4122, section 4.5).
fn uuid(cx: &mut Context<'_>, _: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    /// From 1582-10-15 to 1970-01-01 in units of 100 ns.
    const GREGORIAN: u64 = 0x01b2_1dd2_1381_4000;
    let ticks = cx.host.unix_micros() as u64 * 10 + cx.host.random() % 10 + GREGORIAN;
    let random = cx.host.random();
    Ok(Value::bytes(format!(
        "{:08x}-{:04x}-1{:03x}-{:04x}-{:012x}",
        ticks & 0xffff_ffff,
        ticks >> 32 & 0xffff,
        ticks >> 48 & 0xfff,
        0x8000 | random >> 48 & 0x3fff,
        // the multicast bit says that this is no network card's address
        random & 0xffff_ffff_ffff | 0x0100_0000_0000,
    )))
}

fn uuid_short(cx: &mut Context<'_>, _: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(Value::UInt((cx.host.unix_micros() as u64) << 8 | cx.host.random() & 0xff))
}
