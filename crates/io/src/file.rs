//! What the layers above may do to storage: the [`File`] and [`FileSystem`] traits.

use std::any::Any;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::counts::FileCounts;
use crate::syncing::{SyncRule, Syncing};

/// How a file is opened: for reading and writing, unless it is said to be [read only](Self::read_only).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenMode {
    creation: Creation,
    direct: bool,
    reads_only: bool,
    syncing: Syncing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Creation {
    Existing,
    Create,
    CreateNew,
}

impl OpenMode {
    const fn new(creation: Creation) -> OpenMode {
        OpenMode { creation, direct: false, reads_only: false, syncing: Syncing::OnRequest }
    }

    /// The file must exist.
    pub const EXISTING: OpenMode = OpenMode::new(Creation::Existing);
    /// The file is created if it does not exist.
    pub const CREATE: OpenMode = OpenMode::new(Creation::Create);
    /// The file is created, and must not exist.
    pub const CREATE_NEW: OpenMode = OpenMode::new(Creation::CreateNew);

    /// The same, past the operating system's page cache where the file system can. Offsets, lengths and
    /// buffers must then be multiples of [`File::alignment`].
    #[must_use]
    pub const fn direct(mut self) -> OpenMode {
        self.direct = true;
        self
    }

    /// The same for reading: nothing may be written through it, and the file may be one that cannot be
    /// written.
    #[must_use]
    pub const fn read_only(mut self) -> OpenMode {
        self.reads_only = true;
        self
    }

    /// The same, with what is written becoming durable at another time than by [`File::sync`].
    #[must_use]
    pub const fn syncing(mut self, syncing: Syncing) -> OpenMode {
        self.syncing = syncing;
        self
    }

    pub(crate) fn when_synced(self) -> Syncing {
        self.syncing
    }

    pub(crate) fn creation(self) -> Creation {
        self.creation
    }

    pub(crate) fn is_read_only(self) -> bool {
        self.reads_only
    }

    pub(crate) fn is_direct(self) -> bool {
        self.direct
    }
}

