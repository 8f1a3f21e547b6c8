//! A loose scan of an index: of all entries that begin with the same values the first is read, and maybe
//! those with the lowest and the highest key of the next part; then the scan jumps behind the last entry with
//! these values. What is asked of the groups can be told by these rows: the groups themselves, a MIN or MAX
//! of the next part, how many different values there are.
//!
//! ```text
//!   index (g, x)      g, MAX(x)                 g, MIN(x): the lowest that is not NULL
//!     1, NULL   ◄── first                         1, NULL   ◄── first
//!     1, 4                                        1, 4      ◄── behind the NULLs
//!     1, 9      ◄── from behind                   1, 9
//!     2, 3      ◄── behind all that begin with 1  2, 3      ◄── first, and the lowest
//! ```
//!
//! Every read is a scan of a range that ends at its first visible row, so an entry that the snapshot does not
//! see is passed like in any other scan. A row may be given twice, as the first and as the one with the
//! highest key, which changes nothing for what may be asked.

use std::sync::Arc;

use palisade_catalog::{PartitionSet, ValueRef, key};
use palisade_engine::{Bound, Direction, KeyRange, ReadMode, RowAccess, RowBatch, Scan, Table};
use palisade_expr::place::At;
use palisade_expr::{Expr, Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::Access;
use palisade_plan::access::{Loose, Ranges, index_parts, lower_end, prefix_range};
use palisade_session::work::Work;
use smallvec::SmallVec;

use super::ExecContext;
use super::scan::partitions;

/// What is read.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Reading<'p> {
    pub slot: usize,
    pub table: &'p Arc<Table>,
    pub access: &'p Access,
    pub mode: ReadMode,
}

/// A range of which one row is read.
#[derive(Debug)]
struct Probe {
    range: KeyRange,
    direction: Direction,
    /// It is the first row of a group that is not known yet.
    is_first: bool,
}

/// Where a loose scan is.
#[derive(Default)]
pub struct LooseState {
    is_open: bool,
    /// Ranges still to be read, the next one last.
    ranges: Vec<KeyRange>,
    /// What is still to be read of the current group, the next one last.
    probes: SmallVec<[Probe; 2]>,
    /// What is being read.
    scan: Option<(Scan, bool)>,
    /// The range in which that is.
    within: KeyRange,
    /// The partitions that are read, of a table that has any.
    partitions: Option<PartitionSet>,
    /// The row in the slot has not been tested yet.
    pending: bool,
}

impl std::fmt::Debug for LooseState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LooseState").field("probes", &self.probes).finish_non_exhaustive()
    }
}

impl LooseState {
    /// Before the first row.
    pub fn reset(&mut self) {
        *self = LooseState::default();
    }

