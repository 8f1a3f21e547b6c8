//! Rows of earlier versions in the form that rows have now.
//!
//! What reads many rows at once knows where their columns are as long as all of them have all columns
//! ([`PlainColumns`](super::PlainColumns)). A row from before columns were added is given them here: a copy
//! of its parts, with the fields of the added columns, or NULL, behind each.

use super::{HEADER, RowError, RowLayout, RowView, WIDE_OFFSETS, encode_with};
use crate::descriptor::{Table, TableDef};
use crate::field::{encode_fixed, fixed_len};
use crate::part::from;
use crate::value::Value;

/// A column that earlier rows may lack.
#[derive(Debug)]
struct Added {
    ordinal: u16,
    /// Its width; 0 if variable.
    length: u32,
    /// What it has in those rows: its bytes, or NULL.
    field: Option<Box<[u8]>>,
}

/// What is appended to earlier rows.
#[derive(Debug, Default)]
pub(super) struct AddedColumns {
    /// Of fixed width, by ordinal.
    fixed: Vec<Added>,
    /// Of variable width, by ordinal.
    variable: Vec<Added>,
}

impl AddedColumns {
    /// Of the columns that a checked definition has added to rows; of one that was dropped again, NULL.
    pub(super) fn new(def: &TableDef) -> AddedColumns {
        let mut added = AddedColumns::default();
        if def.versions.count == 0 {
            return added;
        }
        let kept = def.columns.iter().filter(|column| def.is_added_to_rows(column));
        let kept =
            kept.filter_map(|column| Some((column.ordinal?, &column.sql_type, &column.instant_default)));
        let dropped = def.dropped.iter().filter(|column| column.ordinal >= def.versions.ordinals);
        let dropped = dropped.map(|column| (column.ordinal, &column.sql_type, &Value::Null));
        for (ordinal, sql_type, value) in kept.chain(dropped) {
            let length = fixed_len(sql_type);
            let mut field = Vec::new();
            let is_there = match (length, value) {
                (Some(_), value) => !value.is_null() && encode_fixed(sql_type, value.as_ref(), &mut field),
                (None, Value::Bytes(text)) => {
                    field.extend_from_slice(text);
                    true
                }
                (None, _) => false,
            };
            let field = is_there.then(|| field.into_boxed_slice());
            let columns = if length.is_some() { &mut added.fixed } else { &mut added.variable };
            columns.push(Added { ordinal, length: length.unwrap_or(0) as u32, field });
        }
        added.fixed.sort_unstable_by_key(|column| column.ordinal);
        added.variable.sort_unstable_by_key(|column| column.ordinal);
        added
    }
}

/// Those of them that a row of so many ordinals lacks.
fn lacking(columns: &[Added], count: u16) -> &[Added] {
    columns.get(columns.partition_point(|column| column.ordinal < count)..).unwrap_or_default()
}

/// Whether a row has all columns of its table, by its first bytes.
#[inline]
pub fn is_newest(table: &Table, row: &[u8]) -> bool {
    matches!(*row, [_, low, high, ..] if usize::from(u16::from_le_bytes([low, high])) == table.layout().ordinals())
}

/// Appends a row with all columns of its table that has the values of `row`.
pub fn append_newest(row: &RowView<'_>, out: &mut Vec<u8>) -> Result<(), RowError> {
    let layout = row.table.layout();
    let added_text: usize = lacking(&layout.added.variable, row.count)
        .iter()
        .filter_map(|column| column.field.as_ref())
        .map(|field| field.len())
        .sum();
    let text = row.bytes.len().saturating_sub(row.variable as usize);
    if row.wide || text + added_text > usize::from(u16::MAX) {
        return encode_with(row.table, |column| row.column(column), out);
    }
    append_parts(row, layout, text, out).ok_or(RowError::Damaged)
}

/// The same by copying the parts of a row whose texts are short.
fn append_parts(row: &RowView<'_>, layout: &RowLayout, text: usize, out: &mut Vec<u8>) -> Option<()> {
    let count = layout.ordinals();
    let bitmap = out.len() + HEADER;
    out.push(*row.bytes.first()? & !WIDE_OFFSETS);
    out.extend_from_slice(&(count as u16).to_le_bytes());
    out.extend_from_slice(row.bytes.get(HEADER..row.fixed as usize)?);
    out.resize(bitmap + count.div_ceil(8), 0);
    let fixed = lacking(&layout.added.fixed, row.count);
    let variable = lacking(&layout.added.variable, row.count);
    for column in fixed.iter().chain(variable).filter(|column| column.field.is_none()) {
        *out.get_mut(bitmap + usize::from(column.ordinal / 8))? |= 1 << (column.ordinal % 8);
    }
    out.extend_from_slice(row.bytes.get(row.fixed as usize..row.offsets as usize)?);
    for column in fixed {
        match &column.field {
            Some(field) => out.extend_from_slice(field),
            None => out.resize(out.len() + column.length as usize, 0),
        }
    }
    out.extend_from_slice(row.bytes.get(row.offsets as usize..row.variable as usize)?);
    let mut end = text;
    for column in variable {
        end += column.field.as_ref().map_or(0, |field| field.len());
        out.extend_from_slice(&(end as u16).to_le_bytes());
    }
    out.extend_from_slice(from(row.bytes, row.variable as usize));
    for field in variable.iter().filter_map(|column| column.field.as_ref()) {
        out.extend_from_slice(field);
    }
    Some(())
}
