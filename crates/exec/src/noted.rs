//! Measuring an operator, for EXPLAIN ANALYZE.

use std::time::Duration;

use super::{ExecContext, State};
use palisade_base::Blocked;
use palisade_expr::SqlAttempt;
use palisade_plan::Operator;
use palisade_plan::note::Note;

/// What one execution knows of an operator that is measured.
#[derive(Debug)]
pub struct NotedState {
    input: State,
    /// No row of this reading has been given.
    is_fresh: bool,
    /// It waits since then: the wait is a part of what the row takes.
    since: Option<Duration>,
}

impl NotedState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        NotedState { input, is_fresh: true, since: None }
    }

    /// The operator that is measured.
    pub fn input(&mut self) -> &mut State {
        &mut self.input
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        (self.is_fresh, self.since) = (true, None);
    }

    /// The next row.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Operator, note: &Note) -> SqlAttempt<bool> {
        let host = cx.execution.host;
        let since = self.since.take().unwrap_or_else(|| host.monotonic());
        let found = self.input.next(plan, cx);
        if let Err(Blocked::Wait(_)) = &found {
            self.since = Some(since);
            return found;
        }
        let took = host.monotonic().saturating_sub(since);
        note.measured.add(took, std::mem::take(&mut self.is_fresh), matches!(found, Ok(true)));
        found
    }
}
