//! Collecting the rows of a scan a batch at a time where all keys are columns of it, none of them a text, and
//! nothing is computed of a row. The keys of a batch are packed where they are in its rows, and a row that is
//! known not to be among the first ones that are wanted never becomes the current one.

use palisade_expr::Slot;
use palisade_expr::SqlAttempt;
use palisade_expr::place::At;
use palisade_plan::Operator;
use palisade_plan::window::WindowPlan;

use super::rows::keys_of;
use super::{WindowState, memory};
use crate::ExecContext;
use crate::batches::{Batch, BatchedScan, InBatches, Taken, place_row};
use crate::sort::KeysOfBatch;

/// Rows of a batch that are read one by one if there are no more of them.
const FEW: usize = 16;
/// Rows that are kept, and rows that are passed over, in the time that another row takes.
const ROWS_AS_ONE: u32 = 4;
const ROWS_PASSED_AS_ONE: u32 = 16;

impl WindowState {
    /// Keeps the next rows of the input, if they are many, up to as many as may be held.
    pub(super) fn collect_batch(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        input: &Operator,
        plan: &WindowPlan,
    ) -> SqlAttempt<Taken> {
        let Some(packing) = self.rows.packing().filter(|_| !matches!(self.in_batches, InBatches::No)) else {
            return Ok(Taken::RowByRow);
        };
        let Some(mut scan) = BatchedScan::of(&mut self.input, input) else {
            self.in_batches = InBatches::No;
            return Ok(Taken::RowByRow);
        };
        let slot = scan.slot;
        let range = match scan.next(cx, FEW)? {
            Batch::Rows(range) => range,
            Batch::End => return Ok(Taken::End),
            Batch::RowByRow => return Ok(Taken::RowByRow),
            Batch::Never => {
                self.in_batches = InBatches::No;
                return Ok(Taken::RowByRow);
            }
        };
        let table = scan.table.descriptor();
        let keys = self.in_batches.get_or_make(|| KeysOfBatch::new(keys_of(plan), (slot, table)));
        let (Slot::Batch { batch, .. }, Some(keys)) = (cx.state.frame.slots.at(slot)?, keys) else {
            return Ok(Taken::RowByRow);
        };
        if !keys.pack((packing, keys_of(plan)), scan.sieve(), batch, range.clone()) {
            scan.scan.read_singly(range.end);
            return Ok(Taken::RowByRow);
        }
        let packed = std::mem::take(&mut keys.packed);
        let (held, most, mut end) = (self.rows.len(), memory(cx), range.end);
        for (position, packed) in &packed {
            if self.first.is_beyond(&self.rows, Some(*packed)) {
                continue;
            }
            if !self.rows.is_empty() && self.size() > most || self.first.is_due(self.rows.len()) {
                end = *position;
                break;
            }
            place_row(cx, slot, *position)?;
            self.rows.push_ranked(&cx.state.frame, &self.slots, *packed)?;
        }
        if let InBatches::Yes(keys) = &mut self.in_batches {
            keys.packed = packed;
        }
        if let Some(mut scan) = BatchedScan::of(&mut self.input, input)
            && end > range.start
        {
            scan.end(cx, range.start..end)?;
        }
        cx.session.charge(self.size())?;
        let (passed, kept) = ((end - range.start) as u32, (self.rows.len() - held) as u32);
        cx.take_turns(1 + passed / ROWS_PASSED_AS_ONE + kept / ROWS_AS_ONE)?;
        Ok(Taken::Added)
    }
}
