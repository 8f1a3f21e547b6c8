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
//!
//! A snapshot that stays open for hours holds millions of transactions back, and a crash leaves as many to be found. So when many
//! wait in a segment, those that come, or are read, are noted as *runs*: where the last one's Commit record is, and that all may go
//! when it may. A run whose turn has come is read from the chain, too.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::cycle::CycleGuard;
use palisade_base::{Blocked, Lsn, PageNo, TrxId};
use palisade_buffer::{Page, PageRead};
use parking_lot::Mutex;

use crate::emptied::EmptiedLeaf;
use crate::entry::UndoPtr;
use crate::error::{Attempt, Error};
use crate::metrics;
use crate::undo::page::{NEXT, RECORDS, TailState};
use crate::undo::record::RECORD_HEADER;
use crate::undo::segment::{UndoSpace, corrupted};
use crate::undo::{Undo, UndoRecord};

/// What purge knows of a segment.
pub(crate) struct SegmentShared {
    pub(crate) number: u16,
    /// Ended transactions whose undo is still there; what a restart has left unread counts as one.
    length: AtomicU64,
    /// They; those from before a restart once they have been read.
    history: Mutex<History>,
    /// Held by whoever purges the segment.
    pub(crate) purged: Mutex<Purged>,
    /// What is being read: what a restart has left, or a run. Latched before the history.
    unread: Mutex<Option<Unread>>,
}

/// Ended transactions.
#[derive(Default)]
struct History {
    /// Oldest first.
    entries: VecDeque<HistoryEntry>,
    /// How many transactions these are.
    transactions: u64,
}

/// Transactions of a segment that are noted one by one; the tests have few of them.
pub(crate) const SINGLES: usize = if cfg!(test) { 3 } else { 1024 };
/// Transactions in a run.
pub(crate) const RUN: u32 = if cfg!(test) { 5 } else { 1024 };

/// The id of no transaction, above all others.
const NOBODY: TrxId = TrxId(u64::MAX);

const _: () = assert!(SINGLES > 1, "what purge looks at is not what is added to");

/// How far a segment has been purged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Purged {
    /// First page of the chain.
    pub(crate) head: PageNo,
    /// The last Commit record that has been purged, if it is in the chain. What it leads to may not be.
    pub(crate) last: UndoPtr,
    /// The next record of the transaction being purged, whose newer ones have been dealt with.
    pub(crate) under_way: Option<UndoPtr>,
    /// Of that transaction's records.
    pub(crate) cycle: CycleGuard,
    /// A leaf that is to be merged first.
    pub(crate) emptied: EmptiedLeaf,
}

impl Purged {
    /// Nothing of a chain that begins with this page.
    pub(crate) fn nothing(head: PageNo) -> Self {
        Purged {
            head,
            last: UndoPtr::NONE,
            under_way: None,
            cycle: CycleGuard::default(),
            emptied: EmptiedLeaf::default(),
        }
    }
}

/// A transaction that has ended, or a run of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HistoryEntry {
    /// The lowest id of them; [`NOBODY`] if these are pages without any.
    pub(crate) id: TrxId,
    /// How many transactions.
    pub(crate) count: u32,
    /// Purge may go on when every snapshot sees this.
    pub(crate) csn: Lsn,
    /// Its newest record; none if it was rolled back. Of a run the last Commit record.
    pub(crate) last: UndoPtr,
    /// The segment's tail when it ended: pages before are no longer needed.
    pub(crate) end_page: PageNo,
    /// Whether there is more to do than to give back pages.
    pub(crate) needs_purge: bool,
}

