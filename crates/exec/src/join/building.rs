//! Making the hash table of a scan's rows a batch at a time.
//!
//! The keys of a batch are read where they are in its rows, as those of the [left side](super::probing) are,
//! and rows whose key is NULL are passed over; the others become current one after the other, and are kept.

use std::ops::Range;

use palisade_catalog::row::PlainColumns;
use palisade_catalog::{SqlType, Table};
use palisade_engine::RowBatch;
use palisade_expr::place::At;
use palisade_expr::{Slot, SqlAttempt};

use super::probing::{append_keys, is_read, number_of};
use super::{HashJoin, HashJoinState};
use crate::ExecContext;
use crate::batches::{Batch, BatchedScan, InBatches, Sieve, Taken, place_row};

/// Rows of a batch that are read one by one if there are no more of them.
const FEW: usize = 16;
/// What keeping a row takes, with its key, which may be a text: as much as row by row.
const UNITS_OF_ROW: u32 = 3;

/// The keys of a batch.
#[derive(Debug)]
pub(super) struct Building {
    columns: PlainColumns,
    types: Vec<SqlType>,
    found: Found,
}

/// The rows of a batch that are kept.
#[derive(Debug, Default)]
struct Found {
    /// Each with where its key ends in `keys`.
    listed: Vec<(usize, usize)>,
    keys: Vec<u8>,
    /// Of a table of numbers, each with its key.
    numbered: Vec<(usize, i64)>,
}

impl Building {
    /// Of a join whose right rows are of a table in a slot; `None` if they are to be read one by one.
    fn new(plan: &HashJoin<'_>, (slot, table): (usize, &Table)) -> Option<Building> {
        let (mut columns, mut types) = (PlainColumns::new(table), Vec::with_capacity(plan.keys.len()));
        for (_, right, domain) in plan.keys {
            let (of, column) = right.as_plain_column()?;
            let ty = &table.columns.get(column)?.sql_type;
            (of == slot && is_read(ty, *domain)).then_some(())?;
            columns.add(table, column)?;
            types.push(ty.clone());
        }
        Some(Building { columns, types, found: Found::default() })
    }

    /// Reads the keys of the rows that pass the filter. False if that cannot be done.
    fn read(&mut self, plan: &HashJoin<'_>, sieve: Sieve<'_>, batch: &RowBatch, range: Range<usize>) -> bool {
        self.found.listed.clear();
        self.found.keys.clear();
        self.found.numbered.clear();
        if plan.is_by_number() {
            return self.read_numbers(sieve, batch, range).is_some();
        }
        for (position, row) in range.clone().zip(batch.rows(range)) {
            match sieve.passes(&self.columns, row) {
                Some(true) => {}
                Some(false) => continue,
                None => return false,
            }
            let begin = self.found.keys.len();
            match append_keys((&self.columns, &self.types), plan.keys, row, &mut self.found.keys) {
                Some(true) => self.found.listed.push((position, self.found.keys.len())),
                // Of several keys one may have been appended before the one that is NULL.
                Some(false) => self.found.keys.truncate(begin),
                None => return false,
            }
        }
        true
    }

    /// The same of keys that are one whole number.
    fn read_numbers(&mut self, sieve: Sieve<'_>, batch: &RowBatch, range: Range<usize>) -> Option<()> {
        let ty = self.types.first()?;
        for (position, row) in range.clone().zip(batch.rows(range)) {
            if sieve.passes(&self.columns, row)?
                && let Some(number) = number_of(&self.columns, ty, row)?
            {
                self.found.numbered.push((position, number));
            }
        }
        Some(())
    }
}

impl HashJoinState {
    /// Keeps the next right rows, if they are many, and as long as all are kept in memory.
    pub(super) fn build_batch(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &HashJoin<'_>,
    ) -> SqlAttempt<Taken> {
        if matches!(self.building, InBatches::No) || self.put_off.is_some() {
            return Ok(Taken::RowByRow);
        }
        let Some(mut right) = BatchedScan::of(&mut self.right, plan.right) else {
            self.building = InBatches::No;
            return Ok(Taken::RowByRow);
        };
        let slot = right.slot;
        let range = match right.next(cx, FEW)? {
            Batch::Rows(range) => range,
            Batch::End => return Ok(Taken::End),
            Batch::RowByRow => return Ok(Taken::RowByRow),
            Batch::Never => {
                self.building = InBatches::No;
                return Ok(Taken::RowByRow);
            }
        };
        let table = right.table.descriptor();
        let building = self.building.get_or_make(|| Building::new(plan, (slot, table)));
        let (Slot::Batch { batch, .. }, Some(building)) = (cx.state.frame.slots.at(slot)?, building) else {
            return Ok(Taken::RowByRow);
        };
        if !building.read(plan, right.sieve(), batch, range.clone()) {
            right.scan.read_singly(range.end);
            return Ok(Taken::RowByRow);
        }
        let found = std::mem::take(&mut building.found);
        let (done, kept) = self.keep_found(cx, plan, slot, &found, range.end)?;
        if let InBatches::Yes(building) = &mut self.building {
            building.found = found;
        }
        if let Some(mut right) = BatchedScan::of(&mut self.right, plan.right) {
            right.end(cx, range.start..done)?;
        }
        cx.take_turns(1 + UNITS_OF_ROW * kept)?;
        Ok(Taken::Added)
    }

    /// Keeps the rows whose keys have been read, until one is put off. Gives the end of the rows of the batch
    /// that have been looked at, and how many were kept.
    fn keep_found(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &HashJoin<'_>,
        slot: usize,
        found: &Found,
        end: usize,
    ) -> SqlAttempt<(usize, u32)> {
        let mut kept = 0;
        for (position, number) in &found.numbered {
            if self.put_off.is_some() {
                // From now on room is made before each row.
                return Ok((*position, kept));
            }
            place_row(cx, slot, *position)?;
            self.keep_number(cx, plan, *number)?;
            kept += 1;
        }
        let mut begin = 0;
        for (position, end) in &found.listed {
            if self.put_off.is_some() {
                return Ok((*position, kept));
            }
            place_row(cx, slot, *position)?;
            self.key.clear();
            self.key.extend_from_slice(found.keys.get(begin..*end).unwrap_or_default());
            self.keep(cx, plan)?;
            begin = *end;
            kept += 1;
        }
        Ok((end, kept))
    }
}
