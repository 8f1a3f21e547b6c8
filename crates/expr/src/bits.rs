//! `& | ^ << >> ~`: on 64 bits, or on binary strings of any length.
//!
//! MySQL 8 computes with the strings themselves if the operands are binary strings and not all of them
//! literals (`x'0f'`), which have always been numbers here.

use std::ops::Range;

use palisade_base::error_catalogue::ER_INVALID_BITWISE_OPERANDS_SIZE;
use palisade_base::mysql_error;
use palisade_catalog::watch::PIECE;
use palisade_catalog::{SqlType, Value};

use super::convert::text_of;
use super::{BitOp, Context, Expr, Node};
use crate::SqlResult;

/// What a byte of a result counts as, in units of a nanosecond.
const UNITS_A_BYTE: usize = 4;

/// Whether the values are binary strings.
fn is_binary(expr: &Expr) -> bool {
    matches!(expr.ty, SqlType::Binary { .. } | SqlType::VarBinary { .. } | SqlType::Blob { .. })
}

/// Whether it is `x'..'` or `b'..'`.
fn is_binary_literal(expr: &Expr) -> bool {
    matches!(expr.node, Node::Literal(Value::Bit { .. })) && is_binary(expr)
}

/// Whether an operator that computes with the bits of one operand does so with a binary string.
pub fn is_bit_string(operand: &Expr) -> bool {
    is_binary(operand) && !is_binary_literal(operand)
}

/// The type of the result of an operator.
pub fn result_type(op: BitOp, left: &Expr, right: &Expr) -> SqlType {
    let strings = match op {
        BitOp::And | BitOp::Or | BitOp::Xor => {
            is_binary(left) && is_binary(right) && !(is_binary_literal(left) && is_binary_literal(right))
        }
        BitOp::ShiftLeft | BitOp::ShiftRight => is_bit_string(left),
    };
    if strings { SqlType::VarBinary { length: length(left) } } else { SqlType::BIGINT_UNSIGNED }
}

/// The most bytes that a binary string has, as far as a type says them.
pub fn length(operand: &Expr) -> u32 {
    operand.ty.wire_length(1).min(u32::from(u16::MAX))
}

impl Context<'_> {
    /// The result of an operator on two values that are not NULL; `expr` is the operation.
    pub fn bits(
        &mut self,
        op: BitOp,
        operands: [&Expr; 2],
        values: [&Value; 2],
        expr: &Expr,
    ) -> SqlResult<Value> {
        if !expr.ty.is_string() {
            let left = self.to_bits_of(values[0].as_ref(), &operands[0].ty)?;
            let right = self.to_bits_of(values[1].as_ref(), &operands[1].ty)?;
            return Ok(Value::UInt(on_integers(op, left, right)));
        }
        let left = text_of(values[0], &operands[0].ty);
        if matches!(op, BitOp::ShiftLeft | BitOp::ShiftRight) {
            let distance = self.to_bits(values[1].as_ref())?;
            let mut out = Vec::with_capacity(left.len());
            while out.len() < left.len() {
                let part = out.len()..left.len().min(out.len() + PIECE);
                self.checkpoint(part.len().saturating_mul(UNITS_A_BYTE))?;
                put_shifted(&left, distance, op == BitOp::ShiftLeft, part, &mut out);
            }
            return Ok(Value::bytes(out));
        }
        let right = text_of(values[1], &operands[1].ty);
        if left.len() != right.len() {
            return Err(mysql_error!(ER_INVALID_BITWISE_OPERANDS_SIZE));
        }
        let byte = |(left, right): (&u8, &u8)| match op {
            BitOp::And => left & right,
            BitOp::Or => left | right,
            _ => left ^ right,
        };
        let mut out = Vec::with_capacity(left.len());
        for (left, right) in left.chunks(PIECE).zip(right.chunks(PIECE)) {
            self.checkpoint(left.len().saturating_mul(UNITS_A_BYTE))?;
            out.extend(left.iter().zip(right).map(byte));
        }
        Ok(Value::bytes(out))
    }

    /// `~` of a value that is not NULL.
    pub fn complement(&mut self, value: &Value, operand: &Expr, expr: &Expr) -> SqlResult<Value> {
        if !expr.ty.is_string() {
            return Ok(Value::UInt(!self.to_bits_of(value.as_ref(), &operand.ty)?));
        }
        let text = text_of(value, &operand.ty);
        let mut out = Vec::with_capacity(text.len());
        for part in text.chunks(PIECE) {
            self.checkpoint(part.len().saturating_mul(UNITS_A_BYTE))?;
            out.extend(part.iter().map(|byte| !byte));
        }
        Ok(Value::bytes(out))
    }
}

/// An operation on 64 bits.
fn on_integers(op: BitOp, left: u64, right: u64) -> u64 {
    let distance = u32::try_from(right).unwrap_or(u32::MAX);
    match op {
        BitOp::And => left & right,
        BitOp::Or => left | right,
        BitOp::Xor => left ^ right,
        BitOp::ShiftLeft => left.checked_shl(distance).unwrap_or(0),
        BitOp::ShiftRight => left.checked_shr(distance).unwrap_or(0),
    }
}

/// Appends a part of a string of bits that is shifted and stays as long as it was.
fn put_shifted(bytes: &[u8], distance: u64, to_left: bool, part: Range<usize>, out: &mut Vec<u8>) {
    let Some(whole) = usize::try_from(distance / 8).ok().filter(|whole| *whole < bytes.len()) else {
        out.extend(part.map(|_| 0));
        return;
    };
    let rest = (distance % 8) as u32;
    let at =
        |position: Option<usize>| position.and_then(|at| bytes.get(at)).map_or(0, |byte| u16::from(*byte));
    let byte = |position: usize| {
        let pair = match to_left {
            true => at(Some(position + whole)) << 8 | at(Some(position + whole + 1)),
            false => {
                let from = position.checked_sub(whole);
                at(from.and_then(|from| from.checked_sub(1))) << 8 | at(from)
            }
        };
        if to_left { (pair << rest >> 8) as u8 } else { (pair >> rest) as u8 }
    };
    out.extend(part.map(byte));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made of two parts.
    fn shifted(bytes: &[u8], distance: u64, to_left: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let middle = bytes.len() / 2;
        put_shifted(bytes, distance, to_left, 0..middle, &mut out);
        put_shifted(bytes, distance, to_left, middle..bytes.len(), &mut out);
        out
    }

    #[test]
    fn a_shifted_string_is_the_shifted_number() {
        let number = 0x0123_4567_89ab_cdef_u64;
        for distance in 0..70 {
            for (op, to_left) in [(BitOp::ShiftLeft, true), (BitOp::ShiftRight, false)] {
                let expected = on_integers(op, number, distance).to_be_bytes();
                assert_eq!(shifted(&number.to_be_bytes(), distance, to_left), expected, "{distance}");
            }
        }
        assert_eq!(shifted(b"", 3, true), b"");
        assert_eq!(shifted(b"ab", u64::MAX, false), [0, 0]);
    }
}
