//! A space whose pages are compressed: what is on the disk, and that it is read again.

use super::*;
use crate::stored::{BLOCK, most};
use crate::{Codec, Corruption, metrics, page};
use palisade_io::{Call, CrashKeeps, Device, Fault};

const PAGES: u32 = 4;

/// A world whose pages, four of them, are on disk, compressed to one block each.
fn packed_world(sink: Sink, codec: Codec) -> World {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 16, sink);
    world.space.set_packing(Some((codec, None)));
    for number in 0..PAGES {
        world.change(fill(number, CALM, true)).unwrap();
    }
    world.pool.checkpoint_sharply().unwrap();
    world
}

fn fill(page: u32, with: u16, create: bool) -> Change {
    Change { page: PageNo(page), create, offset: with, value: u64::from(page) + 7 }
}

fn place(world: &World, page: u32) -> Vec<u8> {
    let mut bytes = vec![0; page_bytes()];
    world.space.file().read_at(&mut bytes, u64::from(page) * page_bytes() as u64).unwrap();
    bytes
}

/// The same world after a start.
fn reopened(world: World, sink: Sink) -> World {
    world.pool.shutdown().unwrap();
    let (world, mut reader) = World::open(world.fs.clone(), 16, sink).unwrap();
    world.redo(&mut reader).unwrap();
    world.log.start_after_recovery(reader).unwrap();
    world
}

fn expected(change: Change) -> Vec<u8> {
    replay(&[(Lsn(1), change)], change.page, Lsn(1)).unwrap()
}

#[test]
fn pages_are_written_compressed_and_the_rest_of_their_places_is_punched_when_they_are_durable() {
    for (sink, copies) in [
        (Sink::Off, ""),
        (Sink::Doublewrite, "write data/doublewrite.0 32768+32768\nsync data/doublewrite.0\n"),
    ] {
        let world = packed_world(sink, Codec::Lz4);
        let saved = metrics::PAGE_COMPRESSION_SAVED.value();
        // Page 1 is no longer compressed, page 2 is.
        world.change(fill(1, NOISE, false)).unwrap();
        world.change(fill(2, CALM, false)).unwrap();
        world.log.flush_blocking(world.log.tail()).unwrap();
        world.fs.start_trace();
        world.pool.checkpoint_sharply().unwrap();
        let trace = world.fs.take_trace();
        // A page that is not compressed goes out together with the one behind it; what page 2's place has had
        // since it was written last need not be punched.
        let expected = format!("{copies}write data/space 16384+20480\nsync data/space\n");
        assert!(trace.starts_with(&expected), "{trace}");
        assert!(!trace.contains("punch"), "{trace}");
        assert!(metrics::PAGE_COMPRESSION_SAVED.value() > saved);

        world.change(fill(1, CALM, false)).unwrap();
        world.log.flush_blocking(world.log.tail()).unwrap();
        world.fs.start_trace();
        world.pool.checkpoint_sharply().unwrap();
        let trace = world.fs.take_trace();
        let expected = "write data/space 16384+4096\nsync data/space\npunch_hole data/space 20480+12288\n";
        assert!(trace.contains(expected), "{trace}");
    }
}

/// A page that is written whole or not at all brings the zeros behind its stored form into its place every
/// time, and every time they become a hole again.
#[test]
fn holes_come_back_after_every_write_of_a_whole_page() {
    let fs = Arc::new(FaultFileSystem::new(1));
    fs.set_device(Device::Atomic(page_bytes() as u32));
    let world = World::create(fs, 16, Sink::Atomic);
    world.space.set_packing(Some((Codec::Lz4, None)));
    for create in [true, false, false] {
        world.change(fill(1, CALM, create)).unwrap();
        world.log.flush_blocking(world.log.tail()).unwrap();
        world.fs.start_trace();
        world.pool.checkpoint_sharply().unwrap();
        let trace = world.fs.take_trace();
        let expected =
            "write_atomic data/space 16384+16384\nsync data/space\npunch_hole data/space 20480+12288\n";
        assert!(trace.contains(expected), "{trace}");
    }
}

#[test]
fn pages_are_read_again_whatever_they_were_compressed_with() {
    for codec in Codec::ALL {
        let mut world = packed_world(Sink::Doublewrite, codec);
        world.change(fill(3, NOISE, false)).unwrap();
        let read = metrics::PAGES_DECOMPRESSED.value();
        world = reopened(world, Sink::Doublewrite);
        for page in 0..PAGES {
            let last = fill(page, if page == 3 { NOISE } else { CALM }, true);
            assert!(world.body(PageNo(page)).unwrap() == expected(last), "{codec:?}, page {page}");
        }
        assert!(metrics::PAGES_DECOMPRESSED.value() >= read + 3);
        // As long as nothing else is said, as they were.
        assert_eq!(world.space.packing().map(|packing| packing.choice()), Some((codec, None)));
        // Without compression from now on: a page that is written is written as it is.
        world.space.set_packing(None);
        assert!(world.body(PageNo(1)).is_ok() && world.space.packing().is_none());
        world.change(Change { page: PageNo(0), create: false, offset: 100, value: 1 }).unwrap();
        world.pool.checkpoint_sharply().unwrap();
        let lengths = [0, 1].map(|page| crate::stored::stored_len(&place(&world, page)));
        assert_eq!(lengths, [page_bytes(), BLOCK]);
    }
}

