//! Makes a script that goes wrong smaller, as long as it goes wrong in the same way.

use std::sync::Arc;

use palisade_sql::Sql;

use super::script::Step;
use super::twins::{Failure, Fault, replay};

/// At most so many scripts are tried.
const ATTEMPTS: u32 = 600;

/// `steps` go wrong with `failure`; gives fewer and simpler ones that do.
pub fn shrink(
    sql: &mut Arc<Sql>,
    mut steps: Vec<Step>,
    failure: Failure,
    fault: Fault,
) -> (Vec<Step>, Failure) {
    let mut best = failure;
    steps.truncate(best.step + 1);
    let mut attempts = 0;
    let mut again = true;
    while again && attempts < ATTEMPTS {
        again = false;
        // Steps go in halves, quarters, and so on, then one by one.
        let mut width = steps.len() / 2;
        while width > 0 {
            let mut at = 0;
            while at + width < steps.len() && attempts < ATTEMPTS {
                let mut fewer = steps.clone();
                fewer.drain(at..at + width);
                attempts += 1;
                match same(sql, &fewer, &best, fault) {
                    Some(failure) => {
                        fewer.truncate(failure.step + 1);
                        (steps, best, again) = (fewer, failure, true);
                    }
                    None => at += width,
                }
            }
            width /= 2;
        }
        for at in 0..steps.len() {
            let mut candidates = simpler(&steps[at]);
            while let Some(candidate) = candidates.pop()
                && attempts < ATTEMPTS
            {
                let mut tried = steps.clone();
                tried[at] = candidate;
                attempts += 1;
                if let Some(failure) = same(sql, &tried, &best, fault)
                    && failure.step + 1 == steps.len()
                {
                    candidates = simpler(&tried[at]);
                    (steps, best, again) = (tried, failure, true);
                }
            }
        }
    }
    (steps, best)
}

fn same(sql: &mut Arc<Sql>, steps: &[Step], wanted: &Failure, fault: Fault) -> Option<Failure> {
    // Twins that do not begin with the same rows differ in any case.
    let count = |test: fn(&Step) -> bool| steps.iter().filter(|step| test(step)).count();
    let (created, copied) =
        (count(|step| matches!(step, Step::Create { .. })), count(|step| matches!(step, Step::Copy { .. })));
    if created != copied {
        return None;
    }
    replay(sql, steps, fault).0.err().filter(|failure| failure.kind == wanted.kind)
}

fn simpler(step: &Step) -> Vec<Step> {
    match step {
        Step::Create { table, columns, keys } => (0..keys.len())
            .map(|gone| {
                let mut keys = keys.clone();
                keys.remove(gone);
                Step::Create { table: *table, columns: columns.clone(), keys }
            })
            .collect(),
        Step::Change { table, statement } => {
            let all = statement.simpler().into_iter();
            all.map(|statement| Step::Change { table: *table, statement }).collect()
        }
        Step::Query(query) => {
            let with = |change: &dyn Fn(&mut super::script::Query)| {
                let mut query = query.clone();
                change(&mut query);
                Step::Query(query)
            };
            let mut all: Vec<Step> = Vec::new();
            if query.prepared {
                all.push(with(&|query| query.prepared = false));
            }
            if query.by_reader {
                all.push(with(&|query| query.by_reader = false));
            }
            all.extend(
                query
                    .statement
                    .simpler()
                    .into_iter()
                    .map(|statement| with(&|query| query.statement = statement.clone())),
            );
            all
        }
        Step::Partition { table, condition } => {
            let all = condition.simpler().into_iter();
            all.map(|condition| Step::Partition { table: *table, condition }).collect()
        }
        _ => Vec::new(),
    }
}
