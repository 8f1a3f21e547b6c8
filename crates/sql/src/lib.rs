//! From a statement's text to its effect: the front door. Binding and planning are in [`palisade_plan`], the
//! operators in [`palisade_exec`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`sql`] | [`Sql::query`], [`Sql::prepare`], [`Sql::execute`] |
//! | `dispatch` | which room executes a statement that is neither a query nor a change of rows |
//! | [`plan_cache`] | parsed statements and their plans, shared by the sessions of a worker |
//! | `bindings` | CREATE BINDING: statements that are planned by hints which are not in their texts |
//! | [`stability`] | statements that keep their plan until another one has proved to be faster |
//! | `planning` | making a plan where none is kept |
//! | `preparable` | which statements can be prepared |
//! | `point`, `explain` | the short path of one row by its key; EXPLAIN |
//! | [`locks`] | LOCK TABLES |
//! | [`xa`] | XA transactions |
//! | [`dml`], [`ddl`], [`show`] | changes of rows, of the dictionary; SHOW and `information_schema` |
//! | `statement_end` | where statements and transactions begin and end |
//! | [`session`] | a connection's state between statements; transactions, SET, PREPARE |
//! | `values` | DO, KILL; values of expressions outside any table |
//! | `diagnostics` | SIGNAL, RESIGNAL, GET DIAGNOSTICS |
//! | [`host`] | the seam to the server, beside what planning and execution ask: variables, files |
//! | [`internal`] | statements of the server's own: their session and their security context |
//! | `hints` | system variables that a statement's hints set |
//! | `deprecated` | the warnings of what MySQL will not understand for ever |
//!
//! A statement runs as operators that are synchronous and resumable: what is missing (a page, a row lock)
//! travels to the top as [`Blocked::Wait`](palisade_base::Blocked), [`run`](palisade_exec::run) awaits the
//! event there, holding nothing, and calls again.
//!
//! Deliberately absent: sockets, packets, accounts.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

mod bindings;
pub mod ddl;
mod deprecated;
mod diagnostics;
mod dispatch;
pub mod dml;
mod explain;
mod hints;
pub mod host;
pub mod internal;
pub mod locks;
pub mod plan_cache;
mod planning;
mod point;
mod preparable;
pub mod session;
pub mod show;
pub mod sql;
pub mod stability;
mod statement_end;
mod sys;
pub mod temporary;
mod values;
pub mod xa;

pub use host::{Administration, FileSource, FileTarget, Files, Host, SystemVariables};
pub use internal::InternalSession;
pub use palisade_expr::{Scope, Services, SqlAttempt, SqlError, SqlResult};
pub use palisade_session::BoxFuture;
pub use palisade_session::environment::{
    Access, Authorization, Awaited, Diagnostics, Environment, ForeignKeyFailure, Processes, RunningStatement,
    Side, VirtualTables, WaitOutcome,
};
pub use palisade_session::sink::{ColumnMeta, ResultColumns, ResultSink};
pub use palisade_session::view::SessionView;
pub use plan_cache::{PlanCache, Prepared};
pub use session::{NamedStatement, Session, SessionState, SessionVariables};
pub use sql::{Completion, Sql};
