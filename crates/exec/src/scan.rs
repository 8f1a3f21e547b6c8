//! Reading a table by an access path.

use std::ops::Range;
use std::sync::Arc;

use palisade_base::Blocked;
use palisade_catalog::{PartitionSet, RowView, key};
use palisade_engine::{
    Attempt, Direction, IsolationLevel, KeyRange, LockMode, LockWait, ReadMode, RowAccess, RowBatch, RowBuf,
    RowStamp, Scan, Table, TableAccess,
};
use palisade_expr::place::At;
use palisade_expr::screen::Screen;
use palisade_expr::{Expr, Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::Access;
use palisade_plan::access::Ranges;
use palisade_plan::partition::prune::Pruning;
use palisade_plan::reads::{Reach, index_of, is_table_scan, reach};
use palisade_session::work::Work;

use super::ExecContext;
use super::batches::Batch;
use super::store::row_error;

/// Where a scan is.
#[derive(Default)]
pub struct ScanState {
    phase: Phase,
    /// Ranges still to be read, the next one last.
    ranges: Vec<KeyRange>,
    scan: Option<Scan>,
    /// The partitions that are read, once that is known of a table that has any.
    partitions: Option<PartitionSet>,
    /// The row in the slot has not been tested yet.
    pending: bool,
    /// The row that was read by its key has not passed, and is to be locked all the same and tested again.
    relock: bool,
    /// Rows the caller wants at most, as a hint.
    rows_wanted: Option<usize>,
    /// The open range has given a row.
    has_given: bool,
    /// The caller may stop after any row.
    may_stop: bool,
    /// Once there is a batch, if its rows are not tested: the slot that has it, and what a step in it is
    /// counted as.
    untested: Option<(usize, Work)>,
    /// Batches that were read.
    batches: usize,
    /// The filter's first conjuncts, once there was a second batch, if they can be [tested so](Screen).
    screen: Option<Box<Screen>>,
    /// The screen is all of the filter: the slot that has the rows, and what a step in them is counted as.
    screened: Option<(usize, Work)>,
    /// What the screen says of the row in the slot, if it was asked.
    verdict: Option<bool>,
    /// It reads pieces of ranges, whose beginnings and ends are counted by who has divided them.
    is_of_pieces: bool,
    /// The batch that ends with this row is read one by one.
    singly_to: usize,
    tally: Tally,
}

/// Rows of a scan of which its table has not been told: it is told once, when the statement has ended.
#[derive(Default)]
struct Tally {
    rows: u64,
    /// The table and the index of which they are, once the scan is open.
    of: Option<(Arc<Table>, Option<usize>)>,
}

impl Tally {
    /// The rows that follow are of this path, which is always the same one.
    fn begin(&mut self, table: &Arc<Table>, access: &Access, mode: ReadMode, is_of_pieces: bool) {
        if self.of.is_some() {
            return;
        }
        if !is_of_pieces {
            table.usage().count_use(match mode {
                ReadMode::Snapshot | ReadMode::Source | ReadMode::Locked(LockMode::Shared, _) => {
                    TableAccess::Read
                }
                _ => TableAccess::Write,
            });
        }
        self.of = Some((table.clone(), index_of(access)));
    }

    /// Tells the table.
    fn tell(&mut self) {
        if let (Some((table, index)), true) = (&self.of, self.rows > 0) {
            table.usage().count(*index, RowAccess::Fetch, std::mem::take(&mut self.rows));
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.tell();
    }
}

impl std::fmt::Debug for ScanState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScanState").field("phase", &self.phase).finish_non_exhaustive()
    }
}

#[derive(Debug, Default, PartialEq)]
enum Phase {
    #[default]
    Closed,
    /// One row by its complete unique key.
    Point(Vec<u8>),
    /// That row has been read.
    PointRead(Vec<u8>),
    Ranges,
    Finished,
}

impl ScanState {
    /// Before the first row.
    pub fn reset(&mut self) {
        self.phase = Phase::Closed;
        self.ranges.clear();
        self.scan = None;
        self.partitions = None;
        self.pending = false;
        self.relock = false;
    }

    /// Goes to the beginning of a piece of a range, which is read forward.
    pub fn begin_piece(&mut self, piece: KeyRange) {
        self.reset();
        self.ranges.push(piece);
        self.phase = Phase::Ranges;
        self.is_of_pieces = true;
    }

