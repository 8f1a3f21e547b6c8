//! Writes and syncs of one thread, many at a time.
//!
//! A page cleaner has a hundred pages to write, to places all over a few files. One after the other they cost
//! the disk's latency each; handed over together they cost it about once. A [`WriteQueue`] does that
//!
//! | with | where |
//! |---|---|
//! | io_uring | all files are the operating system's, and it has io_uring |
//! | the threads of an [`IoPool`] | else |
//! | calls in order | the pool is [inline](IoPool::inline): simulations, which inject their faults into single calls |

use std::io;
use std::sync::Arc;

use crate::file::File;
use crate::os::cut_short;
use crate::pool::IoPool;
use crate::ring::{Request, Ring};

/// Bytes for a place in a file.
pub struct Write<'a> {
    /// The file.
    pub file: &'a Arc<dyn File>,
    /// All of these are written.
    pub bytes: &'a [u8],
    /// Where they go, in bytes from the file's beginning.
    pub offset: u64,
    /// Whether they may be written in part.
    pub extent: Extent,
}

/// How much of a write may have been carried out when something stops it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Any part.
    Any,
    /// All or nothing; see [`File::write_atomic_at`].
    Whole,
}

impl Write<'_> {
    /// Writes by a call, which blocks.
    fn carry_out(&self) -> io::Result<()> {
        match self.extent {
            Extent::Any => self.file.write_at(self.bytes, self.offset),
            Extent::Whole => self.file.write_atomic_at(self.bytes, self.offset),
        }
    }
}

/// Carries out writes and syncs for one thread at a time.
pub struct WriteQueue {
    pool: Arc<IoPool>,
    ring: Option<Ring>,
}

impl WriteQueue {
    /// A queue beside `pool`, which does the work where io_uring cannot.
    pub fn new(pool: Arc<IoPool>) -> WriteQueue {
        let ring = pool.uses_rings().then(Ring::open).flatten();
        WriteQueue { pool, ring }
    }

    /// Does all of `writes`, in no order; they do not overlap. Waits for all of them, also if one fails. The
    /// error of the first of `writes` that failed; as after [`File::write_at`], nothing is known of what that
    /// one wrote.
    pub fn write_all(&mut self, writes: &[Write<'_>]) -> io::Result<()> {
        let by_ring =
            |write: &Write<'_>| write.file.descriptor().is_some_and(|file| file.takes(write.bytes.as_ptr()));
        match &mut self.ring {
            Some(ring) if writes.iter().all(by_ring) => write_by_ring(ring, writes),
            _ => self.pool.for_each(writes.len(), &|at| writes[at].carry_out()),
        }
    }

    /// Syncs all of `files`, in no order, as [`File::sync`] does. Waits for all of them, also if one fails.
    pub fn sync_all(&mut self, files: &[Arc<dyn File>]) -> io::Result<()> {
        match &mut self.ring {
            Some(ring) if files.len() > 1 && files.iter().all(|file| file.descriptor().is_some()) => {
                sync_by_ring(ring, files)
            }
            _ => self.pool.for_each(files.len(), &|at| files[at].sync()),
        }
    }

    /// Runs `task`, which blocks, for each of `0..count`, several at a time where the pool has threads, and
    /// waits for all. The error of the first that failed; an inline pool stops at it.
    pub fn for_each(&self, count: usize, task: &(dyn Fn(usize) -> io::Result<()> + Sync)) -> io::Result<()> {
        self.pool.for_each(count, task)
    }
}

fn write_by_ring(ring: &mut Ring, writes: &[Write<'_>]) -> io::Result<()> {
    let mut first = FirstError::default();
    let request = |at: usize| {
        let Write { file, bytes, offset, extent } = writes[at];
        Request::Write(file.descriptor().expect("asked before"), bytes, offset, extent)
    };
    ring.run(writes.len(), request, |at, outcome| {
        let Write { file, bytes, offset, extent } = writes[at];
        let ended = match outcome {
            Ok(written) => {
                file.descriptor().expect("asked before").rule.wrote(offset, written as u64);
                // The kernel may stop in the middle, at a full disk for one: the rest says why.
                match written == bytes.len() {
                    true => Ok(()),
                    false if extent == Extent::Whole => Err(cut_short(written)),
                    false => file.write_at(&bytes[written..], offset + written as u64),
                }
            }
            Err(error) if is_refusal(&error) => writes[at].carry_out(),
            Err(error) => Err(error),
        };
        first.note(at, ended);
    });
    first.into_result()
}

fn sync_by_ring(ring: &mut Ring, files: &[Arc<dyn File>]) -> io::Result<()> {
    let due: Vec<_> = files
        .iter()
        .filter_map(|file| {
            let descriptor = file.descriptor()?;
            Some((descriptor, descriptor.rule.due()?))
        })
        .collect();
    let mut first = FirstError::default();
    ring.run(
        due.len(),
        |at| Request::Sync(due[at].0),
        |at, outcome| {
            let ended = outcome.map(|_| due[at].0.rule.ended(due[at].1));
            first.note(at, ended);
        },
    );
    first.into_result()
}

/// Whether the kernel has not begun the request, so that the plain call may be tried.
fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR | libc::EOPNOTSUPP | libc::EINVAL))
}

/// The error of the request that comes first in the order in which they were asked for.
#[derive(Default)]
pub(crate) struct FirstError(Option<(usize, io::Error)>);

impl FirstError {
    pub(crate) fn note(&mut self, at: usize, outcome: io::Result<()>) {
        if let Err(error) = outcome
            && self.0.as_ref().is_none_or(|(first, _)| at < *first)
        {
            self.0 = Some((at, error));
        }
    }

