//! What can go wrong on this floor.

use palisade_base::{PageId, TrxId};

/// An error of a transaction's operation. The operation has changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The transaction must give way: roll it back.
    #[error("deadlock found when trying to get a lock")]
    Deadlock,
    /// There is no memory for more locks: roll the transaction back.
    #[error("the locks exceed the memory they may take")]
    LockTableFull,
    /// A row is locked by another transaction, and the caller would not wait.
    #[error("a row is locked by another transaction")]
    NotAvailable,
    /// A row has changed since the transaction's snapshot: roll it back.
    #[error("a row has changed since the snapshot")]
    RowChanged,
    /// As many transactions write at once as there are undo segments.
    #[error("too many active transactions")]
    TooManyTransactions,
    /// A page does not hold what it should.
    #[error("page {page} is corrupted: {what}")]
    Corrupted {
        /// Which page.
        page: PageId,
        /// What is wrong with it.
        what: &'static str,
    },
    /// An entry is not in the state that a transaction's undo record says it is.
    #[error("index {index} does not agree with the undo of transaction {writer}")]
    Disagreement {
        /// The index.
        index: u64,
        /// The transaction.
        writer: TrxId,
    },
    /// The page store failed.
    #[error(transparent)]
    Store(#[from] palisade_btree::Error),
}

impl Error {
    /// The page that cannot be read or makes no sense, if that is the reason.
    pub fn damaged_page(&self) -> Option<PageId> {
        use palisade_btree::Error as Store;
        use palisade_buffer::Error as Pool;
        match self {
            Error::Corrupted { page, .. }
            | Error::Store(Store::Corrupted { page, .. })
            | Error::Store(Store::Buffer(Pool::Corrupted { page, .. } | Pool::Io { page, .. })) => {
                Some(*page)
            }
            _ => None,
        }
    }
}

impl From<palisade_buffer::Error> for Error {
    fn from(error: palisade_buffer::Error) -> Self {
        Error::Store(error.into())
    }
}

/// What an operation that acquires before it applies returns on this floor.
pub type Attempt<T> = palisade_base::Attempt<T, Error>;
