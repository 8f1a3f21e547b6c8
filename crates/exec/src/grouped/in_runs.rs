//! Grouping the rows of a scan that come in groups, a batch at a time.
//!
//! Of a batch everything that its rows add is [computed](super::super::aggregate::in_batches) first. Rows
//! next to each other that have the same bytes in the columns that they are grouped by are a *run*, and are
//! added to their group at once:
//!
//! ```text
//!   selected rows   3 3 3 3 3 3 5 5 5 6 ...
//!   runs            └────┬────┘ └─┬─┘        a run whose key is that of the current group goes on with it;
//!                                            another one completes it, and begins its own
//! ```
//!
//! When a group is given, its successor's run has been added whole, but only its first row has been counted
//! as read: a LIMIT ends the statement with the counts that it has row by row.

use std::ops::Range;

use palisade_expr::place::At;
use palisade_expr::vectors::Rows;
use palisade_expr::{Slot, SqlAttempt, SqlError, SqlResult};

use super::GroupedState;
use crate::ExecContext;
use crate::aggregate::in_batches::{Batched, FEW, Source};
use crate::aggregate::{Grouping, Row, add_at_hand, append_group_key, borrowed};
use crate::batches::{Batch, BatchedScan, InBatches, Taken, place_row};

/// The runs of a batch.
#[derive(Debug)]
pub(super) struct Runs {
    batched: Batched,
    /// The first of the selected rows that has not been added.
    next: usize,
    /// The rows of the batch that have not been counted as read.
    rest: Range<usize>,
}

impl Runs {
    /// Before the first row.
    pub(super) fn forget_batch(&mut self) {
        (self.next, self.rest) = (usize::MAX, 0..0);
    }
}

impl GroupedState {
    /// Adds the next run to its group.
    pub(super) fn read_run(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
    ) -> SqlAttempt<Taken> {
        let Some(mut input) = BatchedScan::of(&mut self.input, plan.input) else {
            self.in_runs = InBatches::No;
            return Ok(Taken::RowByRow);
        };
        let slot = input.slot;
        loop {
            if let InBatches::Yes(runs) = &mut self.in_runs {
                if let Some(row) = runs.batched.selected.get(runs.next) {
                    input.end(cx, runs.rest.start..row + 1)?;
                    runs.rest.start = row + 1;
                    break;
                }
                if !runs.rest.is_empty() {
                    let rest = std::mem::take(&mut runs.rest);
                    input.end(cx, rest)?;
                }
            }
            let range = match input.next(cx, FEW)? {
                Batch::Rows(range) => range,
                Batch::End => return Ok(Taken::End),
                Batch::RowByRow => return Ok(Taken::RowByRow),
                Batch::Never => {
                    self.in_runs = InBatches::No;
                    return Ok(Taken::RowByRow);
                }
            };
            let rows = Rows { table: input.table.descriptor(), slot, parameters: cx.parameters };
            let make = || Some(Runs { batched: Batched::new(plan, rows)?, next: usize::MAX, rest: 0..0 });
            let (Slot::Batch { batch, .. }, Some(runs)) =
                (cx.state.frame.slots.at(slot)?, self.in_runs.get_or_make(make))
            else {
                return Ok(Taken::RowByRow);
            };
            if !runs.batched.compute(input.sieve(), batch, range.clone()) {
                runs.next = usize::MAX;
                input.scan.read_singly(range.end);
                return Ok(Taken::RowByRow);
            }
            let units = runs.batched.units(range.len() as u32);
            (runs.next, runs.rest) = (0, range);
            cx.take_turns(units)?;
        }
        let InBatches::Yes(mut runs) = std::mem::replace(&mut self.in_runs, InBatches::No) else {
            return Ok(Taken::RowByRow);
        };
        let added = cx.in_one_go(|cx| self.add_run(cx, plan, slot, &mut runs));
        self.in_runs = InBatches::Yes(runs);
        added?;
        cx.take_turns(1)?;
        Ok(Taken::Added)
    }

    /// Adds the run whose first row is the current one.
    fn add_run(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        slot: usize,
        runs: &mut Runs,
    ) -> SqlResult<()> {
        let Runs { batched, next, .. } = runs;
        let first = *next;
        let raw_key = *batched.raw_keys.at(first)?;
        let is_alike = |key: &&Option<u128>| key.is_some() && **key == raw_key;
        let others = batched.raw_keys.iter().skip(first + 1).take_while(is_alike).count();
        let run = first..first + 1 + others;
        *next = run.end;
        self.next_key.clear();
        append_group_key(cx, plan, Row::AtHand, plan.group.len(), &mut self.next_key)?;
        if self.current.is_none() || self.key != self.next_key {
            let values = plan.group.iter().map(|expr| Ok(borrowed(cx, expr)?.to_owned()));
            let values = values.collect::<SqlResult<_>>()?;
            self.begin_group(cx, plan, values)?;
        }
        let Some(group) = &mut self.current else { return Ok(()) };
        for (place, (accumulator, spec)) in group.accumulators.iter_mut().zip(plan.aggregates).enumerate() {
            let mut add_column = |cx: &mut ExecContext<'_, '_>, row: usize| {
                place_row(cx, slot, *batched.selected.at(row)?)?;
                group.bytes += add_at_hand(cx, accumulator, spec, spec.arguments.at(0)?)?;
                Ok::<_, SqlError>(())
            };
            match *batched.sources.at(place)? {
                Source::Rows => {
                    accumulator.count_rows(run.len());
                }
                Source::NotNull { .. } => {
                    let words = batched.words.at(place)?.part(run.clone())?;
                    accumulator.count_rows(words.iter().flatten().count());
                }
                Source::Step(step) => {
                    let vector = batched.computation.vector(step);
                    let vector = vector.ok_or_else(|| SqlError::internal("a step has values"))?;
                    accumulator.take_vector(vector, run.clone(), spec)?;
                }
                Source::Extreme { .. } => {
                    let words = batched.words.at(place)?.part(run.clone())?.iter().zip(run.clone());
                    if let Some((Some(_), row)) = words.rev().max_by_key(|(word, _)| **word) {
                        add_column(cx, row)?;
                    }
                }
                Source::Column => run.clone().try_for_each(|row| add_column(cx, row))?,
            }
        }
        cx.session.charge(group.bytes)
    }
}
