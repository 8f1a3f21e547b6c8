//! Character sets and conversion between them.
//!
//! utf8mb4 and utf8mb3 are UTF-8 (utf8mb3 without 4-byte characters), latin1 is cp1252 as in MySQL: its five
//! undefined bytes stand for the control characters of the same number.

use crate::watch::{PIECE, Watch, pieces, split_piece};

/// A character set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Charset {
    Utf8mb4,
    Utf8mb3,
    Latin1,
    Ascii,
    Binary,
}

/// Decodes the character at the start of `bytes`: its code point and length. A byte that starts none is
/// `Err(())`, one byte long. `bytes` is not empty.
pub(crate) fn decode_utf8(bytes: &[u8]) -> (Result<u32, ()>, usize) {
    let continuation =
        |at: usize| bytes.get(at).filter(|byte| **byte & 0xc0 == 0x80).map(|byte| u32::from(*byte & 0x3f));
    let first = u32::from(bytes[0]);
    let character = match first {
        0..=0x7f => return (Ok(first), 1),
        0xc2..=0xdf => continuation(1).map(|a| ((first & 0x1f) << 6 | a, 2)),
        0xe0..=0xef => continuation(1)
            .zip(continuation(2))
            .map(|(a, b)| ((first & 0x0f) << 12 | a << 6 | b, 3))
            .filter(|(code, _)| *code >= 0x800 && !(0xd800..0xe000).contains(code)),
        0xf0..=0xf4 => continuation(1)
            .zip(continuation(2))
            .zip(continuation(3))
            .map(|((a, b), c)| ((first & 0x07) << 18 | a << 12 | b << 6 | c, 4))
            .filter(|(code, _)| (0x1_0000..0x11_0000).contains(code)),
        _ => None,
    };
    character.map_or((Err(()), 1), |(code, length)| (Ok(code), length))
}

