//! A chunk of the map file: the places of 1,016 pages, as of a moment.
//!
//! ```text
//!   file NNNNNN.map:  chunk 0, slot A | chunk 0, slot B | chunk 1, slot A | ...      4 KiB each
//!   slot:  0 crc u32 | 4 version u32 | 8 space u32 | 12 chunk u32
//!          16 lsn u64 | 24 sequence u64 | 32 places u32 x 1016
//! ```
//!
//! # Torn and rotten slots
//!
//! A chunk is written to slot A, synced, then to slot B, synced: after that both hold the same. So whatever
//! moment the power fails at, and also if a slot rots later, *the good slot with the highest sequence number
//! is the newest state that was ever relied upon*:
//!
//! | slots | how it came | right because |
//! |---|---|---|
//! | n, n | at rest | |
//! | bad, n | slot A has rotted | |
//! | n, bad | slot B was being written, or has rotted | |
//! | bad, n-1 | slot A was being written | the log has the records since: the mark stays until then |
//! | n, n-1 | between the two writes | as above, also after a start: `map` |
//! | bad, bad | two faults | it is told: [`BadChunk`] |
//! | any, zeros | the first write ever, or zeros that something has made | the `map` module tells which |
//!
//! With slots written by turns, the third line from below and a slot that rots at rest would look the same,
//! and the second would silently bring back places of pages that are older than the log reaches.

use palisade_base::checksum::crc32c;
use palisade_base::codec::Reader;
use palisade_base::{Lsn, PageNo, SpaceId};

use super::place::Place;

/// Bytes of a slot.
pub const SLOT: usize = 4096;
/// Places in a chunk.
pub const CHUNK_PLACES: usize = (SLOT - HEADER) / 4;
/// Bytes before the places.
const HEADER: usize = 32;
/// The LSN of a chunk whose places were found in the file: the records in the log, up to wherever it ends,
/// say nothing that it does not know better, those not to be believed among them. It is replaced by that end
/// when the log has been read.
pub const FOUND: Lsn = Lsn(u64::MAX);
/// Version of the format.
pub(super) const VERSION: u32 = 1;

const _: () = assert!(CHUNK_PLACES == 1016);

/// What a slot holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChunkImage {
    /// Every place record that ends at or below this is in it.
    pub lsn: Lsn,
    /// How often the chunk has been written.
    pub sequence: u64,
    /// The places of the chunk's pages.
    pub places: Box<[Place; CHUNK_PLACES]>,
}

/// Neither slot of a chunk can be read, or what they say cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadChunk;

impl Default for ChunkImage {
    fn default() -> Self {
        ChunkImage { lsn: Lsn::ZERO, sequence: 0, places: Box::new([Place::NONE; CHUNK_PLACES]) }
    }
}

/// The chunk that a page's place is in, and where.
pub fn locate(page: PageNo) -> (usize, usize) {
    (page.0 as usize / CHUNK_PLACES, page.0 as usize % CHUNK_PLACES)
}

/// Where a slot is in the map file. There are two, 0 and 1.
pub fn slot_offset(chunk: usize, slot: usize) -> u64 {
    (chunk as u64 * 2 + slot as u64) * SLOT as u64
}

impl ChunkImage {
    /// Fills `slot`, which has [`SLOT`] bytes.
    pub fn encode(&self, space: SpaceId, chunk: u32, slot: &mut [u8]) {
        assert_eq!(slot.len(), SLOT, "a slot has its size");
        slot[4..8].copy_from_slice(&VERSION.to_le_bytes());
        slot[8..12].copy_from_slice(&space.0.to_le_bytes());
        slot[12..16].copy_from_slice(&chunk.to_le_bytes());
        slot[16..24].copy_from_slice(&self.lsn.0.to_le_bytes());
        slot[24..32].copy_from_slice(&self.sequence.to_le_bytes());
        for (bytes, place) in slot[HEADER..].chunks_exact_mut(4).zip(self.places.iter()) {
            bytes.copy_from_slice(&place.bits().to_le_bytes());
        }
        let checksum = crc32c(&slot[4..]);
        slot[..4].copy_from_slice(&checksum.to_le_bytes());
    }

    /// What a slot holds; `None` if it is not a whole slot of this chunk.
    pub fn decode(space: SpaceId, chunk: u32, slot: &[u8]) -> Option<ChunkImage> {
        let mut reader = Reader::new(slot.get(..SLOT)?);
        let is_whole = crc32c(slot.get(4..SLOT)?) == reader.u32().ok()?;
        let names = [reader.u32().ok()?, reader.u32().ok()?, reader.u32().ok()?];
        if !is_whole || names != [VERSION, space.0, chunk] {
            return None;
        }
        let (lsn, sequence) = (Lsn(reader.u64().ok()?), reader.u64().ok()?);
        let mut places = Box::new([Place::NONE; CHUNK_PLACES]);
        for place in places.iter_mut() {
            *place = Place::from_bits(reader.u32().ok()?);
        }
        Some(ChunkImage { lsn, sequence, places })
    }

