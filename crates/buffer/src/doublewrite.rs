//! Doublewrite: what is needed to recognise or restore a torn page is durable before the page is overwritten.
//!
//! ```text
//!   innodb_doublewrite_dir/
//!     doublewrite.0      header | lists of lanes 0, 2 | copies of lane 0 | copies of lane 2
//!     doublewrite.1      header | lists of lanes 1, 3 | copies of lane 1 | copies of lane 3
//! ```
//!
//! A part of a batch is written to its lane, synced, and only then written in place and synced there; the
//! lane is overwritten by the next part only after that: a part for which the disk was too full is written
//! again before any other. What a lane gets depends on [`Keeps`]:
//!
//! * [`Copies`](Keeps::Copies) of the pages. A page write that the machine interrupted is a torn page in
//!   place and a whole copy in a lane - or, if the copy is torn, a page in place that has not been touched
//!   yet. Copies are sealed pages and so name their page and prove that they are whole.
//! * [`Ids`](Keeps::Ids), the list of them: which pages at which LSN. It costs a hundredth of the bytes. A
//!   torn page is known for what it is, but cannot be restored.
//!
//! A lane has a place for either, so that what a sink of the other kind left there stays until this kind
//! overwrites its own.
//!
//! # Repair
//!
//! For every whole copy whose page in place is not whole, the copy with the highest LSN is put in its place
//! ([`repair()`]). The torn write was the last one begun for that page, and its lane cannot have been reused,
//! so the newest copy is the one that was being written. A page that is whole in place is left alone: it is
//! the version before or after, and redo carries on from either. A stale copy of a page whose space is gone
//! finds no file: space ids are never reused.
//!
//! Copies from before the checkpoint are not used. A page that was being written held a change that the
//! checkpoint had not passed, so its LSN is beyond the checkpoint. A page broken otherwise (a flipped bit)
//! may have an old copy left in a lane; putting that back would silently lose what the checkpoint says need
//! not be redone. It stays corrupted, and known. Any copy beyond the checkpoint is right, the newest or not:
//! redo has everything since. So copies stay useful when another setting, or another kind of sink, has
//! written the page since.
//!
//! # Other settings
//!
//! What a server finds when it starts was written under settings that may have changed. [`repair()`] reads
//! every doublewrite file of the directories it is given, whatever their layout, which is in the header. Only
//! then does [`Doublewrite::open`] give the files the shape that is wanted now. A header also names the redo
//! log that the copies belong to: where two data directories were given one doublewrite directory, the pages
//! of one must not be taken for those of the other.

mod layout;
mod repair;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_io::counts::{self, FileUse};
use palisade_io::{AlignedBuf, File, FileSystem, OpenMode, Syncing, WriteQueue};

pub use layout::{copies_begin, files_in};
pub use repair::{Directories, Repaired, SpaceFiles, repair};

use crate::doublewrite::layout::{LIST_PLACE, Layout, MAX_PAGES, encode_list, file_name};
use crate::metrics::{self, UnderWay};
use crate::page_size::PageSize;
use crate::planted::{Planted, makes};
use crate::sink::{self, BatchPart, PageSink};

/// Where a server's doublewrite files are, and their shape.
#[derive(Debug, Clone)]
pub struct AreaConfig {
    /// The directory (`innodb_doublewrite_dir`).
    pub directory: PathBuf,
    /// Files that the lanes are spread over (`innodb_doublewrite_files`); one for each lane at most.
    pub files: usize,
    /// Cleaners that there is a lane for.
    pub lanes: usize,
    /// Pages of a part at most (`innodb_doublewrite_pages`).
    pub pages: usize,
    /// Bytes of a page.
    pub page_size: PageSize,
    /// The redo log that the pages belong to.
    pub log_id: u64,
    /// How what is written to the files becomes durable. With one that leaves syncs out, a copy may be lost
    /// with the power when the page in place is torn by it.
    pub syncing: Syncing,
}

impl AreaConfig {
    /// One file in `directory`, for pages of the default size, which is synced when that is asked for.
    pub fn new(directory: &Path, lanes: usize, pages: usize, log_id: u64) -> AreaConfig {
        let syncing = Syncing::OnRequest;
        let page_size = PageSize::DEFAULT;
        AreaConfig { directory: directory.to_owned(), files: 1, lanes, pages, page_size, log_id, syncing }
    }
}

/// What a lane keeps of a page that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// A copy of it.
    Copies,
    /// Its id and LSN.
    Ids,
}

/// The files.
struct Area {
    files: Vec<Arc<dyn File>>,
    layouts: Vec<Layout>,
    lanes: usize,
    pages: usize,
}

/// In place, after something durable elsewhere.
#[derive(Clone)]
pub struct Doublewrite {
    area: Arc<Area>,
    keeps: Keeps,
}

