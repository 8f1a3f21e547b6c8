//! EXPLAIN: what a statement would do, or has done.
//!
//! | module | what it holds |
//! |---|---|
//! | `reading` | how a table is read, in words |
//! | `rows` | FORMAT=TRADITIONAL |
//! | `step` | FORMAT=TREE, and FORMAT=JSON of version 2 |
//! | `blocks` | FORMAT=JSON of version 1 |
//! | `document` | JSON as text |
//! | `text` | names and numbers |
//!
//! The statement is planned with [notes](palisade_plan::note), for this once: a plan that is kept has none.
//! EXPLAIN ANALYZE executes that plan, throws its rows away, and shows what the notes have measured.

mod blocks;
mod document;
mod reading;
mod remade;
mod rows;
mod step;
mod text;

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::types::LobSize;
use palisade_catalog::{CollationId, SqlType, Value, ValueRef};
use palisade_expr::error::not_supported;
use palisade_parser::ast::{self, ExplainFormat, ExplainTarget, Statement};
use palisade_parser::{ParseError, ParseOptions};
use palisade_plan::bind::Binder;
use palisade_plan::outline::Outline;
use palisade_plan::parallel::DividedFrom;
use palisade_plan::purpose::Purpose;
use palisade_plan::shown::Running;
use palisade_plan::{Plan, note};
use palisade_session::environment::RunningStatement;
use palisade_session::sink::ColumnMeta;

use self::document::{Object, Order};
use self::step::{Step, Steps};
use crate::dml::change::{ChangePlan, bind_delete, bind_update};
use crate::dml::insert::{InsertPlan, bind_insert};
use crate::session::ExplainVariable;
use crate::sql::{Guard, Sql};
use crate::{Completion, ResultSink, Session, SqlError, SqlResult};

/// What MySQL says of a statement that its operators do not execute.
const NOT_EXECUTABLE: &str = "<not executable by iterator executor>";

/// How a plan is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Rows,
    Tree,
    Blocks,
    Steps,
}

/// What is explained, planned.
pub(crate) enum Explained {
    Query(Arc<Plan>),
    Change(ChangePlan),
    Insert(InsertPlan),
}

impl Explained {
    pub(crate) fn new(mut binder: Binder<'_>, statement: &Statement) -> SqlResult<Explained> {
        binder.notes = true;
        Ok(match statement {
            Statement::Query(query) => {
                let bound = binder.query(query)?;
                let max_execution_time = query.max_execution_time();
                Explained::Query(Arc::new(Plan { max_execution_time, ..binder.finish(Some(bound))? }))
            }
            Statement::Update(update) => Explained::Change(bind_update(binder, update)?),
            Statement::Delete(delete) => Explained::Change(bind_delete(binder, delete)?),
            Statement::Insert(insert) => Explained::Insert(bind_insert(binder, insert)?),
            _ => return Err(mysql_error!(ER_WRONG_ARGUMENTS, "EXPLAIN")),
        })
    }

    pub(crate) fn plan(&self) -> &Plan {
        match self {
            Explained::Query(plan) => plan,
            Explained::Change(change) => change.plan(),
            Explained::Insert(insert) => insert.plan(),
        }
    }

    /// Has filters of tables measured by themselves.
    fn split_filters(&mut self) {
        if let Explained::Query(plan) = self
            && let Some(plan) = Arc::get_mut(plan)
        {
            let subqueries = plan.subqueries.iter_mut().flatten().filter_map(Arc::get_mut);
            plan.query.iter_mut().chain(subqueries).for_each(note::split_filters);
        }
    }
}

/// Numbers of the queries that are tables of other ones; those of subqueries in expressions come before.
struct Numbers(u64);

