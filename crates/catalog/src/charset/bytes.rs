//! Character sets of one byte per character, and the weights of their collations: what `tools/ask_bytes.py`
//! recorded in `bytes.bin`, which tells the layout.
//!
//! Everything is found at compile time; a name that the file does not have ends the build.

static FILE: &[u8] = include_bytes!("../bytes.bin");
const AT_COMPILE_TIME: &[u8] = include_bytes!("../bytes.bin");

/// What stands for a byte that is no character.
const NO_CHARACTER: u16 = 0xffff;

/// A character set of one byte per character: where its tables begin in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteSet {
    at: usize,
}

const UPPER: usize = 512;
const LOWER: usize = UPPER + 256;
const CHARACTERS: usize = LOWER + 256;

#[expect(clippy::indexing_slicing, reason = "the places are of tables that are part of the program")]
const fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Whether the record at `at` has this name, and where its tables begin.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
const fn name_at(at: usize, name: &str) -> (bool, usize) {
    let (length, name) = (AT_COMPILE_TIME[at] as usize, name.as_bytes());
    let mut same = length == name.len();
    let mut byte = 0;
    while same && byte < length {
        same = AT_COMPILE_TIME[at + 1 + byte] == name[byte];
        byte += 1;
    }
    (same, at + 1 + length)
}

/// Where the character set that begins at `tables` ends.
const fn end(tables: usize) -> usize {
    tables + CHARACTERS + 2 + 3 * word(AT_COMPILE_TIME, tables + CHARACTERS) as usize
}

impl ByteSet {
    #[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
    pub(super) const fn named(name: &str) -> ByteSet {
        let (mut at, mut number) = (1, 0);
        while number < AT_COMPILE_TIME[0] {
            let (same, tables) = name_at(at, name);
            if same {
                return ByteSet { at: tables };
            }
            at = end(tables);
            number += 1;
        }
        panic!("there is no character set with this name")
    }

    pub(super) fn decode(self, byte: u8) -> Option<char> {
        match word(FILE, self.at + 2 * usize::from(byte)) {
            NO_CHARACTER => None,
            code => char::from_u32(u32::from(code)),
        }
    }

    pub(super) fn encode(self, character: char) -> Option<u8> {
        let wanted = u16::try_from(u32::from(character)).ok()?;
        let count = usize::from(word(FILE, self.at + CHARACTERS));
        let from = self.at + CHARACTERS + 2;
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            match word(FILE, from + 3 * middle).cmp(&wanted) {
                std::cmp::Ordering::Equal => return FILE.get(from + 3 * middle + 2).copied(),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(super) fn upper(self, byte: u8) -> u8 {
        FILE.get(self.at + UPPER + usize::from(byte)).copied().unwrap_or(byte)
    }

    pub(super) fn lower(self, byte: u8) -> u8 {
        FILE.get(self.at + LOWER + usize::from(byte)).copied().unwrap_or(byte)
    }
}

/// The weight of each byte in a collation, and a second weight (0: none). For a static: a name that the file
/// does not have ends the build.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
pub(crate) const fn weights(name: &str) -> [&'static [u8; 256]; 2] {
    let (mut at, mut number) = (1, 0);
    while number < AT_COMPILE_TIME[0] {
        at = end(name_at(at, "").1);
        number += 1;
    }
    number = AT_COMPILE_TIME[at];
    at += 1;
    while number > 0 {
        let (same, tables) = name_at(at, name);
        if same {
            let (_, from) = AT_COMPILE_TIME.split_at(tables);
            let (_, second) = from.split_at(256);
            return match (from.first_chunk::<256>(), second.first_chunk::<256>()) {
                (Some(first), Some(second)) => [first, second],
                _ => panic!("the file ends early"),
            };
        }
        at = tables + 512;
        number -= 1;
    }
    panic!("there is no collation with this name")
}
