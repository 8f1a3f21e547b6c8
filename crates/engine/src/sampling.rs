//! Random descents that tell how large a table is, and how many rows share a key: what
//! [`statistics`](crate::statistics) are made of.
//!
//! What has been found is kept where a page has to be waited for, by partition and by random entry: a table
//! of many partitions has more pages to look at than a small pool has frames.

use std::ops::Bound;
use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::prng::Prng;
use palisade_catalog::key;

use crate::Attempt;
use crate::statistics::{PartitionStatistics, TableStatistics, sum_of};
use crate::table::{Partition, Table};

/// Partitions beside an entry's own in which others like it are counted, at most.
const OTHERS_ALIKE: usize = 16;
/// Times as many that are taken where most have NULL.
const DRAWS: u32 = 8;
/// Tables of more partitions get fewer descents in each.
const FEW_PARTITIONS: usize = 32;
/// Partitions looked at before others have their turn.
const PARTITIONS_AT_ONCE: usize = 64;

/// How far the sampling of a table has come.
pub(crate) struct Sampling {
    seed: u64,
    descents: u32,
    /// Of how many indexes and partitions.
    shape: (usize, usize),
    partitions: Vec<PartitionStatistics>,
    /// The sum of all partitions, and what is known of the keys of its first indexes.
    sum: Option<TableStatistics>,
    /// The index after these.
    keys: Option<KeySampling>,
    finished: Option<Arc<TableStatistics>>,
}

impl Sampling {
    /// Of a table, by so many descents in each tree, which another seed leads elsewhere.
    pub(crate) fn new(table: &Table, seed: u64, descents: u32) -> Sampling {
        let (shape, partitions) = ((table.indexes.len(), table.partition_count()), Vec::new());
        Sampling { seed, descents, shape, partitions, sum: None, keys: None, finished: None }
    }

    /// Goes on to the end. Waits for: pages, and now and then for nothing, so that others have their turn.
    pub(crate) fn finish(&mut self, table: &Table) -> Attempt<Arc<TableStatistics>> {
        if let Some(finished) = &self.finished {
            return Ok(finished.clone());
        }
        let found = Arc::new(self.go_on_until(table, PARTITIONS_AT_ONCE)?);
        self.finished = Some(found.clone());
        Ok(found)
    }

    /// The same, all at once.
    pub(crate) fn go_on(&mut self, table: &Table) -> Attempt<TableStatistics> {
        self.go_on_until(table, usize::MAX)
    }

    /// The same, with others having their turn after so many partitions.
    fn go_on_until(&mut self, table: &Table, at_once: usize) -> Attempt<TableStatistics> {
        if self.sum.is_none() {
            let from = self.partitions.len();
            for partition in table.partitions().iter().skip(from) {
                if self.partitions.len() - from >= at_once {
                    return Err(Blocked::yielding());
                }
                let of = self.size_of(partition)?;
                self.partitions.push(of);
            }
            self.sum = Some(sum_of(std::mem::take(&mut self.partitions)));
        }
        let sum = self.sum.get_or_insert_default();
        while sum.rows_per_key.len() < table.indexes.len() {
            let number = sum.rows_per_key.len();
            let keys = self.keys.get_or_insert_with(|| KeySampling::new(table, number, self.seed));
            keys.go_on((table, sum), number, self.descents)?;
            let known = self.keys.take().map_or_else(Vec::new, |keys| keys.known);
            sum.rows_per_key.push(known.iter().map(|key| key.rows_per_key()).collect());
            let mut most = 1.0;
            let values = known.iter().map(|key| {
                most = key.values(sum.rows).max(most);
                most
            });
            sum.values.push(values.collect());
        }
        Ok(self.sum.take().unwrap_or_default())
    }