impl Numbers {
    fn new(plan: &Plan) -> Numbers {
        Numbers(plan.subqueries.len() as u64 + 2)
    }

    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0 - 1
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
        let form = form(session, explain)?;
        let statement = match &explain.target {
            ExplainTarget::Statement(statement) => statement,
            ExplainTarget::Connection(number) => return self.explain_running(session, form, *number, sink),
        };
        let Some(schema) = &explain.schema else {
            return self.explain_statement(session, explain, (statement, form), parameters, sink).await;
        };
        let before = session.state.database.clone();
        self.use_database(session, schema)?;
        let result = self.explain_statement(session, explain, (statement, form), parameters, sink).await;
        session.state.database = before;
        result
    }

    async fn explain_statement(
        &self,
        session: &mut Session,
        explain: &ast::Explain,
        (statement, form): (&Statement, Form),
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        if !matches!(statement, Statement::Query(_)) {
            session.check_branch()?;
        }
        let text = session.own_text.clone();
        let text = text.as_deref().and_then(|text| text.get(explain.at..));
        let own = self.enter_binding(session, text);
        let identity = match (&own, statement) {
            (None, Statement::Query(_)) => self.kept_by(session, text, parameters),
            _ => None,
        };
        let kept = identity.and_then(|identity| self.kept_plans().outline(&identity));
        let explained = self.explained(session, statement, parameters, kept).await;
        self.leave_binding(session, own);
        let mut explained = explained?;
        session.take_decided(explained.plan());
        if explain.analyze {
            explained.split_filters();
        }
        let plan = explained.plan();
        let told = plan.told.as_deref();
        for reference in told.iter().flat_map(|told| &told.outer_references) {
            session.state.warnings.note(reference.clone());
        }
        plan.warnings.iter().for_each(|warning| session.state.warnings.warn(warning.clone()));
        self.check_constants(session, &plan.beforehand, parameters)?;
        session.check_branch_for(plan)?;
        let is_measured = explain.analyze && self.execute_explained(session, &explained, parameters).await?;
        let divided_from = match explain.analyze {
            // What is measured is done by the statement alone.
            true => DividedFrom::NEVER,
            false => DividedFrom::new(&session.state.variables, self.host().threads_beside()),
        };
        note_rewritten(session, explained.plan(), form);
        if form == Form::Rows {
            rows::send(explained.plan(), sink)?;
            return Ok(Completion::of_rows());
        }
        let text = match (form, &explained.plan().purpose) {
            (Form::Tree, Purpose::Change(change)) if explain.analyze && change.is_of_one_table => {
                format!("-> {NOT_EXECUTABLE}\n")
            }
            _ => text_of(explained.plan(), form, is_measured, divided_from),
        };
        if let Some(name) = &explain.into {
            let mut context = session.context(&**self.host(), self.engine(), &[], None);
            let name = name.to_lowercase().into();
            palisade_expr::eval::assign(&mut context.view().lend(), &name, Value::bytes(text), &TEXT)?;
            return Ok(Completion::default());
        }
        send_text(&text, sink)
    }

    /// The plan that is explained: the one that the statement keeps, if there is one that can be made.
    async fn explained(
        &self,
        session: &mut Session,
        statement: &Statement,
        parameters: &[Value],
        kept: Option<Arc<Outline>>,
    ) -> SqlResult<Explained> {
        if let Some(kept) = kept {
            let held = |mut binder: Binder<'_>| {
                binder.outline = Some(kept.clone());
                Explained::new(binder, statement)
            };
            let explained = self.bound(session, parameters, held).await?;
            if Outline::of(explained.plan()).is_some_and(|made| made == *kept) {
                return Ok(explained);
            }
        }
        self.bound(session, parameters, |binder| Explained::new(binder, statement)).await
    }

    /// EXPLAIN FOR CONNECTION: the plan by which another session executes a statement now. Nothing is sent
    /// if it has none yet, or executes nothing.
    fn explain_running(
        &self,
        session: &Session,
        form: Form,
        connection_id: u64,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let RunningStatement { text, plan } = self.host().running(&session.state, connection_id)?;
        let Some(text) = text else { return Ok(Completion::default()) };
        if !is_explainable(&text, &mut Guard::new(session, &**self.host()))? {
            return Err(mysql_error!(ER_EXPLAIN_NOT_SUPPORTED));
        }
        let Some(running) = plan.and_then(|plan| plan.downcast::<Running>().ok()) else {
            return Ok(Completion::default());
        };
        let plan = running.shown();
        match form {
            Form::Rows => rows::send(&plan, sink).map(|()| Completion::of_rows()),
            form => send_text(&text_of(&plan, form, false, running.divided_from), sink),
        }
    }

    /// Executes what is explained, if EXPLAIN ANALYZE does: as in MySQL a query, and a change of the rows of
    /// a join. Says whether it did.
    async fn execute_explained(
        &self,
        session: &mut Session,
        explained: &Explained,
        parameters: &[Value],
    ) -> SqlResult<bool> {
        match explained {
            Explained::Query(plan) => {
                Box::pin(self.run_query(session, plan.clone(), parameters, &mut Discarded)).await?;
                Ok(true)
            }
            Explained::Change(plan) if !plan.is_of_one_table() => {
                Box::pin(self.change(session, plan, parameters, &mut Discarded)).await?;
                Ok(true)
            }
            Explained::Change(_) | Explained::Insert(_) => Ok(false),
        }
    }
}

