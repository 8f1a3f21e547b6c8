//! What purge knows of a segment: the ended transactions whose undo is still in its chain.
//!
//! While the server runs, each transaction adds itself when it ends. After a restart the ones from before are in the
//! chain only, which may be as long as the largest transaction ever was: opening looks at the tail and nothing else,
//! and purge, in the background, reads the rest from the head before it begins.
//!
//! ```text
//! head ► ... ► last purged Commit record ► ... ► page ► page ► tail as it was found
//!                                         '--------- unread ----------'
//! ```
//!
//! A transaction that was in flight is the last in its segment, so reading ends at its first record: its pages are read
//! by its rollback alone. If none was, the pages before the tail are given back when what is in them has been purged: the
//! last may be those of a transaction that was rolled back, and nobody else would come for them.

use std::collections::VecDeque;

use palisade_base::{Blocked, Lsn, PageNo, TrxId};
use palisade_buffer::{Page, PageRead};
use parking_lot::Mutex;

use crate::entry::UndoPtr;
use crate::error::{Attempt, Error};
use crate::metrics;
use crate::undo::page::{NEXT, RECORDS, TailState};
use crate::undo::segment::{UndoSpace, corrupted};
use crate::undo::{Undo, UndoRecord};

/// What purge knows of a segment.
pub(crate) struct SegmentShared {
    pub(crate) number: u16,
    /// Ended transactions whose undo is still there, oldest first; those from before a restart once they have been read.
    pub(crate) history: Mutex<VecDeque<HistoryEntry>>,
    /// Held by whoever purges the segment.
    pub(crate) purged: Mutex<Purged>,
    /// What a restart has left, until it has been read. Latched before the history.
    unread: Mutex<Option<Unread>>,
}

/// How far a segment has been purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Purged {
    /// First page of the chain.
    pub(crate) head: PageNo,
    /// The last Commit record that has been purged, if it is in the chain. What it leads to may not be.
    pub(crate) last: UndoPtr,
    /// The next record of the transaction being purged, whose newer ones have been dealt with.
    pub(crate) under_way: Option<UndoPtr>,
}

/// A transaction that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HistoryEntry {
    /// Purge may go on when every snapshot sees this.
    pub(crate) csn: Lsn,
    /// Its newest record; none if it was rolled back.
    pub(crate) last: UndoPtr,
    /// The segment's tail when it ended: pages before are no longer needed.
    pub(crate) end_page: PageNo,
    /// Whether there is more to do than to give back pages.
    pub(crate) needs_purge: bool,
}

/// The part of a chain that has not been read since the restart.
struct Unread {
    /// Where to go on.
    page: PageNo,
    offset: usize,
    /// The tail as it was found, and the end of the records on it.
    tail: PageNo,
    used: usize,
    /// Who was in flight in the segment.
    in_flight: Option<TrxId>,
    found: VecDeque<HistoryEntry>,
}

/// How reading a page of a chain went.
enum PageEnd {
    /// The records from here on are of a transaction that was in flight.
    InFlight,
    /// The page after it.
    Next(PageNo),
}

impl SegmentShared {
    /// A segment without history, which has one page.
    pub(crate) fn new(number: u16, head: PageNo) -> Self {
        let purged = Purged { head, last: UndoPtr::NONE, under_way: None };
        Self::with(number, purged, None)
    }

    /// A segment as a restart finds it: its tail, what that says, and who is in flight there.
    pub(crate) fn found(
        number: u16,
        purged: Purged,
        tail: PageNo,
        state: &TailState,
        in_flight: Option<TrxId>,
    ) -> Self {
        // What comes before the last purged Commit record has been purged, too.
        let (page, offset) = match purged.last.is_none() {
            true => (purged.head, RECORDS),
            false => (purged.last.page(), purged.last.offset().into()),
        };
        let used = state.used.into();
        let unread = Unread { page, offset, tail, used, in_flight, found: VecDeque::new() };
        metrics::TRX_RSEG_HISTORY_LEN.increment();
        Self::with(number, purged, Some(unread))
    }

