//! Rows that a scan has read.

use std::ops::Range;

use palisade_txn::ClusteredHeader;
use palisade_txn::entry::CLUSTERED_HEADER;

use super::{LEAF_ROOM, MAX_ROWS, write_entry};
use crate::stamp::{RowStamp, StampPartition};

/// Bytes of a page that are copied by one call.
const COPIED_AT_ONCE: usize = 2048;

/// Rows, one behind the other in one buffer.
#[derive(Debug, Clone, Default)]
pub struct RowBatch {
    pub(super) bytes: Vec<u8>,
    pub(super) rows: Vec<BatchedRow>,
    versions: Vec<Version>,
    /// The partition that all its rows were read in, if their own stamps do not name one.
    pub(super) partition: StampPartition,
}

/// Where a row is in a batch's bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchedRow {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Which of the versions is its own; [`IN_FRONT`] if its header, which says that, lies before it.
    version: u32,
}

/// What a scan found out of a row beside its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Version {
    stamp: RowStamp,
    newly_locked: bool,
}

/// Start of a row that turned out not to be there.
pub(super) const GONE: u32 = u32::MAX;

const IN_FRONT: u32 = u32::MAX;

/// A row of a [`RowBatch`].
#[derive(Debug, Clone, Copy)]
pub struct ScannedRow<'a> {
    /// Its bytes; see [`palisade_catalog::row`].
    pub row: &'a [u8],
    /// Its version, and the partition that it was read in.
    pub stamp: RowStamp,
    /// Whether the scan has locked it by itself, and it was not locked before: see
    /// [`Transaction::unlock_row`](crate::Transaction::unlock_row).
    pub newly_locked: bool,
}

impl RowBatch {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many rows it holds.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Row `number`, in the scan's order.
    #[inline]
    pub fn row(&self, number: usize) -> ScannedRow<'_> {
        let row = self.rows[number];
        let Version { stamp, newly_locked } = self.version(row);
        let stamp = stamp.in_partition(self.partition);
        ScannedRow { row: &self.bytes[row.from as usize..row.to as usize], stamp, newly_locked }
    }

    #[inline]
    fn version(&self, row: BatchedRow) -> Version {
        if row.version != IN_FRONT {
            return self.versions.get(row.version as usize).copied().unwrap_or_default();
        }
        let from = row.from as usize;
        let header = self.bytes.get(from.wrapping_sub(CLUSTERED_HEADER)..from);
        let header = header.and_then(ClusteredHeader::split);
        let stamp = header.map_or(RowStamp::default(), |(header, _)| header.stamp().into());
        Version { stamp, newly_locked: false }
    }

    /// The bytes of row `number`.
    #[inline]
    pub fn bytes_of(&self, number: usize) -> Option<&[u8]> {
        let row = self.rows.get(number)?;
        self.bytes.get(row.from as usize..row.to as usize)
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = ScannedRow<'_>> {
        (0..self.len()).map(|number| self.row(number))
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
        self.versions.clear();
        self.partition = StampPartition::default();
    }

    /// The bytes of these rows, or of those of them that there are.
    #[inline]
    pub fn rows(&self, numbers: Range<usize>) -> impl ExactSizeIterator<Item = &[u8]> {
        let rows = self.rows.get(numbers).unwrap_or_default().iter();
        rows.map(|row| &self.bytes[row.from as usize..row.to as usize])
    }

    /// Begins with a part of a page, where that many rows lie, in an empty batch.
    pub(super) fn take_page(&mut self, rows: usize, bytes: &[u8]) {
        make_room(&mut self.rows, rows);
        make_room(&mut self.bytes, bytes.len());
        // Copies of this length are made by vector instructions; longer ones by `rep movsb`, which takes a
        // while to begin.
        bytes.chunks(COPIED_AT_ONCE).for_each(|part| self.bytes.extend_from_slice(part));
    }

    /// Adds a row that lies in the bytes already, behind its header.
    #[inline]
    pub(super) fn push_copied(&mut self, from: usize, len: usize) {
        self.rows.push(BatchedRow { from: from as u32, to: (from + len) as u32, version: IN_FRONT });
    }

    /// Adds a row by its value on a leaf, header and all: its version needs no place of its own.
    #[inline]
    pub(super) fn push_value(&mut self, value: &[u8]) {
        let from = self.bytes.len() + CLUSTERED_HEADER;
        self.bytes.extend_from_slice(value);
        self.push_copied(from, value.len() - CLUSTERED_HEADER);
    }

    /// Makes room for `rows` rows whose values have about `len` bytes in an empty batch.
    pub(super) fn make_room(&mut self, rows: usize, len: usize) {
        let rows = rows.min(MAX_ROWS);
        make_room(&mut self.rows, rows);
        make_room(&mut self.bytes, (rows * len).min(LEAF_ROOM));
    }

    #[inline]
    pub(super) fn push(&mut self, row: &[u8], stamp: RowStamp) {
        self.push_locked(row, stamp, false);
    }

    #[inline]
    pub(super) fn push_locked(&mut self, row: &[u8], stamp: RowStamp, newly_locked: bool) {
        let from = self.bytes.len() as u32;
        self.bytes.extend_from_slice(row);
        self.push_from(from, Version { stamp, newly_locked });
    }

    /// Adds the row whose bytes are those from there on.
    #[inline]
    pub(super) fn push_from(&mut self, from: u32, version: Version) {
        let (to, number) = (self.bytes.len() as u32, self.versions.len() as u32);
        self.versions.push(version);
        self.rows.push(BatchedRow { from, to, version: number });
    }

    /// Adds an entry of a secondary index: length of the key `u32`, key, payload.
    pub(super) fn push_entry(&mut self, key: &[u8], payload: &[u8]) {
        let from = self.bytes.len() as u32;
        write_entry(key, payload, &mut self.bytes);
        self.push_from(from, Version::default());
    }

    pub(super) fn replace(&mut self, place: usize, row: &[u8], stamp: RowStamp, newly_locked: bool) {
        let from = self.bytes.len() as u32;
        self.bytes.extend_from_slice(row);
        let newly_locked = newly_locked || self.version(self.rows[place]).newly_locked;
        let (to, version) = (self.bytes.len() as u32, self.versions.len() as u32);
        self.versions.push(Version { stamp, newly_locked });
        self.rows[place] = BatchedRow { from, to, version };
    }
}

/// Makes room in an empty vector. To grow one that has had other elements would copy them.
fn make_room<T>(empty: &mut Vec<T>, elements: usize) {
    debug_assert!(empty.is_empty());
    if empty.capacity() < elements {
        *empty = Vec::with_capacity(elements);
    }
}
