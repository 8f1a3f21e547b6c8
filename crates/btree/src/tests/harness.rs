//! A log, a pool and a space without threads, so that a seed replays.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::{Blocked, Event, Lsn, PageNo, SpaceId};
use palisade_buffer::doublewrite::{Directories, repair};
use palisade_buffer::{AreaConfig, BufferConfig, BufferPool, Doublewrite, PageSize, Space};
use palisade_io::{FaultFileSystem, FileSystem, IoPool, MemFileSystem, OpenMode};
use palisade_log::{Log, LogConfig};

use crate::recovery::{OnDamage, Recovered};
use crate::{Attempt, Error, Mtr, Tree, alloc, recovery};

pub(crate) const SPACE: SpaceId = SpaceId(3);
pub(crate) const INDEX: u64 = 77;
const DIR: &str = "/data";
/// Pages of a batch.
const BATCH_PAGES: usize = 16;

/// The file of the space.
pub(crate) fn data_file() -> PathBuf {
    Path::new(DIR).join("space")
}

pub(crate) struct Store {
    pub(crate) fs: Arc<dyn FileSystem>,
    pub(crate) log: Arc<Log>,
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) space: Arc<Space>,
}

/// Of the log that is not said otherwise.
const LOG_ID: u64 = 0;

thread_local! {
    /// The size of pages of the stores that this thread makes.
    static SIZE: Cell<PageSize> = const { Cell::new(PageSize::DEFAULT) };
}

/// Runs a test with stores of pages of other sizes.
pub(crate) fn at_sizes(sizes: &[PageSize], test: impl Fn()) {
    for size in sizes {
        SIZE.set(*size);
        test();
    }
    SIZE.set(PageSize::DEFAULT);
}

/// Runs a test with stores of every other size of pages.
pub(crate) fn at_other_sizes(test: impl Fn()) {
    let [a, b, _, c, d] = PageSize::ALL;
    at_sizes(&[a, b, c, d], test);
}

/// Bytes of a page of the stores of this thread.
pub(crate) fn page_bytes() -> usize {
    SIZE.get().bytes()
}

pub(crate) fn log_config(background: bool) -> LogConfig {
    LogConfig {
        background,
        capacity: 16 << 20,
        buffer_size: 2 << 20,
        on_failure: Arc::new(|_| {}),
        ..LogConfig::default()
    }
}

fn sink(fs: &Arc<dyn FileSystem>) -> Arc<Doublewrite> {
    let config =
        AreaConfig { page_size: SIZE.get(), ..AreaConfig::new(Path::new(DIR), 1, BATCH_PAGES, LOG_ID) };
    let opened = Doublewrite::open(fs, &config);
    Arc::new(opened.expect("a doublewrite file"))
}

fn pool(frames: usize, log: &Arc<Log>, io: IoPool) -> Arc<BufferPool> {
    let mut config = BufferConfig::new(frames);
    config.page_size = SIZE.get();
    config.batch_pages = BATCH_PAGES;
    config.page_cleaners = 1;
    config.on_fatal = Arc::new(|_| {});
    BufferPool::new(config, log.clone(), Arc::new(io)).unwrap()
}

/// Runs something that blocks while pages are written back as a server's cleaners would.
pub(crate) fn with_cleaner<T>(pool: &BufferPool, blocking: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                pool.step().unwrap();
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
        });
        // Told even if `blocking` panics, so that the test ends.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(blocking));
        done.store(true, Ordering::Relaxed);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

impl Store {
    /// In memory, formatted, without threads.
    pub(crate) fn in_memory(frames: usize) -> Store {
        Store::create(Arc::new(MemFileSystem::new()), frames, IoPool::inline(), false)
    }

    pub(crate) fn on_faulty_disk(fs: &Arc<FaultFileSystem>, frames: usize) -> Store {
        Store::create(fs.clone(), frames, IoPool::inline(), false)
    }

    pub(crate) fn create(fs: Arc<dyn FileSystem>, frames: usize, io: IoPool, background: bool) -> Store {
        fs.create_dir_all(Path::new(DIR)).unwrap();
        let log = Log::create(fs.clone(), Path::new(DIR), log_config(background), Lsn(8192)).unwrap();
        let pool = pool(frames, &log, io);
        let file = fs.open(&data_file(), OpenMode::CREATE_NEW).unwrap();
        fs.sync_dir(Path::new(DIR)).unwrap();
        let space = pool.attach_space(SPACE, file, sink(&fs)).unwrap();
        let store = Store { fs, log, pool, space };
        store.run(|| alloc::format_space(&store.log, &store.space)).unwrap();
        store.flush();
        store
    }

    /// What a restart finds.
    pub(crate) fn recover(fs: Arc<dyn FileSystem>, frames: usize, threads: usize) -> (Store, Recovered) {
        Self::try_to_recover(fs, frames, threads).unwrap()
    }

