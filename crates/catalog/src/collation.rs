//! Collations: how text compares, hashes, sorts and matches.
//!
//! A collation turns text into weights (`weights`); comparing, hashing and sort keys (`sort_key`) all follow
//! from them, so that they cannot disagree. Texts with a common beginning are compared from where they
//! differ: a weight never depends on the characters before it.
//!
//! Supported are the Unicode 9.0.0 collation (`utf8mb4_0900_ai_ci`), the `_general_ci` ones, the `_bin` ones,
//! and those of latin1 and ascii. `utf8mb4_unicode_ci` and `_unicode_520_ci` exist with the weights of
//! Unicode 9.0.0 and PAD SPACE, not those of their older versions. Collations that tell case or accents apart
//! (`_as_cs`) do not exist.

mod case;
mod declared;
mod matching;
mod partition_hash;
mod pattern;
mod search;
mod sort_key;
mod tables;
mod tailoring;
mod unicode;
mod watched;
mod weight_string;
mod weights;

use std::cmp::Ordering;
use std::hash::Hasher;

use declared::COLLATIONS;
pub use matching::{LikePrefix, LikeRest};
pub use pattern::Pattern;
use sort_key::Form;
use unicode::{Unicode, Version};
use weights::{ByteWeights, GeneralWeights, UCA_SPACE, UcaWeights, by_table, expanded};

use palisade_base::bytes::common_prefix;

use crate::charset::Charset;
use crate::part::from;

/// A collation, by MySQL's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollationId(pub u16);

impl Default for CollationId {
    fn default() -> Self {
        CollationId::UTF8MB4_0900_AI_CI
    }
}

#[allow(missing_docs)]
impl CollationId {
    pub const LATIN1_GERMAN1_CI: CollationId = CollationId(5);
    pub const LATIN1_DANISH_CI: CollationId = CollationId(15);
    pub const LATIN1_SWEDISH_CI: CollationId = CollationId(8);
    pub const ASCII_GENERAL_CI: CollationId = CollationId(11);
    pub const UTF8MB3_GENERAL_CI: CollationId = CollationId(33);
    pub const UTF8MB4_GENERAL_CI: CollationId = CollationId(45);
    pub const UTF8MB4_BIN: CollationId = CollationId(46);
    pub const LATIN1_BIN: CollationId = CollationId(47);
    pub const LATIN1_GENERAL_CI: CollationId = CollationId(48);
    pub const LATIN1_GENERAL_CS: CollationId = CollationId(49);
    pub const BINARY: CollationId = CollationId(63);
    pub const ASCII_BIN: CollationId = CollationId(65);
    pub const UTF8MB3_BIN: CollationId = CollationId(83);
    pub const UTF8MB3_UNICODE_CI: CollationId = CollationId(192);
    pub const UTF8MB4_UNICODE_CI: CollationId = CollationId(224);
    pub const UTF8MB4_UNICODE_520_CI: CollationId = CollationId(246);
    pub const UTF8MB4_0900_AI_CI: CollationId = CollationId(255);
    pub const UTF8MB4_0900_BIN: CollationId = CollationId(309);
}

impl CollationId {
    /// The collation.
    ///
    /// # Panics
    /// If there is none with this number; numbers from outside go through [`Collation::by_id`].
    #[expect(clippy::expect_used, reason = "what makes ids looks them up first")]
    pub fn get(self) -> &'static Collation {
        Collation::by_id(self).expect("a collation id was checked when it was made")
    }
}

