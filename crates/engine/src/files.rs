//! Which files there are in a data directory.
//!
//! ```text
//! palisade.data      written last when the directory is made: without it, nothing in there has been promised
//! doublewrite.0     pages that are being written, unless innodb_doublewrite_dir says where else
//! ib_buffer_pool     pages that were in memory at the last shutdown; see `pool_dump`
//! #log/              the redo log
//! spaces/000000.pal  the dictionary      000001.pal  undo      000002.pal ...  a table or partition each
//!        000002.map  where its pages are, of a table that is written out of place
//!        reserve     room for the new file of a table that is truncated while the disk is full
//! tmp/               temporary files of statements
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::{PageId, PageNo, SpaceId};
use palisade_buffer::{PageSize, page};
use palisade_io::{File, FileSystem, OpenMode, Syncing};

use crate::planted::{Planted, makes};
use crate::{Error, FlushMethod, PageSinkKind};

/// The file that makes a directory a data directory.
const MARKER: &str = "palisade.data";
/// What it begins with; a line with the [size of a page](PAGE_SIZE_TEXT) follows, if that is not the default.
const MARKER_TEXT: &str = "Palisade data directory, format 1\n";
/// What comes before the number of the format, and that of this version.
const FORMAT_TEXT: &str = "Palisade data directory, format ";
const FORMAT: u32 = 1;
/// What is in front of the size of a page, in bytes.
const PAGE_SIZE_TEXT: &str = "page size ";
/// No marker is longer.
const MOST_MARKER: usize = 128;

/// Pages of the dictionary that are asked for their size.
const PAGES_ASKED: usize = 16;

/// The file in `spaces` that becomes a space when the disk has no room for one.
const RESERVE: &str = "reserve";
/// Its bytes: room for the header and the first page of every index that a table can have.
const RESERVE_BYTES: u64 = 2 << 20;

/// The files of one data directory.
#[derive(Clone)]
pub(crate) struct Files {
    pub(crate) fs: Arc<dyn FileSystem>,
    /// Where temporary files are: the disk, though nothing else may be written to it.
    pub(crate) disk: Arc<dyn FileSystem>,
    pub(crate) datadir: PathBuf,
    method: FlushMethod,
}

/// The files of one space.
#[derive(Clone)]
pub(crate) struct SpaceFile {
    /// Its pages.
    pub(crate) pages: Arc<dyn File>,
    /// Where they are in it, if they are written out of place.
    pub(crate) map: Option<Arc<dyn File>>,
}

impl SpaceFile {
    /// Of a space whose pages are in their order.
    pub(crate) fn in_place(pages: Arc<dyn File>) -> SpaceFile {
        SpaceFile { pages, map: None }
    }
}

/// What state a directory is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A data directory, of pages of this size.
    Data(PageSize),
    /// Nothing, or what an interrupted creation left.
    Nothing,
    /// A data directory of this other format.
    Format(u32),
    /// Files of something else, or a data directory whose marker is damaged.
    Foreign,
}

/// The marker of a directory of pages of `size`.
fn marker(size: PageSize) -> String {
    match size {
        PageSize::DEFAULT => MARKER_TEXT.to_owned(),
        other => format!("{MARKER_TEXT}{PAGE_SIZE_TEXT}{other}\n"),
    }
}

/// The size of a page that a marker speaks of; `None` if it is not one.
fn marked_size(text: &[u8]) -> Option<PageSize> {
    PageSize::ALL.into_iter().find(|size| marker(*size).as_bytes() == text)
}

/// The format that a marker speaks of, if it is a sound one of another version.
fn marked_format(text: &[u8]) -> Option<u32> {
    let (number, _) = std::str::from_utf8(text).ok()?.strip_prefix(FORMAT_TEXT)?.split_once('\n')?;
    number.parse().ok().filter(|format| *format != FORMAT)
}

impl Files {
    pub(crate) fn new(fs: Arc<dyn FileSystem>, datadir: &Path, method: FlushMethod) -> Self {
        Files { disk: fs.clone(), fs, datadir: datadir.to_owned(), method }
    }

    pub(crate) fn log_dir(&self) -> PathBuf {
        self.datadir.join("#log")
    }

    pub(crate) fn spaces_dir(&self) -> PathBuf {
        self.datadir.join("spaces")
    }

    pub(crate) fn temporary_dir(&self) -> PathBuf {
        self.datadir.join("tmp")
    }

    pub(crate) fn space_path(&self, space: SpaceId) -> PathBuf {
        self.spaces_dir().join(space_file_name(space))
    }

    /// The map of a space that is written out of place.
    pub(crate) fn map_path(&self, space: SpaceId) -> PathBuf {
        self.spaces_dir().join(map_file_name(space))
    }

