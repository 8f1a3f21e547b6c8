//! UNION and its kin, derived tables.

mod combining;

use palisade_catalog::{SqlType, Value};
use palisade_expr::place::At;
use palisade_expr::{Expr, Slot, SqlAttempt};
use palisade_plan::{Operator, Query, SetStep};

use self::combining::Combining;
use super::distinct::Unseen;
use super::spill::list::RowList;
use super::{ExecContext, KeptRow, Readings, State, next_passing, place_values};

/// Where a combination is.
#[derive(Debug)]
pub struct UnionState {
    inputs: Vec<State>,
    /// The input that is being read.
    current: usize,
    /// Where UNION is streamed: which of its rows have not been given. Else: of what is combined.
    unseen: Unseen,
    /// Those that were put off have been given.
    is_drained: bool,
    stage: Stage,
    /// What the steps before have given, where streaming is not possible.
    left: RowList,
    /// What the current step gives, if another follows.
    target: RowList,
    /// A row is in place that belongs into one of the lists.
    pending: bool,
}

/// What a combination does that is computed step by step.
#[derive(Debug, Default)]
enum Stage {
    /// The rows of the current input are added to those of the steps before.
    #[default]
    Adding,
    /// They have been added.
    Added,
    /// Of all of them those are given that are not like one before.
    Distinct,
    /// Those are given that the current input lets through.
    Combining(Box<Combining>),
    /// The step has given all.
    Settled,
    /// They are the answer.
    Giving,
}

impl UnionState {
    /// Before the first row.
    pub fn new(inputs: Vec<State>) -> Self {
        UnionState {
            inputs,
            current: 0,
            unseen: Unseen::default(),
            is_drained: false,
            stage: Stage::Adding,
            left: RowList::default(),
            target: RowList::default(),
            pending: false,
        }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.inputs.iter_mut().for_each(State::reset);
        (self.current, self.is_drained, self.pending) = (0, false, false);
        self.stage = Stage::Adding;
        self.left.clear();
        self.target.clear();
        self.unseen.clear();
    }

    /// The input that is being read, and its number, where all rows of each are given as they come.
    pub(super) fn streamed(&mut self, steps: &[SetStep]) -> Option<(usize, &mut State)> {
        let input = self.inputs.get_mut(self.current)?;
        steps.iter().all(|step| *step == SetStep::UnionAll).then_some((self.current, input))
    }

