//! The operating system's files.

use std::fs;
use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FallocateFlags, StatxFlags, statx};
use rustix::io::{Errno, ReadWriteFlags};

use crate::aligned::{AlignedBuf, DIRECT_IO_ALIGNMENT};
use crate::counts::FileCounts;
use crate::file::{
    Creation, Descriptor, DirLock, File, FileSystem, NotAtomic, OpenMode, past_the_end, refused_atomic,
};
use crate::syncing::SyncRule;

/// The file whose lock means "this directory has a server".
const LOCK_FILE: &str = "palisade.lock";

/// [`FileSystem`] on the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsFileSystem;

/// What statfs says of ext4.
const EXT4: rustix::fs::FsWord = 0xef53;

/// Permissions of files that are created, less what the umask takes: the owner's and, to read, the group's.
const FILE_MODE: u32 = 0o640;
/// The same of directories.
const DIRECTORY_MODE: u32 = 0o750;
/// What users have who are neither the owner nor of the group.
const OTHERS: u32 = 0o007;

impl OsFileSystem {
    /// The file system.
    pub fn new() -> Self {
        OsFileSystem
    }
}

impl FileSystem for OsFileSystem {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let file = open(path, mode, mode.is_direct()).map_err(|error| about("open", path, &error))?;
        Ok(Arc::new(file))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let missing: Vec<&Path> =
            path.ancestors().take_while(|dir| !dir.as_os_str().is_empty() && !dir.exists()).collect();
        let made = fs::DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path);
        made.map_err(|error| about("create directory", path, &error))?;
        for dir in missing {
            self.sync_dir(parent(dir))?;
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path).map_err(|error| about("remove", path, &error))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to).map_err(|error| about("rename", from, &error))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists().map_err(|error| about("look for", path, &error))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(dir).map_err(|error| about("list", dir, &error))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let synced = fs::File::open(dir).and_then(|dir| dir.sync_all());
        synced.map_err(|error| about("sync directory", dir, &error))
    }

    fn one_flush_covers(&self, synced: &Path, written: &Path) -> bool {
        let device = |dir: &Path| fs::metadata(dir).map(|found| found.dev());
        let is_one = matches!((device(synced), device(written)), (Ok(a), Ok(b)) if a == b);
        // Others copy on write, always or where a file has been cloned: what is new is found by metadata
        // then.
        is_one && rustix::fs::statfs(written).is_ok_and(|found| found.f_type == EXT4)
    }

    fn lock_dir(&self, dir: &Path) -> io::Result<DirLock> {
        let path = dir.join(LOCK_FILE);
        let mut file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FILE_MODE)
            .open(&path)
            .map_err(|error| about("open", &path, &error))?;
        lock(&mut file, dir, &path)?;
        close_to_others(dir);
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        writeln!(file, "{}", std::process::id())?;
        Ok(DirLock::new(file))
    }

    fn lock_dir_unchanged(&self, dir: &Path) -> io::Result<DirLock> {
        let path = dir.join(LOCK_FILE);
        let mut file = match fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DirLock::new(())),
            Err(error) => return Err(about("open", &path, &error)),
        };
        lock(&mut file, dir, &path)?;
        Ok(DirLock::new(file))
    }
}

/// Locks the file `path` of `dir`; an error names the process that has locked it.
fn lock(file: &mut fs::File, dir: &Path, path: &Path) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(fs::TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = match holder.trim() {
                "" => String::new(),
                process => format!(" (process {process})"),
            };
            Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!("the directory {} is in use by another server{holder}", dir.display()),
            ))
        }
        Err(fs::TryLockError::Error(error)) => Err(about("lock", path, &error)),
    }
}

/// Takes other users' access from a directory that was made before it was locked, by hand or by an earlier
/// version: what is in it - password hashes, rows - is the server's. Who may not change that is not the
/// directory's owner, and answers for it.
fn close_to_others(dir: &Path) {
    let Ok(metadata) = fs::metadata(dir) else { return };
    let mode = metadata.permissions().mode();
    if mode & OTHERS != 0 {
        let _ = fs::set_permissions(dir, fs::Permissions::from_mode(mode & !OTHERS));
    }
}

/// The directory a file is in, as a path that can be opened.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The same error, saying what was attempted on which file.
fn about(action: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {action} {}: {error}", path.display()))
}

