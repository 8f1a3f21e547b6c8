//! How many rows a table has, how many of them a path reads, and how many its conditions let through.
//!
//! Five sources, the best first:
//!
//! 1. *A look into the index*: where the ends of a path's ranges are known when the statement is planned,
//!    the entries between them are counted by the descents to both ends ([`Table::entries_in_range`]). Values
//!    of parameters are known, too: what the look saw is a [premise](crate::premise) of the plan.
//! 2. How many rows share a key on average, of the table's statistics.
//! 3. How the values of a column are spread (`spread`).
//! 4. The values of integers at both ends.
//! 5. A guess ([`cost`]).

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use palisade_catalog::{IndexPart, Value};
use palisade_engine::{Table, TableStatistics};
use palisade_expr::{Expr, Node};

use super::Planning;
use super::path::{Candidate, Reading};
use super::planned::{Conjunct, Planned, TableSet};
use crate::JoinKind;
use crate::access::{Access, RangeSpec};
use crate::cost;
use crate::logical::{JoinTree, Leaf};
use crate::lower::PlannedTable;
use crate::pace::UNITS_AN_ACCESS;
use crate::premise::{Looker, Premise, is_known};

/// Ranges of a path that are looked for in the index at most: of a longer list the statistics tell enough.
const MOST_RANGES: usize = 64;

/// What a look is remembered by: the table's slot, the index, and the numbers of the conditions that make the
/// ranges.
type LookKey = (usize, usize, Vec<usize>);

/// What looks into indexes found.
#[derive(Default)]
pub(super) struct Looks {
    pub(super) looker: RefCell<Option<Looker>>,
    found: RefCell<HashMap<LookKey, Option<f64>>>,
    /// The paths whose rows were counted.
    paths: RefCell<Vec<(Arc<Table>, Access, f64)>>,
    /// For which part of a table's rows conditions hold, by the table's slot and the condition's number.
    pub(super) parts: RefCell<HashMap<(usize, usize), f64>>,
    /// What conditions with parameters let through, as histograms tell.
    pub(super) spreads: RefCell<Vec<Premise>>,
}

/// Sizes of a block's stored tables, by slot.
pub(super) struct Sizes(Vec<(usize, Arc<Table>, Arc<TableStatistics>)>);

impl Sizes {
    /// Those of the tables of a tree, if there are several or the rows are `grouped`.
    pub(super) fn of(tree: &JoinTree, grouped: bool) -> Sizes {
        let mut sizes = Vec::new();
        // One table is joined to none.
        if grouped || !matches!(tree, JoinTree::Leaf(_)) {
            tables_of(tree, &mut sizes);
        }
        Sizes(sizes)
    }

    fn at(&self, slot: usize) -> Option<(&Arc<Table>, &TableStatistics)> {
        let found = self.0.iter().find(|(known, ..)| *known == slot);
        found.map(|(_, table, statistics)| (table, &**statistics))
    }

    /// How many rows a table has.
    pub(super) fn rows_of(&self, slot: usize) -> Option<f64> {
        self.at(slot).map(|(_, statistics)| statistics.rows as f64)
    }
}

fn tables_of(tree: &JoinTree, out: &mut Vec<(usize, Arc<Table>, Arc<TableStatistics>)>) {
    tree.leaves(&mut |leaf| {
        if let Leaf::Table(leaf) = leaf {
            out.push((leaf.slot, leaf.table.clone(), leaf.table.statistics()));
        }
    });
}

