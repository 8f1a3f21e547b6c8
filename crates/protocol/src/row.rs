//! Rows of results.
//!
//! In **text**, every value is a length-encoded string and NULL is one byte. In **binary** (prepared statements),
//! a bitmap says which values are NULL, and each of the others is encoded by its column's type code:
//!
//! | type | bytes |
//! |---|---|
//! | integers, YEAR | 1, 2, 4 or 8, little-endian (INT24 in 4) |
//! | FLOAT, DOUBLE | 4, 8 |
//! | DATE, DATETIME, TIMESTAMP | length (0, 4, 7 or 11), then year 2, month, day, hour, minute, second, microsecond 4 |
//! | TIME | length (0, 8 or 12), then sign, days 4, hour, minute, second, microsecond 4 |
//! | all others | length-encoded string, as in text |

use palisade_catalog::number::{format_f32, format_f64, format_fixed, format_i64, format_u64};
use palisade_catalog::types::{flags, wire};
use palisade_catalog::{Charset, DateTime, SqlType, Time, ValueRef, charset};

use crate::wire::{NULL, put_lenenc_bytes, put_lenenc_int};

/// How the values of a column are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnFormat {
    type_code: u8,
    decimals: u8,
    /// Text is converted from the first to the second.
    conversion: Option<(Charset, Charset)>,
    /// Numbers get leading zeros up to so many digits.
    zerofill: u8,
    /// Its values are strings that are sent as they are.
    is_verbatim: bool,
}

impl ColumnFormat {
    /// For a column of type `ty` with these protocol flags and this display width, in a result in the character set
    /// `results`; `None` leaves text as it is.
    pub fn new(ty: &SqlType, column_flags: u16, display_width: u32, results: Option<Charset>) -> Self {
        let from = ty.collation().get().charset;
        let is_text = ty.is_text() || matches!(ty, SqlType::Json);
        let differs = |to: &Charset| is_text && !same_bytes(from, *to);
        let zerofill = column_flags & flags::ZEROFILL != 0 && !matches!(ty, SqlType::Year);
        let conversion = results.filter(differs).map(|to| (from, to));
        ColumnFormat {
            type_code: ty.wire_code(),
            decimals: ty.wire_decimals(),
            conversion,
            is_verbatim: conversion.is_none() && is_string(ty.wire_code()),
            zerofill: if zerofill { display_width.min(255) as u8 } else { 0 },
        }
    }
}

/// Whether values of a column with this type code are strings in binary rows, too.
fn is_string(type_code: u8) -> bool {
    matches!(
        type_code,
        wire::VAR_STRING | wire::STRING | wire::BLOB | wire::TINY_BLOB | wire::MEDIUM_BLOB | wire::LONG_BLOB
    )
}

/// Whether all text of `from` is the same bytes in `to`. One of ASCII may have come from bytes that are none:
/// of those clients see `?`.
fn same_bytes(from: Charset, to: Charset) -> bool {
    from == to || to == Charset::Binary || from.is_utf8() && to == Charset::Utf8mb4
}

/// Whether all columns are strings that are sent as they are, in text and binary rows.
pub fn are_verbatim(columns: &[ColumnFormat]) -> bool {
    columns.iter().all(|column| column.is_verbatim)
}

/// Appends the payload of a text row of strings that are sent [as they are](are_verbatim); `None` is NULL.
#[inline]
pub fn encode_text_row_of_strings<'v>(values: impl Iterator<Item = Option<&'v [u8]>>, out: &mut Vec<u8>) {
    for value in values {
        match value {
            Some(text) => put_lenenc_bytes(out, text),
            None => out.push(NULL),
        }
    }
}

/// The same of a binary row.
#[inline]
pub fn encode_binary_row_of_strings<'v>(
    values: impl ExactSizeIterator<Item = Option<&'v [u8]>>,
    out: &mut Vec<u8>,
) {
    let bitmap = begin_binary_row(values.len(), out);
    for (position, value) in values.enumerate() {
        match value {
            Some(text) => put_lenenc_bytes(out, text),
            None => set_null(bitmap, position, out),
        }
    }
}

/// Appends what a binary row begins with, and gives the place of its bitmap.
#[inline]
fn begin_binary_row(columns: usize, out: &mut Vec<u8>) -> usize {
    let bitmap = out.len() + 1;
    match (columns + 2).div_ceil(8) {
        1 => out.extend_from_slice(&[0, 0]),
        bytes => out.resize(bitmap + bytes, 0),
    }
    bitmap
}

/// Sets the bit of a column that is NULL.
#[inline]
fn set_null(bitmap: usize, position: usize, out: &mut [u8]) {
    if let Some(bits) = out.get_mut(bitmap + (position + 2) / 8) {
        *bits |= 1 << ((position + 2) % 8);
    }
}

