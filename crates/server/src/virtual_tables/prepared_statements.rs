//! prepared_statements_instances: what sessions have prepared, by text or by the binary protocol, and what
//! executing it has done.

use palisade_catalog::Value;
use palisade_observe::prepared::PreparedStatement;
use palisade_observe::sums::{Number, Sums};
use palisade_schema::virtual_table;

use super::statement_sums::{lossy, picoseconds};
use super::statements::forget;
use super::{Definition, Source, Tables, of_each, optional_text, text};

pub(super) static TABLES: Tables =
    &[Definition::new(&prepared_statements_instances::DECL, |source, wanted| {
        of_each(all(source), prepared_statements_instances::row, wanted)
    })
    .truncated_by(|source| forget(source, |events| events.begin_prepared_anew()))];

/// A prepared statement of a session.
struct InstanceSubject {
    thread: u64,
    statement: PreparedStatement,
    sums: Sums,
}

impl InstanceSubject {
    /// A number that no other has as long as it exists.
    fn place(&self) -> Value {
        Value::UInt((self.thread << 32) | u64::from(self.statement.preparation.number))
    }

    fn count(&self, which: Number) -> Value {
        Value::UInt(self.sums.get(which))
    }
}

fn all(source: &Source<'_>) -> Vec<InstanceSubject> {
    let mut all = Vec::new();
    for connection in source.host.connections.admitted() {
        let events = connection.events.lock();
        let of = events.prepared().map(|statement| InstanceSubject {
            thread: connection.id,
            statement: statement.clone(),
            sums: statement.sums(),
        });
        all.extend(of);
    }
    all
}

virtual_table! {
    mod prepared_statements_instances = "performance_schema"."prepared_statements_instances" of |it: InstanceSubject| {
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null key PRI => it.place(),
        STATEMENT_ID: bigint_unsigned not null key MUL => Value::UInt(u64::from(it.statement.preparation.number)),
        STATEMENT_NAME: varchar(64) in utf8mb4_0900_ai_ci key MUL => optional_text(it.statement.preparation.name.as_deref()),
        SQL_TEXT: longtext in utf8mb4_0900_ai_ci not null => lossy(&it.statement.preparation.text),
        OWNER_THREAD_ID: bigint_unsigned not null key MUL => Value::UInt(it.thread),
        OWNER_EVENT_ID: bigint_unsigned not null => Value::UInt(it.statement.prepared_by),
        OWNER_OBJECT_TYPE: enum("EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER") in utf8mb4_0900_ai_ci key MUL => Value::Null,
        OWNER_OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
        OWNER_OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
        EXECUTION_ENGINE: enum("PRIMARY", "SECONDARY") in utf8mb4_0900_ai_ci => text("PRIMARY"),
        TIMER_PREPARE: bigint_unsigned not null => picoseconds(it.statement.preparation.prepare_ns),
        COUNT_REPREPARE: bigint_unsigned not null => Value::UInt(it.statement.reprepared),
        COUNT_EXECUTE: bigint_unsigned not null => Value::UInt(it.sums.count),
        SUM_TIMER_EXECUTE: bigint_unsigned not null => picoseconds(it.sums.wait_ns),
        MIN_TIMER_EXECUTE: bigint_unsigned not null => picoseconds(it.sums.min_ns),
        AVG_TIMER_EXECUTE: bigint_unsigned not null => picoseconds(it.sums.average_ns()),
        MAX_TIMER_EXECUTE: bigint_unsigned not null => picoseconds(it.sums.max_ns),
        SUM_LOCK_TIME: bigint_unsigned not null => picoseconds(it.sums.get(Number::LockTime)),
        SUM_ERRORS: bigint_unsigned not null => it.count(Number::Errors),
        SUM_WARNINGS: bigint_unsigned not null => it.count(Number::Warnings),
        SUM_ROWS_AFFECTED: bigint_unsigned not null => it.count(Number::RowsAffected),
        SUM_ROWS_SENT: bigint_unsigned not null => it.count(Number::RowsSent),
        SUM_ROWS_EXAMINED: bigint_unsigned not null => it.count(Number::RowsExamined),
        SUM_CREATED_TMP_DISK_TABLES: bigint_unsigned not null => it.count(Number::CreatedTmpDiskTables),
        SUM_CREATED_TMP_TABLES: bigint_unsigned not null => Value::UInt(0),
        SUM_SELECT_FULL_JOIN: bigint_unsigned not null => it.count(Number::SelectFullJoin),
        SUM_SELECT_FULL_RANGE_JOIN: bigint_unsigned not null => it.count(Number::SelectFullRangeJoin),
        SUM_SELECT_RANGE: bigint_unsigned not null => it.count(Number::SelectRange),
        SUM_SELECT_RANGE_CHECK: bigint_unsigned not null => Value::UInt(0),
        SUM_SELECT_SCAN: bigint_unsigned not null => it.count(Number::SelectScan),
        SUM_SORT_MERGE_PASSES: bigint_unsigned not null => it.count(Number::SortMergePasses),
        SUM_SORT_RANGE: bigint_unsigned not null => Value::UInt(0),
        SUM_SORT_ROWS: bigint_unsigned not null => it.count(Number::SortRows),
        SUM_SORT_SCAN: bigint_unsigned not null => it.count(Number::SortScan),
        SUM_NO_INDEX_USED: bigint_unsigned not null => it.count(Number::NoIndexUsed),
        SUM_NO_GOOD_INDEX_USED: bigint_unsigned not null => Value::UInt(0),
        SUM_CPU_TIME: bigint_unsigned not null => picoseconds(it.sums.get(Number::CpuTime)),
        MAX_CONTROLLED_MEMORY: bigint_unsigned not null => Value::UInt(0),
        MAX_TOTAL_MEMORY: bigint_unsigned not null => Value::UInt(0),
        COUNT_SECONDARY: bigint_unsigned not null => Value::UInt(0),
    }
}
