//! What a subquery gave, by the values of the outer columns that it reads.
//!
//! Rows of the outer query that are near each other often have the same values there: the lines of an order,
//! the orders of a customer. Where they do not the memo is given up after a while, and costs no more.

use std::collections::HashMap;

use palisade_catalog::{Value, verbatim};
use palisade_expr::place::At;
use palisade_expr::{Frame, Slot};

use crate::SqlResult;

/// Bytes that a memo may take.
const MOST_BYTES: usize = 1 << 20;
/// Bytes that an entry takes besides its key and value.
const BYTES_AN_ENTRY: usize = 96;
/// Values that are asked for before it is judged whether remembering them pays, and how many of them at most
/// there may be for one that was remembered.
const TRIED: u64 = 512;
const ASKED_FOR_ONE: u64 = 16;

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

    /// A value was remembered, or had to be computed: forgets all if it does not pay.
    pub(super) fn count(&mut self, was_known: bool) {
        self.asked += 1;
        self.known += u64::from(was_known);
        if self.asked == TRIED {
            if self.known < TRIED / ASKED_FOR_ONE {
                *self = Memo { is_given_up: true, ..Memo::default() };
            }
            (self.asked, self.known) = (0, 0);
        }
    }

    /// Remembers a value for the rows that were looked for last.
    pub(super) fn remember(&mut self, value: &Value) {
        if self.is_given_up {
            return;
        }
        let text = if let Value::Bytes(text) = value { text.len() } else { 0 };
        self.bytes += BYTES_AN_ENTRY + self.key.len() + text;
        if self.bytes > MOST_BYTES {
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
