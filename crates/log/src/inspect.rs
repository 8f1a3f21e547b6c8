//! What the files of a log look like from outside, without opening it: for the offline check.
//!
//! Whether what the files hold is whole is for [`LogReader`](crate::LogReader) to say, which follows the
//! groups. Here is what it does not tell: that one of the two checkpoint records is damaged while the other
//! is good, and which files are no part of the sequence.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use palisade_base::Lsn;
use palisade_io::{AlignedBuf, FileSystem, OpenMode};

use crate::checkpoint::{Checkpoint, SLOT, path};
use crate::segments::{SMALLEST, UNIT, list};

/// One of the two places for a checkpoint record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointSlot {
    /// Nothing was ever written there.
    Empty,
    /// A record that is whole.
    Sound {
        /// Its number; the higher one counts.
        sequence: u64,
        /// Where reading begins.
        lsn: Lsn,
        /// Everything below was durable when it was written.
        durable: Lsn,
    },
    /// Something else.
    Damaged,
}

/// A segment's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentFile {
    /// The file.
    pub path: PathBuf,
    /// Its number in the sequence.
    pub number: u64,
    /// Bytes.
    pub size: u64,
    /// Whether a segment can have this length.
    pub is_sound: bool,
}

/// The files of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFiles {
    /// The places for checkpoint records; none if there is no checkpoint file.
    pub checkpoints: Vec<CheckpointSlot>,
    /// Segments in order of their numbers.
    pub segments: Vec<SegmentFile>,
}

impl LogFiles {
    /// Bytes of all segments.
    pub fn size(&self) -> u64 {
        self.segments.iter().map(|segment| segment.size).sum()
    }
}

/// The file that holds the checkpoint records of the log in `dir`.
pub fn checkpoint_path(dir: &Path) -> PathBuf {
    path(dir)
}

/// Looks at the files of the log in `dir`.
pub fn inspect(fs: &dyn FileSystem, dir: &Path) -> std::io::Result<LogFiles> {
    let mut files = LogFiles::default();
    if fs.exists(&path(dir))? {
        let file = fs.open(&path(dir), OpenMode::EXISTING)?;
        let mut slots = AlignedBuf::zeroed(2 * SLOT);
        let len = file.len()?.min(slots.len() as u64) as usize;
        file.read_at(slots.get_mut(..len).unwrap_or_default(), 0)?;
        files.checkpoints = slots.chunks(SLOT).map(look_at).collect();
    }
    if !fs.exists(dir)? {
        return Ok(files);
    }
    for (number, path) in list(fs, dir)? {
        let size = fs.open(&path, OpenMode::EXISTING)?.len()?;
        let is_sound = size >= SMALLEST && size.is_multiple_of(UNIT);
        files.segments.push(SegmentFile { path, number, size, is_sound });
    }
    Ok(files)
}

fn look_at(slot: &[u8]) -> CheckpointSlot {
    match Checkpoint::decode(slot) {
        Ok(Some(Checkpoint { sequence, lsn, durable, .. })) => {
            CheckpointSlot::Sound { sequence, lsn, durable }
        }
        _ if slot.iter().all(|byte| *byte == 0) => CheckpointSlot::Empty,
        _ => CheckpointSlot::Damaged,
    }
}
