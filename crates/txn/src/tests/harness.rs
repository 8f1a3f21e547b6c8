//! A transaction system on a log and a pool without threads, with one table: a clustered tree and one
//! secondary tree.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use palisade_base::clock::SystemClock;
use palisade_base::event::retry_blocking;
use palisade_base::{Event, Lsn, PageNo, SpaceId};
use palisade_btree::mtr::MAX_ALLOCATION_BYTES;
use palisade_btree::{Mtr, Tree, alloc, recovery};
use palisade_buffer::doublewrite::{Directories, repair};
use palisade_buffer::{AreaConfig, BufferConfig, BufferPool, Doublewrite, PageSize, Space};
use palisade_io::{FaultFileSystem, FileSystem, IoPool, OpenMode};
use palisade_log::{Log, LogConfig};

use crate::undo::segment::UNDO_SPACE;
use crate::undo::verify::{UndoReport, verify_undo};
use crate::{Gaps, RowChange, RowOutcome, Trees, Trx, TrxSystem};

pub(crate) const DATA_SPACE: SpaceId = SpaceId(5);
pub(crate) const CLUSTERED: u64 = 50;
pub(crate) const SECONDARY: u64 = 51;
const DIR: &str = "/d";
/// Pages of a batch.
const BATCH_PAGES: usize = 16;

pub(crate) struct Store {
    pub(crate) log: Arc<Log>,
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) system: Arc<TrxSystem>,
    pub(crate) clustered: Tree,
    pub(crate) secondary: Tree,
}

struct Finder {
    trees: [Tree; 2],
    pool: Arc<BufferPool>,
}

impl Trees for Finder {
    fn tree(&self, index: u64) -> Option<Tree> {
        self.trees.iter().find(|tree| tree.index_id() == index).cloned()
    }

    fn space(&self, space: SpaceId) -> Option<Arc<Space>> {
        self.pool.space(space)
    }
}

/// Of the log that is not said otherwise.
const LOG_ID: u64 = 0;

thread_local! {
    /// The size of pages of the stores that this thread makes.
    static SIZE: Cell<PageSize> = const { Cell::new(PageSize::DEFAULT) };
}

/// Bytes of a long value: some four of them fill a page.
pub(crate) fn longest_value() -> usize {
    (SIZE.get().bytes() / 5).min(3000)
}

/// Runs a test with stores of every other size of pages.
pub(crate) fn at_other_sizes(test: impl Fn()) {
    for size in PageSize::ALL.into_iter().filter(|size| *size != PageSize::DEFAULT) {
        SIZE.set(size);
        test();
    }
    SIZE.set(PageSize::DEFAULT);
}

fn log_config() -> LogConfig {
    LogConfig {
        background: false,
        capacity: 64 << 20,
        buffer_size: 4 << 20,
        on_failure: Arc::new(|_| {}),
        ..LogConfig::default()
    }
}

fn sink(fs: &Arc<dyn FileSystem>) -> Arc<Doublewrite> {
    let config =
        AreaConfig { page_size: SIZE.get(), ..AreaConfig::new(Path::new(DIR), 1, BATCH_PAGES, LOG_ID) };
    Arc::new(Doublewrite::open(fs, &config).unwrap())
}

fn pool(log: &Arc<Log>) -> Arc<BufferPool> {
    let mut config = BufferConfig::new(3000);
    config.page_size = SIZE.get();
    config.batch_pages = BATCH_PAGES;
    config.page_cleaners = 1;
    config.on_fatal = Arc::new(|_| {});
    BufferPool::new(config, log.clone(), Arc::new(IoPool::inline())).unwrap()
}

fn file(space: SpaceId) -> std::path::PathBuf {
    Path::new(DIR).join(space.0.to_string())
}

/// The roots are where the first two trees of a space come to be.
const ROOTS: [(u64, PageNo); 2] = [(CLUSTERED, PageNo(1)), (SECONDARY, PageNo(2))];

