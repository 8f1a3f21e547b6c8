//! Running a statement's steps: waiting where they wait, and ending its transaction.

use std::time::Duration;

use palisade_base::error_catalogue::{
    ER_CHECKREAD, ER_LOCK_DEADLOCK, ER_LOCK_TABLE_FULL, ER_LOCK_WAIT_TIMEOUT, ER_QUERY_INTERRUPTED,
};
pub use palisade_base::event::yield_now;
use palisade_base::{Blocked, Event, mysql_error};
use palisade_catalog::ValueRef;
use palisade_engine::{Savepoint, Transaction};
use palisade_expr::Expr;
use palisade_expr::context::view;
use palisade_expr::place::At;
use smallvec::SmallVec;

use crate::exec::{ExecContext, State};
use crate::plan::{Plan, Query};
use crate::profile;
use crate::session::{Killed, NextTransaction, SessionState};
use crate::sink::ResultSink;
use crate::sql::Sql;
use crate::work::{Work, WorkDone};
use crate::{Awaited, Host, Session, SqlAttempt, SqlError, SqlResult, WaitOutcome};

/// Lets other tasks of the worker run once, and fails if the statement is to end: it was killed, or its
/// client has gone.
pub(crate) async fn pause(session: &SessionState, host: &dyn Host) -> SqlResult<()> {
    host.pause(session.connection_id).await;
    match session.kill.get() {
        Killed::No => Ok(()),
        Killed::Statement | Killed::Connection => Err(mysql_error!(ER_QUERY_INTERRUPTED)),
    }
}

/// One more row is changed: lets others run now and then, and fails if the statement is to end.
#[inline]
pub(crate) async fn end_row(cx: &mut ExecContext<'_, '_>) -> SqlResult<()> {
    if cx.spend()? { pause(cx.session, cx.execution.host).await } else { Ok(()) }
}

/// Calls `step` until it no longer asks to wait.
pub async fn drive<T>(
    cx: &mut ExecContext<'_, '_>,
    mut step: impl FnMut(&mut ExecContext<'_, '_>) -> SqlAttempt<T>,
) -> SqlResult<T> {
    loop {
        match cx.step(&mut step) {
            Ok(value) => return Ok(value),
            Err(blocked) => wait_or_fail(cx, blocked).await?,
        }
    }
}

/// Converts the constants of a plan that [are converted before the first row](palisade_expr::beforehand).
pub async fn convert_beforehand(cx: &mut ExecContext<'_, '_>, plan: &Plan) -> SqlResult<()> {
    match plan.beforehand.as_slice() {
        [] => Ok(()),
        constants => drive(cx, |cx| cx.lend().convert_beforehand(constants)).await,
    }
}

/// Waits for an event as a statement does: for a row lock at most `innodb_lock_wait_timeout`, for a metadata
/// lock at most `lock_wait_timeout`, for the machine as long as it takes; unless it is killed. A statement
/// that sleeps is only woken when it is to end: SLEEP() itself says what comes of that. So is one that waits
/// in GET_LOCK() when its time is up.
pub async fn wait(cx: &mut ExecContext<'_, '_>, event: Event) -> SqlResult<()> {
    let asleep = cx.state.sleep.is_some();
    let waited = wait_with_deadline(cx, event).await;
    match waited {
        Err(_) if asleep && cx.session.kill.get() != Killed::Connection && cx.lend().is_interrupted() => {
            Ok(())
        }
        waited => waited,
    }
}

async fn wait_with_deadline(cx: &mut ExecContext<'_, '_>, event: Event) -> SqlResult<()> {
    let Some(deadline) = cx.state.deadline else {
        let until = cx.own_wait();
        return wait_for(cx.waiter(), event, until).await;
    };
    // A wait for a lock may end earlier by a limit of its own.
    let awaits_row = cx.execution.transaction.as_ref().is_some_and(Transaction::awaits_row_lock);
    let patience = match awaits_row {
        true => cx.session.variables.lock_wait_timeout,
        false => cx.session.variables.metadata_lock_wait_timeout,
    };
    let patience = patience.as_micros() as i64;
    let sooner = deadline < cx.execution.host.unix_micros().saturating_add(patience);
    let until = match cx.own_wait() {
        Some((awaited, until)) => Some((awaited, until.min(deadline))),
        None => sooner.then_some((Awaited::Others, deadline)),
    };
    wait_for(cx.waiter(), event, until).await?;
    let checked = cx.lend().check_deadline();
    if checked.is_err()
        && let Some(transaction) = &mut *cx.execution.transaction
    {
        transaction.cancel_wait();
    }
    checked
}

