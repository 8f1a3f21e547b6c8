//! A map that is lost, made again from the pages themselves.
//!
//! Every page says which it is, how new it is, and whether it is whole. So a file tells where its pages are:
//! of the whole copies of a page that are in it, the one with the highest LSN. That is what the last place
//! record says, or what a record would have said that a crash has left no trace of: such a copy is as good,
//! as a page is written only when the log is durable to its LSN.
//!
//! *What cannot be seen*: a newest copy that is damaged. The page is then what an older copy says, if there
//! is one, and no checksum tells. With the map it is told, because the map says where to look. That is why no
//! server does this unless it is asked to.
//!
//! A run is found at the first of its blocks and its other blocks are passed over, so that what a client has
//! stored inside a page is not taken for one. What is left of a run that was overwritten in part is not whole
//! any more; the rest of it is looked at block by block.

use std::collections::BTreeMap;
use std::io;

use palisade_base::{Lsn, PageId, SpaceId};
use palisade_io::{AlignedBuf, File};

use super::chunk::{self, CHUNK_PLACES, ChunkImage, FOUND, SLOT};
use super::header::{Header, read_head};
use super::map::{ChunkRead, read_chunk};
use super::place::{MAX_BLOCKS, Place};
use crate::page;
use crate::page_size::PageSize;
use crate::planted::{Planted, makes};
use crate::stored;

/// Blocks that are read at a time: no run crosses a multiple of these.
const WINDOW: u32 = 64;

/// What the file of a space holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundPages {
    /// Pages of which there is a whole copy.
    pub pages: u64,
    /// Blocks that could not be read.
    pub unreadable: u64,
}

/// The places of one chunk, and how new what is there is.
struct Found {
    image: ChunkImage,
    lsns: Box<[Lsn; CHUNK_PLACES]>,
}

/// Writes a map that says where the pages in `file`, each of `size` bytes, are into `map`, which is empty;
/// the caller makes that durable. A damaged header of `file` is made again. Parts of the map of before,
/// `old`, that are whole stay as they were: they know where the newest copy of a page must be. The log has to
/// be recovered as with any other map.
///
/// Reads all of `file`. An error if it has no page of the space, nor a whole header, and is not new; or if a
/// part of `old` cannot be read at the moment, as it may be whole.
pub fn rebuild_map(
    space: SpaceId,
    file: &dyn File,
    old: Option<&dyn File>,
    map: &dyn File,
    size: PageSize,
) -> io::Result<FoundPages> {
    let block = size.block();
    let blocks = (file.len()? / block as u64).min(u64::from(MAX_BLOCKS)) as u32;
    let mut chunks = BTreeMap::new();
    let mut found = FoundPages { pages: 0, unreadable: 0 };
    let mut window = AlignedBuf::zeroed(WINDOW as usize * block);
    for first in (0..blocks).step_by(WINDOW as usize) {
        let bytes = &mut window[..(blocks - first).min(WINDOW) as usize * block];
        found.unreadable += read_window(file, size, first, bytes)?;
        let mut at = 0;
        while at < bytes.len() {
            let run = whole_run(space, size, bytes, at);
            let place = run.map(|blocks| Place::new(first + (at / block) as u32, blocks));
            if let Some(place) = place {
                note(&mut chunks, place, &bytes[at..at + place.bytes(size)]);
            }
            at += place.map_or(block, |place| place.bytes(size));
        }
    }
    let head = read_head(file)?;
    let header = Header::decode(&head).filter(|header| header.space == space);
    let is_new = chunks.is_empty() && head.iter().all(|byte| *byte == 0);
    if header.is_none() && !is_new && chunks.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file has no whole page"));
    }
    let mut images: BTreeMap<usize, ChunkImage> =
        chunks.into_iter().map(|(number, Found { image, .. })| (number, image)).collect();
    images.values_mut().for_each(|image| image.lsn = FOUND);
    if let Some(old) = old {
        images.extend(whole_chunks(space, old)?);
    }
    // A header of before counts chunks, and none is missing before the last one.
    let counted = header.and_then(|header| header.chunks).unwrap_or(0) as usize;
    let end = images.last_key_value().map_or(0, |(last, _)| last + 1).max(counted);
    let mut slot = AlignedBuf::zeroed(SLOT);
    for number in 0..end {
        let empty = || ChunkImage { lsn: FOUND, ..ChunkImage::default() };
        let mut image = images.remove(&number).unwrap_or_else(empty);
        image.sequence = image.sequence.max(1);
        found.pages += image.places.iter().filter(|place| !place.is_none()).count() as u64;
        image.encode(space, number as u32, &mut slot);
        (0..2).try_for_each(|copy| map.write_at(&slot, chunk::slot_offset(number, copy)))?;
    }
    if header.is_none() && !is_new {
        // Until the new map is in its place, the old one is refused for lack of as many chunks.
        Header { space, chunks: Some(end as u32) }.write(file)?;
    }
    Ok(found)
}

