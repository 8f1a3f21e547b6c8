//! Storing into text, binary, ENUM, SET and JSON columns.

use super::{Result, Store, StoreError, StoreErrorKind};
use crate::charset::{Charset, convert_watched};
use crate::collation::CollationId;
use crate::json;
use crate::number;
use crate::part::{first, from};
use crate::types::LobSize;
use crate::value::{Bytes, EnumValue, Members, SetText, SetValue, Value, ValueRef};
use crate::watch::{PIECE, Watch};

impl Store<'_> {
    /// The value as text in `charset`. Bytes that are no characters, and characters that the character set does not
    /// have, are a problem (1366); the text before them is kept.
    fn text_in(&mut self, charset: Charset) -> Result<Vec<u8>> {
        let source = self.source_charset();
        let text = self.text();
        let mut converted = Vec::new();
        let (kept, bad) = if source == charset || source == Charset::Binary || charset == Charset::Binary {
            let valid = charset.valid_len_watched(&text, self.watch);
            let bad = beginning(from(&text, valid));
            converted = text;
            (valid, bad)
        } else {
            let valid = source.valid_len_watched(&text, self.watch);
            let faithful = convert_watched(first(&text, valid), source, charset, &mut converted, self.watch);
            match (faithful, valid == text.len()) {
                (true, true) => (converted.len(), Vec::new()),
                (true, false) => (converted.len(), beginning(from(&text, valid))),
                (false, _) => {
                    let unknown = from_first_unknown(&text, source, charset, self.watch);
                    (converted.len(), beginning(unknown))
                }
            }
        };
        converted.truncate(kept);
        if bad.is_empty() {
            return Ok(converted);
        }
        let error = StoreError { kind: StoreErrorKind::IncorrectValue("string"), value: show_bytes(&bad) };
        if self.context.strict {
            return Err(error);
        }
        (self.warn)(super::Warning { level: super::Level::Warning, error });
        Ok(converted)
    }

    /// Cuts text to `length` characters. Only spaces lost: a note for VARCHAR, nothing for CHAR.
    fn cut(
        &mut self,
        mut text: Vec<u8>,
        charset: Charset,
        length: u32,
        note_spaces: bool,
    ) -> Result<Vec<u8>> {
        // A character has at least one byte.
        if text.len() <= length as usize {
            return Ok(text);
        }
        let kept = charset.prefix_len_watched(&text, length as usize, self.watch);
        if kept == text.len() {
            return Ok(text);
        }
        let only_spaces = from(&text, kept).iter().all(|byte| *byte == b' ');
        text.truncate(kept);
        match (only_spaces, note_spaces) {
            (true, false) => Ok(text),
            (true, true) => {
                self.note(StoreErrorKind::Truncated);
                Ok(text)
            }
            (false, _) => self.problem_or(StoreErrorKind::TooLong, StoreErrorKind::Truncated, text),
        }
    }

    /// A double as a column of `length` characters keeps it: with as many digits as fit. `None` of other
    /// values.
    fn narrow(&mut self, length: u32) -> Result<Option<Vec<u8>>> {
        let value = match self.value {
            ValueRef::Double(value) => value,
            // A FLOAT has six digits.
            ValueRef::Float(value) => format!("{value:.5e}").parse().unwrap_or(f64::from(value)),
            _ => return Ok(None),
        };
        let mut text = Vec::new();
        let fits = number::format_narrow(value, length as usize, &mut text);
        text.truncate(length as usize);
        if fits {
            return Ok(Some(text));
        }
        self.problem_or(StoreErrorKind::TooLong, StoreErrorKind::Truncated, Some(text))
    }

    pub(super) fn char(&mut self, length: u32, collation: CollationId) -> Result<Value> {
        if let Some(text) = self.narrow(length)? {
            return Ok(Value::bytes(text));
        }
        let charset = collation.get().charset;
        let text = self.text_in(charset)?;
        let mut text = self.cut(text, charset, length, false)?;
        let trimmed = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
        text.truncate(trimmed);
        Ok(Value::bytes(text))
    }

    pub(super) fn varchar(&mut self, length: u32, collation: CollationId) -> Result<Value> {
        let charset = collation.get().charset;
        // The short path: text of the right character set that fits.
        if let ValueRef::Bytes(text) = self.value
            && self.context.source.collation().get().charset == charset
            && text.len() <= length as usize
            && charset.valid_len(text) == text.len()
        {
            return Ok(Value::bytes(text));
        }
        if let Some(text) = self.narrow(length)? {
            return Ok(Value::bytes(text));
        }
        let text = self.text_in(charset)?;
        Ok(Value::bytes(self.cut(text, charset, length, true)?))
    }

    pub(super) fn text_lob(&mut self, size: LobSize, collation: CollationId) -> Result<Value> {
        let charset = collation.get().charset;
        let mut text = self.text_in(charset)?;
        if text.len() as u64 > size.max_bytes() {
            let mut kept = size.max_bytes() as usize;
            let continues = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
            while charset.is_utf8() && kept > 0 && continues(kept) {
                kept -= 1;
            }
            text.truncate(kept);
            return self.problem_or(StoreErrorKind::TooLong, StoreErrorKind::Truncated, Value::bytes(text));
        }
        Ok(Value::bytes(text))
    }

    pub(super) fn varbinary(&mut self, length: u32) -> Result<Value> {
        match self.narrow(length)? {
            Some(text) => Ok(Value::bytes(text)),
            None => self.bytes(length.into()),
        }
    }

    /// VARBINARY and BLOB.
    pub(super) fn bytes(&mut self, most: u64) -> Result<Value> {
        let mut bytes = self.text();
        if bytes.len() as u64 > most {
            bytes.truncate(most as usize);
            return self.problem_or(StoreErrorKind::TooLong, StoreErrorKind::Truncated, Value::bytes(bytes));
        }
        Ok(Value::bytes(bytes))
    }

    /// BINARY is padded with zero bytes.
    pub(super) fn binary(&mut self, length: u32) -> Result<Value> {
        let Value::Bytes(bytes) = self.varbinary(length)? else { unreachable!("bytes() gives bytes") };
        let mut bytes = bytes.into_vec();
        bytes.resize(length as usize, 0);
        Ok(Value::bytes(bytes))
    }

    /// The value as a number, if it is one rather than text.
    fn index(&self) -> Option<u64> {
        Some(match self.value {
            // A negative one is out of every ENUM's range, and has the bits of a SET.
            ValueRef::Int(value) => value as u64,
            ValueRef::UInt(value) => value,
            ValueRef::Year(value) => value.into(),
            ValueRef::Bit { bits, .. } => bits,
            // A DECIMAL is a double here, and what a BIGINT cannot hold is the nearest that it can.
            ValueRef::Decimal(value) => value.to_f64() as i64 as u64,
            ValueRef::Double(value) => value as i64 as u64,
            ValueRef::Float(value) => value as i64 as u64,
            _ => return None,
        })
    }

    /// The value as text to look for among members: what the character set does not have is no part of one.
    fn text_of_member(&mut self, charset: Charset) -> Vec<u8> {
        let source = self.source_charset();
        let text = self.text();
        if source == charset || source == Charset::Binary || charset == Charset::Binary {
            return text;
        }
        let mut converted = Vec::new();
        convert_watched(&text, source, charset, &mut converted, self.watch);
        converted
    }

    pub(super) fn enumeration(&mut self, members: &Members, collation: CollationId) -> Result<Value> {
        // One of no member is taken as it is.
        if let ValueRef::Enum { index: 0, .. } = self.value {
            return Ok(Value::Enum(Box::new(EnumValue { index: 0, text: Bytes::new() })));
        }
        let index = match self.index() {
            Some(number) => usize::try_from(number).ok().filter(|index| (1..=members.len()).contains(index)),
            None => {
                let text = self.text_of_member(collation.get().charset);
                position(members, trim_spaces(&text), collation).map(|position| position + 1).or_else(|| {
                    // A text that is no member may be a member's number; 0 is that of no member.
                    let number = number::parse_u64(&text);
                    let index =
                        usize::try_from(number.value).ok().filter(|_| number.complete && !number.overflow);
                    index.filter(|index| (0..=members.len()).contains(index))
                })
            }
        };
        let none = || Value::Enum(Box::new(EnumValue { index: 0, text: Bytes::new() }));
        if index == Some(0) {
            return Ok(none());
        }
        let member = index.and_then(|index| Some((index as u16, members.get(index.checked_sub(1)?)?)));
        match member {
            Some((index, text)) => Ok(Value::Enum(Box::new(EnumValue { index, text: text.clone() }))),
            None => self.problem(StoreErrorKind::Truncated, none()),
        }
    }

    pub(super) fn set(&mut self, members: &Members, collation: CollationId) -> Result<Value> {
        let all = u64::MAX >> (64 - members.len().clamp(1, 64));
        let (bits, sound) = match self.index() {
            Some(number) => (number & all, number <= all),
            None => {
                let whole = self.text_of_member(collation.get().charset);
                let text = trim_spaces(&whole);
                let mut bits = 0u64;
                let mut sound = true;
                for part in text.split(|byte| *byte == b',').filter(|_| !text.is_empty()) {
                    match position(members, part, collation) {
                        Some(member) => bits |= 1 << member,
                        None => sound = false,
                    }
                }
                // No spaces may be behind a number, nor be all there is.
                if bits == 0 && !whole.is_empty() {
                    let number = number::parse_u64(text);
                    sound = number.complete
                        && !number.overflow
                        && number.value <= all
                        && whole.len() == text.len();
                    bits = if sound { number.value } else { 0 };
                }
                (bits, sound)
            }
        };
        let mut text = Vec::new();
        SetText::Members(members).append_to(bits, &mut text);
        let value = Value::Set(Box::new(SetValue { bits, text: text.into() }));
        if sound { Ok(value) } else { self.problem(StoreErrorKind::Truncated, value) }
    }

    /// Only text is JSON text. A number, a date or bits are refused in every mode: CAST makes JSON of them.
    pub(super) fn json(&mut self) -> Result<Value> {
        let text = match self.value {
            ValueRef::Bytes(_) | ValueRef::Enum { .. } | ValueRef::Set { .. } => {
                let binary =
                    self.source_charset() == Charset::Binary && *self.context.source != crate::SqlType::Json;
                if binary {
                    return Err(StoreError::new(StoreErrorKind::JsonFromBinary));
                }
                self.text_in(Charset::Utf8mb4)?
            }
            _ => {
                let value = "not a JSON text, may need CAST".to_owned();
                return Err(StoreError { kind: StoreErrorKind::InvalidJson(0), value });
            }
        };
        if *self.context.source == crate::SqlType::Json {
            return Ok(Value::bytes(text));
        }
        // Not JSON is an error in every mode.
        let document = json::parse::watched(&text, false, self.watch);
        let normal = document.map(|document| {
            let mut normal = Vec::new();
            document.write_counted(&mut normal, self.watch);
            normal
        });
        normal.map(Value::bytes).map_err(|error| match error {
            json::JsonError::Syntax { reason, position } => {
                StoreError { kind: StoreErrorKind::InvalidJson(position), value: reason.to_owned() }
            }
            // no caller is told of one that was stopped
            json::JsonError::TooDeep | json::JsonError::Stopped => {
                StoreError::new(StoreErrorKind::JsonTooDeep)
            }
        })
    }
}

