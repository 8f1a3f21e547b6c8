//! Which blocks of a file are in use: a bit each, in memory only, made anew from the places at every start.
//!
//! ```text
//!   zone: 512 blocks, 8 words, one cache line
//!   file: zone 0 | zone 1 | ... | zone n, in part behind the end
//!   cursor ──► the next free run at or behind it is given out next
//! ```
//!
//! Free runs are given out where they lie, from a cursor that goes round the file. A batch so fills the gaps
//! of one region after the other; what a region has gathered of free runs since the cursor was there last
//! comes in ascending order, and neighbours among it become one write. No page is ever moved to make room.
//!
//! A run lies within one word, and that of a page that is stored as it is begins at a multiple of its length:
//! such pages leave no gaps between them. Blocks behind the end of the file count as in use.
//!
//! A *stretch* is the blocks of a word. One that is wholly free can be taken out of use, because it loses its
//! room on the disk: its blocks count as in use until it has room again.

use std::ops::Range;

use super::place::Place;

/// Blocks of a stretch.
pub(crate) const STRETCH: u32 = 64;
const ZONE_WORDS: usize = 8;
/// Blocks of a zone.
pub(crate) const ZONE_BLOCKS: u32 = STRETCH * ZONE_WORDS as u32;
/// Every second bit.
const SECONDS: u64 = 0x5555_5555_5555_5555;
/// Every fourth bit.
const FOURTHS: u64 = 0x1111_1111_1111_1111;

/// A zone's blocks: a set bit is a block in use.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Zone([u64; ZONE_WORDS]);

const _: () = assert!(size_of::<Zone>() == 64);

/// See the module.
#[derive(Default)]
pub(crate) struct Blocks {
    zones: Vec<Zone>,
    /// Free blocks of each zone.
    zone_free: Vec<u16>,
    /// The stretches of each zone that have no room: a bit each.
    zone_holes: Vec<u8>,
    free: u32,
    /// Blocks of stretches that have no room.
    holes: u32,
    end: u32,
    cursor: u32,
    /// Blocks of a page that is stored as it is.
    page_blocks: u32,
}

/// A run that is not free, or not in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overlap;

impl Blocks {
    /// The blocks of a file of `end` blocks, and of pages of `page_blocks`. The first is in use.
    pub(crate) fn new(end: u32, page_blocks: u32) -> Blocks {
        let mut blocks = Blocks { page_blocks, ..Blocks::default() };
        blocks.grow(end);
        if end > 0 {
            blocks.set(0, 1, true);
        }
        blocks
    }

    /// Blocks of the file.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// Free blocks.
    pub(crate) fn free(&self) -> u32 {
        self.free
    }

    /// Blocks that have no room, and count as in use.
    pub(crate) fn holes(&self) -> u32 {
        self.holes
    }

    /// The file has `end` blocks now; those that were added are free.
    pub(crate) fn grow(&mut self, end: u32) {
        let zones = end.div_ceil(ZONE_BLOCKS) as usize;
        self.zones.resize(zones.max(self.zones.len()), Zone([u64::MAX; ZONE_WORDS]));
        self.zone_free.resize(self.zones.len(), 0);
        self.zone_holes.resize(self.zones.len(), 0);
        for block in self.end..end {
            self.set(block, 1, false);
        }
        self.end = self.end.max(end);
    }

    /// Marks the run of a page as in use.
    pub(crate) fn take(&mut self, place: Place) -> Result<(), Overlap> {
        let run = u64::from(place.block())..u64::from(place.block()) + u64::from(place.blocks());
        if run.start == 0
            || place.blocks() > self.page_blocks
            || run.end > u64::from(self.end)
            || run.clone().any(|block| self.is_used(block as u32))
        {
            return Err(Overlap);
        }
        self.mark(place, true);
        Ok(())
    }

    /// Marks a run as free again.
    pub(crate) fn give_back(&mut self, place: Place) {
        assert!(place.block() > 0 && place.end() <= self.end, "the run {place:?} is one of the file");
        let used = (place.block()..place.end()).all(|block| self.is_used(block));
        assert!(used, "the run {place:?} was in use");
        self.mark(place, false);
    }

