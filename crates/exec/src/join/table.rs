//! Which right rows of a hash join have a key. Rows with one key are a chain, in the order in which they came.
//!
//! What a look-up costs in a large table is what it misses in the caches. So where the key is one whole number,
//! which it is of most joins, a row has one entry, with its key and the row behind it, and a bucket is the number
//! of a row:
//!
//! ```text
//!   rows      0    1    2    3    4          bucket   0   1   2   3
//!   key       7    9    7    5    7          first    1   -   0   -       9 and 5 are in one bucket
//!   next      2    -    4    -    -          rows with the same key
//!   other     -    3    -    -    -          of the first row of a key: the first row of another key
//! ```
//!
//! Buckets are made when all rows are there, from the last row to the first, so that a row goes before those
//! behind it. However many rows one key has, a look-up passes over one of them for each key of the bucket.
//!
//! Other keys are byte strings, and [numbered](KeyIndex); the first and the last row of each are known:
//!
//! ```text
//!  keys   'a' = 0   'b' = 1           row    0   1   2   3
//!  first      0         1             next   2   -   3   -        'a': rows 0, 2, 3
//!  last       3         1
//! ```

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use palisade_expr::hash_key::signed_of_key;
use palisade_expr::keys::{KeyIndex, Numbered};

use crate::kept::grown;

/// No row.
pub(super) const NONE: u32 = u32::MAX;
/// What an entry has in place of the next row if the key of its row has no room in it.
const WIDE: u32 = NONE - 1;
/// Rows that can be told apart.
const MOST_ROWS: usize = WIDE as usize;

/// Rows whose entries are put into buckets, and buckets that are made, between two looks at whose turn it is.
const ROWS_AT_ONCE: usize = 256;
const BUCKETS_AT_ONCE: usize = 16 << 10;

/// The rows of a hash table by their keys.
#[derive(Debug, Default)]
pub(super) struct JoinTable {
    /// Where the key is one whole number.
    numbers: Option<Box<NumberTable>>,
    /// All other keys.
    strings: StringTable,
    rows: usize,
}

/// Rows by numbers.
#[derive(Debug, Default)]
struct NumberTable {
    entries: Vec<Entry>,
    buckets: Vec<u32>,
    /// Rows before this one are in no bucket yet.
    open: usize,
    hasher: DefaultHashBuilder,
}

/// What there is of a row.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: i64,
    /// The next row with this key, or [`WIDE`].
    next: u32,
    /// The first row of the next key in the bucket.
    other: u32,
}

/// Rows by byte strings.
#[derive(Debug, Default)]
struct StringTable {
    keys: KeyIndex,
    /// The first and the last row of each key.
    chains: Vec<(u32, u32)>,
    /// For each row the next one with its key; rows at the end may be missing.
    next: Vec<u32>,
}

impl StringTable {
    fn insert(&mut self, key: &[u8], row: u32) {
        match self.keys.number(key) {
            Numbered::Known(number) => {
                if let Some((_, last)) = self.chains.get_mut(number) {
                    let last = std::mem::replace(last, row);
                    if let Some(next) = self.next.get_mut(last as usize) {
                        *next = row;
                    }
                }
            }
            Numbered::New(_) => self.chains.push((row, row)),
        }
        self.next.resize(row as usize + 1, NONE);
    }

    #[inline]
    fn find(&self, key: &[u8]) -> u32 {
        let number = self.keys.find(key);
        number.and_then(|number| self.chains.get(number)).map_or(NONE, |(first, _)| *first)
    }

    fn size(&self) -> usize {
        self.keys.size() + grown::<(u32, u32)>(self.chains.len()) + grown::<u32>(self.next.len())
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.chains.clear();
        self.next.clear();
    }
}

impl NumberTable {
    #[inline]
    fn bucket(&self, key: i64) -> usize {
        self.hasher.hash_one(key) as usize & self.buckets.len().wrapping_sub(1)
    }

