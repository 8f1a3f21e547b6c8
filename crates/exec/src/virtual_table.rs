//! Reading a virtual table: its rows are pulled, one by one, as they are made.
//!
//! Rows are kept only if they are read again. A table in the first place of a join is read once, and none of
//! its rows is kept; on the inner side of a nested loop it is read for each outer row, unless the conditions
//! on its names depend on the outer row: then each reading wants other rows, and they are made anew.
//!
//! ```text
//!  first reading, read once          pull ─► slot
//!  first reading, to be read again   pull ─► kept ─► slot
//!  second reading                    kept ─► slot, then as before
//!  conditions on outer columns       pull ─► slot, from the beginning each time
//! ```

use palisade_base::Blocked;
use palisade_catalog::Value;
use palisade_expr::place::At;
use palisade_expr::{Expr, Slot, SqlAttempt, SqlError};
use palisade_plan::virtual_read::{NameCondition, VirtualRead};
use palisade_schema::{TableDecl, Wanted};
use palisade_session::virtual_tables::{Pulled, VirtualRows};

use super::{ExecContext, KeptRow};

/// What making a row counts as, in rows of a stored table.
const TURNS_A_ROW: u32 = 8;

/// What comparing all names counts as. Less than a budget: a reading that has taken its turn begins again
/// here.
const TURNS_A_LOOK: u32 = 256;

/// Where reading a virtual table is.
#[derive(Debug, Default)]
pub struct VirtualState {
    /// The rows that have not been made yet, once the table is open.
    rows: Option<VirtualRows>,
    /// All of them have been made.
    complete: bool,
    /// Rows are kept, for the next reading.
    keeps: bool,
    kept: Vec<KeptRow>,
    bytes: usize,
    /// The next row is the first after so many.
    next: usize,
    /// A reading begins.
    stale: bool,
    /// A row is in place, not tested yet.
    pending: bool,
}

/// A virtual table's plan, taken apart.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "as in the plan")]
pub struct Reading<'p> {
    pub slot: usize,
    pub table: &'static TableDecl,
    pub filter: Option<&'p Expr>,
    pub read: &'p VirtualRead,
}

impl VirtualState {
    /// The table will be read more than once.
    pub fn hint_again(&mut self) {
        self.keeps = true;
    }

    /// Goes back before the first row.
    pub fn reset(&mut self) {
        (self.stale, self.pending) = (true, false);
    }

    /// The next row that passes the filter.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plan: Reading<'_>) -> SqlAttempt<bool> {
        if self.stale {
            self.begin_again(plan.read);
        }
        loop {
            if !self.pending && !self.place(cx, plan)? {
                return Ok(false);
            }
            let passes = super::passes(cx, plan.filter)?;
            self.pending = false;
            if passes {
                return Ok(true);
            }
            cx.take_turns(1)?;
        }
    }

    fn begin_again(&mut self, read: &VirtualRead) {
        (self.stale, self.next) = (false, 0);
        let was_begun = self.complete || self.rows.is_some();
        if self.keeps && !read.depends || !was_begun {
            return;
        }
        // What is read a second time may be read a third time.
        self.keeps = true;
        (self.rows, self.complete) = (None, false);
        self.kept.clear();
        self.bytes = 0;
    }

    /// Places the next row, passing or not; false at the end.
    fn place(&mut self, cx: &mut ExecContext<'_, '_>, plan: Reading<'_>) -> SqlAttempt<bool> {
        if let Some(row) = self.kept.get(self.next) {
            *cx.state.frame.slots.at_mut(plan.slot)? = Slot::Values(row.clone());
            (self.next, self.pending) = (self.next + 1, true);
            return Ok(true);
        }
        while !self.complete {
            let rows = match &mut self.rows {
                Some(rows) => rows,
                none => none.insert(open(cx, plan)?),
            };
            match rows.pull(cx.execution.host, cx.session) {
                Pulled::End => (self.rows, self.complete) = (None, true),
                Pulled::Hidden => {
                    cx.execution.work.rows_examined += 1;
                    cx.take_turns(TURNS_A_ROW)?;
                }
                Pulled::Row(row) => {
                    cx.execution.work.rows_examined += 1;
                    let slot = Slot::Values(row.clone());
                    if self.keeps && !plan.read.depends {
                        self.bytes += slot.size();
                        cx.session.charge(self.bytes)?;
                        self.kept.push(row);
                        self.next += 1;
                    }
                    *cx.state.frame.slots.at_mut(plan.slot)? = slot;
                    self.pending = true;
                    cx.take_turns(TURNS_A_ROW)?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

fn open(cx: &mut ExecContext<'_, '_>, plan: Reading<'_>) -> SqlAttempt<VirtualRows> {
    if plan.read.names.iter().any(NameCondition::compares_all) {
        cx.take_turns(TURNS_A_LOOK)?;
    }
    let mut wanted = match &plan.read.columns {
        Some(columns) => Wanted::columns(plan.table, columns.iter().copied()),
        None => Wanted::everything(),
    };
    for condition in &plan.read.names {
        if let Some(names) = names_of(cx, condition)? {
            wanted.names_mut(condition.named).narrow(condition.collation, names);
        }
    }
    let own = cx.execution.dictionary_tables;
    Ok(VirtualRows::open(own, &cx.row_source(), plan.table, wanted)?)
}

/// The names that a condition leaves. `None` if that cannot be told: the filter decides then, row by row, as
/// it does if a value cannot be computed.
fn names_of(cx: &mut ExecContext<'_, '_>, condition: &NameCondition) -> SqlAttempt<Option<Vec<Vec<u8>>>> {
    let mut names = Vec::with_capacity(condition.values.len());
    for value in &condition.values {
        match cx.evaluate(|cx| value.eval(cx)) {
            Ok(Value::Bytes(name)) => names.push(name.into_vec()),
            // Nothing is equal to it.
            Ok(Value::Null) => {}
            Ok(_) => return Ok(None),
            Err(Blocked::Error(SqlError { .. })) => return Ok(None),
            Err(wait) => return Err(wait),
        }
    }
    Ok(Some(names))
}