impl Doublewrite {
    /// Opens the doublewrite files, giving them the shape that `config` says. To be called after
    /// [`repair()`]: files of another shape are made anew, and those that are too many are removed. The sink
    /// keeps copies; see [`keeping`](Self::keeping).
    pub fn open(fs: &Arc<dyn FileSystem>, config: &AreaConfig) -> io::Result<Self> {
        let AreaConfig { directory, lanes, pages, page_size, log_id, .. } = config;
        assert!(
            *lanes > 0 && (1..=MAX_PAGES).contains(pages),
            "a lane has room for a page, and a list for all of them"
        );
        let count = config.files.clamp(1, *lanes);
        let layout = |file: usize| Layout {
            lanes: (lanes - file).div_ceil(count),
            pages: *pages,
            page_size: *page_size,
        };
        let layouts: Vec<_> = (0..count).map(layout).collect();
        let mut files = Vec::with_capacity(count);
        let mut is_changed = false;
        for (number, layout) in layouts.iter().enumerate() {
            let mode = OpenMode::CREATE.direct().syncing(config.syncing);
            let file = fs.open(&directory.join(file_name(number)), mode)?;
            if file.len()? != layout.len() || layout::read(&*file, *page_size)? != Some((*layout, *log_id)) {
                make(&*file, *layout, *log_id)?;
                is_changed = true;
            }
            files.push(file);
        }
        let wanted: Vec<_> = (0..count).map(|number| directory.join(file_name(number))).collect();
        for path in files_in(&**fs, directory)?.into_iter().filter(|path| !wanted.contains(path)) {
            fs.remove(&path)?;
            is_changed = true;
        }
        if is_changed {
            fs.sync_dir(directory)?;
        }
        let area = Area { files, layouts, lanes: *lanes, pages: *pages };
        Ok(Doublewrite { area: Arc::new(area), keeps: Keeps::Copies })
    }

    /// A sink with the same files and lanes that keeps something else in them.
    #[must_use]
    pub fn keeping(&self, keeps: Keeps) -> Doublewrite {
        Doublewrite { area: self.area.clone(), keeps }
    }

    /// Removes the doublewrite files of a directory that are not needed any more.
    pub fn remove_files(fs: &dyn FileSystem, directory: &Path) -> io::Result<()> {
        let files = files_in(fs, directory)?;
        for path in &files {
            fs.remove(path)?;
        }
        if files.is_empty() { Ok(()) } else { fs.sync_dir(directory) }
    }
}

/// Fills a file with zeros and a header. The zeros are written rather than allocated: overwriting written
/// blocks is no change of the file system's own structures.
fn make(file: &dyn File, layout: Layout, log_id: u64) -> io::Result<()> {
    file.set_len(0)?;
    let zeros = AlignedBuf::zeroed(1 << 20);
    let mut end = LIST_PLACE as u64;
    while end < layout.len() {
        let step = (layout.len() - end).min(zeros.len() as u64);
        file.write_at(&zeros[..step as usize], end)?;
        end += step;
    }
    file.write_at(&layout.header(log_id), 0)?;
    file.sync()
}

impl Area {
    /// The file of a lane, and the lane's number in it.
    fn lane(&self, lane: usize) -> (&Arc<dyn File>, Layout, usize) {
        let (file, number) = (lane % self.files.len(), lane / self.files.len());
        (&self.files[file], self.layouts[file], number)
    }
}

impl Doublewrite {
    /// Its files, in the order of their numbers, with their names.
    pub fn files(&self) -> impl Iterator<Item = (String, &Arc<dyn File>)> {
        self.area.files.iter().enumerate().map(|(number, file)| (file_name(number), file))
    }
}

impl PageSink for Doublewrite {
    fn name(&self) -> &'static str {
        match self.keeps {
            Keeps::Copies => "doublewrite",
            Keeps::Ids => "doublewrite of ids",
        }
    }

    fn batch_pages(&self) -> usize {
        self.area.pages
    }

    fn lanes(&self) -> usize {
        self.area.lanes
    }

    fn write(&self, lane: usize, part: BatchPart<'_>, queue: &mut WriteQueue) -> io::Result<()> {
        assert!(lane < self.area.lanes && part.pages().len() <= self.area.pages, "a part fits its lane");
        let (file, layout, number) = self.area.lane(lane);
        if makes(Planted::CopiesComeLate) {
            part.write_in_place(queue)?;
        }
        let pending = UnderWay::begin(&metrics::OS_PENDING_WRITES, 1);
        match self.keeps {
            Keeps::Copies => {
                file.write_at(part.bytes(), layout.copies_at(number))?;
                counts::count_write(&**file, FileUse::Doublewrite, part.bytes().len() as u64);
            }
            Keeps::Ids => {
                let ids = part.pages().iter().map(|page| (page.id, page.lsn));
                let list = encode_list(ids);
                file.write_at(&list, layout.list_at(number))?;
                counts::count_write(&**file, FileUse::Doublewrite, list.len() as u64);
            }
        }
        drop(pending);
        metrics::OS_DATA_WRITES.increment();
        if !makes(Planted::CopiesAreNotSynced) {
            sink::sync(queue, std::slice::from_ref(file), FileUse::Doublewrite)?;
        }
        metrics::DBLWR_WRITES.increment();
        metrics::DBLWR_PAGES_WRITTEN.add(part.pages().len() as u64);
        part.write_in_place(queue)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
