//! Who has locked what, and who waits for whom: INNODB_TRX, data_locks and data_lock_waits.
//!
//! Columns and their meaning are MySQL's; what has no counterpart here is NULL or 0. There are row locks, and those of
//! AUTO_INCREMENT counters: what keeps a table from being redefined is no lock of its transaction's table here, and there are no
//! intention locks. A row that has
//! been changed is locked by that alone, without an entry; it is listed from when somebody waits for it. A range that a
//! scan has locked is one lock, of rows and gaps alike, and its data say from where to where: `[10, 20)`.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use palisade_base::TrxId;
use palisade_catalog::{RowView, SqlType, Timestamp, Value, key};
use palisade_engine::{
    AccessMode, ActiveTransaction, Cut, IsolationLevel, Locked, RowLock, RowLockMode, Table,
};
use palisade_expr::convert::text_of;
use palisade_sql::Services as _;

use crate::host::ServerHost;
use crate::time_zone;
use crate::virtual_tables::{Columns, NUMBER, Rows, text};

const ENGINE: &str = "INNODB";

/// The number by which a transaction is shown. One that has only locked something has no id; it gets a number beyond all ids.
pub(crate) fn shown_number(id: Option<TrxId>, session: u32) -> u64 {
    id.map_or((1 << 48) + u64::from(session), |id| id.0)
}

fn shown_id(id: Option<TrxId>, session: u32) -> Value {
    Value::UInt(shown_number(id, session))
}

/// When a transaction began, microseconds since 1970. A single statement's transaction began with it, `since_seconds` of the
/// reaper's clock.
pub(crate) fn started_us(
    host: &ServerHost,
    transaction: &ActiveTransaction,
    since_seconds: Option<u64>,
) -> i64 {
    match (transaction.started_us, since_seconds) {
        (0, Some(since_seconds)) => {
            let seconds = host.connections.now_seconds().saturating_sub(since_seconds);
            host.unix_micros() - seconds as i64 * 1_000_000
        }
        (started_us, _) => started_us,
    }
}

fn number(value: Option<u64>) -> Value {
    value.map_or(Value::Null, Value::UInt)
}

/// Columns of INNODB_TRX.
pub fn transaction_columns() -> Columns {
    vec![
        ("trx_id", NUMBER),
        ("trx_state", text(13)),
        ("trx_started", SqlType::DateTime { fsp: 0 }),
        ("trx_requested_lock_id", text(126)),
        ("trx_wait_started", SqlType::DateTime { fsp: 0 }),
        ("trx_weight", NUMBER),
        ("trx_mysql_thread_id", NUMBER),
        ("trx_query", text(1024)),
        ("trx_operation_state", text(64)),
        ("trx_tables_in_use", NUMBER),
        ("trx_tables_locked", NUMBER),
        ("trx_lock_structs", NUMBER),
        ("trx_lock_memory_bytes", NUMBER),
        ("trx_rows_locked", NUMBER),
        ("trx_rows_modified", NUMBER),
        ("trx_concurrency_tickets", NUMBER),
        ("trx_isolation_level", text(16)),
        ("trx_unique_checks", SqlType::INT),
        ("trx_foreign_key_checks", SqlType::INT),
        ("trx_last_foreign_key_error", text(256)),
        ("trx_adaptive_hash_latched", SqlType::INT),
        ("trx_adaptive_hash_timeout", NUMBER),
        ("trx_is_read_only", SqlType::INT),
        ("trx_autocommit_non_locking", SqlType::INT),
        ("trx_schedule_weight", NUMBER),
    ]
}

