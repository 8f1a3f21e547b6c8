//! What an evaluation sees: the session, the parameters, and the rows that are current.
//!
//! All tables of a statement, those of its subqueries included, have a [`Slot`] each in one [`Frame`]. An operator
//! that reads a table places its row there; expressions find it by slot and column. So a join copies nothing, and a
//! correlated subquery sees outer rows like its own.

use std::cell::OnceCell;
use std::sync::Arc;

use palisade_base::error_catalogue::{ER_QUERY_TIMEOUT, ER_UNKNOWN_ERROR};
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::row::RowError;
use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::{DateTime, RowView, Timestamp, Value, ValueRef, Zone};
use palisade_engine::{Engine, RowBatch, RowBuf, RowStamp, Table, Transaction};

use super::effects::Effects;
use super::pace::Pace;
use crate::exec::SubqueryState;
use crate::mode::SqlMode;
use crate::named_locks::Wait;
use crate::place::At;
use crate::plan::Plan;
use crate::session::Killed;
use crate::{Awaited, Host, Session, SqlAttempt, SqlError, SqlResult};

/// The current row of one table.
#[derive(Debug, Clone, Default)]
pub enum Slot {
    /// No row: every column is NULL (the inner side of an outer join without a match).
    #[default]
    Null,
    /// A row of a batch.
    Batch {
        /// Its table.
        table: Arc<Table>,
        /// The rows read together.
        batch: RowBatch,
        /// Which of them.
        position: usize,
    },
    /// A row on its own.
    Row {
        /// Its table.
        table: Arc<Table>,
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its version.
        stamp: RowStamp,
    },
    /// A row read by its key.
    Point {
        /// Its table.
        table: Arc<Table>,
        /// The row.
        row: RowBuf,
    },
    /// Computed values: groups, derived tables, virtual tables.
    Values(Arc<[Value]>),
}

impl Slot {
    /// The value of a column.
    #[inline]
    pub fn value(&self, column: usize) -> SqlResult<ValueRef<'_>> {
        match self {
            Slot::Null => Ok(ValueRef::Null),
            Slot::Values(values) => Ok(values.get(column).map_or(ValueRef::Null, Value::as_ref)),
            Slot::Batch { table, batch, position } => {
                Ok(view(table, batch.row(*position).row)?.column(column))
            }
            Slot::Row { table, bytes, .. } => Ok(view(table, bytes)?.column(column)),
            Slot::Point { table, row } => Ok(view(table, row.row())?.column(column)),
        }
    }

    /// The bytes and the version of a stored row.
    #[inline]
    pub fn stored(&self) -> Option<(&Arc<Table>, &[u8], RowStamp)> {
        match self {
            Slot::Batch { table, batch, position } => {
                let row = batch.row(*position);
                Some((table, row.row, row.stamp))
            }
            Slot::Row { table, bytes, stamp } => Some((table, bytes, *stamp)),
            Slot::Point { table, row } => Some((table, row.row(), row.stamp())),
            Slot::Null | Slot::Values(_) => None,
        }
    }

    /// Makes a copy of a stored row current; where the slot holds a copy already, into its place.
    pub fn set_row(&mut self, table: &Arc<Table>, row: &[u8], stamp: RowStamp) {
        match self {
            Slot::Row { table: known, bytes, stamp: place } if Arc::ptr_eq(known, table) => {
                bytes.clear();
                bytes.extend_from_slice(row);
                *place = stamp;
            }
            slot => *slot = Slot::Row { table: table.clone(), bytes: row.to_vec(), stamp },
        }
    }

    /// Whether reading the row has locked it, and it was not locked before.
    pub fn is_newly_locked(&self) -> bool {
        match self {
            Slot::Batch { batch, position, .. } => batch.row(*position).newly_locked,
            Slot::Point { row, .. } => row.is_newly_locked(),
            Slot::Row { .. } | Slot::Null | Slot::Values(_) => false,
        }
    }

    /// The current row, to be kept while the slot moves on.
    pub fn keep(&self) -> Slot {
        match self.stored() {
            Some((table, bytes, stamp)) => Slot::Row { table: table.clone(), bytes: bytes.to_vec(), stamp },
            None => self.clone(),
        }
    }

    /// Makes some of its columns NULL.
    pub fn clear_columns(&mut self, columns: impl Iterator<Item = usize>) -> SqlResult<()> {
        let mut columns = columns.peekable();
        if columns.peek().is_none() {
            return Ok(());
        }
        let width = match self {
            Slot::Null => return Ok(()),
            Slot::Values(values) => values.len(),
            Slot::Batch { table, .. } | Slot::Row { table, .. } | Slot::Point { table, .. } => {
                table.columns.len()
            }
        };
        let mut values = Vec::with_capacity(width);
        for column in 0..width {
            values.push(self.value(column)?.to_owned());
        }
        for column in columns {
            *values.at_mut(column)? = Value::Null;
        }
        *self = Slot::Values(values.into());
        Ok(())
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        64 + match self {
            Slot::Row { bytes, .. } => bytes.len(),
            Slot::Values(values) => values_size(values),
            _ => 0,
        }
    }
}