#[test]
fn a_flipped_bit_in_compressed_bytes_is_an_error_that_names_the_page() {
    let world = packed_world(Sink::Doublewrite, Codec::Zstd);
    world.pool.shutdown().unwrap();
    // Within the stored form of page 1, and behind that of page 2.
    for (page, at) in [(1, 100), (2, BLOCK + 100)] {
        world.fs.flip_bit(Path::new("data/space"), 8 * (page * page_bytes() + at) as u64);
    }
    let (world, _) = World::open(world.fs.clone(), 16, Sink::Doublewrite).unwrap();
    match world.body(PageNo(1)) {
        Err(Error::Corrupted { page, reason: Corruption::Checksum { .. } }) => {
            assert_eq!(page, PageId { space: SPACE, page: PageNo(1) });
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
    for page in [0, 2, 3] {
        assert!(world.body(PageNo(page)).unwrap() == expected(fill(page, CALM, true)));
    }
}

#[test]
fn a_torn_compressed_page_is_restored_from_its_copy() {
    let world = packed_world(Sink::Doublewrite, Codec::Zlib);
    for page in 0..PAGES {
        world.change(Change { page: PageNo(page), create: false, offset: 5000, value: 5 }).unwrap();
    }
    world.log.flush_blocking(world.log.tail()).unwrap();
    // The copies are written and synced, and the power fails in the second page in place.
    world.fs.fail(Call::Write, 3, Fault::Crash);
    let _ = world.pool.checkpoint_sharply();
    world.fs.crash(CrashKeeps::Everything);
    for page in [0, 1] {
        // Torn within the header that a compressed page keeps, and behind it.
        let at = [12, 512][page];
        let file = world.fs.open(Path::new("data/space"), OpenMode::EXISTING).unwrap();
        file.write_at(&[0xee; 16], (page * page_bytes() + at) as u64).unwrap();
        file.sync().unwrap();
    }
    let (world, _) = World::open(world.fs.clone(), 16, Sink::Doublewrite).unwrap();
    let repaired = world.repair(|_| Some(world.space.file().clone())).unwrap();
    assert_eq!(repaired.pages, [0, 1].map(|page| PageId { space: SPACE, page: PageNo(page) }));
    for page in 0..PAGES {
        let bytes = place(&world, page);
        assert_eq!(page::verify(PageId { space: SPACE, page: PageNo(page) }, &bytes), Ok(()));
        assert!(crate::stored::stored_len(&bytes) <= most(page_bytes()));
    }
}

/// A page that stops compressing needs room that no one has reserved.
#[test]
fn a_page_for_whose_hole_the_disk_is_too_full_waits_in_memory_and_is_not_lost() {
    let world = packed_world(Sink::Doublewrite, Codec::Lz4);
    world.change(fill(2, NOISE, false)).unwrap();
    world.log.flush_blocking(world.log.tail()).unwrap();
    for _ in 0..3 {
        // The copy has room: its file is full-sized.
        world.fs.fail(Call::Write, 2, Fault::NoSpace);
        assert!(matches!(world.pool.checkpoint_sharply(), Err(Error::Full { .. })));
        world.fs.clear_faults();
        assert!(world.log.checkpoint_candidate() < world.log.tail());
        assert!(world.body(PageNo(2)).unwrap() == expected(fill(2, NOISE, true)));
    }
    world.pool.checkpoint_sharply().unwrap();
    assert_eq!(world.log.checkpoint_candidate(), world.log.tail());
    let world = reopened(world, Sink::Doublewrite);
    assert!(world.body(PageNo(2)).unwrap() == expected(fill(2, NOISE, true)));
}

#[test]
fn where_no_holes_are_punched_pages_are_stored_as_they_are() {
    let world = World::create(Arc::new(FaultFileSystem::new(1)), 16, Sink::Off);
    let disk = palisade_io::OverlayFileSystem::new(world.fs.clone(), NoHoles);
    let file = disk.open(Path::new("data/other"), OpenMode::CREATE).unwrap();
    let space = world.pool.attach_space(SpaceId(8), file, world.sink.clone()).unwrap();
    space.set_packing(Some((Codec::Zstd, None)));
    world.retry(|| space.ensure_allocated(2)).unwrap();
    let stored = |space: &Space| {
        change(&world, space, 1, true);
        world.pool.checkpoint_sharply().unwrap();
        let mut bytes = vec![0; page_bytes()];
        space.file().read_at(&mut bytes, page_bytes() as u64).unwrap();
        crate::stored::stored_len(&bytes)
    };
    assert_eq!(stored(&space), BLOCK, "it is not known before it is tried");
    assert!(space.packing().unwrap().is_pointless());
    assert_eq!(stored(&space), page_bytes());
}

/// A file system that cannot punch holes.
struct NoHoles;

impl palisade_io::Overlay for NoHoles {
    fn punch_hole(&self, _: &Path, _: &dyn File, _: u64, _: u64) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
