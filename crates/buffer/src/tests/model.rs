//! One thread, a few frames: what is read is what was written, wherever it was meanwhile.

use super::*;
use crate::{Corruption, FlushSettings, IoCapacity, PageRead, cleaner::StepReport, metrics};
use palisade_base::prng::{Prng, test_seed};
use palisade_io::{Call, Fault};

const PAGES: u64 = 40;

fn random_change(random: &mut Prng, history: &[(Lsn, Change)]) -> Change {
    let page = PageNo(random.below(PAGES) as u32);
    let exists = history.iter().any(|(_, change)| change.page == page);
    let offset = PAGE_HEADER as u64 + random.below((page_bytes() - PAGE_HEADER - 7) as u64);
    Change { page, create: !exists || random.one_in(30), offset: offset as u16, value: random.next_u64() }
}

fn created(page: u32) -> Change {
    Change { page: PageNo(page), create: true, offset: 100, value: u64::from(page) + 1 }
}

fn check_page(world: &World, history: &[(Lsn, Change)], page: PageNo) {
    if let Some(expected) = replay(history, page, Lsn::MAX) {
        assert!(world.body(page).unwrap() == expected, "page {}", page.0);
    }
}

#[test]
fn pages_behave_like_a_map_of_pages() {
    behave_like_a_map();
}

#[test]
fn pages_of_other_sizes_behave_like_a_map_of_pages() {
    at_other_sizes(behave_like_a_map);
}

fn behave_like_a_map() {
    let mut random = Prng::new(test_seed(11));
    for frames in [4, 7, 16, 4, 7, 16] {
        let sink = if random.one_in(2) { Sink::OutOfPlace } else { Sink::Doublewrite };
        let world = World::create(Arc::new(FaultFileSystem::new(random.next_u64())), frames, sink);
        if random.one_in(2) {
            world.pool.set_kept_share(50);
        }
        let mut history = Vec::new();
        for _ in 0..1500 {
            world.clock.advance(Duration::from_millis(random.below(30)));
            match random.below(10) {
                0..5 => {
                    let change = random_change(&mut random, &history);
                    history.push((world.change(change).unwrap(), change));
                }
                5..8 => check_page(&world, &history, PageNo(random.below(PAGES) as u32)),
                8 => check_optimistically(&world, &history, &mut random),
                9 if random.one_in(2) => world.space.read_ahead([PageNo(random.below(PAGES) as u32)]),
                _ => {
                    world.pool.step().unwrap();
                }
            }
            assert!(world.pool.free_frames() <= frames && world.pool.dirty_pages() <= frames);
        }
        (0..PAGES).for_each(|page| check_page(&world, &history, PageNo(page as u32)));
        world.pool.shutdown().unwrap();
        assert_eq!(world.pool.dirty_pages(), 0);
        assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
        check_disk(&world, &history);
    }
}

/// Reads a few words of a page without a latch, as a search would.
fn check_optimistically(world: &World, history: &[(Lsn, Change)], random: &mut Prng) {
    let page = PageNo(random.below(PAGES) as u32);
    let Some(expected) = replay(history, page, Lsn::MAX) else { return };
    let offset = random.below((page_bytes() - PAGE_HEADER - 8) as u64) as usize;
    let (word, upgraded) = world
        .retry(|| {
            let page = world.space.optimistic(page)?;
            let word = page.u64_at(PAGE_HEADER + offset);
            assert!(page.validate(), "nobody else changes it");
            let shared = page.upgrade_shared().expect("nobody else changes it");
            Ok((word, shared.u64_at(PAGE_HEADER + offset)))
        })
        .unwrap();
    assert_eq!(word.to_le_bytes(), expected[offset..offset + 8]);
    assert_eq!(word, upgraded);
}

/// After a sharp checkpoint the file holds every page, sealed.
fn check_disk(world: &World, history: &[(Lsn, Change)]) {
    let mut bytes = vec![0; page_bytes()];
    for page in (0..PAGES as u32).map(PageNo) {
        if let Some(expected) = replay(history, page, Lsn::MAX) {
            let offset = match world.space.places() {
                Some(places) => places.place(page).offset(SIZE.get()),
                None => u64::from(page.0) * page_bytes() as u64,
            };
            world.space.file().read_at(&mut bytes, offset).unwrap();
            assert_eq!(crate::page::verify(PageId { space: SPACE, page }, &bytes), Ok(()));
            assert!(bytes[PAGE_HEADER..] == expected);
        }
    }
}

