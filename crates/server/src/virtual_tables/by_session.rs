//! What sessions have set and counted: variables_by_thread, user_variables_by_thread, status_by_thread and
//! its sums by account, host and user.
//!
//! A session shows the others its system variables when it sets one ([`Connection::show_settings`]), and its
//! user variables as they are. What its statements have done is in memory of its own: of other sessions those
//! rows are missing that only the session itself knows of, and the sums are of what each connection counts
//! for others to read ([`SHARED`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use palisade_base::metric::Metric;
use palisade_base::sysvar::{Scope as Declared, SessionSettings, VariableId};
use palisade_catalog::Value;
use palisade_expr::convert::text_of;
use palisade_expr::session_state::UserVariable;
use palisade_schema::{Rows, Wanted, virtual_table};

use super::{Definition, Source, Tables, of_each, optional_text, text};
use crate::connections::Connection;
use crate::status::{BYTES_RECEIVED, BYTES_SENT, QUESTIONS, SLOW_QUERIES, all};
use crate::variables;

pub(super) static TABLES: Tables = &[
    Definition::new(&variables_by_thread::DECL, settings),
    Definition::new(&user_variables_by_thread::DECL, user_variables),
    Definition::new(&status_by_thread::DECL, status).truncated_by(flush),
    Definition::new(&status_by_account::DECL, |source, wanted| {
        of_each(sums(source, |user, host| (Some(user), Some(host))), status_by_account::row, wanted)
    })
    .truncated_by(flush),
    Definition::new(&status_by_host::DECL, |source, wanted| {
        of_each(sums(source, |_, host| (None, Some(host))), status_by_host::row, wanted)
    })
    .truncated_by(flush),
    Definition::new(&status_by_user::DECL, |source, wanted| {
        of_each(sums(source, |user, _| (Some(user), None)), status_by_user::row, wanted)
    })
    .truncated_by(flush),
];

/// What each connection counts for all to read.
static SHARED: [&Metric; COUNTED] = [&BYTES_RECEIVED, &BYTES_SENT, &QUESTIONS, &SLOW_QUERIES];

/// How many counters that are.
const COUNTED: usize = 4;

/// The values of a session's variables.
struct SettingsSubject {
    connection: u64,
    settings: Arc<SessionSettings>,
    id: VariableId,
    /// The value, if it follows from what the session that asks is doing.
    computed: Option<String>,
}

impl SettingsSubject {
    fn value(&self) -> Value {
        let shown = || self.id.declaration().shown(self.settings.get(self.id));
        text(self.computed.clone().unwrap_or_else(shown))
    }
}

virtual_table! {
    mod variables_by_thread = "performance_schema"."variables_by_thread" of |it: SettingsSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.connection),
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI => text(it.id.declaration().name),
        VARIABLE_VALUE: varchar(1024) in utf8mb4_0900_ai_ci => it.value(),
    }
}

fn settings(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let Source { host, session } = source;
    let own = session.state.connection_id;
    let of_session = |id: &VariableId| id.declaration().scope != Declared::Global;
    let mut subjects = Vec::new();
    for connection in host.connections.admitted() {
        let settings = Arc::new(connection.settings());
        subjects.extend(VariableId::all().filter(of_session).map(|id| {
            let read =
                |id: VariableId| variables::read(&host.globals, &host.engine, session.state, None, id).ok();
            let computed = (connection.id == own).then(|| read(id)).flatten();
            let computed = computed.map(|setting| id.declaration().shown(&setting));
            SettingsSubject { connection: connection.id, settings: settings.clone(), id, computed }
        }));
    }
    of_each(subjects, variables_by_thread::row, wanted)
}

/// A user variable of a session.
type UserVariableSubject = (u64, String, UserVariable);

virtual_table! {
    mod user_variables_by_thread = "performance_schema"."user_variables_by_thread" of |it: UserVariableSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.0),
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI => text(&it.1),
        VARIABLE_VALUE: longblob => shown(&it.2),
    }
}

fn shown(variable: &UserVariable) -> Value {
    match &variable.value {
        Value::Null => Value::Null,
        value => Value::Bytes(text_of(value, &variable.ty)),
    }
}

fn user_variables(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let of = |connection: Arc<Connection>| {
        let mut all = connection.user_variables().all();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all.into_iter().map(move |(name, variable)| (connection.id, name, variable))
    };
    let connections = source.host.connections.admitted().into_iter();
    of_each(connections.flat_map(of), user_variables_by_thread::row, wanted)
}

/// A counter of a session.
type CounterSubject = (u64, String, String);

