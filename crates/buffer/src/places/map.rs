//! The map of a space as a file: which chunks have been written into it, and what the header says of that.
//!
//! # Zeros
//!
//! A chunk that reads as zeros was never written, or something has made it zeros. Who takes the second for
//! the first has lost the places of its pages, and gives their blocks to others. So the header of the file of
//! pages has a *count*: so many chunks, from the first on, have been written. Zeros below it are damage.
//!
//! ```text
//!   slots A ─► synced ─► header, if it counts fewer ─► slots B ─► synced ─► the log may move on
//! ```
//!
//! *The count is never too high.* The slots A that it speaks of are durable before it is written; and a write
//! writes all chunks before its last one that never were, as they are: mostly empty.
//!
//! *Growth writes nothing.* What is added to the map lies behind the count and reads as zeros, rightly: what
//! there is of these chunks is in the log, which their marks keep until they have been written.
//!
//! *The count may be too low for a while*, as the header has no flush of its own. The flush of the slots B
//! takes it along where files go past the operating system's cache to one device; else it is durable with the
//! next batch of pages. If a power cut takes it, the map has more than the count says. These chunks are read
//! all the same, and the next write of the map counts again. In between, a chunk behind the count that was
//! made zeros can be told only by a later one: whose slot B has been written, all before it had been.
//!
//! # Slots that differ
//!
//! A power cut between the two writes of a chunk leaves slots of which one is newer, or the only whole one.
//! Two things must not happen after it. *The log moves on:* if the newer slot is lost while it is written the
//! next time, the other one counts, and the records since are needed. So such a chunk gets a
//! [mark](super::store) as if it had been changed. *The whole slot is lost:* it is not written anew before
//! the other one is whole. It need not be durable either: a server that was killed between a write and its
//! sync leaves a slot that can be read until the power goes. So it is first written as it is.
//!
//! ```text
//!   A new, B torn:   slot A as it is ─► synced ─► slot B ─► synced ─► slot A ─► synced
//! ```
//!
//! # Version 1
//!
//! Headers of version 1 have no count: a chunk of zeros passes for one that was never written, and none is
//! written for that reason, because it may be damage. The header becomes one of version 2 with the first
//! write of the map after which all chunks that the map has room for have been written.

use std::cmp::Ordering;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use palisade_base::{PageId, PageNo, SpaceId};
use palisade_io::counts::{self, FileUse};
use palisade_io::{AlignedBuf, Extent, File, Write, WriteQueue};
use parking_lot::{Mutex, MutexGuard};

use super::chunk::{self, BadChunk, CHUNK_PLACES, ChunkImage, SLOT};
use super::header::{Header, read_head};
use crate::error::{Corruption, Error};
use crate::metrics::{self, UnderWay};
use crate::planted::{Planted, makes};
use crate::sink;

/// Bytes of both slots of a chunk.
const SLOTS: usize = 2 * SLOT;

/// See the module.
pub(super) struct MapFile {
    space: SpaceId,
    map: Arc<dyn File>,
    /// The file of pages, which has the header.
    pages: Arc<dyn File>,
    written: Mutex<Written>,
}

/// What has been written into the map. The holder is the only one that writes there.
pub(super) struct Written {
    /// `None`: there is none yet.
    header: Option<Header>,
    chunks: Vec<Slots>,
}

/// What the slots of a chunk hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slots {
    /// The chunk was never written.
    Unwritten,
    /// The same.
    Alike,
    /// Slot A is newer, or the only whole one.
    FirstCounts,
    /// Slot B is.
    SecondCounts,
}

/// A chunk that is written.
struct Encoded<'a> {
    number: usize,
    bytes: &'a [u8],
}

/// The map of a space, and the chunks that it has.
pub(super) struct OpenedMap {
    pub(super) map: MapFile,
    pub(super) chunks: Vec<(usize, ChunkImage)>,
    /// Chunks whose slots differ.
    pub(super) uneven: Vec<usize>,
    /// Neither file has anything: no page has ever been written.
    pub(super) is_new: bool,
}

/// What a chunk of a map says.
pub(super) enum ChunkRead {
    Image(ChunkImage, Slots),
    /// Zeros.
    Blank,
    Bad,
}