/// About how many bytes values hold.
pub fn values_size(values: &[Value]) -> usize {
    values.iter().map(|value| 40 + value_bytes(value)).sum()
}

/// Bytes that a value holds beside itself.
pub fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

/// A row as a view; damaged bytes are an error.
#[inline]
pub fn view<'a>(table: &'a Arc<Table>, bytes: &'a [u8]) -> SqlResult<RowView<'a>> {
    match RowView::new(table.descriptor(), bytes) {
        Ok(view) => Ok(view),
        Err(error) => Err(damaged(table, error)),
    }
}

#[cold]
fn damaged(table: &Table, error: RowError) -> SqlError {
    SqlError::with_message(&ER_UNKNOWN_ERROR, format!("Table '{}.{}': {error}", table.schema, table.name))
}

/// The current rows of all tables of a statement.
#[derive(Debug, Default)]
pub struct Frame {
    /// One per table.
    pub slots: Vec<Slot>,
}

impl Frame {
    /// The current rows of these slots, to be kept while the slots move on.
    pub fn keep<'s, Kept: FromIterator<Slot>>(
        &self,
        slots: impl IntoIterator<Item = &'s usize>,
    ) -> SqlResult<Kept> {
        slots.into_iter().map(|slot| Ok(self.slots.at(*slot)?.keep())).collect()
    }
}

/// A SLEEP() that has begun.
#[derive(Debug, Clone, Copy)]
pub struct Sleep {
    /// Address of the call: there may be others among its operands.
    pub place: usize,
    /// Until when, microseconds since 1970.
    pub until: i64,
}

/// A GET_LOCK() that waits.
#[derive(Debug)]
pub struct NamedWait {
    /// Address of the call: there may be others among its operands.
    pub place: usize,
    /// Its place in the queue.
    pub wait: Wait,
    /// Until when, microseconds since 1970.
    pub until: i64,
}

/// What an evaluation sees.
pub struct Context<'a> {
    /// The session.
    pub session: &'a mut Session,
    /// The server.
    pub host: &'a dyn Host,
    /// The engine.
    pub engine: &'a Arc<Engine>,
    /// Values of the `?`.
    pub parameters: &'a [Value],
    /// The statement's plan, with the plans of its subqueries.
    pub plan: Option<Arc<Plan>>,
    /// Current rows.
    pub frame: Frame,
    /// States of the subqueries in expressions, by number.
    pub subqueries: Vec<SubqueryState>,
    /// Working tables of recursive queries, by number: the rows of the last round.
    pub working: Vec<Arc<[crate::exec::KeptRow]>>,
    /// IN lists that have been made to keys.
    pub(crate) lists: super::membership::Lists,
    /// Conversion problems are errors: a strict statement changes data.
    pub strict: bool,
    /// Rows may still be handled before the statement yields to other sessions.
    pub budget: u32,
    /// The SLEEP() that the statement is in.
    pub sleep: Option<Sleep>,
    /// What GET_LOCK() waits for.
    pub named_wait: Option<NamedWait>,
    /// What the steps that wait have done.
    pub(super) effects: Effects,
    /// When a SELECT is interrupted (`max_execution_time`), microseconds since 1970.
    pub deadline: Option<i64>,
    /// Generators of RAND(seed), by address of their expression.
    pub seeded: Vec<(usize, (u64, u64))>,
    /// How long it has computed at a stretch.
    pub(super) pace: Pace,
    now_micros: i64,
    /// `now_micros` in the session's zone, once somebody has asked: most statements never do.
    now: OnceCell<DateTime>,
}

/// Rows handled between yields: about a millisecond's worth.
pub const BUDGET: u32 = 1024;

