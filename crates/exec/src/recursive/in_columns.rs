//! A recursion that computes numbers, by column.
//!
//! Where each step reads the working table alone and makes numbers of numbers, rows are not kept one by one.
//! Each column is a [vector](palisade_expr::vectors), and a step appends to it:
//!
//! ```text
//!   SELECT 1, id FROM few UNION ALL SELECT n + 1, m FROM r WHERE n < 900
//!
//!   n:  1 1 1 │ 2 2 2 │ 3 3 ...         given │ the working table │ the round that is being computed
//!   m:  4 5 6 │ 4 5 6 │ 4 5 ...
//! ```
//!
//! The rows of the rounds that have ended are given many at a time to an operator that
//! [takes them so](crate::aggregate), else one by one. They are dropped once they have been given and no step
//! reads them any more.
//!
//! What a vector cannot have - a number of more than 64 bits, an error, a round larger than its memory - ends
//! this: the working table becomes rows, and the round is computed row by row.

use std::ops::Range;

use palisade_catalog::Value;
use palisade_expr::vectors::{Computation, Given, Kind, NumberTest, Output, Picked, Vector};
use palisade_expr::{SqlAttempt, SqlResult};
use palisade_plan::{Operator, Query, Recursion};

use super::RecursiveState;
use crate::{ExecContext, KeptRow};

/// Rows of the working table that are computed in one go.
const AT_ONCE: usize = 1024;

/// Rows that are given together, if there are so many.
const GIVEN_TOGETHER: usize = 1024;

/// Rows that have been given of which the memory is not worth to move those behind them.
const KEPT_GIVEN: usize = 4096;

/// Rows that are computed in the time that another row takes.
const ROWS_AS_ONE: usize = 8;

/// The columns of a recursion.
#[derive(Debug)]
pub(crate) struct InColumns {
    columns: Vec<Vector>,
    steps: Vec<Step>,
    /// Rows in them.
    rows: usize,
    /// Of these, the working table. Behind it is what its round has given.
    working: Range<usize>,
    /// The next row to be given.
    given: usize,
    /// Rows up to this one are to be given singly.
    singly_to: usize,
    /// The step that is computed, and the row that it reads next.
    step: usize,
    next: usize,
    /// There are no more rounds.
    has_ended: bool,
    /// What follows is computed row by row: the next row of the working table that is to be one.
    leaving: Option<usize>,
}

/// What makes rows of those of the working table.
#[derive(Debug)]
struct Step {
    condition: Computation,
    tests: Vec<NumberTest>,
    computation: Computation,
    outputs: Vec<Output>,
    picked: Vec<usize>,
}

impl Step {
    /// `None` if it cannot be computed by column.
    fn new(query: &Query, table: usize, kinds: &[Kind], parameters: &[Value]) -> Option<Step> {
        let Operator::Working { slot, table: own, filter, .. } = &query.root else { return None };
        (*own == table).then_some(())?;
        let given = Given { kinds, slot: *slot, parameters };
        let (mut condition, mut tests) = (Computation::default(), Vec::new());
        if let Some(filter) = filter {
            condition.add_condition(filter, given, &mut tests)?;
        }
        let mut computation = Computation::default();
        let outputs = query.output.iter().zip(kinds).map(|(expr, kind)| {
            // Nothing is converted to the column's type.
            computation.add_given(expr, given).filter(|output| output.kind == *kind)
        });
        let outputs = outputs.collect::<Option<Vec<_>>>()?;
        Some(Step { condition, tests, computation, outputs, picked: Vec::new() })
    }

    /// Appends what it makes of some rows of the columns to them, and gives how many rows that is. `None` if
    /// it cannot be computed: nothing has been appended then.
    fn run(&mut self, columns: &mut [Vector], rows: Range<usize>) -> Option<usize> {
        let all = Picked::Range { first: rows.start, rows: rows.len() };
        let mut picked = all;
        if !self.tests.is_empty() {
            self.condition.run_given(columns, all).then_some(())?;
            self.picked.clear();
            self.picked.extend(0..rows.len());
            for test in &self.tests {
                self.condition.pick(test, &mut self.picked).then_some(())?;
            }
            if self.picked.len() < rows.len() {
                picked = Picked::Some { first: rows.start, rows: &self.picked };
            }
        }
        if picked.is_empty() {
            return Some(0);
        }
        self.computation.run_given(columns, picked).then_some(())?;
        for (output, column) in self.outputs.iter().zip(columns) {
            self.computation.append_to(*output, picked.len(), column);
        }
        Some(picked.len())
    }
}

