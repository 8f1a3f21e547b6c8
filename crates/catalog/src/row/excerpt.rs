//! A row without what is not asked for: what operators keep of rows that wait.
//!
//! It is a row as any other. The columns behind the last one that is asked for are left out, as if they had
//! been added to the table later; texts in between are empty.

use super::{HEADER, Place, RowView};
use crate::descriptor::Table;

/// Which part of a table's rows is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowExcerpt {
    /// Ordinals before this one are kept.
    ordinals: u16,
    /// Of their columns of variable width, which are kept.
    variable: Box<[bool]>,
}

impl RowExcerpt {
    /// With these columns; `None` where that is the whole row, and where a column is not in the row.
    pub fn new(table: &Table, columns: impl Iterator<Item = usize>) -> Option<RowExcerpt> {
        let layout = table.layout();
        let (mut ordinals, mut variable) = (0, vec![false; layout.variable.len()]);
        for column in columns {
            match *layout.places.get(column)? {
                Place::Virtual => return None,
                Place::Fixed { ordinal, .. } => ordinals = ordinals.max(ordinal + 1),
                Place::Variable { ordinal, number } => {
                    ordinals = ordinals.max(ordinal + 1);
                    *variable.get_mut(usize::from(number))? = true;
                }
            }
        }
        variable.truncate(layout.variable_count(usize::from(ordinals)));
        let is_whole = usize::from(ordinals) == layout.ordinals() && variable.iter().all(|is_kept| *is_kept);
        (!is_whole).then(|| RowExcerpt { ordinals, variable: variable.into() })
    }

    /// Appends that part of a row.
    #[expect(
        clippy::indexing_slicing,
        reason = "`RowView::new` has seen the bitmap and the fixed part of all ordinals of the row"
    )]
    pub fn append(&self, row: &RowView<'_>, out: &mut Vec<u8>) {
        let (layout, count) = (row.table.layout(), self.ordinals.min(row.count));
        let (bitmap, fixed) = (usize::from(count).div_ceil(8), layout.fixed_length(usize::from(count)));
        out.push(row.bytes[0]);
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&row.bytes[HEADER..HEADER + bitmap]);
        out.extend_from_slice(&row.bytes[row.fixed as usize..row.fixed as usize + fixed]);
        let kept = || self.variable.iter().take(layout.variable_count(usize::from(count))).enumerate();
        let text = |number: usize, is_kept: bool| {
            let start = if number == 0 { 0 } else { row.end_offset(number - 1) };
            let end = if is_kept { row.end_offset(number) } else { start };
            &row.bytes[row.variable as usize + start..row.variable as usize + end]
        };
        let mut end = 0;
        for (number, is_kept) in kept() {
            end += text(number, *is_kept).len();
            match row.wide {
                true => out.extend_from_slice(&(end as u32).to_le_bytes()),
                false => out.extend_from_slice(&(end as u16).to_le_bytes()),
            }
        }
        for (number, is_kept) in kept().filter(|(_, is_kept)| **is_kept) {
            out.extend_from_slice(text(number, *is_kept));
        }
    }
}
