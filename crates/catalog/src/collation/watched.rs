//! Comparing and sort keys of texts of any length: as the plain operations, but [watched](crate::watch).
//!
//! Where a weight depends on its own character only, the weights of a text are those of its pieces one after
//! the other ([`Pieced`]); where contractions are, its characters are watched. Everything else is the code of
//! the plain operations.

use std::cmp::Ordering;

use super::sort_key::{self, Form};
use super::weights::{ByteWeights, GeneralWeights, UcaWeights, by_table, expanded};
use super::{Collation, Order, compare_weights, put_words, tables};
use crate::charset::Charset;
use crate::part::from;
use crate::watch::{PIECE, Shared, Watch, common_length, pieces, split_piece};

/// The weights of a text, piece by piece. They end early once the watch has said no.
struct Pieced<'t, 's, 'w, W, B> {
    charset: Charset,
    rest: &'t [u8],
    weights: W,
    begin: B,
    watch: &'s Shared<'w>,
}

impl<'t, 's, 'w, W, B: Fn(&'t [u8]) -> W> Pieced<'t, 's, 'w, W, B> {
    fn new(charset: Charset, text: &'t [u8], begin: B, watch: &'s Shared<'w>) -> Self {
        Pieced { charset, rest: text, weights: begin(&[]), begin, watch }
    }
}

impl<'t, W: Iterator<Item = u16>, B: Fn(&'t [u8]) -> W> Iterator for Pieced<'t, '_, '_, W, B> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        loop {
            if let Some(weight) = self.weights.next() {
                return Some(weight);
            }
            if self.rest.is_empty() {
                return None;
            }
            let (piece, after) = split_piece(self.charset, self.rest);
            self.rest = after;
            if !self.watch.goes_on(piece.len()) {
                self.rest = &[];
                return None;
            }
            self.weights = (self.begin)(piece);
        }
    }
}

/// Calls `$use` with a function that gives the weights of a text as `$order` has them.
macro_rules! with_weights {
    ($collation:expr, $watch:expr, |$weights:ident| $use:expr) => {{
        let (charset, watch) = ($collation.charset, $watch);
        match $collation.order {
            Order::Uca900 => {
                let $weights = |text| Pieced::new(charset, text, UcaWeights::new, watch);
                $use
            }
            Order::Unicode(unicode) => {
                let $weights = |text| unicode.weights_watched(charset, text, 0, watch);
                $use
            }
            Order::Table(table) => {
                let begin = |text| by_table(charset, text, table);
                let $weights = |text| Pieced::new(charset, text, begin, watch);
                $use
            }
            Order::BytesExpanding(tables) => {
                let $weights = |text| Pieced::new(charset, text, |text| expanded(text, tables), watch);
                $use
            }
            Order::General => {
                let $weights = |text| Pieced::new(charset, text, GeneralWeights::new, watch);
                $use
            }
            Order::Bytes(table) => {
                let $weights = |text| Pieced::new(charset, text, |text| ByteWeights::new(text, table), watch);
                $use
            }
            Order::Binary => {
                let begin = |text| ByteWeights::new(text, &tables::IDENTITY);
                let $weights = |text| Pieced::new(charset, text, begin, watch);
                $use
            }
        }
    }};
}

impl Collation {
    /// [`compare`](Self::compare) of texts of any length.
    pub fn compare_watched(&self, left: &[u8], right: &[u8], watch: Watch<'_>) -> Ordering {
        if left.len().max(right.len()) <= PIECE {
            return self.compare(left, right);
        }
        let watch = &Shared::new(watch);
        let same = common_length(left, right, watch);
        if matches!(self.order, Order::Binary) && !self.pad_space {
            return from(left, same).cmp(from(right, same));
        }
        let same = self.begin_of_difference(left, right, same);
        let (left, right, pad) = (from(left, same), from(right, same), self.pad());
        if let Order::Unicode(unicode) = self.order {
            let weights = |text, level| unicode.weights_watched(self.charset, text, level, watch);
            let mut levels = (0..usize::from(unicode.levels))
                .map(|level| compare_weights(weights(left, level), weights(right, level), pad));
            return levels.find(|order| order.is_ne()).unwrap_or(Ordering::Equal);
        }
        with_weights!(self, watch, |weights| compare_weights(weights(left), weights(right), pad))
    }

    /// [`equal`](Self::equal) of texts of any length.
    pub fn equal_watched(&self, left: &[u8], right: &[u8], watch: Watch<'_>) -> bool {
        self.compare_watched(left, right, watch) == Ordering::Equal
    }

