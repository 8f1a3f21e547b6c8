//! The log's files.
//!
//! The physical log is one endless sequence of positions, cut into segments; segment `n` is the file `log.n`, and its
//! length is how much of the sequence it covers. So segments need not be equal: a log that is resized goes on with
//! segments of another size, and no moment of that is special.
//!
//! ```text
//!   position   0        8M       16M      24M  26M  28M
//!              |log.000 |log.001 |log.002 |.003|.004|      resized from 24 MiB to 6 MiB while in log.002:
//!               free: removed     in use    new, smaller
//! ```
//!
//! A file is made under another name, zero-written, so that a flush changes no metadata, and synced; then it gets its name
//! in the sequence. A segment before the checkpoint is renamed to follow the last one. Either is used only after the
//! directory was synced. The log thus never needs space at a moment when it could be refused. What a renamed file still
//! holds is told from the log by the position in every group.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::Lsn;
use palisade_io::{AlignedBuf, File, FileSystem, OpenMode};

use crate::config::Access;
use crate::group::{self, GroupHeader};
use crate::metrics;
use crate::planted::{Planted, makes};

const PREFIX: &str = "log.";
/// Names of files that are being made: at leisure, and because the writer needs one now.
const IN_THE_MAKING: [&str; 2] = ["log.new", "log.next"];
const ZEROS: usize = 1 << 20;
/// Bytes of a new file after which it is asked again whether it is wanted.
const ASK_EVERY: u64 = 16 << 20;
/// Segments begin and end at multiples of this: nothing that a device wants aligned is larger.
pub(crate) const UNIT: u64 = 4096;
/// The smallest segment.
pub(crate) const SMALLEST: u64 = 2 * UNIT;

/// Where a segment is in the sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) number: u64,
    /// Position of its first byte.
    pub(crate) start: u64,
}

/// One file of the sequence.
#[derive(Clone)]
pub(crate) struct Segment {
    pub(crate) place: Place,
    pub(crate) size: u64,
    pub(crate) file: Arc<dyn File>,
    /// The LSN that its first byte is of; none until the writer has come there, or it was
    /// [looked up](Segment::read_first_lsn).
    pub(crate) first_lsn: Option<Lsn>,
}

impl Segment {
    pub(crate) fn end(&self) -> u64 {
        self.place.start + self.size
    }

    /// What writes must begin and end at multiples of.
    pub(crate) fn alignment(&self) -> u64 {
        self.file.alignment() as u64
    }

    /// The LSN that its first group says, if that is a group of the log `log_id` in this place. Blocks: for
    /// one read.
    pub(crate) fn read_first_lsn(&self, log_id: u64) -> io::Result<Option<Lsn>> {
        let mut buffer = AlignedBuf::zeroed(UNIT as usize);
        self.file.read_at(&mut buffer, 0)?;
        let parsed = GroupHeader::parse(&buffer).ok().flatten();
        let is_own = |header: &GroupHeader| header.log_id == log_id && header.position == self.place.start;
        Ok(parsed.map(|(header, _)| header).filter(is_own).map(|header| header.start))
    }

    fn following(&self) -> Place {
        Place { number: self.place.number + 1, start: self.end() }
    }
}

/// How large the log's files are to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Bytes of all segments.
    pub(crate) capacity: u64,
    /// Bytes of a new segment.
    pub(crate) segment: u64,
}

/// The segment files, without gaps.
pub(crate) struct Segments {
    fs: Arc<dyn FileSystem>,
    dir: PathBuf,
    access: Access,
    sizes: Sizes,
    /// While the log shrinks: what it may not grow beyond meanwhile.
    ceiling: u64,
    files: VecDeque<Segment>,
    /// In the sequence by name, after `files`, but not durably yet.
    named: VecDeque<Segment>,
    /// Found behind a gap in the sequence when it was opened.
    strays: Vec<Arc<dyn File>>,
    /// Where the sequence begins if there is no file.
    first: Place,
}

/// The file system, the directory, and how files are opened: what is needed to make files without holding the segments.
#[derive(Clone)]
pub(crate) struct Directory {
    pub(crate) fs: Arc<dyn FileSystem>,
    pub(crate) path: PathBuf,
    access: Access,
}

