//! Hashes, checksums, unique and random bytes.

use md5::{Digest, Md5};
use palisade_base::error_catalogue::ER_WRONG_VALUE_FOR_TYPE;
use palisade_base::mysql_error;
use palisade_catalog::charset::convert_watched;
use palisade_catalog::{Charset, CollationId, SqlType, Value};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::turns::{Read, Turn};
use super::{Evaluation, Function, Typed, edit, function, string, text_of_length, volatile};
use crate::SqlResult;
use crate::convert::text_of;
use crate::place::At;
use crate::{Context, Expr};
use Evaluation::{Nullable, Strict};

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("bin_to_uuid", (1, 2), maybe_uuid_type, Nullable(bin_to_uuid)).in_turns(UUID),
    function("crc32", (1, 1), unsigned, Strict(crc32)),
    function("is_uuid", (1, 1), is_uuid_type, Strict(is_uuid)),
    function("md5", (1, 1), hash_type, Strict(|cx, v, a, _| digest::<Md5>(cx, v.at(0)?, a.at(0)?))),
    volatile("random_bytes", (1, 1), random_type, Strict(random_bytes)),
    function("sha", (1, 1), hash_type, Strict(|cx, v, a, _| digest::<Sha1>(cx, v.at(0)?, a.at(0)?))),
    function("sha1", (1, 1), hash_type, Strict(|cx, v, a, _| digest::<Sha1>(cx, v.at(0)?, a.at(0)?))),
    function("sha2", (2, 2), hash_type, Strict(sha2_of)).in_turns(SHA2),
    volatile("uuid", (0, 0), uuid_type, Strict(uuid)),
    volatile("uuid_short", (0, 0), unsigned, Strict(uuid_short)),
    function("uuid_to_bin", (1, 2), uuid_bytes_type, Nullable(uuid_to_bin)).in_turns(UUID),
];

fn unsigned(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::strict(SqlType::BIGINT_UNSIGNED, arguments))
}

fn hash_type(_: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(128, connection)))
}

/// A NULL that says whether parts are exchanged says no.
const UUID: &[Turn] = &[Turn::of(0)];
const SHA2: &[Turn] = &[Turn::of(0), Turn::of(1).read(Read::Integer)];

fn uuid_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(text_of_length(36, CollationId::UTF8MB3_GENERAL_CI)))
}

fn maybe_uuid_type(_: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(36, connection)))
}

fn uuid_bytes_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::VarBinary { length: 16 }))
}

fn is_uuid_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::INT))
}

fn random_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::VarBinary { length: MOST_RANDOM_BYTES as u32 }))
}

const MOST_RANDOM_BYTES: i64 = 1024;

fn hex(bytes: &[u8]) -> Value {
    Value::bytes(edit::hex(bytes).to_ascii_lowercase())
}

/// Bytes that are hashed between two checkpoints.
const PIECE: usize = 1 << 14;
/// What hashing a byte counts as, in units of a nanosecond.
const UNITS_A_BYTE: usize = 4;

/// The digest of a value's text, in hexadecimal digits.
fn digest<D: Digest>(cx: &mut Context<'_>, value: &Value, argument: &Expr) -> SqlResult<Value> {
    let mut hasher = D::new();
    for piece in text_of(value, &argument.ty).chunks(PIECE) {
        cx.checkpoint(piece.len() * UNITS_A_BYTE)?;
        hasher.update(piece);
    }
    Ok(hex(&hasher.finalize()))
}

fn crc32(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let mut hasher = crc32fast::Hasher::new();
    for piece in text_of(values.at(0)?, &arguments.at(0)?.ty).chunks(PIECE) {
        cx.checkpoint(piece.len())?;
        hasher.update(piece);
    }
    Ok(Value::UInt(u64::from(hasher.finalize())))
}

fn sha2_of(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    match cx.to_i64(values.at(1)?.as_ref())? {
        224 => digest::<Sha224>(cx, values.at(0)?, arguments.at(0)?),
        0 | 256 => digest::<Sha256>(cx, values.at(0)?, arguments.at(0)?),
        384 => digest::<Sha384>(cx, values.at(0)?, arguments.at(0)?),
        512 => digest::<Sha512>(cx, values.at(0)?, arguments.at(0)?),
        _ => Ok(Value::Null),
    }
}

