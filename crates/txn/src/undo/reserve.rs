//! The reserve of undo: what lets rows be deleted when the disk is full.
//!
//! To delete a row takes undo, and undo takes pages. If the disk is full to the last page, nothing can be
//! deleted, so nothing can be freed by deleting. Therefore some pages of the undo space are kept for that:
//! free pages whose room on the disk is certain ([`alloc::ensure_free`]).
//!
//! ```text
//! free pages of the undo space, once the disk has no more
//!   0 ............... half ............... reserve ............
//!   | deletes only    | all statements that need no more room in tables
//! ```
//!
//! *Relief* - deleting rows, dropping and truncating tables - may take all of it, and fails as on a full disk
//! when nothing is left. All other changes leave half of it: so what insert and update rows in the room that
//! deletes have made in the tables' files goes on too, and cannot take the last pages that a delete needs.
//! Pages that purge gives back count again; what is then still missing is taken from the disk as soon as it
//! has room, once a second at most ([`TrxSystem::refill_undo_step`]), and whenever undo grows.
//!
//! Nothing else that a delete needs can be refused by a full disk: it marks entries in place; the redo log
//! and the doublewrite file have all their room from the beginning; to commit takes no page (see
//! [`Segment::place`](crate::undo::Segment::place)); a rollback takes none for what it undoes of a delete,
//! nor does purge.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::atomic::{AtomicU32, Ordering};

use palisade_base::{Blocked, PageNo};
use palisade_btree::alloc::{self, Kept};
use palisade_btree::layout::space::EXTENT_PAGES;
use parking_lot::Mutex;

use crate::error::{Attempt, Error};
use crate::metrics;
use crate::system::TrxSystem;
use crate::undo::UndoSpace;

/// How often the reserve is looked at, microseconds.
const EVERY_US: i64 = 1_000_000;

/// What undo pages are wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Purpose {
    /// Any change.
    #[default]
    Ordinary,
    /// Something that frees room: it may take the reserve.
    Relief,
}

/// How complete the reserve is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoReserve {
    /// Bytes that are there.
    pub free: u64,
    /// Bytes that there should be.
    pub wanted: u64,
    /// Whether the disk had room for what was missing.
    pub is_complete: bool,
}

/// The reserve.
#[derive(Default)]
pub(crate) struct Reserve {
    /// Its pages; 0 is no reserve.
    pages: AtomicU32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When it is looked at again, microseconds since 1970.
    next_us: i64,
    /// Whether the pages beyond the high-water mark are known to have their room: the file may have been
    /// copied without them.
    is_backed: bool,
    /// Whether it has been told to be incomplete.
    is_short: bool,
}

impl Reserve {
    /// What an allocation leaves.
    pub(crate) fn kept(&self, purpose: Purpose) -> Kept {
        match purpose {
            Purpose::Relief => Kept::default(),
            Purpose::Ordinary => {
                let pages = self.pages.load(Ordering::Relaxed);
                Kept { wanted: pages, least: pages / 2 }
            }
        }
    }
}

impl TrxSystem {
    /// Keeps so many bytes of undo pages for deletes on a full disk, in whole extents (64 pages); 0 keeps
    /// none.
    pub fn set_undo_reserve(&self, bytes: u64) {
        let size = self.undo.space().page_size();
        let extents = bytes.div_ceil(size.bytes_of(EXTENT_PAGES.into()));
        let pages = u32::try_from(extents).unwrap_or(u32::MAX).saturating_mul(EXTENT_PAGES);
        self.undo.reserve.pages.store(pages, Ordering::Relaxed);
        self.undo.reserve.state.lock().next_us = 0;
    }

    /// Looks whether the reserve is complete, and takes from the disk what is missing. Tells of it if the
    /// disk has become too full for that, or is not any more; nothing if it is not time yet, or another
    /// thread does it. Waits for: a page, the file to be extended.
    pub fn refill_undo_step(&self) -> Attempt<Option<UndoReserve>> {
        self.undo.refill_step(self.now_us())
    }
}

impl UndoSpace {
    fn refill_step(&self, now_us: i64) -> Attempt<Option<UndoReserve>> {
        let Some(mut state) = self.reserve.state.try_lock() else { return Ok(None) };
        let pages = self.reserve.pages.load(Ordering::Relaxed);
        // A clock that has been set back must not keep it from being looked at.
        let is_due = now_us >= state.next_us || state.next_us - now_us > EVERY_US;
        if !is_due {
            return Ok(None);
        }
        if pages == 0 {
            metrics::TRX_UNDO_RESERVE.set(0);
            state.next_us = now_us + EVERY_US;
            return Ok(None);
        }
        let is_complete = match self.fill(pages, state.is_backed) {
            Err(Blocked::Error(Error::Store(palisade_btree::Error::NoSpace(_)))) => false,
            outcome => {
                outcome?;
                state.is_backed = true;
                true
            }
        };
        let usage = alloc::usage(self.space()).map_err(Blocked::up::<Error>)?;
        let beyond = self.space().pages().saturating_sub(usage.high_water);
        let free = usage.scattered.saturating_add(beyond).min(pages);
        let bytes = |pages: u32| self.space().page_size().bytes_of(pages.into());
        metrics::TRX_UNDO_RESERVE.set(bytes(free));
        state.next_us = now_us + EVERY_US;
        if state.is_short != is_complete {
            return Ok(None);
        }
        state.is_short = !is_complete;
        Ok(Some(UndoReserve { free: bytes(free), wanted: bytes(pages), is_complete }))
    }

    fn fill(&self, pages: u32, is_backed: bool) -> Attempt<()> {
        alloc::ensure_free(self.space(), pages).map_err(Blocked::up)?;
        if is_backed {
            return Ok(());
        }
        let usage = alloc::usage(self.space()).map_err(Blocked::up::<Error>)?;
        let beyond = self.space().pages().saturating_sub(usage.high_water);
        match beyond {
            0 => Ok(()),
            _ => self.space().ensure_backed(PageNo(usage.high_water), beyond).map_err(Blocked::up),
        }
    }
}
