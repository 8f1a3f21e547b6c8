//! The checker of the undo space: its directory, every segment's chain of pages, every record in it, and
//! whether exactly these pages are in use.
//!
//! For a directory that no transaction writes to: pages are latched one at a time. Damage is collected, and a
//! segment is given up at its first page that cannot be read, because what follows can no longer be found.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use palisade_base::event::retry_blocking;
use palisade_base::{Blocked, PageNo, SpaceId, TrxId};
use palisade_btree::PageSet;
use palisade_btree::verify::{Damage, MOST_DAMAGE, SpaceReport, verify_space_with};
use palisade_buffer::{Page, PageRead, Space};

use crate::entry::{Stamp, UndoPtr};
use crate::error::{Attempt, Error};
use crate::undo::page::*;
use crate::undo::record::{Undo, UndoRecord};

/// What the undo space consists of, and what is wrong with it.
#[derive(Debug, Default)]
pub struct UndoReport {
    /// Its pages, those of the directory among them.
    pub pages: PageSet,
    /// Segments.
    pub segments: u32,
    /// Transactions that were in flight.
    pub active: u64,
    /// Transactions that are prepared (XA).
    pub prepared: u64,
    /// Commit records behind the last one that is noted as purged: at least as many as the history list is
    /// long.
    pub history: u64,
    /// Records.
    pub records: u64,
    /// What was found wrong in directory and segments, the first [`MOST_DAMAGE`].
    pub damage: Vec<Damage>,
    /// How the space's account of its pages compares. `None` if pages of segments cannot be read: then it is
    /// not known what is in use.
    pub space: Option<SpaceReport>,
}

/// What a visitor of chains is told: the space, the first page, and whether the chain has been replaced, or
/// taken back.
pub type OnChain<'a> = dyn FnMut(SpaceId, PageNo) + 'a;

/// What a visitor of changes is told of a row that a transaction changed which has committed, or is in
/// flight: the index, the key, and the version before.
pub type OnChange<'a> = dyn FnMut(u64, &[u8], Stamp) + 'a;

/// A segment, as the directory has it.
struct SegmentEntry {
    number: u16,
    head: PageNo,
    tail: PageNo,
    /// The last Commit record that has been purged.
    purged: UndoPtr,
}

/// Checks the undo space, and calls `on_chain` for every overflow chain that a record speaks of, and
/// `on_change` for every row that has an older version, without a latch. `on_pages` is told how far it is,
/// and may end it. Blocks. An error means something else than damage.
pub fn verify_undo(
    space: &Space,
    on_chain: &mut OnChain<'_>,
    on_change: &mut OnChange<'_>,
    on_pages: &mut dyn FnMut(u64) -> bool,
) -> Result<UndoReport, Error> {
    let report = UndoReport::default();
    let mut check = Check { space, report, on_chain, on_change, on_pages, is_stopped: false };
    let Some(segments) = check.directory()? else { return Ok(check.report) };
    check.report.segments = segments.len() as u32;
    for segment in &segments {
        check.segment(segment)?;
    }
    let Check { mut report, is_stopped, .. } = check;
    if !report.damage.iter().any(|damage| damage.is_lost) && !is_stopped {
        report.space = Some(verify_space_with(space, &report.pages, &PageSet::new())?);
    }
    Ok(report)
}

struct Check<'a> {
    space: &'a Space,
    report: UndoReport,
    on_chain: &'a mut OnChain<'a>,
    on_change: &'a mut OnChange<'a>,
    on_pages: &'a mut dyn FnMut(u64) -> bool,
    is_stopped: bool,
}

