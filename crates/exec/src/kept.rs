//! Rows set aside: an operator that needs its whole input keeps what the slots hold of each row here. The
//! bytes of stored rows lie one behind the other in chunks, and their table is held once, not once a row: a
//! reference count that all workers share is dearer than the row.

use std::sync::Arc;

use palisade_catalog::ValueRef;
use palisade_engine::{RowStamp, Table};
use palisade_expr::context::{Frame, view};
use palisade_expr::place::At;
use palisade_expr::{Slot, SqlError, SqlResult};

use super::spill::row::{RowTables, append_slot, append_stored};

/// Rows of a few slots, numbered as they were put in.
#[derive(Debug, Default)]
pub struct KeptRows {
    /// Slots of a row.
    width: usize,
    /// The table of each slot whose rows are kept as bytes.
    tables: Vec<Option<Arc<Table>>>,
    cells: Vec<Cell>,
    bytes: Chunks,
    /// What is not a stored row.
    others: Vec<Slot>,
    /// About how many bytes those hold.
    others_size: usize,
}

#[derive(Debug, Clone, Copy)]
enum Cell {
    Stored { place: Place, len: u32, stamp: RowStamp },
    Other(usize),
}

/// Bytes in chunks: what is put in is never copied again, as it would be when one allocation grows.
#[derive(Debug, Default)]
struct Chunks {
    chunks: Vec<Vec<u8>>,
    /// Chunks without bytes.
    spare: Vec<Vec<u8>>,
    /// Bytes in all of them.
    len: usize,
}

/// Where bytes begin: which chunk, and where in it.
#[derive(Debug, Clone, Copy)]
struct Place {
    chunk: u32,
    start: u32,
}

/// Bytes of a chunk, unless what is put in is longer.
const CHUNK: usize = 1 << 20;

impl Chunks {
    /// Makes room for so many bytes in the first chunk.
    fn reserve(&mut self, bytes: usize) {
        if self.chunks.is_empty() {
            let mut first = self.spare.pop().unwrap_or_default();
            first.reserve(bytes);
            self.chunks.push(first);
        }
    }

    fn push(&mut self, bytes: &[u8]) -> SqlResult<Place> {
        // The first one grows, so that few rows take little; the others are allocated at once.
        let fits = self.chunks.last().is_some_and(|last| last.len() + bytes.len() <= CHUNK);
        if !fits {
            let capacity = if self.chunks.is_empty() { 0 } else { CHUNK };
            let spare = self.spare.pop();
            self.chunks.push(spare.unwrap_or_else(|| Vec::with_capacity(capacity.max(bytes.len()))));
        }
        let chunk = self.chunks.len() - 1;
        let last = self.chunks.at_mut(chunk)?;
        let start = last.len() as u32;
        last.extend_from_slice(bytes);
        self.len += bytes.len();
        Ok(Place { chunk: chunk as u32, start })
    }

    fn get(&self, place: Place, len: u32) -> SqlResult<&[u8]> {
        let start = place.start as usize;
        self.chunks.at(place.chunk as usize)?.part(start..start + len as usize)
    }

    fn clear(&mut self) {
        self.chunks.clear();
        self.spare.clear();
        self.len = 0;
    }

    /// Takes the bytes out; chunks of the usual length are kept.
    fn forget(&mut self) {
        self.spare.extend(self.chunks.drain(..).filter(|chunk| chunk.capacity() <= CHUNK));
        self.spare.iter_mut().for_each(Vec::clear);
        self.len = 0;
    }
}

/// Rows that there is room for at first: growing step by step would copy most of a short range several times.
const FIRST_ROWS: usize = 128;
/// Bytes that there is room for at first at most.
const FIRST_BYTES: usize = 32 << 10;

