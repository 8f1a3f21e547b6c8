//! The doublewrite file: a copy of every page, before it is overwritten.
//!
//! ```text
//! file "doublewrite", of fixed size:
//!   lane 0: copy 0 | copy 1 | ... | copy N-1      lane 1: ...
//! ```
//!
//! A batch is written to its lane, fsynced, and only then written in place and fsynced there; the lane is
//! overwritten by the next batch only after that: a batch for which the disk was too full is written again
//! before any other. A page write that the machine interrupted is therefore a torn page in place and a whole
//! copy in a lane - or, if the copy is torn, a page in place that no write had touched yet. Copies are sealed
//! pages and so name their page and prove that they are whole; the file needs no directory.
//!
//! # Repair
//!
//! For every whole copy whose page in place is not whole, the copy with the highest LSN is put in its place.
//! The torn write was the last one begun for that page, and its lane cannot have been reused, so the newest
//! copy is the one that was being written. A page that is whole in place is left alone: it is the version
//! before or after, and redo carries on from either. A stale copy of a page whose space is gone finds no
//! file: space ids are never reused.
//!
//! Copies from before the checkpoint are not used. A page that was being written held a change that the
//! checkpoint had not passed, so its LSN is beyond the checkpoint. A page broken otherwise (a flipped bit)
//! may have an old copy left in a lane; putting that back would silently lose what the checkpoint says need
//! not be redone. It stays corrupted, and known.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use palisade_base::{Lsn, PageId};
use palisade_io::{AlignedBuf, File, FileSystem, OpenMode, Syncing, WriteQueue};

use crate::metrics;
use crate::page::{self, PAGE_SIZE};
use crate::sink::{self, BatchPart, PageSink, Repaired, SpaceFiles};

/// In place, after a durable copy elsewhere.
pub struct Doublewrite {
    file: Arc<dyn File>,
    lanes: usize,
    batch_pages: usize,
}

impl Doublewrite {
    /// Name of the file in the data directory.
    pub const FILE_NAME: &str = "doublewrite";

    /// Opens the doublewrite file in `directory`, making it if it is missing, with room for `lanes` cleaners
    /// and batches of `batch_pages` pages (`innodb_doublewrite_pages`). A file of another geometry is read
    /// all the same by [`repair`](Self::repair), and grows as needed. With a `syncing` that leaves syncs out,
    /// a copy may be lost with the power when the page in place is torn by it.
    pub fn open(
        fs: &Arc<dyn FileSystem>,
        directory: &Path,
        lanes: usize,
        batch_pages: usize,
        syncing: Syncing,
    ) -> io::Result<Self> {
        assert!(lanes > 0 && batch_pages > 0, "a doublewrite file has room for a page");
        let file = fs.open(&directory.join(Self::FILE_NAME), OpenMode::CREATE.direct().syncing(syncing))?;
        // Written rather than allocated: overwriting written blocks is no change of the file system's own
        // structures.
        let zeros = AlignedBuf::zeroed(batch_pages * PAGE_SIZE);
        let (mut end, want) = (file.len()?, (lanes * zeros.len()) as u64);
        if end < want {
            end -= end % PAGE_SIZE as u64;
            while end < want {
                let step = (want - end).min(zeros.len() as u64);
                file.write_at(&zeros[..step as usize], end)?;
                end += step;
            }
            file.sync()?;
            fs.sync_dir(directory)?;
        }
        Ok(Doublewrite { file, lanes, batch_pages })
    }

    /// Every whole copy in the file: the newest of each page, with its position in the file.
    fn copies(&self) -> io::Result<BTreeMap<PageId, (Lsn, u64)>> {
        let mut newest = BTreeMap::new();
        let mut bytes = AlignedBuf::zeroed(PAGE_SIZE);
        let slots = self.file.len()? / PAGE_SIZE as u64;
        for slot in 0..slots {
            let position = slot * PAGE_SIZE as u64;
            self.file.read_at(&mut bytes, position)?;
            let id = page::stored_id(&bytes);
            if page::verify(id, &bytes).is_ok() {
                let lsn = page::stored_lsn(&bytes);
                let best = newest.entry(id).or_insert((lsn, position));
                if lsn > best.0 {
                    *best = (lsn, position);
                }
            }
        }
        Ok(newest)
    }

