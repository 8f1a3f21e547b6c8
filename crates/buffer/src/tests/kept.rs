//! Pages that leave memory unwritten.

use super::crash::crash_and_recover_keeping;
use super::*;
use crate::planted::{self, Planted};
use crate::{Codec, Corruption, PageRead, metrics};
use palisade_base::prng::{Prng, test_seed};
use palisade_io::{Call, Fault};

const PAGES: u64 = 60;

fn created(page: u32) -> Change {
    Change { page: PageNo(page), create: true, offset: 100, value: u64::from(page) + 1 }
}

fn changed(page: u32, value: u64) -> Change {
    Change { page: PageNo(page), create: false, offset: 200 + 8 * (value % 1000) as u16, value }
}

/// A world whose pages are on disk, of which all but a few have left memory, and that keeps changes.
fn keeping(frames: usize, pages: u32, sink: Sink) -> World {
    let world = World::create(Arc::new(FaultFileSystem::new(7)), frames, sink);
    for page in 0..pages {
        world.change(created(page)).unwrap();
    }
    world.pool.checkpoint_sharply().unwrap();
    world.pool.set_kept_share(50);
    world.pool.core().frames.keeping.is_wanted(Duration::ZERO);
    world
}

/// Has `page` leave memory by changing others after it.
fn push_out(world: &World, page: u32, others: std::ops::Range<u32>) {
    for _ in 0..20 {
        for other in others.clone() {
            if !world.space.has(PageNo(page)) {
                return;
            }
            world.body(PageNo(other)).unwrap();
            world.pool.step().unwrap();
        }
    }
    panic!("page {page} stays in memory");
}

/// Everything at random, one thread: what is read is what was written, and what the log has to wait for it
/// waits for.
fn live(random: &mut Prng, frames: usize, sink: Sink) {
    let mut world = World::create(Arc::new(FaultFileSystem::new(random.next_u64())), frames, sink);
    let mut history: Vec<(Lsn, Change)> = Vec::new();
    world.pool.set_kept_share(50);
    for _ in 0..1500 {
        world.clock.advance(Duration::from_millis(random.below(30)));
        let page = PageNo(random.below(PAGES) as u32);
        match random.below(24) {
            0..11 => {
                let exists = history.iter().any(|(_, change)| change.page == page);
                let create = !exists || random.one_in(40);
                let value = random.next_u64();
                let change = Change { create, ..changed(page.0, value) };
                history.push((world.change_at_length(change, 300).unwrap(), change));
            }
            11..18 => check(&world, &history, page),
            18 => world.space.read_ahead([page]),
            19 if random.one_in(4) => {
                let _ = world.pool.resize(4 + random.below(28) as usize);
            }
            20 if random.one_in(20) => world.pool.checkpoint_sharply().unwrap(),
            21 if random.one_in(10) => world.pool.set_kept_share([0, 10, 50][random.below(3) as usize]),
            22 if random.one_in(20) => {
                world = restart(world, frames, sink, &mut history, random);
                world.pool.set_kept_share(50);
            }
            _ => drop(world.pool.step().unwrap()),
        }
        let keeping = &world.pool.core().frames.keeping;
        assert!(keeping.used().0 > 0 || keeping.pages() == 0);
        assert!(world.log.checkpoint_candidate() <= oldest(&world));
    }
    (0..PAGES as u32).for_each(|page| check(&world, &history, PageNo(page)));
    world.pool.shutdown().unwrap();
    assert_nothing_is_kept(&world);
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
}

/// Ends the threads that look at it, also if the test fails.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A page that leaves memory unwritten and comes back is not on disk at any moment, and no other thread finds
/// that all is.
#[test]
fn a_page_is_counted_while_it_goes_from_a_frame_to_the_kept_ones_and_back() {
    let world = keeping(12, 30, Sink::Off);
    world.change(changed(0, 5)).unwrap();
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let mut looks = 0_u64;
            while !has_ended.load(Ordering::Relaxed) {
                assert_eq!(world.pool.unsaved_pages(), 1, "after {looks} looks");
                looks += 1;
            }
        });
        let _ended = Ended(&has_ended);
        for round in 0..300 {
            push_out(&world, 0, 4..24);
            assert_eq!((world.pool.kept_pages(), world.pool.dirty_pages()), (1, 0), "round {round}");
            world.body(PageNo(0)).unwrap();
            assert_eq!((world.pool.kept_pages(), world.pool.dirty_pages()), (0, 1), "round {round}");
        }
        drop(looks);
    });
}

