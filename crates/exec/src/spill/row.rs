//! The current rows of slots as bytes of a record, and back.
//!
//! ```text
//!   slot:  0                                                  no row
//!          1 | table | stamp (16) | length | bytes            a stored row, as it is in the table
//!          2 | count | values                                 computed values, exactly as they are
//! ```

use std::ops::Range;
use std::sync::Arc;

use palisade_base::codec::{Reader, put_bytes, put_varint};
use palisade_catalog::{Value, ValueRef, verbatim};
use palisade_engine::{RowStamp, Table};
use palisade_expr::context::view;
use palisade_expr::place::At;
use palisade_expr::{Slot, SqlResult};

use super::damaged;

const NO_ROW: u8 = 0;
const STORED: u8 = 1;
const VALUES: u8 = 2;

/// The tables of the rows in a file, by number: a record names a table by it.
#[derive(Debug, Default)]
pub struct RowTables {
    known: Vec<Arc<Table>>,
}

impl RowTables {
    fn number(&mut self, table: &Arc<Table>) -> usize {
        match self.known.iter().position(|known| Arc::ptr_eq(known, table)) {
            Some(number) => number,
            None => {
                self.known.push(table.clone());
                self.known.len() - 1
            }
        }
    }
}

/// Appends what a slot holds.
pub fn append_slot(slot: &Slot, tables: &mut RowTables, out: &mut Vec<u8>) {
    match (slot, slot.stored()) {
        (_, Some((table, row, stamp))) => append_stored(table, row, stamp, tables, out),
        (Slot::Values(values), None) => append_value_slot(values, out),
        (_, None) => out.push(NO_ROW),
    }
}

/// Appends computed values.
pub fn append_value_slot(values: &[Value], out: &mut Vec<u8>) {
    out.push(VALUES);
    append_values(values, out);
}

/// Appends a stored row.
pub fn append_stored(
    table: &Arc<Table>,
    row: &[u8],
    stamp: RowStamp,
    tables: &mut RowTables,
    out: &mut Vec<u8>,
) {
    out.push(STORED);
    put_varint(out, tables.number(table) as u64);
    stamp.to_words().into_iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    put_bytes(out, row);
}

/// Appends values, and how many they are.
pub fn append_values(values: &[Value], out: &mut Vec<u8>) {
    put_varint(out, values.len() as u64);
    values.iter().for_each(|value| verbatim::append(value, out));
}

/// Adds the next values to `values`.
pub fn read_values(reader: &mut Reader<'_>, values: &mut Vec<Value>) -> SqlResult<()> {
    let count = reader.varint().map_err(|_| damaged())?;
    for _ in 0..count {
        values.push(verbatim::read(reader).map_err(|_| damaged())?);
    }
    Ok(())
}

/// What a record has of a slot.
#[derive(Debug)]
pub enum SlotImage {
    /// A stored row, which is in the record.
    Stored {
        /// The number of its table.
        table: usize,
        /// Where in the record it is.
        bytes: Range<usize>,
        /// Its version.
        stamp: RowStamp,
    },
    /// Anything else.
    Other(Slot),
}

impl SlotImage {
    /// The next slot of `record`, of which `reader` has the rest.
    pub fn read(reader: &mut Reader<'_>, record: &[u8]) -> SqlResult<SlotImage> {
        match reader.u8().map_err(|_| damaged())? {
            NO_ROW => Ok(SlotImage::Other(Slot::Null)),
            STORED => SlotImage::read_stored(reader, record),
            VALUES => {
                let mut values = Vec::new();
                read_values(reader, &mut values)?;
                Ok(SlotImage::Other(Slot::Values(values.into())))
            }
            _ => Err(damaged()),
        }
    }

    fn read_stored(reader: &mut Reader<'_>, record: &[u8]) -> SqlResult<SlotImage> {
        let mut read = || {
            let table = reader.varint()?;
            let stamp = RowStamp::from_words([reader.u64()?, reader.u64()?]);
            let row = reader.prefixed_bytes()?;
            Ok::<_, palisade_base::codec::Truncated>((table, stamp, row.len()))
        };
        let (table, stamp, length) = read().map_err(|_| damaged())?;
        let end = record.len() - reader.rest().len();
        Ok(SlotImage::Stored { table: table as usize, bytes: end - length..end, stamp })
    }

    /// The value of a column.
    pub fn value<'r>(
        &'r self,
        record: &'r [u8],
        tables: &'r RowTables,
        column: usize,
    ) -> SqlResult<ValueRef<'r>> {
        match self {
            SlotImage::Stored { table, bytes, .. } => {
                Ok(view(tables.known.at(*table)?, record.part(bytes.clone())?)?.column(column))
            }
            SlotImage::Other(slot) => slot.value(column),
        }
    }

    /// Makes the row current in a slot; it stays here.
    pub fn show(&self, record: &[u8], tables: &RowTables, slot: &mut Slot) -> SqlResult<()> {
        match self {
            SlotImage::Stored { table, bytes, stamp } => {
                slot.set_row(tables.known.at(*table)?, record.part(bytes.clone())?, *stamp);
            }
            SlotImage::Other(other) => slot.clone_from(other),
        }
        Ok(())
    }

    /// Puts the row into a slot; it is gone from here.
    pub fn restore(&mut self, record: &[u8], tables: &RowTables, slot: &mut Slot) -> SqlResult<()> {
        match self {
            SlotImage::Stored { table, bytes, stamp } => {
                slot.set_row(tables.known.at(*table)?, record.part(bytes.clone())?, *stamp);
            }
            SlotImage::Other(other) => *slot = std::mem::take(other),
        }
        Ok(())
    }
}
