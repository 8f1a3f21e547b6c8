//! Free runs give their room back to the disk, while pages are written.
//!
//! ```text
//!   pages become shorter, or blank ─► more is free than new pages want
//!                                       ─► stretches of free blocks become holes
//!   no free run is long enough ─► holes have room taken for them ─► only then is the file made longer
//! ```
//!
//! A free run holds nothing that is needed: it is free once what says where its page is now is durable, and
//! the next page may be written there. A hole is no more than that. It is punched under `growth`, by which
//! room is taken, too, and its blocks are in use meanwhile, so that no page is written into a hole in the
//! making. A crash may leave it or take it back.
//!
//! # Promises
//!
//! A file whose pages are compressed has room for what was written, and a cleaner that needs more takes it.
//! Any other one has promised its room, so that a full disk is told to the statement that wants a page:
//!
//! * as long as it has no hole, to all pages that there [may be](PlaceStore::pages);
//! * else to the pages that have a run, and to those that *await* one because they have been given content and
//!   not been written yet. Who wants one more has to [ask](PlaceStore::promise), and where too little is free
//!   room is [taken](PlaceStore::back_promises) for holes first.
//!
//! What is free and not promised may become holes. After a start no page that redo has made awaits a run; a
//! cleaner then takes the room that it lacks, as for a compressed page.
//!
//! A file that has less room on the disk than bytes has holes of an earlier life. All its stretches that are
//! free count as such: to take room again that is there costs nothing.

use std::io;
use std::ops::Range;

use palisade_base::PageNo;
use parking_lot::MutexGuard;

use super::{PAGES_PER_SPARE, PlaceStore, State};
use crate::metrics;
use crate::places::blocks::STRETCH;
use crate::places::chunk;
use crate::planted::{Planted, makes};

/// Of the blocks in use, so large a part stays free: more than twice what a file grows by.
const KEPT_PART: u32 = 4;
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
        let promised = if makes(Planted::PromisesAreForgotten) { 0 } else { self.awaited };
        let least = (self.used() / KEPT_PART)
            .saturating_add(KEPT_BLOCKS + self.in_flight)
            .saturating_add(promised.saturating_mul(self.page_size.blocks()));
        (!self.is_detached && !self.keeps_room && self.blocks.free() > least).then_some(least)
    }

    /// Whether most of its pages are compressed, as far as it is known: beside the header there may be some of
    /// any table.
    pub(super) fn is_packed(&self) -> bool {
        self.compressed >= self.page_size.blocks()
    }

    /// The page awaits a run, or does so no more.
    pub(super) fn await_run(&mut self, page: PageNo, awaits: bool) {
        let (number, at) = chunk::locate(page);
        let (word, bit) = (at / 64, 1 << (at % 64));
        let awaited = &mut self.chunk(number).awaited[word];
        if (*awaited & bit != 0) != awaits {
            *awaited ^= bit;
            self.awaited = if awaits { self.awaited + 1 } else { self.awaited - 1 };
        }
    }

    fn awaits_run(&self, page: PageNo) -> bool {
        let (number, at) = chunk::locate(page);
        let chunk = self.chunks.get(number).and_then(Option::as_ref);
        chunk.is_some_and(|chunk| chunk.awaited[at / 64] >> (at % 64) & 1 == 1)
    }

    /// Blocks that are missing for a promise to one more page. What cleaners have taken comes back, or is for
    /// pages that await it.
    fn missing_for_one(&self) -> u32 {
        if self.blocks.holes() == 0 || makes(Planted::PromisesAreForgotten) {
            return 0;
        }
        let page = self.page_size.blocks();
        let spare = (self.used() / PAGES_PER_SPARE).max(page);
        let wanted = self.awaited.saturating_add(1).saturating_mul(page).saturating_add(spare);
        wanted.saturating_sub(self.blocks.free() + self.in_flight)
    }
}

impl PlaceStore {
    /// A page gets content: unless it has a run, it awaits one.
    pub(crate) fn expect(&self, page: PageNo) {
        let mut state = self.state.lock();
        if state.place(page).is_none() {
            state.await_run(page, true);
        }
    }

    /// The page, which the caller has latched, is blank: unless it gets content again, no run is kept for it.
    pub(crate) fn expect_nothing(&self, page: PageNo) {
        self.state.lock().await_run(page, false);
    }

    /// Whether there is, or will be, a run for a page that is to get content. If the space's pages
    /// [are compressed](self) that is for the cleaner to see. The run that the page has may be about to become
    /// free, because the page was blank: it is then the one that the page awaits.
    pub(crate) fn promise(&self, page: PageNo, is_packed: bool) -> bool {
        let mut state = self.state.lock();
        if state.awaits_run(page) {
            return true;
        }
        let has_run = !state.place(page).is_none();
        let is_promised = has_run || is_packed || state.is_packed() || state.missing_for_one() == 0;
        if is_promised {
            state.await_run(page, true);
        }
        is_promised
    }

    /// Takes room for holes until there is enough for one more promise, and for some after it.
    pub(crate) fn back_promises(&self) -> io::Result<()> {
        let growth = self.growth.lock();
        loop {
            let state = self.state.lock();
            let (missing, ahead) = (state.missing_for_one(), state.used() / PAGES_PER_SPARE);
            drop(state);
            if missing == 0 || !self.fill_hole(missing.saturating_add(ahead), &growth)? {
                return Ok(());
            }
        }
    }

    /// Whether the file, of `len` bytes, has less room than that on the disk: a page's place that is only in
    /// part the header's may be in part without.
    pub(super) fn has_lost_room(&self, len: u64) -> bool {
        let page = self.page_size.bytes() as u64;
        self.file.allocated().is_ok_and(|bytes| bytes.saturating_add(page) < len)
    }

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
