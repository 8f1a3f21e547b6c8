//! How one table of a join is read: by which index, and through which ranges of it.

use std::rc::Rc;
use std::sync::Arc;

use palisade_catalog::{Column, Index, PartitionSet, SqlType, Value};
use palisade_engine::{ReadMode, Table, TableStatistics};
use palisade_parser::ast::{IndexHint, IndexHintKind, IndexHintScope};
use palisade_schema::{Named, TableDecl};

use super::planned::{Conjunct, Planned, Pool, Shape, TableSet, filtering};
use super::{Planning, Want, WantedOrder};
use crate::access::{Access, KeyPart, RangeSpec, index_parts};
use crate::conditions::{equality, exact, range_specs, reads_slot, spec_exprs};
use crate::cost;
use crate::grouped::{comes_in, is_about, leading_parts, loose};
use crate::logical::{TableLeaf, VirtualLeaf};
use crate::note;
use crate::outline::{Outline, Way};
use crate::partition::RowPartitions;
use crate::partition::prune::{self, Pruning};
use crate::premise::{Looker, Premise};
use crate::virtual_read::VirtualRead;
use palisade_expr::{Comparison, Expr, Node};

impl<'t> Planning<'_, '_, 't> {
    /// How a virtual table is read: rows are made only of the schemas and tables that conditions leave.
    pub(super) fn virtual_table(&self, leaf: &'t VirtualLeaf, filter: Pool) -> Planned<'t> {
        let VirtualLeaf { slot, table, .. } = leaf;
        let used = self.planner.joining.used.iter().find(|(known, _)| known == slot);
        let columns = used.and_then(|(_, columns)| columns.clone());
        let conditions = filter.iter().map(|conjunct| &conjunct.expr);
        let read = VirtualRead::new(table, *slot, conditions, columns);
        let (rows, cost) = virtual_rows(table, &read, self.statement().dictionary.table_count());
        let shape = Rc::new(Shape::Virtual { leaf, filter, read });
        Planned { shape, rows, cost, again: cost, startup: 0.0, ordered: false }
    }

    /// The best path to the rows of a table under conditions; `bound` are the tables whose rows are in place.
    pub(super) fn table(
        &self,
        leaf: &'t TableLeaf,
        mut pool: Pool,
        bound: TableSet,
        want: Want,
    ) -> Planned<'t> {
        let TableLeaf { slot, table, mode, .. } = leaf;
        let slot = *slot;
        let own = self.in_slots(&[slot]);
        let bound = bound.with(own);
        let locks = *mode != ReadMode::Snapshot;
        let statistics = table.statistics();
        let pruning = self.pruning(leaf, &pool, bound);
        let of_partitions = pruning.as_ref().and_then(|pruning| statistics_of(&statistics, pruning));
        let statistics = of_partitions.as_ref().unwrap_or(&statistics);
        let reading =
            Reading { slot, own, table, statistics, pool: &pool, bound, locks, pruning: pruning.as_ref() };
        let order = self.planner.joining.order.as_ref().filter(|_| want == Want::Ordered);
        let wanted = order.filter(|order| order.slot == slot);
        let mut candidates = self.candidates(leaf, &reading, wanted);
        let narrowed = candidates.iter().filter(|candidate| candidate.is_narrowed());
        let possible = narrowed.fold(0, |set, candidate| set | 1u64 << candidate.access.index.min(63));
        let finds_one = |candidate: &Candidate| candidate.access.unique;
        if self.is_single() && leaf.hints.is_empty() && candidates.iter().any(finds_one) {
            // There is nothing better, and no other table to be told how many rows there are.
            candidates.retain(finds_one);
        } else {
            for candidate in &mut candidates {
                (candidate.rows, candidate.is_looked_at) = self.rows_read(&reading, candidate);
            }
        }
        let (found, total) = (self.rows_found(&reading, &candidates), reading.total());
        if !self.is_single() && candidates.iter().any(|candidate| candidate.ordered) {
            candidates.retain(|candidate| candidate.ordered);
        }
        let costs = candidates.iter().map(|candidate| self.cost_of(leaf, &reading, candidate, found, wanted));
        let mut best: Option<(f64, usize)> = None;
        for (number, cost) in costs.enumerate() {
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, number));
            }
        }
        #[expect(clippy::expect_used, reason = "a table has a clustered index, and that is never left out")]
        let (cost, number) = best.expect("the clustered index can always be read");
        if self.is_single() {
            self.premises_of_table(table, &candidates, number);
        }
        let least = if self.outline().is_some_and(|outline| outline.merges(slot)) {
            cost + cost::EXCLUDED
        } else {
            cost
        };
        let weighed = (leaf, &reading, &*candidates, number);
        if let Some(union) = self.union(leaf, &reading, found, wanted, least) {
            self.record_paths(weighed, (found, wanted), Some(("index_merge_union", &union)));
            return union;
        }
        let common = self.intersection(leaf, &reading, &candidates, (found, wanted, least));
        if let Some(common) = common {
            self.record_paths(weighed, (found, wanted), Some(("index_merge_intersection", &common)));
            return common;
        }
        self.record_paths(weighed, (found, wanted), None);
        let mut chosen = candidates.swap_remove(number);
        chosen.access.any_order =
            pruning.is_some() && self.is_single() && self.planner.joining.order.is_none();
        let (found, examined) = match chosen.access.loose {
            Some(_) => {
                (self.jumps(&reading, &chosen, chosen.rows), self.jumps(&reading, &chosen, chosen.rows))
            }
            None => (found, chosen.rows),
        };
        let ordered = chosen.ordered;
        let access = chosen.take(&mut pool);
        let reading = note::Reading { examined, possible };
        let (each, before) = filtering(&pool);
        let cost = cost + (found * before).min(total) * each;
        let shape = Rc::new(Shape::Table { leaf, access, filter: pool, rows: found, reading });
        Planned { shape, rows: found, cost, again: cost, startup: cost::OPEN_SCAN, ordered }
    }

    /// What the planner is held to.
    pub(super) fn outline(&self) -> Option<&Outline> {
        self.statement().outline.as_deref()
    }

    /// The paths to the rows of a table that are not pointless; how many rows they read is not known yet.
    pub(super) fn candidates(
        &self,
        leaf: &TableLeaf,
        reading: &Reading<'_>,
        wanted: Option<&WantedOrder>,
    ) -> Vec<Candidate> {
        let TableLeaf { slot, table, hints, .. } = leaf;
        let used =
            self.planner.joining.used.iter().find(|(known, _)| known == slot).map(|(_, columns)| columns);
        let mut candidates = Vec::with_capacity(table.indexes.len());
        for (number, index) in table.indexes.iter().enumerate() {
            // The rows themselves can always be read, whatever the dictionary says of the index that they are
            // kept by.
            let is_visible = !index.invisible || self.statement().switches.use_invisible_indexes;
            let is_allowed = is_visible && allowed(hints, &index.name, IndexHintScope::Join);
            if number != 0 && !is_allowed {
                continue;
            }
            let mut candidate = match is_allowed || hints.is_empty() {
                true => self.candidate(reading, number, index),
                false => Candidate::of_whole(number),
            };
            candidate.access.covering = number > 0
                && !reading.locks
                && match used {
                    Some(Some(columns)) => table.key_codec(number).covers(columns.iter().copied()),
                    Some(None) => false,
                    None => true,
                };
            let groups = wanted.is_some_and(|order| order.groups.is_some());
            let scope = if groups { IndexHintScope::GroupBy } else { IndexHintScope::OrderBy };
            let orders = allowed(hints, &index.name, scope);
            if let Some(backward) =
                wanted.filter(|_| orders).and_then(|order| comes_in(table, &candidate.access, order))
            {
                candidate.ordered = true;
                candidate.access.backward = backward;
            }
            candidates.extend(self.loose(reading, &candidate, wanted).filter(|_| orders));
            candidates.extend(self.skipping(leaf, reading, &candidate));
            if candidate.is_narrowed() || number == 0 || candidate.access.covering || candidate.ordered {
                candidates.push(candidate);
            }
        }
        if let Some(pruning) = reading.pruning {
            candidates.iter_mut().for_each(|candidate| candidate.access.pruning = Some(Arc::clone(pruning)));
        }
        candidates
    }

    /// Which partitions of a table are read under conditions, if it has any.
    fn pruning(&self, leaf: &TableLeaf, pool: &Pool, bound: TableSet) -> Option<Arc<Pruning>> {
        let TableLeaf { slot, table, .. } = leaf;
        let RowPartitions { scheme, chosen } = &**leaf.partitions.as_ref()?;
        let own = self.in_slots(&[*slot]);
        let usable = |conjunct: &&Rc<Conjunct>| {
            conjunct.is_usable(bound) && prune::is_about(scheme, table, *slot, &conjunct.expr)
        };
        let (mut conditions, mut known) = (Vec::new(), Vec::new());
        for conjunct in pool.iter().filter(usable) {
            conditions.push(conjunct.expr.clone());
            if conjunct.tables.is_within(own) && prune::is_known(&conjunct.expr, *slot) {
                known.push(conjunct.expr.clone());
            }
        }
        let all = PartitionSet::all(scheme.count());
        let mut pruning = Pruning {
            slot: *slot,
            scheme: scheme.clone(),
            chosen: chosen.clone(),
            conditions: known,
            planned: all,
        };
        let statement = self.statement();
        let host = statement.pace.host;
        let mut looker = self.looks.looker.borrow_mut();
        let looker = looker.get_or_insert_with(|| Looker::new(statement.pace.session, host));
        if let Some(planned) = looker.partitions(host, statement.parameters, table, &pruning) {
            pruning.planned = planned;
        }
        pruning.conditions = conditions;
        Some(Arc::new(pruning))
    }

    /// The loose scan that a path becomes where a few rows tell what is wanted of groups.
    fn loose(
        &self,
        reading: &Reading<'_>,
        candidate: &Candidate,
        wanted: Option<&WantedOrder>,
    ) -> Option<Candidate> {
        let few = wanted?.groups.as_ref()?.few.as_ref()?;
        let loose = loose(reading.table, &candidate.access, few)?;
        let rest = reading.pool.iter().enumerate().filter(|(at, _)| !candidate.taken.contains(at));
        let of_groups = |(_, conjunct): (usize, &Rc<Conjunct>)| {
            conjunct.is_free && is_about(&conjunct.expr, reading.slot, &few.values)
        };
        let mut rest = rest;
        if reading.locks || !rest.all(of_groups) {
            return None;
        }
        let mut candidate = candidate.clone();
        candidate.access.loose = Some(loose);
        Some(candidate)
    }

    /// What a path costs that reads a table of which `found` rows are wanted.
    pub(super) fn cost_of(
        &self,
        leaf: &TableLeaf,
        reading: &Reading<'_>,
        candidate: &Candidate,
        found: f64,
        wanted: Option<&WantedOrder>,
    ) -> f64 {
        let access = &candidate.access;
        let least = match (candidate.is_narrowed(), reading.locks) {
            (true, _) => 0.0,
            (false, true) => cost::LEAST_LOCKED,
            (false, false) => cost::LEAST_SCANNED,
        };
        let rows = candidate.rows.max(least);
        let groups = wanted.and_then(|order| order.groups.as_ref());
        let limit = wanted.and_then(|order| order.limit).filter(|_| self.is_single());
        let prefers_order = self.statement().switches.prefer_ordering_index;
        let rows = match limit.filter(|_| candidate.ordered && prefers_order) {
            Some(limit) => {
                let wanted = groups
                    .map_or(limit, |groups| limit * self.rows_per_group(reading, candidate, &groups.columns));
                rows.min(match candidate.residual(reading.pool) {
                    0 => wanted,
                    _ => wanted * cost::LATE_MATCHES * (rows / found).max(1.0),
                })
            }
            None => rows,
        };
        let is_backed_by_entries = access.index > 0 && !access.covering;
        let row = match (access.index, access.covering) {
            (0, _) => cost::ROW_IN_ORDER,
            (_, true) => cost::ENTRY_IN_ORDER,
            (_, false) => cost::ROW_BY_ENTRY,
        };
        let row = if reading.locks { row + cost::LOCKED_ROW } else { row };
        let mut found = found.min(rows);
        let mut sum = match (access.unique, &access.loose) {
            (true, _) => cost::UNIQUE_LOOKUP + if is_backed_by_entries { cost::ROW_BY_ENTRY } else { 0.0 },
            (false, _) if access.skipped > 0 => self.skips(reading, candidate, row) + rows * row,
            (false, None) => cost::OPEN_SCAN * access.alternatives.len().max(1) as f64 + rows * row,
            (false, Some(loose)) => {
                let each = 1 + usize::from(loose.lowest) + usize::from(loose.highest);
                found = self.jumps(reading, candidate, rows);
                found * each as f64 * (cost::OPEN_SCAN + row)
            }
        };
        sum += self.arranging(wanted, candidate.ordered, found);
        if let Some(outline) = self.outline() {
            let index = leaf.table.indexes.get(access.index).map_or("", |index| &index.name);
            if outline.excludes(leaf.slot, index, Way::of(access)) {
                sum += cost::EXCLUDED;
            }
        }
        let is_of_join = |hint: &IndexHint| hint.scope.is_none_or(|scope| scope == IndexHintScope::Join);
        let forced = |hint: &IndexHint| {
            hint.kind != IndexHintKind::Ignore && !hint.indexes.is_empty() && is_of_join(hint)
        };
        if leaf.hints.iter().any(forced) {
            let name = leaf.table.indexes.get(access.index).map_or("", |index| &index.name);
            if !candidate.is_narrowed() && access.index == 0
                || !allowed(&leaf.hints, name, IndexHintScope::Join)
            {
                sum += cost::EXCLUDED;
            }
        }
        sum
    }

    /// What it costs to sort or to group so many rows of a table as they are wanted.
    pub(super) fn arranging(&self, wanted: Option<&WantedOrder>, ordered: bool, found: f64) -> f64 {
        let Some(order) = wanted else { return 0.0 };
        match (&order.groups, ordered) {
            (None, true) => 0.0,
            (None, false) => cost::sorting(found, order.limit.filter(|_| self.is_single())),
            (Some(_), _) if !self.is_single() => 0.0,
            (Some(_), true) => found * cost::GROUPED_ROW,
            (Some(_), false) => found * cost::HASHED_GROUP,
        }
    }

    /// Rows of each group of a path that gives its rows in groups.
    fn rows_per_group(&self, reading: &Reading<'_>, candidate: &Candidate, columns: &[usize]) -> f64 {
        let parts = leading_parts(reading.table, &candidate.access, columns);
        parts.map_or(1.0, |parts| Self::rows_per_key(reading, candidate.access.index, parts).max(1.0))
    }

    /// How many groups a loose scan of so many rows finds.
    fn jumps(&self, reading: &Reading<'_>, candidate: &Candidate, rows: f64) -> f64 {
        let parts = candidate.access.loose.map_or(0, |loose| loose.parts);
        (rows / Self::rows_per_key(reading, candidate.access.index, parts).max(1.0)).max(1.0)
    }

    /// Notes by what one path to the only table of a block was chosen.
    fn premises_of_table(&self, table: &Arc<Table>, candidates: &[Candidate], chosen: usize) {
        if candidates.len() < 2 {
            return;
        }
        let mut premises = self.statement().premises.borrow_mut();
        for (number, candidate) in candidates.iter().enumerate() {
            let Candidate { access, rows, is_looked_at, .. } = candidate;
            let is_chosen = number == chosen;
            if is_chosen && (!candidate.is_narrowed() || access.skipped > 0) {
                premises.push(Premise::size(table, *rows));
            }
            // A range of a few entries that is taken for a larger one costs a look-up for each row.
            let may_be_worse = access.index > 0 && !access.covering && !access.alternatives.is_empty();
            match (is_looked_at, is_chosen) {
                (true, false) => premises.push(Premise::many(table, access.clone(), *rows)),
                (true, true) if may_be_worse => {
                    premises.push(Premise::few(table, access.clone(), *rows));
                }
                _ => {}
            }
        }
    }

    /// How the index `number` would serve.
    fn candidate(&self, reading: &Reading<'_>, number: usize, index: &Index) -> Candidate {
        let Reading { slot, own: itself, table, pool, bound, .. } = *reading;
        let mut access = Access { index: number, ..Access::default() };
        let mut taken = Vec::new();
        let mut used = Vec::new();
        let mut parameterised = false;
        let usable = |conjunct: &Conjunct| conjunct.is_usable(bound);
        let own = index.parts.len();
        for (position, part) in index_parts(table, number).enumerate() {
            let (column, prefix) = (usize::from(part.column), part.prefix.is_some());
            let Some(Column { sql_type, .. }) = table.columns.get(column) else { break };
            // The one row is found: what else there is about it stays in the filter.
            let is_extended = number == 0 || self.statement().switches.use_index_extensions;
            if position == own && (finds_one(index, &access) || !is_extended) {
                break;
            }
            let found = pool.iter().enumerate().filter(|(_, conjunct)| usable(conjunct)).find_map(
                |(at, conjunct)| {
                    equality(&conjunct.expr, slot, column, sql_type)
                        .filter(|(value, _)| !reads_slot(self.statement(), value, slot))
                        .map(|(value, null_safe)| (at, conjunct, value, null_safe))
                },
            );
            let Some((at, conjunct, value, null_safe)) = found.filter(|_| !prefix) else {
                if position >= own && number > 0 && access.equals.is_empty() {
                    break;
                }
                let reads_ranges = self.planner.joining.hints.reads_ranges(slot, number);
                if !prefix && reads_ranges {
                    let known = used.len();
                    self.ranges(reading, (column, sql_type), &mut access, &mut taken, &mut used);
                    let others = used.iter().skip(known).filter_map(|at: &usize| pool.get(*at));
                    parameterised |= others.into_iter().any(|other| !other.tables.is_within(itself));
                }
                break;
            };
            parameterised |= !conjunct.tables.is_within(itself);
            used.push(at);
            if exact(sql_type, &value) {
                taken.push(at);
            }
            access.equals.push(KeyPart { value, null_safe });
        }
        access.unique = finds_one(index, &access);
        let rows = if access.unique { 1.0 } else { 0.0 };
        let is_asked_once =
            matches!(&access.equals[..], [KeyPart { value, .. }] if parameterised && self.comes_once(value));
        Candidate {
            access,
            taken,
            used,
            rows,
            is_looked_at: false,
            ordered: false,
            parameterised,
            is_asked_once,
        }
    }

    /// Whether a LIKE pattern has no literal prefix, as far as its parameter shows now.
    fn starts_wild(&self, spec: &RangeSpec) -> bool {
        let RangeSpec::Like(Expr { node: Node::Parameter(number), .. }) = spec else { return false };
        match self.statement().parameters.get(*number) {
            Some(Value::Bytes(text)) => matches!(text.first(), None | Some(b'%' | b'_')),
            _ => true,
        }
    }

    /// Gives a path the ranges of `column`, the next part of its index.
    pub(super) fn ranges_of(
        &self,
        reading: &Reading<'_>,
        column: (usize, &SqlType),
        candidate: &mut Candidate,
    ) {
        let Candidate { access, taken, used, .. } = candidate;
        self.ranges(reading, column, access, taken, used);
    }

    /// Adds the conditions on `column` that make ranges.
    fn ranges(
        &self,
        reading: &Reading<'_>,
        (column, ty): (usize, &SqlType),
        access: &mut Access,
        taken: &mut Vec<usize>,
        used: &mut Vec<usize>,
    ) {
        let Reading { slot, pool, bound, .. } = *reading;
        let mut lower: Option<(Expr, bool)> = None;
        let mut upper: Option<(Expr, bool)> = None;
        for (at, conjunct) in pool.iter().enumerate() {
            if !conjunct.is_usable(bound) {
                continue;
            }
            let Some(specs) = range_specs(&conjunct.expr, slot, column, ty) else { continue };
            if specs.iter().any(|spec| self.starts_wild(spec)) {
                continue;
            }
            let mut dependent = false;
            for spec in &specs {
                spec_exprs(spec, &mut |expr| dependent |= reads_slot(self.statement(), expr, slot));
            }
            if dependent {
                continue;
            }
            match specs.as_slice() {
                [RangeSpec::Between { lower: l, upper: u }] => {
                    let fits = (l.is_none() || lower.is_none()) && (u.is_none() || upper.is_none());
                    if fits {
                        let droppable = l.iter().chain(u).all(|(expr, _)| exact(ty, expr));
                        lower = lower.or_else(|| l.clone());
                        upper = upper.or_else(|| u.clone());
                        used.push(at);
                        if droppable {
                            taken.push(at);
                        }
                    }
                }
                _ if access.alternatives.is_empty() => {
                    let points =
                        specs.iter().all(|spec| matches!(spec, RangeSpec::Point(expr) if exact(ty, expr)));
                    let listed = matches!(conjunct.expr.node, Node::In { .. });
                    access.alternatives = specs;
                    used.push(at);
                    if points && listed {
                        taken.push(at);
                    }
                    // A list of values is better than any range; what else there is stays in the filter.
                    if lower.is_none() && upper.is_none() {
                        return;
                    }
                }
                _ => {}
            }
        }
        if lower.is_some() || upper.is_some() {
            if access.alternatives.is_empty() {
                access.alternatives = vec![RangeSpec::Between { lower, upper }];
            } else {
                // Both a list and a range: the list is read, so the range's conditions stay.
                let is_range = |at: &usize| {
                    matches!(
                        pool.get(*at).map(|conjunct| &conjunct.expr.node),
                        Some(
                            Node::Between { .. }
                                | Node::Compare {
                                    comparison: Comparison::Less
                                        | Comparison::LessEqual
                                        | Comparison::Greater
                                        | Comparison::GreaterEqual,
                                    ..
                                }
                        )
                    )
                };
                taken.retain(|at| !is_range(at));
            }
        }
    }
}