impl Directory {
    /// Makes a file of `size` bytes, zero-written and synced, that is not yet part of the sequence; none if
    /// it is not wanted any more before it is whole.
    pub(crate) fn make(&self, size: u64, is_wanted: &dyn Fn() -> bool) -> io::Result<Option<Arc<dyn File>>> {
        self.make_as(IN_THE_MAKING[0], size, is_wanted)
    }

    fn make_as(
        &self,
        name: &str,
        size: u64,
        is_wanted: &dyn Fn() -> bool,
    ) -> io::Result<Option<Arc<dyn File>>> {
        let path = self.path.join(name);
        if self.fs.exists(&path)? {
            self.fs.remove(&path)?;
        }
        let file = self.fs.open(&path, self.access.mode(OpenMode::CREATE))?;
        match fill(&*file, size, is_wanted) {
            Ok(true) => Ok(Some(file)),
            unfinished => {
                // Others may need the space. If it cannot be removed, either, it is when the next one is
                // made.
                let _ = self.fs.remove(&path);
                unfinished.map(|_| None)
            }
        }
    }
}

/// Zero-writes and syncs an empty file; false if it stopped because the file is not wanted any more.
fn fill(file: &dyn File, size: u64, is_wanted: &dyn Fn() -> bool) -> io::Result<bool> {
    file.allocate(0, size)?;
    let zeros = AlignedBuf::zeroed(ZEROS.min(size as usize));
    let mut offset = 0;
    while offset < size {
        if offset % ASK_EVERY == 0 && !is_wanted() {
            return Ok(false);
        }
        let step = (size - offset).min(zeros.len() as u64);
        file.write_at(&zeros[..step as usize], offset)?;
        offset += step;
    }
    file.sync()?;
    Ok(true)
}

impl Segments {
    /// Creates the segments from position 0 on, durably, in place of any that are there.
    pub(crate) fn create(
        fs: Arc<dyn FileSystem>,
        dir: &Path,
        access: Access,
        sizes: Sizes,
    ) -> io::Result<Segments> {
        for (_, path) in list(&*fs, dir)? {
            fs.remove(&path)?;
        }
        let mut segments = Segments::with(fs, dir, access, sizes, Place { number: 0, start: 0 });
        segments.fill_up()?;
        Ok(segments)
    }

    /// Opens the segments that are there, from `first` on, and makes their contents durable: what recovery reads must
    /// not be lost later.
    pub(crate) fn open(
        fs: Arc<dyn FileSystem>,
        dir: &Path,
        access: Access,
        sizes: Sizes,
        first: Place,
    ) -> io::Result<Segments> {
        let mut segments = Segments::with(fs, dir, access, sizes, first);
        let directory = segments.directory();
        for (number, path) in list(&*segments.fs, dir)?.range(first.number..) {
            let place = segments.next_place();
            let file = directory.fs.open(path, access.mode(OpenMode::EXISTING))?;
            let size = file.len()?;
            let is_sound = size >= SMALLEST && size.is_multiple_of(UNIT);
            if *number != place.number || !is_sound || !segments.strays.is_empty() {
                segments.strays.push(file);
                continue;
            }
            if !makes(Planted::FoundIsNotSynced) {
                file.sync()?;
            }
            segments.files.push_back(Segment { place, size, file, first_lsn: None });
        }
        Ok(segments)
    }

    /// A group of the log `log_id` that begins a file behind a gap and belongs behind the sequence. A file is used only when
    /// all before it are there durably: so something is missing. What a crash leaves behind a gap has never been used since it
    /// got its name.
    pub(crate) fn lost_group(&self, log_id: u64) -> io::Result<Option<GroupHeader>> {
        for file in &self.strays {
            let header = first_group(&**file)?;
            let belongs =
                |header: &GroupHeader| header.log_id == log_id && header.position >= self.end_position();
            if let Some(header) = header.filter(belongs) {
                return Ok(Some(header));
            }
        }
        Ok(None)
    }

    fn with(fs: Arc<dyn FileSystem>, dir: &Path, access: Access, sizes: Sizes, first: Place) -> Segments {
        let (files, named) = (VecDeque::new(), VecDeque::new());
        let ceiling = sizes.capacity;
        Segments { fs, dir: dir.to_owned(), access, sizes, ceiling, files, named, strays: Vec::new(), first }
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{PREFIX}{number:012}"))
    }

