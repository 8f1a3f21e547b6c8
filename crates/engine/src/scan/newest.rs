//! Rows from before columns were added, which readers of many rows are given with all columns.
//!
//! A table whose columns came and went without a rebuild has rows of several versions. Operators that compute
//! with a batch at a time know where a column is only in rows that have all of them, and would go row by row.

use palisade_catalog::RowView;
use palisade_catalog::row::{append_newest, is_newest};

use super::{RowBatch, ScannedRow};
use crate::table::Table;

impl RowBatch {
    /// Gives rows from before columns were added all columns of the table: who reads them wants them alike.
    /// Not for readers who change rows, whose length says where they are kept.
    #[cold]
    pub(super) fn renew_rows(&mut self, table: &Table) {
        let mut newest = Vec::new();
        for place in 0..self.rows.len() {
            let row = self.row(place);
            if is_newest(table, row.row) {
                continue;
            }
            newest.clear();
            // One that is damaged stays as it is, and its reader says so.
            let view = RowView::new(table, row.row);
            if view.and_then(|view| append_newest(&view, &mut newest)).is_ok() {
                let ScannedRow { stamp, newly_locked, .. } = row;
                self.replace(place, &newest, stamp, newly_locked);
            }
        }
    }
}