    /// After a crash, before redo and before any page is accessed: restores pages that were being written
    /// when the machine stopped. `checkpoint` is where redo will begin; `space` gives the file of a space, or
    /// `None` if the space is gone.
    pub fn repair(&self, checkpoint: Lsn, space: &mut SpaceFiles<'_>) -> io::Result<Repaired> {
        let copies = self.copies()?;
        let mut repaired = Repaired { copies: copies.len(), ..Repaired::default() };
        let mut in_place = AlignedBuf::zeroed(PAGE_SIZE);
        let mut changed: Vec<Arc<dyn File>> = Vec::new();
        for (id, (lsn, position)) in copies {
            if lsn <= checkpoint {
                continue;
            }
            let Some(file) = space(id.space) else { continue };
            let offset = u64::from(id.page.0) * PAGE_SIZE as u64;
            let whole = file.len()? >= offset + PAGE_SIZE as u64 && {
                file.read_at(&mut in_place, offset)?;
                page::verify(id, &in_place).is_ok()
            };
            if !whole {
                self.file.read_at(&mut in_place, position)?;
                file.write_at(&in_place, offset)?;
                repaired.pages.push(id);
                if !changed.iter().any(|known| Arc::ptr_eq(known, &file)) {
                    changed.push(file);
                }
            }
        }
        for file in changed {
            file.sync()?;
        }
        Ok(repaired)
    }
}

impl PageSink for Doublewrite {
    fn name(&self) -> &'static str {
        "ON"
    }

    fn batch_pages(&self) -> usize {
        self.batch_pages
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn write(&self, lane: usize, part: BatchPart<'_>, queue: &mut WriteQueue) -> io::Result<()> {
        assert!(lane < self.lanes && part.pages().len() <= self.batch_pages, "a part fits its lane");
        self.file.write_at(part.bytes(), (lane * self.batch_pages * PAGE_SIZE) as u64)?;
        metrics::OS_DATA_WRITES.increment();
        sink::sync(queue, std::slice::from_ref(&self.file))?;
        metrics::DBLWR_WRITES.increment();
        metrics::DBLWR_PAGES_WRITTEN.add(part.pages().len() as u64);
        part.write_in_place(queue)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::page::Page;
    use crate::sink::Batch;
    use palisade_base::{PageNo, SpaceId};
    use palisade_io::{IoPool, MemFileSystem};

    const SPACE: SpaceId = SpaceId(9);

    fn id(page: u32) -> PageId {
        PageId { space: SPACE, page: PageNo(page) }
    }

    fn sealed(page: u32, lsn: u64) -> Box<Page> {
        let mut bytes = Page::zeroed();
        bytes.format(id(page));
        bytes.set_page_lsn(Lsn(lsn));
        page::seal(id(page), &mut bytes);
        bytes
    }

    /// What docs/format-doublewrite.md says, and where a stale copy comes from.
    #[test]
    fn a_lane_holds_sealed_copies_and_repair_takes_the_newest_beyond_the_checkpoint() {
        let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
        let sink = Arc::new(Doublewrite::open(&fs, Path::new("d"), 2, 3, Syncing::OnRequest).unwrap());
        let copies = fs.open(Path::new("d/doublewrite"), OpenMode::EXISTING).unwrap();
        assert_eq!(copies.len().unwrap(), (2 * 3 * PAGE_SIZE) as u64);
        let file = fs.open(Path::new("d/space"), OpenMode::CREATE).unwrap();
        let mut queue = WriteQueue::new(Arc::new(IoPool::inline()));

        // Lane 0 keeps an old copy of page 2, lane 1 has a newer one; both lanes have pages that are in
        // place.
        for (lane, pages) in [(0, [(1, 100), (2, 110)]), (1, [(2, 200), (4, 210)])] {
            let mut batch = Batch::with_capacity(3);
            for (page, lsn) in pages {
                batch.push(id(page), &file, &sealed(page, lsn));
            }
            batch.end_part(sink.clone());
            batch.seal(6);
            assert_eq!(batch.write_part(lane, &mut queue).unwrap(), Some(0));
            assert_eq!(batch.write_part(lane, &mut queue).unwrap(), None);
        }
        let mut bytes = vec![0; PAGE_SIZE];
        copies.read_at(&mut bytes, 3 * PAGE_SIZE as u64).unwrap();
        assert_eq!((page::verify(id(2), &bytes), page::stored_lsn(&bytes)), (Ok(()), Lsn(200)));

        // Pages 1 and 2 are torn; the checkpoint has passed the copy of page 1.
        for page in [1, 2] {
            file.write_at(&[0xee; 512], page * PAGE_SIZE as u64 + 1024).unwrap();
        }
        let mut files = |space| (space == SPACE).then(|| file.clone());
        let repaired = sink.repair(Lsn(150), &mut files).unwrap();
        assert_eq!((repaired.pages, repaired.copies), (vec![id(2)], 3));
        file.read_at(&mut bytes, 2 * PAGE_SIZE as u64).unwrap();
        assert!(bytes[..] == sealed(2, 200)[..]);

        // A space that is gone is skipped, and what is whole is left alone.
        assert_eq!(sink.repair(Lsn(0), &mut |_| None).unwrap().pages, []);
        assert_eq!(sink.repair(Lsn(0), &mut files).unwrap().pages, [id(1)]);
        assert_eq!(sink.repair(Lsn(0), &mut files).unwrap().pages, []);
    }
}
