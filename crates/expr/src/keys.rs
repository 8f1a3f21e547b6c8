//! Numbering byte strings: the n-th one that differs from all before is number n. Duplicates are removed,
//! groups are found and rows are joined with it.
//!
//! A look-up in a large table costs what it misses in the caches. So a short string, such as that of a number
//! or two, lies in the table itself; of a long one the table has the hash, which nearly always decides, and
//! the place:
//!
//! ```text
//!   short   15 bytes, padded with zeros | length           number
//!   long    hash (8)  | place (7)       | LONG             number
//! ```

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Byte strings, numbered in the order in which they came first.
#[derive(Debug, Clone, Default)]
pub struct KeyIndex {
    table: HashTable<Entry>,
    count: usize,
    long: LongKeys,
    hasher: DefaultHashBuilder,
}

/// The long strings, each behind its length in 8 bytes: in chunks, so that none is copied when there are
/// more.
#[derive(Debug, Clone, Default)]
struct LongKeys {
    chunks: Vec<Vec<u8>>,
}

/// Bytes of a chunk of long strings, unless a string is longer.
const CHUNK: usize = 256 << 10;
/// Bits of the place in a chunk.
const CHUNK_BITS: u32 = 32;

impl LongKeys {
    /// Takes a string in; its place is the number of its chunk and where it is in that.
    fn push(&mut self, key: &[u8]) -> u64 {
        let bytes = LENGTH + key.len();
        if self.chunks.last().is_none_or(|last| last.len() + bytes > CHUNK) {
            // The first one grows, so that few strings take little.
            let room = if self.chunks.is_empty() { bytes } else { bytes.max(CHUNK) };
            self.chunks.push(Vec::with_capacity(room));
        }
        let number = self.chunks.len() as u64 - 1;
        let Some(last) = self.chunks.last_mut() else { return 0 };
        let place = number << CHUNK_BITS | last.len() as u64;
        last.extend_from_slice(&(key.len() as u64).to_le_bytes());
        last.extend_from_slice(key);
        place
    }

    /// The string at a place.
    #[inline]
    fn at(&self, place: usize) -> Option<&[u8]> {
        let chunk = self.chunks.get(place >> CHUNK_BITS)?;
        let (length, rest) = chunk.get(place & u32::MAX as usize..)?.split_first_chunk::<LENGTH>()?;
        rest.get(..u64::from_le_bytes(*length) as usize)
    }

    /// Bytes of the chunks.
    fn size(&self) -> usize {
        let last = self.chunks.last().map_or(0, Vec::capacity);
        self.chunks.len().saturating_sub(1) * CHUNK + last
    }
}

/// A string in the table.
#[derive(Debug, Clone, Copy)]
struct Entry {
    words: [u64; 2],
    number: usize,
}

/// Bytes of a short string at most.
const SHORT: usize = 15;
/// What a long string has in the place of the length.
const LONG: u64 = u8::MAX as u64;
/// Bits of the place of a long string.
const PLACE_BITS: u32 = 56;
/// Bytes of a long string's length.
const LENGTH: usize = 8;

/// What [`KeyIndex::number`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbered {
    /// It came for the first time and got this number.
    New(usize),
    /// It was there, with this number.
    Known(usize),
}

/// Where a string of a [`KeyIndex`] is, until all are forgotten.
#[derive(Debug, Clone, Copy)]
pub struct KeyAt {
    bytes: [u8; SHORT + 1],
}

/// The words of a short string.
#[inline]
fn short_words(key: &[u8]) -> Option<[u64; 2]> {
    let mut bytes = [0; SHORT + 1];
    bytes.get_mut(..SHORT)?.get_mut(..key.len())?.copy_from_slice(key);
    let [low, high] = [bytes.first_chunk()?, bytes.last_chunk()?].map(|word| u64::from_le_bytes(*word));
    Some([low, high | (key.len() as u64) << PLACE_BITS])
}

impl Entry {
    /// Where it is among the long strings, if it is long.
    #[inline]
    fn place(&self) -> Option<usize> {
        let [_, high] = self.words;
        (high >> PLACE_BITS == LONG).then_some((high & !(LONG << PLACE_BITS)) as usize)
    }
}

impl KeyIndex {
    /// The number of `key`, a new one if it has none.
    #[inline]
    pub fn number(&mut self, key: &[u8]) -> Numbered {
        let short = short_words(key);
        let hash = self.hash(key, short);
        if let Some(number) = self.look_up(key, short, hash) {
            return Numbered::Known(number);
        }
        self.add(key, short, hash)
    }

