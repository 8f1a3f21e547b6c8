//! Grouping rows that come in groups: in the order of an index whose leading parts are what they are grouped
//! by. One group is in memory at a time, and is given when the next one begins, so that a LIMIT ends the
//! scan.
//!
//! ```text
//!   rows by (k):   1 1 1 2 2 5       group 1 is given when the first 2 has been read,
//!                        ▲           and that row has begun its own group already
//! ```
//!
//! So when a group is given, the input is a row ahead. Where the plan keeps a row per group, the kept row is
//! placed in the slot that the input reads into; the input's own row is held until the next call.

mod in_runs;

use palisade_catalog::Value;
use palisade_expr::aggregate::Accumulator;
use palisade_expr::context::values_size;
use palisade_expr::hash_key::append_hash_key;
use palisade_expr::place::At;
use palisade_expr::{Expr, Slot};

use self::in_runs::Runs;
use super::aggregate::{Grouping, take_at_hand};
use super::batches::{InBatches, Taken};
use super::{ExecContext, State, settled};
use palisade_expr::{SqlAttempt, SqlResult};
use palisade_plan::Operator;

/// A group that is being added up, or is to be given.
#[derive(Debug)]
struct Group {
    values: Vec<Value>,
    accumulators: Vec<Accumulator>,
    kept: Vec<Slot>,
    bytes: usize,
}

/// Where a grouping of rows in groups is.
#[derive(Debug)]
pub struct GroupedState {
    input: State,
    /// The group of the last row.
    current: Option<Group>,
    /// A group that is complete.
    complete: Option<Group>,
    /// Tells the current group from others.
    key: Vec<u8>,
    /// The key of the row at hand.
    next_key: Vec<u8>,
    /// Of the row at hand: each aggregate's arguments, and then its keys.
    arguments: Vec<Value>,
    /// What the input has placed in the slots of which the group that was given has rows of its own.
    held: Vec<Slot>,
    /// The row at hand has not been counted.
    pending: bool,
    has_ended: bool,
    in_runs: InBatches<Runs>,
}

