//! Reading a few columns of many rows.
//!
//! Where a column is in a row follows from the row's first three bytes (see [`row`](super)), and nearly all
//! rows of a table have the same ones. Of these *plain* rows the places are known beforehand, so that a field
//! is read by a load and a mask. Rows that were written before a column was added, and rows with long texts,
//! are not plain: who reads them makes a [`RowView`](super::RowView).

use smallvec::SmallVec;

use super::{Field, HEADER, Place, RowLayout};
use crate::descriptor::Table;
use crate::field::decode_fixed;
use crate::types::SqlType;
use crate::value::ValueRef;

/// Where some columns of a table are in its plain rows.
#[derive(Debug)]
pub struct PlainColumns {
    /// How a plain row begins.
    header: [u8; HEADER],
    /// Start of the end offsets.
    offsets: usize,
    /// Start of the variable part.
    variable: usize,
    places: SmallVec<[PlainPlace; 8]>,
}

#[derive(Debug, Clone, Copy)]
struct PlainPlace {
    /// Its bit in the bitmap of NULLs.
    null_byte: usize,
    null_mask: u8,
    at: At,
}

#[derive(Debug, Clone, Copy)]
enum At {
    Fixed {
        from: usize,
        to: usize,
    },
    /// Where its end offset is, and that of the column before it, if there is one.
    Variable {
        end: usize,
        before: Option<usize>,
    },
}

/// Bytes of an end offset in a plain row.
const OFFSET: usize = 2;

impl PlainColumns {
    /// Of a table with no columns yet.
    pub fn new(table: &Table) -> PlainColumns {
        let layout = table.layout();
        let count = layout.ordinals();
        let [low, high] = (count as u16).to_le_bytes();
        let offsets = Self::fixed(layout) + layout.fixed_length(count);
        PlainColumns {
            header: [0, low, high],
            offsets,
            variable: offsets + OFFSET * layout.variable_count(count),
            places: SmallVec::new(),
        }
    }

    /// Start of the fixed part.
    fn fixed(layout: &RowLayout) -> usize {
        HEADER + layout.ordinals().div_ceil(8)
    }

    /// Adds a column and gives its number here; `None` of a column that is not in rows.
    pub fn add(&mut self, table: &Table, column: usize) -> Option<usize> {
        let layout = table.layout();
        let (ordinal, at) = match *layout.places.get(column)? {
            Place::Virtual => return None,
            Place::Fixed { ordinal, offset, length } => {
                let from = Self::fixed(layout) + offset as usize;
                (ordinal, At::Fixed { from, to: from + length as usize })
            }
            Place::Variable { ordinal, number } => {
                let end = self.offsets + OFFSET * usize::from(number);
                (ordinal, At::Variable { end, before: (number > 0).then(|| end - OFFSET) })
            }
        };
        let null_byte = HEADER + usize::from(ordinal / 8);
        self.places.push(PlainPlace { null_byte, null_mask: 1 << (ordinal % 8), at });
        Some(self.places.len() - 1)
    }

    /// Whether a row is plain: only of such a row may the columns be read here.
    #[inline]
    pub fn are_in(&self, row: &[u8]) -> bool {
        let is_plain = row.first_chunk::<HEADER>() == Some(&self.header);
        let texts = match self.variable > self.offsets {
            true => offset(row, self.variable - OFFSET),
            false => 0,
        };
        is_plain && self.variable + texts == row.len()
    }

    /// Whether a column is NULL.
    #[inline]
    pub fn is_null(&self, number: usize, row: &[u8]) -> bool {
        self.places.get(number).is_none_or(|place| place.is_null(row))
    }

    /// The bytes of a column; [`Field::Absent`] where the row is damaged.
    #[inline]
    pub fn field<'r>(&self, number: usize, row: &'r [u8]) -> Field<'r> {
        let Some(place) = self.places.get(number) else { return Field::Absent };
        if place.is_null(row) {
            return Field::Null;
        }
        match place.at {
            At::Fixed { from, to } => row.get(from..to).map_or(Field::Absent, Field::Fixed),
            At::Variable { end, before } => {
                let start = self.variable + before.map_or(0, |before| offset(row, before));
                let text = row.get(start..self.variable + offset(row, end));
                text.map_or(Field::Absent, Field::Variable)
            }
        }
    }

    /// The value of a column that has this type; `None` where the row is damaged.
    #[inline]
    pub fn value<'r>(&self, number: usize, sql_type: &'r SqlType, row: &'r [u8]) -> Option<ValueRef<'r>> {
        Some(match self.field(number, row) {
            Field::Null => ValueRef::Null,
            Field::Variable(text) => ValueRef::Bytes(text),
            Field::Fixed(field) => decode_fixed(sql_type, field),
            Field::Absent => return None,
        })
    }

    /// Gives a column of fixed width of each row to `put`: its bytes as a number, so that the order of the
    /// numbers is that of the values, or `None` for NULL. False, and gives none, if it has more than 8 bytes
    /// or is of variable width.
    #[inline]
    pub fn words(&self, number: usize, rows: &[&[u8]], mut put: impl FnMut(Option<u64>)) -> bool {
        let Some(place) = self.places.get(number) else { return false };
        let At::Fixed { from, to } = place.at else { return false };
        let length = to - from;
        if !(1..=8).contains(&length) {
            return false;
        }
        if let Some(start) = to.checked_sub(8) {
            // What lies before the field is read with it and masked away.
            let mask = u64::MAX >> (64 - 8 * length);
            for row in rows {
                let word = row.get(start..).and_then(<[u8]>::first_chunk);
                let word = word.map_or(0, |word| u64::from_be_bytes(*word)) & mask;
                put((!place.is_null(row)).then_some(word));
            }
        } else {
            for row in rows {
                let field = row.get(from..to).unwrap_or_default();
                let word = field.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
                put((!place.is_null(row)).then_some(word));
            }
        }
        true
    }
}

impl PlainPlace {
    #[inline]
    fn is_null(&self, row: &[u8]) -> bool {
        row.get(self.null_byte).is_none_or(|byte| byte & self.null_mask != 0)
    }
}

/// The end offset at a place; 0 if the row is not that long.
#[inline]
fn offset(row: &[u8], at: usize) -> usize {
    let bytes = row.get(at..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| usize::from(u16::from_le_bytes(*bytes)))
}

/// The number that a word is of a column of signed integers, or of DECIMAL at its scale.
#[inline]
pub fn signed_of_word(word: u64, length: usize) -> i64 {
    let shift = 64 - 8 * length as u32;
    ((word << shift) ^ 1 << 63) as i64 >> shift
}

/// The number that a word is of a column of doubles.
#[inline]
pub fn double_of_word(word: u64) -> f64 {
    f64::from_bits(if word >> 63 == 0 { !word } else { word & !(1 << 63) })
}