fn random_bytes(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let count = cx.to_i64(values.at(0)?.as_ref())?;
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

/// The 16 bytes of a UUID written as 32 hexadecimal digits, in five groups between hyphens, or so in braces.
fn uuid_of(text: &[u8]) -> Option<[u8; 16]> {
    const HYPHENS: [usize; 4] = [8, 13, 18, 23];
    let is_grouped = match text {
        [b'{', grouped @ .., b'}'] if grouped.len() == 36 => return uuid_of(grouped),
        text if text.len() == 32 => false,
        text if text.len() == 36 && HYPHENS.iter().all(|at| text.get(*at) == Some(&b'-')) => true,
        _ => return None,
    };
    let is_kept = |(at, byte): (usize, &u8)| (!is_grouped || !HYPHENS.contains(&at)).then_some(*byte);
    let digits: Vec<u8> = text.iter().enumerate().filter_map(is_kept).collect();
    edit::unhex(&digits)?.try_into().ok()
}

/// 1411, an error in every mode.
fn wrong_uuid<T>(text: &[u8], ty: &SqlType, function: &str) -> SqlResult<T> {
    let charset = ty.collation().get().charset;
    let is_binary = matches!(ty, SqlType::Bit { .. }) || ty.is_string() && charset == Charset::Binary;
    let mut converted = Vec::new();
    let text = match ty.is_text() && !charset.is_utf8() {
        true => {
            convert_watched(text, charset, Charset::Utf8mb4, &mut converted, &mut |_| true);
            converted.as_slice()
        }
        false => text,
    };
    let shown = match std::str::from_utf8(text) {
        Ok(text) if !is_binary => text.to_owned(),
        _ => text.iter().map(|byte| shown_byte(*byte)).collect(),
    };
    Err(mysql_error!(ER_WRONG_VALUE_FOR_TYPE, "string", shown, function))
}

fn shown_byte(byte: u8) -> String {
    match byte {
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    }
}

/// Whether the second argument asks for the parts of the time to be exchanged, so that later UUIDs are
/// greater.
fn is_swapped(cx: &mut Context<'_>, values: &[Value]) -> SqlResult<bool> {
    match values.get(1) {
        Some(flag) => Ok(cx.to_bool(flag.as_ref())? == Some(true)),
        None => Ok(false),
    }
}

fn uuid_to_bin(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    if values.at(0)?.is_null() {
        return Ok(Value::Null);
    }
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    let Some(uuid) = uuid_of(&text) else { return wrong_uuid(&text, &arguments.at(0)?.ty, "uuid_to_bin") };
    if !is_swapped(cx, values)? {
        return Ok(Value::bytes(uuid.as_slice()));
    }
    // time-high, time-middle, time-low, and the rest
    Ok(Value::bytes([&uuid[6..8], &uuid[4..6], &uuid[..4], &uuid[8..]].concat()))
}

fn bin_to_uuid(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    if values.at(0)?.is_null() {
        return Ok(Value::Null);
    }
    let bytes = text_of(values.at(0)?, &arguments.at(0)?.ty);
    let Ok(uuid) = <[u8; 16]>::try_from(&*bytes) else {
        return wrong_uuid(&bytes, &arguments.at(0)?.ty, "bin_to_uuid");
    };
    let groups = match is_swapped(cx, values)? {
        false => [&uuid[..4], &uuid[4..6], &uuid[6..8], &uuid[8..10], &uuid[10..]],
        true => [&uuid[4..8], &uuid[2..4], &uuid[..2], &uuid[8..10], &uuid[10..]],
    };
    Ok(Value::bytes(groups.map(|group| edit::hex(group).to_ascii_lowercase()).join(&b'-')))
}

fn is_uuid(_: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(Value::Int(i64::from(uuid_of(&text_of(values.at(0)?, &arguments.at(0)?.ty)).is_some())))
}
