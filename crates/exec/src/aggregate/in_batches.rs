//! Grouping the rows of a scan a batch at a time.
//!
//! The rows of a leaf are read column by column: what the aggregates are of becomes
//! [vectors](palisade_expr::vectors), and a sum or a count of many rows is added to a group at once.
//!
//! ```text
//!   rows of the batch ─▶ those that pass the screen ─▶ vectors ─▶ the group of each row ─▶ added by group
//! ```
//!
//! Rows are told apart by the bytes of the columns that they are grouped by. Which group such bytes belong to
//! is asked once, in the same way as row by row, and remembered in a small table: equal bytes are equal
//! values. What is no sum, count or extreme is added row by row, in the rows' order.
//!
//! Everything is computed before anything is added. If that fails for a batch - a number has more than 64
//! bits, a row is older than a column - its rows are read one by one. So are those of small batches, for
//! which making ready costs more than it saves.

use std::ops::Range;

use palisade_catalog::row::{Field, PlainColumns};
use palisade_catalog::{Decimal, SqlType};
use palisade_engine::RowBatch;
use palisade_expr::aggregate::{Accumulator, AggregateKind, AggregateSpec};
use palisade_expr::place::At;
use palisade_expr::vectors::{Computation, Kind, Rows, Vector};
use palisade_expr::{Expr, Node, Slot, SqlAttempt, SqlError, SqlResult};

use super::in_unions::current_scan;
use super::{AggregateState, Grouping, Row, add_at_hand};
use crate::batches::{Batch, InBatches, Sieve, Taken, place_row};
use crate::{ExecContext, State};

/// Rows of a batch that are read one by one if there are no more of them.
pub(crate) const FEW: usize = 4;

/// Groups, up to which the sums of a batch are kept for each of them before they are added.
const FEW_GROUPS: usize = 64;

/// Rows that are added in the time that another row takes, if there is one step for each.
const ROWS_AS_ONE: u32 = 16;

/// What adding a column of one row takes, which may be a look into a set of values.
const UNITS_OF_COLUMN: u32 = 2;

impl InBatches<Batched> {
    /// There are no groups any more.
    pub(super) fn forget_groups(&mut self) {
        if let InBatches::Yes(batched) = self {
            batched.known.clear();
            batched.bests.clear();
        }
    }
}

/// The number of an aggregate of a grouping.
type Aggregate<'p> = (usize, &'p Grouping<'p>);

/// Where an aggregate's values come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// Every row counts.
    Rows,
    /// Rows count in which this column is not NULL.
    NotNull { number: usize },
    /// The values of a step.
    Step(usize),
    /// The first or last of a column whose fields are in the order of its values.
    Extreme { number: usize, is_least: bool },
    /// The column is read where it is, row by row.
    Column,
}

impl Source {
    /// Whether it is asked what the rows have in a column.
    fn has_words(&self) -> bool {
        matches!(self, Source::NotNull { .. } | Source::Extreme { .. })
    }
}

/// A grouping that reads batches.
#[derive(Debug)]
pub(crate) struct Batched {
    columns: PlainColumns,
    pub(crate) computation: Computation,
    /// One for each aggregate.
    pub(crate) sources: Vec<Source>,
    /// The columns that rows are grouped by, by their numbers in `columns`.
    keys: Vec<usize>,
    /// Which rows of the batch are added.
    pub(crate) selected: Vec<usize>,
    /// Of these, what tells groups apart; `None` if it takes more than 128 bits.
    pub(crate) raw_keys: Vec<Option<u128>>,
    /// Of these, the groups; none if there is one group.
    groups: Vec<usize>,
    /// Of each aggregate, if one wants them, what the rows have in its column: see [`Source::Extreme`].
    pub(crate) words: Vec<Vec<Option<u64>>>,
    known: KnownGroups,
    /// For each group and aggregate, the best word that was added.
    bests: Vec<Option<u64>>,
    /// Sums of a batch by group.
    totals: Vec<(i128, u64)>,
}

