//! Tables about the server: their rows are made when a statement pulls them.
//!
//! | module | tables |
//! |---|---|
//! | `processes` | PROCESSLIST, threads, connection attributes |
//! | `people` | accounts, users, hosts |
//! | [`questions`] | what functions ask of the same |
//! | `setup` | what is collected of statements |
//! | `statements` | statements one by one |
//! | `stages` | stages of statements, with how far long ones have come |
//! | `transactions` | transactions one by one, and what they took together |
//! | `error_sums` | errors by number |
//! | `prepared_statements` | what is prepared, and what executing it did |
//! | `statement_sums` | what statements did together, by digest, class, session, account |
//! | `variables` | system variables, where their values come from, status counters |
//! | `by_session` | what sessions have set and counted |
//! | `accounts` | privileges and attributes of accounts |
//! | `metrics` | INNODB_METRICS, RESOURCE_GROUPS |
//! | `buffer_pool` | what is in the buffer pool |
//! | [`locks`] | INNODB_TRX, data_locks, data_lock_waits |
//! | `metadata_locks` | metadata_locks, table_handles |
//! | `table_waits` | table_io_waits_summary_..., table_lock_waits_summary_by_table |
//! | `file_waits`, `memory` | what is done to files, waits, accounts of memory |
//! | `kept_plans` | the plans that statements keep |
//! | `error_log` | error_log |
//! | `host_cache` | host_cache, which is empty |
//! | `tls` | tls_channel_status |
//! | `redo` | log_status, innodb_redo_log_files, performance_timers |
//! | `replication_state`, `absent_instruments` | those of performance_schema that hold nothing |
//! | `system`, `replication` | those of the schema `mysql` that hold nothing |

mod absent_instruments;
mod accounts;
mod buffer_pool;
mod by_session;
mod error_log;
mod error_sums;
mod file_waits;
mod host_cache;
mod kept_plans;
pub mod locks;
mod memory;
mod metadata_locks;
mod metrics;
mod people;
mod prepared_statements;
mod processes;
pub mod questions;
mod redo;
mod replication;
mod replication_state;
mod setup;
mod stages;
mod statement_sums;
mod statements;
mod system;
mod table_waits;
mod tls;
mod transactions;
mod variables;

use palisade_catalog::Value;
use palisade_schema::{Changed, Origin, Registry, Row, Rows, Wanted};
use palisade_sql::SessionView;

use crate::host::ServerHost;

/// The server as an origin of rows.
pub struct FromServer;

/// Who asks, and of which server.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    host: &'a ServerHost,
    session: SessionView<'a>,
}

impl<'a> Source<'a> {
    /// The session asks its server.
    pub fn new(host: &'a ServerHost, session: SessionView<'a>) -> Source<'a> {
        Source { host, session }
    }
}

impl Origin for FromServer {
    type Source<'a> = Source<'a>;
}

type Definition = palisade_schema::Definition<FromServer>;
type Tables = &'static [Definition];

/// The server's virtual tables.
pub static REGISTRY: Registry<FromServer> = Registry {
    listed: &[
        processes::TABLES,
        metrics::TABLES,
        buffer_pool::TABLES,
        kept_plans::TABLES,
        locks::TABLES,
        metadata_locks::TABLES,
        table_waits::TABLES,
        file_waits::TABLES,
        memory::TABLES,
        variables::TABLES,
        people::TABLES,
        setup::TABLES,
        statements::TABLES,
        statement_sums::TABLES,
        prepared_statements::TABLES,
        transactions::TABLES,
        stages::TABLES,
        error_sums::TABLES,
        accounts::TABLES,
        error_log::TABLES,
        host_cache::TABLES,
        tls::TABLES,
        by_session::TABLES,
        redo::TABLES,
        replication_state::TABLES,
        absent_instruments::TABLES,
    ],
    unlisted: &[system::TABLES, replication::TABLES],
};

fn text(value: impl AsRef<str>) -> Value {
    Value::bytes(value.as_ref())
}

fn optional_text(value: Option<impl AsRef<str>>) -> Value {
    value.map_or(Value::Null, text)
}

fn number(value: Option<u64>) -> Value {
    value.map_or(Value::Null, Value::UInt)
}

fn yes_no(yes: bool) -> Value {
    text(if yes { "YES" } else { "NO" })
}

/// Whether a value of a column of YES and NO is the first.
fn is_yes(value: &Value) -> bool {
    matches!(value, Value::Enum(member) if &*member.text == b"YES")
}

fn changed(is_change: bool) -> Changed {
    if is_change { Changed::Yes } else { Changed::No }
}

/// Rows of subjects that own what they tell.
fn of_each<S: 'static>(
    subjects: impl IntoIterator<Item = S, IntoIter: Send + 'static>,
    row: fn(&S, &Wanted) -> Row,
    wanted: &Wanted,
) -> Rows {
    let wanted = wanted.clone();
    Box::new(subjects.into_iter().map(move |subject| row(&subject, &wanted)))
}
