//! The log's counters, under the names of MySQL's INNODB_METRICS where it has them.
//!
//! MySQL's threads and arrays that are not here have their counters all the same ([`Kind::Absent`]): they stay 0, which is
//! what happened, and say why.
//!
//! Counters are counted where it happens; the gauges are worked out by [`Log::publish_metrics`](crate::Log::publish_metrics)
//! for who reads them, with loads that the log does not notice.
//!
//! [`Kind::Absent`]: palisade_base::metric::Kind::Absent

use palisade_base::metric::Metric;

palisade_base::metrics! {
    /// Next LSN.
    pub static LSN_CURRENT: Gauge = "log_lsn_current", "log", "Current LSN value", "Innodb_redo_log_current_lsn";
    /// Durable LSN.
    pub static LSN_LAST_FLUSH: Gauge = "log_lsn_last_flush", "log", "LSN of last flush", "Innodb_redo_log_flushed_to_disk_lsn";
    /// Checkpoint LSN.
    pub static LSN_LAST_CHECKPOINT: Gauge = "log_lsn_last_checkpoint", "log", "LSN at last checkpoint", "Innodb_redo_log_checkpoint_lsn";
    /// Distance of current and checkpoint.
    pub static CHECKPOINT_AGE: Gauge = "log_lsn_checkpoint_age", "log", "Current LSN value minus LSN at last checkpoint", "Innodb_redo_log_logical_size";
    /// No archiver.
    pub static LSN_ARCHIVED: Absent as Value = "log_lsn_archived", "log", "Always 0: there is no redo log archiver";
    /// Tail.
    pub static LSN_DIRTY_PAGES_ADDED: Gauge = "log_lsn_buf_dirty_pages_added", "log", "The LSN value up to which all dirty pages have been registered";
    /// First non-empty bucket.
    pub static LSN_OLDEST_DIRTY: Gauge = "log_lsn_buf_pool_oldest_approx", "log", "Approximation for the oldest modified LSN in the buffer pool: the first bucket with a dirty page";
    /// The same.
    pub static LSN_OLDEST_DIRTY_LOW: Gauge = "log_lsn_buf_pool_oldest_lwm", "log", "Low watermark for the oldest modified LSN in the buffer pool: where a checkpoint may be written";

    /// Admissions refused for want of log buffer.
    pub static WAITS: Counter = "log_waits", "log", "Number of log waits due to small log buffer (innodb_log_waits)", "Innodb_log_waits";
    /// Appends.
    pub static WRITE_REQUESTS: Counter = "log_write_requests", "log", "Number of log write requests: mini-transactions appended (innodb_log_write_requests)", "Innodb_log_write_requests";
    /// Writes.
    pub static WRITES: Counter = "log_writes", "log", "Number of log writes", "Innodb_log_writes";
    /// Bytes written, padding included.
    pub static WRITTEN_BYTES: Counter = "os_log_bytes_written", "os", "Bytes of log written (innodb_os_log_written)", "Innodb_os_log_written";
    /// Syncs.
    pub static SYNCS: Counter = "os_log_fsyncs", "os", "Number of fsync log writes (innodb_os_log_fsyncs)", "Innodb_os_log_fsyncs";
    /// Syncs under way.
    pub static PENDING_SYNCS: Gauge as StatusCounter = "os_log_pending_fsyncs", "os", "Number of pending fsync write (innodb_os_log_pending_fsyncs)", "Innodb_os_log_pending_fsyncs";
    /// Writes under way.
    pub static PENDING_WRITES: Gauge as StatusCounter = "os_log_pending_writes", "os", "Number of pending log file writes (innodb_os_log_pending_writes)", "Innodb_os_log_pending_writes";

    /// Flushes.
    pub static FLUSHES: Counter = "log_flush_total", "log", "Number of flushes: a write and the sync that makes it durable";
    /// Time of flushes.
    pub static FLUSH_TIME: Counter = "log_flush_total_time", "log", "Total time spent on fsync for log files, in milliseconds";
    /// Longest of the last flushes.
    pub static FLUSH_MAX_TIME: Gauge as Counter = "log_flush_max_time", "log", "Maximum time spent on fsync for log files (during last innodb_flushing_avg_loops), in microseconds";
    /// Average of the last flushes.
    pub static FLUSH_AVG_TIME: Gauge as Counter = "log_flush_avg_time", "log", "Average time spent on fsync for log files (during last innodb_flushing_avg_loops), in microseconds";
    /// Bytes made durable in a second.
    pub static FLUSH_LSN_AVG_RATE: Gauge as Counter = "log_flush_lsn_avg_rate", "log", "Average redo flushing rate (during last innodb_flushing_avg_loops), in bytes per second";
    /// Writes without padding.
    pub static FULL_BLOCK_WRITES: Counter = "log_full_block_writes", "log", "Number of log writes for full (completed) log blocks: those that needed no padding";
    /// Writes with padding.
    pub static PARTIAL_BLOCK_WRITES: Counter = "log_partial_block_writes", "log", "Number of log writes for partial (incomplete) log blocks: those whose last block was padded";
    /// Bytes of padding written.
    pub static PADDED_BYTES: Counter = "log_padded", "log", "Bytes of log padded for log write ahead";
    /// Segments created or recycled.
    pub static NEXT_FILE: Counter = "log_next_file", "log", "Number of new log files created or recycled";
    /// Checkpoints.
    pub static CHECKPOINTS: Counter = "log_checkpoints", "log", "Number of checkpoints";
    /// Room in the files.
    pub static FREE_SPACE: Gauge as Counter = "log_free_space", "log", "Free space in redo: bytes of log files before appends wait for a checkpoint";
    /// Kept free.
    pub static CONCURRENCY_MARGIN: Gauge as Counter = "log_concurrency_margin", "log", "Current concurrency margin used: bytes of log files kept free for what is admitted";

    /// Writer thread found work.
    pub static WRITER_NO_WAITS: Counter = "log_writer_no_waits", "log", "Waits on task in log_writer thread: times it found one at once";
    /// Writer thread slept before there was work.
    pub static WRITER_WAITS: Counter = "log_writer_waits", "log", "Waits on task in log_writer thread";
    /// Sleeps of the writer thread.
    pub static WRITER_WAIT_LOOPS: Counter = "log_writer_wait_loops", "log", "Waits on task in log_writer thread: times it slept";
    /// Admission has asked before.
    pub static WRITER_ON_FILE_SPACE_WAITS: Absent = "log_writer_on_file_space_waits", "log", "Always 0: an append is admitted only if the files have room for it; see log_on_file_space_waits";
    /// No archiver.
    pub static WRITER_ON_ARCHIVER_WAITS: Absent = "log_writer_on_archiver_waits", "log", "Always 0: there is no redo log archiver";
    /// Flusher thread found work.
    pub static FLUSHER_NO_WAITS: Counter = "log_flusher_no_waits", "log", "Waits on task in log_flusher thread: times it found one at once";
    /// Flusher thread slept before there was work.
    pub static FLUSHER_WAITS: Counter = "log_flusher_waits", "log", "Waits on task in log_flusher thread";
    /// Sleeps of the flusher thread.
    pub static FLUSHER_WAIT_LOOPS: Counter = "log_flusher_wait_loops", "log", "Waits on task in log_flusher thread: times it slept";
    /// No such thread.
    pub static WRITE_NOTIFIER_NO_WAITS: Absent = "log_write_notifier_no_waits", "log", "Always 0: there is no log_write_notifier thread; nobody waits for a write";
    /// No such thread.
    pub static WRITE_NOTIFIER_WAITS: Absent = "log_write_notifier_waits", "log", "Always 0: there is no log_write_notifier thread; nobody waits for a write";
    /// No such thread.
    pub static WRITE_NOTIFIER_WAIT_LOOPS: Absent = "log_write_notifier_wait_loops", "log", "Always 0: there is no log_write_notifier thread; nobody waits for a write";
    /// No such thread.
    pub static FLUSH_NOTIFIER_NO_WAITS: Absent = "log_flush_notifier_no_waits", "log", "Always 0: there is no log_flush_notifier thread; whoever flushes calls the workers";
    /// No such thread.
    pub static FLUSH_NOTIFIER_WAITS: Absent = "log_flush_notifier_waits", "log", "Always 0: there is no log_flush_notifier thread; whoever flushes calls the workers";
    /// No such thread.
    pub static FLUSH_NOTIFIER_WAIT_LOOPS: Absent = "log_flush_notifier_wait_loops", "log", "Always 0: there is no log_flush_notifier thread; whoever flushes calls the workers";
    /// Nothing is estimated.
    pub static REQUESTS_INTERVAL: Absent = "log_write_to_file_requests_interval", "log", "Always 0: no estimate is made of it; innodb_log_writer_threads=AUTO needs none";
    /// Somebody else had written.
    pub static ON_WRITE_NO_WAITS: Counter = "log_on_write_no_waits", "log", "Waits in user threads for a write: times it was written already";
    /// Had to write.
    pub static ON_WRITE_WAITS: Counter = "log_on_write_waits", "log", "Waits in user threads for a write: times they had to write";
    /// Had to write.
    pub static ON_WRITE_WAIT_LOOPS: Counter = "log_on_write_wait_loops", "log", "Waits in user threads for a write: one loop a wait";
    /// Waits for durability that did not park.
    pub static FLUSH_NO_WAITS: Counter = "log_on_flush_no_waits", "log", "Waits in user threads for a flush: times it had been flushed already";
    /// Waits for durability that parked.
    pub static FLUSH_WAITS: Counter = "log_on_flush_waits", "log", "Waits in user threads for a flush";
    /// How often they parked.
    pub static FLUSH_WAIT_LOOPS: Counter = "log_on_flush_wait_loops", "log", "Waits in user threads for a flush: times they were parked";
    /// The links are in the frames.
    pub static RECENT_WRITTEN_WAIT_LOOPS: Absent = "log_on_recent_written_wait_loops", "log", "Always 0: finished appends are linked in the log buffer itself, which has room for them";
    /// The buckets are counters.
    pub static RECENT_CLOSED_WAIT_LOOPS: Absent = "log_on_recent_closed_wait_loops", "log", "Always 0: dirty pages are counted by LSN, and there is always room to count";
    /// Admissions that found room when they looked again.
    pub static BUFFER_SPACE_NO_WAITS: Counter = "log_on_buffer_space_no_waits", "log", "Waits in user threads on space in log buffer: times it was there on the second look";
    /// Admissions refused for want of log buffer.
    pub static BUFFER_SPACE_WAITS: Counter = "log_on_buffer_space_waits", "log", "Waits in user threads on space in log buffer";
    /// The same.
    pub static BUFFER_SPACE_WAIT_LOOPS: Counter = "log_on_buffer_space_wait_loops", "log", "Waits in user threads on space in log buffer: one loop a wait, because who is woken asks anew";
    /// Admissions that found room when they looked again.
    pub static FILE_SPACE_NO_WAITS: Counter = "log_on_file_space_no_waits", "log", "Waits in user threads on space in log files: times it was there on the second look";
    /// Admissions refused because the files were full.
    pub static FILE_SPACE_WAITS: Counter = "log_on_file_space_waits", "log", "Waits in user threads on space in log files";
    /// The same.
    pub static FILE_SPACE_WAIT_LOOPS: Counter = "log_on_file_space_wait_loops", "log", "Waits in user threads on space in log files: one loop a wait, because who is woken asks anew";

    /// Flushes by a worker.
    pub static LEADER_FLUSHES: Counter = "log_leader_flushes", "log", "Number of flushes done by the thread that wanted them";
    /// Flushes by the log's thread.
    pub static THREAD_FLUSHES: Counter = "log_thread_flushes", "log", "Number of flushes done by the log's own threads";
    /// Waits for the tail that parked.
    pub static TAIL_WAITS: Counter = "log_on_tail_waits", "log", "Number of waits for an earlier append of another session";
    /// Sessions' waits for durability.
    pub static COMMITS: Counter = "log_commits", "log", "Number of times a session asked for durability, as each commit does";
    /// Calls to workers.
    pub static WAKEUPS: Counter = "log_wakeups", "log", "Number of times a flush woke a worker; divided by log_commits: wakeups per commit";
    /// Calls to the log's threads.
    pub static THREAD_WAKEUPS: Counter = "log_thread_wakeups", "log", "Number of times one of the log's threads was woken";
}

