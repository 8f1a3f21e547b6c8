//! Upper and lower case, character by character: a character whose other case is several characters (ß) stays.

use super::tailoring::Language;
use super::{Collation, Order};
use crate::charset::{Charset, decode_utf8};
use crate::watch::{Watch, pieces};

/// Which case is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Upper,
    Lower,
}

impl Case {
    fn of_ascii(self, byte: u8) -> u8 {
        match self {
            Case::Upper => byte.to_ascii_uppercase(),
            Case::Lower => byte.to_ascii_lowercase(),
        }
    }

    fn of_latin1(self, byte: u8) -> u8 {
        match (self, byte) {
            (Case::Upper, 0xe0..=0xf6 | 0xf8..=0xfe) => byte - 0x20,
            (Case::Lower, 0xc0..=0xd6 | 0xd8..=0xde) => byte + 0x20,
            _ => self.of_ascii(byte),
        }
    }

    fn of(self, character: char) -> char {
        match self {
            Case::Upper => upper(character),
            Case::Lower => lower(character),
        }
    }

    /// In the Turkish collation of Unicode 4.0.0, i has a dot in both cases, and ı in none. (MySQL's of 9.0.0
    /// maps case like every other collation.)
    fn of_turkish(self, character: char) -> char {
        match (self, character) {
            (Case::Upper, 'i') => 'İ',
            (Case::Lower, 'I') => 'ı',
            _ => self.of(character),
        }
    }
}

impl Collation {
    /// UPPER(). Binary strings stay as they are.
    pub fn to_upper(&self, text: &[u8], out: &mut Vec<u8>) {
        self.map_case(text, out, Case::Upper);
    }

    /// LOWER(). Binary strings stay as they are.
    pub fn to_lower(&self, text: &[u8], out: &mut Vec<u8>) {
        self.map_case(text, out, Case::Lower);
    }

    /// The same of a text of any length, which is [watched](crate::watch).
    pub fn to_upper_watched(&self, text: &[u8], out: &mut Vec<u8>, watch: Watch<'_>) {
        pieces(self.charset, text, watch).for_each(|piece| self.to_upper(piece, out));
    }

    /// The same of a text of any length, which is [watched](crate::watch).
    pub fn to_lower_watched(&self, text: &[u8], out: &mut Vec<u8>, watch: Watch<'_>) {
        pieces(self.charset, text, watch).for_each(|piece| self.to_lower(piece, out));
    }

    fn map_case(&self, text: &[u8], out: &mut Vec<u8>, case: Case) {
        match self.charset {
            Charset::Binary => out.extend_from_slice(text),
            Charset::Ascii => out.extend(text.iter().map(|byte| case.of_ascii(*byte))),
            Charset::Latin1 => out.extend(text.iter().map(|byte| case.of_latin1(*byte))),
            charset if charset.is_utf8() => self.map_characters(text, out, case),
            charset => out.extend(text.iter().map(|byte| charset.byte_in_case(*byte, case == Case::Upper))),
        }
    }

    fn map_characters(&self, text: &[u8], out: &mut Vec<u8>, case: Case) {
        let turkish = self.is_turkish();
        let mut rest = text;
        while let Some((first, behind)) = rest.split_first() {
            if first.is_ascii() && !turkish {
                out.push(case.of_ascii(*first));
                rest = behind;
                continue;
            }
            let (code, length) = decode_utf8(rest);
            let (character, after) = rest.split_at(length);
            match code.ok().and_then(char::from_u32) {
                Some(code) => {
                    let mapped = if turkish { case.of_turkish(code) } else { case.of(code) };
                    out.extend_from_slice(mapped.encode_utf8(&mut [0; 4]).as_bytes());
                }
                None => out.extend_from_slice(character),
            }
            rest = after;
        }
    }

    fn is_turkish(&self) -> bool {
        const TURKISH: Language = Language::named("turkish");
        matches!(self.order, Order::Unicode(unicode) if unicode.language == TURKISH)
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