/// cp1252's characters from 0x80 to 0x9f.
const CP1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', //
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl Charset {
    /// All of them.
    pub const ALL: [Charset; 5] =
        [Charset::Ascii, Charset::Binary, Charset::Latin1, Charset::Utf8mb3, Charset::Utf8mb4];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8mb4 => "utf8mb4",
            Charset::Utf8mb3 => "utf8mb3",
            Charset::Latin1 => "latin1",
            Charset::Ascii => "ascii",
            Charset::Binary => "binary",
        }
    }

    /// What SHOW CHARACTER SET says of it.
    pub fn description(self) -> &'static str {
        match self {
            Charset::Utf8mb4 | Charset::Utf8mb3 => "UTF-8 Unicode",
            Charset::Latin1 => "cp1252 West European",
            Charset::Ascii => "US ASCII",
            Charset::Binary => "Binary pseudo charset",
        }
    }

    /// By name, without regard to case; `utf8` is utf8mb3.
    pub fn by_name(name: &str) -> Option<Charset> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Charset::Utf8mb3);
        }
        Charset::ALL.into_iter().find(|charset| charset.name().eq_ignore_ascii_case(name))
    }

    /// Most bytes of one character.
    pub fn max_bytes(self) -> u32 {
        match self {
            Charset::Utf8mb4 => 4,
            Charset::Utf8mb3 => 3,
            Charset::Latin1 | Charset::Ascii | Charset::Binary => 1,
        }
    }

    /// Whether text is UTF-8.
    pub fn is_utf8(self) -> bool {
        matches!(self, Charset::Utf8mb4 | Charset::Utf8mb3)
    }

    /// Bytes of the first character of `text`; 1 for a byte that starts none, 0 for the empty text.
    pub fn char_len(self, text: &[u8]) -> usize {
        match text.first() {
            None => 0,
            Some(first) if *first < 0x80 || !self.is_utf8() => 1,
            Some(_) => decode_utf8(text).1,
        }
    }

    /// Number of characters; bytes that are none count one each.
    pub fn char_count(self, text: &[u8]) -> usize {
        if !self.is_utf8() || text.is_ascii() {
            return text.len();
        }
        let (mut rest, mut count) = (text, 0);
        while !rest.is_empty() {
            rest = &rest[self.char_len(rest)..];
            count += 1;
        }
        count
    }

    /// Bytes of the first `count` characters (of all of them if there are fewer).
    pub fn prefix_len(self, text: &[u8], count: usize) -> usize {
        if !self.is_utf8() || text.is_ascii() {
            return count.min(text.len());
        }
        let mut at = 0;
        for _ in 0..count {
            if at == text.len() {
                break;
            }
            at += self.char_len(&text[at..]);
        }
        at
    }

    /// [`char_count`](Self::char_count) of a text of any length, which is [watched](crate::watch).
    pub fn char_count_watched(self, text: &[u8], watch: Watch<'_>) -> usize {
        match self.is_utf8() && text.len() > PIECE {
            true => pieces(self, text, watch).map(|piece| self.char_count(piece)).sum(),
            false => self.char_count(text),
        }
    }

    /// [`prefix_len`](Self::prefix_len) in a text of any length, which is [watched](crate::watch).
    pub fn prefix_len_watched(self, text: &[u8], count: usize, watch: Watch<'_>) -> usize {
        if !self.is_utf8() || text.len() <= PIECE {
            return self.prefix_len(text, count);
        }
        let (mut rest, mut count) = (text, count);
        while count > 0 && !rest.is_empty() {
            let (piece, after) = split_piece(self, rest);
            if !watch(piece.len()) {
                break;
            }
            let characters = self.char_count(piece);
            if count < characters {
                return text.len() - rest.len() + self.prefix_len(piece, count);
            }
            count -= characters;
            rest = after;
        }
        text.len() - rest.len()
    }

    /// [`valid_len`](Self::valid_len) of a text of any length, which is [watched](crate::watch).
    pub fn valid_len_watched(self, text: &[u8], watch: Watch<'_>) -> usize {
        if matches!(self, Charset::Latin1 | Charset::Binary) {
            return text.len();
        }
        let mut valid = 0;
        for piece in pieces(self, text, watch) {
            let length = self.valid_len(piece);
            valid += length;
            if length < piece.len() {
                break;
            }
        }
        valid
    }

    /// Bytes of the longest valid prefix: all of them if the text is well-formed.
    pub fn valid_len(self, text: &[u8]) -> usize {
        match self {
            Charset::Latin1 | Charset::Binary => text.len(),
            Charset::Ascii => text.iter().position(|byte| !byte.is_ascii()).unwrap_or(text.len()),
            Charset::Utf8mb4 => std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len),
            Charset::Utf8mb3 => {
                let valid = Charset::Utf8mb4.valid_len(text);
                text[..valid].iter().position(|byte| *byte >= 0xf0).unwrap_or(valid)
            }
        }
    }

    /// Decodes the first character of `text`, which is not empty: its code point, `None` if there is none, and its
    /// length.
    pub fn decode(self, text: &[u8]) -> (Option<char>, usize) {
        match self {
            Charset::Utf8mb4 | Charset::Utf8mb3 => {
                let (code, length) = decode_utf8(text);
                (code.ok().and_then(char::from_u32), length)
            }
            Charset::Latin1 => match text[0] {
                byte @ 0x80..=0x9f => (Some(CP1252[usize::from(byte - 0x80)]), 1),
                byte => (Some(char::from(byte)), 1),
            },
            Charset::Ascii => (text[0].is_ascii().then_some(char::from(text[0])), 1),
            Charset::Binary => (Some(char::from(text[0])), 1),
        }
    }

    /// Appends a character; false (and nothing appended) if this character set does not have it.
    #[must_use]
    pub fn encode(self, character: char, out: &mut Vec<u8>) -> bool {
        let code = u32::from(character);
        match self {
            _ if code < 0x80 => out.push(code as u8),
            Charset::Utf8mb3 if code > 0xffff => return false,
            Charset::Utf8mb4 | Charset::Utf8mb3 => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Charset::Latin1 => match CP1252.iter().position(|known| *known == character) {
                Some(at) => out.push(0x80 + at as u8),
                None if (0xa0..=0xff).contains(&code) => out.push(code as u8),
                None => return false,
            },
            Charset::Binary if code <= 0xff => out.push(code as u8),
            Charset::Ascii | Charset::Binary => return false,
        }
        true
    }
}

