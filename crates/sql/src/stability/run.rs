//! Planning a query by what is kept of it, and executing a plan that is on trial.
//!
//! What is measured of an execution is the time in which it computed, summed over its steps: not the time in
//! which it waited for locks, for pages or for the client. An execution by the plan that is tried ends when
//! it takes far longer than the other plan ever did and has sent no row: it is then executed by the other
//! one, and the client does not know. One that has begun to send rows goes on.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use palisade_base::error_catalogue::ER_QUERY_TIMEOUT;
use palisade_catalog::{RowView, Value, ValueRef};
use palisade_parser::ast;
use palisade_plan::Plan;
use palisade_plan::outline::Outline;
use palisade_plan::premise::Premise;
use palisade_session::BoxFuture;
use palisade_session::sink::{ColumnMeta, ResultColumns, ResultSink};

use super::{Choice, Identity, Turn};
use crate::bindings::digest_of;
use crate::plan_cache::{CachedStatement, Prepared};
use crate::planning::keep_planned;
use crate::sql::Sql;
use crate::{Completion, Session, SqlResult};

/// How many times as long as the longest execution by the plan that is kept one by the other plan may take
/// before it sends a row.
const PATIENCE: u32 = 8;
/// How long it may take in any case.
const LEAST_PATIENCE: Duration = Duration::from_millis(50);

/// Two plans of which one is tried.
struct Contest {
    kept: Arc<Outline>,
    tried: Arc<Outline>,
    turn: Turn,
    longest: Option<Duration>,
}

/// An execution by a plan that is on trial, or by the one that it is compared with.
#[derive(Debug)]
pub(crate) struct Trial {
    identity: Arc<Identity>,
    tried: Arc<Outline>,
    turn: Turn,
    /// How long the statement may take; zero is as long as it likes.
    limit: Duration,
    /// By what it is executed when it has taken as long as the plan allows and has sent no row.
    fallback: Option<Arc<Plan>>,
}

impl Sql {
    /// What a query's plan is kept by; `None` if it is planned as the planner likes it: plans are not kept,
    /// or hints say how it is planned.
    pub(crate) fn kept_by(
        &self,
        session: &Session,
        text: Option<&[u8]>,
        parameters: &[Value],
    ) -> Option<Arc<Identity>> {
        let is_hinted = session.block_hints.is_some() || session.before_hints.is_some();
        // That is how PREPARE plans, which knows no values.
        let is_prepared = !parameters.is_empty() && parameters.iter().all(Value::is_null);
        if !self.kept_plans().is_on() || is_hinted || is_prepared || session.state.connection_id == 0 {
            return None;
        }
        let database = session.state.database.clone().unwrap_or_default();
        let digest = digest_of(text?, session)?;
        let switches = session.state.variables.optimizer;
        Some(Arc::new(Identity { database, switches, digest }))
    }

    /// Plans a query by what is kept of it.
    pub(crate) fn plan_by_kept(
        &self,
        session: &mut Session,
        query: &ast::Query,
        identity: &Arc<Identity>,
        parameters: &[Value],
        prepared: Option<&Arc<Prepared>>,
    ) -> SqlResult<Arc<CachedStatement>> {
        let free = self.plan_query(session, query, parameters, None)?;
        let has_way = free.point.is_none() && free.cacheable && query.into.is_none();
        let outline = if has_way { Outline::of(&free).map(Arc::new) } else { None };
        let Some(outline) = outline else {
            return Ok(self.keep_query(session, (query, free), parameters, prepared));
        };
        match self.kept_plans().choose(identity, &outline, self.host().monotonic()) {
            Choice::AsItIs(stands) => {
                let plan = with_premise(free, Premise::stands(stands));
                Ok(self.keep_query(session, (query, plan), parameters, prepared))
            }
            Choice::Held(kept, stands) => {
                let plan = match self.held(session, query, parameters, &kept)? {
                    Some(held) => {
                        self.kept_plans().reproduced(identity);
                        with_premise(held, Premise::stands(stands))
                    }
                    None => {
                        self.kept_plans().missed(identity, &outline, self.is_lost(&kept));
                        free
                    }
                };
                Ok(self.keep_query(session, (query, plan), parameters, prepared))
            }
            Choice::OnTrial { kept, tried, turn, longest } => {
                let contest = Contest { kept, tried, turn, longest };
                self.plan_contest(session, query, identity, parameters, (free, outline), contest)
            }
        }
    }

