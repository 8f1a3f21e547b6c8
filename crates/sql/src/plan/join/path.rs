//! How one table of a join is read: by which index, and through which ranges of it.

use std::rc::Rc;

use palisade_catalog::{Column, Index, SqlType, Value};
use palisade_engine::{ReadMode, Table, TableStatistics};
use palisade_parser::ast::{IndexHint, IndexHintKind};
use palisade_schema::{Named, TableDecl};

use super::planned::{Conjunct, Planned, Pool, Shape, TableSet};
use super::{Planning, product_of};
use crate::plan::access::{Access, KeyPart, RangeSpec, index_parts};
use crate::plan::conditions::{equality, exact, expr_slots, order_of, range_specs, reads_slot, spec_exprs};
use crate::plan::logical::{TableLeaf, VirtualLeaf};
use crate::plan::virtual_read::VirtualRead;
use palisade_expr::{Comparison, Expr, Node};

impl<'t> Planning<'_, '_, 't> {
    /// How a virtual table is read: rows are made only of the schemas and tables that conditions leave;
    /// `bound` are the tables whose rows are in place.
    pub(super) fn virtual_table(&self, leaf: &'t VirtualLeaf, filter: Pool, bound: TableSet) -> Planned<'t> {
        let VirtualLeaf { slot, table, .. } = leaf;
        let used = self.planner.joining.used.iter().find(|(known, _)| known == slot);
        let columns = used.and_then(|(_, columns)| columns.clone());
        let conditions = filter.iter().map(|conjunct| &conjunct.expr);
        let read = VirtualRead::new(table, *slot, conditions, columns);
        let values = read.names.iter().flat_map(|condition| &condition.values);
        let mut slots = Vec::new();
        values.for_each(|value| expr_slots(self.statement(), value, &mut slots));
        let parameterised = !self.in_slots(&slots).common(bound).is_empty();
        let (rows, cost) = virtual_rows(table, &read, self.statement().dictionary.table_count());
        let shape = Rc::new(Shape::Virtual { leaf, filter, read });
        Planned { shape, rows, cost, parameterised, ordered: false }
    }

    /// The best path to the rows of a table under conditions; `bound` are the tables whose rows are in place.
    pub(super) fn table(&self, leaf: &'t TableLeaf, mut pool: Pool, bound: TableSet) -> Planned<'t> {
        let TableLeaf { slot, table, hints, mode, .. } = leaf;
        let (slot, mode) = (*slot, *mode);
        let own = self.in_slots(&[slot]);
        let bound = bound.with(own);
        let reading = Reading { slot, own, table, statistics: &table.statistics(), pool: &pool, bound };
        let used =
            self.planner.joining.used.iter().find(|(known, _)| *known == slot).map(|(_, columns)| columns);
        let wanted = self.planner.joining.order.as_ref().filter(|order| order.slot == slot);
        let forced = hints.iter().any(|hint| hint.kind != IndexHintKind::Ignore && !hint.indexes.is_empty());
        let mut best: Option<(f64, Candidate)> = None;
        for (number, index) in table.indexes.iter().enumerate() {
            // The rows themselves can always be read, whatever the dictionary says of the index that they are
            // kept by.
            if number != 0 && (index.invisible || !allowed(hints, &index.name)) {
                continue;
            }
            let mut candidate = self.candidate(&reading, number, index);
            let whole_row = mode != ReadMode::Snapshot;
            candidate.access.covering = number > 0
                && !whole_row
                && match used {
                    Some(Some(columns)) => table.key_codec(number).covers(columns.iter().copied()),
                    Some(None) => false,
                    None => true,
                };
            let narrowed = !candidate.access.equals.is_empty() || !candidate.access.alternatives.is_empty();
            let ordered = wanted.and_then(|order| order_of(table, &candidate.access, &order.keys));
            let mut rows = candidate.rows;
            if let Some(backward) = ordered {
                candidate.ordered = true;
                candidate.access.backward = backward;
            }
            if !narrowed && number > 0 && !candidate.access.covering && !candidate.ordered {
                continue;
            }
            let residual = candidate.residual(&pool);
            if let (Some(limit), true, true) =
                (wanted.and_then(|order| order.limit), candidate.ordered, residual == 0)
            {
                rows = rows.min(limit);
            }
            let per_row = if number == 0 {
                1.0
            } else if candidate.access.covering {
                0.6
            } else {
                3.0
            };
            let mut cost = 1.0 + rows * per_row + if candidate.access.unique { 0.0 } else { 1.0 };
            if wanted.is_some() && !candidate.ordered {
                cost += candidate.rows * (1.0 + candidate.rows.max(2.0).log2() * 0.05);
            }
            if forced && (!narrowed && number == 0 || !allowed(hints, &index.name)) {
                cost += 1e12;
            }
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, candidate));
            }
        }
        #[expect(clippy::expect_used, reason = "a table has a clustered index, and that is never left out")]
        let (cost, candidate) = best.expect("the clustered index can always be read");
        let Candidate { access, taken, rows, ordered, parameterised } = candidate;
        let mut position = 0;
        pool.retain(|_| {
            position += 1;
            !taken.contains(&(position - 1))
        });
        let reads_others = pool.iter().any(|conjunct| !conjunct.tables.is_within(own));
        let rows = (rows * product_of(&pool)).max(if access.unique { rows } else { 0.01 });
        Planned {
            shape: Rc::new(Shape::Table { leaf, access, filter: pool, rows }),
            rows,
            cost,
            parameterised: parameterised || reads_others,
            ordered,
        }
    }

    /// How the index `number` would serve.
    fn candidate(&self, reading: &Reading<'_>, number: usize, index: &Index) -> Candidate {
        let Reading { slot, own: itself, table, statistics, pool, bound } = *reading;
        // Plans outlive the moment they are made: a table that is small now is planned as one that may grow.
        let total = (statistics.rows as f64).max(1000.0);
        let mut access = Access { index: number, ..Access::default() };
        let mut taken = Vec::new();
        let mut parameterised = false;
        let usable = |conjunct: &Conjunct| conjunct.tables.is_within(bound);
        let own = index.parts.len();
        for (position, part) in index_parts(table, number).enumerate() {
            let (column, prefix) = (usize::from(part.column), part.prefix.is_some());
            let Some(Column { sql_type, .. }) = table.columns.get(column) else { break };
            // The one row is found: what else there is about it stays in the filter.
            if position == own && finds_one(index, &access) {
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
                if !prefix {
                    self.ranges(reading, (column, sql_type), &mut access, &mut taken);
                }
                break;
            };
            parameterised |= !conjunct.tables.is_within(itself);
            if exact(sql_type, &value) {
                taken.push(at);
            }
            access.equals.push(KeyPart { value, null_safe });
        }
        let equals = access.equals.len();
        access.unique = finds_one(index, &access);
        let per_key = |parts: usize| -> f64 {
            if parts == 0 {
                return total;
            }
            let known =
                statistics.rows_per_key.get(number).and_then(|keys| keys.get(parts.min(own) - 1)).copied();
            let guess =
                if index.unique && parts >= own { 1.0 } else { (total / 10f64.powi(parts as i32)).max(1.0) };
            known.filter(|rows| *rows > 0.0).unwrap_or(guess).min(total)
        };
        let rows = if access.unique {
            1.0
        } else if access.alternatives.is_empty() {
            per_key(equals)
        } else {
            let base = per_key(equals);
            let each = per_key(equals + 1);
            access
                .alternatives
                .iter()
                .map(|spec| match spec {
                    RangeSpec::Point(_) | RangeSpec::Null => each,
                    RangeSpec::Like(_) => base * 0.1,
                    RangeSpec::Between { lower, upper } => {
                        let guess = if lower.is_some() && upper.is_some() { base * 0.1 } else { base * 0.33 };
                        match (self.known(lower), self.known(upper)) {
                            (Some(low), Some(high)) => guess.min(((high - low + 1.0) * each).max(1.0)),
                            _ => guess,
                        }
                    }
                })
                .sum::<f64>()
                .min(base)
        };
        Candidate { access, taken, rows, ordered: false, parameterised }
    }

    /// Whether a LIKE pattern has no literal prefix, as far as its parameter shows now.
    fn starts_wild(&self, spec: &RangeSpec) -> bool {
        let RangeSpec::Like(Expr { node: Node::Parameter(number), .. }) = spec else { return false };
        match self.statement().parameters.get(*number) {
            Some(Value::Bytes(text)) => matches!(text.first(), None | Some(b'%' | b'_')),
            _ => true,
        }
    }

    fn known(&self, end: &Option<(Expr, bool)>) -> Option<f64> {
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

    /// Adds the conditions on `column` that make ranges.
    fn ranges(
        &self,
        reading: &Reading<'_>,
        (column, ty): (usize, &SqlType),
        access: &mut Access,
        taken: &mut Vec<usize>,
    ) {
        let Reading { slot, pool, bound, .. } = *reading;
        let mut lower: Option<(Expr, bool)> = None;
        let mut upper: Option<(Expr, bool)> = None;
        for (at, conjunct) in pool.iter().enumerate() {
            if !conjunct.tables.is_within(bound) {
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

/// Whether all parts of a unique index are given, none of which may be NULL.
fn finds_one(index: &palisade_catalog::Index, access: &Access) -> bool {
    index.unique
        && access.equals.len() == index.parts.len()
        && access.equals.iter().all(|part| !part.null_safe)
}

/// A table whose access paths are weighed.
#[derive(Clone, Copy)]
struct Reading<'r> {
    slot: usize,
    /// It alone.
    own: TableSet,
    table: &'r Table,
    statistics: &'r TableStatistics,
    /// What is known of its rows.
    pool: &'r Pool,
    /// Tables whose rows are in place when it is read, itself among them.
    bound: TableSet,
}

/// An access path.
struct Candidate {
    access: Access,
    /// Conditions that the access decides alone.
    taken: Vec<usize>,
    rows: f64,
    ordered: bool,
    parameterised: bool,
}

impl Candidate {
    fn residual(&self, pool: &Pool) -> usize {
        pool.len() - self.taken.len()
    }
}

fn allowed(hints: &[IndexHint], name: &str) -> bool {
    let names = |hint: &IndexHint| hint.indexes.iter().any(|index| index.eq_ignore_ascii_case(name));
    let mut listed = hints.iter().filter(|hint| hint.kind != IndexHintKind::Ignore).peekable();
    if listed.peek().is_some() && !listed.any(names) {
        return false;
    }
    !hints.iter().any(|hint| hint.kind == IndexHintKind::Ignore && names(hint))
}

/// Rows about one table, in a table that tells of columns.
const ROWS_A_TABLE: f64 = 5.0;
/// Rows of a virtual table that is not about stored tables.
const ROWS_UNKNOWN: f64 = 100.0;
/// The part of all tables that are in one schema.
const PART_IN_A_SCHEMA: f64 = 0.5;
/// What looking a name up costs, in rows made.
const COST_OF_LOOKUP: f64 = 1.0;

/// How many rows a reading of a virtual table gives, and what it costs in rows made, where there are so many
/// stored tables.
fn virtual_rows(table: &TableDecl, read: &VirtualRead, tables: usize) -> (f64, f64) {
    if table.place_of(Named::Table).is_none() {
        return (ROWS_UNKNOWN, ROWS_UNKNOWN);
    }
    let of_each = if table.place("COLUMN_NAME").is_some() { ROWS_A_TABLE } else { 1.0 };
    let all = (tables as f64).max(ROWS_UNKNOWN);
    let in_schemas = read.count(Named::Schema).map_or(all, |schemas| all * PART_IN_A_SCHEMA * schemas as f64);
    let found = read.count(Named::Table).map_or(in_schemas, |names| names as f64).min(all);
    let rows = found * of_each;
    (rows, COST_OF_LOOKUP + rows)
}
