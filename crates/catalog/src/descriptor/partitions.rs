//! Partitions of a table, and sets of them.
//!
//! A partition here is what holds rows: of a table with SUBPARTITION BY that is a subpartition. They are
//! numbered in the order of the definition:
//!
//! ```text
//! PARTITION p0 (SUBPARTITION p0s0, SUBPARTITION p0s1), PARTITION p1 (SUBPARTITION p1s0, SUBPARTITION p1s1)
//!                            0                  1                                2                  3
//! ```

use palisade_base::SpaceId;

use super::{TableDef, equal_fold};

/// The most partitions of a table, subpartitions counted, as in MySQL.
pub const MAX_PARTITIONS: usize = 8192;

/// A part of a table's rows, with a file of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartitionDef {
    /// Its name, as written; empty for the one partition of a table without PARTITION BY.
    pub name: String,
    /// The name of the subpartition that it is, as written; `name` is that of the partition around it.
    pub subpartition: Option<String>,
    /// COMMENT.
    pub comment: String,
    /// Its other options in the order given, names in upper case.
    pub options: Vec<(String, String)>,
    /// The space (file) that holds it.
    pub space: SpaceId,
}

impl PartitionDef {
    /// The one partition of a table without PARTITION BY, in this space.
    pub fn sole(space: SpaceId) -> PartitionDef {
        PartitionDef { space, ..PartitionDef::default() }
    }

    /// A partition of this name, which has no space yet.
    pub fn named(name: impl Into<String>) -> PartitionDef {
        PartitionDef { name: name.into(), ..PartitionDef::default() }
    }

    /// A subpartition of the partition `name`, which has no space yet.
    pub fn subpartition_of(name: impl Into<String>, subpartition: impl Into<String>) -> PartitionDef {
        PartitionDef { subpartition: Some(subpartition.into()), ..PartitionDef::named(name) }
    }
}

impl TableDef {
    /// Whether it has a PARTITION BY clause.
    pub fn is_partitioned(&self) -> bool {
        self.partitioning.is_some()
    }

    /// The partitions that a name means, without regard to case: one, all subpartitions of one, or one
    /// subpartition. None if there is no such name.
    pub fn partitions_called(&self, name: &str) -> PartitionSet {
        let is_called = |partition: &PartitionDef| {
            let subpartition = partition.subpartition.as_deref();
            !partition.name.is_empty()
                && (equal_fold(&partition.name, name)
                    || subpartition.is_some_and(|known| equal_fold(known, name)))
        };
        let numbered = self.partitions.iter().enumerate();
        numbered.filter(|(_, partition)| is_called(partition)).map(|(number, _)| number).collect()
    }

    /// What MySQL calls the file of a partition, without directory and suffix: `t`, `t#p#p0`,
    /// `t#p#p0#sp#p0sp0`. The table's name is as written, those of its partitions are in lower case.
    pub fn file_name_of(&self, number: usize) -> String {
        let mut file = self.name.clone();
        let Some(partition) = self.partitions.get(number).filter(|partition| !partition.name.is_empty())
        else {
            return file;
        };
        file.push_str("#p#");
        file.push_str(&partition.name.to_lowercase());
        if let Some(subpartition) = &partition.subpartition {
            file.push_str("#sp#");
            file.push_str(&subpartition.to_lowercase());
        }
        file
    }
}

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// Some of a table's partitions, by their numbers. A set of the first 64 takes no memory of its own.
#[derive(Debug, Clone, Default)]
pub struct PartitionSet {
    first: u64,
    /// The words behind the first.
    more: Vec<u64>,
}

impl PartitionSet {
    /// The empty set.
    pub const fn none() -> PartitionSet {
        PartitionSet { first: 0, more: Vec::new() }
    }

    /// The partitions of a table that has `count` of them.
    ///
    /// # Panics
    /// If that is more than [`MAX_PARTITIONS`].
    pub fn all(count: usize) -> PartitionSet {
        assert!(count <= MAX_PARTITIONS, "a table has {MAX_PARTITIONS} partitions at most");
        let of = |bits: usize| if bits >= WORD { u64::MAX } else { (1 << bits) - 1 };
        let behind = count.saturating_sub(WORD);
        let more = (0..behind.div_ceil(WORD)).map(|word| of(behind - word * WORD)).collect();
        PartitionSet { first: of(count), more }
    }

    /// One partition.
    #[inline]
    pub fn one(number: usize) -> PartitionSet {
        let mut set = PartitionSet::none();
        set.insert(number);
        set
    }

    /// Adds a partition.
    ///
    /// # Panics
    /// If its number is [`MAX_PARTITIONS`] or above.
    #[inline]
    pub fn insert(&mut self, number: usize) {
        assert!(number < MAX_PARTITIONS, "a table has {MAX_PARTITIONS} partitions at most");
        match number.checked_sub(WORD) {
            None => self.first |= 1 << number,
            Some(behind) => {
                let word = behind / WORD;
                if self.more.len() <= word {
                    self.more.resize(word + 1, 0);
                }
                if let Some(word) = self.more.get_mut(word) {
                    *word |= 1 << (behind % WORD);
                }
            }
        }
    }

