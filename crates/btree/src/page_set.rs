//! A set of pages of one space: a bit a page, in pieces that exist where there are members.
//!
//! For the checker, which has to remember of every page of a space whether something uses it: 2 MiB for a
//! space of 256 GiB.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::BTreeMap;

use palisade_base::PageNo;

/// Pages in one piece.
const PIECE: u32 = 1 << 15;
const WORDS: usize = PIECE as usize / 64;

/// Pages of one space.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageSet {
    pieces: BTreeMap<u32, Box<[u64; WORDS]>>,
    len: u64,
}

/// Piece, word and bit of a page.
fn place(page: PageNo) -> (u32, usize, u64) {
    let in_piece = page.0 % PIECE;
    (page.0 / PIECE, (in_piece / 64) as usize, 1 << (in_piece % 64))
}

impl PageSet {
    /// An empty set.
    pub fn new() -> PageSet {
        PageSet::default()
    }

    /// Adds a page; false if it is a member already.
    pub fn insert(&mut self, page: PageNo) -> bool {
        let (piece, word, bit) = place(page);
        let piece = self.pieces.entry(piece).or_insert_with(|| Box::new([0; WORDS]));
        let is_new = piece.get(word).is_some_and(|bits| bits & bit == 0);
        if let Some(bits) = piece.get_mut(word) {
            *bits |= bit;
        }
        self.len += u64::from(is_new);
        is_new
    }

    /// Removes a page; false if it is no member.
    pub fn remove(&mut self, page: PageNo) -> bool {
        let (piece, word, bit) = place(page);
        let Some(bits) = self.pieces.get_mut(&piece).and_then(|piece| piece.get_mut(word)) else {
            return false;
        };
        let was_member = *bits & bit != 0;
        *bits &= !bit;
        self.len -= u64::from(was_member);
        was_member
    }

    /// Whether a page is a member.
    pub fn contains(&self, page: PageNo) -> bool {
        let (piece, word, bit) = place(page);
        self.pieces.get(&piece).and_then(|piece| piece.get(word)).is_some_and(|bits| bits & bit != 0)
    }

    /// How many members it has.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = PageNo> + '_ {
        self.pieces.iter().flat_map(|(number, words)| {
            words.iter().enumerate().filter(|(_, bits)| **bits != 0).flat_map(move |(word, bits)| {
                let first = number * PIECE + word as u32 * 64;
                (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| PageNo(first + bit))
            })
        })
    }

    /// Adds all members of another set.
    pub fn insert_all(&mut self, other: &PageSet) {
        for (number, words) in &other.pieces {
            let own = self.pieces.entry(*number).or_insert_with(|| Box::new([0; WORDS]));
            for (own, bits) in own.iter_mut().zip(words.iter()) {
                self.len += u64::from((bits & !*own).count_ones());
                *own |= bits;
            }
        }
    }
}

impl Extend<PageNo> for PageSet {
    fn extend<I: IntoIterator<Item = PageNo>>(&mut self, pages: I) {
        pages.into_iter().for_each(|page| {
            self.insert(page);
        });
    }
}

impl FromIterator<PageNo> for PageSet {
    fn from_iter<I: IntoIterator<Item = PageNo>>(pages: I) -> PageSet {
        let mut set = PageSet::new();
        set.extend(pages);
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    #[test]
    fn it_is_a_set_as_any_other() {
        let mut prng = Prng::new(test_seed(71));
        let (mut set, mut other, mut model) = (PageSet::new(), PageSet::new(), BTreeSet::new());
        for _ in 0..20_000 {
            let near = [0, u64::from(PIECE) - 50, 3_000_000_000];
            let page = PageNo((prng.pick(&near) + prng.below(100)) as u32);
            match prng.below(4) {
                0 => assert_eq!(set.remove(page), model.remove(&page)),
                1 => drop(other.insert(page)),
                _ => assert_eq!(set.insert(page), model.insert(page)),
            }
            assert_eq!(set.contains(page), model.contains(&page));
            assert_eq!(set.len(), model.len() as u64);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
        set.insert_all(&other);
        model.extend(other.iter());
        assert_eq!(set.len(), model.len() as u64);
        assert_eq!(set, model.into_iter().collect::<PageSet>());
    }
}
