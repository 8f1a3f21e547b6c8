//! What comes last of a query block: DISTINCT, ORDER BY and LIMIT, stacked on the operators that find its
//! rows.
//!
//! Rows that must be distinct are projected into a slot of their own, and what they are ordered by with them:
//! behind the columns of the select list, where it takes no part in telling rows apart. A key that is not a
//! part of the select list but depends on it has one value for all rows that look alike; one that does not is
//! refused before ([`super::dependence`]), or, without ONLY_FULL_GROUP_BY, has the value of the row that came
//! first.

use std::collections::HashSet;

use palisade_expr::order::SortKey;
use palisade_expr::{Expr, Node};

use super::select::slot_column;
use super::{Limit, Operator};
use crate::bind::Binder;
use crate::sink::ColumnMeta;

/// A query block whose rows are found and grouped.
pub(super) struct Arrangement<'c> {
    pub(super) root: Operator,
    /// What is computed from each row.
    pub(super) output: Vec<Expr>,
    /// What the client is told of it.
    pub(super) columns: &'c [ColumnMeta],
    pub(super) keys: Vec<SortKey>,
}

impl Arrangement<'_> {
    /// Puts output and keys into a slot of their own; gives it. They are columns of the slot afterwards.
    fn project(&mut self, binder: &mut Binder<'_>) -> usize {
        let slot = binder.new_slot();
        let mut computed = std::mem::take(&mut self.output);
        for (position, (expr, meta)) in computed.iter().zip(self.columns).enumerate() {
            self.output.push(slot_column(slot, position, &meta.name, expr.ty.clone(), expr.nullable));
        }
        for SortKey { expr, .. } in &mut self.keys {
            let position = computed.iter().position(|known| known == expr).unwrap_or_else(|| {
                computed.push(expr.clone());
                computed.len() - 1
            });
            let name = format!("{expr}");
            *expr = slot_column(slot, position, name.trim_matches('`'), expr.ty.clone(), expr.nullable);
        }
        let input = Box::new(std::mem::replace(&mut self.root, Operator::Dual));
        self.root = Operator::Project { input, output: computed, slot };
        slot
    }

    /// Removes duplicates.
    fn distinct(&mut self, binder: &mut Binder<'_>) {
        let types = self.output.iter().map(|expr| expr.ty.clone()).collect();
        let slot = self.project(binder);
        let input = Box::new(std::mem::replace(&mut self.root, Operator::Dual));
        self.root = Operator::Distinct { input, slot, types };
    }

    /// Whether the output is columns only, and they are the keys.
    fn sorts_by_all(&self) -> bool {
        let output: HashSet<&Expr> = self.output.iter().collect();
        output.iter().all(|expr| matches!(expr.node, Node::Column { .. }))
            && output == self.keys.iter().map(|key| &key.expr).collect()
    }

    /// Stacks DISTINCT and ORDER BY. `limit` is how many rows are needed at most; rows that are `ordered`
    /// need no sorting unless it is to be distinct ones.
    pub(super) fn finish(
        mut self,
        binder: &mut Binder<'_>,
        distinct: bool,
        ordered: bool,
        limit: Option<Limit>,
    ) -> (Operator, Vec<Expr>) {
        // Rows that are sorted by all that they show have their duplicates side by side.
        let by_sorting = distinct && self.sorts_by_all();
        if distinct && !by_sorting {
            self.distinct(binder);
        } else if !distinct && self.keys.iter().any(|key| key.expr.is_impure()) {
            // What is sorted by is what is shown, and is done once.
            self.project(binder);
        }
        if !self.keys.is_empty() && (!ordered || distinct) {
            let mut slots = Vec::new();
            self.root.slots(&mut slots);
            let (input, keys) = (Box::new(self.root), self.keys);
            self.root = Operator::Sort { input, keys, slots, limit, distinct: by_sorting };
        }
        (self.root, self.output)
    }
}
