//! From a statement's text to its effect: bind, plan, execute.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sql`] | the front door: [`Sql::query`], [`Sql::prepare`], [`Sql::execute`] |
//! | `dispatch` | which room executes a statement that is neither a query nor a change of rows |
//! | [`bind`] | names resolved, types decided: the logical plan |
//! | [`plan`] | the logical plan, and what the operators do: access paths, joins, grouping, order |
//! | [`plan_cache`] | parsed statements and their plans, shared by the sessions of a worker |
//! | `preparable` | which statements can be prepared |
//! | [`prepared_count`] | how many prepared statements all sessions have |
//! | [`exec`] | the operators' states, and the calls that move them |
//! | [`locks`] | LOCK TABLES, and what it forbids |
//! | [`xa`] | XA transactions |
//! | [`dml`], [`ddl`], [`show`] | changes of rows, of the dictionary; SHOW and `information_schema` |
//! | [`run`] | waiting, and the ends of statements and transactions |
//! | [`session`] | what a connection's statements see and leave behind; transactions, SET, PREPARE |
//! | `values` | DO, SIGNAL, KILL; values of expressions outside any table |
//! | [`host`] | the seam to the server: system variables, status, processes, virtual tables, waiting |
//! | [`internal`] | statements of the server's own: their session and their security context |
//! | [`sink`] | where result rows go |
//! | `hints` | system variables that a statement's hints set |
//! | `deprecated` | the warnings of what MySQL will not understand for ever |
//! | [`work`], [`command`] | `Handler_...`, `Select_...` and `Sort_...`; `Com_...`: counted |
//!
//! Expressions, their evaluator and the functions are in [`palisade_expr`]; an operator lends them what they
//! see.
//!
//! A statement runs as operators that are synchronous and resumable: what is missing (a page, a row lock) travels to
//! the top as [`Blocked::Wait`](palisade_base::Blocked), the front door awaits the event there, holding nothing, and
//! calls again. Only the front door is `async`.
//!
//! Deliberately absent: sockets, packets, accounts.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

pub mod bind;
pub mod command;
pub mod ddl;
mod deprecated;
mod dispatch;
pub mod dml;
pub mod exec;
mod hints;
pub mod host;
pub mod internal;
pub mod locks;
pub mod log_tables;
pub mod plan;
pub mod plan_cache;
mod preparable;
pub mod prepared_count;
pub mod profile;
pub mod run;
pub mod session;
pub mod show;
pub mod sink;
pub mod sql;
mod values;
pub mod work;
pub mod xa;

pub use host::{
    Access, Administration, Authorization, Awaited, FileSource, FileTarget, Files, ForeignKeyFailure, Host,
    Processes, Side, SystemVariables, VirtualTables, WaitOutcome,
};
pub use internal::InternalSession;
pub use palisade_expr::{Scope, Services, SqlAttempt, SqlError, SqlResult};
pub use plan_cache::{PlanCache, Prepared};
pub use session::{NamedStatement, Session, SessionState, SessionVariables, SessionView};
pub use sink::{ColumnMeta, ResultColumns, ResultSink};
pub use sql::{Completion, Sql};

/// A future behind the seams to the server.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;
