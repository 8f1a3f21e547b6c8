//! After a crash: what the doublewrite files say about pages that were being written.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::{Lsn, PageId, SpaceId};
use palisade_io::{AlignedBuf, File, FileSystem, OpenMode};

use super::layout::{self, LIST_PLACE, Layout};
use crate::page;
use crate::page_size::PageSize;
use crate::planted::{Planted, makes};

/// What a repair did.
#[derive(Debug, Default)]
pub struct Repaired {
    /// Pages that were torn and have been restored.
    pub pages: Vec<PageId>,
    /// Pages that are torn and of which there are only the ids.
    pub torn: Vec<PageId>,
    /// Copies that were looked at.
    pub copies: usize,
}

/// Gives the file of a space, or `None` if the space is gone.
pub type SpaceFiles<'a> = dyn FnMut(SpaceId) -> Option<Arc<dyn File>> + 'a;

/// Where doublewrite files may be.
#[derive(Debug, Clone, Copy)]
pub struct Directories<'a> {
    /// The data directory. Files of another redo log are old ones of its own, and are passed over.
    pub home: &'a Path,
    /// Others. Files of another redo log are another server's, and an error.
    pub others: &'a [PathBuf],
    /// Bytes of the pages in them, and of those that they are copies of.
    pub page_size: PageSize,
}

/// A doublewrite file.
struct DoublewriteFile {
    file: Arc<dyn File>,
    /// What its header says; a file without one has only copies.
    layout: Option<Layout>,
}

impl DoublewriteFile {
    fn copies_at(&self) -> u64 {
        self.layout.map_or(0, |layout| layout.copies_at(0))
    }
}

/// Everything in the files that says something about a page: the newest of each.
#[derive(Default)]
struct Evidence {
    /// LSN, number of the file, and position in it.
    copies: BTreeMap<PageId, (Lsn, usize, u64)>,
    ids: BTreeMap<PageId, Lsn>,
}

/// After a crash, before redo and before any page is accessed: restores pages that were being written when
/// the machine stopped. `log_id` is the data directory's redo log, `checkpoint` where redo will begin;
/// `space` gives the file of a space, or `None` if the space is gone. When it returns, what was restored, and
/// what was found whole, is durable, and the doublewrite files have done their duty.
pub fn repair(
    fs: &dyn FileSystem,
    directories: Directories<'_>,
    log_id: u64,
    checkpoint: Lsn,
    space: &mut SpaceFiles<'_>,
) -> io::Result<Repaired> {
    let files = find(fs, directories, log_id)?;
    let evidence = collect(&files, directories.page_size)?;
    let mut repaired = Repaired { copies: evidence.copies.len(), ..Repaired::default() };
    let size = directories.page_size;
    let mut bytes = AlignedBuf::zeroed(size.bytes());
    // Also where pages are whole: a process that was killed may have left them to the operating system, and
    // their copies are overwritten soon.
    let mut relied_on = Vec::new();
    for (&id, &(lsn, number, position)) in &evidence.copies {
        if lsn <= checkpoint {
            continue;
        }
        let Some(file) = space(id.space) else { continue };
        let is_torn = read(&*file, size, id, &mut bytes)? == Found::Torn;
        if is_torn {
            files[number].file.read_at(&mut bytes, position)?;
            file.write_at(&bytes, size.offset(id.page))?;
            repaired.pages.push(id);
        }
        note(&mut relied_on, file);
    }
    for (&id, _) in evidence.ids.iter().filter(|(_, lsn)| **lsn > checkpoint) {
        let Some(file) = space(id.space) else { continue };
        if read(&*file, size, id, &mut bytes)? == Found::Torn {
            repaired.torn.push(id);
        }
        note(&mut relied_on, file);
    }
    if !makes(Planted::RepairIsNotSynced) {
        relied_on.iter().try_for_each(|file| file.sync())?;
    }
    Ok(repaired)
}

/// Adds a file that is not among `files` yet.
fn note(files: &mut Vec<Arc<dyn File>>, file: Arc<dyn File>) {
    if !files.iter().any(|known| Arc::ptr_eq(known, &file)) {
        files.push(file);
    }
}

/// What is in a page's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Whole,
    /// Zeros, or the end of the file. The page has never been durable there since its room was last given
    /// back, if it ever was: redo begins with its format. A copy from before that must not come back.
    Nothing,
    Torn,
}

fn read(file: &dyn File, size: PageSize, id: PageId, bytes: &mut [u8]) -> io::Result<Found> {
    let offset = size.offset(id.page);
    if file.len()? < offset + bytes.len() as u64 {
        return Ok(Found::Nothing);
    }
    file.read_at(bytes, offset)?;
    Ok(match page::verify(id, bytes) {
        Ok(()) => Found::Whole,
        Err(_) if bytes.iter().all(|byte| *byte == 0) => Found::Nothing,
        Err(_) => Found::Torn,
    })
}

/// The files whose pages are those of this redo log.
fn find(fs: &dyn FileSystem, directories: Directories<'_>, log_id: u64) -> io::Result<Vec<DoublewriteFile>> {
    let mut found = Vec::new();
    let all = std::iter::once((directories.home, true))
        .chain(directories.others.iter().map(|other| (&**other, false)));
    for (directory, is_home) in all {
        for path in layout::files_in(fs, directory)? {
            let file = fs.open(&path, OpenMode::EXISTING.direct().read_only())?;
            match layout::read(&*file, directories.page_size)? {
                _ if layout::is_bare(&path) && is_home => found.push(DoublewriteFile { file, layout: None }),
                _ if layout::is_bare(&path) => {}
                // It was not finished when it was made.
                None => {}
                Some((layout, owner)) if owner == log_id => {
                    found.push(DoublewriteFile { file, layout: Some(layout) })
                }
                Some(_) if is_home => {}
                Some(_) => {
                    let text = format!("{} belongs to another data directory", path.display());
                    return Err(io::Error::new(io::ErrorKind::InvalidData, text));
                }
            }
        }
    }
    Ok(found)
}

fn collect(files: &[DoublewriteFile], size: PageSize) -> io::Result<Evidence> {
    let mut evidence = Evidence::default();
    let (mut bytes, mut list) = (AlignedBuf::zeroed(size.bytes()), AlignedBuf::zeroed(LIST_PLACE));
    for (number, found) in files.iter().enumerate() {
        let len = found.file.len()?;
        let lists = found
            .layout
            .into_iter()
            .flat_map(|layout| (0..layout.lanes).map(move |lane| layout.list_at(lane)));
        for position in lists.take_while(|position| position + LIST_PLACE as u64 <= len) {
            found.file.read_at(&mut list, position)?;
            for (id, lsn) in layout::decode_list(&list) {
                let newest = evidence.ids.entry(id).or_insert(lsn);
                *newest = lsn.max(*newest);
            }
        }
        let mut position = found.copies_at();
        while position + bytes.len() as u64 <= len {
            found.file.read_at(&mut bytes, position)?;
            let id = page::stored_id(&bytes);
            if page::verify(id, &bytes).is_ok() {
                let copy = (page::stored_lsn(&bytes), number, position);
                let best = evidence.copies.entry(id).or_insert(copy);
                *best = copy.max(*best);
            }
            position += bytes.len() as u64;
        }
    }
    Ok(evidence)
}
