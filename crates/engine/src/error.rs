//! What an engine operation can fail with, and what MySQL calls it.

use palisade_base::error_catalogue as catalogue;
use palisade_base::{MysqlError, PageNo, SpaceId, mysql_error};
use palisade_catalog::descriptor::DescriptorError;

/// An error of the engine. [`MysqlError`] is made from it with `From`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A row with this key exists. The caller knows the row, and words the message (1062).
    #[error("duplicate entry for index {index}")]
    DuplicateKey {
        /// Number of the index in the table.
        index: usize,
    },
    /// Existing rows have this key: one of them, a row of `table`, is `row`.
    #[error("duplicate rows for index {index}")]
    DuplicateRow {
        /// Number of the index in the table.
        index: usize,
        /// The definition that was to be.
        table: std::sync::Arc<crate::Table>,
        /// The row.
        row: Vec<u8>,
    },
    /// The transaction closed a cycle of waits and was chosen to give way (1213): it must be rolled back.
    #[error("deadlock found")]
    Deadlock,
    /// There is no memory for more locks (1206): the transaction must be rolled back.
    #[error("the locks exceed the memory they may take")]
    LockTableFull,
    /// A row is locked by another transaction, and the read would not wait for it (3572).
    #[error("a row is locked by another transaction")]
    LockNotAvailable,
    /// The row changed since the transaction's snapshot (1020, `innodb_snapshot_isolation`).
    #[error("record has changed since last read in table '{0}'")]
    RecordChanged(String),
    /// The table was dropped or altered since the dictionary snapshot: look it up and plan again.
    #[error("the definition of the table has changed")]
    TableChanged,
    /// The table was rebuilt after the transaction's snapshot was taken, and does not hold what that would
    /// see (1412).
    #[error("the table has been rebuilt since the transaction's snapshot")]
    TableNewer,
    /// No such schema (1049).
    #[error("unknown database '{0}'")]
    UnknownSchema(String),
    /// The schema exists (1007).
    #[error("database '{0}' exists")]
    SchemaExists(String),
    /// No such table (1146).
    #[error("table '{schema}.{table}' does not exist")]
    UnknownTable {
        /// Its schema.
        schema: String,
        /// Its name.
        table: String,
    },
    /// The table's file is missing (1812).
    #[error("the file of table '{schema}.{table}' is missing")]
    FileMissing {
        /// Its schema.
        schema: String,
        /// Its name.
        table: String,
    },
    /// The table exists (1050).
    #[error("table '{0}' exists")]
    TableExists(String),
    /// No such index (1091).
    #[error("no index '{0}'")]
    UnknownIndex(String),
    /// The index exists (1061).
    #[error("duplicate index name '{0}'")]
    IndexExists(String),
    /// The key is longer than an index can take (1071), which says how long keys may be declared.
    #[error("key too long")]
    KeyTooLong(u32),
    /// The row is longer than the engine can store (1118).
    #[error("row too large")]
    RowTooLarge,
    /// The AUTO_INCREMENT counter has passed its column's largest value (1467).
    #[error("AUTO_INCREMENT values are used up")]
    AutoIncrementExhausted,
    /// A change in a READ ONLY transaction (1792).
    #[error("the transaction is read-only")]
    ReadOnly,
    /// A change while [`ForceRecovery`](crate::ForceRecovery) is on (1881).
    #[error("not allowed with innodb_force_recovery")]
    ForcedRecovery,
    /// A change of a table that the session itself has locked for reading (1099).
    #[error("table '{0}' was locked with a READ lock and can't be updated")]
    TableReadLocked(String),
    /// The space or disk is full (1114).
    #[error("the table '{0}' is full")]
    TableFull(String),
    /// The disk is full (1021).
    #[error("disk full")]
    DiskFull,
    /// A table's pages are to be compressed where the file system punches no holes (4029).
    #[error("the file system punches no holes")]
    NoHoles,
    /// A page does not hold what it should.
    #[error("page {}:{} is corrupted: {what}", space.0, page.0)]
    Corrupted {
        /// The space.
        space: SpaceId,
        /// The page.
        page: PageNo,
        /// What is wrong.
        what: String,
    },
    /// Indexes, rows or undo contradict each other.
    #[error("the data is inconsistent: {0}")]
    Inconsistent(String),
    /// The data directory cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// Input or output failed.
    #[error("{0}")]
    Io(String),
    /// The engine is shutting down (1053).
    #[error("server shutdown in progress")]
    ShuttingDown,
    /// The data directory has something that only a later version of the server can read. Nothing is damaged.
    #[error("the data directory is of a later version of the server: {0}")]
    LaterVersion(String),
    /// A definition makes no sense to the engine.
    #[error("{0}")]
    Definition(String),
    /// What a caller's function answered in the middle of an operation, such as a row mapper.
    #[error("{0}")]
    Sql(MysqlError),
}

impl Error {
    /// Whether it tells of something on the disk that is not as it was written.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Error::Corrupted { .. }
                | Error::Inconsistent(_)
                | Error::Io(_)
                | Error::Unusable(_)
                | Error::Definition(_)
        )
    }
}