    /// The next row. UNION streams, with ALL or without; everything else is computed step by step, of which
    /// the last one gives the rows.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        inputs: &[Operator],
        slot: usize,
        steps: &[SetStep],
        types: &[SqlType],
    ) -> SqlAttempt<bool> {
        let plan = Combination { inputs, slot, steps, types };
        if steps.iter().all(is_union) {
            return self.stream(cx, &plan);
        }
        loop {
            if let Some(found) = self.advance(cx, &plan)? {
                return Ok(found);
            }
        }
    }

    /// One row more, or the next stage. Gives whether there is a row where that is known.
    fn advance(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Combination<'_>) -> SqlAttempt<Option<bool>> {
        let is_last = self.current + 1 >= plan.inputs.len();
        match &mut self.stage {
            Stage::Adding => {
                add_pending(cx, plan.slot, &mut self.left, &mut self.pending)?;
                let found = match plan.inputs.get(self.current) {
                    Some(input) => self.inputs.at_mut(self.current)?.next(input, cx)?,
                    None => false,
                };
                if found { self.pending = true } else { self.stage = Stage::Added }
            }
            Stage::Added => {
                if plan.is_to_be_distinct(self.current) {
                    self.left.finish(cx)?;
                    self.stage = Stage::Distinct;
                } else {
                    self.begin_step(cx, plan)?;
                }
            }
            Stage::Distinct => {
                add_pending(cx, plan.slot, &mut self.target, &mut self.pending)?;
                let found = self.unseen.next_of_list(cx, &mut self.left, plan.slot, plan.types)?;
                return self.found(found, is_last);
            }
            Stage::Combining(combining) => {
                add_pending(cx, plan.slot, &mut self.target, &mut self.pending)?;
                let right = (self.inputs.at_mut(self.current)?, plan.inputs.at(self.current)?);
                let found = combining.next(cx, &mut self.left, right, (plan.slot, plan.types))?;
                return self.found(found, is_last);
            }
            Stage::Settled => {
                self.left = std::mem::take(&mut self.target);
                self.unseen.clear();
                self.begin_step(cx, plan)?;
            }
            Stage::Giving => {
                cx.take_turns(1)?;
                let Some(row) = self.left.next_row()? else { return Ok(Some(false)) };
                *cx.state.frame.slots.at_mut(plan.slot)? = Slot::Values(row);
                return Ok(Some(true));
            }
        }
        Ok(None)
    }

    /// A step has given a row, or has no more. The rows of the last one are the answer.
    fn found(&mut self, found: bool, is_last: bool) -> SqlAttempt<Option<bool>> {
        if is_last {
            return Ok(Some(found));
        }
        if found {
            self.pending = true
        } else {
            self.stage = Stage::Settled
        }
        Ok(None)
    }

    /// Goes on to the next input. May ask to wait, and has then done nothing.
    fn begin_step(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Combination<'_>) -> SqlAttempt<()> {
        let stage = match plan.steps.get(self.current) {
            Some(step) if is_union(step) => Stage::Adding,
            Some(step) => {
                self.left.finish(cx)?;
                Stage::Combining(Box::new(Combining::new(*step)))
            }
            None => {
                self.left.finish(cx)?;
                Stage::Giving
            }
        };
        self.stage = stage;
        self.current += 1;
        Ok(())
    }

    /// The next row of unions: of the inputs up to the last UNION without ALL, those that are not like one
    /// before, and then those of the others.
    fn stream(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Combination<'_>) -> SqlAttempt<bool> {
        let Combination { inputs, slot, steps, types } = *plan;
        let last = steps.iter().rposition(|step| *step == SetStep::Union);
        let distinct = last.map_or(0, |last| last + 2);
        loop {
            if self.current == distinct && distinct > 0 && !self.is_drained {
                if self.unseen.next_put_off(cx, slot, types)? {
                    return Ok(true);
                }
                self.is_drained = true;
                self.unseen.clear();
            }
            let Some(plan) = inputs.get(self.current) else { return Ok(false) };
            self.unseen.make_room()?;
            if !self.inputs.at_mut(self.current)?.next(plan, cx)? {
                self.current += 1;
            } else if self.current >= distinct || self.unseen.is_new(cx, slot, types)? {
                return Ok(true);
            } else {
                cx.take_turns(1)?;
            }
        }
    }
}

/// A combination's plan, taken apart.
#[derive(Clone, Copy)]
struct Combination<'p> {
    inputs: &'p [Operator],
    slot: usize,
    steps: &'p [SetStep],
    types: &'p [SqlType],
}

impl Combination<'_> {
    /// Whether all rows are to be made distinct once those of an input have been added: after the last UNION
    /// without ALL, as far as only unions follow.
    fn is_to_be_distinct(&self, input: usize) -> bool {
        let follows =
            |step: usize| self.steps.get(step..).into_iter().flatten().take_while(|step| is_union(step));
        let is_own = input.checked_sub(1).and_then(|step| self.steps.get(step)) == Some(&SetStep::Union);
        is_own && !follows(input).any(|step| *step == SetStep::Union)
    }
}

fn is_union(step: &SetStep) -> bool {
    matches!(step, SetStep::UnionAll | SetStep::Union)
}