/// An open file. Calls are positioned and may come from any number of threads; they block.
pub trait File: Send + Sync {
    /// Fills `buf` from `offset` on. Reading past the end is [`io::ErrorKind::UnexpectedEof`].
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`, extending the file if it ends before. Not durable until
    /// [`File::sync`].
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes everything written before the call durable, and the length needed to read it (`fdatasync`), as
    /// far as the [`Syncing`] the file was opened with wants that. After an error nothing is known about what
    /// was written: it must not be called again in the hope that it succeeds.
    fn sync(&self) -> io::Result<()>;

    /// Whether [`sync`](Self::sync) would do anything now.
    fn is_sync_due(&self) -> bool {
        true
    }

    /// As [`sync`](Self::sync), and makes durable also what [`Syncing::Metadata`] leaves to the device.
    fn sync_contents(&self) -> io::Result<()> {
        self.sync()
    }

    /// Whether a write that has returned is with the device, and not in the operating system's cache.
    fn is_past_cache(&self) -> bool {
        false
    }

    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Whether the length is 0.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Bytes that the file takes on the disk: fewer than its length where it has holes.
    fn allocated(&self) -> io::Result<u64>;

    /// Cuts the file off at `len`, or extends it with zeros that take no space.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Takes the space for `[offset, offset + len)` from the disk, extending the file if it ends before. What
    /// was not written before reads as zeros. A full disk is reported here, not by later writes to the range.
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()>;

    /// Gives the space of `[offset, offset + len)` back; the range reads as zeros. The length does not
    /// change.
    fn punch_hole(&self, offset: u64, len: u64) -> io::Result<()>;

    /// Where what is done to it is [counted](crate::counts); a file that is none of the operating system's
    /// counts nothing.
    fn counts(&self) -> Option<&FileCounts> {
        None
    }

    /// What offsets, lengths and buffer addresses must be multiples of, in bytes: 1 unless opened
    /// [direct](OpenMode::direct).
    fn alignment(&self) -> usize;

    /// Whether [`write_atomic_at`](Self::write_atomic_at) of `len` bytes, a power of two, at a multiple of
    /// `len` is carried out whole or not at all, also if the power fails; else why not.
    fn atomic_writes(&self, _len: usize) -> Result<(), NotAtomic> {
        Err(NotAtomic::Unknown)
    }

    /// As [`write_at`](Self::write_at), but whole or not at all. [`io::ErrorKind::Unsupported`] if that is
    /// refused; then nothing has been written.
    fn write_atomic_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(refused_atomic(NotAtomic::Unknown))
    }

    /// Where requests for this file may be handed to the operating system past these calls; `None` where the
    /// calls do more than it would: a file in memory, one with faults.
    fn descriptor(&self) -> Option<Descriptor<'_>> {
        None
    }
}

/// Why it is not promised that a write is carried out whole or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAtomic {
    /// The kernel or the file system does not say what it writes whole.
    Unknown,
    /// The file is written through the operating system's cache.
    Cached,
    /// So many bytes are written whole at most; 0 where nothing is.
    Only(u32),
    /// The device writes so many bytes whole at most; the file system would write more to another place
    /// first.
    Emulated(u32),
}

impl std::fmt::Display for NotAtomic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotAtomic::Unknown => {
                f.write_str("the kernel or the file system does not tell what it writes whole")
            }
            NotAtomic::Cached => f.write_str("the files are written through the page cache"),
            NotAtomic::Only(0) => f.write_str("file system and device write nothing whole"),
            NotAtomic::Only(most) => write!(f, "file system and device write {most} bytes whole at most"),
            NotAtomic::Emulated(most) => {
                write!(
                    f,
                    "the device writes {most} bytes whole at most; the file system would copy what is more"
                )
            }
        }
    }
}

/// The error of a write that was to be whole and is refused.
pub(crate) fn refused_atomic(why: impl std::fmt::Display) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("a write was to be carried out whole or not at all: {why}"),
    )
}

/// An open file of the operating system, for requests that are handed to it together. Who completes one does
/// what the call in its place would have done to the file's rule of syncing.
#[derive(Clone, Copy)]
pub struct Descriptor<'a> {
    pub(crate) fd: BorrowedFd<'a>,
    pub(crate) rule: &'a SyncRule,
    pub(crate) alignment: usize,
}

impl Descriptor<'_> {
    /// Whether the operating system accepts memory at this address.
    pub(crate) fn takes(&self, memory: *const u8) -> bool {
        (memory as usize).is_multiple_of(self.alignment)
    }
}

/// Holds a directory for this process until dropped; see [`FileSystem::lock_dir`].
pub struct DirLock(#[expect(dead_code, reason = "held for its Drop")] Box<dyn Any + Send + Sync>);

impl DirLock {
    pub(crate) fn new(held: impl Any + Send + Sync) -> Self {
        DirLock(Box::new(held))
    }
}

impl std::fmt::Debug for DirLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DirLock")
    }
}

/// A tree of files. Creating, removing and renaming is durable after [`FileSystem::sync_dir`] of the
/// directory.
pub trait FileSystem: Send + Sync {
    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>>;

    /// Creates a directory and its missing parents; durably, where the file system distinguishes.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;

    /// Removes a file. Whoever has it open may go on using it.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Renames a file, replacing what has the new name. Atomic: a crash leaves the old or the new state.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Whether there is a file or directory of this name.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// The files directly in a directory, by full path, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;

    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Whether the sync of a file in `synced` makes durable what is [past the cache](File::is_past_cache) of
    /// files in `written`, as far as it has overwritten what was durable there: both are on one device, whose
    /// cache is emptied as a whole, and the file system writes where the file has been. `false` where that is
    /// not known.
    fn one_flush_covers(&self, _synced: &Path, _written: &Path) -> bool {
        false
    }

    /// Takes a directory for this server alone. If another has it, the error's kind is
    /// [`io::ErrorKind::ResourceBusy`] and its text says who.
    fn lock_dir(&self, dir: &Path) -> io::Result<DirLock>;

    /// The same for a reader that must not change anything, the lock's file included: in a directory that no
    /// server has ever used nothing is locked.
    fn lock_dir_unchanged(&self, dir: &Path) -> io::Result<DirLock> {
        self.lock_dir(dir)
    }
}

/// `UnexpectedEof`, in the words that all file systems here use.
pub(crate) fn past_the_end(offset: u64, len: usize, file_len: u64) -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        format!("read of {len} bytes at {offset} in a file of {file_len} bytes"),
    )
}