    /// The next free run of `blocks` blocks from the cursor on, round the file. It is in use from now on.
    pub(crate) fn allocate(&mut self, blocks: u32) -> Option<Place> {
        if self.free < blocks {
            return None;
        }
        let block = self.find(self.cursor, self.end, blocks).or_else(|| self.find(0, self.cursor, blocks))?;
        let place = Place::new(block, blocks);
        self.mark(place, true);
        self.cursor = if place.end() >= self.end { 0 } else { place.end() };
        Some(place)
    }

    /// Takes stretches that are wholly free out of use, the last ones of the file first, as long as `least`
    /// blocks stay free: `most` stretches at most. Neighbours are one range of blocks.
    pub(crate) fn take_stretches(&mut self, least: u32, most: usize) -> Vec<Range<u32>> {
        let mut ranges: Vec<Range<u32>> = Vec::new();
        let mut taken = 0;
        for zone in (0..self.zones.len()).rev() {
            if u32::from(self.zone_free[zone]) < STRETCH {
                continue;
            }
            for word in (0..ZONE_WORDS).rev() {
                if taken == most || self.free < least.saturating_add(STRETCH) {
                    return ranges;
                }
                if self.zones[zone].0[word] != 0 {
                    continue;
                }
                let first = zone as u32 * ZONE_BLOCKS + word as u32 * STRETCH;
                self.set_room(first, false);
                taken += 1;
                match ranges.last_mut() {
                    Some(last) if last.start == first + STRETCH => last.start = first,
                    _ => ranges.push(first..first + STRETCH),
                }
            }
        }
        ranges
    }

    /// The first stretch that has no room, and those right behind it that have none either: `most` at most.
    pub(crate) fn first_hole(&self, most: u32) -> Option<Range<u32>> {
        let zone = self.zone_holes.iter().position(|holes| *holes != 0)?;
        let first = zone as u32 * ZONE_WORDS as u32 + self.zone_holes[zone].trailing_zeros();
        let end =
            (first..first.saturating_add(most)).take_while(|stretch| self.is_hole(*stretch)).last()? + 1;
        Some(first * STRETCH..end * STRETCH)
    }

    fn is_hole(&self, stretch: u32) -> bool {
        let (zone, word) = (stretch as usize / ZONE_WORDS, stretch as usize % ZONE_WORDS);
        self.zone_holes.get(zone).is_some_and(|holes| holes >> word & 1 == 1)
    }

    /// Stretches that were taken out of use have room again, and are free.
    pub(crate) fn have_room(&mut self, stretches: Range<u32>) {
        stretches.step_by(STRETCH as usize).for_each(|first| self.set_room(first, true));
    }

    /// The stretch that begins at `first`, which is the other way, is free or has no room.
    fn set_room(&mut self, first: u32, has_room: bool) {
        let (zone, word, _) = locate(first);
        assert_eq!(self.is_hole(first / STRETCH), has_room, "a stretch has room or has not");
        self.zone_holes[zone] ^= 1 << word;
        if has_room {
            self.zones[zone].0[word] = 0;
            self.zone_free[zone] += STRETCH as u16;
            self.free += STRETCH;
            self.holes -= STRETCH;
        } else {
            self.zones[zone].0[word] = u64::MAX;
            self.zone_free[zone] -= STRETCH as u16;
            self.free -= STRETCH;
            self.holes += STRETCH;
        }
    }

    fn is_used(&self, block: u32) -> bool {
        let (zone, word, bit) = locate(block);
        self.zones[zone].0[word] >> bit & 1 == 1
    }

    fn mark(&mut self, place: Place, used: bool) {
        (place.block()..place.end()).for_each(|block| self.set(block, 1, used));
    }

    /// Sets the bits of blocks of one word, which all were the other way.
    fn set(&mut self, block: u32, blocks: u32, used: bool) {
        let (zone, word, bit) = locate(block);
        let mask = ((1_u64 << blocks) - 1) << bit;
        if used {
            self.zones[zone].0[word] |= mask;
            self.zone_free[zone] -= blocks as u16;
            self.free -= blocks;
        } else {
            self.zones[zone].0[word] &= !mask;
            self.zone_free[zone] += blocks as u16;
            self.free += blocks;
        }
    }