#[test]
fn kept_pages_behave_like_a_map_of_pages() {
    let mut random = Prng::new(test_seed(51));
    let kept_before = metrics::CHANGES_KEPT.value();
    for round in 0..8 {
        let sink = if round % 2 == 0 { Sink::OutOfPlace } else { Sink::Doublewrite };
        live(&mut random, [6, 12, 24][round % 3], sink);
    }
    assert!(metrics::CHANGES_KEPT.value() > kept_before + 100, "this test keeps nothing");
}

/// The canary: with the mark of a kept page moved, a checkpoint passes its changes, and a crash loses them.
#[test]
fn marks_of_kept_pages_that_move_are_found() {
    planted::plant(&[Planted::KeptMarksMove]);
    let found = (0..20).find(|round| {
        let mut random = Prng::new(test_seed(53) + round);
        std::panic::catch_unwind(move || live(&mut random, 12, Sink::Doublewrite)).is_err()
    });
    planted::plant(&[]);
    assert!(found.is_some(), "a checkpoint may pass kept changes, and no crash shows it");
}

/// The first change that is not on disk, as frames and kept pages have it.
fn oldest(world: &World) -> Lsn {
    let frames = &world.pool.core().frames;
    let in_frames = (0..frames.count() as u32).map(|frame| Lsn(frames.oldest(frame)));
    let kept = world.space.kept_before(Lsn::MAX, 1).into_iter().map(|(oldest, _, _)| oldest);
    in_frames.chain(kept).min().unwrap_or(Lsn::MAX)
}

fn assert_nothing_is_kept(world: &World) {
    let keeping = &world.pool.core().frames.keeping;
    assert_eq!((world.pool.kept_pages(), keeping.used().0, keeping.keepable()), (0, 0, 0));
}

fn check(world: &World, history: &[(Lsn, Change)], page: PageNo) {
    if let Some(expected) = replay(history, page, Lsn::MAX) {
        assert!(world.body(page).unwrap() == expected, "page {}", page.0);
    }
}

/// A crash that loses nothing of the log but its unflushed end, and what recovery makes of it.
fn restart(
    world: World,
    frames: usize,
    sink: Sink,
    history: &mut Vec<(Lsn, Change)>,
    random: &mut Prng,
) -> World {
    if random.one_in(2) {
        world.log.flush_blocking(world.log.tail()).unwrap();
    }
    let fs = world.fs.clone();
    world.pool.abandon();
    drop(world);
    fs.crash(palisade_io::CrashKeeps::Random);
    let (world, mut reader) = World::open(fs, frames, sink).unwrap();
    world.repair(|space| (space == SPACE).then(|| world.space.file().clone())).unwrap();
    let end = world.redo(&mut reader).unwrap();
    world.log.start_after_recovery(reader).unwrap();
    history.retain(|(change, _)| *change <= end);
    world
}

