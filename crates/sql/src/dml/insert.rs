//! INSERT and REPLACE.
//!
//! | module | what it holds |
//! |---|---|
//! | `plan` | where the rows come from and where they go |
//! | `run` | inserting them |
//! | `numbers` | AUTO_INCREMENT |
//! | `existing` | what becomes of a row that is there already |

mod existing;
pub(crate) mod numbers;
mod plan;
mod run;

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_engine::{RowsToCome, Table};
use palisade_expr::Expr;
use palisade_plan::Plan;
use palisade_plan::bind::row_rules::RowRules;

use super::Changes;
use super::foreign::Family;
use super::returning::{Returned, Returning};
use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlResult};

pub(super) use numbers::note_given;
pub(crate) use plan::bind_insert;
pub(super) use plan::{bind_load, refuse_value};
pub use plan::{refuse_generated, target_column, written_cell};
pub(super) use run::InsertRun;

/// A value of VALUES or of an assignment.
#[derive(Debug)]
pub enum Cell {
    /// An expression.
    Expr(Expr),
    /// DEFAULT.
    Default,
}

/// An INSERT or REPLACE, planned.
#[derive(Debug)]
pub struct InsertPlan {
    pub(super) table: Arc<Table>,
    /// The columns given, in order.
    columns: Vec<usize>,
    /// VALUES; empty if the rows come from a query.
    rows: Vec<Vec<Cell>>,
    /// Slots, subqueries, and the query if there is one.
    pub(super) plan: Arc<Plan>,
    rules: RowRules,
    family: Option<Arc<Family>>,
    /// ON DUPLICATE KEY UPDATE.
    updates: Vec<(usize, Cell)>,
    /// Slot of the row that exists.
    existing: usize,
    /// Slot of the row to be inserted.
    inserted: usize,
    /// Slot of the query's row, where ON DUPLICATE KEY UPDATE reads it: the values to be inserted, and after
    /// them columns of the query's tables.
    given: Option<usize>,
    replace: bool,
    ignore: bool,
    /// VALUES reads columns of the row so far.
    reads_row: bool,
    /// The query reads the table itself: its rows are read before any is inserted.
    buffered: bool,
    returning: Option<Box<Returning>>,
}

impl InsertPlan {
    /// What its expressions run on, and what finds the rows, if a query does.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The column of the table that the statement's `place`th one is.
    pub(super) fn column(&self, place: usize) -> Option<usize> {
        self.columns.get(place).copied()
    }

    /// RETURNING.
    pub(crate) fn returning(&self) -> Option<&Returning> {
        self.returning.as_deref()
    }
}

impl Sql {
    pub(crate) async fn insert(
        &self,
        session: &mut Session,
        plan: &InsertPlan,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let rows = match plan.plan.query {
            None => RowsToCome::Known(plan.rows.len() as u64),
            Some(_) => RowsToCome::Unknown,
        };
        let mut run = InsertRun::new(plan, rows);
        run.returned = Returned::of(plan.returning(), sink);
        let is_temporary = plan.table.is_temporary();
        let changes = Changes { plan: &plan.plan, ignore: plan.ignore, is_temporary };
        self.change_rows(session, changes, parameters, async |cx| run.all(cx).await).await?;
        let InsertRun { affected, numbers, returned, .. } = run;
        let records = run.records - run.refused;
        let duplicates = if plan.ignore { records - run.written } else { run.duplicates };
        if let Some(generated) = numbers.generated {
            session.state.last_insert_id = generated;
        }
        if let Some(returned) = returned {
            session.state.found_rows = returned.sent();
            return Ok(Completion::of_rows());
        }
        let info = if plan.rows.len() > 1 || plan.plan.query.is_some() {
            format!(
                "Records: {records}  Duplicates: {duplicates}  Warnings: {}",
                session.state.warnings.count()
            )
        } else {
            String::new()
        };
        let last_insert_id = numbers.generated.or(numbers.explicit).unwrap_or(0);
        Ok(Completion { affected_rows: affected, last_insert_id, info, ..Completion::default() })
    }
}