/// What the statistics of a table tell of the partitions that are read; `None` if these are all.
fn statistics_of(statistics: &TableStatistics, pruning: &Pruning) -> Option<TableStatistics> {
    if statistics.partitions.is_empty() || pruning.planned.is_all(pruning.scheme.count()) {
        return None;
    }
    Some(TableStatistics { rows: statistics.rows_in(&pruning.planned), ..statistics.clone() })
}

/// Whether all parts of a unique index are given, none of which may be NULL.
fn finds_one(index: &palisade_catalog::Index, access: &Access) -> bool {
    index.unique
        && access.equals.len() == index.parts.len()
        && access.equals.iter().all(|part| !part.null_safe)
}

/// A table whose access paths are weighed.
#[derive(Clone, Copy)]
pub(super) struct Reading<'r> {
    pub(super) slot: usize,
    /// It alone.
    pub(super) own: TableSet,
    pub(super) table: &'r Arc<Table>,
    pub(super) statistics: &'r TableStatistics,
    /// What is known of its rows.
    pub(super) pool: &'r Pool,
    /// Tables whose rows are in place when it is read, itself among them.
    pub(super) bound: TableSet,
    /// The rows that are read are locked, or changed.
    pub(super) locks: bool,
    /// Which partitions are read.
    pub(super) pruning: Option<&'r Arc<Pruning>>,
}

