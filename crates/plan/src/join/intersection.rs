//! AND over different indexes, each of which leaves many rows: the entries that they have in common are found
//! first, and rows are read for these only.
//!
//! ```text
//!   WHERE a = 5 AND b = 7
//!
//!   scan by ka: a = 5     entries 3  8  20  31 ...  ─┐
//!                                                    ├─►  8  31 ...  rows by the primary key, filter
//!   scan by kb: b = 7     entries 8  9  31  40 ...  ─┘
//! ```
//!
//! Entries with one whole key of an index lie in the order of the rows, so that two scans side by side find
//! what they have in common, and nothing is kept. As in MySQL only such scans take part. All conditions are
//! decided for the rows again: READ UNCOMMITTED has no state of the data that all scans see.
//!
//! Each scan has a slot of its own, which no expression reads.

use std::rc::Rc;

use super::path::{Candidate, Reading};
use super::planned::{Planned, Pool, Shape, filtering};
use super::{Planning, WantedOrder};
use crate::access::{Access, index_columns};
use crate::cost;
use crate::logical::TableLeaf;
use crate::outline::Way;
use crate::premise::Premise;

/// One of the indexes.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) slot: usize,
    pub(super) access: Access,
    pub(super) rows: f64,
}

impl<'t> Planning<'_, '_, 't> {
    /// The cheapest way to read a table by what several indexes have in common, if it costs less than
    /// `least`; `found` rows are wanted.
    pub(super) fn intersection(
        &self,
        leaf: &'t TableLeaf,
        reading: &Reading<'_>,
        candidates: &[Candidate],
        (found, wanted, least): (f64, Option<&WantedOrder>, f64),
    ) -> Option<Planned<'t>> {
        let is_departure = self.outline().is_some_and(|outline| !outline.merges(leaf.slot));
        if reading.locks || is_departure {
            return None;
        }
        let mut usable: Vec<&Candidate> =
            candidates.iter().filter(|candidate| self.may_intersect(leaf, candidate)).collect();
        if usable.len() < 2 {
            return None;
        }
        usable.sort_by(|one, other| one.rows.total_cmp(&other.rows));
        let (chosen, cost) = cheapest(&usable, found, reading.total());
        let cost = cost + self.arranging(wanted, false, found);
        if chosen.len() < 2 || cost >= least {
            return None;
        }
        self.premises_of_entries(leaf, &chosen);
        let inputs = chosen.iter().enumerate().map(|(number, candidate)| Entries {
            slot: self.statement().slot_of_entries(leaf.slot, number),
            access: Access { covering: true, backward: false, ..candidate.access.clone() },
            rows: candidate.rows,
        });
        let filter: Pool = reading.pool.clone();
        let (each, before) = filtering(&filter);
        let cost = cost + (found * before).min(reading.total()) * each;
        let shape = Rc::new(Shape::Intersection { leaf, inputs: inputs.collect(), filter, rows: found });
        Some(Planned { shape, rows: found, cost, again: cost, startup: cost::OPEN_SCAN, ordered: false })
    }

    /// Whether hints, `optimizer_switch` and the order of its entries leave a path for an intersection.
    fn may_intersect(&self, leaf: &TableLeaf, candidate: &Candidate) -> bool {
        let Access { index, unique, skipped, loose, .. } = &candidate.access;
        let is_plain = *index > 0 && !unique && *skipped == 0 && loose.is_none() && !candidate.parameterised;
        if !is_plain || !candidate.access.finds_equal_entries(&leaf.table) {
            return false;
        }
        let switches = self.statement().switches;
        let usually = switches.index_merge && switches.index_merge_intersection;
        let name = leaf.table.indexes.get(*index).map_or("", |index| &index.name);
        self.planner.joining.hints.merges_index(leaf.slot, *index, usually)
            && leaf.table.key_codec(*index).covers(index_columns(&leaf.table, 0))
            && !self.outline().is_some_and(|outline| outline.excludes(leaf.slot, name, Way::Ranges))
    }

    /// Notes how many entries the indexes were found to have: they are weighed together.
    fn premises_of_entries(&self, leaf: &TableLeaf, chosen: &[&Candidate]) {
        if !self.is_single() {
            return;
        }
        let mut premises = self.statement().premises.borrow_mut();
        for Candidate { access, rows, is_looked_at, .. } in chosen {
            if *is_looked_at {
                premises.push(Premise::about(&leaf.table, access.clone(), *rows));
            }
        }
    }
}

/// The indexes by which `found` rows of a table of so many are found with the least cost, and that cost.
/// Those with few entries come first; one more has to pay.
fn cheapest<'c>(usable: &[&'c Candidate], found: f64, total: f64) -> (Vec<&'c Candidate>, f64) {
    let (mut chosen, mut used): (Vec<&Candidate>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut entries, mut common, mut least) = (0.0, total, f64::INFINITY);
    for candidate in usable {
        if candidate.used.iter().all(|at| used.contains(at)) {
            continue;
        }
        let with = entries + cost::OPEN_SCAN + candidate.rows * (cost::ENTRY_IN_ORDER + cost::MERGED_ENTRY);
        let rows = (common * candidate.rows / total).max(found);
        let cost = with + rows * cost::UNIQUE_LOOKUP;
        if cost < least {
            (entries, common, least) = (with, rows, cost);
            used.extend(&candidate.used);
            chosen.push(candidate);
        }
    }
    (chosen, least)
}
