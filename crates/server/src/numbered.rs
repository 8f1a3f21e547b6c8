//! What a session keeps by numbers that it gives itself: its prepared statements.

/// Things by number. Numbers are given in ascending order, so a thing stands as far from the first as its number does, unless some
/// between them are gone: finding it then reads nothing but the thing itself. A session has hundreds of statements, of which
/// none is in the processor's cache when its turn comes.
#[derive(Debug)]
pub(crate) struct Numbered<T> {
    /// In order of their numbers.
    entries: Vec<(u32, T)>,
    /// The first one's number.
    first: u32,
    /// The number given last. 0 is nobody's.
    last: u32,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { entries: Vec::new(), first: 0, last: 0 }
    }
}

impl<T> Numbered<T> {
    /// Numbers up to this one are given already.
    pub(crate) fn go_on_after(&mut self, last: u32) {
        self.last = self.last.max(last);
    }

    /// Keeps it under a number that no other has, the next one as long as there is a next one.
    pub(crate) fn insert(&mut self, thing: T) -> u32 {
        loop {
            self.last = self.last.wrapping_add(1).max(1);
            if let Err(place) = self.place(self.last) {
                self.entries.insert(place, (self.last, thing));
                self.first = self.first_number();
                return self.last;
            }
        }
    }

    /// The one with this number.
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        let place = self.place(number).ok()?;
        self.entries.get_mut(place).map(|(_, thing)| thing)
    }

    /// Takes the one with this number.
    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        let place = self.place(number).ok()?;
        let (_, thing) = self.entries.remove(place);
        self.first = self.first_number();
        Some(thing)
    }

    /// All of them.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().map(|(_, thing)| thing)
    }

    /// Forgets all of them, but not which numbers were given.
    pub(crate) fn clear(&mut self) {
        self.entries = Vec::new();
    }

    fn first_number(&self) -> u32 {
        self.entries.first().map_or(0, |(number, _)| *number)
    }

    /// Where the one with this number is, or would be.
    fn place(&self, number: u32) -> Result<usize, usize> {
        let Some(farthest) = number.checked_sub(self.first) else { return Err(0) };
        let farthest = farthest as usize;
        match self.entries.get(farthest) {
            Some((known, _)) if *known == number => Ok(farthest),
            _ => {
                let near = self.entries.get(..farthest).unwrap_or(&self.entries);
                near.binary_search_by_key(&number, |(known, _)| *known)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    #[test]
    fn numbers_find_what_they_were_given_for() {
        let seed = test_seed(1);
        println!("seed {seed}");
        let mut random = Prng::new(seed);
        for _ in 0..200 {
            let mut model = BTreeMap::new();
            let mut numbered = Numbered::default();
            if random.below(2) == 0 {
                numbered.last = u32::MAX - random.below(20) as u32;
            }
            for thing in 0..random.below(200) {
                let number = match random.below(4) {
                    0 => random.below(60) as u32,
                    1 => u32::MAX - random.below(20) as u32,
                    _ => numbered.last.wrapping_sub(random.below(20) as u32),
                };
                match random.below(20) {
                    0..8 => {
                        let last = numbered.last;
                        let given = numbered.insert(thing);
                        assert_ne!(given, 0);
                        assert!(model.insert(given, thing).is_none(), "{given} was given twice");
                        let is_next = given == last.wrapping_add(1);
                        assert!(
                            is_next || last.wrapping_add(1) == 0 || model.contains_key(&last.wrapping_add(1))
                        );
                    }
                    8..12 => assert_eq!(numbered.remove(number), model.remove(&number)),
                    19 if random.below(10) == 0 => {
                        numbered.clear();
                        model.clear();
                    }
                    _ => assert_eq!(numbered.get_mut(number).copied(), model.get(&number).copied()),
                }
                assert!(numbered.values_mut().map(|thing| *thing).eq(model.values().copied()));
            }
        }
    }

    #[test]
    fn numbers_go_on_after_all_were_forgotten_and_begin_anew_after_the_greatest() {
        let mut numbered = Numbered::default();
        assert_eq!((numbered.insert('a'), numbered.insert('b')), (1, 2));
        numbered.clear();
        assert_eq!(numbered.insert('c'), 3);
        numbered.last = u32::MAX - 1;
        assert_eq!((numbered.insert('d'), numbered.insert('e'), numbered.insert('f')), (u32::MAX, 1, 2));
        assert_eq!(numbered.insert('g'), 4, "3 is in use");
        assert_eq!(numbered.get_mut(3), Some(&mut 'c'));
        assert_eq!(numbered.get_mut(0), None);
    }
}
