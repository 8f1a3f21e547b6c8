//! A file of pages from its first to its last: each page's checksum, number, LSN and content.
//!
//! A few large reads are always under way, so that a disk or an array of disks reads at its full rate, and
//! each is looked at when its turn comes. A large read that fails is done again page by page, which tells the
//! page that cannot be read.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use palisade_base::{Lsn, PageId, PageNo, SpaceId};
use palisade_buffer::{Corruption, Page, PageRead, PageSize, PlaceStore, page, stored};
use palisade_io::{AlignedBuf, File, IoPool};

use super::{Progress, Watch};

/// Bytes of one read.
const CHUNK: usize = 4 << 20;
/// Pages between two reports of progress where they are read one by one.
const PAGES_WATCHED: u32 = 256;
/// Reads under way.
const DEPTH: usize = 4;
/// Damaged pages that are remembered of one file.
const MOST_SUSPECTS: usize = 10_000;

/// What was found in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSummary {
    /// The file, relative to the data directory.
    pub file: String,
    /// The space.
    pub space: SpaceId,
    /// Its table, if it has one.
    pub table: Option<(String, String)>,
    /// Pages that the file has.
    pub pages: u64,
    /// Of these, pages that were never written: all zeros.
    pub zeroed: u64,
    /// Pages that are not as they were written.
    pub damaged: u64,
    /// The highest LSN of a page.
    pub newest_lsn: Lsn,
    /// Bytes behind the last whole page.
    pub odd_bytes: u64,
}

/// A page that is not as it should be, on the disk; recovery may know better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Suspect {
    pub(super) page: PageNo,
    pub(super) what: What,
    /// What its header says, if it can be believed: index and level.
    pub(super) node: Option<(u64, u16)>,
}

/// What is wrong with a page on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Bytes(Corruption),
    Content(&'static str),
    Lsn(Lsn),
    Unreadable,
}

/// What pages are compared with.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    /// Where the redo log ends, if it could be read: no page can be newer.
    pub(super) end_lsn: Option<Lsn>,
    /// Whether the content of a page can be.
    pub(super) check: fn(&Page) -> Result<(), &'static str>,
    /// Bytes of a page.
    pub(super) size: PageSize,
}

/// Reads all pages of a file. Blocks. An error means that the file's length cannot be had.
pub(super) fn scan(
    file: &Arc<dyn File>,
    io: &IoPool,
    expected: Expected,
    summary: &mut FileSummary,
    watch: &mut Watch<'_>,
) -> io::Result<Vec<Suspect>> {
    let (len, size) = (file.len()?, expected.size.bytes());
    summary.pages = len / size as u64;
    summary.odd_bytes = len % size as u64;
    let name = summary.file.clone();
    let mut suspects = Suspects { found: Vec::new(), copy: Page::zeroed(expected.size) };
    let whole = summary.pages * size as u64;
    read_chunks(file, io, 0..whole, &mut |offset, bytes| {
        let first = (offset / size as u64) as u32;
        match bytes {
            Ok(bytes) => {
                for (number, bytes) in (first..).zip(bytes.chunks_exact(size)) {
                    suspects.look(PageNo(number), bytes, expected, summary);
                }
                watch(Progress { what: &name, pages: (bytes.len() / size) as u64 })
            }
            Err(len) => {
                let mut buffer = AlignedBuf::zeroed(expected.size.bytes());
                for number in first..first + (len / size) as u32 {
                    match file.read_at(&mut buffer, expected.size.offset(PageNo(number))) {
                        Ok(()) => suspects.look(PageNo(number), &buffer, expected, summary),
                        Err(_) => suspects.note(PageNo(number), What::Unreadable, None, summary),
                    }
                }
                watch(Progress { what: &name, pages: (len / size) as u64 })
            }
        }
    });
    Ok(suspects.found)
}

/// Reads all pages of a space that is written out of place. Blocks.
pub(super) fn scan_placed(
    store: &PlaceStore,
    expected: Expected,
    summary: &mut FileSummary,
    watch: &mut Watch<'_>,
) -> Vec<Suspect> {
    let (pages, size) = (store.pages(), expected.size);
    summary.pages = pages.into();
    let name = summary.file.clone();
    let mut suspects = Suspects { found: Vec::new(), copy: Page::zeroed(expected.size) };
    let mut buffer = AlignedBuf::zeroed(expected.size.bytes());
    for page in (0..pages).map(PageNo) {
        let place = store.place(page);
        buffer.fill(0);
        let is_read = place.is_none()
            || store.file().read_at(&mut buffer[..place.bytes(size)], place.offset(size)).is_ok();
        match is_read {
            true => suspects.look(page, &buffer, expected, summary),
            false => suspects.note(page, What::Unreadable, None, summary),
        }
        if page.0 % PAGES_WATCHED == PAGES_WATCHED - 1
            && !watch(Progress { what: &name, pages: PAGES_WATCHED.into() })
        {
            break;
        }
    }
    suspects.found
}

/// A chunk of a file, or its length if it cannot be read.
type Chunk<'a> = Result<&'a [u8], usize>;