#[test]
fn a_created_page_that_is_dropped_unwritten_leaves_no_trace() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 4, Sink::Off);
    world.change(created(0)).unwrap();
    world.retry(|| world.space.ensure_allocated(2)).unwrap();
    let free = world.pool.free_frames();
    let fresh = world.retry(|| world.space.create(PageNo(1))).unwrap();
    assert!(fresh.iter().all(|&byte| byte == 0));
    drop(fresh);
    assert_eq!(world.pool.free_frames(), free);
    let again = world.retry(|| world.space.create(PageNo(0))).unwrap();
    assert!(again.iter().all(|&byte| byte == 0), "a page to be written anew reads as zeros");
    drop(again);
    assert_eq!(world.body(PageNo(0)).unwrap(), replay(&[(Lsn(1), created(0))], PageNo(0), Lsn(1)).unwrap());
}

#[test]
#[should_panic(expected = "page 3:0 was changed and its latch given back without a log record")]
fn a_change_without_a_log_record_is_refused() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 4, Sink::Off);
    world.change(created(0)).unwrap();
    world.retry(|| world.space.exclusive(PageNo(0))).unwrap().put(100, b"lost");
}

#[test]
fn a_flipped_bit_is_an_error_that_names_the_page_and_the_others_stay_readable() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 4, Sink::Doublewrite);
    for page in 0..3 {
        world.change(created(page)).unwrap();
    }
    world.pool.shutdown().unwrap();
    let (world, _) = World::open(world.fs.clone(), 4, Sink::Doublewrite).unwrap();
    world.fs.flip_bit(Path::new("data/space"), 8 * (page_bytes() as u64 + 5000) + 3);
    let page = PageId { space: SPACE, page: PageNo(1) };
    for _ in 0..2 {
        let error = world.body(page.page).unwrap_err();
        assert!(
            matches!(error, Error::Corrupted { page: found, reason: Corruption::Checksum { .. } } if found == page),
            "{error}"
        );
        assert!(error.to_string().starts_with("page 3:1 checksum is "), "{error}");
    }
    assert!(world.body(PageNo(0)).is_ok() && world.body(PageNo(2)).is_ok());
    // The doublewrite file still holds a good copy, but from before the checkpoint: no reason to trust it.
    assert_eq!(world.repair(|_| Some(world.space.file().clone())).unwrap().pages, []);
}

#[test]
fn pages_misplaced_unwritten_or_beyond_the_end_are_told_apart() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 4, Sink::Off);
    world.change(created(0)).unwrap();
    world.pool.shutdown().unwrap();
    let (world, _) = World::open(world.fs.clone(), 4, Sink::Off).unwrap();
    let mut bytes = vec![0; page_bytes()];
    world.space.file().read_at(&mut bytes, 0).unwrap();
    world.space.file().write_at(&bytes, page_bytes() as u64).unwrap();
    let reason = |page| match world.body(PageNo(page)) {
        Err(Error::Corrupted { reason, .. }) => reason,
        other => panic!("page {page}: {other:?}"),
    };
    assert_eq!(reason(1), Corruption::WrongPage { found: PageId { space: SPACE, page: PageNo(0) } });
    assert_eq!(reason(2), Corruption::Zeroed);
    let pages = world.space.pages();
    assert_eq!(reason(pages), Corruption::BeyondEnd { pages });
}

#[test]
fn a_failed_read_is_reported_to_those_who_waited_and_then_tried_again() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 4, Sink::Off);
    world.change(created(0)).unwrap();
    world.pool.shutdown().unwrap();
    let (world, _) = World::open(world.fs.clone(), 4, Sink::Off).unwrap();
    world.fs.fail(Call::Read, 1, Fault::Io);
    assert!(matches!(world.body(PageNo(0)), Err(Error::Io { page, .. }) if page.page == PageNo(0)));
    assert!(world.body(PageNo(0)).is_ok());
    assert_eq!(world.pool.free_frames(), 3, "the frame of the failed read was given back");
}