    /// Goes before the row with this whole unique key.
    pub fn find(&mut self, key: Vec<u8>) {
        self.reset();
        self.phase = Phase::Point(key);
    }

    /// At most so many rows will be wanted.
    pub fn hint_rows(&mut self, rows: usize) {
        self.rows_wanted = Some(rows);
    }

    /// The caller may have enough after any row.
    pub fn hint_stop(&mut self) {
        self.may_stop = true;
    }

    /// Goes to the next row if it is in the batch and passes without being looked at: what most calls of
    /// [`next`](Self::next) come down to.
    #[inline]
    pub fn step(&mut self, cx: &mut ExecContext<'_, '_>) -> bool {
        let Some((slot, work)) = self.untested else { return self.step_screened(cx) };
        let Some(Slot::Batch { batch, position, .. }) = cx.state.frame.slots.get_mut(slot) else {
            return false;
        };
        let is_last = *position + 1 >= batch.len();
        if is_last || self.pending || self.scan.is_none() || cx.state.budget < 2 {
            return false;
        }
        *position += 1;
        cx.state.budget -= 1;
        cx.execution.work.add(work, 1);
        cx.execution.work.rows_examined += 1;
        self.tally.rows += 1;
        true
    }

    /// The same where the screen is all of the filter: rows that fail it are passed over. Where it gives
    /// false it may have passed over some.
    #[inline]
    fn step_screened(&mut self, cx: &mut ExecContext<'_, '_>) -> bool {
        let (Some((slot, work)), Some(screen)) = (self.screened, &self.screen) else { return false };
        let Some(Slot::Batch { table, batch, position }) = cx.state.frame.slots.get_mut(slot) else {
            return false;
        };
        if self.pending || self.scan.is_none() {
            return false;
        }
        let most =
            (batch.len().saturating_sub(*position + 1)).min(cx.state.budget.saturating_sub(1) as usize);
        let (mut rows, mut has_found) = (0, false);
        while rows < most && !has_found {
            match screen.passes(table.descriptor(), batch.row(*position + rows + 1).row) {
                Some(passes) => has_found = passes,
                None => break,
            }
            rows += 1;
        }
        *position += rows;
        cx.state.budget -= rows as u32;
        cx.execution.work.add(work, rows as u64);
        cx.execution.work.rows_examined += rows as u64;
        self.tally.rows += rows as u64;
        has_found
    }

    /// What tests its rows, once there was a second batch.
    #[inline]
    pub(crate) fn screen(&self) -> Option<&Screen> {
        self.screen.as_deref()
    }

    /// The rows behind the current one that pass the screen, if that is all of the filter; `most` at most,
    /// and none behind one of which that is not known. Gives where those end that were looked at.
    pub fn ready_screened(
        &self,
        cx: &ExecContext<'_, '_>,
        slot: usize,
        most: u64,
        rows: &mut Vec<usize>,
    ) -> usize {
        rows.clear();
        let (Some((known, _)), Some(screen)) = (self.screened, &self.screen) else { return 0 };
        let Some(Slot::Batch { table, batch, position }) = cx.state.frame.slots.get(slot) else { return 0 };
        if known != slot || self.pending || self.scan.is_none() {
            return 0;
        }
        let first = *position + 1;
        let end = batch.len().min(first + cx.state.budget.saturating_sub(1) as usize);
        for number in first..end {
            if rows.len() as u64 >= most {
                return number;
            }
            match screen.passes(table.descriptor(), batch.row(number).row) {
                Some(true) => rows.push(number),
                Some(false) => {}
                None => return number,
            }
        }
        end
    }

    /// The rows behind the current one, `most` at most, that [`step`](Self::step) would go to.
    #[inline]
    pub fn ready(&self, cx: &ExecContext<'_, '_>, slot: usize, most: u64) -> Range<usize> {
        if self.untested.is_none_or(|(known, _)| known != slot) || self.pending || self.scan.is_none() {
            return 0..0;
        }
        let Some(Slot::Batch { batch, position, .. }) = cx.state.frame.slots.get(slot) else { return 0..0 };
        let most = most.min(cx.state.budget.saturating_sub(1).into());
        let end = batch.len().min((*position + 1).saturating_add(most as usize));
        *position + 1..end
    }

