//! How a page reaches disk.
//!
//! A cleaner collects copies of dirty pages into a batch. Each [`Space`](crate::Space) has a sink; the
//! batch is divided into [parts](BatchPart), one for each sink that its pages have, and each sink gets its
//! part. What every sink promises:
//!
//! * when [`write`](PageSink::write) returns `Ok`, every page of the part is durable at its place, and the
//!   checkpoint may pass the changes in it;
//! * if the machine stops at any moment in between, each page of the part can afterwards be read as it was
//!   before or as it is in the part - after the [repair](crate::doublewrite), if the sink needs one - except
//!   with [`Off`], which promises this only for devices that write a page whole.
//!
//! `Unsynced`, the sink of scratch spaces, promises less: nothing of them is to be there after a crash.
//!
//! The log up to the batch's newest page LSN is durable before a sink sees it.
//!
//! ```text
//!   candidates, sorted ─► one pass for each sink ─► | part: doublewrite | part: another sink | ─► one after the other
//! ```
//!
//! Where all spaces have one sink there is one pass and one part. Parts are written in order, and a part for
//! which the disk is too full holds up those behind it: two sinks may share a doublewrite lane, and what a
//! lane holds is needed until its pages are in place.
//!
//! Pages of a space that is compressed leave in their [stored form](crate::stored), which is made between the
//! copy and the sink: no latch is held, and no session waits for it.
//!
//! Lanes: each cleaner writes through a lane of its own, so that a sink with a place per lane needs no lock.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use palisade_base::{Lsn, PageId, SpaceId};
use palisade_io::counts::{self, FileUse};
use palisade_io::{AlignedBuf, Extent, File, Write, WriteQueue};

use crate::metrics::{self, UnderWay};
use crate::packing::Packing;
use crate::page::{self, Page};
use crate::page_size::PageSize;
use crate::places::Place;
use crate::places::record::Placed;
use crate::planted::{Planted, makes};
use crate::pool::PageBlank;
use crate::space::is_no_space;
use crate::stored::Encoder;

/// A page in a batch.
pub struct BatchPage {
    /// Which page.
    pub id: PageId,
    /// Its LSN.
    pub lsn: Lsn,
    /// The file of its space; `None` if that is gone.
    pub file: Option<Arc<dyn File>>,
    /// Bytes of its [stored form](crate::stored): the first ones of the page's in memory.
    pub stored: usize,
    /// There is [nothing](Page::is_blank) in it.
    pub is_blank: bool,
    /// How it is compressed, if its space is.
    packing: Option<Arc<Packing>>,
    /// It is where it shall be, although others of its part are not.
    is_written: AtomicBool,
}

impl BatchPage {
    /// Whether there is a file that it is still to be written to.
    pub(crate) fn is_due(&self) -> bool {
        self.file.is_some() && !self.is_written.load(Relaxed)
    }

    /// What a record says of it.
    pub(crate) fn placed(&self, place: Place) -> Placed {
        Placed { page: self.id, place, lsn: self.lsn }
    }

    /// It is durable: should its part fail, it is not to be written again.
    pub(crate) fn note_written(&self) {
        self.is_written.store(true, Relaxed);
    }
}

/// Sealed copies of pages on their way to disk, one behind the other in memory: part by part, and within a
/// part in ascending order of page id. A page that is compressed keeps the memory of a whole one.
pub(crate) struct Batch {
    pages: Vec<BatchPage>,
    bytes: AlignedBuf,
    size: PageSize,
    parts: Vec<Part>,
    /// Parts that have been written; they are the first ones.
    written: usize,
    encoder: Encoder,
}

/// The pages of a batch that one sink writes.
struct Part {
    sink: Arc<dyn PageSink>,
    pages: Range<usize>,
}

impl Batch {
    /// An empty batch with room for `capacity` pages.
    pub(crate) fn with_capacity(capacity: usize, size: PageSize) -> Self {
        Batch {
            pages: Vec::with_capacity(capacity),
            bytes: AlignedBuf::zeroed(capacity * size.bytes()),
            size,
            parts: Vec::new(),
            written: 0,
            encoder: Encoder::default(),
        }
    }

