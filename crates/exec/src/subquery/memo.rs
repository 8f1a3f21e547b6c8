//! What a subquery gave, by the values of the outer columns that it reads.
//!
//! Rows of the outer query that are near each other often have the same values there: the lines of an order,
//! the orders of a customer. Where they do not, and the subquery costs little, the memo is given up after a
//! while, and costs no more. A subquery that costs many times what remembering does keeps its memo: values
//! may come again later, and if they never do, little is lost.

use std::collections::HashMap;

use palisade_catalog::{Value, verbatim};
use palisade_expr::place::At;
use palisade_expr::{Frame, Slot};
use palisade_plan::cost;

use crate::SqlResult;

/// Bytes that a memo may take, and one of a subquery that costs little.
const MOST_BYTES: usize = 16 << 20;
const MOST_BYTES_OF_CHEAP: usize = 1 << 20;
/// Bytes that an entry takes besides its key and value.
const BYTES_AN_ENTRY: usize = 96;
/// Values that are asked for before it is judged whether remembering them pays, and how many of them at most
/// there may be for one that was remembered.
const TRIED: u64 = 8192;
const ASKED_FOR_ONE: u64 = 16;

/// How many times what remembering a value costs a subquery costs whose memo is kept in any case.
const DEAR: f64 = 16.0;

/// Whether remembering a value costs little beside a run of the subquery, which costs so much.
fn is_dear(run: f64) -> bool {
    run >= DEAR * cost::REMEMBERED_VALUE
}

/// What a subquery gave.
#[derive(Debug, Default)]
pub(super) struct Memo {
    values: HashMap<Box<[u8]>, Value>,
    key: Vec<u8>,
    bytes: usize,
    asked: u64,
    known: u64,
    is_given_up: bool,
}

impl Memo {
    /// The value for the current rows, if it is remembered.
    pub(super) fn find(&mut self, frame: &Frame, columns: &[(usize, usize)]) -> SqlResult<Option<Value>> {
        if self.is_given_up {
            return Ok(None);
        }
        self.key.clear();
        for (slot, column) in columns {
            let slot: &Slot = frame.slots.at(*slot)?;
            verbatim::append(&slot.value(*column)?.to_owned(), &mut self.key);
        }
        Ok(self.values.get(&*self.key).cloned())
    }

    /// A value was remembered, or had to be computed, at what a `run` costs: forgets all if it does not pay.
    pub(super) fn count(&mut self, was_known: bool, run: f64) {
        self.asked += 1;
        self.known += u64::from(was_known);
        if self.asked == TRIED {
            if !is_dear(run) && self.known < TRIED / ASKED_FOR_ONE {
                *self = Memo { is_given_up: true, ..Memo::default() };
            }
            (self.asked, self.known) = (0, 0);
        }
    }

    /// Remembers a value, which a `run` has given, for the rows that were looked for last.
    pub(super) fn remember(&mut self, value: &Value, run: f64) {
        if self.is_given_up {
            return;
        }
        let text = if let Value::Bytes(text) = value { text.len() } else { 0 };
        self.bytes += BYTES_AN_ENTRY + self.key.len() + text;
        let most = if is_dear(run) { MOST_BYTES } else { MOST_BYTES_OF_CHEAP };
        if self.bytes > most {
            self.values.clear();
            self.bytes = BYTES_AN_ENTRY + self.key.len() + text;
        }
        self.values.insert(self.key.as_slice().into(), value.clone());
    }

    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests;
