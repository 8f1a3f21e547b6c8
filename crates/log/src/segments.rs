//! The log's files.
//!
//! The physical log is one endless sequence of positions, cut into segments of equal size; segment `n` is the file
//! `log.n`. Files are created zero-written, so that a flush changes no metadata, and a segment before the checkpoint
//! is renamed to follow the last one. The log thus never needs space at a moment when it could be refused. What a
//! renamed file still holds is told from the log by the position in every group.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_io::{AlignedBuf, File, FileSystem, OpenMode};

use crate::metrics;

const PREFIX: &str = "log.";
const ZEROS: usize = 1 << 20;

/// The segment files; `files` is kept without gaps.
pub(crate) struct Segments {
    fs: Arc<dyn FileSystem>,
    dir: PathBuf,
    size: u64,
    direct: bool,
    files: BTreeMap<u64, Arc<dyn File>>,
    /// Renamed to follow `files`, but not durably yet.
    renamed: BTreeMap<u64, Arc<dyn File>>,
}

impl Segments {
    /// Creates the segments from 0 on, durably, in place of any that are there.
    pub(crate) fn create(
        fs: Arc<dyn FileSystem>,
        dir: &Path,
        size: u64,
        direct: bool,
        count: u64,
    ) -> io::Result<Segments> {
        for (_, path) in list(&*fs, dir)? {
            fs.remove(&path)?;
        }
        let mut segments = Segments::with(fs, dir, size, direct, BTreeMap::new());
        for number in 0..count {
            segments.add(number)?;
        }
        segments.fs.sync_dir(dir)?;
        Ok(segments)
    }

    /// Opens the segments that are there, from the one numbered `first` on, and makes their contents durable: what
    /// recovery reads must not be lost later.
    pub(crate) fn open(
        fs: Arc<dyn FileSystem>,
        dir: &Path,
        size: u64,
        direct: bool,
        first: u64,
    ) -> io::Result<Segments> {
        let mut files = BTreeMap::new();
        for ((number, path), expected) in list(&*fs, dir)?.range(first..).zip(first..) {
            if *number != expected {
                break;
            }
            let file = fs.open(path, Self::mode(OpenMode::EXISTING, direct))?;
            if file.len()? < size {
                break;
            }
            file.sync()?;
            files.insert(*number, file);
        }
        Ok(Segments::with(fs, dir, size, direct, files))
    }

    fn with(
        fs: Arc<dyn FileSystem>,
        dir: &Path,
        size: u64,
        direct: bool,
        files: BTreeMap<u64, Arc<dyn File>>,
    ) -> Segments {
        Segments { fs, dir: dir.to_owned(), size, direct, files, renamed: BTreeMap::new() }
    }

    fn mode(mode: OpenMode, direct: bool) -> OpenMode {
        if direct { mode.direct() } else { mode }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{PREFIX}{number:012}"))
    }

    /// Creates one segment, zero-written and synced; its name is not durable yet.
    fn add(&mut self, number: u64) -> io::Result<()> {
        let file = self.fs.open(&self.path(number), Self::mode(OpenMode::CREATE, self.direct))?;
        file.allocate(0, self.size)?;
        let zeros = AlignedBuf::zeroed(ZEROS.min(self.size as usize));
        let mut offset = 0;
        while offset < self.size {
            let step = (self.size - offset).min(zeros.len() as u64);
            file.write_at(&zeros[..step as usize], offset)?;
            offset += step;
        }
        file.sync()?;
        self.files.insert(number, file);
        metrics::NEXT_FILE.increment();
        Ok(())
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn file(&self, number: u64) -> Option<&Arc<dyn File>> {
        self.files.get(&number)
    }

    /// The position after the last segment.
    pub(crate) fn end_position(&self) -> u64 {
        self.files.last_key_value().map_or(0, |(number, _)| (number + 1) * self.size)
    }

    /// Renames the segments before the one numbered `first` to follow the sequence until there are `count`, and
    /// removes the others. They are used after the directory was synced and [`Segments::adopt`]. Whether there is
    /// anything to sync.
    pub(crate) fn recycle_before(&mut self, first: u64, count: u64) -> io::Result<bool> {
        let kept = self.files.split_off(&first);
        let free = std::mem::replace(&mut self.files, kept);
        let changed = !free.is_empty();
        for (number, file) in free {
            let next = self.next_number().max(first);
            if ((self.files.len() + self.renamed.len()) as u64) < count {
                self.fs.rename(&self.path(number), &self.path(next))?;
                self.renamed.insert(next, file);
            } else {
                self.fs.remove(&self.path(number))?;
            }
        }
        Ok(changed)
    }

    fn next_number(&self) -> u64 {
        let last = self.renamed.last_key_value().or(self.files.last_key_value());
        last.map_or(0, |(number, _)| number + 1)
    }

    /// Takes renamed segments into use, the directory having been synced.
    pub(crate) fn adopt(&mut self) {
        metrics::NEXT_FILE.add(self.renamed.len() as u64);
        self.files.append(&mut self.renamed);
    }

    /// Makes sure of the segment that `position` lies in, because the writer has come to the end of the sequence.
    pub(crate) fn extend_to(&mut self, position: u64) -> io::Result<()> {
        if self.renamed.is_empty() {
            let number = position / self.size;
            assert_eq!(number, self.next_number(), "positions are used in order");
            self.add(number)?;
        }
        self.fs.sync_dir(&self.dir)?;
        self.adopt();
        Ok(())
    }

    /// After recovery: removes files that are no part of the sequence and completes it to `count` segments, durably.
    pub(crate) fn complete(&mut self, first: u64, count: u64) -> io::Result<()> {
        self.files = self.files.split_off(&first);
        for (number, path) in list(&*self.fs, &self.dir)? {
            if !self.files.contains_key(&number) {
                self.fs.remove(&path)?;
            }
        }
        let mut next = self.files.last_key_value().map_or(first, |(number, _)| number + 1);
        while (self.files.len() as u64) < count {
            self.add(next)?;
            next += 1;
        }
        self.fs.sync_dir(&self.dir)
    }

    /// The directory and how to sync it, so that this can be done without the segments being locked.
    pub(crate) fn directory(&self) -> (Arc<dyn FileSystem>, PathBuf) {
        (self.fs.clone(), self.dir.clone())
    }
}

/// The segment files in a directory, by number.
fn list(fs: &dyn FileSystem, dir: &Path) -> io::Result<BTreeMap<u64, PathBuf>> {
    let mut segments = BTreeMap::new();
    for path in fs.list(dir)? {
        let number = path.file_name().and_then(|name| name.to_str()?.strip_prefix(PREFIX)?.parse().ok());
        if let Some(number) = number {
            segments.insert(number, path);
        }
    }
    Ok(segments)
}
