//! Reading a few columns of many rows.
//!
//! Where a column is in a row follows from the row's first three bytes (see [`row`](super)), and nearly all
//! rows of a table have the same ones. Of these *plain* rows the places are known beforehand, so that a field
//! is read by a load and a mask. Rows that were written before a column was added, and rows with long texts,
//! are not plain: who reads them makes a [`RowView`](super::RowView).

use std::ops::Range;

use palisade_base::bytes::array_at;
use smallvec::SmallVec;

use super::{Field, HEADER, Place, RowLayout};
use crate::descriptor::Table;
use crate::field::decode_fixed;
use crate::types::SqlType;
use crate::value::ValueRef;

/// Where some columns of a table are in its plain rows.
#[derive(Debug)]
pub struct PlainColumns {
    /// How a plain row begins: its first three bytes.
    header: u32,
    /// Start of the end offsets.
    offsets: u32,
    /// Start of the variable part.
    variable: u32,
    /// Where the last end offset is, if there is one.
    last_end: Option<u32>,
    places: SmallVec<[PlainPlace; 8]>,
}

#[derive(Debug, Clone, Copy)]
struct PlainPlace {
    /// Its bit in the bitmap of NULLs; none of a column that is NOT NULL.
    null_byte: u32,
    null_mask: u8,
    at: At,
}

#[derive(Debug, Clone, Copy)]
enum At {
    Fixed {
        from: u32,
        to: u32,
    },
    /// Where its end offset is, and that of the column before it, if there is one.
    Variable {
        end: u32,
        before: Option<u32>,
    },
}

/// Bytes of an end offset in a plain row.
const OFFSET: u32 = 2;

/// What of the first four bytes of a row is its header.
const HEADER_MASK: u32 = u32::MAX >> (8 * (size_of::<u32>() - HEADER));

impl PlainColumns {
    /// Of a table with no columns yet.
    pub fn new(table: &Table) -> PlainColumns {
        let layout = table.layout();
        let count = layout.ordinals();
        let offsets = Self::fixed(layout) + layout.fixed_length(count) as u32;
        let variable = offsets + OFFSET * layout.variable_count(count) as u32;
        PlainColumns {
            header: u32::from(count as u16) << 8,
            offsets,
            variable,
            last_end: (variable > offsets).then(|| variable - OFFSET),
            places: SmallVec::new(),
        }
    }

    /// Start of the fixed part.
    fn fixed(layout: &RowLayout) -> u32 {
        (HEADER + layout.ordinals().div_ceil(8)) as u32
    }

    /// Adds a column and gives its number here; `None` of a column that is not in rows.
    pub fn add(&mut self, table: &Table, column: usize) -> Option<usize> {
        let layout = table.layout();
        let (ordinal, at) = match *layout.places.get(column)? {
            Place::Virtual => return None,
            Place::Fixed { ordinal, offset, length } => {
                let from = Self::fixed(layout) + offset;
                (ordinal, At::Fixed { from, to: from + length })
            }
            Place::Variable { ordinal, number } => {
                let end = self.offsets + OFFSET * u32::from(number);
                (ordinal, At::Variable { end, before: (number > 0).then(|| end - OFFSET) })
            }
        };
        let null_byte = HEADER as u32 + u32::from(ordinal / 8);
        let is_nullable = table.columns.get(column).is_none_or(|column| column.nullable);
        let null_mask = if is_nullable { 1 << (ordinal % 8) } else { 0 };
        self.places.push(PlainPlace { null_byte, null_mask, at });
        Some(self.places.len() - 1)
    }

    /// Whether a row is plain: only of such a row may the columns be read here.
    #[inline]
    pub fn are_in(&self, row: &[u8]) -> bool {
        let Some(first) = row.first_chunk() else { return false };
        let texts = self.last_end.map_or(0, |end| offset(row, end));
        u32::from_le_bytes(*first) & HEADER_MASK == self.header && self.variable as usize + texts == row.len()
    }

    /// Whether a column is NULL.
    #[inline]
    pub fn is_null(&self, number: usize, row: &[u8]) -> bool {
        self.places.get(number).is_none_or(|place| place.is_null(row))
    }

