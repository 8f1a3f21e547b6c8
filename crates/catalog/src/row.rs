//! The row format: every column in O(1), NULLs in a bitmap, columns added later absent.
//!
//! ```text
//! flags u8 | columns u16 | null bitmap | fixed-width columns | end offsets | variable-width columns
//! ```
//!
//! Columns are in order of their ordinals. The fixed part has room for a column also where it is NULL, so that a
//! column's position does not depend on the row. An end offset is where a variable-width column ends, from the
//! start of the first; 2 bytes each, or 4 if the flags say so.
//!
//! `columns` is the number of ordinals the table had when the row was written. A column beyond it was added later
//! and has its [`instant_default`](crate::Column::instant_default) here. A dropped column stays in the layout; rows
//! written since hold NULL there. So neither ADD COLUMN nor DROP COLUMN touches a row.
//!
//! Fixed-width columns are in the form that keys have (see `field`): a key is copied from a row.

use crate::charset::Charset;
use crate::descriptor::{Column, DescriptorError, Table, TableDef};
use crate::field::{decode_fixed, encode_fixed, fixed_len};
use crate::types::SqlType;
use crate::value::{Value, ValueRef};
use crate::watch::{PIECE, Watch, pieces};
use smallvec::SmallVec;

mod columns;
mod excerpt;
mod newest;

pub use columns::{PlainColumns, double_of_word, signed_of_word};
pub use excerpt::RowExcerpt;
pub use newest::{append_newest, is_newest};

const HEADER: usize = 3;
/// Flag: end offsets have 4 bytes.
const WIDE_OFFSETS: u8 = 1;

/// Where a column is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// At `offset` in the fixed part, `length` bytes.
    Fixed { ordinal: u16, offset: u32, length: u32 },
    /// The `number`th of variable width.
    Variable { ordinal: u16, number: u16 },
    /// Not in the row.
    Virtual,
}

/// A column that encoding comes to.
#[derive(Debug)]
struct Step {
    ordinal: u16,
    /// Its position in the table; `None` for a dropped column.
    column: Option<u16>,
    /// Its width; 0 if variable.
    length: u32,
}

/// Where each column is in a row; derived from a [`TableDef`].
#[derive(Debug)]
pub struct RowLayout {
    /// By position in the table.
    places: Vec<Place>,
    /// Columns of fixed width, by ordinal.
    fixed: Vec<Step>,
    /// Columns of variable width, by ordinal.
    variable: Vec<Step>,
    /// Width of the fixed part of a row of n ordinals, for n from 0.
    fixed_lengths: Vec<u32>,
    /// Columns of variable width in a row of n ordinals, for n from 0.
    variable_counts: Vec<u16>,
    /// What rows from before columns were added lack.
    added: newest::AddedColumns,
}

impl RowLayout {
    /// The layout of `def`'s rows.
    pub(crate) fn new(def: &TableDef) -> Result<RowLayout, DescriptorError> {
        let count = usize::from(def.next_ordinal());
        let mut places = vec![None; count];
        let stored = def.columns.iter().enumerate().filter_map(|(position, column)| {
            column.ordinal.map(|ordinal| (ordinal, Some(position as u16), &column.sql_type))
        });
        let dropped = def.dropped.iter().map(|column| (column.ordinal, None, &column.sql_type));
        for (ordinal, position, sql_type) in stored.chain(dropped) {
            match places.get_mut(usize::from(ordinal)) {
                Some(place @ None) => *place = Some((position, sql_type)),
                _ => {
                    return Err(DescriptorError::Inconsistent(format!(
                        "two columns have the row position {ordinal}"
                    )));
                }
            }
        }
        let mut layout = RowLayout {
            places: vec![Place::Virtual; def.columns.len()],
            fixed: Vec::new(),
            variable: Vec::new(),
            fixed_lengths: vec![0],
            variable_counts: vec![0],
            added: newest::AddedColumns::new(def),
        };
        let (mut offset, mut number) = (0u32, 0u16);
        for (ordinal, place) in places.into_iter().enumerate() {
            let Some((column, sql_type)) = place else {
                return Err(DescriptorError::Inconsistent(format!(
                    "no column has the row position {ordinal}"
                )));
            };
            let ordinal = ordinal as u16;
            let place = match fixed_len(sql_type).map(|length| length as u32) {
                Some(length) => {
                    layout.fixed.push(Step { ordinal, column, length });
                    offset += length;
                    Place::Fixed { ordinal, offset: offset - length, length }
                }
                None => {
                    layout.variable.push(Step { ordinal, column, length: 0 });
                    number += 1;
                    Place::Variable { ordinal, number: number - 1 }
                }
            };
            if let Some(known) = column.and_then(|position: u16| layout.places.get_mut(usize::from(position)))
            {
                *known = place;
            }
            layout.fixed_lengths.push(offset);
            layout.variable_counts.push(number);
        }
        Ok(layout)
    }

