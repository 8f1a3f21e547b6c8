//! memory_summary_global_by_event_name: the accounts of memory that there are.
//!
//! Blocks are not counted one by one: an account is one block of the size that it has now.

use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::Value;
use palisade_schema::{Rows, Wanted, virtual_table};

use super::{Definition, Source, Tables, of_each, text};

pub(super) static TABLES: Tables =
    &[Definition::new(&memory_summary_global_by_event_name::DECL, accounts).truncated_by(|_| {})];

/// An account: its name, and bytes.
type AccountSubject = (&'static str, u64);

fn accounts(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let host = source.host;
    let numbers = host.engine.metrics();
    let number =
        |name: &str| numbers.iter().find(|metric| metric.name == name).map_or(0, |metric| metric.value());
    let accounts = [
        ("memory/innodb/buf_buf_pool", number("buffer_pool_size")),
        ("memory/innodb/buffer_changes_kept", number("buffer_changes_kept_bytes")),
        ("memory/innodb/lock_memory", number("lock_memory_bytes")),
        ("memory/innodb/log_buffer_memory", host.globals.load().uint(sysvar::INNODB_LOG_BUFFER_SIZE)),
        ("memory/sql/THD::main_mem_root", host.memory.held()),
    ];
    of_each(accounts, memory_summary_global_by_event_name::row, wanted)
}

virtual_table! {
    mod memory_summary_global_by_event_name = "performance_schema"."memory_summary_global_by_event_name" of |it: AccountSubject| {
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(it.0),
        COUNT_ALLOC: bigint_unsigned not null => Value::UInt((it.1 > 0).into()),
        COUNT_FREE: bigint_unsigned not null => Value::UInt(0),
        SUM_NUMBER_OF_BYTES_ALLOC: bigint_unsigned not null => Value::UInt(it.1),
        SUM_NUMBER_OF_BYTES_FREE: bigint_unsigned not null => Value::UInt(0),
        LOW_COUNT_USED: bigint not null => Value::UInt(0),
        CURRENT_COUNT_USED: bigint not null => Value::UInt((it.1 > 0).into()),
        HIGH_COUNT_USED: bigint not null => Value::UInt((it.1 > 0).into()),
        LOW_NUMBER_OF_BYTES_USED: bigint not null => Value::UInt(0),
        CURRENT_NUMBER_OF_BYTES_USED: bigint not null => Value::UInt(it.1),
        HIGH_NUMBER_OF_BYTES_USED: bigint not null => Value::UInt(it.1),
    }
}
