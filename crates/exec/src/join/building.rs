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

use super::probing::{append_keys, is_read};
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
    /// The rows that are kept, each with where its key ends in `keys`.
    listed: Vec<(usize, usize)>,
    keys: Vec<u8>,
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
        Some(Building { columns, types, listed: Vec::new(), keys: Vec::new() })
    }

    /// Reads the keys of the rows that pass the filter. False if that cannot be done.
    fn read(&mut self, plan: &HashJoin<'_>, sieve: Sieve<'_>, batch: &RowBatch, range: Range<usize>) -> bool {
        self.listed.clear();
        self.keys.clear();
        for (position, row) in range.clone().zip(batch.rows(range)) {
            match sieve.passes(&self.columns, row) {
                Some(true) => {}
                Some(false) => continue,
                None => return false,
            }
            let begin = self.keys.len();
            match append_keys((&self.columns, &self.types), plan.keys, row, &mut self.keys) {
                Some(true) => self.listed.push((position, self.keys.len())),
                // Of several keys one may have been appended before the one that is NULL.
                Some(false) => self.keys.truncate(begin),
                None => return false,
            }
        }
        true
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
        let (listed, keys) = (std::mem::take(&mut building.listed), std::mem::take(&mut building.keys));
        let (mut begin, mut done) = (0, range.end);
        for (position, end) in &listed {
            if self.put_off.is_some() {
                // From now on room is made before each row.
                done = *position;
                break;
            }
            place_row(cx, slot, *position)?;
            self.key.clear();
            self.key.extend_from_slice(keys.get(begin..*end).unwrap_or_default());
            self.keep(cx, plan)?;
            begin = *end;
        }
        let kept = listed.len() as u32;
        if let InBatches::Yes(building) = &mut self.building {
            (building.listed, building.keys) = (listed, keys);
        }
        if let Some(mut right) = BatchedScan::of(&mut self.right, plan.right) {
            right.end(cx, range.start..done)?;
        }
        cx.take_turns(1 + UNITS_OF_ROW * kept)?;
        Ok(Taken::Added)
    }
}
