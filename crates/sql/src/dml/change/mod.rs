//! UPDATE and DELETE.
//!
//! Rows are read in their latest version without locking them, changed by the version that was read, and read again
//! if someone was faster. What is joined with them or read in subqueries, and not changed, is read as the statement's source. Where a change could move a row ahead of the scan that found it, all rows are found first.
mod plan;
mod run;

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_engine::Table;
use palisade_parser::ast::Statement;

use super::foreign::Family;
use super::insert::Cell;
use super::store::RowRules;
use crate::bind::{Binder, not_supported};
use crate::expr::{Context, Expr};
use crate::plan::Plan;
use crate::sql::{CachedStatement, Prepared, Sql};
use crate::{Completion, Session, SqlResult};
use run::ChangeRun;

pub(crate) use run::clustered_key;
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
}

impl ChangePlan {
    /// What finds the rows.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// A table whose rows are changed.
#[derive(Debug)]
struct Target {
    table: Arc<Table>,
    slot: usize,
    /// UPDATE's assignments; none for DELETE.
    assignments: Vec<(usize, Cell)>,
    /// An assignment reads a column assigned before it.
    sequential: bool,
    rules: RowRules,
    family: Option<Arc<Family>>,
}
impl Sql {
    pub(crate) async fn change(
        &self,
        session: &mut Session,
        statement: &Statement,
        parameters: &[Value],
        prepared: Option<&Arc<Prepared>>,
    ) -> SqlResult<Completion> {
        let plan = match self.cached(session, parameters, prepared).as_deref() {
            Some(CachedStatement::Change(plan)) => {
                self.check_accesses(session, &plan.plan)?;
                plan.clone()
            }
            _ => {
                let plan = Arc::new(self.plan_change(session, statement, parameters)?);
                if plan.plan.cacheable {
                    self.keep(session, parameters, prepared, CachedStatement::Change(plan.clone()));
                }
                plan
            }
        };
        self.wait_for_purge(session).await?;
        let savepoint = self.begin_statement(session)?;
        let mut cx =
            Context::new(session, &**self.host(), self.engine(), parameters, Some(plan.plan.clone()));
        cx.strict = cx.mode().is_strict() && !plan.ignore;
        let mut run = ChangeRun::new(&plan);
        let result = run.all(&mut cx).await;
        drop(cx);
        let (matched, changed) = (run.matched, run.changed);
        self.end_statement(session, savepoint, result.as_ref().err()).await?;
        result?;
        if !plan.is_update {
            return Ok(Completion { affected_rows: changed, ..Completion::default() });
        }
        let info =
            format!("Rows matched: {matched}  Changed: {changed}  Warnings: {}", session.warnings.count());
        let affected_rows = if session.client_found_rows { matched } else { changed };
        Ok(Completion { affected_rows, info, ..Completion::default() })
    }

    fn plan_change(
        &self,
        session: &Session,
        statement: &Statement,
        parameters: &[Value],
    ) -> SqlResult<ChangePlan> {
        let dictionary = self.engine().dictionary();
        let binder = Binder::new(session, &**self.host(), self.engine(), &dictionary, parameters);
        match statement {
            Statement::Update(update) => binder.update(update),
            Statement::Delete(delete) => binder.delete(delete),
            _ => Err(not_supported("this change of rows")),
        }
    }

    /// Whether a statement that changes rows can be planned: names and types are right.
    pub(crate) fn check_change(
        &self,
        session: &Session,
        statement: &Statement,
        parameters: &[Value],
    ) -> SqlResult<()> {
        if let Statement::Insert(insert) = statement {
            let dictionary = self.engine().dictionary();
            let binder = Binder::new(session, &**self.host(), self.engine(), &dictionary, parameters);
            return binder.insert(insert).map(drop);
        }
        self.plan_change(session, statement, parameters).map(drop)
    }
}
