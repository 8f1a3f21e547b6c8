//! Searching a text for another (LOCATE, INSTR, POSITION).
//!
//! In a Unicode collation a text is found where the weights of what follows begin with its own, on each
//! level, as in MySQL: never padded, and neither side cut at a character. In `utf8mb4_cs_0900_ai_ci`, where
//! `ch` is a letter of its own between `h` and `i`:
//!
//! ```text
//!  text   c    h    a         needle  c    not at 1: c has another weight than ch
//!         └─ch─┘ └──┘         needle  h    at 1: the weights of ch begin with that of h
//!         ▲ 1   ▲ 2           needle  ch   at 1
//! ```
//!
//! So `ss` is found in `ß` and a character without weights at every other. In the other collations characters
//! are compared one by one.

use std::cell::Cell;
use std::convert::Infallible;

use super::tailoring::Language;
use super::unicode::{Characters, Unicode, Version};
use super::weights::uca_ascii;
use super::{Collation, Order};
use crate::part::from as part_from;
use crate::watch::Shared;

/// Characters that are looked at before they are counted.
const COUNTED_TOGETHER: usize = 1024;
/// What looking at a character counts as, in bytes that are looked at.
const UNITS_A_CHARACTER: usize = 8;

/// `utf8mb4_0900_ai_ci` by the iterator of all Unicode collations.
const ROOT: Unicode = Unicode { version: Version::V900, language: Language::ROOT, levels: 1 };

impl Collation {
    /// Position in bytes of the first occurrence of `needle` at or after byte `from` under this collation.
    /// `from` must be the start of a character.
    pub fn find(&self, text: &[u8], needle: &[u8], from: usize) -> Option<usize> {
        let counted = self.find_counted(text, needle, from, |_| Ok::<(), Infallible>(()));
        counted.unwrap_or_else(|never| match never {})
    }

    /// The same, which tells `count` how many bytes it is about to look at, again and again; and ends with
    /// its error.
    pub fn find_counted<E>(
        &self,
        text: &[u8],
        needle: &[u8],
        from: usize,
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        if needle.is_empty() {
            return Ok((from <= text.len()).then_some(from));
        }
        let mut failure = None;
        let mut watch = |bytes| {
            failure = count(bytes).err();
            failure.is_none()
        };
        let meter = Meter { seen: Cell::new(0), watch: Shared::new(&mut watch) };
        let found = match self.order {
            Order::Uca900 => self.find_by_weights(ROOT, text, needle, from, &meter),
            Order::Unicode(unicode) => self.find_by_weights(unicode, text, needle, from, &meter),
            _ => self.find_by_characters(text, needle, from, &meter),
        };
        failure.map_or(Ok(found), Err)
    }

    fn find_by_weights(
        &self,
        unicode: Unicode,
        text: &[u8],
        needle: &[u8],
        from: usize,
        meter: &Meter<'_>,
    ) -> Option<usize> {
        // Of a plain letter that begins both the first weight is known.
        let first = match needle {
            [byte, ..] if self.order == Order::Uca900 && byte.is_ascii() => uca_ascii(*byte),
            _ => 0,
        };
        let differs = |rest: &[u8]| match rest {
            [byte, ..] if first != 0 && byte.is_ascii() => {
                let weight = uca_ascii(*byte);
                weight != 0 && weight != first
            }
            _ => false,
        };
        self.starts(text, from, meter).find(|at| {
            let rest = part_from(text, *at);
            !differs(rest) && self.begins_with(unicode, rest, needle, meter)
        })
    }

    /// Whether the weights of a text begin with those of another.
    fn begins_with(&self, unicode: Unicode, text: &[u8], needle: &[u8], meter: &Meter<'_>) -> bool {
        let weights = |text, level| {
            let characters = Characters::new(self.charset, text);
            unicode.weights_of(Metered { characters, meter }, level)
        };
        (0..usize::from(unicode.levels)).all(|level| {
            let mut own = weights(text, level);
            weights(needle, level).all(|weight| own.next() == Some(weight))
        })
    }

    fn find_by_characters(
        &self,
        text: &[u8],
        needle: &[u8],
        from: usize,
        meter: &Meter<'_>,
    ) -> Option<usize> {
        self.starts(text, from, meter).find(|at| {
            let (mut rest, mut wanted) = (part_from(text, *at), needle);
            while !wanted.is_empty() {
                if rest.is_empty() || !meter.goes_on() {
                    return false;
                }
                let (character, after) = rest.split_at(self.charset.char_len(rest));
                let (expected, remaining) = wanted.split_at(self.charset.char_len(wanted));
                if !self.same_character(character, expected) {
                    return false;
                }
                (rest, wanted) = (after, remaining);
            }
            true
        })
    }

    /// Where the characters of a text begin, from one of them on.
    fn starts(&self, text: &[u8], from: usize, meter: &Meter<'_>) -> impl Iterator<Item = usize> {
        let mut at = from;
        std::iter::from_fn(move || {
            let rest = text.get(at..).filter(|rest| !rest.is_empty() && meter.goes_on())?;
            let start = at;
            at += self.charset.char_len(rest);
            Some(start)
        })
    }
}

/// Counts characters that are looked at.
struct Meter<'w> {
    seen: Cell<usize>,
    watch: Shared<'w>,
}

impl Meter<'_> {
    /// Counts a character; false once the search is to end.
    #[inline]
    fn goes_on(&self) -> bool {
        self.seen.set(self.seen.get() + 1);
        if self.seen.get() < COUNTED_TOGETHER {
            return true;
        }
        if self.watch.goes_on(COUNTED_TOGETHER * UNITS_A_CHARACTER) {
            self.seen.set(0);
            return true;
        }
        false
    }
}

/// Characters that are counted; they end early once the search is to end.
#[derive(Clone)]
struct Metered<'a, 'w> {
    characters: Characters<'a>,
    meter: &'a Meter<'w>,
}

impl Iterator for Metered<'_, '_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if !self.meter.goes_on() {
            return None;
        }
        self.characters.next()
    }
}
