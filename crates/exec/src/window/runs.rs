//! Rows of a window operator that wait in a file: sorted in runs as those of a sort, merged, and read one
//! partition at a time. A record has the computed keys, the slots, and the other computed values. What is in
//! memory then is one partition, or some [pages](super::pages) of it, and a block or two of each run.

use std::sync::Arc;

use palisade_catalog::{Value, ValueRef};
use palisade_expr::context::Frame;
use palisade_expr::order::SortKey;
use palisade_expr::place::At;
use palisade_expr::{Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::window::WindowPlan;
use palisade_session::work::Work;

use super::in_order::{compare_long, is_long};
use super::pages::PAGES_OF_MEMORY;
use super::rows::Rows;
use crate::ExecContext;
use crate::packed::Ranked;
use crate::spill::merge::{KeyPlace, MergePlan, Merger, SortedRuns};
use crate::spill::row::append_value_slot;

/// The rows of a window operator in a file.
#[derive(Debug)]
pub struct WindowRuns {
    /// Partition and order.
    keys: Vec<SortKey>,
    places: Vec<KeyPlace>,
    /// How many of them divide the rows.
    partition: usize,
    /// The slots of a row, and the operator's own, which has what else was computed until the calls are.
    slots: Vec<usize>,
    runs: Option<SortedRuns>,
    merger: Option<Merger>,
    /// The first row of the next partition.
    ahead: Rows,
    /// What the rows of the partition that is being read are divided by.
    first_keys: Vec<Value>,
}

impl WindowRuns {
    /// Without rows yet, for `rows` of these slots.
    pub fn new(
        cx: &mut ExecContext<'_, '_>,
        plan: &WindowPlan,
        (rows, slots): (&Rows, &[usize]),
        memory: usize,
    ) -> WindowRuns {
        cx.execution.work.add(Work::CreatedTmpDiskTables, 1);
        cx.execution.work.add(Work::CreatedTmpFiles, 1);
        let (places, partition) = rows.key_places();
        WindowRuns {
            places: places.to_vec(),
            partition,
            keys: plan.partition.iter().chain(&plan.order).cloned().collect(),
            slots: slots.iter().copied().chain([plan.slot]).collect(),
            runs: Some(SortedRuns::new(cx.execution.engine, memory)),
            merger: None,
            ahead: rows.like(plan, slots),
            first_keys: Vec::new(),
        }
    }

    /// Makes room for a row. May ask to wait.
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        self.writing()?.make_room()
    }

    /// Adds a row to the current run, the rows of which come in their order.
    pub fn push(&mut self, rows: &Rows, row: &Ranked) -> SqlResult<()> {
        let (keys, others) = rows.computed(row.row())?;
        self.writing()?.push(row.packed().bits(), keys, |tables, out| {
            rows.append_slots(row.row(), tables, out)?;
            append_value_slot(others, out);
            Ok(())
        })
    }

    /// Ends the current run. May ask to wait.
    pub fn end_run(&mut self) -> SqlAttempt<()> {
        self.writing()?.end_run()
    }

    /// All rows are in runs: they are read from now on. What was packed of the keys of some may say nothing.
    /// May ask to wait.
    pub fn begin_reading(&mut self, is_unpacked: bool) -> SqlAttempt<()> {
        self.writing()?.settle()?;
        self.merger = self.runs.take().map(|runs| Merger::new(runs, is_unpacked));
        Ok(())
    }

    /// Adds the rows of one partition to `rows`, to the end of it or of the rows. May ask to wait, and goes
    /// on with the same `rows`.
    pub fn read_partition(&mut self, cx: &mut ExecContext<'_, '_>, rows: &mut Rows) -> SqlAttempt<()> {
        let own = self.slots.len() - 1;
        loop {
            // The blocks of the runs take a part of it.
            let memory = super::memory(cx) / 4 * 3;
            // All rows together did not fit: where they are one partition, pages are written from the first
            // row on.
            let held = if self.partition == 0 { memory / PAGES_OF_MEMORY } else { memory };
            rows.make_room(cx, memory, held)?;
            if !self.ahead.is_empty() {
                // It is the first row of the partition after that which is being read.
                if !rows.is_empty() {
                    return rows.finish(cx);
                }
                rows.take_row_of(&mut self.ahead)?;
                continue;
            }
            let Some(others) = self.read(cx)? else {
                // Its blocks are of no use any more.
                self.merger = None;
                return rows.finish(cx);
            };
            let is_first = rows.is_empty() && self.first_keys.is_empty();
            let is_next = is_first || !self.is_like_the_first(cx)?;
            if is_next {
                self.keep_keys(&cx.state.frame)?;
            }
            let computed = self.merger.as_ref().map_or(Ok(&[][..]), Merger::computed)?;
            let values = computed.iter().chain(&*others).cloned();
            let target = if is_next && !rows.is_empty() { &mut self.ahead } else { &mut *rows };
            target.push_with(values, &cx.state.frame, self.slots.part(0..own)?)?;
            cx.take_turns(1)?;
        }
    }

    /// Places the next row in order in the frame, and gives what was computed of it and is no key; `None` at
    /// the end. May ask to wait.
    fn read(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<Option<Arc<[Value]>>> {
        let WindowRuns { keys, places, slots, merger: Some(merger), .. } = self else { return Ok(None) };
        let order = MergePlan { keys, places, slots, wanted: usize::MAX, distinct: false };
        if !merger.next(cx, &order)? {
            return Ok(None);
        }
        let own = slots.last().copied().unwrap_or_default();
        match std::mem::take(cx.state.frame.slots.at_mut(own)?) {
            Slot::Values(others) => Ok(Some(others)),
            _ => Err(missing().into()),
        }
    }

    /// A key of the row that was read.
    fn key<'r>(&'r self, frame: &'r Frame, key: usize) -> SqlResult<ValueRef<'r>> {
        match *self.places.at(key)? {
            KeyPlace::Kept { number, column } => frame.slots.at(*self.slots.at(number)?)?.value(column),
            KeyPlace::Computed(computed) => {
                let merger = self.merger.as_ref().ok_or_else(missing)?;
                Ok(merger.computed()?.at(computed)?.as_ref())
            }
        }
    }

    /// The row that was read is the first of its partition.
    fn keep_keys(&mut self, frame: &Frame) -> SqlResult<()> {
        let keys = (0..self.partition).map(|key| Ok(self.key(frame, key)?.to_owned()));
        self.first_keys = keys.collect::<SqlResult<_>>()?;
        Ok(())
    }

    /// Whether the row that was read is of one partition with the row whose keys were kept.
    fn is_like_the_first(&self, cx: &mut ExecContext<'_, '_>) -> SqlResult<bool> {
        for (key, (spec, first)) in self.keys.iter().zip(&self.first_keys).enumerate() {
            let value = self.key(&cx.state.frame, key)?;
            let order = if is_long(value) && is_long(first.as_ref()) {
                let value = value.to_owned();
                compare_long(cx, spec, &value, first)?
            } else {
                spec.compare(value, first.as_ref(), &mut |_| true)
            };
            if order.is_ne() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn writing(&mut self) -> SqlResult<&mut SortedRuns> {
        self.runs.as_mut().ok_or_else(|| SqlError::internal("rows are read already"))
    }
}

fn missing() -> SqlError {
    SqlError::internal("a row of a window has its keys and its inputs")
}
