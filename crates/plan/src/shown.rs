//! A plan that is being executed, as EXPLAIN FOR CONNECTION shows it to another session.
//!
//! The statement that is executed keeps a [`Running`] from the moment it first waits or lets others run, and
//! the server has a weak reference to it: what can be looked at costs nothing before that, and is gone with
//! the statement. What is shown is a copy of that plan ([`Running::shown`]), with the values of the execution
//! in place of parameters, and with [notes](super::note) that are made now: a plan that is executed has none.

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::{Expr, Node};

use super::access::{Access, RangeSpec};
use super::examined::fetched;
use super::note::{self, Estimate, Reading, each_input};
use super::parallel::DividedFrom;
use super::{Limit, Operator, Plan, Query, cost};

/// A plan that is being executed.
#[derive(Debug)]
pub struct Running {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The values of its parameters.
    pub parameters: Vec<Value>,
    /// Which of its groupings are added up in parts.
    pub divided_from: DividedFrom,
}

impl Running {
    /// The plan with its values and with notes.
    pub fn shown(&self) -> Plan {
        let show = |query: &Query| {
            let mut query = query.clone();
            self.fill_query(&mut query);
            note::add_to(&mut query);
            query
        };
        let subqueries = self.plan.subqueries.iter();
        Plan {
            query: self.plan.query.as_ref().map(show),
            subqueries: subqueries.map(|query| query.as_deref().map(show).map(Arc::new)).collect(),
            slots: self.plan.slots,
            purpose: self.plan.purpose.clone(),
            ..Plan::default()
        }
    }

    fn fill_query(&self, query: &mut Query) {
        query.output.iter_mut().for_each(|expr| self.fill(expr));
        query.counted_limit.iter_mut().for_each(|limit| self.fill_limit(limit));
        self.fill_operator(&mut query.root);
    }

    /// Puts values in place of parameters, and makes queries that operators share the copy's own.
    fn fill_operator(&self, operator: &mut Operator) {
        match operator {
            Operator::Derived { query, .. } => {
                let query = Arc::make_mut(query);
                query.output.iter_mut().for_each(|expr| self.fill(expr));
            }
            Operator::Recursive { recursion, .. } => {
                let recursion = Arc::make_mut(recursion);
                let queries = std::iter::once(&mut recursion.seed).chain(&mut recursion.steps);
                queries.for_each(|query| query.output.iter_mut().for_each(|expr| self.fill(expr)));
            }
            _ => {}
        }
        each_expr(operator, &mut |expr| self.fill(expr));
        each_input(operator, &mut |input| self.fill_operator(input));
        if matches!(operator, Operator::Scan { .. }) {
            note_scan(operator);
        }
    }

    fn fill_limit(&self, limit: &mut Limit) {
        std::iter::once(&mut limit.count).chain(&mut limit.offset).for_each(|expr| self.fill(expr));
    }

    fn fill(&self, expr: &mut Expr) {
        if let Node::Parameter(number) = expr.node
            && let Some(value) = self.parameters.get(number)
        {
            expr.node = Node::Literal(value.clone());
        }
        expr.children_mut(&mut |child| self.fill(child));
    }
}

/// Notes what is thought of a scan: the planner's thoughts are not kept with the plan.
fn note_scan(operator: &mut Operator) {
    let Operator::Scan { table, access, rows, .. } = operator else { return };
    let examined = fetched(table, access, *rows);
    let (open, each) = match access {
        Access { unique: true, .. } => (cost::UNIQUE_LOOKUP, 0.0),
        Access { index: 0, .. } => (cost::OPEN_SCAN, cost::ROW_IN_ORDER),
        Access { covering: true, .. } => (cost::OPEN_SCAN, cost::ENTRY_IN_ORDER),
        _ => (cost::OPEN_SCAN, cost::ROW_BY_ENTRY),
    };
    let estimate = Estimate { rows: *rows, cost: open + each * examined, startup: None };
    let scan = std::mem::replace(operator, Operator::Nothing);
    *operator = note::noted(scan, estimate, Some(Reading { examined, possible: 0 }));
}

/// Calls `change` on the expressions of an operator, not on those of operators below it.
fn each_expr(operator: &mut Operator, change: &mut dyn FnMut(&mut Expr)) {
    let limited = |limit: &mut Limit, change: &mut dyn FnMut(&mut Expr)| {
        std::iter::once(&mut limit.count).chain(&mut limit.offset).for_each(change);
    };
    match operator {
        Operator::Dual | Operator::Nothing | Operator::IndexMerge { .. } | Operator::Noted { .. } => {}
        Operator::Scan { access, filter, .. } => {
            access.equals.iter_mut().for_each(|part| change(&mut part.value));
            access.alternatives.iter_mut().for_each(|range| each_end(range, change));
            filter.iter_mut().for_each(change);
        }
        Operator::Virtual { filter, .. }
        | Operator::Recursive { filter, .. }
        | Operator::Working { filter, .. }
        | Operator::Derived { filter, .. } => filter.iter_mut().for_each(change),
        Operator::Values { rows, .. } => rows.iter_mut().flatten().for_each(change),
        Operator::NestedLoop { condition, .. } => condition.iter_mut().for_each(change),
        Operator::HashJoin { keys, condition, .. } => {
            for (left, right, _) in keys {
                change(left);
                change(right);
            }
            condition.iter_mut().for_each(change);
        }
        Operator::Filter { condition, .. } => change(condition),
        Operator::Aggregate { group, aggregates, .. } => {
            group.iter_mut().for_each(&mut *change);
            let of = |aggregate: &mut AggregateSpec, change: &mut dyn FnMut(&mut Expr)| {
                aggregate.arguments.iter_mut().for_each(&mut *change);
                aggregate.order_by.iter_mut().for_each(|key| change(&mut key.expr));
            };
            aggregates.iter_mut().for_each(|aggregate| of(aggregate, change));
        }
        Operator::FirstOfEach { keys, .. } => keys.iter_mut().for_each(change),
        Operator::Sort { keys, limit, .. } => {
            keys.iter_mut().for_each(|key| change(&mut key.expr));
            limit.iter_mut().for_each(|limit| limited(limit, change));
        }
        Operator::Project { output, .. } => output.iter_mut().for_each(change),
        Operator::Distinct { .. } | Operator::Union { .. } => {}
        Operator::Limit { limit, .. } => limited(limit, change),
        Operator::Window { window, .. } => window.exprs_mut(change),
    }
}

fn each_end(range: &mut RangeSpec, change: &mut dyn FnMut(&mut Expr)) {
    match range {
        RangeSpec::Point(value) | RangeSpec::Like(value) => change(value),
        RangeSpec::Null => {}
        RangeSpec::Between { lower, upper } => {
            lower.iter_mut().chain(upper).for_each(|(value, _)| change(value));
        }
    }
}
