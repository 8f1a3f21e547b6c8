//! Sorting, limits, removing duplicates.

use std::cmp::Ordering;

use palisade_catalog::{SqlType, Value, ValueRef};

use super::join::charge;
use super::kept::KeptRows;
use super::keys::KeyIndex;
use super::{State, append_hash_key, limit_values};
use crate::SqlAttempt;
use crate::expr::compare::compare_typed;
use crate::expr::{Context, Expr, Slot};
use crate::plan::{Limit, Operator, SortKey};
use crate::work::Work;

/// One key of a row. Bytes lie with those of the other rows.
#[derive(Debug)]
enum Key {
    Value(Value),
    Bytes { start: usize, len: usize },
}

/// The keys of the rows to be sorted, as many for each.
#[derive(Debug, Default)]
struct Keys {
    keys: Vec<Key>,
    bytes: Vec<u8>,
    /// Each row's beginning of its first key: where they differ, the rows compare as they do. Not kept once a value came
    /// that has none.
    prefixes: Vec<Prefix>,
    without_prefixes: bool,
}

/// NULL comes first.
type Prefix = Option<u64>;

/// What of a value decides most comparisons; `None` where nothing is known that would.
fn prefix(value: ValueRef<'_>, ty: &SqlType) -> Option<Prefix> {
    let of_signed = |value: i64| Some(Some((value as u64) ^ (1 << 63)));
    match value {
        ValueRef::Null => Some(None),
        ValueRef::Int(value) if matches!(ty, SqlType::Int { .. }) => of_signed(value),
        ValueRef::UInt(value) if matches!(ty, SqlType::Int { .. }) => {
            of_signed(i64::try_from(value).unwrap_or(i64::MAX))
        }
        ValueRef::Bytes(text) if ty.is_string() => Some(Some(ty.collation().get().order_prefix(text))),
        _ => None,
    }
}

