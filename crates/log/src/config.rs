//! How a log is set up.

use std::sync::Arc;

use palisade_base::clock::{Clock, SystemClock};
use palisade_io::{OpenMode, Placement, Syncing};

/// Who writes and flushes the log (`innodb_log_writer_threads`). Can be changed while the log runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum WriterThreads {
    /// The committing session's worker writes and flushes for everyone who waits.
    Off = 0,
    /// A dedicated writer and a dedicated flusher thread.
    On = 1,
    /// The flusher thread writes and flushes when a worker asks for it; the writer thread sleeps.
    #[default]
    Auto = 2,
}

/// Called with the reason when a log write or sync has failed and nothing may be promised any more.
pub type FailureHook = Arc<dyn Fn(&str) + Send + Sync>;

/// How a log is set up.
#[derive(Clone)]
pub struct LogConfig {
    /// Identifies this log among all logs; random, given when it is created.
    pub log_id: u64,
    /// `innodb_redo_log_capacity`: bytes on disk.
    pub capacity: u64,
    /// Size of new segment files in bytes; 0 is a 32nd of the capacity.
    pub segment_size: u64,
    /// `innodb_log_buffer_size`: bytes of the ring; rounded to a power of two.
    pub buffer_size: usize,
    /// `innodb_log_write_ahead_size`: every write ends at a multiple of it: 512 to 16384, a power of two.
    pub block_size: usize,
    /// Whether segment files bypass the page cache.
    pub direct: bool,
    /// When what is written to the log becomes durable; with anything but [`Syncing::OnRequest`] a flush syncs nothing.
    pub syncing: Syncing,
    /// Whether a checkpoint empties the device's cache before it says from where on the log is needed: for data files that are
    /// written without being synced. It helps those on the log's device.
    pub syncs_before_checkpoint: bool,
    /// `innodb_log_writer_threads`.
    pub writer_threads: WriterThreads,
    /// Whether the log has threads at all. Without, every flush is done by its caller: for simulations.
    pub background: bool,
    /// Where the log's writer thread runs.
    pub writer_placement: Placement,
    /// Where the log's flusher thread runs.
    pub flusher_placement: Placement,
    /// Milliseconds between background flushes of what no-one waits for, to begin with; see
    /// [`Log::set_background_flush_interval`](crate::Log::set_background_flush_interval).
    pub background_flush_interval_ms: u64,
    /// What to do when a log write or sync has failed: print and abort, unless a simulation wants to look.
    pub on_failure: FailureHook,
    /// The clock for the metrics of time.
    pub clock: Arc<dyn Clock>,
}

impl Default for LogConfig {
    fn default() -> Self {
        LogConfig {
            log_id: 0,
            capacity: 100 << 20,
            segment_size: 0,
            buffer_size: 16 << 20,
            block_size: 4096,
            direct: false,
            syncing: Syncing::OnRequest,
            syncs_before_checkpoint: false,
            writer_threads: WriterThreads::Auto,
            background: true,
            writer_placement: Placement::default(),
            flusher_placement: Placement::default(),
            background_flush_interval_ms: 1000,
            on_failure: Arc::new(abort),
            clock: Arc::new(SystemClock::default()),
        }
    }
}

impl LogConfig {
    /// How segment files are opened.
    pub(crate) fn access(&self) -> Access {
        Access { direct: self.direct, syncing: self.syncing }
    }
}

/// How the log's files are opened, whether they exist or not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    direct: bool,
    syncing: Syncing,
}

impl Access {
    pub(crate) fn mode(self, mode: OpenMode) -> OpenMode {
        let mode = mode.syncing(self.syncing);
        if self.direct { mode.direct() } else { mode }
    }

    /// For records that are smaller than direct I/O permits.
    pub(crate) fn through_cache(self) -> Access {
        Access { direct: false, ..self }
    }
}

fn abort(reason: &str) {
    eprintln!("palisade: redo log: {reason}; aborting, because nothing can be promised durable any more");
    std::process::abort();
}