/// How the weights of a collation are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Primary weights of the Unicode Collation Algorithm, version 9.0.0.
    Uca900,
    /// Any other Unicode collation.
    Unicode(Unicode),
    /// One weight per character: its upper-case base letter.
    General,
    /// One weight per byte, from a table.
    Bytes(&'static [u8; 256]),
    /// One weight per character, from another table of that kind.
    Table(&'static [u8]),
    /// One or two weights per byte: the first ones, and the second ones (0: none).
    BytesExpanding([&'static [u8; 256]; 2]),
    /// Bytes as they are; for UTF-8 that is the order of code points.
    Binary,
}

/// A collation.
#[derive(Debug, Clone, Copy)]
pub struct Collation {
    /// MySQL's number.
    pub id: CollationId,
    /// MySQL's name.
    pub name: &'static str,
    /// Its character set.
    pub charset: Charset,
    /// Whether it is its character set's default.
    pub is_default: bool,
    /// PAD SPACE: as if the shorter one were padded with spaces. Otherwise NO PAD.
    pub pad_space: bool,
    order: Order,
}

impl Collation {
    /// All of them, by number.
    pub fn all() -> &'static [Collation] {
        &COLLATIONS
    }

    /// By number.
    pub fn by_id(id: CollationId) -> Option<&'static Collation> {
        declared::by_number(id.0)
    }

    /// By name, without regard to case; `utf8_...` is `utf8mb3_...`.
    pub fn by_name(name: &str) -> Option<&'static Collation> {
        let same = |known: &str| match name.split_at_checked(5) {
            Some((head, wanted)) if head.eq_ignore_ascii_case("utf8_") => {
                known.strip_prefix("utf8mb3_").is_some_and(|tail| tail.eq_ignore_ascii_case(wanted))
            }
            _ => known.eq_ignore_ascii_case(name),
        };
        COLLATIONS.iter().find(|collation| same(collation.name))
    }

    /// The default collation of a character set.
    pub fn default_of(charset: Charset) -> &'static Collation {
        declared::default_of(charset)
    }

    /// The `_bin` collation of a character set.
    #[expect(clippy::expect_used, reason = "a test asks for that of every character set")]
    pub fn binary_of(charset: Charset) -> &'static Collation {
        let mut candidates = COLLATIONS.iter().filter(|collation| collation.charset == charset);
        candidates
            .find(|collation| collation.order == Order::Binary)
            .expect("every character set has a _bin collation")
    }

    /// Whether only identical text is equal (padding aside): `_bin` and `binary`.
    pub fn is_binary_order(&self) -> bool {
        matches!(self.order, Order::Binary)
    }

    /// What MySQL gives as SORTLEN: how much longer than text its sort keys are at most; 0 where they are of
    /// no fixed size.
    pub fn sort_length(&self) -> u32 {
        match self.order {
            Order::Unicode(unicode) if unicode.version != Version::V900 => 8,
            Order::Unicode(unicode) if unicode.levels == 4 => 24,
            Order::Uca900 | Order::Unicode(_) => 0,
            Order::BytesExpanding(_) => 2,
            Order::General | Order::Table(_) | Order::Bytes(_) | Order::Binary => 1,
        }
    }

    /// The weight of the space where texts are padded with it.
    fn pad(&self) -> Option<u16> {
        self.pad_space.then_some(match self.order {
            Order::Uca900 => UCA_SPACE,
            Order::Unicode(unicode) => unicode.space(),
            Order::General | Order::Table(_) | Order::Binary => u16::from(b' '),
            Order::Bytes(table) | Order::BytesExpanding([table, _]) => tables::weight(table, b' '),
        })
    }

    /// Compares two texts.
    pub fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        if matches!(self.order, Order::Binary) && !self.pad_space {
            return left.cmp(right);
        }
        let same = common_prefix(left, right);
        let same = self.begin_of_difference(left, right, same);
        let (left, right, pad) = (from(left, same), from(right, same), self.pad());
        match self.order {
            Order::Uca900 => compare_ascii_first(left, right, weights::uca_ascii, |left, right| {
                compare_weights(UcaWeights::new(left), UcaWeights::new(right), pad)
            }),
            Order::General => compare_ascii_first(
                left,
                right,
                |byte| u16::from(byte.to_ascii_uppercase()),
                |left, right| compare_weights(GeneralWeights::new(left), GeneralWeights::new(right), pad),
            ),
            Order::Bytes(table) => {
                compare_weights(ByteWeights::new(left, table), ByteWeights::new(right, table), pad)
            }
            Order::Table(table) => {
                let weights = |text| by_table(self.charset, text, table);
                compare_weights(weights(left), weights(right), pad)
            }
            Order::BytesExpanding(tables) => {
                compare_weights(expanded(left, tables), expanded(right, tables), pad)
            }
            Order::Binary => {
                let table = &tables::IDENTITY;
                compare_weights(ByteWeights::new(left, table), ByteWeights::new(right, table), pad)
            }
            Order::Unicode(unicode) => self.compare_levels(unicode, left, right),
        }
    }

    /// Where the first characters begin that differ: of two texts that have `same` bytes in common.
    fn begin_of_difference(&self, left: &[u8], right: &[u8], same: usize) -> usize {
        if matches!(self.order, Order::Unicode(unicode) if unicode.has_contractions()) {
            return 0;
        }
        let mut begin = same;
        if self.charset.is_utf8() {
            let continues = |text: &[u8], at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
            while begin > 0 && (continues(left, begin) || continues(right, begin)) {
                begin -= 1;
            }
        }
        begin
    }

    /// How many bytes two texts have in common that do not matter where both are compared with each other:
    /// whole characters, on which no weight after them depends.
    pub fn common_beginning(&self, left: &[u8], right: &[u8]) -> usize {
        self.begin_of_difference(left, right, common_prefix(left, right))
    }

    /// Compares level by level.
    fn compare_levels(&self, unicode: Unicode, left: &[u8], right: &[u8]) -> Ordering {
        let weights = |text, level| unicode.weights(self.charset, text, level);
        (0..usize::from(unicode.levels))
            .map(|level| compare_weights(weights(left, level), weights(right, level), self.pad()))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// A number for the beginning of a text: where two texts' numbers differ, the texts compare as the
    /// numbers do. Sorting seldom has to look further.
    pub fn order_prefix(&self, text: &[u8]) -> u128 {
        let pad = self.pad();
        match self.order {
            Order::Binary if pad.is_none() => {
                let mut first = [0; 16];
                first.iter_mut().zip(text).for_each(|(first, byte)| *first = *byte);
                u128::from_be_bytes(first)
            }
            Order::Uca900 => match text.first_chunk::<FIRST_WEIGHTS>() {
                Some(first) if first.iter().all(|byte| byte.is_ascii() && weights::uca_ascii(*byte) != 0) => {
                    first_weights(first.map(weights::uca_ascii).into_iter(), pad)
                }
                _ => first_weights(UcaWeights::new(text), pad),
            },
            Order::Unicode(unicode) => first_weights(unicode.weights(self.charset, text, 0), pad),
            Order::General => first_weights(GeneralWeights::new(text), pad),
            Order::Bytes(table) => first_weights(ByteWeights::new(text, table), pad),
            Order::Table(table) => first_weights(by_table(self.charset, text, table), pad),
            Order::BytesExpanding(tables) => first_weights(expanded(text, tables), pad),
            Order::Binary => first_weights(ByteWeights::new(text, &tables::IDENTITY), pad),
        }
    }

    /// Whether two texts are equal; faster than [`compare`](Self::compare) for identical ones.
    pub fn equal(&self, left: &[u8], right: &[u8]) -> bool {
        left == right || self.compare(left, right) == Ordering::Equal
    }

    /// Feeds a hasher so that equal texts hash equal.
    pub fn hash(&self, text: &[u8], state: &mut impl Hasher) {
        let pad = self.pad();
        match self.order {
            Order::Binary => {
                state.write(if pad.is_some() { without_spaces(text) } else { text });
                state.write_u8(0xff);
            }
            Order::Uca900 => hash_weights(UcaWeights::new(text), pad, state),
            Order::Unicode(unicode) => (0..usize::from(unicode.levels))
                .for_each(|level| hash_weights(unicode.weights(self.charset, text, level), pad, state)),
            Order::General => hash_weights(GeneralWeights::new(text), pad, state),
            Order::Bytes(table) => hash_weights(ByteWeights::new(text, table), pad, state),
            Order::Table(table) => hash_weights(by_table(self.charset, text, table), pad, state),
            Order::BytesExpanding(tables) => hash_weights(expanded(text, tables), pad, state),
        }
    }

    /// What the sort keys of this collation look like.
    fn form(&self) -> Form {
        let wide = matches!(self.order, Order::Uca900 | Order::Unicode(_) | Order::General | Order::Table(_));
        match (self.pad(), self.order) {
            (Some(space), _) => Form::Padded { space, wide },
            (None, Order::Unicode(unicode)) => Form::Levels(unicode.levels),
            (None, Order::Binary) => Form::BytesEscaped,
            (None, Order::Uca900) => Form::WordsEnded,
            (None, Order::General | Order::Table(_) | Order::Bytes(_) | Order::BytesExpanding(_)) => {
                unreachable!("these collations are PAD SPACE")
            }
        }
    }

    /// Appends the sort key: self-delimiting bytes that compare as the texts do, also when more bytes follow.
    pub fn sort_key(&self, text: &[u8], out: &mut Vec<u8>) {
        match (self.form(), self.order) {
            (Form::WordsEnded, _) => {
                put_words(text, out);
                out.push(0);
            }
            (Form::BytesEscaped, _) => sort_key::put_escaped(text, out),
            (Form::Levels(levels), Order::Unicode(unicode)) => {
                out.reserve(3 * usize::from(levels) * text.len());
                for level in 0..usize::from(levels) {
                    sort_key::put_words(unicode.weights(self.charset, text, level), out);
                    out.extend_from_slice(&sort_key::LEVEL_END);
                }
            }
            (Form::Levels(_), _) => unreachable!("only Unicode collations have levels"),
            (Form::Padded { space, wide }, Order::Unicode(unicode)) => {
                sort_key::put_padded(unicode.weights(self.charset, text, 0), space, wide, out);
            }
            (Form::Padded { space, wide }, Order::Uca900) => {
                sort_key::put_padded(UcaWeights::new(text), space, wide, out);
            }
            (Form::Padded { space, wide }, Order::General) => {
                sort_key::put_padded(GeneralWeights::new(text), space, wide, out);
            }
            (Form::Padded { space, wide }, Order::Bytes(table)) => {
                sort_key::put_padded(ByteWeights::new(text, table), space, wide, out);
            }
            (Form::Padded { space, wide }, Order::Table(table)) => {
                sort_key::put_padded(by_table(self.charset, text, table), space, wide, out);
            }
            (Form::Padded { space, wide }, Order::BytesExpanding(tables)) => {
                sort_key::put_padded(expanded(text, tables), space, wide, out);
            }
            (Form::Padded { space, wide }, Order::Binary) => {
                sort_key::put_padded(ByteWeights::new(text, &tables::IDENTITY), space, wide, out);
            }
        }
    }

    /// Appends bytes with which the sort key of every text begins that begins with `prefix` (LIKE 'abc%').
    /// Other sort keys may begin so too.
    pub fn sort_key_prefix(&self, prefix: &[u8], out: &mut Vec<u8>) {
        // What follows could make a contraction of the last character, and LIKE knows no contractions.
        let prefix = match self.order {
            Order::Unicode(unicode) => unicode.before_contractions(self.charset, prefix),
            _ => prefix,
        };
        match (self.form(), self.order) {
            (Form::Levels(_), Order::Unicode(unicode)) => {
                sort_key::put_words(unicode.weights(self.charset, prefix, 0), out);
            }
            (form, _) => self.whole_key_prefix(form, prefix, out),
        }
    }

    fn whole_key_prefix(&self, form: Form, prefix: &[u8], out: &mut Vec<u8>) {
        match form {
            Form::WordsEnded => put_words(prefix, out),
            Form::BytesEscaped => sort_key::put_escaped_prefix(prefix, out),
            Form::Levels(_) => unreachable!("only Unicode collations have levels"),
            // The whole key without its end, which is where a trailing run of spaces would have to be told.
            Form::Padded { wide, .. } => {
                self.sort_key(prefix, out);
                out.truncate(out.len() - 2 - usize::from(wide));
            }
        }
    }

    /// Whether [`sort_key`](Self::sort_key) can be read back: always for NO PAD bytes; but trailing spaces
    /// for PAD SPACE.
    pub(crate) fn is_decodable(&self) -> bool {
        matches!(self.order, Order::Binary)
    }

    /// Length of the sort key at the start of `bytes`, each XORed with `mask`; `None` if there is none.
    pub(crate) fn sort_key_len(&self, bytes: &[u8], mask: u8) -> Option<usize> {
        sort_key::length(self.form(), bytes, mask)
    }

    /// Reads the text of a [decodable](Self::is_decodable) sort key back; gives the key's length.
    pub(crate) fn decode_sort_key(&self, bytes: &[u8], mask: u8, out: &mut Vec<u8>) -> Option<usize> {
        sort_key::decode(self.form(), bytes, mask, out)
    }
}

