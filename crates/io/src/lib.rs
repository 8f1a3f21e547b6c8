//! The seam to the disk: files, directories, and the threads that wait for them.
//!
//! Everything above reaches storage through [`FileSystem`] and [`File`], so that one and the same engine runs
//! on
//!
//! | implementation | for |
//! |---|---|
//! | [`OsFileSystem`] | the server: positioned reads and writes, `fdatasync`, optionally `O_DIRECT` and `O_DSYNC` |
//! | [`MemFileSystem`] | tests that want speed |
//! | [`FaultFileSystem`] | tests that want trouble: crashes that keep, lose or tear what was not synced, errors at the n-th call, a full disk |
//! | [`ScratchFileSystem`] | looking into a damaged directory: reads below, keeps in memory what is written |
//! | [`OverlayFileSystem`] | one of these that does a few calls otherwise: slowly, or not at all |
//!
//! [`Syncing`] says when what is written to a file becomes durable. [`AlignedBuf`] is memory that direct I/O
//! accepts. [`IoPool`] is where blocking calls wait, so that no worker does, and reads; [`WriteQueue`] has
//! many writes under way for one thread. Both use io_uring where the kernel has it. [`Placement`] is which
//! processors a thread may run on. [`heap`] counts the memory that a task holds, [`counts`] what is done to
//! files.
//!
//! Deliberately absent: any knowledge of pages or of the log.

mod affinity;
mod aligned;
mod batch;
pub mod counts;
mod crew;
mod fault;
mod file;
pub mod heap;
mod mem;
mod os;
mod overlay;
mod pool;
mod reads;
mod ring;
mod scratch;
mod sparse;
mod syncing;

pub use affinity::{CpuList, Placement, Stay};
pub use aligned::{AlignedBuf, DIRECT_IO_ALIGNMENT};
pub use batch::{Extent, Write, WriteQueue};
pub use fault::{Call, CrashKeeps, Device, Fault, FaultFileSystem, PendingSector};
pub use file::{Descriptor, DirLock, File, FileSystem, NotAtomic, OpenMode};
pub use mem::MemFileSystem;
pub use os::OsFileSystem;
pub use overlay::{Overlay, OverlayFileSystem};
pub use pool::{IoPool, Waiting};
pub use reads::{Part, Read};
pub use scratch::ScratchFileSystem;
pub use syncing::Syncing;