    /// [`sort_key`](Self::sort_key) of a text of any length.
    pub fn sort_key_watched(&self, text: &[u8], out: &mut Vec<u8>, watch: Watch<'_>) {
        if text.len() <= PIECE {
            return self.sort_key(text, out);
        }
        match self.form() {
            Form::WordsEnded => {
                pieces(self.charset, text, watch).for_each(|piece| put_words(piece, out));
                out.push(0);
            }
            Form::Levels(levels) => {
                let Order::Unicode(unicode) = self.order else {
                    unreachable!("only Unicode collations have levels");
                };
                let watch = &Shared::new(watch);
                for level in 0..usize::from(levels) {
                    let weights = unicode.weights_watched(self.charset, text, level, watch);
                    sort_key::put_words(weights, out);
                    out.extend_from_slice(&sort_key::LEVEL_END);
                }
            }
            Form::BytesEscaped => {
                for piece in pieces(self.charset, text, watch) {
                    sort_key::put_escaped_prefix(piece, out);
                }
                out.extend_from_slice(&[0, 0]);
            }
            Form::Padded { space, wide } => {
                let watch = &Shared::new(watch);
                with_weights!(self, watch, |weights| sort_key::put_padded(weights(text), space, wide, out));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;
    use crate::charset::{convert, convert_watched};

    /// A text of some pieces. Half of it is like `other`, but for the case.
    fn long_text(random: &mut Prng, charset: Charset, other: Option<&[u8]>) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(other) = other {
            let cut = charset.prefix_len(other, random.below(2 * PIECE as u64) as usize);
            Collation::default_of(charset).to_upper(&other[..cut], &mut out);
        }
        let character = *random.pick(&['a', 'é', 'ß', '日', '😀', ' ', '\0', '\u{fdfa}']);
        while out.len() < 3 * PIECE {
            let next =
                if random.one_in(9) { *random.pick(&['b', ' ', 'Ü', '\0', '한']) } else { character };
            if !charset.encode(next, &mut out) {
                out.push(b'x');
            }
        }
        out
    }

    #[test]
    fn watched_operations_give_what_plain_ones_do() {
        let mut random = Prng::new(test_seed(62));
        for collation in Collation::all() {
            for _ in 0..1 {
                let left = long_text(&mut random, collation.charset, None);
                let right = match random.below(3) {
                    0 => [left.as_slice(), &b" ".repeat(random.below(3) as usize * PIECE)].concat(),
                    _ => long_text(&mut random, collation.charset, Some(&left)),
                };
                let mut most = 0;
                let mut watch = |bytes: usize| {
                    most = bytes.max(most);
                    true
                };
                let name = collation.name;
                let plain = collation.compare(&left, &right);
                assert_eq!(collation.compare_watched(&left, &right, &mut watch), plain, "{name}");
                assert_eq!(collation.compare_watched(&right, &left, &mut watch), plain.reverse(), "{name}");
                let (mut plain, mut watched) = (Vec::new(), Vec::new());
                collation.sort_key(&right, &mut plain);
                collation.sort_key_watched(&right, &mut watched, &mut watch);
                assert!(plain == watched, "{name}: sort key");
                let (mut plain, mut watched) = (Vec::new(), Vec::new());
                collation.to_upper(&left, &mut plain);
                collation.to_upper_watched(&left, &mut watched, &mut watch);
                collation.to_lower(&left, &mut plain);
                collation.to_lower_watched(&left, &mut watched, &mut watch);
                assert!(plain == watched, "{name}: case");
                let charset = collation.charset;
                for to in Charset::ALL {
                    let (mut plain, mut watched) = (Vec::new(), Vec::new());
                    let faithful = convert(&left, charset, to, &mut plain);
                    let same = convert_watched(&left, charset, to, &mut watched, &mut watch) == faithful;
                    assert!(same && plain == watched, "{name}: to {to:?}");
                }
                assert_eq!(charset.char_count_watched(&left, &mut watch), charset.char_count(&left));
                let count = random.below(left.len() as u64) as usize;
                assert_eq!(
                    charset.prefix_len_watched(&left, count, &mut watch),
                    charset.prefix_len(&left, count)
                );
                let mut damaged = left;
                let at = random.below(damaged.len() as u64) as usize;
                damaged[at] = 0xff;
                assert_eq!(charset.valid_len_watched(&damaged, &mut watch), charset.valid_len(&damaged));
                assert!(most <= PIECE);
            }
        }
    }

    /// The watch is asked about every piece, and no more work is done than it has allowed.
    #[test]
    fn watched_operations_end_when_the_watch_says_no() {
        let text = "é".repeat(10 * PIECE);
        for collation in Collation::all().iter().filter(|collation| collation.charset.is_utf8()) {
            let other = "É".repeat(10 * PIECE);
            for allowed in [0, 1, 3] {
                let stops = |mut work: Box<dyn FnMut(Watch<'_>) + '_>| {
                    let mut asked = 0;
                    work(&mut |_| {
                        asked += 1;
                        asked <= allowed
                    });
                    asked == allowed + 1
                };
                let mut out = Vec::new();
                if !collation.is_binary_order() {
                    assert!(stops(Box::new(|watch| {
                        collation.compare_watched(text.as_bytes(), other.as_bytes(), watch);
                    })));
                }
                assert!(stops(Box::new(|watch| collation.sort_key_watched(
                    text.as_bytes(),
                    &mut out,
                    watch
                ))));
                assert!(stops(Box::new(|watch| collation.to_upper_watched(
                    text.as_bytes(),
                    &mut out,
                    watch
                ))));
                assert!(out.len() <= 2 * (2 * allowed * PIECE + 8), "{}", collation.name);
            }
        }
    }
}