#[test]
fn a_page_read_ahead_is_in_memory_and_what_goes_wrong_is_told_to_nobody() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 4, Sink::Off);
    for page in 0..6 {
        world.change(created(page)).unwrap();
    }
    world.pool.shutdown().unwrap();
    let (world, _) = World::open(world.fs.clone(), 4, Sink::Off).unwrap();
    world.fs.fail(Call::Read, 1, Fault::Io);
    world.space.read_ahead([PageNo(0)]);
    assert!(!world.space.has(PageNo(0)));
    assert!(world.body(PageNo(0)).is_ok(), "who wants the page has it read");
    world.space.read_ahead([PageNo(1)]);
    assert!(world.space.has(PageNo(1)));
    world.space.read_ahead([PageNo(1)]);
    assert_eq!(world.pool.free_frames(), 2, "a page is read once");
    world.space.read_ahead((2..6).map(PageNo));
    assert_eq!(world.pool.free_frames(), 0, "and none when there is no frame for it");
    world.space.read_ahead([PageNo(1_000_000)]);
    (0..6).for_each(|page| check_page(&world, &[(Lsn(1), created(page))], PageNo(page)));
}

#[test]
fn a_full_disk_is_an_error_of_the_extension_and_nothing_else() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 4, Sink::Off);
    world.change(created(0)).unwrap();
    let pages = world.space.pages();
    assert_eq!(pages, 4, "a file begins with 64 KiB");
    world.fs.fail(Call::Resize, 1, Fault::NoSpace);
    world.fs.fail(Call::Resize, 2, Fault::NoSpace);
    let error = world.retry(|| world.space.ensure_allocated(pages + 1)).unwrap_err();
    assert!(matches!(error, Error::NoSpace { space: SPACE, .. }), "{error}");
    assert!(world.body(PageNo(0)).is_ok());
    // Not even a whole step fits, but what is asked for does.
    world.fs.fail(Call::Resize, 1, Fault::NoSpace);
    world.retry(|| world.space.ensure_allocated(pages + 1)).unwrap();
    assert_eq!(world.space.pages(), pages + 1);
}

#[test]
fn a_failure_that_nobody_came_back_for_is_not_told_to_others_later() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 4, Sink::Off);
    world.change(created(0)).unwrap();
    let pages = world.space.pages();
    world.fs.fail(Call::Resize, 1, Fault::NoSpace);
    world.fs.fail(Call::Resize, 2, Fault::NoSpace);
    assert!(matches!(world.space.ensure_allocated(pages + 1), Err(Blocked::Wait(_))));
    // Who has asked gives up. There is room again when somebody else asks.
    world.clock.advance(Duration::from_secs(60));
    world.retry(|| world.space.ensure_allocated(pages + 1)).unwrap();

    world.pool.checkpoint_sharply().unwrap();
    for page in 1..10 {
        world.change(created(page)).unwrap();
    }
    assert!(!world.space.has(PageNo(0)));
    world.fs.fail(Call::Read, 1, Fault::Io);
    while let Err(Blocked::Wait(event)) = world.space.shared(PageNo(0)) {
        if event.is_complete() {
            break;
        }
        world.pool.step().unwrap();
    }
    world.clock.advance(Duration::from_secs(60));
    assert!(world.body(PageNo(0)).is_ok());
}

#[test]
fn a_failed_write_or_sync_stops_the_pool() {
    // After a sync has failed a full disk is no better a reason than another: nobody knows what it has lost.
    for (call, fault, sink) in [
        (Call::Write, Fault::Io, Sink::Off),
        (Call::Sync, Fault::Io, Sink::Off),
        (Call::Sync, Fault::NoSpace, Sink::Off),
        (Call::Sync, Fault::NoSpace, Sink::Doublewrite),
    ] {
        let world = World::create(Arc::new(FaultFileSystem::new(1)), 8, sink);
        world.change(created(0)).unwrap();
        world.log.flush_blocking(world.log.tail()).unwrap();
        world.fs.fail(call, 1, fault);
        assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Stopped)));
        assert!(world.fatal.load(Ordering::Relaxed), "a failed {call:?} is fatal");
        assert!(
            world.log.checkpoint_candidate() < world.log.tail(),
            "no checkpoint passes an unwritten page"
        );
        assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Stopped)));
    }
}

#[test]
fn a_detached_space_loses_its_pages_unwritten_and_its_frames_are_free() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 8, Sink::Off);
    for page in 0..4 {
        world.change(created(page)).unwrap();
    }
    assert_eq!((world.pool.free_frames(), world.pool.dirty_pages()), (4, 4));
    world.fs.start_trace();
    world.pool.detach_space(SPACE);
    assert_eq!((world.pool.free_frames(), world.pool.dirty_pages()), (8, 0));
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
    assert!(matches!(world.body(PageNo(0)), Err(Error::Detached { space: SPACE })));
    assert!(matches!(world.retry(|| world.space.create(PageNo(0)).map(drop)), Err(Error::Detached { .. })));
    assert!(matches!(world.retry(|| world.space.ensure_allocated(1000)), Err(Error::Detached { .. })));
    world.pool.step().unwrap();
    assert_eq!(world.fs.take_trace(), "");
    assert!(world.pool.space(SPACE).is_none());
}