/// The chunks of a map that can be believed.
fn whole_chunks(space: SpaceId, map: &dyn File) -> io::Result<Vec<(usize, ChunkImage)>> {
    let chunks = map.len()?.div_ceil(2 * SLOT as u64) as usize;
    let mut slots = AlignedBuf::zeroed(2 * SLOT);
    let mut whole = Vec::new();
    for number in 0..chunks {
        match read_chunk(space, map, number, &mut slots)? {
            ChunkRead::Image(image, _) => whole.push((number, image)),
            ChunkRead::Blank | ChunkRead::Bad => {}
        }
    }
    Ok(whole)
}

/// Reads blocks from `first` on. Those that cannot be read are zeros; how many they are.
fn read_window(file: &dyn File, size: PageSize, first: u32, bytes: &mut [u8]) -> io::Result<u64> {
    let block = size.block();
    let offset = u64::from(first) * block as u64;
    if file.read_at(bytes, offset).is_ok() {
        return Ok(0);
    }
    let mut unreadable = 0;
    for (bytes, offset) in bytes.chunks_exact_mut(block).zip((offset..).step_by(block)) {
        if file.read_at(bytes, offset).is_err() {
            bytes.fill(0);
            unreadable += 1;
        }
    }
    Ok(unreadable)
}

/// Blocks of the run of a page of this space that begins at `at` of a window and is whole, if one does.
fn whole_run(space: SpaceId, size: PageSize, window: &[u8], at: usize) -> Option<u32> {
    let bytes = &window[at..];
    let id = page::stored_id(bytes);
    let len = stored::stored_len_of(size, bytes);
    let is_aligned = len < size.bytes() || at.is_multiple_of(size.bytes());
    let is_one = id.space == space && id.page.0 < MAX_BLOCKS && is_aligned && len <= bytes.len();
    (is_one && page::has_own_checksum(&bytes[..len])).then_some(len.div_ceil(size.block()) as u32)
}

