//! What is told of the planning of joins, if [decisions](crate::decisions) are recorded.

use super::path::{Candidate, Reading};
use super::planned::{Planned, Shape, TableSet};
use super::{Planning, WantedOrder};
use crate::JoinKind;
use crate::decisions::{Decisions, Json, WeighedJoin, WeighedPath};
use crate::logical::{JoinTree, Leaf, TableLeaf};
use crate::outline::Way;
use crate::rewritten::name;

/// A table's name in the statement, in quotes.
fn shown(leaf: &Leaf) -> (usize, String) {
    let (slot, alias) = match leaf {
        Leaf::Table(leaf) => (leaf.slot, &leaf.alias),
        Leaf::Virtual(leaf) => (leaf.slot, &leaf.alias),
        Leaf::Derived { slot, alias, .. }
        | Leaf::Recursive { slot, alias, .. }
        | Leaf::Working { slot, alias, .. } => (*slot, alias),
    };
    (slot, name(alias))
}

fn names(tree: &JoinTree, out: &mut Vec<(usize, String)>) {
    match tree {
        JoinTree::Leaf(leaf) => out.push(shown(leaf)),
        JoinTree::Inner(parts, _) => parts.iter().for_each(|part| names(part, out)),
        JoinTree::Left(left, right, _) | JoinTree::Semi { left, right, .. } => {
            names(left, out);
            names(right, out);
        }
    }
}

/// How a path reads a table, in MySQL's words where it has some.
fn access_type(candidate: &Candidate) -> &'static str {
    let access = &candidate.access;
    match Way::of(access) {
        Way::Loose => "group_index_range",
        Way::Skip => "skip_scan",
        Way::Whole if access.index == 0 => "scan",
        Way::Whole => "index",
        Way::Ranges if access.unique && candidate.parameterised => "eq_ref",
        Way::Ranges if access.unique => "const",
        Way::Ranges if access.alternatives.is_empty() => "ref",
        Way::Ranges => "range",
    }
}

fn kind_name(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "inner",
        JoinKind::Left => "left",
        JoinKind::Semi => "semi",
        JoinKind::Anti => "anti",
    }
}

/// A planned part of a join, and its tables in the order in which they are read.
fn plan(planned: &Planned<'_>, order: &mut Vec<String>) -> Json {
    let text = |text: &str| Json::Text(text.to_owned());
    let mut members = Vec::new();
    let mut table = |leaf: &TableLeaf, access: &'static str, members: &mut Vec<(&'static str, Json)>| {
        order.push(name(&leaf.alias));
        members.push(("table", Json::Text(name(&leaf.alias))));
        members.push(("access_type", text(access)));
    };
    match &*planned.shape {
        Shape::Nothing => members.push(("access_type", text("none"))),
        Shape::Table { leaf, access, .. } => {
            let of_index = leaf.table.indexes.get(access.index).map(|index| index.name.clone());
            let access_type = match Way::of(access) {
                Way::Whole if access.index == 0 => "scan",
                Way::Whole => "index",
                Way::Loose => "group_index_range",
                Way::Skip => "skip_scan",
                Way::Ranges if access.unique => "eq_ref",
                Way::Ranges if access.alternatives.is_empty() => "ref",
                Way::Ranges => "range",
            };
            table(leaf, access_type, &mut members);
            members.extend(of_index.map(|index| ("index", Json::Text(index))));
        }
        Shape::Union { leaf, .. } => table(leaf, "index_merge_union", &mut members),
        Shape::Intersection { leaf, .. } => table(leaf, "index_merge_intersection", &mut members),
        Shape::Virtual { leaf, .. } => {
            order.push(name(&leaf.alias));
            members.push(("table", Json::Text(name(&leaf.alias))));
            members.push(("access_type", text("virtual")));
        }
        Shape::Whole { leaf, .. } => {
            let (_, shown) = shown(leaf);
            order.push(shown.clone());
            members.push(("table", Json::Text(shown)));
            members.push(("access_type", text("scan")));
        }
        Shape::Filter { input, .. } => return plan(input, order),
        Shape::Hash { left, right, kind, .. } | Shape::Nested { left, right, kind } => {
            let hashes = matches!(&*planned.shape, Shape::Hash { .. });
            members.push(("join_type", text(kind_name(*kind))));
            members.push(("join_algorithm", text(if hashes { "hash_join" } else { "nested_loop" })));
            members.push(("left", plan(left, order)));
            members.push(("right", plan(right, order)));
        }
    }
    members.push(("rows", Json::Number(planned.rows)));
    members.push(("cost", Json::cost(planned.cost)));
    Json::Object(members)
}

