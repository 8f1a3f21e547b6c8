//! What can go wrong on this floor.

use palisade_base::PageId;

use crate::layout::{max_entry, max_key};

/// An error of the page store. Whatever the operation was, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A page does not hold what it should.
    #[error("page {page} is corrupted: {what}")]
    Corrupted {
        /// Which page.
        page: PageId,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The disk, or the space's largest size, is used up.
    #[error("no space left for space {}", .0.0)]
    NoSpace(palisade_base::SpaceId),
    /// The entry is larger than a page can take.
    #[error(
        "an entry of {key} + {value} bytes is too large: {} for the key, {} together",
        max_key(*.page),
        max_entry(*.page)
    )]
    EntryTooLarge {
        /// Bytes of the key.
        key: usize,
        /// Bytes of the value.
        value: usize,
        /// Bytes of a page.
        page: usize,
    },
    /// A record of the log makes no sense, though its checksum is good.
    #[error("the log record ending at {end} is corrupted")]
    CorruptedRecord {
        /// Where the record ends.
        end: palisade_base::Lsn,
    },
    /// The buffer pool failed.
    #[error(transparent)]
    Buffer(palisade_buffer::Error),
    /// The log failed.
    #[error(transparent)]
    Log(#[from] palisade_log::Error),
}

impl Error {
    /// Whether it tells of a page that is not as it was written, or cannot be read at all.
    pub fn is_damage(&self) -> bool {
        use palisade_buffer::Error::{Corrupted, Io};
        matches!(self, Error::Corrupted { .. } | Error::Buffer(Corrupted { .. } | Io { .. }))
    }
}

impl From<palisade_buffer::Error> for Error {
    fn from(error: palisade_buffer::Error) -> Self {
        match error {
            palisade_buffer::Error::NoSpace { space, .. } => Error::NoSpace(space),
            other => Error::Buffer(other),
        }
    }
}

/// What an operation that acquires before it applies returns on this floor.
pub type Attempt<T> = palisade_base::Attempt<T, Error>;
