//! Files in memory, for tests that want speed. Everything is durable at once; there is no crash.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::file::{Creation, DirLock, File, FileSystem, OpenMode, past_the_end};
use crate::sparse::SparseBytes;

/// [`FileSystem`] in memory. Directories are implied by the names in them.
#[derive(Default)]
pub struct MemFileSystem {
    names: Mutex<BTreeMap<PathBuf, Arc<MemFile>>>,
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl MemFileSystem {
    /// An empty file system.
    pub fn new() -> Self {
        Self::default()
    }
}

#[derive(Default)]
struct MemFile {
    bytes: RwLock<SparseBytes>,
}

impl FileSystem for MemFileSystem {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut names = self.names.lock();
        match (names.get(path), mode.creation()) {
            (Some(_), Creation::CreateNew) => Err(already_exists(path)),
            (Some(file), _) => Ok(file.clone()),
            (None, Creation::Existing) => Err(not_found(path)),
            (None, _) => {
                let file = Arc::new(MemFile::default());
                names.insert(path.to_owned(), file.clone());
                Ok(file)
            }
        }
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.names.lock().remove(path).map(drop).ok_or_else(|| not_found(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut names = self.names.lock();
        let file = names.remove(from).ok_or_else(|| not_found(from))?;
        names.insert(to.to_owned(), file);
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.names.lock().keys().any(|name| name.starts_with(path)))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.names.lock().keys().filter(|name| name.parent() == Some(dir)).cloned().collect())
    }

    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock_dir(&self, dir: &Path) -> io::Result<DirLock> {
        lock_in(&self.locked, dir)
    }
}

impl File for MemFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = self.bytes.read();
        if offset + buf.len() as u64 > bytes.len() {
            return Err(past_the_end(offset, buf.len(), bytes.len()));
        }
        bytes.read(buf, offset);
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.bytes.write().write(bytes, offset);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.read().len())
    }

    fn allocated(&self) -> io::Result<u64> {
        Ok(self.bytes.read().allocated())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.bytes.write().set_len(len);
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.bytes.write().allocate(offset, len);
        Ok(())
    }

    fn punch_hole(&self, offset: u64, len: u64) -> io::Result<()> {
        self.bytes.write().punch_hole(offset, len);
        Ok(())
    }

    fn alignment(&self) -> usize {
        1
    }
}

pub(crate) fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{} does not exist", path.display()))
}

pub(crate) fn already_exists(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{} already exists", path.display()))
}

/// Locks a directory in a set of locked directories, for file systems that live in one process.
pub(crate) fn lock_in(locked: &Arc<Mutex<BTreeSet<PathBuf>>>, dir: &Path) -> io::Result<DirLock> {
    struct Held(Arc<Mutex<BTreeSet<PathBuf>>>, PathBuf);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.lock().remove(&self.1);
        }
    }
    if !locked.lock().insert(dir.to_owned()) {
        return Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!("the directory {} is in use by another server", dir.display()),
        ));
    }
    Ok(DirLock::new(Held(locked.clone(), dir.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bytes_are_kept_apart() {
        let fs = MemFileSystem::new();
        let (a, b) = (Path::new("d/a"), Path::new("d/b"));
        let file = fs.open(a, OpenMode::CREATE_NEW).unwrap();
        file.write_at(b"hello", 3).unwrap();
        fs.rename(a, b).unwrap();
        assert!(!fs.exists(a).unwrap() && fs.exists(b).unwrap() && fs.exists(Path::new("d")).unwrap());
        let again = fs.open(b, OpenMode::EXISTING).unwrap();
        let mut read = [1; 8];
        again.read_at(&mut read, 0).unwrap();
        assert_eq!(&read, b"\0\0\0hello");
        assert!(again.read_at(&mut read, 1).is_err());
        fs.remove(b).unwrap();
        file.write_at(b"x", 0).unwrap();
        assert!(fs.list(Path::new("d")).unwrap().is_empty());
    }

    #[test]
    fn a_locked_directory_is_refused() {
        let fs = MemFileSystem::new();
        let lock = fs.lock_dir(Path::new("d")).unwrap();
        assert_eq!(fs.lock_dir(Path::new("d")).unwrap_err().kind(), io::ErrorKind::ResourceBusy);
        drop(lock);
        fs.lock_dir(Path::new("d")).unwrap();
    }
}
