//! Reading ranges of an index, about a leaf at a time.
//!
//! A batch is made in two passes. While the leaf is latched, rows that need nothing further are copied: all
//! of them at once where they lie next to each other on the page, with what is between them. For each of the
//! others - an older version is wanted, the row is off its leaf, its writer is active, a secondary entry does
//! not say everything - its place in the batch is kept and its key noted. Then, with no latch held, these are
//! looked up: see `second_look`. Scans that lock are in `locking`.
//!
//! # Rows that somebody else is changing
//!
//! An UPDATE at READ COMMITTED that looks at every row would wait for each that is being changed, mostly to
//! find that it does not match. It is given the last committed version instead: InnoDB's *semi-consistent
//! read*. If that matches, the row has to be locked and read again before it is changed: its stamp says so.
//! By a secondary index a row that moves could be met twice so; there it is waited for.
//!
//! # Secondary entries
//!
//! An entry says who last changed it and whether that was a delete mark. If the snapshot sees that change,
//! the entry is as the snapshot should find it. If not, the row decides: the version that the snapshot sees
//! either has this very key, or does not belong here.

mod batch;
mod locking;
mod newest;
mod partitions;
mod second_look;

use std::ops::ControlFlow;
use std::sync::Arc;

use palisade_base::{Blocked, PageNo, TrxId};
use palisade_btree::{Coming, Entry, Passed, ScanEnd, Tree, Visitor};
use palisade_catalog::key;
use palisade_txn::entry::CLUSTERED_HEADER;
use palisade_txn::{ClusteredHeader, EXTERNAL, SecondaryHeader, Trx};

use crate::metadata::Use;
use crate::rows::name_table;
use crate::stamp::{RowStamp, StampPartition};
use crate::store::How;
use crate::table::{SYSTEM_ROWS_READ, Table};
use crate::transaction::{ReadMode, Transaction};
use crate::{Attempt, Error};

/// One end of a range. Bytes compare (memcmp) with whole entry keys as the tree stores them, see
/// [`palisade_catalog::key`]; for "begins with", use a search key and its `prefix_successor`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Bound {
    /// No bound.
    #[default]
    Unbounded,
    /// This key is in.
    Included(Vec<u8>),
    /// This key is out.
    Excluded(Vec<u8>),
}

/// A range of keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyRange {
    /// Where it begins.
    pub lower: Bound,
    /// Where it ends.
    pub upper: Bound,
}

/// Which way a range is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// From the lowest key.
    #[default]
    Forward,
    /// From the highest key.
    Backward,
}

/// Where a scan is.
pub struct Scan {
    pub(crate) table: Arc<Table>,
    index: usize,
    /// The partition that is read.
    partition: usize,
    /// What is left to be read of others, of a table that has several.
    several: Option<Box<Several>>,
    /// The keys of the rows of the batch being made, where rows of several scans are put in order.
    keys: Option<Box<RowKeys>>,
    /// Where the scan ends.
    end: Bound,
    direction: Direction,
    mode: ReadMode,
    covering: bool,
    /// Whether what is read is entries of a secondary index as they are, not rows.
    entries: bool,
    /// Rows that are still wanted, where that is known.
    rows_wanted: Option<usize>,
    /// Where to go on; `None` at the end.
    from: Option<Bound>,
    /// Leaves that have been read to their end.
    leaves: usize,
    /// Rows of the next batch at most, where it is not known how many are wanted, or rows are merged.
    most: usize,
    /// The batch being made.
    batch: RowBatch,
    pending: Pending,
    /// Locking: the row that is in the way.
    obstacle: Option<Obstacle>,
    /// Bytes of looked-up rows after which a batch is long enough.
    enough: usize,
    /// Locking: bytes of rows that are off their leaf after which no more are locked.
    longest: usize,
    /// Locking: rows of the next batch at most.
    ahead: usize,
    may_stop: bool,
    /// Rows are counted where they need not be read, see [`Transaction::scan_count`].
    counts: bool,
    /// Rows that were counted and not yet told.
    counted: usize,
}

use batch::{BatchedRow, GONE, Version};
pub use batch::{RowBatch, ScannedRow};
use locking::Obstacle;
use partitions::{RowKeys, Several};
use second_look::{Pending, Wanted};

/// Rows of a batch at most.
const MAX_ROWS: usize = 1024;

/// Rows of the first batch of a scan that may stop, at most. Each batch that is asked for is twice as large
/// as the one before: copying a leaf for the sake of a few rows costs more than the rows, and a second
/// descent to it about as much as copying so many.
const FIRST_ROWS: usize = 32;

