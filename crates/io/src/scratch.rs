//! A disk that is only read: what is written stays in memory and is gone with it.
//!
//! For looking into a damaged data directory. Recovery writes - pages, the log, a new epoch -, and what it
//! writes may make the damage worse. Over a [`ScratchFileSystem`] it runs as it is, and the files below stay
//! as they were found, byte for byte.
//!
//! ```text
//!  read  ── chunk written here? ──yes──► memory
//!                                └─no──► file below, zeros behind its end
//!  write ── the rest of the chunk is fetched from below first ──► memory
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::file::{Creation, DirLock, File, FileSystem, OpenMode, past_the_end};
use crate::mem::{already_exists, not_found};

/// Bytes that are kept in memory as a whole when one of them is written.
const CHUNK: u64 = 4096;

/// The file system `below`, read only, with changes in memory.
pub struct ScratchFileSystem {
    below: Arc<dyn FileSystem>,
    /// What is otherwise than below: a file, or nothing where below there is one.
    names: Mutex<BTreeMap<PathBuf, Option<Arc<ScratchFile>>>>,
    locks: bool,
}

impl ScratchFileSystem {
    /// Over `below`, whose directories are locked as usual. The lock is the only thing that is written there.
    pub fn new(below: Arc<dyn FileSystem>) -> Self {
        ScratchFileSystem { below, names: Mutex::default(), locks: true }
    }

    /// The same without a lock: nothing at all is written. For the owner of the directory's lock.
    pub fn without_lock(below: Arc<dyn FileSystem>) -> Self {
        ScratchFileSystem { below, names: Mutex::default(), locks: false }
    }