    fn with(number: u16, purged: Purged, unread: Option<Unread>) -> Self {
        let (history, purged, unread) = (Mutex::default(), Mutex::new(purged), Mutex::new(unread));
        SegmentShared { number, history, purged, unread }
    }

    /// The segment's user has ended a transaction.
    pub(crate) fn push(&self, entry: HistoryEntry) {
        self.history.lock().push_back(entry);
        metrics::TRX_RSEG_HISTORY_LEN.increment();
    }

    /// Ended transactions whose undo is still there, as far as they are known; what has not been read counts as one.
    pub(crate) fn history_length(&self) -> u64 {
        let unread = self.unread.lock();
        let before = unread.as_ref().map_or(0, |unread| 1 + unread.found.len());
        (before + self.history.lock().len()) as u64
    }

    /// Reads up to `pages` pages of what a restart has left. Says whether all has been read. Waits for: a page to be read.
    pub(crate) fn read_on(&self, undo: &UndoSpace, purged: &Purged, pages: usize) -> Attempt<bool> {
        let mut held = self.unread.lock();
        let Some(unread) = held.as_mut() else { return Ok(true) };
        for _ in 0..pages {
            let page = undo.space().shared(unread.page).map_err(Blocked::up::<Error>)?;
            let end = unread.read_page(&page, self.number, purged.last);
            let end = end.map_err(|what| corrupted(undo.page_id(unread.page), what))?;
            drop(page);
            let ends_here = unread.page == unread.tail;
            let gives_pages_back = match end {
                PageEnd::Next(PageNo::NONE) if !ends_here => {
                    let page = undo.page_id(unread.page);
                    return Err(corrupted(page, "an undo segment ends before its tail").into());
                }
                PageEnd::Next(next) if !ends_here => {
                    (unread.page, unread.offset) = (next, RECORDS);
                    continue;
                }
                PageEnd::Next(_) => purged.head != unread.tail,
                PageEnd::InFlight => false,
            };
            let mut found = std::mem::take(&mut unread.found);
            if gives_pages_back {
                // It takes the place of what counted as one.
                let (csn, last, end_page) = (Lsn::ZERO, UndoPtr::NONE, unread.tail);
                found.push_back(HistoryEntry { csn, last, end_page, needs_purge: false });
            } else {
                metrics::TRX_RSEG_HISTORY_LEN.subtract(1);
            }
            let mut history = self.history.lock();
            found.append(&mut history);
            *history = found;
            *held = None;
            return Ok(true);
        }
        Ok(false)
    }
}

impl Unread {
    /// Notes the committed transactions of the page. Whoever has no Commit record was rolled back, or is in flight.
    fn read_page(
        &mut self,
        page: &Page,
        segment: u16,
        last_purged: UndoPtr,
    ) -> Result<PageEnd, &'static str> {
        let state = TailState::read(page, segment)?;
        let used = if self.page == self.tail { self.used } else { state.used.into() };
        let mut end = PageEnd::Next(PageNo(page.u32_at(NEXT)));
        let mut found = Vec::new();
        let mut offset = self.offset;
        while offset < used {
            let (record, len) = UndoRecord::read(page, offset).map_err(|_| "not an undo record")?;
            if Some(record.writer) == self.in_flight {
                end = PageEnd::InFlight;
                break;
            }
            let (place, is_commit) = (UndoPtr::new(self.page, offset as u16), record.undo == Undo::Commit);
            if place == last_purged {
                if !is_commit {
                    return Err("what has been purged last is not a commit record");
                }
            } else if is_commit {
                found.push(place);
            }
            offset += len;
        }
        metrics::TRX_RSEG_HISTORY_LEN.add(found.len() as u64);
        let end_page = self.page;
        self.found.extend(found.into_iter().map(|last| HistoryEntry {
            csn: Lsn::ZERO,
            last,
            end_page,
            needs_purge: true,
        }));
        Ok(end)
    }
}
