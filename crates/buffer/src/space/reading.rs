//! Pages that are read: each from where it is stored, neighbours in the file in one read.

use std::io;
use std::sync::Arc;

use palisade_base::{Lsn, PageNo};
use palisade_io::counts::{self, FileUse};
use palisade_io::{Part, Read};
use smallvec::SmallVec;

use super::{Pending, Space};
use crate::error::{Corruption, Error};
use crate::metrics::{self, UnderWay};
use crate::page;
use crate::places::{Place, PlaceStore};
use crate::stored;
use crate::table::{AHEAD, LOADED, MARK};

/// A page to be read: into which frame, and how many bytes it is stored in.
#[derive(Clone, Copy)]
struct Wanted {
    page: PageNo,
    frame: u32,
    len: usize,
}

/// Pages that are neighbours in the file.
type InFile = SmallVec<[Wanted; 1]>;

impl Space {
    /// Has pages, in ascending order, read into their frames, and published or their failure: neighbours in
    /// the file in one read.
    pub(super) fn read(&self, pages: &[(PageNo, u32)]) {
        let size = self.page_size();
        let wanted = |&(page, frame): &(PageNo, u32)| Wanted { page, frame, len: size.bytes() };
        match self.places.as_deref() {
            None => pages.chunk_by(|(a, _), (b, _)| a.0 + 1 == b.0).for_each(|run| {
                self.read_at(size.offset(run[0].0), run.iter().map(wanted).collect());
            }),
            Some(places) => self.read_placed(places, pages),
        }
    }

    fn read_placed(&self, places: &PlaceStore, pages: &[(PageNo, u32)]) {
        let size = self.page_size();
        let found = places.places(pages.iter().map(|(page, _)| *page));
        let mut pages: SmallVec<[_; 1]> = found.into_iter().zip(pages.iter().copied()).collect();
        pages.sort_unstable();
        for run in pages.chunk_by(|(a, _), (b, _)| !a.is_none() && a.end() == b.block()) {
            let (first, (page, frame)) = run[0];
            if first.is_blank() {
                self.publish_blank(page, frame, places.blank_since(page));
            } else if first.is_none() {
                let error = Error::Corrupted { page: self.page_id(page), reason: Corruption::Zeroed };
                self.publish(page, frame, Err(error));
            } else {
                let wanted =
                    |&(place, (page, frame)): &(Place, _)| Wanted { page, frame, len: place.bytes(size) };
                self.read_at(first.offset(size), run.iter().map(wanted).collect());
            }
        }
    }

    /// The page is blank, and nothing of it is stored.
    fn publish_blank(&self, page: PageNo, frame: u32, lsn: Lsn) {
        // SAFETY: as in `read_at`; no read of it is under way.
        let bytes = unsafe { self.core.frames.memory.page(frame).as_mut() };
        bytes.format(self.page_id(page));
        bytes.set_page_lsn(lsn);
        self.publish(page, frame, Ok(()));
    }

    /// Has pages that are neighbours in the file from `offset` on read.
    fn read_at(&self, offset: u64, run: InFile) {
        let part = |wanted: &Wanted| {
            let memory = self.core.frames.memory.frame(wanted.frame);
            // SAFETY: the frame came from the free list and is this read's alone until it is published when
            // the read is done; optimistic readers of the page it held before only read it atomically and
            // will find that page's version grown. `done` keeps the space, and with it the memory of all
            // frames. A stored form is no longer than a page.
            unsafe { Part::new(memory.as_ptr(), wanted.len) }
        };
        let this = self.this();
        let pending = UnderWay::begin(&metrics::OS_PENDING_READS, 1);
        let read = Read {
            file: self.file.clone(),
            parts: run.iter().map(part).collect(),
            offset,
            done: Box::new(move |outcome| {
                drop(pending);
                this.have_read(run, outcome);
            }),
        };
        self.core.io.read(read);
    }

    /// On an I/O thread: the pages of a run have come, or the run failed.
    fn have_read(&self, run: InFile, outcome: io::Result<()>) {
        match outcome {
            Ok(()) => {
                metrics::BUFFER_PAGES_READ.add(run.len() as u64);
                let bytes = run.iter().map(|wanted| wanted.len as u64).sum();
                metrics::BUFFER_DATA_READS.add(bytes);
                counts::count_read(&*self.file, FileUse::Data, bytes);
                run.into_iter().for_each(|Wanted { page, frame, .. }| {
                    self.publish(page, frame, self.verify(page, frame));
                });
            }
            Err(error) => match run[..] {
                [Wanted { page, frame, .. }] => {
                    let error = Error::Io { page: self.page_id(page), source: Arc::new(error) };
                    self.publish(page, frame, Err(error));
                }
                // Which of them it was, each one's own read will tell.
                _ => run.into_iter().for_each(|wanted| self.read(&[(wanted.page, wanted.frame)])),
            },
        }
    }

    /// Whether what was read into a frame is the page, which is decoded if it is compressed.
    fn verify(&self, page: PageNo, frame: u32) -> Result<(), Error> {
        let id = self.page_id(page);
        // SAFETY: as in `read_at`; it is done, and the frame not yet published.
        let bytes = unsafe { self.core.frames.memory.page(frame).as_mut() };
        let codec = page::verify(id, bytes)
            .and_then(|()| stored::decode(bytes))
            .and_then(|codec| (self.core.check)(bytes).map(|()| codec).map_err(Corruption::Content))
            .map_err(|reason| Error::Corrupted { page: id, reason })?;
        if let Some(codec) = codec {
            self.was_stored_by(codec);
        }
        Ok(())
    }

    fn publish(&self, page: PageNo, frame: u32, outcome: Result<(), Error>) {
        let entry = self.table.entry(page);
        let mut kept = self.take_kept(page);
        let outcome = outcome.and_then(|()| match &kept {
            Some(kept) => self.apply_kept(page, frame, kept),
            None => Ok(()),
        });
        let mut slow = self.slow.lock();
        let read = slow.reads.remove(&page);
        let Some(Pending::UnderWay { event, callers }) = read else {
            panic!("a page is read only while its read is under way");
        };
        let publish = outcome.is_ok() && !slow.detached;
        if publish {
            entry.latch.lock_exclusive();
            self.core.frames.set_owner(frame, Some(self.page_id(page)));
            if let Some(kept) = kept.take() {
                self.restore_kept(frame, kept);
            }
            entry.set_frame(Some(frame));
            entry.set_heat(match callers {
                0 if slow.watch.is_mark(page) => MARK,
                0 => AHEAD,
                _ => LOADED,
            });
            entry.latch.unlock_exclusive(true);
        }
        if let Some(mut kept) = kept {
            kept.failures += 1;
            self.keep_again(&mut slow, page, kept);
        }
        if let Err(error) = outcome
            && callers > 0
        {
            if matches!(error, Error::Corrupted { .. }) {
                metrics::BUFFER_PAGES_CORRUPTED.increment();
            }
            slow.reads.insert(page, Pending::Failed { error, callers, at: self.now() });
        }
        drop(slow);
        if !publish {
            self.core.frames.give_free(frame);
        }
        event.complete();
    }
}
