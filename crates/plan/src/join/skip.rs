//! Skip scans: a range of a part of an index whose leading parts nothing is known of. Each of their values is
//! looked for, and the range read behind it, which pays where they have few values.
//!
//! As in MySQL the block reads one table, and does not group it; the index has all columns that are wanted,
//! or is the table itself.

use palisade_catalog::Column;

use super::Planning;
use super::path::{Candidate, Reading};
use crate::access::index_parts;
use crate::cost;
use crate::logical::TableLeaf;

impl Planning<'_, '_, '_> {
    /// The skip scan that a path becomes whose conditions end before all parts of the index are used.
    pub(super) fn skipping(
        &self,
        leaf: &TableLeaf,
        reading: &Reading<'_>,
        candidate: &Candidate,
    ) -> Option<Candidate> {
        let index = candidate.access.index;
        let joining = &self.planner.joining;
        let is_grouped = joining.group.as_ref().is_some_and(|group| !group.is_empty())
            || joining.order.as_ref().is_some_and(|order| order.groups.is_some());
        let is_whole = index == 0 || candidate.access.covering;
        let is_asked_for = joining.hints.skips_index(leaf.slot, index, self.statement().switches.skip_scan);
        let is_ended = candidate.access.unique || !candidate.access.alternatives.is_empty();
        if !self.is_single() || is_grouped || !is_whole || reading.locks || is_ended || !is_asked_for {
            return None;
        }
        let equals = candidate.access.equals.len();
        let own = leaf.table.indexes.get(index)?.parts.len();
        for (position, part) in index_parts(&leaf.table, index).enumerate().take(own).skip(equals) {
            if part.prefix.is_some() {
                return None;
            }
            let column = usize::from(part.column);
            let Column { sql_type, .. } = leaf.table.columns.get(column)?;
            if position == equals {
                continue;
            }
            let mut skipping = candidate.clone();
            skipping.access.skipped = position - equals;
            self.ranges_of(reading, (column, sql_type), &mut skipping);
            if !skipping.access.alternatives.is_empty() {
                return Some(skipping);
            }
        }
        None
    }

    /// How many rows a skip scan finds.
    pub(super) fn rows_behind(&self, reading: &Reading<'_>, candidate: &Candidate) -> f64 {
        let equals = candidate.access.equals.len();
        let ranged = candidate.used.iter().skip(equals).filter_map(|at| reading.pool.get(*at));
        let ranged: Vec<_> = ranged.cloned().collect();
        Self::rows_per_key(reading, candidate.access.index, equals) * self.part_of(reading, &ranged)
    }

    /// What the look-ups of a skip scan cost: of the first entry with each combination of values, and of the
    /// ranges behind it.
    pub(super) fn skips(&self, reading: &Reading<'_>, candidate: &Candidate, row: f64) -> f64 {
        let (index, equals) = (candidate.access.index, candidate.access.equals.len());
        let all = Self::rows_per_key(reading, index, equals);
        let each = Self::rows_per_key(reading, index, equals + candidate.access.skipped).max(1.0);
        let ranges = candidate.access.alternatives.len().max(1) as f64;
        (all / each).max(1.0) * ((1.0 + ranges) * cost::OPEN_SCAN + row)
    }
}
