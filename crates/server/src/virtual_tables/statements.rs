//! Statements one by one: those that sessions execute, and the last ones.

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_observe::class;
use palisade_observe::session::{Event, SessionEvents};
use palisade_observe::sums::{Done, Number};
use palisade_schema::virtual_table;

use super::statement_sums::{lossy, picoseconds, shown_hash};
use super::{Definition, Source, Tables, number, of_each, optional_text, text};
use crate::connections::Connection;
use crate::instruments::running_event;

pub(super) static TABLES: Tables = &[
    Definition::new(&current::DECL, |source, wanted| of_each(currents(source), current::row, wanted))
        .truncated_by(|source| forget(source, SessionEvents::forget_current)),
    Definition::new(&history::DECL, |source, wanted| of_each(histories(source), history::row, wanted))
        .truncated_by(|source| forget(source, SessionEvents::forget_history)),
    Definition::new(&history_long::DECL, |source, wanted| {
        let events = source.host.instruments.long.all().into_iter();
        let ended = |(thread, event)| EventSubject { thread, event, is_running: false };
        of_each(events.map(ended), history_long::row, wanted)
    })
    .truncated_by(|source| source.host.instruments.long.truncate()),
];

/// A statement.
struct EventSubject {
    thread: u64,
    event: Event,
    /// It has not ended: its times are those until now.
    is_running: bool,
}

impl EventSubject {
    fn end(&self) -> Value {
        if self.is_running { Value::Null } else { Value::UInt(self.event.end_id) }
    }

    fn start(&self) -> Value {
        let Done { wait_ns, ended_ns, .. } = self.event.done;
        picoseconds(ended_ns.saturating_sub(wait_ns))
    }

    fn wait(&self) -> Value {
        picoseconds(self.event.done.wait_ns)
    }

    fn text(&self) -> Value {
        if self.event.text.is_empty() { Value::Null } else { lossy(&self.event.text) }
    }

    /// None of a statement that sent rows.
    fn sql_state(&self) -> Value {
        match &self.event.failure {
            Some(failure) => text(&failure.sql_state),
            None if self.is_running || self.event.sent_rows => Value::Null,
            None => text("00000"),
        }
    }

    fn message(&self) -> Value {
        /// Characters of the column.
        const LONGEST: usize = 128;
        let shown = |message: &str| text(message.chars().take(LONGEST).collect::<String>());
        match &self.event.failure {
            Some(failure) => shown(&failure.message),
            None if self.event.info.is_empty() => Value::Null,
            None => shown(&self.event.info),
        }
    }
}

/// What a session executes, or executed last.
fn currents(source: &Source<'_>) -> Vec<EventSubject> {
    let current = |connection: &Arc<Connection>| {
        let thread = connection.id;
        if let Some(event) = running_event(&source.host.instruments, connection) {
            return Some(EventSubject { thread, event, is_running: true });
        }
        let event = connection.events.lock().last().cloned()?;
        Some(EventSubject { thread, event, is_running: false })
    };
    source.host.connections.admitted().iter().filter_map(current).collect()
}

fn histories(source: &Source<'_>) -> Vec<EventSubject> {
    let of = |connection: &Arc<Connection>| {
        let events = connection.events.lock();
        let subject =
            |event: &Event| EventSubject { thread: connection.id, event: event.clone(), is_running: false };
        events.history().map(subject).collect::<Vec<_>>()
    };
    source.host.connections.admitted().iter().flat_map(of).collect()
}

/// TRUNCATE of what each session keeps of its own.
pub(super) fn forget(source: &Source<'_>, forget: fn(&mut SessionEvents)) {
    let connections = source.host.connections.admitted();
    connections.iter().for_each(|connection| forget(&mut connection.events.lock()));
}

