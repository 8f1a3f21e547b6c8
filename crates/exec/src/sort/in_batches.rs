//! Reading the rows of a scan a batch at a time where all keys are columns of it.
//!
//! The keys of a batch are packed where they are in its rows, before any of these is kept. A row that comes
//! behind the last one that is wanted is passed over by what is packed of it, and never becomes the current
//! one:
//!
//! ```text
//!   ORDER BY u LIMIT 2      batch   7 3 9 4 8        the last that is wanted so far: 5
//!                                     3   4          are kept
//! ```
//!
//! Of a first key that is a text what is packed depends on all rows: such rows are read one by one.

use std::ops::Range;

use palisade_catalog::row::PlainColumns;
use palisade_catalog::{SqlType, Table};
use palisade_engine::RowBatch;
use palisade_expr::Slot;
use palisade_expr::SqlAttempt;
use palisade_expr::order::SortKey;
use palisade_expr::place::At;

use super::{SortState, Sorting};
use crate::ExecContext;
use crate::batches::{Batch, BatchedScan, InBatches, Sieve, Taken, place_row};
use crate::packed::{KeyPacking, Packed, Ranked};

/// Rows of a batch that are read one by one if there are no more of them.
const FEW: usize = 16;
/// Rows that are kept in the time that another row takes.
const ROWS_AS_ONE: u32 = 4;

/// The keys of a batch.
#[derive(Debug)]
pub(super) struct KeysOfBatch {
    columns: PlainColumns,
    types: Vec<SqlType>,
    /// What is packed of the rows that pass the filter, and which rows these are.
    packed: Vec<(usize, Packed)>,
}

impl KeysOfBatch {
    /// Of a sort of the rows in a slot; `None` if they are to be read one by one.
    fn new(plan: &Sorting<'_>, (slot, table): (usize, &Table)) -> Option<KeysOfBatch> {
        let (mut columns, mut types) = (PlainColumns::new(table), Vec::with_capacity(plan.keys.len()));
        if plan.keys.first().is_none_or(|key| key.expr.ty.is_string()) || !plan.slots.contains(&slot) {
            return None;
        }
        for key in plan.keys {
            let (of, column) = key.expr.as_plain_column()?;
            (of == slot).then_some(())?;
            columns.add(table, column)?;
            types.push(table.columns.get(column)?.sql_type.clone());
        }
        Some(KeysOfBatch { columns, types, packed: Vec::new() })
    }

    /// Packs the keys of the rows that pass the filter. False if that cannot be done.
    fn pack(
        &mut self,
        (packing, keys): (&KeyPacking, &[SortKey]),
        sieve: Sieve<'_>,
        batch: &RowBatch,
        range: Range<usize>,
    ) -> bool {
        self.packed.clear();
        for (position, row) in range.clone().zip(batch.rows(range)) {
            match sieve.passes(&self.columns, row) {
                Some(true) => {}
                Some(false) => continue,
                None => return false,
            }
            let value = |number: usize| {
                let ty = self.types.get(number).ok_or(())?;
                self.columns.value(number, ty, row).ok_or(())
            };
            match packing.pack(keys.iter(), value) {
                Ok(Some(packed)) => self.packed.push((position, packed)),
                Ok(None) | Err(()) => return false,
            }
        }
        true
    }
}

impl SortState {
    /// Keeps the next rows of the input, if they are many, up to so many rows that are held.
    pub(super) fn collect_batch(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Sorting<'_>,
        bound: usize,
    ) -> SqlAttempt<Taken> {
        if matches!(self.in_batches, InBatches::No) || self.is_unpacked {
            return Ok(Taken::RowByRow);
        }
        self.begin_keys(plan);
        let Some(mut input) = BatchedScan::of(&mut self.input, plan.input) else {
            self.in_batches = InBatches::No;
            return Ok(Taken::RowByRow);
        };
        let slot = input.slot;
        let range = match input.next(cx, FEW)? {
            Batch::Rows(range) => range,
            Batch::End => return Ok(Taken::End),
            Batch::RowByRow => return Ok(Taken::RowByRow),
            Batch::Never => {
                self.in_batches = InBatches::No;
                return Ok(Taken::RowByRow);
            }
        };
        let table = input.table.descriptor();
        let keys = self.in_batches.get_or_make(|| KeysOfBatch::new(plan, (slot, table)));
        let Some(keys) = keys else { return Ok(Taken::RowByRow) };
        let Slot::Batch { batch, .. } = cx.state.frame.slots.at(slot)? else { return Ok(Taken::RowByRow) };
        if !keys.pack((&self.packing, plan.keys), input.sieve(), batch, range.clone()) {
            input.scan.read_singly(range.end);
            return Ok(Taken::RowByRow);
        }
        let packed = std::mem::take(&mut keys.packed);
        let (looked_at, kept) = self.keep_packed(cx, plan, (slot, bound), &packed)?;
        let end = packed.get(looked_at).map_or(range.end, |(next, _)| *next);
        if let InBatches::Yes(keys) = &mut self.in_batches {
            keys.packed = packed;
        }
        if let Some(mut input) = BatchedScan::of(&mut self.input, plan.input)
            && end > range.start
        {
            input.end(cx, range.start..end)?;
        }
        cx.session.charge(self.size())?;
        cx.take_turns(1 + (looked_at - kept) as u32 / (4 * ROWS_AS_ONE) + kept as u32 / ROWS_AS_ONE)?;
        Ok(Taken::Added)
    }

    /// Keeps rows of a batch, but for those that are not wanted, until as many are held as may be. Gives how
    /// many were looked at, and how many were kept.
    fn keep_packed(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Sorting<'_>,
        (slot, bound): (usize, usize),
        packed: &[(usize, Packed)],
    ) -> SqlAttempt<(usize, usize)> {
        // A row that is like the last one that is wanted comes behind it; where not all keys are packed it
        // may come before.
        let unwanted = self.last_wanted.as_ref().map(|_| self.last_packed);
        let is_exact = self.packing.is_exact;
        let held = self.ranked.len();
        for (number, (position, packed)) in packed.iter().enumerate() {
            if unwanted.is_some_and(|last| *packed > last || is_exact && *packed == last) {
                continue;
            }
            if self.ranked.len() >= bound || self.is_full(cx) {
                return Ok((number, self.ranked.len() - held));
            }
            place_row(cx, slot, *position)?;
            let before = self.rows.bytes_of_rows();
            self.rows.push(&cx.state.frame, plan.slots)?;
            self.longest_row = self.longest_row.max(self.rows.bytes_of_rows() - before);
            self.ranked.push(Ranked::new(*packed, self.ranked.len())?);
        }
        Ok((packed.len(), self.ranked.len() - held))
    }
}