/// What of a session a wait touches.
pub struct Waiter<'a> {
    pub(crate) session: &'a SessionState,
    pub(crate) host: &'a dyn Host,
    pub(crate) transaction: &'a mut Option<Transaction>,
    pub(crate) work: &'a mut WorkDone,
    pub(crate) profiles: &'a mut Option<Box<profile::Profiles>>,
}

impl<'a> Waiter<'a> {
    /// A session between two statements, or one whose statement has no [context](ExecContext).
    pub fn of(session: &'a mut Session, host: &'a dyn Host) -> Self {
        let Session { state, transaction, work, profiles, .. } = session;
        Waiter { session: state, host, transaction, work, profiles }
    }
}

/// [`wait`] without a context; `until` says what for and until when, if there is a time at which it ends
/// without an error.
pub async fn wait_for(waiter: Waiter<'_>, event: Event, until: Option<(Awaited, i64)>) -> SqlResult<()> {
    let Waiter { session, host, transaction, work, profiles } = waiter;
    if event.is_complete() {
        return pause(session, host).await;
    }
    let (row_lock, awaits_table) = match transaction {
        Some(transaction) => (transaction.begin_row_lock_wait(), transaction.takes_metadata_wait()),
        None => (None, false),
    };
    let limit = match until {
        Some((_, until)) => {
            Some(Duration::from_micros(u64::try_from(until - host.unix_micros()).unwrap_or(0)))
        }
        None if awaits_table => Some(session.variables.metadata_lock_wait_timeout),
        None if row_lock.is_some() => Some(session.variables.lock_wait_timeout),
        // However long the disk takes.
        None => None,
    };
    // What has a time to end by sleeps, waits for a name, or is a SELECT: nobody misses it.
    let awaited = match until {
        Some((awaited, _)) => awaited,
        None if awaits_table => Awaited::MetadataLock,
        None if row_lock.is_some() => Awaited::Others,
        None => Awaited::Machine,
    };
    let begun = (row_lock.is_some() || awaits_table).then(|| host.unix_micros());
    let stage = profile::begin_wait(profiles, host, awaited);
    let outcome = host.wait(session.connection_id, event, awaited, limit).await;
    profile::end_wait(profiles, host, stage);
    if let Some(begun) = begun {
        let waited = host.unix_micros().saturating_sub(begun);
        work.lock_micros += u64::try_from(waited).unwrap_or(0);
    }
    match outcome {
        WaitOutcome::Happened => Ok(()),
        WaitOutcome::TimedOut if until.is_some() => Ok(()),
        outcome => {
            if let Some(transaction) = transaction {
                transaction.cancel_wait();
            }
            if outcome == WaitOutcome::Killed {
                return Err(mysql_error!(ER_QUERY_INTERRUPTED));
            }
            if let Some(wait) = row_lock {
                wait.time_out();
            }
            Err(mysql_error!(ER_LOCK_WAIT_TIMEOUT))
        }
    }
}

impl Sql {
    /// Opens the transaction a statement runs in, if none is open, and marks the point to go back to if it
    /// fails. An error if the session works in an XA transaction that takes no statements.
    pub fn begin_statement(&self, session: &mut Session) -> SqlResult<Savepoint> {
        session.check_branch()?;
        if !session.active {
            let (isolation, access) = session.characteristics_to_come();
            session.next_transaction = NextTransaction::default();
            let is_kept_open = !session.state.variables.autocommit;
            let transaction = session.start_transaction(self.engine(), isolation, access);
            if is_kept_open {
                transaction.note_begin();
            }
            session.in_transaction = is_kept_open;
        }
        let transaction =
            session.transaction.as_mut().ok_or_else(|| SqlError::internal("it was just begun"))?;
        transaction
            .note_checks(session.state.variables.unique_checks, session.state.variables.foreign_key_checks);
        transaction.set_single_statement(!session.in_transaction);
        transaction.set_snapshot_isolation(session.state.variables.snapshot_isolation);
        Ok(transaction.start_statement())
    }

    /// Holds up a statement that changes rows if purge cannot follow.
    pub(crate) async fn wait_for_purge(&self, session: &Session) -> SqlResult<()> {
        let delay = self.engine().purge_delay();
        if delay.is_zero() {
            return Ok(());
        }
        match self.host().wait(session.state.connection_id, Event::new(), Awaited::Machine, Some(delay)).await
        {
            WaitOutcome::Killed => Err(mysql_error!(ER_QUERY_INTERRUPTED)),
            WaitOutcome::Happened | WaitOutcome::TimedOut => Ok(()),
        }
    }

