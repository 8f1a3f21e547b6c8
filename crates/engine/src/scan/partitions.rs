//! Scans of several partitions.
//!
//! Rows that are wanted in any order are read of one partition after the other: where the scan of one would
//! end, it goes on with the first key of the next. Rows that are wanted in the order of the index are read by
//! a scan of each partition, and merged:
//!
//! ```text
//!   scan of p0   3  9 12        heap of the scans' next rows      batch
//!   scan of p1   1  2 20   ──►  p1: 1   p0: 3   p2: 7        ──►  1 2 3 7 9 ...
//!   scan of p2   7  8
//! ```
//!
//! A batch ends where one of the scans has no row left that has been read: before its next one is known no
//! other row may follow, and reading it may wait. So each call reads of one partition, but for the first,
//! which begins all. A merged scan that locks has then locked the first rows of each partition, as InnoDB's
//! has; and of no partition more than a scan of it alone would have.
//!
//! What the scans have read ahead is memory for each partition, and is the less the more there are.

use palisade_base::Blocked;
use palisade_catalog::PartitionSet;

use super::second_look::ENOUGH;
use super::{Bound, Direction, FIRST_ROWS, GONE, KeyRange, MAX_ROWS, MOST_LONG, RowBatch, Scan};
use crate::Attempt;
use crate::store::How;
use crate::transaction::Transaction;

/// Rows that all scans of a merge read ahead together, about, and those of each at least and at most.
const AHEAD: usize = 4096;
const LEAST_AHEAD: usize = 8;
const MOST_AHEAD: usize = 128;

/// Partitions begun before others have their turn.
const BEGUN_AT_ONCE: u32 = 64;

/// Sources that wait for pages at once, at most.
const WAITING: usize = 16;

/// What is left to be read of a table's partitions.
pub(super) struct Several {
    /// Where the reading of each begins.
    start: Bound,
    /// Those that have not been begun.
    left: PartitionSet,
    /// Partitions that have been begun, and turns that others have had.
    begun: u32,
    order: Order,
}

/// How the rows of several partitions follow each other.
enum Order {
    /// Those of one partition after those of another.
    Any,
    /// By their keys.
    Keys,
    /// By their keys, and the scans have begun.
    Merging(Merge),
}

/// Scans of some partitions whose rows are put in order.
struct Merge {
    sources: Vec<Source>,
    /// Sources that have a row, by its key: a binary heap whose first is the next.
    heap: Vec<u32>,
    /// Sources of which it is not known whether they have another row.
    dry: Vec<u32>,
    direction: Direction,
    /// Rows of a source's next batch at most.
    ahead: usize,
}

/// The scan of one partition, and what it has read.
struct Source {
    scan: Scan,
    batch: RowBatch,
    /// The next row of the batch.
    next: usize,
}

/// The keys of the rows of a batch, by their places.
#[derive(Debug, Default)]
pub(super) struct RowKeys {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl RowKeys {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The batch has `rows` rows now; the last has this key, if it is a new one.
    #[inline]
    pub(super) fn note(&mut self, rows: usize, key: &[u8]) {
        if self.ends.len() < rows {
            self.bytes.extend_from_slice(key);
            self.ends.push(self.bytes.len() as u32);
        }
    }

    fn key(&self, number: usize) -> &[u8] {
        let from = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[from as usize..self.ends[number] as usize]
    }

    /// Keeps the keys of the rows of which `stays` says so, of the first `rows`.
    fn retain(&mut self, rows: usize, stays: impl Fn(usize) -> bool) {
        let (mut from, mut kept, mut end) = (0, 0, 0);
        for number in 0..rows {
            let to = self.ends[number] as usize;
            if stays(number) {
                self.bytes.copy_within(from..to, end);
                end += to - from;
                self.ends[kept] = end as u32;
                kept += 1;
            }
            from = to;
        }
        self.bytes.truncate(end);
        self.ends.truncate(kept);
    }
}

impl Several {
    /// All partitions of a table that has `count`, in order of keys, from there on.
    pub(super) fn of(count: usize, start: Bound) -> Box<Several> {
        Box::new(Several { start, left: PartitionSet::all(count), begun: 0, order: Order::Keys })
    }
}

impl Scan {
    /// Reads these partitions only, of those that the table has; with none there are no rows. Before the
    /// first row.
    #[must_use]
    pub fn of_partitions(mut self, partitions: &PartitionSet) -> Scan {
        match &mut self.several {
            None if partitions.contains(0) => {}
            None => self.from = None,
            Some(several) => {
                several.left.intersect_with(partitions);
                if let Some(only) = several.left.only() {
                    self.partition = only;
                    self.from = self.several.take().map(|several| several.start);
                }
            }
        }
        self
    }

