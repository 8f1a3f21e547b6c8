//! Grouping the pairs of a hash join a batch of left rows at a time, where all that is added is of the left rows:
//! a left row is added as often as there are pairs of it, and no right row is looked at. See
//! [`pairs`](crate::join).

use palisade_engine::ReadMode;
use palisade_expr::place::At;
use palisade_expr::vectors::Rows;
use palisade_expr::{Slot, SqlAttempt};
use palisade_plan::Operator;

use super::in_batches::Batched;
use super::{AggregateState, Grouping};
use crate::batches::{InBatches, Taken};
use crate::join::{HashJoin, Pairs};
use crate::{ExecContext, State};

impl AggregateState {
    /// Adds the next pairs of an input that is a hash join, if they are many.
    pub(super) fn consume_batch_of_join(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
    ) -> SqlAttempt<Taken> {
        let mut in_batches = std::mem::replace(&mut self.in_batches, InBatches::No);
        let mut places = std::mem::take(&mut self.places);
        let taken = self.add_pairs(cx, plan, &mut in_batches, &mut places);
        (self.in_batches, self.places) = (in_batches, places);
        taken
    }

    fn add_pairs(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        in_batches: &mut InBatches<Batched>,
        places: &mut Vec<usize>,
    ) -> SqlAttempt<Taken> {
        let Some((join, slot)) = join_of_left_rows(cx, plan, in_batches) else {
            *in_batches = InBatches::No;
            return Ok(Taken::RowByRow);
        };
        let State::HashJoin(state) = &mut self.input else { return Ok(Taken::RowByRow) };
        let range = match state.next_pairs(cx, &join, places)? {
            Pairs::Rows(range) => range,
            Pairs::End => return Ok(Taken::End),
            Pairs::RowByRow => return Ok(Taken::RowByRow),
            Pairs::Never => {
                *in_batches = InBatches::No;
                return Ok(Taken::RowByRow);
            }
        };
        let (Slot::Batch { batch, .. }, InBatches::Yes(batched)) =
            (cx.state.frame.slots.at(slot)?, &mut *in_batches)
        else {
            return Ok(Taken::RowByRow);
        };
        if !batched.compute_at(batch, places) {
            state.read_singly(&join, &range);
            return Ok(Taken::RowByRow);
        }
        if self.is_full(cx, plan) {
            *in_batches = InBatches::No;
            return Ok(Taken::RowByRow);
        }
        let units = batched.units(places.len() as u32);
        cx.in_one_go(|cx| self.add_batch(cx, plan, slot, batched))?;
        if let State::HashJoin(state) = &mut self.input {
            state.end_pairs(cx, &join, range, units)?;
        }
        Ok(Taken::Added)
    }
}

/// The join that a grouping reads, and the slot of its left rows, if these are of a scan and nothing else is
/// added up.
fn join_of_left_rows<'p>(
    cx: &ExecContext<'_, '_>,
    plan: &Grouping<'p>,
    in_batches: &mut InBatches<Batched>,
) -> Option<(HashJoin<'p>, usize)> {
    let join = HashJoin::of(plan.input).filter(|join| join.condition.is_none())?;
    let Operator::Scan { slot, table, mode: ReadMode::Snapshot, .. } = join.left else { return None };
    if plan.keep.iter().any(|kept| kept != slot) {
        return None;
    }
    let rows = Rows { table: table.descriptor(), slot: *slot, parameters: cx.parameters };
    in_batches.get_or_make(|| Batched::new(plan, rows))?;
    Some((join, *slot))
}