/// Room that is made for the rows of a leaf at most before they are read.
const LEAF_ROOM: usize = palisade_buffer::PageSize::DEFAULT.bytes();

/// Bytes of rows that are off their leaf, after which a batch has no more of them.
const MOST_LONG: usize = 1 << 20;

impl Scan {
    /// A scan of index `index` before its first row. Of a table with several partitions it reads all, and its
    /// rows come in the order of the index; see [`of_partitions`](Self::of_partitions) and
    /// [`in_any_order`](Self::in_any_order). With `covering` the rows of a secondary index are made
    /// from its entries alone: the columns that are not in the index are NULL.
    pub fn new(
        table: Arc<Table>,
        index: usize,
        range: KeyRange,
        direction: Direction,
        mode: ReadMode,
        covering: bool,
    ) -> Self {
        let (from, end) = match direction {
            Direction::Forward => (range.lower, range.upper),
            Direction::Backward => (range.upper, range.lower),
        };
        let (partition, from, several) = match table.partition_count() {
            1 => (0, Some(from), None),
            count => (0, None, Some(Several::of(count, from))),
        };
        Scan {
            table,
            index,
            partition,
            several,
            keys: None,
            end,
            direction,
            mode,
            covering: covering && index > 0,
            entries: false,
            rows_wanted: None,
            from,
            leaves: 0,
            most: MAX_ROWS,
            batch: RowBatch::new(),
            pending: Pending::default(),
            obstacle: None,
            enough: second_look::ENOUGH,
            longest: MOST_LONG,
            ahead: 1,
            may_stop: false,
            counts: false,
            counted: 0,
        }
    }

    /// A scan of all entries of the secondary index `index` in a partition that a snapshot sees, as
    /// [`write_entry`] writes them.
    pub(crate) fn of_entries(table: Arc<Table>, partition: usize, index: usize) -> Self {
        let (range, mode) = (KeyRange::default(), ReadMode::Snapshot);
        let scan = Scan::new(table, index, range, Direction::Forward, mode, true);
        Scan { entries: true, ..scan.of_partition(partition) }
    }

    /// The caller may have enough after any row: the first batches are small, and a scan that locks does not
    /// lock rows before they are asked for.
    #[must_use]
    pub fn that_may_stop(mut self) -> Self {
        self.may_stop = true;
        self.most = FIRST_ROWS;
        self
    }

    /// The caller will not want more than `rows` rows altogether: a batch need not hold more. A hint, which
    /// matters for `LIMIT` and for how many rows are locked.
    #[must_use]
    pub fn with_rows_wanted(mut self, rows: usize) -> Self {
        self.rows_wanted = Some(rows.max(1));
        self
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The index.
    pub fn index(&self) -> usize {
        self.index
    }
}

/// An entry as a [scan of entries](Scan::of_entries) gives it.
pub(crate) fn write_entry(key: &[u8], payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(payload);
}

/// The key of such an entry.
pub(crate) fn key_of_entry(entry: &[u8]) -> &[u8] {
    let key =
        entry.split_first_chunk::<4>().and_then(|(len, rest)| rest.get(..u32::from_le_bytes(*len) as usize));
    key.unwrap_or_default()
}

impl Bound {
    pub(crate) fn as_ops(&self) -> std::ops::Bound<&[u8]> {
        match self {
            Bound::Unbounded => std::ops::Bound::Unbounded,
            Bound::Included(key) => std::ops::Bound::Included(key),
            Bound::Excluded(key) => std::ops::Bound::Excluded(key),
        }
    }