    /// The same of one partition.
    #[must_use]
    pub(crate) fn of_partition(self, partition: usize) -> Scan {
        match partition < self.table.partition_count() {
            true => self.of_partitions(&PartitionSet::one(partition)),
            false => self.of_partitions(&PartitionSet::none()),
        }
    }

    /// The caller does not need the order of the index: rows come in it within a partition only.
    #[must_use]
    pub fn in_any_order(mut self) -> Scan {
        if let Some(several) = &mut self.several {
            several.order = Order::Any;
        }
        self
    }

    /// Goes on with the next partition, where rows are wanted in any order. False if there is none. Waits now
    /// and then for nothing, so that others have their turn.
    #[cold]
    pub(super) fn begin_next_partition(&mut self) -> Attempt<bool> {
        let Some(several) = &mut self.several else { return Ok(false) };
        let is_merged = match several.order {
            Order::Any => false,
            Order::Keys => !self.counts,
            Order::Merging(_) => true,
        };
        let Some(next) = several.left.first().filter(|_| !is_merged) else { return Ok(false) };
        several.begun = several.begun.wrapping_add(1);
        if several.begun.is_multiple_of(BEGUN_AT_ONCE) {
            return Err(Blocked::yielding());
        }
        several.left.remove(next);
        (self.partition, self.from) = (next, Some(several.start.clone()));
        Ok(true)
    }

    /// Rows of the batch being made are not there after all: their keys go with them.
    #[inline]
    pub(super) fn forget_keys_of_gone(&mut self) {
        if let Some(keys) = &mut self.keys {
            let rows = &self.batch.rows;
            keys.retain(rows.len(), |number| rows[number].from != GONE);
        }
    }

    /// A scan of one partition of the `count` that this one merges, which reads its rows in this way.
    fn source(&self, partition: usize, start: &Bound, count: usize, how: How) -> Source {
        let range = match self.direction {
            Direction::Forward => KeyRange { lower: start.clone(), upper: self.end.clone() },
            Direction::Backward => KeyRange { lower: self.end.clone(), upper: start.clone() },
        };
        let scan = Scan::new(self.table.clone(), self.index, range, self.direction, self.mode, self.covering);
        let scan = Scan {
            keys: Some(Box::default()),
            entries: self.entries,
            rows_wanted: self.rows_wanted,
            may_stop: self.may_stop,
            longest: (MOST_LONG / count).max(1),
            // Rows of the clustered index that are locked when they are looked up stay in the batch.
            enough: if self.index == 0 && matches!(how, How::Locked(_)) { ENOUGH } else { ENOUGH / count },
            ..scan.of_partition(partition)
        };
        Source { scan, batch: RowBatch::new(), next: 0 }
    }

    /// Rows that scans that are merged have read and not given.
    #[cfg(test)]
    pub(crate) fn rows_read_ahead(&self) -> usize {
        let Some(Order::Merging(merge)) = self.several.as_ref().map(|several| &several.order) else {
            return 0;
        };
        merge.sources.iter().map(|source| source.batch.len() - source.next).sum()
    }

    /// Begins a scan of each partition.
    fn merge(&self, start: &Bound, left: &PartitionSet, how: How) -> Merge {
        let count = left.len().max(1);
        let sources: Vec<_> =
            left.iter().map(|partition| self.source(partition, start, count, how)).collect();
        let dry = (0..sources.len() as u32).rev().collect();
        let ahead = (AHEAD / count).clamp(LEAST_AHEAD, MOST_AHEAD);
        let ahead = if self.may_stop { ahead.min(FIRST_ROWS) } else { ahead };
        Merge { sources, heap: Vec::new(), dry, direction: self.direction, ahead }
    }
}

impl Transaction {
    /// The next rows of a scan that merges partitions, in an empty batch. False at the end.
    #[cold]
    pub(super) fn merge_next(&mut self, scan: &mut Scan, batch: &mut RowBatch) -> Attempt<bool> {
        let Some(mut several) = scan.several.take() else { return Ok(false) };
        if let Order::Keys = several.order {
            let how = self.how_in(&scan.table, scan.mode);
            several.order = Order::Merging(scan.merge(&several.start, &several.left, how));
        }
        let Order::Merging(merge) = &mut several.order else { return Ok(false) };
        let filled = self.fill_sources(merge);
        if filled.is_ok() {
            let most = scan.rows_wanted.map_or(MAX_ROWS, |rows| rows.min(MAX_ROWS));
            merge.take(most, batch);
            if let Some(rows) = &mut scan.rows_wanted {
                *rows = rows.saturating_sub(batch.len());
                if *rows == 0 {
                    return Ok(true);
                }
            }
        }
        scan.several = Some(several);
        filled.map(|()| !batch.is_empty())
    }