    /// The file of this name, if there is one.
    fn find(&self, path: &Path) -> io::Result<Option<Arc<ScratchFile>>> {
        let mut names = self.names.lock();
        if let Some(known) = names.get(path) {
            return Ok(known.clone());
        }
        match self.below.open(path, OpenMode::EXISTING.read_only()) {
            Ok(file) => {
                let file = Arc::new(ScratchFile::over(file)?);
                names.insert(path.to_owned(), Some(file.clone()));
                Ok(Some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl FileSystem for ScratchFileSystem {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        match (self.find(path)?, mode.creation()) {
            (Some(_), Creation::CreateNew) => Err(already_exists(path)),
            (Some(file), _) => Ok(file),
            (None, Creation::Existing) => Err(not_found(path)),
            (None, _) => {
                let file = Arc::new(ScratchFile::default());
                self.names.lock().insert(path.to_owned(), Some(file.clone()));
                Ok(file)
            }
        }
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.find(path)?.ok_or_else(|| not_found(path))?;
        self.names.lock().insert(path.to_owned(), None);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let file = self.find(from)?.ok_or_else(|| not_found(from))?;
        let mut names = self.names.lock();
        names.insert(from.to_owned(), None);
        names.insert(to.to_owned(), Some(file));
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        if let Some(known) = self.names.lock().get(path) {
            return Ok(known.is_some());
        }
        self.below.exists(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut all: BTreeSet<PathBuf> = match self.below.exists(dir)? {
            true => self.below.list(dir)?.into_iter().collect(),
            false => BTreeSet::new(),
        };
        for (path, file) in self.names.lock().iter().filter(|(path, _)| path.parent() == Some(dir)) {
            match file {
                Some(_) => drop(all.insert(path.clone())),
                None => drop(all.remove(path)),
            }
        }
        Ok(all.into_iter().collect())
    }

    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock_dir(&self, dir: &Path) -> io::Result<DirLock> {
        if self.locks { self.below.lock_dir(dir) } else { Ok(DirLock::new(())) }
    }
}

/// A file with changes in memory.
#[derive(Default)]
struct ScratchFile {
    below: Option<Arc<dyn File>>,
    changed: RwLock<Changed>,
}

#[derive(Default)]
struct Changed {
    chunks: BTreeMap<u64, Box<[u8; CHUNK as usize]>>,
    len: u64,
    /// Bytes from here on are not those of the file below, even if it is longer.
    below_len: u64,
}

/// The parts of `[offset, offset + len)` in each chunk: number, offset in the chunk, range of the caller's
/// slice.
fn parts(offset: u64, len: u64) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done;
        let step = (CHUNK - at % CHUNK).min(len - done);
        let part = (at / CHUNK, (at % CHUNK) as usize, done as usize..(done + step) as usize);
        done += step;
        (step > 0).then_some(part)
    })
}

impl ScratchFile {
    fn over(file: Arc<dyn File>) -> io::Result<Self> {
        let len = file.len()?;
        let changed = Changed { len, below_len: len, ..Changed::default() };
        Ok(ScratchFile { below: Some(file), changed: RwLock::new(changed) })
    }

    /// What stands below, zeros behind its end.
    fn read_below(&self, changed: &Changed, out: &mut [u8], offset: u64) -> io::Result<()> {
        let known = changed.below_len.saturating_sub(offset).min(out.len() as u64) as usize;
        let (inside, behind) = out.split_at_mut(known);
        behind.fill(0);
        match &self.below {
            Some(file) if !inside.is_empty() => file.read_at(inside, offset),
            _ => Ok(()),
        }
    }

    fn put(&self, offset: u64, len: u64, bytes: Option<&[u8]>) -> io::Result<()> {
        let mut changed = self.changed.write();
        for (number, start, range) in parts(offset, len) {
            if !changed.chunks.contains_key(&number) {
                let mut chunk = Box::new([0; CHUNK as usize]);
                // What is overwritten as a whole need not be readable below.
                if range.len() < CHUNK as usize {
                    self.read_below(&changed, &mut chunk[..], number * CHUNK)?;
                }
                changed.chunks.insert(number, chunk);
            }
            let Some(chunk) = changed.chunks.get_mut(&number) else { continue };
            let place = &mut chunk[start..start + range.len()];
            match bytes {
                Some(bytes) => place.copy_from_slice(&bytes[range]),
                None => place.fill(0),
            }
        }
        Ok(())
    }
}

impl File for ScratchFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let changed = self.changed.read();
        if offset + buf.len() as u64 > changed.len {
            return Err(past_the_end(offset, buf.len(), changed.len));
        }
        // In one call, as most reads are of what was not changed.
        self.read_below(&changed, buf, offset)?;
        for (number, start, range) in parts(offset, buf.len() as u64) {
            if let Some(chunk) = changed.chunks.get(&number) {
                let end = start + range.len();
                buf[range].copy_from_slice(&chunk[start..end]);
            }
        }
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let len = bytes.len() as u64;
        self.put(offset, len, Some(bytes))?;
        let mut changed = self.changed.write();
        changed.len = changed.len.max(offset + len);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.changed.read().len)
    }

    /// As if it had no holes: what changes is not on the disk.
    fn allocated(&self) -> io::Result<u64> {
        self.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let old = self.changed.read().len;
        if len < old {
            // What is extended again later reads as zeros.
            self.put(len, (CHUNK - len % CHUNK) % CHUNK, None)?;
            let mut changed = self.changed.write();
            changed.chunks.retain(|number, _| number * CHUNK < len);
            changed.below_len = changed.below_len.min(len);
        }
        self.changed.write().len = len;
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let mut changed = self.changed.write();
        changed.len = changed.len.max(offset + len);
        Ok(())
    }

    fn punch_hole(&self, offset: u64, len: u64) -> io::Result<()> {
        let end = (offset + len).min(self.changed.read().len);
        self.put(offset, end.saturating_sub(offset), None)
    }

    fn alignment(&self) -> usize {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemFileSystem;
    use palisade_base::prng::{Prng, test_seed};

    /// Whatever is done to a scratch file, it reads like one on a file system of its own, and the file below
    /// stays as it was.
    #[test]
    fn a_scratch_file_behaves_like_a_file_and_leaves_the_one_below_alone() {
        let mut random = Prng::new(test_seed(1));
        let (below, model) = (Arc::new(MemFileSystem::new()), MemFileSystem::new());
        let path = Path::new("d/f");
        let mut first = vec![0; 20_000];
        random.fill(&mut first);
        for fs in [&*below, &model] {
            fs.open(path, OpenMode::CREATE_NEW).unwrap().write_at(&first, 0).unwrap();
        }
        let scratch = ScratchFileSystem::new(below.clone());
        let (file, model) =
            (scratch.open(path, OpenMode::EXISTING).unwrap(), model.open(path, OpenMode::EXISTING).unwrap());
        for _ in 0..2000 {
            let (offset, len) = (random.below(30_000), random.below(9000));
            let what = random.below(10);
            let mut bytes = vec![0; len as usize];
            random.fill(&mut bytes);
            for file in [&file, &model] {
                match what {
                    0 => file.set_len(offset).unwrap(),
                    1 => file.punch_hole(offset, len).unwrap(),
                    2 => file.allocate(offset, len).unwrap(),
                    3..6 => file.write_at(&bytes, offset).unwrap(),
                    _ => {}
                }
            }
            assert_eq!(file.len().unwrap(), model.len().unwrap());
            let (mut read, mut expected) = (bytes.clone(), bytes);
            let outcome = file.read_at(&mut read, offset);
            assert_eq!(outcome.is_ok(), model.read_at(&mut expected, offset).is_ok());
            if outcome.is_ok() {
                assert_eq!(read, expected);
            }
        }
        let mut kept = vec![0; first.len()];
        below.open(path, OpenMode::EXISTING).unwrap().read_at(&mut kept, 0).unwrap();
        assert_eq!(kept, first);
    }

    #[test]
    fn names_change_above_only() {
        let below = Arc::new(MemFileSystem::new());
        let (a, b, c) = (Path::new("d/a"), Path::new("d/b"), Path::new("d/c"));
        below.open(a, OpenMode::CREATE).unwrap().write_at(b"a", 0).unwrap();
        let scratch = ScratchFileSystem::new(below.clone());
        scratch.open(c, OpenMode::CREATE_NEW).unwrap();
        scratch.rename(a, b).unwrap();
        scratch.remove(c).unwrap();
        assert_eq!(scratch.list(Path::new("d")).unwrap(), [b]);
        assert!(!scratch.exists(a).unwrap() && scratch.exists(b).unwrap());
        assert!(scratch.open(a, OpenMode::EXISTING).is_err() && scratch.remove(c).is_err());
        assert_eq!(below.list(Path::new("d")).unwrap(), [a]);
        let _lock = scratch.lock_dir(Path::new("d")).unwrap();
        assert!(scratch.lock_dir(Path::new("d")).is_err());
        ScratchFileSystem::without_lock(below).lock_dir(Path::new("d")).unwrap();
    }
}
