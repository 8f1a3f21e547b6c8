//! Weights of the Unicode collations by version, language and level; `utf8mb4_0900_ai_ci` has a faster
//! iterator of its own in `weights`.
//!
//! Texts compare by their primary weights; those equal by their secondary weights (accents), then by the
//! tertiary ones (case), as far as the collation has levels. A character has weights from its language's
//! tailoring, else from the table of its version; what neither lists has implicit ones, made from the code
//! point.

use super::tailoring::{Language, Place, Tailoring};
use super::weights::{self, NOT_A_CHARACTER};
use crate::charset::Charset;
use crate::watch::{PIECE, Shared};

/// A version of the Unicode Collation Algorithm's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V400,
    V520,
    V900,
}

/// A Unicode collation: what its weights come from, and how many levels count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unicode {
    pub(super) version: Version,
    pub(super) language: Language,
    pub(super) levels: u8,
}

static V400: &[u8] = include_bytes!("uca400.bin");
static V520: &[u8] = include_bytes!("uca520.bin");
static SECONDARY: &[u8] = include_bytes!("uca900_secondary.bin");
static TERTIARY: &[u8] = include_bytes!("uca900_tertiary.bin");

impl Unicode {
    fn table(self, level: usize) -> Option<&'static [u8]> {
        match (self.version, level) {
            (Version::V400, 0) => Some(V400),
            (Version::V520, 0) => Some(V520),
            (Version::V900, 0) => Some(weights::UCA),
            (Version::V900, 1) => Some(SECONDARY),
            (Version::V900, 2) => Some(TERTIARY),
            _ => None,
        }
    }

    /// The weight of the space, with which PAD SPACE pads.
    pub(super) fn space(self) -> u16 {
        weights::one_weight(self.table(0).unwrap_or(weights::UCA), u32::from(b' '))
    }

    /// Whether a weight may depend on the characters before it.
    pub(super) fn has_contractions(self) -> bool {
        self.language.tailoring().is_some_and(Tailoring::has_contractions)
    }

    /// The weights of one level (0: primary) of a text.
    pub(super) fn weights(self, charset: Charset, text: &[u8], level: usize) -> LevelWeights<Characters<'_>> {
        self.weights_of(Characters::new(charset, text), level)
    }

    /// The same of a text of any length.
    pub(super) fn weights_watched<'a>(
        self,
        charset: Charset,
        text: &'a [u8],
        level: usize,
        watch: &'a Shared<'a>,
    ) -> impl Iterator<Item = u16> + use<'a> {
        self.weights_of(
            WatchedCharacters { characters: Characters::new(charset, text), left: 0, watch },
            level,
        )
    }

    pub(super) fn weights_of<C>(self, characters: C, level: usize) -> LevelWeights<C> {
        LevelWeights {
            characters,
            version: self.version,
            table: self.table(level),
            tailoring: self.language.tailoring(),
            level,
            held: [0; 2],
            pending: Pending::Tailored(&[]),
            letters: [0; 2],
        }
    }

    /// The beginning of `text` before the first character with which a contraction begins.
    pub(super) fn before_contractions(self, charset: Charset, text: &[u8]) -> &[u8] {
        let Some(tailoring) = self.language.tailoring().filter(|tailoring| tailoring.has_contractions())
        else {
            return text;
        };
        let mut characters = Characters { charset, rest: text };
        loop {
            let before = characters.rest.len();
            match characters.next() {
                Some(code) if !tailoring.begins_contraction(code) => {}
                _ => return text.split_at(text.len() - before).0,
            }
        }
    }
}

/// High byte of the least first implicit weight.
const IMPLICIT_HIGH: u8 = 0xfb;

/// What stands for bytes that are no character: beyond all code points.
const GARBAGE: u32 = u32::MAX;

/// The code points of a text.
#[derive(Clone)]
pub(super) struct Characters<'a> {
    charset: Charset,
    rest: &'a [u8],
}

impl<'a> Characters<'a> {
    pub(super) fn new(charset: Charset, text: &'a [u8]) -> Self {
        Characters { charset, rest: text }
    }
}

impl Iterator for Characters<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.rest.is_empty() {
            return None;
        }
        let (character, length) = self.charset.decode(self.rest);
        self.rest = self.rest.get(length..).unwrap_or_default();
        Some(character.map_or(GARBAGE, u32::from))
    }
}

