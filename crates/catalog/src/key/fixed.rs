//! Rows of entries that have parts of fixed width only: a row of NULLs, into which the parts are copied.

use super::{KeyCodec, Part};
use crate::descriptor::Table;
use crate::row::{FixedPlace, RowError, null_row};

/// How entries of an index become rows.
#[derive(Debug)]
pub(crate) struct FixedEntries {
    nulls: Vec<u8>,
    /// Where the field of each part is in a row.
    places: Vec<FixedPlace>,
}

impl FixedEntries {
    /// Of an index of the table; `None` if a part is a text, or is not in rows.
    pub(crate) fn new(table: &Table, codec: &KeyCodec) -> Option<FixedEntries> {
        if codec.clustered || codec.has_payload() {
            return None;
        }
        let places = codec.parts.iter().map(|part| FixedPlace::of(table, part.column.into()));
        Some(FixedEntries { places: places.collect::<Option<_>>()?, nulls: null_row(table)? })
    }

    /// Appends the row of an entry.
    pub(super) fn append(&self, parts: &[Part], key: &[u8], out: &mut Vec<u8>) -> Result<(), RowError> {
        let start = out.len();
        out.extend_from_slice(&self.nulls);
        let row = out.get_mut(start..).ok_or(RowError::Damaged)?;
        let mut rest = key;
        for (part, place) in parts.iter().zip(&self.places) {
            let (length, is_null) = part.length(rest).ok_or(RowError::Damaged)?;
            let (piece, behind) = rest.split_at_checked(length).ok_or(RowError::Damaged)?;
            rest = behind;
            if !is_null {
                let field = piece.get(usize::from(part.nullable)..).ok_or(RowError::Damaged)?;
                place.put(field, part.mask, row).ok_or(RowError::Damaged)?;
            }
        }
        if rest.is_empty() { Ok(()) } else { Err(RowError::Damaged) }
    }
}