impl Store {
    pub(crate) fn create(fs: &Arc<FaultFileSystem>) -> Store {
        let fs: Arc<dyn FileSystem> = fs.clone();
        fs.create_dir_all(Path::new(DIR)).unwrap();
        let log = Log::create(fs.clone(), Path::new(DIR), log_config(), Lsn(8192)).unwrap();
        let (pool, sink) = (pool(&log), sink(&fs));
        let attach = |space| {
            let file = fs.open(&file(space), OpenMode::CREATE_NEW).unwrap();
            let space = pool.attach_space(space, file, sink.clone()).unwrap();
            retry_blocking(|| alloc::format_space(&log, &space)).unwrap();
            space
        };
        let (undo, data) = (attach(UNDO_SPACE), attach(DATA_SPACE));
        fs.sync_dir(Path::new(DIR)).unwrap();
        for (index, expected) in ROOTS {
            let mut mtr = retry_blocking(|| Mtr::begin(&log, MAX_ALLOCATION_BYTES + 100)).unwrap();
            let mut reservation =
                retry_blocking(|| alloc::reserve(&mut mtr, &data, PageNo::NONE, 1)).unwrap();
            assert_eq!(Tree::create(&mut mtr, &mut reservation, index), expected);
            mtr.commit(|_| {});
        }
        let clock = Arc::new(SystemClock::default());
        let system = TrxSystem::create(log.clone(), undo, clock).unwrap();
        let store = Store::assemble(log, pool, system, &data);
        store.flush();
        store
    }

    /// What a restart finds.
    pub(crate) fn recover(fs: &Arc<FaultFileSystem>) -> (Store, Vec<Trx>) {
        let fs: Arc<dyn FileSystem> = fs.clone();
        let (log, mut reader) = Log::open(fs.clone(), Path::new(DIR), log_config()).unwrap();
        let (pool, sink) = (pool(&log), sink(&fs));
        let files =
            [UNDO_SPACE, DATA_SPACE].map(|space| (space, fs.open(&file(space), OpenMode::EXISTING).unwrap()));
        let find = |space| files.iter().find(|(id, _)| *id == space).map(|(_, file)| file.clone());
        let directories = Directories { home: Path::new(DIR), others: &[], page_size: pool.page_size() };
        repair(&*fs, directories, LOG_ID, log.checkpoint_lsn(), &mut |space| find(space)).unwrap();
        for (space, file) in &files {
            pool.attach_space(*space, file.clone(), sink.clone()).unwrap();
        }
        let wait = |event: &Event| {
            event.wait_blocking();
            Ok(())
        };
        let mut find = |space| Ok(pool.space(space));
        recovery::apply(&mut reader, 1, &mut find, recovery::OnDamage::Fail, &wait).unwrap();
        log.start_after_recovery(reader).unwrap();
        let undo = pool.space(UNDO_SPACE).unwrap();
        let (system, in_flight) =
            TrxSystem::open(log.clone(), undo, Arc::new(SystemClock::default())).unwrap();
        let data = pool.space(DATA_SPACE).unwrap();
        (Store::assemble(log, pool, system, &data), in_flight)
    }

    /// The undo space, which must be sound, checked.
    pub(crate) fn undo_report(&self) -> UndoReport {
        let report =
            verify_undo(self.system.undo().space(), &mut |_, _| {}, &mut |_, _, _| {}, &mut |_| true)
                .unwrap();
        assert!(report.damage.is_empty(), "{:?}", report.damage);
        let space = report.space.as_ref().unwrap();
        assert!(space.damage.is_empty(), "{:?}", space.damage);
        report
    }

    fn assemble(log: Arc<Log>, pool: Arc<BufferPool>, system: Arc<TrxSystem>, data: &Arc<Space>) -> Store {
        let [clustered, secondary] =
            ROOTS.map(|(index, root)| Tree::open(log.clone(), data.clone(), root, index));
        let trees = [clustered.clone(), secondary.clone()];
        system.set_undo_kept(Some(1 << 20));
        system.set_trees(Box::new(Finder { trees, pool: pool.clone() }));
        Store { log, pool, system, clustered, secondary }
    }

    pub(crate) fn flush(&self) {
        self.log.flush_blocking(self.log.tail()).unwrap();
    }

    pub(crate) fn clean(&self) {
        self.flush();
        self.pool.step().unwrap();
    }
}

/// Inserts or updates a row, whoever has written it last.
pub(crate) fn put(store: &Store, trx: &mut Trx, key: &[u8], row: &[u8]) {
    let mut seen = Vec::new();
    let outcome = retry_blocking(|| {
        let header = trx.read_current(&store.clustered, key, Gaps::Open, &mut seen)?;
        let change = match header {
            Some(header) => RowChange::Update { expected: header.stamp(), flags: 0, row, released: None },
            None => RowChange::Insert { flags: 0, row },
        };
        trx.change_row(&store.clustered, key, change)
    });
    assert!(matches!(outcome.unwrap(), RowOutcome::Done(_)));
}
