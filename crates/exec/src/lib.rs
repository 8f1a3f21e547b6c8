//! Execution: the states of a plan's operators, and the calls that move them.
//!
//! The plan is shared and immutable; a [`State`] tree mirrors its operators and holds what one execution
//! knows. A call of [`State::next`] places the next row in the frame's slots. When something is missing it
//! gives back [`Blocked::Wait`](palisade_base::Blocked) and is later called again: every operator keeps
//! enough to go on from exactly where it was.
//!
//! | module | what it holds |
//! |---|---|
//! | [`run`] | calling until nothing is missing: waits, the rows of a query sent |
//! | [`context`] | what an operator sees, and lends to expressions |
//! | [`scan`] | reading a table by an access path |
//! | `batches` | reading the rows of a scan a batch at a time |
//! | [`loose`] | reading some rows of each group of an index |
//! | `intersection` | reading the rows that several indexes have entries of |
//! | [`skip`] | reading ranges behind each of the values of an index's leading parts |
//! | [`join`] | nested loops and hash joins |
//! | [`aggregate`] | grouping |
//! | [`grouped`] | grouping of rows that come in groups |
//! | [`kept`] | rows set aside |
//! | `noted` | measuring an operator |
//! | [`parallel`] | groups that are added up in parts, side by side |
//! | [`sort`] | sorting, limits |
//! | `packed` | sort keys as numbers |
//! | [`distinct`] | removing duplicates |
//! | [`spill`] | rows in temporary files |
//! | [`set`] | UNION and its kin, derived tables |
//! | [`virtual_table`] | reading a virtual table |
//! | [`window`] | window functions |
//! | [`recursive`] | WITH RECURSIVE |
//! | [`subquery`] | subqueries in expressions |
//! | [`store`] | what happens to a value on its way into a column |

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

pub mod aggregate;
mod batches;
mod chunked;
pub mod context;
pub mod distinct;
pub mod grouped;
mod intersection;
pub mod join;
pub mod json_table;
pub mod kept;
mod locked_union;
pub mod loose;
mod noted;
mod packed;
pub mod parallel;
pub mod recursive;
pub mod run;
pub mod scan;
pub mod set;
pub mod skip;
pub mod sort;
pub mod spill;
pub mod store;
pub mod subquery;
pub mod virtual_table;
pub mod window;

use std::sync::Arc;

use palisade_base::error_catalogue::ER_DATA_OUT_OF_RANGE;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_engine::KeyRange;
use palisade_expr::place::At;
use palisade_expr::{Context, Expr, Slot, SqlAttempt, SqlResult};
use palisade_plan::{Limit, Merge, Operator};

pub use context::{ExecContext, ExecutingSession, StatementContext, Waiter};
pub use subquery::SubqueryState;

/// How often an operator is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readings {
    /// Once, and to its end, before the operator that reads it gives its first row.
    Whole,
    /// Once, and to its end.
    Once,
    /// Any number of times, each as far as it is wanted.
    Any,
}

/// What one execution of an operator knows.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum State {
    Dual { done: bool },
    Nothing,
    Scan(Box<scan::ScanState>),
    LooseScan(Box<loose::LooseState>),
    SkipScan(Box<skip::SkipState>),
    IndexMerge { inputs: Vec<State>, at: usize },
    Intersection(Box<intersection::IntersectionState>),
    LockedUnion(Box<locked_union::LockedUnionState>),
    Virtual(Box<virtual_table::VirtualState>),
    Values { next: usize },
    JsonTable(Box<json_table::JsonTableState>),
    NestedLoop(Box<join::NestedLoopState>),
    HashJoin(Box<join::HashJoinState>),
    Filter { input: Box<State>, pending: bool },
    Aggregate(Box<aggregate::AggregateState>),
    Grouped(Box<grouped::GroupedState>),
    FirstOfEach(Box<grouped::FirstState>),
    Sort(Box<sort::SortState>),
    Project { input: Box<State>, pending: bool },
    Distinct(Box<distinct::DistinctState>),
    Limit(Box<sort::LimitState>),
    Union(Box<set::UnionState>),
    Derived(Box<set::DerivedState>),
    Window(Box<window::WindowState>),
    Noted(Box<noted::NotedState>),
    Recursive { state: Box<recursive::RecursiveState>, correlated: bool },
    Working(Box<recursive::WorkingState>),
}

