//! What planning and execution ask of the server, by who asks for it.
//!
//! | trait | what it answers | who asks |
//! |---|---|---|
//! | [`Services`] | clock, random bits, values of variables | the evaluation of expressions |
//! | [`Authorization`] | what the session's account may do and know of | binding, dispatch, SHOW |
//! | [`VirtualTables`] | tables that tell of the server | binding, virtual reads, SHOW |
//! | [`Processes`] | connections: waiting, giving way, KILL | whatever waits |
//! | [`Diagnostics`] | what the server keeps of failures | foreign keys |
//!
//! [`Environment`] is all of them. A caller that asks for one kind of thing takes that trait, and its unit
//! test a double of it.

#[cfg(test)]
pub mod doubles;

use std::any::Any;
use std::sync::{Arc, Weak};
use std::time::Duration;

use palisade_base::error_catalogue::ER_NO_SUCH_THREAD;
use palisade_base::{Event, mysql_error};
use palisade_catalog::TableDef;
use palisade_engine::{ActiveTransaction, BuildWork};
use palisade_expr::SqlResult;
use palisade_expr::services::Services;
use palisade_expr::session_state::SessionState;
use palisade_parser::ast::Statement;
use palisade_schema::{Change, ChangeKind, Changed, Rows, TableDecl, Wanted};

use crate::BoxFuture;
use crate::prepared_count::Counted;
use crate::view::SessionView;

/// What a statement does to the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the privilege it needs")]
pub enum Access {
    Read,
    Insert,
    Update,
    Delete,
    /// Both [`Insert`](Self::Insert) and [`Delete`](Self::Delete).
    Replace,
    /// FOR UPDATE.
    Lock,
    /// Its query is shown.
    ShowView,
}

/// A prepared statement that has a name.
#[derive(Debug, Clone, Copy)]
pub struct NamedText<'a> {
    /// Its number among all that the session has prepared.
    pub number: u32,
    /// Its name.
    pub name: &'a str,
    /// Its text.
    pub text: &'a [u8],
    /// How long it took to prepare it.
    pub took: Duration,
    /// What its plan relies on.
    pub basis: u64,
}

/// What a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// Other sessions, by a lock of theirs, for as long as they please.
    Others,
    /// Other sessions, by a metadata lock of theirs.
    MetadataLock,
    /// Another session, by a named lock.
    NamedLock,
    /// The time to go by.
    Time,
    /// The machine: a page to be read, the log to be written.
    Machine,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitOutcome {
    /// The event happened.
    Happened,
    /// The time was up first.
    TimedOut,
    /// The statement or the connection was killed.
    Killed,
}

/// What a connection is doing.
pub struct RunningStatement {
    /// The text of its statement; none between commands.
    pub text: Option<Vec<u8>>,
    /// The plan that it has shown, if it is still executed.
    pub plan: Option<Arc<dyn Any + Send + Sync>>,
}

/// A change of a row that a foreign key forbids.
#[derive(Debug)]
pub struct ForeignKeyFailure<'a> {
    /// The transaction that wanted it.
    pub transaction: ActiveTransaction,
    /// Whose row it is.
    pub side: Side,
    /// The table that refers to another.
    pub child: &'a TableDef,
    /// Its index that the foreign key uses, if it has one.
    pub child_index: Option<&'a str>,
    /// Schema and name of the table that is referred to.
    pub parent: (&'a str, &'a str),
    /// Its index that the foreign key uses; `None` if there is no such table.
    pub parent_index: Option<&'a str>,
    /// `CONSTRAINT ... FOREIGN KEY ...`.
    pub constraint: String,
    /// The row's values of the foreign key's columns, as text.
    pub values: Vec<String>,
}

/// A side of a foreign key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The row refers to one that is not there.
    Child,
    /// Others refer to the row, which was to go.
    Parent,
}

/// Everything that planning and execution ask of the server.
pub trait Environment: Services + Authorization + VirtualTables + Processes + Diagnostics {}

impl<T> Environment for T where T: Services + Authorization + VirtualTables + Processes + Diagnostics {}

