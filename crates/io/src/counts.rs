//! How often files are read, written and synced, and how many bytes that were: by file since it was opened,
//! and by what the files are for since the process began.
//!
//! Who reads or writes counts, because only it knows what the file is for, and because I/O that is under way
//! at once goes past [`File`]. Beside an I/O an atomic addition costs nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::File;

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    /// Pages, and maps of where pages are.
    Data = 0,
    /// The redo log.
    Log = 1,
    /// Pages that are being written.
    Doublewrite = 2,
}

/// What was done to a file, or to files.
#[derive(Debug, Default)]
pub struct FileCounts {
    reads: AtomicU64,
    bytes_read: AtomicU64,
    writes: AtomicU64,
    bytes_written: AtomicU64,
    syncs: AtomicU64,
    sync_ns: AtomicU64,
}

/// The same as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileWork {
    /// Reads.
    pub reads: u64,
    /// Bytes that they have read.
    pub bytes_read: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes that they have written.
    pub bytes_written: u64,
    /// Syncs.
    pub syncs: u64,
    /// Nanoseconds that the syncs took, where that was measured.
    pub sync_ns: u64,
}

impl FileWork {
    /// All of them.
    pub fn count(&self) -> u64 {
        self.reads + self.writes + self.syncs
    }
}

impl FileCounts {
    const fn new() -> FileCounts {
        FileCounts {
            reads: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            bytes_written: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
            sync_ns: AtomicU64::new(0),
        }
    }

    /// What was counted.
    pub fn work(&self) -> FileWork {
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        FileWork {
            reads: value(&self.reads),
            bytes_read: value(&self.bytes_read),
            writes: value(&self.writes),
            bytes_written: value(&self.bytes_written),
            syncs: value(&self.syncs),
            sync_ns: value(&self.sync_ns),
        }
    }

    /// Begins at 0 again.
    pub fn reset(&self) {
        let all =
            [&self.reads, &self.bytes_read, &self.writes, &self.bytes_written, &self.syncs, &self.sync_ns];
        all.into_iter().for_each(|counter| counter.store(0, Ordering::Relaxed));
    }
}

/// By use, in the order of [`FileUse`].
static TOTALS: [FileCounts; 3] = [const { FileCounts::new() }; 3];

/// What was done to all files of that use.
pub fn total(of: FileUse) -> &'static FileCounts {
    &TOTALS[of as usize]
}

fn count(file: &dyn File, of: FileUse, add: impl Fn(&FileCounts)) {
    add(total(of));
    file.counts().into_iter().for_each(add);
}

/// Counts a read of so many bytes.
pub fn count_read(file: &dyn File, of: FileUse, bytes: u64) {
    count(file, of, |counts| {
        counts.reads.fetch_add(1, Ordering::Relaxed);
        counts.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    });
}

/// Counts a write of so many bytes.
pub fn count_write(file: &dyn File, of: FileUse, bytes: u64) {
    count(file, of, |counts| {
        counts.writes.fetch_add(1, Ordering::Relaxed);
        counts.bytes_written.fetch_add(bytes, Ordering::Relaxed);
    });
}

/// Counts a sync, and the time it took if that was measured.
pub fn count_sync(file: &dyn File, of: FileUse, took: Duration) {
    count(file, of, |counts| {
        counts.syncs.fetch_add(1, Ordering::Relaxed);
        counts.sync_ns.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    });
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{FileSystem as _, OpenMode, OsFileSystem};

    #[test]
    fn a_file_of_the_operating_system_counts_its_own_and_for_all() {
        let dir = std::env::temp_dir().join(format!("palisade-counts-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let open =
            |name: &str| OsFileSystem::new().open(&dir.join(Path::new(name)), OpenMode::CREATE).unwrap();
        let (file, other) = (open("a"), open("b"));
        let before = total(FileUse::Doublewrite).work();
        count_write(&*file, FileUse::Doublewrite, 10);
        count_write(&*other, FileUse::Doublewrite, 5);
        count_read(&*file, FileUse::Doublewrite, 4);
        count_sync(&*file, FileUse::Doublewrite, Duration::from_nanos(7));
        let expected =
            FileWork { reads: 1, bytes_read: 4, writes: 1, bytes_written: 10, syncs: 1, sync_ns: 7 };
        assert_eq!(file.counts().unwrap().work(), expected);
        assert_eq!(expected.count(), 3);
        let after = total(FileUse::Doublewrite).work();
        assert_eq!((after.writes - before.writes, after.bytes_written - before.bytes_written), (2, 15));
        file.counts().unwrap().reset();
        assert_eq!(file.counts().unwrap().work(), FileWork::default());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
