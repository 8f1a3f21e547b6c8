//! The traces of the optimizer that a session keeps: `optimizer_trace` and its kin,
//! `information_schema.OPTIMIZER_TRACE`.
//!
//! ```text
//!   optimizer_trace_offset = -2, _limit = 1            offset = 1, limit = 2
//!   statements  a  b  c  d                             a  b  c  d
//!   kept              c  d   of which c is shown          b  c
//! ```
//!
//! Setting either of the two forgets what is kept.

use std::collections::VecDeque;

use palisade_base::sysvar::SessionSettings;
use palisade_base::sysvar_catalogue as sysvar;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceSettings {
    /// Traces are written without line breaks.
    pub one_line: bool,
    /// What ends says what it ends.
    pub end_markers: bool,
    /// The joins that are weighed are recorded.
    pub records_joins: bool,
    /// The paths to tables are.
    pub records_paths: bool,
    /// The first statement that is kept, or how many of the last ones are, below 0.
    pub offset: i64,
    /// How many of them.
    pub limit: u64,
    /// Bytes of all traces together.
    pub most_bytes: u64,
}

impl TraceSettings {
    /// What a session has set.
    pub fn of(settings: &SessionSettings) -> TraceSettings {
        let switches = settings.text(sysvar::OPTIMIZER_TRACE).unwrap_or_default();
        let features = settings.text(sysvar::OPTIMIZER_TRACE_FEATURES).unwrap_or_default();
        TraceSettings {
            one_line: switches.contains("one_line=on"),
            records_joins: features.contains("greedy_search=on"),
            records_paths: features.contains("range_optimizer=on"),
            end_markers: settings.bool(sysvar::END_MARKERS_IN_JSON),
            offset: settings.int(sysvar::OPTIMIZER_TRACE_OFFSET),
            limit: settings.uint(sysvar::OPTIMIZER_TRACE_LIMIT),
            most_bytes: settings.uint(sysvar::OPTIMIZER_TRACE_MAX_MEM_SIZE),
        }
    }
}

/// The trace of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptimizerTrace {
    /// The statement.
    pub query: String,
    /// What was decided.
    pub trace: String,
    /// Bytes that there was no room for.
    pub missing: u64,
    /// The account may not see what was decided: neither query nor trace is shown.
    pub is_hidden: bool,
}

/// The traces that a session keeps.
#[derive(Debug, Default)]
pub struct OptimizerTraces {
    kept: VecDeque<OptimizerTrace>,
    /// Statements since the last reset.
    seen: u64,
}

impl OptimizerTraces {
    /// Bytes that a new trace may take.
    pub fn room(&self, settings: &TraceSettings) -> usize {
        // The last one makes room for the next.
        let others =
            if settings.offset == -1 { 0 } else { self.kept.iter().map(OptimizerTrace::length).sum() };
        usize::try_from(settings.most_bytes).unwrap_or(usize::MAX).saturating_sub(others)
    }

    /// A statement has been traced.
    pub fn keep(&mut self, trace: OptimizerTrace, settings: &TraceSettings) {
        let number = self.seen;
        self.seen += 1;
        match u64::try_from(settings.offset) {
            Ok(first) => {
                if number >= first && number - first < settings.limit {
                    self.kept.push_back(trace);
                }
            }
            Err(_) => {
                self.kept.push_back(trace);
                while self.kept.len() as u64 > settings.offset.unsigned_abs() {
                    self.kept.pop_front();
                }
            }
        }
    }

    /// What is shown.
    pub fn shown(&self, settings: &TraceSettings) -> Vec<OptimizerTrace> {
        let limit = usize::try_from(settings.limit).unwrap_or(usize::MAX);
        self.kept.iter().take(limit).cloned().collect()
    }

    /// All are forgotten.
    pub fn reset(&mut self) {
        *self = OptimizerTraces::default();
    }
}

impl OptimizerTrace {
    fn length(&self) -> usize {
        self.query.len() + self.trace.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(offset: i64, limit: u64) -> String {
        let settings = TraceSettings {
            one_line: false,
            records_joins: true,
            records_paths: true,
            end_markers: false,
            offset,
            limit,
            most_bytes: 100,
        };
        let mut traces = OptimizerTraces::default();
        for query in ["1", "2", "3", "4"] {
            let trace = OptimizerTrace {
                query: query.to_owned(),
                trace: String::new(),
                missing: 0,
                is_hidden: false,
            };
            traces.keep(trace, &settings);
        }
        assert_eq!(traces.room(&settings), if offset == -1 { 100 } else { 100 - traces.kept.len() });
        traces.shown(&settings).into_iter().map(|trace| trace.query).collect()
    }

    #[test]
    fn offset_and_limit_say_which_statements_are_shown() {
        // As MySQL 9.7 shows them.
        for (offset, limit, queries) in [
            (-1, 1, "4"),
            (-2, 2, "34"),
            (-3, 2, "23"),
            (-2, 5, "34"),
            (-5, 2, "12"),
            (-5, 10, "1234"),
            (0, 2, "12"),
            (1, 1, "2"),
            (0, 0, ""),
        ] {
            assert_eq!(shown(offset, limit), queries, "{offset}, {limit}");
        }
    }
}