    /// Whether a scan in `direction` that ends here has passed its end at `key`.
    #[inline]
    fn is_passed_by(&self, key: &[u8], direction: Direction) -> bool {
        match (self, direction) {
            (Bound::Unbounded, _) => false,
            (Bound::Included(end), Direction::Forward) => key > &end[..],
            (Bound::Excluded(end), Direction::Forward) => key >= &end[..],
            (Bound::Included(end), Direction::Backward) => key < &end[..],
            (Bound::Excluded(end), Direction::Backward) => key <= &end[..],
        }
    }
}

impl Transaction {
    /// Replaces the content of `batch` by the next rows of `scan`: about a leaf's worth. False, and an empty
    /// batch, at the end.
    pub fn scan_next(&mut self, scan: &mut Scan, batch: &mut RowBatch) -> Attempt<bool> {
        self.use_table_for(&scan.table, Use::of(scan.mode))?;
        if scan.pending.is_done() && scan.batch.rows.capacity() == 0 {
            // The rows before are not wanted any more, and their memory serves the next ones.
            std::mem::swap(&mut scan.batch, batch);
            scan.batch.clear();
        }
        let how = self.how_in(&scan.table, scan.mode);
        let peeks = scan.mode == ReadMode::Change && scan.index == 0 && matches!(how, How::Current(_));
        let (engine, trx) = self.engine_and_trx();
        if how == How::Snapshot || peeks {
            trx.open_snapshot();
        }
        loop {
            if scan.pending.is_done() {
                if scan.from.is_none() && !scan.begin_next_partition()? {
                    batch.clear();
                    return self.merge_next(scan, batch);
                }
                let table = &scan.table.clone();
                let read = match how {
                    How::Locked(locking) => scan.read_leaf_locking(trx, locking),
                    _ => match scan.read_leaf(trx, how, peeks) {
                        Err(Blocked::Error(error @ Error::Corrupted { page, .. }))
                            if engine.passes_damage() =>
                        {
                            let passed = scan.pass_damage(page);
                            if passed.is_ok() {
                                engine.note_damage_passed(table, &table.indexes[scan.index].name, &error);
                            }
                            passed
                        }
                        read => read,
                    },
                };
                read.map_err(|blocked| blocked.map_err(|error| name_table(error, table)))?;
            }
            let table = &scan.table.clone();
            let looked = scan.look_again(engine, trx, how);
            looked.map_err(|blocked| blocked.map_err(|error| name_table(error, table)))?;
            if !scan.pending.is_empty() {
                scan.pending.clear();
                scan.forget_keys_of_gone();
                scan.batch.rows.retain(|row| row.from != GONE);
            }
            if !scan.batch.is_empty() || scan.counted > 0 {
                if table.versions.count > 0 && scan.mode == ReadMode::Snapshot && !scan.entries {
                    scan.batch.renew_rows(table);
                }
                if table.is_system() {
                    SYSTEM_ROWS_READ.add((scan.batch.len() + scan.counted) as u64);
                }
                if let Some(rows) = &mut scan.rows_wanted {
                    *rows = rows.saturating_sub(scan.batch.len());
                    if *rows == 0 {
                        scan.from = None;
                        scan.several = None;
                    }
                }
                std::mem::swap(batch, &mut scan.batch);
                scan.batch.clear();
                return Ok(true);
            }
        }
    }
}

impl Transaction {
    /// How many more rows a scan of a snapshot finds: those of about a leaf; `None` at the end. Rows whose
    /// newest version is the one to be counted, which are nearly all, are not read.
    pub fn scan_count(&mut self, scan: &mut Scan) -> Attempt<Option<usize>> {
        scan.counts = true;
        let mut others = RowBatch::new();
        let more = self.scan_next(scan, &mut others)?;
        Ok(more.then(|| others.len() + std::mem::take(&mut scan.counted)))
    }
}

/// A part of a page that was copied.
#[derive(Debug, Clone, Copy, Default)]
struct Copied {
    /// Where on the page it begins.
    at: usize,
    len: usize,
}

impl Copied {
    /// Where in it `len` bytes begin that begin at this place on the page, if all of them are in it.
    #[inline]
    fn place_of(self, at: usize, len: usize) -> Option<usize> {
        let place = at.wrapping_sub(self.at);
        (place < self.len && len <= self.len - place).then_some(place)
    }
}

/// What a visit of one leaf needs to know and changes.
struct Visit<'a> {
    trx: &'a Trx,
    table: &'a Table,
    index: usize,
    how: How,
    /// Whether the last committed version of a row that is being changed is good enough.
    peeks: bool,
    /// The latest version is the one to be read of rows whose writer is before this one.
    final_below: TrxId,
    covering: bool,
    entries: bool,
    counts: bool,
    counted: &'a mut usize,
    batch: &'a mut RowBatch,
    /// Notes the keys of the rows.
    keys: Option<&'a mut RowKeys>,
    /// The part of the page that the batch's bytes begin with.
    copied: Copied,
    pending: &'a mut Pending,
    /// Rows of the batch at most.
    most: usize,
    /// These are all rows that are wanted.
    wants_no_more: bool,
    /// The key of the last row that the batch has room for, if the scan may have to go on behind it.
    stopped_at: Vec<u8>,
    damaged: bool,
}