/// The three counters of a place where something is waited for.
pub(crate) struct WaitCounters {
    no_waits: &'static Metric,
    waits: &'static Metric,
    loops: &'static Metric,
}

impl WaitCounters {
    pub(crate) const WRITER: WaitCounters =
        WaitCounters { no_waits: &WRITER_NO_WAITS, waits: &WRITER_WAITS, loops: &WRITER_WAIT_LOOPS };
    pub(crate) const FLUSHER: WaitCounters =
        WaitCounters { no_waits: &FLUSHER_NO_WAITS, waits: &FLUSHER_WAITS, loops: &FLUSHER_WAIT_LOOPS };
    pub(crate) const ON_WRITE: WaitCounters =
        WaitCounters { no_waits: &ON_WRITE_NO_WAITS, waits: &ON_WRITE_WAITS, loops: &ON_WRITE_WAIT_LOOPS };
    pub(crate) const ON_FLUSH: WaitCounters =
        WaitCounters { no_waits: &FLUSH_NO_WAITS, waits: &FLUSH_WAITS, loops: &FLUSH_WAIT_LOOPS };
    pub(crate) const BUFFER_SPACE: WaitCounters = WaitCounters {
        no_waits: &BUFFER_SPACE_NO_WAITS,
        waits: &BUFFER_SPACE_WAITS,
        loops: &BUFFER_SPACE_WAIT_LOOPS,
    };
    pub(crate) const FILE_SPACE: WaitCounters = WaitCounters {
        no_waits: &FILE_SPACE_NO_WAITS,
        waits: &FILE_SPACE_WAITS,
        loops: &FILE_SPACE_WAIT_LOOPS,
    };

    /// What was wanted is there, after so many rounds of sleep.
    pub(crate) fn count(&self, loops: u64) {
        if loops == 0 {
            self.no_waits.increment();
        } else {
            self.waits.increment();
            self.loops.add(loops);
        }
    }
}