/// Groups by what tells them apart: a table in which a new entry takes the place of an old one.
#[derive(Debug, Default)]
struct KnownGroups {
    entries: Vec<Option<(u128, usize)>>,
    /// Entries that were not found since the table has had its size.
    missed: usize,
}

impl KnownGroups {
    const LEAST: usize = 64;
    const MOST: usize = 4096;

    #[inline]
    fn place(&self, key: u128) -> usize {
        let mixed = (key as u64 ^ ((key >> 64) as u64).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.entries.len().wrapping_sub(1))
    }

    #[inline]
    fn find(&self, key: u128) -> Option<usize> {
        match self.entries.get(self.place(key)) {
            Some(Some((known, group))) if *known == key => Some(*group),
            _ => None,
        }
    }

    fn note(&mut self, key: u128, group: usize) {
        self.missed += 1;
        if self.entries.is_empty() || self.missed > self.entries.len() && self.entries.len() < Self::MOST {
            let size = (4 * self.entries.len()).clamp(Self::LEAST, Self::MOST);
            self.entries.clear();
            self.entries.resize(size, None);
            self.missed = 0;
        }
        let place = self.place(key);
        if let Some(entry) = self.entries.get_mut(place) {
            *entry = Some((key, group));
        }
    }

    fn clear(&mut self) {
        self.entries.fill(None);
    }
}

impl Batched {
    /// Of a grouping of the rows in `slot`; `None` if it has to read them one by one.
    pub(crate) fn new(plan: &Grouping<'_>, rows: Rows<'_>) -> Option<Batched> {
        if plan.rollup {
            return None;
        }
        let mut batched = Batched {
            columns: PlainColumns::new(rows.table),
            computation: Computation::default(),
            sources: Vec::with_capacity(plan.aggregates.len()),
            keys: Vec::with_capacity(plan.group.len()),
            selected: Vec::new(),
            raw_keys: Vec::new(),
            groups: Vec::new(),
            words: Vec::new(),
            known: KnownGroups::default(),
            bests: Vec::new(),
            totals: Vec::new(),
        };
        for expr in plan.group {
            let column = column_of(expr, rows)?;
            batched.keys.push(batched.columns.add(rows.table, column)?);
        }
        for spec in plan.aggregates {
            let source = batched.source(spec, rows)?;
            batched.sources.push(source);
        }
        if batched.sources.iter().any(|source| source.has_words()) {
            batched.words.resize_with(plan.aggregates.len(), Vec::new);
        }
        Some(batched)
    }

    fn source(&mut self, spec: &AggregateSpec, rows: Rows<'_>) -> Option<Source> {
        let [argument] = &spec.arguments[..] else {
            let is_count = spec.kind == AggregateKind::Count && spec.arguments.is_empty();
            return is_count.then_some(Source::Rows);
        };
        if !spec.order_by.is_empty() {
            return None;
        }
        let constant = match &argument.node {
            Node::Literal(value) => Some(value),
            Node::Parameter(number) => rows.parameters.get(*number),
            _ => None,
        };
        if let Some(value) = constant {
            let counts_rows = spec.kind == AggregateKind::Count && !spec.distinct && !value.is_null();
            return counts_rows.then_some(Source::Rows);
        }
        let column = column_of(argument, rows);
        match (spec.kind, column) {
            (AggregateKind::Min | AggregateKind::Max, Some(column)) if is_in_order(argument) => {
                let number = self.columns.add(rows.table, column)?;
                let is_least = spec.kind == AggregateKind::Min;
                return Some(Source::Extreme { number, is_least });
            }
            (AggregateKind::Count, Some(column)) if !spec.distinct => {
                return Some(match argument.nullable {
                    true => Source::NotNull { number: self.columns.add(rows.table, column)? },
                    false => Source::Rows,
                });
            }
            (AggregateKind::Count | AggregateKind::Sum | AggregateKind::Avg, _) if !spec.distinct => {
                if let Some(step) = self.computation.add(argument, rows, &mut self.columns)
                    && let Some(vector) = self.computation.vector(step)
                    && Accumulator::new(spec).takes_vector(vector.kind)
                {
                    return Some(Source::Step(step));
                }
            }
            _ => {}
        }
        column.map(|_| Source::Column)
    }

