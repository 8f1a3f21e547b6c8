//! Select items that subqueries read by their aliases.
//!
//! A subquery that names an item of an enclosing block's select list reads the value that this block gives:
//! of a grouped block an expression over its groups. That is known when all of the block is bound, and so
//! after the subquery. Until then the name is a column of a slot that stands for the select list and has no
//! rows:
//!
//! ```text
//!  SELECT n + 1 AS x, (SELECT SUM(x) FROM u) FROM t GROUP BY n + 1
//!     as it is bound:  SUM(items.0)      when the block is complete:  SUM(groups.0)
//! ```
//!
//! So an aggregate of such a name is one of the block where it stands, as in MySQL, although the item is made
//! of columns of the enclosing one. A column that is an item is itself, except in an aggregate.
//!
//! ORDER BY of a block with DISTINCT names its own items so: `SELECT DISTINCT n + 1 AS x ... ORDER BY x * 2`
//! is ordered by what it shows, though `n` is not shown.

use std::sync::Arc;

use palisade_base::error_catalogue::{ER_ILLEGAL_REFERENCE, ER_WINDOW_INVALID_WINDOW_FUNC_ALIAS_USE};
use palisade_base::mysql_error;
use palisade_expr::place::At;
use palisade_expr::{Expr, Node, SqlResult};
use palisade_parser::ast::ColumnName;

use super::Binder;
use super::scope::{Clause, Scope, same_name, written};
use crate::logical::{Body, JoinTree, Leaf, LogicalQuery, LogicalRecursion, OuterColumn};
use crate::rules::{change_exprs, substitute};

impl Scope {
    /// Whether an expression is computed of a window function of the block.
    pub(super) fn reads_window(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |part| {
            found |= matches!(part.node, Node::Column { slot, .. } if self.windows.iter().any(|window| window.slot == slot));
        });
        found
    }

    /// 3594 for the alias of an item that is computed of a window function.
    pub(super) fn check_window_alias(&self, name: &ColumnName, item: &Expr) -> SqlResult<()> {
        match self.reads_window(item) {
            true => Err(mysql_error!(ER_WINDOW_INVALID_WINDOW_FUNC_ALIAS_USE, name.column)),
            false => Ok(()),
        }
    }

    /// Whether a name of a select item is to be a column of [`item_slot`](Self::item_slot): the item's value
    /// is not known before the block is complete, or an aggregate in a subquery is made of it.
    fn lends_value(&self, item: &Expr, in_aggregate: bool) -> bool {
        let is_of_rows = self.in_aggregate || self.clause == Clause::Group;
        let is_constant = matches!(item.node, Node::Literal(_) | Node::Parameter(_));
        self.lends_items && !is_of_rows && !is_constant && (in_aggregate || !item.is_field())
    }

    /// Whether an expression of ORDER BY reads a select item as a value that DISTINCT shows: what the item is
    /// made of need not be shown.
    pub(super) fn shows_value(&self, item: &Expr) -> bool {
        self.is_distinct && !self.is_summed_up && self.lends_value(item, false)
    }
}