    fn ordinals(&self) -> usize {
        self.fixed_lengths.len() - 1
    }

    /// Width of the fixed part of a row of `count` ordinals.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is a width for each count up to that of all ordinals")]
    fn fixed_length(&self, count: usize) -> usize {
        self.fixed_lengths[count] as usize
    }

    /// Columns of variable width in a row of `count` ordinals.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "there is a number for each count up to that of all ordinals"
    )]
    fn variable_count(&self, count: usize) -> usize {
        usize::from(self.variable_counts[count])
    }
}

/// Why values do not make a row, or bytes are none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// A value is not of its column's type (conversion belongs before encoding; see [`crate::store`]).
    #[error("the value for column {column} is not of the column's type")]
    Mismatch {
        /// Position of the column.
        column: usize,
    },
    /// The row would exceed 4 GiB.
    #[error("the row is too long")]
    TooLong,
    /// The bytes do not parse as a row of this table.
    #[error("the row is damaged")]
    Damaged,
}

/// What a column of a new row is made of.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// A value, to be encoded.
    Value(ValueRef<'a>),
    /// A fixed-width field as it is in rows.
    Field(&'a [u8]),
}

/// Appends the row that has `column(i)` in column i (in SQL order). VIRTUAL columns are not asked for.
pub fn encode_with<'v>(
    table: &Table,
    column: impl Fn(usize) -> ValueRef<'v>,
    out: &mut Vec<u8>,
) -> Result<(), RowError> {
    encode_with_watched(table, column, out, &mut |_| true)
}

/// [`encode_with`], which is [watched](crate::watch).
pub fn encode_with_watched<'v>(
    table: &Table,
    column: impl Fn(usize) -> ValueRef<'v>,
    out: &mut Vec<u8>,
    watch: Watch<'_>,
) -> Result<(), RowError> {
    encode_from(table, |position| Source::Value(column(position)), out, watch)
}

/// [`encode_with`], with fields that need no encoding.
#[expect(
    clippy::indexing_slicing,
    reason = "the bitmap has a bit for each ordinal, the table a column for each position of its layout"
)]
pub(crate) fn encode_from<'v>(
    table: &Table,
    column: impl Fn(usize) -> Source<'v>,
    out: &mut Vec<u8>,
    watch: Watch<'_>,
) -> Result<(), RowError> {
    let layout = table.layout();
    let start = out.len();
    let count = layout.ordinals();
    let bitmap = start + HEADER;
    let fixed_len = layout.fixed_length(count);
    out.reserve(HEADER + count.div_ceil(8) + fixed_len + 2 * layout.variable.len());
    out.push(0);
    out.extend_from_slice(&(count as u16).to_le_bytes());
    out.resize(bitmap + count.div_ceil(8), 0);
    for step in &layout.fixed {
        let source = step.column.map_or(Source::Value(ValueRef::Null), |position| column(position.into()));
        match (source, step.column.map(usize::from)) {
            (Source::Value(ValueRef::Null), _) | (_, None) => {
                out[bitmap + usize::from(step.ordinal / 8)] |= 1 << (step.ordinal % 8);
                // A NULL leaves its room, and so does a dropped column.
                out.resize(out.len() + step.length as usize, 0);
            }
            (Source::Field(bytes), Some(position)) => {
                if bytes.len() != step.length as usize {
                    return Err(RowError::Mismatch { column: position });
                }
                out.extend_from_slice(bytes);
            }
            (Source::Value(value), Some(position)) => {
                if !encode_fixed(&table.columns[position].sql_type, value, out) {
                    return Err(RowError::Mismatch { column: position });
                }
            }
        }
    }
    let mut texts: SmallVec<[&[u8]; 16]> = SmallVec::with_capacity(layout.variable.len());
    let mut total = 0usize;
    for step in &layout.variable {
        let source = step.column.map_or(Source::Value(ValueRef::Null), |position| column(position.into()));
        let text: &[u8] = match source {
            Source::Value(ValueRef::Bytes(text)) => text,
            Source::Value(ValueRef::Null) => {
                out[bitmap + usize::from(step.ordinal / 8)] |= 1 << (step.ordinal % 8);
                &[]
            }
            _ => return Err(RowError::Mismatch { column: step.column.unwrap_or_default().into() }),
        };
        total += text.len();
        texts.push(text);
    }
    if u32::try_from(total).is_err() {
        return Err(RowError::TooLong);
    }
    let wide = total > usize::from(u16::MAX);
    if wide {
        out[start] |= WIDE_OFFSETS;
    }
    // End offsets, then the bytes they bound.
    let mut end = 0u32;
    for text in &texts {
        end += text.len() as u32;
        if wide {
            out.extend_from_slice(&end.to_le_bytes());
        } else {
            out.extend_from_slice(&(end as u16).to_le_bytes());
        }
    }
    if wide {
        out.reserve(total);
    }
    for text in &texts {
        if text.len() <= PIECE {
            out.extend_from_slice(text);
        } else {
            pieces(Charset::Binary, text, watch).for_each(|piece| out.extend_from_slice(piece));
        }
    }
    Ok(())
}

