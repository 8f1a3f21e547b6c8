//! Some rows of a table, and how the values of its columns are spread as these show it.
//!
//! The planner wants to know how many rows a condition lets through that no index tells of. The rows are met
//! at random: a few on each of some leaves that are come to by random descents, or all of a small table. They
//! are copied as they are on the page, committed or not; rows that are partly elsewhere are left out.
//! If a page that is needed is not in memory the caller is told to wait for it. What was taken is kept as
//! long as the [statistics](crate::TableStatistics) that it was taken with.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::prng::Prng;
use palisade_btree::{Direction, ScanEnd, Tree};
use palisade_catalog::RowView;
use palisade_catalog::histogram::{Histogram, HistogramBuilder, Specification, data_type};
use palisade_txn::{ClusteredHeader, EXTERNAL};
use parking_lot::Mutex;

use crate::Attempt;
use crate::statistics::TableStatistics;
use crate::table::Table;

/// Random leaves that rows are taken from.
const LEAVES: u64 = 64;
/// Rows that are taken of each.
const ROWS_A_LEAF: usize = 8;
/// Tables of so many rows are taken whole.
const SMALL: u64 = 512;
/// Tables of more partitions are not: each has a leaf.
const FEW_PARTITIONS: usize = 32;
/// Bytes of rows, after which no more are taken.
const MOST_BYTES: usize = 256 * 1024;
/// Buckets of a column's histogram, and bytes that its values may take.
const BUCKETS: u16 = 64;
const VALUE_BYTES: usize = 1 << 20;

/// Some rows of a table.
#[derive(Debug, Default)]
pub struct TableSample {
    bytes: Vec<u8>,
    /// Where each row ends.
    ends: Vec<usize>,
    /// The part of all rows that they are, from 0 to 1.
    part: f64,
    /// Histograms of columns, once they were wanted; `None` of a column that has none. By the columns'
    /// ordinals: their places change where the rows stay.
    spreads: Mutex<Vec<(u16, Option<Arc<Histogram>>)>>,
}

impl TableSample {
    /// The rows, as [`RowView`] reads them.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(from, to)| &self.bytes[from..*to])
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How the values of a column of `table` are spread in these rows.
    pub fn spread(&self, table: &Table, column: usize) -> Option<Arc<Histogram>> {
        let ordinal = table.columns.get(column)?.ordinal?;
        let mut spreads = self.spreads.lock();
        if let Some((_, known)) = spreads.iter().find(|(known, _)| *known == ordinal) {
            return known.clone();
        }
        let made = self.measure(table, column).map(Arc::new);
        spreads.push((ordinal, made.clone()));
        made
    }

    fn measure(&self, table: &Table, column: usize) -> Option<Histogram> {
        let ty = &table.columns.get(column)?.sql_type;
        data_type(ty)?;
        let mut builder = HistogramBuilder::new(ty.clone(), VALUE_BYTES, 0);
        for row in self.rows() {
            builder.add(RowView::new(table.descriptor(), row).ok()?.column(column));
        }
        let specification = Specification { buckets: BUCKETS, auto_update: true, now_us: 0 };
        Some(builder.finish(specification, self.part))
    }

    /// Of a table of which this is known.
    pub(crate) fn take(table: &Table, known: &TableStatistics, seed: u64) -> Attempt<TableSample> {
        let mut sample = TableSample::default();
        let rows = known.rows;
        match rows <= SMALL && table.partition_count() <= FEW_PARTITIONS {
            true => {
                table.partitions().iter().try_for_each(|partition| sample.take_all(partition.tree(0)))?;
            }
            false => sample.take_some(table, known, seed)?,
        }
        sample.part = (sample.len() as f64 / (rows as f64).max(1.0)).min(1.0);
        Ok(sample)
    }

    fn take_all(&mut self, tree: &Tree) -> Attempt<()> {
        let mut from: Option<Vec<u8>> = None;
        loop {
            let bound = from.as_deref().map_or(Bound::Unbounded, Bound::Included);
            let end = tree.scan_range(bound, Bound::Unbounded, Direction::Forward, 0, |entry| {
                self.add(entry.value());
                ControlFlow::Continue(())
            });
            match end.map_err(Blocked::up)? {
                ScanEnd::Continue { separator, .. } if !self.is_full() => from = Some(separator.to_vec()),
                _ => return Ok(()),
            }
        }
    }

    fn take_some(&mut self, table: &Table, known: &TableStatistics, seed: u64) -> Attempt<()> {
        let mut prng = Prng::new(seed ^ table.partitions()[0].tree(0).index_id());
        let mut key = Vec::new();
        for _ in 0..LEAVES {
            let tree = table.partitions()[known.partition_of_random_row(&mut prng)].tree(0);
            if self.is_full() || !tree.random_key(prng.next_u64(), &mut key).map_err(Blocked::up)? {
                continue;
            }
            // Those behind the key that was met, as far from each other as the leaf allows.
            let (mut passed, mut stride) = (0, None);
            let visit = |entry: palisade_btree::Entry<'_, '_>| {
                let stride = *stride.get_or_insert(1 + entry.ahead() / ROWS_A_LEAF);
                if passed % stride == 0 {
                    self.add(entry.value());
                }
                passed += 1;
                ControlFlow::Continue(())
            };
            tree.scan_range(Bound::Included(&key), Bound::Unbounded, Direction::Forward, 0, visit)
                .map_err(Blocked::up)?;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.bytes.len() >= MOST_BYTES
    }

    fn add(&mut self, value: &[u8]) {
        let Some((header, row)) = ClusteredHeader::split(value) else { return };
        if header.is_deleted() || header.flags & EXTERNAL != 0 || self.is_full() {
            return;
        }
        self.bytes.extend_from_slice(row);
        self.ends.push(self.bytes.len());
    }
}
