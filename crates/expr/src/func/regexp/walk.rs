//! Searches that can be interrupted.
//!
//! The `regex` crate searches a text from one end to the other, and nothing can be asked meanwhile. Where
//! that may take long the same automaton is driven from here, byte by byte: the lazy DFA of `regex-automata`,
//! which the `regex` crate uses itself.
//!
//! ```text
//!  text   ├─ part ─┼─ part ─┼─ part ─┤      before each part: killed, or to give way?
//!            forward ───────► end           the leftmost match's end
//!              start ◄─────── backward      and from there back to its start
//! ```
//!
//! A part is as long as takes about a million steps at worst: a step for each byte and instruction, when each
//! byte leads to a state that has not been seen before.
//!
//! It gives up where a Unicode word boundary meets a character that is not ASCII; the caller searches with
//! the `regex` crate then.

use std::ops::Range;

use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::hybrid::regex::Builder;
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use crate::SqlResult;
use crate::pace::LOOK;

/// Steps between two looks, at worst.
const STEPS: usize = 1 << 20;
/// Bytes of a part at most.
const LONGEST_PART: usize = 1 << 14;
/// What a byte of a part counts as, in units of a nanosecond.
const UNITS_A_BYTE: usize = 4;
/// Bytes that a DFA's states take together.
const STATES_BYTES: usize = 1 << 20;

/// Asked before each part, with the units that it counts as.
pub(super) type Checkpoint<'c> = &'c mut dyn FnMut(usize) -> SqlResult<()>;

/// A pattern's automata.
pub(super) struct Walker {
    forward: DFA,
    backward: DFA,
    caches: (Cache, Cache),
    /// Bytes of a part.
    part: usize,
}

/// The automaton cannot say.
#[derive(Debug)]
pub(super) struct GaveUp;

/// What is found, unless the statement is to end; or [`GaveUp`].
pub(super) type Walked<T> = SqlResult<Result<T, GaveUp>>;

/// What a state says of the match.
enum Says {
    /// It ends, or backward begins, before the byte that led here.
    Match,
    /// No longer one comes.
    Over,
    Nothing,
}

impl Walker {
    /// For a pattern of about so many instructions; `None` if it is not for a lazy DFA.
    pub(super) fn new(pattern: &str, is_insensitive: bool, instructions: usize) -> Option<Walker> {
        let config = Config::new()
            .unicode_word_boundary(true)
            .cache_capacity(STATES_BYTES)
            .skip_cache_capacity_check(true);
        let syntax = syntax::Config::new().utf8(false).case_insensitive(is_insensitive);
        let nfa = thompson::Config::new().utf8(false);
        let built = Builder::new().dfa(config).syntax(syntax).thompson(nfa).build(pattern).ok()?;
        let (forward, backward) = (built.forward().clone(), built.reverse().clone());
        let caches = (forward.create_cache(), backward.create_cache());
        let part = (STEPS / instructions.max(1)).clamp(1, LONGEST_PART);
        Some(Walker { forward, backward, caches, part })
    }

    /// The leftmost match that begins at `from` or later.
    pub(super) fn find(
        &mut self,
        text: &[u8],
        from: usize,
        checkpoint: Checkpoint<'_>,
    ) -> Walked<Option<Range<usize>>> {
        let end = match self.end(text, from, false, checkpoint)? {
            Ok(Some(end)) => end,
            Ok(None) => return Ok(Ok(None)),
            Err(gave_up) => return Ok(Err(gave_up)),
        };
        if end == from {
            return Ok(Ok(Some(end..end)));
        }
        let start = self.start(text, from..end, checkpoint)?;
        Ok(start.and_then(|start| start.ok_or(GaveUp)).map(|start| Some(start..end)))
    }

    /// Whether there is a match.
    pub(super) fn is_match(&mut self, text: &[u8], checkpoint: Checkpoint<'_>) -> Walked<bool> {
        Ok(self.end(text, 0, true, checkpoint)?.map(|end| end.is_some()))
    }

    /// Where the leftmost match ends, or, for the `earliest`, where it is known that there is one.
    fn end(
        &mut self,
        text: &[u8],
        from: usize,
        earliest: bool,
        checkpoint: Checkpoint<'_>,
    ) -> Walked<Option<usize>> {
        let (dfa, cache) = (&self.forward, &mut self.caches.0);
        let input = Input::new(text).span(from..text.len());
        let Ok(mut state) = dfa.start_state_forward(cache, &input) else { return Ok(Err(GaveUp)) };
        let (mut found, mut at) = (None, from);
        for part in text.get(from..).unwrap_or_default().chunks(self.part) {
            checkpoint((part.len() * UNITS_A_BYTE).max(LOOK))?;
            for byte in part {
                match step(dfa, cache, &mut state, Some(*byte)) {
                    Ok(Says::Nothing) => {}
                    Ok(Says::Match) if earliest => return Ok(Ok(Some(at))),
                    Ok(Says::Match) => found = Some(at),
                    Ok(Says::Over) => return Ok(Ok(found)),
                    Err(gave_up) => return Ok(Err(gave_up)),
                }
                at += 1;
            }
        }
        Ok(match step(dfa, cache, &mut state, None) {
            Ok(Says::Match) => Ok(Some(at)),
            Ok(_) => Ok(found),
            Err(gave_up) => Err(gave_up),
        })
    }