impl KeptRows {
    /// Puts in what `slots` of the frame hold now. The same slots each time.
    pub fn push(&mut self, frame: &Frame, slots: &[usize]) -> SqlResult<()> {
        if self.tables.is_empty() {
            self.width = slots.len();
            self.tables.resize(self.width, None);
        }
        for (slot, known) in slots.iter().zip(&mut self.tables) {
            let slot = frame.slots.at(*slot)?;
            let cell = match slot.stored() {
                Some((table, row, stamp))
                    if Arc::ptr_eq(known.get_or_insert_with(|| table.clone()), table) =>
                {
                    if self.cells.is_empty() {
                        self.cells.reserve(FIRST_ROWS * slots.len());
                        self.bytes.reserve((row.len() * FIRST_ROWS).min(FIRST_BYTES));
                    }
                    Cell::Stored { place: self.bytes.push(row)?, len: row.len() as u32, stamp }
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
        Ok(())
    }

    /// The value of a column of what the row has of its `number`th slot.
    pub fn value(&self, row: usize, number: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        match self.cells.at(row * self.width + number)? {
            Cell::Other(other) => self.others.at(*other)?.value(column),
            Cell::Stored { place, len, .. } => {
                let table = table_of(self.tables.at(number)?)?;
                Ok(view(table, self.bytes.get(*place, *len)?)?.column(column))
            }
        }
    }

    /// Puts a row back into the frame's slots; it is gone from here.
    pub fn restore(&mut self, row: usize, slots: &[usize], frame: &mut Frame) -> SqlResult<()> {
        let first = row * self.width;
        let cells = self.cells.part(first..first + self.width)?.iter();
        for ((cell, slot), table) in cells.zip(slots).zip(&self.tables) {
            let slot = frame.slots.at_mut(*slot)?;
            match cell {
                Cell::Other(other) => *slot = std::mem::take(self.others.at_mut(*other)?),
                Cell::Stored { place, len, stamp } => {
                    slot.set_row(table_of(table)?, self.bytes.get(*place, *len)?, *stamp);
                }
            }
        }
        Ok(())
    }

    /// Makes a row current in the frame's slots; it stays here.
    #[inline]
    pub fn show(&self, row: usize, slots: &[usize], frame: &mut Frame) -> SqlResult<()> {
        let first = row * self.width;
        let cells = self.cells.part(first..first + self.width)?.iter();
        for ((cell, slot), table) in cells.zip(slots).zip(&self.tables) {
            let slot = frame.slots.at_mut(*slot)?;
            match cell {
                Cell::Other(other) => *slot = self.others.at(*other)?.clone(),
                Cell::Stored { place, len, stamp } => {
                    slot.set_row(table_of(table)?, self.bytes.get(*place, *len)?, *stamp);
                }
            }
        }
        Ok(())
    }

    /// Room for rows of the same slots, without any.
    pub fn like(&self) -> KeptRows {
        KeptRows { width: self.width, tables: self.tables.clone(), ..Self::default() }
    }

    /// Makes ready for rows that are moved from `other`, whose slots are the same.
    pub fn set_like(&mut self, other: &KeptRows) {
        self.width = other.width;
        self.tables.resize(self.width, None);
        for (own, known) in self.tables.iter_mut().zip(&other.tables) {
            if own.is_none() {
                own.clone_from(known);
            }
        }
    }

    /// Moves a row to the end of `target`, which has the same slots.
    pub fn move_to(&mut self, row: usize, target: &mut KeptRows) -> SqlResult<()> {
        for cell in self.cells.part(row * self.width..(row + 1) * self.width)? {
            target.cells.push(match cell {
                Cell::Stored { place, len, stamp } => {
                    let place = target.bytes.push(self.bytes.get(*place, *len)?)?;
                    Cell::Stored { place, len: *len, stamp: *stamp }
                }
                Cell::Other(other) => {
                    let kept = std::mem::take(self.others.at_mut(*other)?);
                    target.others_size += kept.size();
                    target.others.push(kept);
                    Cell::Other(target.others.len() - 1)
                }
            });
        }
        Ok(())
    }

    /// Appends what it has of a row to a record.
    pub fn append_row(&self, row: usize, tables: &mut RowTables, out: &mut Vec<u8>) -> SqlResult<()> {
        let cells = self.cells.part(row * self.width..(row + 1) * self.width)?;
        for (cell, table) in cells.iter().zip(&self.tables) {
            match cell {
                Cell::Other(other) => append_slot(self.others.at(*other)?, tables, out),
                Cell::Stored { place, len, stamp } => {
                    append_stored(table_of(table)?, self.bytes.get(*place, *len)?, *stamp, tables, out);
                }
            }
        }
        Ok(())
    }

    /// Slots of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// About how many bytes of what it has of a row a record takes.
    pub fn row_size(&self, row: usize) -> SqlResult<usize> {
        let cells = self.cells.part(row * self.width..(row + 1) * self.width)?.iter();
        Ok(cells.map(|cell| self.cell_size(cell)).sum())
    }

    fn cell_size(&self, cell: &Cell) -> usize {
        match cell {
            Cell::Other(other) => self.others.get(*other).map_or(0, Slot::size),
            Cell::Stored { len, .. } => size_of::<Cell>() + *len as usize,
        }
    }

    /// Forgets all rows and keeps the memory for others of the same slots.
    pub fn forget_rows(&mut self) {
        self.cells.clear();
        self.bytes.forget();
        self.others.clear();
        self.others_size = 0;
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
        self.bytes.len + self.others_size + self.cells.len() * size_of::<Cell>()
    }
}

/// The table of the stored rows of a slot.
fn table_of(known: &Option<Arc<Table>>) -> SqlResult<&Arc<Table>> {
    known.as_ref().ok_or_else(|| SqlError::internal("a stored row has a table"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_that_are_emptied_again_and_again_do_not_pile_up() {
        let mut chunks = Chunks::default();
        for _ in 0..100 {
            chunks.reserve(1000);
            let place = chunks.push(b"row").unwrap();
            assert_eq!(chunks.get(place, 3).unwrap(), b"row");
            chunks.forget();
            assert_eq!((chunks.len, chunks.chunks.len(), chunks.spare.len()), (0, 0, 1));
        }
    }
}
