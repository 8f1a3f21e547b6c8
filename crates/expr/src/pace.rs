//! How long an evaluation may compute at a stretch.
//!
//! A function over a long value may take seconds, and nothing outside of it can interrupt it. So the loops of
//! all functions count their work in *units*, each about a nanosecond: a byte that is looked at, a few for an
//! element that is made. What is counted is looked at after every [`LOOK`] units:
//!
//! ```text
//! checkpoint(units) ── fewer than LOOK since the last look ──────────────► goes on (a subtraction)
//!        │
//!        ├─ killed (1317), max_execution_time is over (3024),
//!        │  it holds too much memory (1037 and others: `crate::memory`) ──► the statement fails
//!        ├─ LONG units at a stretch, and the thread serves other sessions ► the evaluation gives way
//!        └─ else ────────────────────────────────────────────────────────► goes on
//! ```
//!
//! What the catalog does with long values - conversion, comparison, matching - asks a
//! [`Watch`] before each piece of them, which is a checkpoint here
//! ([`Context::watched`]).
//!
//! To give way is to unwind with [`Blocked::Wait`] of a completed event: the server then calls the whole step
//! again on a thread that serves no other session
//! ([`Services::may_compute`](crate::services::Services::may_compute)). What the first evaluation did is
//! computed again, but not done again: effects are noted ([`super::effects`]), and its warnings are taken
//! back.
//!
//! Functions give plain results, so the unwinding travels as an error with a mark in the context, and becomes
//! a wait where the evaluator calls a function ([`Context::attempt`]), at the latest at the end of the step.

use palisade_base::error_catalogue::{ER_QUERY_INTERRUPTED, ER_WARN_ALLOWED_PACKET_OVERFLOWED};
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::{Value, Watch};

use super::Context;
use super::context::StatementState;
use crate::{SqlAttempt, SqlError, SqlResult};

/// Units after which the flags are looked at: about 60 microseconds.
pub const LOOK: usize = 1 << 16;
/// Units after which an evaluation asks whether it may go on: about a millisecond.
pub const LONG: usize = 1 << 20;
/// What a byte of an argument counts as: few functions need more than some nanoseconds for one, and those
/// count themselves.
const UNITS_A_BYTE: usize = 8;
/// What an evaluation has computed since it last let others run.
#[derive(Debug, Default)]
pub struct Pace {
    /// Units since the last look.
    since_look: usize,
    /// Units since the statement last yielded.
    stretch: usize,
    /// The error that is on its way up means that the evaluation gives way.
    gives_way: bool,
    /// The error that is on its way up ends the statement: it is no answer of the work that was under way.
    ends_statement: bool,
    /// What is done must not give way.
    in_one_go: bool,
}

impl Pace {
    /// The statement has let other sessions run.
    pub(super) fn rested(&mut self) {
        self.stretch = 0;
    }
}

impl StatementState {
    /// What is done from now on does not give way. Gives what [`end_one_go`](Self::end_one_go) is to be told.
    #[inline]
    pub fn begin_one_go(&mut self) -> bool {
        std::mem::replace(&mut self.pace.in_one_go, true)
    }

    /// That is done.
    #[inline]
    pub fn end_one_go(&mut self, before: bool) {
        self.pace.in_one_go = before;
    }
}