impl<'a> Context<'a> {
    /// The context of a statement that begins now.
    pub fn new(
        session: &'a mut Session,
        host: &'a dyn Host,
        engine: &'a Arc<Engine>,
        parameters: &'a [Value],
        plan: Option<Arc<Plan>>,
    ) -> Self {
        let now_micros = session.variables.timestamp_micros.unwrap_or_else(|| host.unix_micros());
        let slots = plan.as_ref().map_or(0, |plan| plan.slots);
        let subqueries = plan.as_ref().map_or(0, |plan| plan.subqueries.len());
        Context {
            session,
            host,
            engine,
            parameters,
            plan,
            frame: Frame { slots: vec![Slot::Null; slots] },
            subqueries: (0..subqueries).map(|_| SubqueryState::default()).collect(),
            working: Vec::new(),
            lists: super::membership::Lists::default(),
            strict: false,
            budget: BUDGET,
            sleep: None,
            named_wait: None,
            effects: Effects::default(),
            deadline: None,
            seeded: Vec::new(),
            pace: Pace::default(),
            now_micros,
            now: OnceCell::new(),
        }
    }

    /// The session's time zone.
    pub fn zone(&self) -> &Zone {
        &self.session.variables.time_zone
    }

    /// When the statement began, in the session's zone: NOW(6).
    pub fn now(&self) -> DateTime {
        *self.now.get_or_init(|| Timestamp(self.now_micros).to_datetime(self.zone()))
    }

    /// When the statement began, microseconds since 1970.
    pub fn now_micros(&self) -> i64 {
        self.now_micros
    }

    /// The open transaction.
    #[expect(clippy::expect_used, reason = "`run` begins one before it runs a statement that touches rows")]
    pub fn transaction(&mut self) -> &mut Transaction {
        self.session.transaction.as_mut().expect("a statement that touches rows has a transaction")
    }

    /// `sql_mode`.
    pub fn mode(&self) -> SqlMode {
        self.session.variables.sql_mode
    }

    /// Which dates expressions read.
    pub fn reading_mode(&self) -> TemporalMode {
        let mode = self.mode();
        TemporalMode {
            no_zero_date: mode.has(SqlMode::NO_ZERO_DATE),
            no_zero_in_date: mode.has(SqlMode::NO_ZERO_IN_DATE),
            allow_invalid_dates: mode.has(SqlMode::ALLOW_INVALID_DATES),
            truncate_fractional: mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL),
        }
    }

    /// A conversion problem: an error while a strict statement changes data, else a warning.
    pub fn warn_or_fail(&mut self, error: SqlError) -> SqlResult<()> {
        if self.strict {
            return Err(error);
        }
        self.session.warnings.warn(error);
        Ok(())
    }

    /// 3024 if the statement has run for too long.
    pub fn check_deadline(&self) -> SqlResult<()> {
        match self.deadline {
            Some(deadline) if self.host.unix_micros() >= deadline => Err(mysql_error!(ER_QUERY_TIMEOUT)),
            _ => Ok(()),
        }
    }

    /// Whether the statement is to end: it was killed, or has run for too long.
    pub fn is_interrupted(&self) -> bool {
        self.session.kill.get() != Killed::No || self.check_deadline().is_err()
    }

    /// What the statement waits for by a time of its own, and until when.
    pub(crate) fn own_wait(&self) -> Option<(Awaited, i64)> {
        let sleep = self.sleep.map(|sleep| (Awaited::Time, sleep.until));
        sleep.or_else(|| self.named_wait.as_ref().map(|named| (Awaited::NamedLock, named.until)))
    }

    /// The next row that is handled is one at which interruptions are looked for.
    pub fn look_at_next_row(&mut self) {
        self.budget = 1;
    }

    /// One more row was handled: fails if the statement was killed. True if it should yield.
    pub fn spend(&mut self) -> SqlResult<bool> {
        self.spend_many(1)
    }

    /// Work was done that takes as long as handling so many rows: fails if the statement was killed. True if
    /// it should yield.
    #[inline]
    pub fn spend_many(&mut self, rows: u32) -> SqlResult<bool> {
        if self.budget > rows {
            self.budget -= rows;
            return Ok(false);
        }
        self.budget = BUDGET;
        self.pace.rested();
        self.session.check_statement(self.host)?;
        self.check_deadline()?;
        Ok(true)
    }

    /// The same for operators, which yield by asking to wait: they are called again, and go on where they
    /// were.
    #[inline]
    pub fn take_turns(&mut self, rows: u32) -> SqlAttempt<()> {
        if self.spend_many(rows)? { Err(Blocked::yielding()) } else { Ok(()) }
    }
}