/// A text without trailing spaces, which PAD SPACE does not see.
fn without_spaces(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b' '] = text {
        text = rest;
    }
    text
}

/// Appends the Unicode weights of a text.
fn put_words(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(2 * text.len() + 1);
    let count = text.iter().take_while(|byte| byte.is_ascii()).count();
    let (ascii, rest) = text.split_at(count);
    for weight in ascii.iter().map(|byte| weights::uca_ascii(*byte)).filter(|weight| *weight != 0) {
        out.extend_from_slice(&weight.to_be_bytes());
    }
    for weight in UcaWeights::new(rest) {
        out.extend_from_slice(&weight.to_be_bytes());
    }
}

/// Compares as long as both texts are ASCII and each character has a weight; `rest` compares from there on.
fn compare_ascii_first(
    left: &[u8],
    right: &[u8],
    weight: impl Fn(u8) -> u16,
    rest: impl FnOnce(&[u8], &[u8]) -> Ordering,
) -> Ordering {
    let mut same = 0;
    for (a, b) in left.iter().zip(right) {
        if !a.is_ascii() || !b.is_ascii() {
            break;
        }
        let (x, y) = (weight(*a), weight(*b));
        if x == 0 || y == 0 {
            break;
        }
        if x != y {
            return x.cmp(&y);
        }
        same += 1;
    }
    rest(from(left, same), from(right, same))
}

