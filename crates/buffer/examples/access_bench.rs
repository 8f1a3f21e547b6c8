//! What an access costs when the page is in memory: `cargo run --release -p palisade-buffer --example
//! access_bench`.
//!
//! Nanoseconds per access on one thread, over 4096 pages in turn (the page table entry is seldom in the first
//! cache) and over one page.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use palisade_base::event::retry_blocking;
use palisade_base::{Blocked, Lsn, PageNo, SpaceId};
use palisade_buffer::{BufferConfig, BufferPool, Error, Off, PageRead, Space};
use palisade_io::{FileSystem, IoPool, MemFileSystem, OpenMode};
use palisade_log::{Log, LogConfig};

const PAGES: u32 = 4096;
const ACCESSES: u32 = 4_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fs = Arc::new(MemFileSystem::new());
    let log = Log::create(fs.clone(), Path::new("log"), LogConfig::default(), Lsn(4096))?;
    let pool = BufferPool::new(BufferConfig::new(8192), log.clone(), Arc::new(IoPool::inline()))?;
    let space =
        pool.attach_space(SpaceId(1), fs.open(Path::new("space"), OpenMode::CREATE)?, Arc::new(Off))?;
    retry_blocking(|| space.ensure_allocated(PAGES))?;
    for page in 0..PAGES {
        retry_blocking(|| {
            let mut credit = log.admit(8).map_err(|blocked| blocked.map_err(|_| Error::Stopped))?;
            let mut page = space.create(PageNo(page))?;
            page.put_u64(100, 1);
            log.append(&mut credit, &[0; 8], |range| page.stamp(range));
            Ok::<_, Blocked<Error>>(())
        })?;
    }
    for (name, pages) in [("4096 pages", PAGES), ("one page", 1)] {
        println!("{name}:");
        time("optimistic, one word, validated", &space, pages, |space, page| {
            let page = space.optimistic(page)?;
            let word = page.u64_at(100);
            Ok(u64::from(page.validate()) + word)
        });
        time("shared, one word", &space, pages, |space, page| Ok(space.shared(page)?.u64_at(100)));
        time("exclusive, nothing changed", &space, pages, |space, page| {
            Ok(space.exclusive(page)?.u64_at(100))
        });
        time("optimistic, compare 16 bytes", &space, pages, |space, page| {
            let page = space.optimistic(page)?;
            Ok(u64::from(page.compare(104, 16, &[0; 16]).is_eq() && page.validate()))
        });
    }
    let copy = retry_blocking(|| space.shared(PageNo(0)).map(|page| page.to_vec()))?;
    let start = Instant::now();
    for _ in 0..10_000 {
        black_box(palisade_buffer::page::verify(space.page_id(PageNo(0)), black_box(&copy)).is_ok());
    }
    println!("checksum of a page: {:.0} ns", start.elapsed().as_nanos() as f64 / 10_000.0);
    Ok(())
}

fn time(
    name: &str,
    space: &Space,
    pages: u32,
    access: impl Fn(&Space, PageNo) -> Result<u64, Blocked<Error>>,
) {
    let start = Instant::now();
    let mut sum = 0;
    for i in 0..ACCESSES {
        sum += access(space, PageNo(i % pages)).unwrap_or(0);
    }
    let each = start.elapsed().as_nanos() as f64 / f64::from(ACCESSES);
    println!("  {name}: {each:.1} ns ({sum})");
}
