//! What an evaluation sees: the session, the parameters, and the rows that are current.
//!
//! All tables of a statement, those of its subqueries included, have a [`Slot`] each in one [`Frame`]. An
//! operator that reads a table places its row there; expressions find it by slot and column. So a join copies
//! nothing, and a correlated subquery sees outer rows like its own.

use std::cell::OnceCell;
use std::sync::Arc;

use palisade_base::error_catalogue::{ER_QUERY_TIMEOUT, ER_UNKNOWN_ERROR};
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::row::RowError;
use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::{DateTime, RowView, Timestamp, Value, ValueRef, Zone};
use palisade_engine::{RowBatch, RowBuf, RowStamp, Table};

use super::Subquery;
use super::effects::Effects;
use super::membership::Lists;
use super::pace::Pace;
use crate::mode::SqlMode;
use crate::named_locks::Wait;
use crate::place::At;
use crate::services::Services;
use crate::session_state::{Killed, SessionState};
use crate::{SqlAttempt, SqlError, SqlResult};

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

/// What the evaluations of one statement share and leave behind.
pub struct StatementState {
    /// Current rows.
    pub frame: Frame,
    /// Conversion problems are errors: a strict statement changes data.
    pub strict: bool,
    /// Rows may still be handled before the statement yields to other sessions.
    pub budget: u32,
    /// The SLEEP() that the statement is in.
    pub sleep: Option<Sleep>,
    /// What GET_LOCK() waits for.
    pub named_wait: Option<NamedWait>,
    /// When a SELECT is interrupted (`max_execution_time`), microseconds since 1970.
    pub deadline: Option<i64>,
    /// Generators of RAND(seed), by address of their expression.
    pub seeded: Vec<(usize, (u64, u64))>,
    /// Whether an expression of the statement has an effect beside its value.
    pub(super) has_effects: bool,
    /// What the steps that wait have done.
    pub(super) effects: Effects,
    /// IN lists that have been made to keys.
    pub(super) lists: Lists,
    /// How long it has computed at a stretch.
    pub(super) pace: Pace,
    now_micros: i64,
    /// `now_micros` in the session's zone, once an expression has asked: most statements never do.
    now: OnceCell<DateTime>,
}

/// Rows handled between yields: about a millisecond's worth.
pub const BUDGET: u32 = 1024;

impl StatementState {
    /// Of a statement that begins now, over a frame of so many slots. `has_effects` says that an expression
    /// of it does something beside giving a value.
    pub fn new(session: &SessionState, host: &dyn Services, slots: usize, has_effects: bool) -> Self {
        StatementState {
            frame: Frame { slots: vec![Slot::Null; slots] },
            strict: false,
            budget: BUDGET,
            sleep: None,
            named_wait: None,
            deadline: None,
            seeded: Vec::new(),
            has_effects,
            effects: Effects::default(),
            lists: Lists::default(),
            pace: Pace::default(),
            now_micros: session.variables.timestamp_micros.unwrap_or_else(|| host.unix_micros()),
            now: OnceCell::new(),
        }
    }

    /// When the statement began, microseconds since 1970.
    pub fn now_micros(&self) -> i64 {
        self.now_micros
    }

    /// The next row that is handled is one at which interruptions are looked for.
    pub fn look_at_next_row(&mut self) {
        self.budget = 1;
    }
}

/// The one door out of an evaluation: by it the operators of a subquery are run.
pub trait Subqueries {
    /// The value of a subquery for the rows that are current. It may ask to wait, and is then called again
    /// with the same subquery.
    fn value(
        &mut self,
        session: &mut SessionState,
        parameters: &[Value],
        state: &mut StatementState,
        subquery: &Subquery,
    ) -> SqlAttempt<Value>;
}

/// Where values are that can be borrowed.
#[derive(Clone, Copy)]
pub struct AtHand<'x> {
    /// Values of the `?`.
    pub parameters: &'x [Value],
    /// Current rows.
    pub frame: &'x Frame,
}

/// What an evaluation sees: a view that an operator lends.
pub struct Context<'x> {
    /// The session, as far as expressions see it.
    pub session: &'x mut SessionState,
    /// The server.
    pub host: &'x dyn Services,
    /// Values of the `?`.
    pub parameters: &'x [Value],
    /// What the evaluations of the statement share.
    pub state: &'x mut StatementState,
    /// Runs subqueries.
    pub subqueries: &'x mut dyn Subqueries,
}

impl Context<'_> {
    /// Where values are that can be borrowed.
    #[inline]
    pub fn at_hand(&self) -> AtHand<'_> {
        AtHand { parameters: self.parameters, frame: &self.state.frame }
    }

    /// The session's time zone.
    pub fn zone(&self) -> &Zone {
        &self.session.variables.time_zone
    }

    /// When the statement began, in the session's zone: NOW(6).
    pub fn now(&self) -> DateTime {
        *self.state.now.get_or_init(|| Timestamp(self.now_micros()).to_datetime(self.zone()))
    }

    /// When the statement began, microseconds since 1970.
    pub fn now_micros(&self) -> i64 {
        self.state.now_micros
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
        if self.state.strict {
            return Err(error);
        }
        self.session.warnings.warn(error);
        Ok(())
    }

    /// 3024 if the statement has run for too long.
    pub fn check_deadline(&self) -> SqlResult<()> {
        match self.state.deadline {
            Some(deadline) if self.host.unix_micros() >= deadline => Err(mysql_error!(ER_QUERY_TIMEOUT)),
            _ => Ok(()),
        }
    }

    /// Whether the statement is to end: it was killed, or has run for too long.
    pub fn is_interrupted(&self) -> bool {
        self.session.kill.get() != Killed::No || self.check_deadline().is_err()
    }

    /// Work was done that takes as long as handling so many rows: fails if the statement was killed. True if
    /// it should yield.
    #[inline]
    pub fn spend_many(&mut self, rows: u32) -> SqlResult<bool> {
        if self.state.budget > rows {
            self.state.budget -= rows;
            return Ok(false);
        }
        self.state.budget = BUDGET;
        self.state.pace.rested();
        self.session.check_statement(self.host)?;
        self.check_deadline()?;
        Ok(true)
    }

    /// The same for what yields by asking to wait: it is called again, and goes on where it was.
    #[inline]
    pub fn take_turns(&mut self, rows: u32) -> SqlAttempt<()> {
        if self.spend_many(rows)? { Err(Blocked::yielding()) } else { Ok(()) }
    }
}
