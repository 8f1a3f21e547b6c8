//! Which pages of a space are compressed, and the room on the disk that this leaves.
//!
//! A page that is stored compressed begins where the page would, and the rest of its place is a hole in the
//! file:
//!
//! ```text
//!   place of page 6   place of page 7   place of page 8
//!   |####            |################|########        |      # bytes of the stored form, else a hole
//! ```
//!
//! The order is: write the stored forms, sync, punch. A hole is punched where nothing that is durable lies,
//! so it may come about or be lost with the power at any time. A page that takes more blocks than before is
//! written into the hole, for which the disk may be too full: that is told as of any write, and the batch is
//! written again until there is room.
//!
//! Punching costs more than writing (13 us have been measured), so what a page's place holds is remembered,
//! a byte a page, and only what has become superfluous is punched. Nothing is known of a place at first: it
//! counts as full. A write that is whole or not at all fills the place, and it is punched each time.
//!
//! # Back-off
//!
//! Compressing what cannot be compressed costs most and gains nothing. After `PATIENCE` pages in a row that
//! did not become smaller by a block, one more of them makes the next page be stored as it is, then two, four
//! and so on, up to `LONGEST_PAUSE`; the first that does become smaller ends that.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use palisade_base::PageNo;
use palisade_io::File;
use parking_lot::Mutex;

use crate::metrics;
use crate::page_size::PageSize;
use crate::planted::{Planted, makes};
use crate::stored::{BLOCK, Codec, Encoder};

/// So many pages in a row may fail to become smaller before it is tried less often.
const PATIENCE: u32 = 8;
/// Most pages that are stored as they are between two attempts.
const LONGEST_PAUSE: u32 = 1024;

/// How pages of one space are compressed.
pub struct Packing {
    codec: Codec,
    level: Option<u8>,
    /// Attempts in a row that failed.
    failures: AtomicU32,
    /// Pages that are still stored as they are before the next attempt.
    pause: AtomicU32,
    /// The file system punches holes, as far as is known.
    punches: AtomicBool,
    /// Blocks that each page's place has on the disk; 0 if that is not known.
    blocks: Mutex<Vec<u8>>,
}

impl Packing {
    /// Compresses with `codec`, at zlib's `level` if one is given, else at the
    /// [pool's](crate::BufferPool::set_compression_level).
    pub fn new(codec: Codec, level: Option<u8>) -> Packing {
        Packing {
            codec,
            level,
            failures: AtomicU32::new(0),
            pause: AtomicU32::new(0),
            punches: AtomicBool::new(true),
            blocks: Mutex::default(),
        }
    }

    /// The codec, and zlib's level if it has one of its own.
    pub fn choice(&self) -> (Codec, Option<u8>) {
        (self.codec, self.level)
    }

    /// Whether the file system has said that it punches no holes: pages are stored as they are.
    pub fn is_pointless(&self) -> bool {
        !self.punches.load(Ordering::Relaxed)
    }