impl Binder<'_> {
    /// What a name that a block further in uses means in the select list of the block at `depth`: 1247 for an
    /// item that aggregates, 3594 for one of a window function.
    pub(super) fn lent_item(&mut self, name: &ColumnName, depth: usize) -> SqlResult<Option<Expr>> {
        let in_aggregate = self.scopes.iter().skip(depth + 1).any(|scope| scope.in_aggregate);
        let scope = self.scopes.at(depth)?;
        let Some(item) = scope.item(name)?.cloned() else { return Ok(None) };
        let groups = scope.group_slot;
        let mut is_aggregated = false;
        item.walk(&mut |part| {
            is_aggregated |= matches!(part.node, Node::Column { slot, .. } if Some(slot) == groups);
        });
        if is_aggregated {
            let reason = "reference to group function";
            return Err(mysql_error!(ER_ILLEGAL_REFERENCE, written(name), reason));
        }
        scope.check_window_alias(name, &item)?;
        if !scope.lends_value(&item, in_aggregate) {
            return Ok(Some(item));
        }
        self.item_column(name, item, depth).map(Some)
    }

    /// A select item of the block at `depth` as a column of the slot that stands for the select list.
    pub(super) fn item_column(&mut self, name: &ColumnName, item: Expr, depth: usize) -> SqlResult<Expr> {
        let scope = self.scopes.at(depth)?;
        let is_named = |known: &&(String, Expr)| same_name(&known.0, &name.column) && known.1 == item;
        let by_alias = scope.items.iter().position(|known| name.table.is_none() && is_named(&known));
        let number = by_alias.or_else(|| scope.items.iter().position(|known| known.1 == item));
        let Some(column) = number else { return Ok(item) };
        let slot = match scope.item_slot {
            Some(slot) => slot,
            None => {
                let slot = self.new_slot();
                self.scopes.at_mut(depth)?.item_slot = Some(slot);
                slot
            }
        };
        let name: Arc<str> = format!("`{}`", name.column).into();
        Ok(Expr { node: Node::Column { slot, column, name, computed: !item.is_field() }, ..item })
    }

    /// What an expression reads, subqueries in it included: slots, and columns.
    pub(super) fn read_by(&self, expr: &Expr) -> (Vec<usize>, Vec<OuterColumn>) {
        let (mut slots, mut columns) = (Vec::new(), Vec::new());
        expr.walk(&mut |part| match &part.node {
            Node::Column { slot, column, name, .. } => {
                slots.push(*slot);
                columns.push(OuterColumn { slot: *slot, column: *column, name: name.clone() });
            }
            Node::Subquery(subquery) => {
                let query = self.subqueries.get(subquery.number).and_then(Option::as_ref);
                if let Some(query) = query {
                    slots.extend(&query.outer_slots);
                    columns.extend(query.outer_columns.iter().cloned());
                }
            }
            _ => {}
        });
        (slots, columns)
    }

    /// Notes that the subqueries of an expression are a part of another subquery as well.
    pub(super) fn share_subqueries(&mut self, expr: &Expr) {
        expr.walk(&mut |part| {
            if let Node::Subquery(subquery) = &part.node {
                self.shared_subqueries.push(subquery.number);
            }
        });
    }

    /// Puts the items of a block that is complete where subqueries read `slot`, which stood for them.
    pub(super) fn give_items(&mut self, slot: usize, items: &[Expr]) -> SqlResult<()> {
        // An item's own subqueries have lower numbers than those that read it.
        for number in 0..self.subqueries.len() {
            let place = self.subqueries.at_mut(number)?;
            if !place.as_ref().is_some_and(|query| query.outer_slots.contains(&slot)) {
                continue;
            }
            let Some(mut query) = place.take() else { continue };
            for read in query.outer_columns.iter().filter(|read| read.slot == slot) {
                items.get(read.column).into_iter().for_each(|item| self.share_subqueries(item));
            }
            change_exprs(&mut query, &mut |expr| substitute(expr, slot, items));
            self.give_reads(&mut query, slot, items);
            *self.subqueries.at_mut(number)? = Some(query);
        }
        Ok(())
    }

    /// Notes what a query and the queries in it read instead of the columns of `slot`.
    fn give_reads(&self, query: &mut LogicalQuery, slot: usize, items: &[Expr]) {
        self.give_reads_of(query, slot, items);
        match &mut query.body {
            Body::Block(block) => {
                let leaves = block.tree.iter_mut();
                leaves.for_each(|tree| self.give_reads_of_tables(tree, slot, items));
            }
            Body::Values { .. } => {}
            Body::Combination(combination) => {
                combination.inputs.iter_mut().for_each(|input| self.give_reads(input, slot, items));
            }
            Body::Arranged { inner, .. } => self.give_reads(inner, slot, items),
        }
    }

    fn give_reads_of_tables(&self, tree: &mut JoinTree, slot: usize, items: &[Expr]) {
        tree.leaves_mut(&mut |leaf| match leaf {
            Leaf::Derived { query, .. } => self.give_reads(query, slot, items),
            Leaf::Recursive { recursion, .. } => {
                let LogicalRecursion { seed, steps, outer_slots, .. } = &mut **recursion;
                outer_slots.retain(|read| *read != slot);
                for query in std::iter::once(seed).chain(steps) {
                    self.give_reads(query, slot, items);
                    outer_slots.extend(&query.outer_slots);
                }
                outer_slots.sort_unstable();
                outer_slots.dedup();
            }
            Leaf::Table(_) | Leaf::Virtual(_) | Leaf::Working { .. } => {}
        });
    }

    fn give_reads_of(&self, query: &mut LogicalQuery, slot: usize, items: &[Expr]) {
        let mut scope = Scope::default();
        let (known, read): (Vec<OuterColumn>, Vec<OuterColumn>) =
            query.outer_columns.drain(..).partition(|column| column.slot != slot);
        query.outer_slots.retain(|known| *known != slot);
        scope.read_slots_outside(&query.outer_slots);
        scope.read_outside(&known);
        for item in read.iter().filter_map(|column| items.get(column.column)) {
            let (slots, columns) = self.read_by(item);
            scope.read_slots_outside(&slots);
            scope.read_outside(&columns);
        }
        (query.outer_slots, query.outer_columns) = (scope.outer_slots, scope.outer_columns);
    }
}
