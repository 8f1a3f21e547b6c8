//! Text to JSON values.
//!
//! A recursive descent over bytes, bounded by [`MAX_DEPTH`]. What is wrong with a text and where is told in the words of
//! the parser that MySQL uses, because clients see them (3140, 3141); no library reports errors in these terms, or keeps
//! the digits of a DECIMAL, which is why this one is our own. The grammar is that of RFC 8259.

use super::{Json, JsonError, MAX_DEPTH, Members, Name};
use crate::decimal::{Decimal, ParseEnd};
use crate::part::{first, from};
use crate::watch::Watch;

/// Reads a text that somebody wrote. A number with a point, an exponent or too many digits is a double.
pub fn document(text: &[u8]) -> Result<Json, JsonError> {
    watched(text, false, &mut |_| true)
}

/// Reads a text in normal form, as columns and expressions of type JSON have it. A number that no double is written like
/// is a DECIMAL.
pub fn normal(text: &[u8]) -> Result<Json, JsonError> {
    watched(text, true, &mut |_| true)
}

/// [`normal`] or [`document`], for as long as `watch` lets it: it is told every few kilobytes how many bytes
/// have been read since it was asked last. [`JsonError::Stopped`] if it says no.
pub fn watched(text: &[u8], is_normal: bool, watch: Watch<'_>) -> Result<Json, JsonError> {
    Parser { text, at: 0, depth: 0, keeps_decimals: is_normal, looked_at: 0, watch }.document()
}

/// Bytes that are read between two looks.
const BYTES_A_LOOK: usize = 1 << 13;

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    keeps_decimals: bool,
    /// Where the watch was asked last.
    looked_at: usize,
    watch: Watch<'a>,
}

type Parsed<T> = Result<T, JsonError>;

fn wrong<T>(reason: &'static str, position: usize) -> Parsed<T> {
    Err(JsonError::Syntax { reason, position })
}

const INVALID_VALUE: &str = "Invalid value.";

