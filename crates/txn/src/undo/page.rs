//! Undo pages and the directory: where everything is. Little-endian; the first 32 bytes are the buffer pool's.

use palisade_base::{PageNo, TrxId};
use palisade_btree::layout::page_type::FIRST_FOREIGN;
use palisade_buffer::{Page, PageRead, PageSize};

use crate::entry::UndoPtr;

/// Page type of the directory.
pub const DIRECTORY_TYPE: u16 = FIRST_FOREIGN;
/// Page type of a segment's pages.
pub const UNDO_TYPE: u16 = FIRST_FOREIGN + 1;
/// The directory's first page, which has the numbers below; the others only have segments.
pub const DIRECTORY: PageNo = PageNo(1);
/// Bytes of all pages of the directory.
const DIRECTORY_BYTES: usize = 128 << 10;

/// Pages of the directory.
pub const fn directory_pages(size: PageSize) -> u32 {
    (DIRECTORY_BYTES / size.bytes()) as u32
}

/// Directory: `u64`, ids from here on have never been given.
pub const ID_LIMIT: usize = 32;
/// Directory: `u32`, segments that exist.
pub const SEGMENT_COUNT: usize = 40;
/// Directory: per segment, head page `u32`, tail page `u32`, and `u48` the last Commit record that has been purged, if it
/// is still there.
pub const SEGMENTS: usize = 64;
/// Bytes of a segment in the directory.
pub const SEGMENT_SIZE: usize = 16;
/// Segments on a page of the directory.
pub const fn page_segments(page: usize) -> u32 {
    ((page - SEGMENTS) / SEGMENT_SIZE) as u32
}

/// Segments there can be.
pub const fn max_segments(size: PageSize) -> u32 {
    page_segments(size.bytes()) * directory_pages(size)
}

/// Where a segment is in the directory.
pub fn directory_place(page: usize, segment: u16) -> (PageNo, usize) {
    let segments = page_segments(page);
    let (page, place) = (u32::from(segment) / segments, u32::from(segment) % segments);
    (PageNo(DIRECTORY.0 + page), SEGMENTS + place as usize * SEGMENT_SIZE)
}

/// Undo page: `u16`, number of the segment.
pub const SEGMENT: usize = 32;
/// Undo page: `u16`, whether a transaction is in the segment: an [`Occupancy`]. Means something on the tail only, as the
/// next four.
pub const STATE: usize = 34;
/// Undo page: `u48`, the transaction's newest record: offset `u16`, page `u32`.
pub const LAST: usize = 36;
/// Undo page: `u48`, the transaction.
pub const WRITER: usize = 42;
/// Undo page: `u16`, end of the records.
pub const USED: usize = 48;
/// Undo page: `u32`, the page after this one, or 0 on the tail. After `u16` of padding.
pub const NEXT: usize = 52;
/// Undo page: the records.
pub const RECORDS: usize = 56;

/// Where the room for records ends on a page: 16 bits say how far it is used.
#[inline]
pub const fn records_end(page: usize) -> usize {
    if page < u16::MAX as usize { page } else { u16::MAX as usize }
}

/// Bytes for records on a page.
pub const fn capacity(size: PageSize) -> usize {
    records_end(size.bytes()) - RECORDS
}

const _: () = {
    assert!(LAST == STATE + 2 && WRITER == LAST + 6 && USED == WRITER + 6);
    assert!(USED + 2 <= NEXT && NEXT + 4 == RECORDS);
    assert!(
        max_segments(PageSize::LEAST) <= u16::MAX as u32 && max_segments(PageSize::MOST) <= u16::MAX as u32
    );
    assert!(directory_pages(PageSize::LEAST) < 64 && directory_pages(PageSize::MOST) > 0);
};

/// Whether a transaction is in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Occupancy {
    /// None is.
    Free = 0,
    /// One that has not ended. If it is found after a crash, it is rolled back.
    Active = 1,
    /// One that has not ended and has promised to be able to: it stays until somebody says how it ends.
    Prepared = 2,
}

impl Occupancy {
    fn from_u16(state: u16) -> Option<Occupancy> {
        [Occupancy::Free, Occupancy::Active, Occupancy::Prepared]
            .into_iter()
            .find(|known| *known as u16 == state)
    }
}

/// What a tail says of its segment's transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailState {
    /// Whether there is one.
    pub occupancy: Occupancy,
    /// Its newest record.
    pub last: UndoPtr,
    /// Which one.
    pub writer: TrxId,
    /// End of the records on the page.
    pub used: u16,
}

/// Whether the content of a page of the undo space can be; the header's checksum is right. Records are looked
/// at when they are read. `None` for types that are not undo's.
pub fn check_page(page: &Page) -> Option<Result<(), &'static str>> {
    match page.page_type() {
        UNDO_TYPE => Some(TailState::read(page, page.u16_at(SEGMENT)).map(drop)),
        DIRECTORY_TYPE => Some(Ok(())),
        _ => None,
    }
}

impl TailState {
    /// The bytes from [`STATE`] on.
    pub fn encode(&self) -> [u8; USED + 2 - STATE] {
        let mut bytes = [0; USED + 2 - STATE];
        bytes[..2].copy_from_slice(&(self.occupancy as u16).to_le_bytes());
        bytes[2..8].copy_from_slice(&self.last.to_u64().to_le_bytes()[..6]);
        bytes[8..14].copy_from_slice(&self.writer.0.to_le_bytes()[..6]);
        bytes[14..].copy_from_slice(&self.used.to_le_bytes());
        bytes
    }

    /// Reads it from a page, which must be an undo page of `segment`.
    pub fn read(page: &Page, segment: u16) -> Result<TailState, &'static str> {
        if page.page_type() != UNDO_TYPE {
            return Err("not an undo page");
        }
        if page.u16_at(SEGMENT) != segment {
            return Err("an undo page of another segment");
        }
        let used = page.u16_at(USED);
        if usize::from(used) < RECORDS || usize::from(used) > page.size() {
            return Err("impossible end of the undo records");
        }
        let occupancy =
            Occupancy::from_u16(page.u16_at(STATE)).ok_or("impossible state of an undo segment")?;
        let u48 = |offset| u64::from(page.u32_at(offset)) | u64::from(page.u16_at(offset + 4)) << 32;
        let (last, writer) = (UndoPtr::from_u64(u48(LAST)), TrxId(u48(WRITER)));
        if occupancy != Occupancy::Free && (last.is_none() || writer == TrxId::NONE) {
            return Err("a transaction in flight without its newest record, or without its id");
        }
        Ok(TailState { occupancy, last, writer, used })
    }
}