impl Readings {
    /// Those of the input of an operator that is read so, and reads its input before it gives a row.
    fn of_whole_input(self) -> Readings {
        match self {
            Readings::Once | Readings::Whole => Readings::Whole,
            Readings::Any => Readings::Any,
        }
    }
}

impl State {
    /// The caller may have enough after any row, and what finds the rows should not run ahead.
    pub fn hint_stop(&mut self) {
        match self {
            State::Scan(scan) => scan.hint_stop(),
            State::Filter { input, .. } | State::Project { input, .. } => input.hint_stop(),
            State::NestedLoop(join) => join.hint_stop(),
            State::HashJoin(join) => join.hint_stop(),
            State::Grouped(groups) => groups.hint_stop(),
            State::FirstOfEach(first) => first.hint_stop(),
            State::Noted(noted) => noted.input().hint_stop(),
            _ => {}
        }
    }

    /// It is read again for each row of another input.
    pub fn hint_again(&mut self) {
        match self {
            State::Virtual(state) => state.hint_again(),
            State::Filter { input, .. } | State::Project { input, .. } => input.hint_again(),
            State::NestedLoop(join) => join.hint_again(),
            State::Noted(noted) => noted.input().hint_again(),
            _ => {}
        }
    }

    /// The state of `plan` before its first row.
    pub fn new(plan: &Operator) -> State {
        State::of(plan, Readings::Any)
    }

    /// The state of `plan`, which is read `readings`, before its first row.
    pub fn of(plan: &Operator, readings: Readings) -> State {
        let new = |plan: &Operator| State::of(plan, readings);
        match plan {
            Operator::Dual => State::Dual { done: false },
            Operator::Nothing => State::Nothing,
            Operator::Scan { access, .. } if access.loose.is_some() => State::LooseScan(Box::default()),
            Operator::Scan { access, .. } if access.skipped > 0 => State::SkipScan(Box::default()),
            Operator::Scan { .. } => State::Scan(Box::default()),
            Operator::IndexMerge { inputs, kind: Merge::Intersection, .. } => {
                let inputs = inputs.iter().map(State::new).collect();
                State::Intersection(Box::new(intersection::IntersectionState::new(inputs)))
            }
            Operator::IndexMerge { inputs, kind: Merge::LockedUnion, .. } => {
                let inputs = inputs.iter().map(State::new).collect();
                State::LockedUnion(Box::new(locked_union::LockedUnionState::new(inputs)))
            }
            Operator::IndexMerge { inputs, kind: Merge::Union, .. } => {
                State::IndexMerge { inputs: inputs.iter().map(new).collect(), at: 0 }
            }
            Operator::Virtual { .. } => State::Virtual(Box::default()),
            Operator::Values { function: Some(_), .. } => State::JsonTable(Box::default()),
            Operator::Values { .. } => State::Values { next: 0 },
            Operator::NestedLoop { left, right, kind, .. } => {
                let (left, right) = (new(left), State::new(right));
                State::NestedLoop(Box::new(join::NestedLoopState::new(left, right, *kind)))
            }
            Operator::HashJoin { left, right, right_slots, keeps, .. } => {
                let rows = kept::KeptRows::of(right, right_slots);
                let (left, right) = (new(left), new(right));
                State::HashJoin(Box::new(join::HashJoinState::new(left, right, rows, *keeps)))
            }
            Operator::Filter { input, .. } => State::Filter { input: Box::new(new(input)), pending: false },
            Operator::Aggregate { input, in_groups: true, .. } => {
                State::Grouped(Box::new(grouped::GroupedState::new(new(input))))
            }
            Operator::FirstOfEach { input, .. } => {
                State::FirstOfEach(Box::new(grouped::FirstState::new(new(input))))
            }
            Operator::Aggregate { input, .. } => {
                let input = State::of(input, readings.of_whole_input());
                State::Aggregate(Box::new(aggregate::AggregateState::new(input)))
            }
            Operator::Sort { input, slots, .. } => {
                let rows = kept::KeptRows::of(input, slots);
                let input = State::of(input, readings.of_whole_input());
                State::Sort(Box::new(sort::SortState::new(input, rows)))
            }
            Operator::Project { input, .. } => State::Project { input: Box::new(new(input)), pending: false },
            Operator::Distinct { input, .. } => {
                State::Distinct(Box::new(distinct::DistinctState::new(new(input))))
            }
            Operator::Limit { input, .. } => State::Limit(Box::new(sort::LimitState::new(State::new(input)))),
            Operator::Union { inputs, .. } => {
                State::Union(Box::new(set::UnionState::new(inputs.iter().map(new).collect())))
            }
            Operator::Recursive { recursion, .. } => {
                let state = Box::new(recursive::RecursiveState::new(readings));
                State::Recursive { state, correlated: !recursion.outer_slots.is_empty() }
            }
            Operator::Working { .. } => State::Working(Box::default()),
            Operator::Window { input, .. } => {
                State::Window(Box::new(window::WindowState::new(new(input), input)))
            }
            Operator::Noted { input, .. } => State::Noted(Box::new(noted::NotedState::new(new(input)))),
            Operator::Derived { query, .. } => {
                State::Derived(Box::new(set::DerivedState::new(new(&query.root), readings)))
            }
        }
    }