impl Written {
    /// Chunks up to the first that was not written.
    fn count(&self) -> usize {
        self.chunks.iter().position(|slots| *slots == Slots::Unwritten).unwrap_or(self.chunks.len())
    }

    /// Whether the chunk must be written before a later one is.
    pub(super) fn lacks(&self, number: usize) -> bool {
        let is_counted = self.header.is_none_or(|header| header.chunks.is_some());
        is_counted && self.slots(number) == Slots::Unwritten
    }

    fn slots(&self, number: usize) -> Slots {
        self.chunks.get(number).copied().unwrap_or(Slots::Unwritten)
    }

    /// Whether slot A of the chunk is not to be written before slot B is.
    fn spares_first(&self, number: usize) -> bool {
        self.slots(number) == Slots::FirstCounts && !makes(Planted::WholeSlotGoes)
    }

    fn note(&mut self, number: usize, slots: Slots) {
        if self.chunks.len() <= number {
            self.chunks.resize(number + 1, Slots::Unwritten);
        }
        self.chunks[number] = slots;
    }

    fn note_all(&mut self, images: &[Encoded<'_>], slots: Slots) {
        images.iter().for_each(|image| self.note(image.number, slots));
    }
}

impl MapFile {
    /// The map of a new space, which is empty.
    pub(super) fn create(space: SpaceId, pages: Arc<dyn File>, map: Arc<dyn File>) -> MapFile {
        let written = Mutex::new(Written { header: None, chunks: Vec::new() });
        MapFile { space, map, pages, written }
    }

    /// Reads a map. [`Error::Corrupted`] if it cannot be believed; any other error is one of reading it,
    /// which says nothing of what it holds.
    pub(super) fn open(space: SpaceId, pages: Arc<dyn File>, map: Arc<dyn File>) -> Result<OpenedMap, Error> {
        let first_page = |chunk: usize| PageId { space, page: PageNo((chunk * CHUNK_PLACES) as u32) };
        let failed =
            |chunk, source: io::Error| Error::Io { page: first_page(chunk), source: Arc::new(source) };
        let bad = |chunk| Error::Corrupted { page: first_page(chunk), reason: Corruption::NoPlaces };
        let head = read_head(&*pages).map_err(|error| failed(0, error))?;
        let header = Header::decode(&head);
        let is_blank_head = head.iter().all(|byte| *byte == 0);
        if header.is_some_and(|header| header.space != space) || header.is_none() && !is_blank_head {
            return Err(bad(0));
        }
        let opened = MapFile::create(space, pages, map);
        let counted = header.and_then(|header| header.chunks);
        let mut written = Written { header, chunks: Vec::new() };
        let (mut chunks, mut uneven, mut first_blank) = (Vec::new(), Vec::new(), None);
        let mut slots = AlignedBuf::zeroed(SLOTS);
        let have = opened.chunks_in_file().map_err(|error| failed(0, error))?;
        for number in 0..have.max(counted.unwrap_or(0) as usize) {
            let read = read_chunk(space, &*opened.map, number, &mut slots);
            match read.map_err(|error| failed(number, error))? {
                ChunkRead::Bad => return Err(bad(number)),
                ChunkRead::Blank if counted.is_some_and(|counted| number < counted as usize) => {
                    return Err(bad(number));
                }
                ChunkRead::Blank => drop(first_blank.get_or_insert(number)),
                ChunkRead::Image(image, standing) => {
                    let is_second_written = slots[SLOT..].iter().any(|byte| *byte != 0);
                    if let Some(blank) = first_blank.filter(|_| counted.is_some() && is_second_written) {
                        return Err(bad(blank));
                    }
                    written.note(number, standing);
                    uneven.extend((standing != Slots::Alike).then_some(number));
                    chunks.push((number, image));
                }
            }
        }
        if header.is_none() && !chunks.is_empty() {
            return Err(bad(0));
        }
        let is_new = header.is_none();
        *opened.written.lock() = written;
        Ok(OpenedMap { map: opened, chunks, uneven, is_new })
    }

    /// Chunks that the file has room for, the last one perhaps in part.
    fn chunks_in_file(&self) -> io::Result<usize> {
        Ok(self.map.len()?.div_ceil(SLOTS as u64) as usize)
    }

