//! What the planner knows of a table's size and keys.
//!
//! Sampled by a few random descents ([`palisade_btree::tree::estimate`]) when a statement plans, and sampled
//! again when a tenth of the table has changed since. How many rows share a key is estimated from random
//! entries: a row with a frequent key is as likely to be asked for as it is to be met. With `f` rows that
//! share the key of a random entry,
//!
//! ```text
//! mean of f             rows with the key of a row
//! rows * mean of 1 / f  values: each is met by a part f / rows of the entries, and counts 1 / f
//! ```
//!
//! which differ where keys are skewed: of 300,000 sales of 5,000 products a sale shares its product with
//! 1,400 others, while a product has 60 sales (Horvitz and Thompson, "A generalization of sampling without
//! replacement from a finite universe", 1952). If a page that is needed for it is not in memory, the old
//! numbers stay, or a guess from the size of the file if there are none, as after a start; the page is on its
//! way then. ANALYZE TABLE waits for the pages.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::prng::Prng;
use palisade_catalog::PartitionSet;
use palisade_txn::sessions::thread_shard;
use parking_lot::Mutex;

use crate::sample::TableSample;
use crate::sampling::Sampling;
use crate::table::{Partition, Table};
use crate::{Attempt, KeyRange};

/// Estimates for a partition of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartitionStatistics {
    /// Rows, about.
    pub rows: u64,
    /// Bytes of the clustered index, about.
    pub data_bytes: u64,
    /// Bytes of the other indexes, about.
    pub index_bytes: u64,
}

/// Estimates for a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableStatistics {
    /// Rows, about.
    pub rows: u64,
    /// Bytes of the clustered index, about.
    pub data_bytes: u64,
    /// Bytes of the other indexes, about.
    pub index_bytes: u64,
    /// Average bytes of a row.
    pub row_bytes: u64,
    /// For each index and each number of leading parts (the first entry is for one part): how many rows have
    /// the same values there as a row has, on average and NULL aside. 1.0 for all parts of a unique index.
    pub rows_per_key: Vec<Vec<f64>>,
    /// Likewise, how many different values there are.
    pub values: Vec<Vec<f64>>,
    /// What of it is in each partition; empty of a table that has one.
    pub partitions: Vec<PartitionStatistics>,
}

impl TableStatistics {
    /// About how many rows are in these partitions.
    pub fn rows_in(&self, partitions: &PartitionSet) -> u64 {
        match self.partitions.is_empty() {
            true => self.rows,
            false => {
                partitions.iter().filter_map(|number| self.partitions.get(number)).map(|of| of.rows).sum()
            }
        }
    }

    /// A partition in which a random row is.
    pub(crate) fn partition_of_random_row(&self, prng: &mut Prng) -> usize {
        if self.partitions.is_empty() {
            return 0;
        }
        let mut row = prng.below(self.rows.max(1));
        let holds = |of: &PartitionStatistics| match row.checked_sub(of.rows) {
            Some(behind) => {
                row = behind;
                false
            }
            None => true,
        };
        self.partitions.iter().position(holds).unwrap_or(0)
    }
}

impl Table {
    /// About how many entries of an index are in a range of its keys, exact if they are on one leaf: what the
    /// two descents to its ends tell. `None` if a page that is needed for it is not in memory. Never waits.
    pub fn entries_in_range(&self, index: usize, range: &KeyRange) -> Option<u64> {
        let of = |partition| entries_in(partition, index, range);
        self.partitions().iter().try_fold(0, |sum: u64, partition| Some(sum.saturating_add(of(partition)?)))
    }

    /// The same in some of its partitions.
    pub fn entries_in_range_of(
        &self,
        index: usize,
        range: &KeyRange,
        partitions: &PartitionSet,
    ) -> Option<u64> {
        let of = |number| self.partitions().get(number).map_or(Some(0), |of| entries_in(of, index, range));
        partitions.iter().try_fold(0, |sum: u64, number| Some(sum.saturating_add(of(number)?)))
    }
}

fn entries_in(partition: &Partition, index: usize, range: &KeyRange) -> Option<u64> {
    let (lower, upper) = (borrowed(&range.lower), borrowed(&range.upper));
    partition.tree(index).records_in_range(lower, upper).ok()
}

fn borrowed(bound: &crate::Bound) -> Bound<&[u8]> {
    match bound {
        crate::Bound::Unbounded => Bound::Unbounded,
        crate::Bound::Included(key) => Bound::Included(key),
        crate::Bound::Excluded(key) => Bound::Excluded(key),
    }
}

/// Numbers of rows below it are of one magnitude.
const FEW_ROWS: u64 = 100;
/// Changes for each row after which there may be another magnitude of them.
const MOST_CHANGES: u64 = 4;
/// Random descents per index; more where the statement waits for the pages.
const SAMPLES: u32 = 8;
const ANALYZED: u32 = 64;
/// Bytes that a row is taken to have where no page has been seen, with what indexes have of it.
const GUESSED_ROW: u64 = 128;

/// A cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Shard(AtomicU64);