    /// Ends a statement: commits what is not part of a larger transaction; on error goes back to where it
    /// began.
    pub async fn end_statement(
        &self,
        session: &mut Session,
        savepoint: Savepoint,
        error: Option<&SqlError>,
    ) -> SqlResult<()> {
        session.reach_end(&**self.host());
        match error {
            None if session.in_transaction => {
                session.work.add(Work::HandlerCommit, 1);
                session.transaction.iter_mut().for_each(Transaction::end_statement);
                Ok(())
            }
            None => self.commit(session).await,
            Some(error) => {
                let ends_all = match error.number() {
                    number if number == ER_LOCK_DEADLOCK.number => true,
                    // Nothing less gives the locks back.
                    number if number == ER_LOCK_TABLE_FULL.number => true,
                    // The snapshot is too old to build upon: only a new transaction gets on.
                    number if number == ER_CHECKREAD.number => session.state.variables.snapshot_isolation,
                    number if number == ER_LOCK_WAIT_TIMEOUT.number => {
                        session.state.variables.rollback_on_timeout
                    }
                    _ => false,
                };
                if ends_all || !session.in_transaction {
                    session.note_rollback(error);
                    return self.rollback(session).await;
                }
                session.work.add(Work::HandlerRollback, 1);
                let undone = self.roll_back_to(session, savepoint).await;
                session.transaction.iter_mut().for_each(Transaction::end_statement);
                undone
            }
        }
    }

    /// Undoes what the open transaction has done since `savepoint`; all of it, if that fails: because the
    /// locks that this leaves are too many, or half way, where no session may go on from.
    pub(crate) async fn roll_back_to(&self, session: &mut Session, savepoint: Savepoint) -> SqlResult<()> {
        let Some(transaction) = &mut session.transaction else { return Ok(()) };
        let undone = palisade_base::event::retry(|| transaction.rollback_to(savepoint)).await;
        let Err(error) = undone.map_err(SqlError::from) else { return Ok(()) };
        session.note_rollback(&error);
        // Why the first attempt failed is what the client is told.
        let _ = self.rollback(session).await;
        Err(error)
    }

    /// COMMIT, explicit or not: refused in an XA transaction. A commit that fails becomes a rollback.
    pub async fn commit(&self, session: &mut Session) -> SqlResult<()> {
        session.refuse_in_branch()?;
        if session.active && session.transaction.as_ref().is_some_and(Transaction::has_changes) {
            // The server may have become read only since the transaction changed something.
            let allowed = self.host().check_read_only(&session.state);
            if let Err(denied) = allowed {
                self.rollback(session).await?;
                return Err(denied);
            }
        }
        if !session.leave_transaction() {
            return Ok(());
        }
        let Some(transaction) = &mut session.transaction else { return Ok(()) };
        session.work.add(Work::HandlerCommit, 1);
        let host = &**self.host();
        if let Some(profiles) = &mut session.profiles {
            profiles.begin_stage("waiting for handler commit", host.monotonic());
        }
        match transaction.commit().await {
            Ok(()) => Ok(()),
            Err(error) => {
                let _ = undo_all(session).await;
                Err(error.into())
            }
        }
    }

    /// ROLLBACK.
    pub async fn rollback(&self, session: &mut Session) -> SqlResult<()> {
        if !session.leave_transaction() {
            return Ok(());
        }
        session.work.add(Work::HandlerRollback, 1);
        undo_all(session).await
    }
}

/// Rolls the session's transaction back. If that fails - a row that has to grow again finds the disk full -
/// it is left to the background, which tries again until it succeeds; the session goes on with another.
async fn undo_all(session: &mut Session) -> SqlResult<()> {
    let Some(transaction) = &mut session.transaction else { return Ok(()) };
    let undone = transaction.rollback().await;
    if undone.is_err() {
        session.transaction = None;
    }
    undone.map_err(SqlError::from)
}