impl Keys {
    /// Adds the keys of the current row. May ask to wait, and has then added nothing.
    fn push(&mut self, cx: &mut Context<'_>, specs: &[SortKey]) -> SqlAttempt<()> {
        let (count, bytes) = (self.keys.len(), self.bytes.len());
        for spec in specs {
            match self.evaluate(cx, &spec.expr) {
                Ok(key) => self.keys.push(key),
                Err(blocked) => {
                    self.keys.truncate(count);
                    self.bytes.truncate(bytes);
                    return Err(blocked);
                }
            }
        }
        if !self.without_prefixes {
            match prefix(self.get(count), &specs[0].expr.ty) {
                Some(prefix) => self.prefixes.push(prefix),
                None => self.without_prefixes = true,
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, cx: &mut Context<'_>, expr: &Expr) -> SqlAttempt<Key> {
        Ok(match expr.borrow(cx) {
            Some(value) => match value? {
                ValueRef::Bytes(text) => {
                    let start = self.bytes.len();
                    self.bytes.extend_from_slice(text);
                    Key::Bytes { start, len: text.len() }
                }
                value => Key::Value(value.to_owned()),
            },
            None => Key::Value(expr.eval(cx)?),
        })
    }

    fn get(&self, position: usize) -> ValueRef<'_> {
        match &self.keys[position] {
            Key::Value(value) => value.as_ref(),
            Key::Bytes { start, len } => ValueRef::Bytes(&self.bytes[*start..*start + *len]),
        }
    }

    /// Compares two rows.
    fn compare(&self, left: usize, right: usize, specs: &[SortKey]) -> Ordering {
        if !self.without_prefixes {
            let ordering = self.prefixes[left].cmp(&self.prefixes[right]);
            if ordering != Ordering::Equal {
                return if specs[0].descending { ordering.reverse() } else { ordering };
            }
        }
        let (left, right) = (left * specs.len(), right * specs.len());
        for (position, spec) in specs.iter().enumerate() {
            let ordering = spec.compare(self.get(left + position), self.get(right + position));
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
        Ordering::Equal
    }

    /// Keeps only the keys of these rows, in this order.
    fn select(&mut self, rows: &[usize], width: usize) {
        let mut selected = Keys { without_prefixes: self.without_prefixes, ..Keys::default() };
        for row in rows {
            if !self.without_prefixes {
                selected.prefixes.push(self.prefixes[*row]);
            }
            for key in &mut self.keys[row * width..(row + 1) * width] {
                selected.keys.push(match key {
                    Key::Value(value) => Key::Value(std::mem::take(value)),
                    Key::Bytes { start, len } => {
                        let moved = selected.bytes.len();
                        selected.bytes.extend_from_slice(&self.bytes[*start..*start + *len]);
                        Key::Bytes { start: moved, len: *len }
                    }
                });
            }
        }
        *self = selected;
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.keys.len() * size_of::<Key>() + self.prefixes.len() * size_of::<Prefix>()
    }
}

/// A sort's plan, taken apart.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Sorting<'p> {
    pub input: &'p Operator,
    pub keys: &'p [SortKey],
    pub slots: &'p [usize],
    pub limit: Option<&'p Limit>,
    pub distinct: bool,
}

/// Where a sort is.
#[derive(Debug)]
pub struct SortState {
    input: State,
    rows: KeptRows,
    keys: Keys,
    /// Rows held.
    count: usize,
    /// How many rows are wanted; asked once.
    wanted: Option<usize>,
    pending: bool,
    /// The rows in order, once all are here.
    order: Option<Vec<usize>>,
    next: usize,
}

impl SortState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        SortState {
            input,
            rows: KeptRows::default(),
            keys: Keys::default(),
            count: 0,
            wanted: None,
            pending: false,
            order: None,
            next: 0,
        }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        let input = std::mem::replace(&mut self.input, State::Nothing);
        *self = SortState::new(input);
        self.input.reset();
    }

    /// The next row in order. With a limit, no more than twice as many rows as it wants are ever held.
    pub fn next(&mut self, cx: &mut Context<'_>, plan: &Sorting<'_>) -> SqlAttempt<bool> {
        if self.order.is_none() {
            self.consume(cx, plan)?;
        }
        let Some(&row) = self.order.as_ref().and_then(|order| order.get(self.next)) else { return Ok(false) };
        self.next += 1;
        self.rows.restore(row, plan.slots, &mut cx.frame);
        Ok(true)
    }

    fn consume(&mut self, cx: &mut Context<'_>, plan: &Sorting<'_>) -> SqlAttempt<()> {
        let wanted = match self.wanted {
            Some(wanted) => wanted,
            None => wanted_rows(plan.limit, cx)?,
        };
        self.wanted = Some(wanted);
        let bound = wanted.saturating_mul(2).max(64);
        loop {
            if !self.pending {
                if !self.input.next(plan.input, cx)? {
                    break;
                }
                self.pending = true;
            }
            self.keys.push(cx, plan.keys)?;
            self.pending = false;
            self.rows.push(&cx.frame, plan.slots);
            self.count += 1;
            if self.count >= bound {
                let best = self.ordered(plan, wanted);
                self.rows.select(&best);
                self.keys.select(&best, plan.keys.len());
                self.count = best.len();
            }
            charge(self.rows.size() + self.keys.size())?;
        }
        let order = self.ordered(plan, wanted);
        cx.session.work.add(Work::SortScan, 1);
        cx.session.work.add(Work::SortRows, order.len() as u64);
        self.order = Some(order);
        Ok(())
    }

    /// The first `wanted` rows in order; of equal ones, which stay in the order in which they came, the first if there
    /// are to be no duplicates.
    fn ordered(&self, plan: &Sorting<'_>, wanted: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.count).collect();
        order.sort_by(|left, right| self.keys.compare(*left, *right, plan.keys));
        if plan.distinct {
            order.dedup_by(|next, kept| self.keys.compare(*kept, *next, plan.keys) == Ordering::Equal);
        }
        order.truncate(wanted);
        order
    }
}

fn wanted_rows(limit: Option<&Limit>, cx: &mut Context<'_>) -> SqlAttempt<usize> {
    let Some(limit) = limit else { return Ok(usize::MAX) };
    let (offset, count) = limit_values(limit, cx)?;
    Ok(usize::try_from(offset.saturating_add(count)).unwrap_or(usize::MAX))
}

impl SortKey {
    /// Compares two values of this key.
    fn compare(&self, left: ValueRef<'_>, right: ValueRef<'_>) -> Ordering {
        let ordering = compare_typed(left, right, &self.expr.ty);
        if self.descending { ordering.reverse() } else { ordering }
    }
}

/// Compares two lists of key values.
pub fn compare_keys(left: &[Value], right: &[Value], keys: &[SortKey]) -> Ordering {
    for ((left, right), key) in left.iter().zip(right).zip(keys) {
        let ordering = key.compare(left.as_ref(), right.as_ref());
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    Ordering::Equal
}

/// Where removing duplicates is.
#[derive(Debug)]
pub struct DistinctState {
    input: State,
    seen: KeyIndex,
    key: Vec<u8>,
}

impl DistinctState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        DistinctState { input, seen: KeyIndex::default(), key: Vec::new() }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        self.seen.clear();
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
            self.key.clear();
            append_row_key(&cx.frame.slots[slot], types, &mut self.key);
            let is_new = self.seen.insert(&self.key);
            charge(self.seen.size())?;
            if is_new {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Appends bytes that are equal for equal rows of a slot of values.
pub fn append_row_key(slot: &Slot, types: &[SqlType], key: &mut Vec<u8>) {
    if let Slot::Values(values) = slot {
        for (value, ty) in values.iter().zip(types) {
            append_hash_key(value, ty, key);
        }
    }
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
                self.input.hint_stop();
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