/// A part of a chain in which the Commit records are to be found.
struct Unread {
    /// Where to go on.
    page: PageNo,
    offset: usize,
    /// Its last page, and the end of the records on it.
    tail: PageNo,
    used: usize,
    /// Who was in flight in the segment.
    in_flight: Option<TrxId>,
    /// The pages before are no longer needed when all that is found has been purged.
    end_page: PageNo,
    /// No lower id is in it.
    id: TrxId,
    /// Transactions that are known to be in it.
    known: u64,
    found: History,
    /// Of its pages.
    cycle: CycleGuard,
    /// What is wrong with the page, which has been read and leads nowhere.
    broken: Option<&'static str>,
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
        Self::with(number, Purged::nothing(head), None)
    }

    /// A segment as a restart finds it: its tail, what that says, and who is in flight there.
    pub(crate) fn found(
        number: u16,
        purged: Purged,
        tail: PageNo,
        state: &TailState,
        in_flight: Option<TrxId>,
    ) -> Self {
        let unread = Unread::behind(&purged, tail, state.used.into(), in_flight, TrxId::NONE);
        let found = Self::with(number, purged, Some(unread));
        found.count(1, 0);
        found
    }

    fn with(number: u16, purged: Purged, unread: Option<Unread>) -> Self {
        let (history, purged, unread) = (Mutex::default(), Mutex::new(purged), Mutex::new(unread));
        SegmentShared { number, length: AtomicU64::new(0), history, purged, unread }
    }

    /// The history is longer by `more` transactions, and shorter by `fewer`.
    fn count(&self, more: u64, fewer: u64) {
        self.length.fetch_add(more.wrapping_sub(fewer), Ordering::Relaxed);
        metrics::TRX_RSEG_HISTORY_LEN.add(more.wrapping_sub(fewer));
    }

    /// The segment's user has ended a transaction.
    pub(crate) fn push(&self, entry: HistoryEntry) {
        self.history.lock().push(entry);
        self.count(1, 0);
    }

    /// The oldest of those that have ended. A run is read first, and then is none.
    pub(crate) fn oldest(&self) -> Option<HistoryEntry> {
        self.history.lock().entries.front().copied()
    }

    /// The oldest has been purged.
    #[expect(clippy::expect_used, reason = "what purge has just done, not what a page says")]
    pub(crate) fn pop(&self) {
        let mut history = self.history.lock();
        let oldest = history.entries.pop_front().expect("what has been purged was the oldest");
        history.transactions -= u64::from(oldest.count);
        drop(history);
        self.count(0, oldest.count.into());
    }

    /// How many notes it takes to know of them.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn notes(&self) -> usize {
        let unread = self.unread.lock();
        unread.as_ref().map_or(0, |unread| unread.found.entries.len()) + self.history.lock().entries.len()
    }

    /// Begins to read the run that is the oldest.
    #[expect(clippy::expect_used, reason = "what purge has just seen, not what a page says")]
    pub(crate) fn open_run(&self, purged: &Purged) {
        let mut unread = self.unread.lock();
        let mut history = self.history.lock();
        let run = history.entries.pop_front().expect("a run is there");
        history.transactions -= u64::from(run.count);
        let used = usize::from(run.last.offset()) + RECORD_HEADER;
        let part = Unread::behind(purged, run.last.page(), used, None, run.id);
        let part = Unread { end_page: run.end_page, known: run.count.into(), ..part };
        assert!(unread.replace(part).is_none(), "the history is not touched while something is unread");
    }

    /// Ended transactions whose undo is still there, as far as they are known; what a restart has left unread counts as one.
    pub(crate) fn history_length(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    /// No ended transaction whose undo is still there has a lower id; `None` if there is none at all.
    pub(crate) fn lowest_id(&self) -> Option<TrxId> {
        let unread = self.unread.lock();
        let unread =
            unread.as_ref().map(|unread| unread.found.entries.front().map_or(unread.id, |first| first.id));
        unread.or_else(|| {
            let history = self.history.lock();
            history.entries.iter().map(|entry| entry.id).find(|id| *id != NOBODY)
        })
    }

    /// Reads up to `pages` pages of what is unread. Says whether all has been read. Waits for: a page to be read.
    pub(crate) fn read_on(&self, undo: &UndoSpace, purged: &Purged, pages: usize) -> Attempt<bool> {
        let mut held = self.unread.lock();
        let Some(unread) = held.as_mut() else { return Ok(true) };
        for _ in 0..pages {
            let page = undo.space().shared(unread.page).map_err(Blocked::up::<Error>)?;
            if let Some(what) = unread.broken {
                return Err(corrupted(page.id(), what).into());
            }
            let before = unread.length();
            let end = unread.read_page(&page, self.number, purged.last);
            let end = end.map_err(|what| corrupted(undo.page_id(unread.page), what))?;
            drop(page);
            self.count(unread.length(), before);
            let ends_here = unread.page == unread.tail;
            let gives_pages_back = match end {
                PageEnd::Next(PageNo::NONE) if !ends_here => {
                    unread.broken = Some("an undo segment ends before its tail");
                    continue;
                }
                PageEnd::Next(next) if !ends_here => {
                    match unread.cycle.returns_to(next.0.into()) {
                        true => unread.broken = Some("the pages of an undo segment lead in a circle"),
                        false => (unread.page, unread.offset) = (next, RECORDS),
                    }
                    continue;
                }
                PageEnd::Next(_) => purged.head != unread.end_page,
                PageEnd::InFlight => false,
            };
            let counted = unread.length();
            let mut found = std::mem::take(&mut unread.found);
            if gives_pages_back {
                found.push(HistoryEntry::rolled_back(NOBODY, Lsn::ZERO, unread.end_page));
            }
            self.count(found.transactions, counted);
            self.history.lock().put_in_front(found);
            *held = None;
            return Ok(true);
        }
        Ok(false)
    }
}

