//! Sorting, limits, removing duplicates.
//!
//! A sort sets its rows aside ([`KeptRows`]) and orders pairs of a number and a row: the number is
//! the beginning of the row's first key, and decides nearly always. A key that is a column is not copied: it is read in the
//! row that is kept anyway, when two beginnings are alike.

use std::cmp::Ordering;
use std::ops::Range;

use palisade_catalog::{SqlType, Value, ValueRef};

use super::join::charge;
use super::kept::KeptRows;
use super::keys::KeyIndex;
use super::{State, append_hash_key, limit_values};
use crate::expr::compare::compare_typed;
use crate::expr::context::values_size;
use crate::expr::{Context, Slot};
use crate::plan::{Limit, Operator, SortKey};
use crate::work::Work;
use crate::{SqlAttempt, SqlResult};

/// What of a row's first key decides most comparisons: where it differs, the rows are in its order. Among equal ones, and
/// where some row has none, the keys themselves decide.
type Prefix = u64;

/// The prefix of a value; `None` where nothing is known that would do. NULL comes first.
fn prefix(value: ValueRef<'_>, ty: &SqlType) -> Option<Prefix> {
    let of_signed = |value: i64| Some((value as u64) ^ (1 << 63));
    match value {
        ValueRef::Null => Some(0),
        ValueRef::Int(value) if matches!(ty, SqlType::Int { .. }) => of_signed(value),
        ValueRef::UInt(value) if matches!(ty, SqlType::Int { .. }) => {
            of_signed(i64::try_from(value).unwrap_or(i64::MAX))
        }
        // JSON has an order of its own
        ValueRef::Bytes(text) if ty.is_string() && *ty != SqlType::Json => {
            Some(ty.collation().get().order_prefix(text))
        }
        _ => None,
    }
}

/// Where the keys of the rows to be sorted are.
#[derive(Debug, Default)]
struct Keys {
    places: Vec<Place>,
    /// The computed keys, row by row.
    computed: Vec<Value>,
    /// How many of them a row has.
    width: usize,
    /// About how many bytes they take.
    bytes: usize,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// A column of what is kept of a slot.
    Kept { number: usize, column: usize },
    /// The computed key with this number.
    Computed(usize),
}

impl Keys {
    /// For rows of which `slots` are kept.
    fn new(specs: &[SortKey], slots: &[usize]) -> Keys {
        let mut keys = Keys::default();
        for spec in specs {
            let kept = spec.expr.as_plain_column().and_then(|(of, column)| {
                let number = slots.iter().position(|slot| *slot == of)?;
                Some(Place::Kept { number, column })
            });
            keys.places.push(kept.unwrap_or(Place::Computed(keys.width)));
            keys.width += usize::from(kept.is_none());
        }
        keys
    }

    /// Computes what there is to be computed of the current row. May ask to wait, and has then added nothing.
    fn push(&mut self, cx: &mut Context<'_>, specs: &[SortKey]) -> SqlAttempt<()> {
        if self.width == 0 {
            return Ok(());
        }
        let count = self.computed.len();
        for (spec, place) in specs.iter().zip(&self.places) {
            if let Place::Computed(_) = place {
                match spec.expr.eval(cx) {
                    Ok(key) => self.computed.push(key),
                    Err(blocked) => {
                        self.computed.truncate(count);
                        return Err(blocked);
                    }
                }
            }
        }
        self.bytes += values_size(&self.computed[count..]);
        Ok(())
    }

    fn get<'k>(&'k self, rows: &'k KeptRows, row: usize, key: usize) -> SqlResult<ValueRef<'k>> {
        match self.places[key] {
            Place::Kept { number, column } => rows.value(row, number, column),
            Place::Computed(number) => Ok(self.computed[row * self.width + number].as_ref()),
        }
    }

    /// Keeps only the keys of these rows, in this order.
    fn select(&mut self, rows: impl Iterator<Item = usize>) {
        let mut selected = Vec::with_capacity(self.computed.len());
        for row in rows {
            let keys = &mut self.computed[row * self.width..(row + 1) * self.width];
            selected.extend(keys.iter_mut().map(std::mem::take));
        }
        self.bytes = values_size(&selected);
        self.computed = selected;
    }
}

/// A row in the order.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    /// With the bits turned over if the first key descends.
    prefix: Prefix,
    row: usize,
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
    keys: Option<Keys>,
    /// The rows held, in order once all are here.
    ranked: Vec<Ranked>,
    /// Some row has no prefix.
    without_prefixes: bool,
    /// How many rows are wanted; asked once.
    wanted: Option<usize>,
    pending: bool,
    complete: bool,
    next: usize,
}