    #[inline]
    fn entry(&self, row: u32) -> Option<&Entry> {
        self.entries.get(row as usize)
    }

    /// The first row that has the key, from the first row of a bucket on.
    #[inline]
    fn find_from(&self, mut row: u32, key: i64) -> u32 {
        while let Some(entry) = self.entry(row) {
            if entry.key == key {
                return row;
            }
            row = entry.other;
        }
        NONE
    }

    /// Goes on with making the buckets; false when they are complete.
    fn link_some(&mut self) -> bool {
        let count = self.entries.len().next_power_of_two();
        if self.buckets.len() < count {
            if self.buckets.is_empty() {
                self.buckets.reserve_exact(count);
                self.open = self.entries.len();
            }
            self.buckets.resize(count.min(self.buckets.len() + BUCKETS_AT_ONCE), NONE);
            return true;
        }
        let end = self.open.saturating_sub(ROWS_AT_ONCE);
        while self.open > end {
            self.open -= 1;
            self.link(self.open);
        }
        self.open > 0
    }

    /// Puts a row before those behind it.
    #[inline]
    fn link(&mut self, number: usize) -> Option<()> {
        let Entry { key, next, .. } = *self.entries.get(number)?;
        if next == WIDE {
            return None;
        }
        let row = number as u32;
        let bucket = self.bucket(key);
        let first = *self.buckets.get(bucket)?;
        let (mut before, mut at) = (NONE, first);
        while let Some(known) = self.entry(at).copied() {
            if known.key == key {
                let own = self.entries.get_mut(number)?;
                (own.next, own.other) = (at, known.other);
                match before {
                    NONE => *self.buckets.get_mut(bucket)? = row,
                    before => self.entries.get_mut(before as usize)?.other = row,
                }
                return Some(());
            }
            (before, at) = (at, known.other);
        }
        self.entries.get_mut(number)?.other = first;
        *self.buckets.get_mut(bucket)? = row;
        Some(())
    }

    /// About how many bytes it holds, with the buckets that it will have.
    fn size(&self) -> usize {
        grown::<Entry>(self.entries.len()) + grown::<u32>(self.entries.len())
    }
}

impl JoinTable {
    /// Without rows. If `of_numbers`, keys are those of one whole number.
    pub(super) fn new(of_numbers: bool) -> JoinTable {
        JoinTable { numbers: of_numbers.then(Box::default), ..JoinTable::default() }
    }

    /// Whether keys are numbers.
    pub(super) fn is_of_numbers(&self) -> bool {
        self.numbers.is_some()
    }

    /// Whether there is room for another row.
    pub(super) fn has_room(&self) -> bool {
        self.rows < MOST_ROWS
    }

    /// Adds the next row, with this key.
    pub(super) fn insert(&mut self, key: &[u8]) {
        if self.is_of_numbers()
            && let Some(number) = signed_of_key(key)
        {
            return self.insert_number(number);
        }
        if let Some(numbers) = &mut self.numbers {
            numbers.entries.push(Entry { key: 0, next: WIDE, other: NONE });
        }
        self.strings.insert(key, self.rows as u32);
        self.rows += 1;
    }

    /// Adds the next row, whose key is this number.
    #[inline]
    pub(super) fn insert_number(&mut self, key: i64) {
        if let Some(numbers) = &mut self.numbers {
            numbers.entries.push(Entry { key, next: NONE, other: NONE });
            self.rows += 1;
        }
    }

