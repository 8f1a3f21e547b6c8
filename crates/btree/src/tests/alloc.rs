//! Allocation against a set of page numbers.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use palisade_base::event::retry_blocking;
use palisade_base::prng::{Prng, test_seed};
use palisade_base::{Blocked, PageNo};
use palisade_buffer::{PageSize, Space};
use palisade_io::{File, IoPool, MemFileSystem, Overlay, OverlayFileSystem};

use super::harness::{Store, at_sizes, page_bytes, with_cleaner};
use crate::layout::space::{EXTENT_PAGES, group_pages};
use crate::verify::verify_space;
use crate::{Error, Mtr, PageOp, PageSet, alloc};

const FORMAT: PageOp<'static> = PageOp::Format { page_type: 16 };

pub(super) fn allocate(store: &Store, near: PageNo, count: u32) -> Result<Vec<PageNo>, Error> {
    store.run(|| {
        let mut mtr = Mtr::begin(&store.log, 40_000)?;
        let mut reservation = alloc::reserve(&mut mtr, &store.space, near, count)?;
        let pages = (0..count).map(|_| reservation.allocate(&mut mtr, FORMAT).0).collect();
        mtr.commit(|_| {});
        Ok(pages)
    })
}

pub(super) fn free(store: &Store, page: PageNo) -> Result<(), Error> {
    store.run(|| {
        let mut mtr = Mtr::begin(&store.log, 1000)?;
        let freeing = alloc::prepare_free(&mut mtr, &store.space, page)?;
        alloc::free(&mut mtr, freeing);
        mtr.commit(|_| {});
        Ok(())
    })
}

fn check(store: &Store, used: &BTreeSet<PageNo>) {
    let damage =
        with_cleaner(&store.pool, || verify_space(&store.space, &used.iter().copied().collect()).unwrap());
    assert_eq!(damage, []);
    let usage = store.run(|| alloc::usage(&store.space)).unwrap();
    let groups = usage.high_water.div_ceil(group_pages(page_bytes()));
    assert_eq!(usage.high_water - usage.free, used.len() as u32 + groups);
}

#[test]
fn no_page_is_given_twice_and_freed_ones_come_back() {
    let mut prng = Prng::new(test_seed(61));
    let store = Store::in_memory(300);
    let mut used = BTreeSet::new();
    for step in 0..1500u32 {
        if prng.below(10) < if step / 300 % 2 == 0 { 3 } else { 7 } && !used.is_empty() {
            let page = *used.iter().nth(prng.below(used.len() as u64) as usize).unwrap();
            free(&store, page).unwrap();
            used.remove(&page);
            assert!(matches!(free(&store, page), Err(Error::Corrupted { .. })), "freed twice");
        } else {
            let near = used.iter().nth(prng.below(used.len().max(1) as u64) as usize).copied();
            let count = 1 + if prng.one_in(10) { prng.below(8) as u32 } else { 0 };
            for page in allocate(&store, near.unwrap_or_default(), count).unwrap() {
                assert!(used.insert(page), "{page:?} given twice");
            }
        }
        if step % 100 == 99 {
            check(&store, &used);
        }
    }
    for page in &used {
        free(&store, *page).unwrap();
    }
    check(&store, &BTreeSet::new());
}

#[test]
fn a_reservation_not_used_leaves_the_page_free() {
    let store = Store::in_memory(50);
    let first = allocate(&store, PageNo::NONE, 1).unwrap();
    {
        let mut mtr = Mtr::begin(&store.log, 1000).unwrap();
        let reservation = store.run(|| alloc::reserve(&mut mtr, &store.space, first[0], 2)).unwrap();
        assert_eq!(reservation.remaining(), 2);
    }
    check(&store, &first.into_iter().collect());
}

#[test]
fn a_small_space_is_a_small_file_and_grows_by_extents() {
    let store = Store::in_memory(300);
    let mut marks = vec![];
    for _ in 0..200 {
        allocate(&store, PageNo::NONE, 1).unwrap();
        let mark = store.run(|| alloc::usage(&store.space)).unwrap().high_water;
        if marks.last() != Some(&mark) {
            marks.push(mark);
        }
    }
    assert_eq!(marks, [4, 8, 16, 32, 64, 128, 192, 256]);
}

