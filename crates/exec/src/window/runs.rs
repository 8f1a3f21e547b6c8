//! Rows of a window operator that wait in a file: sorted in runs as those of a sort, merged, and read one
//! partition at a time. What is in memory then is one partition, or some [pages](super::pages) of it, and a
//! block or two of each run.

use palisade_catalog::{Value, Watch};
use palisade_expr::order::{SortKey, compare_keys};
use palisade_expr::place::At;
use palisade_expr::{Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::window::WindowPlan;
use palisade_session::work::Work;

use super::rows::Rows;
use crate::ExecContext;
use crate::sort::prefix_of;
use crate::spill::merge::{KeyPlace, MergePlan, Merger, SortedRuns};
use crate::spill::row::append_value_slot;

/// The rows of a window operator in a file.
#[derive(Debug)]
pub struct WindowRuns {
    /// Partition and order.
    keys: Vec<SortKey>,
    places: Vec<KeyPlace>,
    /// The slots of a row, and the operator's own, which has what the row gives the calls until they are
    /// computed.
    slots: Vec<usize>,
    runs: Option<SortedRuns>,
    without_prefixes: bool,
    merger: Option<Merger>,
    /// The first row of the next partition.
    ahead: Rows,
    /// What the rows of the partition that is being read are divided by.
    first_keys: Vec<Value>,
}

impl WindowRuns {
    /// Without rows yet.
    pub fn new(
        cx: &mut ExecContext<'_, '_>,
        plan: &WindowPlan,
        slots: &[usize],
        memory: usize,
    ) -> WindowRuns {
        cx.execution.work.add(Work::CreatedTmpDiskTables, 1);
        cx.execution.work.add(Work::CreatedTmpFiles, 1);
        let keys: Vec<SortKey> = plan.partition.iter().chain(&plan.order).cloned().collect();
        WindowRuns {
            places: (0..keys.len()).map(KeyPlace::Computed).collect(),
            keys,
            slots: slots.iter().copied().chain([plan.slot]).collect(),
            runs: Some(SortedRuns::new(cx.execution.engine, memory)),
            without_prefixes: false,
            merger: None,
            ahead: Rows::new(plan),
            first_keys: Vec::new(),
        }
    }

    /// Makes room for a row. May ask to wait.
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        self.writing()?.make_room()
    }

    /// Adds a row to the current run, the rows of which come in their order.
    pub fn push(&mut self, rows: &Rows, number: usize) -> SqlResult<()> {
        let (keys, others) = rows.parts(number)?;
        let prefix = match (keys.first(), self.keys.first()) {
            (Some(value), Some(key)) => prefix_of(value.as_ref(), key),
            _ => None,
        };
        self.without_prefixes |= prefix.is_none();
        self.writing()?.push(prefix.unwrap_or_default(), keys, |tables, out| {
            rows.append_slots(number, tables, out)?;
            append_value_slot(others, out);
            Ok(())
        })
    }

    /// Ends the current run. May ask to wait.
    pub fn end_run(&mut self) -> SqlAttempt<()> {
        self.writing()?.end_run()
    }

    /// All rows are in runs: they are read from now on. May ask to wait.
    pub fn begin_reading(&mut self) -> SqlAttempt<()> {
        self.writing()?.settle()?;
        let merger = self.runs.take().map(|runs| Merger::new(runs, self.without_prefixes));
        self.merger = merger;
        Ok(())
    }

    /// Adds the rows of one partition to `rows`, to the end of it or of the rows. May ask to wait, and goes
    /// on with the same `rows`.
    pub fn read_partition(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &WindowPlan,
        rows: &mut Rows,
    ) -> SqlAttempt<()> {
        loop {
            rows.make_room(cx, super::memory(cx))?;
            if self.ahead.is_empty() && !self.read(cx, plan)? {
                return rows.finish(cx);
            }
            if rows.is_empty() {
                self.first_keys.clear();
                self.first_keys.extend_from_slice(self.ahead.keys(0)?.0);
            } else {
                let (ahead, first) = (&self.ahead, &self.first_keys);
                let compare = |watch: Watch<'_>| {
                    Ok::<_, SqlError>(compare_keys(ahead.keys(0)?.0, first, &plan.partition, watch))
                };
                if cx.lend().in_one_go(|cx| cx.watched(compare))??.is_ne() {
                    return rows.finish(cx);
                }
            }
            rows.take_row_of(&mut self.ahead)?;
            cx.take_turns(1)?;
        }
    }

    /// Reads the next row in order; false at the end. May ask to wait.
    fn read(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlAttempt<bool> {
        let WindowRuns { keys, places, slots, merger: Some(merger), ahead, .. } = self else {
            return Ok(false);
        };
        let order = MergePlan { keys, places, slots, wanted: usize::MAX, distinct: false };
        if !merger.next(cx, &order)? {
            return Ok(false);
        }
        let Slot::Values(others) = std::mem::take(cx.state.frame.slots.at_mut(plan.slot)?) else {
            return Err(missing().into());
        };
        let values = merger.computed()?.iter().chain(&*others).cloned();
        let own = slots.len() - 1;
        ahead.push_with(values, &cx.state.frame, slots.part(0..own)?)?;
        Ok(true)
    }

    fn writing(&mut self) -> SqlResult<&mut SortedRuns> {
        self.runs.as_mut().ok_or_else(|| SqlError::internal("rows are read already"))
    }
}

fn missing() -> SqlError {
    SqlError::internal("a row of a window has its keys and its inputs")
}
