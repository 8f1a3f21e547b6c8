//! Who has locked what, and who waits for whom: INNODB_TRX, data_locks and data_lock_waits.
//!
//! Columns and their meaning are MySQL's; what has no counterpart here is NULL or 0. There are row locks, and
//! those of AUTO_INCREMENT counters: what keeps a table from being redefined is no lock of its transaction's
//! table here, and there are no intention locks. A row that has been changed is locked by that alone, without
//! an entry; it is listed from when a session waits for it. A range that a scan has locked is one lock, of
//! rows and gaps alike, and its data say from where to where: `[10, 20)`.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use palisade_base::TrxId;
use palisade_catalog::{DateTime, PartitionDef, RowView, SqlType, Timestamp, Value, key};
use palisade_engine::{
    AccessMode, ActiveTransaction, Cut, IsolationLevel, Locked, RowLock, RowLockMode, Table, shown_number,
};
use palisade_expr::convert::text_of;
use palisade_schema::{Rows, Wanted, virtual_table};
use palisade_sql::Services as _;

use super::{Definition, Source, Tables, number, of_each, text};
use crate::host::ServerHost;
use crate::time_zone;

pub(super) static TABLES: Tables = &[
    Definition::new(&transactions::DECL, |source, wanted| {
        of_each(open_transactions(source.host), transactions::row, wanted)
    }),
    Definition::new(&data_locks::DECL, locks),
    Definition::new(&data_lock_waits::DECL, waits),
];

const ENGINE: &str = "INNODB";

fn shown_id(id: Option<TrxId>, session: u32) -> Value {
    Value::UInt(shown_number(id, session))
}

/// When a transaction began, microseconds since 1970. A single statement's transaction began with it,
/// `since_seconds` of the reaper's clock.
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

/// A transaction that has changed something, has locks or a snapshot.
struct TransactionSubject {
    transaction: ActiveTransaction,
    /// The lock that it waits for.
    requested: Option<String>,
    /// The statement that its session executes.
    statement: Option<Vec<u8>>,
    started_us: i64,
}

impl TransactionSubject {
    fn state(&self) -> &'static str {
        match () {
            () if self.transaction.rolling_back => "ROLLING BACK",
            () if self.transaction.waiting => "LOCK WAIT",
            () => "RUNNING",
        }
    }

    fn statement(&self) -> Value {
        let kept = |text: &Vec<u8>| Value::bytes(text.get(..1024).unwrap_or(text));
        self.statement.as_ref().map_or(Value::Null, kept)
    }

    /// None between two statements.
    fn tables_in_use(&self) -> usize {
        if self.statement.is_some() { self.transaction.tables } else { 0 }
    }

    /// Such a statement says neither BEGIN nor what it changes.
    fn is_single_read(&self) -> bool {
        let transaction = &self.transaction;
        transaction.started_us == 0 && transaction.id.is_none() && transaction.row_locks == 0
    }

    fn isolation(&self) -> &'static str {
        match self.transaction.traits.isolation {
            IsolationLevel::ReadUncommitted => "READ UNCOMMITTED",
            IsolationLevel::ReadCommitted => "READ COMMITTED",
            IsolationLevel::RepeatableRead => "REPEATABLE READ",
            IsolationLevel::Serializable => "SERIALIZABLE",
        }
    }
}

/// A moment of the machine's time zone.
fn local(micros: i64) -> DateTime {
    Timestamp(micros).to_datetime(&time_zone::system().zone)
}