    /// Whether a row has this key, of rows whose keys are byte strings.
    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.strings.keys.contains(key)
    }

    /// All rows have been added: makes ready for looking them up. True if it is to be called again.
    pub(super) fn finish_some(&mut self) -> bool {
        self.numbers.as_mut().is_some_and(|numbers| !numbers.entries.is_empty() && numbers.link_some())
    }

    /// The first row that has this key.
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> u32 {
        if let Some(numbers) = &self.numbers
            && let Some(number) = signed_of_key(key)
        {
            let first = numbers.buckets.get(numbers.bucket(number)).copied().unwrap_or(NONE);
            return numbers.find_from(first, number);
        }
        self.strings.find(key)
    }

    /// Appends the first row of each of these keys. The buckets of all are looked at before any row, so that
    /// the processor waits for many of them at once.
    pub(super) fn find_numbers(&self, keys: &[i64], firsts: &mut Vec<u32>) {
        let Some(numbers) = &self.numbers else { return };
        let begin = firsts.len();
        let bucket = |key: &i64| numbers.buckets.get(numbers.bucket(*key)).copied().unwrap_or(NONE);
        firsts.extend(keys.iter().map(bucket));
        for (first, key) in firsts.iter_mut().skip(begin).zip(keys) {
            *first = numbers.find_from(*first, *key);
        }
    }

    /// The next row that has the key of this one.
    #[inline]
    pub(super) fn next(&self, row: u32) -> u32 {
        if let Some(numbers) = &self.numbers {
            match numbers.entry(row).map(|entry| entry.next) {
                Some(WIDE) => {}
                next => return next.unwrap_or(NONE),
            }
        }
        self.strings.next.get(row as usize).copied().unwrap_or(NONE)
    }

    /// About how many bytes it holds.
    #[inline]
    pub(super) fn size(&self) -> usize {
        self.strings.size() + self.numbers.as_ref().map_or(0, |numbers| numbers.size())
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.strings.clear();
        if let Some(numbers) = &mut self.numbers {
            **numbers = NumberTable::default();
        }
        self.rows = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use palisade_base::prng::{Prng, test_seed};
    use palisade_expr::hash_key::append_integer_key;

    use super::*;

    fn rows_of(table: &JoinTable, first: u32) -> Vec<u32> {
        std::iter::successors(Some(first), |row| Some(table.next(*row)))
            .take_while(|row| *row != NONE)
            .collect()
    }

    #[test]
    fn rows_of_a_key_come_in_their_order() {
        let mut random = Prng::new(test_seed(151));
        for round in 0..40 {
            let mut table = JoinTable::new(round % 4 != 0);
            let mut model = HashMap::<i128, Vec<u32>>::new();
            let (rows, keys) = (random.below(3000), 1 + random.below(2000));
            for row in 0..rows {
                // One key has many rows, and some take more than 64 bits.
                let number = match random.below(8) {
                    0 => 7,
                    1 => i128::from(u64::MAX) - i128::from(random.below(3)),
                    2 => -i128::from(random.below(keys)),
                    _ => i128::from(random.below(keys)),
                };
                let mut key = Vec::new();
                append_integer_key(number, &mut key);
                match i64::try_from(number) {
                    Ok(number) if table.is_of_numbers() && random.one_in(2) => table.insert_number(number),
                    _ => table.insert(&key),
                }
                model.entry(number).or_default().push(row as u32);
            }
            while table.finish_some() {}
            assert_eq!(table.rows as u64, rows);
            for number in -3..keys as i128 + 3 {
                let mut key = Vec::new();
                append_integer_key(number, &mut key);
                let expected = model.get(&number).cloned().unwrap_or_default();
                let first = table.find(&key);
                assert_eq!(rows_of(&table, first), expected, "{number}");
                if table.is_of_numbers() {
                    let mut firsts = vec![5];
                    table.find_numbers(&[number as i64, 7], &mut firsts);
                    assert_eq!(firsts.get(1), Some(&first));
                }
            }
            for (number, expected) in &model {
                let mut key = Vec::new();
                append_integer_key(*number, &mut key);
                assert_eq!(&rows_of(&table, table.find(&key)), expected);
            }
            table.clear();
            assert!(table.rows == 0 && table.find(&[]) == NONE);
        }
    }
}
