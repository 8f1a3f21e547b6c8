//! How the places of a store are brought to the end of the log when it is opened.
//!
//! # Pages that are blank
//!
//! The log may have changes of a page from before it was blank, and they are not to be redone: what they
//! change is gone. A record says up to where the page's changes are part of what it is now, as its LSN does
//! for a page that has a run; it is read with that LSN. A record that the log has no more was of changes that
//! it has no more either: the checkpoint has passed them.
//!
//! A place that was found in the file may be that of a copy from before the page was blank. Where the log has
//! the record that tells; else the floor above has to say which pages it uses
//! ([`was_remade`](PlaceStore::was_remade)).

use std::collections::HashMap;
use std::sync::Arc;

use palisade_base::{Lsn, PageNo};
use palisade_io::AlignedBuf;
use palisade_log::Log;

use super::{Chunk, PAGES_PER_SPARE_BEFORE, PlaceStore, pages_for};
use crate::error::{Corruption, Error};
use crate::page;
use crate::places::blocks::Blocks;
use crate::places::chunk::{self, CHUNK_PLACES, FOUND};
use crate::places::place::Place;
use crate::places::record::Placed;
use crate::planted::{Planted, makes};

impl PlaceStore {
    /// What a place record that ends at `end` says of a page of this space: in the order of the log, after
    /// [`open`](Self::open).
    pub(crate) fn redo(&self, placed: Placed, end: Lsn, log: &Log) {
        let mut state = self.state.lock();
        let (number, at) = chunk::locate(placed.page.page);
        if placed.place.is_blank() && !makes(Planted::BlankSinceIsForgotten) {
            state.blank_since.insert(placed.page.page, placed.lsn);
        }
        let image = &mut state.chunk(number).image;
        if image.lsn == FOUND && !makes(Planted::FoundCopyStays) {
            image.places[at] = self.found_or_blank(image.places[at], placed);
        } else if end > image.lsn || makes(Planted::RecordsAreRedone) {
            image.places[at] = placed.place;
            state.mark(number, log.checkpoint_lsn(), log);
        }
    }

    /// What a record says of a page of which a copy was found: a copy from before it was blank is none.
    fn found_or_blank(&self, found: Place, said: Placed) -> Place {
        let is_over = || self.lsn_at(found).is_some_and(|lsn| lsn <= said.lsn);
        match said.place.is_blank() {
            true if found.is_none() || is_over() => Place::BLANK,
            // It was written again, and that copy is lost.
            false if found.is_blank() => Place::NONE,
            _ => found,
        }
    }

    /// The LSN of the page in a run.
    fn lsn_at(&self, place: Place) -> Option<Lsn> {
        let mut bytes = AlignedBuf::zeroed(self.page_size.block());
        self.file.read_at(&mut bytes, place.offset(self.page_size)).ok()?;
        Some(page::stored_lsn(&bytes))
    }

    /// The LSN with which a blank page is read: what the log has to say up to there is in it already.
    pub(crate) fn blank_since(&self, page: PageNo) -> Lsn {
        self.state.lock().blank_since.get(&page).copied().unwrap_or(Lsn::ZERO)
    }

    /// The log has been redone.
    pub(crate) fn redone(&self) {
        self.state.lock().blank_since = HashMap::new();
    }

    /// Whether places were found in the file, because the map had been lost: pages that the log says nothing
    /// of any more may be blank, and have the place of a copy that is over.
    pub fn was_remade(&self) -> bool {
        self.state.lock().was_remade
    }

    /// Whether the page is at that place, and as old as the record said.
    pub(crate) fn holds(&self, placed: Placed) -> bool {
        let Placed { page, place, lsn } = placed;
        let mut bytes = AlignedBuf::zeroed(self.page_size.bytes());
        let run = bytes.get_mut(..place.bytes(self.page_size));
        let is_read = run.is_some_and(|run| self.file.read_at(run, place.offset(self.page_size)).is_ok());
        is_read && page::verify(page, &bytes).is_ok() && page::stored_lsn(&bytes).0 as u32 == lsn.0 as u32
    }

    /// Keeps the log as it is until chunks whose slots differ have been written. Before it moves on.
    pub(crate) fn mark_uneven(&self, log: &Log) {
        let mut state = self.state.lock();
        self.uneven.iter().for_each(|number| state.mark(*number, log.checkpoint_lsn(), log));
    }

    /// The log ends at `end`: chunks whose places were [found](FOUND) are as of then, which the map is to
    /// say. Whether there are such.
    pub(crate) fn date_found(&self, end: Lsn, log: &Log) -> bool {
        let mut state = self.state.lock();
        let is_found = |chunk: &Option<Chunk>| chunk.as_ref().is_some_and(|chunk| chunk.image.lsn == FOUND);
        let found: Vec<usize> =
            (0..state.chunks.len()).filter(|number| is_found(&state.chunks[*number])).collect();
        for number in &found {
            state.chunk(*number).image.lsn = end;
            state.mark(*number, log.checkpoint_lsn(), log);
        }
        state.was_remade = !found.is_empty();
        state.was_remade
    }

    /// The places are those of the end of the log: finds out which runs are free. An error if that cannot be
    /// how the store was left.
    pub(crate) fn complete(&self) -> Result<(), Error> {
        let len = self
            .file
            .len()
            .map_err(|source| Error::Extend { space: self.space, source: Arc::new(source) })?;
        let mut state = self.state.lock();
        // A new file is empty, and block 0 the header's.
        let mut blocks = Blocks::new(self.blocks_in(len).max(1), self.page_size.blocks());
        let (mut placed, mut compressed) = (0, 0);
        for (number, chunk) in state.chunks.iter().enumerate() {
            let Some(chunk) = chunk else { continue };
            for (at, place) in chunk.image.places.iter().enumerate().filter(|(_, place)| !place.is_none()) {
                let page = PageNo((number * CHUNK_PLACES + at) as u32);
                blocks.take(*place).map_err(|_| self.corrupted(page, Corruption::Misplaced))?;
                placed += 1;
                compressed += u32::from(place.is_short(self.page_size));
            }
        }
        if self.has_lost_room(len) {
            // Which of them it is will be found out by taking the room again.
            blocks.take_stretches(0, usize::MAX);
        }
        state.promised = pages_for(blocks.end() / self.page_size.blocks(), PAGES_PER_SPARE_BEFORE);
        (state.blocks, state.placed, state.compressed) = (blocks, placed, compressed);
        Ok(())
    }

    /// A record about the page is not believed: its chunk is to be written again, if it does not say so
    /// already.
    pub(crate) fn distrusts(&self, placed: Placed, end: Lsn, log: &Log) -> bool {
        let mut state = self.state.lock();
        let (number, _) = chunk::locate(placed.page.page);
        let is_news = end > state.chunk(number).image.lsn;
        if is_news {
            state.mark(number, log.checkpoint_lsn(), log);
        }
        is_news
    }
}