impl History {
    fn push(&mut self, entry: HistoryEntry) {
        self.transactions += u64::from(entry.count);
        let is_long = self.entries.len() >= SINGLES;
        match self.entries.back_mut() {
            Some(run) if is_long && run.count < RUN => run.extend(&entry),
            _ => self.entries.push_back(entry),
        }
    }

    /// Those that ended before.
    fn put_in_front(&mut self, mut older: History) {
        older.entries.append(&mut self.entries);
        self.entries = older.entries;
        self.transactions += older.transactions;
    }
}

impl HistoryEntry {
    /// A transaction that committed as `csn` with the Commit record `last`.
    pub(crate) fn committed(id: TrxId, csn: Lsn, last: UndoPtr, end_page: PageNo, needs_purge: bool) -> Self {
        HistoryEntry { id, count: 1, csn, last, end_page, needs_purge }
    }

    /// A transaction that has been rolled back, whoever sees `csn` after its end; or pages without any.
    pub(crate) fn rolled_back(id: TrxId, csn: Lsn, end_page: PageNo) -> Self {
        HistoryEntry { id, count: 1, csn, last: UndoPtr::NONE, end_page, needs_purge: false }
    }

    /// Adds the next one.
    fn extend(&mut self, next: &HistoryEntry) {
        self.id = self.id.min(next.id);
        self.count += next.count;
        self.csn = self.csn.max(next.csn);
        if !next.last.is_none() {
            self.last = next.last;
        }
        self.end_page = next.end_page;
        self.needs_purge |= next.needs_purge;
    }
}

impl Unread {
    /// What comes behind what has been purged, up to `used` on the page `tail`.
    fn behind(purged: &Purged, tail: PageNo, used: usize, in_flight: Option<TrxId>, id: TrxId) -> Self {
        // What comes before the last purged Commit record has been purged, too.
        let (page, offset) = match purged.last.is_none() {
            true => (purged.head, RECORDS),
            false => (purged.last.page(), purged.last.offset().into()),
        };
        let (end_page, known, found) = (tail, 1, History::default());
        let cycle = CycleGuard::default();
        Unread { page, offset, tail, used, in_flight, end_page, id, known, found, cycle, broken: None }
    }

    /// How many transactions it counts as.
    fn length(&self) -> u64 {
        self.known.max(self.found.transactions)
    }

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
                found.push((record.writer, place));
            }
            offset += len;
        }
        let end_page = self.page;
        for (writer, last) in found {
            self.found.push(HistoryEntry::committed(writer, Lsn::ZERO, last, end_page, true));
        }
        Ok(end)
    }
}
