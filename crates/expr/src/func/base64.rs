//! TO_BASE64 and FROM_BASE64: 64 digits, in lines of 76.

use super::string::binary_of_first;
use super::{Evaluation, Function, Typed, function, text_of_length};
use crate::SqlResult;
use crate::convert::text_of;
use crate::place::At;
use crate::{Context, Expr};
use Evaluation::Strict;
use palisade_catalog::{CollationId, Value};

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("from_base64", (1, 1), binary_of_first, Strict(from_base64)),
    function("to_base64", (1, 1), base64_type, Strict(to_base64)),
];

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Characters of a line.
const LINE: usize = 76;
/// Bytes of a line.
const BYTES_A_LINE: usize = LINE / 4 * 3;
/// Lines that are written, or as many digits read, between two checkpoints.
const LINES_A_LOOK: usize = 256;
/// What a byte counts as, in units of a nanosecond.
const UNITS_A_BYTE: usize = 8;

fn base64_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let bytes = u64::from(arguments.at(0)?.ty.wire_length(4));
    Ok(Typed::strict(text_of_length(bytes * 4 / 3 + bytes / 57 + 4, connection), arguments))
}

fn to_base64(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    if cx.exceeds(length(text.len()))? {
        return Ok(cx.too_large("to_base64"));
    }
    Ok(Value::bytes(lines(cx, &text)?))
}

/// Digits and ends of lines for so many bytes.
fn length(bytes: usize) -> usize {
    let digits = bytes.div_ceil(3).saturating_mul(4);
    digits.saturating_add(digits.saturating_sub(1) / LINE)
}

/// Bytes in base 64, in lines.
pub fn lines(cx: &mut Context<'_>, bytes: &[u8]) -> SqlResult<String> {
    let mut out = String::with_capacity(length(bytes.len()));
    for part in bytes.chunks(LINES_A_LOOK * BYTES_A_LINE) {
        cx.checkpoint(part.len() * UNITS_A_BYTE)?;
        for line in part.chunks(BYTES_A_LINE) {
            if !out.is_empty() {
                out.push('\n');
            }
            put_line(line, &mut out);
        }
    }
    Ok(out)
}

/// The same of a few bytes.
pub fn encoded(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(length(bytes.len()));
    for line in bytes.chunks(BYTES_A_LINE) {
        if !out.is_empty() {
            out.push('\n');
        }
        put_line(line, &mut out);
    }
    out
}

/// The bytes that a short text in base 64 says; `None` if it is none.
pub fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().collect();
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    read_digits(&digits, true, &mut out)?;
    Some(out)
}

fn put_line(bytes: &[u8], out: &mut String) {
    #[expect(clippy::indexing_slicing, reason = "there is a digit for each value of six bits")]
    let digit = |bits: u32| char::from(DIGITS[(bits & 63) as usize]);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            out.push(if place <= chunk.len() { digit(word >> (18 - 6 * place)) } else { '=' });
        }
    }
}

/// NULL for a text that is none in base 64.
fn from_base64(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    let mut digits = Vec::with_capacity(text.len());
    for part in text.chunks(LINES_A_LOOK * LINE) {
        cx.checkpoint(part.len() * UNITS_A_BYTE)?;
        digits.extend(part.iter().filter(|byte| !byte.is_ascii_whitespace()));
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let mut rest = &*digits;
    while !rest.is_empty() {
        let (part, after) = rest.split_at_checked(LINES_A_LOOK * LINE).unwrap_or((rest, &[]));
        cx.checkpoint(part.len() * UNITS_A_BYTE)?;
        if read_digits(part, after.is_empty(), &mut out).is_none() {
            return Ok(Value::Null);
        }
        rest = after;
    }
    Ok(Value::bytes(out))
}

/// Appends the bytes that digits say. Only the last four digits of all may be padded.
fn read_digits(digits: &[u8], are_last: bool, out: &mut Vec<u8>) -> Option<()> {
    for (number, chunk) in digits.chunks(4).enumerate() {
        let padding = chunk.iter().rev().take_while(|byte| **byte == b'=').count();
        let last = are_last && (number + 1) * 4 == digits.len();
        if chunk.len() < 4 || padding > 2 || padding > 0 && !last {
            return None;
        }
        let mut word = 0u32;
        for byte in chunk.iter().take(4 - padding) {
            word = word << 6 | value_of(*byte)?;
        }
        word <<= 6 * padding;
        out.extend(word.to_be_bytes().iter().skip(1).take(3 - padding));
    }
    Some(())
}

/// What a digit is worth.
fn value_of(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_reads_back() {
        for (value, digit) in DIGITS.iter().enumerate() {
            assert_eq!(value_of(*digit), Some(value as u32));
        }
        assert_eq!((0..=255).filter(|byte| value_of(*byte).is_some()).count(), 64);
    }

    #[test]
    fn only_the_last_digits_are_padded() {
        let read = |digits: &[u8], are_last| {
            let mut out = Vec::new();
            read_digits(digits, are_last, &mut out).map(|()| out)
        };
        assert_eq!(read(b"YWJj", false).as_deref(), Some(b"abc".as_slice()));
        assert_eq!(read(b"YWI=", true).as_deref(), Some(b"ab".as_slice()));
        assert_eq!(read(b"YWI=", false), None);
        assert_eq!(read(b"YQ==YQ==", true), None);
        assert_eq!(read(b"YWJ", true), None);
        assert_eq!(read(b"Y===", true), None);
    }
}