/// Reads bytes of a file front to back, and gives each chunk, with its offset, to `take` until that
/// says no.
pub(super) fn read_chunks(
    file: &Arc<dyn File>,
    io: &IoPool,
    bytes: Range<u64>,
    take: &mut dyn FnMut(u64, Chunk<'_>) -> bool,
) {
    let mut under_way: VecDeque<(u64, usize, Receiver<Option<AlignedBuf>>)> = VecDeque::new();
    let mut next = bytes.start;
    loop {
        while under_way.len() < DEPTH && next < bytes.end {
            let step = (bytes.end - next).min(CHUNK as u64) as usize;
            let (sender, receiver) = sync_channel(1);
            let (file, offset) = (file.clone(), next);
            io.submit(move || {
                let mut buffer = AlignedBuf::zeroed(step);
                let read = file.read_at(&mut buffer, offset);
                // The receiver is gone if the check was ended: then no caller wants the bytes.
                let _ = sender.send(read.ok().map(|()| buffer));
            });
            under_way.push_back((next, step, receiver));
            next += step as u64;
        }
        let Some((offset, step, receiver)) = under_way.pop_front() else { return };
        let goes_on = match receiver.recv().ok().flatten() {
            Some(buffer) => take(offset, Ok(&buffer)),
            None => take(offset, Err(step)),
        };
        if !goes_on {
            return;
        }
    }
}

struct Suspects {
    found: Vec<Suspect>,
    copy: Box<Page>,
}

impl Suspects {
    fn note(&mut self, page: PageNo, what: What, node: Option<(u64, u16)>, summary: &mut FileSummary) {
        summary.damaged += 1;
        if self.found.len() < MOST_SUSPECTS {
            self.found.push(Suspect { page, what, node });
        }
    }

    fn look(&mut self, number: PageNo, bytes: &[u8], expected: Expected, summary: &mut FileSummary) {
        let id = PageId { space: summary.space, page: number };
        self.copy.copy_from_slice(bytes);
        let whole = page::verify(id, bytes).and_then(|()| stored::decode(&mut self.copy));
        // The body of a damaged compressed page says nothing.
        let is_readable = whole.is_ok() || stored::stored_len(bytes) == bytes.len();
        let node = (is_readable && self.copy.page_type() == palisade_btree::page_type::NODE).then(|| {
            use palisade_btree::layout::node;
            (self.copy.u64_at(node::INDEX_ID), self.copy.u16_at(node::LEVEL))
        });
        match whole {
            Ok(_) => {}
            Err(Corruption::Zeroed) => return summary.zeroed += 1,
            Err(what) => return self.note(number, What::Bytes(what), node, summary),
        }
        let lsn = self.copy.page_lsn();
        if expected.end_lsn.is_some_and(|end| lsn > end) {
            return self.note(number, What::Lsn(lsn), node, summary);
        }
        summary.newest_lsn = summary.newest_lsn.max(lsn);
        if let Err(what) = (expected.check)(&self.copy) {
            self.note(number, What::Content(what), node, summary);
        }
    }
}

/// What a doublewrite file holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Copies {
    /// Places that have been written to.
    pub(super) written: u64,
    /// Of these, copies that are not whole.
    pub(super) torn: u64,
}

/// Reads the copies of a doublewrite file, pages of `size`, which begin at `begin`.
pub(super) fn scan_copies(
    file: &Arc<dyn File>,
    begin: u64,
    size: PageSize,
    io: &IoPool,
) -> io::Result<Copies> {
    let pages = size.pages_in(file.len()?.saturating_sub(begin));
    let mut copies = Copies::default();
    read_chunks(file, io, begin..begin + size.bytes_of(pages.into()), &mut |_, bytes| {
        let Ok(bytes) = bytes else { return true };
        for bytes in bytes.chunks_exact(size.bytes()) {
            match page::verify(page::stored_id(bytes), bytes) {
                Ok(()) => copies.written += 1,
                Err(Corruption::Zeroed) => {}
                Err(_) => {
                    copies.written += 1;
                    copies.torn += 1;
                }
            }
        }
        true
    });
    Ok(copies)
}

#[cfg(test)]
mod tests {
    use palisade_io::{FileSystem, MemFileSystem, OpenMode, Waiting};
    use std::path::Path;

    use super::*;

    #[test]
    fn chunks_come_in_order_and_cover_the_file_and_can_be_ended() {
        let fs = MemFileSystem::new();
        let file = fs.open(Path::new("f"), OpenMode::CREATE).unwrap();
        let len = 3 * CHUNK + 5 * PageSize::DEFAULT.bytes();
        let bytes: Vec<u8> = (0..len).map(|at| (at / 4096) as u8).collect();
        file.write_at(&bytes, 0).unwrap();
        for threads in [0, 3] {
            let io =
                if threads == 0 { IoPool::inline() } else { IoPool::new(threads, Waiting::Threads).unwrap() };
            let mut read = Vec::new();
            read_chunks(&file, &io, 0..len as u64, &mut |offset, chunk| {
                assert_eq!(offset, read.len() as u64);
                read.extend_from_slice(chunk.unwrap());
                true
            });
            assert!(read == bytes);
            let mut chunks = 0;
            read_chunks(&file, &io, 0..len as u64, &mut |_, _| {
                chunks += 1;
                chunks < 2
            });
            assert_eq!(chunks, 2);
        }
    }
}