    /// The next row of a group that passes the filter, which is about what all rows of a group have in
    /// common.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        reading: &Reading<'_>,
        filter: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        if !self.is_open {
            let ranges = cx.evaluate(|cx| reading.access.ranges(cx, reading.table))?;
            let Ranges::Ranges(mut ranges) = ranges else {
                return Err(SqlError::internal("a loose scan reads ranges").into());
            };
            if !reading.access.backward {
                ranges.reverse();
            }
            if let Some(pruning) = &reading.access.pruning {
                self.partitions = Some(partitions(cx, pruning, reading.table)?);
            }
            (self.ranges, self.is_open) = (ranges, true);
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
            self.probes.clear();
        }
    }

    /// Places the next row in the slot.
    fn advance(&mut self, cx: &mut ExecContext<'_, '_>, reading: &Reading<'_>) -> SqlAttempt<bool> {
        let Reading { slot, table, access, mode } = *reading;
        let direction = if access.backward { Direction::Backward } else { Direction::Forward };
        loop {
            if self.scan.is_none() {
                let probe = match self.probes.pop() {
                    Some(probe) => probe,
                    None => match self.ranges.pop() {
                        Some(range) => Probe { range, direction, is_first: true },
                        None => {
                            *cx.state.frame.slots.at_mut(slot)? = Slot::Null;
                            return Ok(false);
                        }
                    },
                };
                if probe.is_first {
                    let KeyRange { lower, upper } = &probe.range;
                    let lower = if is_simple(access) { Bound::Unbounded } else { lower.clone() };
                    self.within = KeyRange { lower, upper: upper.clone() };
                }
                let Probe { range, direction, is_first } = probe;
                let mut scan =
                    Scan::new(table.clone(), access.index, range, direction, mode, access.covering);
                if let Some(set) = &self.partitions {
                    scan = scan.of_partitions(set);
                }
                self.scan = Some((scan.with_rows_wanted(1), is_first));
                cx.execution.work.add(Work::HandlerReadKey, 1);
            }
            let Some((scan, is_first)) = &mut self.scan else { continue };
            let is_first = *is_first;
            let mut batch = match std::mem::take(cx.state.frame.slots.at_mut(slot)?) {
                Slot::Batch { batch, .. } => batch,
                _ => RowBatch::new(),
            };
            let found = cx.transaction().scan_next(scan, &mut batch).map_err(palisade_base::Blocked::up)?;
            self.scan = None;
            if !found || batch.is_empty() {
                continue;
            }
            cx.execution.work.rows_examined += 1;
            table.usage().count(Some(access.index), RowAccess::Fetch, 1);
            let row = Slot::Batch { table: table.clone(), batch, position: 0 };
            if is_first && let Some(loose) = access.loose {
                self.note_group(table, access, loose, &row)?;
            }
            *cx.state.frame.slots.at_mut(slot)? = row;
            return Ok(true);
        }
    }

    /// The first row of a group has been read: notes what is to be read of the group besides, and where the
    /// next one begins.
    fn note_group(&mut self, table: &Arc<Table>, access: &Access, loose: Loose, row: &Slot) -> SqlResult<()> {
        let mut values: SmallVec<[ValueRef<'_>; 4]> = SmallVec::new();
        let mut parts = index_parts(table, access.index);
        for part in parts.by_ref().take(loose.parts) {
            values.push(row.value(usize::from(part.column))?);
        }
        let encode = |values: &[ValueRef<'_>]| {
            let mut key = Vec::with_capacity(24);
            match key::search_key(table, access.index, values, &mut key) {
                Ok(()) => Ok(key),
                Err(_) => Err(SqlError::internal("the values of an entry make its key")),
            }
        };
        if is_simple(access) {
            let mut end = encode(&values)?;
            if key::prefix_successor(&mut end) && is_left(&self.within, &end) {
                let upper = std::mem::take(&mut self.within.upper);
                self.ranges.push(KeyRange { lower: Bound::Included(end), upper });
            }
            return Ok(());
        }
        let group = prefix_range(encode(&values)?);
        let own = common(&self.within, &group);
        let rest = match access.backward {
            false => behind(&self.within, &group),
            true => before(&self.within, &group),
        };
        self.ranges.extend(rest);
        let Some(next) = parts.next().filter(|_| loose.lowest || loose.highest) else { return Ok(()) };
        let column = usize::from(next.column);
        // NULL has the lowest key, or the highest one if the part descends.
        let (mut known, mut is_null) = (own.clone(), false);
        if table.columns.at(column)?.nullable {
            is_null = row.value(column)?.is_null();
            values.push(ValueRef::Null);
            let nulls = prefix_range(encode(&values)?);
            let outside = if next.descending { before(&own, &nulls) } else { behind(&own, &nulls) };
            let Some(outside) = outside else { return Ok(()) };
            known = outside;
        }
        let mut probe = |is_wanted: bool, direction: Direction| {
            // The first row is at this end already.
            let is_read = !is_null && access.backward == (direction == Direction::Backward);
            if is_wanted && !is_read {
                self.probes.push(Probe { range: known.clone(), direction, is_first: false });
            }
        };
        probe(loose.lowest, Direction::Forward);
        probe(loose.highest, Direction::Backward);
        Ok(())
    }
}

/// Whether one row of each group is read, forward: of the range in which that is its end is all that matters.
fn is_simple(access: &Access) -> bool {
    !access.backward && access.loose.is_none_or(|loose| !loose.lowest && !loose.highest)
}

/// The bytes of an upper end, and whether it is in.
fn upper_end(bound: &Bound) -> Option<(&[u8], bool)> {
    match bound {
        Bound::Unbounded => None,
        Bound::Included(key) => Some((key, true)),
        Bound::Excluded(key) => Some((key, false)),
    }
}

/// What is in a range and in another one that is all keys with a prefix.
fn common(range: &KeyRange, prefix: &KeyRange) -> KeyRange {
    let lower =
        if lower_end(&range.lower) >= lower_end(&prefix.lower) { &range.lower } else { &prefix.lower };
    let upper = match (upper_end(&range.upper), upper_end(&prefix.upper)) {
        (None, _) => &prefix.upper,
        (Some(_), None) => &range.upper,
        (Some((own, _)), Some((end, _))) if own < end => &range.upper,
        _ => &prefix.upper,
    };
    KeyRange { lower: lower.clone(), upper: upper.clone() }
}

/// The part of a range behind all keys with a prefix.
pub(super) fn behind(range: &KeyRange, prefix: &KeyRange) -> Option<KeyRange> {
    let (end, _) = upper_end(&prefix.upper)?;
    if lower_end(&range.lower) >= end {
        return Some(range.clone());
    }
    is_left(range, end).then(|| KeyRange { lower: Bound::Included(end.to_vec()), upper: range.upper.clone() })
}

/// Whether a range has keys from this one on.
fn is_left(range: &KeyRange, from: &[u8]) -> bool {
    match upper_end(&range.upper) {
        None => true,
        Some((upper, is_in)) => upper > from || is_in && upper == from,
    }
}

/// The part of a range before all keys with a prefix.
pub(super) fn before(range: &KeyRange, prefix: &KeyRange) -> Option<KeyRange> {
    let begin = lower_end(&prefix.lower);
    if upper_end(&range.upper).is_some_and(|(upper, is_in)| upper < begin || !is_in && upper == begin) {
        return Some(range.clone());
    }
    let upper = Bound::Excluded(begin.to_vec());
    (lower_end(&range.lower) < begin).then(|| KeyRange { lower: range.lower.clone(), upper })
}
