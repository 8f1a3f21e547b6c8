//! What transactions put in front of the bytes that the engine stores.
//!
//! ```text
//! clustered leaf:  writer u48 | roll pointer u48 | flags u8 | row bytes        13 + n
//! secondary leaf:  writer u48 | flags u8 | payload                             7 + n
//! ```
//!
//! The writer is the transaction that made this version - and, while it is active, the holder of the row's lock. The roll
//! pointer says where in the undo space the version before is described.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use palisade_base::{PageNo, TrxId};

/// Bytes in front of a row.
pub const CLUSTERED_HEADER: usize = 13;
/// Bytes in front of a secondary entry's payload.
pub const SECONDARY_HEADER: usize = 7;

/// Flag: this version says that there is no row.
pub const DELETED: u8 = 1;
/// Flag: the bytes are not the row but say where it is. Transactions carry it; the engine gives it its meaning.
pub const EXTERNAL: u8 = 2;

/// Where an undo record is. The default points nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UndoPtr(u64);

impl UndoPtr {
    /// Points nowhere: there is nothing before.
    pub const NONE: UndoPtr = UndoPtr(0);

    /// The record at `offset` of `page`.
    pub fn new(page: PageNo, offset: u16) -> Self {
        UndoPtr(u64::from(page.0) << 16 | u64::from(offset))
    }

    /// The page.
    pub fn page(self) -> PageNo {
        PageNo((self.0 >> 16) as u32)
    }

    /// Offset in the page.
    pub fn offset(self) -> u16 {
        self.0 as u16
    }

    /// Whether it points nowhere.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// As a number of 48 bits.
    pub fn to_u64(self) -> u64 {
        self.0
    }

    /// From a number, of which the low 48 bits count.
    pub fn from_u64(number: u64) -> Self {
        UndoPtr(number & U48)
    }
}

const U48: u64 = (1 << 48) - 1;

/// The little-endian 48-bit number at the front of `bytes`.
#[inline]
pub(crate) fn get_u48(bytes: &[u8; 6]) -> u64 {
    let [a, b, c, d, e, f] = *bytes;
    u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
}

#[inline]
pub(crate) fn put_u48(out: &mut Vec<u8>, value: u64) {
    debug_assert!(value <= U48);
    out.extend_from_slice(&value.to_le_bytes()[..6]);
}

/// What is in front of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClusteredHeader {
    /// Who made this version.
    pub writer: TrxId,
    /// Where the version before is described.
    pub roll: UndoPtr,
    /// [`DELETED`], [`EXTERNAL`].
    pub flags: u8,
}

impl ClusteredHeader {
    /// Takes a leaf's value apart; `None` if it is too short to be one.
    #[inline]
    pub fn split(value: &[u8]) -> Option<(ClusteredHeader, &[u8])> {
        let (writer, rest) = value.split_first_chunk::<6>()?;
        let (roll, rest) = rest.split_first_chunk::<6>()?;
        let (&flags, row) = rest.split_first()?;
        Some((ClusteredHeader { writer: TrxId(get_u48(writer)), roll: UndoPtr(get_u48(roll)), flags }, row))
    }

    /// Appends the header.
    #[inline]
    pub fn put(&self, out: &mut Vec<u8>) {
        put_u48(out, self.writer.0);
        put_u48(out, self.roll.0);
        out.push(self.flags);
    }

    /// Whether the version says that there is no row.
    #[inline]
    pub fn is_deleted(&self) -> bool {
        self.flags & DELETED != 0
    }

    /// Names the version.
    #[inline]
    pub fn stamp(&self) -> Stamp {
        Stamp { writer: self.writer, roll: self.roll }
    }
}

/// Names a version of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Stamp {
    /// Who made it.
    pub writer: TrxId,
    /// The undo record written with it.
    pub roll: UndoPtr,
}

/// What is in front of a secondary entry's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SecondaryHeader {
    /// Who last changed the entry.
    pub writer: TrxId,
    /// [`DELETED`].
    pub flags: u8,
}

impl SecondaryHeader {
    /// Takes a leaf's value apart; `None` if it is too short to be one.
    #[inline]
    pub fn split(value: &[u8]) -> Option<(SecondaryHeader, &[u8])> {
        let (writer, rest) = value.split_first_chunk::<6>()?;
        let (&flags, payload) = rest.split_first()?;
        Some((SecondaryHeader { writer: TrxId(get_u48(writer)), flags }, payload))
    }

    /// Appends the header.
    #[inline]
    pub fn put(&self, out: &mut Vec<u8>) {
        put_u48(out, self.writer.0);
        out.push(self.flags);
    }

    /// Whether the entry is marked as deleted.
    #[inline]
    pub fn is_deleted(&self) -> bool {
        self.flags & DELETED != 0
    }
}