    /// The directory, so that files can be made and names synced without the segments being locked.
    pub(crate) fn directory(&self) -> Directory {
        Directory { fs: self.fs.clone(), path: self.dir.clone(), access: self.access }
    }

    pub(crate) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// How large the log is to be from now on.
    pub(crate) fn set_sizes(&mut self, sizes: Sizes) {
        self.sizes = sizes;
        self.ceiling = self.total().max(sizes.capacity);
    }

    /// Whether the writer at `position` has so little before it that a log that is to shrink had better not. Appends
    /// are refused below half the capacity at the most.
    fn is_short(&self, position: u64) -> bool {
        let ahead = self.next_place().start.saturating_sub(position);
        ahead < self.sizes.capacity / 2 + self.sizes.segment
    }

    /// The segment that `position` lies in.
    pub(crate) fn at(&self, position: u64) -> Option<&Segment> {
        let after = self.files.partition_point(|segment| segment.place.start <= position);
        let segment = self.files.get(after.checked_sub(1)?)?;
        (position < segment.end()).then_some(segment)
    }

    /// The writer has come to the segment that begins at `position`, with `lsn`.
    pub(crate) fn note_first_lsn(&mut self, position: u64, lsn: Lsn) {
        let of = |segment: &&mut Segment| segment.place.start == position;
        if let Some(segment) = self.files.iter_mut().find(of) {
            segment.first_lsn = Some(lsn);
        }
    }

    /// Those that hold something, or are about to, with their paths; the writer is at `position`.
    pub(crate) fn up_to(&self, position: u64) -> Vec<(PathBuf, Segment)> {
        let begun = self.files.iter().filter(|segment| segment.place.start <= position);
        begun.map(|segment| (self.path(segment.place.number), segment.clone())).collect()
    }

    /// Those that are used or will be, with their paths.
    pub(crate) fn listed(&self) -> Vec<(PathBuf, Arc<dyn File>)> {
        let all = self.files.iter().chain(&self.named);
        all.map(|segment| (self.path(segment.place.number), segment.file.clone())).collect()
    }

    /// The segment that `position` lies in or would lie in, at the end of what can be used.
    pub(crate) fn place_of(&self, position: u64) -> Place {
        let next = || self.files.back().map_or(self.first, Segment::following);
        self.at(position).map_or_else(next, |segment| segment.place)
    }

    /// The position after the last segment that can be used.
    pub(crate) fn end_position(&self) -> u64 {
        self.files.back().map_or(self.first.start, Segment::end)
    }

    /// Bytes of all segments.
    pub(crate) fn total(&self) -> u64 {
        self.files.iter().chain(&self.named).map(|segment| segment.size).sum()
    }

    fn next_place(&self) -> Place {
        self.named.back().or(self.files.back()).map_or(self.first, Segment::following)
    }

    /// Frees the segments before the one that `position` lies in: renames them to follow the sequence if they are not
    /// larger than segments now are and the log is not too large with them, and removes the others. The writer is at
    /// `writer`. Whether there is anything to sync before [`Segments::adopt`].
    pub(crate) fn recycle_before(&mut self, position: u64, writer: u64) -> io::Result<bool> {
        let mut changed = false;
        while let Some(free) = self.files.front()
            && (free.end() <= position || makes(Planted::FirstSegmentGoes) && free.place.start < position)
        {
            let free = free.clone();
            let next = self.next_place();
            let path = self.path(free.place.number);
            let is_wanted = self.total() <= self.sizes.capacity || self.is_short(writer);
            let is_kept = free.size <= self.sizes.segment && is_wanted;
            if is_kept {
                self.fs.rename(&path, &self.path(next.number))?;
            } else {
                self.fs.remove(&path)?;
            }
            self.files.pop_front();
            self.first = free.following();
            if is_kept {
                self.named.push_back(Segment { place: next, first_lsn: None, ..free });
            }
            changed = true;
        }
        if self.total() <= self.sizes.capacity {
            self.ceiling = self.sizes.capacity;
        }
        Ok(changed)
    }

    /// Whether a segment is to be made: the log is smaller than it is to be by one at least, or is shrinking and the
    /// writer at `position` is short of room.
    pub(crate) fn lacks_a_segment(&self, position: u64) -> bool {
        let larger = self.total() + self.sizes.segment;
        larger <= self.sizes.capacity || (larger <= self.ceiling && self.is_short(position))
    }

