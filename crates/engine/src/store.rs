//! Rows of any length in a clustered tree.
//!
//! A row that would not fit into a leaf entry is written to an overflow chain, and the entry holds where it is: first page
//! `u32`, length `u32`. Whether a row is stored so depends on nothing but the lengths of key and row, so whoever has the row
//! knows it too.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_base::{Blocked, PageNo};
use palisade_btree::overflow::{CHUNK, ChainReader};
use palisade_btree::{Direction, MAX_ENTRY, ScanEnd, Tree};
use palisade_buffer::Space;
use palisade_txn::entry::CLUSTERED_HEADER;
use palisade_txn::{ClusteredHeader, EXTERNAL, Gaps, LockedRow, Locking, Stamp, Trx, TrxSystem};

use crate::{Attempt, Error};

/// Which version of a row is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// What the snapshot sees.
    Snapshot,
    /// The latest, committed or not.
    Latest,
    /// The latest, once its writer has ended.
    Current(Gaps),
    /// The latest, locked.
    Locked(Locking),
}

impl How {
    /// The same of rows that an index has led to: what is between the rows is the index's business.
    pub(crate) fn of_rows(self) -> How {
        match self {
            How::Current(_) => How::Current(Gaps::Open),
            How::Locked(locking) => How::Locked(Locking { gaps: Gaps::Open, ..locking }),
            How::Snapshot | How::Latest => self,
        }
    }
}

/// A row that has been read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundRow {
    pub(crate) stamp: Stamp,
    /// Whether it has been locked, and was not before.
    pub(crate) newly_locked: bool,
}

impl FoundRow {
    /// As it was before with respect to locks.
    pub(crate) fn unlocked(header: &ClusteredHeader) -> FoundRow {
        FoundRow { stamp: header.stamp(), newly_locked: false }
    }
}

/// Whether a row of this length is kept off its leaf.
pub(crate) fn is_external(key_len: usize, row_len: usize) -> bool {
    key_len + CLUSTERED_HEADER + row_len > MAX_ENTRY
}

/// How far the writing of a chain has come.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChainProgress {
    /// First and last page.
    pages: Option<(PageNo, PageNo)>,
    written: usize,
}

/// Writes `row` to a chain, from where `progress` says. Gives what the leaf entry holds. Call again after waiting with the
/// same `progress`. Waits for: pages, log credit, the file to be extended.
pub(crate) fn write_chain(
    trx: &mut Trx,
    space: &Space,
    row: &[u8],
    progress: &mut ChainProgress,
) -> Attempt<[u8; 8]> {
    let len = u32::try_from(row.len()).map_err(|_| Error::RowTooLarge)?;
    while progress.pages.is_none() || progress.written < row.len() {
        let chunk = &row[progress.written..row.len().min(progress.written + CHUNK)];
        let pages = match progress.pages {
            None => {
                let first = trx.begin_chain(space, chunk).map_err(Blocked::up)?;
                (first, first)
            }
            Some((first, last)) => (first, trx.extend_chain(space, last, chunk).map_err(Blocked::up)?),
        };
        progress.pages = Some(pages);
        progress.written += chunk.len();
    }
    let (first, _) = progress.pages.expect("a chain has a first page");
    let mut reference = [0; 8];
    reference[..4].copy_from_slice(&first.0.to_le_bytes());
    reference[4..].copy_from_slice(&len.to_le_bytes());
    Ok(reference)
}

/// First page and length of the row that a leaf entry refers to.
pub(crate) fn parse_reference(bytes: &[u8]) -> Option<(PageNo, usize)> {
    let (first, rest) = bytes.split_first_chunk::<4>()?;
    let length: [u8; 4] = rest.try_into().ok()?;
    Some((PageNo(u32::from_le_bytes(*first)), u32::from_le_bytes(length) as usize))
}

/// A key and its row.
pub(crate) type KeyedRow = (Vec<u8>, Vec<u8>);

/// A clustered tree.
#[derive(Clone, Copy)]
pub(crate) struct RowStore<'a> {
    tree: &'a Tree,
}

impl<'a> RowStore<'a> {
    pub(crate) fn new(tree: &'a Tree) -> Self {
        RowStore { tree }
    }

