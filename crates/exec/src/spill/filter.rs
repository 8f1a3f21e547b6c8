//! Which hashes there may be among many: a bit for each (Bloom, 1970, with one function). One whose bit is
//! not set is not among them.

/// Part of an operator's memory that a filter takes.
pub const FILTERS_OF_MEMORY: usize = 16;

/// Which hashes there may be.
#[derive(Debug)]
pub struct Filter {
    words: Vec<u64>,
    shift: u32,
}

impl Filter {
    /// Without hashes, of an operator that may take so many bytes of memory.
    pub fn new(memory: usize) -> Filter {
        let words = (memory / FILTERS_OF_MEMORY / size_of::<u64>()).clamp(64, 1 << 26).next_power_of_two();
        let bits = words as u64 * u64::from(u64::BITS);
        Filter { words: vec![0; words], shift: u64::BITS - bits.trailing_zeros() }
    }

    /// The word and the bit of a hash. Files of one level have a part of the hash in common, so that all of
    /// it decides.
    fn place(&self, hash: u32) -> (usize, u64) {
        let mixed = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        ((mixed / u64::from(u64::BITS)) as usize, 1 << (mixed % u64::from(u64::BITS)))
    }

    /// Takes a hash in.
    pub fn add(&mut self, hash: u32) {
        let (word, bit) = self.place(hash);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }

    /// Whether a hash may have been taken in.
    #[inline]
    pub fn may_have(&self, hash: u32) -> bool {
        let (word, bit) = self.place(hash);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Bytes that it takes.
    pub fn size(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::level::hash_of;
    use super::*;

    #[test]
    fn a_filter_knows_what_was_added_and_little_else() {
        for memory in [0, 256 << 10, 64 << 20] {
            let mut filter = Filter::new(memory);
            let bits = filter.words.len() * 64;
            let hash = |number: usize| hash_of(&number.to_le_bytes());
            let added = bits / 16;
            (0..added).for_each(|number| filter.add(hash(number)));
            assert!((0..added).all(|number| filter.may_have(hash(number))));
            let wrong = (added..2 * added).filter(|number| filter.may_have(hash(*number))).count();
            assert!(wrong < added / 8, "{wrong} of {added}");
        }
    }
}
