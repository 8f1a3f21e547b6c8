//! LIKE with one pattern for many texts: the pattern is taken apart once.
//!
//! Where every character is a byte - of the text and of the pattern - an element of the pattern is the set of
//! the bytes that match it, found by asking [`same_character`](Collation::same_character) for each byte once.
//! Matching is then looking bytes up. In UTF-8 that holds for texts of ASCII; any other text is matched
//! character by character.
//!
//! ```text
//!  pattern %a_c%        AnyText  {a, A}  AnyByte  {c, C}  AnyText       utf8mb4_0900_ai_ci
//!  text    xxAbC!                 look for a byte of the first set, then compare what follows
//! ```

use super::Collation;
use super::matching::Element;
use crate::watch::PIECE;

/// Elements of a pattern that is matched byte by byte, at most. Together with the bytes of a text they bound
/// the work, which is not counted: to [`PIECE`] comparisons.
const MOST_PARTS: usize = 64;

/// A LIKE pattern that is matched with many texts.
#[derive(Debug, Clone)]
pub struct Pattern {
    collation: &'static Collation,
    pattern: Vec<u8>,
    escape: Vec<u8>,
    /// If all of its characters are bytes.
    parts: Option<Vec<Part>>,
}

#[derive(Debug, Clone)]
enum Part {
    AnyText,
    AnyByte,
    OneOf(Box<[bool; 256]>),
}

impl Pattern {
    /// Of `LIKE pattern ESCAPE escape` in a collation.
    pub fn new(collation: &'static Collation, pattern: &[u8], escape: &[u8]) -> Pattern {
        let parts = parts(collation, pattern, escape);
        Pattern { collation, pattern: pattern.to_vec(), escape: escape.to_vec(), parts }
    }

    /// Whether a text matches. As [`Collation::like_counted`].
    #[inline]
    pub fn matches<E>(&self, text: &[u8], count: impl FnMut(usize) -> Result<(), E>) -> Result<bool, E> {
        match &self.parts {
            Some(parts) if text.len() * parts.len() <= PIECE && self.has_bytes_only(text) => {
                Ok(matches_bytes(parts, text))
            }
            _ => self.collation.like_counted(text, &self.pattern, &self.escape, count),
        }
    }

    fn has_bytes_only(&self, text: &[u8]) -> bool {
        !self.collation.charset.is_utf8() || text.is_ascii()
    }
}

/// The elements of a pattern; `None` if some character of it has several bytes, or if they are too many.
fn parts(collation: &Collation, pattern: &[u8], escape: &[u8]) -> Option<Vec<Part>> {
    let (mut rest, mut parts) = (pattern, Vec::new());
    while !rest.is_empty() {
        let (element, after) = collation.element(rest, escape);
        rest = after;
        match element {
            Element::AnyText if matches!(parts.last(), Some(Part::AnyText)) => {}
            Element::AnyText => parts.push(Part::AnyText),
            Element::AnyCharacter => parts.push(Part::AnyByte),
            Element::Character([wanted]) => {
                let mut set = Box::new([false; 256]);
                let last = if collation.charset.is_utf8() { 0x7f } else { u8::MAX };
                for (byte, is_one) in (0..=last).zip(set.iter_mut()) {
                    *is_one = collation.same_character(&[byte], &[*wanted]);
                }
                parts.push(Part::OneOf(set));
            }
            Element::Character(_) => return None,
        }
        if parts.len() > MOST_PARTS {
            return None;
        }
    }
    Some(parts)
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "there is an element for each byte")]
fn has(set: &[bool; 256], byte: u8) -> bool {
    set[usize::from(byte)]
}

fn matches_bytes(parts: &[Part], text: &[u8]) -> bool {
    let (mut part, mut at) = (0, 0);
    // The part after the last `%` seen, and where the text begins that this `%` has not swallowed yet.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (parts.get(part), text.get(at)) {
            (None, None) => return true,
            (Some(Part::AnyText), _) => {
                part += 1;
                if part == parts.len() {
                    return true;
                }
                retry = Some((part, at));
                continue;
            }
            (Some(Part::AnyByte), Some(_)) => {
                (part, at) = (part + 1, at + 1);
                continue;
            }
            (Some(Part::OneOf(set)), Some(byte)) if has(set, *byte) => {
                (part, at) = (part + 1, at + 1);
                continue;
            }
            _ => {}
        }
        // The last `%` swallows what cannot begin the part after it, one byte at least.
        let Some((after, from)) = &mut retry else { return false };
        let Some(rest) = text.get(*from + 1..) else { return false };
        let skipped = match parts.get(*after) {
            Some(Part::OneOf(set)) => rest.iter().position(|byte| has(set, *byte)),
            _ => Some(0),
        };
        let Some(skipped) = skipped else { return false };
        *from += 1 + skipped;
        (part, at) = (*after, *from);
    }
}

#[cfg(test)]
mod tests;