#[test]
fn neighbours_stay_together_while_their_extents_last() {
    let store = Store::in_memory(500);
    let mut last = [PageNo::NONE; 2];
    let mut extents = [BTreeSet::new(), BTreeSet::new()];
    for round in 0..400 {
        let tree = round % 2;
        last[tree] = allocate(&store, last[tree], 1).unwrap()[0];
        extents[tree].insert(last[tree].0 / EXTENT_PAGES);
    }
    let shared = extents[0].intersection(&extents[1]).count();
    assert!(shared <= 1, "two trees that grow at once share {shared} extents: {extents:?}");
    assert!(extents[0].len() <= 5);
}

/// Groups are up to 1 GiB: the space is grown by hand to just before the end of the first.
#[test]
fn the_second_group_has_its_own_map() {
    group_has_its_own_map();
    at_sizes(&PageSize::ALL[..2], group_has_its_own_map);
}

fn group_has_its_own_map() {
    let store = Store::in_memory(200);
    let group_pages = group_pages(page_bytes());
    let nearly = group_pages - 3;
    store.run(|| store.space.ensure_allocated(nearly).map_err(Blocked::up)).unwrap();
    let pages: Vec<u16> = (1..nearly as u16).collect();
    for some in pages.chunks(4000) {
        let mut mtr = store.run(|| Mtr::begin(&store.log, 60_000)).unwrap();
        let header = store.run(|| mtr.exclusive(&store.space, PageNo(0))).unwrap();
        for page_in_group in some {
            mtr.apply(header, PageOp::Allocate { page_in_group: *page_in_group });
        }
        mtr.apply(header, PageOp::SetHighWater { pages: nearly });
        mtr.apply(header, PageOp::SetFirstFreeGroup { group: 1 });
        mtr.commit(|_| {});
    }
    let mut used: BTreeSet<PageNo> = (1..nearly).map(PageNo).collect();
    for count in [2, 5, 1, 1] {
        used.extend(allocate(&store, PageNo(nearly - 1), count).unwrap());
    }
    assert!(used.contains(&PageNo(nearly)) && used.contains(&PageNo(group_pages + 1)));
    assert!(!used.contains(&PageNo(group_pages)), "the map's own page");
    check(&store, &used);
    for page in used.split_off(&PageNo(nearly)) {
        free(&store, page).unwrap();
    }
    check(&store, &used);
    assert!(matches!(free(&store, PageNo(group_pages)), Err(Error::Corrupted { .. })), "a map is not freed");
}

/// Sees what others find while the file system makes a hole.
#[derive(Default)]
struct MeanwhileHoles {
    space: OnceLock<Weak<Space>>,
    made: AtomicUsize,
}

impl Overlay for MeanwhileHoles {
    fn punch_hole(&self, _: &Path, file: &dyn File, offset: u64, len: u64) -> io::Result<()> {
        let space = self.space.get().and_then(Weak::upgrade).expect("holes are made later");
        let first = PageNo((offset / page_bytes() as u64) as u32);
        let other = std::thread::spawn(move || {
            drop(retry_blocking(|| space.exclusive(PageNo(0))).unwrap());
            let asked = space.ensure_backed(first, EXTENT_PAGES);
            matches!(asked, Err(Blocked::Wait(event)) if !event.is_complete())
        });
        let waits = other.join().expect("the map is not latched while the file system works");
        assert!(waits, "who would allocate from the extent waits");
        self.made.fetch_add(1, Ordering::Relaxed);
        file.punch_hole(offset, len)
    }
}

#[test]
fn nobody_spins_on_a_latch_while_room_is_given_back() {
    let disk = Arc::new(OverlayFileSystem::new(Arc::new(MemFileSystem::new()), MeanwhileHoles::default()));
    let store = Store::create(disk.clone(), 300, IoPool::inline(), false);
    store.space.expect_holes();
    disk.overlay().space.set(Arc::downgrade(&store.space)).unwrap();
    let mut pages = Vec::new();
    for _ in 0..4 {
        pages.extend(allocate(&store, pages.last().copied().unwrap_or_default(), EXTENT_PAGES).unwrap());
    }
    for page in pages {
        free(&store, page).unwrap();
    }
    let extents = store.run(|| alloc::free_extents(&store.space, 0)).unwrap();
    let give_all_back = || {
        for first in &extents {
            store.run(|| alloc::give_back_extent(&store.space, *first)).unwrap();
        }
        disk.overlay().made.load(Ordering::Relaxed)
    };
    assert!(extents.len() > 2);
    assert_eq!(give_all_back(), extents.len());
    // Who has waited asks again; from then on the extents keep their room.
    for first in &extents {
        store.run(|| store.space.ensure_backed(*first, EXTENT_PAGES).map_err(Blocked::up)).unwrap();
    }
    assert_eq!(give_all_back(), extents.len());
}

