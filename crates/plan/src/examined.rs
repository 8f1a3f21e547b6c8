//! How many rows a plan would examine: what `max_join_size` is about.
//!
//! As MySQL has it: the rows that are fetched from each table, for each row of the tables before it. What
//! filters throw away counts, since it was examined; rows that operators keep do not count again. Numbers of
//! rows are those of the statistics of the moment, not those that the plan was chosen by, which expects
//! tables to grow.

use palisade_engine::Table;

use super::access::Access;
use super::{Merge, Operator, Plan};

/// Rows examined, and rows that come out.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Count {
    examined: f64,
    out: f64,
}

impl Plan {
    /// How many rows its query and the subqueries in expressions would examine, each subquery once.
    pub fn rows_examined(&self) -> f64 {
        let queries = self.query.iter().chain(self.subqueries.iter().flatten().map(|query| &**query));
        queries.map(|query| count(&query.root).examined).sum()
    }
}

fn count(operator: &Operator) -> Count {
    match operator {
        Operator::Scan { table, access, rows, .. } => {
            let fetched = fetched(table, access, *rows);
            Count { examined: fetched, out: rows.min(fetched) }
        }
        Operator::NestedLoop { left, right, .. } => {
            let (left, right) = (count(left), count(right));
            Count { examined: left.examined + left.out * right.examined, out: left.out * right.out.max(1.0) }
        }
        Operator::HashJoin { left, right, .. } => {
            let (left, right) = (count(left), count(right));
            Count { examined: left.examined + right.examined, out: left.out.max(right.out) }
        }
        Operator::IndexMerge { inputs, kind: Merge::Intersection, rows } => {
            let entries = inputs.iter().rev().skip(1).map(|input| count(input).examined);
            Count { examined: entries.sum::<f64>() + rows, out: *rows }
        }
        Operator::Values { function: Some(_), .. } => Count { examined: 0.0, out: crate::json_table::ROWS },
        Operator::Values { rows, .. } => Count { examined: 0.0, out: rows.len() as f64 },
        Operator::Dual => Count { examined: 0.0, out: 1.0 },
        // The scans of an index merge, too, are added up.
        other => {
            let inputs = other.inputs();
            let counts = inputs.iter().map(|input| count(input));
            counts.fold(Count { examined: 0.0, out: 0.0 }, |all, one| Count {
                examined: all.examined + one.examined,
                out: all.out + one.out,
            })
        }
    }
}

/// How many rows are read from the table each time.
pub(super) fn fetched(table: &Table, access: &Access, planned: f64) -> f64 {
    if access.unique {
        return 1.0;
    }
    let statistics = table.statistics();
    let all = statistics.rows as f64;
    if !access.alternatives.is_empty() {
        return planned.min(all);
    }
    let Some(last) = access.equals.len().checked_sub(1) else { return all };
    let of_index = statistics.rows_per_key.get(access.index);
    of_index.and_then(|parts| parts.get(last)).map_or(planned, |rows| rows.max(1.0)).min(all)
}