impl Scan {
    /// Visits one leaf: fills the batch and the list of rows that need a second look.
    fn read_leaf(&mut self, trx: &Trx, how: How, peeks: bool) -> Attempt<()> {
        self.start_batch();
        let Some(from) = &self.from else { return Ok(()) };
        let tree = self.table.partitions()[self.partition].tree(self.index);
        let (end, direction) = (&self.end, self.direction);
        // What a merge reads ahead is little for each of its scans, however many rows are wanted of all.
        let most = if self.keys.is_some() { self.most } else { MAX_ROWS };
        let most = self.rows_wanted.map_or(self.most, |rows| rows.min(most));
        let mut visit = Visit {
            trx,
            table: &self.table,
            index: self.index,
            how,
            peeks,
            final_below: match how {
                How::Snapshot => trx.sees_all_before(),
                How::Latest => TrxId(u64::MAX),
                How::Current(_) | How::Locked(_) => TrxId::NONE,
            },
            covering: self.covering,
            entries: self.entries,
            counts: self.counts,
            counted: &mut self.counted,
            batch: &mut self.batch,
            keys: self.keys.as_deref_mut(),
            copied: Copied::default(),
            pending: &mut self.pending,
            most,
            wants_no_more: self.rows_wanted == Some(most),
            stopped_at: Vec::new(),
            damaged: false,
        };
        // Who reads few leaves has read none in vain; who goes on has read ahead as many as he has read.
        let ahead = if self.leaves < 2 { 0 } else { self.leaves };
        let outcome = tree.visit_range(from.as_ops(), end.as_ops(), direction.into(), ahead, &mut visit);
        let Visit { damaged: is_damaged, stopped_at, .. } = visit;
        if is_damaged {
            return Err(damaged(tree).into());
        }
        let outcome = outcome.map_err(Blocked::up)?;
        self.most = (2 * self.most).min(MAX_ROWS);
        self.from = match outcome {
            ScanEnd::Stopped => Some(Bound::Excluded(stopped_at)),
            end => {
                self.leaves += 1;
                self.after_leaf(end)
            }
        };
        Ok(())
    }

    /// Begins to make another batch.
    #[inline]
    fn start_batch(&mut self) {
        self.batch.clear();
        self.batch.partition = StampPartition::new(self.partition);
        self.pending.clear();
        if let Some(keys) = &mut self.keys {
            keys.clear();
        }
    }

    /// Goes on behind a leaf, or more, that cannot be read. What was read of it before the damage stays in
    /// the batch.
    #[cold]
    fn pass_damage(&mut self, damaged: PageNo) -> Attempt<()> {
        let Some(from) = &self.from else { return Ok(()) };
        let tree = self.table.partitions()[self.partition].tree(self.index);
        let passed = tree.pass_damage(from.as_ops(), self.direction.into(), damaged);
        self.from = self.after_leaf(passed.map_err(Blocked::up)?);
        Ok(())
    }

    /// Where to go on when a leaf has been visited to its end.
    fn after_leaf(&self, end: ScanEnd) -> Option<Bound> {
        let ScanEnd::Continue { separator, .. } = end else { return None };
        let separator = separator.to_vec();
        match self.direction {
            // The next leaf begins at the separator.
            Direction::Forward if self.end.is_passed_by(&separator, self.direction) => None,
            Direction::Forward => Some(Bound::Included(separator)),
            Direction::Backward => Some(Bound::Excluded(separator)),
        }
    }
}