impl SortState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        SortState {
            input,
            rows: KeptRows::default(),
            keys: None,
            ranked: Vec::new(),
            without_prefixes: false,
            wanted: None,
            pending: false,
            complete: false,
            next: 0,
        }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        let input = std::mem::replace(&mut self.input, State::Nothing);
        *self = SortState::new(input);
        self.input.reset();
    }

    /// The next row in order, if the rows are in order and there is one more.
    #[inline]
    pub fn step(&mut self, cx: &mut Context<'_>, slots: &[usize]) -> bool {
        let ranked = match self.complete {
            true => self.ranked.get(self.next),
            false => None,
        };
        let Some(Ranked { row, .. }) = ranked else { return false };
        self.next += 1;
        self.rows.restore(*row, slots, &mut cx.frame);
        true
    }

    /// The next row in order. With a limit, no more than twice as many rows as it wants are ever held.
    pub fn next(&mut self, cx: &mut Context<'_>, plan: &Sorting<'_>) -> SqlAttempt<bool> {
        if !self.complete {
            self.consume(cx, plan)?;
            self.complete = true;
        }
        Ok(self.step(cx, plan.slots))
    }

    fn consume(&mut self, cx: &mut Context<'_>, plan: &Sorting<'_>) -> SqlAttempt<()> {
        let wanted = match self.wanted {
            Some(wanted) => wanted,
            None => wanted_rows(plan.limit, cx)?.end,
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
            self.keep(cx, plan)?;
            self.pending = false;
            if self.ranked.len() >= bound {
                self.put_in_order(plan, wanted)?;
                self.rows.select(self.ranked.iter().map(|ranked| ranked.row));
                if let Some(keys) = &mut self.keys {
                    keys.select(self.ranked.iter().map(|ranked| ranked.row));
                }
                for (row, ranked) in self.ranked.iter_mut().enumerate() {
                    ranked.row = row;
                }
            }
            let keys = self.keys.as_ref().map_or(0, |keys| keys.bytes);
            charge(self.rows.size() + keys + self.ranked.len() * size_of::<Ranked>())?;
        }
        self.put_in_order(plan, wanted)?;
        cx.session.work.add(Work::SortScan, 1);
        cx.session.work.add(Work::SortRows, self.ranked.len() as u64);
        Ok(())
    }

    /// Keeps the current row.
    fn keep(&mut self, cx: &mut Context<'_>, plan: &Sorting<'_>) -> SqlAttempt<()> {
        let keys = self.keys.get_or_insert_with(|| Keys::new(plan.keys, plan.slots));
        cx.step(|cx| keys.push(cx, plan.keys))?;
        let row = self.ranked.len();
        self.rows.push(&cx.frame, plan.slots);
        let first = keys.get(&self.rows, row, 0)?;
        let prefix = prefix(first, &plan.keys[0].expr.ty);
        self.without_prefixes |= prefix.is_none();
        let prefix = prefix.unwrap_or_default();
        self.ranked.push(Ranked { prefix: if plan.keys[0].descending { !prefix } else { prefix }, row });
        Ok(())
    }

    /// Leaves the first `wanted` rows, in order; of equal ones, which stay in the order in which they came, the first if
    /// there are to be no duplicates. Numbers are sorted first, and then what they leave undecided.
    fn put_in_order(&mut self, plan: &Sorting<'_>, wanted: usize) -> SqlResult<()> {
        let (rows, Some(keys)) = (&self.rows, &self.keys) else { return Ok(()) };
        if self.without_prefixes {
            self.ranked.iter_mut().for_each(|ranked| ranked.prefix = 0);
        }
        self.ranked.sort_unstable_by_key(|ranked| (ranked.prefix, ranked.row));
        let mut failed = None;
        let mut compare = |left: &Ranked, right: &Ranked| {
            compare_kept(rows, keys, plan.keys, (left.row, right.row)).unwrap_or_else(|error| {
                failed = Some(error);
                Ordering::Equal
            })
        };
        for alike in self.ranked.chunk_by_mut(|left, right| left.prefix == right.prefix) {
            alike.sort_by(&mut compare);
        }
        if plan.distinct {
            self.ranked
                .dedup_by(|next, kept| kept.prefix == next.prefix && compare(kept, next) == Ordering::Equal);
        }
        self.ranked.truncate(wanted);
        failed.map_or(Ok(()), Err)
    }
}

/// Compares two rows by their keys.
fn compare_kept(
    rows: &KeptRows,
    keys: &Keys,
    specs: &[SortKey],
    (left, right): (usize, usize),
) -> SqlResult<Ordering> {
    for (number, spec) in specs.iter().enumerate() {
        let ordering = spec.compare(keys.get(rows, left, number)?, keys.get(rows, right, number)?);
        if ordering != Ordering::Equal {
            return Ok(ordering);
        }
    }
    Ok(Ordering::Equal)
}

/// Which rows a limit gives.
pub fn wanted_rows(limit: Option<&Limit>, cx: &mut Context<'_>) -> SqlAttempt<Range<usize>> {
    let Some(limit) = limit else { return Ok(0..usize::MAX) };
    let (offset, count) = limit_values(limit, cx)?;
    let row = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(row(offset)..row(offset.saturating_add(count)))
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
