//! What a statement sees and leaves behind beside the database: its session, and the seam to the server.
//!
//! | module | what it holds |
//! |---|---|
//! | [`environment`] | what planning and execution ask of the server: accounts, virtual tables, waiting |
//! | [`virtual_tables`] | virtual tables as statements see them: names, rows, what the account may know of |
//! | [`sink`] | where result rows go |
//! | [`view`] | what may be told of a session |
//! | [`locked_tables`] | what a session has locked by LOCK TABLES, and what that forbids |
//! | [`log_tables`] | the tables of the query logs, and what statements may do to them |
//! | [`work`], [`command`] | `Handler_...`, `Select_...` and `Sort_...`; `Com_...`: counted |
//! | [`profile`] | how long the stages of a session's last statements took |
//! | [`prepared_count`] | how many prepared statements all sessions have |
//!
//! What expressions see of a session - variables, warnings, user variables - is in
//! [`session_state`](palisade_expr::session_state). Binding, planning and operators are given parts of a
//! session that are declared here and there; the whole of it, with its transaction and its prepared
//! statements, is put together above them, by `sql`.
//!
//! Deliberately absent: plans, and how a statement is executed; sockets, packets, accounts.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

pub mod command;
pub mod environment;
pub mod locked_tables;
pub mod log_tables;
pub mod prepared_count;
pub mod profile;
pub mod sink;
pub mod view;
pub mod virtual_tables;
pub mod work;

/// A future behind the seams to the server.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;
