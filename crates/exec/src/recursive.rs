//! WITH RECURSIVE: rows of the seed, then again and again what the steps make of the rows of the round
//! before.
//!
//! The rows of the round before are the *working table*, which the steps read through
//! [`Operator::Working`](palisade_plan::Operator::Working). The result is complete before its first row is
//! given.

use std::ops::Range;
use std::sync::Arc;

use palisade_base::error_catalogue::{ER_CTE_MAX_RECURSION_DEPTH, ER_DATA_TOO_LONG};
use palisade_base::mysql_error;
use palisade_catalog::{SqlType, Value};
use palisade_expr::keys::KeyIndex;
use palisade_expr::place::At;
use palisade_expr::{Context, Expr, Slot, SqlAttempt, SqlResult};
use palisade_plan::{Query, Recursion};

use super::distinct::append_row_key;
use super::sort::wanted_rows;
use super::{ExecContext, KeptRow, State, next_passing};

/// Where a recursion is.
#[derive(Debug, Default)]
pub struct RecursiveState {
    /// Of the query that is running.
    running: Option<State>,
    /// Which: the seed, then the steps.
    part: usize,
    /// A row of it is in place, not computed yet.
    pending: bool,
    rows: Vec<KeptRow>,
    seen: KeyIndex,
    key: Vec<u8>,
    bytes: usize,
    /// Where the rows of this round begin.
    round: usize,
    rounds: u64,
    /// Which of the rows are given, once known.
    wanted: Option<Range<usize>>,
    complete: bool,
    next: usize,
}

impl RecursiveState {
    /// Before the first row; the rows are kept unless they depend on outer rows.
    pub fn reset(&mut self, correlated: bool) {
        match &self.wanted {
            Some(wanted) if self.complete && !correlated => self.next = wanted.start,
            _ => *self = RecursiveState::default(),
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
        while !self.complete {
            self.advance(cx, plan)?;
        }
        let end = self.wanted.as_ref().map_or(usize::MAX, |wanted| wanted.end).min(self.rows.len());
        next_passing(cx, self.rows.part(0..end)?, &mut self.next, slot, filter)
    }

    /// One more row of the part that is running, or the next part.
    fn advance(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Recursion) -> SqlAttempt<()> {
        let wanted = match &self.wanted {
            Some(wanted) => wanted.end,
            None => {
                let wanted = wanted_rows(plan.limit.as_ref(), &mut cx.lend())?;
                self.next = wanted.start;
                self.wanted.insert(wanted).end
            }
        };
        let query: &Query = match self.part.checked_sub(1) {
            None => &plan.seed,
            Some(step) => plan.steps.at(step)?,
        };
        let state = self.running.get_or_insert_with(|| State::new(&query.root));
        if !self.pending {
            if !state.next(&query.root, cx)? {
                self.running = None;
                self.part += 1;
                if self.part > plan.steps.len() || self.part == 1 {
                    self.begin_round(cx, plan)?;
                }
                return Ok(());
            }
            self.pending = true;
        }
        let values = cx.evaluate(|cx| {
            let mut values = Vec::with_capacity(query.output.len());
            for ((expr, ty), name) in query.output.iter().zip(&plan.types).zip(&plan.names) {
                let value = expr.eval(cx)?;
                values.push(fitted(cx, value, &expr.ty, ty, name)?);
            }
            Ok(values)
        })?;
        self.pending = false;
        let row: KeptRow = values.into();
        if plan.distinct {
            self.key.clear();
            let key = &mut self.key;
            cx.lend().in_one_go(|cx| cx.watched(|watch| append_row_key(&row, &plan.types, key, watch)))?;
            if !self.seen.insert(&self.key) {
                return Ok(());
            }
        }
        self.bytes += Slot::Values(row.clone()).size();
        cx.session.charge(self.bytes)?;
        self.rows.push(row);
        self.complete = self.rows.len() >= wanted;
        cx.take_turns(1)
    }

    /// What the last round gave becomes the working table of the next.
    fn begin_round(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Recursion) -> SqlResult<()> {
        if self.round == self.rows.len() {
            self.complete = true;
            return Ok(());
        }
        self.rounds += 1;
        if self.rounds > cx.session.variables.cte_max_recursion_depth {
            return Err(mysql_error!(ER_CTE_MAX_RECURSION_DEPTH, self.rounds));
        }
        if cx.execution.working.len() <= plan.table {
            cx.execution.working.resize(plan.table + 1, Arc::default());
        }
        *cx.execution.working.at_mut(plan.table)? = self.rows.tail(self.round)?.into();
        (self.round, self.part) = (self.rows.len(), 1);
        Ok(())
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
