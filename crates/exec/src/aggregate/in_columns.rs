//! Adding up the rows of a recursion that is [computed by column](crate::recursive::in_columns), many at a
//! time. There is one group; what is asked of it are counts, sums and extremes of numbers.

use std::ops::Range;

use palisade_expr::SqlResult;
use palisade_expr::aggregate::{Accumulator, AggregateKind, AggregateSpec};
use palisade_expr::vectors::{Computation, Given, Kind, Picked, Vector};
use palisade_expr::{SqlAttempt, SqlError};
use palisade_plan::Operator;

use super::{AggregateState, Grouping, Row};
use crate::batches::{InBatches, Taken};
use crate::recursive::in_columns::NextRows;
use crate::{ExecContext, State};

/// Rows of which one aggregate is added in the time that another row takes.
const ROWS_AS_ONE: usize = 16;

/// What the aggregates of a grouping are of.
#[derive(Debug)]
pub(super) struct OfColumns {
    computation: Computation,
    /// The step of each; `None` counts rows.
    sources: Vec<Option<usize>>,
}

impl OfColumns {
    /// `None` if the rows are to be read one by one.
    fn new(plan: &Grouping<'_>, given: Given<'_>) -> Option<OfColumns> {
        let mut computation = Computation::default();
        let sources = plan.aggregates.iter().map(|spec| source(&mut computation, spec, given));
        let sources = sources.collect::<Option<_>>()?;
        Some(OfColumns { computation, sources })
    }
}

/// The step that has what an aggregate adds, `Some(None)` if it counts rows; `None` if it is no count, sum or
/// extreme of numbers.
fn source(computation: &mut Computation, spec: &AggregateSpec, given: Given<'_>) -> Option<Option<usize>> {
    (!spec.distinct && spec.order_by.is_empty()).then_some(())?;
    let [argument] = &spec.arguments[..] else {
        return (spec.kind == AggregateKind::Count && spec.arguments.is_empty()).then_some(None);
    };
    let output = computation.add_given(argument, given)?;
    let Some(step) = output.step() else {
        // What all rows have is not NULL.
        return (spec.kind == AggregateKind::Count).then_some(None);
    };
    let takes = match spec.kind {
        AggregateKind::Count | AggregateKind::Sum | AggregateKind::Avg => {
            Accumulator::new(spec).takes_vector(output.kind)
        }
        AggregateKind::Min | AggregateKind::Max => true,
        _ => false,
    };
    takes.then_some(Some(step))
}

/// The row with the least or the greatest of the numbers, the first of them; `None` if all are NULL.
fn extreme(vector: &Vector, is_least: bool) -> Option<usize> {
    let rows = vector.exact.iter().enumerate().filter(|(row, _)| !vector.is_null(*row));
    let better = |best: (usize, i64), (row, number): (usize, i64)| {
        let is_better = if is_least { number < best.1 } else { number > best.1 };
        if is_better { (row, number) } else { best }
    };
    rows.map(|(row, number)| (row, *number)).reduce(better).map(|(row, _)| row)
}

impl AggregateState {
    /// Adds the next rows of an input that is a recursion, if they are computed by column.
    pub(super) fn consume_columns(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
    ) -> SqlAttempt<Taken> {
        let is_one_group = plan.group.is_empty() && !plan.rollup && plan.keep.is_empty();
        let (State::Recursive { state, .. }, Operator::Recursive { slot, recursion, filter: None, .. }, true) =
            (&mut self.input, plan.input, is_one_group)
        else {
            self.in_batches = InBatches::No;
            return Ok(Taken::RowByRow);
        };
        let rows = match state.next_rows(cx, recursion)? {
            NextRows::Rows(rows) => rows,
            NextRows::End => return Ok(Taken::End),
            NextRows::Single => return Ok(Taken::RowByRow),
            NextRows::Never => {
                self.in_batches = InBatches::No;
                return Ok(Taken::RowByRow);
            }
        };
        let Some(columns) = &mut state.in_columns else { return Ok(Taken::RowByRow) };
        if self.of_columns.is_none() {
            let kinds = columns.kinds();
            let given = Given { kinds: &kinds, slot: *slot, parameters: cx.parameters };
            self.of_columns = OfColumns::new(plan, given).map(Box::new);
        }
        let Some(of_columns) = &mut self.of_columns else {
            self.in_batches = InBatches::No;
            return Ok(Taken::RowByRow);
        };
        let picked = Picked::Range { first: rows.start, rows: rows.len() };
        if !of_columns.computation.run_given(columns.columns(), picked) {
            columns.read_singly(&rows);
            return Ok(Taken::RowByRow);
        }
        cx.in_one_go(|cx| self.add_columns(cx, plan, &rows))?;
        if let State::Recursive { state, .. } = &mut self.input
            && let Some(columns) = &mut state.in_columns
        {
            columns.pass(&rows);
        }
        cx.take_turns(1 + (rows.len() * plan.aggregates.len() / ROWS_AS_ONE) as u32)?;
        Ok(Taken::Added)
    }

    /// Adds what was computed of so many rows.
    fn add_columns(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        rows: &Range<usize>,
    ) -> SqlResult<()> {
        if self.groups.count == 0 {
            self.known_group_of(cx, plan, Row::Computed(&[]), 0)?;
        }
        let AggregateState { groups, of_columns: Some(of_columns), .. } = self else { return Ok(()) };
        let aggregates = groups.accumulators(0, plan).iter_mut().zip(plan.aggregates);
        for ((accumulator, spec), source) in aggregates.zip(&of_columns.sources) {
            let Some(step) = source else {
                accumulator.count_rows(rows.len());
                continue;
            };
            let vector = of_columns.computation.vector(*step);
            let vector = vector.ok_or_else(|| SqlError::internal("a step has values"))?;
            match spec.kind {
                AggregateKind::Min | AggregateKind::Max if vector.kind != Kind::Double => {
                    if let Some(row) = extreme(vector, spec.kind == AggregateKind::Min) {
                        accumulator.take(vector.value(row), spec)?;
                    }
                }
                AggregateKind::Min | AggregateKind::Max => {
                    (0..rows.len()).try_for_each(|row| accumulator.take(vector.value(row), spec))?;
                }
                _ => accumulator.take_vector(vector, 0..rows.len(), spec)?,
            }
        }
        Ok(())
    }
}