    /// The bytes of a column; [`Field::Absent`] where the row is damaged.
    #[inline]
    pub fn field<'r>(&self, number: usize, row: &'r [u8]) -> Field<'r> {
        self.places.get(number).map_or(Field::Absent, |place| self.field_at(place, row))
    }

    #[inline]
    fn field_at<'r>(&self, place: &PlainPlace, row: &'r [u8]) -> Field<'r> {
        if place.is_null(row) {
            return Field::Null;
        }
        match place.at {
            At::Fixed { from, to } => row.get(from as usize..to as usize).map_or(Field::Absent, Field::Fixed),
            At::Variable { end, before } => {
                let variable = self.variable as usize;
                let start = variable + before.map_or(0, |before| offset(row, before));
                let text = row.get(start..variable + offset(row, end));
                text.map_or(Field::Absent, Field::Variable)
            }
        }
    }

    /// The value of a column that has this type; `None` where the row is damaged.
    #[inline]
    pub fn value<'r>(&self, number: usize, sql_type: &'r SqlType, row: &'r [u8]) -> Option<ValueRef<'r>> {
        value_of(self.field(number, row), sql_type)
    }

    /// The values of all columns, which have these types; NULL where the row is damaged.
    #[inline]
    pub fn values<'r>(
        &'r self,
        types: &'r [&'r SqlType],
        row: &'r [u8],
    ) -> impl ExactSizeIterator<Item = ValueRef<'r>> {
        let places = self.places.iter().zip(types);
        places.map(|(place, ty)| value_of(self.field_at(place, row), ty).unwrap_or(ValueRef::Null))
    }

    /// Whether all columns are of variable width: their values are the bytes of their fields.
    pub fn are_texts(&self) -> bool {
        self.places.iter().all(|place| matches!(place.at, At::Variable { .. }))
    }

    /// The values of all columns, which [are texts](Self::are_texts); `None` for NULL, and where the row is
    /// damaged.
    #[inline]
    pub fn texts<'r>(&'r self, row: &'r [u8]) -> impl ExactSizeIterator<Item = Option<&'r [u8]>> {
        self.places.iter().map(|place| match self.field_at(place, row) {
            Field::Variable(text) => Some(text),
            _ => None,
        })
    }

    /// Appends what `make` makes of a column of fixed width of each row: of its bytes as a number, so that
    /// the order of the numbers is that of the values, or of `None` for NULL. False, and appends nothing, if
    /// it has more than 8 bytes or is of variable width.
    #[inline]
    pub fn words<T>(
        &self,
        number: usize,
        rows: &[&[u8]],
        out: &mut Vec<T>,
        mut make: impl FnMut(Option<u64>) -> T,
    ) -> bool {
        let Some(place) = self.places.get(number) else { return false };
        let At::Fixed { from, to } = place.at else { return false };
        let length = to - from;
        if !(1..=8).contains(&length) {
            return false;
        }
        // What lies around the field in eight bytes is read with it, and shifted and masked away.
        let start = to.saturating_sub(8);
        let (behind, mask) = (8 * (start + 8 - to), u64::MAX >> (64 - 8 * length));
        let word = |row: &[u8]| match array_at(row, start as usize) {
            Some(word) => u64::from_be_bytes(*word).wrapping_shr(behind) & mask,
            None => word_of_short_row(row, from as usize..to as usize),
        };
        match place.null_mask {
            0 => out.extend(rows.iter().map(|row| make(Some(word(row))))),
            _ => out.extend(rows.iter().map(|row| make((!place.is_null(row)).then(|| word(row))))),
        }
        true
    }
}

impl PlainPlace {
    #[inline]
    fn is_null(&self, row: &[u8]) -> bool {
        row.get(self.null_byte as usize).is_none_or(|byte| byte & self.null_mask != 0)
    }
}

/// The end offset at a place; 0 if the row is not that long.
#[inline]
fn offset(row: &[u8], at: u32) -> usize {
    array_at(row, at as usize).map_or(0, |bytes| usize::from(u16::from_le_bytes(*bytes)))
}

/// The word of a field of a row that has no eight bytes around it.
#[cold]
fn word_of_short_row(row: &[u8], field: Range<usize>) -> u64 {
    let field = row.get(field).unwrap_or_default();
    field.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The value of a field that has this type; `None` of a damaged row.
#[inline]
fn value_of<'r>(field: Field<'r>, sql_type: &'r SqlType) -> Option<ValueRef<'r>> {
    Some(match field {
        Field::Null => ValueRef::Null,
        Field::Variable(text) => ValueRef::Bytes(text),
        Field::Fixed(field) => decode_fixed(sql_type, field),
        Field::Absent => return None,
    })
}

/// The number that a word is of a column of signed integers, or of DECIMAL at its scale.
#[inline]
pub fn signed_of_word(word: u64, length: usize) -> i64 {
    // No width is asked for that is not there: nothing is checked for each row.
    let shift = 64u32.wrapping_sub((length as u32).wrapping_mul(8));
    ((word.wrapping_shl(shift) ^ 1 << 63) as i64).wrapping_shr(shift)
}

/// The number that a word is of a column of doubles.
#[inline]
pub fn double_of_word(word: u64) -> f64 {
    f64::from_bits(if word >> 63 == 0 { !word } else { word & !(1 << 63) })
}