    /// What adding a batch of so many rows takes, in rows that are read one by one.
    pub(crate) fn units(&self, rows: u32) -> u32 {
        let singly = self.sources.iter().filter(|source| matches!(source, Source::Column)).count() as u32;
        let steps = 1 + self.sources.len() as u32 - singly;
        1 + rows * steps / ROWS_AS_ONE + rows * singly * UNITS_OF_COLUMN
    }

    /// Computes everything that the rows of a batch add. False if that cannot be done.
    pub(crate) fn compute(&mut self, sieve: Sieve<'_>, batch: &RowBatch, range: Range<usize>) -> bool {
        let mut rows = Vec::with_capacity(range.len());
        self.selected.clear();
        if let Sieve::None = sieve {
            let (columns, mut are_plain) = (&self.columns, true);
            for row in batch.rows(range.clone()) {
                are_plain &= columns.are_in(row);
                rows.push(row);
            }
            if !are_plain {
                return false;
            }
            self.selected.extend(range);
        } else {
            for (row, position) in batch.rows(range.clone()).zip(range) {
                match sieve.passes(&self.columns, row) {
                    Some(true) => {}
                    Some(false) => continue,
                    None => return false,
                }
                rows.push(row);
                self.selected.push(position);
            }
        }
        self.raw_keys.clear();
        if !self.keys.is_empty() {
            let (columns, keys) = (&self.columns, &self.keys);
            self.raw_keys.extend(rows.iter().map(|row| raw_key(columns, keys, row)));
        }
        for (source, words) in self.sources.iter().zip(&mut self.words) {
            words.clear();
            let is_read = match *source {
                Source::Extreme { number, is_least: true } => {
                    self.columns.words(number, &rows, words, |word| word.map(|word| !word))
                }
                Source::Extreme { number, is_least: false } => {
                    self.columns.words(number, &rows, words, |word| word)
                }
                Source::NotNull { number } => {
                    let is_there = |row: &&[u8]| (!self.columns.is_null(number, row)).then_some(0);
                    words.extend(rows.iter().map(is_there));
                    true
                }
                _ => true,
            };
            if !is_read {
                return false;
            }
        }
        self.computation.run(&self.columns, &rows)
    }
}

/// What the columns that a row is grouped by have, in 128 bits; `None` if that takes more.
#[inline]
fn raw_key(columns: &PlainColumns, keys: &[usize], row: &[u8]) -> Option<u128> {
    let (mut key, mut bytes) = (0u128, 0);
    for number in keys {
        let field = match columns.field(*number, row) {
            Field::Null => &[][..],
            Field::Fixed(field) | Field::Variable(field) => field,
            Field::Absent => return None,
        };
        // Its length, and a length that no field has for NULL.
        let mark = if columns.is_null(*number, row) { 0xff } else { field.len() as u128 };
        bytes += 1 + field.len();
        if bytes > 16 {
            return None;
        }
        key = key << 8 | mark;
        for byte in field {
            key = key << 8 | u128::from(*byte);
        }
    }
    Some(key)
}

/// The column of the rows that an expression is.
fn column_of(expr: &Expr, rows: Rows<'_>) -> Option<usize> {
    let (slot, column) = expr.as_plain_column()?;
    (slot == rows.slot && column < rows.table.columns.len()).then_some(column)
}

/// Whether the fields of a column of that type, of up to 8 bytes, are in the order of its values.
fn is_in_order(expr: &Expr) -> bool {
    match &expr.ty {
        SqlType::Int { .. } | SqlType::Double { .. } | SqlType::Date | SqlType::DateTime { .. } => true,
        SqlType::Decimal { precision, .. } => Decimal::packed_len(*precision) <= 8,
        _ => false,
    }
}

impl AggregateState {
    /// Adds the next rows of the input, if they are many.
    pub(super) fn consume_batch(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
    ) -> SqlAttempt<Taken> {
        if matches!(self.in_batches, InBatches::No) {
            return Ok(Taken::RowByRow);
        }
        match self.input {
            State::Derived(_) => return self.consume_batch_of_union(cx, plan),
            State::Recursive { .. } => return self.consume_columns(cx, plan),
            _ => {}
        }
        let mut in_batches = std::mem::replace(&mut self.in_batches, InBatches::No);
        let taken = self.add_rows_of_batch(cx, plan, &mut in_batches);
        self.in_batches = in_batches;
        taken
    }