impl GroupedState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        GroupedState {
            input,
            current: None,
            complete: None,
            key: Vec::new(),
            next_key: Vec::new(),
            arguments: Vec::new(),
            held: Vec::new(),
            pending: false,
            has_ended: false,
            in_runs: InBatches::default(),
        }
    }

    /// See [`State::hint_stop`].
    pub fn hint_stop(&mut self) {
        self.input.hint_stop();
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        (self.current, self.complete) = (None, None);
        self.held.clear();
        if let InBatches::Yes(runs) = &mut self.in_runs {
            runs.forget_batch();
        }
        (self.pending, self.has_ended) = (false, false);
    }

    /// The next group.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<bool> {
        for (slot, held) in plan.keep.iter().zip(self.held.drain(..)) {
            *cx.state.frame.slots.at_mut(*slot)? = held;
        }
        while self.complete.is_none() {
            if self.has_ended {
                return Ok(false);
            }
            self.read(cx, plan)?;
        }
        self.give(cx, plan)
    }

    /// Reads a row, or some that are of one group, and counts it.
    fn read(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<()> {
        if !self.pending {
            let taken = match self.in_runs {
                InBatches::No => Taken::RowByRow,
                _ => self.read_run(cx, plan)?,
            };
            let has_row = match taken {
                Taken::Added => return Ok(()),
                Taken::End => false,
                Taken::RowByRow => self.input.next(plan.input, cx)?,
            };
            if !has_row {
                self.has_ended = true;
                self.complete = self.current.take();
                return Ok(());
            }
            self.pending = true;
        }
        if self.add_at_hand(cx, plan)? {
            self.pending = false;
            return cx.take_turns(1);
        }
        // Everything that may wait comes before anything is counted.
        let arguments = &mut self.arguments;
        let values = cx.evaluate(|cx| {
            let group = plan.group.iter().map(|expr| settled(expr, cx));
            let values = group.collect::<SqlAttempt<Vec<Value>>>()?;
            arguments.clear();
            for spec in plan.aggregates {
                for argument in &spec.arguments {
                    arguments.push(argument.eval(cx)?);
                }
                for key in &spec.order_by {
                    arguments.push(key.expr.eval(cx)?);
                }
            }
            Ok(values)
        })?;
        self.pending = false;
        cx.in_one_go(|cx| self.count(cx, plan, values))?;
        cx.take_turns(1 + plan.aggregates.len() as u32)
    }

    /// Adds the row at hand to the current group if its values are the very same and the aggregates take
    /// their arguments as they are; if not, adds nothing.
    fn add_at_hand(&mut self, cx: &ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlResult<bool> {
        let Some(group) = &mut self.current else { return Ok(false) };
        let mut known = plan.group.iter().zip(&group.values);
        let is_same = known.all(|(expr, value)| match expr.borrow_from(cx.at_hand()) {
            Some(Ok(own)) => own == value.as_ref(),
            _ => false,
        });
        if !is_same {
            return Ok(false);
        }
        take_at_hand(cx, &mut group.accumulators, plan.aggregates)
    }

    /// Counts the row at hand, whose group has these values: in the current group, or in a new one, which
    /// completes the current one.
    fn count(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        values: Vec<Value>,
    ) -> SqlResult<()> {
        self.next_key.clear();
        let key = &mut self.next_key;
        cx.lend().watched(|watch| {
            for (value, expr) in values.iter().zip(plan.group) {
                append_hash_key(value, &expr.ty, key, watch);
            }
        })?;
        if self.current.is_none() || self.key != self.next_key {
            self.begin_group(cx, plan, values)?;
        }
        let Some(group) = &mut self.current else { return Ok(()) };
        let mut rest = &self.arguments[..];
        for (accumulator, spec) in group.accumulators.iter_mut().zip(plan.aggregates) {
            let (values, after) = rest.split_at(spec.arguments.len());
            let (keys, after) = after.split_at(spec.order_by.len());
            group.bytes += accumulator.add(&mut cx.lend(), spec, values, keys)?;
            rest = after;
        }
        cx.session.charge(group.bytes)
    }

    /// Begins the group of the row at hand, which has these values and the next key: the one before is
    /// complete.
    fn begin_group(
        &mut self,
        cx: &ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        values: Vec<Value>,
    ) -> SqlResult<()> {
        std::mem::swap(&mut self.key, &mut self.next_key);
        let kept: Vec<Slot> = cx.state.frame.keep(plan.keep)?;
        let accumulators: Vec<Accumulator> = plan.aggregates.iter().map(Accumulator::new).collect();
        let of_rows: usize = kept.iter().map(Slot::size).sum();
        let bytes = values_size(&values) + of_rows;
        self.complete = self.current.replace(Group { values, accumulators, kept, bytes });
        Ok(())
    }

    /// Places the complete group.
    fn give(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<bool> {
        let of_group = |group: &Group| group.accumulators.iter().map(Accumulator::units_to_finish).sum();
        let mut lent = cx.lend();
        let checked = lent.checkpoint(self.complete.as_ref().map_or(0, of_group));
        lent.attempt(checked)?;
        let Some(Group { values: mut row, accumulators, kept, .. }) = self.complete.take() else {
            return Ok(false);
        };
        for (accumulator, spec) in accumulators.into_iter().zip(plan.aggregates) {
            row.push(accumulator.finish(&mut cx.lend(), spec)?);
        }
        for (slot, kept) in plan.keep.iter().zip(kept) {
            self.held.push(std::mem::replace(cx.state.frame.slots.at_mut(*slot)?, kept));
        }
        *cx.state.frame.slots.at_mut(plan.slot)? = Slot::Values(row.into());
        Ok(true)
    }
}

/// Where leaving out rows that are like the one before is.
#[derive(Debug)]
pub struct FirstState {
    input: State,
    /// Keys of the row that was given last.
    given: Option<Vec<Value>>,
    key: Vec<u8>,
    next_key: Vec<u8>,
    pending: bool,
}

impl FirstState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        FirstState { input, given: None, key: Vec::new(), next_key: Vec::new(), pending: false }
    }

    /// See [`State::hint_stop`].
    pub fn hint_stop(&mut self) {
        self.input.hint_stop();
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        (self.given, self.pending) = (None, false);
    }

    /// The next row with other keys than the one before.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        input: &Operator,
        keys: &[Expr],
    ) -> SqlAttempt<bool> {
        loop {
            if !self.pending {
                if !self.input.next(input, cx)? {
                    return Ok(false);
                }
                self.pending = true;
            }
            if !self.is_the_same(cx, keys) {
                let values = super::settled_all(keys, cx)?;
                self.pending = false;
                if self.is_another(cx, keys, &values)? {
                    self.given = Some(values);
                    return Ok(true);
                }
            }
            self.pending = false;
            cx.take_turns(1)?;
        }
    }

    /// Whether the values are the very same as those that were given last; if not, that says nothing.
    fn is_the_same(&self, cx: &ExecContext<'_, '_>, keys: &[Expr]) -> bool {
        let Some(given) = &self.given else { return false };
        keys.iter().zip(given).all(|(expr, value)| match expr.borrow_from(cx.at_hand()) {
            Some(Ok(own)) => own == value.as_ref(),
            _ => false,
        })
    }

    fn is_another(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        keys: &[Expr],
        values: &[Value],
    ) -> SqlResult<bool> {
        self.next_key.clear();
        let key = &mut self.next_key;
        cx.lend().in_one_go(|cx| {
            cx.watched(|watch| {
                for (value, expr) in values.iter().zip(keys) {
                    append_hash_key(value, &expr.ty, key, watch);
                }
            })
        })?;
        if self.given.is_some() && self.key == self.next_key {
            return Ok(false);
        }
        std::mem::swap(&mut self.key, &mut self.next_key);
        Ok(true)
    }
}