impl Parser<'_> {
    fn document(mut self) -> Parsed<Json> {
        self.skip_space();
        if self.at == self.text.len() {
            return wrong("The document is empty.", self.at);
        }
        let value = self.value()?;
        self.skip_space();
        if self.at < self.text.len() {
            return wrong("The document root must not be followed by other values.", self.at);
        }
        Ok(value)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Asks the watch if enough has been read since it was asked last.
    #[inline]
    fn look(&mut self) -> Parsed<()> {
        let read = self.at - self.looked_at;
        if read > BYTES_A_LOOK {
            self.looked_at = self.at;
            if !(self.watch)(read) {
                return Err(JsonError::Stopped);
            }
        }
        Ok(())
    }

    fn value(&mut self) -> Parsed<Json> {
        self.look()?;
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Json::String),
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            _ => self.number(),
        }
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Parsed<Json>) -> Parsed<Json> {
        if self.depth == MAX_DEPTH {
            return Err(JsonError::TooDeep);
        }
        self.at += 1;
        self.depth += 1;
        let value = parse(self);
        self.depth -= 1;
        value
    }

    fn word(&mut self, word: &str, value: Json) -> Parsed<Json> {
        for byte in word.bytes() {
            if !self.accept(byte) {
                return wrong(INVALID_VALUE, self.at);
            }
        }
        Ok(value)
    }

    fn object(&mut self) -> Parsed<Json> {
        let mut members = Members::new();
        self.skip_space();
        if self.accept(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            if self.peek() != Some(b'"') {
                return wrong("Missing a name for object member.", self.at);
            }
            let name = self.string()?;
            self.skip_space();
            if !self.accept(b':') {
                return wrong("Missing a colon after a name of object member.", self.at);
            }
            self.skip_space();
            let value = self.value()?;
            // of members of one name the last one stays
            members.insert(Name(name), value);
            self.skip_space();
            if self.accept(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.accept(b',') {
                return wrong("Missing a comma or '}' after an object member.", self.at);
            }
            self.skip_space();
        }
    }

    fn array(&mut self) -> Parsed<Json> {
        let mut items = Vec::new();
        self.skip_space();
        if self.accept(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_space();
            if self.accept(b']') {
                return Ok(Json::Array(items));
            }
            if !self.accept(b',') {
                return wrong("Missing a comma or ']' after an array element.", self.at);
            }
            self.skip_space();
        }
    }

    fn string(&mut self) -> Parsed<String> {
        let mut out = Vec::new();
        self.at += 1;
        loop {
            self.look()?;
            let part = first(from(self.text, self.at), 2 * BYTES_A_LOOK);
            let is_plain = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
            let length = part.iter().position(|byte| !is_plain(byte)).unwrap_or(part.len());
            out.extend_from_slice(first(part, length));
            self.at += length;
            match self.peek() {
                Some(byte) if is_plain(&byte) => {}
                Some(b'"') => {
                    self.at += 1;
                    return String::from_utf8(out).or_else(|_| wrong("Invalid encoding in string.", self.at));
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(0) | None => return wrong("Missing a closing quotation mark in string.", self.at),
                Some(_) => return wrong("Invalid encoding in string.", self.at),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Parsed<()> {
        let start = self.at;
        let kind = self.text.get(start + 1).copied();
        self.at = (start + 2).min(self.text.len());
        out.push(match kind {
            Some(itself @ (b'"' | b'\\' | b'/')) => itself,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let character = self.unicode_escape(start)?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return wrong("Invalid escape character in string.", start),
        });
        Ok(())
    }

    /// What follows `\u` at `start`: four digits, or two such escapes that are a surrogate pair.
    fn unicode_escape(&mut self, start: usize) -> Parsed<char> {
        const SURROGATE: &str = "The surrogate pair in string is invalid.";
        let high = self.four_digits(start)?;
        if let Some(character) = char::from_u32(high) {
            return Ok(character);
        }
        if !(self.accept(b'\\') && self.accept(b'u')) {
            return wrong(SURROGATE, start);
        }
        let low = self.four_digits(start)?;
        if high >= 0xdc00 || !(0xdc00..0xe000).contains(&low) {
            return wrong(SURROGATE, start);
        }
        let code = ((high - 0xd800) << 10 | (low - 0xdc00)) + 0x1_0000;
        char::from_u32(code).map_or_else(|| wrong(SURROGATE, start), Ok)
    }

    fn four_digits(&mut self, start: usize) -> Parsed<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return wrong("Incorrect hex digit after \\u escape in string.", start);
            };
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// Moves behind decimal digits; whether there were any.
    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at > start
    }

    fn number(&mut self) -> Parsed<Json> {
        let start = self.at;
        self.accept(b'-');
        // a zero stands alone
        if !self.accept(b'0') && !self.digits() {
            return wrong(INVALID_VALUE, self.at);
        }
        let mut whole = true;
        if self.accept(b'.') {
            whole = false;
            if !self.digits() {
                return wrong("Miss fraction part in number.", self.at);
            }
        }
        if self.accept(b'e') || self.accept(b'E') {
            whole = false;
            if !self.accept(b'+') {
                self.accept(b'-');
            }
            if !self.digits() {
                return wrong("Missing exponent in number.", self.at);
            }
        }
        let text = self.text.get(start..self.at).and_then(|text| std::str::from_utf8(text).ok());
        let Some(text) = text else { return wrong(INVALID_VALUE, start) };
        if whole {
            if let Ok(integer) = text.parse() {
                return Ok(Json::Int(integer));
            }
            if let Ok(integer) = text.parse() {
                return Ok(Json::UInt(integer));
            }
        }
        let Ok(double) = text.parse::<f64>() else { return wrong(INVALID_VALUE, start) };
        if !double.is_finite() {
            return wrong("Number too big to be stored in double.", start);
        }
        let value = Json::Double(double);
        if self.keeps_decimals
            && value.to_text() != text.as_bytes()
            && let (decimal, ParseEnd::Complete) = Decimal::parse(text.as_bytes())
        {
            return Ok(Json::Decimal(decimal));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    #[test]
    fn errors_have_mysqls_words_and_positions() {
        for (text, position, reason) in [
            ("", 0, "The document is empty."),
            ("{bad", 1, "Missing a name for object member."),
            ("{\"a\"", 4, "Missing a colon after a name of object member."),
            ("{\"a\":1", 6, "Missing a comma or '}' after an object member."),
            ("{\"a\":1,}", 7, "Missing a name for object member."),
            ("[1,2", 4, "Missing a comma or ']' after an array element."),
            ("[1,]", 3, INVALID_VALUE),
            ("abc", 0, INVALID_VALUE),
            ("nux", 2, INVALID_VALUE),
            ("-", 1, INVALID_VALUE),
            ("1.", 2, "Miss fraction part in number."),
            ("1e", 2, "Missing exponent in number."),
            ("[1e400]", 1, "Number too big to be stored in double."),
            ("01", 1, "The document root must not be followed by other values."),
            ("\"a", 2, "Missing a closing quotation mark in string."),
            ("\"\\x\"", 1, "Invalid escape character in string."),
            ("\"\\u00zz\"", 1, "Incorrect hex digit after \\u escape in string."),
            ("\"\\ud800\"", 1, "The surrogate pair in string is invalid."),
            ("\"\u{1}\"", 1, "Invalid encoding in string."),
            ("[1,\n2,\n x]", 8, INVALID_VALUE),
        ] {
            assert_eq!(document(text.as_bytes()), wrong(reason, position), "{text}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
        assert!(document(&nested(100)).is_ok_and(|value| !value.is_too_deep() && value.depth() == 100));
        assert_eq!(document(&nested(101)), Err(JsonError::TooDeep));
        assert_eq!(document(&b"[{\"a\":".repeat(100_000)), Err(JsonError::TooDeep));
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let seed = test_seed(29);
        let mut random = Prng::new(seed);
        let pieces: [&[u8]; 24] = [
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b"\"",
            b"\\",
            b"\\u",
            b"d800",
            b"\\udc00",
            b"0",
            b"1",
            b"-",
            b".",
            b"e5",
            b"true",
            b"null",
            b" ",
            b"\xff",
            b"\xc3\xa9",
            b"a",
            b"\"a\":",
            b"\x00",
        ];
        for _ in 0..50_000 {
            let count = random.below(12);
            let text: Vec<u8> = (0..count).flat_map(|_| pieces[random.below(24) as usize].to_vec()).collect();
            if let Ok(value) = document(&text) {
                let written = value.to_text();
                assert_eq!(
                    normal(&written).map(|again| again.to_text()),
                    Ok(written),
                    "seed {seed}: {text:?}"
                );
            }
        }
    }
}
