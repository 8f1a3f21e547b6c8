//! Constants: numbers, strings with their escapes, hexadecimal and bits, dates.

use super::{Parsed, Parser};
use crate::Deprecated;
use crate::ast::{Expr, Literal, StringLiteral, TemporalKind};
use crate::lexer::TokenKind;

impl Parser<'_> {
    /// A string, its escapes resolved: one token, no introducer.
    pub(super) fn string(&mut self) -> Parsed<Vec<u8>> {
        if !self.is_kind(TokenKind::String) {
            return self.fail();
        }
        let token = self.advance();
        Ok(unescape(self.bytes(token), !self.options.no_backslash_escapes))
    }

    /// A number that fits 64 bits, in decimal or hexadecimal digits.
    pub(super) fn unsigned(&mut self) -> Parsed<u64> {
        let bytes = self.bytes(self.token);
        let value = match self.token.kind {
            TokenKind::Integer => parse_digits(bytes),
            TokenKind::HexNumber | TokenKind::HexString => hex_value(digits(bytes)),
            _ => None,
        };
        let Some(value) = value else {
            return self.fail();
        };
        self.advance();
        Ok(value)
    }

    /// A number with an optional K, M or G: 16M.
    pub(super) fn size(&mut self) -> Parsed<u64> {
        if !self.is_kind(TokenKind::Word) {
            return self.unsigned();
        }
        let (digits, shift) = match self.bytes(self.token) {
            [digits @ .., b'k' | b'K'] => (digits, 10),
            [digits @ .., b'm' | b'M'] => (digits, 20),
            [digits @ .., b'g' | b'G'] => (digits, 30),
            _ => return self.fail(),
        };
        match parse_digits(digits).and_then(|n| n.checked_mul(1 << shift)) {
            Some(value) => {
                self.advance();
                Ok(value)
            }
            None => self.fail(),
        }
    }

    /// A constant other than TRUE, FALSE, NULL and dates.
    pub(super) fn literal(&mut self) -> Parsed<Literal> {
        self.height = 0;
        let token = self.token;
        let bytes = self.bytes(token);
        let literal = match token.kind {
            TokenKind::Integer => match parse_digits(bytes) {
                Some(value) => Literal::Integer(value),
                None => Literal::Decimal(ascii(bytes)),
            },
            TokenKind::Decimal => Literal::Decimal(ascii(bytes)),
            TokenKind::Float => {
                let text = ascii(bytes);
                // Rust reads all that MySQL's lexer lets through; too large is an error of the binder (1367).
                Literal::Double(text.parse().unwrap_or(f64::INFINITY), text)
            }
            TokenKind::HexString | TokenKind::HexNumber => Literal::Hex(hex_bytes(digits(bytes)), None),
            TokenKind::BitString | TokenKind::BitNumber => Literal::Bit(bit_bytes(digits(bytes)), None),
            TokenKind::String => return self.strings(None),
            TokenKind::NationalString => {
                self.note(Deprecated::National);
                return self.strings(Some("utf8mb3".to_owned()));
            }
            TokenKind::Introducer => return self.introduced(),
            _ => return self.fail(),
        };
        self.advance();
        Ok(literal)
    }

    /// `_charset` and the literal behind it.
    fn introduced(&mut self) -> Parsed<Literal> {
        let token = self.advance();
        let name = self.bytes(token).strip_prefix(b"_").unwrap_or_default();
        let charset = ascii(name).to_ascii_lowercase();
        self.note_charset(&charset);
        let bytes = self.bytes(self.token);
        let literal = match self.token.kind {
            TokenKind::String => return self.strings(Some(charset)),
            TokenKind::HexString | TokenKind::HexNumber => {
                Literal::Hex(hex_bytes(digits(bytes)), Some(charset))
            }
            TokenKind::BitString | TokenKind::BitNumber => {
                Literal::Bit(bit_bytes(digits(bytes)), Some(charset))
            }
            _ => return self.fail(),
        };
        self.advance();
        Ok(literal)
    }

    /// One string or several in a row, which are joined.
    fn strings(&mut self, charset: Option<String>) -> Parsed<Literal> {
        let escapes = !self.options.no_backslash_escapes;
        let first = self.advance();
        let bytes = self.bytes(first);
        let bytes = if first.kind == TokenKind::NationalString { behind_n(bytes) } else { bytes };
        let mut value = unescape(bytes, escapes);
        while self.is_kind(TokenKind::String) {
            let token = self.advance();
            unescape_into(self.bytes(token), escapes, &mut value);
        }
        Ok(Literal::String(StringLiteral { value, charset }))
    }

    /// A constant as an expression.
    pub(super) fn literal_expr(&mut self) -> Parsed<Expr> {
        Ok(Expr::Literal(self.literal()?))
    }

    /// `DATE '...'`: the keyword and the string.
    pub(super) fn temporal_literal(&mut self, kind: TemporalKind) -> Parsed<Expr> {
        self.height = 0;
        self.advance();
        Ok(Expr::Literal(Literal::Temporal(kind, self.string()?)))
    }
}

