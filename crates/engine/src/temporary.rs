//! Temporary files: where a statement puts what it cannot keep in memory.
//!
//! A [`TemporaryFile`] is a list of *blocks*, each written once and read any number of times. Writing and
//! reading never block the caller: both give back a [`Transfer`], whose [event](Transfer::take) an operator
//! waits for as for any other, and any number of them may be under way.
//!
//! ```text
//!   block:  checksum (4) | length of the content (4) | number of the block (8) | content
//! ```
//!
//! The checksum (CRC-32C) covers all that follows it. A block that has another number than the one asked for,
//! or whose checksum is wrong, is an error of reading, and never data.
//!
//! # Names
//!
//! The file is made in `tmp` in the data directory by the first write, and loses its name at once, so that no
//! way in which a statement or the process may end leaves it behind. Between these two calls a crash can:
//! what is in `tmp` when the engine is opened is removed.
//!
//! # Buffers
//!
//! A transfer gives the block's memory back, so that it is freed or used again by the task that allocated it,
//! on whose [account](palisade_io::heap) it is.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::checksum::crc32c;
use palisade_base::error_catalogue::{EE_CANTCREATEFILE, EE_READ, EE_WRITE};
use palisade_base::error_code::ErrorCode;
use palisade_base::{Attempt, Blocked, Event, MysqlError, mysql_error};
use palisade_io::{File, FileSystem, IoPool, OpenMode, Syncing};
use parking_lot::Mutex;

use crate::Engine;
use crate::files::Files;

/// Bytes in front of a block's content.
const HEADER: usize = 16;

/// A block's content, with room for what stands in front of it in the file.
#[derive(Debug)]
pub struct Block {
    bytes: Vec<u8>,
}

impl Default for Block {
    fn default() -> Self {
        Block::with_capacity(0)
    }
}

impl Block {
    /// An empty block with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Block {
        let mut block = Vec::with_capacity(HEADER + bytes);
        block.resize(HEADER, 0);
        Block { bytes: block }
    }

    /// Its content.
    pub fn content(&self) -> &[u8] {
        self.bytes.get(HEADER..).unwrap_or_default()
    }

    /// Bytes of its content.
    pub fn len(&self) -> usize {
        self.bytes.len() - HEADER
    }

    /// Whether it has no content.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds to its content.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes what is behind the first `bytes` of its content away.
    pub(crate) fn truncate(&mut self, bytes: usize) {
        self.bytes.truncate(HEADER + bytes);
    }

    /// Takes its content away.
    pub fn clear(&mut self) {
        self.bytes.truncate(HEADER);
    }

    /// Writes the header of block `number`.
    fn seal(&mut self, number: u64) {
        let len = self.len() as u32;
        self.bytes[4..8].copy_from_slice(&len.to_le_bytes());
        self.bytes[8..HEADER].copy_from_slice(&number.to_le_bytes());
        let checksum = crc32c(&self.bytes[4..]);
        self.bytes[..4].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Whether it is block `number`, as it was sealed.
    fn is_sealed(&self, number: u64) -> bool {
        let len = self.len() as u32;
        self.bytes[..4] == crc32c(&self.bytes[4..]).to_le_bytes()
            && self.bytes[4..8] == len.to_le_bytes()
            && self.bytes[8..HEADER] == number.to_le_bytes()
    }
}

/// Where a block is in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockPlace {
    number: u64,
    offset: u64,
    /// Bytes of the content.
    len: u32,
}

impl BlockPlace {
    /// Bytes of its content.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether it has no content.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A temporary file.
pub struct TemporaryFile {
    shared: Arc<Shared>,
    io: Arc<IoPool>,
    /// Where the next block goes, and its number.
    end: u64,
    blocks: u64,
}

/// What transfers under way have of a file.
struct Shared {
    fs: Arc<dyn FileSystem>,
    dir: PathBuf,
    path: PathBuf,
    file: Mutex<Made>,
}

/// Whether a file has been made.
enum Made {
    No,
    Yes(Arc<dyn File>),
    /// It was, and is not wanted any more.
    Closed,
}

impl Shared {
    /// The file; makes it if there is none yet.
    fn open(&self) -> io::Result<Arc<dyn File>> {
        let mut known = self.file.lock();
        match &*known {
            Made::No => {}
            Made::Yes(file) => return Ok(file.clone()),
            Made::Closed => return Err(io::Error::from_raw_os_error(BAD_DESCRIPTOR)),
        }
        self.fs.create_dir_all(&self.dir)?;
        let file = self.fs.open(&self.path, OpenMode::CREATE_NEW.syncing(Syncing::Never))?;
        *known = Made::Yes(file.clone());
        self.fs.remove(&self.path)?;
        Ok(file)
    }

    /// The file, or the error of making it.
    fn made(&self) -> Result<Arc<dyn File>, MysqlError> {
        self.open().map_err(|error| self.error(&EE_CANTCREATEFILE, &error))
    }

    fn error(&self, code: &'static ErrorCode, error: &io::Error) -> MysqlError {
        mysql_error!(code, self.path.display(), number_of(error), text_of(error))
    }

    fn write(&self, block: &Block, offset: u64) -> Result<(), MysqlError> {
        let written = self.made()?.write_at(&block.bytes, offset);
        written.map_err(|error| self.error(&EE_WRITE, &error))
    }

