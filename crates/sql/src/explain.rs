//! EXPLAIN: planning what is explained. The text of a plan is in [`explain`](crate::plan::explain).

use palisade_base::error_catalogue::ER_WRONG_ARGUMENTS;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_expr::error::not_supported;
use palisade_parser::ast::{self, ExplainFormat, ExplainTarget, Statement};

use crate::bind::Binder;
use crate::dml::change::{ChangePlan, bind_delete, bind_update};
use crate::dml::insert::{InsertPlan, bind_insert};
use crate::plan::Plan;
use crate::plan::explain::{explain as explain_plan, explain_insert};
use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlResult};

/// What is explained, planned.
enum Explained {
    Query(Box<Plan>),
    /// With the name of what it does.
    Change(ChangePlan, &'static str),
    Insert(InsertPlan),
}

impl Explained {
    fn new(mut binder: Binder<'_>, statement: &Statement) -> SqlResult<Explained> {
        Ok(match statement {
            Statement::Query(query) => {
                let bound = binder.query(query)?;
                Explained::Query(Box::new(binder.finish(Some(bound))?))
            }
            Statement::Update(update) => Explained::Change(bind_update(binder, update)?, "UPDATE"),
            Statement::Delete(delete) => Explained::Change(bind_delete(binder, delete)?, "DELETE"),
            Statement::Insert(insert) => Explained::Insert(bind_insert(binder, insert)?),
            _ => return Err(mysql_error!(ER_WRONG_ARGUMENTS, "EXPLAIN")),
        })
    }

    fn plan(&self) -> &Plan {
        match self {
            Explained::Query(plan) => plan,
            Explained::Change(change, _) => change.plan(),
            Explained::Insert(insert) => insert.plan(),
        }
    }
}

impl Sql {
    pub(crate) async fn explain(
        &self,
        session: &mut Session,
        explain: &ast::Explain,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        if explain.analyze {
            return Err(not_supported("EXPLAIN ANALYZE"));
        }
        let ExplainTarget::Statement(statement) = &explain.target else {
            return Err(not_supported("EXPLAIN FOR CONNECTION"));
        };
        if !matches!(**statement, Statement::Query(_)) {
            session.check_branch()?;
        }
        let format = explain.format.unwrap_or(ExplainFormat::Traditional);
        if format == ExplainFormat::Json {
            return Err(not_supported("EXPLAIN FORMAT=JSON"));
        }
        let explained = self.bound(session, parameters, |binder| Explained::new(binder, statement)).await?;
        self.check_constants(session, &explained.plan().beforehand, parameters)?;
        match explained {
            Explained::Query(plan) => {
                session.check_branch_for(&plan)?;
                explain_plan(&plan, "SIMPLE", format, sink)?;
            }
            Explained::Change(change, name) => explain_plan(change.plan(), name, format, sink)?,
            Explained::Insert(insert) => match insert.query_plan() {
                Some(plan) => explain_plan(plan, "SIMPLE", format, sink)?,
                None => explain_insert(insert.table_name(), sink)?,
            },
        }
        Ok(Completion::of_rows())
    }
}