    /// Pages the batch has room for.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.len() / self.size.bytes()
    }

    /// Where the next part begins.
    fn part_start(&self) -> usize {
        self.parts.last().map_or(0, |part| part.pages.end)
    }

    /// Adds a copy of a page, which the caller latches shared meanwhile, to the part that is being made.
    /// Says whether the page is blank.
    pub(crate) fn push(&mut self, id: PageId, file: &Arc<dyn File>, page: &Page) -> bool {
        assert!(
            self.pages[self.part_start()..].last().is_none_or(|last| last.id < id),
            "a part is in ascending order of page id"
        );
        let size = self.size.bytes();
        let start = self.pages.len() * size;
        self.bytes[start..start + size].copy_from_slice(page);
        let (lsn, file) = (page::stored_lsn(page), Some(file.clone()));
        let is_blank = page.is_blank();
        self.pages.push(BatchPage {
            id,
            lsn,
            file,
            stored: size,
            is_blank,
            packing: None,
            is_written: AtomicBool::new(false),
        });
        is_blank
    }

    /// The page that was pushed last is to be compressed.
    pub(crate) fn pack_last(&mut self, packing: Arc<Packing>) {
        self.pages.last_mut().expect("a page was pushed").packing = Some(packing);
    }

    /// What was pushed since the last part is a part for `sink`.
    pub(crate) fn end_part(&mut self, sink: Arc<dyn PageSink>) {
        let pages = self.part_start()..self.pages.len();
        if !pages.is_empty() {
            self.parts.push(Part { sink, pages });
        }
    }

    /// Parts that have been ended.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Computes the checksums, and compresses what is to be, once `blank` has taken out what means nothing;
    /// by zlib at `level`.
    pub(crate) fn seal(&mut self, level: u8, blank: PageBlank) {
        for (entry, bytes) in self.pages.iter_mut().zip(self.bytes.chunks_exact_mut(self.size.bytes())) {
            if entry.packing.is_some() {
                blank(Page::of_bytes(bytes));
            }
            page::seal(entry.id, bytes);
            if let Some(packing) = &entry.packing {
                entry.stored = packing.pack(&mut self.encoder, level, bytes);
            }
        }
    }

    /// The newest page LSN in the batch.
    pub(crate) fn newest_lsn(&self) -> Lsn {
        self.pages.iter().map(|page| page.lsn).max().unwrap_or(Lsn::ZERO)
    }

    /// The pages of `space` are not to be written any more, and its file may go.
    pub(crate) fn forget(&mut self, space: SpaceId) {
        self.pages.iter_mut().filter(|page| page.id.space == space).for_each(|page| page.file = None);
    }

    /// Writes the first part that has not been written. Its number; `None` if all have been.
    pub(crate) fn write_part(&mut self, lane: usize, queue: &mut WriteQueue) -> io::Result<Option<usize>> {
        let number = self.written;
        let Some(part) = self.parts.get(number) else { return Ok(None) };
        let Range { start, end } = part.pages;
        let size = self.size;
        let bytes = &self.bytes[start * size.bytes()..end * size.bytes()];
        part.sink.write(lane, BatchPart { pages: &self.pages[start..end], bytes, size }, queue)?;
        self.written += 1;
        // Their files may go, whatever becomes of the other parts.
        self.pages[start..end].iter_mut().for_each(|page| page.file = None);
        Ok(Some(number))
    }

    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        self.parts.clear();
        self.written = 0;
    }
}

/// Sealed copies of pages for one sink, in ascending order of page id, one behind the other in memory.
#[derive(Clone, Copy)]
pub struct BatchPart<'a> {
    pages: &'a [BatchPage],
    bytes: &'a [u8],
    size: PageSize,
}

impl<'a> BatchPart<'a> {
    /// The pages of the part.
    pub fn pages(&self) -> &'a [BatchPage] {
        self.pages
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> PageSize {
        self.size
    }

    /// The copies of all pages, in the order of [`pages`](Self::pages), a page's bytes for each; those behind
    /// a compressed one are zeros.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first `pages` pages, and the others.
    pub(crate) fn split_at(self, pages: usize) -> (BatchPart<'a>, BatchPart<'a>) {
        let (first, rest) = self.pages.split_at(pages);
        let (first_bytes, rest_bytes) = self.bytes.split_at(pages * self.size.bytes());
        (
            BatchPart { pages: first, bytes: first_bytes, ..self },
            BatchPart { pages: rest, bytes: rest_bytes, ..self },
        )
    }

    /// Writes every page to its place and makes the files durable: all runs of neighbours at once, then all
    /// files at once. Then what places have beyond a compressed page becomes a hole: by then nothing that is
    /// durable lies there.
    pub(crate) fn write_in_place(&self, queue: &mut WriteQueue) -> io::Result<()> {
        self.write_places(queue, Extent::Any)
    }

    /// The same, each page whole or not at all: a write for each page, with the zeros behind one that is
    /// compressed. [`io::ErrorKind::Unsupported`] if that is refused for one.
    pub(crate) fn write_whole_in_place(&self, queue: &mut WriteQueue) -> io::Result<()> {
        self.write_places(queue, Extent::Whole)
    }

    fn write_places(&self, queue: &mut WriteQueue, extent: Extent) -> io::Result<()> {
        let files = self.write_unsynced(queue, extent)?;
        if !makes(Planted::PlacesAreNotSynced) {
            sync(queue, &files, FileUse::Data)?;
        }
        self.punch();
        Ok(())
    }

