//! The rows of several scans of one table that lock what they find, each row once.
//!
//! ```text
//!   UPDATE t ... WHERE k = 77 OR b = 99
//!
//!   scan by k: k = 77      rows 3, 8       locked, and their primary keys noted
//!   scan by b: b = 99      rows 8, 12      8 was given before; 12 is locked, and given
//! ```
//!
//! Unlike the scans of a snapshot, a later one cannot leave out the rows for which an earlier condition
//! holds: until a row is locked another transaction may change it, so that the first condition holds only
//! after its scan has passed. A row that was given is locked and stays what it is; that its own statement
//! changes it does not matter, because it is told by its primary key.

use std::collections::HashSet;

use palisade_expr::SqlAttempt;
use palisade_expr::place::At;
use palisade_plan::Operator;

use super::scan::clustered_key;
use super::{ExecContext, State};

/// Where the union is.
#[derive(Debug)]
pub struct LockedUnionState {
    inputs: Vec<State>,
    /// Which of them is read.
    at: usize,
    /// The primary keys of rows that were given.
    given: HashSet<Box<[u8]>>,
    /// What they take.
    bytes: usize,
}

/// What an entry of the set takes beside its key.
const ENTRY: usize = 48;

impl LockedUnionState {
    /// Before the first row.
    pub fn new(inputs: Vec<State>) -> LockedUnionState {
        LockedUnionState { inputs, at: 0, given: HashSet::new(), bytes: 0 }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.inputs.iter_mut().for_each(State::reset);
        self.given.clear();
        (self.at, self.bytes) = (0, 0);
    }

    /// The next row.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plans: &[Operator]) -> SqlAttempt<bool> {
        while let (Some(input), Some(plan)) = (self.inputs.get_mut(self.at), plans.get(self.at)) {
            let is_last = self.at + 1 == plans.len();
            if !input.next(plan, cx)? {
                self.at += 1;
                continue;
            }
            let Some(slot) = slot_of(plan) else { return Ok(true) };
            let Some((table, row, _)) = cx.state.frame.slots.at(slot)?.stored() else { return Ok(true) };
            let key = clustered_key(table, row)?.into_boxed_slice();
            if self.given.contains(&key) {
                continue;
            }
            if !is_last {
                self.bytes += key.len() + ENTRY;
                cx.session.charge(self.bytes)?;
                self.given.insert(key);
            }
            return Ok(true);
        }
        Ok(false)
    }
}

/// Where a scan places its rows.
fn slot_of(plan: &Operator) -> Option<usize> {
    match plan {
        Operator::Noted { input, .. } | Operator::Filter { input, .. } => slot_of(input),
        Operator::Scan { slot, .. } => Some(*slot),
        _ => None,
    }
}
