//! Many threads, few frames, running cleaners.

use super::*;
use crate::{PageRead, metrics};
use palisade_base::event::retry_blocking;
use palisade_base::prng::{Prng, test_seed};
use palisade_io::{MemFileSystem, OsFileSystem, Waiting};
use std::path::PathBuf;

const PAGES: u64 = 64;
/// Two words of every page that must always be equal, far apart.
const WORDS: [usize; 2] = [64, PAGE_SIZE - 16];

/// A file system and a directory in it: in memory, where threads wait, or the operating system's, where the
/// kernel does.
struct Disk {
    fs: Arc<dyn FileSystem>,
    dir: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Disk {
    fn in_memory() -> Disk {
        let fs = Arc::new(MemFileSystem::new());
        fs.create_dir_all(Path::new("data")).unwrap();
        Disk { fs, dir: PathBuf::from("data"), _temporary: None }
    }

    fn real() -> Disk {
        let temporary = tempfile::tempdir().unwrap();
        Disk { fs: Arc::new(OsFileSystem), dir: temporary.path().into(), _temporary: Some(temporary) }
    }

    fn file(&self, name: &str) -> Arc<dyn File> {
        self.fs.open(&self.dir.join(name), OpenMode::CREATE.direct()).unwrap()
    }
}

fn sink(disk: &Disk) -> Arc<dyn PageSink> {
    Arc::new(Doublewrite::open(&disk.fs, &AreaConfig::new(&disk.dir, 2, 8, 1)).unwrap())
}

fn pool(disk: &Disk, frames: usize) -> (Arc<Log>, Arc<BufferPool>, Arc<Space>) {
    let config = LogConfig { background: true, ..log_config() };
    let log = Log::create(disk.fs.clone(), &disk.dir, config, Lsn(4096)).unwrap();
    let config = BufferConfig {
        page_cleaners: 2,
        batch_pages: 8,
        most_frames: 2 * frames,
        apply: Some(apply_increments),
        kept_share: 50,
        ..BufferConfig::new(frames)
    };
    let io = IoPool::new(2, Waiting::Kernel).unwrap();
    let pool = BufferPool::new(config, log.clone(), Arc::new(io)).unwrap();
    pool.start().unwrap();
    let space = pool.attach_space(SPACE, disk.file("space"), sink(disk)).unwrap();
    (log, pool, space)
}

/// Every eighth byte is one.
fn apply_increments(page: &mut Page, ops: &[u8]) -> Result<(), &'static str> {
    for word in WORDS {
        let value = page.u64_at(word);
        page.put_u64(word, value + ops.len() as u64 / 8);
    }
    Ok(())
}

fn increment(log: &Log, space: &Space, page: PageNo, create: bool) {
    let payload = [0; 8];
    retry_blocking(|| {
        let mut credit = log.admit(payload.len()).map_err(|blocked| blocked.map_err(|_| Error::Stopped))?;
        let mut page = if create { space.create(page)? } else { space.exclusive(page)? };
        for word in WORDS {
            let value = page.u64_at(word);
            page.put_u64(word, value + 1);
        }
        let range = log.append(&mut credit, &payload, |range| page.stamp(range));
        if page.is_recorded(range) {
            page.record(range, (!create).then_some(&payload));
        }
        Ok::<_, Blocked<Error>>(())
    })
    .unwrap();
}

/// One word of each, read under no latch and under a shared one; they agree.
fn read(space: &Space, page: PageNo, optimistic: bool) -> u64 {
    loop {
        let words = retry_blocking(|| {
            if optimistic {
                let page = space.optimistic(page)?;
                let words = WORDS.map(|word| page.u64_at(word));
                Ok::<_, Blocked<Error>>(page.validate().then_some(words))
            } else {
                let page = space.shared(page)?;
                Ok(Some(WORDS.map(|word| page.u64_at(word))))
            }
        });
        if let Some([first, last]) = words.unwrap() {
            assert_eq!(first, last, "a torn read was validated");
            return first;
        }
    }
}

#[test]
fn readers_and_writers_of_few_frames_see_consistent_pages_and_lose_no_change() {
    for disk in [Disk::in_memory(), Disk::real()] {
        read_and_write(&disk, test_seed(31));
    }
}

/// Resizes the pool again and again, between a half and twice of `frames`, until it is told to stop. How
/// often.
fn resize(pool: &BufferPool, frames: usize, seed: u64, stop: &AtomicBool) -> usize {
    let (mut random, mut resizes) = (Prng::new(seed), 0);
    while !stop.load(Ordering::Relaxed) {
        let size = frames / 2 + random.below(frames as u64 * 3 / 2 + 1) as usize;
        resizes += usize::from(pool.resize(size).is_ok());
        std::thread::sleep(Duration::from_micros(200));
    }
    resizes
}

