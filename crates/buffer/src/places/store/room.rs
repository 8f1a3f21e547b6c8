//! Free runs give their room back to the disk, while pages are written.
//!
//! ```text
//!   pages become shorter ─► more is free than new pages want ─► stretches of free blocks become holes
//!   no free run is long enough ─► holes have room taken for them ─► only then is the file made longer
//! ```
//!
//! A free run holds nothing that is needed: it is free once what says where its page is now is durable, and
//! the next page may be written there. A hole is no more than that. It is punched under `growth`, by which
//! room is taken, too, and its blocks are in use meanwhile, so that no page is written into a hole in the
//! making. A crash may leave it or take it back.
//!
//! Only a file whose pages are compressed does so: it has room for what was written, and a cleaner that needs
//! more takes it. Any other one has promised its room to the pages that it has. What a start finds as a hole
//! is a free run like others: a write takes the room for it.

use std::io;
use std::ops::Range;

use parking_lot::MutexGuard;

use super::{PAGES_PER_SPARE, PlaceStore, State};
use crate::metrics;
use crate::places::blocks::STRETCH;

/// Of the blocks in use, so large a part stays free: three times what a file grows by.
const KEPT_PART: u32 = PAGES_PER_SPARE / 3;
/// So many blocks stay free besides.
const KEPT_BLOCKS: u32 = 256;
/// Stretches that lose their room, or get it, at a time.
const STRETCHES_AT_ONCE: u32 = 64;

impl State {
    /// Blocks of pages.
    pub(super) fn used(&self) -> u32 {
        self.blocks.end() - self.blocks.free() - self.blocks.holes() - self.in_flight
    }

    /// Blocks that stay free at least; `None` if all of them do.
    fn kept_free(&self) -> Option<u32> {
        let is_packed = self.compressed >= self.page_size.blocks();
        let least = (self.used() / KEPT_PART).saturating_add(KEPT_BLOCKS + self.in_flight);
        (is_packed && !self.is_detached && !self.keeps_room && self.blocks.free() > least).then_some(least)
    }
}

impl PlaceStore {
    /// Whether more is free than new pages want.
    pub(crate) fn has_surplus(&self) -> bool {
        self.state.lock().kept_free().is_some()
    }

    /// Gives the room of some of what is free beyond that back to the disk. A file system that makes no holes
    /// is asked once.
    pub(crate) fn give_room_back(&self) {
        // One that is growing wants none.
        let Some(_growth) = self.growth.try_lock() else { return };
        let mut state = self.state.lock();
        let Some(least) = state.kept_free() else { return };
        let ranges = state.blocks.take_stretches(least, STRETCHES_AT_ONCE as usize);
        drop(state);
        let mut ranges = ranges.into_iter();
        for range in ranges.by_ref() {
            let (offset, len) = self.bytes_of(&range);
            match self.file.punch_hole(offset, len) {
                Ok(()) => metrics::PAGE_HOLES_PUNCHED.increment(),
                Err(_) => {
                    metrics::PAGE_PUNCH_FAILED.increment();
                    let mut state = self.state.lock();
                    state.keeps_room = true;
                    state.blocks.have_room(range);
                    break;
                }
            }
        }
        let mut state = self.state.lock();
        ranges.for_each(|range| state.blocks.have_room(range));
    }

    /// Takes room for `missing` blocks: where it was given back, else by making the file `blocks` long.
    pub(super) fn take_room(&self, missing: u32, blocks: u32) -> io::Result<()> {
        let growth = self.growth.lock();
        match self.fill_hole(missing, &growth)? {
            true => Ok(()),
            false => self.grow(blocks, &growth),
        }
    }

    /// Takes room for the first holes again, of `wanted` blocks or some more. False if there are none.
    pub(super) fn fill_hole(&self, wanted: u32, _growth: &MutexGuard<'_, ()>) -> io::Result<bool> {
        let state = self.state.lock();
        if state.is_detached {
            return Ok(false);
        }
        let stretches = (wanted / STRETCH).clamp(1, STRETCHES_AT_ONCE);
        let Some(range) = state.blocks.first_hole(stretches) else { return Ok(false) };
        drop(state);
        let (offset, len) = self.bytes_of(&range);
        self.file.allocate(offset, len)?;
        self.state.lock().blocks.have_room(range);
        self.changed.notify_all();
        Ok(true)
    }

    /// Where blocks are in the file: offset and length.
    fn bytes_of(&self, blocks: &Range<u32>) -> (u64, u64) {
        let block = self.page_size.block() as u64;
        (u64::from(blocks.start) * block, u64::from(blocks.end - blocks.start) * block)
    }
}