    fn read(&self, block: &mut Block, place: BlockPlace) -> Result<(), MysqlError> {
        block.bytes.resize(HEADER + place.len(), 0);
        let read = self.made()?.read_at(&mut block.bytes, place.offset);
        let checked = read.and_then(|()| match block.is_sealed(place.number) {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(BAD_MESSAGE)),
        });
        checked.map_err(|error| self.error(&EE_READ, &error))
    }
}

/// EBADMSG: what file systems answer that find a checksum wrong.
const BAD_MESSAGE: i32 = 74;
/// EBADF.
const BAD_DESCRIPTOR: i32 = 9;
/// ENOENT.
const NO_ENTRY: i32 = 2;
/// EACCES.
const NO_PERMISSION: i32 = 13;
/// ENOSPC.
const NO_SPACE: i32 = 28;
/// EROFS.
const READ_ONLY: i32 = 30;
/// EIO.
const INPUT_OUTPUT: i32 = 5;

/// The operating system's number of an error.
fn number_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(match error.kind() {
        io::ErrorKind::NotFound => NO_ENTRY,
        io::ErrorKind::PermissionDenied => NO_PERMISSION,
        io::ErrorKind::ReadOnlyFilesystem => READ_ONLY,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => NO_SPACE,
        _ => INPUT_OUTPUT,
    })
}

/// What is wrong, as the operating system words it and without its number.
fn text_of(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// A write or a read under way.
#[derive(Debug)]
pub struct Transfer {
    event: Event,
    outcome: Arc<Mutex<Option<Result<Block, MysqlError>>>>,
}

impl Transfer {
    /// Whether it has ended, well or not.
    pub fn is_done(&self) -> bool {
        self.event.is_complete()
    }

    /// The block, and its memory: what was read, or what was written. May ask to wait; called again after it
    /// gave a block or an error, it gives an empty block.
    pub fn take(&mut self) -> Attempt<Block, MysqlError> {
        if !self.is_done() {
            return Err(Blocked::Wait(self.event.clone()));
        }
        Ok(self.outcome.lock().take().unwrap_or_else(|| Ok(Block::default()))?)
    }
}

impl TemporaryFile {
    /// Writes a block behind those there are.
    pub fn write(&mut self, mut block: Block) -> (BlockPlace, Transfer) {
        let place = BlockPlace { number: self.blocks, offset: self.end, len: block.len() as u32 };
        self.blocks += 1;
        self.end += block.bytes.len() as u64;
        let shared = self.shared.clone();
        let transfer = self.start(move || {
            block.seal(place.number);
            let written = shared.write(&block, place.offset);
            written.map(|()| block)
        });
        (place, transfer)
    }

    /// Reads a block into the memory of another. It must have been written: the transfer of the write has
    /// given it back.
    pub fn read(&self, place: BlockPlace, mut into: Block) -> Transfer {
        // What the task is to free it allocates itself.
        into.bytes.reserve((HEADER + place.len()).saturating_sub(into.bytes.len()));
        let shared = self.shared.clone();
        self.start(move || {
            let read = shared.read(&mut into, place);
            read.map(|()| into)
        })
    }

    /// Bytes written, or being written.
    pub fn len(&self) -> u64 {
        self.end
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    fn start(&self, work: impl FnOnce() -> Result<Block, MysqlError> + Send + 'static) -> Transfer {
        let transfer = Transfer { event: Event::new(), outcome: Arc::default() };
        let (event, outcome) = (transfer.event.clone(), transfer.outcome.clone());
        self.io.submit(move || {
            let ended = work();
            *outcome.lock() = Some(ended);
            event.complete();
        });
        transfer
    }
}

impl Drop for TemporaryFile {
    /// Giving back the room of a large file takes long: it is done where other work on files is.
    fn drop(&mut self) {
        let shared = self.shared.clone();
        self.io.submit(move || {
            let file = std::mem::replace(&mut *shared.file.lock(), Made::Closed);
            drop(file);
        });
    }
}

impl std::fmt::Debug for TemporaryFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TemporaryFile({}, {} bytes)", self.shared.path.display(), self.end)
    }
}

/// How many temporary files there have been: each has a name of its own.
#[derive(Debug, Default)]
pub(crate) struct TemporaryFiles(AtomicU64);

impl TemporaryFiles {
    fn next_name(&self) -> String {
        format!("#sql-{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

impl Engine {
    /// A new temporary file. It takes no place on the disk until something is written.
    pub fn temporary_file(&self) -> TemporaryFile {
        let dir = self.files.temporary_dir();
        let path = dir.join(self.temporary.next_name());
        let shared = Shared { fs: self.files.disk.clone(), dir, path, file: Mutex::new(Made::No) };
        TemporaryFile { shared: Arc::new(shared), io: self.io.clone(), end: 0, blocks: 0 }
    }
}

/// Removes the temporary files that a crash has left.
pub(crate) fn sweep(files: &Files) -> io::Result<()> {
    let dir = files.temporary_dir();
    if !files.disk.exists(&dir)? {
        return Ok(());
    }
    let mut swept = Ok(());
    for file in files.disk.list(&dir)? {
        let name = file.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with("#sql-")) {
            swept = swept.and(files.disk.remove(&file));
        }
    }
    swept
}

#[cfg(test)]
mod tests;