    /// The space of which a path is the file or the map.
    pub(crate) fn space_of_path(&self, path: &Path) -> Option<SpaceId> {
        let name = path.file_name()?.to_str()?;
        let digits = name.strip_suffix(".pal").or_else(|| name.strip_suffix(".map"))?;
        let space = SpaceId(digits.parse().ok()?);
        (path == self.space_path(space) || path == self.map_path(space)).then_some(space)
    }

    /// Whether it looks like a data directory whose [marker](MARKER) is damaged or missing: it has a log and
    /// a dictionary.
    pub(crate) fn looks_like_data(&self) -> io::Result<bool> {
        Ok(self.fs.exists(&self.log_dir().join("checkpoint"))?
            && self.fs.exists(&self.space_path(SpaceId(0)))?)
    }

    pub(crate) fn look(&self) -> io::Result<Found> {
        if !self.fs.exists(&self.datadir.join(MARKER))? {
            let tables = self.list_spaces()?.into_iter().any(|space| space.0 > 1);
            return Ok(if tables { Found::Foreign } else { Found::Nothing });
        }
        let file = self.fs.open(&self.datadir.join(MARKER), OpenMode::EXISTING)?;
        let mut text = vec![0; (file.len()? as usize).min(MOST_MARKER)];
        file.read_at(&mut text, 0)?;
        let other = || marked_format(&text).map_or(Found::Foreign, Found::Format);
        Ok(marked_size(&text).map_or_else(other, Found::Data))
    }

    /// Why a directory of another format is refused.
    pub(crate) fn is_of_format(&self, format: u32) -> Error {
        Error::Unusable(format!(
            "{} is a data directory of format {format}, and this version has format {FORMAT}: start the version that \
             wrote it, dump all databases (mysqldump --all-databases), and load the dump into a new data directory",
            self.datadir.display()
        ))
    }

    /// The size of the dictionary's pages, as the first of them show it that are whole, each with its number
    /// and its checksum; `None` if none is.
    pub(crate) fn page_size_of_pages(&self) -> io::Result<Option<PageSize>> {
        let file = self.fs.open(&self.space_path(SpaceId(0)), OpenMode::EXISTING.read_only())?;
        let mut bytes = vec![0; (file.len()? as usize).min(PAGES_ASKED * PageSize::MOST.bytes())];
        file.read_at(&mut bytes, 0)?;
        let is_it = |size: &PageSize| {
            let pages = bytes.chunks_exact(size.bytes()).take(PAGES_ASKED).zip(0..);
            let id = |page| PageId { space: SpaceId(0), page: PageNo(page) };
            pages.into_iter().any(|(bytes, page)| page::verify(id(page), bytes).is_ok())
        };
        Ok(PageSize::ALL.into_iter().find(is_it))
    }

    /// Makes the directories, without what an interrupted creation left in them.
    pub(crate) fn make_directories(&self) -> io::Result<()> {
        for dir in [self.log_dir(), self.spaces_dir()] {
            self.fs.create_dir_all(&dir)?;
            for file in self.fs.list(&dir)? {
                self.fs.remove(&file)?;
            }
            self.fs.sync_dir(&dir)?;
        }
        self.fs.sync_dir(&self.datadir)
    }

    pub(crate) fn write_marker(&self, size: PageSize) -> io::Result<()> {
        let temporary = self.datadir.join("palisade.data.new");
        let file = self.fs.open(&temporary, OpenMode::CREATE)?;
        file.set_len(0)?;
        file.write_at(marker(size).as_bytes(), 0)?;
        file.sync()?;
        self.fs.rename(&temporary, &self.datadir.join(MARKER))?;
        self.fs.sync_dir(&self.datadir)
    }

    /// Ids of the space files that there are.
    pub(crate) fn list_spaces(&self) -> io::Result<Vec<SpaceId>> {
        self.list_ids(".pal")
    }

    /// Ids of the spaces that have a map.
    pub(crate) fn list_maps(&self) -> io::Result<Vec<SpaceId>> {
        self.list_ids(".map")
    }

    fn list_ids(&self, suffix: &str) -> io::Result<Vec<SpaceId>> {
        if !self.fs.exists(&self.spaces_dir())? {
            return Ok(Vec::new());
        }
        let id = |path: PathBuf| {
            let name = path.file_name()?.to_str()?.strip_suffix(suffix)?.to_owned();
            name.parse().ok().map(SpaceId)
        };
        Ok(self.fs.list(&self.spaces_dir())?.into_iter().filter_map(id).collect())
    }

