//! OR over different indexes: each branch is read by an index of its own, one after the other.
//!
//! ```text
//!   WHERE k = 77 OR b = 99
//!
//!   scan by k: k = 77
//!   scan by b: b = 99, filter (k = 77) IS NOT TRUE
//! ```
//!
//! A row for which several branches hold is given by the first of them: the scan of each branch leaves out
//! the rows for which an earlier one holds, so that no row comes twice and none has to be remembered. That
//! takes conditions that stay what they are, so none that reads a user variable, which the statement may set;
//! and one state of the data for all scans. READ UNCOMMITTED has no such state: a row that another session
//! changes meanwhile may come twice there, or not at all, as with any scan.
//!
//! Scans that lock have no such state either, but what they have found stays what it is: each branch reads
//! all of its rows, and those that were given before are told by their primary keys
//! ([`LockedUnion`](crate::Merge::LockedUnion)). So an UPDATE, a DELETE or a locking SELECT with such a
//! condition locks what it finds, and not the table.

use std::rc::Rc;

use super::path::Reading;
use super::planned::{Planned, Pool, Shape};
use super::{Planning, UNITS_A_CONDITION, WantedOrder};
use crate::logical::TableLeaf;
use crate::premise::Premise;
use crate::{Access, cost};
use palisade_catalog::SqlType;
use palisade_expr::{Expr, Node, Truth};

/// Branches of an OR that are read one by one at most.
const MOST_BRANCHES: usize = 16;

/// One branch: how it is read, and what is left to be decided of its rows.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) access: Access,
    pub(super) filter: Pool,
    pub(super) rows: f64,
    /// They were counted in the index.
    is_looked_at: bool,
}

impl<'t> Planning<'_, '_, 't> {
    /// The cheapest way to read a table branch by branch, if it costs less than `least`; `found` rows are
    /// wanted.
    pub(super) fn union(
        &self,
        leaf: &'t TableLeaf,
        reading: &Reading<'_>,
        found: f64,
        wanted: Option<&WantedOrder>,
        least: f64,
    ) -> Option<Planned<'t>> {
        let is_departure = self.outline().is_some_and(|outline| !outline.merges(leaf.slot));
        if reading.table.indexes.len() < 2 || is_departure {
            return None;
        }
        let mut best: Option<Planned<'t>> = None;
        for (at, conjunct) in reading.pool.iter().enumerate() {
            let Node::Or(parts) = &conjunct.expr.node else { continue };
            let is_simple = conjunct.is_usable(reading.bound) && !conjunct.is_expensive;
            let is_simple = is_simple && !conjunct.expr.reads_user_variables();
            if !is_simple || parts.len() > MOST_BRANCHES {
                continue;
            }
            let mut rest = reading.pool.clone();
            rest.remove(at);
            let Some((branches, cost)) = self.branches(leaf, reading, parts, &rest) else { continue };
            self.premises_of_branches(leaf, &branches);
            let found = found.min(branches.iter().map(|branch| branch.rows).sum());
            let keys = if reading.locks { found * cost::MERGED_ENTRY } else { 0.0 };
            let cost = cost + keys + self.arranging(wanted, false, found);
            if cost < best.as_ref().map_or(least, |best| best.cost) {
                let shape = Rc::new(Shape::Union { leaf, branches, rows: found });
                best = Some(Planned { shape, rows: found, cost, again: cost, startup: 0.0, ordered: false });
            }
        }
        best
    }

    /// The best path of each of these branches of an OR, where `rest` are the other conditions, and what they
    /// cost together. `None` if one of them can only be read whole.
    fn branches(
        &self,
        leaf: &TableLeaf,
        reading: &Reading<'_>,
        parts: &[Expr],
        rest: &Pool,
    ) -> Option<(Vec<Branch>, f64)> {
        let (mut branches, mut sum) = (Vec::with_capacity(parts.len()), 0.0);
        let mut earlier = Pool::new();
        for part in parts {
            if self.is_over(UNITS_A_CONDITION * (1 + rest.len())) {
                return None;
            }
            let terms = match &part.node {
                Node::And(terms) => &terms[..],
                _ => std::slice::from_ref(part),
            };
            let own = terms.iter().map(|term| self.conjunct(term.clone()));
            let mut pool: Pool = own.chain(rest.iter().cloned()).chain(earlier.iter().cloned()).collect();
            let locks = reading.locks;
            let reading = Reading { pool: &pool, ..*reading };
            let mut paths = self.candidates(leaf, &reading, None);
            paths.retain(|path| path.is_narrowed() && self.may_merge(leaf, &path.access));
            for path in &mut paths {
                (path.rows, path.is_looked_at) = self.rows_read(&reading, path);
            }
            let costs =
                paths.into_iter().map(|path| (self.cost_of(leaf, &reading, &path, path.rows, None), path));
            let (cost, path) = costs.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
            sum += cost;
            let (rows, is_looked_at) = (path.rows, path.is_looked_at);
            let access = path.take(&mut pool);
            branches.push(Branch { access, filter: pool, rows, is_looked_at });
            if locks {
                continue;
            }
            let node = Node::Is { operand: Box::new(part.clone()), truth: Truth::True, negated: true };
            earlier.push(self.conjunct(Expr::computed(node, SqlType::BIGINT, false)));
        }
        let mut indexes = branches.iter().map(|branch| branch.access.index);
        let first = indexes.next()?;
        // Ranges of one index are read in one scan.
        indexes.any(|index| index != first).then_some((branches, sum))
    }

    /// Whether hints and `optimizer_switch` leave a path for a branch.
    fn may_merge(&self, leaf: &TableLeaf, access: &Access) -> bool {
        let switches = self.statement().switches;
        let of_its_kind = match access.finds_equal_entries(&leaf.table) {
            true => switches.index_merge_union || switches.index_merge_sort_union,
            false => switches.index_merge_sort_union,
        };
        let usually = switches.index_merge && of_its_kind;
        self.planner.joining.hints.merges_index(leaf.slot, access.index, usually)
    }

    /// Notes how many rows the branches were found to have: they are weighed together.
    fn premises_of_branches(&self, leaf: &TableLeaf, branches: &[Branch]) {
        if !self.is_single() {
            return;
        }
        let mut premises = self.statement().premises.borrow_mut();
        for Branch { access, rows, is_looked_at, .. } in branches {
            if *is_looked_at {
                premises.push(Premise::about(&leaf.table, access.clone(), *rows));
            }
        }
    }
}