    pub(crate) fn into_result(self) -> io::Result<()> {
        self.0.map_or(Ok(()), |(_, error)| Err(error))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{AlignedBuf, FileSystem, MemFileSystem, OpenMode, OsFileSystem, Syncing, Waiting};

    const BLOCK: usize = 4096;

    /// One of each kind: by ring (where the kernel has it), by threads, in order.
    fn queues() -> Vec<(&'static str, WriteQueue)> {
        let threads = Arc::new(IoPool::new(3, Waiting::Kernel).unwrap());
        let ring = WriteQueue::new(threads.clone());
        let by_threads = WriteQueue { pool: threads, ring: None };
        vec![
            ("ring", ring),
            ("threads", by_threads),
            ("in order", WriteQueue::new(Arc::new(IoPool::inline()))),
        ]
    }

    #[test]
    fn all_bytes_get_to_their_places_in_several_files() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mut queue) in queues() {
            for fs in [&OsFileSystem as &dyn FileSystem, &MemFileSystem::new()] {
                let open = |number: usize| {
                    let path = dir.path().join(format!("{name}-{number}"));
                    fs.open(&path, OpenMode::CREATE.direct()).unwrap()
                };
                fs.create_dir_all(dir.path()).unwrap();
                let files: Vec<Arc<dyn File>> = (0..3).map(open).collect();
                // More than the ring has room for at a time.
                let mut bytes = AlignedBuf::zeroed(400 * BLOCK);
                bytes.chunks_exact_mut(BLOCK).enumerate().for_each(|(at, block)| block.fill(at as u8));
                let writes: Vec<Write<'_>> = bytes
                    .chunks_exact(BLOCK)
                    .enumerate()
                    .map(|(at, block)| Write {
                        file: &files[at % 3],
                        bytes: block,
                        offset: (at / 3 * BLOCK) as u64,
                        extent: Extent::Any,
                    })
                    .collect();
                queue.write_all(&writes).unwrap();
                queue.sync_all(&files).unwrap();
                let mut read = AlignedBuf::zeroed(BLOCK);
                for at in 0..400 {
                    files[at % 3].read_at(&mut read, (at / 3 * BLOCK) as u64).unwrap();
                    assert!(read.iter().all(|byte| *byte == at as u8), "{name}: block {at}");
                }
            }
        }
    }

    #[test]
    fn memory_that_direct_io_does_not_accept_is_written_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mut queue) in queues() {
            let file = OsFileSystem.open(&dir.path().join(name), OpenMode::CREATE_NEW.direct()).unwrap();
            let bytes = AlignedBuf::zeroed(2 * BLOCK);
            let writes = [Write { file: &file, bytes: &bytes[1..=BLOCK], offset: 0, extent: Extent::Any }];
            queue.write_all(&writes).unwrap();
            assert_eq!(file.len().unwrap(), BLOCK as u64);
        }
    }

    #[test]
    fn a_sync_counts_for_what_the_file_wants_synced() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mut queue) in queues() {
            let open = |number: u32| {
                let mode = OpenMode::CREATE_NEW.syncing(Syncing::Metadata);
                OsFileSystem.open(&dir.path().join(format!("{name}-{number}")), mode).unwrap()
            };
            let files = [open(1), open(2)];
            let is_due = |file: &Arc<dyn File>| file.descriptor().unwrap().rule.due().is_some();
            let writes: Vec<Write<'_>> = files
                .iter()
                .map(|file| Write { file, bytes: &[1; BLOCK], offset: 0, extent: Extent::Any })
                .collect();
            for first in [true, false] {
                queue.write_all(&writes).unwrap();
                assert!(
                    files.iter().all(|file| is_due(file) == first),
                    "{name}: a block's first write is synced"
                );
                queue.sync_all(&files).unwrap();
                assert!(!files.iter().any(is_due), "{name}");
            }
        }
    }

    #[test]
    fn the_first_error_is_told_and_the_others_are_done() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mut queue) in queues() {
            let path = dir.path().join(name);
            let good = OsFileSystem.open(&path, OpenMode::CREATE_NEW).unwrap();
            // Beyond what any file may have.
            let bad =
                Write { file: &good, bytes: &[1; 16], offset: i64::MAX as u64 - 4, extent: Extent::Any };
            let writes = [Write { file: &good, bytes: &[7; 16], offset: 0, extent: Extent::Any }, bad];
            assert!(queue.write_all(&writes).is_err(), "{name}");
            let mut read = [0; 16];
            good.read_at(&mut read, 0).unwrap();
            assert_eq!(read, [7; 16], "{name}");
        }
    }

    /// Where the kernel does not do it, it is not done otherwise either.
    #[test]
    fn a_write_that_is_to_be_whole_is_whole_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mut queue) in queues() {
            let path = dir.path().join(name);
            let file = OsFileSystem.open(&path, OpenMode::CREATE_NEW.direct()).unwrap();
            let mut bytes = AlignedBuf::zeroed(4 * BLOCK);
            file.write_at(&bytes, 0).unwrap();
            bytes.fill(7);
            let outcome =
                queue.write_all(&[Write { file: &file, bytes: &bytes, offset: 0, extent: Extent::Whole }]);
            let mut read = AlignedBuf::zeroed(4 * BLOCK);
            file.read_at(&mut read, 0).unwrap();
            let expected = match outcome {
                Ok(()) => 7,
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{name}: {error}");
                    assert!(file.atomic_writes(bytes.len()).is_err(), "{name}");
                    0
                }
            };
            assert!(read.iter().all(|byte| *byte == expected), "{name}");
        }
    }
}
