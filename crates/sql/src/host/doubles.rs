//! Doubles of what the server answers, each for the unit tests of those who ask for that.

use std::sync::Mutex;

use palisade_base::error_catalogue::ER_WRONG_VALUE_FOR_VAR;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_expr::services::Scope;
use palisade_parser::ast::Statement;

use super::{Administration, SystemVariables};
use crate::{
    BoxFuture, Completion, ResultSink, Session, SessionState, SessionView, Sql, SqlError, SqlResult,
};

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
