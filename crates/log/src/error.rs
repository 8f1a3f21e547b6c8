//! What can go wrong with a log.

use palisade_base::Lsn;

/// Why a log operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system failed.
    #[error("redo log: cannot {action}: {source}")]
    Io {
        /// What was attempted.
        action: &'static str,
        /// What the file system said.
        source: std::io::Error,
    },
    /// The directory holds no log.
    #[error("redo log: there is no log in {0}")]
    Missing(std::path::PathBuf),
    /// What is on disk is not what was written there.
    #[error("redo log: corrupted at {lsn} (physical position {position}): {reason}")]
    Corrupted {
        /// Where the log stops being readable.
        lsn: Lsn,
        /// The same place in the files: segment number times segment size, plus offset.
        position: u64,
        /// What was found.
        reason: String,
    },
    /// A mini-transaction is larger than the log accepts.
    #[error("redo log: a mini-transaction of {bytes} bytes exceeds the limit of {limit} bytes")]
    TooLarge {
        /// Size asked for, in bytes.
        bytes: usize,
        /// Largest size there is credit for; see [`Log::max_payload`](crate::Log::max_payload).
        limit: usize,
    },
    /// A write or sync failed earlier; the log takes and promises nothing any more. The server does not see this:
    /// the [failure hook](crate::LogConfig::on_failure) aborts it before.
    #[error("redo log: stopped after a failed write")]
    Failed,
    /// The log does not take appends: it is being recovered, or was shut down.
    #[error("redo log: not running")]
    NotRunning,
}

impl Error {
    pub(crate) fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> Error {
        move |source| Error::Io { action, source }
    }
}