impl Reading<'_> {
    /// Rows of the table.
    pub(super) fn total(&self) -> f64 {
        (self.statistics.rows as f64).max(1.0)
    }
}

/// An access path.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) access: Access,
    /// Conditions that the access decides alone.
    pub(super) taken: Vec<usize>,
    /// Conditions that make its keys and ranges.
    pub(super) used: Vec<usize>,
    /// Rows that it reads.
    pub(super) rows: f64,
    /// They were counted in the index.
    pub(super) is_looked_at: bool,
    pub(super) ordered: bool,
    /// Its ranges depend on tables whose rows are in place.
    pub(super) parameterised: bool,
    /// It looks for one column, and for each value of it but once.
    pub(super) is_asked_once: bool,
}

impl Candidate {
    /// Reading all of an index.
    fn of_whole(index: usize) -> Candidate {
        Candidate {
            access: Access { index, ..Access::default() },
            taken: Vec::new(),
            used: Vec::new(),
            rows: 0.0,
            is_looked_at: false,
            ordered: false,
            parameterised: false,
            is_asked_once: false,
        }
    }

    fn residual(&self, pool: &Pool) -> usize {
        pool.len() - self.taken.len()
    }

    /// The access; what it decides alone is taken out of the conditions.
    pub(super) fn take(self, pool: &mut Pool) -> Access {
        let mut position = 0;
        pool.retain(|_| {
            position += 1;
            !self.taken.contains(&(position - 1))
        });
        self.access
    }

