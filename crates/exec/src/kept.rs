//! Rows set aside: an operator that needs its whole input keeps what the slots hold of each row here. The
//! bytes of stored rows lie one behind the other in chunks, and their table is held once, not once a row: a
//! reference count that all workers share is dearer than the row. Of a row of which the statement reads some
//! columns only an [excerpt](RowExcerpt) is kept.
//!
//! ```text
//!   cell   which chunk, and where in it          chunk   ... | length | stamp | bytes | ...
//! ```
//!
//! An excerpt has no stamp: what reads rows to change them reads them whole.

use std::sync::Arc;

use palisade_catalog::ValueRef;
use palisade_catalog::row::RowExcerpt;
use palisade_engine::{RowStamp, Table};
use palisade_expr::context::{Frame, view};
use palisade_expr::place::At;
use palisade_expr::{Slot, SqlError, SqlResult};
use palisade_plan::Operator;

use super::spill::row::{RowTables, append_slot, append_stored};

/// Rows of a few slots, numbered as they were put in.
#[derive(Debug, Default)]
pub struct KeptRows {
    /// Slots of a row.
    width: usize,
    /// The table of each slot whose rows are kept as bytes.
    tables: Vec<Option<Arc<Table>>>,
    /// Of each slot which part of its rows is kept; for those beyond it is all.
    excerpts: Vec<Option<Arc<RowExcerpt>>>,
    cells: Vec<Cell>,
    bytes: Chunks,
    /// What is not a stored row.
    others: Vec<Slot>,
    /// About how many bytes those hold.
    others_size: usize,
}

/// Where what is kept of a slot is.
#[derive(Debug, Clone, Copy)]
struct Cell(u64);

impl Cell {
    const OTHER: u64 = 1 << 63;

    fn stored(Place { chunk, start }: Place) -> Cell {
        Cell(u64::from(chunk) << 32 | u64::from(start))
    }

    fn other(number: usize) -> Cell {
        Cell(number as u64 | Cell::OTHER)
    }

    /// The number of what is not a stored row.
    #[inline]
    fn as_other(self) -> Option<usize> {
        (self.0 & Cell::OTHER != 0).then_some((self.0 & !Cell::OTHER) as usize)
    }

    #[inline]
    fn place(self) -> Place {
        Place { chunk: (self.0 >> 32) as u32, start: self.0 as u32 }
    }
}