    /// Compresses the sealed page in `bytes`, unless that is pointless now. Bytes of its stored form.
    pub(crate) fn pack(&self, encoder: &mut Encoder, pool_level: u8, bytes: &mut [u8]) -> usize {
        if self.is_pointless() || self.pauses() {
            metrics::PAGE_COMPRESSION_SKIPPED.increment();
            return bytes.len();
        }
        match encoder.encode(self.codec, self.level.unwrap_or(pool_level), bytes) {
            Some(stored) => {
                self.failures.store(0, Ordering::Relaxed);
                metrics::PAGES_COMPRESSED.increment();
                metrics::PAGE_COMPRESSION_SAVED.add((bytes.len() - stored) as u64);
                stored
            }
            None => {
                let failures = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
                if let Some(beyond) = failures.checked_sub(PATIENCE + 1) {
                    let pause = 1u32.checked_shl(beyond).unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE);
                    self.pause.store(pause, Ordering::Relaxed);
                }
                metrics::PAGE_COMPRESSION_FAILED.increment();
                bytes.len()
            }
        }
    }

    /// Counts one page of a pause, if there is one.
    fn pauses(&self) -> bool {
        let pause = self.pause.load(Ordering::Relaxed);
        if pause > 0 {
            self.pause.store(pause - 1, Ordering::Relaxed);
        }
        pause > 0
    }

    /// `written` bytes are about to be written to the place of `page`: it has room for them from now on,
    /// whatever becomes of the write.
    pub(crate) fn gets_room(&self, page: PageNo, written: usize) {
        if let Some(known @ 1..) = self.blocks.lock().get_mut(page.0 as usize) {
            *known = (*known).max((written / BLOCK) as u8);
        }
    }

    /// The stored form of `page` is durable in its place: punches what its place has beyond it.
    pub(crate) fn is_in_place(&self, file: &dyn File, size: PageSize, page: PageNo, stored: usize) {
        let now = (stored / BLOCK) as u8;
        let had = match self.blocks.lock().get(page.0 as usize) {
            None | Some(0) => (size.bytes() / BLOCK) as u8,
            Some(had) => *had,
        };
        if now < had && !self.is_pointless() {
            let kept = if makes(Planted::HoleIsTooLarge) { stored - BLOCK } else { stored };
            let offset = size.offset(page) + kept as u64;
            match file.punch_hole(offset, u64::from(had - now) * BLOCK as u64) {
                Ok(()) => metrics::PAGE_HOLES_PUNCHED.increment(),
                // The room is lost until the page is written the next time, and nothing else.
                Err(error) => return self.cannot_punch(&error),
            }
        }
        let mut blocks = self.blocks.lock();
        let at = page.0 as usize;
        if at >= blocks.len() {
            blocks.resize(at + 1, 0);
        }
        if let Some(known) = blocks.get_mut(at) {
            *known = now;
        }
    }

    fn cannot_punch(&self, error: &io::Error) {
        metrics::PAGE_PUNCH_FAILED.increment();
        if error.kind() == io::ErrorKind::Unsupported && self.punches.swap(false, Ordering::Relaxed) {
            eprintln!("palisade: the file system punches no holes; pages are stored as they are: {error}");
        }
    }

    /// The places of `count` pages from `first` on have got room, or lost it.
    pub(crate) fn forget(&self, first: PageNo, count: u32) {
        let (first, count) = (first.0 as usize, count as usize);
        self.blocks.lock().iter_mut().skip(first).take(count).for_each(|blocks| *blocks = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{self, Page};

    const SIZE: PageSize = PageSize::DEFAULT;
    const PAGE_SIZE: usize = SIZE.bytes();
    use palisade_base::prng::{Prng, test_seed};
    use palisade_base::{PageId, SpaceId};

    fn page_of(fill: impl FnOnce(&mut Page)) -> Box<Page> {
        let id = PageId { space: SpaceId(5), page: PageNo(6) };
        let mut page = Page::zeroed(SIZE);
        page.format(id);
        fill(&mut page);
        page::seal(id, &mut page);
        page
    }

    #[test]
    fn what_does_not_compress_is_tried_less_and_less_until_it_does() {
        let mut random = Prng::new(test_seed(3));
        let noise = page_of(|page| random.fill(&mut page[crate::PAGE_HEADER..]));
        let calm = page_of(|_| {});
        let (packing, mut encoder) = (Packing::new(Codec::Lz4, None), Encoder::default());
        let mut try_one = |page: &Page| {
            let attempts = packing.failures.load(Ordering::Relaxed);
            let stored = packing.pack(&mut encoder, 6, &mut page.to_owned());
            (packing.failures.load(Ordering::Relaxed) != attempts, stored)
        };
        let attempts = (0..10_000).filter(|_| try_one(&noise).0).count();
        assert!((25..40).contains(&attempts), "{attempts} attempts");
        let stored: Vec<usize> = (0..2000).map(|_| try_one(&calm).1).collect();
        let first = stored.iter().position(|stored| *stored < PAGE_SIZE).unwrap();
        assert!(first <= LONGEST_PAUSE as usize);
        assert!(stored[first..].iter().all(|stored| *stored == BLOCK));
    }

    #[test]
    fn only_what_has_become_superfluous_is_punched() {
        use palisade_io::{FaultFileSystem, FileSystem, OpenMode};
        use std::path::Path;
        let fs = FaultFileSystem::new(1);
        let file = fs.open(Path::new("f"), OpenMode::CREATE_NEW).unwrap();
        file.allocate(0, 10 * PAGE_SIZE as u64).unwrap();
        let packing = Packing::new(Codec::Zstd, None);
        let punched = |stored: usize| {
            fs.start_trace();
            packing.is_in_place(&*file, SIZE, PageNo(2), stored);
            fs.take_trace()
        };
        assert_eq!(punched(2 * BLOCK), "punch_hole f 40960+8192\n");
        assert_eq!(punched(2 * BLOCK), "");
        assert_eq!(punched(BLOCK), "punch_hole f 36864+4096\n");
        assert_eq!(punched(PAGE_SIZE), "");
        assert_eq!(punched(3 * BLOCK), "punch_hole f 45056+4096\n");
        packing.gets_room(PageNo(2), 2 * BLOCK);
        assert_eq!(punched(3 * BLOCK), "");
        packing.gets_room(PageNo(2), PAGE_SIZE);
        assert_eq!(punched(3 * BLOCK), "punch_hole f 45056+4096\n");
        packing.forget(PageNo(0), 3);
        packing.gets_room(PageNo(2), 3 * BLOCK);
        assert_eq!(punched(3 * BLOCK), "punch_hole f 45056+4096\n");
    }
}