fn open(path: &Path, mode: OpenMode, direct: bool) -> io::Result<OsFile> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(!mode.is_read_only()).mode(FILE_MODE);
    match mode.creation() {
        Creation::Existing => {}
        Creation::Create => {
            options.create(true);
        }
        Creation::CreateNew => {
            options.create_new(true);
        }
    }
    let rule = SyncRule::new(mode.when_synced());
    let direct_flag = if direct { libc::O_DIRECT } else { 0 };
    let sync_flag = if rule.is_each_write() { libc::O_DSYNC } else { 0 };
    options.custom_flags(direct_flag | sync_flag);
    match options.open(path) {
        Ok(file) => {
            let alignment = if direct { DIRECT_IO_ALIGNMENT } else { 1 };
            Ok(OsFile { file, rule, alignment, counts: FileCounts::default() })
        }
        // A file system without direct I/O says EINVAL, after creating the file.
        Err(error) if direct && error.raw_os_error() == Some(libc::EINVAL) => {
            let is_new = mode.creation() == Creation::CreateNew;
            let existing = if is_new { OpenMode::CREATE.syncing(mode.when_synced()) } else { mode };
            open(path, existing, false)
        }
        Err(error) => Err(error),
    }
}

struct OsFile {
    file: fs::File,
    rule: SyncRule,
    alignment: usize,
    counts: FileCounts,
}

impl OsFile {
    /// Whether direct I/O needs a detour through an aligned buffer for this one.
    fn is_misaligned(&self, buf: &[u8]) -> bool {
        self.alignment > 1 && !(buf.as_ptr() as usize).is_multiple_of(self.alignment)
    }
}

impl File for OsFile {
    fn counts(&self) -> Option<&FileCounts> {
        Some(&self.counts)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let read = if self.is_misaligned(buf) {
            let mut aligned = AlignedBuf::zeroed(buf.len());
            let read = self.file.read_exact_at(&mut aligned, offset);
            buf.copy_from_slice(&aligned);
            read
        } else {
            self.file.read_exact_at(buf, offset)
        };
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => past_the_end(offset, buf.len(), self.len().unwrap_or(0)),
            _ => error,
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.is_misaligned(bytes) {
            let mut aligned = AlignedBuf::zeroed(bytes.len());
            aligned.copy_from_slice(bytes);
            self.file.write_all_at(&aligned, offset)?;
        } else {
            self.file.write_all_at(bytes, offset)?;
        }
        self.rule.wrote(offset, bytes.len() as u64);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.rule.sync(|| self.file.sync_data())
    }

    fn is_sync_due(&self) -> bool {
        self.rule.due().is_some()
    }

    fn sync_contents(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn is_past_cache(&self) -> bool {
        // Opened so is not enough: ext4 with data=journal takes the flag and writes into the cache.
        let mask = StatxFlags::from_bits_retain(libc::STATX_DIOALIGN);
        let found = || statx(&self.file, "", AtFlags::EMPTY_PATH, mask);
        self.alignment > 1
            && found().is_ok_and(|found| found.stx_mask & mask.bits() != 0 && found.stx_dio_offset_align > 0)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn allocated(&self) -> io::Result<u64> {
        /// What `st_blocks` counts, whatever the file system's blocks are.
        const COUNTED: u64 = 512;
        Ok(self.file.metadata()?.blocks() * COUNTED)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)?;
        self.rule.resized();
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), offset, len) {
            // Without fallocate, writing zeros past the end takes the space; what is there stays.
            Err(rustix::io::Errno::OPNOTSUPP) => self.write_zeros_past_end(offset + len)?,
            result => result?,
        }
        self.rule.resized();
        Ok(())
    }

    fn punch_hole(&self, offset: u64, len: u64) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&self.file, flags, offset, len)?;
        self.rule.punched(offset, len);
        Ok(())
    }

    fn alignment(&self) -> usize {
        self.alignment
    }

    fn atomic_writes(&self, len: usize) -> Result<(), NotAtomic> {
        if self.alignment == 1 {
            return Err(NotAtomic::Cached);
        }
        let mask = StatxFlags::from_bits_retain(libc::STATX_WRITE_ATOMIC);
        let found = statx(&self.file, "", AtFlags::EMPTY_PATH, mask).map_err(|_| NotAtomic::Unknown)?;
        if found.stx_mask & mask.bits() == 0 {
            return Err(NotAtomic::Unknown);
        }
        let [least, most, by_device] = [
            found.stx_atomic_write_unit_min,
            found.stx_atomic_write_unit_max,
            found.stx_atomic_write_unit_max_opt,
        ];
        judge_atomic(len, least, most, by_device)
    }

    fn write_atomic_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.is_misaligned(bytes) {
            return Err(refused_atomic("its memory is not aligned"));
        }
        let flags = ReadWriteFlags::from_bits_retain(libc::RWF_ATOMIC as u32);
        loop {
            match rustix::io::pwritev2(&self.file, &[IoSlice::new(bytes)], offset, flags) {
                Ok(written) if written == bytes.len() => break,
                Ok(written) => return Err(cut_short(written)),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error @ (Errno::INVAL | Errno::OPNOTSUPP)) => return Err(refused_atomic(error)),
                Err(error) => return Err(error.into()),
            }
        }
        self.rule.wrote(offset, bytes.len() as u64);
        Ok(())
    }

    fn descriptor(&self) -> Option<Descriptor<'_>> {
        Some(Descriptor { fd: self.file.as_fd(), rule: &self.rule, alignment: self.alignment })
    }
}

