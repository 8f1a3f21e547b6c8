//! Running a statement's steps: waiting where they wait, and sending the rows of a query.

use std::time::Duration;

use palisade_base::error_catalogue::{ER_LOCK_WAIT_TIMEOUT, ER_QUERY_INTERRUPTED};
use palisade_base::{Blocked, Event, mysql_error};
use palisade_catalog::{Value, ValueRef};
use palisade_engine::Transaction;
use palisade_expr::context::view;
use palisade_expr::place::At;
use palisade_expr::session_state::{Killed, SessionState};
use palisade_expr::{Expr, Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::{Plan, Query};
use palisade_session::environment::{Awaited, Environment, WaitOutcome};
use palisade_session::profile::Profiles;
use palisade_session::sink::{ResultSink, RowNumbers, StoredRows};
use smallvec::SmallVec;

use crate::scan::ScanState;
use crate::{ExecContext, Readings, State, Waiter};

/// Lets other tasks of the worker run once, and fails if the statement is to end: it was killed, or its
/// client has gone.
pub async fn pause(session: &SessionState, host: &dyn Environment) -> SqlResult<()> {
    host.pause(session.connection_id).await;
    match session.kill.get() {
        Killed::No => Ok(()),
        Killed::Statement | Killed::Connection => Err(mysql_error!(ER_QUERY_INTERRUPTED)),
    }
}

/// One more row is changed: lets others run now and then, and fails if the statement is to end.
#[inline]
pub async fn end_row(cx: &mut ExecContext<'_, '_>) -> SqlResult<()> {
    if cx.spend()? {
        cx.show_plan();
        return pause(cx.session, cx.execution.host).await;
    }
    Ok(())
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
    cx.show_plan();
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
    let stage = begin_wait_stage(profiles, host, awaited);
    let outcome = host.wait(session.connection_id, event, awaited, limit).await;
    end_wait_stage(profiles, host, stage);
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

/// The statement waits, if that is a stage of its own. Gives the one that it was in, for [`end_wait_stage`].
#[inline]
fn begin_wait_stage(
    profiles: &mut Option<Box<Profiles>>,
    host: &dyn Environment,
    awaited: Awaited,
) -> Option<&'static str> {
    let profiles = profiles.as_mut()?;
    let name = match awaited {
        Awaited::MetadataLock => "Waiting for table metadata lock",
        Awaited::NamedLock => "User lock",
        Awaited::Time => "User sleep",
        Awaited::Others | Awaited::Machine => return None,
    };
    let before = profiles.stage()?;
    profiles.begin_stage(name, host.monotonic());
    Some(before)
}

/// A wait has ended.
#[inline]
fn end_wait_stage(
    profiles: &mut Option<Box<Profiles>>,
    host: &dyn Environment,
    before: Option<&'static str>,
) {
    if let (Some(profiles), Some(before)) = (profiles, before) {
        profiles.begin_stage(before, host.monotonic());
    }
}

/// Takes the metadata locks of the plan's tables. If one of them is redefined meanwhile, the plan is made
/// anew: that must be before the client is told of columns, which it is told once.
pub async fn use_tables(cx: &mut ExecContext<'_, '_>) -> SqlResult<()> {
    let Some(plan) = cx.execution.plan.clone() else { return Ok(()) };
    for table in &plan.tables {
        drive(cx, |cx| match cx.execution.transaction.as_mut() {
            Some(transaction) => transaction.use_table(table).map_err(Blocked::up),
            None => Ok(()),
        })
        .await?;
    }
    Ok(())
}

/// Runs a query to its end, sending its rows. Gives their number, and the number without LIMIT.
pub async fn send_rows(
    cx: &mut ExecContext<'_, '_>,
    query: &Query,
    sink: &mut dyn ResultSink,
) -> SqlResult<(u64, u64)> {
    use_tables(cx).await?;
    sink.plan_columns(&query.columns)?;
    count_tables(cx);
    let mut row = RowMaker::new(&query.output);
    let (skip, give) = match &query.counted_limit {
        Some(limit) => drive(cx, |cx| crate::limit_values(limit, &mut cx.lend())).await?,
        None => (0, cx.session.variables.sql_select_limit),
    };
    let is_read_to_its_end = query.counted_limit.is_some() || give == u64::MAX;
    let mut state = State::of(&query.root, if is_read_to_its_end { Readings::Once } else { Readings::Any });
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
            if query.counted_limit.is_none() {
                let others = row.send_ready(&mut state, cx, sink, give.saturating_sub(sent))?;
                (sent, found) = (sent + others, found + others);
            }
            if sink.wants_flush() {
                cx.show_plan();
                sink.flush().await?;
                if let Some(deadline) = sink.new_deadline() {
                    cx.state.deadline = deadline;
                }
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
pub async fn wait_or_fail(cx: &mut ExecContext<'_, '_>, blocked: Blocked<SqlError>) -> SqlResult<()> {
    let blocked = cx.lend().settle(blocked);
    match blocked {
        Blocked::Error(error) => Err(error),
        // Boxed: every step has a place for this future in its own, and few wait.
        Blocked::Wait(event) => Box::pin(wait(cx, event)).await,
    }
}

/// Counts how the query and its subqueries read their tables.
pub fn count_tables(cx: &mut ExecContext<'_, '_>) {
    for (work, tables) in cx.execution.plan.iter().flat_map(|plan| &plan.reads) {
        cx.execution.work.add(*work, *tables);
    }
}

/// Rows that are sent one by one if no more lie ready.
const FEW: usize = 4;

/// Looking for rows that pass a filter is work done twice if the sink does not take them.
const MOST_REFUSED: u32 = 16;

/// Makes result rows: what is at hand is borrowed, only the rest is computed.
#[derive(Debug, Default)]
pub struct RowMaker {
    computed: Vec<Value>,
    /// Everything is at hand in every row.
    plain: bool,
    /// The rows are columns of what is in this slot, of which some are of TIMESTAMP if not everything is at
    /// hand.
    columns: Option<(usize, SmallVec<[usize; 16]>)>,
    /// Rows of a batch that pass a filter.
    passing: Vec<usize>,
    /// How often such rows were offered in vain, one time behind the other.
    refused: u32,
}

impl RowMaker {
    /// For rows of these values.
    pub fn new(output: &[Expr]) -> RowMaker {
        let plain = output.iter().all(Expr::is_at_hand);
        RowMaker { plain, columns: columns_of_one_slot(output), ..RowMaker::default() }
    }

    /// Computes what cannot be borrowed; may wait.
    #[inline]
    pub fn compute(&mut self, output: &[Expr], cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        if self.plain || self.values(cx)?.is_some() {
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
        if let Some((slot, columns)) = self.columns.as_ref().filter(|_| self.plain)
            && let Some((table, row, _)) = cx.state.frame.slots.at(*slot)?.stored()
        {
            return sink.stored_row(&view(table, row)?, columns);
        }
        match self.values(cx)? {
            Some((values, columns)) => send_columns(values, columns, cx, sink),
            None => self.send_values(output, cx, sink),
        }
    }

    /// The row that is sent, and which of its columns, if it is one of values that are sent as they are.
    #[inline]
    fn values<'c>(&'c self, cx: &'c ExecContext<'_, '_>) -> SqlResult<Option<(&'c [Value], &'c [usize])>> {
        let Some((slot, columns)) = &self.columns else { return Ok(None) };
        match cx.state.frame.slots.at(*slot)? {
            Slot::Values(values) => Ok(Some((values, columns))),
            _ => Ok(None),
        }
    }

    /// Sends rows that lie ready in the batch behind the one that was sent, `most` at most, and makes the
    /// last of them the current one. Gives how many. Each row of the state is one to be sent.
    #[inline]
    fn send_ready(
        &mut self,
        state: &mut State,
        cx: &mut ExecContext<'_, '_>,
        sink: &mut dyn ResultSink,
        most: u64,
    ) -> SqlResult<u64> {
        let (State::Scan(scan), Some((slot, columns)), true) = (state, &self.columns, self.plain) else {
            return Ok(0);
        };
        let numbers = scan.ready(cx, *slot, most);
        if numbers.is_empty() {
            if self.refused == MOST_REFUSED {
                return Ok(0);
            }
            let end = scan.ready_screened(cx, *slot, most, &mut self.passing);
            let sent = send_passing(scan, (*slot, columns), (&self.passing, end), cx, sink)?;
            let is_refused = sent == 0 && !self.passing.is_empty();
            self.refused = if is_refused { self.refused + 1 } else { 0 };
            return Ok(sent);
        }
        if numbers.len() < FEW {
            return Ok(0);
        }
        let Slot::Batch { table, batch, .. } = cx.state.frame.slots.at(*slot)? else { return Ok(0) };
        let (table, numbers) = (table.descriptor(), RowNumbers::Range(numbers));
        let sent = sink.stored_rows(StoredRows { table, batch, numbers, columns })?;
        scan.pass(cx, sent);
        Ok(sent as u64)
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

/// Sends columns of a row of values.
fn send_columns(
    values: &[Value],
    columns: &[usize],
    cx: &ExecContext<'_, '_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let zone = &cx.session.variables.time_zone;
    let mut sent = SmallVec::<[ValueRef<'_>; 64]>::with_capacity(columns.len());
    sent.extend(columns.iter().map(|column| match values.get(*column) {
        Some(Value::Timestamp(moment)) => ValueRef::DateTime(moment.to_datetime(zone)),
        value => value.map_or(ValueRef::Null, Value::as_ref),
    }));
    sink.row(&sent)
}

/// Sends those of the rows before `end` that pass the filter, as [`RowMaker::send_ready`] does.
#[inline(never)]
fn send_passing(
    scan: &mut ScanState,
    (slot, columns): (usize, &[usize]),
    (passing, end): (&[usize], usize),
    cx: &mut ExecContext<'_, '_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<u64> {
    let Slot::Batch { table, batch, position } = cx.state.frame.slots.at(slot)? else { return Ok(0) };
    let (table, numbers) = (table.descriptor(), RowNumbers::Some(passing));
    let sent = match passing.is_empty() {
        true => 0,
        false => sink.stored_rows(StoredRows { table, batch, numbers, columns })?,
    };
    // Behind the last one that was sent it goes on; if all were, behind those that fail, too.
    let next = match sent.checked_sub(1).and_then(|last| passing.get(last)) {
        _ if sent == passing.len() => end,
        Some(last) => last + 1,
        None => return Ok(0),
    };
    let rows = next.saturating_sub(*position + 1);
    scan.pass(cx, rows);
    Ok(sent as u64)
}

/// The columns that `output` consists of, if they are all of one slot and go out as they are, or in the
/// session's zone.
fn columns_of_one_slot(output: &[Expr]) -> Option<(usize, SmallVec<[usize; 16]>)> {
    let (slot, _) = output.first()?.as_sent_column()?;
    let columns = output.iter().map(|expr| expr.as_sent_column().filter(|(of, _)| *of == slot));
    let columns = columns.map(|place| place.map(|(_, column)| column)).collect::<Option<_>>()?;
    Some((slot, columns))
}
