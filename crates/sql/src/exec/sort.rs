//! Sorting, limits, removing duplicates.

use std::cmp::Ordering;
use std::collections::HashSet;

use palisade_catalog::{SqlType, Value};

use super::join::charge;
use super::{State, append_hash_key, evaluate_all, limit_values};
use crate::SqlAttempt;
use crate::expr::compare::compare_typed;
use crate::expr::{Context, Slot};
use crate::plan::{Limit, Operator, SortKey};

#[derive(Debug)]
struct SortedRow {
    keys: Vec<Value>,
    slots: Box<[Slot]>,
}

/// Where a sort is.
#[derive(Debug)]
pub struct SortState {
    input: State,
    rows: Vec<SortedRow>,
    bytes: usize,
    /// How many rows are wanted; asked once.
    wanted: Option<u64>,
    pending: bool,
    sorted: bool,
    next: usize,
}

impl SortState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        SortState { input, rows: Vec::new(), bytes: 0, wanted: None, pending: false, sorted: false, next: 0 }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        self.rows.clear();
        (self.bytes, self.wanted, self.pending, self.sorted, self.next) = (0, None, false, false, 0);
    }

    /// The next row in order. With a limit, no more than twice as many rows as it wants are ever held.
    pub fn next(
        &mut self,
        cx: &mut Context<'_>,
        input: &Operator,
        keys: &[SortKey],
        slots: &[usize],
        limit: Option<&Limit>,
    ) -> SqlAttempt<bool> {
        if !self.sorted {
            if self.wanted.is_none() {
                self.wanted = Some(match limit {
                    Some(limit) => {
                        let (offset, count) = limit_values(limit, cx)?;
                        offset.saturating_add(count)
                    }
                    None => u64::MAX,
                });
            }
            let wanted = usize::try_from(self.wanted.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
            let bound = wanted.saturating_mul(2).max(64);
            loop {
                if !self.pending {
                    if !self.input.next(input, cx)? {
                        break;
                    }
                    self.pending = true;
                }
                let mut values = Vec::with_capacity(keys.len());
                for key in keys {
                    values.push(key.expr.eval(cx)?);
                }
                self.pending = false;
                let kept: Box<[Slot]> = slots.iter().map(|slot| cx.frame.slots[*slot].keep()).collect();
                self.bytes += kept.iter().map(Slot::size).sum::<usize>() + 48 * values.len();
                self.rows.push(SortedRow { keys: values, slots: kept });
                if self.rows.len() >= bound {
                    self.order(keys);
                    self.rows.truncate(wanted);
                    self.bytes = self.rows.iter().flat_map(|row| row.slots.iter()).map(Slot::size).sum();
                }
                charge(self.bytes)?;
            }
            self.order(keys);
            self.rows.truncate(wanted);
            self.sorted = true;
        }
        let Some(row) = self.rows.get_mut(self.next) else { return Ok(false) };
        self.next += 1;
        for (slot, kept) in slots.iter().zip(row.slots.iter_mut()) {
            cx.frame.slots[*slot] = std::mem::take(kept);
        }
        Ok(true)
    }

    fn order(&mut self, keys: &[SortKey]) {
        self.rows.sort_by(|left, right| compare_keys(&left.keys, &right.keys, keys));
    }
}

/// Compares two lists of key values.
pub fn compare_keys(left: &[Value], right: &[Value], keys: &[SortKey]) -> Ordering {
    for ((left, right), key) in left.iter().zip(right).zip(keys) {
        let ordering = compare_typed(left.as_ref(), right.as_ref(), &key.expr.ty);
        if ordering != Ordering::Equal {
            return if key.descending { ordering.reverse() } else { ordering };
        }
    }
    Ordering::Equal
}

/// Where removing duplicates is.
#[derive(Debug)]
pub struct DistinctState {
    input: State,
    seen: HashSet<Vec<u8>>,
    bytes: usize,
}

impl DistinctState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        DistinctState { input, seen: HashSet::new(), bytes: 0 }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        self.seen.clear();
        self.bytes = 0;
    }

    /// The next row that is not like one before.
    pub fn next(
        &mut self,
        cx: &mut Context<'_>,
        input: &Operator,
        slot: usize,
        types: &[SqlType],
    ) -> SqlAttempt<bool> {
        while self.input.next(input, cx)? {
            let key = row_key(&cx.frame.slots[slot], types);
            self.bytes += key.len() + 48;
            charge(self.bytes)?;
            if self.seen.insert(key) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Bytes that are equal for equal rows of a slot of values.
pub fn row_key(slot: &Slot, types: &[SqlType]) -> Vec<u8> {
    let mut key = Vec::with_capacity(types.len() * 17);
    if let Slot::Values(values) = slot {
        for (value, ty) in values.iter().zip(types) {
            append_hash_key(value, ty, &mut key);
        }
    }
    key
}

/// Where a limit is.
#[derive(Debug)]
pub struct LimitState {
    input: State,
    /// Rows still to skip and to give, once known.
    left: Option<(u64, u64)>,
}

impl LimitState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        LimitState { input, left: None }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        self.left = None;
    }

    /// The next row within the limit.
    pub fn next(&mut self, cx: &mut Context<'_>, input: &Operator, limit: &Limit) -> SqlAttempt<bool> {
        let (mut skip, mut give) = match self.left {
            Some(left) => left,
            None => {
                let values = limit_values(limit, cx)?;
                if let State::Scan(scan) = &mut self.input {
                    let rows = values.0.saturating_add(values.1);
                    if let Operator::Scan { filter: None, .. } = input {
                        scan.hint_rows(usize::try_from(rows).unwrap_or(usize::MAX));
                    }
                }
                self.left = Some(values);
                values
            }
        };
        while give > 0 && self.input.next(input, cx)? {
            if skip == 0 {
                give -= 1;
                self.left = Some((0, give));
                return Ok(true);
            }
            skip -= 1;
            self.left = Some((skip, give));
        }
        Ok(false)
    }
}

/// Evaluates keys; used where rows are compared without being sorted.
pub fn key_values(keys: &[SortKey], cx: &mut Context<'_>) -> SqlAttempt<Vec<Value>> {
    let mut values = Vec::with_capacity(keys.len());
    for key in keys {
        values.extend(evaluate_all(std::slice::from_ref(&key.expr), cx)?);
    }
    Ok(values)
}
