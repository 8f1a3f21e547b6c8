//! Character sets and conversion between them.
//!
//! utf8mb4 and utf8mb3 are UTF-8 (utf8mb3 without 4-byte characters), latin1 is cp1252 as in MySQL: its five
//! undefined bytes stand for the control characters of the same number. The other sets of one byte a
//! character are tables (`bytes`).

use crate::watch::{PIECE, Watch, pieces, split_piece};

mod bytes;

use bytes::ByteSet;
pub(crate) use bytes::weights as byte_weights;

/// Declares the character sets: name, most bytes of a character, what SHOW CHARACTER SET says.
macro_rules! charsets {
    ($($variant:ident = $name:literal, $most:literal, $description:literal;)*) => {
        /// A character set.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Charset {
            $($variant),*
        }

        impl Charset {
            /// All of them, by name.
            pub const ALL: [Charset; [$($most),*].len()] = [$(Charset::$variant),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Charset::$variant => $name),*
                }
            }

            /// What SHOW CHARACTER SET says of it.
            pub fn description(self) -> &'static str {
                match self {
                    $(Charset::$variant => $description),*
                }
            }

            /// Most bytes of one character.
            pub fn max_bytes(self) -> u32 {
                match self {
                    $(Charset::$variant => $most),*
                }
            }
        }
    };
}

charsets! {
    Armscii8 = "armscii8", 1, "ARMSCII-8 Armenian";
    Ascii = "ascii", 1, "US ASCII";
    Binary = "binary", 1, "Binary pseudo charset";
    Cp1250 = "cp1250", 1, "Windows Central European";
    Cp1251 = "cp1251", 1, "Windows Cyrillic";
    Cp1256 = "cp1256", 1, "Windows Arabic";
    Cp1257 = "cp1257", 1, "Windows Baltic";
    Cp850 = "cp850", 1, "DOS West European";
    Cp852 = "cp852", 1, "DOS Central European";
    Cp866 = "cp866", 1, "DOS Russian";
    Dec8 = "dec8", 1, "DEC West European";
    Geostd8 = "geostd8", 1, "GEOSTD8 Georgian";
    Greek = "greek", 1, "ISO 8859-7 Greek";
    Hebrew = "hebrew", 1, "ISO 8859-8 Hebrew";
    Hp8 = "hp8", 1, "HP West European";
    Keybcs2 = "keybcs2", 1, "DOS Kamenicky Czech-Slovak";
    Koi8r = "koi8r", 1, "KOI8-R Relcom Russian";
    Koi8u = "koi8u", 1, "KOI8-U Ukrainian";
    Latin1 = "latin1", 1, "cp1252 West European";
    Latin2 = "latin2", 1, "ISO 8859-2 Central European";
    Latin5 = "latin5", 1, "ISO 8859-9 Turkish";
    Latin7 = "latin7", 1, "ISO 8859-13 Baltic";
    Macce = "macce", 1, "Mac Central European";
    Macroman = "macroman", 1, "Mac West European";
    Swe7 = "swe7", 1, "7bit Swedish";
    Utf8mb3 = "utf8mb3", 3, "UTF-8 Unicode";
    Utf8mb4 = "utf8mb4", 4, "UTF-8 Unicode";
}

/// MySQL's character sets that do not exist here.
const MISSING: [&str; 14] = [
    "big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "tis620", "ucs2", "ujis",
    "utf16", "utf16le", "utf32",
];

/// MySQL's collations of other character sets that do not exist here.
const MISSING_COLLATIONS: [&str; 2] = ["latin2_czech_cs", "cp1250_czech_cs"];

/// Whether MySQL has a character set or a collation of this name that does not exist here.
pub fn is_missing(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let charset = name.split('_').next().unwrap_or_default();
    MISSING.contains(&charset) || MISSING_COLLATIONS.contains(&&*name)
}

/// The tables of the character sets of one byte; the others, latin1 among them, need none.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
static BYTE_SETS: [Option<ByteSet>; Charset::ALL.len()] = {
    let mut sets = [None; Charset::ALL.len()];
    macro_rules! tables {
        ($($variant:ident $name:literal)*) => {
            $(sets[Charset::$variant as usize] = Some(ByteSet::named($name));)*
        };
    }
    tables! {
        Armscii8 "armscii8"
        Cp1250 "cp1250"
        Cp1251 "cp1251"
        Cp1256 "cp1256"
        Cp1257 "cp1257"
        Cp850 "cp850"
        Cp852 "cp852"
        Cp866 "cp866"
        Dec8 "dec8"
        Geostd8 "geostd8"
        Greek "greek"
        Hebrew "hebrew"
        Hp8 "hp8"
        Keybcs2 "keybcs2"
        Koi8r "koi8r"
        Koi8u "koi8u"
        Latin2 "latin2"
        Latin5 "latin5"
        Latin7 "latin7"
        Macce "macce"
        Macroman "macroman"
        Swe7 "swe7"
    }
    sets
};