virtual_table! {
    mod status_by_thread = "performance_schema"."status_by_thread" of |it: CounterSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.0),
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI => text(&it.1),
        VARIABLE_VALUE: varchar(1024) in utf8mb4_0900_ai_ci => text(&it.2),
    }
}

/// Counters that sessions have: the others are the server's alone.
fn is_of_sessions(name: &str) -> bool {
    const FAMILIES: [&str; 5] = ["Compression", "Handler_", "Select_", "Sort_", "Table_open_cache_"];
    const SINGLE: [&str; 28] = [
        "Bytes_received",
        "Bytes_sent",
        "Com_stmt_reprepare",
        "Count_hit_tmp_table_size",
        "Created_tmp_disk_tables",
        "Created_tmp_tables",
        "Last_query_cost",
        "Last_query_partial_plans",
        "Max_execution_time_exceeded",
        "Max_execution_time_set",
        "Max_execution_time_set_failed",
        "Open_tables",
        "Opened_table_definitions",
        "Opened_tables",
        "Queries",
        "Questions",
        "Secondary_engine_execution_count",
        "Slow_launch_threads",
        "Slow_queries",
        "Ssl_cipher",
        "Ssl_cipher_list",
        "Ssl_default_timeout",
        "Ssl_server_not_after",
        "Ssl_server_not_before",
        "Ssl_sessions_reused",
        "Ssl_verify_depth",
        "Ssl_verify_mode",
        "Ssl_version",
    ];
    SINGLE.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

/// TRUNCATE TABLE of a table of counters: each session begins to count anew with its next command.
fn flush(source: &Source<'_>) {
    source.host.connections.count_over();
}

/// What a connection counts for all to read.
fn shared(connection: &Connection) -> impl Iterator<Item = (&'static str, u64)> {
    SHARED.iter().map(|metric| (metric.name, connection.counters.value(metric).unwrap_or(0)))
}

fn status(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let Source { host, session } = source;
    let mut subjects: Vec<CounterSubject> = Vec::new();
    for connection in host.connections.admitted() {
        if connection.id == session.state.connection_id {
            let own = all(host, Some((&*connection, *session)));
            let own = own.into_iter().filter(|(name, _)| is_of_sessions(name));
            subjects.extend(own.map(|(name, value)| (connection.id, name, value)));
        } else {
            let known = shared(&connection);
            subjects.extend(known.map(|(name, value)| (connection.id, name.to_owned(), value.to_string())));
        }
    }
    of_each(subjects, status_by_thread::row, wanted)
}

/// What the connections of a user, a host or both have counted.
struct SumSubject {
    user: Option<String>,
    host: Option<String>,
    name: &'static str,
    value: u64,
}

fn sums(source: &Source<'_>, key: fn(String, String) -> (Option<String>, Option<String>)) -> Vec<SumSubject> {
    let mut sums: BTreeMap<_, [(&'static str, u64); COUNTED]> = BTreeMap::new();
    for connection in source.host.connections.admitted() {
        let sum = sums
            .entry(key(connection.user(), connection.host.clone()))
            .or_insert_with(|| SHARED.map(|metric| (metric.name, 0)));
        sum.iter_mut().zip(shared(&connection)).for_each(|((_, sum), (_, value))| *sum += value);
    }
    let subjects = sums.into_iter().flat_map(|((user, host), values)| {
        values.map(|(name, value)| SumSubject { user: user.clone(), host: host.clone(), name, value })
    });
    subjects.collect()
}

virtual_table! {
    mod status_by_account = "performance_schema"."status_by_account" of |it: SumSubject| {
        USER: char(32) in utf8mb4_bin key MUL => optional_text(it.user.as_ref()),
        HOST: char(255) in ascii_general_ci => optional_text(it.host.as_ref()),
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null => text(it.name),
        VARIABLE_VALUE: varchar(1024) in utf8mb4_0900_ai_ci => text(it.value.to_string()),
    }
}

virtual_table! {
    mod status_by_host = "performance_schema"."status_by_host" of |it: SumSubject| {
        HOST: char(255) in ascii_general_ci key MUL => optional_text(it.host.as_ref()),
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null => text(it.name),
        VARIABLE_VALUE: varchar(1024) in utf8mb4_0900_ai_ci => text(it.value.to_string()),
    }
}

virtual_table! {
    mod status_by_user = "performance_schema"."status_by_user" of |it: SumSubject| {
        USER: char(32) in utf8mb4_bin key MUL => optional_text(it.user.as_ref()),
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null => text(it.name),
        VARIABLE_VALUE: varchar(1024) in utf8mb4_0900_ai_ci => text(it.value.to_string()),
    }
}
