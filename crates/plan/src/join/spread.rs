//! For which part of a table's rows a condition holds that no index tells of.
//!
//! 1. A comparison of a column with values that are known is looked up in the column's histogram
//!    (ANALYZE TABLE ... UPDATE HISTOGRAM), else in one that is made of a few hundred random rows. What was
//!    found for a parameter is a [premise](crate::premise) of the plan.
//! 2. Another condition on the table alone is evaluated for these rows.
//! 3. An equality with what is not known yet lets as many rows through as have one value.
//! 4. The rest is guessed ([`cost::selectivity`]).

use std::rc::Rc;
use std::sync::Arc;

use palisade_catalog::histogram::Histogram;
use palisade_engine::{Table, TableSample};
use palisade_expr::{Comparison, Expr, Node, Truth};

use super::Planning;
use super::path::Reading;
use super::planned::Conjunct;
use crate::access::RangeSpec;
use crate::conditions::{range_specs, spec_exprs};
use crate::cost;
use crate::premise::{Looker, Premise, Spread};

/// What looking a value up in a histogram counts as, in units of a nanosecond.
const UNITS_A_VALUE: usize = 1024;
/// What evaluating a condition for a row counts as.
const UNITS_A_ROW: usize = 128;
/// Functions that are evaluated for a sample. Others may take long.
const EVALUATED: &[&str] = &[
    "abs",
    "coalesce",
    "concat",
    "curdate",
    "date",
    "date_add",
    "date_sub",
    "day",
    "if",
    "ifnull",
    "left",
    "length",
    "lower",
    "mod",
    "month",
    "now",
    "nullif",
    "right",
    "substring",
    "upper",
    "year",
];

impl Planning<'_, '_, '_> {
    /// The part of the table's rows for which all these conditions hold.
    pub(super) fn part_of(&self, reading: &Reading<'_>, conditions: &[Rc<Conjunct>]) -> f64 {
        conditions.iter().map(|conjunct| self.part_of_one(reading, conjunct)).product()
    }

    fn part_of_one(&self, reading: &Reading<'_>, conjunct: &Conjunct) -> f64 {
        if conjunct.is_late || conjunct.is_expensive {
            return cost::selectivity(&conjunct.expr);
        }
        let key = (reading.slot, conjunct.number);
        if let Some(known) = self.looks.parts.borrow().get(&key) {
            return *known;
        }
        let least = (1.0 / reading.total()).min(1.0);
        let part = self.part(reading, &conjunct.expr).clamp(least, 1.0);
        self.looks.parts.borrow_mut().insert(key, part);
        part
    }

    fn part(&self, reading: &Reading<'_>, expr: &Expr) -> f64 {
        match &expr.node {
            Node::And(parts) => parts.iter().map(|part| self.part(reading, part)).product(),
            Node::Or(parts) => 1.0 - parts.iter().map(|part| 1.0 - self.part(reading, part)).product::<f64>(),
            _ => {
                let by_column = self.part_by_column(reading, expr);
                let by_rows = || self.part_by_rows(reading, expr);
                by_column.or_else(by_rows).unwrap_or_else(|| cost::selectivity(expr))
            }
        }
    }

    /// How the values of a column are spread, as far as that is known.
    pub(super) fn spread(&self, table: &Table, column: usize) -> Option<Arc<Histogram>> {
        let made = table.columns.get(column).and_then(|column| column.histogram.clone());
        made.or_else(|| self.sample(table)?.spread(table, column))
    }

    fn sample(&self, table: &Table) -> Option<Arc<TableSample>> {
        table.sample().filter(|sample| !sample.is_empty())
    }

    fn part_by_column(&self, reading: &Reading<'_>, expr: &Expr) -> Option<f64> {
        let column = subject(expr, reading.slot)?;
        let ty = &reading.table.columns.get(column)?.sql_type;
        let (positive, is_negated) = without_negation(expr);
        let specs = range_specs(&positive, reading.slot, column, ty)?;
        let histogram = self.spread(reading.table, column)?;
        let (mut is_known, mut has_parameter) = (true, false);
        specs.iter().for_each(|spec| {
            spec_exprs(spec, &mut |expr| {
                is_known &= expr.is_quick_constant();
                expr.walk(&mut |part| has_parameter |= matches!(part.node, Node::Parameter(_)));
            });
        });
        if !is_known {
            let is_point = |spec: &RangeSpec| matches!(spec, RangeSpec::Point(_));
            let each = histogram.values() / histogram.distinct().max(1) as f64;
            let part = each * specs.len() as f64;
            return specs.iter().all(is_point).then_some(match is_negated {
                true => (histogram.values() - part).max(0.0),
                false => part,
            });
        }
        let statement = self.statement();
        if self.is_over(UNITS_A_VALUE * specs.len().min(64)) {
            return None;
        }
        let spread = Spread { column, histogram, specs, is_negated };
        let host = statement.pace.host;
        let mut looker = self.looks.looker.borrow_mut();
        let looker = looker.get_or_insert_with(|| Looker::new(statement.pace.session, host));
        let part = looker.part(host, statement.parameters, reading.table, &spread)?;
        if has_parameter {
            let total = reading.total();
            let premise = Premise::spread(reading.table, spread, part * total, total);
            self.looks.spreads.borrow_mut().push(premise);
        }
        Some(part)
    }

    fn part_by_rows(&self, reading: &Reading<'_>, expr: &Expr) -> Option<f64> {
        let mut can_be = !expr.is_impure();
        expr.walk(&mut |part| {
            can_be &= match &part.node {
                Node::Column { slot, .. } => *slot == reading.slot,
                Node::Call { function, .. } => EVALUATED.contains(&function.name),
                Node::UserVariable(_)
                | Node::AssignUserVariable(..)
                | Node::SystemVariable { .. }
                | Node::Subquery(_) => false,
                _ => true,
            };
        });
        let sample = self.sample(reading.table).filter(|_| can_be)?;
        if self.is_over(UNITS_A_ROW * sample.len()) {
            return None;
        }
        let statement = self.statement();
        let host = statement.pace.host;
        let mut looker = self.looks.looker.borrow_mut();
        let looker = looker.get_or_insert_with(|| Looker::new(statement.pace.session, host));
        looker.part_of_rows(host, statement.parameters, (reading.table, reading.slot), expr, &sample)
    }
}

/// The column of `slot` that a condition is about.
fn subject(expr: &Expr, slot: usize) -> Option<usize> {
    let column = |expr: &Expr| match expr.node {
        Node::Column { slot: own, column, .. } if own == slot => Some(column),
        _ => None,
    };
    match &expr.node {
        Node::Compare { left, right, .. } => column(left).or_else(|| column(right)),
        Node::In { operand, .. }
        | Node::Between { operand, .. }
        | Node::Like { operand, .. }
        | Node::Is { operand, truth: Truth::Null, .. } => column(operand),
        _ => None,
    }
}

/// A condition without its negation, and whether it had one.
fn without_negation(expr: &Expr) -> (Expr, bool) {
    let mut positive = expr.clone();
    let was_negated = match &mut positive.node {
        Node::Compare { comparison, .. } if *comparison == Comparison::NotEqual => {
            *comparison = Comparison::Equal;
            true
        }
        Node::In { negated, .. }
        | Node::Between { negated, .. }
        | Node::Like { negated, .. }
        | Node::Is { negated, .. } => std::mem::replace(negated, false),
        _ => false,
    };
    (positive, was_negated)
}