/// Keeps a table's statistics.
#[derive(Default)]
pub(crate) struct Sampler {
    /// Rows changed since the last sample, counted by thread.
    modified: [Shard; 16],
    state: Mutex<Option<Arc<TableStatistics>>>,
    /// Rows that were taken, and the statistics that there were then.
    sample: Mutex<Option<(Arc<TableStatistics>, Arc<TableSample>)>>,
}

impl Sampler {
    /// A row was inserted, updated or deleted.
    #[inline]
    pub(crate) fn note_change(&self) {
        self.modified[thread_shard()].0.fetch_add(1, Ordering::Relaxed);
    }

    fn modified(&self) -> u64 {
        self.modified.iter().map(|shard| shard.0.load(Ordering::Relaxed)).sum()
    }

    pub(crate) fn statistics(&self, table: &Table) -> Arc<TableStatistics> {
        let modified = self.modified();
        let mut state = self.state.lock();
        let known = state
            .as_ref()
            .filter(|known| modified <= known.rows / 10 && known.rows_per_key.len() == table.indexes.len());
        if let Some(known) = known {
            return known.clone();
        }
        match Sampling::new(table, modified, SAMPLES).go_on(table) {
            Ok(fresh) => {
                let fresh = Arc::new(fresh);
                *state = Some(fresh.clone());
                self.forget_changes();
                fresh
            }
            Err(_) => state.clone().unwrap_or_else(|| Arc::new(guess(table))),
        }
    }

    fn forget_changes(&self) {
        self.modified.iter().for_each(|shard| shard.0.store(0, Ordering::Relaxed));
    }
}

/// ANALYZE TABLE under way: what it has found is kept while it waits, and goes with it when it is given up.
pub struct Analysis<'t> {
    table: &'t Table,
    sampler: &'t Sampler,
    sampling: Sampling,
}

impl<'t> Analysis<'t> {
    pub(crate) fn new(table: &'t Table, sampler: &'t Sampler) -> Analysis<'t> {
        Analysis { table, sampler, sampling: Sampling::new(table, 0, ANALYZED) }
    }

    /// Takes the numbers and the rows anew, and goes on where it had to wait: the pages of several partitions
    /// need not be in memory all at once. Waits for: pages, and now and then for nothing, so that others have
    /// their turn.
    pub fn go_on(&mut self) -> Attempt<()> {
        let Analysis { table, sampler, sampling } = self;
        let fresh = sampling.finish(table)?;
        let rows = Arc::new(TableSample::take(table, &fresh, 0)?);
        *sampler.state.lock() = Some(fresh.clone());
        *sampler.sample.lock() = Some((fresh, rows));
        sampler.forget_changes();
        Ok(())
    }
}

impl Sampler {
    /// Some rows; `None` if a page that is needed for it is not in memory.
    pub(crate) fn sample(&self, table: &Table) -> Option<Arc<TableSample>> {
        let statistics = self.statistics(table);
        let mut sample = self.sample.lock();
        let known = sample.as_ref().filter(|(taken_with, _)| Arc::ptr_eq(taken_with, &statistics));
        if let Some((_, known)) = known {
            return Some(known.clone());
        }
        let fresh = Arc::new(TableSample::take(table, &statistics, statistics.rows).ok()?);
        *sample = Some((statistics, fresh.clone()));
        Some(fresh)
    }

    /// How many rows there are, to the order of magnitude: sampled anew only where changes since may have
    /// made another one of it, so that a small table that changes all the time is not sampled all the time.
    pub(crate) fn magnitude(&self, table: &Table) -> u64 {
        let modified = self.modified();
        let known = self.state.lock().as_ref().map(|known| known.rows);
        match known.filter(|rows| modified <= (*rows).max(FEW_ROWS) * MOST_CHANGES) {
            Some(rows) => rows,
            None => self.statistics(table).rows,
        }
    }
}

/// What the size of its files tells of a table.
fn guess(table: &Table) -> TableStatistics {
    let of = |partition: &Partition| {
        let space = partition.space();
        let data_bytes = space.page_size().bytes_of(u64::from(space.pages()));
        PartitionStatistics { rows: data_bytes / GUESSED_ROW, data_bytes, index_bytes: 0 }
    };
    let guessed = sum_of(table.partitions().iter().map(of).collect());
    TableStatistics { row_bytes: GUESSED_ROW, ..guessed }
}

/// What the estimates for its partitions are together.
pub(crate) fn sum_of(partitions: Vec<PartitionStatistics>) -> TableStatistics {
    let sum = |of: fn(&PartitionStatistics) -> u64| partitions.iter().map(of).fold(0, u64::saturating_add);
    let (rows, data_bytes) = (sum(|of| of.rows), sum(|of| of.data_bytes));
    TableStatistics {
        rows,
        data_bytes,
        index_bytes: sum(|of| of.index_bytes),
        row_bytes: data_bytes.checked_div(rows).unwrap_or(0),
        partitions: if partitions.len() > 1 { partitions } else { Vec::new() },
        ..Default::default()
    }
}