    /// Goes back before the first row; what was computed and does not depend on outer rows is kept.
    pub fn reset(&mut self) {
        match self {
            State::Dual { done } => *done = false,
            State::Nothing => {}
            State::Scan(state) => state.reset(),
            State::LooseScan(state) => state.reset(),
            State::SkipScan(state) => state.reset(),
            State::IndexMerge { inputs, at } => {
                inputs.iter_mut().for_each(State::reset);
                *at = 0;
            }
            State::Intersection(state) => state.reset(),
            State::LockedUnion(state) => state.reset(),
            State::Virtual(state) => state.reset(),
            State::Values { next } => *next = 0,
            State::JsonTable(state) => **state = json_table::JsonTableState::default(),
            State::NestedLoop(state) => state.reset(),
            State::HashJoin(state) => state.reset(),
            State::Filter { input, pending } | State::Project { input, pending } => {
                *pending = false;
                input.reset();
            }
            State::Aggregate(state) => state.reset(),
            State::Grouped(state) => state.reset(),
            State::FirstOfEach(state) => state.reset(),
            State::Sort(state) => state.reset(),
            State::Distinct(state) => state.reset(),
            State::Limit(state) => state.reset(),
            State::Union(state) => state.reset(),
            State::Derived(state) => state.reset(),
            State::Window(state) => state.reset(),
            State::Noted(state) => state.reset(),
            State::Recursive { state, correlated } => state.reset(*correlated),
            State::Working(state) => state.reset(),
        }
    }

    /// Goes to the beginning of a piece of a range of the scan that
    /// [drives](palisade_plan::parallel::driving) it. Hash tables of joins are kept.
    pub(crate) fn begin_piece(&mut self, piece: KeyRange) {
        match self {
            State::Scan(scan) => scan.begin_piece(piece),
            State::Filter { input, pending } => {
                *pending = false;
                input.begin_piece(piece);
            }
            State::NestedLoop(join) => join.begin_piece(piece),
            State::HashJoin(join) => join.begin_piece(piece),
            _ => {}
        }
    }

    /// Goes before the row with this key, which a scan reads by its unique key.
    fn find(&mut self, key: Vec<u8>) {
        match self {
            State::Scan(scan) => scan.find(key),
            State::Filter { input, pending } => {
                *pending = false;
                input.find(key);
            }
            State::Noted(noted) => {
                noted.reset();
                noted.input().find(key);
            }
            _ => {}
        }
    }

