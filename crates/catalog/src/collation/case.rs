//! Upper and lower case, character by character: a character whose other case is several characters (ß) stays.

use super::Collation;
use crate::charset::{Charset, decode_utf8};
use crate::watch::{Watch, pieces};

impl Collation {
    /// UPPER(). Binary strings stay as they are.
    pub fn to_upper(&self, text: &[u8], out: &mut Vec<u8>) {
        self.map_case(text, out, u8::to_ascii_uppercase, upper, |byte| match byte {
            0xe0..=0xf6 | 0xf8..=0xfe => byte - 0x20,
            _ => byte.to_ascii_uppercase(),
        });
    }

    /// LOWER(). Binary strings stay as they are.
    pub fn to_lower(&self, text: &[u8], out: &mut Vec<u8>) {
        self.map_case(text, out, u8::to_ascii_lowercase, lower, |byte| match byte {
            0xc0..=0xd6 | 0xd8..=0xde => byte + 0x20,
            _ => byte.to_ascii_lowercase(),
        });
    }

    /// The same of a text of any length, which is [watched](crate::watch).
    pub fn to_upper_watched(&self, text: &[u8], out: &mut Vec<u8>, watch: Watch<'_>) {
        pieces(self.charset, text, watch).for_each(|piece| self.to_upper(piece, out));
    }

    /// The same of a text of any length, which is [watched](crate::watch).
    pub fn to_lower_watched(&self, text: &[u8], out: &mut Vec<u8>, watch: Watch<'_>) {
        pieces(self.charset, text, watch).for_each(|piece| self.to_lower(piece, out));
    }

    fn map_case(
        &self,
        text: &[u8],
        out: &mut Vec<u8>,
        ascii: fn(&u8) -> u8,
        unicode: fn(char) -> char,
        latin1: fn(u8) -> u8,
    ) {
        match self.charset {
            Charset::Binary => out.extend_from_slice(text),
            Charset::Ascii => out.extend(text.iter().map(ascii)),
            Charset::Latin1 => out.extend(text.iter().map(|byte| latin1(*byte))),
            Charset::Utf8mb4 | Charset::Utf8mb3 => {
                let mut rest = text;
                while let Some(first) = rest.first() {
                    if first.is_ascii() {
                        out.push(ascii(first));
                        rest = &rest[1..];
                        continue;
                    }
                    let (code, length) = decode_utf8(rest);
                    let (character, after) = rest.split_at(length);
                    match code.ok().and_then(char::from_u32) {
                        Some(code) => {
                            out.extend_from_slice(unicode(code).encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        None => out.extend_from_slice(character),
                    }
                    rest = after;
                }
            }
        }
    }
}

fn upper(character: char) -> char {
    let mut mapped = character.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(single), None) => single,
        _ => character,
    }
}

fn lower(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}
