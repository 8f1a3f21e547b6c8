//! Grouping the rows of a union of scans a batch at a time.
//!
//! Columns of a derived table that is a union are columns of other tables, others for each of its inputs. So
//! the grouping is written anew for each input, in the columns of the table that is read there, and its
//! batches are [added](super::in_batches) as those of a scan are:
//!
//! ```text
//!   SELECT SUM(t.x) FROM (SELECT x FROM a UNION ALL SELECT y FROM b) AS t
//!
//!   input 0: SUM(a.x)      input 1: SUM(b.y)      added to the same groups, in the order of the rows
//! ```
//!
//! The first row of each input comes through all operators, and so does what is read row by row: they go on
//! where the batches have ended.

use palisade_engine::ReadMode;
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::{Expr, Node, SqlAttempt};
use palisade_plan::Operator;

use super::in_batches::Batched;
use super::{AggregateState, Grouping};
use crate::batches::{BatchedScan, InBatches, Taken};
use crate::{ExecContext, State};

/// The grouping of the rows of one input.
#[derive(Debug)]
pub(super) struct InputOfUnion {
    group: Vec<Expr>,
    aggregates: Vec<AggregateSpec>,
    pub(super) in_batches: InBatches<Batched>,
}

impl InputOfUnion {
    /// Of the input with this number of a union that is a derived table; `None` if its rows are to be read
    /// one by one.
    fn new(plan: &Grouping<'_>, number: usize) -> Option<InputOfUnion> {
        let Operator::Derived { slot: derived, query, filter: None, .. } = plan.input else { return None };
        let Operator::Union { inputs, slot: combined, .. } = &query.root else { return None };
        let Operator::Project { input, output, .. } = inputs.get(number)? else { return None };
        let Operator::Scan { slot: scanned, table, mode: ReadMode::Snapshot, .. } = &**input else {
            return None;
        };
        if plan.rollup || !plan.keep.is_empty() {
            return None;
        }
        // What a column of the derived table is of the table that is scanned: only if nothing is converted.
        let column_of = |column: usize| {
            let (slot, place) = query.output.get(column)?.as_plain_column()?;
            let value = output.get(place).filter(|_| slot == *combined)?;
            let (slot, column) = value.as_plain_column()?;
            let ty = &table.descriptor().columns.get(column)?.sql_type;
            (slot == *scanned && *ty == value.ty).then_some(value)
        };
        let written = |expr: &Expr| {
            let mut expr = expr.clone();
            write_anew(&mut expr, *derived, &column_of).then_some(expr)
        };
        let group = plan.group.iter().map(written).collect::<Option<_>>()?;
        let aggregates = plan.aggregates.iter().map(|spec| {
            let arguments = spec.arguments.iter().map(written).collect::<Option<_>>()?;
            spec.order_by.is_empty().then(|| AggregateSpec { arguments, ..spec.clone() })
        });
        let aggregates = aggregates.collect::<Option<_>>()?;
        Some(InputOfUnion { group, aggregates, in_batches: InBatches::Unknown })
    }
}

/// Replaces columns of `slot` by what they are. False if that is not known of one, or it has another type.
fn write_anew<'e>(expr: &mut Expr, slot: usize, column_of: &impl Fn(usize) -> Option<&'e Expr>) -> bool {
    if let Node::Column { slot: own, column, .. } = expr.node
        && own == slot
    {
        return match column_of(column).filter(|value| value.ty == expr.ty) {
            Some(value) => {
                *expr = value.clone();
                true
            }
            None => false,
        };
    }
    let mut is_written = true;
    expr.children_mut(&mut |child| is_written &= write_anew(child, slot, column_of));
    is_written
}

/// The scan that is read now of an input that is one, or a union of scans that is read as it comes, and which
/// of the union's it is.
pub(super) fn current_scan<'s, 'p>(
    state: &'s mut State,
    operator: &'p Operator,
) -> Option<(usize, BatchedScan<'s, 'p>)> {
    let (state, operator, number) = match (state, operator) {
        (State::Derived(derived), Operator::Derived { query, filter: None, .. }) => {
            let (State::Union(union), Operator::Union { inputs, steps, .. }) =
                (derived.streamed()?, &query.root)
            else {
                return None;
            };
            let (number, current) = union.streamed(steps)?;
            let (State::Project { input, pending: false }, Operator::Project { input: scan, .. }) =
                (current, inputs.get(number)?)
            else {
                return None;
            };
            (&mut **input, &**scan, number)
        }
        (state, operator) => (state, operator, 0),
    };
    Some((number, BatchedScan::of(state, operator)?))
}

impl AggregateState {
    /// Adds the next rows of an input that is a union of scans, if they are many.
    pub(super) fn consume_batch_of_union(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
    ) -> SqlAttempt<Taken> {
        let Some((number, _)) = current_scan(&mut self.input, plan.input) else {
            return Ok(Taken::RowByRow);
        };
        if self.of_union.len() <= number {
            self.of_union.resize_with(number + 1, || None);
        }
        let Some(place) = self.of_union.get_mut(number) else { return Ok(Taken::RowByRow) };
        let own = place.take().or_else(|| InputOfUnion::new(plan, number).map(Box::new));
        let Some(mut own) = own else {
            // Its rows, and those of the inputs behind it, come one by one.
            self.in_batches = InBatches::No;
            return Ok(Taken::RowByRow);
        };
        let InputOfUnion { group, aggregates, in_batches } = &mut *own;
        let of_input = Grouping { group: &*group, aggregates: &*aggregates, ..*plan };
        let taken = self.add_rows_of_batch(cx, &of_input, in_batches);
        if let Some(place) = self.of_union.get_mut(number) {
            *place = Some(own);
        }
        Ok(match taken? {
            // Another input follows, or none: reading a row tells.
            Taken::End => Taken::RowByRow,
            taken => taken,
        })
    }
}
