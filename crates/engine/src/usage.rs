//! How often rows of a table are read and changed, by index.
//!
//! MySQL shows these counts in `performance_schema.table_io_waits_summary_by_index_usage`, and tools find
//! unused indexes by them. A scan counts its rows in memory of its own and adds the sum here when it ends;
//! what reads or changes a single row adds one. So a count is what statements have consumed, not what a batch
//! has read ahead.
//!
//! ```text
//! shard of the counting thread ─► [ no index | index 0 ] [ index 1 | index 2 ] ...
//!                                   32 bytes   32 bytes    a cache line each
//! ```
//!
//! The last place of a shard counts how often statements have begun to use the table, for reading and for
//! writing: MySQL's external locks of a table, of which no statement waits for another's.
//!
//! A thread adds to the cache lines of its own [shard](palisade_base::metric::own_shard), so that workers do
//! not take lines from each other; the reader sums up. A table that no statement has used has no shards.
//!
//! The counts are those of a definition: they begin at 0 when the table is redefined, as in MySQL, and when
//! the server starts.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::metric::{SHARDS, own_shard};

/// What is done to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowAccess {
    /// They are read.
    Fetch = 0,
    /// They are inserted.
    Insert = 1,
    /// They are changed.
    Update = 2,
    /// They are deleted.
    Delete = 3,
}

/// How many rows were accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccessCounts {
    /// Rows read.
    pub fetched: u64,
    /// Rows inserted.
    pub inserted: u64,
    /// Rows changed.
    pub updated: u64,
    /// Rows deleted.
    pub deleted: u64,
}

impl AccessCounts {
    /// All rows that were changed, inserted or deleted.
    pub fn written(&self) -> u64 {
        self.inserted + self.updated + self.deleted
    }

    /// All accesses.
    pub fn all(&self) -> u64 {
        self.fetched + self.written()
    }
}

impl std::ops::Add for AccessCounts {
    type Output = AccessCounts;

    fn add(self, other: AccessCounts) -> AccessCounts {
        AccessCounts {
            fetched: self.fetched + other.fetched,
            inserted: self.inserted + other.inserted,
            updated: self.updated + other.updated,
            deleted: self.deleted + other.deleted,
        }
    }
}

/// What a statement begins to use a table for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableAccess {
    /// To read.
    Read = 0,
    /// To change rows, or to lock them in order to.
    Write = 1,
}

/// Uses that are counted by no table any more: of definitions that are gone, and of before a reset.
static PAST_USES: AtomicU64 = AtomicU64::new(0);

/// How often statements have begun to use a table, as far as no table counts it any more.
pub fn past_uses() -> u64 {
    PAST_USES.load(Ordering::Relaxed)
}

/// A cache line: the counts of two places.
#[derive(Default)]
#[repr(align(64))]
struct Line([[AtomicU64; 4]; 2]);

/// The counts of a table.
pub struct TableUsage {
    /// The lines of a shard lie together.
    lines: OnceLock<Box<[Line]>>,
    /// How many lines a shard has.
    lines_of_shard: usize,
    indexes: usize,
}

impl TableUsage {
    /// Of a table with so many indexes.
    pub(crate) fn new(indexes: usize) -> TableUsage {
        TableUsage { lines: OnceLock::new(), lines_of_shard: (indexes + 2).div_ceil(2), indexes }
    }

    /// Counts `rows` that were accessed by the index of that number; `None` is without an index.
    #[inline]
    pub fn count(&self, index: Option<usize>, access: RowAccess, rows: u64) {
        self.add(index.map_or(0, |index| index + 1), access as usize, rows);
    }

    /// Counts a statement that reads one row, by the index of that number, and nothing else of the table.
    #[inline]
    pub fn count_point_read(&self, index: usize) {
        let shard = self.shard();
        add(shard, index + 1, RowAccess::Fetch as usize, 1);
        add(shard, self.indexes + 1, TableAccess::Read as usize, 1);
    }

    /// Counts a statement that begins to use the table.
    #[inline]
    pub fn count_use(&self, access: TableAccess) {
        self.add(self.indexes + 1, access as usize, 1);
    }

    #[inline]
    fn add(&self, place: usize, counter: usize, amount: u64) {
        add(self.shard(), place, counter, amount);
    }

    /// The lines of the calling thread's shard.
    #[inline]
    fn shard(&self) -> &[Line] {
        let lines = self.lines.get_or_init(|| self.new_lines());
        lines.get(own_shard() * self.lines_of_shard..).unwrap_or_default()
    }