/// Takes note of a whole run, if it is the newest so far of its page.
fn note(chunks: &mut BTreeMap<usize, Found>, place: Place, bytes: &[u8]) {
    let PageId { page, .. } = page::stored_id(bytes);
    let (number, at) = chunk::locate(page);
    let found = chunks
        .entry(number)
        .or_insert_with(|| Found { image: ChunkImage::default(), lsns: Box::new([Lsn::ZERO; CHUNK_PLACES]) });
    let lsn = page::stored_lsn(bytes);
    if found.image.places[at].is_none() || lsn >= found.lsns[at] || makes(Planted::OldCopyIsTaken) {
        (found.image.places[at], found.lsns[at]) = (place, lsn);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use palisade_base::PageNo;
    use palisade_io::{FileSystem, MemFileSystem, OpenMode};

    use super::*;
    use crate::page::Page;
    use crate::places::{PlaceStore, header_of};

    const SIZE: PageSize = PageSize::DEFAULT;
    const PAGE_SIZE: usize = SIZE.bytes();
    const BLOCK: usize = SIZE.block();
    const SPACE: SpaceId = SpaceId(9);

    fn page(number: u32, lsn: u64, body: &[u8]) -> Box<Page> {
        let id = PageId { space: SPACE, page: PageNo(number) };
        let mut page = Page::zeroed(SIZE);
        page.format(id);
        page.set_page_lsn(Lsn(lsn));
        page[BLOCK..BLOCK + body.len()].copy_from_slice(body);
        page::seal(id, &mut page);
        page
    }

    fn new_file(fs: &MemFileSystem, name: &str) -> Arc<dyn File> {
        fs.open(Path::new(name), OpenMode::CREATE_NEW).unwrap()
    }

    #[test]
    fn the_newest_whole_copy_of_a_page_is_found_and_none_inside_another() {
        let fs = MemFileSystem::new();
        let (file, map) = (new_file(&fs, "file"), new_file(&fs, "map"));
        // A client has stored a page, a compressed one with a high LSN, as a value.
        let mut forged = page(3, 1 << 40, &[]);
        let len = stored::Encoder::default().encode(stored::Codec::Lz4, 0, &mut forged).unwrap();
        let mut torn = page(3, 99, b"torn");
        torn[PAGE_SIZE - 1] ^= 1;
        let run = |block: u32| u64::from(block) * BLOCK as u64;
        for (block, page) in [
            (4, page(3, 10, b"old")),
            (8, page(3, 20, &forged[..len])),
            (12, torn),
            (64, page(2000, 7, b"far")),
            (70, page(5, 7, b"not where a whole page begins")),
        ] {
            file.write_at(&page, run(block)).unwrap();
        }
        let found = rebuild_map(SPACE, &*file, None, &*map, SIZE).unwrap();
        assert_eq!(found, FoundPages { pages: 2, unreadable: 0 });

        // The file had no header.
        let store = PlaceStore::open(SPACE, file, map, SIZE).unwrap();
        let places = [3, 2000, 5].map(|number| store.place(PageNo(number)));
        assert_eq!(places, [Place::new(8, 4), Place::new(64, 4), Place::NONE]);
        store.complete().unwrap();
    }

    /// A part of the map of before that is whole knows more than the pages do: a copy that is newer by its
    /// LSN lies where no page is, and what the map does not name was given up.
    #[test]
    fn whole_parts_of_the_map_of_before_stay_when_the_rest_is_made_again() {
        let fs = MemFileSystem::new();
        let [file, old, map] = ["file", "old", "map"].map(|name| new_file(&fs, name));
        for (block, page) in [
            (4, page(3, 10, b"named by the map")),
            (8, page(3, 20, b"newer, and not named")),
            (12, page(4, 20, b"not named at all")),
            (16, page(2000, 7, b"in the part that is lost")),
        ] {
            file.write_at(&page, block * BLOCK as u64).unwrap();
        }
        Header { space: SPACE, chunks: Some(3) }.write(&*file).unwrap();
        let mut whole = ChunkImage { lsn: Lsn(300), sequence: 9, ..ChunkImage::default() };
        whole.places[3] = Place::new(4, 4);
        let mut slot = [0; SLOT];
        for (chunk, copies) in [(0, &[0, 1][..]), (2, &[1])] {
            whole.encode(SPACE, chunk, &mut slot);
            for copy in copies {
                old.write_at(&slot, chunk::slot_offset(chunk as usize, *copy)).unwrap();
            }
        }
        old.write_at(&[7; 2 * SLOT], chunk::slot_offset(1, 0)).unwrap();
        rebuild_map(SPACE, &*file, Some(&*old), &*map, SIZE).unwrap();

        let mut slots = AlignedBuf::zeroed(2 * SLOT);
        let mut read = |number| match read_chunk(SPACE, &*map, number, &mut slots).unwrap() {
            ChunkRead::Image(image, _) => image,
            _ => panic!("chunk {number} is not whole"),
        };
        assert_eq!((read(0), read(2)), (whole.clone(), whole));
        let made = read(1);
        assert_eq!((made.lsn, made.places[2000 - CHUNK_PLACES]), (FOUND, Place::new(16, 4)));
    }

    #[test]
    fn a_file_without_a_page_of_the_space_is_left_as_it_is() {
        let fs = MemFileSystem::new();
        let (file, map) = (new_file(&fs, "file"), new_file(&fs, "map"));
        file.write_at(&page(0, 10, b"another's"), 0).unwrap();
        assert!(rebuild_map(SpaceId(10), &*file, None, &*map, SIZE).is_err());
        assert_eq!((header_of(&*file).unwrap(), map.len().unwrap()), (None, 0));
    }
}