/// Bytes of a stored row's length, and of its stamp.
const LENGTH: usize = size_of::<u32>();
const STAMP: usize = 2 * size_of::<u64>();

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

    /// Where the next bytes are put, at most `most`: a chunk with room for them, and their place.
    fn room(&mut self, most: usize) -> SqlResult<(&mut Vec<u8>, Place)> {
        // The first one grows, so that few rows take little; the others are allocated at once.
        let fits = self.chunks.last().is_some_and(|last| last.len() + most <= CHUNK);
        if !fits {
            let capacity = if self.chunks.is_empty() { 0 } else { CHUNK };
            let spare = self.spare.pop();
            self.chunks.push(spare.unwrap_or_else(|| Vec::with_capacity(capacity.max(most))));
        }
        let chunk = self.chunks.len() - 1;
        let last = self.chunks.at_mut(chunk)?;
        let start = last.len() as u32;
        Ok((last, Place { chunk: chunk as u32, start }))
    }

    /// Puts in what `append` appends, behind its length.
    fn push(&mut self, most: usize, append: impl FnOnce(&mut Vec<u8>)) -> SqlResult<Place> {
        let (chunk, place) = self.room(LENGTH + most)?;
        let start = chunk.len();
        chunk.extend_from_slice(&[0; LENGTH]);
        append(chunk);
        let length = (chunk.len() - start - LENGTH) as u32;
        if let Some(known) = chunk.get_mut(start..start + LENGTH) {
            known.copy_from_slice(&length.to_le_bytes());
        }
        self.len += LENGTH + length as usize;
        Ok(place)
    }

    #[inline]
    fn get(&self, place: Place) -> SqlResult<&[u8]> {
        let from = self.chunks.at(place.chunk as usize)?.get(place.start as usize..).unwrap_or_default();
        let bytes = from
            .split_first_chunk()
            .and_then(|(length, rest)| rest.get(..u32::from_le_bytes(*length) as usize));
        bytes.ok_or_else(|| SqlError::internal("a row that is kept has a place"))
    }

    /// Takes out what was put in last.
    fn drop_last(&mut self, place: Place) {
        if let Some(chunk) = self.chunks.get_mut(place.chunk as usize) {
            self.len -= chunk.len().saturating_sub(place.start as usize);
            chunk.truncate(place.start as usize);
        }
    }

    /// Bytes of the chunks: of the last one all that it has room for.
    fn size(&self) -> usize {
        match self.chunks.len() {
            0 => 0,
            1 => self.len,
            chunks => self.len.max(chunks * CHUNK),
        }
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
    /// For the rows that `plan` places in these slots.
    pub fn of(plan: &Operator, slots: &[usize]) -> KeptRows {
        let excerpts = slots.iter().map(|slot| plan.excerpt(*slot).cloned()).collect();
        KeptRows { excerpts, ..KeptRows::default() }
    }

    /// Puts in what `slots` of the frame hold now. The same slots each time.
    pub fn push(&mut self, frame: &Frame, slots: &[usize]) -> SqlResult<()> {
        if self.tables.is_empty() {
            self.width = slots.len();
            self.tables.resize(self.width, None);
            self.excerpts.resize(self.width, None);
        }
        for ((slot, known), excerpt) in slots.iter().zip(&mut self.tables).zip(&self.excerpts) {
            let slot = frame.slots.at(*slot)?;
            let cell = match slot.stored() {
                Some((table, row, stamp))
                    if Arc::ptr_eq(known.get_or_insert_with(|| table.clone()), table) =>
                {
                    if self.cells.is_empty() {
                        self.cells.reserve(FIRST_ROWS * slots.len());
                        self.bytes.reserve(((LENGTH + STAMP + row.len()) * FIRST_ROWS).min(FIRST_BYTES));
                    }
                    Cell::stored(match excerpt {
                        Some(excerpt) => {
                            let row = view(table, row)?;
                            self.bytes.push(row.bytes().len(), |out| excerpt.append(&row, out))?
                        }
                        None => self.bytes.push(STAMP + row.len(), |out| append_whole(row, stamp, out))?,
                    })
                }
                _ => {
                    let kept = slot.keep();
                    self.others_size += kept.size();
                    self.others.push(kept);
                    Cell::other(self.others.len() - 1)
                }
            };
            self.cells.push(cell);
        }
        Ok(())
    }

    /// The bytes of a stored row that is kept of the `number`th slot, and its stamp.
    #[inline]
    fn stored(&self, number: usize, cell: Cell) -> SqlResult<(&[u8], RowStamp)> {
        let bytes = self.bytes.get(cell.place())?;
        if self.excerpts.at(number)?.is_some() {
            return Ok((bytes, RowStamp::from_words([0; 2])));
        }
        let parts = bytes.split_first_chunk::<{ STAMP / 2 }>().and_then(|(writer, rest)| {
            let (roll, row) = rest.split_first_chunk::<{ STAMP / 2 }>()?;
            Some((row, RowStamp::from_words([writer, roll].map(|word| u64::from_le_bytes(*word)))))
        });
        parts.ok_or_else(|| SqlError::internal("a row that is kept has a stamp"))
    }

    /// The value of a column of what the row has of its `number`th slot.
    pub fn value(&self, row: usize, number: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        let cell = *self.cells.at(row * self.width + number)?;
        match cell.as_other() {
            Some(other) => self.others.at(other)?.value(column),
            None => {
                let table = table_of(self.tables.at(number)?)?;
                Ok(view(table, self.stored(number, cell)?.0)?.column(column))
            }
        }
    }

    /// Puts a row back into the frame's slots; it is gone from here.
    pub fn restore(&mut self, row: usize, slots: &[usize], frame: &mut Frame) -> SqlResult<()> {
        let first = row * self.width;
        for (number, slot) in slots.iter().enumerate().take(self.width) {
            let (cell, slot) = (*self.cells.at(first + number)?, frame.slots.at_mut(*slot)?);
            match cell.as_other() {
                Some(other) => *slot = std::mem::take(self.others.at_mut(other)?),
                None => {
                    let (row, stamp) = self.stored(number, cell)?;
                    slot.set_row(table_of(self.tables.at(number)?)?, row, stamp);
                }
            }
        }
        Ok(())
    }

    /// Makes a row current in the frame's slots; it stays here.
    #[inline]
    pub fn show(&self, row: usize, slots: &[usize], frame: &mut Frame) -> SqlResult<()> {
        let first = row * self.width;
        for (number, slot) in slots.iter().enumerate().take(self.width) {
            let (cell, slot) = (*self.cells.at(first + number)?, frame.slots.at_mut(*slot)?);
            match cell.as_other() {
                Some(other) => *slot = self.others.at(other)?.clone(),
                None => {
                    let (row, stamp) = self.stored(number, cell)?;
                    slot.set_row(table_of(self.tables.at(number)?)?, row, stamp);
                }
            }
        }
        Ok(())
    }

    /// Takes out the row that was put in last.
    pub fn drop_last(&mut self) {
        for _ in 0..self.width {
            match self.cells.pop().map(|cell| (cell, cell.as_other())) {
                Some((cell, None)) => self.bytes.drop_last(cell.place()),
                Some((_, Some(_))) => {
                    let other = self.others.pop();
                    self.others_size = self.others_size.saturating_sub(other.map_or(0, |slot| slot.size()));
                }
                None => {}
            }
        }
    }

    /// Room for rows of the same slots, without any.
    pub fn like(&self) -> KeptRows {
        let (tables, excerpts) = (self.tables.clone(), self.excerpts.clone());
        KeptRows { width: self.width, tables, excerpts, ..Self::default() }
    }

    /// Makes ready for rows that are moved from `other`, whose slots are the same.
    pub fn set_like(&mut self, other: &KeptRows) {
        self.width = other.width;
        self.excerpts.clone_from(&other.excerpts);
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
            target.cells.push(match cell.as_other() {
                None => {
                    let bytes = self.bytes.get(cell.place())?;
                    Cell::stored(target.bytes.push(bytes.len(), |out| out.extend_from_slice(bytes))?)
                }
                Some(other) => {
                    let kept = std::mem::take(self.others.at_mut(other)?);
                    target.others_size += kept.size();
                    target.others.push(kept);
                    Cell::other(target.others.len() - 1)
                }
            });
        }
        Ok(())
    }

    /// Appends what it has of a row to a record.
    pub fn append_row(&self, row: usize, tables: &mut RowTables, out: &mut Vec<u8>) -> SqlResult<()> {
        let cells = self.cells.part(row * self.width..(row + 1) * self.width)?;
        for (number, (cell, table)) in cells.iter().zip(&self.tables).enumerate() {
            match cell.as_other() {
                Some(other) => append_slot(self.others.at(other)?, tables, out),
                None => {
                    let (row, stamp) = self.stored(number, *cell)?;
                    append_stored(table_of(table)?, row, stamp, tables, out);
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
        cells.enumerate().map(|(number, cell)| self.cell_size(number, *cell)).sum()
    }

    fn cell_size(&self, number: usize, cell: Cell) -> SqlResult<usize> {
        match cell.as_other() {
            Some(other) => Ok(self.others.get(other).map_or(0, Slot::size)),
            None => Ok(size_of::<Cell>() + self.stored(number, cell)?.0.len()),
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

    /// About how many bytes the rows take that have been put in.
    #[inline]
    pub fn bytes_of_rows(&self) -> usize {
        self.bytes.len + self.others_size + self.cells.len() * size_of::<Cell>()
    }

    /// About how many bytes it holds, with what it has room for.
    pub fn size(&self) -> usize {
        self.bytes.size() + self.others_size + grown::<Cell>(self.cells.len())
    }
}

/// Bytes of a vector of so many items that grows by doubling, with one more of them.
pub fn grown<T>(items: usize) -> usize {
    if items == 0 { 0 } else { (items + 1).next_power_of_two() * size_of::<T>() }
}

/// Appends a row as it is kept whole.
fn append_whole(row: &[u8], stamp: RowStamp, out: &mut Vec<u8>) {
    stamp.to_words().into_iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    out.extend_from_slice(row);
}

/// The table of the stored rows of a slot.
fn table_of(known: &Option<Arc<Table>>) -> SqlResult<&Arc<Table>> {
    known.as_ref().ok_or_else(|| SqlError::internal("a stored row has a table"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_last_can_be_taken_out() {
        let mut chunks = Chunks::default();
        let first = chunks.push(3, |out| out.extend_from_slice(b"row")).unwrap();
        let known = chunks.len;
        for _ in 0..3 {
            let last = chunks.push(5, |out| out.extend_from_slice(b"other")).unwrap();
            chunks.drop_last(last);
            assert_eq!((chunks.len, chunks.get(first).unwrap()), (known, &b"row"[..]));
        }
    }

    #[test]
    fn chunks_that_are_emptied_again_and_again_do_not_pile_up() {
        let mut chunks = Chunks::default();
        for _ in 0..100 {
            chunks.reserve(1000);
            let place = chunks.push(3, |out| out.extend_from_slice(b"row")).unwrap();
            assert_eq!(chunks.get(place).unwrap(), b"row");
            chunks.forget();
            assert_eq!((chunks.len, chunks.chunks.len(), chunks.spare.len()), (0, 0, 1));
        }
    }
}
