//! The seam to the server: what statements ask of it beside what planning and execution
//! [ask](palisade_session::environment).
//!
//! | trait | what it answers | who asks |
//! |---|---|---|
//! | [`Environment`] | clock, accounts, virtual tables, connections | binding, planning, operators |
//! | [`SystemVariables`] | system variables and status counters | SET, hints, SHOW |
//! | [`Files`] | files on the server's machine | LOAD DATA, SELECT ... INTO OUTFILE |
//! | [`Administration`] | statements that are the server's business | dispatch |
//!
//! [`Host`] is all of them. A caller that asks for one kind of thing takes that trait, and its unit test a
//! double of it.

use palisade_session::environment::Environment;
use palisade_session::view::SessionView;

#[cfg(test)]
pub(crate) mod doubles;

use palisade_base::error_catalogue::ER_OPTION_PREVENTS_STATEMENT;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_expr::services::Scope;
use palisade_parser::ast::Statement;

use crate::session::SessionState;
use crate::{BoxFuture, Completion, ResultSink, Session, Sql, SqlResult};

/// A file that a statement reads.
pub trait FileSource: Send {
    /// The next part; empty at the end.
    fn part(&mut self) -> BoxFuture<'_, SqlResult<Vec<u8>>>;
}

/// A new file that a statement writes.
pub trait FileTarget: Send {
    /// Appends a part.
    fn write(&mut self, part: Vec<u8>) -> BoxFuture<'_, SqlResult<()>>;

    /// The statement has written all of it.
    fn finish(self: Box<Self>) -> BoxFuture<'static, SqlResult<()>>;

    /// The statement has failed: the file goes.
    fn remove(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// Everything that `sql` asks of the server.
pub trait Host: Environment + SystemVariables + Files + Administration {}

impl<T> Host for T where T: Environment + SystemVariables + Files + Administration {}

/// System variables and status counters.
pub trait SystemVariables: Send + Sync {
    /// Sets a system variable; `None` is `DEFAULT`. Errors: 1193 unknown, 1231 wrong value, 1232 wrong type,
    /// 1238 read only, 1228/1229 wrong scope. What `sql` itself reads is in [`SessionState::variables`]: keep
    /// it in step.
    fn set_variable(
        &self,
        session: &mut Session,
        scope: Scope,
        name: &str,
        value: Option<Value>,
    ) -> SqlResult<()>;

    /// SET PERSIST: sets the global value of a system variable, and keeps it for the servers that come after
    /// this one; `only` keeps it without setting it. Errors as of [`set_variable`](Self::set_variable), and
    /// 3630. It is durable when this returns.
    fn persist_variable<'a>(
        &'a self,
        _session: &'a mut Session,
        _name: &'a str,
        _value: Option<Value>,
        _only: bool,
    ) -> BoxFuture<'a, SqlResult<()>> {
        Box::pin(async { Err(palisade_expr::error::not_supported("SET PERSIST")) })
    }

    /// Every system variable with its value as text, in order of name.
    fn variables(&self, session: &SessionState, scope: Scope) -> Vec<(String, String)>;

    /// Every status counter with its value as text, in order of name.
    fn status(&self, session: SessionView<'_>, scope: Scope) -> Vec<(String, String)>;
}

/// Files on the server's machine.
pub trait Files: Send + Sync {
    /// Opens a file of the server's machine that a statement reads: 1290 unless `secure_file_priv` allows it.
    fn open_file<'a>(&'a self, _path: &'a [u8]) -> BoxFuture<'a, SqlResult<Box<dyn FileSource>>> {
        Box::pin(async { Err(mysql_error!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv")) })
    }

    /// Makes a file on the server's machine, which a statement writes: 1290 unless `secure_file_priv` allows
    /// it, 1086 if it is there, and an error without the privilege FILE.
    fn create_file<'a>(
        &'a self,
        _session: &'a SessionState,
        _path: &'a [u8],
    ) -> BoxFuture<'a, SqlResult<Box<dyn FileTarget>>> {
        Box::pin(async { Err(mysql_error!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv")) })
    }
}

/// Statements that are the server's business, and what it keeps of others.
pub trait Administration: Send + Sync {
    /// Statements that are the server's business: accounts and grants, FLUSH, SHUTDOWN, SHOW GRANTS, SHOW
    /// ENGINE STATUS. `None` if the host does not know this one; it is then answered with 1235. What the host
    /// asks for that in SQL runs in an [`InternalSession`](crate::InternalSession) of `sql`.
    fn administer<'a>(
        &'a self,
        sql: &'a Sql,
        session: &'a mut Session,
        statement: &'a Statement,
        sink: &'a mut dyn ResultSink,
    ) -> BoxFuture<'a, Option<SqlResult<Completion>>>;

    /// Whether a query log is written to its table in the schema `mysql`, which has that name.
    fn writes_log_table(&self, _table: &str) -> bool {
        false
    }
}
