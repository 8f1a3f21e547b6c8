//! A disk that behaves like another except in a few calls: for tests and benchmarks that want a slow one, or
//! one that lies.
//!
//! An [`Overlay`] says what is different. Every call it does not mention goes to the file system below.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::file::{DirLock, File, FileSystem, NotAtomic, OpenMode};

/// What is different. `path` is the name under which a file was opened.
pub trait Overlay: Send + Sync + 'static {
    /// [`File::read_at`].
    fn read_at(&self, _path: &Path, file: &dyn File, buf: &mut [u8], offset: u64) -> io::Result<()> {
        file.read_at(buf, offset)
    }

    /// [`File::write_at`].
    fn write_at(&self, _path: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_at(bytes, offset)
    }

    /// [`File::write_atomic_at`].
    fn write_atomic_at(&self, _path: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_atomic_at(bytes, offset)
    }

    /// [`File::sync`].
    fn sync(&self, _path: &Path, file: &dyn File) -> io::Result<()> {
        file.sync()
    }

    /// [`File::allocate`].
    fn allocate(&self, _path: &Path, file: &dyn File, offset: u64, len: u64) -> io::Result<()> {
        file.allocate(offset, len)
    }

    /// [`File::punch_hole`].
    fn punch_hole(&self, _path: &Path, file: &dyn File, offset: u64, len: u64) -> io::Result<()> {
        file.punch_hole(offset, len)
    }

    /// [`File::alignment`].
    fn alignment(&self, _path: &Path, file: &dyn File) -> usize {
        file.alignment()
    }

    /// [`FileSystem::sync_dir`].
    fn sync_dir(&self, below: &dyn FileSystem, dir: &Path) -> io::Result<()> {
        below.sync_dir(dir)
    }
}

/// The file system `below` with an [`Overlay`].
pub struct OverlayFileSystem<O> {
    below: Arc<dyn FileSystem>,
    overlay: Arc<O>,
}

impl<O: Overlay> OverlayFileSystem<O> {
    /// `below`, but for what `overlay` does otherwise.
    pub fn new(below: Arc<dyn FileSystem>, overlay: O) -> Self {
        OverlayFileSystem { below, overlay: Arc::new(overlay) }
    }

    /// The overlay.
    pub fn overlay(&self) -> &O {
        &self.overlay
    }
}

impl<O: Overlay> FileSystem for OverlayFileSystem<O> {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let file = self.below.open(path, mode)?;
        Ok(Arc::new(OverlayFile { file, path: path.to_owned(), overlay: self.overlay.clone() }))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.below.create_dir_all(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.below.remove(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.below.rename(from, to)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.below.exists(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.below.list(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.overlay.sync_dir(&*self.below, dir)
    }

    fn lock_dir(&self, dir: &Path) -> io::Result<DirLock> {
        self.below.lock_dir(dir)
    }

    fn lock_dir_unchanged(&self, dir: &Path) -> io::Result<DirLock> {
        self.below.lock_dir_unchanged(dir)
    }
}

struct OverlayFile<O> {
    file: Arc<dyn File>,
    path: PathBuf,
    overlay: Arc<O>,
}

impl<O: Overlay> File for OverlayFile<O> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.overlay.read_at(&self.path, &*self.file, buf, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.overlay.write_at(&self.path, &*self.file, bytes, offset)
    }

    fn atomic_writes(&self, len: usize) -> Result<(), NotAtomic> {
        self.file.atomic_writes(len)
    }

    fn write_atomic_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.overlay.write_atomic_at(&self.path, &*self.file, bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.overlay.sync(&self.path, &*self.file)
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn allocated(&self) -> io::Result<u64> {
        self.file.allocated()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.overlay.allocate(&self.path, &*self.file, offset, len)
    }

    fn punch_hole(&self, offset: u64, len: u64) -> io::Result<()> {
        self.overlay.punch_hole(&self.path, &*self.file, offset, len)
    }

    fn alignment(&self) -> usize {
        self.overlay.alignment(&self.path, &*self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemFileSystem;

    struct Deaf;

    impl Overlay for Deaf {
        fn write_at(&self, path: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
            if path.ends_with("deaf") { Ok(()) } else { file.write_at(bytes, offset) }
        }
    }

    #[test]
    fn what_the_overlay_does_not_mention_goes_through() {
        let disk = OverlayFileSystem::new(Arc::new(MemFileSystem::new()), Deaf);
        for (name, kept) in [("deaf", 0), ("other", 1)] {
            let path = Path::new("d").join(name);
            let file = disk.open(&path, OpenMode::CREATE_NEW).unwrap();
            file.allocate(0, 8).unwrap();
            file.write_at(&[1; 4], 2).unwrap();
            file.sync().unwrap();
            let mut read = [9; 8];
            file.read_at(&mut read, 0).unwrap();
            assert_eq!(read, [0, 0, kept, kept, kept, kept, 0, 0]);
            file.punch_hole(0, 8).unwrap();
            file.set_len(3).unwrap();
            assert_eq!((file.len().unwrap(), file.alignment()), (3, 1));
            disk.rename(&path, &path.with_extension("new")).unwrap();
        }
        let dir = Path::new("d");
        disk.sync_dir(dir).unwrap();
        assert_eq!(disk.list(dir).unwrap().len(), 2);
        disk.remove(&dir.join("other.new")).unwrap();
        assert!(!disk.exists(&dir.join("other.new")).unwrap());
        let _lock = disk.lock_dir(dir).unwrap();
        assert!(disk.lock_dir(dir).is_err());
    }
}