    /// The first free run that begins in `from..to`.
    fn find(&self, from: u32, to: u32, blocks: u32) -> Option<u32> {
        let mut at = from;
        while at < to {
            let (zone, word, bit) = locate(at);
            if self.zone_free[zone] < blocks as u16 {
                at = (at / ZONE_BLOCKS + 1) * ZONE_BLOCKS;
                continue;
            }
            let starts = run_starts(self.zones[zone].0[word], blocks, self.page_blocks) & (u64::MAX << bit);
            let first = at - bit + starts.trailing_zeros();
            if starts != 0 {
                return (first < to).then_some(first);
            }
            at = at - bit + 64;
        }
        None
    }
}

/// Zone, word in it, bit in that.
fn locate(block: u32) -> (usize, usize, u32) {
    ((block / ZONE_BLOCKS) as usize, (block % ZONE_BLOCKS / 64) as usize, block % 64)
}

/// Where free runs of `blocks` blocks begin in a word, of pages of `page_blocks`.
fn run_starts(word: u64, blocks: u32, page_blocks: u32) -> u64 {
    let free = !word;
    match blocks {
        1 => free,
        2 if page_blocks == 2 => free & free >> 1 & SECONDS,
        2 => free & free >> 1,
        3 => free & free >> 1 & free >> 2,
        _ => free & free >> 1 & free >> 2 & free >> 3 & FOURTHS,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    /// The blocks in use, one by one.
    struct Model {
        used: BTreeSet<u32>,
        end: u32,
        cursor: u32,
        page_blocks: u32,
    }

    impl Model {
        fn allocate(&mut self, blocks: u32) -> Option<Place> {
            let fits = |&start: &u32| {
                let aligned = blocks < self.page_blocks || start.is_multiple_of(self.page_blocks);
                let in_word = start / 64 == (start + blocks - 1) / 64 && start + blocks <= self.end;
                aligned && in_word && (start..start + blocks).all(|block| !self.used.contains(&block))
            };
            let start = (self.cursor..self.end).find(fits).or_else(|| (0..self.cursor).find(fits))?;
            self.used.extend(start..start + blocks);
            self.cursor = if start + blocks >= self.end { 0 } else { start + blocks };
            Some(Place::new(start, blocks))
        }
    }

    #[test]
    fn runs_are_given_out_as_a_set_of_blocks_would() {
        let mut random = Prng::new(test_seed(31));
        for _ in 0..40 {
            let end = 1 + random.below(1500) as u32;
            let page_blocks = *random.pick(&[1, 2, 4, 4]);
            let mut model = Model { used: BTreeSet::from([0]), end, cursor: 0, page_blocks };
            let mut blocks = Blocks::new(end, page_blocks);
            let (mut held, mut holes): (Vec<Place>, Vec<Range<u32>>) = Default::default();
            let raw_only = random.one_in(2);
            for _ in 0..600 {
                let length = if raw_only { page_blocks } else { 1 + random.below(page_blocks.into()) as u32 };
                match random.below(22) {
                    0..11 => {
                        let place = blocks.allocate(length);
                        assert_eq!(place, model.allocate(length));
                        held.extend(place);
                    }
                    11..18 if !held.is_empty() => {
                        let place = held.swap_remove(random.below(held.len() as u64) as usize);
                        blocks.give_back(place);
                        (place.block()..place.end()).for_each(|block| assert!(model.used.remove(&block)));
                    }
                    18 => {
                        model.end += random.below(100) as u32;
                        blocks.grow(model.end);
                    }
                    19 => {
                        let taken = blocks.take_stretches(random.below(end.into()) as u32, 3);
                        taken.iter().cloned().flatten().for_each(|block| assert!(model.used.insert(block)));
                        holes.extend(taken);
                    }
                    20 if !holes.is_empty() => {
                        let hole = holes.swap_remove(random.below(holes.len() as u64) as usize);
                        hole.clone().for_each(|block| assert!(model.used.remove(&block)));
                        blocks.have_room(hole);
                    }
                    _ => {
                        let start = 1 + random.below(u64::from(model.end) + 9) as u32;
                        let place = Place::new(start, length);
                        let fits = place.end() <= model.end
                            && (start..place.end()).all(|block| !model.used.contains(&block));
                        assert_eq!(blocks.take(place).is_ok(), fits);
                        if fits {
                            model.used.extend(start..place.end());
                            held.push(place);
                        }
                    }
                }
                assert_eq!(blocks.free(), model.end - model.used.len() as u32);
                assert_eq!(blocks.holes(), holes.iter().map(|hole| hole.end - hole.start).sum::<u32>());
            }
        }
    }

    #[test]
    fn the_cursor_goes_on_behind_the_last_run_and_fills_gaps_in_ascending_order() {
        let mut blocks = Blocks::new(64, 4);
        let runs: Vec<Place> = std::iter::from_fn(|| blocks.allocate(4)).collect();
        assert_eq!(runs.len(), 15, "the header's block costs one run");
        for run in [9, 3, 4, 12] {
            blocks.give_back(runs[run]);
        }
        let again: Vec<u32> = std::iter::from_fn(|| blocks.allocate(4)).map(Place::block).collect();
        assert_eq!(again, [16, 20, 40, 52]);
        blocks.give_back(runs[0]);
        blocks.give_back(runs[14]);
        assert_eq!(blocks.allocate(4), Some(runs[14]), "behind the cursor first");
        assert_eq!(blocks.allocate(4), Some(runs[0]));
    }

    #[test]
    fn stretches_that_have_no_room_are_given_to_no_page_until_they_have() {
        let mut blocks = Blocks::new(600, 4);
        let take = |blocks: &mut Blocks, most| -> Vec<(u32, u32)> {
            let ranges = blocks.take_stretches(200, most);
            ranges.into_iter().map(|range| (range.start, range.end)).collect()
        };
        let runs: Vec<Place> = std::iter::from_fn(|| blocks.allocate(4)).collect();
        assert_eq!(take(&mut blocks, 99), [], "nothing is free");
        runs.iter().filter(|run| run.block() >= 100).for_each(|run| blocks.give_back(*run));
        assert_eq!(blocks.free(), 503, "with three beside the header");
        // Of 128..576 as many as leave 200 blocks; what is behind 576 is no stretch.
        assert_eq!(take(&mut blocks, 2), [(448, 576)]);
        assert_eq!(take(&mut blocks, 99), [(320, 448)]);
        assert_eq!(take(&mut blocks, 99), []);
        assert_eq!((blocks.free(), blocks.holes()), (247, 256));
        let again: Vec<Place> = std::iter::from_fn(|| blocks.allocate(4)).collect();
        assert_eq!(again.len(), 61);
        assert!(again.iter().all(|run| !(320..576).contains(&run.block())));
        assert_eq!(blocks.first_hole(1), Some(320..384));
        assert_eq!(blocks.first_hole(3), Some(320..512));
        blocks.have_room(320..512);
        assert_eq!((blocks.free(), blocks.holes(), blocks.first_hole(9)), (195, 64, Some(512..576)));
        assert_eq!(blocks.allocate(4), Some(Place::new(320, 4)));
        assert_eq!(blocks.take(Place::new(512, 4)), Err(Overlap));
        blocks.have_room(512..576);
        assert_eq!((blocks.holes(), blocks.first_hole(9)), (0, None));
        assert_eq!(blocks.take(Place::new(512, 4)), Ok(()));
    }

    #[test]
    fn a_run_that_is_in_use_or_behind_the_end_cannot_be_taken() {
        let mut blocks = Blocks::new(10, 2);
        assert_eq!(blocks.take(Place::new(4, 4)), Err(Overlap), "longer than a page");
        let mut blocks = Blocks::new(10, 4);
        assert_eq!(blocks.take(Place::new(4, 4)), Ok(()));
        for bad in
            [Place::new(7, 1), Place::new(3, 2), Place::new(8, 3), Place::from_bits(0), Place::from_bits(3)]
        {
            assert_eq!(blocks.take(bad), Err(Overlap), "{bad:?}");
        }
        assert_eq!(blocks.take(Place::from_bits(u32::MAX)), Err(Overlap));
    }
}