impl Planning<'_, '_, '_> {
    /// Rows that a path reads, and whether a look into the index has told.
    pub(super) fn rows_read(&self, reading: &Reading<'_>, candidate: &Candidate) -> (f64, bool) {
        let access = &candidate.access;
        if access.unique {
            return (1.0, false);
        }
        if access.skipped > 0 {
            return (self.rows_behind(reading, candidate), false);
        }
        let is_narrowed = !access.equals.is_empty() || !access.alternatives.is_empty();
        let is_short = access.alternatives.len() <= MOST_RANGES;
        if is_narrowed && is_short && !candidate.parameterised {
            let numbers = |at: &usize| reading.pool.get(*at).map(|conjunct| conjunct.number);
            let mut used: Vec<usize> = candidate.used.iter().filter_map(numbers).collect();
            used.sort_unstable();
            let key = (reading.slot, access.index, used);
            let known = self.looks.found.borrow().get(&key).copied();
            let rows = known.unwrap_or_else(|| self.look(reading.table, candidate));
            self.looks.found.borrow_mut().insert(key, rows);
            if let Some(rows) = rows {
                return (rows, true);
            }
        }
        (self.rows_by_statistics(reading, candidate), false)
    }

    /// Counts the entries in the ranges of a path whose ends are known now.
    fn look(&self, table: &Arc<Table>, candidate: &Candidate) -> Option<f64> {
        let access = &candidate.access;
        if !is_known(access) || self.is_over(UNITS_AN_ACCESS * (1 + access.alternatives.len())) {
            return None;
        }
        let statement = self.statement();
        let host = statement.pace.host;
        let mut looker = self.looks.looker.borrow_mut();
        let looker = looker.get_or_insert_with(|| Looker::new(statement.pace.session, host));
        let rows = looker.rows(host, statement.parameters, table, access);
        if let Some(rows) = rows {
            self.looks.paths.borrow_mut().push((table.clone(), access.clone(), rows));
        }
        rows
    }

    /// Notes by what the joins of a block were planned: the sizes of its tables, and what looks have found.
    /// Where each row is found by a unique key there is no better way.
    pub(super) fn premises_of_joins(&self, planned: &Planned<'_>) {
        let mut accesses = Vec::new();
        planned.accesses(&mut accesses);
        if self.is_single() || accesses.iter().all(|(_, access)| access.unique) {
            return;
        }
        let mut premises = self.statement().premises.borrow_mut();
        for (_, table, statistics) in &self.sizes.0 {
            premises.push(Premise::size(table, statistics.rows as f64));
        }
        for (table, access, rows) in self.looks.paths.borrow().iter() {
            premises.push(Premise::about(table, access.clone(), *rows));
        }
        premises.append(&mut self.looks.spreads.borrow_mut());
    }

    /// The part of all pairs for which conditions between tables hold. Equalities between the columns of two
    /// tables count together: an index may know how many values they have together.
    pub(super) fn selectivity_of(&self, conditions: &[Rc<Conjunct>]) -> f64 {
        let mut equalities: Vec<Sides> = Vec::new();
        let mut part = 1.0;
        for conjunct in conditions {
            match Sides::of(conjunct) {
                Some(sides) => match equalities.iter_mut().find(|known| known.is_between(&sides)) {
                    Some(known) => known.add(sides),
                    None => equalities.push(sides),
                },
                None => part *= cost::selectivity(&conjunct.expr),
            }
        }
        for Sides { left, right } in equalities {
            part /= self.values_of(&left).max(self.values_of(&right)).max(1.0);
        }
        part
    }

    /// The part of rows that have a match among so many rows of `right` tables, or that have none. Where two
    /// columns are equal the one with fewer values is taken to have no others than the one with more.
    pub(super) fn part_matched(
        &self,
        conditions: &[Rc<Conjunct>],
        (right, rows): (TableSet, f64),
        kind: JoinKind,
    ) -> f64 {
        let mut equalities: Vec<Sides> = Vec::new();
        let mut others = 1.0;
        for conjunct in conditions {
            match Sides::of(conjunct) {
                Some(sides) => match equalities.iter_mut().find(|known| known.is_between(&sides)) {
                    Some(known) => known.add(sides),
                    None => equalities.push(sides),
                },
                None => others *= cost::selectivity(&conjunct.expr),
            }
        }
        let mut matched: Option<f64> = None;
        let mut each = rows;
        for Sides { left, right: other } in &equalities {
            let is_turned = self.in_slots(&[left.0]).is_within(right);
            let (outer, inner) = if is_turned { (other, left) } else { (left, other) };
            let (outer, inner) = (self.values_of(outer).max(1.0), self.values_of(inner).max(1.0));
            // Of so many values so many rows have these.
            let found = inner * (1.0 - (-rows / inner).exp());
            matched = Some(matched.unwrap_or(1.0).min((found / outer).min(1.0)));
            each /= inner;
        }
        let matched = match matched {
            Some(part) if others < 1.0 => part * (1.0 - (-each.max(1.0) * others).exp()),
            Some(part) => part,
            None => cost::HAS_MATCH,
        };
        match kind {
            JoinKind::Anti => (1.0 - matched).max(cost::LEAST_WITHOUT),
            _ => matched.max(cost::LEAST_MATCHED),
        }
    }

    /// How many groups `rows` make that are grouped by columns: as many as these have values together.
    pub(super) fn groups(&self, columns: &[(usize, usize)], rows: f64) -> f64 {
        let mut slots: Vec<usize> = columns.iter().map(|(slot, _)| *slot).collect();
        slots.sort_unstable();
        slots.dedup();
        let values = slots.into_iter().map(|slot| {
            let own = columns.iter().filter(|(of, _)| *of == slot).map(|(_, column)| *column);
            self.values_of(&(slot, own.collect()))
        });
        values.product::<f64>().min(rows).max(1.0)
    }

    /// Whether an expression is a column of another table of which no two rows have the same value.
    pub(super) fn comes_once(&self, value: &Expr) -> bool {
        let Some((slot, column)) = value.as_plain_column() else { return false };
        let Some((table, _)) = self.sizes.at(slot) else { return false };
        table.indexes.iter().any(|index| match &index.parts[..] {
            [part] => index.unique && part.prefix.is_none() && usize::from(part.column) == column,
            _ => false,
        })
    }

    /// How many values some columns of a table have together.
    pub(super) fn values_of(&self, (slot, columns): &(usize, Vec<usize>)) -> f64 {
        let Some((table, statistics)) = self.sizes.at(*slot) else {
            return match self.statement().table(*slot) {
                Some(PlannedTable::Derived(query)) => query.rows.max(1.0),
                _ => 1.0 / cost::EQUAL,
            };
        };
        let total = (statistics.rows as f64).max(1.0);
        let mut most: Option<f64> = None;
        for (number, index) in table.indexes.iter().enumerate() {
            let is_given =
                |part: &&IndexPart| part.prefix.is_none() && columns.contains(&usize::from(part.column));
            let given = index.parts.iter().take_while(is_given).count();
            let Some(last) = given.checked_sub(1) else { continue };
            let sampled = statistics.values.get(number).and_then(|parts| parts.get(last)).copied();
            let values = match index.unique && given == index.parts.len() {
                true => total,
                false => sampled.unwrap_or(total * cost::VALUES_PER_ROW).min(total),
            };
            most = Some(most.map_or(values, |known| known.max(values)));
        }
        most.unwrap_or_else(|| {
            let mut columns = columns.clone();
            columns.sort_unstable();
            columns.dedup();
            let values = columns.iter().map(|column| {
                let spread = self.spread(table, *column);
                spread.map_or(total * cost::VALUES_PER_ROW, |spread| spread.distinct() as f64)
            });
            values.product::<f64>().min(total)
        })
    }

    /// Rows of a table for which its conditions hold, by what all paths tell: those that decide most
    /// conditions come first, and what no path decides is looked up in samples. So it does not depend on
    /// which path is taken.
    pub(super) fn rows_found(&self, reading: &Reading<'_>, candidates: &[Candidate]) -> f64 {
        if candidates.iter().any(|candidate| candidate.access.unique) {
            return 1.0;
        }
        let total = reading.total();
        let mut order: Vec<&Candidate> = candidates.iter().filter(|known| !known.used.is_empty()).collect();
        order.sort_by(|one, other| {
            let by_count = (other.is_looked_at, other.used.len()).cmp(&(one.is_looked_at, one.used.len()));
            by_count.then(one.rows.total_cmp(&other.rows))
        });
        let mut decided: Vec<usize> = Vec::new();
        let mut part = 1.0;
        for candidate in order {
            if candidate.used.iter().all(|at| !decided.contains(at)) {
                decided.extend(&candidate.used);
                part *= candidate.rows / total;
            }
        }
        let rest = reading.pool.iter().enumerate().filter(|(at, _)| !decided.contains(at));
        let rest: Vec<_> = rest.map(|(_, conjunct)| conjunct.clone()).collect();
        (total * part.min(1.0) * self.part_of(reading, &rest)).max(cost::FEWEST)
    }

    /// Rows with the same values in so many leading parts of an index.
    pub(super) fn rows_per_key(reading: &Reading<'_>, number: usize, parts: usize) -> f64 {
        let total = reading.total();
        if parts == 0 {
            return total;
        }
        let index = reading.table.indexes.get(number);
        let own = index.map_or(parts, |index| index.parts.len());
        let is_whole = index.is_some_and(|index| index.unique) && parts >= own;
        let sampled = reading.statistics.rows_per_key.get(number);
        let known = sampled.and_then(|keys| keys.get(parts.min(own).saturating_sub(1))).copied();
        let guess = if is_whole { 1.0 } else { (total * cost::NEXT_PART.powi(parts as i32)).max(1.0) };
        known.filter(|rows| *rows > 0.0).unwrap_or(guess).min(total)
    }

    fn rows_by_statistics(&self, reading: &Reading<'_>, candidate: &Candidate) -> f64 {
        let access = &candidate.access;
        let equals = access.equals.len();
        let of_index = reading.statistics.values.get(access.index).filter(|_| candidate.is_asked_once);
        let values = of_index.and_then(|parts| parts.get(equals.checked_sub(1)?));
        let base = match values {
            Some(values) => reading.total() / values.max(1.0),
            None => Self::rows_per_key(reading, access.index, equals),
        };
        if access.alternatives.is_empty() {
            return base;
        }
        let each = Self::rows_per_key(reading, access.index, equals + 1);
        let of_range = |spec: &RangeSpec| match spec {
            RangeSpec::Point(_) | RangeSpec::Null => each,
            RangeSpec::Like(_) => base * cost::LIKE_PREFIX,
            RangeSpec::Between { lower, upper } => {
                let part = if lower.is_some() && upper.is_some() { cost::TWO_ENDS } else { cost::ONE_END };
                match (self.integer(lower), self.integer(upper)) {
                    (Some(low), Some(high)) => (base * part).min(((high - low + 1.0) * each).max(1.0)),
                    _ => base * part,
                }
            }
        };
        access.alternatives.iter().map(of_range).sum::<f64>().min(base)
    }

    /// The value of an end that is an integer known now.
    fn integer(&self, end: &Option<(Expr, bool)>) -> Option<f64> {
        let (expr, _) = end.as_ref()?;
        let value = match &expr.node {
            Node::Literal(value) => value,
            Node::Parameter(number) => self.statement().parameters.get(*number)?,
            _ => return None,
        };
        match value {
            Value::Int(value) => Some(*value as f64),
            Value::UInt(value) => Some(*value as f64),
            _ => None,
        }
    }
}

/// Columns of two tables that are equal.
struct Sides {
    left: (usize, Vec<usize>),
    right: (usize, Vec<usize>),
}

impl Sides {
    /// Those of one condition, if it is such a one.
    fn of(conjunct: &Conjunct) -> Option<Sides> {
        conjunct.sides?;
        let Node::Compare { left, right, .. } = &conjunct.expr.node else { return None };
        let column = |expr: &Expr| match &expr.node {
            Node::Column { slot, column, .. } => Some((*slot, vec![*column])),
            _ => None,
        };
        let (left, right) = (column(left)?, column(right)?);
        (left.0 != right.0).then_some(Sides { left, right })
    }

    fn is_between(&self, other: &Sides) -> bool {
        let slots = (other.left.0, other.right.0);
        slots == (self.left.0, self.right.0) || slots == (self.right.0, self.left.0)
    }

    /// Adds those of another condition between the same tables.
    fn add(&mut self, other: Sides) {
        let (left, right) = match other.left.0 == self.left.0 {
            true => (other.left.1, other.right.1),
            false => (other.right.1, other.left.1),
        };
        self.left.1.extend(left);
        self.right.1.extend(right);
    }
}
