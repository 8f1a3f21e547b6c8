//! WITH RECURSIVE: rows of the seed, then again and again what the steps make of the rows of the round
//! before.
//!
//! The rows of the round before are the *working table*, which the steps read through
//! [`Operator::Working`](palisade_plan::Operator::Working). The result is complete before its first row is
//! given. Where it is read once, by an operator that itself gives no row before it has all of them, a row is
//! given when it has been found, and kept for the next round only: an error of the recursion comes before any
//! row all the same. Both go to a [file](super::spill::list) when they take more memory than they may, and so
//! do the [keys](super::spill::known) by which UNION without ALL knows the rows that there have been.
//!
//! Where the steps make numbers of numbers, a round is computed by column: `in_columns`.

pub(crate) mod in_columns;

use palisade_base::error_catalogue::{ER_CTE_MAX_RECURSION_DEPTH, ER_DATA_TOO_LONG};
use palisade_base::mysql_error;
use palisade_catalog::{SqlType, Value};
use palisade_expr::place::At;
use palisade_expr::{Context, Expr, SqlAttempt, SqlResult};
use palisade_plan::{Query, Recursion};

use self::in_columns::InColumns;
use super::distinct::append_row_key;
use super::sort::wanted_rows;
use super::spill::known::KnownKeys;
use super::spill::list::{RowCursor, RowList};
use super::{ExecContext, KeptRow, Readings, State, next_passing};

/// Where a recursion is.
#[derive(Debug)]
pub struct RecursiveState {
    readings: Readings,
    /// Rows are given as they come, once that is known.
    streams: Option<bool>,
    /// The row that has come.
    found: Option<KeptRow>,
    /// Of the query that is running.
    running: Option<State>,
    /// Which: the seed, then the steps.
    part: usize,
    /// A row of it is in place, not computed yet.
    pending: bool,
    /// The result, and how many rows it has.
    rows: RowList,
    count: usize,
    /// Those of them that this round has given, and how many these are.
    round: RowList,
    count_of_round: usize,
    /// All parts of the round have given their rows.
    is_round_over: bool,
    rounds: u64,
    /// Of UNION without ALL.
    known: KnownKeys,
    key: Vec<u8>,
    /// The values of a row that is being computed.
    values: Vec<Value>,
    /// Rows that are passed over, and how many are wanted with them, once known.
    wanted: Option<(usize, usize)>,
    /// A round has given no rows.
    has_ended: bool,
    complete: bool,
    /// Rows that have been passed over.
    passed: usize,
    /// The row in the slot has not been tested yet.
    is_placed: bool,
    /// Where rounds are computed by column: the rows from the seed's on.
    pub(crate) in_columns: Option<Box<InColumns>>,
    /// They are not computed so, or not any more.
    is_by_row: bool,
}

impl RecursiveState {
    /// Before the first row.
    pub fn new(readings: Readings) -> Self {
        RecursiveState {
            readings,
            streams: None,
            found: None,
            running: None,
            part: 0,
            pending: false,
            rows: RowList::default(),
            count: 0,
            round: RowList::default(),
            count_of_round: 0,
            is_round_over: false,
            rounds: 0,
            known: KnownKeys::default(),
            key: Vec::new(),
            values: Vec::new(),
            wanted: None,
            has_ended: false,
            complete: false,
            passed: 0,
            is_placed: false,
            in_columns: None,
            is_by_row: false,
        }
    }

    /// Before the first row; the rows are kept unless they depend on outer rows.
    pub fn reset(&mut self, correlated: bool) {
        if self.complete && !correlated && self.streams == Some(false) {
            self.rows.rewind();
            (self.passed, self.is_placed) = (0, false);
        } else {
            *self = RecursiveState::new(self.readings);
        }
    }

