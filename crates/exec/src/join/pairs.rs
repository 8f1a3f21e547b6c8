//! The pairs of a batch of left rows, where nothing is asked of the right ones: which left rows there are pairs
//! of, and as often as there are. What adds such pairs up reads the rows where they are in the batch:
//!
//! ```text
//!   SELECT COUNT(*), SUM(h.x) FROM h JOIN i ON h.u = i.u
//!
//!   listed     0    3    5          with 2, 1 and 3 right rows
//!   pairs      0 0  3  5 5 5
//! ```
//!
//! A join of which rows wait in files, or whose left rows are being read one by one, goes on so.

use std::ops::Range;

use palisade_expr::place::At;
use palisade_expr::{Slot, SqlAttempt};
use palisade_plan::JoinKind;

use super::probing::{FEW, Probing, ROWS_AS_ONE};
use super::table::NONE;
use super::{HashJoin, HashJoinState};
use crate::ExecContext;
use crate::batches::{Batch, BatchedScan, InBatches};

/// Pairs that are given at once at most; of batches with more of them the pairs come one by one.
const MOST_PAIRS: usize = 16 << 10;

/// What comes next of a join of whose pairs the left rows are asked for.
pub(crate) enum Pairs {
    /// The pairs of these rows of the left side's batch, which stay what comes next until they are
    /// [ended](HashJoinState::end_pairs).
    Rows(Range<usize>),
    /// The next pair is to be read by itself.
    RowByRow,
    /// All are to be read one by one.
    Never,
    /// There are none.
    End,
}

impl HashJoinState {
    /// Finds the next pairs of a join without another condition, and puts the places of their left rows into
    /// `places`.
    pub(crate) fn next_pairs(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &HashJoin<'_>,
        places: &mut Vec<usize>,
    ) -> SqlAttempt<Pairs> {
        if !self.built && self.in_order.is_none() {
            self.build(cx, plan)?;
        }
        let is_put_off = self.put_off.is_some() || self.in_order.is_some();
        if is_put_off || self.has_left || self.left_pending || self.is_probing() {
            return Ok(Pairs::RowByRow);
        }
        let Some(mut left) = BatchedScan::of(&mut self.left, plan.left) else { return Ok(Pairs::Never) };
        let slot = left.slot;
        let range = match left.next(cx, FEW)? {
            Batch::Rows(range) => range,
            Batch::End => return Ok(Pairs::End),
            Batch::RowByRow => return Ok(Pairs::RowByRow),
            Batch::Never => return Ok(Pairs::Never),
        };
        let table = left.table.descriptor();
        let probing = self.in_batches.get_or_make(|| Probing::new(plan, (slot, table)));
        let (Slot::Batch { batch, .. }, Some(probing), Some(table)) =
            (cx.state.frame.slots.at(slot)?, probing, &self.table)
        else {
            return Ok(Pairs::Never);
        };
        if !probing.list((table, plan), left.sieve(), batch, range.clone()) {
            left.scan.read_singly(range.end);
            return Ok(Pairs::RowByRow);
        }
        places.clear();
        for (place, first) in probing.listed.iter().rev() {
            let mut row = *first;
            match plan.kind {
                JoinKind::Inner => {}
                JoinKind::Left if row != NONE => {}
                JoinKind::Left | JoinKind::Semi | JoinKind::Anti => {
                    places.push(*place);
                    continue;
                }
            }
            while row != NONE && places.len() <= MOST_PAIRS {
                places.push(*place);
                row = table.next(row);
            }
        }
        if places.len() > MOST_PAIRS {
            // They are listed, and come one by one.
            return Ok(Pairs::RowByRow);
        }
        probing.listed.clear();
        probing.rest = 0..0;
        Ok(Pairs::Rows(range))
    }

    /// The pairs of these rows, which were given last, are to be read one by one.
    pub(crate) fn read_singly(&mut self, plan: &HashJoin<'_>, rows: &Range<usize>) {
        if let Some(left) = BatchedScan::of(&mut self.left, plan.left) {
            left.scan.read_singly(rows.end);
        }
    }

    /// Goes beyond the rows whose pairs were given last, and have taken so many units. May ask to wait then.
    pub(crate) fn end_pairs(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &HashJoin<'_>,
        rows: Range<usize>,
        units: u32,
    ) -> SqlAttempt<()> {
        let looked_up = rows.len() as u32;
        if let Some(mut left) = BatchedScan::of(&mut self.left, plan.left) {
            left.end(cx, rows)?;
        }
        cx.take_turns(units + looked_up / ROWS_AS_ONE)
    }

    /// Whether rows of a batch are listed whose pairs are read one by one.
    fn is_probing(&self) -> bool {
        match &self.in_batches {
            InBatches::Yes(probing) => !probing.listed.is_empty() || !probing.rest.is_empty(),
            _ => false,
        }
    }
}
