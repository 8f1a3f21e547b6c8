//! Numbering byte strings: the n-th one that differs from all before is number n. Duplicates are removed and
//! groups are found with it.
//!
//! The strings lie one behind the other in one allocation, and the hash table holds their numbers only.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Byte strings, numbered in the order in which they came first.
#[derive(Debug, Clone, Default)]
pub struct KeyIndex {
    table: HashTable<usize>,
    bytes: Vec<u8>,
    /// Where each one ends; it begins where the one before ends.
    ends: Vec<usize>,
    hasher: DefaultHashBuilder,
}

/// What [`KeyIndex::number`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbered {
    /// It came for the first time and got this number.
    New(usize),
    /// It was there, with this number.
    Known(usize),
}

impl KeyIndex {
    /// The number of `key`, a new one if it has none.
    pub fn number(&mut self, key: &[u8]) -> Numbered {
        let KeyIndex { table, bytes, ends, hasher } = self;
        let hash = hasher.hash_one(key);
        if let Some(number) = table.find(hash, |&number| key_at(bytes, ends, number) == key) {
            return Numbered::Known(*number);
        }
        let number = ends.len();
        bytes.extend_from_slice(key);
        ends.push(bytes.len());
        table.insert_unique(hash, number, |&number| hasher.hash_one(key_at(bytes, ends, number)));
        Numbered::New(number)
    }

    /// The number of a key that has been taken in.
    pub fn find(&self, key: &[u8]) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        self.table.find(hash, |&number| key_at(&self.bytes, &self.ends, number) == key).copied()
    }

    /// Whether a key has been taken in.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.find(key).is_some()
    }

    /// Takes a key in; whether it came for the first time.
    pub fn insert(&mut self, key: &[u8]) -> bool {
        matches!(self.number(key), Numbered::New(_))
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.table.clear();
        self.bytes.clear();
        self.ends.clear();
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        self.bytes.len() + 24 * self.ends.len()
    }
}

fn key_at<'b>(bytes: &'b [u8], ends: &[usize], number: usize) -> &'b [u8] {
    let end = |number: usize| ends.get(number).copied();
    let start = number.checked_sub(1).and_then(end).unwrap_or(0);
    end(number).and_then(|end| bytes.get(start..end)).unwrap_or_default()
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
            let key: Vec<u8> = (0..random.below(4)).map(|_| random.below(9) as u8).collect();
            let next = model.len();
            let expected = match model.get(&key) {
                Some(number) => Numbered::Known(*number),
                None => Numbered::New(next),
            };
            assert_eq!(index.number(&key), expected, "{key:?}");
            model.entry(key).or_insert(next);
        }
    }
}
