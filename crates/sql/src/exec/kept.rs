//! Rows set aside: an operator that needs its whole input keeps what the slots hold of each row here. The bytes of stored
//! rows lie one behind the other in one allocation, and their table is held once, not once a row: a reference count that
//! all workers share is dearer than the row.

use std::sync::Arc;

use palisade_catalog::ValueRef;
use palisade_engine::{RowStamp, Table};

use crate::SqlResult;
use crate::expr::Slot;
use crate::expr::context::{Frame, view};

/// Rows of a few slots, numbered as they were put in.
#[derive(Debug, Default)]
pub struct KeptRows {
    /// Slots of a row.
    width: usize,
    /// The table of each slot whose rows are kept as bytes.
    tables: Vec<Option<Arc<Table>>>,
    cells: Vec<Cell>,
    bytes: Vec<u8>,
    /// What is not a stored row.
    others: Vec<Slot>,
    /// About how many bytes those hold.
    others_size: usize,
}

#[derive(Debug, Clone, Copy)]
enum Cell {
    Stored { start: usize, len: usize, stamp: RowStamp },
    Other(usize),
}

/// Rows that there is room for at first: growing step by step would copy most of a short range several times.
const FIRST_ROWS: usize = 128;
/// Bytes that there is room for at first at most.
const FIRST_BYTES: usize = 32 << 10;

impl KeptRows {
    /// Puts in what `slots` of the frame hold now. The same slots each time.
    pub fn push(&mut self, frame: &Frame, slots: &[usize]) {
        if self.tables.is_empty() {
            self.width = slots.len();
            self.tables.resize(self.width, None);
        }
        for (slot, known) in slots.iter().zip(&mut self.tables) {
            let slot = &frame.slots[*slot];
            let cell = match slot.stored() {
                Some((table, row, stamp))
                    if Arc::ptr_eq(known.get_or_insert_with(|| table.clone()), table) =>
                {
                    if self.cells.is_empty() {
                        self.cells.reserve(FIRST_ROWS * slots.len());
                        self.bytes.reserve((row.len() * FIRST_ROWS).min(FIRST_BYTES));
                    }
                    let start = self.bytes.len();
                    self.bytes.extend_from_slice(row);
                    Cell::Stored { start, len: row.len(), stamp }
                }
                _ => {
                    let kept = slot.keep();
                    self.others_size += kept.size();
                    self.others.push(kept);
                    Cell::Other(self.others.len() - 1)
                }
            };
            self.cells.push(cell);
        }
    }

    /// The value of a column of what the row has of its `number`th slot.
    pub fn value(&self, row: usize, number: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        match &self.cells[row * self.width + number] {
            Cell::Other(other) => self.others[*other].value(column),
            Cell::Stored { start, len, .. } => {
                let table = self.tables[number].as_ref().expect("a stored row has a table");
                Ok(view(table, &self.bytes[*start..*start + *len])?.column(column))
            }
        }
    }

    /// Puts a row back into the frame's slots; it is gone from here.
    pub fn restore(&mut self, row: usize, slots: &[usize], frame: &mut Frame) {
        let first = row * self.width;
        let cells = self.cells[first..first + self.width].iter();
        for ((cell, slot), table) in cells.zip(slots).zip(&self.tables) {
            let slot = &mut frame.slots[*slot];
            match cell {
                Cell::Other(other) => *slot = std::mem::take(&mut self.others[*other]),
                Cell::Stored { start, len, stamp } => {
                    let table = table.as_ref().expect("a stored row has a table");
                    slot.set_row(table, &self.bytes[*start..*start + *len], *stamp);
                }
            }
        }
    }

    /// Keeps only these rows, renumbered in this order.
    pub fn select(&mut self, rows: impl Iterator<Item = usize>) {
        let mut selected =
            KeptRows { width: self.width, tables: std::mem::take(&mut self.tables), ..Self::default() };
        for row in rows {
            for cell in &self.cells[row * self.width..(row + 1) * self.width] {
                selected.cells.push(match cell {
                    Cell::Stored { start, len, stamp } => {
                        let moved = selected.bytes.len();
                        selected.bytes.extend_from_slice(&self.bytes[*start..*start + *len]);
                        Cell::Stored { start: moved, len: *len, stamp: *stamp }
                    }
                    Cell::Other(other) => {
                        let kept = std::mem::take(&mut self.others[*other]);
                        selected.others_size += kept.size();
                        selected.others.push(kept);
                        Cell::Other(selected.others.len() - 1)
                    }
                });
            }
        }
        *self = selected;
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.bytes.clear();
        self.tables.clear();
        self.others.clear();
        self.others_size = 0;
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.others_size + self.cells.len() * size_of::<Cell>()
    }
}