/// Appends the payload of a text row. There must be one value per column.
#[inline]
pub fn encode_text_row<'v>(
    columns: &[ColumnFormat],
    mut values: impl ExactSizeIterator<Item = ValueRef<'v>>,
    out: &mut Vec<u8>,
) {
    assert_eq!(columns.len(), values.len(), "a row has a value for each column");
    for column in columns {
        match values.next() {
            Some(ValueRef::Bytes(text)) if column.is_verbatim => put_lenenc_bytes(out, text),
            Some(value) => put_text_value(column, &value, out),
            None => {}
        }
    }
}

#[inline]
fn put_text_value(column: &ColumnFormat, value: &ValueRef<'_>, out: &mut Vec<u8>) {
    match *value {
        ValueRef::Null => out.push(NULL),
        ValueRef::Bytes(text) => put_text(column, text, out),
        ValueRef::Enum { text, .. } => put_text(column, text, out),
        ValueRef::Set { bits, text } => {
            let mut joined = Vec::new();
            text.append_to(bits, &mut joined);
            put_text(column, &joined, out);
        }
        _ => put_short(out, |out| format_value(column, value, out)),
    }
}

/// Appends what `format` appends, at most 250 bytes of it, and its length before.
fn put_short(out: &mut Vec<u8>, format: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.push(0);
    format(out);
    let length = out.len() - at - 1;
    match out.get_mut(at) {
        Some(prefix) if length <= 250 => *prefix = length as u8,
        _ => {
            let text = out.split_off(at + 1);
            out.truncate(at);
            put_lenenc_bytes(out, &text);
        }
    }
}

#[inline]
fn put_text(column: &ColumnFormat, text: &[u8], out: &mut Vec<u8>) {
    match column.conversion {
        None => put_lenenc_bytes(out, text),
        Some(_) if text.is_ascii() => put_lenenc_bytes(out, text),
        Some((from, to)) => {
            let mut converted = Vec::with_capacity(text.len() * 2);
            charset::convert(text, from, to, &mut converted);
            put_lenenc_bytes(out, &converted);
        }
    }
}

/// Appends a value that is not a string, as text.
fn format_value(column: &ColumnFormat, value: &ValueRef<'_>, out: &mut Vec<u8>) {
    let at = out.len();
    match *value {
        ValueRef::Int(number) => format_i64(number, out),
        ValueRef::UInt(number) => format_u64(number, out),
        // a quotient carries more digits than its type shows, for what is computed from it
        ValueRef::Decimal(number) if number.scale() > column.decimals => {
            number.round(i32::from(column.decimals)).unwrap_or(number).format(out);
        }
        ValueRef::Decimal(number) => number.format(out),
        ValueRef::Float(number) if column.decimals < 31 => {
            format_fixed(f64::from(number), column.decimals, out)
        }
        ValueRef::Float(number) => format_f32(number, out),
        ValueRef::Double(number) if column.decimals < 31 => format_fixed(number, column.decimals, out),
        ValueRef::Double(number) => format_f64(number, out),
        ValueRef::Date(date) => date.format(out),
        ValueRef::Time(time) => time.format(column.decimals, out),
        ValueRef::DateTime(moment) => moment.format(column.decimals, out),
        ValueRef::Timestamp(moment) => {
            moment.to_datetime(&palisade_catalog::Zone::UTC).format(column.decimals, out);
        }
        ValueRef::Year(year) => put_digits(u32::from(year), 4, out),
        ValueRef::Bit { bits, width } => out.extend_from_slice(bit_bytes(&bits.to_be_bytes(), width)),
        ValueRef::Null | ValueRef::Bytes(_) | ValueRef::Enum { .. } | ValueRef::Set { .. } => {
            unreachable!("strings and NULL are written by the callers")
        }
    }
    let digits = out.len() - at;
    let width = usize::from(column.zerofill);
    if digits < width && !matches!(value, ValueRef::Bit { .. }) {
        out.splice(at..at, std::iter::repeat_n(b'0', width - digits));
    }
}

/// The low bytes that `width` bits need: one to eight of them.
fn bit_bytes(big_endian: &[u8; 8], width: u8) -> &[u8] {
    let unused = 8 - usize::from(width.clamp(1, 64)).div_ceil(8);
    big_endian.get(unused..).unwrap_or(big_endian)
}

