//! A skip scan of an index: ranges of a part behind others of which nothing is known. The scan reads the
//! first entry of each combination of the leading parts' values, then the ranges behind these values, and
//! jumps to the next combination.
//!
//! ```text
//!   index (a, b), b BETWEEN 4 AND 5
//!
//!     1, 1   ◄── first with a = 1
//!     1, 4   ◄── from (1, 4) to (1, 5)
//!     1, 7
//!     2, 5   ◄── first behind all that begin with 1; from (2, 4) to (2, 5)
//! ```

use std::sync::Arc;

use palisade_base::Blocked;
use palisade_catalog::{PartitionSet, Value, ValueRef, key};
use palisade_engine::{Direction, KeyRange, RowAccess, RowBatch, Scan, Table};
use palisade_expr::place::At;
use palisade_expr::{Expr, Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::Access;
use palisade_plan::access::{Ranges, index_parts, prefix_range};
use palisade_session::work::Work;

use super::ExecContext;
use super::loose::{Reading, before, behind};
use super::scan::partitions;

/// Where a skip scan is.
#[derive(Default)]
pub struct SkipState {
    is_open: bool,
    /// What is still to be read of the leading parts, the next range last.
    rest: Vec<KeyRange>,
    /// Ranges behind the current values of the leading parts, the next one last.
    ranges: Vec<KeyRange>,
    /// What is being read: the first entry with other values, or one of the ranges.
    scan: Option<(Scan, Step)>,
    /// The partitions that are read, of a table that has any.
    partitions: Option<PartitionSet>,
    /// The row in the slot has not been tested yet.
    pending: bool,
}

/// What a scan reads.
#[derive(Clone, Debug)]
enum Step {
    /// The first entry of what is left.
    First(KeyRange),
    Range,
}

impl std::fmt::Debug for SkipState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SkipState").field("ranges", &self.ranges).finish_non_exhaustive()
    }
}

impl SkipState {
    /// Before the first row.
    pub fn reset(&mut self) {
        *self = SkipState::default();
    }

    /// The next row that passes the filter.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        reading: &Reading<'_>,
        filter: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        if !self.is_open {
            let leading = Access { alternatives: Vec::new(), ..reading.access.clone() };
            let Ranges::Ranges(mut ranges) = cx.evaluate(|cx| leading.ranges(cx, reading.table))? else {
                return Err(SqlError::internal("a skip scan reads ranges").into());
            };
            if !reading.access.backward {
                ranges.reverse();
            }
            if let Some(pruning) = &reading.access.pruning {
                self.partitions = Some(partitions(cx, pruning, reading.table)?);
            }
            (self.rest, self.is_open) = (ranges, true);
        }
        loop {
            if !self.pending {
                if !self.advance(cx, reading)? {
                    return Ok(false);
                }
                self.pending = true;
                cx.take_turns(1)?;
            }
            let passes = super::passes(cx, filter)?;
            self.pending = false;
            if passes {
                return Ok(true);
            }
        }
    }

    /// Places the next row of the ranges in the slot.
    fn advance(&mut self, cx: &mut ExecContext<'_, '_>, reading: &Reading<'_>) -> SqlAttempt<bool> {
        let Reading { slot, access, .. } = *reading;
        loop {
            if let (Some((_, Step::Range)), Slot::Batch { batch, position, .. }) =
                (&self.scan, cx.state.frame.slots.at_mut(slot)?)
                && *position + 1 < batch.len()
            {
                *position += 1;
                cx.execution.work.rows_examined += 1;
                reading.table.usage().count(Some(access.index), RowAccess::Fetch, 1);
                return Ok(true);
            }
            if self.scan.is_none() {
                self.scan = match (self.ranges.pop(), self.rest.pop()) {
                    (Some(range), rest) => {
                        self.rest.extend(rest);
                        Some((self.open(reading, range), Step::Range))
                    }
                    (None, Some(rest)) => {
                        let scan = self.open(reading, rest.clone()).with_rows_wanted(1);
                        Some((scan, Step::First(rest)))
                    }
                    (None, None) => {
                        *cx.state.frame.slots.at_mut(slot)? = Slot::Null;
                        return Ok(false);
                    }
                };
                cx.execution.work.add(Work::HandlerReadKey, 1);
            }
            let Some((scan, step)) = &mut self.scan else { continue };
            let step = step.clone();
            let mut batch = match std::mem::take(cx.state.frame.slots.at_mut(slot)?) {
                Slot::Batch { batch, .. } => batch,
                _ => RowBatch::new(),
            };
            let found = cx.transaction().scan_next(scan, &mut batch).map_err(Blocked::up)?;
            if !found || batch.is_empty() {
                self.scan = None;
                continue;
            }
            cx.execution.work.rows_examined += 1;
            reading.table.usage().count(Some(access.index), RowAccess::Fetch, 1);
            let row = Slot::Batch { table: reading.table.clone(), batch, position: 0 };
            let Step::First(within) = step else {
                *cx.state.frame.slots.at_mut(slot)? = row;
                return Ok(true);
            };
            self.scan = None;
            let values = leading_values(reading.table, access, &row)?;
            if let Err(blocked) = self.enter(cx, reading, &values, &within) {
                // It is read once more.
                self.rest.push(within);
                return Err(blocked);
            }
        }
    }

    fn open(&self, reading: &Reading<'_>, range: KeyRange) -> Scan {
        let Reading { table, access, mode, .. } = *reading;
        let direction = if access.backward { Direction::Backward } else { Direction::Forward };
        let scan = Scan::new(table.clone(), access.index, range, direction, mode, access.covering);
        match &self.partitions {
            Some(set) => scan.of_partitions(set),
            None => scan,
        }
    }

    /// The first entry with these values of the leading parts has been read: notes the ranges behind them,
    /// and what is left to be read.
    fn enter(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        reading: &Reading<'_>,
        values: &[Value],
        within: &KeyRange,
    ) -> SqlAttempt<()> {
        let Reading { table, access, .. } = *reading;
        let refs: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
        let mut prefix = Vec::with_capacity(24);
        key::search_key(table, access.index, &refs, &mut prefix)
            .map_err(|_| SqlError::internal("the values of an entry make its key"))?;
        let group = prefix_range(prefix);
        let rest = match access.backward {
            false => behind(within, &group),
            true => before(within, &group),
        };
        let mut ranges = cx.evaluate(|cx| access.ranges_behind(cx, table, values))?;
        if !access.backward {
            ranges.reverse();
        }
        self.rest.extend(rest);
        self.ranges = ranges;
        Ok(())
    }
}

/// The values of the leading parts in an entry.
fn leading_values(table: &Arc<Table>, access: &Access, row: &Slot) -> SqlResult<Vec<Value>> {
    let leading = index_parts(table, access.index).take(access.equals.len() + access.skipped);
    leading.map(|part| Ok(row.value(usize::from(part.column))?.to_owned())).collect()
}
