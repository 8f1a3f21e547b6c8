//! Block 0 of a file whose pages are out of place: it says so, of which space they are, and how much of the
//! map has been written.
//!
//! ```text
//!   0 crc u32 of what follows | 4 "PALPLACE" | 12 version u32 | 16 space u32 | 20 chunks u32 (version 2)
//! ```
//!
//! It is within a sector, so that a write of it that is cut off leaves the one before.

use std::io;

use palisade_base::SpaceId;
use palisade_base::checksum::crc32c;
use palisade_io::{AlignedBuf, File};

/// What block 0 begins with, behind its checksum.
pub(super) const MAGIC: [u8; 8] = *b"PALPLACE";
/// The version that counts the chunks of the map.
pub(super) const VERSION: u32 = 2;
/// The version before, which does not.
const UNCOUNTED: u32 = 1;
/// Bytes of the header that mean something, in this version and in the one before.
const HEADER: usize = 24;
const UNCOUNTED_HEADER: usize = 20;
/// Bytes that are read and written: the least block.
const HEAD: usize = 4096;

/// What a header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) space: SpaceId,
    /// So many chunks, from the first on, have been written into the map; `None` in a header of version 1.
    pub(super) chunks: Option<u32>,
}

/// The space that a file says to have the pages of, out of place; `None` if it is not such a file.
pub fn header_of(file: &dyn File) -> io::Result<Option<SpaceId>> {
    Ok(Header::decode(&read_head(file)?).map(|header| header.space))
}

/// The first bytes of a file; zeros of one that is shorter.
pub(super) fn read_head(file: &dyn File) -> io::Result<AlignedBuf> {
    let mut header = AlignedBuf::zeroed(HEAD);
    if file.len()? >= HEAD as u64 {
        file.read_at(&mut header, 0)?;
    }
    Ok(header)
}

impl Header {
    /// The header in a file's first block; `None` if it is none, or damaged.
    pub(super) fn decode(head: &[u8]) -> Option<Header> {
        let field = |at: usize| Some(u32::from_le_bytes(*head.get(at..)?.first_chunk()?));
        let version = field(12)?;
        let len = match version {
            VERSION => HEADER,
            UNCOUNTED => UNCOUNTED_HEADER,
            _ => return None,
        };
        let is_whole = crc32c(head.get(4..len)?) == field(0)? && head.get(4..12)? == MAGIC;
        let chunks = if version == VERSION { Some(field(20)?) } else { None };
        is_whole.then_some(Header { space: SpaceId(field(16)?), chunks })
    }

    fn encode(self, head: &mut [u8]) {
        let (version, len) = match self.chunks {
            Some(_) => (VERSION, HEADER),
            None => (UNCOUNTED, UNCOUNTED_HEADER),
        };
        head[4..12].copy_from_slice(&MAGIC);
        head[12..16].copy_from_slice(&version.to_le_bytes());
        head[16..20].copy_from_slice(&self.space.0.to_le_bytes());
        head[20..24].copy_from_slice(&self.chunks.unwrap_or(0).to_le_bytes());
        let checksum = crc32c(&head[4..len]);
        head[..4].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Makes it the header of a file.
    pub(super) fn write(self, file: &dyn File) -> io::Result<()> {
        let mut head = AlignedBuf::zeroed(HEAD);
        self.encode(&mut head);
        file.write_at(&head, 0)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_either_version_reads_back_and_every_flipped_bit_is_noticed() {
        for header in
            [None, Some(0), Some(7), Some(u32::MAX)].map(|chunks| Header { space: SpaceId(5), chunks })
        {
            let mut head = vec![0; HEAD];
            header.encode(&mut head);
            assert_eq!(Header::decode(&head), Some(header));
            let len = if header.chunks.is_some() { HEADER } else { UNCOUNTED_HEADER };
            for bit in 0..8 * len {
                head[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Header::decode(&head), None, "bit {bit}");
                head[bit / 8] ^= 1 << (bit % 8);
            }
            assert_eq!(Header::decode(&head[..len - 1]), None);
        }
        assert_eq!(Header::decode(&[0; HEAD]), None);
    }
}
