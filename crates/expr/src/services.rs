//! The seam to the server, as far as evaluation asks it.

use std::sync::Arc;

use palisade_catalog::Value;

use crate::SqlResult;
use crate::named_locks::NamedLocks;
use crate::session_state::SessionState;

/// Which value of a system variable or status counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The connection's own.
    Session,
    /// The server's.
    Global,
}

/// What functions ask about sessions and files, and about what is collected of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// The number of a connection's thread in performance_schema; NULL if there is no such connection.
    Thread(u64),
    /// The account of a thread; NULL if there is no such thread.
    Account(u64),
    /// YES, NO or UNKNOWN: whether statements of a connection are collected.
    IsInstrumented(u64),
    /// YES or NO: whether statements of an account are collected.
    IsAccountEnabled {
        /// Its host.
        host: &'a str,
        /// Its user.
        user: &'a str,
    },
    /// Schema and name, with a slash between them, of the table that a file is of; NULL if it is of none that
    /// the account may know of.
    TableOfFile(&'a str),
    /// The name that the session's client has given itself when it connected; NULL if it has given none.
    Program,
    /// YES or NO: whether a consumer and those above it are enabled; NULL if there is none of that name.
    IsConsumerEnabled(&'a str),
}

/// What the server offers to the evaluation of expressions.
pub trait Services: Send + Sync {
    /// The value of a system variable; `None` if there is no variable of that name. `scope` is `None` where
    /// the statement does not say (`@@name`): the session's value if it has one.
    fn variable(&self, session: &SessionState, scope: Option<Scope>, name: &str) -> SqlResult<Option<Value>>;

    /// Microseconds since 1970-01-01 00:00:00 UTC.
    fn unix_micros(&self) -> i64;

    /// 64 random bits.
    fn random(&self) -> u64;

    /// What VERSION() answers.
    fn version(&self) -> &str;

    /// The server's named locks.
    fn named_locks(&self) -> &Arc<NamedLocks>;

    /// Asked by an evaluation that has computed for about a millisecond within one step of the connection's
    /// statement. `true`: the calling thread may go on computing. `false`: the thread serves other sessions
    /// too. The caller then unwinds with
    /// [`Blocked::Wait`](palisade_base::Blocked::Wait) on a completed event, and the server calls the step
    /// again on a thread that serves no other session.
    fn may_compute(&self, _connection_id: u64) -> bool {
        true
    }

    /// Answers a question about sessions and files, as far as the asking one may know of them.
    fn performance(&self, _session: &SessionState, _question: Question<'_>) -> Value {
        Value::Null
    }

    /// Whether the session may hold more memory than the limits of connections say, because of its account.
    fn may_hold_more(&self, _session: &SessionState) -> bool {
        false
    }
}
