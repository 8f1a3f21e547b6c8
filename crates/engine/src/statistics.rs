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

use palisade_base::Blocked;
use palisade_base::prng::Prng;
use palisade_catalog::{PartitionSet, key};
use palisade_txn::sessions::thread_shard;
use parking_lot::Mutex;

use crate::sample::TableSample;
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
    /// For each index and each number of leading parts (the first entry is for one part): how many rows have the same
    /// values there as a row has, on average and NULL aside. 1.0 for all parts of a unique index.
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
/// Partitions beside an entry's own in which others like it are counted, at most.
const OTHERS_ALIKE: usize = 16;
/// Times as many that are taken where most have NULL.
const DRAWS: u32 = 8;

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
        match sample(table, modified, SAMPLES) {
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

    /// Takes the numbers and the rows anew, with the same descents each time it is called again.
    pub(crate) fn refresh(&self, table: &Table) -> Attempt<()> {
        let fresh = Arc::new(sample(table, 0, ANALYZED)?);
        let rows = Arc::new(TableSample::take(table, &fresh, 0)?);
        *self.state.lock() = Some(fresh.clone());
        *self.sample.lock() = Some((fresh, rows));
        self.forget_changes();
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
fn sum_of(partitions: Vec<PartitionStatistics>) -> TableStatistics {
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

fn sample(table: &Table, seed: u64, descents: u32) -> Attempt<TableStatistics> {
    let mut partitions = Vec::with_capacity(table.partition_count());
    for partition in table.partitions() {
        let size = partition.space().page_size();
        let mut of = PartitionStatistics::default();
        for number in 0..table.indexes.len() {
            let found = partition.tree(number).statistics(descents, seed).map_err(Blocked::up)?;
            let bytes = size.bytes_of(found.leaf_pages);
            match number {
                0 => (of.rows, of.data_bytes) = (found.entries, bytes),
                _ => of.index_bytes += bytes,
            }
        }
        partitions.push(of);
    }
    let mut sum = sum_of(partitions);
    for number in 0..table.indexes.len() {
        let keys = sample_keys((table, &sum), number, (seed, descents))?;
        sum.rows_per_key.push(keys.iter().map(|key| key.rows_per_key()).collect());
        let mut most = 1.0;
        let values = keys.iter().map(|key| {
            most = key.values(sum.rows).max(most);
            most
        });
        sum.values.push(values.collect());
    }
    Ok(sum)
}

/// Rows with the same values as random entries.
#[derive(Debug, Clone, Default)]
struct Alike {
    /// Sum of the rows, and of one divided by them.
    rows: f64,
    inverse: f64,
    taken: u32,
    /// Entries that were met, those among them that were not looked at.
    met: u32,
}

impl Alike {
    fn add(&mut self, rows: u64) {
        self.rows += rows.max(1) as f64;
        self.inverse += 1.0 / rows.max(1) as f64;
        self.taken += 1;
    }

    fn mean(&self) -> Option<f64> {
        (self.taken > 0).then(|| self.rows / f64::from(self.taken))
    }

    /// The mean of one divided by the rows; 0 if there is none.
    fn mean_inverse(&self) -> f64 {
        self.inverse / f64::from(self.taken.max(1))
    }
}

/// What random entries tell of some leading parts of an index: those without NULL there, and those with one.
#[derive(Debug, Clone, Default)]
struct Keys {
    alike: Alike,
    nulls: Alike,
}

impl Keys {
    fn rows_per_key(&self) -> f64 {
        self.alike.mean().or(self.nulls.mean()).unwrap_or(1.0)
    }

    /// How many different values there are in so many rows.
    fn values(&self, rows: u64) -> f64 {
        let met = f64::from((self.alike.met + self.nulls.met).max(1));
        let of = |alike: &Alike| f64::from(alike.met) / met * alike.mean_inverse();
        (rows as f64 * (of(&self.alike) + of(&self.nulls))).clamp(1.0, (rows as f64).max(1.0))
    }
}

/// Takes a few random entries, and estimates for each how many others have the same leading parts.
///
/// What looks for a value finds no NULL, and a column that is NULL in most rows has few rows for each of its
/// other values. So entries with NULL count only where there seem to be no others, for which more are taken.
fn sample_keys(
    (table, sizes): (&Table, &TableStatistics),
    number: usize,
    (seed, descents): (u64, u32),
) -> Attempt<Vec<Keys>> {
    let index = &table.indexes[number];
    let mut prng = Prng::new(seed ^ table.partitions()[0].tree(number).index_id());
    let mut known = vec![Keys::default(); index.parts.len()];
    let (mut key, mut upper) = (Vec::new(), Vec::new());
    for draw in 0..descents * DRAWS {
        if draw >= descents && known.iter().all(|keys| keys.alike.taken >= descents / 2) {
            break;
        }
        let partition = sizes.partition_of_random_row(&mut prng);
        let tree = table.partitions()[partition].tree(number);
        if !tree.random_key(prng.next_u64(), &mut key).map_err(Blocked::up)? {
            continue;
        }
        let ends = key::part_ends(table, number, &key);
        if ends.len() != known.len() {
            continue;
        }
        for (part, (end, has_null)) in ends.into_iter().enumerate() {
            let is_last = part + 1 == known.len();
            let Keys { alike, nulls } = &mut known[part];
            let most = if has_null { nulls } else { alike };
            most.met += 1;
            if most.taken >= descents {
                continue;
            }
            let prefix = &key[..end];
            upper.clear();
            upper.extend_from_slice(prefix);
            let upper = match key::prefix_successor(&mut upper) {
                true => Bound::Excluded(&upper[..]),
                false => Bound::Unbounded,
            };
            most.add(match index.unique && is_last && !has_null {
                true => 1,
                false => rows_alike((table, partition), number, (Bound::Included(prefix), upper))?,
            });
        }
    }
    Ok(known)
}

/// Entries of an index in a range of keys, in the partition of this number and all others. Of many others only
/// some are looked at.
fn rows_alike(
    (table, own): (&Table, usize),
    number: usize,
    (lower, upper): (Bound<&[u8]>, Bound<&[u8]>),
) -> Attempt<u64> {
    let of =
        |partition: &Partition| partition.tree(number).records_in_range(lower, upper).map_err(Blocked::up);
    let found = of(&table.partitions()[own])?;
    let others = table.partition_count() - 1;
    if others == 0 {
        return Ok(found);
    }
    let step = others.div_ceil(OTHERS_ALIKE);
    let (mut rows, mut asked) = (0_u64, 0);
    for other in (1..=others).step_by(step) {
        let partition = &table.partitions()[(own + other) % table.partition_count()];
        rows = rows.saturating_add(of(partition)?);
        asked += 1;
    }
    Ok(found.saturating_add((rows as f64 * others as f64 / f64::from(asked.max(1))) as u64))
}
