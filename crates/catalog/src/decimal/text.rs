//! Decimals as text.

use super::wide::{Wide, pow10};
use super::{Decimal, MAX_PRECISION, MAX_SCALE};
use crate::part::{first, from};

/// How a text ended after the number at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseEnd {
    /// All of it was the number (white space around it aside).
    Complete,
    /// Something else follows (warning 1265 or 1292).
    Trailing,
    /// There is no number at the start; the value is 0 (1366).
    NoNumber,
    /// Beyond 65 digits; the value is the largest.
    Overflow,
}

/// The significant digits seen so far, and what they mean.
struct Digits {
    /// The first of them; what does not fit is only counted, after one that decides rounding.
    kept: [u8; 128],
    count: usize,
    /// Power of ten of the last kept digit's place.
    exponent: i64,
}

impl Digits {
    fn push(&mut self, digit: u8, fractional: bool) {
        if self.count == 0 && digit == 0 {
            // A leading zero is no significant digit, but moves the place.
            if fractional {
                self.exponent -= 1;
            }
        } else if let Some(place) = self.kept.get_mut(self.count) {
            *place = digit;
            self.count += 1;
            if fractional {
                self.exponent -= 1;
            }
        } else if !fractional {
            self.exponent += 1;
        }
    }

    /// The number, and whether it was clamped.
    fn finish(mut self, negative: bool) -> (Decimal, bool) {
        if self.count == 0 {
            let scale = (-self.exponent).clamp(0, i64::from(MAX_SCALE)) as u8;
            return (Decimal { scale, ..Decimal::ZERO }, false);
        }
        let integer_digits = self.count as i64 + self.exponent;
        if integer_digits > i64::from(MAX_PRECISION) {
            return (clamped(negative), true);
        }
        // Digits that neither scale nor precision have room for are rounded away.
        let scale = (-self.exponent)
            .min(i64::from(MAX_SCALE))
            .min(i64::from(MAX_PRECISION) - integer_digits.max(0))
            .max(0);
        let drop = (-self.exponent - scale).max(0);
        if drop > self.count as i64 {
            return (Decimal { scale: scale as u8, ..Decimal::ZERO }, false);
        }
        let keep = self.count - drop as usize;
        let round_up = drop > 0 && self.kept.get(keep).is_some_and(|digit| *digit >= 5);
        self.count = keep;
        let mut coefficient = self.coefficient();
        if self.exponent > 0 {
            coefficient.scale_up(self.exponent as u32);
        }
        if round_up {
            coefficient = coefficient.add(&Wide::from_u128(1));
        }
        match Decimal::from_wide(coefficient, scale as u32, negative) {
            Ok(number) => (number, false),
            Err(_) => (clamped(negative), true),
        }
    }

    fn coefficient(&self) -> Wide {
        let mut wide = Wide::ZERO;
        for chunk in first(&self.kept, self.count).chunks(19) {
            let value = chunk.iter().fold(0u64, |value, digit| value * 10 + u64::from(*digit));
            wide.mul_add_small(pow10(chunk.len()), value);
        }
        wide
    }
}

fn clamped(negative: bool) -> Decimal {
    Decimal { negative, ..Decimal::largest(MAX_PRECISION, 0) }
}

impl Decimal {
    /// Reads the longest prefix that is a number (leading white space and an exponent allowed): the number, rounded
    /// to 30 digits after the point and clamped to 65 digits, and how the text ended.
    pub fn parse(text: &[u8]) -> (Decimal, ParseEnd) {
        let mut at = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let negative = text.get(at) == Some(&b'-');
        if matches!(text.get(at), Some(b'-' | b'+')) {
            at += 1;
        }
        let mut digits = Digits { kept: [0; 128], count: 0, exponent: 0 };
        let mut seen = false;
        let mut fractional = false;
        while let Some(&byte) = text.get(at) {
            match byte {
                b'0'..=b'9' => {
                    seen = true;
                    digits.push(byte - b'0', fractional);
                }
                b'.' if !fractional => fractional = true,
                _ => break,
            }
            at += 1;
        }
        if !seen {
            return (Decimal::ZERO, ParseEnd::NoNumber);
        }
        if let Some((exponent, used)) = parse_exponent(from(text, at)) {
            digits.exponent += exponent;
            at += used;
        }
        let (number, overflow) = digits.finish(negative);
        let complete = from(text, at).iter().all(|byte| byte.is_ascii_whitespace());
        let end = match (overflow, complete) {
            (true, _) => ParseEnd::Overflow,
            (false, true) => ParseEnd::Complete,
            (false, false) => ParseEnd::Trailing,
        };
        (number, end)
    }

    /// Appends its text, all digits of its scale included.
    #[expect(
        clippy::indexing_slicing,
        reason = "there are at most 65 digits, of which at most 30 are behind the point"
    )]
    pub fn format(&self, out: &mut Vec<u8>) {
        let mut buffer = [b'0'; 80];
        let mut start = buffer.len();
        let mut rest = self.wide();
        while !rest.is_zero() {
            let mut chunk = rest.divide_small(pow10(19));
            let end = start;
            while chunk != 0 || (!rest.is_zero() && end - start < 19) {
                start -= 1;
                buffer[start] = b'0' + (chunk % 10) as u8;
                chunk /= 10;
            }
        }
        let scale = usize::from(self.scale);
        // At least one digit before the point; the buffer is full of zeros already.
        start = start.min(buffer.len() - scale - 1);
        if self.negative {
            out.push(b'-');
        }
        let (integer, fraction) = buffer[start..].split_at(buffer.len() - start - scale);
        out.extend_from_slice(integer);
        if scale > 0 {
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
    }
}

/// `e-12` at the start of `text`: the exponent (clamped to ±10000) and the bytes used.
fn parse_exponent(text: &[u8]) -> Option<(i64, usize)> {
    let (b'e' | b'E', rest) = text.split_first()? else { return None };
    let (negative, digits) = match rest {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let magnitude =
        digits.iter().take(count).fold(0i64, |value, byte| (value * 10 + i64::from(byte - b'0')).min(10_000));
    Some((if negative { -magnitude } else { magnitude }, text.len() - digits.len() + count))
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = Vec::with_capacity(48);
        self.format(&mut out);
        f.pad(std::str::from_utf8(&out).map_err(|_| std::fmt::Error)?)
    }
}

impl std::fmt::Debug for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