    /// Reads the next rows of the sources that have none left. A read that takes no locks asks for the pages
    /// of some sources at once; one that does goes on with the source that waits, because a transaction waits
    /// for one row at a time. Waits for: what the scans wait for, and now and then for nothing.
    fn fill_sources(&mut self, merge: &mut Merge) -> Attempt<()> {
        let (mut wait, mut waiting, mut filled) = (None, Vec::new(), 0);
        while let Some(number) = merge.dry.pop() {
            let Source { scan, batch, next } = &mut merge.sources[number as usize];
            scan.most = merge.ahead;
            let locks = !matches!(self.how_in(&scan.table, scan.mode), How::Snapshot | How::Latest);
            match self.scan_next(scan, batch) {
                Ok(has_more) => {
                    if has_more {
                        *next = 0;
                        merge.push(number);
                    }
                    filled += 1;
                    if filled == BEGUN_AT_ONCE && !merge.dry.is_empty() {
                        wait.get_or_insert_with(Blocked::yielding);
                        break;
                    }
                }
                Err(Blocked::Wait(event)) if !locks && !event.is_complete() => {
                    waiting.push(number);
                    wait.get_or_insert(Blocked::Wait(event));
                    if waiting.len() == WAITING {
                        break;
                    }
                }
                Err(blocked) => {
                    waiting.push(number);
                    wait = Some(blocked);
                    break;
                }
            }
        }
        merge.dry.append(&mut waiting);
        wait.map_or(Ok(()), Err)
    }
}

impl Merge {
    /// Moves rows into a batch: in order, `most` of them at most, until a source has none left.
    fn take(&mut self, most: usize, batch: &mut RowBatch) {
        while let Some(number) = self.heap.first().copied() {
            let source = &mut self.sources[number as usize];
            let row = source.batch.row(source.next);
            batch.push_locked(row.row, row.stamp, row.newly_locked);
            source.next += 1;
            let is_dry = source.next == source.batch.len();
            if is_dry {
                self.heap.swap_remove(0);
                self.dry.push(number);
            }
            self.sift_down();
            if is_dry || batch.len() >= most || batch.bytes.len() >= MOST_LONG {
                break;
            }
        }
    }

    /// Whether the next row of one source comes before that of another. No two rows of a table have one key;
    /// in case damage has made some alike, the order is that of the partitions.
    fn is_before(&self, left: u32, right: u32) -> bool {
        let key = |number: u32| {
            let Source { scan, next, .. } = &self.sources[number as usize];
            scan.keys.as_ref().map_or(&[][..], |keys| keys.key(*next))
        };
        let order = match self.direction {
            Direction::Forward => key(left).cmp(key(right)),
            Direction::Backward => key(right).cmp(key(left)),
        };
        order.then(left.cmp(&right)).is_lt()
    }

    /// A source has a row again.
    fn push(&mut self, number: u32) {
        self.heap.push(number);
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.is_before(self.heap[at], self.heap[parent]) {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    /// The first of the heap may have to go down.
    fn sift_down(&mut self) {
        let mut at = 0;
        loop {
            let mut first = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.is_before(self.heap[child], self.heap[first]) {
                    first = child;
                }
            }
            if first == at {
                break;
            }
            self.heap.swap(at, first);
            at = first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_with_their_rows() {
        let mut keys = RowKeys::default();
        for (number, key) in ["a", "", "ccc", "dd", "e"].into_iter().enumerate() {
            keys.note(number + 1, key.as_bytes());
            keys.note(number + 1, b"an entry without a row");
        }
        assert_eq!(keys.key(2), b"ccc");
        // The last was given up before it was looked for.
        keys.retain(4, |number| number != 0 && number != 2);
        assert_eq!((keys.ends.len(), keys.key(0), keys.key(1)), (2, &b""[..], &b"dd"[..]));
    }
}