impl Check<'_> {
    fn damage(&mut self, page: PageNo, what: &'static str, is_lost: bool) {
        if self.report.damage.len() < MOST_DAMAGE {
            let page = self.space.page_id(page);
            self.report.damage.push(Damage { page, what, level: None, is_lost });
        }
    }

    /// A copy of a page; `None` if it is damaged, which is noted.
    fn copy(&mut self, page: PageNo) -> Result<Option<Box<Page>>, Error> {
        if page.0 >= self.space.pages() {
            self.damage(page, "a page of undo beyond the end of its file", true);
            return Ok(None);
        }
        let read = || -> Attempt<Box<Page>> {
            let latched = self.space.shared(page).map_err(Blocked::up::<Error>)?;
            let mut copy = Page::zeroed(self.space.page_size());
            copy.copy_from_slice(&latched);
            Ok(copy)
        };
        match retry_blocking(read) {
            Ok(copy) => Ok(Some(copy)),
            Err(error) if error.damaged_page().is_some() => {
                self.damage(page, "unreadable", true);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The segments; `None` if the directory is damaged.
    fn directory(&mut self) -> Result<Option<Vec<SegmentEntry>>, Error> {
        let mut pages = Vec::new();
        for number in 0..directory_pages(self.space.page_size()) {
            let page = PageNo(DIRECTORY.0 + number);
            self.report.pages.insert(page);
            match self.copy(page)? {
                Some(copy) if copy.page_type() == DIRECTORY_TYPE => pages.push(copy),
                Some(_) => self.damage(page, "not an undo directory", true),
                None => {}
            }
        }
        if !self.report.damage.is_empty() {
            return Ok(None);
        }
        let size = self.space.page_size();
        let most = max_segments(size);
        let first = pages.first().map_or(0, |page| page.u32_at(SEGMENT_COUNT));
        if first > most {
            self.damage(DIRECTORY, "more undo segments than there can be", false);
        }
        let entry = |number: u16| {
            let (page, at) = directory_place(size.bytes(), number);
            let page = pages.get((page.0 - DIRECTORY.0) as usize)?;
            Some(SegmentEntry {
                number,
                head: PageNo(page.u32_at(at)),
                tail: PageNo(page.u32_at(at + 4)),
                purged: UndoPtr::from_u64(page.u64_at(at + 8)),
            })
        };
        Ok(Some((0..first.min(most) as u16).filter_map(entry).collect()))
    }

    /// Follows a segment's chain from its head to its tail.
    fn segment(&mut self, segment: &SegmentEntry) -> Result<(), Error> {
        let mut page = segment.head;
        let mut progress = Progress {
            is_past_purged: segment.purged.is_none(),
            pages: PageSet::new(),
            committed: Vec::new(),
        };
        while !self.is_stopped {
            if !self.report.pages.insert(page) {
                self.damage(page, "an undo page that is in two places of the segments' chains", false);
                return Ok(());
            }
            progress.pages.insert(page);
            self.is_stopped |= !(self.on_pages)(1);
            let Some(copy) = self.copy(page)? else { return Ok(()) };
            let state = match TailState::read(&copy, segment.number) {
                Ok(state) => state,
                Err(what) => {
                    self.damage(page, what, true);
                    return Ok(());
                }
            };
            self.records(segment, page, &copy, state, &mut progress);
            for (newest, writer) in std::mem::take(&mut progress.committed) {
                self.follow(newest, writer, &progress.pages)?;
            }
            let next = PageNo(copy.u32_at(NEXT));
            if page == segment.tail {
                return self.tail(page, next, state, &progress);
            }
            if next == PageNo::NONE {
                self.damage(page, "an undo segment ends before its tail", true);
                return Ok(());
            }
            page = next;
        }
        Ok(())
    }

    /// What the last page of a segment says of its transaction.
    fn tail(
        &mut self,
        page: PageNo,
        next: PageNo,
        state: TailState,
        progress: &Progress,
    ) -> Result<(), Error> {
        if next != PageNo::NONE {
            self.damage(page, "the tail of an undo segment has a next page", false);
        }
        if !progress.is_past_purged {
            self.damage(page, "what has been purged last is not in its undo segment", false);
        }
        match state.occupancy {
            Occupancy::Free => {}
            Occupancy::Active => self.report.active += 1,
            Occupancy::Prepared => self.report.prepared += 1,
        }
        match state.occupancy {
            Occupancy::Free => Ok(()),
            Occupancy::Active | Occupancy::Prepared => self.follow(state.last, state.writer, &progress.pages),
        }
    }

    /// Reads all records of a page.
    fn records(
        &mut self,
        segment: &SegmentEntry,
        page: PageNo,
        copy: &Page,
        state: TailState,
        progress: &mut Progress,
    ) {
        let mut offset = RECORDS;
        while offset < usize::from(state.used) {
            let Ok((record, len)) = UndoRecord::read(copy, offset) else {
                self.damage(page, "not an undo record", true);
                return;
            };
            self.report.records += 1;
            let place = UndoPtr::new(page, offset as u16);
            let is_commit = record.undo == Undo::Commit;
            if progress.is_past_purged && is_commit {
                progress.committed.push((place, record.writer));
                self.report.history += 1;
            }
            if place == segment.purged {
                progress.is_past_purged = true;
                if !is_commit {
                    self.damage(page, "what has been purged last is not a commit record", false);
                }
            }
            if let Undo::ChainAllocated { space, first } | Undo::ChainReleased { space, first } = record.undo
                && first != PageNo::NONE
            {
                (self.on_chain)(space, first);
            }
            offset += len;
        }
        if offset > usize::from(state.used) {
            self.damage(page, "an undo record goes beyond the end of its page's records", true);
        }
    }

    /// Follows a transaction's records back from its newest one: each must be one of its own. Records that
    /// were taken back are not among them, and may lead to pages that are gone.
    fn follow(&mut self, newest: UndoPtr, writer: TrxId, in_segment: &PageSet) -> Result<(), Error> {
        let (mut place, mut seen) = (newest, PageSet::new());
        while !place.is_none() && !self.is_stopped {
            let page = place.page();
            if !in_segment.contains(page) || !seen.insert(page) {
                self.damage(page, "an undo record that a transaction leads to is not in its segment", false);
                return Ok(());
            }
            let Some(copy) = self.copy(page)? else { return Ok(()) };
            while place.page() == page && !place.is_none() {
                let record = UndoRecord::read(&copy, usize::from(place.offset()));
                let Some((record, _)) = record.ok().filter(|(record, _)| record.writer == writer) else {
                    self.damage(page, "an undo record leads to no record of its transaction", false);
                    return Ok(());
                };
                if record.previous.page() == page && record.previous.offset() >= place.offset() {
                    self.damage(page, "an undo record leads to a later one", false);
                    return Ok(());
                }
                if let Undo::Modify { index, key, old, .. } = record.undo {
                    (self.on_change)(index, key, old.stamp());
                }
                place = record.previous;
            }
        }
        Ok(())
    }
}

/// What is known of a segment that is being followed.
struct Progress {
    /// Whether the last Commit record that has been purged lies behind.
    is_past_purged: bool,
    pages: PageSet,
    /// Committed transactions of the page being read that have not been purged: the newest record, and whose
    /// it is.
    committed: Vec<(UndoPtr, TrxId)>,
}