    /// Takes a partition out.
    pub fn remove(&mut self, number: usize) {
        match number.checked_sub(WORD) {
            None => self.first &= !(1 << number),
            Some(behind) => {
                if let Some(word) = self.more.get_mut(behind / WORD) {
                    *word &= !(1 << (behind % WORD));
                }
            }
        }
    }

    /// Whether a partition is in it.
    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        self.word(number / WORD) >> (number % WORD) & 1 == 1
    }

    #[inline]
    fn word(&self, number: usize) -> u64 {
        match number.checked_sub(1) {
            None => self.first,
            Some(behind) => self.more.get(behind).copied().unwrap_or(0),
        }
    }

    /// How many are in it.
    pub fn len(&self) -> usize {
        let more: u32 = self.more.iter().map(|word| word.count_ones()).sum();
        (self.first.count_ones() + more) as usize
    }

    /// Whether none is.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.more.iter().all(|word| *word == 0)
    }

    /// Whether all of a table's `count` partitions are in it.
    pub fn is_all(&self, count: usize) -> bool {
        self.len() == count && self.next_from(count).is_none()
    }

    /// The first that is in it.
    #[inline]
    pub fn first(&self) -> Option<usize> {
        self.next_from(0)
    }

    /// The one that is in it, if it is one.
    pub fn only(&self) -> Option<usize> {
        let first = self.first()?;
        self.next_from(first + 1).is_none().then_some(first)
    }

    /// The first from this number on.
    #[inline]
    pub fn next_from(&self, number: usize) -> Option<usize> {
        let (mut word, mut bits) = (number / WORD, self.word(number / WORD) & (u64::MAX << (number % WORD)));
        while bits == 0 {
            word += 1;
            if word > self.more.len() {
                return None;
            }
            bits = self.word(word);
        }
        Some(word * WORD + bits.trailing_zeros() as usize)
    }

    /// Their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.first(), |last| self.next_from(last + 1))
    }

    /// Keeps what is in `other`, too.
    pub fn intersect_with(&mut self, other: &PartitionSet) {
        self.first &= other.first;
        self.more.truncate(other.more.len());
        self.more.iter_mut().zip(&other.more).for_each(|(word, other)| *word &= other);
    }

    /// Adds what is in `other`.
    pub fn unite_with(&mut self, other: &PartitionSet) {
        self.first |= other.first;
        if self.more.len() < other.more.len() {
            self.more.resize(other.more.len(), 0);
        }
        self.more.iter_mut().zip(&other.more).for_each(|(word, other)| *word |= other);
    }
}

impl PartialEq for PartitionSet {
    fn eq(&self, other: &PartitionSet) -> bool {
        let words = self.more.len().max(other.more.len());
        (0..=words).all(|word| self.word(word) == other.word(word))
    }
}

impl Eq for PartitionSet {}

impl FromIterator<usize> for PartitionSet {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> PartitionSet {
        let mut set = PartitionSet::none();
        numbers.into_iter().for_each(|number| set.insert(number));
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use palisade_base::prng::Prng;

    use super::*;

    #[test]
    fn sets_are_those_of_a_model() {
        let mut prng = Prng::new(7);
        for most in [3, 64, 65, 200, MAX_PARTITIONS] {
            let (mut set, mut model) = (PartitionSet::none(), BTreeSet::new());
            for _ in 0..300 {
                let number = prng.next_u64() as usize % most;
                match prng.next_u64() % 3 {
                    0 => {
                        set.remove(number);
                        model.remove(&number);
                    }
                    _ => {
                        set.insert(number);
                        model.insert(number);
                    }
                }
                assert_eq!(set.iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
                assert_eq!((set.len(), set.is_empty()), (model.len(), model.is_empty()));
                assert_eq!(set.contains(number), model.contains(&number));
                assert_eq!(set.only().is_some(), model.len() == 1);
            }
            let all = PartitionSet::all(most);
            assert!(all.is_all(most) && !all.is_all(most - 1));
            assert_eq!((all.len(), all.first()), (most, Some(0)));
            let (mut met, mut joined) = (all.clone(), set.clone());
            met.intersect_with(&set);
            joined.unite_with(&all);
            assert_eq!((met, joined), (set, all));
        }
        assert_eq!(PartitionSet::one(70), [70].into_iter().collect());
        assert_ne!(PartitionSet::one(70), PartitionSet::one(6));
        assert_eq!(PartitionSet::all(0), PartitionSet::none());
    }

    #[test]
    fn files_are_called_as_in_mysql() {
        let partitions = vec![
            PartitionDef::named("P0"),
            PartitionDef::subpartition_of("pMax", "pMaxsp0"),
            PartitionDef::subpartition_of("pMax", "pMaxsp1"),
        ];
        let mut def = TableDef { name: "T".to_owned(), partitions, ..TableDef::default() };
        let names: Vec<_> = (0..3).map(|number| def.file_name_of(number)).collect();
        assert_eq!(names, ["T#p#p0", "T#p#pmax#sp#pmaxsp0", "T#p#pmax#sp#pmaxsp1"]);
        assert_eq!(def.partitions_called("PMAX"), [1, 2].into_iter().collect());
        assert_eq!(def.partitions_called("pmaxsp1").only(), Some(2));
        assert!(def.partitions_called("").is_empty());
        def.partitions = vec![PartitionDef::sole(SpaceId(4))];
        assert_eq!(def.file_name_of(0), "T");
    }
}