    /// Plans a query that two plans are tried of in turns.
    fn plan_contest(
        &self,
        session: &mut Session,
        query: &ast::Query,
        identity: &Arc<Identity>,
        parameters: &[Value],
        (free, outline): (Plan, Arc<Outline>),
        Contest { kept, tried, turn, longest }: Contest,
    ) -> SqlResult<Arc<CachedStatement>> {
        let mut free = Some(free);
        let mut by = |session: &mut Session, wanted: &Arc<Outline>| match free.take_if(|_| *wanted == outline)
        {
            Some(free) => Ok(Some(free)),
            None => self.held(session, query, parameters, wanted),
        };
        let (by_kept, by_tried) = (by(session, &kept)?, by(session, &tried)?);
        let (by_kept, mut by_tried) = match (by_kept, by_tried) {
            (Some(by_kept), Some(by_tried)) => (by_kept, by_tried),
            (by_kept, by_tried) => {
                // One of them cannot be made any more: there is nothing to be compared.
                match by_kept {
                    None => self.kept_plans().missed(identity, &outline, self.is_lost(&kept)),
                    Some(_) => self.kept_plans().failed(identity, &tried, self.host().monotonic()),
                }
                let plan = match by_kept.or(by_tried).or(free) {
                    Some(plan) => plan,
                    None => self.plan_query(session, query, parameters, None)?,
                };
                return Ok(self.planned_query(session, query, plan, None));
            }
        };
        let limit = by_kept.max_execution_time.unwrap_or(session.state.variables.max_execution_time);
        let mut trial = Trial { identity: identity.clone(), tried, turn, limit, fallback: None };
        if turn == Turn::Kept {
            return Ok(self.planned_query(session, query, by_kept, Some(trial)));
        }
        let most = longest.map(|longest| (longest * PATIENCE).max(LEAST_PATIENCE));
        if let Some(most) = most.filter(|most| limit.is_zero() || *most < limit)
            && !by_tried.locks_rows
            && !by_tried.has_effects
        {
            by_tried.max_execution_time = Some(most);
            trial.fallback = Some(Arc::new(by_kept));
        }
        Ok(self.planned_query(session, query, by_tried, Some(trial)))
    }

    /// A query as it was planned, which is kept with its statement.
    fn keep_query(
        &self,
        session: &mut Session,
        (query, plan): (&ast::Query, Plan),
        parameters: &[Value],
        prepared: Option<&Arc<Prepared>>,
    ) -> Arc<CachedStatement> {
        let planned = self.planned_query(session, query, plan, None);
        keep_planned(session, &planned, parameters, prepared);
        planned
    }

    /// A query as it was planned.
    fn planned_query(
        &self,
        session: &mut Session,
        query: &ast::Query,
        plan: Plan,
        trial: Option<Trial>,
    ) -> Arc<CachedStatement> {
        plan.warnings.iter().for_each(|warning| session.state.warnings.warn(warning.clone()));
        Arc::new(CachedStatement::Query(Arc::new(plan), query.into.clone(), trial.map(Box::new)))
    }

    /// The plan of a query that has this outline, if it can be made.
    fn held(
        &self,
        session: &mut Session,
        query: &ast::Query,
        parameters: &[Value],
        outline: &Arc<Outline>,
    ) -> SqlResult<Option<Plan>> {
        let plan = self.plan_query(session, query, parameters, Some(outline.clone()))?;
        let is_same = Outline::of(&plan).is_some_and(|made| made == **outline);
        Ok(is_same.then_some(plan))
    }