/// Adds the current row to a list if that is to be done, and makes room for the next. May ask to wait.
fn add_pending(
    cx: &mut ExecContext<'_, '_>,
    slot: usize,
    list: &mut RowList,
    pending: &mut bool,
) -> SqlAttempt<()> {
    if std::mem::take(pending) {
        if let Slot::Values(values) = cx.state.frame.slots.at(slot)? {
            list.push(values.clone());
        }
        cx.take_turns(1)?;
    }
    list.make_room(cx)
}

/// Where reading a derived table is. Its rows are kept, as the table may be read again, and its query is
/// run to the end before the first of them is given. Rows that are read once are given as they come.
#[derive(Debug)]
pub struct DerivedState {
    input: State,
    readings: Readings,
    /// Rows are given as they come, once that is known.
    streams: Option<bool>,
    /// The values of the row that is given as it comes.
    values: Vec<Value>,
    /// A row is in place, and being looked at.
    is_placed: bool,
    rows: RowList,
    /// The query has no more rows.
    has_ended: bool,
    complete: bool,
    stale: bool,
    /// A row of the query is in place, not computed yet.
    pending: bool,
}

impl DerivedState {
    /// Before the first row.
    pub fn new(input: State, readings: Readings) -> Self {
        DerivedState {
            input,
            readings,
            streams: None,
            values: Vec::new(),
            is_placed: false,
            rows: RowList::default(),
            has_ended: false,
            complete: false,
            stale: false,
            pending: false,
        }
    }

    /// Before the first row; the rows are kept unless they depend on outer rows.
    pub fn reset(&mut self) {
        self.rows.rewind();
        self.stale = true;
        self.is_placed = false;
    }

    /// What gives its rows, once they are given as they come, and while none is in place that has not been
    /// looked at.
    pub(super) fn streamed(&mut self) -> Option<&mut State> {
        let is_ready = self.streams == Some(true) && !self.stale && !self.pending && !self.is_placed;
        is_ready.then_some(&mut self.input)
    }

    /// The next row.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        query: &Query,
        slot: usize,
        filter: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        if self.stale && (!query.outer_slots.is_empty() || !self.complete) {
            self.rows.clear();
            (self.has_ended, self.complete, self.pending) = (false, false, false);
            self.input.reset();
        }
        self.stale = false;
        let has_effects = || cx.execution.plan.as_ref().is_some_and(|plan| plan.has_effects);
        if *self.streams.get_or_insert_with(|| self.readings != Readings::Any && !has_effects()) {
            return self.stream(cx, query, slot, filter);
        }
        while !self.complete {
            self.rows.make_room(cx)?;
            if self.has_ended {
                self.rows.finish(cx)?;
                self.complete = true;
                break;
            }
            if !self.pending {
                if !self.input.next(&query.root, cx)? {
                    self.has_ended = true;
                    continue;
                }
                self.pending = true;
            }
            let row: KeptRow = super::settled_all(&query.output, cx)?.into();
            self.pending = false;
            self.rows.push(row);
            cx.take_turns(1)?;
        }
        let rows = &mut self.rows;
        next_passing(cx, &mut self.is_placed, (slot, filter), |_| rows.next_row())
    }

    /// The next row, which is not kept.
    fn stream(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        query: &Query,
        slot: usize,
        filter: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        loop {
            if !self.is_placed {
                if !self.pending {
                    cx.take_turns(1)?;
                    if !self.input.next(&query.root, cx)? {
                        return Ok(false);
                    }
                    self.pending = true;
                }
                let values = &mut self.values;
                cx.evaluate(|cx| {
                    values.clear();
                    query.output.iter().try_for_each(|expr| {
                        values.push(super::settled(expr, cx)?);
                        Ok(())
                    })
                })?;
                (self.pending, self.is_placed) = (false, true);
                place_values(cx.state.frame.slots.at_mut(slot)?, values.drain(..));
            }
            let passes = match filter {
                Some(filter) => cx.evaluate(|cx| filter.holds(cx))?,
                None => true,
            };
            self.is_placed = false;
            if passes {
                return Ok(true);
            }
        }
    }
}
