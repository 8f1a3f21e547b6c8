//! Block 0 of a file whose pages are out of place: it says so, and of which space they are.
//!
//! ```text
//!   0 crc u32 of what follows | 4 "PALPLACE" | 12 version u32 | 16 space u32
//! ```

use std::io;

use palisade_base::SpaceId;
use palisade_base::checksum::crc32c;
use palisade_io::{AlignedBuf, File};

/// What block 0 begins with, behind its checksum.
pub(super) const MAGIC: [u8; 8] = *b"PALPLACE";
pub(super) const VERSION: u32 = 1;
/// Bytes of the header that mean something, and those that are read and written: the least block.
const HEADER: usize = 20;
const HEAD: usize = 4096;

/// The space that a file says to have the pages of, out of place; `None` if it is not such a file.
pub fn header_of(file: &dyn File) -> io::Result<Option<SpaceId>> {
    Ok(header_in(&read_head(file)?))
}

/// The first bytes of a file; zeros of one that is shorter.
pub(super) fn read_head(file: &dyn File) -> io::Result<AlignedBuf> {
    let mut header = AlignedBuf::zeroed(HEAD);
    if file.len()? >= HEAD as u64 {
        file.read_at(&mut header, 0)?;
    }
    Ok(header)
}

/// The same, of a file's first block.
pub(super) fn header_in(header: &[u8]) -> Option<SpaceId> {
    let is_whole = crc32c(&header[4..HEADER]).to_le_bytes() == header[..4];
    let is_one = is_whole && header[4..12] == MAGIC && header[12..16] == VERSION.to_le_bytes();
    is_one.then(|| SpaceId(u32::from_le_bytes([header[16], header[17], header[18], header[19]])))
}

/// Writes what [`header_of`] finds.
pub(super) fn write_header(space: SpaceId, file: &dyn File) -> io::Result<()> {
    let mut header = AlignedBuf::zeroed(HEAD);
    header[4..12].copy_from_slice(&MAGIC);
    header[12..16].copy_from_slice(&VERSION.to_le_bytes());
    header[16..20].copy_from_slice(&space.0.to_le_bytes());
    let checksum = crc32c(&header[4..HEADER]);
    header[..4].copy_from_slice(&checksum.to_le_bytes());
    file.write_at(&header, 0)
}