    /// Whether a table or an index that an outline names is not there any more.
    fn is_lost(&self, outline: &Outline) -> bool {
        let dictionary = self.engine().dictionary();
        outline.tables().any(|(schema, table, index)| {
            let table = dictionary.table(schema, table);
            table.map_or(true, |table| table.index_number(index).is_none())
        })
    }

    /// Executes a query by a plan that is on trial, and measures it.
    pub(crate) async fn run_trial(
        &self,
        session: &mut Session,
        plan: &Arc<Plan>,
        trial: &Trial,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let Trial { identity, tried, turn, limit, fallback } = trial;
        let until = || self.host().unix_micros().saturating_add(limit.as_micros() as i64);
        let mut sink = TrialSink {
            inner: sink,
            plan: plan.clone(),
            has_begun: false,
            is_to_tell: false,
            deadline: (!limit.is_zero()).then(until),
        };
        let warnings = session.state.warnings.clone();
        let (result, took) = self.timed(self.run_query(session, plan.clone(), parameters, &mut sink)).await;
        let now = self.host().monotonic();
        match (&result, fallback) {
            (Ok(_), _) => {
                self.kept_plans().measured(identity, tried, *turn, took, now);
                sink.begin()?;
            }
            (Err(error), Some(by_kept)) if error.number() == ER_QUERY_TIMEOUT.number && !sink.has_begun => {
                self.kept_plans().failed(identity, tried, now);
                session.state.warnings = warnings;
                return self.run_query(session, by_kept.clone(), parameters, sink.inner).await;
            }
            (Err(_), _) => {}
        }
        result
    }

    /// What a future gives, and how long it computed.
    async fn timed<F: Future>(&self, future: F) -> (F::Output, Duration) {
        let mut future = pin!(future);
        let mut took = Duration::ZERO;
        let output = poll_fn(|cx| {
            let begun = self.host().monotonic();
            let polled = future.as_mut().poll(cx);
            took += self.host().monotonic().saturating_sub(begun);
            polled
        });
        let output = output.await;
        (output, took)
    }
}

fn with_premise(mut plan: Plan, premise: Premise) -> Plan {
    plan.premises.push(premise);
    plan
}

/// Holds the head of a result back until there is a row, or an end.
struct TrialSink<'s> {
    inner: &'s mut dyn ResultSink,
    plan: Arc<Plan>,
    /// The head was sent.
    has_begun: bool,
    /// It was sent just now: from here on the statement's own deadline counts.
    is_to_tell: bool,
    deadline: Option<i64>,
}

impl TrialSink<'_> {
    /// Sends the head, if it was not sent: there is a row, or there is none.
    fn begin(&mut self) -> SqlResult<()> {
        if self.has_begun {
            return Ok(());
        }
        (self.has_begun, self.is_to_tell) = (true, true);
        match &self.plan.query {
            Some(query) => self.inner.plan_columns(&query.columns),
            None => Ok(()),
        }
    }
}

impl ResultSink for TrialSink<'_> {
    fn columns(&mut self, _: &[ColumnMeta]) -> SqlResult<()> {
        Ok(())
    }

    fn plan_columns(&mut self, _: &ResultColumns) -> SqlResult<()> {
        Ok(())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.begin()?;
        self.inner.row(values)
    }

    fn stored_row(&mut self, stored: &RowView<'_>, columns: &[usize]) -> SqlResult<()> {
        self.begin()?;
        self.inner.stored_row(stored, columns)
    }

    fn wants_flush(&self) -> bool {
        self.is_to_tell || self.inner.wants_flush()
    }

    fn flush(&mut self) -> BoxFuture<'_, SqlResult<()>> {
        if self.inner.wants_flush() { self.inner.flush() } else { Box::pin(async { Ok(()) }) }
    }

    fn new_deadline(&mut self) -> Option<Option<i64>> {
        std::mem::take(&mut self.is_to_tell).then_some(self.deadline)
    }
}