impl Visitor for Visit<'_> {
    /// Makes room for rows, or copies them with what little lies between them.
    #[inline]
    fn begin(&mut self, coming: &Coming<'_>) -> bool {
        let takes = self.index == 0 && self.final_below > TrxId::NONE && self.keys.is_none();
        let count = coming.count();
        if takes && !self.counts && count > 0 {
            match coming.bytes() {
                Some((at, bytes)) if count <= self.most => {
                    self.batch.take_page(count, bytes);
                    self.copied = Copied { at, len: bytes.len() };
                }
                _ => self.batch.make_room(count.min(self.most), coming.first_len()),
            }
        }
        takes
    }

    /// Takes rows whose latest versions are the ones to be read, but for the last that the batch has room
    /// for, whose key is noted.
    #[inline]
    fn take<'p>(&mut self, entries: impl Iterator<Item = Passed<'p>>) -> Option<usize> {
        let (final_below, counts, copied) = (self.final_below, self.counts, self.copied);
        let mut room = self.most.saturating_sub(self.batch.rows.len() + 1);
        for Passed { index, value, at } in entries {
            let Some(value) = value else { return Some(index) };
            let Some((header, row)) = ClusteredHeader::split(value) else { return Some(index) };
            if header.writer >= final_below || header.flags != 0 {
                return Some(index);
            }
            if counts {
                *self.counted += 1;
                continue;
            }
            if room == 0 {
                return Some(index);
            }
            room -= 1;
            match copied.place_of(at + CLUSTERED_HEADER, row.len()) {
                Some(from) => self.batch.push_copied(from, row.len()),
                None => self.batch.push_value(value),
            }
        }
        None
    }

    fn visit(&mut self, mut entry: Entry<'_, '_>) -> ControlFlow<()> {
        match self.index {
            0 => self.row(&mut entry),
            _ => self.entry(&mut entry),
        }
        if let Some(keys) = &mut self.keys {
            keys.note(self.batch.len(), entry.key());
        }
        if self.damaged {
            return ControlFlow::Break(());
        }
        if self.batch.len() >= self.most {
            // A row that is looked up may turn out not to be there.
            if !(self.wants_no_more && self.pending.is_empty()) {
                self.stopped_at = entry.key().to_vec();
            }
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Visit<'_> {
    /// An entry of the clustered index.
    fn row(&mut self, entry: &mut Entry<'_, '_>) {
        let Some((header, row)) = ClusteredHeader::split(entry.value()) else {
            self.damaged = true;
            return;
        };
        let is_final = match self.how {
            How::Snapshot => self.trx.sees(header.writer),
            How::Latest => true,
            How::Current(_) => self.trx.other_writer(header.writer).is_none(),
            How::Locked(_) => unreachable!("locking scans are elsewhere"),
        };
        if is_final {
            if header.is_deleted() {
                return;
            }
            if self.counts || header.flags & EXTERNAL == 0 {
                return self.add(entry, row.len());
            }
        }
        let at = entry.at() + CLUSTERED_HEADER;
        let key = entry.key();
        match self.how {
            How::Snapshot | How::Latest => self.postpone((row, at), key, Wanted::Version(header)),
            How::Current(_) if self.peeks && !is_final => {
                self.postpone((row, at), key, Wanted::Committed(header));
            }
            How::Current(_) | How::Locked(_) => self.postpone((&[], usize::MAX), key, Wanted::Row),
        }
    }

    /// A row whose latest version is the one to be read.
    fn add(&mut self, entry: &Entry<'_, '_>, row_len: usize) {
        if self.counts {
            *self.counted += 1;
            return;
        }
        if self.batch.is_empty() && self.copied.len == 0 {
            self.batch.make_room((1 + entry.ahead()).min(self.most), entry.value().len());
        }
        match self.copied.place_of(entry.at() + CLUSTERED_HEADER, row_len) {
            Some(from) => self.batch.push_copied(from, row_len),
            None => self.batch.push_value(entry.value()),
        }
    }

    /// An entry of a secondary index.
    fn entry(&mut self, entry: &mut Entry<'_, '_>) {
        let Some((header, payload)) = SecondaryHeader::split(entry.value()) else {
            self.damaged = true;
            return;
        };
        let is_final = match self.how {
            How::Snapshot => self.trx.sees(header.writer),
            How::Latest => true,
            How::Current(_) | How::Locked(_) => self.trx.other_writer(header.writer).is_none(),
        };
        if is_final && header.is_deleted() {
            return;
        }
        let reads_only = matches!(self.how, How::Snapshot | How::Latest);
        if self.counts && is_final && self.covering && reads_only {
            *self.counted += 1;
            return;
        }
        let key = entry.key();
        if !(is_final && self.covering && reads_only) {
            let verify = !(is_final && self.how == How::Snapshot);
            self.postpone((&[], usize::MAX), key, Wanted::Entry { verify });
            return;
        }
        let from = self.batch.bytes.len() as u32;
        match key::entry_to_row(self.table, self.index, key, payload, &mut self.batch.bytes) {
            Ok(()) if self.entries => {
                self.batch.bytes.truncate(from as usize);
                self.batch.push_entry(key, payload);
            }
            Ok(()) => self.batch.push_from(from, Version::default()),
            Err(_) => self.damaged = true,
        }
    }

    /// Keeps the place of a row that begins at this place on the page, and is to be looked up.
    fn postpone(&mut self, row: (&[u8], usize), key: &[u8], wanted: Wanted) {
        self.pending.push(self.batch.rows.len(), key, wanted);
        let (row, at) = row;
        match self.copied.place_of(at, row.len()) {
            Some(from) => self.batch.push_copied(from, row.len()),
            None => self.batch.push(row, RowStamp::default()),
        }
    }
}

impl From<Direction> for palisade_btree::Direction {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Forward => palisade_btree::Direction::Forward,
            Direction::Backward => palisade_btree::Direction::Backward,
        }
    }
}

fn damaged(tree: &Tree) -> Error {
    let (space, page) = (tree.space().id(), tree.root());
    Error::Corrupted { space, page, what: "an entry of the index with this root makes no sense".to_owned() }
}
