//! Doubles of what the server answers, each for the unit tests of those who ask for that.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use palisade_base::Event;
use palisade_base::error_catalogue::ER_WRONG_VALUE_FOR_VAR;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_expr::services::Scope;
use palisade_parser::ast::Statement;
use palisade_schema::{Rows, TableDecl, Wanted};

use super::{Administration, Authorization, Awaited, Processes, SystemVariables, VirtualTables, WaitOutcome};
use crate::prepared_count::{Counted, PreparedCount};
use crate::{
    BoxFuture, Completion, ResultSink, Session, SessionState, SessionView, Sql, SqlError, SqlResult,
};

/// An account that knows of one schema, and may select from its tables.
pub struct Knows(pub &'static str);

impl Authorization for Knows {
    fn may_see(&self, _: &SessionState, schema: &str, _: Option<&str>) -> bool {
        schema == self.0
    }

    fn column_privileges(&self, _: &SessionState, schema: &str, table: &str) -> Option<String> {
        let is_secret = schema != self.0 || table == "secret";
        Some(if is_secret { "" } else { "select" }.to_owned())
    }
}

/// Variables that take whatever they are given, but for `refused`. It remembers what was set.
pub struct Variables {
    pub refused: &'static str,
    pub set: Mutex<Vec<(String, Option<Value>)>>,
}

impl Variables {
    pub fn but(refused: &'static str) -> Variables {
        Variables { refused, set: Mutex::default() }
    }

    pub fn refusal(&self) -> SqlError {
        mysql_error!(ER_WRONG_VALUE_FOR_VAR, self.refused, "it")
    }
}

impl SystemVariables for Variables {
    fn set_variable(&self, _: &mut Session, _: Scope, name: &str, value: Option<Value>) -> SqlResult<()> {
        if name == self.refused {
            return Err(self.refusal());
        }
        self.set.lock().unwrap().push((name.to_owned(), value));
        Ok(())
    }

    fn variables(&self, _: &SessionState, _: Scope) -> Vec<(String, String)> {
        Vec::new()
    }

    fn status(&self, _: SessionView<'_>, _: Scope) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A server with these virtual tables, without rows.
pub struct Tables(pub &'static [&'static TableDecl]);

impl VirtualTables for Tables {
    fn virtual_tables(&self) -> Vec<&'static TableDecl> {
        self.0.to_vec()
    }

    fn find_virtual_table(&self, schema: &str, name: &str) -> Option<&'static TableDecl> {
        let is = |known: &str, name: &str| known.eq_ignore_ascii_case(name);
        self.0.iter().find(|table| is(table.schema, schema) && is(table.name, name)).copied()
    }

    fn virtual_rows(&self, _: SessionView<'_>, _: &TableDecl, _: &Wanted) -> Rows {
        Box::new(std::iter::empty())
    }
}

/// A server whose time is set by hand, in microseconds. Every wait is in vain.
#[derive(Default)]
pub struct Clock(AtomicU64);

impl Clock {
    pub fn set(&self, micros: u64) {
        self.0.store(micros, Ordering::Relaxed);
    }
}

impl Processes for Clock {
    fn kill(&self, _: &SessionState, _: u64, _: bool) -> SqlResult<()> {
        Ok(())
    }

    fn wait<'a>(&'a self, _: u64, _: Event, _: Awaited, _: Option<Duration>) -> BoxFuture<'a, WaitOutcome> {
        Box::pin(async { WaitOutcome::TimedOut })
    }

    fn count_prepared(&self) -> SqlResult<Counted> {
        PreparedCount::default().one_more(1)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }
}

/// A server that writes these logs to their tables, and knows no statement of its own.
pub struct LogsTo(pub &'static [&'static str]);

impl Administration for LogsTo {
    fn administer<'a>(
        &'a self,
        _: &'a Sql,
        _: &'a mut Session,
        _: &'a Statement,
        _: &'a mut dyn ResultSink,
    ) -> BoxFuture<'a, Option<SqlResult<Completion>>> {
        Box::pin(async { None })
    }

    fn writes_log_table(&self, table: &str) -> bool {
        self.0.contains(&table)
    }
}
