//! Network addresses: IPv4 and IPv6, as text and as bytes.
//!
//! The texts are read as MySQL reads them, which is laxer than the RFCs in one place - a part of an IPv4
//! address may begin with zeros as long as it has no more than three digits - and written as it writes them:
//! the first of the longest runs of zeros is left out, even if it is one group long.

use std::net::Ipv6Addr;

use palisade_catalog::{Bytes, CollationId, SqlType, Value};

use super::{Evaluation, Function, Typed, function, text_of_length};
use crate::convert::text_of;
use crate::place::At;
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlResult};
use Evaluation::{Lazy, Strict};

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("inet6_aton", (1, 1), address_bytes, Strict(inet6_aton)),
    function("inet6_ntoa", (1, 1), |_, connection| text(39, connection), Strict(inet6_ntoa)),
    function("inet_aton", (1, 1), maybe_unsigned, Strict(inet_aton)),
    function("inet_ntoa", (1, 1), |_, connection| text(31, connection), Strict(inet_ntoa)),
    function(
        "is_ipv4",
        (1, 1),
        int,
        Lazy(|cx, a, _| is_address(cx, a, |v, a| ipv4_of(&text_of(v, &a.ty)).is_some())),
    ),
    function("is_ipv4_compat", (1, 1), int, Lazy(|cx, a, _| is_address(cx, a, is_ipv4_compat))),
    function("is_ipv4_mapped", (1, 1), int, Lazy(|cx, a, _| is_address(cx, a, is_ipv4_mapped))),
    function(
        "is_ipv6",
        (1, 1),
        int,
        Lazy(|cx, a, _| is_address(cx, a, |v, a| ipv6_of(&text_of(v, &a.ty)).is_some())),
    ),
];

fn int(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::strict(SqlType::INT, arguments))
}

fn maybe_unsigned(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::BIGINT_UNSIGNED))
}

fn address_bytes(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::VarBinary { length: 16 }))
}

fn text(length: u64, connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(length, connection)))
}

fn truth(truth: bool) -> Value {
    Value::Int(i64::from(truth))
}

fn inet_aton(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    let mut parts = Vec::new();
    for part in text.split(|byte| *byte == b'.') {
        match std::str::from_utf8(part).ok().and_then(|part| part.parse::<u8>().ok()) {
            Some(part) => parts.push(u64::from(part)),
            None => return cx.wrong_argument("string", (arguments.at(0)?, values.at(0)?), "inet_aton"),
        }
    }
    // short forms: the last part is the lowest byte
    match parts.as_slice() {
        [a, b, c, d] => Ok(Value::UInt(a << 24 | b << 16 | c << 8 | d)),
        [a, b, c] => Ok(Value::UInt(a << 24 | b << 16 | c)),
        [a, b] => Ok(Value::UInt(a << 24 | b)),
        [a] => Ok(Value::UInt(*a)),
        _ => cx.wrong_argument("string", (arguments.at(0)?, values.at(0)?), "inet_aton"),
    }
}

fn inet_ntoa(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let number = cx.to_bits(values.at(0)?.as_ref())?;
    match u32::try_from(number) {
        Ok(number) => Ok(Value::bytes(std::net::Ipv4Addr::from(number).to_string())),
        Err(_) => cx.wrong_argument("integer", (arguments.at(0)?, values.at(0)?), "inet_ntoa"),
    }
}

/// The four bytes that `1.2.3.4` says: each of one to three digits.
fn ipv4_of(text: &[u8]) -> Option<[u8; 4]> {
    let mut address = [0; 4];
    let mut parts = text.split(|byte| *byte == b'.');
    for byte in &mut address {
        let part = parts.next().filter(|part| (1..=3).contains(&part.len()))?;
        if !part.iter().all(u8::is_ascii_digit) {
            return None;
        }
        *byte = std::str::from_utf8(part).ok()?.parse().ok()?;
    }
    parts.next().is_none().then_some(address)
}

fn ipv6_of(text: &[u8]) -> Option<[u8; 16]> {
    // The standard library knows all of it but zeros in front of the decimal parts, which are written out for
    // it.
    let text = std::str::from_utf8(text).ok()?;
    let address = match text.rsplit_once(':') {
        Some((groups, decimal)) if decimal.contains('.') => {
            let [a, b, c, d] = ipv4_of(decimal.as_bytes())?;
            format!("{groups}:{a}.{b}.{c}.{d}").parse::<Ipv6Addr>()
        }
        _ => text.parse::<Ipv6Addr>(),
    };
    address.ok().map(|address| address.octets())
}