/// The code points of a text of any length: they end early once the watch has said no. A contraction may be
/// cut nowhere, so it is the characters that are watched, not pieces of the text.
#[derive(Clone)]
struct WatchedCharacters<'a> {
    characters: Characters<'a>,
    /// Bytes until the watch is asked again.
    left: usize,
    watch: &'a Shared<'a>,
}

impl Iterator for WatchedCharacters<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let before = self.characters.rest.len();
        if self.left == 0 {
            self.left = before.min(PIECE);
            if !self.watch.goes_on(self.left) {
                return None;
            }
        }
        let code = self.characters.next();
        self.left = self.left.saturating_sub(before - self.characters.rest.len());
        code
    }
}

/// Weights of the character just decoded that have not been given out.
#[derive(Clone, Copy)]
enum Pending {
    /// From a tailoring, as they are.
    Tailored(&'static [u16]),
    /// Two bytes each, from a table, to be shifted by the tailoring.
    Listed(&'static [u8]),
}

/// The weights of one level of a text.
#[derive(Clone)]
pub(super) struct LevelWeights<C> {
    characters: C,
    version: Version,
    table: Option<&'static [u8]>,
    tailoring: Option<&'static Tailoring>,
    level: usize,
    /// Weights that come before those pending; 0: none.
    held: [u16; 2],
    pending: Pending,
    /// Letters of a Hangul syllable whose weights come after those pending; 0: none.
    letters: [u32; 2],
}

impl<C: Iterator<Item = u32> + Clone> LevelWeights<C> {
    /// Makes the weights of a character pending.
    fn character(&mut self, code: u32) {
        if code == GARBAGE {
            self.held = if self.level == 0 { [NOT_A_CHARACTER, 0] } else { [0, 0] };
            return;
        }
        if let Some(tailoring) = self.tailoring
            && let Some((weights, taken)) = tailoring.weights(code, self.level, self.characters.clone())
        {
            for _ in 0..taken {
                self.characters.next();
            }
            self.pending = Pending::Tailored(weights);
            return;
        }
        let Some(table) = self.table else { return };
        match (weights::listed(table, code), self.version) {
            (Some([a, b, c, d]), _) if self.level == 0 && *b >= IMPLICIT_HIGH => {
                self.implicit(u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]));
            }
            (Some(listed), _) => self.pending = Pending::Listed(listed),
            (None, Version::V900) => match weights::hangul_letters(code) {
                Some([first, second, third]) => {
                    self.letters = [second, third];
                    self.letter(first);
                }
                None => {
                    let (first, second) = weights::implicit_900(code);
                    self.implicit(first, second);
                }
            },
            (None, Version::V400 | Version::V520) => {
                let (first, second) = weights::implicit_before_900(code);
                self.implicit(first, second);
            }
        }
    }

    /// Makes the weights of a letter of a syllable pending.
    fn letter(&mut self, code: u32) {
        self.pending =
            Pending::Listed(self.table.and_then(|table| weights::listed(table, code)).unwrap_or_default());
    }

    /// Makes two weights pending that come from a code point.
    fn implicit(&mut self, first: u16, second: u16) {
        self.held = [self.shifted(first, Place::Implicit).1, second];
    }

    fn shifted(&self, weight: u16, place: Place) -> (u16, u16) {
        self.tailoring.map_or((0, weight), |tailoring| tailoring.shifted(weight, place))
    }
}

impl<C: Iterator<Item = u32> + Clone> Iterator for LevelWeights<C> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        loop {
            if self.held[0] != 0 {
                let [first, second] = self.held;
                self.held = [second, 0];
                return Some(first);
            }
            match self.pending {
                Pending::Tailored([first, rest @ ..]) => {
                    self.pending = Pending::Tailored(rest);
                    return Some(*first);
                }
                Pending::Listed([low, high, rest @ ..]) => {
                    self.pending = Pending::Listed(rest);
                    let weight = u16::from_le_bytes([*low, *high]);
                    let (prefix, weight) = self.shifted(weight, Place::Level(self.level));
                    if prefix == 0 {
                        return Some(weight);
                    }
                    self.held = [weight, 0];
                    return Some(prefix);
                }
                Pending::Tailored([]) | Pending::Listed(_) => {}
            }
            match self.letters {
                [0, _] => {
                    let code = self.characters.next()?;
                    self.character(code);
                }
                [letter, after] => {
                    self.letters = [after, 0];
                    self.letter(letter);
                }
            }
        }
    }
}
