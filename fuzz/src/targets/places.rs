//! The map of a table out of place, and place records of the redo log.
//!
//! ```text
//! kind u8 | header of the file of pages (24) | slots of the map, 4 KiB each
//! kind u8 | a place record
//! ```
//!
//! Bit 0 of `kind` set: a map. Bit 1 set: its header and slots get right checksums.

use std::path::Path;
use std::sync::Arc;

use palisade_base::checksum::crc32c;
use palisade_base::{Lsn, PageNo, SpaceId};
use palisade_buffer::places::chunk::{ChunkImage, SLOT};
use palisade_buffer::places::{Place, header_of, record};
use palisade_buffer::{PageSize, PlaceStore};
use palisade_io::{AlignedBuf, File, FileSystem, MemFileSystem, OpenMode};

use super::choice;
use crate::Target;

pub(crate) const TARGET: Target =
    Target { name: "places", seeds, words: &["PALPLACE"], longest: 1 + HEADER + 4 * SLOT, run };

/// Bytes of a header that mean something.
const HEADER: usize = 24;
const SPACE: SpaceId = SpaceId(7);

fn header(chunks: u32) -> Vec<u8> {
    let fields: [&[u8]; 4] =
        [b"PALPLACE", &2_u32.to_le_bytes(), &SPACE.0.to_le_bytes(), &chunks.to_le_bytes()];
    let mut header = vec![0; 4];
    header.extend(fields.concat());
    seal(&mut header);
    header
}

fn slot(chunk: u32, sequence: u64) -> Vec<u8> {
    let mut image = ChunkImage { lsn: Lsn(sequence * 1000), sequence, ..ChunkImage::default() };
    for (number, place) in image.places.iter_mut().take(20).enumerate() {
        *place = Place::new(8 + 4 * (20 * chunk + number as u32), 4);
    }
    let mut bytes = vec![0; SLOT];
    image.encode(SPACE, chunk, &mut bytes);
    bytes
}

fn seeds() -> Vec<Vec<u8>> {
    let map = |chunks: u32, slots: &[Vec<u8>]| [&[3][..], &header(chunks), &slots.concat()].concat();
    let mut place_record = vec![0, record_code(), 7, 2, 3];
    place_record.extend([8, 0, 0, 1, 9, 9, 9, 9, 1, 12, 0, 0, 1, 9, 9, 9, 9]);
    let mut with_blanks = vec![0, record_code() + 1, 7, 2, 3];
    with_blanks.extend([8, 0, 0, 1, 9, 9, 9, 9, 1, 1, 0, 0, 0, 9, 9, 9, 9, 9, 0, 0, 0]);
    vec![
        map(1, &[slot(0, 1), slot(0, 1)]),
        map(2, &[slot(0, 3), slot(0, 2), slot(1, 1), slot(1, 1)]),
        map(1, &[slot(0, 2), vec![0; SLOT]]),
        map(0, &[]),
        place_record,
        with_blanks,
    ]
}

/// The code that a place record begins with.
fn record_code() -> u8 {
    (0..=u8::MAX).find(|code| record::is_record(&[*code])).expect("a record has a code")
}

fn run(input: &[u8]) {
    let Some((kind, rest)) = choice(input) else { return };
    if kind & 1 == 0 {
        let mut pages = 0;
        let _ = record::is_record(rest);
        if record::decode(rest, |_| pages += 1).is_ok() {
            assert!(pages <= rest.len(), "a page takes bytes");
        }
        return;
    }
    let Some((header, slots)) = rest.split_at_checked(HEADER) else { return };
    let (mut header, mut slots) = (header.to_vec(), slots.to_vec());
    if kind & 2 != 0 {
        seal(&mut header);
        slots.chunks_exact_mut(SLOT).for_each(seal);
    }
    let fs = MemFileSystem::new();
    let file = |name: &str, bytes: &[u8]| -> Arc<dyn File> {
        let file = fs.open(Path::new(name), OpenMode::CREATE).expect("memory has room");
        let mut aligned = AlignedBuf::zeroed(bytes.len().next_multiple_of(SLOT).max(SLOT));
        aligned.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        file.write_at(&aligned, 0).expect("memory has room");
        file
    };
    let pages = file("t.pal", &header);
    let map = file("t.map", &slots);
    let _ = header_of(&*pages);
    let Ok(store) = PlaceStore::open(SPACE, pages, map, PageSize::DEFAULT) else { return };
    let _ = (store.has_blank_chunks(), store.pages());
    for page in [0, 1, 19, 20, 1015, 1016, 1017, 2031, 2032, u32::MAX] {
        let place = store.place(PageNo(page));
        let _ = (place.is_none(), place.block(), place.blocks());
    }
}

/// The first four bytes become the checksum of the others.
fn seal(bytes: &mut [u8]) {
    if let Some((checksum, rest)) = bytes.split_first_chunk_mut::<4>() {
        *checksum = crc32c(rest).to_le_bytes();
    }
}