    /// Writes every page to its place. Gives the files, which are still to be made durable.
    fn write_unsynced(&self, queue: &mut WriteQueue, extent: Extent) -> io::Result<Vec<Arc<dyn File>>> {
        let size = self.size.bytes();
        let (mut writes, mut files) = (Vec::new(), Vec::new());
        let (mut start, mut pages, mut bytes) = (0, 0, 0);
        for space in self.pages.chunk_by(|a, b| a.id.space == b.id.space) {
            let Some(file) = &space[0].file else {
                start += space.len() * size;
                continue;
            };
            let is_run = |a: &BatchPage, b: &BatchPage| extent == Extent::Any && is_followed(a, b, size);
            for run in space.chunk_by(is_run) {
                let stored = match extent {
                    Extent::Any => run.iter().map(|page| page.stored).sum::<usize>(),
                    Extent::Whole => size,
                };
                for page in run {
                    let written = if extent == Extent::Whole { size } else { page.stored };
                    page.packing.iter().for_each(|packing| packing.gets_room(page.id.page, written));
                }
                let offset = self.size.offset(run[0].id.page);
                writes.push(Write { file, bytes: &self.bytes[start..start + stored], offset, extent });
                start += run.len() * size;
                bytes += stored;
            }
            pages += space.len();
            files.push(file.clone());
        }
        match write(queue, &writes) {
            Err(error) if is_no_space(&error) && makes(Planted::FullDiskIsPassedOver) => {}
            outcome => outcome?,
        }
        metrics::BUFFER_PAGES_WRITTEN.add(pages as u64);
        metrics::BUFFER_DATA_WRITTEN.add(bytes as u64);
        Ok(files)
    }

    /// The pages are durable in their places.
    pub(crate) fn punch(&self) {
        for page in self.pages {
            if let (Some(packing), Some(file)) = (&page.packing, &page.file) {
                packing.is_in_place(&**file, self.size, page.id.page, page.stored);
            }
        }
    }
}

/// Whether page `b` begins where the stored form of `a` ends, on the disk and in memory.
fn is_followed(a: &BatchPage, b: &BatchPage, size: usize) -> bool {
    a.stored == size && a.id.page.0 + 1 == b.id.page.0
}

/// Does all of `writes`, which are counted, in no order.
pub(crate) fn write(queue: &mut WriteQueue, writes: &[Write<'_>]) -> io::Result<()> {
    let _pending = UnderWay::begin(&metrics::OS_PENDING_WRITES, writes.len());
    queue.write_all(writes)?;
    metrics::OS_DATA_WRITES.add(writes.len() as u64);
    for write in writes {
        counts::count_write(&**write.file, FileUse::Data, write.bytes.len() as u64);
    }
    Ok(())
}

/// Syncs files. If that fails it is unknown what is on the disk, for whatever reason it was: a full disk,
/// too, is not told as such, because nothing may be tried again.
pub(crate) fn sync(queue: &mut WriteQueue, files: &[Arc<dyn File>], of: FileUse) -> io::Result<()> {
    let due: Vec<_> = files.iter().filter(|file| file.is_sync_due()).cloned().collect();
    let _pending = UnderWay::begin(&metrics::OS_PENDING_FSYNCS, due.len());
    queue.sync_all(&due).map_err(sync_failed)?;
    metrics::OS_DATA_FSYNCS.add(due.len() as u64);
    due.iter().for_each(|file| counts::count_sync(&**file, of, Duration::ZERO));
    Ok(())
}

/// The error of a sync, as told by [`sync`].
pub(crate) fn sync_failed(error: io::Error) -> io::Error {
    io::Error::other(format!("a sync failed: {error}"))
}

/// Decides how a page reaches disk; see the module head for what it promises.
pub trait PageSink: Send + Sync {
    /// Its name, as in the status variable `Palisade_page_sink`.
    fn name(&self) -> &'static str;

    /// Pages of a part at most.
    fn batch_pages(&self) -> usize;

    /// Lanes there are: cleaners that can write at once.
    fn lanes(&self) -> usize;

    /// Makes the pages of `part` durable, through `lane` and its `queue`, which no other cleaner uses
    /// meanwhile. An error means that it is unknown what is on disk. If it says that the disk is full, the
    /// lane is used for nothing else until the same part has been written: some of its pages may be torn.
    fn write(&self, lane: usize, part: BatchPart<'_>, queue: &mut WriteQueue) -> io::Result<()>;
}

/// In place, and a torn page stays torn: for measuring, and for devices that write a page whole.
#[derive(Debug, Default)]
pub struct Off;

impl PageSink for Off {
    fn name(&self) -> &'static str {
        "off"
    }

    fn batch_pages(&self) -> usize {
        usize::MAX
    }

    fn lanes(&self) -> usize {
        usize::MAX
    }

    fn write(&self, _lane: usize, part: BatchPart<'_>, queue: &mut WriteQueue) -> io::Result<()> {
        part.write_in_place(queue)
    }
}

/// In place and never durable: for scratch spaces, whose pages are gone with the process.
#[derive(Debug, Default)]
pub(crate) struct Unsynced;

impl PageSink for Unsynced {
    fn name(&self) -> &'static str {
        "unsynced"
    }

    fn batch_pages(&self) -> usize {
        usize::MAX
    }

    fn lanes(&self) -> usize {
        usize::MAX
    }

    fn write(&self, _lane: usize, part: BatchPart<'_>, queue: &mut WriteQueue) -> io::Result<()> {
        part.write_unsynced(queue, Extent::Any).map(drop)
    }
}