/// Whether `len` bytes are written whole where the kernel says `least` and `most`, and of that the device
/// `by_device` (0: all of it).
fn judge_atomic(len: usize, least: u32, most: u32, by_device: u32) -> Result<(), NotAtomic> {
    let len = len as u64;
    if len < u64::from(least) || len > u64::from(most) {
        return Err(NotAtomic::Only(most));
    }
    match by_device {
        1.. if u64::from(by_device) < len => Err(NotAtomic::Emulated(by_device)),
        _ => Ok(()),
    }
}

/// A write that was to be whole has ended in the middle: the kernel does not keep its word.
pub(crate) fn cut_short(written: usize) -> io::Error {
    io::Error::other(format!("a write that was to be whole ended after {written} bytes"))
}

impl OsFile {
    fn write_zeros_past_end(&self, end: u64) -> io::Result<()> {
        let zeros = AlignedBuf::zeroed(1 << 20);
        let mut offset = self.len()?;
        while offset < end {
            let step = (end - offset).min(zeros.len() as u64);
            self.write_at(&zeros[..step as usize], offset)?;
            offset += step;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Syncing;

    fn temporary() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn permissions(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn other_users_of_the_machine_read_nothing() {
        let dir = temporary();
        let data = dir.path().join("made/data");
        OsFileSystem.create_dir_all(&data.join("spaces")).unwrap();
        let _lock = OsFileSystem.lock_dir(&data).unwrap();
        let file = data.join("spaces/1");
        drop(OsFileSystem.open(&file, OpenMode::CREATE_NEW).unwrap());
        for directory in [&data, &data.join("spaces")] {
            assert_eq!(permissions(directory) & !DIRECTORY_MODE, 0, "{}", directory.display());
        }
        for file in [file, data.join(LOCK_FILE)] {
            assert_eq!(permissions(&file) & !FILE_MODE, 0, "{}", file.display());
        }
        // One that was there before is closed to others; what its group may do stays.
        let old = dir.path().join("old");
        fs::create_dir(&old).unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o775)).unwrap();
        let _lock = OsFileSystem.lock_dir(&old).unwrap();
        assert_eq!(permissions(&old), 0o770);
    }

    #[test]
    fn a_reader_changes_nothing_and_respects_a_server() {
        let dir = temporary();
        let lock_file = dir.path().join(LOCK_FILE);
        drop(OsFileSystem.lock_dir_unchanged(dir.path()).unwrap());
        assert!(!lock_file.exists());
        let server = OsFileSystem.lock_dir(dir.path()).unwrap();
        let error = OsFileSystem.lock_dir_unchanged(dir.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
        drop(server);
        fs::write(&lock_file, "77\n").unwrap();
        let reader = OsFileSystem.lock_dir_unchanged(dir.path()).unwrap();
        assert_eq!(fs::read_to_string(&lock_file).unwrap(), "77\n");
        assert!(OsFileSystem.lock_dir(dir.path()).is_err());
        drop(reader);
        let path = dir.path().join("file");
        fs::write(&path, [7; 8]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        let file = OsFileSystem.open(&path, OpenMode::EXISTING.read_only()).unwrap();
        let mut bytes = [0; 8];
        file.read_at(&mut bytes, 0).unwrap();
        assert_eq!(bytes, [7; 8]);
        assert!(file.write_at(&[1], 0).is_err());
    }

    #[test]
    fn a_file_reads_back_what_was_written_with_and_without_direct_io() {
        let dir = temporary();
        for (name, mode) in [("plain", OpenMode::CREATE_NEW), ("direct", OpenMode::CREATE_NEW.direct())] {
            let path = dir.path().join(name);
            let file = OsFileSystem.open(&path, mode).unwrap();
            let bytes: Vec<u8> = (0..8192u32).map(|i| i as u8).collect();
            file.allocate(0, 16384).unwrap();
            file.write_at(&bytes, 4096).unwrap();
            file.sync().unwrap();
            assert_eq!(file.len().unwrap(), 16384);
            let mut read = vec![1u8; 16384];
            file.read_at(&mut read, 0).unwrap();
            assert!(read[..4096].iter().all(|byte| *byte == 0));
            assert_eq!(read[4096..12288], bytes);
            let before = file.allocated().unwrap();
            file.punch_hole(4096, 4096).unwrap();
            assert!(file.allocated().unwrap() < before, "this file system punches no holes");
            file.read_at(&mut read[..4096], 4096).unwrap();
            assert!(read[..4096].iter().all(|byte| *byte == 0));
            let error = file.read_at(&mut read, 4096).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            assert!(OsFileSystem.open(&path, OpenMode::CREATE_NEW).is_err());
        }
        assert_eq!(OsFileSystem.list(dir.path()).unwrap().len(), 2);
    }

    /// The flags that the operating system has for an open file of this name.
    fn open_flags(path: &Path) -> i32 {
        let links = fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
        let link =
            links.into_iter().find(|link| fs::read_link(link.path()).is_ok_and(|target| target == path));
        let number = link.expect("the file is open").file_name().into_string().unwrap();
        let info = fs::read_to_string(format!("/proc/self/fdinfo/{number}")).unwrap();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
        i32::from_str_radix(flags.trim(), 8).unwrap()
    }

    #[test]
    fn the_operating_system_is_told_when_each_write_is_to_be_durable() {
        let dir = temporary();
        for (name, syncing, flag) in [
            ("request", Syncing::OnRequest, 0),
            ("each", Syncing::EachWrite, libc::O_DSYNC),
            ("metadata", Syncing::Metadata, 0),
            ("never", Syncing::Never, 0),
        ] {
            let path = dir.path().canonicalize().unwrap().join(name);
            let file = OsFileSystem.open(&path, OpenMode::CREATE_NEW.syncing(syncing)).unwrap();
            file.write_at(b"x", 0).unwrap();
            file.sync().unwrap();
            assert_eq!(open_flags(&path) & libc::O_DSYNC, flag, "{name}");
        }
    }

    #[test]
    fn a_locked_directory_is_refused_with_the_name_of_the_holder_until_released() {
        let dir = temporary();
        let lock = OsFileSystem.lock_dir(dir.path()).unwrap();
        let error = OsFileSystem.lock_dir(dir.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        assert!(
            error.to_string().contains(&format!("in use by another server (process {})", std::process::id()))
        );
        drop(lock);
        OsFileSystem.lock_dir(dir.path()).unwrap();
    }

    #[test]
    fn what_the_kernel_says_of_atomic_writes_is_judged() {
        let page = 16_384;
        for (least, most, by_device, expected) in [
            (512, 65_536, 0, Ok(())),
            (512, 16_384, 16_384, Ok(())),
            (4096, 4096, 4096, Err(NotAtomic::Only(4096))),
            (32_768, 65_536, 0, Err(NotAtomic::Only(65_536))),
            (0, 0, 0, Err(NotAtomic::Only(0))),
            (4096, 65_536, 4096, Err(NotAtomic::Emulated(4096))),
        ] {
            assert_eq!(judge_atomic(page, least, most, by_device), expected);
        }
    }

    /// On whatever this test runs: what is promised is done, and what is not is refused without a trace.
    #[test]
    fn an_atomic_write_is_done_or_refused() {
        let dir = temporary();
        let path = dir.path().join("cached");
        let file = OsFileSystem.open(&path, OpenMode::CREATE_NEW).unwrap();
        assert_eq!(file.atomic_writes(4096), Err(NotAtomic::Cached));

        let file = OsFileSystem.open(&dir.path().join("direct"), OpenMode::CREATE_NEW.direct()).unwrap();
        let mut bytes = AlignedBuf::zeroed(16_384);
        file.write_at(&bytes, 0).unwrap();
        bytes.fill(7);
        let promised = file.atomic_writes(bytes.len());
        let outcome = file.write_atomic_at(&bytes, 0);
        let mut read = AlignedBuf::zeroed(16_384);
        file.read_at(&mut read, 0).unwrap();
        match outcome {
            Ok(()) => assert!(read.iter().all(|byte| *byte == 7)),
            Err(error) => {
                assert!(promised.is_err(), "promised, and refused: {error}");
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                assert!(read.iter().all(|byte| *byte == 0));
            }
        }
        let error = file.write_atomic_at(&bytes[1..4097], 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }

    #[test]
    fn an_error_names_the_file() {
        let Err(error) = OsFileSystem.open(Path::new("/nonexistent/file"), OpenMode::EXISTING) else {
            panic!("opened a file that does not exist");
        };
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/nonexistent/file"));
    }
}