    fn mode(&self, mode: OpenMode) -> OpenMode {
        let mode = mode.syncing(self.method.data_syncing());
        if self.method.is_direct() { mode.direct() } else { mode }
    }

    /// Creates a space's file, durably. A map of that name is what a crash has left, and goes.
    pub(crate) fn create_space(&self, space: SpaceId) -> io::Result<Arc<dyn File>> {
        let files = self.create_spaces(std::iter::once(space), PageSinkKind::InPlace)?;
        let pages = files.into_iter().next().map(|file| file.pages);
        pages.ok_or_else(|| io::Error::other("a file that was created is not there"))
    }

    fn create_pages(&self, space: SpaceId) -> io::Result<Arc<dyn File>> {
        self.fs.open(&self.space_path(space), self.mode(OpenMode::CREATE_NEW))
    }

    /// Creates the files of some spaces, durably. What a crash leaves of them until then is of no table.
    pub(crate) fn create_spaces(
        &self,
        spaces: impl Iterator<Item = SpaceId>,
        kind: PageSinkKind,
    ) -> io::Result<Vec<SpaceFile>> {
        let create = |space| {
            self.remove_map(space)?;
            Ok(match kind {
                PageSinkKind::InPlace => SpaceFile::in_place(self.create_pages(space)?),
                PageSinkKind::OutOfPlace => {
                    let map = self.fs.open(&self.map_path(space), self.mode(OpenMode::CREATE_NEW))?;
                    let pages = self.leaving_contents(space, self.create_pages(space)?)?;
                    SpaceFile { pages, map: Some(map) }
                }
            })
        };
        let files = spaces.map(create).collect::<io::Result<Vec<_>>>()?;
        if !makes(Planted::NewNamesAreNotSynced) {
            self.sync_spaces()?;
        }
        Ok(files)
    }

    /// The pages of a space that is written out of place. Where the log's flush covers the file, what
    /// overwrites a free run is left to it: nothing relies on such a write before its record is durable.
    fn leaving_contents(&self, space: SpaceId, pages: Arc<dyn File>) -> io::Result<Arc<dyn File>> {
        let is_covered = self.method.flushes_device()
            && pages.is_past_cache()
            && self.fs.one_flush_covers(&self.log_dir(), &self.spaces_dir());
        if !is_covered {
            return Ok(pages);
        }
        let mode = OpenMode::EXISTING.direct().syncing(Syncing::Metadata);
        self.fs.open(&self.space_path(space), mode)
    }

    /// Makes sure that there is the file that [`create_space_from_reserve`](Self::create_space_from_reserve)
    /// uses.
    pub(crate) fn ensure_reserve(&self) -> io::Result<()> {
        let path = self.spaces_dir().join(RESERVE);
        let file = self.fs.open(&path, self.mode(OpenMode::CREATE))?;
        let len = file.len()?;
        if len < RESERVE_BYTES {
            file.allocate(len, RESERVE_BYTES - len)?;
            file.sync()?;
        }
        Ok(())
    }

    /// Makes the reserve a space's file, durably: it has room for a table without rows, and nothing in it.
    /// `None` if there is no reserve.
    pub(crate) fn create_space_from_reserve(&self, space: SpaceId) -> io::Result<Option<Arc<dyn File>>> {
        let path = self.spaces_dir().join(RESERVE);
        if !self.fs.exists(&path)? {
            return Ok(None);
        }
        let file = self.fs.open(&path, self.mode(OpenMode::EXISTING))?;
        if file.len()? < RESERVE_BYTES {
            return Ok(None);
        }
        drop(file);
        self.fs.rename(&path, &self.space_path(space))?;
        self.fs.sync_dir(&self.spaces_dir())?;
        self.open_file(&self.space_path(space))
    }

    /// Opens a space's files; `None` if there are none.
    pub(crate) fn open_space(&self, space: SpaceId) -> io::Result<Option<SpaceFile>> {
        let Some(pages) = self.open_file(&self.space_path(space))? else { return Ok(None) };
        Ok(Some(match self.open_file(&self.map_path(space))? {
            Some(map) => SpaceFile { pages: self.leaving_contents(space, pages)?, map: Some(map) },
            None => SpaceFile::in_place(pages),
        }))
    }