fn put_digits(mut number: u32, count: usize, out: &mut Vec<u8>) {
    out.resize(out.len() + count, b'0');
    for digit in out.iter_mut().rev().take(count) {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Appends the payload of a binary row. There must be one value per column.
#[inline]
pub fn encode_binary_row<'v>(
    columns: &[ColumnFormat],
    mut values: impl ExactSizeIterator<Item = ValueRef<'v>>,
    out: &mut Vec<u8>,
) {
    assert_eq!(columns.len(), values.len(), "a row has a value for each column");
    let bitmap = begin_binary_row(columns.len(), out);
    for (position, column) in columns.iter().enumerate() {
        let Some(value) = values.next() else { return };
        match value {
            ValueRef::Bytes(text) if column.is_verbatim => put_lenenc_bytes(out, text),
            ValueRef::Null => set_null(bitmap, position, out),
            _ => put_binary_value(column, &value, out),
        }
    }
}

#[inline]
fn put_binary_value(column: &ColumnFormat, value: &ValueRef<'_>, out: &mut Vec<u8>) {
    match column.type_code {
        wire::TINY => out.push(as_integer(value) as u8),
        wire::SHORT | wire::YEAR => out.extend_from_slice(&(as_integer(value) as u16).to_le_bytes()),
        wire::LONG | wire::INT24 => out.extend_from_slice(&(as_integer(value) as u32).to_le_bytes()),
        wire::LONGLONG => out.extend_from_slice(&as_integer(value).to_le_bytes()),
        wire::FLOAT => out.extend_from_slice(&(as_double(value) as f32).to_le_bytes()),
        wire::DOUBLE => out.extend_from_slice(&as_double(value).to_le_bytes()),
        wire::DATE | wire::DATETIME | wire::TIMESTAMP => put_binary_datetime(value, out),
        wire::TIME => put_binary_time(value, out),
        _ => put_text_value(column, value, out),
    }
}

/// The bits of a value in an integer column: signed numbers in two's complement.
fn as_integer(value: &ValueRef<'_>) -> u64 {
    match *value {
        ValueRef::Int(number) => number as u64,
        ValueRef::UInt(number) => number,
        ValueRef::Bit { bits, .. } => bits,
        ValueRef::Year(year) => u64::from(year),
        ValueRef::Enum { index, .. } => u64::from(index),
        ValueRef::Set { bits, .. } => bits,
        ValueRef::Float(number) => number.round_ties_even() as i64 as u64,
        ValueRef::Double(number) => number.round_ties_even() as i64 as u64,
        ValueRef::Decimal(number) => number.to_i64().unwrap_or_else(|nearest| nearest) as u64,
        _ => 0,
    }
}

fn as_double(value: &ValueRef<'_>) -> f64 {
    match *value {
        ValueRef::Float(number) => f64::from(number),
        ValueRef::Double(number) => number,
        ValueRef::Int(number) => number as f64,
        ValueRef::UInt(number) => number as f64,
        ValueRef::Decimal(number) => number.to_f64(),
        _ => as_integer(value) as f64,
    }
}

fn put_binary_datetime(value: &ValueRef<'_>, out: &mut Vec<u8>) {
    let moment = match *value {
        ValueRef::DateTime(moment) => moment,
        ValueRef::Timestamp(moment) => moment.to_datetime(&palisade_catalog::Zone::UTC),
        ValueRef::Date(date) => date.at_midnight(),
        _ => DateTime::ZERO,
    };
    let (date, micros) = (moment.date(), moment.micros());
    let clock = [moment.hour(), moment.minute(), moment.second()];
    let length = match (moment == DateTime::ZERO, clock, micros) {
        (true, ..) => 0,
        (_, [0, 0, 0], 0) => 4,
        (.., 0) => 7,
        _ => 11,
    };
    out.push(length);
    if length >= 4 {
        out.extend_from_slice(&date.year().to_le_bytes());
        out.extend_from_slice(&[date.month(), date.day()]);
    }
    if length >= 7 {
        out.extend_from_slice(&clock);
    }
    if length >= 11 {
        out.extend_from_slice(&micros.to_le_bytes());
    }
}

fn put_binary_time(value: &ValueRef<'_>, out: &mut Vec<u8>) {
    let time = match *value {
        ValueRef::Time(time) => time,
        ValueRef::DateTime(moment) => moment.time(),
        _ => Time::default(),
    };
    let (negative, hours, minute, second, micros) = time.parts();
    let length = match (time == Time::default(), micros) {
        (true, _) => 0,
        (_, 0) => 8,
        _ => 12,
    };
    put_lenenc_int(out, length);
    if length >= 8 {
        out.push(u8::from(negative));
        out.extend_from_slice(&u32::from(hours / 24).to_le_bytes());
        out.extend_from_slice(&[(hours % 24) as u8, minute, second]);
    }
    if length >= 12 {
        out.extend_from_slice(&micros.to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