fn read_and_write(disk: &Disk, seed: u64) {
    let kept = metrics::CHANGES_KEPT.value();
    let (log, pool, space) = pool(disk, 24);
    retry_blocking(|| space.ensure_allocated(PAGES as u32)).unwrap();
    (0..PAGES as u32).for_each(|page| increment(&log, &space, PageNo(page), true));
    let work = &|thread| {
        let (mut random, mut increments) = (Prng::new(seed + thread), 0);
        for _ in 0..1500 {
            // Half the accesses go to four pages, so that they collide.
            let pages = if random.one_in(2) { 4 } else { PAGES };
            let page = PageNo(random.below(pages) as u32);
            match random.below(3) {
                0 => {
                    increment(&log, &space, page, false);
                    increments += 1;
                }
                kind => assert!(read(&space, page, kind == 1) > 0),
            }
        }
        increments
    };
    let stop = AtomicBool::new(false);
    let increments: u64 = std::thread::scope(|scope| {
        let resizes = scope.spawn(|| resize(&pool, 24, seed, &stop));
        let threads: Vec<_> = (0..3).map(|thread| scope.spawn(move || work(thread))).collect();
        let increments = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        stop.store(true, Ordering::Relaxed);
        assert!(resizes.join().unwrap() > 10);
        increments
    });
    let total: u64 = (0..PAGES as u32).map(|page| read(&space, PageNo(page), false)).sum();
    assert_eq!(total, PAGES + increments);
    assert!(metrics::CHANGES_KEPT.value() > kept, "no page is kept");
    pool.shutdown().unwrap();
    log.shutdown().unwrap();
    assert_eq!(pool.dirty_pages(), 0);
}

/// The maps of many tables are due at once: several threads write them.
#[test]
fn maps_that_several_threads_write_hold_the_places_of_all_pages() {
    for disk in [Disk::in_memory(), Disk::real()] {
        write_maps(&disk, test_seed(33));
    }
}

fn write_maps(disk: &Disk, seed: u64) {
    const PAGES_OF_EACH: u32 = 6;
    let (log, pool, _) = pool(disk, 400);
    let sink = OutOfPlace::new(log.clone());
    let files =
        |id: SpaceId| [format!("{}.pages", id.0), format!("{}.map", id.0)].map(|name| disk.file(&name));
    let attach = |number: u32| {
        let id = SpaceId(100 + number);
        let [pages, map] = files(id);
        let store = PlaceStore::create(id, pages, map, PageSize::DEFAULT);
        let space = pool.attach_places(store, &sink).unwrap();
        retry_blocking(|| space.ensure_allocated(PAGES_OF_EACH)).unwrap();
        (0..PAGES_OF_EACH).for_each(|page| increment(&log, &space, PageNo(page), true));
        space
    };
    let spaces: Vec<Arc<Space>> = (0..40).map(attach).collect();
    for round in 0..8 {
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (log, spaces) = (&log, &spaces);
                scope.spawn(move || {
                    let mut random = Prng::new(seed + 10 * round + thread);
                    for _ in 0..150 {
                        let space = &spaces[random.below(spaces.len() as u64) as usize];
                        increment(log, space, PageNo(random.below(PAGES_OF_EACH.into()) as u32), false);
                    }
                });
            }
        });
        pool.checkpoint_sharply().unwrap();
        for space in &spaces {
            let [pages, map] = files(space.id());
            let written = PlaceStore::open(space.id(), pages, map, PageSize::DEFAULT).unwrap();
            written.complete().unwrap();
            let places = |store: &PlaceStore| -> Vec<_> {
                (0..PAGES_OF_EACH).map(|page| store.place(PageNo(page))).collect()
            };
            assert_eq!(places(&written), places(space.places().unwrap()), "space {}", space.id().0);
        }
    }
    let total: u64 = spaces
        .iter()
        .map(|space| (0..PAGES_OF_EACH).map(|page| read(space, PageNo(page), false)).sum::<u64>())
        .sum();
    assert_eq!(total, 40 * u64::from(PAGES_OF_EACH) + 8 * 3 * 150);
    pool.shutdown().unwrap();
    log.shutdown().unwrap();
}

#[test]
fn a_space_may_be_detached_while_its_pages_are_read_written_and_cleaned() {
    for disk in [Disk::in_memory(), Disk::real()] {
        detach_in_use(&disk);
    }
}

fn detach_in_use(disk: &Disk) {
    let (log, pool, keep) = pool(disk, 32);
    retry_blocking(|| keep.ensure_allocated(8)).unwrap();
    (0..8).for_each(|page| increment(&log, &keep, PageNo(page), true));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| resize(&pool, 32, 17, &stop));
        (0..20).for_each(|round| detach_round(disk, &log, &pool, &keep, round));
        stop.store(true, Ordering::Relaxed);
    });
    while matches!(pool.resizing(), crate::Resizing::UnderWay { .. }) {
        std::thread::yield_now();
    }
    (0..8).for_each(|page| assert_eq!(read(&keep, PageNo(page), true), 1));
    pool.shutdown().unwrap();
    assert_eq!((pool.dirty_pages(), pool.kept_pages()), (0, 0));
    assert_eq!(log.checkpoint_candidate(), log.tail());
    // Every frame is free or holds one of the eight pages that are left.
    let resident = (0..8).filter(|page| keep.owned_entry(PageNo(*page)).frame().is_some()).count();
    let charged = pool.core().frames.charged_count();
    assert_eq!(pool.free_frames(), pool.frames() - resident - charged);
}

fn detach_round(disk: &Disk, log: &Log, pool: &BufferPool, keep: &Space, round: u32) {
    let id = SpaceId(100 + round);
    let space = pool.attach_space(id, disk.file(&round.to_string()), keep.sink()).unwrap();
    retry_blocking(|| space.ensure_allocated(40)).unwrap();
    (0..40).for_each(|page| increment(log, &space, PageNo(page), true));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            for page in (0..40).cycle() {
                let outcome = retry_blocking(|| space.shared(PageNo(page)).map(|page| page.u64_at(WORDS[0])));
                match outcome {
                    Ok(value) => assert_eq!(value, 1),
                    Err(error) => return error,
                }
            }
            unreachable!("the pages never end");
        });
        std::thread::sleep(Duration::from_millis(2));
        pool.detach_space(id);
        assert!(matches!(reader.join().unwrap(), Error::Detached { .. }));
    });
}
