//! Versions of a table's rows: columns that come and go while the rows stay as they are.
//!
//! A row says how many ordinals the table had when the row was written ([`row`](crate::row)). A column that
//! is added gets the next ordinal, so older rows end before it; a column that is dropped leaves its type
//! behind, so that older rows still parse. Example, of a table `(id, a)`:
//!
//! ```text
//! statement                    ordinals                        versions     a row written now
//! (as it was made)             id 0, a 1                       0            2 | id a
//! ADD COLUMN b DEFAULT 5       id 0, a 1, b 2                  1, from 2    3 | id a b
//! DROP COLUMN a                id 0, (dropped 1), b 2          2, from 2    3 | id NULL b
//! ADD COLUMN a FIRST           a 3, id 0, (dropped 1), b 2     3, from 2    4 | id NULL b a
//! OPTIMIZE                     a 0, id 1, b 2                  0            3 | a id b
//! ```
//!
//! An ordinal is never given twice until the rows are written anew, so the second `a` is not taken for the
//! first.

use super::{Column, TableDef};
use crate::value::Value;

/// How many statements may add or drop columns before the rows are written anew, as in MySQL (error 4092).
pub const MAX_ROW_VERSIONS: u16 = 255;

/// How often columns came or went while the rows stayed as they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowVersions {
    /// Statements that have added or dropped stored columns since the rows were last written anew.
    pub count: u16,
    /// The ordinals that every row has, if `count` is not 0: columns of later ones were added to rows.
    pub ordinals: u16,
}

impl TableDef {
    /// Columns came or went, and rows stay: `ordinals` is how many the table had before.
    pub fn add_row_version(&mut self, ordinals: u16) {
        if self.versions.count == 0 {
            self.versions.ordinals = ordinals;
        }
        self.versions.count += 1;
    }

    /// Rows are written anew: ordinals follow the columns, and nothing of earlier rows is left.
    pub fn forget_row_versions(&mut self) {
        self.versions = RowVersions::default();
        self.dropped.clear();
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.ordinal = Some(place as u16);
            column.instant_default = Value::Null;
        }
    }

    /// Whether there may be rows from before the column.
    pub fn is_added_to_rows(&self, column: &Column) -> bool {
        let RowVersions { count, ordinals } = self.versions;
        count > 0 && column.ordinal.is_some_and(|ordinal| ordinal >= ordinals)
    }
}