/// Weights of a [`Collation::order_prefix`].
const FIRST_WEIGHTS: usize = 8;

/// The first weights, the first one highest.
fn first_weights(weights: impl Iterator<Item = u16>, pad: Option<u16>) -> u128 {
    let endless = weights.chain(std::iter::repeat(pad.unwrap_or(0)));
    endless.take(FIRST_WEIGHTS).fold(0, |number, weight| number << 16 | u128::from(weight))
}

fn compare_weights(
    mut left: impl Iterator<Item = u16>,
    mut right: impl Iterator<Item = u16>,
    pad: Option<u16>,
) -> Ordering {
    loop {
        let order = match (left.next(), right.next(), pad) {
            (Some(a), Some(b), _) => a.cmp(&b),
            (None, None, _) => return Ordering::Equal,
            (Some(_), None, None) => return Ordering::Greater,
            (None, Some(_), None) => return Ordering::Less,
            (Some(a), None, Some(pad)) => a.cmp(&pad),
            (None, Some(b), Some(pad)) => pad.cmp(&b),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn hash_weights(weights: impl Iterator<Item = u16>, pad: Option<u16>, state: &mut impl Hasher) {
    let mut spaces = 0u32;
    for weight in weights {
        if Some(weight) == pad {
            spaces += 1;
            continue;
        }
        while spaces > 0 {
            state.write_u16(pad.unwrap_or(0));
            spaces -= 1;
        }
        state.write_u16(weight);
    }
    state.write_u8(0xff);
}

#[cfg(test)]
mod tests;