    /// The sum over the shards.
    fn sum(&self, place: usize, counter: usize) -> u64 {
        let shards = self.lines.get().into_iter().flat_map(|lines| lines.chunks(self.lines_of_shard));
        let of_shard = |shard: &[Line]| shard[place / 2].0[place % 2][counter].load(Ordering::Relaxed);
        shards.map(of_shard).fold(0, u64::wrapping_add)
    }

    #[cold]
    fn new_lines(&self) -> Box<[Line]> {
        (0..SHARDS * self.lines_of_shard).map(|_| Line::default()).collect()
    }

    /// The counts of the index of that number, or of what was done without an index.
    pub fn counts(&self, index: Option<usize>) -> AccessCounts {
        let place = index.map_or(0, |index| index + 1);
        let sum = |access: RowAccess| self.sum(place, access as usize);
        AccessCounts {
            fetched: sum(RowAccess::Fetch),
            inserted: sum(RowAccess::Insert),
            updated: sum(RowAccess::Update),
            deleted: sum(RowAccess::Delete),
        }
    }

    /// How many statements have begun to use the table so.
    pub fn uses(&self, access: TableAccess) -> u64 {
        self.sum(self.indexes + 1, access as usize)
    }

    /// The counts of rows begin at 0 again. What is counted at the same moment may be lost or kept.
    pub fn reset_rows(&self) {
        self.reset(0..self.indexes + 1);
    }

    /// How many statements have begun to use the table.
    pub fn all_uses(&self) -> u64 {
        self.uses(TableAccess::Read) + self.uses(TableAccess::Write)
    }

    /// The counts of statements begin at 0 again.
    pub fn reset_uses(&self) {
        PAST_USES.fetch_add(self.all_uses(), Ordering::Relaxed);
        self.reset(self.indexes + 1..self.indexes + 2);
    }

    fn reset(&self, places: Range<usize>) {
        let shards = self.lines.get().into_iter().flat_map(|lines| lines.chunks(self.lines_of_shard));
        for shard in shards {
            let counters = places.clone().flat_map(|place| &shard[place / 2].0[place % 2]);
            counters.for_each(|counter| counter.store(0, Ordering::Relaxed));
        }
    }
}

#[inline]
fn add(shard: &[Line], place: usize, counter: usize, amount: u64) {
    if let Some(Line(line)) = shard.get(place / 2) {
        line[place % 2][counter].fetch_add(amount, Ordering::Relaxed);
    }
}

impl Drop for TableUsage {
    fn drop(&mut self) {
        PAST_USES.fetch_add(self.all_uses(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_kept_when_a_table_is_gone() {
        let usage = TableUsage::new(1);
        usage.count_use(TableAccess::Read);
        usage.count_use(TableAccess::Write);
        let before = past_uses();
        usage.reset_uses();
        usage.count_use(TableAccess::Read);
        drop(usage);
        assert!(past_uses() >= before + 3, "other tests count, too");
    }

    #[test]
    fn counts_are_kept_by_index_and_kind_and_summed_over_threads() {
        let usage = TableUsage::new(3);
        assert_eq!(usage.counts(Some(2)), AccessCounts::default());
        usage.count(None, RowAccess::Insert, 2);
        std::thread::scope(|threads| {
            for _ in 0..2 * SHARDS {
                threads.spawn(|| {
                    usage.count(Some(0), RowAccess::Fetch, 5);
                    usage.count(Some(1), RowAccess::Update, 1);
                    usage.count(Some(2), RowAccess::Delete, 3);
                });
            }
        });
        let threads = 2 * SHARDS as u64;
        assert_eq!(usage.counts(None), AccessCounts { inserted: 2, ..AccessCounts::default() });
        assert_eq!(usage.counts(Some(0)), AccessCounts { fetched: 5 * threads, ..AccessCounts::default() });
        assert_eq!(usage.counts(Some(1)), AccessCounts { updated: threads, ..AccessCounts::default() });
        assert_eq!(usage.counts(Some(2)), AccessCounts { deleted: 3 * threads, ..AccessCounts::default() });
        let all =
            (0..3).map(|index| usage.counts(Some(index))).fold(AccessCounts::default(), |sum, one| sum + one);
        assert_eq!((all.written(), all.all()), (4 * threads, 9 * threads));
        usage.count_point_read(0);
        assert_eq!(usage.counts(Some(0)).fetched, 5 * threads + 1);
        usage.count_use(TableAccess::Write);
        usage.count_use(TableAccess::Write);
        usage.reset_rows();
        assert_eq!([None, Some(0), Some(2)].map(|index| usage.counts(index).all()), [0; 3]);
        assert_eq!([TableAccess::Read, TableAccess::Write].map(|access| usage.uses(access)), [1, 2]);
        usage.reset_uses();
        assert_eq!(usage.uses(TableAccess::Write), 0);
    }
}