/// Runs a query to its end, sending its rows. Gives their number, and the number without LIMIT.
pub async fn send_rows(
    cx: &mut ExecContext<'_, '_>,
    query: &Query,
    sink: &mut dyn ResultSink,
) -> SqlResult<(u64, u64)> {
    sink.plan_columns(&query.columns)?;
    count_tables(cx);
    let mut state = State::new(&query.root);
    let mut row = RowMaker::new(&query.output);
    let (skip, give) = match &query.counted_limit {
        Some(limit) => drive(cx, |cx| crate::exec::limit_values(limit, &mut cx.lend())).await?,
        None => (0, cx.session.variables.sql_select_limit),
    };
    let (mut sent, mut found) = (0, 0);
    // A row has been found and not been computed yet.
    let mut pending = false;
    loop {
        if !pending {
            match state.next(&query.root, cx) {
                Ok(true) => pending = true,
                Ok(false) => return Ok((sent, found)),
                Err(blocked) => {
                    wait_or_fail(cx, blocked).await?;
                    continue;
                }
            }
        }
        if found >= skip && sent < give {
            if let Err(blocked) = row.compute(&query.output, cx) {
                wait_or_fail(cx, blocked).await?;
                continue;
            }
            row.send(&query.output, cx, sink)?;
            sent += 1;
            if sink.wants_flush() {
                sink.flush().await?;
            }
        }
        pending = false;
        found += 1;
        if sent >= give && query.counted_limit.is_none() {
            return Ok((sent, found));
        }
    }
}

/// Waits for what a step asks to wait for.
pub(crate) async fn wait_or_fail(cx: &mut ExecContext<'_, '_>, blocked: Blocked<SqlError>) -> SqlResult<()> {
    let blocked = cx.lend().settle(blocked);
    match blocked {
        Blocked::Error(error) => Err(error),
        // Boxed: every step has a place for this future in its own, and few wait.
        Blocked::Wait(event) => Box::pin(wait(cx, event)).await,
    }
}

/// Counts how the query and its subqueries read their tables.
pub(crate) fn count_tables(cx: &mut ExecContext<'_, '_>) {
    for (work, tables) in cx.execution.plan.iter().flat_map(|plan| &plan.reads) {
        cx.execution.work.add(*work, *tables);
    }
}

/// Makes result rows: what is at hand is borrowed, only the rest is computed.
#[derive(Debug, Default)]
pub struct RowMaker {
    computed: Vec<palisade_catalog::Value>,
    /// Everything is at hand in every row.
    plain: bool,
    /// The rows are columns of what is in this slot.
    columns: Option<(usize, SmallVec<[usize; 16]>)>,
}

impl RowMaker {
    /// For rows of these values.
    pub fn new(output: &[Expr]) -> RowMaker {
        let plain = output.iter().all(Expr::is_at_hand);
        RowMaker { computed: Vec::new(), plain, columns: columns_of_one_slot(output) }
    }

    /// Computes what cannot be borrowed; may wait.
    #[inline]
    pub fn compute(&mut self, output: &[Expr], cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        if self.plain {
            return Ok(());
        }
        self.computed.clear();
        cx.evaluate(|cx| {
            for expr in output {
                if let Some(value) = expr.borrow(cx) {
                    value?;
                } else {
                    let value = expr.eval(cx)?;
                    self.computed.push(palisade_expr::convert::sent(value, expr));
                }
            }
            Ok(())
        })
    }

    /// Sends the row that was computed.
    #[inline]
    pub fn send(
        &self,
        output: &[Expr],
        cx: &ExecContext<'_, '_>,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        if let Some((slot, columns)) = &self.columns
            && let Some((table, row, _)) = cx.state.frame.slots.at(*slot)?.stored()
        {
            return sink.stored_row(&view(table, row)?, columns);
        }
        self.send_values(output, cx, sink)
    }

    fn send_values(
        &self,
        output: &[Expr],
        cx: &ExecContext<'_, '_>,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let mut values = SmallVec::<[ValueRef<'_>; 12]>::with_capacity(output.len());
        let mut computed = self.computed.iter();
        for expr in output {
            values.push(match expr.borrow_from(cx.at_hand()) {
                Some(value) => value?,
                None => computed
                    .next()
                    .ok_or_else(|| SqlError::internal("what is not at hand was computed"))?
                    .as_ref(),
            });
        }
        sink.row(&values)
    }
}

/// The columns that `output` consists of, if they are all of one slot and go out as they are.
fn columns_of_one_slot(output: &[Expr]) -> Option<(usize, SmallVec<[usize; 16]>)> {
    let (slot, _) = output.first()?.as_plain_column()?;
    let columns = output.iter().map(|expr| expr.as_plain_column().filter(|(of, _)| *of == slot));
    let columns = columns.map(|place| place.map(|(_, column)| column)).collect::<Option<_>>()?;
    Some((slot, columns))
}