#[test]
fn after_a_power_cut_at_any_change_kept_changes_are_recovered() {
    let seed = test_seed(52);
    let kept_before = metrics::CHANGES_KEPT.value();
    for round in 0..60 {
        let sink = [Sink::Doublewrite, Sink::OutOfPlace, Sink::OneFlush][round as usize % 3];
        let codecs: &[Codec] = if round % 2 == 0 { &[] } else { &Codec::ALL };
        let outcome = crash_and_recover_keeping(50, seed + round, 1 + round % 97, sink, codecs);
        outcome.unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
    assert!(metrics::CHANGES_KEPT.value() > kept_before, "no page is kept in this test");
}

#[test]
fn a_kept_page_keeps_its_mark_and_comes_back_with_its_changes() {
    for sink in [Sink::Doublewrite, Sink::OutOfPlace] {
        let world = keeping(12, 30, sink);
        world.change(changed(3, 1)).unwrap();
        let start = oldest(&world);
        world.change(changed(3, 2)).unwrap();
        push_out(&world, 3, 4..24);
        assert_eq!((world.pool.kept_pages(), world.pool.dirty_pages()), (1, 0));
        assert_eq!(oldest(&world), start);
        assert!(world.log.checkpoint_candidate() <= start, "the log waits for it");
        // Further changes go to the same list.
        world.change(changed(3, 3)).unwrap();
        assert_eq!((world.pool.kept_pages(), world.pool.dirty_pages()), (0, 1));
        push_out(&world, 3, 4..24);
        assert_eq!(world.pool.kept_pages(), 1);
        let history =
            [created(3), changed(3, 1), changed(3, 2), changed(3, 3)].map(|change| (Lsn(1), change));
        check(&world, &history, PageNo(3));
        world.pool.checkpoint_sharply().unwrap();
        assert_nothing_is_kept(&world);
        assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
    }
}

#[test]
fn a_change_that_was_not_recorded_has_its_page_written() {
    let world = keeping(12, 30, Sink::Doublewrite);
    world.change(changed(3, 1)).unwrap();
    super::change(&world, &world.space, 3, false);
    push_out(&world, 3, 4..24);
    assert_eq!((world.pool.kept_pages(), world.pool.dirty_pages()), (0, 0));
    let word = world.retry(|| Ok(world.space.shared(PageNo(3))?.u64_at(PAGE_SIZE - 8))).unwrap();
    assert!(word > 0);
}

#[test]
fn a_page_that_is_created_anew_takes_its_mark_along() {
    let world = keeping(12, 30, Sink::Doublewrite);
    world.change(changed(3, 1)).unwrap();
    push_out(&world, 3, 4..24);
    assert_eq!(world.pool.kept_pages(), 1);
    // Nothing happens to it.
    drop(world.retry(|| world.space.create(PageNo(3))).unwrap());
    assert_eq!((world.pool.kept_pages(), world.pool.dirty_pages()), (0, 1));
    check(&world, &[(Lsn(1), created(3)), (Lsn(2), changed(3, 1))], PageNo(3));
    let end = world.change(Change { value: 9, ..created(3) }).unwrap();
    assert_eq!(world.pool.dirty_pages(), 1);
    push_out(&world, 3, 4..24);
    check(&world, &[(end, Change { value: 9, ..created(3) })], PageNo(3));
}

#[test]
fn a_space_that_is_dropped_takes_its_kept_pages_along() {
    let world = keeping(12, 30, Sink::Doublewrite);
    for page in 0..3 {
        world.change(changed(page, 1)).unwrap();
        push_out(&world, page, 4..24);
    }
    assert_eq!(world.pool.kept_pages(), 3);
    world.pool.detach_space(SPACE);
    assert_nothing_is_kept(&world);
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
}

#[test]
fn idle_time_brings_kept_pages_to_disk() {
    let world = keeping(12, 30, Sink::Doublewrite);
    for page in 0..3 {
        world.change(changed(page, 1)).unwrap();
        push_out(&world, page, 4..24);
    }
    for _ in 0..60 {
        world.clock.advance(Duration::from_millis(100));
        world.pool.step().unwrap();
    }
    assert_nothing_is_kept(&world);
    assert_eq!(world.pool.dirty_pages(), 0);
    assert_eq!(world.log.checkpoint_lsn(), world.log.tail());
}

#[test]
fn with_a_share_of_nothing_what_is_kept_goes() {
    let world = keeping(12, 30, Sink::Doublewrite);
    world.change(changed(3, 1)).unwrap();
    push_out(&world, 3, 4..24);
    world.pool.set_kept_share(0);
    for _ in 0..3 {
        world.clock.advance(Duration::from_millis(10));
        world.pool.step().unwrap();
    }
    assert_eq!(world.pool.kept_pages(), 0);
    check(&world, &[(Lsn(1), created(3)), (Lsn(2), changed(3, 1))], PageNo(3));
}

/// The file is put back to a page of before: it is whole, and not the page that the changes belong to.
#[test]
fn a_write_that_the_disk_has_lost_is_noticed() {
    let world = keeping(12, 30, Sink::Off);
    let mut before = vec![0; PAGE_SIZE];
    world.space.file().read_at(&mut before, 3 * PAGE_SIZE as u64).unwrap();
    world.pool.set_kept_share(0);
    world.change(changed(3, 1)).unwrap();
    world.pool.checkpoint_sharply().unwrap();
    world.pool.set_kept_share(50);
    world.pool.core().frames.keeping.is_wanted(Duration::ZERO);
    world.change(changed(3, 2)).unwrap();
    push_out(&world, 3, 4..24);
    assert_eq!(world.pool.kept_pages(), 1);
    world.space.file().write_at(&before, 3 * PAGE_SIZE as u64).unwrap();
    let error = world.body(PageNo(3)).unwrap_err();
    assert!(matches!(error, Error::Corrupted { reason: Corruption::Content(_), .. }), "{error}");
    // The changes are still there when the page is.
    assert_eq!(world.pool.kept_pages(), 1);
}

/// As for a write that fails: what was changed is in the log, whose checkpoint has not passed it.
#[test]
fn a_kept_page_that_can_never_be_read_stops_the_server_and_not_its_changes() {
    let world = keeping(12, 30, Sink::Off);
    let end = world.change(changed(3, 1)).unwrap();
    push_out(&world, 3, 4..24);
    for _ in 0..2 {
        world.fs.fail(Call::Read, 1, Fault::Io);
        assert!(matches!(world.body(PageNo(3)), Err(Error::Io { .. })));
    }
    assert_eq!(world.pool.kept_pages(), 1, "another read may do better");
    let mut damaged = vec![0; PAGE_SIZE];
    world.space.file().read_at(&mut damaged, 3 * PAGE_SIZE as u64).unwrap();
    damaged[5000] ^= 1;
    world.space.file().write_at(&damaged, 3 * PAGE_SIZE as u64).unwrap();
    assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Stopped)));
    assert!(world.fatal.load(Ordering::Relaxed));
    assert!(world.log.checkpoint_candidate() < end, "the log keeps them");
}

