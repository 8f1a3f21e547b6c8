//! UPDATE and DELETE.
//!
//! Rows are read in their latest version without locking them, changed by the version that was read, and read
//! again if someone was faster. What is joined with them or read in subqueries, and not changed, is read as
//! the statement's source. Where a change could move a row ahead of the scan that found it, all rows are
//! found first.
//!
//! The assignments of an UPDATE of one table are done one after the other: each sees what those before it
//! have assigned. Those of a join of a table with itself see all rows as they were found, as MySQL computes
//! them.

mod plan;
mod run;

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_engine::Table;
use palisade_expr::Expr;
use palisade_plan::Plan;
use palisade_plan::bind::row_rules::RowRules;
use palisade_plan::purpose::Purpose;

use super::Changes;
use super::foreign::Family;
use super::insert::Cell;
use super::returning::{Returned, Returning};
use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlResult};
use run::ChangeRun;

pub(crate) use plan::{bind_delete, bind_update};

/// An UPDATE or DELETE, planned.
#[derive(Debug)]
pub struct ChangePlan {
    /// What finds the rows.
    plan: Arc<Plan>,
    targets: Vec<Target>,
    /// The whole WHERE, to test a row that was read again; only with a single table.
    condition: Option<Expr>,
    ignore: bool,
    /// Rows are found before any is changed.
    collect: bool,
    is_update: bool,
    /// RETURNING; of a statement with one target.
    returning: Option<Box<Returning>>,
}

impl ChangePlan {
    /// What finds the rows.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// RETURNING.
    pub(crate) fn returning(&self) -> Option<&Returning> {
        self.returning.as_deref()
    }

    /// Whether the statement names one table, not a join.
    pub(crate) fn is_of_one_table(&self) -> bool {
        matches!(&self.plan.purpose, Purpose::Change(change) if change.is_of_one_table)
    }
}

/// A table whose rows are changed.
#[derive(Debug)]
struct Target {
    table: Arc<Table>,
    slot: usize,
    /// The index by which its rows are found, if it is one.
    index: Option<usize>,
    /// UPDATE's assignments; none for DELETE.
    assignments: Vec<(usize, Cell)>,
    /// An assignment reads a column assigned before it, and is to see what it was assigned.
    sequential: bool,
    /// The table is changed under another name, too.
    is_shared: bool,
    rules: RowRules,
    family: Option<Arc<Family>>,
}

impl Sql {
    pub(crate) async fn change(
        &self,
        session: &mut Session,
        plan: &ChangePlan,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let mut run = ChangeRun::new(plan, Returned::of(plan.returning(), sink));
        let is_temporary = plan.targets.iter().all(|target| target.table.is_temporary());
        let changes = Changes { plan: &plan.plan, ignore: plan.ignore, is_temporary };
        self.change_rows(session, changes, parameters, async |cx| run.all(cx).await).await?;
        let (matched, changed) = (run.matched, run.changed);
        if let Some(returned) = run.returned {
            session.state.found_rows = returned.sent();
            return Ok(Completion::of_rows());
        }
        if !plan.is_update {
            return Ok(Completion { affected_rows: changed, ..Completion::default() });
        }
        let info = format!(
            "Rows matched: {matched}  Changed: {changed}  Warnings: {}",
            session.state.warnings.count()
        );
        let affected_rows = if session.client_found_rows { matched } else { changed };
        Ok(Completion { affected_rows, info, ..Completion::default() })
    }
}