/// Notes the statement as it was rewritten, where MySQL does: FORMAT=JSON of version 2 has it in its text.
fn note_rewritten(session: &mut Session, plan: &Plan, form: Form) {
    let Some(told) = plan.told.as_deref().filter(|_| matches!(form, Form::Rows | Form::Blocks)) else {
        return;
    };
    if form == Form::Rows && told.has_windows {
        session.state.warnings.note(mysql_error!(ER_WINDOW_EXPLAIN_JSON));
    }
    session.state.warnings.note(SqlError { message: told.text.clone(), ..mysql_error!(ER_YES) });
}

/// The type of what a format gives that is one text.
const TEXT: SqlType = SqlType::Text { size: LobSize::Long, collation: CollationId::UTF8MB4_0900_AI_CI };

fn send_text(text: &str, sink: &mut dyn ResultSink) -> SqlResult<Completion> {
    sink.columns(&[ColumnMeta::computed("EXPLAIN", TEXT)])?;
    sink.row(&[ValueRef::Bytes(text.as_bytes())])?;
    Ok(Completion::of_rows())
}

/// Whether a statement that is executed by a plan is the first of a text that a client sends. A prepared
/// statement has a plan, too.
fn is_explainable(text: &[u8], guard: &mut Guard<'_>) -> SqlResult<bool> {
    let options = ParseOptions { placeholders: true, ..ParseOptions::default() };
    let parsed = match palisade_parser::parse_one(text, options, &mut || guard.allows()) {
        Err(ParseError::Stopped) => return Err(guard.failure(ParseError::Stopped)),
        parsed => parsed,
    };
    let statement = parsed.ok().and_then(|first| first.statement);
    Ok(matches!(
        statement,
        Some(
            Statement::Query(_)
                | Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::Execute(_)
        )
    ))
}

