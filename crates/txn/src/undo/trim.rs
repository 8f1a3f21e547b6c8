//! Giving the room of undo pages that nobody needs back to the disk.
//!
//! A snapshot that stays open for hours leaves gigabytes of undo behind, which purge makes free pages of when it has been closed:
//! free for more undo, but for nobody else on the disk. So when many pages have become free, the extents that are wholly free lose
//! their room: they become holes in the file.
//!
//! Recovery must not miss what a hole has lost. Of an extent that was free when the log had come to some LSN, and that nobody has
//! used since, recovery repeats nothing once a checkpoint has passed that LSN. (If it is used and free again, a later
//! checkpoint may stand between the formatting of a page and its other changes.) And nobody finds a full disk too late: who takes a page of a free extent makes sure first that it has room
//! ([`palisade_buffer::Space::ensure_backed`]).
//!
//! Some extents keep their room, so that a history that comes and goes does not make holes all the time.

use std::sync::atomic::Ordering;

use palisade_base::{Blocked, Lsn, PageNo};
use palisade_btree::alloc;

use crate::error::{Attempt, Error};
use crate::system::TrxSystem;
use crate::undo::UndoSpace;

/// Free extents that keep their room: 64 MiB.
const KEPT: usize = if cfg!(test) { 1 } else { 64 };
/// It is worth while when so many pages have become free: 64 MiB.
const WORTH: u64 = if cfg!(test) { 64 } else { 4096 };
/// Extents that lose their room before others get their turn.
const STEP: usize = 64;

/// How far it has come.
#[derive(Default)]
pub(crate) struct Trim {
    /// How many pages had become free when it looked last.
    seen: u64,
    /// Extents that were free, and where all that had been logged until then ends.
    free: Vec<PageNo>,
    since: Lsn,
}

impl TrxSystem {
    /// Gives the room of some unused undo pages back to the disk; false if there is nothing to do now. Waits for: pages.
    /// Blocks: for the file system.
    pub fn trim_undo_step(&self) -> Attempt<bool> {
        self.undo.trim_step()
    }
}

impl UndoSpace {
    fn trim_step(&self) -> Attempt<bool> {
        let Some(mut trim) = self.trim.try_lock() else { return Ok(false) };
        if trim.free.is_empty() {
            let freed = self.freed.load(Ordering::Relaxed);
            if freed.saturating_sub(trim.seen) < WORTH {
                return Ok(false);
            }
            trim.free = alloc::free_extents(self.space(), KEPT).map_err(Blocked::up)?;
            (trim.seen, trim.since) = (freed, self.log().reserved());
        }
        if self.log().checkpoint_lsn() < trim.since {
            return Ok(false);
        }
        for _ in 0..STEP {
            let Some(&first) = trim.free.last() else { break };
            if let Err(blocked) = alloc::give_back_extent(self.space(), first) {
                if let Blocked::Error(_) = blocked {
                    // What the file system does not do it will not do the next time.
                    trim.free.clear();
                    trim.seen = u64::MAX;
                }
                return Err(blocked.up::<Error>());
            }
            trim.free.pop();
        }
        Ok(true)
    }
}
