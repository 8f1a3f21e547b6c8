//! What comes last of a query block: DISTINCT and ORDER BY over its output.
//!
//! Rows that must be distinct are projected into a slot of their own, and what they are ordered by with them:
//! behind the columns of the select list, where it takes no part in telling rows apart. A key that is not a
//! part of the select list but depends on it has one value for all rows that look alike; one that does not is
//! refused before ([`super::dependence`]), or, without ONLY_FULL_GROUP_BY, has the value of the row that came
//! first.

use std::collections::HashSet;

use palisade_expr::order::SortKey;
use palisade_expr::{Expr, Node};
use palisade_session::sink::ColumnMeta;

use super::Binder;
use super::select::slot_column;
use crate::logical::{Distinct, Projection};

/// What a block gives, and in which order.
pub(super) struct Arrangement<'c> {
    /// What is computed from each row.
    pub(super) output: Vec<Expr>,
    /// What the client is told of it.
    pub(super) columns: &'c [ColumnMeta],
    pub(super) keys: Vec<SortKey>,
}

impl Arrangement<'_> {
    /// Puts output and keys into a slot of their own. They are columns of the slot afterwards.
    fn project(&mut self, binder: &mut Binder<'_>) -> Projection {
        let slot = binder.new_slot();
        let mut values = std::mem::take(&mut self.output);
        for (position, (expr, meta)) in values.iter().zip(self.columns).enumerate() {
            self.output.push(slot_column(slot, position, &meta.name, expr.ty.clone(), expr.nullable));
        }
        for SortKey { expr, .. } in &mut self.keys {
            let position = values.iter().position(|known| known == expr).unwrap_or_else(|| {
                values.push(expr.clone());
                values.len() - 1
            });
            let name = format!("{expr}");
            *expr = slot_column(slot, position, name.trim_matches('`'), expr.ty.clone(), expr.nullable);
        }
        Projection { slot, values }
    }

    /// Whether the output is columns only, and they are the keys.
    fn sorts_by_all(&self) -> bool {
        let output: HashSet<&Expr> = self.output.iter().collect();
        output.iter().all(|expr| matches!(expr.node, Node::Column { .. }))
            && output == self.keys.iter().map(|key| &key.expr).collect()
    }

    /// Decides what is put into a slot, and how duplicates are left out if they are to be.
    pub(super) fn arrange(
        &mut self,
        binder: &mut Binder<'_>,
        distinct: bool,
    ) -> (Option<Projection>, Distinct) {
        match distinct {
            // Rows that are sorted by all that they show have their duplicates side by side.
            true if self.sorts_by_all() => (None, Distinct::Sorted),
            true => {
                let types = self.output.iter().map(|expr| expr.ty.clone()).collect();
                (Some(self.project(binder)), Distinct::Projected(types))
            }
            // What is sorted by is what is shown, and is done once.
            false if self.keys.iter().any(|key| key.expr.is_impure()) => {
                (Some(self.project(binder)), Distinct::No)
            }
            false => (None, Distinct::No),
        }
    }
}
