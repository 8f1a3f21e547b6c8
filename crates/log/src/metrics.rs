//! The log's counters, under the names of MySQL's INNODB_METRICS where it has them.

palisade_base::metrics! {
    /// Appends.
    pub static WRITE_REQUESTS: Counter = "log_write_requests", "log", "Number of mini-transactions appended to the log buffer";
    /// Writes.
    pub static WRITES: Counter = "log_writes", "log", "Number of writes to log files";
    /// Bytes written, padding included.
    pub static WRITTEN_BYTES: Counter = "os_log_bytes_written", "log", "Bytes written to log files";
    /// Bytes of padding written.
    pub static PADDED_BYTES: Counter = "log_padded", "log", "Bytes of log padded for log write ahead";
    /// Syncs.
    pub static SYNCS: Counter = "os_log_fsyncs", "log", "Number of fdatasync calls on log files";
    /// Flushes.
    pub static FLUSHES: Counter = "log_flush_total", "log", "Number of flushes: a write and the sync that makes it durable";
    /// Time of flushes.
    pub static FLUSH_TIME: Counter = "log_flush_total_time", "log", "Total time spent in syncing log files, in microseconds";
    /// Longest flush.
    pub static FLUSH_MAX_TIME: Gauge = "log_flush_max_time", "log", "Longest sync of the log files, in microseconds";
    /// Flushes by a worker.
    pub static LEADER_FLUSHES: Counter = "log_leader_flushes", "log", "Number of flushes done by the thread that wanted them";
    /// Flushes by the log's thread.
    pub static THREAD_FLUSHES: Counter = "log_thread_flushes", "log", "Number of flushes done by the log's own threads";
    /// Admissions refused.
    pub static WAITS: Counter = "log_waits", "log", "Number of times an append had to wait because the log buffer or the log files were full";
    /// Waits for durability that parked.
    pub static FLUSH_WAITS: Counter = "log_on_flush_waits", "log", "Number of waits for a flush";
    /// Waits for the tail that parked.
    pub static TAIL_WAITS: Counter = "log_on_tail_waits", "log", "Number of waits for an earlier append of another session";
    /// Calls to workers.
    pub static WAKEUPS: Counter = "log_flush_wakeups", "log", "Number of times a flush woke a worker; log_on_flush_waits divided by this is commits per wakeup";
    /// Next LSN.
    pub static LSN_CURRENT: Gauge = "log_lsn_current", "log", "Current LSN value, as of the last flush";
    /// Durable LSN.
    pub static LSN_LAST_FLUSH: Gauge = "log_lsn_last_flush", "log", "LSN of last flush";
    /// Checkpoint LSN.
    pub static LSN_LAST_CHECKPOINT: Gauge = "log_lsn_last_checkpoint", "log", "LSN at last checkpoint";
    /// Distance of the two before.
    pub static CHECKPOINT_AGE: Gauge = "log_lsn_checkpoint_age", "log", "Log bytes between the last checkpoint and the last flush";
    /// Checkpoints.
    pub static CHECKPOINTS: Counter = "log_checkpoints", "log", "Number of checkpoints written";
}
