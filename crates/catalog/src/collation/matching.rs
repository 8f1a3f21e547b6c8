//! LIKE: character by character, never padded. Two characters match if their weights are equal.

use std::convert::Infallible;

use super::{Collation, GeneralWeights, Order, UcaWeights, by_table, expanded, tables};

/// What a LIKE pattern begins with; see [`Collation::like_prefix`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikePrefix {
    /// The characters before the first wildcard, escapes resolved.
    pub literal: Vec<u8>,
    /// What follows them.
    pub rest: LikeRest,
}

/// What follows the literal prefix of a LIKE pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LikeRest {
    /// Nothing: LIKE is (almost) equality.
    Nothing,
    /// A single `%`: LIKE is a prefix search.
    Anything,
    /// More wildcards: the prefix only narrows.
    Pattern,
}

/// Characters that are compared before they are counted.
const COUNTED_TOGETHER: usize = 1024;
/// What a comparison of two characters counts as, in bytes that are looked at.
const UNITS_A_CHARACTER: usize = 8;

/// An element of a LIKE pattern.
pub(super) enum Element<'a> {
    /// `%`
    AnyText,
    /// `_`
    AnyCharacter,
    Character(&'a [u8]),
}

impl Collation {
    /// The element at the start of `pattern`, which is not empty, and what follows it.
    pub(super) fn element<'p>(&self, pattern: &'p [u8], escape: &[u8]) -> (Element<'p>, &'p [u8]) {
        let length = self.charset.char_len(pattern);
        let (character, rest) = pattern.split_at(length);
        if character == escape && !rest.is_empty() {
            let (escaped, rest) = rest.split_at(self.charset.char_len(rest));
            return (Element::Character(escaped), rest);
        }
        match character {
            b"%" => (Element::AnyText, rest),
            b"_" => (Element::AnyCharacter, rest),
            _ => (Element::Character(character), rest),
        }
    }

    pub(super) fn same_character(&self, left: &[u8], right: &[u8]) -> bool {
        left == right
            || match self.order {
                Order::Uca900 => UcaWeights::new(left).eq(UcaWeights::new(right)),
                Order::Unicode(unicode) => (0..usize::from(unicode.levels)).all(|level| {
                    let weights = |text| unicode.weights(self.charset, text, level);
                    weights(left).eq(weights(right))
                }),
                Order::General => GeneralWeights::new(left).eq(GeneralWeights::new(right)),
                Order::Table(table) => {
                    by_table(self.charset, left, table).eq(by_table(self.charset, right, table))
                }
                Order::BytesExpanding(tables) => expanded(left, tables).eq(expanded(right, tables)),
                Order::Bytes(table) => match (left, right) {
                    ([a], [b]) => tables::weight(table, *a) == tables::weight(table, *b),
                    _ => false,
                },
                Order::Binary => false,
            }
    }

    /// `text LIKE pattern ESCAPE escape`, character by character, without padding. `escape` is the character's
    /// bytes; empty for none.
    pub fn like(&self, text: &[u8], pattern: &[u8], escape: &[u8]) -> bool {
        let counted = self.like_counted(text, pattern, escape, |_| Ok::<(), Infallible>(()));
        counted.unwrap_or_else(|never| match never {})
    }

    /// The same, which tells `count` how many bytes it is about to look at, again and again; and ends with
    /// its error.
    pub fn like_counted<E>(
        &self,
        text: &[u8],
        pattern: &[u8],
        escape: &[u8],
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut uncounted = 0;
        let (mut text, mut pattern) = (text, pattern);
        // After the last `%` seen: the pattern that follows it, and the text it has not swallowed yet.
        let mut retry: Option<(&[u8], &[u8])> = None;
        loop {
            uncounted += 1;
            if uncounted == COUNTED_TOGETHER {
                count(COUNTED_TOGETHER * UNITS_A_CHARACTER)?;
                uncounted = 0;
            }
            if pattern.is_empty() {
                if text.is_empty() {
                    return Ok(true);
                }
            } else {
                let (element, rest) = self.element(pattern, escape);
                match element {
                    Element::AnyText if rest.is_empty() => return Ok(true),
                    Element::AnyText => {
                        retry = Some((rest, text));
                        pattern = rest;
                        continue;
                    }
                    Element::AnyCharacter if !text.is_empty() => {
                        text = self.charset.after_first(text);
                        pattern = rest;
                        continue;
                    }
                    Element::Character(wanted) if !text.is_empty() => {
                        let (character, after) = text.split_at(self.charset.char_len(text));
                        if self.same_character(character, wanted) {
                            text = after;
                            pattern = rest;
                            continue;
                        }
                    }
                    Element::AnyCharacter | Element::Character(_) => {}
                }
            }
            // The last `%` swallows one more character.
            match retry {
                Some((after, rest)) if !rest.is_empty() => {
                    text = self.charset.after_first(rest);
                    pattern = after;
                    retry = Some((after, text));
                }
                _ => return Ok(false),
            }
        }
    }

    /// The literal prefix of a LIKE pattern, and whether the pattern is just that prefix followed by `%` or nothing:
    /// for range access with [`sort_key_prefix`](Self::sort_key_prefix).
    pub fn like_prefix(&self, pattern: &[u8], escape: &[u8]) -> LikePrefix {
        let mut literal = Vec::new();
        let mut pattern = pattern;
        while !pattern.is_empty() {
            let (element, rest) = self.element(pattern, escape);
            match element {
                Element::Character(character) => literal.extend_from_slice(character),
                Element::AnyText if rest.iter().all(|byte| *byte == b'%') => {
                    return LikePrefix { literal, rest: LikeRest::Anything };
                }
                Element::AnyText | Element::AnyCharacter => {
                    return LikePrefix { literal, rest: LikeRest::Pattern };
                }
            }
            pattern = rest;
        }
        LikePrefix { literal, rest: LikeRest::Nothing }
    }
}
