//! The pool's content, kept across a restart: which pages it had, not what was in them.
//!
//! ```text
//! shutdown:  pages worth having ─► ib_buffer_pool.incomplete ─► renamed to ib_buffer_pool
//! start:     ib_buffer_pool ─► thread: reads them, 64 at a time, while frames are free ─► ends
//! ```
//!
//! The file is MySQL's: a line `space,page` for each page. Nothing depends on it. It is written without a
//! sync, and one that is missing, cut off or of another life costs some reads and nothing else.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use palisade_base::clock::Clock;
use palisade_base::{PageId, PageNo, SpaceId};
use palisade_buffer::{BufferPool, Loaded};
use palisade_io::{File, OpenMode};
use parking_lot::Mutex;

use crate::Error;
use crate::engine::Engine;
use crate::files::Files;

/// The longest line: two numbers of ten digits, a comma and the end.
const LINE_BYTES: u64 = 22;

/// How far a dump or a load of the pool's content has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PoolTransfer {
    /// There was none yet.
    #[default]
    NotStarted,
    /// It is under way.
    UnderWay {
        /// Pages dealt with.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// It has ended, at this time in microseconds since 1970.
    Completed {
        /// When.
        at_us: i64,
    },
    /// It was stopped, at this time in microseconds since 1970.
    Aborted {
        /// When.
        at_us: i64,
    },
    /// It could not be done.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What an engine knows of its dumps and loads.
#[derive(Default)]
pub(crate) struct PoolDump {
    shared: Arc<Shared>,
    loader: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    dump: Mutex<PoolTransfer>,
    load: Mutex<PoolTransfer>,
    /// One dump at a time: they write the same file.
    writing: Mutex<()>,
    stop: AtomicBool,
}

impl PoolDump {
    /// Ends a load that is under way. Blocks: for the reads that it has begun.
    pub(crate) fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(loader) = self.loader.lock().take()
            && loader.join().is_err()
        {
            tracing::error!("the thread that loads the buffer pool has panicked");
        }
    }
}

impl Engine {
    /// Writes which pages are in memory, `percent` of them at most, to the file `name` of the data directory.
    /// Blocks. Refuses to replace a file that is none such.
    pub fn dump_buffer_pool(&self, name: &str, percent: u64) {
        dump(&self.pool_dump.shared, &self.pool, &self.files, name, percent, &*self.config.clock);
    }

    /// [`dump_buffer_pool`](Self::dump_buffer_pool) on another thread.
    pub fn start_buffer_pool_dump(&self, name: String, percent: u64) {
        let (shared, pool) = (self.pool_dump.shared.clone(), self.pool.clone());
        let (files, clock) = (self.files.clone(), self.config.clock.clone());
        self.ddl.submit(move || dump(&shared, &pool, &files, &name, percent, &*clock));
    }

    /// Has the pages read, on a thread of its own, that the file `name` of the data directory names, as long
    /// as there are free frames. Nothing happens if that is under way already.
    pub fn start_buffer_pool_load(&self, name: String) -> Result<(), Error> {
        let mut loader = self.pool_dump.loader.lock();
        if loader.as_ref().is_some_and(|loader| !loader.is_finished()) {
            return Ok(());
        }
        let shared = self.pool_dump.shared.clone();
        shared.stop.store(false, Ordering::Relaxed);
        *shared.load.lock() = PoolTransfer::UnderWay { done: 0, of: 0 };
        let (pool, files, clock) = (self.pool.clone(), self.files.clone(), self.config.clock.clone());
        let thread = std::thread::Builder::new().name("buffer-pool-load".to_owned());
        *loader = Some(thread.spawn(move || load(&shared, &pool, &files, &name, &*clock))?);
        Ok(())
    }

    /// Ends a load that is under way, soon.
    pub fn abort_buffer_pool_load(&self) {
        self.pool_dump.shared.stop.store(true, Ordering::Relaxed);
    }

    /// How far the last dump and the last load have come.
    pub fn buffer_pool_transfers(&self) -> [PoolTransfer; 2] {
        let shared = &self.pool_dump.shared;
        [shared.dump.lock().clone(), shared.load.lock().clone()]
    }
}

