//! Reading one row by a key.

use std::sync::Arc;

use palisade_base::Blocked;
use palisade_catalog::key::prefix_successor;

use crate::Attempt;
use crate::metadata::Use;
use crate::rows::name_table;
use crate::scan::{Bound, Direction, KeyRange, RowBatch, Scan};
use crate::stamp::{RowStamp, StampPartition};
use crate::store::{How, RowStore};
use crate::table::{SYSTEM_ROWS_READ, Table};
use crate::transaction::{ReadMode, Transaction};

/// A row, read.
#[derive(Debug, Clone, Default)]
pub struct RowBuf {
    pub(crate) row: Vec<u8>,
    pub(crate) stamp: RowStamp,
    newly_locked: bool,
}

impl RowBuf {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives back the memory of a row longer than `kept` bytes; that row is gone.
    pub fn release(&mut self, kept: usize) {
        if self.row.capacity() > kept {
            self.row.clear();
            self.row.shrink_to(kept);
        }
    }

    /// The row's bytes; see [`palisade_catalog::row`].
    pub fn row(&self) -> &[u8] {
        &self.row
    }

    /// Its version.
    pub fn stamp(&self) -> RowStamp {
        self.stamp
    }

    /// Whether reading it has locked it, and it was not locked before; see [`Transaction::unlock_row`].
    pub fn is_newly_locked(&self) -> bool {
        self.newly_locked
    }
}

impl Transaction {
    /// Reads one row by index `index`: the row whose clustered key is `key` (index 0), or the first whose
    /// entry key begins with `key` (secondary indexes: meant for unique ones). Gives the whole row. False if
    /// there is none.
    ///
    /// Of a table with several partitions all are looked at, one after the other; see
    /// [`point_read_in`](Self::point_read_in).
    pub fn point_read(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        key: &[u8],
        mode: ReadMode,
        out: &mut RowBuf,
    ) -> Attempt<bool> {
        match table.partition_count() {
            1 => self.point_read_in(table, 0, index, key, mode, out),
            _ => self.point_read_anywhere(table, index, key, mode, out),
        }
    }

    /// The same in the partition of this number alone. [`Error::Inconsistent`](crate::Error::Inconsistent) if
    /// there is none.
    #[inline]
    pub fn point_read_in(
        &mut self,
        table: &Arc<Table>,
        partition: usize,
        index: usize,
        key: &[u8],
        mode: ReadMode,
        out: &mut RowBuf,
    ) -> Attempt<bool> {
        self.use_table_for(table, Use::of(mode))?;
        let place = table.partition(partition)?;
        if index > 0 {
            let begin = || {
                let (range, forward) = (beginning_with(key), Direction::Forward);
                Scan::new(table.clone(), index, range, forward, mode, false).of_partition(partition)
            };
            return self.scan_for_row(begin, out);
        }
        let how = match mode {
            ReadMode::Change | ReadMode::ChangeJoined if !table.is_temporary() => How::Current(self.gaps()),
            _ => self.how_in(table, mode),
        };
        let (trx, progress) = self.reading_parts();
        let store = RowStore::new(place.tree(0));
        let found = store.read(trx, key, how, &mut out.row, progress);
        let found = found.map_err(|blocked| blocked.map_err(|error| name_table(error, table)))?;
        let stamp = found.map(|row| row.stamp).unwrap_or_default();
        out.stamp = RowStamp::from(stamp).in_partition(StampPartition::new(partition));
        out.newly_locked = found.is_some_and(|row| row.newly_locked);
        if found.is_some() && table.is_system() {
            SYSTEM_ROWS_READ.increment();
        }
        Ok(found.is_some())
    }

    #[cold]
    fn point_read_anywhere(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        key: &[u8],
        mode: ReadMode,
        out: &mut RowBuf,
    ) -> Attempt<bool> {
        self.use_table_for(table, Use::of(mode))?;
        let begin = || {
            let range = match index {
                0 => KeyRange { lower: Bound::Included(key.to_vec()), upper: Bound::Included(key.to_vec()) },
                _ => beginning_with(key),
            };
            Scan::new(table.clone(), index, range, Direction::Forward, mode, false).in_any_order()
        };
        self.scan_for_row(begin, out)
    }

    /// Reads the first row of a scan, or goes on with one that had to wait.
    fn scan_for_row(&mut self, begin: impl FnOnce() -> Scan, out: &mut RowBuf) -> Attempt<bool> {
        let mut read = match self.row_scan.take() {
            Some(read) => read,
            None => Box::new((begin().with_rows_wanted(1), RowBatch::new())),
        };
        let (scan, batch) = &mut *read;
        let outcome = self.scan_next(scan, batch);
        if let Err(Blocked::Wait(event)) = outcome {
            self.row_scan = Some(read);
            return Err(Blocked::Wait(event));
        }
        if !outcome? {
            return Ok(false);
        }
        let found = batch.row(0);
        out.row.clear();
        out.row.extend_from_slice(found.row);
        out.stamp = found.stamp;
        out.newly_locked = found.newly_locked;
        Ok(true)
    }
}

/// The keys that begin with `key`.
fn beginning_with(key: &[u8]) -> KeyRange {
    let mut successor = key.to_vec();
    let upper = match prefix_successor(&mut successor) {
        true => Bound::Excluded(successor),
        false => Bound::Unbounded,
    };
    KeyRange { lower: Bound::Included(key.to_vec()), upper }
}