/// Where a field of fixed width is in rows that have all columns.
#[derive(Debug)]
pub(crate) struct FixedPlace {
    from: usize,
    length: usize,
    null_byte: usize,
    null_mask: u8,
}

impl FixedPlace {
    /// Of a column; `None` if it is of variable width or not in rows.
    pub(crate) fn of(table: &Table, column: usize) -> Option<FixedPlace> {
        let layout = table.layout();
        let Place::Fixed { ordinal, offset, length } = *layout.places.get(column)? else { return None };
        Some(FixedPlace {
            from: HEADER + layout.ordinals().div_ceil(8) + offset as usize,
            length: length as usize,
            null_byte: HEADER + usize::from(ordinal / 8),
            null_mask: 1 << (ordinal % 8),
        })
    }

    /// Puts a field, each byte of it XORed with `mask`, into a row that has NULL there; `None` if it is not
    /// as long.
    #[inline]
    pub(crate) fn put(&self, field: &[u8], mask: u8, row: &mut [u8]) -> Option<()> {
        let place = row.get_mut(self.from..self.from + self.length)?;
        if field.len() != place.len() {
            return None;
        }
        place.iter_mut().zip(field).for_each(|(place, byte)| *place = byte ^ mask);
        *row.get_mut(self.null_byte)? &= !self.null_mask;
        Some(())
    }
}

/// The row of NULLs.
pub(crate) fn null_row(table: &Table) -> Option<Vec<u8>> {
    let mut row = Vec::new();
    encode_with(table, |_| ValueRef::Null, &mut row).ok()?;
    row.shrink_to_fit();
    Some(row)
}

/// The row of `values`, one per column in SQL order.
pub fn encode(table: &Table, values: &[Value]) -> Result<Vec<u8>, RowError> {
    let mut out = Vec::with_capacity(64);
    encode_into(table, values, &mut out)?;
    Ok(out)
}

/// [`encode`], appended to `out`.
pub fn encode_into(table: &Table, values: &[Value], out: &mut Vec<u8>) -> Result<(), RowError> {
    if values.len() != table.columns.len() {
        return Err(RowError::Mismatch { column: values.len() });
    }
    encode_with(table, |column| values.get(column).map_or(ValueRef::Null, Value::as_ref), out)
}

/// A row, read in place.
#[derive(Debug, Clone, Copy)]
pub struct RowView<'a> {
    table: &'a Table,
    bytes: &'a [u8],
    /// Ordinals this row was written with.
    count: u16,
    wide: bool,
    /// Start of the fixed part.
    fixed: u32,
    /// Start of the end offsets.
    offsets: u32,
    /// Start of the variable part.
    variable: u32,
}