virtual_table! {
    mod transactions = "information_schema"."INNODB_TRX" of |it: TransactionSubject| {
        trx_id: bigint_unsigned not null default "" => shown_id(it.transaction.id, it.transaction.session),
        trx_state: varchar(13) not null default "" => text(it.state()),
        trx_started: datetime not null default "" => Value::DateTime(local(it.started_us)),
        trx_requested_lock_id: varchar(126) default "" => it.requested.as_ref().map_or(Value::Null, text),
        trx_wait_started: datetime default "" => it.transaction.wait_started_us.map_or(Value::Null, |micros| Value::DateTime(local(micros))),
        trx_weight: bigint_unsigned not null default "" => Value::UInt(it.transaction.changes.saturating_add(it.transaction.row_locks)),
        trx_mysql_thread_id: bigint_unsigned not null default "" => Value::UInt(it.transaction.owner),
        trx_query: varchar(1024) default "" => it.statement(),
        trx_operation_state: varchar(64) default "" => Value::Null,
        trx_tables_in_use: bigint_unsigned not null default "" => Value::UInt(it.tables_in_use() as u64),
        trx_tables_locked: bigint_unsigned not null default "" => Value::UInt(it.transaction.tables_locked as u64),
        trx_lock_structs: bigint_unsigned not null default "" => Value::UInt(it.transaction.row_locks),
        trx_lock_memory_bytes: bigint_unsigned not null default "" => Value::UInt(it.transaction.lock_bytes),
        trx_rows_locked: bigint_unsigned not null default "" => Value::UInt(it.transaction.row_locks),
        trx_rows_modified: bigint_unsigned not null default "" => Value::UInt(it.transaction.changes),
        trx_concurrency_tickets: bigint_unsigned not null default "" => Value::UInt(0),
        trx_isolation_level: varchar(16) not null default "" => text(it.isolation()),
        trx_unique_checks: int not null default "" => Value::Int(it.transaction.traits.unique_checks.into()),
        trx_foreign_key_checks: int not null default "" => Value::Int(it.transaction.traits.foreign_key_checks.into()),
        trx_last_foreign_key_error: varchar(256) default "" => Value::Null,
        trx_adaptive_hash_latched: int not null default "" => Value::Int(0),
        trx_adaptive_hash_timeout: bigint_unsigned not null default "" => Value::UInt(0),
        trx_is_read_only: int not null default "" => Value::Int((it.transaction.traits.access == AccessMode::ReadOnly).into()),
        trx_autocommit_non_locking: int not null default "" => Value::Int(it.is_single_read().into()),
        trx_schedule_weight: bigint_unsigned default "" => Value::Null,
    }
}

fn open_transactions(host: &ServerHost) -> Vec<TransactionSubject> {
    let (locks, processes) = (host.engine.row_locks(), host.connections.processes());
    let subject = |transaction: ActiveTransaction| {
        let waiting = locks.iter().find(|lock| !lock.granted && lock.session == transaction.session);
        let process = processes.iter().find(|process| process.id == transaction.owner);
        let text = process.map(|process| &process.activity.text).filter(|text| !text.is_empty());
        let since_seconds = process.map(|process| process.activity.since_seconds);
        TransactionSubject {
            requested: waiting.map(lock_id),
            statement: text.cloned(),
            started_us: started_us(host, &transaction, since_seconds),
            transaction,
        }
    };
    host.engine.open_transactions().into_iter().map(subject).collect()
}

/// A lock and the connection of its session.
struct LockSubject {
    lock: RowLock,
    connection: Option<u64>,
}

impl LockSubject {
    fn of_table(&self, name: fn(&Table) -> &str) -> Value {
        self.lock.table.as_deref().map_or(Value::Null, |table| text(name(table)))
    }

    /// A name of the partition, in lower case as in MySQL.
    fn of_partition(&self, name: fn(&PartitionDef) -> Option<&String>) -> Value {
        let table = self.lock.table.as_ref().filter(|table| table.is_partitioned() && !self.lock.is_counter);
        let partition = table.and_then(|table| table.partitions.get(self.lock.partition));
        partition.and_then(name).map_or(Value::Null, |name| text(name.to_lowercase()))
    }

    fn index(&self) -> Value {
        match self.lock.table.as_ref().and_then(|table| table.indexes.get(self.lock.index)) {
            Some(index) if !self.lock.is_counter => text(&index.name),
            _ => Value::Null,
        }
    }
}

