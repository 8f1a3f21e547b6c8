//! Rows of a window operator that wait in a file: sorted in runs as those of a sort, merged, and read one
//! partition at a time. What is in memory then is one partition, and a block or two of each run.

use palisade_catalog::{Value, Watch};
use palisade_expr::order::{SortKey, compare_keys};
use palisade_expr::place::At;
use palisade_expr::{Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::window::WindowPlan;
use palisade_session::work::Work;

use super::Row;
use crate::ExecContext;
use crate::sort::prefix_of;
use crate::spill::merge::{KeyPlace, MergePlan, Merger, SortedRuns};
use crate::spill::row::{append_slot, append_value_slot};

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
    ahead: Option<Row>,
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
            ahead: None,
        }
    }

    /// Makes room for a row. May ask to wait.
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        self.writing()?.make_room()
    }

    /// Adds a row to the current run, the rows of which come in their order.
    pub fn push(&mut self, row: Row) -> SqlResult<()> {
        let Row { partition: mut keys, order, slots, inputs, .. } = row;
        keys.extend(order);
        let prefix = match (keys.first(), self.keys.first()) {
            (Some(value), Some(key)) => prefix_of(value.as_ref(), key),
            _ => None,
        };
        self.without_prefixes |= prefix.is_none();
        let inputs: Vec<Value> =
            inputs.into_iter().flat_map(|(arguments, edges)| arguments.into_iter().chain(edges)).collect();
        self.writing()?.push(prefix.unwrap_or_default(), &keys, |tables, out| {
            slots.iter().for_each(|slot| append_slot(slot, tables, out));
            append_value_slot(&inputs, out);
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

    /// Adds rows of one partition to `rows`, and gives the bytes that they take, to the end of it or of the
    /// rows: true then. May ask to wait, and goes on with the same `rows`.
    pub fn read_partition(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &WindowPlan,
        rows: &mut Vec<Row>,
        bytes: &mut usize,
    ) -> SqlAttempt<()> {
        if let Some(first) = self.ahead.take() {
            *bytes += first.size();
            rows.push(first);
        }
        while let Some(row) = self.read(cx, plan)? {
            if let Some(first) = rows.first() {
                let compare =
                    |watch: Watch<'_>| compare_keys(&row.partition, &first.partition, &plan.partition, watch);
                let order = cx.lend().in_one_go(|cx| cx.watched(compare))?;
                if order.is_ne() {
                    self.ahead = Some(row);
                    return Ok(());
                }
            }
            *bytes += row.size();
            cx.session.charge(*bytes)?;
            rows.push(row);
            cx.take_turns(1)?;
        }
        Ok(())
    }

    /// The next row in order. May ask to wait.
    fn read(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlAttempt<Option<Row>> {
        let WindowRuns { keys, places, slots, merger: Some(merger), .. } = self else { return Ok(None) };
        let order = MergePlan { keys, places, slots, wanted: usize::MAX, distinct: false };
        if !merger.next(cx, &order)? {
            return Ok(None);
        }
        let (partition, order) =
            merger.computed()?.split_at_checked(plan.partition.len()).ok_or_else(missing)?;
        let (partition, order) = (partition.to_vec(), order.to_vec());
        let Slot::Values(inputs) = std::mem::take(cx.state.frame.slots.at_mut(plan.slot)?) else {
            return Err(missing().into());
        };
        let mut rest = &inputs[..];
        let mut of_calls = Vec::with_capacity(plan.calls.len());
        for call in &plan.calls {
            let (arguments, after) = rest.split_at_checked(call.arguments.len()).ok_or_else(missing)?;
            let (edges, after) = after.split_first_chunk::<2>().ok_or_else(missing)?;
            of_calls.push((arguments.to_vec(), edges.clone()));
            rest = after;
        }
        let own = slots.len() - 1;
        let slots = cx.state.frame.keep(slots.part(0..own)?)?;
        Ok(Some(Row { partition, order, slots, inputs: of_calls, results: Vec::new() }))
    }

    fn writing(&mut self) -> SqlResult<&mut SortedRuns> {
        self.runs.as_mut().ok_or_else(|| SqlError::internal("rows are read already"))
    }
}

fn missing() -> SqlError {
    SqlError::internal("a row of a window has its keys and its inputs")
}
