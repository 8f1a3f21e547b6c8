//! The order that ORDER BY asks for: its keys, and how their values compare.

use std::cmp::Ordering;

use palisade_catalog::{Value, ValueRef, Watch};

use super::Expr;
use super::compare::compare_typed;

/// An order: by what, and whether descending.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SortKey {
    /// By what.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
}

impl SortKey {
    /// Compares two values of this key.
    pub fn compare(&self, left: ValueRef<'_>, right: ValueRef<'_>, watch: Watch<'_>) -> Ordering {
        let ordering = compare_typed(left, right, &self.expr.ty, watch);
        if self.descending { ordering.reverse() } else { ordering }
    }
}

/// Compares two lists of key values.
pub fn compare_keys(left: &[Value], right: &[Value], keys: &[SortKey], watch: Watch<'_>) -> Ordering {
    for ((left, right), key) in left.iter().zip(right).zip(keys) {
        let ordering = key.compare(left.as_ref(), right.as_ref(), watch);
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    Ordering::Equal
}
