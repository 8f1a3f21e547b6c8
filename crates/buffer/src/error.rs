//! What can go wrong between a page and its file.

use std::io;
use std::sync::Arc;

use palisade_base::{PageId, SpaceId};

/// Why a page's bytes are not the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Corruption {
    /// The bytes do not match their checksum: torn, or flipped.
    #[error("checksum is {stored:08x}, computed {computed:08x}")]
    Checksum {
        /// The checksum in the page's header.
        stored: u32,
        /// The checksum of the page's bytes.
        computed: u32,
    },
    /// The bytes are another page, whole: misdirected by whoever wrote or read them.
    #[error("holds page {found} instead")]
    WrongPage {
        /// The page they are.
        found: PageId,
    },
    /// Where pages of the space are cannot be read.
    #[error("cannot be found: the map of its space is damaged")]
    NoPlaces,
    /// The place of the page is another page's, too, or outside of the file.
    #[error("cannot be where the map of its space says")]
    Misplaced,
    /// The bytes are all zero: allocated, never written.
    #[error("is all zeros")]
    Zeroed,
    /// The checksum is right and what is stored cannot be decoded to a page: see [`stored`](crate::stored).
    #[error("is stored in a form that makes no sense: {0}")]
    Encoding(&'static str),
    /// The checksum is right and the content cannot be: see [`BufferConfig::check`](crate::BufferConfig).
    #[error("makes no sense: {0}")]
    Content(&'static str),
    /// The page would lie beyond the end of its space: whatever named it is wrong.
    #[error("lies beyond the end of its space, which has {pages} pages")]
    BeyondEnd {
        /// Pages the space has.
        pages: u32,
    },
}

/// An error of the buffer pool.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The bytes found are not the page looked for.
    #[error("page {page} {reason}")]
    Corrupted {
        /// The page looked for.
        page: PageId,
        /// What is wrong with the bytes.
        reason: Corruption,
    },
    /// The device failed to read a page.
    #[error("page {page} cannot be read: {source}")]
    Io {
        /// The page.
        page: PageId,
        /// What the operating system says.
        source: Arc<io::Error>,
    },
    /// The device has no room for more pages.
    #[error("no room to extend space {} to {pages} pages", space.0)]
    NoSpace {
        /// The space to be extended.
        space: SpaceId,
        /// The pages it was to have.
        pages: u32,
    },
    /// The device failed to extend a file.
    #[error("space {} cannot be extended: {source}", space.0)]
    Extend {
        /// The space to be extended.
        space: SpaceId,
        /// What the operating system says.
        source: Arc<io::Error>,
    },
    /// The file system does not take the room of unused pages back.
    #[error("unused pages of space {} cannot be given back to the disk: {source}", space.0)]
    GiveBack {
        /// The space.
        space: SpaceId,
        /// What the operating system says.
        source: Arc<io::Error>,
    },
    /// What recovery has found in a file cannot be made durable.
    #[error("space {} cannot be synced: {source}", space.0)]
    Sync {
        /// The space.
        space: SpaceId,
        /// What the operating system says.
        source: Arc<io::Error>,
    },
    /// The space has been detached: its table was dropped.
    #[error("space {} has been dropped", space.0)]
    Detached {
        /// The space.
        space: SpaceId,
    },
    /// Memory for the pool could not be had.
    #[error("{bytes} bytes for the buffer pool cannot be mapped: {source}")]
    Memory {
        /// Bytes asked for.
        bytes: usize,
        /// What the operating system says.
        source: Arc<io::Error>,
    },
    /// The device has no room for a page's new version (file systems that copy on write need some). The page stays in
    /// memory; writing it will be tried again.
    #[error("no room on disk to write pages: {source}")]
    Full {
        /// What the operating system says.
        source: Arc<io::Error>,
    },
    /// A write or fsync failed before; the pool writes nothing any more.
    #[error("the buffer pool has stopped writing after a failed write")]
    Stopped,
    /// The doublewrite file cannot be made or read.
    #[error("doublewrite file: {0}")]
    Doublewrite(Arc<io::Error>),
}
