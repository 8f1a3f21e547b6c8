//! From a statement's text to its effect: bind, plan, execute, and the functions of the language.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sql`] | the front door: [`Sql::query`], [`Sql::prepare`], [`Sql::execute`] |
//! | [`statement`] | transactions, SET, prepared statements by name, and the way to everything else |
//! | [`bind`] | names resolved, types decided |
//! | [`expr`], [`func`] | bound expressions and their evaluator; the function library |
//! | [`plan`] | access paths, joins, grouping, order: what the operators do |
//! | [`plans`] | parsed statements and their plans, shared by the sessions of a worker |
//! | `preparable` | which statements can be prepared |
//! | [`prepared_count`] | how many prepared statements all sessions have |
//! | [`exec`] | the operators' states, and the calls that move them |
//! | [`locks`] | LOCK TABLES, and what it forbids |
//! | [`memory`] | what a statement and a session hold, and how much they may |
//! | [`named_locks`] | GET_LOCK's locks, and those who wait for them |
//! | [`xa`] | XA transactions |
//! | [`dml`], [`ddl`], [`show`] | changes of rows, of the dictionary; SHOW and `information_schema` |
//! | [`run`] | waiting, and the ends of statements and transactions |
//! | [`session`], [`session_state`] | what one connection's statements see and leave behind; what of it expressions do |
//! | [`host`] | the seam to the server: system variables, status, processes, virtual tables, waiting |
//! | [`services`] | what of it evaluation asks: values of system variables, clock, random bits, named locks |
//! | [`sink`] | where result rows go |
//! | `hints` | system variables that a statement's hints set |
//! | [`error`] | what statements fail with |
//! | [`warning`], `deprecated` | the conditions a statement leaves; those of what MySQL will not understand for ever |
//! | [`work`], [`command`] | `Handler_...`, `Select_...` and `Sort_...`; `Com_...`: counted |
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
pub mod dml;
pub mod error;
pub mod exec;
pub mod expr;
pub mod func;
mod hints;
pub mod host;
pub mod locks;
pub mod log_tables;
pub mod memory;
pub mod mode;
pub mod named_locks;
mod place;
pub mod plan;
pub mod plans;
mod preparable;
pub mod prepared_count;
pub mod profile;
pub mod run;
pub mod services;
pub mod session;
pub mod session_state;
pub mod show;
pub mod sink;
pub mod sql;
pub mod statement;
pub mod warning;
pub mod work;
pub mod xa;

pub use error::{SqlAttempt, SqlError, SqlResult};
pub use host::{
    Access, Awaited, FileSource, FileTarget, ForeignKeyFailure, Host, Side, VirtualTable, WaitOutcome,
};
pub use plans::{Plans, Prepared};
pub use services::{Scope, Services};
pub use session::{NamedStatement, Session, SessionState, SessionVariables, SessionView};
pub use sink::{ColumnMeta, ResultColumns, ResultSink};
pub use sql::{Completion, Sql};

/// A future behind the seams to the server.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;