    /// Replaces the content of `out` by the row at `key`. Waits for: pages, and as `how` says for locks.
    #[inline]
    pub(crate) fn read(
        &self,
        trx: &mut Trx,
        key: &[u8],
        how: How,
        out: &mut Vec<u8>,
    ) -> Attempt<Option<FoundRow>> {
        let mut newly_locked = false;
        loop {
            let header = match how {
                How::Snapshot => trx.read_snapshot(self.tree, key, out),
                How::Latest => trx
                    .read_latest(self.tree, key, out)
                    .map(|found| found.filter(|header| !header.is_deleted())),
                How::Current(gaps) => trx.read_current(self.tree, key, gaps, out),
                How::Locked(locking) => trx.read_locked(self.tree, key, locking, out).map(|found| {
                    let LockedRow::Row { header, newly } = found else { return None };
                    newly_locked |= newly;
                    Some(header)
                }),
            };
            let Some(header) = header.map_err(Blocked::up)? else { return Ok(None) };
            if header.flags & EXTERNAL == 0 || self.fetch(key, how, &header, out)? {
                return Ok(Some(FoundRow { stamp: header.stamp(), newly_locked }));
            }
        }
    }

    /// Replaces a reference in `row` by the row. False if the row has changed meanwhile, so that the chain may have been
    /// another row's by then; this cannot happen to what a snapshot sees.
    #[cold]
    pub(crate) fn fetch(
        &self,
        key: &[u8],
        how: How,
        header: &ClusteredHeader,
        row: &mut Vec<u8>,
    ) -> Attempt<bool> {
        let (first, len) = parse_reference(row).ok_or_else(|| self.damaged())?;
        let mut bytes = Vec::new();
        let outcome = ChainReader::new(first, len).read(self.tree.space(), &mut bytes);
        if how != How::Snapshot {
            if let Err(Blocked::Wait(event)) = outcome {
                return Err(Blocked::Wait(event));
            }
            let now =
                self.tree.get(key, |value| value.and_then(ClusteredHeader::split).map(|(header, _)| header));
            if now.map_err(Blocked::up)?.map(|header| header.stamp()) != Some(header.stamp()) {
                return Ok(false);
            }
        }
        outcome.map_err(Blocked::up)?;
        *row = bytes;
        Ok(true)
    }

    /// The chain that the row at `key` is in, if it is the version `expected`.
    pub(crate) fn chain_of(&self, key: &[u8], expected: Stamp) -> Attempt<Option<PageNo>> {
        let found = self.tree.get(key, |value| {
            let (header, row) = value.and_then(ClusteredHeader::split)?;
            let is_it = header.stamp() == expected && header.flags & EXTERNAL != 0;
            is_it.then(|| parse_reference(row)).flatten()
        });
        Ok(found.map_err(Blocked::up)?.map(|(first, _)| first))
    }

    fn damaged(&self) -> Error {
        let (space, page) = (self.tree.space().id(), self.tree.root());
        Error::Corrupted { space, page, what: "a reference to an overflow chain makes no sense".to_owned() }
    }

    /// All committed rows. Blocks; for the dictionary.
    pub(crate) fn read_all(&self, system: &Arc<TrxSystem>) -> Result<Vec<KeyedRow>, Error> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let mut from: Bound<Vec<u8>> = Bound::Unbounded;
        loop {
            let end = retry_blocking(|| {
                let from = from.as_ref().map(Vec::as_slice);
                let known = keys.len();
                let end = self.tree.scan(from, Direction::Forward, |key, _| {
                    keys.push(key.to_vec());
                    ControlFlow::Continue(())
                });
                if end.is_err() {
                    keys.truncate(known);
                }
                end
            })?;
            match end {
                ScanEnd::Continue { separator, .. } => from = Bound::Included(separator.to_vec()),
                ScanEnd::Exhausted | ScanEnd::Stopped => break,
            }
        }
        let mut trx = system.begin();
        let mut rows = Vec::new();
        for key in keys {
            let mut row = Vec::new();
            if retry_blocking(|| self.read(&mut trx, &key, How::Snapshot, &mut row))?.is_some() {
                rows.push((key, row));
            }
        }
        Ok(rows)
    }
}