/// What the session's account may do. Where there are no accounts, everyone may do everything.
pub trait Authorization: Send + Sync {
    /// Whether the session's account may do that to a table: 1142 if not. Asked of
    /// [restricted](SessionState::is_restricted) sessions only, as is
    /// [`check_statement`](Self::check_statement).
    fn check_table(
        &self,
        _session: &SessionState,
        _schema: &str,
        _table: &str,
        _access: Access,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// Whether the account `definer` (`user@host`) may do that to a table, for the session, which names a
    /// view of that account: 1142 if not, 1449 if there is no such account.
    fn check_definer(
        &self,
        _session: &SessionState,
        _definer: &str,
        _schema: &str,
        _table: &str,
        _access: Access,
    ) -> SqlResult<()> {
        Ok(())
    }

    /// Whether there is an account of that name.
    fn has_account(&self, _user: &str, _host: &str) -> bool {
        true
    }

    /// Whether the session's account may execute a statement, as far as [`check_table`](Self::check_table)
    /// does not decide it.
    fn check_statement(&self, _session: &SessionState, _statement: &Statement) -> SqlResult<()> {
        Ok(())
    }

    /// 1290 if the server is read only (`read_only`, `super_read_only`) to the session. Asked before each
    /// change and each commit of one: it must cost next to nothing.
    fn check_read_only(&self, _session: &SessionState) -> SqlResult<()> {
        Ok(())
    }

    /// Whether the session's account may know of a schema, or of a table in it.
    fn may_see(&self, _session: &SessionState, _schema: &str, _table: Option<&str>) -> bool {
        true
    }

    /// Whether a schema may become the session's default one.
    fn may_enter(&self, _session: &SessionState, _schema: &str) -> bool {
        true
    }

    /// What the session's account may do to a table's columns, as information_schema.COLUMNS lists it; empty
    /// if it may not know of them. `None` if it may do everything.
    fn column_privileges(&self, _session: &SessionState, _schema: &str, _table: &str) -> Option<String> {
        None
    }

    /// 1227 unless the session's account may see what everyone does (PROCESS).
    fn check_sees_storage(&self, _session: &SessionState) -> SqlResult<()> {
        Ok(())
    }

    /// Privileges that come by name.
    fn dynamic_privileges(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Tables that the server provides. Those that describe the dictionary are made in `sql`.
pub trait VirtualTables: Send + Sync {
    /// The virtual tables that the server provides, as far as information_schema lists them.
    fn virtual_tables(&self) -> Vec<&'static TableDecl>;

    /// A virtual table that the server provides, by its name in any case; `None` if there is none.
    fn find_virtual_table(&self, schema: &str, name: &str) -> Option<&'static TableDecl>;

    /// The rows of a virtual table that the server provides; rows that are not wanted may be left out.
    fn virtual_rows(&self, session: SessionView<'_>, table: &TableDecl, wanted: &Wanted) -> Rows;

    /// Whether rows of a virtual table that the server provides may be changed so.
    fn allows_virtual_change(&self, _table: &TableDecl, _kind: ChangeKind) -> bool {
        false
    }

    /// Changes a row of a virtual table that the server provides.
    fn change_virtual_row(
        &self,
        _session: SessionView<'_>,
        _table: &TableDecl,
        _change: &Change<'_>,
    ) -> Changed {
        Changed::Refused
    }

    /// TRUNCATE TABLE of a virtual table that the server provides; false if it may not be said of it.
    fn truncate_virtual_table(&self, _session: SessionView<'_>, _table: &TableDecl) -> bool {
        false
    }
}

/// A part of a statement that runs beside it.
pub type Beside = Box<dyn FnOnce(Arc<dyn Environment>) -> BoxFuture<'static, ()> + Send>;

/// Connections, and the threads that serve them.
pub trait Processes: Send + Sync {
    /// KILL: ends a connection, or only its statement. 1094 if there is none of that number.
    fn kill(&self, session: &SessionState, connection_id: u64, only_statement: bool) -> SqlResult<()>;

    /// A statement of the connection is being executed by this plan: others may look at it as long as the
    /// statement has it. Statements within a statement change nothing of that.
    fn show_plan(&self, _connection_id: u64, _plan: Weak<dyn Any + Send + Sync>) {}

    /// A statement of the connection does this work on all rows of a table: others may look how far it has
    /// come.
    fn show_work(&self, _connection_id: u64, _work: &Arc<BuildWork>) {}

    /// What a connection is doing, and the plan that it has [shown](Self::show_plan), for another session:
    /// 1094 if there is no such connection, 1045 if it is another account's and the session may not see what
    /// everyone does (PROCESS).
    fn running(&self, _session: &SessionState, connection_id: u64) -> SqlResult<RunningStatement> {
        Err(mysql_error!(ER_NO_SUCH_THREAD, connection_id))
    }

    /// Waits for `event`, at most `limit`, unless the session is killed. A client that goes away while its
    /// session waits for anything but the machine has killed it.
    fn wait<'a>(
        &'a self,
        connection_id: u64,
        event: Event,
        awaited: Awaited,
        limit: Option<Duration>,
    ) -> BoxFuture<'a, WaitOutcome>;

    /// A statement of the connection has computed for a while: lets the worker's other tasks run, and looks
    /// whether the client is still there. If it has gone, the session is [killed](SessionState::kill).
    fn pause(&self, _connection_id: u64) -> BoxFuture<'_, ()> {
        Box::pin(palisade_base::event::yield_now())
    }

    /// Has a part of a statement run beside it, by a thread that computes for all sessions and leaves the
    /// processors to those that serve them; the part is given the server. False where none does: the
    /// statement does all by itself then.
    fn run_beside(&self, _part: Beside) -> bool {
        false
    }

    /// How many parts of a statement are worth running at the same time.
    fn threads_beside(&self) -> usize {
        1
    }

    /// Whether those that serve sessions have so much to do that a statement should have no more than one
    /// part run beside it.
    fn is_busy(&self) -> bool {
        false
    }

    /// A session prepares a statement: 1461 if there are too many already.
    fn count_prepared(&self) -> SqlResult<Counted>;

    /// A session has given a prepared statement a name. A number by which the server knows it, 0 if it does
    /// not follow its executions.
    fn follow_prepared(&self, _connection_id: u64, _named: NamedText<'_>) -> u32 {
        0
    }

    /// The session has closed one that the server knows by that number.
    fn forget_prepared(&self, _connection_id: u64, _number: u32) {}

    /// Time that only grows, since some moment.
    fn monotonic(&self) -> Duration;
}

/// What the server keeps of the failures of statements, to be shown later.
pub trait Diagnostics: Send + Sync {
    /// A statement of the session has run into a foreign key; what is to be told of it later the host notes.
    /// It may be one of a thousand rows of an INSERT IGNORE.
    fn note_foreign_key_failure(&self, _session: &SessionState, _failure: ForeignKeyFailure<'_>) {}
}
