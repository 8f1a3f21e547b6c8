//! Torn writes, one by one: the power is cut at each change of a flush batch, and of each page that was being
//! written the platter has a prefix of its sectors, a suffix, or any of them. Each sink gives every page back
//! or says which it cannot; none gives a wrong one.

use super::*;
use palisade_base::prng::{Prng, test_seed};
use palisade_io::{Call, Device, Fault, PendingSector};

const PAGES: u32 = 4;
const FRAMES: usize = 8;

/// Sectors of a page.
const SECTORS: u64 = (PAGE_SIZE / 512) as u64;

/// What the platter has of a write that was cut off.
#[derive(Debug, Clone, Copy)]
enum Kept {
    Prefix(u64),
    Suffix(u64),
    /// Any sectors, by a seed.
    Some(u64),
}

impl Kept {
    fn has(self, sector: PendingSector<'_>) -> bool {
        let place = sector.sector % SECTORS;
        match self {
            Kept::Prefix(sectors) => place < sectors,
            Kept::Suffix(sectors) => place >= SECTORS - sectors,
            Kept::Some(seed) => Prng::new(seed ^ sector.sector << 8 ^ sector.change as u64).one_in(2),
        }
    }

    /// Some prefixes and suffixes, and some others; with `PALISADE_TEST_STEPS` above 1 all prefixes and
    /// suffixes, and so many times as many others.
    fn all(seed: u64) -> Vec<Kept> {
        const FEW: [u64; 7] = [0, 1, 8, 15, 16, SECTORS - 1, SECTORS];
        let steps: u64 =
            std::env::var("PALISADE_TEST_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
        let sizes = (0..=SECTORS).filter(|sectors| steps > 1 || FEW.contains(sectors));
        let ends = sizes.flat_map(|sectors| [Kept::Prefix(sectors), Kept::Suffix(sectors)]);
        ends.chain((0..6 * steps).map(|other| Kept::Some(seed + other))).collect()
    }
}

/// How a matrix went.
#[derive(Debug, Default)]
struct Found {
    /// Power cuts.
    cuts: usize,
    /// Pages that were restored.
    repaired: usize,
    /// Pages that could not be, and were named.
    named: usize,
    /// Pages that could not be read, and were not named before.
    refused: usize,
}

/// Cuts the power at each change of a batch, once for each of `kept`. The world after that has the sink
/// `later`.
fn matrix((sink, later): (Sink, Sink), device: Device, kept: &[Kept]) -> Found {
    let mut found = Found::default();
    for kept in kept {
        for nth in 1.. {
            let fs = Arc::new(FaultFileSystem::new(7));
            fs.set_device(device);
            let world = World::create(fs.clone(), FRAMES, sink);
            let mut history = Vec::new();
            let mut change = |world: &World, page: u32, create: bool, value: u64| {
                let change = Change { page: PageNo(page), create, offset: 5000 + 3 * page as u16, value };
                history.push((world.change(change).unwrap(), change));
            };
            (0..PAGES).for_each(|page| change(&world, page, true, 1));
            world.pool.checkpoint_sharply().unwrap();
            (0..PAGES).for_each(|page| change(&world, page, false, 2));
            world.log.flush_blocking(world.log.tail()).unwrap();
            fs.fail(Call::Change, nth, Fault::Crash);
            let is_whole_batch = world.pool.checkpoint_sharply().is_ok() && !fs.is_down();
            fs.crash_keeping(&mut |sector| kept.has(sector));
            found.cuts += 1;
            check(&fs, later, &history, &mut found, &format!("{sink:?} on {device:?}, cut {nth}, {kept:?}"));
            if is_whole_batch {
                break;
            }
        }
    }
    found
}

/// Recovers, and compares all pages with what was logged.
fn check(fs: &Arc<FaultFileSystem>, sink: Sink, history: &[(Lsn, Change)], found: &mut Found, case: &str) {
    let (world, mut reader) = World::open(fs.clone(), FRAMES, sink).unwrap();
    let repaired = world.repair(|space| (space == SPACE).then(|| world.space.file().clone())).unwrap();
    found.repaired += repaired.pages.len();
    let (torn, redone) = (repaired.torn, world.redo(&mut reader));
    let end = match redone {
        Ok(end) => end,
        Err(Error::Corrupted { page, .. }) if torn.contains(&page) => return found.named += 1,
        Err(Error::Corrupted { .. }) => return found.refused += 1,
        Err(error) => panic!("{case}: {error}"),
    };
    assert!(history.iter().all(|(change, _)| *change <= end), "{case}: the log lost what was durable");
    for page in (0..PAGES).map(PageNo) {
        let expected = replay(history, page, end).expect("all pages were created");
        match world.body(page) {
            Ok(body) => assert!(body == expected, "{case}: page {} is wrong", page.0),
            Err(Error::Corrupted { page, .. }) if torn.contains(&page) => found.named += 1,
            Err(Error::Corrupted { .. }) => found.refused += 1,
            Err(error) => panic!("{case}: {error}"),
        }
    }
}

#[test]
fn copies_give_every_torn_page_back() {
    let found = matrix((Sink::Doublewrite, Sink::Doublewrite), Device::Sectors, &Kept::all(test_seed(41)));
    assert!(found.repaired > 0 && found.named + found.refused == 0, "{found:?}");
}

/// What was written is told by the files, not by the settings of today.
#[test]
fn copies_are_used_whatever_writes_the_pages_later() {
    let kept = Kept::all(test_seed(45));
    for later in [Sink::Off, Sink::Ids, Sink::Atomic] {
        let found = matrix((Sink::Doublewrite, later), Device::Sectors, &kept);
        assert!(found.repaired > 0 && found.named + found.refused == 0, "{later:?}: {found:?}");
    }
}

#[test]
fn ids_name_every_torn_page() {
    let found = matrix((Sink::Ids, Sink::Ids), Device::Sectors, &Kept::all(test_seed(42)));
    assert!(found.repaired == 0 && found.named > 0 && found.refused == 0, "{found:?}");
}

#[test]
fn atomic_writes_tear_no_page_and_what_is_refused_has_copies() {
    let kept = Kept::all(test_seed(43));
    let found = matrix((Sink::Atomic, Sink::Atomic), Device::Atomic(PAGE_SIZE as u32), &kept);
    assert!(found.cuts > 0 && found.repaired + found.named + found.refused == 0, "{found:?}");
    let found = matrix((Sink::Atomic, Sink::Atomic), Device::Sectors, &kept);
    assert!(found.repaired > 0 && found.named + found.refused == 0, "{found:?}");
}

/// Records and slots of the map are torn as pages are.
#[test]
fn out_of_place_no_page_is_lost_or_wrong() {
    let kept = Kept::all(test_seed(46));
    for sink in [Sink::OutOfPlace, Sink::OneFlush] {
        let found = matrix((sink, sink), Device::Sectors, &kept);
        assert!(found.cuts > 100 && found.repaired + found.named + found.refused == 0, "{sink:?}: {found:?}");
    }
}

/// The canaries: the same power cuts tear pages for good where nothing provides against it, or a disk lies.
#[test]
fn without_any_of_it_pages_stay_torn_and_are_refused() {
    let kept = Kept::all(test_seed(44));
    for (sink, device) in [(Sink::Off, Device::Sectors), (Sink::Atomic, Device::Lying(PAGE_SIZE as u32))] {
        let found = matrix((sink, sink), device, &kept);
        assert!(found.refused > 0 && found.repaired == 0, "{sink:?}: {found:?}");
    }
}
