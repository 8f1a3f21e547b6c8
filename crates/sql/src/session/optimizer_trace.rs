//! The traces of the optimizer of a session's statements, kept if `optimizer_trace` says so.

use palisade_expr::optimizer_trace::{OptimizerTrace, TraceSettings};
use palisade_parser::ast::{self, Assignment, Statement};
use palisade_plan::Plan;
use palisade_plan::decisions::{Decisions, Layout, LeavesOut, document};

use crate::Session;

/// Whether statements of that kind are traced. As in MySQL SET and DO are, although nothing is decided for
/// them, but for a SET that is about traces.
fn is_traced(statement: &Statement) -> bool {
    match statement {
        Statement::Query(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Do(_)
        | Statement::Explain(_) => true,
        Statement::Set(assignments) => !assignments.iter().any(is_about_traces),
        _ => false,
    }
}

/// Whether an assignment says which traces there are. How large they may be says nothing of the kind.
fn is_about_traces(assignment: &Assignment) -> bool {
    const VARIABLES: [&str; 3] = ["optimizer_trace", "optimizer_trace_limit", "optimizer_trace_offset"];
    let is_one = |name: &str| VARIABLES.iter().any(|known| name.eq_ignore_ascii_case(known));
    matches!(assignment, Assignment::System(variable, _) if is_one(&variable.name))
}

impl Session {
    /// Where a planner is to record what it decides.
    #[cold]
    pub(crate) fn decisions(&self) -> Decisions {
        let settings = TraceSettings::of(&self.state.settings);
        let traces = self.state.optimizer_traces.as_deref();
        let room = traces.map_or(settings.most_bytes as usize, |traces| traces.room(&settings));
        let leaves_out = LeavesOut { joins: !settings.records_joins, paths: !settings.records_paths };
        Decisions::new(room, leaves_out)
    }

    /// The statement has been planned.
    #[inline]
    pub(crate) fn take_decided(&mut self, plan: &Plan) {
        if let Some(decided) = &plan.decided {
            self.decided = Some(decided.clone());
        }
    }

    /// A statement that was traced has ended.
    #[cold]
    pub(crate) fn keep_trace(&mut self, statement: &Statement, text: &[u8]) {
        let decided = self.decided.take();
        if !is_traced(statement) {
            return;
        }
        let is_planned = !matches!(statement, Statement::Set(_) | Statement::Do(_));
        if is_planned && decided.is_none() {
            // It has failed, or it reads traces.
            return;
        }
        let settings = TraceSettings::of(&self.state.settings);
        let layout = Layout { one_line: settings.one_line, end_markers: settings.end_markers };
        let is_hidden = decided.as_ref().is_some_and(|decided| decided.is_hidden);
        let (trace, missing) = match decided {
            _ if is_hidden => (String::new(), 0),
            Some(decided) => (decided.steps.written(layout), decided.missing),
            None => (document(Vec::new()).written(layout), 0),
        };
        let query = match is_hidden {
            true => String::new(),
            false => String::from_utf8_lossy(text.trim_ascii()).trim_end_matches(';').to_owned(),
        };
        let trace = OptimizerTrace { query, trace, missing: missing as u64, is_hidden };
        self.state.optimizer_traces.get_or_insert_default().keep(trace, &settings);
    }

    /// A system variable of the session has been set.
    pub(crate) fn follow_trace_settings(&mut self, variable: &ast::SystemVariable) {
        const FORGETTING: [&str; 2] = ["optimizer_trace_limit", "optimizer_trace_offset"];
        if FORGETTING.iter().any(|name| variable.name.eq_ignore_ascii_case(name))
            && let Some(traces) = &mut self.state.optimizer_traces
        {
            traces.reset();
        }
    }
}
