//! Changes of rows of virtual tables, where these may be changed.

use palisade_catalog::Value;

use crate::Origin;

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the statement")]
pub enum ChangeKind {
    Insert,
    Update,
    Delete,
}

/// A change of a row, of which all values are given.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "named after the statement")]
pub enum Change<'a> {
    Insert(&'a [Value]),
    /// One of its columns.
    Update {
        row: &'a [Value],
        column: usize,
        value: &'a Value,
    },
    Delete(&'a [Value]),
}

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// It was made.
    Yes,
    /// It was so before: the row is there already, or has the value, or is gone.
    No,
    /// The column cannot be changed, or not to that value.
    Refused,
}

/// Which changes of a table's rows there are, and what makes one.
pub struct Changes<O: Origin> {
    /// The kinds of changes.
    pub kinds: &'static [ChangeKind],
    /// Makes one.
    pub make: for<'a, 'c> fn(&O::Source<'a>, &Change<'c>) -> Changed,
}