    /// Goes over so many of the rows that are [ready](Self::ready), or were
    /// [looked at](Self::ready_screened).
    #[inline]
    pub fn pass(&mut self, cx: &mut ExecContext<'_, '_>, rows: usize) {
        let Some((slot, work)) = self.untested.or(self.screened) else { return };
        if let Some(Slot::Batch { position, .. }) = cx.state.frame.slots.get_mut(slot) {
            *position += rows;
            cx.state.budget -= rows as u32;
            cx.execution.work.add(work, rows as u64);
            cx.execution.work.rows_examined += rows as u64;
            self.tally.rows += rows as u64;
        }
    }

    /// The next row that passes the filter.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        table: &Arc<Table>,
        access: &Access,
        filter: Option<&Expr>,
        mode: ReadMode,
    ) -> SqlAttempt<bool> {
        loop {
            if std::mem::take(&mut self.relock) {
                if !self.lock_point(cx, slot, table)? {
                    return Ok(false);
                }
                self.pending = true;
            } else if !self.pending {
                self.verdict = None;
                if !self.advance(cx, slot, (table, filter), access, mode)? {
                    return Ok(false);
                }
                self.pending = true;
            }
            let passes = match filter {
                Some(filter) => self.test(cx, slot, filter)?,
                None => {
                    self.untested = Some((slot, step(access)));
                    true
                }
            };
            self.pending = false;
            if passes {
                return Ok(true);
            }
            self.reject(cx, slot, table, access, mode)?;
        }
    }

    /// The rows that come next without a look at each, see [`BatchedScan`](crate::batches::BatchedScan). Of a
    /// scan of a snapshot.
    pub(crate) fn next_batch(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        (table, filter): (&Arc<Table>, Option<&Expr>),
        access: &Access,
    ) -> SqlAttempt<Batch> {
        if self.phase == Phase::Closed {
            self.open(cx, table, access)?;
        }
        if self.phase != Phase::Ranges {
            return Ok(Batch::RowByRow);
        }
        let mut rest = self.rest_of_batch(cx, slot)?;
        if rest.is_empty() {
            self.verdict = None;
            if !self.advance(cx, slot, (table, filter), access, ReadMode::Snapshot)? {
                return Ok(Batch::End);
            }
            self.pending = true;
            rest = self.rest_of_batch(cx, slot)?;
        }
        if filter.is_none() || self.screened.is_some() {
            return Ok(self.unless_singly(rest));
        }
        Ok(if self.batches < 2 { Batch::RowByRow } else { Batch::Never })
    }

    fn unless_singly(&mut self, rest: Range<usize>) -> Batch {
        if rest.end == self.singly_to {
            return Batch::RowByRow;
        }
        Batch::Rows(rest)
    }

    /// The rest of the batch, up to this row, is to be read one by one.
    pub fn read_singly(&mut self, end: usize) {
        self.singly_to = end;
    }

    /// What is left of the batch in the slot.
    fn rest_of_batch(&self, cx: &ExecContext<'_, '_>, slot: usize) -> SqlResult<Range<usize>> {
        Ok(match cx.state.frame.slots.at(slot)? {
            Slot::Batch { batch, position, .. } if self.scan.is_some() => {
                position + usize::from(!self.pending)..batch.len()
            }
            _ => 0..0,
        })
    }

    /// Goes to the end of the batch.
    pub(crate) fn end_batch(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        access: &Access,
        rows: Range<usize>,
    ) -> SqlResult<()> {
        // The first one has been counted if it is in place.
        let uncounted = rows.len() - usize::from(self.pending);
        cx.execution.work.add(step(access), uncounted as u64);
        cx.execution.work.rows_examined += uncounted as u64;
        self.tally.rows += uncounted as u64;
        if let Slot::Batch { position, .. } = cx.state.frame.slots.at_mut(slot)? {
            *position = rows.end - 1;
        }
        self.pending = false;
        Ok(())
    }

    /// Whether the row in the slot passes the filter.
    fn test(&mut self, cx: &mut ExecContext<'_, '_>, slot: usize, filter: &Expr) -> SqlAttempt<bool> {
        if let Some(screen) = &self.screen {
            if self.verdict.is_none()
                && let Some((table, row, _)) = cx.state.frame.slots.at(slot)?.stored()
            {
                self.verdict = screen.passes(table.descriptor(), row);
            }
            match self.verdict {
                Some(false) => return Ok(false),
                Some(true) => {
                    let rest = screen.rest(filter);
                    return cx.evaluate(|cx| {
                        for part in rest {
                            if !part.holds(cx)? {
                                return Ok(false);
                            }
                        }
                        Ok(true)
                    });
                }
                None => {}
            }
        }
        cx.evaluate(|cx| filter.holds(cx))
    }

    /// Goes to the next row of the batch, or beyond as many as fail the screen; false at its end. Asks to
    /// wait where others are to have their turn: the row is in place then.
    #[inline]
    fn step_in_batch(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        access: &Access,
    ) -> SqlAttempt<bool> {
        let Slot::Batch { table, batch, position } = cx.state.frame.slots.at_mut(slot)? else {
            return Ok(false);
        };
        if self.scan.is_none() || *position + 1 >= batch.len() {
            return Ok(false);
        }
        *position += 1;
        let mut steps = 1;
        if let Some(screen) = &self.screen {
            let most = cx.state.budget.max(1);
            loop {
                self.verdict = screen.passes(table.descriptor(), batch.row(*position).row);
                if self.verdict != Some(false) || steps >= most || *position + 1 >= batch.len() {
                    break;
                }
                *position += 1;
                steps += 1;
            }
        }
        cx.execution.work.add(step(access), steps.into());
        cx.execution.work.rows_examined += u64::from(steps);
        self.tally.rows += u64::from(steps);
        if cx.lend().spend_many(steps)? {
            // The row is in place; let others run before it is looked at.
            self.pending = true;
            return Err(Blocked::yielding());
        }
        Ok(true)
    }

    /// The row in the slot is not wanted. Where UPDATE and DELETE keep what they have looked at locked, it is
    /// locked now if it was read by its primary key, without a lock; where they do not, a lock that reading
    /// has taken is given back.
    fn reject(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        table: &Arc<Table>,
        access: &Access,
        mode: ReadMode,
    ) -> SqlAttempt<()> {
        if mode == ReadMode::Snapshot {
            return Ok(());
        }
        let keeps_locks = cx.transaction().isolation() >= IsolationLevel::RepeatableRead;
        match &self.phase {
            Phase::PointRead(_)
                if keeps_locks
                    && matches!(mode, ReadMode::Change | ReadMode::ChangeJoined)
                    && access.index == 0 =>
            {
                self.relock = true;
            }
            _ if keeps_locks => {}
            _ if cx.state.frame.slots.at(slot)?.is_newly_locked() => {
                let Some((_, row, stamp)) = cx.state.frame.slots.at(slot)?.stored() else { return Ok(()) };
                let key = clustered_key(table, row)?;
                cx.transaction().unlock_row(table, stamp, &key);
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the row of a point access again, locked. False if there is none any more, or if it is the one
    /// that has been tested.
    fn lock_point(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        table: &Arc<Table>,
    ) -> SqlAttempt<bool> {
        let Phase::PointRead(key) = &self.phase else { return Ok(false) };
        let tested = cx.state.frame.slots.at(slot)?.stored().map(|(_, _, stamp)| stamp);
        let mode = ReadMode::Locked(LockMode::Exclusive, LockWait::Wait);
        let mut row = RowBuf::new();
        let partition = tested.map_or(0, RowStamp::partition);
        let found = match cx.transaction().point_read_in(table, partition, 0, key, mode, &mut row) {
            Ok(found) => found && Some(row.stamp()) != tested,
            Err(blocked) => {
                self.relock = true;
                return Err(blocked.up());
            }
        };
        self.phase = Phase::Finished;
        if found {
            *cx.state.frame.slots.at_mut(slot)? = Slot::Point { table: table.clone(), row };
        }
        Ok(found)
    }

    fn advance(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        (table, filter): (&Arc<Table>, Option<&Expr>),
        access: &Access,
        mode: ReadMode,
    ) -> SqlAttempt<bool> {
        if self.phase == Phase::Closed {
            self.open(cx, table, access)?;
        }
        if self.step_in_batch(cx, slot, access)? {
            return Ok(true);
        }
        if matches!(self.phase, Phase::Point(_)) {
            self.choose_partitions(cx, table, access)?;
        }
        if let Phase::Point(key) = &self.phase {
            self.tally.begin(table, access, mode, self.is_of_pieces);
            let mut row = match std::mem::take(cx.state.frame.slots.at_mut(slot)?) {
                Slot::Point { row, .. } => row,
                _ => RowBuf::new(),
            };
            cx.execution.work.add(Work::HandlerReadKey, 1);
            let found = match &self.partitions {
                None => cx.transaction().point_read(table, access.index, key, mode, &mut row),
                Some(set) => point_read_of(cx, set, (table, access.index), key, mode, &mut row),
            };
            let found = found.map_err(Blocked::up)?;
            // One that is not there has been looked for, too.
            self.tally.rows += 1;
            self.phase = match std::mem::take(&mut self.phase) {
                Phase::Point(key) if found => Phase::PointRead(key),
                _ => Phase::Finished,
            };
            if found {
                cx.execution.work.rows_examined += 1;
                *cx.state.frame.slots.at_mut(slot)? = Slot::Point { table: table.clone(), row };
            }
            return Ok(found);
        }
        let mut batch = match std::mem::take(cx.state.frame.slots.at_mut(slot)?) {
            Slot::Batch { batch, .. } => batch,
            _ => RowBatch::new(),
        };
        loop {
            if self.scan.is_none() && !self.begin_range(cx, table, access, mode)? {
                return Ok(false);
            }
            let scan = self.scan.as_mut().ok_or_else(|| SqlError::internal("a scan has begun"))?;
            let more = cx.transaction().scan_next(scan, &mut batch).map_err(Blocked::up)?;
            if more && !batch.is_empty() {
                cx.execution.work.rows_examined += 1;
                self.tally.rows += 1;
                // The first row of a range is the one that looking for its key has found.
                if std::mem::replace(&mut self.has_given, true) || is_table_scan(access) {
                    cx.execution.work.add(step(access), 1);
                }
                *cx.state.frame.slots.at_mut(slot)? =
                    Slot::Batch { table: table.clone(), batch, position: 0 };
                self.batches += 1;
                self.singly_to = 0;
                if self.batches == 2
                    && mode == ReadMode::Snapshot
                    && let Some(filter) = filter
                {
                    self.screen = Screen::new(&mut cx.lend(), filter, table, slot).map(Box::new);
                    let is_all = self.screen.as_ref().is_some_and(|screen| screen.rest(filter).is_empty());
                    self.screened = is_all.then(|| (slot, step(access)));
                }
                return Ok(true);
            }
            if !more {
                // MySQL counts the end of a range as a row where rows are changed one by one.
                self.tally.rows += u64::from(matches!(mode, ReadMode::Change | ReadMode::ChangeJoined));
                if !self.is_of_pieces && (self.has_given || is_table_scan(access)) {
                    cx.execution.work.add(step(access), 1);
                }
                self.scan = None;
            }
        }
    }

    /// Begins with the next range; false if there is none.
    fn begin_range(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        table: &Arc<Table>,
        access: &Access,
        mode: ReadMode,
    ) -> SqlAttempt<bool> {
        self.choose_partitions(cx, table, access)?;
        let Some(range) = self.ranges.pop() else {
            self.phase = Phase::Finished;
            return Ok(false);
        };
        self.tally.begin(table, access, mode, self.is_of_pieces);
        let direction = if access.backward { Direction::Backward } else { Direction::Forward };
        let mut scan = Scan::new(table.clone(), access.index, range, direction, mode, access.covering);
        if let Some(rows) = self.rows_wanted {
            scan = scan.with_rows_wanted(rows);
        }
        if self.may_stop {
            scan = scan.that_may_stop();
        }
        if let Some(set) = &self.partitions {
            scan = scan.of_partitions(set);
            if access.any_order {
                scan = scan.in_any_order();
            }
        }
        self.scan = Some(scan);
        self.has_given = self.is_of_pieces;
        if !self.is_of_pieces {
            count_begin(cx, access);
        }
        Ok(true)
    }

    /// Finds out which partitions are read, of a table that has any.
    #[inline]
    fn choose_partitions(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        table: &Arc<Table>,
        access: &Access,
    ) -> SqlAttempt<()> {
        if let Some(pruning) = &access.pruning
            && self.partitions.is_none()
        {
            self.partitions = Some(partitions(cx, pruning, table)?);
        }
        Ok(())
    }

    /// How many rows come next, about those of a leaf, without making them current; `None` at the end. Of a
    /// [countable](palisade_plan::reads::is_countable) scan whose rows all are counted.
    pub fn count(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        table: &Arc<Table>,
        access: &Access,
    ) -> SqlAttempt<Option<usize>> {
        if self.phase == Phase::Closed {
            self.open(cx, table, access)?;
        }
        loop {
            if self.scan.is_none() && !self.begin_range(cx, table, access, ReadMode::Snapshot)? {
                return Ok(None);
            }
            let scan = self.scan.as_mut().ok_or_else(|| SqlError::internal("a scan has begun"))?;
            let counted = cx.transaction().scan_count(scan).map_err(Blocked::up)?;
            let is_first = !std::mem::replace(&mut self.has_given, true);
            let is_found = usize::from(is_first && !is_table_scan(access));
            match counted {
                Some(rows) => {
                    cx.execution.work.rows_examined += rows as u64;
                    cx.execution.work.add(step(access), rows.saturating_sub(is_found) as u64);
                    return Ok(Some(rows));
                }
                None => {
                    if !self.is_of_pieces {
                        cx.execution.work.add(step(access), 1 - is_found as u64);
                    }
                    self.scan = None;
                }
            }
        }
    }

    fn open(&mut self, cx: &mut ExecContext<'_, '_>, table: &Arc<Table>, access: &Access) -> SqlAttempt<()> {
        match cx.evaluate(|cx| access.ranges(cx, table))? {
            Ranges::Point(key) => self.phase = Phase::Point(key),
            Ranges::Ranges(mut ranges) => {
                if !access.backward {
                    ranges.reverse();
                }
                self.ranges = ranges;
                self.phase = Phase::Ranges;
            }
        }
        self.scan = None;
        Ok(())
    }
}

/// The partitions that a path reads now. May ask to wait.
#[cold]
pub(super) fn partitions(
    cx: &mut ExecContext<'_, '_>,
    pruning: &Pruning,
    table: &Table,
) -> SqlAttempt<PartitionSet> {
    cx.evaluate(|cx| pruning.partitions(cx, table))
}

/// Reads the row with a unique key in one of these partitions.
#[cold]
fn point_read_of(
    cx: &mut ExecContext<'_, '_>,
    set: &PartitionSet,
    (table, index): (&Arc<Table>, usize),
    key: &[u8],
    mode: ReadMode,
    row: &mut RowBuf,
) -> Attempt<bool> {
    for partition in set.iter() {
        if cx.transaction().point_read_in(table, partition, index, key, mode, row)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What a step to another row is counted as.
fn step(access: &Access) -> Work {
    if is_table_scan(access) {
        Work::HandlerReadRndNext
    } else if access.backward {
        Work::HandlerReadPrev
    } else {
        Work::HandlerReadNext
    }
}

/// Counts the beginnings and the ends of so many ranges that are read in pieces. A step has been counted for
/// each row of them, so that a range has one left only where its end is a step of its own.
pub(super) fn count_ranges(cx: &mut ExecContext<'_, '_>, access: &Access, ranges: u64) {
    for _ in 0..ranges {
        count_begin(cx, access);
        if is_table_scan(access) {
            cx.execution.work.add(step(access), 1);
        }
    }
}

/// Counts the beginning of a range.
fn count_begin(cx: &mut ExecContext<'_, '_>, access: &Access) {
    if reach(access) == Reach::Whole {
        let end = if access.backward { Work::HandlerReadLast } else { Work::HandlerReadFirst };
        cx.execution.work.add(end, 1);
    }
    cx.execution.work.add(Work::HandlerReadKey, 1);
}

/// The clustered key of a row.
pub fn clustered_key(table: &Table, bytes: &[u8]) -> SqlResult<Vec<u8>> {
    let row = RowView::new(table.descriptor(), bytes).map_err(row_error)?;
    let mut out = Vec::with_capacity(16);
    key::entry_key(table, 0, &row, &mut out).map_err(row_error)?;
    Ok(out)
}
