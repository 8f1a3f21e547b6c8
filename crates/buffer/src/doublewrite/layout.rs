//! What is where in a doublewrite file; docs/format-doublewrite.md says it for outsiders.

use std::io;
use std::path::{Path, PathBuf};

use palisade_base::checksum::crc32c;
use palisade_base::codec::Reader;
use palisade_base::{Lsn, PageId, PageNo, SpaceId};
use palisade_io::{AlignedBuf, File, FileSystem};

use crate::page_size::PageSize;

const MAGIC: [u8; 8] = *b"PALDBLWR";
const VERSION: u32 = 1;
/// Bytes of a header that its checksum covers.
const HEADER_BYTES: usize = 28;

/// A list is written in units of this.
pub(super) const LIST_BLOCK: usize = 4096;
/// Room of a header, and of a list, whatever the size of a page.
pub(super) const LIST_PLACE: usize = 16384;
/// Checksum and number of entries.
const LIST_HEAD: usize = 8;
/// Space, page and LSN.
const LIST_ENTRY: usize = 16;
/// Pages that a list has room for.
pub(super) const MAX_PAGES: usize = (LIST_PLACE - LIST_HEAD) / LIST_ENTRY;

const _: () = assert!(LIST_PLACE.is_multiple_of(LIST_BLOCK));

/// Name of a data directory's only doublewrite file before there were several. It has no header and no lists.
const BARE_FILE: &str = "doublewrite";

/// Name of a doublewrite file.
pub(super) fn file_name(number: usize) -> String {
    format!("{BARE_FILE}.{number}")
}

/// The doublewrite files in a directory, whatever their shape; none if there is no such directory.
pub fn files_in(fs: &dyn FileSystem, directory: &Path) -> io::Result<Vec<PathBuf>> {
    let is_one = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix(BARE_FILE).and_then(|rest| rest.strip_prefix('.'));
        name == BARE_FILE || number.is_some_and(|number| number.parse::<usize>().is_ok())
    };
    match fs.exists(directory)? {
        true => Ok(fs.list(directory)?.into_iter().filter(is_one).collect()),
        false => Ok(Vec::new()),
    }
}

/// Whether a file is of the kind that has no header.
pub(super) fn is_bare(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == BARE_FILE)
}

/// Where in a file of [`files_in`] the copies begin, which go to its end; `None` if it was not finished when
/// it was made.
pub fn copies_begin(path: &Path, file: &dyn File, page_size: PageSize) -> io::Result<Option<u64>> {
    if is_bare(path) {
        return Ok(Some(0));
    }
    Ok(read(file, page_size)?.map(|(layout, _)| layout.copies_at(0)))
}

/// The shape of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) lanes: usize,
    /// Copies of a lane.
    pub(super) pages: usize,
    pub(super) page_size: PageSize,
}

impl Layout {
    /// Where the list of a lane is.
    pub(super) fn list_at(self, lane: usize) -> u64 {
        ((1 + lane) * LIST_PLACE) as u64
    }

    /// Where the copies of a lane are.
    pub(super) fn copies_at(self, lane: usize) -> u64 {
        self.list_at(self.lanes) + self.page_size.bytes_of((lane * self.pages) as u64)
    }

    /// Bytes of the file.
    pub(super) fn len(self) -> u64 {
        self.copies_at(self.lanes)
    }

    /// The header, with the room for it.
    pub(super) fn header(self, log_id: u64) -> AlignedBuf {
        let mut bytes = AlignedBuf::zeroed(LIST_PLACE);
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&(self.lanes as u32).to_le_bytes());
        bytes[16..20].copy_from_slice(&(self.pages as u32).to_le_bytes());
        bytes[20..28].copy_from_slice(&log_id.to_le_bytes());
        let checksum = crc32c(&bytes[..HEADER_BYTES]);
        bytes[HEADER_BYTES..HEADER_BYTES + 4].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

/// The shape of a file of pages of `page_size` and the redo log that it belongs to, as its header says;
/// `None` if there is no whole header.
pub(super) fn read(file: &dyn File, page_size: PageSize) -> io::Result<Option<(Layout, u64)>> {
    if file.len()? < LIST_PLACE as u64 {
        return Ok(None);
    }
    let mut bytes = AlignedBuf::zeroed(LIST_PLACE);
    file.read_at(&mut bytes, 0)?;
    let mut reader = Reader::new(&bytes[MAGIC.len()..HEADER_BYTES + 4]);
    let mut fields = || {
        Some((
            reader.u32().ok()?,
            reader.u32().ok()?,
            reader.u32().ok()?,
            reader.u64().ok()?,
            reader.u32().ok()?,
        ))
    };
    let Some((version, lanes, pages, log_id, checksum)) = fields() else { return Ok(None) };
    if bytes[..MAGIC.len()] != MAGIC || checksum != crc32c(&bytes[..HEADER_BYTES]) {
        return Ok(None);
    }
    if version != VERSION {
        let text = format!("a doublewrite file of version {version}, which this server does not know");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(Some((Layout { lanes: lanes as usize, pages: pages as usize, page_size }, log_id)))
}

/// A list of pages, as it is written: blocks of [`LIST_BLOCK`].
pub(super) fn encode_list(pages: impl ExactSizeIterator<Item = (PageId, Lsn)>) -> AlignedBuf {
    let (count, used) = (pages.len(), LIST_HEAD + pages.len() * LIST_ENTRY);
    let mut bytes = AlignedBuf::zeroed(used.next_multiple_of(LIST_BLOCK));
    bytes[4..8].copy_from_slice(&(count as u32).to_le_bytes());
    for ((id, lsn), entry) in pages.zip(bytes[LIST_HEAD..].chunks_exact_mut(LIST_ENTRY)) {
        entry[..4].copy_from_slice(&id.space.0.to_le_bytes());
        entry[4..8].copy_from_slice(&id.page.0.to_le_bytes());
        entry[8..].copy_from_slice(&lsn.0.to_le_bytes());
    }
    let checksum = crc32c(&bytes[4..used]);
    bytes[..4].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The pages of a list; none if it is not whole, because no page is written in place before its list is.
pub(super) fn decode_list(bytes: &[u8]) -> Vec<(PageId, Lsn)> {
    let mut reader = Reader::new(bytes);
    let (Ok(checksum), Ok(count)) = (reader.u32(), reader.u32()) else { return Vec::new() };
    let used = LIST_HEAD + count as usize * LIST_ENTRY;
    if count as usize > MAX_PAGES || bytes.len() < used || crc32c(&bytes[4..used]) != checksum {
        return Vec::new();
    }
    let mut entry = || {
        let (space, page, lsn) = (reader.u32().ok()?, reader.u32().ok()?, reader.u64().ok()?);
        Some((PageId { space: SpaceId(space), page: PageNo(page) }, Lsn(lsn)))
    };
    (0..count).map_while(|_| entry()).collect()
}