    /// Places the next row in the frame; false at the end.
    #[inline]
    pub fn next(&mut self, plan: &Operator, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<bool> {
        if self.step(plan, cx)? { Ok(true) } else { self.find_next(plan, cx) }
    }

    /// Places the next row in the frame if it lies ready; false says nothing.
    #[inline]
    fn step(&mut self, plan: &Operator, cx: &mut ExecContext<'_, '_>) -> SqlResult<bool> {
        match (self, plan) {
            (State::Scan(scan), _) => Ok(scan.step(cx)),
            (State::Sort(sort), Operator::Sort { slots, .. }) => sort.step(cx, slots),
            _ => Ok(false),
        }
    }

    fn find_next(&mut self, plan: &Operator, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<bool> {
        match (self, plan) {
            (State::Scan(state), Operator::Scan { slot, table, access, filter, mode, .. }) => {
                state.next(cx, *slot, table, access, filter.as_ref(), *mode)
            }
            (State::NestedLoop(state), Operator::NestedLoop { left, right, kind, condition }) => {
                state.next(cx, left, right, *kind, condition.as_ref())
            }
            (
                State::HashJoin(state),
                Operator::HashJoin { left, right, kind, keys, condition, right_slots, in_order, .. },
            ) => state.next(
                cx,
                &join::HashJoin {
                    left,
                    right,
                    kind: *kind,
                    keys,
                    condition: condition.as_ref(),
                    right_slots,
                    in_order: *in_order,
                },
            ),
            (State::Filter { input, pending }, Operator::Filter { input: plan, condition }) => loop {
                if !*pending {
                    if !input.next(plan, cx)? {
                        return Ok(false);
                    }
                    *pending = true;
                }
                let passes = cx.evaluate(|cx| condition.holds(cx))?;
                *pending = false;
                if passes {
                    return Ok(true);
                }
            },
            (State::Aggregate(state), operator @ Operator::Aggregate { .. }) => {
                aggregate::Grouping::of(operator).map_or(Ok(false), |plan| state.next(cx, &plan))
            }
            (State::Grouped(state), operator @ Operator::Aggregate { .. }) => {
                aggregate::Grouping::of(operator).map_or(Ok(false), |plan| state.next(cx, &plan))
            }
            (State::FirstOfEach(state), Operator::FirstOfEach { input, keys }) => state.next(cx, input, keys),
            (State::Sort(state), Operator::Sort { input, keys, slots, limit, distinct }) => state
                .next(cx, &sort::Sorting { input, keys, slots, limit: limit.as_ref(), distinct: *distinct }),
            (State::Project { input, pending }, Operator::Project { input: plan, output, slot }) => {
                if !*pending {
                    if !input.next(plan, cx)? {
                        return Ok(false);
                    }
                    *pending = true;
                }
                let values = settled_all(output, cx)?;
                *pending = false;
                *cx.state.frame.slots.at_mut(*slot)? = Slot::Values(values.into());
                Ok(true)
            }
            (State::Distinct(state), Operator::Distinct { input, slot, types }) => {
                state.next(cx, input, *slot, types)
            }
            (State::Limit(state), Operator::Limit { input, limit }) => state.next(cx, input, limit),
            (State::Union(state), Operator::Union { inputs, slot, steps, types }) => {
                state.next(cx, inputs, *slot, steps, types)
            }
            (State::Derived(state), Operator::Derived { slot, query, filter, .. }) => {
                state.next(cx, query, *slot, filter.as_ref())
            }
            (State::Recursive { state, .. }, Operator::Recursive { slot, recursion, filter, .. }) => {
                state.next(cx, recursion, *slot, filter.as_ref())
            }
            (State::Window(state), Operator::Window { input, window }) => state.next(cx, input, window),
            (State::Noted(state), Operator::Noted { input, note }) => state.next(cx, input, note),
            (state, plan) => state.find_source_row(plan, cx),
        }
    }

    /// The same of an operator that reads a table or makes its rows.
    fn find_source_row(&mut self, plan: &Operator, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<bool> {
        match (self, plan) {
            (State::Dual { done }, Operator::Dual) => Ok(!std::mem::replace(done, true)),
            (State::Nothing, Operator::Nothing) => Ok(false),
            (State::LooseScan(state), Operator::Scan { slot, table, access, filter, mode, .. }) => {
                state.next(cx, &loose::Reading { slot: *slot, table, access, mode: *mode }, filter.as_ref())
            }
            (State::SkipScan(state), Operator::Scan { slot, table, access, filter, mode, .. }) => {
                state.next(cx, &loose::Reading { slot: *slot, table, access, mode: *mode }, filter.as_ref())
            }
            (State::IndexMerge { inputs, at }, Operator::IndexMerge { inputs: plans, .. }) => {
                while let (Some(input), Some(plan)) = (inputs.get_mut(*at), plans.get(*at)) {
                    if input.next(plan, cx)? {
                        return Ok(true);
                    }
                    *at += 1;
                }
                Ok(false)
            }
            (State::Intersection(state), Operator::IndexMerge { inputs, .. }) => state.next(cx, inputs),
            (State::LockedUnion(state), Operator::IndexMerge { inputs, .. }) => state.next(cx, inputs),
            (State::Virtual(state), Operator::Virtual { slot, table, filter, read, .. }) => {
                let (slot, filter) = (*slot, filter.as_ref());
                state.next(cx, virtual_table::Reading { slot, table, filter, read })
            }
            (State::JsonTable(state), Operator::Values { slot, rows, function: Some(function) }) => {
                let document = rows.first().and_then(|row| row.first());
                state.next(cx, function, document, *slot)
            }
            (State::Values { next }, Operator::Values { slot, rows, .. }) => {
                let Some(row) = rows.get(*next) else { return Ok(false) };
                let values = evaluate_all(row, cx)?;
                *cx.state.frame.slots.at_mut(*slot)? = Slot::Values(values.into());
                *next += 1;
                Ok(true)
            }
            (State::Working(state), Operator::Working { slot, table, filter, .. }) => {
                state.next(cx, *table, *slot, filter.as_ref())
            }
            _ => unreachable!("a state mirrors its plan"),
        }
    }
}

/// Places the next row of those that `next_row` gives that passes the filter in the slot; false if there is
/// none. `is_placed` says that the row there has not been tested yet. May ask to wait.
fn next_passing<'a>(
    cx: &mut ExecContext<'_, 'a>,
    is_placed: &mut bool,
    (slot, filter): (usize, Option<&Expr>),
    mut next_row: impl FnMut(&mut ExecContext<'_, 'a>) -> SqlAttempt<Option<KeptRow>>,
) -> SqlAttempt<bool> {
    loop {
        if !*is_placed {
            cx.take_turns(1)?;
            let Some(row) = next_row(cx)? else { return Ok(false) };
            *cx.state.frame.slots.at_mut(slot)? = Slot::Values(row);
            *is_placed = true;
        }
        let passes = match filter {
            Some(filter) => cx.evaluate(|cx| filter.holds(cx))?,
            None => true,
        };
        *is_placed = false;
        if passes {
            return Ok(true);
        }
    }
}

/// Puts values into a slot, in the place of those before them where these are not kept elsewhere.
fn place_values(slot: &mut Slot, values: impl ExactSizeIterator<Item = Value>) {
    if let Slot::Values(known) = slot
        && let Some(known) = Arc::get_mut(known)
        && known.len() == values.len()
    {
        known.iter_mut().zip(values).for_each(|(place, value)| *place = value);
    } else {
        *slot = Slot::Values(values.collect());
    }
}

/// Whether the current row passes a filter.
fn passes(cx: &mut ExecContext<'_, '_>, filter: Option<&Expr>) -> SqlAttempt<bool> {
    match filter {
        Some(filter) => Ok(cx.evaluate(|cx| filter.test(cx))? == Some(true)),
        None => Ok(true),
    }
}

/// The values of expressions.
pub fn evaluate_all(exprs: &[Expr], cx: &mut ExecContext<'_, '_>) -> SqlAttempt<Vec<Value>> {
    cx.evaluate(|cx| exprs.iter().map(|expr| expr.eval(cx)).collect())
}

/// The values of expressions, as they leave them.
pub fn settled_all(exprs: &[Expr], cx: &mut ExecContext<'_, '_>) -> SqlAttempt<Vec<Value>> {
    cx.evaluate(|cx| exprs.iter().map(|expr| settled(expr, cx)).collect())
}

/// The value of an expression, as it leaves it.
fn settled(expr: &Expr, cx: &mut Context<'_>) -> SqlAttempt<Value> {
    let value = expr.eval(cx)?;
    Ok(palisade_expr::convert::settled(value, &expr.ty))
}

/// (rows to skip, rows to give).
pub fn limit_values(limit: &Limit, cx: &mut Context<'_>) -> SqlAttempt<(u64, u64)> {
    // What is written in the statement is a number; a parameter may be anything.
    let number = |value: Value, cx: &mut Context<'_>| -> SqlResult<u64> {
        let wide = cx.to_integer(value.as_ref())?;
        u64::try_from(wide).map_err(|_| mysql_error!(ER_DATA_OUT_OF_RANGE, "unsigned integer", "EXECUTE"))
    };
    let count = limit.count.eval(cx)?;
    let count = number(count, cx)?;
    let offset = match &limit.offset {
        Some(offset) => {
            let value = offset.eval(cx)?;
            number(value, cx)?
        }
        None => 0,
    };
    if limit.is_widened {
        return Ok((0, count.saturating_add(offset)));
    }
    Ok((offset, count))
}

/// A row of values that outlives its slot.
pub type KeptRow = Arc<[Value]>;