    fn add(&mut self, key: &[u8], short: Option<[u64; 2]>, hash: u64) -> Numbered {
        let words = short.unwrap_or_else(|| {
            let place = self.long.push(key);
            assert!(place >> PLACE_BITS == 0, "memory has fewer bytes");
            [hash, place | LONG << PLACE_BITS]
        });
        let number = self.count;
        self.count += 1;
        let hasher = &self.hasher;
        self.table.insert_unique(hash, Entry { words, number }, |entry| match (entry.place(), entry.words) {
            (Some(_), [hash, _]) => hash,
            (None, words) => hasher.hash_one(words),
        });
        Numbered::New(number)
    }

    #[inline]
    fn hash(&self, key: &[u8], short: Option<[u64; 2]>) -> u64 {
        match short {
            Some(words) => self.hasher.hash_one(words),
            None => self.hasher.hash_one(key),
        }
    }

    #[inline]
    fn look_up(&self, key: &[u8], short: Option<[u64; 2]>, hash: u64) -> Option<usize> {
        let entry = match short {
            Some(words) => self.table.find(hash, |entry| entry.words == words),
            None => self.table.find(hash, |entry| {
                let [known, _] = entry.words;
                let known = entry.place().filter(|_| known == hash);
                known.is_some_and(|place| self.long.at(place) == Some(key))
            }),
        };
        entry.map(|entry| entry.number)
    }

    /// The number of a key that has been taken in.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Option<usize> {
        let short = short_words(key);
        self.look_up(key, short, self.hash(key, short))
    }

    /// Whether a key has been taken in.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.find(key).is_some()
    }

    /// Takes a key in; whether it came for the first time.
    pub fn insert(&mut self, key: &[u8]) -> bool {
        matches!(self.number(key), Numbered::New(_))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Where they all are, in no order.
    pub fn places(&self) -> impl Iterator<Item = KeyAt> + '_ {
        self.table.iter().map(|entry| {
            let [low, high] = entry.words;
            let both = u128::from(high) << u64::BITS | u128::from(low);
            KeyAt { bytes: both.to_le_bytes() }
        })
    }

    /// The string at a place.
    pub fn key<'k>(&'k self, at: &'k KeyAt) -> &'k [u8] {
        let [low @ .., length] = &at.bytes;
        if u64::from(*length) != LONG {
            return low.get(..usize::from(*length)).unwrap_or_default();
        }
        // The place follows the hash.
        let place = u128::from_le_bytes(at.bytes) >> u64::BITS;
        let place = place as u64 & !(LONG << PLACE_BITS);
        self.long.at(place as usize).unwrap_or_default()
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.table.clear();
        self.long.chunks.clear();
        self.count = 0;
    }

    /// About how many bytes it holds with one string more.
    #[inline]
    pub fn size(&self) -> usize {
        // An eighth of the places stays free, and each has a byte beside it.
        let places = match self.count {
            0 => 0,
            count => ((count + 1) * 8 / 7).next_power_of_two(),
        };
        self.long.size() + (size_of::<Entry>() + 1) * places
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    #[test]
    fn it_numbers_as_a_map_does() {
        let mut random = Prng::new(test_seed(11));
        let (mut index, mut model) = (KeyIndex::default(), HashMap::<Vec<u8>, usize>::new());
        for step in 0..20_000 {
            if step == 5_000 {
                index.clear();
                model.clear();
            }
            let mut key: Vec<u8> = (0..random.below(4)).map(|_| random.below(9) as u8).collect();
            // Some are longer than what lies in the table, and some have zeros where short ones are padded.
            let length = [0, 0, SHORT - 1, SHORT, SHORT + 1, 40][random.below(6) as usize];
            key.resize(key.len().max(length), random.below(2) as u8);
            let next = model.len();
            let expected = match model.get(&key) {
                Some(number) => Numbered::Known(*number),
                None => Numbered::New(next),
            };
            assert_eq!(index.number(&key), expected, "{key:?}");
            model.entry(key).or_insert(next);
        }
        let places: Vec<KeyAt> = index.places().collect();
        assert!(places.len() == index.len() && index.len() == model.len());
        for at in &places {
            assert!(model.remove(index.key(at)).is_some());
        }
    }
}