    fn open_file(&self, path: &Path) -> io::Result<Option<Arc<dyn File>>> {
        match self.fs.open(path, self.mode(OpenMode::EXISTING)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(io::Error::new(error.kind(), format!("cannot open {}: {error}", path.display())))
            }
        }
    }

    /// Gives a space's files, if there are any, names under which they are no space any more. Durably.
    pub(crate) fn set_aside(&self, space: SpaceId) -> io::Result<()> {
        let (path, map) = (self.space_path(space), self.map_path(space));
        let has_map = self.fs.exists(&map)?;
        if !self.fs.exists(&path)? && !has_map {
            return Ok(());
        }
        let free = (0..).map(|number| match number {
            0 => ["pal.damaged", "map.damaged"].map(str::to_owned),
            number => [format!("pal.damaged-{number}"), format!("map.damaged-{number}")],
        });
        for [pages_name, map_name] in free {
            let (pages_name, map_name) = (path.with_extension(pages_name), path.with_extension(map_name));
            if self.fs.exists(&pages_name)? || self.fs.exists(&map_name)? {
                continue;
            }
            if self.fs.exists(&path)? {
                self.fs.rename(&path, &pages_name)?;
            }
            if has_map {
                // Not before, as in `remove_map`. A crash in between leaves a map without pages, which is
                // removed.
                self.fs.sync_dir(&self.spaces_dir())?;
                self.fs.rename(&map, &map_name)?;
            }
            break;
        }
        self.fs.sync_dir(&self.spaces_dir())
    }

    /// Gives a space a new map, which `write` writes: durably, and not before it is whole.
    pub(crate) fn replace_map<T>(
        &self,
        space: SpaceId,
        write: impl FnOnce(&dyn File) -> io::Result<T>,
    ) -> io::Result<T> {
        let path = self.map_path(space);
        let temporary = path.with_extension("map.new");
        let map = self.fs.open(&temporary, self.mode(OpenMode::CREATE))?;
        map.set_len(0)?;
        let written = write(&*map)?;
        map.sync()?;
        drop(map);
        self.fs.rename(&temporary, &path)?;
        self.fs.sync_dir(&self.spaces_dir())?;
        Ok(written)
    }

    /// Makes the names durable that are found: a process that was killed may have left them to the operating
    /// system.
    pub(crate) fn sync_names(&self) -> io::Result<()> {
        if makes(Planted::FoundNamesAreNotSynced) {
            return Ok(());
        }
        self.fs.sync_dir(&self.datadir)?;
        self.sync_spaces()
    }

    /// Makes what has happened to names of spaces durable.
    pub(crate) fn sync_spaces(&self) -> io::Result<()> {
        self.fs.sync_dir(&self.spaces_dir())
    }

    /// Removes a space's file. Not durably: what is left over is removed at the next open.
    pub(crate) fn remove_space(&self, space: SpaceId) -> io::Result<()> {
        self.remove_file(&self.space_path(space))
    }

    /// Removes a space's map, if it has one: not before its other file has been removed
    /// [durably](Self::sync_spaces), which without the map would pass for one whose pages are in order.
    pub(crate) fn remove_map(&self, space: SpaceId) -> io::Result<()> {
        self.remove_file(&self.map_path(space))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        match self.fs.remove(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }
}

/// What the map of a space that is written out of place is called, in the directory `spaces`.
pub fn map_file_name(space: SpaceId) -> String {
    format!("{:06}.map", space.0)
}

/// What the file of a space is called, in the directory `spaces`.
pub fn space_file_name(space: SpaceId) -> String {
    format!("{:06}.pal", space.0)
}

#[cfg(test)]
mod tests {
    use palisade_io::MemFileSystem;

    use super::*;

    #[test]
    fn the_document_names_every_file() {
        let document = include_str!("../../../docs/format.md");
        let files = Files::new(Arc::new(MemFileSystem::new()), Path::new("data"), FlushMethod::default());
        let spaces = (0..3).map(|number| files.space_path(SpaceId(number)));
        let others = [
            files.log_dir(),
            files.spaces_dir(),
            files.spaces_dir().join(RESERVE),
            files.map_path(SpaceId(2)),
        ];
        for path in others.into_iter().chain(spaces) {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(document.contains(name), "{name}");
        }
        assert!(document.contains(MARKER));
    }

    #[test]
    fn a_marker_of_another_version_says_so() {
        assert_eq!(MARKER_TEXT, format!("{FORMAT_TEXT}{FORMAT}\n"));
        for size in PageSize::ALL {
            let text = marker(size);
            assert_eq!((marked_size(text.as_bytes()), marked_format(text.as_bytes())), (Some(size), None));
            let later = text.replace("format 1", "format 12");
            assert_eq!((marked_size(later.as_bytes()), marked_format(later.as_bytes())), (None, Some(12)));
        }
        for damaged in
            ["", "Palisade data directory, format \n", "Palisade data directory, format 2", "palisade\n"]
        {
            assert_eq!((marked_size(damaged.as_bytes()), marked_format(damaged.as_bytes())), (None, None));
        }
    }
}
