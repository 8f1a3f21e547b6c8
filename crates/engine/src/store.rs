//! Rows of any length in a clustered tree.
//!
//! A row that would not fit into a leaf entry is written to an overflow chain, and the entry holds where it is: first page
//! `u32`, length `u32`. Whether a row is stored so depends on nothing but the lengths of key and row, so whoever has the row
//! knows it too.
//!
//! A chain may have more pages than there is memory for. So whoever writes or reads one keeps how far he has come
//! ([`ChainProgress`], [`ReadProgress`]), and goes on there when he has waited for a page.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_base::{Blocked, PageNo, SpaceId};
use palisade_btree::overflow::{self, ChainReader};
use palisade_btree::{Direction, ScanEnd, Tree, max_entry};
use palisade_buffer::{PageSize, Space};
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

    /// Whether who has read a row may give its lock back, if he does not want it.
    fn gives_locks_back(self) -> bool {
        matches!(self, How::Current(Gaps::Open) | How::Locked(Locking { gaps: Gaps::Open, .. }))
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

/// Whether a row of this length is kept off its leaf, a page of `size`.
pub(crate) fn is_external(size: PageSize, key_len: usize, row_len: usize) -> bool {
    key_len + CLUSTERED_HEADER + row_len > max_entry(size.bytes())
}

/// Pages of a chain written before others have their turn: less than a millisecond.
const CHUNKS_AT_ONCE: u64 = 32;

/// How far the writing of a chain has come.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChainProgress {
    /// First and last page.
    pages: Option<(PageNo, PageNo)>,
    written: usize,
}

/// Writes `row` to a chain, from where `progress` says. Gives what the leaf entry holds. Call again after waiting with the
/// same `progress`. Waits for: pages, log credit, the file to be extended, and after every [`CHUNKS_AT_ONCE`]
/// pages for nothing, so that others have their turn.
#[expect(
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "the row is the caller's, and what is written is counted in it"
)]
pub(crate) fn write_chain(
    trx: &mut Trx,
    space: &Space,
    row: &[u8],
    progress: &mut ChainProgress,
) -> Attempt<[u8; 8]> {
    let len = u32::try_from(row.len()).map_err(|_| Error::RowTooLarge)?;
    let most = overflow::chunk(space.page_size());
    let mut chunks = 0;
    while progress.pages.is_none() || progress.written < row.len() {
        if chunks == CHUNKS_AT_ONCE {
            return Err(Blocked::yielding());
        }
        chunks += 1;
        let chunk = &row[progress.written..row.len().min(progress.written + most)];
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

/// What a read keeps while it waits. Good for one row at a time, whichever that is.
#[derive(Debug, Default)]
pub(crate) struct ReadProgress {
    /// The row - its index and key - that the read has locked, or waits to lock, and that was not locked before.
    lock: Option<(u64, Vec<u8>)>,
    reading: Option<Box<Reading>>,
}

/// How far the reading of a row from its chain has come.
#[derive(Debug)]
struct Reading {
    row: LongRow,
    reader: ChainReader,
    bytes: Vec<u8>,
}

/// A row that is off its leaf: which version, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LongRow {
    stamp: Stamp,
    space: SpaceId,
    first: PageNo,
    len: usize,
}

impl ReadProgress {
    /// Goes on with the row, or begins with it.
    fn reading(&mut self, row: LongRow) -> &mut Reading {
        if self.reading.as_ref().is_some_and(|reading| reading.row != row) {
            self.reading = None;
        }
        self.reading.get_or_insert_with(|| {
            let (reader, bytes) = (ChainReader::new(row.first, row.len), Vec::new());
            Box::new(Reading { row, reader, bytes })
        })
    }

    /// The row that has been read to its end.
    fn take_row(&mut self) -> Vec<u8> {
        self.reading.take().map_or_else(Vec::new, |reading| reading.bytes)
    }

    fn note_lock(&mut self, index: u64, key: &[u8]) {
        self.lock = Some((index, key.to_vec()));
    }

    /// Whether it was this row that was noted; then it is no more.
    #[inline]
    fn take_lock(&mut self, index: u64, key: &[u8]) -> bool {
        self.lock.take().is_some_and(|lock| lock.0 == index && lock.1 == key)
    }

    /// Gives the read up.
    pub(crate) fn clear(&mut self) {
        *self = ReadProgress::default();
    }

    /// The length of the row that is being read from its chain; 0 if none is.
    pub(crate) fn row_len(&self) -> usize {
        self.reading.as_ref().map_or(0, |reading| reading.row.len)
    }
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

    /// Replaces the content of `out` by the row at `key`. Call again after waiting with the same `progress`. Waits for: pages,
    /// and as `how` says for locks.
    #[inline]
    pub(crate) fn read(
        &self,
        trx: &mut Trx,
        key: &[u8],
        how: How,
        out: &mut Vec<u8>,
        progress: &mut ReadProgress,
    ) -> Attempt<Option<FoundRow>> {
        let index = self.tree.index_id();
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
            if header.is_err() && how.gives_locks_back() && trx.awaits_lock() && !trx.has_lock(index, key) {
                progress.note_lock(index, key);
            }
            let header = header.map_err(Blocked::up)?;
            newly_locked |= progress.take_lock(index, key);
            let Some(header) = header else {
                if newly_locked && how.gives_locks_back() {
                    trx.unlock(index, key);
                }
                return Ok(None);
            };
            if header.flags & EXTERNAL != 0 {
                let fetched = self.fetch(key, how, &header, out, progress);
                if newly_locked && fetched.is_err() {
                    progress.note_lock(index, key);
                }
                if how == How::Snapshot && matches!(fetched, Err(Blocked::Wait(_))) {
                    trx.keep_version(self.tree, key, header, std::mem::take(out));
                }
                if !fetched? {
                    continue;
                }
            }
            return Ok(Some(FoundRow { stamp: header.stamp(), newly_locked }));
        }
    }

    /// Replaces a reference in `row` by the row. False if the row has changed meanwhile, so that the chain may have been
    /// another row's by then; this cannot happen to what a snapshot sees. Call again after waiting with the same `progress`.
    #[cold]
    pub(crate) fn fetch(
        &self,
        key: &[u8],
        how: How,
        header: &ClusteredHeader,
        row: &mut Vec<u8>,
        progress: &mut ReadProgress,
    ) -> Attempt<bool> {
        let (first, len) = parse_reference(row).ok_or_else(|| self.damaged())?;
        let space = self.tree.space();
        let reading = progress.reading(LongRow { stamp: header.stamp(), space: space.id(), first, len });
        let outcome = reading.reader.read(space, &mut reading.bytes);
        if let Err(Blocked::Wait(event)) = outcome {
            return Err(Blocked::Wait(event));
        }
        if how != How::Snapshot {
            // If it is this version now, it was all the time: one that has gone for good does not come back.
            let now =
                self.tree.get(key, |value| value.and_then(ClusteredHeader::split).map(|(header, _)| header));
            if now.map_err(Blocked::up)?.map(|header| header.stamp()) != Some(header.stamp()) {
                progress.reading = None;
                return Ok(false);
            }
        }
        outcome.map_err(Blocked::up)?;
        *row = progress.take_row();
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
            let (mut row, mut progress) = (Vec::new(), ReadProgress::default());
            let mut read = || self.read(&mut trx, &key, How::Snapshot, &mut row, &mut progress);
            if retry_blocking(&mut read)?.is_some() {
                rows.push((key, row));
            }
        }
        Ok(rows)
    }
}
