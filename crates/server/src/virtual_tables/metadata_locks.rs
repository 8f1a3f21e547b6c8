//! metadata_locks and table_handles: who keeps whom from redefining a table, from writing to it, from a name.
//!
//! Columns and words are MySQL's. Listed are the locks of transactions on the tables that they use, of data
//! definition, LOCK TABLES and FLUSH TABLES WITH READ LOCK, and user locks (GET_LOCK). There are no intention
//! locks on schemas, tablespaces or everything, so that a writer that waits for FLUSH TABLES WITH READ LOCK
//! waits for its table here.

use palisade_catalog::Value;
use palisade_engine::{LockStrength, MetadataLock, MetadataObject, TableName};
use palisade_schema::{Rows, Wanted, virtual_table};
use palisade_sql::Awaited;

use super::{Definition, Source, Tables, number, of_each, optional_text, text};
use crate::host::ServerHost;

pub(super) static TABLES: Tables =
    &[Definition::new(&metadata_locks::DECL, locks), Definition::new(&table_handles::DECL, handles)];

/// A metadata lock, or a user lock.
enum LockSubject {
    Metadata(MetadataLock),
    Named { name: String, session: u64, is_granted: bool, number: u64 },
}

impl LockSubject {
    fn object_type(&self) -> &'static str {
        let LockSubject::Metadata(lock) = self else { return "USER LEVEL LOCK" };
        match lock.object {
            MetadataObject::Global => "GLOBAL",
            MetadataObject::Commit => "COMMIT",
            MetadataObject::Schema(_) => "SCHEMA",
            MetadataObject::Table(_) => "TABLE",
        }
    }

    fn schema(&self) -> Option<&str> {
        match self {
            LockSubject::Metadata(MetadataLock { object: MetadataObject::Schema(schema), .. }) => {
                Some(schema)
            }
            LockSubject::Metadata(MetadataLock { object: MetadataObject::Table(name), .. }) => {
                Some(&name.schema)
            }
            _ => None,
        }
    }

    fn name(&self) -> Option<&str> {
        match self {
            LockSubject::Metadata(MetadataLock { object: MetadataObject::Table(name), .. }) => {
                Some(&name.table)
            }
            LockSubject::Named { name, .. } => Some(name),
            LockSubject::Metadata(_) => None,
        }
    }

    fn strength(&self) -> &'static str {
        let LockSubject::Metadata(lock) = self else { return "EXCLUSIVE" };
        match lock.strength {
            LockStrength::Shared => "SHARED",
            LockStrength::SharedRead => "SHARED_READ",
            LockStrength::SharedWrite => "SHARED_WRITE",
            LockStrength::SharedReadOnly => "SHARED_READ_ONLY",
            LockStrength::SharedNoReadWrite => "SHARED_NO_READ_WRITE",
            LockStrength::Exclusive => "EXCLUSIVE",
        }
    }

    fn duration(&self) -> &'static str {
        match self {
            LockSubject::Metadata(lock) if lock.strength != LockStrength::Shared => "TRANSACTION",
            _ => "EXPLICIT",
        }
    }

    fn is_granted(&self) -> bool {
        match self {
            LockSubject::Metadata(lock) => lock.is_granted,
            LockSubject::Named { is_granted, .. } => *is_granted,
        }
    }

    fn owner(&self) -> Option<u64> {
        match self {
            LockSubject::Metadata(lock) => Some(lock.owner).filter(|owner| *owner != 0),
            LockSubject::Named { session, .. } => Some(*session),
        }
    }

    fn number(&self) -> u64 {
        match self {
            LockSubject::Metadata(lock) => lock.number,
            LockSubject::Named { number, .. } => *number,
        }
    }
}

virtual_table! {
    mod metadata_locks = "performance_schema"."metadata_locks" of |it: LockSubject| {
        OBJECT_TYPE: varchar(64) in utf8mb4_0900_ai_ci not null key MUL => text(it.object_type()),
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci => optional_text(it.schema()),
        OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci => optional_text(it.name()),
        COLUMN_NAME: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null key PRI => Value::UInt(it.number()),
        LOCK_TYPE: varchar(32) in utf8mb4_0900_ai_ci not null => text(it.strength()),
        LOCK_DURATION: varchar(32) in utf8mb4_0900_ai_ci not null => text(it.duration()),
        LOCK_STATUS: varchar(32) in utf8mb4_0900_ai_ci not null => text(if it.is_granted() { "GRANTED" } else { "PENDING" }),
        SOURCE: varchar(64) in utf8mb4_0900_ai_ci => text(""),
        OWNER_THREAD_ID: bigint_unsigned key MUL => number(it.owner()),
        OWNER_EVENT_ID: bigint_unsigned => Value::Null,
    }
}

/// The metadata locks that are held or waited for.
fn metadata(host: &ServerHost) -> impl Iterator<Item = MetadataLock> {
    let waiting = host.connections.waiting(Awaited::MetadataLock);
    // A transaction that was refused a table may have given up since.
    let waits =
        move |lock: &MetadataLock| lock.is_granted || !lock.is_transactions || waiting.contains(&lock.owner);
    host.engine.metadata_locks().into_iter().filter(waits)
}

/// Set in the numbers of user locks.
const NAMED: u64 = 1 << 61;

fn locks(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let named = source.host.named_locks.all();
    let named = (NAMED..).zip(named).map(|(number, (name, session, is_granted))| LockSubject::Named {
        name: name.to_string(),
        session,
        is_granted,
        number,
    });
    let metadata = metadata(source.host).map(LockSubject::Metadata);
    of_each(metadata.chain(named).collect::<Vec<_>>(), metadata_locks::row, wanted)
}

/// A table that a session uses or has locked.
struct HandleSubject {
    name: TableName,
    lock: MetadataLock,
}

impl HandleSubject {
    fn external_lock(&self) -> &'static str {
        match self.lock.strength {
            LockStrength::SharedRead | LockStrength::SharedReadOnly => "READ EXTERNAL",
            _ => "WRITE EXTERNAL",
        }
    }
}

virtual_table! {
    /// A table has no handles that are kept open: a row is a session's use of it.
    mod table_handles = "performance_schema"."table_handles" of |it: HandleSubject| {
        OBJECT_TYPE: varchar(64) in utf8mb4_0900_ai_ci not null key MUL => text("TABLE"),
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci not null => text(&it.name.schema),
        OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci not null => text(&it.name.table),
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null key PRI => Value::UInt(it.lock.number),
        OWNER_THREAD_ID: bigint_unsigned key MUL => Value::UInt(it.lock.owner),
        OWNER_EVENT_ID: bigint_unsigned => Value::UInt(0),
        INTERNAL_LOCK: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
        EXTERNAL_LOCK: varchar(64) in utf8mb4_0900_ai_ci => text(it.external_lock()),
    }
}

fn handles(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let handle = |lock: MetadataLock| match &lock.object {
        MetadataObject::Table(name) if lock.is_granted && lock.strength != LockStrength::Exclusive => {
            Some(HandleSubject { name: name.clone(), lock })
        }
        _ => None,
    };
    of_each(metadata(source.host).filter_map(handle).collect::<Vec<_>>(), table_handles::row, wanted)
}