/// Rows of INNODB_TRX: transactions that have changed something, have locks or a snapshot.
pub fn transactions(host: &ServerHost) -> Rows {
    let (locks, processes) = (host.engine.row_locks(), host.connections.processes());
    let zone = &time_zone::system().zone;
    let line = |transaction: ActiveTransaction| {
        let time = |micros: i64| Value::DateTime(Timestamp(micros).to_datetime(zone));
        let waiting = locks.iter().find(|lock| !lock.granted && lock.session == transaction.session);
        let state = match () {
            () if transaction.rolling_back => "ROLLING BACK",
            () if transaction.waiting => "LOCK WAIT",
            () => "RUNNING",
        };
        let process = processes.iter().find(|process| process.id == transaction.owner);
        let query = process.map(|process| &process.activity.text).filter(|text| !text.is_empty());
        // Such a statement says neither BEGIN nor what it changes.
        let is_single_read =
            transaction.started_us == 0 && transaction.id.is_none() && transaction.row_locks == 0;
        let started_us =
            started_us(host, &transaction, process.map(|process| process.activity.since_seconds));
        vec![
            shown_id(transaction.id, transaction.session),
            Value::bytes(state),
            time(started_us),
            waiting.map_or(Value::Null, |lock| Value::bytes(lock_id(lock))),
            transaction.wait_started_us.map_or(Value::Null, time),
            Value::UInt(transaction.changes.saturating_add(transaction.row_locks)),
            Value::UInt(transaction.owner),
            query.map_or(Value::Null, |text| Value::bytes(text.get(..1024).unwrap_or(text))),
            Value::Null,
            Value::UInt(transaction.tables as u64),
            Value::UInt(transaction.tables as u64),
            Value::UInt(transaction.row_locks),
            Value::UInt(transaction.lock_bytes),
            Value::UInt(transaction.row_locks),
            Value::UInt(transaction.changes),
            Value::UInt(0),
            Value::bytes(match transaction.traits.isolation {
                IsolationLevel::ReadUncommitted => "READ UNCOMMITTED",
                IsolationLevel::ReadCommitted => "READ COMMITTED",
                IsolationLevel::RepeatableRead => "REPEATABLE READ",
                IsolationLevel::Serializable => "SERIALIZABLE",
            }),
            Value::Int(transaction.traits.unique_checks.into()),
            Value::Int(transaction.traits.foreign_key_checks.into()),
            Value::Null,
            Value::Int(0),
            Value::UInt(0),
            Value::Int((transaction.traits.access == AccessMode::ReadOnly).into()),
            Value::Int(is_single_read.into()),
            Value::Null,
        ]
    };
    host.engine.open_transactions().into_iter().map(line).collect()
}

/// Columns of data_locks.
pub fn lock_columns() -> Columns {
    vec![
        ("ENGINE", text(32)),
        ("ENGINE_LOCK_ID", text(128)),
        ("ENGINE_TRANSACTION_ID", NUMBER),
        ("THREAD_ID", NUMBER),
        ("EVENT_ID", NUMBER),
        ("OBJECT_SCHEMA", text(64)),
        ("OBJECT_NAME", text(64)),
        ("PARTITION_NAME", text(64)),
        ("SUBPARTITION_NAME", text(64)),
        ("INDEX_NAME", text(64)),
        ("OBJECT_INSTANCE_BEGIN", NUMBER),
        ("LOCK_TYPE", text(32)),
        ("LOCK_MODE", text(32)),
        ("LOCK_STATUS", text(32)),
        ("LOCK_DATA", text(8192)),
    ]
}

/// Rows of data_locks.
pub fn locks(host: &ServerHost) -> Rows {
    let connections = connections(host);
    let line = |lock: &RowLock| {
        let table = lock.table.as_deref();
        let name = |of: fn(&Table) -> &str| table.map_or(Value::Null, |table| Value::bytes(of(table)));
        vec![
            Value::bytes(ENGINE),
            Value::bytes(lock_id(lock)),
            shown_id(lock.transaction, lock.session),
            number(connections.get(&lock.session).copied()),
            Value::Null,
            name(|table| &table.schema),
            name(|table| &table.name),
            Value::Null,
            Value::Null,
            match table.and_then(|table| table.indexes.get(lock.index)) {
                Some(index) if !lock.is_counter => Value::bytes(index.name.as_str()),
                _ => Value::Null,
            },
            Value::UInt(0),
            Value::bytes(if lock.is_counter { "TABLE" } else { "RECORD" }),
            Value::bytes(if lock.is_counter { "AUTO_INC" } else { mode(lock) }),
            Value::bytes(if lock.granted { "GRANTED" } else { "WAITING" }),
            if lock.is_counter { Value::Null } else { Value::bytes(data(lock)) },
        ]
    };
    host.engine.row_locks().iter().map(line).collect()
}

/// Columns of data_lock_waits.
pub fn wait_columns() -> Columns {
    vec![
        ("ENGINE", text(32)),
        ("REQUESTING_ENGINE_LOCK_ID", text(128)),
        ("REQUESTING_ENGINE_TRANSACTION_ID", NUMBER),
        ("REQUESTING_THREAD_ID", NUMBER),
        ("REQUESTING_EVENT_ID", NUMBER),
        ("REQUESTING_OBJECT_INSTANCE_BEGIN", NUMBER),
        ("BLOCKING_ENGINE_LOCK_ID", text(128)),
        ("BLOCKING_ENGINE_TRANSACTION_ID", NUMBER),
        ("BLOCKING_THREAD_ID", NUMBER),
        ("BLOCKING_EVENT_ID", NUMBER),
        ("BLOCKING_OBJECT_INSTANCE_BEGIN", NUMBER),
    ]
}