fn trim_spaces(text: &[u8]) -> &[u8] {
    first(text, text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1))
}

fn position(members: &Members, text: &[u8], collation: CollationId) -> Option<usize> {
    members.iter().position(|member| collation.get().equal(member, text))
}

/// So much of text that is not right as messages show, and a byte more.
fn beginning(text: &[u8]) -> Vec<u8> {
    first(text, text.len().min(MOST_SHOWN + 1)).to_vec()
}

/// The first character of `text` that `to` does not have, and what follows.
fn from_first_unknown<'t>(text: &'t [u8], source: Charset, to: Charset, watch: Watch<'_>) -> &'t [u8] {
    let (mut rest, mut looked_at) = (text, text.len());
    while !rest.is_empty() {
        if looked_at - rest.len() >= PIECE {
            looked_at = rest.len();
            if !watch(PIECE) {
                break;
            }
        }
        let (character, length) = source.decode(rest);
        if !character.is_some_and(|character| to.encode(character, &mut Vec::new())) {
            break;
        }
        rest = from(rest, length);
    }
    rest
}

/// Bytes that error 1366 shows.
const MOST_SHOWN: usize = 6;

/// Bytes as error 1366 shows them: `\xF0\x9F\x98\x80...`, six at most, ASCII as it is.
fn show_bytes(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes.iter().take(MOST_SHOWN) {
        match byte {
            0x20..=0x7e => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\x{byte:02X}")),
        }
    }
    if bytes.len() > MOST_SHOWN {
        out.push_str("...");
    }
    out
}
