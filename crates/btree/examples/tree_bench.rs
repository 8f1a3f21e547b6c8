//! What a tree operation costs when everything is in memory: nanoseconds each, on one thread, and what a
//! cached read costs on all cores.
//!
//! ```text
//! cargo run --release -p palisade-btree --example tree_bench [rows]
//! ```
//!
//! Files are in memory and nothing waits for durability, so this is the work of this floor and those below
//! it.

use std::hint::black_box;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use palisade_base::event::retry_blocking;
use palisade_base::prng::Prng;
use palisade_base::{Lsn, PageNo, SpaceId};
use palisade_btree::mtr::max_entry_change_bytes;
use palisade_btree::{Direction, Mtr, Tree, alloc};
use palisade_buffer::{BufferConfig, BufferPool, Off, PageSize, Space};
use palisade_io::{FileSystem, IoPool, MemFileSystem, OpenMode, Waiting};
use palisade_log::{Log, LogConfig};

const ROW: usize = 190;

struct Bench {
    log: Arc<Log>,
    pool: Arc<BufferPool>,
    space: Arc<Space>,
}

impl Bench {
    fn new(frames: usize) -> Self {
        let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
        let dir = Path::new("/bench");
        let config = LogConfig { capacity: 256 << 20, buffer_size: 16 << 20, ..LogConfig::default() };
        let log = Log::create(fs.clone(), dir, config, Lsn(8192)).expect("a log");
        let io = Arc::new(IoPool::new(1, Waiting::Kernel).expect("an I/O thread"));
        let pool = BufferPool::new(BufferConfig::new(frames), log.clone(), io).expect("a buffer pool");
        pool.start().expect("cleaners");
        let file = fs.open(&dir.join("space"), OpenMode::CREATE_NEW).expect("a file");
        let space = pool.attach_space(SpaceId(2), file, Arc::new(Off)).expect("a space");
        retry_blocking(|| alloc::format_space(&log, &space)).expect("a formatted space");
        Bench { log, pool, space }
    }

    fn tree(&self) -> Tree {
        let root: Result<PageNo, palisade_btree::Error> = retry_blocking(|| {
            let mut mtr = Mtr::begin(&self.log, 1000)?;
            let mut reservation = alloc::reserve(&mut mtr, &self.space, PageNo::NONE, 1)?;
            let root = Tree::create(&mut mtr, &mut reservation, 1);
            mtr.commit(|_| {});
            Ok(root)
        });
        Tree::open(self.log.clone(), self.space.clone(), root.expect("a root"), 1)
    }

    fn put(&self, tree: &Tree, key: &[u8], value: &[u8]) {
        let done: Result<(), palisade_btree::Error> = retry_blocking(|| {
            let mut mtr = Mtr::begin(&self.log, max_entry_change_bytes(PageSize::DEFAULT))?;
            let position = tree.acquire(&mut mtr, key, value.len())?;
            match position.exists() {
                true => tree.replace(&mut mtr, position, value),
                false => tree.insert(&mut mtr, position, value),
            }
            mtr.commit(|_| {});
            Ok(())
        });
        done.expect("a change");
    }
}

fn key(n: u64) -> [u8; 8] {
    (1u64 << 63 | n).to_be_bytes()
}

fn timed(what: &str, count: u64, mut operation: impl FnMut(u64)) {
    let start = Instant::now();
    for n in 0..count {
        operation(n);
    }
    println!("{what:44} {:8.0} ns", start.elapsed().as_nanos() as f64 / count as f64);
}

fn sum(value: Option<&[u8]>) -> u64 {
    value.map_or(0, |value| value.iter().step_by(64).map(|byte| u64::from(*byte)).sum())
}

fn main() {
    let rows: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let bench = Bench::new((rows as usize * 3 * (ROW + 40) / PageSize::DEFAULT.bytes()).max(2000) * 2);
    let tree = bench.tree();
    let mut value = vec![7; ROW];
    let mut prng = Prng::new(1);
    // The first tree's inserts also pay for memory used for the first time.
    let first = bench.tree();
    timed("insert, ascending, into fresh memory", rows, |n| bench.put(&first, &key(n), &value));
    timed("insert, ascending", rows, |n| bench.put(&tree, &key(n), &value));
    let statistics = retry_blocking(|| tree.statistics(20, 1)).expect("statistics");
    println!("{statistics:?}");
    timed("get, ascending", rows, |n| {
        black_box(retry_blocking(|| tree.get(&key(n), sum)).expect("a value"));
    });
    timed("get, random", rows, |_| {
        let key = key(prng.below(rows));
        black_box(retry_blocking(|| tree.get(&key, sum)).expect("a value"));
    });
    timed("get, 1000 hot keys", rows, |_| {
        let key = key(prng.below(1000) * (rows / 1000));
        black_box(retry_blocking(|| tree.get(&key, sum)).expect("a value"));
    });
    timed("replace 4 bytes, random", rows, |n| {
        value[90..94].copy_from_slice(&(n as u32).to_le_bytes());
        bench.put(&tree, &key(prng.below(rows)), &value);
    });
    timed("scan of 100 from a random key", rows / 20, |_| {
        let key = key(prng.below(rows));
        let mut left = 100;
        let mut from = Bound::Included(palisade_btree::Key::from_slice(&key));
        while left > 0 {
            let bound = match &from {
                Bound::Included(key) => Bound::Included(&key[..]),
                _ => break,
            };
            let end = retry_blocking(|| {
                tree.scan(bound, Direction::Forward, |_, value| {
                    black_box(sum(Some(value)));
                    left -= 1;
                    if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })
            });
            from = match end.expect("a scan").next_bound() {
                Some(Bound::Included(key)) => Bound::Included(palisade_btree::Key::from_slice(key)),
                _ => Bound::Unbounded,
            };
        }
    });
    let other = bench.tree();
    timed("insert, random, of 15-byte entries", rows, |_| {
        bench.put(&other, &prng.next_u64().to_be_bytes(), &value[..7]);
    });
    readers(&tree, rows);
    bench.pool.shutdown().expect("a checkpoint");
    bench.log.shutdown().expect("the end of the log");
}

/// Cached reads on all cores.
fn readers(tree: &Tree, rows: u64) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (reads, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let took = Duration::from_secs(1);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (reads, stop) = (&reads, &stop);
            scope.spawn(move || {
                let mut prng = Prng::new(thread as u64);
                let mut own = 0;
                while !stop.load(Ordering::Relaxed) {
                    let key = key(prng.below(rows));
                    black_box(retry_blocking(|| tree.get(&key, sum)).expect("a value"));
                    own += 1;
                }
                reads.fetch_add(own, Ordering::Relaxed);
            });
        }
        std::thread::sleep(took);
        stop.store(true, Ordering::Relaxed);
    });
    let rate = reads.load(Ordering::Relaxed) as f64 / took.as_secs_f64();
    println!("get, random, {threads} threads: {:.2} million a second", rate / 1e6);
}