impl From<Error> for MysqlError {
    fn from(error: Error) -> MysqlError {
        match error {
            Error::DuplicateKey { index } | Error::DuplicateRow { index, .. } => {
                mysql_error!(catalogue::ER_DUP_ENTRY, "?", index)
            }
            Error::Deadlock => mysql_error!(catalogue::ER_LOCK_DEADLOCK),
            Error::LockTableFull => mysql_error!(catalogue::ER_LOCK_TABLE_FULL),
            Error::LockNotAvailable => mysql_error!(catalogue::ER_LOCK_NOWAIT),
            Error::RecordChanged(table) => mysql_error!(catalogue::ER_CHECKREAD, table),
            Error::TableChanged | Error::TableNewer => mysql_error!(catalogue::ER_TABLE_DEF_CHANGED),
            Error::UnknownSchema(name) => mysql_error!(catalogue::ER_BAD_DB_ERROR, name),
            Error::SchemaExists(name) => mysql_error!(catalogue::ER_DB_CREATE_EXISTS, name),
            Error::UnknownTable { schema, table } => mysql_error!(catalogue::ER_NO_SUCH_TABLE, schema, table),
            Error::FileMissing { schema, table } => {
                mysql_error!(catalogue::ER_TABLESPACE_MISSING, format!("`{schema}`.`{table}`"))
            }
            Error::TableExists(name) => mysql_error!(catalogue::ER_TABLE_EXISTS_ERROR, name),
            Error::UnknownIndex(name) => mysql_error!(catalogue::ER_CANT_DROP_FIELD_OR_KEY, name),
            Error::IndexExists(name) => mysql_error!(catalogue::ER_DUP_KEYNAME, name),
            Error::KeyTooLong(most) => mysql_error!(catalogue::ER_TOO_LONG_KEY, most),
            Error::RowTooLarge => mysql_error!(catalogue::ER_TOO_BIG_ROWSIZE, 65535),
            Error::AutoIncrementExhausted => mysql_error!(catalogue::ER_AUTOINC_READ_FAILED),
            Error::ReadOnly => mysql_error!(catalogue::ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION),
            Error::ForcedRecovery => mysql_error!(catalogue::ER_INNODB_FORCED_RECOVERY),
            Error::TableReadLocked(table) => mysql_error!(catalogue::ER_TABLE_NOT_LOCKED_FOR_WRITE, table),
            Error::TableFull(table) => mysql_error!(catalogue::ER_RECORD_FILE_FULL, table),
            Error::DiskFull => {
                mysql_error!(catalogue::ER_DISK_FULL, "datadir", 28, "No space left on device")
            }
            Error::NoHoles => mysql_error!(
                catalogue::ER_INNODB_COMPRESSION_FAILURE,
                "Punch hole not supported by the filesystem or the tablespace page size is not large enough."
            ),
            Error::ShuttingDown => mysql_error!(catalogue::ER_SERVER_SHUTDOWN),
            Error::Sql(error) => error,
            Error::Corrupted { .. }
            | Error::Inconsistent(_)
            | Error::Unusable(_)
            | Error::Io(_)
            | Error::LaterVersion(_)
            | Error::Definition(_) => {
                MysqlError::with_message(&catalogue::ER_UNKNOWN_ERROR, error.to_string())
            }
        }
    }
}

impl From<palisade_txn::Error> for Error {
    fn from(error: palisade_txn::Error) -> Self {
        match error {
            palisade_txn::Error::Deadlock => Error::Deadlock,
            palisade_txn::Error::LockTableFull => Error::LockTableFull,
            palisade_txn::Error::NotAvailable => Error::LockNotAvailable,
            palisade_txn::Error::RowChanged => Error::RecordChanged(String::new()),
            palisade_txn::Error::TooManyTransactions => {
                Error::Sql(mysql_error!(catalogue::ER_TOO_MANY_CONCURRENT_TRXS))
            }
            palisade_txn::Error::Corrupted { page, what } => {
                Error::Corrupted { space: page.space, page: page.page, what: what.to_owned() }
            }
            palisade_txn::Error::Disagreement { .. } => Error::Inconsistent(error.to_string()),
            palisade_txn::Error::Store(error) => error.into(),
        }
    }
}

/// How long a key may be declared, in bytes, on pages of `page` bytes: as in MySQL, 768 for each 4 KiB, and
/// no more than 3072.
pub(crate) fn longest_key(page: usize) -> u32 {
    (page / 16 * 3).min(3072) as u32
}

impl From<palisade_btree::Error> for Error {
    fn from(error: palisade_btree::Error) -> Self {
        use palisade_btree::Error as Store;
        match error {
            Store::Corrupted { page, what } => {
                Error::Corrupted { space: page.space, page: page.page, what: what.to_owned() }
            }
            Store::NoSpace(_) => Error::DiskFull,
            Store::EntryTooLarge { page, .. } => Error::KeyTooLong(longest_key(page)),
            Store::CorruptedRecord { .. } => Error::Inconsistent(error.to_string()),
            Store::Buffer(error) => error.into(),
            Store::Log(error) => error.into(),
        }
    }
}

impl From<palisade_buffer::Error> for Error {
    fn from(error: palisade_buffer::Error) -> Self {
        use palisade_buffer::Error as Pool;
        match &error {
            Pool::Corrupted { page, reason } => {
                Error::Corrupted { space: page.space, page: page.page, what: reason.to_string() }
            }
            Pool::NoSpace { .. } => Error::DiskFull,
            Pool::Detached { .. } => Error::TableChanged,
            _ => Error::Io(error.to_string()),
        }
    }
}

impl From<palisade_log::Error> for Error {
    fn from(error: palisade_log::Error) -> Self {
        match error {
            palisade_log::Error::NotRunning => Error::ShuttingDown,
            _ => Error::Io(error.to_string()),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Error::DiskFull,
            _ => Error::Io(error.to_string()),
        }
    }
}

impl From<DescriptorError> for Error {
    fn from(error: DescriptorError) -> Self {
        match error {
            DescriptorError::UnknownVersion(_) => Error::LaterVersion(error.to_string()),
            _ => Error::Definition(error.to_string()),
        }
    }
}

impl From<MysqlError> for Error {
    fn from(error: MysqlError) -> Self {
        Error::Sql(error)
    }
}