/// How the plan is shown: as the statement says, or as `explain_format` does.
fn form(session: &Session, explain: &ast::Explain) -> SqlResult<Form> {
    let variables = &session.state.variables;
    let blocks = variables.explain_json_format_version == 1;
    let json = if blocks { Form::Blocks } else { Form::Steps };
    if let Some(ExplainFormat::Unknown(name)) = &explain.format {
        return Err(mysql_error!(ER_UNKNOWN_EXPLAIN_FORMAT, name));
    }
    let is_of_connection = matches!(explain.target, ExplainTarget::Connection(_));
    if is_of_connection && explain.analyze {
        return Err(not_supported("EXPLAIN ANALYZE FOR CONNECTION"));
    }
    if explain.into.is_some() {
        if is_of_connection {
            return Err(mysql_error!(ER_EXPLAIN_INTO_FOR_CONNECTION_NOT_SUPPORTED));
        }
        match explain.format {
            Some(ExplainFormat::Json) => {}
            Some(ExplainFormat::Tree) => {
                return Err(mysql_error!(ER_EXPLAIN_INTO_FORMAT_NOT_SUPPORTED, "TREE"));
            }
            Some(_) => return Err(mysql_error!(ER_EXPLAIN_INTO_FORMAT_NOT_SUPPORTED, "TRADITIONAL")),
            None => return Err(mysql_error!(ER_EXPLAIN_INTO_IMPLICIT_FORMAT_NOT_SUPPORTED)),
        }
    }
    let form = match (&explain.format, variables.explain_format) {
        (Some(ExplainFormat::Json), _) | (None, ExplainVariable::Json) => json,
        (Some(ExplainFormat::Tree), _) | (None, ExplainVariable::Tree) => Form::Tree,
        (None, ExplainVariable::Traditional) if explain.analyze => Form::Tree,
        _ if explain.analyze => return Err(not_supported("EXPLAIN ANALYZE with TRADITIONAL format")),
        _ => Form::Rows,
    };
    if form == Form::Blocks && explain.analyze {
        return Err(mysql_error!(ER_EXPLAIN_ANALYZE_JSON_FORMAT_VERSION_NOT_SUPPORTED));
    }
    Ok(form)
}

/// A plan in a format that is one text.
fn text_of(plan: &Plan, form: Form, is_measured: bool, divided_from: DividedFrom) -> String {
    match form {
        Form::Rows | Form::Tree => tree(plan, is_measured, divided_from).lines(),
        Form::Blocks => blocks::document(plan).text(Order::AsAdded),
        Form::Steps => steps(plan, is_measured, divided_from),
    }
}

/// The steps of a statement.
fn tree(plan: &Plan, is_measured: bool, divided_from: DividedFrom) -> Step {
    let found = plan.query.as_ref().map(|query| Steps::new(plan, is_measured, divided_from).whole(query));
    let before = || Step::new("Rows fetched before execution", "rows_fetched_before_execution");
    match &plan.purpose {
        Purpose::Query => found.unwrap_or_else(before),
        Purpose::Change(change) => {
            let verb = if change.is_update { "Update" } else { "Delete from" };
            let how = if change.collects { "buffered" } else { "immediate" };
            Step::new(format!("{verb} {} ({how})", change.target_names()), "").over(found)
        }
        Purpose::Insert { is_replace, table, .. } => {
            let (verb, values, select) = match is_replace {
                true => ("Replace", "replace_values", "replace_select"),
                false => ("Insert", "insert_values", "insert_select"),
            };
            let access_type = if found.is_some() { select } else { values };
            Step::new(format!("{verb} into {table}"), access_type)
                .with("table_name", table.as_str())
                .over([found.unwrap_or_else(before)])
        }
    }
}

/// FORMAT=JSON of version 2.
fn steps(plan: &Plan, is_measured: bool, divided_from: DividedFrom) -> String {
    let query_type = match &plan.purpose {
        Purpose::Query => "select",
        Purpose::Change(change) if change.is_update => "update",
        Purpose::Change(_) => "delete",
        Purpose::Insert { is_replace: true, .. } => "replace",
        Purpose::Insert { .. } => "insert",
    };
    let mut document = Object::default();
    if let Some(told) = &plan.told {
        document.add("query", told.text.as_str());
    }
    document.add("query_plan", tree(plan, is_measured, divided_from).object());
    document.add("query_type", query_type);
    document.add("json_schema_version", "2.0");
    document::Document::from(document).text(Order::Sorted)
}

/// Takes the rows of a query that is executed to be measured.
struct Discarded;

impl ResultSink for Discarded {
    fn columns(&mut self, _columns: &[ColumnMeta]) -> SqlResult<()> {
        Ok(())
    }

    fn row(&mut self, _values: &[ValueRef<'_>]) -> SqlResult<()> {
        Ok(())
    }
}
