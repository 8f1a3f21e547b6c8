//! Work over long values, in pieces, and what watches it.
//!
//! A value may have tens of megabytes. To convert, compare or hash it takes up to a second, and the statement
//! that does it may be killed meanwhile. So each such operation exists twice: plain, and *watched*. The
//! watched one cuts a long value into pieces of whole characters, asks its [`Watch`] before each, and does
//! the plain operation on the piece. What it gives once the watch has said no is worth nothing: the caller,
//! who knows, throws it away.
//!
//! ```text
//!  text, 40 KiB   ├──── 16 KiB ────┼──── 16 KiB ────┼─ 8 KiB ─┤
//!                 ▲ watch(16384)   ▲ watch(16382)   ▲ watch(8194)      the cut moves back to where a character begins
//! ```
//!
//! A value of one piece is done by the plain operation without a question: there is no instruction more for
//! each of its characters.

use std::cell::{Cell, RefCell};

use palisade_base::bytes::common_prefix;

use crate::charset::Charset;

/// Told how many bytes are worked on next, and asked whether they shall be. Once it has said no it says no to
/// all that follows: an operation of several parts may ask it again.
pub type Watch<'w> = &'w mut dyn FnMut(usize) -> bool;

/// Bytes that are worked on between two questions: some hundred microseconds where each takes ten
/// nanoseconds.
pub const PIECE: usize = 1 << 14;

/// The first piece of a text, of whole characters, and what follows it.
pub fn split_piece(charset: Charset, text: &[u8]) -> (&[u8], &[u8]) {
    if text.len() <= PIECE {
        return (text, &[]);
    }
    text.split_at(character_before(charset, text, PIECE))
}

/// Where the character that byte `at` is a part of begins.
fn character_before(charset: Charset, text: &[u8], at: usize) -> usize {
    let continues = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    if !charset.is_utf8() || !continues(at) {
        return at;
    }
    // Behind four bytes of which none begins a character there is no character to be parted.
    let begin = (1..=3).map(|back| at.saturating_sub(back)).find(|at| !continues(*at));
    begin.unwrap_or(at)
}

/// A text's pieces, for as long as the watch lets them come. It is not asked about a text that is a single
/// one.
pub fn pieces<'t>(charset: Charset, text: &'t [u8], watch: Watch<'_>) -> impl Iterator<Item = &'t [u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = split_piece(charset, rest);
        rest = after;
        if text.len() > PIECE && !watch(piece.len()) {
            rest = &[];
            return None;
        }
        Some(piece)
    })
}

/// A watch that several ask. Once it has said no it says no to all.
pub(crate) struct Shared<'w> {
    watch: RefCell<Watch<'w>>,
    has_stopped: Cell<bool>,
}

impl<'w> Shared<'w> {
    pub(crate) fn new(watch: Watch<'w>) -> Self {
        Shared { watch: RefCell::new(watch), has_stopped: Cell::new(false) }
    }

    pub(crate) fn goes_on(&self, bytes: usize) -> bool {
        if !self.has_stopped.get() && !(self.watch.borrow_mut())(bytes) {
            self.has_stopped.set(true);
        }
        !self.has_stopped.get()
    }
}

/// How many bytes two texts have in common at their beginnings.
pub(crate) fn common_length(left: &[u8], right: &[u8], watch: &Shared<'_>) -> usize {
    let mut same = 0;
    for (a, b) in left.chunks(PIECE).zip(right.chunks(PIECE)) {
        if !watch.goes_on(a.len()) {
            break;
        }
        if a == b {
            same += a.len();
            continue;
        }
        return same + common_prefix(a, b);
    }
    same
}

#[cfg(test)]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    /// Bytes of all kinds, in which characters are often cut and often whole.
    fn random_text(random: &mut Prng, length: usize) -> Vec<u8> {
        let pieces: [&[u8]; 9] = [
            b"a",
            "é".as_bytes(),
            "日".as_bytes(),
            "😀".as_bytes(),
            b"\x80",
            b"\xe6",
            b"\xf0\x9f",
            b" ",
            b"\x80\x80\x80\x80",
        ];
        let mut text = Vec::new();
        while text.len() < length {
            text.extend_from_slice(pieces[random.below(9) as usize]);
        }
        text
    }

    #[test]
    fn pieces_are_short_and_of_whole_characters() {
        let mut random = Prng::new(test_seed(61));
        for _ in 0..40 {
            let text = random_text(&mut random, 3 * PIECE);
            let characters = |text: &[u8]| {
                let (mut at, mut starts) = (0, Vec::new());
                while at < text.len() {
                    starts.push(at);
                    at += Charset::Utf8mb4.char_len(&text[at..]);
                }
                starts
            };
            let known = characters(&text);
            let mut at = 0;
            let mut asked = 0;
            let mut watch = |bytes| {
                asked += bytes;
                true
            };
            for piece in pieces(Charset::Utf8mb4, &text, &mut watch) {
                assert!(piece.len() <= PIECE);
                assert!(known.binary_search(&at).is_ok(), "a piece begins within a character");
                at += piece.len();
            }
            assert_eq!((at, asked), (text.len(), text.len()));
        }
    }

    #[test]
    fn no_piece_comes_after_the_watch_has_said_no() {
        let text = vec![b'a'; 10 * PIECE];
        let mut asked = 0;
        let mut watch = |_| {
            asked += 1;
            asked < 4
        };
        assert_eq!(pieces(Charset::Binary, &text, &mut watch).count(), 3);
        assert_eq!(asked, 4);
    }
}
