//! Groups of GROUP BY ... WITH ROLLUP: each row belongs to one group on each level, and the groups come in
//! order, each followed by the one that sums it up.
//!
//! When there is no memory for more groups, rows are put off for each of their levels by itself: those whose
//! group is in memory are added there, the others come when the input has ended. So the groups in memory are
//! complete then, and so are, later, those of each partition of what was put off. They are put in order and
//! written as a run each; in the end the runs are merged:
//!
//! ```text
//!   GROUP BY a, b WITH ROLLUP
//!
//!   in memory     (1,1) (1,2)       (2,-) (-,-)     a run
//!   put off             (1,3) (2,1)                 another one
//!                              └─▶ (1,1) (1,2) (1,3) ...
//! ```

use std::cmp::Ordering;

use palisade_catalog::{Value, Watch};
use palisade_expr::compare::compare_typed;
use palisade_expr::merge::{self, MergeSort, run_of};
use palisade_expr::order::SortKey;
use palisade_expr::place::At;
use palisade_expr::{Expr, SqlAttempt};
use palisade_session::work::Work;

use super::{AggregateState, Grouping, Groups, memory};
use crate::ExecContext;
use crate::spill::merge::{KeyPlace, MergePlan, Merger, SortedRuns};
use crate::spill::row::append_slot;

/// Whether the groups are in the order of ROLLUP.
#[derive(Debug, Default)]
pub(super) enum Order {
    #[default]
    Open,
    Sorting(MergeSort<usize>),
    /// The groups' numbers in it.
    Done(Vec<usize>),
}

/// Groups for which there was no memory at once.
#[derive(Debug, Default)]
pub(super) enum InRuns {
    /// There are none.
    #[default]
    None,
    Writing(Box<SortedRuns>),
    Merging(Box<Merging>),
}

/// The groups of all runs.
#[derive(Debug)]
pub(super) struct Merging {
    merger: Merger,
    /// Of each column that is grouped by whether it is summed up, and its value.
    keys: Vec<SortKey>,
    places: Vec<KeyPlace>,
    /// The slots of a group.
    slots: Vec<usize>,
}

impl Merging {
    fn new(runs: SortedRuns, plan: &Grouping<'_>) -> Merging {
        let (mut keys, mut places) = (Vec::new(), Vec::new());
        for (column, expr) in plan.group.iter().enumerate() {
            let is_summed_up = SortKey { expr: Expr::int(0), descending: false };
            keys.extend([is_summed_up, SortKey { expr: expr.clone(), descending: false }]);
            places.extend([KeyPlace::Computed(column), KeyPlace::Kept { number: 0, column }]);
        }
        Merging { merger: Merger::new(runs, true), keys, places, slots: slots_of(plan).collect() }
    }
}

/// The slots of a group.
fn slots_of(plan: &Grouping<'_>) -> impl Iterator<Item = usize> {
    std::iter::once(plan.slot).chain(plan.keep.iter().copied())
}

impl Order {
    /// The number of the group at a place.
    pub(super) fn number(&self, place: usize) -> usize {
        match self {
            Order::Done(order) => order.get(place).copied().unwrap_or(place),
            _ => place,
        }
    }
}

impl AggregateState {
    /// The next group in the order of ROLLUP.
    pub(super) fn next_of_rollup(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
    ) -> SqlAttempt<bool> {
        loop {
            match &mut self.in_runs {
                InRuns::Merging(merging) => {
                    let Merging { merger, keys, places, slots } = &mut **merging;
                    let wanted = usize::MAX;
                    return merger.next(cx, &MergePlan { keys, places, slots, wanted, distinct: false });
                }
                InRuns::Writing(runs) => runs.make_room()?,
                InRuns::None => {}
            }
            let found = self.next_in_memory(cx, plan)?;
            if matches!(self.in_runs, InRuns::None) {
                if !self.put_off.partitions.has_any() {
                    return Ok(found);
                }
                cx.execution.work.add(Work::CreatedTmpFiles, 1);
                let runs = SortedRuns::new(cx.execution.engine, memory(cx));
                self.in_runs = InRuns::Writing(Box::new(runs));
                // Nothing has been written yet: there is room for the first group.
            }
            let InRuns::Writing(runs) = &mut self.in_runs else { return Ok(false) };
            if found {
                let level = self.groups.level(self.order.number(self.next - 1));
                let flags = (0..plan.group.len()).map(|column| Value::Int(i64::from(column >= level)));
                let flags: Vec<Value> = flags.collect();
                runs.push(0, &flags, |tables, out| {
                    for slot in slots_of(plan) {
                        append_slot(cx.state.frame.slots.at(slot)?, tables, out);
                    }
                    Ok(())
                })?;
                cx.take_turns(1)?;
                continue;
            }
            runs.end_run()?;
            if self.put_off.partitions.next_partition()? {
                self.forget_groups();
                continue;
            }
            runs.settle()?;
            self.forget_groups();
            if let InRuns::Writing(runs) = std::mem::take(&mut self.in_runs) {
                self.in_runs = InRuns::Merging(Box::new(Merging::new(*runs, plan)));
            }
        }
    }

    /// Puts the groups in the order of ROLLUP, in parts.
    pub(super) fn put_in_order(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
    ) -> SqlAttempt<()> {
        let Groups { count, values, levels, .. } = &self.groups;
        let sort = match &mut self.order {
            Order::Done(_) => return Ok(()),
            Order::Open => {
                let all = (0..*count).collect();
                self.order = Order::Sorting(MergeSort::new(all, run_of(self.longest_key)));
                return self.put_in_order(cx, plan);
            }
            Order::Sorting(sort) => sort,
        };
        let width = plan.group.len();
        let group =
            |number: usize| (values.row(number, width), levels.get(number).copied().unwrap_or_default());
        loop {
            let step = |watch: Watch<'_>| {
                sort.step(&mut |left: &usize, right: &usize| {
                    rollup_order(group(*left), group(*right), plan.group, watch)
                })
            };
            if cx.lend().in_one_go(|cx| cx.watched(step))? {
                break;
            }
            cx.take_turns(merge::RUN as u32 / 2)?;
        }
        if let Order::Sorting(sort) = std::mem::take(&mut self.order) {
            self.order = Order::Done(sort.into_items());
        }
        Ok(())
    }
}

/// The order of groups, each of which has values and a level: by their values, each followed by the row that
/// sums it up.
fn rollup_order(
    (left, left_level): (&[Value], usize),
    (right, right_level): (&[Value], usize),
    group: &[Expr],
    watch: Watch<'_>,
) -> Ordering {
    for (position, (expr, (left_value, right_value))) in group.iter().zip(left.iter().zip(right)).enumerate()
    {
        match (position < left_level, position < right_level) {
            (true, true) => {
                let ordering = compare_typed(left_value.as_ref(), right_value.as_ref(), &expr.ty, watch);
                if ordering != Ordering::Equal {
                    return ordering;
                }
            }
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => return Ordering::Equal,
        }
    }
    Ordering::Equal
}