    /// The next row.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Recursion,
        slot: usize,
        filter: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        let has_effects = || cx.execution.plan.as_ref().is_some_and(|plan| plan.has_effects);
        if *self.streams.get_or_insert_with(|| self.readings == Readings::Whole && !has_effects()) {
            let mut is_placed = self.is_placed;
            let found = next_passing(cx, &mut is_placed, (slot, filter), |cx| self.next_that_comes(cx, plan));
            self.is_placed = is_placed;
            return found;
        }
        while !self.complete {
            self.advance(cx, plan)?;
        }
        let first = self.wanted.map_or(0, |(first, _)| first);
        while self.passed < first {
            cx.take_turns(1)?;
            self.rows.next_row()?;
            self.passed += 1;
        }
        let rows = &mut self.rows;
        next_passing(cx, &mut self.is_placed, (slot, filter), |_| rows.next_row())
    }

    /// The next row, which is not kept.
    fn next_that_comes(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Recursion,
    ) -> SqlAttempt<Option<KeptRow>> {
        loop {
            if let Some(row) = self.found.take()
                && self.wanted.is_some_and(|(first, _)| self.count > first)
            {
                return Ok(Some(row));
            }
            if let Some(row) = self.in_columns.as_mut().and_then(|columns| columns.next_row()) {
                return Ok(Some(row));
            }
            if self.complete {
                return Ok(None);
            }
            self.advance(cx, plan)?;
        }
    }

    /// One more row of the part that is running, or the next part.
    fn advance(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Recursion) -> SqlAttempt<()> {
        let wanted = match self.wanted {
            Some((_, wanted)) => wanted,
            None => {
                let wanted = wanted_rows(plan.limit.as_ref(), &mut cx.lend())?;
                self.wanted.insert((wanted.start, wanted.end)).1
            }
        };
        self.rows.make_room(cx)?;
        if self.streams != Some(true)
            && let Some(row) = self.in_columns.as_mut().and_then(|columns| columns.next_row())
        {
            self.rows.push(row);
            return cx.take_turns(1);
        }
        if self.has_ended || self.count >= wanted {
            self.rows.finish(cx)?;
            self.complete = true;
            self.known = KnownKeys::default();
            if let Some(working) = cx.execution.working.get_mut(plan.table) {
                working.clear();
            }
            return Ok(());
        }
        self.round.make_room(cx)?;
        if self.in_columns.is_some() {
            return self.advance_in_columns(cx, plan, wanted);
        }
        if plan.distinct
            && let Some(row) = self.known.next_waiting(cx, self.is_round_over)?
        {
            self.add(row);
            return cx.take_turns(1);
        }
        if self.is_round_over {
            return self.begin_round(cx, plan);
        }
        let query: &Query = match self.part.checked_sub(1) {
            None => &plan.seed,
            Some(step) => plan.steps.at(step)?,
        };
        let state = self.running.get_or_insert_with(|| State::new(&query.root));
        if !self.pending {
            if !state.next(&query.root, cx)? {
                self.running = None;
                self.part += 1;
                self.is_round_over = self.part > plan.steps.len() || self.part == 1;
                return Ok(());
            }
            self.pending = true;
        }
        let values = &mut self.values;
        cx.evaluate(|cx| {
            values.clear();
            for ((expr, ty), name) in query.output.iter().zip(&plan.types).zip(&plan.names) {
                let value = expr.eval(cx)?;
                values.push(fitted(cx, value, &expr.ty, ty, name)?);
            }
            Ok(())
        })?;
        self.pending = false;
        let row: KeptRow = values.drain(..).collect();
        if plan.distinct {
            self.key.clear();
            let key = &mut self.key;
            cx.lend().in_one_go(|cx| cx.watched(|watch| append_row_key(&row, &plan.types, key, watch)))?;
            if let Some(row) = self.known.take(cx, &self.key, row)? {
                self.add(row);
            }
        } else {
            self.add(row);
        }
        cx.take_turns(1)
    }

    /// Adds a row to the result, or gives it, and adds it to those of the round.
    fn add(&mut self, row: KeptRow) {
        match self.streams {
            Some(true) => self.found = Some(row.clone()),
            _ => self.rows.push(row.clone()),
        }
        self.round.push(row);
        (self.count, self.count_of_round) = (self.count + 1, self.count_of_round + 1);
    }

    /// What the last round gave becomes the working table of the next. May ask to wait.
    fn begin_round(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Recursion) -> SqlAttempt<()> {
        if self.count_of_round == 0 {
            self.has_ended = true;
            return Ok(());
        }
        check_depth(cx, self.rounds)?;
        self.round.finish(cx)?;
        self.rounds += 1;
        if self.enter_columns(cx, plan) {
            self.round = RowList::default();
            return Ok(());
        }
        Ok(self.set_working(cx, plan)?)
    }

    /// The rows of the round become the working table of the steps, which begin.
    fn set_working(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Recursion) -> SqlResult<()> {
        if cx.execution.working.len() <= plan.table {
            cx.execution.working.resize_with(plan.table + 1, RowList::default);
        }
        *cx.execution.working.at_mut(plan.table)? = std::mem::take(&mut self.round);
        (self.count_of_round, self.is_round_over, self.part) = (0, false, 1);
        Ok(())
    }
}

/// 3636 if there have been as many rounds as there may be.
fn check_depth(cx: &ExecContext<'_, '_>, rounds: u64) -> SqlResult<()> {
    if rounds >= cx.session.variables.cte_max_recursion_depth {
        return Err(mysql_error!(ER_CTE_MAX_RECURSION_DEPTH, rounds + 1));
    }
    Ok(())
}

/// Where reading a working table is.
#[derive(Debug, Default)]
pub struct WorkingState {
    cursor: RowCursor,
    /// The row in the slot has not been tested yet.
    is_placed: bool,
}

impl WorkingState {
    /// Before the first row.
    pub fn reset(&mut self) {
        *self = WorkingState::default();
    }

    /// The next row.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        table: usize,
        slot: usize,
        filter: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        let cursor = &mut self.cursor;
        next_passing(cx, &mut self.is_placed, (slot, filter), |cx| {
            cursor.next_row(cx.execution.working.at(table)?)
        })
    }
}

/// A value in the type that the seed gave its column: 1406 if it is too long in a strict mode, else cut.
fn fitted(cx: &mut Context<'_>, value: Value, from: &SqlType, to: &SqlType, name: &str) -> SqlResult<Value> {
    let value = palisade_expr::convert::settled(value, from);
    let mut value = cx.adapt(value, from, to)?;
    if let (Value::Bytes(text), SqlType::VarChar { length, .. } | SqlType::VarBinary { length }) =
        (&mut value, to)
    {
        let charset = to.collation().get().charset;
        let fits = charset.prefix_len(text, *length as usize);
        if fits < text.len() {
            let error = mysql_error!(ER_DATA_TOO_LONG, name, 1);
            if cx.mode().is_strict() {
                return Err(error);
            }
            cx.session.warnings.warn(error);
            text.truncate(fits);
        }
    }
    Ok(value)
}
