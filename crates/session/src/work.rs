//! What statements have done, counted as MySQL counts the calls of its storage engines: `Handler_...`,
//! `Select_...`, `Sort_...`.
//!
//! A session counts in memory of its own and adds to the server's counters when a statement ends. Calls are
//! counted where rows are consumed, not where they are read ahead: a LIMIT 1 on a long range counts one row.
//! What MySQL does with a temporary table for DISTINCT and GROUP BY is sorting or a hash table here, and is
//! counted as such or not at all.

use palisade_base::metric::Metric;

palisade_base::metrics! {
    /// Operators that have put rows off to temporary files.
    pub static CREATED_TMP_DISK_TABLES: Counter = "Created_tmp_disk_tables", "sql", "Groups, and rows without duplicates, that went to temporary files";
    /// Temporary files of statements.
    pub static CREATED_TMP_FILES: Counter = "Created_tmp_files", "sql", "Temporary files made";
    /// Ends of statements and transactions that kept their changes.
    pub static HANDLER_COMMIT: Counter = "Handler_commit", "sql", "Statements and transactions committed";
    /// Rows deleted.
    pub static HANDLER_DELETE: Counter = "Handler_delete", "sql", "Rows deleted";
    /// Scans of a whole index or table begun.
    pub static HANDLER_READ_FIRST: Counter = "Handler_read_first", "sql", "Scans begun at the first entry of an index";
    /// Positions looked for by key.
    pub static HANDLER_READ_KEY: Counter = "Handler_read_key", "sql", "Rows looked for by a key";
    /// Backward scans of a whole index begun.
    pub static HANDLER_READ_LAST: Counter = "Handler_read_last", "sql", "Scans begun at the last entry of an index";
    /// Steps forward in an index.
    pub static HANDLER_READ_NEXT: Counter = "Handler_read_next", "sql", "Next rows asked for in order of an index";
    /// Steps backward in an index.
    pub static HANDLER_READ_PREV: Counter = "Handler_read_prev", "sql", "Previous rows asked for in order of an index";
    /// Steps of a scan of a table.
    pub static HANDLER_READ_RND_NEXT: Counter = "Handler_read_rnd_next", "sql", "Next rows asked for in scans of tables";
    /// Ends of statements and transactions that undid their changes.
    pub static HANDLER_ROLLBACK: Counter = "Handler_rollback", "sql", "Statements and transactions rolled back";
    /// SAVEPOINT.
    pub static HANDLER_SAVEPOINT: Counter = "Handler_savepoint", "sql", "Savepoints set";
    /// ROLLBACK TO SAVEPOINT.
    pub static HANDLER_SAVEPOINT_ROLLBACK: Counter = "Handler_savepoint_rollback", "sql", "Returns to savepoints";
    /// Rows updated.
    pub static HANDLER_UPDATE: Counter = "Handler_update", "sql", "Rows updated";
    /// Rows inserted, those that turn out to be duplicates included.
    pub static HANDLER_WRITE: Counter = "Handler_write", "sql", "Rows given to be inserted";
    /// Statements ended by `max_execution_time`.
    pub static MAX_EXECUTION_TIME_EXCEEDED: Counter = "Max_execution_time_exceeded", "sql", "Queries that took longer than they may";
    /// Statements with a time limit.
    pub static MAX_EXECUTION_TIME_SET: Counter = "Max_execution_time_set", "sql", "Queries begun with a limit of their time";
    /// Joined tables read whole.
    pub static SELECT_FULL_JOIN: Counter = "Select_full_join", "sql", "Joined tables read without a key";
    /// Joined tables read by a range.
    pub static SELECT_FULL_RANGE_JOIN: Counter = "Select_full_range_join", "sql", "Joined tables read by a range";
    /// First tables read by a range.
    pub static SELECT_RANGE: Counter = "Select_range", "sql", "Queries that read a range of their first table";
    /// First tables read whole.
    pub static SELECT_SCAN: Counter = "Select_scan", "sql", "Queries that read the whole of their first table";
    /// Merges of runs that sorts have written to temporary files.
    pub static SORT_MERGE_PASSES: Counter = "Sort_merge_passes", "sql", "Merges of sorted runs in temporary files";
    /// Rows sorted.
    pub static SORT_ROWS: Counter = "Sort_rows", "sql", "Rows that came out of sorts";
    /// Sorts.
    pub static SORT_SCAN: Counter = "Sort_scan", "sql", "Sorts";
}