#[test]
fn a_header_that_counts_too_many_free_pages_means_none_in_use() {
    let store = Store::in_memory(50);
    allocate(&store, PageNo::NONE, 3).unwrap();
    let in_use = || store.run(|| alloc::usage(&store.space)).unwrap().in_use();
    assert_eq!(in_use(), 3);
    let mut mtr = store.run(|| Mtr::begin(&store.log, 1000)).unwrap();
    let header = store.run(|| mtr.exclusive(&store.space, PageNo(0))).unwrap();
    mtr.apply(header, PageOp::SetGroup { group: 0, free_pages: u16::MAX, free_extents: 0 });
    mtr.commit(|_| {});
    assert_eq!(in_use(), 0);
    assert_ne!(verify_space(&store.space, &PageSet::new()).unwrap(), []);
}

fn apply_to_header(store: &Store, ops: &[PageOp<'_>]) {
    let mut mtr = store.run(|| Mtr::begin(&store.log, 1000)).unwrap();
    let header = store.run(|| mtr.exclusive(&store.space, PageNo(0))).unwrap();
    for op in ops {
        mtr.apply(header, *op);
    }
    mtr.commit(|_| {});
}

fn is_refused(store: &Store, near: PageNo) -> bool {
    let refused = |result: Result<Vec<PageNo>, Error>| match result {
        Err(Error::Corrupted { page, .. }) => page.page == PageNo(0),
        _ => false,
    };
    refused(allocate(store, near, 1)) && refused(allocate(store, PageNo::NONE, 1))
}

#[test]
fn a_page_in_use_is_not_given_out_though_its_map_calls_it_free() {
    let disk: Arc<dyn palisade_io::FileSystem> = Arc::new(MemFileSystem::new());
    let store = Store::create(disk.clone(), 50, IoPool::inline(), false);
    let used = allocate(&store, PageNo::NONE, 3).unwrap();
    assert_eq!(used[1], PageNo(2));
    let group = PageOp::SetGroup { group: 0, free_pages: 1, free_extents: 0 };
    apply_to_header(&store, &[PageOp::Release { page_in_group: 2 }, group]);
    assert!(is_refused(&store, used[0]), "in memory");
    store.pool.checkpoint_sharply().unwrap();
    drop(store);
    let (store, _) = Store::recover(disk, 50, 1);
    assert!(is_refused(&store, used[0]), "on disk");
}

#[test]
fn a_wrong_high_water_mark_gives_no_used_page_out_and_lets_no_file_grow() {
    let disk: Arc<dyn palisade_io::FileSystem> = Arc::new(MemFileSystem::new());
    let store = Store::create(disk.clone(), 50, IoPool::inline(), false);
    let used = allocate(&store, PageNo::NONE, 5).unwrap();
    apply_to_header(&store, &[PageOp::SetHighWater { pages: 2 }]);
    assert!(is_refused(&store, PageNo(1)), "too low");
    apply_to_header(&store, &[PageOp::SetHighWater { pages: 1 << 20 }]);
    let before = store.space.pages();
    store.run(|| alloc::open_space(&store.space)).unwrap();
    assert!(matches!(store.run(|| alloc::ensure_free(&store.space, 5)), Err(Error::Corrupted { .. })));
    assert!(is_refused(&store, used[0]), "too high");
    assert_eq!(store.space.pages(), before);
}

/// A damaged page can lead two threads to each other's pages. Each gives up what it has, and tries again.
#[test]
fn a_latch_that_is_not_given_back_is_not_waited_for_without_end() {
    let store = Store::in_memory(50);
    allocate(&store, PageNo::NONE, 3).unwrap();
    let page = |number| retry_blocking(|| store.space.exclusive(PageNo(number))).unwrap();
    let is_to_come_again = |attempt: Result<(), Blocked<palisade_buffer::Error>>| matches!(attempt, Err(Blocked::Wait(event)) if event.is_complete());
    let held = page(2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            [
                store.space.exclusive(PageNo(2)).map(drop),
                store.space.shared(PageNo(2)).map(drop),
                store.space.optimistic(PageNo(2)).map(drop),
                store.space.create(PageNo(2)).map(drop),
                store.space.create_unused(PageNo(2), |_| true).map(drop),
            ]
            .map(is_to_come_again)
        });
        assert_eq!(other.join().unwrap(), [true; 5]);
    });
    drop(held);
    drop(page(2));
}
