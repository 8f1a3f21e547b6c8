//! Rows that come in the order of the window, because the window below has sorted them so: they are read one
//! partition at a time, and none is sorted.
//!
//! ```text
//!   input    a a a b b c ...            rows    the partition whose functions are computed
//!                    ▲                  ahead   the first row of the next one
//! ```
//!
//! In memory is one partition, or [pages](super::pages) of it. Rows of a window without PARTITION BY are one
//! partition, and are collected like those of a window without any order.

use std::cmp::Ordering;

use palisade_catalog::watch::PIECE;
use palisade_catalog::{Value, ValueRef};
use palisade_expr::order::SortKey;
use palisade_expr::{SqlAttempt, SqlResult};
use palisade_plan::Operator;
use palisade_plan::window::WindowPlan;

use super::rows::Rows;
use super::{WindowState, memory};
use crate::ExecContext;

/// What is known of the rows to come.
#[derive(Debug, Default)]
pub struct InOrder {
    /// The first row of the next partition.
    ahead: Rows,
    /// What the rows of the partition that is being read are divided by.
    first_keys: Vec<Value>,
}

impl InOrder {
    /// Before the first of such rows as `rows` holds.
    pub fn new(rows: &Rows, plan: &WindowPlan, slots: &[usize]) -> InOrder {
        InOrder { ahead: rows.like(plan, slots), first_keys: Vec::new() }
    }
}

impl WindowState {
    /// Reads the rows of one partition, to the end of it or of the input. May ask to wait, and goes on.
    pub(super) fn read_partition(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        input: &Operator,
        plan: &WindowPlan,
    ) -> SqlAttempt<()> {
        loop {
            self.rows.make_room(cx, memory(cx), memory(cx))?;
            if !self.pending {
                if !self.in_order.ahead.is_empty() {
                    // It is the first row of the partition after that which is being read.
                    if !self.rows.is_empty() {
                        return self.rows.finish(cx);
                    }
                    self.rows.take_row_of(&mut self.in_order.ahead)?;
                    continue;
                }
                if self.has_ended || !self.input.next(input, cx)? {
                    self.has_ended = true;
                    return self.rows.finish(cx);
                }
                self.pending = true;
            }
            if self.rows.has_computed() {
                let rows = &mut self.rows;
                cx.evaluate(|cx| rows.evaluate(cx, plan))?;
            }
            self.pending = false;
            self.take_row(cx, plan)?;
            cx.take_turns(2)?;
        }
    }

    /// Adds the row that was read to the partition, or keeps it for the next one.
    fn take_row(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlResult<()> {
        let is_first = self.rows.is_empty();
        if is_first || !self.is_like_the_first(cx, plan)? {
            let frame = &cx.state.frame;
            let keys = (0..plan.partition.len())
                .map(|key| Ok(self.rows.current(frame, &self.slots, key)?.to_owned()));
            self.in_order.first_keys = keys.collect::<SqlResult<_>>()?;
            if !is_first {
                let values = self.rows.take_computed();
                return self.in_order.ahead.push_with(values, frame, &self.slots);
            }
        }
        self.rows.push(&cx.state.frame, &self.slots)?;
        cx.session.charge(self.rows.size())
    }

    /// Whether the row that was read is of the partition that is being read.
    fn is_like_the_first(&self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlResult<bool> {
        for (key, (spec, first)) in plan.partition.iter().zip(&self.in_order.first_keys).enumerate() {
            let value = self.rows.current(&cx.state.frame, &self.slots, key)?;
            let order = match is_long(value) && is_long(first.as_ref()) {
                true => {
                    let value = value.to_owned();
                    compare_long(cx, spec, &value, first)?
                }
                false => spec.compare(value, first.as_ref(), &mut |_| true),
            };
            if order.is_ne() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether comparing a value may take long.
pub(super) fn is_long(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Bytes(text) if text.len() > PIECE)
}

/// Compares values that may take long.
pub(super) fn compare_long(
    cx: &mut ExecContext<'_, '_>,
    spec: &SortKey,
    left: &Value,
    right: &Value,
) -> SqlResult<Ordering> {
    cx.lend().in_one_go(|cx| cx.watched(|watch| spec.compare(left.as_ref(), right.as_ref(), watch)))
}