/// What is counted, in the order of `METRICS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the counter")]
pub enum Work {
    CreatedTmpDiskTables,
    CreatedTmpFiles,
    HandlerCommit,
    HandlerDelete,
    HandlerReadFirst,
    HandlerReadKey,
    HandlerReadLast,
    HandlerReadNext,
    HandlerReadPrev,
    HandlerReadRndNext,
    HandlerRollback,
    HandlerSavepoint,
    HandlerSavepointRollback,
    HandlerUpdate,
    HandlerWrite,
    MaxExecutionTimeExceeded,
    MaxExecutionTimeSet,
    SelectFullJoin,
    SelectFullRangeJoin,
    SelectRange,
    SelectScan,
    SortMergePasses,
    SortRows,
    SortScan,
}

/// How many things are counted.
pub const COUNT: usize = Work::SortScan as usize + 1;

/// Each, by its place.
const WORK: [Work; COUNT] = [
    Work::CreatedTmpDiskTables,
    Work::CreatedTmpFiles,
    Work::HandlerCommit,
    Work::HandlerDelete,
    Work::HandlerReadFirst,
    Work::HandlerReadKey,
    Work::HandlerReadLast,
    Work::HandlerReadNext,
    Work::HandlerReadPrev,
    Work::HandlerReadRndNext,
    Work::HandlerRollback,
    Work::HandlerSavepoint,
    Work::HandlerSavepointRollback,
    Work::HandlerUpdate,
    Work::HandlerWrite,
    Work::MaxExecutionTimeExceeded,
    Work::MaxExecutionTimeSet,
    Work::SelectFullJoin,
    Work::SelectFullRangeJoin,
    Work::SelectRange,
    Work::SelectScan,
    Work::SortMergePasses,
    Work::SortRows,
    Work::SortScan,
];

/// Those of which a statement's own are told; see [`WorkDone::mark`].
const TOLD: u32 = {
    const KINDS: [Work; 8] = [
        Work::CreatedTmpDiskTables,
        Work::SelectFullJoin,
        Work::SelectFullRangeJoin,
        Work::SelectRange,
        Work::SelectScan,
        Work::SortMergePasses,
        Work::SortRows,
        Work::SortScan,
    ];
    let (mut bits, mut left) = (0, KINDS.as_slice());
    while let [first, rest @ ..] = left {
        bits |= 1 << *first as usize;
        left = rest;
    }
    bits
};

/// What one session's statements have done.
#[derive(Debug, Default)]
pub struct WorkDone {
    /// Since the session began, or FLUSH STATUS.
    totals: [u64; COUNT],
    /// Of that, what the server's counters have not been told.
    fresh: [u64; COUNT],
    /// A bit for each that is not zero there.
    touched: u32,
    /// A bit for each that was counted since the [mark](Self::mark), of those that it tells of.
    since_mark: u32,
    /// What they were at the mark.
    marked: Option<Box<Marked>>,
    /// Rows that scans and reads by key have found, since the session began.
    pub rows_examined: u64,
    /// Microseconds of waits for locks of rows and tables, since the session began.
    pub lock_micros: u64,
}

/// What a session had counted when a statement ended.
#[derive(Debug, Default)]
struct Marked {
    totals: [u64; COUNT],
    rows_examined: u64,
    lock_micros: u64,
}

impl WorkDone {
    /// What was counted since the last mark is the statement's that ends now: `take` is told of each kind of
    /// sort, of scan and of join and of temporary tables; the rows examined and the microseconds of waits
    /// for locks are returned. The next statement begins here. To be called after
    /// [`publish`](Self::publish).
    #[inline]
    pub fn mark(&mut self, mut take: impl FnMut(Work, u64)) -> (u64, u64) {
        let marked = self.marked.get_or_insert_default();
        while self.since_mark != 0 {
            let which = self.since_mark.trailing_zeros() as usize;
            self.since_mark &= self.since_mark - 1;
            let counters = (WORK.get(which), self.totals.get(which), marked.totals.get_mut(which));
            if let (Some(work), Some(total), Some(before)) = counters {
                take(*work, total.saturating_sub(*before));
                *before = *total;
            }
        }
        let examined = self.rows_examined - std::mem::replace(&mut marked.rows_examined, self.rows_examined);
        let waited = self.lock_micros - std::mem::replace(&mut marked.lock_micros, self.lock_micros);
        (examined, waited)
    }