    /// What a restart finds, or what is wrong with a page or the log's record of it.
    pub(crate) fn try_to_recover(
        fs: Arc<dyn FileSystem>,
        frames: usize,
        threads: usize,
    ) -> Result<(Store, Recovered), Error> {
        let (log, mut reader) = Log::open(fs.clone(), Path::new(DIR), log_config(false)).unwrap();
        let (pool, sink) = (pool(frames, &log, IoPool::inline()), sink(&fs));
        let file = fs.open(&data_file(), OpenMode::EXISTING).unwrap();
        let directories = Directories { home: Path::new(DIR), others: &[], page_size: pool.page_size() };
        repair(&*fs, directories, LOG_ID, log.checkpoint_lsn(), &mut |_| Some(file.clone())).unwrap();
        let space = pool.attach_space(SPACE, file, sink).unwrap();
        let mut open_space = |id| Ok((id == SPACE).then(|| space.clone()));
        let wait = |event: &Event| {
            event.wait_blocking();
            Ok(())
        };
        let recovered = with_cleaner(&pool, || {
            recovery::apply(&mut reader, threads, &mut open_space, OnDamage::Fail, &wait)
        })?;
        log.start_after_recovery(reader).unwrap();
        Ok((Store { fs, log, pool, space }, recovered))
    }

    /// Calls an operation until it need not wait, doing meanwhile what the threads of a server would do.
    pub(crate) fn run<T>(&self, mut attempt: impl FnMut() -> Attempt<T>) -> Result<T, Error> {
        for _ in 0..10_000 {
            match attempt() {
                Ok(value) => return Ok(value),
                Err(Blocked::Error(error)) => return Err(error),
                Err(Blocked::Wait(event)) => {
                    self.log.flush_blocking(self.log.tail())?;
                    self.pool.step().map_err(Error::Buffer)?;
                    let candidate = self.log.checkpoint_candidate();
                    if candidate > self.log.checkpoint_lsn() {
                        self.log.write_checkpoint(candidate)?;
                    }
                    if !event.is_complete() {
                        std::thread::sleep(std::time::Duration::from_micros(100));
                    }
                }
            }
        }
        panic!("an operation waits for ever");
    }

    pub(crate) fn flush(&self) {
        self.log.flush_blocking(self.log.tail()).unwrap();
    }

    pub(crate) fn create_tree(&self) -> Tree {
        let root = self.run(|| {
            let mut mtr = Mtr::begin(&self.log, 1000)?;
            let mut reservation = alloc::reserve(&mut mtr, &self.space, PageNo::NONE, 1)?;
            let root = Tree::create(&mut mtr, &mut reservation, INDEX);
            mtr.commit(|_| {});
            Ok(root)
        });
        self.tree(root.unwrap())
    }

    pub(crate) fn tree(&self, root: PageNo) -> Tree {
        Tree::open(self.log.clone(), self.space.clone(), root, INDEX)
    }

    /// Inserts or replaces. Gives the end of the mini-transaction, if the value was another one.
    pub(crate) fn put(&self, tree: &Tree, key: &[u8], value: &[u8]) -> Result<Option<Lsn>, Error> {
        self.run(|| put(&self.log, tree, key, value))
    }

    /// Removes. Gives the end of the mini-transaction, if there was an entry.
    pub(crate) fn remove(&self, tree: &Tree, key: &[u8]) -> Result<Option<Lsn>, Error> {
        self.run(|| remove(&self.log, tree, key))
    }

    pub(crate) fn get(&self, tree: &Tree, key: &[u8]) -> Option<Vec<u8>> {
        self.run(|| tree.get(key, |value| value.map(<[u8]>::to_vec))).unwrap()
    }
}

pub(crate) fn put(log: &Arc<Log>, tree: &Tree, key: &[u8], value: &[u8]) -> Attempt<Option<Lsn>> {
    let mut mtr = Mtr::begin(log, crate::mtr::max_entry_change_bytes(tree.space().page_size()))?;
    let position = tree.acquire(&mut mtr, key, value.len())?;
    if mtr.entry(&position).is_some() {
        tree.replace(&mut mtr, position, value);
    } else {
        tree.insert(&mut mtr, position, value);
    }
    Ok(mtr.is_changed().then(|| mtr.commit(|_| {}).end))
}

pub(crate) fn remove(log: &Arc<Log>, tree: &Tree, key: &[u8]) -> Attempt<Option<Lsn>> {
    let mut mtr = Mtr::begin(log, crate::mtr::max_entry_change_bytes(tree.space().page_size()))?;
    let position = tree.acquire_existing(&mut mtr, key)?;
    if !position.exists() {
        return Ok(None);
    }
    tree.remove(&mut mtr, position);
    Ok(Some(mtr.commit(|_| {}).end))
}