#[test]
fn detaching_a_space_looks_at_its_pages_or_at_the_frames_whichever_are_fewer() {
    for frames in [200, 16] {
        let world = World::create(Arc::new(FaultFileSystem::new(1)), frames, Sink::Off);
        for page in 0..40 {
            world.change(created(page)).unwrap();
        }
        let pages = world.space.pages() as usize;
        assert!((40..200).contains(&pages));
        assert_eq!(world.pool.detach_space(SPACE), pages.min(frames));
        assert_eq!((world.pool.free_frames(), world.pool.dirty_pages()), (frames, 0));
        assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
        assert_eq!(world.pool.detach_space(SPACE), 0);
    }
}

#[test]
fn the_file_of_a_dropped_space_is_closed() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 8, Sink::Doublewrite);
    world.change(created(0)).unwrap();
    world.pool.checkpoint_sharply().unwrap();
    let file = Arc::downgrade(world.space.file());
    world.pool.detach_space(SPACE);
    drop(world.space);
    assert!(file.upgrade().is_none(), "while it is open the disk does not get its room back");
}

#[test]
fn eviction_spares_what_was_accessed_again() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 16, Sink::Off);
    for page in 0..40 {
        world.change(created(page)).unwrap();
        // Page 0 is accessed all the time.
        world.body(PageNo(0)).unwrap();
    }
    world.pool.step().unwrap();
    let reads = metrics::BUFFER_PAGES_READ.value();
    world.body(PageNo(0)).unwrap();
    // Other tests read, too; that page 0 was not among them shows in its frame.
    assert!(reads > 0);
    assert!(world.space.owned_entry(PageNo(0)).frame().is_some());
}

#[test]
fn an_idle_pool_writes_its_dirty_pages_and_moves_the_checkpoint() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 64, Sink::Doublewrite);
    for page in 0..20 {
        world.change(created(page)).unwrap();
    }
    assert_eq!(
        world.pool.step().unwrap(),
        StepReport::default(),
        "a young log and a busy server: nothing to do"
    );
    for _ in 0..30 {
        world.clock.advance(Duration::from_millis(100));
        world.pool.step().unwrap();
    }
    assert_eq!(world.pool.dirty_pages(), 0);
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
    assert!(world.log.checkpoint_lsn() > Lsn(4096));
}

#[test]
fn the_rate_of_writing_back_follows_its_setting() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 64, Sink::Off);
    // So many dirty pages that some are written, so few that frames are free.
    for page in 0..40 {
        world.change(created(page)).unwrap();
    }
    let steps = |most| {
        let io_capacity = IoCapacity { idle: 1, most };
        world.pool.set_flushing(FlushSettings { io_capacity, ..FlushSettings::default() });
        world.clock.advance(Duration::from_millis(50));
        world.pool.step().unwrap().written
    };
    assert_eq!(steps(200), 0, "no time has passed since the first step");
    assert_eq!(steps(200), 3);
    assert_eq!(world.pool.dirty_pages(), 37);
    world.clock.advance(Duration::from_millis(500));
    assert_eq!(steps(200_000), 37);
}

/// The physical effect of one batch, as a script: log first, then the copies, then the places; each durable
/// before the next.
#[test]
fn a_batch_is_durable_in_the_log_and_in_the_doublewrite_file_before_it_is_written_in_place() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 8, Sink::Doublewrite);
    for page in [5, 1, 2] {
        world.change(created(page)).unwrap();
    }
    world.fs.start_trace();
    world.pool.checkpoint_sharply().unwrap();
    let expected = "\
write data/log.000000000000 0+512
sync data/log.000000000000
write data/doublewrite.0 32768+49152
sync data/doublewrite.0
write data/space 16384+32768
write data/space 81920+16384
sync data/space
";
    let trace = world.fs.take_trace();
    assert!(trace.starts_with(expected), "{trace}");
    assert!(trace[expected.len()..].starts_with("write data/checkpoint"), "{trace}");
}
