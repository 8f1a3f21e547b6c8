//! Which syncs of a file are left out, and why that is right.
//!
//! A file is opened with a [`Syncing`]. [`SyncRule`] is what a file keeps to follow it: whether something is to be synced at all is
//! a comparison of two numbers,
//!
//! ```text
//!   changed   grows when the file changes in a way that this file's rule wants synced
//!   synced    what `changed` was before the last sync that has ended
//! ```
//!
//! so that a sync under way counts for nobody who changed the file after it began, and nobody relies on one that has not ended.
//!
//! [`Syncing::Metadata`] leaves contents to the device and syncs what the file system would otherwise not find again: a length,
//! and space. Space is taken when a place is written for the first time, also where it was allocated or punched before, so a
//! block's first write since the file was opened counts as such a change; the blocks written since are a bit each.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// When what is written to a file becomes durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syncing {
    /// By [`File::sync`](crate::File::sync).
    #[default]
    OnRequest,
    /// Before a write returns, as with `O_DSYNC`; a sync is left with lengths and space.
    EachWrite,
    /// Contents when the device pleases; a sync makes durable only where they are found: lengths, and space.
    Metadata,
    /// When the operating system pleases: a sync does nothing.
    Never,
}

/// The changes that a sync under way covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due(u64);

/// The file system gives space in units of this.
const BLOCK: u64 = 4096;

/// What a file keeps in order to know which syncs to leave out.
pub(crate) struct SyncRule {
    syncing: Syncing,
    changed: AtomicU64,
    synced: AtomicU64,
    /// Blocks written since the file was opened; with [`Syncing::Metadata`] only.
    written: Mutex<Vec<u64>>,
}

impl SyncRule {
    pub(crate) fn new(syncing: Syncing) -> SyncRule {
        // Nobody knows what was done to the file before.
        let (changed, synced) = (AtomicU64::new(1), AtomicU64::new(0));
        SyncRule { syncing, changed, synced, written: Mutex::new(Vec::new()) }
    }

    pub(crate) fn is_each_write(&self) -> bool {
        self.syncing == Syncing::EachWrite
    }

    /// `[offset, offset + len)` has been written.
    pub(crate) fn wrote(&self, offset: u64, len: u64) {
        let counts = match self.syncing {
            Syncing::OnRequest => true,
            Syncing::EachWrite | Syncing::Never => false,
            Syncing::Metadata => self.is_first(offset, len),
        };
        if counts {
            self.note_change();
        }
    }

    /// Length or space has changed otherwise.
    pub(crate) fn resized(&self) {
        self.note_change();
    }

    /// The space of `[offset, offset + len)` was given back.
    pub(crate) fn punched(&self, offset: u64, len: u64) {
        if self.syncing == Syncing::Metadata {
            let mut written = self.written.lock();
            for (word, bit) in places(offset, len) {
                if let Some(word) = written.get_mut(word) {
                    *word &= !bit;
                }
            }
        }
        self.note_change();
    }

    /// Syncs by `sync`, if the rule wants it.
    pub(crate) fn sync<E>(&self, sync: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        if let Some(due) = self.due() {
            sync()?;
            self.ended(due);
        }
        Ok(())
    }

    /// What a sync that begins now would cover, if the rule wants one.
    pub(crate) fn due(&self) -> Option<Due> {
        let changed = self.changed.load(Ordering::SeqCst);
        let is_due = match self.syncing {
            Syncing::OnRequest => true,
            Syncing::Never => false,
            Syncing::EachWrite | Syncing::Metadata => self.synced.load(Ordering::SeqCst) < changed,
        };
        is_due.then_some(Due(changed))
    }

    /// The sync that began when `due` was asked for has ended well.
    pub(crate) fn ended(&self, due: Due) {
        self.synced.fetch_max(due.0, Ordering::SeqCst);
    }

    fn note_change(&self) {
        self.changed.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether a block of the range has not been written before; it has from now on.
    fn is_first(&self, offset: u64, len: u64) -> bool {
        let mut written = self.written.lock();
        let mut any = false;
        for (word, bit) in places(offset, len) {
            if word >= written.len() {
                written.resize(word + 1, 0);
            }
            any |= written[word] & bit == 0;
            written[word] |= bit;
        }
        any
    }
}

/// The bits of the blocks that a range touches: word and mask of each.
fn places(offset: u64, len: u64) -> impl Iterator<Item = (usize, u64)> {
    let blocks = offset / BLOCK..(offset + len).div_ceil(BLOCK);
    blocks.map(|block| ((block / 64) as usize, 1 << (block % 64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a sync now would reach the disk.
    fn reaches(rule: &SyncRule) -> bool {
        let mut reached = false;
        let synced = rule.sync(|| {
            reached = true;
            Ok::<(), ()>(())
        });
        assert_eq!(synced, Ok(()));
        reached
    }

    #[test]
    fn on_request_every_sync_reaches_the_disk_and_never_none_does() {
        let (always, never) = (SyncRule::new(Syncing::OnRequest), SyncRule::new(Syncing::Never));
        for _ in 0..2 {
            assert!(reaches(&always) && !reaches(&never));
            always.wrote(0, 1);
            never.wrote(0, 1);
            never.resized();
        }
    }

    #[test]
    fn where_each_write_is_durable_a_sync_is_for_lengths_and_space() {
        let rule = SyncRule::new(Syncing::EachWrite);
        assert!(reaches(&rule), "the file may have been made just now");
        rule.wrote(0, 100);
        assert!(!reaches(&rule));
        rule.resized();
        assert!(reaches(&rule) && !reaches(&rule));
    }

    #[test]
    fn the_first_write_of_a_block_is_synced_and_the_next_is_not() {
        let rule = SyncRule::new(Syncing::Metadata);
        assert!(reaches(&rule) && !reaches(&rule));
        rule.wrote(64 * BLOCK - 1, 2);
        assert!(reaches(&rule), "two blocks, in two words, were not written before");
        for offset in [63 * BLOCK, 64 * BLOCK] {
            rule.wrote(offset, BLOCK);
            assert!(!reaches(&rule));
        }
        rule.wrote(64 * BLOCK, BLOCK + 1);
        assert!(reaches(&rule), "the block after them was not");
        rule.punched(63 * BLOCK, BLOCK);
        assert!(reaches(&rule));
        rule.wrote(64 * BLOCK, BLOCK);
        assert!(!reaches(&rule));
        rule.wrote(63 * BLOCK, 1);
        assert!(reaches(&rule), "its space was given back");
    }

    #[test]
    fn a_change_during_a_sync_wants_another() {
        let rule = SyncRule::new(Syncing::Metadata);
        let synced = rule.sync(|| {
            rule.resized();
            Ok::<(), ()>(())
        });
        assert_eq!(synced, Ok(()));
        assert!(reaches(&rule) && !reaches(&rule));
        rule.resized();
        assert_eq!(rule.sync(|| Err("EIO")), Err("EIO"));
        assert!(reaches(&rule), "a sync that failed counts for nothing");
    }
}