/// A statement misses a page and is killed; the read fails. That keeps the page from nothing.
#[test]
fn a_failure_that_no_caller_comes_for_keeps_no_page_from_being_written() {
    let world = keeping(12, 30, Sink::Off);
    world.change(changed(3, 1)).unwrap();
    push_out(&world, 3, 4..24);
    world.fs.fail(Call::Read, 1, Fault::Io);
    assert!(matches!(world.space.shared(PageNo(3)).map(drop), Err(Blocked::Wait(_))));
    world.pool.checkpoint_sharply().unwrap();
    assert_nothing_is_kept(&world);
    check(&world, &[(Lsn(1), created(3)), (Lsn(2), changed(3, 1))], PageNo(3));
}

#[test]
fn lists_take_frames_and_give_them_back() {
    let world = keeping(200, 400, Sink::Off);
    world.pool.set_kept_share(10);
    for page in 0..400 {
        for value in 0..40 {
            world.change(changed(page, u64::from(page) * 40 + value)).unwrap();
        }
        world.pool.step().unwrap();
    }
    world.pool.step().unwrap();
    let frames = &world.pool.core().frames;
    let (used, limit) = frames.keeping.used();
    assert!(limit / 2 < used && used <= limit + limit / 8, "{used} of {limit}");
    assert!(frames.charged_count() * 2 > used / PAGE_SIZE, "{} frames", frames.charged_count());
    world.pool.checkpoint_sharply().unwrap();
    world.pool.step().unwrap();
    assert_eq!(frames.charged_count(), 0);
}