/// A table of statements.
macro_rules! events_table {
    (mod $module:ident = $schema:literal . $name:literal of |$it:ident: $subject:ty| { $($own:tt)* }) => {
        virtual_table! {
            mod $module = $schema . $name of |$it: $subject| {
                $($own)*
                END_EVENT_ID: bigint_unsigned => $it.end(),
                EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(class::name($it.event.class)),
                SOURCE: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
                TIMER_START: bigint_unsigned => $it.start(),
                TIMER_END: bigint_unsigned => picoseconds($it.event.done.ended_ns),
                TIMER_WAIT: bigint_unsigned => $it.wait(),
                LOCK_TIME: bigint_unsigned not null => picoseconds($it.event.done.get(Number::LockTime)),
                SQL_TEXT: longtext in utf8mb4_0900_ai_ci => $it.text(),
                DIGEST: varchar(64) in utf8mb4_0900_ai_ci => $it.event.digest.as_ref().map_or(Value::Null, |digest| shown_hash(digest)),
                DIGEST_TEXT: longtext in utf8mb4_0900_ai_ci => $it.event.digest.as_ref().map_or(Value::Null, |digest| lossy(&digest.text)),
                CURRENT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci => optional_text($it.event.schema.as_deref()),
                OBJECT_TYPE: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
                OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
                OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
                OBJECT_INSTANCE_BEGIN: bigint_unsigned => Value::Null,
                MYSQL_ERRNO: int => Value::Int($it.event.failure.as_ref().map_or(0, |failure| i64::from(failure.number))),
                RETURNED_SQLSTATE: varchar(5) in utf8mb4_0900_ai_ci => $it.sql_state(),
                MESSAGE_TEXT: varchar(128) in utf8mb4_0900_ai_ci => $it.message(),
                ERRORS: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::Errors)),
                WARNINGS: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::Warnings)),
                ROWS_AFFECTED: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::RowsAffected)),
                ROWS_SENT: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::RowsSent)),
                ROWS_EXAMINED: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::RowsExamined)),
                CREATED_TMP_DISK_TABLES: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::CreatedTmpDiskTables)),
                CREATED_TMP_TABLES: bigint_unsigned not null => Value::UInt(0),
                SELECT_FULL_JOIN: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::SelectFullJoin)),
                SELECT_FULL_RANGE_JOIN: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::SelectFullRangeJoin)),
                SELECT_RANGE: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::SelectRange)),
                SELECT_RANGE_CHECK: bigint_unsigned not null => Value::UInt(0),
                SELECT_SCAN: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::SelectScan)),
                SORT_MERGE_PASSES: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::SortMergePasses)),
                SORT_RANGE: bigint_unsigned not null => Value::UInt(0),
                SORT_ROWS: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::SortRows)),
                SORT_SCAN: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::SortScan)),
                NO_INDEX_USED: bigint_unsigned not null => Value::UInt($it.event.done.get(Number::NoIndexUsed)),
                NO_GOOD_INDEX_USED: bigint_unsigned not null => Value::UInt(0),
                NESTING_EVENT_ID: bigint_unsigned => number($it.event.within),
                NESTING_EVENT_TYPE: enum("TRANSACTION", "STATEMENT", "STAGE", "WAIT") in utf8mb4_0900_ai_ci => optional_text($it.event.within.map(|_| "TRANSACTION")),
                NESTING_EVENT_LEVEL: int => Value::Int(0),
                STATEMENT_ID: bigint_unsigned => Value::UInt($it.event.id),
                CPU_TIME: bigint_unsigned not null => picoseconds($it.event.done.get(Number::CpuTime)),
                MAX_CONTROLLED_MEMORY: bigint_unsigned not null => Value::UInt(0),
                MAX_TOTAL_MEMORY: bigint_unsigned not null => Value::UInt(0),
                EXECUTION_ENGINE: enum("PRIMARY", "SECONDARY") in utf8mb4_0900_ai_ci => text("PRIMARY"),
            }
        }
    };
}

events_table! {
    mod current = "performance_schema"."events_statements_current" of |it: EventSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.thread),
        EVENT_ID: bigint_unsigned not null key PRI => Value::UInt(it.event.id),
    }
}

events_table! {
    mod history = "performance_schema"."events_statements_history" of |it: EventSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.thread),
        EVENT_ID: bigint_unsigned not null key PRI => Value::UInt(it.event.id),
    }
}

events_table! {
    mod history_long = "performance_schema"."events_statements_history_long" of |it: EventSubject| {
        THREAD_ID: bigint_unsigned not null => Value::UInt(it.thread),
        EVENT_ID: bigint_unsigned not null => Value::UInt(it.event.id),
    }
}