/// What a recursion has next for an operator that takes many rows at once.
#[derive(Debug)]
pub(crate) enum NextRows {
    /// These rows of the columns. They stay what comes next until [`pass`](InColumns::pass) passes over them.
    Rows(Range<usize>),
    /// A row that is to be read by itself.
    Single,
    /// Rows that are always to be read one by one.
    Never,
    /// None.
    End,
}

impl InColumns {
    /// With these rows as the first working table, which have been given; `None` if it cannot be computed by
    /// column.
    pub(super) fn new(plan: &Recursion, rows: &[KeptRow], parameters: &[Value]) -> Option<InColumns> {
        let kinds = plan.types.iter().map(Kind::of_type).collect::<Option<Vec<_>>>()?;
        let steps = plan.steps.iter().map(|query| Step::new(query, plan.table, &kinds, parameters));
        let steps = steps.collect::<Option<Vec<_>>>()?;
        let mut columns: Vec<Vector> = kinds.into_iter().map(Vector::of).collect();
        for row in rows {
            for (column, value) in columns.iter_mut().zip(row.iter()) {
                column.push(value.as_ref()).then_some(())?;
            }
        }
        Some(InColumns {
            columns,
            steps,
            rows: rows.len(),
            working: 0..rows.len(),
            given: rows.len(),
            singly_to: 0,
            step: 0,
            next: 0,
            has_ended: false,
            leaving: None,
        })
    }

    /// The columns.
    pub(crate) fn columns(&self) -> &[Vector] {
        &self.columns
    }

    /// What the numbers of each column are.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        self.columns.iter().map(|column| column.kind).collect()
    }

    /// Goes behind rows that were given.
    pub(crate) fn pass(&mut self, rows: &Range<usize>) {
        self.given = rows.end;
    }

    /// These rows are to be read one by one.
    pub(crate) fn read_singly(&mut self, rows: &Range<usize>) {
        self.singly_to = rows.end;
    }

    /// The rows that are to be given now.
    fn ready(&self) -> Range<usize> {
        let end = if self.has_ended { self.rows } else { self.working.end };
        let is_worth_it = self.has_ended
            || self.leaving.is_some()
            || self.given < self.singly_to
            || end.saturating_sub(self.given) >= GIVEN_TOGETHER;
        if is_worth_it { self.given..end } else { self.given..self.given }
    }

    /// The next row that is to be given now, by itself.
    pub(super) fn next_row(&mut self) -> Option<KeptRow> {
        let row = self.ready().next()?;
        self.given = row + 1;
        Some(self.row(row))
    }

    fn row(&self, row: usize) -> KeptRow {
        self.columns.iter().map(|column| column.value(row).to_owned()).collect()
    }

    /// There are no more rounds.
    fn end(&mut self) {
        self.has_ended = true;
    }

    /// What follows is computed row by row.
    fn leave(&mut self) {
        self.truncate(self.working.end);
        self.leaving = Some(self.working.start);
    }

    fn truncate(&mut self, rows: usize) {
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
        self.rows = rows;
    }

    /// The next row of the working table, which is to be kept as a row.
    fn next_that_leaves(&mut self) -> Option<KeptRow> {
        let next = self.leaving.filter(|next| *next < self.working.end)?;
        self.leaving = Some(next + 1);
        Some(self.row(next))
    }

    /// Drops rows that have been given and are not read any more, if they are many. All that may be given
    /// have been.
    fn drop_given(&mut self) {
        let unread = self.working.start.min(self.given);
        if unread < KEPT_GIVEN || unread < self.rows - unread {
            return;
        }
        self.columns.iter_mut().for_each(|column| column.drop_first(unread));
        self.rows -= unread;
        self.working = self.working.start - unread..self.working.end - unread;
        (self.given, self.next, self.singly_to) = (self.given - unread, self.next - unread, 0);
    }

    fn size(&self) -> usize {
        self.columns.iter().map(Vector::size).sum()
    }
}