    fn size_of(&self, partition: &Partition) -> Attempt<PartitionStatistics> {
        let (size, (indexes, count)) = (partition.space().page_size(), self.shape);
        let most = self.descents as usize * FEW_PARTITIONS;
        let descents = (most / count.max(1)).clamp(1, self.descents as usize) as u32;
        let mut of = PartitionStatistics::default();
        for number in 0..indexes {
            let found = partition.tree(number).statistics(descents, self.seed).map_err(Blocked::up)?;
            let bytes = size.bytes_of(found.leaf_pages);
            match number {
                0 => (of.rows, of.data_bytes) = (found.entries, bytes),
                _ => of.index_bytes += bytes,
            }
        }
        Ok(of)
    }
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
struct KeySampling {
    prng: Prng,
    draws: u32,
    known: Vec<Keys>,
    key: Vec<u8>,
    upper: Vec<u8>,
    /// What the entry that is looked at tells of each number of parts: whether one is NULL, and how many rows
    /// are like it, if it counts.
    entry: Vec<(bool, Option<u64>)>,
}

impl KeySampling {
    fn new(table: &Table, number: usize, seed: u64) -> KeySampling {
        KeySampling {
            prng: Prng::new(seed ^ table.partitions()[0].tree(number).index_id()),
            draws: 0,
            known: vec![Keys::default(); table.indexes[number].parts.len()],
            key: Vec::new(),
            upper: Vec::new(),
            entry: Vec::new(),
        }
    }

    /// Takes the entries that are missing. Waits for: pages; those that have been taken stay.
    fn go_on(
        &mut self,
        (table, sizes): (&Table, &TableStatistics),
        number: usize,
        descents: u32,
    ) -> Attempt<()> {
        while self.draws < descents * DRAWS {
            let is_enough = |keys: &Keys| keys.alike.taken >= descents / 2;
            if self.draws >= descents && self.known.iter().all(is_enough) {
                break;
            }
            let mut prng = self.prng.clone();
            self.look((table, sizes), number, descents, &mut prng)?;
            for (keys, (has_null, rows)) in self.known.iter_mut().zip(self.entry.drain(..)) {
                let Keys { alike, nulls } = keys;
                let most = if has_null { nulls } else { alike };
                most.met += 1;
                if let Some(rows) = rows {
                    most.add(rows);
                }
            }
            self.prng = prng;
            self.draws += 1;
        }
        Ok(())
    }

    /// Looks at a random entry; it is left out if it cannot be taken apart.
    fn look(
        &mut self,
        (table, sizes): (&Table, &TableStatistics),
        number: usize,
        descents: u32,
        prng: &mut Prng,
    ) -> Attempt<()> {
        let KeySampling { known, key, upper, entry, .. } = self;
        entry.clear();
        let partition = sizes.partition_of_random_row(prng);
        let tree = table.partitions()[partition].tree(number);
        if !tree.random_key(prng.next_u64(), key).map_err(Blocked::up)? {
            return Ok(());
        }
        let ends = key::part_ends(table, number, key);
        if ends.len() != known.len() {
            return Ok(());
        }
        let is_unique = table.indexes[number].unique;
        for (part, (end, has_null)) in ends.into_iter().enumerate() {
            let is_last = part + 1 == known.len();
            let Keys { alike, nulls } = &known[part];
            let most = if has_null { nulls } else { alike };
            if most.taken >= descents {
                entry.push((has_null, None));
                continue;
            }
            let prefix = &key[..end];
            upper.clear();
            upper.extend_from_slice(prefix);
            let upper = match key::prefix_successor(upper) {
                true => Bound::Excluded(&upper[..]),
                false => Bound::Unbounded,
            };
            let rows = match is_unique && is_last && !has_null {
                true => 1,
                false => rows_alike((table, partition), number, (Bound::Included(prefix), upper))?,
            };
            entry.push((has_null, Some(rows)));
        }
        Ok(())
    }
}

/// Entries of an index in a range of keys, in the partition of this number and all others. Of many others
/// only some are looked at.
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