/// Rows of data_lock_waits: a row for each lock, or earlier request, that is in the way of a request.
pub fn waits(host: &ServerHost) -> Rows {
    let connections = connections(host);
    let side = |lock: &RowLock| {
        [
            Value::bytes(lock_id(lock)),
            shown_id(lock.transaction, lock.session),
            number(connections.get(&lock.session).copied()),
            Value::Null,
            Value::UInt(0),
        ]
    };
    let locks = host.engine.row_locks();
    let pairs = locks.iter().flat_map(|lock| {
        lock.waits_for.iter().filter_map(|other| locks.get(*other)).map(move |other| (lock, other))
    });
    pairs
        .map(|(lock, other)| {
            let mut row = vec![Value::bytes(ENGINE)];
            row.extend(side(lock));
            row.extend(side(other));
            row
        })
        .collect()
}

/// The connection of each session.
fn connections(host: &ServerHost) -> HashMap<u32, u64> {
    let open = host.engine.open_transactions().into_iter();
    let owned = open.filter(|transaction| transaction.owner != 0);
    owned.map(|transaction| (transaction.session, transaction.owner)).collect()
}

/// Names a lock for as long as it is held.
fn lock_id(lock: &RowLock) -> String {
    let mut hasher = DefaultHasher::new();
    lock.what.hash(&mut hasher);
    let table = lock.table.as_ref().map_or(0, |table| table.id);
    let (mode, status) = (lock.mode as u8, if lock.granted { 'g' } else { 'w' });
    format!("{}:{table}:{}:{:016x}:{mode}{status}", lock.session, lock.index, hasher.finish())
}

fn mode(lock: &RowLock) -> &'static str {
    match (&lock.what, lock.mode) {
        (_, RowLockMode::Insert) => "X,GAP,INSERT_INTENTION",
        (Locked::Key(_), RowLockMode::Shared) => "S,REC_NOT_GAP",
        (Locked::Key(_), RowLockMode::Exclusive) => "X,REC_NOT_GAP",
        (Locked::Range(..), RowLockMode::Shared) => "S",
        (Locked::Range(..), RowLockMode::Exclusive) => "X",
    }
}

/// What is locked, in values where they can be told.
pub(crate) fn data(lock: &RowLock) -> String {
    let table = lock.table.as_deref();
    match &lock.what {
        Locked::Key(key) => values(table, lock.index, key),
        Locked::Range(from, to) => {
            let from = match from {
                Cut::At { key, .. } if key.is_empty() => "(infimum pseudo-record".to_owned(),
                Cut::At { key, after } => {
                    format!("{}{}", if *after { '(' } else { '[' }, values(table, lock.index, key))
                }
                Cut::End => "(supremum pseudo-record".to_owned(),
            };
            let to = match to {
                Cut::At { key, after } => {
                    format!("{}{}", values(table, lock.index, key), if *after { ']' } else { ')' })
                }
                Cut::End => "supremum pseudo-record)".to_owned(),
            };
            format!("{from}, {to}")
        }
    }
}

/// The values of a key; its bytes if it is not a whole one, or holds texts in the order of their collation.
fn values(table: Option<&Table>, index: usize, key: &[u8]) -> String {
    table.and_then(|table| decoded(table, index, key)).unwrap_or_else(|| hex(key))
}

fn decoded(table: &Table, index: usize, key: &[u8]) -> Option<String> {
    let own = &table.indexes.get(index)?.parts;
    let rest = if index > 0 { table.indexes.first()?.parts.as_slice() } else { &[] };
    let places = own.iter().chain(rest).map(|part| usize::from(part.column));
    let columns = places.map(|place| Some((place, &table.columns.get(place)?.sql_type)));
    let columns: Vec<(usize, &SqlType)> = columns.collect::<Option<_>>()?;
    if columns.iter().any(|(_, sql_type)| sql_type.is_text()) {
        return None;
    }
    let mut row = Vec::new();
    key::entry_to_row(table, index, key, &[], &mut row).ok()?;
    let row = RowView::new(table.descriptor(), &row).ok()?.to_values();
    let shown = columns.iter().map(|(place, sql_type)| {
        Some(match row.get(*place)? {
            Value::Null => "NULL".to_owned(),
            Value::Bytes(bytes) => hex(bytes),
            value => String::from_utf8_lossy(&text_of(value, sql_type)).into_owned(),
        })
    });
    Some(shown.collect::<Option<Vec<_>>>()?.join(", "))
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("0x{digits}")
}
