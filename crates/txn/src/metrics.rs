//! Counters of this floor, with the names InnoDB gives them.

palisade_base::metrics! {
    /// Transactions that committed changes.
    pub static TRX_RW_COMMITS: Counter = "trx_rw_commits", "transaction", "Number of read-write transactions committed";
    /// Transactions rolled back.
    pub static TRX_ROLLBACKS: Counter = "trx_rollbacks", "transaction", "Number of transactions rolled back";
    /// Rollbacks to a savepoint.
    pub static TRX_ROLLBACKS_SAVEPOINT: Counter = "trx_rollbacks_savepoint", "transaction", "Number of transactions rolled back to savepoint";
    /// Transactions found in flight by recovery.
    pub static TRX_RECOVERED: Counter = "trx_recovered", "transaction", "Number of transactions in flight at a crash, rolled back afterwards";
    /// Committed transactions not yet purged.
    pub static TRX_RSEG_HISTORY_LEN: Gauge = "trx_rseg_history_len", "transaction", "Length of the history list", "Innodb_history_list_length";
    /// Undo records written.
    pub static TRX_UNDO_RECORDS: Counter = "trx_undo_records", "transaction", "Number of undo records written";
    /// Undo pages in use.
    pub static TRX_UNDO_PAGES: Gauge = "trx_undo_pages", "transaction", "Number of undo pages allocated";
    /// Free undo pages that are kept for deletes on a full disk.
    pub static TRX_UNDO_RESERVE: Gauge = "trx_undo_reserve_bytes", "transaction", "Bytes of free undo pages kept for deletes on a full disk";
    /// Versions rebuilt for snapshots.
    pub static TRX_VERSIONS_BUILT: Counter = "trx_versions_built", "transaction", "Number of older row versions built";
    /// Waits for row locks.
    pub static LOCK_REC_LOCK_WAITS: Counter = "lock_rec_lock_waits", "lock", "Number of times a request was queued for a record lock";
    /// Statements that wait for row locks.
    pub static LOCK_ROW_LOCK_CURRENT_WAITS: Gauge as StatusCounter = "lock_row_lock_current_waits", "lock", "Number of row locks being waited for", "Innodb_row_lock_current_waits";
    /// How long row locks were waited for, in milliseconds.
    pub static LOCK_ROW_LOCK_TIME: Gauge as StatusCounter = "lock_row_lock_time", "lock", "Time in milliseconds spent waiting for row locks", "Innodb_row_lock_time";
    /// The same, of a wait.
    pub static LOCK_ROW_LOCK_TIME_AVG: Gauge = "lock_row_lock_time_avg", "lock", "Average time in milliseconds of a wait for a row lock", "Innodb_row_lock_time_avg";
    /// The same, of the longest wait.
    pub static LOCK_ROW_LOCK_TIME_MAX: Gauge = "lock_row_lock_time_max", "lock", "Longest time in milliseconds of a wait for a row lock", "Innodb_row_lock_time_max";
    /// Waits for row locks.
    pub static LOCK_ROW_LOCK_WAITS: Counter = "lock_row_lock_waits", "lock", "Number of times a row lock was waited for", "Innodb_row_lock_waits";
    /// Waits for row locks that took too long.
    pub static LOCK_TIMEOUTS: Counter = "lock_timeouts", "lock", "Number of waits for row locks that ended with a timeout";
    /// Entries in the lock table.
    pub static LOCK_REC_LOCK_CREATED: Counter = "lock_rec_lock_created", "lock", "Number of row and range locks entered into the lock table";
    /// Deadlocks.
    pub static LOCK_DEADLOCKS: Counter as Counter = "lock_deadlocks", "lock", "Number of deadlocks", "Innodb_deadlocks";
    /// Bytes of the lock table.
    pub static LOCK_MEMORY: Gauge = "lock_memory_bytes", "lock", "Bytes taken by row and range locks";
    /// Requests for locks that were refused.
    pub static LOCK_TABLE_FULL: Counter = "lock_table_full", "lock", "Number of times a lock was refused because locks took all the memory they may";
    /// Entries removed by purge.
    pub static PURGE_DEL_MARK_RECORDS: Counter = "purge_del_mark_records", "purge", "Number of delete-marked entries purged";
    /// Entries that purge left because their page is damaged.
    pub static PURGE_SKIPPED: Counter = "purge_skipped_corrupted", "purge", "Number of entries not purged because their page is corrupted";
    /// How long statements that change rows are held up.
    pub static PURGE_DML_DELAY_USEC: Gauge = "purge_dml_delay_usec", "purge", "Microseconds DML to be delayed due to purge lagging";
    /// Steps of purge that did something.
    pub static PURGE_INVOKED: Counter = "purge_invoked", "purge", "Number of times purge was invoked and found something to do";
    /// Undo pages given back.
    pub static PURGE_UNDO_LOG_PAGES: Counter = "purge_undo_log_pages", "purge", "Number of undo log pages given back by purge";
    /// Transactions purged.
    pub static PURGE_TRANSACTIONS: Counter = "purge_transactions", "purge", "Number of transactions purged";
    /// Times that the disk got room of the undo space back.
    pub static UNDO_TRUNCATE_COUNT: Counter = "undo_truncate_count", "undo", "Number of times that the room of free undo pages was given back to the disk";
}