    /// Counts `amount`.
    #[inline]
    pub fn add(&mut self, work: Work, amount: u64) {
        if let Some(fresh) = self.fresh.get_mut(work as usize) {
            *fresh += amount;
            self.touched |= 1 << work as usize;
        }
    }

    /// Adds what a part of the statement has done.
    pub fn absorb(&mut self, part: &WorkDone) {
        for (fresh, more) in self.fresh.iter_mut().zip(part.counts()) {
            *fresh += more;
        }
        self.touched |= part.touched;
        self.rows_examined += part.rows_examined;
        self.lock_micros += part.lock_micros;
    }

    /// Tells the server's counters.
    pub fn publish(&mut self) {
        self.since_mark |= self.touched & TOLD;
        while self.touched != 0 {
            let which = self.touched.trailing_zeros() as usize;
            self.touched &= self.touched - 1;
            let counters = (self.fresh.get_mut(which), self.totals.get_mut(which), METRICS.get(which));
            if let (Some(fresh), Some(total), Some(metric)) = counters {
                let amount = std::mem::take(fresh);
                *total += amount;
                metric.add(amount);
            }
        }
    }

    /// Begins at 0 again, for the session only.
    pub fn start_over(&mut self) {
        self.publish();
        self.totals = [0; COUNT];
        self.marked.iter_mut().for_each(|marked| marked.totals = [0; COUNT]);
    }

    /// What the session has counted, in the order of [`Work`].
    pub fn counts(&self) -> [u64; COUNT] {
        let mut counts = self.totals;
        counts.iter_mut().zip(self.fresh).for_each(|(total, fresh)| *total += fresh);
        counts
    }

    /// What the session has counted of `metric`, if it is one of these.
    pub fn value(&self, metric: &Metric) -> Option<u64> {
        let which = METRICS.iter().position(|known| std::ptr::eq(*known, metric))?;
        Some(self.totals.get(which)? + self.fresh.get(which)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_keeps_its_own_and_tells_the_server_once() {
        let mut done = WorkDone::default();
        let before = SORT_ROWS.value();
        done.add(Work::SortRows, 3);
        assert_eq!((done.value(&SORT_ROWS), done.value(&SORT_SCAN)), (Some(3), Some(0)));
        done.publish();
        done.publish();
        done.add(Work::SortRows, 4);
        assert_eq!(done.value(&SORT_ROWS), Some(7));
        // Only this test counts sorts in this process without a statement; others may run beside it.
        assert!(SORT_ROWS.value() >= before + 3);
        let other = Metric::new("m", "t", "", palisade_base::metric::Kind::Counter);
        assert_eq!(done.value(&other), None);
    }

    #[test]
    fn a_statement_has_what_was_counted_since_the_one_before() {
        let mut done = WorkDone::default();
        let statement = |done: &mut WorkDone| {
            done.publish();
            let mut seen = Vec::new();
            let rows = done.mark(|work, amount| seen.push((work, amount)));
            (seen, rows)
        };
        done.add(Work::SortRows, 3);
        done.rows_examined += 7;
        assert_eq!(statement(&mut done), (vec![(Work::SortRows, 3)], (7, 0)));
        assert_eq!(statement(&mut done), (vec![], (0, 0)));
        done.add(Work::SortRows, 2);
        done.publish();
        done.add(Work::HandlerCommit, 1);
        done.lock_micros += 9;
        done.add(Work::SelectScan, 1);
        let both = vec![(Work::SelectScan, 1), (Work::SortRows, 2)];
        assert_eq!(statement(&mut done), (both, (0, 9)), "commits are counted for the session only");
        done.start_over();
        done.add(Work::SortRows, 4);
        assert_eq!(statement(&mut done), (vec![(Work::SortRows, 4)], (0, 0)));
    }

    #[test]
    fn the_list_and_the_names_go_together() {
        assert_eq!(METRICS.len(), COUNT);
        assert!(WORK.iter().enumerate().all(|(place, work)| *work as usize == place));
        for (work, metric) in [
            (Work::HandlerCommit, &HANDLER_COMMIT),
            (Work::HandlerReadNext, &HANDLER_READ_NEXT),
            (Work::HandlerWrite, &HANDLER_WRITE),
            (Work::SelectScan, &SELECT_SCAN),
            (Work::SortScan, &SORT_SCAN),
        ] {
            assert!(std::ptr::eq(METRICS[work as usize], metric), "{work:?}");
        }
    }
}
