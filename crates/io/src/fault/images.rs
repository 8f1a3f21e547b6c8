//! What a file and the names of a directory are: as shown, as the disk has it, and the changes between.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use palisade_base::prng::Prng;

use super::{BLOCK, CrashKeeps, FileId, Names, SECTOR};
use crate::sparse::SparseBytes;

#[derive(Default)]
pub(super) struct Images {
    pub(super) shown: SparseBytes,
    pub(super) durable: SparseBytes,
    pub(super) pending: Vec<Change>,
    /// Blocks of [`BLOCK`] bytes that a sync of this file has found written: where they are on the disk is
    /// durable.
    pub(super) found: BTreeSet<u64>,
    /// A sync has failed: what is shown may never be durable.
    has_lost: bool,
}

pub(super) enum Change {
    /// Where `whole` it is kept or lost as a whole.
    Write {
        offset: u64,
        bytes: Vec<u8>,
        whole: bool,
        /// It is past the operating system's cache.
        direct: bool,
    },
    SetLen {
        len: u64,
    },
    Allocate {
        offset: u64,
        len: u64,
    },
    PunchHole {
        offset: u64,
        len: u64,
    },
}

#[derive(Clone)]
pub(super) enum NameChange {
    Create { path: PathBuf, file: FileId },
    Remove { path: PathBuf },
    Rename { from: PathBuf, to: PathBuf },
}

impl Images {
    pub(super) fn change(&mut self, change: Change) {
        change.apply(&mut self.shown);
        self.pending.push(change);
    }

    pub(super) fn sync(&mut self) {
        for change in self.pending.drain(..) {
            change.apply(&mut self.durable);
            match change {
                Change::Write { offset, bytes, .. } => self.found.extend(blocks(offset, bytes.len() as u64)),
                Change::PunchHole { offset, len } => {
                    self.found.retain(|block| !blocks(offset, len).contains(block));
                }
                Change::SetLen { len } => drop(self.found.split_off(&(len / BLOCK))),
                Change::Allocate { .. } => {}
            }
        }
    }

    /// The device's cache is emptied, by a sync of another file: direct writes to where the file is found are
    /// durable, but for what overlaps with other changes from before.
    pub(super) fn empty_cache(&mut self) {
        let (mut others, mut cut) = (BTreeSet::new(), u64::MAX);
        let (found, durable) = (&self.found, &mut self.durable);
        self.pending.retain(|change| {
            let range = match change {
                Change::Write { offset, bytes, direct, .. } => {
                    let range = blocks(*offset, bytes.len() as u64);
                    let is_free = |block: &u64| *block < cut && !others.contains(block);
                    if *direct && range.clone().all(|block| found.contains(&block) && is_free(&block)) {
                        change.apply(durable);
                        return false;
                    }
                    range
                }
                Change::PunchHole { offset, len } | Change::Allocate { offset, len } => blocks(*offset, *len),
                Change::SetLen { len } => {
                    cut = cut.min(len / BLOCK);
                    0..0
                }
            };
            others.extend(range);
            true
        });
    }

    /// Settles pending changes by chance without bringing the shown image in line: a failed sync.
    pub(super) fn fail_sync(&mut self, random: &mut Prng) {
        self.has_lost = true;
        for change in self.pending.drain(..) {
            change.apply_partly(&mut self.durable, random);
        }
    }

    pub(super) fn crash(&mut self, keeps: CrashKeeps, random: &mut Prng) {
        match keeps {
            CrashKeeps::Synced => self.pending.clear(),
            CrashKeeps::Everything => self.sync(),
            CrashKeeps::Random => self.fail_sync(random),
        }
        self.shown = self.durable.clone();
        self.has_lost = false;
    }

    /// The process is killed: what is pending stays so, but where a sync has failed nothing is shown any more
    /// that is not durable.
    pub(super) fn kill(&mut self, random: &mut Prng) {
        if self.has_lost {
            self.crash(CrashKeeps::Everything, random);
        }
    }
}

impl Change {
    pub(super) fn apply(&self, image: &mut SparseBytes) {
        match self {
            Change::Write { offset, bytes, .. } => image.write(bytes, *offset),
            Change::SetLen { len } => image.set_len(*len),
            Change::Allocate { offset, len } => image.allocate(*offset, *len),
            Change::PunchHole { offset, len } => image.punch_hole(*offset, *len),
        }
    }

    /// Kept, lost, or (writes) torn: each sector kept or lost.
    pub(super) fn apply_partly(&self, image: &mut SparseBytes, random: &mut Prng) {
        match (random.below(3), self) {
            (0, _) => {}
            (1, Change::Write { whole: false, .. }) => self.apply_keeping(image, &mut |_| random.one_in(2)),
            _ => self.apply(image),
        }
    }

    /// A write: those of its sectors that `keeps` says, by their number in the file. Anything else as a
    /// whole.
    pub(super) fn apply_keeping(&self, image: &mut SparseBytes, keeps: &mut dyn FnMut(u64) -> bool) {
        let Change::Write { offset, bytes, whole, .. } = self else { return self.apply(image) };
        if *whole {
            if keeps(offset / SECTOR) {
                self.apply(image);
            }
            return;
        }
        let end = offset + bytes.len() as u64;
        let mut start = *offset;
        while start < end {
            let next = (start / SECTOR * SECTOR + SECTOR).min(end);
            if keeps(start / SECTOR) {
                image.write(&bytes[(start - offset) as usize..(next - offset) as usize], start);
            }
            start = next;
        }
    }
}

impl NameChange {
    pub(super) fn dir(&self) -> &Path {
        let (NameChange::Create { path, .. }
        | NameChange::Remove { path }
        | NameChange::Rename { to: path, .. }) = self;
        path.parent().unwrap_or(Path::new(""))
    }

    /// The file that comes into being.
    pub(super) fn created(&self) -> Option<FileId> {
        match self {
            NameChange::Create { file, .. } => Some(*file),
            NameChange::Remove { .. } | NameChange::Rename { .. } => None,
        }
    }

    pub(super) fn apply(&self, names: &mut Names) {
        match self {
            NameChange::Create { path, file } => {
                names.insert(path.clone(), *file);
            }
            NameChange::Remove { path } => {
                names.remove(path);
            }
            NameChange::Rename { from, to } => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
        }
    }
}

/// The blocks that a range touches.
pub(super) fn blocks(offset: u64, len: u64) -> std::ops::Range<u64> {
    offset / BLOCK..(offset + len).div_ceil(BLOCK)
}