virtual_table! {
    mod data_locks = "performance_schema"."data_locks" of |it: LockSubject| {
        ENGINE: varchar(32) in utf8mb4_0900_ai_ci not null key PRI => text(ENGINE),
        ENGINE_LOCK_ID: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(lock_id(&it.lock)),
        ENGINE_TRANSACTION_ID: bigint_unsigned key MUL => shown_id(it.lock.transaction, it.lock.session),
        THREAD_ID: bigint_unsigned key MUL => number(it.connection),
        EVENT_ID: bigint_unsigned => Value::Null,
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci key MUL => it.of_table(|table| &table.schema),
        OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci => it.of_table(|table| &table.name),
        PARTITION_NAME: varchar(64) in utf8mb4_0900_ai_ci => it.of_partition(|of| Some(&of.name)),
        SUBPARTITION_NAME: varchar(64) in utf8mb4_0900_ai_ci => it.of_partition(|of| of.subpartition.as_ref()),
        INDEX_NAME: varchar(64) in utf8mb4_0900_ai_ci => it.index(),
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null => Value::UInt(0),
        LOCK_TYPE: varchar(32) in utf8mb4_0900_ai_ci not null => text(if it.lock.is_counter { "TABLE" } else { "RECORD" }),
        LOCK_MODE: varchar(32) in utf8mb4_0900_ai_ci not null => text(if it.lock.is_counter { "AUTO_INC" } else { mode(&it.lock) }),
        LOCK_STATUS: varchar(32) in utf8mb4_0900_ai_ci not null => text(if it.lock.granted { "GRANTED" } else { "WAITING" }),
        LOCK_DATA: varchar(8192) in utf8mb4_0900_ai_ci => if it.lock.is_counter { Value::Null } else { text(data(&it.lock)) },
    }
}

fn locks(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let connections = connections(source.host);
    let subject = move |lock: RowLock| {
        let connection = connections.get(&lock.session).copied();
        LockSubject { lock, connection }
    };
    of_each(source.host.engine.row_locks().into_iter().map(subject), data_locks::row, wanted)
}

/// A request and what is in its way: a lock or an earlier request.
struct WaitSubject {
    locks: Arc<Vec<RowLock>>,
    connections: Arc<HashMap<u32, u64>>,
    requesting: usize,
    blocking: usize,
}

impl WaitSubject {
    /// A value of one of the two.
    fn of(&self, place: usize, value: impl Fn(&RowLock) -> Value) -> Value {
        self.locks.get(place).map_or(Value::Null, value)
    }

    fn connection(&self, lock: &RowLock) -> Value {
        number(self.connections.get(&lock.session).copied())
    }
}

virtual_table! {
    mod data_lock_waits = "performance_schema"."data_lock_waits" of |it: WaitSubject| {
        ENGINE: varchar(32) in utf8mb4_0900_ai_ci not null key PRI => text(ENGINE),
        REQUESTING_ENGINE_LOCK_ID: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => it.of(it.requesting, |lock| text(lock_id(lock))),
        REQUESTING_ENGINE_TRANSACTION_ID: bigint_unsigned key MUL => it.of(it.requesting, |lock| shown_id(lock.transaction, lock.session)),
        REQUESTING_THREAD_ID: bigint_unsigned key MUL => it.of(it.requesting, |lock| it.connection(lock)),
        REQUESTING_EVENT_ID: bigint_unsigned => Value::Null,
        REQUESTING_OBJECT_INSTANCE_BEGIN: bigint_unsigned not null => Value::UInt(0),
        BLOCKING_ENGINE_LOCK_ID: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => it.of(it.blocking, |lock| text(lock_id(lock))),
        BLOCKING_ENGINE_TRANSACTION_ID: bigint_unsigned key MUL => it.of(it.blocking, |lock| shown_id(lock.transaction, lock.session)),
        BLOCKING_THREAD_ID: bigint_unsigned key MUL => it.of(it.blocking, |lock| it.connection(lock)),
        BLOCKING_EVENT_ID: bigint_unsigned => Value::Null,
        BLOCKING_OBJECT_INSTANCE_BEGIN: bigint_unsigned not null => Value::UInt(0),
    }
}

/// A row for each lock, or earlier request, that is in the way of a request.
fn waits(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let (locks, connections) = (Arc::new(source.host.engine.row_locks()), Arc::new(connections(source.host)));
    let mut pairs = Vec::new();
    for (requesting, lock) in locks.iter().enumerate() {
        let blocking = lock.waits_for.iter().filter(|other| **other < locks.len());
        pairs.extend(blocking.map(|blocking| (requesting, *blocking)));
    }
    let subject = move |(requesting, blocking)| WaitSubject {
        locks: locks.clone(),
        connections: connections.clone(),
        requesting,
        blocking,
    };
    of_each(pairs.into_iter().map(subject), data_lock_waits::row, wanted)
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
    let tree = match lock.partition {
        0 => lock.index.to_string(),
        partition => format!("{}.{partition}", lock.index),
    };
    format!("{}:{table}:{tree}:{:016x}:{mode}{status}", lock.session, hasher.finish())
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