/// [`convert`] of a text of any length, which is [watched](crate::watch).
pub fn convert_watched(text: &[u8], from: Charset, to: Charset, out: &mut Vec<u8>, watch: Watch<'_>) -> bool {
    let mut faithful = true;
    for piece in pieces(from, text, watch) {
        faithful &= convert(piece, from, to, out);
    }
    faithful
}

/// Converts `text` from one character set to another, appending to `out`. What the target cannot say becomes `?`;
/// false if that happened. To or from `binary` nothing is converted.
pub fn convert(text: &[u8], from: Charset, to: Charset, out: &mut Vec<u8>) -> bool {
    let same = from == to || (from == Charset::Utf8mb3 && to == Charset::Utf8mb4);
    if same || from == Charset::Binary || to == Charset::Binary || text.is_ascii() {
        out.extend_from_slice(text);
        return true;
    }
    let mut faithful = true;
    let mut rest = text;
    while !rest.is_empty() {
        let (character, length) = from.decode(rest);
        if !character.is_some_and(|character| to.encode(character, out)) {
            out.push(b'?');
            faithful = false;
        }
        rest = &rest[length..];
    }
    faithful
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    #[test]
    fn converts_between_latin1_and_utf8() {
        let mut out = Vec::new();
        assert!(convert("naïve €".as_bytes(), Charset::Utf8mb4, Charset::Latin1, &mut out));
        assert_eq!(out, b"na\xefve \x80");
        let mut back = Vec::new();
        assert!(convert(&out, Charset::Latin1, Charset::Utf8mb4, &mut back));
        assert_eq!(back, "naïve €".as_bytes());
        let mut lossy = Vec::new();
        assert!(!convert("日本".as_bytes(), Charset::Utf8mb4, Charset::Latin1, &mut lossy));
        assert_eq!(lossy, b"??");
        let mut no_emoji = Vec::new();
        assert!(!convert("a😀".as_bytes(), Charset::Utf8mb4, Charset::Utf8mb3, &mut no_emoji));
        assert_eq!(no_emoji, b"a?");
    }

    #[test]
    fn every_latin1_byte_round_trips() {
        let all: Vec<u8> = (0..=255).collect();
        let (mut utf8, mut back) = (Vec::new(), Vec::new());
        assert!(convert(&all, Charset::Latin1, Charset::Utf8mb4, &mut utf8));
        assert!(convert(&utf8, Charset::Utf8mb4, Charset::Latin1, &mut back));
        assert_eq!(back, all);
    }

    #[test]
    fn counts_characters_and_finds_where_text_stops_being_valid() {
        let text = "aé日😀z".as_bytes();
        assert_eq!(Charset::Utf8mb4.char_count(text), 5);
        assert_eq!(Charset::Latin1.char_count(text), text.len());
        assert_eq!(Charset::Utf8mb4.prefix_len(text, 3), 6);
        assert_eq!(Charset::Utf8mb4.prefix_len(text, 9), text.len());
        assert_eq!(Charset::Utf8mb4.valid_len(text), text.len());
        assert_eq!(Charset::Utf8mb3.valid_len(text), 6);
        assert_eq!(Charset::Ascii.valid_len(text), 1);
        assert_eq!(Charset::Utf8mb4.valid_len(b"ab\xff"), 2);
    }

    /// Reference: the standard library.
    #[test]
    fn decoding_agrees_with_the_standard_library_on_random_bytes() {
        let mut prng = Prng::new(test_seed(30));
        for _ in 0..20_000 {
            let mut bytes = vec![0; 1 + prng.below(6) as usize];
            prng.fill(&mut bytes);
            for byte in &mut bytes {
                if prng.one_in(2) {
                    *byte = *prng.pick(&[0x80, 0xbf, 0xe0, 0xed, 0xf0, 0xf4, 0xa0, 0x90, 0x41, 0xc2]);
                }
            }
            let valid = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
            let mut at = 0;
            while at < valid {
                let (code, length) = Charset::Utf8mb4.decode(&bytes[at..]);
                assert!(code.is_some());
                at += length;
            }
            assert_eq!(at, valid);
            if valid < bytes.len() {
                assert_eq!(Charset::Utf8mb4.decode(&bytes[valid..]), (None, 1), "{bytes:x?}");
            }
        }
    }
}
