//! The server: from a socket to a statement and back.
//!
//! ```text
//!  main thread                       worker 1..N (one event loop each, turned by one thread each)
//!  ┌─────────────────────┐           ┌──────────────────────────────────────────────┐
//!  │ listeners (TCP,Unix)│  accept   │ session task ── login ── command ── answer ─┐ │      computing threads
//!  │ shutdown            │ ────────▶ │      ▲                                      │ │      ┌──────────────────┐
//!  │ reaper              │  to the   │      └──────────────────────────────────────┘ │ ◀──▶ │ a statement that │
//!  └─────────────────────┘  least    │ session task ...                             │      │ computes         │
//!                           loaded   │ log inbox                                    │      └──────────────────┘
//!                                    └──────────────────────────────────────────────┘
//!                                        ▲ a new thread if the loop's does not come back: watchdog
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`options`], [`option_file`] | the command line and my.cnf |
//! | [`server`], [`listener`], [`worker`] | starting, accepting, running, shutting down |
//! | [`event_loop`], [`reactor`], [`task`] | a worker's loop: tasks that are ready, sockets and times, a session's future |
//! | [`compute`], `watchdog`, `post` | statements that compute, threads that do not come back |
//! | [`fault`] | which panics end a statement, and which the process |
//! | [`locality`] | which worker serves a session best |
//! | [`channel`] | packets over a socket, with timeouts, in TLS and compressed where the client asks |
//! | [`login`], [`login_pace`] | who a client is; logins make way for sessions |
//! | [`session`], [`prepared`], `entry` | a connection: its commands, its prepared statements, its login's statements |
//! | [`result_set`], [`cursor`] | the rows it gets, at once or when it fetches them |
//! | [`accounts`], [`tls`] | who may come in and do what; certificates and keys |
//! | `compression` | what a connection is compressed with |
//! | [`connections`] | every connection: process list, KILL, timeouts |
//! | [`host`] | what SQL asks of the server: variables, status, virtual tables, waiting |
//! | [`variables`], [`session_variables`] | system variables: the global values, and those of a session |
//! | `engine_variables`, `flush_settings`, `doublewrite` | what global values mean to the storage engine |
//! | [`persisted`], [`variable_sources`] | those that outlive the server; where values come from |
//! | [`time_zone`] | the machine's time zone |
//! | [`status`] | the counters of SHOW STATUS |
//! | `http` | `/metrics` for Prometheus, and a page for people |
//! | [`instruments`] | what sessions tell of their statements, for performance_schema |
//! | [`check`] | `palisade check`: the offline check of a data directory |
//! | [`files`], [`query_logs`] | files that statements read and write; the logs of what clients ask for |
//! | [`virtual_tables`], [`administration`] | tables about the server, and statements that are its business |
//!
//! A session is one task at a time; between two commands it may become a task of another worker. It sleeps
//! only in three places: for the client's next command, for a client that does not take its rows, and for an
//! event of the engine; a thread never does. Which thread polls it may change whenever it sleeps. Between
//! commands it holds its buffers and the session's state, nothing else.
//!
//! Deliberately absent: how data is stored, what a statement means.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

pub mod accounts;
pub mod administration;
pub mod channel;
pub mod check;
mod compression;
pub mod compute;
pub mod connections;
pub mod cursor;
mod doublewrite;
mod engine_variables;
mod entry;
pub mod error_log;
pub mod event_loop;
pub mod fault;
pub mod files;
mod flush_settings;
pub mod host;
mod http;
mod innodb_status;
pub mod instruments;
pub mod listener;
pub mod locality;
pub mod login;
pub mod login_pace;
pub mod memory_limit;
mod meter;
mod numbered;
pub mod option_file;
pub mod options;
pub mod persisted;
mod pool_dump;
mod pool_resize;
mod post;
pub mod prepared;
mod pressure;
pub mod query_logs;
pub mod reactor;
pub mod result_set;
pub mod server;
pub mod session;
pub mod session_variables;
pub mod status;
pub mod stream;
pub mod task;
pub mod time_zone;
pub mod tls;
pub mod variable_sources;
pub mod variables;
pub mod virtual_tables;
mod watchdog;
pub mod worker;
