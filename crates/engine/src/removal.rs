//! The room of files that have no name any more.
//!
//! A file in whose pages there are holes consists of as many pieces as it has pages, and a file system that
//! tells its disk of each one (ext4 mounted with `discard`) takes seconds to free some hundred MiB of them: 8
//! s for 130 MiB, where the same file without holes takes 0.08 s. Nothing needs that room to be free before
//! the statement ends, so a thread of its own frees it, which ends when there is nothing left to do. A crash
//! has the file system do the same: a file without a name is gone with its last handle.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use palisade_io::File;
use parking_lot::Mutex;

/// Bytes of a file that are freed at a time: what else changes a file's length or its name waits meanwhile.
const STEP: u64 = 16 << 20;
/// A file that lacks so many bytes of its length on the disk has holes.
const HOLES: u64 = 1 << 20;

/// See the module.
#[derive(Default)]
pub(crate) struct Removals {
    shared: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    files: VecDeque<Removed>,
    /// There is a thread that takes them.
    is_at_work: bool,
}

/// A file without a name.
struct Removed {
    path: PathBuf,
    file: Arc<dyn File>,
}

impl Removals {
    /// Frees the room of a file whose name is gone for good: now, or a little later if it has many pieces and
    /// `may_defer`.
    pub(crate) fn free(&self, path: PathBuf, file: Arc<dyn File>, may_defer: bool) {
        let removed = Removed { path, file };
        if !may_defer || !removed.has_holes() {
            return removed.free();
        }
        let mut state = self.shared.lock();
        state.files.push_back(removed);
        if state.is_at_work {
            return;
        }
        let shared = self.shared.clone();
        let thread = std::thread::Builder::new().name("file-removal".to_owned());
        state.is_at_work = thread.spawn(move || free_all(&shared)).is_ok();
        if !state.is_at_work {
            let files = std::mem::take(&mut state.files);
            drop(state);
            files.into_iter().for_each(Removed::free);
        }
    }

    /// Whether all of it is free.
    #[cfg(test)]
    pub(crate) fn are_done(&self) -> bool {
        !self.shared.lock().is_at_work
    }
}

fn free_all(shared: &Mutex<State>) {
    loop {
        let next = {
            let mut state = shared.lock();
            let next = state.files.pop_front();
            state.is_at_work = next.is_some();
            next
        };
        match next {
            Some(removed) => removed.free(),
            None => return,
        }
    }
}

impl Removed {
    fn has_holes(&self) -> bool {
        match (self.file.allocated(), self.file.len()) {
            (Ok(allocated), Ok(len)) => allocated + HOLES < len,
            _ => false,
        }
    }

    fn free(self) {
        let Err(error) = self.cut() else { return };
        if error.kind() != io::ErrorKind::NotFound {
            tracing::warn!("{} is dropped and keeps its room for a while: {error}", self.path.display());
        }
    }

    fn cut(&self) -> io::Result<()> {
        let mut len = if self.has_holes() { self.file.len()? } else { 0 };
        loop {
            len = len.saturating_sub(STEP);
            self.file.set_len(len)?;
            if len == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, Instant};

    use palisade_io::{FileSystem, MemFileSystem, OpenMode};

    use super::*;

    const PAGE: u64 = 16 << 10;

    /// A file of so many pages of one block each; the rest of a page is a hole.
    fn file_with_holes(files: &MemFileSystem, name: &str, pages: u64) -> Arc<dyn File> {
        let file = files.open(Path::new(name), OpenMode::CREATE_NEW).unwrap();
        for page in 0..pages {
            file.write_at(&[7; 4096], page * PAGE).unwrap();
        }
        file.set_len(pages * PAGE).unwrap();
        file
    }

    #[test]
    fn files_with_holes_are_freed_by_a_thread_and_others_at_once() {
        let (files, removals) = (MemFileSystem::new(), Removals::default());
        let whole = files.open(Path::new("whole"), OpenMode::CREATE_NEW).unwrap();
        whole.write_at(&[7; 1 << 20], 0).unwrap();
        removals.free("whole".into(), whole.clone(), true);
        assert!(removals.are_done() && whole.len().unwrap() == 0);

        let with_holes = ["first", "second", "third"].map(|name| file_with_holes(&files, name, 3000));
        assert!(with_holes[0].allocated().unwrap() < 3000 * PAGE / 2, "the file system has holes");
        for file in &with_holes {
            removals.free("holes".into(), file.clone(), true);
        }
        let begun = Instant::now();
        while !removals.are_done() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(with_holes.iter().all(|file| file.len().unwrap() == 0));

        let last = file_with_holes(&files, "last", 3000);
        removals.free("last".into(), last.clone(), false);
        assert!(removals.are_done() && last.len().unwrap() == 0);
    }
}