/// Two sets of tables that are joined, and what that costs.
pub(super) struct Weighing {
    pub(super) left: TableSet,
    pub(super) right: TableSet,
    pub(super) kind: JoinKind,
    pub(super) rows: f64,
    pub(super) nested_cost: f64,
    pub(super) hash_cost: Option<f64>,
    /// The way that costs least is a hash table.
    pub(super) hashes: bool,
    /// Another way to join all of them costs less.
    pub(super) is_dearer: bool,
}

impl<'t> Planning<'_, '_, 't> {
    /// The joins of a tree are going to be planned.
    pub(super) fn record_begin(&self, tree: &JoinTree) {
        if let Some(decisions) = self.statement().decisions {
            let mut of_slots = Vec::new();
            names(tree, &mut of_slots);
            let local = self.planner.joining.local.iter();
            let name_of =
                |slot: &usize| of_slots.iter().find(|(known, _)| known == slot).map(|(_, name)| name.clone());
            decisions.begin_joins(local.map(|slot| name_of(slot).unwrap_or_default()).collect());
        }
    }

    /// They have been planned.
    pub(super) fn record_end(&self, planned: &Planned<'t>) {
        if let Some(decisions) = self.statement().decisions {
            let mut order = Vec::new();
            let plan = plan(planned, &mut order);
            decisions.end_joins((planned.rows, planned.cost), order, plan);
        }
    }

    /// Two sets of tables have been weighed as a join.
    #[inline]
    pub(super) fn record_join(&self, weighing: impl FnOnce() -> Weighing) {
        if let Some(decisions) = self.statement().decisions {
            record_join(decisions, &weighing());
        }
    }

    /// The paths to a table have been weighed, of which the one with that number costs least; `merge` is what
    /// is taken instead, if that is one.
    #[inline]
    pub(super) fn record_paths(
        &self,
        weighed: (&TableLeaf, &Reading<'_>, &[Candidate], usize),
        sizes: (f64, Option<&WantedOrder>),
        merge: Option<(&'static str, &Planned<'t>)>,
    ) {
        if let Some(decisions) = self.statement().decisions {
            self.tell_paths(decisions, weighed, sizes, merge);
        }
    }

    #[cold]
    fn tell_paths(
        &self,
        decisions: &Decisions,
        (leaf, reading, candidates, chosen): (&TableLeaf, &Reading<'_>, &[Candidate], usize),
        (found, wanted): (f64, Option<&WantedOrder>),
        merge: Option<(&'static str, &Planned<'t>)>,
    ) {
        let path = |(number, candidate): (usize, &Candidate)| WeighedPath {
            access_type: access_type(candidate),
            index: leaf.table.indexes.get(candidate.access.index).map(|index| index.name.clone()),
            rows: candidate.rows,
            cost: self.cost_of(leaf, reading, candidate, found, wanted),
            ordered: candidate.ordered,
            covering: candidate.access.covering,
            chosen: merge.is_none() && number == chosen,
        };
        let mut paths: Vec<WeighedPath> = candidates.iter().enumerate().map(path).collect();
        paths.extend(merge.map(|(access_type, planned)| WeighedPath {
            access_type,
            index: None,
            rows: planned.rows,
            cost: planned.cost,
            ordered: planned.ordered,
            covering: false,
            chosen: true,
        }));
        let in_place = reading.bound.bits() & !reading.own.bits();
        decisions.paths(name(&leaf.alias), reading.total(), in_place, paths);
    }
}

#[cold]
fn record_join(decisions: &Decisions, weighing: &Weighing) {
    let Weighing { left, right, kind, rows, nested_cost, hash_cost, hashes, is_dearer } = weighing;
    decisions.join(WeighedJoin {
        left: left.bits(),
        right: right.bits(),
        kind: kind_name(*kind),
        rows: *rows,
        nested_cost: *nested_cost,
        hash_cost: *hash_cost,
        chosen: (!is_dearer).then_some(if *hashes { "hash_join" } else { "nested_loop" }),
    });
}