fn ascii(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The digits of `0x..`, `x'..'`, `0b..`, `b'..'`.
pub(crate) fn digits(bytes: &[u8]) -> &[u8] {
    match bytes {
        [_, b'\'', digits @ .., b'\''] => digits,
        [_, _, digits @ ..] => digits,
        _ => &[],
    }
}

/// The string of `N'...'`.
pub(crate) fn behind_n(bytes: &[u8]) -> &[u8] {
    bytes.split_first().map_or(bytes, |(_, string)| string)
}

pub(crate) fn parse_digits(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.wrapping_sub(b'A').wrapping_add(10) & 15,
    }
}

fn hex_value(digits: &[u8]) -> Option<u64> {
    let significant = digits.iter().skip_while(|digit| **digit == b'0').count();
    (significant <= 16)
        .then(|| digits.iter().fold(0u64, |value, digit| value << 4 | u64::from(hex_digit(*digit))))
}

pub(crate) fn hex_bytes(digits: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(digits.len().div_ceil(2));
    let mut digits = digits.iter().map(|digit| hex_digit(*digit));
    if !digits.len().is_multiple_of(2) {
        bytes.extend(digits.next());
    }
    while let (Some(high), Some(low)) = (digits.next(), digits.next()) {
        bytes.push(high << 4 | low);
    }
    bytes
}

pub(crate) fn bit_bytes(digits: &[u8]) -> Vec<u8> {
    let byte = |bits: &[u8]| bits.iter().fold(0u8, |byte, bit| byte << 1 | (bit & 1));
    let (head, rest) = digits.split_at(digits.len() % 8);
    let mut bytes = Vec::with_capacity(digits.len().div_ceil(8));
    if !head.is_empty() {
        bytes.push(byte(head));
    }
    bytes.extend(rest.chunks_exact(8).map(byte));
    bytes
}

/// The value of a string token, quotes included in `token`.
pub(crate) fn unescape(token: &[u8], backslash_escapes: bool) -> Vec<u8> {
    let mut value = Vec::new();
    unescape_into(token, backslash_escapes, &mut value);
    value
}

/// Appends the value of a string token.
pub(crate) fn unescape_into(token: &[u8], backslash_escapes: bool, out: &mut Vec<u8>) {
    let [quote, body @ .., _] = token else {
        return;
    };
    out.reserve(body.len());
    let mut rest = body;
    loop {
        let special = match backslash_escapes {
            true => memchr::memchr2(*quote, b'\\', rest),
            false => memchr::memchr(*quote, rest),
        };
        let Some(at) = special else {
            out.extend_from_slice(rest);
            return;
        };
        let (plain, from) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        out.extend_from_slice(plain);
        let [escape, escaped, behind @ ..] = from else {
            return;
        };
        match (*escape, *escaped) {
            // In LIKE patterns these need their backslash.
            (b'\\', wild @ (b'%' | b'_')) => out.extend_from_slice(&[b'\\', wild]),
            (b'\\', b'0') => out.push(0),
            (b'\\', b'b') => out.push(8),
            (b'\\', b'n') => out.push(b'\n'),
            (b'\\', b'r') => out.push(b'\r'),
            (b'\\', b't') => out.push(b'\t'),
            (b'\\', b'Z') => out.push(0x1a),
            (_, plain) => out.push(plain),
        }
        rest = behind;
    }
}