impl Context<'_> {
    /// A loop is about to do work of so many units. Fails if the statement is to end, and where the
    /// evaluation has to give way.
    #[inline]
    pub fn checkpoint(&mut self, units: usize) -> SqlResult<()> {
        self.state.pace.since_look = self.state.pace.since_look.saturating_add(units);
        if self.state.pace.since_look < LOOK { Ok(()) } else { self.look() }
    }

    #[cold]
    fn look(&mut self) -> SqlResult<()> {
        let units = std::mem::take(&mut self.state.pace.since_look);
        self.state.pace.stretch = self.state.pace.stretch.saturating_add(units);
        let may_go_on = self.session.check_statement(self.host).and_then(|()| self.check_deadline());
        self.state.pace.ends_statement = may_go_on.is_err();
        may_go_on?;
        if self.state.pace.stretch < LONG {
            return Ok(());
        }
        self.state.pace.stretch = 0;
        if self.host.may_compute(self.session.connection_id) {
            return Ok(());
        }
        if self.state.pace.in_one_go {
            self.state.look_at_next_row();
            return Ok(());
        }
        self.state.pace.gives_way = true;
        Err(mysql_error!(ER_QUERY_INTERRUPTED))
    }

    /// Does work over long values that is [watched](palisade_catalog::watch): its pieces are counted.
    pub fn watched<T>(&mut self, work: impl FnOnce(Watch<'_>) -> T) -> SqlResult<T> {
        let mut failure = None;
        let result = work(&mut |bytes| {
            // Work of several parts may ask again in the next part.
            if failure.is_none() {
                failure = self.checkpoint(bytes.saturating_mul(UNITS_A_BYTE)).err();
            }
            failure.is_none()
        });
        failure.map_or(Ok(result), Err)
    }

    /// Does work that cannot begin again, as it has consumed a row or changes the state of an operator:
    /// within it checkpoints fail if the statement is to end, and do not give way. If it takes long, the
    /// operator's next turn is over, and the statement goes on on another thread.
    #[inline]
    pub fn in_one_go<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.state.begin_one_go();
        let result = work(self);
        self.state.end_one_go(before);
        result
    }

    /// The result of a function as the evaluator hands it on: an error that means that the evaluation gives
    /// way is a wait.
    #[inline]
    pub fn attempt<T>(&mut self, result: SqlResult<T>) -> SqlAttempt<T> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(self.blocked(error)),
        }
    }

    /// The result of work whose errors its caller answers itself. What ends the statement is none of these,
    /// nor what means that the evaluation gives way.
    pub fn own_result<T>(&mut self, result: SqlResult<T>) -> SqlAttempt<SqlResult<T>> {
        match result {
            Err(error) if self.state.pace.gives_way || self.state.pace.ends_statement => {
                Err(self.blocked(error))
            }
            result => Ok(result),
        }
    }

    /// Why a step did not come to its end.
    pub fn settle(&mut self, blocked: Blocked<SqlError>) -> Blocked<SqlError> {
        match blocked {
            Blocked::Error(error) => self.blocked(error),
            wait @ Blocked::Wait(_) => wait,
        }
    }

    #[cold]
    fn blocked(&mut self, error: SqlError) -> Blocked<SqlError> {
        if std::mem::take(&mut self.state.pace.gives_way) {
            Blocked::yielding()
        } else {
            Blocked::Error(error)
        }
    }

    /// What ends a step: see [`attempt`](Self::attempt).
    #[inline]
    pub(super) fn settle_step<T>(&mut self, result: SqlAttempt<T>) -> SqlAttempt<T> {
        match result {
            Err(blocked) => Err(self.settle(blocked)),
            result => result,
        }
    }

    /// Calls a function whose arguments are `values`: their bytes are work.
    #[inline]
    pub(super) fn call(
        &mut self,
        name: &str,
        values: &[Value],
        evaluate: impl FnOnce(&mut Self) -> SqlResult<Value>,
    ) -> SqlAttempt<Value> {
        let bytes = values.iter().fold(0, |bytes, value| match value {
            Value::Bytes(text) => bytes + text.len(),
            _ => bytes,
        });
        let result = if bytes < LOOK { evaluate(self) } else { self.call_long(bytes, evaluate) };
        let result = match result {
            Ok(Value::Bytes(text)) if text.len() > self.packet_limit() => Ok(self.too_large(name)),
            result => result,
        };
        self.attempt(result)
    }

    #[cold]
    fn call_long(
        &mut self,
        bytes: usize,
        evaluate: impl FnOnce(&mut Self) -> SqlResult<Value>,
    ) -> SqlResult<Value> {
        self.checkpoint(bytes.saturating_mul(UNITS_A_BYTE))?;
        evaluate(self)
    }

    /// `max_allowed_packet`, in bytes: what a function makes is not longer.
    pub fn packet_limit(&self) -> usize {
        usize::try_from(self.session.variables.max_allowed_packet).unwrap_or(usize::MAX)
    }

    /// NULL with warning 1301, which names the function: the result would be longer than
    /// `max_allowed_packet`.
    pub fn too_large(&mut self, name: &str) -> Value {
        let limit = self.session.variables.max_allowed_packet;
        self.session.warnings.warn(mysql_error!(ER_WARN_ALLOWED_PACKET_OVERFLOWED, name, limit));
        Value::Null
    }

    /// Whether a result of so many bytes is too long. If it is not, making it is counted.
    pub fn exceeds(&mut self, bytes: usize) -> SqlResult<bool> {
        if bytes > self.packet_limit() {
            return Ok(true);
        }
        self.checkpoint(bytes).map(|()| false)
    }
}