/// Decodes the character at the start of `bytes`: its code point and length. A byte that starts none is
/// `Err(())`, one byte long; where there is none the length is 0.
pub(crate) fn decode_utf8(bytes: &[u8]) -> (Result<u32, ()>, usize) {
    let continuation =
        |at: usize| bytes.get(at).filter(|byte| **byte & 0xc0 == 0x80).map(|byte| u32::from(*byte & 0x3f));
    let Some(first) = bytes.first().copied().map(u32::from) else { return (Err(()), 0) };
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
    /// By name, without regard to case; `utf8` is utf8mb3.
    pub fn by_name(name: &str) -> Option<Charset> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Charset::Utf8mb3);
        }
        Charset::ALL.into_iter().find(|charset| charset.name().eq_ignore_ascii_case(name))
    }

    /// Whether text is UTF-8.
    pub fn is_utf8(self) -> bool {
        matches!(self, Charset::Utf8mb4 | Charset::Utf8mb3)
    }

    /// Whether ASCII text is the same bytes in this character set.
    pub fn extends_ascii(self) -> bool {
        self != Charset::Swe7
    }

    /// The tables of a character set that has them.
    fn byte_set(self) -> Option<ByteSet> {
        BYTE_SETS.get(self as usize).copied().flatten()
    }

    /// The other case of a character of a set that has tables; any other byte stays.
    pub(crate) fn byte_in_case(self, byte: u8, upper: bool) -> u8 {
        match self.byte_set() {
            Some(set) if upper => set.upper(byte),
            Some(set) => set.lower(byte),
            None => byte,
        }
    }

    /// Bytes of the first character of `text`; 1 for a byte that starts none, 0 for the empty text.
    pub fn char_len(self, text: &[u8]) -> usize {
        match text.first() {
            None => 0,
            Some(first) if *first < 0x80 || !self.is_utf8() => 1,
            Some(_) => decode_utf8(text).1,
        }
    }

    /// What follows the first character of `text`.
    pub(crate) fn after_first(self, text: &[u8]) -> &[u8] {
        text.get(self.char_len(text)..).unwrap_or_default()
    }

    /// Number of characters; bytes that are none count one each.
    pub fn char_count(self, text: &[u8]) -> usize {
        if !self.is_utf8() || text.is_ascii() {
            return text.len();
        }
        let (mut rest, mut count) = (text, 0);
        while !rest.is_empty() {
            rest = self.after_first(rest);
            count += 1;
        }
        count
    }

    /// Bytes of the first `count` characters (of all of them if there are fewer).
    pub fn prefix_len(self, text: &[u8], count: usize) -> usize {
        if !self.is_utf8() || text.is_ascii() {
            return count.min(text.len());
        }
        let mut rest = text;
        for _ in 0..count {
            if rest.is_empty() {
                break;
            }
            rest = self.after_first(rest);
        }
        text.len() - rest.len()
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
            // MySQL takes any byte for a character of these, those that stand for none too.
            _ if self.byte_set().is_some() => text.len(),
            Charset::Latin1 | Charset::Binary => text.len(),
            Charset::Ascii => text.iter().position(|byte| !byte.is_ascii()).unwrap_or(text.len()),
            Charset::Utf8mb4 => std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len),
            Charset::Utf8mb3 => {
                let valid = Charset::Utf8mb4.valid_len(text);
                text.iter().take(valid).position(|byte| *byte >= 0xf0).unwrap_or(valid)
            }
            _ => text.len(),
        }
    }

    /// Decodes the first character of `text`: its code point, `None` if there is none, and its length, 0 for the
    /// empty text.
    pub fn decode(self, text: &[u8]) -> (Option<char>, usize) {
        let Some(&first) = text.first() else { return (None, 0) };
        match self {
            Charset::Utf8mb4 | Charset::Utf8mb3 => {
                let (code, length) = decode_utf8(text);
                (code.ok().and_then(char::from_u32), length)
            }
            Charset::Latin1 => match first {
                0x80..=0x9f => (CP1252.get(usize::from(first - 0x80)).copied(), 1),
                _ => (Some(char::from(first)), 1),
            },
            Charset::Ascii => (first.is_ascii().then_some(char::from(first)), 1),
            Charset::Binary => (Some(char::from(first)), 1),
            _ => (self.byte_set().and_then(|set| set.decode(first)), 1),
        }
    }

    /// Appends a character; false (and nothing appended) if this character set does not have it.
    #[must_use]
    pub fn encode(self, character: char, out: &mut Vec<u8>) -> bool {
        let code = u32::from(character);
        match self {
            _ if code < 0x80 && self.extends_ascii() => out.push(code as u8),
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
            _ => match self.byte_set().and_then(|set| set.encode(character)) {
                Some(byte) => out.push(byte),
                None => return false,
            },
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

impl Charset {
    /// Whether `text` of this character set is the same bytes in `to`.
    pub fn has_the_bytes_of(self, to: Charset, text: &[u8]) -> bool {
        self == to
            || (self == Charset::Utf8mb3 && to == Charset::Utf8mb4)
            || self == Charset::Binary
            || to == Charset::Binary
            || (self.extends_ascii() && to.extends_ascii() && text.is_ascii())
    }
}

/// Converts `text` from one character set to another, appending to `out`. What the target cannot say becomes `?`;
/// false if that happened. To or from `binary` nothing is converted.
pub fn convert(text: &[u8], from: Charset, to: Charset, out: &mut Vec<u8>) -> bool {
    if from.has_the_bytes_of(to, text) {
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
        rest = rest.get(length..).unwrap_or_default();
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