    pub(super) fn is_narrowed(&self) -> bool {
        !self.access.equals.is_empty() || !self.access.alternatives.is_empty()
    }
}

/// Whether hints leave an index for a use.
fn allowed(hints: &[IndexHint], name: &str, use_for: IndexHintScope) -> bool {
    let names = |hint: &IndexHint| hint.indexes.iter().any(|index| index.eq_ignore_ascii_case(name));
    let mut about = hints.iter().filter(|hint| hint.scope.is_none_or(|scope| scope == use_for));
    let mut listed = about.clone().filter(|hint| hint.kind != IndexHintKind::Ignore).peekable();
    if listed.peek().is_some() && !listed.any(names) {
        return false;
    }
    !about.any(|hint| hint.kind == IndexHintKind::Ignore && names(hint))
}

/// How many rows a reading of a virtual table gives, and what it costs, where there are so many stored
/// tables.
fn virtual_rows(table: &TableDecl, read: &VirtualRead, tables: usize) -> (f64, f64) {
    if table.place_of(Named::Table).is_none() {
        return (cost::UNKNOWN_ROWS, cost::UNKNOWN_ROWS * cost::VIRTUAL_ROW);
    }
    let of_each = if table.place("COLUMN_NAME").is_some() { cost::COLUMNS_A_TABLE } else { 1.0 };
    let all = (tables as f64).max(cost::UNKNOWN_ROWS);
    let in_schemas =
        read.count(Named::Schema).map_or(all, |schemas| all * cost::PART_IN_A_SCHEMA * schemas as f64);
    let found = read.count(Named::Table).map_or(in_schemas, |names| names as f64).min(all);
    let rows = found * of_each;
    (rows, (1.0 + rows) * cost::VIRTUAL_ROW)
}
