//! Giving the room of undo pages that nobody needs back to the disk.
//!
//! A snapshot that stays open for hours leaves gigabytes of undo behind, which purge makes free pages of when it has been closed:
//! free for more undo, but for nobody else on the disk. So when many pages have become free, the extents that are wholly free lose
//! their room: they become holes in the file.
//!
//! Recovery must not miss what a hole has lost. Of an extent that was free when the log had come to some LSN, and that nobody has
//! used since, recovery repeats nothing once a checkpoint has passed that LSN. (If it is used and free again, a later
//! checkpoint may stand between the formatting of a page and its other changes.) And nobody finds a full disk too late: who
//! takes a page of a free extent makes sure first that it has room ([`palisade_buffer::Space::ensure_backed`]).
//!
//! Some extents keep their room, so that a history that comes and goes does not make holes all the time
//! ([`TrxSystem::set_undo_kept`]).

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::{Blocked, Lsn, PageNo};
use palisade_btree::alloc;
use palisade_btree::layout::space::EXTENT_PAGES;
use parking_lot::Mutex;

use crate::error::{Attempt, Error};
use crate::metrics;
use crate::planted::{Planted, makes};
use crate::system::TrxSystem;
use crate::undo::UndoSpace;

/// Extents that lose their room before others get their turn.
const STEP: usize = 64;
/// All free extents keep their room.
const EVERYTHING: u64 = u64::MAX;

/// How free undo pages lose their room.
pub(crate) struct Trim {
    /// Bytes of free extents that keep their room, and as many must have become free before it is worth while to look.
    kept: AtomicU64,
    progress: Mutex<Progress>,
}

/// How far it has come.
#[derive(Default)]
struct Progress {
    /// How many pages had become free when it looked last.
    seen: u64,
    /// Extents that were free, and where all that had been logged until then ends.
    free: Vec<PageNo>,
    since: Lsn,
    /// The file system has no holes.
    has_failed: bool,
}

impl Default for Trim {
    fn default() -> Self {
        Trim { kept: AtomicU64::new(EVERYTHING), progress: Mutex::default() }
    }
}

impl TrxSystem {
    /// How many bytes of free undo pages keep their room on the disk; at least an extent (64 pages) does.
    /// `None`, as it is at first: all of them.
    pub fn set_undo_kept(&self, bytes: Option<u64>) {
        let kept = bytes.map_or(EVERYTHING, |bytes| bytes.max(self.undo.extent_bytes()));
        self.undo.trim.kept.store(kept, Ordering::Relaxed);
    }

    /// Gives the room of some unused undo pages back to the disk; false if there is nothing to do now. Waits for: pages.
    /// Blocks: for the file system.
    pub fn trim_undo_step(&self) -> Attempt<bool> {
        self.undo.trim_step()
    }
}

impl UndoSpace {
    fn extent_bytes(&self) -> u64 {
        self.space().page_size().bytes_of(EXTENT_PAGES.into())
    }

    fn trim_step(&self) -> Attempt<bool> {
        let kept = self.trim.kept.load(Ordering::Relaxed);
        let Some(mut progress) = self.trim.progress.try_lock() else { return Ok(false) };
        if kept == EVERYTHING || progress.has_failed {
            progress.free.clear();
            return Ok(false);
        }
        if progress.free.is_empty() {
            let freed = self.freed.load(Ordering::Relaxed);
            if freed.saturating_sub(progress.seen) < kept / self.space().page_size().bytes() as u64 {
                return Ok(false);
            }
            let kept = usize::try_from(kept / self.extent_bytes()).unwrap_or(usize::MAX);
            progress.free = alloc::free_extents(self.space(), kept).map_err(Blocked::up)?;
            (progress.seen, progress.since) = (freed, self.log().reserved());
        }
        if self.log().checkpoint_lsn() < progress.since && !makes(Planted::RoomGoesBeforeCheckpoint) {
            return Ok(false);
        }
        let before = progress.free.len();
        for _ in 0..STEP {
            let Some(&first) = progress.free.last() else { break };
            if let Err(blocked) = alloc::give_back_extent(self.space(), first) {
                // What the file system does not do it will not do the next time.
                progress.has_failed = matches!(blocked, Blocked::Error(_));
                return Err(blocked.up::<Error>());
            }
            progress.free.pop();
        }
        if before > 0 && progress.free.is_empty() {
            metrics::UNDO_TRUNCATE_COUNT.increment();
        }
        Ok(true)
    }
}