    /// The same of a scan, or of the one of a union that is read now.
    pub(super) fn add_rows_of_batch(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        in_batches: &mut InBatches<Batched>,
    ) -> SqlAttempt<Taken> {
        if matches!(in_batches, InBatches::No) {
            return Ok(Taken::RowByRow);
        }
        let Some((_, mut input)) = current_scan(&mut self.input, plan.input) else {
            *in_batches = InBatches::No;
            return Ok(Taken::RowByRow);
        };
        let slot = input.slot;
        let range = match input.next(cx, FEW)? {
            Batch::Rows(range) => range,
            Batch::End => return Ok(Taken::End),
            Batch::RowByRow => return Ok(Taken::RowByRow),
            Batch::Never => {
                *in_batches = InBatches::No;
                return Ok(Taken::RowByRow);
            }
        };
        let rows = Rows { table: input.table.descriptor(), slot, parameters: cx.parameters };
        let Some(batched) = in_batches.get_or_make(|| Batched::new(plan, rows)) else {
            return Ok(Taken::RowByRow);
        };
        let Slot::Batch { batch, .. } = cx.state.frame.slots.at(slot)? else {
            return Ok(Taken::RowByRow);
        };
        if !batched.compute(input.sieve(), batch, range.clone()) {
            input.scan.read_singly(range.end);
            return Ok(Taken::RowByRow);
        }
        if self.is_full(cx, plan) {
            *in_batches = InBatches::No;
            return Ok(Taken::RowByRow);
        }
        let units = batched.units(range.len() as u32);
        cx.in_one_go(|cx| self.add_batch(cx, plan, slot, batched))?;
        if let Some((_, mut input)) = current_scan(&mut self.input, plan.input) {
            input.end(cx, range)?;
        }
        cx.take_turns(units)?;
        Ok(Taken::Added)
    }

    /// Adds what was computed.
    fn add_batch(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        slot: usize,
        batched: &mut Batched,
    ) -> SqlResult<()> {
        if batched.selected.is_empty() {
            return Ok(());
        }
        self.find_groups(cx, plan, slot, batched)?;
        for (place, spec) in plan.aggregates.iter().enumerate() {
            match *batched.sources.at(place)? {
                Source::Rows => self.add_counts(batched, (place, plan), None)?,
                Source::NotNull { .. } => self.add_counts(batched, (place, plan), Some(place))?,
                Source::Step(step) => self.add_vector(batched, (place, plan), step, spec)?,
                Source::Extreme { .. } => self.add_extremes(cx, batched, (place, plan), slot, spec)?,
                Source::Column => {
                    for row in 0..batched.selected.len() {
                        self.add_column(cx, batched, (place, plan), (slot, row), spec)?;
                    }
                }
            }
        }
        cx.session.charge(self.bytes + self.index.size())
    }

    /// Finds the groups of the selected rows; those that are new are begun.
    fn find_groups(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        slot: usize,
        batched: &mut Batched,
    ) -> SqlResult<()> {
        batched.groups.clear();
        if plan.group.is_empty() {
            if self.groups.count == 0 {
                place_row(cx, slot, *batched.selected.at(0)?)?;
                self.known_group_of(cx, plan, Row::AtHand, 0)?;
            }
            return Ok(());
        }
        for (position, raw_key) in batched.selected.iter().zip(&batched.raw_keys) {
            let known = raw_key.and_then(|key| batched.known.find(key));
            let group = match known {
                Some(group) => group,
                None => {
                    place_row(cx, slot, *position)?;
                    let group = self.known_group_of(cx, plan, Row::AtHand, plan.group.len())?;
                    if let Some(key) = *raw_key {
                        batched.known.note(key, group);
                    }
                    group
                }
            };
            batched.groups.push(group);
        }
        Ok(())
    }