    /// Where the match begins that ends at the range's end.
    fn start(
        &mut self,
        text: &[u8],
        range: Range<usize>,
        checkpoint: Checkpoint<'_>,
    ) -> Walked<Option<usize>> {
        let (dfa, cache) = (&self.backward, &mut self.caches.1);
        let input = Input::new(text).span(range.clone()).anchored(Anchored::Yes);
        let Ok(mut state) = dfa.start_state_reverse(cache, &input) else { return Ok(Err(GaveUp)) };
        let (mut found, mut at) = (None, range.end);
        for part in text.get(range.clone()).unwrap_or_default().rchunks(self.part) {
            checkpoint((part.len() * UNITS_A_BYTE).max(LOOK))?;
            for byte in part.iter().rev() {
                match step(dfa, cache, &mut state, Some(*byte)) {
                    Ok(Says::Nothing) => {}
                    Ok(Says::Match) => found = Some(at),
                    Ok(Says::Over) => return Ok(Ok(found)),
                    Err(gave_up) => return Ok(Err(gave_up)),
                }
                at -= 1;
            }
        }
        let before = range.start.checked_sub(1).and_then(|at| text.get(at).copied());
        Ok(match step(dfa, cache, &mut state, before) {
            Ok(Says::Match) => Ok(Some(at)),
            Ok(_) => Ok(found),
            Err(gave_up) => Err(gave_up),
        })
    }
}

/// Goes on by a byte, or by the end of the text.
#[inline]
fn step(
    dfa: &DFA,
    cache: &mut Cache,
    state: &mut regex_automata::hybrid::LazyStateID,
    byte: Option<u8>,
) -> Result<Says, GaveUp> {
    let next = match byte {
        Some(byte) => dfa.next_state(cache, *state, byte),
        None => dfa.next_eoi_state(cache, *state),
    };
    *state = next.map_err(|_| GaveUp)?;
    if !state.is_tagged() {
        return Ok(Says::Nothing);
    }
    if state.is_quit() {
        return Err(GaveUp);
    }
    Ok(if state.is_match() {
        Says::Match
    } else if state.is_dead() {
        Says::Over
    } else {
        Says::Nothing
    })
}

#[cfg(test)]
mod tests {
    use palisade_base::prng::{Prng, test_seed};
    use regex::bytes::RegexBuilder;

    use super::*;

    fn all(walker: &mut Walker, text: &[u8], asked: &mut usize) -> Option<Vec<Range<usize>>> {
        let mut found = Vec::new();
        for from in 0..=text.len() {
            let mut checkpoint = |_| {
                *asked += 1;
                Ok(())
            };
            found.extend(walker.find(text, from, &mut checkpoint).unwrap().ok()?);
        }
        Some(found)
    }

    #[test]
    fn a_walk_finds_what_the_regex_crate_finds() {
        let patterns = [
            "a",
            "ab|a",
            "a|ab",
            "(a|b)*c",
            "a*?b",
            "^a|b$",
            "(?m)^b*$",
            "",
            "a*",
            "(?s).*b",
            "[^a]+",
            "\u{e9}+",
            r"\bab\b",
            r"(?-u:\b)b",
            "(?i)A.B",
            "b{2,3}?",
            "(a+b){2}",
        ];
        let mut random = Prng::new(test_seed(77));
        let mut gave_up = 0;
        for pattern in patterns {
            for is_insensitive in [false, true] {
                let regex = RegexBuilder::new(pattern).case_insensitive(is_insensitive).build().unwrap();
                // a part is a single byte
                let mut walker = Walker::new(pattern, is_insensitive, STEPS).unwrap();
                for _ in 0..30 {
                    let letters = ["a", "b", "c", "A", "\n", " ", "\u{e9}", "\u{c9}"];
                    let count = random.below(12) as usize;
                    let text: String = (0..count).map(|_| letters[random.below(8) as usize]).collect();
                    let text = text.as_bytes();
                    let expected: Vec<_> = (0..=text.len())
                        .filter_map(|from| regex.find_at(text, from).map(|found| found.range()))
                        .collect();
                    let mut asked = 0;
                    match all(&mut walker, text, &mut asked) {
                        Some(found) => {
                            assert_eq!(found, expected, "{pattern} {}", text.escape_ascii());
                            assert!(asked >= text.len());
                            let is_match = walker.is_match(text, &mut |_| Ok(())).unwrap().unwrap();
                            assert_eq!(is_match, regex.is_match(text));
                        }
                        None => gave_up += 1,
                    }
                }
            }
        }
        assert!((1..60).contains(&gave_up), "{gave_up}");
    }
}