fn inet6_aton(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    if let Some(address) = ipv4_of(&text) {
        return Ok(Value::bytes(address.as_slice()));
    }
    match ipv6_of(&text) {
        Some(address) => Ok(Value::bytes(address.as_slice())),
        None => cx.wrong_argument("string", (arguments.at(0)?, values.at(0)?), "inet6_aton"),
    }
}

/// The bytes of an address, of a binary string only.
fn bytes_of(value: &Value, argument: &Expr) -> Option<Bytes> {
    let is_binary = argument.ty.is_string() && argument.ty.collation() == CollationId::BINARY;
    is_binary.then(|| text_of(value, &argument.ty))
}

fn inet6_ntoa(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let bytes = bytes_of(values.at(0)?, arguments.at(0)?);
    let bytes = bytes.as_deref().unwrap_or_default();
    if let Ok(address) = <[u8; 4]>::try_from(bytes) {
        return Ok(Value::bytes(std::net::Ipv4Addr::from(address).to_string()));
    }
    match <[u8; 16]>::try_from(bytes) {
        Ok(address) => Ok(Value::bytes(ipv6_text(address))),
        Err(_) => cx.wrong_argument("string", (arguments.at(0)?, values.at(0)?), "inet6_ntoa"),
    }
}

fn ipv6_text(address: [u8; 16]) -> String {
    let groups = std::net::Ipv6Addr::from(address).segments();
    let [.., a, b, c, d] = address;
    let zeros = |from: usize| groups.iter().skip(from).take_while(|group| **group == 0).count();
    // the longest run of zeros, the first of several
    let (mut start, mut length) = (0, 0);
    for from in 0..groups.len() {
        if zeros(from) > length {
            (start, length) = (from, zeros(from));
        }
    }
    // an IPv4 address with six groups of zeros before it, or five and ffff, is written as one
    if start == 0 && (length == 6 || length == 5 && groups[5] == 0xffff) {
        let mapped = if length == 5 { "ffff:" } else { "" };
        return format!("::{mapped}{a}.{b}.{c}.{d}");
    }
    let hex = |groups: &[u16]| groups.iter().map(|group| format!("{group:x}")).collect::<Vec<_>>().join(":");
    match length {
        0 => hex(&groups),
        _ => {
            let (before, rest) = groups.split_at(start);
            format!("{}::{}", hex(before), hex(rest.get(length..).unwrap_or_default()))
        }
    }
}

/// The address of a binary string of 16 bytes.
fn ipv6_bytes(value: &Value, argument: &Expr) -> Option<[u8; 16]> {
    bytes_of(value, argument).and_then(|bytes| <[u8; 16]>::try_from(&*bytes).ok())
}

/// `::a.b.c.d`, but neither `::` nor `::1`.
fn is_ipv4_compat(value: &Value, argument: &Expr) -> bool {
    let address = ipv6_bytes(value, argument).map(u128::from_be_bytes);
    address.is_some_and(|address| address > 1 && address <= u128::from(u32::MAX))
}

/// `::ffff:a.b.c.d`.
fn is_ipv4_mapped(value: &Value, argument: &Expr) -> bool {
    let address = ipv6_bytes(value, argument).map(u128::from_be_bytes);
    address.is_some_and(|address| address >> 32 == 0xffff)
}

/// Whether a text is an address. A number is none, and not computed.
fn is_address(
    cx: &mut Context<'_>,
    arguments: &[Expr],
    test: fn(&Value, &Expr) -> bool,
) -> SqlAttempt<Value> {
    let argument = arguments.at(0)?;
    if argument.ty.is_numeric() {
        return Ok(truth(false));
    }
    let value = argument.eval(cx)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    Ok(truth(test(&value, argument)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_they_were_read() {
        for (text, expected) in [
            ("::", "::"),
            ("::1", "::1"),
            ("::1.2.3.4", "::1.2.3.4"),
            ("::ffff:001.2.3.4", "::ffff:1.2.3.4"),
            ("::ffff:0:1.2.3.4", "::ffff:0:102:304"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
            ("1:0:2:3:4:5:6:7", "1::2:3:4:5:6:7"),
            ("0:0:1:0:0:1:0:0", "::1:0:0:1:0:0"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7::"),
            ("::1:0", "::0.1.0.0"),
        ] {
            assert_eq!(ipv6_text(ipv6_of(text.as_bytes()).unwrap()), expected, "{text}");
        }
        for text in
            ["", "1.2.3.4", "1::2::3", "::1%eth0", "12345::", "::g", "::0001.2.3.4", "1:2:3:4::5:6:7:8"]
        {
            assert_eq!(ipv6_of(text.as_bytes()), None, "{text}");
        }
        for text in ["", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.+4", "0001.2.3.4", "1..2.3", " 1.2.3.4"] {
            assert_eq!(ipv4_of(text.as_bytes()), None, "{text}");
        }
    }
}