impl RecursiveState {
    /// What comes next for an operator that can take many rows at once.
    pub(crate) fn next_rows(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Recursion,
    ) -> SqlAttempt<NextRows> {
        if self.streams == Some(false) || self.is_by_row {
            return Ok(NextRows::Never);
        }
        loop {
            let Some(columns) = &self.in_columns else { return Ok(NextRows::Single) };
            let ready = columns.ready();
            if ready.start < columns.singly_to {
                return Ok(NextRows::Single);
            }
            if !ready.is_empty() {
                let end = ready.end.min(ready.start + GIVEN_TOGETHER);
                return Ok(NextRows::Rows(ready.start..end));
            }
            if self.complete {
                return Ok(NextRows::End);
            }
            self.advance(cx, plan)?;
        }
    }

    /// Takes the rows of the seed, which are the first working table, as columns, if that is possible.
    pub(super) fn enter_columns(&mut self, cx: &ExecContext<'_, '_>, plan: &Recursion) -> bool {
        if self.is_by_row || self.in_columns.is_some() {
            return false;
        }
        self.is_by_row = true;
        // Rows that are passed over are no case for many rows at once, and rows of UNION are told apart.
        let is_plain = !plan.distinct && self.wanted.is_none_or(|(first, _)| first == 0);
        let rows = self.round.in_memory().filter(|_| is_plain);
        let Some(columns) = rows.and_then(|rows| InColumns::new(plan, rows, cx.parameters)) else {
            return false;
        };
        (self.in_columns, self.is_by_row) = (Some(Box::new(columns)), false);
        true
    }

    /// Computes some more rows of the round, or begins the next one. All rows that may be given have been.
    pub(super) fn advance_in_columns(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Recursion,
        wanted: usize,
    ) -> SqlAttempt<()> {
        let Some(columns) = self.in_columns.as_deref_mut() else { return Ok(()) };
        if columns.leaving.is_some() {
            if let Some(row) = columns.next_that_leaves() {
                self.round.push(row);
                return cx.take_turns(1);
            }
            self.round.finish(cx)?;
            (self.in_columns, self.is_by_row) = (None, true);
            return Ok(self.set_working(cx, plan)?);
        }
        columns.drop_given();
        if columns.step >= columns.steps.len() {
            return Ok(self.end_round_in_columns(cx)?);
        }
        if columns.next >= columns.working.end {
            (columns.step, columns.next) = (columns.step + 1, columns.working.start);
            return Ok(());
        }
        let rows = columns.next..columns.working.end.min(columns.next + AT_ONCE);
        let InColumns { columns: vectors, steps, step, .. } = columns;
        let found = steps.get_mut(*step).and_then(|step| step.run(vectors, rows.clone()));
        let memory = cx.session.operator_memory(cx.session.variables.tmp_table_size);
        match found {
            Some(found) if columns.size() <= memory => columns.rows += found,
            _ => {
                columns.leave();
                return Ok(());
            }
        }
        columns.next = rows.end;
        let left = wanted - self.count;
        if columns.rows - columns.working.end >= left {
            columns.truncate(columns.working.end + left);
            columns.end();
            self.count = wanted;
        }
        let units = rows.len() * columns.columns.len() / ROWS_AS_ONE;
        cx.take_turns(1 + units as u32)
    }

    /// All steps have read the working table: what they gave becomes the next one.
    fn end_round_in_columns(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlResult<()> {
        let Some(columns) = self.in_columns.as_deref_mut() else { return Ok(()) };
        let round = columns.working.end..columns.rows;
        if round.is_empty() {
            columns.end();
            self.has_ended = true;
            return Ok(());
        }
        self.count += round.len();
        super::check_depth(cx, self.rounds)?;
        self.rounds += 1;
        (columns.step, columns.next) = (0, round.start);
        columns.working = round;
        Ok(())
    }
}