    /// The newest state of a chunk, given both its slots; slots that were never written are zeros, and the
    /// chunk is then one of sequence 0. See the module for why it is that.
    pub fn newest(space: SpaceId, chunk: u32, slots: [&[u8]; 2]) -> Result<ChunkImage, BadChunk> {
        let [a, b] = slots.map(|slot| ChunkImage::decode(space, chunk, slot));
        match (a, b) {
            (Some(a), Some(b)) => Ok(if b.sequence > a.sequence { b } else { a }),
            (Some(image), None) | (None, Some(image)) => Ok(image),
            // Slot B was never written: no record or page relies on what slot A was to hold.
            (None, None) if slots[1].iter().all(|byte| *byte == 0) => Ok(ChunkImage::default()),
            (None, None) => Err(BadChunk),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    const SPACE: SpaceId = SpaceId(7);

    fn image(sequence: u64, random: &mut Prng) -> ChunkImage {
        let mut image = ChunkImage { lsn: Lsn(sequence * 1000), sequence, ..ChunkImage::default() };
        image.places.iter_mut().for_each(|place| *place = Place::from_bits(random.next_u64() as u32));
        image
    }

    fn encoded(image: &ChunkImage) -> Vec<u8> {
        let mut slot = vec![0; SLOT];
        image.encode(SPACE, 3, &mut slot);
        slot
    }

    #[test]
    fn a_slot_reads_back_and_every_flipped_bit_is_noticed() {
        let mut random = Prng::new(test_seed(41));
        let image = image(5, &mut random);
        let mut slot = encoded(&image);
        assert_eq!(ChunkImage::decode(SPACE, 3, &slot), Some(image));
        assert_eq!(ChunkImage::decode(SPACE, 4, &slot), None);
        assert_eq!(ChunkImage::decode(SpaceId(8), 3, &slot), None);
        for _ in 0..3000 {
            let bit = random.below(8 * SLOT as u64) as usize;
            slot[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(ChunkImage::decode(SPACE, 3, &slot), None, "bit {bit}");
            slot[bit / 8] ^= 1 << (bit % 8);
        }
    }

    /// Every state that writing slot A, then slot B can leave, and one fault at rest.
    #[test]
    fn the_newest_whole_slot_is_the_chunk() {
        let mut random = Prng::new(test_seed(42));
        let (old, new) = (image(4, &mut random), image(5, &mut random));
        let [old_bytes, new_bytes] = [&old, &new].map(encoded);
        let torn = |cut: usize| [&new_bytes[..cut], &old_bytes[cut..]].concat();
        let newest = |a: &[u8], b: &[u8]| ChunkImage::newest(SPACE, 3, [a, b]);
        for cut in (512..SLOT).step_by(512) {
            assert_eq!(newest(&torn(cut), &old_bytes), Ok(old.clone()), "cut at {cut}");
            assert_eq!(newest(&new_bytes, &torn(cut)), Ok(new.clone()), "cut at {cut}");
            assert_eq!(newest(&torn(cut), &torn(cut)), Err(BadChunk));
            let first = [&new_bytes[..cut], &vec![0; SLOT - cut]].concat();
            assert_eq!(newest(&first, &vec![0; SLOT]), Ok(ChunkImage::default()), "the first write ever");
            assert_eq!(
                newest(&[0; SLOT], &first),
                Err(BadChunk),
                "slot A was durable before slot B was written"
            );
        }
        assert_eq!(newest(&new_bytes, &old_bytes), Ok(new.clone()));
        assert_eq!(newest(&old_bytes, &new_bytes), Ok(new), "a write that the device lost");
        assert_eq!(newest(&[0; SLOT], &[0; SLOT]), Ok(ChunkImage::default()));
        assert_eq!(newest(&[], &[]), Ok(ChunkImage::default()), "behind the end of the map");
    }

    #[test]
    fn any_bytes_are_decoded_or_refused() {
        let mut random = Prng::new(test_seed(43));
        for _ in 0..500 {
            let bytes: Vec<u8> =
                (0..random.below(2 * SLOT as u64)).map(|_| random.next_u64() as u8).collect();
            assert_eq!(ChunkImage::decode(SPACE, 3, &bytes), None);
        }
    }
}