fn ended(outcome: Result<(), String>, clock: &dyn Clock) -> PoolTransfer {
    match outcome {
        Ok(()) => PoolTransfer::Completed { at_us: clock.unix_micros() },
        Err(reason) => PoolTransfer::Failed { reason },
    }
}

fn dump(shared: &Shared, pool: &BufferPool, files: &Files, name: &str, percent: u64, clock: &dyn Clock) {
    let _one = shared.writing.lock();
    let most = pool.frames() as u64 * percent / 100;
    let pages = pool.resident_pages(usize::try_from(most).unwrap_or(usize::MAX));
    *shared.dump.lock() = PoolTransfer::UnderWay { done: 0, of: pages.len() };
    let ended = ended(write(files, name, &pages), clock);
    if let PoolTransfer::Failed { reason } = &ended {
        tracing::warn!("the buffer pool was not dumped: {reason}");
    }
    *shared.dump.lock() = ended;
}

fn write(files: &Files, name: &str, pages: &[PageId]) -> Result<(), String> {
    let path = files.datadir.join(name);
    let problem = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if files.fs.exists(&path).map_err(problem)? {
        let file = files.fs.open(&path, OpenMode::EXISTING).map_err(problem)?;
        let named =
            parse(&*file, 1).map_err(|reason| format!("{} is not replaced: {reason}", path.display()))?;
        if named.is_empty() && file.len().map_err(problem)? > 0 {
            return Err(format!("{} is not replaced: it names no pages", path.display()));
        }
    }
    let mut text = String::new();
    for PageId { space, page } in pages {
        text.push_str(&format!("{},{}\n", space.0, page.0));
    }
    let incomplete = PathBuf::from(format!("{}.incomplete", path.display()));
    let file = files.fs.open(&incomplete, OpenMode::CREATE).map_err(problem)?;
    file.set_len(0).map_err(problem)?;
    file.write_at(text.as_bytes(), 0).map_err(problem)?;
    files.fs.rename(&incomplete, &path).map_err(problem)
}

/// The first `most` pages that a dump names.
fn parse(file: &dyn File, most: usize) -> Result<Vec<PageId>, String> {
    let bytes = file.len().map_err(|error| error.to_string())?.min((most as u64).saturating_mul(LINE_BYTES));
    let mut text = vec![0; usize::try_from(bytes).map_err(|error| error.to_string())?];
    file.read_at(&mut text, 0).map_err(|error| error.to_string())?;
    let number = |digits: &str| digits.parse::<u32>().ok();
    let page = |line: &[u8]| {
        let (space, page) = std::str::from_utf8(line).ok()?.trim_end().split_once(',')?;
        Some(PageId { space: SpaceId(number(space)?), page: PageNo(number(page)?) })
    };
    // the last line may be cut off
    let lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).take(most);
    lines
        .enumerate()
        .map(|(nth, line)| page(line).ok_or_else(|| format!("line {} names no page", nth + 1)))
        .collect()
}

fn read(files: &Files, name: &str, most: usize) -> Result<Vec<PageId>, String> {
    let path = files.datadir.join(name);
    let file = files
        .fs
        .open(&path, OpenMode::EXISTING)
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "No such file or directory".to_owned(),
            _ => error.to_string(),
        })
        .map_err(|why| format!("Cannot open '{}' for reading: {why}", path.display()))?;
    parse(&*file, most).map_err(|reason| format!("Error parsing '{}': {reason}", path.display()))
}

fn load(shared: &Shared, pool: &BufferPool, files: &Files, name: &str, clock: &dyn Clock) {
    let loaded = read(files, name, pool.frames()).map(|mut pages| {
        pages.sort_unstable();
        let of = pages.len();
        pool.load(&pages, |done| {
            *shared.load.lock() = PoolTransfer::UnderWay { done, of };
            match shared.stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })
    });
    let ended = match loaded {
        Ok(Loaded::UntilStopped) => PoolTransfer::Aborted { at_us: clock.unix_micros() },
        loaded => ended(loaded.map(drop), clock),
    };
    *shared.load.lock() = ended;
}
