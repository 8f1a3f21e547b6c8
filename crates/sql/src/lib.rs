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
//! | `point`, `explain` | the short path of one row by its key; EXPLAIN |
//! | [`locks`], [`locked_tables`] | LOCK TABLES, and what it forbids |
//! | [`xa`] | XA transactions |
//! | [`dml`], [`ddl`], [`show`] | changes of rows, of the dictionary; SHOW and `information_schema` |
//! | [`run`], `statement_end` | waiting, sending rows; the ends of statements and transactions |
//! | [`session`] | what a connection's statements see and leave behind; transactions, SET, PREPARE |
//! | `values` | DO, SIGNAL, KILL; values of expressions outside any table |
//! | [`environment`] | what planning and execution ask of the server: accounts, virtual tables, waiting |
//! | [`host`] | the rest of the seam to the server: system variables, files, its own statements |
//! | [`virtual_tables`] | virtual tables as statements see them: names, rows, what the account may know of |
//! | [`view`], [`profile`] | what may be told of a session; how long the stages of its statements took |
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
pub mod environment;
pub mod exec;
mod explain;
mod hints;
pub mod host;
pub mod internal;
pub mod locked_tables;
pub mod locks;
pub mod log_tables;
pub mod plan;
pub mod plan_cache;
mod point;
mod preparable;
pub mod prepared_count;
pub mod profile;
pub mod run;
pub mod session;
pub mod show;
pub mod sink;
pub mod sql;
mod statement_end;
mod values;
pub mod view;
pub mod virtual_tables;
pub mod work;
pub mod xa;

pub use environment::{
    Access, Authorization, Awaited, Diagnostics, Environment, ForeignKeyFailure, Processes, Side,
    VirtualTables, WaitOutcome,
};
pub use host::{Administration, FileSource, FileTarget, Files, Host, SystemVariables};
pub use internal::InternalSession;
pub use palisade_expr::{Scope, Services, SqlAttempt, SqlError, SqlResult};
pub use plan_cache::{PlanCache, Prepared};
pub use session::{NamedStatement, Session, SessionState, SessionVariables};
pub use sink::{ColumnMeta, ResultColumns, ResultSink};
pub use sql::{Completion, Sql};
pub use view::SessionView;

/// A future behind the seams to the server.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;
