//! The rows that several indexes have entries of: scans side by side, each in the order of the primary key.
//!
//! ```text
//!   entries of one     3  8  20  31        the scan that is behind goes on; where all are at one key
//!   of the other       8  9  31  40        the row is read by it
//! ```

use palisade_catalog::{ValueRef, key};
use palisade_expr::place::At;
use palisade_expr::{SqlAttempt, SqlError, SqlResult};
use palisade_plan::Operator;
use smallvec::SmallVec;

use super::{ExecContext, State};

/// Where an intersection is.
#[derive(Debug)]
pub struct IntersectionState {
    /// The scans of entries.
    entries: Vec<State>,
    /// Reads a row by its key.
    row: State,
    /// The primary key that each scan is at, unless it has to go on.
    keys: Vec<Option<Vec<u8>>>,
    /// All are at one key, and its row is being read.
    is_found: bool,
}

impl IntersectionState {
    /// Before the first row. The last input reads rows.
    pub fn new(mut inputs: Vec<State>) -> IntersectionState {
        let row = inputs.pop().unwrap_or(State::Nothing);
        let keys = inputs.iter().map(|_| None).collect();
        IntersectionState { entries: inputs, row, keys, is_found: false }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.entries.iter_mut().for_each(State::reset);
        self.row.reset();
        self.keys.iter_mut().for_each(|key| *key = None);
        self.is_found = false;
    }

    /// The next row.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plans: &[Operator]) -> SqlAttempt<bool> {
        let Some((row, plans)) = plans.split_last() else { return Ok(false) };
        loop {
            if self.is_found {
                if self.row.next(row, cx)? {
                    return Ok(true);
                }
                self.keys.iter_mut().for_each(|key| *key = None);
                self.is_found = false;
            }
            while let Some(behind) = self.behind() {
                let plan = plans.at(behind)?;
                if !self.entries.at_mut(behind)?.next(plan, cx)? {
                    return Ok(false);
                }
                *self.keys.at_mut(behind)? = Some(key_of(plan, cx)?);
            }
            let Some(Some(key)) = self.keys.first().cloned() else { return Ok(false) };
            self.row.find(key);
            self.is_found = true;
        }
    }

    /// A scan whose key is not the greatest of all.
    fn behind(&self) -> Option<usize> {
        let greatest = self.keys.iter().max()?;
        self.keys.iter().position(|key| key.is_none() || key != greatest)
    }
}

/// The primary key of the entry that a scan has placed.
fn key_of(plan: &Operator, cx: &ExecContext<'_, '_>) -> SqlResult<Vec<u8>> {
    match plan {
        Operator::Noted { input, .. } | Operator::Filter { input, .. } => key_of(input, cx),
        Operator::Scan { slot, table, .. } => {
            let entry = cx.state.frame.slots.at(*slot)?;
            let parts = &table.indexes.at(0)?.parts;
            let values = parts.iter().map(|part| entry.value(usize::from(part.column)));
            let values: SmallVec<[ValueRef<'_>; 4]> = values.collect::<SqlResult<_>>()?;
            let mut out = Vec::with_capacity(16);
            key::search_key(table, 0, &values, &mut out).map_err(super::store::row_error)?;
            Ok(out)
        }
        _ => Err(SqlError::internal("entries are read by a scan")),
    }
}