    /// Gives a file that [`Directory::make`] has made its place in the sequence; used after [`Segments::adopt`].
    pub(crate) fn name(&mut self, file: Arc<dyn File>, size: u64) -> io::Result<()> {
        self.name_from(IN_THE_MAKING[0], file, size)
    }

    fn name_from(&mut self, name: &str, file: Arc<dyn File>, size: u64) -> io::Result<()> {
        let place = self.next_place();
        self.fs.rename(&self.dir.join(name), &self.path(place.number))?;
        self.named.push_back(Segment { place, size, file, first_lsn: None });
        Ok(())
    }

    /// Removes the last segment if the log is larger than it is to be and nothing was ever written there, nor in the
    /// `ahead` bytes before. The writer is at `position`. Whether there was one.
    pub(crate) fn cut_off(&mut self, position: u64, ahead: u64) -> io::Result<bool> {
        let Some(last) = self.files.back().filter(|_| self.named.is_empty()) else { return Ok(false) };
        let is_spare = self.files.len() > 1 && last.place.start >= position + ahead;
        if self.total() <= self.sizes.capacity || !is_spare {
            return Ok(false);
        }
        self.fs.remove(&self.path(last.place.number))?;
        self.files.pop_back();
        Ok(true)
    }

    /// Takes named segments into use, the directory having been synced.
    pub(crate) fn adopt(&mut self) {
        metrics::NEXT_FILE.add(self.named.len() as u64);
        self.files.append(&mut self.named);
    }

    /// Makes sure of the segment at the end of the sequence, because the writer has come there.
    pub(crate) fn extend(&mut self) -> io::Result<()> {
        if self.named.is_empty() {
            self.make_now(IN_THE_MAKING[1])?;
        }
        if !makes(Planted::NamesAreNotSynced) {
            self.fs.sync_dir(&self.dir)?;
        }
        self.adopt();
        Ok(())
    }

    /// After recovery: removes files that are no part of the sequence and completes it, durably.
    pub(crate) fn complete(&mut self) -> io::Result<()> {
        self.strays.clear();
        let known: Vec<u64> = self.files.iter().map(|segment| segment.place.number).collect();
        for (number, path) in list(&*self.fs, &self.dir)? {
            if !known.contains(&number) {
                self.fs.remove(&path)?;
            }
        }
        for name in IN_THE_MAKING {
            let path = self.dir.join(name);
            if self.fs.exists(&path)? {
                self.fs.remove(&path)?;
            }
        }
        self.fill_up()
    }

    /// Makes segments until the log is as large as it is to be, durably.
    fn fill_up(&mut self) -> io::Result<()> {
        while self.total() + self.sizes.segment <= self.sizes.capacity {
            self.make_now(IN_THE_MAKING[0])?;
        }
        self.fs.sync_dir(&self.dir)?;
        self.adopt();
        Ok(())
    }

    /// Makes a segment and gives it its place in the sequence.
    fn make_now(&mut self, name: &str) -> io::Result<()> {
        let size = self.sizes.segment;
        match self.directory().make_as(name, size, &|| true)? {
            Some(file) => self.name_from(name, file, size),
            None => Ok(()),
        }
    }
}

/// The intact group that a file begins with.
fn first_group(file: &dyn File) -> io::Result<Option<GroupHeader>> {
    let len = file.len()?.min(group::LARGEST as u64) / UNIT * UNIT;
    let mut buffer = AlignedBuf::zeroed(len as usize);
    file.read_at(&mut buffer, 0)?;
    let Ok(Some((header, checksum))) = GroupHeader::parse(&buffer) else { return Ok(None) };
    let end = group::HEADER + header.len as usize;
    let group = buffer.get(..end).filter(|group| group::checksum_is(group, checksum));
    Ok(group.map(|_| header))
}

/// The segment files in a directory, by number.
pub(crate) fn list(fs: &dyn FileSystem, dir: &Path) -> io::Result<BTreeMap<u64, PathBuf>> {
    let mut segments = BTreeMap::new();
    for path in fs.list(dir)? {
        let number = path.file_name().and_then(|name| name.to_str()?.strip_prefix(PREFIX)?.parse().ok());
        if let Some(number) = number {
            segments.insert(number, path);
        }
    }
    Ok(segments)
}