impl<'a> RowView<'a> {
    /// Looks at `bytes` as a row of `table`. The structure is checked once, here.
    #[inline]
    pub fn new(table: &'a Table, bytes: &'a [u8]) -> Result<RowView<'a>, RowError> {
        let [flags, low, high, ..] = *bytes else { return Err(RowError::Damaged) };
        let layout = table.layout();
        let count = u16::from_le_bytes([low, high]);
        if flags & !WIDE_OFFSETS != 0 || usize::from(count) > layout.ordinals() {
            return Err(RowError::Damaged);
        }
        let wide = flags & WIDE_OFFSETS != 0;
        let fixed = HEADER + usize::from(count).div_ceil(8);
        let offsets = fixed + layout.fixed_length(usize::from(count));
        let variable_count = layout.variable_count(usize::from(count));
        let variable = offsets + variable_count * if wide { 4 } else { 2 };
        if u32::try_from(bytes.len()).is_err() {
            return Err(RowError::Damaged);
        }
        let Some(ends) = bytes.get(offsets..variable) else { return Err(RowError::Damaged) };
        let view = RowView {
            table,
            bytes,
            count,
            wide,
            fixed: fixed as u32,
            offsets: offsets as u32,
            variable: variable as u32,
        };
        let (mut last, mut ascend) = (0, true);
        let mut note = |end: usize| {
            ascend &= end >= last;
            last = end;
        };
        if wide {
            ends.as_chunks().0.iter().for_each(|end| note(u32::from_le_bytes(*end) as usize));
        } else {
            ends.as_chunks().0.iter().for_each(|end| note(u16::from_le_bytes(*end).into()));
        }
        if !ascend {
            return Err(RowError::Damaged);
        }
        if variable + last != bytes.len() {
            return Err(RowError::Damaged);
        }
        Ok(view)
    }

    /// The table.
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// The bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "`new` has seen an end offset for each column of variable width"
    )]
    fn end_offset(&self, number: usize) -> usize {
        let offsets = &self.bytes[self.offsets as usize..self.variable as usize];
        if self.wide {
            u32::from_le_bytes(offsets.as_chunks().0[number]) as usize
        } else {
            usize::from(u16::from_le_bytes(offsets.as_chunks().0[number]))
        }
    }

    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "`new` has seen a bitmap of `count` bits; the callers ask below that"
    )]
    fn is_null_at(&self, ordinal: u16) -> bool {
        self.bytes[HEADER + usize::from(ordinal / 8)] >> (ordinal % 8) & 1 == 1
    }

    /// The value of column `column` (in SQL order); NULL for a VIRTUAL column, and where the bytes are no value of
    /// the column's type (see [`check`](Self::check)).
    ///
    /// # Panics
    /// If the table has no such column.
    #[inline]
    pub fn column(&self, column: usize) -> ValueRef<'a> {
        match self.field(column) {
            Field::Fixed(bytes) => decode_fixed(&self.declared(column).sql_type, bytes),
            Field::Variable(bytes) => ValueRef::Bytes(bytes),
            Field::Null => ValueRef::Null,
            Field::Absent => self.declared(column).instant_default.as_ref(),
        }
    }

    /// Whether column `column` is NULL.
    pub fn is_null(&self, column: usize) -> bool {
        match self.field(column) {
            Field::Null => true,
            Field::Absent => self.declared(column).instant_default.is_null(),
            _ => false,
        }
    }

    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "callers ask for columns of the table that the row was read with"
    )]
    fn declared(&self, column: usize) -> &'a Column {
        &self.table.columns[column]
    }

    /// The bytes of a column as they are in the row.
    ///
    /// # Panics
    /// If the table has no such column.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "the layout has a place for each column; `new` has seen that the fixed part is there and that the \
                  end offsets ascend to the end of the row"
    )]
    pub fn field(&self, column: usize) -> Field<'a> {
        match self.table.layout().places[column] {
            Place::Virtual => Field::Null,
            Place::Fixed { ordinal, .. } | Place::Variable { ordinal, .. } if ordinal >= self.count => {
                Field::Absent
            }
            Place::Fixed { ordinal, .. } | Place::Variable { ordinal, .. } if self.is_null_at(ordinal) => {
                Field::Null
            }
            Place::Fixed { offset, length, .. } => {
                let start = (self.fixed + offset) as usize;
                Field::Fixed(&self.bytes[start..start + length as usize])
            }
            Place::Variable { number, .. } => {
                let number = usize::from(number);
                let start = if number == 0 { 0 } else { self.end_offset(number - 1) };
                let variable = &self.bytes[self.variable as usize..];
                Field::Variable(&variable[start..self.end_offset(number)])
            }
        }
    }

    /// All columns, owned.
    pub fn to_values(&self) -> Vec<Value> {
        (0..self.table.columns.len()).map(|column| self.column(column).to_owned()).collect()
    }

    /// Whether every field is a value of its column's type (CHECK TABLE).
    pub fn check(&self) -> Result<(), RowError> {
        let sound = (0..self.table.columns.len()).all(|column| match self.field(column) {
            Field::Fixed(bytes) => !decode_fixed(&self.declared(column).sql_type, bytes).is_null(),
            _ => true,
        });
        if sound { Ok(()) } else { Err(RowError::Damaged) }
    }
}

/// A column's bytes in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'a> {
    /// There is no value.
    Null,
    /// The row is older than the column.
    Absent,
    /// A value of fixed width. Those of one type are in the order of their bytes.
    Fixed(&'a [u8]),
    /// A text.
    Variable(&'a [u8]),
}

/// The bytes that a row has of `value` in a column of that type, which is no text; `None` if it is not of
/// that type or beyond its range.
pub fn fixed_field(sql_type: &SqlType, value: ValueRef<'_>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    encode_fixed(sql_type, value, &mut bytes).then_some(bytes)
}

#[cfg(test)]
mod tests;