    #[inline]
    fn accumulator(&mut self, group: usize, (place, plan): Aggregate<'_>) -> SqlResult<&mut Accumulator> {
        let accumulator = self.groups.accumulators(group, plan).get_mut(place);
        accumulator.ok_or_else(|| SqlError::internal("a group has all of its aggregates"))
    }

    /// Counts rows; of `words`, those that have one.
    fn add_counts(
        &mut self,
        batched: &mut Batched,
        place: Aggregate<'_>,
        words: Option<usize>,
    ) -> SqlResult<()> {
        let Batched { groups, selected, words: all, .. } = &*batched;
        let words = words.and_then(|words| all.get(words));
        let counts = |row: usize| words.is_none_or(|words| matches!(words.get(row), Some(Some(_))));
        if groups.is_empty() {
            let rows = (0..selected.len()).filter(|row| counts(*row)).count();
            self.accumulator(0, place)?.count_rows(rows);
            return Ok(());
        }
        for (row, group) in groups.iter().enumerate() {
            if counts(row) {
                self.accumulator(*group, place)?.count_rows(1);
            }
        }
        Ok(())
    }

    /// Adds the values of a step.
    fn add_vector(
        &mut self,
        batched: &mut Batched,
        place: Aggregate<'_>,
        step: usize,
        spec: &AggregateSpec,
    ) -> SqlResult<()> {
        let Batched { groups, totals, computation, selected, .. } = batched;
        let vector: &Vector =
            computation.vector(step).ok_or_else(|| SqlError::internal("a step has values"))?;
        if groups.is_empty() {
            return self.accumulator(0, place)?.take_vector(vector, 0..selected.len(), spec);
        }
        if vector.kind == Kind::Double || self.groups.count > FEW_GROUPS {
            for (row, group) in groups.iter().enumerate() {
                self.accumulator(*group, place)?.take(vector.value(row), spec)?;
            }
            return Ok(());
        }
        totals.clear();
        totals.resize(self.groups.count, (0, 0));
        for (row, (group, number)) in groups.iter().zip(&vector.exact).enumerate() {
            if let Some((total, count)) = totals.get_mut(*group)
                && !vector.is_null(row)
            {
                *total = total.wrapping_add((*number).into());
                *count += 1;
            }
        }
        for (group, (total, count)) in totals.iter().enumerate() {
            self.accumulator(group, place)?.take_exact(*count, *total, vector.kind)?;
        }
        Ok(())
    }

    /// Adds the column of the rows that have a better one than their group.
    fn add_extremes(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        batched: &mut Batched,
        (place, plan): Aggregate<'_>,
        slot: usize,
        spec: &AggregateSpec,
    ) -> SqlResult<()> {
        let width = plan.aggregates.len();
        batched.bests.resize(self.groups.count * width, None);
        if batched.groups.is_empty() {
            let words = batched.words.at(place)?;
            let best = words.iter().enumerate().filter(|(_, word)| word.is_some());
            if let Some((row, word)) = best.max_by_key(|(_, word)| **word) {
                let known = batched.bests.at_mut(place)?;
                if *word > *known {
                    *known = *word;
                    self.add_column(cx, batched, (place, plan), (slot, row), spec)?;
                }
            }
            return Ok(());
        }
        for row in 0..batched.selected.len() {
            let word = *batched.words.at(place)?.at(row)?;
            let known = batched.bests.at_mut(*batched.groups.at(row)? * width + place)?;
            if word > *known {
                *known = word;
                self.add_column(cx, batched, (place, plan), (slot, row), spec)?;
            }
        }
        Ok(())
    }

    /// Adds a column of one of the selected rows.
    fn add_column(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        batched: &Batched,
        place: Aggregate<'_>,
        (slot, row): (usize, usize),
        spec: &AggregateSpec,
    ) -> SqlResult<()> {
        place_row(cx, slot, *batched.selected.at(row)?)?;
        let group = batched.groups.get(row).copied().unwrap_or(0);
        let accumulator = self.accumulator(group, place)?;
        self.bytes += add_at_hand(cx, accumulator, spec, spec.arguments.at(0)?)?;
        Ok(())
    }
}