    /// Whether part of the map reads as if it had never been written.
    pub(super) fn has_blank_chunks(&self) -> io::Result<bool> {
        let written = self.written.lock();
        Ok(written.header.is_some() && written.count() < self.chunks_in_file()?.max(1))
    }

    /// Makes room for so many chunks. They are as good as written by zeros: see the module.
    pub(super) fn make_room(&self, chunks: usize) -> io::Result<()> {
        self.make_room_in(&self.written.lock(), chunks)
    }

    /// The caller has the map alone: where a file system gives no room by itself it is given by writing
    /// zeros, which must not go over a chunk that is being written behind the end.
    fn make_room_in(&self, _alone: &Written, chunks: usize) -> io::Result<()> {
        let (want, have) = (chunk::slot_offset(chunks, 0), self.map.len()?);
        if want > have { self.map.allocate(have, want - have) } else { Ok(()) }
    }

    /// Makes what is in the map durable, whichever process has written it.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.map.sync_contents()
    }

    /// Has the map for the caller alone, until what it gives is dropped.
    pub(super) fn lock(&self) -> MutexGuard<'_, Written> {
        self.written.lock()
    }

    /// Writes the header if the file has none. It becomes durable with the first pages: blocks that are
    /// written for the first time are always synced.
    pub(super) fn ensure_header(&self) -> io::Result<()> {
        let mut written = self.written.lock();
        match written.header {
            Some(_) => Ok(()),
            None => self.write_header(&mut written, 0),
        }
    }

    fn write_header(&self, written: &mut Written, chunks: u32) -> io::Result<()> {
        let header = Header { space: self.space, chunks: Some(chunks) };
        header.write(&*self.pages)?;
        written.header = Some(header);
        Ok(())
    }

    /// Writes chunks, in ascending order, to their first slots, then to their second ones, each durably; see
    /// the module for those whose slots differ. The caller has written all that the map
    /// [lacks](Written::lacks) before the last of them, or does so now.
    pub(super) fn write(
        &self,
        written: &mut Written,
        images: &[(usize, &ChunkImage)],
        queue: &mut WriteQueue,
    ) -> io::Result<()> {
        let Some((last, _)) = images.last() else { return Ok(()) };
        self.make_room_in(written, last + 1)?;
        let mut bytes = AlignedBuf::zeroed(images.len() * SLOT);
        for ((number, image), slot) in images.iter().zip(bytes.chunks_exact_mut(SLOT)) {
            image.encode(self.space, *number as u32, slot);
        }
        let encoded = images.iter().zip(bytes.chunks_exact(SLOT));
        let all: Vec<_> = encoded.map(|((number, _), bytes)| Encoded { number: *number, bytes }).collect();
        let own = |image: &&Encoded<'_>| !written.spares_first(image.number);
        let (early, late): (Vec<_>, Vec<_>) = all.iter().partition(own);
        if makes(Planted::CountIsEarly) {
            self.count(written, &all)?;
        }
        self.harden(&late, queue)?;
        self.write_slots(0, &early, queue)?;
        self.count(written, &all)?;
        if makes(Planted::OneSlot) {
            written.note_all(&all, Slots::Alike);
            return Ok(());
        }
        // A write that fails may leave a slot that is neither.
        written.note_all(&all, Slots::FirstCounts);
        self.write_slots(1, &all.iter().collect::<Vec<_>>(), queue)?;
        written.note_all(&all, Slots::SecondCounts);
        self.write_slots(0, &late, queue)?;
        written.note_all(&all, Slots::Alike);
        Ok(())
    }

    /// Makes the slots A durable that count alone: that they could be read says only that they were written.
    /// They get the bytes that they have, as a sync that failed may have left those behind.
    fn harden(&self, chunks: &[&Encoded<'_>], queue: &mut WriteQueue) -> io::Result<()> {
        let mut bytes = AlignedBuf::zeroed(chunks.len() * SLOT);
        for (chunk, slot) in chunks.iter().zip(bytes.chunks_exact_mut(SLOT)) {
            self.map.read_at(slot, chunk::slot_offset(chunk.number, 0))?;
        }
        let same = chunks.iter().zip(bytes.chunks_exact(SLOT));
        let same: Vec<_> = same.map(|(chunk, bytes)| Encoded { number: chunk.number, bytes }).collect();
        self.write_slots(0, &same.iter().collect::<Vec<_>>(), queue)
    }

    /// Writes one slot of each of some chunks, durably.
    fn write_slots(&self, slot: usize, images: &[&Encoded<'_>], queue: &mut WriteQueue) -> io::Result<()> {
        if images.is_empty() {
            return Ok(());
        }
        let writes = images.iter().map(|image| Write {
            file: &self.map,
            bytes: image.bytes,
            offset: chunk::slot_offset(image.number, slot),
            extent: Extent::Any,
        });
        let writes: Vec<_> = writes.collect();
        sink::write(queue, &writes)?;
        if makes(Planted::MapIsNotSynced) || slot == 0 && makes(Planted::SlotsAreNotSynced) {
            return Ok(());
        }
        // Also where other files are left to the device.
        let _pending = UnderWay::begin(&metrics::OS_PENDING_FSYNCS, 1);
        self.map.sync_contents().map_err(sink::sync_failed)?;
        metrics::OS_DATA_FSYNCS.increment();
        counts::count_sync(&*self.map, FileUse::Data, Duration::ZERO);
        Ok(())
    }

    /// Of each of these chunks a slot is durable: has the header say so.
    fn count(&self, written: &mut Written, images: &[Encoded<'_>]) -> io::Result<()> {
        let is_in_images = |number: usize| images.binary_search_by_key(&number, |image| image.number).is_ok();
        let is_missing =
            |number: &usize| written.slots(*number) == Slots::Unwritten && !is_in_images(*number);
        let count = (written.count()..).find(is_missing).unwrap_or(0);
        let is_due = match written.header {
            Some(Header { chunks: Some(chunks), .. }) => count > chunks as usize,
            Some(Header { chunks: None, .. }) => count >= self.chunks_in_file()?,
            None => true,
        };
        if is_due { self.write_header(written, count as u32) } else { Ok(()) }
    }
}

/// Reads the slots of a chunk into `slots`; those behind the end of the map are zeros. If one cannot be read
/// and the other is not whole, that is an error: what the map says is not known at the moment.
pub(super) fn read_chunk(
    space: SpaceId,
    map: &dyn File,
    number: usize,
    slots: &mut [u8],
) -> io::Result<ChunkRead> {
    let (len, offset) = (map.len()?, chunk::slot_offset(number, 0));
    let have = len.saturating_sub(offset).min(SLOTS as u64) as usize;
    // A map that ends within a slot ends before it.
    let have = have - have % SLOT;
    slots.fill(0);
    let mut failed = None;
    if have > 0 && map.read_at(&mut slots[..have], offset).is_err() {
        failed = read_alone(map, &mut slots[..have], offset);
    }
    let (a, b) = slots.split_at(SLOT);
    match (ChunkImage::newest(space, number as u32, [a, b]), failed) {
        (Ok(image), _) if image.sequence > 0 => {
            let [a, b] = [a, b].map(|slot| ChunkImage::decode(space, number as u32, slot));
            let slots = match a.map(|image| image.sequence).cmp(&b.map(|image| image.sequence)) {
                Ordering::Equal => Slots::Alike,
                Ordering::Greater => Slots::FirstCounts,
                Ordering::Less => Slots::SecondCounts,
            };
            Ok(ChunkRead::Image(image, slots))
        }
        (_, Some(error)) => Err(error),
        (Ok(_), None) => Ok(ChunkRead::Blank),
        (Err(BadChunk), None) => Ok(ChunkRead::Bad),
    }
}

/// Reads slots one by one. One that cannot be read is neither whole nor zeros; the error of the last such.
fn read_alone(map: &dyn File, slots: &mut [u8], offset: u64) -> Option<io::Error> {
    let mut failed = None;
    for (slot, at) in slots.chunks_exact_mut(SLOT).zip((offset..).step_by(SLOT)) {
        if let Err(error) = map.read_at(slot, at) {
            slot.fill(0xff);
            failed = Some(error);
        }
    }
    failed
}

#[cfg(all(test, not(loom)))]
mod tests;
